"""From counts to strengths: which columns there are, and how much each matters in a document."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Self, get_args

import numpy as np

from thresher.errors import DocumentError, ModelError, param
from thresher.examples import Examples
from thresher.features.concepts import Concepts
from thresher.features.selection import SELECTIONS, select
from thresher.features.strength import (
    KINDS,
    NO_BLOCK_WEIGHTS,
    SCALINGS,
    BlockWeights,
    Strength,
    Weighting,
)
from thresher.parameters import Choice, Estimator, Kind, Number, Share, Whole, parameter
from thresher.rows import Rows, extended
from thresher.state import component_state, require_field, require_tensor
from thresher.text import BLOCKS, TextCounter
from thresher.text.space import Counts

Normalization = Literal["sum", "l2", "none"]
Selection = Literal["chi-square", "information-gain"]

_declare = partial(parameter, panel="Features")
CONCEPTS = len(BLOCKS)  # the number of the block of concepts, after the counted blocks
ALL_BLOCKS = (*BLOCKS, "concepts")
SIZES: Any = replace(Concepts.parameters["n_concepts"].kind, optional=True)  # type: ignore

Clock = dict[str, float]
TF_IDF: dict[str, Any] = {"kind": "tf-idf", "sublinear_tf": True, "normalize": "l2"}
CHAR_NGRAMS = ALL_BLOCKS.index("parts")
LEAST_MEMBERSHIP = 0.01  # of a document in a concept; less is noise and counts as 0
MOST_TABLED_COUNTS = 1024  # counts whose strength the reader of single texts looks up
MEMBERSHIPS_AT_ONCE = 16_000_000  # computed together: 64 MB
# Which words make up concepts; chosen by folds on Reuters, and by what a person can read.
MOST_SHARE = 0.2  # a word in a larger share of the documents belongs to no concept,
FEW_DOCUMENTS = 100  # unless it is in no more documents than these
# A word must be in one of so many documents, but needs to be in no more than five.
DOCUMENTS_PER_NEEDED, MOST_NEEDED = 200, 5
MOST_DOCUMENTS = 50_000  # documents that concepts are learned from; of more, a sample is taken
MOST_MEMBERSHIPS = 2**28  # memberships of that sample: 2 GB while concepts are learned


@dataclass(frozen=True)
class ByBlock(Kind):
    """A value for all blocks, or a dict of values for some of them."""

    kind: Kind
    blocks: tuple[str, ...] = BLOCKS

    def allows(self, value: Any) -> bool:
        if not isinstance(value, Mapping):
            return self.kind.problem(value) is None
        return set(value) <= set(self.blocks) and not any(map(self.kind.problem, value.values()))

    def bounds(self) -> str:
        return f"{self.kind.bounds()}; or a dict of such for some of {', '.join(self.blocks)}"

    def describe(self) -> str:
        return f"{self.kind.describe()} or dict"

    def placeholder(self) -> str:
        return f"{self.kind.placeholder()}|words=..,runs=.."

    def parse(self, text: str) -> Any:
        if "=" not in text:
            return self.kind.parse(text)
        settings = (setting.partition("=") for setting in text.split(","))
        return {name.strip(): self.kind.parse(value.strip()) for name, _, value in settings}


def of_blocks(value: Any, default: Any) -> list[Any]:
    """Return the value for each block, given one value for all or a dict for some of them."""
    if isinstance(value, Mapping):
        return [value.get(name, default) for name in ALL_BLOCKS]
    return [value] * len(ALL_BLOCKS)


class FeatureParameters(Estimator):
    """Parameters of the way from counts to strengths."""

    strength: Weighting | None = _declare(
        default=None,
        kind=Choice((None, *KINDS)),
        words="""How counts are turned into strengths (term weights); the default depends on the
        learner. "tf-idf" takes logarithms of counts and scales documents to length one.""",
        flag="--strength",
    )
    normalize: Normalization | None = _declare(
        default=None,
        kind=Choice((None, *get_args(Normalization))),
        words="""How the strengths of a document are scaled; the default depends on the learner. If
        `strength` is given and is not "tf-idf", they are not scaled by default.""",
        flag="--normalize",
    )
    min_df: Any = _declare(
        default=1,
        kind=ByBlock(Share()),
        words="""Leave out features that occur in fewer than this number of documents. A float is a
        share of the documents; a dict has a number for each block, {"runs": 2, "parts": 3}. When
        the model learns more documents, new words are added at once, other features when they have
        occurred in that many documents.""",
        flag="--min-df",
    )
    max_df: int | float = _declare(
        default=1.0,
        kind=Share(),
        words="""Leave out features that occur in more than this number of documents. A float is a
        share of them.""",
        flag="--max-df",
    )
    max_features: int | None = _declare(
        default=None,
        kind=Whole(1, optional=True),
        words="The maximum number of features; the most frequent ones are kept.",
        flag="--max-features",
    )
    n_selected: int | None = _declare(
        default=None,
        kind=Whole(1, optional=True),
        words="The number of features to select by their association with the categories.",
        flag="--select",
    )
    select_by: Selection = _declare(
        default="chi-square",
        kind=Choice(get_args(Selection)),
        words="The criterion for selecting features.",
        flag="--select-by",
    )
    block_weights: Any = _declare(
        default=1.0,
        kind=ByBlock(Number(0, open_low=True), ALL_BLOCKS),
        words="""Factors for the strengths of words, runs, parts, fields and concepts: a number for
        all, or numbers for some of these kinds. In Python, the latter is a dict, such as {"runs":
        0.9, "parts": 0.6}. They are applied before documents are scaled, but for concepts after
        it.""",
        flag="--block-weights",
    )
    concepts: Any = _declare(
        default=None,
        kind=SIZES,
        words="""Add this number of concepts as features: groups of words that tend to occur
        together; the value is the share of the concept in the document (`Concepts`). Several
        numbers, such as [100, 200], mean several models whose concepts are all added.""",
        flag="--concepts",
    )


@dataclass(frozen=True, eq=False)
class Numbering:
    """Which columns of the counts are features, and the number of each among the features.

    Attributes
    ----------
    numbers : array of int32
        The feature of each column of the counts; -1 for a column that is left out.
    n_columns : int
        The number of features.
    blocks, fields : array of uint8
        The block of each feature, and its field as `Features.fields` has it.
    is_hashed : bool
        Whether the number of a column is its name, so that features have no other number.
    """

    numbers: np.ndarray
    n_columns: int
    blocks: np.ndarray
    fields: np.ndarray
    is_hashed: bool = False

    @classmethod
    def hashed(cls, keep: np.ndarray, blocks: np.ndarray, fields: np.ndarray) -> Numbering:
        """Return a numbering in which hashed columns have their own number."""
        numbers = np.where(keep, np.arange(len(keep)), -1).astype(np.int32)
        return cls(numbers, len(keep), blocks, fields, is_hashed=True)

    @classmethod
    def as_met(cls, counts: Examples, blocks: np.ndarray, fields: np.ndarray) -> Numbering:
        """Number the columns in the order in which they first occur in some documents.

        A counter that counts only these documents assigns the same numbers. Concepts come first,
        even if no document belongs to them. Columns that do not occur are left out. `blocks` and
        `fields` have an element for each column of the counts.
        """
        numbers, n = np.full(counts.n_columns, -1, np.int32), counts.n_concepts
        numbers[:n] = np.arange(n)
        for rows, _ in counts:
            for _, some in rows.pieces():
                new, first = np.unique(some.indices[numbers[some.indices] < 0], return_index=True)
                numbers[new[np.argsort(first)]] = np.arange(n, n + len(new))
                n += len(new)
        in_order = np.argsort(numbers, kind="stable")[len(numbers) - n :]
        return cls(numbers, n, blocks[in_order], fields[in_order])

    def pruned(self, keep: np.ndarray) -> Numbering:
        """Return a numbering of some of the features, which get new numbers unless hashed."""
        if self.is_hashed:
            return Numbering.hashed(keep & (self.numbers >= 0), self.blocks, self.fields)
        new = np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32)
        numbers = np.where(self.numbers >= 0, new[self.numbers], -1)
        n_columns = int(np.count_nonzero(keep))
        return Numbering(numbers, n_columns, self.blocks[keep], self.fields[keep])

    def after_concepts(self, n: int) -> Numbering:
        """Return a numbering with `n` concepts before the other columns."""
        numbers = np.where(self.numbers >= 0, self.numbers + n, -1)
        numbers = np.concatenate([np.arange(n), numbers]).astype(np.int32)
        blocks, fields = _after_concepts(n, self.blocks), _after_concepts(n, self.fields, 0)
        return Numbering(numbers, n + self.n_columns, blocks, fields, self.is_hashed)

    def of_counts(self) -> np.ndarray:
        """Return blocks and fields of all columns of the counts; 0 for those that are left out."""
        both, inside = np.zeros((2, len(self.numbers)), np.uint8), self.numbers >= 0
        both[:, inside] = np.stack([self.blocks, self.fields])[:, self.numbers[inside]]
        return both

    def apply(self, rows: Rows) -> Rows:
        """Return the rows with features for columns."""
        return rows.renumbered(self.numbers, self.n_columns)


class Features:
    """From texts to strengths: a counter, concepts, a selection of columns and a `Strength`.

    Concepts have the first columns. The counts of a document hold its memberships in them, and they
    stay when words are added.

    Parameters
    ----------
    parameters : FeatureParameters
        How features are selected and strengths computed.
    preferred : dict
        The arguments of `Strength` that suit the learner, used where `parameters` give none.
    counter : TextCounter or None
        Counts the features of texts; None for documents that have been counted, as for a fold.
    columns : Numbering, optional
        Which columns of the counts are features; by default all of them.

    Examples
    --------
    >>> features = Features(FeatureParameters(), {"kind": "sqrt"}, TextCounter())
    >>> rows = features.apply(features.count(["a rose is a rose is a rose"], grow=True))
    >>> features.names(rows.indices), rows.values.round(2).tolist()
    (['rose', 'is'], [1.73, 1.41])
    """

    def __init__(
        self,
        parameters: FeatureParameters,
        preferred: dict[str, Any],
        counter: TextCounter | None,
        columns: Numbering | None = None,
    ) -> None:
        values = {name: getattr(parameters, name) for name in FeatureParameters.parameters}
        self.parameters = FeatureParameters(**values)
        self.parameters.check_parameters()
        self.strength = _strength(self.parameters, preferred)
        self.counter: TextCounter = counter  # type: ignore[assignment]  # None for a fold
        self.columns = columns
        self.concepts: Concepts | None = None
        self.n_concepts = 0  # the number of concepts among the columns of the counts
        self.least_membership = LEAST_MEMBERSHIP
        self.n_sampled = 0  # documents that concepts were learned from
        self.doubts: list[str] = []  # about the concepts
        self.n_spared = 0  # columns left out to save memory
        self._idle = np.zeros(0, bool)  # words that only concepts use, until they are learned
        self._min_df = of_blocks(self.parameters.min_df, 1)[:CONCEPTS]
        *weights, concept_weight = of_blocks(self.parameters.block_weights, 1.0)
        self._weights = None if set(weights) == {1.0} else np.array(weights, np.float32)
        self._concept_weight = np.float32(concept_weight)

    @property
    def n_columns(self) -> int:
        """The number of columns of the strengths."""
        if self.columns is not None:
            return self.columns.n_columns
        return self.n_concepts + self.counter.n_features

    @property
    def blocks(self) -> np.ndarray:
        """The block of each column, an index into `ALL_BLOCKS`."""
        if self.columns is not None:
            return self.columns.blocks
        return _after_concepts(self.n_concepts, self.counter.blocks)

    def fields(self) -> np.ndarray:
        """Return 1 + the number of the field whose words each column counts, or 0 for no field.

        It is 0 too for hashed columns that several fields share.

        Examples
        --------
        >>> features = Features(FeatureParameters(), {"kind": "sqrt"}, TextCounter(fields="lead"))
        >>> rows = features.count(["Wheat up\\nWheat rose"], grow=True)
        >>> features.names([0, 3, 6]), features.fields().tolist()
        (['wheat', 'first-line:wheat', 'lead:rose'], [0, 0, 0, 1, 1, 2, 2])
        """
        if self.columns is not None:
            return self.columns.fields
        return _after_concepts(self.n_concepts, self.counter.field_numbers(), 0)

    @property
    def is_hashed(self) -> bool:
        """Whether the number of a column is its name."""
        columns = self.columns
        return self.counter.hashing_bits is not None if columns is None else columns.is_hashed

    def fit_concepts(
        self,
        counts: Examples,
        unlabelled: Rows | None = None,
        *,
        seed: int = 0,
        n_jobs: int = 1,
        progress: Any = None,
    ) -> Examples:
        """Learn concepts from counts, and return the counts with memberships before the words.

        Parameters
        ----------
        counts : Examples
            The counts.
        unlabelled : Rows, optional
            Counts of documents without labels, for the concepts only.
        seed, n_jobs, progress
            As for `Concepts`.
        """
        concepts = Concepts(self.parameters.concepts, random_state=seed)
        concepts.check_parameters()
        rows, is_word = self._rows_for_concepts(counts, unlabelled, seed)
        self.n_sampled = rows.n_rows
        concepts.min_df = int(np.clip(rows.n_rows // DOCUMENTS_PER_NEEDED, 1, MOST_NEEDED))
        concepts.max_df = max(int(MOST_SHARE * rows.n_rows), FEW_DOCUMENTS)
        how: Any = {"n_jobs": n_jobs, "progress": progress, "keep_partial": False}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.concepts = concepts.fit_rows(rows, columns=is_word, **how)
        self.doubts = [str(warning.message) for warning in caught]
        concepts.memberships_ = concepts.memberships_[:0]  # computed below
        self.n_concepts = self.concepts.n_total_
        if self.columns is not None:
            self.columns = self.columns.after_concepts(self.n_concepts)
        width = self.n_concepts + self._n_counted(counts)
        counts = self._mapped(counts, partial(self.with_concepts, n_jobs=n_jobs), width)
        counts.n_concepts = self.n_concepts
        return counts

    def _rows_for_concepts(
        self, counts: Examples, unlabelled: Rows | None, seed: int
    ) -> tuple[Rows, np.ndarray]:
        """Return the counts that concepts are learned from, and which columns are words.

        Of many documents a sample is taken, and of those without labels another. If no column is a
        word, all count as words.
        """
        blocks = self.counter.blocks if self.columns is None else self.columns.of_counts()[0]
        is_word = blocks == 0 if (blocks == 0).any() else np.ones(len(blocks), bool)
        n_kinds = 1 if unlabelled is None else 2
        most = MOST_MEMBERSHIPS // (n_kinds * int(np.sum(self.parameters.concepts)))
        most, generator = min(MOST_DOCUMENTS, most), np.random.default_rng(seed)
        chosen = _sample(len(counts), most, generator)
        sample = [rows.keep(is_word[: rows.n_columns], False) for rows, _ in counts.take(chosen)]
        if unlabelled is not None:
            more = unlabelled.take(_sample(unlabelled.n_rows, most, generator))
            sample.append(more.keep(is_word, False))
        return Rows.concatenate(sample), is_word

    def with_concepts(self, counts: Rows, n_jobs: int = 1) -> Rows:
        """Return counts with the memberships of each document in the concepts before its words."""
        if self.concepts is None:
            return counts
        size = max(1, MEMBERSHIPS_AT_ONCE // self.n_concepts)
        if counts.n_rows > size:
            groups = np.split(np.arange(counts.n_rows), range(size, counts.n_rows, size))
            return Rows.concatenate([self.with_concepts(counts.take(g), n_jobs) for g in groups])
        memberships = self.concepts.memberships(counts, n_jobs)
        is_in = memberships >= self.least_membership
        ends = np.append(0, np.cumsum(is_in.sum(1)))
        concepts = Counts(ends, np.nonzero(is_in)[1], memberships[is_in])
        words = Counts(counts.indptr, counts.indices + np.int32(self.n_concepts), counts.values)
        width = self.n_concepts + self._n_counted(counts)
        return Rows(*concepts.beside(words), width, counts.lengths)

    def _n_counted(self, counts: Any) -> int:
        """Return the number of columns without concepts; unlabelled texts may have added some."""
        n_columns: int = counts.n_columns if self.counter is None else self.counter.n_features
        return n_columns

    def fit(self, counts: Examples, most: int | None = None) -> Examples:
        """Choose the columns, observe the documents, and return their strengths.

        The strengths replace the counts, unless these are shared with other `Examples`.

        Parameters
        ----------
        counts : Examples
            The counts.
        most : int, optional
            The largest number of columns; beyond it, the rarest runs and parts are left out.
        """
        return self.weigh(self.choose(counts, most))

    def choose(self, counts: Examples, most: int | None = None) -> Examples:
        """Choose the columns, and return the counts in them; see `fit`."""
        if self.columns is not None:
            counts = self._mapped(counts, self.columns.apply, self.columns.n_columns)
        keep = self._choose(counts, most)
        if keep is not None:
            if self.concepts is not None and self.columns is None and not self.is_hashed:
                idle = self.are_for_concepts() & ~keep
                self._idle = idle if idle.any() else self._idle
                keep |= idle
            self.prune(keep)
            narrow = partial(Rows.keep, keep=keep, renumber=not self.is_hashed)
            counts = self._mapped(counts, narrow, self.n_columns)
        return counts

    def weigh(self, counts: Examples) -> Examples:
        """Observe documents in the chosen columns, and return their strengths."""
        for rows, _ in counts:
            self.strength.observe(rows)
        return self._mapped(counts, self._strengths, self.n_columns)

    def observe(self, counts: Rows) -> None:
        """Observe documents that are learned after training; their words become features."""
        self.strength.observe(counts)
        if len(self._idle):
            self._idle = extended(self._idle, 0)
            self._idle[counts.indices[counts.indices < len(self._idle)]] = False

    def _mapped(
        self, counts: Examples, function: Callable[[Rows], Rows], n_columns: int
    ) -> Examples:
        """Return `function(rows)` for all rows, in place unless others share them."""
        return (counts.map if counts.is_shared else counts.rewrite)(function, n_columns)

    def count(
        self, texts: Any, grow: bool = False, n_jobs: int = 1, clock: Clock | None = None
    ) -> Rows:
        """Return how often each feature occurs in each text; see `TextCounter.count`.

        If `grow` is True, new words get a column at once, other new features when they have
        occurred in `min_df` documents.
        """
        least: Any = None
        if grow:
            limits = [Share.of(limit, self.strength.n_documents) for limit in self._min_df[1:]]
            least = (1, *(max(1, math.ceil(limit)) for limit in limits))
        counts = self.counter.count(texts, grow=grow, n_jobs=n_jobs, least=least, clock=clock)
        return counts if self.concepts is None else self.with_concepts(counts, n_jobs)

    def apply(self, counts: Rows) -> Rows:
        """Return the strengths of counted documents."""
        return self._strengths(counts if self.columns is None else self.columns.apply(counts))

    def tables(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int] | None:
        """Return the tables that the kernel `read` makes strengths with, or None if it cannot.

        They hold the strength of each count, the idf of each column, the weight of each block and
        the block of each column; the last value says how a document is scaled.
        """
        if self.n_concepts:
            return None
        tables = self.strength.tables(self.n_columns, MOST_TABLED_COUNTS)
        if tables is None:
            return None
        weights = np.zeros(0, np.float32) if self._weights is None else self._weights
        return *tables, weights, self.blocks, SCALINGS[self.strength.normalize]

    def names(self, columns: Any) -> list[str]:
        """Return the names of some columns; that of a concept is its number and its words."""
        columns = np.asarray(columns, np.int64)
        is_counted = columns >= self.n_concepts
        names = iter(self.counter.names(columns[is_counted] - self.n_concepts))
        return [
            next(names) if is_word else self.concept_name(int(column))
            for column, is_word in zip(columns, is_counted, strict=True)
        ]

    def readable_names(self, columns: Any) -> list[str]:
        """Return the names of some columns, with marks at both ends of character n-grams.

        "·" means that the word begins or ends there, "…" that it goes on.
        """
        names = self.names(columns)
        if not self.is_hashed:
            for i in np.flatnonzero(self.blocks[columns] == CHAR_NGRAMS):
                before, after = ("·" if end == " " else "…" for end in (names[i][0], names[i][-1]))
                names[i] = f"{before}{names[i].strip(' ')}{after}"
        return names

    def concept_name(self, concept: int, top: int = 3) -> str:
        """Return the name of a concept, such as "concept 17 (oil, barrel, opec)"."""
        assert self.concepts is not None
        words, _ = self.concepts.words(concept, top)
        return f"concept {concept} ({', '.join(self.counter.names(words))})"

    def are_for_concepts(self) -> np.ndarray:
        """Return which columns are concepts or their words, and so must not be removed."""
        needed = np.zeros(self.n_columns, bool)
        if self.concepts is not None:
            needed[: self.n_concepts] = True
            needed[self.n_concepts + self.concepts.columns_] = True
        return needed

    def prune(self, keep: np.ndarray, with_waiting: bool = True) -> None:
        """Remove columns, and renumber the others in order unless they are hashed."""
        if self.columns is not None:
            self.columns = self.columns.pruned(keep)
        elif self.is_hashed:
            self.columns = Numbering.hashed(keep, self.blocks, self.fields())
        else:
            self.counter.prune(keep[self.n_concepts :], with_waiting)
            if self.concepts is not None:
                self.concepts.prune(keep[self.n_concepts :])
            if len(self._idle):
                self._idle = extended(self._idle, len(keep))[: len(keep)][keep]
        if not self.is_hashed:
            self.strength.prune(keep)

    def narrowed(self, keep: np.ndarray) -> Features:
        """Return features that take counts of all columns, and return strengths of some of them.

        The strengths are the same as after `prune(keep)`, which would also shrink the counter.
        """
        narrow, numbers = copy(self), np.arange(len(keep), dtype=np.int32)
        narrow.columns = Numbering(numbers, len(keep), self.blocks, self.fields()).pruned(keep)
        narrow._idle = extended(self._idle, len(keep))[: len(keep)][keep]
        narrow.strength = deepcopy(self.strength)
        narrow.strength.prune(keep)
        return narrow

    def checkpoint(self, columns: np.ndarray) -> Callable[[], None]:
        """Return a function that undoes what is observed of these columns from now on."""
        restore_strength = self.strength.checkpoint(columns)
        idle = self._idle = extended(self._idle, 0)
        known = columns[columns < len(idle)]
        before = idle[known]

        def restore() -> None:
            restore_strength()
            idle[known] = before

        return restore

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the header and the tensors of the model file."""
        text, words = self.counter.state()
        strength, frequencies = self.strength.state()
        header: dict[str, Any] = {"parameters": self.parameters.plain_params()}
        header |= {"text": text, "strength": strength}
        tensors = {f"text.{name}": tensor for name, tensor in words.items()}
        tensors |= {f"strength.{name}": tensor for name, tensor in frequencies.items()}
        if self.columns is not None:
            tensors["kept"] = (self.columns.numbers >= 0).astype(np.uint8)
        if self.concepts is not None:
            header["concepts"], learned = self.concepts.state()
            header["least_membership"] = self.least_membership
            tensors |= {f"concepts.{name}": tensor for name, tensor in learned.items()}
            if self._idle.any():
                tensors["idle"] = self._idle.astype(np.uint8)
        return header, tensors

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Return the features that `state` described, all of it checked."""
        counter = TextCounter.from_state(*component_state("text", header, tensors))
        parameters = FeatureParameters.from_plain(require_field(header, "parameters", dict))
        features = cls(parameters, {}, counter)
        if "concepts" in header:
            concepts = Concepts.from_state(*component_state("concepts", header, tensors))
            features.concepts = concepts
            features.n_concepts = concepts.n_total_
            features.least_membership = require_field(
                header, "least_membership", float, low=0, high=1
            )
            if concepts.columns_.max(initial=-1) >= counter.n_features:
                raise ModelError("The model's concepts have words that it lacks; it is damaged.")
            if "idle" in tensors:
                idle = require_tensor(tensors, "idle", np.uint8, (None,), high=1).astype(bool)
                if len(idle) > features.n_columns:
                    raise ModelError("The model has more idle words than words; it is damaged.")
                features._idle = idle
        if "kept" in tensors:
            if counter.hashing_bits is None:
                raise ModelError("The model leaves out columns that are not hashed; it is damaged.")
            shape = (features.n_columns,)
            keep = require_tensor(tensors, "kept", np.uint8, shape, high=1).astype(bool)
            features.columns = Numbering.hashed(keep, features.blocks, features.fields())
        features.strength = Strength.from_state(*component_state("strength", header, tensors))
        return features

    def _choose(self, counts: Examples, most: int | None) -> np.ndarray | None:
        """Return which columns to keep, or None for all.

        They are chosen by document frequency, total count and association with the categories.
        """
        parameters = self.parameters
        n_columns, n_documents = counts.n_columns, len(counts)
        are_few = most is None or n_columns <= most
        limits = parameters.min_df, parameters.max_df, parameters.max_features
        keeps_all = limits == (1, 1.0, None) and parameters.n_selected is None
        if are_few and keeps_all and not self.n_concepts:
            return None  # with concepts, unlabelled documents may have added words
        frequency, total = np.zeros(n_columns, np.int64), np.zeros(n_columns)
        scores = None if parameters.n_selected is None else SELECTIONS[parameters.select_by]()
        for rows, labels in counts:
            for _, some in rows.pieces():
                frequency += np.bincount(some.indices, minlength=n_columns)
                if parameters.max_features is not None:
                    total += np.bincount(some.indices, some.values, minlength=n_columns)
            if scores is not None:
                scores.observe(rows, labels)
        low = [Share.of(limit, n_documents) for limit in of_blocks(parameters.min_df, 1)]
        high = Share.of(parameters.max_df, n_documents)
        blocks = self.blocks[:n_columns]
        is_concept = blocks == CONCEPTS  # all of them are kept
        keep = (frequency >= np.array(low)[blocks]) & (frequency <= high) & ~is_concept
        if parameters.max_features is not None:
            keep &= select(np.where(keep, total, -1.0), parameters.max_features)
        if scores is not None:
            keep &= select(np.where(keep, scores.pooled(), -1.0), parameters.n_selected or 0)
        if isinstance(parameters.min_df, Mapping) and not keep.any():
            keep = (frequency <= high) & ~is_concept  # rare runs are better than nothing
        if most is not None and np.count_nonzero(keep) > most and not self.is_hashed:
            n_words = int(np.count_nonzero(keep & (blocks == 0)))
            rank, n_before = np.where(blocks == 0, np.inf, frequency), np.count_nonzero(keep)
            keep &= select(np.where(keep, rank, -1.0), max(most - self.n_concepts, n_words))
            self.n_spared = int(n_before - np.count_nonzero(keep))
        keep |= is_concept
        if not keep.any():
            both = param("min_df", parameters.min_df), param("max_df", parameters.max_df)
            raise DocumentError(
                f"No feature is left of {n_columns:,}: {' and '.join(both)} leave out all; "
                "choose a lower or a higher one."
            )
        return None if keep.all() else keep

    def _strengths(self, counts: Rows) -> Rows:
        """Return the strengths of counts in the chosen columns."""
        weights = NO_BLOCK_WEIGHTS
        if self._weights is not None and self.columns is not None:
            weights = BlockWeights(self._weights, self.columns.blocks, 0)
        elif self._weights is not None:
            weights = BlockWeights(self._weights, self.counter.blocks, self.n_concepts)
        if not self.n_concepts:
            return self.strength.apply(counts, weights)
        if len(self._idle):  # leave out words that only concepts use
            columns = np.minimum(counts.indices, len(self._idle) - 1)
            counts = counts.only(~self._idle[columns] | (counts.indices >= len(self._idle)))
        is_counted = counts.indices >= self.n_concepts
        strengths = self.concept_strengths(counts.values)
        strengths[is_counted] = self.strength.apply(counts.only(is_counted), weights).values
        return counts._replace(values=strengths)

    def concept_strengths(self, memberships: np.ndarray) -> np.ndarray:
        """Return the strengths of memberships.

        Together they have the same norm as the strengths of the text, so that neither outweighs the
        other, however many concepts there are. If text is not scaled, they are not either.
        """
        if self.strength.normalize is not None:
            memberships = memberships / np.float32(np.size(self.parameters.concepts))
        if self.strength.normalize == "l2":
            memberships = np.sqrt(memberships)
        return memberships * self._concept_weight  # type: ignore[no-any-return]

    def membership(self, strength: float) -> float:
        """Return the membership that has this strength; the inverse of `concept_strengths`."""
        membership = strength / float(self._concept_weight)
        if self.strength.normalize == "l2":
            membership **= 2
        n_models = 1 if self.strength.normalize is None else np.size(self.parameters.concepts)
        return membership * int(n_models)


def _after_concepts(n: int, of_columns: np.ndarray, of_concept: int = CONCEPTS) -> np.ndarray:
    """Return the blocks, or fields, of `n` concepts followed by those of the other columns."""
    return np.concatenate([np.full(n, of_concept, np.uint8), of_columns]) if n else of_columns


def _sample(n: int, most: int, generator: np.random.Generator) -> np.ndarray:
    """Return sorted document numbers: all of them, or a random sample of `most`."""
    return np.arange(n) if n <= most else np.sort(generator.permutation(n)[:most])


def _strength(parameters: FeatureParameters, preferred: dict[str, Any]) -> Strength:
    """Return the strength of the parameters, or else the one that suits the learner."""
    kind, normalize = parameters.strength, parameters.normalize
    if kind is not None:
        preferred = TF_IDF if kind == "tf-idf" else {"kind": kind}
    if normalize is not None:
        preferred = preferred | {"normalize": None if normalize == "none" else normalize}
    return Strength(**preferred)
