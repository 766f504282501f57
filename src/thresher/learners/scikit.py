"""Any classifier of scikit-learn as a learner, and the weights as which a linear one is saved."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from thresher.errors import ModelError, ParameterError
from thresher.examples import Examples
from thresher.learners.growing import BOTH, Table, Tables
from thresher.learners.learner import Learner, Progress, State, Watch
from thresher.learners.scoring import check_rows, linear_scores, linear_shares
from thresher.parameters import Some, parameter
from thresher.rows import Labels, Rows

__all__ = ["LinearModel", "ScikitLearner", "is_classifier"]

CERTAIN = 1e-7  # how far a probability is kept from 0 and 1, whose odds are infinite


def is_classifier(thing: Any) -> bool:
    """Tell whether something is a classifier in scikit-learn's manner, and none of ours."""
    methods = ("fit", "predict", "get_params", "set_params")
    ours = isinstance(thing, Learner | type)
    return not ours and all(callable(getattr(thing, name, None)) for name in methods)


def _refuse(value: Any) -> str | None:
    return None if is_classifier(value) else "a classifier of scikit-learn, such as LinearSVC()"


class LinearModel(Learner):
    """Weights and an intercept per category: what a linear classifier of scikit-learn is saved as.

    A document scores the sum of its strengths times their weights, and the intercept.

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
        """Take over weights (features, categories) and an intercept per category."""
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
        """Refuse: only the classifier that the weights come from knows how they are learned."""
        raise ModelError(
            "A linear-model holds the weights of a classifier that was trained before and learns "
            "nothing; train that classifier again."
        )

    def score_rows(self, rows: Rows, n_jobs: int = 1) -> np.ndarray:
        """Return a score per document and category; above zero means that it belongs."""
        check_rows(rows, "LinearModel", self.n_features, False)
        return linear_scores(rows, self._tables["weights"], n_jobs).astype(np.float32)

    def contributions(self, rows: Rows, category: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what each entry of `rows` adds to the score, and the intercept."""
        return linear_shares(rows, self._tables["weights"][:, category])

    def linear_weights(self) -> np.ndarray | None:
        """Return the weights (features, categories)."""
        return self._tables["weights"][1:]

    def drop_categories(self, keep: np.ndarray) -> Self:
        """Remove the categories where `keep` is false; the others are renumbered in order."""
        self._tables.drop(keep)
        self.n_categories = self._tables.n_categories
        return self

    def state(self) -> State:
        """Return all that is needed to score, as a JSON-able header and arrays."""
        return self.header(), self._tables.tensors()

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Rebuild the model from what `state` returned, checking every shape and type."""
        model, n_features, n_categories = cls.from_header(header)
        return model._read_tables(tensors, n_features, n_categories)


class ScikitLearner(Learner):
    """A classifier of scikit-learn.

    Where every document has exactly one category, one copy of it learns them all; else one copy per
    category learns which documents have it. The score is the decision function, or else the
    log-odds of the probability, or else 1 or -1.

    Notes
    -----
    A linear classifier is saved as its weights, which load as a `LinearModel`; one that is not
    linear cannot be saved.

    Examples
    --------
    >>> from sklearn.linear_model import RidgeClassifier
    >>> X = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 1, 0]])
    >>> learner = ScikitLearner(RidgeClassifier()).fit(X, [1, 1, 0, 0])
    >>> [round(float(score), 2) for score in learner.decision_function(X)]
    [0.42, 0.67, -0.58, -0.5]
    """

    name = "scikit-learn"

    estimator: Any = parameter(
        default=None,
        kind=Some("classifier", _refuse),
        words="What learns; its parameters are had by names like `estimator__C`.",
        kw_only=False,
    )

    def fit_rows(
        self, examples: Examples, *, n_jobs: int = 1, progress: Progress = None, watch: Watch = None
    ) -> Self:
        """Hand all documents, which must fit into memory, to scikit-learn."""
        self.check_parameters()
        parts = list(examples)
        rows = Rows.concatenate([rows for rows, _ in parts])
        labels = Labels.concatenate([labels for _, labels in parts])
        self.n_features, self.n_categories = examples.n_columns, examples.n_categories
        if labels.weights is not None and not (labels.weights > 0).all():
            counted = np.flatnonzero(labels.weights > 0)
            rows, labels = rows.take(counted), labels.take(counted)
        X = rows._replace(n_columns=self.n_features).to_scipy()
        self._together = self.n_categories > 1 and bool((np.diff(labels.indptr) == 1).all())
        if self._together:
            self._columns = np.unique(labels.indices)  # the category of each class of the estimator
            self._estimators = [self._fitted(X, labels.indices, labels.weights)]
        else:
            self._columns = np.arange(self.n_categories)
            truth = labels.to_dense()
            self._estimators = []
            for k in range(self.n_categories):
                self._estimators.append(self._fitted(X, truth[:, k].astype(int), labels.weights))
                if progress is not None:
                    progress("categories", rows.n_rows, (k + 1) / self.n_categories)
        self._weights = self._linear(X)
        return self

    def _fitted(self, X: Any, y: np.ndarray, weights: np.ndarray | None) -> Any:
        """Return a fitted copy of the estimator, or the only class that there is."""
        from sklearn.base import clone
        from sklearn.utils.validation import has_fit_parameter

        classes = np.unique(y)
        if len(classes) < 2:
            return int(classes[0]) if len(classes) else 0
        given = {} if weights is None else {"sample_weight": weights}
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

    def _linear(self, X: Any) -> np.ndarray | None:
        """Return weights and intercepts, if they are seen to give the scores, else None."""
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
        scores, some = self._scores(X[:20]), X[:20] @ weights[1:] + weights[0]
        return weights if np.allclose(some, scores, rtol=1e-4, atol=1e-5) else None

    def contributions(self, rows: Rows, category: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what each entry of `rows` adds to the score of a category, and the rest of it."""
        if self._weights is None:
            return super().contributions(rows, category)
        return linear_shares(rows, self._weights[:, category])

    def linear_weights(self) -> np.ndarray | None:
        """Return the weights (features, categories) if the classifier is linear, else None."""
        return None if self._weights is None else self._weights[1:]

    def state(self) -> State:
        """Return the weights, as a `LinearModel` has them."""
        return self.compacted().state()

    def compacted(self) -> Learner:
        """Return the weights, as a `LinearModel`."""
        if self._weights is None:
            raise self._unsavable()
        return LinearModel().take(self._weights[1:], self._weights[0])

    def check_savable(self) -> None:
        """Refuse a classifier that has no weights after learning a toy."""
        self.check_parameters()
        rows = Rows(np.arange(21), np.arange(20, dtype=np.int32) % 2, np.ones(20, np.float32), 2)
        labels = Labels.from_lists([[i % 2] for i in range(20)], 2)
        toy = type(self)(self.estimator)
        try:
            toy.fit_rows(Examples.of(rows, labels))
        except (ValueError, TypeError):  # too small for it, or not for one's own data either
            return
        if toy._weights is None:
            raise self._unsavable()

    def _unsavable(self) -> ModelError:
        kind = type(self.estimator).__name__
        return ModelError(
            f"A model with {kind} cannot be saved: only the weights of linear classifiers can be "
            "kept as data, and it has none. Choose a linear one, such as LinearSVC, or a learner "
            "of Thresher."
        )


def _scores_of(estimator: Any, X: Any, n_classes: int) -> np.ndarray:
    """Return a score per class that is above zero where the class is the more probable."""
    if isinstance(estimator, int):  # there was one class alone
        return np.ones((X.shape[0], 1))
    if hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(X), np.float64)
        if scores.ndim == 1:
            scores = np.stack([-scores, scores], axis=1)
        if scores.shape[1] == n_classes:  # else it is one per pair of classes
            return scores
    if hasattr(estimator, "predict_proba"):
        probable = np.clip(estimator.predict_proba(X), CERTAIN, 1 - CERTAIN)
        return np.asarray(np.log(probable) - np.log1p(-probable))
    predicted = np.asarray(estimator.predict(X))
    return np.where(predicted[:, None] == estimator.classes_, 1.0, -1.0)
