"""What every reproduction needs: folds, seeded subsets, and the machine's cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from thresher.rows import Labels, Rows

__all__ = ["Problem", "f1_percent", "folds", "in_parallel", "one_category"]

T = TypeVar("T")
R = TypeVar("R")


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
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield training and test examples of each fold, both in a random order.

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
    dealt = (
        np.concatenate([order[positive[order]], order[~positive[order]]]) if stratified else order
    )
    fold = np.empty(len(order), np.int64)
    fold[dealt] = np.arange(len(order)) % n_folds
    for i in range(n_folds):
        is_test = fold[order] == i
        yield order[~is_test], order[is_test]


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

    Examples
    --------
    >>> f1_percent(np.array([True, True, False]), np.array([True, False, False]))
    66.7
    """
    hits = int(np.count_nonzero(decided & positive))
    either = int(np.count_nonzero(decided)) + int(np.count_nonzero(positive))
    return 200.0 * hits / max(1, either)


def in_parallel(function: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Return the function's values, computed by as many threads as there are cores.

    The kernels leave Python's lock to others; what is computed does not depend on it.
    """
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(function, items))
