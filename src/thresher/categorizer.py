"""Text in, categories out: the stations put together, and all that can be asked of them."""

from __future__ import annotations

import copy
import logging
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, islice, pairwise
from threading import RLock, get_ident
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np

from thresher.decisions import CALIBRATIONS, Decisions, Form, Objective, Tuning, tune_decisions
from thresher.documents import Batch, Columns
from thresher.engine import engine_for
from thresher.errors import DocumentError, ModelError, NotFittedError, ParameterError, counted
from thresher.evaluation import Evaluation, evaluate
from thresher.features import Concepts, FeatureParameters, Features
from thresher.fields import MARK, as_text
from thresher.files import one_writer
from thresher.learners import Learner, learner_class, make_learner
from thresher.learners.online import AROW
from thresher.limits import MOST_FOLDS
from thresher.model import train
from thresher.model.assumptions import warn_of
from thresher.model.categories import Categories
from thresher.model.compact import ALLOWED, Judges, compact, remembered
from thresher.model.explanation import Explanation, explain, rules_of, strongest, tree_of
from thresher.model.format1 import upgrade
from thresher.model.learn import CHECKED, learn
from thresher.model.lock import ReadWriteLock
from thresher.model.memory import MOST_REMEMBERED, Memory
from thresher.model.second_look import MOST_CANDIDATES, SecondLook
from thresher.model.second_look import Kind as LookKind
from thresher.model.storage import LOOKED_VERSION, read_model, write_model
from thresher.model.train import Progress, R, Reader, Stations, Watch, documents_of, no_progress
from thresher.parameters import AUTO, THREADS, Choice, Flag, Kind, Some, Whole, inherited, parameter
from thresher.rows import Labels, Rows
from thresher.state import part_of, require_field
from thresher.text import TextCounter, TextParameters
from thresher.text.linguistics import LanguageParameters, Linguistics

if TYPE_CHECKING:
    from thresher.model.reader import FrozenReader

__all__ = ["Categorizer"]

log = logging.getLogger("thresher")

Preset = Literal["best", "fast"]
Mode = Literal["auto", "single-label", "multi-label"]

# What "auto" stands for: the best space that we know, or words alone, for a learner given by name
# and for speed. docs/learning.md says how they were chosen.
WORDS: dict[str, Any] = {
    "ngram_range": (1, 1),
    "char_ngram_range": None,
    "min_df": 1,
    "block_weights": {"concepts": 0.5},
}
JOINT: dict[str, Any] = {
    "ngram_range": (1, 2),
    "char_ngram_range": (5, 5),
    "min_df": {"runs": 2, "parts": 3},
    "block_weights": {"runs": 0.9, "parts": 0.6, "concepts": 0.5},
}
STRAIGHT_THROUGH = 1000  # texts; longer lists are cut into batches
FEW = 8  # texts that are read one by one
# Texts after a change of the model before it is frozen, and one more for so many features: what
# that costs must pay.
SETTLED, FOR_EACH = 16, 10_000
LEARNING, DECIDING = "Learning", "Deciding"


def _refused_objective(value: Any) -> str | None:
    try:
        Objective.parse(value)
    except (ParameterError, AttributeError, TypeError):
        return 'an objective such as "f1", "precision=0.95", "recall=0.9" or "cost=1:5"'
    return None


class Categorizer(TextParameters, LanguageParameters, FeatureParameters):
    """Learn categories from labelled text, then decide, rank and explain.

    Wherever documents are asked for, give a list of texts, a path (or "-" for standard input),
    what `read_documents` returns, or a table (pyarrow, pandas); with `fields`, also a list of dicts
    of texts by column. Labels are one for each document, a
    list for each, or a matrix of zeros and ones; they keep their type, whole numbers theirs.

    A model is read by many and changed by one: any number of threads may ask while one lets it
    learn, and each answer is that of the model before or after. What learns, learns wholly or not
    at all.

    Attributes
    ----------
    timings_ : dict
        Seconds spent in each stage of the last `fit` or `learn`.
    learned_ : Learned
        What came of the last `learn`.
    compacted_ : Compaction
        What came of `compact`.

    Examples
    --------
    >>> texts = ["cheap pills", "lunch today?", "cheap watches", "see you today"]
    >>> categorizer = Categorizer().fit(texts, ["spam", "ham", "spam", "ham"])
    >>> categorizer.predict(["cheap lunch pills"])
    ['spam']
    >>> categorizer.scores(["cheap lunch pills"]).shape
    (1, 2)
    """

    learner: Any = parameter(
        default=AUTO,
        kind=Kind(),
        words="""What learns. A name (`LEARNERS` has them), a learner with its own parameters, or
        any classifier of scikit-learn. "auto" is `arow` where documents have one label, and
        `linear-svm` where they have several.""",
        kw_only=False,
    )
    preset: Preset = parameter(
        default="best",
        kind=Choice(get_args(Preset)),
        words="""What "auto" stands for: the best model, or the quickest way to a good one. "best":
        words, pairs of words and parts of words in one space. "fast": words alone. Whatever is
        given otherwise holds; a learner that is given learns from words alone, unless more is.""",
        flag="--preset",
        panel=LEARNING,
    )
    ngram_range: Any = inherited(default=AUTO)
    char_ngram_range: Any = inherited(default=AUTO)
    min_df: Any = inherited(default=AUTO)
    block_weights: Any = inherited(default=AUTO)
    mode: Mode = parameter(
        default="auto",
        kind=Choice(get_args(Mode)),
        words="""
        One category for each document, or any number. "auto" means one, if every training document
        has exactly one; a few without any (5 % at most) are then left out, with a warning.""",
        flag="--mode",
        panel=DECIDING,
    )
    second_look: LookKind | Literal["auto"] | None = parameter(
        default=AUTO,
        kind=Choice((AUTO, None, *get_args(LookKind))),
        words="""Where documents have several labels, look again at the likeliest categories of
        each, beside each other: what place each has, which come together, what the title and the
        strongest words say. "trees" or "linear" is what judges; with None, the learner decides
        alone. It is left out where it promises nothing, by folds. "auto" is "trees" where the
        learner and the preset are left alone, thresholds are learned by folds, and there are 500
        documents or more.""",
        flag="--second-look",
        panel=LEARNING,
    )
    objective: str | None = parameter(
        default="auto",
        kind=Some("str", _refused_objective, optional=True),
        words="""
        Learn thresholds for f1, f0.5, precision=0.95, recall=0.9 or cost=1:5. They come from the
        scores of documents that were left out while learning; with None, all are zero. "auto"
        means f1 if documents may have several labels, else None.""",
        flag="--objective",
        panel=DECIDING,
    )
    tune_folds: Any = parameter(
        default=AUTO,
        kind=Whole(0, MOST_FOLDS),
        words="""Folds by which thresholds and probabilities are learned. With 0, for AROW and the
        linear SVM, they are learned from the scores of the documents less what each has added to
        its own: a little less exact, at no cost. "auto" is 5, and 0 for `preset="fast"`.""",
        flag="--tune-folds",
        panel=DECIDING,
    )
    calibrate: Form | None = parameter(
        default=None,
        kind=Choice((None, *CALIBRATIONS)),
        words="Learn probabilities, as curves of this form, from the scores of left-out documents.",
        flag="--calibrate",
        panel=DECIDING,
    )
    remember: int = parameter(
        default=2000,
        kind=Whole(0, MOST_REMEMBERED),
        words="""Keep so many documents, as counts with labels, to learn on by; 0 for none. They are
        a form of the data: whoever has the model can read which words were in them.""",
        flag="--remember",
        panel=LEARNING,
    )
    shuffle: bool | None = parameter(
        default=None,
        kind=Flag(optional=True),
        words="Learn in random order, or in the order given; None: as the learner does.",
        flag="--shuffle/--in-order",
        panel=LEARNING,
    )
    random_state: int | None = parameter(
        default=None,
        kind=Whole(0, 2**32 - 1, optional=True),
        words="Seed of all that is random; None: the learner's own, or 0.",
        flag="--seed",
        panel=LEARNING,
    )
    n_jobs: int | None = parameter(
        default=None,
        kind=replace(THREADS, optional=True),
        words="Threads, which never change the result; None: the learner's own, or 1.",
        flag="--threads",
        panel=LEARNING,
    )

    def __post_init__(self) -> None:
        self._stations: Stations | None = None
        self.timings_: dict[str, float] = {}
        self._make_locks()

    def _log(self, what: str, clock: dict[str, float]) -> None:
        """Tell who listens to `logging` what was done, and how long each stage took."""
        if log.isEnabledFor(logging.INFO):
            sizes = (
                counted(self.documents_seen_, "document"),
                counted(len(self.classes_), "category"),
                counted(self.n_features, "feature"),
            )
            stages = ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in clock.items())
            log.info("%s %s: %s, %s (%s)", what, *sizes, stages)

    # ---- learning ----------------------------------------------------------------------------

    def fit(
        self,
        documents: Any,
        labels: Any = None,
        *,
        sample_weight: Any = None,
        unlabelled: Any = None,
        progress: Progress = no_progress,
        watch: Watch | None = None,
    ) -> Self:
        """Learn from all documents, and forget what was learned before.

        Documents that are too many for memory are kept as counts in a temporary file.

        Parameters
        ----------
        documents : list of str, path, Documents or table
            What to learn from.
        labels : list of labels, list of lists of labels or matrix, optional
            The categories of each text, when `documents` is a list of texts.
        sample_weight : array, optional
            How much each document counts; 1 by default.
        unlabelled : list of str, path, Documents or table, optional
            More documents, for the `concepts` alone; labels are not looked at.
        progress : callable, optional
            Told the stage, the number of documents and the share that is done.
        watch : callable, optional
            Told, some twenty times in each pass, its number and how many documents were met,
            mistakes made and decisions taken since; a document is decided before it is learned.
        """
        clock: dict[str, float] = {}
        with self._one_learns:
            stations = train.fit(
                self, documents, labels, sample_weight=sample_weight, unlabelled=unlabelled,
                progress=progress, watch=watch, clock=clock,
            )  # fmt: skip
            with self.lock.writing():
                self._stations, self.timings_ = stations, clock
        for one in stations.assumptions:
            log.info(one.sentence)
        self._log("fitted to", clock)
        warn_of(stations.assumptions)
        return self

    def learn(
        self,
        documents: Any,
        labels: Any = None,
        *,
        about: Sequence[Any] | None = None,
        sample_weight: Any = None,
        check: int | None = CHECKED,
        progress: Progress = no_progress,
    ) -> Self:
        """Go on learning: new words and new categories may appear.

        The documents are met among some that are remembered, in up to five rounds, until they are
        decided right. `learned_` says afterwards what came of it. What is refused or interrupted
        leaves the model as it was.

        Parameters
        ----------
        documents, labels, sample_weight, progress
            As for `fit`.
        about : list of labels, optional
            The categories that the labels are about: whether the documents belong to others is
            not known. With labels [[]] and about ["spam"], a document is no spam, and that is all.
        check : int or None, default=64
            Of so many remembered documents, see whether they are decided otherwise than before;
            None for all.
        """
        clock: dict[str, float] = {}
        with self._one_learns:
            self.learned_ = learn(
                self, documents, labels, about=about, sample_weight=sample_weight,
                n_checked=check, progress=progress, clock=clock,
            )  # fmt: skip
            self.timings_ = clock
        self._log("learned on, now from", clock)
        return self

    def tune(
        self,
        documents: Any,
        labels: Any = None,
        objective: str | None = "f1",
        *,
        calibrate: Form | None = None,
        progress: Progress = no_progress,
        **limits: Any,
    ) -> Self:
        """Learn the thresholds anew, and probabilities if asked; what was learned stays.

        `tuning_` says afterwards what is to be expected.

        Parameters
        ----------
        documents, labels, progress
            As for `fit`; documents that were not learned from.
        objective : str or None, default="f1"
            What the thresholds shall achieve: "f1", "f0.5", "precision=0.95", "recall=0.9",
            "cost=1:5"; None to leave them alone.
        calibrate : {"sigmoid", "isotonic"} or None, default=None
            The form of the curves from scores to probabilities; None to leave these alone.
        **limits
            Other settings of the decisions that shall change: `at_least`, `at_most`,
            `allow_none`, `abstain_below`; see `Decisions`.

        Examples
        --------
        >>> texts = ["cheap pills", "lunch today?", "cheap watches", "see you today"]
        >>> categorizer = Categorizer().fit(texts, [["spam"], [], ["spam"], []])
        >>> unseen = ["cheap lunch", "cheap offer", "today", "lunch"]
        >>> categorizer = categorizer.tune(unseen, [[], ["spam"], [], []], "recall=1")
        >>> categorizer.decisions_.thresholds.round(2)
        array([0.51])
        """
        with self._one_learns:
            self.stations.check_whole()
            scores, truth, names = self.scores_and_truth(documents, labels, progress)
            decisions, tuning = tune_decisions(
                self.decisions_, scores, truth, names, objective, calibrate, **limits
            )
            with self.lock.writing():
                self.stations.decisions, self.stations.tuning = decisions, tuning
        return self

    def limit(self, **limits: Any) -> Self:
        """Change how many categories a document gets, or when the model abstains.

        Parameters
        ----------
        **limits
            `at_least`, `at_most`, `allow_none`, `abstain_below` or `mode`; see `Decisions`.
        """
        with self._one_learns, self.lock.writing():
            self.stations.decisions = self.decisions_.replace(**limits)
        return self

    def forget(self, documents: Any) -> int:
        """Let go of what is remembered of documents, and return how many were remembered.

        Remembered are counts: whatever has the same goes too. What was learned from the documents
        stays in the weights; only a `fit` without them takes that away.

        Parameters
        ----------
        documents : list of str, path, Documents or table
            The texts that were learned from; labels are not looked at.

        Examples
        --------
        >>> texts = ["cheap pills", "lunch today?", "cheap watches", "see you today"]
        >>> categorizer = Categorizer().fit(texts, ["spam", "ham", "spam", "ham"])
        >>> categorizer.forget(["lunch today?", "never seen"]), categorizer.summary()["remembered"]
        (1, 3)
        """
        with self._one_learns:
            features, memory = self.stations.features, self.stations.memory
            reader = Reader(documents, None, self.stations.columns, fields=self.fields)
            batches = reader.batches("forgetting")
            if memory is None:
                return 0
            counts = (features.count(batch.texts) for batch in batches)
            places = {place for rows in counts for place in memory.find(rows)}
            with self.lock.writing():
                self.stations.memory, self.stations.sample = memory.without(places), None
        return len(places)

    def compact(
        self,
        documents: Any = None,
        labels: Any = None,
        *,
        allow: float = ALLOWED,
        progress: Progress = no_progress,
    ) -> Self:
        """Make the model smaller; it decides, ranks and explains as before, and learns no more.

        What only learning needs is left out; so are the features with the least weight, and half of
        the digits of all weights, as far as the documents are decided as before. `compacted_` says
        afterwards what that costs. Save it under another name: to learn, the model as it was is
        needed.

        Parameters
        ----------
        documents, labels, progress
            As for `evaluate`; labels may be missing. Default: the documents that the model
            remembers, taken as if it had not learned from them; where there are none, nothing is
            left out that could change a decision.
        allow : float, default=0.005
            The share of the documents that may be decided otherwise; 0: none.

        Examples
        --------
        >>> texts = ["cheap pills", "lunch today?", "cheap watches", "see you today"]
        >>> categorizer = Categorizer().fit(texts, ["spam", "ham", "spam", "ham"])
        >>> small = categorizer.compact(["cheap lunch pills", "see you at lunch"])
        >>> small.compacted_.features_before, small.compacted_.features, small.predict(["pills"])
        (7, 3, ['spam'])
        """
        with self._changing() as stations:
            if documents is None:
                judges = remembered(stations)
            else:
                columns = stations.columns
                reader = Reader(documents, labels, columns, None, None, progress, self.fields)
                judges = self._judges(reader.batches("counting"))
            compacted = compact(stations, judges, allow)
        self.compacted_ = compacted
        return self

    def _judges(self, batches: Iterator[Batch]) -> Judges:
        """Return documents by which decisions are judged, with their labels if they have any."""
        counts, truth = [], []
        known = Categories(self.stations.categories.labels)
        for batch in batches:
            counts.append(self.stations.features.count(batch.texts, n_jobs=self.n_jobs_))
            if batch.labels is not None:
                truth.append(known.encode(batch.labels, grow=True))
        if not counts:
            raise DocumentError("There is nothing to judge by: the source has no documents.")
        labels = Labels.concatenate(truth)._replace(n_categories=len(known)) if truth else None
        return Judges(Rows.concatenate(counts), truth=labels, names=known.names)

    # ---- deciding ----------------------------------------------------------------------------

    def predict(self, documents: Any) -> Any:
        """Return the categories of each document.

        Parameters
        ----------
        documents
            As for `fit`.

        Returns
        -------
        list of labels, list of lists of labels, or array
            Where documents have one label, that of each, None where the model abstains. Where
            they have several, the list of each, the best first; or, after learning from a matrix
            of zeros and ones, such a matrix.
        """
        with self.lock.reading():
            if self.stations.categories.form == "indicator":
                return self.decisions_.decide(self.scores(documents)).astype(np.int64)
            reader = self._frozen_for(documents)
            if reader is None:
                batches = self._batched(documents)
                decided = [one for scores in batches for one in self.decide(scores)]
            else:
                decided = [self._decided(reader, text) for text in documents]
            if self.decisions_.mode == "single-label":
                return [one[0] if one else None for one in decided]
            return decided

    def scores(self, documents: Any) -> np.ndarray:
        """Return how strongly each document speaks for each category.

        A document gets the categories whose scores exceed their thresholds,
        `decisions_.thresholds`: zero, unless others were learned.

        Parameters
        ----------
        documents
            As for `fit`.

        Returns
        -------
        ndarray of float32, documents by categories
        """
        with self.lock.reading():
            parts = list(self._scores(documents))
            return np.concatenate(
                parts or [np.zeros((0, len(self.stations.categories)), np.float32)]
            )

    def decision_function(self, documents: Any) -> np.ndarray:
        """Return scores as scikit-learn has them: one number for each document of two classes."""
        with self.lock.reading():
            scores = self.scores(documents)
            if self.decisions_.mode == "single-label" and scores.shape[1] == 2:
                return np.asarray(scores[:, 1] - scores[:, 0])
            return scores

    def predict_proba(self, documents: Any) -> np.ndarray:
        """Return how probable it is that each document belongs to each category.

        Probabilities must have been learned, by `fit` with `calibrate` or by `tune`, unless the
        learner has its own.

        Parameters
        ----------
        documents
            As for `fit`.

        Returns
        -------
        ndarray of float64, documents by categories

        Examples
        --------
        >>> texts = ["cheap pills", "lunch today?", "cheap watches", "see you today"]
        >>> categorizer = Categorizer(calibrate="sigmoid", tune_folds=2)
        >>> _ = categorizer.fit(texts, ["spam", "ham", "spam", "ham"])
        >>> categorizer.predict_proba(["cheap lunch pills"]).round(2)
        array([[0.18, 0.82]])
        """
        with self.lock.reading():
            return self.probabilities(self.scores(documents))

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Return the probabilities that scores stand for: as learned, else the learner's own."""
        self.check_probable()
        return self.decisions_.probabilities(scores, self.stations.own_probabilities())

    def predict_table(
        self,
        table: Any,
        *,
        text: str | Sequence[str] | None = None,
        top: int = 0,
        scores: bool = False,
        probabilities: bool = False,
    ) -> Any:
        """Return what is decided of each row of a table, as a table of the same kind.

        It has the rows of the table in their order, those without text too, and of a data frame
        the index, so that it can be joined: `frame.join(categorizer.predict_table(frame))`.

        Parameters
        ----------
        table : pandas.DataFrame, pandas.Series, polars.DataFrame, pyarrow.Table or as for `fit`
            The documents.
        text : str or sequence of str, optional
            The columns that hold the text. Default: those that were learned from, where the table
            has them, else as `read_documents` guesses.
        top : int, default=0
            How many of the best categories to give, decided or not: `top_1`, `score_1`, `top_2`...
        scores : bool, default=False
            Give the score of every category: `score:spam`, `score:ham`...
        probabilities : bool, default=False
            Give the probability beside each score: `probability`, `probability_1`,
            `probability:spam`...

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or else pyarrow.Table
            `predicted`, as `predict` has it; `score`, that of the first category predicted; what
            was asked for; and `note`, which is "no text" where there is none.

        Examples
        --------
        >>> import pyarrow as pa
        >>> texts = ["cheap pills", "lunch today?", "cheap watches", "see you today"]
        >>> categorizer = Categorizer().fit(texts, ["spam", "ham", "spam", "ham"])
        >>> table = categorizer.predict_table(pa.table({"text": ["cheap lunch pills", None]}))
        >>> table.column_names, table["predicted"][0].as_py(), table["note"].to_pylist()
        (['predicted', 'score', 'note'], 'spam', [None, 'no text'])
        """
        _check_top(top)
        from thresher.answers.files import Asked, result_frame

        with self.lock.reading():
            if probabilities:
                self.check_probable()
            wanted = {"labels": False, "text": text, "keep": ()}
            documents = documents_of(table, False, self.stations.columns, self.fields, **wanted)
            return result_frame(self, documents, Asked(top, scores, probabilities), table)

    def rank(self, documents: Any, top: int | None = None) -> list[list[tuple[Any, float]]]:
        """Return the categories of each document with their scores, the best first.

        Parameters
        ----------
        documents
            As for `fit`.
        top : int, optional
            How many categories for each document. Default: all.
        """
        _check_top(top)
        with self.lock.reading():
            labels = self.stations.categories.labels
            ranked = []
            for scores in self._scores(documents):
                best = np.argsort(-scores, axis=1, kind="stable")[:, :top]
                for row, order in zip(scores, best.tolist(), strict=True):
                    ranked.append([(labels[i], float(row[i])) for i in order])
            return ranked

    def explain(self, text: Any, category: Any = None) -> Explanation:
        """Say why a document gets a category, or does not.

        Parameters
        ----------
        text : str or dict
            The document; with `fields`, its texts by column.
        category : label, optional
            The category. Default: the one farthest above its threshold.
        """
        with self.lock.reading():
            others = self.stations.columns.text if self.stations.columns else ()
            explanation = explain(self.stations, as_text(text, self.fields, others), category)
            return replace(explanation, text=explanation.text.replace(MARK, "\n"))

    def evaluate(
        self, documents: Any, labels: Any = None, *, progress: Progress = no_progress
    ) -> Evaluation:
        """Measure the decisions against the labels that documents have.

        Parameters
        ----------
        documents, labels, progress
            As for `fit`; documents that were not learned from.
        """
        scores, truth, names = self.scores_and_truth(documents, labels, progress)
        return evaluate(scores, truth, names, decisions=self.decisions_.decide(scores))

    def score(self, documents: Any, labels: Any = None, sample_weight: Any = None) -> float:
        """Return the share of documents that get exactly the categories they have.

        Parameters
        ----------
        documents, labels
            As for `evaluate`.
        sample_weight : array, optional
            How much each document counts; 1 by default.
        """
        scores, truth, _ = self.scores_and_truth(documents, labels)
        decided = self.decisions_.decide(scores)
        wanted = truth.to_dense()
        right = (wanted[:, : decided.shape[1]] == decided).all(axis=1)
        right &= ~wanted[:, decided.shape[1] :].any(axis=1)
        return float(np.average(right, weights=sample_weight))

    def strengths(self, texts: Any, clock: dict[str, float] | None = None) -> Rows:
        """Return the strengths of the known features in each text."""
        features = self.stations.features
        return features.apply(features.count(texts, n_jobs=self.n_jobs_, clock=clock))

    def score_batches(
        self,
        documents: Any,
        labels: Any = None,
        *,
        progress: Progress = no_progress,
        clock: dict[str, float] | None = None,
    ) -> Iterator[tuple[Batch, np.ndarray]]:
        """Yield batches of documents with their scores, so that any number of them streams.

        Parameters
        ----------
        documents, labels, progress
            As for `evaluate`; labels may be missing.
        clock : dict, optional
            Seconds by stage, to which the time taken is added.
        """
        return self.map_batches(
            lambda batch, scores: (batch, scores), documents, labels, progress=progress, clock=clock
        )

    def map_batches(
        self,
        work: Callable[[Batch, np.ndarray], R],
        documents: Any,
        labels: Any = None,
        *,
        progress: Progress = no_progress,
        clock: dict[str, float] | None = None,
    ) -> Iterator[R]:
        """Yield what work makes of each batch of documents and its scores, in their order.

        Parameters
        ----------
        work : callable
            Called by several threads at once, those that score.
        documents, labels, progress, clock
            As for `score_batches`.
        """
        clock = {} if clock is None else clock
        columns = self.stations.columns
        reader = Reader(documents, labels, columns, None, clock, progress, self.fields)
        batches, n_jobs, owner = reader.batches("predicting"), self.n_jobs_, get_ident()

        def score(batch: Batch, n_jobs: int = 1) -> tuple[R, dict[str, float]]:
            own: dict[str, float] = {}
            with self.lock.reading(owner):  # who asks may hold it already, while a writer waits
                stations, features = self.stations, self.stations.features
                with train.timed(own, "count"):
                    rows = features.apply(features.count(batch.texts, n_jobs=n_jobs))
                with train.timed(own, "score"):
                    scores = stations.scores(rows, n_jobs)
                return work(batch, scores), own

        # All threads share the first batch, which may be the only one; of more, each takes its own.
        first = (score(batch, n_jobs) for batch in islice(batches, 1))
        others = engine_for(n_jobs).map(score, batches)
        for result, own in chain(first, others):
            for stage, seconds in own.items():
                clock[stage] = clock.get(stage, 0.0) + seconds
            yield result

    def decide(self, scores: np.ndarray) -> list[list[Any]]:
        """Return the categories that scores lead to, the farthest above its threshold first."""
        labels = self.stations.categories.labels
        numbers, ends = self.decisions_.decide_numbers(scores)
        names = [labels[i] for i in numbers.tolist()]
        return [names[start:end] for start, end in pairwise(ends.tolist())]

    def scores_and_truth(
        self,
        documents: Any,
        labels: Any = None,
        progress: Progress = no_progress,
        see: Callable[[Batch, np.ndarray], None] | None = None,
    ) -> tuple[np.ndarray, Labels, list[str]]:
        """Return the scores of labelled documents, their labels, and the names of these.

        A category that was never learned still counts, after the others: its positives are lost.
        `see` is shown each batch with its scores, while its texts are at hand.
        """
        known = Categories(self.stations.categories.labels)
        all_scores, truth = [], []
        for batch, scores in self.score_batches(documents, labels, progress=progress):
            if batch.labels is None:
                raise DocumentError("The documents have no labels to measure against.")
            truth.append(known.encode(batch.labels, grow=True))
            all_scores.append(scores)
            if see is not None:
                see(batch, scores)
        if not truth:
            raise DocumentError("There is nothing to evaluate: the source has no documents.")
        together = Labels.concatenate(truth)._replace(n_categories=len(known))
        return np.concatenate(all_scores), together, known.names

    def check_probable(self) -> None:
        """Raise unless probabilities have been learned, or the learner has its own."""
        has_own = self.stations.own_probabilities() is not None
        if self.decisions_.calibration is None and not has_own:
            raise ModelError(
                "The model has no probabilities: train it with calibrate='sigmoid' (--calibrate "
                "sigmoid), or learn them from labelled documents with tune and the same option."
            )

    def _scores(self, documents: Any) -> Iterator[np.ndarray]:
        """Yield scores, of a few texts one by one if that is quicker."""
        reader = self._frozen_for(documents)
        if reader is None:
            yield from self._batched(documents)
        else:
            yield reader.scores(documents)

    def _batched(self, documents: Any) -> Iterator[np.ndarray]:
        """Yield scores; a short list of texts goes straight through, as a service wants it."""
        stations = self.stations
        is_short = isinstance(documents, list) and 0 < len(documents) <= STRAIGHT_THROUGH
        if is_short and all(isinstance(one, str) for one in documents):
            yield stations.scores(self.strengths(documents), self.n_jobs_)
            return
        for _, scores in self.score_batches(documents):
            yield scores

    def _frozen_for(self, documents: Any) -> FrozenReader | None:
        """Return what reads a few texts quickest, once the model has stayed as it is for a while.

        To be called, and what it returns to be used, while nobody writes.
        """
        if type(documents) is not list or not 0 < len(documents) <= FEW:
            return None
        if not all([type(one) is str for one in documents]):
            return None
        stations, kept = self.stations, self.lock.kept
        reader = kept.get("reader")
        if reader is not None and reader.is_of(stations):
            return reader  # type: ignore[no-any-return]
        kept["n_read"] = n_read = kept.get("n_read", 0) + len(documents)
        if n_read < SETTLED + stations.features.n_columns // FOR_EACH:
            return None
        from thresher.model.reader import FrozenReader

        if not FrozenReader.supports(stations):
            return None
        kept["reader"] = reader = FrozenReader(stations)
        return reader

    def _decided(self, reader: FrozenReader, text: str) -> list[Any]:
        """Return the categories of a text, the farthest above its threshold first."""
        scores, labels = reader.decide(text, self.decisions_)
        return self.decide(scores[None])[0] if labels is None else labels

    # ---- categories --------------------------------------------------------------------------

    def rename_category(self, category: Any, new: Any) -> Self:
        """Give a category another label.

        Parameters
        ----------
        category, new : label
            The category, and what it is to be called.
        """
        with self._one_learns, self.lock.writing():
            self.stations.categories.rename(category, new)
        return self

    def delete_category(self, category: Any) -> Self:
        """Forget a category; what it was told apart by, the others keep."""
        with self._changing() as stations:
            if len(stations.categories) < 2:
                raise ParameterError(f"{category!r} is the model's only category; it must stay.")
            keep = stations.categories.drop(category)
            stations.learner.drop_categories(keep)
            stations.decisions = stations.decisions.take(keep)
            stations.renumber(np.where(keep, np.cumsum(keep) - 1, -1), keep)
        return self

    def merge_categories(self, category: Any, into: Any) -> Self:
        """Make one category of two, as far as the learner can without seeing documents again.

        Parameters
        ----------
        category, into : label
            The category that goes, and the one that takes its place too.
        """
        with self._changing() as stations:
            stations.check_whole()
            source, target = (stations.categories.number(one) for one in (category, into))
            if source == target:
                raise ParameterError(f"{category!r} cannot be merged with itself.")
            stations.learner.merge_categories(source, target)
            keep = stations.categories.drop(category)
            stations.decisions = stations.decisions.take(keep)
            numbers = np.cumsum(keep) - 1
            numbers[source] = numbers[target]
            stations.renumber(numbers, keep)
        return self

    @contextmanager
    def _changing(self) -> Iterator[Stations]:
        """Give a copy to change, which takes the model's place if nothing goes wrong."""
        with self._one_learns:
            stations = copy.deepcopy(self.stations)
            yield stations
            with self.lock.writing():
                self._stations = stations

    # ---- keeping -----------------------------------------------------------------------------

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        remember: bool = True,
        keep_previous: bool = False,
    ) -> None:
        """Write the model to a file; an old one is replaced in one step or not at all.

        Of two processes that save to one file, the last wins; `updating` lets no change be lost.

        Parameters
        ----------
        path : path
            The file to write.
        remember : bool, default=True
            Whether what is remembered of documents goes into the file.
        keep_previous : bool, default=False
            Keep the file that was there as `path.before-learn`, for `thresher learn --undo`.
            Without, one that was kept is removed, for it is no longer the one before.
        """
        with self.lock.reading():
            stations = self.stations
            header: dict[str, Any] = {
                "parameters": self._plain(),
                "categories": stations.categories.state(),
                "documents_seen": stations.documents_seen,
                "is_mode_open": stations.is_mode_open,
                "late": {str(k): n for k, n in stations.late.items()},
                "columns": _plain_columns(stations.columns),
            }
            if stations.is_compacted:
                header["compacted"] = True
            parts: dict[str, Any] = {
                "features": stations.features,
                "learner": stations.learner,
                "decisions": stations.decisions,
            }
            tensors: dict[str, np.ndarray] = {}
            if remember and stations.memory is not None:
                parts["memory"] = stations.memory
            if stations.second_look is not None:
                parts["second_look"] = stations.second_look
            for name, station in parts.items():
                header[name], arrays = station.state()
                tensors |= {f"{name}.{key}": array for key, array in arrays.items()}
            how: dict[str, Any] = {"keep_previous": keep_previous, "narrow": stations.is_compacted}
            if stations.second_look is not None:
                how["version"] = LOOKED_VERSION
            write_model(path, header, tensors, **how)
        log.info("saved to %s", path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, learners: Sequence[type[Learner]] = ()) -> Self:
        """Read a model that `save` wrote.

        Parameters
        ----------
        path : path
            The file to read.
        learners : sequence of learner classes
            Your own, if the model may be of one of them and it is not registered.
        """
        header, tensors = read_model(path, upgrades={1: upgrade})
        try:
            model = cls._from_parts(header, tensors, learners)
        except ModelError as problem:
            raise ModelError(f"{path}: {problem}") from problem.__cause__
        log.info("loaded %s", path)
        return model

    @classmethod
    @contextmanager
    def updating(
        cls,
        path: str | os.PathLike[str],
        output: str | os.PathLike[str] | None = None,
        *,
        keep_previous: bool = False,
        learners: Sequence[type[Learner]] = (),
        tell: Callable[[str], object] = warnings.warn,
    ) -> Iterator[Self]:
        """Load a model, give it to be changed, and save it, while all others who ask so wait.

        Nothing is saved where an exception ends it. Who only reads the file need not wait.

        Parameters
        ----------
        path : path
            The model file.
        output : path, optional
            Where the changed model goes. Default: the same file.
        keep_previous, learners
            As for `save`, if the model is saved in its place; as for `load`.
        tell : callable, optional
            Gets a sentence when another process is waited for. Default: a warning.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Categorizer().fit(["cheap pills", "lunch"], ["spam", "ham"]).save(f"{folder}/mail")
        ...     with Categorizer.updating(f"{folder}/mail") as model:
        ...         _ = model.learn(["cheap watches"], ["spam"])
        ...     Categorizer.load(f"{folder}/mail").documents_seen_
        3
        """
        if not os.path.exists(path):
            cls.load(path)  # which says so
        with one_writer(output or path, tell) as target:
            is_in_place = str(target) == os.path.realpath(path)
            model = cls.load(path, learners=learners)
            yield model
            model.save(target, keep_previous=keep_previous and is_in_place)

    @classmethod
    def _from_parts(
        cls, header: dict[str, Any], tensors: dict[str, np.ndarray], more: Sequence[type[Learner]]
    ) -> Self:
        own, arrays = part_of("learner", header, tensors)
        kind = learner_class(require_field(own, "learner", str), more)
        features = Features.from_state(*part_of("features", header, tensors))
        decisions = Decisions.from_state(*part_of("decisions", header, tensors))
        categories = Categories.from_state(require_field(header, "categories", dict))
        # Before the learner makes room for so many.
        shape = require_field(own, "n_features", int), require_field(own, "n_categories", int)
        if shape != (features.n_columns, len(categories)) or shape[1] != len(decisions.thresholds):
            raise ModelError(
                f"the learner is for {counted(shape[0], 'feature')} and "
                f"{counted(shape[1], 'category')}; it came with "
                f"{counted(features.n_columns, 'column')}, {counted(len(categories), 'name')} and "
                f"{counted(len(decisions.thresholds), 'threshold')}."
            )
        learner = kind.from_state(own, arrays)
        if (learner.n_features, learner.n_categories) != shape:
            raise ModelError("the learner has other sizes than it says.")
        model = cls.from_plain(require_field(header, "parameters", dict))
        if not is_auto(model.learner):
            model.learner = learner
        model._stations = Stations(
            categories, features, learner, decisions,
            documents_seen=require_field(header, "documents_seen", int, low=0),
            columns=_columns_of(header),
            is_mode_open=require_field(header, "is_mode_open", bool),
            late=_late_of(header, len(categories)),
            is_compacted=require_field({"compacted": False} | header, "compacted", bool)
            or learner.is_compacted,
        )  # fmt: skip
        if "second_look" in header:
            look = part_of("second_look", header, tensors)
            model._stations.second_look = SecondLook.from_state(*look, shape, learner)
        if "memory" in header:
            memory = part_of("memory", header, tensors)
            model._stations.memory = Memory.from_state(*memory, *shape)
        return model

    def _plain(self) -> dict[str, Any]:
        """Return the parameters that make the model what it is, as JSON can hold them.

        The learner is kept by itself; how many threads there are is this machine's business.
        """
        named = self.learner if is_auto(self.learner) else self.stations.learner.name
        plain = self.replace(learner=named).plain_params()
        del plain["n_jobs"]
        return plain

    def __getstate__(self) -> dict[str, Any]:
        with self.lock.reading():  # what another thread learns meanwhile must not show by half
            state = self.__dict__ | {"_stations": copy.deepcopy(self._stations)}
        return {k: v for k, v in state.items() if k not in ("lock", "_one_learns")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_locks()

    def _make_locks(self) -> None:
        self.lock = ReadWriteLock()  # readers beside each other, one who changes alone
        self._one_learns = RLock()  # who changes the model, from the first look to the last

    # ---- looking inside ----------------------------------------------------------------------

    @property
    def stations(self) -> Stations:
        """What the model is made of; raises where it has not learned anything yet."""
        if self._stations is None:
            raise NotFittedError(
                "This Categorizer has not learned anything yet: call fit or learn."
            )
        return self._stations

    @stations.setter
    def stations(self, stations: Stations) -> None:
        self._stations = stations

    @property
    def is_fitted(self) -> bool:
        """Whether it has learned anything."""
        return self._stations is not None

    @property
    def classes_(self) -> np.ndarray:
        """The categories in the order of the columns of scores: sorted, later ones after them."""
        return np.array(self.stations.categories.labels)

    @property
    def categories_(self) -> list[str]:
        """The names of the categories, in the order of the columns of scores."""
        return self.stations.categories.names

    @property
    def features_(self) -> Features:
        """The line from texts to strengths."""
        return self.stations.features

    @property
    def learner_(self) -> Learner:
        """What has learned."""
        return self.stations.learner

    @property
    def decisions_(self) -> Decisions:
        """How scores become categories."""
        return self.stations.decisions

    @property
    def tuning_(self) -> Tuning | None:
        """How the decisions were learned, where they were, and what is to be expected of them."""
        return self.stations.tuning

    @property
    def assumptions_(self) -> list[str]:
        """What `fit` took for granted: columns, one label or several, labels that are missing."""
        return [one.sentence for one in self.stations.assumptions]

    @property
    def documents_seen_(self) -> int:
        """How many documents were learned from."""
        return self.stations.documents_seen

    @property
    def columns_(self) -> Columns | None:
        """The columns of the table that the documents were read from, if they had any."""
        return self.stations.columns

    @property
    def n_features(self) -> int:
        """How many features are known."""
        return self.stations.features.n_columns

    @property
    def n_jobs_(self) -> int:
        """How many threads are used."""
        if self.n_jobs is not None:
            return self.n_jobs
        learner = self.learner if self._stations is None else self._stations.learner
        return int(getattr(learner, "n_jobs", None) or 1)

    @property
    def seed_(self) -> int:
        """The seed of what is random beside the learner's order."""
        if self.random_state is not None:
            return self.random_state
        own = getattr(self.learner, "random_state", None)
        return int(own) if isinstance(own, int | np.integer) else 0

    def settled(self, mode: str | None = None) -> Self:
        """Return an unfitted one, with everything decided that was left to the preset.

        Parameters
        ----------
        mode : {"single-label", "multi-label"}, optional
            Whether documents have one label or several; None before that is known.
        """
        self.check_parameters()
        is_open = is_auto(self.learner)
        values = JOINT if is_open and self.preset == "best" else WORDS
        decided = {name: v for name, v in values.items() if is_auto(getattr(self, name))}
        if is_open and self.preset == "fast":
            decided["learner"] = AROW(max_iter=1)
        elif is_open and mode is not None:
            decided["learner"] = "linear-svm" if mode == "multi-label" else "arow"
        if is_auto(self.second_look) and mode is not None:
            is_best = is_open and self.preset == "best"
            by_folds = self.objective is not None and self.tune_folds != 0
            several = mode == "multi-label"
            decided["second_look"] = "trees" if is_best and by_folds and several else None
        if is_auto(self.tune_folds):
            is_quick = is_open and self.preset == "fast" and self.second_look in (AUTO, None)
            decided["tune_folds"] = 0 if is_quick else 5
        settled = self.replace(**decided)
        if settled.tune_folds == 1:
            raise ParameterError("tune_folds is 1; it must be 0, or 2 and more.")
        if settled.tune_folds == 0 and settled.second_look not in (AUTO, None):
            raise ParameterError(
                "tune_folds is 0, and a second look is learned from the scores of documents that "
                "were left out while learning; give 2 or more, or leave it to be chosen."
            )
        if settled.tune_folds == 0 and not hasattr(settled.new_learner(), "tracking"):
            raise ParameterError(
                f"tune_folds is 0, and {settled.learner!r} does not keep track of what documents "
                "add to their own scores; give 2 or more, or take arow or linear-svm."
            )
        return settled

    def new_counter(self) -> TextCounter:
        """Return the empty station that turns text into counts."""
        own = {name: getattr(self, name) for name in TextParameters.parameters}
        spoken = {name: getattr(self, name) for name in LanguageParameters.parameters}
        linguistics = Linguistics(**spoken)
        return TextCounter(**own, linguistics=linguistics if linguistics.does_something else None)

    def new_learner(self) -> Learner:
        """Return a fresh learner: of the given name, or with the given one's parameters."""
        learner = make_learner("arow" if is_auto(self.learner) else self.learner)
        for name in ("shuffle", "random_state"):  # threads are given with each call
            value = getattr(self, name)
            if value is not None and name in learner.parameters:
                learner.set_params(**{name: value})
            elif value is not None and name == "shuffle":
                raise ParameterError(
                    f"shuffle is {value!r}, but {learner.name} learns from all documents at once, "
                    "in no order; leave it out."
                )
        learner.check_parameters()
        return learner

    def strongest(
        self, category: Any, top: int = 10
    ) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
        """Return the features with the strongest weights for a category and against it.

        Parameters
        ----------
        category : label
            The category.
        top : int
            How many features on each side. Default 10.
        """
        with self.lock.reading():
            return strongest(self.stations, category, top)

    def rules(self, category: Any) -> list[tuple[str, float]]:
        """Return the rules of a category, as they were learned one after the other, with shares.

        A rule adds its share to the score where it holds, and takes it off where it does not.
        Only learners such as `stump-boosting` have any.

        Parameters
        ----------
        category : label
            The category.
        """
        with self.lock.reading():
            if not hasattr(self.learner_, "rules"):
                raise ModelError(
                    f"A model of {self.learner_.name} has weights, not rules: `strongest` has them."
                )
            return rules_of(self.stations, self.stations.categories.number(category))

    def tree(self, category: Any) -> tuple[Any, dict[int, str]]:
        """Return the tree of a category, and what the columns that it asks for are called.

        `thresher.report.tree_text` and `tree_svg` draw it. Only `decision-tree` has any.

        Parameters
        ----------
        category : label
            The category.
        """
        with self.lock.reading():
            if not hasattr(self.learner_, "tree"):
                raise ModelError(
                    f"A model of {self.learner_.name} has no tree; train one with the learner "
                    "decision-tree."
                )
            return tree_of(self.stations, self.stations.categories.number(category))

    def summary(self) -> dict[str, Any]:
        """Return how the model was made and what it has seen, as plain data."""
        with self.lock.reading():
            stations = self.stations
            changed = {
                name: getattr(self, name)
                for name, one in self.parameters.items()
                if name not in ("learner", "n_jobs") and getattr(self, name) != one.value
            }  # threads change nothing
            thresholds = stations.decisions.thresholds
            ends = (thresholds.min(), thresholds.max()) if len(thresholds) else (0.0, 0.0)
            low, high = map(float, ends)
            left_out = {"compacted": "what learning needs is left out"}
            return {
                "learner": repr(stations.learner),
                "strength": repr(stations.features.strength),
                "options": ", ".join(f"{k}={v!r}" for k, v in changed.items()) or "all default",
                "mode": stations.decisions.mode,
                "thresholds": f"{low:.3g}" if low == high else f"from {low:.3g} to {high:.3g}",
                **_about_look(stations.second_look),
                "documents_seen": stations.documents_seen,
                "categories": len(stations.categories),
                "features": self.n_features,
                **_about_concepts(stations.features.concepts),
                **(left_out if stations.is_compacted else {}),
                "remembered": 0 if stations.memory is None else len(stations.memory),
                "memory_bytes": 0 if stations.memory is None else stations.memory.n_bytes,
            } | stations.learner.summary()

    # ---- scikit-learn's protocol -------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return self.is_fitted

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=False),
            classifier_tags=ClassifierTags(multi_label=True),
            input_tags=InputTags(string=True, two_d_array=False),
        )


def _about_concepts(concepts: Concepts | None) -> dict[str, str]:
    if concepts is None:
        return {}
    sizes = " + ".join(map(str, concepts.sizes_))
    return {"concepts": f"{sizes}, which stay as they are when the model learns on; words grow"}


def _about_look(look: SecondLook | None) -> dict[str, str]:
    if look is None:
        return {}
    most = counted(min(MOST_CANDIDATES, look.n_known), "likeliest category")
    return {"second_look": f"by {look.kind}, at the {most} of a document"}


def is_auto(value: Any) -> bool:
    """Tell whether a parameter is left to the preset."""
    return isinstance(value, str) and value == AUTO


def _plain_columns(columns: Columns | None) -> dict[str, Any] | None:
    """Return the columns that the documents were read from, as a model file keeps them."""
    if columns is None:
        return None
    return {"text": list(columns.text), "labels": columns.labels, "separator": columns.separator}


def _late_of(header: dict[str, Any], n_categories: int) -> dict[int, int]:
    """Return how many documents there were of the categories that came after `fit`."""
    late = require_field({"late": {}} | header, "late", dict)
    known = set(map(str, range(n_categories))) if late else set()
    if not (late.keys() <= known and all(map(Whole(0).allows, late.values()))):
        raise ModelError("The model's late categories make no sense; it is damaged.")
    return {int(k): n for k, n in late.items()}


def _columns_of(header: dict[str, Any]) -> Columns | None:
    """Return the columns that the documents were read from, if they had any."""
    if header.get("columns") is None:
        return None
    columns = require_field(header, "columns", dict)
    text = require_field(columns, "text", list)
    labels, separator = (
        None if columns.get(name) is None else require_field(columns, name, str)
        for name in ("labels", "separator")
    )
    if not all(isinstance(one, str) for one in text):
        raise ModelError("The model's columns of text have no names; it is damaged.")
    return Columns(tuple(text), labels, separator)


def _check_top(top: Any) -> None:
    if problem := Whole(optional=True).problem(top):
        raise ParameterError(f"top is {top!r}; it must be {problem}.")
