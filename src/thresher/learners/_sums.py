"""What naive Bayes and Rocchio share: sums over documents, which add up however they come."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from thresher.examples import Examples
from thresher.learners.growing import BOTH, CATEGORIES, FEATURES, GrowingLearner, Table
from thresher.learners.learner import Progress, State, Watch
from thresher.limits import LARGEST_SUM
from thresher.rows import Labels, Rows
from thresher.state import require_field

__all__ = ["FEWEST", "SummingLearner"]

FEWEST = 0.5  # documents that a category, or its complement, is taken to have at least


class SummingLearner(GrowingLearner):
    """Adds documents up, feature by feature; whatever it decides follows from the sums.

    So the order of the documents does not matter, learning on is exact, and merging two categories
    adds them, documents of both being counted for both.
    """

    _counters = ("_mass", "_one_each")

    def start(self, n_features: int, n_categories: int, mean_active: float = 1.0) -> Self:
        """Forget everything and begin with `n_features` and `n_categories`."""
        self.check_parameters()
        # In row 0 of the sums and totals stands the number of documents, weighted; the mass is that
        # of all features together.
        axes = {"sums": BOTH, "totals": FEATURES, "mass": CATEGORIES}
        axes |= dict.fromkeys(self._computed(), CATEGORIES)
        low, computed = 0.0 if self.non_negative else -LARGEST_SUM, self._computed()
        layout = {
            name: Table(of, np.float64, 0.0, *(() if name in computed else (low, LARGEST_SUM)))
            for name, of in axes.items()
        }
        self._create_tables(layout, n_features, n_categories)
        self._mass = 0.0  # of all features of all documents
        self._one_each = True  # whether every document had exactly one category
        return self

    @property
    def weight_bytes(self) -> int:
        """How much memory each pair of feature and category takes."""
        return 8

    def _computed(self) -> tuple[str, ...]:
        """Name the figures per category that are computed once, after learning."""
        raise NotImplementedError

    def _as_summed(self, rows: Rows) -> Rows:
        """Return the documents as they are added up and scored."""
        raise NotImplementedError

    def fit_rows(
        self, examples: Examples, *, n_jobs: int = 1, progress: Progress = None, watch: Watch = None
    ) -> Self:
        """Add all documents up, in one pass; nothing is watched, as there are no mistakes."""
        self.start(examples.n_columns, examples.n_categories)
        for block in self._checked_blocks(examples, "adding up", progress):
            self._add(*block)
        self._recompute()
        self.check_bounds()
        return self

    def _learn(
        self, rows: Rows, labels: Labels, order: np.ndarray | None, weights: np.ndarray, n_jobs: int
    ) -> np.ndarray:
        """Add documents to the sums; mistakes are not counted."""
        if order is not None:
            rows, labels, weights = rows.take(order), labels.take(order), weights[order]
        self._add(rows, labels, weights)
        self._recompute()
        return np.zeros(self.n_categories, np.int64)

    def _add(self, rows: Rows, labels: Labels, weights: np.ndarray) -> None:
        from thresher._kernels.rows import add_up

        rows, whole = self._as_summed(rows), self._tables.buffers
        counted = np.diff(labels.indptr)[weights > 0]
        self._one_each = self._one_each and bool((counted == 1).all())
        self._mass += float(np.repeat(weights, np.diff(rows.indptr)) @ rows.values)
        documents = rows.indptr, rows.indices.view(np.uint32), rows.values, weights
        categories = labels.indptr, labels.indices.view(np.uint32)
        add_up(*documents, *categories, whole["sums"], whole["totals"], whole["mass"])

    def prune(self, keep: np.ndarray) -> Self:
        """Remove the features where `keep` is false, as if they had never been there."""
        self._tables.prune(keep)
        self._tables["mass"][:] = self._tables["sums"][1:].sum(0)
        self._mass = float(self._tables["totals"][1:].sum())
        self._resized()
        return self

    def drop_categories(self, keep: np.ndarray) -> Self:
        """Remove the categories where `keep` is false; their documents are then of no category."""
        gone = self._tables["sums"][0, ~np.asarray(keep)]
        self._one_each = self._one_each and not gone.any()
        return super().drop_categories(keep)

    def _merge_columns(self, source: int, target: int) -> None:
        """Add the sums, documents of both being counted twice."""
        for name in ("sums", "mass"):
            array = self._tables[name]
            array[..., target] += array[..., source]
            array[..., source] = 0.0

    def _open_second_column(self) -> None:
        super()._open_second_column()
        self._tables["sums"][:, 0] = self._tables["totals"] - self._tables["sums"][:, 1]
        self._tables["mass"][0] = self._mass - self._tables["mass"][1]
        self._one_each = True

    def state(self) -> State:
        """Return all that is needed to go on, as a JSON-able header and arrays."""
        self.check_bounds()  # what could not be read again is not written
        header = self.header(mass=self._mass, one_each=self._one_each)
        return header, self._tables.tensors()

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Rebuild a learner from what `state` returned, checking every shape and type."""
        learner, n_features, n_categories = cls.from_header(header)
        learner.start(0, 0)
        low = 0.0 if cls.non_negative else -LARGEST_SUM
        learner._mass = require_field(header, "mass", float, low=low, high=LARGEST_SUM)
        learner._one_each = require_field(header, "one_each", bool)
        return learner._read_tables(tensors, n_features, n_categories)
