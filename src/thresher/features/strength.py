"""From counts to strengths: how much a feature matters in a document, given its count there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, get_args

import numpy as np

from thresher._kernels.scoring import BY_SQUARES, BY_SUM, NOT_SCALED, weigh_documents
from thresher.errors import DocumentError, ParameterError, counted
from thresher.parameters import Choice, Estimator, Flag, parameter, transformer_tags
from thresher.rows import Rows, extended
from thresher.state import require_field, require_tensor

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Norm = Literal["sum", "l1", "l2"]
Weighting = Literal["binary", "frequency", "sqrt", "log", "tf-idf", "book"]
KINDS = get_args(Weighting)
FREQUENCIES = "document_frequencies"  # the name of the tensor
LOWEST_COUNT = float(np.finfo(np.float32).min)
SCALINGS = {None: NOT_SCALED, "sum": BY_SUM, "l1": BY_SUM, "l2": BY_SQUARES}
ENTRIES_PER_IDF = 1 << 15  # whose idf is computed together, so that arrays fit in the cache
NO_FACTORS = np.zeros(0, np.float32)


class BlockWeights(NamedTuple):
    """Factors of strengths by the block of their column."""

    weights: np.ndarray  # float32, of each block
    blocks: np.ndarray  # uint8, the block of each column from `first_column` on
    first_column: int


NO_BLOCK_WEIGHTS = BlockWeights(NO_FACTORS, np.zeros(0, np.uint8), 0)


class Strength(Estimator):
    """Turn counts into strengths.

    With tf the count of a feature in a document, N the number of documents observed and df the
    number of those that have the feature, the strength is

    ===========  ==================================================================
    "binary"     1 where tf > 0
    "frequency"  tf
    "sqrt"       √tf
    "log"        1 + ln tf
    "tf-idf"     tf · (ln((1 + N) / (1 + df)) + 1), or, if not `smooth_idf`,
                 tf · (ln(N / df) + 1); with `sublinear_tf`, 1 + ln tf instead of tf
    "book"       round(10 · (1 + ln tf) / (1 + ln l)), l being the document's length in tokens;
                 equation 16.1 of Manning and Schütze (1999)
    ===========  ==================================================================

    and 0 where tf is 0. "tf-idf" equals scikit-learn's `TfidfTransformer`; a feature that was in
    none of the documents observed has df = 0, and if not `smooth_idf`, df = 1.

    Documents may be observed at any time and with ever more features. As a scikit-learn
    transformer (`fit`, `transform`) it takes scipy sparse or dense counts, and gives sparse
    strengths in single precision.

    Examples
    --------
    >>> rows = Rows(np.array([0, 2]), np.array([0, 1], np.int32), np.array([1, 4], np.float32), 2)
    >>> Strength("sqrt", normalize="sum").apply(rows).values.round(3)
    array([0.333, 0.667], dtype=float32)
    >>> Strength("book").apply(rows._replace(lengths=np.array([100]))).values
    array([2., 4.], dtype=float32)
    >>> from scipy.sparse import csr_array
    >>> counts = csr_array([[3, 0, 1], [2, 0, 0], [3, 0, 0]])
    >>> Strength("tf-idf", normalize="l2").fit_transform(counts).toarray()[0]
    array([0.871, 0.   , 0.491], dtype=float32)
    """

    kind: Weighting = parameter(
        default="binary", kind=Choice(KINDS), words="One of the kinds above.", kw_only=False
    )
    normalize: Norm | None = parameter(
        default=None,
        kind=Choice((None, *get_args(Norm))),
        words="""How the strengths of each document are scaled: so that they sum to one ("sum", the
        normalised strength of Dagan, Karov and Roth, also called "l1"), or so that their squares do
        ("l2"); None: not at all.""",
    )
    smooth_idf: bool = parameter(
        default=True,
        kind=Flag(),
        words='For "tf-idf": add one to document frequencies, as if a document had every feature.',
    )
    sublinear_tf: bool = parameter(
        default=False, kind=Flag(), words='For "tf-idf": use 1 + ln tf instead of tf.'
    )

    # What `observe` has counted; the __init__ of an estimator only stores its parameters.
    _n_documents = 0
    _n_columns = 0
    _frequencies = np.zeros(0, np.int64)  # of `_n_columns` columns; zeros follow, to be used later

    @property
    def n_documents(self) -> int:
        """The number of documents observed."""
        return self._n_documents

    def observe(self, rows: Rows) -> Self:
        """Count documents and, for "tf-idf", in how many of them each feature is; return self.

        They may have more columns than those before.
        """
        if self.kind not in KINDS:
            self.check_parameters()
        self._n_documents += rows.n_rows
        if self.kind != "tf-idf":
            return self
        n_columns = max(rows.n_columns, self._n_columns)
        frequencies = extended(self._frequencies, n_columns)
        for _, some in rows.pieces():
            present = some.indices if some.values.all() else some.indices[some.values != 0]
            if len(present) < n_columns:  # few documents must not cost a walk over all features
                np.add.at(frequencies, present, 1)
            else:
                frequencies[:n_columns] += np.bincount(present, minlength=n_columns)
        self._frequencies, self._n_columns = frequencies, n_columns
        return self

    def merge(self, other: Strength, columns: np.ndarray | None = None) -> Self:
        """Add the document frequencies of another `Strength`; return self.

        The result is the same as if this one had observed the documents of both.

        Parameters
        ----------
        other : Strength
            One with the same parameters.
        columns : array of int, optional
            The column here of each column of `other`; by default they have the same numbers.

        Examples
        --------
        >>> rows = Rows(np.array([0, 2]), np.array([0, 1], np.int32), np.ones(2, np.float32), 2)
        >>> merged = Strength("tf-idf").observe(rows)
        >>> merged.merge(Strength("tf-idf").observe(rows), np.array([2, 1])).n_documents
        2
        >>> merged.state()[1]["document_frequencies"]
        array([1, 2, 1])
        """
        if other.get_params() != self.get_params():
            raise ParameterError(f"{other!r} cannot be merged into {self!r}: they differ.")
        counts, n = other._frequencies[: other._n_columns], other._n_columns
        columns = np.arange(n) if columns is None else np.asarray(columns)[:n]
        if len(columns) < n:
            raise ParameterError(f"There are numbers for {len(columns)} of {n} columns; give all.")
        n_columns = max(int(columns.max(initial=-1)) + 1, self._n_columns)
        frequencies = extended(self._frequencies, n_columns)
        np.add.at(frequencies, columns, counts)
        self._frequencies, self._n_columns = frequencies, n_columns
        self._n_documents += other._n_documents
        return self

    def checkpoint(self, columns: np.ndarray) -> Callable[[], None]:
        """Return a function that undoes what is observed of these columns from now on."""
        self._frequencies = extended(self._frequencies, 0)
        n_documents, n_columns = self._n_documents, self._n_columns
        known = columns[columns < n_columns]
        before = self._frequencies[known]

        def restore() -> None:
            self._frequencies[n_columns : self._n_columns] = 0
            self._frequencies[known] = before
            self._n_documents, self._n_columns = n_documents, n_columns

        return restore

    def apply(self, rows: Rows, block_weights: BlockWeights = NO_BLOCK_WEIGHTS) -> Rows:
        """Return rows of strengths; columns and row ends are shared with the rows of counts.

        Parameters
        ----------
        rows : Rows
            Counts. "book" takes the number of tokens of each document from their `lengths`, or
            else the sum of its counts.
        block_weights : BlockWeights, optional
            Factors of the strengths before these are normalised.
        """
        if not len(rows.values):
            return rows
        if self.normalize not in SCALINGS:
            self.check_parameters()
        strengths, idf = self._term_strengths(rows), NO_FACTORS
        if self.kind == "tf-idf":
            frequencies = self._frequencies
            if len(frequencies) < rows.n_columns:
                frequencies = extended(frequencies, rows.n_columns)
            # The idf of every column is worth computing only if there are as many entries.
            if len(rows.indices) >= rows.n_columns:
                idf = self._idf(frequencies[: rows.n_columns])
            else:
                for start in range(0, len(strengths), ENTRIES_PER_IDF):
                    some = slice(start, start + ENTRIES_PER_IDF)
                    strengths[some] *= self._idf(frequencies[rows.indices[some]])
        scaling = SCALINGS[self.normalize]
        weigh_documents(rows.indptr, rows.indices, strengths, idf, *block_weights, scaling)
        return Rows(rows.indptr, rows.indices, strengths, rows.n_columns, rows.lengths)

    def tables(self, n_columns: int, n_counts: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the strengths of the counts from 1 on, and the idf of each column ("tf-idf").

        Their product is the strength before it is normalised. "book" has no such tables.

        Examples
        --------
        >>> Strength("sqrt").tables(2, 4)
        (array([1.   , 1.414, 1.732, 2.   ], dtype=float32), array([], dtype=float32))
        """
        if self.kind == "book":
            return None
        counts = np.arange(1, n_counts + 1, dtype=np.float32)
        rows = Rows(np.array([0, n_counts]), np.zeros(0, np.int32), counts, n_columns)
        if self.kind != "tf-idf":
            return self._term_strengths(rows), NO_FACTORS
        frequencies = extended(self._frequencies, n_columns)[:n_columns]
        return self._term_strengths(rows), self._idf(frequencies)

    def prune(self, keep: np.ndarray) -> None:
        """Remove the features for which `keep` is False, and renumber the others in order."""
        if len(keep) < self._n_columns:
            raise ParameterError(
                f"Strength.prune: keep has {counted(len(keep), 'entry')}, and "
                f"{counted(self._n_columns, 'feature was', 'features were')} observed; give one "
                "entry for each feature."
            )
        if self.kind == "tf-idf":
            self._frequencies = extended(self._frequencies, len(keep))[: len(keep)][keep]
            self._n_columns = len(self._frequencies)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the header and tensors of the model file: the parameters and what was observed."""
        header = self.plain_params() | {"n_documents": self._n_documents}
        observed = self._frequencies[: self._n_columns]
        return header, {FREQUENCIES: observed} if self.kind == "tf-idf" else {}

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Return the `Strength` that `state` described; raise `ModelError` if it is damaged."""
        strength = cls.from_plain({name: header.get(name) for name in cls.parameters})
        strength._n_documents = n_documents = require_field(header, "n_documents", int, low=0)
        if strength.kind == "tf-idf":
            strength._frequencies = require_tensor(
                tensors, FREQUENCIES, np.int64, (None,), low=0, high=n_documents
            )
            strength._n_columns = len(strength._frequencies)
        return strength

    @property
    def _is_nonnegative(self) -> bool:
        """Whether counts must not be negative: their roots or logarithms are taken."""
        if self.kind == "tf-idf":
            return bool(self.sublinear_tf)
        return self.kind in ("sqrt", "log", "book")

    def _term_strengths(self, rows: Rows) -> np.ndarray:
        """Return the strength of each entry, a new array, without idf and normalisation."""
        counts, kind = rows.values, self.kind
        least, low = np.minimum.reduce(counts), 0.0 if self._is_nonnegative else LOWEST_COUNT
        if not (least >= low and np.maximum.reduce(counts) < np.inf):
            raise self._bad_count(rows, low)
        if kind == "log" or (kind == "tf-idf" and self.sublinear_tf):
            counts = counts.astype(np.float32, copy=False)
            return np.log(counts) + np.float32(1) if least > 0 else _one_plus_log(counts)
        if kind == "sqrt":
            return np.sqrt(counts, dtype=np.float32)  # type: ignore[no-any-return]
        if kind == "binary":
            return np.asarray(counts != 0, np.float32)
        if kind == "book":
            return _book_weights(rows)
        if kind not in KINDS:
            self.check_parameters()
        return counts.astype(np.float32)

    def _bad_count(self, rows: Rows, low: float) -> DocumentError:
        """Return the error for the first count that is not finite, or less than `low`."""
        counts = rows.values
        entry = int(np.flatnonzero(~(np.isfinite(counts) & (counts >= low)))[0])
        row = int(np.searchsorted(rows.indptr, entry, side="right")) - 1
        bound = " of 0 or more" if low == 0.0 else ""
        return DocumentError(
            f"Document {row} (counted from 0) has {counts[entry]} in column {rows.indices[entry]}; "
            f"strengths of kind {self.kind!r} are made from finite counts{bound}."
        )

    def _idf(self, frequencies: np.ndarray) -> np.ndarray:
        """Return inverse document frequencies; each document observed changes them all."""
        smooth = bool(self.smooth_idf)
        df = frequencies + 1.0 if smooth else np.maximum(frequencies, 1.0)
        n_documents = max(self._n_documents + smooth, 1.0)
        return (np.log(n_documents / df) + 1.0).astype(np.float32)  # type: ignore[no-any-return]

    # scikit-learn's protocol ----------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Observe these documents only.

        Parameters
        ----------
        X : sparse or dense matrix of shape (documents, features)
            Counts.
        y : ignored
        """
        matrix = validated_counts(self, X, reset=True, non_negative=self._is_nonnegative)
        self._n_documents, self._n_columns, self._frequencies = 0, 0, np.zeros(0, np.int64)
        return self.observe(Rows.from_scipy(matrix))

    def transform(self, X: Any) -> csr_array:
        """Return the strengths of documents, `X` as for `fit`."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        matrix = validated_counts(self, X, reset=False, non_negative=self._is_nonnegative)
        matrix.data = self.apply(Rows.from_scipy(matrix)).values
        return matrix

    def fit_transform(self, X: Any, y: Any = None) -> csr_array:
        """Observe documents and return their strengths; `X` as for `fit`."""
        return self.fit(X).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return `input_features`, or the column names seen in `fit`, or "x0", "x1", ..."""
        from sklearn.base import OneToOneFeatureMixin

        return OneToOneFeatureMixin.get_feature_names_out(self, input_features)  # type: ignore

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")

    def __sklearn_tags__(self) -> Any:
        return transformer_tags(sparse=True, positive_only=self._is_nonnegative)


def validated_counts(estimator: Any, X: Any, *, reset: bool, non_negative: bool) -> csr_array:
    """Return a copy of the counts as a canonical csr array in single precision."""
    from scipy.sparse import csr_array
    from sklearn.utils.validation import validate_data

    rules = {"accept_sparse": "csr", "ensure_non_negative": non_negative, "dtype": np.float32}
    matrix: csr_array = csr_array(validate_data(estimator, X, reset=reset, **rules), copy=True)
    matrix.sum_duplicates()
    return matrix


def _one_plus_log(counts: np.ndarray) -> np.ndarray:
    """Return 1 + ln tf, or 0 where tf is 0."""
    present = counts > 0
    logs: np.ndarray = np.log(counts, where=present, out=np.zeros_like(counts))
    logs += present
    return logs


def _book_weights(rows: Rows) -> np.ndarray:
    """Return equation 16.1's weights, whole numbers from 0 to 10.

    Halves cannot occur (ln tf and ln l would need a ratio that only tf = l gives), so it does not
    matter which way they would be rounded; double precision keeps what is near a half on its side.
    """
    counts, lengths, sizes = rows.values, rows.lengths, np.diff(rows.indptr)
    if lengths is None:
        lengths = np.bincount(np.repeat(np.arange(len(sizes)), sizes), counts, len(sizes))
    if len(lengths) != len(sizes):
        raise ParameterError(
            f"The rows have {counted(len(lengths), 'length')} for "
            f"{counted(len(sizes), 'document')}; give one each."
        )
    scale = 10.0 / (1.0 + np.log(np.maximum(lengths, 1.0)))
    weights = _one_plus_log(counts.astype(np.float64))
    weights *= scale.repeat(sizes)
    np.rint(weights, out=weights)
    return weights.astype(np.float32)
