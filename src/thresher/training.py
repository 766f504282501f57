"""Learning: from labelled documents to stations that decide; plain functions over the stations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thresher._spool import Spool
from thresher.categories import Answers, Categories
from thresher.corpora import open_documents
from thresher.decisions import Decisions, Tuning, tune_decisions
from thresher.documents import Batch, Columns, Documents, from_texts
from thresher.errors import DocumentError, ParameterError
from thresher.evaluation.folds import stratified_k_fold
from thresher.examples import Examples
from thresher.features import FeatureParameters, Features, Numbering
from thresher.learners import Learner, is_online
from thresher.rehearsal import Memory, Sample, sampled
from thresher.rows import Labels, Rows

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer

__all__ = ["Progress", "Stations", "Watch", "fit", "fit_line", "no_progress"]

Progress = Callable[[str, int, float | None], None]
"""Told the stage, how many documents it has seen, and the share of it that is done if known."""

Watch = Callable[[int, int, int, int], None]
"""Told the number of the pass, and the documents, mistakes and decisions since it was told last."""

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
    memory: Memory | None = None
    sample: Sample | None = None  # of it, and how it was decided when the last lesson ended
    late: dict[int, int] = field(default_factory=dict)  # documents of categories that came later
    is_mode_open: bool = False  # one label or several: not known before all documents are

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"sample": None}

    def renumber(self, numbers: np.ndarray) -> None:
        """Let what goes by numbers of categories go by new ones; -1 is for one that is gone.

        Its documents are remembered no more: they say nothing of what may take its place.
        """
        if self.memory is not None:
            labels = enumerate(one.labels for one in self.memory.documents)
            gone = [i for i, theirs in labels if (numbers[theirs] < 0).any()]
            self.memory = self.memory.without(gone).renumbered(numbers)
        late = ((int(numbers[k]), n) for k, n in self.late.items() if numbers[k] >= 0)
        self.late = dict(late)


class Line(NamedTuple):
    """What `fit_line` makes of counted documents."""

    features: Features
    learner: Learner
    decisions: Decisions
    tuning: Tuning | None
    memory: Memory | None


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
    model = model.settled()
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
        check_learnable(spool.labels(), stations.categories)
        line = fit_line(
            model, stations.features, Examples(spool), stations.categories.names,
            progress, watch, clock,
        )  # fmt: skip
        stations.documents_seen = len(spool)
    _, stations.learner, stations.decisions, stations.tuning, stations.memory = line
    stations.columns = reader.source.columns
    return stations


def fit_line(
    model: Categorizer,
    features: Features,
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
    features : Features
        Which counted.
    counts : Examples
        The counts.
    names : sequence of str
        The names of the categories.
    progress, watch, clock
        As for `fit`.
    """
    clock = {} if clock is None else clock
    decisions = Decisions(decision_mode(model.mode, counts.labels())).grow(counts.n_categories)
    model, tuning = model.settled(decisions.mode), None
    learner = model.new_learner()
    held_out: dict[int, np.ndarray] = {}  # scores by the number of the document
    if model.objective is not None or model.calibrate is not None:
        with timed(clock, "tune"):
            scores, labels, numbers = held_out_scores(model, features, counts, progress)
            decisions, tuning = tune_decisions(
                decisions, scores, labels, names, model.objective, model.calibrate,
                n_available=len(counts),
            )  # fmt: skip
            held_out = dict(zip(numbers.tolist(), scores, strict=True))
    with timed(clock, "strength"):
        counts = features.choose(counts)
        memory = None
        if model.remember and is_online(learner):
            memory = sampled(counts, model.remember, model.seed_)
        strengths = features.weigh(counts)
    with timed(clock, "learn"):
        if memory is None:
            learner.fit_rows(strengths, n_jobs=model.n_jobs_, progress=progress, watch=watch)
        else:
            memory = _fit_and_remember(
                learner, features, strengths, memory, held_out,
                n_jobs=model.n_jobs_, progress=progress, watch=watch,
            )  # fmt: skip
    return Line(features, learner, decisions, tuning, memory)


def _fit_and_remember(
    learner: Any,
    features: Features,
    strengths: Examples,
    memory: Memory,
    held_out: dict[int, np.ndarray],
    **how: Any,
) -> Memory:
    """Learn, and note what each remembered document has added to its own scores.

    That is the difference to the scores of folds, where there were folds; else what the learner has
    tracked; else it is not known.
    """
    places = np.full(len(strengths), -1)
    places[memory.numbers] = np.arange(len(memory))
    n = strengths.n_categories
    if held_out or not hasattr(learner, "tracking"):
        learner.fit_rows(strengths, **how)
        missing = np.full(n, np.nan, np.float32)
        unseen = [held_out.get(number, missing) for number in memory.numbers.tolist()]
        rows = features.apply(memory.rows(range(len(memory)), features.n_columns))
        return memory.with_own(learner.score_rows(rows, how["n_jobs"]) - np.array(unseen))
    with learner.tracking(places, n) as own:
        learner.fit_rows(strengths, **how)
    return memory.with_own(own * np.float32(learner.own_share))


def held_out_scores(
    model: Categorizer, features: Features, counts: Examples, progress: Progress
) -> tuple[np.ndarray, Labels, np.ndarray]:
    """Return scores of documents by learners that have not learned from them, labels and numbers.

    The documents are divided into stratified folds; all that is learned, the choice of features
    and their frequencies too, is learned from all folds but one, which is then scored. The
    documents come in random order, and at most so many that their scores stay within
    `MOST_SCORES`; learned from are all.
    """
    labels, seed = counts.labels(), model.seed_
    n_folds = min(model.tune_folds, len(counts))
    fold = np.empty(len(counts), np.int64)
    for number, split in enumerate(stratified_k_fold(labels, n_folds, random_state=seed)):
        fold[split.test] = number
    n_most = max(1, MOST_SCORES // max(1, labels.n_categories))
    chosen = np.random.default_rng(seed).permutation(len(counts))[:n_most]
    scores = np.empty((len(chosen), labels.n_categories), np.float32)
    for number in range(n_folds):

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
    model = model.settled()
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
