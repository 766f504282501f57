"""From scores to categories: the same code for one document and many."""

import numpy as np

from thresher._kernels._jit import kernel


@kernel
def choose(scores, thresholds, at_least, at_most, chosen):
    """Write the categories whose scores exceed their thresholds, those of largest margin first.

    A margin is a score less its threshold; of equal margins, the category with the lower number
    comes first. If there are fewer than `at_least`, those of the next margins follow; if there are
    more than `at_most`, the last ones are left out. Returns how many there are, or -1 if `chosen`
    has no room for them.
    """
    n = 0
    for k in range(scores.size):
        n += np.int64(np.float64(scores[k]) > thresholds[k])
    n = min(max(n, min(at_least, scores.size)), at_most)
    if n > chosen.size:
        return -1
    n_sorted = 0  # so many of the categories met so far have the largest margins, sorted
    for k in range(scores.size if n else 0):
        margin = np.float64(scores[k]) - thresholds[k]
        rank = n_sorted
        while rank > 0:
            other = chosen[rank - 1]
            if not margin > np.float64(scores[other]) - thresholds[other]:
                break
            rank -= 1
        if rank == n:
            continue
        n_sorted = min(n_sorted + 1, n)
        for later in range(n_sorted - 1, rank, -1):
            chosen[later] = chosen[later - 1]
        chosen[rank] = k
    return n


@kernel
def choose_all(first, scores, thresholds, at_least, at_most, chosen, ends):
    """Write the categories of each document, from the `first` on, one after the other.

    `ends[i + 1]` is where the categories of document i end. Returns the next document: not all are
    done if `chosen` has no room for the categories of that one.
    """
    end = ends[first]
    for i in range(first, len(scores)):
        n = choose(scores[i], thresholds, at_least, at_most, chosen[end:])
        if n < 0:
            return i
        end += n
        ends[i + 1] = end
    return len(scores)
