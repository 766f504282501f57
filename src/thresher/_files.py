"""Files that are written whole or not at all, by one process at a time, and can be taken back."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from thresher.errors import OutputError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

__all__ = ["check_writable", "one_writer", "previous_file", "replace_file", "restore_previous"]

LOCKED_OR_GONE = (errno.EAGAIN, errno.EACCES, errno.ENOENT)
PATIENCE = 1.0  # seconds after which a writer says what it waits for


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
def one_writer(path: str | os.PathLike[str], tell: Callable[[str], object]) -> Iterator[Path]:
    """Keep every other process that asks for the same file waiting; give where it stands.

    The lock is the system's, on a file beside: one that a killed process left behind locks nothing.
    `tell` gets a sentence if another is waited for.
    """
    target = check_writable(path)
    lock = target.with_name(f".{target.name}.lock")
    began, is_quiet = time.monotonic(), True
    while (file := _try_lock(lock)) is None:
        if is_quiet and time.monotonic() - began >= PATIENCE:
            is_quiet = False
            tell(f"Waiting for another process that is changing {path}.")
        time.sleep(0.02)
    with file:
        try:
            yield target
        finally:  # while it is still locked: who waits for it sees that it is no longer the one
            with contextlib.suppress(OSError):  # Windows removes no file that is open
                lock.unlink()


def _try_lock(lock: Path) -> IO[bytes] | None:
    """Return the file, locked; `None` where another process has it or has just removed it."""
    file = None
    with contextlib.ExitStack() as opened:
        try:
            file = opened.enter_context(open(lock, "ab"))
            if sys.platform == "win32":
                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(file.fileno()), os.stat(lock)):
                opened.pop_all()
                return file
        except OSError as error:
            if file is None or error.errno not in LOCKED_OR_GONE:
                raise OutputError(
                    f"{lock} cannot be locked, which keeps other writers out: {error.strerror}. "
                    "Change the model on a disk and in a folder where files can be locked."
                ) from error
    return None


@contextlib.contextmanager
def replace_file(path: str | os.PathLike[str], *, keep_previous: bool = False) -> Iterator[Path]:
    """Give a file to write to, which takes the place of `path` at the end, or is removed.

    It stands beside `path` and is synced to the disk before the exchange, so that whenever the
    process dies, the old file or the new one is there. A symbolic link is followed; an existing
    file keeps its permissions. `OutputError` says why it cannot be written.

    The old file is kept as `previous_file` if asked; if not, one that was kept goes, for it is no
    longer the one before.
    """
    target, previous = check_writable(path), previous_file(path)
    temporary, spare = (
        target.parent / f".{target.name[:40]}.{os.urandom(8).hex()}.tmp" for _ in range(2)
    )
    try:
        _create_like(target, temporary)
        mode = stat.S_IMODE(temporary.stat().st_mode)
        yield temporary
        os.chmod(temporary, mode)  # some writers put a file of their own in the place of ours
        _sync_file(temporary)
        if keep_previous and target.exists():
            _link_or_copy(target, spare)
            os.replace(spare, previous)
        elif os.path.isfile(previous):
            previous.unlink()
        os.replace(temporary, target)
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:  # an interrupt too must leave nothing behind
        for leftover in (temporary, spare):
            with contextlib.suppress(OSError):
                leftover.unlink(missing_ok=True)
    _sync_folder(target.parent)


def previous_file(path: str | os.PathLike[str]) -> Path:
    """Return where the file before is kept, links followed."""
    return Path(f"{os.path.realpath(path)}.before-learn")


def restore_previous(path: str | os.PathLike[str]) -> None:
    """Put the file that `replace_file` kept back in its place, in one step."""
    target, previous = check_writable(path), previous_file(path)
    try:
        os.chmod(previous, stat.S_IMODE(target.stat().st_mode))  # which may have been made private
        os.replace(previous, target)
    except OSError as error:
        raise _cannot_write(path, error) from error
    _sync_folder(target.parent)


def _create_like(target: Path, new: Path) -> None:
    """Create an empty file; its permissions come before the first byte, which may be private."""
    with open(new, "xb"):
        if target.exists():
            os.chmod(new, stat.S_IMODE(target.stat().st_mode))


def _link_or_copy(target: Path, new: Path) -> None:
    """Give a file another name, which costs nothing, or copy it where the system has no links."""
    try:
        os.link(target, new)
    except OSError:
        _create_like(target, new)
        shutil.copy2(target, new)
        _sync_file(new)


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


def _sync_file(path: Path) -> None:
    with open(path, "r+b") as file:
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a power cut, where the system can sync a folder."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
