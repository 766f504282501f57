"""Calibration: probabilities learned from scores, and the reliability curve."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from thresher.decisions.thresholds import SHRINKAGE
from thresher.errors import ModelError, ParameterError
from thresher.evaluation.ranking import Positives
from thresher.learners._newton import least
from thresher.learners.scoring import logistic
from thresher.limits import LARGEST_SUM
from thresher.rows import Labels
from thresher.state import require_field, require_tensor

Form = Literal["sigmoid", "isotonic"]
CALIBRATIONS = get_args(Form)

# Chosen by the log loss of nested folds of Reuters' training documents, with five learners.
POSITIVES_FOR_ISOTONIC = 1000.0  # with which the isotonic curve weighs as much as the sigmoid
KNOT_RATIO = 1.5  # between the ranks of neighbouring knots, from the highest score down
N_POSITIVE_KNOTS = 33  # knots at quantiles of the positives


class ProbabilityCurve(NamedTuple):
    """Probability as a rising function of the score: straight lines between knots.

    Without knots it is the sigmoid of slope * score + offset.
    """

    slope: float
    offset: float
    scores: np.ndarray = np.empty(0)
    probabilities: np.ndarray = np.empty(0)

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Return the probability of each score."""
        if len(self.scores):
            return np.asarray(np.interp(scores, self.scores, self.probabilities))
        return logistic(self.slope * scores.astype(np.float64) + self.offset)


class Calibration(NamedTuple):
    """Maps the scores of each category to the probability that a document belongs; see `fit`.

    The probability is a weighted mean of the curve of the category and the pooled curve.
    """

    kind: str  # one of CALIBRATIONS: the form of the curves
    pooled: ProbabilityCurve  # of all categories together, and of categories that are added later
    curves: list[ProbabilityCurve]
    trust: np.ndarray  # the weight of each category's curve in the mean

    @classmethod
    def fit(
        cls,
        scores: np.ndarray,
        labels: Labels | np.ndarray,
        kind: str = "sigmoid",
        *,
        shrinkage: float = SHRINKAGE,
    ) -> Calibration:
        """Learn the curves.

        Parameters
        ----------
        scores, labels
            As for `learn_thresholds`.
        kind : {"sigmoid", "isotonic"}, default="sigmoid"
            With "sigmoid", the form of the curve is learned from all categories together, and each
            category shifts and scales it in log odds, the less the fewer positives it has. With
            "isotonic", each category has a rising curve of any form, which takes many positives.
        shrinkage : float, default=3.0
            For "isotonic": the number of positives with which the curve of a category weighs as
            much as the pooled curve.

        Examples
        --------
        >>> scores = np.linspace(-2, 2, 9)[:, None]
        >>> calibration = Calibration.fit(scores, scores > 0)
        >>> calibration.probabilities(np.array([[-1.0], [0.25], [1.0]])).ravel().tolist()
        [0.06, 0.49, 0.84]
        """
        if kind not in CALIBRATIONS:
            raise ParameterError(
                f"The kind of calibration is {kind!r}; it must be one of {CALIBRATIONS}."
            )
        positives = Positives.of(labels)
        scores = positives.check(scores, "scores")
        belongs = positives.mask(scores.shape[1])
        n = positives.counts[: scores.shape[1]]
        if kind == "sigmoid":
            pooled = _fit_form(scores.ravel(), belongs.ravel())
            fit: Any = partial(_moved, pooled)
            trust = (n > 0).astype(np.float64)
        else:
            pooled = _fit_isotonic(scores.ravel(), belongs.ravel())
            fit, trust = _fit_isotonic, np.where(n > 0, n / np.maximum(n + shrinkage, 1), 0.0)
        columns = zip(scores.T, belongs.T, n, strict=True)
        curves = [fit(column, mask) if some else pooled for column, mask, some in columns]
        return cls(kind, pooled, curves, trust)

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Return the probability that each document belongs to each category."""
        probabilities = np.empty(scores.shape)
        for c, (curve, trust) in enumerate(zip(self.curves, self.trust, strict=True)):
            column = scores[:, c]
            probabilities[:, c] = trust * curve(column) + (1 - trust) * self.pooled(column)
        return probabilities

    def grown(self, n_categories: int) -> Calibration:
        """Return a calibration for more categories, the new ones with the pooled curve."""
        n_new = max(0, n_categories - len(self.curves))
        curves, trust = self.curves + [self.pooled] * n_new, np.append(self.trust, np.zeros(n_new))
        return self._replace(curves=curves, trust=trust)

    def take(self, numbers: np.ndarray) -> Calibration:
        """Return the curves of some of the categories."""
        taken = np.arange(len(self.curves))[numbers]
        return self._replace(curves=[self.curves[i] for i in taken], trust=self.trust[taken])

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the header and the tensors of the model file, the pooled curve first."""
        curves = [self.pooled, *self.curves]
        tensors = {
            "trust": self.trust,
            "slopes": np.array([curve.slope for curve in curves]),
            "offsets": np.array([curve.offset for curve in curves]),
            "knot_counts": np.array([len(curve.scores) for curve in curves], np.int64),
            "knot_scores": np.concatenate([curve.scores for curve in curves]),
            "knot_probabilities": np.concatenate([curve.probabilities for curve in curves]),
        }
        return {"kind": self.kind}, tensors

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Calibration:
        """Return the calibration that `state` described, checked."""
        kind = require_field(header, "kind", str)
        trust = require_tensor(tensors, "trust", np.float64, (None,), low=0, high=1)
        n = len(trust) + 1
        bounds: Any = {"low": -LARGEST_SUM, "high": LARGEST_SUM}
        slopes = require_tensor(tensors, "slopes", np.float64, (n,), **bounds)
        offsets = require_tensor(tensors, "offsets", np.float64, (n,), **bounds)
        scores = require_tensor(tensors, "knot_scores", np.float64, (None,), **bounds)
        total = len(scores)
        heights = require_tensor(tensors, "knot_probabilities", np.float64, (total,), low=0, high=1)
        counts = require_tensor(tensors, "knot_counts", np.int64, (n,), low=0, high=total)
        ends = np.cumsum(counts)[:-1]
        falls = np.flatnonzero(np.diff(scores) < 0) + 1
        is_right = counts.sum() == total and np.isin(falls, ends).all()
        if kind not in CALIBRATIONS or not is_right:
            raise ModelError("The model's calibration makes no sense; calibrate it again.")
        knots = zip(np.split(scores, ends), np.split(heights, ends), strict=True)
        pooled, *curves = (
            ProbabilityCurve(float(slope), float(offset), *pair)
            for slope, offset, pair in zip(slopes, offsets, knots, strict=True)
        )
        return cls(kind, pooled, curves, trust)


def fit_sigmoid(scores: np.ndarray, belongs: np.ndarray) -> ProbabilityCurve:
    """Fit Platt's sigmoid, with one more document on either side."""
    n_positives = np.count_nonzero(belongs)
    n_negatives = len(belongs) - n_positives
    target = np.where(belongs, (n_positives + 1) / (n_positives + 2), 1 / (n_negatives + 2))
    spread = float(scores.std(dtype=np.float64)) if len(scores) else 0.0
    if spread > 0:
        center = float(scores.mean(dtype=np.float64))
        start = float(np.log((n_positives + 1) / (n_negatives + 1)))
        slope, offset = _newton((scores - center) / spread, target, (0.0, start))
        if slope > 0:
            return ProbabilityCurve(slope / spread, offset - slope * center / spread)
    # The scores are uninformative or misleading: return the share of positives for all.
    share = (n_positives + 1) / (len(belongs) + 2)
    return ProbabilityCurve(0.0, float(np.log(share / (1 - share))))


def _fit_form(scores: np.ndarray, belongs: np.ndarray) -> ProbabilityCurve:
    """Fit a mean of Platt's sigmoid, for few positives, and the isotonic curve, for many.

    The sigmoid alone is dominated by the many pairs far below any threshold, and then wrong where
    decisions are taken. The knots are dense among positives and high scores.
    """
    if not len(scores):
        return ProbabilityCurve(0.0, 0.0)
    sigmoid, isotonic = fit_sigmoid(scores, belongs), _fit_isotonic(scores, belongs)
    n_positives = np.count_nonzero(belongs)
    ranked = np.sort(scores)
    n_ranks = int(np.ceil(np.log(len(ranked)) / np.log(KNOT_RATIO))) + 1
    ranks = np.minimum(KNOT_RATIO ** np.arange(n_ranks), len(ranked)).astype(np.int64)
    knots = ranked[-ranks]
    if n_positives:
        knots = np.append(knots, np.quantile(scores[belongs], np.linspace(0, 1, N_POSITIVE_KNOTS)))
    knots = np.unique(knots).astype(np.float64)
    weight = n_positives / (n_positives + POSITIVES_FOR_ISOTONIC)
    heights = weight * isotonic(knots) + (1 - weight) * sigmoid(knots)
    return ProbabilityCurve(0.0, 0.0, knots, heights)


def _moved(form: ProbabilityCurve, scores: np.ndarray, belongs: np.ndarray) -> ProbabilityCurve:
    """Return the curve of a category: the pooled one, shifted and scaled in log odds."""
    slope, offset = _newton(_log_odds(form(scores)), belongs, (1.0, 0.0), pull=1.0)
    moved = logistic(max(slope, 0.0) * _log_odds(form.probabilities) + offset)
    return form._replace(probabilities=moved)


def _log_odds(probabilities: np.ndarray) -> np.ndarray:
    within = np.clip(probabilities, 1e-9, 1 - 1e-9)
    return np.asarray(np.log(within / (1 - within)))


def _newton(
    x: np.ndarray, target: np.ndarray, start: tuple[float, float], pull: float = 0.0
) -> tuple[float, float]:
    """Return the slope and offset that minimise the log loss of sigmoid(slope * x + offset).

    The loss includes pull / 2 times the squared distance from the start.
    """

    def loss_and_probability(line: np.ndarray) -> tuple[float, np.ndarray]:
        z = line[0] * x + line[1]
        loss = np.sum(np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z))) - target * z)
        return float(loss + pull / 2 * np.sum((line - start) ** 2)), logistic(z)

    def step(line: np.ndarray, p: np.ndarray) -> np.ndarray:
        slope, weight, weighted = p - target, p * (1 - p), p * (1 - p) * x
        gradient = np.array([slope @ x, slope.sum()]) + pull * (line - start)
        b, never_singular = weighted.sum(), pull + 1e-12
        curvature = np.array([[weighted @ x, b], [b, weight.sum()]]) + never_singular * np.eye(2)
        return np.linalg.solve(curvature, gradient)

    def is_enough(gain: float, loss: float) -> bool:
        return gain <= 1e-10 * len(x)

    slope, offset = least(loss_and_probability, step, np.array(start), is_enough)
    return float(slope), float(offset)


def _fit_isotonic(scores: np.ndarray, belongs: np.ndarray) -> ProbabilityCurve:
    """Fit the isotonic curve; its knots are the ends of its constant stretches."""
    from thresher._kernels.calibration import pool_adjacent_violators

    if not len(scores):
        return ProbabilityCurve(0.0, 0.0)
    exact = scores.astype(np.float64)
    levels, which, counts = np.unique(exact, return_inverse=True, return_counts=True)
    hits = np.bincount(which[belongs], minlength=len(levels))
    ends = np.empty(len(levels), np.int64)
    n_blocks = pool_adjacent_violators(hits, counts, ends)
    shares = hits[:n_blocks] / counts[:n_blocks]
    first, last = np.append(0, ends[: n_blocks - 1]), ends[:n_blocks] - 1
    knots = np.unique(np.concatenate([first, last]))
    return ProbabilityCurve(0.0, 0.0, levels[knots], shares[np.searchsorted(last, knots)])


class ReliabilityCurve(NamedTuple):
    """Observed shares of positives and predicted probabilities, in bins of the latter."""

    predicted: np.ndarray  # the mean probability in each bin with pairs of document and category
    observed: np.ndarray  # the share of these pairs in which the document belongs
    n_pairs: np.ndarray  # their number

    @property
    def expected_error(self) -> float:
        """The mean distance between predicted and observed, weighted by the number of pairs."""
        if not len(self.n_pairs):
            return float("nan")
        return float(np.average(np.abs(self.predicted - self.observed), weights=self.n_pairs))


def reliability_curve(
    probabilities: np.ndarray, labels: Labels | np.ndarray, n_bins: int = 10, *, above: float = 0.0
) -> ReliabilityCurve:
    """Compare predicted probabilities with observed shares.

    Parameters
    ----------
    probabilities : array of shape (documents, categories)
        The probabilities; a single column for the curve of a category.
    labels : Labels or array of shape (documents, categories)
        Which documents belong.
    n_bins : int, default=10
        The number of bins of equal width; those without pairs are left out.
    above : float, default=0.0
        The least probability of the pairs that count. With many categories, most pairs are clear
        and hide the errors of the others; 0.05 leaves the clear ones out.

    Examples
    --------
    >>> predicted = np.array([[0.1], [0.2], [0.9], [0.7]])
    >>> curve = reliability_curve(predicted, np.array([[0], [1], [1], [1]]), n_bins=2)
    >>> curve.predicted, curve.observed, curve.expected_error
    (array([0.15, 0.8 ]), array([0.5, 1. ]), 0.275)
    >>> reliability_curve(predicted, np.array([[0], [1], [1], [1]]), n_bins=2, above=0.5).n_pairs
    array([2])
    """
    positives = Positives.of(labels)
    probabilities = positives.check(probabilities, "probabilities")
    inner = np.linspace(0, 1, n_bins + 1)[1:-1]
    counted = probabilities[probabilities >= above]
    bins = np.searchsorted(inner, counted)
    count = np.bincount(bins, minlength=n_bins)
    sums = np.bincount(bins, counted, n_bins)
    hits = probabilities[positives.within(probabilities.shape[1])]
    hits = np.bincount(np.searchsorted(inner, hits[hits >= above]), minlength=n_bins)
    filled = count > 0
    count, sums, hits = count[filled], sums[filled], hits[filled]
    return ReliabilityCurve(sums / count, hits / count, count)
