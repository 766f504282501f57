"""Boosting of decision stumps: rules of one feature each, learned one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, Literal, NamedTuple, Self, get_args

import numpy as np

from thresher.errors import ModelError, ParameterError, counted
from thresher.learners._memory import MemoryLearner, Training, signs_of
from thresher.learners._stumps import NO_ROUNDS, Columns, Rounds, Work
from thresher.learners.capabilities import ExplainedFeatures, Line, Lines
from thresher.learners.growing import checked_mask
from thresher.learners.learner import Progress, State
from thresher.learners.scoring import check_rows, run_cache_line_blocks
from thresher.parameters import ROUNDS, Choice, Flag, Number, Whole, parameter, random_seed
from thresher.rows import Rows
from thresher.state import require_field, require_tensor

Variant = Literal["MH", "MR"]

SMALLEST_SHARE_SHOWN = 1e-6  # in an explanation
FEWEST_HELD_OUT = 10  # documents of a category, to choose its number of rounds
ROUNDS_AVERAGED = 21  # for the precision on few documents


class Rule(NamedTuple):
    """A condition on one feature.

    Attributes
    ----------
    column : int
        The feature.
    threshold : float or None
        The rule holds if the value of the feature is at least this; None: if it is present.
    share : float
        Added to the score if the rule holds, subtracted if it does not.
    """

    column: int
    threshold: float | None
    share: float

    def holds(self, strength: float) -> bool:
        """Return True if the rule holds for a document in which the feature has this strength."""
        return strength != 0 if self.threshold is None else strength >= self.threshold


class StumpBoosting(MemoryLearner):
    r"""AdaBoost.MH or AdaBoost.MR over decision stumps, for each category separately.

    In every round, the stump h is chosen that agrees most with the labels y (1 or -1) of the
    documents i, which have weights D,

    .. math:: r = \sum_i D_i y_i h(x_i), \quad α = \frac{1}{2} \ln \frac{1 + r}{1 - r}, \quad
              D_i ← D_i e^{-α y_i h(x_i)} / Z.

    A stump is c on one side and -c on the other, where c is 1 or -1. It tests whether a feature is
    present, or whether its value is at least a threshold, which is midway between two neighbouring
    values of the training documents (zero is one of them unless all documents have the feature).
    MH weights documents and bounds the number of wrong decisions. MR weights pairs of a positive
    and a negative document, with half of α, and bounds the number of pairs in the wrong order. Its
    weights are products of a factor for either document, so that no pair is ever stored. The score
    is :math:`\sum_t α_t h_t / \sum_t |α_t|`, from -1 to 1; for MR, less the threshold with the
    highest F1 on the training documents.

    Notes
    -----
    Of equally good stumps the one of the first feature is chosen, of its thresholds the highest
    positive one, then the lowest negative one; a stump must divide the documents. An \|r\| of 1 is
    replaced by 1 - 1/M, where M is the number of documents. A category is finished before
    `max_iter` if the best stump is right on every document, because every further round would
    choose it again, or if no stump has an \|r\| above 1e-9. Training goes on without training
    errors: the margins still grow. A category without positive documents scores -1, one without
    negative documents 1.

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
    asks_for = "columns"
    constant_name = "(no rule holds)"
    preferred_strength: ClassVar[dict[str, Any]] = {"kind": "binary"}

    variant: Variant = parameter(
        default="MH",
        kind=Choice(get_args(Variant)),
        words="What is minimised: wrong decisions (MH), or pairs in the wrong order (MR).",
    )
    max_iter: int = parameter(default=200, kind=ROUNDS, words="Rounds for each category.")
    early_stopping: bool = parameter(
        default=False,
        kind=Flag(),
        words="""Whether each category gets the number of rounds, up to `max_iter`, that ranks held-
        out documents best, if ten of these belong to it; then all documents are learned.""",
    )
    validation_fraction: float = parameter(
        default=0.1, kind=Number(0.01, 0.9), words="The share of documents that is held out then."
    )
    warm_start: bool = parameter(
        default=False,
        kind=Flag(),
        words="Whether to continue from the rounds already learned, with the same documents.",
    )
    n_thresholds: int | None = parameter(
        default=None,
        kind=Whole(0, optional=True),
        words="""The number of first columns that are tested by thresholds; the others are tested
        for presence. None: the concepts, if the documents have any.""",
    )
    random_state: int | None = random_seed("The seed for choosing held-out documents.")

    # ---- learning ----------------------------------------------------------------------------

    def check_parameters(self) -> None:
        """Raise `ParameterError` for a value that is not allowed, or excludes another."""
        super().check_parameters()
        if self.warm_start and self.early_stopping:
            raise ParameterError(
                "StumpBoosting: early_stopping chooses the number of rounds anew, and warm_start "
                "goes on from those there are; choose one."
            )

    def _fit(self, training: Training, n_jobs: int, progress: Progress) -> None:
        """Learn all categories, each in up to `max_iter` rounds."""
        rows, labels, weights, n_concepts = training
        n_thresholds = n_concepts if self.n_thresholds is None else self.n_thresholds
        sizes = rows.n_columns, labels.n_categories, min(n_thresholds, rows.n_columns)
        earlier = self._earlier(sizes)
        columns = Columns(rows, sizes[2])
        work = Work(columns, signs_of(labels), weights, self.variant == "MR", n_jobs, progress)
        limits = np.full(labels.n_categories, self.max_iter)
        if self.early_stopping:
            limits = self._best_rounds(work, limits)
        rounds = work.boost(limits, earlier)
        table = _Table(rounds, *sizes)
        self._offsets = self._divide(table, rows, work, n_jobs)
        self._rounds, self._table, self._n_thresholds = rounds, table, sizes[2]

    def _earlier(self, sizes: tuple[int, int, int]) -> list[Rounds]:
        """Return the rounds to continue from, if any, after checking the sizes."""
        if not self.warm_start or not hasattr(self, "_rounds"):
            return [NO_ROUNDS] * sizes[1]
        known = self.n_features, self.n_categories, self._n_thresholds
        if sizes != known:
            raise ParameterError(
                "StumpBoosting: warm_start goes on with the same documents, and the learner knows "
                "{} features, {} categories and {} columns with thresholds; given are {}, {} and "
                "{}. Fit without warm_start.".format(*known, *sizes)
            )
        if self.n_iter_ > self.max_iter:
            raise ParameterError(
                f"StumpBoosting: max_iter is {self.max_iter} and the learner has "
                f"{counted(self.n_iter_, 'round')}; give more, or fit without warm_start."
            )
        return self._rounds

    def _best_rounds(self, work: Work, limits: np.ndarray) -> np.ndarray:
        """Return for each category the number of rounds that ranks held-out documents best."""
        n = len(work.weights)
        generator = np.random.default_rng(self.random_state)
        held = generator.permutation(n)[: int(np.ceil(self.validation_fraction * n))]
        weights = work.weights.copy()
        weights[held] = 0.0
        rounds = work._replace(weights=weights).boost(limits, [NO_ROUNDS] * len(limits))
        for k, of_category in enumerate(rounds):
            signs = work.signs[held, k]
            if (
                len(of_category.alphas)
                and min((signs > 0).sum(), (signs < 0).sum()) >= FEWEST_HELD_OUT
            ):
                margins = np.stack([sums[held] for sums in work.columns.margins(of_category)])
                limits[k] = _best_round(margins, signs * work.weights[held])
        return limits

    def _divide(self, table: _Table, rows: Rows, work: Work, n_jobs: int) -> np.ndarray:
        """Return the offset of each category: the threshold to subtract from its scores."""
        # Without a rule, the majority decides.
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

    def rules(self, category: int) -> list[Rule]:
        """Return the rules of a category in the order in which they were first chosen.

        A rule chosen more than once is listed once, with the sum of its shares. The absolute shares
        add up to one, unless those of a rule cancel out.
        """
        columns, thresholds, shares = self._rounds[category].merged()
        return [
            Rule(int(j), float(at) if j < self._n_thresholds else None, float(share))
            for j, at, share in zip(columns, thresholds, shares, strict=True)
        ]

    def rule_texts(
        self, category: int, features: ExplainedFeatures, holds: Sequence[bool] | None = None
    ) -> list[str]:
        """Return the rules of a category in words, or their opposites where `holds` is false."""
        rules = self.rules(category)
        columns = np.array([rule.column for rule in rules], np.int64)
        texts = []
        for rule, name, is_true in zip(
            rules, features.readable_names(columns), holds or [True] * len(rules), strict=True
        ):
            if rule.threshold is None:
                texts.append(f"{'contains' if is_true else 'lacks'} {name!r}")
                continue
            membership = features.membership(rule.threshold)
            if membership < features.least_membership:  # so that the feature need only be present
                texts.append(f"{'has' if is_true else 'lacks'} {name}")
            else:
                texts.append(f"{name} {'above' if is_true else 'below'} {membership:.3g}")
        return texts

    def explanation_lines(self, rows: Rows, category: int, features: ExplainedFeatures) -> Lines:
        """Return a line for each rule, and one for what is subtracted from all scores."""
        values = dict(zip(rows.indices.tolist(), rows.values.tolist(), strict=True))
        rules = self.rules(category)
        strengths = [values.get(rule.column, 0.0) for rule in rules]
        holds = [rule.holds(strength) for rule, strength in zip(rules, strengths, strict=True)]
        shares = [
            rule.share if held else -rule.share for rule, held in zip(rules, holds, strict=True)
        ]
        texts = self.rule_texts(category, features, holds)
        lines = list(map(Line, texts, strengths, shares))
        by_entry, (constant,) = self.contributions(rows, category)
        rest = float(by_entry.sum()) + float(constant) - sum(shares)
        if abs(rest) > SMALLEST_SHARE_SHOWN:
            lines.append(Line(self.constant_name, 1.0, rest))
        return Lines("rule", lines)

    def contributions(self, rows: Rows, category: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what each entry adds by changing rules, and the score of an empty document."""
        check_rows(rows, "StumpBoosting", self.n_features, False)
        table = _Table([self._rounds[category]], self.n_features, 1, self._n_thresholds)
        # A separate document for every entry, whose score is the share of the entry.
        single = rows._replace(indptr=np.arange(len(rows.indices) + 1), lengths=None)
        shares = table.scores(single)[:, 0] - table.bases[0]
        rest = table.bases[0] - self._offsets[category]
        return shares.astype(np.float32), np.full(rows.n_rows, rest, np.float32)

    def linear_weights(self) -> np.ndarray | None:
        """Return twice the share of each feature, if no rule has a threshold, else None.

        The weights are for documents in which every present feature has the value one.
        """
        if any((rounds.columns < self._n_thresholds).any() for rounds in self._rounds):
            return None
        weights = np.zeros((self.n_features, self.n_categories))
        for k in range(self.n_categories):
            for rule in self.rules(k):
                weights[rule.column, k] = 2 * rule.share
        return weights

    def threshold_share(self, rounds: Sequence[int]) -> np.ndarray:
        """Return the share of rules with thresholds in Σ|α| of the first rounds.

        Parameters
        ----------
        rounds : sequence of int
            The numbers of rounds; if a category has fewer, all are used.

        Returns
        -------
        array of float (categories, len(rounds))
            From 0 to 1; NaN if a category has no rounds.
        """
        shares = np.full((self.n_categories, len(rounds)), np.nan)
        for k, of_category in enumerate(self._rounds):
            for i, n in enumerate(rounds):
                first = of_category.first(n)
                if len(first.alphas):
                    sizes = np.abs(first.alphas)
                    shares[k, i] = sizes[first.columns < self._n_thresholds].sum() / sizes.sum()
        return shares

    @property
    def n_iter_(self) -> int:
        """The largest number of rounds of a category."""
        return max((len(rounds.alphas) for rounds in self._rounds), default=0)

    def summary(self) -> dict[str, Any]:
        """Return the numbers of rounds, of rules, and of rounds with thresholds."""
        rounds = [len(rounds.alphas) for rounds in self._rounds]
        n_rules = sum(len(rounds.merged()[0]) for rounds in self._rounds)
        on = sum(int((rounds.columns < self._n_thresholds).sum()) for rounds in self._rounds)
        return {"rounds": rounds, "rules": n_rules, "rounds_on_thresholds": on}

    # ---- categories and files ----------------------------------------------------------------

    def drop_categories(self, keep: np.ndarray) -> Self:
        """Remove the categories where `keep` is false; the others are renumbered in order."""
        retained = np.flatnonzero(checked_mask(keep, self.n_categories, "category"))
        rounds = [self._rounds[k] for k in retained]
        return self._use_rounds(rounds, self._offsets[retained], self._n_thresholds)

    def _use_rounds(self, rounds: list[Rounds], offsets: np.ndarray, n_thresholds: int) -> Self:
        self.n_categories, self._n_thresholds = len(rounds), n_thresholds
        self._rounds, self._offsets = rounds, offsets
        self._table = _Table(rounds, self.n_features, self.n_categories, n_thresholds)
        return self

    def state(self) -> State:
        """Return all rounds, as a JSON-able header and arrays."""
        ends = np.cumsum([0, *(len(rounds.alphas) for rounds in self._rounds)], dtype=np.int64)
        joined = Rounds(*map(np.concatenate, zip(*self._rounds, NO_ROUNDS, strict=True)))
        header = self.header(n_thresholds=self._n_thresholds)
        return header, {"ends": ends, "offsets": self._offsets, **joined._asdict()}

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Return a learner from what `state` returned, checking everything."""
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
        rounds = [Rounds(columns[a:b], thresholds[a:b], alphas[a:b]) for a, b in pairwise(ends)]
        return learner._use_rounds(rounds, np.array(offsets), n_thresholds)


class _Table:
    """The rules of all categories, by column."""

    def __init__(
        self, rounds: list[Rounds], n_features: int, n_categories: int, n_thresholds: int
    ) -> None:
        self.n_thresholds = n_thresholds
        merged = [of_category.merged() for of_category in [*rounds, NO_ROUNDS]]
        columns, thresholds, shares = map(np.concatenate, zip(*merged, strict=True))
        categories = np.repeat(np.arange(len(merged)), [len(columns) for columns, _, _ in merged])
        # Missing features reach a threshold of zero or less.
        reached = np.where((columns < n_thresholds) & (thresholds <= 0), 1.0, -1.0)
        self.bases = np.bincount(categories, reached * shares, n_categories)[:n_categories]
        self.has_rules = np.array([len(of_category.alphas) > 0 for of_category in rounds], bool)
        order = np.argsort(columns, kind="stable")
        self.starts = np.searchsorted(columns[order], np.arange(n_features + 1))
        self.categories, self.thresholds = categories[order], thresholds[order]
        self.changes = (-2 * reached * shares)[order]

    def scores(self, rows: Rows, n_jobs: int = 1) -> np.ndarray:
        from thresher._kernels.boosting import add_rules

        sums = np.tile(self.bases, (rows.n_rows, 1))
        rules = self.starts, self.categories, self.thresholds, self.changes, self.n_thresholds
        documents = rows.indptr, rows.indices.view(np.uint32), rows.values
        run_cache_line_blocks(partial(add_rules, *documents, *rules, sums), rows.n_rows, n_jobs)
        return sums


def _best_round(margins: np.ndarray, signed: np.ndarray) -> int:
    """Return the round, from 1, around which the average precision of rows is highest."""
    known = signed != 0
    order = np.argsort(-margins[:, known], axis=1, kind="stable")
    signed = signed[known][order]
    hits = np.maximum(signed, 0)
    precision = np.cumsum(hits, axis=1) / np.cumsum(np.abs(signed), axis=1)
    average = np.pad((precision * hits).sum(1), ROUNDS_AVERAGED // 2, mode="edge")
    return 1 + int(np.argmax(np.convolve(average, np.ones(ROUNDS_AVERAGED), "valid")))


def _highest_f1(scores: np.ndarray, signed: np.ndarray) -> float:
    """Return the threshold with the highest F1, midway between neighbouring scores."""
    order = np.argsort(-scores, kind="stable")
    scores, signed = scores[order], signed[order]
    positive = np.cumsum(np.maximum(signed, 0))
    f1 = 2 * positive / (np.cumsum(np.abs(signed)) + positive[-1])
    last = np.flatnonzero(scores[1:] < scores[:-1])
    if not len(last):
        return float(scores[0])
    best = last[np.argmax(f1[last])]
    return float(scores[best] + scores[best + 1]) / 2
