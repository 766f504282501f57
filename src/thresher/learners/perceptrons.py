"""Boosted perceptrons: linear units, each trained on the mistakes of the previous ones."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np

from thresher.errors import ModelError
from thresher.learners._descent import Category, DescentLearner, Weights, visits
from thresher.learners._memory import Training
from thresher.learners.growing import checked_mask
from thresher.learners.learner import Progress, State
from thresher.learners.scoring import check_rows, linear_scores
from thresher.parameters import ROUNDS, Choice, Flag, Number, parameter, random_seed
from thresher.rows import Rows
from thresher.state import require_tensor

Vote = Literal["outputs", "signs"]

OUTPUTS_AT_ONCE = 10_000_000  # of units with separate votes


class BoostedPerceptrons(DescentLearner):
    r"""AdaBoost over linear units trained by the delta rule, for each category separately.

    In every round t, N documents are drawn with replacement from the N training documents, with
    probabilities D, which are at first their weights. A unit NN(x) = wx + b learns the targets y
    (1 or -1) from them, document by document in the order drawn,

    .. math:: Δw ← η (y - NN(x)) x + μ Δw, \quad w ← w + Δw,

    until the mean of (y - NN(x))² in an epoch, each taken before its own step, is below
    `tolerance`, or after `epochs` epochs. Its error and its weight are computed on all documents,

    .. math:: ε = \sum_{\mathrm{sign}\,NN(x_i) ≠ y_i} D_i, \quad
              α = \frac{1}{2} \ln \frac{1 - ε}{ε}, \quad
              D_i ← D_i e^{∓α} / Z.

    The score is :math:`\sum_t α_t NN_t / \sum_t α_t`, a single weighted sum, or the same with the
    signs of :math:`NN_t`.

    Notes
    -----
    Units start from zero; an output of zero means that the document does not belong. An error of
    one half or more ends the training of a category, without the unit. An error of zero ends it
    too, because D would not change any more; it counts as 1/2N, half a document. Without any unit,
    the majority of documents decides. A category without positive documents scores -1, one without
    negative documents 1.

    Without drawing (`resample=False`), a document is visited ⌈N D⌉ times an epoch, evenly spread,
    each visit with weight N D / ⌈N D⌉. The momentum is exact, although a step costs only as much as
    the document has features. Strengths must be scaled to length one, or η be smaller: otherwise
    the weights diverge, which raises an error.

    References
    ----------
    J. O and B.-T. Zhang, Text filtering by boosting linear perceptrons, 2000; Y. Freund and
    R. Schapire, A decision-theoretic generalization of on-line learning and an application to
    boosting, 1997.

    Examples
    --------
    >>> X = np.array([[0.8, 0.6, 0], [0.6, 0, 0.8], [0, 0.6, 0.8], [0, 1, 0]])
    >>> learner = BoostedPerceptrons(max_iter=10).fit(X, [1, 1, 0, 0])
    >>> [round(float(score), 2) for score in learner.decision_function(X)]
    [0.96, 0.92, -0.91, -1.03]
    """

    name = "boosted-perceptrons"
    by_feature = ("weights",)
    constant_name = "(bias)"
    preferred_strength: ClassVar[dict[str, Any]] = {"kind": "tf-idf", "normalize": "l2"}

    vote: Vote = parameter(
        default="outputs",
        kind=Choice(get_args(Vote)),
        words="""What units contribute: their outputs, which make a single weighted sum, or their
        signs, for which every unit must be stored.""",
    )
    resample: bool = parameter(
        default=True,
        kind=Flag(),
        words="Whether documents are drawn with probabilities D; if not, D weights them.",
    )
    tolerance: float = parameter(
        default=0.01, kind=Number(0), words="The mean squared error that ends a unit's training."
    )
    epochs: int = parameter(
        default=25, kind=ROUNDS, words="The largest number of passes of a unit over its documents."
    )
    max_iter: int = parameter(default=100, kind=ROUNDS, words="Rounds for each category.")
    random_state: int | None = random_seed("The seed for drawing documents.")

    # ---- learning ----------------------------------------------------------------------------

    def _fit(self, training: Training, n_jobs: int, progress: Progress) -> None:
        """Learn all categories, each in up to `max_iter` rounds."""
        size, n = 1 + training.rows.n_columns, training.labels.n_categories
        boosted: list[Any] = [None] * n

        def fit(k: int, category: Category) -> None:
            boosted[k] = self._boost(category, size)

        self._fit_each(fit, training, n_jobs, progress)
        units, alphas, rounds = zip(*boosted, strict=True) if n else ((), (), ())
        self._weights = np.concatenate(units, axis=1) if n else np.zeros((size, 0), np.float32)
        self._alphas = np.concatenate([*alphas, np.zeros(0)])
        self._ends = np.cumsum([0, *map(len, alphas)], dtype=np.int64)
        self._rounds = np.array(rounds, np.int64)

    def _boost(self, category: Category, size: int) -> tuple[np.ndarray, np.ndarray, int]:
        """Return the units of a category as columns, their weights, and the number of rounds."""
        known, positive = category.known, category.positive
        shares = category.weights / (category.weights.sum() or 1.0)
        majority = 1.0 if len(known) and shares[positive].sum() > 0.5 else -1.0
        units, alphas = [], []
        for _ in range(self.max_iter if 0 < positive.sum() < len(known) else 0):
            unit = self._unit(category, shares, size)
            outputs = linear_scores(category.descent.rows, unit[:, None])[known, 0]
            wrong = (outputs > 0) != positive
            error = float(shares[wrong].sum())
            if error >= 0.5:
                break
            error = error or 1 / (2 * len(known))
            alphas.append(0.5 * np.log((1 - error) / error))
            units.append(unit)
            if not wrong.any():
                break
            shares = shares * np.where(wrong, np.exp(alphas[-1]), np.exp(-alphas[-1]))
            shares /= shares.sum()
            category.tick()
        if not units:
            units, alphas = [np.append(majority, np.zeros(size - 1))], [1.0]
            return np.array(units, np.float32).T, np.array(alphas), 0
        contributed = np.array(alphas) / np.sum(alphas)
        if self.vote == "outputs":
            combined = sum(alpha * unit for alpha, unit in zip(contributed, units, strict=True))
            return np.asarray(combined, np.float32)[:, None], np.ones(1), len(units)
        return np.array(units, np.float32).T, contributed, len(units)

    def _unit(self, category: Category, shares: np.ndarray, size: int) -> np.ndarray:
        """Return a unit trained on the distribution `shares` over the known documents."""
        known, counts = category.known, np.ones(len(category.signs))
        if self.resample:
            wheel, random = np.cumsum(shares), category.generator.random(len(known))
            drawn = np.searchsorted(wheel, random * wheel[-1], "right")
            order = known[np.minimum(drawn, len(known) - 1)]
        else:
            order, counts[known] = visits(shares * len(known), known)
        weights = Weights(np.zeros(size))
        category.descent.train(order, category.signs, counts, weights, self.epochs)
        return category.descent.weights_now(weights)

    # ---- scores ------------------------------------------------------------------------------

    def score_rows(self, rows: Rows, n_jobs: int = 1) -> np.ndarray:
        """Return the weighted votes of the units; above zero means that a document belongs."""
        if self.vote == "outputs":
            return super().score_rows(rows, n_jobs)
        check_rows(rows, "BoostedPerceptrons", self.n_features, False)
        scores = np.empty((rows.n_rows, self.n_categories), np.float32)
        block = max(1, OUTPUTS_AT_ONCE // max(1, len(self._alphas)))
        for start in range(0, rows.n_rows, block):
            numbers = np.arange(start, min(start + block, rows.n_rows))
            outputs = linear_scores(rows.take(numbers), self._weights, n_jobs)
            votes = np.where(outputs > 0, self._alphas, -self._alphas)
            if self.n_categories:
                scores[numbers] = np.add.reduceat(votes, self._ends[:-1], axis=1)
        return scores

    @property
    def _linear(self) -> np.ndarray | None:
        """The summed weights of all units, if their outputs are added up."""
        return self._weights if self.vote == "outputs" else None

    @property
    def n_iter_(self) -> int:
        """The largest number of rounds of a category."""
        return int(self._rounds.max(initial=0))

    def summary(self) -> dict[str, Any]:
        """Return the numbers of rounds."""
        return {"rounds": self._rounds.tolist()}

    # ---- categories and files ----------------------------------------------------------------

    def drop_categories(self, keep: np.ndarray) -> Self:
        """Remove the categories where `keep` is false; the others are renumbered in order."""
        is_retained = checked_mask(keep, self.n_categories, "category")
        lengths = np.diff(self._ends)
        units = np.repeat(is_retained, lengths)
        self._weights, self._alphas = self._weights[:, units].copy(), self._alphas[units]
        self._ends = np.cumsum([0, *lengths[is_retained]], dtype=np.int64)
        self._rounds, self.n_categories = self._rounds[is_retained], int(is_retained.sum())
        return self

    def state(self) -> State:
        """Return all units, as a JSON-able header and arrays."""
        arrays = {"weights": self._weights, "alphas": self._alphas}
        return self.header(), {**arrays, "ends": self._ends, "rounds": self._rounds}

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Return a learner from what `state` returned, checking everything."""
        learner, n_features, n = cls.from_header(header)
        ends = require_tensor(tensors, "ends", np.int64, (n + 1,), low=0)
        shape = 1 + n_features, int(ends[-1])
        learner._weights = require_tensor(tensors, "weights", np.float32, shape, finite=True)
        learner._alphas = require_tensor(tensors, "alphas", np.float64, shape[1:], finite=True)
        learner._rounds = require_tensor(tensors, "rounds", np.int64, (n,), low=0)
        n_units = np.diff(ends)
        is_right = n_units == 1 if learner.vote == "outputs" else n_units >= 1
        if ends[0] != 0 or not is_right.all():
            raise ModelError(
                "The learner's part of the model is damaged: the units of boosted-perceptrons do "
                "not fit its categories."
            )
        learner._ends = ends
        return learner
