"""Documents in batches, and one pass over them: what was asked, found, repaired and left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from thresher.documents import streams
from thresher.documents.columns import Columns, Request, check_columns, choose_columns
from thresher.documents.labels import (
    LONE_SURROGATES,
    guess_separator,
    labels_of,
    labels_of_array,
    value_text,
)
from thresher.errors import DocumentError

MOST_LISTED = 100  # sentences kept about documents left out; all are counted
MOST_GATHERED = 10_000  # documents that are put together one by one into a batch


@dataclass
class Batch:
    """Some documents: their texts, their labels and where they stood.

    Parameters
    ----------
    columns : dict of str to pyarrow.Array
        The text columns by name, in the order in which they are joined.
    labels : list of list of str, or None
        The labels of each document, empty for a document without a category; `None` where the
        data has no labels at all.
    where : callable
        Gives the place of the document of a number, such as "mail.csv:17".
    weights : array, optional
        How much each document counts; None where each counts once.

    Examples
    --------
    >>> from thresher.documents import from_texts
    >>> batch = next(iter(from_texts(["wheat up", "oil down"], [["grain"], ["crude", "oil"]])))
    >>> len(batch), batch.labels[1], batch.fields["text"], batch.place(0)
    (2, ['crude', 'oil'], ['wheat up', 'oil down'], 'document 1')
    """

    columns: dict[str, pa.Array]
    labels: list[list[Any]] | None
    where: Callable[[int], str]
    weights: Any = None

    @cached_property
    def texts(self) -> pa.Array:
        """The text of each document, an Arrow array: its columns joined by a newline."""
        arrays = list(self.columns.values())
        return arrays[0] if len(arrays) == 1 else pc.binary_join_element_wise(*arrays, "\n")

    @cached_property
    def fields(self) -> dict[str, list[str]]:
        """The texts of each column, by its name."""
        return {name: array.to_pylist() for name, array in self.columns.items()}

    def place(self, i: int) -> str:
        """Return where document `i` of the batch stood: file and line, row or message."""
        return self.where(i)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))


class Record(NamedTuple):
    """One document that is read on its own; the values are as they were found."""

    texts: Sequence[Any]
    labels: Any
    place: str


@dataclass(frozen=True)
class Source:
    """Something that documents are read from: a file, a folder, a table in memory."""

    name: str
    read: Callable[[Reading], Iterator[Batch]]
    size: int | None = None
    once: bool = False


class Reading:
    """One pass over the documents; the readers of all formats report to it."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.columns: Columns | None = None
        self.skipped: list[str] = []
        self.n_skipped = 0
        self.n_documents = 0
        self.n_labelled = 0
        self.decoding_errors = 0
        self.position: Callable[[], int] = int  # bytes read of the present source
        self._separator_known = request.label_separator is not None

    def refuse(self, place: str, what: str) -> None:
        """Stop at a document that cannot be read, or leave it out, as was asked."""
        if self.request.on_error == "stop":
            remedy = 'repair it, or leave such documents out (on_error="skip")'
            raise DocumentError(f"{place}: {what}; {remedy}.")
        self.leave_out(place, what)

    def leave_out(self, place: str, what: str) -> None:
        """Count and list a document that is left out."""
        self.n_skipped += 1
        if len(self.skipped) < MOST_LISTED:
            self.skipped.append(f"{place}: {what}.")

    def choose(self, place: str, available: Sequence[str], usual: tuple[str, ...] = ()) -> Columns:
        """Choose the columns at the first source; later ones must have the same."""
        if self.columns is None or self.columns.note:
            columns = choose_columns(place, available, self.request, usual)
            self.columns = replace(columns, separator=self.request.label_separator or None)
        else:
            check_columns(place, available, self.columns.text)
            check_columns(place, available, filter(None, [self.columns.labels]))
        return self.columns

    def set_columns(
        self,
        place: str,
        note: str,
        has_labels: bool,
        available: Sequence[str] = ("text",),
        usual: tuple[str, ...] = ("text",),
    ) -> Columns:
        """Settle the columns of a format whose labels, if any, need not be looked for."""
        labels = "labels" if has_labels else None
        check_columns(place, [*available, *filter(None, [labels])], self.request.named)
        if self.request.labels is False:
            labels = None
        separator = self.request.label_separator or None
        self.columns = Columns(self.request.text or usual, labels, separator, note=note)
        return self.columns

    def emit(
        self,
        columns: dict[str, pa.Array],
        labels: pa.Array | list[list[str]] | None,
        where: Callable[[int], str],
    ) -> Iterator[Batch]:
        """Yield the documents in batches that are not larger than was asked."""
        n = len(next(iter(columns.values())))
        lists = self._label_lists(labels) if isinstance(labels, pa.Array) else labels
        size = self.request.batch_size or max(n, 1)
        for start in range(0, n, size):
            part = {name: array.slice(start, size) for name, array in columns.items()}
            some = None if lists is None else lists[start : start + size]
            batch = Batch(part, some, lambda i, start=start: where(start + i))  # type: ignore[misc]
            self.n_documents += len(batch)
            self.n_labelled += sum(map(bool, some or ()))
            yield batch

    def gather(self, columns: Columns, records: Iterable[Record]) -> Iterator[Batch]:
        """Yield documents that come one by one in batches of at most about one block."""
        kept: list[Record] = []
        n_characters = 0
        for record in records:
            kept.append(record)
            n_characters += sum(len(text) for text in record.texts if isinstance(text, str))
            if n_characters >= streams.BLOCK or len(kept) >= MOST_GATHERED:
                yield from self._emit_records(columns, kept)
                kept, n_characters = [], 0
        yield from self._emit_records(columns, kept)

    def _emit_records(self, columns: Columns, records: list[Record]) -> Iterator[Batch]:
        if columns.labels is not None:
            self._guess_separator(record.labels for record in records)
        texts: list[tuple[str, ...]] = []
        labels: list[list[str]] = []
        places: list[str] = []
        for record in records:
            try:
                cells = tuple(map(_text, columns.text, record.texts))
                names = self._labels(columns, record)
            except DocumentError as error:
                self.refuse(record.place, str(error))
                continue
            self.decoding_errors += any(map(_is_damaged, (*cells, record.labels)))
            texts.append(cells)
            labels.append(names)
            places.append(record.place)
        arrays = {name: to_arrow([t[k] for t in texts]) for k, name in enumerate(columns.text)}
        return self.emit(arrays, None if columns.labels is None else labels, places.__getitem__)

    def _labels(self, columns: Columns, record: Record) -> list[str]:
        if columns.labels is None:
            return []
        try:
            return labels_of(record.labels, self._separator)
        except DocumentError as error:
            raise DocumentError(f'"{columns.labels}": {error}') from None

    def _label_lists(self, labels: pa.Array) -> list[list[str]]:
        if pa.types.is_dictionary(labels.type):
            labels = labels.dictionary_decode()
        is_text = pa.types.is_string(labels.type) or pa.types.is_large_string(labels.type)
        if is_text and not self._separator_known:
            distinct = labels.cast(pa.large_binary()).unique().to_pylist()
            self._guess_separator(map(value_text, distinct))
        return labels_of_array(labels, self._separator)

    @property
    def _separator(self) -> str | None:
        return self.columns.separator if self.columns else None

    def _guess_separator(self, labels: Iterable[Any]) -> None:
        """Guess, once, at the first batch that has labels in strings."""
        if self._separator_known or self.columns is None:
            return
        cells = {label for label in labels if isinstance(label, str) and label.strip()}
        self._separator_known = bool(cells)
        if (separator := guess_separator(cells)) is not None:
            guessed = self.columns.guessed | {"separator"}
            self.columns = replace(self.columns, separator=separator, guessed=guessed)


def to_arrow(texts: list[str]) -> pa.Array:
    """Return texts as an Arrow array, with what cannot be written in UTF-8 replaced."""
    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError:
        return pa.array([value_text(text) for text in texts], pa.string())


def _text(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value  # repaired later, when it was counted
    try:
        return value_text(value)
    except DocumentError as error:
        raise DocumentError(f'"{name}": {error}') from None


def _is_damaged(value: Any) -> bool:
    is_plain = not isinstance(value, str) or value.isascii()
    return not is_plain and LONE_SURROGATES.search(value) is not None


def without_null(strings: pa.Array) -> pa.Array:
    """Return an array of strings with empty ones for null.

    `fill_null` would import pandas wherever it is installed, which takes longer than training.
    """
    if not strings.null_count:
        return strings
    nothing = pa.StringArray.from_buffers(1, pa.py_buffer(bytes(8)), pa.py_buffer(b""))
    return pc.if_else(strings.is_valid(), strings, nothing.cast(strings.type)[0])
