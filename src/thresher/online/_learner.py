"""What all mistake-driven learners share: weights that grow, passes, scores, and their state."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, Self

import numpy as np

from thresher._estimator import Estimator, check_choice, check_range
from thresher._rows import Labels, Rows
from thresher.errors import ModelError, ParameterError
from thresher.online._storage import check_tensor, grown, jsonable

AVERAGES = (None, "successes", "examples")  # the position is the kernel's code


class OnlineLearner(Estimator):
    """The engine's half of a learner: documents in as `Rows`, scores out; no scikit-learn.

    A subclass says which matrices it keeps (`_matrices`), which figures per category
    (`_vectors`), and how one pass goes (`_pass`).
    """

    name: ClassVar[str]
    preferred_strength: ClassVar[dict[str, Any]]
    non_negative: ClassVar[bool] = False

    # The parameters that mean the same in every learner.
    threshold: float
    always_on: bool
    normalize_strength: bool
    unseen: str
    average: str | None
    positive_weight: Any
    _average: np.ndarray | None

    # ---- what a subclass provides ------------------------------------------------------------

    def _matrices(self) -> dict[str, tuple[type, float]]:
        """Name the matrices (1 + features, categories): number type and initial value of each."""
        raise NotImplementedError

    def _vectors(self) -> dict[str, tuple[type, float]]:
        """Name the figures kept per category: number type and initial value of each."""
        return {"clock": (np.int64, 0)}

    def _pass(self, documents: Any, tally: Any) -> Callable[[int, int], None]:
        """Return the function that meets the documents for the categories from one to another."""
        raise NotImplementedError

    def _check_parameters(self) -> None:
        check_choice(self, "average", AVERAGES)
        check_choice(self, "unseen", ("keep", "drop"))
        check_range(self, "threshold", float("-inf"))

    # ---- starting and growing ----------------------------------------------------------------

    def start(self, n_features: int, n_categories: int, mean_active: float = 1.0) -> Self:
        """Forget everything and begin with `n_features` and `n_categories`.

        Parameters
        ----------
        n_features, n_categories : int
            How many there are now; `grow` adds more.
        mean_active : float, default=1.0
            d, the mean number of active features in a document, from which the initial weights
            are derived where none are given.
        """
        self._check_parameters()
        self.mean_active_ = float(mean_active) if mean_active > 0 else 1.0
        self.mistakes_: list[int] = []
        self.n_seen_ = 0
        self._pass_mistakes = 0
        self._arrays: dict[str, np.ndarray] = {}
        self._seen = np.zeros(n_features, bool)
        self._n_features = self._n_categories = 0
        self._allocate(n_features, n_categories)
        return self

    def grow(self, n_features: int, n_categories: int) -> Self:
        """Make room for new features and categories, which start from the initial weights."""
        if n_features < self._n_features or n_categories < self._n_categories:
            raise ModelError(
                f"{type(self).__name__} has {self._n_features} features and "
                f"{self._n_categories} categories and cannot grow to {n_features} and "
                f"{n_categories}; use prune to remove features."
            )
        if (n_features, n_categories) != (self._n_features, self._n_categories):
            self._allocate(n_features, n_categories)
        return self

    def _allocate(self, n_features: int, n_categories: int) -> None:
        shape = (1 + n_features, n_categories)
        for name, (dtype, fill) in self._matrices().items():
            self._arrays[name] = grown(self._arrays.get(name), shape, dtype, fill)
        for name, (dtype, fill) in self._vectors().items():
            self._arrays[name] = grown(self._arrays.get(name), shape[1:], dtype, fill)
        self._seen = grown(self._seen, (n_features,), bool, False)
        self._n_features, self._n_categories = n_features, n_categories
        self._forget_average()

    def prune(self, keep: np.ndarray) -> Self:
        """Remove the features where `keep` is false; the others are renumbered in order."""
        keep = np.asarray(keep)
        if keep.dtype != bool or keep.shape != (self._n_features,):
            raise ModelError(
                f"prune needs one true or false per feature, {self._n_features} in all, "
                f"and was given {keep.dtype} of shape {keep.shape}."
            )
        rows = np.concatenate([[True], keep])
        for name in self._matrices():
            self._arrays[name] = self._arrays[name][rows]
        self._seen = self._seen[keep]
        self._n_features = int(keep.sum())
        self._forget_average()
        return self

    # ---- learning ----------------------------------------------------------------------------

    def learn_rows(
        self,
        rows: Rows,
        labels: Labels,
        order: np.ndarray | None = None,
        threads: int = 1,
        *,
        sample_weight: np.ndarray | None = None,
        ends_pass: bool = True,
    ) -> np.ndarray:
        """Meet every document once and correct the mistaken categories.

        Parameters
        ----------
        rows : Rows
            The strengths.
        labels : Labels
            The categories of each document.
        order : array of int, optional
            The order in which the documents are met; their own by default.
        threads : int, default=1
            Among how many threads the categories are divided; the result is the same.
        sample_weight : array, optional
            How much a mistake on each document counts; 1 by default.
        ends_pass : bool, default=True
            False where more documents of the same pass follow.

        Returns
        -------
        array of int
            Mistakes per category.
        """
        from thresher._kernels.online import Documents, Tally

        self._check_rows(rows)
        self._check_labels(rows, labels)
        strengths, always_on = self.strengths(rows, training=True)
        n_categories = self._n_categories
        mistakes = np.zeros(n_categories, np.int64)
        documents = Documents(
            strengths.indptr,
            strengths.indices.view(np.uint32),
            strengths.values,
            always_on,
            np.arange(rows.n_rows) if order is None else _checked_order(order, rows.n_rows),
            _checked_sample_weight(sample_weight, rows.n_rows),
            labels.indptr,
            labels.indices.view(np.uint32),
        )
        tally = Tally(
            np.zeros(n_categories, np.float32),
            np.zeros(n_categories, bool),
            mistakes,
            self._arrays["clock"],
            self._positive_weights(),
        )
        in_blocks(self._pass(documents, tally), n_categories, threads)
        self._forget_average()
        self.n_seen_ += rows.n_rows
        self._pass_mistakes += int(mistakes.sum())
        if self.unseen == "drop":
            self._seen[rows.indices] = True
        if ends_pass:
            self._end_pass()
        return mistakes

    def _end_pass(self) -> None:
        self.mistakes_.append(self._pass_mistakes)
        self._pass_mistakes = 0

    def strengths(self, rows: Rows, training: bool = False) -> tuple[Rows, np.ndarray]:
        """Return the strengths as the learner uses them, and the always-on feature's.

        The sum of strength times `effective_weights` over a document, plus the always-on strength
        times `always_on_weights`, less `threshold`, is its score.
        """
        values = rows.values
        always_on = np.full(rows.n_rows, float(self.always_on), np.float32)
        if self.unseen == "drop" and not training:
            values = np.where(self._seen[rows.indices], values, np.float32(0))
        if self.normalize_strength:
            from thresher._kernels.online import normalize_strengths

            divided, constants = np.empty_like(values), np.empty_like(always_on)
            normalize_strengths(rows.indptr, values, always_on, divided, constants)
            values, always_on = divided, constants
        return rows._replace(values=values), always_on

    def _positive_weights(self) -> np.ndarray:
        """Return how much a mistake on a positive counts in each category."""
        weights = np.asarray(self.positive_weight, np.float64)
        if weights.shape not in ((), (self._n_categories,)) or not (weights > 0).all():
            raise ParameterError(
                f"{type(self).__name__}: positive_weight is {self.positive_weight!r}; it must be "
                f"a number above 0, or {self._n_categories} of them, one per category."
            )
        return np.broadcast_to(weights, (self._n_categories,)).copy()

    # ---- scoring -----------------------------------------------------------------------------

    def score_rows(self, rows: Rows, threads: int = 1) -> np.ndarray:
        """Return a score per document and category; above zero means that it belongs."""
        from thresher._kernels.online import score_documents

        self._check_rows(rows)
        strengths, always_on = self.strengths(rows)
        scores = np.empty((rows.n_rows, self._n_categories), np.float32)
        thresholds = np.full(self._n_categories, self.threshold, np.float32)
        weights = self._scoring_weights()

        def score(first: int, last: int) -> None:
            indices = strengths.indices.view(np.uint32)
            score_documents(
                strengths.indptr, indices, strengths.values, always_on,
                weights, thresholds, scores, first, last,
            )  # fmt: skip

        in_blocks(score, rows.n_rows, threads)
        return scores

    def effective_weights(self) -> np.ndarray:
        """Return the weights (features, categories) with which documents are scored."""
        return self._scoring_weights()[1:]

    def always_on_weights(self) -> np.ndarray:
        """Return the weight of the always-on feature in each category, zero where it is off."""
        row = self._scoring_weights()[0]
        return row if self.always_on else np.zeros_like(row)

    def thresholds(self) -> np.ndarray:
        """Return what the words of a document must exceed, per category.

        The always-on feature's weight is taken off, except under `normalize_strength`, where its
        strength depends on the document (`strengths` gives it).
        """
        constant = np.full(self._n_categories, self.threshold, np.float32)
        return constant if self.normalize_strength else constant - self.always_on_weights()

    def _scoring_weights(self) -> np.ndarray:
        if self.average is None:
            return self._arrays["weights"]
        if self._average is None:
            clock = np.maximum(self._arrays["clock"], 1)
            averaged = self._arrays["weights"] - self._arrays["drift"] / clock
            self._average = averaged.astype(np.float32)
        return self._average

    def _forget_average(self) -> None:
        self._average = None

    # ---- what comes from outside is checked before the kernels see it ------------------------

    def _check_rows(self, rows: Rows) -> None:
        if len(rows.indices) and rows.indices.view(np.uint32).max() >= self._n_features:
            raise ModelError(
                f"The documents use features up to {rows.indices.max()} (lowest "
                f"{rows.indices.min()}) and {type(self).__name__} knows {self._n_features}; "
                "call grow before learn_rows, or count with grow=False."
            )
        if self.non_negative and len(rows.values) and rows.values.min() < 0:
            raise ModelError(
                f"{type(self).__name__} multiplies weights and needs strengths of zero or more; "
                f"the lowest given is {rows.values.min():g}. Negative values in data passed to "
                f"{type(self).__name__} must be shifted or left out, or use Perceptron or "
                "PassiveAggressive."
            )

    def _check_labels(self, rows: Rows, labels: Labels) -> None:
        if labels.n_rows != rows.n_rows:
            raise ModelError(f"There are {rows.n_rows} documents and {labels.n_rows} label lists.")
        if len(labels.indices) and labels.indices.view(np.uint32).max() >= self._n_categories:
            raise ModelError(
                f"The labels use categories up to {labels.indices.max()} and "
                f"{type(self).__name__} knows {self._n_categories}; call grow before learn_rows."
            )

    # ---- state -------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return all that is needed to go on, as a JSON-able header and arrays."""
        header = {
            "learner": self.name,
            "params": {key: jsonable(self, key) for key in self._parameter_names()},
            "n_features": self._n_features,
            "n_categories": self._n_categories,
            "mean_active": self.mean_active_,
            "mistakes": list(self.mistakes_),
            "n_seen": self.n_seen_,
        }
        return header, {"seen": self._seen.astype(np.uint8), **self._arrays}

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Rebuild a learner from what `state` returned, checking every shape and type."""
        try:
            if header["learner"] != cls.name:
                raise ModelError(
                    f"The model holds a {header['learner']!r} learner, not {cls.name!r}."
                )
            learner = cls(**header["params"])
            learner.start(0, 0, header["mean_active"])
            n_features, n_categories = int(header["n_features"]), int(header["n_categories"])
            learner.mistakes_ = [int(one) for one in header["mistakes"]]
            learner.n_seen_ = int(header["n_seen"])
        except (KeyError, TypeError, ParameterError) as error:
            raise ModelError(f"The learner's header is not one of ours: {error}.") from error
        for name, (dtype, _) in learner._matrices().items():
            shape = (1 + n_features, n_categories)
            learner._arrays[name] = check_tensor(tensors, name, shape, dtype)
        for name, (dtype, _) in learner._vectors().items():
            learner._arrays[name] = check_tensor(tensors, name, (n_categories,), dtype)
        learner._seen = check_tensor(tensors, "seen", (n_features,), np.uint8).astype(bool)
        learner._n_features, learner._n_categories = n_features, n_categories
        return learner


def in_blocks(function: Callable[[int, int], None], size: int, threads: int) -> None:
    """Call `function(first, last)` over blocks of `range(size)`, one per thread."""
    if threads < 1:
        raise ParameterError(f"threads is {threads}; it must be at least 1.")
    # Whole cache lines of float32, so that two threads never write to the same one.
    width = -(-size // (16 * threads)) * 16 if threads > 1 else size
    starts = range(0, size, width) if size else ()
    if len(starts) <= 1:
        function(0, size)
        return
    with ThreadPoolExecutor(threads) as pool:
        ends = (min(start + width, size) for start in starts)
        for _ in pool.map(function, starts, ends):
            pass


def _checked_order(order: np.ndarray, n_rows: int) -> np.ndarray:
    order = np.ascontiguousarray(order, np.int64)
    if len(order) and (order.min() < 0 or order.max() >= n_rows):
        raise ParameterError(
            f"order names documents from {order.min()} to {order.max()}; there are {n_rows}."
        )
    return order


def _checked_sample_weight(sample_weight: np.ndarray | None, n_rows: int) -> np.ndarray:
    if sample_weight is None:
        return np.ones(n_rows)
    weights = np.ascontiguousarray(sample_weight, np.float64)
    if weights.shape != (n_rows,) or not np.isfinite(weights).all() or (weights < 0).any():
        raise ParameterError(
            f"sample_weight must be {n_rows} finite numbers of zero or more, one per document."
        )
    return weights
