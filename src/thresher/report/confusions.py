"""Which category was given in the place of which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thresher.evaluation import Evaluation
from thresher.rows import Labels

__all__ = ["Confusions", "confusions"]

_BLOCK = 4_000_000  # pairs that are looked at together


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
        return _pairs(np.flatnonzero(both)[:most], self.missed, self.given, self.documents)

    def given_for(self, category: int) -> list[tuple[int, int]]:
        """Return (given, documents) where `category` was missed, the most frequent first."""
        return _pairs(self.missed == category, self.given, self.documents)

    def missed_for(self, category: int) -> list[tuple[int, int]]:
        """Return (missed, documents) where `category` was wrongly given."""
        return _pairs(self.given == category, self.missed, self.documents)

    def most_confused(self, most: int) -> list[int]:
        """Return the categories that take part in the most confusions of two, at most `most`."""
        total = np.zeros(self.n_categories, np.int64)
        for missed, given, documents in self.pairs():
            total[[missed, given]] += documents
        return [int(c) for c in np.argsort(-total, kind="stable")[:most] if total[c]]


def _pairs(which: np.ndarray, *columns: np.ndarray) -> list[Any]:
    return list(zip(*(column[which].tolist() for column in columns), strict=True))


def confusions(evaluation: Evaluation) -> Confusions:
    """Count the confusions in the decisions that an evaluation was made from."""
    n = len(evaluation.categories)
    positives, decisions, width = evaluation.positives, evaluation.decisions, n + 1
    if positives is None or decisions is None:
        nothing = np.empty(0, np.int64)
        return Confusions(nothing, nothing, nothing, n)
    rows, columns = np.nonzero(decisions)
    belonging, given = positives.rows * width + positives.columns, rows * width + columns
    missed = _or_nothing(np.setdiff1d(belonging, given), positives.n_documents, width)
    wrong = _or_nothing(np.setdiff1d(given, belonging), positives.n_documents, width)
    pairs, documents = _count_pairs(missed, wrong, positives.n_documents, width)
    order = np.lexsort((pairs, -documents))
    order = order[pairs[order] != n * width + n]  # documents that are all right
    missed, wrong = np.divmod(pairs[order], width)
    return Confusions(missed, wrong, documents[order], n)


def _or_nothing(marks: np.ndarray, n_documents: int, width: int) -> np.ndarray:
    """Mark the last column of the documents without a mark, which is row * width + column."""
    empty = np.setdiff1d(np.arange(n_documents), marks // width)
    return np.sort(np.append(marks, empty * width + width - 1))


def _count_pairs(
    missed: np.ndarray, wrong: np.ndarray, n_documents: int, width: int
) -> tuple[np.ndarray, np.ndarray]:
    """Pair each missed category with each wrong one of its document; count missed * width + wrong.

    As many missed ones are looked at together as surely make no more pairs than fit into a block.
    """
    indptr = np.searchsorted(wrong, np.arange(n_documents + 1) * width)
    wrong_of = Labels(indptr, wrong % width, width)
    step = max(1, _BLOCK // int(np.diff(indptr).max(initial=1)))
    counted = []
    for start in range(0, len(missed), step):
        rows, columns = np.divmod(missed[start : start + step], width)
        theirs = wrong_of.take(rows)
        pairs = np.repeat(columns, np.diff(theirs.indptr)) * width + theirs.indices
        counted.append(np.unique(pairs, return_counts=True))
    if not counted:
        return missed, missed
    every, times = (np.concatenate(parts) for parts in zip(*counted, strict=True))
    pairs, which = np.unique(every, return_inverse=True)
    return pairs, np.bincount(which, times).astype(np.int64)
