"""The answer of a model for one document, and the ways to show it.

An answer has the same fields everywhere: in a line of text, in JSON and in the columns of a table.
`Answers` computes the answers of a batch by columns, which is much faster than one by one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from thresher.documents.batch import Batch, numbers_to_arrow, to_arrow
from thresher.documents.labels import is_list
from thresher.errors import escaped
from thresher.model.categories import Categories
from thresher.model.model import Model
from thresher.model.shared import SharedModel
from thresher.model.source import LabelledSource

SOME_CHARACTER = r"[^\s\pZ\x1e]"  # matches texts that are not blank
NO_TEXT = "no text"

R = TypeVar("R")

# Columns by name: an Arrow array or, for columns copied from the data, a list of values.
Table = dict[str, Any]


class AnswerOptions(NamedTuple):
    """What an answer contains besides the labels."""

    top: int = 0  # the length of the ranking
    scores: bool = False  # of all categories
    probabilities: bool = False  # beside the scores


LABELS_ONLY = AnswerOptions()


class RankedLabel(NamedTuple):
    """A category in a ranking."""

    label: Any
    score: float
    probability: float | None = None


@dataclass(frozen=True)
class Answer:
    """The answer of a model for one document.

    Attributes
    ----------
    document : str
        The location of the document: file and line, row, or path.
    labels : list of labels
        The chosen categories, those farthest above their thresholds first.
    scores : dict or None
        The scores of the chosen categories, or of all, by name.
    probabilities : dict or None
        The probabilities of the same categories.
    ranking : list of RankedLabel or None
        The best categories, chosen or not.
    note : str or None
        "no text", or "skipped: " and the reason.
    """

    document: str
    labels: list[Any]
    scores: dict[str, float] | None = None
    probabilities: dict[str, float] | None = None
    ranking: list[RankedLabel] | None = None
    note: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as a dict for JSON, without the fields that are None."""
        fields = {name: value for name, value in vars(self).items() if value is not None}
        if self.ranking is not None:
            fields["ranking"] = [
                {name: value for name, value in ranked._asdict().items() if value is not None}
                for ranked in self.ranking
            ]
        return fields


class Answers:
    """The answers for a batch of documents, also for those that were skipped.

    Parameters
    ----------
    model : Model
        The model that scored the documents.
    batch : Batch
        The documents.
    scores : array of shape (documents, categories of the model)
        Their scores.
    known : Categories
        The categories to answer about.
    options : AnswerOptions
        What the answers contain.
    """

    def __init__(
        self,
        model: Model,
        batch: Batch,
        scores: np.ndarray,
        known: Categories,
        options: AnswerOptions = LABELS_ONLY,
    ) -> None:
        self.batch, self.options = batch, options
        self.labels, self.names = known.labels, known.names
        self.is_single_label = model.decisions.mode == "single-label"
        columns = model.categories.columns_for(known)
        numbers, ends = model.decisions.decide_numbers(scores)
        self.chosen, self.ends = _only_known(numbers, ends, columns, len(known))
        self.scores = scores[:, columns]
        self.chances = model.probabilities(scores)[:, columns] if options.probabilities else None
        self.best = best_categories(self.scores, options.top) if options.top else None

    def __len__(self) -> int:
        return len(self.batch) + len(self.batch.skipped)

    def __iter__(self) -> Iterator[Answer]:
        """Return the answers in the order of the documents."""
        chosen, bounds = self.chosen.tolist(), pairwise(self.ends.tolist())
        answers = [
            self._answer(i, chosen[start:end], note)
            for i, ((start, end), note) in enumerate(
                zip(bounds, self._notes.to_pylist(), strict=True)
            )
        ]
        skipped = [
            Answer(escaped(document.location), [], note=f"skipped: {document.reason}")
            for document in self.batch.skipped
        ]
        return iter(self._with_skipped(answers, skipped))

    def _answer(self, i: int, chosen: list[int], note: str | None) -> Answer:
        shown = range(len(self.names)) if self.options.scores else chosen
        tables = [None if table is None else table[i] for table in (self.scores, self.chances)]
        scores, chances = (
            None if row is None else {self.names[k]: _short(row[k]) for k in shown}
            for row in tables
        )
        ranking = None
        if self.best is not None:
            figures = [[*map(_short, row)] for row in tables if row is not None]
            ranking = [
                RankedLabel(self.labels[k], *(row[k] for row in figures))
                for k in self.best[i].tolist()
            ]
        labels = [self.labels[k] for k in chosen]
        return Answer(self.batch.location(i), labels, scores, chances, ranking, note)

    @cached_property
    def _rows(self) -> np.ndarray:
        """The number of the document in each row; -1 for one that was skipped."""
        before = [document.before for document in self.batch.skipped]
        return np.insert(np.arange(len(self.batch)), before, -1)

    @cached_property
    def _notes(self) -> pa.Array:
        """The notes of the documents that were not skipped."""
        import pyarrow.compute as pc  # imported late, as most predictions do not need it

        blank = pc.invert(pc.match_substring_regex(self.batch.texts, SOME_CHARACTER))
        return to_arrow([None, NO_TEXT]).take(blank.cast(pa.int8()))

    def in_rows(self, column: pa.Array) -> pa.Array:
        """Return a column of documents with nulls for those that were skipped."""
        return taken(column, self._rows) if self.batch.skipped else column

    def _with_skipped(self, column: Any, of_skipped: Iterable[Any]) -> Any:
        """Return a column of documents; if any was skipped, a list that has values for them too."""
        if not self.batch.skipped:
            return column
        values = column if isinstance(column, list) else column.to_pylist()
        missing = iter(of_skipped)
        return [values[i] if i >= 0 else next(missing) for i in self._rows.tolist()]

    def notes(self) -> pa.Array:
        """Return the note of each row."""
        skipped = [f"skipped: {document.reason}" for document in self.batch.skipped]
        notes = self._with_skipped(self._notes, skipped)
        return to_arrow(notes) if skipped else notes

    def locations(self) -> pa.Array:
        """Return the location of each row."""
        skipped = [escaped(document.location) for document in self.batch.skipped]
        locations = self._with_skipped(self.batch.location_array(), skipped)
        return to_arrow(locations) if skipped else locations

    def row_numbers(self) -> pa.Array:
        """Return the number of each row among those of all batches, from 1."""
        return numbers_to_arrow(np.arange(1, len(self) + 1) + self.batch.n_before)

    def extra_columns(self) -> dict[str, Any]:
        """Return the columns copied from the data, with rows for skipped documents."""
        return {
            name: self._with_skipped(column, [d.extra_values[k] for d in self.batch.skipped])
            for k, (name, column) in enumerate(self.batch.extra_columns.items())
        }

    # ---- columns of a table ------------------------------------------------------------------

    def columns(self) -> dict[str, pa.Array]:
        """Return the answers as the columns of a table."""
        labels = label_array(self.labels)
        has_labels = np.diff(self.ends) > 0
        first = np.append(self.chosen, -1)[np.where(has_labels, self.ends[:-1], -1)]
        if self.is_single_label:
            columns = {"labels": taken(labels, first)}
        else:
            offsets, chosen = numbers_to_arrow(self.ends.astype(np.int32)), self.chosen
            columns = {"labels": pa.ListArray.from_arrays(offsets, taken(labels, chosen))}
        columns |= self._figures(first, "")
        for k, numbers in enumerate(() if self.best is None else self.best.T, 1):
            columns[f"label_{k}"] = taken(labels, numbers)
            columns |= self._figures(numbers, f"_{k}")
        for k, name in enumerate(self.names if self.options.scores else ()):
            columns |= self._figures(np.full(len(self.scores), k), f":{name}")
        columns = {name: self.in_rows(column) for name, column in columns.items()}
        return columns | {"note": self.notes()}

    def _figures(self, numbers: np.ndarray, suffix: str) -> dict[str, pa.Array]:
        """Return the score and the probability of one category of each document; null for -1."""
        tables = {"score": self.scores, "probability": self.chances}
        rows = np.arange(len(self.scores))
        return {
            f"{name}{suffix}": numbers_to_arrow(table[rows, numbers], numbers < 0)
            for name, table in tables.items()
            if table is not None
        }

    # ---- lines of text -----------------------------------------------------------------------

    def json_lines(self, has_row: bool = False) -> memoryview:
        """Return a line of JSON for each answer, as `Answer.to_dict` has it, in UTF-8.

        Parameters
        ----------
        has_row : bool, default=False
            Also write the number of the row and the extra columns.
        """
        from thresher.answers.json_text import answer_lines

        return answer_lines(self, has_row)

    def text_lines(self) -> list[str]:
        """Return a line for each answer: its labels, separated by tabs.

        With a ranking, the line has the ranked labels with their scores; with scores, these follow
        each label. A line that begins with a tab stands for a skipped document.
        """
        shown = [escaped(name) for name in self.names]
        has_scores = self.options.scores or self.best is not None
        tables = [(self.scores, " {:+.3f}")] if has_scores else []
        if self.chances is not None:
            tables.append((self.chances, " {:.3f}"))
        chosen, bounds = self.chosen.tolist(), pairwise(self.ends.tolist())
        numbers = [chosen[start:end] for start, end in bounds]
        lines: list[str] = [
            "\t".join(
                "".join([shown[k], *(form.format(table[i, k]) for table, form in tables)])
                for k in of_document
            )
            for i, of_document in enumerate(numbers if self.best is None else self.best.tolist())
        ]
        skipped = [f"\t{escaped(f'skipped: {document.reason}')}" for document in self.batch.skipped]
        return list(self._with_skipped(lines, skipped))


def with_extra_columns(before: Table, extra_columns: Table, after: Table) -> Table:
    """Return a table with the extra columns between two groups of columns of the answers.

    If an extra column has the name of a column of the answers, the latter is renamed.
    """

    def free(name: str) -> str:
        return free(f"thresher_{name}") if name in extra_columns else name

    renamed = [{free(name): column for name, column in t.items()} for t in (before, after)]
    return renamed[0] | extra_columns | renamed[1]


def best_categories(scores: np.ndarray, n: int) -> np.ndarray:
    """Return the `n` best categories of each document; ties are broken by category order."""
    return np.argsort(-scores, axis=1, kind="stable")[:, :n]


def label_array(labels: list[Any]) -> pa.Array:
    """Return labels as an Arrow array of their type if possible, otherwise of strings."""
    if all(isinstance(label, str) for label in labels):
        return to_arrow(labels)
    try:
        array = pa.array(labels)
        if pa.types.is_primitive(array.type):
            return array
    except (TypeError, ValueError, OverflowError, pa.ArrowException):
        pass
    return to_arrow([str(label) for label in labels])


def _only_known(
    numbers: np.ndarray, ends: np.ndarray, columns: Any, n_known: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the chosen categories as indices of known categories; others are left out."""
    if isinstance(columns, slice):
        if not len(numbers) or numbers.max() < n_known:
            return numbers, ends
        columns = np.arange(n_known)
    index = np.full(max(int(numbers.max(initial=0)), int(columns.max(initial=0))) + 1, -1)
    index[columns] = np.arange(n_known)
    is_known = index[numbers] >= 0
    return index[numbers][is_known], np.append(0, np.cumsum(is_known))[ends]


def taken(array: pa.Array, numbers: np.ndarray) -> pa.Array:
    return array.take(numbers_to_arrow(numbers, numbers < 0))


def _short(value: Any) -> float:
    """Return a number rounded to its shortest decimal representation."""
    return float(str(value))


def ranked_labels(
    scores: np.ndarray, labels: list[Any], n: int | None
) -> list[list[tuple[Any, float]]]:
    """Return the `n` best labels of each document with their scores, or all."""
    best = best_categories(scores, len(labels) if n is None else n).tolist()
    return [
        [(labels[k], float(row[k])) for k in numbers]
        for row, numbers in zip(scores, best, strict=True)
    ]


# The answers for all documents --------------------------------------------------------------------


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
