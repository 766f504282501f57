"""CSV and TSV files, parsed with pyarrow, or with Python's reader if pyarrow refuses a block."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv

from thresher.documents import streams
from thresher.documents.batch import Batch, Locations, Reading, Record
from thresher.documents.columns import Columns
from thresher.documents.encodings import BYTE_ORDER_MARK
from thresher.documents.labels import value_text
from thresher.documents.records import Opening, Records
from thresher.documents.streams import Stream
from thresher.errors import DocumentError, counted

QUOTE, NEWLINE, RETURN = b'"\n\r'
SENTINEL = "\0 end of the block"  # a separate row, unless a quote is still open
LONGEST_CELL = (1 << 31) - 1  # characters; documents are limited more strictly before
FEWEST_SWALLOWED = 2  # lines inside a quoted cell that look like rows, for a note
FEWEST_OF_PAIRS = 3  # in a table of two columns, whose rows are like prose with a comma
LONGEST_STRAY = 1 << 20  # bytes in which the end of a quoted cell of a TSV file is looked for


class Dialect(NamedTuple):
    """How the cells of a file are separated and quoted.

    In a TSV file, a quote that opens a cell of several lines is an ordinary character if the first,
    the last and most of these lines are complete rows.
    """

    delimiter: str
    is_quoted: bool = True
    n_delimiters: int = 0  # of a complete row, if such quotes are looked for

    @classmethod
    def of(cls, stream: Stream, delimiter: str, quoting: str | None) -> Dialect:
        """Return the dialect of a file for the parameter `quoting`."""
        if quoting is not None or delimiter != "\t":
            return cls(delimiter, quoting != "none")
        return cls(delimiter, True, streams.first_line(stream.head.lstrip(b"\r\n")).count(b"\t"))

    def is_complete(self, line: str) -> bool:
        """Return True if a line has as many delimiters as a complete row."""
        return line.count(self.delimiter) == self.n_delimiters


class Rows(NamedTuple):
    """Complete rows of the file: their bytes, and the line on which each begins, from 0."""

    data: bytes
    lines: np.ndarray
    ends: np.ndarray  # the end of each row in the data
    # Whether the quotes of each row are ordinary characters; None if all quotes are regular.
    is_literal: np.ndarray | None = None
    size: int | None = None  # of the data in the file, if its last line has no end

    @property
    def starts(self) -> np.ndarray:
        """The start of each row in the data."""
        return np.append(0, self.ends)[:-1]

    def filled(self) -> np.ndarray:
        """Return the indices of the rows that are not blank."""
        first = np.frombuffer(self.data, np.uint8)[self.starts]
        return np.flatnonzero((first != NEWLINE) & (first != RETURN))

    def each(self) -> Iterator[tuple[int, int, int, bool]]:
        """Yield the rows that are not blank: index, start, end, and whether quotes are ordinary."""
        starts, ends = self.starts, self.ends
        for i in self.filled().tolist():
            is_literal = self.is_literal is not None and bool(self.is_literal[i])
            yield i, int(starts[i]), int(ends[i]), is_literal


class Shape(NamedTuple):
    """The common properties of all rows of a file."""

    name: str
    dialect: Dialect
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
    """Yield the documents of a table.

    The delimiter is named in a line before the header, or else splits the header most.
    """
    opening_line, named = stream.take_separator()
    first = streams.first_line(stream.head).decode("utf-8", "replace")
    delimiter = named or streams.delimiter_of(first, delimiters)
    dialect = Dialect.of(stream, delimiter, reading.request.quoting)
    line = 1 + streams.n_lines(opening_line)
    shape: Shape | None = None
    for rows in _row_blocks(stream, dialect):
        if shape is None:
            header, n_lines, header_bytes, rows = _take_header(rows, dialect, stream.name)
            line += n_lines
            if header:
                columns = reading.choose(stream.name, header)
                shape = Shape(stream.name, dialect, header, columns, reading.keep)
                if reading.keeps_records:
                    data = stream.mark + stream.original(opening_line + header_bytes)
                    opening = Opening("csv", data, delimiter, tuple(header))
                    reading.open(stream.name, opening)
        if shape is not None and rows.data:
            yield from _emit(rows, shape, reading, line)
        line += streams.n_lines(rows.data)


read_tsv = partial(read_csv, delimiters="\t")


def _emit(rows: Rows, shape: Shape, reading: Reading, line: int) -> Iterator[Batch]:
    table = _parse(rows, shape)
    block = rows.data[: rows.size]
    reading.turn_to(block)
    _check_quotes(rows, shape, reading, line)
    if table is None:
        yield from reading.gather(shape.columns, _records(rows, shape, reading, line))
        return
    arrays = [column.combine_chunks() for column in table.columns]
    n, after = len(shape.columns.text), len(shape.columns.names)
    labels = None if shape.columns.labels is None else arrays[n]
    texts = dict(zip(shape.columns.text, arrays, strict=False))
    filled = rows.filled()
    locations = Locations(f"{shape.name}:", line + rows.lines[filled])
    records = Records(block, rows.starts[filled], rows.ends[filled])
    yield from reading.emit(texts, labels, locations, arrays[after:], records=records)


def _check_quotes(rows: Rows, shape: Shape, reading: Reading, line: int) -> None:
    """Note quotes that were read as ordinary characters, and quoted cells that look like rows."""
    if rows.is_literal is not None and rows.is_literal.any():
        literal = np.flatnonzero(rows.is_literal)
        location = f"{shape.name}:{line + rows.lines[literal[0]]}"
        reading.note_quotes("literal", location, len(literal))
    delimiter, n_delimiters = shape.dialect.delimiter.encode(), len(shape.header) - 1
    if not shape.dialect.is_quoted or not n_delimiters or b'"' not in rows.data:
        return
    fewest = FEWEST_SWALLOWED if n_delimiters > 1 else FEWEST_OF_PAIRS
    n_inner = np.diff(np.append(rows.lines, streams.n_lines(rows.data))) - 2
    starts = np.append(0, rows.ends)
    for i in np.flatnonzero(n_inner >= fewest).tolist():
        lines = rows.data[starts[i] : starts[i + 1]].splitlines()
        if all(_is_like_row(text, delimiter, n_delimiters) for text in lines):
            location = f"{shape.name}:{line + rows.lines[i]}"
            reading.note_quotes("swallowed", location, len(lines) - 2)


def _is_like_row(line: bytes, delimiter: bytes, n_delimiters: int) -> bool:
    """Return True if a line looks like a row rather than prose with commas.

    In prose, commas precede spaces and line ends; a last cell may be empty beside other ones.
    """
    is_prose = delimiter + b" " in line or (n_delimiters == 1 and line.endswith(delimiter))
    return line.count(delimiter) == n_delimiters and not is_prose


def _parse(rows: Rows, shape: Shape) -> pa.Table | None:
    """Return rows parsed with pyarrow, or `None` if it refuses them or would change them.

    It skips blank rows, and would skip a byte order mark at the beginning.
    """
    if rows.is_literal is not None or rows.data.startswith(BYTE_ORDER_MARK):
        return None
    is_quoted = shape.dialect.is_quoted
    names = [str(number) for number in range(len(shape.header))]  # names may repeat
    chosen = [names[number] for number in shape.numbers]
    types = dict.fromkeys(chosen, pa.string())
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(rows.data),
            pa.csv.ReadOptions(
                use_threads=False, column_names=names, block_size=len(rows.data) + 1
            ),
            pa.csv.ParseOptions(
                delimiter=shape.dialect.delimiter,
                quote_char='"' if is_quoted else False,
                newlines_in_values=is_quoted,
            ),
            pa.csv.ConvertOptions(column_types=types, include_columns=list(types)),
        )
    except pa.ArrowInvalid:
        return None
    return table.select(chosen) if table.num_rows == len(rows.filled()) else None


def _records(rows: Rows, shape: Shape, reading: Reading, line: int) -> Iterator[Record]:
    """Yield each row as a record; refuse rows that do not match the header."""
    numbers = shape.numbers
    for i, start, end, is_literal in rows.each():
        location, span = f"{shape.name}:{line + int(rows.lines[i])}", (start, end)
        cells = _cells(rows.data[start:end], shape.dialect, is_literal)
        if cells is None:
            yield reading.refuse(location, "a quote opened in this row is never closed", span)
        elif len(cells) != len(shape.header):
            what = f"the row has {counted(len(cells), 'cell')}, the header {len(shape.header)}"
            yield reading.refuse(location, what, span)
        else:
            values = [cells[number] for number in numbers]
            yield Record.of(shape.columns, values, location, span)


def _cells(row: bytes, dialect: Dialect, is_literal: bool) -> list[str] | None:
    """Return the cells of a row that is not blank; `None` if a quote in it is never closed."""
    lines = io.StringIO(row.decode("utf-8", "surrogateescape"), newline="")
    if is_literal or not dialect.is_quoted:
        return next(_read_rows(lines, dialect, is_quoted=False))[1]
    cells = next(_read_rows([*lines, SENTINEL], dialect))[1]
    return None if cells and cells[-1].endswith(SENTINEL) else cells


def _row_blocks(stream: Stream, dialect: Dialect) -> Iterator[Rows]:
    """Yield the file in blocks of complete rows, of about `BLOCK` bytes or one long row."""
    rest, size, line = b"", streams.BLOCK, 1
    while chunk := stream.read(size):
        rest += chunk
        rows = _complete_rows(rest, dialect)
        if rows.data:
            yield rows
            line += streams.n_lines(rows.data)
            rest = rest[len(rows.data) :]
        # Scans a long row only a few times, and reads little more than the limit.
        size = max(streams.BLOCK, min(len(rest), stream.longest - len(rest)))
        if len(rest) > stream.longest:
            what = f"the row has more than {stream.longest} bytes"
            raise stream.too_long(f"{what}; a quote may be opened in it and never closed", line)
    if rest:
        yield _complete_rows(rest + b"\n", dialect, is_end=True)._replace(size=len(rest))


def _complete_rows(data: bytes, dialect: Dialect, is_end: bool = False) -> Rows:
    """Return the complete rows at the beginning of the data."""
    ends, lines = _row_ends(data, dialect)
    n_bytes = int(ends[-1]) if len(ends) else 0
    rows = Rows(data[:n_bytes], lines, ends)
    n_open = len(data) - n_bytes
    is_doubtful = dialect.n_delimiters and (n_open > LONGEST_STRAY or _has_stray(rows, dialect))
    return _rows_by_lines(data, dialect, is_end) if is_doubtful or (is_end and n_open) else rows


def _has_stray(rows: Rows, dialect: Dialect) -> bool:
    """Return True if a row of several lines may be complete rows after a stray quote."""
    if b'"' not in rows.data:
        return False
    n_lines = np.diff(np.append(rows.lines, streams.n_lines(rows.data)))
    starts = np.append(0, rows.ends)
    for i in np.flatnonzero(n_lines > 1).tolist():
        row = rows.data[starts[i] : starts[i + 1]]
        is_complete = list(map(dialect.is_complete, _lines(row)))
        n_judged = 2 if len(row) > LONGEST_STRAY else len(is_complete)
        if _are_rows(np.cumsum([0, *is_complete]), 0, n_judged):
            return True
    return False


def _are_rows(n_complete: np.ndarray, start: int, end: int) -> bool:
    """Return True if the first, the last and most of these lines are complete rows.

    `n_complete` has the number of complete lines before each line.
    """
    n, first, last = n_complete[[end, start + 1, end - 1]] - n_complete[start]
    return bool(first and n > last and 2 * n > end - start)


def _rows_by_lines(data: bytes, dialect: Dialect, is_end: bool) -> Rows:
    """Return the complete rows of data in which quotes may be ordinary, or never be closed.

    Such a row is one line, and the next row begins on the next line. The time is proportional to
    the size of the data, because each line is examined twice at most.
    """
    data = data if is_end else data[: data.rfind(b"\n") + 1]
    offsets = _offsets(data)
    n = len(offsets) - 1
    is_complete, closing = np.zeros(n, bool), np.full(n + 1, n)
    # Without blank lines at the end of the file.
    n_filled = len(_offsets(data.rstrip(b"\r\n"))) - 1 if is_end else n
    for i, line in enumerate(_lines(data)):
        is_complete[i] = dialect.n_delimiters and dialect.is_complete(line)
        if '"' in line and not _is_open('"' + line, dialect):
            closing[i] = i
    n_complete = np.append(0, np.cumsum(is_complete))
    # Of each line, the first one that closes a quote open at its beginning; n if none does.
    closing = np.minimum.accumulate(closing[::-1])[::-1]
    is_row, is_literal = np.zeros(n, bool), np.zeros(n, bool)
    start = 0
    while start < n:
        line = data[offsets[start] : offsets[start + 1]].decode("latin-1")
        after = start + 1
        if '"' in line and _is_open(line, dialect):
            last = int(closing[after])
            if last == n or offsets[last + 1] - offsets[start] > LONGEST_STRAY:
                # So long a cell is judged by its first two lines.
                is_known = after < n and offsets[n] - offsets[start] > LONGEST_STRAY
                judged = min(after + 1, n_filled) if is_known or is_end else start
            else:
                judged = last + 1
            is_literal[start] = judged > start and _are_rows(n_complete, start, judged)
            if not is_literal[start] and last < n:
                after = last + 1
            elif not is_literal[start] and not is_end:
                break  # the row is incomplete
        is_row[start] = True
        start = after
    first = np.flatnonzero(is_row)
    ends = offsets[np.append(first, start)[1:]]
    return Rows(data[: offsets[start]], first, ends, is_literal[first])


def _is_open(line: str, dialect: Dialect) -> bool:
    """Return True if a quote is open at the end of a row that begins with this line."""
    cells = next(_read_rows([line, SENTINEL], dialect))[1]
    return bool(cells) and cells[-1].endswith(SENTINEL)


def _row_ends(data: bytes, dialect: Dialect) -> tuple[np.ndarray, np.ndarray]:
    """Return the end of each row, and the line on which it begins; `data` begins with a row.

    A newline ends a row if an even number of quotes precedes it. This holds if each opening quote
    is at the beginning of a cell (or doubles the previous one), and no line ends with a lone
    carriage return; other data is parsed.
    """
    if b"\r" in data and data.count(b"\r") != data.count(b"\r\n"):
        return _slow_row_ends(data, dialect)
    array = np.frombuffer(data, np.uint8)
    newlines = np.flatnonzero(array == NEWLINE)
    if not dialect.is_quoted:
        return newlines + 1, np.arange(len(newlines))
    quotes = np.flatnonzero(array == QUOTE)
    opening = quotes[::2]
    before = array[opening - 1][opening > 0]
    if not np.isin(before, (ord(dialect.delimiter), NEWLINE, RETURN, QUOTE)).all():
        return _slow_row_ends(data, dialect)
    outside = np.searchsorted(quotes, newlines) % 2 == 0
    after = np.flatnonzero(outside) + 1
    return newlines[outside] + 1, np.append(0, after)[:-1]


def _slow_row_ends(data: bytes, dialect: Dialect) -> tuple[np.ndarray, np.ndarray]:
    """Return the same as `_row_ends` for any data, by parsing the rows."""
    end = max(data.rfind(b"\n"), data.rfind(b"\r", 0, len(data) - 1)) + 1  # a newline may follow
    offsets = _offsets(data[:end])
    if not dialect.is_quoted:
        return offsets[1:], np.arange(len(offsets) - 1)
    # The last row is the sentinel, or an incomplete row.
    lines = chain(_lines(data[:end]), [SENTINEL])
    after = [end for end, _ in _read_rows(lines, dialect)][:-1]
    return offsets[after], np.array([0, *after], np.int64)[:-1]


def _lines(data: bytes) -> Iterator[str]:
    """Return the lines with their ends, with a character for each byte."""
    return io.TextIOWrapper(io.BytesIO(data), "latin-1", newline="")


def _offsets(data: bytes) -> np.ndarray:
    """Return the offset of each line, and the number of bytes."""
    return np.cumsum(np.fromiter(chain([0], map(len, _lines(data))), np.int64))


def _take_header(rows: Rows, dialect: Dialect, name: str) -> tuple[list[str], int, bytes, Rows]:
    """Return the first row that is not blank, its last line, its bytes, and the other rows."""
    if (first := next(rows.each(), None)) is None:
        return [], 0, b"", rows
    i, start, end, is_literal = first
    cells = _cells(rows.data[start:end], dialect, is_literal)
    n_lines = streams.n_lines(rows.data[:end])
    if cells is None:
        raise DocumentError(f"{name}:{n_lines}: a quote opened in the header is never closed.")
    after = rows._replace(
        data=rows.data[end:],
        lines=rows.lines[i + 1 :] - n_lines,
        ends=rows.ends[i + 1 :] - end,
        is_literal=None if rows.is_literal is None else rows.is_literal[i + 1 :],
        size=None if rows.size is None else max(rows.size - end, 0),
    )
    header = [value_text(cell).strip() for cell in cells]
    return header, n_lines, rows.data[: rows.size][start:end], after


def _read_rows(
    lines: Iterable[str], dialect: Dialect, is_quoted: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of lines up to the end of each row, and the row."""
    how: Any = {"quoting": csv.QUOTE_MINIMAL if is_quoted else csv.QUOTE_NONE}
    reader = csv.reader(lines, delimiter=dialect.delimiter, **how)
    while True:
        usual = csv.field_size_limit(LONGEST_CELL)  # of the whole process, restored below
        try:
            cells = next(reader, None)
        finally:
            csv.field_size_limit(usual)
        if cells is None:
            return
        yield reader.line_num, cells
