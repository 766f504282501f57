"""Training of units document by document, by gradient descent with momentum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from thresher.errors import ParameterError
from thresher.learners._columns import squares_of
from thresher.learners._memory import MemoryLearner, Training, each_in_rounds, signs_of
from thresher.learners.learner import Progress
from thresher.parameters import Number, parameter
from thresher.rows import Rows


class DescentLearner(MemoryLearner):
    """The base of learners that train linear units, or small networks, for each category."""

    learning_rate: float = parameter(
        default=0.2, kind=Number(0, 10, open_low=True), words="η, the size of a step."
    )
    momentum: float = parameter(
        default=0.5, kind=Number(0, 0.99), words="μ, the share of a step repeated in the next."
    )

    tolerance: float  # parameters of the subclasses
    max_iter: int
    random_state: int | None

    def _fit_each(
        self,
        fit: Callable[[int, Category], None],
        training: Training,
        n_jobs: int,
        progress: Progress,
        logistic: bool = False,
    ) -> None:
        """Call `fit` with the number and the documents of each category, in threads."""
        rows, signs = training.rows, signs_of(training.labels)
        descent, n = Descent(self, rows, logistic), signs.shape[1]
        # One seed per category, so that the order of threads does not matter.
        seeds = np.random.SeedSequence(self.random_state).spawn(n)

        def work(k: int, tick: Callable[[], None]) -> None:
            known = np.flatnonzero(signs[:, k])
            of_category = signs[:, k].astype(np.float64), known, training.weights[known]
            fit(k, Category(descent, *of_category, np.random.default_rng(seeds[k]), tick))

        each_in_rounds(work, [self.max_iter] * n, n_jobs, progress, rows.n_rows)


class Category(NamedTuple):
    """The training of one category."""

    descent: Descent
    signs: np.ndarray  # of all documents: 1 belongs, -1 does not, 0 unknown
    known: np.ndarray  # the documents whose sign is known
    weights: np.ndarray  # of these
    generator: np.random.Generator
    tick: Callable[[], None]  # called after each round

    @property
    def positive(self) -> np.ndarray:
        """Which of the known documents belong."""
        return np.asarray(self.signs[self.known] > 0)


class Descent:
    """The training documents, and the options of training."""

    def __init__(self, options: DescentLearner, rows: Rows, logistic: bool) -> None:
        self.options, self.rows, self.logistic = options, rows, logistic
        momentum = options.momentum
        # All powers above zero in double precision; beyond them a velocity is exactly zero.
        size = 2 if momentum == 0 else int(np.log(5e-324) / np.log(momentum)) + 3
        self.powers = float(momentum) ** np.arange(size)
        self.powers[-1] = 0.0

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

        rows, rate, momentum = self.rows, self.options.learning_rate, self.options.momentum
        entries = rows.indptr, rows.indices.view(np.uint32), rows.values
        documents = kernels.Documents(*entries, order, targets, counts)
        ends = float(self.options.tolerance), epochs
        rule = kernels.Rule(float(rate), float(momentum), self.powers, self.logistic, *ends)
        train = kernels.train_unit if weights.u.ndim == 1 else kernels.train_network
        arrays = weights.u, weights.v, weights.touched, *weights.outer
        weights.step, error = train(documents, rule, weights.step, *arrays)
        if np.isnan(error):
            longest = float(np.sqrt(squares_of(rows).max(initial=0)))
            raise ParameterError(
                f"{type(self.options).__name__}: with learning_rate={rate:g} the weights grow "
                f"beyond all bounds, for documents are up to {longest:.3g} long. Scale them to "
                'length one (normalize="l2"), or take a learning_rate of '
                f"{(1 - momentum) / (1 + longest**2):.1g} or less."
            )
        return float(error)

    def weights_now(self, weights: Weights) -> np.ndarray:
        """Return the weights of the first layer after the last step."""
        age = weights.step - weights.touched
        age[0] = 0  # the bias moves with every document
        decay = self.powers[np.minimum(age, len(self.powers) - 1)]
        decay = decay.reshape(-1, *[1] * (weights.u.ndim - 1))
        momentum = self.options.momentum
        return np.asarray(weights.u - momentum / (1 - momentum) * weights.v * decay)


class Weights:
    """The weights of a unit (features,) or of a hidden layer (features, units) in training."""

    def __init__(self, initial: np.ndarray, outer: np.ndarray | None = None) -> None:
        self.u, self.v = initial.astype(np.float64), np.zeros(initial.shape)
        self.touched = np.zeros(len(initial), np.int64)
        self.step = 0
        self.outer: tuple[Any, ...] = ()
        if outer is not None:
            self.outer = outer, np.zeros(len(outer)), np.empty(len(outer) - 1)


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
