"""AdaBoost.MH and AdaBoost.MR as the paper prints them: every stump, every document, every pair."""

import math
from functools import partial
from itertools import pairwise

TIE, LEAST = 1e-12, 1e-9


def stumps(X, n_thresholds):
    """All stumps (column, threshold or None), in the order in which ties are broken."""
    for j in range(len(X[0])):
        values = sorted({float(x[j]) for x in X})
        if j >= n_thresholds:
            if 0 < sum(x[j] != 0 for x in X) < len(X):
                yield j, None
            continue
        middles = [((a + b) / 2, a, b) for a, b in pairwise(values)]
        yield from ((j, t) for t, a, b in reversed(middles) if b > 0)
        yield from ((j, t) for t, a, b in middles if b <= 0)


def side(stump, x):
    j, threshold = stump
    holds = x[j] != 0 if threshold is None else x[j] >= threshold
    return 1 if holds else -1


def agrees(X, y, stump, key):
    """y h of a document, or half of what h makes of a positive and a negative."""
    if len(key) == 1:
        return y[key[0]] * side(stump, X[key[0]])
    return (side(stump, X[key[0]]) - side(stump, X[key[1]])) / 2


def agreement(X, y, D, stump):
    """The number r of a stump."""
    return sum(weight * agrees(X, y, stump, key) for key, weight in D.items())


def best_stump(X, n_thresholds, r_of):
    """The first stump with the highest |r|: a later column must be better by more than a tie."""
    columns = {}
    for stump in stumps(X, n_thresholds):
        columns.setdefault(stump[0], []).append((stump, r_of(stump)))
    chosen, highest = None, LEAST / 2
    for of_column in columns.values():
        most = max(abs(r) / 2 for _, r in of_column)
        if most > highest + TIE:
            chosen = next(one for one in of_column if abs(one[1]) / 2 >= most - TIE)
            highest = most
    return chosen


def boost(X, y, n_rounds, n_thresholds, variant="MH", weights=None):
    """The rounds (column, threshold, c α) of one category; y is 1 or -1."""
    everyone = range(len(X))
    weights = [1.0] * len(X) if weights is None else weights
    if variant == "MH":
        D = {(i,): weights[i] for i in everyone}
    else:
        D = {(i, k): weights[i] * weights[k] for i in everyone for k in everyone if y[i] > 0 > y[k]}
    rounds = []
    for _ in range(n_rounds):
        total = sum(D.values())
        D = {key: weight / total for key, weight in D.items()}

        best = best_stump(X, n_thresholds, partial(agreement, X, y, D))
        if best is None:
            break
        stump, r = best
        most = 1 - 1 / len(X)
        clamped = min(max(r, -most), most)
        alpha = 0.5 * math.log((1 + clamped) / (1 - clamped))
        rounds.append((*stump, alpha))
        if abs(r) > 1 - 1e-10:
            break
        D = {key: weight * math.exp(-alpha * agrees(X, y, stump, key)) for key, weight in D.items()}
    return rounds


def score(rounds, x):
    """f(x), the weights adding up to one."""
    total = sum(abs(alpha) for *_, alpha in rounds)
    return sum(alpha * side((j, threshold), x) for j, threshold, alpha in rounds) / total
