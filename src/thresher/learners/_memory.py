"""The base of learners that need all documents in memory, and learning category by category."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from functools import partial
from threading import Event, get_ident
from typing import NamedTuple, Self

import numpy as np

from thresher.engine import engine_for
from thresher.errors import counted
from thresher.examples import Examples
from thresher.learners.learner import Learner, Progress, Watch
from thresher.learners.scoring import check_labels, check_rows, checked_sample_weight
from thresher.limits import check_room
from thresher.parameters import N_JOBS
from thresher.rows import Labels, Rows

NO_ROWS = Rows(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32), 0)


class Training(NamedTuple):
    """All documents of nonzero weight, in memory, with their labels and weights."""

    rows: Rows
    labels: Labels
    weights: np.ndarray
    n_concepts: int  # the first columns of the rows


class MemoryLearner(Learner):
    """The base of learners that learn from all documents at once, held in memory."""

    n_jobs: int = N_JOBS

    def fit_rows(
        self, examples: Examples, *, n_jobs: int = 1, progress: Progress = None, watch: Watch = None
    ) -> Self:
        """Learn from all documents, which must fit into memory; there are no mistakes to watch."""
        self.check_parameters()
        blocks = [rows for rows, _ in examples] or [NO_ROWS]
        rows = blocks[0] if len(blocks) == 1 else Rows.concatenate(blocks)
        rows, labels = rows._replace(n_columns=examples.n_columns), examples.labels()
        check_rows(rows, type(self).__name__, examples.n_columns, self._needs_non_negative())
        check_labels(rows, labels, type(self).__name__, examples.n_categories)
        weights = checked_sample_weight(labels.weights, rows.n_rows)
        if not weights.all():
            counted = np.flatnonzero(weights)
            rows, labels, weights = rows.take(counted), labels.take(counted), weights[counted]
        self._fit(Training(rows, labels, weights, examples.n_concepts), n_jobs, progress)
        self.n_features, self.n_categories = examples.n_columns, examples.n_categories
        return self

    def _fit(self, training: Training, n_jobs: int, progress: Progress) -> None:
        """Learn from checked documents; only at the end, replace what was learned before."""
        raise NotImplementedError

    def _needs_non_negative(self) -> bool:
        """Return True if training refuses strengths below zero."""
        return self.non_negative


def signs_of(labels: Labels) -> np.ndarray:
    """Return 1 if a document belongs to a category, -1 if it does not and 0 if unknown."""
    what = (
        f"Answers of {counted(labels.n_rows, 'document')} for "
        f"{counted(labels.n_categories, 'category')}"
    )
    n_cells = labels.n_rows * labels.n_categories
    check_room(2 * n_cells, what, "take another learner, such as passive-aggressive")
    signs = 2 * labels.to_dense().view(np.int8) - 1
    return np.asarray(signs if labels.known is None else signs * labels.known, np.int8)


def each_in_rounds(
    work: Callable[[int, Callable[[], None]], None],
    sizes: Sequence[int],
    n_jobs: int,
    progress: Progress,
    n_documents: int,
) -> None:
    """Call `work(number, tick)` for every number, in threads; `work` calls `tick` after each round.

    There are up to `sizes[number]` rounds. After an error or an interrupt, the next `tick` ends
    the work in all other threads.
    """
    n_done, engine, is_cancelled = [0] * len(sizes), engine_for(n_jobs), Event()
    caller = get_ident()

    def report() -> None:
        if progress is not None:
            progress("rounds", n_documents, min(1.0, sum(n_done) / max(1, sum(sizes))))

    def tick(number: int) -> None:
        n_done[number] += 1
        if is_cancelled.is_set():
            raise CancelledError
        if get_ident() == caller:
            report()

    def run(number: int) -> None:
        work(number, partial(tick, number))
        n_done[number] = sizes[number]

    for _ in engine.map(run, range(len(sizes)), poll=report, cancel=is_cancelled.set):
        pass
