"""From term frequencies to categories: the arithmetic shared by batches and single texts.

A document goes through three steps: its counts become strengths (`weigh_document`), strengths and
weights become one score per category (`add_scores`), and scores become categories
(`decide_document`). For each step there is a function for one document and one for many, which
calls it.

Weights are feature-major, `(1 + features, categories)`: row 0 belongs to the always-on feature,
row `f + 1` to feature `f`. A document adds up one contiguous row per word, so the inner loop, over
the categories, vectorises.
"""

import numpy as np

from thresher._kernels._jit import kernel
from thresher._kernels.text import prefetch

U32 = np.uint32
ONE = np.uint32(1)  # unsigned indices need no test for negative values
NOT_SCALED, BY_SUM, BY_SQUARES = 0, 1, 2  # scaling of the strengths of a document
ROWS_AHEAD, FLOATS_PER_FETCH = 12, 16  # rows to fetch ahead; float32 values fetched at a time

# ---- strengths ----------------------------------------------------------------------------------


@kernel
def weigh_document(start, end, indices, values, idf, block_weights, blocks, first_column, scaling):
    """Multiply the values of one document by their factors and scale the document, in place.

    `idf` has a factor for each column, `block_weights` one for the block of each column from
    `first_column` on; either may be empty. A document whose strengths are all zero is not changed.
    """
    if idf.size:
        for i in range(start, end):
            values[i] *= idf[U32(indices[i])]
    if block_weights.size:
        for i in range(start, end):
            values[i] *= block_weights[blocks[U32(indices[i] - first_column)]]
    if scaling == NOT_SCALED:
        return
    norm = np.float64(0.0)  # a float32 would stay one where kernels run as plain Python
    for i in range(start, end):
        norm += values[i] * values[i] if scaling == BY_SQUARES else abs(values[i])
    if scaling == BY_SQUARES:
        norm = np.sqrt(norm)
    if norm != 0.0:
        factor = np.float32(1.0 / norm)
        for i in range(start, end):
            values[i] *= factor


@kernel
def weigh_documents(indptr, indices, values, idf, block_weights, blocks, first_column, scaling):
    """Multiply and scale the values of all documents in place; see `weigh_document`."""
    for row in range(indptr.size - 1):
        weigh_document(
            indptr[row], indptr[row + 1], indices, values, idf, block_weights, blocks,
            first_column, scaling,
        )  # fmt: skip


# ---- scores -------------------------------------------------------------------------------------


@kernel
def fetch_ahead(indices, p, end, table, lo, hi):
    """Prefetch the row of an entry soon after `p`, as rows are far apart in memory."""
    row = indices[min(p + ROWS_AHEAD, end - 1)] + ONE
    for k in range(lo, hi, FLOATS_PER_FETCH):
        prefetch(table, (row, k))


@kernel
def add_scores(indptr, indices, values, always_on, i, weights, scores, lo, hi):
    """Write the scores of document `i` for the categories `lo` to `hi` into `scores`."""
    strength = always_on[i]
    if hi - lo == 1:  # a single score stays in a register
        score = strength * weights[0, lo]
        for p in range(indptr[i], indptr[i + 1]):
            score += values[p] * weights[indices[p] + ONE, lo]
        scores[lo] = score
        return
    block = scores[lo:hi]  # slices of equal length, so that the compiler vectorizes the loop
    row = weights[0, lo:hi]
    for k in range(len(block)):
        block[k] = strength * row[k]
    for p in range(indptr[i], indptr[i + 1]):
        fetch_ahead(indices, p, indptr[i + 1], weights, lo, hi)
        row = weights[indices[p] + ONE, lo:hi]
        strength = values[p]
        for k in range(len(block)):
            block[k] += strength * row[k]


@kernel
def score_documents(indptr, indices, values, always_on, weights, scores, first, last):
    """Write the scores of the documents `first` to `last` into the rows of `scores`."""
    for i in range(first, last):
        add_scores(indptr, indices, values, always_on, i, weights, scores[i], 0, scores.shape[1])


# ---- decisions ----------------------------------------------------------------------------------


@kernel
def decide_document(scores, thresholds, at_least, at_most, chosen):
    """Write the categories whose scores exceed their thresholds, largest margin first.

    A margin is a score less its threshold; of equal margins, the category with the lower number
    comes first. If there are fewer than `at_least`, those of the next margins follow; if there are
    more than `at_most`, the last ones are left out. Returns how many there are, or -1 if `chosen`
    has no room for them.
    """
    n = 0
    for k in range(scores.size):
        n += np.int64(np.float64(scores[k]) > thresholds[k])
    n = min(max(n, min(at_least, scores.size)), at_most)
    if n > chosen.size:
        return -1
    n_sorted = 0  # categories seen so far that are among the best n, sorted by margin
    for k in range(scores.size if n else 0):
        margin = np.float64(scores[k]) - thresholds[k]
        rank = n_sorted
        while rank > 0:
            other = chosen[rank - 1]
            if not margin > np.float64(scores[other]) - thresholds[other]:
                break
            rank -= 1
        if rank == n:
            continue
        n_sorted = min(n_sorted + 1, n)
        for later in range(n_sorted - 1, rank, -1):
            chosen[later] = chosen[later - 1]
        chosen[rank] = k
    return n


@kernel
def decide_documents(first, scores, thresholds, at_least, at_most, chosen, ends):
    """Write the categories of all documents from `first` on, one document after the other.

    `ends[i + 1]` is where the categories of document i end. Returns the number of documents, or
    that of the first document for whose categories `chosen` has no room.
    """
    end = ends[first]
    for i in range(first, len(scores)):
        n = decide_document(scores[i], thresholds, at_least, at_most, chosen[end:])
        if n < 0:
            return i
        end += n
        ends[i + 1] = end
    return len(scores)
