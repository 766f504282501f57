"""What a model remembers of its documents, so that learning on does not forget the others."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np

from thresher.errors import ModelError
from thresher.examples import Examples
from thresher.rows import Labels, Rows
from thresher.state import require_field, require_tensor

__all__ = ["Memory", "Remembered", "Sample", "sampled"]

NONE = -1  # the home of documents without labels
MOST_REMEMBERED = 10_000_000
LARGEST_SCORE = float(np.finfo(np.float32).max)


def _nothing() -> np.ndarray:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Remembered:
    """One document: its counts, its labels, and what it has added to its own scores."""

    indices: np.ndarray  # int32, of its counts
    values: np.ndarray  # float32
    length: int  # in tokens
    labels: np.ndarray  # int32
    own: np.ndarray | None  # float32, by category; None where it is not known
    known: np.ndarray | None = None  # bool, by category: what the answer is about; None: all

    @property
    def counts(self) -> dict[int, float]:
        """How often each feature stands in it, by its number."""
        return dict(zip(self.indices.tolist(), self.values.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class Memory:
    """A bounded sample of the documents that were learned from, spread over the categories.

    For each category it holds the documents whose numbers have the lowest hashes. Where there is no
    room for another one, the category that has most gives up the one with the highest. Nothing is
    changed in place: whoever holds an old memory has what it was.

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
    numbers: np.ndarray = field(
        default_factory=_nothing
    )  # of the documents among all that were learned from
    homes: np.ndarray = field(
        default_factory=_nothing
    )  # the category that each is kept for: the rarest of its own
    seen: np.ndarray = field(
        default_factory=lambda: np.zeros(1, np.int64)
    )  # how many documents there were for each home, from NONE on

    def __len__(self) -> int:
        return len(self.documents)

    # ---- what is in it -----------------------------------------------------------------------

    def rows(self, places: Iterable[int], n_columns: int) -> Rows:
        """Return the counts of some documents."""
        chosen = [self.documents[i] for i in places]
        indptr = np.cumsum([0, *(len(one.indices) for one in chosen)], dtype=np.int64)
        indices = np.concatenate([np.zeros(0, np.int32), *(one.indices for one in chosen)])
        values = np.concatenate([np.zeros(0, np.float32), *(one.values for one in chosen)])
        return Rows(indptr, indices, values, n_columns, np.array([one.length for one in chosen]))

    def labels(self, places: Iterable[int], n_categories: int) -> Labels:
        """Return the labels of some documents; of later categories they are counter-examples."""
        chosen = [self.documents[i] for i in places]
        labels = Labels.from_lists([one.labels.tolist() for one in chosen], n_categories)
        if all(one.known is None for one in chosen):
            return labels
        known = np.ones((len(chosen), n_categories), bool)
        for row, one in zip(known, chosen, strict=True):
            if one.known is not None:
                row[:] = False
                row[: len(one.known)] = one.known
        return labels._replace(known=known)

    def own(self, places: Iterable[int], n_categories: int) -> np.ndarray:
        """Return what documents have added to their own scores; NaN where it is not known.

        Taken off the scores, it gives those of a model that has not seen the document.
        """
        places = list(places)
        own = np.zeros((len(places), n_categories), np.float32)
        for row, i in zip(own, places, strict=True):
            theirs = self.documents[i].own
            if theirs is None:
                row[:] = np.nan
            else:
                row[: len(theirs)] = theirs
        return own

    def weights(self) -> np.ndarray:
        """Return how many documents each stands for."""
        homes = self.homes - NONE
        kept = np.bincount(homes, minlength=len(self.seen))
        return np.asarray((self.seen / np.maximum(kept, 1))[homes])

    def recall(self, n: int, generator: np.random.Generator) -> np.ndarray:
        """Return the places of `n` documents, or of all, drawn by how many each stands for.

        Each category has as many here as any other; met evenly, the rare ones would gain ground.
        """
        if n >= len(self):
            return generator.permutation(len(self))
        keys = generator.exponential(size=len(self)) / self.weights()
        return np.asarray(np.argpartition(keys, n)[:n])

    def find(self, rows: Rows) -> list[int]:
        """Return the places of the documents that are as long and have these counts.

        Of a document that was learned before some of its features were, it has the others.
        """
        wanted: dict[int, list[dict[int, float]]] = {}
        for one in _documents(rows, Labels.from_lists([[]] * rows.n_rows, 0), None):
            wanted.setdefault(one.length, []).append(one.counts)
        return [
            i
            for i, one in enumerate(self.documents)
            if any(one.counts.items() <= counts.items() for counts in wanted.get(one.length, ()))
        ]

    # ---- what changes it ---------------------------------------------------------------------

    def with_more(
        self,
        rows: Rows,
        labels: Labels,
        numbers: np.ndarray,
        own: np.ndarray | None = None,
    ) -> Self:
        """Return a memory of these documents too, as far as there is room for them."""
        if not self.capacity:
            return self
        seen = np.zeros(max(len(self.seen), labels.n_categories - NONE), np.int64)
        seen[: len(self.seen)] = self.seen
        documents, all_numbers, homes = list(self.documents), self.numbers, self.homes
        for i, one in enumerate(_documents(rows, labels, own)):
            home = int(one.labels[np.argmin(seen[one.labels - NONE])]) if len(one.labels) else NONE
            seen[home - NONE] += 1
            documents.append(one)
            all_numbers, homes = np.append(all_numbers, numbers[i]), np.append(homes, home)
            if len(documents) > self.capacity:
                fullest = np.bincount(homes - NONE).argmax() + NONE
                theirs = np.flatnonzero(homes == fullest)
                last = theirs[np.argmax(_hashes(self.seed, all_numbers[theirs]))]
                del documents[last]
                all_numbers, homes = np.delete(all_numbers, last), np.delete(homes, last)
        return replace(self, documents=documents, numbers=all_numbers, homes=homes, seen=seen)

    def with_own(self, own: np.ndarray) -> Self:
        """Return a memory in which documents have added this to their own scores.

        It has a row for each; NaN is for what is not known.
        """
        known = ~np.isnan(own).any(1)
        pairs = zip(self.documents, own, known, strict=True)
        documents = [replace(one, own=row if is_known else None) for one, row, is_known in pairs]
        return replace(self, documents=documents)

    def with_more_own(self, places: np.ndarray, added: np.ndarray) -> Self:
        """Return a memory in which some documents have added more to their own scores."""
        documents = list(self.documents)
        touched = np.flatnonzero(added.any(1))
        for i, more in zip(places[touched].tolist(), added[touched], strict=True):
            theirs = documents[i].own
            if theirs is not None:
                own = more.copy()
                own[: len(theirs)] += theirs
                documents[i] = replace(documents[i], own=own)
        return replace(self, documents=documents)

    def without(self, places: Iterable[int]) -> Self:
        """Return a memory that has forgotten some documents."""
        kept = np.setdiff1d(np.arange(len(self)), list(places))
        documents = [self.documents[i] for i in kept]
        numbers, homes = self.numbers[kept], self.homes[kept]
        return replace(self, documents=documents, numbers=numbers, homes=homes)

    def pruned(self, keep: np.ndarray) -> Self:
        """Return a memory without some columns; the others close ranks."""
        numbers = np.cumsum(keep, dtype=np.int32) - 1
        documents = []
        for one in self.documents:
            inside = keep[one.indices]
            indices = numbers[one.indices[inside]].astype(np.int32)
            documents.append(replace(one, indices=indices, values=one.values[inside]))
        return replace(self, documents=documents)

    def renumbered(self, numbers: np.ndarray) -> Self:
        """Return a memory with other numbers of categories, -1 for one that is gone.

        Two that have one number now have become one, whose score is the sum of theirs. An answer
        is about it if it was about both, or had one of them for a label.
        """
        n = int(numbers.max(initial=-1)) + 1
        documents = []
        for one in self.documents:
            labels = np.unique(numbers[one.labels])
            labels, own, known = labels[labels >= 0].astype(np.int32), one.own, one.known
            if own is not None:
                new = numbers[: len(own)]
                own = np.bincount(new[new >= 0], own[new >= 0], n).astype(np.float32)
            if known is not None:
                unknown = np.append(~known, np.ones(len(numbers) - len(known), bool))
                known = ~np.isin(np.arange(n), numbers[unknown])
                known[labels] = True
                known = None if known.all() else known
            documents.append(replace(one, labels=labels, own=own, known=known))
        new_homes = np.append(NONE, numbers)  # by the old ones, from NONE on
        seen = np.zeros(n - NONE, np.int64)
        np.add.at(seen, new_homes[: len(self.seen)] - NONE, self.seen)
        homes = new_homes[self.homes - NONE]
        return replace(self, documents=documents, homes=homes, seen=seen)

    # ---- the model file ----------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return what a model file keeps: a header and tensors."""
        n_categories = len(self.seen) + NONE
        places = range(len(self))
        rows, labels = self.rows(places, 0), self.labels(places, n_categories)
        tensors = {
            "indptr": rows.indptr,
            "indices": rows.indices,
            "values": rows.values,
            "lengths": np.array([one.length for one in self.documents], np.int64),
            "label_indptr": labels.indptr,
            "label_indices": labels.indices,
            "numbers": self.numbers,
            "homes": self.homes,
            "seen": self.seen,
            "own": self.own(places, n_categories),
        }
        if labels.known is not None:
            tensors["known"] = labels.known.astype(np.uint8)
        return {"capacity": self.capacity, "seed": self.seed}, tensors

    @classmethod
    def from_state(
        cls, header: dict[str, Any], tensors: dict[str, np.ndarray], n_columns: int, n: int
    ) -> Self:
        """Return the memory that `state` described, of so many columns and categories, checked."""
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
        homes = require_tensor(tensors, "homes", np.int64, (size,))
        seen = require_tensor(tensors, "seen", np.int64, (None,), low=0, high=2**40)
        known_n = len(seen) + NONE
        own = require_tensor(tensors, "own", np.float32, (size, known_n))
        is_right = (
            size <= capacity
            and known_n <= n
            and _are_ends(indptr, len(indices))
            and _are_ends(label_indptr, len(label_indices))
            and _within(indices, 0, n_columns)
            and _within(label_indices, 0, known_n)
            and _within(homes, NONE, known_n)
            and _are_once(indptr, indices)
            and _are_once(label_indptr, label_indices)
            and bool((values > 0).all())
            and not (np.abs(own) > LARGEST_SCORE).any()
        )
        if not is_right:
            raise ModelError("The model's memory of documents is damaged; train it again.")
        rows = Rows(indptr, indices, values, n_columns, lengths)
        labels = Labels(label_indptr, label_indices, known_n)
        if "known" in tensors:
            known = require_tensor(tensors, "known", np.uint8, (size, known_n), high=1)
            labels = labels._replace(known=known.astype(bool))
        documents = [
            replace(one, own=None) if np.isnan(theirs).any() else one
            for one, theirs in zip(_documents(rows, labels, own), own, strict=True)
        ]
        return cls(capacity, seed, documents, numbers.copy(), homes.copy(), seen.copy())

    @property
    def n_bytes(self) -> int:
        """How much of a model file it takes, roughly."""
        return sum(8 * len(one.indices) + 4 * len(self.seen) + 32 for one in self.documents)


class Sample(NamedTuple):
    """Some remembered documents, and how they are decided."""

    rows: Rows  # their strengths
    decided: np.ndarray
    drawn: int  # how many documents had been learned from by then
    valid_for: tuple[Any, Memory | None]  # the decisions and the memory for which this holds


def sampled(examples: Examples, capacity: int, seed: int) -> Memory:
    """Return a memory of documents that have been counted.

    Each category keeps as many as every other, as long as it has them.

    Examples
    --------
    >>> rows = Rows(np.arange(101), np.zeros(100, np.int32), np.ones(100, np.float32), 1)
    >>> examples = Examples.of(rows, Labels.from_lists([[0]] * 98 + [[1]] * 2, 2))
    >>> sampled(examples, 4, seed=0).numbers.tolist()
    [33, 53, 98, 99]
    """
    labels = examples.labels()
    n_documents, counts = labels.n_rows, np.bincount(labels.indices, minlength=labels.n_categories)
    homes = np.full(n_documents, NONE, np.int64)
    owners = np.repeat(np.arange(n_documents), np.diff(labels.indptr))
    order = np.lexsort((labels.indices, -counts[labels.indices]))
    homes[owners[order]] = labels.indices[order]  # the rarest is written last and stays
    keys = _hashes(seed, np.arange(n_documents))
    sizes = np.bincount(homes - NONE, minlength=labels.n_categories - NONE)
    rank = np.empty(n_documents, np.int64)
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    rank[np.lexsort((keys, homes))] = np.arange(n_documents) - starts
    # Whoever is first in its category comes before all that are second in theirs.
    chosen = np.sort(np.lexsort((keys, rank))[:capacity])
    documents = [one for part in examples.take(chosen) for one in _documents(*part, None)]
    return Memory(capacity, seed, documents, chosen, homes[chosen], sizes)


def _documents(rows: Rows, labels: Labels, own: np.ndarray | None) -> Iterable[Remembered]:
    """Yield documents one by one, in arrays of their own."""
    for i, (indices, values) in enumerate(_split(rows)):
        yield Remembered(
            indices.copy(),
            values.copy(),
            int(values.sum()) if rows.lengths is None else int(rows.lengths[i]),
            labels.indices[labels.indptr[i] : labels.indptr[i + 1]].copy(),
            None if own is None else own[i].copy(),
            None if labels.known is None or labels.known[i].all() else labels.known[i].copy(),
        )


def _split(rows: Rows) -> Iterable[tuple[np.ndarray, np.ndarray]]:
    ends = rows.indptr.tolist()
    for start, end in itertools.pairwise(ends):
        yield rows.indices[start:end], rows.values[start:end]


def _are_ends(indptr: np.ndarray, total: int) -> bool:
    return bool(indptr[0] == 0 and indptr[-1] == total and (np.diff(indptr) >= 0).all())


def _are_once(indptr: np.ndarray, indices: np.ndarray) -> bool:
    """Tell whether nothing stands in a document twice."""
    owners = np.repeat(np.arange(len(indptr) - 1, dtype=np.uint64), np.diff(indptr))
    keys = owners << np.uint64(32) | indices.astype(np.uint64)
    keys.sort()
    return bool((keys[1:] != keys[:-1]).all())


def _within(numbers: np.ndarray, low: int, high: int) -> bool:
    return not len(numbers) or bool(numbers.min() >= low and numbers.max() < high)


def _hashes(seed: int, numbers: Any) -> np.ndarray:
    """Return a number for each document that looks random (splitmix64)."""
    with np.errstate(over="ignore"):
        x = np.asarray(numbers, np.uint64) + np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15)
        x = (x + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))
