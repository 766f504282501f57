"""Where the words of a text stand, and to which of them each feature of the text belongs."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

import numpy as np

from thresher._kernels.text import PARTS, RUNS, WORDS

__all__ = ["Entry", "Piece", "Places"]

_UNBROKEN = re.compile(r"\S+")


class Piece(NamedTuple):
    """A word of a text as it is counted, or marks between blanks that are in no word."""

    name: str
    place: tuple[int, int]  # start and end in the text; no piece overlaps another


class Entry(NamedTuple):
    """A feature of a text, at one of its places, and a piece that it belongs to."""

    column: int
    block: int  # which hashed columns cannot tell
    piece: int  # its number
    weight: float  # how much of it belongs there; all of it adds up to one


class Places(NamedTuple):
    """Where the words of one text stand, the runs of them and the parts of them."""

    text: str
    words: list[str]  # as they are counted; those that the linguistics drop are left out
    sides: np.ndarray  # start and end of each word in the text
    # Of single words, too: the first word, the one after the last, the column, and which of these
    # words it has, in bits, the lowest for the last word.
    runs: np.ndarray
    # Start and end in the text, and the column; -1 if it is not known.
    pairs: np.ndarray  # of characters of scripts without spaces, in fields too
    parts: np.ndarray
    fields: np.ndarray  # words in fields, as in `runs`
    lowercase: bool

    def spans(self) -> np.ndarray:
        """Return start and end of each feature in the text, and its column or -1."""
        runs, fields = (
            np.column_stack([self.sides[firsts, 0], self.sides[stops - 1, 1], columns])
            for firsts, stops, columns, _ in (self.runs.T, self.fields.T)
        )
        return np.concatenate([runs, self.pairs, self.parts, fields])

    def belonging(self) -> tuple[list[Piece], list[Entry]]:
        """Return the pieces of the text, and to which of them each known feature belongs.

        A word in a field belongs to the word, a run to its words in equal shares, not to what
        stands in its gaps; and so does a pair of characters. A part belongs to the words that its
        characters are in, in proportion to these, and otherwise to the marks between blanks that
        it is of.
        """
        pieces, owner = self._pieces()
        entries = []
        for first, stop, column, pattern in np.concatenate([self.runs, self.fields]).tolist():
            block = WORDS if stop == first + 1 else RUNS
            for number in range(first, stop) if column >= 0 else ():
                if pattern >> (stop - 1 - number) & 1:
                    entries.append(Entry(column, block, number, 1 / pattern.bit_count()))
        for block, places in ((RUNS, self.pairs), (PARTS, self.parts)):
            for start, end, column in places.tolist():
                if column < 0:
                    continue
                owners = [one for one in owner[start:end] if one < len(pieces)]
                # A word of an odd pattern may have no characters: any piece will do for its parts.
                of_words = [one for one in owners if one < len(self.words)] or owners or [0]
                of_words = list(dict.fromkeys(of_words)) if block == RUNS else of_words
                for number, n in Counter(of_words).items():
                    entries.append(Entry(column, block, number, n / len(of_words)))
        return pieces, entries

    def _pieces(self) -> tuple[list[Piece], list[int]]:
        """Return the words, then the marks, and the number of the piece that has each character."""
        pieces, gaps, done = [], [], 0
        # Words of odd patterns, and those that share a character that is two in lower case, may
        # overlap: the first one keeps what they share.
        for word, (start, end) in zip(self.words, self.sides.tolist(), strict=True):
            gaps.append((done, start))
            start = max(start, done)
            done = max(start, end)
            pieces.append(Piece(word, (start, done)))
        has_more = len(self.parts) or len(self.pairs)
        for gap in [*gaps, (done, len(self.text))] if has_more else ():
            for marks in _UNBROKEN.finditer(self.text, *gap):
                name = marks[0].lower() if self.lowercase else marks[0]
                pieces.append(Piece(name, marks.span()))
        owner = [len(pieces)] * len(self.text)
        for number, (_, (start, end)) in enumerate(pieces):
            owner[start:end] = [number] * (end - start)
        return pieces, owner
