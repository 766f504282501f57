"""Gradient-boosted trees, a classifier of pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from thresher._kernels.boosted_trees import N_BITS, add_scores, add_shares, grow, take_slopes
from thresher.errors import ModelError
from thresher.limits import LARGEST_WEIGHT
from thresher.model.second_look.linear import check_width, log_odds, weighted_pairs
from thresher.state import require_field, require_tensor

N_ROUNDS = 150
RATE = 0.06  # the learning rate
MOST_LEAVES = 24
LEAST_PAIRS = 100  # in a leaf
L2 = 5.0  # penalty of leaf values
# The share of features drawn for each tree. Drawing them for each split, as scikit-learn does, is
# no better on held-out pairs and needs the histograms of all features.
DRAWN_SHARE = 0.4
MOST_BINS = 255  # of a feature, so that a bin number fits into a byte
LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, eq=False)
class BoostedTrees:
    """Gradient boosting of the logistic loss; a score is the log-odds that a pair belongs.

    A node splits by whether a feature is above its threshold. Inner nodes have values too, so that
    each split on the path of a pair has a contribution to the score: the change of the value.

    References
    ----------
    J. Friedman, Greedy function approximation: a gradient boosting machine, 2001; G. Ke et al.,
    LightGBM: a highly efficient gradient boosting decision tree, 2017. C. Lucchese et al.,
    QuickScorer: a fast algorithm to rank documents with additive ensembles of regression trees,
    2015.

    Examples
    --------
    >>> X = np.repeat(np.arange(250, dtype=np.float32), 4)[:, None]
    >>> trees = BoostedTrees.fit(X, X[:, 0] >= 75)
    >>> trees.score(X[[0, 299, 300, 999]]).round(1)
    array([-5.5, -5.5,  6.3,  6.3])
    """

    n_features: int
    base: float
    starts: np.ndarray  # int32: the root of each tree, followed by its other nodes
    feature: np.ndarray  # int32: the feature of each node; -1 for a leaf
    threshold: np.ndarray  # float32
    child: np.ndarray  # int32: the next node if not above, followed by that if above; -1: a leaf
    value: np.ndarray  # float64

    # ---- learning ----------------------------------------------------------------------------

    @classmethod
    def fit(
        cls, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None, *, seed: int = 0
    ) -> Self:
        """Return trees learned from pairs, a row of finite features each, and labels.

        Pairs of weight zero are ignored. If there are few others, there are no trees.
        """
        X, y, weights = weighted_pairs(X, y, weights)
        base = log_odds(y, weights)
        forest = _boosted(_binned(X), y, weights, base, seed)
        return cls(X.shape[1], base, *forest)

    # ---- scores ------------------------------------------------------------------------------

    def score(self, X: np.ndarray) -> np.ndarray:
        """Return the log-odds of each pair."""
        check_width(X, self.n_features)
        scores = np.full(len(X), self.base)
        add_scores(np.ascontiguousarray(X, np.float32), *self.tables, scores)
        return scores

    def shares(self, X: np.ndarray) -> np.ndarray:
        """Return the contribution of each feature to each score; the last column is the base."""
        check_width(X, self.n_features)
        shares = np.zeros((len(X), self.n_features + 1))
        shares[:, -1] = self.base
        add_shares(np.ascontiguousarray(X, np.float32), *self.nodes, shares)
        return shares

    @cached_property
    def least(self) -> float:
        """The lowest possible score."""
        leaves = np.where(self.feature < 0, self.value, np.inf)
        lowest = np.minimum.reduceat(leaves, self.starts)
        # Added in the order of scores, so that rounding cannot make it higher than a score. `sum`
        # of Python 3.12 and later is more exact.
        return float(np.cumsum(np.append(self.base, lowest))[-1])

    @cached_property
    def tables(self) -> Tables:
        """The trees in the form of the kernel `add_scores`."""
        n_trees, is_leaf = len(self.starts), self.feature < 0
        tree = np.searchsorted(self.starts, np.arange(len(is_leaf)), side="right") - 1
        first, on_left = _leaf_ranges(self.feature, self.child)
        after = ~(((np.uint64(1) << on_left) - np.uint64(1)) << first).astype(np.uint32)
        leaves = np.zeros((n_trees, N_BITS))
        leaves[tree[is_leaf], first[is_leaf].astype(int)] = self.value[is_leaf]
        edges, rows = [], []
        for f in range(self.n_features):
            splits = np.flatnonzero(self.feature == f)
            thresholds, index = np.unique(self.threshold[splits], return_inverse=True)
            left = np.full((len(thresholds) + 1, n_trees), 0xFFFFFFFF, np.uint32)
            np.bitwise_and.at(left, (index + 1, tree[splits]), after[splits])
            edges.append(thresholds)
            rows.append(np.bitwise_and.accumulate(left))
        starts = np.cumsum([0, *map(len, edges)])
        return Tables(np.concatenate(edges), starts, np.concatenate(rows), leaves)

    @property
    def nodes(self) -> tuple[np.ndarray, ...]:
        """The roots, and the feature, threshold, child and value of each node."""
        return self.starts, self.feature, self.threshold, self.child, self.value

    # ---- files -------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the header and the tensors of the model file."""
        names = ("starts", "feature", "threshold", "child", "value")
        return {"base": self.base}, dict(zip(names, self.nodes, strict=True))

    @classmethod
    def from_state(
        cls, header: dict[str, Any], tensors: dict[str, np.ndarray], n_features: int
    ) -> Self:
        """Return the trees that `state` described, checked."""
        base = require_field(header, "base", float, low=-LARGEST_WEIGHT, high=LARGEST_WEIGHT)
        feature = require_tensor(tensors, "feature", np.int32, (None,), low=-1, high=n_features - 1)
        size = (len(feature),)
        starts = require_tensor(tensors, "starts", np.int32, (None,), low=0, high=len(feature) - 1)
        threshold = require_tensor(
            tensors, "threshold", np.float32, size, low=-LARGEST, high=LARGEST
        )
        child = require_tensor(tensors, "child", np.int32, size, low=-1, high=len(feature) - 2)
        value = require_tensor(tensors, "value", np.float64, size, finite=True)
        if not _is_forest(starts, feature, child):
            raise ModelError(
                "The second look's part of the model is damaged: the nodes of its trees do not fit "
                "together."
            )
        return cls(n_features, base, starts, feature, threshold, child, value)


class Tables(NamedTuple):
    """Trees in the form of the kernel `add_scores`."""

    edges: np.ndarray  # float32: the thresholds of each feature, ascending
    starts: np.ndarray  # int64: where those of each feature start, and the end
    left: np.ndarray  # uint32, a column per tree: the leaves that remain possible, as bits
    leaves: np.ndarray  # float64, a row per tree: the values of the leaves


class Binned(NamedTuple):
    """Features of pairs as bin numbers."""

    bins: np.ndarray  # uint8, a row per pair
    n_bins: np.ndarray  # int64, of each feature
    edges: np.ndarray  # float32, a row per feature: the upper ends of all bins but the last


def _boosted(
    binned: Binned, y: np.ndarray, weights: np.ndarray, base: float, seed: int
) -> list[np.ndarray]:
    """Return the roots, and the feature, threshold, child and value of all nodes."""
    varied = np.flatnonzero(binned.n_bins > 1)
    n_rounds = N_ROUNDS if len(y) >= 2 * LEAST_PAIRS and len(varied) else 0
    random, n_drawn = np.random.default_rng(seed), math.ceil(DRAWN_SHARE * len(varied))
    scores, slopes = np.full(len(y), base), np.empty((len(y), 2))
    rows, spare = np.empty(len(y), np.uint32), np.empty(len(y), np.uint32)
    histograms = np.empty((MOST_LEAVES, n_drawn, MOST_BINS, 3))
    leaves, sums = np.empty((MOST_LEAVES, 5), np.int64), np.empty((MOST_LEAVES, 5))
    size = n_rounds * (2 * MOST_LEAVES - 1)
    feature, child = np.full(size, -1, np.int32), np.full(size, -1, np.int32)
    nodes = feature, np.zeros(size, np.float32), child, np.zeros(size)
    starts, n_nodes = [], 0
    for _ in range(n_rounds):
        drawn = np.sort(random.choice(varied, n_drawn, replace=False)).astype(np.uint32)
        take_slopes(scores, y, weights, slopes, rows)
        end = grow(
            *binned, drawn, slopes, rows, spare, histograms, leaves, sums,
            LEAST_PAIRS, RATE, L2, scores, n_nodes, *nodes,
        )  # fmt: skip
        if end > n_nodes:
            starts.append(n_nodes)
            n_nodes = end
    return [np.array(starts, np.int32), *(array[:n_nodes].copy() for array in nodes)]


def _binned(X: np.ndarray) -> Binned:
    bins, edges = np.empty(X.shape, np.uint8), np.zeros((X.shape[1], MOST_BINS - 1), np.float32)
    n_bins = np.ones(X.shape[1], np.int64)
    for j, column in enumerate(X.T):
        thresholds = _edges(column)
        bins[:, j] = np.searchsorted(thresholds, column)
        edges[j, : len(thresholds)] = thresholds
        n_bins[j] += len(thresholds)
    return Binned(bins, n_bins, edges)


def _edges(column: np.ndarray) -> np.ndarray:
    """Return thresholds halfway between values, which divide the pairs into bins of similar size.

    If there are few values, there is a threshold between any two.
    """
    values, counts = np.unique(column, return_counts=True)
    below = np.arange(len(values) - 1)  # the values before a threshold
    if len(values) > MOST_BINS:
        quantiles = len(column) * np.arange(1, MOST_BINS) / MOST_BINS
        below = np.unique(np.searchsorted(counts.cumsum(), quantiles))
        below = below[below < len(values) - 1]
    low, high = values[below], values[below + 1]
    middle = ((low.astype(np.float64) + high) / 2).astype(np.float32)
    return np.where(middle < high, middle, low)  # neighbouring floats have nothing between them


def _leaf_ranges(feature: np.ndarray, child: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of the first leaf below each node, and of the leaves below its left child.

    Leaves are numbered from left to right in each tree. Children come after their parents.
    """
    children, n_leaves = child.tolist(), np.where(feature < 0, 1, 0).tolist()
    first, on_left = [0] * len(children), [0] * len(children)
    inside = np.flatnonzero(feature >= 0).tolist()
    for node in reversed(inside):
        on_left[node] = n_leaves[children[node]]
        n_leaves[node] = on_left[node] + n_leaves[children[node] + 1]
    for node in inside:
        first[children[node]] = first[node]
        first[children[node] + 1] = first[node] + on_left[node]
    return np.array(first, np.uint64), np.array(on_left, np.uint64)


def _is_forest(starts: np.ndarray, feature: np.ndarray, child: np.ndarray) -> bool:
    """Return True if the nodes form trees in which children come after their parents.

    No tree may have more than `N_BITS` leaves.
    """
    inside = np.flatnonzero(feature >= 0)
    children = child[inside].astype(np.int64)
    ends = np.append(starts[1:], len(feature))
    if not len(starts) or starts[0] != 0 or not (starts < ends).all():
        return not len(starts) and not len(feature)
    tree = np.searchsorted(starts, inside, side="right") - 1
    others = np.delete(np.arange(len(feature)), starts)
    return bool(
        (child[feature < 0] == -1).all()
        and (ends - starts < 2 * N_BITS).all()
        and (children > inside).all()
        and (children + 1 < ends[tree]).all()
        and np.array_equal(np.sort(np.concatenate([children, children + 1])), others)
    )
