"""Nearest neighbours, one pair of documents at a time; ties are decided with fractions."""

from fractions import Fraction
from math import sqrt


def products(x, z):
    """The exact product of two documents of whole numbers, or of what is exact in binary."""
    return sum(Fraction(float(a)) * Fraction(float(b)) for a, b in zip(x, z, strict=True))


def probable(X, lists, weights, feature, value, n_categories):
    """P(c|v): how many of the documents with a value have each category; of all, if none has it."""
    same = [i for i, x in enumerate(X) if x[feature] == value] or range(len(X))
    total = sum(Fraction(weights[i]) for i in same)
    return [
        sum(Fraction(weights[i]) for i in same if k in lists[i]) / total
        for k in range(n_categories)
    ]


def nearness(metric, X, lists, weights, x, z, n_categories):
    """What orders documents, exactly: the signed square of the cosine, or minus the distance."""
    if metric == "cosine":
        below, product = products(x, x) * products(z, z), products(x, z)
        return product * abs(product) / below if below else Fraction(0)
    if metric == "euclidean":
        return 2 * products(x, z) - products(x, x) - products(z, z)
    return -sum(
        abs(p - q)
        for j in range(len(x))
        for p, q in zip(
            probable(X, lists, weights, j, x[j], n_categories),
            probable(X, lists, weights, j, z[j], n_categories),
            strict=True,
        )
    )


def voters(metric, by_similarity, k, X, lists, weights, x, n_categories):
    """The documents that vote on `x`, and each one's share of the votes."""
    near = [nearness(metric, X, lists, weights, x, z, n_categories) for z in X]
    bar, count = None, Fraction(0)
    for one in sorted(range(len(X)), key=lambda i: -near[i]):
        if count < k:
            bar = near[one]
        count += Fraction(weights[one])
    chosen = [i for i in range(len(X)) if near[i] >= bar]
    votes = {i: float(weights[i]) for i in chosen}
    if by_similarity and metric == "cosine" and any(near[i] > 0 for i in chosen):
        votes = {i: weights[i] * sqrt(max(near[i], 0)) for i in chosen}
    elif by_similarity and metric != "cosine":
        if any(near[i] == 0 for i in chosen):
            votes = {i: weights[i] * (near[i] == 0) for i in chosen}
        else:
            root = sqrt if metric == "euclidean" else float
            votes = {i: weights[i] / root(-near[i]) for i in chosen}
    total = sum(votes.values())
    return {i: vote / total for i, vote in votes.items()}


def scores(metric, by_similarity, k, X, lists, weights, x, n_categories):
    """The share of the votes for each category, less one half."""
    votes = voters(metric, by_similarity, k, X, lists, weights, x, n_categories)
    return [
        sum(vote for i, vote in votes.items() if c in lists[i]) - 0.5 for c in range(n_categories)
    ]
