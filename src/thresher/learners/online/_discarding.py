"""Which features a category can do without."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from thresher.errors import ParameterError

if TYPE_CHECKING:
    from thresher.learners.online._learner import OnlineLearner


def extremal_features(
    learner: OnlineLearner, feature_budget: int, extremal_share: float = 0.9
) -> np.ndarray:
    """Choose the features each category keeps: the weightiest, and a few of the lightest.

    Extremal Feature Selection: of the features met and not discarded, those with the highest and
    those with the lowest weight (of either sign; for the balanced Winnows the difference of the
    two parts). Among equal weights those numbered last are kept.

    Parameters
    ----------
    learner : OnlineLearner
        After learning.
    feature_budget : int
        How many features a category keeps.
    extremal_share : float, default=0.9
        Which part of them comes from the top; the rest comes from the bottom.

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
    """Mark the largest and the smallest values; of equal ones, the last."""
    chosen = np.zeros(len(values), bool)
    chosen[_last(values, n_top)] = True
    chosen[_last(np.where(chosen, -np.inf, -values), n_bottom)] = True
    return chosen


def _last(values: np.ndarray, n: int) -> np.ndarray:
    """Return the places of the `n` largest values; of equal ones, the last."""
    bound = np.sort(values)[-n] if n else np.inf
    beyond, level = np.flatnonzero(values > bound), np.flatnonzero(values == bound)
    return np.concatenate([beyond, level[len(level) + len(beyond) - n :]])
