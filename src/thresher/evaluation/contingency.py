"""Contingency tables, and the measures that are computed from them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Contingency(NamedTuple):
    """Counts of right and wrong decisions; each field is a number or an array over categories.

    Examples
    --------
    >>> table = Contingency(1024, 69, 63, 2143)  # a decision tree on "earnings" in Reuters
    >>> print(f"{table.accuracy:.3f} {table.precision:.3f} {table.recall:.3f} {table.f1:.3f}")
    0.960 0.937 0.942 0.939
    """

    true_positives: Any  # the document belongs to the category and was assigned to it
    false_positives: Any
    false_negatives: Any
    true_negatives: Any

    @property
    def positives(self) -> Any:
        """The number of documents that belong to the category."""
        return self.true_positives + self.false_negatives

    @property
    def assigned(self) -> Any:
        """The number of documents that were assigned to the category."""
        return self.true_positives + self.false_positives

    @property
    def precision(self) -> Any:
        """The share of the assigned documents that belong; 0 if none was but some belong."""
        return ratio(self.true_positives, np.maximum(self.assigned, self.false_negatives > 0))

    @property
    def recall(self) -> Any:
        """The share of the documents that belong that were assigned."""
        return ratio(self.true_positives, self.positives)

    @property
    def f1(self) -> Any:
        """The harmonic mean of precision and recall."""
        return self.f_beta(1.0)

    def f_beta(self, beta: float) -> Any:
        """Return the mean of precision and recall in which recall weighs `beta` times as much."""
        weight = beta * beta
        top = (1 + weight) * self.true_positives
        return ratio(top, top + weight * self.false_negatives + self.false_positives)

    @property
    def accuracy(self) -> Any:
        """The share of the decisions that are right."""
        return ratio(self.true_positives + self.true_negatives, sum(self))

    @property
    def error(self) -> Any:
        """The share of the decisions that are wrong."""
        return ratio(self.false_positives + self.false_negatives, sum(self))

    @property
    def fallout(self) -> Any:
        """The share of the documents that do not belong that were assigned."""
        return ratio(self.false_positives, self.false_positives + self.true_negatives)

    def total(self) -> Contingency:
        """Return the table summed over the categories, from which micro averages are computed."""
        return Contingency(*(int(np.sum(cell)) for cell in self))

    def merge(self, other: Contingency) -> Contingency:
        """Return the table of the documents of both, which are decided for the same categories."""
        return Contingency(*(np.add(*cells) for cells in zip(self, other, strict=True)))


def harmonic_mean(precision: float, recall: float) -> float:
    """Return the F1 of a precision and a recall, which may be averages themselves."""
    return ratio(2 * precision * recall, precision + recall)  # type: ignore[no-any-return]


def ratio(top: Any, bottom: Any) -> Any:
    """Return top / bottom, without a warning if it is NaN or infinite."""
    with np.errstate(invalid="ignore", divide="ignore"):
        quotient = np.true_divide(top, bottom)
    return float(quotient) if np.ndim(quotient) == 0 else quotient
