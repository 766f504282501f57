"""Decision stumps: documents by columns, the search for the best stump, new weights, and scores.

An entry of a column is a document's number, doubled, and one more where a threshold may follow it.
The entries of a threshold column are its values above zero, from the highest down, and then those
below zero, from the lowest up; what is not there is zero and stands between.
"""

import numpy as np

from thresher._kernels._jit import kernel

LANES = 4  # categories that one look at an entry serves
TIE = 1e-12  # what is not higher by more than this is no better: sums differ by their order
ONE = np.uint32(1)


@kernel
def count_columns(indices, values, counts):
    """Count the entries of each column that are not zero."""
    for p in range(len(values)):
        if values[p] != 0:
            counts[indices[p]] += 1


@kernel
def fill_columns(indptr, indices, values, places, entries, kept, n_kept):
    """Put entries other than zero into their columns, by document; values of the first n_kept."""
    for i in range(len(indptr) - 1):
        for p in range(indptr[i], indptr[i + 1]):
            if values[p] != 0:
                j = indices[p]
                place = places[j]
                places[j] = place + 1
                entries[place] = i << 1
                if j < n_kept:
                    kept[place] = values[p]


@kernel
def search(ends, middles, entries, n_documents, signed, halves, best, columns):
    """Note for each lane the first column with the highest |r|/2 of all, and that number.

    `signed` is weight times label, a row per document and a column per lane; `halves` is half of
    its sums. With s the sum over the documents where a stump holds, r/2 is s less that half.
    """
    n_thresholds = len(middles)
    for j in range(len(ends) - 1):
        if j < n_thresholds:
            search_run(entries, ends[j], middles[j], j, signed, halves, best, columns)
            search_run(entries, middles[j], ends[j + 1], j, signed, halves, best, columns)
            continue
        a, b, c, d = -halves[0], -halves[1], -halves[2], -halves[3]
        if 0 < ends[j + 1] - ends[j] < n_documents:
            for p in range(ends[j], ends[j + 1]):
                i = entries[p] >> ONE
                a += signed[i, 0]
                b += signed[i, 1]
                c += signed[i, 2]
                d += signed[i, 3]
            keep_best(j, abs(a), abs(b), abs(c), abs(d), best, columns)


@kernel
def search_run(entries, first, end, j, signed, halves, best, columns):
    """Look at every threshold of one run of values."""
    # Scalars stay in registers; a loop over the lanes would go through memory at every entry.
    a, b, c, d = -halves[0], -halves[1], -halves[2], -halves[3]
    best_a, best_b, best_c, best_d = 0.0, 0.0, 0.0, 0.0
    for p in range(first, end):
        entry = entries[p]
        i = entry >> ONE
        a += signed[i, 0]
        b += signed[i, 1]
        c += signed[i, 2]
        d += signed[i, 3]
        if entry & ONE:
            best_a, best_b = max(best_a, abs(a)), max(best_b, abs(b))
            best_c, best_d = max(best_c, abs(c)), max(best_d, abs(d))
    keep_best(j, best_a, best_b, best_c, best_d, best, columns)


@kernel
def keep_best(j, a, b, c, d, best, columns):
    if a > best[0] + TIE:
        best[0], columns[0] = a, j
    if b > best[1] + TIE:
        best[1], columns[1] = b, j
    if c > best[2] + TIE:
        best[2], columns[2] = c, j
    if d > best[3] + TIE:
        best[3], columns[3] = d, j


@kernel
def place_of(entries, first, end, signed, lane, half, wanted):
    """Return the first place of a run after which |r|/2 is `wanted`, or -1."""
    total = -half
    for p in range(first, end):
        total += signed[entries[p] >> ONE, lane]
        if entries[p] & ONE and abs(total) >= wanted - TIE:
            return p
    return -1


@kernel
def half_r(entries, first, end, signed, lane, half):
    """Return r/2 of the stump that holds for these entries, as the search has added it up."""
    total = -half
    for p in range(first, end):
        total += signed[entries[p] >> ONE, lane]
    return total


@kernel
def reweigh(entries, first, end, side, sides, right, wrong, apart, signed, lane):
    """Weigh documents anew where a stump is `right` or `wrong`, and return half of their sum.

    The stump says `side` (1 or -1) for the entries and the opposite for all other documents. The
    weights of positive and negative documents add up to one, or to a half each where `apart`.
    """
    sides[:] = -side
    for p in range(first, end):
        sides[entries[p] >> ONE] = side
    positive, negative = 0.0, 0.0
    for i in range(len(sides)):
        weight = signed[i, lane]
        weight *= right if weight * sides[i] > 0 else wrong
        signed[i, lane] = weight
        if weight > 0:
            positive += weight
        else:
            negative -= weight
    if apart:
        positive, negative = 2.0 * positive, 2.0 * negative
    else:
        positive = negative = positive + negative
    total = 0.0
    for i in range(len(sides)):
        weight = signed[i, lane]
        weight /= positive if weight > 0 else negative
        signed[i, lane] = weight
        total += weight
    return total / 2.0


@kernel
def add_rules(indptr, indices, values, starts, categories, thresholds, shares, n_thresholds, sums,
              first, end):  # fmt: skip
    """Add to the sums of documents what their entries change: two shares for a rule that turns."""
    for i in range(first, end):
        for p in range(indptr[i], indptr[i + 1]):
            j, value = indices[p], values[p]
            for q in range(starts[j], starts[j + 1]):
                if j >= n_thresholds:
                    turns = value != 0
                elif thresholds[q] > 0:
                    turns = value >= thresholds[q]
                else:  # it holds where there is nothing
                    turns = value < thresholds[q]
                if turns:
                    sums[i, categories[q]] += shares[q]
