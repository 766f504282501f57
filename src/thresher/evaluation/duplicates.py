"""Exact and near duplicates among texts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from zlib import crc32

import numpy as np

WORD = re.compile(r"\w+")
LEAST_ALIKE = 0.8  # the share of their different words that near duplicates have in common
BANDS, ROWS = 8, 4  # of minimal hashes; 98 % of pairs that are 80 % alike agree in a band
PRIME = np.uint64(2**31 - 1)


def duplicate_groups(texts: Iterable[str]) -> np.ndarray:
    """Return the number of the group of each text: duplicates and near duplicates have the same.

    Texts are near duplicates if at least 80 % of their words, of either of them, are the same;
    case, punctuation, order and repetition do not matter. Texts without words are not compared.

    Parameters
    ----------
    texts : iterable of str
        The texts.

    Examples
    --------
    >>> duplicate_groups(["Cheap pills!", "lunch today", "cheap  pills", ""]).tolist()
    [0, 1, 0, 3]
    """
    words: list[np.ndarray] = []
    seen: dict[str, int] = {}
    for text in texts:
        numbers = (seen.setdefault(word, len(seen)) for word in WORD.findall(text.lower()))
        words.append(np.unique(np.fromiter(numbers, np.int32)))
    hashes = np.array([crc32(word.encode("utf-8", "surrogatepass")) for word in seen], np.uint64)
    leaders = _Leaders(len(words))
    for keys in _band_keys(words, hashes % PRIME):
        first: dict[int, int] = {}
        for i, key in enumerate(keys.tolist()):
            other = first.setdefault(key, i) if len(words[i]) else i
            if (
                other != i
                and leaders.of(i) != leaders.of(other)
                and _are_alike(words[i], words[other])
            ):
                leaders.join(i, other)
    return np.array([leaders.of(i) for i in range(len(words))], np.int64)


def _are_alike(a: np.ndarray, b: np.ndarray) -> bool:
    n_common = len(np.intersect1d(a, b, assume_unique=True))
    return n_common >= LEAST_ALIKE * (len(a) + len(b) - n_common)


def _band_keys(words: list[np.ndarray], hashes: np.ndarray) -> Iterable[np.ndarray]:
    """Yield a key for each text, band after band; near duplicates agree in at least one.

    A key consists of the smallest hashes of the words of a text by several hash functions.
    """
    generator = np.random.default_rng(0)
    sizes = np.array([len(numbers) for numbers in words])
    all_words = np.concatenate([np.zeros(0, np.int32), *words])
    starts = np.cumsum(sizes) - sizes
    has_words = np.flatnonzero(sizes)
    for _ in range(BANDS):
        keys = np.zeros(len(words), np.uint64)
        for _ in range(ROWS):
            factor, shift = generator.integers(1, 2**31 - 1, 2, np.uint64)
            hashed = (hashes * factor + shift) % PRIME
            if len(has_words):
                least = np.minimum.reduceat(hashed[all_words], starts[has_words])
                keys[has_words] = keys[has_words] * np.uint64(0x9E3779B97F4A7C15) + least
        yield keys


class _Leaders:
    """Groups of texts, each named by its first text."""

    def __init__(self, n: int) -> None:
        self._above = list(range(n))

    def of(self, i: int) -> int:
        """Return the first text of the group."""
        above = self._above
        while above[i] != i:
            above[i] = i = above[above[i]]
        return i

    def join(self, i: int, j: int) -> None:
        """Put two groups together."""
        i, j = sorted((self.of(i), self.of(j)))
        self._above[j] = i
