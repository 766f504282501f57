"""A linear classifier of pairs, and helpers that all classifiers of pairs use."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from thresher.errors import ParameterError
from thresher.learners._newton import least
from thresher.limits import LARGEST_SUM, LARGEST_WEIGHT
from thresher.state import require_field, require_tensor

PULL = 1.0  # L2 penalty of the weights of standardised features; scikit-learn's 1 / C
ENOUGH = 1e-10  # the relative decrease of the loss below which fitting stops
MOST_STEPS = 100
FARTHEST = 30.0  # the largest absolute score; beyond, probabilities do not differ
LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, eq=False)
class Linear:
    """Logistic regression on standardised features; a score is the log-odds that a pair belongs.

    Scores are limited to ±30, so that there is a lowest one. In `shares`, the base includes what is
    cut off.

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
    slope: np.ndarray  # float64: the weight of each feature

    @classmethod
    def fit(
        cls, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None, *, seed: int = 0
    ) -> Self:
        """Return a classifier learned from pairs, a row of finite features each, and labels.

        The seed is not used; it is a parameter of all classifiers of pairs. Pairs of weight zero
        and features that do not vary are ignored.
        """
        X, y, weights = weighted_pairs(X, y, weights)
        base, mean, slope = log_odds(y, weights), np.zeros(X.shape[1]), np.zeros(X.shape[1])
        if y.all() or not y.any():
            return cls(base, mean, slope)
        mean = np.average(X, axis=0, weights=weights)
        varied = np.flatnonzero(X.min(0) < X.max(0))
        # With a row for each feature, the sums over pairs are fast and in a fixed order, unlike
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
        """Return the contribution of each feature to each score; the last column is the base."""
        shares = self._added(X)
        scores = shares.sum(1)
        shares[:, -1] += np.clip(scores, -FARTHEST, FARTHEST) - scores
        return shares

    def _added(self, X: np.ndarray) -> np.ndarray:
        check_width(X, len(self.mean))
        added = np.full((len(X), len(self.mean) + 1), self.base)
        added[:, :-1] = (X - self.mean) * self.slope
        return added

    @property
    def least(self) -> float:
        """The lowest possible score."""
        return -FARTHEST

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the header and the tensors of the model file."""
        return {"base": self.base}, {"mean": self.mean, "slope": self.slope}

    @classmethod
    def from_state(
        cls, header: dict[str, Any], tensors: dict[str, np.ndarray], n_features: int
    ) -> Self:
        """Return the classifier that `state` described, checked."""
        base = require_field(header, "base", float, low=-LARGEST_WEIGHT, high=LARGEST_WEIGHT)
        mean, slope = (
            require_tensor(tensors, name, np.float64, (n_features,), low=-bound, high=bound)
            for name, bound in (("mean", LARGEST), ("slope", LARGEST_SUM))
        )
        return cls(base, mean, slope)


def _fit_line(rows: np.ndarray, signs: np.ndarray, weights: np.ndarray, base: float) -> np.ndarray:
    """Return the weights that minimise the logistic loss; the last one has no L2 penalty."""
    pull = np.append(np.full(len(rows) - 1, PULL), 0.0)

    def loss_and_margins(line: np.ndarray) -> tuple[float, np.ndarray]:
        margins = signs * np.einsum("j,jn->n", line, rows)
        loss = (weights * np.logaddexp(0.0, -margins)).sum() + 0.5 * (pull * line**2).sum()
        return float(loss), margins

    def step(line: np.ndarray, margins: np.ndarray) -> np.ndarray:
        wrong = np.exp(-np.logaddexp(0.0, margins))  # the probability of the other label
        gradient = pull * line - np.einsum("jn,n->j", rows, weights * signs * wrong)
        curvatures = rows * (weights * wrong * (1.0 - wrong))
        # 1e-12 keeps the matrix regular if all labels are certain.
        curvature = np.einsum("in,jn->ij", curvatures, rows) + np.diag(pull + 1e-12)
        return np.linalg.solve(curvature, gradient)

    def is_enough(gain: float, loss: float) -> bool:
        return gain <= ENOUGH * loss

    start = np.append(np.zeros(len(rows) - 1), base)
    return least(loss_and_margins, step, start, is_enough, MOST_STEPS)


def weighted_pairs(
    X: np.ndarray, y: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features, labels and weights of pairs of positive weight, as kernels need them."""
    weights = np.ones(len(X)) if weights is None else np.asarray(weights, np.float64)
    is_positive = weights > 0
    if not is_positive.all():
        X, y, weights = X[is_positive], y[is_positive], weights[is_positive]
    X, y = np.ascontiguousarray(X, np.float32), np.ascontiguousarray(y, np.bool_)
    return X, y, np.ascontiguousarray(weights)


def log_odds(y: np.ndarray, weights: np.ndarray) -> float:
    """Return the log-odds of positive labels, kept finite by half a pair of either label."""
    return math.log((float(weights[y].sum()) + 0.5) / (float(weights[~y].sum()) + 0.5))


def check_width(X: np.ndarray, n_features: int) -> None:
    """Raise `ParameterError` if the number of features is wrong."""
    if X.ndim != 2 or X.shape[1] != n_features:
        shape = " x ".join(map(str, X.shape))
        raise ParameterError(f"The pairs are {shape}; each must have {n_features} features.")
