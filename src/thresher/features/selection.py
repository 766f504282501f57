"""Which features tell most about the categories: chi-square and information gain."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Self

import numpy as np

from thresher.errors import ParameterError, counted
from thresher.rows import Labels, Rows

__all__ = [
    "SELECTIONS",
    "ChiSquare",
    "FeatureScores",
    "InformationGain",
    "chi_square",
    "document_frequencies",
    "information_gain",
    "select",
]

_POOLS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "max": lambda scores, weights: scores.max(axis=1, initial=0.0),
    "mean": lambda scores, weights: scores @ weights,
    "sum": lambda scores, weights: scores.sum(axis=1),
}
_UNITS = {"bits": np.log(2.0), "nats": 1.0}

_PAIRS_AT_ONCE = 1 << 20  # pairs of feature and category expanded at a time: some 40 MB
_CELLS_AT_ONCE = 1 << 16  # cells of the table scored at a time: they stay in the cache


class FeatureScores(ABC):
    """How much each feature tells about each category, from the documents observed so far.

    Only presence counts, not how often. What is kept grows with the pairs of feature and category
    that occur together, not with all pairs that there could be.
    """

    def __init__(self) -> None:
        self._n_documents = 0
        self._of_feature = np.zeros(0, np.int64)
        self._of_category = np.zeros(0, np.int64)
        self._together = _PairCounts()

    def observe(self, rows: Rows, labels: Labels) -> Self:
        """Take notice of documents; there may be more features and categories than before.

        Parameters
        ----------
        rows : Rows
            The documents' counts or strengths.
        labels : Labels
            The documents' categories.
        """
        if rows.n_rows != labels.n_rows:
            raise ParameterError(
                f"{counted(rows.n_rows, 'document')} with features and {labels.n_rows} with "
                "labels: give as many of each."
            )
        self._n_documents += rows.n_rows
        present = rows.indices[rows.values != 0]
        self._of_feature = _with_more(self._of_feature, present, rows.n_columns)
        self._of_category = _with_more(self._of_category, labels.indices, labels.n_categories)
        for features, categories in _pairs(rows, labels):
            self._together.add(features, categories)
        return self

    def document_frequencies(self) -> np.ndarray:
        """Return in how many documents each feature (row) is of each category (column)."""
        return self._together.block(0, *self._shape)

    def scores(self) -> np.ndarray:
        """Return the score of each feature (row) for each category, in single precision.

        Where so large an array is too much, `pooled` does without it.
        """
        scores = np.empty(self._shape, np.float32)
        for start, block in self._blocks():
            scores[start : start + len(block)] = block
        return scores

    def pooled(self, pool: str = "max") -> np.ndarray:
        """Return one score for each feature.

        Parameters
        ----------
        pool : {"max", "mean", "sum"}
            Over the categories, the greatest score (default), the mean weighted by how many
            documents the categories have, or the sum.
        """
        _check_choice("pool", pool, _POOLS)
        pooled = np.zeros(len(self._of_feature))
        weights = self._of_category / max(1, self._of_category.sum())
        for start, block in self._blocks():
            pooled[start : start + len(block)] = _POOLS[pool](block, weights)
        return pooled

    @property
    def _shape(self) -> tuple[int, int]:
        return len(self._of_feature), len(self._of_category)

    def _blocks(self) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the scores of some features at a time, with the number of the first."""
        n_features, n_categories = self._shape
        step = max(1, _CELLS_AT_ONCE // max(1, n_categories))
        of_category = self._of_category.astype(np.float64)
        for start in range(0, n_features, step):
            stop = min(start + step, n_features)
            both = self._together.block(start, stop, n_categories).astype(np.float64)
            of_feature = self._of_feature[start:stop, None].astype(np.float64)
            yield start, self._score(both, of_feature, of_category, float(self._n_documents))

    @abstractmethod
    def _score(
        self, both: np.ndarray, of_feature: np.ndarray, of_category: np.ndarray, n: float
    ) -> np.ndarray:
        """Return scores, given in how many of n documents are the feature, the category, both."""


class ChiSquare(FeatureScores):
    """Chi-square of a feature's presence and a category, documents being the cases.

    With a documents that have both, b the feature only, c the category only and d neither,

        χ² = N (ad - bc)² / ((a + b) (c + d) (a + c) (b + d)),

    and 0 where one of the factors below is 0. scikit-learn's `chi2` is another statistic: it
    compares sums of counts, and leaves the documents without the feature out.

    Examples
    --------
    >>> rows = Rows(np.array([0, 2, 3, 4]), np.array([0, 1, 1, 1]), np.ones(4, np.float32), 2)
    >>> labels = Labels.from_lists([[0], [1], [1]], 2)
    >>> ChiSquare().observe(rows, labels).scores()
    array([[3., 3.],
           [0., 0.]], dtype=float32)
    """

    def _score(
        self, both: np.ndarray, of_feature: np.ndarray, of_category: np.ndarray, n: float
    ) -> np.ndarray:
        # ad - bc = aN - (a + b)(a + c): nothing but `both` needs a table of its own.
        scores = n * both
        scores -= of_feature * of_category
        scores *= scores
        scores *= n * _inverse(of_feature * (n - of_feature))
        scores *= _inverse(of_category * (n - of_category))
        return scores


class InformationGain(FeatureScores):
    """How much less uncertain a category is once it is known whether the feature is present.

        IG = H(C) - P(f) H(C | f) - P(¬f) H(C | ¬f),

    where H is the entropy of belonging to the category or not.

    Parameters
    ----------
    unit : {"bits", "nats"}
        Logarithms to base 2 (default) or natural ones.

    Examples
    --------
    >>> rows = Rows(np.array([0, 2, 3, 4]), np.array([0, 1, 1, 1]), np.ones(4, np.float32), 2)
    >>> labels = Labels.from_lists([[0], [1], [1]], 2)
    >>> InformationGain().observe(rows, labels).scores()
    array([[0.918, 0.918],
           [0.   , 0.   ]], dtype=float32)
    """

    def __init__(self, unit: str = "bits") -> None:
        super().__init__()
        self.unit = unit
        _check_choice("unit", unit, _UNITS)

    def _score(
        self, both: np.ndarray, of_feature: np.ndarray, of_category: np.ndarray, n: float
    ) -> np.ndarray:
        if not n:
            return both
        # N·IG, each entropy written out as sums of x ln x over the table and its margins.
        gain = _x_log_x(both)
        gain += _x_log_x(of_feature - both)
        gain += _x_log_x(of_category - both)
        gain += _x_log_x(n - of_feature - of_category + both)
        gain -= _x_log_x(of_feature) + _x_log_x(n - of_feature)
        gain -= _x_log_x(of_category) + _x_log_x(n - of_category)
        gain += _x_log_x(np.array(n))
        gain /= n * _UNITS[self.unit]
        np.maximum(gain, 0.0, out=gain)
        return gain


SELECTIONS: dict[str, type[FeatureScores]] = {
    "chi-square": ChiSquare,
    "information-gain": InformationGain,
}


def document_frequencies(rows: Rows, labels: Labels) -> np.ndarray:
    """Return in how many documents of each category each feature is.

    Parameters
    ----------
    rows, labels
        As for `FeatureScores.observe`.

    Examples
    --------
    >>> rows = Rows(np.array([0, 2, 3]), np.array([0, 1, 1]), np.ones(3, np.float32), 2)
    >>> document_frequencies(rows, Labels.from_lists([[0], [0]], 1))
    array([[1],
           [2]])
    """
    return ChiSquare().observe(rows, labels).document_frequencies()


def chi_square(rows: Rows, labels: Labels, *, pool: str | None = None) -> np.ndarray:
    """Return the chi-square of each feature and category; see `ChiSquare`.

    Parameters
    ----------
    rows, labels
        As for `FeatureScores.observe`.
    pool : {None, "max", "mean", "sum"}
        Return one score for each feature, as `FeatureScores.pooled` does. Default None: one for
        each feature and category.

    Examples
    --------
    >>> rows = Rows(np.array([0, 2, 3, 4]), np.array([0, 1, 1, 1]), np.ones(4, np.float32), 2)
    >>> chi_square(rows, Labels.from_lists([[0], [1], [1]], 2), pool="max")
    array([3., 0.])
    """
    seen = ChiSquare().observe(rows, labels)
    return seen.scores() if pool is None else seen.pooled(pool)


def information_gain(
    rows: Rows, labels: Labels, *, pool: str | None = None, unit: str = "bits"
) -> np.ndarray:
    """Return the information gain of each feature for each category; see `InformationGain`.

    Parameters
    ----------
    rows, labels, pool, unit
        As for `chi_square` and `InformationGain`.

    Examples
    --------
    >>> rows = Rows(np.array([0, 2, 3, 4]), np.array([0, 1, 1, 1]), np.ones(4, np.float32), 2)
    >>> information_gain(rows, Labels.from_lists([[0], [1], [1]], 2), pool="sum", unit="nats")
    array([1.273, 0.   ])
    """
    seen = InformationGain(unit).observe(rows, labels)
    return seen.scores() if pool is None else seen.pooled(pool)


def select(scores: np.ndarray, k: int | float) -> np.ndarray:
    """Return which features have the k highest scores; of equals, the first come first.

    Parameters
    ----------
    scores : array of shape (features,) or (features, categories)
        With categories, k features are selected for each of them.
    k : int or float
        How many features to select; a float is a share of all, rounded, but never to none.

    Returns
    -------
    array of bool
        Of the shape of `scores`.

    Examples
    --------
    >>> select(np.array([1.0, 3.0, 2.0, 3.0]), 2)
    array([False,  True, False,  True])
    >>> int(select(np.array([1.0, 3.0, 2.0, 3.0]), 0.25).argmax())
    1
    """
    scores = np.asarray(scores, np.float64)
    if np.isnan(scores).any():
        raise ParameterError("select: some scores are NaN, and cannot be put in order.")
    is_share = isinstance(k, float)
    if isinstance(k, bool) or not (0 < k <= 1 if is_share else k >= 0):
        raise ParameterError(
            f"select: k is {k!r}; give a number of features from 0 on, "
            "or a share as a float above 0 and at most 1."
        )
    wanted = max(1, round(k * len(scores))) if is_share else int(k)
    best = np.argsort(-scores, axis=0, kind="stable")[:wanted]
    mask = np.zeros(scores.shape, bool)
    np.put_along_axis(mask, best, True, axis=0)
    return mask


# Counting pairs -----------------------------------------------------------------------------------


class _PairCounts:
    """How often each pair of feature and category was seen, sorted by feature, then category."""

    def __init__(self) -> None:
        self._codes = self._counts = np.zeros(0, np.int64)
        self._fresh: list[np.ndarray] = []  # codes not merged yet

    def add(self, features: np.ndarray, categories: np.ndarray) -> None:
        self._fresh.append((features.astype(np.int64) << 32) | categories)
        # A merge copies all that is there, so that it waits until there is something to gain.
        if sum(map(len, self._fresh)) >= max(_PAIRS_AT_ONCE, len(self._codes) // 8):
            self._merge()

    def block(self, start: int, stop: int, n_categories: int) -> np.ndarray:
        """Return the counts of the features from start to stop, as a dense array."""
        self._merge()
        some = slice(*np.searchsorted(self._codes, [start << 32, stop << 32]))
        codes = self._codes[some]
        dense = np.zeros((stop - start, n_categories), np.int64)
        dense[(codes >> 32) - start, codes & 0xFFFFFFFF] = self._counts[some]
        return dense

    def _merge(self) -> None:
        if not self._fresh:
            return
        codes, counts = np.unique(np.concatenate(self._fresh), return_counts=True)
        self._fresh = []
        places = np.searchsorted(self._codes, codes)
        known = np.zeros(len(codes), bool)
        inside = places < len(self._codes)
        known[inside] = self._codes[places[inside]] == codes[inside]
        self._counts[places[known]] += counts[known]
        self._codes = np.insert(self._codes, places[~known], codes[~known])
        self._counts = np.insert(self._counts, places[~known], counts[~known])


def _pairs(rows: Rows, labels: Labels) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield each feature of each document with each of its categories, in blocks of documents."""
    ends = np.cumsum(np.diff(rows.indptr) * np.diff(labels.indptr))
    start = 0
    while start < rows.n_rows:
        done = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + _PAIRS_AT_ONCE, side="right")))
        entries = slice(rows.indptr[start], rows.indptr[stop])
        documents = np.repeat(np.arange(start, stop), np.diff(rows.indptr[start : stop + 1]))
        present = rows.values[entries] != 0
        of_each = labels.take(documents[present])
        yield np.repeat(rows.indices[entries][present], np.diff(of_each.indptr)), of_each.indices
        start = stop


def _check_choice(name: str, value: str, choices: Iterable[str]) -> None:
    if value not in choices:
        raise ParameterError(
            f"{name} is {value!r}; it must be one of {', '.join(map(repr, choices))}."
        )


def _with_more(counts: np.ndarray, indices: np.ndarray, n: int) -> np.ndarray:
    """Return the counts of at least `n` things with one more for each of the indices."""
    total = np.bincount(indices, minlength=max(n, len(counts)))
    total[: len(counts)] += counts
    return total


def _inverse(x: np.ndarray) -> np.ndarray:
    """Return 1 / x, and 0 where x is 0."""
    inverse = np.zeros_like(x)
    np.divide(1.0, x, where=x != 0, out=inverse)
    return inverse


def _x_log_x(x: np.ndarray) -> np.ndarray:
    """Return x ln x, which is 0 at 0."""
    logs: np.ndarray = np.log(np.maximum(x, 1.0))  # counts: nothing lies between 0 and 1
    logs *= x
    return logs
