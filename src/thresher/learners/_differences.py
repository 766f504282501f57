"""The value difference metric: the distance of two values of a feature, by their categories."""

from __future__ import annotations

import numpy as np

from thresher.errors import ModelError
from thresher.rows import Labels, Rows

MOST_VALUES = 64  # of a feature, a missing value included


class Differences:
    """The probability of each category given each value of each feature.

    Values are numbered for each feature; 0 stands for a missing value. A value never seen has the
    code -1 and is uninformative: the categories are as probable as among all documents.

    Parameters
    ----------
    rows, labels : Rows, Labels
        The documents; columns ascend.
    weights : array
        The weight of each document.

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
        value_rows = (np.arange(len(columns)) + columns + 1)[numbers]  # per entry
        self.learned_codes = (value_rows - self.firsts[rows.indices]).astype(np.float32)
        self.probable = self._probable(rows, labels, weights, value_rows)
        missing = np.repeat(self.firsts[:-1], counts)
        self.apart = np.abs(self.probable - self.probable[missing]).sum(1)
        self.learned_sizes = self.sizes(rows, self.learned_codes)

    def _probable(
        self, rows: Rows, labels: Labels, weights: np.ndarray, value_rows: np.ndarray
    ) -> np.ndarray:
        """Return P(c|v), a row per value; `prior` becomes the P(c) of all documents."""
        n, n_categories = int(self.firsts[-1]), labels.n_categories
        documents = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
        pairs = labels.take(documents)
        repeats = np.diff(pairs.indptr)
        cells = np.repeat(value_rows, repeats) * n_categories + pairs.indices
        sums = np.bincount(cells, np.repeat(weights[documents], repeats), n * n_categories)
        sums = sums.reshape(n, n_categories)
        totals = np.bincount(value_rows, weights[documents], n)
        total = weights.sum()
        label_weights = np.repeat(weights, np.diff(labels.indptr))
        self.prior = np.bincount(labels.indices, label_weights, n_categories) / max(total, 1.0e-300)
        if n:
            missing = self.firsts[:-1]  # the documents with no other value of the feature
            sums[missing] = np.maximum(self.prior * total - np.add.reduceat(sums, missing), 0.0)
            totals[missing] = total - np.add.reduceat(totals, missing)
        unseen = totals <= 1e-9 * total
        totals[unseen] = 1.0
        sums[unseen] = self.prior
        return np.asarray(sums / totals[:, None])

    @property
    def tables(self) -> tuple[np.ndarray, ...]:
        """The arrays for the kernels."""
        return self.firsts, self.probable, self.apart, self.prior

    def codes(self, rows: Rows) -> np.ndarray:
        """Return the number of each value, or -1 if it was never seen."""
        keys = _keys(rows)
        numbers = np.minimum(np.searchsorted(self._keys, keys), max(len(self._keys) - 1, 0))
        if not len(self._keys):
            return np.full(len(keys), -1, np.float32)
        codes = numbers + rows.indices.astype(np.int64) + 1 - self.firsts[rows.indices]
        return np.where(self._keys[numbers] == keys, codes, -1).astype(np.float32)

    def sizes(self, rows: Rows, codes: np.ndarray) -> np.ndarray:
        """Return the distances of documents from an empty one."""
        coded = rows._replace(values=codes)
        apart = np.abs(self._of(coded) - self._of(coded._replace(values=0 * codes))).sum(1)
        documents = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
        return np.bincount(documents, apart, rows.n_rows)

    def saved(self, coded: Rows, stored: Rows) -> np.ndarray:
        """Return by how much each shared entry, given by its codes, reduces the distance."""
        missing = self._of(coded._replace(values=0 * coded.values))
        p, q = self._of(coded), self._of(stored)
        savings = np.abs(p - missing) + np.abs(q - missing) - np.abs(p - q)
        return np.asarray(savings.sum(1))

    def _of(self, coded: Rows) -> np.ndarray:
        """Return P(c|v) for each entry, given by its code."""
        value_rows = self.firsts[coded.indices] + coded.values.astype(np.int64)
        known = self.probable[value_rows]
        return np.asarray(np.where(coded.values[:, None] < 0, self.prior, known))


def _keys(rows: Rows) -> np.ndarray:
    """Return a unique number for each pair of a column and a value."""
    bits = np.ascontiguousarray(rows.values, np.float32).view(np.uint32)
    return np.asarray((rows.indices.astype(np.uint64) << np.uint64(32)) | bits)
