"""Protocols: how documents are divided into those to learn from and those to be tested on.

Everything is learned from the training documents alone; only the counting is done once for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from time import thread_time
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from thresher.engine import engine_for
from thresher.errors import ParameterError, counted
from thresher.evaluation.folds import Split, hold_out, k_fold, stratified_k_fold
from thresher.evaluation.measures import Evaluation, evaluate
from thresher.evaluation.names import measure_title, read_measure
from thresher.experiments.counted import CountedDocuments, Fitted
from thresher.model.source import Progress, no_progress
from thresher.rows import Labels

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer

__all__ = ["CrossValidation", "cross_validate", "make_splits"]

PROTOCOLS = ("stratified", "k-fold", "hold-out")
MEASURES = ("micro_f1", "macro_f1", "micro_break_even", "macro_break_even", "exact_match")

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """The measures of each fold, and all decisions, as `cross_validate` returns them.

    Examples
    --------
    >>> from thresher import Categorizer
    >>> texts = ["cheap pills", "lunch today?", "cheap watches", "see you today"] * 5
    >>> result = cross_validate(Categorizer(), texts, ["spam", "ham", "spam", "ham"] * 5)
    >>> result.mean("micro_f1"), result.standard_error("micro_f1"), len(result.evaluations)
    (1.0, 0.0, 5)
    """

    evaluations: list[Evaluation]  # of each fold; first the categories met in training
    seconds: list[float]  # of processor time to learn and to score, in each fold
    categories: list[str]  # in the order of `decided` and `truth`
    tested: np.ndarray  # the documents that were tested on, fold after fold
    decided: Labels  # what they were given
    truth: Labels  # what they have

    def figures(self, measure: str) -> np.ndarray:
        """Return a measure of each fold; `read_measure` says how measures are named."""
        return np.array([read_measure(one, measure) for one in self.evaluations])

    def mean(self, measure: str) -> float:
        """Return the mean of a measure over the folds."""
        return float(np.mean(self.figures(measure)))

    def standard_error(self, measure: str) -> float:
        """Return the standard error of that mean; NaN if there is only one fold."""
        return standard_error(self.figures(measure))

    def whole(self) -> Evaluation:
        """Return the measures of all decisions together, without those of a ranking."""
        decided = self.decided.to_dense()
        return evaluate(None, self.truth, self.categories, decisions=decided)

    def to_dict(self) -> dict[str, Any]:
        """Return mean, standard error and the figures of all folds as JSON can say them."""
        return {
            "documents": len(self.tested),
            "folds": len(self.evaluations),
            "seconds": self.seconds,
            "measures": {name: summary(self.figures(name)) for name in MEASURES},
        }

    def __str__(self) -> str:
        lines = [
            f"{counted(len(self.tested), 'document')} tested on in "
            f"{counted(len(self.evaluations), 'fold')}."
        ]
        for name in MEASURES:
            error = self.standard_error(name)
            spread = "" if np.isnan(error) else f" ± {100 * error:.2f}"
            lines.append(f"{measure_title(name):>17} {100 * self.mean(name):6.2f}{spread}")
        return "\n".join(lines)


def cross_validate(
    categorizer: Categorizer,
    documents: Any,
    labels: Any = None,
    *,
    protocol: str = "stratified",
    folds: int = 5,
    share: float = 0.25,
    random_state: int = 0,
    progress: Progress = no_progress,
) -> CrossValidation:
    """Learn from a part of the documents and measure on the rest, for each fold in turn.

    As many folds at a time are worked on as the categorizer has `n_jobs`; the result is the same
    for any number.

    Parameters
    ----------
    categorizer : Categorizer
        Whose parameters are taken; it is left alone.
    documents : list of str, path, Documents, table or CountedDocuments
        Labelled documents. They are read once, and their counts are kept in memory.
    labels : list of str or list of lists of str, optional
        The categories of each text, when `documents` is a list of texts.
    protocol : {"stratified", "k-fold", "hold-out"}, default="stratified"
        Folds with their share of every category, plain folds, or one part that is held out.
    folds : int, default=5
        How many folds.
    share : float, default=0.25
        For "hold-out": which part of the documents is tested on.
    random_state : int, default=0
        Seed of the division; the order of learning has its own in the categorizer.
    progress : callable, optional
        Told the stage, the number of documents and the share that is done.
    """
    counted = count_once(categorizer, documents, labels, progress)
    splits = make_splits(
        counted.labels, protocol, folds=folds, share=share, random_state=random_state
    )
    report = partial(progress, "cross-validating")
    return run_splits(categorizer, counted, splits, categorizer.n_jobs_, report)


class Tested(NamedTuple):
    """What one fold gave."""

    fitted: Fitted
    evaluation: Evaluation
    seconds: float
    decided: Labels  # in the numbering of the counted documents


def run_split(categorizer: Categorizer, counted: CountedDocuments, split: Split) -> Tested:
    """Learn from the one part of a split and measure on the other."""
    began = thread_time()
    fitted = counted.fit(categorizer, split.train)
    scores = fitted.score(counted, split.test)
    decided = fitted.model.decisions.decide(scores)
    seconds = thread_time() - began
    truth, names = fitted.truth(counted, split.test)
    evaluation = evaluate(scores, truth, names, decisions=decided)
    rows, columns = np.nonzero(decided)
    indptr = np.searchsorted(rows, np.arange(len(decided) + 1))
    numbers = np.flatnonzero(fitted.present)[columns].astype(np.int32)
    return Tested(fitted, evaluation, seconds, Labels(indptr, numbers, len(counted.categories)))


def run_splits(
    categorizer: Categorizer,
    counted: CountedDocuments,
    splits: Sequence[Split],
    threads: int,
    report: Callable[[int, float], None],
) -> CrossValidation:
    """Work on all splits, several at a time, and put the folds together."""
    alone = categorizer.replace(n_jobs=1)
    tested = engine_for(threads).map(partial(run_split, alone, counted), splits)
    parts = list(with_progress(tested, [len(split.train) for split in splits], report))
    documents = np.concatenate([split.test for split in splits])
    return CrossValidation(
        evaluations=[part.evaluation for part in parts],
        seconds=[part.seconds for part in parts],
        categories=counted.categories,
        tested=documents,
        decided=Labels.concatenate([part.decided for part in parts]),
        truth=counted.labels.take(documents),
    )


# What the protocols share ------------------------------------------------------------------------


def make_splits(
    labels: Labels,
    protocol: str = "stratified",
    *,
    folds: int = 5,
    share: float = 0.25,
    random_state: int = 0,
) -> list[Split]:
    """Divide documents as a protocol wants it; see `cross_validate`."""
    if protocol == "stratified":
        return stratified_k_fold(labels, folds, random_state=random_state)
    if protocol == "k-fold":
        return k_fold(labels.n_rows, folds, random_state=random_state)
    if protocol == "hold-out":
        return hold_out(labels, share, random_state=random_state)
    raise ParameterError(f"The protocol is {protocol!r}; it must be one of {PROTOCOLS}.")


def count_once(
    categorizer: Categorizer, documents: Any, labels: Any, progress: Progress
) -> CountedDocuments:
    """Return the counts of documents, unless they are counts already."""
    if isinstance(documents, CountedDocuments):
        return documents
    return CountedDocuments.read(categorizer, documents, labels, progress=progress)


def with_progress(
    results: Iterable[Result], sizes: Sequence[int], report: Callable[[int, float], None]
) -> Iterator[Result]:
    """Pass results on, reporting how many documents have been learned from."""
    done, total = 0, max(1, sum(sizes))
    for size, result in zip(sizes, results, strict=True):
        done += size
        report(done, done / total)
        yield result


def standard_error(figures: np.ndarray) -> float:
    """Return the standard error of the mean of some figures; NaN for only one."""
    return float(np.std(figures, ddof=1) / np.sqrt(len(figures))) if len(figures) > 1 else np.nan


def summary(figures: np.ndarray) -> dict[str, Any]:
    """Return mean, standard error and the figures themselves as JSON can say them."""
    error = standard_error(figures)
    return {
        "mean": float(np.mean(figures)),
        "standard_error": None if np.isnan(error) else error,
        "figures": figures.tolist(),
    }
