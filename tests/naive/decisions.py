"""Thresholds and curves as their definitions say them, by trying everything."""

from fractions import Fraction
from math import inf

from naive.evaluation import contingency


def best_taken(scores, belongs, kind, value):
    """How many documents to take: every cut between different scores is tried, fewest first."""
    best, best_goodness = None, -inf
    for threshold in [inf, *sorted(set(scores), reverse=True)]:
        decided = [score >= threshold for score in scores]
        tried = goodness(*contingency(decided, belongs), kind, Fraction(str(value)))
        if tried is not None and tried > best_goodness:
            best, best_goodness = sum(decided), tried
    return best


def goodness(tp, fp, fn, tn, kind, value):
    """How good a decision is; None when it is not what was asked for."""
    if kind == "f_beta":
        return (1 + value**2) * tp / ((1 + value**2) * tp + value**2 * fn + fp) if tp else 0
    if kind == "precision":
        return tp if tp >= value * (tp + fp) else None
    if kind == "recall":
        return -(tp + fp) if tp >= value * (tp + fn) else None
    return -(fp + value * fn)


def isotonic(values):
    """The rising sequence nearest to `values`: the largest of the smallest means around each."""

    def mean(first, last):
        return sum(values[first : last + 1]) / (last - first + 1)

    n = len(values)
    return [max(min(mean(a, b) for b in range(i, n)) for a in range(i + 1)) for i in range(n)]


def decide(scores, thresholds, at_least, at_most):
    """The categories of one document: those above their thresholds, the largest margins first."""
    margins = [score - threshold for score, threshold in zip(scores, thresholds, strict=True)]
    ranked = sorted(range(len(margins)), key=lambda k: (-margins[k], k))
    n_above = sum(margin > 0 for margin in margins)
    return ranked[: min(max(n_above, at_least), at_most)]
