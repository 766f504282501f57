"""Labelled documents for several passes, in memory or in a temporary file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from copy import copy
from functools import cached_property
from typing import Any, Self

import numpy as np

from thresher.rows import Labels, Rows, joined

MEMORY_LIMIT = 64_000_000  # bytes of entries; about 100 MB of text
BLOCK_ENTRIES = 2_000_000  # entries of a block that is read from the file
RUN, GROUP = 64, 16_384  # numbers of documents that are read, and that are mixed, together
BYTES_PER_ENTRY = 8  # an int32 column and a float32 value

Block = tuple[Rows, Labels, np.ndarray | None]


class Examples:
    """Rows with their labels, in memory or on disk, for any number of passes.

    Iterating yields pairs of `Rows` and `Labels`, a block of documents at a time, in the order of
    the documents. They must not be changed.

    Examples
    --------
    >>> rows = Rows(np.array([0, 2, 3]), np.array([0, 2, 1], np.int32), np.ones(3, np.float32), 3)
    >>> examples = Examples.of(rows, Labels.from_lists([[0], [1]], 2))
    >>> len(examples), examples.n_columns, examples.n_categories, examples.mean_active
    (2, 3, 2, 1.5)
    >>> [labels.indices.tolist() for _, labels in examples.take(np.array([1]))]
    [[1]]
    """

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._transform: Callable[[Rows], Rows] | None = None
        self._chosen: np.ndarray | None = None  # the numbers of the documents; None: all
        self._block: Rows | None = None  # the transformed rows, if they are in memory
        self.n_columns = spool.n_columns
        self.n_categories = spool.labels().n_categories
        self.n_concepts = 0  # the number of concepts, which are the first columns

    @classmethod
    def of(cls, rows: Rows, labels: Labels, n_concepts: int = 0) -> Examples:
        """Return examples of these documents, which stay in memory."""
        spool = Spool(memory_limit=2**62)
        spool.append(rows, labels)
        examples = cls(spool)
        examples.n_concepts = n_concepts
        return examples

    def _changed(self, **changes: Any) -> Examples:
        """Return a shallow copy with other attributes."""
        changed = copy(self)
        changed.__dict__.pop("mean_active", None)
        changed.__dict__ |= changes
        return changed

    def __len__(self) -> int:
        return len(self._spool) if self._chosen is None else len(self._chosen)

    def __iter__(self) -> Iterator[tuple[Rows, Labels]]:
        for rows, labels, visits in self.walk(np.arange(len(self))):
            if visits is None or np.array_equal(visits, np.arange(rows.n_rows)):
                yield rows, labels
            else:
                yield rows.take(visits), labels.take(visits)

    def walk(self, order: np.ndarray) -> Iterator[Block]:
        """Yield blocks of rows and labels, each with the order in which to visit its documents.

        Together the visits follow `order`. None means that a block is visited from start to end.
        """
        numbers = order if self._chosen is None else self._chosen[order]
        for rows, labels, visits in self._spool.blocks(numbers):
            yield self._transformed(rows), labels, visits

    def labels(self) -> Labels:
        """Return the labels of all documents."""
        labels = self._spool.labels()
        return labels if self._chosen is None else labels.take(self._chosen)

    def take(self, chosen: np.ndarray) -> Examples:
        """Return some of the documents, in this order; they share memory or the file."""
        return self._changed(_chosen=chosen if self._chosen is None else self._chosen[chosen])

    def apart(self) -> Examples:
        """Return a copy of the documents in memory; documents in a file are shared."""
        if self._spool.on_disk:
            return self
        return Examples.of(*next(iter(self)), n_concepts=self.n_concepts)

    @property
    def is_shared(self) -> bool:
        """Whether the rows are computed or chosen from those of other examples."""
        return self._transform is not None or self._chosen is not None

    def map(self, transform: Callable[[Rows], Rows], n_columns: int) -> Examples:
        """Return the documents with the rows `transform(rows)`, computed when they are needed."""

        def mapped(rows: Rows) -> Rows:
            return transform(self._transformed(rows))

        return self._changed(_transform=mapped, _block=None, n_columns=n_columns)

    def rewrite(self, transform: Callable[[Rows], Rows], n_columns: int) -> Examples:
        """Replace the rows by `transform(rows)`; return self."""
        assert not self.is_shared
        self._spool.map(transform)
        self.n_columns = n_columns
        self.__dict__.pop("mean_active", None)
        return self

    def close(self) -> None:
        """Free the memory or the file; there can be no more passes."""
        self._spool.close()

    def relabelled(self, labels: Labels) -> Examples:
        """Return the documents, which must be in memory, with other labels."""
        rows = [block for block, _ in self]
        whole = rows[0] if len(rows) == 1 else Rows.concatenate(rows)
        return Examples.of(whole, labels, self.n_concepts)

    def shuffled(self, generator: np.random.Generator) -> np.ndarray:
        """Return a random order for `walk`; see `shuffled`."""
        return shuffled(len(self), generator)

    @cached_property
    def mean_active(self) -> float:
        """The mean number of features in a document."""
        if self._transform is None:
            counts = self._spool.entry_counts()
            n_entries = counts.sum() if self._chosen is None else counts[self._chosen].sum()
        else:
            n_entries = sum(len(rows.indices) for rows, _ in self)
        return float(n_entries) / max(1, len(self))

    def _transformed(self, rows: Rows) -> Rows:
        if self._transform is None:
            return rows
        if self._spool.on_disk:
            return self._transform(rows)
        if self._block is None:
            self._block = self._transform(rows)
        return self._block


class Spool:
    """Rows and labels that are written once and read many times, in any order.

    Up to `memory_limit` bytes of entries stay in memory. More are written to a temporary file
    without a name, which disappears however the process ends. It has the columns, then the values
    of each document.
    """

    def __init__(self, memory_limit: int = MEMORY_LIMIT) -> None:
        self.memory_limit = memory_limit
        self._labels: list[Labels] = []
        self._blocks: list[Rows] = []
        self._lengths: list[np.ndarray] = []  # the number of entries of each document
        self._tokens: list[np.ndarray | None] = []  # `Rows.lengths` of the rows
        self._file: int | None = None
        self.n_entries = 0
        self.n_columns = 0

    def __len__(self) -> int:
        return sum(len(lengths) for lengths in self._lengths)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Free the memory and the file."""
        if self._file is not None:
            os.close(self._file)
        self.__dict__ = Spool(self.memory_limit).__dict__

    @property
    def on_disk(self) -> bool:
        return self._file is not None

    def append(self, rows: Rows, labels: Labels) -> None:
        """Add documents and their labels at the end."""
        self._labels.append(labels)
        self._lengths.append(np.diff(rows.indptr))
        self._tokens.append(rows.lengths)
        self.n_entries += len(rows.indices)
        self.n_columns = max(self.n_columns, rows.n_columns)
        if self._file is not None:
            _write(self._file, rows)
            return
        self._blocks.append(rows)
        if self.n_entries * BYTES_PER_ENTRY > self.memory_limit:
            self._file, name = tempfile.mkstemp(prefix="thresher-")
            os.unlink(name)  # so that it goes when it is closed
            for block in self._blocks:
                _write(self._file, block)
            self._blocks = []

    def labels(self) -> Labels:
        """Return the labels of all documents."""
        if len(self._labels) != 1:
            whole = Labels.concatenate(self._labels) if self._labels else Labels.from_lists([], 0)
            self._labels = [whole]
        return self._labels[0]

    def relabel(self, labels: Labels) -> None:
        """Replace the labels of all documents."""
        self._labels = [labels]

    def entry_counts(self) -> np.ndarray:
        """Return the number of entries of each document."""
        return np.concatenate([np.zeros(0, np.int64), *self._lengths])

    def map(self, function: Callable[[Rows], Rows]) -> None:
        """Replace all rows by `function(rows)`, block by block."""
        mapped = Spool(self.memory_limit)
        for rows, labels, _ in self.blocks():
            mapped.append(function(rows), labels)
        self.close()
        self.__dict__ = mapped.__dict__

    def keep(self, chosen: np.ndarray) -> None:
        """Remove all documents but these."""
        remaining = Spool(self.memory_limit)
        for rows, labels, visits in self.blocks(chosen):
            if visits is not None:
                rows, labels = rows.take(visits), labels.take(visits)
            remaining.append(rows, labels)
        self.close()
        self.__dict__ = remaining.__dict__

    def blocks(self, order: np.ndarray | None = None) -> Iterator[Block]:
        """Yield blocks of documents, each with the order in which to visit its documents.

        Documents in memory are one block, to be visited in the `order` (default: as they were
        added). Documents on disk are read in that order, and visited from start to end.
        """
        labels = self.labels()
        if not len(self):
            return
        if self._file is None:
            if len(self._blocks) != 1:
                self._blocks = [Rows.concatenate(self._blocks)]
            yield self._blocks[0], labels, order
            return
        lengths, tokens = np.concatenate(self._lengths), joined(self._tokens)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        order = np.arange(len(lengths)) if order is None else order
        ends = np.cumsum(lengths[order])
        first = 0
        while first < len(order):
            filled = ends[first - 1] if first else 0
            last = max(first + 1, int(np.searchsorted(ends, filled + BLOCK_ENTRIES, "right")))
            chosen = order[first:last]
            rows = _read(self._file, starts[chosen], lengths[chosen], self.n_columns)
            if tokens is not None:
                rows = rows._replace(lengths=tokens[chosen])
            yield rows, labels.take(chosen), None
            first = last


def _write(file: int, rows: Rows) -> None:
    """Write each document as its columns, then its values."""
    from thresher._kernels.spool import pack

    record = np.empty(2 * len(rows.indices), np.int32)
    pack(rows.indptr, rows.indices, rows.values.view(np.int32), record)
    left = record.data.cast("B")
    while left:
        left = left[os.write(file, left) :]


def _read(file: int, starts: np.ndarray, lengths: np.ndarray, n_columns: int) -> Rows:
    """Read documents; neighbours in the file are read by one system call."""
    from thresher._kernels.spool import unpack

    in_file = np.argsort(starts, kind="stable")
    begins, ends = starts[in_file], starts[in_file] + lengths[in_file]
    filled = np.concatenate([[0], np.cumsum(lengths[in_file])])
    record = np.empty(2 * filled[-1], np.int32)
    buffer = record.data.cast("B")
    breaks = np.flatnonzero(begins[1:] != ends[:-1]) + 1
    for first, last in zip([0, *breaks], [*breaks, len(starts)], strict=True):
        offset = int(begins[first]) * BYTES_PER_ENTRY
        unread = buffer[filled[first] * BYTES_PER_ENTRY : filled[last] * BYTES_PER_ENTRY]
        while unread:
            n_read = os.preadv(file, [unread], offset)
            unread, offset = unread[n_read:], offset + n_read
    in_record = np.empty(len(starts), np.int64)
    in_record[in_file] = 2 * filled[:-1]
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    indices, values = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32)
    unpack(record, in_record, indptr, indices, values.view(np.int32))
    return Rows(indptr, indices, values, n_columns)


def shuffled(n_documents: int, generator: np.random.Generator) -> np.ndarray:
    """Return a random order in which a file can be read quickly.

    Runs of neighbouring documents are drawn at random until they fill a group, and the documents of
    a group are then shuffled. Up to the size of a group, this is a plain shuffle.
    """
    runs = generator.permutation(-(-n_documents // RUN))
    order = (runs[:, None] * RUN + np.arange(RUN)).ravel()
    order = order[order < n_documents]
    for start in range(0, n_documents, GROUP):
        generator.shuffle(order[start : start + GROUP])
    return order
