"""The fields of a document within its text: put into one string, and cut out of it again.

A mark stands before each field, and after the last one if more text follows. What comes before the
first mark, or after one too many, stands in no field: a text without marks has none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from thresher.errors import DocumentError

__all__ = ["MARK", "PLACES", "as_text", "field_columns", "field_names", "join", "split"]

MARK = "\x1e"  # the record separator of ASCII, which is white space: no token reaches over it
FIRST_LINE = "first-line"
LEAD = "lead"  # the first line and the words after it
PLACES = (FIRST_LINE, LEAD)  # what stands for fields that are places in a text
# What follows the first line is nothing, or begins with the end of that line.
_FIRST_WORDS = re.compile(r"(?:\s++\S++){0,40}")

Fields = str | Sequence[str] | None


def field_names(fields: Fields) -> tuple[str, ...]:
    """Return the names of the fields, given as the parameter `fields` has them."""
    if fields == LEAD:
        return FIRST_LINE, LEAD
    return (fields,) if isinstance(fields, str) else tuple(fields or ())


def field_columns(fields: Fields) -> tuple[str, ...]:
    """Return those of the fields that are columns of a table, not places in a text."""
    return () if fields in PLACES else field_names(fields)


def join(fields: Sequence[str], others: Sequence[str] = ()) -> str:
    """Return one text of fields and of what stands in none.

    Examples
    --------
    >>> split(join(["Wheat up", "Prices rose."]), ("subject", "body"))
    ['', 'Wheat up', 'Prices rose.', '']
    """
    rest = ["\n".join(others)] if others else []
    return MARK.join(["", *(one.replace(MARK, "\n") for one in fields), *rest])


def split(text: str, fields: Fields) -> list[str]:
    """Return what stands before the fields, each field, and what stands after them.

    Examples
    --------
    >>> split("\\n Wheat up\\nPrices rose.", "first-line")
    ['\\n ', 'Wheat up', '\\nPrices rose.']
    >>> [len(piece.split()) for piece in split("Wheat up\\n" + 50 * "Prices rose. ", "lead")]
    [0, 2, 40, 60]
    """
    if fields in PLACES:
        rest = text.lstrip()
        line = rest.partition("\n")[0]
        start = len(text) - len(rest)
        end = start + len(line)
        if fields == FIRST_LINE:
            return [text[:start], line, text[end:]]
        stop = _FIRST_WORDS.match(text, end).end()  # type: ignore[union-attr]
        return [text[:start], line, text[end:stop], text[stop:]]
    n_pieces = len(field_names(fields)) + 2
    pieces = text.split(MARK, n_pieces - 1)
    return pieces + [""] * (n_pieces - len(pieces))


def as_text(document: Any, fields: Fields, others: Sequence[str] = ()) -> Any:
    """Return a document that is given as a dict of texts by column as one text; any other as it is.

    What is missing is empty.
    """
    columns = field_columns(fields)
    if not columns or not isinstance(document, Mapping):
        return document
    names = (*columns, *(name for name in others if name not in columns))
    if not any(name in document for name in names):
        has, wanted = ", ".join(map(repr, document)), " or ".join(map(repr, names))
        raise DocumentError(f"A document is a dict with {has or 'nothing'}; it must have {wanted}.")
    texts = ["" if document.get(name) is None else document[name] for name in names]
    for name, text in zip(names, texts, strict=True):
        if not isinstance(text, str):
            raise DocumentError(
                f"The field {name!r} of a document is {text!r:.40}, of type {type(text).__name__}; "
                "it must be a str."
            )
    return join(texts[: len(columns)], texts[len(columns) :])
