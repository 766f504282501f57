"""Optional capabilities of learners, besides learning from all documents and scoring.

Each capability is a protocol: a learner has it if it has the methods, and callers ask with
`isinstance(learner, Online)`. A learner of another package needs no import from here.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from thresher.examples import Examples
from thresher.rows import Labels, Rows


@runtime_checkable
class Online(Protocol):
    """It can go on learning from more documents, with new features and new categories."""

    def start(self, n_features: int, n_categories: int, mean_active: float = 1.0) -> Any:
        """Forget everything and begin with so many features and categories."""

    def learn_rows(
        self,
        rows: Rows,
        labels: Labels,
        order: np.ndarray | None = None,
        n_jobs: int = 1,
        *,
        sample_weight: np.ndarray | None = None,
    ) -> Any:
        """Learn from more documents, each once."""

    def grow(self, n_features: int, n_categories: int) -> Any:
        """Make room for more features and categories."""

    def prune(self, keep: np.ndarray) -> Any:
        """Remove the features where `keep` is false."""


@runtime_checkable
class Undoable(Protocol):
    """What it learns from a few documents can be undone without a copy of everything."""

    def checkpoint(self, columns: np.ndarray) -> Callable[[], None]:
        """Return a function that restores its present state, if only these columns change."""


@runtime_checkable
class Tracking(Protocol):
    """It can record how much each document contributes to its own scores by being learned."""

    own_share: ClassVar[float]  # the share of the contribution to subtract for a held-out score

    def tracking(
        self, indices: np.ndarray, n_categories: int
    ) -> AbstractContextManager[np.ndarray]:
        """Provide an array for the contributions; see `AROW.tracking`."""


@runtime_checkable
class Mergeable(Protocol):
    """Its training is a sum: learners of different documents can be added up."""

    def merge(
        self,
        other: Any,
        features: np.ndarray | None = None,
        categories: np.ndarray | None = None,
    ) -> Any:
        """Add what `other` has learned from other documents; see `SummingLearner.merge`."""


@runtime_checkable
class LateCategories(Protocol):
    """It can give new categories starting values from labelled documents."""

    def start_late(self, examples: Examples, first: int) -> None:
        """Start the categories from number `first` on."""


@runtime_checkable
class Budgeted(Protocol):
    """It may limit the features that each category uses."""

    feature_budget: int | None

    def live_features(self) -> np.ndarray:
        """Return which features are used by any category."""


@runtime_checkable
class Probabilistic(Protocol):
    """Its scores stand for probabilities if `has_probabilities` is true."""

    @property
    def has_probabilities(self) -> bool:
        """Whether scores stand for probabilities, given the parameters."""

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Return the probability that each score stands for."""


@runtime_checkable
class Rules(Protocol):
    """Each category is a list of rules."""

    @property
    def n_iter_(self) -> int:
        """The number of rounds that were learned."""

    def rules(self, category: int) -> list[Any]:
        """Return the rules of a category in the order in which they were learned."""

    def rule_texts(
        self, category: int, features: ExplainedFeatures, holds: Any = None
    ) -> list[str]:
        """Return the rules in words, or their opposites where `holds` is false."""

    def threshold_share(self, rounds: Any) -> np.ndarray:
        """Return the weight of rules with thresholds after so many rounds."""


@runtime_checkable
class Trees(Protocol):
    """Each category is a decision tree."""

    def tree(self, category: int) -> Any:
        """Return the tree of a category."""

    def importance(self, category: int) -> np.ndarray:
        """Return the signed information gain of each feature."""

    def path(self, rows: Rows, category: int) -> list[Any]:
        """Return the tests that lead the first document to its leaf."""


@runtime_checkable
class Neighbours(Protocol):
    """Documents are decided by the documents that are most similar."""

    def neighbors(self, rows: Rows, n: int | None = None) -> list[list[Any]]:
        """Return the documents that vote on each document, the nearest first."""


class ExplainedFeatures(Protocol):
    """Descriptions of features, for learners that explain themselves."""

    least_membership: float

    def readable_names(self, columns: np.ndarray) -> list[str]:
        """Return the names of features as people read them."""

    def membership(self, strength: float) -> float:
        """Return the membership in a concept that has this strength."""


class Line(NamedTuple):
    """One line of an explanation."""

    text: str
    strength: float
    share: float


class Lines(NamedTuple):
    """The lines of a learner that explains a score by other things than features."""

    unit: str  # what a line is about: "rule" or "test"
    lines: list[Line]
