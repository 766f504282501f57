"""Documents from files, folders, tables and lists, as batches of texts and labels."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from operator import attrgetter
from typing import Any

import numpy as np
import pyarrow as pa

from thresher.documents import streams
from thresher.documents.batch import (
    MOST_GATHERED,
    NOT_A_TEXT,
    Batch,
    Locations,
    Reading,
    Source,
    to_arrow,
)
from thresher.documents.columns import Columns, Request
from thresher.documents.encodings import check_encoding
from thresher.documents.escapes import restore
from thresher.documents.formats import FORMATS, MAIL, READERS
from thresher.documents.labels import LONE_SURROGATES, is_missing, labels_of
from thresher.documents.records import Opening
from thresher.documents.streams import (
    HEADERS,
    STDIN,
    Stream,
    format_of_name,
    format_of_stream,
    name_of,
    open_stream,
)
from thresher.errors import DocumentError, ParameterError, counted, param, reason
from thresher.limits import MOST_DOCUMENT_MB


def _from_reading(name: str) -> Any:
    return property(attrgetter(f"_reading.{name}"))


class Documents:
    """Documents to iterate over in batches, as often as their source allows.

    The attributes describe the current pass, or the last one.

    Attributes
    ----------
    columns : Columns or None
        The columns read; known from the first batch on.
    columns_note : str
        The columns as a sentence, which says what was guessed.
    n_documents, n_labelled : int
        The number of documents read, and of those with a label.
    n_skipped, skipped : int, list of str
        The number of skipped documents, and a sentence about each of the first hundred.
    decoding_errors : int
        The number of documents with bytes that are no text in the encoding of the file, which were
        replaced.
    encodings : dict
        The encodings that were recognized, by file, of the first hundred files that are not UTF-8.
    notes : list of str
        Sentences about what was assumed of formats, encodings and quotes.
    bytes_read, bytes_total : int or None
        The number of (compressed) bytes read and of all files; `bytes_total` is `None` if it is not
        known.

    Examples
    --------
    >>> documents = from_texts(["wheat up", "oil down", "?"], [["grain"], ["crude"], []])
    >>> [len(batch) for batch in documents], documents.n_documents, documents.n_labelled
    ([3], 3, 2)
    """

    def __init__(self, sources: Sequence[Source], request: Request) -> None:
        self._sources = sources
        self._reading = Reading(request)
        self._bytes_done = 0
        self._is_used = False
        self.relabel: Callable[[Any], Any] | None = None  # renames labels
        self.none_is_answer = False  # whether documents without labels are known to have none
        sizes = [source.size for source in sources]
        self.bytes_total = None if None in sizes else sum(filter(None, sizes))

    def __iter__(self) -> Iterator[Batch]:
        return self.batches()

    def batches(self, fields: Sequence[str] = ()) -> Iterator[Batch]:
        """Start a pass and return its batches.

        Parameters
        ----------
        fields : sequence of str
            Text columns that are fields. They come first in the text, and are the whole text if no
            text columns were requested. Default: none.
        """
        if self._is_used and self.only_once:
            raise DocumentError(
                f"{self.only_once}: can be read only once, and was; save it to a file to read it "
                "again."
            )
        self._is_used = True
        request = replace(self._reading.request, fields=tuple(fields))
        self._reading, self._bytes_done = Reading(request), 0
        return self._batches(self._reading)

    def _batches(self, reading: Reading) -> Iterator[Batch]:
        for source in self._sources:
            reading.position, reading.is_escaped, reading.original = int, False, bytes
            try:
                for batch in source.read(reading):
                    if reading.is_escaped:
                        restore(batch)
                    if self.relabel is not None and batch.labels is not None:
                        batch.labels = [list(map(self.relabel, labels)) for labels in batch.labels]
                    yield batch
                reading.turn_to(None)
            except pa.ArrowCancelled:
                raise KeyboardInterrupt from None
            except (OSError, pa.ArrowException) as error:
                raise DocumentError(f"{source.name}: cannot be read ({reason(error)}).") from error
            self._bytes_done += reading.position() if source.size is None else source.size
        reading.position = int
        if reading.n_documents or self.bytes_total is None:
            return  # data in memory or from a pipe may be empty, files may not
        names = ", ".join(source.name for source in self._sources[:3])
        if reading.n_skipped:
            first = reading.skipped[0].rstrip(".")
            why = f"all {reading.n_skipped} were left out, the first being {first}"
        elif self.bytes_total == 0:
            why = "the file is empty" if len(self._sources) == 1 else "the files are empty"
        else:
            why = "nothing stands after the header, or all lines are blank"
        raise DocumentError(f"{names}: there are no documents; {why}.")

    def keep_records(self, reject: Callable[[bytes], object]) -> None:
        """Make batches hold the unchanged records that their documents were read from.

        Parameters
        ----------
        reject : callable
            Called with the bytes of each skipped record.
        """
        self._reading.request = replace(self._reading.request, reject=reject)

    @property
    def only_once(self) -> str | None:
        """The name of a source that can be read only once, or `None`."""
        return next((source.name for source in self._sources if source.once), None)

    @property
    def bytes_read(self) -> int:
        return self._bytes_done + self._reading.position()

    @property
    def notes(self) -> list[str]:
        return self._reading.notes()

    def notes_with(self, show: Callable[[str], str]) -> list[str]:
        """Return the notes; `show` formats the parameters in them."""
        return self._reading.notes(show)

    @property
    def columns_note(self) -> str:
        return "" if self.columns is None else str(self.columns)

    opening: Opening | None = _from_reading("opening")

    @property
    def columns(self) -> Columns | None:
        columns = self._reading.columns
        return columns and replace(columns, encoding=self._reading.encoding)

    n_documents: int = _from_reading("n_documents")
    n_labelled: int = _from_reading("n_labelled")
    has_label_lists: bool = _from_reading("has_label_lists")
    skipped: list[str] = _from_reading("skipped")
    n_skipped: int = _from_reading("n_skipped")
    decoding_errors: int = _from_reading("decoding_errors")
    encodings: dict[str, str] = _from_reading("encodings")


def read_documents(
    source: Any,
    *,
    text: str | Sequence[str] | None = None,
    labels: str | bool | None = None,
    format: str | None = None,
    label_separator: str | None = None,
    on_error: str = "stop",
    batch_size: int | None = None,
    familiar: Columns | None = None,
    keep: Sequence[str] | None = None,
    encoding: str | None = None,
    quoting: str | None = None,
    max_document_mb: int | None = None,
) -> Documents:
    """Read documents from files, folders, standard input, tables or pairs, batch by batch.

    The documents can be read repeatedly, except from streams. Files may be compressed with gzip,
    zstd or bzip2. Memory holds a few megabytes of a file at a time. Before the first batch, only
    the existence of the files is checked.

    Parameters
    ----------
    source : path, list of paths, table, data frame or iterable of pairs
        A file, or "-" for standard input. A folder with a subfolder for each category, or with
        documents, or with tables. An Arrow table or stream. Pairs of a text and its labels.
    text : str or sequence of str, default None
        The text columns, which are joined by a newline. By default the first with a usual name
        (text, body, content, message, ..., title), or the only column left; for mail, the subject
        and the body.
    labels : str or False, default None
        The label column. By default the first with a usual name (label, labels, category,
        categories, topic, topics, class, target); `False` for none.
    format : str, default None
        One of `FORMATS`. By default derived from the file name, or else from the first bytes. Files
        in folders are mail ("eml"), if most of those without a known suffix are, or plain texts
        ("folder").
    label_separator : str, default None
        The separator of several labels in a string; "" for none. By default "|", ";" or ",", if at
        least half of the labels that it would give in the first batch also occur alone.
    on_error : {"stop", "skip"}, default "stop"
        Whether a document that cannot be read raises an error, or is skipped, counted and listed.
    batch_size : int, default None
        The largest number of documents in a batch; by default as many as a block of the file holds.
    familiar : Columns, default None
        The columns of an earlier source, which are used if this source has them.
    keep : sequence of str, default None
        Columns to copy to `Batch.extra_columns`. If it is not None, even if empty, batches also
        list skipped documents in `Batch.skipped`, and may have no others.
    encoding : str, default None
        The encoding of text files, such as "cp1252", and of mail that declares none. By default
        UTF-8, UTF-16 with a byte order mark, or what the first bytes outside ASCII indicate; see
        `Documents.encodings`.
    quoting : {"minimal", "none"}, default None
        Whether a quote at the beginning of a cell of a CSV or TSV file opens a quoted cell, or
        quotes are ordinary characters. By default "minimal"; but in a TSV file, a quote that opens
        a cell of several lines is an ordinary character if the first, the last and most of these
        lines are complete rows.
    max_document_mb : int, default None
        The largest size of a document, line or row in megabytes, also after decompression; 128 by
        default, and 1,024 at most. A compressed Parquet file may have eight times as much.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"body": ["wheat up", "oil down"], "topics": ["grain", "crude"]})
    >>> documents = read_documents(table)
    >>> sum(len(batch) for batch in documents)
    2
    >>> documents.columns_note
    'text is "body" (guessed); labels are "topics" (guessed)'
    """
    names = (text,) if isinstance(text, str) else tuple(text or ()) or None
    if label_separator is None and familiar is not None:
        label_separator = familiar.separator
    extra = None if keep is None else tuple(dict.fromkeys(keep))
    request = Request(
        names, labels, label_separator, on_error, batch_size, familiar, extra,
        format=format, encoding=encoding, quoting=quoting, max_document_mb=max_document_mb,
    )  # fmt: skip
    _check(request)
    return Documents(_sources(source, format), request)


def from_texts(
    texts: Iterable[str], labels: Iterable[Any] | None = None, *, batch_size: int | None = None
) -> Documents:
    """Return the texts of a list as documents.

    Parameters
    ----------
    texts : iterable of str
        The text of each document; a missing one (None or NaN) is an empty text.
    labels : iterable, default None
        The labels of each document: a list of labels, a single label, or `None`.
    batch_size : int, default None
        As for `read_documents`.

    Examples
    --------
    >>> [batch.labels for batch in from_texts(["a", "b", "c"], ["x", ["y", "z"], None])]
    [[['x'], ['y', 'z'], []]]
    """
    if isinstance(texts, str):
        what = f"texts is one string ({texts[:40]!r}), where a list of texts is expected"
        raise DocumentError(f"{what}; put it into a list.")
    if isinstance(labels, str):
        raise DocumentError(
            f"labels is one string ({labels[:40]!r}), where the labels of each text are expected."
        )
    texts, labels = list(texts), None if labels is None else list(labels)
    if labels is not None and len(labels) != len(texts):
        raise DocumentError(
            f"{counted(len(texts), 'text')} cannot have labels for {len(labels)}; give one each."
        )
    request = Request(batch_size=batch_size)
    _check(request)
    return Documents([Source("the texts", partial(_read_texts, texts, labels))], request)


def _read_texts(texts: list[str], labels: list[Any] | None, reading: Reading) -> Iterator[Batch]:
    """Yield a list of texts in batches; the counterpart of the readers of files."""
    note = "texts and labels as given" if labels is not None else "texts as given; no labels"
    reading.columns = Columns(("text",), None if labels is None else "labels", note=note)
    start, n_characters = 0, 0
    for end, text in enumerate(texts, 1):
        if not isinstance(text, str):
            if not is_missing(text):
                reading.refuse(f"document {end}", NOT_A_TEXT.format(type(text).__name__))
            texts[end - 1] = text = ""
        if not text.isascii() and LONE_SURROGATES.search(text):
            reading.decoding_errors += 1
        n_characters += len(text)
        if n_characters >= streams.BLOCK or end - start >= MOST_GATHERED or end == len(texts):
            lists = None if labels is None else _label_lists(labels[start:end], start, reading)
            locations = Locations("document ", np.arange(start + 1, end + 1))
            yield from reading.emit({"text": to_arrow(texts[start:end])}, lists, locations)
            start, n_characters = end, 0


def _label_lists(labels: list[Any], n_before: int, reading: Reading) -> list[list[Any]]:
    """Return the labels of each document; a string is a single label."""
    lists = []
    for number, value in enumerate(labels, n_before + 1):
        try:
            labels_of_document = [value] if isinstance(value, str) else value
            lists.append(labels_of(labels_of_document, None, keep_numbers=True))
        except DocumentError as error:
            reading.refuse(f"document {number}", f'"labels": {error}')
    return lists


def column_to_list(source: Any) -> Any:
    """Return an array or a column of a table as a list, with "" for each missing value.

    Anything else is returned unchanged.
    """
    for name in ("tolist", "to_pylist", "to_list"):
        if hasattr(source, name) and not hasattr(source, "columns"):
            values = getattr(source, name)()
            is_list = isinstance(values, list)  # not so for an array without dimensions
            return ["" if is_missing(value) else value for value in values] if is_list else values
    return source


def _sources(source: Any, format: str | None) -> list[Source]:
    if isinstance(source, str | os.PathLike):
        return _path_sources(os.fspath(source), format)
    from thresher.documents import tables

    if hasattr(source, "iloc") and hasattr(source, "columns"):
        return [tables.frame_source(source)]
    if any(hasattr(source, f"__arrow_c_{kind}__") for kind in ("stream", "array")):
        return [tables.arrow_source(source)]
    if isinstance(source, Sequence) and len(source) and isinstance(source[0], str | os.PathLike):
        paths = map(os.fspath, source)
        return [item for path in paths for item in _path_sources(path, format)]
    if isinstance(source, Iterable):
        return [tables.pairs_source(source)]
    first = "collect() it, or " if hasattr(source, "collect") else ""  # polars.LazyFrame
    raise DocumentError(
        f"documents cannot be read from {type(source).__name__}; {first}give a path, a list of "
        "paths, a table, or pairs of a text and its labels."
    )


def _path_sources(path: str, format: str | None) -> list[Source]:
    if path != STDIN and not os.path.exists(path):
        hint = "; a text goes into a list" if any(map(str.isspace, path)) else ""
        shown = path if len(path) < 200 else f"{path[:60]!r}..."
        raise DocumentError(f"{shown}: there is no such file or folder; check its name{hint}.")
    if path == STDIN or not os.path.isdir(path):
        return [_file_source(path, format)]
    from thresher.documents import folders

    entries = folders.list_folder(path)
    if format in (None, "folder", "eml") and not (format is None and folders.is_tables(entries)):
        return [folders.folder_source(path, entries, format)]
    return [_file_source(entry.path, format) for entry in entries]


def _file_source(path: str, format: str | None) -> Source:
    if format == "folder":
        raise DocumentError(f"{path}: is not a folder; give another format, or none.")
    is_file = os.path.isfile(path)  # False for standard input and named pipes
    size = os.path.getsize(path) if is_file else None
    return Source(name_of(path), partial(_read_file, path, format), size, once=not is_file)


def _read_file(path: str, format: str | None, reading: Reading) -> Iterator[Batch]:
    request = reading.request
    with open_stream(path, request.longest) as stream:
        reading.position, reading.original = lambda: stream.position, lambda x: stream.original(x)
        name = format or format_of_name(path) or _recognized(stream, reading)
        kind = READERS[name]
        if kind.is_text and name not in MAIL:
            assume = partial(reading.assume, stream.name)
            stream.convert(request.encoding, assume, request.likely_encoding)
        if kind.is_text and (what := stream.why_not_text()):
            raise DocumentError(f"{stream.name}: {what}.")
        read = getattr(import_module(f"thresher.documents.{kind.module}"), kind.function)
        yield from read(stream, reading)


def _recognized(stream: Stream, reading: Reading) -> str:
    """Return the format of a file by its first bytes; mail also by the format of training."""
    request = reading.request
    name = format_of_stream(stream, request.encoding, request.named)
    if name == "lines" and reading.layout == "eml" and HEADERS.match(stream.head):
        return "eml"
    return "lines" if name == "eml" and reading.layout == "folder" else name


def _check(request: Request) -> None:
    if request.on_error not in ("stop", "skip"):
        raise ParameterError(
            f'{param("on_error")} is {request.on_error!r}; it must be "stop" or "skip".'
        )
    if request.format not in (None, *FORMATS):
        known = ", ".join(FORMATS)
        raise ParameterError(f"{param('format')} is {request.format!r}; it must be one of {known}.")
    if not isinstance(request.labels, str) and request.labels not in (None, False):
        raise ParameterError(
            f"{param('labels')} is {request.labels!r}; it must name one column, or be False."
        )
    if request.batch_size is not None and request.batch_size < 1:
        raise ParameterError(f"batch_size is {request.batch_size}; it must be at least 1, or None.")
    if request.encoding is not None:
        check_encoding(request.encoding)
    if request.quoting not in (None, "minimal", "none"):
        raise ParameterError(
            f'{param("quoting")} is {request.quoting!r}; it must be "minimal" or "none".'
        )
    if request.max_document_mb is not None and not 1 <= request.max_document_mb <= MOST_DOCUMENT_MB:
        raise ParameterError(
            f"{param('max_document_mb')} is {request.max_document_mb}; it must be between 1 and "
            f"{MOST_DOCUMENT_MB}."
        )
