"""`TextCounter` as a scikit-learn transformer with a frozen, sorted vocabulary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from thresher._kernels.text import DIGIT, PARTS, sort_rows
from thresher.errors import DocumentError, ParameterError, counted, missing_extra
from thresher.parameters import Kind, Share, Whole, parameter, transformer_tags
from thresher.text.counter import TextCounter
from thresher.text.parameters import LINGUISTICS, Folding, TextParameters
from thresher.text.space import Counts
from thresher.text.tokens import checked_texts
from thresher.text.vocabulary import sorted_order

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

KINDS = ("words", "parts", "fields")


class TextVectorizer(TextParameters):
    """Turn texts into a sparse matrix of counts, as scikit-learn's CountVectorizer, but faster.

    With the same options the vocabulary and the matrix equal those of CountVectorizer; for texts
    with combining marks or scripts without spaces, they do so with a `token_pattern`. If words and
    parts of words are counted, they equal those of a FeatureUnion of two, "words" and "parts"; the
    words of `fields` come last.

    Attributes
    ----------
    counter_ : TextCounter
        The counter with the vocabulary.
    vocabulary_ : dict of str to int
        Column of each feature.

    Examples
    --------
    >>> vectorizer = TextVectorizer()
    >>> counts = vectorizer.fit_transform(["a rose is a rose", "is it?"])
    >>> vectorizer.get_feature_names_out().tolist()
    ['is', 'it', 'rose']
    >>> counts.toarray().tolist()
    [[1, 0, 2], [1, 1, 0]]
    """

    linguistics: Folding | None = LINGUISTICS
    min_df: int | float = parameter(
        default=1,
        kind=Share(),
        words="""Least number of documents, from 1, or share of them as a float, that a feature must
        occur in.""",
    )
    max_df: int | float = parameter(
        default=1.0, kind=Share(), words="Greatest number or share of documents."
    )
    max_features: int | None = parameter(
        default=None,
        kind=Whole(1, optional=True),
        words="Greatest number of features; those with the highest counts are kept.",
    )
    dtype: Any = parameter(default=np.int64, kind=Kind(), words="Type of the counts.")

    def fit(self, raw_documents: Any, y: Any = None) -> Self:
        """Learn the vocabulary of the texts.

        Parameters
        ----------
        raw_documents : iterable of str or Arrow array of strings
            The texts.
        y : None
            Not used.
        """
        self._learn(raw_documents)
        return self

    def fit_transform(self, raw_documents: Any, y: Any = None) -> csr_matrix:
        """Learn the vocabulary of the texts, as `fit`, and return their counts."""
        return self._matrix(*self._learn(raw_documents))

    def transform(self, raw_documents: Any) -> csr_matrix:
        """Return the counts of the features that were learned; `raw_documents` as for `fit`."""
        self._check_fitted()
        return self._matrix(self.counter_.count_exactly(raw_documents, grow=False)[0], self._rank)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the name of each column; `input_features` is not used."""
        self._check_fitted()
        names = np.array(self._names(), dtype=object)
        names[self._rank] = names.copy()
        return names

    @property
    def vocabulary_(self) -> dict[str, int]:
        self._check_fitted()
        return dict(zip(self._names(), self._rank.tolist(), strict=True))

    def _names(self) -> list[str]:
        """Return the names of the counter's columns, with their kind if there are several kinds."""
        names = self.counter_.feature_names()
        kinds = (self.ngram_range, self.char_ngram_range, self.fields)
        if kinds.count(None) == 2 or self.hashing_bits is not None:
            return names
        of_column = zip(_kinds(self.counter_).tolist(), names, strict=True)
        return [f"{KINDS[kind]}__{name}" for kind, name in of_column]

    def _learn(self, raw_documents: Any) -> tuple[Counts, np.ndarray]:
        """Fit; return the counts by the columns before pruning, and the final column of each."""
        self._check()
        counter = TextCounter(**{name: getattr(self, name) for name in TextCounter.parameters})
        texts, _ = checked_texts(raw_documents)
        counts, _ = counter.count_exactly(texts)
        if self.hashing_bits is not None:
            self.counter_, self._rank = counter, np.arange(counter.n_features, dtype=np.int32)
            return counts, self._rank
        if counter.n_features == 0:
            raise DocumentError(
                f"No token was found in {counted(len(texts), 'text')}, so the vocabulary is empty; "
                "perhaps the texts are empty too, or `tokens` and `linguistics` leave nothing."
            )
        keep = self._limit(counter, counts, len(texts))
        if not keep.all():
            counter.prune(keep)
        self.counter_ = counter
        self._rank = np.empty(counter.n_features, np.int32)
        self._rank[_by_name(counter)] = np.arange(counter.n_features)
        rank = np.full(len(keep), -1, np.int32)
        rank[keep] = self._rank
        return counts, rank

    def _limit(self, counter: TextCounter, counts: Counts, n_documents: int) -> np.ndarray:
        """Return which columns pass `min_df`, `max_df` and `max_features`, as in scikit-learn."""
        _, indices, values = counts
        frequency = np.bincount(indices, minlength=counter.n_features)
        low, high = Share.of(self.min_df, n_documents), Share.of(self.max_df, n_documents)
        if high < low:
            raise ParameterError(
                f"TextVectorizer: max_df is {self.max_df!r} and min_df is {self.min_df!r}, which "
                f"means at most {high:g} and at least {low:g} of {counted(n_documents, 'text')}; "
                "raise max_df or lower min_df."
            )
        keep: np.ndarray = (frequency >= low) & (frequency <= high)
        if self.max_features is not None and keep.sum() > self.max_features:
            total = np.bincount(indices, values, minlength=len(keep)).astype(np.int64)
            by_name = _by_name(counter)
            by_name = by_name[keep[by_name]]
            # Of equals this is scikit-learn's choice, which is that of numpy's sort.
            keep[by_name[(-total[by_name]).argsort()[self.max_features :]]] = False
        if not keep.any():
            raise DocumentError(
                f"None of {counted(len(keep), 'feature')} stands in at least {low:g} and at most "
                f"{high:g} of {counted(n_documents, 'text')}; lower min_df or raise max_df."
            )
        return keep

    def _matrix(self, counts: Counts, rank: np.ndarray) -> csr_matrix:
        """Return a matrix with the columns renamed to their rank and sorted in each row."""
        try:
            from scipy.sparse import csr_matrix
        except ImportError:
            raise missing_extra("scipy", "scikit-learn", "Matrices of scipy") from None

        indptr, indices, values = counts
        n, n_columns = len(indices), self.counter_.n_features
        keys, spare = np.empty((2, np.diff(indptr).max(initial=0) + 1), np.uint64)
        starts = np.empty((1 << int(DIGIT)) + 1, np.int32)
        n_digits = -(-n_columns.bit_length() // int(DIGIT))
        out = Counts.empty(len(indptr) - 1, n)
        sort_rows(indptr, indices, values, rank, n_digits, starts, keys, spare, *out)
        ends, columns, values = out
        parts = (values[: ends[-1]].astype(self.dtype), columns[: ends[-1]], ends)
        matrix = csr_matrix(parts, (len(indptr) - 1, n_columns))
        matrix.has_canonical_format = True
        return matrix

    def _check(self) -> None:
        self.check_parameters()
        for name in ("min_df", "max_df"):
            if getattr(self, name) == 0 and not isinstance(getattr(self, name), float):
                raise ParameterError(
                    f"TextVectorizer: {name} is 0; a number of texts must be a whole number from "
                    "1, a share of them must be a float, such as 0.1."
                )
        limits = (self.min_df, self.max_df, self.max_features)
        if self.hashing_bits is not None and limits != (1, 1.0, None):
            raise ParameterError(
                f"TextVectorizer: hashing_bits is {self.hashing_bits!r}, so that no feature can be "
                "left out; leave min_df, max_df and max_features as they are, or hashing_bits out."
            )

    def _check_fitted(self) -> None:
        if not hasattr(self, "counter_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(
                "This TextVectorizer has not learned a vocabulary yet; call fit with texts first."
            )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "counter_")

    def __sklearn_tags__(self) -> Any:
        return transformer_tags(string=True, two_d_array=False)


def _kinds(counter: TextCounter) -> np.ndarray:
    """Return the index in KINDS of each column's kind; runs are of the kind of words."""
    return np.where(counter.blocks >= PARTS, counter.blocks - 1, 0)


def _by_name(counter: TextCounter) -> np.ndarray:
    """Return the columns in the order of their names: words, parts and fields one after another."""
    order = sorted_order(*counter.name_bytes())
    return order[np.argsort(_kinds(counter)[order], kind="stable")]
