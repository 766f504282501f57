"""Thresholds and probabilities learned from held-out scores, and what they achieve."""

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

MOST_CALIBRATED = 5_000_000  # scores for a calibration, whose fit takes ten times their memory
FOLDS = 5  # in which the expected measures are estimated
IN_DOUBT = 0.05  # pairs of a smaller probability are clear, and so many that they hide the others
# The kinds of thresholds that can be adopted.
PER_CATEGORY, ONE_FOR_ALL, NONE = "per category", "one for all", "none"


@dataclass(frozen=True, eq=False)
class Tuning:
    """How decisions were learned, and the measures expected of them.

    The expected measures are cross-validated: each fifth of the documents is decided with
    thresholds learned on the other four. Thresholds that are expected to be worse than those before
    are not adopted.

    Attributes
    ----------
    objective : str or None
        The objective of the thresholds; None if they were not learned.
    adopted : {"per category", "one for all", "none"}
        Which of the learned thresholds were adopted.
    calibration : str or None
        The form of the calibration curves; None if there are none.
    n_documents, n_available : int
        The number of documents scored, of those available; if there are too many, of a sample.
    thresholds_before, thresholds_after : array of shape (categories,)
        The thresholds.
    before, after : Evaluation
        The measures of the decisions before, and those expected now.
    calibration_error : float or None
        The mean error of probabilities of 0.05 or more.
    """

    objective: str | None
    adopted: str
    calibration: str | None
    n_documents: int
    n_available: int
    thresholds_before: np.ndarray
    thresholds_after: np.ndarray
    before: Evaluation
    after: Evaluation
    calibration_error: float | None = None

    @property
    def sentence(self) -> str:
        """A sentence: which thresholds were adopted, and whether that changes any decision."""
        if self.objective is None:
            return "The thresholds were left alone."
        if self.adopted == NONE:
            return f"No thresholds for {self.objective} promise to be better: none were adopted."
        is_each = self.adopted == PER_CATEGORY
        which = "a threshold for each category" if is_each else "one threshold for all"
        is_same = np.all(self.before.decisions == self.after.decisions)
        return f"Adopted: {which}" + (", which changes no decision." if is_same else ".")

    def __str__(self) -> str:
        n, n_all = self.n_documents, self.n_available
        what = f"a sample of {n:,} of {n_all:,} documents" if n < n_all else counted(n, "document")
        moves = ", ".join(
            f"{average}-F1 {100 * getattr(self.before, average)['f1']:.1f} -> "
            f"{100 * getattr(self.after, average)['f1']:.1f}"
            for average in ("micro", "macro")
        )
        learned = f"Decisions learned from the scores of {what}; expected: {moves}. {self.sentence}"
        if self.calibration_error is not None:
            error = f"off by {self.calibration_error:.3f}"
            learned += f" Probabilities of {IN_DOUBT} or more are {error}."
        return learned

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, for JSON."""
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
    """Learn thresholds and probabilities, and cross-validate them.

    Each category gets its learned threshold, the threshold for all or the one it had, whichever is
    expected to be best. If all of them together are expected to be worse than those before, by the
    measure of the objective, one threshold for all is tried; if that is worse too, the thresholds
    do not change.

    Parameters
    ----------
    decisions : Decisions
        The decisions before, which are not changed.
    scores, labels
        As for `learn_thresholds`; if there are too many, probabilities are learned from the first.
    categories : sequence of str
        The names of the categories of the labels.
    objective : str or None
        The objective of the thresholds; None to keep the thresholds.
    calibration : {"sigmoid", "isotonic"} or None, default=None
        The form of the calibration curves; None to keep those before.
    n_available : int, optional
        The number of all documents, if `scores` are of a sample.
    folds : array of int, optional
        The fold of each document, if each fold was scored by a learner trained on the others. Then
        the expected measures are cross-validated over these folds, because scores of different
        learners are not on the same scale.
    **limits
        Other settings of `Decisions` to change.
    """
    limited, n = decisions.replace(**limits), len(scores)
    tuned = _learned(limited, scores, labels, objective, calibration)
    candidates = _candidates(limited, tuned)
    decided = np.stack([candidate.decide(scores) for candidate in candidates.values()])
    probabilities = None if calibration is None else tuned.probabilities(scores)
    fold = np.zeros(n, np.int64) if folds is None else folds % FOLDS
    if folds is None and n >= FOLDS:
        for number, split in enumerate(stratified_k_fold(labels, FOLDS)):
            fold[split.test] = number
    if fold.any() and (objective or calibration):
        for number in np.unique(fold):
            test, train = (np.flatnonzero(mask) for mask in (fold == number, fold != number))
            in_fold = _learned(limited, scores[train], labels.take(train), objective, calibration)
            for index, candidate in enumerate(_candidates(limited, in_fold).values()):
                decided[index, test] = candidate.decide(scores[test])
            if probabilities is not None:
                probabilities[test] = in_fold.probabilities(scores[test])
    adopted = NONE
    if objective is not None:
        aim = Objective.parse(objective)
        if tuned.mode == "multi-label":
            numbers, decided[0] = _choose(aim, decided, labels, fold)
            thresholds = [candidate.thresholds for candidate in candidates.values()]
            candidates[PER_CATEGORY].thresholds = np.choose(numbers, thresholds)
        tables = [evaluate(None, labels, decisions=matrix).contingency for matrix in decided]
        worse = [aim.is_worse(table, tables[-1]) for table in tables]
        adopted = list(candidates)[worse.index(False)]
    before = evaluate(scores, labels, categories, decisions=decisions.decide(scores))
    expected = decided[list(candidates).index(adopted)]
    after = evaluate(scores, labels, categories, decisions=expected)
    error = None
    if probabilities is not None:
        error = reliability_curve(probabilities, labels, above=IN_DOUBT).expected_error
    final = candidates[adopted]
    return final, Tuning(
        objective, adopted, calibration, n, n if n_available is None else n_available,
        decisions.thresholds, final.thresholds, before, after, error,
    )  # fmt: skip


def _candidates(before: Decisions, learned: Decisions) -> dict[str, Decisions]:
    """Return the decisions that can be adopted, the preferred first and those before last."""
    one_for_all = learned.replace(
        thresholds=np.full_like(learned.thresholds, learned.default_threshold)
    )
    none = learned.replace(default_threshold=before.default_threshold, thresholds=before.thresholds)
    return {PER_CATEGORY: learned, ONE_FOR_ALL: one_for_all, NONE: none}


def _choose(
    aim: Objective, decided: np.ndarray, labels: Labels, fold: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Choose the best of several decisions for each category.

    Returns the number of the best decisions for each category, and the decisions that are expected:
    each fold is decided by those that are best on the other folds. As one document more or less is
    chance, the first ones win unless others are better by more than that.

    Parameters
    ----------
    aim : Objective
        The objective.
    decided : array of bool (candidates, documents, categories)
        The cross-validated decisions.
    labels : Labels
        The labels of the documents.
    fold : array of int
        The fold of each document.
    """
    folds = [np.flatnonzero(fold == number) for number in np.unique(fold)]
    tables = np.array(  # (candidates, folds, cells of a table, categories)
        [
            [
                evaluate(None, labels.take(rows), decisions=matrix[rows]).contingency
                for rows in folds
            ]
            for matrix in decided
        ]
    )

    def best(of_folds: np.ndarray) -> np.ndarray:
        counts = of_folds.sum(axis=1)[:, :, : decided.shape[2]]
        goodness = np.array([aim.goodness(Contingency(*table)) for table in counts])
        goodness[0, 0] += aim.effect_of_document(counts[0, 0] + counts[0, 2])
        return np.asarray(np.lexsort(-goodness.swapaxes(0, 1)[::-1], axis=0)[0])

    expected = decided[0].copy()
    for number, rows in enumerate(folds):
        elsewhere = best(np.delete(tables, number, axis=1) if len(folds) > 1 else tables)
        expected[rows] = np.take_along_axis(decided[:, rows], elsewhere[None, None], axis=0)[0]
    return best(tables), expected


def _learned(
    decisions: Decisions, scores: np.ndarray, labels: Labels, *aims: str | None
) -> Decisions:
    """Return decisions with thresholds and probabilities learned, if these are asked for."""
    learned, (objective, calibration) = decisions.replace(), aims
    if objective is not None:
        learned.tune(scores, labels, objective)
    if calibration is not None:
        n = max(1, MOST_CALIBRATED // max(1, scores.shape[1]))
        learned.calibrate(scores[:n], labels.take(np.arange(min(n, len(scores)))), calibration)
    return learned
