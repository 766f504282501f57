"""Probabilities: scores made to mean what they say, and the curve that shows whether they do."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from thresher._ranking import Positives
from thresher.decisions.thresholds import SHRINKAGE
from thresher.errors import ModelError, ParameterError
from thresher.rows import Labels
from thresher.storage import require_field, require_tensor

__all__ = ["Calibration", "ReliabilityCurve", "reliability_curve"]

CALIBRATIONS = ("sigmoid", "isotonic")


class ProbabilityCurve(NamedTuple):
    """Probability as a rising function of the score: sigmoid, or straight lines between knots.

    A sigmoid has no knots, and `slope` and `offset`; knots make these two idle.
    """

    slope: float
    offset: float
    scores: np.ndarray = np.empty(0)
    probabilities: np.ndarray = np.empty(0)

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Return the probability of each score."""
        if len(self.scores):
            return np.asarray(np.interp(scores, self.scores, self.probabilities))
        return _sigmoid(self.slope * scores.astype(np.float64) + self.offset)


class Calibration(NamedTuple):
    """Turns the scores of each category into the probability that a document belongs.

    A category's probability is a mean of its own curve's and of the curve of all categories
    together; with n positives, its own counts n / (n + shrinkage). `fit` makes one.
    """

    kind: str  # one of CALIBRATIONS: the form of the curves
    pooled: ProbabilityCurve  # of all categories together, and the only one of those met later
    curves: list[ProbabilityCurve]
    trust: np.ndarray  # how much of each category's probability is its own

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
        scores, labels, shrinkage
            As for `learn_thresholds`.
        kind : {"sigmoid", "isotonic"}, default="sigmoid"
            Platt's sigmoid, fitted to softened labels, needs few positives; the isotonic curve
            takes any rising form and needs many.

        Examples
        --------
        >>> scores = np.linspace(-2, 2, 9)[:, None]
        >>> calibration = Calibration.fit(scores, scores > 0)
        >>> calibration.probabilities(np.array([[-1.0], [0.25], [1.0]])).ravel().tolist()
        [0.17, 0.50, 0.72]
        """
        if kind not in CALIBRATIONS:
            raise ParameterError(
                f"The kind of calibration is {kind!r}; it must be one of {CALIBRATIONS}."
            )
        positives = Positives.of(labels)
        scores = positives.check(scores, "scores")
        belongs = positives.mask(scores.shape[1])
        fit = _fit_sigmoid if kind == "sigmoid" else _fit_isotonic
        pooled = fit(scores.ravel(), belongs.ravel())
        n = positives.counts[: scores.shape[1]]
        curves = [fit(scores[:, c], belongs[:, c]) if n[c] else pooled for c in range(len(n))]
        return cls(kind, pooled, curves, np.where(n > 0, n / np.maximum(n + shrinkage, 1), 0.0))

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Return the probability that each document belongs to each category."""
        probabilities = np.empty(scores.shape)
        for c, (curve, trust) in enumerate(zip(self.curves, self.trust, strict=True)):
            column = scores[:, c]
            probabilities[:, c] = trust * curve(column) + (1 - trust) * self.pooled(column)
        return probabilities

    def grown(self, n_categories: int) -> Calibration:
        """Return it with the curve of all together for the categories that were met since."""
        n_new = max(0, n_categories - len(self.curves))
        curves, trust = self.curves + [self.pooled] * n_new, np.append(self.trust, np.zeros(n_new))
        return self._replace(curves=curves, trust=trust)

    def take(self, numbers: np.ndarray) -> Calibration:
        """Return the curves of some of the categories."""
        places = np.arange(len(self.curves))[numbers]
        return self._replace(curves=[self.curves[i] for i in places], trust=self.trust[places])

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return what a model file keeps: a header and tensors, the pooled curve first."""
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
        """Return the calibration that `state` was taken from."""
        kind = require_field(header, "kind", str)
        trust = require_tensor(tensors, "trust", np.float64, (None,), low=0, high=1)
        n = len(trust) + 1
        slopes = require_tensor(tensors, "slopes", np.float64, (n,))
        offsets = require_tensor(tensors, "offsets", np.float64, (n,))
        counts = require_tensor(tensors, "knot_counts", np.int64, (n,), low=0, high=2**40)
        total = int(counts.sum())
        scores = require_tensor(tensors, "knot_scores", np.float64, (total,))
        chances = require_tensor(tensors, "knot_probabilities", np.float64, (total,), low=0, high=1)
        if kind not in CALIBRATIONS or not np.isfinite([slopes, offsets]).all():
            raise ModelError("The model's calibration makes no sense; calibrate it again.")
        ends = np.cumsum(counts)[:-1]
        knots = zip(np.split(scores, ends), np.split(chances, ends), strict=True)
        pooled, *curves = (
            ProbabilityCurve(float(slope), float(offset), *pair)
            for slope, offset, pair in zip(slopes, offsets, knots, strict=True)
        )
        return cls(kind, pooled, curves, trust)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    """Return 1 / (1 + exp(-x)), by the half that cannot overflow."""
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1.0, small) / (1.0 + small))


def _fit_sigmoid(scores: np.ndarray, belongs: np.ndarray) -> ProbabilityCurve:
    """Fit Platt's sigmoid to labels softened by one document on either side."""
    n_positives = np.count_nonzero(belongs)
    n_negatives = len(belongs) - n_positives
    target = np.where(belongs, (n_positives + 1) / (n_positives + 2), 1 / (n_negatives + 2))
    spread = float(scores.std(dtype=np.float64)) if len(scores) else 0.0
    if spread > 0:
        center = float(scores.mean(dtype=np.float64))
        start = float(np.log((n_positives + 1) / (n_negatives + 1)))
        slope, offset = _newton((scores - center) / spread, target, start)
        if slope > 0:
            return ProbabilityCurve(slope / spread, offset - slope * center / spread)
    # The scores say nothing, or mislead: only the share of positives can be told.
    share = (n_positives + 1) / (len(belongs) + 2)
    return ProbabilityCurve(0.0, float(np.log(share / (1 - share))))


def _newton(x: np.ndarray, target: np.ndarray, offset: float) -> tuple[float, float]:
    """Minimise the log loss of sigmoid(slope * x + offset), halving steps that go too far."""

    def loss_and_probability(slope: float, offset: float) -> tuple[float, np.ndarray]:
        z = slope * x + offset
        loss = np.sum(np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z))) - target * z)
        return float(loss), _sigmoid(z)

    slope, gain = 0.0, np.inf
    loss, p = loss_and_probability(slope, offset)
    while gain > 1e-10 * len(x):
        step = _newton_step(x, p - target, p * (1 - p))
        for scale in 0.5 ** np.arange(30):
            tried = slope - scale * step[0], offset - scale * step[1]
            new_loss, p = loss_and_probability(*tried)
            if new_loss < loss:
                break
        else:
            break  # no step makes it better: this is the best
        (slope, offset), gain, loss = tried, loss - new_loss, new_loss
    return slope, offset


def _newton_step(x: np.ndarray, gradient: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    g, h = gradient @ x, gradient.sum()
    weighted = weight * x
    a, b, c = weighted @ x + 1e-12, weighted.sum(), weight.sum() + 1e-12  # never singular
    determinant = a * c - b * b
    return float((c * g - b * h) / determinant), float((a * h - b * g) / determinant)


def _fit_isotonic(scores: np.ndarray, belongs: np.ndarray) -> ProbabilityCurve:
    """Fit the rising curve nearest to the labels; its knots are the ends of its level stretches."""
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
    """How often documents belonged, against how probable it was predicted to be, bin by bin."""

    predicted: np.ndarray  # mean probability in each bin that has pairs of document and category
    observed: np.ndarray  # share of the pairs that belong
    n_pairs: np.ndarray

    @property
    def expected_error(self) -> float:
        """Mean distance between what was predicted and what was so, over all pairs."""
        if not len(self.n_pairs):
            return float("nan")
        return float(np.average(np.abs(self.predicted - self.observed), weights=self.n_pairs))


def reliability_curve(
    probabilities: np.ndarray, labels: Labels | np.ndarray, n_bins: int = 10
) -> ReliabilityCurve:
    """Compare probabilities with what was so.

    Parameters
    ----------
    probabilities : array of shape (documents, categories)
        As a `Calibration` gives them; one column for the curve of one category.
    labels : Labels or array of shape (documents, categories)
        Which documents belong.
    n_bins : int, default=10
        Number of bins, equally wide; those without pairs are left out.

    Examples
    --------
    >>> predicted = np.array([[0.1], [0.2], [0.9], [0.7]])
    >>> curve = reliability_curve(predicted, np.array([[0], [1], [1], [1]]), n_bins=2)
    >>> curve.predicted, curve.observed, curve.expected_error
    (array([0.15, 0.8 ]), array([0.5, 1. ]), 0.275)
    """
    positives = Positives.of(labels)
    probabilities = positives.check(probabilities, "probabilities")
    inner = np.linspace(0, 1, n_bins + 1)[1:-1]
    bins = np.searchsorted(inner, probabilities.ravel())
    count = np.bincount(bins, minlength=n_bins)
    sums = np.bincount(bins, probabilities.ravel(), n_bins)
    own = probabilities[positives.within(probabilities.shape[1])]
    hits = np.bincount(np.searchsorted(inner, own), minlength=n_bins)
    some = count > 0
    return ReliabilityCurve(sums[some] / count[some], hits[some] / count[some], count[some])
