"""The nearest documents: an inverted index, sums over shared words, and the votes of the nearest.

How near a stored document is, its key, is `sums * scales - sizes`, the sum being over the words
that it shares with the one that asks. For the cosine, which the key is times the length of the one
that asks, the scale is one over its own length and its size 0; for distances the key is the size of
the one that asks, less the (squared) distance. Words ascend in every document, so that a sum has
the same bits however it is reached.
"""

from typing import NamedTuple

import numpy as np

from thresher._kernels._jit import kernel

COSINE, EUCLIDEAN, DIFFERENCE = 0, 1, 2
LANES = 64  # documents that are looked over at once
FEW = 16  # more than one of so many documents are not looked at one by one
TIED = 1e-9  # of the size of the one that asks: keys that differ by less are the same


class Scratch(NamedTuple):
    """Room for what a kernel is at, a cell for each document unless it says otherwise."""

    query: np.ndarray  # float64, a cell for each column: the values of the one that asks, else 0
    sums: np.ndarray  # float64
    heap: np.ndarray  # float64: the keys of the nearest, the farthest of them first
    members: np.ndarray  # int64: whose they are
    numbers: np.ndarray  # int64: the documents that are looked at
    keys: np.ndarray  # float64: theirs
    votes: np.ndarray  # float64: theirs
    rough: np.ndarray  # float32: sums of 24 bits
    rough_bits: np.ndarray  # int32: the same memory
    frequent: np.ndarray  # float32, a cell for each frequent column: the asking one's values
    bounds: np.ndarray  # float32: what a rough sum may come to
    bound_bits: np.ndarray  # int32: the same memory
    peaks: np.ndarray  # float32, a cell for each block of documents: the largest there
    peak_bits: np.ndarray  # int32: the same memory
    every: np.ndarray  # int64: all numbers
    totals: np.ndarray  # float64, a cell for each category: its votes


@kernel
def invert(indptr, columns, values, places, documents, strengths):
    """Put the entries of documents into their columns, from `places` on, by document."""
    for i in range(len(indptr) - 1):
        for p in range(indptr[i], indptr[i + 1]):
            place = places[columns[p]]
            places[columns[p]] = place + 1
            documents[place], strengths[place] = i, values[p]


@kernel
def add_squares(indptr, values, squares):
    """Add up the squares of each document's values, in their order."""
    for i in range(len(squares)):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += np.float64(values[p]) * np.float64(values[p])
        squares[i] = total


@kernel
def add_column(value, documents, strengths, sums):
    """Add to the sum of each document in a column of the index what it shares of it."""
    for q in range(len(documents)):
        sums[documents[q]] += value * strengths[q]


@kernel
def find_all(i, asking, index, kept, stored, scratch):
    """Put all documents with their keys into the scratch, and return how many they are."""
    indptr, columns, values = asking[0], asking[1], asking[2]
    starts, documents, strengths = index
    sums, query, numbers, keys = scratch.sums, scratch.query, scratch.numbers, scratch.keys
    sums[:] = 0.0
    for p in range(indptr[i], indptr[i + 1]):
        j, value = columns[p], np.float64(values[p])
        query[j] = value
        if j < len(starts) - 1:
            add_column(value, documents[starts[j] : starts[j + 1]],
                       strengths[starts[j] : starts[j + 1]], sums)  # fmt: skip
    n_indexed = kept[3]
    for d in range(len(sums)):
        numbers[d] = d
        if d < n_indexed:
            keys[d] = sums[d] * stored[0][d] - stored[1][d]
        else:  # it is not in the index yet
            keys[d] = key_of(d, kept, query, stored)
    for p in range(indptr[i], indptr[i + 1]):
        query[columns[p]] = 0.0
    return len(sums)


@kernel
def key_of(d, kept, query, stored):
    """Return the key of a document, from all of its words; `query` has the other's values."""
    indptr, columns, values = kept[0], kept[1], kept[2]
    total = 0.0
    for p in range(indptr[d], indptr[d + 1]):
        total += query[columns[p]] * values[p]
    return total * stored[0][d] - stored[1][d]


@kernel
def find_near(i, n_neighbors, asking, index, short, kept, stored, scratch):
    """Put the documents that may be among the nearest by cosine into the scratch; return how many.

    Frequent words are most of the work and say little. So the others are added up first, roughly;
    what frequent ones can add is bounded by the lengths of what the two documents have of them.
    Then documents are looked at, the nearest first: the nearest so far set a bar, and who cannot
    exceed it is out. Where too many can, the frequent words are added up for
    all. Who reaches the last bar is added up anew, exactly.
    """
    indptr, columns, values, lengths = asking
    starts, documents, _ = index
    units, ranks = short[:2]
    query, numbers, keys = scratch.query, scratch.numbers, scratch.keys
    rough, frequent = scratch.rough, scratch.frequent
    n_words, square = indptr[i + 1] - indptr[i], 0.0
    rough[:] = 0.0
    for p in range(indptr[i], indptr[i + 1]):
        j, value = columns[p], values[p]
        if j < len(ranks) and ranks[j] >= 0:
            frequent[ranks[j]] = value
            square += np.float64(value) * np.float64(value)
        elif j < len(ranks):
            add_column(value, documents[starts[j] : starts[j + 1]],
                       units[starts[j] : starts[j + 1]], rough)  # fmt: skip
    # What numbers of 24 bits may be wrong by, on both sides, is far more than what is tied.
    margin = np.float32((4.0 + n_words) * 2.5e-7 * lengths[i])
    length = np.float32(np.sqrt(square))
    n_rough, bar = look_closer(n_neighbors, length, margin, kept[3], short, stored[2], scratch)
    if n_rough < 0:
        for p in range(indptr[i], indptr[i + 1]):
            j, value = columns[p], values[p]
            if j < len(ranks) and ranks[j] >= 0:
                add_column(value, documents[starts[j] : starts[j + 1]],
                           units[starts[j] : starts[j + 1]], rough)  # fmt: skip
        n_rough, bar = look_at_all(n_neighbors, margin, kept[3], stored[2], scratch)
    for p in range(indptr[i], indptr[i + 1]):
        query[columns[p]] = values[p]
        if columns[p] < len(ranks) and ranks[columns[p]] >= 0:
            frequent[ranks[columns[p]]] = 0.0
    n = 0
    for place in range(n_rough):
        if keys[place] >= bar:
            numbers[n] = numbers[place]
            keys[n] = key_of(numbers[place], kept, query, stored)
            n += 1
    for d in range(kept[3], len(stored[0])):  # those that are not in the index yet
        numbers[n], keys[n] = d, key_of(d, kept, query, stored)
        n += 1
    for p in range(indptr[i], indptr[i + 1]):
        query[columns[p]] = 0.0
    return n


@kernel
def look_closer(n_neighbors, length, margin, n_indexed, short, weights, scratch):
    """Add frequent words to those documents only that may then be among the nearest.

    The documents and their rough keys are put into the scratch; returned are how many they are,
    less than zero where they would be too many, and what key the nearest have at least.
    """
    rough, bounds, peaks, n_blocks = scratch.rough, scratch.bounds, scratch.peaks, 0
    find_peaks(scratch.rough_bits[:n_indexed], scratch.peak_bits)
    for block in range((n_indexed + LANES - 1) // LANES):
        if n_blocks < n_neighbors:
            push(scratch.heap, scratch.members, n_blocks, peaks[block], block)
            n_blocks += 1
        elif peaks[block] > scratch.heap[0]:
            sift(scratch.heap, scratch.members, n_blocks, peaks[block], block)
    # At least so many blocks have somebody who is as near, without frequent words.
    n, least = 0, scratch.heap[0]
    if n_blocks < n_neighbors or least <= 0:
        return -1, np.float32(0.0)
    for place in range(n_blocks):
        first = scratch.members[place] * LANES
        for d in range(first, min(first + LANES, n_indexed)):
            if rough[d] >= least:
                scratch.numbers[n] = d
                n += 1
    find_bounds(n_indexed, length, rough, short[5], bounds)
    size, total = 0, 0.0
    for place in range(n):
        d = scratch.numbers[place]
        bounds[d] = 0.0  # it is seen here, and not again
        scratch.keys[place] = rough[d] + frequent_part(d, short, scratch.frequent)
        if total < n_neighbors or scratch.keys[place] > scratch.heap[0]:
            size, total = offer(scratch.keys[place], d, n_neighbors, size, total, weights, scratch)
    bar = np.float32(scratch.heap[0]) - margin
    if total < n_neighbors or bar <= 0:
        return -1, bar
    find_peaks(scratch.bound_bits[:n_indexed], scratch.peak_bits)
    for block in range((n_indexed + LANES - 1) // LANES):
        if peaks[block] <= bar:
            continue
        if n * FEW > n_indexed:
            return -1, bar
        for d in range(block * LANES, min((block + 1) * LANES, n_indexed)):
            if bounds[d] > bar:
                key = rough[d] + frequent_part(d, short, scratch.frequent)
                scratch.numbers[n], scratch.keys[n] = d, key
                n += 1
                if key > scratch.heap[0]:
                    size, total = offer(key, d, n_neighbors, size, total, weights, scratch)
                    bar = np.float32(scratch.heap[0]) - margin
    return n, bar


@kernel
def find_bounds(n, length, rough, reach, bounds):
    """Write what the keys of documents may come to at most."""
    for d in range(n):
        bounds[d] = rough[d] + length * reach[d]


@kernel
def find_peaks(bits, peaks):
    """Write the bits of the largest number of each block, or of zero.

    The bits of numbers above zero, as whole numbers, are in the order of the numbers; and of whole
    numbers the largest is found many at a time.
    """
    for block in range((len(bits) + LANES - 1) // LANES):
        own = bits[block * LANES : (block + 1) * LANES]
        most = np.int32(0)
        for place in range(len(own)):
            most = max(most, own[place])
        peaks[block] = most


@kernel
def look_at_all(n_neighbors, margin, n_indexed, weights, scratch):
    """Put those documents into the scratch that are roughly nearest; return as `look_closer`."""
    rough, n = scratch.rough, 0
    find_nearest(n_indexed, n_neighbors, rough, scratch.every, weights, scratch)
    bar = np.float32(scratch.heap[0]) - margin
    for first in range(0, n_indexed, LANES):
        end = min(first + LANES, n_indexed)
        if any_reach(rough[first:end], bar):
            for d in range(first, end):
                scratch.numbers[n], scratch.keys[n] = d, rough[d]
                n += rough[d] >= bar
    return n, bar


@kernel
def frequent_part(d, short, frequent):
    """Return what the frequent words of a document add to its cosine, roughly."""
    starts, ranks, units = short[2:5]
    total = np.float32(0.0)
    for p in range(starts[d], starts[d + 1]):
        total += frequent[ranks[p]] * units[p]
    return total


@kernel
def add_savings(i, asking, index, tables, stored, scratch):
    """Put all documents into the scratch, their sums being how much nearer shared words bring them.

    Values are codes, numbers of the values that a column has; -1 is one that was never seen.
    `tables` has the columns' first rows in the next two: how probable each category is with the
    value, and how far the value is from none.
    """
    indptr, columns, codes = asking[0], asking[1], asking[2]
    starts, documents, codes_of = index
    firsts, probable, apart, prior = tables
    sums, savings, numbers, keys = scratch.sums, scratch.query, scratch.numbers, scratch.keys
    sums[:] = 0.0
    for p in range(indptr[i], indptr[i + 1]):
        j = columns[p]
        first = firsts[j]
        own = prior if codes[p] < 0 else probable[first + np.int64(codes[p])]
        distance = difference(own, probable[first])
        for row in range(first, firsts[j + 1]):
            savings[row - first] = distance + apart[row] - difference(own, probable[row])
        for q in range(starts[j], starts[j + 1]):
            sums[documents[q]] += savings[np.int64(codes_of[q])]
    for d in range(len(sums)):
        numbers[d] = d
        keys[d] = sums[d] - stored[1][d]
    return len(sums)


@kernel
def difference(one, other):
    """Return how far two distributions are apart: the sum over the categories."""
    total = 0.0
    for k in range(len(one)):
        total += abs(one[k] - other[k])
    return total


@kernel
def find_nearest(n, n_neighbors, keys, numbers, weights, scratch):
    """Put the nearest of n documents into the heap, the farthest at its root; return how many.

    A document of weight w counts w times: the heap holds as few as count k times, or all.
    """
    size, total = 0, 0.0
    for first in range(0, n, LANES):
        end = min(first + LANES, n)
        if total >= n_neighbors and not any_reach(keys[first:end], scratch.heap[0]):
            continue
        for place in range(first, end):
            if total < n_neighbors or keys[place] > scratch.heap[0]:
                one = keys[place], numbers[place]
                size, total = offer(*one, n_neighbors, size, total, weights, scratch)
    return size


@kernel
def offer(key, number, n_neighbors, size, total, weights, scratch):
    """Take a document into the heap, and out of it what is no longer needed; return its size.

    Also returned is how often all in it count together.
    """
    heap, members = scratch.heap, scratch.members
    total += weights[number]
    root = weights[members[0]] if size and key > heap[0] else np.inf
    if total - root >= n_neighbors:  # it takes the root's place
        total -= root
        sift(heap, members, size, key, number)
    else:
        push(heap, members, size, key, number)
        size += 1
    while size > 1 and total - weights[members[0]] >= n_neighbors:
        total -= weights[members[0]]
        size -= 1
        sift(heap, members, size, heap[size], members[size])
    return size, total


@kernel
def any_reach(keys, bar):
    """Count how many keys reach a bar: a loop that becomes vectors."""
    n_above = 0
    for place in range(len(keys)):
        n_above += keys[place] >= bar
    return n_above


@kernel
def push(heap, members, size, key, number):
    """Put a document into a heap of `size` others."""
    child = size
    while child and heap[(child - 1) >> 1] > key:
        parent = (child - 1) >> 1
        heap[child], members[child] = heap[parent], members[parent]
        child = parent
    heap[child], members[child] = key, number


@kernel
def sift(heap, members, size, key, number):
    """Put a document in the place of the root of a heap."""
    parent = 0
    while 2 * parent + 1 < size:
        child = 2 * parent + 1
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= key:
            break
        heap[parent], members[parent] = heap[child], members[child]
        parent = child
    heap[parent], members[parent] = key, number


@kernel
def find_votes(n, metric, by_similarity, size, scratch, weights):
    """Keep of n documents those that are as near as the root of the heap, with their votes."""
    heap, numbers, keys, votes = scratch.heap, scratch.numbers, scratch.keys, scratch.votes
    bar = heap[0] - TIED * max(size, abs(heap[0]))
    n_voters, total, nearest = 0, 0.0, -np.inf
    for place in range(n):
        if keys[place] >= bar:
            numbers[n_voters], keys[n_voters] = numbers[place], keys[place]
            nearest = max(nearest, keys[place])
            n_voters += 1
    # At no distance at all, only those vote that are there too.
    is_there = metric != COSINE and size - nearest <= TIED * max(size, abs(nearest))
    for place in range(n_voters):
        key, weight = keys[place], weights[numbers[place]]
        if by_similarity and metric == COSINE:
            weight *= max(key, 0.0)
        elif by_similarity and is_there:
            weight *= size - key <= TIED * max(size, abs(nearest))
        elif by_similarity:
            weight /= np.sqrt(size - key) if metric == EUCLIDEAN else size - key
        votes[place] = weight
        total += weight
    if by_similarity and metric == COSINE and nearest <= TIED * size:  # they share nothing
        total = 0.0
        for place in range(n_voters):
            votes[place] = weights[numbers[place]]
            total += votes[place]
    for place in range(n_voters):
        votes[place] /= total
    return n_voters


@kernel
def vote(i, rules, asking, index, short, kept, stored, tables, scratch):
    """Find who votes on document i, with each one's share of the votes, and return how many."""
    metric, by_similarity, n_neighbors = rules
    weights = stored[2]
    if len(weights) == 0:
        return 0
    if metric == DIFFERENCE:
        n = add_savings(i, asking, index, tables, stored, scratch)
    elif metric == COSINE and n_neighbors < kept[3]:
        n = find_near(i, n_neighbors, asking, index, short, kept, stored, scratch)
    else:
        n = find_all(i, asking, index, kept, stored, scratch)
    find_nearest(n, n_neighbors, scratch.keys, scratch.numbers, weights, scratch)
    return find_votes(n, metric, by_similarity, asking[3][i], scratch, weights)


@kernel
def score_documents(rules, asking, index, short, kept, stored, tables, labels, scratch, scores,
                    first, end):  # fmt: skip
    """Write the share of the votes that each category has, less a half: 0 where it is a tie."""
    label_starts, categories = labels
    voters, votes, totals = scratch.numbers, scratch.votes, scratch.totals
    for i in range(first, end):
        totals[:] = -0.5
        for place in range(vote(i, rules, asking, index, short, kept, stored, tables, scratch)):
            d = voters[place]
            for p in range(label_starts[d], label_starts[d + 1]):
                totals[categories[p]] += votes[place]
        for k in range(len(totals)):
            scores[i, k] = totals[k] if abs(totals[k]) > TIED else 0.0
