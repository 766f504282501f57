"""Weighted sums of strengths: documents times a matrix of weights, divided among threads."""

from __future__ import annotations

from functools import partial

import numpy as np

from thresher.learners._tables import run_cache_line_blocks
from thresher.rows import Rows


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
    from thresher._kernels.scoring import score_documents

    sums = np.empty((rows.n_rows, n_categories), weights.dtype)
    arrays = rows.indptr, rows.indices.view(np.uint32), rows.values, always_on, weights, sums
    if n_jobs == 1:
        score_documents(*arrays, 0, rows.n_rows)
    else:
        run_cache_line_blocks(partial(score_documents, *arrays), rows.n_rows, n_jobs)
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
