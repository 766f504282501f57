"""Cells of figures 5 to 8: Modified Balanced Winnow with selected features.

Extremal Feature Selection takes features out of the model after the one pass; the weights of the
others stay. So do information gain and chi-square here, which choose from the training examples;
"IG first" chooses before the pass, and the learner meets the chosen features alone.
"""

from __future__ import annotations

from copy import deepcopy

import numpy as np

from thresher.features.selection import chi_square, information_gain, select
from thresher.learners.online._learner import OnlineLearner
from thresher.learners.online._selection import extremal_features
from thresher.rows import Rows
from thresher_papers._running import Problem, folds, one_category
from thresher_papers.carvalho_cohen_2006.learners import learn_in_order
from thresher_papers.carvalho_cohen_2006.problems import problem, words_of

__all__ = ["errors", "errors_by_features", "feature_numbers", "importances"]

SHARES = (0.7, 0.8, 0.9, 1.0)
SCORES = {"IG": information_gain, "CHI": chi_square}
BATCH = ("IG", "CHI", "IG first")


def feature_numbers(n_features: int, per_decade: int = 4) -> list[int]:
    """Return numbers of features to keep, evenly spread on a logarithmic scale, up to all.

    Examples
    --------
    >>> feature_numbers(250, per_decade=2)
    [10, 32, 100, 250]
    """
    steps = int(np.floor(per_decade * np.log10(n_features / 10))) if n_features > 10 else 0
    numbers = [round(10 * 10 ** (i / per_decade)) for i in range(steps + 1)]
    return sorted({min(number, n_features) for number in [*numbers, n_features]})


def errors_by_features(data: Problem, seed: int) -> dict[str, list[float]]:
    """Return the error, in percent, on a held-out fifth, and under "kept" the numbers of features.

    Examples
    --------
    >>> rows = Rows(np.arange(51), np.arange(50, dtype=np.int32) % 20, np.ones(50, np.float32), 20)
    >>> data = Problem("toy", rows, np.arange(50) % 2 == 0)
    >>> errors_by_features(data, 0)["kept"]
    [10, 18, 20]
    """
    order, held_out = next(folds(data.positive, 5, seed))
    rows, positive = data.rows.take(order), data.positive[order]
    test, truth = data.rows.take(held_out), data.positive[held_out]
    model = learn_in_order("MBW", rows, positive)
    numbers = feature_numbers(data.rows.n_columns)

    def error(chosen: OnlineLearner, examples: Rows) -> float:
        return 100 * float(np.mean((chosen.score_rows(examples)[:, 0] >= 0) != truth))

    def taken_out(keep: np.ndarray) -> float:
        return error(deepcopy(model).discard_features(~keep), test)

    def chosen_first(keep: np.ndarray) -> float:
        is_selected = keep[:, 0]
        return error(
            learn_in_order("MBW", rows.keep(is_selected), positive), test.keep(is_selected)
        )

    curves: dict[str, list[float]] = {"kept": [*numbers]}
    for share in SHARES:
        chosen = (extremal_features(model, n, share) for n in numbers)
        curves[f"P = {share:g}"] = [*map(taken_out, chosen)]
    for kind in BATCH:
        scores = SCORES[kind.split()[0]](rows, one_category(positive))
        measured = chosen_first if kind.endswith("first") else taken_out
        curves[kind] = [measured(select(scores, n)) for n in numbers]
    return curves


def errors(name: str, seed: int) -> dict[str, list[float]]:
    """Return the errors on a data set by the number of features that are kept."""
    return errors_by_features(problem(name), seed)


def importances(name: str, seed: int) -> list[tuple[str, float, float]]:
    """Return the features met, their |u - v| and the share of examples with them, heaviest first.

    One pass over four fifths of the data.
    """
    data, words = problem(name), words_of(name)
    order, _ = next(folds(data.positive, 5, seed))
    rows = data.rows.take(order)
    model = learn_in_order("MBW", rows, data.positive[order])
    importance = np.abs(model.effective_weights()[:, 0])
    frequency = np.bincount(rows.indices, minlength=rows.n_columns) / rows.n_rows
    ranked = np.argsort(-importance, kind="stable")
    ranked = ranked[frequency[ranked] > 0]
    return [(words[i], float(importance[i]), float(frequency[i])) for i in ranked]
