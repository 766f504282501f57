"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from thresher.errors import OutputError

__all__ = ["check_writable", "replace_file"]


def check_writable(path: str | os.PathLike[str]) -> Path:
    """Return where a file will stand, links followed, or raise `OutputError` where none can.

    Best asked before the work is done.
    """
    try:
        target = Path(os.path.realpath(path))
        reason = _why_not(target)
    except (OSError, ValueError) as error:
        raise _cannot_write(path, error) from error
    if reason:
        raise _cannot_write(path, reason)
    return target


@contextlib.contextmanager
def replace_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a file to write to, which takes the place of `path` at the end, or is removed.

    It stands beside `path` and is synced to the disk before the exchange, so that whenever the
    process dies, the old file or the new one is there. A symbolic link is followed; an existing
    file keeps its permissions. `OutputError` says why it cannot be written.
    """
    target = check_writable(path)
    temporary = target.parent / f".{target.name[:40]}.{os.urandom(8).hex()}.tmp"
    try:
        with open(temporary, "xb"):
            if target.exists():  # before the first byte, for a private file must never be open
                os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
        mode = stat.S_IMODE(temporary.stat().st_mode)
        yield temporary
        os.chmod(temporary, mode)  # some writers put a file of their own in the place of ours
        with open(temporary, "r+b") as file:
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:  # an interrupt too must leave nothing behind
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
    _sync_folder(target.parent)


def _why_not(target: Path) -> str | None:
    """Say why no file can stand there, `None` where one can."""
    folder = target.parent
    if target.is_symlink():  # all links that lead somewhere have been followed
        return "it is a link in a circle"
    if target.is_dir():
        return "it is a folder; name a file in it"
    if not folder.is_dir():
        return f"the folder {folder} does not exist; make it first"
    if target.exists() and not target.is_file():
        return "it is a device or a pipe, not a file"
    if target.exists() and not os.access(target, os.W_OK):
        return "it is write-protected"
    if not os.access(folder, os.W_OK):
        return f"the folder {folder} is write-protected"
    return None


def _cannot_write(path: object, reason: object) -> OutputError:
    return OutputError(f"{path} cannot be written: {getattr(reason, 'strerror', None) or reason}.")


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a power cut, where the system can sync a folder."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
