"""Thresholds learned from scores: what they shall achieve, and what if positives are few."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from thresher.errors import ParameterError
from thresher.evaluation.contingency import Contingency
from thresher.evaluation.ranking import CutPoints, Positives, midpoint, rankings
from thresher.rows import Labels

__all__ = ["SHRINKAGE", "Objective", "learn_offsets", "learn_thresholds"]

# Chosen on the cross-validated scores of Reuters' training documents by five learners, as the best
# compromises between micro- and macro-F1: learned on four folds' scores, measured on the fifth's.
SHRINKAGE = 3.0  # of 1, 2, 3, 5 and 10
LEAST_F = 0.1  # of 0.05, 0.1, 0.2 and 0.3
# By those of 20 Newsgroups and OHSUMED, of 3, 20 and 100, and of 1, 2 and 3.
OFFSET_SHRINKAGE, SWEEPS = 20.0, 2


class Objective(NamedTuple):
    """What a threshold shall achieve.

    `f_beta` is the largest F-beta, `value` being beta; `precision` is the most positives found with
    at least that precision; `recall` is the fewest documents assigned with at least that recall;
    `cost` is the least cost, `value` being how many false positives one false negative is worth.

    Examples
    --------
    >>> Objective.parse("cost=1:5")  # a false negative costs as much as five false positives
    Objective(kind='cost', value=5.0)
    """

    kind: str
    value: float

    @classmethod
    def parse(cls, text: str) -> Objective:
        """Read an objective as it is given on the command line."""
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
        """Raise unless the objective can be aimed at."""
        highest = {"f_beta": 1e3, "precision": 1.0, "recall": 1.0, "cost": 1e9}
        if not 0 < self.value <= highest.get(self.kind, 0):
            raise ParameterError(f"There is no objective {self.kind} of {self.value}.")

    def goodness(self, table: Contingency) -> tuple[Any, ...]:
        """Return figures by which tables of decisions compare, the first ones first.

        Where something was to be reached, the first is by how much it is missed, in thousandths.

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

    def worth_of_one(self, n_positives: Any) -> Any:
        """Return by how much one document can change the first figure of `goodness`, or so."""
        return max(1.0, self.value) if self.kind == "cost" else 1 / np.maximum(n_positives, 1)

    def is_worse(self, table: Contingency, than: Contingency) -> bool:
        """Tell whether decisions on many categories are worse than others.

        All categories count as one; of F-beta, the mean over the categories must not fall either.
        """
        if self.kind == "f_beta":
            one, two = (np.nan_to_num(each.f_beta(self.value)).mean() for each in (table, than))
            if one < two:
                return True
        return self.goodness(table.total()) < self.goodness(than.total())

    def best_cut(self, cuts: CutPoints) -> int:
        """Return how many documents to take; of equally good cuts, the one that takes fewest."""
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
    """Learn a threshold for each category, and one for all together.

    The fewer positives a category has, the less its own best threshold can be trusted, and the
    nearer it is moved to that of all pairs of document and category in one ranking: with n
    positives, the category's own counts n / (n + shrinkage). It does not count at all where even
    its best F is below 0.1: there, a threshold far down the ranking is better than none by a hair.

    Parameters
    ----------
    scores : array of shape (documents, categories)
        Scores of documents that the learner had not learned from when it scored them, as in
        cross-validation or before learning them; on documents it has learned from, thresholds
        come out too high.
    labels : Labels or array of shape (documents, categories)
        Which of them belong.
    objective : Objective or str, default="f1"
        What shall be achieved; see `Objective`.
    shrinkage : float, default=3.0
        How many positives weigh as much as all other categories together; 0 for thresholds that
        are each category's own.

    Returns
    -------
    thresholds : array of shape (categories,)
        A document is assigned when its score is above the threshold. All are finite.
    pooled : float
        The threshold of all categories together, also that of categories without positives.

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
    own = scores[positives.within(scores.shape[1])]
    pooled = _threshold(np.sort(scores, axis=None), own, objective) if len(own) else 0.0
    thresholds = np.full(scores.shape[1], pooled)
    for category, ranked, own in rankings(scores, positives):
        if objective.kind == "f_beta" and CutPoints.of(ranked, own).maximal_f1 < LEAST_F:
            continue
        trust = len(own) / (len(own) + shrinkage)
        thresholds[category] = trust * _threshold(ranked, own, objective) + (1 - trust) * pooled
    return thresholds, pooled


def learn_offsets(scores: np.ndarray, labels: Labels | np.ndarray) -> np.ndarray:
    """Learn what to take from the score of each category where the best category is chosen.

    A category's offset is the one with which most documents get the right category, the offsets of
    the others staying as they are; then all move at once. With n positives it counts
    n / (n + 20), and their mean is zero.

    Parameters
    ----------
    scores, labels
        As for `learn_thresholds`, each document having one category.

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
            loss = np.where(best == c, is_second, is_first)  # what would be right without it
            order = np.argsort(-lead, kind="stable")
            gains = np.cumsum(belongs[order, c].astype(np.int64) - loss[order])
            taken = int(np.argmax(gains)) + 1
            now = int(np.count_nonzero(lead > offsets[c]))
            if gains[taken - 1] > (gains[now - 1] if now else 0):
                own = lead[order[taken - 1 : taken + 1]].mean(dtype=np.float64)
                offsets[c] = own * n[c] / (n[c] + OFFSET_SHRINKAGE)
        offsets -= offsets.mean()
    return offsets


def _threshold(ranked: np.ndarray, own: np.ndarray, objective: Objective) -> float:
    """Return the best threshold of a ranking; one that is finite, so that it can be averaged."""
    taken = objective.best_cut(CutPoints.of(ranked, own))
    lowest, highest = float(ranked[0]), float(ranked[-1])
    return min(max(midpoint(ranked, taken), lowest - max(1.0, abs(lowest))), highest)
