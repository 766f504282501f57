"""Naive Bayes, Rocchio and the majority class, one document and one feature at a time."""

import math


def likelihood(model, documents, weights, n_features, alpha):
    """The logarithms of the probabilities of the features, and of their absence, as a function."""
    if model == "multinomial":
        totals = [sum(w * x[j] for x, w in zip(documents, weights, strict=True))
                  for j in range(n_features)]  # fmt: skip
        below = sum(totals) + alpha * n_features
        return lambda x: sum(
            x[j] * math.log((totals[j] + alpha) / below) for j in range(n_features) if x[j]
        )
    there = [sum(w * (x[j] > 0) for x, w in zip(documents, weights, strict=True))
             for j in range(n_features)]  # fmt: skip
    probable = [(one + alpha) / (sum(weights) + 2 * alpha) for one in there]
    return lambda x: sum(
        math.log(p if value > 0 else 1 - p) for p, value in zip(probable, x, strict=True)
    )


def log_odds(model, X, lists, weights, alpha, compete, x, n_categories):
    """The log-odds of each category for the document `x`."""
    n_features = len(x)

    def joint(chosen):
        documents, own = [X[i] for i in chosen], [weights[i] for i in chosen]
        prior = max(sum(own), 0.5) / sum(weights)
        return math.log(prior) + likelihood(model, documents, own, n_features, alpha)(x)

    everyone = range(len(X))
    inside = [joint([i for i in everyone if k in lists[i]]) for k in range(n_categories)]
    scores = []
    for k in range(n_categories):
        if compete:
            against = math.log(sum(math.exp(one) for j, one in enumerate(inside) if j != k))
        else:
            against = joint([i for i in everyone if k not in lists[i]])
        scores.append(inside[k] - against)
    return scores


def unit(x):
    length = math.sqrt(sum(value**2 for value in x)) or 1.0
    return [value / length for value in x]


def rocchio(X, lists, weights, beta, gamma, cut, x, category):
    """The score of one category for the document `x`."""
    documents = [unit(one) for one in X]

    def mean(chosen):
        total = sum(weights[i] for i in chosen)
        return [sum(weights[i] * documents[i][j] for i in chosen) / (total or 1.0)
                for j in range(len(x))]  # fmt: skip

    positive = mean([i for i in range(len(X)) if category in lists[i]])
    negative = mean([i for i in range(len(X)) if category not in lists[i]])
    prototype = [beta * p - gamma * n for p, n in zip(positive, negative, strict=True)]
    prototype = unit([max(0.0, one) if cut else one for one in prototype])

    def cosine(one):
        return sum(a * b for a, b in zip(prototype, one, strict=True))

    return cosine(unit(x)) - (cosine(positive) + cosine(negative)) / 2


def prior_log_odds(lists, weights, category):
    """The log-odds of one category for any document."""
    inside = sum(w for own, w in zip(lists, weights, strict=True) if category in own)
    outside = sum(w for own, w in zip(lists, weights, strict=True) if category not in own)
    return math.log(max(inside, 0.5) / max(outside, 0.5))
