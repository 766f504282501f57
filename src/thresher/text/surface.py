"""Words as they stand in the texts, and what each of them comes to, looked up once for each."""

from __future__ import annotations

from threading import Lock

import numpy as np

from thresher._kernels.text import WORDS, char_grams, count, expand, spread_rows
from thresher.text.parameters import Folding
from thresher.text.space import Items, Space
from thresher.text.tokens import Tokens, buffer
from thresher.text.vocabulary import Vocabulary, grown

__all__ = ["Scratch", "Surface", "Tally", "fold"]

MAX_WORDS = 1 << 20  # remembered at a time; then all are forgotten, which costs time and no more

MOST_CELLS = 1 << 24  # kept from one call to the next

_lock = Lock()  # stemmers are not made for several threads


def fold(folding: Folding | None, words: list[str]) -> list[str | None]:
    """Return what each of some distinct words counts as, None for those that are left out."""
    if folding is None:
        return list(words)
    with _lock:
        return [word or None for word in folding.fold(words)]


class Surface:
    """A memory of words and of what each comes to in a block of a space.

    That is the number of its folded form, or, with a `char_range`, those of the parts of this. It
    belongs to one reader at a time. Nothing is lost when it is emptied; it is not part of a
    counter's state. What was unknown is looked up again once the space has grown.
    """

    def __init__(
        self, space: Space, block: int, folding: Folding | None, char_range: tuple[int, int] | None
    ) -> None:
        self.space, self.block, self.folding, self.char_range = space, block, folding, char_range
        self.reset()

    def reset(self) -> None:
        """Forget all words."""
        self.words = Vocabulary()
        self.starts = np.zeros(1, np.int64)  # of the values of each word
        self.values: np.ndarray = np.zeros(0, self.space.dtypes[self.block])
        # How large the block was when some of a word's values were unknown, or -1.
        self.unknown_at = np.zeros(0, np.int64)
        self.has_unknown = False

    def numbers(self, tokens: Tokens, grow: bool) -> np.ndarray:
        """Return the number of each token here, once its values are known."""
        known, generation = len(self.words), self.space.n_items[self.block]
        ids = self.words.look_up(tokens, grow=True)
        asked = np.arange(known, len(self.words))
        if self.has_unknown:
            is_new = ids >= known
            at = self.unknown_at[np.where(is_new, 0, ids)]
            stale = ~is_new & (at >= 0) & (grow | (at != generation))
            if stale.any():  # these and the new ones, as they come in the text
                waiting = ids[stale | is_new]
                asked = waiting[np.sort(np.unique(waiting, return_index=True)[1])]
        if len(asked):
            self._learn(asked, known, grow, generation)
        return ids

    def spread(self, tokens: Tokens, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the values of all words in turn, and how many there are up to each document's end.

        A word that was dropped has no value, others have one, or one for each part.
        """
        out = np.empty(self.n_values(ids), self.values.dtype)
        ends = np.empty_like(tokens.ends)
        expand(ids, len(ids), tokens.ends, self.starts, self.values, out, ends)
        return out, ends

    def spread_rows(self, rows: Items, cells: np.ndarray) -> Items:
        """Return how often each value stands in documents, given how often each word does."""
        out = Items.empty(len(rows.indptr) - 1, self.n_values(rows.codes))
        spread_rows(*rows, self.starts, self.values, cells, *out)
        return out.used()

    def n_values(self, ids: np.ndarray) -> int:
        """Return how many values these words have together."""
        return int(np.sum(self.starts[ids + 1] - self.starts[ids]))

    def _learn(self, asked: np.ndarray, known: int, grow: bool, generation: int) -> None:
        """Find the values of some words, of which those from number `known` on are new."""
        tokens = self.words.tokens(asked)
        n_values = np.ones(len(asked), np.int64)
        if self.folding is not None:
            folded = fold(self.folding, self.words.names(asked.tolist()))
            n_values = np.array([word is not None for word in folded], np.int64)
            tokens = Tokens.of_words([word for word in folded if word])
        if self.char_range is not None:
            tokens, n_parts = _char_grams(tokens, *self.char_range)
            n_values[n_values > 0] = n_parts
        values = self.space.number(self.block, tokens, grow)
        is_new, n_words = asked >= known, len(self.words)
        starts = self.starts[asked[~is_new]]
        self.starts = grown(self.starts, n_words + 1)
        self.starts[known + 1 : n_words + 1] = self.starts[known] + np.cumsum(n_values[is_new])
        self.values = grown(self.values, int(self.starts[n_words]))
        of_new = np.repeat(is_new, n_values)
        self.values[self.starts[known] : self.starts[n_words]] = values[of_new]
        if len(starts):
            times = n_values[~is_new]
            firsts = np.repeat(starts - np.cumsum(times) + times, times)
            self.values[firsts + np.arange(len(firsts))] = values[~of_new]
        n_unknown = np.concatenate([[0], np.cumsum(values < 0)])
        ends = np.cumsum(n_values)
        is_unknown = n_unknown[ends] > n_unknown[ends - n_values]
        self.unknown_at = grown(self.unknown_at, n_words)
        self.unknown_at[asked] = np.where(is_unknown, generation, -1)
        self.has_unknown |= bool(is_unknown.any())


def _char_grams(tokens: Tokens, low: int, high: int) -> tuple[Tokens, np.ndarray]:
    """Return the parts of " word " for each word, and how many each has."""
    n = len(tokens.spans)
    size = tokens.size + 2 * n
    padded, spans = buffer(size), np.empty(size * (high - low + 1), np.uint64)
    ends = np.zeros(n + 1, np.int64)
    n_bytes = char_grams(tokens.text, tokens.spans, n, low, high, padded, spans, ends[1:])
    return Tokens(padded, spans[: ends[-1]], ends[1:], int(n_bytes)), np.diff(ends)


class Scratch:
    """What one reader writes to while it counts, used again by the next."""

    def __init__(self, space: Space, words: Surface | None, parts: Surface) -> None:
        self.space, self.words, self.parts = space, words, parts
        self.cells = np.zeros(0, np.int32)  # zero whenever no document is being counted

    def beside(self) -> Scratch:
        """Return one for another thread that knows the same words, when it is its turn."""
        return Scratch(self.space, self.words, self.parts)

    def refresh(self) -> None:
        """Forget what has become too much."""
        if len(self.cells) > MOST_CELLS:
            self.cells = np.zeros(0, np.int32)
        for surface in (self.words, self.parts):
            if surface is not None and len(surface.words) > MAX_WORDS:
                surface.reset()

    def word_values(self, tokens: Tokens, grow: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return the number, or the hash, of each word, and the ends of the documents."""
        if self.words is None:
            return self.space.number(WORDS, tokens, grow), tokens.ends
        return self.words.spread(tokens, self.words.numbers(tokens, grow))

    def reserve(self, n_cells: int) -> None:
        """Make room for as many different codes."""
        self.cells = grown(self.cells, n_cells)


class Tally:
    """The counts of one batch, and the row that is being counted."""

    def __init__(self, n_documents: int, scratch: Scratch) -> None:
        self.scratch = scratch
        self.indptr = np.zeros(n_documents + 1, np.int64)
        self.codes = np.empty(0, np.int32)
        self.counts = np.empty(0, np.int32)
        self.row = np.zeros(3, np.int64)  # its start, its end, how many were before it

    def add(self, codes: np.ndarray, ends: np.ndarray, n_codes: int) -> None:
        """Count the next codes, which are below `n_codes`; documents end where `ends` says."""
        size = int(self.row[1]) + len(codes)
        if size > len(self.codes):
            self.codes, self.counts = (
                self._roomier(one, size) for one in (self.codes, self.counts)
            )
        self.scratch.reserve(n_codes)
        out = self.codes, self.counts, self.indptr
        count(codes, ends, len(codes), self.scratch.cells, self.row, *out)

    def _roomier(self, array: np.ndarray, size: int) -> np.ndarray:
        """Return a copy with more room than that: what is not written to costs nothing."""
        longer = np.empty(4 * size if self.row[1] else size, array.dtype)
        longer[: self.row[1]] = array[: self.row[1]]
        return longer

    def result(self) -> Items:
        for array in (self.codes, self.counts):
            array.resize(self.row[1], refcheck=False)  # gives back what is not used, in place
        return Items(self.indptr, self.codes, self.counts)
