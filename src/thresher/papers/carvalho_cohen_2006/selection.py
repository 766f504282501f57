"""Figures 6, 7 and 8: the error of MBW when only some features are kept.

Extremal Feature Selection takes features out of the model after the one pass; the weights of the
others stay. Information gain and chi-square choose the features from the training examples. The
paper does not say whether they too are taken out of the model: only so do its findings hold, that
they are no better than Extremal Feature Selection but for few features of Reuters. "IG first" is
what one would rather do, choose the features before the pass and learn with these alone. A random
fifth of the data is held out; the curves are means over several such splits.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy

import numpy as np

from thresher.features import chi_square, information_gain, select
from thresher.learners.online import OnlineLearner, extremal_features
from thresher.papers._result import Curve, Figure
from thresher.papers._running import Problem, folds, one_category, run_with_seeds
from thresher.papers.carvalho_cohen_2006.curves import unpublished_figure
from thresher.papers.carvalho_cohen_2006.learners import PROGRAM, learn_in_order
from thresher.papers.carvalho_cohen_2006.problems import problem
from thresher.rows import Rows

__all__ = ["errors_by_features", "figure_6", "figure_7", "figure_8"]

SHARES = (0.7, 0.8, 0.9, 1.0)
SPLITS = 5
BATCH = ("IG", "CHI", "IG first")
SCORES = {"IG": information_gain, "CHI": chi_square}


def feature_numbers(n_features: int, per_decade: int = 4) -> list[int]:
    """Return numbers of features to keep, evenly spread on a logarithmic scale, all the last.

    Examples
    --------
    >>> feature_numbers(250, per_decade=2)
    [10, 32, 100, 250]
    """
    steps = int(np.floor(per_decade * np.log10(n_features / 10))) if n_features > 10 else 0
    numbers = [round(10 * 10 ** (i / per_decade)) for i in range(steps + 1)]
    return sorted({min(one, n_features) for one in [*numbers, n_features]})


def _error(scores: np.ndarray, truth: np.ndarray) -> float:
    return 100 * float(np.mean((scores >= 0) != truth))


def _taken_out(
    model: OnlineLearner, test: Rows, truth: np.ndarray, keeps: Iterable[np.ndarray]
) -> list[float]:
    """Return the error when all features but some are taken out of the model, for each choice."""
    errors = []
    for keep in keeps:
        pruned = deepcopy(model).discard_features(~keep)
        errors.append(_error(pruned.score_rows(test)[:, 0], truth))
    return errors


def _chosen_first(
    train: Problem, test: Rows, truth: np.ndarray, keeps: Iterable[np.ndarray]
) -> list[float]:
    """Return the error when the pass meets these features only, for each choice."""
    errors = []
    for keep in keeps:
        kept = keep[:, 0]
        model = learn_in_order("MBW", train.rows.keep(kept), train.positive, PROGRAM)
        errors.append(_error(model.score_rows(test.keep(kept))[:, 0], truth))
    return errors


def errors_by_features(
    data: Problem, seed: int, shares: tuple[float, ...], batch: tuple[str, ...]
) -> dict[str, Curve]:
    """Return the test error, in percent, against the number of features kept.

    Parameters
    ----------
    data : Problem
        The data set; a fifth is held out.
    seed : int
        Seed of the split and the order.
    shares : tuple of float
        Values of P, the part of the features that comes from the top.
    batch : tuple of str
        Some of "IG", "CHI", "IG first", "CHI first", for comparison.

    Examples
    --------
    >>> rows = Rows(np.arange(51), np.arange(50, dtype=np.int32) % 20, np.ones(50, np.float32), 20)
    >>> data = Problem("toy", rows, np.arange(50) % 2 == 0)
    >>> errors_by_features(data, 0, (1.0,), ("IG",))["EFS, P = 1"].x
    (10.0, 18.0, 20.0)
    """
    order, held_out = next(folds(data.positive, 5, seed))
    train = Problem(data.name, data.rows.take(order), data.positive[order])
    test = data.rows.take(held_out), data.positive[held_out]
    model = learn_in_order("MBW", train.rows, train.positive, PROGRAM)
    kept = feature_numbers(data.rows.n_columns)
    errors = {}
    for share in shares:
        keeps = (extremal_features(model, n, share) for n in kept)
        errors[f"EFS, P = {share:g}"] = _taken_out(model, *test, keeps)
    for kind in batch:
        scores = SCORES[kind.split()[0]](train.rows, one_category(train.positive))
        keeps = (select(scores, n) for n in kept)
        if kind.endswith("first"):
            errors[kind] = _chosen_first(train, *test, keeps)
        else:
            errors[kind] = _taken_out(model, *test, keeps)
    return {name: Curve(tuple(map(float, kept)), tuple(one)) for name, one in errors.items()}


def _figure(
    item: str,
    title: str,
    sets: tuple[str, ...],
    seed: int,
    splits: int,
    shares: tuple[float, ...],
    batch: tuple[str, ...] = (),
) -> Figure:
    def run(name: str, split: int) -> dict[str, Curve]:
        return errors_by_features(problem(name), split, shares, batch)

    panels = {
        name: {
            one: Curve(curve.x, tuple(np.mean([own[one].y for own in runs], axis=0).tolist()))
            for one, curve in runs[0].items()
        }
        for name, runs in run_with_seeds(run, sets, range(seed, seed + splits)).items()
    }
    note = f"Mean of {splits} random splits, a fifth held out in each."
    axes = {"x_label": "features kept", "y_label": "errors, %", "log_x": True}
    return unpublished_figure(item, title, panels, note, **axes)


def figure_6(seed: int = 0, quick: bool = False) -> Figure:
    """How much the few lightest features help, on 20newsgroup."""
    sets = ("MovieReviews",) if quick else ("20newsgroup",)
    title = "Figure 6: Extremal Feature Selection"
    return _figure("figure-6", title, sets, seed, 1 if quick else SPLITS, SHARES)


def figure_7(seed: int = 0, quick: bool = False) -> Figure:
    """Extremal Feature Selection against information gain and chi-square."""
    sets = ("MovieReviews",) if quick else ("MovieReviews", "Reuters", "Spam", "Scam")
    title = "Figure 7: Extremal Feature Selection, information gain and chi-square"
    splits = 1 if quick else SPLITS
    return _figure("figure-7", title, sets, seed, splits, (0.9, 1.0), BATCH)


def figure_8(seed: int = 0, quick: bool = False) -> Figure:
    """The same on further data sets."""
    sets = ("Ads",) if quick else ("20newsgroup", "Ads")
    title = "Figure 8: Extremal Feature Selection, information gain and chi-square"
    splits = 1 if quick else SPLITS
    return _figure("figure-8", title, sets, seed, splits, (0.9, 1.0), BATCH)
