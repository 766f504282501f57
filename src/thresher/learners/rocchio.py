"""Rocchio: one prototype per category, the mean of its documents less that of the others."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from thresher.errors import ModelError
from thresher.learners._columns import squares_of
from thresher.learners._sums import SummingLearner
from thresher.learners.scoring import check_rows, narrowed
from thresher.limits import LARGEST_WEIGHT
from thresher.parameters import Flag, Number, parameter
from thresher.rows import Rows


class Rocchio(SummingLearner):
    r"""Rocchio's prototypes: the mean of the positive documents less that of the negative ones.

    With all documents x brought to length one, the prototype of a category is

    .. math:: p = β \frac{1}{n_+} \sum_{x ∈ +} x - γ \frac{1}{n_-} \sum_{x ∈ -} x,

    with negative weights cut to zero. The score of a document is its cosine with the prototype,
    less the midpoint of the mean scores of positive and of negative documents: it belongs if it is
    nearer to the positive mean. Thresholds for an objective, such as F1, are set by the decisions.

    References
    ----------
    J. Rocchio, Relevance feedback in information retrieval, 1971; β and γ: C. Buckley, G. Salton
    and J. Allan, The effect of adding relevance information in a relevance feedback environment,
    1994; for categories: T. Joachims, A probabilistic analysis of the Rocchio algorithm with TFIDF
    for text categorization, 1997.

    Examples
    --------
    >>> X = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 1, 0]])
    >>> learner = Rocchio().fit(X, [1, 1, 0, 0])
    >>> [round(float(score), 2) for score in learner.decision_function(X)]
    [0.22, 0.34, -0.18, -0.38]
    """

    name = "rocchio"

    beta: float = parameter(
        default=16.0, kind=Number(0, open_low=True), words="β, the weight of the positives."
    )
    gamma: float = parameter(default=4.0, kind=Number(0), words="γ, the weight of the negatives.")
    cut: bool = parameter(
        default=True, kind=Flag(), words="Whether negative weights of a prototype become zero."
    )

    def _computed(self) -> tuple[str, ...]:
        return ("length", "middle")

    def _recompute(self) -> None:
        """Compute the lengths of the prototypes, and the midpoints of positives and negatives."""
        prototypes, positive, negative = self._prototypes(slice(1, None))
        length = np.sqrt((prototypes**2).sum(0))
        self._tables["length"][:] = np.where(length > 0, length, 1.0)
        means = (prototypes * (positive + negative)).sum(0) / 2
        # A category without documents accepts none.
        empty = self._tables["sums"][0] == 0
        self._tables["middle"][:] = np.where(empty, 1.0, means / self._tables["length"])

    def _prototypes(self, used: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return some rows of the prototypes, and of the mean positive and negative documents."""
        sums, totals = self._tables["sums"], self._tables["totals"]
        inside, outside = sums[0], totals[0] - sums[0]
        positive = sums[used] / np.where(inside > 0, inside, 1.0)
        negative = (totals[used, None] - sums[used]) / np.where(outside > 0, outside, 1.0)
        prototypes = np.where(inside > 0, self.beta * positive - self.gamma * negative, 0.0)
        return np.maximum(prototypes, 0.0) if self.cut else prototypes, positive, negative

    def _read_tables(self, tensors: dict[str, np.ndarray], *sizes: int) -> Self:
        super()._read_tables(tensors, *sizes)
        sums, totals, length = (self._tables[name] for name in ("sums", "totals", "length"))
        inside, outside = sums[0], totals[0] - sums[0]
        positive = np.abs(sums).max(0) / np.where(inside > 0, inside, 1.0)
        negative = np.abs(totals[:, None] - sums).max(0) / np.where(outside > 0, outside, 1.0)
        largest = self.beta * positive + self.gamma * negative
        if not ((inside >= 0).all() and (largest <= LARGEST_WEIGHT * length).all()):
            raise ModelError(
                "The learner's part of the model is damaged: its sums and the lengths of its "
                "prototypes do not fit together."
            )
        return self

    def _as_summed(self, rows: Rows) -> Rows:
        squares = squares_of(rows)
        length = np.repeat(np.sqrt(np.where(squares > 0, squares, 1.0)), np.diff(rows.indptr))
        return rows._replace(values=(rows.values / length).astype(np.float32))

    def _weighted_sum(self, rows: Rows) -> tuple[Rows, np.ndarray]:
        """Return the documents, scaled to length one, and the weights of their words."""
        check_rows(rows, "Rocchio", self.n_features, False)
        rows, used = narrowed(self._as_summed(rows), self.n_features)
        weights = self._prototypes(used)[0] / self._tables["length"]
        weights[0] = -self._tables["middle"]
        return rows, weights

    def linear_weights(self) -> np.ndarray | None:
        """Return the prototypes, scaled to length one, as columns."""
        prototypes = self._prototypes(slice(1, 1 + self.n_features))[0]
        return np.asarray(prototypes / self._tables["length"])
