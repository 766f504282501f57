"""From scores to categories: thresholds, limits per document, one category or several."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
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
from thresher.state import component_state, require_field, require_tensor

_MODES = ("multi-label", "single-label")
_SETTINGS: dict[str, type] = {
    "mode": str, "default_threshold": float, "at_least": int, "at_most": int, "allow_none": bool,
    "abstain_below": float,
}  # fmt: skip
_LARGEST = float(np.finfo(np.float32).max)  # as for scores
_OPTIONAL = ("at_most", "abstain_below")


@dataclass(eq=False, repr=False)
class Decisions:
    """The rule that turns the scores of a document into categories.

    A category's margin is its score minus its threshold. In multi-label mode, a document gets every
    category whose margin is above zero, but at least `at_least` and at most `at_most` of them,
    those of the largest margins. In single-label mode it gets the category of the largest margin.
    Of equal margins, that of the category with the lower number comes first.

    Parameters
    ----------
    mode : {"multi-label", "single-label"}, default="multi-label"
        Whether a document may have several categories.
    thresholds : array of shape (categories,), optional
        What a score must exceed. The default, also for categories that are added later, is
        `default_threshold`.
    default_threshold : float, default=0.0
        The threshold of categories for which none was learned.
    at_least : int, default=0
        The least number of categories of a document in multi-label mode.
    at_most : int, optional
        The largest number of categories of a document in multi-label mode; by default, there is no
        limit.
    allow_none : bool, default=False
        In single-label mode, whether a document gets no category if no margin is above zero.
    abstain_below : float, optional
        Give a document no category if its `confidence` is below this; needs `calibrate`.

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
        if self.mode not in _MODES:
            raise ParameterError(
                f"The mode of decision is {self.mode!r}; it must be one of {_MODES}."
            )
        least, most = self.at_least, self.at_most
        limits = Whole(0).problem(least), Whole(1, optional=True).problem(most)
        if any(limits) or (most is not None and most < least):
            raise ParameterError(
                f"A document cannot get at least {brief(least)} and at most {brief(most)} "
                "categories."
            )
        if Number(0, 1, optional=True).problem(self.abstain_below):
            raise ParameterError(
                f"abstain_below is {brief(self.abstain_below)}; it must be from 0 to 1."
            )
        if Number(-_LARGEST, _LARGEST).problem(self.default_threshold):
            raise ParameterError(
                f"The default threshold is {brief(self.default_threshold)}; it must be a number."
            )
        self.thresholds = np.array([] if self.thresholds is None else self.thresholds, np.float64)
        if self.thresholds.ndim != 1 or not (np.abs(self.thresholds) <= _LARGEST).all():
            raise ParameterError("Thresholds must be one number per category, and finite.")

    def grow(self, n_categories: int) -> Decisions:
        """Give categories that were added since the default threshold; return self."""
        new = [self.default_threshold] * (n_categories - len(self.thresholds))
        self.thresholds = np.append(self.thresholds, new)
        if self.calibration is not None:
            self.calibration = self.calibration.grown(n_categories)
        return self

    def replace(self, **settings: Any) -> Decisions:
        """Return a copy with other settings, and the same thresholds and calibration."""
        replaced = copy(self)
        replaced.thresholds = self.thresholds.copy()
        vars(replaced).update(settings)
        if settings:
            replaced.__post_init__()
        return replaced

    def take(self, numbers: np.ndarray) -> Decisions:
        """Return decisions for some of the categories, given by number or as a boolean mask."""
        taken = self.replace()
        taken.thresholds = self.thresholds[numbers]
        if self.calibration is not None:
            taken.calibration = self.calibration.take(numbers)
        return taken

    def tune(
        self,
        scores: np.ndarray,
        labels: Labels | np.ndarray,
        objective: Objective | str = "f1",
        *,
        shrinkage: float = SHRINKAGE,
    ) -> Decisions:
        """Learn the thresholds; return self. The parameters are those of `learn_thresholds`.

        In single-label mode, where the best category is chosen, the thresholds for F are those of
        `learn_offsets` plus one for all categories, learned from the best score of each document,
        which matters if `allow_none` is set.
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
        """Learn the probability of each score; see `Calibration.fit`; return self."""
        self.calibration = Calibration.fit(scores, labels, kind)
        return self

    def probabilities(
        self, scores: np.ndarray, uncalibrated: Callable[[np.ndarray], np.ndarray] | None = None
    ) -> np.ndarray:
        """Return the probability that each document belongs to each category.

        In single-label mode without "none of these", a document's probabilities sum to one.

        Parameters
        ----------
        scores : array (documents, categories)
            The scores of the learner.
        uncalibrated : callable, optional
            The learner's function from scores to probabilities, used if there is no calibration.
        """
        scores = self._checked(scores)
        function = uncalibrated if self.calibration is None else self.calibration.probabilities
        if function is None:
            raise ParameterError("There are no probabilities yet: call calibrate first.")
        probabilities = function(scores)
        if self.mode == "single-label" and not self.allow_none:
            probabilities = np.maximum(probabilities, 1e-12)  # all of them may be zero
            probabilities /= probabilities.sum(axis=1, keepdims=True)
        return probabilities

    def confidence(self, scores: np.ndarray) -> np.ndarray:
        """Return the probability that the decision about each document is right.

        In single-label mode, it is the probability of the chosen category; in multi-label mode, or
        if no category is chosen, that of the least certain yes or no.
        """
        return self._confidence(scores, self.replace(abstain_below=None).decide(scores))

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """Return a boolean matrix, documents by categories: which categories each document gets."""
        numbers, ends = self.decide_numbers(scores)
        chosen = np.zeros(np.shape(scores), bool)
        chosen[np.repeat(np.arange(len(chosen)), np.diff(ends)), numbers] = True
        return chosen

    def decide_numbers(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the category numbers of all documents in one array, and where each document ends.

        Those of document i are `numbers[ends[i] : ends[i + 1]]`, the largest margin first.
        """
        scores = np.ascontiguousarray(self._checked(scores))
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
            is_certain = self._confidence(scores, chosen) >= self.abstain_below
            numbers = numbers[is_certain[documents]]
            ends = np.append(0, np.cumsum(np.diff(ends) * is_certain))
        return numbers, ends

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the largest number of categories of a document."""
        if self.mode == "single-label":
            return 0 if self.allow_none else 1, 1
        return self.at_least, len(self.thresholds) if self.at_most is None else self.at_most

    def _confidence(self, scores: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        probabilities = self.probabilities(scores)
        confidence = np.where(chosen, probabilities, 1 - probabilities).min(axis=1, initial=1.0)
        if self.mode == "single-label":
            best = np.where(chosen, probabilities, 0.0).max(axis=1, initial=0.0)
            confidence = np.where(chosen.any(axis=1), best, confidence)
        return np.asarray(confidence)

    def _checked(self, scores: np.ndarray) -> np.ndarray:
        scores = np.asarray(scores)
        if scores.ndim != 2 or scores.shape[1] != len(self.thresholds):
            raise ParameterError(
                f"The scores have the shape {scores.shape}; there are thresholds for "
                f"{counted(len(self.thresholds), 'category')}."
            )
        return scores

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the header and the tensors of the model file."""
        header: dict[str, Any] = {name: getattr(self, name) for name in _SETTINGS}
        tensors = {"thresholds": self.thresholds}
        if self.calibration is not None:
            header["calibration"], curves = self.calibration.state()
            tensors |= {f"calibration.{name}": tensor for name, tensor in curves.items()}
        return header, tensors

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Decisions:
        """Return the decisions that `state` described, checked."""
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
            calibration = Calibration.from_state(*component_state("calibration", header, tensors))
            if len(calibration.curves) != len(decisions.thresholds):
                raise ModelError("The model's calibration is of other categories; calibrate again.")
            decisions.calibration = calibration
        return decisions


def _best_only(scores: np.ndarray, labels: Labels | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the best score of each document as a column, and whether its category is right."""
    positives = Positives.of(labels)
    scores = positives.check(scores, "scores")
    chosen = np.arange(len(scores)), scores.argmax(axis=1)
    return scores[chosen][:, None], positives.mask(scores.shape[1])[chosen][:, None]
