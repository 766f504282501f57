"""Cross-validation and hold-out tests.

Models are trained on the training documents only; documents are counted once for all splits.
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
from thresher.examples import Examples, Spool
from thresher.model import train
from thresher.model.categories import Categories
from thresher.model.model import Model
from thresher.model.source import LabelledSource, Progress, no_progress
from thresher.rows import Labels

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer
    from thresher.features import Features

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

    evaluations: list[Evaluation]  # of each fold; the categories of the training documents first
    seconds: list[float]  # the processor time of training and testing, in each fold
    categories: list[str]  # in the order of `decided` and `truth`
    tested: np.ndarray  # the numbers of the test documents, fold after fold
    decided: Labels  # the decisions for them
    truth: Labels  # their labels

    def figures(self, measure: str) -> np.ndarray:
        """Return a measure of each fold, given its name as for `read_measure`."""
        return np.array([read_measure(evaluation, measure) for evaluation in self.evaluations])

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
        """Return the mean, standard error and values of each measure as plain data, for JSON."""
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
    """Train on some of the documents and test on the others, for each fold in turn.

    `n_jobs` of the categorizer is the number of folds processed at a time; the result does not
    depend on it.

    Parameters
    ----------
    categorizer : Categorizer
        A categorizer, whose parameters are used; it is not changed.
    documents : list of str, path, Documents, table or CountedDocuments
        Labelled documents. They are read once, and their counts stay in memory.
    labels : list of str or list of lists of str, optional
        The categories of each text, when `documents` is a list of texts.
    protocol : {"stratified", "k-fold", "hold-out"}, default="stratified"
        Folds with the same share of every category, random folds, or a single split.
    folds : int, default=5
        The number of folds.
    share : float, default=0.25
        For "hold-out": the share of test documents.
    random_state : int, default=0
        The seed of the splits. The order of training has its own seed in the categorizer.
    progress : callable, optional
        Called with the stage, the number of documents and the share of the work that is done.
    """
    counted = CountedDocuments.read(categorizer, documents, labels, progress)
    splits = make_splits(counted.labels, protocol, folds, random_state, share)
    report = partial(progress, "cross-validating")
    return run_splits(categorizer, counted, splits, categorizer.n_jobs_, report)


class Tested(NamedTuple):
    """The results of a fold."""

    fitted: Fitted
    evaluation: Evaluation
    seconds: float
    decided: Labels  # with the category numbers of the counted documents


def run_split(categorizer: Categorizer, counted: CountedDocuments, split: Split) -> Tested:
    """Train and test a categorizer on a split."""
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
    """Run all splits, several at a time, and return their results together."""
    alone = categorizer.replace(n_jobs=1)
    tested = engine_for(threads).map(partial(run_split, alone, counted), splits)
    results = list(with_progress(tested, [len(split.train) for split in splits], report))
    documents = np.concatenate([split.test for split in splits])
    truth = counted.labels.take(documents)
    _, evaluations, seconds, decisions = map(list, zip(*results, strict=True))
    decided = Labels.concatenate(decisions)
    return CrossValidation(evaluations, seconds, counted.categories, documents, decided, truth)


# Documents that are counted once --------------------------------------------------------------


class CountedDocuments(NamedTuple):
    """Counts and labels of documents, to train on some and test on others.

    Only the counting is shared. The vocabulary, document frequencies and selected features are
    those of the training documents, so that nothing leaks from the test documents: the result is
    that of `Categorizer.fit` on the texts.
    """

    counts: Examples
    features: Features  # those that counted them
    labels: Labels
    categories: list[str]  # sorted by label

    @classmethod
    def read(
        cls,
        categorizer: Categorizer,
        documents: Any,
        labels: Any = None,
        progress: Progress = no_progress,
    ) -> CountedDocuments:
        """Count documents as `categorizer.fit` would, unless they are counted already."""
        if isinstance(documents, cls):
            return documents
        source = LabelledSource(documents, labels, None, categorizer.fields, progress)
        model, spool = train.new_model(categorizer, source.form), Spool(memory_limit=2**62)
        train.count_documents(model, source, spool, categorizer.n_jobs_)
        if (present := train.labelled(categorizer.mode, source, spool.labels())) is not None:
            spool.keep(present)
        source.warn_of_blank_labels()
        return cls(Examples(spool), model.features, spool.labels(), model.categories.names)

    def __len__(self) -> int:
        return len(self.counts)

    def fit(self, categorizer: Categorizer, chosen: np.ndarray) -> Fitted:
        """Return a model with the parameters of `categorizer`, trained on the chosen documents."""
        labels = self.labels.take(chosen)
        present = np.bincount(labels.indices, minlength=len(self.categories)) > 0
        numbers = np.cumsum(present, dtype=np.int32) - 1
        known = labels._replace(
            indices=numbers[labels.indices], n_categories=int(np.count_nonzero(present))
        )
        parameters = categorizer.resolved().replace(remember=0)
        training = self.counts.take(chosen).relabelled(known)
        learner = parameters.new_learner()
        features = train.fold_features(parameters, self.features, learner, training)
        names = [name for name, is_in in zip(self.categories, present, strict=True) if is_in]
        model = train.train_on_counts(parameters, features, training, Categories(names))
        return Fitted(model, present)


class Fitted(NamedTuple):
    """A model trained on some of the counted documents."""

    model: Model
    present: np.ndarray  # of bool: which categories these documents have

    def score(self, documents: CountedDocuments, chosen: np.ndarray) -> np.ndarray:
        """Return the scores of some of the documents for the categories of the model."""
        features = self.model.features
        blocks = documents.counts.take(chosen)
        counts = (features.with_concepts(rows) for rows, _ in blocks)
        return np.concatenate([self.model.score_rows(features.apply(rows)) for rows in counts])

    def truth(self, documents: CountedDocuments, chosen: np.ndarray) -> tuple[Labels, list[str]]:
        """Return the labels of documents and the names of the categories, the model's first."""
        order = np.argsort(~self.present, kind="stable")
        numbers = np.argsort(order).astype(np.int32)
        labels = documents.labels.take(chosen)
        names = [documents.categories[i] for i in order]
        return labels._replace(indices=numbers[labels.indices]), names


# Shared helpers --------------------------------------------------------------------------------


def make_splits(
    labels: Labels, protocol: str, folds: int, random_state: int, share: float = 0.25
) -> list[Split]:
    """Return the splits of a protocol; see `cross_validate`."""
    if protocol == "stratified":
        return stratified_k_fold(labels, folds, random_state=random_state)
    if protocol == "k-fold":
        return k_fold(labels.n_rows, folds, random_state=random_state)
    if protocol == "hold-out":
        return hold_out(labels, share, random_state=random_state)
    raise ParameterError(f"The protocol is {protocol!r}; it must be one of {PROTOCOLS}.")


def with_progress(
    results: Iterable[Result], sizes: Sequence[int], report: Callable[[int, float], None]
) -> Iterator[Result]:
    """Yield the results, and report the number of documents learned so far."""
    done, total = 0, max(1, sum(sizes))
    for size, result in zip(sizes, results, strict=True):
        done += size
        report(done, done / total)
        yield result


def standard_error(figures: np.ndarray) -> float:
    """Return the standard error of the mean; NaN for a single value."""
    return float(np.std(figures, ddof=1) / np.sqrt(len(figures))) if len(figures) > 1 else np.nan


def summary(figures: np.ndarray) -> dict[str, Any]:
    """Return the mean, the standard error and the values as plain data, for JSON."""
    error = standard_error(figures)
    return {
        "mean": float(np.mean(figures)),
        "standard_error": None if np.isnan(error) else error,
        "figures": figures.tolist(),
    }
