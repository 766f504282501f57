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

POSITIVE, BALANCED, MODIFIED = 0, 1, 2  # what a multiplicative correction does
PERCEPTRON, RELAXED, PA, PA_I, PA_II = 0, 1, 2, 3, 4  # how far an additive correction goes
PRESENCE = 5  # the Perceptron's, whatever the strengths
NO_AVERAGE, SUCCESSES, EXAMPLES = 0, 1, 2  # which hypotheses the average counts

ALWAYS_ON = np.uint64(0)  # its row; of the type that the other rows' numbers have
ZERO, UNIT = np.float32(0.0), np.float32(1.0)
UNKNOWN = np.float32(-np.inf)  # the score of a category that an answer says nothing about
# Weights stay within 2^-64 .. 2^64: a sum of a million of them is far from the ends of float32.
LEAST, MOST = np.float32(2.0**-64), np.float32(2.0**64)
ROUNDING = np.float32(2.0**-24)  # how far one operation of float32 is off, relatively, at most


class Documents(NamedTuple):
    """The rows to learn from, in the order in which they are met."""

    indptr: np.ndarray  # int64
    indices: np.ndarray  # uint32: unsigned indices spare the test for negative ones
    values: np.ndarray  # float32 strengths
    always_on: np.ndarray  # float32 strength of the always-on feature in each document
    order: np.ndarray  # int64
    sample_weight: np.ndarray  # float64, above zero for all documents in `order`
    label_indptr: np.ndarray  # int64
    label_indices: np.ndarray  # uint32
    known: np.ndarray  # bool, documents by categories: what an answer is about; empty where all


class Tally(NamedTuple):
    """What is kept per category beside its weights; `scores`, `steps` and `wrong` are scratch."""

    scores: np.ndarray  # float32
    steps: np.ndarray  # float32, zero between documents
    wrong: np.ndarray  # int64: the mistaken categories, from place `lo` on
    mistakes: np.ndarray  # int64, zero before the pass
    clock: np.ndarray  # float64: hypotheses counted by the average before the pass
    positive_weight: np.ndarray  # float64


# In every rule: a negative that reaches `low` is a mistake, and a positive that does not exceed
# `high`. A score that rounding may have parted from them is a tie, which counts as one of exactly
# `low` or `high` where `ties` is 1, as none where it is -1; at 0 rounding decides. In all weights:
# `drift` is the sum of clock * change, empty without averaging; `live` says which weights may
# change, empty where all may.


class WinnowWeights(NamedTuple):
    """`up` and `down` are empty where `weights` is all there is (Positive Winnow)."""

    up: np.ndarray  # float32
    down: np.ndarray  # float32
    weights: np.ndarray  # float32: up - down, what a document is scored with
    drift: np.ndarray  # float64


class WinnowRule(NamedTuple):
    kind: int
    average: int
    low: np.float32
    high: np.float32
    ties: np.float32
    promotion: np.float32
    demotion: np.float32
    floor: np.float32  # of 1 - strength; for Modified Balanced Winnow alone
    start: np.float32  # the weight at which a feature has no opinion; for external regret alone
    regret: float  # for external regret alone


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
    norm_share: float = 1.0  # of the always-on feature's square that |x|^2 counts


# What is called for every document gets the few arrays that it needs: the first four of
# `Documents`, or its last two. A call that hands over all of them costs as much as the work.

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
    """Tell whether document `i` is labelled with category `k` before the place `end`."""
    carried = False
    for p in range(indptr[i], end):
        carried |= labels[p] == k
    return carried


@kernel
def error_bound(n_entries):
    """Return how far a sum of so many products, all of one sign, may be off, relatively.

    One rounding for each sum and for the product, two for strengths that were normalised.
    """
    return np.float32(n_entries + 4) * ROUNDING


@kernel
def stretched(low, high, ties, n_entries):
    """Return the bounds of a mistake that let rounding decide nothing for a document."""
    slack = ties * error_bound(n_entries)
    return low - slack * abs(low), high + slack * abs(high)


@kernel
def find_mistakes(indptr, labels, i, scores, low, high, wrong, lo, hi):
    """List the mistaken categories, negatives first; return where those end and where all end."""
    end = lo
    for k in range(lo, hi):
        if scores[k] >= low and not carries(indptr, labels, i, k, indptr[i + 1]):
            wrong[end] = k
            end += 1
    end_of_negatives = end
    for p in range(indptr[i], indptr[i + 1]):
        k = np.int64(labels[p])
        # A label given twice is one label; one of an unknown category is none.
        is_wrong = lo <= k < hi and UNKNOWN < scores[k] <= high
        if is_wrong and not carries(indptr, labels, i, k, p):
            wrong[end] = k
            end += 1
    return end_of_negatives, end


@kernel
def hide_unknown(known, i, scores, clock, lo, hi):
    """Let no category be mistaken, or its average count, that the answer `i` says nothing about."""
    if len(known) > 0:
        for k in range(lo, hi):
            if not known[i, k]:
                scores[k] = UNKNOWN
                clock[k] -= 1.0


@kernel
def importance(weight, positive_weight, k, is_positive):
    """Return how much a mistake on a document of this weight counts in category `k`."""
    return weight * positive_weight[k] if is_positive else weight


@kernel
def counted(tally, average, met, k):
    """Return how many hypotheses of category `k` the average has counted so far."""
    successes_only = average == SUCCESSES
    return tally.clock[k] + met - successes_only * tally.mistakes[k]


@kernel
def turn_clocks(tally, average, met, lo, hi):
    for k in range(lo, hi):
        tally.clock[k] = counted(tally, average, met, k)


@kernel
def put(model, average, f, k, new, clock):
    """Let a weight be `new`; the average needs to know when it changed."""
    old = model.weights[f, k]
    model.weights[f, k] = new
    if average != NO_AVERAGE:
        model.drift[f, k] += clock * (np.float64(new) - np.float64(old))


# ---- multiplicative -----------------------------------------------------------------------------


@kernel
def multiplied(weight, factor):
    """Multiply a weight within the guards; zero is a discarded weight and stays zero."""
    if weight == ZERO:
        return weight
    return min(max(weight * factor, LEAST), MOST)


@kernel
def multiply(model, rule, f, k, strength, grow, shrink, is_positive, clock):
    """Promote (or demote) category `k`'s weight of the feature in row `f`."""
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
    """Correct category `k` on document `i`; a weight of 2 is two corrections at once."""
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
    """Meet every document once, for the categories `lo` to `hi`: the Winnows."""
    rows, labels = documents[:4], documents[6:8]
    for met in range(len(documents.order)):
        i = documents.order[met]
        weight = documents.sample_weight[i]
        n_entries = documents.indptr[i + 1] - documents.indptr[i]
        bounds = stretched(rule.low, rule.high, rule.ties, n_entries)
        add_scores(*rows, i, model.weights, tally.scores, lo, hi)
        hide_unknown(documents.known, i, tally.scores, tally.clock, lo, hi)
        middle, end = find_mistakes(*labels, i, tally.scores, *bounds, tally.wrong, lo, hi)
        for j in range(lo, end):
            k, is_positive = tally.wrong[j], j >= middle
            power = importance(weight, tally.positive_weight, k, is_positive)
            clock = counted(tally, rule.average, met, k)
            winnow_update(documents, i, model, rule, k, power, is_positive, clock)
            tally.mistakes[k] += 1
    turn_clocks(tally, rule.average, len(documents.order), lo, hi)


# ---- additive -----------------------------------------------------------------------------------


@kernel
def squared_norm(documents, i, share):
    """Return |x|^2 of document `i`, with a share of the always-on feature's square."""
    total = share * np.float64(documents.always_on[i]) ** 2
    for p in range(documents.indptr[i], documents.indptr[i + 1]):
        total += np.float64(documents.values[p]) ** 2
    return total


@kernel
def squared_norm_of_live(documents, i, share, live, k):
    """Return the squared norm over the features that category `k` has not discarded."""
    total = share * np.float64(documents.always_on[i]) ** 2
    for p in range(documents.indptr[i], documents.indptr[i + 1]):
        if live[documents.indices[p] + ONE, k]:
            total += np.float64(documents.values[p]) ** 2
    return total


@kernel
def step(rule, margin, norm, is_positive):
    """How far to move along the document, given its margin and its squared norm."""
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
    """How far one step goes along a feature of this strength."""
    return np.sign(strength) if rule.kind == PRESENCE else strength


@kernel
def add_to(model, tally, average, met, f, k, change):
    old = model.weights[f, k]
    new = old + change
    model.weights[f, k] = new
    if average != NO_AVERAGE:
        clock = counted(tally, average, met, k)
        model.drift[f, k] += clock * (np.float64(new) - np.float64(old))


@kernel
def add_document(documents, i, model, tally, rule, met, lo, hi, end):
    """Move the weights of the mistaken categories by their steps along document `i`."""
    masked, average = len(model.live) > 0, rule.average
    always_on = along(rule, documents.always_on[i])
    start, stop = documents.indptr[i], documents.indptr[i + 1]
    for j in range(lo, end):
        k = tally.wrong[j]
        add_to(model, tally, average, met, ALWAYS_ON, k, tally.steps[k] * always_on)
    if average == NO_AVERAGE and not masked and end - lo > max(1, (hi - lo) // 8):
        # Many are mistaken: whole runs, the steps of the others being zero, are quicker.
        steps = tally.steps[lo:hi]
        for p in range(start, stop):
            row = model.weights[documents.indices[p] + ONE, lo:hi]
            strength = along(rule, documents.values[p])
            for k in range(len(steps)):
                row[k] += steps[k] * strength
        return
    for j in range(lo, end):
        k = tally.wrong[j]
        for p in range(start, stop):
            f = documents.indices[p] + ONE
            if not masked or model.live[f, k]:
                change = tally.steps[k] * along(rule, documents.values[p])
                add_to(model, tally, average, met, f, k, change)


@kernel
def additive_update(documents, i, model, tally, rule, met, lo, hi, middle, end):
    """Correct the categories listed as wrong on document `i`, the first of them negatives."""
    masked = len(model.live) > 0
    norm = 0.0 if masked else squared_norm(documents, i, rule.norm_share)
    for j in range(lo, end):
        k, is_positive = tally.wrong[j], j >= middle
        sign = 1.0 if is_positive else -1.0
        margin = sign * (np.float64(tally.scores[k]) - rule.threshold)
        if masked:
            norm = squared_norm_of_live(documents, i, rule.norm_share, model.live, k)
        scale = documents.sample_weight[i] * (tally.positive_weight[k] if is_positive else 1.0)
        tally.steps[k] = sign * scale * step(rule, margin, norm, is_positive)
    add_document(documents, i, model, tally, rule, met, lo, hi, end)
    for j in range(lo, end):
        tally.mistakes[tally.wrong[j]] += 1
        tally.steps[tally.wrong[j]] = ZERO


@kernel
def additive_epoch_alone(documents, weights, tally, rule, k):
    """Meet every document once for category `k`, which has no average and has discarded nothing.

    The same corrections as below; one score and one norm stay in registers.
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
    """Meet every document once, for `lo` to `hi`: the Perceptron and Passive-Aggressive."""
    if hi - lo == 1 and rule.average == NO_AVERAGE and len(model.live) == 0:
        additive_epoch_alone(documents, model.weights, tally, rule, lo)
        return
    rows, labels = documents[:4], documents[6:8]
    met = np.int64(0)
    for i in documents.order:
        n_entries = documents.indptr[i + 1] - documents.indptr[i]
        bounds = stretched(rule.low, rule.high, rule.ties, n_entries)
        add_scores(*rows, i, model.weights, tally.scores, lo, hi)
        hide_unknown(documents.known, i, tally.scores, tally.clock, lo, hi)
        middle, end = find_mistakes(*labels, i, tally.scores, *bounds, tally.wrong, lo, hi)
        if end > lo:
            additive_update(documents, i, model, tally, rule, met, lo, hi, middle, end)
        met += 1
    turn_clocks(tally, rule.average, met, lo, hi)


# ---- ROMMA --------------------------------------------------------------------------------------


class RommaWeights(NamedTuple):
    """The weights of category k are `scale[k] * weights[:, k]`: scaling them costs one product."""

    weights: np.ndarray  # float32
    drift: np.ndarray  # float64: `turned` being the clock
    live: np.ndarray  # bool
    first: np.ndarray  # bool: entries in which a feature is met first and starts at one, or empty
    scale: np.ndarray  # float64
    norm: np.ndarray  # float64: squared norm of the scaled weights
    turned: np.ndarray  # float64: the sum of the scales of the hypotheses counted by the average
    n_rows: int  # how many rows are in use


class RommaRule(NamedTuple):
    average: int
    aggressive: bool
    skips: bool  # whether a document parallel to the weights is passed over
    low: np.float32
    high: np.float32
    norm_share: float


@kernel
def romma_coefficients(rule, label, score, norm, length, bound):
    """Return c and d of w <- c w + d x, given y, <w,x>, |w|^2, |x|^2 and how far <w,x> may be off.

    Where w and x are parallel, as far as can be told, the conditions that ROMMA puts on both cannot
    be met together. The document's own is then met by the least change, as Passive-Aggressive does.
    """
    if norm == 0.0 or (rule.aggressive and label * score >= norm * length):
        return 0.0, label / length
    below = length * norm - score * score
    if abs(below) <= 4.0 * bound * length * norm:
        return (1.0, 0.0) if rule.skips else (1.0, (label - score) / length)
    return (length * norm - label * score) / below, norm * (label - score) / below


@kernel
def romma_add(model, rule, f, k, change):
    new = model.weights[f, k] + np.float32(change)
    put(model, rule.average, f, k, new, model.turned[k])


@kernel
def romma_scale(model, rule, k, factor):
    """Multiply the weights of category `k`, keeping the scale within the range of float32."""
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
    masked = len(model.live) > 0
    if masked:
        length = squared_norm_of_live(documents, i, 1.0, model.live, k)
    else:
        length = squared_norm(documents, i, 1.0)
    counted_length = length - (1.0 - rule.norm_share) * np.float64(documents.always_on[i]) ** 2
    if counted_length <= 0.0:
        return
    bound = np.float64(error_bound(documents.indptr[i + 1] - documents.indptr[i]))
    c, d = romma_coefficients(rule, label, score, model.norm[k], counted_length, bound)
    # A document of weight one half goes half of the way; one of weight two not beyond zero.
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
    """Let the features met for the first time start at one."""
    for p in range(documents.indptr[i], documents.indptr[i + 1]):
        if model.first[p]:
            for k in range(lo, hi):
                romma_add(model, rule, documents.indices[p] + ONE, k, 1.0 / model.scale[k])
                model.norm[k] += 1.0


@kernel
def romma_epoch(documents, model, tally, rule, lo, hi):
    """Meet every document once, for the categories `lo` to `hi`: ROMMA."""
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
    row, block = experts[f, lo:hi], factors[lo:hi]
    for k in range(len(row)):
        row[k] = multiplied(row[k], block[k])


@kernel
def experts_epoch(documents, model, tally, rule, lo, hi):
    """Meet every document once, for the categories `lo` to `hi`: Sleeping Experts."""
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
            if is_positive:  # the experts that said no are punished ...
                after = yes[k] + beta * no[k]
            else:
                after = beta * yes[k] + no[k]
            share = awake / after if after > 0.0 else 1.0  # ... and all share what was lost
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
def regret_multiply(model, rule, tally, f, own_loss, common_loss, met, lo, hi):
    """Multiply by Winnow's factor (`steps`) and by what the feature's regret calls for."""
    for k in range(lo, hi):
        old, factor = model.weights[f, k], tally.steps[k]
        opinion = (old - rule.start) * tally.scores[k]  # above zero where it was right
        if opinion != ZERO and tally.steps[k] != UNIT:
            factor *= common_loss
        if opinion < ZERO:
            factor *= own_loss
        clock = counted(tally, rule.average, met, k) if rule.average != NO_AVERAGE else 0.0
        put(model, rule.average, f, k, multiplied(old, factor), clock)


@kernel
def regret_factors(documents, i, tally, rule, lo, hi):
    """Put Winnow's factor of each category into `steps` and its label, ±1 or 0, into `scores`."""
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
    """Meet every document once, for the categories `lo` to `hi`: Winnow with external regret."""
    rows = documents[:4]
    for met in range(len(documents.order)):
        i = documents.order[met]
        add_scores(*rows, i, model.weights, tally.scores, lo, hi)
        hide_unknown(documents.known, i, tally.scores, tally.clock, lo, hi)
        regret_factors(documents, i, tally, rule, lo, hi)
        weight, regret = documents.sample_weight[i], rule.regret
        own, common = np.float32(regret**weight), np.float32(regret ** (-regret * weight))
        turn = met + (rule.average == SUCCESSES)  # a success counts for the hypothesis before
        if documents.always_on[i] != ZERO:
            regret_multiply(model, rule, tally, ALWAYS_ON, own, common, turn, lo, hi)
        for p in range(documents.indptr[i], documents.indptr[i + 1]):
            if documents.values[p] != ZERO:
                f = documents.indices[p] + ONE
                regret_multiply(model, rule, tally, f, own, common, turn, lo, hi)
    turn_clocks(tally, rule.average, len(documents.order), lo, hi)
