"""Atomic writing of files, locks between processes, and restoring the previous file.

A writer locks its temporary file until it is renamed to the target, and locks the folder while it
renames or removes files. Therefore, a temporary file that can be locked was left by a process that
died; the next writer removes it. Without support for locks in the file system, writing works too,
but such leftovers stay.
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

from thresher.errors import OutputError, param

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

LOCKED_OR_GONE = (errno.EAGAIN, errno.EACCES, errno.ENOENT)
NO_SYNC = (errno.EINVAL, errno.EBADF, errno.EACCES, errno.EPERM, errno.ENOTSUP)  # of a folder
LONGEST_NAME = 200  # bytes; the lock file of a longer name has a digest in its name
PATIENCE = 1.0  # seconds until a waiting process reports that it waits
MODEL_OPENING = b'{"__metadata__":{"thresher":"'  # from byte 8 on, in every model file
EXCHANGE = 10.0  # seconds until a process continues without the lock of a folder


def check_writable(path: str | os.PathLike[str]) -> Path:
    """Return the path with links resolved, or raise `OutputError` if no file can be written there.

    Call this before long computations.
    """
    try:
        target = Path(os.path.realpath(path))
        reason = _obstacle(os.fspath(path), target)
    except (OSError, ValueError) as error:
        raise _cannot_write(path, error) from error
    if reason:
        raise _cannot_write(path, reason)
    return target


def is_model(path: str | os.PathLike[str]) -> bool:
    """Return True if a file begins as model files do."""
    try:
        with open(path, "rb") as file:
            return file.read(8 + len(MODEL_OPENING)).endswith(MODEL_OPENING)
    except OSError as error:
        raise _cannot_write(path, error) from error


def not_replaced(path: object, kind: str) -> OutputError:
    """Return the error for a file that exists and is not of a kind, such as "a model"."""
    force = param("force", True)
    return OutputError(f"{path} exists and is not {kind}; name another file, or add {force}.")


@contextlib.contextmanager
def one_writer(path: str | os.PathLike[str], tell: Callable[[str], object]) -> Iterator[Path]:
    """Lock a file against other processes that call this function; yield its resolved path.

    The lock is held by the operating system on a separate file in the same folder, so the lock of a
    killed process is released. `tell` is called with a sentence if another process holds the lock.
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
        finally:  # still locked: waiting processes notice that the lock file is gone
            with contextlib.suppress(OSError):  # Windows cannot remove open files
                lock.unlink()


def _lock_file(target: Path) -> Path:
    name = target.name
    if len(os.fsencode(name)) > LONGEST_NAME:
        name = f"{name[:40]}.{hashlib.sha256(os.fsencode(name)).hexdigest()[:16]}"
    return target.with_name(f".{name}.lock")


def _try_lock(lock: Path, mode: str = "ab") -> IO[bytes] | None:
    """Return the locked file, or None if another process has locked or just removed it."""
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
    """Lock a folder while files in it are renamed; yield whether the lock was acquired.

    The folder itself is locked, so that a killed process leaves no lock file behind.
    """
    is_locked, until = False, time.monotonic() + EXCHANGE
    with contextlib.ExitStack() as opened:
        with contextlib.suppress(OSError):  # not on Windows or some file systems
            # Closes the folder even if Ctrl-C interrupts the exit; otherwise the lock would stay.
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
    """Yield a temporary file to write; afterwards it replaces `path`, or is removed on errors.

    It is in the folder of `path` and is synced to the disk before it is renamed, so that the old or
    the new file is complete whenever the process dies. Temporary files of processes that died are
    removed first. Symbolic links are followed; an existing file keeps its permissions, and its
    owner where that is allowed. Raises `OutputError` if the file cannot be written.

    With `keep_previous`, the old file is kept as `previous_file`; otherwise, an existing
    `previous_file` is removed, because it is older than the file that is replaced.
    """
    target, previous = check_writable(path), previous_file(path)
    temporary, spare = (_beside(target, os.urandom(8).hex()) for _ in range(2))
    file = None
    try:
        with _exchanging(target.parent) as is_locked:
            if is_locked or sys.platform == "win32":
                _remove_leftovers(target)
            file = _create_like(target, temporary)
            with contextlib.suppress(OSError):  # without locks, nobody removes leftovers either
                _lock(file.fileno())
        yield temporary
        os.fsync(file.fileno())
        if sys.platform == "win32":  # cannot rename open files
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
    except OutputError:  # about another file, written in the block
        raise
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:  # after interrupts too
        for leftover in (temporary, spare):
            with contextlib.suppress(OSError):
                leftover.unlink(missing_ok=True)
        if file is not None:
            with contextlib.suppress(OSError):  # its content is synced already, or discarded
                file.close()
    _sync_new_name(path, target)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text in UTF-8, with question marks for lone surrogates."""
    with replace_file(path) as temporary:
        temporary.write_bytes(text.encode("utf-8", "replace"))


def previous_file(path: str | os.PathLike[str]) -> Path:
    """Return the path where `replace_file` keeps the previous file, with links resolved."""
    return Path(f"{os.path.realpath(path)}.before-learn")


def restore_previous(path: str | os.PathLike[str]) -> None:
    """Restore the file that `replace_file` kept, atomically."""
    target, previous = check_writable(path), previous_file(path)
    try:
        with _exchanging(target.parent):
            # The permissions may have been restricted meanwhile.
            os.chmod(previous, stat.S_IMODE(target.stat().st_mode))
            os.replace(previous, target)
    except OSError as error:
        raise _cannot_write(path, error) from error
    _sync_new_name(path, target)


def _beside(target: Path, unique: str) -> Path:
    """Return a name for a temporary file, with the extension of the target."""
    end = target.suffix if len(target.suffix) <= 16 else ""
    return target.parent / f".{target.name[:40]}.{unique}.tmp{end}"


def _remove_leftovers(target: Path) -> None:
    """Remove the unlocked files that dead writers of the same target have left."""
    start, end = map(re.escape, _beside(target, "\n").name.split("\n.tmp"))
    pattern = f"{start}[0-9a-f]{{16}}\\.tmp({end})?"
    lock = _lock_file(target).name
    with contextlib.suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            is_leftover = entry.name == lock or re.fullmatch(pattern, entry.name)
            if is_leftover and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    _remove_unless_held(Path(entry.path))


def _remove_unless_held(leftover: Path) -> None:
    if sys.platform == "win32":
        leftover.unlink()  # fails while a process has it open
    elif file := _try_lock(leftover, "r+b"):
        with file:
            leftover.unlink()


def _create_like(target: Path, new: Path) -> IO[bytes]:
    """Create an empty file with the permissions of the target, before private data is written."""
    file = open(new, "xb")  # noqa: SIM115 - its caller closes it
    if target.exists():
        status = target.stat()
        if hasattr(os, "chown"):
            with contextlib.suppress(OSError):  # only root may change owners
                os.chown(new, status.st_uid, status.st_gid)
        os.chmod(new, stat.S_IMODE(status.st_mode))
    return file


def _link_or_copy(target: Path, new: Path) -> None:
    """Create a hard link to a file, or a copy where the system has no links."""
    try:
        os.link(target, new)
    except OSError:
        with _create_like(target, new) as file:
            shutil.copy2(target, new)
            os.fsync(file.fileno())


def _obstacle(path: str, target: Path) -> str | None:
    """Return why no file can be written to a path that resolves to `target`, or None."""
    folder = target.parent
    if not path:
        return "the name is empty; name a file"
    if target.is_symlink():  # valid links have been resolved
        return "it is a link in a circle"
    if target.is_dir() or path.endswith(("/", os.sep)):
        return "it is a folder; name a file in it"
    if folder.exists() and not folder.is_dir():
        return f"{folder} is a file, not a folder"
    if not folder.is_dir():
        return f"the folder {folder} does not exist; make it first"
    if os.path.exists(path) and not os.path.isfile(path):  # such as /dev/stdout
        return "it is a device, a pipe or a socket, not a file"
    if target.exists() and not os.access(target, os.W_OK):
        return "it is write-protected"
    if not os.access(folder, os.W_OK):
        return f"the folder {folder} is write-protected"
    if target.exists() and _is_another_users(target):
        return f"it belongs to somebody else, and in {folder} only owners replace their files"
    return None


def _is_another_users(target: Path) -> bool:
    """Return True if only another user may replace a file, in a shared folder such as /tmp."""
    if not hasattr(os, "geteuid"):
        return False
    folder, user = target.parent.stat(), os.geteuid()
    is_sticky = bool(folder.st_mode & stat.S_ISVTX)
    return is_sticky and user not in (0, folder.st_uid, target.stat().st_uid)


def _cannot_write(path: object, reason: object) -> OutputError:
    shown = str(path) or "''"
    return OutputError(f"{shown} cannot be written: {getattr(reason, 'strerror', None) or reason}.")


def _sync_new_name(path: object, target: Path) -> None:
    try:
        _sync_folder(target.parent)
    except OSError as error:
        raise OutputError(
            f"{path} was written, but may be lost in a power cut: {error.strerror}. Save it again "
            "elsewhere, and look after the disk."
        ) from error


def _sync_folder(folder: Path) -> None:
    """Sync a folder, so that new names survive a power cut, if the system supports it."""
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
    """Return the folder for cached files: $THRESHER_CACHE, else the cache folder of the user."""
    folder = os.environ.get("THRESHER_CACHE")
    if folder:
        return Path(folder)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "thresher"
    except RuntimeError:  # the user has no home folder, as in many containers
        raise OutputError(
            "This user has no home folder for the cache; set THRESHER_CACHE to a folder."
        ) from None
