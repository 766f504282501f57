"""Boosting: many rules of one feature each, every one made for what those before it got wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, CancelledError, ThreadPoolExecutor, wait
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from thresher.errors import ModelError, ParameterError
from thresher.examples import Examples
from thresher.learners._weighing import check_labels, check_rows, checked_sample_weight, in_blocks
from thresher.learners.learner import Learner, Progress, State, Watch
from thresher.parameters import Choice, Flag, Number, Whole, parameter
from thresher.rows import Labels, Rows
from thresher.storage import require_field, require_tensor

__all__ = ["Rule", "StumpBoosting"]

LEAST = 1e-9  # a stump whose |r| is no higher knows nothing
REFRESHED = 16  # rounds after which what words add up to is added up again: roundings pile up
PERFECT = 1 - 1e-10  # one whose |r| is higher leaves nothing to learn


class Rule(NamedTuple):
    """One condition on one feature, and what it says.

    Attributes
    ----------
    column : int
        The feature.
    threshold : float or None
        The rule holds where the feature's value is at least that; None: where the feature is there.
    share : float
        What is added to the score where the rule holds, and taken away where it does not.
    """

    column: int
    threshold: float | None
    share: float


class StumpBoosting(Learner):
    r"""AdaBoost.MH or AdaBoost.MR over decision stumps, for each category by itself.

    In every round, the stump h is chosen that agrees most with the labels y (1 or -1) of the
    documents i, each counting by its weight D,

    .. math:: r = \sum_i D_i y_i h(x_i), \quad α = \frac{1}{2} \ln \frac{1 + r}{1 - r}, \quad
              D_i ← D_i e^{-α y_i h(x_i)} / Z.

    A stump says c on one side and -c on the other, c being 1 or -1: on whether a feature is there,
    or whether its value is at least a threshold, which lies midway between two neighbouring values
    of the training documents (zero is one of them where the feature is not in all). MH weighs
    documents and bounds the decisions that are wrong; MR weighs pairs of a positive and a negative
    document, with half of α, and bounds the pairs in the wrong order. Its weights are products of a
    factor for either document, so that no pair is ever written down. The score is
    :math:`\sum_t α_t h_t / \sum_t |α_t|`, from -1 to 1; for MR, less what divides the training
    documents with the highest F1.

    Notes
    -----
    Of stumps equally good the first feature's is chosen, of its thresholds the highest above zero,
    then the lowest below; a stump that says the same of all documents is none. Where r is 1 or -1,
    its size is taken to be 1 - 1/M, M being the number of documents. A category is finished before
    `max_iter` where the best stump is right on every document, as every further round would choose
    it again, or no stump has an \|r\| above 1e-9. That no training error is left ends nothing: the
    margins still grow. A category without positive documents scores -1, one without others 1.

    References
    ----------
    L. Cai and T. Hofmann, Text categorization by boosting automatically extracted concepts, 2003;
    R. Schapire and Y. Singer, Improved boosting algorithms using confidence-rated predictions,
    1999; weights as products: Y. Freund, R. Iyer, R. Schapire and Y. Singer, An efficient boosting
    algorithm for combining preferences, 2003.

    Examples
    --------
    >>> X = np.array([[1, 1, 0, 1], [1, 0, 1, 0], [0, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 0]])
    >>> learner = StumpBoosting(max_iter=3).fit(X, [1, 1, 0, 0, 0])
    >>> [round(float(score), 2) for score in learner.decision_function(X)]
    [0.46, 0.21, -0.21, -0.32, -0.46]
    >>> [(rule.column, round(rule.share, 2)) for rule in learner.rules(0)]
    [(0, 0.34), (1, -0.27), (3, 0.39)]
    """

    name = "stump-boosting"
    constant_name = "(no rule holds)"
    preferred_strength: ClassVar[dict[str, Any]] = {"kind": "binary"}

    variant: str = parameter(
        default="MH",
        kind=Choice(("MH", "MR")),
        words="What is bounded: wrong decisions (MH), or pairs in the wrong order (MR).",
    )
    max_iter: int = parameter(default=200, kind=Whole(1), words="Rounds for each category.")
    early_stopping: bool = parameter(
        default=False,
        kind=Flag(),
        words="""Whether each category gets the number of rounds, up to `max_iter`, that does best
        on documents held out; with so many, all documents are then learned from.""",
    )
    validation_fraction: float = parameter(
        default=0.1, kind=Number(0.01, 0.9), words="The share of documents that is held out then."
    )
    warm_start: bool = parameter(
        default=False,
        kind=Flag(),
        words="Whether to go on from the rounds there are, with the same documents.",
    )
    n_thresholds: int | None = parameter(
        default=None,
        kind=Whole(0, optional=True),
        words="""So many of the first columns are measured by thresholds; of all others it counts
        only whether they are there. None: the concepts, if the documents have any.""",
    )
    random_state: int | None = parameter(
        default=0, kind=Whole(0, optional=True), words="The seed by which documents are held out."
    )
    n_jobs: int = parameter(
        default=1, kind=Whole(1, 1024), words="Threads; the result does not depend on how many."
    )

    # ---- learning ----------------------------------------------------------------------------

    def check_parameters(self) -> None:
        """Raise a sentence for a parameter out of its bounds, or two that exclude each other."""
        super().check_parameters()
        if self.warm_start and self.early_stopping:
            raise ParameterError(
                "StumpBoosting: early_stopping chooses the number of rounds anew, and warm_start "
                "goes on from those there are; choose one."
            )

    def fit_rows(
        self, examples: Examples, *, n_jobs: int = 1, progress: Progress = None, watch: Watch = None
    ) -> Self:
        """Learn all categories, each in up to `max_iter` rounds, from documents in memory.

        Nothing is watched, as a mistake is not corrected but weighed.
        """
        self.check_parameters()
        parts = list(examples)
        rows = parts[0][0] if len(parts) == 1 else Rows.concatenate([rows for rows, _ in parts])
        labels = examples.labels()
        check_rows(rows, "StumpBoosting", examples.n_columns, False)
        check_labels(rows, labels, "StumpBoosting", examples.n_categories)
        weights = checked_sample_weight(labels.weights, rows.n_rows)
        if not weights.all():
            counted = np.flatnonzero(weights)
            rows, labels, weights = rows.take(counted), labels.take(counted), weights[counted]
        wanted = self.n_thresholds
        wanted = getattr(examples, "n_concepts", 0) if wanted is None else wanted
        sizes = examples.n_columns, examples.n_categories, min(wanted, examples.n_columns)
        earlier = self._earlier(sizes)
        columns = _Columns(rows, examples.n_columns, sizes[2])
        work = _Work(columns, _signs(labels), weights, self.variant == "MR", n_jobs, progress)
        limits = np.full(examples.n_categories, self.max_iter)
        if self.early_stopping:
            limits = self._best_rounds(work, limits)
        rounds = work.boost(limits, earlier)
        table = _Table(rounds, *sizes)
        offsets = self._divide(table, rows, work, n_jobs)
        self.n_features, self.n_categories, self._n_thresholds = sizes
        self._rounds, self._table, self._offsets = rounds, table, offsets
        return self

    def _earlier(self, sizes: tuple[int, int, int]) -> list[_Rounds]:
        """Return the rounds from which to go on, if any, once the sizes are seen to be theirs."""
        if not self.warm_start or not hasattr(self, "_rounds"):
            return [_Rounds.none()] * sizes[1]
        known = self.n_features, self.n_categories, self._n_thresholds
        if sizes != known:
            raise ParameterError(
                "StumpBoosting: warm_start goes on with the same documents, and the learner knows "
                "{} features, {} categories and {} columns with thresholds; given are {}, {} and "
                "{}. Fit without warm_start.".format(*known, *sizes)
            )
        if self.n_iter_ > self.max_iter:
            raise ParameterError(
                f"StumpBoosting: max_iter is {self.max_iter} and there are {self.n_iter_} rounds "
                "to go on from; give more, or fit without warm_start."
            )
        return self._rounds

    def _best_rounds(self, work: _Work, limits: np.ndarray) -> np.ndarray:
        """Return for each category after how many rounds the held-out documents are ranked best."""
        n = len(work.weights)
        generator = np.random.default_rng(self.random_state)
        held = generator.permutation(n)[: int(np.ceil(self.validation_fraction * n))]
        weights = work.weights.copy()
        weights[held] = 0.0
        rounds = work._replace(weights=weights).boost(limits, [_Rounds.none()] * len(limits))
        for k, one in enumerate(rounds):
            signs = work.signs[held, k]
            if len(one.alphas) and (signs > 0).any() and (signs < 0).any():
                margins = np.stack([sums[held] for sums in work.columns.margins(one)])
                limits[k] = 1 + int(np.argmin(_losses(margins, signs * work.weights[held])))
        return limits

    def _divide(self, table: _Table, rows: Rows, work: _Work, n_jobs: int) -> np.ndarray:
        """Return what is taken from each category's scores, so that zero divides its documents."""
        # Where there is no rule, the many decide.
        offsets = np.where(table.has_rules, 0.0, np.where(work.weights @ work.signs > 0, -1.0, 1.0))
        if self.variant == "MR":
            scores = table.scores(rows, n_jobs)
            for k in np.flatnonzero(table.has_rules):
                offsets[k] = _highest_f1(scores[:, k], work.signs[:, k] * work.weights)
        return offsets

    # ---- scores and rules --------------------------------------------------------------------

    def score_rows(self, rows: Rows, n_jobs: int = 1) -> np.ndarray:
        """Return a score per document and category; above zero means that it belongs."""
        check_rows(rows, "StumpBoosting", self.n_features, False)
        return np.asarray(self._table.scores(rows, n_jobs) - self._offsets, np.float32)

    def staged_scores(
        self, rows: Rows, rounds: Sequence[int], n_jobs: int = 1
    ) -> Iterator[np.ndarray]:
        """Yield the scores after so many rounds each, normalised, MR's offset not taken away."""
        check_rows(rows, "StumpBoosting", self.n_features, False)
        for t in rounds:
            first = [one.first(t) for one in self._rounds]
            table = _Table(first, self.n_features, self.n_categories, self._n_thresholds)
            yield table.scores(rows, n_jobs).astype(np.float32)

    def rules(self, category: int) -> list[Rule]:
        """Return the rules of a category in the order in which they were first chosen.

        A rule chosen more than once stands there once, with all its shares. The shares' sizes add
        up to one, unless some of a rule's cancelled each other.
        """
        columns, thresholds, shares = self._rounds[category].merged()
        return [
            Rule(int(j), float(at) if j < self._n_thresholds else None, float(share))
            for j, at, share in zip(columns, thresholds, shares, strict=True)
        ]

    def contributions(self, rows: Rows, category: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what each entry adds by the rules that it turns, and the score without entries."""
        check_rows(rows, "StumpBoosting", self.n_features, False)
        table = self._table.only(category)
        # A document of its own for every entry: the sum of each is then the entry's.
        single = rows._replace(indptr=np.arange(len(rows.indices) + 1), lengths=None)
        shares = table.scores(single)[:, 0] - table.bases[0]
        rest = table.bases[0] - self._offsets[category]
        return shares.astype(np.float32), np.full(rows.n_rows, rest, np.float32)

    def linear_weights(self) -> np.ndarray | None:
        """Return twice the share of each feature, if no rule has a threshold, else None.

        The weights are for documents in which every feature that is there counts one.
        """
        if any((one.columns < self._n_thresholds).any() for one in self._rounds):
            return None
        weights = np.zeros((self.n_features, self.n_categories))
        for k in range(self.n_categories):
            for rule in self.rules(k):
                weights[rule.column, k] = 2 * rule.share
        return weights

    def threshold_share(self, rounds: Sequence[int]) -> np.ndarray:
        """Return which part of the first rounds' Σ|α| is on rules with thresholds.

        Parameters
        ----------
        rounds : sequence of int
            How many rounds; where a category has fewer, all it has.

        Returns
        -------
        array of float (categories, len(rounds))
            From 0 to 1; NaN where a category has no rounds at all.
        """
        shares = np.full((self.n_categories, len(rounds)), np.nan)
        for k, one in enumerate(self._rounds):
            for number, t in enumerate(rounds):
                first = one.first(t)
                if len(first.alphas):
                    on = first.columns < self._n_thresholds
                    sizes = np.abs(first.alphas)
                    shares[k, number] = sizes[on].sum() / sizes.sum()
        return shares

    @property
    def n_iter_(self) -> int:
        """The rounds of the category that has most."""
        return max((len(one.alphas) for one in self._rounds), default=0)

    def summary(self) -> dict[str, Any]:
        """Return the rounds of the categories, and how many of them are on thresholds."""
        rounds = [len(one.alphas) for one in self._rounds]
        on = sum(int((one.columns < self._n_thresholds).sum()) for one in self._rounds)
        rules = sum(len(one.merged()[0]) for one in self._rounds)
        return {"rounds": rounds, "rules": rules, "rounds_on_thresholds": on}

    # ---- categories and files ----------------------------------------------------------------

    def drop_categories(self, keep: np.ndarray) -> Self:
        """Remove the categories where `keep` is false; the others are renumbered in order."""
        kept = np.flatnonzero(np.asarray(keep, bool))
        return self._take([self._rounds[k] for k in kept], self._offsets[kept], self._n_thresholds)

    def _take(self, rounds: list[_Rounds], offsets: np.ndarray, n_thresholds: int) -> Self:
        self.n_categories, self._n_thresholds = len(rounds), n_thresholds
        self._rounds, self._offsets = rounds, offsets
        self._table = _Table(rounds, self.n_features, self.n_categories, n_thresholds)
        return self

    def state(self) -> State:
        """Return all rounds, as a JSON-able header and arrays."""
        lengths = [len(one.alphas) for one in self._rounds]
        joined = {
            name: np.concatenate([getattr(one, name) for one in [*self._rounds, _Rounds.none()]])
            for name in _Rounds._fields
        }
        ends = np.cumsum([0, *lengths], dtype=np.int64)
        header = self.header(n_thresholds=self._n_thresholds)
        return header, {"ends": ends, "offsets": self._offsets, **joined}

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Rebuild a learner from what `state` returned, checking everything."""
        learner, n_features, n_categories = cls.from_header(header)
        n_thresholds = require_field(header, "n_thresholds", int)
        ends = require_tensor(tensors, "ends", np.int64, (n_categories + 1,), low=0)
        total = int(ends[-1])
        high = max(0, n_features - 1)
        columns = require_tensor(tensors, "columns", np.int32, (total,), low=0, high=high)
        thresholds, alphas = (
            require_tensor(tensors, name, np.float64, (total,), finite=True)
            for name in ("thresholds", "alphas")
        )
        offsets = require_tensor(tensors, "offsets", np.float64, (n_categories,), finite=True)
        right = 0 <= n_thresholds <= n_features and ends[0] == 0 and (np.diff(ends) >= 0).all()
        if not (right and (alphas != 0).all() and (n_features or not total)):
            raise ModelError(
                "The learner's part of the model is damaged: the rounds of stump-boosting do not "
                "fit together."
            )
        learner.n_features = n_features
        rounds = [_Rounds(columns[a:b], thresholds[a:b], alphas[a:b]) for a, b in pairwise(ends)]
        return learner._take(rounds, np.array(offsets), n_thresholds)


# ---- what is learned --------------------------------------------------------------------------


class _Rounds(NamedTuple):
    """The stumps of one category, in order; α is below zero where a stump speaks against it."""

    columns: np.ndarray  # int32
    thresholds: np.ndarray  # float64; zero where there is none
    alphas: np.ndarray  # float64

    @staticmethod
    def none() -> _Rounds:
        return _Rounds(np.zeros(0, np.int32), np.zeros(0), np.zeros(0))

    def first(self, n: int) -> _Rounds:
        return _Rounds(*(one[:n] for one in self))

    def merged(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return columns, thresholds and normalised shares, equal stumps added up."""
        shares: dict[tuple[int, float], float] = {}
        total = np.abs(self.alphas).sum()
        for column, threshold, alpha in zip(*(one.tolist() for one in self), strict=True):
            shares[column, threshold] = shares.get((column, threshold), 0.0) + alpha
        columns, thresholds = zip(*shares, strict=True) if shares else ((), ())
        return (
            np.array(columns, np.int32),
            np.array(thresholds, np.float64),
            np.array(list(shares.values()), np.float64) / (total or 1.0),
        )


class _Table:
    """The rules of all categories, by column."""

    def __init__(
        self, rounds: list[_Rounds], n_features: int, n_categories: int, n_thresholds: int
    ) -> None:
        self.n_thresholds = n_thresholds
        merged = [one.merged() for one in [*rounds, _Rounds.none()]]
        columns, thresholds, shares = (np.concatenate(one) for one in zip(*merged, strict=True))
        categories = np.repeat(np.arange(len(merged)), [len(one[0]) for one in merged])
        # A threshold of zero or less is reached by what is not there.
        reached = np.where((columns < n_thresholds) & (thresholds <= 0), 1.0, -1.0)
        self.bases = np.bincount(categories, reached * shares, n_categories)[:n_categories]
        self.has_rules = np.array([len(one.alphas) > 0 for one in rounds], bool)
        order = np.argsort(columns, kind="stable")
        self.starts = np.searchsorted(columns[order], np.arange(n_features + 1))
        self.categories, self.thresholds = categories[order], thresholds[order]
        self.changes = (-2 * reached * shares)[order]

    def only(self, category: int) -> _Table:
        """Return the rules of one category, which is then the first and only one."""
        table = object.__new__(_Table)
        inside = self.categories == category
        table.n_thresholds, table.bases = self.n_thresholds, self.bases[[category]]
        table.starts = np.append(0, np.cumsum(inside))[self.starts]
        table.categories = np.zeros(int(inside.sum()), np.int64)
        table.thresholds, table.changes = self.thresholds[inside], self.changes[inside]
        return table

    def scores(self, rows: Rows, n_jobs: int = 1) -> np.ndarray:
        from thresher._kernels.boosting import add_rules

        sums = np.tile(self.bases, (rows.n_rows, 1))
        rules = self.starts, self.categories, self.thresholds, self.changes, self.n_thresholds
        documents = rows.indptr, rows.indices.view(np.uint32), rows.values
        in_blocks(partial(add_rules, *documents, *rules, sums), rows.n_rows, n_jobs)
        return sums


# ---- documents by columns ---------------------------------------------------------------------


class _Columns:
    """The documents by columns, as the kernels search them; values are kept for thresholds only."""

    def __init__(self, rows: Rows, n_columns: int, n_thresholds: int) -> None:
        from thresher._kernels.boosting import count_columns, fill_columns, turn_words

        self.n_documents = rows.n_rows
        if self.n_documents >= 2**31:
            raise ParameterError(f"StumpBoosting takes up to 2³¹ documents, not {rows.n_rows:,}.")
        indices = rows.indices.view(np.uint32)
        counts = np.zeros(n_columns, np.int64)
        count_columns(indices, rows.values, counts)
        self.ends = np.concatenate([[0], np.cumsum(counts)])
        self.entries = np.empty(int(self.ends[-1]), np.uint32)
        self.values = np.empty(int(self.ends[n_thresholds]), np.float32)
        self.middles = np.empty(n_thresholds, np.int64)
        places = self.ends[:-1].copy()
        columns = places, self.entries, self.values, n_thresholds
        fill_columns(rows.indptr, indices, rows.values, *columns)
        for j in range(n_thresholds):
            self._sort(j)
        self.starts = np.zeros(self.n_documents + 2, np.int64)
        self.words = np.empty(len(self.entries) - len(self.values), np.uint32)
        turn_words(self.ends, n_thresholds, self.entries, self.starts, self.words)

    def _sort(self, j: int) -> None:
        """Sort a column by value, and mark after which entries a threshold may follow."""
        here = slice(int(self.ends[j]), int(self.ends[j + 1]))
        size = here.stop - here.start
        # The bits of a float ascend with its size: sign, size from the highest down, document.
        bits = self.values[here].view(np.uint32).astype(np.uint64)
        keys = ((bits ^ np.uint64(0x7FFFFFFF)) << np.uint64(32)) | (self.entries[here] >> 1)
        keys.sort()
        documents = keys.astype(np.uint32)
        values = ((keys >> np.uint64(32)).astype(np.uint32) ^ np.uint32(0x7FFFFFFF)).view(
            np.float32
        )
        positive = int(np.count_nonzero(values > 0))
        follows = np.empty(size, bool)
        follows[:-1] = values[1:] != values[:-1]
        follows[-1:] = size < self.n_documents
        if positive:
            follows[positive - 1] = positive < self.n_documents
        self.values[here] = values
        self.entries[here] = 2 * documents + follows
        self.middles[j] = here.start + positive

    def threshold(self, j: int, place: int) -> float:
        """Return what lies midway between an entry's value and the next one towards zero."""
        middle, end = int(self.middles[j]), int(self.ends[j + 1])
        value, following = float(self.values[place]), 0.0
        if place + 1 not in (middle, end):
            following = float(self.values[place + 1])
        elif place < middle and end - self.ends[j] == self.n_documents:  # nothing is zero
            following = float(self.values[end - 1])
        return (value + following) / 2

    def span(self, j: int, threshold: float) -> tuple[int, int, int]:
        """Return a stump as first and last entry of a run, and what it says of them: 1 or -1."""
        first, end = int(self.ends[j]), int(self.ends[j + 1])
        if j >= len(self.middles):
            return first, end, 1
        middle = int(self.middles[j])
        below = int(np.searchsorted(self.values[middle:end], threshold))
        nothing_between = end - first == self.n_documents and below == end - middle
        if threshold > 0 or nothing_between:
            return first, first + int(np.sum(self.values[first:middle] >= threshold)), 1
        return middle, middle + below, -1

    def margins(self, rounds: _Rounds) -> Iterator[np.ndarray]:
        """Yield f, the sum of α h, for all documents after each round, in the same array."""
        sums = np.zeros(self.n_documents)
        for column, threshold, alpha in zip(*(one.tolist() for one in rounds), strict=True):
            first, end, side = self.span(column, threshold)
            sums -= side * alpha
            sums[self.entries[first:end] >> 1] += 2 * side * alpha
            yield sums


# ---- rounds -----------------------------------------------------------------------------------


class _Work(NamedTuple):
    """What is learned from, and how."""

    columns: _Columns
    signs: np.ndarray  # int8, documents by categories: 1 belongs, -1 does not, 0 is not known
    weights: np.ndarray  # by document
    apart: bool  # whether positives and negatives weigh a half each (MR)
    n_jobs: int
    progress: Progress

    def boost(self, limits: np.ndarray, earlier: list[_Rounds]) -> list[_Rounds]:
        """Return the rounds of all categories, up to a limit each; threads take some each."""
        from thresher._kernels.boosting import FEW, LANES

        counted = self.signs[self.weights > 0]
        both = np.logical_and((counted > 0).any(0), (counted < 0).any(0))
        rounds = [_Rounds.none()] * len(limits)
        # Categories of as many rounds share their lanes, so that few of these stand idle.
        order = [int(k) for k in np.argsort(-limits, kind="stable") if both[k]]
        blocks = [order[start : start + LANES] for start in range(0, len(order), LANES)]
        if blocks and len(blocks[-1]) <= FEW:
            blocks[-1:] = [[k] for k in blocks[-1]]
        done = [0] * len(blocks)
        total = max(1, sum(int(limits[block[0]]) for block in blocks))
        stops: list[bool] = []

        def tick(number: int) -> None:
            done[number] += 1
            if stops:
                raise CancelledError

        def work(number: int) -> None:
            block = blocks[number]
            before = [earlier[k] for k in block]
            of_block = self._block(block, limits[block], before, partial(tick, number))
            for k, one in zip(block, of_block, strict=True):
                rounds[k] = one
            done[number] = int(limits[block[0]])

        with ThreadPoolExecutor(self.n_jobs) as pool:
            try:
                waiting = {pool.submit(work, number) for number in range(len(blocks))}
                while waiting:
                    finished, waiting = wait(waiting, 0.2, FIRST_EXCEPTION)
                    for one in finished:
                        one.result()
                    if self.progress is not None:
                        self.progress("rounds", len(self.signs), min(1.0, sum(done) / total))
            except BaseException:
                stops.append(True)
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return rounds

    def _block(
        self,
        block: list[int],
        limits: np.ndarray,
        earlier: list[_Rounds],
        tick: Callable[[], None],
    ) -> list[_Rounds]:
        """Return the rounds of some categories, which are searched together."""
        from thresher._kernels.boosting import LANES, search

        columns, n_lanes = self.columns, 1 if len(block) == 1 else LANES
        signed = np.zeros((columns.n_documents + 1, n_lanes))
        signed[:-1, : len(block)] = self.signs[:, block] * self.weights[:, None]
        halves = np.zeros(n_lanes)
        lanes = [
            _Lane(columns, signed, halves, number, self.apart, int(limits[number]))
            for number in range(len(block))
        ]
        for lane, rounds in zip(lanes, earlier, strict=True):
            lane.replay(rounds)
        best, chosen = np.empty(n_lanes), np.empty(n_lanes, np.int64)
        where = (0,) * n_lanes, columns.ends, columns.middles, columns.entries
        weights = signed, halves, np.empty(n_lanes), np.empty(n_lanes)
        while any(lane.is_open for lane in lanes):
            best[:], chosen[:] = LEAST / 2, -1
            search(*where, *weights, best, chosen)
            for lane, j, half in zip(lanes, chosen.tolist(), best.tolist(), strict=False):
                if lane.is_open:
                    lane.add(j, half)
            tick()
        return [lane.rounds() for lane in lanes]


class _Lane:
    """One category of those that are searched together."""

    def __init__(
        self,
        columns: _Columns,
        signed: np.ndarray,
        halves: np.ndarray,
        number: int,
        apart: bool,
        limit: int,
    ) -> None:
        self.columns, self.signed, self.halves, self.number = columns, signed, halves, number
        self.apart, self.limit = apart, limit
        self.chosen: list[tuple[int, float, float]] = []
        self.sides = np.empty(columns.n_documents)
        self.sums = np.zeros((2, len(columns.ends) - 1 - len(columns.middles)))
        self.is_open = True
        self._reweigh(0, 0, 1, 1.0)

    def rounds(self) -> _Rounds:
        columns, thresholds, alphas = zip(*self.chosen, strict=True) if self.chosen else ((),) * 3
        return _Rounds(
            np.array(columns, np.int32), np.array(thresholds, float), np.array(alphas, float)
        )

    def add(self, j: int, half: float) -> None:
        """Take the stump of column `j` with this |r|/2, or a better one, or end without any."""
        from thresher._kernels.boosting import best_word, place_of

        columns = self.columns
        where = columns.ends, len(columns.middles), columns.n_documents
        j, half = best_word(*where, self.sums, self.halves[self.number], half, j)
        if j < 0:
            self._end()
            return
        threshold = 0.0
        if j < len(columns.middles):
            first, middle, end = columns.ends[j], columns.middles[j], columns.ends[j + 1]
            weights = self.signed, self.number, self.halves[self.number], half
            place = place_of(columns.entries, first, middle, *weights)
            if place < 0:
                place = place_of(columns.entries, middle, end, *weights)
            threshold = columns.threshold(j, int(place))
        self._weigh(j, threshold)

    def replay(self, rounds: _Rounds) -> None:
        """Take the stumps of an earlier run, which the same documents must have led to."""
        for j, threshold, alpha in zip(*(one.tolist() for one in rounds), strict=True):
            self._weigh(j, threshold)
            if abs(self.chosen[-1][2] - alpha) > 1e-6:
                raise ParameterError(
                    "StumpBoosting: warm_start goes on with the same documents, and in round "
                    f"{len(self.chosen)} of a category these give the rule on feature {j} an α of "
                    f"{self.chosen[-1][2]:.6f}, where it was {alpha:.6f}. Fit without warm_start."
                )

    def _weigh(self, j: int, threshold: float) -> None:
        """Note a stump with its α, and weigh the documents anew."""
        from thresher._kernels.boosting import half_r

        lane, entries = self.number, self.columns.entries
        first, end, side = self.columns.span(j, threshold)
        half = half_r(entries, first, end, self.signed, lane, self.halves[lane])
        most = 1 - 1 / self.columns.n_documents
        r = min(max(2 * side * half, -most), most)
        self.chosen.append((j, threshold, float(np.arctanh(r))))
        if abs(2 * half) > PERFECT or len(self.chosen) == self.limit:
            self._end()
            return
        right = np.sqrt((1 - r) / (1 + r))
        self._reweigh(first, end, side, np.sqrt(right) if self.apart else right)

    def _reweigh(self, first: int, end: int, side: int, right: float) -> None:
        from thresher._kernels.boosting import add_words, reweigh

        columns, lane = self.columns, (self.signed, self.number)
        stump = columns.entries, first, end, float(side), self.sides, right, 1 / right
        words = columns.starts, columns.words
        half = reweigh(*stump, self.apart, *lane, *words, self.sums)
        self.halves[self.number] = half
        if len(self.chosen) % REFRESHED == 0:
            add_words(*words, *lane, self.sums)

    def _end(self) -> None:
        self.signed[:, self.number] = 0.0
        self.halves[self.number] = 0.0
        self.is_open = False


def _signs(labels: Labels) -> np.ndarray:
    """Return 1 where a document belongs, -1 where it does not and 0 where that is not known."""
    signs = 2 * labels.to_dense().view(np.int8) - 1
    return np.asarray(signs if labels.known is None else signs * labels.known, np.int8)


def _losses(margins: np.ndarray, signed: np.ndarray) -> np.ndarray:
    """Return how bad each row of margins is."""
    return np.asarray((np.abs(signed) * np.exp(-np.sign(signed) * margins)).sum(1))


def _highest_f1(scores: np.ndarray, signed: np.ndarray) -> float:
    """Return what is midway between the neighbouring scores that divide with the highest F1."""
    order = np.argsort(-scores, kind="stable")
    scores, signed = scores[order], signed[order]
    positive = np.cumsum(np.maximum(signed, 0))
    f1 = 2 * positive / (np.cumsum(np.abs(signed)) + positive[-1])
    last = np.flatnonzero(scores[1:] < scores[:-1])
    if not len(last):
        return float(scores[0])
    best = last[np.argmax(f1[last])]
    return float(scores[best] + scores[best + 1]) / 2
