"""Parquet files and data in memory: Arrow tables and streams, data frames, pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import pyarrow as pa

from thresher.documents import streams
from thresher.documents.batch import (
    NOT_A_TEXT,
    Batch,
    Locations,
    Reading,
    Record,
    Source,
    to_arrow,
    without_null,
)
from thresher.documents.columns import Columns
from thresher.documents.labels import are_numbers, decoded, is_list, is_missing, value_text
from thresher.documents.records import Opening
from thresher.documents.streams import Stream
from thresher.errors import DocumentError, reason

if TYPE_CHECKING:
    from pyarrow.parquet import FileMetaData, ParquetFile

MOST_ROWS = 1 << 16  # of a table in a batch
MOST_RATIO = 500  # of decompressed bytes to bytes in the file, for very large columns
BUFFER = 1 << 20  # bytes of a column that are read from a file at a time
SMALL_BUFFER = 1 << 16  # for a dictionary and the first values
MOST_DECODED = 1 << 24  # bytes of the values of a batch, if each were the longest in its dictionary


def read_parquet(stream: Stream, reading: Reading) -> Iterator[Batch]:
    """Yield the documents of a Parquet file, a part of a row group at a time."""
    from pyarrow.parquet import ParquetFile

    with stream.seekable() as file:
        try:
            parquet = ParquetFile(file, buffer_size=BUFFER, pre_buffer=False)
            columns = reading.choose(stream.name, parquet.schema_arrow.names)
        except pa.ArrowInvalid as error:
            what = f"is not a Parquet file ({reason(error)})"
            raise DocumentError(f"{stream.name}: {what}.") from None
        except UnicodeDecodeError as error:
            what = f"the name of a column is not UTF-8 ({error.object!r}); rename it"
            raise DocumentError(f"{stream.name}: {what}.") from None
        metadata = parquet.metadata
        if reading.keeps_records:
            reading.open(stream.name, _opening(parquet))
        names = list(dict.fromkeys((*columns.names, *reading.keep)))
        names_read = None if reading.keeps_records else names  # None: all
        n_bytes, done = file.seek(0, 2), 0
        _check_sizes(stream, metadata, n_bytes)
        n_rows = _rows_at_once(file, metadata, names_read or parquet.schema_arrow.names)
        for batch in parquet.iter_batches(n_rows, columns=names_read, use_threads=False):
            done += batch.num_rows
            share = done / metadata.num_rows
            reading.position = lambda share=share: int(share * n_bytes)  # type: ignore[misc]
            yield from _emit(batch, columns, reading, stream.name, done - batch.num_rows)


def _check_sizes(stream: Stream, metadata: FileMetaData, n_bytes: int) -> None:
    """Raise an error if pages may be enormous, which are decompressed in memory.

    The sizes of columns are not asked for: pyarrow ends the process if their metadata are damaged.
    """
    for i in range(metadata.num_row_groups):
        size = metadata.row_group(i).total_byte_size
        if size > max(streams.DOCUMENTS_PER_COPY * stream.longest, MOST_RATIO * n_bytes):
            what = f"a row group has {size} bytes, decompressed from at most {n_bytes}"
            raise stream.too_long(what)


def _rows_at_once(file: BinaryIO, metadata: FileMetaData, names: Sequence[str]) -> int:
    """Return the number of rows to read at once: about one block, and at most `MOST_DECODED` bytes.

    The file stores a value of a dictionary once, but it can be the value of every row.
    """
    from pyarrow.parquet import ParquetFile

    indices = list(range(metadata.num_columns))
    how: dict[str, Any] = {"buffer_size": SMALL_BUFFER, "pre_buffer": False}
    parquet = ParquetFile(file, metadata=metadata, read_dictionary=indices, **how)
    n_rows = float(MOST_ROWS)
    for i in range(metadata.num_row_groups):
        group = metadata.row_group(i)
        row_bytes = group.total_byte_size / max(group.num_rows, 1)
        longest = sum(_longest_in_dictionary(parquet, i, name) for name in names)
        n_rows = min(n_rows, streams.BLOCK / max(row_bytes, 1), MOST_DECODED / max(longest, 1))
    return max(1, int(n_rows))


def _longest_in_dictionary(parquet: ParquetFile, group: int, name: str) -> int:
    """Return the bytes of the longest value in the dictionary of a column, 0 if it has none.

    The first row of a row group, read as an index, comes with the dictionary.
    """
    import pyarrow.compute as pc  # slow to import, and not needed for other formats

    try:
        rows = parquet.iter_batches(1, row_groups=[group], columns=[name], use_threads=False)
        arrays = next(rows).columns
    except (OSError, pa.ArrowException, StopIteration):
        return 0  # such as delta encoding, which pyarrow cannot read as indices; or no rows
    longest = 0
    for array in arrays:
        while is_list(array.type):
            array = array.flatten()
        if pa.types.is_dictionary(array.type):
            longest = max(longest, pc.max(pc.binary_length(array.dictionary)).as_py() or 0)
    return longest


def _opening(parquet: ParquetFile) -> Opening:
    metadata, schema = parquet.metadata, parquet.schema_arrow
    has_values = metadata.num_row_groups and metadata.num_columns
    codec = metadata.row_group(0).column(0).compression if has_values else "snappy"
    plain = "none" if codec == "UNCOMPRESSED" else codec.lower()
    return Opening("parquet", columns=tuple(schema.names), schema=schema, codec=plain)


def arrow_source(table: Any) -> Source:
    """Return a source for anything that gives Arrow batches; a table can be read repeatedly."""
    is_stream, kind = isinstance(table, pa.RecordBatchReader), type(table).__name__
    if hasattr(table, "to_arrow"):  # polars; its Arrow interface gives views of texts
        table = table.to_arrow()
    if not is_stream and not isinstance(table, pa.Table):
        try:
            table = pa.table(table)
        except pa.ArrowInvalid:
            what = f"documents cannot be read from {kind}, which is no table"
            raise DocumentError(f"{what}; give a list of its texts to from_texts.") from None

    def read(reading: Reading) -> Iterator[Batch]:
        columns = reading.choose("the table", table.schema.names)
        reading.keeps_numbers = columns.labels is not None and _has_numbers(
            table.schema.field(columns.labels).type, None if is_stream else table[columns.labels]
        )
        batches = table if is_stream else table.to_batches(max_chunksize=MOST_ROWS)
        row = 0
        for batch in batches:
            yield from _emit(batch, columns, reading, "the table", row)
            row += batch.num_rows

    return Source("the table", read, once=is_stream)


def _has_numbers(kind: pa.DataType, column: pa.ChunkedArray | None) -> bool:
    """Return True if labels are whole numbers or truth values, by their type or the column."""
    if is_list(kind):
        kind, column = kind.value_type, None
    if pa.types.is_dictionary(kind):
        kind, column = kind.value_type, None
    if column is not None and pa.types.is_floating(kind):
        return are_numbers(column.unique().to_pylist())
    return bool(pa.types.is_integer(kind) or pa.types.is_boolean(kind))


def _emit(
    batch: pa.RecordBatch, columns: Columns, reading: Reading, name: str, row: int
) -> Iterator[Batch]:
    damaged: set[int] = set()
    texts = {key: _strings(batch.column(key), name, key, damaged) for key in columns.text}
    reading.decoding_errors += len(damaged)
    labels = None if columns.labels is None else batch.column(columns.labels)
    if labels is not None:
        kind = labels.type
        if pa.types.is_nested(kind.value_type if is_list(kind) else kind):
            raise DocumentError(
                f'{name}: column "{columns.labels}" is of type {kind}, where labels are '
                "expected: texts, numbers, or lists of them; name another column."
            )
    extra = [batch.column(key) for key in reading.keep]
    locations = Locations(f"{name}, row ", np.arange(row + 1, row + batch.num_rows + 1))
    return reading.emit(texts, labels, locations, extra, records=batch)


def _strings(array: pa.Array, name: str, column: str, damaged: set[int]) -> pa.Array:
    """Return a column as texts, "" for null; add the rows that are not UTF-8 to `damaged`."""
    array = decoded(array)
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
        texts = [value_text(value) for value in values]
        damaged.update(i for i, text in enumerate(texts) if text.encode() != (values[i] or b""))
        strings = to_arrow(texts)
    return without_null(strings)


def frame_source(frame: Any) -> Source:
    """Return a source for a data frame like those of pandas, which is not imported."""

    def read(reading: Reading) -> Iterator[Batch]:
        names = {str(name): name for name in frame.columns}
        columns = reading.choose("the data frame", [str(name) for name in frame.columns])
        series = [frame[names[key]] for key in (*columns.names, *reading.keep)]
        if columns.labels is not None:
            reading.keeps_numbers = are_numbers(series[len(columns.text)].tolist())

        def records() -> Iterator[Record]:
            for start in range(0, len(frame), MOST_ROWS):
                lists = [column.iloc[start : start + MOST_ROWS].tolist() for column in series]
                for row, values in enumerate(zip(*lists, strict=True), start + 1):
                    yield Record.of(columns, values, f"the data frame, row {row}")

        yield from reading.gather(columns, records())

    return Source("the data frame", read)


def pairs_source(pairs: Iterable[Any]) -> Source:
    """Return a source for pairs of a text and its labels; an iterator can be read only once."""

    def read(reading: Reading) -> Iterator[Batch]:
        columns = reading.set_columns("the texts", "texts and labels as given", has_labels=True)
        reading.keeps_numbers = True

        def records() -> Iterator[Record]:
            for number, pair in enumerate(pairs, 1):
                location = f"document {number}"
                if not isinstance(pair, tuple | list) or len(pair) != 2:
                    raise DocumentError(
                        f"{location}: is {type(pair).__name__}, where a pair (text, labels) is "
                        "expected; texts alone are given as a list of str."
                    )
                text, labels = pair
                text = "" if is_missing(text) else text
                if not isinstance(text, str):
                    yield reading.refuse(location, NOT_A_TEXT.format(type(text).__name__))
                    continue
                if isinstance(labels, str) and not reading.request.label_separator:
                    labels = [labels]  # a string in memory is one label
                extra_values = reading.extra_values_of(columns, (text,), labels)
                yield Record((text,), labels, location, extra_values)

        yield from reading.gather(columns, records())

    return Source("the pairs", read, once=isinstance(pairs, Iterator))
