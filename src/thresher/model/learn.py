"""Learning on: new documents among remembered ones, wholly or not at all, and what came of it."""

from __future__ import annotations

import copy
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thresher.decisions import Decisions
from thresher.documents import Batch
from thresher.errors import DocumentError, ModelError, ParameterError, counted, escaped
from thresher.examples import Examples
from thresher.learners import Learner, is_online
from thresher.learners.online import OnlineLearner
from thresher.model.memory import Sample
from thresher.model.second_look import SecondLook, Unseen, candidates_of
from thresher.model.train import (
    LOOKED,
    Progress,
    Reader,
    Stations,
    decision_mode,
    encoded,
    fold_numbers,
    new_stations,
    no_progress,
    that_count,
    timed,
)
from thresher.parameters import names_of
from thresher.rows import Labels, Rows

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer

__all__ = ["CHECKED", "Learned", "learn"]

SHORT = 1000  # documents: to learn from so many the model is held; more are learned by a copy of it
ROUNDS = 5  # at most, until the new documents are decided right
RECALLED = 10  # remembered documents that are met again for each new one
CHECKED = 64  # remembered documents of which it is noted whether they are decided otherwise
SHOWN = 5  # documents that are still wrong
BEGINNING = 60  # characters of a text
LOST = 0.0065  # the share of the others that a new category may take from where they belong
FOR_EACH = {"single-label": 2.0, "multi-label": 0.5}  # and how many for each of its own
YOUNG = 256  # documents: until it has so many, a new category is given its place anew


class Mistake(NamedTuple):
    """A document that is still decided otherwise than its labels say."""

    number: int  # among those that were given, from 1 on
    text: str  # how it begins
    labels: list[str]
    decided: list[str]


@dataclass
class Learned:
    """What came of learning on."""

    documents: int = 0
    wrong: list[Mistake] = field(default_factory=list)
    checked: int = 0  # how many remembered documents were decided before and after
    changed: int = 0  # how many of those are decided otherwise now
    features: int = 0  # new ones
    categories: list[str] = field(default_factory=list)  # new ones
    warnings: list[str] = field(default_factory=list)
    looked_anew: bool | None = None  # whether the second look was changed, if that was tried

    @property
    def right(self) -> int:
        """How many of the documents are decided as their labels say."""
        return self.documents - len(self.wrong)

    def __str__(self) -> str:
        checked = counted(self.checked, "remembered document")
        kept = f"{self.changed:,} of {checked} decided otherwise"
        lines = [
            f"Learned from {counted(self.documents, 'document')}; "
            f"{self.right:,} of them decided right now{f', {kept}' if self.checked else ''}.",
            f"New: {counted(self.features, 'feature')}"
            + (f" and {names_of(self.categories)}." if self.categories else ", no category."),
        ]
        if self.looked_anew is not None:
            anew = "was learned anew from what is remembered" if self.looked_anew else "stays"
            lines.append(f"The second look {anew}.")
        for one in self.wrong[:SHOWN]:
            decided = ", ".join(map(escaped, one.decided)) or "nothing"
            labels = ", ".join(map(escaped, one.labels)) or "nothing"
            lines.append(
                f"Still wrong: document {one.number}, {one.text!r}: {decided}, not {labels}."
            )
        if len(self.wrong) > SHOWN:
            lines.append(f"Still wrong: {len(self.wrong) - SHOWN:,} more.")
        return "\n".join([*lines, *map(escaped, self.warnings)])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can say it."""
        return {
            "documents": self.documents,
            "right": self.right,
            "wrong": [one._asdict() for one in self.wrong],
            "remembered_checked": self.checked,
            "remembered_changed": self.changed,
            "features": self.features,
            "categories": self.categories,
            "warnings": self.warnings,
            "looked_anew": self.looked_anew,
        }


def learn(
    model: Categorizer,
    documents: Any,
    labels: Any = None,
    *,
    about: Sequence[Any] | None = None,
    sample_weight: Any = None,
    n_checked: int | None = CHECKED,
    progress: Progress = no_progress,
    clock: dict[str, float] | None = None,
) -> Learned:
    """Let the model go on learning, wholly or not at all; the arguments are `Categorizer.learn`'s.

    Up to `SHORT` documents are learned in place, while nobody reads; whatever goes wrong, all that
    was touched is put back. More are learned by a copy, which takes the model's place at the end.
    """
    clock = {} if clock is None else clock
    if model.is_fitted:
        model.stations.check_whole()
    columns = model.stations.columns if model.is_fitted else None
    reader = Reader(documents, labels, columns, sample_weight, clock, progress, model.fields)
    batches = reader.batches("learning")
    first, n_first = [], 0
    for batch in batches:
        first.append(batch)
        n_first += len(batch)
        if n_first > SHORT:
            break
    if not n_first:
        raise DocumentError("There is nothing to learn from: the source has no documents.")
    if not model.is_fitted and model.concepts is not None:
        raise ModelError(
            "Concepts are learned from all documents at once: begin with fit (thresher train), "
            "and go on with learn."
        )
    if model.is_fitted and n_first <= SHORT and _is_undone_cheaply(model.stations.learner):
        with model.lock.writing(), undone_on_failure() as undo:
            lesson = _Lesson(model, model.stations, about, clock, undo, n_checked)
            learned = lesson.learn(first, ROUNDS)
            model.stations.columns = model.stations.columns or reader.source.columns
        return learned
    if model.is_fitted:
        with model.lock.reading():
            stations = copy.deepcopy(model.stations)
    else:
        stations = new_stations(model, reader.form)
    lesson = _Lesson(model, stations, about, clock, [], n_checked)
    learned = lesson.learn(chain(first, batches), ROUNDS if n_first <= SHORT else 1)
    stations.columns = stations.columns or reader.source.columns
    with model.lock.writing():
        model.stations = stations
    return learned


class _Lesson:
    """What goes on between the first of some documents and the last."""

    def __init__(
        self,
        model: Categorizer,
        stations: Stations,
        about: Sequence[Any] | None,
        clock: dict[str, float],
        undo: list[Callable[[], None]],  # gets what puts everything back, last things last
        n_checked: int | None,
    ) -> None:
        self.model, self.stations, self.about = model, stations, about
        self.clock, self.undo, self.n_checked = clock, undo, n_checked
        self.learner: Any = stations.learner
        self.learned, self.n_given = Learned(), 0

    def learn(self, batches: Any, n_rounds: int) -> Learned:
        """Learn from all batches and tell what came of it."""
        stations, learned = self.stations, self.learned
        n_features, n_categories = stations.features.n_columns, len(stations.categories)
        self.undo.append(_figures_back(stations))
        stations.sample = self._sample()
        for batch in batches:
            self._learn_batch(batch, n_rounds)
        if stations.second_look is not None:
            with timed(self.clock, "second look"):
                self._look_anew(stations.second_look)
        if stations.sample is not None:
            rows, before, drawn, _ = stations.sample
            after = self._decided(rows)
            differs = (after[:, : before.shape[1]] != before).any(1)
            differs |= after[:, before.shape[1] :].any(1)
            learned.checked, learned.changed = len(after), int(differs.sum())
            made_for = stations.decisions, stations.memory
            stations.sample = Sample(rows, after, drawn, made_for) if self.n_checked else None
        learned.features = stations.features.n_columns - n_features
        learned.categories = stations.categories.names[n_categories:]
        learned.warnings += self._lonely()
        return learned

    def _lonely(self) -> list[str]:
        """Warn of new categories that nothing was held against."""
        memory = self.stations.memory
        if not self.learned.categories or (memory is not None and len(np.unique(memory.homes)) > 1):
            return []
        return [
            f"{name}: there are no counter-examples, for nothing is remembered of other documents; "
            "give documents of other categories with it, or train with remember above 0."
            for name in self.learned.categories
        ]

    def _look_anew(self, look: SecondLook) -> None:
        """Learn the second look from what is remembered, if that is much and promises more.

        It is tried once there are as many new documents as half of those, `LOOKED` at least.
        Remembered documents are taken as if they had not been learned. The look as it is has seen
        many of them, and more; one that is better all the same is no harm.
        """
        stations, memory, model = self.stations, self.stations.memory, self.model
        n_since = stations.documents_seen - look.n_learned
        if memory is None or n_since < max(LOOKED, len(memory) // 2):
            return
        stations.second_look = look.noted(stations.documents_seen)
        n, features = len(stations.categories), stations.features
        own = memory.own(range(len(memory)), n)
        known = [one.known is None for one in memory.documents]
        places = np.flatnonzero(~np.isnan(own).any(1) & known)
        if len(places) < LOOKED:
            return
        own, labels = own[places], memory.labels(places, n)
        rows = features.apply(memory.rows(places, features.n_columns))
        scores = self.learner.score_rows(rows, model.n_jobs_) - own
        candidates = candidates_of(scores, rows, self.learner, look.fields, look.n_fields, own=own)
        folds = fold_numbers(model.settled(), labels)
        unseen = Unseen(scores, candidates, labels, folds, memory.weights()[places])
        how: Any = {"seed": model.seed_, "n_jobs": model.n_jobs_}
        anew, after = SecondLook.fit(look.kind, unseen, stations.documents_seen, **how)
        before = look.apply(scores, rows, self.learner, model.n_jobs_, own)
        losses = [unseen.loss(one, look.n_known) for one in (after, before)]
        self.learned.looked_anew = losses[0] < losses[1]
        if self.learned.looked_anew:
            decisions = stations.decisions.replace()
            decisions.thresholds[look.n_known :] = decisions.default_threshold
            stations.second_look, stations.decisions = anew.grown(look.fields), decisions

    def _generator(self) -> np.random.Generator:
        """Return what is random in this lesson, the same for the same model."""
        return np.random.default_rng((self.model.seed_, self.stations.documents_seen))

    def _sample(self) -> Sample | None:
        """Return some remembered documents and how they are decided before anything is learned.

        Those of the last lesson serve again for a while: what was after it is before this one.
        """
        stations, sample, memory = self.stations, self.stations.sample, self.stations.memory
        if memory is None or not len(memory) or self.n_checked == 0:
            return None
        n, seen = min(self.n_checked or len(memory), len(memory)), stations.documents_seen
        if (
            sample is not None
            and sample.made_for == (stations.decisions, memory)
            and len(sample.decided) == n
            and seen < sample.drawn + CHECKED
        ):
            return sample
        places, features = memory.recall(n, self._generator()), stations.features
        rows = features.apply(memory.rows(places, features.n_columns))
        return Sample(rows, self._decided(rows), seen, (stations.decisions, memory))

    def _decided(self, rows: Rows) -> np.ndarray:
        """Return how documents are decided now."""
        scores = self.stations.scores(rows, self.model.n_jobs_)
        if not np.isfinite(scores).all():
            raise ParameterError(
                f"{type(self.learner).__name__} would score remembered documents with what is no "
                "number; take parameters by which documents move weights less."
            )
        return self.stations.decisions.decide(scores)

    def _learn_batch(self, batch: Batch, n_rounds: int) -> None:
        model, stations = self.model, self.stations
        features, undo = stations.features, self.undo
        _check_fits(stations, batch, self.about)
        undo.append(features.counter.checkpoint())
        labels = self._about(encoded(stations.categories, batch))
        counts = features.count(batch.texts, grow=True, clock=self.clock)
        counts, labels = that_count(counts, labels)
        if stations.second_look is not None:
            stations.second_look = stations.second_look.grown(features.fields())
        with timed(self.clock, "strength"):
            undo.append(features.checkpoint(counts.indices))
            features.observe(counts)
            rows = features.apply(counts)
        with timed(self.clock, "learn"):
            if stations.documents_seen == 0:
                _start(model, stations, rows, labels)
            late = self._note_late(labels)
            stations.decisions = _grown(stations, labels)
            own, wrong = self._rehearse(rows, labels, n_rounds, late)
            self.learner.check_bounds(rows.indices)
            self._note_wrong(rows, labels, wrong, batch)
            numbers = stations.documents_seen + np.arange(rows.n_rows)
            if stations.memory is not None:
                stations.memory = stations.memory.with_more(counts, labels, numbers, own)
            self._forget_features()
        stations.documents_seen += rows.n_rows
        self.learned.documents += rows.n_rows
        self.n_given += len(batch)

    def _about(self, labels: Labels) -> Labels:
        """Let answers be about some categories only, where they are."""
        if self.about is None:
            return labels
        numbers = [self.stations.categories.number(one) for one in self.about]
        known = np.zeros((labels.n_rows, labels.n_categories), bool)
        known[:, numbers] = True
        strangers = np.setdiff1d(labels.indices, numbers)
        if len(strangers):
            name = self.stations.categories.names[strangers[0]]
            raise DocumentError(
                f"A document has the label {name!r}, and the answers are about "
                f"{', '.join(map(str, self.about))} only; add it to `about`."
            )
        return labels._replace(known=known)

    def _note_late(self, labels: Labels) -> list[int]:
        """Count the documents of categories that came after `fit`; return whose place is due."""
        stations, due = self.stations, []
        n_known, counts = self.learner.n_categories, np.bincount(labels.indices)
        for k in np.flatnonzero(counts).tolist():
            if k not in stations.late and (k < n_known or not stations.documents_seen):
                continue
            before = stations.late.get(k, 0)
            after = stations.late[k] = before + int(counts[k])
            if before < YOUNG and (before == 0 or after >= 2 ** np.ceil(np.log2(before + 0.5))):
                due.append(k)
        return due

    def _rehearse(
        self, rows: Rows, labels: Labels, n_rounds: int, late: list[int]
    ) -> tuple[np.ndarray | None, np.ndarray]:
        """Learn from the documents among remembered ones, until they are decided right.

        Returns what they have added to their own scores, where that is known, and which are wrong.
        """
        stations, generator = self.stations, self._generator()
        own = np.zeros((rows.n_rows, len(stations.categories)), np.float32)
        pending, is_rehearsed = np.arange(rows.n_rows), self._is_rehearsed()
        if late and is_rehearsed:
            own += self._round(rows, labels, len(stations.memory or ()), generator, late)
        for _ in range(n_rounds if is_rehearsed else 1):
            n_recalled = RECALLED * len(pending)
            own[pending] += self._round(
                rows.take(pending), labels.take(pending), n_recalled, generator
            )
            for k in late:
                self._place(k, rows, labels, own)
            pending = self._still_wrong(rows, labels)
            if not len(pending):
                break
        return None if np.isnan(own).any() else own, pending

    def _is_rehearsed(self) -> bool:
        """Tell whether remembered documents are met again: not by what would count them twice."""
        return self.stations.memory is not None and isinstance(self.learner, OnlineLearner)

    def _round(
        self,
        rows: Rows,
        labels: Labels,
        n_recalled: int,
        generator: np.random.Generator,
        late: Sequence[int] = (),
    ) -> Any:
        """Meet each document once, the new ones among some that are remembered.

        Where categories came late, learn of these alone: all that is remembered says what they are
        not, and need not be learned again for the others.
        Returns what the new ones have added to their own scores; NaN where that is not known.
        """
        stations, learner = self.stations, self.learner
        features, n, n_new = stations.features, len(stations.categories), rows.n_rows
        weights = np.ones(n_new) if labels.weights is None else labels.weights
        labels, places = labels._replace(weights=None), np.zeros(0, np.int64)
        memory = stations.memory if self._is_rehearsed() else None
        if memory is not None:
            places = memory.recall(n_recalled, generator)
            old = features.apply(memory.rows(places, features.n_columns))
            rows = Rows.concatenate([rows, old])
            labels = Labels.concatenate([labels, memory.labels(places, n)])
            weights = np.append(weights, np.ones(len(places)))
        if late:
            labels = labels.about(late)
        if hasattr(learner, "checkpoint"):
            self.undo.append(learner.checkpoint(rows.indices))
        n_before = learner.n_categories
        learner.grow(features.n_columns, n)
        if late and n_before < n and hasattr(learner, "start_late"):
            learner.start_late(Examples.of(rows, labels), n_before)
        order = generator.permutation(rows.n_rows) if len(places) else None
        how = {"n_jobs": self.model.n_jobs_, "sample_weight": weights}
        if memory is None or not hasattr(learner, "tracking"):
            learner.learn_rows(rows, labels, order, **how)
            return np.nan
        with learner.tracking(np.arange(rows.n_rows), n) as own:
            learner.learn_rows(rows, labels, order, **how)
        stations.memory = memory.with_more_own(places, own[n_new:])
        return own[:n_new]

    def _still_wrong(self, rows: Rows, labels: Labels) -> np.ndarray:
        """Return which documents are decided otherwise than their labels say."""
        scores = self.stations.scores(rows, self.model.n_jobs_)
        wrong = self.stations.decisions.decide(scores) != labels.to_dense()
        if labels.known is not None:
            wrong &= labels.known
        return np.flatnonzero(wrong.any(1))

    def _note_wrong(self, rows: Rows, labels: Labels, wrong: np.ndarray, batch: Batch) -> None:
        """Name the documents that are still decided otherwise; their labels and the decisions."""
        if not len(wrong):
            return
        stations, names = self.stations, self.stations.categories.names
        decided = stations.decisions.decide(stations.scores(rows.take(wrong)))
        truth = labels.take(wrong).to_dense()
        present = np.arange(len(batch))
        if batch.weights is not None:
            present = present[batch.weights > 0]
        for i, own, given in zip(present[wrong].tolist(), decided, truth, strict=True):
            text = " ".join(str(batch.texts[i])[: 4 * BEGINNING].split())[:BEGINNING]
            lists = ([names[k] for k in np.flatnonzero(one)] for one in (given, own))
            self.learned.wrong.append(Mistake(self.n_given + i + 1, text, *lists))

    def _place(self, k: int, rows: Rows, labels: Labels, own: np.ndarray) -> None:
        """Give a new category its place against the others: its threshold.

        It is chosen on scores that documents would have had unseen, or the others would look far
        surer than they are.
        """
        stations, memory = self.stations, self.stations.memory
        look = stations.second_look
        is_looked_at = look is not None and k < look.n_known  # and is decided as all others are
        if memory is None or not len(memory) or np.isnan(own).any() or is_looked_at:
            return
        n, features, decisions = len(stations.categories), stations.features, stations.decisions
        places = range(len(memory))
        old = features.apply(memory.rows(places, features.n_columns))
        scores = np.concatenate(
            [
                self.learner.score_rows(old, self.model.n_jobs_) - memory.own(places, n),
                self.learner.score_rows(rows, self.model.n_jobs_) - own,
            ]
        )
        truth = np.concatenate([memory.labels(places, n).to_dense(), labels.to_dense()])
        weights = np.append(memory.weights(), np.ones(rows.n_rows))
        known = ~np.isnan(scores).any(1)
        thresholds = decisions.thresholds.copy()
        thresholds[k] = 0.0
        thresholds[k] = place_of(
            k, scores[known] - thresholds, truth[known], weights[known], decisions.mode
        )
        stations.decisions = decisions.replace(thresholds=thresholds)

    def _forget_features(self) -> None:
        """Let go of features that no category holds any more, once they are the larger part.

        This is what keeps a learner with a budget of features within it on an endless stream.
        """
        stations, learner = self.stations, self.learner
        if stations.features.is_hashed or getattr(learner, "feature_budget", None) is None:
            return
        keep = learner.live_features() | stations.features.are_for_concepts()
        if 2 * np.count_nonzero(keep) < len(keep):
            stations.features.prune(keep)
            learner.prune(keep)
            if stations.memory is not None:
                stations.memory = stations.memory.pruned(keep)
            if stations.sample is not None:
                stations.sample = stations.sample._replace(rows=stations.sample.rows.keep(keep))
            if stations.second_look is not None:
                stations.second_look = stations.second_look.grown(stations.features.fields())


def place_of(
    k: int, margins: np.ndarray, truth: np.ndarray, weights: np.ndarray, mode: str
) -> float:
    """Return the threshold at which a category takes as little from the others as may be.

    Parameters
    ----------
    k : int
        The category, whose threshold is zero so far.
    margins : array of shape (documents, categories)
        Scores less thresholds, of documents that were not seen.
    truth : array of bool of the same shape
        Which categories they belong to.
    weights : array of shape (documents,)
        How many documents each stands for.
    mode : {"single-label", "multi-label"}
        Whether the category competes with the others, or is decided by itself.

    Examples
    --------
    >>> margins = np.array([[0.5, -0.9], [0.4, -0.2], [-0.2, 0.1]])
    >>> truth = np.array([[True, False], [True, False], [False, True]])
    >>> round(place_of(1, margins, truth, np.ones(3), "single-label"), 2)
    -0.15
    """
    ahead, mine = margins[:, k], truth[:, k]
    if mode == "single-label":
        others = np.where(np.arange(margins.shape[1]) == k, -np.inf, margins)
        ahead = ahead - others.max(1)
        is_right = truth[np.arange(len(others)), others.argmax(1)]
        theirs = is_right & ~mine
    else:
        theirs = ~mine
    allowed = min(LOST * weights.sum(), FOR_EACH[mode] * weights[mine].sum())
    order = np.argsort(-ahead[theirs], kind="stable")
    taken, lost = ahead[theirs][order], np.cumsum(weights[theirs][order])
    within = int(np.searchsorted(lost, allowed, side="right"))
    bar = float(taken[within]) if within < len(taken) else float(ahead.min(initial=0.0))
    lowest = float(ahead[mine].min(initial=np.inf))
    return bar if lowest <= bar else (bar + lowest) / 2


@contextmanager
def undone_on_failure() -> Iterator[list[Callable[[], None]]]:
    """Give a list for what takes changes back, and call it from its end if they fail."""
    undo: list[Callable[[], None]] = []
    try:
        yield undo
    except BaseException:
        with _uninterrupted():
            for restore in reversed(undo):
                restore()
        raise


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let a second Ctrl-C wait until all is put back."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[tuple[int, Any]] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: waiting.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if waiting and callable(before):
            before(*waiting[0])


def _figures_back(stations: Stations) -> Callable[[], None]:
    """Return what puts the categories, the decisions and the figures back."""
    n_categories, decisions = len(stations.categories), stations.decisions
    seen, is_mode_open = stations.documents_seen, stations.is_mode_open
    memory, late, sample = stations.memory, dict(stations.late), stations.sample
    second_look = stations.second_look

    def restore() -> None:
        stations.memory, stations.late, stations.sample = memory, late, sample
        stations.second_look = second_look
        stations.categories.truncate(n_categories)
        stations.decisions, stations.documents_seen = decisions, seen
        stations.is_mode_open = is_mode_open

    return restore


def _is_undone_cheaply(learner: Learner) -> bool:
    """Tell whether what learning a document changes can be put back without a copy of all."""
    has_budget = getattr(learner, "feature_budget", None) is not None
    return hasattr(learner, "checkpoint") and not has_budget


def _check_fits(stations: Stations, batch: Batch, about: Sequence[Any] | None) -> None:
    """Raise, before anything is changed, where a batch does not fit what was learned before."""
    if not is_online(stations.learner):
        raise ModelError(
            f"A model of {stations.learner.name} cannot go on learning: train it anew on all "
            "documents, or take a learner that can, such as passive-aggressive."
        )
    if stations.documents_seen == 0 or stations.is_mode_open or batch.labels is None:
        return
    if stations.decisions.mode == "single-label" and about is None:
        wrong = next((one for one in batch.labels if len(one) != 1), None)
        if wrong is not None:
            number = "no label" if not wrong else f"{len(wrong)} labels ({wrong[0]!r}, ...)"
            raise DocumentError(
                f"A document has {number}, but the model was trained on documents with one label "
                "each: leave it out, or train anew with mode='multi-label'."
            )


def _start(model: Categorizer, stations: Stations, rows: Rows, labels: Labels) -> None:
    """Begin with the first documents of a stream."""
    mean_active = len(rows.indices) / max(1, rows.n_rows)
    learner: Any = stations.learner
    learner.start(stations.features.n_columns, len(stations.categories), mean_active)
    stations.decisions = Decisions(decision_mode(model.mode, labels))
    stations.is_mode_open = model.mode == "auto"


def _grown(stations: Stations, labels: Labels) -> Decisions:
    """Return decisions for all categories; for several labels, once a stream shows that it has."""
    decisions = stations.decisions.replace()
    several = decision_mode("auto", labels) == "multi-label" and labels.n_categories > 1
    if stations.is_mode_open and several and decisions.mode == "single-label":
        decisions = decisions.replace(mode="multi-label")
    return decisions.grow(len(stations.categories))
