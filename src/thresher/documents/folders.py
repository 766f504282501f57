"""Folders of documents, or with a subfolder of documents for each category."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from typing import Any, NamedTuple

from thresher.documents import mail
from thresher.documents.batch import Batch, Reading, Record, Source
from thresher.documents.columns import Columns
from thresher.documents.formats import MAIL, READERS
from thresher.documents.streams import format_of_name, is_mail, open_stream
from thresher.errors import DocumentError, reason


class Entry(NamedTuple):
    """A file in a folder, and its category if it is in a subfolder."""

    path: str
    category: str | None

    def kind(self, format: str | None) -> str | None:
        """Return the format of the file by its name, or "eml" if that is the given format."""
        return "eml" if format == "eml" else format_of_name(self.path)


def list_folder(folder: str) -> list[Entry]:
    """Return the files below a folder in sorted order, without hidden ones."""
    entries = []
    for path, folders, files in os.walk(folder, onerror=_stop):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        inner = os.path.relpath(path, folder)
        category = None if inner == os.curdir else inner.split(os.sep)[0]
        visible = sorted(name for name in files if not name.startswith("."))
        entries += [Entry(os.path.join(path, name), category) for name in visible]
    if not entries:
        raise DocumentError(
            f"{folder}: the folder has no files; give a file, or a folder with one folder of files "
            "for each category."
        )
    return entries


def _stop(error: OSError) -> None:
    raise DocumentError(f"{error.filename}: the folder cannot be read ({error.strerror}).")


def is_tables(entries: list[Entry]) -> bool:
    """Return True if the files are tables rather than documents."""
    return all(entry.category is None and _holds_many(entry.kind(None)) for entry in entries)


def _holds_many(kind: str | None) -> bool:
    return kind is not None and READERS[kind].holds_many


def folder_source(folder: str, entries: list[Entry], format: str | None) -> Source:
    """Make a source of a folder whose files are documents."""
    has_categories = any(entry.category is not None for entry in entries)
    note = "each file is a document; " + ("its folder is the label" * has_categories or "no labels")

    def read(reading: Reading) -> Iterator[Batch]:
        headers = _mail_columns(entries, format, reading)
        available = (headers, mail.USUAL) if headers else ()
        columns = reading.set_columns(folder, note, has_categories, *available)

        def records() -> Iterator[Record]:
            done = 0
            reading.position = lambda: done
            for entry in entries:
                if has_categories and entry.category is None:
                    yield reading.skip(entry.path, "the file stands in no category's folder")
                    continue
                try:
                    yield from _records(entry, entry.kind(format), columns, reading)
                    done += os.path.getsize(entry.path)
                except OSError as error:
                    yield reading.refuse(entry.path, f"the file cannot be read ({reason(error)})")

        yield from reading.gather(columns, records())

    size = sum(os.path.getsize(entry.path) for entry in entries if os.path.isfile(entry.path))
    return Source(folder, read, size)


def _mail_columns(entries: list[Entry], format: str | None, reading: Reading) -> list[str]:
    """Return the columns of mail; none if no file is mail.

    Files are mail by their names, by the format that a model was trained on, or if most of a
    sample of the files without a known suffix are mail by their content.
    """
    named = [entry for entry in entries if entry.kind(format) in MAIL]
    unnamed = [entry for entry in entries if entry.kind(format) is None]
    step = -(-len(unnamed) // mail.SAMPLE) or 1
    messages, n_recognized = [], 0
    for entry in (*named[: mail.SAMPLE], *unnamed[::step]):
        with suppress(OSError, DocumentError), open_stream(entry.path) as stream:
            messages.append(stream.head)
            n_recognized += entry.kind(format) is None and is_mail(stream.head)
    is_mail_folder = named or reading.was_mail or 2 * n_recognized > len(unnamed[::step])
    return mail.headers_of(messages, reading) if is_mail_folder else []


def _records(
    entry: Entry, kind: str | None, columns: Columns, reading: Reading
) -> Iterator[Record]:
    """Yield the documents of a file."""
    labels = [] if entry.category is None else [entry.category]
    n, names = len(columns.text), (*columns.text, *reading.keep)

    def record(location: str, data: bytes) -> Record:
        try:
            if kind in MAIL:
                values: Sequence[Any] = mail.message_texts(data, names)
            else:
                text = data.decode("utf-8", "surrogateescape")
                # A plain file beside mail has a body and no headers.
                values = [text if name in ("text", "body") else "" for name in names]
        except DocumentError as error:
            return reading.refuse(location, str(error))
        pairs = zip(reading.keep, values[n:], strict=True)
        extra = [labels if name == "labels" else value for name, value in pairs]
        return Record(values[:n], labels, location, extra)

    if _holds_many(kind) and kind != "mbox":
        table = f"is a table of documents ({kind}), not one document; give it separately"
        yield reading.refuse(entry.path, table)
        return
    if os.path.exists(entry.path) and not os.path.isfile(entry.path):
        yield reading.refuse(entry.path, "is neither a file nor a folder")
        return
    request = reading.request
    with open_stream(entry.path, request.longest) as stream:
        if (
            kind is None
            and columns.text != ("text",)
            and (reading.was_mail or is_mail(stream.head))
        ):
            kind = "eml"
        if kind not in MAIL:
            stream.convert(request.encoding, partial(reading.assume, entry.path))
        if what := stream.why_not_text():
            yield reading.refuse(entry.path, what)
        elif kind == "mbox":
            for location, data in mail.mailbox_messages(stream):
                yield record(location, data)
        else:
            yield record(entry.path, stream.read_all())
