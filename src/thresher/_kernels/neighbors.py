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
def add_products(i, asking, index, recent, n_indexed, sums, query):
    """Add up, for every document, the products of the values that it shares with document i.

    Those after the first `n_indexed` are read as they are; `query` is one zero per column.
    """
    indptr, columns, values = asking[0], asking[1], asking[2]
    starts, documents, strengths = index
    n_columns = len(starts) - 1
    sums[:] = 0.0
    for p in range(indptr[i], indptr[i + 1]):
        j, value = columns[p], np.float64(values[p])
        if j < n_columns:
            for q in range(starts[j], starts[j + 1]):
                sums[documents[q]] += value * strengths[q]
    if n_indexed == len(sums):
        return
    for p in range(indptr[i], indptr[i + 1]):
        query[columns[p]] = values[p]
    starts, columns_of, values_of = recent
    for d in range(n_indexed, len(sums)):
        total = 0.0
        for p in range(starts[d], starts[d + 1]):
            total += query[columns_of[p]] * values_of[p]
        sums[d] = total
    for p in range(indptr[i], indptr[i + 1]):
        query[columns[p]] = 0.0


@kernel
def add_savings(i, asking, index, tables, sums, savings):
    """Add up, for every document, how much nearer each word brings it that it shares with i.

    Values are codes, numbers of the values that a column has; -1 is one that was never seen.
    `tables` has the columns' first rows in the next two: how probable each category is with the
    value, and how far the value is from none. `savings` is scratch, one per value of a column.
    """
    indptr, columns, codes = asking[0], asking[1], asking[2]
    starts, documents, codes_of = index
    firsts, probable, apart, prior = tables
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


@kernel
def difference(one, other):
    """Return how far two distributions are apart: the sum over the categories."""
    total = 0.0
    for k in range(len(one)):
        total += abs(one[k] - other[k])
    return total


@kernel
def find_bar(sums, scales, sizes, weights, n_neighbors, heap, heap_weights):
    """Turn sums into keys, and return that of the nearest document that is the k-th or beyond.

    A document of weight w counts w times. The heap, as large as there are documents, holds the
    nearest so far, the farthest of them at its root.
    """
    n, total = 0, 0.0
    for d in range(len(sums)):
        key = sums[d] * scales[d] - sizes[d]
        sums[d] = key
        if total >= n_neighbors and key <= heap[0]:
            continue
        child = n
        n += 1
        total += weights[d]
        while child and heap[(child - 1) >> 1] > key:
            parent = (child - 1) >> 1
            heap[child], heap_weights[child] = heap[parent], heap_weights[parent]
            child = parent
        heap[child], heap_weights[child] = key, weights[d]
        while total - heap_weights[0] >= n_neighbors:
            total -= heap_weights[0]
            n -= 1
            last, weight, place = heap[n], heap_weights[n], 0
            while 2 * place + 1 < n:
                child = 2 * place + 1
                if child + 1 < n and heap[child + 1] < heap[child]:
                    child += 1
                if heap[child] >= last:
                    break
                heap[place], heap_weights[place] = heap[child], heap_weights[child]
                place = child
            heap[place], heap_weights[place] = last, weight
    return heap[0] if n else 0.0


@kernel
def find_votes(metric, by_similarity, size, bar, keys, weights, voters, votes):
    """Note the documents that are not below the bar, and each one's share of all votes."""
    n, total, nearest = 0, 0.0, -np.inf
    bar -= TIED * max(size, abs(bar))
    for d in range(len(keys)):
        if keys[d] >= bar:
            voters[n] = d
            n += 1
            nearest = max(nearest, keys[d])
    # At no distance at all, only those vote that are there too.
    is_there = metric != COSINE and size - nearest <= TIED * max(size, abs(nearest))
    for v in range(n):
        key, weight = keys[voters[v]], weights[voters[v]]
        if by_similarity and metric == COSINE:
            weight *= max(key, 0.0)
        elif by_similarity and is_there:
            weight *= size - key <= TIED * max(size, abs(nearest))
        elif by_similarity:
            weight /= np.sqrt(size - key) if metric == EUCLIDEAN else size - key
        votes[v] = weight
        total += weight
    if total <= TIED * size and by_similarity and metric == COSINE:  # they share nothing
        total = 0.0
        for v in range(n):
            votes[v] = weights[voters[v]]
            total += votes[v]
    for v in range(n):
        votes[v] /= total
    return n


@kernel
def vote(i, rules, asking, index, recent, stored, tables, scratch):
    """Find who votes on document i, with each one's share of the votes, and return how many."""
    metric, by_similarity, n_neighbors, n_indexed = rules
    scales, sizes, weights = stored
    sums, query, heap, heap_weights, voters, votes = scratch
    if metric == DIFFERENCE:
        add_savings(i, asking, index, tables, sums, query)
    else:
        add_products(i, asking, index, recent, n_indexed, sums, query)
    bar = find_bar(sums, scales, sizes, weights, n_neighbors, heap, heap_weights)
    return find_votes(metric, by_similarity, asking[3][i], bar, sums, weights, voters, votes)


@kernel
def score_documents(rules, asking, index, recent, stored, tables, labels, scratch, scores, first,
                    end):  # fmt: skip
    """Write the share of the votes that each category has, less a half; a tie is none or 0."""
    label_starts, categories = labels
    voters, votes = scratch[4], scratch[5]
    totals = np.zeros(scores.shape[1])
    for i in range(first, end):
        totals[:] = -0.5
        for v in range(vote(i, rules, asking, index, recent, stored, tables, scratch)):
            for p in range(label_starts[voters[v]], label_starts[voters[v] + 1]):
                totals[categories[p]] += votes[v]
        for k in range(len(totals)):
            scores[i, k] = totals[k] if abs(totals[k]) > TIED else 0.0
