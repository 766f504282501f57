"""The available data sets of the paper, each as a problem of two classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from thresher.corpora import load
from thresher.errors import ParameterError
from thresher.features.strength import Strength
from thresher.rows import Rows
from thresher.text import TextCounter
from thresher_papers._running import Problem
from thresher_papers.corpora.features import feature_rows

__all__ = ["CORPORA", "groups_problem", "problem", "words_of"]

LETTERS, SIGNS = "[a-z]+", r"[a-z]+|[0-9]+|[^\w\s]"
GROUPS = ("rec.autos", "sci.crypt", "sci.electronics", "sci.med", "sci.space")
NEWSGROUPS = "20newsgroups:remove=headers/all"
SETS = {  # the corpus, and its category that is positive
    "Spam": ("ling-spam", "spam"),
    "Scam": ("nigerian", "scam"),
    "Reuters": ("reuters21578:all,labelled=yes", "earn"),
    "20newsgroup": (NEWSGROUPS, GROUPS[0]),
    "MovieReviews": ("movie-reviews", "pos"),
    "Ads": ("ads", "ad"),
    "Sig": ("signature", "signature"),
    "Reply": ("reply", "reply"),
    "Adult": ("adult/train", ">50K"),
    "Congress": ("congressional", "democrat"),
    "Credit": ("credit", "+"),
    "Wisc": ("wisconsin", "benign"),
    "Nursery": ("nursery", "priority"),
}
CORPORA = {name: spec for name, (spec, _) in SETS.items()}
TOPICS = ("earn", "acq", "money-fx", "crude", "grain", "trade", "interest", "money-supply")
BINARY, OTHER_CLASS = "binary features", "the other class positive"
NO_EMPTY, EMPTY_POSTS = "no empty examples", "empty posts too"
DIGITS, PAIRS = "digits and signs too", "pairs of words too"
COUNTED: dict[str, dict[str, Any]] = {  # how the words of messages are counted
    DIGITS: {"token_pattern": SIGNS},
    PAIRS: {"token_pattern": LETTERS, "ngram_range": (1, 2)},
}
WINDOW, AT_THE_END = "lines around too", {n: f"the last {n} lines too" for n in (3, 5, 10)}
_reading = Lock()  # several threads may ask for the same set


class Read(NamedTuple):
    """Examples of a corpus: features, labels, ids and the words of the columns."""

    rows: Rows
    labels: list[list[str]]
    ids: list[str]
    words: list[str]  # what the columns are; empty where they have no names


@cache
def _read(spec: str, counted: str = "") -> Read:
    corpus = load(spec)
    split, pairs = corpus.split(), list(corpus.pairs())
    labels = [document_labels for _, document_labels in pairs]
    if split.rows is not None:
        return Read(feature_rows(corpus), labels, split.ids, [])
    counter = TextCounter(**COUNTED.get(counted, {"token_pattern": LETTERS}))
    rows = counter.count([text for text, _ in pairs])
    return Read(rows, labels, split.ids, counter.feature_names())


def read(spec: str, counted: str = "") -> Read:
    """Return a corpus; it is read once per process."""
    with _reading:
        return _read(spec, counted)


def problem(name: str, change: str = "") -> Problem:
    """Return a data set by its name in table 4, optionally with a change.

    A change is one of `CHANGES`, of `COUNTED`, of `TOPICS` for Reuters, or `EMPTY_POSTS`.

    Examples
    --------
    >>> problem("Webmaster")
    Traceback (most recent call last):
    thresher.errors.ParameterError: There is no data set 'Webmaster'; there are Spam, ...
    """
    if name not in SETS:
        raise ParameterError(f"There is no data set {name!r}; there are {', '.join(SETS)}.")
    spec, positive = SETS[name]
    if name == "20newsgroup":
        data = groups_problem(GROUPS, positive, with_empty=change == EMPTY_POSTS)
    else:
        spec = f"{spec}:window=yes" if change == WINDOW else spec
        examples = read(spec, change if change in COUNTED else "")
        data = _labelled(name, examples, change if change in TOPICS else positive)
    return CHANGES[change](data) if change in CHANGES else data


def groups_problem(groups: tuple[str, ...], positive: str, with_empty: bool = False) -> Problem:
    """Return the posts with a word of some newsgroups, one group against the others."""
    posts = read(NEWSGROUPS)
    chosen = [i for i, document_labels in enumerate(posts.labels) if document_labels[0] in groups]
    data = _labelled("20newsgroup", posts, positive)
    data = replace(data, rows=data.rows.take(np.array(chosen)), positive=data.positive[chosen])
    is_met = _met(data.rows)
    data = replace(data, rows=data.rows.keep(is_met))
    return data if with_empty else _without_empty(data)


def words_of(name: str) -> list[str]:
    """Return the words of the columns of a text data set."""
    words = read(SETS[name][0]).words
    if name == "20newsgroup":
        posts = read(NEWSGROUPS)
        chosen = np.array(
            [i for i, document_labels in enumerate(posts.labels) if document_labels[0] in GROUPS]
        )
        words = [words[i] for i in np.flatnonzero(_met(posts.rows.take(chosen)))]
    return words


def _met(rows: Rows) -> np.ndarray:
    return np.bincount(rows.indices, minlength=rows.n_columns) > 0


def _labelled(name: str, examples: Read, positive: str) -> Problem:
    belongs = np.array([positive in example_labels for example_labels in examples.labels])
    return Problem(name, examples.rows, belongs)


def _without_empty(data: Problem) -> Problem:
    some = np.flatnonzero(np.diff(data.rows.indptr) > 0)
    return replace(data, rows=data.rows.take(some), positive=data.positive[some])


def _near_the_end(n_last: int, data: Problem) -> Problem:
    """Add a feature to the last lines of each message."""
    positions = [example_id.rsplit(":", 1) for example_id in read(CORPORA[data.name]).ids]
    lengths = {message: int(line) for message, line in positions}  # the last line comes last
    is_last = np.array([lengths[message] - int(line) < n_last for message, line in positions])
    rows, column = data.rows, data.rows.n_columns
    ends = rows.indptr[1:][is_last]
    indices = np.insert(rows.indices, ends, np.int32(column))
    values = np.insert(rows.values, ends, np.float32(1))
    indptr = rows.indptr + np.concatenate([[0], np.cumsum(is_last)])
    return replace(data, rows=Rows(indptr, indices, values, column + 1))


CHANGES: dict[str, Callable[[Problem], Problem]] = {
    BINARY: lambda data: replace(data, rows=Strength("binary").apply(data.rows)),
    OTHER_CLASS: lambda data: replace(data, positive=~data.positive),
    NO_EMPTY: _without_empty,
    **{change: partial(_near_the_end, n) for n, change in AT_THE_END.items()},
}
