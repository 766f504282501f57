"""Which category was given in the place of which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thresher.evaluation import Evaluation

__all__ = ["Confusions", "confusions"]


@dataclass(frozen=True)
class Confusions:
    """How often one category was missed and another one wrongly given to the same document.

    The row and the column after the last category stand for nothing: a category was missed and
    none was wrongly given, or one was given and none was missed. Where each document has one
    category and gets one, this is the confusion matrix without its diagonal.
    """

    missed: np.ndarray  # numbers of the missed categories, the most frequent pairs first
    given: np.ndarray
    documents: np.ndarray
    n_categories: int

    def pairs(self, most: int | None = None) -> list[tuple[int, int, int]]:
        """Return (missed, given, documents) of two categories, the most frequent first."""
        both = (self.missed < self.n_categories) & (self.given < self.n_categories)
        chosen = np.flatnonzero(both)[:most]
        columns = (self.missed[chosen], self.given[chosen], self.documents[chosen])
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def given_for(self, category: int) -> list[tuple[int, int]]:
        """Return (given, documents) where `category` was missed, the most frequent first."""
        its = self.missed == category
        return list(zip(self.given[its].tolist(), self.documents[its].tolist(), strict=True))

    def missed_for(self, category: int) -> list[tuple[int, int]]:
        """Return (missed, documents) where `category` was wrongly given."""
        its = self.given == category
        return list(zip(self.missed[its].tolist(), self.documents[its].tolist(), strict=True))

    def most_confused(self, most: int) -> list[int]:
        """Return the categories that take part in the most confusions of two, at most `most`."""
        total = np.zeros(self.n_categories, np.int64)
        for missed, given, documents in self.pairs():
            total[[missed, given]] += documents
        order = np.argsort(-total, kind="stable")[:most]
        return [int(c) for c in order if total[c]]


def confusions(evaluation: Evaluation) -> Confusions:
    """Count the confusions in decisions that were evaluated.

    Parameters
    ----------
    evaluation : Evaluation
        With the decisions it was made from.

    Examples
    --------
    >>> from thresher.evaluation import evaluate
    >>> truth = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0]])
    >>> given = np.array([[0, 1, 0], [0, 1, 1], [0, 1, 0]])
    >>> confusions(evaluate(None, truth, decisions=given)).pairs()
    [(0, 1, 2), (0, 2, 1)]
    """
    from scipy.sparse import csr_array

    n = len(evaluation.categories)
    nothing = np.empty(0, np.int64)
    if evaluation.positives is None or evaluation.decisions is None:
        return Confusions(nothing, nothing, nothing, n)
    decided, positives = evaluation.decisions, evaluation.positives
    belongs = csr_array(
        (np.ones(len(positives.rows), np.int32), (positives.rows, positives.columns)),
        shape=(positives.n_documents, n + 1),
    )
    rows, columns = np.nonzero(decided)
    given = csr_array((np.ones(len(rows), np.int32), (rows, columns)), shape=belongs.shape)
    hits = belongs.multiply(given)
    counts = (_or_nothing(belongs - hits).T @ _or_nothing(given - hits)).tocoo()
    some = (counts.data > 0) & ~((counts.row == n) & (counts.col == n))
    missed, instead, documents = counts.row[some], counts.col[some], counts.data[some]
    order = np.lexsort((instead, missed, -documents))
    return Confusions(missed[order], instead[order], documents[order], n)


def _or_nothing(marks: Any) -> Any:
    """Mark the last column of the documents that have no other mark."""
    from scipy.sparse import csr_array

    empty = np.flatnonzero(marks.sum(axis=1) == 0)
    last = np.full(len(empty), marks.shape[1] - 1)
    return marks + csr_array((np.ones(len(empty), np.int32), (empty, last)), shape=marks.shape)
