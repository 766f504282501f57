"""Learners that can learn more documents at any time, and the arrays that they learn.

Row 0 of an array over features belongs to the always-on feature, row `f + 1` to feature `f`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from thresher.errors import ModelError, ParameterError, counted
from thresher.examples import Examples
from thresher.learners._targets import Targets
from thresher.learners.learner import Learner, Progress
from thresher.learners.scoring import (
    cache_aligned,
    check_labels,
    check_rows,
    checked_order,
    checked_sample_weight,
)
from thresher.limits import LARGEST_WEIGHT
from thresher.rows import Labels, Rows
from thresher.state import require_tensor

ROWS_MOVED_AT_ONCE = 4096

FEATURES, CATEGORIES, BOTH = "features", "categories", "both"


class Table(NamedTuple):
    """The description of one array: its axes, its type, its initial value and its bounds.

    Values outside `low` to `high` are refused, whether they were learned or read from a file.
    """

    axes: str
    dtype: type
    initial: float
    low: float = -LARGEST_WEIGHT
    high: float = LARGEST_WEIGHT


class Tables:
    """The named arrays of one learner, which grow and shrink together.

    Rows and columns are reserved ahead, so that the cost of a new word or category does not depend
    on how many there are. The spare cells of rows in use hold the initial value; a spare row is
    filled when it comes into use. `buffers` has the arrays with their spare cells, in C order, for
    the kernels.

    The buffers may be read-only, for example parts of a mapped file: `make_writable` replaces them
    by private copies before anything is changed.

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
        self.buffers: dict[str, np.ndarray] = {}
        self.n_features, self.n_categories = n_features, n_categories
        for name, table in layout.items():
            self.add(name, table)

    def __contains__(self, name: object) -> bool:
        return name in self.layout

    def __getitem__(self, name: str) -> np.ndarray:
        return self.buffers[name][tuple(map(slice, self._shape(name)))]

    def items(self) -> list[tuple[str, np.ndarray]]:
        """Return the names and the arrays, without their spare cells."""
        return [(name, self[name]) for name in self.layout]

    def add(self, name: str, table: Table) -> None:
        """Add an array whose cells all hold the initial value."""
        self.layout[name] = table
        self.buffers[name] = cache_aligned(self._shape(name), table.dtype, table.initial)

    def _shape(self, name: str, *sizes: int) -> tuple[int, ...]:
        n_features, columns = sizes or (self.n_features, self.n_categories)
        shapes = {FEATURES: (1 + n_features,), CATEGORIES: (columns,)}
        return shapes.get(self.layout[name].axes, (1 + n_features, columns))

    def make_writable(self) -> None:
        """Replace read-only buffers by private copies."""
        for name, buffer in self.buffers.items():
            if not buffer.flags.writeable:
                self.buffers[name] = buffer.copy()

    # ---- sizes -------------------------------------------------------------------------------

    def grow(self, n_features: int, n_categories: int) -> None:
        """Make room for more features and categories, which hold the initial values."""
        self.make_writable()
        for name, table in self.layout.items():
            old, new = self._shape(name), self._shape(name, n_features, n_categories)
            if old == new:
                continue
            buffer = self.buffers[name]
            if any(np.less(buffer.shape, new)):
                buffer = self.buffers[name] = _enlarged(buffer, old, new, table)
            if table.axes != CATEGORIES:
                buffer[old[0] : new[0]] = table.initial
        self.n_features, self.n_categories = n_features, n_categories

    def tighten(self) -> None:
        """Give up the spare cells of rows, in place: what is saved is then written without a copy.

        They are only needed by threads that learn from many documents.
        """
        for name, array in self.items():
            buffer = self.buffers[name]
            if array.ndim < 2 or buffer.shape[1] == array.shape[1]:
                continue
            (n, width), flat = array.shape, buffer.reshape(-1)
            for first in range(0, n, ROWS_MOVED_AT_ONCE):
                # A copy, because the rows move over each other.
                rows = array[first : first + ROWS_MOVED_AT_ONCE].ravel()
                flat[first * width : first * width + len(rows)] = rows
            self.buffers[name] = flat[: n * width].reshape(n, width)

    def prune(self, keep: np.ndarray) -> None:
        """Keep only the features where `keep` is true."""
        rows = np.append(True, checked_mask(keep, self.n_features, "feature"))
        self.buffers = {
            name: array.copy() if self.layout[name].axes == CATEGORIES else array[rows]
            for name, array in self.items()
        }
        self.n_features = int(np.count_nonzero(keep))

    def drop(self, keep: np.ndarray) -> None:
        """Keep only the categories where `keep` is true."""
        self.take_categories(np.flatnonzero(checked_mask(keep, self.n_categories, "category")))

    def take_categories(self, columns: np.ndarray) -> None:
        """Reorder the categories by their numbers, or keep only some of them."""
        self.buffers = {
            name: (array if self.layout[name].axes == FEATURES else array[..., columns]).copy()
            for name, array in self.items()
        }
        self.n_categories = len(columns)

    # ---- undoing, checking, saving -----------------------------------------------------------

    def checkpoint(self, columns: np.ndarray | None) -> Callable[[], None]:
        """Return a function that restores the present values, byte for byte.

        Until it is called, only the rows of these features, known yet or not, may change; None
        stands for all features.
        """
        layout, sizes = dict(self.layout), (self.n_features, self.n_categories)
        if columns is None:
            before = self.__getstate__() | {"layout": layout}
            return lambda: self.__dict__.update(before)
        columns = np.sort(columns)  # quicker than np.unique for so few
        is_last_of_equals = columns != np.append(columns[1:], -1)
        rows = np.append(0, 1 + columns[is_last_of_equals & (columns < self.n_features)])
        saved = {
            name: array.copy() if layout[name].axes == CATEGORIES else array[rows]
            for name, array in self.items()
        }

        def restore() -> None:
            for name, before in saved.items():
                buffer, table = self.buffers[name], layout[name]
                if not buffer.flags.writeable:  # never changed
                    continue
                if table.axes != FEATURES:  # categories are the last axis
                    buffer[..., sizes[1] : self.n_categories] = table.initial
                if table.axes == BOTH:
                    buffer[rows, : sizes[1]] = before
                else:
                    buffer[rows if table.axes == FEATURES else slice(sizes[1])] = before
            self.n_features, self.n_categories = sizes

        return restore

    def out_of_bounds(self, columns: np.ndarray | None = None) -> str | None:
        """Return a description of a value beyond its bounds, if any; None looks at all features."""
        for name, table in self.layout.items():
            array = self[name]
            if columns is not None and table.axes != CATEGORIES:
                array = array[np.append(0, 1 + columns)]
            if table.dtype is bool or not array.size:
                continue
            least, most = array.min(), array.max()
            if not (table.low <= least and most <= table.high):
                is_most = most > table.high or not table.low <= most
                return f"{name} of {most if is_most else least:g}"
        return None

    def tensors(self) -> dict[str, np.ndarray]:
        """Return the arrays as a model file holds them; booleans are bytes of 0 and 1."""
        return {
            name: array.astype(np.uint8) if array.dtype == bool else np.ascontiguousarray(array)
            for name, array in self.items()
        }

    def read(self, tensors: dict[str, np.ndarray], n_features: int, n_categories: int) -> None:
        """Take the arrays from a model file, or raise `ModelError`; read-only ones are shared."""
        for name, table in self.layout.items():
            is_bool = table.dtype is bool
            stored, low, high = (
                (np.uint8, 0, 1) if is_bool else (table.dtype, table.low, table.high)
            )
            shape = self._shape(name, n_features, n_categories)
            tensor = require_tensor(tensors, name, stored, shape, low=low, high=high, finite=True)
            self.buffers[name] = shared_if_read_only(tensor, table.dtype)
        self.n_features, self.n_categories = n_features, n_categories

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"buffers": {name: array.copy() for name, array in self.items()}}


def shared_if_read_only(array: np.ndarray, dtype: Any) -> np.ndarray:
    """Return the array itself if it is read-only and of this type, and a private copy otherwise."""
    is_shared = array.dtype == dtype and array.flags.c_contiguous and not array.flags.writeable
    return array if is_shared else np.array(array, dtype, order="C")


def checked_mask(keep: np.ndarray, n: int, noun: str) -> np.ndarray:
    """Return `keep` if it is one boolean per feature or category; raise `ModelError` otherwise."""
    keep = np.asarray(keep)
    if keep.dtype != bool or keep.shape != (n,):
        raise ModelError(
            f"One true or false is needed per {noun}, {n} in all; given was {keep.dtype} of shape "
            f"{keep.shape}."
        )
    return keep


def _enlarged(
    buffer: np.ndarray, old: tuple[int, ...], new: tuple[int, ...], table: Table
) -> np.ndarray:
    """Return a copy with more room than needed along each axis that is too small."""
    shape = list(buffer.shape)
    for axis, (n_old, n_new) in enumerate(zip(old, new, strict=True)):
        if n_new > buffer.shape[axis]:
            is_category_axis = table.axes == CATEGORIES or axis == 1
            spare = n_old // 4 + 8 if is_category_axis else n_old // 2
            shape[axis] = max(n_new, n_old + spare)
    larger = np.empty(shape, buffer.dtype)
    if table.axes == CATEGORIES:
        larger[:] = table.initial
    elif table.axes == BOTH:
        larger[: old[0], buffer.shape[1] :] = table.initial
    larger[tuple(map(slice, (old[0], *buffer.shape[1:])))] = buffer[: old[0]]
    return larger


class GrowingLearner(Learner):
    """A learner that can learn more documents, with new features and new categories.

    The learners of this package store what they learn in tables, created in `start`; a learner
    without tables provides `start`, `learn_rows`, `grow`, `prune` and `checkpoint` itself.
    """

    _tables = Tables({}, 0, 0)  # until `start`
    _counters: ClassVar[tuple[str, ...]] = ()  # attributes besides the tables that learning changes

    def start(self, n_features: int, n_categories: int, mean_active: float = 1.0) -> Self:
        """Forget everything and begin with `n_features` and `n_categories`.

        Parameters
        ----------
        n_features, n_categories : int
            Their numbers now; `grow` adds more.
        mean_active : float, default=1.0
            d, the mean number of features in a document, from which initial weights may be derived.
        """
        raise NotImplementedError

    def learn_rows(
        self,
        rows: Rows,
        labels: Labels,
        order: np.ndarray | None = None,
        n_jobs: int = 1,
        *,
        sample_weight: np.ndarray | None = None,
        ends_pass: bool = True,
    ) -> np.ndarray:
        """Learn from every document once.

        Parameters
        ----------
        rows, labels
            The strengths and the categories of each document.
        order : array of int, optional
            The order in which to visit the documents; by default as they are.
        n_jobs : int, default=1
            The number of threads that share the categories; the result is the same.
        sample_weight : array, optional
            How much each document counts; 1 by default.
        ends_pass : bool, default=True
            False if more documents of the same pass follow.

        Returns
        -------
        array of int
            Mistakes per category, for mistake-driven learners; zeros for others.
        """
        weights = self._checked(rows, labels, sample_weight)
        if order is not None:
            order = checked_order(order, rows.n_rows)
        self._tables.make_writable()
        mistakes = self._learn(rows, labels, order, weights, n_jobs)
        if ends_pass:
            self._end_pass()
        return mistakes

    def _checked(self, rows: Rows, labels: Labels, sample_weight: np.ndarray | None) -> np.ndarray:
        """Return the weights of documents that can be learned; raise an error otherwise."""
        self._check_can_learn()
        owner = type(self).__name__
        check_rows(rows, owner, self.n_features, self.non_negative)
        check_labels(rows, labels, owner, self.n_categories)
        return checked_sample_weight(sample_weight, rows.n_rows)

    def _checked_blocks(
        self, examples: Examples, stage: str, progress: Progress
    ) -> Iterator[tuple[Rows, Labels, np.ndarray]]:
        """Yield all documents once, in checked blocks with their weights."""
        n_done = 0
        for rows, labels in examples:
            yield rows, labels, self._checked(rows, labels, labels.weights)
            n_done += rows.n_rows
            if progress is not None:
                progress(stage, n_done, n_done / len(examples))

    # ---- what a subclass with tables provides ------------------------------------------------

    def _learn(
        self, rows: Rows, labels: Labels, order: np.ndarray | None, weights: np.ndarray, n_jobs: int
    ) -> np.ndarray:
        """Learn from checked documents, and return the mistakes per category."""
        raise NotImplementedError

    def _end_pass(self) -> None:
        """Do what is due at the end of a pass over all documents."""

    def _recompute(self) -> None:
        """Recompute what is derived from the tables, after any change."""

    def _merge_columns(self, source: int, target: int) -> None:
        """Add what was learned about the category `source` to `target`."""
        super().merge_categories(source, target)

    def _changes_all_rows(self) -> bool:
        """Return True if learning may change the rows of features that no document has."""
        return False

    # ---- sizes -------------------------------------------------------------------------------

    def _create_tables(self, layout: dict[str, Table], n_features: int, n_categories: int) -> None:
        self._tables = Tables(layout, n_features, n_categories)
        self._n_features, self._n_categories = n_features, n_categories

    def _read_tables(self, tensors: dict[str, np.ndarray], *sizes: int) -> Self:
        self._tables.read(tensors, *sizes)
        self._n_features, self._n_categories = sizes
        return self

    def _resized(self) -> Self:
        tables = self._tables
        self._n_features, self._n_categories = tables.n_features, tables.n_categories
        self._recompute()
        return self

    def grow(self, n_features: int, n_categories: int) -> Self:
        """Make room for new features and categories, which hold the initial values."""
        if n_features < self.n_features or n_categories < self.n_categories:
            raise ModelError(
                f"{type(self).__name__} has {counted(self.n_features, 'feature')} and "
                f"{counted(self.n_categories, 'category')} and cannot grow to {n_features} and "
                f"{n_categories}; use prune to remove features."
            )
        if (n_features, n_categories) != (self.n_features, self.n_categories):
            self._check_can_learn()
            self._enlarge(n_features, n_categories)
        return self

    def _enlarge(self, n_features: int, n_categories: int) -> None:
        self._tables.grow(n_features, n_categories)
        self._resized()

    def _check_can_learn(self) -> None:
        """Raise `ModelError` if what learning needs is left out."""

    def prune(self, keep: np.ndarray) -> Self:
        """Remove the features where `keep` is false; the others are renumbered in order."""
        self._tables.prune(keep)
        return self._resized()

    def drop_categories(self, keep: np.ndarray) -> Self:
        """Remove the categories where `keep` is false; the others are renumbered in order."""
        self._tables.drop(keep)
        return self._resized()

    def merge_categories(self, source: int, target: int) -> Self:
        """Merge the category `source` into `target`, and remove it."""
        self._check_can_learn()
        numbers = range(self.n_categories)
        if source == target or source not in numbers or target not in numbers:
            raise ParameterError(
                f"merge_categories was given {source} and {target}; they must be two different "
                f"categories from 0 to {self.n_categories - 1}."
            )
        self._tables.make_writable()
        self._merge_columns(source, target)
        return self.drop_categories(np.arange(self.n_categories) != source)

    def _prepare_merge(
        self, other: Self, features: np.ndarray | None, categories: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Make room for what `other` knows; return the numbers of its features and categories."""
        ignored = {"n_jobs": None}
        if type(other) is not type(self) or (
            self.get_params() | ignored != other.get_params() | ignored
        ):
            raise ParameterError(f"{other!r} cannot be merged into {self!r}; they must be alike.")
        numbers = []
        for given, n, noun in (
            (features, other.n_features, "features"),
            (categories, other.n_categories, "categories"),
        ):
            given = np.arange(n) if given is None else np.asarray(given)
            is_right = (
                given.shape == (n,) and given.dtype.kind in "iu" and given.min(initial=0) >= 0
            )
            if not is_right or len(np.unique(given)) != n:
                raise ParameterError(
                    f"The {noun} to merge into must be {n} different numbers, one for each of the "
                    "other learner."
                )
            numbers.append(given)
        n_features, n_categories = (1 + int(given.max(initial=-1)) for given in numbers)
        self.grow(max(self.n_features, n_features), max(self.n_categories, n_categories))
        self._tables.make_writable()
        return numbers[0], numbers[1]

    def check_bounds(self, columns: np.ndarray | None = None) -> None:
        """Raise `ParameterError` if scores would not be finite; None looks at all features."""
        if columns is not None:
            are_few = len(columns) < self.n_features and not self._changes_all_rows()
            columns = np.unique(columns) if are_few else None
        if problem := self._tables.out_of_bounds(columns):
            raise ParameterError(
                f"{type(self).__name__} has come to {problem}, with which scores are no numbers "
                "any more; take parameters by which documents move it less, or strengths that are "
                "normalised."
            )

    def checkpoint(self, columns: np.ndarray) -> Callable[[], None]:
        """Return a function that restores the learner exactly as it is now.

        It undoes a `grow` and a `learn_rows` of documents that use these features only, also one
        that was interrupted. Its cost depends on those features, not on how many there are; but a
        learner that may change the features of other documents keeps a copy of everything.

        Parameters
        ----------
        columns : array of int
            The features of the documents to come, among them those that `grow` is to add.
        """
        restore_tables = self._tables.checkpoint(None if self._changes_all_rows() else columns)
        names = ("_n_features", "_n_categories", *self._counters)
        counters = {name: copy(getattr(self, name)) for name in names}

        def restore() -> None:
            restore_tables()
            self.__dict__ |= counters

        return restore

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more documents, each once in the given order, without forgetting earlier ones.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array, optional
            All classes, if they are known before the first documents; without it, new classes
            may still appear later.
        """
        is_first = not self.__sklearn_is_fitted__()
        rows, answers, weights = self._read(X, y, sample_weight, reset=is_first)
        if is_first:
            self._targets = Targets.first(answers, classes)
            mean_active = len(rows.values) / max(rows.n_rows, 1)
            self.start(rows.n_columns, self._targets.n_columns, mean_active)
        else:
            was_single = self._targets.single_column
            self._targets = self._targets.extended(answers)
            if was_single and not self._targets.single_column:
                self._open_second_column()
            self.grow(self.n_features, self._targets.n_columns)
        self.classes_ = self._targets.classes
        labels = self._targets.encode(answers.values)
        self.learn_rows(rows, labels, None, self._n_jobs(), sample_weight=weights)
        return self

    def _open_second_column(self) -> None:
        """Add a category for `classes_[0]`: so far, the only one has stood for `classes_[1]`."""
        self.grow(self.n_features, 2)
        self._tables.take_categories(np.array([1, 0]))
