"""The one line from counts to columns: which features there are, and how strong each is."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from copy import copy, deepcopy
from functools import partial
from typing import Any, Self

import numpy as np

from thresher.errors import DocumentError, ModelError, param
from thresher.examples import Examples
from thresher.features.concepts import Concepts
from thresher.features.numbering import Numbering, after_concepts
from thresher.features.parameters import ALL_BLOCKS, CONCEPTS, FeatureParameters, of_blocks
from thresher.features.selection import SELECTIONS, select
from thresher.features.strength import SCALINGS, BlockWeights, Strength
from thresher.rows import Rows, extended
from thresher.state import part_of, require_field, require_tensor
from thresher.text import TextCounter

__all__ = ["MOST_DOCUMENTS", "Features"]

Clock = dict[str, float]
TF_IDF: dict[str, Any] = {"kind": "tf-idf", "sublinear_tf": True, "normalize": "l2"}
CHAR_NGRAMS = ALL_BLOCKS.index("parts")
LEAST_MEMBERSHIP = 0.01  # of a document in a concept; less is noise, and counts as none
TABLED = 1024  # counts of a feature in one document that have their strength in a table
AT_ONCE = 16_000_000  # memberships that are computed together, 64 MB of them
# Which words make up concepts: by folds on Reuters, and by what a person can read.
COMMON = 0.2  # a word in a larger share of the documents belongs to no concept
FEW_DOCUMENTS = 100  # but one of no more than these may be in any share of them
FOR_EACH, MOST_NEEDED = 200, 5  # a word must be in a document of so many, and in five at most
MOST_DOCUMENTS = 50_000  # from which concepts are learned; of more, a sample is taken
MOST_MEMBERSHIPS = 2**28  # of them, 2 GB while they are learned


class Features:
    """The line from texts to strengths: a counter, concepts, a choice of columns, a strength.

    Concepts have the first columns. They are folded in when documents are counted, so that counts
    hold them from then on, and they stay when words are added.

    Parameters
    ----------
    parameters : FeatureParameters
        What is left out and how strengths are made.
    preferred : dict
        The arguments of `Strength` that suit the learner, where none are given.
    counter : TextCounter or None
        What counts; None where all is counted already, as it is for a fold.
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
        own = {name: getattr(parameters, name) for name in FeatureParameters.parameters}
        self.parameters = FeatureParameters(**own)
        self.parameters.check_parameters()
        self.strength = _strength(self.parameters, preferred)
        self._counter = counter
        self.columns = columns
        self.concepts: Concepts | None = None
        self.n_concepts = 0  # columns of the counts that are concepts, folded in here or before
        self.least_membership = LEAST_MEMBERSHIP
        self.n_sampled = 0  # documents that concepts were learned from
        self.doubts: list[str] = []  # about the concepts
        self.n_spared = 0  # columns that were left out for want of memory
        self._idle = np.zeros(0, bool)  # words that only concepts know, until they are learned of
        *weights, weight = of_blocks(self.parameters.block_weights, 1.0)
        self._weights = None if set(weights) == {1.0} else np.array(weights, np.float32)
        self._concept_weight = np.float32(weight)

    @property
    def counter(self) -> TextCounter:
        assert self._counter is not None
        return self._counter

    @property
    def n_columns(self) -> int:
        """How many columns there are by now."""
        if self.columns is not None:
            return self.columns.n_columns
        return self.n_concepts + self.counter.n_features

    @property
    def blocks(self) -> np.ndarray:
        """The block of each column, its place in `ALL_BLOCKS`."""
        if self.columns is not None:
            return self.columns.blocks
        return after_concepts(self.n_concepts, self.counter.blocks)

    def fields(self) -> np.ndarray:
        """Return, for each column, 0, or 1 + the number of the field whose word it is.

        Where columns are hashed, several fields share theirs: that is 0 too.

        Examples
        --------
        >>> features = Features(FeatureParameters(), {"kind": "sqrt"}, TextCounter(fields="lead"))
        >>> rows = features.count(["Wheat up\\nWheat rose"], grow=True)
        >>> features.names([0, 3, 6]), features.fields().tolist()
        (['wheat', 'first-line:wheat', 'lead:rose'], [0, 0, 0, 1, 1, 2, 2])
        """
        if self.columns is not None:
            return self.columns.fields
        return after_concepts(self.n_concepts, self.counter.field_numbers(), 0)

    @property
    def is_hashed(self) -> bool:
        """Whether the place of a column is its name."""
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
        """Learn concepts from counts without them, and return these with concepts before them.

        Parameters
        ----------
        counts : Examples
            The counts.
        unlabelled : Rows, optional
            More of them, for the concepts alone.
        seed, n_jobs, progress
            As for `Concepts`.
        """
        concepts = Concepts(self.parameters.concepts, random_state=seed)
        concepts.check_parameters()
        rows, is_word = self._rows_for_concepts(counts, unlabelled, seed)
        self.n_sampled = rows.n_rows
        concepts.min_df = int(np.clip(rows.n_rows // FOR_EACH, 1, MOST_NEEDED))
        concepts.max_df = max(int(COMMON * rows.n_rows), FEW_DOCUMENTS)
        how: Any = {"n_jobs": n_jobs, "progress": progress, "keep_partial": False}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.concepts = concepts.fit_rows(rows, columns=is_word, **how)
        self.doubts = [str(one.message) for one in caught]
        concepts.memberships_ = concepts.memberships_[:0]  # all documents are folded in alike
        self.n_concepts = self.concepts.n_total_
        if self.columns is not None:
            self.columns = self.columns.after_concepts(self.n_concepts)
        width = self.n_concepts + self._width(counts)
        folded = self._changed(counts, partial(self.with_concepts, n_jobs=n_jobs), width)
        folded.n_concepts = self.n_concepts
        return folded

    def _rows_for_concepts(
        self, counts: Examples, unlabelled: Rows | None, seed: int
    ) -> tuple[Rows, np.ndarray]:
        """Return what concepts are learned from, and which columns are words, or all if none is.

        Of many documents a sample is taken, and one of those without labels.
        """
        blocks = self.counter.blocks if self.columns is None else self.columns.of_counts()[0]
        is_word = blocks == 0 if (blocks == 0).any() else np.ones(len(blocks), bool)
        n_kinds = 1 if unlabelled is None else 2
        most = MOST_MEMBERSHIPS // (n_kinds * int(np.sum(self.parameters.concepts)))
        most, generator = min(MOST_DOCUMENTS, most), np.random.default_rng(seed)
        chosen = _drawn(len(counts), most, generator)
        parts = [rows.keep(is_word[: rows.n_columns], False) for rows, _ in counts.take(chosen)]
        if unlabelled is not None:
            others = unlabelled.take(_drawn(unlabelled.n_rows, most, generator))
            parts.append(others.keep(is_word, False))
        return Rows.concatenate(parts), is_word

    def with_concepts(self, counts: Rows, n_jobs: int = 1) -> Rows:
        """Return counts with the concepts of each document before them, where there are any."""
        if self.concepts is None:
            return counts
        size = max(1, AT_ONCE // self.n_concepts)
        if counts.n_rows <= size:
            return self._folded(counts, n_jobs)
        pieces = np.split(np.arange(counts.n_rows), range(size, counts.n_rows, size))
        return Rows.concatenate([self._folded(counts.take(one), n_jobs) for one in pieces])

    def _folded(self, counts: Rows, n_jobs: int) -> Rows:
        assert self.concepts is not None
        memberships = self.concepts.memberships(counts, n_jobs)
        is_in = memberships >= self.least_membership
        n_before = np.append(0, np.cumsum(is_in.sum(1)))  # memberships before each document
        documents = np.repeat(np.arange(counts.n_rows), np.diff(counts.indptr))
        places = np.arange(len(counts.indices)) + n_before[1:][documents]
        size = len(counts.indices) + int(n_before[-1])
        is_counted = np.zeros(size, bool)
        is_counted[places] = True
        indices, values = np.empty(size, np.int32), np.empty(size, np.float32)
        indices[places] = counts.indices + np.int32(self.n_concepts)
        values[places] = counts.values
        indices[~is_counted], values[~is_counted] = np.nonzero(is_in)[1], memberships[is_in]
        width = self.n_concepts + self._width(counts)
        return Rows(counts.indptr + n_before, indices, values, width, counts.lengths)

    def _width(self, counts: Any) -> int:
        """Return how many columns there are to count; documents without labels may have more."""
        return counts.n_columns if self._counter is None else self.counter.n_features  # type: ignore

    def fit(self, counts: Examples, most: int | None = None) -> Examples:
        """Choose the columns, take notice of the documents, and return their strengths.

        With a counter of its own, the counts are given up: strengths take their place.

        Parameters
        ----------
        counts : Examples
            The counts.
        most : int, optional
            Keep at most so many columns, leaving out the rarest runs and parts.
        """
        return self.weigh(self.choose(counts, most))

    def choose(self, counts: Examples, most: int | None = None) -> Examples:
        """Choose the columns, and return the counts in them; see `fit`."""
        if self.columns is not None:
            counts = self._changed(counts, self.columns.apply, self.columns.n_columns)
        keep = self._choose(counts, most)
        if keep is not None:
            if self.concepts is not None and self.columns is None and not self.is_hashed:
                idle = self.are_for_concepts() & ~keep
                self._idle = idle if idle.any() else self._idle
                keep |= idle
            self.prune(keep)
            narrow = partial(Rows.keep, kept=keep, renumber=not self.is_hashed)
            counts = self._changed(counts, narrow, self.n_columns)
        return counts

    def weigh(self, counts: Examples) -> Examples:
        """Take notice of documents in the chosen columns, and return their strengths."""
        for rows, _ in counts:
            self.strength.observe(rows)
        return self._changed(counts, self._weigh, self.n_columns)

    def observe(self, counts: Rows) -> None:
        """Take notice of documents that are learned on: their words are features from now on."""
        self.strength.observe(counts)
        if len(self._idle):
            self._idle[counts.indices[counts.indices < len(self._idle)]] = False

    def _changed(self, counts: Examples, change: Callable[[Rows], Rows], n: int) -> Examples:
        """Return other rows; where nobody else has the old ones, these are given up."""
        return (counts.map if counts.is_shared else counts.rewrite)(change, n)

    def count(
        self, texts: Any, grow: bool = False, n_jobs: int = 1, clock: Clock | None = None
    ) -> Rows:
        """Return how often each feature stands in each text, as `TextCounter.count` does.

        If it may `grow`, what is new gets a column when it has been in `min_df` documents, words at
        once.
        """
        least: Any = None
        if grow:
            _, *others = (
                math.ceil(limit * self.strength.n_documents) if isinstance(limit, float) else limit
                for limit in of_blocks(self.parameters.min_df, 1)[:CONCEPTS]
            )
            least = (1, *(max(1, one) for one in others))
        counts = self.counter.count(texts, grow=grow, n_jobs=n_jobs, least=least, clock=clock)
        return self.with_concepts(counts, n_jobs)

    def apply(self, counts: Rows) -> Rows:
        """Return the strengths of counted documents."""
        return self._weigh(counts if self.columns is None else self.columns.apply(counts))

    def tables(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int] | None:
        """Return what makes strengths of counts: see the kernel `read`; None if tables cannot."""
        tables = self.strength.tables(self.n_columns, TABLED) if not self.n_concepts else None
        if tables is None:
            return None
        weights = np.zeros(0, np.float32) if self._weights is None else self._weights
        return *tables, weights, self.blocks, SCALINGS[self.strength.normalize]

    def names(self, columns: Any) -> list[str]:
        """Return the names of some columns; a concept is called by its number and its words."""
        columns = np.asarray(columns, np.int64)
        is_counted = columns >= self.n_concepts
        names = iter(self.counter.names(columns[is_counted] - self.n_concepts))
        return [
            next(names) if counted else self.concept_name(int(column))
            for column, counted in zip(columns, is_counted, strict=True)
        ]

    def readable_names(self, columns: Any) -> list[str]:
        """Return the names of some columns, those of character n-grams with marks around them.

        "·" stands where the word begins or ends, "…" where it goes on.
        """
        names = self.names(columns)
        if not self.is_hashed:
            for i in np.flatnonzero(self.blocks[columns] == CHAR_NGRAMS):
                before, after = ("·" if end == " " else "…" for end in (names[i][0], names[i][-1]))
                names[i] = f"{before}{names[i].strip(' ')}{after}"
        return names

    def concept_name(self, concept: int, top: int = 3) -> str:
        """Return what a concept is called: "concept 17 (oil, barrel, opec)", say."""
        assert self.concepts is not None
        words, _ = self.concepts.words(concept, top)
        return f"concept {concept} ({', '.join(self.counter.names(words))})"

    def are_for_concepts(self) -> np.ndarray:
        """Return which columns are concepts, or words that they are made of: they must stay."""
        needed = np.zeros(self.n_columns, bool)
        if self.concepts is not None:
            needed[: self.n_concepts] = True
            needed[self.n_concepts + self.concepts.columns_] = True
        return needed

    def prune(self, keep: np.ndarray, with_waiting: bool = True) -> None:
        """Forget the columns that are not kept; the others close ranks, unless they are hashed."""
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
        """Return what makes, of these counts, the strengths of only the columns that are kept.

        It is what `prune` makes of it, without a counter.
        """
        numbers = np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32)
        narrow = copy(self)
        n_kept, fields = int(np.count_nonzero(keep)), self.fields()[keep]
        narrow.columns = Numbering(numbers, n_kept, self.blocks[keep], fields)
        narrow._idle = extended(self._idle, len(keep))[: len(keep)][keep]
        narrow.strength = deepcopy(self.strength)
        narrow.strength.prune(keep)
        return narrow

    def checkpoint(self, columns: np.ndarray) -> Callable[[], None]:
        """Return a function that takes back what is observed of these columns from now on."""
        back, idle = self.strength.checkpoint(columns), self._idle
        known = columns[columns < len(idle)]
        before = idle[known]

        def restore() -> None:
            back()
            idle[known] = before

        return restore

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return what a model file keeps: a header and tensors."""
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
        """Return the line that `state` described, having checked all of it."""
        counter = TextCounter.from_state(*part_of("text", header, tensors))
        parameters = FeatureParameters.from_plain(require_field(header, "parameters", dict))
        features = cls(parameters, {}, counter)
        if "concepts" in header:
            part = part_of("concepts", header, tensors)
            features.concepts = concepts = Concepts.from_state(*part)
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
            kept = require_tensor(tensors, "kept", np.uint8, shape, high=1).astype(bool)
            features.columns = Numbering.hashed(kept, features.blocks, features.fields())
        features.strength = Strength.from_state(*part_of("strength", header, tensors))
        return features

    def _choose(self, counts: Examples, most: int | None) -> np.ndarray | None:
        """Return which columns stay, by document frequency, counts and what they tell."""
        own, n_columns, n_documents = self.parameters, counts.n_columns, len(counts)
        are_few = most is None or n_columns <= most
        limits = own.min_df, own.max_df, own.max_features, own.n_selected
        if are_few and limits == (1, 1.0, None, None) and not self.n_concepts:
            return None  # with concepts, documents without labels may have brought words
        frequency, total = np.zeros(n_columns, np.int64), np.zeros(n_columns)
        scores = None if own.n_selected is None else SELECTIONS[own.select_by]()
        for rows, labels in counts:
            for _, part in rows.pieces():
                frequency += np.bincount(part.indices, minlength=n_columns)
                if own.max_features is not None:
                    total += np.bincount(part.indices, part.values, minlength=n_columns)
            if scores is not None:
                scores.observe(rows, labels)
        *low, high = (
            limit * n_documents if isinstance(limit, float) else limit
            for limit in (*of_blocks(own.min_df, 1), own.max_df)
        )
        blocks = self.blocks[:n_columns]
        is_concept = blocks == CONCEPTS  # they are not chosen: all stay
        keep = (frequency >= np.array(low)[blocks]) & (frequency <= high) & ~is_concept
        if own.max_features is not None:
            keep &= select(np.where(keep, total, -1.0), own.max_features)
        if scores is not None:
            keep &= select(np.where(keep, scores.pooled(), -1.0), own.n_selected or 0)
        if isinstance(own.min_df, Mapping) and not keep.any():
            keep = (frequency <= high) & ~is_concept  # rare runs are better than nothing
        if most is not None and np.count_nonzero(keep) > most and not self.is_hashed:
            n_words = int(np.count_nonzero(keep & (blocks == 0)))
            rank, n_before = np.where(blocks == 0, np.inf, frequency), np.count_nonzero(keep)
            keep &= select(np.where(keep, rank, -1.0), max(most - self.n_concepts, n_words))
            self.n_spared = int(n_before - np.count_nonzero(keep))
        keep |= is_concept
        if not keep.any():
            raise DocumentError(
                f"No feature is left of {n_columns:,}: {param('min_df', own.min_df)} and "
                f"{param('max_df', own.max_df)} leave out all; choose a lower or a higher one."
            )
        return None if keep.all() else keep

    def _weigh(self, counts: Rows) -> Rows:
        if not self.n_concepts:
            return self.strength.apply(counts, self._block_weights())
        if len(self._idle):
            counts = self._awake(counts)
        is_concept = counts.indices < self.n_concepts
        ends = np.append(0, np.cumsum(~is_concept))[counts.indptr]
        text = counts._replace(
            indptr=ends, indices=counts.indices[~is_concept], values=counts.values[~is_concept]
        )
        strengths = self.concept_strengths(counts.values)
        strengths[~is_concept] = self.strength.apply(text, self._block_weights()).values
        return counts._replace(values=strengths)

    def _awake(self, counts: Rows) -> Rows:
        """Leave out what only concepts know."""
        places = np.minimum(counts.indices, len(self._idle) - 1)
        awake = ~self._idle[places] | (counts.indices >= len(self._idle))
        ends = np.append(0, np.cumsum(awake))[counts.indptr]
        return counts._replace(
            indptr=ends, indices=counts.indices[awake], values=counts.values[awake]
        )

    def concept_strengths(self, memberships: np.ndarray) -> np.ndarray:
        """Return the strengths of memberships.

        Together they have the length that text is given: so they do not depend on how many there
        are, and neither outweighs the other. Where text is not scaled, they are as they are.
        """
        if self.strength.normalize is not None:
            memberships = memberships / np.float32(np.size(self.parameters.concepts))
        if self.strength.normalize == "l2":
            memberships = np.sqrt(memberships)
        return memberships * self._concept_weight  # type: ignore[no-any-return]

    def membership(self, strength: float) -> float:
        """Return the membership in a concept that has this strength."""
        membership = strength / float(self._concept_weight)
        if self.strength.normalize == "l2":
            membership **= 2
        n_models = 1 if self.strength.normalize is None else np.size(self.parameters.concepts)
        return membership * int(n_models)

    def _block_weights(self) -> BlockWeights | None:
        """Return the factors of strengths by block, for columns that are counted."""
        if self._weights is None:
            return None
        if self.n_concepts and self.columns is None:
            return BlockWeights(self._weights, self.counter.blocks, self.n_concepts)
        return BlockWeights(self._weights, self.blocks, 0)


def _drawn(n: int, most: int, generator: np.random.Generator) -> np.ndarray:
    """Return the numbers of all documents, or of as many as there is room for, in their order."""
    return np.arange(n) if n <= most else np.sort(generator.permutation(n)[:most])


def _strength(parameters: FeatureParameters, preferred: dict[str, Any]) -> Strength:
    """Return the strength that was asked for, or the one that suits the learner."""
    kind, normalize = parameters.strength, parameters.normalize
    if kind is not None:
        preferred = TF_IDF if kind == "tf-idf" else {"kind": kind}
    if normalize is not None:
        preferred = preferred | {"normalize": None if normalize == "none" else normalize}
    return Strength(**preferred)
