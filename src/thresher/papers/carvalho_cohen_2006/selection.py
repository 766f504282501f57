"""Figures 6, 7 and 8: the error of MBW when only some features are kept.

Extremal Feature Selection takes features out of the model after the one pass; the weights of the
others stay. Information gain and chi-square choose the features from the training examples. The
paper does not say whether they too are taken out of the model: only so do its findings hold, that
they are no better than Extremal Feature Selection but for few features of Reuters. "IG first" is
what one would rather do, choose the features before the pass and learn with these alone. A random
fifth of the data is held out; the curves are means over several such splits.
"""

from __future__ import annotations

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


def errors_by_features(
    data: Problem, seed: int, shares: tuple[float, ...], batch: tuple[str, ...]
) -> dict[str, Curve]:
    """Return the error, in percent, on a held-out fifth against the number of features kept.

    `shares` are values of P, the part of the features that comes from the top; `batch` is some of
    "IG", "CHI", "IG first", "CHI first", for comparison.

    Examples
    --------
    >>> rows = Rows(np.arange(51), np.arange(50, dtype=np.int32) % 20, np.ones(50, np.float32), 20)
    >>> data = Problem("toy", rows, np.arange(50) % 2 == 0)
    >>> errors_by_features(data, 0, (1.0,), ("IG",))["EFS, P = 1"].x
    (10.0, 18.0, 20.0)
    """
    order, held_out = next(folds(data.positive, 5, seed))
    rows, positive = data.rows.take(order), data.positive[order]
    test, truth = data.rows.take(held_out), data.positive[held_out]
    model = learn_in_order("MBW", rows, positive, PROGRAM)
    numbers = feature_numbers(data.rows.n_columns)

    def error(chosen: OnlineLearner, examples: Rows) -> float:
        return 100 * float(np.mean((chosen.score_rows(examples)[:, 0] >= 0) != truth))

    def taken_out(keep: np.ndarray) -> float:
        return error(deepcopy(model).discard_features(~keep), test)

    def chosen_first(keep: np.ndarray) -> float:
        kept = keep[:, 0]
        return error(learn_in_order("MBW", rows.keep(kept), positive, PROGRAM), test.keep(kept))

    errors = {
        f"EFS, P = {share:g}": [taken_out(extremal_features(model, n, share)) for n in numbers]
        for share in shares
    }
    for kind in batch:
        scores = SCORES[kind.split()[0]](rows, one_category(positive))
        measured = chosen_first if kind.endswith("first") else taken_out
        errors[kind] = [measured(select(scores, n)) for n in numbers]
    return {name: Curve(tuple(map(float, numbers)), tuple(one)) for name, one in errors.items()}


def _figure(
    item: str,
    title: str,
    sets: tuple[str, ...],
    seed: int,
    quick: bool,
    shares: tuple[float, ...] = (0.9, 1.0),
    batch: tuple[str, ...] = BATCH,
) -> Figure:
    splits = 1 if quick else SPLITS

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
    return _figure("figure-6", title, sets, seed, quick, SHARES, ())


def figure_7(seed: int = 0, quick: bool = False) -> Figure:
    """Extremal Feature Selection against information gain and chi-square."""
    sets = ("MovieReviews",) if quick else ("MovieReviews", "Reuters", "Spam", "Scam")
    title = "Figure 7: Extremal Feature Selection, information gain and chi-square"
    return _figure("figure-7", title, sets, seed, quick)


def figure_8(seed: int = 0, quick: bool = False) -> Figure:
    """The same on further data sets."""
    sets = ("Ads",) if quick else ("20newsgroup", "Ads")
    title = "Figure 8: Extremal Feature Selection, information gain and chi-square"
    return _figure("figure-8", title, sets, seed, quick)
