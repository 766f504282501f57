"""Boosted trees on dense features: growing one tree, the leaves that pairs come to, their shares.

To grow, features are numbers of bins, row by row. Every leaf that may still be divided has a
histogram: of each drawn feature and bin, the gradients, the curvatures and the number of its pairs.
Of two children, that of the smaller is counted and that of the larger is what remains of the
parent's. Sums are taken in one fixed order, so that a tree does not depend on anything else.
"""

import math

import numpy as np

from thresher._kernels._jit import kernel

U32, U64 = np.uint32, np.uint64
N_BITS = 32  # of a number that has one for each leaf of a tree
# Multiplied by a power of two, the sequence begins with five bits that belong to it alone.
SEQUENCE = U64(0x077CB531)
PLACES = np.argsort([(0x077CB531 << place & 0xFFFFFFFF) >> 27 for place in range(N_BITS)])

TIE = 1e-9  # what is not better by more than this is no better: it may be rounding
START, END, NODE, DRAWN, BIN = range(5)  # a leaf's pairs, its node, and its best question
GRADIENT, CURVATURE, GAIN, LEFT_GRADIENT, LEFT_CURVATURE = range(5)  # and the sums of both


@kernel
def take_slopes(scores, positive, weights, slopes, rows):
    """Write gradient and curvature of the logistic loss of each pair, and the pairs in order."""
    for i in range(len(scores)):
        p = 1.0 / (1.0 + math.exp(-scores[i]))
        slopes[i, 0] = weights[i] * (p - 1.0 if positive[i] else p)
        slopes[i, 1] = weights[i] * (p * (1.0 - p))
        rows[i] = i


@kernel
def fill_histogram(bins, n_bins, drawn, slopes, rows, start, end, histogram):
    """Count the pairs of a leaf by the bins of each drawn feature."""
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
    """Leave in a histogram what is not in the other."""
    for k in range(len(drawn)):
        for b in range(n_bins[drawn[k]]):
            for part in range(3):
                histogram[k, b, part] -= other[k, b, part]


@kernel
def find_question(n_bins, drawn, histogram, least_pairs, l2, leaf, sums):
    """Note the question of a leaf that gains most, and what goes left; a gain of 0 is none.

    Of equal gains, the first feature's is taken, and of its thresholds the lowest.
    """
    n_pairs = leaf[END] - leaf[START]
    gradient, curvature = sums[GRADIENT], sums[CURVATURE]
    whole = gradient * gradient / (curvature + l2)
    sums[GAIN] = 0.0
    for k in range(len(drawn)):
        left_g = left_h = n_left = 0.0
        for b in range(n_bins[drawn[k]]):
            if histogram[k, b, 2] == 0.0:  # of its sums, only rounding is left
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
def part_rows(bins, column, b, rows, spare, start, end):
    """Put the pairs of a leaf that go left first, all in their order; return where these end."""
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
    """Return the leaf whose question gains most, of equal ones the first, or -1."""
    best, chosen = 0.0, -1
    for s in range(n_leaves):
        if sums[s, GAIN] > best + TIE:
            best, chosen = sums[s, GAIN], s
    return chosen


@kernel
def begin_leaf(leaf, sums, start, end, node, gradient, curvature, rate, l2, value):
    """Give a leaf its pairs and its node, and that its Newton step; it has no question yet."""
    leaf[START], leaf[END], leaf[NODE] = start, end, node
    sums[GRADIENT], sums[CURVATURE], sums[GAIN] = gradient, curvature, 0.0
    value[node] = -rate * gradient / (curvature + l2)


@kernel
def grow(bins, n_bins, edges, drawn, slopes, rows, spare, histograms, leaves, sums, least_pairs,
         rate, l2, scores, root, feature, threshold, child, value):  # fmt: skip
    """Grow a tree into the last four arrays, from `root` on; return where the next one begins.

    There, all nodes are leaves before. What the leaves say is added to the scores. A tree that asks
    nothing says nothing, and the next one begins where it does.
    """
    n, gradient, curvature = len(rows), 0.0, 0.0
    for i in range(n):
        gradient += slopes[i, 0]
        curvature += slopes[i, 1]
    begin_leaf(leaves[0], sums[0], 0, n, root, gradient, curvature, rate, l2, value)
    fill_histogram(bins, n_bins, drawn, slopes, rows, 0, n, histograms[0])
    find_question(n_bins, drawn, histograms[0], least_pairs, l2, leaves[0], sums[0])
    n_leaves, next_node = 1, root + 1
    while n_leaves < len(leaves):
        # Of two children, the larger takes the leaf's place s, where the histogram is, and the
        # smaller the next place t.
        s, t = best_leaf(sums, n_leaves), n_leaves
        if s < 0:
            break
        start, end, node = leaves[s, START], leaves[s, END], leaves[s, NODE]
        column, b = drawn[leaves[s, DRAWN]], leaves[s, BIN]
        feature[node], threshold[node], child[node] = column, edges[column, b], next_node
        middle = part_rows(bins, column, b, rows, spare, start, end)
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
            find_question(n_bins, drawn, histograms[s], least_pairs, l2, leaves[s], sums[s])
            find_question(n_bins, drawn, histograms[t], least_pairs, l2, leaves[t], sums[t])
    if n_leaves == 1:
        return root
    for s in range(n_leaves):
        for q in range(leaves[s, START], leaves[s, END]):
            scores[rows[q]] += value[leaves[s, NODE]]
    return next_node


@kernel
def n_below(x, edges, start, end):
    """Return how many of the edges before `end`, those before `start` too, are below a number."""
    size = end - start
    while size > 0:  # no branch: where it goes cannot be foreseen
        half = (size + 1) >> 1
        start = start + half if x > edges[start + half - 1] else start
        size -= half
    return start


@kernel
def lowest_bit(bits):
    """Return the place of the lowest bit that is set, of which there is one."""
    alone = bits & ~(bits - U32(1))
    return PLACES[U32(U64(alone) * SEQUENCE) >> U32(27)]


@kernel
def add_scores(X, edges, starts, left, leaves, scores):
    """Add to the score of each pair the value of the leaf that it comes to in each tree.

    No tree is walked through. The answer "above" rules out the leaves on its other side, whether
    the pair comes to the question or not; the first leaf that is still there after all questions is
    the one that the pair comes to. `left` has a row for each feature and number of its `edges` that
    are below a pair: which leaves of each tree its questions leave, in bits.
    """
    n_trees = left.shape[1]
    possible = np.empty(n_trees, U32)
    for i in range(len(X)):
        possible[:] = U32(0xFFFFFFFF)
        for f in range(X.shape[1]):
            # Each feature has a row more than edges.
            row = f + n_below(X[i, f], edges, starts[f], starts[f + 1])
            for t in range(n_trees):
                possible[t] &= left[row, t]
        for t in range(n_trees):
            scores[i] += leaves[t, lowest_bit(possible[t])]


@kernel
def add_shares(X, starts, feature, threshold, child, value, shares):
    """Add to the shares of each pair what every answer changes; the roots' values come last."""
    for i in range(len(X)):
        for node in starts:
            shares[i, -1] += value[node]
            while feature[node] >= 0:
                column = feature[node]
                after = child[node] + (X[i, column] > threshold[node])
                shares[i, column] += value[after] - value[node]
                node = after
