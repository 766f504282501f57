"""ROMMA: the shortest weights that score the last mistake, and the weights before it, right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from thresher._estimator import check_choice
from thresher.learners.online._classifier import OnlineClassifier
from thresher.learners.online._parameters import described
from thresher.learners.online._weights import AVERAGES
from thresher.rows import Rows

NO_MASK = np.empty((0, 0), bool)
NO_DRIFT = np.empty((0, 0))


@described
class ROMMA(OnlineClassifier):
    r"""The Relaxed Online Maximum Margin Algorithm.

    A document belongs if :math:`\langle w, x\rangle > 0`. A mistake, with y = ±1, sets
    :math:`w \leftarrow c w + d x`, where, with :math:`D = |x|^2|w|^2 - \langle w, x\rangle^2`,

    .. math:: c = (|x|^2|w|^2 - y\langle w, x\rangle) / D, \quad
              d = |w|^2 (y - \langle w, x\rangle) / D.

    Parameters
    ----------
    aggressive : bool, default=False
        Correct every document scored right by less than 1, not mistakes alone.
    initial : {"zero", "one"}, default="zero"
        What the weight of a feature is when it is first met. The algorithm starts from zero; "one"
        is what the program behind the figures published in 2006 did.
    [shared parameters]

    Attributes
    ----------
    classes_ : array
        The classes, in the order of the columns.
    mistakes_ : list of int
        Documents corrected in each pass, over all categories.
    discarded_share_ : float
        Which part of the weights has been discarded.

    Notes
    -----
    A document of weight one half is corrected half of the way.

    References
    ----------
    Y. Li and P. Long, The relaxed online maximum margin algorithm, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.learners.online import ROMMA
    >>> X = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 1, 0]])
    >>> learner = ROMMA(shuffle=False).fit(X, [1, 1, 0, 0])
    >>> learner.mistakes_
    [3, 1, 0]
    """

    name = "romma"
    preferred_strength: ClassVar[dict[str, Any]] = {
        "kind": "tf-idf",
        "sublinear_tf": True,
        "normalize": "l2",
    }
    threshold = 0.0

    def __init__(
        self,
        *,
        aggressive: bool = False,
        initial: str = "zero",
        always_on: float = 0.5,
        normalize_strength: bool = False,
        unseen: str = "keep",
        average: str | None = None,
        positive_weight: Any = 1.0,
        feature_budget: int | None = None,
        extremal_share: float = 0.9,
        max_iter: int = 10,
        shuffle: bool = True,
        random_state: Any = 0,
        n_jobs: int = 1,
    ) -> None:
        self._keep(locals())

    aggressive: bool
    initial: str

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self, "initial", ("zero", "one"))

    def _matrices(self) -> dict[str, tuple[type, float]]:
        drift = {} if self.average is None else {"drift": (np.float64, 0.0)}
        return {"weights": (np.float32, 0.0), **drift}

    def _vectors(self) -> dict[str, tuple[type, float]]:
        return {
            **super()._vectors(),
            "scale": (np.float64, 1.0),
            "norm": (np.float64, 0.0),
            "turned": (np.float64, 0.0),
        }

    def _counts_features(self) -> bool:
        return self.initial == "one" or super()._counts_features()

    def _pass(self, documents: Any, tally: Any) -> Callable[[int, int], None]:
        from thresher._kernels import online as kernels

        arrays = self._arrays
        model = kernels.RommaWeights(
            arrays["weights"],
            arrays.get("drift", NO_DRIFT),
            NO_MASK if self._live is None else self._live,
            self._first(documents) if self.initial == "one" else np.empty(0, bool),
            arrays["scale"],
            arrays["norm"],
            arrays["turned"],
        )
        # From zero a score of 0 is a mistake; at a margin of exactly 1 nothing is left to correct.
        margin = np.nextafter(np.float32(1), np.float32(0)) if self.aggressive else np.float32(0)
        average = AVERAGES.index(self.average)
        rule = kernels.RommaRule(average, self.aggressive, -margin, margin)
        return lambda lo, hi: kernels.romma_epoch(documents, model, tally, rule, lo, hi)

    def _first(self, documents: Any) -> np.ndarray:
        """Return which entries meet a feature for the first time."""
        entries = np.arange(len(documents.indices), dtype=np.int32)
        indices = documents.indices.view(np.int32)
        met = Rows(documents.indptr, entries, documents.values, 0).take(documents.order)
        in_order = met.indices[met.values != 0]
        features, places = np.unique(indices[in_order], return_index=True)
        first = np.zeros(len(indices), bool)
        first[in_order[places[~self._seen[features]]]] = True
        return first

    def _scoring_weights(self) -> np.ndarray:
        if "scoring" not in self._cache:
            arrays = self._arrays
            scaled = arrays["weights"] * arrays["scale"]
            if self.average is not None:
                summed = arrays["turned"] * arrays["weights"] - arrays["drift"]
                averaged = summed / np.maximum(arrays["clock"], 1)
                scaled = np.where(arrays["clock"] > 0, averaged, scaled)
            self._cache["scoring"] = scaled.astype(np.float32)
        return self._cache["scoring"]
