"""Text to counts: words, runs, parts of words and words of fields, in one space of columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import chain
from time import perf_counter
from typing import Any, NamedTuple, Self

import numpy as np

from thresher._kernels.text import FIELDS, PARTS, WORDS
from thresher.engine import engine_for
from thresher.errors import ModelError, ParameterError, counted, param
from thresher.fields import field_columns, field_names, split
from thresher.parameters import is_whole, plain
from thresher.rows import Rows
from thresher.state import require_field
from thresher.text.parameters import LINGUISTICS, Folding, TextParameters
from thresher.text.places import Places
from thresher.text.space import BLOCKS, HashedSpace, Items, Space
from thresher.text.surface import Scratch, Surface, Tally, fold
from thresher.text.tokens import (
    CHARACTERS,
    PAIRS,
    STRETCHES,
    Tokenizer,
    as_texts,
    check_texts,
    chunks,
    encode,
    slices,
)
from thresher.text.turns import Turns, in_turns

__all__ = ["FORMAT_VERSION", "HASH_VERSION", "TextCounter"]

# Of what a counter's `state` returns. Counters of version 2 go on as they were: they cut words at
# combining marks, take a stretch of Chinese for one word, and leave texts in their normal forms.
FORMAT_VERSION, OLD_VERSION = 3, 2
HASH_VERSION = 1  # of the hash that gives columns; a model made with another one cannot be read

Clock = defaultdict[str, float]
Counted = tuple[Items, np.ndarray]
Coded = tuple[np.ndarray, np.ndarray]  # codes of words in turn, and where each document ends

# To wait at a station, by its number: that of a block, where its items are numbered, or this one.
Turn = Callable[[int], AbstractContextManager[None]]
_SETTLING = len(BLOCKS)  # where items get their columns

_START = np.zeros(1, np.int64)
_ONE_EACH = np.ones(len(BLOCKS), np.int64)


class Piece(NamedTuple):
    """A part of a text: a field, or what stands before all fields or after them."""

    text: str
    start: int
    field: int | None


class TextCounter(TextParameters):
    """Count the words of texts, runs of words and parts of words, in one space of columns.

    Columns are numbered as they are first met: in each document, its words and runs of words in
    their order, then its parts, then the words of its fields. The same texts give the same numbers,
    in one batch or in many.

    Reading (`count` with `grow=False`, `names`, `places`) changes nothing and can be done by any
    number of threads at once, while no other grows.

    Examples
    --------
    >>> counter = TextCounter()
    >>> rows = counter.count(["A rose is a rose", "is it?"])
    >>> counter.feature_names()
    ['rose', 'is', 'it']
    >>> rows.values.tolist(), rows.indices.tolist()
    ([2.0, 1.0, 1.0, 1.0], [0, 1, 1, 2])
    """

    linguistics: Folding | None = LINGUISTICS

    def __post_init__(self) -> None:
        self.check_parameters()
        self._cuts_words = self.char_ngram_tokens == "words"
        self._cut_as(FORMAT_VERSION)
        self._fields = field_names(self.fields)
        self._n_pieces = len(self._fields) + 2 if self._fields else 1  # that a text is cut into
        self._kinds = (
            self.ngram_range,
            self.char_ngram_range is not None,
            self._fields,
            bool(self.gaps),
        )
        bits = self.hashing_bits
        self._space = Space(*self._kinds) if bits is None else HashedSpace(*self._kinds, bits)
        self._pool: list[Scratch] = []  # for those who count at the same time

    def _cut_as(self, version: int) -> None:
        """Cut texts as counters of this version do."""
        self._version, lowercase = version, bool(self.lowercase)
        # Where runs of words are counted, pairs of characters are among them.
        has_runs = self.ngram_range is not None and self.ngram_range[1] > 1
        of_words: int | None = CHARACTERS if has_runs else PAIRS
        of_parts: int | None = STRETCHES
        if version == OLD_VERSION:
            of_words = of_parts = None
        options = self.tokens, self.token_pattern, self.min_length, lowercase
        words = Tokenizer(*options, of_words)
        if not self._cuts_words:
            options = "whitespace", None, 1, lowercase
        self._tokenizers = {WORDS: words, PARTS: Tokenizer(*options, of_parts)}

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_pool": []}

    @property
    def n_features(self) -> int:
        """How many columns there are by now."""
        return self._space.n_columns

    @property
    def blocks(self) -> np.ndarray:
        """The block of each column, its place in `BLOCKS`: 0 for words, 1 for runs of words.

        Where columns are hashed, words and runs of words share theirs, which count as words.
        """
        return self._space.blocks[: self._space.n_columns]

    def field_numbers(self) -> np.ndarray:
        """Return, for each column, 0, or 1 + the number of the field whose word it is.

        Where columns are hashed, several fields share theirs: that is 0 too.

        Examples
        --------
        >>> counter = TextCounter(fields=("title", "text"))
        >>> rows = counter.count([{"title": "A rose", "text": "Rose is red"}])
        >>> counter.field_numbers().tolist()
        [0, 0, 0, 1, 2, 2, 2]
        """
        return self._space.field_numbers()

    def count(
        self,
        texts: Any,
        grow: bool = True,
        n_jobs: int = 1,
        least: tuple[int, int, int, int] | None = None,
        clock: dict[str, float] | None = None,
    ) -> Rows:
        """Return how often each feature stands in each text, and how many tokens the text has.

        Parameters
        ----------
        texts : list of str or Arrow array of strings
            One batch of documents; missing texts of an Arrow array are empty. With `fields` of
            columns, a document can be a dict of texts by column.
        grow : bool, default=True
            Give columns to what is new; else leave it out.
        n_jobs : int, default=1
            How many threads to use; the result is the same.
        least : tuple of four int, optional
            In how many documents that were counted in this way a word, a run of words, a part and
            a word of a field must have been before it gets a column, of which this can be the last;
            by default all get one at once. Of those that wait, half are forgotten when they are
            more than a million: those in the fewest documents, the oldest first.
        clock : dict, optional
            The seconds that it takes to find the tokens and their numbers, and to count them, are
            added to its "tokenize" and "count".

        Examples
        --------
        >>> counter = TextCounter(ngram_range=(1, 2))
        >>> for text in ("a red rose", "the red rose"):
        ...     rows = counter.count([text], least=(1, 2, 2, 2))
        >>> counter.feature_names(), rows.lengths.tolist()
        (['red', 'rose', 'the', 'red rose'], [3])
        >>> counter = TextCounter(fields=("title", "text"))
        >>> rows = counter.count([{"title": "A rose", "text": "Rose is red"}])
        >>> counter.feature_names(), rows.values.tolist()
        (['rose', 'is', 'red', 'title:rose', 'text:rose', 'text:is', 'text:red'], \
[2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
        """
        pieces = self._count_all(texts, grow, n_jobs, least, clock)
        items, lengths = _stacked(pieces, np.float32, n_jobs)
        return Rows(*items, self.n_features, lengths)

    def count_exactly(
        self,
        texts: Any,
        grow: bool = True,
        n_jobs: int = 1,
        least: tuple[int, int, int, int] | None = None,
        clock: dict[str, float] | None = None,
    ) -> tuple[Items, np.ndarray]:
        """Return `count`'s columns and counts, these as whole numbers, and the lengths."""
        return _stacked(self._count_all(texts, grow, n_jobs, least, clock), np.int32, n_jobs)

    def names(self, columns: Any) -> list[str]:
        """Return the names of some columns; words of a run have a space between.

        A word of a field is called "field:word". Hashed columns have no name of their own and are
        called "#0", "#1" and so on.
        """
        return self._space.names(np.asarray(columns, np.int64))

    def feature_names(self) -> list[str]:
        """Return the name of each column, as `names` does."""
        return self._space.all_names()

    def name_bytes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the names of all columns as UTF-8, and where each starts and ends in it."""
        space = self._space
        if self.hashing_bits is None and space.as_numbered:
            return (space.words if space.only == WORDS else space.parts).blob()
        return encode(self.feature_names())

    def prune(self, keep: np.ndarray, with_waiting: bool = True) -> None:
        """Keep some columns, numbered anew from 0 in the same order, and forget the others.

        What is forgotten counts as new when it is met again; so does, unless it is kept too, what
        has been met too rarely for a column.
        """
        if self.hashing_bits is not None:
            raise ParameterError(
                "Hashed columns cannot be pruned, as there is no vocabulary to take them from; "
                f"leave {param('hashing_bits')} out."
            )
        keep = np.asarray(keep)
        if keep.dtype != bool or keep.shape != (self.n_features,):
            raise ParameterError(
                f"keep is an array of {keep.dtype} of shape {keep.shape}; it must have one bool "
                f"for each of the {counted(self.n_features, 'column')}."
            )
        self._replace_space(keep, with_waiting)

    def _replace_space(self, keep: np.ndarray, with_waiting: bool = True) -> None:
        """Go on with some columns; what readers wrote to is of the old space and would hold it."""
        self._space, self._pool = self._space.kept(keep, with_waiting), []

    def checkpoint(self) -> Callable[[], None]:
        """Return a function that puts the counter back to what it is now, bit for bit.

        It may be called after any number of growing counts, also after one that was interrupted;
        as long as it is kept, what changes is noted.

        Examples
        --------
        >>> counter = TextCounter()
        >>> undo = counter.checkpoint()
        >>> counter.count(["a rose"]).n_columns
        1
        >>> undo()
        >>> counter.n_features
        0
        """
        space = self._space
        mark = space.mark()

        def undo() -> None:
            self._space, self._pool = space, []
            space.roll_back(mark)

        return undo

    def spans(self, text: str) -> list[tuple[int, int, int]]:
        """Return where each feature stands in a text: start, end and column, or -1 if not known.

        Words and runs of words come first, then parts, then words of fields. A run reaches from the
        start of its first word to the end of its last; a part, from its first character to its
        last, or, where words are cut into parts as they are counted, over the whole word. Words
        that the linguistics drop have no span. The text is to be as it was given, upper case and
        all.

        Examples
        --------
        >>> counter = TextCounter()
        >>> rows = counter.count(["a rose"])
        >>> counter.spans("My ROSE!")
        [(0, 2, -1), (3, 7, 0)]
        """
        return [tuple(span) for span in self.places(text).spans().tolist()]

    def places(self, text: str) -> Places:
        """Return where the words of a text stand, and the features that are made of them.

        Examples
        --------
        >>> counter = TextCounter(ngram_range=(1, 2))
        >>> rows = counter.count(["a red rose"])
        >>> places = counter.places("Red roses, RED ROSE")
        >>> places.words, places.runs.tolist()[-2:]
        (['red', 'roses', 'red', 'rose'], [[3, 4, 1, 1], [2, 4, 2, 3]])
        """
        pool, scratch, pieces = self._pool, self._borrow(), self._pieces(text)
        words, sides, runs, pairs, fields = self._word_places(pieces, scratch)
        parts = self._part_places(pieces, scratch)
        pool.append(scratch)
        return Places(text, words, sides, runs, pairs, parts, fields, bool(self.lowercase))

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return all that is needed to go on counting: what JSON can hold, and tensors."""
        header: dict[str, Any] = {"version": self._version, "hash_version": HASH_VERSION}
        for name in TextParameters.parameters:
            header[name] = plain(type(self).__name__, name, getattr(self, name))
        header["linguistics"] = None
        if self.linguistics is not None:
            if not hasattr(self.linguistics, "state"):
                raise ModelError(
                    f"The linguistics {self.linguistics!r} cannot be saved, as it has no `state`; "
                    "use thresher.Linguistics."
                )
            header["linguistics"] = self.linguistics.state()
        return header, self._space.tensors()

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Return a counter that counts, and goes on growing, as the one that gave its `state`.

        What `state` cannot have returned is a ModelError.
        """
        versions = ("version", OLD_VERSION, FORMAT_VERSION), ("hash_version", 1, HASH_VERSION)
        for name, oldest, ours in versions:
            if not oldest <= require_field(header, name, int) <= ours:
                raise ModelError(
                    f"The model counts text by {name} {header[name]}, and this Thresher by {ours}; "
                    "take the Thresher that made it, or train it again."
                )
        header = {
            "fields": None,
            "gaps": False,
        } | header  # which the first files of this version lack
        if missing := [name for name in TextParameters.parameters if name not in header]:
            raise ModelError(f"The model's header lacks {missing[0]!r}; the file is damaged.")
        values = ((name, header[name]) for name in TextParameters.parameters)
        options: Any = {name: tuple(v) if isinstance(v, list) else v for name, v in values}
        if header.get("linguistics") is not None:
            from thresher.text.linguistics import Linguistics

            state = require_field(header, "linguistics", dict)
            options["linguistics"] = Linguistics.from_state(state)
        try:
            counter = cls(**options)
        except ParameterError as error:
            raise ModelError(f"The model's way to count text makes no sense: {error}") from error
        counter._cut_as(header["version"])
        if counter.hashing_bits is None:
            counter._space = Space.from_tensors(*counter._kinds, tensors)
        return counter

    # How it is done -------------------------------------------------------------------------------

    def _borrow(self) -> Scratch:
        """Take what a reader writes to out of the pool, where it comes back if nothing fails."""
        try:
            scratch = self._pool.pop()
        except IndexError:
            scratch = None
        if scratch is None or scratch.space is not self._space:
            space, folding = self._space, self.linguistics
            words = None if folding is None else Surface(space, WORDS, folding, None)
            folding = folding if self._cuts_words else None
            scratch = Scratch(space, words, Surface(space, PARTS, folding, self.char_ngram_range))
        return scratch

    def _count_all(
        self,
        texts: Any,
        grow: bool,
        n_jobs: int,
        least: tuple[int, int, int, int] | None,
        clock: dict[str, float] | None,
    ) -> list[Counted]:
        """Return the counts of texts, those of some of them after those of others."""
        engine_for(n_jobs)  # refuses what is no number of threads
        needed = _ONE_EACH if least is None else _least(least)
        texts = as_texts(texts, self.fields)
        sizes = check_texts(texts)
        grow = bool(grow) and self.hashing_bits is None
        if grow:
            self._space.prepare(needed)
        pieces: list[Counted] = []
        clocks: list[Clock] = []
        for start, stop in slices(sizes):
            here = texts[start:stop], sizes[start:stop]
            pieces += self._count(*here, grow, needed, n_jobs, clocks)
        if self._space.has_forgotten:
            self._replace_space(np.ones(self.n_features, bool))
        if clock is not None:
            for stage, seconds in chain.from_iterable(one.items() for one in clocks):
                clock[stage] = clock.get(stage, 0.0) + seconds
        return pieces

    def _count(
        self,
        texts: Any,
        sizes: np.ndarray,
        grow: bool,
        least: np.ndarray,
        n_jobs: int,
        clocks: list[Clock],
    ) -> list[Counted]:
        """Count texts, of which threads take one piece after the other."""
        pieces = list(chunks(sizes)) if n_jobs > 1 else [(0, len(texts))]
        n_jobs, pool, scratch = min(n_jobs, len(pieces)), self._pool, self._borrow()
        # Those who grow take turns at what is known of words, so it is one for all of them.
        others = [scratch.beside() if grow else self._borrow() for _ in range(n_jobs - 1)]
        idle, own = [scratch, *others], [Clock(float) for _ in pieces]
        for one in idle:
            one.refresh()

        def work(number: int, turns: Turns) -> Counted:
            mine, (start, stop) = idle.pop(), pieces[number]
            turn = partial(turns.at, number) if grow and n_jobs > 1 else None
            counted = self._count_piece(texts[start:stop], grow, least, mine, own[number], turn)
            idle.append(mine)
            return counted

        counted = in_turns(work, len(pieces), n_jobs)
        clocks += own
        pool.extend([scratch] if grow else idle)
        return counted

    def _count_piece(
        self,
        texts: Any,
        grow: bool,
        least: np.ndarray,
        scratch: Scratch,
        clock: Clock,
        turn: Turn | None = None,
    ) -> Counted:
        """Return the counts of texts; whatever adds to the space waits for its `turn`."""
        words = parts = fields = None
        if self._fields:
            texts = texts if isinstance(texts, list) else texts.to_pylist()
            texts = [piece for text in texts for piece in split(text, self.fields)]
        if self._space.has_words:
            in_fields: list[Coded] = [(np.zeros(0, np.int32), _START[:0])]
            words, lengths = self._tally(WORDS, texts, grow, scratch, clock, turn, in_fields)
            words = None if self.ngram_range is None else words
        if self.char_ngram_range is not None:
            tokens, n_tokens = self._tally(PARTS, texts, grow, scratch, clock, turn)
            lengths = n_tokens if words is None else lengths
        began = perf_counter()
        if self.char_ngram_range is not None:
            scratch.reserve(self._space.n_codes(PARTS))
            parts = scratch.parts.spread_rows(tokens, scratch.cells)
        if self._fields:
            rows = Tally(len(texts) // self._n_pieces, scratch)
            rows.add(*_joined(in_fields), self._space.n_codes(FIELDS))
            fields = rows.result()
        with nullcontext() if turn is None or self._space.as_numbered else turn(_SETTLING):
            items = self._space.settle([words, parts, fields], grow, least)
        clock["count"] += perf_counter() - began
        return items, lengths

    def _tally(
        self,
        block: int,
        texts: Any,
        grow: bool,
        scratch: Scratch,
        clock: Clock,
        turn: Turn | None,
        in_fields: list[Coded] | None = None,
    ) -> Counted:
        """Return how often each word, run or token to be cut stands in texts, and their lengths.

        Where there are fields, the texts are the pieces of each text, and `in_fields` gets the
        codes of the words in fields.
        """
        rows, began = Tally(len(texts) // self._n_pieces, scratch), perf_counter()
        token_ends = [_START]
        numbered = self._numbered(block, texts, grow, scratch, turn, token_ends, in_fields)
        # While others wait for their turn, nothing is done that can be done later.
        for codes, ends, n_codes in numbered if turn is None else list(numbered):
            cut = perf_counter()
            rows.add(codes, ends, n_codes)
            counted = perf_counter()
            clock["tokenize"] += cut - began
            clock["count"] += counted - cut
            began = counted
        borders = np.concatenate(token_ends)[:: self._n_pieces]
        return rows.result(), borders[1:] - borders[:-1]

    def _numbered(
        self,
        block: int,
        texts: Any,
        grow: bool,
        scratch: Scratch,
        turn: Turn | None,
        token_ends: list[np.ndarray],
        in_fields: list[Coded] | None,
    ) -> Iterator[tuple[np.ndarray, np.ndarray, int]]:
        """Yield codes, where documents end in them, and how many codes there are, chunk by chunk.

        The number of all tokens at the end of each text goes into `token_ends`.
        """
        n_pieces, done, n_tokens, space = self._n_pieces, 0, 0, self._space
        history, batches = space.history(), self._tokenizers[block].cut(texts)
        first = next(batches, None)  # which is cut before it takes its turn
        with nullcontext() if turn is None else turn(block):
            for tokens in chain([] if first is None else [first], batches):
                token_ends.append(tokens.ends + n_tokens)
                n_tokens += len(tokens.spans)
                last = slice(-(done + 1) % n_pieces, None, n_pieces)  # pieces of a text
                if block == PARTS:
                    codes, ends = scratch.parts.numbers(tokens, grow), tokens.ends
                    n_codes = len(scratch.parts.words)
                else:
                    values, ends = scratch.word_values(tokens, grow)
                    if in_fields is not None and self._fields:
                        in_fields.append(self._in_fields(values, ends, done, last))
                done += len(ends)
                ends = ends[last].copy()  # tokens are written over by the next
                if block != PARTS:
                    codes, n_codes = space.codes(values, ends, grow, history), space.n_codes(WORDS)
                if codes.ndim == 2:
                    ends *= codes.shape[1]
                yield codes.ravel(), ends, n_codes

    def _in_fields(self, values: np.ndarray, ends: np.ndarray, done: int, last: slice) -> Coded:
        """Return the codes of those words that stand in fields, and where documents end in them.

        The words are those of pieces of texts, of which so many are `done` already and the `last`
        of each text is given.
        """
        n_words = np.diff(ends, prepend=0, append=len(values))  # of each piece
        fields = (done + np.arange(len(n_words))) % self._n_pieces - 1
        inside = (fields >= 0) & (fields < len(self._fields))
        codes = self._space.in_fields(
            values[np.repeat(inside, n_words)], np.repeat(fields[inside], n_words[inside])
        )
        return codes, np.cumsum(n_words * inside)[:-1][last]

    def _pieces(self, text: str) -> list[Piece]:
        """Return a text whole, or what stands before its fields, each field and what follows."""
        check_texts([text])
        if not self._fields:
            return [Piece(text, 0, None)]
        pieces, start, gap = [], 0, int(bool(field_columns(self.fields)))  # the mark
        for number, piece in enumerate(split(text, self.fields), -1):
            field = number if 0 <= number < len(self._fields) else None
            pieces.append(Piece(piece, start, field))
            start += len(piece) + gap
        return pieces

    def _word_places(
        self, pieces: list[Piece], scratch: Scratch
    ) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the words as counted, the sides of each, runs, pairs and words in fields."""
        shapes = self._space.runs.shapes
        patterns = [shapes.patterns[shape] for shape in shapes.counted]
        history, tokenizer, space = self._space.history(), self._tokenizers[WORDS], self._space
        words: list[str] = []
        all_sides, all_pairs = [np.zeros((0, 2), np.int64)], [np.zeros((0, 3), np.int64)]
        all_columns, in_fields = [], []
        for piece in pieces:
            origins = tokenizer.origins(piece.text)
            for tokens, sides in tokenizer.places(piece.text):
                tokens_here = tokens.words()
                distinct = list(dict.fromkeys(tokens_here))
                folded = dict(zip(distinct, fold(self.linguistics, distinct), strict=True))
                counted = [folded[token] for token in tokens_here]
                is_kept = np.array([word is not None for word in counted], bool)
                originals = origins.of(sides[is_kept]) + piece.start
                is_pair = tokens.are_pairs[is_kept]
                all_sides.append(originals[~is_pair])
                n_before = len(words)
                kept = [word for word in counted if word is not None]
                words += [word for word, both in zip(kept, is_pair, strict=True) if not both]
                if not space.has_words:
                    continue
                each = tokens._replace(ends=np.arange(1, len(sides) + 1))
                values, _ = scratch.word_values(each, False)
                if self.ngram_range is not None:
                    codes = space.codes(values, np.zeros(0, np.int64), False, history)
                    columns = space.columns_of(WORDS, codes).reshape(-1, len(patterns))
                    all_columns.append(columns[~is_pair])
                    # Where there are pairs, there are no longer runs.
                    all_pairs.append(np.column_stack([originals, columns[:, 0]])[is_pair])
                if piece.field is not None:
                    codes = space.in_fields(values, np.full(len(values), piece.field))
                    columns = space.columns_of(FIELDS, codes)
                    all_pairs.append(np.column_stack([originals, columns])[is_pair])
                    of_words = enumerate(columns[~is_pair].tolist(), n_before)
                    in_fields += [(i, i + 1, one, 1) for i, one in of_words]
        runs = [
            (last + 1 - pattern.bit_length(), last + 1, column, pattern)
            for last, columns in enumerate(chain.from_iterable(all_columns))
            for pattern, column in zip(patterns, columns.tolist(), strict=True)
            if pattern.bit_length() <= last + 1
        ]
        both = [np.array(one, np.int64).reshape(-1, 4) for one in (runs, in_fields)]
        pairs = np.concatenate(all_pairs)
        return words, np.concatenate(all_sides), both[0], pairs, both[1]

    def _part_places(self, pieces: list[Piece], scratch: Scratch) -> np.ndarray:
        """Return start, end and column of all parts."""
        tokenizer, surface = self._tokenizers[PARTS], scratch.parts
        places = [np.zeros((0, 3), np.int64)]
        for piece in pieces if self.char_ngram_range is not None else ():
            origins = tokenizer.origins(piece.text)
            for tokens, sides in tokenizer.places(piece.text):
                ids = surface.numbers(tokens, False)
                values, ends = surface.spread(tokens._replace(ends=np.arange(1, len(ids) + 1)), ids)
                columns = self._space.columns_of(PARTS, values)
                inside = np.repeat(sides, np.diff(ends, prepend=0), axis=0)
                if not self._cuts_words:
                    parts = [part for side in sides for part in self._part_sides(*side.tolist())]
                    inside = np.array(parts, np.int64).reshape(-1, 2)
                places.append(np.column_stack([origins.of(inside) + piece.start, columns]))
        return np.concatenate(places)

    def _part_sides(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield where the parts of a token start and end within it, in the order of its parts."""
        assert self.char_ngram_range is not None
        low, high = self.char_ngram_range
        for length in range(low, high + 1):
            n_parts = max(end - start + 2 - length, 0) + 1
            for place in range(start - 1, start - 1 + n_parts):
                # A blank by itself stands with the character beside it.
                yield min(max(place, start), end - 1), max(min(place + length, end), start + 1)
            if n_parts == 1:
                return


def _stacked(pieces: list[Counted], dtype: type, n_jobs: int) -> Counted:
    """Return rows one below the other, their counts as numbers of another type, and lengths."""
    first, lengths = pieces[0]
    if len(pieces) == 1:
        return first._replace(counts=first.counts.astype(dtype, copy=False)), lengths
    rows = np.cumsum([0, *(len(lengths) for _, lengths in pieces)])
    ends = np.cumsum([0, *(items.indptr[-1] for items, _ in pieces)])
    codes, counts = np.empty(ends[-1], np.int32), np.empty(ends[-1], dtype)
    out = Items(np.zeros(rows[-1] + 1, np.int64), codes, counts)

    def put(number: int, _: Turns) -> None:
        items, here = pieces[number][0], slice(ends[number], ends[number + 1])
        out.indptr[rows[number] + 1 : rows[number + 1] + 1] = items.indptr[1:] + ends[number]
        out.codes[here], out.counts[here] = items.codes, items.counts

    in_turns(put, len(pieces), n_jobs)
    return out, np.concatenate([lengths for _, lengths in pieces])


def _joined(coded: list[Coded]) -> Coded:
    """Return codes one after the other, and where documents end in them."""
    starts = np.cumsum([0, *(len(codes) for codes, _ in coded)])
    ends = [ends + start for (_, ends), start in zip(coded, starts, strict=False)]
    return np.concatenate([codes for codes, _ in coded]), np.concatenate(ends)


def _least(least: Any) -> np.ndarray:
    """Return the least numbers of documents for each block, once they are numbers."""
    if len(least) != len(BLOCKS) or not all(is_whole(one) and 1 <= one < 2**31 for one in least):
        raise ParameterError(
            f"least is {least!r}; it must be four whole numbers from 1: in how many documents a "
            "word, a run of words, a part and a word of a field must be."
        )
    return np.array(least, np.int64)
