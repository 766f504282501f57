"""Figures 2, 3 and 4: how F1, test error and mistakes go with the number of examples.

A random fifth of the data is held out; the rest is met once, in a random order. The models are
measured whenever the number of examples has grown by a tenth, which is also when the SVM, a batch
learner, is trained anew.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from thresher.learners.online import OnlineLearner
from thresher.papers._result import Curve, Figure
from thresher.papers._running import Problem, f1_percent, folds, one_category, run_with_seeds
from thresher.papers.carvalho_cohen_2006 import published
from thresher.papers.carvalho_cohen_2006.learners import PROGRAM, is_corrected, learner, scores_of
from thresher.papers.carvalho_cohen_2006.problems import problem
from thresher.papers.carvalho_cohen_2006.tables import NAME, learn_at_once, quiet_solvers
from thresher.rows import Rows

__all__ = ["FIGURES", "checkpoints", "figure", "learning_curves"]

ONLINE = {"MBW": "MBW", "v-MBW": "v-MBW", "v-P": "v-Perceptron"}
FEWEST = 10
QUICK_SETS = ("MovieReviews", "Ads")
FOUR_SETS = ("Spam", "Reuters", "20newsgroup", "MovieReviews")
FIGURES: dict[str, tuple[str, tuple[str, ...], str, str]] = {
    "figure-2": ("Figure 2: learning curves", published.TEXT, "f1", "F1"),
    "figure-3": ("Figure 3: test error", FOUR_SETS, "error", "errors, %"),
    "figure-4": ("Figure 4: mistakes while learning", FOUR_SETS, "mistakes", "mistakes so far"),
}


class Measured(NamedTuple):
    """The measures of one data set, by learner, at each number of examples."""

    examples: list[int]
    f1: dict[str, list[float]]
    error: dict[str, list[float]]
    mistakes: dict[str, list[float]]  # made so far, each example judged before it is learned


def checkpoints(n_examples: int, growth: float = 0.1) -> list[int]:
    """Return the numbers of examples at which models are measured: 10, then a tenth more each time.

    Examples
    --------
    >>> checkpoints(20)
    [10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]
    """
    ends = [min(FEWEST, n_examples)]
    while ends[-1] < n_examples:
        ends.append(min(n_examples, max(ends[-1] + 1, int(ends[-1] * (1 + growth)))))
    return ends


class _Stream:
    """An online learner that is judged on each example before it learns from it."""

    def __init__(self, name: str, rows: Rows, positive: np.ndarray) -> None:
        self.name, self.rows, self.positive = name, rows, positive
        self.model: OnlineLearner = learner(name).start(rows.n_columns, 1)
        self.first = np.full(rows.n_columns, -1)  # when each feature was first met
        self.n_met = self.n_mistakes = 0

    def scores(self, rows: Rows) -> np.ndarray:
        absent = None
        if is_corrected(self.name, PROGRAM):
            absent = np.maximum(self.first, 0) / max(1, self.n_met)
        return scores_of(self.model, rows, absent)

    def meet(self, end: int, *, one_by_one: bool) -> None:
        """Learn the examples up to `end`; mistakes are counted only one by one."""
        step = 1 if one_by_one else end - self.n_met
        for start in range(self.n_met, end, step):
            piece = np.arange(start, start + step)
            rows, positive = self.rows.take(piece), self.positive[piece]
            if one_by_one:
                self.n_mistakes += int((self.scores(rows)[0] >= 0) != positive[0])
            self.model.learn_rows(rows, one_category(positive), ends_pass=False)
            new = rows.indices[self.first[rows.indices] < 0]
            examples = np.repeat(piece, np.diff(rows.indptr))[self.first[rows.indices] < 0]
            self.first[new[::-1]] = examples[::-1]
            self.n_met = start + step


def learning_curves(data: Problem, seed: int, *, mistakes: bool) -> Measured:
    """Measure the learners at each checkpoint of one pass; a fifth of the data is held out.

    For the mistakes each example is judged before it is learned, which is slower.

    Examples
    --------
    >>> rows = Rows(np.arange(51), np.arange(50, dtype=np.int32) % 2, np.ones(50, np.float32), 2)
    >>> data = Problem("toy", rows, np.arange(50) % 2 == 0)
    >>> measured = learning_curves(data, seed=0, mistakes=True)
    >>> measured.examples[-1], measured.f1["MBW"][-1], measured.error["SVM"][-1]
    (40, 100.0, 0.0)
    """
    train, test = next(folds(data.positive, 5, seed))
    rows, positive = data.rows.take(train), data.positive[train]
    held_out, truth = data.rows.take(test), data.positive[test]
    names = (*ONLINE.values(), "SVM")
    empty: list[dict[str, list[float]]] = [{name: [] for name in names} for _ in range(3)]
    measured = Measured(checkpoints(len(train)), *empty)

    def note(name: str, decided: np.ndarray, wrong: float) -> None:
        measured.f1[name].append(f1_percent(decided, truth))
        measured.error[name].append(100 * float(np.mean(decided != truth)))
        measured.mistakes[name].append(wrong)

    for own, name in ONLINE.items():
        stream = _Stream(own, rows, positive)
        for end in measured.examples:
            stream.meet(end, one_by_one=mistakes)
            note(name, stream.scores(held_out) >= 0, stream.n_mistakes)
    # The SVM is trained at each checkpoint; it judges the examples up to the next one.
    X, X_test, ends = rows.to_scipy(), held_out.to_scipy(), measured.examples
    decide = _decider(X[:1], np.zeros(1, bool))
    wrong = 0.0
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        wrong += np.count_nonzero(decide(X[start:end]) != positive[start:end])
        decide = _decider(X[:end], positive[:end])
        note("SVM", decide(X_test), wrong)
    return measured


def _decider(X: Any, positive: np.ndarray) -> Callable[[Any], np.ndarray]:
    """Return what a fresh SVM decides; with one class only, always that class."""
    if positive.all() or not positive.any():
        return lambda examples: np.full(examples.shape[0], positive[0])
    model = learn_at_once("SVM", X, positive)
    return lambda examples: np.asarray(model.predict(examples))


@lru_cache(maxsize=64)
def _measured(name: str, seed: int, mistakes: bool) -> Measured:
    return learning_curves(problem(name), seed, mistakes=mistakes)


def figure(item: str, seed: int = 0, quick: bool = False) -> Figure:
    """Return one of `FIGURES`: how a measure goes as examples come in."""
    title, sets, kind, y_label = FIGURES[item]
    sets = QUICK_SETS if quick else sets
    with quiet_solvers():
        runs = run_with_seeds(lambda *run: _measured(*run, kind == "mistakes"), sets, [seed])
    panels = {
        name: {
            own: Curve(tuple(measured.examples), tuple(values))
            for own, values in getattr(measured, kind).items()
        }
        for name, (measured,) in runs.items()
    }
    note = (
        "A random fifth is held out; the SVM is trained anew whenever the examples have grown by "
        "a tenth."
    )
    n_columns = 3 if len(sets) > 4 else 2
    axes = {"x_label": "examples", "y_label": y_label, "n_columns": n_columns}
    return unpublished_figure(item, title, panels, note, **axes)


def unpublished_figure(
    item: str, title: str, panels: dict[str, dict[str, Any]], note: str, **axes: Any
) -> Figure:
    """Return a figure whose values the paper does not print."""
    notes = [f"The paper prints the curves, not their values. {note}"]
    return Figure(NAME, item, title, {}, panels, notes, **axes)
