"""Progressive validation: a stream is tested on and learned from, document by document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thresher.errors import DocumentError, ParameterError, counted
from thresher.evaluation.contingency import ratio
from thresher.model.source import LabelledSource, Progress, no_progress

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer

__all__ = ["ProgressiveValidation", "progressive_validation"]


@dataclass(frozen=True, eq=False)
class ProgressiveValidation:
    """How well a stream was decided; all arrays have an entry for each batch."""

    n_documents: np.ndarray  # how many had been met at the end of the batch
    hits: np.ndarray  # right assignments in the batch
    assigned: np.ndarray
    belonging: np.ndarray  # labels
    wrong: np.ndarray  # documents of the batch that did not get exactly their labels

    @property
    def mistakes(self) -> np.ndarray:
        """How many documents had been decided wrongly, up to each batch."""
        return np.cumsum(self.wrong)

    @property
    def error(self) -> np.ndarray:
        """Share of the documents that had been decided wrongly, up to each batch."""
        return np.asarray(self.mistakes / self.n_documents)

    @property
    def f1(self) -> np.ndarray:
        """Micro-F1 of all decisions up to each batch."""
        given = np.cumsum(self.assigned + self.belonging)
        return np.asarray(ratio(2 * np.cumsum(self.hits), given))

    @property
    def batch_f1(self) -> np.ndarray:
        """Micro-F1 of the decisions of each batch."""
        return np.asarray(ratio(2 * self.hits, self.assigned + self.belonging))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can say it."""
        return {
            "documents": self.n_documents.tolist(),
            "mistakes": self.mistakes.tolist(),
            "error": self.error.tolist(),
            "f1": [None if np.isnan(one) else float(one) for one in self.f1],
            "batch_f1": [None if np.isnan(one) else float(one) for one in self.batch_f1],
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
    """Test, then train: each batch of a stream is decided before it is learned from.

    So every document is tested on and none is spent. What the first batch is given before anything
    was learned is nothing.

    Parameters
    ----------
    categorizer : Categorizer
        One that has learned nothing yet, or goes on from what it knows; it learns the stream.
    documents, labels, progress
        As for `cross_validate`, in the order of the stream; they need not fit into memory.
    batch_size : int, default=100
        How many documents are decided before they are learned from; 1 is slow and exact.

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
        knows = categorizer.is_fitted
        decided = categorizer.decide(categorizer.scores(texts)) if knows else [[] for _ in texts]
        pairs = [(set(one), set(own)) for one, own in zip(decided, truth, strict=True)]
        counts.append((
            len(pairs),
            sum(len(one & own) for one, own in pairs),
            sum(len(one) for one, _ in pairs),
            sum(len(own) for _, own in pairs),
            sum(one != own for one, own in pairs),
        ))  # fmt: skip
        categorizer.learn(texts, truth)
    if not counts:
        raise DocumentError("There is nothing to learn from: the source has no documents.")
    sizes, *others = np.array(counts).T
    return ProgressiveValidation(np.cumsum(sizes), *others)


def _stream(
    categorizer: Categorizer, documents: Any, labels: Any, batch_size: int, progress: Progress
) -> Iterator[tuple[list[str], list[list[Any]]]]:
    """Cut a source into batches of one size."""
    source = LabelledSource(documents, labels, None, categorizer.fields, progress)
    for batch in source.batches("testing, then training"):
        if batch.labels is None:
            raise DocumentError("The documents have no labels to measure against.")
        for start in range(0, len(batch), batch_size):
            texts = batch.texts[start : start + batch_size].to_pylist()
            yield texts, batch.labels[start : start + batch_size]
