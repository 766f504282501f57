"""Decision stumps: documents by columns, the search for the best stump, new weights, and scores.

An entry of a column is a document's number, doubled, and one more where a threshold may follow it.
The entries of a threshold column are its values above zero, from the highest down, and then those
below zero, from the lowest up; what is not there is zero and stands between.
"""

import numpy as np

from thresher._kernels._jit import kernel

LANES = 16  # categories that one look at an entry serves: so many that the loops become vectors
FEW = 4  # so many are quicker one by one
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
def eight(entries, p, end, nobody):
    """Return the next eight documents, `nobody` where there are no more."""
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
    """Note for each lane the first column with the highest |r|/2 at a threshold, and that number.

    `signed` is weight times label, a row per document, and one of zeros, and a column per lane;
    `halves` is half of its sums. With s the sum over the documents where a stump holds, r/2 is s
    less that half. `lanes` is a tuple with an item for each lane, so that the compiler knows their
    number; `sums` and `bars` are scratch. Every lane gets the same sums, however many there are.
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
            # No sum in between is further from zero: it is on the way from one end to the other.
            promising += 0.5 * ((abs(start) + abs(total)) + weight) > bars[k]
        if promising:
            for k in range(len(lanes)):
                total = sums[k]
                for place in range(min(p + 8, end) - 1, p - 1, -1):
                    if entries[place] & ONE and abs(total) > bars[k]:
                        bars[k] = abs(total)
                    total -= signed[entries[place] >> ONE, k]


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
def best_word(ends, first, n_documents, sums, half, best, column):
    """Return the first column from `first` on with the highest |r|/2 above `best`, and that."""
    for j in range(first, len(ends) - 1):
        size = abs(sums[0, j - first] + sums[1, j - first] - half)
        if size > best + TIE and 0 < ends[j + 1] - ends[j] < n_documents:
            best, column = size, j
    return column, best


@kernel
def turn_words(ends, first, entries, starts, words):
    """Fill in the words of each document from the documents of each word."""
    for j in range(first, len(ends) - 1):
        for p in range(ends[j], ends[j + 1]):
            starts[(entries[p] >> ONE) + 2] += 1
    for i in range(2, len(starts)):
        starts[i] += starts[i - 1]
    for j in range(first, len(ends) - 1):
        for p in range(ends[j], ends[j + 1]):
            i = (entries[p] >> ONE) + 1
            words[starts[i]] = j - first
            starts[i] += 1


@kernel
def add_words(starts, words, signed, lane, sums):
    """Add up the weights of each word's documents, positive ones in row 0, negative ones in 1."""
    sums[:] = 0.0
    for i in range(len(signed) - 1):
        weight = signed[i, lane]
        row = 0 if weight > 0 else 1
        for p in range(starts[i], starts[i + 1]):
            sums[row, words[p]] += weight


@kernel
def reweigh(entries, first, end, side, sides, right, wrong, apart, signed, lane, starts, words,
            sums):  # fmt: skip
    """Weigh documents anew where a stump is `right` or `wrong`, and return half of their sum.

    The stump says `side` (1 or -1) for the entries and the opposite for all other documents. The
    weights of positive and negative documents add up to one, or to a half each where `apart`. The
    sums of words follow: all are multiplied as if every document were of the more common kind, and
    the documents of the other kind put them right.
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
