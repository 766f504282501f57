"""The chapter's task: "earnings" among the stories of Reuters, each as twenty whole numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from threading import Lock
from typing import NamedTuple

import numpy as np

from thresher.corpora import load
from thresher.features.strength import Strength
from thresher.rows import Rows
from thresher.text import TextCounter
from thresher_papers._running import Documents, Task, one_category

CORPUS = "reuters21578:modapte,entities=raw,categories=earn"
DOCUMENT_11 = 6  # its place among the training documents
WORDS = ["vs", "mln", "cts", ";", "&", "000", "loss", "'", '"', "3"]
WORDS += ["profit", "dlrs", "1", "pct", "is", "s", "that", "net", "lt", "at"]
CONTINGENCY = ("YES right", "YES wrong", "NO wrong", "NO right")
LOADING = Lock()


class Reading(NamedTuple):
    """How a story becomes a vector: its parts, tokens and length."""

    parts: str = "title+body"
    tokens: str = "book"
    length: str = ""  # a pattern; '' counts all tokens
    bodiless: str = ""  # parts of a story without a body; '' is the whole text of it


AS_HERE = Reading()
TOGETHER = r"[^\W_]+|[^\w\s]|_"  # letters and digits that stand together are one token
READINGS = {
    "as here": AS_HERE,
    "with the dateline": Reading("title+dateline+body"),
    "letters and digits are one token": Reading(tokens=TOGETHER),
    "both": Reading("title+dateline+body", TOGETHER),
    "a length of words and numbers": Reading(length=r"[^\W\d_]+|\d+"),
    "a length of words": Reading(length=r"[^\W\d_]+"),
    "a length between blanks": Reading(length=r"\S+"),
    "of stories without a body the title": Reading(bodiless="title"),
    "of all stories the body": Reading("body"),
}


def represent(texts: Sequence[str], tokens: str = "book", length: str = "") -> Rows:
    """Return the weights of the book's twenty words, in its order; a length counts all tokens.

    Examples
    --------
    >>> dense(represent(["Net 3 mln vs. loss"]))
    array([[4, 4, 0, 0, 0, 0, 4, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0]])
    """
    is_book = tokens == "book"
    counter = TextCounter(tokens="book") if is_book else TextCounter(token_pattern=tokens)
    counter.count([" ".join(WORDS)])  # columns are numbered as they are met
    rows = counter.count(texts, grow=False)
    if length:
        sizes = [len(re.findall(length, text)) for text in texts]
        rows = rows._replace(lengths=np.array(sizes))
    return Strength("book").apply(rows)


@lru_cache(maxsize=2)
def _earnings(reading: Reading) -> Task:
    corpus = load(f"{CORPUS},parts={reading.parts}")
    shorter = load(f"{CORPUS},parts={reading.bodiless}") if reading.bodiless else None
    bodies = load(f"{CORPUS},types=NORM")
    documents = []
    for name in ("train", "test"):
        split, texts = corpus.split(name), corpus.split(name).texts
        if shorter:
            has_body = set(bodies.split(name).ids)
            pairs = zip(split.ids, texts, shorter.split(name).texts, strict=True)
            texts = [text if number in has_body else title for number, text, title in pairs]
        rows = represent(texts, reading.tokens, reading.length)
        documents.append(Documents(rows, one_category(np.array([*map(bool, split.labels)]))))
    return Task(*documents)


def earnings(reading: Reading = AS_HERE) -> Task:
    """Return the 9,603 training and 3,299 test documents; title and body, entities not decoded."""
    with LOADING:
        return _earnings(reading)


def dense(rows: Rows) -> np.ndarray:
    """Return the rows as a table of whole numbers."""
    table = np.zeros((rows.n_rows, rows.n_columns), np.int64)
    table[np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr)), rows.indices] = rows.values
    return table


def is_earnings(documents: Documents) -> np.ndarray:
    """Return which documents are of the category."""
    return documents.labels.to_dense()[:, 0]


def contingency(decided: np.ndarray, positive: np.ndarray) -> dict[str, float]:
    """Return the four counts of table 16.2 and the accuracy in percent.

    Examples
    --------
    >>> contingency(np.array([True, True, False]), np.array([True, False, False]))
    {'YES right': 1, 'YES wrong': 1, 'NO wrong': 0, 'NO right': 1, 'accuracy %': 66.7}
    """
    cells = (decided & positive, decided & ~positive, ~decided & positive, ~decided & ~positive)
    return with_accuracy([int(np.count_nonzero(cell)) for cell in cells])


def with_accuracy(counts: Sequence[int]) -> dict[str, float]:
    """Return four counts by their names, and the accuracy that follows from them."""
    accuracy = 100 * (counts[0] + counts[3]) / sum(counts)
    return dict(zip(CONTINGENCY, counts, strict=True)) | {"accuracy %": accuracy}
