"""Words as they stand in the texts, and what each of them comes to, found out once for each."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Protocol

import numpy as np

from thresher._kernels.text.surface import char_grams, expand
from thresher.text.tokens import Tokens, buffer
from thresher.text.vocabulary import Vocabulary, grown

__all__ = ["Folding", "Surface"]

MAX_WORDS = 1 << 20  # remembered at a time; then all are forgotten, which costs time and no more

_folding = Lock()  # stemmers are not made for several threads


class Folding(Protocol):
    """What the linguistics of a counter must be able to do."""

    def fold(self, words: list[str]) -> list[str | None]:
        """Return what each word counts as, None for a word to leave out."""


class Surface:
    """A memory of words and of the values of each: of its folded form, or of its character n-grams.

    Nothing is lost when it is emptied; it is not part of a counter's state.

    Parameters
    ----------
    linguistics : object with `fold`, or None
        Says what each word counts as.
    char_range : tuple of two int, or None
        Lengths of the n-grams of characters, which are taken from the folded word.
    resolve : callable
        Gives the values of tokens, such as their numbers in a vocabulary; -1 for those that are
        not known and may not be added.
    """

    def __init__(
        self,
        linguistics: Folding | None,
        char_range: tuple[int, int] | None,
        resolve: Callable[[Tokens, bool], np.ndarray],
    ) -> None:
        self.linguistics, self.char_range, self.resolve = linguistics, char_range, resolve
        self.reset()

    def reset(self) -> None:
        """Forget all words."""
        self.words = Vocabulary()
        self.starts = np.zeros(1, np.int64)  # of the values of each word
        self.values = self.resolve(Tokens.of_words([]), False)
        self.has_unknown = False

    def spread(self, tokens: Tokens, grow: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return the values of all words in turn, and how many there are up to each document's end.

        A word that was dropped has no value, others have one, or one for each n-gram.
        """
        if len(self.words) > MAX_WORDS or (grow and self.has_unknown):
            self.reset()
        known = len(self.words)
        ids = self.words.look_up(tokens, grow=True)
        if len(self.words) > known:
            try:
                self._learn(known, grow)
            except BaseException:
                self.reset()  # words without values must not stay
                raise
        out = np.empty(np.sum(self.starts[ids + 1] - self.starts[ids]), self.values.dtype)
        ends = np.empty_like(tokens.ends)
        expand(ids, len(ids), tokens.ends, self.starts, self.values, out, ends)
        return out, ends

    def _learn(self, first: int, grow: bool) -> None:
        """Find the values of the words from number `first` on."""
        tokens = self.words.since(first)
        n_values = np.ones(len(tokens.spans), np.int64)
        if self.linguistics is not None:
            with _folding:
                folded = self.linguistics.fold(self.words.names(first))
            kept = [word for word in folded if word]
            n_values = np.array([1 if word else 0 for word in folded], np.int64)
            tokens = Tokens.of_words(kept)
        if self.char_range is not None:
            tokens, n_grams = _char_grams(tokens, *self.char_range)
            n_values[n_values > 0] = n_grams
        values = self.resolve(tokens, grow)
        self.has_unknown |= values.dtype == np.int32 and bool(np.any(values < 0))
        ends = self.starts[first] + np.cumsum(n_values)
        self.starts = grown(self.starts, first + 1 + len(ends))
        self.starts[first + 1 : first + 1 + len(ends)] = ends
        self.values = grown(self.values, int(ends[-1]))
        self.values[self.starts[first] : ends[-1]] = values


def _char_grams(tokens: Tokens, low: int, high: int) -> tuple[Tokens, np.ndarray]:
    """Return the character n-grams of " word " for each word, and how many each has."""
    n = len(tokens.spans)
    size = tokens.size + 2 * n
    padded, spans = buffer(size), np.empty(size * (high - low + 1), np.uint64)
    ends = np.zeros(n + 1, np.int64)
    n_bytes = char_grams(tokens.text, tokens.spans, n, low, high, padded, spans, ends[1:])
    return Tokens(padded, spans[: ends[-1]], ends[1:], int(n_bytes)), np.diff(ends)
