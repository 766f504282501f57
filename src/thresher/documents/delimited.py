"""CSV and TSV files, parsed with pyarrow, or with Python's reader if pyarrow refuses a block."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv

from thresher.documents import streams
from thresher.documents.batch import Batch, Locations, Reading, Record
from thresher.documents.columns import Columns
from thresher.documents.records import Opening, Records
from thresher.documents.streams import Stream
from thresher.errors import DocumentError, counted

QUOTE, NEWLINE, RETURN = b'"\n\r'
SENTINEL = "\0 end of the block"  # a separate row, unless a quote is still open


class Rows(NamedTuple):
    """Complete rows of the file: their bytes, and the line on which each begins, from 0."""

    data: bytes
    lines: np.ndarray
    ends: np.ndarray  # the end of each row in the data
    is_closed: bool = True  # False for data after a quote that is never closed
    size: int | None = None  # of the data in the file, if its last line has no end


class Shape(NamedTuple):
    """The common properties of all rows of a file."""

    name: str
    delimiter: str
    header: list[str]
    columns: Columns
    keep: tuple[str, ...]

    @property
    def numbers(self) -> list[int]:
        """The indices of the chosen columns: the text columns, the labels, the extra ones."""
        return [self.header.index(name) for name in (*self.columns.names, *self.keep)]


def read_csv(
    stream: Stream, reading: Reading, delimiters: str = streams.DELIMITERS
) -> Iterator[Batch]:
    """Yield the documents of a table, with the delimiter that splits the header most."""
    first = streams.first_line(stream.head).decode("utf-8", "replace")
    delimiter = streams.delimiter_of(first, delimiters)
    line = 1
    shape: Shape | None = None
    for rows in _row_blocks(stream, delimiter):
        if shape is None:
            header, n_lines, header_bytes, rows = _take_header(rows, delimiter)
            line += n_lines
            if header:
                columns = reading.choose(stream.name, header)
                shape = Shape(stream.name, delimiter, header, columns, reading.keep)
                if reading.keeps_records:
                    opening = Opening("csv", stream.mark + header_bytes, delimiter, tuple(header))
                    reading.open(stream.name, opening)
        if shape is not None and rows.data:
            yield from _emit(rows, shape, reading, line)
        line += streams.n_lines(rows.data)


read_tsv = partial(read_csv, delimiters="\t")


def _emit(rows: Rows, shape: Shape, reading: Reading, line: int) -> Iterator[Batch]:
    table = _parse(rows, shape)
    block = rows.data[: rows.size]
    reading.turn_to(block)
    if table is None:
        yield from reading.gather(shape.columns, _records(rows, shape, reading, line))
        return
    arrays = [column.combine_chunks() for column in table.columns]
    n, after = len(shape.columns.text), len(shape.columns.names)
    labels = None if shape.columns.labels is None else arrays[n]
    texts = dict(zip(shape.columns.text, arrays, strict=False))
    locations = Locations(f"{shape.name}:", line + rows.lines)
    records = Records(block, np.append(0, rows.ends)[:-1], rows.ends)
    yield from reading.emit(texts, labels, locations, arrays[after:], records=records)


def _parse(rows: Rows, shape: Shape) -> pa.Table | None:
    """Return rows parsed with pyarrow, or `None` if it refuses them or skips blank ones."""
    if not rows.is_closed:
        return None
    names = [str(number) for number in range(len(shape.header))]  # names may repeat
    chosen = [names[number] for number in shape.numbers]
    types = dict.fromkeys(chosen, pa.string())
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(rows.data),
            pa.csv.ReadOptions(
                use_threads=False, column_names=names, block_size=len(rows.data) + 1
            ),
            pa.csv.ParseOptions(delimiter=shape.delimiter, newlines_in_values=True),
            pa.csv.ConvertOptions(column_types=types, include_columns=list(types)),
        )
    except pa.ArrowInvalid:
        return None
    return table.select(chosen) if table.num_rows == len(rows.lines) else None


def _records(rows: Rows, shape: Shape, reading: Reading, line: int) -> Iterator[Record]:
    """Yield each row as a record; refuse rows that do not match the header."""
    for number, span, cells in _cells(rows, shape, reading, line):
        location = f"{shape.name}:{number}"
        if cells is None:
            yield reading.refuse(location, "a quote opened in this row is never closed", span)
            continue
        if len(cells) != len(shape.header):
            what = f"the row has {counted(len(cells), 'cell')}, the header {len(shape.header)}"
            yield reading.refuse(location, what, span)
            continue
        yield Record.of(shape.columns, [cells[number] for number in shape.numbers], location, span)


def _cells(
    rows: Rows, shape: Shape, reading: Reading, line: int
) -> Iterator[tuple[int, tuple[int, int], list[str] | None]]:
    """Yield the line, the span in the block and the cells of each row.

    The cells are `None` for a row with a quote that is never closed; reading continues after it.
    """
    lines = list(io.StringIO(rows.data.decode("utf-8", "surrogateescape"), newline=""))
    measured = lines if reading.keeps_records else [""] * len(lines)
    offsets = [0, *accumulate(len(line.encode("utf-8", "surrogateescape")) for line in measured)]
    begin = start = 0
    while start < len(lines):
        for end, cells in _read_rows([*lines[start:], SENTINEL], shape.delimiter):
            if start + end <= len(lines):
                if cells:
                    yield line + begin, (offsets[begin], offsets[start + end]), cells
                begin = start + end
            elif cells != [SENTINEL]:
                yield line + begin, (offsets[begin], offsets[begin + 1]), None
                begin += 1
        start = begin


def _row_blocks(stream: Stream, delimiter: str) -> Iterator[Rows]:
    """Yield the file in blocks of complete rows, of about `BLOCK` bytes or one long row."""
    rest, size, line = b"", streams.BLOCK, 1
    while chunk := stream.read(size):
        rest += chunk
        ends, lines = _row_ends(rest, delimiter)
        if len(ends):
            yield Rows(rest[: ends[-1]], lines, ends)
            line += streams.n_lines(rest[: ends[-1]])
            rest = rest[ends[-1] :]
        size = max(streams.BLOCK, len(rest))  # scans a long row only a few times
        if len(rest) > streams.LONGEST:
            raise DocumentError(
                f"{stream.name}:{line}: the row has more than {streams.LONGEST} bytes; "
                "a quote may be opened in it and never closed."
            )
    if rest:
        rest += b"\n"
        ends, lines = _row_ends(rest, delimiter)
        end = ends[-1] if len(ends) else 0
        if end:
            yield Rows(rest[:end], lines, ends, size=len(rest) - 1)
        if end < len(rest):
            n_left = len(rest) - end
            row = np.zeros(1, np.int64)
            yield Rows(rest[end:], row, row + n_left, is_closed=False, size=n_left - 1)


def _row_ends(data: bytes, delimiter: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the end of each row, and the line on which it begins; `data` begins with a row.

    A newline ends a row if an even number of quotes precedes it. This holds if each opening quote
    is at the beginning of a cell (or doubles the previous one), and no line ends with a lone
    carriage return; other data is parsed.
    """
    if b"\r" in data and data.count(b"\r") != data.count(b"\r\n"):
        return _slow_row_ends(data, delimiter)
    array = np.frombuffer(data, np.uint8)
    newlines = np.flatnonzero(array == NEWLINE)
    quotes = np.flatnonzero(array == QUOTE)
    opening = quotes[::2]
    before = array[opening - 1][opening > 0]
    if not np.isin(before, (ord(delimiter), NEWLINE, RETURN, QUOTE)).all():
        return _slow_row_ends(data, delimiter)
    outside = np.searchsorted(quotes, newlines) % 2 == 0
    after = np.flatnonzero(outside) + 1
    return newlines[outside] + 1, np.append(0, after)[:-1]


def _slow_row_ends(data: bytes, delimiter: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the same as `_row_ends` for any data, by parsing the rows."""
    end = max(data.rfind(b"\n"), data.rfind(b"\r", 0, len(data) - 1)) + 1  # a newline may follow
    text = data[:end].decode("latin-1")
    lines = list(io.StringIO(text, newline=""))
    offsets = np.cumsum([0, *map(len, lines)])
    # The last row is the sentinel, or an incomplete row.
    after = [end for end, _ in _read_rows([*lines, SENTINEL], delimiter)][:-1]
    return offsets[after], np.array([0, *after], np.int64)[:-1]


def _take_header(rows: Rows, delimiter: str) -> tuple[list[str], int, bytes, Rows]:
    """Return the first row that is not blank, its last line, its bytes, and the other rows."""
    text = io.StringIO(rows.data.decode("latin-1"), newline="")  # one character for each byte
    for number, (_, cells) in enumerate(_read_rows(text, delimiter), 1):
        if cells:
            header = [cell.encode("latin-1").decode("utf-8", "replace").strip() for cell in cells]
            n_lines = streams.n_lines(rows.data[: text.tell()])
            start, end = int(np.append(0, rows.ends)[number - 1]), text.tell()
            after = rows._replace(
                data=rows.data[end:],
                lines=rows.lines[number:] - n_lines,
                ends=rows.ends[number:] - end,
                size=None if rows.size is None else max(rows.size - end, 0),
            )
            return header, n_lines, rows.data[: rows.size][start:end], after
    return [], 0, b"", rows


def _read_rows(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of lines up to the end of each row, and the row."""
    reader = csv.reader(lines, delimiter=delimiter)
    while True:
        usual = csv.field_size_limit(2 * streams.LONGEST)  # of the whole process, restored below
        try:
            cells = next(reader, None)
        finally:
            csv.field_size_limit(usual)
        if cells is None:
            return
        yield reader.line_num, cells
