"""Features as experts that sleep while absent, and Winnow that minimises external regret."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from thresher.learners._tables import BOTH, Table
from thresher.learners.online._learner import AVERAGES, OnlineLearner
from thresher.learners.online.winnow import PositiveWinnow, merge_weights
from thresher.parameters import Number, inherited, parameter


class SleepingExperts(OnlineLearner):
    r"""Sleeping Experts: every feature is two experts, who speak only where the feature is.

    One expert of a feature always says that the document belongs, the other always that it does
    not. The prediction is the weighted share of the awake experts who say yes,
    :math:`\sum_j x_j u_j / \sum_j x_j (u_j + v_j)`, and the document belongs if it exceeds θ.
    After every document, right or wrong, the awake experts who erred are multiplied by the
    penalty β, and all awake ones by the factor that restores their total, so that those asleep
    neither gain nor lose.

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

    threshold: float = parameter(
        default=0.5,
        kind=Number(0, 1),
        words="θ, which the share of those who say yes must exceed to belong.",
    )
    penalty: float = parameter(
        default=0.5,
        kind=Number(0, float(np.nextafter(1, 0)), open_low=True),
        words="β, above 0 and below 1. A document of weight 2 is punished by β².",
    )
    max_iter: int = inherited(default=1)

    def _layout(self) -> dict[str, Table]:
        return {name: Table(BOTH, np.float32, 1.0) for name in ("yes", "no")}

    def _pass(self, documents: Any, tally: Any) -> Callable[[int, int], None]:
        from thresher._kernels.online import ExpertWeights, experts_epoch

        model = ExpertWeights(self._tables.whole["yes"], self._tables.whole["no"])
        rule = float(self.threshold), float(self.penalty)
        return lambda lo, hi: experts_epoch(documents, model, tally, *rule, lo, hi)

    def _merge_columns(self, source: int, target: int) -> None:
        for name in ("yes", "no"):
            merge_weights(self._tables, name, source, target, least=name == "no")
        self._merge_average(source, target, np.zeros(0))

    def _scores_as_is(self) -> bool:
        return False

    def _scoring_weights(self, used: Any = None) -> np.ndarray:
        used = slice(None) if used is None else used
        theta = np.float32(self.threshold)
        return np.asarray(
            (1 - theta) * self._tables["yes"][used] - theta * self._tables["no"][used]
        )

    def _importance(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(np.abs(self._scoring_weights(rows)))

    def _divisor(self, used: Any) -> np.ndarray | None:
        return np.asarray(self._tables["yes"][used] + self._tables["no"][used])

    @property
    def bar(self) -> float:
        return 0.0

    def _renormalizes(self) -> bool:
        return False


class RegretWinnow(PositiveWinnow):
    r"""Positive Winnow whose features are also judged one by one: external regret.

    As `PositiveWinnow`; besides, after every document each feature that was there is judged as an
    expert of its own. A feature whose weight stands above the initial weight says that the document
    belongs, one below says that it does not, one at the initial weight says nothing. With its own
    loss ℓ and the loss L of the whole learner, 0 or 1 each, its weight is multiplied by
    :math:`γ^{ℓ - γL}`, so that it is γ to the power of its loss less γ times the learner's, summed
    over the documents in which it spoke.

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

    regret: float = parameter(
        default=0.95,
        kind=Number(0, 1, open_low=True),
        words="γ, above 0 and at most 1; 1 is `PositiveWinnow`.",
    )
    margin: float = inherited(default=0.0)
    promotion: float = inherited(default=1.5)
    demotion: float | None = inherited(default=0.5)
    always_on: float = inherited(default=True)
    unseen: str = inherited(default="drop")
    max_iter: int = inherited(default=1)

    def _pass(self, documents: Any, tally: Any) -> Callable[[int, int], None]:
        from thresher._kernels.online import RegretRule, regret_epoch

        model = self._model()
        low, high = np.array(self._range(), np.float32)
        average = AVERAGES.index(self.average)
        rule = RegretRule(average, low, high, *self._factors(), self._start(), float(self.regret))
        return lambda lo, hi: regret_epoch(documents, model, tally, rule, lo, hi)
