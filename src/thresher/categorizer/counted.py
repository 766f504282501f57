"""Labelled documents counted once, to be learned from and tested on again and again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from thresher._spool import Spool
from thresher.categorizer.learning import Progress, no_progress
from thresher.errors import DocumentError
from thresher.rows import Labels, Rows

if TYPE_CHECKING:
    from thresher.categorizer.categorizer import Categorizer
    from thresher.text import TextCounter

__all__ = ["CountedDocuments", "Fitted"]


class CountedDocuments(NamedTuple):
    """Counts and labels of documents, of which some are learned from and others tested on.

    Only the counting is shared. Which words there are, how many documents each is in, and which
    features tell most is found anew from the documents that are learned from, so that nothing of
    the others leaks in: the result is that of `Categorizer.fit` on the texts.
    """

    rows: Rows
    labels: Labels
    categories: list[str]  # sorted by name
    hashed: bool

    @classmethod
    def read(
        cls,
        categorizer: Categorizer,
        documents: Any,
        labels: Any = None,
        *,
        progress: Progress = no_progress,
    ) -> CountedDocuments:
        """Count documents as a categorizer would.

        Parameters
        ----------
        categorizer : Categorizer
            Whose parameters say what is counted; it is left alone.
        documents : list of str, path, Documents or table
            Labelled documents.
        labels : list of str or list of lists of str, optional
            The categories of each text, when `documents` is a list of texts.
        progress : callable, optional
            Told the stage, the number of documents and the share that is done.
        """
        reader = replace(categorizer)
        reader._begin()
        rows, known = [], []
        for batch in reader._batches(documents, labels, progress, "counting"):
            rows.append(reader.counter_.count(batch.texts))
            known.append(reader._labels_of(batch))
        if not rows:
            raise DocumentError("There is nothing to learn from: the source has no documents.")
        together = Labels.concatenate(known)
        reader._check_learnable(together)
        names = sorted(reader.categories_)
        rank = {name: i for i, name in enumerate(names)}
        new = np.array([rank[name] for name in reader.categories_], np.int32)
        together = together._replace(indices=new[together.indices])
        return cls(Rows.concatenate(rows), together, names, categorizer.hashing_bits is not None)

    def __len__(self) -> int:
        return self.rows.n_rows

    def fit(self, categorizer: Categorizer, chosen: np.ndarray) -> Fitted:
        """Train a categorizer of the same parameters on some of the documents.

        Parameters
        ----------
        categorizer : Categorizer
            Whose parameters are taken; it is left alone. What it counts must be what was counted.
        chosen : array of int
            The documents to learn from, in this order.
        """
        model = replace(categorizer)
        model._begin()
        rows, labels = self.rows.take(chosen), self.labels.take(chosen)
        columns = Columns.all(rows) if self.hashed else Columns.of(rows)
        model.counter_ = cast("TextCounter", columns)
        present = np.bincount(labels.indices, minlength=len(self.categories)) > 0
        model.categories_ = [
            name for name, is_in in zip(self.categories, present, strict=True) if is_in
        ]
        model._category_numbers = {name: i for i, name in enumerate(model.categories_)}
        numbers = np.cumsum(present, dtype=np.int32) - 1
        known = Labels(labels.indptr, numbers[labels.indices], len(model.categories_))
        with Spool() as spool:
            spool.append(columns.apply(rows), known)
            model._fit_counts(spool, no_progress)
        return Fitted(model, columns, present)


class Fitted(NamedTuple):
    """A categorizer that was trained on some of the counted documents."""

    categorizer: Categorizer
    columns: Columns
    present: np.ndarray  # which categories were met

    def score(self, documents: CountedDocuments, chosen: np.ndarray) -> np.ndarray:
        """Return the scores of some of the documents for the categories that were met."""
        rows = self.columns.apply(documents.rows.take(chosen))
        strengths = self.categorizer.strength_.apply(rows)
        return self.categorizer.learner_.score_rows(strengths)

    def truth(self, documents: CountedDocuments, chosen: np.ndarray) -> tuple[Labels, list[str]]:
        """Return labels in the categorizer's numbering, what it never met last, and their names."""
        order = np.argsort(~self.present, kind="stable")
        numbers = np.argsort(order).astype(np.int32)
        labels = documents.labels.take(chosen)
        names = [documents.categories[i] for i in order]
        return labels._replace(indices=numbers[labels.indices]), names


class Columns:
    """Stands where a counter stands: knows the columns that are left, and counts nothing.

    Parameters
    ----------
    numbers : array of int32
        The new number of each column of the counts, or -1.
    n_features : int
        How many have one.
    """

    def __init__(self, numbers: np.ndarray, n_features: int) -> None:
        self.numbers = numbers
        self.n_features = n_features

    @classmethod
    def all(cls, rows: Rows) -> Columns:
        """Leave all columns as they are."""
        return cls(np.arange(rows.n_columns, dtype=np.int32), rows.n_columns)

    @classmethod
    def of(cls, rows: Rows) -> Columns:
        """Number the columns that occur as a counter of these documents would: as they come."""
        found, first = np.unique(rows.indices, return_index=True)
        numbers = np.full(rows.n_columns, -1, np.int32)
        numbers[found[np.argsort(first)]] = np.arange(len(found))
        return cls(numbers, len(found))

    def prune(self, keep: np.ndarray) -> None:
        """Leave out columns; the others close ranks."""
        new = np.where(keep, np.cumsum(keep) - 1, -1)
        left = self.numbers >= 0
        self.numbers[left] = new[self.numbers[left]]
        self.n_features = int(np.count_nonzero(keep))

    def apply(self, rows: Rows) -> Rows:
        """Return the rows in the columns that are left."""
        columns = self.numbers[rows.indices]
        inside = columns >= 0
        ends = np.concatenate([[0], np.cumsum(inside)])
        return Rows(ends[rows.indptr], columns[inside], rows.values[inside], self.n_features)
