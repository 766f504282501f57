"""Sparse rows and sparse labels: the form of documents between the steps of a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thresher.errors import missing_extra

if TYPE_CHECKING:
    from scipy.sparse import csr_array

ENTRIES_AT_ONCE = 1 << 17  # processed together, so that temporary arrays are small


class Rows(NamedTuple):
    """Documents as compressed sparse rows: counts after `text`, strengths after `features`.

    A column occurs at most once in a row; the columns of a row are in any order.

    Attributes
    ----------
    indptr : array of int64
        Document i has the entries `indptr[i] : indptr[i + 1]`.
    indices, values : array of int32, array of float32
        The column and the value of each entry.
    n_columns : int
        The number of columns.
    lengths : array of int64 or None
        The number of tokens of each document, including those without a column, if known.

    Examples
    --------
    >>> rows = Rows(np.array([0, 2, 3]), np.array([0, 2, 1], np.int32), np.ones(3, np.float32), 3)
    >>> rows.n_rows, rows.take(np.array([1])).indices.tolist()
    (2, [1])
    """

    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    n_columns: int
    lengths: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    def take(self, order: np.ndarray) -> Rows:
        """Return the rows with these numbers, in this order."""
        indptr, indices, values = _gather(self.indptr, order, self.indices, self.values)
        lengths = None if self.lengths is None else self.lengths[order]
        return Rows(indptr, indices, values, self.n_columns, lengths)

    def keep(self, keep: np.ndarray, renumber: bool = True) -> Rows:
        """Return the rows with only some of the columns, renumbered in order or not."""
        width = int(np.count_nonzero(keep)) if renumber else self.n_columns
        new = np.cumsum(keep) - 1 if renumber else np.arange(len(keep))
        return self.renumbered(np.where(keep, new, -1).astype(np.int32), width)

    def only(self, is_kept: np.ndarray) -> Rows:
        """Return the rows with only some of the entries.

        Examples
        --------
        >>> rows = Rows(np.array([0, 2, 3]), np.array([0, 2, 1], np.int32), np.ones(3), 3)
        >>> rows.only(np.array([False, True, True])).indptr.tolist()
        [0, 1, 2]
        """
        ends = np.append(0, np.cumsum(is_kept))[self.indptr]
        return self._replace(
            indptr=ends, indices=self.indices[is_kept], values=self.values[is_kept]
        )

    def renumbered(self, numbers: np.ndarray, n_columns: int) -> Rows:
        """Return the rows in other columns: `numbers[column]`, or left out where that is -1."""
        indices, values = np.empty(len(self.indices), np.int32), np.empty_like(self.values)
        ends, n = [np.zeros(1, np.int64)], 0
        for _, some in self.pieces():
            columns = numbers[some.indices]
            inside = columns >= 0
            ends.append(n + np.append(0, np.cumsum(inside))[some.indptr[1:]])
            entries = slice(n, n := int(ends[-1][-1]))
            indices[entries], values[entries] = columns[inside], some.values[inside]
        for array in (indices, values):
            array.resize(n, refcheck=False)  # frees unused memory in place
        return Rows(np.concatenate(ends), indices, values, n_columns, self.lengths)

    def pieces(self) -> Iterator[tuple[slice, Rows]]:
        """Yield some rows at a time, each time with the slice of their entries.

        Examples
        --------
        >>> rows = Rows(np.array([0, 2, 3]), np.array([0, 2, 1], np.int32), np.ones(3), 3)
        >>> [(entries, some.n_rows) for entries, some in rows.pieces()]
        [(slice(0, 3, None), 2)]
        """
        for some, entries in _pieces(self.indptr):
            indptr = self.indptr[some.start : some.stop + 1] - entries.start
            lengths = None if self.lengths is None else self.lengths[some]
            columns, values = self.indices[entries], self.values[entries]
            yield entries, Rows(indptr, columns, values, self.n_columns, lengths)

    @staticmethod
    def concatenate(blocks: Sequence[Rows]) -> Rows:
        """Stack rows; the number of columns is the largest."""
        indptr, indices, values, widths, lengths = zip(*blocks, strict=True)
        stacked = (_stack_indptr(indptr), np.concatenate(indices), np.concatenate(values))
        return Rows(*stacked, max(widths), joined(lengths))

    @staticmethod
    def from_scipy(matrix: Any) -> Rows:
        """Return a csr matrix as rows; arrays of the right type are shared."""
        indptr = matrix.indptr.astype(np.int64, copy=False)
        indices = matrix.indices.astype(np.int32, copy=False)
        return Rows(indptr, indices, matrix.data, matrix.shape[1])

    def to_scipy(self) -> csr_array:
        """Return the rows as a scipy array; scipy must be installed."""
        try:
            from scipy.sparse import csr_array
        except ImportError:
            raise missing_extra("scipy", "scikit-learn", "Matrices of scipy") from None
        shape = (self.n_rows, self.n_columns)
        narrow = self.indptr[-1] < 2**31  # many solvers need int32, and scipy needs equal types
        indptr = self.indptr.astype(np.int32 if narrow else np.int64)
        matrix = csr_array((self.values, self.indices, indptr), shape=shape, copy=True)
        matrix.sort_indices()
        return matrix


class Labels(NamedTuple):
    """The categories of documents, as compressed sparse rows of category numbers.

    Attributes
    ----------
    indptr, indices, n_categories
        As for `Rows`, with category numbers for columns.
    weights : array of float64 or None
        The weight of each document; None if all have weight one.
    known : array of bool (documents, categories) or None
        For which categories it is known whether the document belongs; None: for all.

    Examples
    --------
    >>> Labels.from_lists([[0, 2], []], 3).to_dense().astype(int)
    array([[1, 0, 1],
           [0, 0, 0]])
    """

    indptr: np.ndarray
    indices: np.ndarray
    n_categories: int
    weights: np.ndarray | None = None
    known: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    def take(self, order: np.ndarray) -> Labels:
        """Return the labels of the documents of `order`, in that order."""
        indptr, indices = _gather(self.indptr, order, self.indices)
        weights, known = (None if array is None else array[order] for array in self[3:])
        return Labels(indptr, indices, self.n_categories, weights, known)

    @staticmethod
    def concatenate(blocks: Sequence[Labels]) -> Labels:
        """Stack labels; the number of categories is the largest."""
        indptr, indices, widths, weights, known = zip(*blocks, strict=True)
        stacked = (_stack_indptr(indptr), np.concatenate(indices))
        if any(mask is not None for mask in known):
            known = [labels.known_of(max(widths)) for labels in blocks]
        return Labels(*stacked, max(widths), joined(weights), joined(known))

    def known_of(self, n_categories: int) -> np.ndarray:
        """Return `known` for `n_categories` categories, of which some may have been added since.

        If all were known, documents do not belong to the new ones; otherwise that is not known.
        """
        known = np.ones((self.n_rows, n_categories), bool)
        if self.known is not None:
            known[:, : self.known.shape[1]] = self.known
            known[:, self.known.shape[1] :] = False
        return known

    def about(self, categories: Sequence[int]) -> Labels:
        """Return the labels of some categories; of the others, nothing is known.

        Examples
        --------
        >>> Labels.from_lists([[0, 2], [1]], 3).about([2])[1:3]
        (array([2], dtype=int32), 3)
        """
        inside = np.zeros(self.n_categories, bool)
        inside[list(categories)] = True
        selected = inside[self.indices]
        indptr = np.append(0, np.cumsum(selected))[self.indptr]
        known = self.known_of(self.n_categories) & inside
        return self._replace(indptr=indptr, indices=self.indices[selected], known=known)

    @staticmethod
    def from_lists(lists: Sequence[Sequence[int]], n_categories: int) -> Labels:
        """Return labels, given a list of category numbers for each document."""
        indptr = _ends([len(numbers) for numbers in lists])
        indices = np.fromiter(chain.from_iterable(lists), np.int32, int(indptr[-1]))
        return Labels(indptr, indices, n_categories)

    def to_dense(self) -> np.ndarray:
        """Return the labels as a boolean matrix, documents by categories."""
        dense = np.zeros((self.n_rows, self.n_categories), bool)
        dense[np.repeat(np.arange(self.n_rows), np.diff(self.indptr)), self.indices] = True
        return dense


def extended(array: np.ndarray, size: int) -> np.ndarray:
    """Return an array of at least `size` rows to write to: this one, or a copy that ends in zeros.

    The copy has half as many rows again, so that growing row by row costs the same at any size.
    """
    if len(array) >= size and array.flags.writeable:
        return array
    longer = np.zeros((max(size, len(array) + len(array) // 2), *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


def _pieces(indptr: np.ndarray) -> Iterator[tuple[slice, slice]]:
    """Yield slices of rows with up to `ENTRIES_AT_ONCE` entries each, and of their entries."""
    first = 0
    while first < len(indptr) - 1:
        last = int(np.searchsorted(indptr, indptr[first] + ENTRIES_AT_ONCE, "right")) - 1
        last = max(first + 1, last)
        yield slice(first, last), slice(int(indptr[first]), int(indptr[last]))
        first = last


def _gather(indptr: np.ndarray, order: np.ndarray, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the indptr of the rows `order`, and their entries of each array."""
    starts, lengths = indptr[order], indptr[order + 1] - indptr[order]
    taken = _ends(lengths)
    gathered = tuple(np.empty(taken[-1], array.dtype) for array in arrays)
    for rows, entries in _pieces(taken):
        sources = np.repeat(starts[rows] - taken[rows], lengths[rows])
        sources += np.arange(entries.start, entries.stop)
        for array, chosen in zip(arrays, gathered, strict=True):
            chosen[entries] = array[sources]
    return taken, *gathered


def _ends(lengths: Any) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def joined(arrays: Sequence[np.ndarray | None]) -> np.ndarray | None:
    """Return the concatenated arrays, or None if any is None."""
    known = [array for array in arrays if array is not None]
    return np.concatenate(known) if len(known) == len(arrays) else None


def _stack_indptr(arrays: Sequence[np.ndarray]) -> np.ndarray:
    ends = np.cumsum([0, *(indptr[-1] for indptr in arrays)])
    shifted = [indptr[1:] + start for indptr, start in zip(arrays, ends, strict=False)]
    return np.concatenate([np.zeros(1, np.int64), *shifted])
