"""The Winnows and Sleeping Experts: a mistake multiplies the weights of the document's words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from thresher.learners.growing import BOTH, Table, Tables
from thresher.learners.online._learner import AVERAGES, OnlineLearner, Unseen
from thresher.learners.online._ranges import ThresholdRange, are_two_numbers
from thresher.limits import LARGEST
from thresher.parameters import Number, Some, inherited, parameter


def _pair_problem(value: Any) -> str | None:
    return None if are_two_numbers(value, 0, LARGEST) else "two numbers above 0"


class Winnow(ThresholdRange):
    """The base of the Winnows: factors for promotion and demotion, and initial weights."""

    non_negative = True
    preferred_strength: ClassVar[dict[str, Any]] = {"kind": "sqrt"}
    _kind: ClassVar[str]
    _units: ClassVar[Any]  # the initial weight(s), in units of θ/d
    _epoch: ClassVar[str] = "winnow_epoch"
    floor = 0.0  # the lower bound of the factor 1 - strength

    threshold: float = parameter(
        default=1.0, kind=Number(0, open_low=True), words="θ, which a document must score above."
    )
    promotion: float = parameter(
        default=1.2,
        kind=Number(1, open_low=True),
        words="α, above 1. For a document of weight 2 it is α² (and β²).",
    )
    demotion: float | None = parameter(
        default=None,
        kind=Number(0, 1, open_low=True, optional=True),
        words="β, at most 1; 1/α if it is None. With αβ above 1 the weights grow without limit.",
    )

    def _factors(self) -> tuple[np.float32, np.float32]:
        demotion = 1 / self.promotion if self.demotion is None else self.demotion
        return np.float32(self.promotion), np.float32(demotion)

    def _start(self) -> Any:
        """Return the initial weight(s) as float32."""
        given = self.initial_weight  # type: ignore[attr-defined]  # one number, or two
        if given is not None:
            return np.asarray(given, np.float32)[()]
        length = 1.0 if self.normalize_strength else self.mean_active_
        return np.asarray(np.multiply(self._units, self.threshold / length), np.float32)[()]

    def _merge_columns(self, source: int, target: int) -> None:
        """Take for each word the weight that is most favourable to either category."""
        tables, both = self._tables, [source, target]
        mean = self._scoring_weights()[:, both].max(1).astype(np.float64)
        for name, table in self._layout().items():
            if table.axes == BOTH and name != "drift":
                merge_weights(tables, name, source, target, least=name in ("down", "no"))
        if "up" in tables:
            tables["weights"][:, target] = tables["up"][:, target] - tables["down"][:, target]
        self._merge_average(source, target, mean)

    def _pass(self, documents: Any) -> tuple[Callable[..., None], Any, Any]:
        from thresher._kernels import online as kernels

        kind, average = getattr(kernels, self._kind), AVERAGES.index(self.average)
        low, high, ties, floor = np.array([*self._range(), self._ties, self.floor], np.float32)
        factors = *self._factors(), floor, *self._regret()
        rule = kernels.WinnowRule(kind, average, low, high, ties, *factors)
        return getattr(kernels, self._epoch), self._arrays(kernels.WinnowWeights), rule

    def _regret(self) -> tuple[np.float32, float]:
        """Return the weight of a feature without an opinion, and the factor γ of regret."""
        return np.float32(0), 1.0


def merge_weights(tables: Tables, name: str, source: int, target: int, least: bool) -> None:
    """Set the target to the larger (or the smaller) weights; discarded ones are zero."""
    weights = tables[name][:, [source, target]]
    is_discarded = (weights == 0).any(1)
    chosen = weights.min(1) if least else weights.max(1)
    tables[name][:, target] = np.where(is_discarded, weights.max(1), chosen)


class PositiveWinnow(Winnow):
    r"""Positive Winnow: one weight per feature, always positive.

    A document belongs if :math:`\sum_j x_j w_j > θ`. A mistake on a positive document multiplies
    the weights of its features by the promotion α, one on a negative document by the demotion β.
    Because all weights are positive, long documents would score high; hence the strengths of a
    document sum to one.

    References
    ----------
    N. Littlestone, Learning quickly when irrelevant attributes abound, 1988.

    Examples
    --------
    >>> X = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 1, 0]])
    >>> learner = PositiveWinnow(shuffle=False).fit(X, [1, 1, 0, 0])
    >>> learner.mistakes_
    [4, 3, 2, 0]
    """

    name = "positive-winnow"
    _kind, _units = "POSITIVE", 1.0

    initial_weight: Any = parameter(
        default=None,
        kind=Number(0, open_low=True, optional=True),
        words="""The initial weights; θ/d if it is None, where d is the mean number of features in a
        document (1 with `normalize_strength`).""",
    )
    margin: float = inherited(default=0.1)
    promotion: float = inherited(default=1.1)
    normalize_strength: bool = inherited(default=True)

    def _layout(self) -> dict[str, Table]:
        return self._matrix(self._start())

    def _filter_range(self) -> tuple[float, float]:
        (grow, shrink), weight = self._factors(), self._start()
        return weight * shrink, weight * grow


class BalancedWinnow(Winnow):
    r"""Balanced Winnow: two weights per feature, whose difference may be negative.

    A document belongs if :math:`\sum_j x_j (u_j - v_j) > θ`. A mistake on a positive document
    multiplies the u of its features by the promotion α and their v by the demotion β, one on a
    negative document the other way round.

    References
    ----------
    N. Littlestone, Learning quickly when irrelevant attributes abound, 1988; I. Dagan, Y. Karov
    and D. Roth, Mistake-driven learning in text categorization, 1997.

    Examples
    --------
    >>> X = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 1, 0]])
    >>> learner = BalancedWinnow(shuffle=False).fit(X, [1, 1, 0, 0])
    >>> learner.mistakes_
    [4, 1, 2, 0]
    """

    name = "balanced-winnow"
    _kind, _units = "BALANCED", (2.0, 1.0)

    initial_weight: Sequence[float] | None = parameter(
        default=None,
        kind=Some("(float, float)", _pair_problem, optional=True),
        words="""The initial u and v; 2θ/d and θ/d if it is None, where d is the mean number of
        features in a document (1 with `normalize_strength`).""",
    )
    margin: float = inherited(default=0.5)

    def _layout(self) -> dict[str, Table]:
        up, down = self._start()
        parts = {"up": Table(BOTH, np.float32, up, 0), "down": Table(BOTH, np.float32, down, 0)}
        return parts | self._matrix(up - down)

    def _filter_range(self) -> tuple[float, float]:
        (grow, shrink), (up, down) = self._factors(), self._start()
        return up * shrink - down * grow, up * grow - down * shrink


class ModifiedBalancedWinnow(BalancedWinnow):
    r"""Modified Balanced Winnow (MBW): a wide margin, and corrections that follow the strength.

    As `BalancedWinnow`, with factors :math:`α(1 + x_j)` and :math:`β(1 - x_j)`, strengths that sum
    to one together with an always-on feature, and a margin as wide as the threshold. Designed for a
    single pass. If a document consists of almost one feature only, :math:`1 - x_j` is raised to the
    floor, because a weight of zero would stay zero.

    References
    ----------
    V. Carvalho and W. Cohen, Notes on single-pass online learning algorithms, 2006.

    Examples
    --------
    >>> X = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 1, 0]])
    >>> learner = ModifiedBalancedWinnow(max_iter=10, shuffle=False).fit(X, [1, 1, 0, 0])
    >>> learner.predict(X)
    array([1, 1, 0, 0])
    >>> learner.mistakes_
    [3, 2, 1, 0]
    """

    name = "modified-balanced-winnow"
    preferred_strength: ClassVar[dict[str, Any]] = {"kind": "frequency"}
    _kind = "MODIFIED"

    floor: float = parameter(
        default=0.0625,
        kind=Number(0, 1),
        words="The lower bound of 1 - x; 0 is the published rule.",
    )
    margin: float = inherited(default=1.0)
    promotion: float = inherited(default=1.5)
    demotion: float | None = inherited(default=0.5)
    always_on: float = inherited(default=True)
    normalize_strength: bool = inherited(default=True)
    unseen: Unseen = inherited(default="drop")
    max_iter: int = inherited(default=1)


class RegretWinnow(PositiveWinnow):
    r"""Positive Winnow whose features are also judged individually: external regret.

    As `PositiveWinnow`; in addition, after every document each of its features is judged as an
    expert. A feature whose weight is above the initial weight predicts that the document belongs,
    one below predicts that it does not, one at the initial weight makes no prediction. With the
    loss ℓ of the feature and the loss L of the whole learner, 0 or 1 each, the weight is multiplied
    by :math:`γ^{ℓ - γL}`. Its exponent is then the loss of the feature less γ times that of the
    learner, summed over the documents for which the feature made a prediction.

    References
    ----------
    A. Blum and Y. Mansour, From external to internal regret, 2005; V. Carvalho and W. Cohen, Notes
    on single-pass online learning algorithms, 2006, section 7.

    Examples
    --------
    >>> X = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 1, 0]])
    >>> learner = RegretWinnow(shuffle=False).fit(X, [1, 1, 0, 0])
    >>> learner.mistakes_
    [2]
    """

    name = "regret-winnow"
    _epoch = "regret_epoch"

    regret: float = parameter(
        default=0.95,
        kind=Number(0, 1, open_low=True),
        words="γ, above 0 and at most 1; 1 is `PositiveWinnow`.",
    )
    margin: float = inherited(default=0.0)
    promotion: float = inherited(default=1.5)
    demotion: float | None = inherited(default=0.5)
    always_on: float = inherited(default=True)
    unseen: Unseen = inherited(default="drop")
    max_iter: int = inherited(default=1)

    def _regret(self) -> tuple[np.float32, float]:
        return self._start(), float(self.regret)


class SleepingExperts(OnlineLearner):
    r"""Sleeping Experts: every feature is two experts, who are awake if a document has the feature.

    One expert of a feature always predicts that the document belongs, the other that it does not.
    The prediction is the weighted share of the awake experts who say yes,
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
    >>> X = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 1, 0]])
    >>> learner = SleepingExperts(max_iter=1, shuffle=False).fit(X, [1, 1, 0, 0])
    >>> [round(float(score), 2) for score in learner.decision_function(X)]
    [0.07, 0.16, -0.09, -0.17]
    """

    name = "sleeping-experts"
    _scores_with_weights = False
    by_feature = ("yes", "no", "live", "seen")
    preferred_strength: ClassVar[dict[str, Any]] = {"kind": "binary"}
    non_negative = True
    average = None

    threshold: float = parameter(
        default=0.5,
        kind=Number(0, 1),
        words="θ, which the share of experts who say yes must exceed.",
    )
    penalty: float = parameter(
        default=0.5,
        kind=Number(0, float(np.nextafter(1, 0)), open_low=True),
        words="β, above 0 and below 1. For a document of weight 2 it is β².",
    )
    max_iter: int = inherited(default=1)

    def _layout(self) -> dict[str, Table]:
        return {name: Table(BOTH, np.float32, 1.0, 0) for name in ("yes", "no")}

    def _pass(self, documents: Any) -> tuple[Callable[..., None], Any, Any]:
        from thresher._kernels.online import ExpertWeights, experts_epoch

        rule = float(self.threshold), float(self.penalty)
        return experts_epoch, self._arrays(ExpertWeights), rule

    def _merge_columns(self, source: int, target: int) -> None:
        for name in ("yes", "no"):
            merge_weights(self._tables, name, source, target, least=name == "no")
        self._merge_average(source, target, np.zeros(0))

    def _scoring_weights(self, used: Any = None) -> np.ndarray:
        used = slice(None) if used is None else used
        theta, yes, no = np.float32(self.threshold), self._tables["yes"], self._tables["no"]
        return np.asarray((1 - theta) * yes[used] - theta * no[used])

    def _importance(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(np.abs(self._scoring_weights(rows)))

    def _divisor(self, used: Any) -> np.ndarray | None:
        return np.asarray(self._tables["yes"][used] + self._tables["no"][used])

    @property
    def score_offset(self) -> float:
        return 0.0

    def _renormalizes(self) -> bool:
        return False
