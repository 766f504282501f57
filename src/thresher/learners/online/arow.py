"""AROW and the linear SVM: learners whose weights have variances."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np

from thresher.examples import Examples
from thresher.learners.growing import BOTH, Table
from thresher.learners.learner import Progress, Watch
from thresher.learners.online._learner import AVERAGES
from thresher.learners.online.additive import Additive
from thresher.learners.scoring import cache_aligned, run_cache_line_blocks
from thresher.parameters import Choice, Number, inherited, parameter
from thresher.rows import Labels, Rows

Prior = Literal["labels", "flat"]

SMOOTHING = 5.0  # documents that pull a feature's share in a category towards the overall mean


class AROW(Additive):
    r"""Adaptive regularisation of weights: uncertain weights move further.

    A document belongs if :math:`s = \sum_j x_j w_j > θ`. Each weight has a variance S. If, with
    y = ±1, the loss :math:`ℓ = 1 - y(s - θ)` is positive,

    .. math:: w_j \leftarrow w_j + y\,ℓ\,S_j x_j / (r + \sum_i S_i x_i^2), \qquad
              1/S_j \leftarrow 1/S_j + x_j^2 / r.

    The weights of rare words can still move far, while one correction hardly changes the weight of
    a word seen in a thousand documents: a model goes on learning without forgetting.

    Notes
    -----
    Variances start at one, or, in `fit`, from the labels: for a feature in t documents, c of them
    of the category, with σ the category's share of all such counts,

    .. math:: R = \left|\ln\frac{c + 5σ}{σ} - \ln\frac{t - c + 5(1 - σ)}{1 - σ}\right|, \qquad
              S = 0.2 + 0.8\,R / \sum_j \overline{x_j^2} R_j,

    so that the weights of informative words may move further, and the mean variance of a document's
    score is one. Features and categories that appear later start at one.
    A document of weight 2, and `positive_weight`, count as r/2.

    References
    ----------
    K. Crammer, A. Kulesza and M. Dredze, Adaptive regularization of weight vectors, 2009; here with
    the inverse of the variances updated on its diagonal.

    Examples
    --------
    >>> X = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 1, 0]])
    >>> learner = AROW(shuffle=False).fit(X, [1, 1, 0, 0])
    >>> [round(float(score), 2) for score in learner.decision_function(X)]
    [0.38, 0.61, -0.64, -0.48]
    """

    name = "arow"
    _floor: ClassVar[float] = 0.2  # of a variance from labels
    _power: ClassVar[int] = 1
    own_share: ClassVar[float] = 1.05  # of the contribution, missing in a held-out score
    _tracked = np.zeros(0, np.int64), np.zeros((0, 0), np.float32)  # rows, and contributions

    prior: Prior = parameter(
        default="labels",
        kind=Choice(get_args(Prior)),
        words='Whether `fit` starts from variances derived from the labels, or all one ("flat").',
    )
    regularization: float = parameter(
        default=1.0,
        kind=Number(0, 1e6, open_low=True),
        words="r; the larger, the less each document moves.",
    )
    max_iter: int = inherited(default=3)

    def _layout(self) -> dict[str, Table]:
        return self._matrix(0.0) | {"variances": Table(BOTH, np.float32, 1.0, 0)}

    def _pass(self, documents: Any) -> tuple[Callable[..., None], Any, Any]:
        from thresher._kernels import arow as kernels

        # At the margin itself there is no loss, but the kernels see a mistake.
        threshold, margin, average = np.float32(self.threshold), np.float32(1), self.average
        low = np.nextafter(threshold - margin, np.float32("inf"))
        high = np.nextafter(threshold + margin, np.float32("-inf"))
        bounds = AVERAGES.index(average), low, high, threshold, np.float32(self.regularization)
        return kernels.arow_epoch, self._model(), kernels.ArowRule(*bounds)

    def _model(self) -> Any:
        """Return the arrays as the kernels take them, with their working memory."""
        from thresher._kernels.arow import ArowWeights

        n = self.n_categories
        spread, push = (cache_aligned([n], np.float32)[:n] for _ in range(2))
        tracked_rows, tracked = self._tracked
        scratch = {"spread": spread, "push": push}
        return self._arrays(ArowWeights, tracked_rows=tracked_rows, tracked=tracked, **scratch)

    @contextmanager
    def tracking(self, indices: np.ndarray, n_categories: int) -> Iterator[np.ndarray]:
        """Provide an array that collects what documents contribute to their own scores.

        A score less this contribution is close to that of a learner that never saw the document.

        Parameters
        ----------
        indices : array of int
            For each document of the examples or rows that are learned in the context, its row in
            the array, or -1 for none.
        n_categories : int
            The number of columns.
        """
        contributions = np.zeros((int(indices.max(initial=-1)) + 1, n_categories), np.float32)
        self._tracked = np.asarray(indices, np.int64), contributions
        try:
            yield contributions
        finally:
            del self._tracked

    def _learn_block(
        self, rows: Rows, labels: Labels, order: np.ndarray, numbers: np.ndarray, n_jobs: int
    ) -> np.ndarray:
        indices, contributions = self._tracked
        if not len(indices):
            return self._learn_untracked(rows, labels, order, numbers, n_jobs)
        of_block = np.full(rows.n_rows, -1)
        of_block[order] = indices[numbers]
        self._tracked = of_block, contributions
        try:
            return self._learn_untracked(rows, labels, order, numbers, n_jobs)
        finally:
            self._tracked = indices, contributions

    def _learn_untracked(
        self, rows: Rows, labels: Labels, order: np.ndarray, numbers: np.ndarray, n_jobs: int
    ) -> np.ndarray:
        return super()._learn_block(rows, labels, order, numbers, n_jobs)

    def _begin_passes(self, examples: Examples, n_jobs: int) -> None:
        if self.prior == "labels":
            self._start_from_labels(examples, n_jobs)

    def start_late(self, examples: Examples, first: int) -> None:
        """Set the variances of new categories, from number `first` on, from their labels."""
        if self.prior == "labels":
            self._start_from_labels(examples, 1, first)

    def _start_from_labels(self, examples: Examples, n_jobs: int, first: int = 0) -> None:
        """Set variances by how much each feature tells about each category."""
        from thresher._kernels import arow as kernels

        frequency, squares = np.zeros((2, self.n_features))
        counts, n_documents = self._tables.buffers["variances"], 0.0
        counts[:, first : self.n_categories] = 0
        for rows, labels in examples:
            weights = np.ones(rows.n_rows) if labels.weights is None else labels.weights
            strengths, _ = self.strengths(rows, training=True)
            words = strengths.indptr, strengths.indices.view(np.uint32), strengths.values, weights
            kernels.count_features(*words, frequency, squares)
            categories = labels.indptr, labels.indices.view(np.uint32)
            count = partial(kernels.count_labels, *words, *categories, counts)
            run_cache_line_blocks(count, self.n_categories, n_jobs, first)
            n_documents += weights.sum()
        squares /= max(n_documents, 1.0)
        # Categories with no documents or with all documents get finite shares.
        inside, total = np.zeros(self.n_categories), max(frequency.sum(), 2.0)
        inside[first:] = self._tables["variances"][1:, first:].sum(0, dtype=np.float64)
        shares = np.clip(inside, 1.0, total - 1.0) / total
        start = partial(
            kernels.starting_variances, counts, frequency, squares, shares,
            SMOOTHING, self._power, self._floor,
        )  # fmt: skip
        run_cache_line_blocks(start, self.n_categories, n_jobs, first)

    def _merge_columns(self, source: int, target: int) -> None:
        """Add the weights as the other learners do, and their variances."""
        super()._merge_columns(source, target)
        variances = self._tables["variances"]
        variances[:, target] += variances[:, source]


class LinearSVM(AROW):
    r"""A linear support vector machine, by dual coordinate descent; after `fit`, it learns as AROW.

    Minimises :math:`\frac12\sum_j w_j^2/S_j + C\sum_i \max(0, 1 - y_i s_i)^2` for each category,
    all at once, in random order. A document's dual variable α starts at zero; each visit sets

    .. math:: α' = \max\left(0, α - \frac{y s - 1 + α/2C}{\sum_j S_j x_j^2 + 1/2C}\right), \qquad
              w_j \leftarrow w_j + (α' - α)\,y\,S_j x_j.

    Notes
    -----
    The variances S are fixed: one, or from the labels, as for `AROW` but with R² for R and
    0.5 for both 0.2 and 0.8. After `fit`, :math:`1/S` grows by :math:`\sum x^2` over the documents
    with α > 0, and later documents are learned as AROW learns them.
    A document of weight 2, and `positive_weight`, count as 2C.

    References
    ----------
    C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. Keerthi and S. Sundararajan, A dual coordinate descent
    method for large-scale linear SVM, 2008.

    Examples
    --------
    >>> X = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 1, 0]])
    >>> learner = LinearSVM(shuffle=False).fit(X, [1, 1, 0, 0])
    >>> [round(float(score), 2) for score in learner.decision_function(X)]
    [0.62, 0.89, -0.77, -0.62]
    """

    name = "linear-svm"
    _floor = 0.5
    _power = 2
    own_share = 0.6  # other documents would partly compensate; measured by cross-validation
    threshold = 0.0
    average = None

    C: float = parameter(
        default=1.0,
        kind=Number(0, 1e6, open_low=True),
        words="The cost of a document on the wrong side of its margin.",
    )
    max_iter: int = inherited(default=5)
    always_on: float = inherited(default=1.0)

    def fit_rows(
        self, examples: Examples, *, n_jobs: int = 1, progress: Progress = None, watch: Watch = None
    ) -> Self:
        """Learn from scratch, in `max_iter` passes."""
        self._alpha = np.zeros((len(examples), examples.n_categories), np.float32)
        try:
            super().fit_rows(examples, n_jobs=n_jobs, progress=progress, watch=watch)
            self._shrink_variances(examples, n_jobs)
        finally:
            del self._alpha
        return self

    def _learn_untracked(
        self, rows: Rows, labels: Labels, order: np.ndarray, numbers: np.ndarray, n_jobs: int
    ) -> np.ndarray:
        from thresher._kernels.arow import dual_epoch

        documents, numbers = self._weighted(rows, labels, order, numbers)
        tally = self._tally()
        dual = partial(dual_epoch, documents, numbers, self._alpha, self.C, self._model(), tally)
        run_cache_line_blocks(dual, self.n_categories, n_jobs)
        self._note_seen(rows, documents.order)
        self._pass_mistakes += int(tally.mistakes.sum())
        return np.asarray(tally.mistakes)

    def _shrink_variances(self, examples: Examples, n_jobs: int) -> None:
        """Set the variances to those of an AROW that has learned the support documents."""
        from thresher._kernels.arow import dual_variances

        n_done, r = 0, np.float32(self.regularization)
        for rows, labels in examples:
            numbers = np.arange(n_done, n_done + rows.n_rows)
            documents, numbers = self._weighted(rows, labels, np.arange(rows.n_rows), numbers)
            arguments = documents, numbers, self._alpha, r, self._model(), self._tally()
            run_cache_line_blocks(partial(dual_variances, *arguments), self.n_categories, n_jobs)
            n_done += rows.n_rows

    def _weighted(
        self, rows: Rows, labels: Labels, order: np.ndarray, numbers: np.ndarray
    ) -> tuple[Any, np.ndarray]:
        """Return the documents of nonzero weight, for the kernels, and their numbers among all."""
        weights = self._checked(rows, labels, labels.weights)
        counts = weights[order] > 0
        return self._documents(rows, labels, order[counts], weights), numbers[counts]
