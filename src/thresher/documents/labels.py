"""From the cells of a label column to one list of labels per document."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from thresher.errors import DocumentError

SEPARATORS = ("|", ";", ",")  # never a space: "New York" is one label
LONE_SURROGATES = re.compile("[\ud800-\udfff]")  # what a byte that is not UTF-8 is decoded to
MANY = (list, tuple, set, frozenset, np.ndarray)


def value_text(value: Any) -> str:
    """Return a single value as text: "" for nothing, 3 and 3.0 both "3", true as "true"."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value if value.isascii() else LONE_SURROGATES.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isnan(value):
            return ""
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(float(value))
    if isinstance(value, dict | list | tuple | set | frozenset):
        kind = "an object" if isinstance(value, dict) else "a list"
        raise DocumentError(f"{kind} stands where a text or a number is expected")
    text = str(value)
    return "" if text in ("<NA>", "NaT") else text


def labels_of(value: Any, separator: str | None) -> list[str]:
    """Return the labels of one document, each once, in their order; a set is sorted."""
    if isinstance(value, str):
        parts: Iterable[str] = split_cell(value_text(value), separator)
    elif isinstance(value, MANY):
        parts = (value_text(one).strip() for one in value)
        if isinstance(value, set | frozenset):
            parts = sorted(parts)
    else:
        parts = (value_text(value).strip(),)
    return [part for part in dict.fromkeys(parts) if part]


def labels_of_array(array: pa.Array, separator: str | None) -> list[list[str]]:
    """Return the labels of each document; an Arrow array of texts, numbers or lists of them."""
    array = decoded(array)
    if is_list(array.type):
        return _labels_of_lists(array)
    values, numbers = _distinct(array)
    split = [labels_of(value, separator) for value in values]
    split.append([])  # found by the -1 that stands for null
    return [split[i][:] for i in numbers.tolist()]


def _labels_of_lists(array: pa.Array) -> list[list[str]]:
    import pyarrow.compute as pc

    values, numbers = _distinct(array.flatten())
    names = [value_text(value).strip() for value in values]
    names.append("")
    flat = [names[i] for i in numbers.tolist()]
    lengths = _filled(pc.list_value_length(array), 0)
    ends = np.cumsum(lengths).tolist()
    lists = [flat[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    # Looking at all at once whether any label is empty or stands twice is faster than at each.
    keys = np.sort(np.repeat(np.arange(len(lists)), lengths) * len(names) + numbers)
    if "" in flat or len(set(names)) < len(names) or (np.diff(keys) == 0).any():
        lists = [[name for name in dict.fromkeys(one) if name] for one in lists]
    return lists


def guess_separator(cells: Iterable[str]) -> str | None:
    """Return what separates the labels in the cells, `None` where nothing is sure to.

    A separator is believed when at least half of the parts it would make also stand alone in a
    cell of their own: "grain,wheat" is two labels where "grain" is seen alone, "Health, beauty"
    stays one. A space is never believed.
    """
    distinct = {cell.strip() for cell in cells}
    for separator in SEPARATORS:
        parts = {p for cell in distinct if separator in cell for p in split_cell(cell, separator)}
        if parts and 2 * len(parts & distinct) >= len(parts):
            return separator
    return None


def split_cell(cell: str, separator: str | None) -> list[str]:
    """Return the parts of a cell, without the white space around them and without empty ones."""
    parts = cell.split(separator) if separator else [cell]
    return [stripped for part in parts if (stripped := part.strip())]


def is_list(kind: pa.DataType) -> bool:
    """Tell whether an Arrow type holds several values per document."""
    asked = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(is_kind(kind) for is_kind in asked)


def is_text(kind: pa.DataType) -> bool:
    """Tell whether an Arrow type is one of texts."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def decoded(array: pa.Array) -> pa.Array:
    """Return the values themselves where there are numbers into a dictionary, or views of texts."""
    if pa.types.is_string_view(array.type):
        return array.cast(pa.large_string())  # few functions of pyarrow take views
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _distinct(array: pa.Array) -> tuple[list[Any], np.ndarray]:
    """Return the distinct values, and for each position the number of its value, -1 for null."""
    array = decoded(array)
    if pa.types.is_null(array.type):
        return [], np.full(len(array), -1)
    if is_text(array.type):
        array = array.cast(pa.large_binary())  # so that text that is not UTF-8 can be repaired
    encoded = array.dictionary_encode()
    values = encoded.dictionary.to_pylist()
    values = [value_text(v) if isinstance(v, bytes) else v for v in values]
    return values, _filled(encoded.indices, -1)


def _filled(numbers: pa.Array, missing: int) -> np.ndarray:
    """Return whole numbers with `missing` for null; pyarrow's own way would import pandas."""
    numbers = numbers.cast(pa.int64())
    validity, values = numbers.buffers()
    positions = slice(numbers.offset, numbers.offset + len(numbers))
    filled = np.frombuffer(values, np.int64)[positions]
    if numbers.null_count:
        bits = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")
        filled = np.where(bits[positions], filled, missing)
    return filled
