"""The model file: a safetensors file with a versioned and checksummed description; never pickle.

Its only metadata entry, "thresher", holds a checksum, a space, and a JSON text with the type, shape
and checksum of each tensor. There is only one entry because the safetensors library writes several
entries in no fixed order.
"""

from __future__ import annotations

import json
import logging
import math
import os
import re
import stat
import zlib
from collections.abc import Callable, Sequence
from io import BufferedReader
from operator import index
from threading import Lock
from typing import Any

import numpy as np

from thresher import __version__
from thresher.decisions import Decisions
from thresher.documents import Columns
from thresher.documents.columns import LAYOUTS
from thresher.documents.encodings import check_encoding
from thresher.engine import engine_for
from thresher.errors import ModelError, ParameterError, brief, counted
from thresher.features import Features
from thresher.files import MODEL_OPENING, is_model, not_replaced, replace_file
from thresher.learners import Learner, learner_class
from thresher.limits import room
from thresher.model.categories import Categories
from thresher.model.format1 import upgrade
from thresher.model.memory import Digests, Memory
from thresher.model.model import Model
from thresher.model.parameters import TrainingParameters, is_auto
from thresher.model.second_look import SecondLook
from thresher.parameters import Whole
from thresher.state import LARGEST_WHOLE, Parts, component_state, require_field

log = logging.getLogger("thresher")

FORMAT_VERSION = 2
NARROW_VERSION = 3  # each tensor is in the narrowest type that holds it exactly
LOOKED_VERSION = 4  # with a second look, which older versions of Thresher would ignore
NEWEST_VERSION = LOOKED_VERSION

MOST_LAYOUT_BYTES = 100_000_000  # the limit of the safetensors library
LARGE_TENSORS = ("learner.weights", "learner.variances")  # used by learners without a copy
CHANGED = "it is cut short, lengthened or changed"
PIECE_BYTES = 1 << 22  # read and checked at a time
BYTES_FOR_THREADS = 1 << 24  # of tensors; fewer are read by one thread
MOST_READERS = 4
MOST_COMPRESSED = 100  # how many times smaller a file can be on a disk that compresses it
_SEEKING = Lock()

# The types of safetensors, in the order in which its library writes tensors (the widest first).
_TYPES = {
    "uint64": "U64", "int64": "I64", "float64": "F64", "float32": "F32", "uint32": "U32",
    "int32": "I32", "float16": "F16", "uint16": "U16", "int16": "I16", "int8": "I8",
    "uint8": "U8", "bool": "BOOL",
}  # fmt: skip
_DTYPES = {code: name for name, code in _TYPES.items()}

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
    """Write a model file atomically: if the process dies, the old or the new file is complete.

    Symbolic links are followed, and an existing file keeps its permissions. If the new file cannot
    be written (`OutputError`), the existing one stays unchanged.

    Parameters
    ----------
    path : str or path
        The model file. Its folder must exist.
    header : dict
        Data that JSON can represent. Keys are written in sorted order.
    tensors : dict of str to array
        Arrays of booleans, integers or floating-point numbers.
    keep_previous : bool
        Whether the existing model is kept as `path.before-learn`; otherwise, an earlier
        `path.before-learn` is removed. Default False.
    narrow : bool
        Whether each tensor is written in the narrowest type that holds it exactly, and converted
        back when it is read. Default False.
    version : int
        The format version; older versions of Thresher refuse a newer one. Default 2; narrow
        tensors need 3.
    """
    storable = {name: _storable(name, tensor) for name, tensor in tensors.items()}
    kinds = {name: array.dtype.name for name, array in storable.items()}
    if narrow:
        storable = {name: _narrowest(array) for name, array in storable.items()}
    widths = {kind: i for i, kind in enumerate(_TYPES)}
    order = sorted(storable, key=lambda name: (widths[storable[name].dtype.name], name))
    arrays = {name: storable[name] for name in order}
    described = _described(arrays)
    version = max(version, NARROW_VERSION) if narrow else version
    if version >= NARROW_VERSION:
        described = {name: [*entry, kinds[name]] for name, entry in described.items()}
    description = {"format_version": version, "thresher_version": __version__}
    description |= {"header": header, "tensors": described}
    try:
        text = json.dumps(description, sort_keys=True, allow_nan=False)
        _parsed(text)  # refuses numbers that could not be read again
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
    """Return the start of the file, byte for byte as the safetensors library writes it.

    The library itself is not used: it writes through a temporary file of unknown name, which could
    not be removed after a crash.
    """
    layout: dict[str, Any] = {"__metadata__": {"thresher": description}}
    end = 0
    for name, array in arrays.items():
        start, end = end, end + array.nbytes
        kind = _TYPES[array.dtype.name]
        layout[name] = {"dtype": kind, "shape": array.shape, "data_offsets": [start, end]}
    text = json.dumps(layout, ensure_ascii=False, separators=(",", ":")).encode()
    return text + b" " * (-len(text) % 8)


def _storable(name: str, tensor: np.ndarray) -> np.ndarray:
    """Return the tensor as safetensors stores it: little-endian and in C order."""
    array = np.asarray(tensor)
    if not isinstance(name, str) or name == "__metadata__" or re.search("[\ud800-\udfff]", name):
        raise ParameterError(f"A tensor is named {name!r}; give it another name.")
    if array.dtype.kind not in "biuf" or array.itemsize > 8:
        raise ParameterError(
            f"Tensor {name!r} holds {array.dtype}; a model file holds booleans, integers and "
            "floating-point numbers of up to 8 bytes."
        )
    return array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)


def _narrowest(array: np.ndarray) -> np.ndarray:
    """Return an array in the narrowest type of its kind that holds all values exactly."""
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


def read_model(
    path: str | os.PathLike[str],
    upgrades: dict[int, Upgrade] | None = None,
    *,
    mmap: bool = False,
) -> Parts:
    """Return the header and the tensors of a model file.

    Raises `ModelError` if the file is not a model, is damaged or cut short, or has a newer format.
    Checksums are verified before any data is used, and no more memory is allocated than the file
    has bytes. The caller must check the content of the tensors: see `require_tensor`.

    Parameters
    ----------
    path : str or path
        The model file.
    upgrades : dict of int to callable, optional
        For each older format, a function that converts its header and tensors to the next format.
    mmap : bool, default=False
        Map the file into memory instead of reading it. Processes that map the same file share its
        memory; the tensors are read-only. Replace a mapped file by renaming another file: if it is
        changed in place, the processes that map it may be killed.

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
        if not stat.S_ISREG(os.stat(path).st_mode):  # before opening: a pipe would wait
            raise ModelError(f"{path} is not a file; name the model file itself.")
        with open(path, "rb") as file:
            version, header, tensors = _read(path, file, mmap)
        for old in range(version, FORMAT_VERSION):
            if upgrades and old in upgrades:
                header, tensors = upgrades[old](header, tensors)
        return header, tensors
    except FileNotFoundError as error:
        raise ModelError(f"There is no model file {path}.") from error
    except MemoryError as error:
        size = os.path.getsize(path) / 2**20
        raise ModelError(
            f"The model {path} cannot be read: there is not enough memory for its {size:,.0f} MB; "
            "end other programs, or map it into memory (mmap=True)."
        ) from error
    except (OSError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise ModelError(f"The model {path} cannot be read: {reason}.") from error


def _read(
    path: object, file: BufferedReader, mmap: bool
) -> tuple[int, dict[str, Any], dict[str, np.ndarray]]:
    layout, start = _read_layout(path, file)
    description = _description(path, layout)
    tensors, described = _read_tensors(path, file, layout, start, mmap)
    version, written = description["format_version"], description.get("tensors")
    types = {}
    if version >= NARROW_VERSION and isinstance(written, dict):
        entries = written.items()
        types = {name: entry.pop() for name, entry in entries if isinstance(entry, list) and entry}
    if described != written:
        raise _damaged(path, "its tensors are not those that were written")
    for name, dtype in types.items():
        is_type = isinstance(dtype, str) and dtype in _TYPES
        if not is_type or not np.can_cast(tensors[name].dtype, dtype, "safe"):
            raise _damaged(path, "its tensors are not of the types that they are read in")
        tensors[name] = tensors[name].astype(dtype, copy=False)
    return version, description["header"], tensors


def _read_layout(path: object, file: BufferedReader) -> tuple[dict[str, Any], int]:
    """Return the JSON at the start of a safetensors file, and where the tensors start."""
    opening = file.read(8 + len(MODEL_OPENING))
    if not opening:
        raise ModelError(f"{path} is empty: it is no model.")
    is_model = len(opening) >= 8 and MODEL_OPENING.startswith(opening[8:])
    problem = _damaged(path, CHANGED) if is_model else _foreign(path)
    size = int.from_bytes(opening[:8], "little")
    if len(opening) < 8 or size > min(_n_bytes(file) - 8, MOST_LAYOUT_BYTES):
        raise problem
    file.seek(8)
    try:
        layout = json.loads(file.read(size))
    except (ValueError, RecursionError) as error:
        raise problem from error
    if not isinstance(layout, dict):
        raise problem
    return layout, 8 + size


def _read_tensors(
    path: object, file: BufferedReader, layout: dict[str, Any], start: int, mmap: bool
) -> tuple[dict[str, np.ndarray], dict[str, list[Any]]]:
    """Return the tensors, and the type, shape and checksum of each.

    The tensors are separate arrays, or views of the mapped file. Large files are read by several
    threads, each tensor by one of them.
    """
    entries = {name: entry for name, entry in layout.items() if name != "__metadata__"}
    shapes, end = {}, 0
    try:
        for name, entry in sorted(entries.items(), key=lambda item: item[1]["data_offsets"]):
            dtype, shape = np.dtype(_DTYPES[entry["dtype"]]), tuple(map(index, entry["shape"]))
            first, last = map(index, entry["data_offsets"])
            if first != end or min(shape, default=0) < 0:
                raise ValueError
            end = first + math.prod(shape) * dtype.itemsize
            if last != end:
                raise ValueError
            if math.prod(shape) <= 1 or len(shape) > 32:  # NumPy refuses some such shapes
                np.empty(shape, dtype)
            shapes[name] = dtype, shape, first
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(path, "its tensors are not arrays of numbers") from error
    if start + end != _n_bytes(file):
        raise _damaged(path, CHANGED)
    if not mmap and end > (most := room() or end):
        raise ModelError(
            f"The model {path} needs {end / 2**30:,.1f} GB of memory, and there are "
            f"{most / 2**30:,.1f}; map it into memory (mmap=True)."
        )
    n_stored = 512 * getattr(os.fstat(file.fileno()), "st_blocks", end)  # not on Windows
    if end > BYTES_FOR_THREADS and n_stored < end // MOST_COMPRESSED:
        raise _damaged(path, f"of {end / 2**20:,.0f} MB, nearly all was never written")
    if mmap:
        whole = np.memmap(file, np.uint8, "r") if end else np.zeros(start, np.uint8)

    def read(entry: tuple[np.dtype, tuple[int, ...], int]) -> tuple[np.ndarray, int]:
        """Return a tensor and its checksum, computed while each piece is in the cache."""
        dtype, shape, first = entry
        buffer = whole[start + first :] if mmap and 0 not in shape else None
        array: np.ndarray = np.ndarray(shape, dtype, buffer)
        array.flags.writeable = not mmap
        data, checksum = array.reshape(-1).view(np.uint8), 0
        for i in range(0, len(data), PIECE_BYTES):
            piece = data[i : i + PIECE_BYTES].data
            if not mmap and _read_at(file, piece, start + first + i) != len(piece):
                raise _damaged(path, CHANGED)
            checksum = zlib.crc32(piece, checksum)
        return array, checksum

    n_threads = min(MOST_READERS, os.cpu_count() or 1) if end >= BYTES_FOR_THREADS else 1
    results = dict(zip(shapes, engine_for(n_threads).map(read, shapes.values()), strict=True))
    return {name: array for name, (array, _) in results.items()}, {
        name: [array.dtype.name, list(array.shape), checksum]
        for name, (array, checksum) in results.items()
    }


def _read_at(file: BufferedReader, piece: memoryview, offset: int) -> int:
    """Read bytes from an offset of a file, from any thread; return their number."""
    if hasattr(os, "preadv"):
        return os.preadv(file.fileno(), [piece], offset)
    with _SEEKING:
        file.seek(offset)
        return file.readinto(piece)


def _n_bytes(file: BufferedReader) -> int:
    return os.fstat(file.fileno()).st_size


def _description(path: object, layout: dict[str, Any]) -> dict[str, Any]:
    """Return the description in the metadata, after checking its checksum and version."""
    metadata = layout.get("__metadata__")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("thresher"), str):
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
    """Return an integer of the header; raise `ValueError` if it exceeds 64 bits."""
    number = int(digits) if len(digits) < 25 else LARGEST_WHOLE + 1
    if abs(number) > LARGEST_WHOLE:
        raise ValueError(f"{brief(digits)} is beyond what a model holds")
    return number


def _finite(digits: str) -> float:
    """Return a number of the header; raise `ValueError` for Infinity, NaN and 1e400."""
    if not math.isfinite(number := float(digits)):
        raise ValueError(f"{brief(digits)} is no finite number")
    return number


def _foreign(path: object) -> ModelError:
    return ModelError(f"{path} is not a model of Thresher, or its first bytes are damaged.")


def _damaged(path: object, how: str) -> ModelError:
    return ModelError(f"The model {path} is damaged: {how}. Restore a copy or train it again.")


# A model and its file -----------------------------------------------------------------------------


def save_model(
    model: Model,
    path: str | os.PathLike[str],
    *,
    remember: bool = True,
    keep_previous: bool = False,
    force: bool = False,
) -> None:
    """Write a model to a file; see `Categorizer.save`."""
    has_content = os.path.isfile(path) and os.path.getsize(path)
    if has_content and not force and not is_model(path):
        raise not_replaced(path, "a model")
    columns = model.columns and {
        name: getattr(model.columns, name) for name in ("text", "labels", "separator")
    }
    for name in ("layout", "encoding"):
        if columns and (value := getattr(model.columns, name)) is not None:
            columns[name] = value
    header: dict[str, Any] = {
        "parameters": _plain_parameters(model),
        "categories": model.categories.state(),
        "documents_seen": model.documents_seen,
        "is_mode_open": model.is_mode_open,
        "late": {str(k): n for k, n in model.late.items()},
        "columns": columns,
    }
    if model.is_compacted:
        header["compacted"] = True
    tensors: dict[str, np.ndarray] = {}
    for name in ("features", "learner", "decisions", "second_look", "memory", "digests"):
        component: Any = getattr(model, name)
        if component is not None and (remember or name not in ("memory", "digests")):
            header[name], arrays = component.state()
            tensors |= {f"{name}.{key}": array for key, array in arrays.items()}
    version = FORMAT_VERSION if model.second_look is None else LOOKED_VERSION
    narrow = model.is_compacted
    write_model(path, header, tensors, keep_previous=keep_previous, narrow=narrow, version=version)
    log.info("saved to %s", path)


def load_model(
    path: str | os.PathLike[str], *, learners: Sequence[type[Learner]] = (), mmap: bool = False
) -> Model:
    """Read a model from a file; see `Categorizer.load`."""
    header, tensors = read_model(path, upgrades={1: upgrade}, mmap=mmap)
    large = [] if mmap else [array for name, array in tensors.items() if name in LARGE_TENSORS]
    for array in large:
        array.flags.writeable = False  # learners would copy writable arrays
    try:
        model = _model_from_parts(header, tensors, learners)
    except ModelError as problem:
        raise ModelError(f"{path}: {problem}") from problem.__cause__
    for array in large:
        array.flags.writeable = True
    model.has_private_arrays = not mmap
    log.info("loaded %s", path)
    return model


def _model_from_parts(
    header: dict[str, Any], tensors: dict[str, np.ndarray], learners: Sequence[type[Learner]]
) -> Model:
    of_learner, arrays = component_state("learner", header, tensors)
    kind = learner_class(require_field(of_learner, "learner", str), learners)
    features = Features.from_state(*component_state("features", header, tensors))
    decisions = Decisions.from_state(*component_state("decisions", header, tensors))
    categories = Categories.from_state(require_field(header, "categories", dict))
    # Checked before the learner allocates arrays of this size.
    sizes = [require_field(of_learner, name, int) for name in ("n_features", "n_categories")]
    shape = sizes[0], sizes[1]
    if shape != (features.n_columns, len(categories)) or shape[1] != len(decisions.thresholds):
        raise ModelError(
            f"the learner is for {counted(shape[0], 'feature')} and "
            f"{counted(shape[1], 'category')}; it came with "
            f"{counted(features.n_columns, 'column')}, {counted(len(categories), 'name')} and "
            f"{counted(len(decisions.thresholds), 'threshold')}."
        )
    learner = kind.from_state(of_learner, arrays)
    if (learner.n_features, learner.n_categories) != shape:
        raise ModelError("the learner has other sizes than it says.")
    parameters = TrainingParameters.from_plain(require_field(header, "parameters", dict))
    if not is_auto(parameters.learner):
        parameters.learner = learner
    model = Model(parameters, categories, features, learner, decisions)
    model.documents_seen = require_field(header, "documents_seen", int, low=0)
    model.is_mode_open = require_field(header, "is_mode_open", bool)
    model.columns, model.late = _columns_of(header), _late_of(header, len(categories))
    is_compacted = require_field({"compacted": False} | header, "compacted", bool)
    model.is_compacted = is_compacted or learner.is_compacted
    if "second_look" in header:
        look = component_state("second_look", header, tensors)
        model.second_look = SecondLook.from_state(*look, shape, learner)
    if "memory" in header:
        memory = component_state("memory", header, tensors)
        model.memory = Memory.from_state(*memory, *shape)
    if "digests" in header:
        model.digests = Digests.from_state(*component_state("digests", header, tensors))
    return model


def _plain_parameters(model: Model) -> dict[str, Any]:
    """Return the parameters as plain data for JSON, without the number of threads.

    The learner is stored separately, under its own key.
    """
    parameters = model.parameters
    learner = parameters.learner if is_auto(parameters.learner) else model.learner.name
    plain = parameters.replace(learner=learner).plain_params()
    del plain["n_jobs"]
    return plain


def _late_of(header: dict[str, Any], n_categories: int) -> dict[int, int]:
    """Return the number of documents of each category that was added after training."""
    late = require_field({"late": {}} | header, "late", dict)
    known = set(map(str, range(n_categories))) if late else set()
    if not (late.keys() <= known and all(map(Whole(0).allows, late.values()))):
        raise ModelError("The model's late categories make no sense; it is damaged.")
    return {int(k): n for k, n in late.items()}


def _columns_of(header: dict[str, Any]) -> Columns | None:
    """Return the columns that the documents were read from, or None."""
    if header.get("columns") is None:
        return None
    columns = require_field(header, "columns", dict)
    text = require_field(columns, "text", list)
    labels, separator = (
        None if columns.get(name) is None else require_field(columns, name, str)
        for name in ("labels", "separator")
    )
    if not all(isinstance(name, str) for name in text):
        raise ModelError("The model's columns of text have no names; it is damaged.")
    layout = columns.get("layout")
    if layout not in (None, *LAYOUTS):
        raise ModelError("The model's documents have a format that is unknown here.")
    encoding = columns.get("encoding")
    try:
        check_encoding(encoding)
    except ParameterError:
        raise ModelError("The model's documents have an encoding that is unknown here.") from None
    return Columns(tuple(text), labels, separator, layout=layout, encoding=encoding)
