"""Compact models: remove the data that only learning needs, and features of little weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from thresher.decisions import Decisions
from thresher.errors import DocumentError, ParameterError, counted, param
from thresher.evaluation import Evaluation, evaluate
from thresher.features import Features
from thresher.learners import Learner
from thresher.model.categories import Categories
from thresher.model.model import Model
from thresher.model.second_look import SecondLook
from thresher.model.source import LabelledSource
from thresher.parameters import Number
from thresher.rows import Labels, Rows

__all__ = ["CHANGES_ALLOWED", "Compaction", "ProbeDocuments", "compact"]

# The share of decisions that may change. On held-out training documents of 20 Newsgroups, half as
# many change, and three fifths of the features are removed.
CHANGES_ALLOWED = 0.005
SEARCH_STEPS = 200  # the search stops at a precision of this fraction of the features


@dataclass(frozen=True)
class Compaction:
    """The result of making a model smaller.

    Attributes
    ----------
    features_before, features : int
        The number of features before and after.
    halves : bool
        Whether the weights are rounded to half precision.
    documents, changed : int
        The number of test documents, and how many of their decisions changed.
    before, after : Evaluation or None
        The quality of the decisions, if the documents have labels.
    """

    features_before: int
    features: int
    halves: bool
    documents: int
    changed: int
    before: Evaluation | None = None
    after: Evaluation | None = None

    def __str__(self) -> str:
        removed = ["data that only learning needs"]
        if dropped := self.features_before - self.features:
            removed.append(f"{dropped:,} of {counted(self.features_before, 'feature')}")
        halves = "; weights are of half precision" if self.halves else ""
        sentence = f"Removed: {' and '.join(removed)}{halves}."
        if not self.documents:
            return f"{sentence} No decision changes."
        share = f" ({self.changed / self.documents:.2%})".replace("%", " %")
        verdict = f"{self.changed:,}{share}" if self.changed else "none"
        are = "are" if self.changed > 1 else "is"
        of = counted(self.documents, "document")
        return f"{sentence} Of {of}, {verdict} {are} decided differently."


class ProbeDocuments(NamedTuple):
    """Documents whose decisions are compared before and after."""

    counts: Rows
    contributions: np.ndarray | None = None  # of each document to its own scores, if it was learned
    truth: Labels | None = None
    names: Sequence[str] = ()  # of the categories of the truth

    @classmethod
    def read(cls, model: Model, source: LabelledSource, n_jobs: int) -> Self:
        """Return the counts of the documents, with their labels if they have any."""
        counts, truth = [], []
        categories = Categories(model.categories)
        for batch in source.batches("counting"):
            counts.append(model.features.count(batch.texts, n_jobs=n_jobs))
            if batch.labels is not None:
                truth.append(categories.encode(batch.labels, True, not batch.labels_are_given))
        if not counts:
            raise DocumentError("There is nothing to judge by: the source has no documents.")
        labels = Labels.concatenate(truth)._replace(n_categories=len(categories)) if truth else None
        return cls(Rows.concatenate(counts), truth=labels, names=categories.names)


def remembered_documents(model: Model) -> ProbeDocuments | None:
    """Return the remembered documents with their contributions, for held-out scores."""
    memory = model.memory
    if memory is None or not len(memory):
        return None
    everything, n_categories = range(len(memory)), model.learner.n_categories
    counts = memory.rows(everything, model.features.n_columns)
    return ProbeDocuments(counts, memory.contributions(everything, n_categories))


def compact(
    model: Model,
    source: LabelledSource | None = None,
    allow: float = CHANGES_ALLOWED,
    n_jobs: int = 1,
) -> Compaction:
    """Make a model as small as possible while at most a share of the decisions changes.

    Parameters
    ----------
    model : Model
        The model, which is changed.
    source : LabelledSource, optional
        The documents whose decisions are compared. Default: the remembered documents; if there
        are none, nothing is removed that could change a decision.
    allow : float, default=0.005
        The share of the decisions that may change.
    n_jobs : int, default=1
        The number of threads.
    """
    if source is None:
        documents = remembered_documents(model)
    else:
        documents = ProbeDocuments.read(model, source, n_jobs)
    if problem := Number(0, 1).problem(allow):
        raise ParameterError(f"{param('allow')} is {allow!r}; it must be {problem}.")
    features = model.features
    before, model.learner = model.learner, model.learner.compacted()
    n_before, keep = features.n_columns, np.ones(features.n_columns, bool)
    result = Compaction(n_before, n_before, False, 0, 0)
    if documents is not None and documents.counts.n_rows:
        trial = _Trial(features, before, model.decisions, documents, model.second_look)
        result, keep, model.learner = trial.smallest(model.learner, allow)
    if not features.is_hashed:
        features.prune(keep, with_waiting=False)
    if model.second_look is not None:
        model.second_look = model.second_look.grown(features.fields())
    model.memory = model.sample = model.tuning = None
    model.is_compacted = True
    model.forget_reader()
    return result


class _Trial:
    """Test documents, and how many of their decisions change with fewer features."""

    def __init__(
        self,
        features: Features,
        learner: Learner,
        decisions: Decisions,
        documents: ProbeDocuments,
        look: SecondLook | None = None,
    ) -> None:
        self.features, self.decisions, self.look = features, decisions, look
        self.documents, self.rows = documents, features.apply(documents.counts)
        self.scores = self._scores(learner)
        self.decided = decisions.decide(self.scores)

    def smallest(self, learner: Learner, allow: float) -> tuple[Compaction, np.ndarray, Learner]:
        """Return the result, a mask of the retained features, and the learner reduced to them.

        Features that can change a score most are retained. Their number is found by bisection.
        More features may occasionally change more decisions, but the returned number was tested.
        """
        n_documents, n_features = self.rows.n_rows, self.features.n_columns
        everything, most = np.ones(n_features, bool), int(allow * n_documents)
        best, scores = (everything, learner), self.scores
        halves, rounded = False, None
        if learner.by_feature:
            rounded = _smaller(learner, everything, 1.0, halves=True)
        if rounded is not None and self._n_changed(now := self._scores(rounded)) <= most:
            best, scores, halves = (everything, rounded), now, True
        rank = _largest_changes(self.features, learner)
        if rank is not None:
            order = np.argsort(-rank, kind="stable")
            low, high = int(np.isinf(rank).sum()) - 1, n_features
            while high - low > 1 + n_features // SEARCH_STEPS:
                middle = (low + high) // 2
                keep = np.zeros(n_features, bool)
                keep[order[:middle]] = True
                smaller, now = self._try(learner, keep, halves)
                if smaller is not None and self._n_changed(now) <= most:
                    best, scores, high = (keep, smaller), now, middle
                else:
                    low = middle
        n_changed, n_left = self._n_changed(scores), int(np.count_nonzero(best[0]))
        measured = self._evaluation(self.scores), self._evaluation(scores)
        return Compaction(n_features, n_left, halves, n_documents, n_changed, *measured), *best

    def _try(
        self, learner: Learner, keep: np.ndarray, halves: bool
    ) -> tuple[Learner | None, np.ndarray]:
        """Return the learner reduced to some features, and its scores.

        If strengths are normalised, the remaining strengths grow when features are removed; the
        weights are scaled down by the mean of these factors.
        """
        rows = self.features.narrowed(keep).apply(self.documents.counts)
        old = self.rows.values[keep[self.rows.indices]].astype(np.float64)
        shrunk = _sums(old**2, rows.indptr) / _above_zero(_sums(old * rows.values, rows.indptr))
        shrunk = shrunk[shrunk > 0]
        scale = float(shrunk.mean()) if len(shrunk) and learner.reads_strengths else 1.0
        smaller = _smaller(learner, keep, scale, halves)
        if smaller is None:
            return None, self.scores
        # The contribution of a document to its own score is proportional to its squared strengths.
        whole = _sums(self.rows.values.astype(np.float64) ** 2, self.rows.indptr)
        left = scale * _sums(old * rows.values, rows.indptr) / _above_zero(whole)
        look = None if self.look is None else self.look.grown(self.look.fields[keep])
        return smaller, self._unseen(smaller, rows, look, left[:, None])

    def _scores(self, learner: Learner) -> np.ndarray:
        return self._unseen(learner, self.rows, self.look, 1.0)

    def _unseen(
        self, learner: Learner, rows: Rows, look: SecondLook | None, left: Any
    ) -> np.ndarray:
        """Return held-out scores: without the contribution of each document to its own scores.

        `left` is the factor by which these contributions have shrunk.
        """
        scores, contributions = learner.score_rows(rows), None
        if self.documents.contributions is not None:
            contributions = np.nan_to_num(self.documents.contributions) * left
            scores = np.asarray(scores - contributions, np.float32)
        return (
            scores
            if look is None
            else look.apply(scores, rows, learner, contributions=contributions)
        )

    def _n_changed(self, scores: np.ndarray) -> int:
        """Return the number of documents decided differently from the original model."""
        return int((self.decisions.decide(scores) != self.decided).any(axis=1).sum())

    def _evaluation(self, scores: np.ndarray) -> Evaluation | None:
        """Return the quality of the decisions, if the documents have labels."""
        if self.documents.truth is None:
            return None
        decided = self.decisions.decide(scores)
        return evaluate(scores, self.documents.truth, self.documents.names, decisions=decided)


def _sums(values: np.ndarray, indptr: np.ndarray) -> np.ndarray:
    """Return the sum of each row."""
    return np.asarray(np.diff(np.append(0.0, np.cumsum(values))[indptr]))


def _above_zero(values: np.ndarray) -> np.ndarray:
    return np.where(values > 0, values, 1.0)


def _largest_changes(features: Features, learner: Learner) -> np.ndarray | None:
    """Return how much each feature can change a score; None if no feature can be removed."""
    if features.is_hashed:  # removing a column would renumber the others
        return None
    header, tensors = learner.state()
    if learner.asks_for is not None:
        rank = np.zeros(learner.n_features)
        asked = tensors[learner.asks_for]
        rank[asked[asked >= 0]] = np.inf
        rank[: header.get("n_thresholds", 0)] = np.inf  # these must keep their numbers
    elif learner.by_feature:
        weights = learner.linear_weights()
        if weights is None:
            (weights,) = (tensors[name][1:] for name in learner.by_feature)
        rank = weights.max(1, initial=0) - weights.min(1, initial=0)
    else:
        return None
    return np.where(features.are_for_concepts(), np.inf, rank)


def _smaller(learner: Learner, keep: np.ndarray, scale: float, halves: bool) -> Learner | None:
    """Return the learner reduced to some features; None if its weights exceed half precision."""
    header, tensors = learner.state()
    with_constant, narrow = np.append(True, keep), {}
    for name in set(learner.by_feature) & tensors.keys():
        tensor = tensors[name]
        narrow[name] = tensor[keep if len(tensor) == len(keep) else with_constant]
        if tensor.dtype.kind == "f":
            narrow[name][1:] *= tensor.dtype.type(scale)
            if halves:
                with np.errstate(over="ignore"):
                    narrow[name] = narrow[name].astype(np.float16).astype(tensor.dtype)
                if not np.isfinite(narrow[name]).all():
                    return None
    if learner.asks_for is not None:
        asked = tensors[learner.asks_for]
        numbers = (np.cumsum(keep) - 1)[asked].astype(asked.dtype)
        narrow[learner.asks_for] = np.where(asked >= 0, numbers, asked)
    header["n_features"] = int(np.count_nonzero(keep))
    return learner.from_state(header, tensors | narrow)
