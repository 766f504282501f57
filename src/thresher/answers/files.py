"""Write answers to files: CSV, JSON lines or Parquet, completely or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import PurePath
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc

from thresher.answers.answer import AnswerOptions, Answers, Table, map_answers, with_extra_columns
from thresher.answers.json_text import array_texts, object_lines, plain_values, text_of_value
from thresher.documents.batch import to_arrow
from thresher.documents.escapes import escape_cells
from thresher.documents.labels import SEPARATORS, decoded, is_list, is_text
from thresher.documents.streams import compression_of_name, packed
from thresher.errors import DocumentError, OutputError
from thresher.files import check_writable, replace_file
from thresher.model.model import Model
from thresher.model.shared import SharedModel
from thresher.model.source import LabelledSource

# Errors of pyarrow for values that it cannot convert to an array.
REFUSED = (TypeError, ValueError, OverflowError, pa.ArrowException)


def check_results(path: str) -> tuple[str, str | None]:
    """Return the file name ending and the compression; raise an OutputError if unknown."""
    suffixes = [suffix.lower() for suffix in PurePath(path).suffixes]
    codec = compression_of_name(path)
    if codec is not None:
        suffixes.pop()
    ending = suffixes[-1] if suffixes else ""
    if ending not in WRITERS or (codec and not WRITERS[ending].can_be_compressed):
        raise OutputError(
            f"{path} cannot be written: the name of a file of results ends with "
            f"{', '.join(WRITERS)}, the first two also with .gz, .zst or .bz2 after it."
        )
    check_writable(path)
    return ending, codec


def write_answers(
    path: str,
    shared: SharedModel,
    source: LabelledSource,
    options: AnswerOptions,
    extra_columns: Sequence[str] = (),
    n_jobs: int = 1,
    escape: bool = True,
) -> int:
    """Write a file with a row for every document, and return the number of rows.

    Parameters
    ----------
    path : str
        The file; its ending determines the format.
    shared, source, options, extra_columns, n_jobs
        As for `map_answers`.
    escape : bool, default=True
        Whether texts in CSV that a spreadsheet would run as formulas get an apostrophe before them.
    """
    n_rows = 0
    with open_results(path, shared.model, extra_columns, escape) as writer:

        def prepared(answers: Answers) -> tuple[int, Any]:
            return len(answers), writer.prepare(answers)

        for n, lines in map_answers(prepared, shared, source, options, n_jobs, extra_columns):
            writer.write(lines)
            n_rows += n
    return n_rows


@contextmanager
def open_results(
    path: str, model: Model, extra_columns: Sequence[str] = (), escape: bool = True
) -> Iterator[Writer]:
    """Open a file for answers; it replaces an existing one when the block ends without error.

    Parameters
    ----------
    path : str
        The file; its ending determines the format.
    model : Model
        The model whose answers are written.
    extra_columns : sequence of str, optional
        The names of the columns that are copied from the data.
    escape : bool, default=True
        As for `write_answers`.
    """
    ending, codec = check_results(path)
    with ExitStack() as opened:
        target = opened.enter_context(replace_file(path))
        sink = opened.enter_context(packed(opened.enter_context(open(target, "wb")), codec))
        writer = WRITERS[ending](sink, model, extra_columns, escape)
        opened.callback(writer.close)
        yield writer


class Writer:
    """Writes answers to a file, batch by batch; the base class writes them as flat columns."""

    can_be_compressed = True

    def __init__(
        self, sink: Any, model: Model, extra_columns: Sequence[str], escape: bool = True
    ) -> None:
        self._sink, self._extra_columns, self._writer = sink, extra_columns, cast(Any, None)

    def prepare(self, answers: Answers) -> Any:
        """Return the rows of answers in the form of the file; thread-safe."""
        before = {"row": answers.row_numbers(), "document": answers.locations()}
        table = with_extra_columns(before, answers.extra_columns(), answers.columns())
        return self.prepare_table(table)

    def prepare_table(self, table: Table) -> Any:
        """Return the rows of a table in the form of the file."""
        raise NotImplementedError

    def write(self, prepared: Any) -> None:
        """Append prepared rows to the file."""
        raise NotImplementedError

    def close(self) -> None:
        """Write the end of the file."""
        if self._writer is not None:
            self._writer.close()


class _CSV(Writer):
    """Quotes texts, so that empty texts differ from missing ones; extra columns are strings.

    Texts that a spreadsheet would run as formulas are escaped.
    """

    def __init__(
        self, sink: Any, model: Model, extra_columns: Sequence[str], escape: bool = True
    ) -> None:
        super().__init__(sink, model, extra_columns)
        self._escape = escape_cells if escape else lambda array: array
        names = model.categories.names
        unused = (mark for mark in SEPARATORS if not any(mark in name for name in names))
        self._separator = next(unused, None)
        if self._separator is None and model.decisions.mode != "single-label":
            raise OutputError(
                f"Each of {' '.join(SEPARATORS)} occurs in the name of a category, so that several "
                "categories cannot stand in one cell of a CSV file; write .jsonl or .parquet."
            )

    def prepare_table(self, table: Table) -> pa.Table:
        arrays = [
            _texts(column) if name in self._extra_columns else self._joined(column)
            for name, column in table.items()
        ]
        names = self._escape(to_arrow(list(table))).to_pylist()
        return pa.table(list(map(self._escape, arrays)), names=names)

    def write(self, prepared: pa.Table) -> None:
        from pyarrow.csv import CSVWriter

        if self._writer is None:
            self._writer = CSVWriter(self._sink, prepared.schema)
        self._writer.write_table(prepared)

    def _joined(self, column: pa.Array) -> pa.Array:
        if not is_list(column.type):
            return column
        texts = pc.cast(column, pa.list_(pa.string()))
        return pc.binary_join(texts, to_arrow([self._separator])[0])


class _JSONLines(Writer):
    """Writes each answer as `Answer.to_dict` has it, after its row number and extra columns."""

    def prepare(self, answers: Answers) -> memoryview:
        return answers.json_lines(has_row=True)

    def prepare_table(self, table: Table) -> memoryview:
        return object_lines({name: array_texts(column) for name, column in table.items()})

    def write(self, prepared: memoryview) -> None:
        self._sink.write(prepared)


class _Parquet(Writer):
    can_be_compressed = False  # the format compresses its columns

    def __init__(
        self, sink: Any, model: Model, extra_columns: Sequence[str], escape: bool = True
    ) -> None:
        super().__init__(sink, model, extra_columns)
        self._types: dict[str, pa.DataType] = {}

    def prepare_table(self, table: Table) -> Table:
        """Return the table as it is: `write` casts it to the types of the first table."""
        return table

    def write(self, prepared: Table) -> None:
        from pyarrow.parquet import ParquetWriter

        arrays = [self._typed(name, column) for name, column in prepared.items()]
        table = pa.table(arrays, names=list(prepared))
        if self._writer is None:
            self._writer = ParquetWriter(self._sink, table.schema, compression="zstd")
        self._writer.write_table(table)

    def _typed(self, name: str, column: Any) -> pa.Array:
        """Return a column, cast to its type in the first table."""
        known = self._types.get(name)
        if known is not None and is_text(known):
            return _texts(column)
        try:
            if not isinstance(column, list):
                array = decoded(column) if known is None else decoded(column).cast(known)
            elif known is None and _are_texts_or_have_objects(column):
                array = _texts(column)
            else:
                array = pa.array(column, known)
        except REFUSED:
            if known is not None:
                raise DocumentError(
                    f'The column "{name}" to keep is of type {known} at first and of another one '
                    "later, which Parquet does not have; write .csv or .jsonl."
                ) from None
            array = _texts(column)
        if known is None and (is_text(array.type) or pa.types.is_null(array.type)):
            array = _texts(column)
        self._types[name] = array.type
        return array


WRITERS: dict[str, type[Writer]] = {".csv": _CSV, ".jsonl": _JSONLines, ".parquet": _Parquet}


def _texts(column: Any) -> pa.Array:
    """Return a column as texts: strings as they are, lists and objects as JSON."""
    if not isinstance(column, list):
        array = decoded(column)
        try:
            if not pa.types.is_nested(array.type):
                strings = array.cast(pa.large_string())
                strings.validate(full=True)
                return strings
        except pa.ArrowException:
            pass
        column = plain_values(array)
    texts = [None if value is None else text_of_value(value) for value in column]
    return to_arrow(texts).cast(pa.large_string())


def _are_texts_or_have_objects(values: list[Any]) -> bool:
    """Return True for texts alone, and for dicts, which become JSON as their keys may differ."""
    return any(isinstance(value, dict) for value in values) or all(
        value is None or isinstance(value, str) for value in values
    )
