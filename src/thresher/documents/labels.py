"""Conversion of the cells of a label column to a list of labels per document."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa

from thresher.errors import DocumentError

SEPARATORS = ("|", ";", ",")  # never a space: "New York" is one label
LONE_SURROGATES = re.compile("[\ud800-\udfff]")  # bytes that are not UTF-8 are decoded to these
MANY = (list, tuple, set, frozenset, np.ndarray)


def value_text(value: Any) -> str:
    """Return a value as text: "" for missing values, "3" for 3 and 3.0, "true" for True."""
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


def is_missing(value: Any) -> bool:
    """Return True for values that stand for nothing, such as None and NaN; not for ""."""
    is_given = isinstance(value, (str, bytes, dict, *MANY))
    return not is_given and value_text(value) == ""


def are_numbers(labels: Iterable[Any]) -> bool:
    """Return True if all labels are whole numbers, or all true or false, apart from missing ones.

    Examples
    --------
    >>> are_numbers([1, None, 2.0]), are_numbers([1, True]), are_numbers([0.5]), are_numbers(["1"])
    (True, False, False, False)
    """
    kinds = set()
    for label in labels:
        for value in label if isinstance(label, MANY) else [label]:
            if isinstance(value, (str, dict, *MANY)):
                return False
            if not is_missing(value):
                kinds.add(type(_number_or_text(value)))
    return kinds in ({int}, {bool})


def _number_or_text(value: Any) -> Any:
    """Return a whole number or a truth value in Python's type, anything else as text."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value if isinstance(value, int) else _text(value)


def _text(value: Any) -> str:
    """Return a label as text; bytes that are no text become lone surrogates, so as to differ."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "surrogateescape")
    return (value if isinstance(value, str) else value_text(value)).strip()


def escape_surrogates(label: str) -> str:
    """Return a label with escapes for bytes that are no text and for halves of characters.

    Unlike replacement characters, they keep different labels apart.

    Examples
    --------
    >>> print(escape_surrogates(b"M\\xf6bel".decode(errors="surrogateescape")))
    M\\xf6bel
    """

    def escape(match: re.Match[str]) -> str:
        code = ord(match[0])
        return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"

    return LONE_SURROGATES.sub(escape, label)


def labels_of(value: Any, separator: str | None, keep_numbers: bool = False) -> list[Any]:
    """Return the distinct labels of a document in their order; a set is sorted.

    Labels are texts; numbers stay numbers if `keep_numbers` is true. Bytes that are no text are
    lone surrogates, which `Reading.emit` escapes.
    """
    convert = _number_or_text if keep_numbers else _text
    if isinstance(value, str):
        labels: Iterable[Any] = split_cell(value, separator)
    elif isinstance(value, MANY):
        labels = map(convert, value)
        if isinstance(value, set | frozenset):
            labels = sorted(labels)
    else:
        labels = (convert(value),)
    return [label for label in dict.fromkeys(labels) if label != ""]


def labels_of_array(
    array: pa.Array, separator: str | None, keep_numbers: bool = False
) -> list[list[Any]]:
    """Return the labels of each document from an Arrow array of texts, numbers or lists of them."""
    array = decoded(array)
    if is_list(array.type):
        return _labels_of_lists(array, _number_or_text if keep_numbers else _text)
    values, numbers = _distinct(array)
    split = [labels_of(value, separator, keep_numbers) for value in values]
    split.append([])  # at index -1, for null
    return [split[i][:] for i in numbers.tolist()]


def _labels_of_lists(array: pa.Array, convert: Callable[[Any], Any]) -> list[list[Any]]:
    import pyarrow.compute as pc

    values, numbers = _distinct(array.flatten())
    names = list(map(convert, values))
    names.append("")
    flat = [names[i] for i in numbers.tolist()]
    lengths = _filled(pc.list_value_length(array), 0)
    ends = np.cumsum(lengths).tolist()
    lists = [flat[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    # Checking all labels at once for blank and repeated ones is faster than checking each list.
    keys = np.sort(np.repeat(np.arange(len(lists)), lengths) * len(names) + numbers)
    if "" in flat or len(set(names)) < len(names) or (np.diff(keys) == 0).any():
        lists = [[name for name in dict.fromkeys(names_) if name != ""] for names_ in lists]
    return lists


def guess_separator(cells: Iterable[str]) -> str | None:
    """Return the separator of labels in the cells, or `None` if there is no clear one.

    A character is a separator if at least half of the labels that it would give also occur alone:
    "grain,wheat" is two labels if "grain" occurs alone; otherwise "Health, beauty" is one label.
    """
    distinct = {cell.strip() for cell in cells}
    for separator in SEPARATORS:
        cells_with = [cell for cell in distinct if separator in cell]
        labels = {label for cell in cells_with for label in split_cell(cell, separator)}
        if labels and 2 * len(labels & distinct) >= len(labels):
            return separator
    return None


def split_cell(cell: str, separator: str | None) -> list[str]:
    """Return the labels in a cell, stripped, without blank ones."""
    labels = cell.split(separator) if separator else [cell]
    return [stripped for label in labels if (stripped := label.strip())]


def is_list(kind: pa.DataType) -> bool:
    """Return True if an Arrow type is a type of lists."""
    types = pa.types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def is_text(kind: pa.DataType) -> bool:
    """Return True if an Arrow type is a type of texts."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def decoded(array: pa.Array) -> pa.Array:
    """Return an array with dictionary indices and views of texts replaced by plain values."""
    if pa.types.is_string_view(array.type):
        return array.cast(pa.large_string())  # few functions of pyarrow accept views
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _distinct(array: pa.Array) -> tuple[list[Any], np.ndarray]:
    """Return the distinct values, and the index of each value among them, -1 for null."""
    array = decoded(array)
    if pa.types.is_null(array.type):
        return [], np.full(len(array), -1)
    if is_text(array.type):
        array = array.cast(pa.large_binary())  # so that text that is not UTF-8 can be repaired
    encoded = array.dictionary_encode()
    values = _values(encoded.dictionary)
    values = [_text(v) if isinstance(v, bytes) else v for v in values]
    return values, _filled(encoded.indices, -1)


def _values(array: pa.Array) -> list[Any]:
    """Return values as Python's, or as numbers if Python has no such dates or durations."""
    try:
        return list(array.to_pylist())
    except (ValueError, OverflowError, ImportError):
        for kind in (pa.int64(), pa.int32(), pa.string()):
            with suppress(pa.ArrowException):
                return list(map(str, array.cast(kind).to_pylist()))
        raise DocumentError(f"labels of type {array.type} cannot be converted to text") from None


def _filled(numbers: pa.Array, missing: int) -> np.ndarray:
    """Return integers with `missing` for null; `fill_null` would import pandas."""
    numbers = numbers.cast(pa.int64())
    validity, values = numbers.buffers()
    positions = slice(numbers.offset, numbers.offset + len(numbers))
    filled = np.frombuffer(values, np.int64)[positions]
    if numbers.null_count:
        bits = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")
        filled = np.where(bits[positions], filled, missing)
    return filled
