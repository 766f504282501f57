"""Sparse rows seen differently: by columns, without zeros, and the squared length of each."""

from __future__ import annotations

import numpy as np

from thresher.rows import Rows


def by_columns(rows: Rows) -> Rows:
    """Return the entries by columns: a row for each column, with the documents in order.

    Examples
    --------
    >>> rows = Rows(np.array([0, 2, 3]), np.array([2, 0, 2], np.int32), np.ones(3, np.float32), 3)
    >>> columns = by_columns(rows)
    >>> columns.indptr.tolist(), columns.indices.tolist()
    ([0, 1, 1, 3], [0, 0, 1])
    """
    from thresher._kernels.rows import fill_columns

    starts = np.append(0, np.cumsum(np.bincount(rows.indices, minlength=rows.n_columns)))
    documents, values = np.empty(len(rows.indices), np.int32), np.empty_like(rows.values)
    entries = rows.indptr, rows.indices.view(np.uint32), rows.values
    fill_columns(*entries, starts[:-1].copy(), documents.view(np.uint32), values)
    return Rows(starts, documents, values, rows.n_rows)


def without_zeros(rows: Rows) -> Rows:
    """Return the rows without entries of value zero."""
    is_set = rows.values != 0
    return rows if is_set.all() else rows.only(is_set)


def squares_of(rows: Rows) -> np.ndarray:
    """Return the sum of the squares of each row's values."""
    from thresher._kernels.rows import add_squares

    squares = np.empty(rows.n_rows)
    add_squares(rows.indptr, rows.values, squares)
    return squares


def ordered(rows: Rows) -> Rows:
    """Return the rows with ascending columns and without zeros."""
    numbers = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
    width = int(rows.indices.max(initial=0)) + 1
    order = np.argsort(numbers * width + rows.indices, kind="stable")
    return without_zeros(rows._replace(indices=rows.indices[order], values=rows.values[order]))
