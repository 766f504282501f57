"""Pairs of a document and a candidate category, and the features that describe them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from thresher._kernels.second_look import N_OTHERS, OF_FIELDS, choose, describe, weigh_evidence
from thresher.errors import ModelError
from thresher.rows import Labels, Rows
from thresher.state import require_field, require_tensor

MOST_CANDIDATES = 12  # categories of a document; 8 or 20 are as good, by cross-validation
STEPS = 30  # of Newton's method; a dozen are enough
LARGEST = 1e15  # number of a model file


class Candidates(NamedTuple):
    """The candidate categories of documents, the best first, and the evidence of the words."""

    numbers: np.ndarray  # int32 (documents, candidates)
    evidence: np.ndarray  # float32 (documents, candidates, kinds of evidence)

    def take(self, documents: np.ndarray) -> Candidates:
        """Return the candidates of some documents."""
        return Candidates(self.numbers[documents], self.evidence[documents])

    @staticmethod
    def concatenate(blocks: Sequence[Candidates]) -> Candidates:
        """Return the candidates of all documents, in order."""
        if not blocks:
            return Candidates(np.zeros((0, 0), np.int32), np.zeros((0, 0, 0), np.float32))
        return Candidates(*map(np.concatenate, zip(*blocks, strict=True)))


def candidates_of(
    scores: np.ndarray,
    rows: Rows,
    learner: Any,
    fields: np.ndarray,
    n_fields: int,
    n_known: int | None = None,
    contributions: np.ndarray | None = None,
) -> Candidates:
    """Return the best categories of documents, and the evidence of the words for each.

    Parameters
    ----------
    scores : array of float32 (documents, categories)
        The scores of the learner.
    rows : Rows
        The strengths of the documents.
    learner : Learner
        The learner, whose weights are used.
    fields : array of uint8
        1 + the number of the field whose words each column counts, or 0 for no field.
    n_fields : int
        The number of fields.
    n_known : int, optional
        The number of categories to choose from, which are the first ones. Default: all.
    contributions : array (documents, categories), optional
        The part of the scores that the learner owes to having learned the documents themselves. It
        is subtracted from the evidence; `scores` are without it already.
    """
    n_known = scores.shape[1] if n_known is None else n_known
    numbers = np.zeros((len(scores), min(MOST_CANDIDATES, n_known)), np.int32)
    choose(scores, n_known, numbers)
    weights, _ = learner.plain_weights() or (None, None)
    n_kinds = 0 if weights is None else OF_FIELDS + n_fields
    evidence = np.zeros((*numbers.shape, n_kinds), np.float32)
    if weights is not None:
        added = np.zeros(numbers.shape, np.float32)
        if contributions is not None:
            added = np.take_along_axis(contributions, numbers, 1).astype(np.float32)
        weigh_evidence(*rows[:3], weights, fields, numbers, added, evidence)
    return Candidates(numbers, evidence)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Statistics of categories, from which the features of pairs are computed.

    Attributes
    ----------
    total : float
        The number of documents.
    positives : array of float64 (categories,)
        The number of documents of each category.
    indptr, others, both : arrays of int64, int32 and float64
        Sparse rows: for each category, the categories that occur with it, ascending, and in how
        many documents.
    scale : float
        The mean absolute value of a score.
    slope, offsets : float, array of float64 (categories,)
        The log-odds of a category are slope * score / scale + offset.
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
        """The number of categories."""
        return len(self.positives)

    @classmethod
    def fit(
        cls, scores: np.ndarray, numbers: np.ndarray, labels: Labels, weights: np.ndarray
    ) -> Self:
        """Return the statistics of documents that the learner was not trained on.

        Parameters
        ----------
        scores : array (documents, categories)
            The scores.
        numbers : array of int32 (documents, candidates)
            The candidates.
        labels : Labels
            The labels.
        weights : array (documents,)
            The number of documents that each represents.
        """
        positives = np.bincount(
            labels.indices, np.repeat(weights, np.diff(labels.indptr)), labels.n_categories
        )
        scale = float(np.abs(scores).mean(dtype=np.float64)) or 1.0
        scaled = np.take_along_axis(scores, numbers, 1) / scale
        slope, offsets = _odds(scaled, numbers, are_of(numbers, labels), weights, positives)
        counts = _cooccurrences(labels, weights)
        return cls(float(weights.sum()), positives, *counts, scale, slope, offsets)

    def describe(self, scores: np.ndarray, candidates: Candidates) -> np.ndarray:
        """Return the features of each pair: float32 (documents, candidates, features)."""
        numbers, evidence = candidates
        out = np.empty((*numbers.shape, 1 + evidence.shape[2] + N_OTHERS), np.float32)
        describe(
            scores, numbers, evidence, self.scale, self.slope, self.offsets, self.positives,
            self.total, self.indptr, self.others, self.both, out,
        )  # fmt: skip
        return out

    def given(self, k: int, j: int) -> float:
        """Return the share of the documents of category `j` that have category `k` too."""
        row = slice(*self.indptr[j : j + 2])
        n_both = float(self.both[row][self.others[row] == k].sum())
        return n_both / self.positives[j] if self.positives[j] else 0.0

    @staticmethod
    def n_facts(n_fields: int | None) -> int:
        """Return the number of features of a pair; None stands for pairs without evidence."""
        return 1 + (0 if n_fields is None else OF_FIELDS + n_fields) + N_OTHERS

    def renumbered(self, numbers: np.ndarray, n: int) -> Self:
        """Return the statistics of renumbered categories, `n` of them; -1 marks a removed one.

        For two categories with the same new number, the documents are added up; those that have
        both count twice.
        """
        remains = numbers >= 0
        positives = np.bincount(numbers[remains], self.positives[remains], n)
        offsets = np.zeros(n)
        offsets[numbers[remains][::-1]] = self.offsets[remains][::-1]
        rows = np.repeat(numbers, np.diff(self.indptr))
        columns, both = numbers[self.others], self.both
        inside = (rows >= 0) & (columns >= 0) & (rows != columns)
        indptr, others, both = _counted(rows[inside], columns[inside], both[inside], n)
        return replace(
            self, positives=positives, offsets=offsets, indptr=indptr, others=others, both=both
        )

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the header and the tensors of the model file."""
        names = ("positives", "indptr", "others", "both", "offsets")
        header = {name: getattr(self, name) for name in ("total", "scale", "slope")}
        return header, {name: getattr(self, name) for name in names}

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Return the statistics that `state` described, checked."""
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
    """Return which candidates are correct."""
    return np.take_along_axis(labels.to_dense(), numbers, 1)


def _odds(
    scores: np.ndarray,
    numbers: np.ndarray,
    truth: np.ndarray,
    weights: np.ndarray,
    positives: np.ndarray,
) -> tuple[float, np.ndarray]:
    """Return a slope, and an offset of each category, that turn scores into log-odds.

    The offsets of categories with few documents are near the mean offset.
    """
    n, slope, offsets = len(positives), 1.0, np.full(len(positives), -2.0)
    flat, each = numbers.ravel(), np.broadcast_to(weights[:, None], scores.shape)
    for _ in range(STEPS):
        mean = np.average(offsets, weights=positives + 1)
        gradient, curvature = _derivatives(slope * scores + offsets[numbers], truth, each)
        step = np.bincount(flat, gradient.ravel(), n) - (offsets - mean)
        step /= np.bincount(flat, curvature.ravel(), n) + 1
        offsets = offsets + np.clip(step, -1, 1)
        gradient, curvature = _derivatives(slope * scores + offsets[numbers], truth, each)
        slope_step = (gradient * scores).sum() / ((curvature * scores**2).sum() + 1e-9)
        slope += float(np.clip(slope_step, -0.5, 0.5))
    return slope, offsets


def _derivatives(
    logits: np.ndarray, truth: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and the negative second derivatives of the log likelihood."""
    probability = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
    return (truth - probability) * weights, probability * (1 - probability) * weights


def _cooccurrences(
    labels: Labels, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the categories that occur with each category, and in how many documents."""
    sizes = np.diff(labels.indptr)
    times = np.repeat(sizes, sizes)  # the number of labels of the same document
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
    """Return sparse rows with ascending columns, each with the sum of its counts."""
    keys, inverse = np.unique(rows.astype(np.int64) * max(1, n) + columns, return_inverse=True)
    sums = np.bincount(inverse.ravel(), counts, len(keys)).astype(np.float64)
    indptr = np.searchsorted(keys, np.arange(n + 1) * max(1, n)).astype(np.int64)
    return indptr, (keys % max(1, n)).astype(np.int32), sums
