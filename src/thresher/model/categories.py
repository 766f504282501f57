"""Categories: reading labels in any form, and the mapping of labels to category numbers."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple, Self
from unicodedata import is_normalized, normalize

import numpy as np

from thresher.documents.labels import are_numbers, is_missing, value_text
from thresher.errors import DocumentError, ModelError, ParameterError, brief
from thresher.parameters import names_of
from thresher.rows import Labels
from thresher.state import LARGEST_WHOLE, require_field

TYPES: dict[str, type] = {"str": str, "int": int, "bool": bool, "float": float}
FORMS = ("one", "several", "indicator")
NUMBERS = (int, float, np.number, np.bool_)
MANY = (list, tuple, set, frozenset, np.ndarray)


class LabelLists(NamedTuple):
    """The labels of documents, and the form of the input.

    Attributes
    ----------
    lists : sequence of lists of labels
        The labels of each document, without duplicates.
    form : {"one", "several", "indicator"}
        The form of the input: one label per document, a list of labels per document, or an
        indicator matrix.
    n_columns : int
        The number of columns of an indicator matrix; else 0.
    """

    lists: Sequence[Sequence[Any]]
    form: str
    n_columns: int = 0

    def __len__(self) -> int:
        return len(self.lists)

    @classmethod
    def read(cls, labels: Any) -> LabelLists:
        """Return the labels, given as one per document, a list per document, or a matrix.

        None, NaN, NA of pandas and "" mean that there is no label. A matrix, or lists of equal
        length with at least two zeros and ones each, is read as an indicator matrix: the labels of
        a document are the numbers of the columns that are one.

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
        to_list = next((name for name in ("to_pylist", "to_list") if hasattr(labels, name)), "")
        if to_list:  # a column of a table; NumPy would not convert its cells to lists
            labels = getattr(labels, to_list)()
        if isinstance(labels, np.ndarray) and labels.ndim == 2 and labels.shape[1] == 1:
            labels = labels.ravel()
        if isinstance(labels, np.ndarray) and labels.ndim > 2:
            raise DocumentError(
                f"labels has {labels.ndim} dimensions; give one label or one row each."
            )
        values = labels if isinstance(labels, list) else list(labels)
        if _is_indicator(values):
            rows = np.asarray(values)
            return cls([np.flatnonzero(row).tolist() for row in rows], "indicator", rows.shape[1])
        has_lists = any(isinstance(value, MANY) for value in values)
        # The first two branches only make the usual cases faster.
        if not has_lists and set(map(type, values)) == {str}:
            lists: list[list[Any]] = [[x] if x else [] for x in map(str.strip, values)]
        elif set(map(type, values)) == {list} and set(map(type, chain(*values))) <= {str}:
            stripped = (dict.fromkeys(map(str.strip, labels_given)) for labels_given in values)
            lists = [[label for label in unique if label] for unique in stripped]
        else:
            lists = [list(dict.fromkeys(_labels_of(value, i))) for i, value in enumerate(values)]
            if float in set(map(type, chain(*lists))) and are_numbers(lists):
                lists = [list(map(int, labels_given)) for labels_given in lists]
        return cls(lists, "several" if has_lists else "one")


class Categories:
    """The labels of the categories of a model, their numbers, and the type of the labels.

    Labels that differ only by the form of their Unicode characters are one category, in the form
    NFC.

    Parameters
    ----------
    labels : iterable of labels
        The labels in the order of their numbers.
    form : {"one", "several", "indicator"}
        The form of the labels in training, which is also that of predictions.

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
        labels = list(labels)
        usual = list(map(usual_form, labels))
        # Older models can have two categories for the two forms of a label.
        for label in usual if len(set(usual)) == len(labels) else labels:
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
        return self.typed_label(label) in self._numbers

    def number(self, label: Any) -> int:
        """Return the number of a category; the error for an unknown one suggests similar labels."""
        label = self.typed_label(label)
        if label in self._numbers:
            return self._numbers[label]
        names = self.names
        if isinstance(label, str) and label in names:  # given as text
            return names.index(label)
        near = difflib.get_close_matches(str(label), names, 1, 0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"it has {names_of(names)}."
        raise ParameterError(f"The model has no category {label!r}; {hint}")

    def columns_for(self, known: Categories) -> Any:
        """Return the columns of the scores of the categories in `known`, an earlier copy.

        Categories that were added later are left out; a removed category is an error.
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

    def encode(
        self, lists: Sequence[Sequence[Any]], grow: bool = False, from_table: bool = False
    ) -> Labels:
        """Return labels as category numbers; unknown labels are added or left out.

        Parameters
        ----------
        lists : sequence of lists of labels
            The labels of each document.
        grow : bool, default=False
            Whether unknown labels are added as new categories.
        from_table : bool, default=False
            Whether the labels are cells of a table, where numbers may also stand for texts, and
            "true" is the category "True", if there is one, and the reverse.
        """
        numbers = self._numbers
        distinct = dict.fromkeys(chain.from_iterable(lists))
        typed = {}
        for label in distinct:
            known = self.typed_label(label, from_table)
            if known is not label:
                typed[label] = known
            if grow and from_table and known not in numbers:
                self._add(known)  # now, so that batches of any size give the same categories
        if typed:
            lists = [list(dict.fromkeys(typed.get(x, x) for x in labels)) for labels in lists]
        if grow:
            for label in dict.fromkeys(typed.get(label, label) for label in distinct):
                if label not in numbers:
                    self._add(label)
        coded = [[numbers[label] for label in labels if label in numbers] for labels in lists]
        return Labels.from_lists(coded, len(numbers))

    def sort(self) -> np.ndarray:
        """Sort the categories by label; return the new number of each old number."""
        order = sorted(range(len(self)), key=self.labels.__getitem__)
        self._set([self.labels[i] for i in order])
        return np.argsort(order).astype(np.int32)

    def merge(self, other: Categories) -> np.ndarray:
        """Add the categories of `other`; return their numbers in this object.

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
        """Change the label of a category; its number stays."""
        number, new = self.number(label), usual_form(new)
        if new in self._numbers:
            raise ParameterError(f"There is a category {new!r} already; merge the two instead.")
        self._check_type(new)
        self._set([new if i == number else old for i, old in enumerate(self.labels)])

    def drop(self, label: Any) -> np.ndarray:
        """Remove a category and renumber the rest; return a mask of the old numbers that remain."""
        number = self.number(label)
        self._set([*self.labels[:number], *self.labels[number + 1 :]])
        keep: np.ndarray = np.arange(len(self) + 1) != number
        return keep

    def truncate(self, n: int) -> None:
        """Remove all categories from number `n` on."""
        self._set(self.labels[:n])

    def state(self) -> dict[str, Any]:
        """Return the header fields of the model file."""
        return {"labels": self.labels, "type": self.type, "form": self.form}

    @classmethod
    def from_state(cls, header: dict[str, Any]) -> Self:
        """Return the categories that `state` described."""
        form, labels = require_field(header, "form", str), require_field(header, "labels", list)
        kind = header.get("type")
        if form not in FORMS or kind not in (None, *TYPES):
            raise ModelError("The model's categories are of a form or a type unknown here.")
        label_type = TYPES.get(kind or "", str)
        is_typed = all(type(label) is label_type for label in labels)
        if not is_typed or len(set(labels)) != len(labels):
            raise ModelError("The model's categories are not different labels of one type.")
        return cls(labels, form)

    def typed_label(self, label: Any, from_table: bool = False) -> Any:
        """Return a label in the type of the categories and in the usual form of Unicode (NFC)."""
        if self.type == "float" and type(label) is int:  # in models of an earlier version
            return float(label)
        if self.type == "str" and from_table:
            for text in _spellings(label):
                if text in self._numbers:
                    return text
        if not isinstance(label, str):
            is_number = isinstance(label, int) and self.type == "str"
            return value_text(label) if is_number and from_table else label
        if label in self._numbers:
            return label
        if label.startswith("'") and label[1:] in self._numbers:  # from a cell that was escaped
            return label[1:]
        whole = label.removesuffix(".0")
        if self.type == "int" and whole.removeprefix("-").isdecimal():
            return int(whole)
        if self.type == "bool" and label.lower() in ("true", "false"):
            return label.lower() == "true"
        return usual_form(label)

    def _add(self, label: Any) -> None:
        self._check_type(label)
        self.labels.append(label)  # first, so that `truncate` can undo an interrupted call
        self._numbers[label] = len(self.labels) - 1

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


def usual_form(label: Any) -> Any:
    """Return a text in the normal form NFC of Unicode, and any other label unchanged."""
    is_usual = not isinstance(label, str) or is_normalized("NFC", label)
    return label if is_usual else normalize("NFC", label)


def decision_mode(mode: str, labels: Labels) -> str:
    """Return "single-label" or "multi-label": the given mode, or for "auto" that of the labels."""
    if mode != "auto":
        return mode
    has_one_each = bool((np.diff(labels.indptr) == 1).all())
    return "single-label" if has_one_each and labels.n_categories > 1 else "multi-label"


def _spellings(label: Any) -> Iterator[str]:
    """Yield a label of a table as a text, and then as other programs write it into files."""
    text = value_text(label)
    yield text
    if text.lower() in ("true", "false"):
        yield from (text.lower(), text.capitalize(), text.upper())
    elif isinstance(label, int):
        yield f"{text}.0"  # the number in a column with missing values


def _is_indicator(labels: list[Any]) -> bool:
    """Return whether the labels are the rows of an indicator matrix."""
    if not labels or not all(isinstance(row, list | tuple | np.ndarray) for row in labels):
        return False
    if len({len(row) for row in labels}) != 1 or len(labels[0]) < 2:
        return False
    return all(isinstance(v, NUMBERS) and v in (0, 1) for row in labels for v in row)


def _labels_of(value: Any, index: int) -> Iterator[Any]:
    """Yield the labels of the document at an index."""
    if isinstance(value, MANY):
        given: Any = [label for label in value if not is_missing(label)]
        for label in sorted(given) if isinstance(value, set | frozenset) else given:
            if isinstance(label, MANY):
                raise DocumentError(
                    f"The labels of document {index} are lists of lists; give lists."
                )
            yield from _labels_of(label, index)
        return
    if not isinstance(value, Hashable):
        raise DocumentError(
            f"The label of document {index} is {brief(value)}, of type {type(value).__name__}; "
            "give texts or numbers."
        )
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        value = value.strip()
    if is_missing(value) or value == "":
        return
    if isinstance(value, float) and not value.is_integer():
        raise DocumentError(
            f"The label of document {index} is {value!r}: categories are texts or whole numbers, "
            "not numbers on a scale."
        )
    yield value
