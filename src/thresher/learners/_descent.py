"""Training of units document by document, by gradient descent with momentum."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from thresher.errors import ParameterError
from thresher.rows import Rows


class Descent(NamedTuple):
    """The training documents, and the options of training."""

    owner: str
    rows: Rows
    rate: float
    momentum: float
    powers: np.ndarray
    logistic: bool
    tolerance: float

    @staticmethod
    def over(
        owner: str, rows: Rows, rate: float, momentum: float, tolerance: float, logistic: bool
    ) -> Descent:
        """Return the training of documents with these options."""
        # All powers above zero in double precision; beyond them a velocity is exactly zero.
        size = 2 if momentum == 0 else int(np.log(5e-324) / np.log(momentum)) + 3
        powers = float(momentum) ** np.arange(size)
        powers[-1] = 0.0
        return Descent(owner, rows, rate, momentum, powers, logistic, tolerance)

    def train(
        self,
        order: np.ndarray,
        targets: np.ndarray,
        counts: np.ndarray,
        weights: Weights,
        epochs: int,
    ) -> float:
        """Train for up to `epochs` epochs, and return the mean squared error of the last."""
        from thresher._kernels import perceptrons as kernels

        rows = self.rows
        entries = rows.indptr, rows.indices.view(np.uint32), rows.values
        documents = kernels.Documents(*entries, order, targets, counts)
        how = (
            float(self.rate),
            float(self.momentum),
            self.powers,
            self.logistic,
            self.tolerance,
            epochs,
        )
        train = kernels.train_unit if weights.u.ndim == 1 else kernels.train_network
        arrays = weights.u, weights.v, weights.touched, *weights.outer
        weights.step, error = train(documents, kernels.Rule(*how), weights.step, *arrays)
        if np.isnan(error):
            longest = _longest(rows)
            raise ParameterError(
                f"{self.owner}: with learning_rate={self.rate:g} the weights grow beyond all "
                f"bounds, for documents are up to {longest:.3g} long. Scale them to length one "
                '(normalize="l2"), or take a learning_rate of '
                f"{(1 - self.momentum) / (1 + longest**2):.1g} or less."
            )
        return float(error)


class Weights:
    """The weights of a unit (features,) or of a hidden layer (features, units) in training."""

    def __init__(self, initial: np.ndarray, outer: np.ndarray | None = None) -> None:
        self.u, self.v = initial.astype(np.float64), np.zeros(initial.shape)
        self.touched = np.zeros(len(initial), np.int64)
        self.step = 0
        n_hidden = 0 if outer is None else len(outer) - 1
        layer = (outer, np.zeros(n_hidden + 1), np.empty(n_hidden))
        self.outer: tuple[Any, ...] = () if outer is None else layer

    def now(self, momentum: float, powers: np.ndarray) -> np.ndarray:
        """Return the weights of the first layer after the last step."""
        age = self.step - self.touched
        age[0] = 0  # the bias moves with every document
        decay = powers[np.minimum(age, len(powers) - 1)]
        decay = decay.reshape(-1, *[1] * (self.u.ndim - 1))
        return np.asarray(self.u - momentum / (1 - momentum) * self.v * decay)


def visits(importance: np.ndarray, documents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return an order in which to visit documents, and the weight of each visit, at most 1.

    A document of importance h is visited ⌈h⌉ times, evenly spread, each time with weight h/⌈h⌉.

    Examples
    --------
    >>> visits(np.array([1.5, 1.0, 0.5]), np.array([0, 1, 2]))
    (array([0, 1, 0, 2]), array([0.75, 1.  , 0.5 ]))
    """
    times = np.maximum(1, np.ceil(importance)).astype(np.int64)
    visited = np.repeat(np.arange(len(times)), times)
    number = np.arange(len(visited)) - np.repeat(np.cumsum(times) - times, times)
    position = (number + (visited + 0.5) / max(1, len(times))) / times[visited]
    return documents[visited[np.argsort(position, kind="stable")]], importance / times


def _longest(rows: Rows) -> float:
    """Return the length of the longest document."""
    documents = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
    squares = np.bincount(documents, rows.values.astype(np.float64) ** 2)
    return float(np.sqrt(squares.max(initial=0)))
