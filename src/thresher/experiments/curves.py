"""Curves: measures by the number of training documents or features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from thresher.engine import engine_for
from thresher.errors import ParameterError
from thresher.evaluation.folds import Split
from thresher.evaluation.measures import evaluate
from thresher.evaluation.names import measure_title, read_measure
from thresher.experiments import protocols
from thresher.model.source import Progress, no_progress

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer

MEASURES = ("micro_f1", "macro_f1", "micro_error", "exact_match")
SIZES = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
NUMBERS = (100, 300, 1_000, 3_000, 10_000, 30_000)


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Measures by the number of training documents or of features.

    Attributes
    ----------
    name : {"documents", "features"}
        What the curve is a function of.
    numbers : array of int
        Their number at each point, the mean over the folds.
    measures : dict of array (points, folds)
        Measures by name, as for `read_measure`. With documents, also "training_error", the share of
        wrong decisions on the training documents.
    mistakes : list of list of int
        For each fold, the mistakes in each pass over all training documents.
    """

    name: str
    numbers: np.ndarray
    measures: dict[str, np.ndarray]
    mistakes: list[list[int]] = field(default_factory=list)

    def mean(self, measure: str) -> np.ndarray:
        """Return the mean over the folds at each point."""
        return np.asarray(self.measures[measure].mean(axis=1))

    def standard_error(self, measure: str) -> np.ndarray:
        """Return the standard error of that mean at each point; NaN if there is only one fold."""
        return np.array([protocols.standard_error(figures) for figures in self.measures[measure]])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, for JSON."""
        points = {
            measure: [protocols.summary(figures) for figures in values]
            for measure, values in self.measures.items()
        }
        return {self.name: self.numbers.tolist(), "measures": points, "mistakes": self.mistakes}

    def __str__(self) -> str:
        names = list(self.measures)
        titles = (f"{measure_title(name):>14}" for name in names)
        lines = ["  ".join([f"{self.name:>10}", *titles])]
        for i, number in enumerate(self.numbers):
            figures = (f"{100 * self.measures[name][i].mean():14.2f}" for name in names)
            lines.append("  ".join([f"{number:10,}", *figures]))
        return "\n".join(lines)


def learning_curve(
    categorizer: Categorizer,
    documents: Any,
    labels: Any = None,
    *,
    sizes: Sequence[float] = SIZES,
    protocol: str = "stratified",
    folds: int = 5,
    share: float = 0.25,
    random_state: int = 0,
    progress: Progress = no_progress,
) -> LearningCurve:
    """Measure a categorizer by the number of training documents, on the same test documents.

    Parameters
    ----------
    categorizer, documents, labels, protocol, folds, share, random_state, progress
        As for `cross_validate`.
    sizes : sequence of float, default=(0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
        The numbers of documents to learn from, as shares of the training documents. Smaller ones
        are subsets of larger ones.

    Examples
    --------
    >>> from thresher import Categorizer
    >>> texts = ["cheap pills", "lunch today?", "cheap watches", "see you later"] * 5
    >>> labels = ["spam", "food", "spam", "mail"] * 5
    >>> curve = learning_curve(Categorizer(), texts, labels, sizes=(0.25, 1.0))
    >>> curve.numbers.tolist(), curve.mean("micro_f1").round(2).tolist()
    ([4, 16], [0.9, 1.0])
    """
    if not len(sizes) or not all(0 < size <= 1 for size in sizes):
        raise ParameterError(f"sizes is {sizes!r}; give shares above 0 and at most 1.")
    counted = protocols.CountedDocuments.read(categorizer, documents, labels, progress)
    splits = protocols.make_splits(counted.labels, protocol, folds, random_state, share)
    alone = categorizer.replace(n_jobs=1)
    tasks = [
        (alone, split._replace(train=split.train[: max(1, round(size * len(split.train)))]))
        for size in sorted(sizes)
        for split in splits
    ]
    return _curve("documents", counted, tasks, len(splits), categorizer.n_jobs_, progress)


def feature_curve(
    categorizer: Categorizer,
    documents: Any,
    labels: Any = None,
    *,
    numbers: Sequence[int] = NUMBERS,
    protocol: str = "stratified",
    folds: int = 5,
    share: float = 0.25,
    random_state: int = 0,
    progress: Progress = no_progress,
) -> LearningCurve:
    """Measure a categorizer by the number of selected features.

    Parameters
    ----------
    categorizer : Categorizer
        A categorizer, whose parameters except `n_selected` are used; `select_by` is the criterion
        of the selection.
    documents, labels, protocol, folds, share, random_state, progress
        As for `cross_validate`.
    numbers : sequence of int, default=(100, 300, 1000, 3000, 10000, 30000)
        The numbers of features to select.

    Examples
    --------
    >>> from thresher import Categorizer
    >>> texts = ["cheap pills", "lunch today?", "cheap watches", "see you later"] * 5
    >>> labels = ["spam", "food", "spam", "mail"] * 5
    >>> curve = feature_curve(Categorizer("perceptron"), texts, labels, numbers=(1, 4))
    >>> curve.numbers.tolist(), curve.mean("micro_f1").tolist()
    ([1, 4], [0.75, 1.0])
    """
    if not len(numbers):
        raise ParameterError("numbers is empty; say how many features to keep.")
    counted = protocols.CountedDocuments.read(categorizer, documents, labels, progress)
    splits = protocols.make_splits(counted.labels, protocol, folds, random_state, share)
    tasks = [
        (categorizer.replace(n_jobs=1, n_selected=number), split)
        for number in sorted(numbers)
        for split in splits
    ]
    return _curve("features", counted, tasks, len(splits), categorizer.n_jobs_, progress)


def _curve(
    name: str,
    counted: protocols.CountedDocuments,
    tasks: Sequence[tuple[Categorizer, Split]],
    n_folds: int,
    threads: int,
    progress: Progress,
) -> LearningCurve:
    """Run the tasks, ordered by point and fold, and return the curve."""

    def run(task: tuple[Categorizer, Split]) -> tuple[int, list[float], list[int]]:
        categorizer, split = task
        fitted, evaluation, *_ = protocols.run_split(categorizer, counted, split)
        values = [read_measure(evaluation, measure) for measure in MEASURES]
        mistakes = list(map(int, getattr(fitted.model.learner, "mistakes_", ())))
        if name == "features":
            return fitted.model.features.n_columns, values, mistakes
        scores = fitted.score(counted, split.train)
        truth, names = fitted.truth(counted, split.train)
        decided = fitted.model.decisions.decide(scores)
        training_error = evaluate(None, truth, names, decisions=decided).micro["error"]
        return len(split.train), [*values, training_error], mistakes

    sizes = [len(split.train) for _, split in tasks]
    report = partial(progress, f"curve of {name}")
    finished = engine_for(threads).map(run, tasks)
    results = list(protocols.with_progress(finished, sizes, report))
    points = np.array([number for number, _, _ in results]).reshape(-1, n_folds)
    figures = np.array([values for _, values, _ in results]).T
    measures = [*MEASURES, "training_error"] if name == "documents" else MEASURES
    by_fold = {m: v.reshape(-1, n_folds) for m, v in zip(measures, figures, strict=True)}
    mistakes = [learned for _, _, learned in results[-n_folds:]]
    return LearningCurve(name, points.mean(axis=1).round().astype(int), by_fold, mistakes)
