"""Learners whose scores are probabilities, in another unit."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["Probabilistic"]


class Probabilistic:
    """What a learner with probabilities of its own has besides, to be inherited from first.

    Its score says how probable a category is, usually as log-odds; `probabilities` turns scores
    back. Nothing need be calibrated then.
    """

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
