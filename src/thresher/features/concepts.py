"""Concepts: topics, found by probabilistic latent semantic analysis of counts (pLSA)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Any, Self

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
from thresher.features import _plsa
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

LARGEST_COUNT = 2.0**24  # float32 represents all integers up to here
# Folding in ends when no membership changes by more than this. The perplexity of unseen documents
# of Reuters-21578 is then within 0.2 % of that after thousands of iterations.
FOLD_ITERATIONS, FOLD_TOLERANCE = 50, 1e-3


def _refuse_sizes(value: Any) -> str | None:
    sizes = value if isinstance(value, tuple | list | np.ndarray) else [value]
    if len(sizes) and all(is_whole(size) and 1 <= size <= 100_000 for size in sizes):
        return None
    return "a whole number from 1 to 100000, or a list of such numbers"


def _read_sizes(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


class Concepts(Estimator):
    """Find groups of words that tend to occur together, and each document's membership in them.

    Probabilistic latent semantic analysis (Hofmann, 1999) models a document d as a mixture of
    concepts z, each of which is a distribution of words w,

        P(w|d) = Σ_z P(w|z) · P(z|d),

    and looks for the P(w|z) and P(z|d) that maximise the likelihood of the counts n(d,w), by
    expectation maximisation: with P(z|d,w) proportional to P(w|z) · P(z|d), each next P(w|z) is
    proportional to Σ_d n(d,w) · P(z|d,w), and each next P(z|d) to Σ_w n(d,w) · P(z|d,w).

    Too many iterations overfit. Therefore some of the word *occurrences* are held out, and fitting
    stops before the iteration in which their perplexity rises. As occurrences are held out, not
    documents, every document contributes to the concepts and gets its P(z|d) from fitting. No
    document and no word loses all its occurrences.

    Several models, such as of 100, 200 and 500 concepts, can be fitted together; their concepts are
    numbered one model after the other. Other documents are folded in: P(w|z) is fixed, and P(z|d)
    is found from the same start for all documents, so that the memberships of a document depend on
    nothing else. A document without a known word gets P(z), the share of each concept in all
    occurrences.

    Ctrl-C ends the iterations and keeps the last complete one, with a `ThresherWarning`.

    Attributes
    ----------
    sizes_ : tuple of int
        The number of concepts of each model.
    n_total_ : int
        Their sum.
    columns_ : array of int32
        The columns of the words that the concepts are made of, ascending.
    word_probabilities_ : list of array (words, concepts)
        P(w|z) of each model, in single precision.
    shares_ : array
        P(z) of all concepts; those of a model sum to one. P(d) is proportional to length.
    memberships_ : array (documents, concepts)
        P(z|d) of the documents that were fitted, at the end of expectation maximisation; not saved.
    perplexities_ : list of array
        For each model, the perplexity of the held-out occurrences after each iteration, including
        the last one, which was discarded.
    n_iter_ : array of int
        For each model, the number of iterations before it was kept.

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
        words="The number of concepts; a list gives a model for each number.",
        kw_only=False,
    )
    max_iter: int = parameter(
        default=100,
        kind=ROUNDS,
        words="The maximum number of iterations of expectation maximisation.",
    )
    n_init: int = parameter(
        default=1,
        kind=Whole(1, 1000),
        words="""The number of random starts; for each model, the one with the lowest perplexity of
        the held-out occurrences is kept.""",
    )
    held_out: float = parameter(
        default=0.1,
        kind=Number(0, 0.9),
        words="""The share of the word occurrences that is held out to decide when to stop; with 0,
        there are always `max_iter` iterations.""",
    )
    tempering: float | None = parameter(
        default=None,
        kind=Number(0.1, 0.999, optional=True),
        words="""When the perplexity of the held-out occurrences rises, continue with P(z|d,w)
        proportional to [P(w|z) · P(z|d)] to the power β, and multiply β by this (such as 0.95) as
        long as that lowers the perplexity; None: stop.""",
    )
    min_df: int | float = parameter(
        default=1,
        kind=Share(),
        words="""Ignore words in fewer documents; a float is a share of the documents. `Categorizer`
        uses 5, or fewer if there are fewer than a thousand documents.""",
    )
    max_df: int | float = parameter(
        default=1.0,
        kind=Share(),
        words="""Ignore words in more documents, which belong to no particular concept; a float is
        a share of the documents. `Categorizer` uses a fifth of them.""",
    )
    random_state: int = parameter(
        default=0,
        kind=Whole(0),
        words="The seed for held-out occurrences and for the first P(w|z).",
    )
    n_jobs: int = parameter(
        default=1, kind=THREADS, words="The number of threads; it does not change the result."
    )

    def fit_rows(
        self,
        rows: Rows,
        *,
        columns: np.ndarray | None = None,
        n_jobs: int = 1,
        progress: _plsa.Progress = None,
        keep_partial: bool = True,
    ) -> Self:
        """Find the concepts of these documents.

        Parameters
        ----------
        rows : Rows
            Counts; fractions are used as weights, with a warning.
        columns : array of bool, optional
            Which columns may be words of concepts; None: all.
        n_jobs : int, default=1
            The number of threads.
        progress : callable, optional
            Called after each iteration with a description, the number of documents and the share of
            the work that is done.
        keep_partial : bool, default=True
            Whether Ctrl-C only ends the iterations; if False, it is raised.
        """
        self.check_parameters()
        if self.n_init > 1 and not self.held_out:
            raise ParameterError(
                f"Concepts: n_init is {self.n_init} and held_out is 0; hold out a share such as "
                "0.1 to compare the starts."
            )
        _check_counts(rows, warn_of_fractions=True)
        is_word = self._vocabulary(rows, columns)
        counts = _in_order(rows.keep(is_word))
        sizes = self._sizes()
        if max(sizes) > min(counts.n_rows, counts.n_columns):
            _plsa.warn(
                f"There are {counted(counts.n_rows, 'document')} with "
                f"{counted(counts.n_columns, 'word')} for {counted(max(sizes), 'concept')}, many "
                "of which will be alike or empty; lower n_concepts."
            )
        expectation = _plsa.Maximisation(self, *self._thinned(counts), progress)
        mixtures = expectation.run(sizes, n_jobs, keep_partial)
        fitted = self.replace()._set_fitted(
            np.flatnonzero(is_word).astype(np.int32),
            [mixture.phi.copy() for mixture in mixtures],
            *expectation.memberships(mixtures),
            [np.array(mixture.perplexities) for mixture in mixtures],
            np.array([mixture.n_iter for mixture in mixtures]),
        )
        self.__dict__.update(fitted.__dict__)  # in one step, so that Ctrl-C cannot interrupt it
        return self

    def memberships(self, rows: Rows, n_jobs: int = 1) -> np.ndarray:
        """Return P(z|d) of documents, folded in; unknown words are ignored.

        Parameters
        ----------
        rows : Rows
            Counts, of any number of columns.
        n_jobs : int, default=1
            The number of threads.

        Returns
        -------
        array of float32 (documents, concepts)
        """
        self._require_fitted()
        entries, _ = self._entries(rows)
        folded = np.empty((rows.n_rows, self.n_total_), np.float32)
        for number, concepts in enumerate(self._slices()):
            folded[:, concepts] = self._fold(entries, number, n_jobs)
        return folded

    def responsibility(self, rows: Rows, concept: int) -> np.ndarray:
        """Return the share of each entry in its document's membership in a concept.

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
        weights = entries.counts * phi[entries.words, k].astype(np.float64)
        weights /= np.maximum(explained, _plsa.LEAST_PROBABILITY)
        documents = entries.documents()
        totals = np.bincount(documents, weights, rows.n_rows)
        shares = np.zeros(len(rows.indices))
        shares[inside] = weights / np.where(totals > 0, totals, 1)[documents]
        return shares

    def words(self, concept: int, top: int = 10) -> tuple[np.ndarray, np.ndarray]:
        """Return the columns of a concept's most typical words, and their P(w|z).

        They are ordered by P(w|z) · log(P(w|z) / P(w)), the contribution of a word to the
        Kullback-Leibler divergence of the concept from all documents: neither words that are
        frequent everywhere nor very rare words come first.
        """
        number, k = self.locate(concept)
        probabilities = self.word_probabilities_[number][:, k].astype(np.float64)
        (present,) = probabilities.nonzero()
        probabilities = probabilities[present]
        divergence = probabilities * np.log(probabilities / self._word_shares[number][present])
        order = np.argsort(-divergence, kind="stable")[:top]
        return self.columns_[present[order]], probabilities[order].astype(np.float32)

    def concepts_of(self, column: int) -> np.ndarray:
        """Return P(z|w) of a word for all concepts; those of a model sum to one."""
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
        for concepts in self._slices():
            total = joint[concepts].sum()
            joint[concepts] = joint[concepts] / total if total > 0 else self.shares_[concepts]
        return joint

    def prune(self, keep: np.ndarray) -> None:
        """Remove the columns for which `keep` is False, and renumber the others in order."""
        self._require_fitted()
        if len(self.columns_) and len(keep) <= self.columns_[-1]:
            raise ParameterError(
                f"Concepts.prune: keep has {len(keep)} entries, and a word of the concepts stands "
                f"in column {self.columns_[-1]}; give one entry for each column."
            )
        inside = np.asarray(keep, bool)[self.columns_]
        columns = (np.cumsum(keep) - 1)[self.columns_[inside]].astype(np.int32)
        probabilities = [phi[inside] for phi in self.word_probabilities_]
        rest = self.shares_, self.memberships_, self.perplexities_, self.n_iter_
        self._set_fitted(columns, probabilities, *rest)

    # Model files ----------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the header and the tensors of the model file."""
        self._require_fitted()
        header = self.plain_params() | {
            "n_iter": self.n_iter_.tolist(),
            "perplexities": [curve.tolist() for curve in self.perplexities_],
        }
        del header["n_jobs"]
        tensors = {"columns": self.columns_, "shares": self.shares_}
        for number, phi in enumerate(self.word_probabilities_):
            tensors[f"words.{number}"] = phi
        return header, tensors

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Return the concepts that `state` described, or raise `ModelError`."""
        concepts = cls.from_plain({name: header[name] for name in cls.parameters if name in header})
        sizes = concepts._sizes()
        columns = require_tensor(tensors, "columns", np.int32, (None,), low=0)
        if (np.diff(columns) <= 0).any():
            raise ModelError("The model's tensor 'columns' does not ascend.")
        shares = require_tensor(tensors, "shares", np.float64, (sum(sizes),), low=0, high=1.001)
        probabilities = [
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
        memberships = np.zeros((0, sum(sizes)), np.float32)
        perplexities = [np.array(curve, np.float64) for curve in curves]
        rest = shares, memberships, perplexities, np.array(n_iter)
        return concepts._set_fitted(columns, probabilities, *rest)

    # Helpers --------------------------------------------------------------------------------------

    def _sizes(self) -> tuple[int, ...]:
        return tuple(int(size) for size in np.atleast_1d(self.n_concepts))

    def _vocabulary(self, rows: Rows, columns: np.ndarray | None) -> np.ndarray:
        """Return which columns are words of concepts."""
        frequencies = np.bincount(rows.indices[rows.values != 0], minlength=rows.n_columns)
        least, most = Share.of(self.min_df, rows.n_rows), Share.of(self.max_df, rows.n_rows)
        is_word = (frequencies >= max(least, 1)) & (frequencies <= most)
        if columns is not None:
            if np.shape(columns) != (rows.n_columns,):
                raise ParameterError(
                    f"columns has the shape {np.shape(columns)}; it must be ({rows.n_columns},), "
                    "one truth value per column."
                )
            is_word &= columns
        if not is_word.any():
            raise DocumentError(
                f"None of {counted(rows.n_columns, 'column')} is left for the concepts: of "
                f"{counted(rows.n_rows, 'document')}, a word must be in at least {least:g} "
                f"({param('min_df')}) and at most {most:g} ({param('max_df')}). Change these, or "
                "give documents with words."
            )
        return is_word

    def _thinned(self, counts: Rows) -> tuple[Rows, Rows]:
        """Return the counts to learn from and those that are held out."""
        random = np.random.default_rng(self.random_state)
        values = counts.values.astype(np.float64)
        whole = np.floor(values)
        held = random.binomial(whole.astype(np.int64), self.held_out).astype(np.float64)
        held += (values - whole) * (random.random(len(values)) < self.held_out)
        documents = np.repeat(np.arange(counts.n_rows), np.diff(counts.indptr))
        for numbers, size in ((counts.indices, counts.n_columns), (documents, counts.n_rows)):
            left = np.bincount(numbers, values - held, size)
            held[left[numbers] == 0] = 0  # a word or document that would lose all loses nothing
        training = counts._replace(values=(values - held).astype(np.float32))
        held_out = counts._replace(values=held.astype(np.float32))
        return training.only(training.values != 0), held_out.only(held_out.values != 0)

    def _set_fitted(
        self,
        columns: np.ndarray,
        word_probabilities: list[np.ndarray],
        shares: np.ndarray,
        memberships: np.ndarray,
        perplexities: list[np.ndarray],
        n_iter: np.ndarray,
    ) -> Self:
        """Set the fitted attributes; return self."""
        self.sizes_ = self._sizes()
        self.n_total_ = sum(self.sizes_)
        self.columns_, self.word_probabilities_ = columns, word_probabilities
        self.shares_, self.memberships_ = shares, memberships
        self.perplexities_, self.n_iter_ = perplexities, n_iter
        self._word_shares = [  # P(w) as each model has it
            phi @ shares[concepts]
            for phi, concepts in zip(word_probabilities, self._slices(), strict=True)
        ]
        return self

    def _slices(self) -> Iterator[slice]:
        """Return the range of the concepts of each model."""
        return (slice(*ends) for ends in pairwise(np.cumsum([0, *self.sizes_]).tolist()))

    def locate(self, concept: int) -> tuple[int, int]:
        """Return the number of the model of a concept, and its number within that model."""
        self._require_fitted()
        if not is_whole(concept) or not 0 <= concept < self.n_total_:
            raise ParameterError(
                f"There is no concept {concept!r}; they are numbered from 0 to {self.n_total_ - 1}."
            )
        ends = np.cumsum(self.sizes_)
        number = int(np.searchsorted(ends, concept, side="right"))
        return number, int(concept - ends[number] + self.sizes_[number])

    def _entries(self, rows: Rows) -> tuple[_plsa.Entries, np.ndarray]:
        """Return the entries of known words, and which entries these are."""
        _check_counts(rows, warn_of_fractions=False)
        words = np.searchsorted(self.columns_, rows.indices)
        inside = words < len(self.columns_)
        inside[inside] = self.columns_[words[inside]] == rows.indices[inside]
        inside &= rows.values > 0
        known = rows._replace(indices=words.astype(np.uint32)).only(inside)
        counts = known.values.astype(np.float32, copy=False)
        return _plsa.Entries(known.indptr, known.indices, counts), inside

    def _fold(self, entries: _plsa.Entries, number: int, n_jobs: int) -> np.ndarray:
        """Return P(z|d) for the concepts of one model."""
        from thresher._kernels.concepts import fold_in

        phi = self.word_probabilities_[number]
        shares = self.shares_[list(self._slices())[number]].astype(np.float32)
        folded = np.empty((len(entries.indptr) - 1, phi.shape[1]), np.float32)
        limits = FOLD_ITERATIONS, np.float32(FOLD_TOLERANCE)
        fold = partial(fold_in, *entries, phi, shares, *limits, folded)
        run_blocks(fold, _plsa.blocks(entries.indptr, n_jobs), n_jobs)
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
        """Return P(z|d) of documents, folded in; `X` as for `fit`."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        return self.memberships(self._rows_of(X, reset=False), n_jobs=self.n_jobs)

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Find the concepts of documents, then fold these in; `X` as for `fit`."""
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


def _in_order(rows: Rows) -> Rows:
    """Return the rows with ascending columns and without zeros."""
    rows = rows.only(rows.values != 0)
    documents = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
    order = np.argsort(documents * rows.n_columns + rows.indices, kind="stable")
    return rows._replace(indices=rows.indices[order], values=rows.values[order])


def _check_counts(rows: Rows, *, warn_of_fractions: bool) -> None:
    """Raise `DocumentError` for values that cannot be counts; warn of fractions."""
    counts = rows.values
    if not len(counts):
        return

    def first(is_odd: np.ndarray) -> str:
        entry = int(np.flatnonzero(is_odd)[0])
        row = int(np.searchsorted(rows.indptr, entry, side="right")) - 1
        column = rows.indices[entry]
        return f"Document {row} (counted from 0) has {counts[entry]:g} in column {column}"

    if not (counts.min() >= 0 and counts.max() <= LARGEST_COUNT):
        wrong = first(~((counts >= 0) & (counts <= LARGEST_COUNT)))
        raise DocumentError(
            f"{wrong}; concepts are made from counts from 0 to {LARGEST_COUNT:,.0f}."
        )
    if warn_of_fractions and (is_fraction := counts != np.floor(counts)).any():
        _plsa.warn(f"{first(is_fraction)}: concepts expect counts, and take fractions for weights.")
