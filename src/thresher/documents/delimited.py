"""CSV and TSV files, parsed with pyarrow, or with Python's reader if pyarrow refuses a block."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv

from thresher.documents import streams
from thresher.documents.batch import Batch, Locations, Reading, Record
from thresher.documents.columns import Columns
from thresher.documents.encodings import BYTE_ORDER_MARK
from thresher.documents.records import Opening, Records
from thresher.documents.streams import Stream
from thresher.errors import DocumentError, counted

QUOTE, NEWLINE, RETURN = b'"\n\r'
SENTINEL = "\0 end of the block"  # a separate row, unless a quote is still open
LEAST_INNER_LINES = 4  # lines of a quoted cell that may be rows, with its first and last line
OPEN_ROW = 1 << 20  # bytes after which an open quote of a TSV file is examined


class Dialect(NamedTuple):
    """How the cells of a file are separated and quoted."""

    delimiter: str
    is_quoted: bool = True
    # The number of delimiters of a complete row, if a quote is an ordinary character where each
    # line inside the quoted cell is a complete row; else 0.
    n_delimiters: int = 0

    @classmethod
    def of(cls, stream: Stream, delimiter: str, quoting: str | None) -> Dialect:
        """Return the dialect of a file with the parameter `quoting`."""
        if quoting is not None or delimiter != "\t":
            return cls(delimiter, quoting != "none")
        return cls(delimiter, True, streams.first_line(stream.head).count(b"\t"))


class Rows(NamedTuple):
    """Complete rows of the file: their bytes, and the line on which each begins, from 0."""

    data: bytes
    lines: np.ndarray
    ends: np.ndarray  # the end of each row in the data
    is_literal: np.ndarray  # whether the quotes of each row are ordinary characters
    is_closed: bool = True  # False if a quote is never closed: the data is one row
    size: int | None = None  # of the data in the file, if its last line has no end

    def spans(self) -> Iterator[tuple[int, int]]:
        """Return the start and the end of each row."""
        return zip([0, *self.ends.tolist()], self.ends.tolist(), strict=False)


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
    """Yield the documents of a table, with the delimiter that splits the header most."""
    first = streams.first_line(stream.head).decode("utf-8", "replace")
    delimiter = streams.delimiter_of(first, delimiters)
    dialect = Dialect.of(stream, delimiter, reading.request.quoting)
    line = 1
    shape: Shape | None = None
    for rows in _row_blocks(stream, dialect):
        if shape is None:
            header, n_lines, header_bytes, rows = _take_header(rows, dialect)
            line += n_lines
            if header:
                columns = reading.choose(stream.name, header)
                shape = Shape(stream.name, dialect, header, columns, reading.keep)
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
    _check_quotes(rows, shape, reading, line)
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


def _check_quotes(rows: Rows, shape: Shape, reading: Reading, line: int) -> None:
    """Note quotes that were read as ordinary characters, and quoted cells that look like rows."""
    literal = np.flatnonzero(rows.is_literal)
    if len(literal):
        reading.note_quotes(
            "literal", f"{shape.name}:{line + rows.lines[literal[0]]}", len(literal)
        )
    delimiter, n_delimiters = shape.dialect.delimiter.encode(), len(shape.header) - 1
    if not shape.dialect.is_quoted or not n_delimiters or not rows.is_closed:
        return
    n_lines = np.diff(np.append(rows.lines, streams.n_lines(rows.data)))
    starts = np.append(0, rows.ends)
    for i in np.flatnonzero(n_lines > LEAST_INNER_LINES).tolist():
        inner = rows.data[starts[i] : starts[i + 1]].splitlines()[1:-1]
        if all(cell.count(delimiter) == n_delimiters for cell in inner):
            reading.note_quotes("swallowed", f"{shape.name}:{line + rows.lines[i]}", len(inner))


def _parse(rows: Rows, shape: Shape) -> pa.Table | None:
    """Return rows parsed with pyarrow, or `None` if it refuses them or would change them.

    It skips blank rows and a byte order mark at the beginning.
    """
    is_quoted = shape.dialect.is_quoted
    if not rows.is_closed or (rows.is_literal.any() and is_quoted):
        return None
    if rows.data.startswith(BYTE_ORDER_MARK):
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
            pa.csv.ParseOptions(
                delimiter=shape.dialect.delimiter,
                quote_char='"' if is_quoted else False,
                newlines_in_values=is_quoted,
            ),
            pa.csv.ConvertOptions(column_types=types, include_columns=list(types)),
        )
    except pa.ArrowInvalid:
        return None
    return table.select(chosen) if table.num_rows == len(rows.lines) else None


def _records(rows: Rows, shape: Shape, reading: Reading, line: int) -> Iterator[Record]:
    """Yield each row as a record; refuse rows that do not match the header."""
    if not rows.is_closed:
        rows = _reread(rows, shape.dialect)
    n_bytes = len(rows.data) if rows.size is None else rows.size
    for i, (start, end) in enumerate(rows.spans()):
        location, span = f"{shape.name}:{line + int(rows.lines[i])}", (start, min(end, n_bytes))
        cells = _cells(rows.data[start:end], shape.dialect, bool(rows.is_literal[i]))
        if cells is None:
            yield reading.refuse(location, "a quote opened in this row is never closed", span)
        elif cells and len(cells) != len(shape.header):
            what = f"the row has {counted(len(cells), 'cell')}, the header {len(shape.header)}"
            yield reading.refuse(location, what, span)
        elif cells:
            values = [cells[number] for number in shape.numbers]
            yield Record.of(shape.columns, values, location, span)


def _cells(row: bytes, dialect: Dialect, is_literal: bool = False) -> list[str] | None:
    """Return the cells of a row; `None` if a quote in it is never closed."""
    lines = io.StringIO(row.decode("utf-8", "surrogateescape"), newline="")
    if is_literal or not dialect.is_quoted:
        return next(_read_rows(lines, dialect.delimiter, csv.QUOTE_NONE), (0, []))[1]
    cells = next(_read_rows([*lines, SENTINEL], dialect.delimiter))[1]
    return None if cells and cells[-1].endswith(SENTINEL) else cells


def _reread(rows: Rows, dialect: Dialect) -> Rows:
    """Return rows after a quote that is never closed: its line, and those that follow.

    A row that does not close is one line, and reading continues on the next line. The time is
    proportional to the number of lines: it is known of each line whether it closes an open quote.
    """
    text = rows.data.decode("latin-1")  # one character for each byte
    lines = list(io.StringIO(text, newline=""))
    n, offsets = len(lines), np.cumsum([0, *map(len, lines)])
    closing = n  # the next line that closes a quote that is open at its beginning
    after = np.arange(1, n + 1)  # the line after the row that begins on each line
    for i in range(n - 1, -1, -1):
        if _is_open(lines[i], dialect.delimiter) and closing < n:
            after[i] = closing + 1
        if not _is_open(f'"{lines[i]}', dialect.delimiter):
            closing = i
    starts = [0]
    while after[starts[-1]] < n:
        starts.append(int(after[starts[-1]]))
    first = np.array(starts, np.int64)
    return rows._replace(
        lines=first,
        ends=offsets[np.append(first[1:], n)],
        is_literal=np.zeros(len(first), bool),
    )


def _is_open(line: str, delimiter: str) -> bool:
    """Return True if a quote is open at the end of a row that begins with this line."""
    cells = next(_read_rows([line, SENTINEL], delimiter))[1]
    return bool(cells) and cells[-1].endswith(SENTINEL)


def _row_blocks(stream: Stream, dialect: Dialect) -> Iterator[Rows]:
    """Yield the file in blocks of complete rows, of about `BLOCK` bytes or one long row."""
    rest, size, line = b"", streams.BLOCK, 1
    while chunk := stream.read(size):
        rest += chunk
        rows = _complete_rows(rest, dialect)
        if n_bytes := len(rows.data):
            yield rows
            line += streams.n_lines(rows.data)
            rest = rest[n_bytes:]
        size = max(streams.BLOCK, len(rest))  # scans a long row only a few times
        if len(rest) > stream.longest:
            raise stream.too_long(
                f"the row has more than {stream.longest} bytes; a quote may be opened in it and "
                f"never closed",
                line,
            )
    if rest:
        rest += b"\n"
        rows = _complete_rows(rest, dialect, is_end=True)
        if end := len(rows.data):
            yield rows._replace(size=end if end < len(rest) else end - 1)
        if end < len(rest):
            n_left = len(rest) - end
            row = np.zeros(1, np.int64)
            yield Rows(rest[end:], row, row + n_left, row > 0, is_closed=False, size=n_left - 1)


def _complete_rows(data: bytes, dialect: Dialect, is_end: bool = False) -> Rows:
    """Return the complete rows at the beginning of the data."""
    ends, lines = _row_ends(data, dialect)
    is_literal = np.zeros(len(ends), bool)
    if dialect.is_quoted and dialect.n_delimiters:
        ends, lines, is_literal = _with_literal_quotes(data, dialect, ends, lines, is_end)
    return Rows(data[: ends[-1]] if len(ends) else b"", lines, ends, is_literal)


def _with_literal_quotes(
    data: bytes, dialect: Dialect, ends: np.ndarray, lines: np.ndarray, is_end: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Divide rows of several lines, each of which is a complete row, at each line.

    The quotes of such lines are ordinary characters. A row that is not closed is divided at the
    end of the file, or if it is long.
    """
    starts = np.append(0, ends)
    is_open = len(data) > starts[-1] and (is_end or len(data) - starts[-1] > OPEN_ROW)
    n_rows = len(ends)
    next_line = streams.n_lines(data[: starts[-1]])
    spans = [int(i) for i in np.flatnonzero(np.diff(np.append(lines, next_line)) > 1)]
    new_ends, new_lines, literal = [], [], []
    delimiter, done = dialect.delimiter.encode(), 0
    for i in [*spans, *([n_rows] if is_open else [])]:
        start = int(starts[i])
        end = int(ends[i]) if i < n_rows else data.rfind(b"\n") + 1
        pieces = data[start:end].splitlines(True)
        if not pieces or any(piece.count(delimiter) != dialect.n_delimiters for piece in pieces):
            continue
        new_ends += [ends[done:i], start + np.cumsum(list(map(len, pieces)))]
        first = int(lines[i]) if i < n_rows else next_line
        new_lines += [lines[done:i], first + np.arange(len(pieces))]
        literal += [np.zeros(i - done, bool), np.ones(len(pieces), bool)]
        done = i + 1
    if not literal:
        return ends, lines, np.zeros(n_rows, bool)
    pairs = ((new_ends, ends[done:]), (new_lines, lines[done:]))
    joined = [np.concatenate([*new, rest]).astype(np.int64) for new, rest in pairs]
    return (
        joined[0],
        joined[1],
        np.append(np.concatenate(literal), np.zeros(len(joined[0]), bool))[: len(joined[0])],
    )


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
    text = data[:end].decode("latin-1")
    lines = list(io.StringIO(text, newline=""))
    offsets = np.cumsum([0, *map(len, lines)])
    if not dialect.is_quoted:
        return offsets[1:], np.arange(len(lines))
    # The last row is the sentinel, or an incomplete row.
    after = [end for end, _ in _read_rows([*lines, SENTINEL], dialect.delimiter)][:-1]
    return offsets[after], np.array([0, *after], np.int64)[:-1]


def _take_header(rows: Rows, dialect: Dialect) -> tuple[list[str], int, bytes, Rows]:
    """Return the first row that is not blank, its last line, its bytes, and the other rows."""
    for i, (start, end) in enumerate(rows.spans()):
        row = rows.data[start:end]
        text = row.decode("latin-1")  # one character for each byte
        quoting = (
            csv.QUOTE_MINIMAL if dialect.is_quoted and not rows.is_literal[i] else csv.QUOTE_NONE
        )
        cells = next(
            _read_rows(io.StringIO(text, newline=""), dialect.delimiter, quoting), (0, [])
        )[1]
        if cells:
            header = [cell.encode("latin-1").decode("utf-8", "replace").strip() for cell in cells]
            n_lines = streams.n_lines(rows.data[:end])
            after = rows._replace(
                data=rows.data[end:],
                lines=rows.lines[i + 1 :] - n_lines,
                ends=rows.ends[i + 1 :] - end,
                is_literal=rows.is_literal[i + 1 :],
                size=None if rows.size is None else max(rows.size - end, 0),
            )
            return header, n_lines, row[: rows.size], after
    return [], 0, b"", rows


def _read_rows(
    lines: Iterable[str], delimiter: str, quoting: int = csv.QUOTE_MINIMAL
) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of lines up to the end of each row, and the row."""
    reader = csv.reader(lines, delimiter=delimiter, quoting=quoting)
    while True:
        usual = csv.field_size_limit(2 * streams.LONGEST)  # of the whole process, restored below
        try:
            cells = next(reader, None)
        finally:
            csv.field_size_limit(usual)
        if cells is None:
            return
        yield reader.line_num, cells
