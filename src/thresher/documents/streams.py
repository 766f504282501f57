"""Streams of bytes from files and standard input: decompression, formats, blocks of lines."""

from __future__ import annotations

import csv
import math
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import PurePath
from typing import Any, BinaryIO

import pyarrow as pa

from thresher.documents.columns import TEXT_NAMES
from thresher.documents.encodings import BYTE_ORDER_MARK, Converter, check_encoding, marked, ordered
from thresher.documents.formats import READERS
from thresher.errors import DocumentError, param
from thresher.limits import MOST_DOCUMENT_MB

BLOCK = 1 << 20  # bytes read at a time: fast with pyarrow, and little memory
DELIMITERS = ",;\t|"  # of tables, the most frequent first
# The first line that some spreadsheets write: it names the delimiter, e.g. sep=;
SEPARATOR_LINE = re.compile(rb'(?i)"?sep=([,;\t|])"?\1*(?:\r\n?|\n)')
LONGEST = 1 << 27  # bytes of a line, row or message; more means an open quote or a wrong format
HEAD = 1 << 16  # bytes from which the format is recognized

STDIN = "-"
COMPRESSIONS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2"}
COMPRESSED_SUFFIXES = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd", ".bz2": "bz2"}
SUFFIXES = {suffix: name for name, kind in READERS.items() for suffix in kind.suffixes}
DOCUMENTS_PER_COPY = 8  # the limit of a decompressed copy of a file, in limits of a document

# Lines of headers, which may be continued, up to a blank line.
HEADERS = re.compile(rb"(?:From [^\n]*\n)?(?:[!-9;-~]++:[^\n]*+\n(?:[ \t][^\n]*+\n)*+)++\r?\n")
MAIL_HEADERS = {
    b"from", b"to", b"subject", b"date", b"message-id", b"received", b"return-path",
    b"newsgroups", b"mime-version", b"delivered-to",
}  # fmt: skip
LEAST_MAIL_HEADERS = 2


class Stream:
    """The decompressed bytes of a file or of standard input.

    `head` has the first bytes, `position` is the number of (compressed) bytes read from the file,
    `longest` is the largest number of bytes of one document.
    """

    def __init__(self, name: str, raw: BinaryIO, longest: int | None = None) -> None:
        self.name = name_of(name)
        self.longest = longest or LONGEST
        self._raw = _PeekedFile(raw)
        codecs = (c for magic, c in COMPRESSIONS.items() if self._raw.start.startswith(magic))
        self._codec = next(codecs, None)
        self._bytes: BinaryIO = self._raw  # type: ignore[assignment]
        if self._codec is not None:
            self._bytes = pa.CompressedInputStream(pa.PythonFile(self._raw, mode="r"), self._codec)
        self._source: Callable[[int], bytes] = self._bytes.read
        self.original: Callable[[bytes], bytes] = bytes  # of data, before `convert`
        self._begin()

    def _begin(self) -> None:
        self._ahead = b""
        head = self._fill(HEAD)
        self.head = head.removeprefix(BYTE_ORDER_MARK)
        self.mark = head[: len(head) - len(self.head)]
        self._ahead = self.head + self._ahead

    def convert(
        self,
        encoding: str | None,
        assume: Callable[[str], object] = lambda encoding: None,
        likely: str | None = None,
    ) -> None:
        """Convert the text to UTF-8; to be called before anything is read.

        Parameters
        ----------
        encoding : str or None
            The encoding; `None` to recognize it.
        assume : callable
            Called with the name of an encoding that was recognized.
        likely : str, optional
            The encoding to assume first if the text is not UTF-8.
        """
        if self.mark:
            return  # of UTF-8
        if encoding is not None:
            encoding = ordered(encoding, self.head)
        elif encoding := marked(self.head):
            assume(encoding)
        converter = Converter(_after(self.head, self._source), encoding, assume, likely)
        self._source, self.original = converter.read, converter.original
        self._begin()

    @property
    def position(self) -> int:
        return self._raw.position

    def read(self, size: int) -> bytes:
        """Return the next `size` bytes; fewer only at the end."""
        ahead, self._ahead = self._ahead[:size], self._ahead[size:]
        return ahead + self._fill(size - len(ahead)) if len(ahead) < size else ahead

    def take_separator(self) -> tuple[bytes, str | None]:
        """Read a first line such as sep=; and return it, and the delimiter that it names."""
        if (match := SEPARATOR_LINE.match(self.head)) is None:
            return b"", None
        self.head = self.head[match.end() :]
        return self.read(match.end()), match[1].decode()

    def read_all(self) -> bytes:
        """Return all remaining bytes, which are one document."""
        chunks: list[bytes] = []
        n_bytes = 0
        while chunk := self.read(BLOCK):
            chunks.append(chunk)
            n_bytes += len(chunk)
            if n_bytes > self.longest:
                raise self.too_long(f"is one document of more than {self.longest} bytes")
        return b"".join(chunks)

    @contextmanager
    def seekable(self) -> Iterator[BinaryIO]:
        """Return a seekable file of the content: the file itself, or a temporary copy."""
        if self._codec is None and self._raw.raw.seekable():
            self._raw.raw.seek(0)
            yield self._raw.raw
            return
        most = DOCUMENTS_PER_COPY * self.longest
        with tempfile.TemporaryFile() as copy:
            while data := self.read(BLOCK):
                if copy.tell() + len(data) > most:
                    raise self.too_long(f"has more than {most} bytes when it is decompressed")
                copy.write(data)
            copy.seek(0)
            yield copy

    def too_long(self, what: str, line: int | None = None) -> DocumentError:
        """Return an error about something that is larger than the limit."""
        location = self.name if line is None else f"{self.name}:{line}"
        larger = min(2 * math.ceil(self.longest / 2**20), MOST_DOCUMENT_MB)
        return DocumentError(
            f"{location}: {what}; if it is not damaged, raise the limit "
            f"({param('max_document_mb', larger)}), or cut or decompress it first."
        )

    def why_not_text(self) -> str | None:
        """Return why the bytes cannot be text, or `None`."""
        if (n_before := self.head.find(b"\0")) >= 0:
            what = f"is a binary file (byte {n_before + 1} is zero), where text is expected"
            return f"{what}; give the file that holds the text, or its encoding"
        return None

    def _fill(self, size: int) -> bytes:
        chunks: list[bytes] = []
        while size > 0 and (chunk := self._source(size)):
            chunks.append(chunk)
            size -= len(chunk)
        data = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        if size < 0:  # text in UTF-8 may have more bytes than in its own encoding
            data, self._ahead = data[:size], data[size:]
        return data


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


def _after(head: bytes, read: Callable[[int], bytes]) -> Callable[[int], bytes]:
    """Return a function that reads the head again, and then the rest."""
    heads = [head] if head else []
    return lambda size: heads.pop() if heads else read(size)


@contextmanager
def open_stream(path: str, longest: int | None = None) -> Iterator[Stream]:
    """Return the stream of a file, or of standard input for "-".

    Parameters
    ----------
    path : str
        The file.
    longest : int, optional
        The largest number of bytes of one document.
    """
    if path == STDIN:
        if sys.stdin is None or sys.stdin.closed:
            raise DocumentError("standard input: is closed; name a file, or pipe documents in.")
        yield Stream(path, sys.stdin.buffer, longest)
    else:
        with open(path, "rb") as raw:
            yield Stream(path, raw, longest)


def name_of(path: str) -> str:
    """Return the name of a file in errors and locations."""
    return "standard input" if path == STDIN else path


def line_blocks(stream: Stream) -> Iterator[bytes]:
    """Yield the bytes in blocks of complete lines: about `BLOCK` bytes, or one long line."""
    pieces: list[bytes] = []
    n_bytes = 0  # of the pieces
    while chunk := stream.read(BLOCK):
        if end := chunk.rfind(b"\n") + 1:
            yield b"".join((*pieces, memoryview(chunk)[:end]))
            pieces, n_bytes = [], 0
        pieces.append(chunk[end:])
        n_bytes += len(pieces[-1])
        if n_bytes > stream.longest:
            raise stream.too_long(f"has a line of more than {stream.longest} bytes")
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


def format_of_file(path: str, requested: Sequence[str], encoding: str | None = None) -> str:
    """Return the format of a file by its name, or else by its first bytes."""
    check_encoding(encoding)
    if name := format_of_name(path):
        return name
    with open_stream(path) as stream:
        return format_of_stream(stream, encoding, requested)


def format_of_stream(stream: Stream, encoding: str | None, requested: Sequence[str]) -> str:
    """Return the format of a stream by its first bytes, in the given encoding if there is one."""
    head = stream.head
    if encoding is not None:
        head = head.decode(ordered(encoding, head), "replace").encode("utf-8", "replace")
    elif name := marked(head):
        head = head.decode(name, "replace").encode("utf-8", "replace")
    return format_of_bytes(head, requested)


def format_of_bytes(head: bytes, requested: Sequence[str]) -> str:
    """Return the format by the first bytes of a file; "lines" if none is recognized.

    A table is recognized if its header has all the requested columns or, without a request, if it
    consists of words and has a usual name for the text. Mail begins with headers, at least two of
    which are usual ones.
    """
    for name, kind in READERS.items():
        if kind.opening and re.match(kind.opening, head):
            return name
    separator = SEPARATOR_LINE.match(head)
    header = first_line(head[separator.end() :] if separator else head).decode("utf-8", "replace")
    delimiter = separator[1].decode() if separator else delimiter_of(header)
    cells = next(csv.reader([header], delimiter=delimiter), []) if len(header) < HEAD else []
    if len(cells) > 1 and _is_header(cells, requested):
        return "tsv" if delimiter == "\t" else "csv"
    if is_mail(head):
        return "eml"
    # In fastText files, any line may lack a label, and labels may follow the text.
    has_labels = b"__label__" in head and re.search(rb"(?<!\S)__label__\S", head)
    return "fasttext" if has_labels else "lines"


def is_mail(head: bytes) -> bool:
    """Return True if the first bytes of a file are the headers of a mail."""
    if not (match := HEADERS.match(head)):
        return False
    names = {name.lower() for name in re.findall(rb"^([!-9;-~]+):", match[0], re.MULTILINE)}
    return len(names & MAIL_HEADERS) >= LEAST_MAIL_HEADERS


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
