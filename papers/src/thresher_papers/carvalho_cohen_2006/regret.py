"""Cells of section 7: Positive Winnow with external regret."""

from __future__ import annotations

import numpy as np

from thresher.rows import Rows
from thresher_papers._running import Problem, f1_percent, folds
from thresher_papers.carvalho_cohen_2006.learners import cross_validate
from thresher_papers.carvalho_cohen_2006.problems import problem

__all__ = ["judged", "with_regret"]

GAMMA = 0.95
MOST = 2.0**200  # what a weight may grow to, and its inverse what it may shrink to


def with_regret(rows: Rows, positive: np.ndarray) -> np.ndarray:
    """Learn as the program's Positive Winnow with external regret; the always-on weight is last.

    A feature that is there says that the example is positive. Its loss, and that of the whole
    learner where it was there, are summed; after every example its weight is multiplied by γ to the
    power of the one sum less γ times the other. Features never met have NaN.

    Examples
    --------
    >>> rows = Rows(np.array([0, 1, 2]), np.array([0, 1], np.int32), np.ones(2, np.float32), 2)
    >>> with_regret(rows, np.array([True, False]))
    array([1.57..., 0.49..., 0.82...])
    """
    n = rows.n_columns
    weights, feature_losses, common = np.full(n + 1, np.nan), np.zeros(n + 1), np.zeros(n + 1)
    for i in range(rows.n_rows):
        entries = slice(rows.indptr[i], rows.indptr[i + 1])
        there = np.append(rows.indices[entries], n)
        strengths = np.append(rows.values[entries], 1.0).astype(np.float64)
        w = np.where(np.isnan(weights[there]), 1.0, weights[there])
        sign = 1.0 if positive[i] else -1.0
        # A tie is a mistake, as everywhere here.
        is_mistaken = sign * (strengths @ w / strengths.sum() - 1.0) <= 1e-9
        if is_mistaken:
            w *= 1.5 if positive[i] else 0.5
        feature_losses[there] += not positive[i]
        common[there] += is_mistaken
        with np.errstate(over="ignore", under="ignore"):
            w *= GAMMA ** (feature_losses[there] - GAMMA * common[there])
        weights[there] = np.clip(w, 1 / MOST, MOST)
    return weights


def _decide(weights: np.ndarray, rows: Rows) -> np.ndarray:
    has_weight = ~np.isnan(weights[:-1])
    strengths = np.where(has_weight[rows.indices], rows.values, 0).astype(np.float64)
    examples = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
    scores = np.bincount(examples, strengths * np.nan_to_num(weights)[rows.indices], rows.n_rows)
    sums = np.bincount(examples, strengths, rows.n_rows)
    return np.asarray((scores + weights[-1]) / (sums + 1) >= 1 - 1e-9)


def _as_program(data: Problem, seed: int) -> list[float]:
    f1 = []
    for train, test in folds(data.positive, 5, seed):
        weights = with_regret(data.rows.take(train), data.positive[train])
        f1.append(f1_percent(_decide(weights, data.rows.take(test)), data.positive[test]))
    return f1


def judged(name: str, seed: int) -> dict[str, float]:
    """Return F1 of Positive Winnow without and with external regret, the mean of five folds."""
    data = problem(name)
    f1 = cross_validate(data, ("PW", "RW", "v-PW", "v-RW"), seed)
    f1["as the program"] = _as_program(data, seed)
    return {name: float(np.mean(values)) for name, values in f1.items()}
