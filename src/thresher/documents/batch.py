"""Batches of documents, and one pass over the documents with what it repairs and skips."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, repeat
from typing import Any, NamedTuple, overload

import numpy as np
import pyarrow as pa

from thresher.documents import streams
from thresher.documents.columns import LAYOUTS, Columns, Request, check_columns, choose_columns
from thresher.documents.encodings import UTF8, WESTERN, keeps_ascii
from thresher.documents.escapes import are_escaped
from thresher.documents.labels import (
    LONE_SURROGATES,
    MANY,
    decoded,
    escape_surrogates,
    guess_separator,
    is_list,
    is_text,
    labels_of,
    labels_of_array,
    value_text,
)
from thresher.documents.records import Opening, Records
from thresher.errors import DocumentError, ThresherWarning, counted, escaped, param
from thresher.fields import MARK

MOST_LISTED = 100  # skipped documents described by a sentence; all are counted
NOT_A_TEXT = "is {}, where a text is expected"
NO_SPAN = (0, 0)  # of a document whose record is not kept
QUOTE_NOTES = {
    "literal": "{location}: from here on, quotes in {lines} are ordinary characters, because the "
    "quoted cell would have held complete rows (" + param("quoting", "minimal") + " reads it so)",
    "swallowed": "{location}: {lines} that look like complete rows are inside quoted cells, from "
    "here on; if quotes are ordinary characters in this file, set " + param("quoting", "none"),
}
MOST_GATHERED = 10_000  # documents in a batch of documents that are read individually


@dataclass
class Batch:
    """Some documents: their texts, their labels and their locations.

    Attributes
    ----------
    columns : dict of Arrow arrays
        The columns of text, in the order in which they are joined.
    labels : list of lists or None
        The labels of each document; None if the data has no labels at all.
    locations : sequence of str
        The location of each document, such as "mail.csv:17", as it was read; see `location`.
    weights : array or None
        The weight of each document; None if all are 1.
    n_fields : int
        The number of columns that are fields; these come first.
    extra_columns : dict
        The columns to copy to results, as they were read.
    skipped : list of Skipped
        The documents that were left out; only if there may be extra columns.
    records : Records, RecordBatch or None
        The lines or rows that the documents were read from, if `filter` needs them.
    n_before : int
        The number of documents in earlier batches, including skipped ones.

    Examples
    --------
    >>> from thresher.documents import from_texts
    >>> batch = next(iter(from_texts(["wheat up", "oil down"], [["grain"], ["crude", "oil"]])))
    >>> len(batch), batch.labels[1], batch.fields["text"], batch.location(0)
    (2, ['crude', 'oil'], ['wheat up', 'oil down'], 'document 1')
    """

    columns: dict[str, pa.Array]
    labels: list[list[Any]] | None
    locations: Sequence[str]
    weights: Any = None
    n_fields: int = 0
    extra_columns: dict[str, pa.Array | list[Any]] = field(default_factory=dict)
    skipped: Sequence[Skipped] = ()
    records: Records | pa.RecordBatch | None = None
    n_before: int = 0
    numbers: Any = None  # of the documents among all that were given, from 1, where that matters
    labels_are_given: bool = False  # separately, and not by the table or file
    original: Callable[[bytes], bytes] = bytes  # converts records to the encoding of the file

    @cached_property
    def texts(self) -> pa.Array:
        """The text of each document, an Arrow array: its columns joined by a newline.

        A mark stands before each field; see `thresher.fields`.
        """
        arrays, n = list(self.columns.values()), self.n_fields
        if not n:
            return _joined(arrays, "\n")
        import pyarrow.compute as pc  # slow to import, and not needed for texts without fields

        fields = [pc.replace_substring(array, MARK, "\n") for array in arrays[:n]]
        rest = [_joined(arrays[n:], "\n")] if arrays[n:] else []
        return _joined([to_arrow([""])[0], *fields, *rest], MARK)

    @cached_property
    def fields(self) -> dict[str, list[str]]:
        """The texts of each column, by its name."""
        return {name: array.to_pylist() for name, array in self.columns.items()}

    def location(self, i: int) -> str:
        """Return the file and line, row or message of document `i`, escaped for display."""
        return escaped(self.locations[i])

    def location_array(self) -> pa.Array:
        """Return the escaped locations of all documents as an Arrow array."""
        if isinstance(self.locations, Locations):
            return self.locations.to_arrow()
        return to_arrow([escaped(location) for location in self.locations])

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))


def _joined(arrays: list[Any], separator: str) -> pa.Array:
    if len(arrays) == 1:
        return arrays[0]
    import pyarrow.compute as pc

    large = [array.cast(pa.large_string()) for array in (*arrays, to_arrow([separator])[0])]
    return pc.binary_join_element_wise(*large)


class Locations(Sequence[str]):
    """Locations that differ by a number at their end; their texts are made on demand.

    Examples
    --------
    >>> locations = Locations("mail.csv:", np.array([2, 3, 7]))
    >>> locations[2], list(locations[:2])
    ('mail.csv:7', ['mail.csv:2', 'mail.csv:3'])
    """

    def __init__(self, beginning: str, numbers: np.ndarray) -> None:
        self._beginning, self._numbers = beginning, numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, which: int) -> str: ...
    @overload
    def __getitem__(self, which: slice) -> Locations: ...
    def __getitem__(self, which: int | slice) -> str | Locations:
        if isinstance(which, slice):
            return Locations(self._beginning, self._numbers[which])
        return f"{self._beginning}{self._numbers[which]}"

    def __iter__(self) -> Iterator[str]:
        beginning = self._beginning
        return (f"{beginning}{number}" for number in self._numbers.tolist())

    def to_arrow(self) -> pa.Array:
        """Return the escaped locations as an Arrow array."""
        import pyarrow.compute as pc

        numbers = numbers_to_arrow(self._numbers).cast(pa.string())
        beginning, empty = to_arrow([escaped(self._beginning), ""])
        return pc.binary_join_element_wise(beginning, numbers, empty)


class Skipped(NamedTuple):
    """A document that was left out."""

    before: int  # the number of documents of its batch before it
    location: str
    reason: str
    extra_values: Sequence[Any]  # of the extra columns, as far as they could be read


class Record(NamedTuple):
    """One document that is read individually; the values are as they were in the data."""

    texts: Sequence[Any]
    labels: Any
    location: str
    extra_values: Sequence[Any] = ()
    skipped: str = ""  # the reason why it is left out, if it is
    span: tuple[int, int] = NO_SPAN  # in the current block

    @classmethod
    def of(
        cls, columns: Columns, values: Sequence[Any], location: str, span: tuple[int, int] = NO_SPAN
    ) -> Record:
        """Return a document made of the values of `columns.names` and of the extra columns."""
        n, after = len(columns.text), len(columns.names)
        labels = None if columns.labels is None else values[n]
        return cls(values[:n], labels, location, values[after:], span=span)


@dataclass(frozen=True)
class Source:
    """A source of documents: a file, a folder, or data in memory."""

    name: str
    read: Callable[[Reading], Iterator[Batch]]
    size: int | None = None  # in bytes
    once: bool = False  # whether it can be read only once, like standard input


class Reading:
    """One pass over the documents; the readers of all formats use it to build batches."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.keep = request.keep or ()
        self.columns: Columns | None = None
        self.skipped: list[str] = []
        self.n_skipped = 0
        self.n_documents = 0
        self.n_labelled = 0
        self.decoding_errors = 0
        self.remarks: dict[str, None] = {}
        self.encodings: dict[str, str] = {}  # of the first files
        self._n_assumed: Counter[str] = Counter()  # files by encoding
        self._last_assumed = ""
        self.quotes: dict[str, tuple[str, int]] = {}
        self.has_label_lists = False  # whether labels are lists, so that an empty one is an answer
        self.has_escaped_labels = False  # whether bytes in labels are no text
        self.keeps_numbers = False  # whether labels that are numbers stay numbers
        self.n_fields = 0  # the number of text columns of the current source that are fields
        self.is_escaped = False  # whether the current source is a table of answers (`escapes`)
        self.position: Callable[[], int] = int  # bytes read of the current source
        # Converts data of the current file to its encoding.
        self.original: Callable[[bytes], bytes] = bytes
        self.opening: Opening | None = None  # of the first file, if records are kept
        self._n_emitted = 0  # documents in earlier batches, including skipped ones
        self._block: bytes | None = None  # the current block, if records are kept
        self._spans: list[tuple[int, int]] = []  # of its skipped records
        self._separator_known = request.label_separator is not None

    @property
    def keeps_records(self) -> bool:
        return self.request.reject is not None

    @property
    def layout(self) -> str | None:
        """How files without a known suffix are read: the given format, or else that of training.

        "eml" if they are mail, "folder" if they are plain texts, `None` if it is to be recognized.
        """
        familiar = self.request.familiar
        layout = self.request.format or (None if familiar is None else familiar.layout)
        return layout if layout in LAYOUTS else None

    @property
    def encoding(self) -> str | None:
        """The encoding to assume of later files that are not UTF-8, or `None` for no other.

        It is the given one, or the only one that was recognized; but without a given one, files in
        Windows-1252 are recognized as before.
        """
        given = self.request.encoding
        if given is not None:
            name = codecs.lookup(given).name
            return given if name != UTF8 and keeps_ascii(given) else None
        only = next(iter(self._n_assumed)) if len(self._n_assumed) == 1 else WESTERN
        return only if only != WESTERN and keeps_ascii(only) else None

    def remark(self, sentence: str) -> None:
        """Note something that was assumed of a source."""
        self.remarks[sentence] = None

    def assume(self, name: str, encoding: str) -> None:
        """Note the encoding that was recognized in a file or in a mail."""
        if name != self._last_assumed:
            self._n_assumed[encoding] += 1
            if len(self.encodings) < MOST_LISTED:
                self.encodings[name] = encoding
        self._last_assumed = name

    def note_quotes(self, kind: str, location: str, n: int) -> None:
        """Note lines with quotes that may not be meant as such, and the first location."""
        first, n_before = self.quotes.get(kind, (location, 0))
        self.quotes[kind] = first, n_before + n

    def notes(self, show: Callable[[str], str] = str) -> list[str]:
        """Return sentences about what was assumed of formats, encodings and quotes."""
        notes = list(self.remarks)
        for encoding, n in self._n_assumed.items():
            known = (name for name, assumed in self.encodings.items() if assumed == encoding)
            first = next(known, "some files")
            more = f" and {n - 1:,} more" if n > 1 else ""
            as_trained = ", as the model was trained" * (encoding == self.request.likely_encoding)
            other = param("encoding", "...")
            notes.append(
                f"{first}{more}: not UTF-8; read as {encoding}{as_trained} ({other} for another)"
            )
        for kind, (location, n) in self.quotes.items():
            lines = counted(n, "line")
            notes.append(QUOTE_NOTES[kind].format(location=location, lines=lines))
        return [ThresherWarning(f"{note}.").message(show) for note in notes]

    def open(self, location: str, opening: Opening) -> None:
        """Store the opening of the first file; raise an error if a later file has another."""
        self.opening = self.opening or opening
        opening.check(location, self.opening)

    def turn_to(self, block: bytes | None) -> None:
        """Begin a block; pass the skipped records of the previous block to `reject`, in order."""
        if self.request.reject is None:
            return
        if self._block is not None:
            for start, end in sorted(self._spans):
                self.request.reject(self.original(self._block[start:end]))
        self._block, self._spans = block, []

    def refuse(
        self, location: str, what: str, span: tuple[int, int] = NO_SPAN, extra: Sequence[Any] = ()
    ) -> Record:
        """Raise an error about a document that cannot be read, or return it as skipped.

        It is counted when its batch is made, so that skipped documents are listed in their order.
        """
        if self.request.on_error == "stop":
            skip = param("on_error", "skip")
            raise DocumentError(
                f"{location}: {what}; repair it, or leave such documents out ({skip})."
            )
        return self.skip(location, what, span, extra)

    def skip(
        self, location: str, what: str, span: tuple[int, int] = NO_SPAN, extra: Sequence[Any] = ()
    ) -> Record:
        """Return the record of a skipped document."""
        return Record((), None, location, extra or [None] * len(self.keep), what, span)

    def count_skipped(self, record: Record) -> None:
        """Count and list a skipped document."""
        self.n_skipped += 1
        if len(self.skipped) < MOST_LISTED:
            self.skipped.append(escaped(f"{record.location}: {record.skipped}."))
        if self._block is not None:
            self._spans.append(record.span)

    def choose(
        self, location: str, available: Sequence[str], usual: tuple[str, ...] = ()
    ) -> Columns:
        """Choose the columns of the first source; raise an error if a later one lacks them."""
        self.n_fields = len(self.request.fields)
        named = streams.format_of_name(location)
        self.is_escaped = named not in ("jsonl", "parquet") and are_escaped(available)
        if self.columns is None or self.columns.note:
            columns = choose_columns(location, available, self.request, usual)
            separator = self.request.label_separator or None
            self.columns = replace(columns, separator=separator, layout=self.layout)
        else:
            check_columns(location, available, (*self.columns.names, *self.keep))
        return self.columns

    def set_columns(
        self,
        location: str,
        note: str,
        has_labels: bool,
        available: Sequence[str] = ("text",),
        usual: tuple[str, ...] = ("text",),
        layout: str | None = None,
    ) -> Columns:
        """Set the columns of a format that has no label column to look for.

        Plain texts have no fields.
        """
        has_fields = list(available) != ["text"]
        request = self.request if has_fields else replace(self.request, fields=())
        labels = "labels" if has_labels else None
        check_columns(location, [*available, *filter(None, [labels])], request.named)
        if request.labels is False:
            labels = None
        familiar = request.familiar
        if familiar is not None and set(familiar.text) <= set(available):
            usual = familiar.text
        text, self.n_fields = request.fields_first(request.text or usual), len(request.fields)
        self.columns = Columns(
            text, labels, request.label_separator or None, note=note, layout=layout or self.layout
        )
        return self.columns

    def extra_values_of(self, columns: Columns, texts: Sequence[Any], labels: Any) -> list[Any]:
        """Return the extra values of a document without other columns than texts and labels."""
        values = dict(zip(columns.text, texts, strict=True)) | {"labels": labels}
        return [values[name] for name in self.keep]

    def emit(
        self,
        columns: dict[str, pa.Array],
        labels: pa.Array | list[list[str]] | None,
        locations: Sequence[str],
        extra: Sequence[Any] = (),
        skipped: Sequence[Skipped] = (),
        records: Records | pa.RecordBatch | None = None,
    ) -> Iterator[Batch]:
        """Yield documents in batches of at most the requested size, and count them.

        `extra` has the extra columns; each of the `skipped` goes to the batch of the document
        after it, or to the last batch.
        """
        n = len(next(iter(columns.values())))
        if n and self.keeps_records and records is None:
            what = "only lines and the rows of tables can be passed on as they stand"
            raise DocumentError(
                f"{locations[0]}: {what}; make JSON lines, CSV or Parquet of it first."
            )
        lists = self._label_lists(labels) if isinstance(labels, pa.Array) else labels
        lists = None if lists is None else self._clean(lists, locations)
        size = self.request.batch_size or max(n, 1)
        for start in range(0, n, size) if n or not skipped else [0]:
            end = min(start + size, n)
            batch = Batch(
                {name: array.slice(start, size) for name, array in columns.items()},
                None if lists is None else lists[start:end],
                locations[start:end],
                n_fields=self.n_fields,
                n_before=self._n_emitted,
            )
            if extra:
                values = (column[start:end] for column in extra)
                batch.extra_columns = dict(zip(self.keep, values, strict=True))
            if skipped:
                batch.skipped = [
                    document._replace(before=document.before - start)
                    for document in skipped
                    if start <= document.before < start + size or document.before == n == end
                ]
            if self.keeps_records and records is not None:
                batch.records = records.slice(start, len(batch))
                batch.original = self.original
            self.n_documents += len(batch)
            self._n_emitted += len(batch) + len(batch.skipped)
            self.n_labelled += sum(map(bool, batch.labels or ()))
            yield batch

    def _clean(self, lists: list[list[Any]], locations: Sequence[str]) -> list[list[Any]]:
        """Escape bytes that are no text in labels; note the first location of all."""
        distinct = set(chain.from_iterable(lists))
        clean = {label: escape_surrogates(label) for label in filter(_is_damaged, distinct)}
        if not clean:
            return lists
        if not self.has_escaped_labels:
            self.has_escaped_labels = True
            i, label = next((i, x) for i, labels in enumerate(lists) for x in labels if x in clean)
            self.remark(
                f"{escaped(locations[i])}: the label {clean[label]} has bytes that are no text in "
                "the encoding; such bytes in labels are written as escapes"
            )
        return [[clean.get(label, label) for label in labels] for labels in lists]

    def gather(self, columns: Columns, records: Iterable[Record]) -> Iterator[Batch]:
        """Yield documents that are read individually, in batches of at most about one block."""
        gathered: list[Record] = []
        n_characters = 0
        for record in records:
            gathered.append(record)
            n_characters += sum(len(text) for text in record.texts if isinstance(text, str))
            if n_characters >= streams.BLOCK or len(gathered) >= MOST_GATHERED:
                yield from self._emit_records(columns, gathered)
                gathered, n_characters = [], 0
        yield from self._emit_records(columns, gathered)

    def _emit_records(self, columns: Columns, records: list[Record]) -> Iterator[Batch]:
        if columns.labels is not None:
            self._guess_separator(record.labels for record in records)
        separator = self.columns.separator if self.columns else None
        read_labels = partial(labels_of, separator=separator, keep_numbers=self.keeps_numbers)
        accepted: list[Record] = []
        skipped: list[Skipped] = []
        for record in records:
            try:
                cells = list(map(_converted, columns.text, repeat(_cell), record.texts))
                labels = _converted(columns.labels, read_labels, record.labels)
                self.has_label_lists |= isinstance(record.labels, MANY)
            except DocumentError as error:
                record = self.refuse(record.location, str(error), record.span, record.extra_values)
            if record.skipped:
                self.count_skipped(record)
                reason = record.skipped
                skipped.append(Skipped(len(accepted), record.location, reason, record.extra_values))
                continue
            read = (*cells, record.labels, *record.extra_values)
            self.decoding_errors += any(map(_is_damaged, read))
            accepted.append(record._replace(texts=cells, labels=labels))
        arrays = {
            name: to_arrow([record.texts[k] for record in accepted])
            for k, name in enumerate(columns.text)
        }
        lists = None if columns.labels is None else [record.labels for record in accepted]
        extra = [[record.extra_values[k] for record in accepted] for k in range(len(self.keep))]
        originals = None
        if self._block is not None:
            spans = np.array([record.span for record in accepted], np.int64).reshape(-1, 2)
            originals = Records(self._block, spans[:, 0], spans[:, 1])
        locations = [record.location for record in accepted]
        reported = () if self.request.keep is None else skipped
        return self.emit(arrays, lists, locations, extra, reported, originals)

    def _label_lists(self, labels: pa.Array) -> list[list[Any]]:
        labels = decoded(labels)
        self.has_label_lists |= is_list(labels.type)
        if is_text(labels.type) and not self._separator_known:
            distinct = labels.cast(pa.large_binary()).unique().to_pylist()
            self._guess_separator(map(value_text, distinct))
        separator = self.columns.separator if self.columns else None
        return labels_of_array(labels, separator, self.keeps_numbers)

    def _guess_separator(self, labels: Iterable[Any]) -> None:
        """Guess the separator of labels at the first batch that has labels in strings."""
        if self._separator_known or self.columns is None:
            return
        cells = {label for label in labels if isinstance(label, str) and label.strip()}
        self._separator_known = bool(cells)
        if (separator := guess_separator(cells)) is not None:
            guessed = self.columns.guessed | {"separator"}
            self.columns = replace(self.columns, separator=separator, guessed=guessed)


def to_arrow(texts: Sequence[str | None]) -> pa.Array:
    """Return texts as an Arrow array; lone surrogates become replacement characters.

    The array is built from buffers because `pyarrow.array` and `pyarrow.scalar` import pandas if it
    is installed, which takes longer than training.
    """
    is_null: Sequence[bool] = ()
    try:
        data = list(map(str.encode, texts))  # type: ignore[arg-type]
    except (TypeError, UnicodeEncodeError):
        data, is_null = [_encoded(text) for text in texts], [text is None for text in texts]
    ends = np.zeros(len(data) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, data), np.int64, len(data)), out=ends[1:])
    is_long = ends[-1] > np.iinfo(np.int32).max
    offsets = pa.py_buffer(ends if is_long else ends.astype(np.int32))
    buffers = [_validity(is_null), offsets, pa.py_buffer(b"".join(data))]
    return pa.Array.from_buffers(pa.large_string() if is_long else pa.string(), len(data), buffers)


def numbers_to_arrow(numbers: np.ndarray, is_null: Any = ()) -> pa.Array:
    """Return numbers as an Arrow array, built from buffers as in `to_arrow`."""
    buffers = [_validity(is_null), pa.py_buffer(np.ascontiguousarray(numbers))]
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), buffers)


def _validity(is_null: Any) -> pa.Buffer | None:
    nulls = np.asarray(is_null, bool)
    return pa.py_buffer(np.packbits(~nulls, bitorder="little")) if nulls.any() else None


def _encoded(text: str | None) -> bytes:
    try:
        return b"" if text is None else text.encode()
    except UnicodeEncodeError:
        return value_text(text).encode()


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else value_text(value)  # repaired by to_arrow


def _converted(column: str | None, convert: Callable[[Any], Any], value: Any) -> Any:
    """Return a converted value; None without a column. An error names the column."""
    try:
        return None if column is None else convert(value)
    except DocumentError as error:
        raise DocumentError(f'"{column}": {error}') from None


def _is_damaged(value: Any) -> bool:
    is_text = isinstance(value, str) and not value.isascii()
    return is_text and LONE_SURROGATES.search(value) is not None


def without_null(strings: pa.Array) -> pa.Array:
    """Return an array of strings with "" for null; `fill_null` would import pandas."""
    if not strings.null_count:
        return strings
    import pyarrow.compute as pc

    return pc.if_else(strings.is_valid(), strings, to_arrow([""]).cast(strings.type)[0])
