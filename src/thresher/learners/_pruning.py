"""Pruning of decision trees: leaf by leaf, by confidence, or by interpolation."""

from __future__ import annotations

import heapq
from statistics import NormalDist

import numpy as np

from thresher.learners._trees import Tree, information_gain

EXPECTATION_STEPS = 50  # of expectation maximization, at most
SHARE_TOLERANCE = 1e-4  # shares that change by no more have converged


def pruning_order(tree: Tree, gains: np.ndarray) -> np.ndarray:
    """Return the inner nodes in the order in which they become leaves, the root last.

    The next node is always the one with the lowest gain of those with two leaves; of equal ones the
    one with the fewest training documents, and of these the first.

    Parameters
    ----------
    tree : Tree
        The full tree.
    gains : array of float
        The gain of the test of each node, as `information_gain` returns it.
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
    """Return the tree in which some nodes have become leaves."""
    left, right = tree.left.copy(), tree.right.copy()
    left[nodes] = right[nodes] = -1
    is_retained = np.zeros(tree.n_nodes, bool)
    is_retained[0] = True
    for node in np.flatnonzero(left >= 0):  # parents come before their children
        if is_retained[node]:
            is_retained[left[node]] = is_retained[right[node]] = True
    number = np.cumsum(is_retained, dtype=np.int32) - 1
    left, right = [np.where(c < 0, -1, number[c]).astype(np.int32) for c in (left, right)]
    column = np.where(left < 0, -1, tree.column).astype(np.int32)
    threshold = np.where(left < 0, 0, tree.threshold).astype(np.float32)
    return Tree(*[array[is_retained] for array in (column, threshold, left, right, *tree[4:])])


def best_size(tree: Tree, counted: Tree) -> tuple[np.ndarray, int]:
    """Return the order of pruning by held-out documents, and the number of nodes to prune.

    It leads to the smallest of the trees that decide most of these documents right.

    Parameters
    ----------
    tree : Tree
        The full tree, with its training documents.
    counted : Tree
        The same tree with the counts of the held-out documents.
    """
    order = pruning_order(tree, information_gain(counted))
    n_negative = counted.n_documents - counted.n_positive
    right = np.where(tree.probability > 0.5, counted.n_positive, n_negative)
    changes = right[order] - right[tree.left[order]] - right[tree.right[order]]
    levels = np.append(0.0, np.cumsum(changes))
    # Rounding may make equal sums of fractions differ.
    return order, int(np.flatnonzero(levels >= levels.max() - 1e-9 * max(1.0, right[0]))[-1])


def pruned_by_confidence(tree: Tree, confidence: float) -> Tree:
    """Return the tree without the tests that do not lower the expected mistakes, as in C4.5.

    The expected mistakes of a leaf are the upper limit of the binomial confidence interval of its
    mistakes. From the leaves up, a node becomes a leaf if that does not increase them.
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
    """Return the upper confidence limit of the mistakes among these numbers of documents.

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
    """Return the weight λ of a node's own distribution against its parent's, by bucket.

    All nodes with 2^b to 2^(b+1) training documents share λ_b. It is learned by expectation
    maximization, so that the mixture of the distributions from a leaf to the root gives the
    held-out documents the highest probability.
    """
    from thresher._kernels.tree import improve_shares

    buckets = _buckets(tree)
    shares = np.full(64, 0.5)
    documents = np.stack([counted.n_positive, counted.n_documents - counted.n_positive], 1)
    documents[tree.column >= 0] = 0.0
    scratch = np.empty(tree.n_nodes), np.empty(64), np.empty(64)
    for _ in range(EXPECTATION_STEPS):
        before = shares.copy()
        nodes = tree.parents(), buckets, tree.probability
        improve_shares(*nodes, shares, scratch[0], documents.copy(), *scratch[1:])
        if np.abs(shares - before).max() <= SHARE_TOLERANCE:
            break
    return shares


def interpolated(tree: Tree, shares: np.ndarray) -> Tree:
    """Return the tree with the probabilities of nodes mixed with those of their parents."""
    from thresher._kernels.tree import interpolate

    mixed = np.empty(tree.n_nodes)
    interpolate(tree.parents(), _buckets(tree), tree.probability, shares, mixed)
    return tree._replace(probability=mixed)


def _buckets(tree: Tree) -> np.ndarray:
    """Return the bucket of each node: the binary logarithm of its number of documents."""
    buckets = np.clip(np.log2(np.maximum(tree.n_documents, 1.0)), 0, 63)
    return np.asarray(buckets, np.int64)
