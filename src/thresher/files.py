"""Files that are written whole or not at all, by one process at a time, and can be taken back.

A writer holds its temporary file locked until it has become the target, and locks the folder for
the moments in which names are exchanged or cleared away. So what carries a temporary's name and can
be locked belongs to a writer that died, and goes with the next one. Where the file system knows no
locks, writing works all the same, and such leftovers stay.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import shutil
import stat
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from thresher.errors import OutputError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

__all__ = [
    "cache_folder",
    "check_writable",
    "one_writer",
    "previous_file",
    "replace_file",
    "restore_previous",
    "write_text",
]

LOCKED_OR_GONE = (errno.EAGAIN, errno.EACCES, errno.ENOENT)
NO_SYNC = (errno.EINVAL, errno.EBADF, errno.EACCES, errno.EPERM, errno.ENOTSUP)  # of a folder
LONGEST_NAME = 200  # bytes, beyond which a lock's name has a digest for the end of its file's name
PATIENCE = 1.0  # seconds after which a writer says what it waits for
EXCHANGE = 10.0  # seconds after which a folder's lock is no longer waited for: it is stuck


def check_writable(path: str | os.PathLike[str]) -> Path:
    """Return where a file will stand, links followed, or raise `OutputError` where none can.

    Best asked before the work is done.
    """
    try:
        target = Path(os.path.realpath(path))
        reason = _why_not(os.fspath(path), target)
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
    lock = _lock_file(target)
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


def _lock_file(target: Path) -> Path:
    name = target.name
    if len(os.fsencode(name)) > LONGEST_NAME:
        name = f"{name[:40]}.{hashlib.sha256(os.fsencode(name)).hexdigest()[:16]}"
    return target.with_name(f".{name}.lock")


def _try_lock(lock: Path, mode: str = "ab") -> IO[bytes] | None:
    """Return the file, locked; `None` where another process has it or has just removed it."""
    file = None
    with contextlib.ExitStack() as opened:
        try:
            file = opened.enter_context(open(lock, mode))
            _lock(file.fileno())
            if os.path.samestat(os.fstat(file.fileno()), os.stat(lock)):
                opened.pop_all()
                return file
        except OSError as error:
            if file is None or error.errno not in LOCKED_OR_GONE:
                raise OutputError(
                    f"{lock} cannot be locked, which keeps other writers out: {error.strerror}. "
                    "Write to a disk and a folder where files can be locked."
                ) from error
    return None


def _lock(descriptor: int) -> None:
    """Lock an open file or folder until it is closed, or raise `OSError` at once."""
    if sys.platform == "win32":
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextlib.contextmanager
def _exchanging(folder: Path) -> Iterator[bool]:
    """Keep others from exchanging names in a folder; tell whether that could be had.

    The lock is on the folder itself, so that a killed process leaves nothing behind.
    """
    is_locked, until = False, time.monotonic() + EXCHANGE
    with contextlib.ExitStack() as opened:
        with contextlib.suppress(OSError):  # Windows opens no folder, and some systems lock none
            # Also where Ctrl-C comes while this is being left, for else the lock would stay.
            opened.callback(
                weakref.finalize(opened, os.close, descriptor := os.open(folder, os.O_RDONLY))
            )
            while not is_locked and time.monotonic() < until:
                try:
                    _lock(descriptor)
                    is_locked = True
                except BlockingIOError:
                    time.sleep(0.002)
        yield is_locked


@contextlib.contextmanager
def replace_file(path: str | os.PathLike[str], *, keep_previous: bool = False) -> Iterator[Path]:
    """Give a file to write to, which takes the place of `path` at the end, or is removed.

    It stands beside `path` and is synced to the disk before the exchange, so that whenever the
    process dies, the old file or the new one is there; what a process that died has left goes
    first. A symbolic link is followed; an existing file keeps its permissions, and its owner where
    that is allowed. `OutputError` says why it cannot be written.

    The old file is kept as `previous_file` if asked; if not, one that was kept goes, for it is no
    longer the one before.
    """
    target, previous = check_writable(path), previous_file(path)
    temporary, spare = (_beside(target, os.urandom(8).hex()) for _ in range(2))
    file = None
    try:
        with _exchanging(target.parent) as is_locked:
            if is_locked or sys.platform == "win32":
                _remove_leftovers(target)
            file = _create_like(target, temporary)
            with contextlib.suppress(OSError):  # no locks here: nor does anybody clear away
                _lock(file.fileno())
        yield temporary
        os.fsync(file.fileno())
        if sys.platform == "win32":  # which gives no other name to a file that is open
            file.close()
        with _exchanging(target.parent):
            if keep_previous and target.exists():
                _link_or_copy(target, spare)
                os.replace(spare, previous)
                _sync_folder(target.parent)
            elif os.path.isfile(previous):
                previous.unlink()
                _sync_folder(target.parent)
            os.replace(temporary, target)
    except OutputError:  # of another file, written at the same time
        raise
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:  # an interrupt too must leave nothing behind
        for leftover in (temporary, spare):
            with contextlib.suppress(OSError):
                leftover.unlink(missing_ok=True)
        if file is not None:
            with contextlib.suppress(OSError):  # what it holds is on the disk, or not wanted
                file.close()
    _sync_new_name(path, target)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text in UTF-8; what it cannot say, half a character, becomes a question mark."""
    with replace_file(path) as temporary:
        temporary.write_bytes(text.encode("utf-8", "replace"))


def previous_file(path: str | os.PathLike[str]) -> Path:
    """Return where the file before is kept, links followed."""
    return Path(f"{os.path.realpath(path)}.before-learn")


def restore_previous(path: str | os.PathLike[str]) -> None:
    """Put the file that `replace_file` kept back in its place, in one step."""
    target, previous = check_writable(path), previous_file(path)
    try:
        with _exchanging(target.parent):
            # which may have been made private
            os.chmod(previous, stat.S_IMODE(target.stat().st_mode))
            os.replace(previous, target)
    except OSError as error:
        raise _cannot_write(path, error) from error
    _sync_new_name(path, target)


def _beside(target: Path, unique: str) -> Path:
    """Return the name of a temporary, which ends as the target's: some writers go by that."""
    end = target.suffix if len(target.suffix) <= 16 else ""
    return target.parent / f".{target.name[:40]}.{unique}.tmp{end}"


def _remove_leftovers(target: Path) -> None:
    """Remove what writers of the same file left when they died: what nobody holds locked."""
    start, end = (re.escape(part) for part in _beside(target, "\n").name.split("\n.tmp"))
    pattern = f"{start}[0-9a-f]{{16}}\\.tmp({end})?"
    lock = _lock_file(target).name
    with contextlib.suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            is_ours = entry.name == lock or re.fullmatch(pattern, entry.name)
            if is_ours and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    _remove_unless_held(Path(entry.path))


def _remove_unless_held(leftover: Path) -> None:
    if sys.platform == "win32":
        leftover.unlink()  # which fails as long as somebody has it open
    elif file := _try_lock(leftover, "r+b"):
        with file:
            leftover.unlink()


def _create_like(target: Path, new: Path) -> IO[bytes]:
    """Create an empty file; its permissions come before the first byte, which may be private."""
    file = open(new, "xb")  # noqa: SIM115 - its caller closes it
    if target.exists():
        status = target.stat()
        if hasattr(os, "chown"):
            with contextlib.suppress(OSError):  # only root gives files away
                os.chown(new, status.st_uid, status.st_gid)
        os.chmod(new, stat.S_IMODE(status.st_mode))
    return file


def _link_or_copy(target: Path, new: Path) -> None:
    """Give a file another name, which costs nothing, or copy it where the system has no links."""
    try:
        os.link(target, new)
    except OSError:
        with _create_like(target, new) as file:
            shutil.copy2(target, new)
            os.fsync(file.fileno())


def _why_not(given: str, target: Path) -> str | None:
    """Say why no file can stand there, `None` where one can."""
    folder = target.parent
    if not given:
        return "the name is empty; name a file"
    if target.is_symlink():  # all links that lead somewhere have been followed
        return "it is a link in a circle"
    if target.is_dir() or given.endswith(("/", os.sep)):
        return "it is a folder; name a file in it"
    if folder.exists() and not folder.is_dir():
        return f"{folder} is a file, not a folder"
    if not folder.is_dir():
        return f"the folder {folder} does not exist; make it first"
    if os.path.exists(given) and not os.path.isfile(given):  # as the system sees /dev/stdout
        return "it is a device, a pipe or a socket, not a file"
    if target.exists() and not os.access(target, os.W_OK):
        return "it is write-protected"
    if not os.access(folder, os.W_OK):
        return f"the folder {folder} is write-protected"
    if target.exists() and _is_another_users(target):
        return f"it belongs to somebody else, and in {folder} only owners replace their files"
    return None


def _is_another_users(target: Path) -> bool:
    """Tell whether a folder such as /tmp lets nobody but its owner replace a file."""
    if not hasattr(os, "geteuid"):
        return False
    folder, own = target.parent.stat(), os.geteuid()
    is_sticky = bool(folder.st_mode & stat.S_ISVTX)
    return is_sticky and own not in (0, folder.st_uid, target.stat().st_uid)


def _cannot_write(path: object, reason: object) -> OutputError:
    named = str(path) or "''"
    return OutputError(f"{named} cannot be written: {getattr(reason, 'strerror', None) or reason}.")


def _sync_new_name(path: object, target: Path) -> None:
    try:
        _sync_folder(target.parent)
    except OSError as error:
        raise OutputError(
            f"{path} was written, but may be lost in a power cut: {error.strerror}. Save it again "
            "elsewhere, and look after the disk."
        ) from error


def _sync_folder(folder: Path) -> None:
    """Make new names last through a power cut, where the system can sync a folder."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno not in NO_SYNC and os.path.isdir(folder):
            raise


def cache_folder() -> Path:
    """Return the folder for what can be had again: $THRESHER_CACHE, else the user's cache."""
    named = os.environ.get("THRESHER_CACHE")
    if named:
        return Path(named)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "thresher"
    except RuntimeError:  # a user without a name, as many a container runs under
        raise OutputError(
            "This user has no home folder for the cache; set THRESHER_CACHE to a folder."
        ) from None
