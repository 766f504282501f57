"""Thresholds and probabilities learned from documents that the learner had not learned from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from thresher.decisions.calibration import reliability_curve
from thresher.decisions.decisions import Decisions
from thresher.decisions.thresholds import Objective
from thresher.errors import counted
from thresher.evaluation import Evaluation, evaluate
from thresher.evaluation.contingency import Contingency
from thresher.evaluation.folds import stratified_k_fold
from thresher.rows import Labels

__all__ = ["Tuning", "tune_decisions"]

MOST_CALIBRATED = 5_000_000  # as many are enough for a curve, whose fit takes ten times the memory
FOLDS = 5  # in which what is to be expected is measured
IN_DOUBT = 0.05  # pairs of a smaller probability are clear, and too many to show what is wrong
# What can be adopted; of a threshold for each category, those that promise less than the others
# are left out.
PER_CATEGORY, ONE_FOR_ALL, NONE = "per category", "one for all", "none"


@dataclass(frozen=True, eq=False)
class Tuning:
    """How decisions were learned, and what is to be expected of them.

    What is expected is measured fairly: each fifth of the documents is decided with thresholds
    learned on the other four. What is expected to be worse than before is not adopted.
    """

    objective: str | None  # what the thresholds were to achieve; None where they were left alone
    adopted: str  # "per category", "one for all" or "none": which of the learned thresholds
    calibration: str | None  # the form of the curves to probabilities, if any were learned
    n_documents: int  # how many were scored for it
    n_available: int  # of how many; of very many, a sample is scored
    thresholds_before: np.ndarray
    thresholds_after: np.ndarray
    before: Evaluation  # of the decisions as they were
    after: Evaluation  # as they are to be expected now
    calibration_error: float | None = None  # mean, where a probability is 0.05 or more

    @property
    def sentence(self) -> str:
        """Which thresholds were adopted, in a sentence, and whether that changes anything."""
        if self.objective is None:
            return "The thresholds were left alone."
        if self.adopted == NONE:
            return f"No thresholds for {self.objective} promise to be better: none were adopted."
        each = self.adopted == PER_CATEGORY
        which = "a threshold for each category" if each else "one threshold for all"
        is_same = np.all(self.before.decisions == self.after.decisions)
        return f"Adopted: {which}" + (", which changes no decision." if is_same else ".")

    def __str__(self) -> str:
        n, of = self.n_documents, self.n_available
        what = f"a sample of {n:,} of {of:,} documents" if n < of else counted(n, "document")
        moves = ", ".join(
            f"{average}-F1 {100 * getattr(self.before, average)['f1']:.1f} -> "
            f"{100 * getattr(self.after, average)['f1']:.1f}"
            for average in ("micro", "macro")
        )
        sure = ""
        if self.calibration_error is not None:
            sure = f" Probabilities of {IN_DOUBT} or more are off by {self.calibration_error:.3f}."
        return (
            f"Decisions learned from the scores of {what}; expected: {moves}. {self.sentence}{sure}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can say it."""
        thresholds = self.thresholds_before.tolist(), self.thresholds_after.tolist()
        columns = zip(self.before.categories, *thresholds, strict=False)
        return {
            "objective": self.objective,
            "adopted": self.adopted,
            "calibration": self.calibration,
            "calibration_error": self.calibration_error,
            "documents": self.n_documents,
            "documents_available": self.n_available,
            "thresholds": {name: {"before": old, "after": new} for name, old, new in columns},
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
        }


def tune_decisions(
    decisions: Decisions,
    scores: np.ndarray,
    labels: Labels,
    categories: Sequence[str],
    objective: str | None,
    calibration: str | None = None,
    n_available: int | None = None,
    folds: np.ndarray | None = None,
    **limits: Any,
) -> tuple[Decisions, Tuning]:
    """Learn thresholds and probabilities, and measure what is to be expected of them.

    A category whose own threshold promises less than the one of all together, or than the one it
    had, gets the best of these. If the whole still promises less than before, by the measure that
    the objective names, one threshold for all is tried; if that does too, the thresholds stay.

    Parameters
    ----------
    decisions : Decisions
        As they are; they are left alone.
    scores, labels
        As for `learn_thresholds`; of very many, probabilities are learned from the first ones.
    categories : sequence of str
        The names of the categories of the labels.
    objective : str or None
        What the thresholds shall achieve; None to leave them alone.
    calibration : {"sigmoid", "isotonic"} or None, default=None
        The form of the curves to probabilities; None to leave them alone.
    n_available : int, optional
        How many documents there are, if `scores` are of a sample.
    folds : array of int, optional
        Where each fold of the documents was scored by a learner of its own, the number of the fold.
        What is expected is then measured from fold to fold, as learners differ in what a score is
        worth, and the one that will decide is another one again.
    **limits
        Other settings of `Decisions` that shall change.
    """
    limited, n = decisions.replace(**limits), len(scores)
    tuned = _learned(limited, scores, labels, objective, calibration)
    rivals = _rivals(limited, tuned)
    decided = np.stack([one.decide(scores) for one in rivals.values()])
    probabilities = None if calibration is None else tuned.probabilities(scores)
    fold = np.zeros(n, np.int64) if folds is None else folds % FOLDS
    if folds is None and n >= FOLDS:
        for number, split in enumerate(stratified_k_fold(labels, FOLDS)):
            fold[split.test] = number
    if fold.any() and (objective or calibration):
        for number in np.unique(fold):
            test, train = (np.flatnonzero(which) for which in (fold == number, fold != number))
            part = _learned(limited, scores[train], labels.take(train), objective, calibration)
            for place, one in enumerate(_rivals(limited, part).values()):
                decided[place, test] = one.decide(scores[test])
            if probabilities is not None:
                probabilities[test] = part.probabilities(scores[test])
    adopted = NONE
    if objective is not None:
        aim = Objective.parse(objective)
        if tuned.mode == "multi-label":
            numbers, decided[0] = _choose(aim, decided, labels, fold)
            thresholds = [one.thresholds for one in rivals.values()]
            rivals[PER_CATEGORY].thresholds = np.choose(numbers, thresholds)
        tables = [evaluate(None, labels, decisions=one).contingency for one in decided]
        worse = [aim.is_worse(table, tables[-1]) for table in tables]
        adopted = list(rivals)[worse.index(False)]
    before = evaluate(scores, labels, categories, decisions=decisions.decide(scores))
    after = evaluate(scores, labels, categories, decisions=decided[list(rivals).index(adopted)])
    error = None
    if probabilities is not None:
        error = reliability_curve(probabilities, labels, above=IN_DOUBT).expected_error
    final = rivals[adopted]
    return final, Tuning(
        objective, adopted, calibration, n, n if n_available is None else n_available,
        decisions.thresholds, final.thresholds, before, after, error,
    )  # fmt: skip


def _rivals(before: Decisions, learned: Decisions) -> dict[str, Decisions]:
    """Return what can be adopted, the most wanted first and what was before last."""
    one, none = learned.replace(), learned.replace(default_threshold=before.default_threshold)
    one.thresholds = np.full_like(learned.thresholds, learned.default_threshold)
    none.thresholds = before.thresholds
    return {PER_CATEGORY: learned, ONE_FOR_ALL: one, NONE: none}


def _choose(
    aim: Objective, decided: np.ndarray, labels: Labels, fold: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Choose among rivals for each category: by all documents, and by the folds' decisions.

    Returns the number of the best rival of each category, and what is to be expected of it: each
    fold is decided by those that are best on the others. One document more or less is chance: by no
    more than that, the first rival is not beaten.
    """
    folds = [np.flatnonzero(fold == number) for number in np.unique(fold)]
    tables = np.array(  # of rivals, folds, cells of a table, categories
        [
            [evaluate(None, labels.take(rows), decisions=one[rows]).contingency for rows in folds]
            for one in decided
        ]
    )

    def best(parts: np.ndarray) -> np.ndarray:
        counts = parts.sum(axis=1)[:, :, : decided.shape[2]]
        goodness = np.array([aim.goodness(Contingency(*table)) for table in counts])
        goodness[0, 0] += aim.worth_of_one(counts[0, 0] + counts[0, 2])
        return np.asarray(np.lexsort(-goodness.swapaxes(0, 1)[::-1], axis=0)[0])

    expected = decided[0].copy()
    for number, rows in enumerate(folds):
        elsewhere = best(np.delete(tables, number, axis=1) if len(folds) > 1 else tables)
        expected[rows] = np.take_along_axis(decided[:, rows], elsewhere[None, None], axis=0)[0]
    return best(tables), expected


def _learned(
    decisions: Decisions, scores: np.ndarray, labels: Labels, *aims: str | None
) -> Decisions:
    """Return decisions that have learned thresholds for an objective, and probabilities, or not."""
    learned, (objective, calibration) = decisions.replace(), aims
    if objective is not None:
        learned.tune(scores, labels, objective)
    if calibration is not None:
        n = max(1, MOST_CALIBRATED // max(1, scores.shape[1]))
        learned.calibrate(scores[:n], labels.take(np.arange(min(n, len(scores)))), calibration)
    return learned
