"""Batches of labelled documents from any kind of input, with progress and timing."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import numpy as np

from thresher.corpora import open_documents
from thresher.documents import Batch, Columns, Documents, column_to_list, from_texts
from thresher.errors import DocumentError, ParameterError, counted, param
from thresher.fields import Fields, as_text, field_columns
from thresher.model.categories import Categories, LabelLists
from thresher.rows import Labels, Rows

__all__ = [
    "LabelledSource", "Progress", "Watch", "checked_weights", "encode_labels", "no_progress",
    "open_source", "some_weights", "timed", "without_zero_weights",
]  # fmt: skip

log = logging.getLogger("thresher")

Progress = Callable[[str, int, float | None], None]
"""Called with the stage, the number of documents processed, and the share done or None."""

Watch = Callable[[int, int, int, int], None]
"""Called with the pass number, and the documents, mistakes and decisions since the last call."""


def no_progress(stage: str, documents: int, share: float | None) -> None:
    """Ignore the progress."""


@contextmanager
def timed(clock: dict[str, float], stage: str) -> Iterator[None]:
    """Add the time spent in the block to a stage of the clock."""
    began = perf_counter()
    try:
        yield
    finally:
        clock[stage] = clock.get(stage, 0.0) + perf_counter() - began


class LabelledSource:
    """Documents with labels and weights, in batches.

    Parameters
    ----------
    documents, labels : list of texts, path, Documents or table; and labels
        As for `Categorizer.fit`.
    columns : Columns, optional
        The columns of the table that the model was trained on.
    fields : str or sequence of str, optional
        The parameter `fields` of the model.
    progress : callable, optional
        Called after each batch.
    clock : dict, optional
        Seconds by stage.
    sample_weight : array, optional
        The weight of each document.
    """

    def __init__(
        self,
        documents: Any,
        labels: Any = None,
        columns: Columns | None = None,
        fields: Fields = None,
        progress: Progress = no_progress,
        clock: dict[str, float] | None = None,
        sample_weight: Any = None,
    ) -> None:
        self.labels = None if labels is None else LabelLists.read(labels)
        self.documents = open_source(documents, labels is not None, columns, fields)
        self.fields = field_columns(fields) if fields else ()
        self.clock = {} if clock is None else clock
        self.progress = progress
        self._weights = None if sample_weight is None else checked_weights(sample_weight)
        self._logged: set[str] = set()
        self._parallel: list[tuple[str, Any]] = []  # values that must match the documents
        if self.labels is not None:
            self._parallel.append(("labels", self.labels.lists))
        if self._weights is not None:
            self._parallel.append(("sample_weight", self._weights))

    @property
    def form(self) -> str:
        """The form of the labels: "one", "several" or "indicator"."""
        return "several" if self.labels is None else self.labels.form

    @property
    def columns(self) -> Columns | None:
        """The columns that the documents are read from; known after the first batch."""
        return self.documents.columns

    def batches(self, stage: str) -> Iterator[Batch]:
        """Yield the documents in batches, with labels and weights, and report progress."""
        batches, n_read = self.documents.batches(self.fields), 0
        while True:
            with timed(self.clock, "read"):
                batch = next(batches, None)
            if batch is None:
                break
            rows = slice(n_read, n_read + len(batch))
            for name, values in self._parallel:
                if len(values[rows]) < len(batch):
                    raise _wrong_number("more documents", len(values), name)
            if self.labels is not None:
                batch.labels = [list(labels) for labels in self.labels.lists[rows]]
                batch.labels_are_given = True
            if self._weights is not None:
                batch.weights = self._weights[rows]
            yield batch
            n_read += len(batch)
            total = self.documents.bytes_total
            self.progress(stage, n_read, self.documents.bytes_read / total if total else None)
        for note in self.documents.notes:
            if note not in self._logged:
                log.info(note)
                self._logged.add(note)
        for name, values in self._parallel:
            if len(values) != n_read:
                raise _wrong_number(counted(n_read, "document"), len(values), name)


def open_source(
    documents: Any,
    has_labels: bool,
    familiar: Columns | None,
    fields: Fields = None,
    **options: Any,
) -> Documents:
    """Return a source of batches for anything that `Categorizer` accepts as documents.

    Parameters
    ----------
    documents : list of texts, path, Documents or table
        The documents.
    has_labels : bool
        Whether labels are given separately; otherwise, they are read from the documents.
    familiar : Columns, optional
        The columns of the table that the model was trained on.
    fields : str or sequence of str, optional
        The parameter `fields` of the model.
    **options
        Options of `open_documents`, if labels are not given separately.
    """
    if fields and isinstance(documents, list) and field_columns(fields):
        other_columns = () if familiar is None else familiar.text
        documents = [as_text(document, fields, other_columns) for document in documents]
    if not has_labels:
        return open_documents(documents, familiar=familiar, **options)
    if isinstance(documents, str | bytes):
        raise DocumentError(f"documents is one text, {documents[:40]!r}; give a list of texts.")
    if hasattr(documents, "columns") and hasattr(documents, "shape"):  # a table
        return open_documents(documents, False, familiar=familiar)
    return from_texts(column_to_list(documents))


def encode_labels(categories: Categories, batch: Batch) -> Labels:
    """Return the labels of a batch as category numbers; add new labels to the categories."""
    if batch.labels is None:
        raise DocumentError(
            "The documents have no labels to learn from: name the column that has them "
            f"({param('labels', '...')}); mail and texts in files have the folder that they are in."
        )
    from_table = not batch.labels_are_given
    return categories.encode(batch.labels, True, from_table)._replace(weights=batch.weights)


def without_zero_weights(rows: Rows, labels: Labels) -> tuple[Rows, Labels]:
    """Return the documents and labels whose weight is not zero."""
    if labels.weights is None or labels.weights.all():
        return rows, labels
    present = np.flatnonzero(labels.weights)
    return rows.take(present), labels.take(present)


def _wrong_number(documents: str, n_values: int, name: str) -> DocumentError:
    return DocumentError(
        f"{documents.capitalize()} and {name} for {n_values:,} are given; give one for each "
        "document."
    )


def checked_weights(sample_weight: Any) -> np.ndarray:
    """Return the weights of documents as an array; raise an error for invalid ones."""
    try:
        weights = np.asarray(sample_weight, np.float64)
    except (TypeError, ValueError):
        weights = np.array(np.nan)
    if weights.ndim != 1 or not np.isfinite(weights).all() or (weights < 0).any():
        raise ParameterError(
            "sample_weight must be finite numbers of zero or more, one per document."
        )
    return weights


def some_weights(sample_weight: Any, n_documents: int | None = None) -> np.ndarray:
    """Return the weights of documents, of which one at least must not be zero."""
    weights = checked_weights(sample_weight)
    if n_documents not in (None, len(weights)):
        raise _wrong_number(counted(n_documents, "document"), len(weights), "sample_weight")
    if not weights.any():
        raise ParameterError("sample_weight is zero for every document; give some a weight.")
    return weights
