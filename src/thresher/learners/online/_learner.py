"""The online learner: its parameters, its passes over the documents, and its state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np

from thresher.errors import ModelError, ParameterError
from thresher.examples import Block, Examples
from thresher.learners.growing import BOTH, CATEGORIES, FEATURES, GrowingLearner, Table
from thresher.learners.learner import Progress, State, Watch
from thresher.learners.online._selection import DOCUMENTS_PER_PRUNING, FeatureSelection
from thresher.learners.scoring import LinearScores, cache_aligned, run_cache_line_blocks
from thresher.limits import LARGEST, LARGEST_SUM, LARGEST_WEIGHT, MOST_COUNTED, MOST_THINGS
from thresher.parameters import ROUNDS, THREADS, Choice, Flag, Number, Some, Whole, parameter
from thresher.rows import Labels, Rows
from thresher.state import require_field, require_tensor

Unseen = Literal["keep", "drop"]

Average = Literal["successes", "examples"]
AVERAGES = (None, *get_args(Average))  # the position is the kernel's code
SMALLEST_MEAN_ACTIVE = 1e-9
WATCHED_PIECES_PER_PASS = 20
PASSES_LISTED = 1000  # in `mistakes_`; a stream never ends
LARGEST_POSITIVE_WEIGHT = 2.0**24
LARGEST_SEED = 2**63 - 1
# What the kernels get for the arrays that a learner does not have.
NO_ARRAYS = {
    "up": np.empty((0, 0), np.float32),
    "down": np.empty((0, 0), np.float32),
    "drift": np.empty((0, 0)),
    "live": np.empty((0, 0), bool),
}
ALL_KNOWN = np.empty((0, 0), bool)  # all labels are known


def _strength_problem(value: Any) -> str | None:
    is_right = isinstance(value, int | float | np.number) and 0 <= value <= LARGEST
    return None if is_right else "True, False or at least 0"


def _weights_problem(value: Any) -> str | None:
    try:
        weights = np.asarray(value, np.float64)
    except (TypeError, ValueError, OverflowError):
        weights = np.zeros(1)
    is_inside = (weights > 0) & (weights <= LARGEST_POSITIVE_WEIGHT)
    is_right = weights.ndim <= 1 and bool(is_inside.all())
    return None if is_right else "a number above 0, or one per category"


def _seed_problem(value: Any) -> str | None:
    generators = np.random.Generator | np.random.RandomState | np.random.SeedSequence
    is_whole = isinstance(value, int | np.integer) and 0 <= value <= LARGEST_SEED
    is_right = is_whole or isinstance(value, generators)
    return None if is_right else "a whole number from 0, a generator"


class OnlineLearner(LinearScores, FeatureSelection, GrowingLearner):
    """A learner that is corrected by its mistakes, for all categories at once, in passes.

    Its scores are described in `LinearScores`. A subclass declares its arrays (`_layout`) and
    names the kernel of a pass (`_pass`).

    Attributes
    ----------
    mistakes_ : list of int
        Mistakes in each of the last 1,000 passes, over all categories.
    n_passes_, n_seen_ : int
        The number of passes, and of documents in all of them.
    discarded_share_ : float
        The share of the weights that has been discarded.
    """

    threshold: float = parameter(
        default=0.0, kind=Number(), words="θ, which a document must score above to belong."
    )
    always_on: float = parameter(
        default=False,
        kind=Some("bool or float", _strength_problem),
        words="Add a feature of this strength (1 if True) to every document.",
    )
    normalize_strength: bool = parameter(
        default=False, kind=Flag(), words="Divide all strengths, always-on included, by their sum."
    )
    unseen: Unseen = parameter(
        default="keep",
        kind=Choice(get_args(Unseen)),
        words="""Whether features not seen in training, or discarded, count when a document is
        scored; "drop" removes them before the strengths are normalised.""",
    )
    average: Average | None = parameter(
        default=None,
        kind=Choice(AVERAGES),
        words="""Score with the mean of all hypotheses instead of the last: each weighted by the
        documents it got right, or by all the documents after which it stood.""",
    )
    positive_weight: Any = parameter(
        default=1.0,
        kind=Some("float or one per category", _weights_problem),
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
        default=0.9, kind=Number(0, 1), words="The share of it that the weightiest features get."
    )
    max_iter: int = parameter(
        default=10, kind=ROUNDS, words="Passes at most; `fit` stops after one without mistakes."
    )
    shuffle: bool = parameter(
        default=True, kind=Flag(), words="Visit the documents in another order in each pass."
    )
    random_state: Any = parameter(
        default=0,
        kind=Some("int", _seed_problem, int, optional=True),
        words="The seed of that order.",
    )
    n_jobs: int = parameter(
        default=1, kind=THREADS, words="Threads; the result does not depend on how many."
    )

    by_feature: ClassVar[tuple[str, ...]] = ("weights", "live", "seen")
    mean_active_ = 1.0  # d, until documents are seen
    _counters = ("mistakes_", "n_passes_", "n_seen_", "_pass_mistakes", "_pass_size", "_filtered")

    # ---- what a subclass provides ------------------------------------------------------------

    def _layout(self) -> dict[str, Table]:
        """Return the arrays to learn, besides `clock` and `seen`."""
        raise NotImplementedError

    def _pass(self, documents: Any) -> tuple[Callable[..., None], Any, Any]:
        """Return the kernel of a pass over the documents, and its weights and its rule."""
        raise NotImplementedError

    def _begin_passes(self, examples: Examples, n_jobs: int) -> None:
        """Look at all documents before the first pass."""

    def _may_discard(self) -> bool:
        """Return True if features may still be discarded at the end of a pass."""
        return False

    def _discard_after_pass(self) -> None:
        """Discard the features that the first passes have shown to be irrelevant."""

    # ---- helpers for subclasses --------------------------------------------------------------

    def _arrays(self, kind: Any, **more: Any) -> Any:
        """Return the arrays as a kernel takes them: a tuple of this kind, by field names."""
        arrays = NO_ARRAYS | self._tables.buffers | more
        return kind(*[arrays[name] for name in kind._fields])

    def _matrix(self, initial: float, largest: float = LARGEST_WEIGHT) -> dict[str, Table]:
        """Return the layout of a matrix of weights, and of its average if there is one."""
        layout = {"weights": Table(BOTH, np.float32, initial, -largest, largest)}
        if self.average is not None:
            layout["drift"] = Table(BOTH, np.float64, 0.0, -LARGEST_SUM, LARGEST_SUM)
        return layout

    def _merge_average(self, source: int, target: int, mean: np.ndarray) -> None:
        """Set the average of the target, whose weights are merged; what is live stays live."""
        tables = self._tables
        clock, both = tables["clock"], [source, target]
        clock[target] = clock[both].max()
        if "drift" in tables:
            change = tables["weights"][:, target] - mean
            tables["drift"][:, target] = max(clock[target], 1) * change
        if "live" in tables:
            tables["live"][:, target] = tables["live"][:, both].any(1)

    # ---- learning ----------------------------------------------------------------------------

    def start(self, n_features: int, n_categories: int, mean_active: float = 1.0) -> Self:
        """Forget everything and begin with `n_features` and `n_categories`."""
        self.check_parameters()
        self.mean_active_ = float(mean_active) if mean_active > 0 else 1.0
        self.mistakes_: list[int] = []
        self.n_passes_ = self.n_seen_ = 0
        self._pass_mistakes = self._pass_size = 0
        self._filtered = False  # whether the filtering range has been applied
        self._compacted = False
        clock = Table(CATEGORIES, np.float64, 0.0, 0, LARGEST_SUM)
        seen = Table(FEATURES, bool, False)
        layout = self._layout() | {"clock": clock, "seen": seen}
        self._create_tables(layout, n_features, n_categories)
        return self

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
            blocks, n_done = examples.walk(order), 0
            for rows, labels, visits in blocks if watch is None else _pieces(blocks, n_documents):
                visits = np.arange(rows.n_rows) if visits is None else visits
                numbers = order[n_done : n_done + len(visits)]
                n_done += len(visits)
                mistakes = self._learn_block(rows, labels, visits, numbers, n_jobs)
                if n_done == n_documents:
                    self._end_pass()
                if progress is not None:
                    progress(f"pass {number}", n_done, n_done / n_documents)
                if watch is not None:
                    watch(number, len(visits), int(mistakes.sum()), len(visits) * len(mistakes))
            if not any(self.mistakes_[-1:]):
                break
        self._tables.tighten()
        self.check_bounds()
        return self

    def _learn_block(
        self, rows: Rows, labels: Labels, order: np.ndarray, numbers: np.ndarray, n_jobs: int
    ) -> np.ndarray:
        """Learn from some documents of a pass, whose `numbers` are those among all documents."""
        weights = labels.weights
        return self.learn_rows(rows, labels, order, n_jobs, sample_weight=weights, ends_pass=False)

    def _learn(
        self, rows: Rows, labels: Labels, order: np.ndarray | None, weights: np.ndarray, n_jobs: int
    ) -> np.ndarray:
        """Correct the mistaken categories and return the number of mistakes of each."""
        n, order = self.n_categories, np.arange(rows.n_rows) if order is None else order
        if not weights.all():
            order = order[weights[order] > 0]  # a document of weight zero counts as absent
        documents, tally = self._documents(rows, labels, order, weights), self._tally()
        mistakes = np.zeros(n, np.int64)
        for piece in [order] if self.feature_budget is None else self._until_pruning(order):
            visited = documents._replace(order=piece)
            epoch, weights_of_kernel, rule = self._pass(visited)
            work = partial(epoch, visited, weights_of_kernel, tally, rule)
            run_cache_line_blocks(work, n, n_jobs)
            mistakes += tally.mistakes
            tally.mistakes[:] = 0
            self._note_seen(rows, piece)
        self._pass_mistakes += int(mistakes.sum())
        return mistakes

    def _documents(self, rows: Rows, labels: Labels, order: np.ndarray, weights: np.ndarray) -> Any:
        """Return documents and their labels as the kernels take them."""
        from thresher._kernels.online import Documents

        strengths, always_on = self.strengths(rows, training=True)
        entries = strengths.indptr, strengths.indices.view(np.uint32), strengths.values
        known = ALL_KNOWN if labels.known is None else np.ascontiguousarray(labels.known)
        categories = labels.indptr, labels.indices.view(np.uint32)
        return Documents(*entries, always_on, order, weights, *categories, known)

    def _tally(self) -> Any:
        """Return what the kernels store per category besides the weights."""
        from thresher._kernels.online import Tally

        n = self.n_categories
        scores, steps = [cache_aligned([n], np.float32)[:n] for _ in range(2)]
        wrong, mistakes = [cache_aligned([n], np.int64)[:n] for _ in range(2)]
        clock = self._tables.buffers["clock"]
        return Tally(scores, steps, wrong, mistakes, clock, self._positive_weights())

    def _positive_weights(self) -> np.ndarray:
        """Return how much a mistake on a positive counts in each category."""
        weights = np.asarray(self.positive_weight, np.float64)
        if weights.shape not in ((), (self.n_categories,)):
            raise ParameterError(
                f"{type(self).__name__}: positive_weight is {self.positive_weight!r}; it must be "
                f"a number above 0, or {self.n_categories} of them, one per category."
            )
        return np.broadcast_to(weights, (self.n_categories,)).copy()

    def _note_seen(self, rows: Rows, visited: np.ndarray) -> None:
        """Count the visited documents and note their features."""
        self.n_seen_ += len(visited)
        self._pass_size += len(visited)
        if self._counts_features():
            taken = rows.take(visited)
            self._tables["seen"][1 + taken.indices[taken.values != 0]] = True
        if self.feature_budget is not None and self.n_seen_ % DOCUMENTS_PER_PRUNING == 0:
            self._keep_to_budget(self.feature_budget)

    def _counts_features(self) -> bool:
        """Return True if it matters which features were seen in training."""
        return self.unseen == "drop" or self.feature_budget is not None

    def _end_pass(self) -> None:
        self.mistakes_.append(self._pass_mistakes)
        del self.mistakes_[:-PASSES_LISTED]
        self.n_passes_ += 1
        if self._may_discard():
            self._discard_after_pass()
        if self.feature_budget is not None:
            self._keep_to_budget(self.feature_budget)
        self._pass_mistakes = self._pass_size = 0

    def _changes_all_rows(self) -> bool:
        return self.feature_budget is not None or self._may_discard()

    # ---- figures, and fewer categories -------------------------------------------------------

    @property
    def n_iter_(self) -> int:
        """The number of passes."""
        return self.n_passes_

    @property
    def weight_bytes(self) -> int:
        """The memory that each pair of feature and category takes."""
        tables = self._layout().values()
        return sum([np.dtype(table.dtype).itemsize for table in tables if table.axes == BOTH])

    def summary(self) -> dict[str, Any]:
        """Return how many features are in use, and the mistakes of each pass."""
        return {
            "live_features": int(np.count_nonzero(self.live_features())),
            "discarded_share": round(self.discarded_share_, 4),
            "mistakes": [int(mistakes) for mistakes in self.mistakes_],
        }

    def drop_categories(self, keep: np.ndarray) -> Self:
        """Remove the categories where `keep` is false; the others are renumbered in order."""
        super().drop_categories(keep)
        if np.ndim(self.positive_weight):
            self.positive_weight = np.asarray(self.positive_weight)[keep].tolist()
        return self

    # ---- state -------------------------------------------------------------------------------

    def compacted(self) -> Self:
        """Return a learner with exactly the same scores, which cannot learn more documents."""
        header, tensors = self.state()
        if "weights" in tensors:
            tensors["weights"] = np.asarray(self._scoring_weights()[:, : self.n_categories])
        if "scale" in tensors:
            tensors["scale"] = np.ones_like(tensors["scale"])
        if self.average is not None:  # the weights are the average from now on
            header["params"]["average"] = None
        return self.from_state(header | {"compacted": True}, tensors)

    def _leave_out_learning(self) -> None:
        """Remove the tables that no score is computed from."""
        layout = self._tables.layout
        needed = {*self.by_feature} if self._renormalizes() else {*self.by_feature} - {"live"}
        tables = layout.items()
        retained = {name: t for name, t in tables if t.axes != BOTH or name in needed}
        self._create_tables(retained, 0, 0)
        self._compacted = True

    def _check_can_learn(self) -> None:
        if self.is_compacted:
            raise ModelError(
                f"This {type(self).__name__} was compacted: what learning needs is left out. Learn "
                "with the model that it was made from."
            )

    def state(self) -> State:
        """Return the whole learner, as a JSON-able header and arrays."""
        figures = {"mean_active": self.mean_active_, "mistakes": list(self.mistakes_)}
        counts = {"n_passes": self.n_passes_, "n_seen": self.n_seen_, "filtered": self._filtered}
        self.check_bounds()  # only write what can be read again
        header, tensors = self.header(**figures, **counts), self._tables.tensors()
        tensors["seen"] = tensors["seen"][1:]
        if self.is_compacted:
            header["compacted"] = True
            if not self._counts_features():
                del tensors["seen"]
        return header, tensors

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Return a learner from what `state` returned, checking every shape and type."""
        learner, n_features, n_categories = cls.from_header(header)
        mean_active = require_field(
            header, "mean_active", float, low=SMALLEST_MEAN_ACTIVE, high=MOST_THINGS
        )
        mistakes = require_field(header, "mistakes", list)
        if not all(map(Whole(0, MOST_COUNTED).allows, mistakes)):
            raise ModelError("The learner's part of the model is damaged: its figures are wrong.")
        learner.start(0, 0, mean_active)
        learner.mistakes_ = mistakes[-PASSES_LISTED:]
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
            learner._positive_weights()  # checks that there is one per category
        except ParameterError as error:
            raise ModelError(f"The learner's part of the model is damaged: {error}") from error
        return learner


def _pieces(blocks: Iterator[Block], n_documents: int) -> Iterator[Block]:
    """Yield blocks in pieces of a twentieth of all documents."""
    size = max(1, -(-n_documents // WATCHED_PIECES_PER_PASS))
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
