"""The majority class: a baseline that ignores the words of documents."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from thresher.examples import Examples
from thresher.learners._sums import LEAST_COUNT
from thresher.learners.growing import CATEGORIES, GrowingLearner, Table
from thresher.learners.learner import Progress, State, Watch
from thresher.learners.scoring import ProbabilisticMixin, check_rows
from thresher.limits import LARGEST_SUM
from thresher.rows import Labels, Rows
from thresher.state import require_field


class MajorityClass(ProbabilisticMixin, GrowingLearner):
    r"""The most frequent category for every document: a baseline for every other learner.

    The score is the log-odds of the category, :math:`\log n_c - \log(n - n_c)` if :math:`n_c` of n
    documents have it. If a document has one category, the most frequent one is predicted; if it may
    have several, those that more than half of the documents have.

    Notes
    -----
    If no document has a category, or all have it, half a document is assumed that has it, or not.

    Examples
    --------
    >>> X = np.array([[2, 1], [1, 0], [0, 1], [0, 2]])
    >>> learner = MajorityClass().fit(X, ["wheat", "corn", "wheat", "wheat"])
    >>> learner.predict(X[1:2]).tolist(), learner.predict_proba(X[1:2]).tolist()
    (['wheat'], [[0.25, 0.75]])
    """

    name = "majority-class"
    constant_name = "(prior)"
    _counters = ("_total",)

    def start(self, n_features: int, n_categories: int, mean_active: float = 1.0) -> Self:
        """Forget everything and begin with `n_features` and `n_categories`."""
        self.check_parameters()
        layout = {"documents": Table(CATEGORIES, np.float64, 0.0, 0, LARGEST_SUM)}
        self._create_tables(layout, n_features, n_categories)
        self._total = 0.0  # documents, weighted
        return self

    def fit_rows(
        self, examples: Examples, *, n_jobs: int = 1, progress: Progress = None, watch: Watch = None
    ) -> Self:
        """Count the documents of each category; there are no mistakes to watch."""
        self.start(examples.n_columns, examples.n_categories)
        for rows, labels, weights in self._checked_blocks(examples, "counting", progress):
            self._learn(rows, labels, None, weights, n_jobs)
        return self

    def _learn(
        self, rows: Rows, labels: Labels, order: np.ndarray | None, weights: np.ndarray, n_jobs: int
    ) -> np.ndarray:
        """Count documents; mistakes are not counted."""
        label_weights = np.repeat(weights, np.diff(labels.indptr))
        # In order, so that batches add up to the same bits as all documents at once.
        np.add.at(self._tables["documents"], labels.indices, label_weights)
        self._total = float(np.add.accumulate(np.append(self._total, weights))[-1])
        return np.zeros(self.n_categories, np.int64)

    def merge(
        self,
        other: Self,
        features: np.ndarray | None = None,
        categories: np.ndarray | None = None,
    ) -> Self:
        """Add the documents that `other` has counted; see `SummingLearner.merge`."""
        _, categories = self._prepare_merge(other, features, categories)
        self._tables["documents"][categories] += other._tables["documents"]
        self._total += other._total
        return self

    def score_rows(self, rows: Rows, n_jobs: int = 1) -> np.ndarray:
        """Return the log-odds of each category, the same for every document."""
        check_rows(rows, type(self).__name__, self.n_features, self.non_negative)
        inside = self._tables["documents"]
        odds = np.log(
            np.maximum(inside, LEAST_COUNT) / np.maximum(self._total - inside, LEAST_COUNT)
        )
        return np.tile(odds.astype(np.float32), (rows.n_rows, 1))

    def contributions(self, rows: Rows, category: int) -> tuple[np.ndarray, np.ndarray]:
        """Return zeros for the entries, and the log-odds as the rest."""
        return np.zeros(len(rows.indices), np.float32), self.score_rows(rows)[:, category]

    def linear_weights(self) -> np.ndarray | None:
        """Return the weights of the features, all zero."""
        return np.zeros((self.n_features, self.n_categories))

    def _merge_columns(self, source: int, target: int) -> None:
        self._tables["documents"][target] += self._tables["documents"][source]

    def _open_second_column(self) -> None:
        super()._open_second_column()
        self._tables["documents"][0] = self._total - self._tables["documents"][1]

    def state(self) -> State:
        """Return the whole learner, as a JSON-able header and arrays."""
        return self.header(total=self._total), self._tables.tensors()

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Return a learner from what `state` returned, checking every shape and type."""
        learner, n_features, n_categories = cls.from_header(header)
        learner.start(0, 0)
        learner._total = require_field(header, "total", float, low=0, high=LARGEST_SUM)
        return learner._read_tables(tensors, n_features, n_categories)
