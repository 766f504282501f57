"""Documents as the paper counts them, and the break-even point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from thresher.evaluation import evaluate
from thresher.linguistics import Linguistics
from thresher.rows import Labels, Rows
from thresher.text import TextCounter

__all__ = ["Documents", "Task", "break_even", "frequent_only", "nouns_and_verbs", "numbered"]

NAME = "dagan-karov-roth-1997"
LEAST_FREQUENCY = 3
HELD_OUT = 0.25
DISCARD_AFTER = 5  # passes


class Documents(NamedTuple):
    """Counts and labels of some documents."""

    rows: Rows
    labels: Labels

    def take(self, order: np.ndarray) -> Documents:
        """Return the documents of `order`, in that order."""
        return Documents(self.rows.take(order), self.labels.take(order))


class Task(NamedTuple):
    """Documents to learn from, and documents to be measured on."""

    train: Documents
    test: Documents

    def rehearsal(self) -> Task:
        """Return the task of learning the last quarter of the training documents from the rest."""
        n = self.train.rows.n_rows
        border = n - int(HELD_OUT * n)
        parts = np.arange(border), np.arange(border, n)
        return Task(*(self.train.take(part) for part in parts))


def nouns_and_verbs() -> TextCounter:
    """Return a counter of lemmas of words that can be nouns or verbs."""
    return TextCounter(linguistics=Linguistics(lemmatize=True, word_classes=("noun", "verb")))


def frequent_only(train: Rows, test: Rows) -> tuple[Rows, Rows]:
    """Leave out the features that occur less than three times in the training documents."""
    kept = np.bincount(train.indices, train.values, train.n_columns) >= LEAST_FREQUENCY
    return train.keep(kept), test.keep(kept)


def numbered(labels: Sequence[list[str]], categories: Sequence[str]) -> Labels:
    """Return the labels that are among the categories, by their numbers.

    Examples
    --------
    >>> numbered([["grain", "wheat"], []], ["wheat", "corn"]).indices
    array([0], dtype=int32)
    """
    number = {name: i for i, name in enumerate(categories)}
    lists = [[number[name] for name in own if name in number] for own in labels]
    return Labels.from_lists(lists, len(categories))


def break_even(scores: np.ndarray, labels: Labels) -> float:
    """Return the break-even point of all pairs of document and category, in percent.

    Examples
    --------
    >>> break_even(np.array([[2.0], [1.0], [0.0]]), numbered([["a"], [], ["a"]], ["a"]))
    50.0
    """
    return 100 * evaluate(scores, labels).pooled["break_even_interpolated"]
