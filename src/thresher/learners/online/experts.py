"""Features as experts that sleep while absent, and Winnow that minimises external regret."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from thresher._estimator import check_range
from thresher.learners.online._classifier import OnlineClassifier
from thresher.learners.online._parameters import described
from thresher.learners.online._weights import AVERAGES
from thresher.learners.online.winnow import PositiveWinnow


@described
class SleepingExperts(OnlineClassifier):
    r"""Sleeping Experts: every feature is two experts, who speak only where the feature is.

    One expert of a feature always says that the document belongs, the other always that it does
    not. The prediction is the weighted share of the awake experts who say yes,
    :math:`\sum_j x_j u_j / \sum_j x_j (u_j + v_j)`, and the document belongs if it exceeds θ.
    After every document, right or wrong, the awake experts who erred are multiplied by the
    penalty β, and all awake ones by the factor that restores their total, so that those asleep
    neither gain nor lose.

    Parameters
    ----------
    penalty : float, default=0.5
        β, above 0 and below 1. A document of weight 2 is punished by β².
    [shared parameters]

    Attributes
    ----------
    classes_ : array
        The classes, in the order of the columns.
    mistakes_ : list of int
        Mistakes in each pass, over all categories.
    discarded_share_ : float
        Which part of the weights has been discarded.

    Notes
    -----
    The published algorithm takes binary strengths. The weights of `effective_weights`,
    (1 - θ)u - θv, give the sign of the score; the score itself is divided by the total of the
    awake experts.

    References
    ----------
    Y. Freund, R. Schapire, Y. Singer and M. Warmuth, Using and combining predictors that
    specialize, 1997; W. Cohen and Y. Singer, Context-sensitive learning methods for text
    categorization, 1996.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.learners.online import SleepingExperts
    >>> X = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 1, 0]])
    >>> learner = SleepingExperts(max_iter=1, shuffle=False).fit(X, [1, 1, 0, 0])
    >>> [round(float(score), 2) for score in learner.decision_function(X)]
    [0.07, 0.16, -0.09, -0.17]
    """

    name = "sleeping-experts"
    preferred_strength: ClassVar[dict[str, Any]] = {"kind": "binary"}
    non_negative = True
    average = None

    def __init__(
        self,
        *,
        threshold: float = 0.5,
        penalty: float = 0.5,
        always_on: float = False,
        normalize_strength: bool = False,
        unseen: str = "keep",
        positive_weight: Any = 1.0,
        feature_budget: int | None = None,
        extremal_share: float = 0.9,
        max_iter: int = 1,
        shuffle: bool = True,
        random_state: Any = 0,
        n_jobs: int = 1,
    ) -> None:
        self._keep(locals())

    penalty: float

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_range(self, "threshold", 0, 1)
        check_range(self, "penalty", 0, np.nextafter(1, 0), open_low=True)

    def _matrices(self) -> dict[str, tuple[type, float]]:
        return {"yes": (np.float32, 1.0), "no": (np.float32, 1.0)}

    def _pass(self, documents: Any, tally: Any) -> Callable[[int, int], None]:
        from thresher._kernels.online import ExpertWeights, experts_epoch

        model = ExpertWeights(self._arrays["yes"], self._arrays["no"])
        rule = float(self.threshold), float(self.penalty)
        return lambda lo, hi: experts_epoch(documents, model, tally, *rule, lo, hi)

    def _scoring_weights(self) -> np.ndarray:
        if "scoring" not in self._cache:
            theta = np.float32(self.threshold)
            self._cache["scoring"] = (1 - theta) * self._arrays["yes"] - theta * self._arrays["no"]
        return np.asarray(self._cache["scoring"])

    def _importance(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(np.abs(self._scoring_weights()[rows]))

    def _divisor(self) -> np.ndarray | None:
        return np.asarray(self._arrays["yes"] + self._arrays["no"])

    @property
    def bar(self) -> float:
        return 0.0

    def _renormalizes(self) -> bool:
        return False


@described
class RegretWinnow(PositiveWinnow):
    r"""Positive Winnow whose features are also judged one by one: external regret.

    As `PositiveWinnow`; besides, after every document each feature that was there is judged as an
    expert of its own. A feature whose weight stands above the initial weight says that the document
    belongs, one below says that it does not, one at the initial weight says nothing. With its own
    loss ℓ and the loss L of the whole learner, 0 or 1 each, its weight is multiplied by
    :math:`γ^{ℓ - γL}`, so that it is γ to the power of its loss less γ times the learner's, summed
    over the documents in which it spoke.

    Parameters
    ----------
    promotion : float, default=1.5
        α, above 1. A document of weight 2 is corrected by α².
    demotion : float, optional, default=0.5
        β, below 1; 1/α if None.
    regret : float, default=0.95
        γ, above 0 and at most 1; 1 is `PositiveWinnow`.
    initial_weight : float, optional
        What the weights start from; θ by default (θ/d without `normalize_strength`).
    [shared parameters]

    Attributes
    ----------
    classes_ : array
        The classes, in the order of the columns.
    mistakes_ : list of int
        Mistakes in each pass, over all categories.
    discarded_share_ : float
        Which part of the weights has been discarded.

    References
    ----------
    A. Blum and Y. Mansour, From external to internal regret, 2005; V. Carvalho and W. Cohen, Notes
    on single-pass online learning algorithms, 2006, section 7.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.learners.online import RegretWinnow
    >>> X = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 1, 0]])
    >>> learner = RegretWinnow(shuffle=False).fit(X, [1, 1, 0, 0])
    >>> learner.mistakes_
    [2]
    """

    name = "regret-winnow"

    def __init__(
        self,
        *,
        threshold: float = 1.0,
        margin: float = 0.0,
        threshold_range: Sequence[float] | None = None,
        promotion: float = 1.5,
        demotion: float | None = 0.5,
        regret: float = 0.95,
        initial_weight: float | None = None,
        always_on: float = True,
        normalize_strength: bool = True,
        unseen: str = "drop",
        average: str | None = None,
        positive_weight: Any = 1.0,
        discard: str | None = None,
        discard_after: float = 5,
        feature_budget: int | None = None,
        extremal_share: float = 0.9,
        max_iter: int = 1,
        shuffle: bool = True,
        random_state: Any = 0,
        n_jobs: int = 1,
    ) -> None:
        self._keep(locals())

    regret: float

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_range(self, "regret", 0, 1, open_low=True)

    def _pass(self, documents: Any, tally: Any) -> Callable[[int, int], None]:
        from thresher._kernels.online import RegretRule, regret_epoch

        model = self._model()
        low, high = np.array(self._range(), np.float32)
        average = AVERAGES.index(self.average)
        rule = RegretRule(average, low, high, *self._factors(), self._start(), float(self.regret))
        return lambda lo, hi: regret_epoch(documents, model, tally, rule, lo, hi)
