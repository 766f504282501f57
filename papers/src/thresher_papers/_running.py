"""Shared by all reproductions: settings of a run, computing of cells, tasks and folds."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

import numpy as np

from thresher.evaluation.folds import Split, deal
from thresher.rows import Labels, Rows
from thresher_papers._keeping import Store
from thresher_papers._result import Cells

T = TypeVar("T")
Watch = Callable[[str, int, int], None]

CORES = os.cpu_count() or 1
HELD_OUT = 0.25


def _ignore_progress(title: str, done: int, n_cells: int) -> None:
    """Do nothing."""


@dataclass(frozen=True)
class Run:
    """Settings of an experiment, and the loop that computes its cells.

    An experiment is a grid of cells. `measure(*key)` computes a cell: a dictionary of numbers by
    name, or another value that JSON can represent. Its arguments are plain values. Therefore cells
    can be computed in parallel, stored on disk and read by a later run.

    Attributes
    ----------
    seed : int
        Seed of all random choices: folds, subsets, the order of examples.
    quick : bool
        Whether to run a small version that takes seconds.
    jobs : int
        Number of cells computed in parallel. Results are the same for any number.
    store : Store or None
        Where finished cells are stored; None stores none.
    watch : function
        Called with the title, the number of finished cells and the number of all cells.
    title : str
        Title shown with the progress.

    Examples
    --------
    >>> run = Run(seed=3, store=None)
    >>> run.cells(lambda name, seed: f"{name}{seed}", [("a", 3), ("b", 4)])
    ['a3', 'b4']
    >>> run.rows(lambda size, seed: {"F1": size * seed}, {"small": (1,), "large": (2,)}, 2)
    ({'small': {'F1': 3.5}, 'large': {'F1': 7.0}}, {'small': {'F1': 0.7...}, ...
    """

    seed: int = 0
    quick: bool = False
    jobs: int = CORES
    store: Store | None = field(default_factory=Store)
    watch: Watch = _ignore_progress
    title: str = ""

    def of(self, full: T, small: T) -> T:
        """Return `full`, or `small` in a quick run."""
        return small if self.quick else full

    def seeds(self, number: int) -> list[int]:
        """Return `number` seeds, beginning with that of the run; only one in a quick run."""
        return list(range(self.seed, self.seed + self.of(number, 1)))

    def cells(
        self, measure: Callable[..., Any], keys: Iterable[tuple[Any, ...]], *, inside: bool = False
    ) -> list[Any]:
        """Return `measure(*key)` for each key; cells that are stored are read.

        With `inside`, cells are computed one after the other and `measure` gets the number of jobs
        as `n_jobs`.
        """
        keys = list(keys)
        paths = [self.store.path(measure, key) if self.store else None for key in keys]
        cells = [self.store.read(path) if self.store and path else None for path in paths]
        done = len(keys) - cells.count(None)
        self.watch(self.title, done, len(keys))

        def compute(index: int) -> Any:
            threads = {"n_jobs": self.jobs} if inside else {}
            began, path = perf_counter(), paths[index]
            cell = measure(*keys[index], **threads)
            taken = perf_counter() - began
            return self.store.write(path, cell, taken) if self.store and path else cell

        ahead = [index for index, cell in enumerate(cells) if cell is None]
        pool = ThreadPoolExecutor(1 if inside else self.jobs)
        try:
            for index, cell in zip(ahead, pool.map(compute, ahead), strict=True):
                cells[index], done = cell, done + 1
                self.watch(self.title, done, len(keys))
        finally:  # after an error or Ctrl-C, start no other cell and wait for none
            pool.shutdown(wait=False, cancel_futures=True)
        return cells

    def rows(
        self,
        measure: Callable[..., Any],
        rows: Mapping[str, tuple[Any, ...]],
        n_seeds: int = 1,
        *,
        inside: bool = False,
    ) -> tuple[Cells, Cells]:
        """Return the rows of a table as means over seeds, and their standard deviations.

        `measure(*rows[name], seed)` returns the cells of a row by column.
        """
        seeds = self.seeds(n_seeds)
        keys = [(*key, seed) for key in rows.values() for seed in seeds]
        cells = iter(self.cells(measure, keys, inside=inside))
        statistics = {name: mean_and_spread([next(cells) for _ in seeds]) for name in rows}
        means, spreads = ({name: pair[i] for name, pair in statistics.items()} for i in (0, 1))
        return means, spreads


@dataclass(frozen=True, eq=False)
class Problem:
    """A problem of two classes, by the name in the paper."""

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
    """Training documents and test documents."""

    train: Documents
    test: Documents

    def rehearsal(self) -> Task:
        """Return a task of the training documents alone: the last quarter is the test set."""
        n = self.train.rows.n_rows
        return Task(*map(self.train.take, np.split(np.arange(n), [n - int(HELD_OUT * n)])))


def numbered(labels: Sequence[list[str]], categories: Sequence[str]) -> Labels:
    """Return labels as numbers of categories; labels of other categories are left out.

    Examples
    --------
    >>> numbered([["grain", "wheat"], []], ["wheat", "corn"]).indices
    array([0], dtype=int32)
    """
    number = {name: i for i, name in enumerate(categories)}
    lists = [
        [number[name] for name in document_labels if name in number] for document_labels in labels
    ]
    return Labels.from_lists(lists, len(categories))


def one_category(positive: np.ndarray) -> Labels:
    """Return the labels of a single category, from a mask of its examples.

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

    The library's `k_fold` divides in the same way and then shuffles the training examples of each
    fold again. Here the training examples of all folds are in the order of one shuffle, on which
    learners with one pass depend.

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


def f1_percent(decided: np.ndarray, positive: np.ndarray) -> float:
    """Return F1 of the positive class in percent; 0 if there is no true positive.

    The library's F1 is NaN if no example is positive or decided as positive, which would make a
    mean over folds NaN.

    Examples
    --------
    >>> f1_percent(np.array([True, True, False]), np.array([True, False, False]))
    66.7
    """
    hits = int(np.count_nonzero(decided & positive))
    either = int(np.count_nonzero(decided)) + int(np.count_nonzero(positive))
    return 200.0 * hits / max(1, either)


def mean_and_spread(
    runs: Sequence[Mapping[str, float]],
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the mean of each figure over the runs, and the standard deviation of several runs.

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
