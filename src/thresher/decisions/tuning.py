"""Thresholds and probabilities learned from documents that the learner had not learned from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from thresher.decisions.decisions import Decisions
from thresher.evaluation import Evaluation, evaluate
from thresher.evaluation.folds import stratified_k_fold
from thresher.rows import Labels

__all__ = ["Tuning", "tune_decisions"]

MOST_CALIBRATED = 5_000_000  # as many are enough for a curve, whose fit takes ten times the memory
FOLDS = 5  # in which what is to be expected is measured


@dataclass(frozen=True, eq=False)
class Tuning:
    """How decisions were learned, and what is to be expected of them.

    What is expected is measured fairly: each fifth of the documents is decided with thresholds
    learned on the other four.
    """

    objective: str | None  # what the thresholds were to achieve; None where they were left alone
    calibration: str | None  # the form of the curves to probabilities, if any were learned
    n_documents: int  # how many were scored for it
    n_available: int  # of how many; of very many, a sample is scored
    thresholds_before: np.ndarray
    thresholds_after: np.ndarray
    before: Evaluation  # of the decisions as they were
    after: Evaluation  # as they are to be expected now

    def __str__(self) -> str:
        n, of = self.n_documents, self.n_available
        what = f"a sample of {n:,} of {of:,}" if n < of else f"{n:,}"
        moves = ", ".join(
            f"{average}-F1 {100 * getattr(self.before, average)['f1']:.1f} -> "
            f"{100 * getattr(self.after, average)['f1']:.1f}"
            for average in ("micro", "macro")
        )
        return f"Decisions learned from the scores of {what} documents; expected: {moves}."

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can say it."""
        thresholds = self.thresholds_before.tolist(), self.thresholds_after.tolist()
        columns = zip(self.before.categories, *thresholds, strict=False)
        return {
            "objective": self.objective,
            "calibration": self.calibration,
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
    **limits: Any,
) -> tuple[Decisions, Tuning]:
    """Learn thresholds and probabilities, and measure what is to be expected of them.

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
    **limits
        Other settings of `Decisions` that shall change.
    """
    limited, n = decisions.replace(**limits), len(scores)
    tuned = _learned(limited, scores, labels, objective, calibration)
    decided = tuned.decide(scores)
    if objective is not None and n >= FOLDS:
        # Without a confidence to be reached, probabilities do not change a decision.
        kind = None if limited.abstain_below is None else calibration
        for train, test in stratified_k_fold(labels, FOLDS):
            part = _learned(limited, scores[train], labels.take(train), objective, kind)
            decided[test] = part.decide(scores[test])
    before = evaluate(scores, labels, categories, decisions=decisions.decide(scores))
    after = evaluate(scores, labels, categories, decisions=decided)
    thresholds = decisions.thresholds, tuned.thresholds
    n_available = n if n_available is None else n_available
    return tuned, Tuning(objective, calibration, n, n_available, *thresholds, before, after)


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
