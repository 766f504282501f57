"""Helpers of learners that need all documents in memory and learn category by category."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from functools import partial
from threading import Event, get_ident

import numpy as np

from thresher.engine import engine_for
from thresher.errors import counted
from thresher.examples import Examples
from thresher.learners.learner import Progress
from thresher.learners.scoring import check_labels, check_rows, checked_sample_weight
from thresher.limits import check_room
from thresher.rows import Labels, Rows

NO_ROWS = Rows(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32), 0)


def in_memory(
    examples: Examples, owner: str, non_negative: bool = False
) -> tuple[Rows, Labels, np.ndarray]:
    """Return all documents of nonzero weight, checked, with their labels and weights."""
    parts = [rows for rows, _ in examples] or [NO_ROWS]
    rows = parts[0] if len(parts) == 1 else Rows.concatenate(parts)
    labels = examples.labels()
    check_rows(rows, owner, examples.n_columns, non_negative)
    check_labels(rows, labels, owner, examples.n_categories)
    weights = checked_sample_weight(labels.weights, rows.n_rows)
    if not weights.all():
        counted = np.flatnonzero(weights)
        rows, labels, weights = rows.take(counted), labels.take(counted), weights[counted]
    return rows, labels, weights


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
