"""Thresholds learned from scores, for an objective such as the largest F1."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from thresher.errors import ParameterError
from thresher.evaluation.contingency import Contingency
from thresher.evaluation.ranking import CutPoints, Positives, midpoint, rankings
from thresher.rows import Labels

# Chosen on cross-validated scores of five learners on Reuters' training documents, as the best
# compromises between micro- and macro-F1: learned on the scores of four folds, measured on a fifth.
SHRINKAGE = 3.0  # among 1, 2, 3, 5 and 10
LEAST_F = 0.1  # among 0.05, 0.1, 0.2 and 0.3
# Chosen in the same way on 20 Newsgroups and OHSUMED, among 3, 20 and 100, and 1, 2 and 3.
OFFSET_SHRINKAGE, SWEEPS = 20.0, 2


class Objective(NamedTuple):
    """The objective of learning a threshold.

    `f_beta` is the largest F-beta, where `value` is beta; `precision` is the largest recall with at
    least that precision; `recall` is the fewest documents assigned with at least that recall;
    `cost` is the least cost, where a false negative costs `value` times as much as a false
    positive.

    Examples
    --------
    >>> Objective.parse("cost=1:5")  # a false negative costs as much as five false positives
    Objective(kind='cost', value=5.0)
    """

    kind: str
    value: float

    @classmethod
    def parse(cls, text: str) -> Objective:
        """Return the objective that a text such as "f1" or "precision=0.9" describes."""
        name, _, value = text.strip().lower().partition("=")
        try:
            if name.startswith("f") and not value:
                objective = cls("f_beta", float(name[1:]))
            elif name == "cost":
                false_positive, false_negative = map(float, value.split(":"))
                objective = cls("cost", false_negative / false_positive)
            else:
                objective = cls(name, float(value))
            objective.check()
        except (ValueError, ZeroDivisionError) as error:
            raise ParameterError(
                f"The objective {text!r} is unknown; it must be f1, f0.5, precision=0.95, "
                "recall=0.9 or cost=1:5 (a false positive to a false negative), with any number."
            ) from error
        return objective

    def check(self) -> None:
        """Raise `ParameterError` if the value is not possible."""
        highest = {"f_beta": 1e3, "precision": 1.0, "recall": 1.0, "cost": 1e9}
        if not 0 < self.value <= highest.get(self.kind, 0):
            raise ParameterError(f"There is no objective {self.kind} of {self.value}.")

    def goodness(self, table: Contingency) -> tuple[Any, ...]:
        """Return numbers by which tables of decisions are compared, the most important first.

        For a precision or recall to be reached, the first is by how much it is missed, rounded to
        thousandths.

        Examples
        --------
        >>> missed, recall = Objective("precision", 0.9).goodness(Contingency(4, 1, 4, 91))
        >>> print(f"{missed:.3f} {recall:.3f}")
        -0.100 0.500
        """
        if self.kind == "f_beta":
            return (np.nan_to_num(table.f_beta(self.value)),)
        if self.kind == "cost":
            return (-table.false_positives - self.value * table.false_negatives,)
        rates = [np.nan_to_num(rate, nan=1.0) for rate in (table.precision, table.recall)]
        aim, other = rates if self.kind == "precision" else rates[::-1]
        return -np.round(np.maximum(0.0, self.value - aim), 3), other

    def effect_of_document(self, n_positives: Any) -> Any:
        """Return about how much one document can change the first number of `goodness`."""
        return max(1.0, self.value) if self.kind == "cost" else 1 / np.maximum(n_positives, 1)

    def is_worse(self, table: Contingency, than: Contingency) -> bool:
        """Return True if decisions are worse than others, by the sums over the categories.

        With F-beta, they are also worse if its mean over the categories is lower.
        """
        if self.kind == "f_beta":
            means = [np.nan_to_num(t.f_beta(self.value)).mean() for t in (table, than)]
            if means[0] < means[1]:
                return True
        return self.goodness(table.total()) < self.goodness(than.total())

    def best_cut(self, cuts: CutPoints) -> int:
        """Return the best number of documents to assign; of equally good ones, the least."""
        taken, hits = np.append(0, cuts.taken), np.append(0, cuts.hits)
        if self.kind == "f_beta":
            goodness = hits / (self.value**2 * cuts.n_positives + taken)
        elif self.kind == "precision":
            goodness = np.where(hits / np.maximum(taken, 1) >= self.value, hits, 0)
        elif self.kind == "recall":
            goodness = np.where(hits / cuts.n_positives >= self.value, -taken, -np.inf)
        else:
            goodness = (hits - taken) - self.value * (cuts.n_positives - hits)
        return int(taken[np.argmax(goodness)])


def learn_thresholds(
    scores: np.ndarray,
    labels: Labels | np.ndarray,
    objective: Objective | str = "f1",
    *,
    shrinkage: float = SHRINKAGE,
) -> tuple[np.ndarray, float]:
    """Learn a threshold for each category, and one for all of them.

    The best threshold of a category with few positives is unreliable. Therefore it is averaged with
    the pooled threshold, that of all pairs of document and category in one ranking: with n
    positives, its weight is n / (n + shrinkage). A category whose best F is below 0.1 gets the
    pooled threshold.

    Parameters
    ----------
    scores : array of shape (documents, categories)
        Scores of documents that the learner has not been trained on, as in cross-validation. Those
        of training documents give thresholds that are too high.
    labels : Labels or array of shape (documents, categories)
        Which documents belong to which categories.
    objective : Objective or str, default="f1"
        The objective; see `Objective`.
    shrinkage : float, default=3.0
        The number of positives with which a category's threshold and the pooled one have equal
        weight; with 0, categories with positives ignore the pooled threshold.

    Returns
    -------
    thresholds : array of shape (categories,)
        A document is assigned when its score is above the threshold. All are finite.
    pooled : float
        The pooled threshold, which categories without positives get.

    Examples
    --------
    >>> scores = np.array([[3.0, 1.0], [2.0, -1.0], [1.0, -2.0], [-1.0, -3.0]])
    >>> labels = np.array([[1, 1], [1, 0], [0, 0], [0, 0]])
    >>> learn_thresholds(scores, labels)
    (array([0.6, 0. ]), 0.0)
    """
    objective = Objective.parse(objective) if isinstance(objective, str) else objective
    objective.check()
    positives = Positives.of(labels)
    scores = positives.check(scores, "scores")
    hits = scores[positives.within(scores.shape[1])]
    pooled = _threshold(np.sort(scores, axis=None), hits, objective) if len(hits) else 0.0
    thresholds = np.full(scores.shape[1], pooled)
    for category, ranked, hits in rankings(scores, positives):
        if objective.kind == "f_beta" and CutPoints.of(ranked, hits).maximal_f1 < LEAST_F:
            continue
        weight = len(hits) / (len(hits) + shrinkage)
        thresholds[category] = weight * _threshold(ranked, hits, objective) + (1 - weight) * pooled
    return thresholds, pooled


def learn_offsets(scores: np.ndarray, labels: Labels | np.ndarray) -> np.ndarray:
    """Learn offsets to subtract from the scores before the best category is chosen.

    The offset of each category is the one with which most documents get the right category while
    the offsets of the others are fixed; then it is multiplied by n / (n + 20), where n is its
    number of positives. The mean of the offsets is subtracted from all of them.

    Parameters
    ----------
    scores, labels
        As for `learn_thresholds`; each document has one category.

    Examples
    --------
    >>> scores = np.array([[3.0, 1.0], [2.0, 1.0], [1.0, 0.5], [1.0, 0.0]] * 10)
    >>> learn_offsets(scores, np.array([[1, 0], [1, 0], [0, 1], [1, 0]] * 10))
    array([ 0.35, -0.35])
    """
    positives = Positives.of(labels)
    scores = positives.check(scores, "scores")
    belongs, n = positives.mask(scores.shape[1]), positives.counts[: scores.shape[1]]
    rows, offsets = np.arange(len(scores)), np.zeros(scores.shape[1])
    for _ in range(SWEEPS if scores.shape[1] > 1 and len(scores) else 0):
        margins, best_two = scores - offsets, []
        for _ in range(2):
            best = margins.argmax(axis=1)
            best_two.append((best, margins[rows, best], belongs[rows, best]))
            margins[rows, best] = -np.inf
        (best, first, is_first), (_, second, is_second) = best_two
        for c in np.flatnonzero(n):
            lead = scores[:, c] - np.where(best == c, second, first)
            loss = np.where(best == c, is_second, is_first)  # what is right without the category
            order = np.argsort(-lead, kind="stable")
            gains = np.cumsum(belongs[order, c].astype(np.int64) - loss[order])
            taken = int(np.argmax(gains)) + 1
            taken_now = int(np.count_nonzero(lead > offsets[c]))
            if gains[taken - 1] > (gains[taken_now - 1] if taken_now else 0):
                best_offset = lead[order[taken - 1 : taken + 1]].mean(dtype=np.float64)
                offsets[c] = best_offset * n[c] / (n[c] + OFFSET_SHRINKAGE)
        offsets -= offsets.mean()
    return offsets


def _threshold(ranked: np.ndarray, hits: np.ndarray, objective: Objective) -> float:
    """Return the best threshold of a ranking, a finite one, so that it can be averaged."""
    taken = objective.best_cut(CutPoints.of(ranked, hits))
    lowest, highest = float(ranked[0]), float(ranked[-1])
    return min(max(midpoint(ranked, taken), lowest - max(1.0, abs(lowest))), highest)
