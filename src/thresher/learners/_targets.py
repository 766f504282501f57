"""y as people give it, and the columns of weights that stand for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from thresher.rows import Labels


class Answers(NamedTuple):
    """y as it was understood: for each document its class, its labels, or its row of indicators."""

    kind: str  # "single" or "multilabel"
    values: Sequence[Any] | np.ndarray
    classes: np.ndarray  # sorted


def read_targets(y: Any) -> Answers:
    """Read y: one class per document, an indicator matrix, or a list of lists of labels."""
    if _is_list_of_lists(y):
        lists = [list(one) for one in y]
        classes = sorted({label for one in lists for label in one})
        return Answers("multilabel", lists, np.array(classes))
    if _is_plain_indicator(y):
        return Answers("multilabel", y, np.arange(y.shape[1]))
    if isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "biuU" and len(y):
        return Answers("single", y, np.unique(y))  # what scikit-learn would come to, but slowly
    from sklearn.utils.multiclass import type_of_target
    from sklearn.utils.validation import column_or_1d

    kind = type_of_target(y, input_name="y", raise_unknown=True)
    if kind == "multilabel-indicator":
        dense = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
        return Answers("multilabel", dense, np.arange(dense.shape[1]))
    if kind not in ("binary", "multiclass"):
        raise ValueError(
            f"Unknown label type: {kind}. A learner of categories expects classes or lists of "
            "labels, not numbers on a scale."
        )
    y = column_or_1d(y, warn=True)
    return Answers("single", y, np.unique(y))


def _is_plain_indicator(y: Any) -> bool:
    """Tell an array of zeros and ones at a glance; scikit-learn sorts all of it to find out."""
    if not isinstance(y, np.ndarray) or y.ndim != 2 or y.dtype.kind not in "bui":
        return False
    return bool(y.shape[1] > 1 and y.size and y.min() >= 0 and y.max() == 1)


def _is_list_of_lists(y: Any) -> bool:
    """Tell lists of labels from an indicator matrix written as lists of zeros and ones."""
    if not isinstance(y, list | tuple) or not y:
        return False
    if not all(isinstance(one, list | tuple | set | frozenset) for one in y):
        return False
    same_length = len({len(one) for one in y}) == 1
    return not (same_length and all(value in (0, 1) for one in y for value in one))


class Targets(NamedTuple):
    """Which classes there are and how they lie in the columns."""

    kind: str
    classes: np.ndarray
    single_column: bool  # two classes met together: one column, positive for the second

    @staticmethod
    def first(answers: Answers, classes: Any = None) -> Targets:
        """Begin with the classes given, or with those answers."""
        known = answers.classes if classes is None else np.unique(classes)
        strangers = np.setdiff1d(answers.classes, known)
        if len(strangers):
            raise ValueError(
                f"y contains {strangers.tolist()}, which `classes` {known.tolist()} does not."
            )
        return Targets(answers.kind, known, answers.kind == "single" and len(known) == 2)

    def extended(self, answers: Answers) -> Targets:
        """Add the classes not known yet, after those that are."""
        if answers.kind != self.kind:
            raise ValueError(
                f"y is {answers.kind} now and was {self.kind} before; learn them separately."
            )
        strangers = np.setdiff1d(answers.classes, self.classes)
        if not len(strangers):
            return self
        return Targets(self.kind, np.concatenate([self.classes, strangers]), False)

    @property
    def n_columns(self) -> int:
        return 1 if self.single_column else len(self.classes)

    def encode(self, values: Sequence[Any] | np.ndarray) -> Labels:
        """Return the columns of each document's classes."""
        if self.single_column:
            positive = np.asarray(values) == self.classes[1]
            indptr = np.concatenate([[0], np.cumsum(positive)])
            return Labels(indptr, np.zeros(indptr[-1], np.int32), 1)
        order = np.argsort(self.classes)
        if self.kind == "single":
            columns = order[np.searchsorted(self.classes, values, sorter=order)]
            return Labels(np.arange(len(columns) + 1), columns.astype(np.int32), self.n_columns)
        if isinstance(values, np.ndarray):  # an indicator: its columns are ours
            documents, columns = np.nonzero(values)
            ends = np.cumsum(np.bincount(documents, minlength=len(values)))
            return Labels(np.append(0, ends), columns.astype(np.int32), self.n_columns)
        column = {label: k for k, label in enumerate(self.classes.tolist())}
        lists = [[column[label] for label in one] for one in values]
        return Labels.from_lists(lists, self.n_columns)

    def as_decisions(self, scores: np.ndarray) -> np.ndarray:
        """Return scores in scikit-learn's shape: one-dimensional where there are two classes."""
        if self.kind == "multilabel" or len(self.classes) > 2:
            return scores
        return np.asarray(scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else scores[:, 0]

    def predict(self, scores: np.ndarray) -> np.ndarray:
        """Return the class of the highest score, or every class whose score is above zero."""
        if self.kind == "multilabel":
            return (scores > 0).astype(np.int64)
        single = self.single_column
        column = (scores[:, 0] > 0).astype(np.intp) if single else np.argmax(scores, axis=1)
        return np.asarray(self.classes[column])
