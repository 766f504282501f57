"""Boosted trees: many small trees, each of which mends what those before it got wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from thresher._kernels.boosted_trees import N_BITS, add_scores, add_shares, grow, take_slopes
from thresher.errors import ModelError
from thresher.limits import LARGEST_WEIGHT
from thresher.model.second_look._given import check_width, counted, log_odds
from thresher.state import require_field, require_tensor

__all__ = ["BoostedTrees"]

N_ROUNDS = 150
RATE = 0.06  # the part of its Newton step that a tree takes
MOST_LEAVES = 24
LEAST_PAIRS = 100  # of a leaf: what fewer agree on may be chance
L2 = 5.0  # added to the curvature of a leaf, so that a few pairs do not move it far
# Of the features, for each tree, so that the trees differ. To draw them for each question anew, as
# scikit-learn does, is no better on held-out pairs and needs the histograms of all.
DRAWN_SHARE = 0.4
MOST_BINS = 255  # of a feature: their numbers fit into a byte
LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, eq=False)
class BoostedTrees:
    """Gradient boosting of the logistic loss; a score is the log-odds that a pair belongs.

    A node asks whether a feature is above its threshold. It has a value of its own, also if it is
    no leaf, so that each answer on the way of a pair has a share: by how much the value changes.

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
    starts: np.ndarray  # int32: the root of each tree, after which its other nodes stand
    feature: np.ndarray  # int32, of each node: what it asks for; -1: it is a leaf
    threshold: np.ndarray  # float32
    child: np.ndarray  # int32: where it goes if not above; the next one if above; -1: it is a leaf
    value: np.ndarray  # float64

    # ---- learning ----------------------------------------------------------------------------

    @classmethod
    def fit(
        cls, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None, *, seed: int = 0
    ) -> Self:
        """Learn from pairs, a row of finite features each, and whether they belong.

        Those without weight are left out; where few are left, the base alone is learned.
        """
        X, y, weights = counted(X, y, weights)
        base = log_odds(y, weights)
        forest = _boosted(_binned(X), y, weights, base, seed)
        return cls(X.shape[1], base, *forest)

    # ---- scores, and why ---------------------------------------------------------------------

    def score(self, X: np.ndarray) -> np.ndarray:
        """Return the log-odds of each pair."""
        check_width(X, self.n_features)
        scores = np.full(len(X), self.base)
        add_scores(np.ascontiguousarray(X, np.float32), *self.tables, scores)
        return scores

    def shares(self, X: np.ndarray) -> np.ndarray:
        """Return what each feature adds to the score of each pair; the last column is the base."""
        check_width(X, self.n_features)
        shares = np.zeros((len(X), self.n_features + 1))
        shares[:, -1] = self.base
        add_shares(np.ascontiguousarray(X, np.float32), *self.nodes, shares)
        return shares

    @cached_property
    def least(self) -> float:
        """The score that no pair is below."""
        leaves = np.where(self.feature < 0, self.value, np.inf)
        lowest = np.minimum.reduceat(leaves, self.starts)
        # Added one by one, as scores are, so that it is no higher for its rounding either; `sum`
        # of Python 3.12 and later makes up for that.
        return float(np.cumsum(np.append(self.base, lowest))[-1])

    @cached_property
    def tables(self) -> Tables:
        """The same trees, for those who come to their leaves without a walk."""
        n_trees, is_leaf = len(self.starts), self.feature < 0
        tree = np.searchsorted(self.starts, np.arange(len(is_leaf)), side="right") - 1
        first, on_left = _places(self.feature, self.child)
        after = ~(((np.uint64(1) << on_left) - np.uint64(1)) << first).astype(np.uint32)
        leaves = np.zeros((n_trees, N_BITS))
        leaves[tree[is_leaf], first[is_leaf].astype(int)] = self.value[is_leaf]
        edges, rows = [], []
        for f in range(self.n_features):
            asked = np.flatnonzero(self.feature == f)
            own, place = np.unique(self.threshold[asked], return_inverse=True)
            left = np.full((len(own) + 1, n_trees), 0xFFFFFFFF, np.uint32)
            np.bitwise_and.at(left, (place + 1, tree[asked]), after[asked])
            edges.append(own)
            rows.append(np.bitwise_and.accumulate(left))
        starts = np.cumsum([0, *map(len, edges)])
        return Tables(np.concatenate(edges), starts, np.concatenate(rows), leaves)

    @property
    def nodes(self) -> tuple[np.ndarray, ...]:
        """The root of each tree, and of each node what it asks, where it goes and its value."""
        return self.starts, self.feature, self.threshold, self.child, self.value

    # ---- files -------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return all nodes, as a JSON-able header and arrays."""
        names = ("starts", "feature", "threshold", "child", "value")
        return {"base": self.base}, dict(zip(names, self.nodes, strict=True))

    @classmethod
    def from_state(
        cls, header: dict[str, Any], tensors: dict[str, np.ndarray], n_features: int
    ) -> Self:
        """Rebuild the trees from what `state` returned, checking everything."""
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
    """Trees, as the kernel `add_scores` asks for them."""

    edges: np.ndarray  # float32: the thresholds of each feature, which rise
    starts: np.ndarray  # int64, of each feature among them, and the end
    left: np.ndarray  # uint32, a column per tree: the leaves that are left, from left to right
    leaves: np.ndarray  # float64, a row per tree: their values


class Binned(NamedTuple):
    """The features of pairs, each as the number of a bin."""

    bins: np.ndarray  # uint8, a row per pair
    n_bins: np.ndarray  # int64, of each feature
    edges: np.ndarray  # float32, a row per feature: the highest that each bin but the last holds


def _boosted(
    binned: Binned, y: np.ndarray, weights: np.ndarray, base: float, seed: int
) -> list[np.ndarray]:
    """Return the roots and the nodes of the trees: what they ask, where they go, their values."""
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
    return [np.array(starts, np.int32), *(one[:n_nodes].copy() for one in nodes)]


def _binned(X: np.ndarray) -> Binned:
    bins, edges = np.empty(X.shape, np.uint8), np.zeros((X.shape[1], MOST_BINS - 1), np.float32)
    n_bins = np.ones(X.shape[1], np.int64)
    for j, column in enumerate(X.T):
        own = _edges(column)
        bins[:, j] = np.searchsorted(own, column)
        edges[j, : len(own)] = own
        n_bins[j] += len(own)
    return Binned(bins, n_bins, edges)


def _edges(column: np.ndarray) -> np.ndarray:
    """Return thresholds that part the values into bins of about as many pairs each.

    They are half-way between neighbouring values, all of them where these are few.
    """
    values, counts = np.unique(column, return_counts=True)
    places = np.arange(len(values) - 1)
    if len(values) > MOST_BINS:
        wanted = len(column) * np.arange(1, MOST_BINS) / MOST_BINS
        places = np.unique(np.searchsorted(counts.cumsum(), wanted))
        places = places[places < len(values) - 1]
    low, high = values[places], values[places + 1]
    middle = ((low.astype(np.float64) + high) / 2).astype(np.float32)
    return np.where(middle < high, middle, low)  # where nothing is between, it is rounded up


def _places(feature: np.ndarray, child: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first leaf that each node leads to, from left to right, and how many on its left.

    Children stand after their parents.
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
    """Tell whether each node but the roots is the child of one before it, in the same tree.

    And whether no tree has more leaves than there is room for.
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
