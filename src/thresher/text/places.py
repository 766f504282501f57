"""The positions of words in a text, and the words that each feature of the text consists of."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thresher._kernels.text import FIELDS, PARTS, RUNS, WORDS
from thresher.fields import field_columns, split
from thresher.text.tokens import Tokens, checked_texts
from thresher.text.vocabulary import fold

if TYPE_CHECKING:
    from thresher.text.counter import TextCounter, Workspace

_NOT_SPACES = re.compile(r"\S+")


class Piece(NamedTuple):
    """A word of a text as it is counted, or characters between spaces that are in no word."""

    name: str
    place: tuple[int, int]  # start and end in the text; pieces do not overlap


class Entry(NamedTuple):
    """One occurrence of a feature, and a piece of the text that it belongs to."""

    column: int
    block: int  # which a hashed column does not determine
    piece: int  # its number
    weight: float  # the share that belongs to this piece; the shares of an occurrence sum to one


class Places(NamedTuple):
    """The positions of the words of a text, and of its word n-grams and character n-grams."""

    text: str
    words: list[str]  # as they are counted; those that the linguistics drop are left out
    sides: np.ndarray  # start and end of each word in the text
    # For each word and run: the number of the first word, that of the word after the last, the
    # column, and which of these words it has, in bits, the lowest for the last word.
    runs: np.ndarray
    # Start and end in the text, and the column; -1 if it is not known.
    pairs: np.ndarray  # of characters of scripts without spaces, in fields too
    parts: np.ndarray
    fields: np.ndarray  # words in fields, as in `runs`
    lowercase: bool

    def spans(self) -> np.ndarray:
        """Return the start, end and column of each feature; the column is -1 if it is unknown."""
        runs, fields = (
            np.column_stack([self.sides[firsts, 0], self.sides[stops - 1, 1], columns])
            for firsts, stops, columns, _ in (self.runs.T, self.fields.T)
        )
        return np.concatenate([runs, self.pairs, self.parts, fields])

    def belonging(self) -> tuple[list[Piece], list[Entry]]:
        """Return the pieces of the text, and to which of them each known feature belongs.

        A run belongs to its words in equal shares, not to the words in its gaps; so does a pair of
        characters. A part belongs to the words that its characters are in, in proportion to these;
        if none is in a word, to the characters between spaces that it is from.
        """
        pieces, owner = self._pieces()
        entries = []
        for first, stop, column, pattern in np.concatenate([self.runs, self.fields]).tolist():
            block = WORDS if stop == first + 1 else RUNS
            for number in range(first, stop) if column >= 0 else ():
                if pattern >> (stop - 1 - number) & 1:
                    entries.append(Entry(column, block, number, 1 / pattern.bit_count()))
        for block, spans in ((RUNS, self.pairs), (PARTS, self.parts)):
            for start, end, column in spans.tolist():
                if column < 0:
                    continue
                owners = [number for number in owner[start:end] if number < len(pieces)]
                # A word of an unusual pattern may be empty: any piece will do for its parts.
                in_words = [number for number in owners if number < len(self.words)]
                in_words = in_words or owners or [0]
                in_words = list(dict.fromkeys(in_words)) if block == RUNS else in_words
                for number, n in Counter(in_words).items():
                    entries.append(Entry(column, block, number, n / len(in_words)))
        return pieces, entries

    def _pieces(self) -> tuple[list[Piece], list[int]]:
        """Return the words, then the other pieces, and the piece of each character, by number."""
        pieces, gaps, done = [], [], 0
        # Words of unusual patterns may overlap, and words that share a character that is two in
        # lower case: what they share belongs to the first.
        for word, (start, end) in zip(self.words, self.sides.tolist(), strict=True):
            gaps.append((done, start))
            start = max(start, done)
            done = max(start, end)
            pieces.append(Piece(word, (start, done)))
        has_more = len(self.parts) or len(self.pairs)
        for gap in [*gaps, (done, len(self.text))] if has_more else ():
            for match in _NOT_SPACES.finditer(self.text, *gap):
                name = match[0].lower() if self.lowercase else match[0]
                pieces.append(Piece(name, match.span()))
        owner = [len(pieces)] * len(self.text)
        for number, (_, (start, end)) in enumerate(pieces):
            owner[start:end] = [number] * (end - start)
        return pieces, owner


class _Section(NamedTuple):
    """A field of a text, or what stands before all fields or after them."""

    text: str
    start: int
    field: int | None


def find_places(counter: TextCounter, workspace: Workspace, text: str) -> Places:
    """Return the positions of the words of a text, and of the features that a counter finds."""
    checked_texts([text])
    sections = _sections(counter, text)
    words, sides, runs, pairs, fields = _words(counter, workspace, sections)
    parts = _parts(counter, workspace, sections)
    return Places(text, words, sides, runs, pairs, parts, fields, bool(counter.lowercase))


def _sections(counter: TextCounter, text: str) -> list[_Section]:
    """Return the whole text, or what stands before its fields, each field and what follows."""
    n_fields = len(counter._fields)
    if not n_fields:
        return [_Section(text, 0, None)]
    sections, start = [], 0
    gap = 1 if field_columns(counter.fields) else 0  # the mark between columns
    for number, section in enumerate(split(text, counter.fields), -1):
        sections.append(_Section(section, start, number if 0 <= number < n_fields else None))
        start += len(section) + gap
    return sections


def _words(
    counter: TextCounter, workspace: Workspace, sections: list[_Section]
) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the words as counted, their sides, the runs, pairs of characters and words in fields.

    They are those of `Places`.
    """
    space, tokenizer, shapes = (
        counter._space,
        counter._tokenizers[WORDS],
        counter._space.runs.shapes,
    )
    patterns = [shapes.patterns[shape] for shape in shapes.counted]
    words: list[str] = []
    sides, pairs = [np.zeros((0, 2), np.int64)], [np.zeros((0, 3), np.int64)]
    columns, in_fields, history = [], [], space.no_history.copy()
    for section in sections:
        origins = tokenizer.origins(section.text)
        for tokens, token_sides in tokenizer.places(section.text):
            tokens_here = tokens.words()
            distinct = list(dict.fromkeys(tokens_here))
            folded = dict(zip(distinct, fold(counter.linguistics, distinct), strict=True))
            is_dropped = np.array([folded[token] is None for token in tokens_here], bool)
            counted = [word for token in tokens_here if (word := folded[token]) is not None]
            original_sides = origins.of(token_sides[~is_dropped]) + section.start
            is_pair = tokens.are_pairs[~is_dropped]
            sides.append(original_sides[~is_pair])
            n_before = len(words)
            words += [word for word, both in zip(counted, is_pair, strict=True) if not both]
            if not space.has_words:
                continue
            numbers = _word_numbers(counter, workspace, tokens)
            if counter.ngram_range is not None:
                codes = space.run_codes(numbers, np.zeros(0, np.int64), False, history)
                run_columns = space.columns_of(WORDS, codes).reshape(-1, len(patterns))
                columns.append(run_columns[~is_pair])
                # Texts with pairs of characters have no longer runs.
                pairs.append(np.column_stack([original_sides, run_columns[:, 0]])[is_pair])
            if section.field is not None:
                codes = space.field_codes(numbers, np.full(len(numbers), section.field))
                columns_here = space.columns_of(FIELDS, codes)
                pairs.append(np.column_stack([original_sides, columns_here])[is_pair])
                numbered = enumerate(columns_here[~is_pair].tolist(), n_before)
                in_fields += [(i, i + 1, column, 1) for i, column in numbered]
    runs = [
        (last + 1 - pattern.bit_length(), last + 1, column, pattern)
        for last, columns_here in enumerate(chain.from_iterable(columns))
        for pattern, column in zip(patterns, columns_here.tolist(), strict=True)
        if pattern.bit_length() <= last + 1
    ]
    rows = [np.array(each, np.int64).reshape(-1, 4) for each in (runs, in_fields)]
    return words, np.concatenate(sides), rows[0], np.concatenate(pairs), rows[1]


def _word_numbers(counter: TextCounter, workspace: Workspace, tokens: Tokens) -> np.ndarray:
    """Return the number, or the hash, of each word that the linguistics leave."""
    forms = workspace.word_forms
    if forms is None:
        numbers: np.ndarray = counter._space.number(WORDS, tokens, False)
        return numbers
    return forms.values_of(tokens, forms.look_up(tokens, False))[0]


def _parts(counter: TextCounter, workspace: Workspace, sections: list[_Section]) -> np.ndarray:
    """Return the start, end and column of all parts."""
    tokenizer, forms = counter._tokenizers[PARTS], workspace.token_forms
    places = [np.zeros((0, 3), np.int64)]
    for section in sections if counter.char_ngram_range is not None else ():
        origins = tokenizer.origins(section.text)
        for tokens, sides in tokenizer.places(section.text):
            ids = forms.look_up(tokens, False)
            each = tokens._replace(ends=np.arange(1, len(ids) + 1))
            values, ends = forms.values_of(each, ids)
            columns = counter._space.columns_of(PARTS, values)
            inside = np.repeat(sides, np.diff(ends, prepend=0), axis=0)
            if not counter._cuts_words:
                assert counter.char_ngram_range is not None
                low, high = counter.char_ngram_range
                spans = [
                    span
                    for start, end in sides.tolist()
                    for span in _part_spans(start, end, low, high)
                ]
                inside = np.array(spans, np.int64).reshape(-1, 2)
            places.append(np.column_stack([origins.of(inside) + section.start, columns]))
    return np.concatenate(places)


def _part_spans(start: int, end: int, low: int, high: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each part of a token, within the token."""
    for length in range(low, high + 1):
        n_parts = max(end - start + 2 - length, 0) + 1
        for first in range(start - 1, start - 1 + n_parts):
            # A part that is only a space gets the position of the character beside it.
            yield min(max(first, start), end - 1), max(min(first + length, end), start + 1)
        if n_parts == 1:
            return
