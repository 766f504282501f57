"""JSON lines: pyarrow reads block after block; what it refuses, Python's own reader judges."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json

from thresher.documents.batch import Batch, Reading, Record, without_null
from thresher.documents.columns import Columns
from thresher.documents.labels import LONE_SURROGATES, value_text
from thresher.documents.streams import Stream, line_blocks
from thresher.errors import DocumentError

SAMPLE = 200  # objects looked at to choose the columns
PIECE = 1 << 20  # bytes that one of pyarrow's threads parses at a time


def read_json_lines(stream: Stream, reading: Reading) -> Iterator[Batch]:
    """Yield the documents of a file with one JSON object per line."""
    line = 1
    columns: Columns | None = None
    schema: pa.Schema | None = None
    for block in line_blocks(stream):
        if columns is None and (sample := list(islice(_valid(block), SAMPLE))):
            columns = _choose(stream, reading, block, sample)
            schema = _schema(columns, reading.keep, sample)
        table = None if schema is None else _parse(block, schema)
        if table is not None and columns is not None:
            yield from _emit(table, columns, reading, stream.name, line)
        else:
            objects = list(_objects(block, line, stream.name, reading))
            if columns is not None:
                dicts = (one for _, one in objects if isinstance(one, dict))
                schema = _schema(columns, reading.keep, dicts)
            # Before the first object the columns are not known; but all that is there is left out.
            known = columns or Columns(("text",))
            yield from reading.gather(known, _records(objects, known, reading.keep, stream.name))
        line += block.count(b"\n")


def _choose(stream: Stream, reading: Reading, block: bytes, sample: list[dict]) -> Columns:
    """Choose among the fields of the first objects; a rare field may need the whole block."""
    try:
        return reading.choose(stream.name, list(dict.fromkeys(chain(*sample))))
    except DocumentError:
        return reading.choose(stream.name, list(dict.fromkeys(chain(*_valid(block)))))


def _valid(block: bytes) -> Iterator[dict]:
    """Yield the objects of the block; what is wrong with others is said in its turn."""
    for line in io.BytesIO(block):
        try:
            value = json.loads(line.decode("utf-8", "surrogateescape"))
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield _with_clean_keys(value)


def _schema(columns: Columns, keep: tuple[str, ...], objects: Iterable[dict]) -> pa.Schema | None:
    """Return the types to expect; `None` where labels or values to keep are of several types."""
    types = dict.fromkeys(columns.text, pa.string())
    sample = list(objects)
    for field in (columns.labels, *keep):
        if field is None or field in types:
            continue
        kinds = {kind for one in sample for kind in _kinds(one.get(field))}
        if len(kinds) > 1 or None in kinds:
            return None
        types[field] = kinds.pop() if kinds else pa.string()
    return pa.schema(list(types.items()))


def _kinds(value: Any) -> set[pa.DataType | None]:
    """Return the Arrow types that would hold a label; none where it is null, `None` for objects."""
    if isinstance(value, list):
        return {kind and pa.list_(kind) for one in value for kind in _kinds(one)}
    kinds = {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}
    return set() if value is None else {kinds.get(type(value))}


def _parse(block: bytes, schema: pa.Schema) -> pa.Table | None:
    """Parse a block; `None` where pyarrow refuses it or may have read it otherwise than Python."""
    if not block.endswith((b"}\n", b"}")):
        block = block.rstrip()  # blank lines at the end
    characters = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(characters == ord("\n"))
    starts = np.append(0, ends + 1)
    # A line that is no object is ours to refuse; at the value null pyarrow may even crash.
    if not (characters[starts[starts < len(block)]] == ord("{")).all():
        return None
    longest = int(np.diff(ends, prepend=0, append=len(block)).max())
    try:
        block.decode()  # pyarrow does not look whether the text is UTF-8
        table = pa.json.read_json(
            pa.BufferReader(block),
            pa.json.ReadOptions(block_size=max(PIECE, longest + 2)),
            pa.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
        )
    except (UnicodeDecodeError, pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    # Blank lines, two objects in a line or one over several lines: places would be wrong.
    n_lines = len(ends) + (not block.endswith(b"\n"))
    return table if table.num_rows == n_lines else None


def _emit(
    table: pa.Table, columns: Columns, reading: Reading, name: str, line: int
) -> Iterator[Batch]:
    def column(field: str) -> pa.Array:
        array = table.column(field).combine_chunks()
        return without_null(array) if field in columns.text else array

    texts = {field: column(field) for field in columns.text}
    labels = None if columns.labels is None else column(columns.labels)
    kept = [table.column(field).combine_chunks() for field in reading.keep]
    return reading.emit(texts, labels, lambda i: f"{name}:{line + i}", kept)


def _objects(
    block: bytes, line: int, name: str, reading: Reading
) -> Iterator[tuple[int, dict | Record]]:
    """Yield the objects with their lines; refuse lines that hold none."""
    for number, text in enumerate(block.decode("utf-8", "surrogateescape").split("\n"), line):
        if not text.strip():
            continue
        place = f"{name}:{number}"
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            what = str(error).replace("line 1 column", "character").split(" (char")[0]
            yield number, reading.refuse(place, f"invalid JSON ({what}){_array_hint(text)}")
        else:
            if isinstance(value, dict):
                yield number, _with_clean_keys(value)
            else:
                what = f"the line holds no JSON object{_array_hint(text)}"
                yield number, reading.refuse(place, what)


def _with_clean_keys(value: dict) -> dict:
    """Return an object whose keys can be written in UTF-8: they become names of columns."""
    if any(map(LONE_SURROGATES.search, value)):
        return {value_text(key): one for key, one in value.items()}
    return value


def _array_hint(text: str) -> str:
    is_array = text.lstrip().startswith("[")
    return "; a JSON array must become one object per line (jq -c '.[]')" if is_array else ""


def _records(
    objects: Iterable[tuple[int, dict | Record]],
    columns: Columns,
    keep: tuple[str, ...],
    name: str,
) -> Iterator[Record]:
    wanted = (*columns.names, *keep)
    for number, one in objects:
        if isinstance(one, dict):
            one = Record.of(columns, [one.get(field) for field in wanted], f"{name}:{number}")
        yield one
