"""How probable chance makes a statistic: Student's t and the fair coin, by the incomplete beta."""

from __future__ import annotations

from itertools import count
from math import exp, inf, lgamma, log, log1p

__all__ = ["coin_p_value", "incomplete_beta", "student_p_value"]

_TINY = 1e-300  # stands for a denominator of zero


def student_p_value(t: float, degrees: int) -> float:
    """Return how probable it is that Student's t is as far from zero, on either side, or farther.

    Examples
    --------
    >>> student_p_value(2.776445, 4)  # the value in every table
    0.05000
    """
    if abs(t) == inf:
        return 0.0
    square, whole = t * t, degrees + t * t
    return incomplete_beta(degrees / 2, 0.5, degrees / whole, square / whole)


def coin_p_value(heads: int, n: int) -> float:
    """Return how probable it is that a fair coin is as far from half heads, or farther.

    Examples
    --------
    >>> coin_p_value(8, 8)
    0.0078125
    """
    fewer = min(heads, n - heads)
    if 2 * fewer >= n - 1:  # half, or as near to it as an odd number comes
        return 1.0
    return 2 * incomplete_beta(n - fewer, fewer + 1, 0.5, 0.5)


def incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """Return the regularized incomplete beta function of `x`, `rest` being 1 - x, given exactly.

    Lentz's evaluation of its continued fraction, on the side of the mean where it converges fast.

    Examples
    --------
    >>> incomplete_beta(2, 3, 0.4, 0.6)
    0.5248
    """
    if x <= 0 or rest <= 0:
        return float(rest <= 0)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, rest, x)
    log_x, log_rest = (log(x), log1p(-x)) if x < rest else (log1p(-rest), log(rest))
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log_x + b * log_rest) / a
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1) or _TINY)
    fraction = d
    for m in count(1):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        before = fraction
        for term in (even, odd):
            d = 1 / (1 + term * d or _TINY)
            c = 1 + term / c or _TINY
            fraction *= c * d
        if abs(fraction - before) <= 1e-16 * abs(fraction):
            break
    return front * fraction
