"""JSON text of whole columns, made by Arrow where it writes values as JSON has them.

That is several times as fast as encoding objects in Python, and other threads run meanwhile.
"""

from __future__ import annotations

import json
import math
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thresher.documents.batch import numbers_to_arrow, to_arrow
from thresher.documents.labels import decoded, is_text, value_text
from thresher.errors import DocumentError

__all__ = [
    "array_texts", "brackets", "joined_in_rows", "json_text", "key_texts", "object_lines",
    "plain_values", "text_of_value",
]  # fmt: skip

PLAIN_NUMBER = r"^-?(0\.0{0,3}[1-9][0-9]*|[1-9][0-9]*\.[0-9]+)$"  # which Python writes so too
ESCAPED = r'["\\\x00-\x1f]'  # in a string of JSON
_encode = json.JSONEncoder(ensure_ascii=False).encode  # `dumps` would make an encoder each time


def json_text(value: Any) -> str:
    """Return a value as JSON; a lone surrogate becomes a question mark."""
    return _encode(value).encode("utf-8", "replace").decode()


def text_of_value(value: Any) -> str:
    """Return a value as the text of a cell; lists and objects as JSON."""
    if isinstance(value, bool | int | float | list | dict):
        return _encode(_plain(value))
    return value_text(value)


def key_texts(names: list[str]) -> pa.Array:
    """Return names as keys of a JSON object, with a colon."""
    return to_arrow([f"{json_text(name)}: " for name in names]).cast(pa.large_string())


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


def brackets(entries: pa.Array, ends: np.ndarray, marks: str) -> pa.Array:
    """Return lists of entries, from `ends[i]` to `ends[i + 1]`, joined and between two marks."""
    lists = pa.LargeListArray.from_arrays(numbers_to_arrow(ends.astype(np.int64)), entries)
    return joined_in_rows(marks[0], pc.binary_join(lists, _scalar(", ")), marks[1])


def joined_in_rows(*parts: str | pa.Array, null_text: str | None = None) -> pa.Array:
    """Return the texts of columns joined row by row, with the given texts between them.

    A row with a null is null, unless there is a text for nulls.
    """
    large = [_scalar(p) if isinstance(p, str) else p.cast(pa.large_string()) for p in parts]
    options = {} if null_text is None else {
        "null_handling": "replace", "null_replacement": null_text
    }  # fmt: skip
    return pc.binary_join_element_wise(*large, _scalar(""), **options)


@cache  # every batch has the same ones
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
    """Return the values of an array as JSON has them; float32 with the fewest digits."""
    if pa.types.is_float32(array.type):
        array = array.cast(pa.string()).cast(pa.float64())
    if is_text(array.type):
        array = array.cast(pa.large_binary())  # of a foreign file, it may not be UTF-8
    if pa.types.is_timestamp(array.type) or pa.types.is_time(array.type):
        array = array.cast(pa.string())  # Python's types have no nanoseconds
    try:
        values: list[Any] = array.to_pylist()
    except ValueError:
        raise DocumentError(
            f"A column to keep, of type {array.type}, has values that are no text in UTF-8 or that "
            "Python does not have; write .parquet, or keep another."
        ) from None
    is_float = pa.types.is_floating(array.type)
    if pa.types.is_integer(array.type) or (is_float and pc.all(pc.is_finite(array)).as_py()):
        return values
    return [_plain(value) for value in values]


def _plain(value: Any) -> Any:
    """Return a value that JSON has: NaN becomes null, other objects text."""
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
