"""One pass of the mistake-driven learners: all categories at once, only mistaken ones corrected.

Weights are feature-major, `(1 + features, categories)`: row 0 belongs to the always-on feature,
row `f + 1` to feature `f`. A document adds its rows, one contiguous run per word, into one score
per category; each category has its own accumulator, so the loop over categories vectorises and
any division of the categories among threads gives the same bits.
"""

from typing import NamedTuple

import numpy as np

from thresher._kernels._jit import kernel
from thresher._kernels.scoring import ONE, add_scores

POSITIVE, BALANCED, MODIFIED = 0, 1, 2  # kinds of multiplicative corrections
PERCEPTRON, RELAXED, PA, PA_I, PA_II = 0, 1, 2, 3, 4  # kinds of additive corrections
PRESENCE = 5  # the Perceptron, whatever the strengths
NO_AVERAGE, SUCCESSES, EXAMPLES = 0, 1, 2  # the hypotheses that are averaged

ALWAYS_ON = np.uint64(0)  # its row, of the type of other row numbers
ZERO, UNIT = np.float32(0.0), np.float32(1.0)
UNKNOWN = np.float32(-np.inf)  # the score of a category for which the label is unknown
# Weights stay within 2^-64 .. 2^64: a sum of a million of them is within the range of float32.
LEAST, MOST = np.float32(2.0**-64), np.float32(2.0**64)
RELATIVE_ERROR = np.float32(2.0**-24)  # of one operation in float32, at most


class Documents(NamedTuple):
    """The documents to learn from."""

    indptr: np.ndarray  # int64
    indices: np.ndarray  # uint32: unsigned indices spare the test for negative ones
    values: np.ndarray  # float32 strengths
    always_on: np.ndarray  # float32 strength of the always-on feature in each document
    order: np.ndarray  # int64: the documents in the order in which they are visited
    sample_weight: np.ndarray  # float64, above zero for all documents in `order`
    label_indptr: np.ndarray  # int64
    label_indices: np.ndarray  # uint32
    known: np.ndarray  # bool, documents by categories: which labels are known; empty if all


class Tally(NamedTuple):
    """Values per category besides the weights; `scores`, `steps` and `wrong` are scratch."""

    scores: np.ndarray  # float32
    steps: np.ndarray  # float32, zero between documents
    wrong: np.ndarray  # int64: the mistaken categories, from index `lo` on
    mistakes: np.ndarray  # int64, zero before the pass
    clock: np.ndarray  # float64: hypotheses counted by the average before the pass
    positive_weight: np.ndarray  # float64


# In every rule: a negative that reaches `low` is a mistake, and a positive that does not exceed
# `high`. A score that differs from them by rounding errors only is a tie. If `ties` is 1, it counts
# as exactly `low` or `high`; if -1, as beyond them; at 0 rounding decides. In all weights: `drift`
# is the sum of clock * change, empty without averaging; `live` has the weights that may change,
# empty if all may.


class WinnowWeights(NamedTuple):
    """`up` and `down` are empty for Positive Winnow, which has only `weights`."""

    up: np.ndarray  # float32
    down: np.ndarray  # float32
    weights: np.ndarray  # float32: up - down, with which documents are scored
    drift: np.ndarray  # float64


class WinnowRule(NamedTuple):
    kind: int
    average: int
    low: np.float32
    high: np.float32
    ties: np.float32
    promotion: np.float32
    demotion: np.float32
    floor: np.float32  # of 1 - strength, for Modified Balanced Winnow
    start: np.float32  # the weight of a feature without an opinion, for external regret
    regret: float  # for external regret


class AdditiveWeights(NamedTuple):
    weights: np.ndarray  # float32
    drift: np.ndarray  # float64
    live: np.ndarray  # bool


class AdditiveRule(NamedTuple):
    kind: int
    average: int
    low: np.float32
    high: np.float32
    ties: np.float32
    threshold: float  # this and what follows are float64
    promotion: float = 0.0
    demotion: float = 0.0
    epsilon: float = 0.0
    aggressiveness: float = 0.0
    gamma: float = 0.0
    norm_share: float = 1.0  # the share of the squared always-on strength in |x|^2


# Functions called for every document get only the arrays they need: the first four of `Documents`,
# or its two of labels. Passing all arrays would cost as much as the work.

# ---- strengths ----------------------------------------------------------------------------------


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


# ---- mistakes -----------------------------------------------------------------------------------


@kernel
def carries(indptr, labels, i, k, end):
    """Return True if document `i` is labelled with category `k` before index `end`."""
    carried = False
    for p in range(indptr[i], end):
        carried |= labels[p] == k
    return carried


@kernel
def error_bound(n_entries):
    """Return the largest relative error of a sum of products of equal sign.

    One rounding for each sum and for the product, two for normalised strengths.
    """
    return np.float32(n_entries + 4) * RELATIVE_ERROR


@kernel
def stretched(low, high, ties, n_entries):
    """Return the bounds of a mistake, moved so that rounding decides nothing for a document."""
    slack = ties * error_bound(n_entries)
    return low - slack * abs(low), high + slack * abs(high)


@kernel
def find_mistakes(indptr, labels, i, scores, low, high, wrong, lo, hi):
    """Write the mistaken categories, negatives first; return the end of these and of all."""
    end = lo
    for k in range(lo, hi):
        if scores[k] >= low and not carries(indptr, labels, i, k, indptr[i + 1]):
            wrong[end] = k
            end += 1
    end_of_negatives = end
    for p in range(indptr[i], indptr[i + 1]):
        k = np.int64(labels[p])
        # A repeated label counts once; a label of an unknown category does not count.
        is_wrong = lo <= k < hi and UNKNOWN < scores[k] <= high
        if is_wrong and not carries(indptr, labels, i, k, p):
            wrong[end] = k
            end += 1
    return end_of_negatives, end


@kernel
def hide_unknown(known, i, scores, clock, lo, hi):
    """Exclude categories with unknown labels for document `i` from mistakes and averages."""
    if len(known) > 0:
        for k in range(lo, hi):
            if not known[i, k]:
                scores[k] = UNKNOWN
                clock[k] -= 1.0


@kernel
def importance(weight, positive_weight, k, is_positive):
    """Return the weight of a mistake on a document of this weight in category `k`."""
    return weight * positive_weight[k] if is_positive else weight


@kernel
def counted(tally, average, n_visited, k):
    """Return the number of hypotheses of category `k` in the average so far."""
    successes_only = average == SUCCESSES
    return tally.clock[k] + n_visited - successes_only * tally.mistakes[k]


@kernel
def turn_clocks(tally, average, n_visited, lo, hi):
    """Store the numbers of averaged hypotheses at the end of a pass."""
    for k in range(lo, hi):
        tally.clock[k] = counted(tally, average, n_visited, k)


@kernel
def put(model, average, f, k, new, clock):
    """Set a weight, and record for the average when it changed."""
    old = model.weights[f, k]
    model.weights[f, k] = new
    if average != NO_AVERAGE:
        model.drift[f, k] += clock * (np.float64(new) - np.float64(old))


# ---- multiplicative -----------------------------------------------------------------------------


@kernel
def multiplied(weight, factor):
    """Return a weight times a factor, within bounds; a discarded weight, zero, stays zero."""
    if weight == ZERO:
        return weight
    return min(max(weight * factor, LEAST), MOST)


@kernel
def multiply(model, rule, f, k, strength, grow, shrink, is_positive, clock):
    """Promote or demote the weight of category `k` in row `f`."""
    if rule.kind == MODIFIED:
        grow *= UNIT + strength
        shrink *= max(UNIT - strength, rule.floor)
    if not is_positive:
        grow, shrink = shrink, grow
    if rule.kind == POSITIVE:
        new = multiplied(model.weights[f, k], grow)
    else:
        up, down = multiplied(model.up[f, k], grow), multiplied(model.down[f, k], shrink)
        model.up[f, k], model.down[f, k] = up, down
        new = up - down
    put(model, rule.average, f, k, new, clock)


@kernel
def winnow_update(documents, i, model, rule, k, power, is_positive, clock):
    """Correct category `k` on document `i`; a weight of 2 means two corrections at once."""
    grow, shrink = rule.promotion, rule.demotion
    if power != 1.0:
        grow, shrink = np.float32(grow**power), np.float32(shrink**power)
    strength = documents.always_on[i]
    if strength != ZERO:
        multiply(model, rule, ALWAYS_ON, k, strength, grow, shrink, is_positive, clock)
    for p in range(documents.indptr[i], documents.indptr[i + 1]):
        strength = documents.values[p]
        if strength != ZERO:
            f = documents.indices[p] + ONE
            multiply(model, rule, f, k, strength, grow, shrink, is_positive, clock)


@kernel
def winnow_epoch(documents, model, tally, rule, lo, hi):
    """Visit every document once, for the categories `lo` to `hi`: the Winnows."""
    rows, labels = documents[:4], documents[6:8]
    for n_visited in range(len(documents.order)):
        i = documents.order[n_visited]
        weight = documents.sample_weight[i]
        n_entries = documents.indptr[i + 1] - documents.indptr[i]
        bounds = stretched(rule.low, rule.high, rule.ties, n_entries)
        add_scores(*rows, i, model.weights, tally.scores, lo, hi)
        hide_unknown(documents.known, i, tally.scores, tally.clock, lo, hi)
        middle, end = find_mistakes(*labels, i, tally.scores, *bounds, tally.wrong, lo, hi)
        for j in range(lo, end):
            k, is_positive = tally.wrong[j], j >= middle
            power = importance(weight, tally.positive_weight, k, is_positive)
            clock = counted(tally, rule.average, n_visited, k)
            winnow_update(documents, i, model, rule, k, power, is_positive, clock)
            tally.mistakes[k] += 1
    turn_clocks(tally, rule.average, len(documents.order), lo, hi)


# ---- additive -----------------------------------------------------------------------------------


@kernel
def squared_norm(documents, i, share, live, k):
    """Return |x|^2 of document `i`, with a share of the always-on feature's square.

    Features that category `k` has discarded do not count.
    """
    total, masked = share * np.float64(documents.always_on[i]) ** 2, len(live) > 0
    for p in range(documents.indptr[i], documents.indptr[i + 1]):
        if not masked or live[documents.indices[p] + ONE, k]:
            total += np.float64(documents.values[p]) ** 2
    return total


@kernel
def step(rule, margin, norm, is_positive):
    """Return the step along a document, given its margin and its squared norm."""
    if rule.kind == PERCEPTRON or rule.kind == PRESENCE:
        return rule.promotion if is_positive else rule.demotion
    loss = rule.epsilon - margin
    if rule.kind == RELAXED:
        return loss / (norm + rule.gamma)
    if rule.kind == PA_II:
        return loss / (norm + 0.5 / rule.aggressiveness)
    if norm == 0.0:
        return 0.0
    if rule.kind == PA_I:
        return min(rule.aggressiveness, loss / norm)
    return loss / norm


@kernel
def along(rule, strength):
    """Return the change that a unit step makes to the weight of a feature."""
    return np.sign(strength) if rule.kind == PRESENCE else strength


@kernel
def add_document(documents, i, model, tally, rule, n_visited, lo, hi, end):
    """Move the weights of the mistaken categories by their steps along document `i`."""
    masked, average = len(model.live) > 0, rule.average
    always_on = along(rule, documents.always_on[i])
    start, stop = documents.indptr[i], documents.indptr[i + 1]
    for j in range(lo, end):
        k = tally.wrong[j]
        new = model.weights[ALWAYS_ON, k] + tally.steps[k] * always_on
        put(model, average, ALWAYS_ON, k, new, counted(tally, average, n_visited, k))
    if average == NO_AVERAGE and not masked and end - lo > max(1, (hi - lo) // 8):
        # Many are mistaken: whole rows are quicker; the steps of the others are zero.
        steps = tally.steps[lo:hi]
        for p in range(start, stop):
            row = model.weights[documents.indices[p] + ONE, lo:hi]
            strength = along(rule, documents.values[p])
            for k in range(len(steps)):
                row[k] += steps[k] * strength
        return
    for j in range(lo, end):
        k = tally.wrong[j]
        move, clock = tally.steps[k], counted(tally, average, n_visited, k)
        for p in range(start, stop):
            f = documents.indices[p] + ONE
            if not masked or model.live[f, k]:
                new = model.weights[f, k] + move * along(rule, documents.values[p])
                put(model, average, f, k, new, clock)


@kernel
def additive_update(documents, i, model, tally, rule, n_visited, lo, hi, middle, end):
    """Correct the categories in `wrong` on document `i`; the first ones are negatives."""
    norm = 0.0
    for j in range(lo, end):
        k, is_positive = tally.wrong[j], j >= middle
        sign = 1.0 if is_positive else -1.0
        margin = sign * (np.float64(tally.scores[k]) - rule.threshold)
        if j == lo or len(model.live) > 0:
            norm = squared_norm(documents, i, rule.norm_share, model.live, k)
        scale = documents.sample_weight[i] * (tally.positive_weight[k] if is_positive else 1.0)
        tally.steps[k] = sign * scale * step(rule, margin, norm, is_positive)
    add_document(documents, i, model, tally, rule, n_visited, lo, hi, end)
    for j in range(lo, end):
        tally.mistakes[tally.wrong[j]] += 1
        tally.steps[tally.wrong[j]] = ZERO


@kernel
def additive_epoch_alone(documents, weights, tally, rule, k):
    """Visit every document once for category `k`, without average or discarded features.

    The corrections are those of `additive_epoch`; the score and the norm stay in registers.
    """
    labels = documents[6:8]
    for i in documents.order:
        start, stop = documents.indptr[i], documents.indptr[i + 1]
        score = documents.always_on[i] * weights[0, k]
        norm = rule.norm_share * np.float64(documents.always_on[i]) ** 2
        for p in range(start, stop):
            strength = documents.values[p]
            score += strength * weights[documents.indices[p] + ONE, k]
            norm += np.float64(strength) ** 2
        if len(documents.known) > 0 and not documents.known[i, k]:
            tally.clock[k] -= 1.0
            continue
        is_positive = carries(*labels, i, k, documents.label_indptr[i + 1])
        low, high = stretched(rule.low, rule.high, rule.ties, stop - start)
        if score > high if is_positive else score < low:
            continue
        sign = 1.0 if is_positive else -1.0
        margin = sign * (np.float64(score) - rule.threshold)
        scale = documents.sample_weight[i] * (tally.positive_weight[k] if is_positive else 1.0)
        change = np.float32(sign * scale * step(rule, margin, norm, is_positive))
        weights[0, k] += change * along(rule, documents.always_on[i])
        for p in range(start, stop):
            weights[documents.indices[p] + ONE, k] += change * along(rule, documents.values[p])
        tally.mistakes[k] += 1
    turn_clocks(tally, rule.average, len(documents.order), k, k + 1)


@kernel
def additive_epoch(documents, model, tally, rule, lo, hi):
    """Visit every document once, for `lo` to `hi`: the Perceptron and Passive-Aggressive."""
    if hi - lo == 1 and rule.average == NO_AVERAGE and len(model.live) == 0:
        additive_epoch_alone(documents, model.weights, tally, rule, lo)
        return
    rows, labels = documents[:4], documents[6:8]
    n_visited = np.int64(0)
    for i in documents.order:
        n_entries = documents.indptr[i + 1] - documents.indptr[i]
        bounds = stretched(rule.low, rule.high, rule.ties, n_entries)
        add_scores(*rows, i, model.weights, tally.scores, lo, hi)
        hide_unknown(documents.known, i, tally.scores, tally.clock, lo, hi)
        middle, end = find_mistakes(*labels, i, tally.scores, *bounds, tally.wrong, lo, hi)
        if end > lo:
            additive_update(documents, i, model, tally, rule, n_visited, lo, hi, middle, end)
        n_visited += 1
    turn_clocks(tally, rule.average, n_visited, lo, hi)


# ---- ROMMA --------------------------------------------------------------------------------------


class RommaWeights(NamedTuple):
    """The weights of category k are `scale[k] * weights[:, k]`, so that scaling them is cheap."""

    weights: np.ndarray  # float32
    drift: np.ndarray  # float64: `turned` being the clock
    live: np.ndarray  # bool
    first: np.ndarray  # bool: entries whose feature is seen first and starts at one; or empty
    scale: np.ndarray  # float64
    norm: np.ndarray  # float64: squared norm of the scaled weights
    turned: np.ndarray  # float64: the sum of the scales of the averaged hypotheses
    n_rows: int  # the number of rows in use


class RommaRule(NamedTuple):
    average: int
    aggressive: bool
    skips: bool  # whether documents parallel to the weights are skipped
    low: np.float32
    high: np.float32
    norm_share: float


@kernel
def romma_coefficients(rule, label, score, norm, length, bound):
    """Return c and d of w <- c w + d x, given y, <w,x>, |w|^2, |x|^2 and the error of <w,x>.

    If w and x are parallel within this error, the two conditions of ROMMA cannot both hold. Then
    the condition of the document is met by the least change, as in Passive-Aggressive.
    """
    if norm == 0.0 or (rule.aggressive and label * score >= norm * length):
        return 0.0, label / length
    below = length * norm - score * score
    if abs(below) <= 4.0 * bound * length * norm:
        return (1.0, 0.0) if rule.skips else (1.0, (label - score) / length)
    return (length * norm - label * score) / below, norm * (label - score) / below


@kernel
def romma_add(model, rule, f, k, change):
    """Add to an unscaled weight."""
    new = model.weights[f, k] + np.float32(change)
    put(model, rule.average, f, k, new, model.turned[k])


@kernel
def romma_scale(model, rule, k, factor):
    """Multiply the weights of category `k`, with the scale within the range of float32."""
    if factor == 0.0:
        for f in range(model.n_rows):
            romma_add(model, rule, np.uint64(f), k, -model.weights[f, k])
        return
    model.scale[k] *= factor
    if 1e-6 < abs(model.scale[k]) < 1e6:
        return
    for f in range(model.n_rows):
        model.weights[f, k] *= model.scale[k]
    model.turned[k] /= model.scale[k]
    model.scale[k] = 1.0


@kernel
def romma_update(documents, i, model, rule, k, label, score, weight):
    """Correct category `k` on document `i`."""
    masked, length = len(model.live) > 0, squared_norm(documents, i, 1.0, model.live, k)
    counted_length = length - (1.0 - rule.norm_share) * np.float64(documents.always_on[i]) ** 2
    if counted_length <= 0.0:
        return
    bound = np.float64(error_bound(documents.indptr[i + 1] - documents.indptr[i]))
    c, d = romma_coefficients(rule, label, score, model.norm[k], counted_length, bound)
    # A document of weight one half is corrected half as much; c does not become negative.
    c, d = max(min(c, 0.0), 1.0 + weight * (c - 1.0)), weight * d
    model.norm[k] = max(0.0, c * c * model.norm[k] + 2.0 * c * d * score + d * d * length)
    romma_scale(model, rule, k, c)
    change = d / model.scale[k]
    romma_add(model, rule, ALWAYS_ON, k, change * documents.always_on[i])
    for p in range(documents.indptr[i], documents.indptr[i + 1]):
        f = documents.indices[p] + ONE
        if not masked or model.live[f, k]:
            romma_add(model, rule, f, k, change * documents.values[p])


@kernel
def romma_begin(documents, i, model, rule, lo, hi):
    """Set the weights of features seen for the first time to one."""
    for p in range(documents.indptr[i], documents.indptr[i + 1]):
        if model.first[p]:
            for k in range(lo, hi):
                romma_add(model, rule, documents.indices[p] + ONE, k, 1.0 / model.scale[k])
                model.norm[k] += 1.0


@kernel
def romma_epoch(documents, model, tally, rule, lo, hi):
    """Visit every document once, for the categories `lo` to `hi`: ROMMA."""
    rows, labels, bounds = documents[:4], documents[6:8], (rule.low, rule.high)
    for i in documents.order:
        weight = documents.sample_weight[i]
        if len(model.first) > 0:
            romma_begin(documents, i, model, rule, lo, hi)
        add_scores(*rows, i, model.weights, tally.scores, lo, hi)
        for k in range(lo, hi):
            tally.scores[k] *= model.scale[k]
            tally.steps[k] = UNIT
        hide_unknown(documents.known, i, tally.scores, tally.clock, lo, hi)
        middle, end = find_mistakes(*labels, i, tally.scores, *bounds, tally.wrong, lo, hi)
        for j in range(lo, end):
            k, is_positive = tally.wrong[j], j >= middle
            share = importance(weight, tally.positive_weight, k, is_positive)
            label, score = 1.0 if is_positive else -1.0, np.float64(tally.scores[k])
            romma_update(documents, i, model, rule, k, label, score, share)
            tally.mistakes[k] += 1
            tally.steps[k] = ZERO
        for k in range(lo, hi):
            is_counted = rule.average == EXAMPLES or tally.steps[k] == UNIT
            if is_counted and tally.scores[k] != UNKNOWN:
                model.turned[k] += model.scale[k]
    turn_clocks(tally, rule.average, len(documents.order), lo, hi)


# ---- experts ------------------------------------------------------------------------------------


class ExpertWeights(NamedTuple):
    yes: np.ndarray  # float32
    no: np.ndarray  # float32


@kernel
def expert_multiply(experts, f, factors, lo, hi):
    """Multiply the experts in row `f` by a factor for each category."""
    row, block = experts[f, lo:hi], factors[lo:hi]
    for k in range(len(row)):
        row[k] = multiplied(row[k], block[k])


@kernel
def experts_epoch(documents, model, tally, rule, lo, hi):
    """Visit every document once, for the categories `lo` to `hi`: Sleeping Experts."""
    threshold, penalty = rule
    yes, no = tally.scores, tally.steps
    rows, labels = documents[:4], documents[6:8]
    for i in documents.order:
        weight = documents.sample_weight[i]
        add_scores(*rows, i, model.yes, yes, lo, hi)
        add_scores(*rows, i, model.no, no, lo, hi)
        for k in range(lo, hi):
            is_positive = carries(*labels, i, k, labels[0][i + 1])
            awake = np.float64(yes[k]) + np.float64(no[k])
            is_known = len(documents.known) == 0 or documents.known[i, k]
            tally.mistakes[k] += is_known and (yes[k] > threshold * awake) != is_positive
            power = importance(weight, tally.positive_weight, k, is_positive)
            beta = np.float64(penalty if power == 1.0 else penalty**power)
            if is_positive:  # the experts who said no are punished ...
                after = yes[k] + beta * no[k]
            else:
                after = beta * yes[k] + no[k]
            share = awake / after if after > 0.0 else 1.0  # ... and the total is restored
            yes[k], no[k] = (share, beta * share) if is_positive else (beta * share, share)
            if not is_known:
                yes[k] = no[k] = UNIT
        if documents.always_on[i] != ZERO:
            expert_multiply(model.yes, ALWAYS_ON, yes, lo, hi)
            expert_multiply(model.no, ALWAYS_ON, no, lo, hi)
        for p in range(documents.indptr[i], documents.indptr[i + 1]):
            if documents.values[p] != ZERO:
                f = documents.indices[p] + ONE
                expert_multiply(model.yes, f, yes, lo, hi)
                expert_multiply(model.no, f, no, lo, hi)


# ---- external regret ----------------------------------------------------------------------------


@kernel
def regret_multiply(model, rule, tally, f, own_loss, common_loss, n_visited, lo, hi):
    """Multiply the weights in row `f` by the factors of Winnow (`steps`) and of regret."""
    for k in range(lo, hi):
        old, factor = model.weights[f, k], tally.steps[k]
        opinion = (old - rule.start) * tally.scores[k]  # positive if it was right
        if opinion != ZERO and tally.steps[k] != UNIT:
            factor *= common_loss
        if opinion < ZERO:
            factor *= own_loss
        clock = counted(tally, rule.average, n_visited, k) if rule.average != NO_AVERAGE else 0.0
        put(model, rule.average, f, k, multiplied(old, factor), clock)


@kernel
def regret_factors(documents, i, tally, rule, lo, hi):
    """Write the factor of Winnow into `steps` and the label, ±1 or 0, into `scores`."""
    labels, weight = documents[6:8], documents.sample_weight[i]
    n_entries = documents.indptr[i + 1] - documents.indptr[i]
    bounds = stretched(rule.low, rule.high, rule.ties, n_entries)
    middle, end = find_mistakes(*labels, i, tally.scores, *bounds, tally.wrong, lo, hi)
    tally.steps[lo:hi] = UNIT
    for j in range(lo, end):
        k, is_positive = tally.wrong[j], j >= middle
        factor = rule.promotion if is_positive else rule.demotion
        tally.steps[k] = factor ** importance(weight, tally.positive_weight, k, is_positive)
        tally.mistakes[k] += 1
    for k in range(lo, hi):
        tally.scores[k] = ZERO if tally.scores[k] == UNKNOWN else -UNIT
    for p in range(documents.label_indptr[i], documents.label_indptr[i + 1]):
        k = documents.label_indices[p]
        if lo <= k < hi and tally.scores[k] != ZERO:
            tally.scores[k] = UNIT


@kernel
def regret_epoch(documents, model, tally, rule, lo, hi):
    """Visit every document once, for the categories `lo` to `hi`: Winnow with external regret."""
    rows = documents[:4]
    for n_visited in range(len(documents.order)):
        i = documents.order[n_visited]
        add_scores(*rows, i, model.weights, tally.scores, lo, hi)
        hide_unknown(documents.known, i, tally.scores, tally.clock, lo, hi)
        regret_factors(documents, i, tally, rule, lo, hi)
        weight, regret = documents.sample_weight[i], rule.regret
        own_loss = np.float32(regret**weight)
        common_loss = np.float32(regret ** (-regret * weight))
        turn = n_visited + (rule.average == SUCCESSES)  # a success counts for the hypothesis before
        if documents.always_on[i] != ZERO:
            regret_multiply(model, rule, tally, ALWAYS_ON, own_loss, common_loss, turn, lo, hi)
        for p in range(documents.indptr[i], documents.indptr[i + 1]):
            if documents.values[p] != ZERO:
                f = documents.indices[p] + ONE
                regret_multiply(model, rule, tally, f, own_loss, common_loss, turn, lo, hi)
    turn_clocks(tally, rule.average, len(documents.order), lo, hi)
