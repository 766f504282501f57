"""Taking from a tree what it learned by chance: leaf by leaf, by confidence, or by mixing."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from statistics import NormalDist

import numpy as np

from thresher.learners._trees import Tree, information_gain

STEPS = 50  # of expectation and maximization, at most
CLOSE = 1e-4  # shares that change by no more have been learned


def pruning_order(tree: Tree, gains: np.ndarray) -> np.ndarray:
    """Return the inner nodes in the order in which they become leaves, the root last.

    It is always the one with the lowest gain of those with two leaves; of equal ones the one with
    the fewest training documents, and of these the first.

    Parameters
    ----------
    tree : Tree
        The full tree.
    gains : array of float
        How much each node's test is worth, as `information_gain` has it.
    """
    parents, inside = tree.parents(), tree.column >= 0
    n_inside = np.zeros(tree.n_nodes, np.int64)  # children that are no leaves
    np.add.at(n_inside, parents[inside & (parents >= 0)], 1)
    ready = [
        (float(gains[node]), float(tree.n_documents[node]), int(node))
        for node in np.flatnonzero(inside & (n_inside == 0))
    ]
    heapq.heapify(ready)
    order = []
    while ready:
        node = heapq.heappop(ready)[2]
        order.append(node)
        parent = int(parents[node])
        if parent >= 0:
            n_inside[parent] -= 1
            if n_inside[parent] == 0:
                key = float(gains[parent]), float(tree.n_documents[parent]), parent
                heapq.heappush(ready, key)
    return np.array(order, np.int64)


def cut(tree: Tree, nodes: np.ndarray) -> Tree:
    """Return the tree in which some nodes are leaves, and what was below them is gone."""
    left, right = tree.left.copy(), tree.right.copy()
    left[nodes] = right[nodes] = -1
    kept = np.zeros(tree.n_nodes, bool)
    kept[0] = True
    for node in np.flatnonzero(left >= 0):  # parents stand before their children
        if kept[node]:
            kept[left[node]] = kept[right[node]] = True
    number = np.cumsum(kept, dtype=np.int32) - 1
    left, right = (np.where(one < 0, -1, number[one]).astype(np.int32) for one in (left, right))
    column = np.where(left < 0, -1, tree.column).astype(np.int32)
    threshold = np.where(left < 0, 0, tree.threshold).astype(np.float32)
    return Tree(*(one[kept] for one in (column, threshold, left, right, *tree[4:])))


def pruning_sequence(tree: Tree, gains: np.ndarray) -> Iterator[Tree]:
    """Yield the full tree, the tree with one inner node less, and so on, down to the root alone.

    Examples
    --------
    >>> from thresher.learners.tree import grow_tree
    >>> from thresher.rows import Rows
    >>> rows = Rows(np.array([0, 0, 1, 2, 4]), np.array([0, 1, 0, 1], np.int32),
    ...             np.ones(4, np.float32), 2)
    >>> tree = grow_tree(rows, np.array([False, True, True, False]))
    >>> [one.n_internal for one in pruning_sequence(tree, information_gain(tree))]
    [3, 2, 1, 0]
    """
    order = pruning_order(tree, gains)
    for n in range(len(order) + 1):
        yield cut(tree, order[:n])


def best_size(tree: Tree, counted: Tree) -> tuple[np.ndarray, int]:
    """Return the order of pruning by held-out documents, and how many to prune.

    Of the trees on the way that decide most of these documents right, the smallest is meant.

    Parameters
    ----------
    tree : Tree
        The full tree, with its training documents.
    counted : Tree
        The same, with the counts of the held-out ones.
    """
    order = pruning_order(tree, information_gain(counted))
    others = counted.n_documents - counted.n_positive
    right = np.where(tree.probability > 0.5, counted.n_positive, others)
    changes = right[order] - right[tree.left[order]] - right[tree.right[order]]
    levels = np.append(0.0, np.cumsum(changes))
    # Sums of fractions may differ in the last digit.
    return order, int(np.flatnonzero(levels >= levels.max() - 1e-9 * max(1.0, right[0]))[-1])


def pruned_by_confidence(tree: Tree, confidence: float) -> Tree:
    """Return the tree without what no longer helps if every leaf is taken to be worse than it is.

    A leaf with e mistakes among n documents is taken to make as many as the upper limit of a
    binomial's confidence interval says, as C4.5 has it. From the leaves up, a node becomes a leaf
    where that makes no more.
    """
    mistakes = np.minimum(tree.n_positive, tree.n_documents - tree.n_positive)
    expected = expected_mistakes(mistakes, tree.n_documents, confidence)
    leaves = []
    for node in np.flatnonzero(tree.column >= 0)[::-1]:
        below = expected[tree.left[node]] + expected[tree.right[node]]
        if expected[node] <= below + 1e-9:
            leaves.append(node)
        else:
            expected[node] = below
    return cut(tree, np.array(leaves, np.int64))


def expected_mistakes(
    mistakes: np.ndarray, n_documents: np.ndarray, confidence: float
) -> np.ndarray:
    """Return the upper limit of the mistakes among so many documents, at a confidence.

    Examples
    --------
    >>> none = expected_mistakes(np.zeros(3), np.array([6.0, 9.0, 1.0]), 0.25)
    >>> (none / [6, 9, 1]).round(3).tolist()  # Quinlan 1993, p. 42
    [0.206, 0.143, 0.75]
    """
    n = np.maximum(n_documents, 1e-9)
    z2 = NormalDist().inv_cdf(1 - confidence) ** 2
    at_none = n * (1 - confidence ** (1 / n))

    def normal(e: np.ndarray) -> np.ndarray:
        half = np.minimum(e + 0.5, n)
        upper = n * (half + z2 / 2 + np.sqrt(z2 * (half * (1 - half / n) + z2 / 4))) / (n + z2)
        return np.asarray(upper)

    between = at_none + mistakes * (normal(np.ones_like(n)) - at_none)
    return np.asarray(np.where(mistakes < 1, between, normal(mistakes)))


def learned_shares(tree: Tree, counted: Tree) -> np.ndarray:
    """Return how much a node's own distribution counts against its mother's, by its documents.

    All nodes with from 2^b up to 2^(b+1) training documents share λ_b, which is learned from
    held-out documents by expectation and maximization: the mixture of distributions from a leaf to
    the root gives these documents the highest probability that can be had so.
    """
    from thresher._kernels.tree import improve_shares

    buckets = _buckets(tree)
    shares = np.full(64, 0.5)
    documents = np.stack([counted.n_positive, counted.n_documents - counted.n_positive], 1)
    documents[tree.column >= 0] = 0.0
    room = np.empty(tree.n_nodes), np.empty(64), np.empty(64)
    for _ in range(STEPS):
        before = shares.copy()
        nodes = tree.parents(), buckets, tree.probability
        improve_shares(*nodes, shares, room[0], documents.copy(), *room[1:])
        if np.abs(shares - before).max() <= CLOSE:
            break
    return shares


def interpolated(tree: Tree, shares: np.ndarray) -> Tree:
    """Return the tree whose probabilities are mixed with those above, by the shares learned."""
    from thresher._kernels.tree import interpolate

    mixed = np.empty(tree.n_nodes)
    interpolate(tree.parents(), _buckets(tree), tree.probability, shares, mixed)
    return tree._replace(probability=mixed)


def _buckets(tree: Tree) -> np.ndarray:
    """Return into which bucket each node falls by its number of documents."""
    buckets = np.clip(np.log2(np.maximum(tree.n_documents, 1.0)), 0, 63)
    return np.asarray(buckets, np.int64)
