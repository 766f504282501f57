"""Arrays over features and categories: they grow, shrink, are put back, and go into a model file.

Row 0 belongs to the always-on feature, row `f + 1` to feature `f`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from thresher.engine import run_blocks
from thresher.errors import ModelError
from thresher.limits import LARGEST_WEIGHT
from thresher.state import require_tensor

AT_ONCE = 4096  # rows that are moved together
CACHE_LINE_BYTES, FLOATS_PER_CACHE_LINE = 64, 16

FEATURES, CATEGORIES, BOTH = "features", "categories", "both"


class Table(NamedTuple):
    """What one array is: a row per feature, a figure per category, or both; type, first value.

    No figure is beyond `low` and `high`, be it learned or read.
    """

    axes: str
    dtype: type
    fill: float
    low: float = -LARGEST_WEIGHT
    high: float = LARGEST_WEIGHT


class Tables:
    """Named arrays of one learner.

    Rows and columns are reserved ahead, so that what a new word or a new category costs does not
    depend on how many there are. The spare cells of rows in use hold the initial value; a spare row
    is filled when it comes into use. `whole` has the arrays with their spare cells, in C order, for
    the kernels.

    Examples
    --------
    >>> tables = Tables({"weights": Table(BOTH, np.float32, 0.5)}, 2, 1)
    >>> tables["weights"][1:, 0] = 1, 2
    >>> tables.grow(3, 2)
    >>> tables["weights"].tolist()
    [[0.5, 0.5], [1.0, 0.5], [2.0, 0.5], [0.5, 0.5]]
    """

    def __init__(self, layout: dict[str, Table], n_features: int, n_categories: int) -> None:
        self.layout: dict[str, Table] = {}
        self.whole: dict[str, np.ndarray] = {}
        self.n_features, self.n_categories = n_features, n_categories
        for name, table in layout.items():
            self.add(name, table)

    def __contains__(self, name: object) -> bool:
        return name in self.layout

    def __getitem__(self, name: str) -> np.ndarray:
        return self.whole[name][tuple(map(slice, self._shape(name)))]

    def items(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yield the names and the arrays."""
        return ((name, self[name]) for name in self.layout)

    def add(self, name: str, table: Table) -> None:
        """Add an array of which all cells hold the initial value."""
        self.layout[name] = table
        self.whole[name] = cache_aligned(self._shape(name), table.dtype, table.fill)

    def _shape(self, name: str) -> tuple[int, ...]:
        return _shape(self.layout[name].axes, self.n_features, self.n_categories)

    def grow(self, n_features: int, n_categories: int) -> None:
        """Make room for more features and categories, which hold the initial values."""
        for name, (axes, _, fill, *_) in self.layout.items():
            used, wanted = self._shape(name), _shape(axes, n_features, n_categories)
            if used == wanted:
                continue
            whole = self.whole[name]
            if any(np.less(whole.shape, wanted)):
                whole = self.whole[name] = _enlarged(whole, used, wanted, axes, fill)
            if axes != CATEGORIES:
                whole[used[0] : wanted[0]] = fill
        self.n_features, self.n_categories = n_features, n_categories

    def tighten(self) -> None:
        """Give up the spare cells of rows, in place: what is saved is then written without a copy.

        They are there for threads that learn from many documents.
        """
        for name, array in self.items():
            whole = self.whole[name]
            if array.ndim < 2 or whole.shape[1] == array.shape[1]:
                continue
            (n, width), flat = array.shape, whole.reshape(-1)
            for first in range(0, n, AT_ONCE):
                part = array[first : first + AT_ONCE].ravel()  # a copy: rows move over each other
                flat[first * width : first * width + len(part)] = part
            self.whole[name] = flat[: n * width].reshape(n, width)

    def prune(self, keep: np.ndarray) -> None:
        """Keep only some features."""
        rows = np.append(True, one_each(keep, self.n_features, "feature"))
        self.whole = {
            name: array.copy() if self.layout[name].axes == CATEGORIES else array[rows]
            for name, array in self.items()
        }
        self.n_features = int(np.count_nonzero(keep))

    def drop(self, keep: np.ndarray) -> None:
        """Keep only some categories."""
        self.take_categories(np.flatnonzero(one_each(keep, self.n_categories, "category")))

    def take_categories(self, columns: np.ndarray) -> None:
        """Bring the categories into another order, by their numbers, or keep only some."""
        self.whole = {
            name: (array if self.layout[name].axes == FEATURES else array[..., columns]).copy()
            for name, array in self.items()
        }
        self.n_categories = len(columns)

    def checkpoint(self, columns: np.ndarray | None) -> Callable[[], None]:
        """Return a function that puts everything back as it is now, byte for byte.

        Until then only the rows of these features, known yet or not, may change; None is for all.
        """
        layout, sizes = dict(self.layout), (self.n_features, self.n_categories)
        if columns is None:
            before = self.__getstate__() | {"layout": layout}
            return lambda: self.__dict__.update(before)
        known = np.sort(columns)  # quicker than np.unique for so few
        is_last = known != np.append(known[1:], -1)  # of its equals
        rows = np.append(0, 1 + known[is_last & (known < self.n_features)])
        kept = {
            name: array.copy()
            if layout[name].axes == CATEGORIES
            else self.whole[name].take(rows, 0)
            for name, array in self.items()
        }

        def put_back() -> None:
            for name, (axes, _, fill, *_) in layout.items():
                whole, before = self.whole[name], kept[name]
                if axes == CATEGORIES:
                    whole[: sizes[1]], whole[sizes[1] :] = before[: sizes[1]], fill
                elif axes == FEATURES:
                    whole[rows] = before
                else:
                    whole[rows, : sizes[1]] = before[:, : sizes[1]]
                    whole[:, sizes[1] : self.n_categories] = fill
            self.n_features, self.n_categories = sizes

        return put_back

    def beyond(self, columns: np.ndarray | None = None) -> str | None:
        """Say which figure is beyond its bounds, if any; of these features alone, where given."""
        for name, (axes, dtype, _, low, high) in self.layout.items():
            array = self[name]
            if columns is not None and axes != CATEGORIES:
                array = array[np.append(0, 1 + columns)]
            if dtype is bool or not array.size:
                continue
            least, most = array.min(), array.max()
            if not (low <= least and most <= high):
                return f"{name} of {most if most > high or not low <= most else least:g}"
        return None

    def tensors(self) -> dict[str, np.ndarray]:
        """Return the arrays as a model file holds them; truth values are bytes of 0 and 1."""
        return {
            name: array.astype(np.uint8) if array.dtype == bool else np.ascontiguousarray(array)
            for name, array in self.items()
        }

    def read(self, tensors: dict[str, np.ndarray], n_features: int, n_categories: int) -> None:
        """Take the arrays over from a model file, or say what is wrong with them."""
        for name, (axes, dtype, _, *bounds) in self.layout.items():
            stored, (low, high) = (np.uint8, (0, 1)) if dtype is bool else (dtype, bounds)
            shape = _shape(axes, n_features, n_categories)
            tensor = require_tensor(tensors, name, stored, shape, low=low, high=high, finite=True)
            self.whole[name] = np.array(tensor, dtype, order="C")
        self.n_features, self.n_categories = n_features, n_categories

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"whole": {name: array.copy() for name, array in self.items()}}


def cache_aligned(shape: Sequence[int], dtype: Any, fill: float = 0) -> np.ndarray:
    """Return a new array that starts, as does each long row, at the start of a cache line.

    Rows are a few cells longer for it. So threads that divide the columns among them never write to
    the same cache line, which would then go back and forth between the processors.
    """
    *rows, n = shape
    size = np.dtype(dtype).itemsize
    if n * size >= 2 * CACHE_LINE_BYTES:  # short rows would take much more memory
        n += -n % (CACHE_LINE_BYTES // size)
    n_bytes = math.prod(rows) * n * size
    memory = np.empty(n_bytes + CACHE_LINE_BYTES, np.uint8)
    start = -memory.ctypes.data % CACHE_LINE_BYTES
    array: np.ndarray = memory[start : start + n_bytes].view(dtype).reshape(*rows, n)
    array[:] = fill
    return array


def run_cache_line_blocks(
    function: Callable[[int, int], None], size: int, n_jobs: int, first: int = 0
) -> None:
    """Call `function(start, end)` over blocks of `range(first, size)`, one for each thread.

    The blocks of float32 are whole cache lines, which two threads never write to at once.
    """
    if n_jobs == 1:
        function(first, size)
        return
    n_lines = -(-size // (FLOATS_PER_CACHE_LINE * max(n_jobs, 1)))
    starts = range(first, size, max(n_lines, 1) * FLOATS_PER_CACHE_LINE)
    run_blocks(function, [*starts, size], n_jobs)


def one_each(keep: np.ndarray, n: int, noun: str) -> np.ndarray:
    keep = np.asarray(keep)
    if keep.dtype != bool or keep.shape != (n,):
        raise ModelError(
            f"One true or false is needed per {noun}, {n} in all; given was {keep.dtype} of shape "
            f"{keep.shape}."
        )
    return keep


def _shape(axes: str, n_features: int, n_categories: int) -> tuple[int, ...]:
    rows, columns = 1 + n_features, n_categories
    return {FEATURES: (rows,), CATEGORIES: (columns,), BOTH: (rows, columns)}[axes]


def _enlarged(
    whole: np.ndarray, used: tuple[int, ...], wanted: tuple[int, ...], axes: str, fill: float
) -> np.ndarray:
    """Return an array with room for more than is wanted, where it is too small."""
    shape = list(whole.shape)
    for axis, (old, new) in enumerate(zip(used, wanted, strict=True)):
        if new > whole.shape[axis]:
            of_categories = axes == CATEGORIES or axis == 1
            shape[axis] = max(new, old + old // 4 + 8 if of_categories else old + old // 2)
    larger = np.empty(shape, whole.dtype)
    if axes == CATEGORIES:
        larger[:] = fill
    elif axes == BOTH:
        larger[: used[0], whole.shape[1] :] = fill
    larger[tuple(map(slice, (used[0], *whole.shape[1:])))] = whole[: used[0]]
    return larger
