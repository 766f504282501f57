"""Rankings by score: where they may be cut. Thresholds are learned, and measures taken, there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from thresher.errors import ParameterError, counted
from thresher.rows import Labels

__all__ = ["CutPoints", "Positives", "Tie", "midpoint", "rankings"]

_BLOCK = 16  # columns sorted at a time: a cache line of float32


class CutPoints(NamedTuple):
    """Where a ranking may be cut: below each score that a document of the category has.

    Most measures of a ranking follow from these few, and finding them takes one sort.
    """

    n_documents: int
    n_positives: int
    scores: np.ndarray  # of the documents that belong, each once, falling
    taken: np.ndarray  # documents with this score or a higher one
    hits: np.ndarray  # those of them that belong

    @classmethod
    def of(cls, ranked: np.ndarray, own: np.ndarray) -> CutPoints:
        """Find them, given the scores of all documents, rising, and of those that belong.

        Examples
        --------
        >>> cuts = CutPoints.of(np.array([1, 2, 3, 4]), np.array([2, 4]))
        >>> cuts.hits.tolist(), cuts.taken.tolist(), cuts.average_precision
        ([1, 2], [1, 3], 0.83)
        """
        scores, times = np.unique(own, return_counts=True)
        taken = len(ranked) - np.searchsorted(ranked, scores)
        return cls(len(ranked), len(own), scores[::-1], taken[::-1], np.cumsum(times[::-1]))

    @property
    def f1(self) -> np.ndarray:
        """F1 at each cut point."""
        return np.asarray(2 * self.hits / (self.taken + self.n_positives))

    @property
    def maximal_f1(self) -> float:
        """F1 at the best cut point."""
        return float(self.f1.max())

    @property
    def errors(self) -> np.ndarray:
        """Number of wrong decisions at each cut point."""
        return np.asarray(self.taken + self.n_positives - 2 * self.hits)

    @property
    def average_precision(self) -> float:
        """Mean, over the documents that belong, of the precision where each is found."""
        return float(self._new_hits @ (self.hits / self.taken)) / self.n_positives

    @property
    def rank_loss(self) -> float:
        """Share of the pairs in which one that does not belong scores as high as one that does."""
        pairs = self.n_positives * (self.n_documents - self.n_positives)
        misplaced = int(self._new_hits @ (self.taken - self.hits))
        return misplaced / pairs if pairs else float("nan")

    @property
    def _new_hits(self) -> np.ndarray:
        """Number of the documents that belong with the score of each cut point."""
        return np.diff(self.hits, prepend=0)


class Tie(NamedTuple):
    """The tied documents among which the k-th of a ranking stands, k being how many belong."""

    k: int
    above: int  # documents with a higher score
    through: int  # documents with this score or a higher one
    hits_above: int
    hits_through: int

    @classmethod
    def at(cls, score: Any, scores: np.ndarray, own: np.ndarray, k: int) -> Tie:
        """Count around the k-th highest `score`; `own` are the scores of those that belong."""
        around = (scores > score, scores >= score, own > score, own >= score)
        return cls(k, *(int(np.count_nonzero(which)) for which in around))

    @property
    def break_even(self) -> float:
        """Precision, and so recall, of the first k documents."""
        others = (self.through - self.above) - (self.hits_through - self.hits_above)
        return (self.hits_above + max(0, self.k - self.above - others)) / self.k

    @property
    def break_even_interpolated(self) -> float:
        """Where precision and recall meet on the line between the cut points around the k-th."""
        precision, recall = self.hits_through / self.through, self.hits_through / self.k
        recall_above = self.hits_above / self.k
        precision_above = self.hits_above / self.above if self.above else precision
        lead, lag = precision_above - recall_above, recall - precision
        share = lead / (lead + lag) if lag else 1.0
        return recall_above + share * (recall - recall_above)


class Positives(NamedTuple):
    """The documents that belong to each category, category after category."""

    n_documents: int
    starts: np.ndarray  # one more than there are categories
    rows: np.ndarray

    @classmethod
    def of(cls, labels: Labels | np.ndarray) -> Positives:
        """Bring labels into this order, having checked them."""
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
        places = np.sort(columns * n_documents + rows)
        places = places[np.diff(places, prepend=-1) > 0]  # a label given twice counts once
        columns, rows = np.divmod(places, max(n_documents, 1))
        return cls(n_documents, np.searchsorted(columns, np.arange(n_categories + 1)), rows)

    @property
    def counts(self) -> np.ndarray:
        """Number of documents that belong to each category."""
        return np.diff(self.starts)

    @property
    def columns(self) -> np.ndarray:
        """The category of each of `rows`."""
        return np.repeat(np.arange(len(self.starts) - 1), self.counts)

    def within(self, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
        """Return rows and columns of the positives of the first `n_columns` categories."""
        end = self.starts[min(n_columns, len(self.starts) - 1)]
        return self.rows[:end], self.columns[:end]

    def mask(self, n_columns: int) -> np.ndarray:
        """Return which documents belong to which of the first `n_columns` categories."""
        belongs = np.zeros((self.n_documents, n_columns), bool)
        belongs[self.within(n_columns)] = True
        return belongs

    def check(self, matrix: np.ndarray, name: str) -> np.ndarray:
        """Return `matrix` as an array once it is seen to fit these documents and categories."""
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
    """Yield each category with positives, all its scores, rising, and those of its positives."""
    for first in range(0, scores.shape[1], _BLOCK):
        ranked = np.sort(scores[:, first : first + _BLOCK].T, axis=1)
        for category, column in enumerate(ranked, first):
            begin, end = positives.starts[category : category + 2]
            if end > begin:
                yield category, column, scores[positives.rows[begin:end], category]


def midpoint(ranked: np.ndarray, taken: int) -> float:
    """Return the threshold half way between the `taken` highest scores and the rest."""
    if taken in (0, len(ranked)):
        return -np.inf if taken else np.inf
    low, high = float(ranked[-taken - 1]), float(ranked[-taken])
    middle = low + (high - low) / 2
    return middle if middle < high else low  # neighbours among the floating-point numbers
