"""Records of files, which `filter` copies unchanged."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa

from thresher.documents.formats import READERS
from thresher.errors import DocumentError

if TYPE_CHECKING:
    from thresher.documents.batch import Batch

BYTES_PER_ROW_GROUP = 32 << 20  # of a Parquet file that is written


class Records(NamedTuple):
    """The records of some documents: a block of the file and the span of each record in it.

    Examples
    --------
    >>> records = Records.of_lines(b"a\\nbb\\r\\n\\nc")
    >>> len(records.starts), records.take(np.array([True, True, False, True]))
    (4, b'a\\nbb\\r\\nc')
    """

    data: bytes
    starts: np.ndarray
    ends: np.ndarray  # including the end of the line

    @classmethod
    def of_lines(cls, data: bytes) -> Records:
        """Return one record for each line."""
        after = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")) + 1
        if not data.endswith(b"\n"):
            after = np.append(after, len(data))
        return cls(data, np.append(0, after)[:-1], after)

    def slice(self, start: int, length: int) -> Records:
        """Return consecutive records; the interface is that of Arrow tables."""
        end = start + length
        return Records(self.data, self.starts[start:end], self.ends[start:end])

    def span(self, i: int) -> tuple[int, int]:
        """Return the start and the end of a record."""
        return int(self.starts[i]), int(self.ends[i])

    def take(self, chosen: np.ndarray) -> bytes:
        """Return the concatenated bytes of the chosen records."""
        starts, ends = self.starts[chosen], self.ends[chosen]
        is_new = np.append(True, starts[1:] != ends[:-1])[: len(starts)]
        lasts = np.append(is_new[1:], True)[: len(starts)]
        view = memoryview(self.data)
        spans = zip(starts[is_new].tolist(), ends[lasts].tolist(), strict=True)
        pieces = [view[start:end] for start, end in spans]
        is_all = len(pieces) == 1 and len(pieces[0]) == len(view)
        return self.data if is_all else b"".join(pieces)

    def pick(self, chosen: np.ndarray) -> Records:
        """Return the chosen records."""
        return Records(self.data, self.starts[chosen], self.ends[chosen])

    def each(self) -> list[bytes]:
        """Return the bytes of each record."""
        pairs = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        return [self.data[start:end] for start, end in pairs]


class Opening(NamedTuple):
    """The beginning of a file before its records, and their common properties."""

    format: str
    data: bytes = b""  # the byte order mark, the header
    delimiter: str = ""
    columns: tuple[str, ...] = ()
    schema: Any = None  # of Parquet
    codec: str = "none"

    def check(self, location: str, first: Opening) -> None:
        """Raise an error if the records of this file cannot follow those of the first file."""
        if self.format != first.format:
            titles = READERS[self.format].title, READERS[first.format].title
            what = "is {}, and the first file is {}".format(*titles)
        elif (self.columns, self.delimiter) != (first.columns, first.delimiter):
            what = "has other columns than the first file, or in another order"
        elif self.schema != first.schema:
            what = "has columns of other types than the first file"
        else:
            return
        raise DocumentError(f"{location}: {what}; take such files one at a time.")


class LineFile:
    """A file in which each record begins on a new line, even if the previous one has no end."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._is_ended = True

    def write(self, data: bytes) -> None:
        """Write one or several records."""
        if data:
            self._file.write(data if self._is_ended else b"\n" + data)
            self._is_ended = data.endswith((b"\n", b"\r"))


class RecordWriter:
    """A writer of the records of lines or of a text table.

    Parameters
    ----------
    file : binary file
        The file to write.
    opening : Opening
        The opening of the file that the records come from.
    field : str, optional
        The name of a field to add to each record.
    """

    def __init__(self, file: BinaryIO, opening: Opening, field: str | None = None) -> None:
        self._is_json, self._delimiter = opening.format == "jsonl", opening.delimiter.encode()
        self._field, self._lines = field, LineFile(file)
        if field is not None and not self._is_json:
            if not opening.columns:
                title = READERS[opening.format].title
                raise DocumentError(f'"{field}" cannot be added: {title} have no place for it.')
            _check_new(field, opening.columns, "the table")
            name = io.StringIO()
            csv.writer(name, delimiter=opening.delimiter, lineterminator="").writerow([field])
            opening = opening._replace(data=self._with_cell(opening.data, name.getvalue()))
        if opening.columns:
            self._lines.write(opening.data)
        else:
            file.write(opening.data)  # a byte order mark

    def write(self, batch: Batch, chosen: np.ndarray, values: np.ndarray | None = None) -> None:
        """Write the chosen records of a batch, each with its value if a field is added."""
        records = batch.records
        assert isinstance(records, Records)
        if values is None or self._field is None:
            self._lines.write(batch.original(records.take(chosen)))
            return
        each, words = records.each(), values.astype(str).tolist()  # shortest exact form
        if self._is_json:
            self._check_objects(batch, records.data, each)
            key = json.dumps(self._field).encode()
            added = [_with_key(line, key, word) for line, word in zip(each, words, strict=True)]
        else:
            added = list(map(self._with_cell, each, words))
        self._lines.write(batch.original(b"".join(added)))

    def close(self) -> None:
        """Do nothing; everything has been written."""

    def _check_objects(self, batch: Batch, data: bytes, each: list[bytes]) -> None:
        """Raise an error for an object that already has the field."""
        spellings = {json.dumps(self._field, ensure_ascii=is_ascii) for is_ascii in (True, False)}
        for word in map(str.encode, spellings):
            for i, line in enumerate(each) if word in data else ():
                if word in line:
                    value: dict[str, Any] = {}
                    with suppress(ValueError, RecursionError):  # nested too deeply for Python
                        value = json.loads(line.decode("utf-8", "replace"))
                    _check_new(str(self._field), value, batch.location(i))

    def _with_cell(self, row: bytes, word: str) -> bytes:
        body = row.rstrip(b"\r\n")
        return body + self._delimiter + word.encode() + row[len(body) :]


def _with_key(line: bytes, key: bytes, word: str) -> bytes:
    end = line.rindex(b"}")
    comma = b"" if line[:end].rstrip().endswith(b"{") else b", "
    return b"".join((line[:end], comma, key, b": ", word.encode(), line[end:]))


class TableWriter:
    """A writer of the rows of Parquet files, with the parameters of `RecordWriter`."""

    _writer: Any = None

    def __init__(self, file: BinaryIO, opening: Opening, field: str | None = None) -> None:
        from pyarrow.parquet import ParquetWriter

        schema = opening.schema
        self._field = field
        if field is not None:
            _check_new(field, opening.columns, "the table")
            schema = schema.append(pa.field(field, pa.float64()))
        self._writer = ParquetWriter(file, schema, compression=opening.codec)
        self._schema = schema
        self._waiting: list[pa.Table] = []

    def write(self, batch: Batch, chosen: np.ndarray, values: np.ndarray | None = None) -> None:
        """Write the chosen rows of a batch, each with its value if a column is added."""
        assert isinstance(batch.records, pa.RecordBatch)
        columns = list(batch.records.columns)
        if self._field is not None:
            columns.append(pa.array(values, pa.float64()))
        table = pa.Table.from_arrays(columns, schema=self._schema)
        self._waiting.append(table.filter(pa.array(chosen)))
        if sum(table.nbytes for table in self._waiting) >= BYTES_PER_ROW_GROUP:
            self._write_group()

    def close(self) -> None:
        """Write the remaining rows and the end of the file."""
        self._write_group()
        self._writer.close()

    def __del__(self) -> None:
        if self._writer is not None:
            self._writer.is_open = False  # not closed after an error; its file is gone

    def _write_group(self) -> None:
        if sum(map(len, self._waiting)):
            self._writer.write_table(pa.concat_tables(self._waiting))
        self._waiting = []


def _check_new(field: str, names: Iterable[str], location: str) -> None:
    if field in names:
        raise DocumentError(f'{location}: has "{field}" already; give the new field another name.')
