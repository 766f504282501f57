"""Deciding: from texts to scores, categories, rankings, probabilities and measures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np

from thresher.categorizer.learning import Learning, Progress, no_progress
from thresher.categorizer.tuning import tune_decisions
from thresher.documents import Batch
from thresher.errors import DocumentError, ModelError
from thresher.evaluation import Evaluation, evaluate
from thresher.rows import Labels, Rows

__all__ = ["Deciding"]

STRAIGHT_THROUGH = 1000  # texts; longer lists are cut into batches


class Deciding(Learning):
    """The half of a Categorizer that decides."""

    def strengths(self, texts: Sequence[str]) -> Rows:
        """Return the strengths of the known features in each text."""
        return self.strength_.apply(self.counter_.count(texts, grow=False, n_jobs=self.threads))

    def scores(self, documents: Any) -> np.ndarray:
        """Return how strongly each document speaks for each category.

        A document gets the categories whose scores exceed their thresholds,
        `decisions_.thresholds`: zero, unless others were learned.

        Parameters
        ----------
        documents : list of str, path, Documents or table
            The documents.

        Returns
        -------
        ndarray of float32, documents by categories
        """
        parts = list(self._scores(documents))
        return np.concatenate(parts or [np.zeros((0, len(self.categories_)), np.float32)])

    def score_batches(
        self, documents: Any, *, labels: Any = None, progress: Progress = no_progress
    ) -> Iterator[tuple[Batch, np.ndarray]]:
        """Yield batches of documents with their scores, so that any number of them streams."""
        self._check_fitted()
        self.timings_.clear()
        for batch in self._batches(documents, labels, progress, "predicting"):
            with self._clock("count"):
                rows = self.strengths(batch.texts)
            with self._clock("score"):
                scores = self.learner_.score_rows(rows, threads=self.threads)
            yield batch, scores

    def _scores(self, documents: Any) -> Iterator[np.ndarray]:
        """Yield scores; a short list of texts goes straight through, as a service wants it."""
        is_short = isinstance(documents, list) and 0 < len(documents) <= STRAIGHT_THROUGH
        if is_short and all(isinstance(one, str) for one in documents):
            self._check_fitted()
            yield self.learner_.score_rows(self.strengths(documents), threads=self.threads)
            return
        for _, scores in self.score_batches(documents):
            yield scores

    def decide(self, scores: np.ndarray) -> list[list[str]]:
        """Return the categories that scores lead to, the farthest above its threshold first."""
        documents, numbers = np.nonzero(self.decisions_.decide(scores))
        margins = scores[documents, numbers] - self.decisions_.thresholds[numbers]
        best_first = np.lexsort((-margins, documents))
        names = [self.categories_[i] for i in numbers[best_first].tolist()]
        ends = np.cumsum(np.bincount(documents, minlength=len(scores))).tolist()
        return [names[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    def predict(self, documents: Any) -> list[list[str]]:
        """Return the categories of each document, the best first.

        Parameters
        ----------
        documents : list of str, path, Documents or table
            The documents.
        """
        return [one for scores in self._scores(documents) for one in self.decide(scores)]

    def probabilities(self, documents: Any) -> np.ndarray:
        """Return how probable it is that each document belongs to each category.

        Probabilities must have been learned, by `fit` with `calibrate` or by `tune`.

        Parameters
        ----------
        documents : list of str, path, Documents or table
            The documents.

        Returns
        -------
        ndarray of float64, documents by categories

        Examples
        --------
        >>> from thresher import Categorizer
        >>> texts = ["cheap pills", "lunch today?", "cheap watches", "see you today"]
        >>> categorizer = Categorizer(calibrate="sigmoid", tune_folds=2)
        >>> categorizer.fit(texts, ["spam", "ham", "spam", "ham"])  # doctest: +ELLIPSIS
        Categorizer(...)
        >>> categorizer.probabilities(["cheap lunch pills"]).round(2)
        array([[0.24, 0.76]])
        """
        self.check_probable()
        return self.decisions_.probabilities(self.scores(documents))

    def check_probable(self) -> None:
        """Raise unless probabilities have been learned."""
        self._check_fitted()
        if self.decisions_.calibration is None:
            raise ModelError(
                "The model has no probabilities: train it with calibrate='sigmoid' (--calibrate "
                "sigmoid), or learn them from labelled documents with tune and the same option."
            )

    def rank(self, documents: Any, top: int | None = None) -> list[list[tuple[str, float]]]:
        """Return the categories of each document with their scores, the best first.

        Parameters
        ----------
        documents : list of str, path, Documents or table
            The documents.
        top : int, optional
            How many categories for each document. Default: all.
        """
        ranked = []
        for scores in self._scores(documents):
            for row in scores:
                best = np.argsort(-row, kind="stable")[:top]
                ranked.append([(self.categories_[i], float(row[i])) for i in best])
        return ranked

    def evaluate(
        self, documents: Any, labels: Any = None, *, progress: Progress = no_progress
    ) -> Evaluation:
        """Measure the decisions against the labels that documents have.

        Parameters
        ----------
        documents : list of str, path, Documents or table
            Labelled documents that were not learned from.
        labels : list of str or list of lists of str, optional
            The categories of each text, when `documents` is a list of texts.
        progress : callable, optional
            Told the stage, the number of documents and the share that is done.
        """
        scores, truth, names = self._scores_and_truth(documents, labels, progress)
        decided = self.decisions_.decide(scores)
        return evaluate(scores, truth, categories=names, decisions=decided)

    def tune(
        self,
        documents: Any,
        labels: Any = None,
        objective: str | None = "f1",
        *,
        calibrate: str | None = None,
        progress: Progress = no_progress,
        **limits: Any,
    ) -> Self:
        """Learn the thresholds anew, and probabilities if asked; what was learned stays.

        `tuning_` says afterwards what is to be expected.

        Parameters
        ----------
        documents : list of str, path, Documents or table
            Labelled documents that were not learned from.
        labels : list of str or list of lists of str, optional
            The categories of each text, when `documents` is a list of texts.
        objective : str or None, default="f1"
            What the thresholds shall achieve: "f1", "f0.5", "precision=0.95", "recall=0.9",
            "cost=1:5"; None to leave them alone.
        calibrate : {"sigmoid", "isotonic"} or None, default=None
            The form of the curves from scores to probabilities; None to leave these alone.
        progress : callable, optional
            Told the stage, the number of documents and the share that is done.
        **limits
            Other settings of the decisions that shall change: `at_least`, `at_most`,
            `allow_none`, `abstain_below`; see `Decisions`.

        Examples
        --------
        >>> from thresher import Categorizer
        >>> texts = ["cheap pills", "lunch today?", "cheap watches", "see you today"]
        >>> categorizer = Categorizer().fit(texts, [["spam"], [], ["spam"], []])
        >>> unseen = ["cheap lunch", "cheap offer", "today", "lunch"]
        >>> categorizer.tune(unseen, [[], ["spam"], [], []], "recall=1").decisions_.thresholds
        array([0.47])
        """
        scores, truth, names = self._scores_and_truth(documents, labels, progress)
        self.decisions_, self.tuning_ = tune_decisions(
            self.decisions_, scores, truth, names, objective, calibrate, **limits
        )
        return self

    def _scores_and_truth(
        self, documents: Any, labels: Any, progress: Progress
    ) -> tuple[np.ndarray, Labels, list[str]]:
        """Return the scores of labelled documents, their labels, and the names of these."""
        self._check_fitted()
        known = {name: i for i, name in enumerate(self.categories_)}
        all_scores, truth = [], []
        for batch, scores in self.score_batches(documents, labels=labels, progress=progress):
            if batch.labels is None:
                raise DocumentError("The documents have no labels to measure against.")
            # A category that was never learned still counts: its positives are lost.
            truth += [[known.setdefault(n, len(known)) for n in set(one)] for one in batch.labels]
            all_scores.append(scores)
        if not truth:
            raise DocumentError("There is nothing to evaluate: the source has no documents.")
        return np.concatenate(all_scores), Labels.from_lists(truth, len(known)), list(known)

    def _check_fitted(self) -> None:
        if not hasattr(self, "learner_"):
            raise ModelError("This Categorizer has not learned anything yet: call fit or learn.")
