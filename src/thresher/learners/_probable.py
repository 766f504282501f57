"""Learners whose scores are log-odds."""

from __future__ import annotations

from typing import Any

import numpy as np

from thresher.learners._weighing import linear_scores
from thresher.rows import Rows

__all__ = ["ProbabilisticMixin", "competing_shares", "log_odds"]


class ProbabilisticMixin:
    """The base, to be named first, of learners whose scores are log-odds of probabilities."""

    has_probabilities = True

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Return the probability that each score of `score_rows` stands for."""
        # Each side by the exponential that cannot overflow.
        small = np.exp(-np.abs(scores.astype(np.float64)))
        return np.where(scores > 0, 1.0, small) / (1.0 + small)

    def predict_proba(self: Any, X: Any) -> np.ndarray:
        """Return the probability of each class; with several labels, of each by itself."""
        probable = self.probabilities(self.score_rows(self._read_rows(X), self._n_jobs()))
        if self._targets.kind == "single" and probable.shape[1] == 1:
            both = np.hstack([1 - probable, probable])
            return both if len(self.classes_) == 2 else probable
        return np.asarray(probable)


def log_odds(scores: np.ndarray) -> np.ndarray:
    """Return the log-odds of each category, given log-probabilities of all up to a constant."""
    return np.asarray(scores - _log_sums(scores))


def competing_shares(
    rows: Rows, weights: np.ndarray, category: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return what each entry adds to the log-odds of a category that competes, and the rest."""
    scores = linear_scores(rows, weights).astype(np.float64)
    log_sum = _log_sums(scores)[:, category]
    share = np.exp(scores - log_sum[:, None])  # how probable each of the others is among them
    share[:, category] = 0.0
    documents = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
    own = weights[1 + rows.indices]
    against = np.einsum("ek,ek->e", own, share[documents])
    parts = rows.values * (own[:, category] - against)
    summed = np.bincount(documents, parts, rows.n_rows)
    return parts.astype(np.float32), (scores[:, category] - log_sum - summed).astype(np.float32)


def _log_sums(scores: np.ndarray) -> np.ndarray:
    """Return for each column the logarithm of the summed exponentials of all others."""
    rows, best = np.arange(len(scores)), scores.argmax(1)
    highest = scores[rows, best]
    parts = np.exp(scores - highest[:, None])
    rest = parts.sum(1)[:, None] - parts
    rest[rows, best] = 1.0
    sums = highest[:, None] + np.log(rest)
    # Beside the best, the others may be too small to be seen: they are added up by themselves.
    others = scores.copy()
    others[rows, best] = -np.inf
    second = others.max(1)
    sums[rows, best] = second + np.log(np.exp(others - second[:, None]).sum(1))
    return np.asarray(sums)
