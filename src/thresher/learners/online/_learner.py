"""The mistake-driven learner: its parameters, its passes, its scores, and what it keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np

from thresher.errors import ModelError, ParameterError
from thresher.examples import Block, Examples
from thresher.learners._checks import check_rows
from thresher.learners._tables import (
    BOTH,
    CATEGORIES,
    FEATURES,
    Table,
    cache_aligned,
    run_cache_line_blocks,
)
from thresher.learners._weighing import narrowed, weigh
from thresher.learners.growing import GrowingLearner
from thresher.learners.learner import Progress, State, Watch
from thresher.learners.online._discarding import extremal_mask
from thresher.limits import LARGEST, LARGEST_SUM, LARGEST_WEIGHT, MOST_COUNTED, MOST_THINGS
from thresher.parameters import ROUNDS, THREADS, Choice, Flag, Number, Some, Whole, parameter
from thresher.rows import Labels, Rows
from thresher.state import require_field, require_tensor

Unseen = Literal["keep", "drop"]

Average = Literal["successes", "examples"]
AVERAGES = (None, *get_args(Average))  # the position is the kernel's code
PRUNE_EVERY = 1000  # documents between two prunings to the feature budget
LEAST_ACTIVE = 1e-9  # features of a document, in the mean
PIECES = 20  # of a pass that is watched
LISTED_PASSES = 1000  # of which the mistakes are kept; a stream never ends
MOST = 2.0**24  # of what multiplies weights
MOST_SEED = 2**63 - 1
ROUNDING = 2.0**-24  # how far one operation of single precision is off, relatively, at most
# What the kernels get for arrays that a learner does without.
NOTHING = {
    "up": np.empty((0, 0), np.float32),
    "down": np.empty((0, 0), np.float32),
    "drift": np.empty((0, 0)),
    "live": np.empty((0, 0), bool),
}
NO_KNOWN = np.empty((0, 0), bool)  # all answers are about all categories


def _refuse_strength(value: Any) -> str | None:
    right = isinstance(value, int | float | np.number) and 0 <= value <= LARGEST
    return None if right else "True, False or at least 0"


def _refuse_weights(value: Any) -> str | None:
    try:
        weights = np.asarray(value, np.float64)
    except (TypeError, ValueError, OverflowError):
        weights = np.zeros(1)
    right = weights.ndim <= 1 and bool(((weights > 0) & (weights <= MOST)).all())
    return None if right else "a number above 0, or one per category"


def _refuse_seed(value: Any) -> str | None:
    generators = np.random.Generator | np.random.RandomState | np.random.SeedSequence
    whole = isinstance(value, int | np.integer) and 0 <= value <= MOST_SEED
    return None if whole or isinstance(value, generators) else "a whole number from 0, a generator"


class OnlineLearner(GrowingLearner):
    """A learner that is corrected where it is mistaken; all categories at once, in passes.

    A subclass says which arrays it keeps (`_layout`) and how one pass goes (`_pass`).

    Attributes
    ----------
    mistakes_ : list of int
        Mistakes in each pass, over all categories; of the last 1,000 passes.
    n_passes_, n_seen_ : int
        How many passes there were, and how many documents in all of them.
    discarded_share_ : float
        Which part of the weights has been discarded.
    """

    threshold: float = parameter(
        default=0.0, kind=Number(), words="θ, which a document must score above to belong."
    )
    always_on: float = parameter(
        default=False,
        kind=Some("bool or float", _refuse_strength),
        words="Add a feature of this strength (1 if True) to every document.",
    )
    normalize_strength: bool = parameter(
        default=False, kind=Flag(), words="Divide all strengths, always-on included, by their sum."
    )
    unseen: Unseen = parameter(
        default="keep",
        kind=Choice(get_args(Unseen)),
        words="""Whether features never met while learning, or discarded, count when a document is
        scored; "drop" takes them out before the strengths are normalised.""",
    )
    average: Average | None = parameter(
        default=None,
        kind=Choice(AVERAGES),
        words="""Score with the mean of all hypotheses instead of the last: each weighted by the
        documents it got right, or by all the documents after which it stood.""",
    )
    positive_weight: Any = parameter(
        default=1.0,
        kind=Some("float or one per category", _refuse_weights),
        words="""How much more a mistake on a positive document counts than one on a negative; it
        multiplies the weight of the document.""",
    )
    feature_budget: int | None = parameter(
        default=None,
        kind=Whole(1, optional=True),
        words="""Keep at most so many features per category by Extremal Feature Selection, after
        every 1,000 documents and after each pass.""",
    )
    extremal_share: float = parameter(
        default=0.9, kind=Number(0, 1), words="The part of it that the weightiest features get."
    )
    max_iter: int = parameter(
        default=10, kind=ROUNDS, words="Passes at most; `fit` stops after one without mistakes."
    )
    shuffle: bool = parameter(
        default=True, kind=Flag(), words="Meet the documents in another order in each pass."
    )
    random_state: Any = parameter(
        default=0,
        kind=Some("int", _refuse_seed, int, optional=True),
        words="The seed of that order.",
    )
    n_jobs: int = parameter(
        default=1, kind=THREADS, words="Threads; the result does not depend on how many."
    )

    by_feature: ClassVar[tuple[str, ...]] = ("weights", "live", "seen")
    mean_active_ = 1.0  # d, until documents are seen
    _figures = ("mistakes_", "n_passes_", "n_seen_", "_pass_mistakes", "_pass_size", "_filtered")

    # ---- what a subclass provides ------------------------------------------------------------

    def _layout(self) -> dict[str, Table]:
        """Name the arrays that are kept, beside the clock and what was seen."""
        raise NotImplementedError

    def _pass(self, documents: Any) -> tuple[Callable[..., None], Any, Any]:
        """Return the kernel that meets the documents, and its weights and rule."""
        raise NotImplementedError

    def _arrays(self, weights: Any, **more: Any) -> Any:
        """Return the arrays as a kernel takes them, by the names of its fields."""
        arrays = NOTHING | self._tables.whole | more
        return weights(*(arrays[name] for name in weights._fields))

    @property
    def weight_bytes(self) -> int:
        """How much memory each pair of feature and category takes."""
        both = (table for table in self._layout().values() if table.axes == BOTH)
        return sum(np.dtype(table.dtype).itemsize for table in both)

    def _matrix(self, fill: float, most: float = LARGEST_WEIGHT) -> dict[str, Table]:
        """Return the layout of one matrix of weights, and of its average where there is one."""
        sums = -LARGEST_SUM, LARGEST_SUM
        drift = {} if self.average is None else {"drift": Table(BOTH, np.float64, 0.0, *sums)}
        return {"weights": Table(BOTH, np.float32, fill, -most, most), **drift}

    # ---- starting, and categories that go or become one --------------------------------------

    def start(self, n_features: int, n_categories: int, mean_active: float = 1.0) -> Self:
        """Forget everything and begin with `n_features` and `n_categories`."""
        self.check_parameters()
        self.mean_active_ = float(mean_active) if mean_active > 0 else 1.0
        self.mistakes_: list[int] = []
        self.n_passes_ = self.n_seen_ = 0
        self._pass_mistakes = self._pass_size = 0
        self._filtered = False  # whether the filtering range has been applied
        self.is_compacted = False
        clock = Table(CATEGORIES, np.float64, 0.0, 0, LARGEST_SUM)
        seen = Table(FEATURES, bool, False)
        layout = self._layout() | {"clock": clock, "seen": seen}
        self._begin(layout, n_features, n_categories)
        return self

    @property
    def n_iter_(self) -> int:
        """How many passes there were."""
        return self.n_passes_

    def drop_categories(self, keep: np.ndarray) -> Self:
        """Remove the categories where `keep` is false; the others are renumbered in order."""
        super().drop_categories(keep)
        if np.ndim(self.positive_weight):
            self.positive_weight = np.asarray(self.positive_weight)[keep].tolist()
        return self

    def _merge_average(self, source: int, target: int, mean: np.ndarray) -> None:
        """Let the target, whose weights are merged, have this average; what is live stays live."""
        tables = self._tables
        clock, both = tables["clock"], [source, target]
        clock[target] = clock[both].max()
        if "drift" in tables:
            change = tables["weights"][:, target] - mean
            tables["drift"][:, target] = max(clock[target], 1) * change
        if "live" in tables:
            tables["live"][:, target] = tables["live"][:, both].any(1)

    def _touches_all(self) -> bool:
        return self.feature_budget is not None or self._may_discard()

    # ---- learning ----------------------------------------------------------------------------

    def fit_rows(
        self, examples: Examples, *, n_jobs: int = 1, progress: Progress = None, watch: Watch = None
    ) -> Self:
        """Learn from scratch, in up to `max_iter` passes, stopping when no mistakes remain."""
        self.start(examples.n_columns, examples.n_categories, examples.mean_active)
        self._begin_passes(examples, n_jobs)
        generator = _generator(self.random_state)
        n_documents = len(examples)
        for number in range(1, self.max_iter + 1):
            order = examples.shuffled(generator) if self.shuffle else np.arange(n_documents)
            blocks, done = examples.walk(order), 0
            for rows, labels, visits in blocks if watch is None else _pieces(blocks, n_documents):
                met = rows.n_rows if visits is None else len(visits)
                numbers = order[done : done + met]
                done += met
                mistakes = self._meet(rows, labels, visits, numbers, n_jobs)
                if done == n_documents:
                    self._end_pass()
                if progress is not None:
                    progress(f"pass {number}", done, done / n_documents)
                if watch is not None:
                    watch(number, met, int(mistakes.sum()), met * len(mistakes))
            if not any(self.mistakes_[-1:]):
                break
        self._tables.tighten()
        self.check_bounds()
        return self

    def _begin_passes(self, examples: Examples, n_jobs: int) -> None:
        """Look at all documents before the first pass, where the learner wants to."""

    def _meet(
        self, rows: Rows, labels: Labels, order: np.ndarray | None, numbers: np.ndarray, n_jobs: int
    ) -> np.ndarray:
        """Learn from some documents of a pass, of which `numbers` are those among all."""
        weights = labels.weights
        return self.learn_rows(rows, labels, order, n_jobs, sample_weight=weights, ends_pass=False)

    def _learn(
        self, rows: Rows, labels: Labels, order: np.ndarray | None, weights: np.ndarray, n_jobs: int
    ) -> np.ndarray:
        """Correct the mistaken categories and count the mistakes."""
        n, order = self.n_categories, np.arange(rows.n_rows) if order is None else order
        if not weights.all():
            order = order[weights[order] > 0]  # a document of no weight is as good as absent
        whole, tally = self._documents(rows, labels, order, weights), self._tally()
        mistakes = np.zeros(n, np.int64)
        for piece in self._until_pruning(order):
            documents = whole._replace(order=piece)
            epoch, model, rule = self._pass(documents)
            run_cache_line_blocks(partial(epoch, documents, model, tally, rule), n, n_jobs)
            mistakes += tally.mistakes
            tally.mistakes[:] = 0
            self._note(rows, piece)
        self._pass_mistakes += int(mistakes.sum())
        return mistakes

    def _documents(self, rows: Rows, labels: Labels, order: np.ndarray, weights: np.ndarray) -> Any:
        """Return documents and their labels as the kernels take them."""
        from thresher._kernels.online import Documents

        strengths, always_on = self.strengths(rows, training=True)
        words = strengths.indptr, strengths.indices.view(np.uint32), strengths.values
        known = NO_KNOWN if labels.known is None else np.ascontiguousarray(labels.known)
        categories = labels.indptr, labels.indices.view(np.uint32)
        return Documents(*words, always_on, order, weights, *categories, known)

    def _tally(self) -> Any:
        """Return what the kernels keep per category beside the weights."""
        from thresher._kernels.online import Tally

        n = self.n_categories
        scores, steps = (cache_aligned([n], np.float32)[:n] for _ in range(2))
        wrong, mistakes = (cache_aligned([n], np.int64)[:n] for _ in range(2))
        clock = self._tables.whole["clock"]
        return Tally(scores, steps, wrong, mistakes, clock, self._positive_weights())

    def _until_pruning(self, order: np.ndarray) -> list[np.ndarray]:
        """Cut the documents where the features are due to be pruned to their budget."""
        if self.feature_budget is None:
            return [order]
        due = PRUNE_EVERY - self.n_seen_ % PRUNE_EVERY
        return np.split(order, range(due, len(order), PRUNE_EVERY))

    def _note(self, rows: Rows, piece: np.ndarray) -> None:
        """Remember what was seen."""
        self.n_seen_ += len(piece)
        self._pass_size += len(piece)
        if self._counts_features():
            taken = rows.take(piece)
            self._tables["seen"][1 + taken.indices[taken.values != 0]] = True
        if self.n_seen_ % PRUNE_EVERY == 0:
            self._keep_to_budget()

    def _end_pass(self) -> None:
        self.mistakes_.append(self._pass_mistakes)
        del self.mistakes_[:-LISTED_PASSES]
        self.n_passes_ += 1
        self._discard_after_pass()
        self._keep_to_budget()
        self._pass_mistakes = self._pass_size = 0

    def _counts_features(self) -> bool:
        """Tell whether it matters which features were met while learning."""
        return self.unseen == "drop" or self.feature_budget is not None

    def _positive_weights(self) -> np.ndarray:
        """Return how much a mistake on a positive counts in each category."""
        weights = np.asarray(self.positive_weight, np.float64)
        if weights.shape not in ((), (self.n_categories,)):
            raise ParameterError(
                f"{type(self).__name__}: positive_weight is {self.positive_weight!r}; it must be "
                f"a number above 0, or {self.n_categories} of them, one per category."
            )
        return np.broadcast_to(weights, (self.n_categories,)).copy()

    # ---- scoring -----------------------------------------------------------------------------

    def score_rows(self, rows: Rows, n_jobs: int = 1) -> np.ndarray:
        """Return a score per document and category; above zero means that it belongs."""
        strengths, always_on, weights, divisor = self._for_scoring(rows)
        scores = weigh(strengths, always_on, weights, self.n_categories, n_jobs)
        if divisor is not None:
            below = weigh(strengths, always_on, divisor, self.n_categories, n_jobs)
            scores /= np.where(below > 0, below, np.float32(1))
        scores -= np.float32(self.score_offset)
        if self.score_offset:  # a score that rounding may have parted from the threshold is at it
            slack = abs(self.score_offset) * ROUNDING * (4 + np.diff(rows.indptr))
            scores[np.abs(scores) <= slack.astype(np.float32)[:, None]] = 0
        return scores

    def plain_weights(self) -> tuple[np.ndarray, np.float32] | None:
        """Return the weights that `score_rows` adds up, and the always-on feature's strength."""
        is_own = type(self).score_rows is not OnlineLearner.score_rows
        alters = self.normalize_strength or self.unseen == "drop" or self.score_offset
        if is_own or alters or not self._scores_as_is():
            return None
        return self._scoring_weights(), np.float32(self.always_on)

    def contributions(self, rows: Rows, category: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what each entry of `rows` adds to the score of a category, and the rest of it.

        The rest is the always-on feature, less the threshold.
        """
        strengths, always_on, weights, divisor = self._for_scoring(rows)
        column = weights[:, category]
        parts, rest = strengths.values * column[1:][strengths.indices], always_on * column[0]
        if divisor is not None:
            own = np.ascontiguousarray(divisor[:, [category]])
            below = weigh(strengths, always_on, own, 1)[:, 0]
            below = np.where(below > 0, below, np.float32(1))
            parts /= np.repeat(below, np.diff(rows.indptr))
            rest /= below
        return parts, rest - np.float32(self.score_offset)

    def effective_weights(self) -> np.ndarray:
        """Return the weights (features, categories) with which documents are scored."""
        return self._scoring_weights()[1:, : self.n_categories]

    linear_weights = effective_weights

    def always_on_weights(self) -> np.ndarray:
        """Return the weight of the always-on feature in each category."""
        return np.asarray(self._scoring_weights(slice(0, 1))[0, : self.n_categories])

    def thresholds(self) -> np.ndarray:
        """Return what the words of a document must exceed, per category.

        What the always-on feature adds is taken off, unless `normalize_strength` makes it vary.
        """
        constant = np.full(self.n_categories, self.score_offset, np.float32)
        if self.normalize_strength:
            return constant
        return np.asarray(constant - np.float32(self.always_on) * self.always_on_weights())

    @property
    def coef_(self) -> np.ndarray:
        """The weights, one row per class (one in all where there are two classes)."""
        return self.effective_weights().T

    @property
    def intercept_(self) -> np.ndarray:
        """What is added to the weighted strengths: the thresholds, negative."""
        return -self.thresholds()

    def strengths(self, rows: Rows, training: bool = False) -> tuple[Rows, np.ndarray]:
        """Return the strengths as the learner uses them, and the always-on feature's."""
        values = rows.values
        always_on = np.full(rows.n_rows, float(self.always_on), np.float32)
        if self.unseen == "drop" and not training:
            values = np.where(self._tables["seen"][1:][rows.indices], values, np.float32(0))
        if self.normalize_strength and (training or not self._renormalizes()):
            from thresher._kernels.online import normalize_strengths

            divided, constants = np.empty_like(values), np.empty_like(always_on)
            normalize_strengths(rows.indptr, values, always_on, divided, constants)
            values, always_on = divided, constants
        return rows._replace(values=values), always_on

    def _for_scoring(self, rows: Rows) -> tuple[Rows, np.ndarray, np.ndarray, np.ndarray | None]:
        """Return strengths, always-on strengths, and the matrices for the words they have."""
        check_rows(rows, type(self).__name__, self.n_features, self.non_negative)
        strengths, always_on = self.strengths(rows)
        if self._scores_as_is() and not self._renormalizes():
            return strengths, always_on, self._scoring_weights(), None
        strengths, used = narrowed(strengths, self.n_features)
        return strengths, always_on, self._scoring_weights(used), self._divisor(used)

    def _scores_as_is(self) -> bool:
        """Tell whether the array `weights` is what documents are scored with."""
        return self.average is None

    def _scoring_weights(self, used: Any = None) -> np.ndarray:
        """Return (some rows of) the weights, or their average; columns may be more than needed."""
        used = slice(None, 1 + self.n_features) if used is None else used
        if self.average is None:
            return np.asarray(self._tables.whole["weights"][used])
        drift = self._tables["drift"][used] / np.maximum(self._tables["clock"], 1)
        return bounded(self._tables["weights"][used] - drift)

    @property
    def score_offset(self) -> float:
        """What is taken off every score."""
        return self.threshold

    def _renormalizes(self) -> bool:
        """Tell whether strengths are normalised over the features each category has kept."""
        return self.normalize_strength and self.unseen == "drop" and "live" in self._tables

    def _divisor(self, used: Any) -> np.ndarray | None:
        """Return some rows of the weights of a sum by which scores are divided, if they are."""
        renormalizes = self._renormalizes()
        return np.asarray(self._tables["live"][used], np.float32) if renormalizes else None

    # ---- discarding --------------------------------------------------------------------------

    def live_weights(self) -> np.ndarray:
        """Return which features each category holds: met while learning and not discarded."""
        return np.asarray(self._met_features()[:, None] & self._live(slice(1, None)))

    def live_features(self) -> np.ndarray:
        """Return which features some category still holds; the others may be pruned."""
        if "live" not in self._tables:
            return np.ones(self.n_features, bool)
        return np.asarray(self._tables["live"][1:].any(axis=1))

    def _live(self, rows: Any) -> np.ndarray:
        """Return which weights of some rows are not discarded."""
        if "live" in self._tables:
            return np.asarray(self._tables["live"][rows])
        return np.ones((len(self._tables["seen"][rows]), self.n_categories), bool)

    def discard_features(self, discarded: np.ndarray) -> Self:
        """Take features out of categories, for learning and scoring alike.

        Parameters
        ----------
        discarded : array of bool, shape (features, categories)
            True where a category is to do without the feature from now on.
        """
        return self._discard(np.arange(self.n_features), ~discarded)

    @property
    def discarded_share_(self) -> float:
        """Which part of the weights of the features met has been discarded."""
        if "live" not in self._tables:
            return 0.0
        met = self._tables["live"][1:][self._met_features()]
        return float(1 - met.mean()) if met.size else 0.0

    def summary(self) -> dict[str, Any]:
        """Return how many features are still held, and the mistakes of each pass."""
        return {
            "live_features": int(np.count_nonzero(self.live_features())),
            "discarded_share": round(self.discarded_share_, 4),
            "mistakes": [int(one) for one in self.mistakes_],
        }

    def _met_features(self) -> np.ndarray:
        """Return which features were met; all, where nobody asked to keep count."""
        counts, seen = self._counts_features(), self._tables["seen"][1:]
        return seen if counts else np.ones(self.n_features, bool)

    def _may_discard(self) -> bool:
        """Tell whether features may still be discarded at the end of a pass."""
        return False

    def _discard_after_pass(self) -> None:
        """Discard what the first passes showed to be irrelevant, where the learner can tell."""

    def _discard(self, features: np.ndarray, keep: np.ndarray) -> Self:
        """Take out of the categories those of `features` that they do not keep."""
        self._check_whole()
        tables, rows = self._tables, 1 + features
        if "live" not in tables:
            tables.add("live", Table(BOTH, bool, True))
        for name, table in self._layout().items():
            if table.axes == BOTH:
                tables[name][rows] *= keep
        tables["live"][rows] &= keep
        return self

    def _keep_to_budget(self) -> None:
        if self.feature_budget is None:
            return
        features = np.flatnonzero(self._tables["seen"][1:] & self.live_features())
        live = self._live(1 + features)
        if live.sum(0).max(initial=0) > self.feature_budget:
            importance = self._importance(1 + features)
            keep = extremal_mask(importance, live, self.feature_budget, self.extremal_share)
            self._discard(features, keep)

    def _importance(self, rows: np.ndarray) -> np.ndarray:
        """Return how far some weights are from zero, in units that may differ by category."""
        return np.asarray(np.abs(self._tables["weights"][rows]))

    # ---- state -------------------------------------------------------------------------------

    def compacted(self) -> Self:
        """Return one that scores alike, to the last bit, and cannot learn on."""
        header, tensors = self.state()
        if "weights" in tensors:
            tensors["weights"] = np.asarray(self._scoring_weights()[:, : self.n_categories])
        if "scale" in tensors:
            tensors["scale"] = np.ones_like(tensors["scale"])
        if self.average is not None:  # that is what the weights are from now on
            header["params"]["average"] = None
        return self.from_state(header | {"compacted": True}, tensors)

    def _leave_out_learning(self) -> None:
        """Do without the tables that no score is computed from."""
        layout = self._tables.layout
        needed = {*self.by_feature} if self._renormalizes() else {*self.by_feature} - {"live"}
        kept = {k: one for k, one in layout.items() if one.axes != BOTH or k in needed}
        self._begin(kept, 0, 0)
        self.is_compacted = True

    def _checked(self, rows: Rows, labels: Labels, sample_weight: np.ndarray | None) -> np.ndarray:
        self._check_whole()
        return super()._checked(rows, labels, sample_weight)

    def _enlarge(self, n_features: int, n_categories: int) -> None:
        self._check_whole()
        super()._enlarge(n_features, n_categories)

    def merge_categories(self, source: int, target: int) -> Self:
        """Let the category `target` stand for `source` too, which is then removed."""
        self._check_whole()
        return super().merge_categories(source, target)

    def _check_whole(self) -> None:
        if self.is_compacted:
            raise ModelError(
                f"This {type(self).__name__} was compacted: what learning needs is left out. Learn "
                "with the model that it was made from."
            )

    def state(self) -> State:
        """Return all that is needed to go on, as a JSON-able header and arrays."""
        figures = {"mean_active": self.mean_active_, "mistakes": list(self.mistakes_)}
        counts = {"n_passes": self.n_passes_, "n_seen": self.n_seen_, "filtered": self._filtered}
        self.check_bounds()  # what could not be read again is not written
        header, tensors = self.header(**figures, **counts), self._tables.tensors()
        tensors["seen"] = tensors["seen"][1:]
        if self.is_compacted:
            header["compacted"] = True
            if not self._counts_features():
                del tensors["seen"]
        return header, tensors

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Rebuild a learner from what `state` returned, checking every shape and type."""
        learner, n_features, n_categories = cls.from_header(header)
        mean_active = require_field(
            header, "mean_active", float, low=LEAST_ACTIVE, high=MOST_THINGS
        )
        mistakes = require_field(header, "mistakes", list)
        if not all(map(Whole(0, MOST_COUNTED).allows, mistakes)):
            raise ModelError("The learner's part of the model is damaged: its figures are wrong.")
        learner.start(0, 0, mean_active)
        learner.mistakes_ = mistakes[-LISTED_PASSES:]
        learner.n_passes_ = require_field(
            {"n_passes": len(mistakes)} | header, "n_passes", int, low=0
        )
        learner.n_seen_ = require_field(header, "n_seen", int, low=0)
        learner._filtered = require_field(header, "filtered", bool)
        if "live" in tensors:
            learner._tables.add("live", Table(BOTH, bool, True))
        if require_field({"compacted": False} | header, "compacted", bool):
            learner._leave_out_learning()
            tensors = {"seen": np.zeros(n_features, np.uint8)} | tensors
        seen = require_tensor(tensors, "seen", np.uint8, (n_features,))
        tensors = tensors | {"seen": np.append(np.uint8(0), seen)}
        learner._read_tables(tensors, n_features, n_categories)
        try:
            learner._positive_weights()  # are there as many as categories?
        except ParameterError as error:
            raise ModelError(f"The learner's part of the model is damaged: {error}") from error
        return learner


def bounded(weights: np.ndarray) -> np.ndarray:
    """Return weights in single precision, none so large that scores would not be finite."""
    return np.asarray(np.clip(weights, -LARGEST_WEIGHT, LARGEST_WEIGHT), np.float32)


def _pieces(blocks: Iterator[Block], n_documents: int) -> Iterator[Block]:
    """Yield blocks in pieces of a twentieth of all documents."""
    size = max(1, -(-n_documents // PIECES))
    for rows, labels, visits in blocks:
        order = np.arange(rows.n_rows) if visits is None else visits
        for start in range(0, len(order), size):
            piece = order[start : start + size]
            yield rows.take(piece), labels.take(piece), None


def _generator(random_state: Any) -> np.random.Generator:
    """Return a generator from a seed, None, a generator or NumPy's older RandomState."""
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31)
    return np.random.default_rng(random_state)
