"""Thresholds learned from scores: what they shall achieve, and what if positives are few."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thresher._ranking import CutPoints, Positives, midpoint, rankings
from thresher.errors import ParameterError
from thresher.rows import Labels

__all__ = ["SHRINKAGE", "Objective", "learn_thresholds"]

# Of 1, 2, 3, 5, 10 and 20, the best compromise between micro- and macro-F1 when the thresholds were
# learned on one half of the cross-validated scores of Reuters' training documents and measured on
# the other, with the scores of a passive-aggressive learner and of a support vector machine.
SHRINKAGE = 3.0


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
    positives, the category's own counts n / (n + shrinkage).

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
        trust = len(own) / (len(own) + shrinkage)
        thresholds[category] = trust * _threshold(ranked, own, objective) + (1 - trust) * pooled
    return thresholds, pooled


def _threshold(ranked: np.ndarray, own: np.ndarray, objective: Objective) -> float:
    """Return the best threshold of a ranking; one that is finite, so that it can be averaged."""
    taken = objective.best_cut(CutPoints.of(ranked, own))
    lowest, highest = float(ranked[0]), float(ranked[-1])
    return min(max(midpoint(ranked, taken), lowest - max(1.0, abs(lowest))), highest)
