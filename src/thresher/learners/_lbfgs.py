"""L-BFGS for loglinear models: many questions in step, or one problem of many classes."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from thresher.learners._events import Events, Fit
from thresher.learners.scoring import run_cache_line_blocks

MEMORY = 6  # the last steps that the curvature is learned from
SUFFICIENT = 1e-4  # the share of the promised descent that a step must bring
HALVINGS = 40  # of a step, before no descent is possible any more


class Objective(NamedTuple):
    """The loss of weights, with a Gaussian prior, and its gradient.

    Only the weights that are `free` change; `pulls` has the precision of the prior for each row.
    """

    events: Events
    free: np.ndarray
    pulls: np.ndarray

    def value(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the loss of each lane and the gradient."""
        expected, loss = self.events.model(weights)
        gradient = self.events.expect(expected)
        gradient -= self.events.target
        pull = self.pulls * weights
        gradient += pull
        if not self.free.all():
            gradient *= self.free
        return loss + 0.5 * self.events.pool((pull * weights).sum(0)), gradient

    def descend(
        self,
        weights: np.ndarray,
        loss: np.ndarray,
        direction: np.ndarray,
        slope: np.ndarray,
        step: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return a change of the weights that lowers the loss, the new loss and gradient.

        The step is halved until the loss falls. Also returned is in which lanes it does.
        """
        for _ in range(HALVINGS):
            change = step * direction
            lower, gradient = self.value(weights + change)
            falls = lower <= loss + SUFFICIENT * step * slope + 1e-14 * np.abs(loss)
            if falls.all():
                return change, lower, gradient, falls
            step = np.where(falls, step, 0.5 * step)
        change *= falls
        return change, *self.value(weights + change), falls


def descend(
    events: Events,
    free: np.ndarray,
    weights: np.ndarray,
    precision: float,
    max_iter: int,
    tolerance: float,
) -> Fit:
    """Return the weights of least loss, prior included, from `weights` on, for all lanes in step.

    Directions are sums of the last steps, of the changes of the gradient and of the gradient; the
    share of each follows from their inner products alone (Chen, Wang and Zhou, Large-scale L-BFGS
    using MapReduce, 2014), so that all vectors are read twice in an iteration. When half of the
    lanes are done, the others go on alone.
    """
    pulls = np.full((len(weights), 1), precision)
    pulls[0] = 0.0
    objective = Objective(events, free, pulls)
    vectors = np.zeros((2 * MEMORY + 1, *weights.shape))
    loss, vectors[-1] = objective.value(weights)
    products = np.zeros((len(vectors), len(vectors), len(loss)))
    lanes = np.arange(len(loss))  # those that are still here
    nothing = np.zeros(len(loss))
    fit = Fit(weights.copy(), nothing, nothing.astype(np.int64), nothing > 0, nothing, [])
    active = np.ones(len(loss), bool)
    for turn in range(max_iter + 1):
        total = np.maximum(events.total, 1e-300)
        gaps = events.pool(np.abs(vectors[-1]).max(0, initial=0.0), np.maximum) / total
        fit.history.append((gaps, -loss))
        fit.converged[lanes] |= gaps <= tolerance
        active &= gaps > tolerance
        if turn == max_iter or not active.any():
            break
        if 2 * np.count_nonzero(active) <= len(active):
            fit.weights[:, lanes] = weights
            events, lanes = events.lanes(active), lanes[active]
            objective = Objective(events, objective.free[:, active], pulls)
            weights, vectors = weights[:, active].copy(), vectors[..., active].copy()
            products, loss = products[..., active], loss[active]
            active = active[active]
        _multiply_vectors(events, vectors, products, (turn - 1) % MEMORY)
        shares = -_two_loops(products, turn)
        slope = (products[-1] * shares).sum(0)
        size = 1.0 if turn else 1.0 / np.maximum(np.sqrt(products[-1, -1]), 1e-300)
        step = active * np.broadcast_to(size, len(loss))
        direction = _combined(events, vectors, shares)
        change, loss, gradient, falls = objective.descend(weights, loss, direction, slope, step)
        active = active & falls
        weights += change
        slot = turn % MEMORY
        vectors[slot] = change
        vectors[MEMORY + slot] = gradient - vectors[-1]
        vectors[-1] = gradient
        fit.n_iter[lanes] += active
    fit.weights[:, lanes if not events.coupled else slice(None)] = weights
    return fit


def _multiply_vectors(events: Events, vectors: np.ndarray, products: np.ndarray, slot: int) -> None:
    """Compute the inner products of the last step, the last change and the gradient with all."""
    from thresher._kernels.maxent import CHUNK, multiply

    new = [slot, MEMORY + slot, len(vectors) - 1]
    n_chunks = -(-vectors.shape[1] // CHUNK)
    parts = np.empty((n_chunks, 3, len(vectors), vectors.shape[2]))
    run_cache_line_blocks(partial(multiply, vectors, *new, parts), n_chunks, events.n_jobs)
    sums = parts.sum(0)
    if events.coupled:
        sums = sums.sum(-1, keepdims=True)
    products[new] = sums
    products[:, new] = sums.swapaxes(0, 1)


def _two_loops(products: np.ndarray, turn: int) -> np.ndarray:
    """Return the share of each vector in the gradient, multiplied by the inverse curvature."""
    n_lanes = products.shape[-1]
    shares, scale = np.zeros((len(products), n_lanes)), np.ones(n_lanes)
    shares[-1] = 1.0
    slots = [t % MEMORY for t in range(max(0, turn - MEMORY), turn)]
    used = {}
    for slot in slots:
        curved, squared = products[slot, MEMORY + slot], products[MEMORY + slot, MEMORY + slot]
        usable = curved > 1e-12 * np.sqrt(squared * products[slot, slot])
        used[slot] = np.where(usable, 1.0 / np.where(usable, curved, 1.0), 0.0)
        scale = np.where(usable, curved / np.where(usable, squared, 1.0), scale)
    taken = {}
    for slot in reversed(slots):
        taken[slot] = used[slot] * (products[slot] * shares).sum(0)
        shares[MEMORY + slot] -= taken[slot]
    shares *= scale
    for slot in slots:
        shares[slot] += taken[slot] - used[slot] * (products[MEMORY + slot] * shares).sum(0)
    return shares


def _combined(events: Events, vectors: np.ndarray, shares: np.ndarray) -> np.ndarray:
    from thresher._kernels.maxent import combine

    direction = np.empty(vectors.shape[1:])
    of_lanes = np.ascontiguousarray(np.broadcast_to(shares, (len(shares), vectors.shape[2])))
    run_cache_line_blocks(
        partial(combine, vectors, of_lanes, direction), len(direction), events.n_jobs
    )
    return direction
