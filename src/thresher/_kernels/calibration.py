"""Isotonic regression: pooling adjacent violators."""

from thresher._kernels._jit import kernel


@kernel
def pool_adjacent_violators(hits, counts, ends):
    """Merge neighbours until the shares hits / counts rise; return the number of blocks.

    `hits` and `counts` are overwritten by those of the blocks, `ends` by the ends of the blocks.
    Shares are compared as products of integers, so that equal ones are always merged.
    """
    n_blocks = 0
    for i in range(len(hits)):
        n_hits, count = hits[i], counts[i]
        while n_blocks > 0 and hits[n_blocks - 1] * count >= n_hits * counts[n_blocks - 1]:
            n_blocks -= 1
            n_hits += hits[n_blocks]
            count += counts[n_blocks]
        hits[n_blocks], counts[n_blocks], ends[n_blocks] = n_hits, count, i + 1
        n_blocks += 1
    return n_blocks
