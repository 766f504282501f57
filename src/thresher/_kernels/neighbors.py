"""The nearest documents: an inverted index, sums over shared words, and the votes of the nearest.

How near a stored document is, its key, is `sums * scales - sizes`, the sum being over the words
that it shares with the one that asks. For the cosine, which the key is times the length of the one
that asks, the scale is one over its own length and its size 0; for distances the key is the size of
the one that asks, less the (squared) distance. Words ascend in every document, so that a sum has
the same bits however it is reached.
"""

import numpy as np

from thresher._kernels._jit import kernel

COSINE, EUCLIDEAN, DIFFERENCE = 0, 1, 2
LANES = 64  # documents that are looked over at once
TIED = 1e-9  # of the size of the one that asks: keys that differ by less are the same


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
def find_all(i, asking, index, kept, stored, scratch):
    """Put all documents with their keys into the scratch, and return how many they are."""
    indptr, columns, values = asking[0], asking[1], asking[2]
    starts, documents, strengths = index
    sums, query, numbers, keys = scratch[0], scratch[1], scratch[4], scratch[5]
    sums[:] = 0.0
    for p in range(indptr[i], indptr[i + 1]):
        j, value = columns[p], np.float64(values[p])
        query[j] = value
        if j < len(starts) - 1:
            for q in range(starts[j], starts[j + 1]):
                sums[documents[q]] += value * strengths[q]
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
    The documents that are nearest so far set a bar, and who cannot reach it is out. The frequent
    words of the others follow, and who reaches the bar of those is added up anew, exactly. Returns
    0 where all had better be added up.
    """
    indptr, columns, values, lengths = asking
    starts, documents, _ = index
    units, ranks, starts_of, ranks_of, units_of, reach = short
    query, heap, members, numbers, keys = scratch[1:6]
    rough, rough_heap, frequent = scratch[8:11]
    n_indexed, n_words, work, square = kept[3], indptr[i + 1] - indptr[i], 0, 0.0
    rough[:] = 0.0
    for p in range(indptr[i], indptr[i + 1]):
        j, value = columns[p], values[p]
        if j >= len(ranks):
            continue
        if ranks[j] >= 0:
            frequent[ranks[j]] = value
            work += starts[j + 1] - starts[j]
            square += np.float64(value) * np.float64(value)
        else:
            for q in range(starts[j], starts[j + 1]):
                rough[documents[q]] += value * units[q]
    # What numbers of 24 bits may be wrong by, on both sides, is far more than what is tied.
    margin = np.float32((4.0 + n_words) * 2.5e-7 * lengths[i])
    n, bar, length = 0, np.float32(np.inf), np.float32(np.sqrt(square))
    for member in range(find_nearest(n_indexed, n_neighbors, rough, scratch[7], stored[2],
                                     rough_heap, members)):  # fmt: skip
        d = members[member]
        bar = min(bar, rough[d] + frequent_part(d, starts_of, ranks_of, units_of, frequent))
    bar -= margin
    for first in range(0, n_indexed, LANES):
        end, n_above = min(first + LANES, n_indexed), 0
        for d in range(first, end):
            n_above += rough[d] + length * reach[d] >= bar
        if n_above:
            for d in range(first, end):
                numbers[n] = d
                n += rough[d] + length * reach[d] >= bar
    if n * starts_of[n_indexed] < work * n_indexed:  # by the frequent words of the mean document
        for place in range(n):
            d = numbers[place]
            part = frequent_part(d, starts_of, ranks_of, units_of, frequent)
            keys[place] = rough[d] + part
        find_nearest(n, n_neighbors, keys, numbers, stored[2], heap, members)
        bar = heap[0] - margin
        for p in range(indptr[i], indptr[i + 1]):
            query[columns[p]] = values[p]
        n_rough, n = n, 0
        for place in range(n_rough):
            if keys[place] >= bar:
                numbers[n] = numbers[place]
                keys[n] = key_of(numbers[place], kept, query, stored)
                n += 1
        for d in range(n_indexed, len(stored[0])):
            numbers[n], keys[n] = d, key_of(d, kept, query, stored)
            n += 1
        for p in range(indptr[i], indptr[i + 1]):
            query[columns[p]] = 0.0
    else:
        n = 0
    for p in range(indptr[i], indptr[i + 1]):
        if columns[p] < len(ranks) and ranks[columns[p]] >= 0:
            frequent[ranks[columns[p]]] = 0.0
    return n


@kernel
def frequent_part(d, starts, ranks, units, frequent):
    """Return what the frequent words of a document add to its cosine, roughly."""
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
    sums, savings, numbers, keys = scratch[0], scratch[1], scratch[4], scratch[5]
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
def find_nearest(n, n_neighbors, keys, numbers, weights, heap, members):
    """Put the nearest of n documents into a heap, the farthest at its root; return how many.

    A document of weight w counts w times: the heap holds as few as count k times, or all.
    """
    size, total = 0, 0.0
    for first in range(0, n, LANES):
        end = min(first + LANES, n)
        if total >= n_neighbors and not any_above(keys, first, end, heap[0]):
            continue
        for place in range(first, end):
            key = keys[place]
            if total >= n_neighbors and key <= heap[0]:
                continue
            number = numbers[place]
            total += weights[number]
            root = weights[members[0]] if size and key > heap[0] else np.inf
            if total - root >= n_neighbors:  # it takes the root's place
                total -= root
                sift(heap, members, size, key, number)
            else:
                child = size
                size += 1
                while child and heap[(child - 1) >> 1] > key:
                    parent = (child - 1) >> 1
                    heap[child], members[child] = heap[parent], members[parent]
                    child = parent
                heap[child], members[child] = key, number
            while total - weights[members[0]] >= n_neighbors:
                total -= weights[members[0]]
                size -= 1
                sift(heap, members, size, heap[size], members[size])
    return size


@kernel
def any_above(keys, first, end, bar):
    """Count how many keys are above a bar: a loop that becomes vectors."""
    n_above = 0
    for place in range(first, end):
        n_above += keys[place] > bar
    return n_above


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
    heap, numbers, keys, votes = scratch[2], scratch[4], scratch[5], scratch[6]
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
    heap, members, numbers, keys = scratch[2:6]
    n, weights = 0, stored[2]
    if len(weights) == 0:
        return 0
    if metric == DIFFERENCE:
        n = add_savings(i, asking, index, tables, stored, scratch)
    elif metric == COSINE and n_neighbors < kept[3]:
        n = find_near(i, n_neighbors, asking, index, short, kept, stored, scratch)
    if n == 0:
        n = find_all(i, asking, index, kept, stored, scratch)
    find_nearest(n, n_neighbors, keys, numbers, weights, heap, members)
    return find_votes(n, metric, by_similarity, asking[3][i], scratch, weights)


@kernel
def score_documents(rules, asking, index, short, kept, stored, tables, labels, scratch, scores,
                    first, end):  # fmt: skip
    """Write the share of the votes that each category has, less a half: 0 where it is a tie."""
    label_starts, categories = labels
    voters, votes, totals = scratch[4], scratch[6], scratch[11]
    for i in range(first, end):
        totals[:] = -0.5
        for place in range(vote(i, rules, asking, index, short, kept, stored, tables, scratch)):
            d = voters[place]
            for p in range(label_starts[d], label_starts[d + 1]):
                totals[categories[p]] += votes[place]
        for k in range(len(totals)):
            scores[i, k] = totals[k] if abs(totals[k]) > TIED else 0.0
