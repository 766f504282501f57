"""The Reuters collection: features, splits, and random samples as in the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import lru_cache, partial
from threading import Lock
from typing import NamedTuple

import numpy as np

from thresher.corpora import load
from thresher.rows import Rows
from thresher.text import TextCounter
from thresher.text.linguistics import Linguistics
from thresher_papers._running import Documents, Task, numbered

__all__ = ["COUNTERS", "LEMMAS", "Setting", "counted_split", "draw", "frequent_only"]

LEMMAS, WORDS, CONTENT = "lemmas of nouns and verbs", "all words", "words but function words"
TRIGRAMS = "words, pairs, and trigrams with gaps"
COUNTERS: dict[str, Callable[[], TextCounter]] = {
    LEMMAS: lambda: TextCounter(
        linguistics=Linguistics(lemmatize=True, word_classes=("noun", "verb"))
    ),
    WORDS: TextCounter,
    CONTENT: lambda: TextCounter(linguistics=Linguistics(stop_words=True)),
    TRIGRAMS: partial(TextCounter, ngram_range=(1, 3), gaps=True),
}
N_TRAIN, N_TEST, N_CATEGORIES = 2000, 1000, 10

_reading = Lock()  # counting takes all of the memory that it should


class Setting(NamedTuple):
    """Choices for table 1 that the paper leaves open."""

    features: str = LEMMAS
    ranks: tuple[int, int] = (0, 20)  # ten categories are drawn from these, by frequency
    cut: int = 3  # the least number of occurrences of a feature ...
    cuts_in_all: bool = False  # ... in the whole collection, or in the training documents
    masks: bool = False  # whether discarded features still count where strengths are normalised
    demotion_power: float = 1.0  # demotion is 1/promotion, raised to it


def frequent_only(train: Rows, test: Rows, cut: int, everywhere: Rows) -> tuple[Rows, Rows]:
    """Leave out the features that occur less than `cut` times in the documents `everywhere`.

    Examples
    --------
    >>> rows = Rows(np.array([0, 2]), np.array([0, 1], np.int32), np.array([3, 2], np.float32), 2)
    >>> frequent_only(rows, rows, 3, rows)[1].n_columns
    1
    """
    is_frequent = np.bincount(everywhere.indices, everywhere.values, everywhere.n_columns) >= cut
    return train.keep(is_frequent), test.keep(is_frequent)


# ---- table 1 -------------------------------------------------------------------------------------


@lru_cache(maxsize=2)
def _collection(features: str) -> tuple[Rows, list[list[str]]]:
    documents = load("reuters21578:all").split("all")
    return COUNTERS[features]().count(documents.texts), documents.labels


def draw(setting: Setting, seed: int) -> list[Task]:
    """Return two disjoint pairs of training and test documents, with the same ten categories."""
    with _reading:
        rows, labels = _collection(setting.features)
    random = np.random.default_rng(seed)
    counts = Counter(name for document_labels in labels for name in document_labels)
    frequent = sorted(counts, key=lambda name: (-counts[name], name))[slice(*setting.ranks)]
    categories = [str(name) for name in random.choice(frequent, N_CATEGORIES, replace=False)]
    order = random.permutation(rows.n_rows)
    tasks = []
    for start in (0, N_TRAIN + N_TEST):
        samples = order[start:][:N_TRAIN], order[start + N_TRAIN :][:N_TEST]
        lists = (numbered([labels[i] for i in sample], categories) for sample in samples)
        train, test = (rows.take(sample) for sample in samples)
        everywhere = rows if setting.cuts_in_all else train
        counted = frequent_only(train, test, setting.cut, everywhere)
        tasks.append(Task(*map(Documents, counted, lists)))
    return tasks


# ---- table 2 -------------------------------------------------------------------------------------


@lru_cache(maxsize=6)
def _counted(variant: str, features: str) -> Task:
    corpus = load(f"reuters21578:{variant}")
    train, test = corpus.split("train"), corpus.split("test")
    categories = sorted({name for document_labels in train.labels for name in document_labels})
    unseen = sorted(
        {name for document_labels in test.labels for name in document_labels} - set(categories)
    )
    counter = COUNTERS[features]()
    rows = counter.count(train.texts), counter.count(test.texts, grow=False)
    lists = numbered(train.labels, categories), numbered(test.labels, [*categories, *unseen])
    return Task(*map(Documents, rows, lists))


def counted_split(variant: str, features: str = LEMMAS, cut: int = 3) -> Task:
    """Return a split of the whole collection, as counts.

    Categories without training documents come last among the labels of the test documents; they
    get no scores, so that their positives count as lost.
    """
    with _reading:
        task = _counted(variant, features)
    rows = frequent_only(task.train.rows, task.test.rows, cut, task.train.rows)
    return Task(Documents(rows[0], task.train.labels), Documents(rows[1], task.test.labels))
