"""Archives, read in memory without unpacking them to disk.

Archives with a member outside their folder are refused, and so are those that would unpack to
more than any corpus does (zip bombs).
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import posixpath
import re
import struct
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, NoReturn, Self

from thresher.errors import DocumentError, ThresherError

# Exceptions of the libraries for damaged archives, and of readers for unexpected contents.
DAMAGED = (
    *(tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, lzma.LZMAError, zlib.error),
    *(EOFError, OSError, struct.error, MemoryError),
    *(RuntimeError, ValueError, LookupError, ArithmeticError),
)
OPENERS = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}  # by the first bytes
ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # which can be unpacked in small pieces
TABLE_COMMENT = b"|"  # begins a comment in UCI tables, as in the first line of adult.test
PIECE = 1 << 16  # bytes read at a time
# IMDB has the most files, 100,000, and MEDLINE the most bytes, 240 million. The largest member is
# ad.data with 10 MB, a table of zeros and ones that is compressed to a 75th of its size.
MOST_MEMBERS, MOST_BYTES, MOST_EACH, MOST_RATIO = 200_000, 1 << 29, 1 << 26, 150
MIN_ALLOWANCE = 1 << 22  # bytes that even a small archive may unpack to


class Allowance:
    """The numbers of files and bytes that may still be unpacked from an archive."""

    def __init__(self, path: Path) -> None:
        self.path, self.n_members = path, 0
        self.n_bytes = min(MOST_BYTES, max(MIN_ALLOWANCE, MOST_RATIO * path.stat().st_size))

    def read_some(self, stream: IO[bytes], size: int = PIECE) -> bytes:
        """Return some bytes of a stream, and count them."""
        piece = stream.read(size)
        self.n_bytes -= len(piece)
        if self.n_bytes < 0:
            self.refuse(f"more than {MOST_RATIO} times its size or {MOST_BYTES:,} bytes")
        return piece

    def take_member(self, n_bytes: int) -> None:
        """Count a file of the declared size, even if it is not read."""
        self.n_members += 1
        if self.n_members > MOST_MEMBERS:
            self.refuse(f"more than {MOST_MEMBERS:,} files")
        if not 0 <= n_bytes <= MOST_EACH:
            self.refuse(f"a file of {n_bytes:,} bytes")

    def read_all(self, read: Callable[[], bytes]) -> bytes:
        """Return the content of a file, or raise an error if it is too large."""
        pieces, n_bytes = [], 0
        while piece := read():
            n_bytes += len(piece)
            if n_bytes > MOST_EACH:
                self.refuse(f"a file of more than {MOST_EACH:,} bytes")
            pieces.append(piece)
        return b"".join(pieces)

    def refuse(self, how: str) -> NoReturn:
        """Raise an error about an archive that would unpack to too much."""
        raise DocumentError(
            f"{self.path} would unpack to {how}, as no corpus does; delete it and fetch it again."
        )


class Unpacked:
    """The unpacked bytes of a file (gzip, bzip2, xz or plain), which are counted."""

    def __init__(self, path: Path, allowance: Allowance | None = None) -> None:
        with path.open("rb") as file:
            start = file.read(8)
        openers = (opener for magic, opener in OPENERS.items() if start.startswith(magic))
        opener = next(openers, open)
        self._stream: IO[bytes] = opener(path, "rb")  # type: ignore[operator, assignment]
        self.allowance = allowance or Allowance(path)

    def read(self, size: int = PIECE) -> bytes:
        """Return at most `size` bytes."""
        return self.allowance.read_some(self._stream, min(size, PIECE))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn exceptions about damaged or unexpected files into a `DocumentError`."""
    try:
        yield
    except ThresherError:
        raise
    except DAMAGED as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise DocumentError(
            f"{path} is damaged or not what it should be ({reason}); delete it and fetch it again."
        ) from None


def members(path: Path, pattern: str = "") -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the files of a tar or zip archive, in the order of the archive.

    Only files are read whose names match the regular expression `pattern` (by search).
    """
    matches = re.compile(pattern).search
    with reading(path):
        kind_members = _zip_members if zipfile.is_zipfile(path) else _tar_members
        yield from kind_members(path, matches, Allowance(path))


def _tar_members(
    path: Path, matches: Callable[[str], object], allowance: Allowance
) -> Iterator[tuple[str, bytes]]:
    """Yield members of a tar archive, read as a stream; skipped members are counted, too."""
    with (
        Unpacked(path, allowance) as stream,
        tarfile.open(None, "r|", stream, bufsize=PIECE) as archive,  # type: ignore[call-overload]
    ):
        for member in archive:
            allowance.take_member(member.size)
            name = posixpath.normpath(member.name)
            _refuse_escape(path, member.name, member.name)
            if member.issym() or member.islnk():  # a symbolic link is relative to its folder
                start = posixpath.join(name, "..") if member.issym() else ""
                _refuse_escape(path, member.name, posixpath.join(start, member.linkname))
            elif member.isfile() and not member.issparse() and matches(name):
                content = archive.extractfile(member)
                assert content is not None  # it is a file
                yield name, content.read()


def _zip_members(
    path: Path, matches: Callable[[str], object], allowance: Allowance
) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            allowance.take_member(member.file_size)
            _refuse_escape(path, member.filename, member.filename)
            if not member.is_dir() and matches(member.filename):
                if member.compress_type not in ZIP_METHODS:
                    raise zipfile.BadZipFile(f"packed by method {member.compress_type}")
                with archive.open(member) as content:
                    yield member.filename, allowance.read_all(partial(allowance.read_some, content))


def _refuse_escape(path: Path, name: str, target: str) -> None:
    """Raise an error if `target` is outside the folder of the archive."""
    goal = posixpath.normpath(target.replace("\\", "/"))
    if goal.startswith(("/", "../")) or goal == ".." or re.match("[A-Za-z]:", goal):
        raise DocumentError(
            f"{path} would write outside its folder: its member {name!r} points to {goal!r}. "
            "Nothing was written; delete the archive and fetch it again from its public address."
        )


def read_bytes(path: Path) -> bytes:
    """Return the unpacked content of a file."""
    with reading(path), Unpacked(path) as stream:
        return stream.allowance.read_all(stream.read)


def digest_of_members(
    files: Iterable[tuple[str, bytes]], pattern: str, *, alone: bool = False
) -> str:
    """Return the sha256 of the list of name and sha256 of an archive's files, sorted by name.

    The group in `pattern` is the relevant part of a name: the same files in another order or below
    another folder have the same digest. With `alone`, files that are in several folders are
    ignored.
    """
    digests = [
        (match[1], hashlib.sha256(content).hexdigest())
        for name, content in files
        if (match := re.search(pattern, name))
    ]
    folders = Counter(posixpath.basename(name) for name, _ in digests)
    lines = sorted(
        f"{name}  {digest}\n"
        for name, digest in digests
        if not alone or folders[posixpath.basename(name)] == 1
    )
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def digest_of_lines(content: bytes) -> str:
    """Return the sha256 of the stripped lines of a table, without comments and blank lines.

    Copies of UCI tables differ in these.
    """
    lines = (line.strip() for line in io.BytesIO(content))
    data = [line for line in lines if line and not line.startswith(TABLE_COMMENT)]
    return hashlib.sha256(b"\n".join(data)).hexdigest()
