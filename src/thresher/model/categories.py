"""Categories: labels as people give them, and the number of each, which it gets here alone."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple, Self

import numpy as np

from thresher.errors import DocumentError, ModelError, ParameterError, brief
from thresher.parameters import names_of
from thresher.rows import Labels
from thresher.state import LARGEST_WHOLE, require_field

__all__ = ["Categories", "LabelLists", "decision_mode"]

TYPES: dict[str, type] = {"str": str, "int": int, "bool": bool, "float": float}
FORMS = ("one", "several", "indicator")
MANY = (list, tuple, set, frozenset, np.ndarray)


class LabelLists(NamedTuple):
    """The labels of documents, and the form in which they were given.

    Attributes
    ----------
    lists : sequence of lists of labels
        What each document carries, each label once.
    form : {"one", "several", "indicator"}
        Whether a label was given for each document, a list, or a row of zeros and ones.
    n_columns : int
        How many columns an indicator has; else 0.
    """

    lists: Sequence[Sequence[Any]]
    form: str
    n_columns: int = 0

    def __len__(self) -> int:
        return len(self.lists)

    @classmethod
    def read(cls, labels: Any) -> LabelLists:
        """Read labels: one for each document, a list for each, or a matrix of zeros and ones.

        None, NaN and "" are no label. A matrix, or lists of two and more zeros and ones that are
        all of one length, says for each category (its number is its label) whether it belongs.

        Parameters
        ----------
        labels : sequence, array or sparse matrix
            The labels.

        Examples
        --------
        >>> LabelLists.read(["spam", None, "ham"]).lists
        [['spam'], [], ['ham']]
        >>> LabelLists.read([[1, 0, 1], [0, 0, 0]]).lists
        [[0, 2], []]
        """
        if isinstance(labels, str | bytes):
            raise DocumentError(
                f"labels is one string, {labels[:20]!r}; give one for each document."
            )
        if hasattr(labels, "toarray"):
            labels = labels.toarray()
        if hasattr(labels, "columns") and hasattr(labels, "to_numpy"):  # a data frame
            labels = labels.to_numpy()
        to_list = next((one for one in ("to_pylist", "to_list") if hasattr(labels, one)), "")
        if to_list:  # a column of a table, whose lists would not come out as lists
            labels = getattr(labels, to_list)()
        if isinstance(labels, np.ndarray) and labels.ndim == 2 and labels.shape[1] == 1:
            labels = labels.ravel()
        if isinstance(labels, np.ndarray) and labels.ndim > 2:
            raise DocumentError(
                f"labels has {labels.ndim} dimensions; give one label or one row each."
            )
        given = labels if isinstance(labels, list) else list(labels)
        if _is_indicator(given):
            rows = np.asarray(given)
            return cls([np.flatnonzero(row).tolist() for row in rows], "indicator", rows.shape[1])
        several = any(isinstance(one, MANY) for one in given)
        if not several and set(map(type, given)) == {str}:  # the usual answers, much faster
            lists = [[label] if label else [] for label in map(str.strip, given)]
        elif set(map(type, given)) == {list} and set(map(type, chain(*given))) <= {str}:
            stripped = (dict.fromkeys(map(str.strip, one)) for one in given)
            lists = [[label for label in one if label] for one in stripped]
        else:
            lists = [list(dict.fromkeys(_labels_of(one, i))) for i, one in enumerate(given)]
        return cls(lists, "several" if several else "one")


class Categories:
    """The categories of a model, numbered as they come, and the type of their labels.

    Parameters
    ----------
    labels : iterable of labels
        In the order of their numbers.
    form : {"one", "several", "indicator"}
        The form in which labels were given and in which predictions are to be.

    Examples
    --------
    >>> categories = Categories()
    >>> categories.encode([["spam"], ["ham", "list"]], grow=True).indices
    array([0, 1, 2], dtype=int32)
    >>> categories.rename("list", "lists")
    >>> categories.labels, categories.number("lists")
    (['spam', 'ham', 'lists'], 2)
    """

    def __init__(self, labels: Iterable[Any] = (), form: str = "several") -> None:
        self.labels: list[Any] = []
        self._numbers: dict[Any, int] = {}
        self.form = form
        self.type: str | None = None
        for label in labels:
            self._add(label)

    @property
    def names(self) -> list[str]:
        """The labels as text, for tables and files."""
        return [str(label) for label in self.labels]

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.labels)

    def __contains__(self, label: Any) -> bool:
        return label in self._numbers

    def number(self, label: Any) -> int:
        """Return the number of a category, or say which is like it, or else which there are."""
        if label in self._numbers:
            return self._numbers[label]
        names = self.names
        if isinstance(label, str) and label in names:  # as a file or the command line has it
            return names.index(label)
        near = difflib.get_close_matches(str(label), names, 1, 0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"it has {names_of(names)}."
        raise ParameterError(f"The model has no category {label!r}; {hint}")

    def columns_for(self, known: Categories) -> Any:
        """Return the columns of scores that belong to the categories known earlier.

        Categories that were learned since are left out; one that was removed is an error.
        """
        labels = known.labels
        if self.labels[: len(labels)] == labels:
            return slice(0, len(labels))
        missing = [label for label in labels if label not in self._numbers]
        if missing:
            raise ModelError(
                f"The category {missing[0]!r} was removed or renamed while documents were read; "
                "read them again."
            )
        return np.array([self._numbers[label] for label in labels])

    def encode(self, lists: Sequence[Sequence[Any]], grow: bool = False) -> Labels:
        """Return the numbers of labels; new ones get the next numbers, or are left out.

        Parameters
        ----------
        lists : sequence of lists of labels
            What each document carries.
        grow : bool, default=False
            Give new labels numbers.
        """
        numbers = self._numbers
        if self.type not in (None, "str"):
            lists = [[self.of_own_type(label) for label in one] for one in lists]
        if grow:
            for label in dict.fromkeys(chain.from_iterable(lists)):
                if label not in numbers:
                    self._add(label)
        coded = [[numbers[label] for label in one if label in numbers] for one in lists]
        return Labels.from_lists(coded, len(numbers))

    def sort(self) -> np.ndarray:
        """Number the categories by their labels; return the new number of each old one."""
        order = sorted(range(len(self)), key=self.labels.__getitem__)
        self._set([self.labels[i] for i in order])
        return np.argsort(order).astype(np.int32)

    def merge(self, other: Categories) -> np.ndarray:
        """Add the categories of another object; return their numbers here.

        Merging the categories of shards of documents in their order gives the same numbers as
        encoding all documents.

        Examples
        --------
        >>> categories = Categories(["spam", "ham"])
        >>> categories.merge(Categories(["list", "spam"])).tolist(), categories.labels
        ([2, 0], ['spam', 'ham', 'list'])
        """
        if len(other) and self.type not in (None, other.type):
            raise ModelError(
                f"Labels of type {other.type} cannot be merged with labels of type {self.type}."
            )
        if other.form != self.form:
            self.form = "several"
        for label in other.labels:
            if label not in self._numbers:
                self._add(label)
        return np.array([self._numbers[label] for label in other.labels], np.int64)

    def rename(self, label: Any, new: Any) -> None:
        """Give a category another label; its number stays."""
        number = self.number(label)
        if new in self._numbers:
            raise ParameterError(f"There is a category {new!r} already; merge the two instead.")
        self._check_type(new)
        self._set([new if i == number else old for i, old in enumerate(self.labels)])

    def drop(self, label: Any) -> np.ndarray:
        """Forget a category, the others closing ranks; return which numbers are kept."""
        number = self.number(label)
        self._set([*self.labels[:number], *self.labels[number + 1 :]])
        keep: np.ndarray = np.arange(len(self) + 1) != number
        return keep

    def truncate(self, n: int) -> None:
        """Remove the categories from number `n` on."""
        for label in self.labels[n:]:
            del self._numbers[label]
        del self.labels[n:]

    def state(self) -> dict[str, Any]:
        """Return what a model file keeps."""
        return {"labels": self.labels, "type": self.type, "form": self.form}

    @classmethod
    def from_state(cls, header: dict[str, Any]) -> Self:
        """Return the categories that `state` described."""
        form, labels = require_field(header, "form", str), require_field(header, "labels", list)
        kind = header.get("type")
        if form not in FORMS or kind not in (None, *TYPES):
            raise ModelError("The model's categories are of a form or a type unknown here.")
        wanted = TYPES.get(kind or "", str)
        if any(type(one) is not wanted for one in labels) or len(set(labels)) != len(labels):
            raise ModelError("The model's categories are not different labels of one type.")
        return cls(labels, form)

    def of_own_type(self, label: Any) -> Any:
        """Return the label that a text from a file stands for, where labels are not texts."""
        if isinstance(label, str) and self.type == "int" and label.removeprefix("-").isdecimal():
            return int(label)
        if isinstance(label, str) and self.type == "bool" and label.lower() in ("true", "false"):
            return label.lower() == "true"
        return label

    def _add(self, label: Any) -> None:
        self._check_type(label)
        self._numbers[label] = len(self.labels)
        self.labels.append(label)

    def _set(self, labels: list[Any]) -> None:
        self.labels, self._numbers = labels, {label: i for i, label in enumerate(labels)}

    def _check_type(self, label: Any) -> None:
        kind = type(label).__name__
        if kind not in TYPES:
            raise DocumentError(
                f"A label is {brief(label)}, of type {kind}; give texts or numbers."
            )
        if kind == "int" and abs(label) > LARGEST_WHOLE:
            raise DocumentError(f"A label is {brief(label)}; give such large ones as texts.")
        if self.type is None:
            self.type = kind
        if kind != self.type:
            raise DocumentError(
                f"A label is {label!r}, of type {kind}, and others are of type {self.type}, such "
                f"as {next(iter(self._numbers), None)!r}; give labels of one type."
            )


def decision_mode(mode: str, labels: Labels) -> str:
    """Return "single-label" or "multi-label": the given mode, or for "auto" that of the labels."""
    if mode != "auto":
        return mode
    has_one_each = bool((np.diff(labels.indptr) == 1).all())
    return "single-label" if has_one_each and labels.n_categories > 1 else "multi-label"


def _is_indicator(labels: list[Any]) -> bool:
    """Tell rows of zeros and ones from lists of labels."""
    if not labels or not all(isinstance(one, list | tuple | np.ndarray) for one in labels):
        return False
    if len({len(one) for one in labels}) != 1 or len(labels[0]) < 2:
        return False
    return all(not isinstance(v, str) and v in (0, 1) for one in labels for v in one)


def _labels_of(value: Any, place: int) -> Iterator[Any]:
    """Yield the labels of a document."""
    if isinstance(value, MANY):
        values: Any = sorted(value) if isinstance(value, set | frozenset) else value
        for one in values:
            if isinstance(one, MANY):
                raise DocumentError(
                    f"The labels of document {place} are lists of lists; give lists."
                )
            yield from _labels_of(one, place)
        return
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        value = value.strip()
    if value is None or value == "" or str(value) in ("<NA>", "NaT"):
        return
    if isinstance(value, float):
        if math.isnan(value):
            return
        if not value.is_integer():
            raise DocumentError(
                f"The label of document {place} is {value!r}: categories are texts or whole "
                "numbers, not numbers on a scale."
            )
    yield value
