"""Which documents are learned from and which are tested on: always at random, always seeded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from thresher.errors import ParameterError, counted
from thresher.rows import Labels

__all__ = [
    "Split", "deal", "hold_out", "hold_out_groups", "hold_out_newest", "k_fold",
    "stratified_k_fold", "stratified_order",
]  # fmt: skip


class Split(NamedTuple):
    """Documents to learn from and documents to test on."""

    train: np.ndarray  # shuffled: a learner of one pass is lost when it meets them by category
    test: np.ndarray  # in their own order


def k_fold(n_documents: int, n_folds: int = 5, *, random_state: int = 0) -> list[Split]:
    """Divide documents at random into folds, each of which is tested on once.

    Parameters
    ----------
    n_documents : int
        How many documents there are.
    n_folds : int, default=5
        How many folds; their sizes differ by one at most.
    random_state : int, default=0
        Seed of the division.

    Examples
    --------
    >>> [split.test.tolist() for split in k_fold(5, 2)]
    [[1, 2, 3], [0, 4]]
    """
    generator = np.random.default_rng(random_state)
    return _deal(generator.permutation(n_documents), n_folds, generator)


def stratified_k_fold(labels: Labels, n_folds: int = 5, *, random_state: int = 0) -> list[Split]:
    """Divide documents into folds so that each has its share of every category.

    Documents are grouped by their rarest category, shuffled within the group and dealt out one by
    one: the rare categories, for which it matters, are spread evenly, the frequent ones nearly so.

    Parameters
    ----------
    labels : Labels
        The categories of each document.
    n_folds, random_state
        As for `k_fold`.

    Examples
    --------
    >>> labels = Labels.from_lists([[0], [0], [0], [0], [1], [1]], 2)
    >>> [split.test.tolist() for split in stratified_k_fold(labels, 2)]
    [[1, 3, 4], [0, 2, 5]]
    """
    generator = np.random.default_rng(random_state)
    return _deal(stratified_order(labels, generator), n_folds, generator)


def hold_out(labels: Labels, share: float = 0.25, *, random_state: int = 0) -> list[Split]:
    """Hold out a share of the documents, of every category alike, to test on.

    Parameters
    ----------
    labels, random_state
        As for `stratified_k_fold`.
    share : float, default=0.25
        Which part of the documents is held out.

    Examples
    --------
    >>> labels = Labels.from_lists([[0], [0], [0], [0], [1], [1], [1], [1]], 2)
    >>> [split.test.tolist() for split in hold_out(labels, 0.5)]
    [[2, 3, 6, 7]]
    """
    n_held_out = _n_held_out(share, labels.n_rows)
    generator = np.random.default_rng(random_state)
    order = stratified_order(labels, generator)
    # Every so many of the order is held out, and so the same share of each group.
    n = len(order)
    is_test = np.zeros(n, bool)
    is_test[order] = np.diff((np.arange(n + 1) * n_held_out + generator.integers(n)) // n) > 0
    return [_split(is_test, generator)]


def hold_out_groups(
    groups: Sequence[Any], share: float = 0.25, *, random_state: int = 0
) -> list[Split]:
    """Hold out whole groups, of an author say, so that none is both learned from and tested on.

    Groups are taken in random order as long as the share is not exceeded; one that would exceed it
    is passed over, and where all would, the smallest is taken.

    Parameters
    ----------
    groups : sequence
        The group of each document.
    share, random_state
        As for `hold_out`.

    Examples
    --------
    >>> [split.test.tolist() for split in hold_out_groups(["a", "b", "a", "c", "b", "c"], 0.4)]
    [[3, 5]]
    """
    most = _n_held_out(share, len(groups))
    numbers = {group: i for i, group in enumerate(dict.fromkeys(groups))}
    if len(numbers) < 2:
        raise ParameterError(
            f"All {len(groups):,} documents are of one group, which cannot be divided."
        )
    group = np.array([numbers[one] for one in groups])
    sizes = np.bincount(group)
    generator = np.random.default_rng(random_state)
    is_test, n = np.zeros(len(sizes), bool), 0
    for one in generator.permutation(len(sizes)):
        if n + sizes[one] <= most:
            is_test[one] = True
            n += sizes[one]
    if not n:
        is_test[np.argmin(sizes)] = True
    return [_split(is_test[group], generator)]


def hold_out_newest(
    times: Sequence[Any], share: float = 0.25, *, random_state: int = 0
) -> list[Split]:
    """Hold out the newest documents; those of the same time stay together.

    Of the ways to do so, the one nearest to the share is taken.

    Parameters
    ----------
    times : sequence
        The time of each document: anything that can be sorted.
    share : float, default=0.25
        As for `hold_out`.
    random_state : int, default=0
        Seed of the order of those to learn from.

    Examples
    --------
    >>> [split.test.tolist() for split in hold_out_newest([3, 1, 4, 1, 5, 9, 2, 6], 0.25)]
    [[5, 7]]
    """
    n_held_out = _n_held_out(share, len(times))
    ranks = {time: i for i, time in enumerate(sorted(set(times)))}
    if len(ranks) < 2:
        raise ParameterError(
            f"All {len(times):,} documents are of one time; none is newer than the others."
        )
    rank = np.array([ranks[time] for time in times])
    n_from = np.cumsum(np.bincount(rank)[::-1])[::-1]  # how many are of a time or newer
    first = 1 + int(np.argmin(np.abs(n_from[1:] - n_held_out)))
    return [_split(rank >= first, np.random.default_rng(random_state))]


def _n_held_out(share: float, n_documents: int) -> int:
    n_held_out = round(share * n_documents)
    if not 0 < n_held_out < n_documents:
        raise ParameterError(
            f"The share to hold out is {share!r} of {counted(n_documents, 'document')}, which "
            "leaves nothing to test on or nothing to learn from."
        )
    return n_held_out


def stratified_order(labels: Labels, generator: np.random.Generator) -> np.ndarray:
    """Return the documents by their rarest category, the rarest first, shuffled within each."""
    counts = np.bincount(labels.indices, minlength=labels.n_categories)
    rarity = np.argsort(np.argsort(counts, kind="stable"), kind="stable")
    rarest = np.full(labels.n_rows, labels.n_categories)
    filled = np.flatnonzero(np.diff(labels.indptr))
    if len(filled):
        rarest[filled] = np.minimum.reduceat(rarity[labels.indices], labels.indptr[filled])
    return np.lexsort((generator.permutation(labels.n_rows), rarest))


def deal(order: np.ndarray, n_folds: int) -> np.ndarray:
    """Return the fold of each document when they are dealt out one by one in this order."""
    if not 2 <= n_folds <= max(len(order), 2):
        raise ParameterError(
            f"{counted(len(order), 'document')} cannot be divided into {n_folds} folds: give at "
            "least 2 and at most as many as there are documents."
        )
    fold = np.empty(len(order), np.int64)
    fold[order] = np.arange(len(order)) % n_folds
    return fold


def _deal(order: np.ndarray, n_folds: int, generator: np.random.Generator) -> list[Split]:
    fold = deal(order, n_folds)
    return [_split(fold == number, generator) for number in range(n_folds)]


def _split(is_test: np.ndarray, generator: np.random.Generator) -> Split:
    return Split(generator.permutation(np.flatnonzero(~is_test)), np.flatnonzero(is_test))
