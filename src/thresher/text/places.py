"""Where the words of a text stand, and to which of them each feature of the text belongs."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from thresher._kernels.text.counts import PARTS, RUNS, WORDS

__all__ = ["Belonging", "Places"]

_UNBROKEN = re.compile(r"\S+")


class Belonging(NamedTuple):
    """To which pieces of a text its features belong: its words, and marks that are in no word.

    There is an entry for each piece of each occurrence of a feature; their weights add up to one.
    """

    names: list[str]  # of the pieces, as they are counted
    sides: np.ndarray  # start and end of the pieces in the text; none overlaps the next
    pieces: np.ndarray  # of each entry: its piece,
    columns: np.ndarray  # the column of its feature,
    blocks: np.ndarray  # the block of its feature, which hashed columns cannot tell,
    weights: np.ndarray  # and how much of the occurrence belongs to the piece


class Places(NamedTuple):
    """Where the words of one text stand, the runs of them and the parts of them."""

    text: str
    words: list[str]  # as they are counted; those that the linguistics drop are left out
    sides: np.ndarray  # start and end of each word in the text
    runs: np.ndarray  # of single words, too: the first word, the one after the last, the column
    parts: np.ndarray  # start and end in the text, and the column; -1 if it is not known
    lowercase: bool

    def spans(self) -> np.ndarray:
        """Return start and end of each feature in the text, and its column or -1."""
        firsts, lasts, columns = self.runs.T
        runs = np.column_stack([self.sides[firsts, 0], self.sides[lasts - 1, 1], columns])
        return np.concatenate([runs, self.parts])

    def belonging(self) -> Belonging:
        """Return to which words each known feature belongs.

        A run belongs to its words in equal shares. A part belongs to the words that its characters
        are in, in proportion to these, and otherwise to the marks between blanks that it is of.
        """
        # Words of odd patterns, and those that share a character that is two in lower case, may
        # overlap: the first one keeps what they share.
        ends = np.maximum.accumulate(self.sides[:, 1])
        starts = np.maximum(self.sides[:, 0], np.concatenate([[0], ends[:-1]])[: len(ends)])
        names, sides = list(self.words), np.column_stack([starts, ends])
        runs, parts = (one[one[:, 2] >= 0] for one in (self.runs, self.parts))
        run, word = _expanded(runs[:, 0], runs[:, 1])
        n_words = runs[run, 1] - runs[run, 0]
        blocks = np.where(n_words > 1, RUNS, WORDS)
        entries = [(word, runs[run, 2], blocks, 1 / n_words)]
        if len(parts):
            low, high, columns = parts.T
            part, word = _expanded(
                np.searchsorted(ends, low, "right"), np.searchsorted(starts, high, "left")
            )
            common = np.minimum(high[part], ends[word]) - np.maximum(low[part], starts[word])
            n_common = np.bincount(part, common, minlength=len(parts))
            part, word, common = (one[common > 0] for one in (part, word, common))
            weights = common / n_common[part]
            entries.append((word, columns[part], np.full(len(part), PARTS), weights))
            borders = zip([0, *ends.tolist()], [*starts.tolist(), len(self.text)], strict=True)
            matches = [
                one for border in borders for one in _UNBROKEN.finditer(self.text, *border)
            ]
            marks = [one[0].lower() if self.lowercase else one[0] for one in matches]
            sides = np.concatenate(
                [sides, np.array([one.span() for one in matches], np.int64).reshape(-1, 2)]
            )
            names += marks
            alone = np.flatnonzero(n_common == 0)
            by_start = np.argsort(sides[:, 0], kind="stable")
            before = np.searchsorted(sides[by_start, 0], low[alone], "right") - 1
            piece = by_start[np.maximum(before, 0)]
            every = np.ones(len(alone))
            entries.append((piece, columns[alone], np.full(len(alone), PARTS), every))
        return Belonging(names, sides, *map(np.concatenate, zip(*entries, strict=True)))


def _expanded(starts: np.ndarray, stops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of each range and what is in it, range by range."""
    sizes = np.maximum(stops - starts, 0)
    numbers = np.repeat(np.arange(len(sizes)), sizes)
    firsts = np.cumsum(sizes) - sizes
    return numbers, starts[numbers] + np.arange(len(numbers)) - firsts[numbers]
