"""Labelled documents that are counted once, for training and testing on many splits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thresher.examples import Examples, Spool
from thresher.model.categories import Categories
from thresher.model.held_out import fold_features
from thresher.model.model import Model
from thresher.model.source import LabelledSource, Progress, no_progress
from thresher.model.train import count_documents, labelled, new_model, train_on_counts
from thresher.rows import Labels

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer
    from thresher.features import Features

__all__ = ["CountedDocuments", "Fitted"]


class CountedDocuments(NamedTuple):
    """Counts and labels of documents, to train on some and test on others.

    Only the counting is shared. The vocabulary, document frequencies and selected features are
    those of the training documents, so that nothing leaks from the test documents: the result is
    that of `Categorizer.fit` on the texts.
    """

    counts: Examples
    features: Features  # those that counted them
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
        """Count documents as `categorizer.fit` would; see `cross_validate`."""
        source = LabelledSource(documents, labels, None, categorizer.fields, progress)
        model, spool = new_model(categorizer, source.form), Spool(memory_limit=2**62)
        count_documents(model, source, spool, categorizer.n_jobs_)
        if (present := labelled(categorizer.mode, source, spool.labels())) is not None:
            spool.keep(present)
        source.warn_of_blank_labels()
        return cls(Examples(spool), model.features, spool.labels(), model.categories.names)

    def __len__(self) -> int:
        return len(self.counts)

    def fit(self, categorizer: Categorizer, chosen: np.ndarray) -> Fitted:
        """Return a model with the parameters of `categorizer`, trained on the chosen documents."""
        labels = self.labels.take(chosen)
        present = np.bincount(labels.indices, minlength=len(self.categories)) > 0
        numbers = np.cumsum(present, dtype=np.int32) - 1
        known = labels._replace(
            indices=numbers[labels.indices], n_categories=int(np.count_nonzero(present))
        )
        parameters = categorizer.resolved().replace(remember=0)
        training = self.counts.take(chosen).relabelled(known)
        learner = parameters.new_learner()
        features = fold_features(parameters, self.features, learner, training)
        names = [name for name, is_in in zip(self.categories, present, strict=True) if is_in]
        model = train_on_counts(parameters, features, training, Categories(names))
        return Fitted(model, present)


class Fitted(NamedTuple):
    """A model trained on some of the counted documents."""

    model: Model
    present: np.ndarray  # of bool: which categories these documents have

    def score(self, documents: CountedDocuments, chosen: np.ndarray) -> np.ndarray:
        """Return the scores of some of the documents for the categories of the model."""
        features = self.model.features
        blocks = documents.counts.take(chosen)
        counts = (features.with_concepts(rows) for rows, _ in blocks)
        return np.concatenate([self.model.score_rows(features.apply(rows)) for rows in counts])

    def truth(self, documents: CountedDocuments, chosen: np.ndarray) -> tuple[Labels, list[str]]:
        """Return the labels of documents and the names of the categories, the model's first."""
        order = np.argsort(~self.present, kind="stable")
        numbers = np.argsort(order).astype(np.int32)
        labels = documents.labels.take(chosen)
        names = [documents.categories[i] for i in order]
        return labels._replace(indices=numbers[labels.indices]), names
