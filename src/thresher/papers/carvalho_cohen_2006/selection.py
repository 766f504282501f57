"""Figures 6, 7 and 8: the error of MBW when only some features are kept.

Extremal Feature Selection takes features out of the model after the one pass; the weights of the
others stay. Information gain and chi-square choose features before the pass, from the training
examples. A random fifth of the data is held out; the curves are means over several such splits.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

from thresher._rows import Rows
from thresher.features import chi_square, information_gain, select
from thresher.online import extremal_features
from thresher.papers._result import Curve, Figure
from thresher.papers._running import Problem, folds, in_parallel, one_category
from thresher.papers.carvalho_cohen_2006.learners import PROGRAM, learn_in_order
from thresher.papers.carvalho_cohen_2006.problems import problem
from thresher.papers.carvalho_cohen_2006.tables import NAME

__all__ = ["errors_by_features", "figure_6", "figure_7", "figure_8"]

SHARES = (0.7, 0.8, 0.9, 1.0)
SPLITS = 5


def feature_numbers(n_features: int, per_decade: int = 4) -> list[int]:
    """Return numbers of features to keep, evenly spread on a logarithmic scale, all the last.

    Examples
    --------
    >>> feature_numbers(250, per_decade=2)
    [10, 32, 100, 250]
    """
    steps = int(np.floor(per_decade * np.log10(n_features / 10))) if n_features > 10 else 0
    found = [round(10 * 10 ** (i / per_decade)) for i in range(steps + 1)]
    return sorted({min(one, n_features) for one in [*found, n_features]})


def _error(scores: np.ndarray, truth: np.ndarray) -> float:
    return 100 * float(np.mean((scores >= 0) != truth))


def _after(
    rows: Rows, positive: np.ndarray, test: Rows, truth: np.ndarray, kept: list[int], share: float
) -> list[float]:
    """Return the error when features are taken out of the model after the pass."""
    made = learn_in_order("MBW", rows, positive, PROGRAM)
    errors = []
    for n in kept:
        pruned = deepcopy(made)
        pruned.discard_features(~extremal_features(pruned, n, share))
        errors.append(_error(pruned.score_rows(test)[:, 0], truth))
    return errors


def _before(
    rows: Rows, positive: np.ndarray, test: Rows, truth: np.ndarray, kept: list[int], kind: str
) -> list[float]:
    """Return the error when the features are chosen before the pass."""
    score = information_gain if kind == "IG" else chi_square
    scores = score(rows, one_category(positive))[:, 0]
    errors = []
    for n in kept:
        keep = select(scores, n)
        made = learn_in_order("MBW", rows.keep(keep), positive, PROGRAM)
        errors.append(_error(made.score_rows(test.keep(keep))[:, 0], truth))
    return errors


def errors_by_features(
    data: Problem, seed: int, shares: tuple[float, ...], batch: tuple[str, ...]
) -> dict[str, Any]:
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
        "IG", "CHI" or both, for comparison.

    Examples
    --------
    >>> rows = Rows(np.arange(51), np.arange(50, dtype=np.int32) % 20, np.ones(50, np.float32), 20)
    >>> data = Problem("toy", rows, np.arange(50) % 2 == 0)
    >>> errors_by_features(data, 0, (1.0,), ("IG",))["EFS, P = 1"].x
    (10.0, 18.0, 20.0)
    """
    train, test = next(folds(data.positive, 5, seed))
    parts = data.rows.take(train), data.positive[train], data.rows.take(test), data.positive[test]
    kept = feature_numbers(data.rows.n_columns)
    places = tuple(map(float, kept))
    found = {
        f"EFS, P = {share:g}": Curve(places, tuple(_after(*parts, kept, share))) for share in shares
    }
    return found | {kind: Curve(places, tuple(_before(*parts, kept, kind))) for kind in batch}


def _figure(
    item: str,
    title: str,
    sets: tuple[str, ...],
    seed: int,
    splits: int,
    shares: tuple[float, ...],
    batch: tuple[str, ...] = (),
) -> Figure:
    jobs = [(name, seed + split) for name in sets for split in range(splits)]
    runs = in_parallel(lambda j: errors_by_features(problem(j[0]), j[1], shares, batch), jobs)
    panels: dict[str, dict[str, Any]] = {}
    for i, name in enumerate(sets):
        own = runs[i * splits : (i + 1) * splits]
        panels[name] = {
            one: Curve(curve.x, tuple(np.mean([run[one].y for run in own], axis=0).tolist()))
            for one, curve in own[0].items()
        }
    notes = [
        "The paper prints the curves, not their values. "
        f"Mean of {splits} random splits, a fifth held out in each."
    ]
    return Figure(
        NAME,
        item,
        title,
        {},
        panels,
        notes,
        x_label="features kept",
        y_label="errors, %",
        log_x=True,
    )


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
    return _figure("figure-7", title, sets, seed, splits, (0.9, 1.0), ("IG", "CHI"))


def figure_8(seed: int = 0, quick: bool = False) -> Figure:
    """The same on further data sets."""
    sets = ("Ads",) if quick else ("20newsgroup", "Ads")
    title = "Figure 8: Extremal Feature Selection, information gain and chi-square"
    splits = 1 if quick else SPLITS
    return _figure("figure-8", title, sets, seed, splits, (0.9, 1.0), ("IG", "CHI"))
