"""Delta rule, backpropagation and boosted units as printed: all weights move at every step."""

import math

import numpy as np


def logistic(total):
    return 1 / (1 + math.exp(-total))


def train_unit(X, order, targets, counts, rate, momentum, tolerance, epochs, is_logistic=False):
    """The weights, the bias first, and the mean squared error of the last epoch."""
    w = np.zeros(1 + len(X[0]))
    v = np.zeros_like(w)
    for _ in range(epochs):
        squares = []
        for i in order:
            x = np.array([1.0, *X[i]])
            total = w @ x
            error = targets[i] - (logistic(total) if is_logistic else total)
            squares.append(counts[i] * error**2)
            v = momentum * v + rate * counts[i] * error * x
            w = w + v
        mean = sum(squares) / sum(counts[i] for i in order)
        if mean < tolerance:
            break
    return w, mean


def train_network(X, order, targets, rate, momentum, first, outer, is_logistic=False):
    """One epoch: the first layer (features, units), the bias first, and the output's, bias last."""
    w, a = first.copy(), outer.copy()
    moved_w, moved_a = np.zeros_like(w), np.zeros_like(a)
    for i in order:
        x = np.array([1.0, *X[i]])
        hidden = np.append(np.tanh(x @ w), 1.0)
        total = a @ hidden
        error = targets[i] - (logistic(total) if is_logistic else total)
        back = error * a[:-1] * (1 - hidden[:-1] ** 2)
        moved_a = momentum * moved_a + rate * error * hidden
        moved_w = momentum * moved_w + rate * np.outer(x, back)
        w, a = w + moved_w, a + moved_a
    return w, a


def spin(D, chance):
    """The document on which the roulette wheel stops."""
    below = 0.0
    for i, share in enumerate(D):
        below += share
        if chance * sum(D) < below:
            return i
    return len(D) - 1


def boost(X, y, weights, n_rounds, generator, rate=0.2, momentum=0.5, tolerance=0.01, epochs=25):
    """The units and their alphas; y is 1 or -1."""
    D = [one / sum(weights) for one in weights]
    units, alphas = [], []
    for _ in range(n_rounds):
        order = [spin(D, chance) for chance in generator.random(len(X))]
        unit, _ = train_unit(X, order, y, [1.0] * len(X), rate, momentum, tolerance, epochs)
        says = [1 if unit @ np.array([1.0, *x]) > 0 else -1 for x in X]
        error = sum(share for share, h, truth in zip(D, says, y, strict=True) if h != truth)
        if error >= 0.5:
            break
        all_right = error == 0
        error = 1 / (2 * len(X)) if all_right else error
        alpha = math.log((1 - error) / error) / 2
        units.append(unit)
        alphas.append(alpha)
        if all_right:
            break
        D = [
            share * math.exp(-alpha if h == truth else alpha)
            for share, h, truth in zip(D, says, y, strict=True)
        ]
        D = [share / sum(D) for share in D]
    return units, alphas
