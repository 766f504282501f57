"""Rankings of documents by score, their cut points, and the measures computed from these."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from thresher.errors import ParameterError, counted
from thresher.rows import Labels

COLUMNS_PER_SORT = 16  # a cache line of float32


class CutPoints(NamedTuple):
    """The points at which a ranking may be cut: below each score of a positive document.

    Most measures of a ranking follow from them. They are found by one sort.
    """

    n_documents: int
    n_positives: int
    scores: np.ndarray  # the different scores of the positives, descending
    taken: np.ndarray  # the number of documents with this score or a higher one
    hits: np.ndarray  # the number of positives among them

    @classmethod
    def of(cls, ranked: np.ndarray, positive: np.ndarray) -> CutPoints:
        """Return the cut points, given the sorted scores of all documents and those of positives.

        Examples
        --------
        >>> cuts = CutPoints.of(np.array([1, 2, 3, 4]), np.array([2, 4]))
        >>> cuts.hits.tolist(), cuts.taken.tolist(), cuts.average_precision
        ([1, 2], [1, 3], 0.83)
        """
        scores, counts = np.unique(positive, return_counts=True)
        taken = len(ranked) - np.searchsorted(ranked, scores)
        return cls(len(ranked), len(positive), scores[::-1], taken[::-1], np.cumsum(counts[::-1]))

    @property
    def f1(self) -> np.ndarray:
        """The F1 at each cut point."""
        return np.asarray(2 * self.hits / (self.taken + self.n_positives))

    @property
    def maximal_f1(self) -> float:
        """The largest F1 at any cut point."""
        return float(self.f1.max())

    @property
    def errors(self) -> np.ndarray:
        """The number of wrong decisions at each cut point."""
        return np.asarray(self.taken + self.n_positives - 2 * self.hits)

    @property
    def average_precision(self) -> float:
        """The mean, over the positives, of the precision at their rank."""
        return float(self._new_hits @ (self.hits / self.taken)) / self.n_positives

    @property
    def rank_loss(self) -> float:
        """The share of pairs in which a negative scores at least as high as a positive."""
        pairs = self.n_positives * (self.n_documents - self.n_positives)
        misplaced = int(self._new_hits @ (self.taken - self.hits))
        return misplaced / pairs if pairs else float("nan")

    @property
    def _new_hits(self) -> np.ndarray:
        """The number of positives with the score of each cut point."""
        return np.diff(self.hits, prepend=0)


class Tie(NamedTuple):
    """The documents that have the same score as the k-th, where k is the number of positives."""

    k: int
    above: int  # the number of documents with a higher score
    through: int  # the number of documents with this score or a higher one
    hits_above: int  # the positives among them
    hits_through: int

    @classmethod
    def at(cls, score: Any, scores: np.ndarray, positive: np.ndarray, k: int) -> Tie:
        """Return the tie at the k-th highest `score`, given all scores and those of positives."""
        masks = (scores > score, scores >= score, positive > score, positive >= score)
        return cls(k, *(int(np.count_nonzero(mask)) for mask in masks))

    @property
    def break_even(self) -> float:
        """The precision, which is also the recall, of the first k documents."""
        negatives = (self.through - self.above) - (self.hits_through - self.hits_above)
        return (self.hits_above + max(0, self.k - self.above - negatives)) / self.k

    @property
    def break_even_interpolated(self) -> float:
        """The precision where it equals recall, interpolated between the nearest cut points."""
        precision, recall = self.hits_through / self.through, self.hits_through / self.k
        recall_above = self.hits_above / self.k
        precision_above = self.hits_above / self.above if self.above else precision
        lead, lag = precision_above - recall_above, recall - precision
        share = lead / (lead + lag) if lag else 1.0
        return recall_above + share * (recall - recall_above)


class Positives(NamedTuple):
    """The documents that belong to each category, category after category."""

    n_documents: int
    starts: np.ndarray  # where the documents of each category start, and the end of all
    rows: np.ndarray  # the numbers of the documents

    @classmethod
    def of(cls, labels: Labels | np.ndarray) -> Positives:
        """Return the positives of labels, which are checked."""
        if isinstance(labels, Labels):
            n_documents, n_categories = labels.n_rows, labels.n_categories
            rows = np.repeat(np.arange(n_documents), np.diff(labels.indptr))
            columns = labels.indices.astype(np.int64)
            if len(columns) and not 0 <= columns.min() <= columns.max() < n_categories:
                raise ParameterError(
                    f"A label lies outside the {counted(n_categories, 'category')}."
                )
        else:
            labels = np.asarray(labels)
            is_mask = labels.dtype == bool or np.array_equal(labels, labels != 0)
            if labels.ndim != 2 or not is_mask:
                raise ParameterError(
                    "Labels must be Labels or a matrix of 0 and 1, documents by categories; "
                    f"these are {labels.dtype} of shape {labels.shape}."
                )
            n_documents, n_categories = labels.shape
            rows, columns = np.nonzero(labels)
        codes = np.sort(columns * n_documents + rows)
        codes = codes[np.diff(codes, prepend=-1) > 0]  # a label given twice counts once
        columns, rows = np.divmod(codes, max(n_documents, 1))
        return cls(n_documents, np.searchsorted(columns, np.arange(n_categories + 1)), rows)

    @property
    def counts(self) -> np.ndarray:
        """The number of documents of each category."""
        return np.diff(self.starts)

    @property
    def columns(self) -> np.ndarray:
        """The category of each entry of `rows`."""
        return np.repeat(np.arange(len(self.starts) - 1), self.counts)

    def within(self, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
        """Return documents and categories of the positives of the first `n_columns` categories."""
        end = self.starts[min(n_columns, len(self.starts) - 1)]
        return self.rows[:end], self.columns[:end]

    def mask(self, n_columns: int) -> np.ndarray:
        """Return a boolean matrix of the positives of the first `n_columns` categories."""
        belongs = np.zeros((self.n_documents, n_columns), bool)
        belongs[self.within(n_columns)] = True
        return belongs

    def check(self, matrix: np.ndarray, name: str) -> np.ndarray:
        """Return `matrix` as an array, or raise `ParameterError` if shape or values are wrong."""
        matrix = np.asarray(matrix)
        n_categories = len(self.starts) - 1
        if matrix.ndim != 2 or len(matrix) != self.n_documents or matrix.shape[1] > n_categories:
            raise ParameterError(
                f"The {name} have the shape {matrix.shape}; the labels are of "
                f"{counted(self.n_documents, 'document')} and "
                f"{counted(n_categories, 'category')}."
            )
        if matrix.size and not (np.isfinite(matrix.min()) and np.isfinite(matrix.max())):
            row, column = np.argwhere(~np.isfinite(matrix))[0]
            raise ParameterError(
                f"The {name} hold {matrix[row, column]} for document {row} and category {column}; "
                "they must be finite."
            )
        return matrix


def rankings(scores: np.ndarray, positives: Positives) -> Iterator[tuple[int, Any, Any]]:
    """Yield each category with positives, its sorted scores, and the scores of its positives."""
    for first in range(0, scores.shape[1], COLUMNS_PER_SORT):
        ranked = np.sort(scores[:, first : first + COLUMNS_PER_SORT].T, axis=1)
        for category, column in enumerate(ranked, first):
            begin, end = positives.starts[category : category + 2]
            if end > begin:
                yield category, column, scores[positives.rows[begin:end], category]


def midpoint(ranked: np.ndarray, taken: int) -> float:
    """Return the threshold halfway between the `taken` highest scores and the others."""
    if taken in (0, len(ranked)):
        return -np.inf if taken else np.inf
    low, high = float(ranked[-taken - 1]), float(ranked[-taken])
    middle = low + (high - low) / 2
    return middle if middle < high else low  # if there is no number between them
