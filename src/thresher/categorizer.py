"""Texts in, categories out: parameters, a trained model, and scikit-learn's protocol."""

from __future__ import annotations

import copy
import logging
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from thresher.documents import Batch
from thresher.errors import NotFittedError, ParameterError, ThresherWarning
from thresher.files import one_writer
from thresher.model.categories import Categories
from thresher.model.compact import CHANGES_ALLOWED, compact
from thresher.model.learn import DOCUMENTS_CHECKED
from thresher.model.model import Model, check_will_be_probable
from thresher.model.parameters import TrainingParameters
from thresher.model.shared import SharedModel, score_labelled, scored_batches
from thresher.model.source import LabelledSource, Progress, Watch, no_progress, open_source
from thresher.model.train import model_for_stream, train
from thresher.parameters import Whole, available_if

if TYPE_CHECKING:
    from thresher.answers.answer import Answer
    from thresher.decisions import Decisions, Form, Tuning
    from thresher.documents import Columns
    from thresher.evaluation import Evaluation
    from thresher.features import Features
    from thresher.learners import Learner
    from thresher.model.explanation import Explanation
    from thresher.model.shared import ScoredBatch, Tested, Values
    from thresher.rows import Rows

log = logging.getLogger("thresher")


class Categorizer(TrainingParameters):
    """Learn categories from labelled text, then decide, rank and explain.

    Documents can be given as a list of texts, a path (or "-" for standard input), the result of
    `read_documents`, or a table (pyarrow, pandas, polars); with `fields`, also as a list of dicts
    of texts by column. Labels are one for each document, a list for each, or a matrix of zeros and
    ones; predictions have the same form, and labels keep their type.

    Any number of threads can read a Categorizer while one of them changes it: each answer is that
    of the model before or after the change. `fit`, `learn` and the other methods that change it
    do so completely or, if they fail or are interrupted, not at all.

    Attributes
    ----------
    timings_ : dict
        Seconds spent in each stage of the last `fit` or `learn`.
    learned_ : Learned
        The result of the last `learn`.
    compacted_ : Compaction
        The result of `compact`.

    Examples
    --------
    >>> texts = ["cheap pills", "lunch today?", "cheap watches", "see you today"]
    >>> categorizer = Categorizer().fit(texts, ["spam", "ham", "spam", "ham"])
    >>> categorizer.predict(["cheap lunch pills"])
    ['spam']
    >>> categorizer.scores(["cheap lunch pills"]).shape
    (1, 2)
    """

    def __post_init__(self) -> None:
        self._shared: SharedModel | None = None
        self.timings_: dict[str, float] = {}

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
            The documents.
        labels : list of labels, list of lists of labels or matrix, optional
            The categories of each text, if `documents` is a list of texts.
        sample_weight : array, optional
            The weight of each document; 1 by default.
        unlabelled : list of str, path, Documents or table, optional
            More documents, for the `concepts` alone; their labels are ignored.
        progress : callable, optional
            Called with the stage, the number of documents and the share that is done.
        watch : callable, optional
            Called some twenty times in each pass with its number and the documents, mistakes and
            decisions since the last call; a document is decided before it is learned.
        """
        parameters = self._parameters()
        parameters.check_parameters()
        source = LabelledSource(documents, labels, None, self.fields, progress, {}, sample_weight)
        model = train(parameters, source, unlabelled, watch)
        self._put(model)
        self.timings_ = source.clock
        for sentence, is_doubtful in model.assumptions:
            log.info(sentence)
            if is_doubtful:
                warnings.warn(sentence, ThresherWarning, stacklevel=2)
        model.log("fitted to", self.timings_)
        return self

    def learn(
        self,
        documents: Any,
        labels: Any = None,
        *,
        about: Sequence[Any] | None = None,
        sample_weight: Any = None,
        check: int | None = DOCUMENTS_CHECKED,
        progress: Progress = no_progress,
    ) -> Self:
        """Learn more documents; new words and new categories may appear.

        The documents are learned among remembered ones, in up to five rounds, until they are
        decided right. `learned_` has the result. If learning is refused or interrupted, the model
        stays as it was.

        Parameters
        ----------
        documents, labels, sample_weight, progress
            As for `fit`.
        about : list of labels, optional
            The categories that the labels are about; whether the documents belong to others is not
            known. With labels [[]] and about ["spam"], a document is not spam, and no more is said.
        check : int or None, default=64
            The number of remembered documents whose decisions are compared before and after; None
            for all.
        """
        shared = self._shared
        if shared is None:
            shared = SharedModel(model_for_stream(self._parameters(), labels))
        columns, fields = shared.model.columns, shared.model.parameters.fields
        source = LabelledSource(documents, labels, columns, fields, progress, {}, sample_weight)
        self.learned_ = shared.learn(source, about=about, check=check, n_jobs=self.n_jobs_)
        if self._shared is not shared:
            self._put(shared.model)
        self.timings_ = source.clock
        self.model_.log("learned on, now from", self.timings_)
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
        """Learn thresholds, and probabilities if asked for, from documents that were not learned.

        `tuning_` has the expected result.

        Parameters
        ----------
        documents, labels, progress
            As for `fit`; documents that were not learned from.
        objective : str or None, default="f1"
            The objective of the thresholds: "f1", "f0.5", "precision=0.95", "recall=0.9",
            "cost=1:5"; None to leave them as they are.
        calibrate : {"sigmoid", "isotonic"} or None, default=None
            The form of the calibration curves; None to leave probabilities as they are.
        **limits
            Other settings of the decisions to change: `at_least`, `at_most`, `allow_none`,
            `abstain_below`; see `Decisions`.

        Examples
        --------
        >>> texts = ["cheap pills", "lunch today?", "cheap watches", "see you today"]
        >>> categorizer = Categorizer().fit(texts, [["spam"], [], ["spam"], []])
        >>> unseen = ["cheap lunch", "cheap offer", "today", "lunch"]
        >>> categorizer = categorizer.tune(unseen, [[], ["spam"], [], []], "recall=1")
        >>> categorizer.decisions_.thresholds.round(2)
        array([0.51])
        """
        self.model_.check_can_learn()
        known = Categories(self.model_.categories)
        source = self._source(documents, labels, progress)
        how: Any = {"allow_none": bool(limits.get("allow_none"))}
        scores, _, truth, names = score_labelled(self.shared_, source, self.n_jobs_, **how)
        with self.shared_.editing() as model:
            model.tune(known, scores, truth, names, objective, calibrate, **limits)
        return self

    def limit(self, **limits: Any) -> Self:
        """Change how many categories a document gets, or when the model abstains.

        Parameters
        ----------
        **limits
            `at_least`, `at_most`, `allow_none`, `abstain_below` or `mode`; see `Decisions`.
        """
        with self.shared_.editing() as model:
            model.decisions = model.decisions.replace(**limits)
        return self

    def forget(self, documents: Any) -> int:
        """Remove documents from the memory, and return how many were there.

        The memory holds counts: a document with the same counts goes too. What was learned from the
        documents stays in the weights; only a `fit` without them removes that.

        Parameters
        ----------
        documents : list of str, path, Documents or table
            The texts that were learned from; labels are ignored.

        Examples
        --------
        >>> texts = ["cheap pills", "lunch today?", "cheap watches", "see you today"]
        >>> categorizer = Categorizer().fit(texts, ["spam", "ham", "spam", "ham"])
        >>> categorizer.forget(["lunch today?", "never seen"]), categorizer.summary()["remembered"]
        (1, 3)
        """
        with self.shared_.editing() as model:
            return model.forget(self._source(documents).batches("forgetting"))

    def compact(
        self,
        documents: Any = None,
        labels: Any = None,
        *,
        allow: float = CHANGES_ALLOWED,
        progress: Progress = no_progress,
    ) -> Self:
        """Make the model smaller; it decides, ranks and explains as before, but learns no more.

        What only learning needs is removed; so are the features with the smallest weights, and half
        of the digits of all weights, as far as the documents are decided as before. `compacted_`
        has the result. Save it under another name: to learn, the whole model is needed.

        Parameters
        ----------
        documents, labels, progress
            As for `evaluate`; labels may be missing. Default: the documents in the memory, scored
            as if they had not been learned; without any, nothing is removed that could change a
            decision.
        allow : float, default=0.005
            The share of the documents whose decisions may change; 0: none.
        """
        with self.shared_.changing() as model:
            source = None if documents is None else self._source(documents, labels, progress)
            self.compacted_ = compact(model, source, allow, self.n_jobs_)
        return self

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
            If documents have one label, that of each, None where the model abstains. If they have
            several, the list of each, the best first; or, after learning from a matrix of zeros and
            ones, such a matrix.
        """
        if SharedModel.reads_at_once(documents):
            with self.shared_.reading() as model:
                return model.predictions(model.labels(documents, self.n_jobs_))
        return self.model_.predictions(self.shared_.labels(self._source(documents), self.n_jobs_))

    def scores(self, documents: Any) -> np.ndarray:
        """Return the score of each document for each category.

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
        return self._columns(documents, lambda model, scores: scores)[1]

    def decision_function(self, documents: Any) -> np.ndarray:
        """Return scores as scikit-learn has them: one number for each document of two classes."""
        labels, scores = self._columns(documents, lambda model, scores: scores)
        if self.decisions_.mode == "single-label" and len(labels) == 2:
            return np.asarray(scores[:, 1] - scores[:, 0])
        return scores

    @available_if("_check_predict_proba")
    def predict_proba(self, documents: Any) -> np.ndarray:
        """Return the probability that each document belongs to each category.

        The method exists if the model has probabilities: learned by `fit` with `calibrate` or by
        `tune`, or those of the learner.

        Parameters
        ----------
        documents
            As for `fit`.

        Returns
        -------
        ndarray of float64, documents by categories
        """
        return self._columns(documents, Model.probabilities)[1]

    def _check_predict_proba(self) -> None:
        """Raise `NoProbabilitiesError` if there will be no probabilities."""
        if self._shared is not None:
            self.model_.check_probable()
        else:
            check_will_be_probable(self)

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Return the probabilities that scores stand for: as learned, or the learner's."""
        return self.model_.probabilities(scores)

    def decide(self, scores: np.ndarray) -> list[list[Any]]:
        """Return the labels that scores lead to, the farthest above its threshold first."""
        return self.model_.labels_of(scores)

    def strengths(self, texts: Any) -> Rows:
        """Return the strengths of the known features in each text."""
        with self.shared_.reading() as model:
            return model.features.apply(model.features.count(texts, n_jobs=self.n_jobs_))

    def predict_table(
        self,
        table: Any,
        *,
        text: str | Sequence[str] | None = None,
        top: int = 0,
        scores: bool = False,
        probabilities: bool = False,
    ) -> Any:
        """Return the answer for each row of a table, as a table of the same kind.

        It has the rows of the table in their order, those without text too, and the index of a data
        frame, so that it can be joined: `frame.join(categorizer.predict_table(frame))`.

        Parameters
        ----------
        table : pandas.DataFrame, pandas.Series, polars.DataFrame, pyarrow.Table or as for `fit`
            The documents.
        text : str or sequence of str, optional
            The columns that hold the text. Default: those that were learned from, if the table has
            them, else as `read_documents` guesses.
        top : int, default=0
            The number of best categories to give, chosen or not: `label_1`, `score_1`, `label_2`...
        scores : bool, default=False
            Give the score of every category: `score:spam`, `score:ham`...
        probabilities : bool, default=False
            Give the probability beside each score: `probability`, `probability_1`,
            `probability:spam`...

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or else pyarrow.Table
            `labels`, as `predict` returns them; `score`, that of the first label; what was asked
            for; and `note`, which is "no text" if there is none.

        Examples
        --------
        >>> import pyarrow as pa
        >>> texts = ["cheap pills", "lunch today?", "cheap watches", "see you today"]
        >>> categorizer = Categorizer().fit(texts, ["spam", "ham", "spam", "ham"])
        >>> table = categorizer.predict_table(pa.table({"text": ["cheap lunch pills", None]}))
        >>> table.column_names, table["labels"][0].as_py(), table["note"].to_pylist()
        (['labels', 'score', 'note'], 'spam', [None, 'no text'])
        """
        from thresher.answers.answer import AnswerOptions, answer_table

        options = AnswerOptions(_checked_top(top), scores, probabilities)
        if probabilities:
            self.model_.check_probable()
        columns: dict[str, Any] = {"labels": False, "text": text, "keep": ()}
        source = open_source(table, False, self.model_.columns, self.fields, **columns)
        return answer_table(self.shared_, self._source(source), options, table, self.n_jobs_)

    def rank(self, documents: Any, top: int | None = None) -> list[list[tuple[Any, float]]]:
        """Return the categories of each document with their scores, the best first.

        Parameters
        ----------
        documents
            As for `fit`.
        top : int, optional
            The number of categories for each document. Default: all.
        """
        from thresher.answers.answer import ranked_labels

        labels, scores = self._columns(documents, lambda model, scores: scores)
        return ranked_labels(scores, labels, _checked_top(top))

    def answers(
        self, documents: Any, top: int = 0, *, scores: bool = False, probabilities: bool = False
    ) -> Iterator[Answer]:
        """Yield an `Answer` for each document, with the fields of JSON results.

        Parameters
        ----------
        documents
            As for `fit`.
        top, scores, probabilities
            As for `predict_table`.
        """
        from thresher.answers.answer import AnswerOptions, map_answers

        options = AnswerOptions(_checked_top(top), scores, probabilities)
        batches = map_answers(list, self.shared_, self._source(documents), options, self.n_jobs_)
        return chain.from_iterable(batches)

    def explain(self, text: Any, category: Any = None) -> Explanation:
        """Return why a document gets a category, or does not.

        Parameters
        ----------
        text : str or dict
            The document; with `fields`, its texts by column.
        category : label, optional
            The category. Default: the one farthest above its threshold.
        """
        with self.shared_.reading() as model:
            return model.explain(text, category)

    def evaluate(
        self, documents: Any, labels: Any = None, *, progress: Progress = no_progress
    ) -> Evaluation:
        """Measure the decisions against the labels of documents.

        Parameters
        ----------
        documents, labels, progress
            As for `fit`; documents that were not learned from.
        """
        return self.tested(documents, labels, progress).evaluate()

    def score(self, documents: Any, labels: Any = None, sample_weight: Any = None) -> float:
        """Return the share of documents that get exactly their categories.

        Parameters
        ----------
        documents, labels
            As for `evaluate`.
        sample_weight : array, optional
            The weight of each document; 1 by default.
        """
        weights: list[np.ndarray] = []
        source = self._source(documents, labels, no_progress, None, sample_weight)
        how: Any = {"watch": lambda s: weights.append(s.batch.weights), "warns": False}
        tested = score_labelled(self.shared_, source, self.n_jobs_, **how)
        return tested.exact_match(None if sample_weight is None else np.concatenate(weights))

    def tested(
        self,
        documents: Any,
        labels: Any = None,
        progress: Progress = no_progress,
        watch: Callable[[ScoredBatch], None] | None = None,
    ) -> Tested:
        """Return the scores and decisions of labelled documents, and their labels.

        The categories are those known at the beginning, followed by others that the documents have.

        `watch` is called with each scored batch.
        """
        source = self._source(documents, labels, progress)
        return score_labelled(self.shared_, source, self.n_jobs_, watch)

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
        source = self._source(documents, labels, progress, clock)
        for scored in scored_batches(self.shared_, source, self.n_jobs_):
            yield scored.batch, scored.scores

    def _columns(self, documents: Any, values: Values) -> tuple[list[Any], np.ndarray]:
        """Return labels and `values(model, scores)` for the categories known at the beginning."""
        if SharedModel.reads_at_once(documents):
            with self.shared_.reading() as model:
                scores = values(model, model.scores(documents, self.n_jobs_))
                return list(model.categories.labels), scores
        return self.shared_.columns(self._source(documents), values, self.n_jobs_)

    def _source(self, documents: Any, labels: Any = None, *options: Any) -> LabelledSource:
        return LabelledSource(documents, labels, self.model_.columns, self.fields, *options)

    # ---- categories --------------------------------------------------------------------------

    def rename_category(self, category: Any, new: Any) -> Self:
        """Give a category another label."""
        with self.shared_.editing() as model:
            model.categories = copy.deepcopy(model.categories)
            model.rename_category(category, new)
        return self

    def delete_category(self, category: Any) -> Self:
        """Remove a category; what the others learned from its documents stays."""
        with self.shared_.changing() as model:
            model.delete_category(category)
        return self

    def merge_categories(self, category: Any, into: Any) -> Self:
        """Merge a category into another one, as far as the learner can without documents.

        Parameters
        ----------
        category, into : label
            The category to remove, and the one that stands for both.
        """
        with self.shared_.changing() as model:
            model.merge_categories(category, into)
        return self

    # ---- files -------------------------------------------------------------------------------

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        remember: bool = True,
        keep_previous: bool = False,
        force: bool = False,
    ) -> None:
        """Write the model to a file; an old model is replaced in one step or not at all.

        Of two processes that save to one file, the last wins; with `updating` no change is lost.

        Parameters
        ----------
        path : path
            The file.
        remember : bool, default=True
            Whether the file contains the memory of documents.
        keep_previous : bool, default=False
            Keep the old file as `path.before-learn`, for `thresher learn --undo`. Otherwise such a
            file is removed, as it is no longer the previous one.
        force : bool, default=False
            Replace an existing file even if it is not a model, but training data, for instance.
        """
        with self.shared_.reading() as model:
            model.save(path, remember=remember, keep_previous=keep_previous, force=force)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        learners: Sequence[type[Learner]] = (),
        mmap: bool = False,
    ) -> Self:
        """Read a model that `save` wrote.

        Parameters
        ----------
        path : path
            The file.
        learners : sequence of learner classes
            Learners of your own that are not registered, if the model may have one.
        mmap : bool, default=False
            Map the file into memory instead of reading it, so that several processes share its
            weights. Replace such a file by renaming another one (as `save` does), never in place.
        """
        return cls._of(Model.load(path, learners=learners, mmap=mmap))

    @classmethod
    @contextmanager
    def updating(
        cls,
        path: str | os.PathLike[str],
        output: str | os.PathLike[str] | None = None,
        *,
        keep_previous: bool = False,
        force: bool = False,
        learners: Sequence[type[Learner]] = (),
        tell: Callable[[str], object] = warnings.warn,
    ) -> Iterator[Self]:
        """Load a model, change it in the block, and save it, while other `updating` calls wait.

        Nothing is saved if an exception ends the block. Readers of the file need not wait.

        Parameters
        ----------
        path : path
            The model file.
        output : path, optional
            The file for the changed model. Default: the same file.
        keep_previous, force, learners
            As for `save`, the first if the model replaces the file; as for `load`.
        tell : callable, optional
            Called with a sentence while another process is waited for. Default: a warning.
        """
        if not os.path.exists(path):
            cls.load(path)  # which raises the error
        with one_writer(output or path, tell) as target:
            is_in_place = str(target) == os.path.realpath(path)
            model = cls.load(path, learners=learners)
            yield model
            model.save(target, keep_previous=keep_previous and is_in_place, force=force)

    @classmethod
    def _of(cls, model: Model) -> Self:
        """Return a Categorizer with the parameters of a model, around it."""
        categorizer = cls(**model.parameters.get_params(deep=False))
        categorizer._put(model)
        return categorizer

    def _put(self, model: Model) -> None:
        if self._shared is None:
            self._shared = SharedModel(model)
        else:
            self._shared.replace(model)

    def _parameters(self) -> TrainingParameters:
        return TrainingParameters(**self.get_params(deep=False))

    # ---- looking inside ----------------------------------------------------------------------

    @property
    def shared_(self) -> SharedModel:
        """The model and its lock; raises `NotFittedError` before anything was learned."""
        if self._shared is None:
            raise NotFittedError(
                "This Categorizer has not learned anything yet: call fit or learn."
            )
        return self._shared

    @property
    def model_(self) -> Model:
        """The model."""
        return self.shared_.model

    @property
    def n_jobs_(self) -> int:
        """The number of threads."""
        return int(self.n_jobs or getattr(self.learner, "n_jobs", None) or 1)

    @property
    def is_fitted(self) -> bool:
        """Whether anything has been learned."""
        return self._shared is not None

    @property
    def classes_(self) -> np.ndarray:
        """The categories in the order of the columns of scores: sorted, later ones after them."""
        return np.array(self.model_.categories.labels)

    @property
    def categories_(self) -> list[str]:
        """The names of the categories, in the order of the columns of scores."""
        return self.model_.categories.names

    @property
    def features_(self) -> Features:
        """The features: from texts to strengths."""
        return self.model_.features

    @property
    def learner_(self) -> Learner:
        """The learner: from strengths to scores."""
        return self.model_.learner

    @property
    def decisions_(self) -> Decisions:
        """The decisions: from scores to categories."""
        return self.model_.decisions

    @property
    def tuning_(self) -> Tuning | None:
        """How the decisions were learned, and the expected result."""
        return self.model_.tuning

    @property
    def assumptions_(self) -> list[str]:
        """What `fit` assumed: columns, one label or several, missing labels."""
        return [str(ThresherWarning(sentence)) for sentence, _ in self.model_.assumptions]

    @property
    def documents_seen_(self) -> int:
        """The number of documents learned from."""
        return self.model_.documents_seen

    @property
    def columns_(self) -> Columns | None:
        """The columns of the table that the documents were read from, if they had any."""
        return self.model_.columns

    @property
    def n_features(self) -> int:
        """The number of known features."""
        return self.model_.features.n_columns

    def strongest(
        self, category: Any, top: int = 10
    ) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
        """Return the features with the largest weights for a category and against it.

        Parameters
        ----------
        category : label
            The category.
        top : int
            The number of features on each side. Default 10.
        """
        from thresher.model.explain import strongest_features

        with self.shared_.reading() as model:
            return strongest_features(model, category, top)

    def rules(self, category: Any) -> list[tuple[str, float]]:
        """Return the rules of a category with their shares, in the order they were learned.

        A rule adds its share to the score if it holds, and subtracts it if not. Only learners such
        as `stump-boosting` have rules.
        """
        from thresher.model.explain import rules_of

        with self.shared_.reading() as model:
            return rules_of(model, category)

    def tree(self, category: Any) -> tuple[Any, dict[int, str]]:
        """Return the tree of a category, and the names of the columns that it tests.

        `thresher.report.tree_text` and `tree_svg` draw it. Only `decision-tree` has trees.
        """
        from thresher.model.explain import tree_of

        with self.shared_.reading() as model:
            return tree_of(model, category)

    def summary(self) -> dict[str, Any]:
        """Return how the model was made and what it has seen, as plain data."""
        with self.shared_.reading() as model:
            return model.summary(self.changed())

    # ---- scikit-learn's protocol -------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self))  # another thread may learn, and so add attributes

    def __copy__(self) -> Self:
        return copy.deepcopy(self)  # what the copy learns must not change this one

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


def _checked_top(top: Any) -> Any:
    if problem := Whole(optional=True).problem(top):
        raise ParameterError(f"top is {top!r}; it must be {problem}.")
    return top
