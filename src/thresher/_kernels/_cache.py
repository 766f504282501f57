"""A cache of compiled kernels on disk: files are checked before use, and may be missing.

Numba's own cache does not check what it reads, so that a flipped bit runs as machine code, and any
error of the disk stops the caller. Here each file begins with a digest of its content and of
everything the content depends on, and is replaced atomically. Whatever goes wrong, the kernel is
compiled in memory, with one warning per process.

The digest protects against damage, not against attacks: whoever can write the file can write the
digest. So a file is read only if it belongs to this user, to root or to the owner of this source
file, who could change the source as well, and if it is not writable by everybody.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import shutil
import stat
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar

from thresher.errors import OutputError, ThresherError, ThresherWarning
from thresher.files import cache_folder

DIGEST_BYTES = 32  # at the start of a file
MOST_FILE_BYTES = 1 << 26  # larger files are not read; actual files have about a thousandth of this
OLD_FOLDERS = 4  # with other stamps, such as those of another Python, that are not removed
ABANDONED = 3600.0  # seconds after which a temporary file is removed
SETTINGS = ("BOUNDSCHECK", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "OPT", "SLP_VECTORIZE")


def _warn(sentence: str) -> None:
    warnings.warn(sentence, ThresherWarning, stacklevel=2)


class Activity:
    """The activity of the caches of this process, and functions to call about it."""

    loaded = compiled = 0
    used: ClassVar[set[str]] = set()  # the names of their files
    compiling = 0  # the number of compilations in progress; they can be nested
    only: Path | None = None  # the only folder to use, for `thresher warm-up`
    complaint = ""  # the warning that kernels cannot be stored, if given
    tell: Callable[[str], object] = staticmethod(_warn)
    watch: Callable[[], object] = staticmethod(lambda: None)

    def unkept(self, reason: str) -> None:
        """Warn, once in a process, that compiled kernels cannot be stored."""
        if not self.complaint:
            self.complaint = (
                f"Compiled code cannot be kept: {reason}. It is compiled in memory, which costs "
                "each process seconds; set THRESHER_CACHE to a folder that can be written, or run "
                "`thresher warm-up` as a user who may write there."
            )
            self.tell(self.complaint)


activity = Activity()


def kernel_folders() -> list[Path]:
    """Return the folders that compiled kernels are read from and written to, the best first."""
    if activity.only is not None:
        return [activity.only]
    from numba import config

    if config.CACHE_DIR:
        folders = [Path(config.CACHE_DIR) / "thresher"]
    else:
        folders = [Path(__file__).parent / "__pycache__"]
    with contextlib.suppress(ThresherError):  # the user has no home folder
        if os.environ.get("THRESHER_CACHE"):
            folders.insert(0, cache_folder())
        elif not config.CACHE_DIR:
            folders.append(cache_folder())
    return [folder / "kernels" for folder in folders]


def folder_to_fill() -> Path:
    """Return the folder for all compiled kernels: the one given by the user, or the first writable.

    An `OutputError` is raised if no file can be written there.
    """
    from numba import config

    candidates = kernel_folders()
    if os.environ.get("THRESHER_CACHE") or config.CACHE_DIR:
        candidates = candidates[:1]
    reasons = []
    for folder in candidates:
        trial = folder / stamp() / ".trial"
        try:
            _write(trial, b"", b"")
            trial.unlink()
            return folder
        except OSError as error:
            reasons.append(f"{folder}: {error.strerror or error}")
    raise OutputError(
        f"Compiled code cannot be kept: {reasons[0]}. Set THRESHER_CACHE to a folder that can be "
        "written."
    )


class Inventory:
    """The list of all kernels of a folder that was filled, with their digests."""

    def __init__(self, folder: Path) -> None:
        from numba.core.registry import cpu_target

        self.folder = folder / stamp()
        processor = cpu_target.target_context.codegen().magic_tuple()
        self.key = repr((stamp(), processor)).encode()
        self.path = self.folder / f"all-{_digest(self.key).hex()[:24]}.list"

    def read(self) -> list[int] | None:
        """Return the sizes of all files, or None if one is missing or damaged."""
        try:
            return self._sizes(json.loads(_read(self.path, self.key)))
        except (OSError, ValueError):
            return None

    def write(self, names: Iterable[str]) -> list[int]:
        """Write the list of some files; return their sizes."""
        listed = {name: _digest((self.folder / name).read_bytes()).hex() for name in sorted(names)}
        _write(self.path, self.key, json.dumps(listed).encode())
        return self._sizes(listed) or []

    def _sizes(self, listed: dict[str, str]) -> list[int] | None:
        contents = {name: (self.folder / name).read_bytes() for name in listed}
        is_whole = all(_digest(contents[name]).hex() == digest for name, digest in listed.items())
        return [len(content) for content in contents.values()] if is_whole else None


@functools.cache
def stamp() -> str:
    """Return a digest of everything that compiled code depends on, except types and processor.

    All kernel files are included, as kernels call each other across files. Their times are not, as
    installers and container images change them.
    """
    import llvmlite
    import numba
    import numpy as np

    python = (sys.implementation.cache_tag, getattr(sys, "abiflags", ""))
    versions = (*python, numba.__version__, llvmlite.__version__, np.__version__)
    settings = [str(getattr(numba.config, name, None)) for name in SETTINGS]
    root, sources = Path(__file__).parent, [repr((versions, settings)).encode()]
    for folder, inner, names in os.walk(root):
        inner[:] = sorted(set(inner) - {"__pycache__"})
        for path in (Path(folder, name) for name in sorted(names) if name.endswith(".py")):
            sources += [str(path.relative_to(root)).encode(), path.read_bytes()]
    if len(sources) == 1:
        raise OSError("the source of the kernels is not there to compare with")
    return _digest(*sources).hex()[:16]


def _digest(*items: bytes) -> bytes:
    from hashlib import sha256

    digest = sha256()
    for item in items:
        digest.update(b"%d:" % len(item))
        digest.update(item)
    return digest.digest()


class KernelCache:
    """Finds and stores the compiled code of one kernel; called by Numba's dispatcher.

    There is one file for each kernel, combination of types and processor.
    """

    cache_path = None

    def __init__(self, function: Callable) -> None:
        self._function = function

    def load_overload(self, types: Any, context: Any) -> Any:
        """Return the compiled kernel for some types of arguments, or None if there is none."""
        _make_ready(context)
        # The pickle was written by the same versions for the same types. If Numba cannot use it
        # nevertheless, the kernel is compiled.
        with contextlib.suppress(Exception):
            import pickle

            from numba.core.compiler import CompileResult

            key = self._key(types, context.codegen())
            for folder in kernel_folders():
                with contextlib.suppress(Exception):
                    path = self._path(folder, key)
                    pieces = pickle.loads(_read(path, key))
                    result = CompileResult._rebuild(context, *pieces)
                    if result.signature.args == tuple(types):
                        activity.loaded += 1
                        activity.used.add(path.name)
                        return result
        context.refresh()  # Numba expects this before compilation
        activity.compiling += 1
        activity.watch()
        return None

    def save_overload(self, types: Any, result: Any) -> None:
        """Store a kernel that was just compiled, in the first folder that can be written."""
        activity.compiled += 1
        activity.compiling -= 1
        activity.watch()
        reasons = []
        try:
            from numba.core.serialize import dumps

            key = self._key(types, result.codegen)
            if result.library.has_dynamic_globals:
                raise ValueError("it depends on addresses in memory")
            content = bytes(dumps(result._reduce()))
            for folder in kernel_folders():
                path = self._path(folder, key)
                try:
                    _write(path, key, content)
                    activity.used.add(path.name)
                    return
                except OSError as error:
                    reasons.append(f"{folder}: {error.strerror or error}")
        except Exception as error:  # Numba's internals may change
            reasons.append(f"Numba did not give it ({type(error).__name__}: {error})")
        activity.unkept(reasons[0])

    def flush(self) -> None:
        """Do nothing: a kernel that is compiled again replaces the stored one."""

    def _key(self, types: Any, codegen: Any) -> bytes:
        """Return what the machine code depends on, as text."""
        function = self._function
        name, code = (function.__module__, function.__qualname__), function.__code__.co_code
        return repr((stamp(), name, code, tuple(map(str, types)), codegen.magic_tuple())).encode()

    def _path(self, folder: Path, key: bytes) -> Path:
        return folder / stamp() / f"{self._function.__name__}-{_digest(key).hex()[:24]}.kernel"


@functools.cache  # once in a process is enough
def _make_ready(context: Any) -> None:
    """Register the functions of Numba's runtime that compiled kernels call.

    This is the first step of `context.refresh`. The other steps compile a library, which stored
    kernels contain, and import what the compiler needs, with scipy: more time and memory than a
    short command takes for everything else.
    """
    try:
        from llvmlite.binding import add_symbol
        from numba.core.runtime import _nrt_python

        for name, address in _nrt_python.c_helpers.items():
            add_symbol(name if name.startswith("_") else f"NRT_{name}", address)
    except Exception:  # in a version of Numba with other internals
        context.refresh()


def _read(path: Path, key: bytes) -> bytes:
    """Return the content of a file; raise `ValueError` if it was not written for the key."""
    # Opening a pipe with this name must not wait for a writer.
    flags = getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, os.O_RDONLY | flags)
    try:
        about = os.fstat(descriptor)
        if (
            not stat.S_ISREG(about.st_mode)
            or about.st_size > MOST_FILE_BYTES
            or not _is_trusted(about)
        ):
            raise ValueError(f"{path} is not to be trusted")
        with open(descriptor, "rb", closefd=False) as file:
            digest, content = file.read(DIGEST_BYTES), file.read()
    finally:
        os.close(descriptor)
    if digest != _digest(key, content):
        raise ValueError(f"{path} is damaged")
    return content


def _write(path: Path, key: bytes, content: bytes) -> None:
    """Write a file atomically."""
    os.makedirs(path.parent, exist_ok=True)
    _tidy(path.parent)
    temporary = path.with_name(f".{path.name}.{os.urandom(8).hex()}.tmp")
    try:
        with open(temporary, "xb") as file:
            if not _is_trusted(os.fstat(file.fileno())):
                raise OSError("files there belong to others, or all may write them")
            file.write(_digest(key, content))
            file.write(content)
        os.replace(temporary, path)
    finally:  # also after an interrupt
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def _is_trusted(about: os.stat_result) -> bool:
    """Return True if the code in a file may be run; see the top of this module."""
    if os.name != "posix":
        return True
    owners = {0, os.geteuid(), os.stat(__file__).st_uid}
    return about.st_uid in owners and not about.st_mode & stat.S_IWOTH


@functools.cache  # once in a process is enough
def _tidy(folder: Path) -> None:
    """Remove temporary files of killed processes and folders of earlier versions."""
    with contextlib.suppress(OSError):
        for temporary in folder.glob(".*.tmp"):
            if time.time() - temporary.stat().st_mtime > ABANDONED:
                temporary.unlink()
    with contextlib.suppress(OSError):
        others = [path for path in folder.parent.iterdir() if path != folder]
        old = [path for path in others if re.fullmatch(r"[0-9a-f]{16}", path.name)]
        for path in sorted(old, key=lambda path: path.stat().st_mtime)[:-OLD_FOLDERS]:
            shutil.rmtree(path, ignore_errors=True)
    if folder.parent.parent.name == "__pycache__":  # with the files of Numba's own cache
        for path in Path(__file__).parent.glob("**/__pycache__/*.nb[ic]"):
            with contextlib.suppress(OSError):
                path.unlink()
