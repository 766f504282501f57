"""Looking over sparse rows, and adding them up."""

import numpy as np

from thresher._kernels._jit import kernel

# What `look_over` tells of rows, one bit each.
NOT_FINITE, OUT_OF_RANGE, NEGATIVE, ZEROS, TWICE = 1, 2, 4, 8, 16


@kernel
def look_over(indptr, indices, values, n_columns, seen):
    """Tell in one pass what is wrong or unusual; `seen` is one zero per column, or is empty.

    A column that stands twice in a row is looked for only where `seen` has places, and there only
    in rows whose columns do not ascend.
    """
    lowest = np.float32(0)
    finite, zeros, outside, ascends = True, False, False, True
    for i in range(len(indptr) - 1):
        before = np.int64(-1)
        for p in range(indptr[i], indptr[i + 1]):
            column, value = np.int64(indices[p]), values[p]
            outside |= column >= n_columns
            ascends &= column > before
            before = column
            finite &= abs(value) < np.inf
            lowest = min(lowest, value)
            zeros |= value == 0
    flags = ZEROS * zeros | OUT_OF_RANGE * outside | NEGATIVE * (lowest < 0)
    if not finite:
        flags |= NOT_FINITE
    if len(seen) > 0 and not (ascends or outside) and has_duplicates(indptr, indices, seen):
        flags |= TWICE
    return flags


@kernel
def has_duplicates(indptr, indices, seen):
    """Tell whether a column stands twice in a row; `seen` is one zero per column."""
    for i in range(len(indptr) - 1):
        for k in range(indptr[i], indptr[i + 1]):
            if seen[indices[k]] == i + 1:
                return True
            seen[indices[k]] = i + 1
    return False


@kernel
def add_up(indptr, indices, values, weights, label_indptr, labels, sums, totals, mass):
    """Add weighted rows to the sums of their categories and to the totals.

    Row 0 counts the documents; `mass` gets the sum of all that a category got.
    """
    for i in range(len(indptr) - 1):
        weight = weights[i]
        totals[0] += weight
        for p in range(indptr[i], indptr[i + 1]):
            totals[indices[p] + 1] += weight * values[p]
        for q in range(label_indptr[i], label_indptr[i + 1]):
            k = labels[q]
            given_before = False
            for earlier in range(label_indptr[i], q):
                given_before |= labels[earlier] == k
            if given_before:  # a label given twice is one label
                continue
            sums[0, k] += weight
            for p in range(indptr[i], indptr[i + 1]):
                amount = weight * values[p]
                sums[indices[p] + 1, k] += amount
                mass[k] += amount
