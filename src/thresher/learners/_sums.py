"""The base of naive Bayes and Rocchio: sums over documents, which do not depend on their order."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from thresher.examples import Examples
from thresher.learners.growing import BOTH, CATEGORIES, FEATURES, GrowingLearner, Table
from thresher.learners.learner import Progress, State, Watch
from thresher.limits import LARGEST_SUM
from thresher.rows import Labels, Rows
from thresher.state import require_field

LEAST_COUNT = 0.5  # the least number of documents assumed for a category and its complement


class SummingLearner(GrowingLearner):
    """A learner that adds documents up, feature by feature; all decisions follow from the sums.

    So learning on is exact, and so is merging what was learned from different documents. Merging
    two categories adds their sums, so that documents with both labels are counted twice.
    """

    _counters = ("_mass", "_one_each")

    def start(self, n_features: int, n_categories: int, mean_active: float = 1.0) -> Self:
        """Forget everything and begin with `n_features` and `n_categories`."""
        self.check_parameters()
        # Row 0 of the sums and totals is the weighted number of documents; the mass is the sum
        # over all features.
        low = 0.0 if self.non_negative else -LARGEST_SUM
        axes = {"sums": BOTH, "totals": FEATURES, "mass": CATEGORIES}
        layout = {name: Table(of, np.float64, 0.0, low, LARGEST_SUM) for name, of in axes.items()}
        layout |= {name: Table(CATEGORIES, np.float64, 0.0) for name in self._computed()}
        self._create_tables(layout, n_features, n_categories)
        self._mass = 0.0  # of all features of all documents
        self._one_each = True  # whether every document had exactly one category
        return self

    @property
    def weight_bytes(self) -> int:
        """The memory that each pair of feature and category takes."""
        return 8

    def _computed(self) -> tuple[str, ...]:
        """Return the names of the numbers per category that `_recompute` derives from the sums."""
        raise NotImplementedError

    def _as_summed(self, rows: Rows) -> Rows:
        """Return the documents as they are added up and scored."""
        raise NotImplementedError

    # ---- learning ----------------------------------------------------------------------------

    def fit_rows(
        self, examples: Examples, *, n_jobs: int = 1, progress: Progress = None, watch: Watch = None
    ) -> Self:
        """Add all documents up, in one pass; there are no mistakes to watch."""
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

        rows, sums = self._as_summed(rows), self._tables.buffers
        n_labels = np.diff(labels.indptr)[weights > 0]
        self._one_each = self._one_each and bool((n_labels == 1).all())
        self._mass += float(np.repeat(weights, np.diff(rows.indptr)) @ rows.values)
        documents = rows.indptr, rows.indices.view(np.uint32), rows.values, weights
        categories = labels.indptr, labels.indices.view(np.uint32)
        add_up(*documents, *categories, sums["sums"], sums["totals"], sums["mass"])

    def merge(
        self,
        other: Self,
        features: np.ndarray | None = None,
        categories: np.ndarray | None = None,
    ) -> Self:
        """Add what `other` has learned from other documents, which stays as it is.

        The result is that of learning all documents at once: exactly, if the strengths and the
        weights of documents are whole numbers; otherwise up to the rounding of sums in double
        precision. The strengths must not depend on the other documents, as those with inverse
        document frequencies do.

        Parameters
        ----------
        other : learner
            With the same parameters.
        features, categories : array of int, optional
            The numbers here of its features and categories, for which room is made; by default
            the same as there.
        """
        features, categories = self._prepare_merge(other, features, categories)
        target, source, rows = self._tables, other._tables, np.append(0, 1 + features)
        target["sums"][np.ix_(rows, categories)] += source["sums"]
        target["totals"][rows] += source["totals"]
        target["mass"][categories] += source["mass"]
        self._mass += other._mass
        self._one_each = self._one_each and other._one_each
        self._recompute()
        self.check_bounds()
        return self

    # ---- fewer features and categories -------------------------------------------------------

    def prune(self, keep: np.ndarray) -> Self:
        """Remove the features where `keep` is false, as if they had never been seen."""
        self._tables.prune(keep)
        self._tables["mass"][:] = self._tables["sums"][1:].sum(0)
        self._mass = float(self._tables["totals"][1:].sum())
        return self._resized()

    def drop_categories(self, keep: np.ndarray) -> Self:
        """Remove the categories where `keep` is false; their documents then have no category."""
        removed = self._tables["sums"][0, ~np.asarray(keep)]
        self._one_each = self._one_each and not removed.any()
        return super().drop_categories(keep)

    def _merge_columns(self, source: int, target: int) -> None:
        for name in ("sums", "mass"):
            array = self._tables[name]
            array[..., target] += array[..., source]
            array[..., source] = 0.0

    def _open_second_column(self) -> None:
        super()._open_second_column()
        self._tables["sums"][:, 0] = self._tables["totals"] - self._tables["sums"][:, 1]
        self._tables["mass"][0] = self._mass - self._tables["mass"][1]
        self._one_each = True

    # ---- state -------------------------------------------------------------------------------

    def state(self) -> State:
        """Return the whole learner, as a JSON-able header and arrays."""
        self.check_bounds()  # only write what can be read again
        header = self.header(mass=self._mass, one_each=self._one_each)
        return header, self._tables.tensors()

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Return a learner from what `state` returned, checking every shape and type."""
        learner, n_features, n_categories = cls.from_header(header)
        learner.start(0, 0)
        low = 0.0 if cls.non_negative else -LARGEST_SUM
        learner._mass = require_field(header, "mass", float, low=low, high=LARGEST_SUM)
        learner._one_each = require_field(header, "one_each", bool)
        return learner._read_tables(tensors, n_features, n_categories)
