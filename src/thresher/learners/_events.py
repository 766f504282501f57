"""Observed events of features, contexts and classes, and their distribution given weights.

If each feature is a measurement of the context for one class, all classes share one matrix of
contexts, and there is a lane of weights for each class, or for each category with a separate
question. If features are arbitrary functions of both, a row of the matrix is a pair of context and
class, and there is one lane. Weights are feature-major; row 0 belongs to the always-on feature.
"""

from __future__ import annotations

from copy import copy
from functools import partial
from typing import NamedTuple

import numpy as np

from thresher.learners._columns import by_columns
from thresher.learners.scoring import run_cache_line_blocks
from thresher.rows import Rows

LOWEST = -700.0  # log-odds below which e^-x would overflow


class Documents:
    """Sparse rows, and the same entries by columns; column 0 is the always-on feature."""

    def __init__(self, rows: Rows, always_on: bool) -> None:
        n, dtype = rows.n_rows, rows.values.dtype
        self.rows, self.has_always_on = rows, always_on
        self.always_on = np.full(n, always_on, dtype)
        first = np.arange(n * always_on, dtype=np.int32)
        constant = Rows(np.array([0, len(first)]), first, np.ones(len(first), dtype), n)
        self.columns = Rows.concatenate([constant, by_columns(rows)])

    def keep(self, mask: np.ndarray) -> Documents:
        """Return the documents with only the features of a mask."""
        return Documents(self.rows.keep(mask), self.has_always_on)

    def weigh(self, weights: np.ndarray, n_jobs: int) -> np.ndarray:
        """Return the weighted sums of the documents in all lanes, after an unused row."""
        sums = np.zeros((1 + self.rows.n_rows, weights.shape[1]))
        _multiply(self.rows, self.always_on, weights, sums[1:], n_jobs)
        return sums

    def add(self, amounts: np.ndarray, n_jobs: int) -> np.ndarray:
        """Return for each feature Σ strength · amount over the documents; row 0 is unused."""
        sums = np.empty((self.columns.n_rows, amounts.shape[1]))
        _multiply(self.columns, np.zeros(len(sums), self.always_on.dtype), amounts, sums, n_jobs)
        return sums


def _multiply(rows: Rows, first: np.ndarray, matrix: np.ndarray, out: np.ndarray, n: int) -> None:
    from thresher._kernels.scoring import score_documents

    arrays = rows.indptr, rows.indices.view(np.uint32), rows.values, first, matrix, out
    run_cache_line_blocks(partial(score_documents, *arrays), rows.n_rows, n)


class Events:
    """The observed events, and their distribution given weights.

    Parameters
    ----------
    documents : Documents
        A row per context, or per pair of context and class.
    counts : array (contexts, classes)
        The observations of each class in each context; of a separate lane, those of "yes".
    mass : array (contexts, classes or 1)
        The observations of each context.
    joint : bool
        Whether contexts are random too, among the given ones, or only classes.
    coupled : bool
        Whether the classes compete; if not, each lane is a binary question.
    """

    def __init__(
        self,
        documents: Documents,
        counts: np.ndarray,
        mass: np.ndarray,
        *,
        joint: bool,
        coupled: bool,
        n_jobs: int = 1,
    ) -> None:
        self.documents, self.mass, self.n_jobs = documents, mass, n_jobs
        self.joint, self.coupled, self.shape = joint, coupled, counts.shape
        self.n_lanes = counts.size // max(1, documents.rows.n_rows) or counts.shape[1]
        self.total = np.broadcast_to(mass.sum(0), 1 if coupled else self.n_lanes)
        padded = np.zeros((1 + documents.rows.n_rows, self.n_lanes))
        padded[1:] = counts.reshape(-1, self.n_lanes)
        self.target = self.expect(padded)

    def keep(self, mask: np.ndarray) -> Events:
        """Return the events with only the features of a mask, whose row 0 is true."""
        events = copy(self)
        events.documents, events.target = self.documents.keep(mask[1:]), self.target[mask]
        return events

    def lanes(self, chosen: np.ndarray) -> Events:
        """Return the events of some lanes, which are separate questions."""
        events, n = copy(self), int(np.count_nonzero(chosen))
        if self.mass.shape[1] > 1:
            events.mass = self.mass[:, chosen].copy()
        events.target, events.total = self.target[:, chosen].copy(), self.total[chosen]
        events.shape, events.n_lanes = (self.shape[0], n), n
        return events

    def pool(self, sums: np.ndarray, how: np.ufunc = np.add) -> np.ndarray:
        """Return numbers per lane, or a single number for all lanes that compete."""
        return how.reduce(sums, keepdims=True) if self.coupled else sums

    def expect(self, expected: np.ndarray) -> np.ndarray:
        """Return the sum of each feature over events with these expected numbers."""
        return self.documents.add(expected, self.n_jobs)

    def sums(self, free: np.ndarray) -> np.ndarray:
        """Return Σf of each event (with "yes"), over the free features."""
        return self.documents.weigh(free.astype(np.float64), self.n_jobs)[1:]

    def model(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the expected number of each event, padded for `expect`, and -log-likelihood."""
        padded = self.documents.weigh(weights, self.n_jobs)
        logits = padded[1:].reshape(self.shape)
        if self.coupled:
            axis = None if self.joint else 1
            highest = logits.max(axis, keepdims=True, initial=-np.inf if logits.size else 0.0)
            odds = np.exp(logits - highest)
            sums = odds.sum(axis, keepdims=True)
            mass = self.total if self.joint else self.mass
            logits[:] = odds * (mass / sums)
            loss = (mass * (np.log(sums) + highest)).sum(keepdims=True).reshape(1)
        elif self.joint:
            is_seen = self.mass > 0
            highest = np.maximum(logits.max(0, initial=0.0), 0.0)
            odds = np.exp(logits - highest) * is_seen
            sums = (odds + is_seen * np.exp(-highest)).sum(0)
            logits[:] = odds * (self.total / sums)
            loss = self.total * (np.log(sums) + highest)
        else:
            np.maximum(logits, LOWEST, out=logits)
            sums = np.exp(-logits)
            sums += 1.0
            loss = (self.mass * (logits + np.log(sums))).sum(0)
            np.divide(self.mass, sums, out=logits)
        return padded, loss - self.pool((self.target * weights).sum(0))

    def gains(self, weights: np.ndarray, candidates: np.ndarray, precision: float) -> np.ndarray:
        """Return how much each candidate alone would raise the log-likelihood, except in row 0."""
        from thresher._kernels.maxent import weigh_candidates

        expected, columns = self.model(weights)[0][1:], self.documents.columns
        mass = np.broadcast_to(self.total if self.joint else self.mass, expected.shape)
        gains = np.full(weights.shape, -np.inf)
        arrays = columns.indptr, columns.indices.view(np.uint32), columns.values, expected
        rule = np.ascontiguousarray(mass), self.joint, self.target, candidates, precision, gains
        weigh = partial(weigh_candidates, *arrays, *rule)
        run_cache_line_blocks(weigh, len(gains), self.n_jobs, first=1)
        return gains


class Fit(NamedTuple):
    """Fitted weights and figures of the fit, per lane or for all lanes together."""

    weights: np.ndarray  # (1 + features, lanes)
    fillers: np.ndarray  # log α of the filler feature
    n_iter: np.ndarray
    converged: np.ndarray
    constants: np.ndarray  # C, for scaling
    history: list[tuple[np.ndarray, np.ndarray]]  # largest difference, log-likelihood
