"""n-grams of words: in a vocabulary, as pairs of an n-gram and a word, or hashed."""

from __future__ import annotations

from typing import Self

import numpy as np

from thresher._kernels.text.ngrams import NOTHING, fill_pair_slots, hash_ngrams, ngrams
from thresher.errors import ModelError
from thresher.storage import require_tensor
from thresher.text.vocabulary import grown, n_slots

__all__ = ["HashedNgrams", "Ngrams"]


class Ngrams:
    """The n-grams of `low` to `high` words that have a column, and those they are made of.

    A node is a word (its number) or a pair of a node and a word (its number, inverted). Only nodes
    of at least `low` words have a column.
    """

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high
        self.sizes = np.zeros(2, np.int64)  # how many pairs and columns there are
        self.pairs = np.zeros((0, 2), np.int32)
        self.slots = np.zeros(2 * n_slots(0), np.uint64)
        self.word_columns = np.zeros(0, np.int32)
        self.pair_columns = np.zeros(0, np.int32)
        self.nodes = np.zeros(0, np.int32)  # of each column

    @property
    def n_columns(self) -> int:
        return int(self.sizes[1])

    def history(self) -> np.ndarray:
        """Return what is to be known of the words before the next, at the start of a document."""
        return np.full(self.high, NOTHING)

    def columns(
        self, ids: np.ndarray, ends: np.ndarray, grow: bool, history: np.ndarray
    ) -> np.ndarray:
        """Return, for each word, the columns of the n-grams that end with it; -1 for none."""
        word_columns = grown(self.word_columns, int(ids.max(initial=-1)) + 1, fill=-1)
        if grow:
            self.word_columns = word_columns
            self._reserve(len(ids))
        columns = np.empty((len(ids), self.high - self.low + 1), np.int32)
        ngrams(
            ids, len(ids), ends, self.low, self.high, history, self.slots, self.pairs, self.sizes,
            word_columns, self.pair_columns, self.nodes, grow, columns,
        )  # fmt: skip
        return columns

    def names(self, words: list[str]) -> list[str]:
        """Return the name of each column: its words with spaces between."""
        pairs: list[str] = []
        for left, right in self.pairs[: self.sizes[0]].tolist():
            pairs.append(f"{words[left] if left >= 0 else pairs[~left]} {words[right]}")
        nodes = self.nodes[: self.n_columns].tolist()
        return [words[node] if node >= 0 else pairs[~node] for node in nodes]

    def keep(self, kept: np.ndarray, n_words: int) -> np.ndarray:
        """Forget all other columns and what they alone were made of; return the words to keep."""
        nodes = self.nodes[: self.n_columns][kept]
        pairs = self.pairs[: self.sizes[0]]
        needed = np.zeros(len(pairs), bool)
        needed[~nodes[nodes < 0]] = True
        for _ in range(self.high):
            left = pairs[needed, 0]
            needed[~left[left < 0]] = True
        words = np.zeros(n_words, bool)
        words[nodes[nodes >= 0]] = True
        words[pairs[needed, 1]] = True
        words[pairs[needed, 0][pairs[needed, 0] >= 0]] = True
        new_word, new_pair = np.cumsum(words) - 1, np.cumsum(needed) - 1
        self._fill(
            np.stack(
                [_renumber(pairs[needed, 0], new_word, new_pair), new_word[pairs[needed, 1]]], 1
            ),
            _renumber(nodes, new_word, new_pair),
            int(words.sum()),
        )
        return words

    def tensors(self) -> dict[str, np.ndarray]:
        """Return the pairs, and the node of each column."""
        return {
            "pairs": self.pairs[: self.sizes[0]].copy(),
            "nodes": self.nodes[: self.n_columns].copy(),
        }

    @classmethod
    def from_tensors(
        cls, low: int, high: int, tensors: dict[str, np.ndarray], n_words: int
    ) -> Self:
        """Return the n-grams of "pairs" and "nodes", once they are seen to be possible."""
        pairs = require_tensor(tensors, "pairs", np.int32, (None, 2), high=n_words - 1)
        nodes = require_tensor(tensors, "nodes", np.int32, (None,), low=-len(pairs))
        require_tensor(tensors, "nodes", np.int32, (None,), high=n_words - 1)
        length = _lengths_of_pairs(pairs, high)
        of_node = np.where(nodes >= 0, 1, length[~np.minimum(nodes, -1)] if len(pairs) else 1)
        if len(np.unique(nodes)) != len(nodes) or np.any((of_node < low) | (of_node > high)):
            raise ModelError(
                f"The model's columns are not all different n-grams of {low} to {high} words; "
                "the file is damaged."
            )
        made = cls(low, high)
        made._fill(pairs, nodes, n_words)
        return made

    def _reserve(self, n_new: int) -> None:
        n_pairs = int(self.sizes[0]) + n_new * (self.high - 1)
        self.pairs = grown(self.pairs, n_pairs)
        self.pair_columns = grown(self.pair_columns, n_pairs, fill=-1)
        self.nodes = grown(self.nodes, self.n_columns + n_new * (self.high - self.low + 1))
        if len(self.slots) < 2 * n_slots(n_pairs):
            self._hash_anew(n_pairs)

    def _hash_anew(self, n_pairs: int) -> None:
        self.slots = np.zeros(2 * n_slots(n_pairs), np.uint64)
        if fill_pair_slots(self.slots, self.pairs, self.sizes[0]) != self.sizes[0]:
            raise ModelError("The model has an n-gram twice; the file is damaged.")

    def _fill(self, pairs: np.ndarray, nodes: np.ndarray, n_words: int) -> None:
        self.pairs, self.nodes = pairs.astype(np.int32), nodes.astype(np.int32)
        self.sizes[:] = len(pairs), len(nodes)
        self.word_columns = np.full(n_words, -1, np.int32)
        self.pair_columns = np.full(len(pairs), -1, np.int32)
        columns = np.arange(len(nodes), dtype=np.int32)
        self.word_columns[nodes[nodes >= 0]] = columns[nodes >= 0]
        self.pair_columns[~nodes[nodes < 0]] = columns[nodes < 0]
        self._hash_anew(len(pairs))


def _renumber(nodes: np.ndarray, new_word: np.ndarray, new_pair: np.ndarray) -> np.ndarray:
    renumbered = np.empty(len(nodes), np.int32)
    renumbered[nodes >= 0] = new_word[nodes[nodes >= 0]]
    renumbered[nodes < 0] = ~new_pair[~nodes[nodes < 0]]
    return renumbered


def _lengths_of_pairs(pairs: np.ndarray, high: int) -> np.ndarray:
    """Return how many words each pair stands for, once each is seen to be made of earlier ones."""
    left, number = pairs[:, 0], np.arange(len(pairs))
    if np.any(pairs[:, 1] < 0) or np.any((left < 0) & (~left >= number)):
        raise ModelError("The model's n-grams are made of n-grams it lacks; the file is damaged.")
    lengths = np.full(len(pairs), 2)
    for _ in range(2, high):
        lengths = np.where(left < 0, lengths[~np.minimum(left, -1)] + 1, 2)
    longest = np.where(left < 0, lengths[~np.minimum(left, -1)] + 1, 2).max(initial=0)
    if longest > high:
        raise ModelError(
            f"The model has n-grams of more than {high} words, its own limit; the file is damaged."
        )
    return lengths


class HashedNgrams:
    """n-grams of `low` to `high` words whose column is their hash."""

    def __init__(self, low: int, high: int, bits: int) -> None:
        self.low, self.high = low, high
        self.n_columns = 1 << bits

    def history(self) -> np.ndarray:
        """Return what is to be known of the words before the next, at the start of a document."""
        return np.zeros(self.high + 1, np.uint64)

    def columns(
        self, hashes: np.ndarray, ends: np.ndarray, grow: bool, history: np.ndarray
    ) -> np.ndarray:
        """Return, for each word, the columns of the n-grams that end with it; -1 for none."""
        mask = np.uint64(self.n_columns - 1)
        if self.high == 1:
            return (hashes & mask).astype(np.int32)
        columns = np.empty((len(hashes), self.high - self.low + 1), np.int32)
        hash_ngrams(hashes, len(hashes), ends, self.low, self.high, history, mask, columns)
        return columns
