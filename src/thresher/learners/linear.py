"""A linear model that was learned elsewhere: it scores and explains, and learns no more."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from thresher.errors import ModelError
from thresher.examples import Examples
from thresher.learners._tables import BOTH, Table, Tables
from thresher.learners._weighing import check_rows, weigh
from thresher.learners.learner import Learner, Progress, State, Watch
from thresher.rows import Rows

__all__ = ["LinearModel", "linear_scores", "linear_shares"]


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

    def take(self, weights: np.ndarray, intercepts: np.ndarray) -> Self:
        """Take over weights (features, categories) and an intercept per category."""
        self._set(Tables({"weights": Table(BOTH, np.float64, 0.0)}, *weights.shape))
        self._tables["weights"][:] = np.vstack([intercepts, weights])
        return self

    def _set(self, tables: Tables) -> None:
        self._tables = tables
        self.n_features, self.n_categories = tables.n_features, tables.n_categories

    def fit_rows(
        self,
        examples: Examples,
        *,
        n_jobs: int = 1,
        progress: Progress | None = None,
        watch: Watch | None = None,
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
        self._set(self._tables)
        return self

    def state(self) -> State:
        """Return all that is needed to score, as a JSON-able header and arrays."""
        return self.header(), self._tables.tensors()

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Rebuild the model from what `state` returned, checking every shape and type."""
        model, n_features, n_categories = cls.from_header(header)
        tables = Tables({"weights": Table(BOTH, np.float64, 0.0)}, 0, 0)
        tables.read(tensors, n_features, n_categories)
        model._set(tables)
        return model


def linear_scores(rows: Rows, weights: np.ndarray, n_jobs: int = 1) -> np.ndarray:
    """Return the sums of strengths times weights, and the first row of the weights."""
    return weigh(rows, np.ones(rows.n_rows, np.float32), weights, weights.shape[1], n_jobs)


def linear_shares(rows: Rows, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each entry's strength times its weight, and the first weight for every document."""
    shares = rows.values * column[1:][rows.indices]
    return shares.astype(np.float32), np.full(rows.n_rows, column[0], np.float32)
