"""Precision and recall of a category at other thresholds, at a bounded number of points."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thresher.decisions import Decisions
from thresher.evaluation import Evaluation
from thresher.evaluation.ranking import CutPoints, midpoint, rankings


class ThresholdCurve(NamedTuple):
    """Decisions in a category at increasing thresholds; the last assigns nothing."""

    thresholds: np.ndarray
    assigned: np.ndarray  # documents above each threshold
    hits: np.ndarray  # documents above it that belong
    n_positives: int
    chosen: int  # index of the current threshold

    @property
    def precision(self) -> np.ndarray:
        """Share of the assigned documents that belong; 1 if none is assigned."""
        return np.where(self.assigned, self.hits / np.maximum(self.assigned, 1), 1.0)

    @property
    def recall(self) -> np.ndarray:
        """Share of the documents that belong that are assigned."""
        return np.asarray(self.hits / self.n_positives)


def threshold_curves(
    evaluation: Evaluation, decisions: Decisions, most: int = 200
) -> dict[int, ThresholdCurve]:
    """Return the curve of each category that has scores and positives.

    One threshold changes at a time: in single-label mode, a document gets the category if its
    margin is above those of all other categories. A curve has at most about `most` points.
    """
    if evaluation.scores is None or evaluation.positives is None:
        return {}
    scores, table, curves = (
        deciding_scores(evaluation.scores, decisions),
        evaluation.contingency,
        {},
    )
    for c, ranked, positives in rankings(scores, evaluation.positives):
        hits = int(table.true_positives[c])
        decided = float(decisions.thresholds[c]), hits + int(table.false_positives[c]), hits
        curves[c] = _curve(ranked, positives, decided, most)
    return curves


def deciding_scores(scores: np.ndarray, decisions: Decisions) -> np.ndarray:
    """Return scores that decide by the threshold of their category while all others are fixed.

    In single-label mode, they are lower than the scores by the largest margin of another category.
    """
    if decisions.mode == "multi-label" or scores.shape[1] < 2:
        return scores
    margins = scores - decisions.thresholds
    second, first = np.partition(margins, -2, axis=1)[:, -2:].T
    rivals = np.where(margins == first[:, None], second[:, None], first[:, None])
    if decisions.allow_none:
        rivals = np.maximum(rivals, 0)
    return np.asarray(scores - rivals)


def _curve(
    ranked: np.ndarray, positives: np.ndarray, decided: tuple[float, int, int], most: int
) -> ThresholdCurve:
    """Return a curve with points where another positive is found, and some in between."""
    n, (threshold, assigned, hits) = len(ranked), decided
    hit_at = CutPoints.of(ranked, positives).taken
    some = np.linspace(0, len(hit_at) - 1, min(len(hit_at), most * 3 // 4)).astype(int)
    last = max(int(hit_at[-1]), assigned)
    between = np.geomspace(1, last, max(2, most // 5)).astype(int)
    scores = ranked[n - np.concatenate([hit_at[some], between])]
    taken = np.unique(n - np.searchsorted(ranked, scores))  # tied documents are assigned together
    taken = taken[taken != assigned][::-1]
    cuts = [*taken.tolist(), *([0] if assigned else [])]
    order = np.sort(positives)
    moved = ((_finite(ranked, k), k) for k in cuts)
    points = [(t, k, len(positives) - int(np.searchsorted(order, t, "right"))) for t, k in moved]
    before = sum(k > assigned for _, k, _ in points)
    points.insert(before, (threshold, assigned, hits))
    thresholds, counts, hits_there = map(np.array, zip(*points, strict=True))
    return ThresholdCurve(thresholds, counts, hits_there, len(positives), before)


def _finite(ranked: np.ndarray, taken: int) -> float:
    """Return a finite threshold that exactly the `taken` highest scores exceed."""
    if taken == len(ranked):
        return float(ranked[0]) - max(1.0, abs(float(ranked[0])))
    if taken == 0:  # above the highest in spite of rounding
        return float(ranked[-1]) + 1e-6 * max(1.0, abs(float(ranked[-1])))
    return midpoint(ranked, taken)
