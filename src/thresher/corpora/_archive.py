"""Archives read in place: nothing is unpacked, so nothing is written where it should not be.

An archive that names a place outside its own folder is refused all the same: it is not the one
that was published.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import posixpath
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from thresher.errors import DocumentError

__all__ = ["digest_of_lines", "digest_of_members", "members", "read_bytes"]

BROKEN = (gzip.BadGzipFile, lzma.LZMAError, zlib.error, EOFError)
DAMAGED = (tarfile.TarError, zipfile.BadZipFile, *BROKEN)
GZIP = b"\x1f\x8b"  # the first bytes of every such file
TABLE_COMMENT = b"|"  # UCI's name for a remark, as in the first line of adult.test


def members(path: Path, pattern: str = "") -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the files of a tar or zip archive, in the archive's order.

    `pattern` is a regular expression searched for in the names; only files that have it are read.
    """
    wanted = re.compile(pattern).search
    kind_members = _zip_members if zipfile.is_zipfile(path) else _tar_members
    try:
        yield from kind_members(path, wanted)
    except DAMAGED as error:
        raise DocumentError(
            f"{path} is damaged or not an archive ({error}); delete it and fetch it again."
        ) from None


def _tar_members(path: Path, wanted: Callable[[str], object]) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(path) as archive:
        for member in archive:
            name = posixpath.normpath(member.name)
            _refuse_escape(path, member.name, member.name)
            if member.issym() or member.islnk():  # a symbolic link counts from its own folder
                start = posixpath.join(name, "..") if member.issym() else ""
                _refuse_escape(path, member.name, posixpath.join(start, member.linkname))
            elif member.isfile() and wanted(name):
                content = archive.extractfile(member)
                assert content is not None  # it is a file
                yield name, content.read()


def _zip_members(path: Path, wanted: Callable[[str], object]) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            _refuse_escape(path, member.filename, member.filename)
            if not member.is_dir() and wanted(member.filename):
                yield member.filename, archive.read(member)


def _refuse_escape(path: Path, name: str, target: str) -> None:
    """Raise when `target`, seen from the archive's folder, lies outside it."""
    place = posixpath.normpath(target.replace("\\", "/"))
    if place.startswith(("/", "../")) or place == ".." or re.match("[A-Za-z]:", place):
        raise DocumentError(
            f"{path} would write outside its folder: its member {name!r} points to {place!r}. "
            "Nothing was written; delete the archive and fetch it again from its public address."
        )


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, unpacked where it is packed with gzip."""
    content = path.read_bytes()
    try:
        return gzip.decompress(content) if content.startswith(GZIP) else content
    except DAMAGED as error:
        raise DocumentError(f"{path} is damaged ({error}); delete it and fetch it again.") from None


def digest_of_members(files: Iterable[tuple[str, bytes]], pattern: str) -> str:
    """Return the sha256 of the list of name and sha256 of an archive's files, sorted by name.

    `pattern` has one group, the part of the name that counts: the same files packed again, in
    another order or under another folder, have the same digest.
    """
    part = re.compile(pattern)
    lines = [
        f"{named[1]}  {hashlib.sha256(content).hexdigest()}\n"
        for name, content in files
        if (named := part.search(name))
    ]
    return hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()


def digest_of_lines(content: bytes) -> str:
    """Return the sha256 of a table's lines without remarks, blank lines and spaces at the ends.

    Copies of the UCI tables differ in just these.
    """
    lines = (line.strip() for line in io.BytesIO(content))
    kept = [line for line in lines if line and not line.startswith(TABLE_COMMENT)]
    return hashlib.sha256(b"\n".join(kept)).hexdigest()
