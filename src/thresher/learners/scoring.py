"""From strengths to scores: checks of the input, weighted sums, and log-odds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from thresher.engine import run_blocks
from thresher.errors import ModelError, ParameterError, counted
from thresher.limits import LARGEST_SAMPLE_WEIGHT, LARGEST_WEIGHT
from thresher.rows import Labels, Rows

if TYPE_CHECKING:
    from thresher.learners.growing import Tables

CACHE_LINE_BYTES, FLOATS_PER_CACHE_LINE = 64, 16
RELATIVE_ERROR = 2.0**-24  # of one operation in single precision, at most


# ---- checks of what reaches a kernel -------------------------------------------------------------


def check_rows(rows: Rows, owner: str, n_features: int, non_negative: bool = False) -> None:
    """Raise `ModelError` for features that a learner does not know, or values it cannot use."""
    if len(rows.indices) and rows.indices.view(np.uint32).max() >= n_features:
        raise ModelError(
            f"The documents use features from {rows.indices.min()} to {rows.indices.max()} "
            f"and {owner} knows {n_features}; call grow before learn_rows, or count with "
            "grow=False."
        )
    if non_negative and len(rows.values) and rows.values.min() < 0:
        raise ModelError(
            f"Negative values in data passed to {owner}, the lowest being {rows.values.min():g}: "
            "it needs strengths of zero or more. Use Perceptron or PassiveAggressive, or leave "
            "such features out."
        )


def check_labels(rows: Rows, labels: Labels, owner: str, n_categories: int) -> None:
    """Raise `ModelError` unless there is one label list per document, of known categories."""
    if labels.n_rows != rows.n_rows:
        raise ModelError(
            f"{counted(rows.n_rows, 'document')} cannot have "
            f"{counted(labels.n_rows, 'label list')}; give one each."
        )
    if len(labels.indices) and labels.indices.view(np.uint32).max() >= n_categories:
        raise ModelError(
            f"The labels use categories up to {labels.indices.max()} and {owner} knows "
            f"{n_categories}; call grow before learn_rows."
        )
    if labels.known is not None and labels.known.shape != (rows.n_rows, n_categories):
        raise ModelError(
            f"What is known of the labels has the shape {labels.known.shape}; it must be "
            f"({rows.n_rows}, {n_categories}), a truth value for each document and category."
        )


def checked_order(order: np.ndarray, n_rows: int) -> np.ndarray:
    """Return the order of the documents as int64, or raise `ParameterError`."""
    order = np.ascontiguousarray(order, np.int64)
    if len(order) and (order.min() < 0 or order.max() >= n_rows):
        raise ParameterError(
            f"order names documents from {order.min()} to {order.max()}; there are {n_rows}."
        )
    return order


def checked_sample_weight(sample_weight: np.ndarray | None, n_rows: int) -> np.ndarray:
    """Return a weight per document as float64, 1 by default, or raise `ParameterError`."""
    if sample_weight is None:
        return np.ones(n_rows)
    weights, largest = np.ascontiguousarray(sample_weight, np.float64), LARGEST_SAMPLE_WEIGHT
    is_right = weights.shape == (n_rows,)
    if not (is_right and weights.min(initial=0) >= 0 and weights.max(initial=0) <= largest):
        raise ParameterError(
            f"sample_weight must be {n_rows} numbers from 0 to {largest:g}, one per document."
        )
    return weights


# ---- memory and threads --------------------------------------------------------------------------


def cache_aligned(shape: Sequence[int], dtype: Any, fill: float = 0) -> np.ndarray:
    """Return a new array that starts, as does each long row, at the start of a cache line.

    Rows are a few cells longer for it. So threads that divide the columns among them never write to
    the same cache line, which would then go back and forth between the processors.
    """
    *rows, n = shape
    size = np.dtype(dtype).itemsize
    if n * size >= 2 * CACHE_LINE_BYTES:  # short rows would take much more memory
        n += -n % (CACHE_LINE_BYTES // size)
    n_bytes = math.prod(rows) * n * size
    memory = np.empty(n_bytes + CACHE_LINE_BYTES, np.uint8)
    start = -memory.ctypes.data % CACHE_LINE_BYTES
    array: np.ndarray = memory[start : start + n_bytes].view(dtype).reshape(*rows, n)
    array[:] = fill
    return array


def run_cache_line_blocks(
    function: Callable[[int, int], None], size: int, n_jobs: int, first: int = 0
) -> None:
    """Call `function(start, end)` over blocks of `range(first, size)`, one for each thread.

    The blocks of float32 are whole cache lines, which two threads never write to at once.
    """
    if n_jobs == 1:
        function(first, size)
        return
    n_lines = -(-size // (FLOATS_PER_CACHE_LINE * max(n_jobs, 1)))
    starts = range(first, size, max(n_lines, 1) * FLOATS_PER_CACHE_LINE)
    run_blocks(function, [*starts, size], n_jobs)


# ---- weighted sums -------------------------------------------------------------------------------


def weigh(
    rows: Rows, always_on: np.ndarray, weights: np.ndarray, n_categories: int, n_jobs: int = 1
) -> np.ndarray:
    """Return the weighted sums of the documents' strengths, one column per category.

    Row 0 of the weights belongs to the always-on feature, whose strength is given per document.
    The weights may have more columns than there are categories. Threads take blocks of documents.

    Examples
    --------
    >>> rows = Rows(np.array([0, 1]), np.array([0], np.int32), np.ones(1, np.float32), 1)
    >>> weigh(rows, np.ones(1, np.float32), np.array([[0.5, 0.0], [1.0, 2.0]]), 2)
    array([[1.5, 2. ]])
    """
    from thresher._kernels.scoring import score_documents

    n_rows = len(rows.indptr) - 1
    sums = np.empty((n_rows, n_categories), weights.dtype)
    arrays = rows.indptr, rows.indices.view(np.uint32), rows.values, always_on, weights, sums
    if n_jobs == 1:
        score_documents(*arrays, 0, n_rows)
    else:
        run_cache_line_blocks(partial(score_documents, *arrays), n_rows, n_jobs)
    return sums


def linear_scores(rows: Rows, weights: np.ndarray, n_jobs: int = 1) -> np.ndarray:
    """Return the first row of the weights plus the weighted sums of the strengths."""
    return weigh(rows, np.ones(rows.n_rows, np.float32), weights, weights.shape[1], n_jobs)


def linear_shares(rows: Rows, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return strength times weight for each entry, and the first weight for every document."""
    shares = rows.values * column[1:][rows.indices]
    return shares.astype(np.float32), np.full(rows.n_rows, column[0], np.float32)


def narrowed(rows: Rows, n_features: int) -> tuple[Rows, np.ndarray | slice]:
    """Return rows with renumbered features, and the rows of the weight matrix that they use.

    If the documents have many entries, the features keep their numbers.
    """
    if len(rows.indices) >= n_features:
        return rows, slice(None, 1 + n_features)
    features, numbers = np.unique(rows.indices, return_inverse=True)
    used = np.concatenate([[0], 1 + features])
    return rows._replace(indices=numbers.astype(np.int32), n_columns=len(features)), used


def bounded(weights: np.ndarray) -> np.ndarray:
    """Return weights in single precision, clipped so that all scores are finite."""
    return np.asarray(np.clip(weights, -LARGEST_WEIGHT, LARGEST_WEIGHT), np.float32)


class LinearScores:
    """The base of online learners, to be named first: scores that are weighted sums.

    A score is the weighted sum of the strengths and of the always-on feature, less the threshold.
    """

    # Whether documents are scored with the array `weights`, unless it is averaged.
    _scores_with_weights: ClassVar[bool] = True

    if TYPE_CHECKING:  # provided by `OnlineLearner`
        n_features: int
        n_categories: int
        non_negative: ClassVar[bool]
        threshold: float
        always_on: float
        normalize_strength: bool
        unseen: str
        average: str | None
        _tables: Tables

    def score_rows(self, rows: Rows, n_jobs: int = 1) -> np.ndarray:
        """Return a score per document and category; above zero means that it belongs."""
        check_rows(rows, type(self).__name__, self.n_features, self.non_negative)
        plain = self.plain_weights()
        if plain is not None:
            weights, strength = plain
            always_on = np.full(len(rows.indptr) - 1, strength)
            return weigh(rows, always_on, weights, self.n_categories, n_jobs)
        strengths, always_on, weights, divisor = self._scoring_arrays(rows)
        scores = weigh(strengths, always_on, weights, self.n_categories, n_jobs)
        if divisor is not None:
            total = weigh(strengths, always_on, divisor, self.n_categories, n_jobs)
            scores /= np.where(total > 0, total, np.float32(1))
        scores -= np.float32(self.score_offset)
        if self.score_offset:  # a score that only rounding parts from the threshold is at it
            slack = abs(self.score_offset) * RELATIVE_ERROR * (4 + np.diff(rows.indptr))
            scores[np.abs(scores) <= slack.astype(np.float32)[:, None]] = 0
        return scores

    def plain_weights(self) -> tuple[np.ndarray, np.float32] | None:
        """Return the weights and the always-on strength if scores are nothing but their sums.

        None if strengths, weights or sums are altered. The first row is the always-on feature's;
        there may be more columns than categories.
        """
        is_altered = self.normalize_strength or self.unseen == "drop" or self.average is not None
        overrides = type(self).score_rows is not LinearScores.score_rows
        if is_altered or overrides or self.threshold or not self._scores_with_weights:
            return None
        weights = self._tables.buffers["weights"][: 1 + self.n_features]
        return weights, np.float32(self.always_on)

    def contributions(self, rows: Rows, category: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the contribution of each entry of `rows` to the score of a category, and the rest.

        The rest is the contribution of the always-on feature, minus the threshold.
        """
        check_rows(rows, type(self).__name__, self.n_features, self.non_negative)
        strengths, always_on, weights, divisor = self._scoring_arrays(rows)
        column = weights[:, category]
        shares, rest = strengths.values * column[1:][strengths.indices], always_on * column[0]
        if divisor is not None:
            divisor = np.ascontiguousarray(divisor[:, [category]])
            total = weigh(strengths, always_on, divisor, 1)[:, 0]
            total = np.where(total > 0, total, np.float32(1))
            shares /= np.repeat(total, np.diff(rows.indptr))
            rest /= total
        return shares, rest - np.float32(self.score_offset)

    def strengths(self, rows: Rows, training: bool = False) -> tuple[Rows, np.ndarray]:
        """Return the strengths as the learner uses them, and those of the always-on feature."""
        values = rows.values
        always_on = np.full(rows.n_rows, float(self.always_on), np.float32)
        if self.unseen == "drop" and not training:
            values = np.where(self._tables["seen"][1:][rows.indices], values, np.float32(0))
        if self.normalize_strength and (training or not self._renormalizes()):
            from thresher._kernels.online import normalize_strengths

            divided, constants = np.empty_like(values), np.empty_like(always_on)
            normalize_strengths(rows.indptr, values, always_on, divided, constants)
            values, always_on = divided, constants
        return rows._replace(values=values), always_on

    # ---- the weights -------------------------------------------------------------------------

    def effective_weights(self) -> np.ndarray:
        """Return the weights (features, categories) with which documents are scored."""
        return self._scoring_weights()[1:, : self.n_categories]

    linear_weights = effective_weights

    def always_on_weights(self) -> np.ndarray:
        """Return the weight of the always-on feature in each category."""
        return np.asarray(self._scoring_weights(slice(0, 1))[0, : self.n_categories])

    def thresholds(self) -> np.ndarray:
        """Return the threshold for the weighted sum of a document's words, per category.

        The contribution of the always-on feature is subtracted, unless it varies by document
        (`normalize_strength`).
        """
        constant = np.full(self.n_categories, self.score_offset, np.float32)
        if self.normalize_strength:
            return constant
        return np.asarray(constant - np.float32(self.always_on) * self.always_on_weights())

    @property
    def coef_(self) -> np.ndarray:
        """The weights, one row per class (a single row if there are two classes)."""
        return self.effective_weights().T

    @property
    def intercept_(self) -> np.ndarray:
        """What is added to the weighted strengths: the thresholds, negated."""
        return -self.thresholds()

    @property
    def score_offset(self) -> float:
        """The number that is subtracted from every score."""
        return self.threshold

    # ---- what a subclass may change ----------------------------------------------------------

    def _scoring_weights(self, used: Any = None) -> np.ndarray:
        """Return (some rows of) the weights, or their average; there may be spare columns."""
        used = slice(None, 1 + self.n_features) if used is None else used
        if self.average is None:
            return np.asarray(self._tables.buffers["weights"][used])
        drift = self._tables["drift"][used] / np.maximum(self._tables["clock"], 1)
        return bounded(self._tables["weights"][used] - drift)

    def _divisor(self, used: Any) -> np.ndarray | None:
        """Return some rows of the weights of the sum that scores are divided by, if any."""
        renormalizes = self._renormalizes()
        return np.asarray(self._tables["live"][used], np.float32) if renormalizes else None

    def _renormalizes(self) -> bool:
        """Whether strengths are normalised over the features that each category has kept."""
        return self.normalize_strength and self.unseen == "drop" and "live" in self._tables

    def _scoring_arrays(self, rows: Rows) -> tuple[Rows, np.ndarray, np.ndarray, np.ndarray | None]:
        """Return strengths, always-on strengths, weights, and the divisor's weights if any."""
        strengths, always_on = self.strengths(rows)
        is_plain = self.average is None and self._scores_with_weights
        if is_plain and not self._renormalizes():
            return strengths, always_on, self._scoring_weights(), None
        strengths, used = narrowed(strengths, self.n_features)
        return strengths, always_on, self._scoring_weights(used), self._divisor(used)


# ---- log-odds ------------------------------------------------------------------------------------


def logistic(x: np.ndarray) -> np.ndarray:
    """Return 1 / (1 + exp(-x)), without overflow."""
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x > 0, 1.0, small) / (1.0 + small))


class ProbabilisticMixin:
    """The base, to be named first, of learners whose scores are log-odds."""

    has_probabilities = True

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Return the probability that each score of `score_rows` stands for."""
        return logistic(scores.astype(np.float64))

    def predict_proba(self: Any, X: Any) -> np.ndarray:
        """Return the probability of each class; with several labels, of each label separately."""
        probabilities = self.probabilities(self.score_rows(self._read_rows(X), self._n_jobs()))
        if self._targets.kind == "single" and probabilities.shape[1] == 1:
            both = np.hstack([1 - probabilities, probabilities])
            return both if len(self.classes_) == 2 else probabilities
        return np.asarray(probabilities)


class CompetingMixin(ProbabilisticMixin):
    """The base, to be named first, of learners whose scores are log-odds from weighted sums."""

    def _competes(self) -> bool:
        """Return True if the categories exclude each other; the sums are then log-probabilities."""
        raise NotImplementedError

    def score_rows(self: Any, rows: Rows, n_jobs: int = 1) -> np.ndarray:
        """Return the log-odds of each category; above zero, it is more probable than not."""
        used, weights = self._weighted_sum(rows)
        scores = linear_scores(used, weights, n_jobs)
        if self._competes():
            scores = log_odds(scores.astype(np.float64))
        return scores.astype(np.float32)

    def contributions(self: Any, rows: Rows, category: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what each entry of `rows` adds to the log-odds, and the rest of them."""
        used, weights = self._weighted_sum(rows)
        if self._competes():
            return competing_shares(used, weights, category)
        return linear_shares(used, weights[:, category])


def log_odds(scores: np.ndarray) -> np.ndarray:
    """Return the log-odds of each category, given log-probabilities of all up to a constant."""
    return np.asarray(scores - _log_sums(scores))


def competing_shares(
    rows: Rows, weights: np.ndarray, category: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return what each entry adds to the log-odds of one of competing categories, and the rest."""
    scores = linear_scores(rows, weights).astype(np.float64)
    log_sum = _log_sums(scores)[:, category]
    probabilities = np.exp(scores - log_sum[:, None])  # of the competitors, among themselves
    probabilities[:, category] = 0.0
    documents = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
    entry_weights = weights[1 + rows.indices]
    competing = np.einsum("ek,ek->e", entry_weights, probabilities[documents])
    shares = rows.values * (entry_weights[:, category] - competing)
    summed = np.bincount(documents, shares, rows.n_rows)
    return shares.astype(np.float32), (scores[:, category] - log_sum - summed).astype(np.float32)


def _log_sums(scores: np.ndarray) -> np.ndarray:
    """Return for each column the logarithm of the summed exponentials of all other columns."""
    rows, best = np.arange(len(scores)), scores.argmax(1)
    highest = scores[rows, best]
    exponentials = np.exp(scores - highest[:, None])
    rest = exponentials.sum(1)[:, None] - exponentials
    rest[rows, best] = 1.0
    sums = highest[:, None] + np.log(rest)
    # Relative to the best, the other scores may vanish: they are summed separately.
    competitors = scores.copy()
    competitors[rows, best] = -np.inf
    second = competitors.max(1)
    sums[rows, best] = second + np.log(np.exp(competitors - second[:, None]).sum(1))
    return np.asarray(sums)
