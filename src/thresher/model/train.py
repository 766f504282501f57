"""Training of models from labelled documents.

`train` counts the documents and calls `train_on_counts`. That tunes the decisions and the second
look on held-out scores, and trains features and learner on all documents.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from thresher.decisions import Decisions, Objective, Tuning, tune_decisions
from thresher.documents import Batch, Columns
from thresher.engine import Threads
from thresher.errors import DocumentError, ModelError, ParameterError, SizeWarning, counted, param
from thresher.examples import Examples, Spool
from thresher.features import MOST_DOCUMENTS, Features
from thresher.learners import Learner
from thresher.learners.capabilities import Online, Tracking
from thresher.limits import (
    BYTES_TO_ANNOUNCE,
    FEWER_FEATURES,
    MOST_WEIGHT_BYTES,
    check_weights,
    give_back,
    most_columns,
)
from thresher.model.categories import Categories, LabelLists, decision_mode
from thresher.model.held_out import held_out_scores, random_documents
from thresher.model.memory import Memory, sampled
from thresher.model.model import Assumption, Model
from thresher.model.parameters import TrainingParameters, is_auto
from thresher.model.second_look import MOST_LOOKED, SecondLook
from thresher.model.source import (
    LabelledSource,
    Progress,
    Watch,
    encode_labels,
    no_progress,
    some_weights,
    timed,
    without_zero_weights,
)
from thresher.rows import Labels, Rows

__all__ = [
    "assume", "count_documents", "labelled", "model_for_stream", "new_model", "train",
    "train_on_counts",
]  # fmt: skip

MOST_DUAL_VARIABLES = MOST_WEIGHT_BYTES // 4  # documents times categories of a linear SVM
LEAST_DOCUMENTS_FOR_LOOK = 500  # needed for second_look="auto" to learn a second look
TEXTS_PER_COUNT = 1000  # texts that are counted together
SUSPICIOUS_CATEGORIES = 1000  # with more categories, the label column may be the wrong one
MOST_UNLABELLED = 0.05  # the largest share of documents without label assumed to be mistakes
MISSING = {"na", "n/a", "#n/a", "<na>", "nan", "nat", "null", "nil", "none", "missing", "-", "?"}


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

    Counts that exceed the memory are written to a temporary file.
    """
    if unlabelled is not None and parameters.concepts is None:
        raise ParameterError(
            "Documents without labels are for concepts, and the model has none: give "
            f"{param('concepts', 100)}, or leave {param('unlabelled')} out."
        )
    clock = {} if clock is None else clock
    original_parameters, parameters = parameters, parameters.resolved()
    fields = parameters.fields
    if sample_weight is not None:
        sample_weight = some_weights(sample_weight)
    source = LabelledSource(documents, labels, None, fields, progress, clock, sample_weight)
    mode = "multi-label" if source.form == "indicator" else parameters.mode
    with Spool() as spool:
        untrained = new_model(parameters, source.form)
        categories, features = untrained.categories, untrained.features
        count_documents(untrained, source, spool, parameters.n_jobs or 1)
        all_labels = spool.labels()
        warn_of_size(untrained.learner, spool.n_columns, all_labels, source.columns)
        if not spool.n_entries:
            raise DocumentError(
                f"None of the {counted(len(spool), 'document')} has a word: there is nothing to "
                "learn from. Look whether the text column is the right one."
            )
        if (present := labelled(mode, all_labels)) is not None:
            spool.keep(present)
        unlabelled_counts, n_unlabelled = None, 0
        if unlabelled is not None:
            unlabelled_source = LabelledSource(
                unlabelled, None, source.columns, fields, progress, clock
            )
            unlabelled_counts, n_unlabelled = _count_unlabelled(
                features, unlabelled_source, parameters.seed_
            )
        model = train_on_counts(
            parameters,
            features,
            Examples(spool),
            categories,
            progress,
            watch,
            clock,
            unlabelled_counts,
        )
    model.parameters, model.columns = original_parameters, source.columns
    note = source.documents.columns_note if source.labels is None else ""
    names, decided = categories.names, model.decisions.mode
    model.assumptions = [
        *assume(mode, decided, all_labels, names, note),
        *_departures(model, parameters, n_unlabelled),
    ]
    return model


def new_model(parameters: TrainingParameters, form: str) -> Model:
    """Return an untrained model, after checking the parameters."""
    resolved = parameters.resolved()
    learner = resolved.new_learner()
    features = Features(resolved, learner.preferred_strength, resolved.new_counter())
    return Model(parameters, Categories(form=form), features, learner, Decisions())


def model_for_stream(parameters: TrainingParameters, labels: Any) -> Model:
    """Return an untrained model for a stream of documents whose first labels are given."""
    model = new_model(parameters, "several" if labels is None else LabelLists.read(labels).form)
    if parameters.concepts is not None:
        raise ModelError(
            "Concepts are learned from all documents at once: begin with fit (thresher train), and "
            "go on with learn."
        )
    return model


def count_documents(model: Model, source: LabelledSource, spool: Spool, n_jobs: int) -> None:
    """Append the counts of all documents to a spool; number the categories in sorted order."""

    def count(batch: Batch) -> tuple[Rows, Labels]:
        rows = model.features.counter.count(batch.texts, clock=source.clock)
        return without_zero_weights(rows, encode_labels(model.categories, batch))

    batches = source.batches("reading")
    # One other thread counts, in document order, while this thread reads.
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
    """Return the counts of documents without labels, and the number of these documents.

    If there are too many, a uniform random sample is drawn while they are read.
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
    """Return notices where training deviated from the parameters, and doubts about concepts."""
    features, mode, sentences = model.features, model.decisions.mode, []
    is_best = parameters.preset == "best" and is_auto(parameters.learner)
    n_categories = len(model.categories)
    if is_best and mode == "multi-label" and model.learner.name == "arow":
        sentences.append(
            f"The learner is arow: for {model.documents_seen:,} documents and {n_categories:,} "
            "categories, a linear SVM would need too much memory."
        )
    if parameters.second_look is not None and not is_auto(parameters.second_look):
        is_single = mode == "single-label"
        why = "documents have one label each" if is_single else "it promises no better decisions"
        if model.second_look is None:
            sentences.append(f"The second look is left out: {why}.")
    departures = [Assumption(sentence) for sentence in sentences]
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
        The features that counted the documents; the model takes them over.
    counts : Examples
        The counts of the documents, overwritten with strengths to save memory.
    categories : Categories
        The categories.
    progress, watch, clock
        As for `train`.
    unlabelled : Rows, optional
        Counts of documents without labels, for the concepts.
    """
    clock, n_documents = {} if clock is None else clock, len(counts)
    if parameters.concepts is not None:
        with timed(clock, "concepts"):
            how: Any = {"seed": parameters.seed_, "n_jobs": parameters.n_jobs or 1}
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
        weight_bytes, n_categories = model.learner.weight_bytes, counts.n_categories
        counts = features.choose(counts, most_columns(weight_bytes, n_categories))
        check_weights(weight_bytes, features.n_columns, n_categories)
        n_remembered = parameters.remember if isinstance(model.learner, Online) else 0
        memory = sampled(counts, n_remembered, parameters.seed_) if n_remembered else None
        strengths = features.weigh(counts)
        give_back()
    with timed(clock, "learn"):
        how = {"n_jobs": parameters.n_jobs or 1, "progress": progress, "watch": watch}
        _learn(model, strengths, memory, scores_by_document, **how)
    if model.second_look is not None:
        model.second_look = model.second_look.grown(features.fields())
    return model


def _resolved_for(
    parameters: TrainingParameters, counts: Examples, mode: str
) -> TrainingParameters:
    """Return the parameters with each "auto" replaced by a value for these documents."""
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
    """Learn decisions and second look from held-out scores; return these by document number."""
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
            seed, n_jobs = parameters.seed_, parameters.n_jobs or 1
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
    """Train the learner on all documents, and complete decisions and memory."""
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
            # `tune_decisions` would also estimate the quality, which takes far longer.
            model.decisions.tune(scores, labels, objective)
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
        model.memory = memory.with_contributions(
            learner.score_rows(rows, n_jobs) - np.array(held_out)
        )


def _fit_tracked(
    learner: Any, strengths: Examples, documents: np.ndarray, *, n_jobs: int, **how: Any
) -> np.ndarray:
    """Train the learner, and return approximate held-out scores of some documents.

    These are the scores of the documents less the contributions that they made in training. They
    cost one more pass over the documents, instead of a learner for each fold.
    """
    indices = np.full(len(strengths), -1)
    indices[documents] = np.arange(len(documents))
    with learner.tracking(indices, strengths.n_categories) as contributions:
        learner.fit_rows(strengths, n_jobs=n_jobs, **how)
    scores = contributions * -np.float32(learner.own_share)
    order, n_done = np.argsort(documents), 0  # to read a temporary file sequentially
    for rows, _ in strengths.take(documents[order]):
        for _, piece in rows.pieces():
            indices = order[n_done : (n_done := n_done + piece.n_rows)]
            scores[indices] += learner.score_rows(piece, n_jobs)
    return np.asarray(scores)


# Checks before and during training ----------------------------------------------------------------


def objective_for(objective: str | None, mode: str) -> str | None:
    """Return the objective of thresholds; "auto" is "f1" for multi-label decisions, else None."""
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


def warn_of_size(learner: Learner, n_columns: int, labels: Labels, columns: Columns | None) -> None:
    """Warn of suspiciously many categories, or of high memory use, before training."""
    n, n_categories = labels.n_rows, labels.n_categories
    size = min(MOST_WEIGHT_BYTES, n_columns * n_categories * learner.weight_bytes)
    if n_categories >= SUSPICIOUS_CATEGORIES and 2 * n_categories > n:
        name = f' "{columns.labels}"' if columns is not None and columns.labels else ""
        sentence = (
            f"There are {n_categories:,} categories for {n:,} documents: is{name} really the "
            "column of the labels?"
        )
    elif size >= BYTES_TO_ANNOUNCE:
        sentence = f"{counted(n_columns, 'feature')} and {counted(n_categories, 'category')}:"
    else:
        return
    if size >= BYTES_TO_ANNOUNCE:
        sentence += (
            f" The weights will take about {size / 2**30:.1f} GB, and up to five times that while "
            f"they are learned; to take less, {FEWER_FEATURES}."
        )
    warnings.warn(sentence, SizeWarning, stacklevel=4)


# Assumptions about the documents ------------------------------------------------------------------


def labelled(mode: str, labels: Labels) -> np.ndarray | None:
    """Return the documents with labels if those without are to be left out, else None.

    They are left out in mode "auto" if few documents have no label and all others have exactly one:
    these labels are probably missing by mistake, and the model should be single-label.

    Examples
    --------
    >>> labels = Labels.from_lists([[0], [1], []] + [[1]] * 30, 2)
    >>> len(labelled("auto", labels)), labelled("multi-label", labels)
    (32, None)
    """
    n_labels = np.diff(labels.indptr)
    n_unlabelled = np.count_nonzero(n_labels == 0)
    are_few = 0 < n_unlabelled <= MOST_UNLABELLED * len(n_labels) and n_labels.max() == 1
    if mode == "auto" and labels.n_categories > 1 and are_few:
        return np.flatnonzero(n_labels)
    return None


def assume(
    given_mode: str, mode: str, labels: Labels, names: Sequence[str], columns: str = ""
) -> list[Assumption]:
    """Return the assumptions made about the training documents and their labels.

    Parameters
    ----------
    given_mode, mode : str
        The parameter `mode`, and the mode of the decisions.
    labels : Labels
        The labels of all documents, including those without a label.
    names : sequence of str
        The names of the categories.
    columns : str
        A note on the columns that were read; empty for none.

    Examples
    --------
    >>> labels = Labels.from_lists([[0], [1], []] + [[1]] * 30, 2)
    >>> for assumption in assume("auto", "single-label", labels, ["NA", "news"]):
    ...     print(assumption.sentence)
    One label for each document; 1 of 33 have no label and were left out. If having ...
    The label 'NA' of 1 document looks like a missing value; ...
    """
    n_labels = np.diff(labels.indptr)
    n, n_none = len(n_labels), int(np.count_nonzero(n_labels == 0))
    n_several = int(np.count_nonzero(n_labels > 1))
    assumptions = [Assumption(f"{columns}.")] if columns else []
    if mode == "multi-label":
        counts = f"{n_several:,} of {counted(n, 'document')} have several, {n_none:,} none"
        is_doubtful = given_mode == "auto" and n_none > 0 and not n_several and len(names) > 1
        remedy = ". If labels are missing, leave those documents out" if is_doubtful else ""
        sentence = f"Any number of labels for each document: {counts}{remedy}."
        assumptions.append(Assumption(sentence, is_doubtful))
    elif n_none and given_mode == "auto":
        left_out = f"{n_none:,} of {n:,} have no label and were left out"
        remedy = 'If having none is an answer, take mode="multi-label" (--mode multi-label)'
        sentence = f"One label for each document; {left_out}. {remedy}."
        assumptions.append(Assumption(sentence, is_doubtful=True))
    else:
        assumptions.append(Assumption("One label for each document."))
    n_documents = np.bincount(labels.indices, minlength=len(names))
    for name, count in zip(names, n_documents.tolist(), strict=True):
        if name.strip().lower() in MISSING:
            sentence = (
                f"The label {name!r} of {counted(count, 'document')} looks like a missing value; "
                "it was learned as a category. If it means that there is none, empty those "
                "labels and train again."
            )
            assumptions.append(Assumption(sentence, is_doubtful=True))
    return assumptions
