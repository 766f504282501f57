"""Feature selection by association with the categories: chi-square and information gain."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Self

import numpy as np

from thresher.errors import ParameterError, counted
from thresher.rows import Labels, Rows

_POOLS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "max": lambda scores, weights: scores.max(axis=1, initial=0.0),
    "mean": lambda scores, weights: scores @ weights,
    "sum": lambda scores, weights: scores.sum(axis=1),
}
_UNITS = {"bits": np.log(2.0), "nats": 1.0}

_PAIRS_AT_ONCE = 1 << 20  # pairs of feature and category counted at a time: some 40 MB
_CELLS_AT_ONCE = 1 << 16  # pairs of feature and category scored at a time: they fit in the cache


class FeatureScores(ABC):
    """Scores of the association between features and categories in the documents observed.

    A feature is present in a document or not; its count does not matter. Memory grows with the
    pairs of feature and category that occur together, not with all possible pairs.
    """

    def __init__(self) -> None:
        self._n_documents = 0
        self._of_feature = np.zeros(0, np.int64)
        self._of_category = np.zeros(0, np.int64)
        self._together = _PairCounts()

    def observe(self, rows: Rows, labels: Labels) -> Self:
        """Count documents, which may have more features and categories than those before.

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
        self._of_feature = _added(self._of_feature, present, rows.n_columns)
        self._of_category = _added(self._of_category, labels.indices, labels.n_categories)
        for features, categories in _pairs(rows, labels):
            self._together.add(features, categories)
        return self

    def merge(
        self,
        other: FeatureScores,
        features: np.ndarray | None = None,
        categories: np.ndarray | None = None,
    ) -> Self:
        """Add what another one has counted, as if its documents had been observed here.

        Parameters
        ----------
        other : FeatureScores
            Of any kind; the kind of this one decides how scores are computed.
        features, categories : array of int, optional
            The number here of each feature and category of `other`; by default, the same number.

        Examples
        --------
        >>> rows = Rows(np.array([0, 2]), np.array([0, 1]), np.ones(2, np.float32), 2)
        >>> shards = [ChiSquare().observe(rows, Labels.from_lists([[0]], 1)) for _ in range(2)]
        >>> shards[0].merge(shards[1], features=np.array([1, 2])).document_frequencies().tolist()
        [[1], [2], [1]]
        """
        n_features, n_categories = other._shape
        features = np.arange(n_features) if features is None else np.asarray(features)
        categories = np.arange(n_categories) if categories is None else np.asarray(categories)
        self._n_documents += other._n_documents
        self._of_feature = _summed(self._of_feature, features, other._of_feature)
        self._of_category = _summed(self._of_category, categories, other._of_category)
        self._together.merge(other._together, features, categories)
        return self

    def document_frequencies(self) -> np.ndarray:
        """Return the number of documents of each category (column) that have each feature (row)."""
        return self._together.block(0, *self._shape)

    def scores(self) -> np.ndarray:
        """Return the float32 score of each feature (row) for each category (column).

        `pooled` needs less memory.
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
            How the scores for all categories are combined: the greatest (default), the mean
            weighted by the number of documents of the categories, or the sum.
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
        """Yield blocks of scores, each with the number of its first feature."""
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
        """Return scores, given how many of `n` documents have the feature, the category, both."""


class ChiSquare(FeatureScores):
    """Chi-square of the presence of a feature and a category, over documents.

    With a documents that have both, b the feature only, c the category only and d neither,

        χ² = N (ad - bc)² / ((a + b) (c + d) (a + c) (b + d)),

    and 0 if one of the factors below is 0. scikit-learn's `chi2` is another statistic: it compares
    sums of counts and ignores the documents without the feature.

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
        # ad - bc = aN - (a + b)(a + c), so that only `both` is needed for each pair.
        scores = n * both
        scores -= of_feature * of_category
        scores *= scores
        scores *= n * _inverse(of_feature * (n - of_feature))
        scores *= _inverse(of_category * (n - of_category))
        return scores


class InformationGain(FeatureScores):
    """Reduction of a category's entropy when the presence of the feature is known.

        IG = H(C) - P(f) H(C | f) - P(¬f) H(C | ¬f),

    where H is the entropy of belonging to the category or not.

    Parameters
    ----------
    unit : {"bits", "nats"}
        Use logarithms to base 2 (default) or natural ones.

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


def chi_square(rows: Rows, labels: Labels, *, pool: str | None = None) -> np.ndarray:
    """Return the chi-square of each feature and category; see `ChiSquare`.

    Parameters
    ----------
    rows, labels
        As for `FeatureScores.observe`.
    pool : {None, "max", "mean", "sum"}
        How to combine the scores for all categories; see `FeatureScores.pooled`. None (default):
        return one score for each feature and category.

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
    """Return a mask of the features with the k highest scores; of equal scores, the first win.

    Parameters
    ----------
    scores : array of shape (features,) or (features, categories)
        With categories, k features are selected for each of them.
    k : int or float
        The number of features to select. A float is a share of all, rounded to at least one.

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
    n_selected = max(1, round(k * len(scores))) if is_share else int(k)
    best = np.argsort(-scores, axis=0, kind="stable")[:n_selected]
    mask = np.zeros(scores.shape, bool)
    np.put_along_axis(mask, best, True, axis=0)
    return mask


# Counting pairs -----------------------------------------------------------------------------------


class _PairCounts:
    """The number of times each pair of feature and category occurred."""

    def __init__(self) -> None:
        # A pair is coded as feature << 32 | category; the codes are sorted.
        self._codes = self._counts = np.zeros(0, np.int64)
        self._pending: list[np.ndarray] = []  # codes that are not counted yet

    def add(self, features: np.ndarray, categories: np.ndarray) -> None:
        self._pending.append((features.astype(np.int64) << 32) | categories)
        # Counting copies all counts, so it waits until there are many codes.
        if sum(map(len, self._pending)) >= max(_PAIRS_AT_ONCE, len(self._codes) // 8):
            self._count_pending()

    def merge(self, other: _PairCounts, features: np.ndarray, categories: np.ndarray) -> None:
        """Add other counts, whose features and categories have other numbers here."""
        other._count_pending()
        codes = features[other._codes >> 32].astype(np.int64) << 32
        codes |= categories[other._codes & 0xFFFFFFFF]
        order = np.argsort(codes)
        self._add_counts(codes[order], other._counts[order])

    def block(self, start: int, stop: int, n_categories: int) -> np.ndarray:
        """Return the counts of the features from start to stop as a dense array."""
        self._count_pending()
        some = slice(*np.searchsorted(self._codes, [start << 32, stop << 32]))
        codes = self._codes[some]
        dense = np.zeros((stop - start, n_categories), np.int64)
        dense[(codes >> 32) - start, codes & 0xFFFFFFFF] = self._counts[some]
        return dense

    def _count_pending(self) -> None:
        if self._pending:
            codes = np.concatenate(self._pending)
            self._pending = []
            self._add_counts(*np.unique(codes, return_counts=True))

    def _add_counts(self, codes: np.ndarray, counts: np.ndarray) -> None:
        """Add the counts of sorted codes, each of which occurs once."""
        index = np.searchsorted(self._codes, codes)
        is_known = np.zeros(len(codes), bool)
        inside = index < len(self._codes)
        is_known[inside] = self._codes[index[inside]] == codes[inside]
        self._counts[index[is_known]] += counts[is_known]
        self._codes = np.insert(self._codes, index[~is_known], codes[~is_known])
        self._counts = np.insert(self._counts, index[~is_known], counts[~is_known])


def _pairs(rows: Rows, labels: Labels) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the pairs of a feature and a category of each document, in blocks of documents."""
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


def _added(counts: np.ndarray, indices: np.ndarray, n: int) -> np.ndarray:
    """Return at least `n` counts, in which each of the indices counts once more."""
    total = np.bincount(indices, minlength=max(n, len(counts)))
    total[: len(counts)] += counts
    return total


def _summed(counts: np.ndarray, indices: np.ndarray, more: np.ndarray) -> np.ndarray:
    """Return the counts plus `more`, whose numbers among them are `indices`."""
    total = np.zeros(max(len(counts), int(indices.max(initial=-1)) + 1), np.int64)
    total[: len(counts)] = counts
    total[indices] += more
    return total


def _inverse(x: np.ndarray) -> np.ndarray:
    """Return 1 / x, and 0 where x is 0."""
    inverse = np.zeros_like(x)
    np.divide(1.0, x, where=x != 0, out=inverse)
    return inverse


def _x_log_x(x: np.ndarray) -> np.ndarray:
    """Return x ln x, which is 0 at 0."""
    logs: np.ndarray = np.log(np.maximum(x, 1.0))  # x is a count, never between 0 and 1
    logs *= x
    return logs
