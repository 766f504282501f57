"""A model that many threads read while one of them changes it.

Each reader gets a complete model, as it was before a change or after it. A change that takes long
is made to a copy, which then replaces the model without anybody waiting. A short one is made in
place, which is much cheaper, while no reader is inside.
"""

from __future__ import annotations

import os
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy, deepcopy
from importlib import import_module
from itertools import chain, islice
from threading import Condition, Lock, RLock, current_thread, get_ident
from time import monotonic
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np

from thresher._kernels._jit import compiler_lock
from thresher.documents import Batch
from thresher.engine import engine_for
from thresher.errors import DocumentError, ModelError, ThresherWarning, counted
from thresher.evaluation import Evaluation, evaluate
from thresher.model.categories import Categories
from thresher.model.learn import Learned, Update
from thresher.model.model import Model
from thresher.model.source import LabelledSource, some_weights, timed
from thresher.parameters import names_of
from thresher.rows import Labels, Rows

R = TypeVar("R")
DOCUMENTS_RECOGNIZED = 1000  # compared with those remembered by a model without digests
SHARE_LEARNED_BEFORE = 0.01  # a larger one gets a warning; short texts may be equal by chance
TEXTS_WITHOUT_BATCHES = 1000  # longer lists are cut into batches
Values = Callable[[Model, np.ndarray], np.ndarray]  # of documents by categories, given scores

# Seconds for which a change in place waits for readers to leave, and holds up new ones, before a
# copy is changed instead.
SECONDS_TO_WAIT = 0.01
READING = ("thresher.model.single", "thresher.model.explain", "thresher.answers.answer")
SECONDS_BEFORE_FORK = 2.0  # for which a fork waits for a change in place, or for a compilation
INCOMPLETE = (
    "This process was forked while another thread was changing the model or compiling code for it, "
    "so that its copy of the model is incomplete. Load the model in this process, or fork before "
    "threads use it."
)


class SharedModel:
    """A model read by any number of threads and changed by one at a time.

    Parameters
    ----------
    model : Model
        The model.
    """

    def __init__(self, model: Model) -> None:
        self._state = _State(model)
        self._changing = RLock()  # held by the thread that changes the model, from start to end
        _all_shared.add(self)

    def __getstate__(self) -> Model:
        with self.reading() as model:
            return deepcopy(model)

    def __setstate__(self, model: Model) -> None:
        self.__init__(model)  # type: ignore[misc]

    def __deepcopy__(self, memo: dict[int, Any]) -> SharedModel:
        return SharedModel(self.__getstate__())

    def reading(self) -> _State:
        """Return a context manager that gives the model, which does not change meanwhile.

        The block should be short, such as one batch: a learner may be waiting. A thread may enter
        again inside.
        """
        return self._state

    @property
    def model(self) -> Model:
        """The current model, without a lock: for attributes that never change in place."""
        state = self._state
        state.check_complete()
        return state.model

    @staticmethod
    def reads_at_once(documents: Any) -> bool:
        """Return True if the documents are a list of texts that is short enough to be one batch."""
        return type(documents) is list and (
            0 < len(documents) <= TEXTS_WITHOUT_BATCHES and set(map(type, documents)) == {str}
        )

    def map(
        self,
        work: Callable[[Model, Batch, np.ndarray], R],
        source: LabelledSource,
        n_jobs: int = 1,
    ) -> Iterator[R]:
        """Yield `work(model, batch, scores)` for each batch of documents, in their order.

        Each batch is read by one complete model; between batches it may change.

        Parameters
        ----------
        work : callable
            Called by the threads that score.
        source : LabelledSource
            The documents; the time taken is added to its clock.
        n_jobs : int, default=1
            Threads, which never change the result.
        """
        batches, clock = source.batches("predicting"), source.clock

        def score(batch: Batch, n_jobs: int = 1) -> tuple[R, dict[str, float]]:
            seconds: dict[str, float] = {}
            with self.reading() as model:
                features = model.features
                with timed(seconds, "count"):
                    rows = features.apply(features.count(batch.texts, n_jobs=n_jobs))
                with timed(seconds, "score"):
                    scores = model.score_rows(rows, n_jobs)
                return work(model, batch, scores), seconds

        # All threads share the first batch, which may be the only one; of more, each takes one.
        first = (score(batch, n_jobs) for batch in islice(batches, 1))
        for result, seconds in chain(first, engine_for(n_jobs).map(score, batches)):
            for stage, n_seconds in seconds.items():
                clock[stage] = clock.get(stage, 0.0) + n_seconds
            yield result

    def labels(self, source: LabelledSource, n_jobs: int = 1) -> list[list[Any]]:
        """Return the labels of all documents."""
        batches = self.map(lambda model, _, scores: model.labels_of(scores), source, n_jobs)
        return list(chain.from_iterable(batches))

    def columns(
        self, source: LabelledSource, values: Values, n_jobs: int = 1
    ) -> tuple[list[Any], np.ndarray]:
        """Return the labels known at the beginning, and `values(model, scores)` for them."""
        known = Categories(self.model.categories)

        def work(model: Model, batch: Batch, scores: np.ndarray) -> np.ndarray:
            return values(model, scores)[:, model.categories.columns_for(known)]

        blocks = list(self.map(work, source, n_jobs))
        return known.labels, np.concatenate(blocks or [np.zeros((0, len(known)), np.float32)])

    # ---- changing ----------------------------------------------------------------------------

    def replace(self, model: Model) -> None:
        """Replace the model; readers that have begun finish with the old one."""
        with self._changing:
            self._state = _State(model, self._state.reader)

    @contextmanager
    def editing(self) -> Iterator[Model]:
        """Yield a shallow copy, which then replaces the model; replace its attributes only."""
        with self._changing:
            edited = copy(self.model)
            edited.forget_reader()
            yield edited
            self._state.model = edited  # under the same lock, as the arrays are the same

    @contextmanager
    def changing(self) -> Iterator[Model]:
        """Yield a deep copy to change; it replaces the model unless there is an exception."""
        with self._changing:
            with self.reading() as model:
                changed = deepcopy(model)
            yield changed
            self.replace(changed)

    def learn(self, source: LabelledSource, **options: Any) -> Learned:
        """Learn documents, completely or not at all, and return the result; see `Update`.

        Readers may be held up for some milliseconds: by few documents, which are learned in place.
        More are learned in place only if no other thread has ever read the model, otherwise by a
        copy.
        """
        with self._changing:
            update, state = Update(self.model, source, **options), self._state
            if update.can_be_undone and (update.is_short or not state.has_other_readers):
                with state.writing(SECONDS_TO_WAIT) as is_alone:
                    if is_alone:
                        return update.apply(state.model)
            with self.changing() as model:
                return update.apply(model)


SEVERAL = object()  # in place of a thread


class _State:
    """A model, and a lock that lets in any number of readers or one writer alone.

    As a context manager, it keeps the model from being changed in place.
    """

    def __init__(self, model: Model, reader: object = None) -> None:
        self.model = model
        self.reader = reader  # the thread that has read the model, SEVERAL, or None
        self._is_incomplete = False
        self._reset({}, None)

    def _reset(self, readers: dict[int, int], writer: int | None) -> None:
        self._lock = Lock()
        self._changed = Condition(self._lock)
        self._readers = readers  # how often each thread that reads has entered
        self._n_waiting = 0  # readers that wait for a change to end
        self._writer, self._closed_until = writer, 0.0

    @property
    def has_other_readers(self) -> bool:
        """Whether other threads than this one have read the model."""
        return self.reader not in (None, current_thread())

    def check_complete(self) -> None:
        """Raise `ModelError` if this process was forked amid a change."""
        if self._is_incomplete:
            raise ModelError(INCOMPLETE)

    def __enter__(self) -> Model:
        thread = get_ident()
        with self._lock:  # much quicker than by its condition
            is_inside = thread in self._readers or self._writer == thread
            if not is_inside and self._is_closed:
                self._wait_until_open()
            if self._is_incomplete:
                raise ModelError(INCOMPLETE)
            self._readers[thread] = self._readers.get(thread, 0) + 1
            if self.reader is not (reader := current_thread()):
                self.reader = reader if self.reader is None else SEVERAL
            return self.model

    @property
    def _is_closed(self) -> bool:
        return self._writer is not None or self._closed_until > monotonic()

    def _wait_until_open(self) -> None:
        self._n_waiting += 1
        try:
            while self._is_closed:
                self._changed.wait(SECONDS_TO_WAIT)
        finally:
            self._n_waiting -= 1
            self._changed.notify_all()

    def __exit__(self, *exception: object) -> None:
        thread = get_ident()
        with self._lock:
            self._readers[thread] -= 1
            if not self._readers[thread]:
                del self._readers[thread]
                if self._closed_until:
                    self._changed.notify_all()

    @contextmanager
    def writing(self, seconds: float) -> Iterator[bool]:
        """Lock readers out if those inside leave within some seconds; yield whether they did."""
        thread = get_ident()
        try:
            with self._lock:
                self.check_complete()
                is_alone = False
                if thread not in self._readers:  # else its own block would see the change
                    # First the readers that the change before has held up: else changes in quick
                    # succession would keep them out.
                    self._changed.wait_for(lambda: not self._n_waiting, seconds)
                    self._closed_until = monotonic() + seconds
                    is_alone = self._changed.wait_for(lambda: not self._readers, seconds)
                    self._writer = thread if is_alone else None
            yield is_alone
        finally:
            try:
                self._admit_readers(thread)
            finally:
                self._admit_readers(thread)  # if an interrupt has stopped the first call

    def _admit_readers(self, writer: int) -> None:
        with self._lock:
            self._closed_until = 0.0
            if self._writer == writer:
                self._writer = None
            self._changed.notify_all()

    # ---- fork --------------------------------------------------------------------------------

    def before_fork(self) -> None:
        """Wait for a change in place to end, and let none begin."""
        thread = get_ident()
        self._lock.acquire()
        self._changed.wait_for(lambda: self._writer in (None, thread), SECONDS_BEFORE_FORK)

    def after_fork_in_parent(self) -> None:
        self._lock.release()

    def after_fork_in_child(self, is_compiling: bool) -> None:
        """Forget the threads that do not exist in this process."""
        thread, writer = get_ident(), self._writer
        readers = {thread: self._readers[thread]} if thread in self._readers else {}
        if is_compiling or writer not in (None, thread):
            self._is_incomplete = True
        self._reset(readers, writer if writer == thread else None)


# ---- fork: the child has complete models, or a clear error ---------------------------------------


class _Fork:
    """Locks all models, and the compiler, from before a fork until after it."""

    def __init__(self) -> None:
        self._states: list[_State] = []
        self._has_compiler = False

    def before(self) -> None:
        # A child could not import what another thread is importing now: wait for that.
        for module in READING if _all_shared else ():
            import_module(module)
        self._has_compiler = compiler_lock.acquire(SECONDS_BEFORE_FORK)
        self._states = list(dict.fromkeys(shared._state for shared in _all_shared))
        for state in self._states:
            state.before_fork()

    def after_in_parent(self) -> None:
        for state in self._states:
            state.after_fork_in_parent()
        self._states = []
        if self._has_compiler:
            compiler_lock.release()

    def after_in_child(self) -> None:
        for shared in _all_shared:
            shared._changing = RLock()
        # A model may have been replaced after the states were listed.
        for state in dict.fromkeys([*self._states, *(shared._state for shared in _all_shared)]):
            state.after_fork_in_child(not self._has_compiler)
        self._states = []
        compiler_lock.renew()


_all_shared: weakref.WeakSet[SharedModel] = weakref.WeakSet()
_fork = _Fork()
if hasattr(os, "register_at_fork"):  # not on Windows, where there is no fork
    os.register_at_fork(
        before=_fork.before,
        after_in_parent=_fork.after_in_parent,
        after_in_child=_fork.after_in_child,
    )


# Batches of documents, scored and decided ---------------------------------------------------------


class ScoredBatch(NamedTuple):
    """A batch of documents with scores and decisions for the categories known at the beginning."""

    batch: Batch
    scores: np.ndarray  # (documents, categories)
    decisions: np.ndarray  # of bool, of the same shape


def scored_batches(
    shared: SharedModel, source: LabelledSource, n_jobs: int = 1
) -> Iterator[ScoredBatch]:
    """Yield batches with scores and decisions, whatever is learned between two batches."""
    known = Categories(shared.model.categories)

    def work(model: Model, batch: Batch, scores: np.ndarray) -> ScoredBatch:
        columns, decisions = model.categories.columns_for(known), model.decisions.decide(scores)
        return ScoredBatch(batch, scores[:, columns], decisions[:, columns])

    return shared.map(work, source, n_jobs)


class Tested(NamedTuple):
    """Labelled documents, scored and decided."""

    scores: np.ndarray  # (documents, known categories)
    decisions: np.ndarray  # of bool, of the same shape
    labels: Labels
    names: list[str]  # of all categories, the known ones first

    @classmethod
    def read(
        cls,
        known: Categories,
        batches: Iterable[ScoredBatch],
        watch: Callable[[ScoredBatch], Any] | None = None,
    ) -> Self:
        """Put batches together; `watch` is called with each."""
        encoder, labels, scores, decisions = Categories(known), [], [], []
        for scored in batches:
            if scored.batch.labels is None:
                raise DocumentError("The documents have no labels to measure against.")
            from_table = not scored.batch.labels_are_given
            labels.append(encoder.encode(scored.batch.labels, True, from_table))
            scores.append(scored.scores)
            decisions.append(scored.decisions)
            if watch is not None:
                watch(scored)
        if not labels:
            raise DocumentError("There is nothing to evaluate: the source has no documents.")
        all_labels = Labels.concatenate(labels)._replace(n_categories=len(encoder))
        return cls(np.concatenate(scores), np.concatenate(decisions), all_labels, encoder.names)

    def evaluate(self) -> Evaluation:
        """Return the measures of the decisions."""
        return evaluate(self.scores, self.labels, self.names, decisions=self.decisions)

    def exact_match(self, sample_weight: Any = None) -> float:
        """Return the share of documents that get exactly their labels."""
        n_known, truth = self.decisions.shape[1], self.labels.to_dense()
        is_right = (truth[:, :n_known] == self.decisions).all(axis=1)
        is_right &= ~truth[:, n_known:].any(axis=1)
        weights = None if sample_weight is None else some_weights(sample_weight, len(is_right))
        return float(np.average(is_right, weights=weights))


def score_labelled(
    shared: SharedModel,
    source: LabelledSource,
    n_jobs: int = 1,
    watch: Callable[[ScoredBatch], Any] | None = None,
    allow_none: bool = False,
    warns: bool = True,
) -> Tested:
    """Return the scores and decisions of labelled documents, and their labels.

    Parameters
    ----------
    shared, source, n_jobs
        The model, the documents, and the number of threads.
    watch : callable, optional
        Called with each scored batch.
    allow_none : bool, default=False
        Whether having no label is an answer although it is none for the model.
    warns : bool, default=True
        Whether to warn if measures of these documents cannot be right.
    """
    model, beginning = shared.model, list[Batch]()
    may_be_none = model.decisions.mode == "single-label" and model.decisions.allow_none
    source.leave_out_blank(model, allow_none or may_be_none)

    def see(scored: ScoredBatch) -> None:
        if sum(map(len, beginning)) < DOCUMENTS_RECOGNIZED:
            beginning.append(scored.batch)
        if watch is not None:
            watch(scored)

    tested = Tested.read(model.categories, scored_batches(shared, source, n_jobs), see)
    source.warn_of_blank_labels()
    with shared.reading() as model:
        for sentence in doubts(model, tested, source, beginning) if warns else ():
            warnings.warn(sentence, ThresherWarning, stacklevel=4)
    return tested


def doubts(
    model: Model, tested: Tested, source: LabelledSource, beginning: Sequence[Batch]
) -> Iterator[str]:
    """Yield warnings if the measures of tested documents cannot be right.

    Parameters
    ----------
    model : Model
        The model that was tested.
    tested, source : Tested, LabelledSource
        The documents.
    beginning : sequence of Batch
        The first documents, by which models without digests recognize remembered documents.
    """
    n_known_categories, names = tested.scores.shape[1], tested.names
    if len(tested.labels.indices) and tested.labels.indices.min() >= n_known_categories:
        others = names_of(names[n_known_categories:])
        yield (
            f"None of the labels is a category of the model: the documents have {others}, and the "
            f"model has {names_of(names[:n_known_categories])}. Look whether the label column is "
            "the right one."
        )
    if model.digests is not None:
        n_known, n = model.digests.n_known(source.digested.texts)
    elif model.memory is not None and len(model.memory):
        counts = [model.features.count(batch.texts) for batch in beginning]
        n_known, n = len(model.memory.find(Rows.concatenate(counts))), sum(map(len, beginning))
    else:
        return
    if n_known > SHARE_LEARNED_BEFORE * n:
        of = counted(n, "document") if n == len(tested.scores) else f"a sample of {n:,} documents"
        yield (
            f"The model has learned from {n_known:,} of {of} that it is measured on, so the "
            "figures are too good. Measure on others; thresher split puts some aside."
        )
