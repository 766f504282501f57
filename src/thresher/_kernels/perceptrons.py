"""Gradient descent with momentum over sparse documents: one unit, or one hidden layer.

With momentum μ, a weight w keeps moving after the document that moved it, while its velocity v
decays. Its limit u = w + v μ/(1 - μ) does not change by that. So u and v are stored instead of w,
only documents with the feature change them, and v is updated by the power of μ for the steps since
then. The result is that of moving all weights at every step. Row 0 belongs to the bias, row `f + 1`
to feature `f`.
"""

import math
from typing import NamedTuple

import numpy as np

from thresher._kernels._jit import kernel

ONE = np.uint32(1)
DIVERGED = 1e9  # error of an output, beyond which the training is given up


class Documents(NamedTuple):
    """The training documents, visited in the order of `order`."""

    indptr: np.ndarray  # int64
    indices: np.ndarray  # uint32
    values: np.ndarray  # float32
    order: np.ndarray  # int64
    targets: np.ndarray  # float64: the targets of the output
    counts: np.ndarray  # float64: the weight of a visit to each document, at most 1


class Rule(NamedTuple):
    """The options of training."""

    rate: float
    momentum: float
    powers: np.ndarray  # of the momentum, the last of them zero
    logistic: bool  # whether the output is a probability
    tolerance: float  # the mean squared error of an epoch that ends the training
    epochs: int


@kernel
def output_of(total, logistic):
    """Return the output of a unit, given its weighted sum."""
    if not logistic:
        return total
    small = math.exp(-abs(total))  # which cannot overflow
    return (1.0 if total > 0.0 else small) / (1.0 + small)


@kernel
def train_unit(documents, rule, step, u, v, touched):
    """Train a unit without hidden layer; return the steps and the error of the last epoch.

    The error is NaN if the weights diverge. `step` counts documents from the
    start of the training, and `touched` has the step of each weight's velocity.
    """
    indptr, indices, values, order, targets, counts = documents
    rate, momentum, powers, logistic, tolerance, epochs = rule
    gain = 1.0 / (1.0 - momentum)
    ahead, last = momentum * gain, len(powers) - 1
    mean = 0.0
    for _ in range(epochs):
        squares, total_count = 0.0, 0.0
        for i in order:
            total = u[0] - ahead * v[0]
            for p in range(indptr[i], indptr[i + 1]):
                j, value = indices[p] + ONE, np.float64(values[p])
                v[j] *= powers[min(step - touched[j], last)]
                touched[j] = step + 1
                total += (u[j] - ahead * v[j]) * value
            error = targets[i] - output_of(total, logistic)
            if not abs(error) < DIVERGED:
                return step, np.nan
            squares += counts[i] * error * error
            total_count += counts[i]
            move = rate * counts[i] * error
            v[0] = momentum * v[0] + move
            u[0] += gain * move
            for p in range(indptr[i], indptr[i + 1]):
                j, value = indices[p] + ONE, np.float64(values[p])
                v[j] = momentum * v[j] + move * value
                u[j] += gain * move * value
            step += 1
        mean = squares / total_count
        if mean < tolerance:
            break
    return step, mean


@kernel
def train_network(documents, rule, step, u, v, touched, outer, outer_v, hidden):
    """Train a hidden layer of tanh units and the output; as `train_unit`, by backpropagation.

    `u` and `v` have a column for each hidden unit, `outer` the weights of the output, its bias
    last; `hidden` is scratch.
    """
    indptr, indices, values, order, targets, counts = documents
    rate, momentum, powers, logistic, tolerance, epochs = rule
    gain = 1.0 / (1.0 - momentum)
    ahead, last, n_hidden = momentum * gain, len(powers) - 1, len(hidden)
    mean = 0.0
    for _ in range(epochs):
        squares, total_count = 0.0, 0.0
        for i in order:
            for h in range(n_hidden):
                hidden[h] = u[0, h] - ahead * v[0, h]
            for p in range(indptr[i], indptr[i + 1]):
                j, value = indices[p] + ONE, np.float64(values[p])
                decay = powers[min(step - touched[j], last)]
                touched[j] = step + 1
                for h in range(n_hidden):
                    v[j, h] *= decay
                    hidden[h] += (u[j, h] - ahead * v[j, h]) * value
            total = outer[n_hidden]
            for h in range(n_hidden):
                hidden[h] = math.tanh(hidden[h])
                total += outer[h] * hidden[h]
            error = targets[i] - output_of(total, logistic)
            if not abs(error) < DIVERGED:
                return step, np.nan
            squares += counts[i] * error * error
            total_count += counts[i]
            move = rate * counts[i] * error
            outer_v[n_hidden] = momentum * outer_v[n_hidden] + move
            outer[n_hidden] += outer_v[n_hidden]
            for h in range(n_hidden):
                slope = move * outer[h] * (1.0 - hidden[h] * hidden[h])
                outer_v[h] = momentum * outer_v[h] + move * hidden[h]
                outer[h] += outer_v[h]
                hidden[h] = slope  # from here on, the step of the weights of the unit
                v[0, h] = momentum * v[0, h] + slope
                u[0, h] += gain * slope
            for p in range(indptr[i], indptr[i + 1]):
                j, value = indices[p] + ONE, np.float64(values[p])
                for h in range(n_hidden):
                    v[j, h] = momentum * v[j, h] + hidden[h] * value
                    u[j, h] += gain * hidden[h] * value
            step += 1
        mean = squares / total_count
        if mean < tolerance:
            break
    return step, mean
