"""Batches of labelled documents from any kind of input, with progress and timing."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from thresher.corpora import open_documents
from thresher.documents import Batch, Columns, Documents, column_to_list, from_texts
from thresher.documents.batch import numbers_to_arrow
from thresher.errors import DocumentError, ParameterError, ThresherWarning, counted, param
from thresher.fields import Fields, as_text, field_columns
from thresher.model.categories import Categories, LabelLists
from thresher.model.memory import Digested
from thresher.rows import Labels, Rows

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
    blank : bool, default=True
        Whether to yield documents without labels; see `is_none_an_answer`.
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
        blank: bool = True,
    ) -> None:
        self.labels = None if labels is None else LabelLists.read(labels)
        self.documents = open_source(documents, labels is not None, columns, fields)
        self.fields = field_columns(fields) if fields else ()
        self.clock = {} if clock is None else clock
        self.progress = progress
        self.weights = None if sample_weight is None else checked_weights(sample_weight)
        self.digested = Digested()  # the documents of the last pass
        self.blank, self.n_blank = blank, 0  # in the last pass, without labels and left out
        self.n_read = 0  # documents in the last pass
        self.has_several = False  # whether a document has several labels, or may have
        self._logged: set[str] = set()
        lists = None if self.labels is None else self.labels.lists
        parallel = ("labels", lists), ("sample_weight", self.weights)  # must match the documents
        self._parallel = [(name, values) for name, values in parallel if values is not None]

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
        batches, n_read, self.n_blank = self.documents.batches(self.fields), 0, 0
        self.digested = Digested()
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
            if self.weights is not None:
                batch.weights = self.weights[rows]
            n_given = len(batch)
            batch.numbers = np.arange(n_read + 1, n_read + n_given + 1)
            if self.blank and not self.has_several:
                self.has_several = any(len(labels) > 1 for labels in batch.labels or ())
            if not self.blank and batch.labels is not None and not self._has_empty_lists:
                labelled = np.flatnonzero(list(map(bool, batch.labels)))
                self.n_blank += n_given - len(labelled)
                batch = batch if len(labelled) == n_given else _taken(batch, labelled)
            if batch.labels is not None:
                self.digested.add(batch)
            if len(batch) or not n_given:  # without documents, it may list skipped ones
                yield batch
            self.n_read = n_read = n_read + n_given
            total = self.documents.bytes_total
            self.progress(stage, n_read, self.documents.bytes_read / total if total else None)
        for note in self.documents.notes:
            if note not in self._logged:
                log.info(note)
                self._logged.add(note)
        for name, values in self._parallel:
            if len(values) != n_read:
                raise _wrong_number(counted(n_read, "document"), len(values), name)
        if self.n_blank and self.n_blank == n_read:
            raise no_labels(n_read)

    def is_none_an_answer(self, mode: str, n_categories: int) -> bool:
        """Return True if documents without labels are learned and measured, not left out.

        That is so in mode "multi-label" and for an indicator matrix. In mode "auto", it is so for
        a corpus that knows which documents have no label, for lists of labels, some of which have
        several, and if there is only one category, which needs documents that do not have it.
        """
        is_known = self.documents.none_is_answer or self._has_empty_lists or n_categories == 1
        is_stated = mode == "multi-label" or self.form == "indicator"
        return is_stated or (mode == "auto" and is_known)

    @property
    def _has_empty_lists(self) -> bool:
        """Whether an empty list of labels says that a document has none."""
        is_given = self.labels is not None
        return self.has_several and (is_given or self.documents.has_label_lists)

    def leave_out_blank(self, model: Any, allow_none: bool = False) -> None:
        """Leave documents without labels out, unless having none is an answer for the model.

        Parameters
        ----------
        model : Model
            The model that learned, or measures, the documents.
        allow_none : bool, default=False
            Whether the model may answer that a document has no category although it gives one.
        """
        mode = "multi-label" if model.categories.form == "indicator" else model.parameters.mode
        self.has_several = mode == "auto" and model.decisions.mode == "multi-label"
        self.blank = allow_none or self.is_none_an_answer(mode, len(model.categories))

    def blank_labels(self) -> str:
        """Return a sentence on the documents that were left out; empty if there are none."""
        if not self.n_blank:
            return ""
        remedy = f"If having none is an answer, train with {param('mode', 'multi-label')}."
        return f"{self.n_blank:,} of {self.n_read:,} have no label and were left out. {remedy}"

    def warn_of_blank_labels(self) -> None:
        """Warn if documents were left out."""
        if sentence := self.blank_labels():
            warnings.warn(f"Of the documents, {sentence}", ThresherWarning, stacklevel=4)


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


def _taken(batch: Batch, rows: np.ndarray) -> Batch:
    """Return some of the documents of a batch."""
    assert batch.labels is not None
    taken, picked = numbers_to_arrow(rows), rows.tolist()
    return replace(
        batch,
        columns={name: column.take(taken) for name, column in batch.columns.items()},
        labels=[batch.labels[i] for i in picked],
        locations=[batch.locations[i] for i in picked],
        weights=None if batch.weights is None else batch.weights[rows],
        numbers=batch.numbers[rows],
    )


def no_labels(n_documents: int) -> DocumentError:
    """Return the error for documents of which none has a label."""
    return DocumentError(
        f"None of the {counted(n_documents, 'document')} has a label. Look whether the label "
        "column is the right one."
    )


def readable_again(documents: Any, labels: Any, fields: Any) -> tuple[Any, Any]:
    """Return documents and labels that can be read several times; a stream is read into memory."""
    is_once = isinstance(documents, Documents) and documents.only_once
    if not is_once or fields:
        return documents, labels
    texts: list[str] = []
    lists: list[Any] | None = []
    for batch in LabelledSource(documents, labels).batches("reading"):
        texts += batch.texts.to_pylist()
        lists = None if batch.labels is None or lists is None else lists + batch.labels
    return from_texts(texts, lists), None


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
