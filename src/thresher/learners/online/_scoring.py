"""From strengths to scores, and what each word adds to them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from thresher.errors import ModelError, ParameterError
from thresher.learners.online._weights import Weights
from thresher.rows import Rows


class Scorer(Weights):
    """Scores documents: the weighted sum of their strengths, less the threshold."""

    def score_rows(self, rows: Rows, threads: int = 1) -> np.ndarray:
        """Return a score per document and category; above zero means that it belongs.

        Parameters
        ----------
        rows : Rows
            The strengths.
        threads : int, default=1
            Among how many threads the documents are divided; the result is the same.
        """
        self._check_rows(rows)
        strengths, always_on = self.strengths(rows)
        scores = self._weigh(strengths, always_on, self._scoring_weights(), threads)
        divisor = self._divisor()
        if divisor is not None:
            below = self._weigh(strengths, always_on, divisor, threads)
            scores /= np.where(below > 0, below, np.float32(1))
        scores -= np.float32(self.bar)
        return scores

    def contributions(self, rows: Rows, category: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what each entry of `rows` adds to the score of a category, and the rest of it.

        The contributions of a document's entries and the rest (one number per document: the
        always-on feature, less the threshold) add up to the score that `score_rows` gives.
        """
        self._check_rows(rows)
        strengths, always_on = self.strengths(rows)
        weights, divisor = self._scoring_weights()[:, category], self._divisor()
        parts = strengths.values * weights[1:][strengths.indices]
        rest = always_on * weights[0]
        if divisor is not None:
            column = np.ascontiguousarray(divisor[:, [category]])
            below = self._weigh(strengths, always_on, column)[:, 0]
            below = np.where(below > 0, below, np.float32(1))
            parts /= np.repeat(below, np.diff(rows.indptr))
            rest /= below
        return parts, rest - np.float32(self.bar)

    def effective_weights(self) -> np.ndarray:
        """Return the weights (features, categories) with which documents are scored."""
        return self._scoring_weights()[1:]

    def always_on_weights(self) -> np.ndarray:
        """Return the weight of the always-on feature in each category."""
        return np.asarray(self._scoring_weights()[0])

    def thresholds(self) -> np.ndarray:
        """Return what the words of a document must exceed, per category.

        What the always-on feature adds is taken off, except under `normalize_strength`, where its
        strength depends on the document.
        """
        constant = np.full(self._n_categories, self.bar, np.float32)
        if self.normalize_strength:
            return constant
        return np.asarray(constant - np.float32(self.always_on) * self.always_on_weights())

    def strengths(self, rows: Rows, training: bool = False) -> tuple[Rows, np.ndarray]:
        """Return the strengths as the learner uses them, and the always-on feature's."""
        values = rows.values
        always_on = np.full(rows.n_rows, float(self.always_on), np.float32)
        if self.unseen == "drop" and not training:
            values = np.where(self._seen[rows.indices], values, np.float32(0))
        if self.normalize_strength and (training or not self._renormalizes()):
            from thresher._kernels.online import normalize_strengths

            divided, constants = np.empty_like(values), np.empty_like(always_on)
            normalize_strengths(rows.indptr, values, always_on, divided, constants)
            values, always_on = divided, constants
        return rows._replace(values=values), always_on

    # ---- what a subclass may change ----------------------------------------------------------

    def _scoring_weights(self) -> np.ndarray:
        """Return the matrix to score with: the weights, or their average."""
        if self.average is None:
            return self._arrays["weights"]
        if "scoring" not in self._cache:
            drift = self._arrays["drift"] / np.maximum(self._arrays["clock"], 1)
            self._cache["scoring"] = (self._arrays["weights"] - drift).astype(np.float32)
        return self._cache["scoring"]

    @property
    def bar(self) -> float:
        """Return what is taken off every score."""
        return self.threshold

    def _renormalizes(self) -> bool:
        """Tell whether strengths are normalised over the features each category has kept."""
        return self.normalize_strength and self.unseen == "drop" and self._live is not None

    def _divisor(self) -> np.ndarray | None:
        """Return the weights of a sum by which scores are divided, if they are."""
        return self._live.astype(np.float32) if self._renormalizes() else None  # type: ignore[union-attr]

    # ---- the kernel's door -------------------------------------------------------------------

    def _weigh(
        self, rows: Rows, always_on: np.ndarray, weights: np.ndarray, threads: int = 1
    ) -> np.ndarray:
        """Return the weighted sums of the documents' strengths, one column per category."""
        from thresher._kernels.online import score_documents

        sums = np.empty((rows.n_rows, weights.shape[1]), np.float32)
        arrays = rows.indptr, rows.indices.view(np.uint32), rows.values, always_on

        def score(first: int, last: int) -> None:
            score_documents(*arrays, weights, sums, first, last)

        in_blocks(score, rows.n_rows, threads)
        return sums

    def _check_rows(self, rows: Rows) -> None:
        if len(rows.indices) and rows.indices.view(np.uint32).max() >= self._n_features:
            raise ModelError(
                f"The documents use features from {rows.indices.min()} to {rows.indices.max()} "
                f"and {type(self).__name__} knows {self._n_features}; "
                "call grow before learn_rows, or count with grow=False."
            )
        if self.non_negative and len(rows.values) and rows.values.min() < 0:
            raise ModelError(
                f"Negative values in data passed to {type(self).__name__}, the lowest being "
                f"{rows.values.min():g}: it multiplies weights and needs strengths of zero or "
                "more. Use Perceptron or PassiveAggressive, or leave such features out."
            )


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
