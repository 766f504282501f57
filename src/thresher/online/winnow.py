"""Winnow: mistakes multiply the weights of the words that were there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from thresher._estimator import check_range
from thresher.errors import ParameterError
from thresher.online._classifier import OnlineClassifier
from thresher.online._learner import AVERAGES


class Winnow(OnlineClassifier):
    """What the Winnows share: a threshold range, and factors for promotion and demotion."""

    non_negative = True
    preferred_strength: ClassVar[dict[str, Any]] = {"kind": "sqrt"}

    margin: float
    threshold_range: Sequence[float] | None
    promotion: float
    demotion: float | None
    initial_weight: Any

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_range(self, "threshold", 0, open_low=True)
        check_range(self, "promotion", 1, open_low=True)
        if self.demotion is not None:
            check_range(self, "demotion", 0, 1, open_low=True)
        check_range(self, "margin", 0)
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

    def _demotion(self) -> float:
        return 1 / self.promotion if self.demotion is None else self.demotion

    def _unit(self) -> float:
        """θ/d, the weight with which a document of mean length scores θ."""
        return self.threshold / (1.0 if self.normalize_strength else self.mean_active_)

    def _rule(self, kind: int) -> Any:
        from thresher._kernels.online import WinnowRule

        low, high = self._range()
        numbers = np.array([low, high, self.promotion, self._demotion()], np.float32)
        return WinnowRule(kind, AVERAGES.index(self.average), *numbers)

    def _drift(self) -> dict[str, tuple[type, float]]:
        return {} if self.average is None else {"drift": (np.float64, 0.0)}


class BalancedWinnow(Winnow):
    r"""Balanced Winnow: two weights per feature, whose difference may be negative.

    A document scores :math:`\sum_j x_j (u_j - v_j)` and belongs if that exceeds the threshold θ.
    A mistake on a positive document multiplies the u of its features by the promotion α and
    their v by the demotion β; a mistake on a negative document the other way round.

    Parameters
    ----------
    threshold : float, default=1.0
        θ.
    margin : float, default=0.1
        While learning, every score from θ - margin to θ + margin is a mistake too.
    threshold_range : (float, float), optional
        (θ-, θ+) in place of the margin, where they do not lie evenly about θ.
    promotion : float, default=1.1
        α, above 1.
    demotion : float, optional
        β, below 1; 1/α by default. With αβ above 1 the weights grow without end.
    initial_weight : (float, float), optional
        What u and v start from; 2θ/d and θ/d by default, d being the mean number of features in
        a document (1 under `normalize_strength`).
    always_on : bool, default=False
        Add a feature of strength 1 to every document.
    normalize_strength : bool, default=False
        Divide the strengths of a document by their sum.
    unseen : {"keep", "drop"}, default="keep"
        Whether features never met while learning count when a document is scored; "drop" takes
        them out before the strengths are normalised.
    average : {None, "successes", "examples"}, default=None
        Score with the mean of all hypotheses, each weighted by the documents it got right or by
        all the documents it lived through.
    positive_weight : float or one per category, default=1.0
        A mistake on a positive document is corrected by α and β to this power.
    max_iter : int, default=10
        Passes at most; learning stops after one without mistakes.
    shuffle : bool, default=True
        Meet the documents in another order in each pass.
    random_state : int, optional, default=0
        The seed of that order.
    n_jobs : int, default=1
        Threads, which share the categories among them; the result does not depend on it.

    Attributes
    ----------
    classes_ : array
        The classes, in the order of the columns.
    mistakes_ : list of int
        Mistakes in each pass, over all categories.

    References
    ----------
    N. Littlestone, Learning quickly when irrelevant attributes abound, 1988; I. Dagan, Y. Karov
    and D. Roth, Mistake-driven learning in text categorization, 1997.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.online import BalancedWinnow
    >>> X = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 1, 0]])
    >>> learner = BalancedWinnow(shuffle=False).fit(X, [1, 1, 0, 0])
    >>> learner.mistakes_
    [1, 2, 1, 0]
    """

    name = "balanced-winnow"

    def __init__(
        self,
        *,
        threshold: float = 1.0,
        margin: float = 0.1,
        threshold_range: Sequence[float] | None = None,
        promotion: float = 1.1,
        demotion: float | None = None,
        initial_weight: Sequence[float] | None = None,
        always_on: bool = False,
        normalize_strength: bool = False,
        unseen: str = "keep",
        average: str | None = None,
        positive_weight: Any = 1.0,
        max_iter: int = 10,
        shuffle: bool = True,
        random_state: Any = 0,
        n_jobs: int = 1,
    ) -> None:
        self.threshold = threshold
        self.margin = margin
        self.threshold_range = threshold_range
        self.promotion = promotion
        self.demotion = demotion
        self.initial_weight = initial_weight
        self.always_on = always_on
        self.normalize_strength = normalize_strength
        self.unseen = unseen
        self.average = average
        self.positive_weight = positive_weight
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.initial_weight is not None:
            pair = np.asarray(self.initial_weight, np.float64)
            if pair.shape != (2,) or not (pair > 0).all():
                raise ParameterError(
                    f"{type(self).__name__}: initial_weight is {self.initial_weight!r}; it must "
                    "be two numbers above 0, for the positive and the negative part."
                )

    def _matrices(self) -> dict[str, tuple[type, float]]:
        up, down = 2 * self._unit(), self._unit()
        if self.initial_weight is not None:
            up, down = self.initial_weight
        difference = float(np.float32(up) - np.float32(down))
        return {
            "up": (np.float32, up),
            "down": (np.float32, down),
            "weights": (np.float32, difference),
            **self._drift(),
        }

    def _pass(self, documents: Any, tally: Any) -> Callable[[int, int], None]:
        from thresher._kernels.online import BALANCED, WinnowWeights, winnow_epoch

        arrays = self._arrays
        drift = arrays.get("drift", np.empty((0, 0)))
        model = WinnowWeights(arrays["up"], arrays["down"], arrays["weights"], drift)
        rule = self._rule(BALANCED)
        return lambda lo, hi: winnow_epoch(documents, model, tally, rule, lo, hi)
