"""Training: from labelled documents to a model.

`train` counts the documents and calls `train_on_counts`, which learns decisions from held-out
scores, then features, learner and second look from all documents.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thresher.decisions import Decisions, Objective, Tuning, tune_decisions
from thresher.documents import Batch
from thresher.engine import Threads
from thresher.errors import DocumentError, ParameterError, counted, param
from thresher.examples import Examples, Spool
from thresher.features import MOST_DOCUMENTS, Features
from thresher.learners.capabilities import Online, Tracking
from thresher.limits import give_back
from thresher.model.assumptions import Assumption, assume, labelled
from thresher.model.categories import Categories
from thresher.model.held_out import held_out_scores, random_documents
from thresher.model.memory import Memory, sampled
from thresher.model.model import Model
from thresher.model.parameters import TrainingParameters, is_auto
from thresher.model.second_look import MOST_LOOKED, SecondLook
from thresher.model.sizes import MOST_WEIGHT_BYTES, check_memory, most_columns, warn_of_size
from thresher.model.source import (
    LabelledSource,
    Progress,
    Watch,
    encode_labels,
    no_progress,
    timed,
    without_zero_weights,
)
from thresher.rows import Labels, Rows

__all__ = ["count_documents", "new_model", "train", "train_on_counts"]

MOST_DUAL_VARIABLES = MOST_WEIGHT_BYTES // 4  # of a linear SVM: documents times categories
LEAST_DOCUMENTS_FOR_LOOK = 500  # for a second look, unless it is asked for
TEXTS_PER_COUNT = 1000  # texts that are counted together


def train(
    parameters: TrainingParameters,
    documents: Any,
    labels: Any = None,
    *,
    sample_weight: Any = None,
    unlabelled: Any = None,
    progress: Progress = no_progress,
    watch: Watch | None = None,
    clock: dict[str, float] | None = None,
) -> Model:
    """Return a model trained on labelled documents; the arguments are those of `Categorizer.fit`.

    Documents that are too many for memory are kept as counts in a temporary file.
    """
    if unlabelled is not None and parameters.concepts is None:
        raise ParameterError(
            "Documents without labels are for concepts, and the model has none: give "
            f"{param('concepts', 100)}, or leave {param('unlabelled')} out."
        )
    clock = {} if clock is None else clock
    given, parameters = parameters, parameters.resolved()
    fields = parameters.fields
    source = LabelledSource(documents, labels, None, fields, progress, clock, sample_weight)
    mode = "multi-label" if source.form == "indicator" else parameters.mode
    with Spool() as spool:
        untrained = new_model(parameters, source.form)
        categories, features = untrained.categories, untrained.features
        count_documents(untrained, source, spool, parameters.n_jobs_)
        all_labels = spool.labels()
        warn_of_size(untrained.learner, spool.n_columns, all_labels, source.columns)
        if not spool.n_entries:
            raise DocumentError(
                f"None of the {counted(len(spool), 'document')} has a word: there is nothing to "
                "learn from. Look whether the text column is the right one."
            )
        if (present := labelled(mode, all_labels)) is not None:
            spool.keep(present)
        more, n_more = None, 0
        if unlabelled is not None:
            columns = source.columns
            others = LabelledSource(unlabelled, None, columns, fields, progress, clock)
            more, n_more = _count_unlabelled(features, others, parameters.seed_)
        model = train_on_counts(
            parameters, features, Examples(spool), categories, progress, watch, clock, more
        )
    model.parameters, model.columns = given, source.columns
    note = source.documents.columns_note if source.labels is None else ""
    names, decided = categories.names, model.decisions.mode
    model.assumptions = [
        *assume(mode, decided, all_labels, names, note),
        *_departures(model, parameters, n_more),
    ]
    return model


def new_model(parameters: TrainingParameters, form: str) -> Model:
    """Return a model that has not learned anything, after checking the parameters."""
    resolved = parameters.resolved()
    learner = resolved.new_learner()
    features = Features(resolved, learner.preferred_strength, resolved.new_counter())
    return Model(parameters, Categories(form=form), features, learner, Decisions())


def count_documents(model: Model, source: LabelledSource, spool: Spool, n_jobs: int) -> None:
    """Count all documents into a spool, with category numbers in the order of the labels."""

    def count(batch: Batch) -> tuple[Rows, Labels]:
        rows = model.features.counter.count(batch.texts, clock=source.clock)
        return without_zero_weights(rows, encode_labels(model.categories, batch))

    batches = source.batches("reading")
    # One thread counts, in the order of the documents, while this one reads.
    counts = Threads(1).map(count, batches) if n_jobs > 1 else map(count, batches)
    for rows, labels in counts:
        spool.append(rows, labels)
    if source.labels is not None and source.form == "indicator":
        model.categories.encode([range(source.labels.n_columns)], grow=True)
    new_numbers, n_categories = model.categories.sort(), len(model.categories)
    labels = spool.labels()
    spool.relabel(labels._replace(indices=new_numbers[labels.indices], n_categories=n_categories))
    check_learnable(spool.labels(), model.categories)


def _count_unlabelled(features: Features, source: LabelledSource, seed: int) -> tuple[Rows, int]:
    """Return the counts of documents without labels, and how many there were.

    If there are too many, a sample is drawn while they are read, each as likely as any other.
    """
    texts: list[str] = []
    generator, n = np.random.default_rng(seed), 0
    for batch in source.batches("reading documents without labels"):
        for text in batch.texts.to_pylist():
            n += 1
            if len(texts) < MOST_DOCUMENTS:
                texts.append(text)
            elif (index := int(generator.integers(n))) < MOST_DOCUMENTS:
                texts[index] = text
    counts = [
        features.counter.count(texts[i : i + TEXTS_PER_COUNT], clock=source.clock)
        for i in range(0, max(1, len(texts)), TEXTS_PER_COUNT)
    ]
    return Rows.concatenate(counts), n


def _departures(
    model: Model, parameters: TrainingParameters, n_unlabelled: int
) -> list[Assumption]:
    """Return what was done otherwise than the parameters say, and doubts about the concepts."""
    features, mode, found = model.features, model.decisions.mode, []
    is_best = parameters.preset == "best" and is_auto(parameters.learner)
    n_categories = len(model.categories)
    if is_best and mode == "multi-label" and model.learner.name == "arow":
        found.append(
            f"The learner is arow: for {model.documents_seen:,} documents and {n_categories:,} "
            "categories, a linear SVM would need too much memory."
        )
    if parameters.second_look is not None and not is_auto(parameters.second_look):
        is_single = mode == "single-label"
        why = "documents have one label each" if is_single else "it promises no better decisions"
        if model.second_look is None:
            found.append(f"The second look is left out: {why}.")
    departures = [Assumption(sentence) for sentence in found]
    departures += [Assumption(doubt, is_doubtful=True) for doubt in features.doubts]
    n_sampled, n_all = features.n_sampled, model.documents_seen + n_unlabelled
    if 0 < n_sampled < n_all:
        sentence = f"Concepts were learned from a sample of {n_sampled:,} of {n_all:,} documents."
        departures.append(Assumption(sentence))
    if features.n_spared:
        sentence = (
            f"{features.n_spared:,} rare runs and parts of words were left out: with "
            f"{n_categories:,} categories, the weights would take more than "
            f"{MOST_WEIGHT_BYTES / 2**30:g} GB."
        )
        departures.append(Assumption(sentence))
    return departures


# Learning from counts -----------------------------------------------------------------------------


def train_on_counts(
    parameters: TrainingParameters,
    features: Features,
    counts: Examples,
    categories: Categories,
    progress: Progress = no_progress,
    watch: Watch | None = None,
    clock: dict[str, float] | None = None,
    unlabelled: Rows | None = None,
) -> Model:
    """Return a model trained on documents that have been counted.

    Parameters
    ----------
    parameters : TrainingParameters
        The parameters.
    features : Features
        The features that counted the documents; they become part of the model.
    counts : Examples
        The counts, which are replaced by strengths to save memory.
    categories : Categories
        The categories.
    progress, watch, clock
        As for `train`.
    unlabelled : Rows, optional
        Counts of more documents, for the concepts.
    """
    clock, n_documents = {} if clock is None else clock, len(counts)
    if parameters.concepts is not None:
        with timed(clock, "concepts"):
            how: Any = {"seed": parameters.seed_, "n_jobs": parameters.n_jobs_}
            counts = features.fit_concepts(counts, unlabelled, **how, progress=progress)
    mode = decision_mode(parameters.mode, counts.labels())
    parameters = _resolved_for(parameters, counts, mode)
    model = Model(parameters, categories, features, parameters.new_learner(), Decisions(mode))
    model.decisions.grow(counts.n_categories)
    model.documents_seen = n_documents
    scores_by_document: dict[int, np.ndarray] = {}
    if parameters.tune_folds and (_is_tuned(parameters, mode) or parameters.second_look):
        scores_by_document = _learn_decisions_by_folds(model, counts, progress, clock)
    with timed(clock, "strength"):
        counts = features.choose(counts, most_columns(model.learner, counts.n_categories))
        check_memory(model.learner, features, counts.n_categories)
        n_remembered = parameters.remember if isinstance(model.learner, Online) else 0
        memory = sampled(counts, n_remembered, parameters.seed_) if n_remembered else None
        strengths = features.weigh(counts)
        give_back()
    with timed(clock, "learn"):
        how = {"n_jobs": parameters.n_jobs_, "progress": progress, "watch": watch}
        _learn(model, strengths, memory, scores_by_document, **how)
    if model.second_look is not None:
        model.second_look = model.second_look.grown(features.fields())
    return model


def _resolved_for(
    parameters: TrainingParameters, counts: Examples, mode: str
) -> TrainingParameters:
    """Return the parameters with every "auto" resolved for these documents."""
    n_dual_variables = len(counts) * counts.n_categories
    has_too_many = n_dual_variables > MOST_DUAL_VARIABLES and is_auto(parameters.learner)
    has_few = is_auto(parameters.second_look) and len(counts) < LEAST_DOCUMENTS_FOR_LOOK
    is_single = mode == "single-label"
    resolved = parameters.resolved("single-label" if has_too_many else mode)
    if has_few or is_single:
        resolved = resolved.replace(second_look=None)
    return resolved


def _is_tuned(parameters: TrainingParameters, mode: str) -> bool:
    return bool(objective_for(parameters.objective, mode) or parameters.calibrate)


def _learn_decisions_by_folds(
    model: Model, counts: Examples, progress: Progress, clock: dict[str, float]
) -> dict[int, np.ndarray]:
    """Learn decisions and second look from held-out scores; return the scores by document."""
    parameters, kind, n_documents = model.parameters, model.parameters.second_look, len(counts)
    names, mode = model.categories.names, model.decisions.mode
    objective = objective_for(parameters.objective, mode)
    aims = names, objective, parameters.calibrate, n_documents
    with timed(clock, "tune"):
        held_out = held_out_scores(model, counts, progress, has_evidence=bool(kind))
        untuned, unseen = model.decisions, held_out.unseen
        model.decisions, model.tuning = tune_decisions(
            untuned, unseen.scores, unseen.labels, *aims, unseen.folds
        )
    if kind and kind != "auto":
        with timed(clock, "second look"):
            progress("a second look", len(unseen.scores), None)
            unseen = unseen.at_most(MOST_LOOKED)
            seed, n_jobs = parameters.seed_, parameters.n_jobs_
            look, scores = SecondLook.fit(kind, unseen, n_documents, seed=seed, n_jobs=n_jobs)
            decisions, tuning = tune_decisions(untuned, scores, unseen.labels, *aims, unseen.folds)
            if not _is_worse(objective, tuning, model.tuning):
                model.second_look, model.decisions, model.tuning = look, decisions, tuning
    return held_out.by_document()


def _is_worse(objective: str | None, tuning: Tuning, other: Tuning) -> bool:
    tables = tuning.after.contingency, other.after.contingency
    return Objective.parse(objective or "f1").is_worse(*tables)


def _learn(
    model: Model,
    strengths: Examples,
    memory: Memory | None,
    scores_by_document: dict[int, np.ndarray],
    *,
    n_jobs: int,
    progress: Progress,
    watch: Watch | None,
) -> None:
    """Let the learner learn from all documents, and complete decisions and memory."""
    parameters, learner, mode = model.parameters, model.learner, model.decisions.mode
    how: Any = {"n_jobs": n_jobs, "progress": progress, "watch": watch}
    is_tuned = _is_tuned(parameters, mode)
    if is_tuned and not parameters.tune_folds:
        documents = random_documents(strengths, parameters.seed_)
        scores = _fit_tracked(learner, strengths, documents, **how)
        labels = strengths.labels().take(documents)
        strengths.close()
        give_back()
        objective = objective_for(parameters.objective, mode)
        if is_auto(parameters.objective) and objective and not parameters.calibrate:
            model.decisions.tune(
                scores, labels, objective
            )  # estimating the result takes far longer
        else:
            aims = model.categories.names, objective, parameters.calibrate, model.documents_seen
            model.decisions, model.tuning = tune_decisions(model.decisions, scores, labels, *aims)
        scores_by_document = dict(zip(documents.tolist(), scores, strict=True))
    elif memory is not None and not scores_by_document and isinstance(learner, Tracking):
        scores = _fit_tracked(learner, strengths, memory.numbers, **how)
        scores_by_document = dict(zip(memory.numbers.tolist(), scores, strict=True))
    else:
        learner.fit_rows(strengths, **how)
    if memory is not None:
        unknown = np.full(strengths.n_categories, np.nan, np.float32)
        held_out = [scores_by_document.get(n, unknown) for n in memory.numbers.tolist()]
        features = model.features
        rows = features.apply(memory.rows(range(len(memory)), features.n_columns))
        model.memory = memory.with_own(learner.score_rows(rows, n_jobs) - np.array(held_out))


def _fit_tracked(
    learner: Any, strengths: Examples, documents: np.ndarray, *, n_jobs: int, **how: Any
) -> np.ndarray:
    """Let the learner learn, and return nearly held-out scores of some documents.

    These are the scores of the documents less what they have contributed by being learned: they
    take a pass over the documents instead of a learner for each fold.
    """
    indices = np.full(len(strengths), -1)
    indices[documents] = np.arange(len(documents))
    with learner.tracking(indices, strengths.n_categories) as contributions:
        learner.fit_rows(strengths, n_jobs=n_jobs, **how)
    scores = contributions * -np.float32(learner.own_share)
    order, n_done = np.argsort(documents), 0  # a file is read from start to end
    for rows, _ in strengths.take(documents[order]):
        for _, some in rows.pieces():
            here = order[n_done : (n_done := n_done + some.n_rows)]
            scores[here] += learner.score_rows(some, n_jobs)
    return np.asarray(scores)


# What is checked before and while learning --------------------------------------------------------


def decision_mode(mode: str, labels: Labels) -> str:
    """Return "single-label" or "multi-label": the given mode, or the one that the labels show."""
    if mode != "auto":
        return mode
    has_one_each = bool((np.diff(labels.indptr) == 1).all())
    return "single-label" if has_one_each and labels.n_categories > 1 else "multi-label"


def objective_for(objective: str | None, mode: str) -> str | None:
    """Return the objective of thresholds: "auto" is f1 for several labels and None for one."""
    if objective == "auto":
        return "f1" if mode == "multi-label" else None
    return objective


def check_learnable(labels: Labels, categories: Categories) -> None:
    """Raise `DocumentError` if there is nothing to learn."""
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
