"""Loglinear models p ∝ Π αᵢ^fᵢ(x,c) by iterative scaling, and greedy feature selection.

With the filler f = C - Σfᵢ in every event, log p is Σ fᵢ (log αᵢ - log α) up to a constant. So only
these differences are computed; the filler only matters for the steps of scaling.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from thresher.errors import ParameterError
from thresher.learners._events import Events, Fit
from thresher.learners._lbfgs import descend
from thresher.learners.scoring import run_cache_line_blocks


class Schedule(NamedTuple):
    """How to fit: the method, the largest number of iterations, and the tolerance."""

    method: str
    max_iter: int
    tolerance: float
    constant: float | None = None
    precision: float = 0.0  # one divided by the variance of the prior

    def fit(self, events: Events, free: np.ndarray, start: np.ndarray | None = None) -> Fit:
        """Return fitted weights of the free features; without a prior, 0 for unseen ones."""
        weights = np.zeros_like(events.target) if start is None else start.copy()
        if not self.precision:  # only a prior would keep their weights finite
            free = free & (events.target > 0)
        if self.method == "lbfgs":
            return descend(events, free, weights, self.precision, self.max_iter, self.tolerance)
        return _scale(events, free, weights, self)


# ---- iterative scaling ---------------------------------------------------------------------------


def _scale(events: Events, free: np.ndarray, weights: np.ndarray, schedule: Schedule) -> Fit:
    """Return weights by iterative scaling with the ratios of observed to expected features."""
    improved = schedule.method == "iis"
    sums, n = events.sums(free), events.total
    constant = _constant(events, sums, schedule.constant)
    filler_target = constant * n - events.pool((events.target * free).sum(0))
    has_filler = (filler_target > 1e-12 * constant * n) & (not improved)
    fillers, n_iter = np.zeros(len(n)), np.zeros(len(n), np.int64)
    active, history = np.ones(len(n), bool), []
    for _ in range(schedule.max_iter):
        expected, loss = events.model(weights)
        expectations = events.expect(expected)
        filler_expected = constant * n - events.pool((expectations * free).sum(0))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(free, np.log(events.target) - np.log(expectations), 0.0)
            filler_ratios = np.where(has_filler, np.log(filler_target) - np.log(filler_expected), 0)
        if not (np.isfinite(ratios).all() and np.isfinite(filler_ratios).all()):
            raise _overflow(ratios, weights)
        gaps = events.pool(np.abs(ratios).max(0, initial=0.0), np.maximum)
        history.append((np.maximum(gaps, np.abs(filler_ratios)), -loss))
        active &= history[-1][0] > schedule.tolerance
        if not active.any():
            break
        if improved:
            steps = _improved_steps(events, expected, sums, free)
            if not np.isfinite(steps).all():
                raise _overflow(steps, weights)
        else:
            steps = np.where(free, ratios - filler_ratios, 0.0) / constant
        weights += active * steps
        fillers += active * filler_ratios / constant
        n_iter += active
    return Fit(weights, fillers, n_iter, ~active, constant, history)


def _constant(events: Events, sums: np.ndarray, constant: float | None) -> np.ndarray:
    """Return C: the largest sum of the features of an event, or the given constant if larger."""
    most = events.pool(sums.max(0, initial=0.0), np.maximum)
    if constant is None:
        return np.where(most > 0, most, 1.0)
    if most.max(initial=0.0) > constant * (1 + 1e-9):
        raise ParameterError(
            f"The constant C is {constant:g}, and the features of one event add up to "
            f"{most.max():g}; generalized iterative scaling needs a C that is no lower. Leave it "
            "out to have the greatest sum."
        )
    return np.full(len(most), float(constant))


def _improved_steps(
    events: Events, expected: np.ndarray, sums: np.ndarray, free: np.ndarray
) -> np.ndarray:
    from thresher._kernels.maxent import improve

    columns, steps = events.documents.columns, np.zeros_like(events.target)
    arrays = columns.indptr, columns.indices.view(np.uint32), columns.values, expected[1:], sums
    targets = np.where(free, events.target, 0.0)
    run_cache_line_blocks(partial(improve, *arrays, targets, steps), len(steps), events.n_jobs)
    return steps


def _overflow(ratios: np.ndarray, weights: np.ndarray) -> ParameterError:
    """Return the error about a feature whose expectation has become zero."""
    row, lane = (
        np.argwhere(~np.isfinite(ratios))[0]
        if ratios.ndim == 2 and not np.isfinite(ratios).all()
        else (0, 0)
    )
    which = "The filler feature" if row == 0 else f"Feature {row - 1}"
    return ParameterError(
        f"{which} of class {lane} was seen and has become so improbable that its weight "
        f"(log α = {weights[row, lane]:.3g}) overflows. Leave rare features out (min_count), add "
        'events (added_events), iterate less, or fit with method="lbfgs" and a prior.'
    )


# ---- greedy selection ----------------------------------------------------------------------------


def select(
    events: Events, allowed: np.ndarray, schedule: Schedule, n_selected: int, min_gain: float
) -> Fit:
    """Return a fit of greedily selected features (Berger et al., 1996)."""
    free = np.zeros_like(allowed)
    free[0] = allowed[0]
    fit = _fit_some(events, free, schedule, np.zeros_like(events.target))
    if not schedule.precision:
        allowed = allowed & (events.target > 0)
    for _ in range(n_selected):
        gains = events.gains(fit.weights, allowed & ~free, schedule.precision)
        best = np.unravel_index(np.argmax(gains), gains.shape)
        if not gains[best] > min_gain:
            break
        free[best] = True
        fit = _fit_some(events, free, schedule, fit.weights)
    return fit


def _fit_some(events: Events, free: np.ndarray, schedule: Schedule, start: np.ndarray) -> Fit:
    """Return a fit of the free features only."""
    columns = np.append(True, free[1:].any(1))
    fit = schedule.fit(events.keep(columns), free[columns], start[columns])
    weights = np.zeros_like(start)
    weights[columns] = fit.weights
    return fit._replace(weights=weights)
