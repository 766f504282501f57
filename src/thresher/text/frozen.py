"""A counter that does not change, as one compiled call reads it: for one text at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from thresher._kernels.text.counts import PARTS, RUNS, WORDS
from thresher.text.counter import TextCounter
from thresher.text.space import HashedSpace
from thresher.text.surface import MOST_CELLS
from thresher.text.tokens import Tokenizer, _characters, _ranges, _Room, _table, buffer, check_texts

__all__ = ["FrozenCounter", "TextRoom"]

LONGEST = 1 << 15  # characters of a text that is read in this way: others do not notice its cost
SHORTEST = 1 << 11  # for which room is made
NO_NUMBERS = np.zeros(0, np.int32)


class FrozenCounter:
    """What the kernel `read` needs of a counter; valid until something is added to it.

    Only for counters that it `supports`.
    """

    def __init__(self, counter: TextCounter, numbers: np.ndarray | None) -> None:
        space = counter._space
        runs, shapes = space.runs, space.runs.shapes
        self._lowercase = bool(counter.lowercase)
        self._tokenizers = counter._tokenizers
        self.n_parts = 0
        low = high = 1
        if counter.char_ngram_range is not None:
            low, high = counter.char_ngram_range
            self.n_parts = high - low + 1  # that a character can begin
        is_hashed = isinstance(space, HashedSpace)
        masks = np.zeros(3, np.uint64)
        if isinstance(space, HashedSpace):
            masks[0] = space.masks[WORDS]
            masks[1], masks[2] = space.masks.get(PARTS, 0), space.firsts.get(PARTS, 0)
        has_words, has_columns = counter.ngram_range is not None, not space.as_numbered
        self.plan = has_words, bool(self.n_parts), is_hashed, has_columns, runs.high, masks
        self.words, parts = (
            (one.slots, one.words.view("<u8"), one.offsets, one.sizes)
            for one in (space.words, space.parts)
        )
        self.parts = *parts, low, high
        self.runs = (
            shapes.parents, shapes.gaps, shapes.counted, shapes.lengths,
            runs.slots, runs.pairs, runs.sizes,
        )  # fmt: skip
        columns = (space.columns[block] for block in (WORDS, RUNS, PARTS))
        self.columns = *columns, NO_NUMBERS if numbers is None else numbers
        self.n_shapes = len(shapes.patterns)
        self.n_counted = len(shapes.counted)
        self.n_cells = max(space.n_codes(block) for block in (WORDS, PARTS))
        self._rules: dict[int, tuple[Any, Any]] = {}

    @staticmethod
    def supports(counter: TextCounter) -> bool:
        """Tell whether all that the counter does is done by kernels."""
        by_pattern = any(one.pattern is not None for one in counter._tokenizers.values())
        n_cells = max(counter._space.n_codes(block) for block in (WORDS, PARTS))
        is_plain = counter.linguistics is None and not counter._fields
        return is_plain and not by_pattern and n_cells <= MOST_CELLS

    def characters(self, text: str) -> tuple[np.ndarray, tuple[Any, Any]]:
        """Return the characters of a text, and the rules by which words and parts are cut."""
        if text.isascii():
            return np.frombuffer(text.encode(), np.uint8), self.rules(0x80)
        data, _, bound = _characters([text], check_texts([text]), self._lowercase)
        return data, self.rules(bound)

    def rules(self, bound: int) -> tuple[Any, Any]:
        """Return how words and parts are cut, where all characters are below `bound`."""
        if bound not in self._rules:
            rules = (_rule(self._tokenizers[block], bound) for block in (WORDS, PARTS))
            self._rules[bound] = tuple(rules)  # type: ignore[assignment]
        return self._rules[bound]


def _rule(tokenizer: Tokenizer, bound: int) -> tuple[np.ndarray, np.ndarray, int, int]:
    lowercase = tokenizer.lowercase
    table, ranges = _table(tokenizer.rule, lowercase, bound), _ranges(tokenizer.rule)
    return table, ranges, 32 if lowercase else 0, tokenizer.min_length


class TextRoom:
    """What one reader writes to while it counts a text, used again for the next."""

    def __init__(self, counter: FrozenCounter) -> None:
        self._counter, self._room = counter, _Room()
        self._cells = np.zeros(counter.n_cells, np.int32)
        self.notes = np.zeros(2, np.int64)
        self.size = 0
        self.reserve(SHORTEST)

    def reserve(self, size: int) -> None:
        """Make room for a text of `size` units."""
        counter = self._counter
        self.size = max(size, min(2 * self.size, LONGEST))
        self._room.reserve(self.size + 1)
        room = self._room
        self.room = (
            room.text, room.text.view("<u8"), room.kinds, room.marks, room.marks.view("<u8"),
            room.edges, room.spans,
        )  # fmt: skip
        n_tokens = len(room.spans)
        n_padded = (len(room.text) + 2 * n_tokens) if counter.n_parts else 0
        n_grams = n_padded * counter.n_parts
        n_hashes = n_tokens if counter.plan[2] else 0
        n_codes = max(n_tokens * counter.n_counted, n_grams)
        padded = buffer(n_padded)
        self.scratch = (
            np.zeros(12, np.int64),
            np.empty(max(n_tokens, n_grams), np.int32),
            np.empty(n_hashes, np.uint64),
            np.empty((n_tokens, counter.n_counted), np.int32),
            np.empty(counter.n_shapes, np.int64),
            np.empty(counter.n_shapes + 1, np.uint64),
            padded, padded.view("<u8"),
            np.empty(n_grams, np.uint64),
            np.empty(n_tokens, np.int64),
            np.empty(n_grams if n_hashes else 0, np.uint64),
            self._cells,
            np.empty(n_codes, np.int32),
            np.empty(n_codes, np.int32),
        )  # fmt: skip
        n = n_tokens * counter.n_counted + n_grams
        self.out = (
            np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.float32),
            np.empty(n, np.float64), np.empty(2, np.int64),
        )  # fmt: skip
