"""A trained model: what training produces, what is saved, and what reads texts."""

from __future__ import annotations

import copy
import logging
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from thresher.decisions import Decisions, Tuning, tune_decisions
from thresher.documents import Batch, Columns
from thresher.errors import ModelError, NoProbabilitiesError, ParameterError, counted, param
from thresher.features import Features
from thresher.fields import as_text
from thresher.learners import Learner
from thresher.learners.capabilities import Probabilistic
from thresher.model.categories import Categories
from thresher.model.memory import Digests, Memory, Sample, text_digests
from thresher.model.second_look import MOST_CANDIDATES, SecondLook
from thresher.rows import Labels, Rows

if TYPE_CHECKING:
    from thresher.model.explanation import Explanation
    from thresher.model.learn import Learned
    from thresher.model.parameters import TrainingParameters
    from thresher.model.single import SingleTextReader
    from thresher.model.source import LabelledSource

NO_PROBABILITIES = (
    f"The model has no probabilities: train it with {param('calibrate', 'sigmoid')}, or "
    "learn them from labelled documents with tune and the same option."
)

log = logging.getLogger("thresher")

TEXTS_READ_SINGLY = 8  # longer lists are read as one batch
# The compiled reader is built once so many texts have been read since the last change, and one more
# for so many features: its cost has to pay.
TEXTS_BEFORE_READER, FEATURES_PER_TEXT = 16, 10_000


class Assumption(NamedTuple):
    """Something that training assumed, in a sentence that says how to correct it."""

    sentence: str
    is_doubtful: bool = False  # whether it may well be wrong, so that Python warns of it


class Reading(NamedTuple):
    """Texts that have been counted and scored once."""

    model: Model
    texts: Sequence[str]
    strengths: Rows
    scores: np.ndarray  # (documents, categories), after the second look

    def labels(self) -> list[list[Any]]:
        """Return the labels of each text, those farthest above their thresholds first."""
        return self.model.labels_of(self.scores)

    def probabilities(self) -> np.ndarray:
        """Return the probability of each category for each text."""
        return self.model.probabilities(self.scores)

    def explanation(self, number: int = 0, category: Any = None) -> Explanation:
        """Return the explanation of a decision, by default of the best category."""
        from thresher.model.explain import explain

        return explain(self, number, category)


@dataclass(eq=False)
class Model:
    """A text categorizer that has been trained, or is ready to be.

    Reading (`read`, `scores`, `labels`, `explain`, ...) changes nothing, so that any number of
    threads can read. The methods that change a model must be called by one thread while no other
    uses it; `SharedModel` takes care of that.

    Attributes
    ----------
    parameters : TrainingParameters
        The parameters with which it was trained.
    categories : Categories
        Numbers the labels.
    features : Features
        Texts to strengths.
    learner : Learner
        Strengths to scores.
    decisions : Decisions
        Scores to categories and probabilities.
    second_look : SecondLook or None
        Scores the best categories again, jointly.
    tuning : Tuning or None
        How the decisions were learned.
    memory : Memory or None
        The documents kept for learning on.
    digests : Digests or None
        By which documents that were learned are recognized.
    documents_seen : int
        The number of documents learned from.
    columns : Columns or None
        The columns of the table that the documents were read from.
    late : dict
        The number of documents of each category that came after training.
    is_mode_open : bool
        Whether it may still turn out that documents have several labels.
    is_compacted : bool
        Whether it lacks what learning needs.
    assumptions : list of Assumption
        What was assumed of the training documents.
    sample : Sample or None
        Remembered documents and how they were decided after the last `learn`.
    has_private_arrays : bool
        Whether arrays may be changed in place: not those of a file that is mapped into memory, or
        of a pickled model, which may be read-only and shared by processes.
    """

    parameters: TrainingParameters
    categories: Categories
    features: Features
    learner: Learner
    decisions: Decisions
    second_look: SecondLook | None = None
    tuning: Tuning | None = None
    memory: Memory | None = None
    digests: Digests | None = None
    documents_seen: int = 0
    columns: Columns | None = None
    late: dict[int, int] = field(default_factory=dict)
    is_mode_open: bool = False
    is_compacted: bool = False
    assumptions: list[Assumption] = field(default_factory=list)
    sample: Sample | None = None
    has_private_arrays: bool = field(default=True, init=False, repr=False)
    _reader: SingleTextReader | None = field(default=None, init=False, repr=False)
    _n_read_singly: int = field(default=0, init=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"sample": None, "_reader": None, "_n_read_singly": 0}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickled model, whose arrays may be read-only and shared by processes."""
        self.__dict__ = state | {"has_private_arrays": False}
        # Kernels that look words up also add words, so that they need writable arrays.
        self.features.counter = copy.deepcopy(self.features.counter)

    def __copy__(self) -> Self:
        copied = object.__new__(type(self))
        copied.__dict__ = self.__getstate__()
        return copied

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        copied = object.__new__(type(self))
        copied.__dict__ = copy.deepcopy(self.__getstate__()) | {"has_private_arrays": True}
        return copied

    # ---- reading -----------------------------------------------------------------------------

    def read(self, texts: Any, n_jobs: int = 1) -> Reading:
        """Count and score texts once, for everything that can be asked about them.

        Parameters
        ----------
        texts : list of str or Arrow array of strings
            The texts.
        n_jobs : int, default=1
            Threads, which never change the result.
        """
        strengths = self.features.apply(self.features.count(texts, n_jobs=n_jobs))
        return Reading(self, texts, strengths, self.score_rows(strengths, n_jobs))

    def score_rows(self, strengths: Rows, n_jobs: int = 1) -> np.ndarray:
        """Return the scores of documents, given their strengths."""
        scores = self.learner.score_rows(strengths, n_jobs)
        if self.second_look is None:
            return scores
        return self.second_look.apply(scores, strengths, self.learner, n_jobs)

    def scores(self, texts: Any, n_jobs: int = 1) -> np.ndarray:
        """Return the scores of texts: float32, documents by categories."""
        reader = self.single_reader(texts) if len(texts) <= TEXTS_READ_SINGLY else None
        return self.read(texts, n_jobs).scores if reader is None else reader.scores(texts)

    def labels(self, texts: Any, n_jobs: int = 1) -> list[list[Any]]:
        """Return the labels of each text, those farthest above their thresholds first."""
        reader = self.single_reader(texts) if len(texts) <= TEXTS_READ_SINGLY else None
        if reader is None:
            return self.labels_of(self.read(texts, n_jobs).scores)
        return [reader.labels(text, self) for text in texts]

    def labels_of(self, scores: np.ndarray) -> list[list[Any]]:
        """Return the labels that scores lead to."""
        labels = self.categories.labels
        numbers, ends = self.decisions.decide_numbers(scores)
        chosen = [labels[i] for i in numbers.tolist()]
        return [chosen[start:end] for start, end in pairwise(ends.tolist())]

    def predictions(self, labels: list[list[Any]]) -> Any:
        """Return labels in the form of `Categorizer.predict`."""
        if self.categories.form == "indicator":
            return self.categories.encode(labels).to_dense().astype(np.int64)
        if self.decisions.mode == "single-label":
            return [chosen[0] if chosen else None for chosen in labels]
        return labels

    def single_reader(self, texts: Any) -> SingleTextReader | None:
        """Return the compiled reader for a few texts, if it has been worth building.

        It reads one text in a single compiled call. It is built when the model has not changed for
        some texts, and thrown away when the model changes.
        """
        if type(texts) is not list or set(map(type, texts)) != {str}:
            return None
        if self._reader is None:
            self._n_read_singly += len(texts)
            n_needed = TEXTS_BEFORE_READER + self.features.n_columns // FEATURES_PER_TEXT
            if self._n_read_singly < n_needed:
                return None
            from thresher.model.single import CompiledCounter, SingleTextReader

            if not CompiledCounter.supports(self.features.counter):
                return None
            self._reader = SingleTextReader(self)
        return self._reader

    def forget_reader(self) -> None:
        """Throw the compiled reader away, because the model has changed."""
        self._reader, self._n_read_singly = None, 0

    @property
    def has_probabilities(self) -> bool:
        """Whether probabilities were learned, or the learner has its own."""
        return self.decisions.calibration is not None or self.learner_probabilities() is not None

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Return the probabilities that scores stand for."""
        self.check_probable()
        return self.decisions.probabilities(scores, self.learner_probabilities())

    def learner_probabilities(self) -> Callable[[np.ndarray], np.ndarray] | None:
        """Return the function from scores to probabilities of a learner that has one."""
        probabilities, look = learner_probabilities(self.learner), self.second_look
        return probabilities if probabilities is None or look is None else look.probabilities

    def check_probable(self) -> None:
        """Raise `NoProbabilitiesError` if there are no probabilities."""
        if not self.has_probabilities:
            raise NoProbabilitiesError(NO_PROBABILITIES)

    def explain(self, document: Any, category: Any = None) -> Explanation:
        """Return why a document gets a category, or does not; see `Categorizer.explain`."""
        others = self.columns.text if self.columns else ()
        text = as_text(document, self.parameters.fields, others)
        return self.read([text]).explanation(0, category)

    # ---- changing ----------------------------------------------------------------------------

    def check_can_learn(self) -> None:
        """Raise `ModelError` if what learning needs is left out."""
        if self.is_compacted:
            raise ModelError(
                "The model was compacted: what learning needs is left out. Learn with the model "
                "that it was made from, and compact that again."
            )

    def learn(self, source: LabelledSource, **options: Any) -> Learned:
        """Learn documents, completely or not at all, and return the result; see `Update`."""
        from thresher.model.learn import Update

        update = Update(self, source, **options)
        if update.can_be_undone:
            return update.apply(self)
        changed = copy.deepcopy(self)
        learned = update.apply(changed)
        self.__dict__ = changed.__dict__
        return learned

    def tune(
        self,
        known: Categories,
        scores: np.ndarray,
        labels: Labels,
        names: list[str],
        objective: str | None = "f1",
        calibration: str | None = None,
        **limits: Any,
    ) -> None:
        """Learn thresholds and probabilities from scores.

        Parameters
        ----------
        known : Categories
            The categories of the scores. Others, which were learned since, keep their thresholds.
        scores, labels, names, objective, calibration, **limits
            As for `tune_decisions`.
        """
        columns, n_categories = self.categories.columns_for(known), len(self.categories)
        old = self.decisions.take(columns)
        tuned, self.tuning = tune_decisions(
            old, scores, labels, names, objective, calibration, **limits
        )
        is_new = np.ones(n_categories, bool)
        is_new[columns] = False
        numbers = np.empty(n_categories, np.int64)
        numbers[columns] = np.arange(len(known))
        numbers[is_new] = np.arange(len(known), n_categories)
        thresholds = self.decisions.thresholds
        self.decisions = tuned.grow(n_categories).take(numbers)
        self.decisions.thresholds[is_new] = thresholds[is_new]

    def forget(self, batches: Iterable[Batch]) -> int:
        """Remove documents from the memory, and return how many were there."""
        if self.memory is None:
            return 0
        positions, digests = set(), set()
        for batch in batches:
            positions.update(self.memory.find(self.features.count(batch.texts)))
            digests.update(text_digests(batch.texts).tolist())
        self.memory, self.sample = self.memory.without(positions), None
        self.digests = self.digests and self.digests.without(digests)
        return len(positions)

    def rename_category(self, category: Any, new: Any) -> None:
        """Give a category another label."""
        self.categories.rename(category, new)
        self.forget_reader()

    def delete_category(self, category: Any) -> None:
        """Remove a category; what the others learned from its documents stays."""
        if len(self.categories) < 2:
            raise ParameterError(f"{category!r} is the model's only category; it must stay.")
        keep = self.categories.drop(category)
        self.learner.drop_categories(keep)
        self._renumber_categories(np.where(keep, np.cumsum(keep) - 1, -1), keep)

    def merge_categories(self, category: Any, into: Any) -> None:
        """Merge a category into another one, as far as the learner can without documents."""
        self.check_can_learn()
        source, target = (self.categories.number(label) for label in (category, into))
        if source == target:
            raise ParameterError(f"{category!r} cannot be merged with itself.")
        self.learner.merge_categories(source, target)
        keep = self.categories.drop(category)
        numbers = np.cumsum(keep) - 1
        numbers[source] = numbers[target]
        self._renumber_categories(numbers, keep)

    def _renumber_categories(self, numbers: np.ndarray, keep: np.ndarray) -> None:
        """Renumber the categories in all components.

        Parameters
        ----------
        numbers : array of int
            The new number of each category; -1 for a removed one, whose documents are forgotten.
        keep : array of bool
            Which categories remain under their own label.
        """
        self.decisions = self.decisions.take(keep)
        if self.second_look is not None:
            self.second_look = self.second_look.renumbered(numbers, keep)
        if self.memory is not None:
            documents = enumerate(document.labels for document in self.memory.documents)
            removed = [i for i, labels in documents if (numbers[labels] < 0).any()]
            self.memory = self.memory.without(removed).renumbered(numbers)
        self.late = {int(numbers[k]): n for k, n in self.late.items() if numbers[k] >= 0}
        self.forget_reader()

    # ---- inspecting --------------------------------------------------------------------------

    def summary(self, options: str = "") -> dict[str, Any]:
        """Return how the model was made and what it has seen, as plain data."""
        thresholds, features, memory = self.decisions.thresholds, self.features, self.memory
        ends = (thresholds.min(), thresholds.max()) if len(thresholds) else (0.0, 0.0)
        low, high = map(float, ends)
        summary: dict[str, Any] = {
            "learner": repr(self.learner),
            "strength": repr(features.strength),
            "options": options,
            "mode": self.decisions.mode,
            "thresholds": f"{low:.3g}" if low == high else f"from {low:.3g} to {high:.3g}",
        }
        if (look := self.second_look) is not None:
            most = counted(min(MOST_CANDIDATES, look.n_known), "likeliest category")
            summary["second_look"] = f"by {look.kind}, at the {most} of a document"
        summary |= {
            "documents_seen": self.documents_seen,
            "categories": len(self.categories),
            "features": features.n_columns,
        }
        if features.concepts is not None:
            sizes = " + ".join(map(str, features.concepts.sizes_))
            fixed = "which stay as they are when the model learns on; words grow"
            summary["concepts"] = f"{sizes}, {fixed}"
        if self.is_compacted:
            summary["compacted"] = "what learning needs is left out"
        summary["remembered"] = 0 if memory is None else len(memory)
        summary["memory_bytes"] = 0 if memory is None else memory.n_bytes
        return summary | self.learner.summary()

    def log(self, action: str, clock: dict[str, float]) -> None:
        """Log what was done, the sizes of the model, and the seconds of each stage."""
        if log.isEnabledFor(logging.INFO):
            sizes = (
                counted(self.documents_seen, "document"),
                counted(len(self.categories), "category"),
                counted(self.features.n_columns, "feature"),
            )
            stages = ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in clock.items())
            log.info("%s %s: %s, %s (%s)", action, *sizes, stages)

    # ---- files -------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], **options: bool) -> None:
        """Write the model to a file; see `Categorizer.save`."""
        from thresher.model.storage import save_model

        save_model(self, path, **options)

    @staticmethod
    def load(path: str | os.PathLike[str], **options: Any) -> Model:
        """Read a model from a file; see `Categorizer.load`."""
        from thresher.model.storage import load_model

        return load_model(path, **options)


def learner_probabilities(learner: Learner) -> Callable[[np.ndarray], np.ndarray] | None:
    """Return the function from scores to the learner's probabilities, if it has any."""
    if isinstance(learner, Probabilistic) and learner.has_probabilities:
        return learner.probabilities
    return None


def check_will_be_probable(parameters: TrainingParameters) -> None:
    """Raise `NoProbabilitiesError` if a model of these parameters will have no probabilities."""
    if parameters.calibrate is None and learner_probabilities(parameters.new_learner()) is None:
        raise NoProbabilitiesError(NO_PROBABILITIES)
