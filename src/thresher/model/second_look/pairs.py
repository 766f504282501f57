"""Documents with the categories that they may have: what is known of each such pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from thresher._kernels.second_look import N_OTHERS, OF_FIELDS, choose, describe, weigh_evidence
from thresher.errors import ModelError
from thresher.rows import Labels, Rows
from thresher.state import require_field, require_tensor

__all__ = ["MOST_CANDIDATES", "Candidates", "Pairs", "candidates_of"]

MOST_CANDIDATES = 12  # categories of a document that are looked at; 8 or 20 are as good, by folds
STEPS = 30  # of Newton's method; a dozen are enough
LARGEST = 1e15  # what can be read from a model file


class Candidates(NamedTuple):
    """The categories that documents may have, the best first, and what their words say of them."""

    numbers: np.ndarray  # int32 (documents, candidates)
    evidence: np.ndarray  # float32 (documents, candidates, kinds of it); none where words add none

    def take(self, documents: np.ndarray) -> Candidates:
        """Return those of some documents."""
        return Candidates(self.numbers[documents], self.evidence[documents])

    @staticmethod
    def concatenate(parts: Sequence[Candidates]) -> Candidates:
        """Return those of documents one below the other."""
        if not parts:
            return Candidates(np.zeros((0, 0), np.int32), np.zeros((0, 0, 0), np.float32))
        return Candidates(*map(np.concatenate, zip(*parts, strict=True)))


def candidates_of(
    scores: np.ndarray,
    rows: Rows,
    learner: Any,
    fields: np.ndarray,
    n_fields: int,
    n_known: int | None = None,
    own: np.ndarray | None = None,
) -> Candidates:
    """Return the best categories of documents, and what the documents' words add to each.

    Parameters
    ----------
    scores : array of float32 (documents, categories)
        What the learner gives.
    rows : Rows
        The documents' strengths.
    learner : Learner
        What gave the scores, for its weights.
    fields : array of uint8
        For each column, 0 or one more than the number of the field whose word it is.
    n_fields : int
        How many fields there are.
    n_known : int, optional
        How many categories there are to choose from, the first ones. Default: all.
    own : array (documents, categories), optional
        What the documents have added to their own scores, which were taken off these already.
    """
    n_known = scores.shape[1] if n_known is None else n_known
    numbers = np.zeros((len(scores), min(MOST_CANDIDATES, n_known)), np.int32)
    choose(scores, n_known, numbers)
    weights, _ = learner.plain_weights() or (None, None)
    n_kinds = 0 if weights is None else OF_FIELDS + n_fields
    evidence = np.zeros((*numbers.shape, n_kinds), np.float32)
    if weights is not None:
        added = np.zeros(numbers.shape, np.float32)
        if own is not None:
            added = np.take_along_axis(own, numbers, 1).astype(np.float32)
        places = rows.indptr, rows.indices, rows.values
        weigh_evidence(*places, weights, fields, numbers, added, evidence)
    return Candidates(numbers, evidence)


@dataclass(frozen=True, eq=False)
class Pairs:
    """What is known of categories, by which a pair of a document and a category is described.

    Attributes
    ----------
    total : float
        How many documents there were.
    positives : array of float64 (categories,)
        How many had each category.
    indptr, others, both : arrays of int64, int32 and float64
        For each category the others that it was met with, in their order, and how often.
    scale : float
        The mean size of a score.
    slope : float
        How much more probable a category is where its score is higher: of the logarithm of its
        odds, for a score of the mean size.
    offsets : array of float64 (categories,)
        The logarithm of the odds where the score is zero.
    """

    total: float
    positives: np.ndarray
    indptr: np.ndarray
    others: np.ndarray
    both: np.ndarray
    scale: float
    slope: float
    offsets: np.ndarray

    @property
    def n_categories(self) -> int:
        """How many categories are known."""
        return len(self.positives)

    @classmethod
    def fit(
        cls, scores: np.ndarray, numbers: np.ndarray, labels: Labels, weights: np.ndarray
    ) -> Self:
        """Learn from documents that were not learned from.

        Parameters
        ----------
        scores : array (documents, categories)
            Their scores.
        numbers : array of int32 (documents, candidates)
            Their candidates.
        labels : Labels
            The categories that they have.
        weights : array (documents,)
            How many documents each stands for.
        """
        positives = np.bincount(
            labels.indices, np.repeat(weights, np.diff(labels.indptr)), labels.n_categories
        )
        scale = float(np.abs(scores).mean(dtype=np.float64)) or 1.0
        mine = np.take_along_axis(scores, numbers, 1) / scale
        slope, offsets = _odds(mine, numbers, are_of(numbers, labels), weights, positives)
        counts = _met_together(labels, weights)
        return cls(float(weights.sum()), positives, *counts, scale, slope, offsets)

    def describe(self, scores: np.ndarray, candidates: Candidates) -> np.ndarray:
        """Return what is known of each pair: float32 (documents, candidates, facts)."""
        numbers, evidence = candidates
        out = np.empty((*numbers.shape, 1 + evidence.shape[2] + N_OTHERS), np.float32)
        describe(
            scores, numbers, evidence, self.scale, self.slope, self.offsets, self.positives,
            self.total, self.indptr, self.others, self.both, out,
        )  # fmt: skip
        return out

    def given(self, k: int, j: int) -> float:
        """Return in which share of the documents of a category another one was met too."""
        row = slice(*self.indptr[j : j + 2])
        place = np.flatnonzero(self.others[row] == k)
        n_both = float(self.both[row][place].sum())
        return n_both / self.positives[j] if self.positives[j] else 0.0

    @staticmethod
    def n_facts(n_fields: int | None) -> int:
        """Return how many facts describe a pair; None is for documents without evidence."""
        return 1 + (0 if n_fields is None else OF_FIELDS + n_fields) + N_OTHERS

    def renumbered(self, numbers: np.ndarray, n: int) -> Self:
        """Return the same for other numbers of categories, `n` of them, -1 for one that is gone.

        Of two that have one number now, the documents are added up; those of both are counted
        twice.
        """
        kept = numbers >= 0
        positives = np.bincount(numbers[kept], self.positives[kept], n)
        offsets = np.zeros(n)
        offsets[numbers[kept][::-1]] = self.offsets[kept][::-1]
        rows = np.repeat(numbers, np.diff(self.indptr))
        columns, both = numbers[self.others], self.both
        inside = (rows >= 0) & (columns >= 0) & (rows != columns)
        indptr, others, both = _counted(rows[inside], columns[inside], both[inside], n)
        return replace(
            self, positives=positives, offsets=offsets, indptr=indptr, others=others, both=both
        )

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return what a model file keeps: a header and tensors."""
        names = ("positives", "indptr", "others", "both", "offsets")
        header = {name: getattr(self, name) for name in ("total", "scale", "slope")}
        return header, {name: getattr(self, name) for name in names}

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Return the pairs that `state` was taken from, with everything checked."""
        total = require_field(header, "total", float, low=0, high=LARGEST)
        scale = require_field(header, "scale", float, low=1e-30, high=LARGEST)
        slope = require_field(header, "slope", float, low=-LARGEST, high=LARGEST)
        limits: Any = {"low": 0, "high": LARGEST, "finite": True}
        positives = require_tensor(tensors, "positives", np.float64, (None,), **limits)
        n = len(positives)
        indptr = require_tensor(tensors, "indptr", np.int64, (n + 1,))
        others = require_tensor(tensors, "others", np.int32, (None,))
        both = require_tensor(tensors, "both", np.float64, others.shape, **limits)
        offsets = require_tensor(
            tensors, "offsets", np.float64, (n,), low=-LARGEST, high=LARGEST, finite=True
        )
        ends = indptr[0] == 0 and indptr[-1] == len(others) and (np.diff(indptr) >= 0).all()
        if not ends or (len(others) and (others.min() < 0 or others.max() >= n)):
            raise ModelError("The second look's counts of categories are damaged; train it again.")
        return cls(total, positives, indptr, others, both, scale, slope, offsets)


def are_of(numbers: np.ndarray, labels: Labels) -> np.ndarray:
    """Return which of the candidates are categories of their documents."""
    return np.take_along_axis(labels.to_dense(), numbers, 1)


def _odds(
    scores: np.ndarray,
    numbers: np.ndarray,
    truth: np.ndarray,
    weights: np.ndarray,
    positives: np.ndarray,
) -> tuple[float, np.ndarray]:
    """Return a slope for all and an offset of each category, by which scores are probabilities.

    Offsets of categories with few documents stay near to those of the others.
    """
    n, slope, offsets = len(positives), 1.0, np.full(len(positives), -2.0)
    flat, each = numbers.ravel(), np.broadcast_to(weights[:, None], scores.shape)
    for _ in range(STEPS):
        middle = np.average(offsets, weights=positives + 1)
        missing, curve = _surprise(slope * scores + offsets[numbers], truth, each)
        up = np.bincount(flat, missing.ravel(), n) - (offsets - middle)
        offsets = offsets + np.clip(up / (np.bincount(flat, curve.ravel(), n) + 1), -1, 1)
        missing, curve = _surprise(slope * scores + offsets[numbers], truth, each)
        steeper = (missing * scores).sum() / ((curve * scores**2).sum() + 1e-9)
        slope += float(np.clip(steeper, -0.5, 0.5))
    return slope, offsets


def _surprise(
    logits: np.ndarray, truth: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and second derivatives of the logarithm of the likelihood."""
    probability = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
    return (truth - probability) * weights, probability * (1 - probability) * weights


def _met_together(labels: Labels, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each category the others that documents had too, and how many had."""
    sizes = np.diff(labels.indptr)
    times = np.repeat(sizes, sizes)  # each label is beside as many
    first = np.repeat(labels.indices, times)
    starts = np.repeat(np.repeat(labels.indptr[:-1], sizes), times)
    within = np.arange(len(first)) - np.repeat(np.cumsum(times) - times, times)
    second = labels.indices[starts + within]
    each = np.repeat(np.repeat(weights, sizes), times)
    differ = first != second
    return _counted(first[differ], second[differ], each[differ], labels.n_categories)


def _counted(
    rows: np.ndarray, columns: np.ndarray, counts: np.ndarray, n: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return sparse rows in which each column stands once, in order, with the sum of its counts."""
    keys, places = np.unique(rows.astype(np.int64) * max(1, n) + columns, return_inverse=True)
    sums = np.bincount(places.ravel(), counts, len(keys)).astype(np.float64)
    indptr = np.searchsorted(keys, np.arange(n + 1) * max(1, n)).astype(np.int64)
    return indptr, (keys % max(1, n)).astype(np.int32), sums
