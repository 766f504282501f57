"""The paper's learners with its parameters, and one pass of each in cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from thresher.learners.online._learner import OnlineLearner
from thresher.learners.online.additive import ROMMA, PassiveAggressive, Perceptron
from thresher.learners.online.multiplicative import (
    BalancedWinnow,
    ModifiedBalancedWinnow,
    PositiveWinnow,
    RegretWinnow,
)
from thresher.rows import Rows
from thresher_papers._running import Problem, f1_percent, folds, one_category

__all__ = ["PROGRAM", "Variant", "cross_validate", "learn_in_order", "learner", "scores_of"]

WINNOW: dict[str, Any] = {
    "threshold": 1.0,
    "promotion": 1.5,
    "demotion": 0.5,
    "always_on": True,
    "normalize_strength": True,
    "unseen": "drop",
}
INITIAL = 1.0  # what a feature weighs at first: 1 in Positive Winnow, 2 - 1 in the balanced ones


class Variant(NamedTuple):
    """Deviations from the paper's program, to measure their effect."""

    always_on: bool = True  # whether the additive learners have an always-on feature
    in_norm: bool = False  # whether that counts in |x|^2
    romma_initial: Literal["one", "zero"] = "one"  # or "zero": what ROMMA's weights start from
    average: str = "examples"  # or "successes": which examples count in the average
    absent_is_zero: bool = True  # whether a feature weighs nothing before it was first met
    floor: float = 0.0  # of 1 - x in Modified Balanced Winnow
    ties: str = "mistakes"  # what a score at the threshold is in PW and BW; see `TIES`
    stratified: bool = False  # whether each fold has its share of the positives


PROGRAM = Variant()
# Readings of a tie other than that it is a mistake of whatever class the example is.
TIES: dict[str, dict[str, Any]] = {
    "a mistake of negatives": {"high": np.float32(1 - 2.0**-10)},
    "as rounded": {"ties": np.float32(0)},
    "none": {"ties": np.float32(-1)},
}


def learner(name: str, variant: Variant = PROGRAM) -> OnlineLearner:
    """Return a learner by the paper's abbreviation; `v-` for the averaged learner.

    Examples
    --------
    >>> learner("v-PA").average, learner("PA").gamma
    ('examples', 0.1)
    """
    average = variant.average if name.startswith("v-") else None
    additive: dict[str, Any] = {
        "average": average,
        "always_on": variant.always_on,
        "normalize_strength": False,
        "unseen": "keep",
    }
    normed = additive | {"always_on_in_norm": variant.in_norm}
    winnow = WINNOW | {"average": average}
    make: dict[str, Callable[[], OnlineLearner]] = {
        "MBW": lambda: ModifiedBalancedWinnow(margin=1.0, floor=variant.floor, **winnow),
        "PW": lambda: PositiveWinnow(margin=0.0, **winnow),
        "BW": lambda: BalancedWinnow(margin=0.0, **winnow),
        "RW": lambda: RegretWinnow(margin=0.0, **winnow),
        "PA": lambda: PassiveAggressive(variant="relaxed", epsilon=1.0, gamma=0.1, **normed),
        "ROMMA": lambda: ROMMA(initial=variant.romma_initial, **normed),
        "P": lambda: Perceptron(threshold=0.0, margin=0.0, promotion=1.0, **additive),
    }
    model = make[name.removeprefix("v-")]()
    if variant.ties in TIES and name.removeprefix("v-") in ("PW", "BW"):
        model._pass = partial(_read_ties, model._pass, TIES[variant.ties])  # type: ignore[method-assign]
    return model


def _read_ties(
    unchanged_pass: Callable[[Any], Any], reading: dict[str, Any], documents: Any
) -> Any:
    """Return the arguments of a pass with another rule for ties."""
    epoch, weights, rule = unchanged_pass(documents)
    return epoch, weights, rule._replace(**reading)


def learn_in_order(
    name: str, rows: Rows, positive: np.ndarray, variant: Variant = PROGRAM
) -> OnlineLearner:
    """Return a learner after one pass over the examples, in their order."""
    model = learner(name, variant).start(rows.n_columns, 1)
    model.learn_rows(rows, one_category(positive))
    return model


def first_met(rows: Rows) -> np.ndarray:
    """Return the share of the examples that come before the first with each feature.

    Examples
    --------
    >>> rows = Rows(np.array([0, 1, 2]), np.array([1, 0], np.int32), np.ones(2, np.float32), 3)
    >>> first_met(rows)
    array([0.5, 0. , 1. ])
    """
    first = np.full(rows.n_columns, rows.n_rows)
    examples = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
    first[rows.indices[::-1]] = examples[::-1]  # of equal places, the last written stays
    return first / max(1, rows.n_rows)


def scores_of(model: OnlineLearner, rows: Rows, absent: np.ndarray | None = None) -> np.ndarray:
    """Return scores of examples, optionally without the average weight of absent features.

    For an averaged Winnow, `absent` is the share of the hypotheses in which a feature was so.
    """
    if absent is None:
        return model.score_rows(rows)[:, 0]
    strengths, always_on = model.strengths(rows)
    weights = model.effective_weights()[:, 0] - INITIAL * absent
    examples = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
    contributions = strengths.values * weights[strengths.indices]
    sums = np.bincount(examples, contributions, rows.n_rows)
    return np.asarray(sums + always_on * model.always_on_weights()[0] - model.threshold)


def is_corrected(name: str, variant: Variant) -> bool:
    """Return whether the program's average of this learner leaves absent features out."""
    return name in ("v-MBW", "v-PW", "v-BW", "v-RW") and variant.absent_is_zero


def cross_validate(
    data: Problem, names: Sequence[str], seed: int, variant: Variant = PROGRAM, n_folds: int = 5
) -> dict[str, list[float]]:
    """Return F1 of the positive class in each fold, after one pass of each learner.

    Examples
    --------
    >>> rows = Rows(np.arange(11), np.arange(10, dtype=np.int32) % 2, np.ones(10, np.float32), 2)
    >>> data = Problem("toy", rows, np.arange(10) % 2 == 0)
    >>> cross_validate(data, ["MBW"], seed=0, n_folds=2)
    {'MBW': [100.0, 100.0]}
    """
    f1: dict[str, list[float]] = {name: [] for name in names}
    for train, test in folds(data.positive, n_folds, seed, stratified=variant.stratified):
        rows, held_out = data.rows.take(train), data.rows.take(test)
        absent = first_met(rows)
        for name in names:
            model = learn_in_order(name, rows, data.positive[train], variant)
            scores = scores_of(model, held_out, absent if is_corrected(name, variant) else None)
            f1[name].append(f1_percent(scores >= 0, data.positive[test]))
    return f1
