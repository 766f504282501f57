"""The model file: one safetensors file with a versioned, checksummed JSON header; never pickle.

    8 bytes        length of what follows, up to the data (little-endian)
    JSON           {"__metadata__": {"checksum": "0a1b2c3d", "thresher": "<JSON text>"},
                    "<tensor>": {"dtype": ..., "shape": ..., "data_offsets": ...}, ...}
    data           the tensors, widest numbers first, then by name

The text under "thresher" holds the format's version, Thresher's version, the checksum of the data
and the caller's header. The checksum of everything before the data stands at a fixed place and is
verified before a word of it is believed; that place is the same in every format version to come.
Any safetensors reader opens the file. The format is written here, not through the safetensors
library, so that equal models are equal bytes, no tensor is held twice, and damage is told.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import stat
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np

from thresher._version import __version__
from thresher.errors import ModelError, ParameterError

__all__ = ["FORMAT_VERSION", "read_model", "require_field", "require_tensor", "write_model"]

FORMAT_VERSION = 1

# fmt: off
_DTYPES = {
    "BOOL": "?", "U8": "|u1", "I8": "|i1", "U16": "<u2", "I16": "<i2", "F16": "<f2",
    "U32": "<u4", "I32": "<i4", "F32": "<f4", "U64": "<u8", "I64": "<i8", "F64": "<f8",
}
# fmt: on
_DTYPE_NAMES = {np.dtype(code): name for name, code in _DTYPES.items()}

_OPENING = b'{"__metadata__":{"checksum":"'
_UNSIGNED = b"00000000"
_CHECKSUM = slice(len(_OPENING), len(_OPENING) + len(_UNSIGNED))
_LONGEST_HEADER = 100_000_000  # safetensors' own limit

T = TypeVar("T")


# Writing ----------------------------------------------------------------------------------------


def write_model(
    path: str | os.PathLike[str], header: dict[str, Any], tensors: dict[str, np.ndarray]
) -> None:
    """Write a model file so that, whenever the process dies, the old or the new one is there.

    The bytes go to a temporary file in the same folder, are synced to the disk and then take the
    place of the old file. A symbolic link is followed; an existing file keeps its permissions.

    Parameters
    ----------
    path : str or path
        Where the model shall be. Its folder must exist.
    header : dict
        Anything that JSON can say, nested at will. Its keys are written in sorted order.
    tensors : dict of str to array
        Arrays of booleans, integers or floating-point numbers.

    Raises
    ------
    ModelError
        The file cannot be written; an existing one is as it was.
    ParameterError
        The header is not JSON, or an array is not numbers.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "tiny.thresher")
    ...     write_model(path, {"learner": "winnow"}, {"weights": np.array([1.5, -0.5])})
    ...     path.read_bytes()[-16:] == np.array([1.5, -0.5]).tobytes()
    True
    """
    arrays = _in_order(tensors)
    opening = _header_bytes(header, arrays)
    try:
        target = Path(os.path.realpath(path))
        _check_target(target)
        _replace(target, [opening, *map(_as_bytes, arrays.values())])
    except (OSError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        raise _cannot_write(path, getattr(error, "strerror", None) or str(error)) from error


def _replace(target: Path, chunks: Iterable[bytes | memoryview]) -> None:
    """Put a new file in the place of `target`, all of it or nothing."""
    temporary = target.parent / f".{target.name[:40]}.{os.urandom(8).hex()}.tmp"
    try:
        with open(temporary, "xb") as file:
            if target.exists():  # before the first byte, for a private file must never be open
                os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:  # an interrupt too must leave nothing behind
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _in_order(tensors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the arrays little-endian, widest first, so that each lies aligned in the file."""
    arrays = {}
    for name, given in tensors.items():
        array = np.asarray(given)
        dtype = array.dtype.newbyteorder("<")
        if not isinstance(name, str) or name == "__metadata__":
            raise ParameterError(f"A tensor is named {name!r}; give it another name.")
        if dtype not in _DTYPE_NAMES:
            raise ParameterError(
                f"Tensor {name!r} holds {array.dtype}; a model file holds booleans, integers and "
                "floating-point numbers of up to 8 bytes."
            )
        arrays[name] = array.astype(dtype, order="C", copy=False)
    return dict(sorted(arrays.items(), key=lambda item: (-item[1].itemsize, item[0])))


def _header_bytes(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> bytes:
    """Return everything that stands before the data, signed with its checksum."""
    data_checksum = 0
    for array in arrays.values():
        data_checksum = zlib.crc32(_as_bytes(array), data_checksum)
    said = {
        "format_version": FORMAT_VERSION,
        "thresher_version": __version__,
        "data_checksum": f"{data_checksum:08x}",
        "header": header,
    }
    try:
        text = json.dumps(said, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ParameterError(f"The header of a model must be JSON: {error}.") from error
    layout: dict[str, Any] = {
        "__metadata__": {"checksum": _UNSIGNED.decode(), "thresher": text},
    }
    begin = 0
    for name, array in arrays.items():
        end = begin + array.nbytes
        layout[name] = {
            "dtype": _DTYPE_NAMES[array.dtype],
            "shape": array.shape,
            "data_offsets": (begin, end),
        }
        begin = end
    body = json.dumps(layout, separators=(",", ":")).encode()
    body += b" " * (-len(body) % 8)  # so that the data begins aligned
    length = len(body).to_bytes(8, "little")
    return length + _signed(body, f"{zlib.crc32(body, zlib.crc32(length)):08x}".encode())


def _signed(body: bytes, checksum: bytes) -> bytes:
    return body[: _CHECKSUM.start] + checksum + body[_CHECKSUM.stop :]


def _as_bytes(array: np.ndarray) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _check_target(target: Path) -> None:
    if target.is_symlink():  # all links that lead somewhere have been followed
        raise _cannot_write(target, "it is a link in a circle")
    if target.is_dir():
        raise _cannot_write(target, "it is a folder; name a file in it")
    if not target.parent.is_dir():
        raise _cannot_write(target, f"there is no folder {target.parent}; make it first")
    if target.exists() and not target.is_file():
        raise _cannot_write(target, "it is a device or a pipe, not a file")
    if target.exists() and not os.access(target, os.W_OK):
        raise _cannot_write(target, "it is write-protected")


def _cannot_write(path: object, reason: str) -> ModelError:
    return ModelError(f"The model cannot be written to {path}: {reason}.")


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a power cut, where the system can sync a folder."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# Reading ----------------------------------------------------------------------------------------


def read_model(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read a model file back as the header and the tensors it was written from.

    Nothing is believed before its checksum is right, and no more memory is asked for than the file
    has bytes. What the tensors mean is for the caller to check: see `require_tensor`.

    Parameters
    ----------
    path : str or path
        The model file.

    Returns
    -------
    header : dict
        As given to `write_model`.
    tensors : dict of str to array
        As given to `write_model`; each owns its memory and may be changed.

    Raises
    ------
    ModelError
        There is no such file, it is no model, it is damaged or cut short, or it is of a newer
        format than this version reads.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "tiny.thresher")
    ...     write_model(path, {"learner": "winnow"}, {"weights": np.array([1.5, -0.5])})
    ...     header, tensors = read_model(path)
    >>> header["learner"], tensors["weights"].tolist()
    ('winnow', [1.5, -0.5])
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # asked first: opening a pipe would wait
            raise ModelError(f"{path} is not a file; name the model file itself.")
        with open(path, "rb") as file:
            return _read(file, os.fspath(path))
    except FileNotFoundError as error:
        raise ModelError(f"There is no model file {path}.") from error
    except (OSError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise ModelError(f"The model {path} cannot be read: {reason}.") from error


def _read(file: BinaryIO, path: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    size = os.fstat(file.fileno()).st_size
    body = _read_header(file, path, size)
    try:
        layout = json.loads(body)
        said = json.loads(layout.pop("__metadata__")["thresher"])
        version, header, checksum = said["format_version"], said["header"], said["data_checksum"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _damaged(path, "its header is not that of a model") from error
    if type(version) is int and version > FORMAT_VERSION:
        raise ModelError(
            f"The model {path} is of format {version}, written by Thresher "
            f"{said.get('thresher_version')}; this is Thresher {__version__}, which reads formats "
            f"up to {FORMAT_VERSION}. Install a newer Thresher."
        )
    if type(version) is not int or version < 1 or not isinstance(header, dict):
        raise _damaged(path, "its header is not that of a model")
    tensors, found = _empty_tensors(layout, size - 8 - len(body), path), 0
    for name, array in tensors.items():
        if file.readinto(_as_bytes(array)) != array.nbytes:  # type: ignore[attr-defined]
            raise _damaged(path, f"it was cut short while tensor {name!r} was read")
        found = zlib.crc32(_as_bytes(array), found)
    if f"{found:08x}" != checksum:
        raise _damaged(path, "the checksum of its data is wrong")
    return header, tensors


def _read_header(file: BinaryIO, path: str, size: int) -> bytes:
    """Return the JSON that stands before the data, once its checksum is right."""
    length = file.read(8)
    opening = file.read(len(_OPENING))
    if not size:
        raise ModelError(f"{path} is empty: it is no model.")
    if opening != _OPENING[: len(opening)] or len(length) < 8:
        raise ModelError(f"{path} is not a model of Thresher, or its first bytes are damaged.")
    n_bytes = int.from_bytes(length, "little")
    if n_bytes > _LONGEST_HEADER or n_bytes < _CHECKSUM.stop or len(opening) < len(_OPENING):
        raise _damaged(path, f"it claims a header of {n_bytes} bytes")
    if n_bytes > size - 8:
        raise _damaged(
            path,
            f"it has {size} bytes, fewer than the {n_bytes + 8} of its header: it is cut short",
        )
    body = opening + file.read(n_bytes - len(opening))
    unsigned = _signed(body, _UNSIGNED)
    checksum = f"{zlib.crc32(unsigned, zlib.crc32(length)):08x}".encode()
    if len(body) != n_bytes or body[_CHECKSUM] != checksum:
        raise _damaged(path, "the checksum of its header is wrong")
    return body


def _empty_tensors(layout: dict[str, Any], n_bytes: int, path: str) -> dict[str, np.ndarray]:
    """Return arrays to be filled, having seen that one after the other they make up the data."""
    end, arrays = 0, {}
    for name, told in layout.items():
        try:
            dtype, shape = np.dtype(_DTYPES[told["dtype"]]), tuple(told["shape"])
            begin_told, end_told = told["data_offsets"]
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(path, f"tensor {name!r} is not described as it should be") from error
        if len(shape) > 32 or not all(type(n) is int and 0 <= n < 2**48 for n in shape):
            raise _damaged(path, f"tensor {name!r} has an impossible shape")
        begin, end = end, end + dtype.itemsize * math.prod(shape)
        if (begin_told, end_told) != (begin, end):
            raise _damaged(path, f"the shape of tensor {name!r} does not fit its place")
        if end > n_bytes:
            raise _damaged(path, f"it is cut short, in tensor {name!r}")
        arrays[name] = np.empty(shape, dtype)
    if end != n_bytes:
        raise _damaged(path, f"{n_bytes - end} bytes were appended to it")
    return arrays


def _damaged(path: str, how: str) -> ModelError:
    return ModelError(f"The model {path} is damaged: {how}. Restore a copy or train it again.")


# What a station asks of its part of a model -----------------------------------------------------


def require_tensor(
    tensors: dict[str, np.ndarray],
    name: str,
    dtype: Any,
    shape: tuple[int | None, ...],
    *,
    low: float | None = None,
    high: float | None = None,
) -> np.ndarray:
    """Return a tensor of a model once it is seen to be what it must be.

    Parameters
    ----------
    tensors : dict of str to array
        As read from the model.
    name : str
        Which tensor is asked for.
    dtype : dtype
        Its type of numbers.
    shape : tuple of int or None
        Its shape; None where any size will do.
    low, high : float, optional
        Least and greatest value it may hold. NaN is outside any bound; without a bound, anything
        goes.

    Raises
    ------
    ModelError
        The tensor is missing or is not as it must be.

    Examples
    --------
    >>> tensors = {"columns": np.array([0, 7], np.int32)}
    >>> require_tensor(tensors, "columns", np.int32, (None,), low=0, high=9).tolist()
    [0, 7]
    >>> require_tensor(tensors, "columns", np.int32, (None,), low=0, high=5)
    Traceback (most recent call last):
    thresher.errors.ModelError: The model's tensor 'columns' holds 7; values up to 5 belong there.
    """
    if name not in tensors:
        raise ModelError(f"The model lacks the tensor {name!r}; it may be of another kind.")
    array = tensors[name]
    if array.dtype != np.dtype(dtype):
        raise ModelError(
            f"The model's tensor {name!r} holds {array.dtype}; {np.dtype(dtype)} belongs there."
        )
    if len(shape) != array.ndim or any(
        wanted not in (None, n) for wanted, n in zip(shape, array.shape, strict=True)
    ):
        wanted = " x ".join("any" if n is None else str(n) for n in shape) or "a single number"
        found = " x ".join(map(str, array.shape)) or "a single number"
        raise ModelError(f"The model's tensor {name!r} has the shape {found}; it must be {wanted}.")
    if array.size and low is not None and not array.min() >= low:
        raise ModelError(
            f"The model's tensor {name!r} holds {array.min()}; values from {low} belong there."
        )
    if array.size and high is not None and not array.max() <= high:
        raise ModelError(
            f"The model's tensor {name!r} holds {array.max()}; values up to {high} belong there."
        )
    return array


def require_field(header: dict[str, Any], name: str, kind: type[T]) -> T:
    """Return a field of a model's header once it is seen to be of the type it must be.

    Parameters
    ----------
    header : dict
        As read from the model.
    name : str
        Which field is asked for.
    kind : type
        What it must be: `str`, `int`, `float` (which a whole number satisfies), `bool`, `list` or
        `dict`.

    Raises
    ------
    ModelError
        The field is missing or is something else.

    Examples
    --------
    >>> require_field({"margin": 1.0}, "margin", float)
    1.0
    """
    value = header.get(name)
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        found = "is missing" if name not in header else f"is {value!r}"
        raise ModelError(f"The model's field {name!r} {found}; it must be a {kind.__name__}.")
    return value
