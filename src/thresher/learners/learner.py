"""The base of all learners: strengths and labels in, one score per category out."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, ClassVar, Self

import numpy as np

from thresher.errors import ModelError, ParameterError, brief, missing_extra
from thresher.examples import Examples
from thresher.learners._targets import Answers, Targets, read_targets
from thresher.learners.capabilities import ExplainedFeatures, Lines
from thresher.learners.scoring import (
    check_rows,
    checked_sample_weight,
    linear_scores,
    linear_shares,
)
from thresher.limits import MOST_THINGS
from thresher.parameters import Estimator
from thresher.rows import Rows
from thresher.state import require_field

Progress = Callable[[str, int, float], None] | None
"""Called with the name of a stage, the documents it has seen, and the share that is done."""

Watch = Callable[[int, int, int, int], None] | None
"""Called with the number of a pass, and the documents, mistakes and decisions since last time."""

State = tuple[dict[str, Any], dict[str, np.ndarray]]
ENTRIES_SCORED_AT_ONCE = 2_000_000  # of the variants of a document, to explain it


def _private(name: str) -> Any:
    """Return a property with a private name: scikit-learn wants no new public attributes in fit."""
    return property(attrgetter(name), lambda self, number: setattr(self, name, number))


class Learner(Estimator):
    """The base of all learners: documents in as `Rows`, scores out, and scikit-learn's protocol.

    A subclass has a `name`, declares its parameters, and provides `fit_rows` and `score_rows`;
    `state` and `from_state` if its models are to be saved. The rest is inherited. A learner is also
    a classifier of scikit-learn. Two classes are learned as one category, for which `classes_[1]`
    is positive. Of more classes, each is a category, and the highest score is predicted. Several
    labels per document (an indicator matrix, or a list of lists) are one category each, and every
    score above zero is predicted. A score of exactly zero means that a document does not belong.

    Attributes
    ----------
    name : str
        The name on the command line and in the model file.
    preferred_strength : dict
        The arguments of the `Strength` that suits it.
    non_negative : bool
        Whether it refuses strengths below zero.
    n_features, n_categories : int
        The numbers of features and categories it has learned.
    """

    name: ClassVar[str]
    preferred_strength: ClassVar[dict[str, Any]] = dict(
        kind="tf-idf", sublinear_tf=True, normalize="l2"
    )
    non_negative: ClassVar[bool] = False
    constant_name: ClassVar[str] = "(always on)"  # in explanations: what no feature contributes
    # For `compact`: the tensors of `state` with a row for each feature, maybe after one for the
    # always-on feature, whose rows of little weight can be removed; or the tensor that names the
    # features that are tested.
    by_feature: ClassVar[tuple[str, ...]] = ()
    asks_for: ClassVar[str | None] = None
    n_features, n_categories = _private("_n_features"), _private("_n_categories")
    _compacted = False  # what only learning needs is left out
    is_compacted = _private("_compacted")

    # ---- what a subclass provides ------------------------------------------------------------

    def fit_rows(
        self, examples: Examples, *, n_jobs: int = 1, progress: Progress = None, watch: Watch = None
    ) -> Self:
        """Learn from scratch.

        Parameters
        ----------
        examples : Examples
            Blocks of rows and labels, which can be read any number of times.
        n_jobs : int, default=1
            Threads; the result must not depend on their number.
        progress : callable, optional
            Called with a stage, the documents it has seen and the share that is done.
        watch : callable, optional
            Called by mistake-driven learners, some twenty times a pass, with its number and the
            documents, mistakes and decisions since the last call.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say how it learns: fit_rows.")

    def score_rows(self, rows: Rows, n_jobs: int = 1) -> np.ndarray:
        """Return a score per document and category (float32); above zero means that it belongs.

        This changes nothing, and any number of threads may call it at once.
        """
        weighted = self._weighted_sum(rows)
        if weighted is None:
            raise NotImplementedError(
                f"{type(self).__name__} does not say how it scores: score_rows."
            )
        return linear_scores(*weighted, n_jobs).astype(np.float32, copy=False)

    @property
    def _linear(self) -> np.ndarray | None:
        """The weights (1 + features, categories) if scores are weighted sums of the strengths."""
        return None

    def _weighted_sum(self, rows: Rows) -> tuple[Rows, np.ndarray] | None:
        """Return the documents and the weights whose weighted sums are the scores, else None.

        The first row of the weights is added to the scores of every document.
        """
        if (weights := self._linear) is None:
            return None
        check_rows(rows, type(self).__name__, self.n_features, self.non_negative)
        return rows, weights

    def state(self) -> State:
        """Return the whole learner, as a JSON-able header and arrays."""
        raise ModelError(
            f"{type(self).__name__} cannot be saved: it does not say its state as data. Give it "
            "the methods state and from_state, or choose a learner of Thresher."
        )

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Return a learner from what `state` returned, checking everything."""
        raise ModelError(f"{cls.__name__} cannot be loaded: it has no method from_state.")

    def check_bounds(self, columns: np.ndarray | None = None) -> None:
        """Raise `ParameterError` if scores would not be finite; None looks at all features."""

    def check_savable(self) -> None:
        """Raise before training the error that `state` would raise afterwards."""
        if type(self).state is Learner.state:
            self.state()
        self.plain_params()

    def header(self, **more: Any) -> dict[str, Any]:
        """Return the header that all learners share, and `more` fields of this one."""
        sizes = {"n_features": self.n_features, "n_categories": self.n_categories}
        return {"learner": self.name, "params": self.plain_params(), **sizes, **more}

    @classmethod
    def from_header(cls, header: dict[str, Any]) -> tuple[Self, int, int]:
        """Return an unfitted learner with the header's parameters and sizes, and these sizes."""
        if require_field(header, "learner", str) != cls.name:
            raise ModelError(
                f"The model holds a {brief(header['learner'])} learner, not {cls.name!r}."
            )
        n_features, n_categories = (
            require_field(header, name, int, low=0, high=MOST_THINGS)
            for name in ("n_features", "n_categories")
        )
        learner = cls.from_plain(require_field(header, "params", dict))
        learner.n_features, learner.n_categories = n_features, n_categories
        return learner, n_features, n_categories

    # ---- what a subclass may override --------------------------------------------------------

    def contributions(self, rows: Rows, category: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what each entry of `rows` adds to the score of a category, and the rest of it.

        The shares of a document's entries and the rest (one number per document) add up to the
        score of `score_rows`. If scores are no weighted sums, features are by default removed from
        a document one after the other, starting with the one whose removal alone changes the score
        most. The share of each is the score lost by its removal; the rest is the score of an empty
        document.
        """
        if (weighted := self._weighted_sum(rows)) is not None:
            return linear_shares(weighted[0], weighted[1][:, category])
        shares, rest = np.empty(len(rows.indices), np.float32), np.empty(rows.n_rows, np.float32)
        for i in range(rows.n_rows):
            entries = slice(int(rows.indptr[i]), int(rows.indptr[i + 1]))
            document = rows.take(np.array([i]))
            numbers = np.arange(len(document.indices))
            *without_each, whole = self._variants(document, numbers, np.not_equal, category)
            order = np.argsort(-np.abs(whole - np.array(without_each)), kind="stable")
            scores = self._variants(document, np.argsort(order), np.greater_equal, category)
            shares[entries][order] = scores[:-1] - scores[1:]
            rest[i] = scores[-1]
        return shares, rest

    def _variants(self, document: Rows, rank: np.ndarray, keeps: Any, category: int) -> np.ndarray:
        """Return the scores of variants of a document, which keep the entries `keeps(rank, t)`."""
        scores = np.empty(len(rank) + 1, np.float64)
        size = max(1, ENTRIES_SCORED_AT_ONCE // max(1, len(rank)))
        for start in range(0, len(scores), size):
            numbers = np.arange(start, min(start + size, len(scores)))
            is_retained = keeps(rank, numbers[:, None])
            entries, ends = np.nonzero(is_retained)[1], np.cumsum(is_retained.sum(1))
            indices, values = document.indices[entries], document.values[entries]
            variants = Rows(np.append(0, ends), indices, values, document.n_columns)
            scores[numbers] = self.score_rows(variants)[:, category]
        return scores

    def explanation_lines(
        self, rows: Rows, category: int, features: ExplainedFeatures
    ) -> Lines | None:
        """Return the rules or tests that explain the score of a document, or None for its features.

        The shares of the lines add up to the score.
        """
        return None

    def strengths(self, rows: Rows, training: bool = False) -> tuple[Rows, np.ndarray | None]:
        """Return the strengths as the learner uses them, and the always-on feature's, if any."""
        return rows, None

    @property
    def score_offset(self) -> float:
        """The number that `score_rows` subtracts from every score."""
        return 0.0

    def linear_weights(self) -> np.ndarray | None:
        """Return the weights (features, categories) if the score is a weighted sum, else None."""
        return None if (weights := self._linear) is None else weights[1:]

    def plain_weights(self) -> tuple[np.ndarray, np.float32] | None:
        """Return the weights and the always-on strength if scores are nothing but their sums.

        None otherwise. The first row of the weights is the always-on feature's.
        """
        return None

    @property
    def weight_bytes(self) -> int:
        """The memory that each pair of feature and category takes; 0 if it depends on the data."""
        return 0

    def summary(self) -> dict[str, Any]:
        """Return what only this learner reports to `inspect`."""
        return {}

    @property
    def reads_strengths(self) -> bool:
        """Whether scores depend on the strength of a feature, not only on its presence."""
        return True

    def compacted(self) -> Learner:
        """Return a learner with the same scores, without what only learning needs, if it can."""
        return self

    def drop_categories(self, keep: np.ndarray) -> Self:
        """Remove the categories where `keep` is false; the others are renumbered in order."""
        raise ModelError(
            f"{type(self).__name__} cannot let a category go; train it again without the category."
        )

    def merge_categories(self, source: int, target: int) -> Self:
        """Merge the category `source` into `target`, and remove it."""
        raise ModelError(
            f"{type(self).__name__} cannot merge categories; rename the labels and train it again."
        )

    # ---- the protocol of scikit-learn --------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from scratch.

        Parameters
        ----------
        X : array or sparse matrix of shape (documents, features)
            The strengths.
        y : array, indicator matrix, or list of lists of labels
            The classes.
        sample_weight : array, optional
            How much each document counts; 1 by default.
        """
        rows, answers, weights = self._read(X, y, sample_weight, reset=True)
        if weights is not None and not weights.any():
            raise ParameterError("Sample weights must contain at least one non-zero number.")
        self._targets: Targets = Targets.first(answers)
        self.classes_ = self._targets.classes
        labels = self._targets.encode(answers.values)._replace(weights=weights)
        return self.fit_rows(Examples.of(rows, labels), n_jobs=self._n_jobs())

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores: one column per class, or one number where there are two classes."""
        scores = self.score_rows(self._read_rows(X), self._n_jobs())
        return self._targets.as_decisions(scores)

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each document, or an indicator matrix of its labels."""
        scores = self.score_rows(self._read_rows(X), self._n_jobs())
        return self._targets.predict(scores)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on documents whose classes are known."""
        from sklearn.metrics import accuracy_score

        predicted = self.predict(X)
        if self._targets.kind == "multilabel":
            y = self._targets.encode(read_targets(y).values).to_dense().astype(int)
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))

    def _n_jobs(self) -> int:
        return int(getattr(self, "n_jobs", 1))

    def _read(
        self, X: Any, y: Any, sample_weight: Any, reset: bool
    ) -> tuple[Rows, Answers, np.ndarray | None]:
        self.check_parameters()
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        rows, answers = self._read_rows(X, reset=reset), read_targets(y)
        if len(answers.values) != rows.n_rows:
            raise ValueError(
                "Found input variables with inconsistent numbers of samples: "
                f"X has {rows.n_rows} and y has {len(answers.values)}."
            )
        if sample_weight is not None:
            sample_weight = checked_sample_weight(sample_weight, rows.n_rows)
        return rows, answers, sample_weight

    def _read_rows(self, X: Any, reset: bool = False) -> Rows:
        """Return a matrix as rows: finite, without zeros, each column at most once in a row."""
        try:
            from scipy.sparse import csr_array
            from sklearn.utils.validation import assert_all_finite, check_is_fitted, validate_data
        except ImportError:
            raise missing_extra(
                "scikit-learn", "scikit-learn", "The methods for matrices, such as fit and predict,"
            ) from None
        from thresher._kernels import rows as kernels

        if not reset:
            check_is_fitted(self, "classes_")
        X = validate_data(
            self, X, reset=reset, accept_sparse="csr", dtype=np.float32, ensure_all_finite=False
        )
        rows = Rows.from_scipy(csr_array(X))
        # The vectorizers of scikit-learn leave rows unsorted; sorting takes longer than learning.
        seen = np.zeros(rows.n_columns, np.int64)
        unsigned = rows.indices.view(np.uint32)
        flags = kernels.inspect_rows(rows.indptr, unsigned, rows.values, rows.n_columns, seen)
        if flags & kernels.NOT_FINITE:
            assert_all_finite(rows.values, input_name="X")
        if flags & kernels.OUT_OF_RANGE:
            raise ValueError(
                f"X has columns up to {unsigned.max()} in its rows and is {rows.n_columns} wide."
            )
        if flags & (kernels.TWICE | kernels.ZEROS):
            matrix = csr_array(X, copy=True)
            matrix.sum_duplicates()
            matrix.eliminate_zeros()
            rows = Rows.from_scipy(matrix)
        return rows

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            # Learners of counts cannot do well on two features that every document has.
            classifier_tags=ClassifierTags(multi_label=True, poor_score=self.non_negative),
            input_tags=InputTags(sparse=True, positive_only=self.non_negative),
        )
