"""Which columns of the counts are features, and which number each has among them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thresher.examples import Examples
from thresher.features.parameters import CONCEPTS
from thresher.rows import Rows

__all__ = ["Numbering", "after_concepts"]


@dataclass(frozen=True, eq=False)
class Numbering:
    """Which columns of the counts are features, and which number each has among them."""

    numbers: np.ndarray  # int32: of each column of the counts, or -1
    n_columns: int
    blocks: np.ndarray  # of each number
    is_hashed: bool = False  # the place of a column is its name: it cannot have another number

    @classmethod
    def hashed(cls, kept: np.ndarray, blocks: np.ndarray) -> Numbering:
        """Leave hashed columns where they are."""
        numbers = np.where(kept, np.arange(len(kept)), -1).astype(np.int32)
        return cls(numbers, len(kept), blocks, is_hashed=True)

    @classmethod
    def as_met(cls, counts: Examples, blocks: np.ndarray) -> Numbering:
        """Number the columns that occur as a counter of these documents would: as they come.

        Concepts come first, whether they occur or not.
        """
        numbers, n = np.full(counts.n_columns, -1, np.int32), counts.n_concepts
        numbers[:n] = np.arange(n)
        for rows, _ in counts:
            for _, part in rows.pieces():
                unmet = part.indices[numbers[part.indices] < 0]
                new, first = np.unique(unmet, return_index=True)
                numbers[new[np.argsort(first)]] = np.arange(n, n + len(new))
                n += len(new)
        in_order = np.argsort(numbers, kind="stable")[len(numbers) - n :]
        return cls(numbers, n, blocks[in_order])

    def pruned(self, keep: np.ndarray) -> Numbering:
        """Return them without some; the others close ranks, unless they are hashed."""
        if self.is_hashed:
            return Numbering.hashed(keep & (self.numbers >= 0), self.blocks)
        new = np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32)
        numbers = np.where(self.numbers >= 0, new[self.numbers], -1)
        return Numbering(numbers, int(np.count_nonzero(keep)), self.blocks[keep])

    def after_concepts(self, n: int) -> Numbering:
        """Return them with so many concepts before them."""
        numbers = np.where(self.numbers >= 0, self.numbers + n, -1)
        numbers = np.concatenate([np.arange(n), numbers]).astype(np.int32)
        return Numbering(
            numbers, n + self.n_columns, after_concepts(n, self.blocks), self.is_hashed
        )

    def counted_blocks(self) -> np.ndarray:
        """Return the block of each column of the counts; 0 for those that are left out."""
        blocks, inside = np.zeros(len(self.numbers), np.uint8), self.numbers >= 0
        blocks[inside] = self.blocks[self.numbers[inside]]
        return blocks

    def apply(self, rows: Rows) -> Rows:
        """Return the rows in the columns that are left."""
        return rows.renumbered(self.numbers, self.n_columns)


def after_concepts(n: int, blocks: np.ndarray) -> np.ndarray:
    """Return the blocks of so many concepts and of the columns after them."""
    return np.concatenate([np.full(n, CONCEPTS, np.uint8), blocks]) if n else blocks
