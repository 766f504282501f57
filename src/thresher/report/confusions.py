"""Confusions of categories: pairs of a missed and a wrongly assigned category."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thresher.evaluation import Evaluation
from thresher.rows import Labels

__all__ = ["Confusions", "confusions"]

PAIRS_PER_BLOCK = 4_000_000


@dataclass(frozen=True)
class Confusions:
    """Number of documents in which one category was missed and another wrongly assigned.

    The number after the last category stands for none: a category was missed and none wrongly
    assigned, or the other way round. If each document has one category and gets one, this is the
    confusion matrix without its diagonal.
    """

    missed: np.ndarray  # numbers of the missed categories, the most frequent pairs first
    given: np.ndarray
    documents: np.ndarray
    n_categories: int

    def pairs(self, most: int | None = None) -> list[tuple[int, int, int]]:
        """Return (missed, assigned, documents) of two categories, the most frequent first."""
        both = (self.missed < self.n_categories) & (self.given < self.n_categories)
        return _pairs(np.flatnonzero(both)[:most], self.missed, self.given, self.documents)

    def given_for(self, category: int) -> list[tuple[int, int]]:
        """Return (assigned, documents) where `category` was missed, the most frequent first."""
        return _pairs(self.missed == category, self.given, self.documents)

    def missed_for(self, category: int) -> list[tuple[int, int]]:
        """Return (missed, documents) where `category` was wrongly assigned."""
        return _pairs(self.given == category, self.missed, self.documents)

    def most_confused(self, most: int) -> list[int]:
        """Return the categories that are confused most with others, at most `most`."""
        total = np.zeros(self.n_categories, np.int64)
        for missed, given, documents in self.pairs():
            total[[missed, given]] += documents
        return [int(c) for c in np.argsort(-total, kind="stable")[:most] if total[c]]


def _pairs(which: np.ndarray, *columns: np.ndarray) -> list[Any]:
    return list(zip(*(column[which].tolist() for column in columns), strict=True))


def confusions(evaluation: Evaluation) -> Confusions:
    """Return the confusions in the decisions of an evaluation."""
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
    order = order[pairs[order] != n * width + n]  # documents without an error
    missed, wrong = np.divmod(pairs[order], width)
    return Confusions(missed, wrong, documents[order], n)


def _or_nothing(cells: np.ndarray, n_documents: int, width: int) -> np.ndarray:
    """Return cells (row * width + column), with the last column added for rows without a cell."""
    empty = np.setdiff1d(np.arange(n_documents), cells // width)
    return np.sort(np.append(cells, empty * width + width - 1))


def _count_pairs(
    missed: np.ndarray, wrong: np.ndarray, n_documents: int, width: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return each pair (missed * width + wrong) of categories of a document, and its frequency.

    Blocks of missed categories are small enough to have at most `PAIRS_PER_BLOCK` pairs.
    """
    indptr = np.searchsorted(wrong, np.arange(n_documents + 1) * width)
    wrong_of = Labels(indptr, wrong % width, width)
    step = max(1, PAIRS_PER_BLOCK // int(np.diff(indptr).max(initial=1)))
    counted = []
    for start in range(0, len(missed), step):
        rows, columns = np.divmod(missed[start : start + step], width)
        wrong_here = wrong_of.take(rows)
        pairs = np.repeat(columns, np.diff(wrong_here.indptr)) * width + wrong_here.indices
        counted.append(np.unique(pairs, return_counts=True))
    if not counted:
        return missed, missed
    all_pairs, times = (np.concatenate(arrays) for arrays in zip(*counted, strict=True))
    pairs, which = np.unique(all_pairs, return_inverse=True)
    return pairs, np.bincount(which, times).astype(np.int64)
