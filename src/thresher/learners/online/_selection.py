"""Feature selection per category: features are discarded to meet a budget, or on request."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from thresher.errors import ParameterError
from thresher.learners.growing import BOTH, Table, Tables

if TYPE_CHECKING:
    from thresher.learners.online._learner import OnlineLearner

DOCUMENTS_PER_PRUNING = 1000  # between two prunings to the feature budget


class FeatureSelection:
    """The base of online learners that can discard features of single categories.

    The weight of a discarded feature stays zero. The table `live` is true for all other weights; it
    does not exist before the first feature is discarded.
    """

    n_features: int
    n_categories: int
    n_seen_: int
    feature_budget: int | None
    extremal_share: float
    _tables: Tables
    _layout: Callable[[], dict[str, Table]]
    _check_can_learn: Callable[[], None]
    _counts_features: Callable[[], bool]

    def live_weights(self) -> np.ndarray:
        """Return which features each category uses: seen in training and not discarded."""
        return np.asarray(self._met_features()[:, None] & self._live(slice(1, None)))

    def live_features(self) -> np.ndarray:
        """Return which features some category still uses; the others may be pruned."""
        if "live" not in self._tables:
            return np.ones(self.n_features, bool)
        return np.asarray(self._tables["live"][1:].any(axis=1))

    @property
    def discarded_share_(self) -> float:
        """The share of the weights of the features seen that has been discarded."""
        if "live" not in self._tables:
            return 0.0
        met = self._tables["live"][1:][self._met_features()]
        return float(1 - met.mean()) if met.size else 0.0

    def discard_features(self, discarded: np.ndarray) -> Self:
        """Remove features from single categories, for learning and for scoring.

        Parameters
        ----------
        discarded : array of bool, shape (features, categories)
            True for features that the category no longer uses.
        """
        return self._discard(np.arange(self.n_features), ~discarded)

    def _met_features(self) -> np.ndarray:
        """Return which features were seen; all of them if that is not recorded."""
        seen = self._tables["seen"][1:]
        return seen if self._counts_features() else np.ones(self.n_features, bool)

    def _live(self, rows: Any) -> np.ndarray:
        """Return which weights of some rows are not discarded."""
        if "live" in self._tables:
            return np.asarray(self._tables["live"][rows])
        return np.ones((len(self._tables["seen"][rows]), self.n_categories), bool)

    def _discard(self, features: np.ndarray, keep: np.ndarray) -> Self:
        """Discard the weights of `features` in the categories that do not keep them."""
        self._check_can_learn()
        tables, rows = self._tables, 1 + features
        tables.make_writable()
        if "live" not in tables:
            tables.add("live", Table(BOTH, bool, True))
        for name, table in self._layout().items():
            if table.axes == BOTH:
                tables[name][rows] *= keep
        tables["live"][rows] &= keep
        return self

    def _until_pruning(self, order: np.ndarray) -> list[np.ndarray]:
        """Split the documents where features are due to be pruned to the budget."""
        due = DOCUMENTS_PER_PRUNING - self.n_seen_ % DOCUMENTS_PER_PRUNING
        return np.split(order, range(due, len(order), DOCUMENTS_PER_PRUNING))

    def _keep_to_budget(self, budget: int) -> None:
        """Discard all but the extremal features of categories that use more than the budget."""
        features = np.flatnonzero(self._tables["seen"][1:] & self.live_features())
        live = self._live(1 + features)
        if live.sum(0).max(initial=0) > budget:
            importance = self._importance(1 + features)
            self._discard(features, extremal_mask(importance, live, budget, self.extremal_share))

    def _importance(self, rows: np.ndarray) -> np.ndarray:
        """Return the absolute values of some weights, in units that may differ by category."""
        return np.asarray(np.abs(self._tables["weights"][rows]))


def extremal_features(
    learner: OnlineLearner, feature_budget: int, extremal_share: float = 0.9
) -> np.ndarray:
    """Return the features that each category keeps: the weightiest, and a few of the lightest.

    Extremal Feature Selection: of the features seen and not discarded, those with the highest and
    those with the lowest absolute weight (for the balanced Winnows, of the difference of the two
    weights). Among equal weights, those with the highest numbers are kept.

    Parameters
    ----------
    learner : OnlineLearner
        A fitted learner.
    feature_budget : int
        The number of features that a category keeps.
    extremal_share : float, default=0.9
        The share of them that comes from the top; the rest comes from the bottom.

    Returns
    -------
    array of bool, shape (features, categories)
        True where the category keeps the feature. Give its negation to `discard_features`.

    References
    ----------
    V. Carvalho and W. Cohen, Notes on single-pass online learning algorithms, 2006, section 5.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.learners.online import PositiveWinnow, extremal_features
    >>> X = np.array([[1, 1, 0, 1], [1, 0, 1, 1], [0, 1, 1, 1], [0, 1, 0, 1]])
    >>> learner = PositiveWinnow(shuffle=False).fit(X, [1, 1, 0, 0])
    >>> keep = extremal_features(learner, 2, extremal_share=0.5)
    >>> keep.ravel()
    array([ True,  True, False, False])
    >>> learner.discard_features(~keep).discarded_share_
    0.5
    """
    importance = np.abs(learner.effective_weights())
    return extremal_mask(importance, learner.live_weights(), feature_budget, extremal_share)


def extremal_mask(
    importance: np.ndarray, live: np.ndarray, budget: int, share: float
) -> np.ndarray:
    """Return which of the `live` weights are among the extremal ones of their category."""
    if budget < 1 or not 0 <= share <= 1:
        raise ParameterError(
            f"feature_budget is {budget} and extremal_share {share}; "
            "they must be at least 1 and between 0 and 1."
        )
    n_top = round(budget * share)
    keep, columns = live.copy(), np.ascontiguousarray(importance.T)
    for k in np.flatnonzero(live.sum(0) > budget):
        candidates = np.flatnonzero(live[:, k])
        keep[candidates, k] = _extremes(columns[k][candidates], n_top, budget - n_top)
    return keep


def _extremes(values: np.ndarray, n_top: int, n_bottom: int) -> np.ndarray:
    """Return a mask of the largest and the smallest values; of equal ones, the last."""
    chosen = np.zeros(len(values), bool)
    chosen[_largest(values, n_top)] = True
    chosen[_largest(np.where(chosen, -np.inf, -values), n_bottom)] = True
    return chosen


def _largest(values: np.ndarray, n: int) -> np.ndarray:
    """Return the indices of the `n` largest values; of equal ones, the last."""
    bound = np.sort(values)[-n] if n else np.inf
    above, equal = np.flatnonzero(values > bound), np.flatnonzero(values == bound)
    return np.concatenate([above, equal[len(equal) + len(above) - n :]])
