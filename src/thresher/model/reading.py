"""Read documents with a model that others may change meanwhile."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from thresher.documents import Batch
from thresher.errors import DocumentError, ThresherWarning, counted
from thresher.evaluation import Evaluation, evaluate
from thresher.model.categories import Categories
from thresher.model.model import Model
from thresher.model.shared import SharedModel
from thresher.model.source import LabelledSource, some_weights
from thresher.parameters import names_of
from thresher.rows import Labels, Rows

__all__ = ["ScoredBatch", "Tested", "score_labelled", "scored_batches"]

DOCUMENTS_RECOGNIZED = 1000  # compared with those remembered by a model without digests
SHARE_LEARNED_BEFORE = 0.01  # a larger one gets a warning; short texts may be equal by chance


class ScoredBatch(NamedTuple):
    """A batch of documents with scores and decisions for the categories known at the beginning."""

    batch: Batch
    scores: np.ndarray  # (documents, categories)
    decisions: np.ndarray  # of bool, of the same shape


def scored_batches(
    shared: SharedModel, source: LabelledSource, n_jobs: int = 1
) -> Iterator[ScoredBatch]:
    """Yield batches with scores and decisions, whatever is learned between two batches."""
    known = Categories(shared.model.categories)

    def work(model: Model, batch: Batch, scores: np.ndarray) -> ScoredBatch:
        columns, decisions = model.categories.columns_for(known), model.decisions.decide(scores)
        return ScoredBatch(batch, scores[:, columns], decisions[:, columns])

    return shared.map(work, source, n_jobs)


class Tested(NamedTuple):
    """Labelled documents, scored and decided."""

    scores: np.ndarray  # (documents, known categories)
    decisions: np.ndarray  # of bool, of the same shape
    labels: Labels
    names: list[str]  # of all categories, the known ones first

    @classmethod
    def read(
        cls,
        known: Categories,
        batches: Iterable[ScoredBatch],
        watch: Callable[[ScoredBatch], Any] | None = None,
    ) -> Self:
        """Put batches together; `watch` is called with each."""
        encoder, labels, scores, decisions = Categories(known), [], [], []
        for scored in batches:
            if scored.batch.labels is None:
                raise DocumentError("The documents have no labels to measure against.")
            from_table = not scored.batch.labels_are_given
            labels.append(encoder.encode(scored.batch.labels, True, from_table))
            scores.append(scored.scores)
            decisions.append(scored.decisions)
            if watch is not None:
                watch(scored)
        if not labels:
            raise DocumentError("There is nothing to evaluate: the source has no documents.")
        all_labels = Labels.concatenate(labels)._replace(n_categories=len(encoder))
        return cls(np.concatenate(scores), np.concatenate(decisions), all_labels, encoder.names)

    def evaluate(self) -> Evaluation:
        """Return the measures of the decisions."""
        return evaluate(self.scores, self.labels, self.names, decisions=self.decisions)

    def exact_match(self, sample_weight: Any = None) -> float:
        """Return the share of documents that get exactly their labels."""
        n_known, truth = self.decisions.shape[1], self.labels.to_dense()
        is_right = (truth[:, :n_known] == self.decisions).all(axis=1)
        is_right &= ~truth[:, n_known:].any(axis=1)
        weights = None if sample_weight is None else some_weights(sample_weight, len(is_right))
        return float(np.average(is_right, weights=weights))


def score_labelled(
    shared: SharedModel,
    source: LabelledSource,
    n_jobs: int = 1,
    watch: Callable[[ScoredBatch], Any] | None = None,
    allow_none: bool = False,
    warns: bool = True,
) -> Tested:
    """Return the scores and decisions of labelled documents, and their labels.

    Parameters
    ----------
    shared, source, n_jobs
        The model, the documents, and the number of threads.
    watch : callable, optional
        Called with each scored batch.
    allow_none : bool, default=False
        Whether having no label is an answer although it is none for the model.
    warns : bool, default=True
        Whether to warn if measures of these documents cannot be right.
    """
    model, beginning = shared.model, list[Batch]()
    may_be_none = model.decisions.mode == "single-label" and model.decisions.allow_none
    source.leave_out_blank(model, allow_none or may_be_none)

    def see(scored: ScoredBatch) -> None:
        if sum(map(len, beginning)) < DOCUMENTS_RECOGNIZED:
            beginning.append(scored.batch)
        if watch is not None:
            watch(scored)

    tested = Tested.read(model.categories, scored_batches(shared, source, n_jobs), see)
    source.warn_of_blank_labels()
    with shared.reading() as model:
        for sentence in doubts(model, tested, source, beginning) if warns else ():
            warnings.warn(sentence, ThresherWarning, stacklevel=4)
    return tested


def doubts(
    model: Model, tested: Tested, source: LabelledSource, beginning: Sequence[Batch]
) -> Iterator[str]:
    """Yield warnings if the measures of tested documents cannot be right.

    Parameters
    ----------
    model : Model
        The model that was tested.
    tested, source : Tested, LabelledSource
        The documents.
    beginning : sequence of Batch
        The first documents, by which models without digests recognize remembered documents.
    """
    n_known_categories, names = tested.scores.shape[1], tested.names
    if len(tested.labels.indices) and tested.labels.indices.min() >= n_known_categories:
        others = names_of(names[n_known_categories:])
        yield (
            f"None of the labels is a category of the model: the documents have {others}, and the "
            f"model has {names_of(names[:n_known_categories])}. Look whether the label column is "
            "the right one."
        )
    if model.digests is not None:
        n_known, n = model.digests.n_known(source.digested.texts)
    elif model.memory is not None and len(model.memory):
        counts = [model.features.count(batch.texts) for batch in beginning]
        n_known, n = len(model.memory.find(Rows.concatenate(counts))), sum(map(len, beginning))
    else:
        return
    if n_known > SHARE_LEARNED_BEFORE * n:
        of = counted(n, "document") if n == len(tested.scores) else f"a sample of {n:,} documents"
        yield (
            f"The model has learned from {n_known:,} of {of} that it is measured on, so the "
            "figures are too good. Measure on others; thresher split puts some aside."
        )
