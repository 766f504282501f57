"""The Perceptron and Passive-Aggressive: a mistake adds the document to the weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from thresher.errors import ModelError
from thresher.learners._tables import Table
from thresher.learners.online._learner import AVERAGES, OnlineLearner
from thresher.learners.online._ranges import ThresholdRange
from thresher.parameters import Choice, Number, inherited, parameter

VARIANTS = {"relaxed": "RELAXED", "PA": "PA", "PA-I": "PA_I", "PA-II": "PA_II"}


class Additive(OnlineLearner):
    """What the Perceptron and Passive-Aggressive share: one matrix, one kernel."""

    always_on: float = inherited(default=0.5)

    def _layout(self) -> dict[str, Table]:
        return self._matrix(self._initial())

    def _initial(self) -> float:
        return 0.0

    def _rule(self) -> dict[str, Any]:
        """Return the fields of the kernel's rule in which this learner differs from the others."""
        raise NotImplementedError

    def _pass(self, documents: Any, tally: Any) -> Callable[[int, int], None]:
        from thresher._kernels import online as kernels

        weights = self._tables.whole["weights"]
        model = kernels.AdditiveWeights(weights, self._drift(), self._live_mask())
        own = self._rule()
        kind = getattr(kernels, own.pop("kind"))
        low, high = (np.float32(own.pop(name)) for name in ("low", "high"))
        names = ("promotion", "demotion", "epsilon", "aggressiveness", "gamma")
        numbers = (float(own.get(name, 0.0)) for name in names)
        average, threshold = AVERAGES.index(self.average), float(self.threshold)
        rule = kernels.AdditiveRule(kind, average, low, high, threshold, *numbers)
        return lambda lo, hi: kernels.additive_epoch(documents, model, tally, rule, lo, hi)

    def _merge_columns(self, source: int, target: int) -> None:
        """Add the weights, and so much that the scores s and t become s + t + 1.

        The margins aimed at are 1 and -1: a document of one of the two keeps a margin of one, a
        document of neither has -1.
        """
        one = one_more(self, 1 - self.threshold)
        mean = self._scoring_weights()[:, [source, target]].sum(1, dtype=np.float64)
        weights = self._tables["weights"]
        weights[:, target] += weights[:, source]
        weights[0, target] += one
        mean[0] += one
        self._merge_average(source, target, mean)


def one_more(learner: OnlineLearner, amount: float) -> float:
    """Return the always-on weight that adds `amount` to every score, where there is one."""
    if not learner.always_on or learner.normalize_strength:
        raise ModelError(
            f"{type(learner).__name__} cannot merge categories without an always-on feature of one "
            "strength in all documents; rename the labels and train it again."
        )
    return amount / float(learner.always_on)


class Perceptron(Additive, ThresholdRange):
    r"""The Perceptron: a mistake adds the document to the weights, or takes it away.

    A document belongs if :math:`\sum_j x_j w_j > θ`. A mistake on a positive document adds
    :math:`α x_j` to the weights of its features, one on a negative document takes
    :math:`β x_j` away.

    References
    ----------
    F. Rosenblatt, 1958; averaged: Y. Freund and R. Schapire, Large margin classification using
    the perceptron algorithm, 1999.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.learners.online import Perceptron
    >>> X = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 1, 0]])
    >>> learner = Perceptron(shuffle=False).fit(X, [1, 1, 0, 0])
    >>> learner.mistakes_
    [3, 2, 0]
    """

    name = "perceptron"

    promotion: float = parameter(
        default=1.0,
        kind=Number(0, open_low=True),
        words="α. A document of weight 2 is added twice.",
    )
    demotion: float | None = parameter(
        default=None,
        kind=Number(0, open_low=True, optional=True),
        words="β; as α where it is None.",
    )
    initial_weight: float | None = parameter(
        default=0.0,
        kind=Number(optional=True),
        words="""What the weights start from; None for θ/d, d being the mean number of features in a
        document.""",
    )

    def _initial(self) -> float:
        if self.initial_weight is None:
            return self.threshold / (1.0 if self.normalize_strength else self.mean_active_)
        return float(self.initial_weight)

    def _rule(self) -> dict[str, Any]:
        low, high = self._range()
        demotion = self.promotion if self.demotion is None else self.demotion
        return {"kind": "PERCEPTRON", "low": low, "high": high,
                "promotion": self.promotion, "demotion": demotion}  # fmt: skip

    def _filter_range(self) -> tuple[float, float]:
        rule = self._rule()
        return self._initial() - rule["demotion"], self._initial() + rule["promotion"]


class PassiveAggressive(Additive):
    r"""Passive-Aggressive: the smallest step that scores the document right by a margin.

    A document belongs if :math:`\sum_j x_j w_j > θ`. With y = ±1 and the loss
    :math:`ℓ = ε - y(\langle w, x\rangle - θ)`, a positive loss moves the weights by τ y x:

    ============ =============================
    variant      τ
    ============ =============================
    "PA"         :math:`ℓ / |x|^2`
    "PA-I"       :math:`\min(C, ℓ / |x|^2)`
    "PA-II"      :math:`ℓ / (|x|^2 + 1/2C)`
    "relaxed"    :math:`ℓ / (|x|^2 + γ)`
    ============ =============================

    Notes
    -----
    A weight of a document, and `positive_weight`, multiply τ.

    References
    ----------
    K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz and Y. Singer, Online passive-aggressive
    algorithms, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.learners.online import PassiveAggressive
    >>> X = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 1, 0]])
    >>> learner = PassiveAggressive(max_iter=1, shuffle=False).fit(X, [1, 1, 0, 0])
    >>> [round(float(score), 2) for score in learner.decision_function(X)]
    [-0.36, -0.12, -1.6, -1.0]
    """

    name = "passive-aggressive"

    variant: str = parameter(
        default="PA-I",
        kind=Choice(("PA-I", "PA-II", "PA", "relaxed")),
        words='The rule for τ; "relaxed" is the form of Carvalho and Cohen (2006).',
    )
    aggressiveness: float = parameter(
        default=1.0, kind=Number(0, open_low=True), words='C, for "PA-I" and "PA-II".'
    )
    epsilon: float = parameter(default=1.0, kind=Number(0), words="ε, the margin asked for.")
    gamma: float = parameter(default=0.1, kind=Number(0, open_low=True), words='γ, for "relaxed".')
    max_iter: int = inherited(default=5)

    def grow(self, n_features: int, n_categories: int) -> Self:
        """Make room for new features and categories.

        A category that is met late starts as one that has refused every document so far, which
        is what it would have learned from them; or its first document would carry all others in.
        """
        late = range(self.n_categories, n_categories if self.n_seen_ else 0)
        super().grow(n_features, n_categories)
        if len(late) and self.always_on and not self.normalize_strength:
            refusal = (self.threshold - self.epsilon) / float(self.always_on)
            self._tables["weights"][0, late.start :] = refusal
        return self

    def _rule(self) -> dict[str, Any]:
        ends = self.threshold - self.epsilon, self.threshold + self.epsilon
        low, high = np.array(ends, np.float32)
        return {
            "kind": VARIANTS[self.variant],
            # No loss at the very margin, where the kernels see a mistake.
            "low": np.nextafter(low, np.float32("inf")),
            "high": np.nextafter(high, np.float32("-inf")),
            "epsilon": self.epsilon,
            "aggressiveness": self.aggressiveness,
            "gamma": self.gamma,
        }
