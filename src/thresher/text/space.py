"""The columns of words, runs of words, parts of words and words of fields, in one numbering."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, ClassVar, NamedTuple
from weakref import WeakSet

import numpy as np

from thresher._kernels import text as kernels
from thresher._kernels.text import FIELDS, GAP, PARTS, RUNS, UNKNOWN, WORDS
from thresher.errors import DocumentError, ModelError, param
from thresher.state import require_tensor
from thresher.text.tokens import Tokens
from thresher.text.vocabulary import MOST_WORDS, Vocabulary, grown, hash_words, n_slots

BLOCKS = ("words", "runs", "parts", "fields")
GAP_NAME = "_"  # in the name of a run
MOST_CANDIDATES = 1_000_000  # items that wait for a column; if there are more, half are forgotten


class Kinds(NamedTuple):
    """The kinds of features that are counted."""

    ngram_range: tuple[int, int] | None
    with_parts: bool
    fields: tuple[str, ...] = ()
    gaps: bool = False


class Counts(NamedTuple):
    """Codes of features and their counts in each document, as compressed sparse rows."""

    indptr: np.ndarray
    codes: np.ndarray  # int32: numbers of words or parts, codes of runs, or columns
    counts: np.ndarray  # int32

    @classmethod
    def empty(cls, n_documents: int, size: int = 0) -> Counts:
        """Return rows to be filled, with room for `size` entries."""
        codes, counts = np.empty(size, np.int32), np.empty(size, np.int32)
        return cls(np.zeros(n_documents + 1, np.int64), codes, counts)

    def beside(self, other: Counts) -> Counts:
        """Return rows that have the entries of both, those of `other` after these."""
        size = len(self.codes) + len(other.codes)
        codes, counts = np.empty(size, np.int32), np.empty(size, self.counts.dtype)
        for rows, before in ((self, other.indptr[:-1]), (other, self.indptr[1:])):
            positions = np.arange(len(rows.codes)) + np.repeat(before, np.diff(rows.indptr))
            codes[positions], counts[positions] = rows.codes, rows.counts
        return Counts(self.indptr + other.indptr, codes, counts)


class Mark:
    """The size of a space at one time, to which it can be rolled back."""

    def __init__(self, space: Space) -> None:
        self.n_words, self.n_runs, self.n_parts, _ = space.n_items
        self.sizes = space.sizes.copy()
        self.as_numbered = space.as_numbered
        self.queue: np.ndarray | None = None  # a copy, made before waiting items are forgotten


class Space:
    """The columns of counts, the feature of each column, and features that wait for a column.

    An item is something that can have a column. There are four blocks of items: words, runs of
    words, parts of words, and words of fields; in its block, an item has a number. That of a word
    of a field is the number of the word times the number of fields, plus the number of the field.

    An item gets a column when it has been in enough documents; until then it waits. If only one
    block is counted and nothing waits, columns are numbered as the items (`as_numbered`), and no
    table of columns is needed.
    """

    dtypes: ClassVar[dict[int, type]] = {WORDS: np.int32, PARTS: np.int32}  # of what `number` gives

    def __init__(self, kinds: Kinds) -> None:
        self.kinds, (ngram_range, with_parts, fields, gaps) = kinds, kinds
        self.fields = fields
        self.words, self.parts = Vocabulary(), Vocabulary()
        self.runs = Runs(*(ngram_range or (1, 1)), gaps)
        has_one_block = ngram_range is None or (not with_parts and self.runs.high == 1)
        has_one_block = has_one_block and not fields
        self.only = (PARTS if ngram_range is None else WORDS) if has_one_block else None
        self.has_words = ngram_range is not None or bool(fields)  # whether words are numbered
        self.no_history = self.runs.no_words  # of the words before a document: there are none
        self.as_numbered = self.only is not None
        self.sizes = np.zeros(4, np.int64)
        self.blocks = np.zeros(0, np.uint8)  # of each column
        self.items = np.zeros(0, np.int32)  # of each column
        self.columns = tuple(np.zeros(0, np.int32) for _ in BLOCKS)  # of each item, or -1
        self.seen = tuple(np.zeros(0, np.int32) for _ in BLOCKS)  # documents of waiting items
        self.queue = np.zeros(0, np.int64)  # item << 2 | block of waiting items and some others
        self.log = np.zeros((0, 2), np.int64)  # an entry of the queue and `seen` before each change
        self.has_forgotten = False  # items that no column and no waiting item needs
        self.marks: WeakSet[Mark] = WeakSet()

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"marks": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, marks=WeakSet())

    @property
    def n_items(self) -> tuple[int, int, int, int]:
        """The number of items of each block."""
        n_words = len(self.words)
        return n_words, len(self.runs), len(self.parts), n_words * len(self.fields)

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        if self.as_numbered and self.only is not None:
            return self.n_items[self.only]
        return int(self.sizes[kernels.COLUMNS])

    def prepare(self, least: np.ndarray) -> None:
        """Prepare to add items that need as many documents as `least` says for a column."""
        if not self.marks:
            self.sizes[kernels.LOGGED] = 0
        if self.as_numbered and self.only is not None and least[self.only] > 1:
            self._make_tables()

    def _make_tables(self) -> None:
        """Make tables of columns where none were needed before."""
        assert self.only is not None
        n = self.n_columns
        self.columns, self.seen = self._filled(-1), self._filled(0)
        self.columns[self.only][:] = self.items = np.arange(n, dtype=np.int32)
        self.sizes[:] = n, 0, 0, self.sizes[kernels.LOGGED]
        self.as_numbered = False

    def number(self, block: int, tokens: Tokens, grow: bool) -> np.ndarray:
        """Return the number of each word or part; unknown ones are added if `grow`, else -1."""
        vocabulary = self.words if block == WORDS else self.parts
        if grow:
            self._reserve_items(block, len(vocabulary) + len(tokens.spans))
        return vocabulary.look_up(tokens, grow)

    def run_codes(
        self, ids: np.ndarray, ends: np.ndarray, grow: bool, history: np.ndarray
    ) -> np.ndarray:
        """Return, for each word, the codes of the runs that end with it; -1 for none.

        `history` is `no_history` at the start of a document, and is changed.
        """
        if self.runs.high == 1:
            return ids
        runs, n = self.runs, len(ids)
        if grow:
            self._reserve_items(RUNS, runs.reserve(n))
        shapes = runs.shapes
        codes = np.empty((n, len(shapes.counted)), np.int32)
        kernels.ngrams(
            ids, n, ends, shapes.parents, shapes.gaps, shapes.counted, history, runs.slots,
            runs.pairs, runs.sizes, grow, codes,
        )  # fmt: skip
        return codes

    def field_codes(self, ids: np.ndarray, fields: np.ndarray) -> np.ndarray:
        """Return the items of words in fields; -1 for words that are not known."""
        n_fields, n_items = len(self.fields), self.n_items[FIELDS]
        if n_items >= 2**31:
            raise DocumentError(
                f"There are {len(self.words):,} words, too many for {n_fields} fields; leave "
                f"{param('fields')} out, or take {param('hashing_bits')}."
            )
        return np.where(ids >= 0, ids * np.int32(n_fields) + fields.astype(np.int32), UNKNOWN)

    def n_codes(self, block: int) -> int:
        """Return the number of different codes that a block can have."""
        if block == PARTS:
            return int(self.parts.sizes[0])
        n_words, n_runs = int(self.words.sizes[0]), int(self.runs.sizes[0])
        if block == FIELDS:
            return n_words * len(self.fields)
        return n_words if self.runs.high == 1 else 2 * max(n_words, n_runs)

    def to_columns(self, rows: Sequence[Counts | None], grow: bool, least: np.ndarray) -> Counts:
        """Return rows of columns, given those of words or codes of runs, parts, words of fields.

        If `grow`, an item gets a column when it has been in `least[block]` documents.
        """
        first = next(filter(None, rows))
        if self.as_numbered:
            return first
        n_documents = len(first.indptr) - 1
        nothing = Counts.empty(n_documents)
        words, parts, fields = rows[0] or nothing, rows[1] or nothing, rows[2] or nothing
        size = len(words.codes) + len(parts.codes) + len(fields.codes)
        out = Counts.empty(n_documents, size)
        if grow:
            self._reserve_columns(size)
        done = 0
        while done < n_documents:
            books = self.sizes, self.blocks, self.items, self.queue, bool(self.marks), self.log
            done = kernels.settle(
                done, words, parts, fields, self.runs.high > 1, self.columns, self.seen, least,
                MOST_CANDIDATES, grow, books, out,
            )  # fmt: skip
            if grow and self.sizes[kernels.CANDIDATES] > MOST_CANDIDATES:
                self._forget(size)
        n = out.indptr[-1]
        return Counts(out.indptr, out.codes[:n], out.counts[:n])

    def merge(self, other: Space) -> np.ndarray:
        """Add the columns of another space, in which nothing waits; return their numbers here."""
        words = self.words.merge(other.words)
        runs = self.runs.merge(other.runs, words)
        parts = self.parts.merge(other.parts)
        n_fields = len(self.fields)
        in_fields = n_fields * words[:, None] + np.arange(n_fields, dtype=np.int32)
        numbers = words, runs, parts, in_fields.ravel()
        if self.as_numbered and not other.as_numbered:
            self._make_tables()
        for block in (WORDS, RUNS, PARTS):
            self._reserve_items(block, self.n_items[block])
        blocks, items = other.of_columns()
        merged = _of_items(numbers, blocks, items)
        if self.as_numbered:
            return merged
        columns = _of_items(self.columns, blocks, merged)
        is_new = columns < 0
        first, last = self.n_columns, self.n_columns + int(is_new.sum())
        self._reserve_columns(last - first)
        columns[is_new] = np.arange(first, last)
        for block, of_block in enumerate(self.columns):
            of_block[merged[blocks == block]] = columns[blocks == block]
        self.blocks[first:last], self.items[first:last] = blocks[is_new], merged[is_new]
        self.sizes[kernels.COLUMNS] = last
        return columns

    def candidates(self) -> np.ndarray:
        """Return block, number and number of documents of each item that waits for a column."""
        queue = self.queue[: self.sizes[kernels.QUEUED]]
        blocks, items = queue & 3, queue >> 2
        times = _of_items(self.seen, blocks, items)
        return np.stack([blocks, items, times], axis=1)[times > 0].astype(np.int32)

    def of_columns(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the block of each column and the number of its item."""
        n = self.n_columns
        items = np.arange(n, dtype=np.int32) if self.as_numbered else self.items[:n]
        return self.blocks[:n], items

    def field_numbers(self) -> np.ndarray:
        """Return, for each column, 0, or 1 plus the number of the field whose word it is."""
        blocks, items = self.of_columns()
        return np.where(blocks == FIELDS, items % max(1, len(self.fields)) + 1, 0).astype(np.uint8)

    def columns_of(self, block: int, numbers: np.ndarray) -> np.ndarray:
        """Return the columns of items, or of the codes of runs; -1 for those without a column."""
        if self.as_numbered:
            return numbers
        if block >= PARTS or self.runs.high == 1:
            return np.where(numbers >= 0, _at(self.columns[block], numbers), -1)
        words, runs = (_at(self.columns[kind], numbers >> 1) for kind in (WORDS, RUNS))
        return np.where(numbers < 0, -1, np.where(numbers & 1, runs, words))

    def names(self, columns: np.ndarray) -> list[str]:
        """Return the names of some columns: a space between words, a colon after a field."""
        blocks, items = self.blocks[columns], columns if self.as_numbered else self.items[columns]
        names = np.empty(len(items), object)
        for block, names_of in enumerate((self.words.names, self._run_names, self.parts.names)):
            names[blocks == block] = names_of(items[blocks == block])
        if self.fields:
            words, fields = np.divmod(items[blocks == FIELDS], len(self.fields))
            named = zip(fields.tolist(), self.words.names(words), strict=True)
            names[blocks == FIELDS] = [f"{self.fields[field]}:{word}" for field, word in named]
        return names.tolist()  # type: ignore[no-any-return]

    def _run_names(self, runs: np.ndarray) -> list[str]:
        """Return the names of runs of words: the name of a shorter run or word, and a last word."""
        left, right = self.runs.pairs[runs].T
        firsts, is_run = np.empty(len(runs), object), left < 0
        firsts[~is_run] = self.words.names(left[~is_run])
        if is_run.any():
            firsts[is_run] = self._run_names(~left[is_run])
        lasts = np.full(len(runs), GAP_NAME, object)
        lasts[right != GAP] = self.words.names(right[right != GAP])
        return (firsts + " " + lasts).tolist()  # type: ignore[no-any-return]

    # Growing and going back -----------------------------------------------------------------------

    def mark(self) -> Mark:
        """Return the present size; as long as the mark exists, changes are logged."""
        mark = Mark(self)
        self.marks.add(mark)
        return mark

    def roll_back(self, mark: Mark) -> None:
        """Remove everything that was added since the mark."""
        if self.as_numbered == mark.as_numbered:
            n_columns, n_logged = mark.sizes[[kernels.COLUMNS, kernels.LOGGED]]
            tables = self.columns, self.seen, self.sizes, self.blocks, self.items, self.log
            kernels.take_columns_out(n_columns, n_logged, *tables)
        if mark.queue is not None:
            self.queue[: len(mark.queue)] = mark.queue
        self.as_numbered, self.has_forgotten = mark.as_numbered, False
        self.sizes[:] = mark.sizes
        self.words.truncate(mark.n_words)
        self.runs.truncate(mark.n_runs)
        self.parts.truncate(mark.n_parts)

    def _reserve_items(self, block: int, n: int) -> None:
        """Make room in the tables for `n` items of a block."""
        if self.as_numbered:
            self.blocks = grown(self.blocks, n, fill=block)
            return
        columns, seen = list(self.columns), list(self.seen)
        columns[block] = grown(columns[block], n, fill=-1)
        seen[block] = grown(seen[block], n)
        self.columns, self.seen = tuple(columns), tuple(seen)
        if block == WORDS and self.fields:
            self._reserve_items(FIELDS, n * len(self.fields))

    def _reserve_columns(self, n_new: int) -> None:
        n_columns, _, n_queued, n_logged = self.sizes.tolist()
        self.blocks = grown(self.blocks, n_columns + n_new, fill=self.only or WORDS)
        self.items = grown(self.items, n_columns + n_new)
        self.queue = grown(self.queue, n_queued + n_new)
        if self.marks:
            self.log = grown(self.log, n_logged + n_new)

    def _forget(self, n_new: int) -> None:
        """Forget half of the waiting items, and leave room to log `n_new` changes."""
        for mark in self.marks:
            if mark.queue is None:
                mark.queue = self.queue[: mark.sizes[kernels.QUEUED]].copy()
        n_logged = int(self.sizes[kernels.LOGGED] + self.sizes[kernels.CANDIDATES]) + n_new
        self.log = grown(self.log, n_logged if self.marks else 0)
        self.has_forgotten = True
        n_left = MOST_CANDIDATES // 2
        kernels.forget(n_left, self.seen, self.sizes, self.queue, bool(self.marks), self.log)

    def subset(self, keep: np.ndarray, with_waiting: bool = True) -> Space:
        """Return a space of some columns, the waiting items, and what both are made of."""
        blocks, items = (of_column[keep] for of_column in self.of_columns())
        waiting = self.candidates()[: None if with_waiting else 0]
        of_all, items_of_all = np.concatenate([[blocks, items], waiting.T[:2]], axis=1)
        needed = [np.zeros(n, bool) for n in self.n_items]
        for block, is_needed in enumerate(needed):
            is_needed[items_of_all[of_all == block]] = True
        n_fields = len(self.fields)
        needed[WORDS] |= needed[FIELDS].reshape(len(self.words), n_fields).any(axis=1)
        pairs = self.runs.need(needed[RUNS])
        needed[WORDS][pairs[pairs[:, 1] != GAP, 1]] = True
        needed[WORDS][pairs[pairs[:, 0] >= 0, 0]] = True
        renumbered = [np.cumsum(is_needed, dtype=np.int32) - 1 for is_needed in needed]
        in_fields = n_fields * renumbered[WORDS][:, None] + np.arange(n_fields)
        renumbered[FIELDS] = in_fields.ravel().astype(np.int32)
        items = _of_items(renumbered, blocks, items)
        waiting[:, 1] = _of_items(renumbered, *waiting.T[:2])
        left, right = pairs.T
        left = np.where(left >= 0, _at(renumbered[WORDS], left), ~_at(renumbered[RUNS], ~left))
        right = np.where(right != GAP, _at(renumbered[WORDS], right), right)
        subset = Space(self.kinds)
        subset.words = self.words.subset(needed[WORDS])
        subset.parts = self.parts.subset(needed[PARTS])
        subset.runs.fill(np.stack([left, right], axis=1))
        subset._fill(blocks, items, waiting)
        return subset

    def _filled(self, fill: int) -> tuple[np.ndarray, ...]:
        """Return an array for each block, with `fill` for each item."""
        return tuple(np.full(n, fill, np.int32) for n in self.n_items)

    def _fill(self, blocks: np.ndarray, items: np.ndarray, waiting: np.ndarray) -> None:
        """Set the columns and the waiting items, all of which are known already."""
        self.as_numbered = (
            self.only is not None
            and not len(waiting)
            and np.array_equal(items, np.arange(self.n_items[self.only]))
        )
        self.blocks, self.items = blocks.astype(np.uint8), items.astype(np.int32)
        if self.as_numbered:
            return
        self.columns, self.seen = self._filled(-1), self._filled(0)
        for block in range(len(BLOCKS)):
            of_block, waits = np.flatnonzero(blocks == block), waiting[:, 0] == block
            self.columns[block][items[of_block]] = of_block
            self.seen[block][waiting[waits, 1]] = waiting[waits, 2]
        self.queue = waiting[:, 1].astype(np.int64) << 2 | waiting[:, 0]
        self.sizes[:] = len(items), len(waiting), len(waiting), 0

    # As data --------------------------------------------------------------------------------------

    def tensors(self) -> dict[str, np.ndarray]:
        """Return the arrays from which `from_tensors` makes the same space."""
        tensors = self.words.tensors("word") if self.has_words else {}
        if self.runs.high > 1:
            tensors["pairs"] = self.runs.pairs[: len(self.runs)].copy()
        if self.kinds.with_parts:
            tensors |= self.parts.tensors("part")
        if not self.as_numbered:
            blocks, items = (of_column.copy() for of_column in self.of_columns())
            tensors |= {"blocks": blocks, "columns": items, "candidates": self.candidates()}
        return tensors

    @classmethod
    def from_tensors(cls, kinds: Kinds, tensors: dict[str, np.ndarray]) -> Space:
        """Return the space with these `tensors`, after checking them."""
        space = cls(kinds)
        if space.has_words:
            space.words = Vocabulary.from_tensors(tensors, "word")
        if kinds.with_parts:
            space.parts = Vocabulary.from_tensors(tensors, "part")
        if space.runs.high > 1:
            n_words = len(space.words)
            space.runs.fill(require_tensor(tensors, "pairs", np.int32, (None, 2)), n_words)
        if space.only is not None and "columns" not in tensors:
            space.blocks = np.full(space.n_items[space.only], space.only, np.uint8)
            return space
        items = require_tensor(tensors, "columns", np.int32, (None,), low=0)
        blocks = require_tensor(tensors, "blocks", np.uint8, items.shape, high=FIELDS)
        waiting = require_tensor(tensors, "candidates", np.int32, (None, 3), low=0)
        of_all, items_of_all = np.concatenate([[blocks, items], waiting.T[:2]], axis=1)
        for block, may_have_column in enumerate(space._possible()):
            numbers = items_of_all[of_all == block]
            if len(numbers) and numbers.max() >= len(may_have_column):
                raise ModelError(
                    f"The model has a column for {BLOCKS[block]} number {numbers.max()}, and "
                    f"{len(may_have_column)} {BLOCKS[block]}; the file is damaged."
                )
            is_twice = len(numbers) and np.bincount(numbers).max() > 1
            if is_twice or not may_have_column[numbers].all():
                raise ModelError(
                    f"The model's columns of {BLOCKS[block]} are not all different, or not of the "
                    f"lengths that it counts, {kinds.ngram_range}; the file is damaged."
                )
        if np.any(of_all > FIELDS) or np.any((waiting[:, 2] < 1) | (waiting[:, 2] >= MOST_WORDS)):
            raise ModelError("The model's candidates for columns are none; the file is damaged.")
        space._fill(blocks, items, waiting)
        return space

    def _possible(self) -> tuple[np.ndarray, ...]:
        """Return which items of each block can have a column."""
        lengths, last = self.runs.lengths(), self.runs.pairs[: len(self.runs), 1]
        return (
            np.full(len(self.words), self.kinds.ngram_range is not None and self.runs.low == 1),
            (lengths >= self.runs.low) & (lengths <= self.runs.high) & (last != GAP),
            np.ones(len(self.parts), bool),
            np.ones(self.n_items[FIELDS], bool),
        )


class Shapes(NamedTuple):
    """The shapes of runs: each is a shorter shape, followed by a word or a gap.

    The bits of a pattern are one for a word and zero for a gap, the lowest bit for the last. No
    pattern begins with a gap; one that ends with a gap is only the beginning of others.
    """

    patterns: list[int]
    parents: np.ndarray  # the shape without the last word or gap, which comes before
    gaps: np.ndarray  # whether a gap is last
    lengths: np.ndarray
    counted: np.ndarray  # the shapes of runs that are features

    @classmethod
    def of(cls, low: int, high: int, with_gaps: bool) -> Shapes:
        """Return the shapes of all runs of `low` to `high` words, the shorter ones first."""
        patterns = []
        for length in range(1, high + 1):
            full = (1 << length) - 1
            candidates = range(full, full // 2, -1) if with_gaps else [full]
            patterns += [pattern for pattern in candidates if pattern & 1 or length < high]
        numbers = {pattern: number for number, pattern in enumerate(patterns)}
        parents = np.array([numbers.get(pattern >> 1, 0) for pattern in patterns])
        lengths = np.array([pattern.bit_length() for pattern in patterns])
        gaps = np.array([not pattern & 1 for pattern in patterns])
        return cls(patterns, parents, gaps, lengths, np.flatnonzero((lengths >= low) & ~gaps))

    @property
    def has_gaps(self) -> bool:
        return bool(self.gaps.any())


class Runs:
    """A table of runs of words: each is a pair of a node and a word, or a gap.

    A node is a word, by its number, or a shorter pair, by the inverse of its number. So the run of
    three words is the pair of the pair of the first two, and the third.
    """

    def __init__(self, low: int, high: int, gaps: bool = False) -> None:
        self.low, self.high = low, high
        self.shapes = Shapes.of(low, high, gaps)
        self.no_words = np.full(len(self.shapes.patterns), kernels.NOTHING)
        self.sizes = np.zeros(1, np.int64)  # the number of pairs, which kernels change
        self.pairs = np.zeros((0, 2), np.int32)
        self.slots = np.zeros(2 * n_slots(0), np.uint64)

    def __len__(self) -> int:
        return int(self.sizes[0])

    def reserve(self, n_words: int) -> int:
        """Make room for the runs of `n_words` words; return for how many pairs there is room."""
        return self._reserve(len(self) + n_words * (len(self.no_words) - 1))

    def _reserve(self, n_pairs: int) -> int:
        self.pairs = grown(self.pairs, n_pairs)
        if len(self.slots) < 2 * n_slots(n_pairs):
            self._rebuild_slots(n_pairs)
        return n_pairs

    def merge(self, other: Runs, words: np.ndarray) -> np.ndarray:
        """Add the runs of another table, given the numbers here of its words; return theirs."""
        self._reserve(len(self) + len(other))
        numbers = np.empty(len(other), np.int32)
        kernels.merge_pairs(
            other.pairs[: len(other)], words, self.slots, self.pairs, self.sizes, numbers
        )
        return numbers

    def need(self, needed: np.ndarray) -> np.ndarray:
        """Mark what the pairs that are `needed` are made of, too; return all marked pairs."""
        for _ in range(2, self.high):
            left = self.pairs[: len(self)][needed, 0]
            needed[~left[left < 0]] = True
        pairs: np.ndarray = self.pairs[: len(self)][needed]
        return pairs

    def truncate(self, n: int) -> None:
        """Remove all but the first `n` pairs."""
        kernels.take_pairs_out(self.slots, self.pairs, self.sizes, n)

    def lengths(self) -> np.ndarray:
        """Return the number of words of each pair, at most one more than `high`."""
        left = self.pairs[: len(self), 0]
        lengths = np.full(len(left), 2)
        for _ in range(2, self.high + 1):
            lengths = np.where(left < 0, _at(lengths, ~left) + 1, 2)
        return lengths

    def fill(self, pairs: np.ndarray, n_words: int | None = None) -> None:
        """Set the pairs, after checking that they are of `n_words` words and earlier pairs."""
        left, right = pairs.T
        if n_words is not None:
            possible = (left >= 0) | (~left < np.arange(len(pairs)))
            lowest = GAP if self.shapes.has_gaps else 0
            possible &= (left < n_words) & (right >= lowest) & (right < n_words)
            if len(pairs) >= MOST_WORDS or not possible.all():
                fault = "The model's runs of words are made of words or runs that it lacks"
                raise ModelError(f"{fault}; the file is damaged.")
        self.pairs = np.array(pairs, np.int32)
        self.sizes[0] = len(pairs)
        if np.any(self.lengths() > self.high):
            fault = f"The model has runs of more than {self.high} words, its own limit"
            raise ModelError(f"{fault}; the file is damaged.")
        self._rebuild_slots(len(pairs))

    def _rebuild_slots(self, n_pairs: int) -> None:
        slots, sizes = np.zeros(2 * n_slots(n_pairs), np.uint64), np.zeros(1, np.int64)
        kernels.fill_pair_slots(slots, self.pairs, len(self), sizes)
        if sizes[0] != len(self):
            raise ModelError("The model has a run of words twice; the file is damaged.")
        self.slots = slots


class HashedSpace(Space):
    """Columns that are hashes of items: there is no vocabulary, and nothing grows.

    Words and runs of words share their columns. Two kinds of items have half of the columns each;
    of three kinds, words have half of them and the others a quarter each.
    """

    n_columns = 0
    dtypes: ClassVar[dict[int, type]] = {WORDS: np.uint64, PARTS: np.int32}

    def __init__(self, kinds: Kinds, bits: int) -> None:
        super().__init__(kinds)
        self.as_numbered, self.n_columns = True, 1 << bits
        self.blocks = np.zeros(self.n_columns, np.uint8)
        counted = (WORDS, kinds.ngram_range), (PARTS, kinds.with_parts), (FIELDS, kinds.fields)
        blocks = [block for block, is_counted in counted if is_counted]
        self.firsts, self.masks, first = {WORDS: 0}, {WORDS: np.uint64(0)}, 0
        for number, block in enumerate(blocks, 1):
            size = self.n_columns >> min(number, len(blocks) - 1)
            self.firsts[block], self.masks[block] = first, np.uint64(size - 1)
            if block:  # zeros are there already
                self.blocks[first : first + size] = block
            first += size
        self.salts = hash_words(Tokens.of_words(kinds.fields))
        self.no_history = np.zeros(len(self.runs.no_words) + 1, np.uint64)

    def n_codes(self, block: int) -> int:
        return self.n_columns

    def number(self, block: int, tokens: Tokens, grow: bool) -> np.ndarray:
        """Return the hash of each word, or the column of each part."""
        hashes = hash_words(tokens)
        if block == WORDS:
            return hashes
        return (hashes & self.masks[PARTS]).astype(np.int32) + np.int32(self.firsts[PARTS])

    def run_codes(
        self, hashes: np.ndarray, ends: np.ndarray, grow: bool, history: np.ndarray
    ) -> np.ndarray:
        """Return, for each word, the columns of the runs that end with it; -1 for none."""
        _, parents, gaps, lengths, counted = self.runs.shapes
        mask = self.masks[WORDS]
        if self.runs.high == 1:
            return (hashes & mask).astype(np.int32)
        columns = np.empty((len(hashes), len(counted)), np.int32)
        kernels.hash_ngrams(
            hashes, len(hashes), ends, parents, gaps, counted, lengths, history, mask, columns
        )
        return columns

    def field_codes(self, hashes: np.ndarray, fields: np.ndarray) -> np.ndarray:
        """Return the columns of words in fields: the field is a salt of the hash."""
        columns = np.empty(len(hashes), np.int32)
        first = np.uint64(self.firsts[FIELDS])
        kernels.hash_pairs(self.salts[fields], hashes, self.masks[FIELDS], first, columns)
        return columns

    def field_numbers(self) -> np.ndarray:
        """Return 1 for the columns of the only field, and 0 if several fields share columns."""
        numbers = np.zeros(self.n_columns, np.uint8)
        if len(self.fields) == 1:
            numbers[self.blocks == FIELDS] = 1
        return numbers

    def to_columns(self, rows: Sequence[Counts | None], grow: bool, least: np.ndarray) -> Counts:
        return reduce(Counts.beside, filter(None, rows))

    def merge(self, other: Space) -> np.ndarray:
        return np.arange(self.n_columns, dtype=np.int32)

    def names(self, columns: np.ndarray) -> list[str]:
        return [f"#{column}" for column in columns.tolist()]

    def tensors(self) -> dict[str, np.ndarray]:
        return {}


def _of_items(tables: Sequence[np.ndarray], blocks: np.ndarray, items: np.ndarray) -> np.ndarray:
    """Return `tables[block][item]` for each block and item."""
    values = np.empty(len(items), np.int32)
    for block, table in enumerate(tables):
        values[blocks == block] = table[items[blocks == block]]
    return values


def _at(array: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Return `array[indices]`, with any value for indices out of range."""
    if not len(array):
        return np.zeros_like(indices)
    values: np.ndarray = array[indices.clip(0, len(array) - 1)]
    return values
