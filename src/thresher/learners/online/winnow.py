"""Winnow: a mistake multiplies the weights of the words that were there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from thresher._estimator import check_range
from thresher.errors import ParameterError
from thresher.learners.online._classifier import OnlineClassifier
from thresher.learners.online._parameters import described
from thresher.learners.online._ranges import ThresholdRange
from thresher.learners.online._weights import AVERAGES


class Winnow(ThresholdRange, OnlineClassifier):
    """What the Winnows share: factors for promotion and demotion, and where weights start."""

    non_negative = True
    preferred_strength: ClassVar[dict[str, Any]] = {"kind": "sqrt"}
    _kind: ClassVar[str]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_range(self, "threshold", 0, open_low=True)
        check_range(self, "promotion", 1, open_low=True)
        if self.demotion is not None:
            check_range(self, "demotion", 0, 1, open_low=True)
        if self.initial_weight is not None:
            given, wanted = np.asarray(self.initial_weight, np.float64), np.shape(self._initial(1))
            if given.shape != wanted or not (given > 0).all():
                raise ParameterError(
                    f"{type(self).__name__}: initial_weight is {self.initial_weight!r}; it must "
                    f"be {'two numbers' if wanted else 'a number'} above 0."
                )

    def _initial(self, unit: float) -> Any:
        """Return the initial weight(s), `unit` being θ/d."""
        raise NotImplementedError

    def _factors(self) -> tuple[np.float32, np.float32]:
        demotion = 1 / self.promotion if self.demotion is None else self.demotion
        return np.float32(self.promotion), np.float32(demotion)

    def _start(self) -> Any:
        """Return the initial weight(s) as float32."""
        if self.initial_weight is not None:
            return np.asarray(self.initial_weight, np.float32)[()]
        length = 1.0 if self.normalize_strength else self.mean_active_
        return np.asarray(self._initial(self.threshold / length), np.float32)[()]

    def _drift(self) -> dict[str, tuple[type, float]]:
        return {} if self.average is None else {"drift": (np.float64, 0.0)}

    def _model(self) -> Any:
        from thresher._kernels.online import WinnowWeights

        nothing, arrays = np.empty((0, 0), np.float32), self._arrays
        drift = arrays.get("drift", nothing.astype(np.float64))
        up, down = arrays.get("up", nothing), arrays.get("down", nothing)
        return WinnowWeights(up, down, arrays["weights"], drift)

    def _pass(self, documents: Any, tally: Any) -> Callable[[int, int], None]:
        from thresher._kernels import online as kernels

        model = self._model()
        low, high = np.array(self._range(), np.float32)
        average, kind = AVERAGES.index(self.average), getattr(kernels, self._kind)
        rule = kernels.WinnowRule(kind, average, low, high, *self._factors())
        return lambda lo, hi: kernels.winnow_epoch(documents, model, tally, rule, lo, hi)


@described
class PositiveWinnow(Winnow):
    r"""Positive Winnow: one weight per feature, always positive.

    A document belongs if :math:`\sum_j x_j w_j > θ`. A mistake on a positive document multiplies
    the weights of its features by the promotion α, one on a negative document by the demotion β.
    With positive weights alone long documents score high, hence strengths that sum to one.

    Parameters
    ----------
    promotion : float, default=1.1
        α, above 1. A document of weight 2 is corrected by α².
    demotion : float, optional
        β, below 1; 1/α by default.
    initial_weight : float, optional
        What the weights start from; θ/d by default, d being the mean number of features in a
        document (1 under `normalize_strength`).
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
    N. Littlestone, Learning quickly when irrelevant attributes abound, 1988.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.learners.online import PositiveWinnow
    >>> X = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 1, 0]])
    >>> learner = PositiveWinnow(shuffle=False).fit(X, [1, 1, 0, 0])
    >>> learner.mistakes_
    [4, 3, 2, 0]
    """

    name = "positive-winnow"
    _kind = "POSITIVE"

    def __init__(
        self,
        *,
        threshold: float = 1.0,
        margin: float = 0.1,
        threshold_range: Sequence[float] | None = None,
        promotion: float = 1.1,
        demotion: float | None = None,
        initial_weight: float | None = None,
        always_on: float = False,
        normalize_strength: bool = True,
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

    def _initial(self, unit: float) -> Any:
        return unit

    def _matrices(self) -> dict[str, tuple[type, float]]:
        return {"weights": (np.float32, self._start()), **self._drift()}

    def _filter_range(self) -> tuple[float, float]:
        (grow, shrink), weight = self._factors(), self._start()
        return weight * shrink, weight * grow


@described
class BalancedWinnow(Winnow):
    r"""Balanced Winnow: two weights per feature, whose difference may be negative.

    A document belongs if :math:`\sum_j x_j (u_j - v_j) > θ`. A mistake on a positive document
    multiplies the u of its features by the promotion α and their v by the demotion β, one on a
    negative document the other way round.

    Parameters
    ----------
    promotion : float, default=1.2
        α, above 1. A document of weight 2 is corrected by α² and β².
    demotion : float, optional
        β, below 1; 1/α by default. With αβ above 1 the weights grow without end.
    initial_weight : (float, float), optional
        What u and v start from; 2θ/d and θ/d by default, d being the mean number of features in
        a document (1 under `normalize_strength`).
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
    N. Littlestone, Learning quickly when irrelevant attributes abound, 1988; I. Dagan, Y. Karov
    and D. Roth, Mistake-driven learning in text categorization, 1997.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.learners.online import BalancedWinnow
    >>> X = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 1, 0]])
    >>> learner = BalancedWinnow(shuffle=False).fit(X, [1, 1, 0, 0])
    >>> learner.mistakes_
    [4, 1, 2, 0]
    """

    name = "balanced-winnow"
    _kind = "BALANCED"

    def __init__(
        self,
        *,
        threshold: float = 1.0,
        margin: float = 0.5,
        threshold_range: Sequence[float] | None = None,
        promotion: float = 1.2,
        demotion: float | None = None,
        initial_weight: Sequence[float] | None = None,
        always_on: float = False,
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

    def _initial(self, unit: float) -> Any:
        return 2 * unit, unit

    def _matrices(self) -> dict[str, tuple[type, float]]:
        up, down = self._start()
        return {
            "up": (np.float32, up),
            "down": (np.float32, down),
            "weights": (np.float32, up - down),
            **self._drift(),
        }

    def _filter_range(self) -> tuple[float, float]:
        (grow, shrink), (up, down) = self._factors(), self._start()
        return up * shrink - down * grow, up * grow - down * shrink


@described
class ModifiedBalancedWinnow(BalancedWinnow):
    r"""Modified Balanced Winnow (MBW): a wide margin, and corrections that follow the strength.

    As `BalancedWinnow`, with factors :math:`α(1 + x_j)` and :math:`β(1 - x_j)`, strengths that sum
    to one together with an always-on feature, and a margin as wide as the threshold. Made for a
    single pass. Where a document is one feature alone, :math:`1 - x_j` is taken as 1/16: zero would
    kill that weight for ever.

    Parameters
    ----------
    promotion : float, default=1.5
        α, above 1. A document of weight 2 is corrected with α² and β².
    demotion : float, optional, default=0.5
        β, below 1; 1/α if None.
    initial_weight : (float, float), optional
        What u and v start from; 2θ and θ by default.
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
    V. Carvalho and W. Cohen, Notes on single-pass online learning algorithms, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.learners.online import ModifiedBalancedWinnow
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

    def __init__(
        self,
        *,
        threshold: float = 1.0,
        margin: float = 1.0,
        threshold_range: Sequence[float] | None = None,
        promotion: float = 1.5,
        demotion: float | None = 0.5,
        initial_weight: Sequence[float] | None = None,
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
