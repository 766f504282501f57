"""Folders of documents, or with a subfolder of documents for each category."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from thresher.documents import mail
from thresher.documents.batch import Batch, Reading, Record, Source
from thresher.documents.columns import Columns
from thresher.documents.formats import MAIL, READERS
from thresher.documents.streams import format_of_name, is_mail, open_stream
from thresher.errors import DocumentError, param, reason

PLAIN: Any = (["text"], ("text",))  # the columns of plain texts, and which are usual
MAILS = {"cur", "new"}  # the folders of a mailbox (Maildir) with its mails


class Entry(NamedTuple):
    """A file in a folder, and its category if it is in a subfolder."""

    path: str
    category: str | None

    @property
    def kind(self) -> str | None:
        """The format of the file by its name, or `None`."""
        return format_of_name(self.path)


def list_folder(folder: str) -> list[Entry]:
    """Return the files below a folder in sorted order, without hidden ones.

    A folder with the folders cur and new is a mailbox (Maildir), even if it is hidden: its mails
    are the files in these two, and their category is its name.
    """
    entries = []
    for path, folders, files in os.walk(folder, onerror=_stop):
        inner = os.path.relpath(path, folder)
        category = None if inner == os.curdir else inner.split(os.sep)[0]
        above, name = os.path.split(path)
        if category and name in MAILS and _is_mailbox(above):
            category = os.path.basename(os.path.abspath(above)).removeprefix(".")
        is_mailbox = _is_mailbox(path)
        folders[:] = sorted(
            name
            for name in folders
            if (name in MAILS if is_mailbox else not name.startswith("."))
            or _is_mailbox(os.path.join(path, name))
        )
        visible = sorted(name for name in files if not (is_mailbox or name.startswith(".")))
        entries += [Entry(os.path.join(path, name), category) for name in visible]
    if not entries:
        raise DocumentError(
            f"{folder}: the folder has no files; give a file, or a folder with one folder of files "
            "for each category."
        )
    return entries


def _is_mailbox(folder: str) -> bool:
    return all(os.path.isdir(os.path.join(folder, name)) for name in MAILS)


def _stop(error: OSError) -> None:
    raise DocumentError(f"{error.filename}: the folder cannot be read ({error.strerror}).")


def is_tables(entries: list[Entry]) -> bool:
    """Return True if the files are tables rather than documents."""
    return all(entry.category is None and _holds_many(entry.kind) for entry in entries)


def _holds_many(kind: str | None) -> bool:
    return kind is not None and READERS[kind].holds_many


def folder_source(folder: str, entries: list[Entry], format: str | None) -> Source:
    """Make a source of a folder whose files are documents."""
    has_categories = any(entry.category is not None for entry in entries)
    note = "each file is a document; " + ("its folder is the label" * has_categories or "no labels")

    def read(reading: Reading) -> Iterator[Batch]:
        messages, others_are_mail = _mail_in(folder, entries, reading)
        available, usual = (mail.headers_of(messages, reading), mail.USUAL) if messages else PLAIN
        layout = "eml" if others_are_mail else reading.layout
        columns = reading.set_columns(folder, note, has_categories, available, usual, layout)

        def records() -> Iterator[Record]:
            done = 0
            reading.position = lambda: done
            for entry in entries:
                if has_categories and entry.category is None:
                    yield reading.skip(entry.path, "the file stands in no category's folder")
                    continue
                try:
                    kind = "eml" if others_are_mail and entry.kind is None else entry.kind
                    yield from _records(entry, "eml" if format == "eml" else kind, columns, reading)
                    done += os.path.getsize(entry.path)
                except OSError as error:
                    yield reading.refuse(entry.path, f"the file cannot be read ({reason(error)})")

        yield from reading.gather(columns, records())

    size = sum(os.path.getsize(entry.path) for entry in entries if os.path.isfile(entry.path))
    return Source(folder, read, size)


def _mail_in(folder: str, entries: list[Entry], reading: Reading) -> tuple[list[bytes], bool]:
    """Return the beginnings of some mails, and whether files without a known suffix are mail.

    They are mail if the user or the model says so, or if most files of a sample are.
    """
    named = [entry for entry in entries if entry.kind in MAIL or reading.request.format == "eml"]
    unnamed = [entry for entry in entries if entry.kind is None and os.path.isfile(entry.path)]
    sample = _beginnings(unnamed[:: -(-len(unnamed) // mail.SAMPLE) or 1])
    others_are_mail = reading.layout == "eml"
    if reading.layout is None and 2 * sum(map(is_mail, sample)) > len(sample):
        others_are_mail = True
        as_they_are = param("format", "folder")
        reading.remark(f"{folder}: the files are read as mail ({as_they_are}: as plain text)")
    return _beginnings(named[: mail.SAMPLE]) + sample * others_are_mail, others_are_mail


def _beginnings(entries: list[Entry]) -> list[bytes]:
    """Return the first bytes of each file that can be read."""
    heads = []
    for entry in entries:
        with suppress(OSError, DocumentError):
            if os.path.isfile(entry.path):
                with open_stream(entry.path) as stream:
                    heads.append(stream.head)
    return heads


def _records(
    entry: Entry, kind: str | None, columns: Columns, reading: Reading
) -> Iterator[Record]:
    """Yield the documents of a file."""
    labels = [] if entry.category is None else [entry.category]
    n, names = len(columns.text), (*columns.text, *reading.keep)
    decode = partial(mail.decoder, reading)

    def record(location: str, data: bytes) -> Record:
        try:
            if kind in MAIL:
                values: Sequence[Any] = mail.message_texts(data, names, decode(location))
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
        if kind not in MAIL:
            assume = partial(reading.assume, entry.path)
            stream.convert(request.encoding, assume, request.likely_encoding)
        if what := stream.why_not_text():
            yield reading.refuse(entry.path, what)
        elif kind == "mbox":
            for location, data in mail.mailbox_messages(stream):
                yield record(location, data)
        else:
            yield record(entry.path, stream.read_all())
