"""Passes over documents, and features discarded on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np

from thresher.errors import ModelError, ParameterError
from thresher.learners.online._arrays import checked_order, checked_sample_weight
from thresher.learners.online._discarding import extremal_mask
from thresher.learners.online._scoring import Scorer, in_blocks
from thresher.rows import Labels, Rows

PRUNE_EVERY = 1000  # documents between two prunings to the feature budget


class OnlineLearner(Scorer):
    """The engine's half of a learner: documents in as `Rows`, scores out; no scikit-learn.

    A subclass says how one pass goes (`_pass`).
    """

    def _pass(self, documents: Any, tally: Any) -> Callable[[int, int], None]:
        """Return the function that meets the documents for the categories from one to another."""
        raise NotImplementedError

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
        order, weights = checked_order(order, rows.n_rows), np.ones(rows.n_rows)
        if sample_weight is not None:
            weights = checked_sample_weight(sample_weight, rows.n_rows)
            order = order[weights[order] > 0]  # a document of no weight is as good as absent
        documents = Documents(
            strengths.indptr,
            strengths.indices.view(np.uint32),
            strengths.values,
            always_on,
            order,
            weights,
            labels.indptr,
            labels.indices.view(np.uint32),
        )
        n = self._n_categories
        floats, numbers = np.zeros((2, n), np.float32), np.zeros((2, n), np.int64)
        clock, weight = self._arrays["clock"], self._positive_weights()
        tally = Tally(floats[0], floats[1], numbers[0], numbers[1], clock, weight)
        mistakes = np.zeros(n, np.int64)
        for piece in self._pieces(documents.order):
            in_blocks(self._pass(documents._replace(order=piece), tally), n, threads)
            mistakes += tally.mistakes
            tally.mistakes[:] = 0
            self._note(rows, piece)
        self._pass_mistakes += int(mistakes.sum())
        if ends_pass:
            self._end_pass()
        return mistakes

    def _pieces(self, order: np.ndarray) -> Iterator[np.ndarray]:
        """Cut the documents where the features are due to be pruned to their budget."""
        if self.feature_budget is None:
            yield order
            return
        start = 0
        while start < len(order):
            end = start + PRUNE_EVERY - self.n_seen_ % PRUNE_EVERY
            yield order[start:end]
            start = end

    def _note(self, rows: Rows, piece: np.ndarray) -> None:
        """Remember what was seen."""
        self._cache.clear()
        self.n_seen_ += len(piece)
        self._pass_documents += len(piece)
        if self._counts_features():
            taken = rows.take(piece)
            self._seen[taken.indices[taken.values != 0]] = True
        if self.n_seen_ % PRUNE_EVERY == 0:
            self._keep_to_budget()

    def _end_pass(self) -> None:
        self.mistakes_.append(self._pass_mistakes)
        self._discard_after_pass()
        self._keep_to_budget()
        self._pass_mistakes = self._pass_documents = 0

    def _discard_after_pass(self) -> None:
        """Discard what the first passes showed to be irrelevant, where the learner can tell."""

    def _positive_weights(self) -> np.ndarray:
        """Return how much a mistake on a positive counts in each category."""
        weights = np.asarray(self.positive_weight, np.float64)
        if weights.shape not in ((), (self._n_categories,)) or not (weights > 0).all():
            raise ParameterError(
                f"{type(self).__name__}: positive_weight is {self.positive_weight!r}; it must be "
                f"a number above 0, or {self._n_categories} of them, one per category."
            )
        return np.broadcast_to(weights, (self._n_categories,)).copy()

    def _check_labels(self, rows: Rows, labels: Labels) -> None:
        if labels.n_rows != rows.n_rows:
            raise ModelError(f"There are {rows.n_rows} documents and {labels.n_rows} label lists.")
        if len(labels.indices) and labels.indices.view(np.uint32).max() >= self._n_categories:
            raise ModelError(
                f"The labels use categories up to {labels.indices.max()} and "
                f"{type(self).__name__} knows {self._n_categories}; call grow before learn_rows."
            )

    # ---- discarding --------------------------------------------------------------------------

    def live_weights(self) -> np.ndarray:
        """Return which features each category holds: met while learning and not discarded."""
        live = np.ones((self._n_features, self._n_categories), bool)
        live[~self._met_features()] = False
        return live if self._live is None else live & self._live[1:]

    def live_features(self) -> np.ndarray:
        """Return which features some category still holds; the others may be pruned."""
        if self._live is None:
            return np.ones(self._n_features, bool)
        return np.asarray(self._live[1:].any(axis=1))

    def discard_features(self, discarded: np.ndarray) -> Self:
        """Take features out of categories, for learning and scoring alike.

        Parameters
        ----------
        discarded : array of bool, shape (features, categories)
            True where a category is to do without the feature from now on.
        """
        return self._discard(np.arange(self._n_features), ~discarded)

    @property
    def discarded_share_(self) -> float:
        """Which part of the weights of the features met has been discarded."""
        if self._live is None:
            return 0.0
        met = self._live[1:][self._met_features()]
        return float(1 - met.mean()) if met.size else 0.0

    def _met_features(self) -> np.ndarray:
        """Return which features were met; all, where nobody asked to keep count."""
        return self._seen if self._counts_features() else np.ones(self._n_features, bool)

    def _discard(self, features: np.ndarray, keep: np.ndarray) -> Self:
        """Take out of the categories those of `features` that they do not keep."""
        if self._live is None:
            self._live = np.ones((1 + self._n_features, self._n_categories), bool)
        self._live[1 + features] &= keep
        for name in self._matrices():
            self._arrays[name][1 + features] *= keep
        self._cache.clear()
        return self

    def _keep_to_budget(self) -> None:
        if self.feature_budget is None:
            return
        features = np.flatnonzero(self._seen & self.live_features())
        live = np.ones((len(features), self._n_categories), bool)
        if self._live is not None:
            live = self._live[1 + features]
        if live.sum(0).max(initial=0) > self.feature_budget:
            importance = self._importance(1 + features)
            keep = extremal_mask(importance, live, self.feature_budget, self.extremal_share)
            self._discard(features, keep)

    def _importance(self, rows: np.ndarray) -> np.ndarray:
        """Return how far some weights are from zero, in units that may differ by category."""
        return np.asarray(np.abs(self._arrays["weights"][rows]))
