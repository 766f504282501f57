"""The measures, each as its definition says it, for one category at a time.

`scores` and `belongs` are lists, one entry per document; at least one document belongs.
"""

from fractions import Fraction
from itertools import pairwise
from math import inf


def contingency(decided, belongs):
    pairs = list(zip(decided, belongs, strict=True))
    return tuple(pairs.count(cell) for cell in [(1, 1), (1, 0), (0, 1), (0, 0)])


def f1(decided, belongs):
    """The harmonic mean of precision and recall, exactly: a tie of two of them is a tie."""
    tp, fp, fn, _ = contingency(decided, belongs)
    precision = Fraction(tp, tp + fp) if tp + fp else 0
    recall = Fraction(tp, tp + fn)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0


def cut_points(scores, belongs):
    """Precision and recall, exactly, of each threshold that parts the documents."""
    points = []
    for threshold in sorted(set(scores), reverse=True):
        decided = [score >= threshold for score in scores]
        tp, fp, fn, _ = contingency(decided, belongs)
        points.append((Fraction(tp, tp + fp), Fraction(tp, tp + fn)))
    return points


def average_precision(scores, belongs):
    precisions = []
    for score, belonging in zip(scores, belongs, strict=True):
        if belonging:
            at_least = [b for s, b in zip(scores, belongs, strict=True) if s >= score]
            precisions.append(sum(at_least) / len(at_least))
    return sum(precisions) / len(precisions)


def maximal_f1(scores, belongs):
    return float(max(f1([s >= threshold for s in scores], belongs) for threshold in scores))


def rank_loss(scores, belongs):
    positives = [s for s, b in zip(scores, belongs, strict=True) if b]
    negatives = [s for s, b in zip(scores, belongs, strict=True) if not b]
    return sum(p <= n for p in positives for n in negatives) / (len(positives) * len(negatives))


def break_even(scores, belongs):
    """Precision of the first k; among equal scores, those that do not belong come first."""
    k = sum(belongs)
    ranking = sorted(zip(scores, belongs, strict=True), key=lambda pair: (-pair[0], pair[1]))
    return sum(belonging for _, belonging in ranking[:k]) / k


def break_even_interpolated(scores, belongs):
    """The highest point at which the broken line through the cut points has precision = recall.

    Before the first cut point, precision is taken to be what it is there.
    """
    points = cut_points(scores, belongs)
    points.insert(0, (points[0][0], Fraction(0)))
    highest = Fraction(0)
    for (p0, r0), (p1, r1) in pairwise(points):
        before, after = p0 - r0, p1 - r1
        if after == 0:
            highest = max(highest, p1)
        elif before > 0 > after:
            highest = max(highest, r0 + before / (before - after) * (r1 - r0))
    return float(highest)


def best_threshold(scores, belongs, goodness):
    """The highest of the best thresholds, exactly: half way between neighbours, or outside all."""
    different = sorted(map(Fraction, set(scores)), reverse=True)
    between = [(a + b) / 2 for a, b in pairwise(different)]
    best, best_goodness = inf, goodness([False] * len(scores), belongs)
    for threshold in [*between, -inf]:
        tried = goodness([score > threshold for score in scores], belongs)
        if tried > best_goodness:
            best, best_goodness = threshold, tried
    return best


def accuracy(decided, belongs):
    tp, fp, fn, tn = contingency(decided, belongs)
    return Fraction(tp + tn, tp + fp + fn + tn)
