"""The Perceptron, Passive-Aggressive and ROMMA: a mistake adds the document to the weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from thresher._estimator import check_choice, check_range
from thresher.learners.online._classifier import OnlineClassifier
from thresher.learners.online._parameters import described
from thresher.learners.online._ranges import ThresholdRange
from thresher.learners.online._weights import AVERAGES

NO_MASK = np.empty((0, 0), bool)
NO_DRIFT = np.empty((0, 0))
VARIANTS = {"relaxed": "RELAXED", "PA": "PA", "PA-I": "PA_I", "PA-II": "PA_II"}


class Additive(OnlineClassifier):
    """What the Perceptron and Passive-Aggressive share: one matrix, one kernel."""

    preferred_strength: ClassVar[dict[str, Any]] = {
        "kind": "tf-idf",
        "sublinear_tf": True,
        "normalize": "l2",
    }

    def _matrices(self) -> dict[str, tuple[type, float]]:
        drift = {} if self.average is None else {"drift": (np.float64, 0.0)}
        return {"weights": (np.float32, self._initial()), **drift}

    def _initial(self) -> float:
        return 0.0

    def _rule(self) -> dict[str, Any]:
        """Return the fields of the kernel's rule in which this learner differs from the others."""
        raise NotImplementedError

    def _pass(self, documents: Any, tally: Any) -> Callable[[int, int], None]:
        from thresher._kernels import online as kernels

        live = NO_MASK if self._live is None else self._live
        drift = self._arrays.get("drift", NO_DRIFT)
        model = kernels.AdditiveWeights(self._arrays["weights"], drift, live)
        own = self._rule()
        kind = getattr(kernels, own.pop("kind"))
        low, high = (np.float32(own.pop(name)) for name in ("low", "high"))
        names = ("promotion", "demotion", "epsilon", "aggressiveness", "gamma")
        numbers = (float(own.get(name, 0.0)) for name in names)
        average, threshold = AVERAGES.index(self.average), float(self.threshold)
        rule = kernels.AdditiveRule(kind, average, low, high, threshold, *numbers)
        return lambda lo, hi: kernels.additive_epoch(documents, model, tally, rule, lo, hi)


@described
class Perceptron(ThresholdRange, Additive):
    r"""The Perceptron: a mistake adds the document to the weights, or takes it away.

    A document belongs if :math:`\sum_j x_j w_j > θ`. A mistake on a positive document adds
    :math:`α x_j` to the weights of its features, one on a negative document takes
    :math:`β x_j` away.

    Parameters
    ----------
    promotion : float, default=1.0
        α. A document of weight 2 is added twice.
    demotion : float, optional
        β; as α by default.
    initial_weight : float, optional, default=0.0
        What the weights start from; None for θ/d, d being the mean number of features in a
        document.
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

    def __init__(
        self,
        *,
        threshold: float = 0.0,
        margin: float = 0.0,
        threshold_range: Sequence[float] | None = None,
        promotion: float = 1.0,
        demotion: float | None = None,
        initial_weight: float | None = 0.0,
        always_on: float = 0.5,
        normalize_strength: bool = False,
        unseen: str = "keep",
        average: str | None = None,
        positive_weight: Any = 1.0,
        discard: str | None = None,
        discard_after: float = 5,
        feature_budget: int | None = None,
        extremal_share: float = 0.9,
        max_iter: int = 10,
        shuffle: bool = True,
        random_state: Any = 0,
        n_jobs: int = 1,
    ) -> None:
        self._keep(locals())

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_range(self, "promotion", 0, open_low=True)
        if self.demotion is not None:
            check_range(self, "demotion", 0, open_low=True)
        if self.initial_weight is not None:
            check_range(self, "initial_weight", float("-inf"))

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


@described
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

    Parameters
    ----------
    variant : {"PA-I", "PA-II", "PA", "relaxed"}, default="PA-I"
        The rule for τ; "relaxed" is the form of Carvalho and Cohen (2006).
    aggressiveness : float, default=1.0
        C, for "PA-I" and "PA-II".
    epsilon : float, default=1.0
        ε, the margin asked for.
    gamma : float, default=0.1
        γ, for "relaxed".
    [shared parameters]

    Attributes
    ----------
    classes_ : array
        The classes, in the order of the columns.
    mistakes_ : list of int
        Documents scored right by less than ε in each pass, over all categories.
    discarded_share_ : float
        Which part of the weights has been discarded.

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

    def __init__(
        self,
        *,
        variant: str = "PA-I",
        aggressiveness: float = 1.0,
        epsilon: float = 1.0,
        gamma: float = 0.1,
        threshold: float = 0.0,
        always_on: float = 0.5,
        normalize_strength: bool = False,
        unseen: str = "keep",
        average: str | None = None,
        positive_weight: Any = 1.0,
        feature_budget: int | None = None,
        extremal_share: float = 0.9,
        max_iter: int = 5,
        shuffle: bool = True,
        random_state: Any = 0,
        n_jobs: int = 1,
    ) -> None:
        self._keep(locals())

    variant: str
    aggressiveness: float
    epsilon: float
    gamma: float

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self, "variant", tuple(VARIANTS))
        check_range(self, "aggressiveness", 0, open_low=True)
        check_range(self, "epsilon", 0)
        check_range(self, "gamma", 0, open_low=True)

    def grow(self, n_features: int, n_categories: int) -> Self:
        """Make room for new features and categories.

        A category that is met late starts as one that has refused every document so far, which
        is what it would have learned from them; or its first document would carry all others in.
        """
        late = range(self._n_categories, n_categories if self.n_seen_ else 0)
        super().grow(n_features, n_categories)
        if len(late) and self.always_on and not self.normalize_strength:
            refusal = (self.threshold - self.epsilon) / float(self.always_on)
            self._arrays["weights"][0, late.start :] = refusal
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
