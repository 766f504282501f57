"""Text to counts of words, runs of words, parts of words and words of fields, in columns.

A batch of texts is counted in these steps. A `Tokenizer` splits the texts into tokens. A
`Vocabulary` numbers the words, a table of `Runs` assigns codes to runs of words, and `SurfaceForms`
cache the parts of each token. `count_rows` counts equal numbers in each document, and
`Space.to_columns` replaces numbers by columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import chain
from time import perf_counter
from typing import Any, NamedTuple, Self

import numpy as np

from thresher._kernels.text import FIELDS, PARTS, WORDS, count
from thresher.engine import engine_for
from thresher.errors import ModelError, ParameterError, counted, param
from thresher.fields import field_names, split
from thresher.parameters import is_whole, plain
from thresher.rows import Rows
from thresher.state import require_field
from thresher.text.parameters import LINGUISTICS, Folding, TextParameters
from thresher.text.places import Places, find_places
from thresher.text.space import BLOCKS, Counts, HashedSpace, Kinds, Space
from thresher.text.tokens import (
    CHARACTERS,
    CHUNK_CHARACTERS,
    PAIRS,
    STRETCHES,
    Buffers,
    Tokenizer,
    Tokens,
    checked_texts,
    chunks,
    encode,
)
from thresher.text.turns import Turns, in_turns
from thresher.text.vocabulary import MOST_SURFACE_FORMS, SurfaceForms, grown

# The versions of a counter's `state`. Counters of version 2 split words at combining marks, treat a
# stretch of Chinese as one word, and do not normalize texts to NFC.
FORMAT_VERSION, OLD_VERSION = 3, 2
HASH_VERSION = 1  # of the hash function for columns; models with another one cannot be read

MOST_CELLS = 1 << 24  # of a workspace between two calls; larger ones are released
BATCH_CHARACTERS = 1 << 24  # counted at a time by a single thread; several use smaller chunks

Least = tuple[int, int, int, int] | None  # documents that a feature of each block needs
Clock = dict[str, float]
CountedTexts = tuple[Counts, np.ndarray]  # rows, and the number of tokens of each text
# Codes in the order of the text, the ends of documents in them, and a number above all codes.
Codes = tuple[np.ndarray, np.ndarray, int]
# Waits until earlier chunks have finished a step.
Turn = Callable[[int], AbstractContextManager[Any]]

TO_COLUMNS = len(BLOCKS)  # the turn in which items get columns; the others are for the blocks
_ONE_EACH = np.ones(len(BLOCKS), np.int64)


class Workspace:
    """The buffers and caches of a thread that counts, reused for the next texts."""

    word_forms: SurfaceForms | None
    token_forms: SurfaceForms

    def __init__(self, counter: TextCounter, shared: Workspace | None = None) -> None:
        self.space = space = counter._space
        self.buffers = Buffers()
        self.cells = np.zeros(0, np.int32)  # all zero between two documents
        if shared is not None:  # threads that take turns share the caches
            self.word_forms, self.token_forms = shared.word_forms, shared.token_forms
            return
        folding, char_range = counter.linguistics, counter.char_ngram_range
        self.word_forms = None if folding is None else SurfaceForms(space, WORDS, folding, None)
        folding = folding if counter._cuts_words else None
        self.token_forms = SurfaceForms(space, PARTS, folding, char_range)

    def refresh(self) -> None:
        """Release buffers and caches that have become too large; only between two texts."""
        if len(self.cells) > MOST_CELLS:
            self.cells = np.zeros(0, np.int32)
        if self.buffers.size > CHUNK_CHARACTERS:
            self.buffers = Buffers()
        for forms in (self.word_forms, self.token_forms):
            if forms is not None and forms.words.sizes[0] > MOST_SURFACE_FORMS:
                forms.reset()


class Job(NamedTuple):
    """How a chunk of texts is counted."""

    grow: bool
    least: np.ndarray
    clock: Clock
    # Of several threads: a step that adds to the space waits until the preceding chunks have
    # finished this step.
    turn: Turn | None = None


class TextCounter(TextParameters):
    """Count words, runs of words and parts of words of texts, in one space of columns.

    Columns are numbered in the order in which features first occur: in each document, first words
    and runs of words in the order of the text, then parts, then words of fields. The numbers do not
    depend on how texts are divided into batches.

    Reading (`count` with `grow=False`, `names`, `places`) changes nothing. Any number of threads
    can read while no other thread adds features.

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
        self._fields = field_names(self.fields) if self.fields else ()
        self._n_pieces = len(self._fields) + 2 if self._fields else 1  # of each text
        has_parts, bits = self.char_ngram_range is not None, self.hashing_bits
        kinds = Kinds(self.ngram_range, has_parts, self._fields, bool(self.gaps))
        self._space = Space(kinds) if bits is None else HashedSpace(kinds, bits)
        self._pool: list[Workspace] = []  # for threads that count at the same time

    def _cut_as(self, version: int) -> None:
        """Create the tokenizers of this format version."""
        self._version, lowercase = version, bool(self.lowercase)
        # If runs of words are counted, they include pairs of adjacent characters.
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
        """The number of columns."""
        return self._space.n_columns

    @property
    def blocks(self) -> np.ndarray:
        """The block of each column, as an index of `BLOCKS`: 0 for words, 1 for runs of words.

        Words and runs of words share hashed columns, which are in the block of words.
        """
        space = self._space
        return space.blocks[: space.n_columns]

    def field_numbers(self) -> np.ndarray:
        """Return for each column 1 plus the number of its field, or 0 if it belongs to no field.

        It is also 0 for hashed columns that several fields share.

        Examples
        --------
        >>> counter = TextCounter(fields=("title", "text"))
        >>> rows = counter.count([{"title": "A rose", "text": "Rose is red"}])
        >>> counter.field_numbers().tolist()
        [0, 0, 0, 1, 2, 2, 2]
        """
        return self._space.field_numbers()

    def count(
        self, texts: Any, grow: bool = True, n_jobs: int = 1, least: Least = None, clock: Any = None
    ) -> Rows:
        """Return the count of each feature in each text, and the number of tokens of each text.

        Parameters
        ----------
        texts : list of str or Arrow array of strings
            One batch of documents; missing texts of an Arrow array are empty. With `fields` of
            columns, a document can be a dict of texts by column.
        grow : bool, default=True
            Add columns for new features; otherwise these are not counted.
        n_jobs : int, default=1
            The number of threads; it does not change the result.
        least : tuple of four int, optional
            The minimum number of documents, including the current one, in which a word, a run of
            words, a part and a word of a field must have occurred to get a column; by default it
            gets one at once. If more than a million features wait for a column, half of them are
            removed: those in the fewest documents, the oldest first.
        clock : dict, optional
            The seconds spent on finding and numbering tokens are added to its "tokenize", those
            spent on counting them to its "count".

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
        (ends, columns, times), lengths = self.count_exactly(texts, grow, n_jobs, least, clock)
        return Rows(ends, columns, times.astype(np.float32), self._space.n_columns, lengths)

    def count_exactly(
        self, texts: Any, grow: bool = True, n_jobs: int = 1, least: Least = None, clock: Any = None
    ) -> CountedTexts:
        """Return the rows of `count` with whole numbers as counts, and the lengths of texts."""
        if n_jobs != 1:
            engine_for(n_jobs)  # raises an error if it is not a number of threads
        needed = _ONE_EACH if least is None else _checked_least(least)
        texts, offsets = checked_texts(texts, self.fields)
        grow = bool(grow) and self.hashing_bits is None
        if grow:
            self._space.prepare(needed)
        job = Job(grow, needed, {} if clock is None else clock)
        ranges = list(chunks(offsets, BATCH_CHARACTERS if n_jobs == 1 else CHUNK_CHARACTERS))
        if len(ranges) == 1 or n_jobs == 1:
            pool, workspace, results = self._pool, self._borrow(), []
            for start, stop in ranges:
                results.append(self._count_chunk(texts[start:stop], job, workspace))
            pool.append(workspace)
        else:
            results = self._count_in_threads(texts, ranges, job, n_jobs)
        if self._space.has_forgotten:
            self._replace_space(np.ones(self.n_features, bool))
        return results[0] if len(results) == 1 else _stacked(results, n_jobs)

    def names(self, columns: Any) -> list[str]:
        """Return the names of some columns, with a space between the words of a run.

        A word of a field is called "field:word". Hashed columns are called "#0", "#1" and so on.
        """
        return self._space.names(np.asarray(columns, np.int64))

    def feature_names(self) -> list[str]:
        """Return the name of each column, as `names` does."""
        return self._space.names(np.arange(self.n_features))

    def name_bytes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the names of all columns as UTF-8 bytes, and their offsets."""
        space = self._space
        if self.hashing_bits is None and space.as_numbered:
            return (space.words if space.only == WORDS else space.parts).blob()
        return encode(self.feature_names())

    def prune(self, keep: np.ndarray, with_waiting: bool = True) -> None:
        """Remove all columns but some, which are renumbered from 0 in the same order.

        A removed feature counts as new when it occurs again. Features that wait for a column are
        removed too, unless `with_waiting`.
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
        """Remove columns; drop the workspaces, which refer to the old space."""
        self._space, self._pool = self._space.subset(keep, with_waiting), []

    def merge(self, other: TextCounter) -> np.ndarray:
        """Add the columns of another counter; return the column here of each of them.

        If texts are counted in shards, each by a new counter, and the counters are merged in the
        order of the shards, the result is the same as if one counter had counted all texts. The
        columns of the other counter's rows are renumbered by the returned array.

        Both counters must have the same parameters, and no feature may wait for a column: count
        with the default `least`, and prune rare features after merging.

        Examples
        --------
        >>> counter, other = TextCounter(), TextCounter()
        >>> rows, other_rows = counter.count(["a red rose"]), other.count(["the rose is red"])
        >>> counter.merge(other).tolist(), counter.feature_names()
        ([2, 1, 3, 0], ['red', 'rose', 'the', 'is'])
        """
        settings, other_settings = self._settings(), other._settings()
        for name, value in settings.items():
            if value != other_settings[name]:
                raise ParameterError(
                    f"The counters cannot be merged, as {name} is {value!r:.80} in one and "
                    f"{other_settings[name]!r:.80} in the other; count all shards with the same "
                    "parameters."
                )
        if len(self._space.candidates()) or len(other._space.candidates()):
            raise ParameterError(
                "The counters cannot be merged, as features wait for a column; count the shards "
                "without `least`, and prune rare features after merging."
            )
        self._space.prepare(_ONE_EACH)
        return self._space.merge(other._space)

    def _settings(self) -> dict[str, Any]:
        """Return all settings that influence how texts are counted."""
        settings = {name: getattr(self, name) for name in TextParameters.parameters}
        state = getattr(self.linguistics, "state", None)
        linguistics = self.linguistics if state is None else state()
        return settings | {"linguistics": linguistics, "version": self._version}

    def checkpoint(self) -> Callable[[], None]:
        """Return a function that restores the current state of the counter, bit for bit.

        It can be called after any number of counts that add features, even if one was interrupted.
        Changes are logged as long as it exists.

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
        """Return the start, end and column of each feature in a text; the column is -1 if unknown.

        Words and runs of words come first, then parts, then words of fields. The span of a run is
        from the start of its first word to the end of its last. The span of a part is that of its
        characters, or the whole word if words are folded before they are cut into parts. Words that
        the linguistics drop have no span.

        Examples
        --------
        >>> counter = TextCounter()
        >>> rows = counter.count(["a rose"])
        >>> counter.spans("My ROSE!")
        [(0, 2, -1), (3, 7, 0)]
        """
        return [tuple(span) for span in self.places(text).spans().tolist()]

    def places(self, text: str) -> Places:
        """Return the positions of the words of a text, and the features that they form.

        Examples
        --------
        >>> counter = TextCounter(ngram_range=(1, 2))
        >>> rows = counter.count(["a red rose"])
        >>> places = counter.places("Red roses, RED ROSE")
        >>> places.words, places.runs.tolist()[-2:]
        (['red', 'roses', 'red', 'rose'], [[3, 4, 1, 1], [2, 4, 2, 3]])
        """
        pool, workspace = self._pool, self._borrow()
        places = find_places(self, workspace, text)
        pool.append(workspace)
        return places

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the state of the counter: a header for JSON, and tensors."""
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
        """Return a counter with this state, which counts and adds features like the original.

        A `ModelError` is raised for anything that `state` cannot have returned.
        """
        versions = ("version", OLD_VERSION, FORMAT_VERSION), ("hash_version", 1, HASH_VERSION)
        for name, oldest, newest in versions:
            if not oldest <= require_field(header, name, int) <= newest:
                raise ModelError(
                    f"The model counts text by {name} {header[name]}, and this Thresher by "
                    f"{newest}; take the Thresher that made it, or train it again."
                )
        header = {"fields": None, "gaps": False} | header  # missing in the oldest files
        if missing := [name for name in TextParameters.parameters if name not in header]:
            raise ModelError(f"The model's header lacks {missing[0]!r}; the file is damaged.")
        options = {name: header[name] for name in TextParameters.parameters}
        if header.get("linguistics") is not None:
            from thresher.text.linguistics import Linguistics

            state = require_field(header, "linguistics", dict)
            options["linguistics"] = Linguistics.from_state(state)
        counter = cls.from_plain(options)
        counter._cut_as(header["version"])
        if counter.hashing_bits is None:
            counter._space = Space.from_tensors(counter._space.kinds, tensors)
        return counter

    # Counting -------------------------------------------------------------------------------------

    def _count_in_threads(
        self, texts: Any, ranges: list[tuple[int, int]], job: Job, n_jobs: int
    ) -> list[CountedTexts]:
        """Return the rows of each range of texts, counted in several threads."""
        n_jobs, pool, first = min(n_jobs, len(ranges)), self._pool, self._borrow()
        # Threads that add features take turns and share the caches.
        others = [Workspace(self, first) if job.grow else self._borrow() for _ in range(n_jobs - 1)]
        idle, clocks = [first, *others], [Clock() for _ in ranges]
        first.refresh()

        def work(number: int, turns: Turns) -> CountedTexts:
            workspace, turn = idle.pop(), partial(turns.at, number) if job.grow else None
            chunk, how = texts[slice(*ranges[number])], Job(*job[:2], clocks[number], turn)
            result = self._count_chunk(chunk, how, workspace)
            idle.append(workspace)
            return result

        results = in_turns(work, len(ranges), n_jobs)
        for stage, seconds in chain.from_iterable(each.items() for each in clocks):
            job.clock[stage] = job.clock.get(stage, 0.0) + seconds
        pool.extend([first] if job.grow else idle)
        return results

    def _borrow(self) -> Workspace:
        """Take a workspace from the pool, or create one; the caller returns it unless it fails."""
        try:
            workspace = self._pool.pop()
        except IndexError:
            return Workspace(self)
        return workspace if workspace.space is self._space else Workspace(self)

    def _count_chunk(self, texts: Any, job: Job, workspace: Workspace) -> CountedTexts:
        """Return the rows of a chunk of texts, and the lengths of texts."""
        began, n_documents, space = perf_counter(), len(texts), self._space
        if job.turn is None:
            workspace.refresh()
        words = parts = fields = None
        in_fields: list[Codes] = []
        if self._fields:
            texts = texts if isinstance(texts, list) else texts.to_pylist()
            texts = [piece for text in texts for piece in split(text, self.fields)]
        # With a turn, codes are collected first, so that other threads wait as briefly as possible.
        collect = list if job.turn else iter
        if space.has_words:
            lengths = [np.zeros(1, np.int64)]
            codes = self._word_codes(texts, job, workspace, lengths, in_fields)
            words = count_rows(collect(codes), n_documents, workspace)
        if self.char_ngram_range is not None:
            token_ends = [np.zeros(1, np.int64)]
            codes = self._token_codes(texts, job, workspace, token_ends)
            tokens = count_rows(collect(codes), n_documents, workspace)
            lengths = token_ends if self.ngram_range is None else lengths
        numbered = perf_counter()
        if self.char_ngram_range is not None:
            workspace.cells = grown(workspace.cells, space.n_codes(PARTS))
            parts = workspace.token_forms.spread_rows(tokens, workspace.cells)
        if self._fields:
            fields = count_rows(in_fields, n_documents, workspace)
        with nullcontext() if job.turn is None or space.as_numbered else job.turn(TO_COLUMNS):
            words = None if self.ngram_range is None else words
            counts = space.to_columns((words, parts, fields), job.grow, job.least)
        job.clock["tokenize"] = job.clock.get("tokenize", 0.0) + numbered - began
        job.clock["count"] = job.clock.get("count", 0.0) + perf_counter() - numbered
        return counts, np.diff(np.concatenate(lengths)[:: self._n_pieces])

    def _batches(
        self, texts: Any, block: int, job: Job, buffers: Buffers, token_ends: list[np.ndarray]
    ) -> Iterator[tuple[Tokens, int, slice]]:
        """Yield the tokens of texts, chunk by chunk, when it is the turn of these texts.

        With fields, the texts are the pieces of each text. Besides the tokens, the number of
        earlier pieces is yielded, and which pieces of the chunk are the last ones of a text. The
        number of tokens up to the end of each piece is appended to `token_ends`.
        """
        n_tokens = n_done = 0
        batches = self._tokenizers[block].cut(texts, buffers)
        first = next(batches, None)  # tokenized before the turn
        with nullcontext() if job.turn is None else job.turn(block):
            for tokens in batches if first is None else chain([first], batches):
                token_ends.append(tokens.ends + n_tokens)
                yield tokens, n_done, slice(-(n_done + 1) % self._n_pieces, None, self._n_pieces)
                n_tokens, n_done = n_tokens + len(tokens.spans), n_done + len(tokens.ends)

    def _word_codes(
        self,
        texts: Any,
        job: Job,
        workspace: Workspace,
        token_ends: list[np.ndarray],
        in_fields: list[Codes],
    ) -> Iterator[Codes]:
        """Yield the codes of words and runs of words; append those of words in fields."""
        space, forms, history = self._space, workspace.word_forms, self._space.no_history.copy()
        batches = self._batches(texts, WORDS, job, workspace.buffers, token_ends)
        for tokens, n_done, last in batches:
            if forms is None:
                numbers, ends = space.number(WORDS, tokens, job.grow), tokens.ends
            else:
                numbers, ends = forms.values_of(tokens, forms.look_up(tokens, job.grow))
            if self._fields:
                in_fields.append(self._field_codes(numbers, ends, n_done, last))
            ends = ends[last].copy()  # the tokenizer overwrites its own
            codes = space.run_codes(numbers, ends, job.grow, history)
            if codes.ndim == 2:
                ends *= codes.shape[1]
            yield codes.ravel(), ends, space.n_codes(WORDS)

    def _token_codes(
        self, texts: Any, job: Job, workspace: Workspace, token_ends: list[np.ndarray]
    ) -> Iterator[Codes]:
        """Yield the numbers, among the surface forms, of the tokens from which parts are taken."""
        forms = workspace.token_forms
        batches = self._batches(texts, PARTS, job, workspace.buffers, token_ends)
        for tokens, _, last in batches:
            ids = forms.look_up(tokens, job.grow)
            yield ids, tokens.ends[last].copy(), int(forms.words.sizes[0])

    def _field_codes(
        self, numbers: np.ndarray, ends: np.ndarray, n_done: int, last: slice
    ) -> Codes:
        """Return the codes of the words that are in fields.

        `numbers` are the words of pieces of texts, `n_done` is the number of earlier pieces, and
        `last` selects the last piece of each text.
        """
        n_words = np.diff(ends, prepend=0, append=len(numbers))  # of each piece
        fields = (n_done + np.arange(len(n_words))) % self._n_pieces - 1
        is_inside = (fields >= 0) & (fields < len(self._fields))
        codes = self._space.field_codes(
            numbers[np.repeat(is_inside, n_words)], np.repeat(fields[is_inside], n_words[is_inside])
        )
        return codes, np.cumsum(n_words * is_inside)[:-1][last], self._space.n_codes(FIELDS)


def count_rows(batches: Iterable[Codes], n_documents: int, workspace: Workspace) -> Counts:
    """Return the count of each code in each document, in the order of first occurrence."""
    indptr = np.zeros(n_documents + 1, np.int64)
    indices, counts = np.empty(0, np.int32), np.empty(0, np.int32)
    # The start and end of the current row, and the number of rows before it.
    row = np.zeros(3, np.int64)
    for codes, ends, n_codes in batches:
        size = int(row[1]) + len(codes)
        indices, counts = grown(indices, size), grown(counts, size)
        workspace.cells = grown(workspace.cells, n_codes)
        count(codes, ends, len(codes), workspace.cells, row, indices, counts, indptr)
    indices.resize(row[1], refcheck=False)  # releases unused memory
    counts.resize(row[1], refcheck=False)
    return Counts(indptr, indices, counts)


def _stacked(results: list[CountedTexts], n_jobs: int) -> CountedTexts:
    """Return all rows and all lengths."""
    rows = np.cumsum([0, *(len(lengths) for _, lengths in results)])
    ends = np.cumsum([0, *(counts.indptr[-1] for counts, _ in results)])
    out = Counts.empty(rows[-1], ends[-1])

    def put(number: int) -> None:
        counts, here = results[number][0], slice(ends[number], ends[number + 1])
        out.indptr[rows[number] + 1 : rows[number + 1] + 1] = counts.indptr[1:] + ends[number]
        out.codes[here], out.counts[here] = counts.codes, counts.counts

    for _ in engine_for(n_jobs).map(put, range(len(results))):
        pass
    return out, np.concatenate([lengths for _, lengths in results])


def _checked_least(least: Any) -> np.ndarray:
    """Return the minimum number of documents for each block, after checking them."""
    are_numbers = all(is_whole(number) and 1 <= number < 2**31 for number in least)
    if len(least) != len(BLOCKS) or not are_numbers:
        raise ParameterError(
            f"least is {least!r}; it must be four whole numbers from 1: the minimum numbers of "
            "documents of words, runs of words, parts and words of fields."
        )
    return np.array(least, np.int64)
