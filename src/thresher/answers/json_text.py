"""Answers and columns as lines of JSON.

Columns are converted to text by Arrow wherever its text of a value is valid JSON. That takes a
fifth of the time of `json` and releases the global interpreter lock.
"""

from __future__ import annotations

import json
import math
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thresher.answers.answer import Answers, Table, taken, with_extra_columns
from thresher.documents.batch import numbers_to_arrow, to_arrow
from thresher.documents.labels import decoded, is_text, value_text
from thresher.errors import DocumentError

__all__ = [
    "answer_lines", "array_texts", "json_text", "object_lines", "plain_values", "text_of_value",
]  # fmt: skip

# Numbers that Python writes in the same way as Arrow.
PLAIN_NUMBER = r"^-?(0\.0{0,3}[1-9][0-9]*|[1-9][0-9]*\.[0-9]+)$"
ESCAPED = r'["\\\x00-\x1f]'  # in a string of JSON
_encode = json.JSONEncoder(ensure_ascii=False).encode  # `dumps` creates an encoder for each call


def answer_lines(answers: Answers, has_row: bool) -> memoryview:
    """Return a line of JSON for each answer in UTF-8, as `Answers.json_lines`."""
    before: Table = {"row": answers.row_numbers()} if has_row else {}
    before["document"] = answers.locations()
    extra = answers.extra_columns() if has_row else {}
    n_values = len(before) + len(extra)
    fields = with_extra_columns(before, extra, _fields(answers))
    fields = {
        name: array_texts(column) if k < n_values else column
        for k, (name, column) in enumerate(fields.items())
    }
    note, notes = fields.popitem()  # written only in rows that have one
    texts = joined_in_rows(f", {json_text(note)}: ", array_texts(notes), "}\n")
    return object_lines(fields, pc.if_else(notes.is_valid(), texts, "}\n"))


def _fields(answers: Answers) -> Table:
    """Return the answers as columns of JSON texts, and the notes as they are."""
    labels = _texts(answers.labels)
    numbers, ends = answers.chosen, answers.ends
    fields = {"labels": _lists(answers, taken(labels, numbers), ends, "[]")}
    n_rows, n_categories = answers.scores.shape
    if answers.options.scores:
        numbers = np.tile(np.arange(n_categories), n_rows)
        ends = np.arange(n_rows + 1) * n_categories
    rows = np.repeat(np.arange(n_rows), np.diff(ends))
    names = [f"{json_text(name)}: " for name in answers.names]
    keys = taken(to_arrow(names).cast(pa.large_string()), numbers)
    for name, table in (("scores", answers.scores), ("probabilities", answers.chances)):
        if table is not None:
            entries = joined_in_rows(keys, _numbers(table[rows, numbers]))
            fields[name] = _lists(answers, entries, ends, "{}")
    if answers.best is not None:
        best, n_best = answers.best.ravel(), answers.best.shape[1]
        rows = np.repeat(np.arange(n_rows), n_best)
        pieces: list[Any] = ['{"label": ', taken(labels, best)]
        pieces += [', "score": ', _numbers(answers.scores[rows, best])]
        if answers.chances is not None:
            pieces += [', "probability": ', _numbers(answers.chances[rows, best])]
        entries = joined_in_rows(*pieces, "}")
        fields["ranking"] = _lists(answers, entries, np.arange(n_rows + 1) * n_best, "[]")
    return fields | {"note": answers.notes()}


def _lists(answers: Answers, entries: pa.Array, ends: np.ndarray, brackets: str) -> pa.Array:
    """Return entries joined between two brackets; empty lists for skipped documents.

    The list of document i has the entries from `ends[i]` to `ends[i + 1]`.
    """
    lists = pa.LargeListArray.from_arrays(numbers_to_arrow(ends.astype(np.int64)), entries)
    texts = joined_in_rows(brackets[0], pc.binary_join(lists, _scalar(", ")), brackets[1])
    return pc.fill_null(answers.in_rows(texts), brackets)


def _numbers(values: np.ndarray) -> pa.Array:
    return array_texts(numbers_to_arrow(np.ascontiguousarray(values)))


def json_text(value: Any) -> str:
    """Return a value as JSON in valid Unicode: a lone surrogate is escaped, as \\ud800."""
    return _encode(value).encode("utf-8", "backslashreplace").decode()


def text_of_value(value: Any) -> str:
    """Return a value as the text of a cell; lists and objects as JSON."""
    if isinstance(value, bool | int | float | list | dict):
        return _encode(_plain(value))
    return value_text(value)


def array_texts(column: Any) -> pa.Array:
    """Return the values of a column as JSON; nulls may stay nulls."""
    if isinstance(column, list):
        return _texts([_plain(value) for value in column])
    array = decoded(column)
    kind = array.type
    if pa.types.is_integer(kind):
        return array.cast(pa.large_string())
    if pa.types.is_float32(kind) or pa.types.is_float64(kind):
        texts = array.cast(pa.large_string())
        others = pc.fill_null(pc.invert(pc.match_substring_regex(texts, PLAIN_NUMBER)), False)
        if not pc.any(others).as_py():
            return texts
        return pc.replace_with_mask(texts, others, _texts(plain_values(array.filter(others))))
    if is_text(kind) and _needs_no_escapes(array):
        return joined_in_rows('"', array, '"')
    if pa.types.is_list(kind) and not array.null_count and not array.values.null_count:
        lists = pa.ListArray.from_arrays(array.offsets, array_texts(array.values))
        return joined_in_rows("[", pc.binary_join(lists, _scalar(", ")), "]")
    return _texts(plain_values(array))


def joined_in_rows(*parts: str | pa.Array, null_text: str | None = None) -> pa.Array:
    """Return the texts of columns joined row by row, with the given texts between them.

    A row with a null is null, unless `null_text` is given.
    """
    large = [_scalar(p) if isinstance(p, str) else p.cast(pa.large_string()) for p in parts]
    options = {} if null_text is None else {
        "null_handling": "replace", "null_replacement": null_text
    }  # fmt: skip
    return pc.binary_join_element_wise(*large, _scalar(""), **options)


@cache  # every batch uses the same texts
def _scalar(text: str) -> pa.Scalar:
    return to_arrow([text]).cast(pa.large_string())[0]


def object_lines(columns: dict[str, Any], end: Any = "}\n") -> memoryview:
    """Return a JSON object for each row in UTF-8, a line each.

    Parameters
    ----------
    columns : dict
        The values by key, as JSON texts.
    end : str or array of str
        The end of each line.
    """
    parts: list[Any] = []
    for name, texts in columns.items():
        parts += [f"{', ' if parts else '{'}{json_text(name)}: ", texts]
    lines = joined_in_rows(*parts, end, null_text="null")
    _, offsets, data = lines.buffers()
    return memoryview(data)[: np.frombuffer(offsets, np.int64)[len(lines)]]


def _texts(values: list[Any]) -> pa.Array:
    return to_arrow([json_text(value) for value in values]).cast(pa.large_string())


def _needs_no_escapes(texts: pa.Array) -> bool:
    """Return True if texts are valid UTF-8 without characters that JSON escapes."""
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return not pc.any(pc.match_substring_regex(texts, ESCAPED)).as_py()


def plain_values(array: pa.Array) -> list[Any]:
    """Return the values of an array as JSON values; float32 rounded to the shortest decimal."""
    if pa.types.is_float32(array.type):
        array = array.cast(pa.string()).cast(pa.float64())
    if is_text(array.type):
        array = array.cast(pa.large_binary())  # text columns of foreign files may not be UTF-8
    if pa.types.is_timestamp(array.type) or pa.types.is_time(array.type):
        array = array.cast(pa.string())  # Python's types have no nanoseconds
    try:
        values: list[Any] = array.to_pylist()
    except (ValueError, OverflowError):
        raise DocumentError(
            f"A column to keep, of type {array.type}, has values that are not valid UTF-8 or that "
            "Python cannot represent; write .parquet, or keep another."
        ) from None
    is_float = pa.types.is_floating(array.type)
    if pa.types.is_integer(array.type) or (is_float and pc.all(pc.is_finite(array)).as_py()):
        return values
    return [_plain(value) for value in values]


def _plain(value: Any) -> Any:
    """Return a value that JSON can represent: NaN becomes None, other objects strings."""
    if isinstance(value, str):
        return value_text(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value_text(value)
