"""A linear judge: each feature counts by its weight, whatever the others are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from thresher.learners._newton import least
from thresher.limits import LARGEST_SUM, LARGEST_WEIGHT
from thresher.model.second_look._given import check_width, counted, log_odds
from thresher.state import require_field, require_tensor

__all__ = ["Linear"]

PULL = 1.0  # towards weights of zero, where features are standardised; scikit-learn's 1 / C
ENOUGH = 1e-10  # of the loss: a step that gains no more is the last
MOST_STEPS = 100
FARTHEST = 30.0  # what a score is at most, either way: beyond, probabilities do not differ
LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, eq=False)
class Linear:
    """Logistic regression on standardised features; a score is the log-odds that a pair belongs.

    Scores are kept within ±30, so that there is a least one. What is cut off is in the base's
    share.

    Examples
    --------
    >>> X = np.array([[0, 7], [1, 7], [2, 7], [3, 7]], np.float32)
    >>> Linear.fit(X, np.array([False, False, True, True])).shares(X).round(2)
    array([[-1.27,  0.  ,  0.  ],
           [-0.42,  0.  ,  0.  ],
           [ 0.42,  0.  ,  0.  ],
           [ 1.27,  0.  ,  0.  ]])
    """

    base: float
    mean: np.ndarray  # float64, of each feature
    slope: np.ndarray  # float64: what one more of it adds

    @classmethod
    def fit(
        cls, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None, *, seed: int = 0
    ) -> Self:
        """Learn from pairs, a row of finite features each, and whether they belong.

        Nothing is drawn: the seed is there because other judges draw. Pairs without weight are left
        out, and features that do not vary count nothing.
        """
        X, y, weights = counted(X, y, weights)
        base, mean, slope = log_odds(y, weights), np.zeros(X.shape[1]), np.zeros(X.shape[1])
        if y.all() or not y.any():
            return cls(base, mean, slope)
        mean = np.average(X, axis=0, weights=weights)
        varied = np.flatnonzero(X.min(0) < X.max(0))
        # A feature is a row: so the sums over pairs are fast, and taken in one fixed order, unlike
        # those of a matrix product, which depend on the number of threads.
        rows = np.ones((len(varied) + 1, len(X)))
        rows[:-1] = X.T[varied] - mean[varied, None]
        deviation = np.sqrt(np.average(rows[:-1] ** 2, axis=1, weights=weights))
        rows[:-1] /= deviation[:, None]
        line = _fit_line(rows, np.where(y, 1.0, -1.0), weights, base)
        slope[varied] = line[:-1] / deviation
        return cls(float(line[-1]), mean, slope)

    def score(self, X: np.ndarray) -> np.ndarray:
        """Return the log-odds of each pair."""
        scores: np.ndarray = np.clip(self._added(X).sum(1), -FARTHEST, FARTHEST)
        return scores

    def shares(self, X: np.ndarray) -> np.ndarray:
        """Return what each feature adds to the score of each pair; the last column is the base."""
        shares = self._added(X)
        whole = shares.sum(1)
        shares[:, -1] += np.clip(whole, -FARTHEST, FARTHEST) - whole
        return shares

    def _added(self, X: np.ndarray) -> np.ndarray:
        check_width(X, len(self.mean))
        added = np.full((len(X), len(self.mean) + 1), self.base)
        added[:, :-1] = (X - self.mean) * self.slope
        return added

    @property
    def least(self) -> float:
        """The score that no pair is below."""
        return -FARTHEST

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the line, as a JSON-able header and arrays."""
        return {"base": self.base}, {"mean": self.mean, "slope": self.slope}

    @classmethod
    def from_state(
        cls, header: dict[str, Any], tensors: dict[str, np.ndarray], n_features: int
    ) -> Self:
        """Rebuild the judge from what `state` returned, checking everything."""
        base = require_field(header, "base", float, low=-LARGEST_WEIGHT, high=LARGEST_WEIGHT)
        mean, slope = (
            require_tensor(tensors, name, np.float64, (n_features,), low=-bound, high=bound)
            for name, bound in (("mean", LARGEST), ("slope", LARGEST_SUM))
        )
        return cls(base, mean, slope)


def _fit_line(rows: np.ndarray, signs: np.ndarray, weights: np.ndarray, base: float) -> np.ndarray:
    """Return the weight of each row that makes the logistic loss least; the last is not pulled."""
    pull = np.append(np.full(len(rows) - 1, PULL), 0.0)

    def loss_and_margins(line: np.ndarray) -> tuple[float, np.ndarray]:
        margins = signs * np.einsum("j,jn->n", line, rows)
        loss = (weights * np.logaddexp(0.0, -margins)).sum() + 0.5 * (pull * line**2).sum()
        return float(loss), margins

    def step(line: np.ndarray, margins: np.ndarray) -> np.ndarray:
        wrong = np.exp(-np.logaddexp(0.0, margins))  # how probable the other answer is
        gradient = pull * line - np.einsum("jn,n->j", rows, weights * signs * wrong)
        curvatures = rows * (weights * wrong * (1.0 - wrong))
        # Where all is certain, nothing is curved; a trace of it lets the step be found.
        curvature = np.einsum("in,jn->ij", curvatures, rows) + np.diag(pull + 1e-12)
        return np.linalg.solve(curvature, gradient)

    def is_enough(gain: float, loss: float) -> bool:
        return gain <= ENOUGH * loss

    start = np.append(np.zeros(len(rows) - 1), base)
    return least(loss_and_margins, step, start, is_enough, MOST_STEPS)
