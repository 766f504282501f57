"""Learning: from labelled documents to stations that decide; plain functions over the stations."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from thresher.corpora import open_documents
from thresher.decisions import Decisions, Objective, Tuning, tune_decisions
from thresher.documents import Batch, Columns, Documents, from_texts
from thresher.engine import Threads
from thresher.errors import DocumentError, ModelError, ParameterError, SizeWarning, counted
from thresher.evaluation.folds import stratified_k_fold
from thresher.examples import Examples, Spool
from thresher.features import MOST_DOCUMENTS, FeatureParameters, Features, Numbering
from thresher.fields import Fields, as_text, field_columns, field_names
from thresher.learners import Learner, is_online
from thresher.limits import MUCH, check_room, give_back
from thresher.model.assumptions import Assumption, assume, labelled
from thresher.model.categories import Answers, Categories
from thresher.model.memory import Memory, Sample, sampled
from thresher.model.second_look import MOST_LOOKED, Candidates, SecondLook, Unseen, candidates_of
from thresher.parameters import AUTO
from thresher.rows import Labels, Rows

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer

__all__ = ["Progress", "Stations", "Watch", "fit", "fit_line", "no_progress"]

Progress = Callable[[str, int, float | None], None]
"""Told the stage, how many documents it has seen, and the share of it that is done if known."""

R = TypeVar("R")

Watch = Callable[[int, int, int, int], None]
"""Told the number of the pass, and the documents, mistakes and decisions since it was told last."""

MOST_BYTES = 2 * 2**30  # for weights; the rarest runs and parts of words go before more is taken
MOST_DUALS = MOST_BYTES // 4  # numbers, one for each document and category, that a linear SVM holds
MANY = 1000  # categories, of which it is asked whether they are any
FEWER = (
    "leave rare words out (min_df=3), keep fewer (max_features, n_selected), hash them "
    "(hashing_bits=18), or take another learner"
)
LOOKED = 500  # documents: a second look is not learned from fewer unless it is asked for
AT_ONCE = 1000  # texts that are counted together
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
    second_look: SecondLook | None = None
    tuning: Tuning | None = None
    documents_seen: int = 0
    columns: Columns | None = None  # of the table that the documents were read from
    memory: Memory | None = None
    sample: Sample | None = None  # of it, and how it was decided when the last lesson ended
    late: dict[int, int] = field(default_factory=dict)  # documents of categories that came later
    is_mode_open: bool = False  # one label or several: not known before all documents are
    assumptions: list[Assumption] = field(default_factory=list)  # of the documents of `fit`
    is_compacted: bool = False  # what learning needs is left out

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"sample": None}

    def scores(self, rows: Rows, n_jobs: int = 1) -> np.ndarray:
        """Return the scores of documents, given their strengths."""
        return scores_of(self.learner, self.second_look, rows, n_jobs)

    def own_probabilities(self) -> Callable[[np.ndarray], np.ndarray] | None:
        """Return what makes probabilities of scores, where the learner has its own."""
        own = getattr(self.learner, "probabilities", None)
        if own is None or self.second_look is None:
            return own
        return self.second_look.probabilities

    def check_whole(self) -> None:
        """Refuse to learn where what that needs is left out."""
        if self.is_compacted:
            raise ModelError(
                "The model was compacted: what learning needs is left out. Learn with the model "
                "that it was made from, and compact that again."
            )

    def renumber(self, numbers: np.ndarray, keep: np.ndarray) -> None:
        """Let what goes by numbers of categories go by new ones; -1 is for one that is gone.

        Its documents are remembered no more: they say nothing of what may take its place. Which are
        kept as themselves, not as a part of another, is said beside.
        """
        if self.second_look is not None:
            self.second_look = self.second_look.renumbered(numbers, keep)
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
    second_look: SecondLook | None
    tuning: Tuning | None
    memory: Memory | None

    def scores(self, rows: Rows, n_jobs: int = 1) -> np.ndarray:
        """Return the scores of documents, given their strengths."""
        return scores_of(self.learner, self.second_look, rows, n_jobs)


def scores_of(learner: Learner, look: SecondLook | None, rows: Rows, n_jobs: int) -> np.ndarray:
    """Return what the learner gives, after the second look if there is one."""
    scores = learner.score_rows(rows, n_jobs)
    return scores if look is None else look.apply(scores, rows, learner, n_jobs)


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
    fields : str or sequence of str, optional
        As `Categorizer` has them.
    """

    def __init__(
        self,
        documents: Any,
        labels: Any = None,
        columns: Columns | None = None,
        sample_weight: Any = None,
        clock: dict[str, float] | None = None,
        progress: Progress = no_progress,
        fields: Fields = None,
    ) -> None:
        self.answers = None if labels is None else Answers.read(labels)
        self.source = documents_of(documents, labels is not None, columns, fields)
        self.fields = field_columns(fields)
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
        batches, done, source = self.source.batches(self.fields), 0, self.source
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


def documents_of(
    documents: Any,
    has_labels: bool,
    familiar: Columns | None,
    fields: Fields = None,
    **options: Any,
) -> Documents:
    """Return a source of batches for whatever was given as documents.

    The options are those of `open_documents`, for documents whose labels are not given beside.
    """
    from thresher.documents.tables import texts_of

    if field_columns(fields) and isinstance(documents, list):
        others = () if familiar is None else familiar.text
        documents = [as_text(one, fields, others) for one in documents]
    if has_labels and isinstance(documents, str | bytes):
        raise DocumentError(f"documents is one text, {documents[:40]!r}; give a list of texts.")
    if has_labels and not _is_table(documents):
        return from_texts(list(texts_of(documents)), None)
    if has_labels:
        return open_documents(documents, False, familiar=familiar)
    return open_documents(documents, familiar=familiar, **options)


def _is_table(documents: Any) -> bool:
    """Tell whether documents are the rows of a table, in the manner of pyarrow or of pandas."""
    return hasattr(documents, "columns") and hasattr(documents, "shape")


@contextmanager
def timed(clock: dict[str, float], stage: str) -> Iterator[None]:
    """Add the time that is taken within to a stage."""
    began = perf_counter()
    try:
        yield
    finally:
        clock[stage] = clock.get(stage, 0.0) + perf_counter() - began


def _other_number(documents: int | None, given: int, name: str) -> DocumentError:
    there = "more documents" if documents is None else counted(documents, "document")
    return DocumentError(
        f"{there.capitalize()} and {name} for {given:,} are given; give one for each document."
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
    unlabelled: Any = None,
    progress: Progress = no_progress,
    watch: Watch | None = None,
    clock: dict[str, float] | None = None,
) -> Stations:
    """Return stations that have learned from all documents; the model is left alone.

    Documents that are too many for memory are kept as counts in a temporary file.
    """
    if unlabelled is not None and model.concepts is None:
        raise ParameterError(
            "Documents without labels are for concepts, and the model has none: give concepts=100 "
            "(--concepts 100), or leave `unlabelled` out."
        )
    clock = {} if clock is None else clock
    reader = Reader(documents, labels, None, sample_weight, clock, progress, model.fields)
    model = model.settled()
    stations = new_stations(model, reader.form)
    with Spool() as spool:
        _count(stations, reader, spool, model.n_jobs_)
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
        warn_of_size(stations.learner, spool.n_columns, known, reader.source.columns)
        if not spool.n_entries:
            raise DocumentError(
                f"None of the {counted(len(spool), 'document')} has a word: there is nothing to "
                "learn from. Look whether the text column is the right one."
            )
        asked = "multi-label" if reader.form == "indicator" else model.mode
        present = labelled(asked, known)
        if present is not None:
            spool.keep(present)
        more, n_more = None, 0
        if unlabelled is not None:
            columns = reader.source.columns
            others = Reader(unlabelled, None, columns, None, clock, progress, model.fields)
            more, n_more = _counted_sample(stations.features, others, model.seed_)
        stations.documents_seen = len(spool)
        line = fit_line(
            model, stations.features, Examples(spool), names, progress, watch, clock, more,
        )  # fmt: skip
    stations.learner, stations.decisions = line.learner, line.decisions
    stations.second_look, stations.tuning, stations.memory = line[3:]
    stations.columns = reader.source.columns
    note = reader.source.columns_note if reader.answers is None else ""
    stations.assumptions = assume(asked, stations.decisions.mode, known, names, note)
    is_best = model.preset == "best" and model.learner == AUTO
    if is_best and stations.decisions.mode == "multi-label" and stations.learner.name == "arow":
        sentence = (
            f"The learner is arow: for {stations.documents_seen:,} documents and {len(names):,} "
            "categories, a linear SVM would need too much memory."
        )
        stations.assumptions.append(Assumption(sentence))
    if model.second_look not in (AUTO, None) and stations.second_look is None:
        is_single = stations.decisions.mode == "single-label"
        why = "documents have one label each" if is_single else "it promises no better decisions"
        stations.assumptions.append(Assumption(f"The second look is left out: {why}."))
    stations.assumptions += [Assumption(one, True) for one in stations.features.doubts]
    n_sampled, n_all = stations.features.n_sampled, stations.documents_seen + n_more
    if 0 < n_sampled < n_all:
        sentence = f"Concepts were learned from a sample of {n_sampled:,} of {n_all:,} documents."
        stations.assumptions.append(Assumption(sentence))
    if n_spared := stations.features.n_spared:
        sentence = (
            f"{n_spared:,} rare runs and parts of words were left out: with {len(names):,} "
            f"categories, the weights would take more than {MOST_BYTES / 2**30:g} GB."
        )
        stations.assumptions.append(Assumption(sentence))
    return stations


def _count(stations: Stations, reader: Reader, spool: Spool, n_jobs: int) -> None:
    """Count all documents; no batch is held when it is done."""

    def count(batch: Batch) -> tuple[Rows, Labels]:
        rows = stations.features.counter.count(batch.texts, clock=reader.clock)
        return that_count(rows, encoded(stations.categories, batch))

    batches = reader.batches("reading")
    # One thread counts, in the order of the documents, while this one reads.
    for rows, labels in Threads(1).map(count, batches) if n_jobs > 1 else map(count, batches):
        spool.append(rows, labels)


def _counted_sample(features: Features, reader: Reader, seed: int) -> tuple[Rows, int]:
    """Return the counts of documents without labels, and how many there were.

    Of many, as many as fit are drawn while they are read, each as likely as any other.
    """
    texts: list[str] = []
    generator, n = np.random.default_rng(seed), 0
    for batch in reader.batches("reading documents without labels"):
        for text in batch.texts.to_pylist():
            n += 1
            place = len(texts) if len(texts) < MOST_DOCUMENTS else int(generator.integers(n))
            texts[place : place + 1] = [text] if place < MOST_DOCUMENTS else []
    parts = [
        features.counter.count(texts[i : i + AT_ONCE], clock=reader.clock)
        for i in range(0, max(1, len(texts)), AT_ONCE)
    ]
    return Rows.concatenate(parts), n


def fit_line(
    model: Categorizer,
    features: Features,
    counts: Examples,
    names: Sequence[str],
    progress: Progress = no_progress,
    watch: Watch | None = None,
    clock: dict[str, float] | None = None,
    unlabelled: Rows | None = None,
) -> Line:
    """Learn from documents that have been counted: the decisions first, then all the rest.

    Parameters
    ----------
    model : Categorizer
        Whose parameters are taken.
    features : Features
        Which counted.
    counts : Examples
        The counts, which are given up.
    names : sequence of str
        The names of the categories.
    progress, watch, clock
        As for `fit`.
    unlabelled : Rows, optional
        Counts of more documents, for the concepts.
    """
    clock = {} if clock is None else clock
    if model.concepts is not None:
        with timed(clock, "concepts"):
            how: Any = {"seed": model.seed_, "n_jobs": model.n_jobs_, "progress": progress}
            counts = features.fit_concepts(counts, unlabelled, **how)
    decisions = Decisions(decision_mode(model.mode, counts.labels())).grow(counts.n_categories)
    objective = objective_of(model.objective, decisions.mode)
    is_small = model.second_look == AUTO and len(counts) < LOOKED
    is_large = len(counts) * counts.n_categories > MOST_DUALS
    is_spared = is_large and model.learner == AUTO and decisions.mode == "multi-label"
    model, tuning = model.settled("single-label" if is_spared else decisions.mode), None
    learner, is_tuned = model.new_learner(), bool(objective or model.calibrate)
    aims = names, objective, model.calibrate, len(counts)
    held_out: dict[int, np.ndarray] = {}  # scores by the number of the document
    kind: Any = None if is_small or decisions.mode == "single-label" else model.second_look
    look: SecondLook | None = None
    if model.tune_folds and (is_tuned or kind):
        with timed(clock, "tune"):
            unseen, numbers = held_out_scores(model, features, counts, progress, bool(kind))
            untuned, scores = decisions, unseen.scores
            decisions, tuning = tune_decisions(untuned, scores, unseen.labels, *aims, unseen.folds)
            held_out = dict(zip(numbers.tolist(), scores, strict=True))
        if kind:
            with timed(clock, "second look"):
                progress("a second look", len(scores), None)
                unseen = unseen.at_most(MOST_LOOKED)
                seed, n_jobs = model.seed_, model.n_jobs_
                look, scores = SecondLook.fit(kind, unseen, len(counts), seed=seed, n_jobs=n_jobs)
                promised = tune_decisions(untuned, scores, unseen.labels, *aims, unseen.folds)
                tables = promised[1].after.contingency, tuning.after.contingency
                if Objective.parse(objective or "f1").is_worse(*tables):
                    look = None
                else:
                    decisions, tuning = promised
    with timed(clock, "strength"):
        counts = features.choose(counts, most_columns(learner, counts.n_categories))
        check_memory(learner, features, counts.n_categories)
        remember = model.remember if is_online(learner) else 0
        memory = sampled(counts, remember, model.seed_) if remember else None
        strengths = features.weigh(counts)
        give_back()
    how = {"n_jobs": model.n_jobs_, "progress": progress, "watch": watch}
    with timed(clock, "learn"):
        if is_tuned and not model.tune_folds:
            numbers = _some(strengths, model.seed_)
            scores = _fit_tracked(learner, strengths, numbers, **how)
            known = strengths.labels().take(numbers)
            strengths.close()  # what is in them, the learner has learned
            give_back()
            if model.objective == AUTO and objective and not model.calibrate:
                decisions.tune(scores, known, objective)  # what to expect would take far longer
            else:
                decisions, tuning = tune_decisions(decisions, scores, known, *aims)
            held_out = dict(zip(numbers.tolist(), scores, strict=True))
        elif memory is not None and not held_out and hasattr(learner, "tracking"):
            scores = _fit_tracked(learner, strengths, memory.numbers, **how)
            held_out = dict(zip(memory.numbers.tolist(), scores, strict=True))
        else:
            learner.fit_rows(strengths, **how)
        if memory is not None:
            missing = np.full(counts.n_categories, np.nan, np.float32)
            theirs = [held_out.get(number, missing) for number in memory.numbers.tolist()]
            rows = features.apply(memory.rows(range(len(memory)), features.n_columns))
            memory = memory.with_own(learner.score_rows(rows, model.n_jobs_) - np.array(theirs))
    if look is not None:
        look = look.grown(features.fields())
    return Line(features, learner, decisions, look, tuning, memory)


def _fit_tracked(
    learner: Any, strengths: Examples, numbers: np.ndarray, *, n_jobs: int, **how: Any
) -> np.ndarray:
    """Learn, and return the scores of some documents as if each had not been seen, or nearly so.

    That is their scores less what they have added to them themselves: held-out scores, for a pass
    over the documents instead of a learner for each fold.
    """
    places = np.full(len(strengths), -1)
    places[numbers] = np.arange(len(numbers))
    with learner.tracking(places, strengths.n_categories) as own:
        learner.fit_rows(strengths, n_jobs=n_jobs, **how)
    own *= -np.float32(learner.own_share)
    order, done = np.argsort(numbers), 0  # a file is read from start to end
    for rows, _ in strengths.take(numbers[order]):
        for _, part in rows.pieces():
            own[order[done : (done := done + part.n_rows)]] += learner.score_rows(part, n_jobs)
    return np.asarray(own)


def _some(examples: Examples, seed: int) -> np.ndarray:
    """Return the numbers of so many documents, in random order, that there is room for scores."""
    n_most = max(1, MOST_SCORES // max(1, examples.n_categories))
    return np.random.default_rng(seed).permutation(len(examples))[:n_most]


def held_out_scores(
    model: Categorizer,
    features: Features,
    counts: Examples,
    progress: Progress,
    with_evidence: bool = False,
) -> tuple[Unseen, np.ndarray]:
    """Return documents with scores of learners that have not learned from them, and their numbers.

    The documents are divided into stratified folds; all that is learned, the choice of features
    and their frequencies too, is learned from all folds but one, which is then scored. The
    documents come in random order, and at most so many that their scores stay within
    `MOST_SCORES`; learned from are all. For a second look, their words are heard too.
    """
    labels = counts.labels()
    fold = fold_numbers(model, labels)
    chosen = _some(counts, model.seed_)
    scores = np.empty((len(chosen), labels.n_categories), np.float32)
    heard: list[Candidates] = []
    order: list[np.ndarray] = []
    for number in range(fold.max() + 1):

        def tell(stage: str, documents: int, share: float | None, fold: int = number + 1) -> None:
            progress(f"tuning, fold {fold}, {stage}", documents, share)

        learning, places = np.flatnonzero(fold != number), np.flatnonzero(fold[chosen] == number)
        places = places[np.argsort(chosen[places])]  # a file is read from start to end
        if len(places):
            asked = learning, chosen[places], with_evidence
            scores[places], theirs = _scores_of_fold(model, features, counts, *asked, tell)
            heard.append(theirs)
            order.append(places)
    known = labels.take(chosen)
    weights = np.ones(len(chosen)) if known.weights is None else known.weights
    candidates = Candidates.concatenate(heard)
    if with_evidence:
        candidates = candidates.take(np.argsort(np.concatenate(order)))
    return Unseen(scores, candidates, known, fold[chosen], weights), chosen


def _scores_of_fold(
    model: Categorizer,
    features: Features,
    counts: Examples,
    learning: np.ndarray,
    scored: np.ndarray,
    with_evidence: bool,
    progress: Progress,
) -> tuple[np.ndarray, Candidates]:
    """Learn from some documents and score others, by their numbers; nothing else is kept."""
    part, learner = counts.take(learning).apart(), model.new_learner()
    own = fold_features(model, features, learner, part)
    strengths = own.fit(part, most_columns(learner, part.n_categories))
    check_memory(learner, own, part.n_categories)
    give_back()
    learner.fit_rows(strengths, n_jobs=model.n_jobs_, progress=progress)
    fields = own.fields(), len(field_names(model.fields))
    scores, heard = [], []
    for counted_rows, _ in counts.take(scored):
        rows = own.apply(counted_rows)
        scores.append(learner.score_rows(rows, n_jobs=model.n_jobs_))
        if with_evidence:
            heard.append(candidates_of(scores[-1], rows, learner, *fields))
    return np.concatenate(scores), Candidates.concatenate(heard)


def most_columns(learner: Learner, n_categories: int) -> int | None:
    """Return for how many features there is room for weights, where the learner has any."""
    size = learner.weight_bytes * max(1, n_categories)
    return max(1, MOST_BYTES // size) if size else None


def check_memory(learner: Learner, features: Features, n_categories: int) -> None:
    """Raise where words alone are too many: for us, or for this machine."""
    most, n = most_columns(learner, n_categories), features.n_columns
    size = n * n_categories * learner.weight_bytes
    what = f"{counted(n, 'feature')} and {counted(n_categories, 'category')}"
    if most is not None and n > most:
        raise ParameterError(
            f"{what} need {size / 2**30:.1f} GB for weights, and {MOST_BYTES / 2**30:g} is the "
            f"most: {FEWER}."
        )
    check_room(size, what, FEWER)


def warn_of_size(learner: Learner, n_columns: int, labels: Labels, columns: Columns | None) -> None:
    """Say before the first pass that categories are suspiciously many, or what they will take."""
    n, n_categories = labels.n_rows, labels.n_categories
    size = min(MOST_BYTES, n_columns * n_categories * learner.weight_bytes)
    if n_categories >= MANY and 2 * n_categories > n:
        name = f' "{columns.labels}"' if columns is not None and columns.labels else ""
        sentence = (
            f"There are {n_categories:,} categories for {n:,} documents: is{name} really the "
            "column of the labels?"
        )
    elif size >= MUCH:
        sentence = f"{counted(n_columns, 'feature')} and {counted(n_categories, 'category')}:"
    else:
        return
    if size >= MUCH:
        sentence += (
            f" The weights will take about {size / 2**30:.1f} GB, and up to five times that while "
            f"they are learned; to take less, {FEWER}."
        )
    warnings.warn(sentence, SizeWarning, stacklevel=4)


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
    both = whole.blocks, whole.fields()
    blocks, fields = both if whole.columns is None else whole.columns.of_counts()
    if whole.is_hashed:
        columns = Numbering.hashed(np.ones(counts.n_columns, bool), blocks, fields)
    else:
        columns = Numbering.as_met(counts, blocks, fields)
    features = Features(parameters, learner.preferred_strength, None, columns)
    features.n_concepts = counts.n_concepts  # folded in already, or to be learned from the part
    return features


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
            f"None of the {counted(n_documents, 'document')} has a label: there is nothing to "
            "learn. Look whether the label column is the right one."
        )
    if len(categories) == 1 and len(labels.indices) == n_documents:
        raise DocumentError(
            f"There is only one category {categories.names[0]!r}, and all documents have it "
            f"({n_documents:,}): there is nothing to tell it from. Add documents of another "
            "category or of none."
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
            "The documents have no labels to learn from: name the column that has them "
            '(labels="..."); mail and texts in files have the folder that they are in.'
        )
    return categories.encode(batch.labels, grow=True)._replace(weights=batch.weights)


def that_count(rows: Rows, labels: Labels) -> tuple[Rows, Labels]:
    """Leave out the documents of no weight: they are as good as absent."""
    if labels.weights is None or labels.weights.all():
        return rows, labels
    present = np.flatnonzero(labels.weights)
    return rows.take(present), labels.take(present)
