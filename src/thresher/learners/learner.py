"""What a learner is: from strengths and labels to one score per category."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, ClassVar, Self

import numpy as np

from thresher.errors import ModelError, ParameterError, brief, missing_extra
from thresher.examples import Examples
from thresher.learners._targets import Answers, Targets, read_targets
from thresher.learners.capabilities import ExplainedFeatures, Lines
from thresher.learners.scoring import checked_sample_weight
from thresher.limits import MOST_THINGS
from thresher.parameters import Estimator
from thresher.rows import Rows
from thresher.state import require_field

__all__ = ["Learner", "Progress", "Watch"]

Progress = Callable[[str, int, float], None] | None
"""Called with the stage, how many documents it has seen, and the share of it that is done."""

Watch = Callable[[int, int, int, int], None] | None
"""Called with the number of the pass, and the documents, mistakes and decisions since last time."""

State = tuple[dict[str, Any], dict[str, np.ndarray]]
TRIED_AT_ONCE = 2_000_000  # entries of the documents that are scored to explain one


def _size(name: str) -> Any:
    """Keep a figure under a private name: scikit-learn lets learning add no public attributes."""
    return property(attrgetter(name), lambda self, number: setattr(self, name, number))


class Learner(Estimator):
    """The base of every learner: documents in as `Rows`, scores out, and scikit-learn's protocol.

    A subclass has a `name`, declares its parameters, and provides `fit_rows` and `score_rows`;
    `state` and `from_state` if its models are to be saved. Everything else follows. It is also a
    classifier as scikit-learn wants it: two classes are learned as one category (`classes_[1]` is
    the positive one), more as one each, the highest score being predicted; several labels per
    document (an indicator matrix, or a list of lists) as one category each, every score above zero
    being predicted. A score of exactly zero means "does not belong".

    Attributes
    ----------
    name : str
        How the command line and the model file call it.
    preferred_strength : dict
        The arguments of the `Strength` that suits it.
    non_negative : bool
        Whether it refuses strengths below zero.
    n_features, n_categories : int
        How many it knows, after learning.
    """

    name: ClassVar[str]
    preferred_strength: ClassVar[dict[str, Any]] = dict(
        kind="tf-idf", sublinear_tf=True, normalize="l2"
    )
    non_negative: ClassVar[bool] = False
    constant_name: ClassVar[str] = "(always on)"  # the share of no feature, in an explanation
    # For `compact`: the tensors of `state` with a row for each feature, maybe after one for what is
    # always on, of which those with little weight can go; or the one that names features.
    by_feature: ClassVar[tuple[str, ...]] = ()
    asks_for: ClassVar[str | None] = None
    n_features, n_categories = _size("_n_features"), _size("_n_categories")
    _compacted = False  # it has no more than scoring needs
    is_compacted = _size("_compacted")

    # ---- what a subclass provides ------------------------------------------------------------

    def fit_rows(
        self, examples: Examples, *, n_jobs: int = 1, progress: Progress = None, watch: Watch = None
    ) -> Self:
        """Learn from scratch.

        Parameters
        ----------
        examples : Examples
            Blocks of rows and labels, which may be walked over as often as need be.
        n_jobs : int, default=1
            Threads; the result must not depend on them.
        progress : callable, optional
            Called with a stage, the documents it has seen and the share that is done.
        watch : callable, optional
            Called by learners that go by mistakes, some twenty times a pass, with its number and
            the documents, mistakes and decisions since the last call.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say how it learns: fit_rows.")

    def score_rows(self, rows: Rows, n_jobs: int = 1) -> np.ndarray:
        """Return a score per document and category (float32); above zero means that it belongs.

        Nothing is changed by it, and any number of threads may call it at once.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say how it scores: score_rows.")

    def state(self) -> State:
        """Return all that is needed to go on, as a JSON-able header and arrays."""
        raise ModelError(
            f"{type(self).__name__} cannot be saved: it does not say its state as data. Give it "
            "the methods state and from_state, or choose a learner of Thresher."
        )

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Rebuild a learner from what `state` returned, checking everything."""
        raise ModelError(f"{cls.__name__} cannot be loaded: it has no method from_state.")

    def check_bounds(self, columns: np.ndarray | None = None) -> None:
        """Refuse what was learned, of these features or of all, if scores would not be finite."""

    def check_savable(self) -> None:
        """Refuse, before any work is done, what `state` would refuse afterwards."""
        if type(self).state is Learner.state:
            self.state()
        self.plain_params()

    def header(self, **more: Any) -> dict[str, Any]:
        """Return the header that all learners share, and what is `more` of this one."""
        sizes = {"n_features": self.n_features, "n_categories": self.n_categories}
        return {"learner": self.name, "params": self.plain_params(), **sizes, **more}

    @classmethod
    def from_header(cls, header: dict[str, Any]) -> tuple[Self, int, int]:
        """Return an unfitted learner with the header's parameters, and its sizes, all checked."""
        if require_field(header, "learner", str) != cls.name:
            raise ModelError(
                f"The model holds a {brief(header['learner'])} learner, not {cls.name!r}."
            )
        n_features, n_categories = (
            require_field(header, name, int, low=0, high=MOST_THINGS)
            for name in ("n_features", "n_categories")
        )
        learner = cls.from_plain(require_field(header, "params", dict))
        return learner, n_features, n_categories

    # ---- what a subclass may do better -------------------------------------------------------

    def contributions(self, rows: Rows, category: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what each entry of `rows` adds to the score of a category, and the rest of it.

        The shares of a document's entries and the rest (one number per document) add up to the
        score that `score_rows` gives. Where nothing is known of the learner, the features of a
        document are taken out one after the other, the one that matters most by itself first; the
        share of each is what the score loses then, the rest is the score of an empty document.
        """
        shares, rest = np.empty(len(rows.indices), np.float32), np.empty(rows.n_rows, np.float32)
        for i in range(rows.n_rows):
            here = slice(int(rows.indptr[i]), int(rows.indptr[i + 1]))
            document = rows.take(np.array([i]))
            each = np.arange(len(document.indices))
            *one_less, whole = self._tried(document, each, np.not_equal, category)
            order = np.argsort(-np.abs(whole - np.array(one_less)), kind="stable")
            scores = self._tried(document, np.argsort(order), np.greater_equal, category)
            shares[here][order] = scores[:-1] - scores[1:]
            rest[i] = scores[-1]
        return shares, rest

    def _tried(self, document: Rows, rank: np.ndarray, keeps: Any, category: int) -> np.ndarray:
        """Return the document's score at each turn, with the entries whose rank the turn keeps."""
        scores = np.empty(len(rank) + 1, np.float64)
        size = max(1, TRIED_AT_ONCE // max(1, len(rank)))
        for start in range(0, len(scores), size):
            turns = np.arange(start, min(start + size, len(scores)))
            kept = keeps(rank, turns[:, None])
            entries, ends = np.nonzero(kept)[1], np.cumsum(kept.sum(1))
            indices, values = document.indices[entries], document.values[entries]
            tries = Rows(np.append(0, ends), indices, values, document.n_columns)
            scores[turns] = self.score_rows(tries)[:, category]
        return scores

    def explanation_lines(
        self, rows: Rows, category: int, features: ExplainedFeatures
    ) -> Lines | None:
        """Return the rules or tests that explain the score of a document; None: its features do.

        The shares of the lines add up to the score.
        """
        return None

    def strengths(self, rows: Rows, training: bool = False) -> tuple[Rows, np.ndarray | None]:
        """Return the strengths as the learner uses them, and those of the always-on feature."""
        return rows, None

    @property
    def score_offset(self) -> float:
        """What `score_rows` has subtracted from every score."""
        return 0.0

    def linear_weights(self) -> np.ndarray | None:
        """Return the weights (features, categories) if the score is a weighted sum, else None."""
        return None

    def plain_weights(self) -> tuple[np.ndarray, np.float32] | None:
        """Return the weights that `score_rows` adds up, if it does nothing else; None otherwise.

        The first row is that of the feature which is always on; after them comes its strength.
        """
        return None

    @property
    def weight_bytes(self) -> int:
        """How much memory each pair of feature and category takes; 0 if it depends on the data."""
        return 0

    def summary(self) -> dict[str, Any]:
        """Return figures for `inspect` that only this learner has."""
        return {}

    @property
    def reads_strengths(self) -> bool:
        """Whether it matters how strong a feature is, not only that it is there."""
        return True

    def compacted(self) -> Learner:
        """Return one that scores alike, without what only learning needs, where there is such."""
        return self

    def drop_categories(self, keep: np.ndarray) -> Self:
        """Remove the categories where `keep` is false; the others are renumbered in order."""
        raise ModelError(
            f"{type(self).__name__} cannot let a category go; train it again without the category."
        )

    def merge_categories(self, source: int, target: int) -> Self:
        """Let the category `target` stand for `source` too, which is then removed."""
        raise ModelError(
            f"{type(self).__name__} cannot merge categories; rename the labels and train it again."
        )

    # ---- scikit-learn's half -----------------------------------------------------------------

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
        # scikit-learn's vectorizers leave rows unsorted; sorting takes longer than learning.
        seen = np.zeros(rows.n_columns, np.int64)
        unsigned = rows.indices.view(np.uint32)
        flags = kernels.look_over(rows.indptr, unsigned, rows.values, rows.n_columns, seen)
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
            # Two measurements, both always there, leave learners of counts no choice.
            classifier_tags=ClassifierTags(multi_label=True, poor_score=self.non_negative),
            input_tags=InputTags(sparse=True, positive_only=self.non_negative),
        )
