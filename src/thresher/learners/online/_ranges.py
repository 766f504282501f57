"""The 1997 extensions: a range about the threshold, and features discarded by their weight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from thresher.errors import ParameterError
from thresher.learners.online._learner import OnlineLearner
from thresher.parameters import Choice, Number, Some, parameter

Discard = Literal["filter-range"]

FARTHEST = 2.0**127  # of a range about the threshold: a score beyond is none


def numbers(value: Any, n: int, least: float, most: float) -> bool:
    """Tell whether a value is `n` numbers above `least` and up to `most`."""
    is_list = isinstance(value, tuple | list) and len(value) == n
    return is_list and all(Number(least, most, open_low=True).allows(one) for one in value)


def _refuse_range(value: Any) -> str | None:
    return (
        None
        if numbers(value, 2, -FARTHEST, FARTHEST)
        else "two numbers around the threshold, the lower one first"
    )


class ThresholdRange(OnlineLearner):
    """A learner that promotes and demotes by fixed amounts.

    A score at θ, or at the ends of the range about it, is a mistake. Rounding does not decide which
    scores are there: those of documents of n features that differ from it by no more than
    (n + 4) 2^-24 of it.
    """

    _ties = 1  # that they are mistakes, for the kernels

    margin: float = parameter(
        default=0.0,
        kind=Number(0),
        words="While learning, every score from θ - margin to θ + margin is a mistake too.",
    )
    threshold_range: Sequence[float] | None = parameter(
        default=None,
        kind=Some("(float, float)", _refuse_range, optional=True),
        words="(θ-, θ+) in place of θ ∓ margin, where they do not lie evenly about θ.",
    )
    discard: Discard | None = parameter(
        default=None,
        kind=Choice((None, *get_args(Discard))),
        words=""""filter-range" discards, once, the features whose weight lies within one promotion
        and one demotion of the initial weight.""",
    )
    discard_after: float = parameter(
        default=5,
        kind=Number(0, open_low=True),
        words="""When: after so many passes, or after the first pass whose mistakes are less than
        this share of all decisions.""",
    )

    def check_parameters(self) -> None:
        super().check_parameters()
        low, high = self._range()
        if not low <= self.threshold <= high:
            raise ParameterError(
                f"{type(self).__name__}: threshold_range is {self.threshold_range!r}; it must be "
                f"two numbers around the threshold {self.threshold:g}, the lower one first."
            )

    def _range(self) -> tuple[float, float]:
        """Return θ- and θ+, between which every score is a mistake."""
        if self.threshold_range is None:
            return self.threshold - self.margin, self.threshold + self.margin
        low, high = self.threshold_range
        return low, high

    def _filter_range(self) -> tuple[float, float]:
        """Return the weights one demotion below and one promotion above the initial one."""
        raise NotImplementedError

    def _may_discard(self) -> bool:
        return self.discard is not None and not self._filtered

    def _discard_after_pass(self) -> None:
        if not self._may_discard():
            return
        if self.discard_after < 1:
            decisions = self._pass_size * self.n_categories
            due = self.mistakes_[-1] < self.discard_after * decisions
        else:
            due = self.n_passes_ >= self.discard_after
        if due:
            low, high = self._filter_range()
            # The same number of promotions and demotions leaves a weight almost where it was.
            slack = 1e-5 * (high - low)
            weights = self._tables["weights"][1:]
            self.discard_features((weights >= low - slack) & (weights <= high + slack))
            self._filtered = True
