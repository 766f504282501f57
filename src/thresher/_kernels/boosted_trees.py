"""Boosted trees on dense features: growing a tree, scoring and contributions of features.

For growing, features are bin numbers. Each leaf that may be split has a histogram: for each drawn
feature and bin, the sums of gradients and curvatures and the number of pairs. Of two children, the
histogram of the smaller is counted, and that of the larger is the rest of the parent's. Sums are
taken in a fixed order, so that trees are deterministic.
"""

import math

import numpy as np

from thresher._kernels._jit import kernel

U32, U64 = np.uint32, np.uint64
N_BITS = 32  # of a number with a bit for each leaf of a tree
# A de Bruijn sequence: multiplied by each power of two, it starts with five different bits.
SEQUENCE = U64(0x077CB531)
BIT_NUMBERS = np.argsort([(0x077CB531 << bit & 0xFFFFFFFF) >> 27 for bit in range(N_BITS)])

TIE = 1e-9  # a smaller difference of gains may be rounding
START, END, NODE, DRAWN, BIN = range(5)  # a leaf's pairs, its node, and its best split
GRADIENT, CURVATURE, GAIN, LEFT_GRADIENT, LEFT_CURVATURE = range(5)  # sums of leaf and split


@kernel
def take_slopes(scores, positive, weights, slopes, rows):
    """Write gradient and curvature of the logistic loss of each pair, and the numbers of pairs."""
    for i in range(len(scores)):
        p = 1.0 / (1.0 + math.exp(-scores[i]))
        slopes[i, 0] = weights[i] * (p - 1.0 if positive[i] else p)
        slopes[i, 1] = weights[i] * (p * (1.0 - p))
        rows[i] = i


@kernel
def fill_histogram(bins, n_bins, drawn, slopes, rows, start, end, histogram):
    """Write the histogram of the pairs of a leaf."""
    for k in range(len(drawn)):
        for b in range(n_bins[drawn[k]]):
            histogram[k, b, 0] = histogram[k, b, 1] = histogram[k, b, 2] = 0.0
    for q in range(start, end):
        i = rows[q]
        gradient, curvature = slopes[i, 0], slopes[i, 1]
        for k in range(len(drawn)):
            b = bins[i, drawn[k]]
            histogram[k, b, 0] += gradient
            histogram[k, b, 1] += curvature
            histogram[k, b, 2] += 1.0


@kernel
def subtract(n_bins, drawn, histogram, other):
    """Subtract another histogram from a histogram."""
    for k in range(len(drawn)):
        for b in range(n_bins[drawn[k]]):
            for column in range(3):
                histogram[k, b, column] -= other[k, b, column]


@kernel
def find_split(n_bins, drawn, histogram, least_pairs, l2, leaf, sums):
    """Write the best split of a leaf and the sums of its left child; a gain of 0 means no split.

    Of equal gains, the first feature wins, and of its thresholds the lowest.
    """
    n_pairs = leaf[END] - leaf[START]
    gradient, curvature = sums[GRADIENT], sums[CURVATURE]
    whole = gradient * gradient / (curvature + l2)
    sums[GAIN] = 0.0
    for k in range(len(drawn)):
        left_g = left_h = n_left = 0.0
        for b in range(n_bins[drawn[k]]):
            if histogram[k, b, 2] == 0.0:  # its sums are rounding errors
                continue
            left_g += histogram[k, b, 0]
            left_h += histogram[k, b, 1]
            n_left += histogram[k, b, 2]
            if n_left < least_pairs:
                continue
            if n_pairs - n_left < least_pairs:
                break
            right_g, right_h = gradient - left_g, curvature - left_h
            left = left_g * left_g / (left_h + l2)
            gain = left + right_g * right_g / (right_h + l2) - whole
            if gain > sums[GAIN] + TIE:
                sums[GAIN], sums[LEFT_GRADIENT], sums[LEFT_CURVATURE] = gain, left_g, left_h
                leaf[DRAWN], leaf[BIN] = k, b


@kernel
def divide_rows(bins, column, b, rows, spare, start, end):
    """Put the pairs of the left child first, without changing their order; return the border."""
    middle, n_right = start, 0
    for q in range(start, end):
        i = rows[q]
        if bins[i, column] <= b:
            rows[middle] = i
            middle += 1
        else:
            spare[n_right] = i
            n_right += 1
    for k in range(n_right):
        rows[middle + k] = spare[k]
    return middle


@kernel
def best_leaf(sums, n_leaves):
    """Return the leaf whose split gains most, the first of equal ones, or -1."""
    best, chosen = 0.0, -1
    for s in range(n_leaves):
        if sums[s, GAIN] > best + TIE:
            best, chosen = sums[s, GAIN], s
    return chosen


@kernel
def begin_leaf(leaf, sums, start, end, node, gradient, curvature, rate, l2, value):
    """Initialise a leaf with its pairs and its node, and the value of the node."""
    leaf[START], leaf[END], leaf[NODE] = start, end, node
    sums[GRADIENT], sums[CURVATURE], sums[GAIN] = gradient, curvature, 0.0
    value[node] = -rate * gradient / (curvature + l2)


@kernel
def grow(bins, n_bins, edges, drawn, slopes, rows, spare, histograms, leaves, sums, least_pairs,
         rate, l2, scores, root, feature, threshold, child, value):  # fmt: skip
    """Write a tree into the last four arrays, from `root` on, and return the end of its nodes.

    All nodes there are leaves before. The values of the leaves are added to the scores. A tree
    without a split is not written.
    """
    n, gradient, curvature = len(rows), 0.0, 0.0
    for i in range(n):
        gradient += slopes[i, 0]
        curvature += slopes[i, 1]
    begin_leaf(leaves[0], sums[0], 0, n, root, gradient, curvature, rate, l2, value)
    fill_histogram(bins, n_bins, drawn, slopes, rows, 0, n, histograms[0])
    find_split(n_bins, drawn, histograms[0], least_pairs, l2, leaves[0], sums[0])
    n_leaves, next_node = 1, root + 1
    while n_leaves < len(leaves):
        # The larger child gets the number s of the leaf, which has the histogram, and the smaller
        # one the next number t.
        s, t = best_leaf(sums, n_leaves), n_leaves
        if s < 0:
            break
        start, end, node = leaves[s, START], leaves[s, END], leaves[s, NODE]
        column, b = drawn[leaves[s, DRAWN]], leaves[s, BIN]
        feature[node], threshold[node], child[node] = column, edges[column, b], next_node
        middle = divide_rows(bins, column, b, rows, spare, start, end)
        left_g, left_h = sums[s, LEFT_GRADIENT], sums[s, LEFT_CURVATURE]
        right_g, right_h = sums[s, GRADIENT] - left_g, sums[s, CURVATURE] - left_h
        left, right = (t, s) if middle - start <= end - middle else (s, t)
        begin_leaf(leaves[left], sums[left], start, middle, next_node,
                   left_g, left_h, rate, l2, value)  # fmt: skip
        begin_leaf(leaves[right], sums[right], middle, end, next_node + 1,
                   right_g, right_h, rate, l2, value)  # fmt: skip
        n_leaves, next_node = n_leaves + 1, next_node + 2
        if n_leaves < len(leaves) and leaves[s, END] - leaves[s, START] >= 2 * least_pairs:
            first, last = leaves[t, START], leaves[t, END]
            fill_histogram(bins, n_bins, drawn, slopes, rows, first, last, histograms[t])
            subtract(n_bins, drawn, histograms[s], histograms[t])
            find_split(n_bins, drawn, histograms[s], least_pairs, l2, leaves[s], sums[s])
            find_split(n_bins, drawn, histograms[t], least_pairs, l2, leaves[t], sums[t])
    if n_leaves == 1:
        return root
    for s in range(n_leaves):
        for q in range(leaves[s, START], leaves[s, END]):
            scores[rows[q]] += value[leaves[s, NODE]]
    return next_node


@kernel
def n_below(x, edges, start, end):
    """Return the number of edges before `end` that are below x; those before `start` are."""
    size = end - start
    while size > 0:  # without branches, which cannot be predicted
        half = (size + 1) >> 1
        start = start + half if x > edges[start + half - 1] else start
        size -= half
    return start


@kernel
def lowest_bit(bits):
    """Return the number of the lowest bit that is set; at least one must be."""
    alone = bits & ~(bits - U32(1))
    return BIT_NUMBERS[U32(U64(alone) * SEQUENCE) >> U32(27)]


@kernel
def add_scores(X, edges, starts, left, leaves, scores):
    """Add to the score of each pair the value of its leaf in each tree.

    The trees are not descended. Each split that is "above" excludes the leaves on its other side,
    whether the pair gets to the split or not; the first leaf that is not excluded is that of the
    pair. `left` has a row for each feature and number of its `edges` below a pair: as bits, the
    leaves of each tree that are not excluded.
    """
    n_trees = left.shape[1]
    possible = np.empty(n_trees, U32)
    for i in range(len(X)):
        possible[:] = U32(0xFFFFFFFF)
        for f in range(X.shape[1]):
            # Each feature has one more row than edges.
            row = f + n_below(X[i, f], edges, starts[f], starts[f + 1])
            for t in range(n_trees):
                possible[t] &= left[row, t]
        for t in range(n_trees):
            scores[i] += leaves[t, lowest_bit(possible[t])]


@kernel
def add_shares(X, starts, feature, threshold, child, value, shares):
    """Add the contribution of each split to the shares of each pair; roots' values come last."""
    for i in range(len(X)):
        for node in starts:
            shares[i, -1] += value[node]
            while feature[node] >= 0:
                column = feature[node]
                after = child[node] + (X[i, column] > threshold[node])
                shares[i, column] += value[after] - value[node]
                node = after
