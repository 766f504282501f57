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
    fields: np.ndarray  # of each number, as `Features.fields` has them
    is_hashed: bool = False  # the place of a column is its name: it cannot have another number

    @classmethod
    def hashed(cls, kept: np.ndarray, blocks: np.ndarray, fields: np.ndarray) -> Numbering:
        """Leave hashed columns where they are."""
        numbers = np.where(kept, np.arange(len(kept)), -1).astype(np.int32)
        return cls(numbers, len(kept), blocks, fields, is_hashed=True)

    @classmethod
    def as_met(cls, counts: Examples, blocks: np.ndarray, fields: np.ndarray) -> Numbering:
        """Number the columns that occur as a counter of these documents would: as they come.

        Concepts come first, whether they occur or not. Blocks and fields are those of all columns
        of the counts.
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
        return cls(numbers, n, blocks[in_order], fields[in_order])

    def pruned(self, keep: np.ndarray) -> Numbering:
        """Return them without some; the others close ranks, unless they are hashed."""
        if self.is_hashed:
            return Numbering.hashed(keep & (self.numbers >= 0), self.blocks, self.fields)
        new = np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32)
        numbers = np.where(self.numbers >= 0, new[self.numbers], -1)
        n_kept = int(np.count_nonzero(keep))
        return Numbering(numbers, n_kept, self.blocks[keep], self.fields[keep])

    def after_concepts(self, n: int) -> Numbering:
        """Return them with so many concepts before them."""
        numbers = np.where(self.numbers >= 0, self.numbers + n, -1)
        numbers = np.concatenate([np.arange(n), numbers]).astype(np.int32)
        blocks, fields = after_concepts(n, self.blocks), after_concepts(n, self.fields, 0)
        return Numbering(numbers, n + self.n_columns, blocks, fields, self.is_hashed)

    def of_counts(self) -> np.ndarray:
        """Return blocks and fields of all columns of the counts; 0 for those that are left out."""
        both, inside = np.zeros((2, len(self.numbers)), np.uint8), self.numbers >= 0
        both[:, inside] = np.stack([self.blocks, self.fields])[:, self.numbers[inside]]
        return both

    def apply(self, rows: Rows) -> Rows:
        """Return the rows in the columns that are left."""
        return rows.renumbered(self.numbers, self.n_columns)


def after_concepts(n: int, of_columns: np.ndarray, of_concept: int = CONCEPTS) -> np.ndarray:
    """Return the blocks, or fields, of so many concepts and of the columns after them."""
    return np.concatenate([np.full(n, of_concept, np.uint8), of_columns]) if n else of_columns
