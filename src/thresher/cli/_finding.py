"""One document out of many: a file, a line or row of one, or the one with an id."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from thresher.cli import common
from thresher.errors import DocumentError, escaped
from thresher.fields import field_columns

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer
    from thresher.documents import Batch, Documents

PLACE = re.compile(r"(.+?)(?::|, row )([0-9]{1,18})", re.DOTALL)  # as `Batch.location` writes it
MOST_NAMED = 5  # places of documents that have the same id


class OneDocument(NamedTuple):
    """A document and where it stands; the text is that which `predict` would score."""

    place: str
    text: str


class Finder:
    """Find documents as `predict` reads them: the same columns, fields and decoding.

    Parameters
    ----------
    categorizer : Categorizer
        The model, which knows its columns and its fields.
    text, format : str or None
        As on the command line.
    """

    def __init__(self, categorizer: Categorizer, text: str | None, format: str | None) -> None:
        self.categorizer = categorizer
        self.fields = field_columns(categorizer.fields)
        self.text = text
        self.format = format

    def find(self, word: str) -> OneDocument | None:
        """Return the document that a word of the command line names, `None` where it is a text."""
        if os.path.isfile(word) or word == "-":
            return self._only(word)
        if os.path.exists(word):
            kind = "a folder; name a file in it" if os.path.isdir(word) else "no file; pipe it to -"
            raise DocumentError(f"{word}: is {kind}, or add --as-text if these are the words.")
        match = PLACE.fullmatch(word)
        if match and os.path.isfile(match[1]):
            return self._at(match[1], int(match[2]))
        source, _, wanted = word.partition(" ")
        if source.partition(":")[2] and _is_corpus(source):  # "adult" and "reply:" are words too
            if wanted:
                return self.find_id(source, wanted)
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

    def find_id(self, source: str, wanted: str) -> OneDocument:
        """Return the document of an id, which is given as ID, or as COLUMN=ID."""
        if source == "-":
            raise DocumentError("An id is looked for in a file, not in standard input; name one.")
        if _is_corpus(source):
            column, value = "id", wanted
            places = [
                p for p, _, _ in _walk(self._open(source), self.fields) if p.endswith(f" {wanted}")
            ]
        else:
            column, value = wanted.split("=", 1) if "=" in wanted else ("id", wanted)
            reading = common.Reading(column, format=self.format, on_error="skip")
            asked = common.open_documents([source], reading, labelled=False)
            places = [place for place, batch, i in _walk(asked) if _text(batch, i) == value]
        if not places:
            raise DocumentError(
                f'{source}: no document has {value!r} as its "{column}"; check it, or name the '
                "column that holds the ids: --id COLUMN=ID."
            )
        if len(places) > 1:
            more = f" and {len(places) - MOST_NAMED} more" if len(places) > MOST_NAMED else ""
            raise DocumentError(
                f'{source}: {len(places)} documents have {value!r} as their "{column}": '
                f"{'; '.join(places[:MOST_NAMED])}{more}; name one of these instead."
            )
        walk = _walk(self._open(source), self.fields)
        return next(OneDocument(p, _text(b, i)) for p, b, i in walk if p == places[0])

    def _open(self, source: str) -> Documents:
        """Open a source as `predict` does; what cannot be read is left out: it may be another."""
        reading = common.Reading(self.text, format=self.format, on_error="skip")
        return common.open_documents(
            [source], reading, labelled=False, split="test", familiar=self.categorizer.columns_
        )

    def _only(self, path: str) -> OneDocument:
        """Return the one document of a file; a text of several lines is one, as in a folder."""
        documents = self._open(path)
        first = [
            OneDocument(p, _text(b, i)) for p, b, i in islice(_walk(documents, self.fields), 2)
        ]
        if not first:
            raise DocumentError(f"{path}: there is no document in it.")
        if len(first) > 1 and self._is_plain_text(path):
            common.say(
                f"{path} is taken as one document, as in a folder; {first[0].place} is one line."
            )
            documents = _as_in_a_folder(path)
            first = [OneDocument(p, _text(b, i)) for p, b, i in _walk(documents, self.fields)]
        if len(first) > 1:
            raise DocumentError(
                f"{path}: holds more than one document; name one, as {first[0].place} is the "
                "first, or give --id COLUMN=ID."
            )
        _say_columns(documents)
        return first[0]

    def _is_plain_text(self, path: str) -> bool:
        from thresher.documents.streams import format_of_file

        asked = (*(self.text.split(",") if self.text else ()), *self.fields)
        return self.format is None and format_of_file(path, asked) == "lines"

    def _at(self, path: str, number: int) -> OneDocument:
        """Return the document that begins on a line of a file, or is a row of it."""
        documents, before, after = self._open(path), None, None
        for place, batch, i in _walk(documents, self.fields):
            match = PLACE.fullmatch(place)
            if match is None or match[1] != path:
                raise DocumentError(f"{path}: is one document; name it without a line or row.")
            here = int(match[2])
            if here == number:
                _say_columns(documents)
                return OneDocument(place, _text(batch, i))
            if here > number:
                after = place
                break
            before = place
        place = f"{path}:{number}"
        problem = [one for one in documents.skipped if one.startswith(f"{escaped(place)}: ")]
        if problem:
            raise DocumentError(f"{problem[0].rstrip('.')}; it cannot be scored.")
        if after is None:
            raise DocumentError(f"{place}: is beyond the end; the last document is {before}.")
        last = f"the one before is {before}, " if before else ""
        raise DocumentError(f"{place}: no document begins there; {last}the next is {after}.")


def _walk(documents: Documents, fields: Sequence[str] = ()) -> Iterator[tuple[str, Batch, int]]:
    """Yield each document: its place, its batch and its number there."""
    for batch in documents.batches(fields):
        for i, place in enumerate(batch.locations):
            yield place, batch, i


def _as_in_a_folder(path: str) -> Documents:
    """Open a file of text as one document, as one in a folder is read."""
    from thresher.documents import Documents
    from thresher.documents.columns import Request
    from thresher.documents.folders import Entry, folder_source

    return Documents([folder_source(path, [Entry(path, None)], None)], Request(labels=False))


def _text(batch: Batch, i: int) -> str:
    return str(batch.texts[i].as_py())


def _say_columns(documents: Documents) -> None:
    if "guessed" in documents.columns_note:
        common.say(f"{documents.columns_note}.")


def _is_corpus(word: str) -> bool:
    from thresher.corpora import is_corpus_spec

    return is_corpus_spec(word)


def _looks_like_a_file(word: str) -> bool:
    """Tell whether a word without spaces has the name of a file that could be read."""
    from thresher.documents.streams import format_of_name

    is_one_word = not any(map(str.isspace, word))
    return is_one_word and (format_of_name(word) is not None or word.lower().endswith(".txt"))
