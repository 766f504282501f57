"""A smaller model: without what only learning needs, and without what decides nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from thresher.decisions import Decisions
from thresher.errors import ParameterError, counted
from thresher.evaluation import Evaluation, evaluate
from thresher.features import Features
from thresher.learners import Learner
from thresher.parameters import Number
from thresher.rows import Labels, Rows
from thresher.training import Stations

__all__ = ["ALLOWED", "Compaction", "Judges", "compact", "remembered"]

# The share of decisions that may change: by documents held out of 20 Newsgroups, three fifths of
# the features can go for it; with half of it the model is a third larger.
ALLOWED = 0.005
STEPS = 200  # of all features, in which as few as will do are looked for


@dataclass(frozen=True)
class Compaction:
    """What came of making a model smaller.

    Attributes
    ----------
    features_before, features : int
        How many features it had, and has.
    halves : bool
        Whether its weights are rounded to half precision.
    documents, changed : int
        By how many documents that was judged, and how many of them are decided otherwise.
    before, after : Evaluation or None
        How well it decides them, where they have labels and were not remembered.
    """

    features_before: int
    features: int
    halves: bool
    documents: int
    changed: int
    before: Evaluation | None = None
    after: Evaluation | None = None

    def __str__(self) -> str:
        left_out = ["what only learning needs"]
        if dropped := self.features_before - self.features:
            left_out.append(f"{dropped:,} of {counted(self.features_before, 'feature')}")
        halves = "; weights are of half precision" if self.halves else ""
        sentence = f"Left out: {' and '.join(left_out)}{halves}."
        if not self.documents:
            return f"{sentence} No decision changes."
        share = f"{self.changed / self.documents:.2%}".replace("%", " %")
        are = "is" if self.changed == 1 else "are"
        return (
            f"{sentence} Of {counted(self.documents, 'document')}, {self.changed:,} ({share}) "
            f"{are} decided otherwise."
        )


class Judges(NamedTuple):
    """The documents whose decisions are to stay as they are."""

    counts: Rows
    own: np.ndarray | None = None  # what each has added to its own scores, where it was learned
    truth: Labels | None = None
    names: Sequence[str] = ()  # of the categories of the truth


def remembered(stations: Stations) -> Judges | None:
    """Return the documents that a model remembers, to be taken as if it had not learned them."""
    memory = stations.memory
    if memory is None or not len(memory):
        return None
    places, n = range(len(memory)), stations.learner.n_categories
    return Judges(memory.rows(places, stations.features.n_columns), memory.own(places, n))


def compact(stations: Stations, judges: Judges | None, allow: float = ALLOWED) -> Compaction:
    """Make a model as small as it can be while at most a share of the judges' decisions changes.

    Parameters
    ----------
    stations : Stations
        The model, which is changed.
    judges : Judges or None
        The documents; without any, nothing is left out that could change a decision.
    allow : float, default=0.005
        The share of them that may be decided otherwise.
    """
    if problem := Number(0, 1).problem(allow):
        raise ParameterError(f"allow is {allow!r}; it must be {problem}.")
    features, before = stations.features, stations.learner
    learner = before.compacted()
    keep = np.ones(features.n_columns, bool)
    halves, changed, n_documents, measured = False, 0, 0, (None, None)
    if judges is not None and judges.counts.n_rows:
        n_documents = judges.counts.n_rows
        trial = _Trial(features, before, stations.decisions, judges)
        most = int(allow * n_documents)
        halved = _halved(learner)
        if halved is not None and (n := trial.changed(halved, keep)) <= most:
            learner, halves, changed = halved, True, n
        rank = _leverage(features, learner)
        if rank is not None:
            keep, changed = _fewest(trial, learner, rank, most, changed)
        if judges.truth is not None:
            measured = trial.measured(before, trial.everything), trial.measured(learner, keep)
    if not features.is_hashed:
        features.prune(keep, with_waiting=False)
    stations.learner = _narrowed(learner, keep)
    stations.memory = stations.sample = stations.tuning = None
    stations.is_compacted = True
    return Compaction(len(keep), int(keep.sum()), halves, n_documents, changed, *measured)


class _Trial:
    """Documents, how they are decided, and what of that changes with other features."""

    def __init__(
        self, features: Features, learner: Learner, decisions: Decisions, judges: Judges
    ) -> None:
        self.features, self.decisions, self.judges = features, decisions, judges
        self.rows = features.apply(judges.counts)
        self.everything = np.ones(features.n_columns, bool)
        self.before = self._decided(learner, self.everything)

    def changed(self, learner: Learner, keep: np.ndarray) -> int:
        """Return how many documents are decided otherwise by a learner of some of the features."""
        return int((self._decided(learner, keep) != self.before).any(axis=1).sum())

    def measured(self, learner: Learner, keep: np.ndarray) -> Evaluation:
        """Return how well a learner of some of the features decides."""
        scores, truth = self._scores(learner, keep), self.judges.truth
        assert truth is not None
        decided = self.decisions.decide(scores)
        return evaluate(scores, truth, self.judges.names, decisions=decided)

    def _decided(self, learner: Learner, keep: np.ndarray) -> np.ndarray:
        return self.decisions.decide(self._scores(learner, keep))

    def _scores(self, learner: Learner, keep: np.ndarray) -> np.ndarray:
        """Return the scores of the documents as if they had not been learned."""
        if keep.all():
            rows = self.rows
        else:
            rows = self.features.narrowed(keep).apply(self.judges.counts)
            learner = _narrowed(learner, keep)
        scores = learner.score_rows(rows)
        if self.judges.own is not None:
            scores -= np.nan_to_num(self.judges.own) * self._own_share(rows, keep)[:, None]
        return scores

    def _own_share(self, rows: Rows, keep: np.ndarray) -> np.ndarray:
        """Return what is left of that which documents have added to their own scores.

        They added in proportion to their strengths, and so much of it as they are strong now counts.
        """
        old = self.rows.values.astype(np.float64)
        now = np.append(0, np.cumsum(old[keep[self.rows.indices]] * rows.values))[rows.indptr]
        before = np.append(0, np.cumsum(old**2))[self.rows.indptr]
        whole = np.diff(before)
        return (np.diff(now) / np.where(whole > 0, whole, 1)).astype(np.float32)


def _leverage(features: Features, learner: Learner) -> np.ndarray | None:
    """Return how far each feature can move a score; None where none can be left out."""
    if features.is_hashed:  # the columns have to stay where they are
        return None
    header, tensors = learner.state()
    if learner.asks_for is not None:
        rank = np.zeros(learner.n_features)
        asked = tensors[learner.asks_for]
        rank[asked[asked >= 0]] = np.inf
        rank[: header.get("n_thresholds", 0)] = np.inf  # they are known by their place
    elif learner.by_feature:
        weights = learner.linear_weights()
        if weights is None:
            (weights,) = (tensors[name][1:] for name in learner.by_feature)
        rank = weights.max(1, initial=0) - weights.min(1, initial=0)
    else:
        return None
    return np.where(features.are_for_concepts(), np.inf, rank)


def _fewest(
    trial: _Trial, learner: Learner, rank: np.ndarray, most: int, changed: int
) -> tuple[np.ndarray, int]:
    """Return the fewest features, those of the highest rank, with which at most so many change.

    One half after the other is looked at: more features may change more decisions here and there,
    but what is returned has been tried.
    """
    order = np.argsort(-rank, kind="stable")
    low, high = int(np.isinf(rank).sum()) - 1, len(rank)
    best = np.ones(len(rank), bool)
    while high - low > 1 + len(rank) // STEPS:
        middle = (low + high) // 2
        keep = np.zeros(len(rank), bool)
        keep[order[:middle]] = True
        n = trial.changed(learner, keep)
        if n <= most:
            best, changed, high = keep, n, middle
        else:
            low = middle
    return best, changed


def _halved(learner: Learner) -> Learner | None:
    """Return the learner with weights as half precision has them; None where it cannot have."""
    header, tensors = learner.state()
    large = [
        name for name in learner.by_feature if name in tensors and tensors[name].dtype.kind == "f"
    ]
    if not large:
        return None
    with np.errstate(over="ignore"):
        halves = {name: tensors[name].astype(np.float16) for name in large}
    if not all(np.isfinite(one).all() for one in halves.values()):
        return None
    rounded = {name: one.astype(tensors[name].dtype) for name, one in halves.items()}
    return learner.from_state(header, tensors | rounded)


def _narrowed(learner: Learner, keep: np.ndarray) -> Learner:
    """Return the learner of only the features that are kept."""
    if keep.all():
        return learner
    header, tensors = learner.state()
    both = np.append(True, keep)
    narrow: dict[str, Any] = {
        name: tensors[name][keep if len(tensors[name]) == len(keep) else both]
        for name in learner.by_feature
        if name in tensors
    }
    if learner.asks_for is not None:
        asked = tensors[learner.asks_for]
        numbers = (np.cumsum(keep) - 1)[asked].astype(asked.dtype)
        narrow[learner.asks_for] = np.where(asked >= 0, numbers, asked)
    header["n_features"] = int(np.count_nonzero(keep))
    return learner.from_state(header, tensors | narrow)
