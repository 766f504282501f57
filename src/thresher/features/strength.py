"""How strongly a feature stands in a document, given how often it occurs there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, get_args

import numpy as np

from thresher._kernels.scoring import BY_SQUARES, BY_SUM, NOT_SCALED, weigh_documents
from thresher.errors import DocumentError, ModelError, ParameterError, counted
from thresher.parameters import Choice, Estimator, Flag, parameter, transformer_tags
from thresher.rows import Rows, extended
from thresher.state import require_field, require_tensor

Norm = Literal["sum", "l1", "l2"]

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["KINDS", "SCALINGS", "BlockWeights", "Strength", "validated_counts"]

Weighting = Literal["binary", "frequency", "sqrt", "log", "tf-idf", "book"]
KINDS = get_args(Weighting)
_FREQUENCIES = "document_frequencies"
_LOWEST = float(np.finfo(np.float32).min)
SCALINGS = {None: NOT_SCALED, "sum": BY_SUM, "l1": BY_SUM, "l2": BY_SQUARES}
NO_FACTORS = np.zeros(0, np.float32)


class BlockWeights(NamedTuple):
    """Factors of strengths by the block of their column."""

    weights: np.ndarray  # float32, of each block
    blocks: np.ndarray  # uint8, of each column from the first one on
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
        words='Count one more document that has every feature, for "tf-idf".',
    )
    sublinear_tf: bool = parameter(
        default=False, kind=Flag(), words='Use 1 + ln tf instead of tf, for "tf-idf".'
    )

    # What observing has learned; an estimator's __init__ only stores its parameters.
    _n_documents = 0
    _n_columns = 0  # how many of the frequencies count; the rest is room
    _frequencies = np.zeros(0, np.int64)

    def observe(self, rows: Rows) -> Self:
        """Take notice of counts, which may have more columns than before, for "tf-idf"."""
        self.check_parameters()
        self._n_documents += rows.n_rows
        if self.kind != "tf-idf":
            return self
        n_columns = max(rows.n_columns, self._n_columns)
        frequencies = extended(self._frequencies, n_columns)
        for _, part in rows.pieces():
            present = part.indices if part.values.all() else part.indices[part.values != 0]
            if len(present) < n_columns:  # few documents must not cost a walk over all features
                np.add.at(frequencies, present, 1)
            else:
                frequencies[:n_columns] += np.bincount(present, minlength=n_columns)
        self._frequencies, self._n_columns = frequencies, n_columns
        return self

    @property
    def n_documents(self) -> int:
        """How many documents were observed."""
        return self._n_documents

    def checkpoint(self, columns: np.ndarray) -> Callable[[], None]:
        """Return a function that forgets what is observed from now on, of these columns only."""
        n_documents, n_columns = self._n_documents, self._n_columns
        known = columns[columns < n_columns]
        before = self._frequencies[known]

        def restore() -> None:
            self._frequencies[n_columns : self._n_columns] = 0
            self._frequencies[known] = before
            self._n_documents, self._n_columns = n_documents, n_columns

        return restore

    def apply(self, rows: Rows, block_weights: BlockWeights | None = None) -> Rows:
        """Return the strengths in place of the counts; the rows' structure is shared.

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
        self._check_counts(rows)
        if self.normalize not in SCALINGS:
            self.check_parameters()
        strengths, idf = np.empty(len(rows.values), np.float32), NO_FACTORS
        has_idf = self.kind == "tf-idf"
        # The idf of every column is worth computing only if there are as many entries.
        has_table = has_idf and len(rows.indices) >= rows.n_columns
        if has_table:
            idf = self._idf(self._padded_frequencies(rows.n_columns))
        for entries, some in rows.pieces():
            strengths[entries] = self._term_strengths(some)
            if has_idf and not has_table:
                frequencies = self._padded_frequencies(rows.n_columns)[some.indices]
                strengths[entries] *= self._idf(frequencies)
        blocks = NO_BLOCK_WEIGHTS if block_weights is None else block_weights
        structure = rows.indptr, rows.indices, strengths
        weigh_documents(*structure, idf, *blocks, SCALINGS[self.normalize])
        return Rows(rows.indptr, rows.indices, strengths, rows.n_columns, rows.lengths)

    def tables(self, n_columns: int, n_counts: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Return what the counts from 1 on come to, and the factor of each column, if it has any.

        Their product is the strength, before it is normalised. "book" has no such tables.

        Examples
        --------
        >>> Strength("sqrt").tables(2, 4)
        (array([1.   , 1.414, 1.732, 2.   ], dtype=float32), array([], dtype=float32))
        """
        if self.kind == "book":
            return None
        counts = np.arange(1, n_counts + 1, dtype=np.float32)
        rows = Rows(np.array([0, n_counts]), np.zeros(0, np.int32), counts, n_columns)
        has_idf = self.kind == "tf-idf"
        idf = self._idf(self._padded_frequencies(n_columns)) if has_idf else NO_FACTORS
        return self._term_strengths(rows), idf

    def prune(self, keep: np.ndarray) -> None:
        """Forget the features for which `keep` is not True; the others close ranks."""
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
        """Return the parameters and what was observed, as a model file holds them."""
        header = self.plain_params() | {"n_documents": self._n_documents}
        observed = self._frequencies[: self._n_columns]
        return header, {_FREQUENCIES: observed} if self.kind == "tf-idf" else {}

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Return the strength that `state` described; ModelError if it described none."""
        strength = cls(**{name: header.get(name) for name in cls.parameters})  # type: ignore
        strength._n_documents = n_documents = require_field(header, "n_documents", int, low=0)
        try:
            strength.check_parameters()
        except ParameterError as error:
            raise ModelError(f"The model's strengths make no sense: {error}") from error
        if strength.kind == "tf-idf":
            strength._frequencies = require_tensor(
                tensors, _FREQUENCIES, np.int64, (None,), low=0, high=n_documents
            )
            strength._n_columns = len(strength._frequencies)
        return strength

    @property
    def _takes_logs_or_roots(self) -> bool:
        return self.kind in ("sqrt", "log", "book") or (
            self.kind == "tf-idf" and bool(self.sublinear_tf)
        )

    def _check_counts(self, rows: Rows) -> None:
        if self.kind == "book" and rows.lengths is not None and len(rows.lengths) != rows.n_rows:
            raise ParameterError(
                f"The rows have {counted(len(rows.lengths), 'length')} for "
                f"{counted(rows.n_rows, 'document')}; give one each."
            )
        counts, low = rows.values, 0.0 if self._takes_logs_or_roots else _LOWEST
        if np.minimum.reduce(counts) >= low and np.maximum.reduce(counts) < np.inf:
            return
        entry = int(np.flatnonzero(~(np.isfinite(counts) & (counts >= low)))[0])
        row = int(np.searchsorted(rows.indptr, entry, side="right")) - 1
        bound = " of 0 or more" if self._takes_logs_or_roots else ""
        raise DocumentError(
            f"Document {row} (counted from 0) has {counts[entry]} in column {rows.indices[entry]}; "
            f"strengths of kind {self.kind!r} are made from finite counts{bound}."
        )

    def _term_strengths(self, rows: Rows) -> np.ndarray:
        """Return the strength of each entry, without idf and before normalisation."""
        counts = rows.values.astype(np.float32, copy=False)
        match self.kind:
            case "tf-idf":
                return _one_plus_log(counts) if self.sublinear_tf else counts
            case "binary":
                return np.asarray(counts != 0, np.float32)
            case "sqrt":
                return np.sqrt(counts)  # type: ignore[no-any-return]
            case "log":
                return _one_plus_log(counts)
            case "book":
                return _book_weights(counts, rows.indptr, rows.lengths)
        self.check_parameters()  # "frequency", or a kind that does not exist
        return counts

    def _padded_frequencies(self, n_columns: int) -> np.ndarray:
        """Return the document frequencies, zeros for columns that were never observed."""
        frequencies: np.ndarray = self._frequencies
        if n_columns > self._n_columns:
            frequencies = extended(frequencies[: self._n_columns], n_columns)
        return frequencies[: max(n_columns, self._n_columns)]

    def _idf(self, frequencies: np.ndarray) -> np.ndarray:
        """Return the inverse document frequencies; each document observed changes them all."""
        smooth = bool(self.smooth_idf)
        df = frequencies + 1.0 if smooth else np.maximum(frequencies, 1.0)
        n_documents = max(self._n_documents + smooth, 1.0)
        return (np.log(n_documents / df) + 1.0).astype(np.float32)  # type: ignore[no-any-return]

    # scikit-learn's protocol ----------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Observe these documents, and forget those observed before.

        Parameters
        ----------
        X : sparse or dense matrix of shape (documents, features)
            Counts.
        y : ignored
        """
        matrix = validated_counts(self, X, reset=True, non_negative=self._takes_logs_or_roots)
        self._n_documents, self._n_columns, self._frequencies = 0, 0, np.zeros(0, np.int64)
        return self.observe(Rows.from_scipy(matrix))

    def transform(self, X: Any) -> csr_array:
        """Return the strengths of these documents, `X` as for `fit`."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        matrix = validated_counts(self, X, reset=False, non_negative=self._takes_logs_or_roots)
        matrix.data = self.apply(Rows.from_scipy(matrix)).values
        return matrix

    def fit_transform(self, X: Any, y: Any = None) -> csr_array:
        """Observe these documents, and return their strengths; `X` as for `fit`."""
        return self.fit(X).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names given, else those of the table that was fitted, else "x0", "x1", ..."""
        from sklearn.base import OneToOneFeatureMixin

        return OneToOneFeatureMixin.get_feature_names_out(self, input_features)  # type: ignore

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")

    def __sklearn_tags__(self) -> Any:
        return transformer_tags(sparse=True, positive_only=self._takes_logs_or_roots)


def validated_counts(estimator: Any, X: Any, *, reset: bool, non_negative: bool) -> csr_array:
    """Return a copy of the counts as a canonical csr array in single precision."""
    from scipy.sparse import csr_array
    from sklearn.utils.validation import validate_data

    rules = {"accept_sparse": "csr", "ensure_non_negative": non_negative, "dtype": np.float32}
    matrix: csr_array = csr_array(validate_data(estimator, X, reset=reset, **rules), copy=True)
    matrix.sum_duplicates()
    return matrix


def _one_plus_log(counts: np.ndarray) -> np.ndarray:
    """Return 1 + ln tf, and 0 where there is nothing."""
    present = counts > 0
    if np.logical_and.reduce(present):
        return np.log(counts) + counts.dtype.type(1)  # type: ignore[no-any-return]
    logs: np.ndarray = np.log(counts, where=present, out=np.zeros_like(counts))
    logs += present
    return logs


def _book_weights(counts: np.ndarray, indptr: np.ndarray, lengths: np.ndarray | None) -> np.ndarray:
    """Return equation 16.1's weights, whole numbers from 0 to 10.

    Halves cannot occur (ln tf and ln l would need a ratio that only tf = l gives), so it does not
    matter which way they would be rounded; double precision keeps what is near a half on its side.
    """
    sizes = indptr[1:] - indptr[:-1]
    if lengths is None:
        lengths = np.bincount(np.repeat(np.arange(len(sizes)), sizes), counts, len(sizes))
    scale = 10.0 / (1.0 + np.log(np.maximum(lengths, 1.0)))
    weights = _one_plus_log(counts.astype(np.float64))
    weights *= scale.repeat(sizes)
    np.rint(weights, out=weights)
    return weights.astype(np.float32)
