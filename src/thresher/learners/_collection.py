"""Stored training documents, with an inverted index of all but the latest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thresher.errors import ModelError
from thresher.learners.growing import shared_if_read_only
from thresher.limits import LARGEST_SAMPLE_WEIGHT
from thresher.rows import Labels, Rows
from thresher.state import require_tensor

# The index is rebuilt when the documents outside it are more than this, and more than one of so
# many inside it.
MAX_UNINDEXED, INDEXED_PER_UNINDEXED = 256, 8
STORED = {
    "indptr": np.int64, "columns": np.int32, "values": np.float32,
    "label_indptr": np.int64, "labels": np.int32, "weights": np.float64,
}  # fmt: skip
DOCUMENTS_PER_FREQUENT = 6  # a word in more than one of so many documents is frequent


class GrowingArray:
    """An array that grows at its end, with room reserved ahead."""

    def __init__(self, values: np.ndarray | list[int], dtype: Any) -> None:
        self._buffer = shared_if_read_only(np.asarray(values), dtype)
        self.size = len(self._buffer)

    @property
    def array(self) -> np.ndarray:
        return self._buffer[: self.size]

    def extend(self, values: np.ndarray) -> None:
        end = self.size + len(values)
        if end > len(self._buffer) or not self._buffer.flags.writeable:
            larger = np.empty(end + end // 2, self._buffer.dtype)
            larger[: self.size] = self.array
            self._buffer = larger
        self._buffer[self.size : end] = values
        self.size = end

    def __getstate__(self) -> dict[str, Any]:
        return {"_buffer": self.array.copy(), "size": self.size}


class Collection:
    """Documents with their labels and weights; those of weight 0 are left out.

    The columns of a document ascend, as do its labels. The cost of adding a document depends on
    its words only: the latest documents are not in the index, which is rebuilt when they are many.

    Examples
    --------
    >>> rows = Rows(np.array([0, 2]), np.array([4, 1], np.int32), np.ones(2, np.float32), 5)
    >>> collection = Collection()
    >>> collection.append(rows, Labels.from_lists([[0]], 1), np.ones(1))
    >>> collection["columns"].tolist(), collection.n_documents, collection.n_indexed
    ([1, 4], 1, 0)
    """

    def __init__(self) -> None:
        self._arrays = {
            name: GrowingArray([0] if name.endswith("indptr") else [], dtype)
            for name, dtype in (STORED | {"squares": np.float64}).items()
        }
        self.index_all(self["values"], 0)

    def __getitem__(self, name: str) -> np.ndarray:
        return self._arrays[name].array

    @property
    def n_documents(self) -> int:
        return self._arrays["weights"].size

    def append(self, rows: Rows, labels: Labels, weights: np.ndarray) -> None:
        """Add checked documents."""
        if not weights.all():
            counted = np.flatnonzero(weights)
            rows, labels, weights = rows.take(counted), labels.take(counted), weights[counted]
        rows = ordered(rows)
        starts, categories = _unique_labels(labels)
        self._arrays["indptr"].extend(rows.indptr[1:] + self["indptr"][-1])
        self._arrays["columns"].extend(rows.indices)
        self._arrays["values"].extend(rows.values)
        self._arrays["label_indptr"].extend(starts[1:] + self["label_indptr"][-1])
        self._arrays["labels"].extend(categories)
        self._arrays["weights"].extend(weights)
        self._arrays["squares"].extend(squares_of(rows))

    def rows(self, n_columns: int) -> Rows:
        """Return all documents."""
        return Rows(self["indptr"], self["columns"], self["values"], n_columns)

    def all_labels(self, n_categories: int) -> Labels:
        """Return the labels of all documents."""
        return Labels(self["label_indptr"], self["labels"], n_categories)

    def replaced(self, rows: Rows, labels: Labels) -> Collection:
        """Return the same documents with other rows and labels."""
        other = Collection()
        other.append(rows, labels, self["weights"])
        return other

    # ---- the index ---------------------------------------------------------------------------

    def index_if_due(self, n_columns: int) -> None:
        """Rebuild the index if the documents outside it have become many."""
        n_allowed = max(MAX_UNINDEXED, self.n_indexed // INDEXED_PER_UNINDEXED)
        if self.n_documents - self.n_indexed > n_allowed:
            self.index_all(self["values"], n_columns)

    def index_all(self, values: np.ndarray, n_columns: int) -> None:
        """Build the index of all documents, with these values.

        `index` has the start of each column, its documents, and their values. `short` is for quick
        upper bounds of the cosine; all its documents have length 1. It has the values; the number
        of each frequent column, -1 for others; the start of the frequent columns of each document,
        their numbers and values; and their length.
        """
        from thresher._kernels.rows import fill_columns

        columns, n = self["columns"].view(np.uint32), self.n_documents
        counts = np.bincount(self["columns"], minlength=n_columns)
        starts = np.append(0, np.cumsum(counts))
        documents, strengths = np.empty(len(columns), np.uint32), np.empty(len(columns), np.float32)
        positions = starts[:-1].copy()
        fill_columns(self["indptr"], columns, values, positions, documents, strengths)
        lengths = np.sqrt(self["squares"]).astype(np.float32)
        is_frequent = counts * DOCUMENTS_PER_FREQUENT > n
        ranks = np.where(is_frequent, np.cumsum(is_frequent) - 1, -1).astype(np.int32)
        frequent = self.rows(n_columns).keep(is_frequent)
        units = frequent.values / np.repeat(lengths, np.diff(frequent.indptr))
        frequent = frequent._replace(values=units)
        reach = np.sqrt(squares_of(frequent)).astype(np.float32)
        self.index, self.n_indexed = (starts, documents, strengths), n
        self.short = (
            strengths / lengths[documents],
            ranks,
            frequent.indptr,
            frequent.indices.view(np.uint32),
            units,
            reach,
        )

    # ---- undoing, saving ---------------------------------------------------------------------

    def checkpoint(self) -> Callable[[], None]:
        """Return a function that removes the documents added from now on."""
        sizes = {name: array.size for name, array in self._arrays.items()}
        indexed = self.index, self.short, self.n_indexed

        def restore() -> None:
            for name, size in sizes.items():
                self._arrays[name].size = size
            self.index, self.short, self.n_indexed = indexed

        return restore

    def tensors(self) -> dict[str, np.ndarray]:
        """Return the arrays as a model file holds them."""
        return {name: self[name].copy() for name in STORED}

    @classmethod
    def read(cls, tensors: dict[str, np.ndarray], n_columns: int, n_categories: int) -> Collection:
        """Return a collection from what `tensors` returned, or raise `ModelError`."""
        collection = cls()
        bounds: dict[str, dict[str, Any]] = {
            "columns": {"low": 0, "high": n_columns - 1},
            "labels": {"low": 0, "high": n_categories - 1},
            "values": {"finite": True},
            "weights": {"low": 0, "high": LARGEST_SAMPLE_WEIGHT},
        }
        for name, dtype in STORED.items():
            array = require_tensor(tensors, name, dtype, (None,), **bounds.get(name, {}))
            collection._arrays[name] = GrowingArray(array, dtype)
        n = len(collection["weights"])
        for name, entries in (("indptr", "columns"), ("label_indptr", "labels")):
            _check_ends(name, collection[name], n, collection[entries])
        values = collection["values"]
        if len(values) != len(collection["columns"]) or not values.all():
            raise ModelError("The documents of the model have not a value for each column.")
        if n and not collection["weights"].min() > 0:
            raise ModelError("The documents of the model have weights that are not above zero.")
        collection._arrays["squares"] = GrowingArray(
            squares_of(collection.rows(n_columns)), np.float64
        )
        return collection


def _check_ends(name: str, ends: np.ndarray, n: int, columns: np.ndarray) -> None:
    """Raise `ModelError` unless the ends of documents rise and their columns ascend."""
    if len(ends) != n + 1 or ends[0] != 0 or ends[-1] != len(columns) or (np.diff(ends) < 0).any():
        raise ModelError(
            f"The model's tensor {name!r} must rise from 0 to {len(columns)} in {n} steps, one for "
            "each document."
        )
    falls = np.diff(columns) <= 0
    inner = ends[(ends > 0) & (ends < len(columns))]
    falls[inner - 1] = False  # between documents
    if falls.any():
        raise ModelError(f"The model's documents do not ascend: see its tensor {name!r}.")


def ordered(rows: Rows) -> Rows:
    """Return documents with ascending columns and without zeros."""
    order = _order(rows.indptr, rows.indices)
    rows = rows._replace(indices=rows.indices[order], values=rows.values[order])
    is_set = rows.values != 0
    return rows if is_set.all() else rows.only(is_set)


def squares_of(rows: Rows) -> np.ndarray:
    """Return the sum of the squares of each document's values."""
    from thresher._kernels.neighbors import add_squares

    squares = np.empty(rows.n_rows)
    add_squares(rows.indptr, rows.values, squares)
    return squares


def _unique_labels(labels: Labels) -> tuple[np.ndarray, np.ndarray]:
    """Return the starts and the categories of labels, ascending and without repetitions."""
    categories = labels.indices[_order(labels.indptr, labels.indices)]
    documents = np.repeat(np.arange(labels.n_rows), np.diff(labels.indptr))
    is_new = np.ones(len(categories), bool)
    is_new[1:] = (np.diff(categories) != 0) | (np.diff(documents) != 0)
    return np.append(0, np.cumsum(is_new))[labels.indptr], categories[is_new]


def _order(indptr: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the order of entries in which the columns of each document ascend."""
    documents = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    width = int(columns.max(initial=0)) + 1
    return np.argsort(documents * width + columns, kind="stable")
