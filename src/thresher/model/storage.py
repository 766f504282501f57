"""The model file: one safetensors file with a versioned, checksummed description; never pickle.

Its one metadata entry, "thresher", holds a checksum, a space and the JSON text that it is of, with
the type, shape and checksum of each tensor. One alone, for the library writes several in any order.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open

from thresher import __version__
from thresher.errors import ModelError, ParameterError, brief
from thresher.files import replace_file
from thresher.state import LARGEST_WHOLE, Parts

__all__ = ["read_model", "write_model"]

FORMAT_VERSION = 2
NARROW_VERSION = 3  # each tensor is in the narrowest type that holds it exactly
LOOKED_VERSION = 4  # there is a second look, which must not be overlooked
NEWEST_VERSION = LOOKED_VERSION

_OPENING = b'{"__metadata__":{"thresher":"'  # after 8 bytes; tells a damaged model from other files

# The types of safetensors in the order of its library, which puts the widest tensors first.
_TYPES = {
    "uint64": "U64",
    "int64": "I64",
    "float64": "F64",
    "float32": "F32",
    "uint32": "U32",
    "int32": "I32",
    "float16": "F16",
    "uint16": "U16",
    "int16": "I16",
    "int8": "I8",
    "uint8": "U8",
    "bool": "BOOL",
}

Upgrade = Callable[[dict[str, Any], dict[str, np.ndarray]], Parts]


def write_model(
    path: str | os.PathLike[str],
    header: dict[str, Any],
    tensors: dict[str, np.ndarray],
    *,
    keep_previous: bool = False,
    narrow: bool = False,
    version: int = FORMAT_VERSION,
) -> None:
    """Write a model file so that, whenever the process dies, the old or the new one is there.

    A symbolic link is followed; an existing file keeps its permissions, and where the new one
    cannot be written (`OutputError`) it is as it was.

    Parameters
    ----------
    path : str or path
        Where the model shall be. Its folder must exist.
    header : dict
        Anything that JSON can say, nested at will. Its keys are written in sorted order.
    tensors : dict of str to array
        Arrays of booleans, integers or floating-point numbers.
    keep_previous : bool
        Whether the model that was there is kept as `path.before-learn`; if not, one that was kept
        is removed. Default False.
    narrow : bool
        Whether each tensor is written in the narrowest type that holds it exactly; it is read back
        in its own. Default False.
    version : int
        The format: with it, what this Thresher needs is refused by those that know nothing of it.
        Default 2; narrow tensors need 3.
    """
    storable = {name: _storable(name, given) for name, given in tensors.items()}
    kinds = {name: array.dtype.name for name, array in storable.items()}
    if narrow:
        storable = {name: _narrowest(array) for name, array in storable.items()}
    widths = {kind: i for i, kind in enumerate(_TYPES)}
    order = sorted(storable, key=lambda name: (widths[storable[name].dtype.name], name))
    arrays = {name: storable[name] for name in order}
    described = _described(arrays)
    version = max(version, NARROW_VERSION) if narrow else version
    if version >= NARROW_VERSION:
        described = {name: [*one, kinds[name]] for name, one in described.items()}
    description = {"format_version": version, "thresher_version": __version__}
    description |= {"header": header, "tensors": described}
    try:
        text = json.dumps(description, sort_keys=True, allow_nan=False)
        _parsed(text)  # what could not be read again is not written
    except (TypeError, ValueError, RecursionError) as error:
        raise ParameterError(f"The header of a model must be JSON: {error}.") from error
    layout = _layout(arrays, f"{zlib.crc32(text.encode()):08x} {text}")
    with (
        replace_file(path, keep_previous=keep_previous) as temporary,
        open(temporary, "wb") as file,
    ):
        file.write(len(layout).to_bytes(8, "little") + layout)
        for array in arrays.values():
            file.write(array.reshape(-1).view("u1").data)


def _layout(arrays: dict[str, np.ndarray], description: str) -> bytes:
    """Return what a safetensors file begins with, by its own library's rules to the last byte.

    The library writes through a temporary file whose name we cannot know, let alone clear away.
    """
    layout: dict[str, Any] = {"__metadata__": {"thresher": description}}
    end = 0
    for name, array in arrays.items():
        start, end = end, end + array.nbytes
        kind = _TYPES[array.dtype.name]
        layout[name] = {"dtype": kind, "shape": array.shape, "data_offsets": [start, end]}
    text = json.dumps(layout, ensure_ascii=False, separators=(",", ":")).encode()
    return text + b" " * (-len(text) % 8)


def _storable(name: str, given: np.ndarray) -> np.ndarray:
    """Return the array as safetensors takes it: little-endian and in C order."""
    array = np.asarray(given)
    if not isinstance(name, str) or name == "__metadata__" or re.search("[\ud800-\udfff]", name):
        raise ParameterError(f"A tensor is named {name!r}; give it another name.")
    if array.dtype.kind not in "biuf" or array.itemsize > 8:
        raise ParameterError(
            f"Tensor {name!r} holds {array.dtype}; a model file holds booleans, integers and "
            "floating-point numbers of up to 8 bytes."
        )
    return array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)


def _narrowest(array: np.ndarray) -> np.ndarray:
    """Return an array in the narrowest type of its kind that holds all of it exactly."""
    if array.dtype.kind == "b" or not array.size:
        return array
    if array.dtype.kind == "f":
        for kind in ("<f2", "<f4"):
            with np.errstate(over="ignore"):
                narrow = array.astype(kind)
            if narrow.dtype.itemsize < array.dtype.itemsize and np.array_equal(narrow, array):
                return narrow
        return array
    least, most = int(array.min()), int(array.max())
    for whole in ("u1", "i1", "u2", "i2", "u4", "i4"):
        bounds = np.iinfo(whole)
        if bounds.min <= least and most <= bounds.max and bounds.bits < 8 * array.itemsize:
            return array.astype(f"<{whole}")
    return array


def _described(arrays: dict[str, np.ndarray]) -> dict[str, list[Any]]:
    """Return the type, the shape and the checksum of each array."""
    return {
        name: [array.dtype.name, list(array.shape), zlib.crc32(array.reshape(-1).view("u1").data)]
        for name, array in arrays.items()
    }


def read_model(path: str | os.PathLike[str], upgrades: dict[int, Upgrade] | None = None) -> Parts:
    """Read a model file back as the header and the tensors it was written from.

    `ModelError` says that it is none, damaged, cut short, or of a newer format than is known here.
    Nothing is believed before its checksum is right, and no more memory is asked for than the file
    has bytes. What the tensors mean is for the caller to check: see `require_tensor`. Each has
    memory of its own and may be changed.

    Parameters
    ----------
    path : str or path
        The model file.
    upgrades : dict of int to callable, optional
        For each older format, what turns its header and tensors into those of the next.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_model(f"{folder}/tiny", {"learner": "winnow"}, {"weights": np.array([1.5, -0.5])})
    ...     header, tensors = read_model(f"{folder}/tiny")
    >>> header["learner"], tensors["weights"].tolist()
    ('winnow', [1.5, -0.5])
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # asked first: opening a pipe would wait
            raise ModelError(f"{path} is not a file; name the model file itself.")
        with open(path, "rb") as file:
            opening = file.read(8 + len(_OPENING))
        version, header, tensors = _read(path, opening)
        for old in range(version, FORMAT_VERSION):
            if upgrades and old in upgrades:
                header, tensors = upgrades[old](header, tensors)
        return header, tensors
    except FileNotFoundError as error:
        raise ModelError(f"There is no model file {path}.") from error
    except (OSError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"The model {path} cannot be read: {_reason(error)}.") from error


def _read(path: object, opening: bytes) -> tuple[int, dict[str, Any], dict[str, np.ndarray]]:
    try:
        file: Any = safe_open(path, framework="numpy")  # sees that its header fits its size
    except SafetensorError as error:
        if not opening:
            raise ModelError(f"{path} is empty: it is no model.") from error
        if len(opening) < 8 or not _OPENING.startswith(opening[8:]):
            raise _foreign(path) from error
        raise _damaged(path, "it is cut short, lengthened or changed") from error
    with file:
        description = _description(path, file.metadata() or {})
        try:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (SafetensorError, AttributeError, TypeError, ValueError) as error:
            raise _damaged(path, "its tensors are not arrays of numbers") from error
    version, written = description["format_version"], description.get("tensors")
    kinds = {}
    if version >= NARROW_VERSION and isinstance(written, dict):
        kinds = {name: one.pop() for name, one in written.items() if isinstance(one, list) and one}
    if _described(tensors) != written:
        raise _damaged(path, "its tensors are not those that were written")
    for name, kind in kinds.items():
        is_type = isinstance(kind, str) and kind in _TYPES
        if not is_type or not np.can_cast(tensors[name].dtype, kind, "safe"):
            raise _damaged(path, "its tensors are not of the types that they are read in")
        tensors[name] = tensors[name].astype(kind, copy=False)
    return version, description["header"], tensors


def _description(path: object, metadata: dict[str, str]) -> dict[str, Any]:
    """Return what the text says, once its checksum is right and its version is ours."""
    if "thresher" not in metadata:
        raise _foreign(path)
    checksum, _, text = metadata["thresher"].partition(" ")
    if checksum != f"{zlib.crc32(text.encode()):08x}":
        raise _damaged(path, "the checksum of its header is wrong")
    try:
        description = _parsed(text)
        version = description["format_version"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damaged(path, "its header is not that of a model") from error
    if type(version) is int and version > NEWEST_VERSION:
        raise ModelError(
            f"The model {path} is of format {version}, written by Thresher "
            f"{description.get('thresher_version')}; this is Thresher {__version__}, which reads "
            f"formats up to {NEWEST_VERSION}. Install a newer Thresher."
        )
    if type(version) is not int or version < 1 or not isinstance(description.get("header"), dict):
        raise _damaged(path, "its header is not that of a model")
    return description


def _parsed(text: str) -> dict[str, Any]:
    description: dict[str, Any] = json.loads(
        text, parse_int=_whole, parse_float=_finite, parse_constant=_finite
    )
    return description


def _whole(digits: str) -> int:
    """Read a whole number of a header: none is so large that other types could not hold it."""
    number = int(digits) if len(digits) < 25 else LARGEST_WHOLE + 1
    if abs(number) > LARGEST_WHOLE:
        raise ValueError(f"{brief(digits)} is beyond what a model holds")
    return number


def _finite(digits: str) -> float:
    """Read a number of a header; Infinity, NaN and 1e400 are none that a model was written with."""
    if not math.isfinite(number := float(digits)):
        raise ValueError(f"{brief(digits)} is no finite number")
    return number


def _foreign(path: object) -> ModelError:
    return ModelError(f"{path} is not a model of Thresher, or its first bytes are damaged.")


def _damaged(path: object, how: str) -> ModelError:
    return ModelError(f"The model {path} is damaged: {how}. Restore a copy or train it again.")


def _reason(error: Exception) -> str:
    """Return what the system said, of which safetensors passes on the number within a text."""
    number = re.search(r"(?:os error|code:) (\d+)", str(error))
    reason = os.strerror(int(number[1])) if number else str(error)
    return getattr(error, "strerror", None) or reason
