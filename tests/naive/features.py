"""Slow, obvious twins of `thresher.text.linguistics` and `thresher.features`, in plain Python."""

from __future__ import annotations

from math import floor, log, sqrt


def fold_one_by_one(linguistics, words):
    """Fold each word in a list of its own."""
    return [linguistics.fold([word])[0] for word in words]


def strengths(counts, kind, normalize=None, seen=(), smooth_idf=True, sublinear_tf=False):
    """Return the strengths of a dense table of counts; `seen` is the table that was observed."""
    table = []
    for row in counts:
        length = sum(row)
        weighed = [0.0] * len(row)
        for column, tf in enumerate(row):
            if tf == 0:
                continue
            df = sum(1 for other in seen if column < len(other) and other[column] > 0)
            weighed[column] = {
                "binary": lambda tf=tf: 1.0,
                "frequency": lambda tf=tf: float(tf),
                "sqrt": lambda tf=tf: sqrt(tf),
                "log": lambda tf=tf: 1 + log(tf),
                "tf-idf": lambda tf=tf, df=df: (
                    (1 + log(tf) if sublinear_tf else tf) * idf(len(seen), df, smooth_idf)
                ),
                "book": lambda tf=tf, length=length: float(
                    floor(10 * (1 + log(tf)) / (1 + log(max(1, length))) + 0.5)
                ),
            }[kind]()
        table.append(normalized(weighed, normalize))
    return table


def idf(n_documents, df, smooth):
    """Return the inverse document frequency; what was never seen counts as seen once."""
    if smooth:
        return log((1 + n_documents) / (1 + df)) + 1
    return log(max(n_documents, 1) / max(df, 1)) + 1


def normalized(row, how):
    """Return the row divided by its sum or by its length."""
    if how is None:
        return row
    norm = sqrt(sum(x * x for x in row)) if how == "l2" else sum(map(abs, row))
    return [x / norm for x in row] if norm else row


def contingency(table, labels, feature, category):
    """Return the numbers of documents with both, the feature only, the category only, neither."""
    cells = [0, 0, 0, 0]
    for row, categories in zip(table, labels, strict=True):
        cells[2 * (row[feature] == 0) + (category not in categories)] += 1
    return cells


def chi_square(a, b, c, d):
    """Return chi-square of a two by two table, 0 if a margin is empty."""
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    return (a + b + c + d) * (a * d - b * c) ** 2 / margins if margins else 0.0


def entropy(positive, negative):
    """Return the entropy of a division in two, in nats."""
    total = positive + negative
    return -sum(x / total * log(x / total) for x in (positive, negative) if x)


def information_gain(a, b, c, d):
    """Return by how much knowing the feature lessens the category's entropy, in nats."""
    n = a + b + c + d
    if not n:
        return 0.0
    return entropy(a + c, b + d) - (a + b) / n * entropy(a, b) - (c + d) / n * entropy(c, d)
