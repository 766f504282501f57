"""Results as a table: a row for every document that was read, those left out too, and its file."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thresher.documents.batch import Batch, numbers_to_arrow, to_arrow
from thresher.documents.labels import SEPARATORS, decoded, is_list, is_text, value_text
from thresher.documents.streams import compression_of_name, packed
from thresher.errors import DocumentError, OutputError, escaped
from thresher.files import check_writable, replace_file

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer
    from thresher.documents import Documents

__all__ = [
    "Asked",
    "Table",
    "check_results",
    "open_results",
    "result_frame",
    "with_kept",
    "write_results",
]

REFUSED = (TypeError, ValueError, OverflowError, pa.ArrowException)  # by pyarrow, to make an array
PLAIN_NUMBER = r"^-?(0\.0{0,3}[1-9][0-9]*|[1-9][0-9]*\.[0-9]+)$"  # which Python writes so too
ESCAPED = r'["\\\x00-\x1f]'  # in a text of JSON
ANY_CHARACTER = r"[^\s\pZ\x1e]"  # of a text that is not empty
_as_json = json.JSONEncoder(ensure_ascii=False).encode  # `dumps` would make one for each line

R = TypeVar("R")

# Columns by name, each an Arrow array or, of values to keep, a list of them as they were read.
Table = dict[str, Any]


class Asked(NamedTuple):
    """What stands in a row besides the categories and the score of the first of them."""

    top: int = 0  # so many of the best categories, whether they were decided or not
    scores: bool = False  # of all categories
    probabilities: bool = False  # beside the scores


def result_frame(categorizer: Categorizer, documents: Documents, asked: Asked, like: Any) -> Any:
    """Return the results in one table of the kind that the documents are in, with its index."""

    def part(batch: Batch, scores: np.ndarray) -> pa.Table:
        columns = own_columns(categorizer, batch, scores, asked)
        return pa.table(list(columns.values()), names=list(columns))

    table = pa.concat_tables(_each_batch(part, categorizer, documents))
    if hasattr(like, "iloc"):
        frame = table.to_pandas()
        if is_list(table.schema.field("predicted").type):  # not arrays: lists can be compared
            frame["predicted"] = table["predicted"].to_pylist()
        frame.index = like.index
        return frame
    if type(like).__module__.partition(".")[0] == "polars":
        return sys.modules["polars"].from_arrow(table)
    return table


def _each_batch(
    work: Callable[[Batch, np.ndarray], R],
    categorizer: Categorizer,
    documents: Documents,
    keep: Sequence[str] = (),
    **progress: Any,
) -> Iterator[R]:
    """Yield what work makes of documents; of an empty batch where there are none at all."""
    is_empty = True
    for one in categorizer.map_batches(work, documents, **progress):
        is_empty = False
        yield one
    if is_empty:
        kept: dict[str, Any] = {name: [] for name in keep}
        nothing = Batch({"text": to_arrow([])}, None, [], kept=kept)
        yield work(nothing, np.zeros((0, len(categorizer.categories_)), np.float32))


def _batch_table(categorizer: Categorizer, batch: Batch, scores: np.ndarray, asked: Asked) -> Table:
    rows, places = _rows(batch), batch.place_array()
    if batch.skipped:
        places = places.to_pylist()
        for one in reversed(batch.skipped):
            places.insert(one.before, escaped(one.place))
        places = to_arrow(places)
    numbers = numbers_to_arrow(np.arange(1, len(rows) + 1) + batch.n_before)
    kept = {
        name: _kept(column, batch, rows, k) for k, (name, column) in enumerate(batch.kept.items())
    }
    own = own_columns(categorizer, batch, scores, asked)
    return with_kept({"row": numbers, "document": places}, kept, own)


def with_kept(before: Table, kept: Table, after: Table) -> Table:
    """Return the columns to keep between ours, which get other names where they have the same."""

    def free(name: str) -> str:
        return free(f"thresher_{name}") if name in kept else name

    before, after = ({free(name): array for name, array in one.items()} for one in (before, after))
    return before | kept | after


def _kept(column: Any, batch: Batch, rows: np.ndarray, k: int) -> Any:
    if not batch.skipped:
        return column
    values = column if isinstance(column, list) else column.to_pylist()
    left_out = iter(batch.skipped)
    return [values[i] if i >= 0 else next(left_out).kept[k] for i in rows.tolist()]


def _rows(batch: Batch) -> np.ndarray:
    """Return the number of the document in each row, -1 where one was left out."""
    return np.insert(np.arange(len(batch)), [one.before for one in batch.skipped], -1)


def own_columns(categorizer: Categorizer, batch: Batch, scores: np.ndarray, asked: Asked) -> Table:
    """Return what is decided of the documents of a batch, with rows for those left out."""
    categories, names = categorizer.stations.categories.labels, categorizer.categories_
    labels = _label_array(categories)
    chances = categorizer.probabilities(scores) if asked.probabilities else None
    numbers, ends = categorizer.decisions_.decide_numbers(scores)
    first = np.append(numbers, -1)[np.where(np.diff(ends) > 0, ends[:-1], -1)]
    if categorizer.decisions_.mode == "single-label":
        columns: Table = {"predicted": _taken(labels, first)}
    else:
        offsets = numbers_to_arrow(ends.astype(np.int32))
        columns = {"predicted": pa.ListArray.from_arrays(offsets, _taken(labels, numbers))}
    columns |= _numbers(scores, chances, first, "")
    if asked.top:
        best = np.argsort(-scores, axis=1, kind="stable")[:, : asked.top]
        for k, numbers in enumerate(best.T, 1):
            columns[f"top_{k}"] = _taken(labels, numbers)
            columns |= _numbers(scores, chances, numbers, f"_{k}")
    if asked.scores:
        for i in range(len(names)):
            chosen = np.full(len(scores), i)
            columns |= _numbers(scores, chances, chosen, f":{names[i]}")
    blank = pc.invert(pc.match_substring_regex(batch.texts, ANY_CHARACTER))
    notes = to_arrow([None, "no text"]).take(blank.cast(pa.int8()))
    if batch.skipped:
        rows = _rows(batch)
        columns = {name: _taken(column, rows) for name, column in columns.items()}
        left_out, notes = iter(batch.skipped), _taken(notes, rows).to_pylist()
        for row in np.flatnonzero(rows < 0).tolist():
            notes[row] = f"skipped: {next(left_out).reason}"
        notes = to_arrow(notes)
    return {**columns, "note": notes}


def _numbers(
    scores: np.ndarray, chances: np.ndarray | None, numbers: np.ndarray, end: str
) -> Table:
    """Return the scores and probabilities of one category for each document, null for none."""
    tables = {"score": scores} if chances is None else {"score": scores, "probability": chances}
    rows = np.arange(len(scores))
    return {
        f"{name}{end}": numbers_to_arrow(table[rows, numbers], numbers < 0)
        for name, table in tables.items()
    }


def _taken(array: pa.Array, numbers: np.ndarray) -> pa.Array:
    return array.take(numbers_to_arrow(numbers, numbers < 0))


def _label_array(labels: Sequence[Any]) -> pa.Array:
    """Return labels of one kind as they are, all others as texts."""
    if all(isinstance(one, str) for one in labels):
        return to_arrow(labels)
    try:
        array = pa.array(labels)
        if pa.types.is_primitive(array.type):
            return array
    except REFUSED:
        pass
    return to_arrow([str(one) for one in labels])


# ---- files -------------------------------------------------------------------------------------


def check_results(path: str) -> tuple[str, str | None]:
    """Return the ending that says how a file is written, and its compression; refuse others."""
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


def write_results(
    path: str,
    categorizer: Categorizer,
    documents: Documents,
    asked: Asked,
    keep: Sequence[str],
    progress: Callable[..., None],
) -> int:
    """Write a file with a row for every document; return how many there are."""
    with open_results(path, categorizer, keep) as writer:

        def prepare(batch: Batch, scores: np.ndarray) -> tuple[int, Any]:
            table = _batch_table(categorizer, batch, scores, asked)
            return len(batch) + len(batch.skipped), writer.prepare(table)

        n_rows = 0
        for n, prepared in _each_batch(prepare, categorizer, documents, keep, progress=progress):
            writer.write(prepared)
            n_rows += n
    return n_rows


@contextmanager
def open_results(path: str, categorizer: Categorizer, keep: Sequence[str] = ()) -> Iterator[Writer]:
    """Give what writes one table after the other; the file is there whole or not at all.

    `keep` has the names of the columns that are not ours.
    """
    ending, codec = check_results(path)
    with ExitStack() as opened:
        target = opened.enter_context(replace_file(path))
        sink = opened.enter_context(packed(opened.enter_context(open(target, "wb")), codec))
        writer = WRITERS[ending](sink, categorizer, keep)
        opened.callback(writer.close)
        yield writer


class Writer(Protocol):
    """What writes tables to a file, one after the other."""

    can_be_compressed: bool

    def __init__(self, sink: Any, categorizer: Categorizer, keep: Sequence[str]) -> None: ...

    def prepare(self, table: Table) -> Any:
        """Return what is written of a table; several threads may prepare some at once."""

    def write(self, prepared: Any) -> None:
        """Write what was prepared."""

    def close(self) -> None:
        """Write what is left."""


class _CSV:
    """Texts in quotes, so that an empty one is not a missing one; kept columns are all texts."""

    can_be_compressed = True

    def __init__(self, sink: Any, categorizer: Categorizer, keep: Sequence[str]) -> None:
        self._sink, self._keep, self._writer = sink, keep, cast(Any, None)
        names = categorizer.categories_
        unused = (one for one in SEPARATORS if not any(one in name for name in names))
        self._separator = next(unused, None)
        if self._separator is None and categorizer.decisions_.mode != "single-label":
            raise OutputError(
                f"Each of {' '.join(SEPARATORS)} stands in the name of a category, so that several "
                "categories cannot stand in one cell of a CSV file; write .jsonl or .parquet."
            )

    def prepare(self, table: Table) -> pa.Table:
        arrays = [
            _texts(column) if name in self._keep else self._joined(column)
            for name, column in table.items()
        ]
        return pa.table(arrays, names=list(table))

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

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


class _JSONLines:
    can_be_compressed = True

    def __init__(self, sink: Any, categorizer: Categorizer, keep: Sequence[str]) -> None:
        self._sink = sink

    def prepare(self, table: Table) -> memoryview:
        """Return the lines, put together by columns: Arrow does that while other threads run."""
        parts: list[Any] = []
        for name, column in table.items():
            parts += [f"{', ' if parts else '{'}{_json(name)}: ", _json_texts(column)]
        lines = _beside(*parts, "}\n", null_handling="replace", null_replacement="null")
        _, ends, data = lines.buffers()
        return memoryview(data)[: np.frombuffer(ends, np.int64)[len(lines)]]

    def write(self, prepared: memoryview) -> None:
        self._sink.write(prepared)

    def close(self) -> None:
        """Leave the closing to whoever opened the file."""


class _Parquet:
    can_be_compressed = False  # it is compressed within

    def __init__(self, sink: Any, categorizer: Categorizer, keep: Sequence[str]) -> None:
        self._sink, self._writer = sink, cast(Any, None)
        self._types: dict[str, pa.DataType] = {}

    def prepare(self, table: Table) -> Table:
        """Return it as it is: its types are those of the tables before it."""
        return table

    def write(self, prepared: Table) -> None:
        from pyarrow.parquet import ParquetWriter

        arrays = [self._typed(name, column) for name, column in prepared.items()]
        whole = pa.table(arrays, names=list(prepared))
        if self._writer is None:
            self._writer = ParquetWriter(self._sink, whole.schema, compression="zstd")
        self._writer.write_table(whole)

    def _typed(self, name: str, column: Any) -> pa.Array:
        """Return a column in the type that it had at first."""
        known = self._types.get(name)
        if known is not None and is_text(known):
            return _texts(column)
        try:
            if not isinstance(column, list):
                array = decoded(column) if known is None else decoded(column).cast(known)
            elif known is None and (_has_objects(column) or _is_of_texts(column)):
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

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


WRITERS: dict[str, type[Writer]] = {
    ".csv": _CSV,
    ".jsonl": _JSONLines,
    ".parquet": _Parquet,
}


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
        column = _values(array)
    texts = to_arrow([None if one is None else _text(one) for one in column])
    return texts.cast(pa.large_string())


def _has_objects(values: list[Any]) -> bool:
    """Tell whether there are objects, which need not have the same keys."""
    return any(isinstance(one, dict) for one in values)


def _is_of_texts(values: list[Any]) -> bool:
    return all(one is None or isinstance(one, str) for one in values)


def _text(value: Any) -> str:
    if isinstance(value, bool | int | float | list | dict):
        return _as_json(_plain(value))
    return value_text(value)


def _json_texts(column: Any) -> pa.Array:
    """Return the values of a column as JSON; what is null may stay so.

    Where Arrow writes a value as JSON has it, that is quicker than Python.
    """
    if isinstance(column, list):
        return _json_array(_values(column))
    array = decoded(column)
    kind = array.type
    if pa.types.is_integer(kind):
        return array.cast(pa.large_string())
    if pa.types.is_float32(kind) or pa.types.is_float64(kind):
        texts = array.cast(pa.large_string())
        others = pc.fill_null(pc.invert(pc.match_substring_regex(texts, PLAIN_NUMBER)), False)
        if not pc.any(others).as_py():
            return texts
        return pc.replace_with_mask(texts, others, _json_array(_values(array.filter(others))))
    if is_text(kind) and _is_plain(array):
        return _beside('"', array, '"')
    if pa.types.is_list(kind) and not array.null_count and not array.values.null_count:
        lists = pa.ListArray.from_arrays(array.offsets, _json_texts(array.values))
        return _beside("[", pc.binary_join(lists, _text_scalar(", ")), "]")
    return _json_array(_values(array))


def _json_array(values: list[Any]) -> pa.Array:
    return to_arrow([_json(one) for one in values]).cast(pa.large_string())


def _is_plain(texts: pa.Array) -> bool:
    """Tell whether texts are UTF-8 in which JSON has nothing to escape."""
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return not pc.any(pc.match_substring_regex(texts, ESCAPED)).as_py()


def _json(value: Any) -> str:
    return _as_json(value).encode("utf-8", "replace").decode()


def _beside(*parts: str | pa.Array, **options: Any) -> pa.Array:
    """Return the texts of columns joined row by row, with those between that each row has."""
    large = [
        _text_scalar(one) if isinstance(one, str) else one.cast(pa.large_string()) for one in parts
    ]
    return pc.binary_join_element_wise(*large, _text_scalar(""), **options)


@cache  # every batch has the same ones
def _text_scalar(text: str) -> pa.Scalar:
    return to_arrow([text]).cast(pa.large_string())[0]


def _values(column: Any) -> list[Any]:
    """Return a column as values that JSON has; a single float as short as it can be told."""
    if isinstance(column, list):
        return [_plain(one) for one in column]
    array = decoded(column)
    if pa.types.is_float32(array.type):
        array = array.cast(pa.string()).cast(pa.float64())
    if is_text(array.type):
        array = array.cast(pa.large_binary())  # of a stranger's file, it may not be UTF-8
    if pa.types.is_timestamp(array.type) or pa.types.is_time(array.type):
        array = array.cast(pa.string())  # Python's own know no nanoseconds
    try:
        values: list[Any] = array.to_pylist()
    except ValueError:
        raise DocumentError(
            f"A column to keep, of type {array.type}, has values that are no text in UTF-8 or that "
            "Python does not have; write .parquet, or keep another."
        ) from None
    is_float = pa.types.is_floating(array.type)
    if pa.types.is_integer(array.type) or (is_float and pc.all(pc.is_finite(array)).as_py()):
        return values
    return [_plain(one) for one in values]


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value_text(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value_text(value)
