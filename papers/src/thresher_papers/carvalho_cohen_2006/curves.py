"""Cells of figures 2 to 4: learning curves over one pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thresher.learners.online._learner import OnlineLearner
from thresher.rows import Rows
from thresher_papers._running import Problem, f1_percent, folds, one_category
from thresher_papers.carvalho_cohen_2006.cells import learn_at_once
from thresher_papers.carvalho_cohen_2006.learners import PROGRAM, is_corrected, learner, scores_of
from thresher_papers.carvalho_cohen_2006.problems import problem

__all__ = ["checkpoints", "curve", "learning_curve"]

FEWEST, GROWTH = 10, 0.1


def checkpoints(n_examples: int, growth: float = GROWTH) -> list[int]:
    """Return the numbers of examples at which models are measured: 10, then 10 % more each time.

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
    """An online learner that predicts each example before it learns from it."""

    def __init__(self, name: str, rows: Rows, positive: np.ndarray) -> None:
        self.name, self.rows, self.positive = name, rows, positive
        self.model: OnlineLearner = learner(name).start(rows.n_columns, 1)
        self.first = np.full(rows.n_columns, -1)  # when each feature was first met
        self.n_met = self.n_mistakes = 0

    def decide(self, rows: Rows) -> np.ndarray:
        absent = None
        if is_corrected(self.name, PROGRAM):
            absent = np.maximum(self.first, 0) / max(1, self.n_met)
        return scores_of(self.model, rows, absent) >= 0

    def meet(self, end: int) -> None:
        """Learn the examples up to `end`, one by one."""
        for i in range(self.n_met, end):
            rows, positive = self.rows.take(np.array([i])), self.positive[i : i + 1]
            self.n_mistakes += int(self.decide(rows)[0] != positive[0])
            self.model.learn_rows(rows, one_category(positive), ends_pass=False)
            self.first[rows.indices[self.first[rows.indices] < 0]] = i
            self.n_met = i + 1


def learning_curve(data: Problem, name: str, seed: int) -> dict[str, list[float]]:
    """Measure a learner at each checkpoint of one pass; a fifth of the data is held out.

    Mistakes are those made so far, each example being judged before it is learned; the SVM judges
    until it is trained anew.

    Examples
    --------
    >>> rows = Rows(np.arange(51), np.arange(50, dtype=np.int32) % 2, np.ones(50, np.float32), 2)
    >>> data = Problem("toy", rows, np.arange(50) % 2 == 0)
    >>> curve = learning_curve(data, "MBW", seed=0)
    >>> curve["examples"][-1], curve["f1"][-1], curve["error"][-1]
    (40, 100.0, 0.0)
    """
    train, test = next(folds(data.positive, 5, seed))
    rows, positive = data.rows.take(train), data.positive[train]
    held_out, truth = data.rows.take(test), data.positive[test]
    measured: dict[str, list[float]] = {"examples": [*checkpoints(len(train))]}
    measured |= {kind: [] for kind in ("f1", "error", "mistakes")}

    def note(decided: np.ndarray, mistakes: float) -> None:
        measured["f1"].append(f1_percent(decided, truth))
        measured["error"].append(100 * float(np.mean(decided != truth)))
        measured["mistakes"].append(mistakes)

    if name == "SVM":
        X, X_test, mistakes = rows.to_scipy(), held_out.to_scipy(), 0.0
        decide = _decider(X[:1], np.zeros(1, bool))
        starts = [0, *measured["examples"][:-1]]
        for start, end in zip(starts, measured["examples"], strict=True):
            interval = slice(int(start), int(end))
            mistakes += float(np.count_nonzero(decide(X[interval]) != positive[interval]))
            decide = _decider(X[: interval.stop], positive[: interval.stop])
            note(decide(X_test), mistakes)
        return measured
    stream = _Stream(name, rows, positive)
    for end in measured["examples"]:
        stream.meet(int(end))
        note(stream.decide(held_out), stream.n_mistakes)
    return measured


def _decider(X: Any, positive: np.ndarray) -> Callable[[Any], np.ndarray]:
    """Return the decision function of a new SVM; with a single class, always that class."""
    if positive.all() or not positive.any():
        return lambda examples: np.full(examples.shape[0], positive[0])
    model = learn_at_once("SVM", X, positive)
    return lambda examples: np.asarray(model.predict(examples))


def curve(name: str, learner: str, seed: int) -> dict[str, list[float]]:
    """Measure one pass of a learner over a data set."""
    return learning_curve(problem(name), learner, seed)
