"""Loglinear models over any features of contexts and classes, as in section 16.2."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from thresher.errors import ParameterError
from thresher.learners._events import Documents, Events
from thresher.learners._loglinear import Schedule
from thresher.rows import Rows


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
