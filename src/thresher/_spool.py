"""Documents kept for several passes: in memory while they are few, else in a temporary file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from typing import Self

import numpy as np

from thresher.rows import Labels, Rows, joined

__all__ = ["Spool", "shuffled"]

MEMORY_LIMIT = 64_000_000  # bytes of entries; about 100 MB of text
BLOCK_ENTRIES = 2_000_000  # entries of a block that is read back from the file
RUN, GROUP = 64, 16_384  # documents that are read, and that are mixed, together
ENTRY = 8  # bytes: an int32 column and a float32 value


class Spool:
    """Rows and labels, written once, read many times, in any order.

    The file is a private temporary one without a name, so nothing is left behind, however the
    process ends. Each document is one run of bytes: its columns, then its values. Up to
    `memory_limit` bytes of entries everything stays in memory.
    """

    def __init__(self, memory_limit: int = MEMORY_LIMIT) -> None:
        self.memory_limit = memory_limit
        self._labels: list[Labels] = []
        self._parts: list[Rows] = []
        self._lengths: list[np.ndarray] = []  # entries of each document
        self._tokens: list[np.ndarray | None] = []  # `Rows.lengths` of each part
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
        """Give the memory and the file back."""
        if self._file is not None:
            os.close(self._file)
        self.__dict__ = Spool(self.memory_limit).__dict__

    @property
    def on_disk(self) -> bool:
        return self._file is not None

    def append(self, rows: Rows, labels: Labels) -> None:
        """Add documents and their labels at the end."""
        self._labels.append(labels)
        self._append_rows(rows)

    def _append_rows(self, rows: Rows) -> None:
        self._lengths.append(np.diff(rows.indptr))
        self._tokens.append(rows.lengths)
        self.n_entries += len(rows.indices)
        self.n_columns = max(self.n_columns, rows.n_columns)
        if self._file is not None:
            _write(self._file, rows)
            return
        self._parts.append(rows)
        if self.n_entries * ENTRY > self.memory_limit:
            self._file, name = tempfile.mkstemp(prefix="thresher-")
            os.unlink(name)  # so that it goes when it is closed
            for part in self._parts:
                _write(self._file, part)
            self._parts = []

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
        """Return how many entries each document has."""
        return np.concatenate([np.zeros(0, np.int64), *self._lengths])

    def map(self, function: Callable[[Rows], Rows]) -> None:
        """Replace all rows by what `function` makes of them, block by block."""
        mapped = Spool(self.memory_limit)
        for rows, _, _ in self.blocks():
            mapped._append_rows(function(rows))
        mapped._labels = self._labels
        self.close()
        self.__dict__ = mapped.__dict__

    def keep(self, chosen: np.ndarray) -> None:
        """Give up all documents but these."""
        kept = Spool(self.memory_limit)
        for rows, labels, visits in self.blocks(chosen):
            if visits is not None:
                rows, labels = rows.take(visits), labels.take(visits)
            kept.append(rows, labels)
        self.close()
        self.__dict__ = kept.__dict__

    def blocks(
        self, order: np.ndarray | None = None
    ) -> Iterator[tuple[Rows, Labels, np.ndarray | None]]:
        """Yield all documents as blocks, each with the order in which to visit its documents.

        What is in memory is one block, visited where it lies in the `order` (default: as the
        documents came); what is on disk is read in that order already.
        """
        labels = self.labels()
        if not len(self):
            return
        if self._file is None:
            if len(self._parts) != 1:
                self._parts = [Rows.concatenate(self._parts)]
            yield self._parts[0], labels, order
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
    """Read documents back; neighbours in the file come with one call to the system."""
    from thresher._kernels.spool import unpack

    in_file = np.argsort(starts, kind="stable")
    begins, ends = starts[in_file], starts[in_file] + lengths[in_file]
    filled = np.concatenate([[0], np.cumsum(lengths[in_file])])
    record = np.empty(2 * filled[-1], np.int32)
    buffer = record.data.cast("B")
    breaks = np.flatnonzero(begins[1:] != ends[:-1]) + 1
    for first, last in zip([0, *breaks], [*breaks, len(starts)], strict=True):
        place = int(begins[first]) * ENTRY
        wanted = buffer[filled[first] * ENTRY : filled[last] * ENTRY]
        while wanted:
            taken = os.preadv(file, [wanted], place)
            wanted, place = wanted[taken:], place + taken
    places = np.empty(len(starts), np.int64)
    places[in_file] = 2 * filled[:-1]
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    indices, values = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32)
    unpack(record, places, indptr, indices, values.view(np.int32))
    return Rows(indptr, indices, values, n_columns)


def shuffled(n_documents: int, generator: np.random.Generator) -> np.ndarray:
    """Return a random order in which a file can still be read in long runs.

    Runs of neighbouring documents are drawn at random until they make a group, and the documents
    of a group are then mixed. Up to the size of a group this is a plain shuffle.
    """
    runs = generator.permutation(-(-n_documents // RUN))
    order = (runs[:, None] * RUN + np.arange(RUN)).ravel()
    order = order[order < n_documents]
    for start in range(0, n_documents, GROUP):
        generator.shuffle(order[start : start + GROUP])
    return order
