"""Binary decision trees as flat arrays: growing them, and counting documents in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from thresher.errors import ParameterError
from thresher.learners._columns import without_zeros
from thresher.learners.scoring import check_rows, checked_sample_weight, run_cache_line_blocks
from thresher.rows import Rows

EXACT_BITS = 52  # sums of numbers with so many bits are exact in any order


class Tree(NamedTuple):
    """A tree as flat arrays, one item per node; the root is the first.

    Nodes are numbered in preorder: a node, its left subtree, its right subtree.

    Attributes
    ----------
    column : array of int32
        The feature that a node tests; -1 in a leaf.
    threshold : array of float32
        A document whose value is lower goes to the left, any other to the right; the value of a
        missing feature is zero.
    left, right : array of int32
        The children; -1 in a leaf.
    n_documents, n_positive : array of float64
        The weight of the training documents at the node, and of those that belong.
    probability : array of float64
        The probability that a document at the node belongs.
    """

    column: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    n_documents: np.ndarray
    n_positive: np.ndarray
    probability: np.ndarray

    @property
    def n_nodes(self) -> int:
        return len(self.column)

    @property
    def n_internal(self) -> int:
        """The number of nodes that are no leaves."""
        return int(np.count_nonzero(self.column >= 0))

    def log_odds(self) -> np.ndarray:
        """Return ln p / (1 - p) at each node."""
        return np.log(self.probability / (1.0 - self.probability))

    def parents(self) -> np.ndarray:
        """Return the parent of each node; -1 for the root."""
        parents = np.full(self.n_nodes, -1, np.int32)
        inside = np.flatnonzero(self.column >= 0)
        parents[self.left[inside]] = parents[self.right[inside]] = inside
        return parents

    def depths(self) -> np.ndarray:
        """Return the number of tests that lead to each node."""
        depths = np.zeros(self.n_nodes, np.int64)
        for node, parent in enumerate(self.parents().tolist()[1:], 1):
            depths[node] = depths[parent] + 1
        return depths

    def counts(self, rows: Rows, positive: np.ndarray, weights: np.ndarray | None = None) -> Tree:
        """Return the tree with the counts of other documents, and the same probabilities."""
        from thresher._kernels.tree import add_up

        weights = checked_sample_weight(weights, rows.n_rows)
        leaves = leaves_of([self], rows)[:, 0]
        counts = [np.bincount(leaves, w, self.n_nodes) for w in (weights, weights * positive)]
        for sums in counts:
            add_up(self.left, self.right, sums)
        return self._replace(n_documents=counts[0], n_positive=counts[1])


Memory = tuple[np.ndarray, ...]


class Growth(NamedTuple):
    """When a tree stops growing, and how its probabilities are smoothed."""

    smoothing: float = 1.0
    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_gain: float = 0.0


def smoothed(n_positive: np.ndarray, n_documents: np.ndarray, smoothing: float) -> np.ndarray:
    """Return (n + s) / (N + 2s).

    Examples
    --------
    >>> float(smoothed(np.array(6.0), np.array(8.0), 1.0))
    0.7
    """
    return np.asarray((n_positive + smoothing) / (n_documents + 2 * smoothing))


def information_gain(tree: Tree) -> np.ndarray:
    """Return the information gain of the test of each node, in nats, on its counted documents.

    The gain of leaves and of nodes without documents is zero.

    Examples
    --------
    >>> counts = np.array([7681.0, 5977, 1704]), np.array([2300.0, 693, 1607])
    >>> nodes = np.array([[0, -1, -1], [1, -1, -1], [2, -1, -1]], np.int32)
    >>> tree = Tree(nodes[0], np.ones(3, np.float32), *nodes[1:], *counts, counts[1] / counts[0])
    >>> information_gain(tree).round(3).tolist()
    [0.283, 0.0, 0.0]
    """
    p, m = tree.n_positive, tree.n_documents - tree.n_positive
    with np.errstate(divide="ignore", invalid="ignore"):
        whole, of_p, of_m = [np.where(n > 0, n * np.log(n), 0.0) for n in (p + m, p, m)]
    disorder = np.maximum(0.0, whole - of_p - of_m)
    gains = np.zeros(tree.n_nodes)
    inside = np.flatnonzero((tree.column >= 0) & (tree.n_documents > 0))
    below = disorder[tree.left[inside]] + disorder[tree.right[inside]]
    gains[inside] = np.maximum(0.0, disorder[inside] - below) / tree.n_documents[inside]
    return gains


def leaves_of(trees: Sequence[Tree], rows: Rows, n_jobs: int = 1) -> np.ndarray:
    """Return the leaf of each document in each tree (documents, trees)."""
    check_rows(rows, "DecisionTree", rows.n_columns, False)
    forest, roots = joined(trees)
    return np.asarray(leaves_in(forest, roots, rows, n_jobs) - roots)


def joined(trees: Sequence[Tree]) -> tuple[Tree, np.ndarray]:
    """Return trees as one set of arrays, and the positions of their roots."""
    roots = np.cumsum([0, *(tree.n_nodes for tree in trees)])[:-1]
    moved = [
        tree._replace(
            left=np.where(tree.left < 0, -1, tree.left + root).astype(np.int32),
            right=np.where(tree.right < 0, -1, tree.right + root).astype(np.int32),
        )
        for tree, root in zip(trees, roots, strict=True)
    ]
    return concatenated(moved), roots


def concatenated(trees: Sequence[Tree]) -> Tree:
    """Return the arrays of trees one after the other."""
    return Tree(*map(np.concatenate, zip(*trees, NO_NODES, strict=True)))


def leaves_in(forest: Tree, roots: np.ndarray, rows: Rows, n_jobs: int = 1) -> np.ndarray:
    """Return the leaf of each document in joined trees; columns must have been checked."""
    from thresher._kernels.tree import find_leaves

    leaves = np.empty((rows.n_rows, len(roots)), np.int32)
    documents = rows.indptr, rows.indices.view(np.uint32), rows.values
    width = 1 + max(int(columns.max(initial=-1)) for columns in (rows.indices, forest.column))

    def find(start: int, end: int) -> None:
        strengths = np.zeros(width, np.float32)
        find_leaves(*documents, roots, *forest[:4], strengths, leaves, start, end)

    run_cache_line_blocks(find, rows.n_rows, n_jobs)
    return leaves


# ---- growing ------------------------------------------------------------------------------------


class Columns:
    """The nonzero entries of documents sorted by column and value, to grow trees from."""

    def __init__(self, rows: Rows) -> None:
        if rows.n_rows >= 2**31 or len(rows.indices) >= 2**32:
            raise ParameterError(
                f"DecisionTree takes up to 2³¹ documents and 2³² entries, not {rows.n_rows:,} and "
                f"{len(rows.indices):,}."
            )
        self.starts, indices, values, *_ = without_zeros(rows)
        self.lengths = np.diff(self.starts)
        order = np.lexsort((values, indices))
        self.places = np.empty(len(order), np.uint32)
        self.places[order] = np.arange(len(order), dtype=np.uint32)
        numbers = np.repeat(np.arange(rows.n_rows, dtype=np.uint32), self.lengths)
        self.documents, self.values = numbers[order], values[order]
        self.columns = indices[order].view(np.uint32)
        self.n_columns = int(indices.max(initial=-1)) + 1

    def grower(self) -> Callable[[np.ndarray, np.ndarray, Growth], Tree]:
        """Return a function that grows trees in its own working memory; one for each thread."""
        n, n_entries = len(self.lengths), len(self.places)
        halves = [n_entries >> i for i in range(n_entries.bit_length() + 1)]
        n_columns = sum(min(self.n_columns, half) for half in halves)
        memory: Memory = (
            np.empty(n, np.int32), np.empty(n, np.uint32), np.empty(n, np.uint32),
            np.empty(n, np.uint8), np.empty(sum(halves), np.uint32),
            np.empty(n_columns, np.uint32), np.empty(n_columns, np.int64),
            np.empty(n_columns, np.int64), np.empty(n_columns), np.empty(n_columns),
            np.zeros(self.n_columns), np.zeros(self.n_columns),
        )  # fmt: skip
        return partial(self._grow, memory)

    def _grow(
        self,
        memory: tuple[np.ndarray, ...],
        positive: np.ndarray,
        weights: np.ndarray,
        growth: Growth,
    ) -> Tree:
        """Grow one tree; documents of weight zero do not count."""
        from thresher._kernels.tree import grow, number_nodes

        size = 2 * max(1, int(np.count_nonzero(weights))) - 1
        column, left, right = (np.full(size, -1, np.int32) for _ in range(3))
        nodes: Memory = (
            column, np.zeros(size, np.float32), left, right, np.empty(size), np.empty(size),
        )  # fmt: skip
        documents = (
            self.starts, self.places, self.documents, self.values, self.columns, self.lengths,
            weights, positive,
        )  # fmt: skip
        depth = 2**62 if growth.max_depth is None else growth.max_depth
        limits = depth, growth.min_samples_split, growth.min_samples_leaf, float(growth.min_gain)
        size = grow(*documents, *memory, *limits, *nodes)
        order, number = np.empty(size, np.int32), np.empty(size, np.int32)
        number_nodes(left, right, order, number)
        number[order] = np.arange(size, dtype=np.int32)
        tree = Tree(*[array[order] for array in (*nodes, nodes[-1])])
        inside = tree.left >= 0
        for children in (tree.left, tree.right):
            children[inside] = number[children[inside]]
        return tree._replace(
            probability=smoothed(tree.n_positive, tree.n_documents, growth.smoothing)
        )


def exact_weights(weights: np.ndarray) -> np.ndarray:
    """Return weights rounded to multiples of a power of two, so that any sum of them is exact."""
    total = weights.sum()
    if not total:
        return weights
    unit = 2.0 ** (int(np.ceil(np.log2(total))) + 1 - EXACT_BITS)
    return np.where(weights > 0, np.maximum(np.rint(weights / unit), 1.0) * unit, 0.0)


def grow_tree(
    rows: Rows, positive: np.ndarray, weights: np.ndarray | None = None, **limits: Any
) -> Tree:
    """Grow a tree by information gain, until every leaf is pure or its documents are equal.

    Parameters
    ----------
    rows : Rows
        The documents.
    positive : array of bool
        Which of them belong.
    weights : array of float, optional
        Their weights; 1 by default.
    **limits
        `smoothing`, `max_depth`, `min_samples_split`, `min_samples_leaf` and `min_gain`, as for
        `DecisionTree`.

    Examples
    --------
    >>> rows = Rows(np.array([0, 0, 1, 2, 4]), np.array([0, 1, 0, 1], np.int32),
    ...             np.ones(4, np.float32), 2)
    >>> tree = grow_tree(rows, np.array([False, True, True, False]))  # one or the other, not both
    >>> tree.column.tolist(), tree.probability.round(2).tolist()
    ([0, 1, -1, -1, 1, -1, -1], [0.5, 0.5, 0.33, 0.67, 0.5, 0.67, 0.33])
    """
    check_rows(rows, "DecisionTree", rows.n_columns, False)
    weights = exact_weights(checked_sample_weight(weights, rows.n_rows))
    return Columns(rows).grower()(np.asarray(positive, bool), weights, Growth(**limits))


NO_NODES = Tree(
    *(np.zeros(0, kind) for kind in (np.int32, np.float32, np.int32, np.int32, *[np.float64] * 3))
)
