"""Learning: from labelled documents to stations that decide; plain functions over the stations."""

from __future__ import annotations

import copy
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thresher._spool import Spool
from thresher.assumptions import Assumption, assume, labelled
from thresher.categories import Answers, Categories
from thresher.corpora import open_documents
from thresher.decisions import Decisions, Tuning, tune_decisions
from thresher.documents import Batch, Columns, Documents, from_texts
from thresher.errors import DocumentError, ModelError, ParameterError
from thresher.evaluation.folds import stratified_k_fold
from thresher.examples import Examples
from thresher.features import FeatureParameters, Features, Numbering
from thresher.learners import Learner, is_online
from thresher.rows import Labels, Rows

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer

__all__ = ["Progress", "Watch", "fit", "fit_line", "learn", "no_progress"]

Progress = Callable[[str, int, float | None], None]
"""Told the stage, how many documents it has seen, and the share of it that is done if known."""

Watch = Callable[[int, int, int, int], None]
"""Told the number of the pass, and the documents, mistakes and decisions since it was told last."""

SHORT = 1000  # documents: to learn from so many the model is held; more are learned by a copy of it
MOST_SCORES = 25_000_000  # numbers, 100 MB; of more documents than make these, a sample is scored


def no_progress(stage: str, documents: int, share: float | None) -> None:
    """Show nothing."""


@dataclass
class Stations:
    """What a model is made of, once it has learned."""

    categories: Categories
    features: Features
    learner: Learner
    decisions: Decisions
    tuning: Tuning | None = None
    documents_seen: int = 0
    columns: Columns | None = None  # of the table that the documents were read from
    is_mode_open: bool = False  # one label or several: not known before all documents are
    assumptions: list[Assumption] = field(default_factory=list)  # of the documents of `fit`


class Line(NamedTuple):
    """What `fit_line` makes of counted documents."""

    features: Features
    learner: Learner
    decisions: Decisions
    tuning: Tuning | None


# Reading ------------------------------------------------------------------------------------------


class Reader:
    """Labelled documents in batches, with the time that reading them takes.

    Parameters
    ----------
    documents, labels : list of texts, path, Documents or table; and labels
        As `Categorizer.fit` takes them.
    columns : Columns, optional
        The columns of the table that the model was trained on.
    sample_weight : array, optional
        How much each document counts.
    clock : dict, optional
        Seconds by stage.
    """

    def __init__(
        self,
        documents: Any,
        labels: Any = None,
        columns: Columns | None = None,
        sample_weight: Any = None,
        clock: dict[str, float] | None = None,
        progress: Progress = no_progress,
    ) -> None:
        self.answers = None if labels is None else Answers.read(labels)
        self.source = documents_of(documents, labels is not None, columns)
        self.clock = {} if clock is None else clock
        self.progress = progress
        self._weights = None if sample_weight is None else _checked_weights(sample_weight)
        self._given: list[tuple[Any, str]] = []  # what must be as many as the documents
        if self.answers is not None:
            self._given.append((self.answers.lists, "labels"))
        if self._weights is not None:
            self._given.append((self._weights, "sample_weight"))

    @property
    def form(self) -> str:
        """The form in which labels were given."""
        return "several" if self.answers is None else self.answers.form

    def batches(self, stage: str) -> Iterator[Batch]:
        """Yield the documents, telling the progress of this stage."""
        batches, done, source = iter(self.source), 0, self.source
        while True:
            with timed(self.clock, "read"):
                batch = next(batches, None)
            if batch is None:
                break
            here = slice(done, done + len(batch))
            for given, name in self._given:
                if len(given[here]) < len(batch):
                    raise _other_number(None, len(given), name)
            if self.answers is not None:
                batch.labels = [list(one) for one in self.answers.lists[here]]
            if self._weights is not None:
                batch.weights = self._weights[here]
            yield batch
            done += len(batch)
            total = source.bytes_total
            self.progress(stage, done, source.bytes_read / total if total else None)
        for given, name in self._given:
            if len(given) != done:
                raise _other_number(done, len(given), name)


def documents_of(documents: Any, has_labels: bool, familiar: Columns | None) -> Documents:
    """Return a source of batches for whatever was given as documents."""
    if has_labels and isinstance(documents, str | bytes):
        raise DocumentError(f"documents is one text, {documents[:40]!r}; give a list of texts.")
    if has_labels:
        return from_texts(list(documents), None)
    return open_documents(documents, familiar=familiar)


@contextmanager
def timed(clock: dict[str, float], stage: str) -> Iterator[None]:
    """Add the time that is taken within to a stage."""
    began = perf_counter()
    try:
        yield
    finally:
        clock[stage] = clock.get(stage, 0.0) + perf_counter() - began


def _other_number(documents: int | None, given: int, name: str) -> DocumentError:
    there = "more" if documents is None else f"{documents:,}"
    return DocumentError(
        f"There are {there} documents and {name} for {given:,}; give one for each document."
    )


def _checked_weights(sample_weight: Any) -> np.ndarray:
    weights = np.asarray(sample_weight, np.float64)
    if weights.ndim != 1 or not np.isfinite(weights).all() or (weights < 0).any():
        raise ParameterError(
            "sample_weight must be finite numbers of zero or more, one per document."
        )
    return weights


# Learning from all documents ----------------------------------------------------------------------


def fit(
    model: Categorizer,
    documents: Any,
    labels: Any = None,
    *,
    sample_weight: Any = None,
    progress: Progress = no_progress,
    watch: Watch | None = None,
    clock: dict[str, float] | None = None,
) -> Stations:
    """Return stations that have learned from all documents; the model is left alone.

    Documents that are too many for memory are kept as counts in a temporary file.
    """
    clock = {} if clock is None else clock
    reader = Reader(documents, labels, None, sample_weight, clock, progress)
    stations = new_stations(model, reader.form)
    with Spool() as spool:
        for batch in reader.batches("reading"):
            rows = stations.features.counter.count(batch.texts, clock=clock)
            spool.append(*that_count(rows, encoded(stations.categories, batch)))
        if reader.answers is not None and reader.form == "indicator":
            stations.categories.encode([range(reader.answers.n_columns)], grow=True)
        new_numbers = stations.categories.sort()
        known = spool.labels()
        spool.relabel(
            known._replace(
                indices=new_numbers[known.indices], n_categories=len(stations.categories)
            )
        )
        known, names = spool.labels(), stations.categories.names
        check_learnable(known, stations.categories)
        asked = "multi-label" if reader.form == "indicator" else model.mode
        present = labelled(asked, known)
        if present is not None:
            spool.keep(present)
        line = fit_line(
            model, stations.features, stations.learner, Examples(spool), names,
            progress, watch, clock,
        )  # fmt: skip
        stations.documents_seen = len(spool)
    stations.decisions, stations.tuning = line.decisions, line.tuning
    stations.columns = reader.source.columns
    note = reader.source.columns_note if reader.answers is None else ""
    stations.assumptions = assume(asked, stations.decisions.mode, known, names, note)
    return stations


def fit_line(
    model: Categorizer,
    features: Features,
    learner: Learner,
    counts: Examples,
    names: Sequence[str],
    progress: Progress = no_progress,
    watch: Watch | None = None,
    clock: dict[str, float] | None = None,
) -> Line:
    """Learn from documents that have been counted: the decisions first, then all the rest.

    Parameters
    ----------
    model : Categorizer
        Whose parameters are taken.
    features, learner : Features, Learner
        Which learn.
    counts : Examples
        The counts.
    names : sequence of str
        The names of the categories.
    progress, watch, clock
        As for `fit`.
    """
    clock = {} if clock is None else clock
    decisions = Decisions(decision_mode(model.mode, counts.labels())).grow(counts.n_categories)
    objective, tuning = objective_of(model.objective, decisions.mode), None
    if objective is not None or model.calibrate is not None:
        with timed(clock, "tune"):
            scores, labels, numbers = held_out_scores(model, features, counts, progress)
            decisions, tuning = tune_decisions(
                decisions, scores, labels, names, objective, model.calibrate,
                n_available=len(counts), folds=fold_numbers(model, counts.labels())[numbers],
            )  # fmt: skip
    with timed(clock, "strength"):
        strengths = features.fit(counts)
    with timed(clock, "learn"):
        learner.fit_rows(strengths, n_jobs=model.n_jobs_, progress=progress, watch=watch)
    return Line(features, learner, decisions, tuning)


def held_out_scores(
    model: Categorizer, features: Features, counts: Examples, progress: Progress
) -> tuple[np.ndarray, Labels, np.ndarray]:
    """Return the scores of documents by learners that have not learned from them, and labels.

    The documents are divided into stratified folds; all that is learned, the choice of features
    and their frequencies too, is learned from all folds but one, which is then scored. The
    documents come in random order, and at most so many that their scores stay within
    `MOST_SCORES`, whose numbers are the third that is returned; learned from are all.
    """
    labels = counts.labels()
    fold = fold_numbers(model, labels)
    n_most = max(1, MOST_SCORES // max(1, labels.n_categories))
    chosen = np.random.default_rng(model.seed_).permutation(len(counts))[:n_most]
    scores = np.empty((len(chosen), labels.n_categories), np.float32)
    for number in range(fold.max() + 1):

        def tell(stage: str, documents: int, share: float | None, fold: int = number + 1) -> None:
            progress(f"tuning, fold {fold}, {stage}", documents, share)

        part = counts.take(np.flatnonzero(fold != number))
        learner = model.new_learner()
        own = fold_features(model, features, learner, part)
        learner.fit_rows(own.fit(part), n_jobs=model.n_jobs_, progress=tell)
        places = np.flatnonzero(fold[chosen] == number)
        places, done = places[np.argsort(chosen[places])], 0  # a file is read from start to end
        for rows, _ in counts.take(chosen[places]):
            here = places[done : done + rows.n_rows]
            scores[here] = learner.score_rows(own.apply(rows), n_jobs=model.n_jobs_)
            done += rows.n_rows
    return scores, labels.take(chosen), chosen


def fold_numbers(model: Categorizer, labels: Labels) -> np.ndarray:
    """Return in which fold each document is scored."""
    fold = np.empty(labels.n_rows, np.int64)
    n_folds = min(model.tune_folds, labels.n_rows)
    for number, split in enumerate(stratified_k_fold(labels, n_folds, random_state=model.seed_)):
        fold[split.test] = number
    return fold


def fold_features(
    parameters: FeatureParameters, whole: Features, learner: Learner, counts: Examples
) -> Features:
    """Return empty features for a part of the documents of `whole`, itself maybe for a part."""
    blocks = whole.blocks if whole.columns is None else whole.columns.counted_blocks()
    if whole.is_hashed:
        columns = Numbering.hashed(np.ones(counts.n_columns, bool), blocks)
    else:
        columns = Numbering.as_met(counts, blocks)
    return Features(parameters, learner.preferred_strength, None, columns)


def new_stations(model: Categorizer, form: str) -> Stations:
    """Check the parameters and return stations that know nothing."""
    model.check_parameters()
    learner = model.new_learner()
    features = Features(model, learner.preferred_strength, model.new_counter())
    return Stations(Categories(form=form), features, learner, Decisions())


def check_learnable(labels: Labels, categories: Categories) -> None:
    """Raise a sentence where there is nothing to learn."""
    n_documents = labels.n_rows
    if not n_documents:
        raise DocumentError("There is nothing to learn from: the source has no documents.")
    if not len(labels.indices):
        raise DocumentError(
            f"None of the {n_documents:,} documents has a label: there is nothing to learn. "
            "Look whether the label column is the right one."
        )
    if len(categories) == 1 and len(labels.indices) == n_documents:
        raise DocumentError(
            f"All {n_documents:,} documents have the one category {categories.names[0]!r}: "
            "there is nothing to tell it from. Add documents of another category or of none."
        )


def decision_mode(mode: str, labels: Labels) -> str:
    """Return whether documents have one label or several, as given or as they do."""
    if mode != "auto":
        return mode
    one_each = bool((np.diff(labels.indptr) == 1).all())
    return "single-label" if one_each and labels.n_categories > 1 else "multi-label"


def objective_of(objective: str | None, mode: str) -> str | None:
    """Return what thresholds shall achieve: "auto" is f1 for several labels, nothing for one."""
    if objective == "auto":
        return "f1" if mode == "multi-label" else None
    return objective


def encoded(categories: Categories, batch: Batch) -> Labels:
    """Return a batch's labels as category numbers; new categories get the next numbers."""
    if batch.labels is None:
        raise DocumentError(
            "The documents have no labels to learn from: name the column that has them."
        )
    return categories.encode(batch.labels, grow=True)._replace(weights=batch.weights)


def that_count(rows: Rows, labels: Labels) -> tuple[Rows, Labels]:
    """Leave out the documents of no weight: they are as good as absent."""
    if labels.weights is None or labels.weights.all():
        return rows, labels
    present = np.flatnonzero(labels.weights)
    return rows.take(present), labels.take(present)


# Going on -----------------------------------------------------------------------------------------


def learn(
    model: Categorizer,
    documents: Any,
    labels: Any = None,
    *,
    sample_weight: Any = None,
    progress: Progress = no_progress,
    clock: dict[str, float] | None = None,
) -> None:
    """Let the model go on learning, wholly or not at all.

    Up to `SHORT` documents are learned in place, while nobody reads; whatever goes wrong, all that
    was touched is put back. More are learned by a copy, which takes the model's place at the end.
    """
    clock = {} if clock is None else clock
    columns = model.stations.columns if model.is_fitted else None
    reader = Reader(documents, labels, columns, sample_weight, clock, progress)
    batches = reader.batches("learning")
    first, n_first = [], 0
    for batch in batches:
        first.append(batch)
        n_first += len(batch)
        if n_first > SHORT:
            break
    if not n_first:
        raise DocumentError("There is nothing to learn from: the source has no documents.")
    if model.is_fitted and n_first <= SHORT and _is_undone_cheaply(model.stations.learner):
        with model.lock.writing(), undone_on_failure() as undo:
            for batch in first:
                learn_batch(model, model.stations, batch, clock, undo)
            model.stations.columns = model.stations.columns or reader.source.columns
        return
    if model.is_fitted:
        with model.lock.reading():
            stations = copy.deepcopy(model.stations)
    else:
        stations = new_stations(model, reader.form)
    for batch in chain(first, batches):
        learn_batch(model, stations, batch, clock, [])
    stations.columns = stations.columns or reader.source.columns
    with model.lock.writing():
        model.stations = stations


def learn_batch(
    model: Categorizer,
    stations: Stations,
    batch: Batch,
    clock: dict[str, float],
    undo: list[Callable[[], None]],
) -> None:
    """Learn from some documents; `undo` gets what puts everything back, last things last."""
    _check_fits(stations, batch)
    undo.append(_figures_back(stations))
    features = stations.features
    learner: Any = stations.learner
    undo.append(features.counter.checkpoint())
    known = encoded(stations.categories, batch)
    rows = features.count(batch.texts, grow=True, clock=clock)
    rows, known = that_count(rows, known)
    with timed(clock, "strength"):
        touched = np.unique(rows.indices)
        undo.append(features.checkpoint(touched))
        features.strength.observe(rows)
        rows = features.apply(rows)
    with timed(clock, "learn"):
        if stations.documents_seen == 0:
            _start(model, stations, rows, known)
        if hasattr(learner, "checkpoint"):
            undo.append(learner.checkpoint(touched))
        learner.grow(features.n_columns, len(stations.categories))
        stations.decisions = _grown(stations, known)
        learner.learn_rows(rows, known, n_jobs=model.n_jobs_, sample_weight=known.weights)
        _forget_features(stations)
    stations.documents_seen += rows.n_rows


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

    def restore() -> None:
        stations.categories.truncate(n_categories)
        stations.decisions, stations.documents_seen = decisions, seen
        stations.is_mode_open = is_mode_open

    return restore


def _is_undone_cheaply(learner: Learner) -> bool:
    """Tell whether what learning a document changes can be put back without a copy of all."""
    has_budget = getattr(learner, "feature_budget", None) is not None
    return hasattr(learner, "checkpoint") and not has_budget


def _check_fits(stations: Stations, batch: Batch) -> None:
    """Raise, before anything is changed, where a batch does not fit what was learned before."""
    if not is_online(stations.learner):
        raise ModelError(
            f"A model of {stations.learner.name} cannot go on learning: train it anew on all "
            "documents, or take a learner that can, such as passive-aggressive."
        )
    if stations.documents_seen == 0 or stations.is_mode_open or batch.labels is None:
        return
    if stations.decisions.mode == "single-label":
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


def _forget_features(stations: Stations) -> None:
    """Let go of features that no category holds any more, once they are the larger part.

    This is what keeps a learner with a budget of features within it on an endless stream.
    """
    learner: Any = stations.learner
    if stations.features.is_hashed or getattr(learner, "feature_budget", None) is None:
        return
    keep = learner.live_features()
    if 2 * np.count_nonzero(keep) < len(keep):
        stations.features.prune(keep)
        learner.prune(keep)
