"""From scores to categories: thresholds, limits per document, one category or several."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np

from thresher._kernels.scoring import decide_documents
from thresher.decisions.calibration import Calibration
from thresher.decisions.thresholds import SHRINKAGE, Objective, learn_offsets, learn_thresholds
from thresher.errors import ModelError, ParameterError, brief, counted
from thresher.evaluation.ranking import Positives
from thresher.parameters import Number, Whole
from thresher.rows import Labels
from thresher.state import require_field, require_tensor

__all__ = ["Decisions"]

_MODES = ("multi-label", "single-label")
_SETTINGS: dict[str, type] = {
    "mode": str, "default_threshold": float, "at_least": int, "at_most": int, "allow_none": bool,
    "abstain_below": float,
}  # fmt: skip
_BOUNDED = float(np.finfo(np.float32).max)  # as scores are
_OPTIONAL = ("at_most", "abstain_below")


@dataclass(eq=False, repr=False)
class Decisions:
    """How the scores of a document become its categories.

    A category's margin is its score less its threshold. In multi-label mode, a document gets every
    category whose margin is above zero, but at least `at_least` and at most `at_most` of them,
    those of the largest margins. In single-label mode it gets the category of the largest margin.
    Of equal margins, the category that was met first goes first.

    Parameters
    ----------
    mode : {"multi-label", "single-label"}, default="multi-label"
        Whether a document may have several categories.
    thresholds : array of shape (categories,), optional
        What a score must exceed; by default, and for categories met later, `default_threshold`.
    default_threshold : float, default=0.0
        The threshold of categories that have none of their own: the learner's zero.
    at_least : int, default=0
        Fewest categories a document gets in multi-label mode.
    at_most : int, optional
        Most categories a document gets in multi-label mode; by default, there is no limit.
    allow_none : bool, default=False
        In single-label mode, whether "none of these" is an answer, given when no margin is above
        zero.
    abstain_below : float, optional
        A document gets no category when its `confidence` is below this; needs `calibrate`.

    Examples
    --------
    >>> scores = np.array([[0.5, -1.0, 2.0], [-3.0, -1.0, -2.0]])
    >>> Decisions().grow(3).decide(scores).astype(int)
    array([[1, 0, 1],
           [0, 0, 0]])
    >>> Decisions("single-label").grow(3).decide(scores).astype(int)
    array([[0, 0, 1],
           [0, 1, 0]])
    """

    mode: str = "multi-label"
    thresholds: Any = None
    _: KW_ONLY
    default_threshold: float = 0.0
    at_least: int = 0
    at_most: int | None = None
    allow_none: bool = False
    abstain_below: float | None = None
    calibration: Calibration | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        fewest, most, sure = self.at_least, self.at_most, self.abstain_below
        if self.mode not in _MODES:
            raise ParameterError(
                f"The mode of decision is {self.mode!r}; it must be one of {_MODES}."
            )
        limits = Whole(0).problem(fewest), Whole(1, optional=True).problem(most)
        if any(limits) or (most is not None and most < fewest):
            raise ParameterError(
                f"A document cannot get at least {brief(fewest)} and at most {brief(most)} "
                "categories."
            )
        if Number(0, 1, optional=True).problem(sure):
            raise ParameterError(f"abstain_below is {brief(sure)}; it must be from 0 to 1.")
        if Number(-_BOUNDED, _BOUNDED).problem(self.default_threshold):
            raise ParameterError(
                f"The default threshold is {brief(self.default_threshold)}; it must be a number."
            )
        self.thresholds = np.array([] if self.thresholds is None else self.thresholds, np.float64)
        if self.thresholds.ndim != 1 or not (np.abs(self.thresholds) <= _BOUNDED).all():
            raise ParameterError("Thresholds must be one number per category, and finite.")

    def grow(self, n_categories: int) -> Decisions:
        """Give categories that were met since the default threshold; return self."""
        new = [self.default_threshold] * (n_categories - len(self.thresholds))
        self.thresholds = np.append(self.thresholds, new)
        if self.calibration is not None:
            self.calibration = self.calibration.grown(n_categories)
        return self

    def replace(self, **settings: Any) -> Decisions:
        """Return decisions with some other settings, and the same thresholds and probabilities."""
        own = {name: getattr(self, name) for name in (*_SETTINGS, "thresholds")}
        replaced = Decisions(**(own | settings))
        replaced.calibration = self.calibration
        return replaced

    def take(self, numbers: np.ndarray) -> Decisions:
        """Return decisions for some of the categories, given their numbers or which are kept."""
        part = self.replace()
        part.thresholds = self.thresholds[numbers]
        if self.calibration is not None:
            part.calibration = self.calibration.take(numbers)
        return part

    def tune(
        self,
        scores: np.ndarray,
        labels: Labels | np.ndarray,
        objective: Objective | str = "f1",
        *,
        shrinkage: float = SHRINKAGE,
    ) -> Decisions:
        """Learn the thresholds as `learn_thresholds`, which has the same parameters; return self.

        In single-label mode, where the best category is chosen, the thresholds for F are those of
        `learn_offsets`. To them, one threshold for all is added, that of the best score of a
        document; it matters when `allow_none` is set.
        """
        if self.mode == "single-label":
            aim = Objective.parse(objective) if isinstance(objective, str) else objective
            offsets = np.zeros(np.shape(scores)[1])
            if aim.kind == "f_beta":
                offsets = learn_offsets(scores, labels)
            best = _best_only(scores - offsets, labels)
            _, pooled = learn_thresholds(*best, aim, shrinkage=shrinkage)
            thresholds = offsets + pooled
        else:
            thresholds, pooled = learn_thresholds(scores, labels, objective, shrinkage=shrinkage)
        self.thresholds, self.default_threshold = thresholds, pooled
        return self

    def calibrate(
        self, scores: np.ndarray, labels: Labels | np.ndarray, kind: str = "sigmoid"
    ) -> Decisions:
        """Learn what probability a score stands for, as `Calibration.fit` does; return self."""
        self.calibration = Calibration.fit(scores, labels, kind)
        return self

    def probabilities(
        self, scores: np.ndarray, own: Callable[[np.ndarray], np.ndarray] | None = None
    ) -> np.ndarray:
        """Return the probability that each document belongs to each category.

        In single-label mode without "none of these", a document's probabilities sum to one.

        Parameters
        ----------
        scores : array (documents, categories)
            What the learner gives.
        own : callable, optional
            What turns scores into the learner's own probabilities, where none were learned.
        """
        scores = self._check(scores)
        turn = own if self.calibration is None else self.calibration.probabilities
        if turn is None:
            raise ParameterError("There are no probabilities yet: call calibrate first.")
        probabilities = turn(scores)
        if self.mode == "single-label" and not self.allow_none:
            probabilities = np.maximum(probabilities, 1e-12)  # all of them may be zero
            probabilities /= probabilities.sum(axis=1, keepdims=True)
        return probabilities

    def confidence(self, scores: np.ndarray) -> np.ndarray:
        """Return how probable it is that a document's decision is right.

        In single-label mode, it is the probability of the category it gets; in multi-label mode,
        and for "none of these", that of the least sure yes or no.
        """
        return self._confidence(scores, self.replace(abstain_below=None).decide(scores))

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """Return which categories each document gets, given its scores: documents by categories."""
        numbers, ends = self.decide_numbers(scores)
        chosen = np.zeros(np.shape(scores), bool)
        chosen[np.repeat(np.arange(len(chosen)), np.diff(ends)), numbers] = True
        return chosen

    def decide_numbers(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the categories of all documents, one document after the other, and their ends.

        The categories are numbers, of each document those of the largest margins first; those of
        document i stand from `ends[i]` to `ends[i + 1]`.
        """
        scores = np.ascontiguousarray(self._check(scores))
        at_least, at_most = self.limits
        numbers = np.empty(len(scores) * min(2, at_most) + scores.shape[1], np.int64)
        ends, done = np.zeros(len(scores) + 1, np.int64), 0
        while True:
            done = decide_documents(done, scores, self.thresholds, at_least, at_most, numbers, ends)
            if done == len(scores):
                break
            numbers = np.append(numbers, np.empty_like(numbers))
        numbers = numbers[: ends[-1]]
        if self.abstain_below is not None:
            documents = np.repeat(np.arange(len(scores)), np.diff(ends))
            chosen = np.zeros(scores.shape, bool)
            chosen[documents, numbers] = True
            is_sure = self._confidence(scores, chosen) >= self.abstain_below
            numbers = numbers[is_sure[documents]]
            ends = np.append(0, np.cumsum(np.diff(ends) * is_sure))
        return numbers, ends

    @property
    def limits(self) -> tuple[int, int]:
        """How many categories a document gets at least and at most."""
        if self.mode == "single-label":
            return 0 if self.allow_none else 1, 1
        return self.at_least, len(self.thresholds) if self.at_most is None else self.at_most

    def _confidence(self, scores: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        probabilities = self.probabilities(scores)
        sure = np.where(chosen, probabilities, 1 - probabilities).min(axis=1, initial=1.0)
        if self.mode == "single-label":
            best = np.where(chosen, probabilities, 0.0).max(axis=1, initial=0.0)
            sure = np.where(chosen.any(axis=1), best, sure)
        return np.asarray(sure)

    def _check(self, scores: np.ndarray) -> np.ndarray:
        scores = np.asarray(scores)
        if scores.ndim != 2 or scores.shape[1] != len(self.thresholds):
            raise ParameterError(
                f"The scores have the shape {scores.shape}; there are thresholds for "
                f"{counted(len(self.thresholds), 'category')}."
            )
        return scores

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return what a model file keeps: a header and tensors."""
        header: dict[str, Any] = {name: getattr(self, name) for name in _SETTINGS}
        tensors = {"thresholds": self.thresholds}
        if self.calibration is not None:
            header["calibration"], theirs = self.calibration.state()
            tensors |= {f"calibration.{name}": tensor for name, tensor in theirs.items()}
        return header, tensors

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Decisions:
        """Return the decisions that `state` was taken from."""
        try:
            thresholds = require_tensor(tensors, "thresholds", np.float64, (None,))
            settings: dict[str, Any] = {
                name: require_field(header, name, kind)
                for name, kind in _SETTINGS.items()
                if not (name in _OPTIONAL and header.get(name) is None)
            }
            decisions = cls(thresholds=thresholds, **settings)
        except ParameterError as error:
            raise ModelError(f"The model's decisions make no sense: {error}") from error
        if "calibration" in header:
            parts = {name.partition("calibration.")[2]: tensor for name, tensor in tensors.items()}
            calibration = Calibration.from_state(require_field(header, "calibration", dict), parts)
            if len(calibration.curves) != len(decisions.thresholds):
                raise ModelError("The model's calibration is of other categories; calibrate again.")
            decisions.calibration = calibration
        return decisions


def _best_only(scores: np.ndarray, labels: Labels | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the best score of each document as one column, and whether its category is right."""
    positives = Positives.of(labels)
    scores = positives.check(scores, "scores")
    chosen = np.arange(len(scores)), scores.argmax(axis=1)
    return scores[chosen][:, None], positives.mask(scores.shape[1])[chosen][:, None]
