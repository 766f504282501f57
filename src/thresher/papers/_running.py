"""What every reproduction needs: problems and tasks, folds, runs with several seeds."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from thresher.evaluation.folds import Split, deal
from thresher.experiments.protocols import in_parallel
from thresher.learners.online import OnlineLearner
from thresher.rows import Labels, Rows

T = TypeVar("T", bound=Hashable)
R = TypeVar("R")

CORES = os.cpu_count() or 1
HELD_OUT = 0.25


@dataclass(frozen=True, eq=False)
class Problem:
    """A problem of two classes, under the paper's name."""

    name: str
    rows: Rows
    positive: np.ndarray  # which examples are of the positive class

    def __len__(self) -> int:
        return len(self.positive)


class Documents(NamedTuple):
    """Counts and labels of some documents."""

    rows: Rows
    labels: Labels

    def take(self, order: np.ndarray) -> Documents:
        """Return the documents of `order`, in that order."""
        return Documents(self.rows.take(order), self.labels.take(order))


class Task(NamedTuple):
    """Documents to learn from, and documents to be measured on."""

    train: Documents
    test: Documents

    def rehearsal(self) -> Task:
        """Return the task of learning the last quarter of the training documents from the rest."""
        n = self.train.rows.n_rows
        return Task(*map(self.train.take, np.split(np.arange(n), [n - int(HELD_OUT * n)])))


def numbered(labels: Sequence[list[str]], categories: Sequence[str]) -> Labels:
    """Return the labels that are among the categories, by their numbers.

    Examples
    --------
    >>> numbered([["grain", "wheat"], []], ["wheat", "corn"]).indices
    array([0], dtype=int32)
    """
    number = {name: i for i, name in enumerate(categories)}
    lists = [[number[name] for name in own if name in number] for own in labels]
    return Labels.from_lists(lists, len(categories))


def one_category(positive: np.ndarray) -> Labels:
    """Return which examples belong, as the labels of one category.

    Examples
    --------
    >>> one_category(np.array([True, False, True])).indptr
    array([0, 1, 1, 2])
    """
    indptr = np.zeros(len(positive) + 1, np.int64)
    np.cumsum(positive, out=indptr[1:])
    return Labels(indptr, np.zeros(indptr[-1], np.int32), 1)


def folds(
    positive: np.ndarray, n_folds: int, seed: int, *, stratified: bool = False
) -> Iterator[Split]:
    """Yield training and test examples of each fold, stratified by the positives or not.

    The library's `k_fold` divides the same way and then shuffles what each fold learns from anew.
    Here one shuffle does both: the training examples of all folds come in its order, which a
    learner that makes one pass depends on. Hence this protocol of the papers' own.

    Examples
    --------
    >>> [len(test) for train, test in folds(np.zeros(7, bool), 3, seed=0)]
    [3, 2, 2]
    """
    order = np.random.default_rng(seed).permutation(len(positive))
    positives_first = order[np.argsort(~positive[order], kind="stable")]
    fold = deal(positives_first if stratified else order, n_folds)
    for number in range(n_folds):
        yield Split(order[fold[order] != number], np.flatnonzero(fold == number))


def scores_after(
    learner: OnlineLearner, task: Task, passes: Collection[int], seed: int
) -> dict[int, np.ndarray]:
    """Return the test scores after each of some passes, each pass in another order."""
    rows, labels = task.train
    learner.start(rows.n_columns, labels.n_categories, len(rows.indices) / rows.n_rows)
    random = np.random.default_rng(seed)
    scores = {}
    for done in range(1, max(passes) + 1):
        learner.learn_rows(rows, labels, random.permutation(rows.n_rows))
        if done in passes:
            scores[done] = learner.score_rows(task.test.rows)
    return scores


def f1_percent(decided: np.ndarray, positive: np.ndarray) -> float:
    """Return F1 of the positive class in percent; 0 where nothing is right.

    The library's F1 is NaN where nothing is positive and nothing was decided, which a mean over
    folds cannot take.

    Examples
    --------
    >>> f1_percent(np.array([True, True, False]), np.array([True, False, False]))
    66.7
    """
    hits = int(np.count_nonzero(decided & positive))
    either = int(np.count_nonzero(decided)) + int(np.count_nonzero(positive))
    return 200.0 * hits / max(1, either)


def run_with_seeds(
    function: Callable[[T, int], R], items: Collection[T], seeds: Sequence[int]
) -> dict[T, list[R]]:
    """Return what a function gives for each item with each of the seeds, computed on all cores.

    Examples
    --------
    >>> run_with_seeds(lambda name, seed: f"{name}{seed}", ("a", "b"), (3, 4))
    {'a': ['a3', 'a4'], 'b': ['b3', 'b4']}
    """
    jobs = [(item, seed) for item in items for seed in seeds]
    runs = iter(list(in_parallel(lambda job: function(*job), jobs, CORES)))
    return {item: [next(runs) for _ in seeds] for item in items}


def mean_and_spread(
    runs: Sequence[Mapping[str, float]],
) -> tuple[dict[str, float], dict[str, float]]:
    """Return each figure's mean over the runs, and its standard deviation if they are several.

    Examples
    --------
    >>> mean_and_spread([{"MBW": 80.0}, {"MBW": 82.0}])
    ({'MBW': 81.0}, {'MBW': 1.41...})
    """
    figures = {name: [run[name] for run in runs] for name in runs[0]}
    means = {name: float(np.mean(values)) for name, values in figures.items()}
    if len(runs) == 1:
        return means, {}
    return means, {name: float(np.std(values, ddof=1)) for name, values in figures.items()}
