"""Progressive validation: each batch of a stream is tested on, then learned from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from thresher.errors import DocumentError, ParameterError, counted
from thresher.evaluation.contingency import ratio
from thresher.model.categories import Categories
from thresher.model.source import LabelledSource, Progress, no_progress

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer


@dataclass(frozen=True, eq=False)
class ProgressiveValidation:
    """Measures of the decisions on a stream; arrays have an entry for each batch."""

    n_documents: np.ndarray  # documents up to the end of the batch
    hits: np.ndarray  # correctly assigned categories in the batch
    assigned: np.ndarray  # all assigned categories
    belonging: np.ndarray  # labels
    wrong: np.ndarray  # documents of the batch that did not get exactly their labels

    @property
    def mistakes(self) -> np.ndarray:
        """The number of wrongly decided documents up to each batch."""
        return np.cumsum(self.wrong)

    @property
    def error(self) -> np.ndarray:
        """The share of wrongly decided documents up to each batch."""
        return np.asarray(self.mistakes / self.n_documents)

    @property
    def f1(self) -> np.ndarray:
        """The micro-F1 of all decisions up to each batch."""
        given = np.cumsum(self.assigned + self.belonging)
        return np.asarray(ratio(2 * np.cumsum(self.hits), given))

    @property
    def batch_f1(self) -> np.ndarray:
        """The micro-F1 of the decisions of each batch."""
        return np.asarray(ratio(2 * self.hits, self.assigned + self.belonging))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, for JSON."""
        return {
            "documents": self.n_documents.tolist(),
            "mistakes": self.mistakes.tolist(),
            "error": self.error.tolist(),
            "f1": [None if np.isnan(f1) else float(f1) for f1 in self.f1],
            "batch_f1": [None if np.isnan(f1) else float(f1) for f1 in self.batch_f1],
        }

    def __str__(self) -> str:
        return (
            f"{counted(self.n_documents[-1], 'document')}, each decided before it was learned "
            f"from: micro-F1 {100 * self.f1[-1]:.1f}, {self.mistakes[-1]:,} decided wrongly "
            f"({100 * self.error[-1]:.1f} %)."
        )


def progressive_validation(
    categorizer: Categorizer,
    documents: Any,
    labels: Any = None,
    *,
    batch_size: int = 100,
    progress: Progress = no_progress,
) -> ProgressiveValidation:
    """Test, then train: each batch of a stream is decided before the categorizer learns it.

    So all documents are used for both. Before anything is learned, documents get no category.

    Parameters
    ----------
    categorizer : Categorizer
        A new categorizer, or one that has been trained; it learns the documents.
    documents, labels, progress
        As for `cross_validate`, in the order of the stream; they may exceed memory.
    batch_size : int, default=100
        The number of documents that are decided before they are learned; 1 is slow and exact.

    Examples
    --------
    >>> from thresher import Categorizer
    >>> texts = ["cheap pills", "lunch today?", "cheap watches", "see you today"] * 5
    >>> labels = ["spam", "ham", "spam", "ham"] * 5
    >>> stream = progressive_validation(Categorizer(), texts, labels, batch_size=4)
    >>> stream.mistakes.tolist(), stream.batch_f1.tolist()
    ([4, 4, 4, 4, 4], [0.0, 1.0, 1.0, 1.0, 1.0])
    """
    if batch_size < 1:
        raise ParameterError(f"batch_size is {batch_size}; it must be at least 1.")
    counts = []
    for texts, truth in _stream(categorizer, documents, labels, batch_size, progress):
        decided: list[list[Any]] = [[] for _ in texts]
        if categorizer.is_fitted:
            decided = categorizer.decide(categorizer.scores(texts))
        pairs = [(set(chosen), set(labels)) for chosen, labels in zip(decided, truth, strict=True)]
        figures = [(1, len(a & b), len(a), len(b), a != b) for a, b in pairs]
        counts.append(np.sum(figures, axis=0))
        categorizer.learn(texts, truth)
    if not counts:
        raise DocumentError("There is nothing to learn from: the source has no documents.")
    sizes, *rest = np.array(counts).T
    return ProgressiveValidation(np.cumsum(sizes), *rest)


def _stream(
    categorizer: Categorizer, documents: Any, labels: Any, batch_size: int, progress: Progress
) -> Iterator[tuple[list[str], list[list[Any]]]]:
    """Yield texts and labels in batches of equal size."""
    source = LabelledSource(documents, labels, None, categorizer.fields, progress)
    if categorizer.is_fitted:
        source.leave_out_blank(categorizer.model_)
    else:
        source.blank = source.is_none_an_answer(categorizer.mode, 0)
    for batch in source.batches("testing, then training"):
        if batch.labels is None:
            raise DocumentError("The documents have no labels to measure against.")
        for start in range(0, len(batch), batch_size):
            texts = batch.texts[start : start + batch_size].to_pylist()
            lists = batch.labels[start : start + batch_size]
            known = categorizer.model_.categories if categorizer.is_fitted else Categories()
            typed = partial(known.typed_label, from_table=not batch.labels_are_given)
            yield texts, [list(map(typed, labels)) for labels in lists]
    source.warn_of_blank_labels()
