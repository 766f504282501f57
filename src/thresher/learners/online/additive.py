"""The Perceptron, Passive-Aggressive and ROMMA: a mistake adds the document to the weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Self, get_args

import numpy as np

from thresher.errors import ModelError
from thresher.learners.growing import CATEGORIES, Table
from thresher.learners.online._learner import AVERAGES, OnlineLearner
from thresher.learners.online._ranges import ThresholdRange
from thresher.learners.scoring import bounded
from thresher.limits import LARGEST_SUM
from thresher.parameters import Choice, Flag, Number, inherited, parameter
from thresher.rows import Rows

Step = Literal["strength", "presence"]
Variant = Literal["PA-I", "PA-II", "PA", "relaxed"]
Initial = Literal["zero", "one"]


class Additive(OnlineLearner):
    """The base of the Perceptron, Passive-Aggressive and AROW: one matrix, one kernel."""

    always_on: float = inherited(default=0.5)

    def _layout(self) -> dict[str, Table]:
        return self._matrix(self._initial())

    def _initial(self) -> float:
        return 0.0

    def _rule(self) -> dict[str, Any]:
        """Return the fields of the kernel's rule that differ between these learners."""
        raise NotImplementedError

    def _pass(self, documents: Any) -> tuple[Callable[..., None], Any, Any]:
        from thresher._kernels import online as kernels

        fields, average = self._rule(), AVERAGES.index(self.average)
        kind = getattr(kernels, fields.pop("kind"))
        low, high, ties = [np.float32(fields.pop(name)) for name in ("low", "high", "ties")]
        numbers: Any = {name: float(value) for name, value in fields.items()}
        threshold = float(self.threshold)
        rule = kernels.AdditiveRule(kind, average, low, high, ties, threshold, **numbers)
        return kernels.additive_epoch, self._arrays(kernels.AdditiveWeights), rule

    def _merge_columns(self, source: int, target: int) -> None:
        """Add the weights and a constant, so that the scores s and t become s + t + 1."""
        # The target margins are 1 and -1: the sum is 1 - 1 + 1 for documents of one of the two
        # categories, and -1 - 1 + 1 for documents of neither.
        constant = constant_weight(self, 1 - self.threshold)
        mean = self._scoring_weights()[:, [source, target]].sum(1, dtype=np.float64)
        weights = self._tables["weights"]
        weights[:, target] += weights[:, source]
        weights[0, target] += constant
        mean[0] += constant
        self._merge_average(source, target, mean)


def constant_weight(learner: OnlineLearner, amount: float) -> float:
    """Return the always-on weight that adds `amount` to every score, or raise `ModelError`."""
    if not learner.always_on or learner.normalize_strength:
        raise ModelError(
            f"{type(learner).__name__} cannot merge categories without an always-on feature of one "
            "strength in all documents; rename the labels and train it again."
        )
    return amount / float(learner.always_on)


class Perceptron(Additive, ThresholdRange):
    r"""The Perceptron: on a mistake, the document is added to the weights or subtracted.

    A document belongs if :math:`\sum_j x_j w_j > θ`. A mistake on a positive document adds
    :math:`α x_j` to the weights of its features, one on a negative document subtracts
    :math:`β x_j`. With `step="presence"` it is α and β alone, whatever the strengths.

    Notes
    -----
    A score of exactly θ is a mistake for positive and negative documents. In figure 16.7 of Manning
    and Schütze (1999) it is right for negative documents, and the threshold moves with the weights.
    On whole numbers that is `Perceptron(threshold=0.5, always_on=True, shuffle=False)`; the
    threshold of the book is the negated always-on weight.

    References
    ----------
    F. Rosenblatt, 1958; averaged: Y. Freund and R. Schapire, Large margin classification using
    the perceptron algorithm, 1999.

    Examples
    --------
    >>> X = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 1, 0]])
    >>> learner = Perceptron(shuffle=False).fit(X, [1, 1, 0, 0])
    >>> learner.mistakes_
    [3, 2, 0]
    """

    name = "perceptron"

    promotion: float = parameter(
        default=1.0, kind=Number(0, open_low=True), words="α; a document of weight 2 counts twice."
    )
    demotion: float | None = parameter(
        default=None,
        kind=Number(0, open_low=True, optional=True),
        words="β; α if it is None.",
    )
    initial_weight: float | None = parameter(
        default=0.0,
        kind=Number(optional=True),
        words="""The initial weights; None for θ/d, where d is the mean number of features in a
        document.""",
    )
    step: Step = parameter(
        default="strength",
        kind=Choice(get_args(Step)),
        words="""What α and β are multiplied by: the strength of the feature, or 1 (-1 if it is
        negative), as in Dagan, Karov and Roth (1997).""",
    )

    def _initial(self) -> float:
        if self.initial_weight is None:
            return self.threshold / (1.0 if self.normalize_strength else self.mean_active_)
        return float(self.initial_weight)

    def _rule(self) -> dict[str, Any]:
        low, high = self._range()
        demotion = self.promotion if self.demotion is None else self.demotion
        factors = {"promotion": self.promotion, "demotion": demotion}
        kind = "PRESENCE" if self.step == "presence" else "PERCEPTRON"
        return {"kind": kind, "low": low, "high": high, "ties": self._ties, **factors}

    def _filter_range(self) -> tuple[float, float]:
        rule = self._rule()
        return self._initial() - rule["demotion"], self._initial() + rule["promotion"]


class NormCounting(OnlineLearner):
    """A learner whose corrections depend on the norm of the document."""

    always_on: float = inherited(default=0.5)
    always_on_in_norm: bool = parameter(
        default=True,
        kind=Flag(),
        words="""Whether :math:`|x|^2` includes the always-on feature. In the program behind the
        results published in 2006 it does not.""",
    )


class PassiveAggressive(Additive, NormCounting):
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
    >>> X = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 1, 0]])
    >>> learner = PassiveAggressive(max_iter=1, shuffle=False).fit(X, [1, 1, 0, 0])
    >>> [round(float(score), 2) for score in learner.decision_function(X)]
    [-0.36, -0.12, -1.6, -1.0]
    """

    name = "passive-aggressive"

    variant: Variant = parameter(
        default="PA-I",
        kind=Choice(get_args(Variant)),
        words='The rule for τ; "relaxed" is the form of Carvalho and Cohen (2006).',
    )
    aggressiveness: float = parameter(
        default=1.0, kind=Number(0, open_low=True), words='C, for "PA-I" and "PA-II".'
    )
    epsilon: float = parameter(default=1.0, kind=Number(0), words="ε, the required margin.")
    gamma: float = parameter(default=0.1, kind=Number(0, open_low=True), words='γ, for "relaxed".')
    max_iter: int = inherited(default=5)

    def grow(self, n_features: int, n_categories: int) -> Self:
        """Make room for new features and categories.

        A late category starts with scores of θ - ε, as if it had learned that all documents so far
        are negative; otherwise its first document would make it accept all others.
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
            "kind": self.variant.upper().replace("-", "_"),
            # At the margin itself there is no loss, but the kernels see a mistake. Rounding may
            # decide there, because the correction is as small as the loss.
            "low": np.nextafter(low, np.float32("inf")),
            "high": np.nextafter(high, np.float32("-inf")),
            "ties": 0,
            "norm_share": float(self.always_on_in_norm),
            **{name: getattr(self, name) for name in ("epsilon", "aggressiveness", "gamma")},
        }


class ROMMA(NormCounting):
    r"""The Relaxed Online Maximum Margin Algorithm.

    A document belongs if :math:`\langle w, x\rangle > 0`. A mistake, with y = ±1, sets
    :math:`w \leftarrow c w + d x`, where, with :math:`D = |x|^2|w|^2 - \langle w, x\rangle^2`,

    .. math:: c = (|x|^2|w|^2 - y\langle w, x\rangle) / D, \quad
              d = |w|^2 (y - \langle w, x\rangle) / D.

    Notes
    -----
    The correction on a document of weight one half is half as large.

    If w and x are parallel, D is zero and no weights meet both conditions of the algorithm. That is
    assumed if :math:`D \le 4 (n + 4) 2^{-24} |x|^2|w|^2` for a document of n features, which single
    precision cannot distinguish from zero. Then c = 1 and
    :math:`d = (y - \langle w, x\rangle) / |x|^2`, the least change that scores x right;
    `initial="one"` skips the document, as the program of 2006 did.

    References
    ----------
    Y. Li and P. Long, The relaxed online maximum margin algorithm, 2002.

    Examples
    --------
    >>> X = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 1, 0]])
    >>> learner = ROMMA(shuffle=False).fit(X, [1, 1, 0, 0])
    >>> learner.mistakes_
    [3, 1, 0]
    """

    name = "romma"
    _scores_with_weights = False
    threshold = 0.0

    aggressive: bool = parameter(
        default=False, kind=Flag(), words="Also correct documents scored right by less than 1."
    )
    initial: Initial = parameter(
        default="zero",
        kind=Choice(get_args(Initial)),
        words="""The weight of a feature when it is first seen. The algorithm starts from zero; the
        program behind the results published in 2006 started from "one".""",
    )

    def _layout(self) -> dict[str, Table]:
        largest = float(np.finfo(np.float32).max)  # before they are scaled
        return self._matrix(0.0, largest) | {
            "scale": Table(CATEGORIES, np.float64, 1.0),
            "norm": Table(CATEGORIES, np.float64, 0.0, 0, LARGEST_SUM),
            "turned": Table(CATEGORIES, np.float64, 0.0, -LARGEST_SUM, LARGEST_SUM),
        }

    def _changes_all_rows(self) -> bool:
        return True  # weights are scaled, and at times all written anew

    def _counts_features(self) -> bool:
        return self.initial == "one" or super()._counts_features()

    def _pass(self, documents: Any) -> tuple[Callable[..., None], Any, Any]:
        from thresher._kernels import online as kernels

        first = self._first(documents) if self.initial == "one" else np.empty(0, bool)
        model = self._arrays(kernels.RommaWeights, first=first, n_rows=1 + self.n_features)
        # A score of 0 is a mistake; at a margin of exactly 1 there is nothing to correct.
        margin = np.nextafter(np.float32(1), np.float32(0)) if self.aggressive else np.float32(0)
        average, skips = AVERAGES.index(self.average), self.initial == "one"
        share = float(self.always_on_in_norm)
        rule = kernels.RommaRule(average, self.aggressive, skips, -margin, margin, share)
        return kernels.romma_epoch, model, rule

    def _first(self, documents: Any) -> np.ndarray:
        """Return for which entries the feature is seen for the first time."""
        entries = np.arange(len(documents.indices), dtype=np.int32)
        indices = documents.indices.view(np.int32)
        visited = Rows(documents.indptr, entries, documents.values, 0).take(documents.order)
        in_order = visited.indices[visited.values != 0]
        features, positions = np.unique(indices[in_order], return_index=True)
        first = np.zeros(len(indices), bool)
        first[in_order[positions[~self._tables["seen"][1 + features]]]] = True
        return first

    def _scoring_weights(self, used: Any = None) -> np.ndarray:
        used = slice(None) if used is None else used
        tables = self._tables
        weights, clock = tables["weights"][used], tables["clock"]
        scaled = weights * tables["scale"]
        if self.average is not None:
            summed = tables["turned"] * weights - tables["drift"][used]
            scaled = np.where(clock > 0, summed / np.maximum(clock, 1), scaled)
        return bounded(scaled)

    def _merge_columns(self, source: int, target: int) -> None:
        """Add the weights and a constant, so that the scores s and t become s + t + 1."""
        tables, both, constant = self._tables, [source, target], constant_weight(self, 1.0)
        mean = self._scoring_weights()[:, both].sum(1, dtype=np.float64)
        merged = (tables["weights"][:, both] * tables["scale"][both]).sum(1)
        merged[0] += constant
        mean[0] += constant
        tables["weights"][:, target] = merged
        tables["scale"][target], tables["norm"][target] = 1.0, merged @ merged
        self._merge_average(source, target, mean)
        tables["turned"][target] = tables["clock"][target]
