"""Classifiers of scikit-learn as learners, and the weights of linear ones for the model file."""

from __future__ import annotations

from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from thresher.errors import ModelError, ParameterError
from thresher.examples import Examples
from thresher.learners._memory import MemoryLearner, Training
from thresher.learners.growing import BOTH, Table, Tables
from thresher.learners.learner import Learner, Progress, State, Watch
from thresher.learners.scoring import check_rows, linear_scores
from thresher.parameters import Some, parameter
from thresher.rows import Labels, Rows

PROBABILITY_MARGIN = 1e-7  # from 0 and 1, whose odds are infinite


@runtime_checkable
class Classifier(Protocol):
    """The methods of a classifier of scikit-learn."""

    def fit(self, X: Any, y: Any) -> Any: ...
    def predict(self, X: Any) -> Any: ...
    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> Any: ...


def is_classifier(thing: object) -> bool:
    """Return True for a classifier of scikit-learn, or with the same methods; not for a learner."""
    return isinstance(thing, Classifier) and not isinstance(thing, Learner | type)


def _classifier_problem(value: Any) -> str | None:
    return None if is_classifier(value) else "a classifier of scikit-learn, such as LinearSVC()"


class LinearModel(Learner):
    """Weights and an intercept per category, as which linear classifiers of scikit-learn are saved.

    The score of a document is the weighted sum of its strengths plus the intercept.

    Examples
    --------
    >>> model = LinearModel().take(np.array([[2.0], [-1.0]]), np.array([-0.5]))
    >>> rows = Rows(np.array([0, 2]), np.array([0, 1], np.int32), np.ones(2, np.float32), 2)
    >>> model.score_rows(rows)
    array([[0.5]], dtype=float32)
    """

    name = "linear-model"
    by_feature = ("weights",)

    def take(self, weights: np.ndarray, intercepts: np.ndarray) -> Self:
        """Set the weights (features, categories) and an intercept per category."""
        tensors = {"weights": np.vstack([intercepts, weights]).astype(np.float64)}
        return self._read_tables(tensors, *weights.shape)

    def _read_tables(self, tensors: dict[str, np.ndarray], *sizes: int) -> Self:
        self._tables = Tables({"weights": Table(BOTH, np.float64, 0.0)}, 0, 0)
        self._tables.read(tensors, *sizes)
        self.n_features, self.n_categories = sizes
        return self

    def fit_rows(
        self, examples: Examples, *, n_jobs: int = 1, progress: Progress = None, watch: Watch = None
    ) -> Self:
        """Raise `ModelError`: only the original classifier can learn."""
        raise ModelError(
            "A linear-model holds the weights of a classifier that was trained before and learns "
            "nothing; train that classifier again."
        )

    @property
    def _linear(self) -> np.ndarray:
        return self._tables["weights"]

    def drop_categories(self, keep: np.ndarray) -> Self:
        """Remove the categories where `keep` is false; the others are renumbered in order."""
        self._tables.drop(keep)
        self.n_categories = self._tables.n_categories
        return self

    def state(self) -> State:
        """Return the whole model, as a JSON-able header and arrays."""
        return self.header(), self._tables.tensors()

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Return a model from what `state` returned, checking every shape and type."""
        model, n_features, n_categories = cls.from_header(header)
        return model._read_tables(tensors, n_features, n_categories)


class ScikitLearner(MemoryLearner):
    """A classifier of scikit-learn.

    If every document has exactly one category, one copy of the classifier learns all categories;
    otherwise one copy per category. The score is the decision function if there is one, otherwise
    the log-odds of the probability, otherwise 1 or -1.

    Notes
    -----
    A linear classifier is saved as its weights, which load as a `LinearModel`; other classifiers
    cannot be saved.

    Examples
    --------
    >>> from sklearn.linear_model import RidgeClassifier
    >>> X = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 1, 0]])
    >>> learner = ScikitLearner(RidgeClassifier()).fit(X, [1, 1, 0, 0])
    >>> [round(float(score), 2) for score in learner.decision_function(X)]
    [0.42, 0.67, -0.58, -0.5]
    """

    name = "scikit-learn"
    n_jobs = 1

    estimator: Any = parameter(
        default=None,
        kind=Some("classifier", _classifier_problem),
        words="The classifier; its parameters have names like `estimator__C`.",
        kw_only=False,
    )

    def _fit(self, training: Training, n_jobs: int, progress: Progress) -> None:
        """Fit a copy of the classifier to all categories, or one to each."""
        rows, labels, weights, _ = training
        self.n_features, self.n_categories, X = rows.n_columns, labels.n_categories, rows.to_scipy()
        given = {} if (weights == 1).all() else {"sample_weight": weights}
        self._together = self.n_categories > 1 and bool((np.diff(labels.indptr) == 1).all())
        if self._together:
            self._columns = np.unique(labels.indices)  # the category of each class of the estimator
            self._estimators = [self._fitted(X, labels.indices, given)]
        else:
            self._columns, truth = np.arange(self.n_categories), labels.to_dense()
            self._estimators = []
            for k in range(self.n_categories):
                self._estimators.append(self._fitted(X, truth[:, k].astype(int), given))
                if progress is not None:
                    progress("categories", rows.n_rows, (k + 1) / self.n_categories)
        self._weights = self._weights_of(X)

    def _fitted(self, X: Any, y: np.ndarray, given: dict[str, np.ndarray]) -> Any:
        """Return a fitted copy of the estimator, or the class if there is only one."""
        from sklearn.base import clone
        from sklearn.utils.validation import has_fit_parameter

        classes = np.unique(y)
        if len(classes) < 2:
            return int(classes[0]) if len(classes) else 0
        if given and not has_fit_parameter(self.estimator, "sample_weight"):
            raise ParameterError(
                f"{type(self.estimator).__name__} takes no sample_weight; leave it out, or choose "
                "another learner."
            )
        return clone(self.estimator).fit(X, y, **given)

    def score_rows(self, rows: Rows, n_jobs: int = 1) -> np.ndarray:
        """Return a score per document and category; above zero means that it belongs."""
        check_rows(rows, type(self.estimator).__name__, self.n_features, False)
        if self._weights is not None:
            return linear_scores(rows, self._weights, n_jobs).astype(np.float32)
        return self._scores(rows._replace(n_columns=self.n_features).to_scipy()).astype(np.float32)

    def _scores(self, X: Any) -> np.ndarray:
        scores = np.full((X.shape[0], self.n_categories), -1.0)
        if self._together:
            (estimator,) = self._estimators
            scores[:, self._columns] = _scores_of(estimator, X, len(self._columns))
        else:
            for k, estimator in enumerate(self._estimators):
                constant = isinstance(estimator, int)
                scores[:, k] = 2 * estimator - 1 if constant else _scores_of(estimator, X, 2)[:, 1]
        return scores

    @property
    def _linear(self) -> np.ndarray | None:
        return self._weights

    def _weights_of(self, X: Any) -> np.ndarray | None:
        """Return weights and intercepts if they reproduce the scores, else None."""
        weights = np.zeros((1 + self.n_features, self.n_categories))
        weights[0] = -1.0
        for k, estimator in enumerate(self._estimators):
            columns = self._columns if self._together else np.array([k])
            if isinstance(estimator, int):
                weights[0, columns] = 1.0 if self._together else 2 * estimator - 1
                continue
            if not hasattr(estimator, "coef_") or not hasattr(estimator, "decision_function"):
                return None
            coef = estimator.coef_
            coef = np.atleast_2d(coef.toarray() if hasattr(coef, "toarray") else coef)
            both = np.vstack([np.broadcast_to(estimator.intercept_, len(coef)), coef.T])
            if len(columns) == 2 and both.shape[1] == 1:
                both = np.hstack([-both, both])
            if both.shape != (len(weights), len(columns)):
                return None
            weights[:, columns] = both
        sums = X[:20] @ weights[1:] + weights[0]
        return weights if np.allclose(sums, self._scores(X[:20]), rtol=1e-4, atol=1e-5) else None

    def state(self) -> State:
        """Return the weights, in the form of a `LinearModel`."""
        return self.compacted().state()

    def compacted(self) -> Learner:
        """Return the weights, as a `LinearModel`."""
        if self._weights is None:
            raise self._unsavable()
        return LinearModel().take(self._weights[1:], self._weights[0])

    def check_savable(self) -> None:
        """Raise `ModelError` for a classifier that has no weights after learning an example."""
        self.check_parameters()
        rows = Rows(np.arange(21), np.arange(20, dtype=np.int32) % 2, np.ones(20, np.float32), 2)
        labels = Labels.from_lists([[i % 2] for i in range(20)], 2)
        example = type(self)(self.estimator)
        try:
            example.fit_rows(Examples.of(rows, labels))
        except (ValueError, TypeError):  # it may need more documents
            return
        if example._weights is None:
            raise self._unsavable()

    def _unsavable(self) -> ModelError:
        kind = type(self.estimator).__name__
        return ModelError(
            f"A model with {kind} cannot be saved: only the weights of linear classifiers can be "
            "kept as data, and it has none. Choose a linear one, such as LinearSVC, or a learner "
            "of Thresher."
        )


def _scores_of(estimator: Any, X: Any, n_classes: int) -> np.ndarray:
    """Return a score per class, above zero if the class is more probable than not."""
    if isinstance(estimator, int):  # there was only one class
        return np.ones((X.shape[0], 1))
    if hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(X), np.float64)
        if scores.ndim == 1:
            scores = np.stack([-scores, scores], axis=1)
        if scores.shape[1] == n_classes:  # otherwise one per pair of classes
            return scores
    if hasattr(estimator, "predict_proba"):
        p = np.clip(estimator.predict_proba(X), PROBABILITY_MARGIN, 1 - PROBABILITY_MARGIN)
        return np.asarray(np.log(p) - np.log1p(-p))
    predicted = np.asarray(estimator.predict(X))
    return np.where(predicted[:, None] == estimator.classes_, 1.0, -1.0)
