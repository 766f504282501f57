"""Sparse rows and sparse labels: the two shapes in which documents travel between the stations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thresher.errors import missing_extra

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["Labels", "Rows"]

AT_ONCE = 1 << 17  # entries that are worked on together: what that takes beside them stays small


class Rows(NamedTuple):
    """Documents as compressed sparse rows: counts after `text`, strengths after `features`.

    A column stands at most once in a row; columns within a row are in any order.

    Attributes
    ----------
    indptr : array of int64
        Where each document starts and ends; one more than there are documents.
    indices, values : array of int32, array of float32
        Columns, and what stands in them.
    n_columns : int
        How many columns there are.
    lengths : array of int64 or None
        How many tokens each document has, those without a column included, where that is known.

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
        """Return the rows of `order`, in that order."""
        indptr, indices, values = _gather(self.indptr, order, self.indices, self.values)
        lengths = None if self.lengths is None else self.lengths[order]
        return Rows(indptr, indices, values, self.n_columns, lengths)

    def keep(self, keep: np.ndarray, renumber: bool = True) -> Rows:
        """Return the rows with only some of the columns, renumbered in order or not."""
        width = int(np.count_nonzero(keep)) if renumber else self.n_columns
        new = np.cumsum(keep) - 1 if renumber else np.arange(len(keep))
        return self.renumbered(np.where(keep, new, -1).astype(np.int32), width)

    def renumbered(self, numbers: np.ndarray, n_columns: int) -> Rows:
        """Return the rows in other columns: `numbers[column]`, or left out where that is -1."""
        indices, values = np.empty(len(self.indices), np.int32), np.empty_like(self.values)
        ends, n = [np.zeros(1, np.int64)], 0
        for _, part in self.pieces():
            columns = numbers[part.indices]
            inside = columns >= 0
            ends.append(n + np.append(0, np.cumsum(inside))[part.indptr[1:]])
            here = slice(n, n := int(ends[-1][-1]))
            indices[here], values[here] = columns[inside], part.values[inside]
        for array in (indices, values):
            array.resize(n, refcheck=False)  # gives back what is not used, in place
        return Rows(np.concatenate(ends), indices, values, n_columns, self.lengths)

    def pieces(self) -> Iterator[tuple[slice, Rows]]:
        """Yield some rows at a time, and where their entries stand among all.

        Examples
        --------
        >>> rows = Rows(np.array([0, 2, 3]), np.array([0, 2, 1], np.int32), np.ones(3), 3)
        >>> [(entries, part.n_rows) for entries, part in rows.pieces()]
        [(slice(0, 3, None), 2)]
        """
        for some, entries in _pieces(self.indptr):
            indptr = self.indptr[some.start : some.stop + 1] - entries.start
            lengths = None if self.lengths is None else self.lengths[some]
            columns, values = self.indices[entries], self.values[entries]
            yield entries, Rows(indptr, columns, values, self.n_columns, lengths)

    @staticmethod
    def concatenate(parts: Sequence[Rows]) -> Rows:
        """Stack rows; the widest part gives the number of columns."""
        indptr, indices, values, widths, lengths = zip(*parts, strict=True)
        stacked = (_stack_indptr(indptr), np.concatenate(indices), np.concatenate(values))
        return Rows(*stacked, max(widths), joined(lengths))

    @staticmethod
    def from_scipy(matrix: Any) -> Rows:
        """Return a csr matrix as rows; what has the right type already is shared."""
        indptr = matrix.indptr.astype(np.int64, copy=False)
        indices = matrix.indices.astype(np.int32, copy=False)
        return Rows(indptr, indices, matrix.data, matrix.shape[1])

    def to_scipy(self) -> csr_array:
        """Return the rows as a scipy array, which must be installed."""
        try:
            from scipy.sparse import csr_array
        except ImportError:
            raise missing_extra("scipy", "scikit-learn", "Matrices of scipy") from None
        shape = (self.n_rows, self.n_columns)
        narrow = self.indptr[-1] < 2**31  # many solvers take only int32, and scipy mixes nothing
        indptr = self.indptr.astype(np.int32 if narrow else np.int64)
        matrix = csr_array((self.values, self.indices, indptr), shape=shape, copy=True)
        matrix.sort_indices()
        return matrix


class Labels(NamedTuple):
    """Which categories each document carries, as compressed sparse rows of category numbers.

    Attributes
    ----------
    indptr, indices, n_categories
        As for `Rows`, with category numbers for columns.
    weights : array of float64 or None
        How much each document counts; None where each counts once.
    known : array of bool (documents, categories) or None
        Which categories an answer is about: of the others it is not known whether the document
        belongs. None where all answers are about all categories.

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
        weights, known = (one if one is None else one[order] for one in self[3:])
        return Labels(indptr, indices, self.n_categories, weights, known)

    @staticmethod
    def concatenate(parts: Sequence[Labels]) -> Labels:
        """Stack labels; the part with the most categories gives their number."""
        indptr, indices, widths, weights, known = zip(*parts, strict=True)
        stacked = (_stack_indptr(indptr), np.concatenate(indices))
        if any(one is not None for one in known):
            known = [part.known_of(max(widths)) for part in parts]
        return Labels(*stacked, max(widths), joined(weights), joined(known))

    def known_of(self, n_categories: int) -> np.ndarray:
        """Return which of so many categories, maybe more than there were, the answers are about.

        An answer about everything knew of no category that came later; what it was about, it denies
        to belong to them all the same.
        """
        known = np.ones((self.n_rows, n_categories), bool)
        if self.known is not None:
            known[:, : self.known.shape[1]] = self.known
            known[:, self.known.shape[1] :] = False
        return known

    def about(self, categories: Sequence[int]) -> Labels:
        """Return what the answers say of some categories, as if they were about no others.

        Examples
        --------
        >>> Labels.from_lists([[0, 2], [1]], 3).about([2])[1:3]
        (array([2], dtype=int32), 3)
        """
        inside = np.zeros(self.n_categories, bool)
        inside[list(categories)] = True
        kept = inside[self.indices]
        indptr = np.append(0, np.cumsum(kept))[self.indptr]
        known = self.known_of(self.n_categories) & inside
        return self._replace(indptr=indptr, indices=self.indices[kept], known=known)

    @staticmethod
    def from_lists(lists: Sequence[Sequence[int]], n_categories: int) -> Labels:
        """Build from one list of category numbers per document."""
        indptr = _ends([len(one) for one in lists])
        indices = np.fromiter((c for one in lists for c in one), np.int32, int(indptr[-1]))
        return Labels(indptr, indices, n_categories)

    def to_dense(self) -> np.ndarray:
        """Return a boolean matrix, documents by categories."""
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
    """Yield some rows at a time, of up to `AT_ONCE` entries or one row, and their entries."""
    first = 0
    while first < len(indptr) - 1:
        last = int(np.searchsorted(indptr, indptr[first] + AT_ONCE, "right")) - 1
        last = max(first + 1, last)
        yield slice(first, last), slice(int(indptr[first]), int(indptr[last]))
        first = last


def _gather(indptr: np.ndarray, order: np.ndarray, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the indptr of the chosen rows, and their entries in each of the arrays."""
    starts, lengths = indptr[order], indptr[order + 1] - indptr[order]
    taken = _ends(lengths)
    gathered = tuple(np.empty(taken[-1], array.dtype) for array in arrays)
    for rows, entries in _pieces(taken):
        places = np.repeat(starts[rows] - taken[rows], lengths[rows])
        places += np.arange(entries.start, entries.stop)
        for array, chosen in zip(arrays, gathered, strict=True):
            chosen[entries] = array[places]
    return taken, *gathered


def _ends(lengths: Any) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def joined(parts: Sequence[np.ndarray | None]) -> np.ndarray | None:
    """Concatenate what is known of every part, or of none."""
    known = [part for part in parts if part is not None]
    return np.concatenate(known) if len(known) == len(parts) else None


def _stack_indptr(parts: Sequence[np.ndarray]) -> np.ndarray:
    ends = np.cumsum([0, *(part[-1] for part in parts)])
    shifted = [part[1:] + start for part, start in zip(parts, ends, strict=False)]
    return np.concatenate([np.zeros(1, np.int64), *shifted])
