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
from thresher.model.second_look import SecondLook
from thresher.model.train import Stations
from thresher.parameters import Number
from thresher.rows import Labels, Rows

__all__ = ["ALLOWED", "Compaction", "Judges", "compact", "remembered"]

# The share of decisions that may change. Of a fifth of 20 Newsgroups' training documents, held out,
# half of that changes for it, and three fifths of the features can go.
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
        share = f" ({self.changed / self.documents:.2%})".replace("%", " %")
        verdict = f"{self.changed:,}{share}" if self.changed else "none"
        are = "are" if self.changed > 1 else "is"
        of = counted(self.documents, "document")
        return f"{sentence} Of {of}, {verdict} {are} decided otherwise."


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
    features = stations.features
    before, stations.learner = stations.learner, stations.learner.compacted()
    n_before, keep = features.n_columns, np.ones(features.n_columns, bool)
    result = Compaction(n_before, n_before, False, 0, 0)
    if judges is not None and judges.counts.n_rows:
        trial = _Trial(features, before, stations.decisions, judges, stations.second_look)
        result, keep, stations.learner = trial.smallest(stations.learner, allow)
    if not features.is_hashed:
        features.prune(keep, with_waiting=False)
    if stations.second_look is not None:
        stations.second_look = stations.second_look.grown(features.fields())
    stations.memory = stations.sample = stations.tuning = None
    stations.is_compacted = True
    return result


class _Trial:
    """Documents, how they are decided, and what of that changes with other features."""

    def __init__(
        self,
        features: Features,
        learner: Learner,
        decisions: Decisions,
        judges: Judges,
        look: SecondLook | None = None,
    ) -> None:
        self.features, self.decisions, self.judges, self.look = features, decisions, judges, look
        self.rows = features.apply(judges.counts)
        self.scores = self._scores(learner)
        self.decided = decisions.decide(self.scores)

    def smallest(self, learner: Learner, allow: float) -> tuple[Compaction, np.ndarray, Learner]:
        """Return what came of it, the features that stay, and the learner of these.

        The features that can move a score most stay. How few will do is looked for by halving: more
        features may change more decisions here and there, but what is returned has been tried.
        """
        n_documents, n_features = self.rows.n_rows, self.features.n_columns
        everything, most = np.ones(n_features, bool), int(allow * n_documents)
        best, scores = (everything, learner), self.scores
        halves, in_halves = False, None
        if learner.by_feature:
            in_halves = _smaller(learner, everything, 1.0, halves=True)
        if in_halves is not None and self._changed(now := self._scores(in_halves)) <= most:
            best, scores, halves = (everything, in_halves), now, True
        rank = _leverage(self.features, learner)
        if rank is not None:
            order = np.argsort(-rank, kind="stable")
            low, high = int(np.isinf(rank).sum()) - 1, n_features
            while high - low > 1 + n_features // STEPS:
                middle = (low + high) // 2
                keep = np.zeros(n_features, bool)
                keep[order[:middle]] = True
                smaller, now = self._try(learner, keep, halves)
                if smaller is not None and self._changed(now) <= most:
                    best, scores, high = (keep, smaller), now, middle
                else:
                    low = middle
        n_changed, n_left = self._changed(scores), int(np.count_nonzero(best[0]))
        measured = self._measured(self.scores), self._measured(scores)
        return Compaction(n_features, n_left, halves, n_documents, n_changed, *measured), *best

    def _try(
        self, learner: Learner, keep: np.ndarray, halves: bool
    ) -> tuple[Learner | None, np.ndarray]:
        """Return the learner of some features, and the scores that it gives.

        Where strengths are normalised, those that are left grow as others go, and weights shrink by
        as much as that is on average.
        """
        rows = self.features.narrowed(keep).apply(self.judges.counts)
        old = self.rows.values[keep[self.rows.indices]].astype(np.float64)
        shrunk = _sums(old**2, rows.indptr) / _above_zero(_sums(old * rows.values, rows.indptr))
        shrunk = shrunk[shrunk > 0]
        scale = float(shrunk.mean()) if len(shrunk) and learner.reads_strengths else 1.0
        smaller = _smaller(learner, keep, scale, halves)
        if smaller is None:
            return None, self.scores
        # Documents added to their own scores by as much as each feature was strong in them.
        whole = _sums(self.rows.values.astype(np.float64) ** 2, self.rows.indptr)
        left = scale * _sums(old * rows.values, rows.indptr) / _above_zero(whole)
        look = None if self.look is None else self.look.grown(self.look.fields[keep])
        return smaller, self._unseen(smaller, rows, look, left[:, None])

    def _scores(self, learner: Learner) -> np.ndarray:
        return self._unseen(learner, self.rows, self.look, 1.0)

    def _unseen(
        self, learner: Learner, rows: Rows, look: SecondLook | None, left: Any
    ) -> np.ndarray:
        """Return the scores of documents as if they had not been learned.

        What is `left` is the share of what they have added that still counts.
        """
        scores, own = learner.score_rows(rows), None
        if self.judges.own is not None:
            own = np.nan_to_num(self.judges.own) * left
            scores = np.asarray(scores - own, np.float32)
        return scores if look is None else look.apply(scores, rows, learner, own=own)

    def _changed(self, scores: np.ndarray) -> int:
        """Return how many documents are decided otherwise."""
        return int((self.decisions.decide(scores) != self.decided).any(axis=1).sum())

    def _measured(self, scores: np.ndarray) -> Evaluation | None:
        """Return how well the documents are decided, where they have labels."""
        if self.judges.truth is None:
            return None
        decided = self.decisions.decide(scores)
        return evaluate(scores, self.judges.truth, self.judges.names, decisions=decided)


def _sums(values: np.ndarray, indptr: np.ndarray) -> np.ndarray:
    """Return the sum of each row."""
    return np.asarray(np.diff(np.append(0.0, np.cumsum(values))[indptr]))


def _above_zero(values: np.ndarray) -> np.ndarray:
    return np.where(values > 0, values, 1.0)


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


def _smaller(learner: Learner, keep: np.ndarray, scale: float, halves: bool) -> Learner | None:
    """Return the learner of some features; None where half precision cannot hold its weights."""
    header, tensors = learner.state()
    both, narrow = np.append(True, keep), {}
    for name in set(learner.by_feature) & tensors.keys():
        given = tensors[name]
        narrow[name] = given[keep if len(given) == len(keep) else both]
        if given.dtype.kind == "f":
            narrow[name][1:] *= given.dtype.type(scale)
            if halves:
                with np.errstate(over="ignore"):
                    narrow[name] = narrow[name].astype(np.float16).astype(given.dtype)
                if not np.isfinite(narrow[name]).all():
                    return None
    if learner.asks_for is not None:
        asked = tensors[learner.asks_for]
        numbers = (np.cumsum(keep) - 1)[asked].astype(asked.dtype)
        narrow[learner.asks_for] = np.where(asked >= 0, numbers, asked)
    header["n_features"] = int(np.count_nonzero(keep))
    return learner.from_state(header, tensors | narrow)
