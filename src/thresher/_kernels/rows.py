"""Checks and sums of sparse rows."""

import numpy as np

from thresher._kernels._jit import kernel

# Bits of the result of `inspect_rows`.
NOT_FINITE, OUT_OF_RANGE, ZEROS, TWICE = 1, 2, 4, 8


@kernel
def inspect_rows(indptr, indices, values, n_columns, seen):
    """Return the bits of what is wrong or unusual; `seen` has a zero for each column."""
    # Simple loops vectorise. A column can occur twice only in a row that does not ascend.
    outside, not_finite, zeros, descents = 0, 0, 0, 0
    for p in range(len(values)):
        not_finite += not abs(values[p]) < np.inf
        zeros += values[p] == 0
        outside += indices[p] >= n_columns
    for p in range(1, len(values)):
        descents += indices[p] <= indices[p - 1]
    for i in range(1, len(indptr) - 1):  # where a new row starts
        p = indptr[i]
        if 0 < p < indptr[i + 1]:
            descents -= indices[p] <= indices[p - 1]
    flags = NOT_FINITE * (not_finite > 0) + OUT_OF_RANGE * (outside > 0) + ZEROS * (zeros > 0)
    if descents > 0 and outside == 0 and has_duplicates(indptr, indices, seen):
        flags += TWICE
    return flags


@kernel
def has_duplicates(indptr, indices, seen):
    """Return True if a column occurs twice in a row; `seen` has a zero for each column."""
    for i in range(len(indptr) - 1):
        for k in range(indptr[i], indptr[i + 1]):
            if seen[indices[k]] == i + 1:
                return True
            seen[indices[k]] = i + 1
    return False


@kernel
def fill_columns(indptr, indices, values, positions, documents, strengths):
    """Write entries by column, each column by document; `positions` has the starts of columns."""
    for i in range(len(indptr) - 1):
        for p in range(indptr[i], indptr[i + 1]):
            position = positions[indices[p]]
            positions[indices[p]] = position + 1
            documents[position], strengths[position] = i, values[p]


@kernel
def add_squares(indptr, values, squares):
    """Add up the squares of each row's values, in their order."""
    for i in range(len(squares)):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += np.float64(values[p]) * np.float64(values[p])
        squares[i] = total


@kernel
def add_up(indptr, indices, values, weights, label_indptr, labels, sums, totals, mass):
    """Add weighted rows to sums, totals and `mass`, the sum of a category; row 0 counts rows."""
    for i in range(len(indptr) - 1):
        weight = weights[i]
        totals[0] += weight
        for p in range(indptr[i], indptr[i + 1]):
            totals[indices[p] + 1] += weight * values[p]
        for q in range(label_indptr[i], label_indptr[i + 1]):
            k = labels[q]
            is_repeated = False
            for earlier in range(label_indptr[i], q):
                is_repeated |= labels[earlier] == k
            if is_repeated:
                continue
            sums[0, k] += weight
            for p in range(indptr[i], indptr[i + 1]):
                amount = weight * values[p]
                sums[indices[p] + 1, k] += amount
                mass[k] += amount
