"""Boosted trees, slowly: every question about every drawn feature, pair by pair."""

from itertools import pairwise
from math import ceil, exp, log

import numpy as np

TIE = 1e-9


def thresholds(values):
    """Half-way between neighbouring values, in single precision, or the lower one."""
    values = sorted(set(values))
    middles = [(low, float(np.float32((low + high) / 2)), high) for low, high in pairwise(values)]
    return [middle if middle < high else low for low, middle, high in middles]


def grow(X, edges, slopes, drawn, rate, l2, most_leaves, least_pairs):
    """A node as [value] if it is a leaf, else as [value, feature, threshold, left, right]."""

    def sums(pairs):
        return sum(slopes[i][0] for i in pairs), sum(slopes[i][1] for i in pairs)

    def strength(pairs):
        gradient, curvature = sums(pairs)
        return gradient**2 / (curvature + l2)

    def leaf(pairs):
        gradient, curvature = sums(pairs)
        best = 0.0, None
        for j in drawn:
            for edge in edges[j]:
                left = [i for i in pairs if X[i][j] <= edge]
                right = [i for i in pairs if X[i][j] > edge]
                if min(len(left), len(right)) >= least_pairs:
                    gain = strength(left) + strength(right) - strength(pairs)
                    if gain > best[0] + TIE:
                        best = gain, (j, edge, left, right)
        return [-rate * gradient / (curvature + l2)], pairs, best

    leaves = [leaf(range(len(X)))]
    root = leaves[0][0]
    while len(leaves) < most_leaves:
        best, chosen = 0.0, None
        for place, (_, _, (gain, _)) in enumerate(leaves):
            if gain > best + TIE:
                best, chosen = gain, place
        if chosen is None:
            break
        node, _, (_, (j, edge, *sides)) = leaves[chosen]
        left, right = map(leaf, sides)
        node += [j, edge, left[0], right[0]]
        small_first = len(sides[0]) <= len(sides[1])
        leaves[chosen] = right if small_first else left
        leaves.append(left if small_first else right)
    return root


def boost(X, y, weights, seed, n_rounds, rate, l2, most_leaves, least_pairs, drawn_share):
    """The base and the trees; a pair is a list of numbers."""
    kept = [i for i in range(len(X)) if weights[i] > 0]
    X, y, weights = ([one[i] for i in kept] for one in (X, y, weights))
    positive = sum(w for w, belongs in zip(weights, y, strict=True) if belongs)
    base = log((positive + 0.5) / (sum(weights) - positive + 0.5))
    edges = [thresholds(column) for column in zip(*X, strict=True)]
    varied = [j for j, own in enumerate(edges) if own]
    trees = []
    if len(X) < 2 * least_pairs or not varied:
        return base, trees
    random = np.random.default_rng(seed)
    for _ in range(n_rounds):
        drawn = sorted(random.choice(varied, ceil(drawn_share * len(varied)), replace=False))
        slopes = []
        for x, belongs, w in zip(X, y, weights, strict=True):
            p = 1 / (1 + exp(-score(x, base, trees)))
            slopes.append((w * (p - belongs), w * p * (1 - p)))
        tree = grow(X, edges, slopes, drawn, rate, l2, most_leaves, least_pairs)
        if len(tree) > 1:
            trees.append(tree)
    return base, trees


def path(x, node):
    """The nodes that a pair comes through."""
    nodes = [node]
    while len(node) > 1:
        _, j, edge, left, right = node
        node = left if x[j] <= edge else right
        nodes.append(node)
    return nodes


def score(x, base, trees):
    return base + sum(path(x, tree)[-1][0] for tree in trees)


def shares(x, base, trees):
    """What each feature adds, and the base."""
    added = [0.0] * len(x) + [base]
    for tree in trees:
        nodes = path(x, tree)
        added[-1] += tree[0]
        for node, after in pairwise(nodes):
            added[node[1]] += after[0] - node[0]
    return added
