"""Labelled documents counted once, to be learned from and tested on again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thresher.errors import DocumentError
from thresher.examples import Examples, Spool
from thresher.model import train
from thresher.model.assumptions import labelled
from thresher.model.train import Line, Progress, Reader, no_progress
from thresher.rows import Labels

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer
    from thresher.features import Features

__all__ = ["CountedDocuments", "Fitted"]


class CountedDocuments(NamedTuple):
    """Counts and labels of documents, of which some are learned from and others tested on.

    Only the counting is shared. Which words there are, how many documents each is in, and which
    features tell most is found anew from the documents that are learned from, so that nothing of
    the others leaks in: the result is that of `Categorizer.fit` on the texts.
    """

    counts: Examples
    features: Features  # which counted, and nothing else
    labels: Labels
    categories: list[str]  # sorted by label

    @classmethod
    def read(
        cls,
        categorizer: Categorizer,
        documents: Any,
        labels: Any = None,
        *,
        progress: Progress = no_progress,
    ) -> CountedDocuments:
        """Count documents as a categorizer, which is left alone, would; see `cross_validate`."""
        reader = Reader(documents, labels, progress=progress, fields=categorizer.fields)
        stations, spool = train.new_stations(categorizer, reader.form), Spool(memory_limit=2**62)
        for batch in reader.batches("counting"):
            rows = stations.features.counter.count(batch.texts)
            spool.append(rows, train.encoded(stations.categories, batch))
        if not len(spool):
            raise DocumentError("There is nothing to learn from: the source has no documents.")
        together, new_numbers = spool.labels(), stations.categories.sort()
        together = together._replace(indices=new_numbers[together.indices])
        train.check_learnable(together, stations.categories)
        spool.relabel(together)
        counts = Examples(spool)
        if (present := labelled(categorizer.mode, together)) is not None:  # as `fit` has it
            counts, together = counts.take(present), together.take(present)
        return cls(counts, stations.features, together, stations.categories.names)

    def __len__(self) -> int:
        return len(self.counts)

    def fit(self, categorizer: Categorizer, chosen: np.ndarray) -> Fitted:
        """Train a categorizer of the same parameters on the chosen documents, in this order."""
        labels = self.labels.take(chosen)
        present = np.bincount(labels.indices, minlength=len(self.categories)) > 0
        numbers = np.cumsum(present, dtype=np.int32) - 1
        known = labels._replace(
            indices=numbers[labels.indices], n_categories=int(np.count_nonzero(present))
        )
        categorizer = categorizer.settled().replace(remember=0)
        part = self.counts.take(chosen).relabelled(known)
        learner = categorizer.new_learner()
        features = train.fold_features(categorizer, self.features, learner, part)
        names = [name for name, is_in in zip(self.categories, present, strict=True) if is_in]
        return Fitted(train.fit_line(categorizer, features, part, names), present)


class Fitted(NamedTuple):
    """What was learned from some of the counted documents."""

    line: Line
    present: np.ndarray  # which categories were met

    def score(self, documents: CountedDocuments, chosen: np.ndarray) -> np.ndarray:
        """Return the scores of some of the documents for the categories that were met."""
        features = self.line.features
        blocks = documents.counts.take(chosen)
        counts = (features.with_concepts(rows) for rows, _ in blocks)
        return np.concatenate([self.line.scores(features.apply(rows)) for rows in counts])

    def truth(self, documents: CountedDocuments, chosen: np.ndarray) -> tuple[Labels, list[str]]:
        """Return labels in the learner's numbering, what it never met last, and their names."""
        order = np.argsort(~self.present, kind="stable")
        numbers = np.argsort(order).astype(np.int32)
        labels = documents.labels.take(chosen)
        names = [documents.categories[i] for i in order]
        return labels._replace(indices=numbers[labels.indices]), names
