"""Classes or labels as scikit-learn passes them (y), and the categories that they become."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from thresher.rows import Labels


class Answers(NamedTuple):
    """A parsed y: for each document its class, its labels, or its row of indicators."""

    kind: str  # "single" or "multilabel"
    values: Sequence[Any] | np.ndarray
    classes: np.ndarray  # sorted


def read_targets(y: Any) -> Answers:
    """Read y: one class per document, an indicator matrix, or a list of lists of labels."""
    if _is_list_of_lists(y):
        lists = [list(labels) for labels in y]
        classes = sorted({label for labels in lists for label in labels})
        return Answers("multilabel", lists, np.array(classes))
    if _is_plain_indicator(y):
        return Answers("multilabel", y, np.arange(y.shape[1]))
    if isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "biuU" and len(y):
        return Answers("single", y, np.unique(y))  # as scikit-learn would, but quicker
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
    """Return True for an array of zeros and ones; scikit-learn would sort all of it."""
    if not isinstance(y, np.ndarray) or y.ndim != 2 or y.dtype.kind not in "bui":
        return False
    return bool(y.shape[1] > 1 and y.size and y.min() >= 0 and y.max() == 1)


def _is_list_of_lists(y: Any) -> bool:
    """Return True for lists of labels, False for an indicator matrix written as lists."""
    if not isinstance(y, list | tuple) or not y:
        return False
    if not all(isinstance(labels, list | tuple | set | frozenset) for labels in y):
        return False
    same_length = len({len(labels) for labels in y}) == 1
    return not (same_length and all(label in (0, 1) for labels in y for label in labels))


class Targets(NamedTuple):
    """The classes, and the columns of scores that stand for them."""

    kind: str
    classes: np.ndarray
    single_column: bool  # two classes from the start: one column, positive for the second

    @staticmethod
    def first(answers: Answers, classes: Any = None) -> Targets:
        """Return the targets for the given classes, or for those of the answers."""
        known = answers.classes if classes is None else np.unique(classes)
        unknown = np.setdiff1d(answers.classes, known)
        if len(unknown):
            raise ValueError(
                f"y contains {unknown.tolist()}, which `classes` {known.tolist()} does not."
            )
        return Targets(answers.kind, known, answers.kind == "single" and len(known) == 2)

    def extended(self, answers: Answers) -> Targets:
        """Return the targets with new classes after the known ones."""
        if answers.kind != self.kind:
            raise ValueError(
                f"y is {answers.kind} now and was {self.kind} before; learn them separately."
            )
        unknown = np.setdiff1d(answers.classes, self.classes)
        if not len(unknown):
            return self
        return Targets(self.kind, np.concatenate([self.classes, unknown]), False)

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
        if isinstance(values, np.ndarray):  # an indicator matrix: its columns are the categories
            documents, columns = np.nonzero(values)
            ends = np.cumsum(np.bincount(documents, minlength=len(values)))
            return Labels(np.append(0, ends), columns.astype(np.int32), self.n_columns)
        column = {label: k for k, label in enumerate(self.classes.tolist())}
        lists = [[column[label] for label in labels] for labels in values]
        return Labels.from_lists(lists, self.n_columns)

    def as_decisions(self, scores: np.ndarray) -> np.ndarray:
        """Return scores in the shape of scikit-learn: one-dimensional for two classes."""
        if self.kind == "multilabel" or len(self.classes) > 2:
            return scores
        return np.asarray(scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else scores[:, 0]

    def predict(self, scores: np.ndarray) -> np.ndarray:
        """Return the class of the highest score, or an indicator of scores above zero."""
        if self.kind == "multilabel":
            return (scores > 0).astype(np.int64)
        single = self.single_column
        column = (scores[:, 0] > 0).astype(np.intp) if single else np.argmax(scores, axis=1)
        return np.asarray(self.classes[column])
