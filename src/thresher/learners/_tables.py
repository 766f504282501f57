"""Arrays over features and categories: they grow, shrink, are put back, and go into a model file.

Row 0 belongs to the always-on feature, row `f + 1` to feature `f`. Rows and columns are reserved
ahead, so that what a new word or a new category costs does not depend on how many there are. The
spare cells of rows in use hold the initial value; a spare row is filled when it comes into use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from thresher.errors import ModelError, ParameterError
from thresher.learners.learner import GrowingLearner
from thresher.storage import require_tensor

FEATURES, CATEGORIES, BOTH = "features", "categories", "both"


class Table(NamedTuple):
    """What one array is: a row per feature, a figure per category, or both; type, first value."""

    axes: str
    dtype: type
    fill: float


class Tables:
    """Named arrays of one learner.

    Attributes
    ----------
    whole : dict of str to array
        The arrays with their spare cells, in C order, for the kernels; the arrays as they are
        meant are had by name: `tables["weights"]`.

    Examples
    --------
    >>> tables = Tables({"weights": Table(BOTH, np.float32, 0.5)}, 2, 1)
    >>> tables["weights"][1:, 0] = 1, 2
    >>> tables.grow(3, 2)
    >>> tables["weights"].tolist()
    [[0.5, 0.5], [1.0, 0.5], [2.0, 0.5], [0.5, 0.5]]
    """

    def __init__(self, layout: dict[str, Table], n_features: int, n_categories: int) -> None:
        self.layout = dict(layout)
        self.n_features, self.n_categories = n_features, n_categories
        self.whole: dict[str, np.ndarray] = {}
        for name in layout:
            self.whole[name] = self._filled(name)

    def __contains__(self, name: object) -> bool:
        return name in self.layout

    def __getitem__(self, name: str) -> np.ndarray:
        return self.whole[name][tuple(map(slice, self._shape(self.layout[name].axes)))]

    def items(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yield the names and the arrays."""
        return ((name, self[name]) for name in self.layout)

    def add(self, name: str, table: Table) -> None:
        """Add an array of which all cells hold the initial value."""
        self.layout[name] = table
        self.whole[name] = self._filled(name)

    def _shape(self, axes: str) -> tuple[int, ...]:
        return _shape(axes, self.n_features, self.n_categories)

    def _filled(self, name: str) -> np.ndarray:
        axes, dtype, fill = self.layout[name]
        return np.full(self._shape(axes), fill, dtype)

    # ---- other sizes -------------------------------------------------------------------------

    def grow(self, n_features: int, n_categories: int) -> None:
        """Make room for more features and categories, which hold the initial values."""
        for name, (axes, _, fill) in self.layout.items():
            used, wanted = self._shape(axes), _shape(axes, n_features, n_categories)
            if used == wanted:
                continue
            whole = self.whole[name]
            if any(np.less(whole.shape, wanted)):
                whole = self.whole[name] = _enlarged(whole, used, wanted, axes, fill)
            if axes != CATEGORIES:
                whole[used[0] : wanted[0]] = fill
        self.n_features, self.n_categories = n_features, n_categories

    def trim(self) -> None:
        """Give the spare memory back."""
        self.whole = {
            name: array if array.shape == self.whole[name].shape else array.copy()
            for name, array in self.items()
        }

    def prune(self, keep: np.ndarray) -> None:
        """Keep only some features."""
        rows = np.concatenate([[True], _one_each(keep, self.n_features, "feature")])
        pruned = {
            name: array if self.layout[name].axes == CATEGORIES else array[rows]
            for name, array in self.items()
        }
        self.whole, self.n_features = pruned, int(np.count_nonzero(keep))
        self.trim()

    def drop(self, keep: np.ndarray) -> None:
        """Keep only some categories."""
        self.take_categories(np.flatnonzero(_one_each(keep, self.n_categories, "category")))

    def take_categories(self, columns: np.ndarray) -> None:
        """Bring the categories into another order, by their numbers, or keep only some."""
        taken = {
            name: array if self.layout[name].axes == FEATURES else array[..., columns].copy()
            for name, array in self.items()
        }
        self.whole, self.n_categories = taken, len(columns)
        self.trim()

    # ---- putting back ------------------------------------------------------------------------

    def checkpoint(self, columns: np.ndarray | None) -> Callable[[], None]:
        """Return a function that puts everything back as it is now, byte for byte.

        Parameters
        ----------
        columns : array of int or None
            The features whose rows may change until then, besides the always-on one's; None for
            all. Those that are not there yet need not be left out.
        """
        layout, sizes = dict(self.layout), (self.n_features, self.n_categories)
        if columns is None:
            copies = {name: array.copy() for name, array in self.items()}

            def put_all_back() -> None:
                self.layout, self.whole = layout, copies
                self.n_features, self.n_categories = sizes

            return put_all_back
        known = np.unique(np.asarray(columns)[np.asarray(columns) < self.n_features])
        rows = np.concatenate([[0], 1 + known])
        kept = {
            name: self[name].copy() if table.axes == CATEGORIES else self[name][rows]
            for name, table in layout.items()
        }

        def put_rows_back() -> None:
            for name, (axes, _, fill) in layout.items():
                whole, before = self.whole[name], kept[name]
                if axes == CATEGORIES:
                    whole[: len(before)], whole[len(before) :] = before, fill
                else:
                    wide = np.full((len(rows), *whole.shape[1:]), fill, whole.dtype)
                    wide[tuple(map(slice, before.shape))] = before
                    whole[rows] = wide
            self.n_features, self.n_categories = sizes

        return put_rows_back

    # ---- the model file, and copies ----------------------------------------------------------

    def tensors(self) -> dict[str, np.ndarray]:
        """Return the arrays as a model file holds them; truth values are bytes of 0 and 1."""
        return {
            name: array.astype(np.uint8) if array.dtype == bool else np.ascontiguousarray(array)
            for name, array in self.items()
        }

    def read(self, tensors: dict[str, np.ndarray], n_features: int, n_categories: int) -> None:
        """Take the arrays over from a model file, or say what is wrong with them."""
        arrays: dict[str, np.ndarray] = {}
        for name, (axes, dtype, _) in self.layout.items():
            stored = np.uint8 if dtype is bool else dtype
            shape = _shape(axes, n_features, n_categories)
            high = 1.0 if dtype is bool else None
            tensor = require_tensor(tensors, name, stored, shape, high=high, finite=True)
            arrays[name] = np.array(tensor, dtype, order="C")
        self.whole, self.n_features, self.n_categories = arrays, n_features, n_categories

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"whole": {name: array.copy() for name, array in self.items()}}


class TableLearner(GrowingLearner):
    """A learner whose knowledge is tables, made in `start`, and a few figures."""

    _figures: ClassVar[tuple[str, ...]] = ()  # the attributes that learning changes besides

    def _begin(self, layout: dict[str, Table], n_features: int, n_categories: int) -> None:
        """Make the tables, all of which hold their initial values."""
        self._tables: Tables = Tables(layout, n_features, n_categories)

    @property  # type: ignore[misc]
    def n_features(self) -> int:
        return self._tables.n_features

    @property  # type: ignore[misc]
    def n_categories(self) -> int:
        return self._tables.n_categories

    def _settle(self) -> None:
        """Compute anew what depends on everything, after any change."""

    def _merge_columns(self, source: int, target: int) -> None:
        """Put what the category `source` has learned into `target`."""
        super().merge_categories(source, target)

    def _touches_all(self) -> bool:
        """Tell whether learning may change the rows of features that the documents lack."""
        return False

    def grow(self, n_features: int, n_categories: int) -> Self:
        """Make room for new features and categories, which hold the initial values."""
        if n_features < self.n_features or n_categories < self.n_categories:
            raise ModelError(
                f"{type(self).__name__} has {self.n_features} features and "
                f"{self.n_categories} categories and cannot grow to {n_features} and "
                f"{n_categories}; use prune to remove features."
            )
        if (n_features, n_categories) != (self.n_features, self.n_categories):
            self._tables.grow(n_features, n_categories)
            self._settle()
        return self

    def prune(self, keep: np.ndarray) -> Self:
        """Remove the features where `keep` is false; the others are renumbered in order."""
        self._tables.prune(keep)
        self._settle()
        return self

    def drop_categories(self, keep: np.ndarray) -> Self:
        """Remove the categories where `keep` is false; the others are renumbered in order."""
        self._tables.drop(keep)
        self._settle()
        return self

    def merge_categories(self, source: int, target: int) -> Self:
        """Let the category `target` stand for `source` too, which is then removed."""
        numbers = range(self.n_categories)
        if source == target or source not in numbers or target not in numbers:
            raise ParameterError(
                f"merge_categories was given {source} and {target}; they must be two different "
                f"categories from 0 to {self.n_categories - 1}."
            )
        self._merge_columns(source, target)
        return self.drop_categories(np.arange(self.n_categories) != source)

    def checkpoint(self, columns: np.ndarray) -> Callable[[], None]:
        """Return a function that puts the learner back exactly as it is now.

        A learner that may touch the features of other documents too keeps a copy of everything:
        one that may discard features, and ROMMA.
        """
        put_back = self._tables.checkpoint(None if self._touches_all() else columns)
        figures = {name: copy(getattr(self, name)) for name in self._figures}

        def restore() -> None:
            put_back()
            self.__dict__ |= figures

        return restore

    def _open_second_column(self) -> None:
        self.grow(self.n_features, 2)
        self._tables.take_categories(np.array([1, 0]))


def _one_each(keep: np.ndarray, n: int, noun: str) -> np.ndarray:
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
    shape = list(wanted)
    for axis, (old, new) in enumerate(zip(used, wanted, strict=True)):
        if axes == CATEGORIES or axis == 1:
            room = old + old // 4 + 8
        else:
            room = old + old // 2
        shape[axis] = max(new, room if new > whole.shape[axis] else whole.shape[axis])
    larger = np.empty(shape, whole.dtype)
    n_rows = used[0]
    if axes == CATEGORIES:
        larger[n_rows:] = fill
    elif axes == BOTH:
        larger[:n_rows, whole.shape[1] :] = fill
    larger[tuple(map(slice, (n_rows, *whole.shape[1:])))] = whole[:n_rows]
    return larger
