"""AROW and the linear SVM: corrections in proportion to the variances of the weights.

The variances have the layout of the weights: feature-major, all categories at once. A discarded
feature has a variance of zero, so that its weight never changes again.
"""

from typing import NamedTuple

import numpy as np

from thresher._kernels import online
from thresher._kernels._jit import kernel
from thresher._kernels.online import ALWAYS_ON, LEAST, MOST, NO_AVERAGE, UNIT, ZERO
from thresher._kernels.scoring import ONE, add_scores, fetch_ahead

FREQUENCIES_CACHED = 256  # document frequencies for which results are computed once


class ArowWeights(NamedTuple):
    weights: np.ndarray  # float32
    variances: np.ndarray  # float32
    drift: np.ndarray  # float64: as in `online`
    spread: np.ndarray  # float32, scratch, by category: the variance of the score
    push: np.ndarray  # float32, scratch, by category: shrinkage; zero between documents
    tracked_rows: np.ndarray  # int64, by document: its row in `tracked`, or -1; or empty
    tracked: np.ndarray  # float32: what documents have contributed to their own scores


class ArowRule(NamedTuple):
    average: int
    low: np.float32
    high: np.float32
    threshold: np.float32
    regularization: np.float32


# ---- one document -------------------------------------------------------------------------------


@kernel
def are_many(n, lo, hi):
    """Return True if whole rows of categories are quicker to update than n single ones."""
    return n > max(1, (hi - lo) // 8)


@kernel
def add_spread(indptr, indices, values, always_on, i, variances, spread, wrong, lo, hi, end):
    """Write the variance of the score of document `i` into `spread`, for the wrong categories."""
    constant = always_on[i] * always_on[i]
    if are_many(end - lo, lo, hi):
        block, row = spread[lo:hi], variances[0, lo:hi]
        for k in range(len(block)):
            block[k] = constant * row[k]
        for p in range(indptr[i], indptr[i + 1]):
            fetch_ahead(indices, p, indptr[i + 1], variances, lo, hi)
            row, square = variances[indices[p] + ONE, lo:hi], values[p] * values[p]
            for k in range(len(block)):
                block[k] += square * row[k]
        return
    for j in range(lo, end):
        k = wrong[j]
        total = constant * variances[0, k]
        for p in range(indptr[i], indptr[i + 1]):
            total += values[p] * values[p] * variances[indices[p] + ONE, k]
        spread[k] = total


# These functions are called for every document, with only the arrays they need: passing all arrays
# would cost as much as the work.


@kernel
def move_weights(
    indptr, indices, values, always_on, i, weights, variances, steps, wrong, lo, hi, end
):
    """Add step times variance times strength to the weights of the features of document `i`."""
    if are_many(end - lo, lo, hi):
        block = steps[lo:hi]
        row, variance, x = weights[0, lo:hi], variances[0, lo:hi], always_on[i]
        for k in range(len(block)):
            row[k] += block[k] * variance[k] * x
        for p in range(indptr[i], indptr[i + 1]):
            f, x = indices[p] + ONE, values[p]
            row, variance = weights[f, lo:hi], variances[f, lo:hi]
            for k in range(len(block)):
                row[k] += block[k] * variance[k] * x
        return
    for j in range(lo, end):
        k = wrong[j]
        step = steps[k]
        weights[0, k] += step * variances[0, k] * always_on[i]
        for p in range(indptr[i], indptr[i + 1]):
            f = indices[p] + ONE
            weights[f, k] += step * variances[f, k] * values[p]


@kernel
def shrink_variances(indptr, indices, values, always_on, i, variances, push, wrong, lo, hi, end):
    """Reduce the variances S: 1/S grows by `push` times the squared strength."""
    constant = always_on[i] * always_on[i]
    if are_many(end - lo, lo, hi):
        block, row = push[lo:hi], variances[0, lo:hi]
        for k in range(len(block)):
            row[k] /= UNIT + row[k] * constant * block[k]
        for p in range(indptr[i], indptr[i + 1]):
            fetch_ahead(indices, p, indptr[i + 1], variances, lo, hi)
            row, square = variances[indices[p] + ONE, lo:hi], values[p] * values[p]
            for k in range(len(block)):
                row[k] /= UNIT + row[k] * square * block[k]
        return
    for j in range(lo, end):
        k = wrong[j]
        variances[0, k] /= UNIT + variances[0, k] * constant * push[k]
        for p in range(indptr[i], indptr[i + 1]):
            f, square = indices[p] + ONE, values[p] * values[p]
            variances[f, k] /= UNIT + variances[f, k] * square * push[k]


@kernel
def track(tracked_rows, tracked, i, steps, spread, wrong, lo, end):
    """Record what a correction on document `i` adds to its own scores."""
    if len(tracked_rows) > 0 and tracked_rows[i] >= 0:
        for j in range(lo, end):
            k = wrong[j]
            tracked[tracked_rows[i], k] += steps[k] * spread[k]


@kernel
def note_moves(documents, i, model, tally, average, n_visited, lo, end):
    """Record for the average how far the weights are about to move."""
    for j in range(lo, end):
        k = tally.wrong[j]
        clock = online.counted(tally, average, n_visited, k)
        for p in range(documents.indptr[i] - 1, documents.indptr[i + 1]):
            f, x = ALWAYS_ON, documents.always_on[i]
            if p >= documents.indptr[i]:
                f, x = documents.indices[p] + ONE, documents.values[p]
            old = model.weights[f, k]
            new = old + tally.steps[k] * model.variances[f, k] * x
            model.drift[f, k] += clock * (np.float64(new) - np.float64(old))


@kernel
def arow_update(documents, i, model, tally, rule, n_visited, lo, hi, middle, end):
    """Correct the categories in `wrong` on document `i`; the first ones are negatives."""
    rows, wrong, block = documents[:4], tally.wrong, (lo, hi, end)
    add_spread(*rows, i, model.variances, model.spread, wrong, *block)
    for j in range(lo, end):
        k, is_positive = wrong[j], j >= middle
        sign = UNIT if is_positive else -UNIT
        weight = online.importance(
            documents.sample_weight[i], tally.positive_weight, k, is_positive
        )
        model.push[k] = np.float32(weight) / rule.regularization
        loss = UNIT - sign * (tally.scores[k] - rule.threshold)
        tally.steps[k] = sign * loss * model.push[k] / (model.spread[k] * model.push[k] + UNIT)
    track(model.tracked_rows, model.tracked, i, tally.steps, model.spread, wrong, lo, end)
    if rule.average != NO_AVERAGE:
        note_moves(documents, i, model, tally, rule.average, n_visited, lo, end)
    move_weights(*rows, i, model.weights, model.variances, tally.steps, wrong, *block)
    shrink_variances(*rows, i, model.variances, model.push, wrong, *block)
    for j in range(lo, end):
        tally.mistakes[wrong[j]] += 1
        tally.steps[wrong[j]] = model.push[wrong[j]] = ZERO


@kernel
def arow_epoch(documents, model, tally, rule, lo, hi):
    """Visit every document once, for the categories `lo` to `hi`."""
    rows, labels, bounds = documents[:4], documents[6:8], (rule.low, rule.high)
    n_visited = np.int64(0)
    for i in documents.order:
        add_scores(*rows, i, model.weights, tally.scores, lo, hi)
        online.hide_unknown(documents.known, i, tally.scores, tally.clock, lo, hi)
        middle, end = online.find_mistakes(*labels, i, tally.scores, *bounds, tally.wrong, lo, hi)
        if end > lo:
            arow_update(documents, i, model, tally, rule, n_visited, lo, hi, middle, end)
        n_visited += 1
    online.turn_clocks(tally, rule.average, n_visited, lo, hi)


# ---- the linear SVM -----------------------------------------------------------------------------


@kernel
def turn_positives(indptr, labels, i, scores, lo, hi):
    """Replace the scores by negated margins: how far each category is on the wrong side."""
    for p in range(indptr[i], indptr[i + 1]):
        k = np.int64(labels[p])
        if lo <= k < hi and not online.carries(indptr, labels, i, k, p):
            scores[k] = -scores[k]


@kernel
def dual_update(documents, i, alpha, cost, model, tally, lo, hi, end):
    """Move the dual variables of the categories in `wrong`, and the weights with them."""
    rows, labels, wrong = documents[:4], documents[6:8], tally.wrong
    add_spread(*rows, i, model.variances, model.spread, wrong, lo, hi, end)
    for j in range(lo, end):
        k = wrong[j]
        is_positive = online.carries(*labels, i, k, labels[0][i + 1])
        weight = online.importance(
            documents.sample_weight[i], tally.positive_weight, k, is_positive
        )
        slack = np.float32(min(max(0.5 / (cost * weight), LEAST), MOST))
        change = (UNIT + tally.scores[k] - alpha[k] * slack) / (model.spread[k] + slack)
        new = max(ZERO, alpha[k] + change)
        tally.steps[k] = new - alpha[k] if is_positive else alpha[k] - new
        alpha[k] = new
    track(model.tracked_rows, model.tracked, i, tally.steps, model.spread, wrong, lo, end)
    move_weights(*rows, i, model.weights, model.variances, tally.steps, wrong, lo, hi, end)
    for j in range(lo, end):
        tally.steps[wrong[j]] = ZERO


@kernel
def dual_epoch(documents, numbers, alpha, cost, model, tally, lo, hi):
    """Visit every document once: dual coordinate descent on the squared hinge loss.

    `alpha` has a row for each of all documents; `numbers` has the rows of those in `order`.
    """
    rows, labels, knows_all = documents[:4], documents[6:8], len(documents.known) == 0
    for n_visited in range(len(documents.order)):
        i, alphas = documents.order[n_visited], alpha[numbers[n_visited]]
        add_scores(*rows, i, model.weights, tally.scores, lo, hi)
        turn_positives(*labels, i, tally.scores, lo, hi)
        end = lo
        for k in range(lo, hi):
            is_short = tally.scores[k] > -UNIT  # its margin is below one
            if (is_short or alphas[k] > ZERO) and (knows_all or documents.known[i, k]):
                tally.mistakes[k] += is_short
                tally.wrong[end] = k
                end += 1
        if end > lo:
            dual_update(documents, i, alphas, cost, model, tally, lo, hi, end)


@kernel
def dual_variances(documents, numbers, alpha, regularization, model, tally, lo, hi):
    """Shrink the variances by the support documents, as AROW would."""
    rows, labels = documents[:4], documents[6:8]
    for n_visited in range(len(documents.order)):
        i = documents.order[n_visited]
        end = lo
        for k in range(lo, hi):
            if alpha[numbers[n_visited], k] > ZERO:
                is_positive = online.carries(*labels, i, k, labels[0][i + 1])
                weight = online.importance(
                    documents.sample_weight[i], tally.positive_weight, k, is_positive
                )
                model.push[k] = np.float32(weight) / regularization
                tally.wrong[end] = k
                end += 1
        if end == lo:
            continue
        shrink_variances(*rows, i, model.variances, model.push, tally.wrong, lo, hi, end)
        for j in range(lo, end):
            model.push[tally.wrong[j]] = ZERO


# ---- variances from labels ----------------------------------------------------------------------


@kernel
def count_features(indptr, indices, values, weights, frequency, squares):
    """Add up the number of documents with each feature, and its squared strengths."""
    for i in range(len(indptr) - 1):
        for p in range(indptr[i], indptr[i + 1]):
            if values[p] != ZERO:
                frequency[indices[p]] += weights[i]
                squares[indices[p]] += weights[i] * np.float64(values[p]) ** 2


@kernel
def count_labels(indptr, indices, values, weights, label_indptr, label_indices, counts, lo, hi):
    """Add up the number of documents of each category, `lo` to `hi`, with each feature."""
    for i in range(len(indptr) - 1):
        for q in range(label_indptr[i], label_indptr[i + 1]):
            k = label_indices[q]
            if not lo <= k < hi or online.carries(label_indptr, label_indices, i, k, q):
                continue
            for p in range(indptr[i], indptr[i + 1]):
                if values[p] != ZERO:
                    counts[indices[p] + ONE, k] += np.float32(weights[i])


@kernel
def log_ratio(inside, total, share, smoothing):
    """Return the log-ratio of the probabilities of a feature inside and outside a category."""
    within = np.log((inside + smoothing * share) / share)
    return within - np.log((total - inside + smoothing * (1.0 - share)) / (1.0 - share))


@kernel
def starting_variances(counts, frequency, squares, shares, smoothing, power, floor, lo, hi):
    """Turn counts into variances in place: informative features may move further."""
    absent = np.empty(
        (FREQUENCIES_CACHED, hi - lo), np.float32
    )  # most features do not occur in most categories
    for t in range(FREQUENCIES_CACHED):
        for k in range(lo, hi):
            size = abs(log_ratio(0.0, np.float64(t), shares[k], smoothing)) ** power
            absent[t, k - lo] = np.float32(size)
    norms = np.zeros(hi - lo)
    for f in range(len(frequency)):
        total, row = frequency[f], counts[f + 1]
        is_common = total < FREQUENCIES_CACHED and total == np.floor(total)
        for k in range(lo, hi):
            if is_common and row[k] == ZERO:
                row[k] = absent[np.int64(total), k - lo]
            else:
                size = abs(log_ratio(np.float64(row[k]), total, shares[k], smoothing)) ** power
                row[k] = np.float32(size)
            norms[k - lo] += squares[f] * np.float64(row[k])
    for f in range(len(frequency)):
        row = counts[f + 1]
        for k in range(lo, hi):
            if norms[k - lo] > 0.0:
                row[k] = np.float32(floor + (1.0 - floor) * np.float64(row[k]) / norms[k - lo])
            else:  # no feature is informative
                row[k] = UNIT
    counts[0, lo:hi] = UNIT
