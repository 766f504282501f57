"""Read one text in one compiled call: from characters to scores and categories."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from thresher._kernels import reader as kernels
from thresher._kernels.text import FIELDS, PARTS, RUNS, WORDS
from thresher.fields import split
from thresher.rows import Rows
from thresher.text import tokens
from thresher.text.counter import MOST_CELLS, TextCounter
from thresher.text.space import HashedSpace
from thresher.text.vocabulary import MOST_SURFACE_FORMS, SurfaceForms

if TYPE_CHECKING:
    from thresher.model.model import Model

# Longer texts are read as batches are, which costs them nothing that is noticed.
MOST_CHARACTERS = 1 << 15
LEAST_CHARACTERS = 1 << 11  # for which a workspace has room from the start

NO_NUMBERS, NO_HASHES = np.zeros(0, np.int32), np.zeros(0, np.uint64)
NO_STRENGTH = (*(np.zeros(0, np.float32) for _ in range(3)), np.zeros(0, np.uint8), 0)
NO_WEIGHTS = np.zeros((0, 0), np.float32), np.float32(0)
NO_LOOK = 0, 0, *(np.zeros(0, dtype) for dtype in kernels.LOOK)
NO_LIMITS = np.zeros(0), 0, 0

Limits = tuple[np.ndarray, int, int]  # thresholds; least and most categories of a text


class SingleTextReader:
    """Reads texts singly, with the results of `Model.scores` and `Model.labels`, bit for bit.

    It holds the addresses of the model's arrays, so it is valid until the model changes. Any number
    of threads can read.
    """

    def __init__(self, model: Model) -> None:
        self._features, self._model = model.features, model
        features, learner, look = model.features, model.learner, model.second_look
        # Concepts come before the columns of the counts and are left to Python.
        columns = None if features.n_concepts else features.columns
        numbers = None if columns is None else columns.numbers
        self._counter = CompiledCounter(features.counter, numbers)
        self._categories = model.categories.labels
        strength, weights, tables = features.tables(), learner.plain_weights(), NO_LOOK
        shape = features.n_columns, len(self._categories)
        if strength is None or weights is None or not _are_plain(weights[0], *shape):
            weights = None
        elif look is not None:
            tables = look.tables() or NO_LOOK
            weights = None if tables is NO_LOOK else weights
        *factors, scaling = strength or NO_STRENGTH
        matrix, always_on = weights or NO_WEIGHTS
        n_candidates, n_kinds, *look_arrays = tables
        width = max(1, matrix.shape[1])
        plan = np.array([*self._counter.plan, scaling, width, n_candidates, n_kinds], np.int64)
        arrays = (plan, *self._counter.arrays, *factors, matrix, np.array([always_on]))
        # The kernel gets addresses alone; this keeps the arrays alive.
        self._arrays: Any = (*arrays, *look_arrays)
        self._addresses = kernels.array_addresses(kernels.MODEL, self._arrays)
        self._workspaces: list[Workspace] = []  # for threads that read at the same time

    def scores(self, texts: list[str]) -> np.ndarray:
        """Return the scores of texts."""
        scores = np.empty((len(texts), len(self._categories)), np.float32)
        for text, row in zip(texts, scores, strict=True):
            self._read(text, NO_LIMITS, row)
        return scores

    def labels(self, text: str, model: Model) -> list[Any]:
        """Return the labels of a text, those farthest above their thresholds first."""
        decisions, labels = model.decisions, self._categories
        scores = np.empty(len(labels), np.float32)
        limits = decisions.thresholds, *decisions.limits
        if decisions.abstain_below is not None or len(decisions.thresholds) != len(labels):
            limits = NO_LIMITS
        chosen = self._read(text, limits, scores)
        if chosen is None or limits is NO_LIMITS:
            return model.labels_of(scores[None])[0]
        return [labels[i] for i in chosen]

    def _read(self, text: str, limits: Limits, scores: np.ndarray) -> list[int] | None:
        """Write the scores; return the numbers of the categories, or None if they are too many."""
        if len(text) > MOST_CHARACTERS:
            rows = self._features.apply(self._features.count([text]))
            scores[:] = self._model.score_rows(rows)[0]
            return None
        try:
            workspace = self._workspaces.pop()
        except IndexError:
            workspace = Workspace(self._counter)
        document = self._counter.characters(text)
        if document[0].size > workspace.size:
            workspace.reserve(document[0].size)
        n = kernels.read(*document, self._addresses, workspace.addresses, limits, scores)
        if n == kernels.UNSEEN:
            workspace.learn(text)
            n = kernels.read(*document, self._addresses, workspace.addresses, limits, scores)
        if n == kernels.SCORED:
            n = kernels.look_again(self._addresses, workspace.addresses, limits, scores)
        chosen = workspace.chosen(n) if n >= 0 else None
        if n < -1:
            scores[:] = self._remaining_scores(workspace, is_weighed=n == kernels.WEIGHED)
        self._workspaces.append(workspace)
        return chosen

    def _remaining_scores(self, workspace: Workspace, is_weighed: bool) -> np.ndarray:
        """Return the scores of a text for which the kernel stopped after counting or weighing."""
        features = self._features
        counts, strengths = workspace.rows(features.n_columns - features.n_concepts)
        if not is_weighed:
            strengths = features.apply(features.with_concepts(counts))
        return np.asarray(self._model.score_rows(strengths)[0])


def _are_plain(weights: np.ndarray, n_columns: int, n_categories: int) -> bool:
    """Return True if the kernel can sum these weights as `Learner.score_rows` does."""
    is_plain = weights.dtype == np.float32 and weights.flags.c_contiguous and weights.ndim == 2
    return is_plain and len(weights) == 1 + n_columns and weights.shape[1] >= n_categories


class CompiledCounter:
    """The arrays and numbers of a counter that the kernel `read` needs.

    Valid until the counter learns something. Only for counters that it `supports`.
    """

    def __init__(self, counter: TextCounter, numbers: np.ndarray | None) -> None:
        space = counter._space
        runs, shapes = space.runs, space.runs.shapes
        self._lowercase = bool(counter.lowercase)
        self._tokenizers = counter._tokenizers
        self._fields = counter.fields
        self.n_fields, self.n_pieces = len(counter._fields), counter._n_pieces
        self.n_parts = 0
        low = high = 1
        if counter.char_ngram_range is not None:
            low, high = counter.char_ngram_range
            self.n_parts = high - low + 1  # that begin at a character, at most
        self.is_hashed = is_hashed = isinstance(space, HashedSpace)
        hashed, salts = [0] * 5, np.zeros(0, np.uint64)
        if isinstance(space, HashedSpace):
            salts, hashed = space.salts, [int(space.masks[WORDS])]
            for block in (PARTS, FIELDS):  # words begin at column 0
                hashed += [int(space.masks.get(block, 0)), int(space.firsts.get(block, 0))]
        has_words, has_columns = counter.ngram_range is not None, not space.as_numbered
        kinds = has_words, bool(self.n_parts), self.n_fields, is_hashed, has_columns
        self.folding, self.space = counter.linguistics, space
        self.plan = *kinds, runs.high, *hashed, low, high, counter.linguistics is not None
        words, parts = (
            (vocabulary.slots, vocabulary.words.view("<u8"), vocabulary.offsets, vocabulary.sizes)
            for vocabulary in (space.words, space.parts)
        )
        run_arrays = (
            np.stack([shapes.parents, shapes.lengths]), shapes.gaps, shapes.counted,
            runs.slots, runs.pairs, runs.sizes,
        )  # fmt: skip
        columns = (space.columns[block] for block in (WORDS, RUNS, PARTS, FIELDS))
        numbers = NO_NUMBERS if numbers is None else numbers
        # In the order of `kernels.MODEL`.
        self.arrays = *words, *run_arrays, *parts, salts, *columns, numbers
        self.n_shapes = len(shapes.patterns)
        self.n_counted = len(shapes.counted)
        self.n_cells = _n_cells(counter)
        self._rules: dict[int, tuple[np.ndarray, Any]] = {}  # addresses, and the arrays there

    @staticmethod
    def supports(counter: TextCounter) -> bool:
        """Return True if kernels do all that the counter does, once its words are known."""
        by_pattern = any(cutter.pattern is not None for cutter in counter._tokenizers.values())
        has_folded_parts = counter.char_ngram_range is not None and counter._cuts_words
        is_plain = counter.linguistics is None or not has_folded_parts
        return is_plain and not by_pattern and _n_cells(counter) <= MOST_CELLS

    def pieces(self, text: str) -> list[str]:
        """Return the text before the fields, each field, and the text after them."""
        return split(text, self._fields) if self.n_fields else [text]

    def words(self, text: str) -> Iterator[tokens.Tokens]:
        """Yield the words of a text, before linguistics."""
        return self._tokenizers[WORDS].cut(self.pieces(text))

    def characters(self, text: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the characters of a text, the offsets of its pieces, and the rules of tokens."""
        pieces = self.pieces(text)
        if text.isascii():
            data = np.frombuffer("".join(pieces).encode(), np.uint8)
            return data, np.array([0, *accumulate(map(len, pieces))]), self.rules(0x80)
        how = self._lowercase, self._tokenizers[WORDS].composes
        data, offsets, bound = tokens.characters_of(pieces, *how)
        return data, offsets, self.rules(bound)

    def rules(self, bound: int) -> np.ndarray:
        """Return the addresses of the rules of tokens for texts of characters below `bound`."""
        if bound not in self._rules:
            words, parts = (_rule(self._tokenizers[block], bound) for block in (WORDS, PARTS))
            arrays = words + parts
            # Of several threads the first one wins: its arrays may be in use already.
            self._rules.setdefault(bound, (kernels.array_addresses(kernels.RULES, arrays), arrays))
        return self._rules[bound][0]


def _n_cells(counter: TextCounter) -> int:
    """Return the number of different codes."""
    return max(counter._space.n_codes(block) for block in (WORDS, PARTS, FIELDS))


def _rule(tokenizer: tokens.Tokenizer, bound: int) -> tuple[np.ndarray, ...]:
    rule, lowercase = tokenizer.rule, tokenizer.lowercase
    table, ranges = tokens.character_table(rule, lowercase, bound), tokens.ascii_ranges(rule)
    return table, ranges, np.array([32 if lowercase else 0, tokenizer.min_length])


class Workspace:
    """The arrays that a reader writes to while it reads a text, reused for the next text."""

    def __init__(self, counter: CompiledCounter) -> None:
        self._counter = counter
        self._forms = SurfaceForms(counter.space, WORDS, counter.folding, None)
        self.size = 0
        self.reserve(LEAST_CHARACTERS)

    def reserve(self, size: int) -> None:
        """Make room for a text of `size` units."""
        counter = self._counter
        self.size = max(size, min(2 * self.size, MOST_CHARACTERS))
        # Bytes of UTF-8, with separators.
        n_bytes = len(tokens.buffer(3 * (self.size + counter.n_pieces)))
        n_tokens = n_bytes + 16
        n_padded = n_bytes + 2 * n_tokens if counter.n_parts else 0
        n_grams = n_padded * counter.n_parts
        n_codes, n_ids = n_tokens * counter.n_counted, max(n_tokens, n_grams)
        n_hashes = n_ids if counter.is_hashed else 0
        n_in_fields = n_tokens if counter.n_fields else 0
        n_entries, n_most = n_codes + n_grams + n_in_fields, max(n_codes, n_grams, n_in_fields)
        sizes = (  # of the arrays of ROOM; -1 for the bytes before, in blocks of eight
            n_bytes, -1, n_bytes, n_bytes, -1, n_tokens, n_tokens, counter.n_pieces,
            kernels.N_SMALL, n_ids, n_hashes, n_codes, counter.n_shapes, counter.n_shapes + 1,
            n_padded, -1, n_grams, n_tokens, counter.n_cells, n_most, n_most, n_in_fields,
            n_entries, n_entries, n_entries, 2, kernels.MOST_CHOSEN, 2, 1,
        )  # fmt: skip
        self._arrays: list[np.ndarray] = []
        for n, dtype in zip(
            sizes, kernels.ROOM, strict=False
        ):  # memory costs nothing until it is used
            is_view = n < 0
            self._arrays.append(self._arrays[-1].view(dtype) if is_view else np.zeros(n, dtype))
        self._set_addresses()

    def learn(self, text: str) -> None:
        """Add the words of a text, with their numbers, to the table that the kernel reads."""
        if len(self._forms.words) > MOST_SURFACE_FORMS:
            self._forms.reset()
        for words in self._counter.words(text):
            self._forms.look_up(words, grow=False)
        self._set_addresses()

    def _set_addresses(self) -> None:
        forms, words = self._forms, self._forms.words
        is_hashed = self._counter.is_hashed
        values = (NO_NUMBERS, forms.values) if is_hashed else (forms.values, NO_HASHES)
        known = words.slots, words.words.view("<u8"), words.offsets, words.sizes, forms.starts
        self._held = *self._arrays, *known, *values  # keeps the arrays alive
        self.addresses = kernels.array_addresses(kernels.ROOM, self._held)

    def chosen(self, n: int) -> list[int]:
        """Return the first `n` categories that were chosen."""
        return list(self._arrays[kernels.CHOSEN][:n].tolist())

    def rows(self, n_columns: int) -> tuple[Rows, Rows]:
        """Return what was counted: the counts, and the strengths, if they were computed."""
        indices, counts, values, (n, n_tokens) = self._arrays[kernels.RESULTS : kernels.RESULTS + 4]
        frame, lengths = (np.array([0, n]), indices[:n].copy()), np.array([n_tokens])
        return (
            Rows(*frame, counts[:n].astype(np.float32), n_columns, lengths),
            Rows(*frame, values[:n].copy(), n_columns, lengths),
        )
