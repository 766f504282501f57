"""The scikit-learn half of a learner: `fit`, `partial_fit`, `predict`, `decision_function`."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from thresher.errors import ParameterError
from thresher.learners.online._arrays import checked_sample_weight
from thresher.learners.online._learner import OnlineLearner
from thresher.learners.online._targets import Targets, read_targets
from thresher.rows import Labels, Rows


class OnlineClassifier(OnlineLearner):
    """A learner as scikit-learn wants it: matrices in, classes out.

    Two classes are learned as one column of weights (`classes_[1]` is the positive one), more as
    one column each, the highest score being predicted; several labels per document (an indicator
    matrix, or a list of lists) as one column each, every score above zero being predicted. A score
    of exactly zero is not above the threshold and means "does not belong".
    """

    max_iter: int
    shuffle: bool
    random_state: Any
    n_jobs: int

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from scratch, in up to `max_iter` passes, stopping when no mistakes remain.

        Parameters
        ----------
        X : array or sparse matrix of shape (documents, features)
            The strengths.
        y : array, indicator matrix, or list of lists of labels
            The classes.
        sample_weight : array, optional
            How much a mistake on each document counts; 1 by default.

        Returns
        -------
        self
        """
        rows, labels, weights = self._prepare(X, y, sample_weight, None, reset=True)
        if weights is not None and not weights.any():
            raise ParameterError("Sample weights must contain at least one non-zero number.")
        random = generator(self.random_state)
        for _ in range(self.max_iter):
            order = random.permutation(rows.n_rows) if self.shuffle else None
            mistakes = self.learn_rows(rows, labels, order, self.n_jobs, sample_weight=weights)
            if not mistakes.any():
                break
        self.n_iter_ = len(self.mistakes_)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on learning from more documents, met once each in the order given.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array, optional
            All classes, where they are known before the first documents; new ones may appear
            later without it.

        Returns
        -------
        self
        """
        first = not hasattr(self, "classes_")
        rows, labels, weights = self._prepare(X, y, sample_weight, classes, reset=first)
        self.learn_rows(rows, labels, None, self.n_jobs, sample_weight=weights)
        self.n_iter_ = len(self.mistakes_)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores: one column per class, or one number where there are two classes."""
        scores = self.score_rows(self._read_rows(X), self.n_jobs)
        return self._targets.as_decisions(scores)

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each document, or an indicator matrix of its labels."""
        scores = self.score_rows(self._read_rows(X), self.n_jobs)
        return self._targets.predict(scores)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on documents whose classes are known."""
        from sklearn.metrics import accuracy_score

        if self._targets.kind == "multilabel":
            y = self._targets.encode(read_targets(y).values).to_dense().astype(int)
        return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))

    @property
    def coef_(self) -> np.ndarray:
        """The weights, one row per class (one in all where there are two classes)."""
        return self.effective_weights().T

    @property
    def intercept_(self) -> np.ndarray:
        """What is added to the weighted strengths: the thresholds, negative."""
        return -self.thresholds()

    # ---- from matrices to rows ---------------------------------------------------------------

    def _prepare(
        self, X: Any, y: Any, sample_weight: Any, classes: Any, reset: bool
    ) -> tuple[Rows, Labels, np.ndarray | None]:
        self._check_parameters()
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        rows = self._read_rows(X, reset=reset)
        found = read_targets(y)
        if len(found.values) != rows.n_rows:
            raise ValueError(
                "Found input variables with inconsistent numbers of samples: "
                f"X has {rows.n_rows} and y has {len(found.values)}."
            )
        if reset:
            self._targets = Targets.first(found, classes)
            active = np.count_nonzero(rows.values) / max(rows.n_rows, 1)
            self.start(rows.n_columns, self._targets.n_columns, active)
        else:
            self._grow_classes(found)
        self.classes_ = self._targets.classes
        if sample_weight is not None:
            sample_weight = checked_sample_weight(sample_weight, rows.n_rows)
        return rows, self._targets.encode(found.values), sample_weight

    def _grow_classes(self, found: Any) -> None:
        """Make columns for classes not met before; the weights of the others stay theirs."""
        was_single = self._targets.single_column
        self._targets = self._targets.extended(found)
        if was_single and not self._targets.single_column:
            # The one column spoke for classes_[1]; classes_[0] gets its own, fresh.
            self.grow(self._n_features, 2)
            for name, array in self._arrays.items():
                self._arrays[name] = np.ascontiguousarray(array[..., ::-1])
            if self._live is not None:
                self._live = np.ascontiguousarray(self._live[:, ::-1])
        self.grow(self._n_features, self._targets.n_columns)

    def _read_rows(self, X: Any, reset: bool = False) -> Rows:
        from scipy.sparse import csr_array
        from sklearn.utils.validation import check_is_fitted, validate_data

        from thresher._kernels.rows import has_duplicates

        if not reset:
            check_is_fitted(self, "classes_")
        X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=np.float32)
        rows = _rows_of(csr_array(X))
        seen = np.zeros(rows.n_columns, np.int64)
        # scikit-learn's vectorizers leave rows unsorted; sorting takes longer than learning.
        if has_duplicates(rows.indptr, rows.indices.view(np.uint32), seen):
            matrix = csr_array(X, copy=True)
            matrix.sum_duplicates()
            rows = _rows_of(matrix)
        return rows

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            # Two measurements, both always there, leave the multiplicative learners no choice.
            classifier_tags=ClassifierTags(multi_label=True, poor_score=self.non_negative),
            input_tags=InputTags(sparse=True, positive_only=self.non_negative),
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name in ("max_iter", "n_jobs"):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
                raise ParameterError(
                    f"{type(self).__name__}: {name} is {value!r}; it must be a whole number "
                    "of at least 1."
                )


def _rows_of(matrix: Any) -> Rows:
    indptr = matrix.indptr.astype(np.int64, copy=False)
    indices = matrix.indices.astype(np.int32, copy=False)
    return Rows(indptr, indices, matrix.data, matrix.shape[1])


def generator(random_state: Any) -> np.random.Generator:
    """Return a generator from a seed, None, a generator or NumPy's older RandomState."""
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31)
    return np.random.default_rng(random_state)
