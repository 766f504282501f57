"""What both judges ask of the pairs they are given."""

from __future__ import annotations

import math

import numpy as np

from thresher.errors import ParameterError


def counted(
    X: np.ndarray, y: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the pairs that count, whether each belongs, and its weight, as kernels take them."""
    weights = np.ones(len(X)) if weights is None else np.asarray(weights, np.float64)
    counts = weights > 0
    if not counts.all():
        X, y, weights = X[counts], y[counts], weights[counts]
    X, y = np.ascontiguousarray(X, np.float32), np.ascontiguousarray(y, np.bool_)
    return X, y, np.ascontiguousarray(weights)


def log_odds(y: np.ndarray, weights: np.ndarray) -> float:
    """Return the log-odds of belonging, half a pair of either kind added: they are finite."""
    return math.log((float(weights[y].sum()) + 0.5) / (float(weights[~y].sum()) + 0.5))


def check_width(X: np.ndarray, n_features: int) -> None:
    """Raise `ParameterError` unless each pair has as many features as were learned from."""
    if X.ndim != 2 or X.shape[1] != n_features:
        shape = " x ".join(map(str, X.shape))
        raise ParameterError(f"The pairs are {shape}; each must have {n_features} features.")
