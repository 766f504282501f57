"""The online learners, one document, one category and one feature at a time.

Every function takes a `Stream` and the arrays of one learner, and changes the arrays in place, in
single precision where the learners do. `history` collects the hypotheses that an average counts.
"""

import itertools
from typing import NamedTuple

import numpy as np

F4, F8 = np.float32, np.float64
LEAST, MOST = F4(2.0**-64), F4(2.0**64)


class Stream(NamedTuple):
    """Documents as lists of (row of the weights, strength), the always-on feature's row first."""

    documents: list
    labels: list
    weights: list
    positive_weight: list


def score(document, column):
    total = F4(0)
    for place, (f, x) in enumerate(document):
        product = x * column[f]
        total = product if place == 0 else total + product
    return total


def bounds(document, low, high):
    """The bounds of a mistake, beyond which no rounding carries a score that is exactly there."""
    slack = F4(len(document) - 1 + 4) * F4(2.0**-24)
    return low - slack * abs(low), high + slack * abs(high)


def clamp(weight, factor):
    return weight if weight == 0 else min(max(weight * factor, LEAST), MOST)


def power(stream, i, k, positive):
    weight = F8(stream.weights[i])
    return weight * stream.positive_weight[k] if positive else weight


class History:
    """The sum of all hypotheses of one category, each as often as the average counts it."""

    def __init__(self, average, column):
        self.average = average
        self.sum = np.zeros(len(column))
        self.count = 0

    def note(self, before, after, mistaken):
        if self.average == "examples":
            self.sum += after
            self.count += 1
        elif self.average == "successes" and not mistaken:
            self.sum += before
            self.count += 1

    def mean(self, last):
        return self.sum / self.count if self.count else last


def winnow(stream, k, arrays, kind, low, high, promotion, demotion, history, floor=1 / 16):
    """Return the mistakes of one pass of a Winnow for category `k`."""
    weights = arrays["weights"][:, k]
    mistakes = 0
    for i, document in enumerate(stream.documents):
        positive = k in stream.labels[i]
        s, (least, most) = score(document, weights), bounds(document, low, high)
        mistaken = s <= most if positive else s >= least
        before = weights.copy()
        if mistaken:
            mistakes += 1
            p = power(stream, i, k, positive)
            grow, shrink = (promotion, demotion) if p == 1 else (
                F4(F8(promotion) ** p), F4(F8(demotion) ** p))  # fmt: skip
            for f, x in document:
                if x == 0:
                    continue
                a, b = grow, shrink
                if kind == "modified":
                    a, b = a * (F4(1) + x), b * max(F4(1) - x, F4(floor))
                if not positive:
                    a, b = b, a
                if kind == "positive":
                    weights[f] = clamp(weights[f], a)
                else:
                    up, down = arrays["up"][:, k], arrays["down"][:, k]
                    up[f], down[f] = clamp(up[f], a), clamp(down[f], b)
                    weights[f] = up[f] - down[f]
        history.note(before, weights, mistaken)
    return mistakes


def squared_norm(document, live, counts_always_on=True):
    total = F8(0)
    for place, (f, x) in enumerate(document):
        if live[f] if place else counts_always_on:
            total += F8(x) ** 2
    return total


def step(kind, loss, norm, rule, positive):
    if kind in ("perceptron", "presence"):
        return rule["promotion"] if positive else rule["demotion"]
    if kind == "relaxed":
        return loss / (norm + rule["gamma"])
    if kind == "PA-II":
        return loss / (norm + 0.5 / rule["aggressiveness"])
    if norm == 0:
        return 0.0
    return min(rule["aggressiveness"], loss / norm) if kind == "PA-I" else loss / norm


def additive(stream, k, arrays, kind, low, high, rule, live, history):
    """Return the mistakes of one pass of the Perceptron or Passive-Aggressive for category `k`."""
    weights = arrays["weights"][:, k]
    mistakes = 0
    for i, document in enumerate(stream.documents):
        positive = k in stream.labels[i]
        s = score(document, weights)
        # The margin itself is a mistake of the Perceptron, not of Passive-Aggressive.
        if kind in ("perceptron", "presence"):
            least, most = bounds(document, F4(low), F4(high))
            mistaken = s <= most if positive else s >= least
        else:
            mistaken = s < F4(high) if positive else s > F4(low)
        before = weights.copy()
        if mistaken:
            mistakes += 1
            sign = 1.0 if positive else -1.0
            loss = rule.get("epsilon", 0) - sign * (F8(s) - rule["threshold"])
            norm = squared_norm(document, live[:, k], rule.get("always_on_in_norm", True))
            distance = step(kind, loss, norm, rule, positive)
            move = F4(sign * power(stream, i, k, positive) * distance)
            for place, (f, x) in enumerate(document):
                if place == 0 or live[f, k]:
                    weights[f] += move * (np.sign(x) if kind == "presence" else x)
        history.note(before, weights, mistaken)
    return mistakes


def romma(stream, k, n_rows, aggressive, start_at_one, history, counts_always_on=True):
    """Return mistakes and weights of one pass of ROMMA for category `k`, in double precision.

    The third number tells whether single precision must come to the same: no correction was on a
    document parallel to the weights, or on the edge of one rule and the other.
    """
    weights, met, mistakes, clear = np.zeros(n_rows), {0}, 0, True
    for i, document in enumerate(stream.documents):
        label = 1 if k in stream.labels[i] else -1
        for f, x in document:
            if start_at_one and x != 0 and f not in met:
                weights[f] = 1
                met.add(f)
        s = sum(float(x) * weights[f] for f, x in document)
        length = squared_norm(document, np.ones(n_rows, bool), counts_always_on)
        norm = float(weights @ weights)
        mistaken = label * s < 1 if aggressive else label * s <= 0
        before = weights.copy()
        if mistaken:
            mistakes += 1
            below = length * norm - s * s
            guard = 4 * (len(document) - 1 + 4) * 2.0**-24
            edge = abs(label * s - norm * length) if aggressive else np.inf
            clear &= norm * length == 0 or min(abs(below), edge) > 1e-4 * norm * length
            if length == 0:
                c, d = 1.0, 0.0
            elif norm == 0 or (aggressive and label * s >= norm * length):
                c, d = 0.0, label / length
            elif abs(below) <= guard * length * norm:
                c, d = 1.0, 0.0 if start_at_one else (label - s) / length
            else:
                c, d = (length * norm - label * s) / below, norm * (label - s) / below
            p = power(stream, i, k, label > 0)
            c, d = max(min(c, 0.0), 1 + p * (c - 1)), p * d
            weights *= c
            for f, x in document:
                weights[f] += d * float(x)
        history.note(before, weights, mistaken)
    return mistakes, weights, clear


def experts(stream, k, arrays, threshold, penalty):
    """Return the mistakes of one pass of Sleeping Experts for category `k`."""
    yes, no = arrays["yes"][:, k], arrays["no"][:, k]
    mistakes = 0
    for i, document in enumerate(stream.documents):
        positive = k in stream.labels[i]
        for_it, against = score(document, yes), score(document, no)
        awake = F8(for_it) + F8(against)
        mistakes += bool(for_it > threshold * awake) != positive
        p = power(stream, i, k, positive)
        beta = F8(penalty) ** p if p != 1 else F8(penalty)
        after = for_it + beta * against if positive else beta * for_it + against
        share = awake / after if after > 0 else F8(1)
        a, b = (share, beta * share) if positive else (beta * share, share)
        for f, x in document:
            if x != 0:
                yes[f], no[f] = clamp(yes[f], F4(a)), clamp(no[f], F4(b))
    return mistakes


def regret(stream, k, arrays, low, high, promotion, demotion, start, gamma, history):
    """Return the mistakes of one pass of Winnow with external regret for category `k`."""
    weights = arrays["weights"][:, k]
    mistakes = 0
    for i, document in enumerate(stream.documents):
        positive = k in stream.labels[i]
        s, (least, most) = score(document, weights), bounds(document, low, high)
        mistaken = s <= most if positive else s >= least
        mistakes += bool(mistaken)
        before = weights.copy()
        factor = F4(1)
        if mistaken:
            base = F8(promotion if positive else demotion)
            factor = F4(base ** power(stream, i, k, positive))
        weight = F8(stream.weights[i])
        for f, x in document:
            if x == 0:
                continue
            says_yes, says_no = before[f] > start, before[f] < start
            own = factor
            if mistaken and (says_yes or says_no):
                own = own * F4(gamma ** (-gamma * weight))
            if says_no if positive else says_yes:
                own = own * F4(gamma**weight)
            weights[f] = clamp(weights[f], own)
        history.note(before, weights, mistaken)
    return mistakes


def spread(document, variances):
    """Return the variance of a document's score, in the order of its features."""
    total = F4(0)
    for place, (f, x) in enumerate(document):
        term = x * x * variances[f]
        total = term if place == 0 else total + term
    return total


def be_surer(document, variances, push):
    for f, x in document:
        variances[f] /= F4(1) + variances[f] * (x * x) * push


def arow(stream, k, arrays, threshold, regularization, history, own=None):
    """Return the mistakes of one pass of AROW for category `k`.

    A category that has discarded a feature has a variance of zero for it. `own` gets what each
    document adds to its own score.
    """
    weights, variances = arrays["weights"][:, k], arrays["variances"][:, k]
    mistakes, threshold = 0, F4(threshold)
    for i, document in enumerate(stream.documents):
        positive = k in stream.labels[i]
        s = score(document, weights)
        mistaken = s < threshold + F4(1) if positive else s > threshold - F4(1)
        before = weights.copy()
        if mistaken:
            mistakes += 1
            sign, variance = F4(1 if positive else -1), spread(document, variances)
            push = F4(power(stream, i, k, positive)) / F4(regularization)
            loss = F4(1) - sign * (s - threshold)
            step = sign * loss * push / (variance * push + F4(1))
            for f, x in document:
                weights[f] += step * variances[f] * x
            be_surer(document, variances, push)
            if own is not None:
                own[i, k] += step * variance
        history.note(before, weights, mistaken)
    return mistakes


def dual_descent(stream, k, arrays, alpha, cost, own=None):
    """Return how often a pass of dual coordinate descent for category `k` met a margin below one.

    `alpha` has a dual variable for each document; the variances are fixed.
    """
    weights, variances = arrays["weights"][:, k], arrays["variances"][:, k]
    n_short = 0
    for i, document in enumerate(stream.documents):
        positive = k in stream.labels[i]
        s = score(document, weights)
        sign = F4(1 if positive else -1)
        is_short = sign * s < 1
        n_short += bool(is_short)
        if is_short or alpha[i] > 0:
            variance = spread(document, variances)
            slack = F4(0.5 / (cost * power(stream, i, k, positive)))
            change = (F4(1) - sign * s - alpha[i] * slack) / (variance + slack)
            new = max(F4(0), alpha[i] + change)
            step = sign * (new - alpha[i])
            alpha[i] = new
            for f, x in document:
                weights[f] += step * variances[f] * x
            if own is not None:
                own[i, k] += step * variance
    return n_short


def support(stream, k, arrays, alpha, regularization):
    """Make the variances those of a learner that has met the documents with α above zero."""
    for i, document in enumerate(stream.documents):
        if alpha[i] > 0:
            weight = power(stream, i, k, k in stream.labels[i])
            be_surer(document, arrays["variances"][:, k], F4(weight) / F4(regularization))


def starting_variances(stream, k, n_rows, exponent, floor, smoothing=5.0):
    """Return the variances of category `k` that its documents' features start with."""
    total, inside, squares = np.zeros((3, n_rows))
    for document, labels, weight in zip(*stream[:3], strict=True):
        for f, x in document[1:]:
            if x != 0:
                total[f] += weight
                inside[f] += weight * (k in labels)
                squares[f] += weight * F8(x) ** 2
    squares /= max(sum(stream.weights), 1.0)
    n_counts = max(total.sum(), 2.0)
    share = min(max(inside.sum(), 1.0), n_counts - 1.0) / n_counts
    within = np.log((inside + smoothing * share) / share)
    without = np.log((total - inside + smoothing * (1 - share)) / (1 - share))
    size = np.abs(within - without) ** exponent
    mean = squares[1:] @ size[1:]
    variances = floor + (1 - floor) * size / mean if mean > 0 else np.ones(n_rows)
    variances[0] = 1.0
    return variances


def has_duplicates(indptr, indices):
    """Tell whether a column stands twice in a row."""
    rows = (indices[a:b].tolist() for a, b in itertools.pairwise(indptr))
    return any(len(set(row)) < len(row) for row in rows)
