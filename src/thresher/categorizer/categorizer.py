"""Deciding, ranking, explaining and measuring with what was learned, and keeping it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np

from thresher._rows import Labels, Rows
from thresher.categorizer.learning import Learning, Progress, no_progress
from thresher.categorizer.options import from_plain
from thresher.categorizer.tuning import tune_decisions
from thresher.decisions import Decisions
from thresher.documents import Batch, Columns
from thresher.errors import DocumentError, ModelError, ParameterError
from thresher.evaluation import Evaluation, evaluate
from thresher.explanation import Explanation, explain
from thresher.features import Strength
from thresher.online import LEARNERS
from thresher.storage import read_model, require_field, write_model
from thresher.text import TextCounter

__all__ = ["Categorizer"]

STRAIGHT_THROUGH = 1000  # texts; longer lists are cut into batches


class Categorizer(Learning):
    """Learn categories from labelled text, then decide, rank and explain.

    Wherever documents are asked for, give a list of texts, a path (or "-" for standard input),
    what `read_documents` returns, or a table (pyarrow, pandas).

    Parameters
    ----------
    learner : str or learner
        A name (`LEARNERS` has them) or a learner object. Default "passive-aggressive".
    **options
        All that `Options` describes: what a token is, stop words and stems, strengths, which
        features are kept, how decisions are made, order of learning, threads.

    Attributes
    ----------
    categories_ : list of str
        The categories, in the order of the columns of scores.
    decisions_ : Decisions
        How scores become categories: thresholds, limits, probabilities.
    tuning_ : Tuning or None
        How the decisions were learned, by `fit` with `tune_for` or `calibrate`, or by `tune`, and
        what is to be expected of them.
    timings_ : dict
        Seconds spent in each stage of the last `fit` or `learn`.

    Examples
    --------
    >>> texts = ["cheap pills", "lunch today?", "cheap watches", "see you today"]
    >>> categorizer = Categorizer().fit(texts, ["spam", "ham", "spam", "ham"])
    >>> categorizer.predict(["cheap lunch pills"])
    [['spam']]
    >>> categorizer.scores(["cheap lunch pills"]).shape
    (1, 2)
    """

    # ------------------------------------------------------------------ deciding

    def strengths(self, texts: Sequence[str]) -> Rows:
        """Return the strengths of the known features in each text."""
        return self.strength_.apply(self.counter_.count(texts, grow=False, threads=self.threads))

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
        chosen, names = self.decisions_.decide(scores), self.categories_
        found = []
        for one, margins in zip(chosen, scores - self.decisions_.thresholds, strict=True):
            numbers = np.flatnonzero(one)
            best_first = numbers[np.argsort(-margins[numbers], kind="stable")]
            found.append([names[i] for i in best_first])
        return found

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

    def explain(self, text: str, category: str | None = None) -> Explanation:
        """Say why a document gets a category, or does not.

        Parameters
        ----------
        text : str
            The document.
        category : str, optional
            The category. Default: the one farthest above its threshold.
        """
        self._check_fitted()
        return explain(self, text, category)

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

    # ------------------------------------------------------------------ keeping

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file; an old one is replaced in one step or not at all.

        Parameters
        ----------
        path : path
            The file to write.
        """
        self._check_fitted()
        header: dict[str, Any] = {
            "options": self.to_plain(),
            "categories": self.categories_,
            "documents_seen": self.documents_seen_,
            "columns": self.columns_
            and {
                "text": list(self.columns_.text),
                "labels": self.columns_.labels,
                "separator": self.columns_.separator,
            },
        }
        tensors: dict[str, np.ndarray] = {}
        for name, station in self._stations().items():
            header[name], arrays = station.state()
            tensors |= {f"{name}.{key}": array for key, array in arrays.items()}
        write_model(path, header, tensors)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that `save` wrote.

        Parameters
        ----------
        path : path
            The file to read.
        """
        header, tensors = read_model(path)
        try:
            model = cls(**from_plain(require_field(header, "options", dict)))
            name = header["learner"]["learner"]
            model.learner_ = LEARNERS[name].from_state(*_part("learner", header, tensors))
        except (KeyError, TypeError) as problem:
            raise ModelError(f"{path}: the header lacks or misuses {problem}.") from None
        model.learner = model.learner_
        model.counter_ = TextCounter.from_state(*_part("text", header, tensors))
        model.strength_ = Strength.from_state(*_part("strength", header, tensors))
        model.decisions_ = Decisions.from_state(*_part("decisions", header, tensors))
        model.categories_ = [str(name) for name in require_field(header, "categories", list)]
        model._category_numbers = {name: i for i, name in enumerate(model.categories_)}
        model.documents_seen_ = require_field(header, "documents_seen", int)
        model.timings_ = {}
        model.columns_ = _columns_of(header)
        model._check_consistent(path)
        return model

    def _stations(self) -> dict[str, Any]:
        return {
            "text": self.counter_,
            "strength": self.strength_,
            "learner": self.learner_,
            "decisions": self.decisions_,
        }

    def _check_consistent(self, path: str | os.PathLike[str]) -> None:
        shape = self.learner_.effective_weights().shape
        expected = (self.counter_.n_features, len(self._category_numbers))
        if shape != expected or len(self.categories_) != expected[1]:
            raise ModelError(
                f"{path}: the learner has {shape[0]:,} features and {shape[1]:,} categories, but "
                f"the vocabulary has {expected[0]:,} and there are {len(self.categories_):,} names."
            )

    # ------------------------------------------------------------------ looking inside

    @property
    def n_features(self) -> int:
        """How many features are known."""
        return self.counter_.n_features

    def threshold_of(self, number: int) -> float:
        """Return what the shares of a document must add up to, and more, for a category."""
        own = float(self.learner_.bar)
        return own + float(self.decisions_.thresholds[number])

    def names_of(self, columns: np.ndarray, text: str | None = None) -> list[str]:
        """Return the names of features; hashed ones are named after the words of `text`."""
        if self.hashing_bits is None:
            names = self._feature_names()
            return [names[column] for column in columns]
        found: dict[int, str] = {}
        for start, end, column in self.counter_.spans(text or ""):
            found.setdefault(column, (text or "")[start:end].lower())
        return [found.get(int(column), f"#{column}") for column in columns]

    def _feature_names(self) -> list[str]:
        """Return the names of all features; they are kept, for many explanations in a row."""
        counter, names = getattr(self, "_names", (None, []))
        if counter is not self.counter_ or len(names) != self.n_features:
            names = self.counter_.feature_names()
            self._names = (self.counter_, names)
        return names

    def strongest(
        self, category: str, top: int = 10
    ) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
        """Return the words with the strongest weights for a category and against it.

        Parameters
        ----------
        category : str
            The category.
        top : int
            How many words on each side. Default 10.
        """
        if category not in self._category_numbers:
            raise ParameterError(f"The model has no category {category!r}.")
        weights = self.learner_.effective_weights()[:, self._category_numbers[category]]
        order = np.argsort(-weights, kind="stable")
        sides = (
            [i for i in order[:top] if weights[i] > 0],
            [i for i in order[::-1][:top] if weights[i] < 0],
        )
        for_it, against_it = (
            list(zip(self.names_of(np.array(side)), weights[side].tolist(), strict=True))
            for side in sides
        )
        return for_it, against_it

    def summary(self) -> dict[str, Any]:
        """Return how the model was made and what it has seen, as plain data."""
        return {
            "learner": repr(self.learner_),
            "strength": repr(self.strength_),
            "options": ", ".join(f"{k}={v!r}" for k, v in self.changed().items()) or "all default",
            "decision": self.decisions_.mode,
            "thresholds": self._thresholds_said(),
            "documents_seen": self.documents_seen_,
            "categories": len(self.categories_),
            "features": self.n_features,
            "live_features": int(np.count_nonzero(self.learner_.live_features())),
            "discarded_share": round(self.learner_.discarded_share_, 4),
            "mistakes": [int(one) for one in self.learner_.mistakes_],
        }

    def _thresholds_said(self) -> str:
        low, high = (float(f(self.decisions_.thresholds)) for f in (np.min, np.max))
        return f"{low:.3g}" if low == high else f"from {low:.3g} to {high:.3g}"


def _columns_of(header: dict[str, Any]) -> Columns | None:
    """Return the columns that the documents were read from, if they had any."""
    if header.get("columns") is None:
        return None
    columns = require_field(header, "columns", dict)
    labels, separator = columns.get("labels"), columns.get("separator")
    return Columns(tuple(map(str, require_field(columns, "text", list))), labels, separator)


def _part(
    name: str, header: dict[str, Any], tensors: dict[str, np.ndarray]
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return a station's part of a model file."""
    prefix = f"{name}."
    own = {key.removeprefix(prefix): v for key, v in tensors.items() if key.startswith(prefix)}
    return require_field(header, name, dict), own
