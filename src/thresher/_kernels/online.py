"""One pass of the mistake-driven learners: all categories at once, only mistaken ones updated.

Weights are feature-major, `(1 + features, categories)`: row 0 belongs to the always-on feature,
row `f + 1` to feature `f`. A document adds its rows, one contiguous run per word, into one score
per category; each category has its own accumulator, so the loop over categories vectorises and
any division of the categories among threads gives the same bits.
"""

from typing import NamedTuple

import numpy as np

from thresher._kernels._jit import kernel

# What a multiplicative update does (`Rule.kind`).
POSITIVE, BALANCED, MODIFIED = 0, 1, 2

# Which hypotheses the average counts (`Rule.average`).
NO_AVERAGE, SUCCESSES, EXAMPLES = 0, 1, 2

ONE = np.uint32(1)
ZERO = np.float32(0.0)
UNIT = np.float32(1.0)
# Weights stay within 2^-64 .. 2^64: a sum of a million of them is far from the ends of float32.
LEAST = np.float32(2.0**-64)
MOST = np.float32(2.0**64)
# Where a document is one feature alone, 1 - strength is zero and would kill the weight for ever.
LEAST_REMAINDER = np.float32(2.0**-4)


class Documents(NamedTuple):
    """The rows to learn from, in the order in which they are met."""

    indptr: np.ndarray  # int64
    indices: np.ndarray  # uint32: unsigned indices spare the test for negative ones
    values: np.ndarray  # float32 strengths
    always_on: np.ndarray  # float32 strength of the always-on feature in each document
    order: np.ndarray  # int64
    sample_weight: np.ndarray  # float64
    label_indptr: np.ndarray  # int64
    label_indices: np.ndarray  # uint32


class Tally(NamedTuple):
    """What is kept per category beside its weights; `scores` and `positive` are scratch."""

    scores: np.ndarray  # float32
    positive: np.ndarray  # bool
    mistakes: np.ndarray  # int64
    clock: np.ndarray  # int64: hypotheses counted so far by the average
    positive_weight: np.ndarray  # float64


class WinnowWeights(NamedTuple):
    """`up` and `down` are empty where `weights` is all there is (Positive Winnow)."""

    up: np.ndarray  # float32
    down: np.ndarray  # float32
    weights: np.ndarray  # float32: up - down, what a document is scored with
    drift: np.ndarray  # float64: the sum of clock * change, empty without averaging


class WinnowRule(NamedTuple):
    kind: int
    average: int
    low: float  # float32: a negative that reaches it is a mistake
    high: float  # float32: a positive that does not exceed it is a mistake
    promotion: float  # float32
    demotion: float  # float32


@kernel
def add_scores(indptr, indices, values, always_on, i, weights, scores, lo, hi):
    """Put the scores of document `i` for the categories `lo` to `hi` into `scores`."""
    strength = always_on[i]
    for k in range(lo, hi):
        scores[k] = strength * weights[0, k]
    for p in range(indptr[i], indptr[i + 1]):
        f = indices[p] + ONE
        strength = values[p]
        for k in range(lo, hi):
            scores[k] += strength * weights[f, k]


@kernel
def score_documents(indptr, indices, values, always_on, weights, thresholds, scores, first, last):
    """Score the documents `first` to `last`: above zero means that the document belongs."""
    n_categories = weights.shape[1]
    for i in range(first, last):
        row = scores[i]
        add_scores(indptr, indices, values, always_on, i, weights, row, 0, n_categories)
        for k in range(n_categories):
            row[k] -= thresholds[k]


@kernel
def normalize_strengths(indptr, values, always_on, out, constants):
    """Divide each document's strengths, the always-on feature's among them, by their sum."""
    for i in range(len(indptr) - 1):
        total = np.float64(always_on[i])
        for p in range(indptr[i], indptr[i + 1]):
            total += abs(values[p])
        if total == 0.0:
            total = 1.0
        constants[i] = always_on[i] / total
        for p in range(indptr[i], indptr[i + 1]):
            out[p] = values[p] / total


@kernel
def mark_labels(documents, i, positive, lo, hi, mark):
    for p in range(documents.label_indptr[i], documents.label_indptr[i + 1]):
        k = documents.label_indices[p]
        if lo <= k < hi:
            positive[k] = mark


@kernel
def multiplied(weight, factor):
    """Multiply a weight within the guards; zero is a discarded weight and stays zero."""
    if weight == ZERO:
        return weight
    return min(max(weight * factor, LEAST), MOST)


@kernel
def multiply(model, kind, average, clock, f, k, strength, grow, shrink, is_positive):
    """Promote (or demote) category `k`'s weight of the feature in row `f`."""
    old = model.weights[f, k]
    if kind == MODIFIED:
        grow *= UNIT + strength
        shrink *= max(UNIT - strength, LEAST_REMAINDER)
    if not is_positive:
        grow, shrink = shrink, grow
    if kind == POSITIVE:
        new = multiplied(old, grow)
    else:
        up = model.up[f, k] = multiplied(model.up[f, k], grow)
        down = model.down[f, k] = multiplied(model.down[f, k], shrink)
        new = up - down
    model.weights[f, k] = new
    if average != NO_AVERAGE:
        model.drift[f, k] += clock * (np.float64(new) - np.float64(old))


@kernel
def winnow_epoch(documents, model, tally, rule, lo, hi):
    """Meet every document once, for the categories `lo` to `hi`."""
    for i in documents.order:
        weight = documents.sample_weight[i]
        if weight == 0.0:
            continue
        add_scores(
            documents.indptr,
            documents.indices,
            documents.values,
            documents.always_on,
            i,
            model.weights,
            tally.scores,
            lo,
            hi,
        )
        mark_labels(documents, i, tally.positive, lo, hi, True)
        for k in range(lo, hi):
            score, is_positive = tally.scores[k], tally.positive[k]
            if (score <= rule.high) if is_positive else (score >= rule.low):
                tally.mistakes[k] += 1
                power = weight * tally.positive_weight[k] if is_positive else weight
                winnow_update(documents, i, model, rule, k, tally.clock[k], power, is_positive)
                tally.clock[k] += rule.average == EXAMPLES
            else:
                tally.clock[k] += 1
        mark_labels(documents, i, tally.positive, lo, hi, False)


@kernel
def winnow_update(documents, i, model, rule, k, clock, power, is_positive):
    """Correct category `k` on document `i`; a weight of 2 is two corrections at once."""
    grow, shrink = rule.promotion, rule.demotion
    if power != 1.0:
        grow, shrink = np.float32(grow**power), np.float32(shrink**power)
    strength = documents.always_on[i]
    kind, average = rule.kind, rule.average
    if strength != ZERO:
        multiply(model, kind, average, clock, 0, k, strength, grow, shrink, is_positive)
    for p in range(documents.indptr[i], documents.indptr[i + 1]):
        f = documents.indices[p] + ONE
        strength = documents.values[p]
        if strength != ZERO:
            multiply(model, kind, average, clock, f, k, strength, grow, shrink, is_positive)
