"""A growing table of words, and a cache of the features of each word of the texts."""

from __future__ import annotations

from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Self

import numpy as np

from thresher._kernels import text as kernels
from thresher.errors import ModelError, brief
from thresher.state import require_tensor
from thresher.text.parameters import Folding
from thresher.text.tokens import Tokens, buffer, padded

if TYPE_CHECKING:
    from thresher.text.space import Counts, Space

MOST_WORDS = 1 << 30  # so that twice a word number plus one has 32 bits
MOST_SURFACE_FORMS = 1 << 20  # in a cache; a larger one is emptied and filled again

_folding_lock = Lock()  # stemmers are not safe for several threads


class Vocabulary:
    """A table of words, numbered in the order in which they are first seen.

    Words are compared by their bytes, so hash collisions do not matter. The kernel only looks up
    and appends; `look_up` makes room for as many new words as there are tokens.
    """

    def __init__(self) -> None:
        self.sizes = np.zeros(1, np.int64)  # the number of words, updated by the kernels
        self.words = buffer(0)  # UTF-8, one word after the other
        self.offsets = np.zeros(1, np.int64)
        self.slots = np.zeros(2 * n_slots(0), np.uint64)

    def __len__(self) -> int:
        return int(self.sizes[0])

    def look_up(self, tokens: Tokens, grow: bool) -> np.ndarray:
        """Return the number of each token's word; unknown words are added if `grow`, else -1."""
        n, text = len(tokens.spans), tokens.text
        if grow:
            n_words = int(self.sizes[0])
            # With pairs, each character can be in three tokens.
            n_bytes = tokens.size * (3 if tokens.has_pairs else 1)
            n_bytes = (int(self.offsets[n_words]) + n_bytes + 31) // 8 * 8  # as `buffer` has it
            self.words = grown(self.words, n_bytes)
            self.offsets = grown(self.offsets, n_words + n + 1)
            if n_words + n > 3 * len(self.slots) // 8:  # at most 3/4 of the slots are in use
                self._rebuild_slots(n_words + n)
        ids = np.empty(n, np.int32)
        kernels.look_up(
            text, text.view("<u8"), tokens.spans, n,
            self.slots, self.words, self.words.view("<u8"), self.offsets, self.sizes, grow, ids,
        )  # fmt: skip
        return ids

    def merge(self, other: Vocabulary) -> np.ndarray:
        """Add the words of another vocabulary; return the number here of each of them."""
        return self.look_up(other.tokens(np.arange(len(other))), grow=True)

    def blob(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the bytes of all words one after the other, with their offsets."""
        offsets = self.offsets[: len(self) + 1]
        return self.words[: offsets[-1]], offsets

    def tokens(self, numbers: np.ndarray) -> Tokens:
        """Return the words of these numbers as tokens."""
        return Tokens.of_bytes(self.words, self.offsets[numbers], self.offsets[numbers + 1])

    def names(self, numbers: np.ndarray) -> list[str]:
        """Return the words of these numbers."""
        if 4 * len(numbers) < len(self):
            words, offsets = self.words.data, self.offsets
            return [str(words[offsets[i] : offsets[i + 1]], "utf-8") for i in numbers.tolist()]
        blob, offsets = self.blob()  # quicker at once
        text = blob.tobytes().decode()
        if not text.isascii():
            # Convert byte offsets to characters: count the characters that start before each.
            offsets = np.concatenate([[0], np.cumsum((blob & 0xC0) != 0x80)])[offsets]
        names = [text[start:end] for start, end in pairwise(offsets.tolist())]
        return [names[number] for number in numbers.tolist()]

    def subset(self, keep: np.ndarray) -> Vocabulary:
        """Return a vocabulary of some of the words, renumbered in the same order."""
        blob, offsets = self.blob()
        lengths = np.diff(offsets)
        subset = Vocabulary()
        subset.words = padded(blob[np.repeat(keep, lengths)])
        subset.offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths[keep])])
        subset.sizes[0] = len(subset.offsets) - 1
        subset._rebuild_slots(len(subset))
        return subset

    def truncate(self, n: int) -> None:
        """Remove all but the first `n` words."""
        kernels.take_words_out(self.slots, self.words.view("<u8"), self.offsets, self.sizes, n)

    def tensors(self, name: str) -> dict[str, np.ndarray]:
        """Return the bytes of the words as tensor `{name}s`, and their offsets."""
        blob, offsets = self.blob()
        return {f"{name}s": blob.copy(), f"{name}_offsets": offsets.copy()}

    @classmethod
    def from_tensors(cls, tensors: dict[str, np.ndarray], name: str) -> Self:
        """Return the vocabulary with these `tensors`, after checking them."""
        blob = require_tensor(tensors, f"{name}s", np.uint8, (None,))
        offsets = require_tensor(tensors, f"{name}_offsets", np.int64, (None,))
        if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(blob):
            fault = f"The model's {name} offsets do not span its {name}s"
            raise ModelError(f"{fault}; the file is damaged: get it anew.")
        if len(offsets) > MOST_WORDS or len(blob) >= 2**32:
            raise ModelError(f"The model has more {name}s than can be numbered; train it on less.")
        if np.any(np.diff(offsets) < (1 if name == "part" else 0)):  # no part is empty
            raise ModelError(f"The model's {name} offsets do not rise; the file is damaged.")
        inside = offsets[:-1][offsets[:-1] < len(blob)]
        try:
            blob.tobytes().decode()
            is_text = not np.any((blob[inside] & 0xC0) == 0x80)
        except UnicodeDecodeError:
            is_text = False
        if not is_text:
            raise ModelError(f"The model's {name}s are not valid UTF-8; the file is damaged.")
        vocabulary = cls()
        tokens = Tokens.of_bytes(padded(blob), offsets[:-1], offsets[1:])
        ids = vocabulary.look_up(tokens, grow=True)
        if not np.array_equal(ids, np.arange(len(ids))):
            (twice,) = vocabulary.names(ids[ids != np.arange(len(ids))][:1])
            raise ModelError(
                f"The model's vocabulary has {brief(twice)} twice; the file is damaged."
            )
        return vocabulary

    def _rebuild_slots(self, n: int) -> None:
        slots = np.zeros(2 * n_slots(n), np.uint64)
        kernels.fill_slots(slots, self.words.view("<u8"), self.offsets, len(self))
        self.slots = slots


class SurfaceForms:
    """A cache of the items of a space under which each surface form is counted.

    A surface form is a word as it occurs in a text. It is counted as its folded form (such as its
    stem) or, with a `char_range`, as the parts of that form. The values of a word are the numbers
    of these items, or their hashes in a hashed space. The cache is used by one thread at a time. It
    can be emptied at any time and is not saved. Unknown values are looked up again after the space
    has grown.
    """

    def __init__(
        self, space: Space, block: int, folding: Folding | None, char_range: tuple[int, int] | None
    ) -> None:
        self.space, self.block, self.folding, self.char_range = space, block, folding, char_range
        self.reset()

    def reset(self) -> None:
        """Remove all words."""
        self.words = Vocabulary()
        self.starts = np.zeros(1, np.int64)  # of the values of each word
        self.values: np.ndarray = np.zeros(0, self.space.dtypes[self.block])
        # The size of the block when a value of the word was last unknown; -1 if all are known.
        self.unknown_at = np.zeros(0, np.int64)
        self.has_unknown = False

    def look_up(self, tokens: Tokens, grow: bool) -> np.ndarray:
        """Return the number of each token's word in the cache; values of new words are found.

        If `grow`, new items are added to the space.
        """
        n_known, n_items = int(self.words.sizes[0]), self.space.n_codes(self.block)
        ids = self.words.look_up(tokens, grow=True)
        missing = np.arange(n_known, self.words.sizes[0])
        if self.has_unknown:
            is_new = ids >= n_known
            unknown_at = self.unknown_at[np.where(is_new, 0, ids)]
            is_stale = ~is_new & (unknown_at >= 0) & (grow | (unknown_at != n_items))
            if is_stale.any():  # stale and new words, in the order of the text
                occurrences = ids[is_stale | is_new]
                missing = occurrences[np.sort(np.unique(occurrences, return_index=True)[1])]
        if len(missing):
            self._find_values(missing, n_known, grow, n_items)
        return ids

    def values_of(self, tokens: Tokens, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the values of all tokens, and their number up to the end of each document."""
        out = np.empty(np.sum(self.starts[ids + 1] - self.starts[ids]), self.values.dtype)
        ends = np.empty_like(tokens.ends)
        kernels.expand(ids, len(ids), tokens.ends, self.starts, self.values, out, ends)
        return out, ends

    def spread_rows(self, rows: Counts, cells: np.ndarray) -> Counts:
        """Return the counts of values in documents, given the counts of words."""
        _, words, _ = rows
        size = int(np.sum(self.starts[words + 1] - self.starts[words]))
        ends, values, counts = out = rows.empty(len(rows.indptr) - 1, size)
        kernels.spread_rows(*rows, self.starts, self.values, cells, *out)
        return out._replace(codes=values[: ends[-1]], counts=counts[: ends[-1]])

    def _find_values(self, numbers: np.ndarray, n_known: int, grow: bool, n_items: int) -> None:
        """Find the values of words; those with numbers from `n_known` on are new."""
        tokens = self.words.tokens(numbers)
        n_values = np.ones(len(numbers), np.int64)
        if self.folding is not None:
            folded = fold(self.folding, self.words.names(numbers))
            n_values = np.array([word is not None for word in folded], np.int64)
            tokens = Tokens.of_words([word for word in folded if word])
        if self.char_range is not None:
            tokens, n_parts = _parts(tokens, *self.char_range)
            n_values[n_values > 0] = n_parts
        values = self.space.number(self.block, tokens, grow)
        is_new, n_words = numbers >= n_known, len(self.words)
        starts = self.starts[numbers[~is_new]]
        self.starts = grown(self.starts, n_words + 1)
        self.starts[n_known + 1 : n_words + 1] = self.starts[n_known] + np.cumsum(n_values[is_new])
        self.values = grown(self.values, int(self.starts[n_words]))
        of_new = np.repeat(is_new, n_values)
        self.values[self.starts[n_known] : self.starts[n_words]] = values[of_new]
        if len(starts):
            n_old = n_values[~is_new]
            firsts = np.repeat(starts - np.cumsum(n_old) + n_old, n_old)
            self.values[firsts + np.arange(len(firsts))] = values[~of_new]
        n_unknown = np.concatenate([[0], np.cumsum(values < 0)])
        ends = np.cumsum(n_values)
        is_unknown = n_unknown[ends] > n_unknown[ends - n_values]
        self.unknown_at = grown(self.unknown_at, n_words)
        self.unknown_at[numbers] = np.where(is_unknown, n_items, -1)
        self.has_unknown |= bool(is_unknown.any())


def _parts(tokens: Tokens, low: int, high: int) -> tuple[Tokens, np.ndarray]:
    """Return the parts of " word " for each word, and the number of parts of each."""
    n = len(tokens.spans)
    size = tokens.size + 2 * n
    text, spans = buffer(size), np.empty(size * (high - low + 1), np.uint64)
    ends = np.zeros(n + 1, np.int64)
    n_bytes = kernels.char_grams(tokens.text, tokens.spans, n, low, high, text, spans, ends[1:])
    return Tokens(text, spans[: ends[-1]], ends[1:], int(n_bytes)), np.diff(ends)


def fold(folding: Folding | None, words: list[str]) -> list[str | None]:
    """Return the form under which each distinct word is counted; None to leave it out."""
    if folding is None:
        return list(words)
    with _folding_lock:
        return [word or None for word in folding.fold(words)]


def n_slots(n: int) -> int:
    """Return the size of a hash table for `n` entries: a power of two, at most 3/4 of it in use."""
    return 1 << max(10, (4 * n // 3).bit_length())


def grown(array: np.ndarray, size: int, fill: int = 0) -> np.ndarray:
    """Return the array if it has `size` rows, else a copy with at least twice as many rows."""
    if len(array) >= size:
        return array
    room = (max(size, 2 * len(array)), *array.shape[1:])
    # Memory for zeros is only allocated when it is first accessed.
    longer = np.full(room, fill, array.dtype) if fill else np.zeros(room, array.dtype)
    longer[: len(array)] = array
    return longer


def hash_words(tokens: Tokens) -> np.ndarray:
    """Return the 64-bit hash of each token's word, by version `HASH_VERSION` of the hash."""
    hashes = np.empty(len(tokens.spans), np.uint64)
    kernels.hash_tokens(tokens.text.view("<u8"), tokens.spans, len(hashes), hashes)
    return hashes


def sorted_order(blob: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the numbers of the words in the order of their bytes, which is that of characters.

    Words are sorted by their first eight bytes, read as a number; ties are sorted by the next eight
    bytes, and so on.
    """
    text = padded(blob)
    # The eight bytes from each position on as a big-endian number.
    numbers = np.ndarray((len(text) - 7,), ">u8", text, strides=(1,))
    starts, lengths = offsets[:-1], np.diff(offsets)
    keys = _keys(numbers, starts, lengths)
    order = np.argsort(keys)
    equal, group = _still_equal(keys[order], np.zeros(len(order), np.int64))
    done = 8
    while len(equal):
        words = order[equal]
        keys = _keys(numbers, starts[words] + done, lengths[words] - done)
        if done >= lengths[words].max(initial=0):  # they differ only by zeros at the end
            order[equal] = words[np.lexsort((lengths[words], group))]
            break
        inner = np.lexsort((keys, group))
        order[equal] = words[inner]
        tied, groups = _still_equal(keys[inner], group[inner])
        equal, group, done = equal[tied], groups, done + 8
    return order


def _keys(numbers: np.ndarray, starts: np.ndarray, left: np.ndarray) -> np.ndarray:
    """Return eight bytes from each start on as a number, with zeros after the end of a word."""
    starts = np.where(left > 0, starts, 0)
    unused = (64 - 8 * np.clip(left, 0, 8)).astype(np.uint64)
    keys = numbers[starts].astype(np.uint64)
    return np.where(left > 0, (keys >> unused) << unused, np.uint64(0))


def _still_equal(keys: np.ndarray, group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of a sorted array with an equal neighbour, and the group of each."""
    differs = np.ones(len(keys) + 1, bool)
    differs[1:-1] = (keys[1:] != keys[:-1]) | (group[1:] != group[:-1])
    indices = np.flatnonzero(~(differs[1:] & differs[:-1]))
    return indices, np.cumsum(differs[:-1])[indices]
