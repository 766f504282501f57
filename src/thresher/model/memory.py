"""The rehearsal memory: a sample of the documents that were learned, as counts with labels.

Which documents are remembered depends on their numbers, their labels and a seed alone, so that the
memories of two shards of documents can be merged.

A model also has digests of the texts that it learned, by which it recognizes them. A digest is a
number of 32 bits made from the characters of a text. Of many texts, only those with the smallest
digests are stored: a random sample, which can be extended and merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple, Self
from zlib import crc32

import numpy as np
import pyarrow as pa

from thresher.documents import Batch
from thresher.errors import ModelError
from thresher.examples import Examples
from thresher.rows import Labels, Rows
from thresher.state import require_field, require_tensor

UNLABELLED = -1  # the category under which documents without labels are remembered
MOST_REMEMBERED = 10_000_000
MOST_TEXTS = 8192  # digests of texts in a model; 32 kB
MOST_TEXTS_COMPACTED = 1024
MOST_SOURCES = 256
LARGEST_SCORE = float(np.finfo(np.float32).max)


def _no_numbers() -> np.ndarray:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Remembered:
    """A remembered document."""

    indices: np.ndarray  # int32, the columns of its counts
    values: np.ndarray  # float32, the counts
    length: int  # in tokens
    labels: np.ndarray  # int32
    contributions: np.ndarray | None  # float32, to its own scores by category; None if not known
    known: np.ndarray | None = None  # bool, the categories that its labels are about; None: all

    @property
    def counts(self) -> dict[int, float]:
        """The counts by column."""
        return dict(zip(self.indices.tolist(), self.values.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class Memory:
    """A bounded sample of the documents that were learned, spread evenly over the categories.

    A memory has some slots. Each category has slots for those of its documents whose numbers
    have the lowest hashes, and all categories have equally many as long as they have documents; a
    document with several labels may take a slot of each. Documents without labels count as a
    category. The methods change nothing in place but return another memory.

    Attributes
    ----------
    capacity : int
        The largest number of documents.
    seed : int
        The seed of the hashes.
    documents : list of Remembered
        The documents, in the order in which they were learned.
    numbers : array of int
        The number of each document among all that were learned.
    slot_documents, slot_categories : array of int
        The position of the document in each slot, in ascending order, and the category of the slot.
    seen : array of int
        The number of documents of each category, remembered or not; those without labels first.

    Examples
    --------
    >>> rows = Rows(np.array([0, 1, 2]), np.array([0, 1], np.int32), np.ones(2, np.float32), 2)
    >>> memory = Memory(capacity=10, seed=0)
    >>> memory = memory.with_more(rows, Labels.from_lists([[0], [1]], 2), np.array([0, 1]))
    >>> len(memory), memory.rows(np.array([1]), 2).indices.tolist()
    (2, [1])
    """

    capacity: int
    seed: int
    documents: list[Remembered] = field(default_factory=list)
    numbers: np.ndarray = field(default_factory=_no_numbers)
    slot_documents: np.ndarray = field(default_factory=_no_numbers)
    slot_categories: np.ndarray = field(default_factory=_no_numbers)
    seen: np.ndarray = field(default_factory=lambda: np.zeros(1, np.int64))

    def __len__(self) -> int:
        return len(self.documents)

    # ---- reading -----------------------------------------------------------------------------

    def rows(self, positions: Iterable[int], n_columns: int) -> Rows:
        """Return the counts of some documents."""
        chosen = [self.documents[i] for i in positions]
        indptr = np.cumsum([0, *(len(document.indices) for document in chosen)], dtype=np.int64)
        no_indices, no_values = np.zeros(0, np.int32), np.zeros(0, np.float32)
        indices = np.concatenate([no_indices, *(document.indices for document in chosen)])
        values = np.concatenate([no_values, *(document.values for document in chosen)])
        lengths = np.array([document.length for document in chosen])
        return Rows(indptr, indices, values, n_columns, lengths)

    def labels(self, positions: Iterable[int], n_categories: int) -> Labels:
        """Return the labels of some documents, which are negative examples of later categories."""
        chosen = [self.documents[i] for i in positions]
        labels = Labels.from_lists([document.labels.tolist() for document in chosen], n_categories)
        if all(document.known is None for document in chosen):
            return labels
        known = np.ones((len(chosen), n_categories), bool)
        for row, document in zip(known, chosen, strict=True):
            if document.known is not None:
                row[:] = False
                row[: len(document.known)] = document.known
        return labels._replace(known=known)

    def contributions(self, positions: Iterable[int], n_categories: int) -> np.ndarray:
        """Return what documents have contributed to their own scores; NaN if not known.

        The scores less the contributions are those of a model that has not learned the document.
        """
        positions = list(positions)
        contributions = np.zeros((len(positions), n_categories), np.float32)
        for row, i in zip(contributions, positions, strict=True):
            of_document = self.documents[i].contributions
            if of_document is None:
                row[:] = np.nan
            else:
                row[: len(of_document)] = of_document
        return contributions

    def weights(self) -> np.ndarray:
        """Return the number of learned documents that each remembered document stands for."""
        if not len(self):
            return np.zeros(0)
        slots = self.slot_categories - UNLABELLED
        n_slots = np.bincount(slots, minlength=len(self.seen))
        per_slot = (self.seen / np.maximum(n_slots, 1))[slots]
        # A document is remembered if one of its categories has a slot for it: the least selective.
        starts = np.searchsorted(self.slot_documents, np.arange(len(self)))
        return np.asarray(np.minimum.reduceat(per_slot, starts))

    def recall(self, n: int, generator: np.random.Generator) -> np.ndarray:
        """Return the positions of `n` documents, or of all, drawn by their weights.

        Without weights, rare categories, which have as many slots as any other, would gain ground.
        """
        if n >= len(self):
            return generator.permutation(len(self))
        keys = generator.exponential(size=len(self)) / self.weights()
        return np.asarray(np.argpartition(keys, n)[:n])

    def find(self, rows: Rows) -> list[int]:
        """Return the positions of the documents that have the same length and counts.

        Features that were added after a document was learned are not compared.
        """
        counts_by_length: dict[int, list[dict[int, float]]] = {}
        for document in _documents(rows, Labels.from_lists([[]] * rows.n_rows, 0), None):
            counts_by_length.setdefault(document.length, []).append(document.counts)
        return [
            i
            for i, document in enumerate(self.documents)
            if any(
                document.counts.items() <= counts.items()
                for counts in counts_by_length.get(document.length, ())
            )
        ]

    # ---- changing ----------------------------------------------------------------------------

    def with_more(
        self,
        rows: Rows,
        labels: Labels,
        numbers: np.ndarray,
        contributions: np.ndarray | None = None,
    ) -> Self:
        """Return a memory to which documents were added, as far as there are slots for them."""
        if not self.capacity:
            return self
        documents = list(_documents(rows, labels, contributions))
        return self.merge(Memory(self.capacity, self.seed, documents, numbers, *_slots(labels)))

    def merge(
        self, other: Memory, categories: np.ndarray | None = None, columns: np.ndarray | None = None
    ) -> Self:
        """Return the memory of the documents of both; the other's numbers must be higher.

        Merging the memories of shards of documents in their order gives exactly the memory of all
        documents.

        Parameters
        ----------
        other : Memory
            A memory of the same capacity and seed.
        categories, columns : array of int, optional
            The numbers of the other's categories and columns in this memory, if they differ.
        """
        if (self.capacity, self.seed) != (other.capacity, other.seed):
            raise ModelError("Memories of different capacities or seeds cannot be merged.")
        if categories is not None:
            other = other.renumbered(categories)
        if columns is not None:
            other = other.with_columns(columns)
        seen = np.zeros(max(len(self.seen), len(other.seen)), np.int64)
        seen[: len(self.seen)] += self.seen
        seen[: len(other.seen)] += other.seen
        merged = replace(
            self,
            documents=[*self.documents, *other.documents],
            numbers=np.append(self.numbers, other.numbers),
            slot_documents=np.append(self.slot_documents, other.slot_documents + len(self)),
            slot_categories=np.append(self.slot_categories, other.slot_categories),
            seen=seen,
        )
        return merged._within_capacity()

    def _within_capacity(self) -> Self:
        """Return a memory with no more slots than it may have."""
        if len(self.slot_documents) <= self.capacity:
            return self
        slot_numbers = self.numbers[self.slot_documents]
        keep = _chosen_slots(slot_numbers, self.slot_categories, self.capacity, self.seed)
        return self._with_slots(self.slot_documents[keep], self.slot_categories[keep])

    def _with_slots(self, slot_documents: np.ndarray, slot_categories: np.ndarray) -> Self:
        """Return a memory with these slots, without the documents that have none."""
        positions, slot_documents = np.unique(slot_documents, return_inverse=True)
        return replace(
            self,
            documents=[self.documents[i] for i in positions.tolist()],
            numbers=self.numbers[positions],
            slot_documents=slot_documents,
            slot_categories=slot_categories,
        )

    def without(self, positions: Iterable[int]) -> Self:
        """Return a memory without some documents."""
        keep = ~np.isin(self.slot_documents, list(positions))
        return self._with_slots(self.slot_documents[keep], self.slot_categories[keep])

    def with_contributions(self, contributions: np.ndarray) -> Self:
        """Return a memory in which documents have contributed this to their own scores.

        There is a row for each document, with NaN for what is not known.
        """
        known = ~np.isnan(contributions).any(1)
        documents = [
            replace(document, contributions=row if is_known else None)
            for document, row, is_known in zip(self.documents, contributions, known, strict=True)
        ]
        return replace(self, documents=documents)

    def with_more_contributions(self, positions: np.ndarray, added: np.ndarray) -> Self:
        """Return a memory in which some documents have contributed more to their own scores."""
        documents = list(self.documents)
        changed = np.flatnonzero(added.any(1))
        for i, row in zip(positions[changed].tolist(), added[changed], strict=True):
            before = documents[i].contributions
            if before is not None:
                contributions = row.copy()
                contributions[: len(before)] += before
                documents[i] = replace(documents[i], contributions=contributions)
        return replace(self, documents=documents)

    def with_columns(self, columns: np.ndarray) -> Self:
        """Return a memory with other numbers of columns; -1 for a removed one."""
        documents = []
        for document in self.documents:
            indices = columns[document.indices]
            order = np.argsort(indices, kind="stable")
            order = order[np.count_nonzero(indices < 0) :]
            indices, values = indices[order].astype(np.int32), document.values[order]
            documents.append(replace(document, indices=indices, values=values))
        return replace(self, documents=documents)

    def renumbered(self, numbers: np.ndarray) -> Self:
        """Return a memory with other numbers of categories; -1 for a removed one.

        Categories that get the same number are merged: their scores are added up. Labels are about
        the merged category if they were about all of them, or had one of them.
        """
        n = int(numbers.max(initial=-1)) + 1
        documents = []
        for document in self.documents:
            labels = np.unique(numbers[document.labels])
            labels = labels[labels >= 0].astype(np.int32)
            contributions, known = document.contributions, document.known
            if contributions is not None:
                new = numbers[: len(contributions)]
                contributions = np.bincount(new[new >= 0], contributions[new >= 0], n)
                contributions = contributions.astype(np.float32)
            if known is not None:
                unknown = np.append(~known, np.ones(len(numbers) - len(known), bool))
                known = ~np.isin(np.arange(n), numbers[unknown])
                known[labels] = True
                known = None if known.all() else known
            documents.append(
                replace(document, labels=labels, contributions=contributions, known=known)
            )
        new_numbers = np.append(UNLABELLED, numbers)  # by the old ones, from UNLABELLED on
        seen = np.zeros(n - UNLABELLED, np.int64)
        np.add.at(seen, new_numbers[: len(self.seen)] - UNLABELLED, self.seen)
        # Documents of a removed category count as unlabelled if they have no other slot.
        slots = np.stack([self.slot_documents, new_numbers[self.slot_categories - UNLABELLED]])
        has_other = np.isin(slots[0], slots[0][slots[1] >= 0])
        slots = np.unique(slots[:, (slots[1] >= 0) | ~has_other], axis=1)
        renumbered = replace(self, documents=documents, seen=seen)
        return renumbered._with_slots(slots[0], slots[1])

    # ---- the model file ----------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the header and the tensors of a model file."""
        n_categories = len(self.seen) + UNLABELLED
        positions = range(len(self))
        rows, labels = self.rows(positions, 0), self.labels(positions, n_categories)
        starts = np.searchsorted(self.slot_documents, np.arange(len(self) + 1))
        tensors = {
            "indptr": rows.indptr,
            "indices": rows.indices,
            "values": rows.values,
            "lengths": np.array([document.length for document in self.documents], np.int64),
            "label_indptr": labels.indptr,
            "label_indices": labels.indices,
            "numbers": self.numbers,
            "homes": self.slot_categories[starts[:-1]],
            "seen": self.seen,
            "own": self.contributions(positions, n_categories),
        }
        if len(self.slot_documents) > len(self):  # earlier versions had one slot for each document
            tensors |= {"slot_indptr": starts, "slot_categories": self.slot_categories}
        if labels.known is not None:
            tensors["known"] = labels.known.astype(np.uint8)
        return {"capacity": self.capacity, "seed": self.seed}, tensors

    @classmethod
    def from_state(
        cls, header: dict[str, Any], tensors: dict[str, np.ndarray], n_columns: int, n: int
    ) -> Self:
        """Return the memory of a model file, of so many columns and categories, after checks."""
        capacity = require_field(header, "capacity", int, low=0, high=MOST_REMEMBERED)
        seed = require_field(header, "seed", int, low=0, high=2**32 - 1)
        numbers = require_tensor(tensors, "numbers", np.int64, (None,), low=0)
        size = len(numbers)
        indptr = require_tensor(tensors, "indptr", np.int64, (size + 1,))
        indices = require_tensor(tensors, "indices", np.int32, (None,))
        values = require_tensor(tensors, "values", np.float32, indices.shape, finite=True)
        lengths = require_tensor(tensors, "lengths", np.int64, (size,), low=0, high=2**40)
        label_indptr = require_tensor(tensors, "label_indptr", np.int64, (size + 1,))
        label_indices = require_tensor(tensors, "label_indices", np.int32, (None,))
        seen = require_tensor(tensors, "seen", np.int64, (None,), low=0, high=2**40)
        n_known = len(seen) + UNLABELLED
        bounds: Any = {"low": UNLABELLED, "high": n_known - 1}
        slot_categories = require_tensor(tensors, "homes", np.int64, (size,), **bounds)
        slot_indptr = np.arange(size + 1)
        if "slot_indptr" in tensors:
            slot_indptr = require_tensor(tensors, "slot_indptr", np.int64, (size + 1,))
            slot_categories = require_tensor(tensors, "slot_categories", np.int64, (None,))
        contributions = require_tensor(tensors, "own", np.float32, (size, n_known))
        is_right = (
            size <= capacity
            and n_known <= n
            and _are_rows(indptr, indices, 0, n_columns)
            and _are_rows(label_indptr, label_indices, 0, n_known)
            and _are_rows(slot_indptr, slot_categories, UNLABELLED, n_known)
            and bool((np.diff(slot_indptr) > 0).all())
            and bool((values > 0).all())
            and not (np.abs(contributions) > LARGEST_SCORE).any()
        )
        if not is_right:
            raise ModelError("The model's memory of documents is damaged; train it again.")
        rows = Rows(indptr, indices, values, n_columns, lengths)
        labels = Labels(label_indptr, label_indices, n_known)
        if "known" in tensors:
            known = require_tensor(tensors, "known", np.uint8, (size, n_known), high=1)
            labels = labels._replace(known=known.astype(bool))
        documents = list(_views(rows, labels, contributions))
        slot_documents = np.repeat(np.arange(size), np.diff(slot_indptr))
        slots = slot_documents, slot_categories.copy()
        return cls(capacity, seed, documents, numbers.copy(), *slots, seen.copy())

    @property
    def n_bytes(self) -> int:
        """The approximate size in a model file."""
        n_entries = sum(len(document.indices) for document in self.documents)
        return 8 * n_entries + (4 * len(self.seen) + 32) * len(self)


class Sample(NamedTuple):
    """Some remembered documents, and how they are decided."""

    rows: Rows  # their strengths
    decided: np.ndarray
    drawn: int  # the number of documents learned when they were drawn
    valid_for: tuple[Any, Memory | None]  # the decisions and the memory for which this holds


def sampled(examples: Examples, capacity: int, seed: int, first_number: int = 0) -> Memory:
    """Return a memory of documents that have been counted.

    Parameters
    ----------
    examples : Examples
        The counts and labels of all documents.
    capacity, seed : int
        As for `Memory`.
    first_number : int, default=0
        The number of the first document, if these are a shard of all documents.

    Examples
    --------
    >>> rows = Rows(np.arange(101), np.zeros(100, np.int32), np.ones(100, np.float32), 1)
    >>> examples = Examples.of(rows, Labels.from_lists([[0]] * 98 + [[1]] * 2, 2))
    >>> sampled(examples, 4, seed=0).numbers.tolist()
    [33, 53, 98, 99]
    """
    documents, categories, seen = _slots(examples.labels())
    keep = _chosen_slots(documents + first_number, categories, capacity, seed)
    positions, slot_documents = np.unique(documents[keep], return_inverse=True)
    blocks = examples.take(positions)
    remembered = [document for block in blocks for document in _documents(*block, None)]
    slots = slot_documents, categories[keep]
    return Memory(capacity, seed, remembered, positions + first_number, *slots, seen)


def _slots(labels: Labels) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a slot for each label: documents, categories, and the number seen of each category."""
    n_labels = np.diff(labels.indptr)
    n_slots = np.maximum(n_labels, 1)
    categories = np.full(n_slots.sum(), UNLABELLED, np.int64)
    categories[np.repeat(n_labels > 0, n_slots)] = labels.indices
    documents = np.repeat(np.arange(labels.n_rows), n_slots)
    n_categories = labels.n_categories - UNLABELLED
    return documents, categories, np.bincount(categories - UNLABELLED, minlength=n_categories)


def _chosen_slots(
    numbers: np.ndarray, categories: np.ndarray, capacity: int, seed: int
) -> np.ndarray:
    """Return which slots to keep, given the number of the document and the category of each.

    The first slots of all categories come before all second ones, and so on; within a category and
    among slots of the same rank, the lowest hashes come first. This depends on nothing else, and a
    slot that is not among the first of some documents is not among the first of more documents.
    There may be a few slots more than `capacity`, but no more documents.
    """
    keep = np.ones(len(numbers), bool)
    if len(numbers) <= capacity:
        return keep
    hashes = _hashes(seed, numbers)
    by_category = np.lexsort((hashes, categories))
    in_order = categories[by_category]
    ranks = np.empty(len(numbers), np.int64)
    ranks[by_category] = np.arange(len(numbers)) - np.searchsorted(in_order, in_order)
    order = np.lexsort((hashes, ranks))
    n_kept, keys = capacity, np.stack([ranks.astype(np.uint64), hashes])[:, order]
    while 0 < n_kept < len(order) and np.array_equal(keys[:, n_kept - 1], keys[:, n_kept]):
        n_kept += 1  # slots of the same rank and document stay together
    keep[order[n_kept:]] = False
    return keep


def _documents(
    rows: Rows, labels: Labels, contributions: np.ndarray | None
) -> Iterator[Remembered]:
    """Yield the documents with copies of their arrays."""
    for view in _views(rows, labels, contributions):
        yield Remembered(*map(copy, vars(view).values()))


def _views(rows: Rows, labels: Labels, contributions: np.ndarray | None) -> Iterator[Remembered]:
    """Yield the documents as views of the arrays of all."""
    label_ends, lengths, n = labels.indptr.tolist(), rows.lengths, rows.n_rows
    has_contributions = np.zeros(n, bool)
    if contributions is not None:
        has_contributions = ~np.isnan(contributions).any(1)
    for i, (start, end) in enumerate(pairwise(rows.indptr.tolist())):
        values = rows.values[start:end]
        yield Remembered(
            rows.indices[start:end],
            values,
            int(values.sum()) if lengths is None else int(lengths[i]),
            labels.indices[label_ends[i] : label_ends[i + 1]],
            contributions[i] if contributions is not None and has_contributions[i] else None,
            None if labels.known is None or labels.known[i].all() else labels.known[i],
        )


def _are_rows(indptr: np.ndarray, numbers: np.ndarray, low: int, high: int) -> bool:
    """Return True if these are sparse rows of numbers in a range, each at most once in a row."""
    if indptr[0] != 0 or indptr[-1] != len(numbers) or (np.diff(indptr) < 0).any():
        return False
    if (numbers < low).any() or (numbers >= high).any():
        return False
    owners = np.repeat(np.arange(len(indptr) - 1, dtype=np.uint64), np.diff(indptr))
    keys = owners << np.uint64(32) | (numbers - low).astype(np.uint64)
    keys.sort()
    return bool((keys[1:] != keys[:-1]).all())


def _hashes(seed: int, numbers: Any) -> np.ndarray:
    """Return a different number for each document that looks random (splitmix64)."""
    with np.errstate(over="ignore"):
        x = np.asarray(numbers, np.uint64) + np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15)
        x = (x + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))


# Digests of learned documents ---------------------------------------------------------------------


def text_digests(texts: pa.Array) -> np.ndarray:
    """Return the digest of each text of an Arrow array of strings; 0 for an empty text.

    Examples
    --------
    >>> text_digests(pa.array(["wheat", "", "wheat"])).tolist()
    [51733612, 0, 51733612]
    """
    offset_type = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    _, offsets, data = texts.buffers()
    if not len(texts) or data is None:
        return np.zeros(len(texts), np.uint32)
    ends = np.frombuffer(offsets, offset_type)[texts.offset : texts.offset + len(texts) + 1]
    view = memoryview(data)
    checksums = [crc32(view[start:end]) for start, end in pairwise(ends.tolist())]
    mixed = np.array(checksums, np.uint32) * np.uint32(0x9E3779B1)  # a bijection
    return mixed ^ (mixed >> np.uint32(15))


class Digested:
    """The digests of the documents of a source, collected while it is read."""

    def __init__(self) -> None:
        self._texts: list[np.ndarray] = []
        self._chains = 0, 0  # checksums of all texts and of all labels, in their order

    def add(self, batch: Batch) -> None:
        """Add the documents of a batch; only those with labels count for the whole source."""
        digests = text_digests(batch.texts)
        self._texts.append(digests)
        if labels := list(filter(None, batch.labels or ())):
            if len(labels) < len(digests):
                digests = digests[list(map(bool, batch.labels or ()))]
            try:
                lines = "\n".join(map("\t".join, labels))
            except TypeError:  # labels that are no texts
                lines = "\n".join(map(str, labels))
            data = f"{lines}\n".encode("utf-8", "surrogatepass")
            self._chains = crc32(digests.tobytes(), self._chains[0]), crc32(data, self._chains[1])

    @property
    def texts(self) -> np.ndarray:
        """The digest of each text that is not empty."""
        digests = np.concatenate([np.zeros(0, np.uint32), *self._texts])
        return digests[digests > 0]

    @property
    def source(self) -> int:
        """The digest of all texts and labels together."""
        of_texts, of_labels = self._chains
        return of_texts ^ (of_labels * 0x9E3779B1 & 0xFFFFFFFF)


class Digests(NamedTuple):
    """The digests of the documents that a model has learned; the arrays never change.

    Examples
    --------
    >>> from thresher.documents import from_texts
    >>> digested = Digested()
    >>> for batch in from_texts(["wheat", "oil"], ["grain", "crude"]):
    ...     digested.add(batch)
    >>> digests = Digests.none().extended(digested)
    >>> digests.n_known(digested.texts), digests.has_source(digested)
    ((2, 2), True)
    """

    texts: np.ndarray  # uint32, in ascending order
    sources: np.ndarray  # uint32, of everything that was learned in one call, the last at the end

    @classmethod
    def none(cls) -> Self:
        """Return the digests of no documents."""
        return cls(np.zeros(0, np.uint32), np.zeros(0, np.uint32))

    def extended(self, more: Digested) -> Self:
        """Return digests of more documents."""
        new = np.sort(more.texts)  # much quicker than np.unique
        new = new[np.append(True, new[1:] != new[:-1])[: len(new)]]
        positions = np.searchsorted(self.texts, new)
        if len(self.texts):
            is_new = self.texts[np.minimum(positions, len(self.texts) - 1)] != new
            new, positions = new[is_new], positions[is_new]
        texts = np.insert(self.texts, positions, new)[:MOST_TEXTS]
        sources = np.append(self.sources, np.uint32(more.source))[-MOST_SOURCES:]
        return self._replace(texts=texts, sources=sources)

    def without(self, digests: Iterable[int]) -> Self:
        """Return digests without some texts, and without those of whole sources."""
        left = self.texts[~np.isin(self.texts, np.fromiter(digests, np.uint32))]
        return self._replace(texts=left, sources=self.sources[:0])

    def compacted(self) -> Self:
        """Return fewer digests."""
        return self._replace(texts=self.texts[:MOST_TEXTS_COMPACTED], sources=self.sources[:0])

    def n_known(self, digests: np.ndarray) -> tuple[int, int]:
        """Return how many of some texts were learned, and of how many that is known."""
        if len(self.texts) in (MOST_TEXTS, MOST_TEXTS_COMPACTED):  # perhaps of more documents
            digests = digests[digests <= self.texts[-1]]
        return int(np.isin(digests, self.texts).sum()), len(digests)

    def has_source(self, digested: Digested) -> bool:
        """Return True if exactly these documents were learned before, with the same labels."""
        return bool((self.sources == digested.source).any())

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the header and the tensors of a model file."""
        return {}, {"texts": self.texts, "sources": self.sources}

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Return the digests of a model file, after checks."""
        texts = require_tensor(tensors, "texts", np.uint32, (None,), low=1)
        sources = require_tensor(tensors, "sources", np.uint32, (None,))
        is_right = (texts[1:] > texts[:-1]).all() and len(texts) <= MOST_TEXTS
        if not is_right or len(sources) > MOST_SOURCES:
            raise ModelError("The model's digests of documents are damaged; train it again.")
        return cls(texts.copy(), sources.copy())
