"""The second look: candidate categories of documents, and the features of each pair.

The features of a pair are the learner's score, the evidence of the words, and relations to the
other candidates.
"""

import math

import numpy as np

from thresher._kernels._jit import kernel

F32 = np.float32

# The evidence of a pair; after these, the sum of the contributions of the words of each field.
FOR_IT, STRONGEST, OF_FIELDS = range(3)
# The features of a pair after its score and evidence.
PROBABILITY, RANK, MARGIN, POSITIVES, LIKELIEST, NEEDED, LIFT, N_OTHERS = range(8)
DOUBT = 2.0  # pseudo-documents in the conditional probabilities of categories


@kernel
def choose(scores, n_known, candidates):
    """Write the best categories of each document, the best first; of equal ones, the first wins."""
    n_candidates = candidates.shape[1]
    for i in range(len(scores)):
        n = 0
        for k in range(n_known):
            score = scores[i, k]
            rank = n
            while rank > 0 and score > scores[i, candidates[i, rank - 1]]:
                rank -= 1
            if rank == n_candidates:
                continue
            n = min(n + 1, n_candidates)
            for later in range(n - 1, rank, -1):
                candidates[i, later] = candidates[i, later - 1]
            candidates[i, rank] = k


@kernel
def weigh_evidence(indptr, indices, values, weights, fields, candidates, contributions, evidence):
    """Write the contributions of the words of each document to the scores of its candidates.

    The first row of the weights belongs to the always-on feature, which is no word. The
    contributions of a document to its own scores are subtracted from those of its words, in
    proportion to their strengths.
    """
    n_candidates, n_kinds = candidates.shape[1], evidence.shape[2]
    shares, kinds = np.empty(n_candidates, F32), np.empty((n_kinds, n_candidates), F32)
    for i in range(len(candidates)):
        squares, is_learned = 0.0, False
        for c in range(n_candidates):
            is_learned |= contributions[i, c] != 0
        for at in range(indptr[i], indptr[i + 1]):
            squares += values[at] * values[at]
        size = F32(max(squares, 1e-30))
        kinds[:] = F32(0)
        for_it, strongest = kinds[FOR_IT], kinds[STRONGEST]
        for at in range(indptr[i], indptr[i + 1]):
            column, value = indices[at], values[at]
            for c in range(n_candidates):
                shares[c] = weights[1 + column, candidates[i, c]]
            if is_learned:
                for c in range(n_candidates):
                    shares[c] -= contributions[i, c] * value / size
            # Without branches, which would be mispredicted.
            for c in range(n_candidates):
                share = value * shares[c]
                for_it[c] += share if share > 0 else F32(0)
                strongest[c] = share if share > strongest[c] else strongest[c]
                shares[c] = share
            if fields[column] > 0:
                of_field = kinds[OF_FIELDS + fields[column] - 1]
                for c in range(n_candidates):
                    of_field[c] += shares[c]
        for c in range(n_candidates):
            for kind in range(n_kinds):
                evidence[i, c, kind] = kinds[kind, c]


@kernel
def together(indptr, others, counts, j, k):
    """Return the number of documents that have both categories."""
    low, high = indptr[j], indptr[j + 1]
    while low < high:
        middle = (low + high) >> 1
        if others[middle] < k:
            low = middle + 1
        else:
            high = middle
    if low < indptr[j + 1] and others[low] == k:
        return counts[low]
    return 0.0


@kernel
def describe(
    scores, candidates, evidence, scale, slope, offsets, positives, total, indptr, others, both, out
):
    """Write the features of each pair: its score, evidence and relations to other candidates.

    Conditional probabilities of categories include `DOUBT` pseudo-documents with the prior
    probability.
    """
    n_candidates, n_evidence = candidates.shape[1], evidence.shape[2]
    probability = np.empty(n_candidates)
    first = 1 + n_evidence
    for i in range(len(candidates)):
        for c in range(n_candidates):
            k = candidates[i, c]
            score = scores[i, k] / scale
            probability[c] = 1 / (1 + math.exp(-min(max(slope * score + offsets[k], -30.0), 30.0)))
            out[i, c, 0] = score
            for e in range(n_evidence):
                out[i, c, 1 + e] = evidence[i, c, e] / scale
        for c in range(n_candidates):
            k = candidates[i, c]
            prior = (positives[k] + 0.5) / (total + 1)
            likeliest = needed = lift = 0.0
            for d in range(n_candidates):
                if d == c:
                    continue
                j = candidates[i, d]
                n_both = together(indptr, others, both, j, k)
                other_prior = (positives[j] + 0.5) / (total + 1)
                given = (n_both + DOUBT * prior) / (positives[j] + DOUBT)
                implied = (n_both + DOUBT * other_prior) / (positives[k] + DOUBT)
                likeliest = max(likeliest, probability[d] * given)
                needed = max(needed, probability[d] * implied)
                lift += probability[d] * math.log(given / prior)
            rival = 0 if c > 0 else min(1, n_candidates - 1)
            out[i, c, first + PROBABILITY] = probability[c]
            out[i, c, first + RANK] = c
            out[i, c, first + MARGIN] = out[i, c, 0] - out[i, rival, 0]
            out[i, c, first + POSITIVES] = math.log(1 + positives[k])
            out[i, c, first + LIKELIEST] = likeliest
            out[i, c, first + NEEDED] = needed
            out[i, c, first + LIFT] = lift


@kernel
def replace_scores(scores, n_known, scale, lowest, candidates, judged):
    """Replace the scores of the candidates by `judged`, and all others by lower scores.

    The others stay in their order, between `lowest` - 1 and `lowest` + 1.
    """
    for i in range(len(scores)):
        for k in range(n_known):
            score = scores[i, k] / scale
            scores[i, k] = lowest + score / (1 + abs(score))
        for c in range(candidates.shape[1]):
            scores[i, candidates[i, c]] = judged[i, c]
