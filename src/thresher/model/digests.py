"""Digests of learned documents, by which a model recognizes documents that it has learned before.

A digest is a number of 32 bits made from the characters of a text. Of many texts, only those with
the smallest digests are stored: a random sample, which can be extended and merged.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple, Self
from zlib import crc32

import numpy as np
import pyarrow as pa

from thresher.documents import Batch
from thresher.errors import ModelError
from thresher.state import require_tensor

MOST_TEXTS = 8192  # digests of texts in a model; 32 kB
MOST_TEXTS_COMPACTED = 1024
MOST_SOURCES = 256


def text_digests(texts: pa.Array) -> np.ndarray:
    """Return the digest of each text of an Arrow array of strings; 0 for an empty text.

    Examples
    --------
    >>> text_digests(pa.array(["wheat", "", "wheat"])).tolist()
    [3346914811, 0, 3346914811]
    """
    offset_type = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    _, offsets, data = texts.buffers()
    if not len(texts) or data is None:
        return np.zeros(len(texts), np.uint32)
    ends = np.frombuffer(offsets, offset_type)[texts.offset : texts.offset + len(texts) + 1]
    view = memoryview(data)
    checksums = [crc32(view[start:end]) for start, end in pairwise(ends.tolist())]
    mixed = np.array(checksums, np.uint32) * np.uint32(0x9E3779B1)  # a bijection
    return mixed ^ (mixed >> np.uint32(15))


class Digested:
    """The digests of the documents of a source, collected while it is read."""

    def __init__(self) -> None:
        self._texts: list[np.ndarray] = []
        self._chains = 0, 0  # checksums of all texts and of all labels, in their order

    def add(self, batch: Batch) -> None:
        """Add the documents of a batch; only those with labels count for the whole source."""
        digests = text_digests(batch.texts)
        self._texts.append(digests)
        if labels := list(filter(None, batch.labels or ())):
            if len(labels) < len(digests):
                digests = digests[list(map(bool, batch.labels or ()))]
            try:
                lines = "\n".join(map("\t".join, labels))
            except TypeError:  # labels that are no texts
                lines = "\n".join(map(str, labels))
            data = f"{lines}\n".encode("utf-8", "surrogatepass")
            self._chains = crc32(digests.tobytes(), self._chains[0]), crc32(data, self._chains[1])

    @property
    def texts(self) -> np.ndarray:
        """The digest of each text that is not empty."""
        digests = np.concatenate([np.zeros(0, np.uint32), *self._texts])
        return digests[digests > 0]

    @property
    def source(self) -> int:
        """The digest of all texts and labels together."""
        of_texts, of_labels = self._chains
        return of_texts ^ (of_labels * 0x9E3779B1 & 0xFFFFFFFF)


class Digests(NamedTuple):
    """The digests of the documents that a model has learned; the arrays never change.

    Examples
    --------
    >>> from thresher.documents import from_texts
    >>> digested = Digested()
    >>> for batch in from_texts(["wheat", "oil"], ["grain", "crude"]):
    ...     digested.add(batch)
    >>> digests = Digests.none().extended(digested)
    >>> digests.n_known(digested.texts), digests.has_source(digested)
    ((2, 2), True)
    """

    texts: np.ndarray  # uint32, in ascending order
    sources: np.ndarray  # uint32, of everything that was learned in one call, the last at the end

    @classmethod
    def none(cls) -> Self:
        """Return the digests of no documents."""
        return cls(np.zeros(0, np.uint32), np.zeros(0, np.uint32))

    def extended(self, more: Digested) -> Self:
        """Return digests of more documents."""
        new = np.sort(more.texts)  # much quicker than np.unique
        new = new[np.append(True, new[1:] != new[:-1])[: len(new)]]
        positions = np.searchsorted(self.texts, new)
        if len(self.texts):
            is_new = self.texts[np.minimum(positions, len(self.texts) - 1)] != new
            new, positions = new[is_new], positions[is_new]
        texts = np.insert(self.texts, positions, new)[:MOST_TEXTS]
        sources = np.append(self.sources, np.uint32(more.source))[-MOST_SOURCES:]
        return self._replace(texts=texts, sources=sources)

    def without(self, digests: Iterable[int]) -> Self:
        """Return digests without some texts, and without those of whole sources."""
        left = self.texts[~np.isin(self.texts, np.fromiter(digests, np.uint32))]
        return self._replace(texts=left, sources=self.sources[:0])

    def compacted(self) -> Self:
        """Return fewer digests."""
        return self._replace(texts=self.texts[:MOST_TEXTS_COMPACTED], sources=self.sources[:0])

    def n_known(self, digests: np.ndarray) -> tuple[int, int]:
        """Return how many of some texts were learned, and of how many that is known."""
        if len(self.texts) in (MOST_TEXTS, MOST_TEXTS_COMPACTED):  # perhaps of more documents
            digests = digests[digests <= self.texts[-1]]
        return int(np.isin(digests, self.texts).sum()), len(digests)

    def has_source(self, digested: Digested) -> bool:
        """Return True if exactly these documents were learned before, with the same labels."""
        return bool((self.sources == digested.source).any())

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the header and the tensors of a model file."""
        return {}, {"texts": self.texts, "sources": self.sources}

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Return the digests of a model file, after checks."""
        texts = require_tensor(tensors, "texts", np.uint32, (None,), low=1)
        sources = require_tensor(tensors, "sources", np.uint32, (None,))
        is_right = (texts[1:] > texts[:-1]).all() and len(texts) <= MOST_TEXTS
        if not is_right or len(sources) > MOST_SOURCES:
            raise ModelError("The model's digests of documents are damaged; train it again.")
        return cls(texts.copy(), sources.copy())
