"""Concepts: what documents are about, from the words that occur together in them (pLSA)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from thresher.engine import run_blocks
from thresher.errors import (
    DocumentError,
    ModelError,
    NotFittedError,
    ParameterError,
    brief,
    counted,
    param,
)
from thresher.features._plsa import (
    LEAST_PROBABILITY,
    Entries,
    Maximisation,
    Progress,
    blocks,
    warn_of,
)
from thresher.features.strength import validated_counts
from thresher.limits import LARGEST_SUM
from thresher.parameters import (
    ROUNDS,
    THREADS,
    Estimator,
    Number,
    Share,
    Some,
    Whole,
    is_whole,
    parameter,
    transformer_tags,
)
from thresher.rows import Rows
from thresher.state import require_field, require_tensor

if TYPE_CHECKING:
    pass

__all__ = ["Concepts"]

LARGEST_COUNT = 2.0**24  # up to here single precision has every whole number
# Folding-in ends when no membership moves by more than this. On documents of Reuters-21578 that
# were not fitted, perplexity is then within 0.2 % of that after thousands of iterations.
FOLD_ITERATIONS, FOLD_TOLERANCE = 50, 1e-3


def _refuse_sizes(value: Any) -> str | None:
    sizes = value if isinstance(value, tuple | list | np.ndarray) else [value]
    if len(sizes) and all(is_whole(size) and 1 <= size <= 100_000 for size in sizes):
        return None
    return "a whole number from 1 to 100000, or a list of such numbers"


def _read_sizes(text: str) -> tuple[int, ...]:
    return tuple(int(one) for one in text.split(","))


class Concepts(Estimator):
    """Find concepts, what words that occur together are about, and the mixture in each document.

    Probabilistic latent semantic analysis (Hofmann, 1999) takes a document d for a mixture of
    concepts z, each with words w of its own,

        P(w|d) = Σ_z P(w|z) · P(z|d),

    and looks for the P(w|z) and P(z|d) under which the counts n(d,w) are most likely, by
    expectation maximisation: with P(z|d,w) proportional to P(w|z) · P(z|d), each next P(w|z) is
    proportional to Σ_d n(d,w) · P(z|d,w), and each next P(z|d) to Σ_w n(d,w) · P(z|d,w).

    Too many iterations fit the documents by heart. A part of the word *occurrences* is therefore
    held out, and when they become less likely (their perplexity rises), the iteration before is
    kept. Occurrences, not documents: so every document has a part in the concepts, and gets its
    P(z|d) without further ado. No document and no word loses all its occurrences.

    Several models, of 100, 200 and 500 concepts say, may be fitted at once; their concepts are
    numbered one model after the other. Other documents are folded in: P(w|z) stays, and P(z|d) is
    found from the same start for all, so that a document's memberships depend on itself alone. One
    without a known word gets P(z), the share that each concept has in all occurrences.

    Ctrl-C ends the iterations and keeps the last complete one, with a `ThresherWarning`.

    Attributes
    ----------
    sizes_ : tuple of int
        How many concepts each model has.
    n_total_ : int
        How many that are together.
    columns_ : array of int32
        The column of each word that the concepts know, ascending.
    word_probabilities_ : list of array (words, concepts)
        P(w|z) of each model, in single precision.
    shares_ : array
        P(z) of all concepts; they sum to one in each model. P(d) is proportional to length.
    memberships_ : array (documents, concepts)
        P(z|d) of the documents that were fitted, as expectation maximisation left them; not saved.
    perplexities_ : list of array
        For each model, the perplexity of what was held out after each iteration, the one that was
        discarded at the end included.
    n_iter_ : array of int
        For each model, after how many iterations it was kept.

    References
    ----------
    T. Hofmann (1999), Probabilistic latent semantic analysis. L. Cai and T. Hofmann (2003), Text
    categorization by boosting automatically extracted concepts.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> counts = csr_array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 2, 3], [0, 1, 3, 2]] * 10)
    >>> concepts = Concepts(2).fit(counts)
    >>> concepts.transform(csr_array([[1, 2, 0, 0], [0, 0, 1, 1], [0, 0, 0, 0]])).round(2)
    array([[0. , 1. ],
           [1. , 0. ],
           [0.5, 0.5]], dtype=float32)
    >>> concepts.words(0, top=2)[0].tolist()
    [2, 3]
    """

    n_concepts: Any = parameter(
        default=100,
        kind=Some("int or list of int", _refuse_sizes, _read_sizes, "N[,N...]"),
        words="How many concepts; of a list, one model each.",
        kw_only=False,
    )
    max_iter: int = parameter(
        default=100, kind=ROUNDS, words="Iterations of expectation maximisation at most."
    )
    n_init: int = parameter(
        default=1,
        kind=Whole(1, 1000),
        words="""How often to start, each time from other random numbers; of each model the one
        under which what is held out is most likely is kept.""",
    )
    held_out: float = parameter(
        default=0.1,
        kind=Number(0, 0.9),
        words="""The share of the word occurrences that is held out to end the iterations; 0: none,
        and all of `max_iter` are made.""",
    )
    tempering: float | None = parameter(
        default=None,
        kind=Number(0.1, 0.999, optional=True),
        words="""Where what is held out becomes less likely, go on with P(z|d,w) proportional to
        [P(w|z) · P(z|d)] to the power β, β being multiplied by this (0.95 say) as long as that
        makes it more likely; None: stop there.""",
    )
    min_df: int | float = parameter(
        default=1,
        kind=Share(),
        words="""Words in fewer documents take no part; a float is a share of the documents. A model
        with concepts beside its words takes 5, and fewer if it has under a thousand documents.""",
    )
    max_df: int | float = parameter(
        default=1.0,
        kind=Share(),
        words="""Words in more documents take no part, for they are those of no concept; a float is
        a share of the documents. A model with concepts beside its words takes a fifth.""",
    )
    random_state: int = parameter(
        default=0, kind=Whole(0), words="The seed of what is held out and of the first P(w|z)."
    )
    n_jobs: int = parameter(
        default=1, kind=THREADS, words="Threads; the result does not depend on how many."
    )

    def fit_rows(
        self,
        rows: Rows,
        *,
        columns: np.ndarray | None = None,
        n_jobs: int = 1,
        progress: Progress = None,
        keep_partial: bool = True,
    ) -> Self:
        """Find the concepts of these documents.

        Parameters
        ----------
        rows : Rows
            Counts; fractions are taken for weights, with a warning.
        columns : array of bool, optional
            Which columns may be words of concepts; None: all.
        n_jobs : int, default=1
            Threads.
        progress : callable, optional
            Called with a text, the number of documents and the share that is done after each
            iteration.
        keep_partial : bool, default=True
            Whether Ctrl-C ends the iterations only, and not all.
        """
        self.check_parameters()
        if self.n_init > 1 and not self.held_out:
            raise ParameterError(
                f"Concepts: n_init is {self.n_init} and held_out is 0; hold out a share such as "
                "0.1 to tell which start was best."
            )
        _check_counts(rows, warn=True)
        known = self._vocabulary(rows, columns)
        counts = _in_order(rows.keep(known))
        sizes = self._sizes()
        if max(sizes) > min(counts.n_rows, counts.n_columns):
            documents, words = (counted(n, one) for n, one in zip(
                (counts.n_rows, counts.n_columns), ("document", "word"), strict=True
            ))  # fmt: skip
            warn_of(
                f"There are {documents} with {words} for {counted(max(sizes), 'concept')}, many of "
                "which will be alike or empty; lower n_concepts."
            )
        expectation = Maximisation(self, *self._thinned(counts), progress)
        mixtures = expectation.run(sizes, n_jobs, keep_partial)
        fresh = self.replace()._hold(
            np.flatnonzero(known).astype(np.int32),
            [one.phi.copy() for one in mixtures],
            *expectation.memberships(mixtures),
            [np.array(one.perplexities) for one in mixtures],
            np.array([one.n_iter for one in mixtures]),
        )
        self.__dict__.update(fresh.__dict__)  # in one step, lest Ctrl-C leave half of it
        return self

    def memberships(self, rows: Rows, n_jobs: int = 1) -> np.ndarray:
        """Return P(z|d) for these documents, folded in; columns without a known word are ignored.

        Parameters
        ----------
        rows : Rows
            Counts, of any number of columns.
        n_jobs : int, default=1
            Threads.

        Returns
        -------
        array of float32 (documents, concepts)
        """
        self._require_fitted()
        entries, _ = self._entries(rows)
        folded = np.empty((rows.n_rows, self.n_total_), np.float32)
        for number, place in enumerate(self._places()):
            folded[:, place] = self._fold(entries, number, n_jobs)
        return folded

    def responsibility(self, rows: Rows, concept: int) -> np.ndarray:
        """Return which share of each document's membership in a concept each of its entries makes.

        It is n(d,w) · P(z|d,w), divided by its sum over the document; 0 for unknown words.

        Examples
        --------
        >>> from scipy.sparse import csr_array
        >>> concepts = Concepts(1).fit(csr_array([[2, 2], [1, 1]]))
        >>> rows = Rows(np.array([0, 2]), np.arange(2, dtype=np.int32), np.array([3.0, 1.0]), 2)
        >>> concepts.responsibility(rows, 0)
        array([0.75, 0.25])
        """
        from thresher._kernels.concepts import mixtures

        number, k = self.locate(concept)
        phi = self.word_probabilities_[number]
        entries, inside = self._entries(rows)
        theta = self._fold(entries, number, 1)
        explained = np.empty(len(entries.words), np.float32)
        mixtures(entries.indptr, entries.words, theta, phi, explained, 0, rows.n_rows)
        parts = entries.counts * phi[entries.words, k].astype(np.float64)
        parts /= np.maximum(explained, LEAST_PROBABILITY)
        owners = entries.owners()
        totals = np.bincount(owners, parts, rows.n_rows)
        shares = np.zeros(len(rows.indices))
        shares[inside] = parts / np.where(totals > 0, totals, 1)[owners]
        return shares

    def words(self, concept: int, top: int = 10) -> tuple[np.ndarray, np.ndarray]:
        """Return the columns of a concept's words and their P(w|z), the most telling first.

        They are ordered by P(w|z) · log(P(w|z) / P(w)), what a word adds to the difference of the
        concept from all documents together: neither words that are frequent everywhere nor words
        that hardly occur come first.
        """
        number, k = self.locate(concept)
        chances = self.word_probabilities_[number][:, k].astype(np.float64)
        (present,) = chances.nonzero()
        chances = chances[present]
        telling = chances * np.log(chances / self._word_shares[number][present])
        order = np.argsort(-telling, kind="stable")[:top]
        return self.columns_[present[order]], chances[order].astype(np.float32)

    def concepts_of(self, column: int) -> np.ndarray:
        """Return P(z|w) of a word for all concepts, by Bayes; they sum to one in each model."""
        self._require_fitted()
        word = int(np.searchsorted(self.columns_, column))
        if word == len(self.columns_) or self.columns_[word] != column:
            raise ParameterError(
                f"Column {column} is no word of the concepts: it was in too few or too many of "
                "the documents they come from, or in none."
            )
        joint: np.ndarray = (
            np.concatenate([phi[word] for phi in self.word_probabilities_]) * self.shares_
        )
        for place in self._places():
            total = joint[place].sum()
            joint[place] = joint[place] / total if total > 0 else self.shares_[place]
        return joint

    def prune(self, keep: np.ndarray) -> None:
        """Forget the columns for which `keep` is not True; the others close ranks."""
        self._require_fitted()
        if len(self.columns_) and len(keep) <= self.columns_[-1]:
            raise ParameterError(
                f"Concepts.prune: keep has {len(keep)} entries, and a word of the concepts stands "
                f"in column {self.columns_[-1]}; give one entry for each column."
            )
        inside = np.asarray(keep, bool)[self.columns_]
        columns = (np.cumsum(keep) - 1)[self.columns_[inside]].astype(np.int32)
        chances = [phi[inside] for phi in self.word_probabilities_]
        figures = self.shares_, self.memberships_, self.perplexities_, self.n_iter_
        self._hold(columns, chances, *figures)

    # What a model file holds ----------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the parameters and the concepts, as a model file holds them."""
        self._require_fitted()
        header = self.plain_params() | {
            "n_iter": self.n_iter_.tolist(),
            "perplexities": [one.tolist() for one in self.perplexities_],
        }
        del header["n_jobs"]
        tensors = {"columns": self.columns_, "shares": self.shares_}
        for number, phi in enumerate(self.word_probabilities_):
            tensors[f"words.{number}"] = phi
        return header, tensors

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Return the concepts that `state` described; ModelError if it described none."""
        given = {name: header[name] for name in cls.parameters if name in header}
        concepts = cls.from_plain(given)
        sizes = concepts._sizes()
        columns = require_tensor(tensors, "columns", np.int32, (None,), low=0)
        if (np.diff(columns) <= 0).any():
            raise ModelError("The model's tensor 'columns' does not ascend.")
        shares = require_tensor(tensors, "shares", np.float64, (sum(sizes),), low=0, high=1.001)
        chances = [
            require_tensor(
                tensors, f"words.{i}", np.float32, (len(columns), size), low=0, high=1.001
            )
            for i, size in enumerate(sizes)
        ]
        n_iter = require_field(header, "n_iter", list)
        curves = require_field(header, "perplexities", list)
        if len(n_iter) != len(sizes) or not all(map(Whole(0).allows, n_iter)):
            raise ModelError(
                f"The model's field 'n_iter' is {brief(n_iter)}; one number a model fits."
            )
        if len(curves) != len(sizes) or not all(
            isinstance(curve, list) and all(map(Number(0, LARGEST_SUM).allows, curve))
            for curve in curves
        ):
            raise ModelError("The model's field 'perplexities' must be a list for each model.")
        nobody = np.zeros((0, sum(sizes)), np.float32)
        perplexities = [np.array(curve, np.float64) for curve in curves]
        return concepts._hold(columns, chances, shares, nobody, perplexities, np.array(n_iter))

    # Within ---------------------------------------------------------------------------------------

    def _sizes(self) -> tuple[int, ...]:
        return tuple(int(size) for size in np.atleast_1d(self.n_concepts))

    def _vocabulary(self, rows: Rows, columns: np.ndarray | None) -> np.ndarray:
        """Tell which columns are words of concepts."""
        frequencies = np.bincount(rows.indices[rows.values != 0], minlength=rows.n_columns)
        least, most = (
            limit * rows.n_rows if isinstance(limit, float | np.floating) else limit
            for limit in (self.min_df, self.max_df)
        )
        known = (frequencies >= max(least, 1)) & (frequencies <= most)
        if columns is not None:
            if np.shape(columns) != (rows.n_columns,):
                raise ParameterError(
                    f"columns has the shape {np.shape(columns)}; it must be ({rows.n_columns},), "
                    "one truth value per column."
                )
            known &= columns
        if not known.any():
            raise DocumentError(
                f"None of {counted(rows.n_columns, 'column')} is left for the concepts: of "
                f"{counted(rows.n_rows, 'document')}, a word must be in at least {least:g} "
                f"({param('min_df')}) and at most {most:g} ({param('max_df')}). Change these, or "
                "give documents with words."
            )
        return known

    def _thinned(self, counts: Rows) -> tuple[Rows, Rows]:
        """Divide the occurrences into those to learn from and those that are held out."""
        random = np.random.default_rng(self.random_state)
        values = counts.values.astype(np.float64)
        whole = np.floor(values)
        held = random.binomial(whole.astype(np.int64), self.held_out).astype(np.float64)
        held += (values - whole) * (random.random(len(values)) < self.held_out)
        owners = np.repeat(np.arange(counts.n_rows), np.diff(counts.indptr))
        for places, size in ((counts.indices, counts.n_columns), (owners, counts.n_rows)):
            left = np.bincount(places, values - held, size)
            held[left[places] == 0] = 0  # what would lose everything keeps everything
        return tuple(
            _without_zeros(counts._replace(values=part.astype(np.float32)))
            for part in (values - held, held)
        )  # type: ignore[return-value]

    def _hold(
        self,
        columns: np.ndarray,
        word_probabilities: list[np.ndarray],
        shares: np.ndarray,
        memberships: np.ndarray,
        perplexities: list[np.ndarray],
        n_iter: np.ndarray,
    ) -> Self:
        """Keep what was learned, and what follows from it."""
        self.sizes_ = self._sizes()
        self.n_total_ = sum(self.sizes_)
        self.columns_, self.word_probabilities_ = columns, word_probabilities
        self.shares_, self.memberships_ = shares, memberships
        self.perplexities_, self.n_iter_ = perplexities, n_iter
        self._word_shares = [  # P(w) as each model has it
            phi @ shares[place]
            for phi, place in zip(word_probabilities, self._places(), strict=True)
        ]
        return self

    def _places(self) -> Iterator[slice]:
        """Say where the concepts of each model stand among all."""
        return (slice(*ends) for ends in pairwise(np.cumsum([0, *self.sizes_]).tolist()))

    def locate(self, concept: int) -> tuple[int, int]:
        """Return the number of the model that a concept is of, and its own number there."""
        self._require_fitted()
        if not is_whole(concept) or not 0 <= concept < self.n_total_:
            raise ParameterError(
                f"There is no concept {concept!r}; they are numbered from 0 to {self.n_total_ - 1}."
            )
        ends = np.cumsum(self.sizes_)
        number = int(np.searchsorted(ends, concept, side="right"))
        return number, int(concept - ends[number] + self.sizes_[number])

    def _entries(self, rows: Rows) -> tuple[Entries, np.ndarray]:
        """Return the entries that have a known word, and which these are."""
        _check_counts(rows, warn=False)
        words = np.searchsorted(self.columns_, rows.indices)
        inside = words < len(self.columns_)
        inside[inside] = self.columns_[words[inside]] == rows.indices[inside]
        inside &= rows.values > 0
        indptr = np.concatenate([[0], np.cumsum(inside)])[rows.indptr]
        counts = rows.values[inside].astype(np.float32, copy=False)
        return Entries(indptr, words[inside].astype(np.uint32), counts), inside

    def _fold(self, entries: Entries, number: int, n_jobs: int) -> np.ndarray:
        """Return P(z|d) for the concepts of one model."""
        from thresher._kernels.concepts import fold_in

        phi = self.word_probabilities_[number]
        shares = self.shares_[list(self._places())[number]].astype(np.float32)
        folded = np.empty((len(entries.indptr) - 1, phi.shape[1]), np.float32)
        limits = FOLD_ITERATIONS, np.float32(FOLD_TOLERANCE)
        fold = partial(fold_in, *entries, phi, shares, *limits, folded)
        run_blocks(fold, blocks(entries.indptr, n_jobs), n_jobs)
        return folded

    def _require_fitted(self) -> None:
        if not hasattr(self, "n_total_"):
            raise NotFittedError("These concepts are not fitted yet; call fit or fit_rows first.")

    # scikit-learn's protocol ----------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the concepts of these documents.

        Parameters
        ----------
        X : sparse or dense matrix of shape (documents, words)
            Counts.
        y : ignored
        """
        return self.fit_rows(self._rows_of(X, reset=True), n_jobs=self.n_jobs)

    def transform(self, X: Any) -> np.ndarray:
        """Return P(z|d) for these documents, folded in; `X` as for `fit`."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        return self.memberships(self._rows_of(X, reset=False), n_jobs=self.n_jobs)

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Find the concepts of these documents, and fold them in; `X` as for `fit`."""
        return self.fit(X).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return "concept0", "concept1" and so on."""
        self._require_fitted()
        return np.array([f"concept{k}" for k in range(self.n_total_)], object)

    def _rows_of(self, X: Any, *, reset: bool) -> Rows:
        return Rows.from_scipy(validated_counts(self, X, reset=reset, non_negative=True))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_total_")

    def __sklearn_tags__(self) -> Any:
        return transformer_tags(sparse=True, positive_only=True)


# Helpers -----------------------------------------------------------------------------------------


def _without_zeros(rows: Rows) -> Rows:
    there = rows.values != 0
    indptr = np.concatenate([[0], np.cumsum(there)])[rows.indptr]
    return rows._replace(indptr=indptr, indices=rows.indices[there], values=rows.values[there])


def _in_order(rows: Rows) -> Rows:
    """Return the rows with ascending columns and no zeros, so that only the counts matter."""
    rows = _without_zeros(rows)
    owners = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
    order = np.argsort(owners * rows.n_columns + rows.indices, kind="stable")
    return rows._replace(indices=rows.indices[order], values=rows.values[order])


def _check_counts(rows: Rows, *, warn: bool) -> None:
    """Refuse what cannot be counts; warn of what are none."""
    counts = rows.values
    if not len(counts):
        return
    if not (counts.min() >= 0 and counts.max() <= LARGEST_COUNT):
        entry = int(np.flatnonzero(~((counts >= 0) & (counts <= LARGEST_COUNT)))[0])
        row = int(np.searchsorted(rows.indptr, entry, side="right")) - 1
        raise DocumentError(
            f"Document {row} (counted from 0) has {counts[entry]} in column {rows.indices[entry]}; "
            f"concepts are made from counts from 0 to {LARGEST_COUNT:,.0f}."
        )
    if warn and (fractions := counts != np.floor(counts)).any():
        entry = int(np.flatnonzero(fractions)[0])
        row = int(np.searchsorted(rows.indptr, entry, side="right")) - 1
        warn_of(
            f"Document {row} (counted from 0) has {counts[entry]:g} in column "
            f"{rows.indices[entry]}: concepts expect counts, and take fractions for weights."
        )
