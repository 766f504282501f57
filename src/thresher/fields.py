"""Fields of documents: joining them into one text, and splitting that text.

A mark stands before each field, and after the last field if more text follows. Text before the
first mark, or after all fields, belongs to no field; a text without marks has no fields.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from thresher.errors import DocumentError

MARK = "\x1e"  # ASCII record separator; as white space, it is never in a token
FIRST_LINE = "first-line"
LEAD = "lead"  # the first line and the words after it
PLACES = (FIRST_LINE, LEAD)  # values of `fields` that mean a part of the text, not a column
# Matched after the first line, where the text ends or a line end follows.
_FIRST_WORDS = re.compile(r"(?:\s++\S++){0,40}")

Fields = str | Sequence[str] | None


def field_names(fields: Fields) -> tuple[str, ...]:
    """Return the names of the fields, given the parameter `fields`."""
    if fields == LEAD:
        return FIRST_LINE, LEAD
    return (fields,) if isinstance(fields, str) else tuple(fields or ())


def field_columns(fields: Fields) -> tuple[str, ...]:
    """Return the fields that are columns of a table, not parts of the text."""
    return () if fields in PLACES else field_names(fields)


def join(fields: Sequence[str], other_texts: Sequence[str] = ()) -> str:
    """Return one text from the fields and from other texts, which belong to no field.

    Examples
    --------
    >>> split(join(["Wheat up", "Prices rose."]), ("subject", "body"))
    ['', 'Wheat up', 'Prices rose.', '']
    """
    rest = ["\n".join(other_texts)] if other_texts else []
    return MARK.join(["", *(text.replace(MARK, "\n") for text in fields), *rest])


def split(text: str, fields: Fields) -> list[str]:
    """Return the text before the fields, each field, and the text after them.

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


def as_text(document: Any, fields: Fields, other_columns: Sequence[str] = ()) -> Any:
    """Return the text of a document that is a dict of columns; return others unchanged.

    Missing columns are empty.
    """
    columns = field_columns(fields)
    if not columns or not isinstance(document, Mapping):
        return document
    names = (*columns, *(name for name in other_columns if name not in columns))
    if not any(name in document for name in names):
        present, expected = ", ".join(map(repr, document)), " or ".join(map(repr, names))
        raise DocumentError(
            f"A document is a dict with {present or 'nothing'}; it must have {expected}."
        )
    texts = ["" if document.get(name) is None else document[name] for name in names]
    for name, text in zip(names, texts, strict=True):
        if not isinstance(text, str):
            raise DocumentError(
                f"The field {name!r} of a document is {text!r:.40}, of type {type(text).__name__}; "
                "it must be a str."
            )
    return join(texts[: len(columns)], texts[len(columns) :])
