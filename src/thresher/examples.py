"""Labelled documents that can be walked over again: what a learner learns from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np

from thresher._spool import Spool, shuffled
from thresher.rows import Labels, Rows

__all__ = ["Examples"]

Block = tuple[Rows, Labels, np.ndarray | None]


class Examples:
    """Rows with their labels, in memory or on disk, to be walked over as often as need be.

    Iterating gives pairs of `Rows` and `Labels`, a block of documents at a time, in the order in
    which the documents came. Nothing that is given may be changed.

    Examples
    --------
    >>> rows = Rows(np.array([0, 2, 3]), np.array([0, 2, 1], np.int32), np.ones(3, np.float32), 3)
    >>> examples = Examples.of(rows, Labels.from_lists([[0], [1]], 2))
    >>> len(examples), examples.n_columns, examples.n_categories, examples.mean_active
    (2, 3, 2, 1.5)
    >>> [labels.indices.tolist() for _, labels in examples.take(np.array([1]))]
    [[1]]
    """

    def __init__(
        self,
        spool: Spool,
        *,
        transform: Callable[[Rows], Rows] | None = None,
        n_columns: int | None = None,
        chosen: np.ndarray | None = None,
    ) -> None:
        self._spool = spool
        self._transform = transform
        self._chosen = chosen
        self._block: Rows | None = None  # what is in memory, transformed
        self.n_columns = spool.n_columns if n_columns is None else n_columns
        self.n_categories = spool.labels().n_categories
        self.n_concepts = 0  # how many of the first columns are concepts, not words

    @classmethod
    def of(cls, rows: Rows, labels: Labels) -> Examples:
        """Return documents that are in memory, which stay there however many they are."""
        spool = Spool(memory_limit=2**62)
        spool.append(rows, labels)
        return cls(spool)

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

        Together the visits follow `order`. Where there is none, a block is visited as it stands.
        """
        places = order if self._chosen is None else self._chosen[order]
        for rows, labels, visits in self._spool.blocks(places):
            yield self._transformed(rows), labels, visits

    def labels(self) -> Labels:
        """Return the labels of all documents."""
        labels = self._spool.labels()
        return labels if self._chosen is None else labels.take(self._chosen)

    def take(self, chosen: np.ndarray) -> Examples:
        """Return some of the documents, in this order; what is in memory is shared."""
        places = chosen if self._chosen is None else self._chosen[chosen]
        part = Examples(
            self._spool, transform=self._transform, n_columns=self.n_columns, chosen=places
        )
        part._block, part.n_concepts = self._block, self.n_concepts
        return part

    def apart(self) -> Examples:
        """Return the same documents as a copy, unless they are in a file, where they are shared."""
        if self._spool.on_disk:
            return self
        rows, labels = next(iter(self))
        own = Examples.of(rows, labels)
        own.n_concepts = self.n_concepts
        return own

    @property
    def is_shared(self) -> bool:
        """Whether the rows are made, or chosen, from others that may be needed yet."""
        return self._transform is not None or self._chosen is not None

    def map(self, transform: Callable[[Rows], Rows], n_columns: int) -> Examples:
        """Return the documents with other rows, made when they are asked for, each by itself."""
        mapped = Examples(self._spool, n_columns=n_columns, chosen=self._chosen)
        mapped._transform = lambda rows: transform(self._transformed(rows))
        mapped.n_concepts = self.n_concepts
        return mapped

    def rewrite(self, transform: Callable[[Rows], Rows], n_columns: int) -> Examples:
        """Put other rows in the place of these, which are given up, and return self."""
        assert not self.is_shared
        self._spool.map(transform)
        self.n_columns = n_columns
        self.__dict__.pop("mean_active", None)
        return self

    def close(self) -> None:
        """Give the rows up; they cannot be walked over any more."""
        self._spool.close()

    def relabelled(self, labels: Labels) -> Examples:
        """Return the documents with other labels, one set for each; they must be in memory."""
        rows = [part for part, _ in self]
        same = Examples.of(rows[0] if len(rows) == 1 else Rows.concatenate(rows), labels)
        same.n_concepts = self.n_concepts
        return same

    def shuffled(self, generator: np.random.Generator) -> np.ndarray:
        """Return a random order in which a file can still be read in long runs."""
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
