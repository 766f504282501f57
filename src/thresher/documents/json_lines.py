"""JSON lines, parsed with pyarrow, or with Python's parser if pyarrow refuses a block."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json

from thresher.documents.batch import Batch, Locations, Reading, Record, Skipped, without_null
from thresher.documents.columns import Columns
from thresher.documents.labels import LONE_SURROGATES, is_list, value_text
from thresher.documents.records import Opening, Records
from thresher.documents.streams import Stream, line_blocks
from thresher.errors import DocumentError

SAMPLE = 200  # objects from which the columns are chosen
MOST_BLANKS = 4  # accepted at the end of a line, including its end
LEAST_ROUNDED = 2.0**53  # integers from here on may have no float of the same value
Object = tuple[int, tuple[int, int], dict | Record]  # line, span, value or skipped


def read_json_lines(stream: Stream, reading: Reading) -> Iterator[Batch]:
    """Yield the documents of a file with one JSON object per line."""
    line = 1
    columns: Columns | None = None
    schema: pa.Schema | None = None
    if reading.keeps_records:
        reading.open(stream.name, Opening("jsonl", stream.mark))
    for block in line_blocks(stream):
        lines = Records.of_lines(block)
        numbers = np.arange(line, line := line + len(lines.starts))
        reading.turn_to(block)
        if columns is None and (sample := list(islice(_valid(block), SAMPLE))):
            columns = _choose(stream, reading, block, sample)
            schema = _schema(columns, reading.keep, sample)
        is_whole = _look_whole(lines)
        # Lines without an object do not keep pyarrow from reading the others.
        is_clean = is_whole.all() or next(_valid(lines.take(~is_whole)), None) is None
        whole = lines.pick(is_whole)
        table = None if schema is None or not is_clean else _parse(whole, schema)
        if table is not None and columns is not None:
            others = lines.pick(~is_whole)
            broken = list(_objects(others, numbers[~is_whole], stream.name, reading))
            numbers = numbers[is_whole]
            skipped = _skip(broken, numbers, reading)
            yield from _emit(table, columns, reading, stream.name, numbers, whole, skipped)
        else:
            objects = list(_objects(lines, numbers, stream.name, reading))
            if columns is not None:
                dicts = (value for *_, value in objects if isinstance(value, dict))
                schema = _schema(columns, reading.keep, dicts)
            # Columns are unknown before the first object, but all lines before it are skipped.
            known = columns or Columns(("text",))
            yield from reading.gather(known, _records(objects, known, reading.keep, stream.name))


def _choose(stream: Stream, reading: Reading, block: bytes, sample: list[dict]) -> Columns:
    """Choose the columns from the first objects, or from the whole block if one is rare."""
    try:
        return reading.choose(stream.name, list(dict.fromkeys(chain(*sample))))
    except DocumentError:
        return reading.choose(stream.name, list(dict.fromkeys(chain(*_valid(block)))))


def _valid(block: bytes) -> Iterator[dict]:
    """Yield the valid objects of a block; errors are reported later."""
    for line in io.BytesIO(block):
        try:
            value = json.loads(line.decode("utf-8", "surrogateescape"))
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield _with_clean_keys(value)


def _schema(columns: Columns, keep: tuple[str, ...], objects: Iterable[dict]) -> pa.Schema | None:
    """Return the types of the columns, or `None` if a column has values of several types."""
    types = dict.fromkeys(columns.text, pa.string())
    sample = list(objects)
    for field in (columns.labels, *keep):
        if field is None or field in types:
            continue
        kinds = {kind for value in sample for kind in _kinds(value.get(field))}
        if len(kinds) > 1 or None in kinds:
            return None
        types[field] = kinds.pop() if kinds else pa.string()
    return pa.schema(list(types.items()))


def _kinds(value: Any) -> set[pa.DataType | None]:
    """Return the possible Arrow types of a value: none for null, `None` if Python reads it."""
    if isinstance(value, list):
        inner = ({None} if isinstance(item, list) else _kinds(item) for item in value)
        return {kind and pa.list_(kind) for kinds in inner for kind in kinds}
    kinds = {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}
    return set() if value is None else {kinds.get(type(value))}


def _look_whole(lines: Records) -> np.ndarray:
    """Return which lines begin with "{" and end with "}" and a few blanks."""
    characters, last = np.frombuffer(lines.data, np.uint8), lines.ends - 1
    for _ in range(MOST_BLANKS):
        last = np.maximum(last - (characters[last] <= ord(" ")), lines.starts)
    is_whole: np.ndarray = (characters[lines.starts] == ord("{")) & (characters[last] == ord("}"))
    return is_whole


def _parse(lines: Records, schema: pa.Schema) -> pa.Table | None:
    """Return lines parsed with pyarrow, or `None` if it refuses them or may differ from Python.

    The lines must look like objects, because pyarrow may crash at others, such as null. It uses no
    threads: a block is too small for them to help, and they can deadlock.
    """
    block = lines.take(np.ones(len(lines.starts), bool))
    try:
        block.decode()  # pyarrow does not check that the text is UTF-8
        table = pa.json.read_json(
            pa.BufferReader(block),
            pa.json.ReadOptions(use_threads=False, block_size=len(block) + 2),
            pa.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
        )
    except (UnicodeDecodeError, pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    # Blank lines, two objects in a line or one over several lines: line numbers would be wrong.
    is_same = table.num_rows == len(lines.starts) and all(map(_are_exact, table.columns))
    return table if is_same else None


def _are_exact(column: pa.ChunkedArray) -> bool:
    """Return False for numbers that pyarrow may have rounded, if they are integers among floats."""
    values = column.combine_chunks()
    while is_list(values.type):
        values = values.flatten()
    if not len(values) or values.type != pa.float64():
        return True
    numbers = np.frombuffer(values.buffers()[1], np.float64)  # `to_numpy` would import pandas
    is_rounded = np.abs(numbers[values.offset : values.offset + len(values)]) >= LEAST_ROUNDED
    return not is_rounded.any()


def _emit(
    table: pa.Table,
    columns: Columns,
    reading: Reading,
    name: str,
    numbers: np.ndarray,
    lines: Records,
    skipped: Sequence[Skipped],
) -> Iterator[Batch]:
    def column(field: str) -> pa.Array:
        array = table.column(field).combine_chunks()
        return without_null(array) if field in columns.text else array

    texts = {field: column(field) for field in columns.text}
    labels = None if columns.labels is None else column(columns.labels)
    extra = [table.column(field).combine_chunks() for field in reading.keep]
    return reading.emit(texts, labels, Locations(f"{name}:", numbers), extra, skipped, lines)


def _skip(broken: list[Object], numbers: np.ndarray, reading: Reading) -> list[Skipped]:
    """Count skipped lines; return them with their positions among lines with these numbers."""
    skipped = []
    for number, _, line in broken:
        if isinstance(line, Record):
            reading.count_skipped(line)
            before = int(np.searchsorted(numbers, number))
            skipped.append(Skipped(before, line.location, line.skipped, line.extra_values))
    return skipped if reading.request.keep is not None else []


def _objects(lines: Records, numbers: np.ndarray, name: str, reading: Reading) -> Iterator[Object]:
    """Yield the objects with their lines and spans; refuse lines without an object."""
    for i, raw in enumerate(lines.each()):
        text = raw.decode("utf-8", "surrogateescape").removesuffix("\n")
        if not text.strip():
            continue
        number, span = int(numbers[i]), lines.span(i)
        location = f"{name}:{number}"
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            what = str(error).replace("line 1 column", "character").split(" (char")[0]
            what = f"invalid JSON ({what}){_array_hint(text)}"
            yield number, span, reading.refuse(location, what, span)
        else:
            if isinstance(value, dict):
                yield number, span, _with_clean_keys(value)
            else:
                what = f"the line holds no JSON object{_array_hint(text)}"
                yield number, span, reading.refuse(location, what, span)


def _with_clean_keys(value: dict) -> dict:
    """Return an object whose keys can be encoded in UTF-8, as names of columns must be."""
    if any(map(LONE_SURROGATES.search, value)):
        return {value_text(key): item for key, item in value.items()}
    return value


def _array_hint(text: str) -> str:
    is_array = text.lstrip().startswith("[")
    return "; a JSON array must become one object per line (jq -c '.[]')" if is_array else ""


def _records(
    objects: Iterable[Object],
    columns: Columns,
    keep: tuple[str, ...],
    name: str,
) -> Iterator[Record]:
    fields = (*columns.names, *keep)
    for number, span, value in objects:
        if isinstance(value, dict):
            values = [value.get(field) for field in fields]
            yield Record.of(columns, values, f"{name}:{number}", span)
        else:
            yield value
