"""L-BFGS for loglinear models: many questions in step, or one problem of many classes."""

from __future__ import annotations

from functools import partial

import numpy as np

from thresher.learners._events import Events, Fit
from thresher.learners.scoring import run_cache_line_blocks

__all__ = ["descend"]

MEMORY = 6  # the last steps that the curvature is learned from
SUFFICIENT = 1e-4  # which part of the promised descent a step must bring
HALVINGS = 40  # after so many a step is as good as none


def descend(
    events: Events,
    kept: np.ndarray,
    weights: np.ndarray,
    precision: float,
    max_iter: int,
    tolerance: float,
) -> Fit:
    """Minimise the loss and the prior's part from `weights` on, all lanes in step.

    Directions are sums of the last steps, of the changes of the gradient and of the gradient; which
    share each has follows from their inner products alone (Chen, Wang and Zhou, Large-scale L-BFGS
    using MapReduce, 2014), so that all vectors are read twice in an iteration. When half of the
    lanes are done, the others go on alone.
    """
    pulls = np.full((len(weights), 1), precision)
    pulls[0] = 0.0
    everything = bool(kept.all())

    def value(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        expected, loss = events.model(at)
        gradient = events.expect(expected)
        gradient -= events.target
        pull = pulls * at
        gradient += pull
        if not everything:
            gradient *= kept
        return loss + 0.5 * events.pool((pull * at).sum(0)), gradient

    vectors = np.zeros((2 * MEMORY + 1, *weights.shape))
    loss, vectors[-1] = value(weights)
    products = np.zeros((len(vectors), len(vectors), len(loss)))
    places = np.arange(len(loss))  # the lanes that are still here
    nothing = np.zeros(len(loss))
    fit = Fit(weights.copy(), nothing, nothing.astype(np.int64), nothing > 0, nothing, [])
    active = np.ones(len(loss), bool)
    for turn in range(max_iter + 1):
        total = np.maximum(events.total, 1e-300)
        gaps = events.pool(np.abs(vectors[-1]).max(0, initial=0.0), np.maximum) / total
        fit.history.append((gaps, -loss))
        fit.converged[places] |= gaps <= tolerance
        active &= gaps > tolerance
        if turn == max_iter or not active.any():
            break
        if 2 * np.count_nonzero(active) <= len(active):
            fit.weights[:, places] = weights
            events, places = events.lanes(active), places[active]
            kept, weights = kept[:, active], weights[:, active].copy()
            vectors, products, loss = (
                vectors[..., active].copy(),
                products[..., active],
                loss[active],
            )
            active = active[active]
        _multiply_vectors(events, vectors, products, (turn - 1) % MEMORY)
        shares = -_two_loops(products, turn)
        slope = (products[-1] * shares).sum(0)
        size = 1.0 if turn else 1.0 / np.maximum(np.sqrt(products[-1, -1]), 1e-300)
        step = active * np.broadcast_to(size, len(loss))
        direction = _combined(events, vectors, shares)
        for _ in range(HALVINGS):
            change = step * direction
            lower, gradient = value(weights + change)
            enough = lower <= loss + SUFFICIENT * step * slope + 1e-14 * np.abs(loss)
            if enough.all():
                break
            step = np.where(enough, step, 0.5 * step)
        else:  # no lower, as far as numbers can tell
            active = active & enough
            change *= enough
            lower, gradient = value(weights + change)
        weights += change
        loss = lower
        slot = turn % MEMORY
        vectors[slot] = change
        vectors[MEMORY + slot] = gradient - vectors[-1]
        vectors[-1] = gradient
        fit.n_iter[places] += active
    fit.weights[:, places if not events.coupled else slice(None)] = weights
    return fit


def _multiply_vectors(events: Events, vectors: np.ndarray, products: np.ndarray, slot: int) -> None:
    """Put the inner products of the last step, the last change and the gradient with all."""
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
