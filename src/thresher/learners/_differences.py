"""The value difference metric: how far two values of a feature are apart, by their categories."""

from __future__ import annotations

import numpy as np

from thresher.errors import ModelError
from thresher.rows import Labels, Rows

MOST_VALUES = 64  # of a feature, none included


class Differences:
    """How probable each category is with each value of each feature.

    Values are numbered for each feature, 0 being that of the documents without it. One that was
    never seen, the code -1, is taken to say nothing: the categories are as probable as among all.

    Parameters
    ----------
    rows, labels : Rows, Labels
        The documents; columns ascend.
    weights : array
        How much each document counts.

    Examples
    --------
    >>> rows = Rows(np.array([0, 1, 1]), np.array([0], np.int32), np.ones(1, np.float32), 1)
    >>> differences = Differences(rows, Labels.from_lists([[0], [1]], 2), np.ones(2))
    >>> differences.apart.tolist(), differences.codes(rows).tolist()
    ([0.0, 2.0], [1.0])
    """

    def __init__(self, rows: Rows, labels: Labels, weights: np.ndarray) -> None:
        self._keys, numbers = np.unique(_keys(rows), return_inverse=True)
        columns = (self._keys >> np.uint64(32)).astype(np.int64)
        counts = 1 + np.bincount(columns, minlength=rows.n_columns)
        if counts.max(initial=0) > MOST_VALUES:
            raise ModelError(
                f"The value difference metric takes up to {MOST_VALUES} values of a feature, and "
                f"feature {counts.argmax()} has {counts.max()}; use whole strengths, such as "
                'those of Strength("book").'
            )
        self.firsts = np.append(0, np.cumsum(counts))
        places = (np.arange(len(columns)) + columns + 1)[numbers]  # each value's row, per entry
        self.learned_codes = (places - self.firsts[rows.indices]).astype(np.float32)
        self.probable = self._probable(rows, labels, weights, places)
        none = np.repeat(self.firsts[:-1], counts)
        self.apart = np.abs(self.probable - self.probable[none]).sum(1)
        self.learned_sizes = self.sizes(rows, self.learned_codes)

    def _probable(
        self, rows: Rows, labels: Labels, weights: np.ndarray, places: np.ndarray
    ) -> np.ndarray:
        """Return P(c|v), a row per value; note the P(c) of all documents."""
        n, n_categories = int(self.firsts[-1]), labels.n_categories
        documents = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
        pairs = labels.take(documents)
        repeats = np.diff(pairs.indptr)
        cells = np.repeat(places, repeats) * n_categories + pairs.indices
        sums = np.bincount(cells, np.repeat(weights[documents], repeats), n * n_categories)
        sums = sums.reshape(n, n_categories)
        totals = np.bincount(places, weights[documents], n)
        everyone = weights.sum()
        own = np.repeat(weights, np.diff(labels.indptr))
        self.prior = np.bincount(labels.indices, own, n_categories) / max(everyone, 1.0e-300)
        if n:
            none = self.firsts[:-1]  # what is not in any other value of the feature
            sums[none] = np.maximum(self.prior * everyone - np.add.reduceat(sums, none), 0.0)
            totals[none] = everyone - np.add.reduceat(totals, none)
        unseen = totals <= 1e-9 * everyone
        totals[unseen] = 1.0
        sums[unseen] = self.prior
        return np.asarray(sums / totals[:, None])

    @property
    def tables(self) -> tuple[np.ndarray, ...]:
        """What the kernels take."""
        return self.firsts, self.probable, self.apart, self.prior

    def codes(self, rows: Rows) -> np.ndarray:
        """Return the number of each value, -1 where it was never seen."""
        keys = _keys(rows)
        numbers = np.minimum(np.searchsorted(self._keys, keys), max(len(self._keys) - 1, 0))
        if not len(self._keys):
            return np.full(len(keys), -1, np.float32)
        places = numbers + rows.indices.astype(np.int64) + 1 - self.firsts[rows.indices]
        return np.where(self._keys[numbers] == keys, places, -1).astype(np.float32)

    def sizes(self, rows: Rows, codes: np.ndarray) -> np.ndarray:
        """Return how far documents are from one without any feature."""
        coded = rows._replace(values=codes)
        apart = np.abs(self._of(coded) - self._of(coded._replace(values=0 * codes))).sum(1)
        documents = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
        return np.bincount(documents, apart, rows.n_rows)

    def saved(self, coded: Rows, others: Rows) -> np.ndarray:
        """Return how much nearer each entry, given by its code, brings two documents."""
        none = self._of(coded._replace(values=0 * coded.values))
        one, other = self._of(coded), self._of(others)
        gaps = np.abs(one - none) + np.abs(other - none) - np.abs(one - other)
        return np.asarray(gaps.sum(1))

    def _of(self, coded: Rows) -> np.ndarray:
        """Return P(c|v) for each entry, given by its code."""
        places = self.firsts[coded.indices] + coded.values.astype(np.int64)
        return np.asarray(np.where(coded.values[:, None] < 0, self.prior, self.probable[places]))


def _keys(rows: Rows) -> np.ndarray:
    """Return a number for each pair of a column and a value."""
    bits = np.ascontiguousarray(rows.values, np.float32).view(np.uint32)
    return np.asarray((rows.indices.astype(np.uint64) << np.uint64(32)) | bits)
