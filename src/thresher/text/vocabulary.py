"""A growing table of words, each numbered as it is first met."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Self

import numpy as np

from thresher._kernels.text import fill_slots, hash_tokens, look_up, take_words_out
from thresher.errors import ModelError, brief
from thresher.state import require_tensor
from thresher.text.tokens import Tokens, buffer, padded

__all__ = ["Vocabulary", "grown", "hash_words", "n_slots", "sorted_order"]

MOST_WORDS = 1 << 30  # twice the number of one, and one more, are numbers of 32 bits


class Vocabulary:
    """Words by number and numbers by word, exactly: equal hashes are told apart by their bytes.

    The kernel only looks up and appends; room for all that a chunk may bring is made before.
    """

    def __init__(self) -> None:
        self.sizes = np.zeros(1, np.int64)  # how many words there are, as the kernels know it
        self.words = buffer(0)  # UTF-8, one word after the other
        self.offsets = np.zeros(1, np.int64)
        self.slots = np.zeros(2 * n_slots(0), np.uint64)

    def __len__(self) -> int:
        return int(self.sizes[0])

    def look_up(self, tokens: Tokens, grow: bool) -> np.ndarray:
        """Return the number of each token's word; -1 for one that is not known, unless `grow`."""
        n = len(tokens.spans)
        if grow:
            self._reserve(len(self) + n, self.n_bytes + tokens.n_bytes)
        ids = np.empty(n, np.int32)
        look_up(
            tokens.text, tokens.blocks, tokens.spans, n,
            self.slots, self.words, self.words.view("<u8"), self.offsets, self.sizes, grow, ids,
        )  # fmt: skip
        return ids

    @property
    def n_bytes(self) -> int:
        return int(self.offsets[len(self)])

    def blob(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the bytes of all words one after the other, and where each starts and ends."""
        return self.words[: self.n_bytes], self.offsets[: len(self) + 1]

    def tokens(self, numbers: np.ndarray) -> Tokens:
        """Return the words of these numbers as tokens."""
        return Tokens.of_bytes(self.words, self.offsets[numbers], self.offsets[numbers + 1])

    def names(self, numbers: Iterable[int] | None = None) -> list[str]:
        """Return the words of these numbers, or all."""
        if numbers is not None:
            words, offsets = self.words.data, self.offsets
            return [str(words[offsets[one] : offsets[one + 1]], "utf-8") for one in numbers]
        blob, offsets = self.blob()
        text = blob.tobytes().decode()
        if not text.isascii():
            # Places in characters instead of bytes: those before each byte that starts a character.
            offsets = np.concatenate([[0], np.cumsum((blob & 0xC0) != 0x80)])[offsets]
        return [text[start:end] for start, end in pairwise(offsets.tolist())]

    def kept(self, kept: np.ndarray) -> Vocabulary:
        """Return only some of the words, numbered anew in the same order."""
        blob, offsets = self.blob()
        lengths = np.diff(offsets)
        rest = Vocabulary()
        rest.words = padded(blob[np.repeat(kept, lengths)])
        rest.offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths[kept])])
        rest.sizes[0] = len(rest.offsets) - 1
        rest._hash_anew(len(rest))
        return rest

    def truncate(self, n: int) -> None:
        """Forget all but the first `n` words."""
        take_words_out(self.slots, self.words.view("<u8"), self.offsets, self.sizes, n)

    def tensors(self, name: str) -> dict[str, np.ndarray]:
        """Return the words, each called a `name`, and where they start and end."""
        blob, offsets = self.blob()
        return {f"{name}s": blob.copy(), f"{name}_offsets": offsets.copy()}

    @classmethod
    def from_tensors(cls, tensors: dict[str, np.ndarray], name: str) -> Self:
        """Return the vocabulary that `tensors` described, once it is seen to be one."""
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
            (twice,) = vocabulary.names([ids[ids != np.arange(len(ids))][0]])
            raise ModelError(
                f"The model's vocabulary has {brief(twice)} twice; the file is damaged."
            )
        return vocabulary

    def _reserve(self, n: int, n_bytes: int) -> None:
        self.words = grown(self.words, len(buffer(n_bytes)))
        self.offsets = grown(self.offsets, n + 1)
        if len(self.slots) < 2 * n_slots(n):
            self._hash_anew(n)

    def _hash_anew(self, n: int) -> None:
        slots = np.zeros(2 * n_slots(n), np.uint64)
        fill_slots(slots, self.words.view("<u8"), self.offsets, len(self))
        self.slots = slots


def n_slots(n: int) -> int:
    """Return the size of a table of `n` things: a power of two, at most three quarters taken."""
    return 1 << max(10, (4 * n // 3).bit_length())


def grown(array: np.ndarray, size: int, fill: int = 0) -> np.ndarray:
    """Return the array if it has `size` rows, else a copy with room for twice as many as it had."""
    if len(array) >= size:
        return array
    room = (max(size, 2 * len(array)), *array.shape[1:])
    # Zeros cost nothing until they are touched.
    longer = np.full(room, fill, array.dtype) if fill else np.zeros(room, array.dtype)
    longer[: len(array)] = array
    return longer


def hash_words(tokens: Tokens) -> np.ndarray:
    """Return the 64-bit hash of each token's word, of the version that `HASH_VERSION` names."""
    hashes = np.empty(len(tokens.spans), np.uint64)
    hash_tokens(tokens.blocks, tokens.spans, len(hashes), hashes)
    return hashes


def sorted_order(blob: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the numbers of the words in the order of their characters, which is that of the bytes.

    Eight bytes are one number: sort by the first eight, then those words that are still alike by
    their next eight, and so on.
    """
    places = padded(blob)
    # The big-endian number at every place, though most of them are not where a number may stand.
    numbers = np.ndarray((len(places) - 7,), ">u8", places, strides=(1,))
    starts, lengths = offsets[:-1], np.diff(offsets)
    keys = _keys(numbers, starts, lengths)
    order = np.argsort(keys)
    alike, group = _still_alike(keys[order], np.zeros(len(order), np.int64))
    done = 8
    while len(alike):
        words = order[alike]
        keys = _keys(numbers, starts[words] + done, lengths[words] - done)
        if done >= lengths[words].max(initial=0):  # they differ only by zeros at the end
            order[alike] = words[np.lexsort((lengths[words], group))]
            break
        inner = np.lexsort((keys, group))
        order[alike] = words[inner]
        tied, groups = _still_alike(keys[inner], group[inner])
        alike, group, done = alike[tied], groups, done + 8
    return order


def _keys(numbers: np.ndarray, starts: np.ndarray, left: np.ndarray) -> np.ndarray:
    """Return the eight bytes from each start on as numbers; zeros stand for what is not left."""
    starts = np.where(left > 0, starts, 0)
    unused = (64 - 8 * np.clip(left, 0, 8)).astype(np.uint64)
    keys = numbers[starts].astype(np.uint64)
    return np.where(left > 0, (keys >> unused) << unused, np.uint64(0))


def _still_alike(keys: np.ndarray, group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which places of a sorted array have an equal neighbour, and the group of each."""
    differs = np.ones(len(keys) + 1, bool)
    differs[1:-1] = (keys[1:] != keys[:-1]) | (group[1:] != group[:-1])
    places = np.flatnonzero(~(differs[1:] & differs[:-1]))
    return places, np.cumsum(differs[:-1])[places]
