"""Archives read in place: nothing is unpacked, so nothing is written where it should not be.

An archive that names a place outside its own folder is refused all the same: it is not the one
that was published. So is one that would unpack to more than any corpus does: a few bytes of an
archive can stand for more than a disk holds.
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

__all__ = [
    "Unpacked",
    "digest_of_lines",
    "digest_of_members",
    "members",
    "read_bytes",
    "reading",
]

# What the libraries raise at a damaged archive, and a reader at what it does not expect in it.
DAMAGED = (
    *(tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, lzma.LZMAError, zlib.error),
    *(EOFError, OSError, struct.error, MemoryError),
    *(RuntimeError, ValueError, LookupError, ArithmeticError),
)
OPENERS = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}  # by the first bytes
ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # which unpack as little as is asked for
TABLE_COMMENT = b"|"  # UCI's name for a remark, as in the first line of adult.test
PIECE = 1 << 16  # bytes read at a time
# The most files are IMDB's 100,000; the most bytes MEDLINE's 240 million; the largest file among
# others is the 10 MB of ad.data, a table of zeros and ones that is packed 75 times smaller.
MOST_MEMBERS, MOST_BYTES, MOST_EACH, MOST_RATIO = 200_000, 1 << 29, 1 << 26, 150
LEAST = 1 << 22  # bytes that any archive may unpack to, however small it is


class Allowance:
    """How much may still come out of an archive."""

    def __init__(self, path: Path) -> None:
        self.path, self.n_members = path, 0
        self.n_bytes = min(MOST_BYTES, max(LEAST, MOST_RATIO * path.stat().st_size))

    def read_some(self, stream: IO[bytes], size: int = PIECE) -> bytes:
        """Return some bytes of a stream, once they are counted."""
        piece = stream.read(size)
        self.n_bytes -= len(piece)
        if self.n_bytes < 0:
            self.refuse(f"more than {MOST_RATIO} times its size or {MOST_BYTES:,} bytes")
        return piece

    def take_member(self, n_bytes: int) -> None:
        """Count a file, whether it is read or not, of the size that it says it has."""
        self.n_members += 1
        if self.n_members > MOST_MEMBERS:
            self.refuse(f"more than {MOST_MEMBERS:,} files")
        if not 0 <= n_bytes <= MOST_EACH:
            self.refuse(f"a file of {n_bytes:,} bytes")

    def read_all(self, read: Callable[[], bytes]) -> bytes:
        """Return all pieces of a file, as long as it is not too much."""
        pieces, n_bytes = [], 0
        while piece := read():
            n_bytes += len(piece)
            if n_bytes > MOST_EACH:
                self.refuse(f"a file of more than {MOST_EACH:,} bytes")
            pieces.append(piece)
        return b"".join(pieces)

    def refuse(self, how: str) -> NoReturn:
        """Say that it would be too much."""
        raise DocumentError(
            f"{self.path} would unpack to {how}, as no corpus does; delete it and fetch it again."
        )


class Unpacked:
    """What a packed file unpacks to (gzip, bzip2, xz or not at all), counted as it comes."""

    def __init__(self, path: Path, allowance: Allowance | None = None) -> None:
        with path.open("rb") as file:
            start = file.read(8)
        opener = next((one for magic, one in OPENERS.items() if start.startswith(magic)), open)
        self._stream: IO[bytes] = opener(path, "rb")  # type: ignore[operator, assignment]
        self.allowance = allowance or Allowance(path)

    def read(self, size: int = PIECE) -> bytes:
        """Return so many bytes, or less."""
        return self.allowance.read_some(self._stream, min(size, PIECE))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Say in a sentence what a damaged file, or another than the published one, leads to."""
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
    """Yield name and content of the files of a tar or zip archive, in the archive's order.

    `pattern` is a regular expression searched for in the names; only files that have it are read.
    """
    wanted = re.compile(pattern).search
    with reading(path):
        kind_members = _zip_members if zipfile.is_zipfile(path) else _tar_members
        yield from kind_members(path, wanted, Allowance(path))


def _tar_members(
    path: Path, wanted: Callable[[str], object], allowance: Allowance
) -> Iterator[tuple[str, bytes]]:
    """Read a tar archive as a stream: what is passed over has to be unpacked, and counted, too."""
    with (
        Unpacked(path, allowance) as stream,
        tarfile.open(None, "r|", stream, bufsize=PIECE) as archive,  # type: ignore[call-overload]
    ):
        for member in archive:
            allowance.take_member(member.size)
            name = posixpath.normpath(member.name)
            _refuse_escape(path, member.name, member.name)
            if member.issym() or member.islnk():  # a symbolic link counts from its own folder
                start = posixpath.join(name, "..") if member.issym() else ""
                _refuse_escape(path, member.name, posixpath.join(start, member.linkname))
            elif member.isfile() and not member.issparse() and wanted(name):
                content = archive.extractfile(member)
                assert content is not None  # it is a file
                yield name, content.read()


def _zip_members(
    path: Path, wanted: Callable[[str], object], allowance: Allowance
) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            allowance.take_member(member.file_size)
            _refuse_escape(path, member.filename, member.filename)
            if not member.is_dir() and wanted(member.filename):
                if member.compress_type not in ZIP_METHODS:
                    raise zipfile.BadZipFile(f"packed by method {member.compress_type}")
                with archive.open(member) as content:
                    yield member.filename, allowance.read_all(partial(allowance.read_some, content))


def _refuse_escape(path: Path, name: str, target: str) -> None:
    """Raise when `target`, seen from the archive's folder, lies outside it."""
    place = posixpath.normpath(target.replace("\\", "/"))
    if place.startswith(("/", "../")) or place == ".." or re.match("[A-Za-z]:", place):
        raise DocumentError(
            f"{path} would write outside its folder: its member {name!r} points to {place!r}. "
            "Nothing was written; delete the archive and fetch it again from its public address."
        )


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, unpacked where it is packed."""
    with reading(path), Unpacked(path) as stream:
        return stream.allowance.read_all(stream.read)


def digest_of_members(
    files: Iterable[tuple[str, bytes]], pattern: str, *, alone: bool = False
) -> str:
    """Return the sha256 of the list of name and sha256 of an archive's files, sorted by name.

    `pattern` has one group, the part of the name that counts: the same files packed again, in
    another order or under another folder, have the same digest. With `alone`, files that stand in
    several folders do not count.
    """
    part = re.compile(pattern)
    digests = [
        (named[1], hashlib.sha256(content).hexdigest())
        for name, content in files
        if (named := part.search(name))
    ]
    folders = Counter(posixpath.basename(name) for name, _ in digests)
    lines = sorted(
        f"{name}  {digest}\n"
        for name, digest in digests
        if not alone or folders[posixpath.basename(name)] == 1
    )
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def digest_of_lines(content: bytes) -> str:
    """Return the sha256 of a table's lines without remarks, blank lines and spaces at the ends.

    Copies of the UCI tables differ in just these.
    """
    lines = (line.strip() for line in io.BytesIO(content))
    kept = [line for line in lines if line and not line.startswith(TABLE_COMMENT)]
    return hashlib.sha256(b"\n".join(kept)).hexdigest()
