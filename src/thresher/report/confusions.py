"""Confusions of categories: pairs of a missed and a wrongly assigned category."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from thresher.evaluation import Evaluation
from thresher.evaluation.measures import exactly_right


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
    n, documents = len(evaluation.categories), Counter[tuple[int, int]]()
    if evaluation.positives is not None and evaluation.decisions is not None:
        labels = evaluation.labels()
        is_right = exactly_right(evaluation.decisions, evaluation.positives)
        for i in np.flatnonzero(~is_right).tolist():
            belonging = set(labels.indices[labels.indptr[i] : labels.indptr[i + 1]].tolist())
            assigned = set(np.flatnonzero(evaluation.decisions[i]).tolist())
            documents.update(product(belonging - assigned or {n}, assigned - belonging or {n}))
    pairs = sorted(documents, key=lambda pair: (-documents[pair], pair))
    table = np.array([(*pair, documents[pair]) for pair in pairs], np.int64).reshape(-1, 3)
    missed, given, times = table.T
    return Confusions(missed, given, times, n)
