"""The 1997 extensions: a range about the threshold, and features discarded by their weight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from thresher._estimator import check_choice, check_range
from thresher.errors import ParameterError
from thresher.learners.online._learner import OnlineLearner


class ThresholdRange(OnlineLearner):
    """A learner that promotes and demotes by fixed amounts."""

    margin: float
    threshold_range: Sequence[float] | None
    promotion: float
    demotion: float | None
    initial_weight: Any
    discard: str | None
    discard_after: float

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_range(self, "margin", 0)
        check_choice(self, "discard", (None, "filter-range"))
        check_range(self, "discard_after", 0, open_low=True)
        self._range()

    def _range(self) -> tuple[float, float]:
        """Return θ- and θ+, between which every score is a mistake."""
        if self.threshold_range is None:
            return self.threshold - self.margin, self.threshold + self.margin
        try:
            low, high = self.threshold_range
            in_order = low <= self.threshold <= high
        except (TypeError, ValueError):
            in_order = False
        if not in_order:
            raise ParameterError(
                f"{type(self).__name__}: threshold_range is {self.threshold_range!r}; it must be "
                f"two numbers around the threshold {self.threshold:g}, the lower one first."
            )
        return low, high

    def _filter_range(self) -> tuple[float, float]:
        """Return the weights one demotion below and one promotion above the initial one."""
        raise NotImplementedError

    def _discard_after_pass(self) -> None:
        if self.discard is None or self._filtered:
            return
        if self.discard_after < 1:
            decisions = self._pass_documents * self._n_categories
            due = self.mistakes_[-1] < self.discard_after * decisions
        else:
            due = len(self.mistakes_) >= self.discard_after
        if due:
            low, high = self._filter_range()
            # The same number of promotions and demotions leaves a weight almost where it was.
            slack = 1e-5 * (high - low)
            weights = self._arrays["weights"][1:]
            self.discard_features((weights >= low - slack) & (weights <= high + slack))
            self._filtered = True
