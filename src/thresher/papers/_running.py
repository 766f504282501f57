"""What every reproduction needs: folds, runs with several seeds, and their means."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from thresher.evaluation.folds import Split, deal
from thresher.experiments.protocols import in_parallel
from thresher.rows import Labels, Rows

__all__ = [
    "CORES",
    "Problem",
    "f1_percent",
    "folds",
    "mean_and_spread",
    "one_category",
    "run_with_seeds",
]

T = TypeVar("T", bound=Hashable)
R = TypeVar("R")

CORES = os.cpu_count() or 1


@dataclass(frozen=True, eq=False)
class Problem:
    """A problem of two classes.

    Attributes
    ----------
    name : str
        As the paper calls it.
    rows : Rows
        The examples' features.
    positive : array of bool
        Which examples are of the positive class.
    data : {"same", "inferred", "other"}
        Whether these are the paper's own data, data of which something had to be inferred, or
        other data of the same kind.
    """

    name: str
    rows: Rows
    positive: np.ndarray
    data: str = "same"

    def __len__(self) -> int:
        return len(self.positive)


def folds(
    positive: np.ndarray, n_folds: int, seed: int, *, stratified: bool = False
) -> Iterator[Split]:
    """Yield training and test examples of each fold.

    The library's `k_fold` divides the same way and then shuffles what each fold learns from anew.
    Here one shuffle does both: the training examples of all folds come in its order, which a
    learner that makes one pass depends on. Hence this protocol of the papers' own.

    Parameters
    ----------
    positive : array of bool
        Which examples are positive.
    n_folds : int
        How many folds.
    seed : int
        Seed of the shuffle.
    stratified : bool, default=False
        Give each fold its share of the positives.

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
