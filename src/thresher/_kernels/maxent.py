"""Loglinear models: columns of sparse rows, steps of improved scaling, gains, vectors of L-BFGS.

A lane is a class, or a category with a separate binary question. Each lane has its accumulators and
each feature its documents, so that any division among threads gives the same bits.
"""

import numpy as np

from thresher._kernels._jit import kernel

CHUNK = 256  # rows of weights that are summed together, in any thread
NEWTON_STEPS = 50  # in one dimension; usually it stops far earlier
LARGEST_MOVE = 30.0  # of one weight: that of a feature that is always right would have no limit


@kernel
def improve(indptr, documents, values, expected, sums, targets, steps, first, last):
    """Write the solutions of Σ E·f·exp(step·Σf) = target into `steps`, for some features."""
    for j in range(first, last):
        for k in range(targets.shape[1]):
            if targets[j, k] <= 0.0:
                continue
            # The logarithm of the left side is convex, with a slope between the smallest and the
            # largest sum, so that Newton's method converges.
            step = 0.0
            for _ in range(NEWTON_STEPS):
                total, slope = 0.0, 0.0
                for p in range(indptr[j], indptr[j + 1]):
                    i = documents[p]
                    amount = values[p] * expected[i, k] * np.exp(step * sums[i, k])
                    total += amount
                    slope += amount * sums[i, k]
                if not (total > 0.0 and slope > 0.0):
                    step = np.inf  # nothing is left to scale
                    break
                move = (np.log(targets[j, k]) - np.log(total)) * total / slope
                step += move
                if abs(move) <= 1e-12 * (1.0 + abs(step)):
                    break
            steps[j, k] = step


@kernel
def weigh_candidates(
    indptr, documents, values, expected, mass, joint, targets, open_, precision, gains, first, last
):
    """Write into `gains` by how much each feature alone would raise the log-likelihood."""
    for j in range(first, last):
        for k in range(targets.shape[1]):
            gains[j, k] = -np.inf
            if not open_[j, k]:
                continue
            weight, step = 0.0, 0.0
            for _ in range(NEWTON_STEPS):
                slope = targets[j, k] - precision * weight
                curve = precision
                if joint:
                    inside, grown, first_moment, second = 0.0, 0.0, 0.0, 0.0
                    for p in range(indptr[j], indptr[j + 1]):
                        share = expected[documents[p], k]
                        raised = share * np.exp(weight * values[p])
                        inside += share
                        grown += raised
                        first_moment += values[p] * raised
                        second += values[p] * values[p] * raised
                    total = mass[0, k] - inside + grown
                    mean = first_moment / total
                    slope -= mass[0, k] * mean
                    curve += mass[0, k] * (second / total - mean * mean)
                else:
                    for p in range(indptr[j], indptr[j + 1]):
                        weighs = mass[documents[p], k]
                        if weighs == 0.0:
                            continue
                        share = expected[documents[p], k] / weighs
                        raised = share * np.exp(weight * values[p])
                        share = raised / (1.0 - share + raised)
                        slope -= weighs * values[p] * share
                        curve += weighs * values[p] * values[p] * share * (1.0 - share)
                if not curve > 0.0:
                    break
                step = max(-1.0, min(1.0, slope / curve))
                weight += step
                if abs(step) <= 1e-9 or abs(weight) >= LARGEST_MOVE:
                    break
            gain = weight * targets[j, k] - 0.5 * precision * weight * weight
            if joint:
                grown = 0.0
                for p in range(indptr[j], indptr[j + 1]):
                    share = expected[documents[p], k]
                    grown += share * (np.exp(weight * values[p]) - 1.0)
                gain -= mass[0, k] * np.log1p(grown / mass[0, k])
            else:
                for p in range(indptr[j], indptr[j + 1]):
                    weighs = mass[documents[p], k]
                    if weighs > 0.0:
                        share = expected[documents[p], k] / weighs
                        gain -= weighs * np.log1p(share * (np.exp(weight * values[p]) - 1.0))
            gains[j, k] = gain


@kernel
def multiply(vectors, a, b, c, out, first, last):
    """Write the products of three vectors with all vectors, lane by lane, for some chunks."""
    n_vectors, n_rows, n_lanes = vectors.shape
    for chunk in range(first, last):
        begin, end = chunk * CHUNK, min(n_rows, (chunk + 1) * CHUNK)
        for v in range(n_vectors):
            with_a, with_b, with_c = out[chunk, 0, v], out[chunk, 1, v], out[chunk, 2, v]
            for k in range(n_lanes):
                with_a[k] = with_b[k] = with_c[k] = 0.0
            for j in range(begin, end):
                row_a, row_b, row_c = vectors[a, j], vectors[b, j], vectors[c, j]
                row = vectors[v, j]
                for k in range(n_lanes):
                    with_a[k] += row_a[k] * row[k]
                    with_b[k] += row_b[k] * row[k]
                    with_c[k] += row_c[k] * row[k]


@kernel
def combine(vectors, shares, out, first, last):
    """Write the sums of all vectors, each times its share in each lane, into rows of `out`."""
    for j in range(first, last):
        row = out[j]
        for k in range(len(row)):
            row[k] = 0.0
        for v in range(len(vectors)):
            vector, share = vectors[v, j], shares[v]
            for k in range(len(row)):
                row[k] += share[k] * vector[k]
