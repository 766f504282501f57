"""Learners with a range around the threshold, which can discard features by their weight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from thresher.errors import ParameterError
from thresher.learners.online._learner import OnlineLearner
from thresher.parameters import Choice, Number, Some, parameter

Discard = Literal["filter-range"]

LARGEST_BOUND = 2.0**127  # of a range around the threshold


def are_two_numbers(value: Any, low: float, high: float) -> bool:
    """Return True for a list or tuple of two numbers above `low` and up to `high`."""
    is_pair = isinstance(value, tuple | list) and len(value) == 2
    return is_pair and all(map(Number(low, high, open_low=True).allows, value))


def _range_problem(value: Any) -> str | None:
    is_right = are_two_numbers(value, -LARGEST_BOUND, LARGEST_BOUND)
    return None if is_right else "two numbers around the threshold, the lower one first"


class ThresholdRange(OnlineLearner):
    """A learner that promotes and demotes by fixed amounts.

    A score at θ, or at an end of the range around it, is a mistake. So that rounding does not
    matter, the score of a document of n features is at a bound if it differs from it by no more
    than the share (n + 4) 2^-24.
    """

    _ties = 1  # for the kernels: scores at a bound are mistakes

    margin: float = parameter(
        default=0.0,
        kind=Number(0),
        words="While learning, every score from θ - margin to θ + margin is a mistake too.",
    )
    threshold_range: Sequence[float] | None = parameter(
        default=None,
        kind=Some("(float, float)", _range_problem, optional=True),
        words="(θ-, θ+) instead of θ ∓ margin, if they are not symmetric around θ.",
    )
    discard: Discard | None = parameter(
        default=None,
        kind=Choice((None, *get_args(Discard))),
        words=""""filter-range" discards once the features whose weight is within one promotion and
        one demotion of the initial weight.""",
    )
    discard_after: float = parameter(
        default=5,
        kind=Number(0, open_low=True),
        words="""When to do so: after this number of passes, or after the first pass with fewer
        mistakes than this share of all decisions.""",
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
        """Return θ- and θ+; every score between them is a mistake."""
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
        if self.discard_after < 1:
            decisions = self._pass_size * self.n_categories
            due = self.mistakes_[-1] < self.discard_after * decisions
        else:
            due = self.n_passes_ >= self.discard_after
        if due:
            low, high = self._filter_range()
            # As many promotions as demotions leave a weight almost unchanged.
            slack = 1e-5 * (high - low)
            weights = self._tables["weights"][1:]
            self.discard_features((weights >= low - slack) & (weights <= high + slack))
            self._filtered = True
