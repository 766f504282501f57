"""Learners that go on learning: what they know are tables, which grow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np

from thresher.errors import ModelError, ParameterError, counted
from thresher.examples import Examples
from thresher.learners._checks import check_labels, check_rows, checked_order, checked_sample_weight
from thresher.learners._tables import Table, Tables
from thresher.learners._targets import Targets
from thresher.learners.learner import Learner, Progress
from thresher.rows import Labels, Rows

__all__ = ["GrowingLearner"]


class GrowingLearner(Learner):
    """A learner that goes on learning, while new features and new categories appear.

    The learners here keep what they know in tables, made in `start`; one that does not provides
    `start`, `learn_rows`, `grow`, `prune` and `checkpoint` itself.
    """

    _figures: ClassVar[tuple[str, ...]] = ()  # the attributes that learning changes besides

    def start(self, n_features: int, n_categories: int, mean_active: float = 1.0) -> Self:
        """Forget everything and begin with `n_features` and `n_categories`.

        Parameters
        ----------
        n_features, n_categories : int
            How many there are now; `grow` adds more.
        mean_active : float, default=1.0
            d, the mean number of features in a document, from which initial weights may be derived.
        """
        raise NotImplementedError

    def learn_rows(
        self,
        rows: Rows,
        labels: Labels,
        order: np.ndarray | None = None,
        n_jobs: int = 1,
        *,
        sample_weight: np.ndarray | None = None,
        ends_pass: bool = True,
    ) -> np.ndarray:
        """Meet every document once and learn from it.

        Parameters
        ----------
        rows, labels
            The strengths and the categories of each document.
        order : array of int, optional
            The order in which the documents are met; their own by default.
        n_jobs : int, default=1
            Among how many threads the categories are divided; the result is the same.
        sample_weight : array, optional
            How much each document counts; 1 by default.
        ends_pass : bool, default=True
            False where more documents of the same pass follow.

        Returns
        -------
        array of int
            Mistakes per category, where the learner goes by them; else zeros.
        """
        weights = self._checked(rows, labels, sample_weight)
        if order is not None:
            order = checked_order(order, rows.n_rows)
        mistakes = self._learn(rows, labels, order, weights, n_jobs)
        if ends_pass:
            self._end_pass()
        return mistakes

    def _checked(self, rows: Rows, labels: Labels, sample_weight: np.ndarray | None) -> np.ndarray:
        """Return the weights of documents that can be learned."""
        owner = type(self).__name__
        check_rows(rows, owner, self.n_features, self.non_negative)
        check_labels(rows, labels, owner, self.n_categories)
        return checked_sample_weight(sample_weight, rows.n_rows)

    def _met(
        self, examples: Examples, stage: str, progress: Progress
    ) -> Iterator[tuple[Rows, Labels, np.ndarray]]:
        """Yield all documents once, block by block, checked and with their weights."""
        done = 0
        for rows, labels in examples:
            yield rows, labels, self._checked(rows, labels, labels.weights)
            done += rows.n_rows
            if progress is not None:
                progress(stage, done, done / len(examples))

    # ---- what a subclass with tables provides ------------------------------------------------

    def _learn(
        self, rows: Rows, labels: Labels, order: np.ndarray | None, weights: np.ndarray, n_jobs: int
    ) -> np.ndarray:
        """Learn from documents that were checked, and return the mistakes per category."""
        raise NotImplementedError

    def _end_pass(self) -> None:
        """Do what is due after all documents were met."""

    def _settle(self) -> None:
        """Compute anew what depends on everything, after any change."""

    def _merge_columns(self, source: int, target: int) -> None:
        """Put what the category `source` has learned into `target`."""
        super().merge_categories(source, target)

    def _touches_all(self) -> bool:
        """Tell whether learning may change the rows of features that the documents lack."""
        return False

    def _begin(self, layout: dict[str, Table], n_features: int, n_categories: int) -> None:
        self._tables: Tables = Tables(layout, n_features, n_categories)
        self.n_features, self.n_categories = n_features, n_categories

    def _read_tables(self, tensors: dict[str, np.ndarray], *sizes: int) -> Self:
        self._tables.read(tensors, *sizes)
        self.n_features, self.n_categories = sizes
        return self

    def check_bounds(self, columns: np.ndarray | None = None) -> None:
        """Refuse what was learned if scores would not be finite; look at these features alone."""
        if columns is not None:
            are_few = len(columns) < self.n_features and not self._touches_all()
            columns = np.unique(columns) if are_few else None
        if hasattr(self, "_tables") and (figure := self._tables.beyond(columns)):
            raise ParameterError(
                f"{type(self).__name__} has come to {figure}, with which scores are no numbers any "
                "more; take parameters by which documents move it less, or strengths that are "
                "normalised."
            )

    def _resized(self) -> None:
        self.n_features, self.n_categories = self._tables.n_features, self._tables.n_categories
        self._settle()

    def grow(self, n_features: int, n_categories: int) -> Self:
        """Make room for new features and categories, which hold the initial values."""
        if n_features < self.n_features or n_categories < self.n_categories:
            raise ModelError(
                f"{type(self).__name__} has {counted(self.n_features, 'feature')} and "
                f"{counted(self.n_categories, 'category')} and cannot grow to {n_features} and "
                f"{n_categories}; use prune to remove features."
            )
        if (n_features, n_categories) != (self.n_features, self.n_categories):
            self._enlarge(n_features, n_categories)
        return self

    def _enlarge(self, n_features: int, n_categories: int) -> None:
        self._tables.grow(n_features, n_categories)
        self._resized()

    def prune(self, keep: np.ndarray) -> Self:
        """Remove the features where `keep` is false; the others are renumbered in order."""
        self._tables.prune(keep)
        self._resized()
        return self

    def drop_categories(self, keep: np.ndarray) -> Self:
        """Remove the categories where `keep` is false; the others are renumbered in order."""
        self._tables.drop(keep)
        self._resized()
        return self

    def merge_categories(self, source: int, target: int) -> Self:
        """Let the category `target` stand for `source` too, which is then removed."""
        numbers = range(self.n_categories)
        if source == target or source not in numbers or target not in numbers:
            raise ParameterError(
                f"merge_categories was given {source} and {target}; they must be two different "
                f"categories from 0 to {self.n_categories - 1}."
            )
        self._merge_columns(source, target)
        return self.drop_categories(np.arange(self.n_categories) != source)

    def checkpoint(self, columns: np.ndarray) -> Callable[[], None]:
        """Return a function that puts the learner back exactly as it is now.

        It undoes a `grow` and a `learn_rows` of documents that use these features only, also one
        that was interrupted. What it costs depends on those features, not on how many there are;
        but one that may touch the features of other documents too keeps a copy of everything.

        Parameters
        ----------
        columns : array of int
            The features of the documents to come, among them those that `grow` is to add.
        """
        put_back = self._tables.checkpoint(None if self._touches_all() else columns)
        names = ("_n_features", "_n_categories", *self._figures)
        figures = {name: copy(getattr(self, name)) for name in names}

        def restore() -> None:
            put_back()
            self.__dict__ |= figures

        return restore

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on learning from more documents, met once each in the order given.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array, optional
            All classes, where they are known before the first documents; new ones may appear
            later without it.
        """
        first = not hasattr(self, "classes_")
        rows, answers, weights = self._read(X, y, sample_weight, reset=first)
        if first:
            self._targets = Targets.first(answers, classes)
            active = len(rows.values) / max(rows.n_rows, 1)
            self.start(rows.n_columns, self._targets.n_columns, active)
        else:
            was_single = self._targets.single_column
            self._targets = self._targets.extended(answers)
            if was_single and not self._targets.single_column:
                self._open_second_column()
            self.grow(self.n_features, self._targets.n_columns)
        self.classes_ = self._targets.classes
        labels = self._targets.encode(answers.values)
        self.learn_rows(rows, labels, None, self._n_jobs(), sample_weight=weights)
        return self

    def _open_second_column(self) -> None:
        """Give `classes_[0]` a category of its own: so far the only one stood for `classes_[1]`."""
        self.grow(self.n_features, 2)
        self._tables.take_categories(np.array([1, 0]))
