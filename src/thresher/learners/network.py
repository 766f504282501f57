"""The multilayer perceptron: a small network for each category."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np

from thresher.learners._descent import Category, DescentLearner, Weights, visits
from thresher.learners._memory import Training
from thresher.learners.growing import checked_mask
from thresher.learners.learner import Progress, State
from thresher.learners.scoring import ProbabilisticMixin, check_rows, linear_scores
from thresher.parameters import ROUNDS, Choice, Number, Whole, parameter, random_seed
from thresher.rows import Rows
from thresher.state import require_tensor

Output = Literal["linear", "logistic"]


class MultilayerPerceptron(ProbabilisticMixin, DescentLearner):
    r"""A network with one hidden layer, or none, for each category separately.

    The output for a document x is

    .. math:: o(x) = \sum_h a_h \tanh(w_h x + b_h) + a_0,

    whose target is 1 for documents of the category and -1 for others. Without hidden layer it is
    wx + b. Documents are visited singly, in another random order each epoch, and every weight w
    moves down the gradient of (y - o)²/2 and further in the direction of its last step,

    .. math:: Δw ← η (y - o) \frac{∂o}{∂w} + μ Δw, \quad w ← w + Δw,

    until the mean of (y - o)² in an epoch, each taken before its own step, is below `tolerance`, or
    after `max_iter` epochs. With a logistic output, o is the log-odds of the category: the output
    is 1/(1 + e⁻ᵒ), y is 1 or 0, and the gradient is that of the cross-entropy.

    Notes
    -----
    Initial weights, including biases, are drawn uniformly from ±`initial_range`; without hidden
    layer all are zero. A document of weight h is visited ⌈h⌉ times an epoch, each visit with weight
    h/⌈h⌉. A category without positive documents scores -1, one without negative documents 1. The
    momentum is exact, although a step only touches the features of the document. Strengths must be
    scaled to length one, or η be smaller: otherwise the weights diverge, which raises an error, or
    the hidden units saturate.

    References
    ----------
    As a rival of boosting: J. O and B.-T. Zhang, Text filtering by boosting linear perceptrons,
    2000; logistic, on few features: E. Wiener, J. Pedersen and A. Weigend, A neural network
    approach to topic spotting, 1995.

    Examples
    --------
    >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> learner = MultilayerPerceptron(initial_range=2.0).fit(X, [0, 1, 1, 0])
    >>> learner.predict(X).tolist(), learner.n_iter_
    ([0, 1, 1, 0], 44)
    """

    name = "multilayer-perceptron"
    by_feature = ("inner",)
    constant_name = "(bias)"
    preferred_strength: ClassVar[dict[str, Any]] = {"kind": "tf-idf", "normalize": "l2"}

    hidden: int = parameter(
        default=5, kind=Whole(0, 10_000), words="Units of the hidden layer; 0 for none."
    )
    output: Output = parameter(
        default="linear",
        kind=Choice(get_args(Output)),
        words="""The target of the output: 1 or -1, with squared errors, or a probability, with
        cross-entropy.""",
    )
    tolerance: float = parameter(
        default=0.005, kind=Number(0), words="The mean squared error that ends the training."
    )
    max_iter: int = parameter(default=500, kind=ROUNDS, words="Epochs, at most.")
    initial_range: float = parameter(
        default=0.1, kind=Number(0, 100, open_low=True), words="Initial weights are within ± this."
    )
    random_state: int | None = random_seed(
        "The seed of the initial weights and of the order of documents."
    )

    @property
    def weight_bytes(self) -> int:
        """The memory that each pair of feature and category takes."""
        return 4 * max(1, self.hidden)

    # ---- learning ----------------------------------------------------------------------------

    def _fit(self, training: Training, n_jobs: int, progress: Progress) -> None:
        """Learn all categories, each in up to `max_iter` epochs."""
        size, n = 1 + training.rows.n_columns, training.labels.n_categories
        width = max(1, self.hidden)
        inner, outer = np.zeros((size, n * width), np.float32), np.zeros((n, 1 + self.hidden))
        epochs = np.zeros(n, np.int64)

        def fit(k: int, category: Category) -> None:
            positive = category.positive
            if 0 < positive.sum() < len(positive):
                columns = slice(k * width, (k + 1) * width)
                inner[:, columns], outer[k], epochs[k] = self._network(category, size)
            else:
                bias = outer[k, -1:] if self.hidden else inner[0, k : k + 1]
                bias[:] = 1.0 if positive.any() else -1.0

        self._fit_each(fit, training, n_jobs, progress, self.output == "logistic")
        self._inner, self._outer, self._epochs = inner, outer, epochs

    def _network(self, category: Category, size: int) -> tuple[np.ndarray, np.ndarray, int]:
        """Return the first layer, the weights of the output, and the epochs of one network."""
        descent, generator, signs = category.descent, category.generator, category.signs
        targets = (signs > 0).astype(float) if descent.logistic else signs
        counts = np.ones(len(signs))
        order, counts[category.known] = visits(category.weights, category.known)
        network = Weights(np.zeros(size))
        if self.hidden:
            first, outer = (
                generator.uniform(-self.initial_range, self.initial_range, shape)
                for shape in ((size, self.hidden), 1 + self.hidden)
            )
            network = Weights(first, outer)
        epoch = 0
        for epoch in range(1, 1 + self.max_iter):  # noqa: B007
            shuffled = generator.permutation(order)
            if descent.train(shuffled, targets, counts, network, 1) < self.tolerance:
                break
            category.tick()
        inner = descent.weights_now(network).reshape(size, -1)
        return inner, network.outer[0] if self.hidden else np.zeros(1), epoch

    # ---- scores ------------------------------------------------------------------------------

    def score_rows(self, rows: Rows, n_jobs: int = 1) -> np.ndarray:
        """Return the outputs, log-odds if logistic; above zero means that a document belongs."""
        if not self.hidden:
            return super().score_rows(rows, n_jobs)
        check_rows(rows, "MultilayerPerceptron", self.n_features, False)
        layer = np.tanh(linear_scores(rows, self._inner, n_jobs))
        layer = layer.reshape(rows.n_rows, self.n_categories, self.hidden)
        outputs = np.einsum("nkh,kh->nk", layer, self._outer[:, :-1]) + self._outer[:, -1]
        return np.asarray(outputs, np.float32)

    @property
    def _linear(self) -> np.ndarray | None:
        """The weights, if there is no hidden layer."""
        return None if self.hidden else self._inner

    @property
    def has_probabilities(self) -> bool:  # type: ignore[override]
        """Whether scores stand for probabilities."""
        return self.output == "logistic"

    @property
    def predict_proba(self) -> Any:
        """Return the probability of each class; only a logistic output has them."""
        if not self.has_probabilities:
            raise AttributeError("MultilayerPerceptron has probabilities with output='logistic'.")
        return super().predict_proba

    @property
    def n_iter_(self) -> int:
        """The largest number of epochs of a category."""
        return int(self._epochs.max(initial=0))

    def summary(self) -> dict[str, Any]:
        """Return the numbers of epochs."""
        return {"epochs": self._epochs.tolist()}

    # ---- categories and files ----------------------------------------------------------------

    def drop_categories(self, keep: np.ndarray) -> Self:
        """Remove the categories where `keep` is false; the others are renumbered in order."""
        is_retained = checked_mask(keep, self.n_categories, "category")
        self._inner = self._inner[:, np.repeat(is_retained, max(1, self.hidden))].copy()
        self._outer, self._epochs = self._outer[is_retained], self._epochs[is_retained]
        self.n_categories = int(is_retained.sum())
        return self

    def state(self) -> State:
        """Return all weights, as a JSON-able header and arrays."""
        return self.header(), {"inner": self._inner, "outer": self._outer, "epochs": self._epochs}

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Return a learner from what `state` returned, checking everything."""
        learner, n_features, n = cls.from_header(header)
        shape = 1 + n_features, n * max(1, learner.hidden)
        learner._inner = require_tensor(tensors, "inner", np.float32, shape, finite=True)
        outer = n, 1 + learner.hidden
        learner._outer = require_tensor(tensors, "outer", np.float64, outer, finite=True)
        learner._epochs = require_tensor(tensors, "epochs", np.int64, (n,), low=0)
        return learner
