"""Decision stumps: documents by columns, the search for the best stump, new weights, and scores.

An entry of a column is twice the number of a document, plus one if a threshold may follow it. The
entries of a column with thresholds are sorted: positive values from the highest down, then negative
values from the lowest up. Missing values are zero and come between the two.

A lane is one of several categories that are searched together.
"""

import numpy as np

from thresher._kernels._jit import kernel

CATEGORIES_PER_SEARCH = 16  # so that the loops over lanes vectorise
MOST_SEARCHED_SINGLY = 4  # categories for which single searches are quicker
TIE = 1e-12  # values that differ by less are equal, because of rounding
ONE = np.uint32(1)


@kernel
def eight(entries, p, end, nobody):
    """Return the next eight documents, `nobody` after the last."""
    left = end - p
    return (
        entries[p] >> ONE,
        entries[p + 1] >> ONE if left > 1 else nobody,
        entries[p + 2] >> ONE if left > 2 else nobody,
        entries[p + 3] >> ONE if left > 3 else nobody,
        entries[p + 4] >> ONE if left > 4 else nobody,
        entries[p + 5] >> ONE if left > 5 else nobody,
        entries[p + 6] >> ONE if left > 6 else nobody,
        entries[p + 7] >> ONE if left > 7 else nobody,
    )


@kernel
def search(lanes, ends, middles, entries, signed, halves, sums, bars, best, columns):
    """Write for each lane the highest |r|/2 at a threshold, and the first column that has it.

    `signed` is weight times label, with a row per document, one row of zeros, and a column per
    lane; `halves` is half of its sums. With s the sum over the documents where a stump holds, r/2
    is s less that half. `lanes` is a tuple with an item for each lane, so that the compiler knows
    their number; `sums` and `bars` are scratch. The sums do not depend on the number of lanes.
    """
    nobody = np.uint32(len(signed) - 1)
    for j in range(len(middles)):
        for k in range(len(lanes)):
            bars[k] = best[k] + TIE
        search_run(lanes, entries, ends[j], middles[j], signed, halves, sums, bars, nobody)
        search_run(lanes, entries, middles[j], ends[j + 1], signed, halves, sums, bars, nobody)
        for k in range(len(lanes)):
            if bars[k] > best[k] + TIE:
                best[k], columns[k] = bars[k], j


@kernel
def search_run(lanes, entries, first, end, signed, halves, sums, bars, nobody):
    """Raise the bars to the highest |r|/2 at any threshold of one run of values."""
    for k in range(len(lanes)):
        sums[k] = -halves[k]
    for p in range(first, end, 8):
        a, b, c, d, e, f, g, h = eight(entries, p, end, nobody)
        promising = 0
        for k in range(len(lanes)):
            i, j, l, m = signed[a, k], signed[b, k], signed[c, k], signed[d, k]  # noqa: E741
            n, o, q, r = signed[e, k], signed[f, k], signed[g, k], signed[h, k]
            start = sums[k]
            total = start + (((i + j) + (l + m)) + ((n + o) + (q + r)))
            weight = ((abs(i) + abs(j)) + (abs(l) + abs(m))) + (
                (abs(n) + abs(o)) + (abs(q) + abs(r))
            )
            sums[k] = total
            # An upper bound of the absolute sums between both ends.
            promising += 0.5 * ((abs(start) + abs(total)) + weight) > bars[k]
        if promising:
            for k in range(len(lanes)):
                total = sums[k]
                for position in range(min(p + 8, end) - 1, p - 1, -1):
                    if entries[position] & ONE and abs(total) > bars[k]:
                        bars[k] = abs(total)
                    total -= signed[entries[position] >> ONE, k]


@kernel
def position_of(entries, first, end, signed, lane, half, target):
    """Return the first position after which |r|/2 reaches `target`, or -1."""
    total = -half
    for p in range(first, end):
        total += signed[entries[p] >> ONE, lane]
        if entries[p] & ONE and abs(total) >= target - TIE:
            return p
    return -1


@kernel
def half_r(entries, first, end, signed, lane, half):
    """Return r/2 of the stump that holds for these entries, summed as in the search."""
    total = -half
    for p in range(first, end):
        total += signed[entries[p] >> ONE, lane]
    return total


@kernel
def best_word(ends, first, n_documents, sums, half, best, column):
    """Return the first column from `first` with the highest |r|/2 above `best`, and its |r|/2."""
    for j in range(first, len(ends) - 1):
        size = abs(sums[0, j - first] + sums[1, j - first] - half)
        if size > best + TIE and 0 < ends[j + 1] - ends[j] < n_documents:
            best, column = size, j
    return column, best


@kernel
def add_words(starts, words, signed, lane, sums):
    """Add up the weights of the documents of each word; positive in row 0, negative in 1."""
    sums[:] = 0.0
    for i in range(len(signed) - 1):
        weight = signed[i, lane]
        row = 0 if weight > 0 else 1
        for p in range(starts[i], starts[i + 1]):
            sums[row, words[p]] += weight


@kernel
def reweigh(entries, first, end, side, sides, right, wrong, apart, signed, lane, starts, words,
            sums):  # fmt: skip
    """Multiply weights by `right` or `wrong`, normalise them, and return half of the signed sum.

    The stump is `side` (1 or -1) for the entries and the opposite for all other documents. The
    weights of positive and negative documents add up to one together, or to one half each if
    `apart`. The sums of words are updated: all are multiplied by the factor of the more common
    case, and then corrected by the documents of the other case.
    """
    sides[:] = -side
    for p in range(first, end):
        sides[entries[p] >> ONE] = side
    positive, negative, n_wrong = 0.0, 0.0, 0
    for i in range(len(sides)):
        weight = signed[i, lane]
        is_wrong = weight * sides[i] < 0
        n_wrong += is_wrong
        weight *= wrong if is_wrong else right
        if weight > 0:
            positive += weight
        else:
            negative -= weight
    if apart:
        positive, negative = 2.0 * positive, 2.0 * negative
    else:
        positive = negative = positive + negative
    usual, other = (right, wrong) if 2 * n_wrong <= len(sides) else (wrong, right)
    usual_positive, usual_negative = usual / positive, usual / negative
    sums[0] *= usual_positive
    sums[1] *= usual_negative
    total = 0.0
    for i in range(len(sides)):
        before = signed[i, lane]
        row = 0 if before > 0 else 1
        weight = before * (usual_positive if before > 0 else usual_negative)
        if (before * sides[i] < 0) == (other == wrong):
            expected = weight
            weight = before * (other / positive if before > 0 else other / negative)
            for p in range(starts[i], starts[i + 1]):
                sums[row, words[p]] += weight - expected
        signed[i, lane] = weight
        total += weight
    return total / 2.0


@kernel
def add_rules(indptr, indices, values, starts, categories, thresholds, shares, n_thresholds, sums,
              first, end):  # fmt: skip
    """Add to the sums of documents twice the share of each rule that their entries change."""
    for i in range(first, end):
        for p in range(indptr[i], indptr[i + 1]):
            j, value = indices[p], values[p]
            for q in range(starts[j], starts[j + 1]):
                if j >= n_thresholds:
                    changes = value != 0
                elif thresholds[q] > 0:
                    changes = value >= thresholds[q]
                else:  # the rule holds for missing values
                    changes = value < thresholds[q]
                if changes:
                    sums[i, categories[q]] += shares[q]
