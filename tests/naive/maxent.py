"""Loglinear models, one pair of context and class and one feature at a time.

`features[x][c][i]` is what feature i is for the context x and the class c, `counts[x][c]` how often
the pair was seen.
"""

import math


def for_categories(X, classes):
    """The features of documents with several classes, each word together with each class."""
    n = len(X[0])
    return [
        [[x[i % n] if i // n == c else 0 for i in range(n * classes)] for c in range(classes)]
        for x in X
    ]


def for_yes(X):
    """The features of documents with a question, whose answer "no" has none."""
    return [[[0] * len(x), list(x)] for x in X]


def distribution(features, weights, joint):
    """p(x, c), or p(c|x)."""
    odds = [[math.exp(sum(w * f for w, f in zip(weights, pair, strict=True))) for pair in context]
            for context in features]  # fmt: skip
    total = sum(map(sum, odds))
    return [[one / (total if joint else sum(row)) for one in row] for row in odds]


def expectations(features, shares):
    n = len(features[0][0])
    return [
        sum(share * pair[i] for context, row in zip(features, shares, strict=True)
            for pair, share in zip(context, row, strict=True))
        for i in range(n)
    ]  # fmt: skip


def expected(features, counts, weights, joint):
    """The sum of each feature by the model, over as many events as were seen."""
    p = distribution(features, weights, joint)
    everyone = sum(map(sum, counts))
    times = [everyone if joint else sum(row) for row in counts]
    return expectations(
        features, [[one * n for one in row] for row, n in zip(p, times, strict=True)]
    )


def log_likelihood(features, counts, weights, joint):
    p = distribution(features, weights, joint)
    return sum(
        n * math.log(one)
        for row, seen in zip(p, counts, strict=True)
        for one, n in zip(row, seen, strict=True)
        if n
    )


def gis(features, counts, joint, n_iter, constant=None):
    """The weights of all features, 0 of those never seen, and last the filler's."""
    seen = expectations(features, counts)
    kept = [i for i, one in enumerate(seen) if one > 0]
    sums = [[sum(pair[i] for i in kept) for pair in context] for context in features]
    constant = constant or max(map(max, sums))
    filled = [
        [
            [pair[i] for i in kept] + [constant - total]
            for pair, total in zip(context, row, strict=True)
        ]
        for context, row in zip(features, sums, strict=True)
    ]
    target = expectations(filled, counts)
    weights = [0.0] * len(target)
    for _ in range(n_iter):
        model = expected(filled, counts, weights, joint)
        for i, (wanted, got) in enumerate(zip(target, model, strict=True)):
            if wanted > 0:
                weights[i] += math.log(wanted / got) / constant
    every = [0.0] * len(seen)
    for i, weight in zip(kept, weights[:-1], strict=True):
        every[i] = weight
    return [*every, weights[-1]]


def iis(features, counts, joint, n_iter):
    """The weights, each step the root of its equation, found by halving."""
    target = expectations(features, counts)
    weights = [0.0] * len(target)
    sums = [
        [sum(f for f, seen in zip(pair, target, strict=True) if seen > 0) for pair in context]
        for context in features
    ]
    everyone = sum(map(sum, counts))
    for _ in range(n_iter):
        p = distribution(features, weights, joint)
        steps = []
        for i, wanted in enumerate(target):

            def too_many(step, i=i, wanted=wanted, p=p):
                scaled = sum(
                    (everyone if joint else sum(counts[x]))
                    * p[x][c] * features[x][c][i] * math.exp(step * sums[x][c])
                    for x in range(len(features)) for c in range(len(counts[0]))
                )  # fmt: skip
                return scaled - wanted

            steps.append(root(too_many) if wanted > 0 else 0.0)
        weights = [weight + step for weight, step in zip(weights, steps, strict=True)]
    return weights


def root(function, low=-20.0, high=20.0):
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    return (low + high) / 2


def gain(features, counts, weights, joint, i):
    """What feature i alone adds to the log-likelihood at best, sought in ever finer steps."""
    before = log_likelihood(features, counts, weights, joint)

    def gained(step):
        changed = [w + step * (j == i) for j, w in enumerate(weights)]
        return log_likelihood(features, counts, changed, joint) - before

    low, high = -20.0, 20.0
    for _ in range(200):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (a, high) if gained(a) < gained(b) else (low, b)
    return gained((low + high) / 2)
