"""Text to counts: words or n-grams in a vocabulary that grows, or hashed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from time import perf_counter
from typing import Any, Self

import numpy as np

from thresher._estimator import check_choice
from thresher._kernels.text.counter import count
from thresher.errors import ModelError, ParameterError
from thresher.rows import Rows
from thresher.text.header import describe, parameters
from thresher.text.ngrams import HashedNgrams, Ngrams
from thresher.text.surface import Folding, Surface
from thresher.text.tokens import RULES, Tokenizer, Tokens, as_texts, encode
from thresher.text.vocabulary import Vocabulary, grown, hash_words

__all__ = ["TextCounter", "check_whole"]


class TextCounter:
    """Count the words of texts, or their n-grams, in a vocabulary that grows or by hashing.

    Columns are numbered as they are first met. The same texts give the same numbers, in one batch
    or in many.

    Parameters
    ----------
    tokens : {"words", "book", "whitespace"}
        What a token is. "words": a run of at least `min_length` word characters, which is
        scikit-learn's rule. "book": a run of letters, a run of digits, or a single other character
        that is not white space; entities are not decoded. "whitespace": a run without white space.
        Default "words".
    token_pattern : str or None
        A regular expression whose matches are the tokens, or whose one capturing group is; slower,
        and instead of `tokens`. Default None.
    min_length : int
        Characters that a token must have, for the rule "words". Default 2.
    lowercase : bool
        Count upper and lower case together. Default True.
    ngram_range : tuple of two int
        Least and greatest number of words of the n-grams that are counted. Default (1, 1).
    char_ngram_range : tuple of two int or None
        Count the n-grams of characters of this least and greatest length within each word, with a
        space before it and after it, instead of words. Default None.
    hashing_bits : int or None
        Give each feature one of `2 ** hashing_bits` columns by its hash, and keep no vocabulary;
        different features may share a column. From 1 to 30. Default None: a vocabulary.
    linguistics : Linguistics or None
        Anything whose `fold` takes a list of distinct words and returns what each counts as, None
        for those to drop, before n-grams are made. Default None.

    Attributes
    ----------
    seconds : dict
        How long it took so far to find the tokens and their numbers, and to count them.

    Examples
    --------
    >>> counter = TextCounter()
    >>> rows = counter.count(["A rose is a rose", "is it?"])
    >>> counter.feature_names()
    ['rose', 'is', 'it']
    >>> rows.values.tolist(), rows.indices.tolist()
    ([2.0, 1.0, 1.0, 1.0], [0, 1, 1, 2])
    """

    def __init__(
        self,
        *,
        tokens: str = "words",
        token_pattern: str | None = None,
        min_length: int = 2,
        lowercase: bool = True,
        ngram_range: tuple[int, int] = (1, 1),
        char_ngram_range: tuple[int, int] | None = None,
        hashing_bits: int | None = None,
        linguistics: Folding | None = None,
    ) -> None:
        self.tokens = tokens
        self.token_pattern = token_pattern
        self.min_length = min_length
        self.lowercase = lowercase
        self.ngram_range = ngram_range
        self.char_ngram_range = char_ngram_range
        self.hashing_bits = hashing_bits
        self.linguistics = linguistics
        self._check()
        self._tokenizer = Tokenizer(tokens, token_pattern, min_length, bool(lowercase))
        self._vocabulary = Vocabulary()
        self._ngrams: Ngrams | HashedNgrams | None = None
        if hashing_bits is not None:
            self._ngrams = HashedNgrams(*ngram_range, hashing_bits)
        elif tuple(ngram_range) != (1, 1):
            self._ngrams = Ngrams(*ngram_range)
        self._surface = self._new_surface()
        self.seconds = {"tokenize": 0.0, "count": 0.0}

    def _check(self) -> None:
        check_choice(self, "tokens", tuple(RULES))
        check_whole(self, "min_length", 1)
        if self.hashing_bits is not None:
            check_whole(self, "hashing_bits", 1, 30)
        _check_pair(self, "ngram_range")
        if self.char_ngram_range is not None:
            _check_pair(self, "char_ngram_range")
            if tuple(self.ngram_range) != (1, 1):
                raise ParameterError(
                    f"TextCounter: ngram_range is {self.ngram_range!r} and char_ngram_range is "
                    f"{self.char_ngram_range!r}; give one of them: n-grams are of words or of "
                    "characters."
                )
        if self.linguistics is not None and not hasattr(self.linguistics, "fold"):
            raise ParameterError(
                f"TextCounter: linguistics is {self.linguistics!r}; it must have a method `fold`, "
                "as thresher.Linguistics has."
            )

    @property
    def n_features(self) -> int:
        """How many columns there are by now."""
        return len(self._vocabulary) if self._ngrams is None else self._ngrams.n_columns

    def count(self, texts: Any, grow: bool = True, threads: int = 1) -> Rows:
        """Return how often each feature stands in each text.

        Parameters
        ----------
        texts : list of str or Arrow array of strings
            One batch of documents; missing texts of an Arrow array are empty.
        grow : bool
            Add what is new to the vocabulary; else leave it out. Default True.
        threads : int
            How many threads to use where nothing is added; the result is the same. Default 1.
        """
        indptr, indices, counts = self.count_exactly(texts, grow, threads)
        return Rows(indptr, indices, counts.astype(np.float32), self.n_features)

    def count_exactly(
        self, texts: Any, grow: bool = True, threads: int = 1
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return `count`'s indptr, indices and values, these as whole numbers.

        Parameters
        ----------
        texts, grow, threads
            As for `count`.
        """
        if not is_whole(threads) or threads < 1:
            raise ParameterError(f"threads is {threads!r}; it must be a whole number from 1.")
        texts = as_texts(texts)
        grow = bool(grow) and self.hashing_bits is None
        if threads == 1 or grow:
            return self._count(texts, grow, self._surface)
        borders = np.linspace(0, len(texts), threads + 1).astype(int)
        parts = [texts[start:stop] for start, stop in pairwise(borders)]
        surfaces = [self._new_surface() for _ in parts]
        with ThreadPoolExecutor(threads) as pool:
            counted = list(pool.map(self._count, parts, [False] * threads, surfaces))
        starts = np.cumsum([0, *(indptr[-1] for indptr, _, _ in counted)])
        shifted = [part[0][1:] + start for part, start in zip(counted, starts, strict=False)]
        return (
            np.concatenate([np.zeros(1, np.int64), *shifted]),
            np.concatenate([indices for _, indices, _ in counted]),
            np.concatenate([counts for _, _, counts in counted]),
        )

    def feature_names(self) -> list[str]:
        """Return the name of each column; words of an n-gram have a space between.

        Hashed columns have no name of their own and are called "#0", "#1" and so on.
        """
        if isinstance(self._ngrams, HashedNgrams):
            return [f"#{column}" for column in range(self.n_features)]
        words = self._vocabulary.names()
        return words if self._ngrams is None else self._ngrams.names(words)

    def name_bytes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the names of all columns as UTF-8, and where each starts and ends in it."""
        if self._ngrams is None:
            return self._vocabulary.blob()
        return encode(self.feature_names())

    def prune(self, keep: np.ndarray) -> None:
        """Keep some columns, numbered anew from 0 in the same order, and forget the others.

        What is forgotten counts as new when it is met again.

        Parameters
        ----------
        keep : array of bool
            One for each column.
        """
        if isinstance(self._ngrams, HashedNgrams):
            raise ParameterError(
                "Hashed columns cannot be pruned, as there is no vocabulary to take them from; "
                "leave hashing_bits out."
            )
        keep = np.asarray(keep)
        if keep.dtype != bool or keep.shape != (self.n_features,):
            raise ParameterError(
                f"keep is an array of {keep.dtype} of shape {keep.shape}; it must have one bool "
                f"for each of the {self.n_features} columns."
            )
        if self._ngrams is not None:
            keep = self._ngrams.keep(keep, len(self._vocabulary))
        self._vocabulary.keep(keep)
        self._surface = self._new_surface()

    def spans(self, text: str) -> list[tuple[int, int, int]]:
        """Return where each feature stands in a text: start, end and column, or -1 if not known.

        An n-gram reaches from the start of its first word to the end of its last; an n-gram of
        characters stands where its word does. Words that the linguistics drop have no span.

        Parameters
        ----------
        text : str
            One document, as it was given; upper case and all.

        Examples
        --------
        >>> counter = TextCounter()
        >>> rows = counter.count(["a rose"])
        >>> counter.spans("My ROSE!")
        [(0, 2, -1), (3, 7, 0)]
        """
        low, high = self.ngram_range
        history = None if self._ngrams is None else self._ngrams.history()
        pieces = []
        for tokens, starts, ends in self._tokenizer.places(text):
            each = tokens._replace(ends=np.arange(1, len(starts) + 1))
            values, value_ends = self._values(each, False, self._surface)
            place = np.repeat(np.arange(len(starts)), np.diff(value_ends, prepend=0))
            columns = self._columns(values, np.zeros(0, np.int64), False, history)
            pieces.append((starts[place], ends[place], columns.reshape(-1, high - low + 1)))
        if not pieces:
            return []
        starts, ends, columns = (np.concatenate(one) for one in zip(*pieces, strict=True))
        return [
            (int(starts[i - length + 1]), int(ends[i]), int(columns[i, length - low]))
            for i in range(len(starts))
            for length in range(low, high + 1)
            if i - length + 1 >= 0
        ]

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return all that is needed to go on counting: what JSON can hold, and tensors."""
        header = describe(self)
        if isinstance(self._ngrams, HashedNgrams):
            return header, {}
        words, offsets = self._vocabulary.blob()
        tensors = {"words": words.copy(), "word_offsets": offsets.copy()}
        if self._ngrams is not None:
            tensors |= self._ngrams.tensors()
        return header, tensors

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Return a counter that counts, and goes on growing, as the one that gave its `state`.

        Parameters
        ----------
        header, tensors
            As returned by `state`.

        Raises
        ------
        ModelError
            They are not what `state` returns.
        """
        try:
            made = cls(**parameters(header))
        except ParameterError as error:
            raise ModelError(f"The model's way to count text makes no sense: {error}") from error
        if made.hashing_bits is not None:
            return made
        made._vocabulary = Vocabulary.from_tensors(tensors)
        if made._ngrams is not None:
            n_words = len(made._vocabulary)
            made._ngrams = Ngrams.from_tensors(*made.ngram_range, tensors, n_words)
        return made

    def _new_surface(self) -> Surface | None:
        if self.linguistics is None and self.char_ngram_range is None:
            return None
        return Surface(self.linguistics, self.char_ngram_range, self._resolve)

    def _resolve(self, tokens: Tokens, grow: bool) -> np.ndarray:
        """Return the number, or the hash, of each token's word."""
        if self.hashing_bits is not None:
            return hash_words(tokens)
        return self._vocabulary.look_up(tokens, grow)

    def _values(
        self, tokens: Tokens, grow: bool, surface: Surface | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the number, or the hash, of all that is counted, and the ends of the documents."""
        if surface is not None:
            return surface.spread(tokens, grow)
        return self._resolve(tokens, grow), tokens.ends

    def _columns(
        self, values: np.ndarray, ends: np.ndarray, grow: bool, history: np.ndarray | None
    ) -> np.ndarray:
        if self._ngrams is None:
            return values
        assert history is not None
        return self._ngrams.columns(values, ends, grow, history)

    def _count(
        self, texts: Any, grow: bool, surface: Surface | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        history = None if self._ngrams is None else self._ngrams.history()
        tally, began = _Tally(len(texts)), perf_counter()
        for tokens in self._tokenizer.cut(texts):
            values, ends = self._values(tokens, grow, surface)
            tokenized = perf_counter()
            columns = self._columns(values, ends, grow, history)
            if columns.ndim == 2:
                ends = ends * columns.shape[1]
            tally.add(columns.ravel(), ends, self.n_features)
            counted = perf_counter()
            self.seconds["tokenize"] += tokenized - began
            self.seconds["count"] += counted - tokenized
            began = counted
        return tally.result()


class _Tally:
    """The counts of one batch, and the row that is being counted."""

    def __init__(self, n_documents: int) -> None:
        self.indptr = np.zeros(n_documents + 1, np.int64)
        self.indices = np.empty(0, np.int32)
        self.counts = np.empty(0, np.int32)
        self.cells = np.zeros(0, np.int32)
        self.row = np.zeros(3, np.int64)  # its start, its end, how many were before it

    def add(self, columns: np.ndarray, ends: np.ndarray, n_features: int) -> None:
        """Count the next columns; documents end where `ends` says."""
        size = int(self.row[1]) + len(columns)
        if size > len(self.indices):  # memory costs nothing until it is written to
            self.indices, self.counts = grown(self.indices, 4 * size), grown(self.counts, 4 * size)
        self.cells = grown(self.cells, n_features)
        out = self.indices, self.counts, self.indptr
        count(columns, ends, len(columns), self.cells, self.row, *out)

    def result(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        for array in (self.indices, self.counts):
            array.resize(self.row[1], refcheck=False)  # gives back what is not used, in place
        return self.indptr, self.indices, self.counts


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number, which True and False are not meant to be."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def check_whole(owner: object, name: str, low: int, high: int | None = None) -> None:
    """Raise unless the parameter `name` of `owner` is a whole number from `low` to `high`."""
    value = getattr(owner, name)
    if not is_whole(value) or value < low or (high is not None and value > high):
        up_to = "" if high is None else f" to {high}"
        raise ParameterError(
            f"{type(owner).__name__}: {name} is {value!r}; it must be a whole number from "
            f"{low}{up_to}."
        )


def _check_pair(owner: object, name: str) -> None:
    pair = getattr(owner, name)
    right = isinstance(pair, tuple | list) and len(pair) == 2 and all(map(is_whole, pair))
    if not right or not 1 <= pair[0] <= pair[1]:
        raise ParameterError(
            f"TextCounter: {name} is {pair!r}; it must be two whole numbers from 1, the least and "
            "the greatest, such as (1, 2)."
        )
