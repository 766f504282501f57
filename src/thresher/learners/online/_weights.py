"""A learner's weights: one matrix row per feature, one column per category; growing and saving."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from thresher._estimator import Estimator, check_choice, check_range
from thresher.errors import ModelError
from thresher.learners.online._arrays import check_tensor, grown, jsonable

AVERAGES = (None, "successes", "examples")  # the position is the kernel's code


class Weights(Estimator):
    """What a learner remembers.

    A subclass says which matrices it keeps (`_matrices`) and which figures per category
    (`_vectors`).
    """

    name: ClassVar[str]
    preferred_strength: ClassVar[dict[str, Any]]
    non_negative: ClassVar[bool] = False

    # The parameters that mean the same in every learner.
    threshold: float
    always_on: float
    max_iter: int
    normalize_strength: bool
    unseen: str
    average: str | None
    positive_weight: Any
    feature_budget: int | None
    extremal_share: float

    _seen: np.ndarray  # which features were met, where somebody asks (`_counts_features`)
    _live: np.ndarray | None  # (1 + features, categories), False where discarded
    _filtered: bool  # whether the filtering range has been applied
    _cache: dict[str, np.ndarray]  # what is computed from the weights, until they change

    # ---- what a subclass provides ------------------------------------------------------------

    def _matrices(self) -> dict[str, tuple[type, float]]:
        """Name the matrices (1 + features, categories): number type and initial value of each."""
        raise NotImplementedError

    def _vectors(self) -> dict[str, tuple[type, float]]:
        """Name the figures kept per category: number type and initial value of each."""
        return {"clock": (np.float64, 0.0)}

    def _counts_features(self) -> bool:
        """Tell whether it matters which features were met while learning."""
        return self.unseen == "drop" or self.feature_budget is not None

    def _check_parameters(self) -> None:
        check_choice(self, "average", AVERAGES)
        check_choice(self, "unseen", ("keep", "drop"))
        check_range(self, "threshold", float("-inf"))
        check_range(self, "extremal_share", 0, 1)
        if not isinstance(self.always_on, bool):
            check_range(self, "always_on", 0)
        if self.feature_budget is not None:
            check_range(self, "feature_budget", 1)

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
        self._pass_mistakes = self._pass_documents = 0
        self._arrays: dict[str, np.ndarray] = {}
        self._cache = {}
        self._seen = np.zeros(n_features, bool)
        self._live = None
        self._filtered = False
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
        if self._live is not None:
            self._live = grown(self._live, shape, bool, True)
        self._seen = grown(self._seen, (n_features,), bool, False)
        self._n_features, self._n_categories = n_features, n_categories
        self._cache.clear()

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
        if self._live is not None:
            self._live = self._live[rows]
        self._seen = self._seen[keep]
        self._n_features = int(keep.sum())
        self._cache.clear()
        return self

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
            "filtered": self._filtered,
        }
        tensors = {"seen": self._seen.astype(np.uint8), **self._arrays}
        if self._live is not None:
            tensors["live"] = self._live.astype(np.uint8)
        return header, tensors

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Rebuild a learner from what `state` returned, checking every shape and type."""
        try:
            if header["learner"] != cls.name:
                raise ModelError(
                    f"The model holds a {header['learner']!r} learner, not {cls.name!r}."
                )
            learner = cls(**header["params"]).start(0, 0, header["mean_active"])
            n_features, n_categories = int(header["n_features"]), int(header["n_categories"])
            learner.mistakes_ = [int(one) for one in header["mistakes"]]
            learner.n_seen_ = int(header["n_seen"])
            learner._filtered = bool(header["filtered"])
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"The learner's part of the model is damaged: {error}.") from error
        shape = (1 + n_features, n_categories)
        for name, (dtype, _) in learner._matrices().items():
            learner._arrays[name] = check_tensor(tensors, name, shape, dtype)
        for name, (dtype, _) in learner._vectors().items():
            learner._arrays[name] = check_tensor(tensors, name, shape[1:], dtype)
        learner._seen = check_tensor(tensors, "seen", (n_features,), np.uint8).astype(bool)
        if "live" in tensors:
            learner._live = check_tensor(tensors, "live", shape, np.uint8).astype(bool)
        learner._n_features, learner._n_categories = n_features, n_categories
        return learner
