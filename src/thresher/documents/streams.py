"""Streams of bytes from files and standard input: decompression, formats, blocks of lines."""

from __future__ import annotations

import csv
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import PurePath
from typing import Any, BinaryIO

import pyarrow as pa

from thresher.documents.columns import TEXT_NAMES
from thresher.documents.formats import READERS
from thresher.errors import DocumentError

BLOCK = 1 << 20  # bytes read at a time: fast with pyarrow, and little memory
DELIMITERS = ",;\t|"  # of tables, the most frequent first
LONGEST = 1 << 27  # bytes of a line, row or message; more means an open quote or a wrong format
HEAD = 1 << 16  # bytes from which the format is recognized

STDIN = "-"
COMPRESSIONS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2"}
COMPRESSED_SUFFIXES = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd", ".bz2": "bz2"}
SUFFIXES = {suffix: name for name, kind in READERS.items() for suffix in kind.suffixes}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Stream:
    """The decompressed bytes of a file or of standard input.

    `head` has the first bytes, `position` is the number of (compressed) bytes read from the file.
    """

    def __init__(self, name: str, raw: BinaryIO) -> None:
        self.name = name_of(name)
        self._raw = _PeekedFile(raw)
        codecs = (c for magic, c in COMPRESSIONS.items() if self._raw.start.startswith(magic))
        self._codec = next(codecs, None)
        self._bytes: BinaryIO = self._raw  # type: ignore[assignment]
        if self._codec is not None:
            self._bytes = pa.CompressedInputStream(pa.PythonFile(self._raw, mode="r"), self._codec)
        head = self._fill(HEAD)
        self._ahead = self.head = head.removeprefix(BYTE_ORDER_MARK)
        self.mark = head[: len(head) - len(self.head)]

    @property
    def position(self) -> int:
        return self._raw.position

    def read(self, size: int) -> bytes:
        """Return the next `size` bytes; fewer only at the end."""
        ahead, self._ahead = self._ahead[:size], self._ahead[size:]
        return ahead + self._fill(size - len(ahead)) if len(ahead) < size else ahead

    def read_all(self) -> bytes:
        """Return all remaining bytes."""
        data = b"".join(iter(lambda: self.read(BLOCK), b""))
        if len(data) > LONGEST:
            raise DocumentError(f"{self.name}: is one document of more than {LONGEST} bytes.")
        return data

    @contextmanager
    def seekable(self) -> Iterator[BinaryIO]:
        """Return a seekable file of the content: the file itself, or a temporary copy."""
        if self._codec is None and self._raw.raw.seekable():
            self._raw.raw.seek(0)
            yield self._raw.raw
            return
        with tempfile.TemporaryFile() as copy:
            while data := self.read(BLOCK):
                copy.write(data)
            copy.seek(0)
            yield copy

    def why_not_text(self) -> str | None:
        """Return why the bytes cannot be text, or `None`."""
        if self.head.startswith((b"\xff\xfe", b"\xfe\xff")):
            return "is UTF-16, where UTF-8 is expected; convert it (iconv -f UTF-16 -t UTF-8)"
        if (n_before := self.head.find(b"\0")) >= 0:
            what = f"is a binary file (byte {n_before + 1} is zero), where text is expected"
            return f"{what}; give the file that holds the text"
        return None

    def _fill(self, size: int) -> bytes:
        chunks: list[bytes] = []
        while size > 0 and (chunk := self._bytes.read(size)):
            chunks.append(chunk)
            size -= len(chunk)
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)


class _PeekedFile:
    """A file whose first bytes have been read ahead; it counts the bytes that are read."""

    closed = False

    def __init__(self, raw: BinaryIO) -> None:
        self.raw = raw
        self.start = self._ahead = raw.read(max(map(len, COMPRESSIONS)))
        self.position = 0

    def read(self, size: int) -> bytes:
        ahead, self._ahead = self._ahead[:size], self._ahead[size:]
        data = ahead + self.raw.read(size - len(ahead)) if ahead else self.raw.read(size)
        self.position += len(data)
        return data

    def close(self) -> None:
        """Do nothing; whoever opened the file closes it, and standard input stays open."""


@contextmanager
def open_stream(path: str) -> Iterator[Stream]:
    """Return the stream of a file, or of standard input for "-"."""
    if path == STDIN:
        if sys.stdin is None or sys.stdin.closed:
            raise DocumentError("standard input: is closed; name a file, or pipe documents in.")
        yield Stream(path, sys.stdin.buffer)
    else:
        with open(path, "rb") as raw:
            yield Stream(path, raw)


def name_of(path: str) -> str:
    """Return the name of a file in errors and locations."""
    return "standard input" if path == STDIN else path


def line_blocks(stream: Stream) -> Iterator[bytes]:
    """Yield the bytes in blocks of complete lines: about `BLOCK` bytes, or one long line."""
    pieces: list[bytes] = []
    while chunk := stream.read(BLOCK):
        if end := chunk.rfind(b"\n") + 1:
            yield b"".join((*pieces, memoryview(chunk)[:end]))
            pieces = []
        pieces.append(chunk[end:])
        if sum(map(len, pieces)) > LONGEST:
            raise DocumentError(
                f"{stream.name}: has a line of more than {LONGEST} bytes; "
                "cut it, or give the format."
            )
    if rest := b"".join(pieces):
        yield rest


def first_line(head: bytes) -> bytes:
    """Return the first line without its end, which may be a lone carriage return."""
    return next(iter(head.splitlines()), b"")


def n_lines(data: bytes) -> int:
    """Return the number of line ends: newlines, carriage returns, or both together."""
    n_returns = data.count(b"\r")
    return data.count(b"\n") + (n_returns - data.count(b"\r\n") if n_returns else 0)


def format_of_name(path: str) -> str | None:
    """Return the format by the suffix of a file name, or `None`."""
    suffixes = [suffix.lower() for suffix in PurePath(path).suffixes]
    if suffixes and suffixes[-1] in COMPRESSED_SUFFIXES:
        suffixes.pop()
    return SUFFIXES.get(suffixes[-1]) if suffixes else None


def compression_of_name(path: str) -> str | None:
    """Return the compression by the suffix of a file name, or `None`."""
    return COMPRESSED_SUFFIXES.get(PurePath(path).suffix.lower())


def packed(file: BinaryIO, codec: str | None) -> AbstractContextManager[Any]:
    """Return a file to write to, which compresses if there is a codec."""
    return nullcontext(file) if codec is None else pa.CompressedOutputStream(file, codec)


def format_of_file(path: str, requested: Sequence[str]) -> str:
    """Return the format of a file by its name, or else by its first bytes."""
    if name := format_of_name(path):
        return name
    with open_stream(path) as stream:
        return format_of_bytes(stream.head, requested)


def format_of_bytes(head: bytes, requested: Sequence[str]) -> str:
    """Return the format by the first bytes of a file; "lines" if none is recognized.

    A table is recognized if its header has all the requested columns or, without a request, if it
    consists of words and has a usual name for the text.
    """
    for name, kind in READERS.items():
        if kind.opening and re.match(kind.opening, head):
            return name
    header = first_line(head).decode("utf-8", "replace")
    delimiter = delimiter_of(header)
    cells = next(csv.reader([header], delimiter=delimiter), []) if len(header) < HEAD else []
    if len(cells) > 1 and _is_header(cells, requested):
        return "tsv" if delimiter == "\t" else "csv"
    # In fastText files, any line may lack a label, and labels may follow the text.
    has_labels = b"__label__" in head and re.search(rb"(?<!\S)__label__\S", head)
    return "fasttext" if has_labels else "lines"


def delimiter_of(header: str, delimiters: str = DELIMITERS) -> str:
    """Return the delimiter that splits a header into most cells, respecting quotes.

    Examples
    --------
    >>> delimiter_of('id;"first, last";date, time;text')
    ';'
    """
    return max(
        delimiters, key=lambda character: len(next(csv.reader([header], delimiter=character), []))
    )


def _is_header(cells: Sequence[str], requested: Sequence[str]) -> bool:
    if requested:
        return set(requested) <= set(cells)
    words = all(re.fullmatch(r"\w[\w .-]{0,39}", cell) for cell in cells)
    return words and any(cell.lower() in TEXT_NAMES for cell in cells)
