"""From scores to categories: thresholds, limits per document, one category or several."""

from __future__ import annotations

from typing import Any

import numpy as np

from thresher.errors import ModelError, ParameterError
from thresher.storage import require_field, require_tensor

__all__ = ["Decisions"]

_MODES = ("multi-label", "single-label")


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

    def __init__(
        self,
        mode: str = "multi-label",
        thresholds: np.ndarray | None = None,
        *,
        default_threshold: float = 0.0,
        at_least: int = 0,
        at_most: int | None = None,
        allow_none: bool = False,
    ) -> None:
        if mode not in _MODES:
            raise ParameterError(f"The mode of decision is {mode!r}; it must be one of {_MODES}.")
        if at_least < 0 or (at_most is not None and at_most < max(at_least, 1)):
            raise ParameterError(
                f"A document cannot get at least {at_least} and at most {at_most} categories."
            )
        self.mode = mode
        self.default_threshold = default_threshold
        self.at_least = at_least
        self.at_most = at_most
        self.allow_none = allow_none
        self.thresholds = np.array([] if thresholds is None else thresholds, np.float64)
        if self.thresholds.ndim != 1 or np.isnan(self.thresholds).any():
            raise ParameterError("Thresholds must be one number per category.")

    def grow(self, n_categories: int) -> Decisions:
        """Give categories that were met since the default threshold; return self."""
        n_new = max(0, n_categories - len(self.thresholds))
        new = np.full(n_new, self.default_threshold)
        self.thresholds = np.concatenate([self.thresholds, new])
        return self

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """Return which categories each document gets.

        Parameters
        ----------
        scores : array of shape (documents, categories)
            As the learner gives them.

        Returns
        -------
        decisions : bool array of shape (documents, categories)
        """
        scores = self._check(scores)
        chosen: np.ndarray = scores > self.thresholds
        if self.mode == "single-label":
            best = self._best(scores, 1)
            return best & chosen if self.allow_none else best
        if self.at_least:
            chosen |= self._best(scores, self.at_least)
        if self.at_most is not None:
            chosen &= self._best(scores, self.at_most)
        return chosen

    def _check(self, scores: np.ndarray) -> np.ndarray:
        scores = np.asarray(scores)
        if scores.ndim != 2 or scores.shape[1] != len(self.thresholds):
            raise ParameterError(
                f"The scores have the shape {scores.shape}; there are thresholds for "
                f"{len(self.thresholds)} categories."
            )
        return scores

    def _best(self, scores: np.ndarray, n: int) -> np.ndarray:
        """Mark the `n` largest margins of each document, of equal ones the first."""
        mask = np.zeros(scores.shape, bool)
        if scores.size:
            margins = scores - self.thresholds
            if n == 1:
                best = margins.argmax(axis=1)[:, None]
            else:
                best = np.argsort(-margins, axis=1, kind="stable")[:, :n]
            np.put_along_axis(mask, best, True, axis=1)
        return mask

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return what a model file keeps: a header and tensors."""
        header = {
            "mode": self.mode,
            "default_threshold": self.default_threshold,
            "at_least": self.at_least,
            "at_most": self.at_most,
            "allow_none": self.allow_none,
        }
        return header, {"thresholds": self.thresholds}

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Decisions:
        """Return the decisions that `state` was taken from."""
        unlimited = header.get("at_most") is None
        try:
            return cls(
                require_field(header, "mode", str),
                require_tensor(tensors, "thresholds", np.float64, (None,)),
                default_threshold=require_field(header, "default_threshold", float),
                at_least=require_field(header, "at_least", int),
                at_most=None if unlimited else require_field(header, "at_most", int),
                allow_none=require_field(header, "allow_none", bool),
            )
        except ParameterError as error:
            raise ModelError(f"The model's decisions make no sense: {error}") from error
