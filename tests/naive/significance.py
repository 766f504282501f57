"""Tests of significance as their definitions say them."""

from fractions import Fraction
from math import comb


def sign_test(first, second, truth):
    """Count where exactly one is right; the probability of a count as far from half, or farther."""
    n_first = n_second = 0
    for a_row, b_row, t_row in zip(first, second, truth, strict=True):
        for a, b, t in zip(a_row, b_row, t_row, strict=True):
            n_first += a == t != b
            n_second += b == t != a
    n = n_first + n_second
    far = abs(2 * n_first - n)
    ways = sum(comb(n, k) for k in range(n + 1) if abs(2 * k - n) >= far)
    return n_first, n, float(Fraction(ways, 2**n))


def average_ranks(results):
    """The mean over sets of each system's place; equals share the mean of their places."""
    places = []
    for row in results:
        places.append([sum(other > one for other in row) + (row.count(one) + 1) / 2 for one in row])
    return [sum(column) / len(places) for column in zip(*places, strict=True)]
