"""Weighted sums of strengths: documents times a matrix of weights, divided among threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from thresher.errors import ModelError, ParameterError
from thresher.rows import Labels, Rows


def weigh(
    rows: Rows, always_on: np.ndarray, weights: np.ndarray, n_categories: int, n_jobs: int = 1
) -> np.ndarray:
    """Return the weighted sums of the documents' strengths, one column per category.

    Row 0 of the weights belongs to the always-on feature, of which each document has a strength;
    they may have more columns than there are categories. Threads divide the documents among them.

    Examples
    --------
    >>> rows = Rows(np.array([0, 1]), np.array([0], np.int32), np.ones(1, np.float32), 1)
    >>> weigh(rows, np.ones(1, np.float32), np.array([[0.5, 0.0], [1.0, 2.0]]), 2)
    array([[1.5, 2. ]])
    """
    from thresher._kernels.online import score_documents

    sums = np.empty((rows.n_rows, n_categories), weights.dtype)
    arrays = rows.indptr, rows.indices.view(np.uint32), rows.values, always_on, weights, sums
    in_blocks(partial(score_documents, *arrays), rows.n_rows, n_jobs)
    return sums


def linear_scores(rows: Rows, weights: np.ndarray, n_jobs: int = 1) -> np.ndarray:
    """Return the sums of strengths times weights, and the first row of the weights."""
    return weigh(rows, np.ones(rows.n_rows, np.float32), weights, weights.shape[1], n_jobs)


def linear_shares(rows: Rows, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each entry's strength times its weight, and the first weight for every document."""
    shares = rows.values * column[1:][rows.indices]
    return shares.astype(np.float32), np.full(rows.n_rows, column[0], np.float32)


def narrowed(rows: Rows, n_features: int) -> tuple[Rows, np.ndarray | slice]:
    """Return rows over the matrix rows that they use, and which these are; of many rows, all."""
    if len(rows.indices) >= n_features:
        return rows, slice(None, 1 + n_features)
    features, places = np.unique(rows.indices, return_inverse=True)
    used = np.concatenate([[0], 1 + features])
    return rows._replace(indices=places.astype(np.int32), n_columns=len(features)), used


def in_blocks(function: Callable[[int, int], None], size: int, n_jobs: int, first: int = 0) -> None:
    """Call `function(start, end)` over blocks of `range(first, size)`, one per thread."""
    if n_jobs < 1:
        raise ParameterError(f"n_jobs is {n_jobs}; it must be at least 1.")
    # Whole cache lines of float32, so that two threads never write to the same one.
    width = -(-size // (16 * n_jobs)) * 16 if n_jobs > 1 else size
    starts = range(first, size, width) if size else ()
    if len(starts) <= 1:
        function(first, size)
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        ends = (min(start + width, size) for start in starts)
        for _ in pool.map(function, starts, ends):
            pass


# What is checked before a kernel ------------------------------------------------------------------


def check_rows(rows: Rows, owner: str, n_features: int, non_negative: bool) -> None:
    """Refuse rows with features that a learner does not know, or with values it cannot use."""
    if len(rows.indices) and rows.indices.view(np.uint32).max() >= n_features:
        raise ModelError(
            f"The documents use features from {rows.indices.min()} to {rows.indices.max()} "
            f"and {owner} knows {n_features}; call grow before learn_rows, or count with "
            "grow=False."
        )
    if non_negative and len(rows.values) and rows.values.min() < 0:
        raise ModelError(
            f"Negative values in data passed to {owner}, the lowest being {rows.values.min():g}: "
            "it needs strengths of zero or more. Use Perceptron or PassiveAggressive, or leave "
            "such features out."
        )


def check_labels(rows: Rows, labels: Labels, owner: str, n_categories: int) -> None:
    """Refuse labels that are not one list per document, or of categories not known."""
    if labels.n_rows != rows.n_rows:
        raise ModelError(f"There are {rows.n_rows} documents and {labels.n_rows} label lists.")
    if len(labels.indices) and labels.indices.view(np.uint32).max() >= n_categories:
        raise ModelError(
            f"The labels use categories up to {labels.indices.max()} and {owner} knows "
            f"{n_categories}; call grow before learn_rows."
        )
    if labels.known is not None and labels.known.shape != (rows.n_rows, n_categories):
        raise ModelError(
            f"What is known of the labels has the shape {labels.known.shape}; it must be "
            f"({rows.n_rows}, {n_categories}), a truth value for each document and category."
        )


def checked_order(order: np.ndarray, n_rows: int) -> np.ndarray:
    """Return the order in which documents are met, as the kernels take it."""
    order = np.ascontiguousarray(order, np.int64)
    if len(order) and (order.min() < 0 or order.max() >= n_rows):
        raise ParameterError(
            f"order names documents from {order.min()} to {order.max()}; there are {n_rows}."
        )
    return order


def checked_sample_weight(sample_weight: np.ndarray | None, n_rows: int) -> np.ndarray:
    """Return a weight per document, as the kernels take it; 1 where none is given."""
    if sample_weight is None:
        return np.ones(n_rows)
    weights = np.ascontiguousarray(sample_weight, np.float64)
    if weights.shape != (n_rows,) or not np.isfinite(weights).all() or (weights < 0).any():
        raise ParameterError(
            f"sample_weight must be {n_rows} finite numbers of zero or more, one per document."
        )
    return weights
