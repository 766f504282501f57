"""ROMMA: the shortest weights that score the last mistake, and the weights before it, right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thresher.learners._tables import CATEGORIES, Table
from thresher.learners.online._learner import AVERAGES, OnlineLearner
from thresher.learners.online.additive import one_more
from thresher.parameters import Choice, Flag, inherited, parameter
from thresher.rows import Rows


class ROMMA(OnlineLearner):
    r"""The Relaxed Online Maximum Margin Algorithm.

    A document belongs if :math:`\langle w, x\rangle > 0`. A mistake, with y = ±1, sets
    :math:`w \leftarrow c w + d x`, where, with :math:`D = |x|^2|w|^2 - \langle w, x\rangle^2`,

    .. math:: c = (|x|^2|w|^2 - y\langle w, x\rangle) / D, \quad
              d = |w|^2 (y - \langle w, x\rangle) / D.

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
    threshold = 0.0

    aggressive: bool = parameter(
        default=False,
        kind=Flag(),
        words="Correct every document scored right by less than 1, not mistakes alone.",
    )
    initial: str = parameter(
        default="zero",
        kind=Choice(("zero", "one")),
        words="""What the weight of a feature is when it is first met. The algorithm starts from
        zero; "one" is what the program behind the figures published in 2006 did.""",
    )
    always_on: float = inherited(default=0.5)

    def _layout(self) -> dict[str, Table]:
        figures = {"scale": 1.0, "norm": 0.0, "turned": 0.0}
        vectors = {name: Table(CATEGORIES, np.float64, fill) for name, fill in figures.items()}
        return self._matrix(0.0) | vectors

    def _touches_all(self) -> bool:
        return True  # weights are scaled, and at times all written anew

    def _counts_features(self) -> bool:
        return self.initial == "one" or super()._counts_features()

    def _pass(self, documents: Any, tally: Any) -> Callable[[int, int], None]:
        from thresher._kernels import online as kernels

        arrays = self._tables.whole
        model = kernels.RommaWeights(
            arrays["weights"],
            self._drift(),
            self._live_mask(),
            self._first(documents) if self.initial == "one" else np.empty(0, bool),
            arrays["scale"],
            arrays["norm"],
            arrays["turned"],
            1 + self.n_features,
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
        first[in_order[places[~self._tables["seen"][1 + features]]]] = True
        return first

    def _scores_as_is(self) -> bool:
        return False

    def _scoring_weights(self, used: Any = None) -> np.ndarray:
        used = slice(None) if used is None else used
        tables = self._tables
        weights, clock = tables["weights"][used], tables["clock"]
        scaled = weights * tables["scale"]
        if self.average is not None:
            summed = tables["turned"] * weights - tables["drift"][used]
            scaled = np.where(clock > 0, summed / np.maximum(clock, 1), scaled)
        return np.asarray(scaled.astype(np.float32))

    def _merge_columns(self, source: int, target: int) -> None:
        """Add the weights, and so much that the scores s and t become s + t + 1."""
        tables, both, one = self._tables, [source, target], one_more(self, 1.0)
        mean = self._scoring_weights()[:, both].sum(1, dtype=np.float64)
        merged = (tables["weights"][:, both] * tables["scale"][both]).sum(1)
        merged[0] += one
        mean[0] += one
        tables["weights"][:, target] = merged
        tables["scale"][target], tables["norm"][target] = 1.0, merged @ merged
        self._merge_average(source, target, mean)
        tables["turned"][target] = tables["clock"][target]
