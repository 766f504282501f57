"""Probabilistic latent semantic analysis: expectation maximisation without P(z|d,w) in memory.

`theta` is P(z|d), documents by concepts, and `phi` is P(w|z), words by concepts, both in single
precision. An iteration goes over the documents and then over the words, both times with the old
values; they share the ratio n(d,w) / P(w|d) of each entry. Each row is written by one thread, so
that any number of threads gives the same bits.
"""

import numpy as np

from thresher._kernels._jit import kernel

ZERO = np.float32(0)
# Smaller probabilities are set to zero: otherwise they become subnormal numbers, with which
# arithmetic is a hundred times slower.
LEAST = np.float32(1e-20)
# Entries with a smaller P(w|d) are skipped, because their ratio might not be finite.
LEAST_MIXTURE = np.float32(1e-25)
LANES = 16  # partial sums of a dot product, so that the compiler uses vector instructions
DOCUMENTS_PER_SUM = 64  # added up in single precision before they are added in double precision


@kernel
def dot(a, b, lanes):
    """Return the dot product in single precision, always added up in the same order."""
    n = len(a)
    for j in range(LANES):
        lanes[j] = ZERO
    whole = n - n % LANES
    for base in range(0, whole, LANES):
        for j in range(LANES):
            lanes[j] += a[base + j] * b[base + j]
    for j in range(n - whole):
        lanes[j] += a[whole + j] * b[whole + j]
    for j in range(8):
        lanes[j] += lanes[j + 8]
    for j in range(4):
        lanes[j] += lanes[j + 4]
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])


@kernel
def explain(words, counts, phi, old, new, lanes, ratios):
    """Write the next P(z|d) of a document, not normalised, and n(d,w) / P(w|d); return the sum."""
    n = len(old)
    for k in range(n):
        new[k] = ZERO
    for p in range(len(words)):
        word = phi[words[p]]
        mixture = dot(old, word, lanes)
        ratio = counts[p] / mixture if mixture > LEAST_MIXTURE else ZERO
        ratios[p] = ratio
        for k in range(n):
            new[k] += ratio * word[k]
    total = 0.0
    for k in range(n):
        new[k] *= old[k]
        total += np.float64(new[k])
    return total


@kernel
def update_documents(indptr, words, counts, theta, phi, updated, ratios, start, end):
    """Write the next P(z|d) of some documents, and n(d,w) / P(w|d) of their entries."""
    n = theta.shape[1]
    lanes = np.empty(LANES, np.float32)
    # Local, so that the compiler can assume that it overlaps no other array.
    new = np.empty(n, np.float32)
    for d in range(start, end):
        old = theta[d]
        entries = slice(indptr[d], indptr[d + 1])
        total = explain(words[entries], counts[entries], phi, old, new, lanes, ratios[entries])
        if total > 0:
            divide(new, total)
        for k in range(n):  # without a known word, the old values stay
            updated[d, k] = new[k] if total > 0 else old[k]


@kernel
def divide(row, total):
    """Divide a row by its sum, and set what is less than `LEAST` to zero."""
    scale = np.float32(1.0 / total)
    for k in range(len(row)):
        share = row[k] * scale
        row[k] = share if share > LEAST else ZERO


@kernel
def update_words(indptr, documents, entries, ratios, theta, phi, updated, start, end):
    """Write the next P(w|z) of some words, not normalised."""
    n = theta.shape[1]
    run = np.empty(n, np.float32)
    sums = np.empty(n, np.float64)
    for w in range(start, end):
        for k in range(n):
            sums[k] = 0.0
        for first in range(indptr[w], indptr[w + 1], DOCUMENTS_PER_SUM):
            for k in range(n):
                run[k] = ZERO
            for p in range(first, min(first + DOCUMENTS_PER_SUM, indptr[w + 1])):
                ratio, document = ratios[entries[p]], theta[documents[p]]
                for k in range(n):
                    run[k] += ratio * document[k]
            for k in range(n):
                sums[k] += run[k]
        old, new = phi[w], updated[w]
        for k in range(n):
            new[k] = np.float32(sums[k] * old[k])


@kernel
def normalise_concepts(phi, start, end):
    """Divide P(w|z) of some concepts by their sums over the words, where these are not zero."""
    totals = np.zeros(end - start)
    for w in range(len(phi)):
        for k in range(start, end):
            totals[k - start] += phi[w, k]
    scales = np.zeros(end - start, np.float32)
    for k in range(end - start):
        if totals[k] > 0:
            scales[k] = np.float32(1.0 / totals[k])
    for w in range(len(phi)):
        for k in range(start, end):
            share = phi[w, k] * scales[k - start]
            phi[w, k] = share if share > LEAST else ZERO


@kernel
def mixtures(indptr, words, theta, phi, explained, start, end):
    """Write P(w|d) for the entries of some documents."""
    lanes = np.empty(LANES, np.float32)
    for d in range(start, end):
        for p in range(indptr[d], indptr[d + 1]):
            explained[p] = dot(theta[d], phi[words[p]], lanes)


@kernel
def fold_in(indptr, words, counts, phi, shares, max_iter, tolerance, folded, start, end):
    """Write P(z|d) of some documents for fixed P(w|z), from the same start for all documents.

    A document without a known word gets the shares of the concepts.
    """
    n = phi.shape[1]
    lanes = np.empty(LANES, np.float32)
    old, new = np.empty(n, np.float32), np.empty(n, np.float32)
    ratios = np.empty(indptr[end] - indptr[start], np.float32)  # written by `explain`, not used
    for d in range(start, end):
        entries = slice(indptr[d], indptr[d + 1])
        for k in range(n):
            old[k] = np.float32(1.0 / n)
        total = 1.0
        for _ in range(max_iter):
            total = explain(words[entries], counts[entries], phi, old, new, lanes, ratios)
            if total <= 0:
                break
            divide(new, total)
            change = ZERO
            for k in range(n):
                change = max(change, abs(new[k] - old[k]))
                old[k] = new[k]
            if change < tolerance:
                break
        for k in range(n):
            folded[d, k] = old[k] if total > 0 else shares[k]
