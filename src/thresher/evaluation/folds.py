"""Splits into training and test documents, at random with a seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from thresher.errors import ParameterError, counted
from thresher.rows import Labels


class Split(NamedTuple):
    """The numbers of training documents and of test documents."""

    train: np.ndarray  # shuffled, because learners of one pass need a random order
    test: np.ndarray  # ascending


def k_fold(n_documents: int, n_folds: int = 5, *, random_state: int = 0) -> list[Split]:
    """Return the splits of k-fold cross-validation.

    Parameters
    ----------
    n_documents : int
        The number of documents.
    n_folds : int, default=5
        The number of folds, whose sizes differ by at most one.
    random_state : int, default=0
        The seed.

    Examples
    --------
    >>> [split.test.tolist() for split in k_fold(5, 2)]
    [[1, 2, 3], [0, 4]]
    """
    generator = np.random.default_rng(random_state)
    return _deal(generator.permutation(n_documents), n_folds, generator)


def stratified_k_fold(labels: Labels, n_folds: int = 5, *, random_state: int = 0) -> list[Split]:
    """Return the splits of k-fold cross-validation with the same share of each category.

    Documents are grouped by their rarest category, shuffled within the group and dealt out one by
    one. So rare categories, for which it matters, are spread evenly, frequent ones nearly so.

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
    """Return a split that holds out the same share of each category for testing.

    Parameters
    ----------
    labels, random_state
        As for `stratified_k_fold`.
    share : float, default=0.25
        The share of the documents to hold out.

    Examples
    --------
    >>> labels = Labels.from_lists([[0], [0], [0], [0], [1], [1], [1], [1]], 2)
    >>> [split.test.tolist() for split in hold_out(labels, 0.5)]
    [[2, 3, 6, 7]]
    """
    n_held_out = _n_held_out(share, labels.n_rows)
    generator = np.random.default_rng(random_state)
    order = stratified_order(labels, generator)
    # Documents are held out at equal distances in the order, so the same share of each group.
    n = len(order)
    is_test = np.zeros(n, bool)
    is_test[order] = np.diff((np.arange(n + 1) * n_held_out + generator.integers(n)) // n) > 0
    return [_split(is_test, generator)]


def hold_out_groups(
    groups: Sequence[Any], share: float = 0.25, *, random_state: int = 0
) -> list[Split]:
    """Return a split that holds out whole groups, such as all documents of an author.

    Groups are taken in random order. A group that would exceed the share is skipped; if all would,
    the smallest is held out.

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
    group_of_document = np.array([numbers[group] for group in groups])
    sizes = np.bincount(group_of_document)
    generator = np.random.default_rng(random_state)
    is_test, n = np.zeros(len(sizes), bool), 0
    for group in generator.permutation(len(sizes)):
        if n + sizes[group] <= most:
            is_test[group] = True
            n += sizes[group]
    if not n:
        is_test[np.argmin(sizes)] = True
    return [_split(is_test[group_of_document], generator)]


def hold_out_newest(
    times: Sequence[Any], share: float = 0.25, *, random_state: int = 0
) -> list[Split]:
    """Return a split that holds out the newest documents.

    Documents of the same time stay together, so that the share is met as nearly as possible.

    Parameters
    ----------
    times : sequence
        The time of each document, of any type that can be sorted.
    share : float, default=0.25
        As for `hold_out`.
    random_state : int, default=0
        The seed for the order of the training documents.

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
    n_from = np.cumsum(np.bincount(rank)[::-1])[
        ::-1
    ]  # the number of documents of each time or newer
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
    """Return the documents ordered by their rarest category, shuffled within each category."""
    counts = np.bincount(labels.indices, minlength=labels.n_categories)
    rarity = np.argsort(np.argsort(counts, kind="stable"), kind="stable")
    rarest = np.full(labels.n_rows, labels.n_categories)
    filled = np.flatnonzero(np.diff(labels.indptr))
    if len(filled):
        rarest[filled] = np.minimum.reduceat(rarity[labels.indices], labels.indptr[filled])
    return np.lexsort((generator.permutation(labels.n_rows), rarest))


def deal(order: np.ndarray, n_folds: int) -> np.ndarray:
    """Return the fold of each document, dealt out one by one in this order."""
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
