"""Documents that are in memory already: texts with their labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any

from thresher.documents.batch import Batch, Reading, Record, Source
from thresher.errors import DocumentError


def texts_source(texts: Sequence[str], labels: Sequence[Any] | None) -> Source:
    """Make a source of texts and, where given, the labels of each."""
    if isinstance(texts, str):
        raise DocumentError(
            f"texts is one string ({texts[:40]!r}), where a list of texts is expected; "
            "put it into a list."
        )
    if isinstance(labels, str):
        raise DocumentError(
            f"labels is one string ({labels[:40]!r}), where the labels of each text are expected."
        )
    if labels is not None and len(labels) != len(texts):
        raise DocumentError(
            f"there are {len(texts)} texts but labels for {len(labels)}; give each text its labels."
        )

    def read(reading: Reading) -> Iterator[Batch]:
        pairs = zip(texts, repeat(None) if labels is None else labels, strict=False)
        yield from _read(pairs, reading, has_labels=labels is not None)

    return Source("the texts", read)


def pairs_source(pairs: Iterable[Any]) -> Source:
    """Make a source of pairs of a text and its labels; an iterator can be read only once."""

    def read(reading: Reading) -> Iterator[Batch]:
        yield from _read(_checked(pairs), reading, has_labels=True)

    return Source("the pairs", read, once=isinstance(pairs, Iterator))


def _read(pairs: Iterable[tuple[Any, Any]], reading: Reading, has_labels: bool) -> Iterator[Batch]:
    note = "texts and labels as given" if has_labels else "texts as given; no labels"
    columns = reading.set_columns("the texts", note, has_labels)
    return reading.gather(columns, _records(pairs, reading))


def _checked(pairs: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    for number, pair in enumerate(pairs, 1):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise DocumentError(
                f"document {number}: is {type(pair).__name__}, where a pair (text, labels) is "
                "expected; for texts alone, use from_texts."
            )
        yield pair[0], pair[1]


def _records(pairs: Iterable[tuple[Any, Any]], reading: Reading) -> Iterator[Record]:
    separator = reading.request.label_separator
    for number, (text, labels) in enumerate(pairs, 1):
        place = f"document {number}"
        if not isinstance(text, str):
            reading.refuse(place, f"is {type(text).__name__}, where a text is expected")
            continue
        if isinstance(labels, str) and not separator:
            labels = [labels]  # what is in memory says itself what one label is
        yield Record((text,), labels, place)
