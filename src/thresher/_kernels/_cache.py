"""Compiled kernels on disk: each file is checked before it is used, and none is needed.

Numba's own cache believes what it reads, so that one flipped bit runs as machine code, and lets any
error of the disk stop the caller. Here a file begins with the digest of its content and of all that
the content depends on; it appears whole or not at all; and whatever goes wrong, the kernel is
compiled in memory, which is said once.

The digest is against damage, not against malice: who can write the file can write the digest. So a
file is read only if it belongs to this user, to root or to the owner of this source, who could as
well have changed the source, and if not everybody may write it.
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

__all__ = ["Inventory", "KernelCache", "activity", "place_to_fill", "places", "stamp"]

DIGEST = 32  # bytes at the start of a file
LARGEST = 1 << 26  # bytes of a file that are read; real ones have a thousandth
KEPT = 4  # folders of other stamps that are left: of another Python, of the version before
ABANDONED = 3600.0  # seconds after which a temporary file has no writer any more
SETTINGS = ("BOUNDSCHECK", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "OPT", "SLP_VECTORIZE")


def _warn(sentence: str) -> None:
    warnings.warn(sentence, ThresherWarning, stacklevel=2)


class Activity:
    """What the caches of this process did, and who wants to hear of it."""

    loaded = compiled = 0
    used: ClassVar[set[str]] = set()  # the names of their files
    compiling = 0  # kernels begun, one in the midst of another, and not finished
    only: Path | None = None  # the one place to read and write, for who fills it
    complaint = ""  # what was said of kernels that cannot be kept
    tell: Callable[[str], object] = staticmethod(_warn)
    watch: Callable[[], object] = staticmethod(lambda: None)

    def unkept(self, reason: str) -> None:
        """Say, once in a process, that what is compiled is lost at its end."""
        if not self.complaint:
            self.complaint = (
                f"Compiled code cannot be kept: {reason}. It is compiled in memory, which costs "
                "each process seconds; set THRESHER_CACHE to a folder that can be written, or run "
                "`thresher warm-up` as a user who may write there."
            )
            self.tell(self.complaint)


activity = Activity()


def places() -> list[Path]:
    """Return the folders where compiled kernels are looked for and kept, the best first."""
    if activity.only is not None:
        return [activity.only]
    from numba import config

    if config.CACHE_DIR:
        folders = [Path(config.CACHE_DIR) / "thresher"]
    else:
        folders = [Path(__file__).parent / "__pycache__"]
    with contextlib.suppress(ThresherError):  # a user without a home
        if os.environ.get("THRESHER_CACHE"):
            folders.insert(0, cache_folder())
        elif not config.CACHE_DIR:
            folders.append(cache_folder())
    return [folder / "kernels" for folder in folders]


def place_to_fill() -> Path:
    """Return the place for whoever compiles everything: the one that is named, or the first.

    It must take a file; where it does not, `OutputError` says why.
    """
    from numba import config

    candidates = places()
    if os.environ.get("THRESHER_CACHE") or config.CACHE_DIR:
        candidates = candidates[:1]
    reasons = []
    for place in candidates:
        trial = place / stamp() / ".trial"
        try:
            _write(trial, b"", b"")
            trial.unlink()
            return place
        except OSError as error:
            reasons.append(f"{place}: {error.strerror or error}")
    raise OutputError(
        f"Compiled code cannot be kept: {reasons[0]}. Set THRESHER_CACHE to a folder that can be "
        "written."
    )


class Inventory:
    """The list of all kernels that whoever filled a place has used, with their digests."""

    def __init__(self, place: Path) -> None:
        from numba.core.registry import cpu_target

        self.folder = place / stamp()
        processor = cpu_target.target_context.codegen().magic_tuple()
        self.key = repr((stamp(), processor)).encode()
        self.path = self.folder / f"all-{_digest(self.key).hex()[:24]}.list"

    def read(self) -> list[int] | None:
        """Return the sizes of all files, None unless every one is there and whole."""
        try:
            return self._sizes(json.loads(_read(self.path, self.key)))
        except (OSError, ValueError):
            return None

    def write(self, names: Iterable[str]) -> list[int]:
        """List some files, and return their sizes."""
        listed = {name: _digest((self.folder / name).read_bytes()).hex() for name in sorted(names)}
        _write(self.path, self.key, json.dumps(listed).encode())
        return self._sizes(listed) or []

    def _sizes(self, listed: dict[str, str]) -> list[int] | None:
        contents = {name: (self.folder / name).read_bytes() for name in listed}
        is_whole = all(_digest(contents[name]).hex() == digest for name, digest in listed.items())
        return [len(content) for content in contents.values()] if is_whole else None


@functools.cache
def stamp() -> str:
    """Return the digest of all that machine code depends on but its types and the processor.

    It is of the content of all kernels together, for they call one another across files; times
    would tell nothing, since installers and images set them as they like.
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


def _digest(*parts: bytes) -> bytes:
    from hashlib import sha256

    digest = sha256()
    for part in parts:
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.digest()


class KernelCache:
    """What Numba's dispatcher asks for a kernel before it compiles one, and gives it to after.

    One file for each kernel, combination of types and processor.
    """

    cache_path = None

    def __init__(self, function: Callable) -> None:
        self._function = function

    def load_overload(self, types: Any, context: Any) -> Any:
        """Return the compiled kernel for some types of arguments, None to have it compiled."""
        _make_ready(context)
        # Only what was written by these versions for these types is unpickled, but that it can be
        # used is for Numba to say; whatever it says, compiling is the answer.
        with contextlib.suppress(Exception):
            key = self._key(types, context.codegen())
            for place in places():
                with contextlib.suppress(Exception):
                    path = self._path(place, key)
                    result = _rebuilt(_read(path, key), context)
                    if result.signature.args == tuple(types):
                        activity.loaded += 1
                        activity.used.add(path.name)
                        return result
        context.refresh()  # which Numba expects before it compiles
        activity.compiling += 1
        activity.watch()
        return None

    def save_overload(self, types: Any, result: Any) -> None:
        """Keep a kernel that was just compiled, in the first place that takes it."""
        activity.compiled += 1
        activity.compiling -= 1
        activity.watch()
        reasons = []
        try:
            key = self._key(types, result.codegen)
            content = _reduced(result)
            for place in places():
                path = self._path(place, key)
                try:
                    _write(path, key, content)
                    activity.used.add(path.name)
                    return
                except OSError as error:
                    reasons.append(f"{place}: {error.strerror or error}")
        except Exception as error:  # of Numba, which may change what is asked of it here
            reasons.append(f"Numba did not give it ({type(error).__name__}: {error})")
        activity.unkept(reasons[0])

    def flush(self) -> None:
        """Do nothing: what is compiled again replaces what was kept."""

    def _key(self, types: Any, codegen: Any) -> bytes:
        """Return what the machine code depends on, as text."""
        function = self._function
        name, code = (function.__module__, function.__qualname__), function.__code__.co_code
        return repr((stamp(), name, code, tuple(map(str, types)), codegen.magic_tuple())).encode()

    def _path(self, place: Path, key: bytes) -> Path:
        return place / stamp() / f"{self._function.__name__}-{_digest(key).hex()[:24]}.kernel"


@functools.cache  # once in a process is enough
def _make_ready(context: Any) -> None:
    """Let compiled kernels find what they call when they run.

    It is the first step of `context.refresh`. That goes on to compile a library, which kernels from
    the disk bring along, and to import all that the compiler needs, scipy among it: more than all
    else that a short command does, in time and in memory.
    """
    try:
        from llvmlite.binding import add_symbol
        from numba.core.runtime import _nrt_python

        for name, address in _nrt_python.c_helpers.items():
            add_symbol(name if name.startswith("_") else f"NRT_{name}", address)
    except Exception:  # of a Numba that has it elsewhere
        context.refresh()


def _reduced(result: Any) -> bytes:
    """Return a result of Numba's compiler as bytes."""
    from numba.core.serialize import dumps

    if result.library.has_dynamic_globals:
        raise ValueError("it depends on addresses in memory")
    return bytes(dumps(result._reduce()))


def _rebuilt(content: bytes, context: Any) -> Any:
    """Return a result of Numba's compiler from its bytes, ready to run."""
    import pickle

    from numba.core.compiler import CompileResult

    return CompileResult._rebuild(context, *pickle.loads(content))


def _read(path: Path, key: bytes) -> bytes:
    """Return what a file keeps; raise `ValueError` where it is not what was written for the key."""
    # A pipe in the way of the file must not keep the opener waiting for a writer.
    flags = getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, os.O_RDONLY | flags)
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST or not _is_trusted(about):
            raise ValueError(f"{path} is not to be trusted")
        with open(descriptor, "rb", closefd=False) as file:
            digest, content = file.read(DIGEST), file.read()
    finally:
        os.close(descriptor)
    if digest != _digest(key, content):
        raise ValueError(f"{path} is damaged")
    return content


def _write(path: Path, key: bytes, content: bytes) -> None:
    """Write a file that appears whole or not at all."""
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
    finally:  # an interrupt too must leave nothing behind
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def _is_trusted(about: os.stat_result) -> bool:
    """Return whether a file may be run: see the top of this module."""
    if os.name != "posix":
        return True
    owners = {0, os.geteuid(), os.stat(__file__).st_uid}
    return about.st_uid in owners and not about.st_mode & stat.S_IWOTH


@functools.cache  # once in a process is enough
def _tidy(folder: Path) -> None:
    """Remove what killed writers left and what earlier versions kept."""
    with contextlib.suppress(OSError):
        for temporary in folder.glob(".*.tmp"):
            if time.time() - temporary.stat().st_mtime > ABANDONED:
                temporary.unlink()
    with contextlib.suppress(OSError):
        others = [one for one in folder.parent.iterdir() if re.fullmatch("[0-9a-f]{16}", one.name)]
        others.sort(key=lambda one: one.stat().st_mtime)
        for other in [one for one in others if one != folder][:-KEPT]:
            shutil.rmtree(other, ignore_errors=True)
    if folder.parent.parent.name == "__pycache__":
        for old in Path(__file__).parent.glob("**/__pycache__/*.nb[ic]"):  # of Numba's own cache
            with contextlib.suppress(OSError):
                old.unlink()
