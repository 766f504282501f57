"""Find a single document: a file, a line or row of a file, or a document with an id."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from thresher.cli import common
from thresher.errors import DocumentError, escaped
from thresher.fields import field_columns

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer
    from thresher.documents import Batch, Documents
    from thresher.documents.batch import Source

LOCATION = re.compile(r"(.+?)(?::|, row )([0-9]{1,18})", re.DOTALL)  # as `Batch.location` writes it
MOST_LOCATIONS = 5  # in the error for several documents with the same id


class Located(NamedTuple):
    """A document: its location and the text, as `predict` reads it."""

    location: str
    text: str


class Finder:
    """Finds documents, with the columns, fields and decoding of `predict`.

    Parameters
    ----------
    categorizer : Categorizer
        The model, with the columns and fields of training.
    text, format : str, optional
        The options of the command line.
    files : Files, optional
        The options for reading files.
    """

    def __init__(
        self,
        categorizer: Categorizer,
        text: str | None = None,
        format: str | None = None,
        files: common.Files | None = None,
    ) -> None:
        self.categorizer = categorizer
        self.fields = field_columns(categorizer.fields)
        self.text = text
        self.format = format
        self.files = files or common.Files()

    def find(self, word: str) -> Located | None:
        """Return the document that an argument names, or None if the argument is a text."""
        if os.path.isfile(word) or word == "-":
            return self._only(word)
        if os.path.exists(word):
            kind = "a folder; name a file in it" if os.path.isdir(word) else "no file; pipe it to -"
            raise DocumentError(f"{word}: is {kind}, or add --as-text if these are the words.")
        match = LOCATION.fullmatch(word)
        if match and os.path.isfile(match[1]):
            return self._at(match[1], int(match[2]))
        source, _, document_id = word.partition(" ")
        if source.partition(":")[2] and _is_corpus(source):  # "adult" and "reply:" are words too
            if document_id:
                return self.find_id(source, document_id)
            raise DocumentError(
                f"{word}: is a corpus; name one of its documents by --id ID, or add --as-text if "
                "these are the words."
            )
        if _looks_like_a_file(match[1] if match else word):
            raise DocumentError(
                f"{word}: there is no such file; check its name, or add --as-text if these are the "
                "words."
            )
        return None

    def standard_input(self) -> str:
        """Return standard input as one text; a mail is read as `predict` reads it."""
        from thresher.documents.batch import Source
        from thresher.documents.columns import longest_document
        from thresher.documents.encodings import check_encoding
        from thresher.documents.mail import read_eml
        from thresher.documents.streams import STDIN, is_mail, open_stream

        check_encoding(self.files.encoding)
        with open_stream(STDIN, longest_document(self.files.max_document_mb)) as stream:
            if is_mail(stream.head):
                documents = self._documents(Source(stream.name, partial(read_eml, stream)))
                _, batch, i = next(_walk(documents, self.fields))
                _say_columns(documents)
                return _text(batch, i)
            familiar = self.categorizer.columns_
            likely = None if familiar is None else familiar.encoding
            stream.convert(self.files.encoding, self._say_encoding, likely)
            return stream.read_all().decode("utf-8", "replace")

    def _say_encoding(self, encoding: str) -> None:
        common.say(f"standard input: not UTF-8; read as {encoding} (--encoding NAME for another).")

    def find_id(self, source: str, document_id: str) -> Located:
        """Return the document with an id, given as ID or COLUMN=ID."""
        if source == "-":
            raise DocumentError("An id is looked for in a file, not in standard input; name one.")
        if _is_corpus(source):
            column, value = "id", document_id
            locations = [
                p
                for p, _, _ in _walk(self._open(source), self.fields)
                if p.endswith(f" {document_id}")
            ]
        else:
            column, equals, value = document_id.partition("=")
            if not equals:
                column, value = "id", document_id
            reading = common.Reading(column, format=self.format, on_error="skip", files=self.files)
            documents = common.open_documents([source], reading, labelled=False)
            locations = [
                location for location, batch, i in _walk(documents) if _text(batch, i) == value
            ]
        if not locations:
            raise DocumentError(
                f'{source}: no document has {value!r} as its "{column}"; check it, or name the '
                "column that holds the ids: --id COLUMN=ID."
            )
        if len(locations) > 1:
            more = (
                f" and {len(locations) - MOST_LOCATIONS} more"
                if len(locations) > MOST_LOCATIONS
                else ""
            )
            raise DocumentError(
                f'{source}: {len(locations)} documents have {value!r} as their "{column}": '
                f"{'; '.join(locations[:MOST_LOCATIONS])}{more}; name one of these instead."
            )
        walk = _walk(self._open(source), self.fields)
        return next(Located(p, _text(b, i)) for p, b, i in walk if p == locations[0])

    def _open(self, source: str) -> Documents:
        """Open a source as `predict` does, but skip documents that cannot be read."""
        reading = common.Reading(self.text, format=self.format, on_error="skip", files=self.files)
        return common.open_documents(
            [source], reading, labelled=False, split="test", familiar=self.categorizer.columns_
        )

    def _only(self, path: str) -> Located:
        """Return the only document of a file; a plain text file counts as one document."""
        documents = self._open(path)
        first = [Located(p, _text(b, i)) for p, b, i in islice(_walk(documents, self.fields), 2)]
        if not first:
            raise DocumentError(f"{path}: there is no document in it.")
        if len(first) > 1 and self._is_plain_text(path):
            common.say(
                f"{path} is taken as one document, as in a folder; {first[0].location} is one line."
            )
            documents = self._as_in_a_folder(path)
            first = [Located(p, _text(b, i)) for p, b, i in _walk(documents, self.fields)]
        if len(first) > 1:
            raise DocumentError(
                f"{path}: holds more than one document; name one, as {first[0].location} is the "
                "first, or give --id COLUMN=ID."
            )
        _say_columns(documents)
        return first[0]

    def _as_in_a_folder(self, path: str) -> Documents:
        """Open a text file as one document, as files in a folder are read."""
        from thresher.documents.folders import Entry, folder_source

        return self._documents(folder_source(path, [Entry(path, None)], None))

    def _documents(self, source: Source) -> Documents:
        from thresher.documents import Documents
        from thresher.documents.columns import Request

        text = tuple(self.text.split(",")) if self.text else None
        familiar = self.categorizer.columns_
        request = Request(text, labels=False, familiar=familiar, **self.files._asdict())
        return Documents([source], request)

    def _is_plain_text(self, path: str) -> bool:
        from thresher.documents.streams import format_of_file

        columns = (*(self.text.split(",") if self.text else ()), *self.fields)
        # A file with headers of mail is a mail, unless the model reads files as plain texts.
        name = self.format or format_of_file(path, columns, self.files.encoding)
        return name in ("lines", "eml") and self.format is None

    def _at(self, path: str, number: int) -> Located:
        """Return the document at a line or row of a file."""
        documents, before, after = self._open(path), None, None
        for location, batch, i in _walk(documents, self.fields):
            match = LOCATION.fullmatch(location)
            if match is None or match[1] != path:
                raise DocumentError(f"{path}: is one document; name it without a line or row.")
            current = int(match[2])
            if current == number:
                _say_columns(documents)
                return Located(location, _text(batch, i))
            if current > number:
                after = location
                break
            before = location
        location = f"{path}:{number}"
        prefix = f"{escaped(location)}: "
        problem = [sentence for sentence in documents.skipped if sentence.startswith(prefix)]
        if problem:
            raise DocumentError(f"{problem[0].rstrip('.')}; it cannot be scored.")
        if after is None:
            raise DocumentError(f"{location}: is beyond the end; the last document is {before}.")
        last = f"the one before is {before}, " if before else ""
        raise DocumentError(f"{location}: no document begins there; {last}the next is {after}.")


def _walk(documents: Documents, fields: Sequence[str] = ()) -> Iterator[tuple[str, Batch, int]]:
    """Yield the location, the batch and the index of each document."""
    for batch in documents.batches(fields):
        for i, location in enumerate(batch.locations):
            yield location, batch, i


def _text(batch: Batch, i: int) -> str:
    return str(batch.texts[i].as_py())


def _say_columns(documents: Documents) -> None:
    if "guessed" in documents.columns_note:
        common.say(f"{documents.columns_note}.")
    common.report_notes(documents)


def _is_corpus(word: str) -> bool:
    from thresher.corpora import is_corpus_spec

    return is_corpus_spec(word)


def _looks_like_a_file(word: str) -> bool:
    """Return True if a word without spaces has the ending of a file of documents."""
    from thresher.documents.streams import format_of_name

    is_one_word = not any(map(str.isspace, word))
    return is_one_word and (format_of_name(word) is not None or word.lower().endswith(".txt"))
