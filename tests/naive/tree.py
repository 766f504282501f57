"""Decision trees, slowly: every test on every value that occurs, node by node."""

from math import log

TIE = 1e-13


def disorder(p, m):
    return (p + m) * log(p + m) - p * log(p) - m * log(m) if p > 0 and m > 0 else 0.0


def gain(rows, column, threshold):
    """The information gain of a test in nats; rows are (values, positive, weight)."""

    def counts(part):
        p = sum(weight for _, positive, weight in part if positive)
        return p, sum(weight for _, _, weight in part) - p

    right = [row for row in rows if row[0][column] >= threshold]
    (p, m), (right_p, right_m) = counts(rows), counts(right)
    left = disorder(p - right_p, m - right_m)
    return max(0.0, disorder(p, m) - disorder(right_p, right_m) - left) / (p + m)


def grow(rows, max_depth=None, min_samples_split=2, min_samples_leaf=1, min_gain=0.0, depth=0):
    """A node as (n, p) if it is a leaf, else as (n, p, column, threshold, left, right)."""
    n, p = sum(row[2] for row in rows), sum(row[2] for row in rows if row[1])
    if p in (0, n) or depth == max_depth or len(rows) < min_samples_split:
        return n, p
    best, chosen = -1.0, None
    for column in range(len(rows[0][0])):
        for threshold in sorted({row[0][column] for row in rows})[1:]:
            n_right = sum(row[0][column] >= threshold for row in rows)
            if min(n_right, len(rows) - n_right) >= min_samples_leaf:
                one = gain(rows, column, threshold)
                if one > best + TIE:
                    best, chosen = one, (column, threshold)
    if chosen is None or best < min_gain:
        return n, p
    column, threshold = chosen
    sides = [[row for row in rows if (row[0][column] >= threshold) == side] for side in (0, 1)]
    limits = max_depth, min_samples_split, min_samples_leaf, min_gain, depth + 1
    return n, p, column, threshold, *(grow(side, *limits) for side in sides)
