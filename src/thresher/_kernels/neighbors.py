"""The nearest documents: an inverted index, sums over shared words, and the votes of the nearest.

The similarity of a stored document to a query is expressed by its key, `sums * scales - sizes`,
where the sum is over the shared words. For the cosine, the key is the cosine times the length of
the query; the scale of a stored document is one over its length, and its size is 0. For distances,
the key is the size of the query less the (squared) distance. The words of every document ascend, so
that a sum has the same bits however it is computed.

Three tuples describe the arrays: `queries` has `indptr`, `columns`, `values` and sizes of the
documents to decide; `contents` has `indptr`, `columns` and `values` of the stored documents, and
how many of them are in the index; `stored` has their scales, sizes and weights.
"""

from typing import NamedTuple

import numpy as np

from thresher._kernels._jit import kernel

COSINE, EUCLIDEAN, DIFFERENCE = 0, 1, 2
DOCUMENTS_PER_BLOCK = 64
DOCUMENTS_PER_INSPECTED = 16  # inspect documents singly if it is at most one of so many
TIED = 1e-9  # relative to the size of the query: keys that differ by less are equal


class Scratch(NamedTuple):
    """Working memory of a kernel, with a cell for each stored document unless noted."""

    query: np.ndarray  # float64, a cell for each column: the values of the query, or 0
    sums: np.ndarray  # float64
    heap: np.ndarray  # float64: the keys of the nearest documents, the least first
    members: np.ndarray  # int64: the numbers of these documents
    numbers: np.ndarray  # int64: the documents under inspection
    keys: np.ndarray  # float64: their keys
    votes: np.ndarray  # float64: their votes
    rough: np.ndarray  # float32: sums of 24 bits
    frequent: np.ndarray  # float32, a cell for each frequent column: the values of the query
    bounds: np.ndarray  # float32: upper bounds of the rough keys
    peaks: np.ndarray  # float32, a cell for each block of documents: the largest number
    every: np.ndarray  # int64: the numbers of all documents
    totals: np.ndarray  # float64, a cell for each category: its votes


@kernel
def add_column(value, documents, strengths, sums):
    """Add the products of a value with one column of the index to the sums of its documents."""
    for q in range(len(documents)):
        sums[documents[q]] += value * strengths[q]


@kernel
def find_all(i, queries, index, contents, stored, scratch):
    """Write all documents and their keys into the scratch, and return their number."""
    indptr, columns, values = queries[0], queries[1], queries[2]
    starts, documents, strengths = index
    sums, query, numbers, keys = scratch.sums, scratch.query, scratch.numbers, scratch.keys
    sums[:] = 0.0
    for p in range(indptr[i], indptr[i + 1]):
        j, value = columns[p], np.float64(values[p])
        query[j] = value
        if j < len(starts) - 1:
            add_column(value, documents[starts[j] : starts[j + 1]],
                       strengths[starts[j] : starts[j + 1]], sums)  # fmt: skip
    n_indexed = contents[3]
    for d in range(len(sums)):
        numbers[d] = d
        if d < n_indexed:
            keys[d] = sums[d] * stored[0][d] - stored[1][d]
        else:  # not in the index yet
            keys[d] = key_of(d, contents, query, stored)
    for p in range(indptr[i], indptr[i + 1]):
        query[columns[p]] = 0.0
    return len(sums)


@kernel
def key_of(d, contents, query, stored):
    """Return the key of a stored document from all of its words; `query` has the values."""
    indptr, columns, values = contents[0], contents[1], contents[2]
    total = 0.0
    for p in range(indptr[d], indptr[d + 1]):
        total += query[columns[p]] * values[p]
    return total * stored[0][d] - stored[1][d]


@kernel
def find_near(i, n_neighbors, queries, index, short, contents, stored, scratch):
    """Write the candidates for the nearest by cosine into the scratch; return their number.

    Frequent words are most of the work and say little. So the other words are added up first, in
    single precision. What the frequent words can add is bounded by the product of the lengths of
    both documents in these columns. Then documents are inspected, the nearest first: the nearest
    so far set a bar, and documents whose bound does not exceed it are skipped. If too many exceed
    it, the frequent words are added up for all documents. The keys of the documents that reach the
    last bar are computed again exactly.
    """
    indptr, columns, values, lengths = queries
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
    # The error of single precision, on both sides; it is far larger than the tolerance of ties.
    margin = np.float32((4.0 + n_words) * 2.5e-7 * lengths[i])
    length = np.float32(np.sqrt(square))
    n_rough, bar = inspect_some(n_neighbors, length, margin, contents[3], short, stored[2], scratch)
    if n_rough < 0:
        for p in range(indptr[i], indptr[i + 1]):
            j, value = columns[p], values[p]
            if j < len(ranks) and ranks[j] >= 0:
                add_column(value, documents[starts[j] : starts[j + 1]],
                           units[starts[j] : starts[j + 1]], rough)  # fmt: skip
        n_rough, bar = inspect_all(n_neighbors, margin, contents[3], stored[2], scratch)
    for p in range(indptr[i], indptr[i + 1]):
        query[columns[p]] = values[p]
        if columns[p] < len(ranks) and ranks[columns[p]] >= 0:
            frequent[ranks[columns[p]]] = 0.0
    n = 0
    for m in range(n_rough):
        if keys[m] >= bar:
            numbers[n] = numbers[m]
            keys[n] = key_of(numbers[m], contents, query, stored)
            n += 1
    for d in range(contents[3], len(stored[0])):  # not in the index yet
        numbers[n], keys[n] = d, key_of(d, contents, query, stored)
        n += 1
    for p in range(indptr[i], indptr[i + 1]):
        query[columns[p]] = 0.0
    return n


@kernel
def inspect_some(n_neighbors, length, margin, n_indexed, short, weights, scratch):
    """Add frequent words only to the documents that may then be among the nearest.

    The documents and their rough keys are written into the scratch. Returned are their number,
    negative if there are too many, and a lower bound of the keys of the nearest.
    """
    rough, bounds, peaks, n_blocks = scratch.rough, scratch.bounds, scratch.peaks, 0
    find_peaks(rough[:n_indexed], peaks)
    for block in range((n_indexed + DOCUMENTS_PER_BLOCK - 1) // DOCUMENTS_PER_BLOCK):
        if n_blocks < n_neighbors:
            push(scratch.heap, scratch.members, n_blocks, peaks[block], block)
            n_blocks += 1
        elif peaks[block] > scratch.heap[0]:
            sift(scratch.heap, scratch.members, n_blocks, peaks[block], block)
    # At least this many blocks have a document with this key, without frequent words.
    n, least = 0, scratch.heap[0]
    if n_blocks < n_neighbors or least <= 0:
        return -1, np.float32(0.0)
    for m in range(n_blocks):
        first = scratch.members[m] * DOCUMENTS_PER_BLOCK
        for d in range(first, min(first + DOCUMENTS_PER_BLOCK, n_indexed)):
            if rough[d] >= least:
                scratch.numbers[n] = d
                n += 1
    find_bounds(n_indexed, length, rough, short[5], bounds)
    size, total = 0, 0.0
    for m in range(n):
        d = scratch.numbers[m]
        bounds[d] = 0.0  # so that it is not inspected again below
        scratch.keys[m] = rough[d] + frequent_share(d, short, scratch.frequent)
        if total < n_neighbors or scratch.keys[m] > scratch.heap[0]:
            size, total = offer(scratch.keys[m], d, n_neighbors, size, total, weights, scratch)
    bar = np.float32(scratch.heap[0]) - margin
    if total < n_neighbors or bar <= 0:
        return -1, bar
    find_peaks(bounds[:n_indexed], peaks)
    for block in range((n_indexed + DOCUMENTS_PER_BLOCK - 1) // DOCUMENTS_PER_BLOCK):
        if peaks[block] <= bar:
            continue
        if n * DOCUMENTS_PER_INSPECTED > n_indexed:
            return -1, bar
        for d in range(
            block * DOCUMENTS_PER_BLOCK, min((block + 1) * DOCUMENTS_PER_BLOCK, n_indexed)
        ):
            if bounds[d] > bar:
                key = rough[d] + frequent_share(d, short, scratch.frequent)
                scratch.numbers[n], scratch.keys[n] = d, key
                n += 1
                if key > scratch.heap[0]:
                    size, total = offer(key, d, n_neighbors, size, total, weights, scratch)
                    bar = np.float32(scratch.heap[0]) - margin
    return n, bar


@kernel
def find_bounds(n, length, rough, reach, bounds):
    """Write upper bounds of the keys of documents."""
    for d in range(n):
        bounds[d] = rough[d] + length * reach[d]


@kernel
def find_peaks(sums, peaks):
    """Write the largest number of each block, or zero.

    The bits of positive numbers, read as integers, have the order of the numbers, and the loop over
    integers vectorises.
    """
    bits, peaks = sums.view(np.int32), peaks.view(np.int32)
    for block in range((len(bits) + DOCUMENTS_PER_BLOCK - 1) // DOCUMENTS_PER_BLOCK):
        numbers = bits[block * DOCUMENTS_PER_BLOCK : (block + 1) * DOCUMENTS_PER_BLOCK]
        most = np.int32(0)
        for m in range(len(numbers)):
            most = max(most, numbers[m])
        peaks[block] = most


@kernel
def inspect_all(n_neighbors, margin, n_indexed, weights, scratch):
    """Write the documents that are roughly nearest into the scratch; return as `inspect_some`."""
    rough, n = scratch.rough, 0
    find_nearest(n_indexed, n_neighbors, rough, scratch.every, weights, scratch)
    bar = np.float32(scratch.heap[0]) - margin
    for first in range(0, n_indexed, DOCUMENTS_PER_BLOCK):
        end = min(first + DOCUMENTS_PER_BLOCK, n_indexed)
        if any_reach(rough[first:end], bar):
            for d in range(first, end):
                scratch.numbers[n], scratch.keys[n] = d, rough[d]
                n += rough[d] >= bar
    return n, bar


@kernel
def frequent_share(d, short, frequent):
    """Return roughly what the frequent words of a document add to its cosine."""
    starts, ranks, units = short[2:5]
    total = np.float32(0.0)
    for p in range(starts[d], starts[d + 1]):
        total += frequent[ranks[p]] * units[p]
    return total


@kernel
def add_savings(i, queries, index, tables, stored, scratch):
    """Write all documents into the scratch; the sums are what shared words take off distances.

    Values are codes: the numbers of the values of a column, or -1 for a value never seen.
    `tables` has the first row of each column in the next two, which are the probability of each
    category given the value, and the distance of the value from a missing one.
    """
    indptr, columns, codes = queries[0], queries[1], queries[2]
    starts, documents, codes_of = index
    firsts, probable, apart, prior = tables
    sums, savings, numbers, keys = scratch.sums, scratch.query, scratch.numbers, scratch.keys
    sums[:] = 0.0
    for p in range(indptr[i], indptr[i + 1]):
        j = columns[p]
        first = firsts[j]
        given = prior if codes[p] < 0 else probable[first + np.int64(codes[p])]
        distance = difference(given, probable[first])
        for row in range(first, firsts[j + 1]):
            savings[row - first] = distance + apart[row] - difference(given, probable[row])
        for q in range(starts[j], starts[j + 1]):
            sums[documents[q]] += savings[np.int64(codes_of[q])]
    for d in range(len(sums)):
        numbers[d] = d
        keys[d] = sums[d] - stored[1][d]
    return len(sums)


@kernel
def difference(p, q):
    """Return the sum of absolute differences of two distributions."""
    total = 0.0
    for k in range(len(p)):
        total += abs(p[k] - q[k])
    return total


@kernel
def find_nearest(n, n_neighbors, keys, numbers, weights, scratch):
    """Put the nearest of n documents into the heap, the farthest at its root; return their number.

    A document of weight w counts w times: the heap holds the fewest that count k times, or all.
    """
    size, total = 0, 0.0
    for first in range(0, n, DOCUMENTS_PER_BLOCK):
        end = min(first + DOCUMENTS_PER_BLOCK, n)
        if total >= n_neighbors and not any_reach(keys[first:end], scratch.heap[0]):
            continue
        for m in range(first, end):
            if total < n_neighbors or keys[m] > scratch.heap[0]:
                size, total = offer(keys[m], numbers[m], n_neighbors, size, total, weights, scratch)
    return size


@kernel
def offer(key, number, n_neighbors, size, total, weights, scratch):
    """Add a document to the heap and remove those no longer needed; return its size and weight."""
    heap, members = scratch.heap, scratch.members
    total += weights[number]
    root = weights[members[0]] if size and key > heap[0] else np.inf
    if total - root >= n_neighbors:  # it replaces the root
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
    """Return the number of keys that reach a bar; the loop vectorises."""
    n_above = 0
    for m in range(len(keys)):
        n_above += keys[m] >= bar
    return n_above


@kernel
def push(heap, members, size, key, number):
    """Insert a document into a heap of `size` documents."""
    child = size
    while child and heap[(child - 1) >> 1] > key:
        parent = (child - 1) >> 1
        heap[child], members[child] = heap[parent], members[parent]
        child = parent
    heap[child], members[child] = key, number


@kernel
def sift(heap, members, size, key, number):
    """Replace the root of a heap by a document."""
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
    """Keep the documents at least as near as the root of the heap, and write their votes."""
    heap, numbers, keys, votes = scratch.heap, scratch.numbers, scratch.keys, scratch.votes
    bar = heap[0] - TIED * max(size, abs(heap[0]))
    n_voters, total, nearest = 0, 0.0, -np.inf
    for m in range(n):
        if keys[m] >= bar:
            numbers[n_voters], keys[n_voters] = numbers[m], keys[m]
            nearest = max(nearest, keys[m])
            n_voters += 1
    # If a document has distance zero, only the documents at distance zero vote.
    is_at_zero = metric != COSINE and size - nearest <= TIED * max(size, abs(nearest))
    for m in range(n_voters):
        key, weight = keys[m], weights[numbers[m]]
        if by_similarity and metric == COSINE:
            weight *= max(key, 0.0)
        elif by_similarity and is_at_zero:
            weight *= size - key <= TIED * max(size, abs(nearest))
        elif by_similarity:
            weight /= np.sqrt(size - key) if metric == EUCLIDEAN else size - key
        votes[m] = weight
        total += weight
    if by_similarity and metric == COSINE and nearest <= TIED * size:  # nothing is shared
        total = 0.0
        for m in range(n_voters):
            votes[m] = weights[numbers[m]]
            total += votes[m]
    for m in range(n_voters):
        votes[m] /= total
    return n_voters


@kernel
def vote(i, rules, queries, index, short, contents, stored, tables, scratch):
    """Find the voters on document i and their shares of the votes; return their number."""
    metric, by_similarity, n_neighbors = rules
    weights = stored[2]
    if len(weights) == 0:
        return 0
    if metric == DIFFERENCE:
        n = add_savings(i, queries, index, tables, stored, scratch)
    elif metric == COSINE and n_neighbors < contents[3]:
        n = find_near(i, n_neighbors, queries, index, short, contents, stored, scratch)
    else:
        n = find_all(i, queries, index, contents, stored, scratch)
    find_nearest(n, n_neighbors, scratch.keys, scratch.numbers, weights, scratch)
    return find_votes(n, metric, by_similarity, queries[3][i], scratch, weights)


@kernel
def score_documents(rules, queries, index, short, contents, stored, tables, labels, scratch, scores,
                    first, end):  # fmt: skip
    """Write the share of the votes of each category less one half; a tie is exactly 0."""
    label_starts, categories = labels
    voters, votes, totals = scratch.numbers, scratch.votes, scratch.totals
    for i in range(first, end):
        totals[:] = -0.5
        for m in range(vote(i, rules, queries, index, short, contents, stored, tables, scratch)):
            d = voters[m]
            for p in range(label_starts[d], label_starts[d + 1]):
                totals[categories[p]] += votes[m]
        for k in range(len(totals)):
            scores[i, k] = totals[k] if abs(totals[k]) > TIED else 0.0
