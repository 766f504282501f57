"""Columns to counts: each document a sparse row, with columns as first seen or sorted."""

import numpy as np

from thresher._kernels._jit import kernel

U32, U64 = np.uint32, np.uint64
ZERO, ONE = U64(0), U64(1)
HALF_BITS, LOW_HALF = U64(32), U64(0xFFFFFFFF)
DIGIT, DIGIT_MASK = U64(6), U64(63)  # bits; more make fewer passes, which cost more on short rows
UNKNOWN = np.int32(-1)  # the column of what is not in the vocabulary


@kernel
def count(columns, ends, n_columns, cells, row, indices, counts, indptr):
    """Count the columns of each document, in the order in which they first stand in it.

    `cells` holds, for each column, one plus its place in the row, and is zero between documents.
    `row` holds where the row starts, where it ends and how many rows are finished; it outlives
    the call for a document that goes on.
    """
    start, end, first = U64(row[0]), U64(row[1]), row[2]
    t = ZERO
    for document in range(ends.size + 1):
        stop = U64(ends[document]) if document < ends.size else U64(n_columns)
        while t < stop:
            column = columns[t]
            t += ONE
            if column == UNKNOWN:
                continue
            # No branch on whether the column is new in this row: it would be mispredicted.
            cell = U64(cells[U32(column)])
            is_new = U64(cell == ZERO)
            place = end if cell == ZERO else start + cell - ONE
            indices[place] = column
            counts[place] = counts[place] * np.int32(ONE - is_new) + np.int32(1)
            cells[U32(column)] = np.int32(place - start + ONE)
            end += is_new
        if document < ends.size:
            for place in range(start, end):
                cells[U32(indices[place])] = np.int32(0)
            indptr[first + document + 1] = end
            start = end
    row[0], row[1], row[2] = start, end, first + ends.size


@kernel
def sort_rows(
    indptr, indices, counts, rank, n_digits, starts, keys, spare, out_indptr, out_indices, out
):
    """Rename each column to its rank, drop those of rank UNKNOWN, and sort each row by column.

    A radix sort by `n_digits` digits, in `keys` and `spare`, which have room for the longest row:
    rank over count, in one number. `starts` has a place for each digit and one more.
    """
    end = ZERO
    for row in range(indptr.size - 1):
        n = ZERO
        for i in range(indptr[row], indptr[row + 1]):
            column = rank[U32(indices[i])]
            keys[n] = (U64(U32(column)) << HALF_BITS) | U64(counts[i])
            n += U64(column != UNKNOWN)
        for digit in range(U64(n_digits)):
            sort_by_digit(keys, spare, n, HALF_BITS + U64(digit) * DIGIT, starts)
            keys, spare = spare, keys
        for i in range(n):
            out_indices[end] = np.int32(keys[i] >> HALF_BITS)
            out[end] = np.int32(keys[i] & LOW_HALF)
            end += ONE
        out_indptr[row + 1] = end


@kernel
def sort_by_digit(keys, out, n, shift, starts):
    """Write the first `n` keys in the order of the digit at `shift`, equal ones in their order."""
    starts[:] = 0
    for i in range(n):
        starts[((keys[i] >> shift) & DIGIT_MASK) + ONE] += 1
    for digit in range(starts.size - 1):
        starts[digit + 1] += starts[digit]
    for i in range(n):
        digit = (keys[i] >> shift) & DIGIT_MASK
        out[U64(starts[digit])] = keys[i]
        starts[digit] += 1
