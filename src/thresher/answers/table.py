"""Answers as a table in memory, of the same kind as the documents."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from thresher.answers.answer import LABELS_ONLY, AnswerOptions, Answers
from thresher.documents.batch import Batch, to_arrow
from thresher.documents.labels import is_list
from thresher.model.categories import Categories
from thresher.model.model import Model
from thresher.model.shared import SharedModel
from thresher.model.source import LabelledSource

__all__ = ["AnswerOptions", "answer_table", "map_answers"]

R = TypeVar("R")


def map_answers(
    work: Callable[[Answers], R],
    shared: SharedModel,
    source: LabelledSource,
    options: AnswerOptions = LABELS_ONLY,
    n_jobs: int = 1,
    extra_columns: Sequence[str] = (),
) -> Iterator[R]:
    """Yield `work(answers)` for the answers of each batch, in order.

    The categories are those known at the beginning. If there are no documents, there is one batch
    without any.

    Parameters
    ----------
    work : callable
        Called by the threads that score.
    shared : SharedModel
        The model.
    source : LabelledSource
        The documents.
    options : AnswerOptions, optional
        What the answers contain.
    n_jobs : int, default=1
        The number of threads; it does not change the result.
    extra_columns : sequence of str, optional
        The names of columns of the data that are copied.
    """
    known, is_empty = Categories(shared.model.categories), True

    def answered(model: Model, batch: Batch, scores: np.ndarray) -> R:
        return work(Answers(model, batch, scores, known, options))

    for result in shared.map(answered, source, n_jobs):
        is_empty = False
        yield result
    if is_empty:
        extra: dict[str, Any] = {name: [] for name in extra_columns}
        nothing = Batch({"text": to_arrow([])}, None, [], extra_columns=extra)
        with shared.reading() as model:
            yield answered(model, nothing, np.zeros((0, len(model.categories)), np.float32))


def answer_table(
    shared: SharedModel,
    source: LabelledSource,
    options: AnswerOptions,
    like: Any,
    n_jobs: int = 1,
) -> Any:
    """Return the answers in one table of the same kind as `like`, with its index."""

    def batch_table(answers: Answers) -> pa.Table:
        columns = answers.columns()
        return pa.table(list(columns.values()), names=list(columns))

    table = pa.concat_tables(map_answers(batch_table, shared, source, options, n_jobs))
    if hasattr(like, "iloc"):
        frame = table.to_pandas()
        if is_list(table.schema.field("labels").type):  # lists can be compared, arrays cannot
            frame["labels"] = table["labels"].to_pylist()
        frame.index = like.index
        return frame
    if type(like).__module__.partition(".")[0] == "polars":
        return sys.modules["polars"].from_arrow(table)
    return table
