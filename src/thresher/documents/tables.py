"""Parquet files, Arrow tables and streams of batches, and data frames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from thresher.documents import streams
from thresher.documents.batch import Batch, Reading, Record, Source, without_null
from thresher.documents.columns import Columns
from thresher.documents.labels import is_list, value_text
from thresher.documents.streams import Stream
from thresher.errors import DocumentError

MOST_ROWS = 1 << 16  # of a table in one batch


def read_parquet(stream: Stream, reading: Reading) -> Iterator[Batch]:
    """Yield the documents of a Parquet file, some rows of a row group at a time."""
    with stream.seekable() as file:
        try:
            parquet = pa.parquet.ParquetFile(file, buffer_size=1 << 20, pre_buffer=False)
        except pa.ArrowInvalid as error:
            raise DocumentError(f"{stream.name}: is not a Parquet file ({error}).") from None
        columns = reading.choose(stream.name, parquet.schema_arrow.names)
        rows = _rows_per_batch(parquet)
        n_bytes, done = file.seek(0, 2), 0
        wanted = list(dict.fromkeys([*columns.text, *filter(None, [columns.labels])]))
        for batch in parquet.iter_batches(rows, columns=wanted):
            done += batch.num_rows
            share = done / parquet.metadata.num_rows
            reading.position = lambda share=share: int(share * n_bytes)  # type: ignore[misc]
            yield from _emit(batch, columns, reading, stream.name, done - batch.num_rows)


def _rows_per_batch(parquet: pa.parquet.ParquetFile) -> int:
    """Return how many rows make about one block, by the row group with the longest rows."""
    metadata = parquet.metadata
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    longest = max((group.total_byte_size / max(group.num_rows, 1) for group in groups), default=1)
    return max(1, min(MOST_ROWS, int(streams.BLOCK / max(longest, 1))))


def arrow_source(table: Any) -> Source:
    """Make a source of anything that gives Arrow batches; a table can be read again."""
    is_stream = isinstance(table, pa.RecordBatchReader)
    if not is_stream and not isinstance(table, pa.Table):
        table = pa.table(table)

    def read(reading: Reading) -> Iterator[Batch]:
        columns = reading.choose("the table", table.schema.names)
        batches = table if is_stream else table.to_batches(max_chunksize=MOST_ROWS)
        row = 0
        for batch in batches:
            yield from _emit(batch, columns, reading, "the table", row)
            row += batch.num_rows

    return Source("the table", read, once=is_stream)


def _emit(
    batch: pa.RecordBatch, columns: Columns, reading: Reading, name: str, row: int
) -> Iterator[Batch]:
    damaged: set[int] = set()
    texts = {one: _strings(batch.column(one), name, one, damaged) for one in columns.text}
    reading.decoding_errors += len(damaged)
    labels = None if columns.labels is None else batch.column(columns.labels)
    if labels is not None and pa.types.is_nested(_inner(labels.type)):
        raise DocumentError(
            f'{name}: column "{columns.labels}" is of type {labels.type}, where labels are '
            "expected: texts, numbers, or lists of them; name another column."
        )
    return reading.emit(texts, labels, lambda i: f"{name}, row {row + i + 1}")


def _inner(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if is_list(kind) else kind


def _strings(array: pa.Array, name: str, column: str, damaged: set[int]) -> pa.Array:
    """Return a column as texts, "" for null; note the rows whose text is not UTF-8."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_nested(array.type):
        raise DocumentError(
            f'{name}: column "{column}" is of type {array.type}, where text is expected; '
            "name another column."
        )
    try:
        strings = array if pa.types.is_large_string(array.type) else array.cast(pa.string())
        strings.validate(full=True)
    except pa.ArrowInvalid:
        values = array.cast(pa.large_binary()).to_pylist()
        damaged.update(i for i, value in enumerate(values) if not _is_utf8(value))
        strings = pa.array([value_text(value) for value in values], pa.string())
    return without_null(strings)


def _is_utf8(value: bytes | None) -> bool:
    try:
        return value is None or value.decode() is not None
    except UnicodeDecodeError:
        return False


def frame_source(frame: Any) -> Source:
    """Make a source of a data frame in the manner of pandas, which is not imported."""

    def read(reading: Reading) -> Iterator[Batch]:
        columns = reading.choose("the data frame", [str(name) for name in frame.columns])
        names = {str(name): name for name in frame.columns}
        yield from reading.gather(columns, _frame_records(frame, columns, names))

    return Source("the data frame", read)


def _frame_records(frame: Any, columns: Columns, names: dict[str, Any]) -> Iterator[Record]:
    wanted = [frame[names[one]] for one in (*columns.text, *filter(None, [columns.labels]))]
    for start in range(0, len(frame), MOST_ROWS):
        parts = [column.iloc[start : start + MOST_ROWS].tolist() for column in wanted]
        for row, values in enumerate(zip(*parts, strict=True), start + 1):
            labels = None if columns.labels is None else values[-1]
            texts = values if columns.labels is None else values[:-1]
            yield Record(texts, labels, f"the data frame, row {row}")
