"""Loglinear models p ∝ Π αᵢ^fᵢ(x,c) by iterative scaling, and greedy feature selection.

With the filler f = C - Σfᵢ in every event, log p is Σ fᵢ (log αᵢ - log α) up to a constant. So only
these differences are computed; the filler only matters for the steps of scaling.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from thresher.errors import ParameterError
from thresher.learners._events import Documents, Events, Fit
from thresher.learners._lbfgs import descend
from thresher.learners.scoring import run_cache_line_blocks
from thresher.rows import Rows

__all__ = ["LogLinear", "Schedule", "fit_loglinear", "select"]


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


# ---- any features of contexts and classes --------------------------------------------------------


class LogLinear(NamedTuple):
    """A fitted loglinear model.

    Attributes
    ----------
    log_alphas : array of float
        The weight log αᵢ of each feature, and last that of the filler if there is one; 0 for
        features that were never seen and are left out.
    empirical, expected : array of float
        The observed and the expected mean of each feature, in the same order.
    n_iter, converged : int, bool
        The number of iterations, and whether the tolerance was reached.
    differences : list of float
        Before each iteration, the largest difference between the logarithms of observed and
        expected features; for L-BFGS, between the values themselves.
    log_likelihoods : list of float
        Before each iteration, the log-likelihood of the events.
    """

    log_alphas: np.ndarray
    empirical: np.ndarray
    expected: np.ndarray
    n_iter: int
    converged: bool
    differences: list[float]
    log_likelihoods: list[float]
    fitted: np.ndarray

    def probabilities(self) -> np.ndarray:
        """Return p(x, c) of all pairs, or p(c|x) for given contexts: (contexts, classes)."""
        return self.fitted


def fit_loglinear(
    features: Any,
    counts: Any,
    *,
    space: str = "conditional",
    method: str = "gis",
    C: float | None = None,
    max_iter: int = 500,
    tolerance: float = 1e-10,
    prior_variance: float | None = None,
) -> LogLinear:
    """Fit a loglinear model over any features of contexts and classes.

    Parameters
    ----------
    features : array (contexts, classes, features)
        The value of every feature for every pair; not negative for scaling.
    counts : array (contexts, classes)
        The number of observations of each pair.
    space : {"conditional", "joint"}, default="conditional"
        Whether the model is of classes in given contexts, p(c|x), or of all pairs, p(x, c).
    method : {"gis", "iis", "lbfgs"}, default="gis"
        Generalized iterative scaling, with a filler feature; improved iterative scaling; L-BFGS.
    C : float, optional
        The sum of the features of every pair, filler included; by default the largest sum.
    max_iter : int, default=500
        The largest number of iterations.
    tolerance : float, default=1e-10
        The allowed difference of expected and observed features: the largest difference of
        logarithms, for L-BFGS of the values themselves.
    prior_variance : float, optional
        The variance of a Gaussian prior around zero, for L-BFGS.

    Examples
    --------
    Table 16.7 of Manning and Schütze: the word in the rows, "no" and "yes" in the columns.

    >>> features = np.zeros((2, 2, 1))
    >>> features[1, 1] = 1
    >>> model = fit_loglinear(features, [[13, 8], [9, 20]], space="joint")
    >>> model.probabilities().round(3).tolist(), model.n_iter
    ([[0.2, 0.2], [0.2, 0.4]], 1)
    """
    features, counts = np.asarray(features, np.float64), np.asarray(counts, np.float64)
    if features.ndim != 3 or features.shape[:2] != counts.shape or not counts.size:
        raise ParameterError(
            f"features has the shape {features.shape} and counts {counts.shape}; they must be "
            "(contexts, classes, features) and (contexts, classes)."
        )
    if not np.isfinite(features).all() or (method != "lbfgs" and (features < 0).any()):
        raise ParameterError("features must be finite numbers, and for scaling zero or more.")
    if not (np.isfinite(counts).all() and (counts >= 0).all() and counts.any()):
        raise ParameterError("counts must be finite numbers of zero or more, some of them above.")
    for name, value, allowed in (
        ("space", space, ("conditional", "joint")),
        ("method", method, ("gis", "iis", "lbfgs")),
    ):
        if value not in allowed:
            raise ParameterError(f"{name} is {value!r}; it must be one of {', '.join(allowed)}.")
    if prior_variance is not None and method != "lbfgs":
        raise ParameterError("prior_variance is for method='lbfgs'; scaling has no prior.")
    flat = features.reshape(counts.size, -1)
    pairs, columns = np.nonzero(flat)
    ends = np.append(0, np.cumsum(np.bincount(pairs, minlength=len(flat))))
    rows = Rows(ends, columns.astype(np.int32), flat[pairs, columns], flat.shape[1])
    joint, mass = space == "joint", counts.sum(1, keepdims=True)
    events = Events(Documents(rows, False), counts, mass, joint=joint, coupled=True)
    precision = 0.0 if prior_variance is None else 1.0 / prior_variance
    schedule = Schedule(method, max_iter, tolerance, C, precision)
    fit = schedule.fit(events, np.ones_like(events.target, bool))
    expected = events.model(fit.weights)[0]
    free = (events.target > 0) | (precision > 0)
    log_alphas = np.where(free, fit.weights + fit.fillers, 0.0)[1:, 0]
    observed, by_model = [
        (sums * free)[1:, 0] / events.total for sums in (events.target, events.expect(expected))
    ]
    if method == "gis":
        log_alphas = np.append(log_alphas, fit.fillers)
        observed, by_model = [np.append(m, fit.constants - m.sum()) for m in (observed, by_model)]
    logits = events.documents.weigh(fit.weights, 1)[1:].reshape(counts.shape)
    odds = np.exp(logits - logits.max(None if joint else 1, keepdims=True))
    return LogLinear(
        log_alphas,
        observed,
        by_model,
        int(fit.n_iter[0]),
        bool(fit.converged[0]),
        [float(gap[0]) for gap, _ in fit.history],
        [float(likelihood[0]) for _, likelihood in fit.history],
        odds / odds.sum(None if joint else 1, keepdims=True),
    )
