"""A counter that does not change, as one compiled call reads it: for one text at a time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Any

import numpy as np

from thresher._kernels._memory import places
from thresher._kernels.reader import KEPT, ROOM, RULES, SMALL
from thresher._kernels.text.counts import FIELDS, PARTS, RUNS, WORDS
from thresher.fields import split
from thresher.rows import Rows
from thresher.text.counter import TextCounter
from thresher.text.space import HashedSpace
from thresher.text.surface import MAX_WORDS, MOST_CELLS, Surface
from thresher.text.tokens import (
    Tokenizer,
    Tokens,
    _characters,
    _ranges,
    _table,
    buffer,
    check_texts,
)

__all__ = ["CompiledCounter", "Workspace"]

MOST_CHARACTERS = (
    1 << 15
)  # characters of a text that is read in this way: others do not notice its cost
LEAST_CHARACTERS = 1 << 11  # for which room is made
NO_NUMBERS, NO_HASHES = np.zeros(0, np.int32), np.zeros(0, np.uint64)


class CompiledCounter:
    """What the kernel `read` needs of a counter; valid until something is added to it.

    Only for counters that it `supports`.
    """

    def __init__(self, counter: TextCounter, numbers: np.ndarray | None) -> None:
        space = counter._space
        runs, shapes = space.runs, space.runs.shapes
        self._lowercase = bool(counter.lowercase)
        self._tokenizers = counter._tokenizers
        self._fields = counter.fields
        self.n_fields, self.n_pieces = len(counter._fields), counter._n_pieces
        self.n_parts = 0
        low = high = 1
        if counter.char_ngram_range is not None:
            low, high = counter.char_ngram_range
            self.n_parts = high - low + 1  # that a character can begin
        self.is_hashed = is_hashed = isinstance(space, HashedSpace)
        hashed, salts = [0] * 5, np.zeros(0, np.uint64)
        if isinstance(space, HashedSpace):
            salts = space.salts
            # Mask and first column of parts and fields; words begin at 0.
            others = (
                (space.masks.get(one, 0), space.firsts.get(one, 0)) for one in (PARTS, FIELDS)
            )
            hashed = [int(space.masks[WORDS]), *(int(one) for both in others for one in both)]
        has_words, has_columns = counter.ngram_range is not None, not space.as_numbered
        kinds = has_words, bool(self.n_parts), self.n_fields, is_hashed, has_columns
        self._folding, self._space = counter.linguistics, space
        self.plan = *kinds, runs.high, *hashed, low, high, counter.linguistics is not None
        words, parts = (
            (one.slots, one.words.view("<u8"), one.offsets, one.sizes)
            for one in (space.words, space.parts)
        )
        of_runs = (
            np.stack([shapes.parents, shapes.lengths]), shapes.gaps, shapes.counted,
            runs.slots, runs.pairs, runs.sizes,
        )  # fmt: skip
        columns = (space.columns[block] for block in (WORDS, RUNS, PARTS, FIELDS))
        numbers = NO_NUMBERS if numbers is None else numbers
        self.arrays = *words, *of_runs, *parts, salts, *columns, numbers  # of the kernel's MODEL
        self.n_shapes = len(shapes.patterns)
        self.n_counted = len(shapes.counted)
        self.n_cells = _n_cells(counter)
        self._rules: dict[int, tuple[np.ndarray, Any]] = {}  # with the arrays that they are of

    @staticmethod
    def supports(counter: TextCounter) -> bool:
        """Tell whether all that the counter does is done by kernels, once its words are known."""
        by_pattern = any(one.pattern is not None for one in counter._tokenizers.values())
        has_folded_parts = counter.char_ngram_range is not None and counter._cuts_words
        is_plain = counter.linguistics is None or not has_folded_parts
        return is_plain and not by_pattern and _n_cells(counter) <= MOST_CELLS

    def surface(self) -> Surface:
        """Return a memory of what words count as, still empty."""
        return Surface(self._space, WORDS, self._folding, None)

    def pieces(self, text: str) -> list[str]:
        """Return what stands before the fields of a text, each of them, and what follows."""
        return split(text, self._fields) if self.n_fields else [text]

    def words(self, text: str) -> Iterator[Tokens]:
        """Yield the words of a text as they stand in it."""
        return self._tokenizers[WORDS].cut(self.pieces(text))

    def characters(self, text: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the characters of a text, where its pieces start and end, and how it is cut."""
        pieces = self.pieces(text)
        if text.isascii():
            data = np.frombuffer("".join(pieces).encode(), np.uint8)
            return data, np.array([0, *accumulate(map(len, pieces))]), self.rules(0x80)
        how = self._lowercase, self._tokenizers[WORDS].composes
        data, offsets, bound = _characters(pieces, check_texts(pieces), *how)
        return data, offsets, self.rules(bound)

    def rules(self, bound: int) -> np.ndarray:
        """Return how words and parts are cut, where all characters are below `bound`."""
        if bound not in self._rules:
            words, parts = (_rule(self._tokenizers[block], bound) for block in (WORDS, PARTS))
            arrays = words + parts
            self._rules[bound] = places(RULES, arrays), arrays
        return self._rules[bound][0]


def _n_cells(counter: TextCounter) -> int:
    """Return how many different codes there can be."""
    return max(counter._space.n_codes(block) for block in (WORDS, PARTS, FIELDS))


def _rule(tokenizer: Tokenizer, bound: int) -> tuple[np.ndarray, ...]:
    lowercase = tokenizer.lowercase
    table, ranges = _table(tokenizer.rule, lowercase, bound), _ranges(tokenizer.rule)
    return table, ranges, np.array([32 if lowercase else 0, tokenizer.min_length])


class Workspace:
    """What one reader writes to while it reads a text, used again for the next."""

    def __init__(self, counter: CompiledCounter) -> None:
        self._counter = counter
        self._cells = np.zeros(counter.n_cells, np.int32)  # zero whenever nothing is counted
        self._ints = np.zeros(0, np.int64)
        self._surface = counter.surface()
        self.size = 0
        self.reserve(LEAST_CHARACTERS)

    def reserve(self, size: int) -> None:
        """Make room for a text of `size` units."""
        counter = self._counter
        self.size = max(size, min(2 * self.size, MOST_CHARACTERS))
        n_bytes = len(buffer(3 * (self.size + counter.n_pieces)))  # of UTF-8, separators among them
        n_tokens = n_bytes + 16
        n_padded = n_bytes + 2 * n_tokens if counter.n_parts else 0
        n_grams = n_padded * counter.n_parts
        n_codes, n_ids = n_tokens * counter.n_counted, max(n_tokens, n_grams)
        n_hashes = n_ids if counter.is_hashed else 0
        n_fielded = n_tokens if counter.n_fields else 0
        n_entries = n_codes + n_grams + n_fielded
        sizes = counter.n_shapes, counter.n_counted, counter.n_pieces
        layout = n_bytes, n_tokens, n_grams, n_hashes, *sizes, n_fielded
        letters = buffer(3 * n_bytes + n_padded)
        self._ints = np.empty(KEPT + counter.n_pieces + counter.n_shapes + n_tokens, np.int64)
        # Memory costs nothing until it is written to.
        self._shorts = np.empty(
            2 * n_entries + n_fielded + n_ids + n_codes + 2 * max(n_codes, n_grams, n_fielded),
            np.int32,
        )
        self._values = np.empty(1 + n_entries, np.float32)
        self._arrays = (
            np.array(layout), letters, letters.view("<u8"), np.empty(n_tokens, np.uint32),
            np.empty(n_tokens + n_grams + n_hashes + counter.n_shapes + 1, np.uint64),
            self._ints, self._shorts, self._cells, self._values,
        )  # fmt: skip
        self._place()

    def learn(self, text: str) -> None:
        """Get to know what the words of a text count as."""
        if len(self._surface.words) > MAX_WORDS:
            self._surface.reset()
        for tokens in self._counter.words(text):
            self._surface.numbers(tokens, grow=False)
        self._place()

    def _place(self) -> None:
        surface, words = self._surface, self._surface.words
        is_hashed = self._counter.is_hashed
        values = (NO_NUMBERS, surface.values) if is_hashed else (surface.values, NO_HASHES)
        known = words.slots, words.words.view("<u8"), words.offsets, words.sizes, surface.starts
        self._held = *self._arrays, *known, *values  # as the kernel gets only where they stand
        self.addresses = places(ROOM, self._held)

    def chosen(self, n: int) -> list[int]:
        """Return the first `n` categories that were chosen."""
        return list(self._ints[SMALL + 2 : SMALL + 2 + n].tolist())

    def rows(self, n_columns: int) -> tuple[Rows, Rows]:
        """Return what was counted: the counts, and the strengths, if they were computed."""
        n, n_tokens = self._ints[SMALL : SMALL + 2].tolist()
        n_entries = len(self._values) - 1
        indices, counts = self._shorts[:n].copy(), self._shorts[n_entries : n_entries + n]
        frame = np.array([0, n]), indices
        lengths = np.array([n_tokens])
        return (
            Rows(*frame, counts.astype(np.float32), n_columns, lengths),
            Rows(*frame, self._values[1 : 1 + n].copy(), n_columns, lengths),
        )
