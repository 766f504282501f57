"""The columns of text and labels: as requested, or guessed from their names."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from thresher.errors import DocumentError, param

TEXT_NAMES = (
    *("text", "body", "content", "contents", "message", "document", "review", "comment"),
    *("abstract", "description", "sentence", "title", "subject", "headline"),
)
LABEL_NAMES = ("label", "labels", "category", "categories", "topic", "topics", "class", "target")
RESULT_NAMES = {"row", "document", "labels", "note"}  # of tables that `predict` writes
LAYOUTS = ("eml", "folder")
MOST_NAMED = 20  # columns named in an error
LONGEST_NAME = 40  # characters of each


@dataclass(frozen=True)
class Columns:
    """The columns that were read.

    Examples
    --------
    >>> from thresher.documents import Columns
    >>> columns = Columns(("subject", "body"), "topics", ",", frozenset({"labels", "separator"}))
    >>> str(columns)
    'text is "subject" and "body"; labels are "topics" (guessed), split at "," (guessed)'
    """

    text: tuple[str, ...]  # joined by a newline, they are the document
    labels: str | None = None
    separator: str | None = None  # of several labels in a string
    guessed: frozenset[str] = frozenset()  # which of "text", "labels" and "separator"
    note: str = ""  # describes the columns of formats without named ones
    layout: str | None = None  # of files without a known suffix: "eml", "folder" (plain) or unknown
    encoding: str | None = None  # of files that are not UTF-8, if it was given or recognized

    @property
    def names(self) -> tuple[str, ...]:
        """The text columns, then that of the labels, if any."""
        return self.text if self.labels is None else (*self.text, self.labels)

    def __str__(self) -> str:
        if self.note:
            return self.note
        text = " and ".join(f'"{name}"' for name in self.text) + self._mark("text")
        if self.labels is None:
            return f"text is {text}; no labels"
        labels = f'"{self.labels}"' + self._mark("labels")
        split = f', split at "{self.separator}"' + self._mark("separator") if self.separator else ""
        return f"text is {text}; labels are {labels}{split}"

    def _mark(self, what: str) -> str:
        return " (guessed)" if what in self.guessed else ""


@dataclass(frozen=True)
class Request:
    """The parameters of `read_documents`."""

    text: tuple[str, ...] | None = None
    labels: str | bool | None = None
    label_separator: str | None = None
    on_error: str = "stop"
    batch_size: int | None = None
    familiar: Columns | None = None
    keep: tuple[str, ...] | None = (
        None  # columns to copy; None: do not list skipped documents either
    )
    fields: tuple[str, ...] = ()  # the text columns that are fields
    reject: Callable[[bytes], object] | None = None  # receives skipped records; batches keep others
    format: str | None = None  # None: by the name or the content
    encoding: str | None = None  # None: recognized
    quoting: str | None = None  # of tables: "minimal", "none" or None
    max_document_mb: int | None = None

    @property
    def longest(self) -> int | None:
        """The largest number of bytes of a document; `None` for the default."""
        return longest_document(self.max_document_mb)

    @property
    def likely_encoding(self) -> str | None:
        """The encoding of training, which files that are not UTF-8 probably have; or `None`."""
        return None if self.familiar is None else self.familiar.encoding

    @property
    def named(self) -> tuple[str, ...]:
        """The columns requested by name."""
        labels = (self.labels,) if isinstance(self.labels, str) else ()
        return (*(self.text or ()), *self.fields, *labels, *(self.keep or ()))

    def fields_first(self, text: Sequence[str]) -> tuple[str, ...]:
        """Return the fields, then the other text columns."""
        return (*self.fields, *(name for name in text if name not in self.fields))


def longest_document(max_document_mb: int | None) -> int | None:
    """Return the largest number of bytes of a document; `None` for the default."""
    return None if max_document_mb is None else max_document_mb << 20


def choose_columns(
    location: str, available: Sequence[str], request: Request, usual: tuple[str, ...] = ()
) -> Columns:
    """Return the columns chosen from `available`; `usual` are the default text columns."""
    check_columns(location, available, request.named)
    guessed = set()
    text, labels = request.text or usual, request.labels
    familiar = request.familiar
    if familiar and not text and set(familiar.text) <= set(available):
        text = familiar.text
    text = request.fields_first(text)
    if familiar and labels is None and familiar.labels in available:
        labels = familiar.labels
    if labels is None:
        # Labels that a model has predicted are no truth to learn from or to evaluate with.
        predicted = {"labels"} if set(available) >= RESULT_NAMES else set()
        labels = _known(
            LABEL_NAMES, [name for name in available if name not in {*text, *predicted}]
        )
        guessed.add("labels")
    if not text:
        candidates = [name for name in available if name != labels]
        name = candidates[0] if len(candidates) == 1 else _known(TEXT_NAMES, candidates)
        if name is None:
            raise DocumentError(
                f"{location}: none of its columns is obviously the text; {_listed(candidates)}; "
                f"name the one that holds the text ({param('text', '...')})."
            )
        text = (name,)
        guessed.add("text")
    columns = Columns(text, labels if isinstance(labels, str) else None, guessed=frozenset(guessed))
    for name in (*columns.text, columns.labels, *(request.keep or ())):
        if name is not None and (times := available.count(name)) > 1:
            raise DocumentError(
                f'{location}: has {times} columns named "{name}"; rename all but one of them.'
            )
    return columns


def check_columns(location: str, available: Sequence[str], named: Iterable[str]) -> None:
    """Raise an error for a column that does not exist; it suggests similar names."""
    for name in named:
        if name in available:
            continue
        by_lower = {column.lower(): column for column in reversed(available)}
        similar = difflib.get_close_matches(name.lower(), list(by_lower), 1)
        hint = f'; did you mean "{by_lower[similar[0]]}"?' if similar else ""
        known = f"{_listed(available)}{hint or '.'}"
        raise DocumentError(f'{location}: has no column "{name}"; {known}')


def _known(names: Sequence[str], available: Sequence[str]) -> str | None:
    """Return the available column whose name comes first in `names`, ignoring case."""
    by_lower = {name.lower(): name for name in reversed(available)}
    return next((by_lower[name] for name in names if name in by_lower), None)


def _listed(available: Sequence[str]) -> str:
    if not available:
        return "it has no columns"
    more = f" and {len(available) - MOST_NAMED} more" if len(available) > MOST_NAMED else ""
    names = (
        name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}..."
        for name in available[:MOST_NAMED]
    )
    return "its columns are " + ", ".join(f'"{name}"' for name in names) + more
