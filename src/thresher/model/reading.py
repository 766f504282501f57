"""Read documents with a model that others may change meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Self

import numpy as np

from thresher.documents import Batch
from thresher.errors import DocumentError
from thresher.evaluation import Evaluation, evaluate
from thresher.model.categories import Categories
from thresher.model.model import Model
from thresher.model.shared import SharedModel
from thresher.model.source import LabelledSource, some_weights
from thresher.rows import Labels

__all__ = ["ScoredBatch", "Tested", "scored_batches"]


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
