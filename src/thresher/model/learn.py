"""Incremental learning: atomic updates of a model, in which remembered documents are rehearsed."""

from __future__ import annotations

import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thresher.decisions import Decisions
from thresher.documents import Batch
from thresher.errors import DocumentError, ModelError, ParameterError, counted, escaped, param
from thresher.examples import Examples
from thresher.learners.capabilities import Budgeted, LateCategories, Online, Tracking, Undoable
from thresher.learners.online import OnlineLearner
from thresher.model.categories import decision_mode
from thresher.model.memory import Digests, Sample
from thresher.model.second_look import SecondLook, Unseen, candidates_of
from thresher.model.source import LabelledSource, encode_labels, timed, without_zero_weights
from thresher.model.train import LEAST_DOCUMENTS_FOR_LOOK, fold_numbers
from thresher.parameters import names_of
from thresher.rows import Labels, Rows

if TYPE_CHECKING:
    from thresher.model.model import Model

MOST_IN_PLACE = 1000  # documents learned in place; for more, the model is copied
MOST_IN_MILLISECONDS = 2  # documents learned while readers wait
MOST_ROUNDS = 5  # fewer if all new documents are decided right
RECALLED_PER_DOCUMENT = 10  # remembered documents that are learned again for each new one
DOCUMENTS_CHECKED = 64  # remembered documents whose decisions are compared before and after
MISTAKES_SHOWN = 5
MOST_COMPARED = 100  # new names that are compared with known ones
LEAST_MISSPELLED = 3  # characters of a name that may be a misspelled one
CHARACTERS_SHOWN = 60
# The number of documents that a new category may take from their right categories is limited by a
# share of all documents, and by a multiple of the documents of the new category.
MOST_LOST_SHARE = 0.0065
MOST_LOST_PER_DOCUMENT = {"single-label": 2.0, "multi-label": 0.5}
DOCUMENTS_OF_NEW_CATEGORY = 256  # with more, its threshold is not adjusted any more


class Mistake(NamedTuple):
    """A document whose decision differs from its labels after learning."""

    number: int  # among the new documents, from 1
    text: str  # its beginning
    labels: list[str]
    decided: list[str]


@dataclass
class Learned:
    """The result of learning new documents.

    Attributes
    ----------
    documents, left_out : int
        The number of documents learned, and of those without labels, which were left out.
    wrong : list of Mistake
        The documents whose decisions still differ from their labels.
    checked, changed : int
        The number of remembered documents decided before and after, and of changed decisions.
    features : int
        The number of new features.
    categories : list of str
        The new categories.
    warnings : list of str
        Warnings about new categories without counter-examples.
    looked_anew : bool or None
        Whether a new second look replaced the old one; None if none was learned.
    """

    documents: int = 0
    left_out: int = 0
    wrong: list[Mistake] = field(default_factory=list)
    checked: int = 0
    changed: int = 0
    features: int = 0
    categories: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    looked_anew: bool | None = None

    @property
    def right(self) -> int:
        """The number of documents whose decisions agree with their labels."""
        return self.documents - len(self.wrong)

    def __str__(self) -> str:
        checked = counted(self.checked, "remembered document")
        changes = f", {self.changed:,} of {checked} decided differently" if self.checked else ""
        lines = [
            f"Learned from {counted(self.documents, 'document')}; "
            f"{self.right:,} of them now decided correctly{changes}.",
            f"New: {counted(self.features, 'feature')}"
            + (f" and {names_of(self.categories)}." if self.categories else ", no category."),
        ]
        if self.looked_anew is not None:
            outcome = (
                "was learned again from the remembered documents" if self.looked_anew else "stays"
            )
            lines.append(f"The second look {outcome}.")
        for mistake in self.wrong[:MISTAKES_SHOWN]:
            decided = ", ".join(map(escaped, mistake.decided)) or "nothing"
            labels = ", ".join(map(escaped, mistake.labels)) or "nothing"
            where = escaped(f"document {mistake.number}, {mistake.text!r}")
            lines.append(f"Still wrong: {where}: {decided}, not {labels}.")
        if len(self.wrong) > MISTAKES_SHOWN:
            lines.append(f"Still wrong: {len(self.wrong) - MISTAKES_SHOWN:,} more.")
        return "\n".join([*lines, *map(escaped, self.warnings)])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data for JSON."""
        return {
            "documents": self.documents,
            "left_out": self.left_out,
            "right": self.right,
            "wrong": [mistake._asdict() for mistake in self.wrong],
            "remembered_checked": self.checked,
            "remembered_changed": self.changed,
            "features": self.features,
            "categories": self.categories,
            "warnings": self.warnings,
            "looked_anew": self.looked_anew,
        }


class Update:
    """Documents for a model to learn, and the state of learning them.

    The first documents are read by the constructor, to find out whether there are few; the rest are
    read during learning.

    Parameters
    ----------
    model : Model
        The model to update; the constructor does not change it.
    source : LabelledSource
        The documents.
    about : list of labels, optional
        As for `Categorizer.learn`.
    check : int or None, default=64
        The number of remembered documents decided before and after; None for all.
    n_jobs : int, default=1
        The number of threads.
    """

    def __init__(
        self,
        model: Model,
        source: LabelledSource,
        *,
        about: Sequence[Any] | None = None,
        check: int | None = DOCUMENTS_CHECKED,
        n_jobs: int = 1,
    ) -> None:
        model.check_can_learn()
        self.source, self.clock = source, source.clock
        self.about, self.n_checked, self.n_jobs = about, check, n_jobs
        if about is None:  # otherwise, documents without labels are about none of these
            source.leave_out_blank(model)
        batches = source.batches("learning")
        first, n_first = [], 0
        for batch in batches:
            first.append(batch)
            n_first += len(batch)
            if n_first > MOST_IN_PLACE:
                break
        if not n_first:
            raise DocumentError("There is nothing to learn from: the source has no documents.")
        self._batches = chain(first, batches)
        learner, is_small = model.learner, n_first <= MOST_IN_PLACE
        has_budget = isinstance(learner, Budgeted) and learner.feature_budget is not None
        self.can_be_undone = (
            is_small
            and isinstance(learner, Undoable)
            and not has_budget
            and model.has_private_arrays
        )
        self.is_short = n_first <= MOST_IN_MILLISECONDS  # whether it takes only milliseconds
        self._n_rounds = MOST_ROUNDS if is_small else 1
        self.learned, self.n_given = Learned(), 0

    def apply(self, model: Model) -> Learned:
        """Update the model; if that fails, restore it if `can_be_undone`."""
        self.model, self.learner, self.features = model, model.learner, model.features
        model.forget_reader()
        with restored_on_failure(self.can_be_undone) as self.restore:
            self._learn()
            self.learned.left_out = self.source.n_blank
            self.source.warn_of_blank_labels()
            self.learned.warnings += self._doubts(model)
            if model.parameters.remember:
                known = model.digests or Digests.none()
                model.digests = known.extended(self.source.digested)
            model.columns = model.columns or self.source.columns
        model.forget_reader()
        return self.learned

    def _doubts(self, model: Model) -> list[str]:
        """Return a warning if exactly these documents were learned before."""
        if model.digests is None or not model.digests.has_source(self.source.digested):
            return []
        return [
            "The same documents, with the same labels, were learned before; they count twice now. "
            "If that is a mistake, take it back (thresher learn --undo)."
        ]

    def _learn(self) -> None:
        """Learn all batches, and complete `learned`."""
        model, learned = self.model, self.learned
        n_features, n_categories = self.features.n_columns, len(model.categories)
        self.restore.append(_restore_attributes(model))
        model.sample = self._sample()
        for batch in self._batches:
            self._learn_batch(batch)
        if model.second_look is not None:
            with timed(self.clock, "second look"):
                self._learn_second_look_again(model.second_look)
        if model.sample is not None:
            rows, before, drawn, _ = model.sample
            after = self._decide(rows)
            differs = (after[:, : before.shape[1]] != before).any(1)
            differs |= after[:, before.shape[1] :].any(1)
            learned.checked, learned.changed = len(after), int(differs.sum())
            valid_for = model.decisions, model.memory
            model.sample = Sample(rows, after, drawn, valid_for) if self.n_checked else None
        learned.features = self.features.n_columns - n_features
        learned.categories = model.categories.names[n_categories:]
        learned.warnings += self._warnings()

    def _warnings(self) -> list[str]:
        """Return warnings of new categories that may be mistakes, or lack counter-examples."""
        names, new = self.model.categories.names, self.learned.categories
        known = names[: len(names) - len(new)]
        return [*_misspelled(new, known), *self._without_counterexamples()]

    def _without_counterexamples(self) -> list[str]:
        memory = self.model.memory
        has_others = memory is not None and len(np.unique(memory.slot_categories)) > 1
        if not self.learned.categories or has_others:
            return []
        return [
            f"{name}: there are no counter-examples, for nothing is remembered of other documents; "
            "give documents of other categories with it, or train with remember above 0."
            for name in self.learned.categories
        ]

    # ---- single batches -----------------------------------------------------------------------

    def _learn_batch(self, batch: Batch) -> None:
        model, features, restore = self.model, self.features, self.restore
        _check_batch(model, batch, self.about)
        restore.append(features.counter.checkpoint())
        labels = self._restricted(encode_labels(model.categories, batch))
        counts = features.count(batch.texts, grow=True, clock=self.clock)
        counts, labels = without_zero_weights(counts, labels)
        if model.second_look is not None:
            model.second_look = model.second_look.grown(features.fields())
        with timed(self.clock, "strength"):
            restore.append(features.checkpoint(counts.indices))
            features.observe(counts)
            rows = features.apply(counts)
        with timed(self.clock, "learn"):
            if model.documents_seen == 0:
                _start(model, rows, labels)
            new = self._count_new_categories(labels)
            model.decisions = _grown_decisions(model, labels)
            contributions, wrong = self._rehearse(rows, labels, new)
            self.learner.check_bounds(rows.indices)
            self._note_mistakes(rows, labels, wrong, batch)
            numbers = model.documents_seen + np.arange(rows.n_rows)
            if model.memory is not None:
                model.memory = model.memory.with_more(counts, labels, numbers, contributions)
            self._prune_to_budget()
        model.documents_seen += rows.n_rows
        self.learned.documents += rows.n_rows

    def _restricted(self, labels: Labels) -> Labels:
        """Return the labels, marked as unknown for all categories except those of `about`."""
        if self.about is None:
            return labels
        categories = self.model.categories
        numbers = [categories.number(label) for label in self.about]
        excess = np.setdiff1d(labels.indices, numbers)
        if len(excess):
            raise DocumentError(
                f"A document has the label {categories.names[excess[0]]!r}, and the answers are "
                f"about {', '.join(map(str, self.about))} only; add it to {param('about')}."
            )
        return labels.about(numbers)

    def _count_new_categories(self, labels: Labels) -> list[int]:
        """Count the documents of categories that were added after training.

        Returns the categories whose thresholds have to be chosen: those that are new, or whose
        number of documents has doubled.
        """
        model, due = self.model, []
        n_known, counts = self.learner.n_categories, np.bincount(labels.indices)
        for k in np.flatnonzero(counts).tolist():
            if k not in model.late and (k < n_known or not model.documents_seen):
                continue
            before = model.late.get(k, 0)
            after = model.late[k] = before + int(counts[k])
            has_doubled = before == 0 or after >= 2 ** np.ceil(np.log2(before + 0.5))
            if before < DOCUMENTS_OF_NEW_CATEGORY and has_doubled:
                due.append(k)
        return due

    def _rehearse(
        self, rows: Rows, labels: Labels, new: list[int]
    ) -> tuple[np.ndarray | None, np.ndarray]:
        """Learn the documents together with remembered ones, until the decisions are right.

        Returns the contributions of the documents to their own scores, if known, and the indices
        of the documents whose decisions are still wrong.
        """
        model, self.generator = self.model, self._generator()
        contributions = np.zeros((rows.n_rows, len(model.categories)), np.float32)
        pending, has_memory = np.arange(rows.n_rows), self._has_memory()
        if new and has_memory:
            contributions += self._round(rows, labels, len(model.memory or ()), new)
        for _ in range(self._n_rounds if has_memory else 1):
            n_recalled = RECALLED_PER_DOCUMENT * len(pending)
            documents = rows.take(pending), labels.take(pending)
            contributions[pending] += self._round(*documents, n_recalled)
            for k in new:
                self._choose_threshold(k, rows, labels, contributions)
            pending = self._still_wrong(rows, labels)
            if not len(pending):
                break
        return None if np.isnan(contributions).any() else contributions, pending

    def _has_memory(self) -> bool:
        """Return True if remembered documents are rehearsed.

        Learners that are not online learners would count them twice.
        """
        return self.model.memory is not None and isinstance(self.learner, OnlineLearner)

    def _round(self, rows: Rows, labels: Labels, n_recalled: int, new: Sequence[int] = ()) -> Any:
        """Learn each document once, mixed with remembered documents.

        If there are new categories, only these are learned: all remembered documents are negative
        examples of them, and need not be learned again for the other categories. Returns the
        contributions of the new documents to their own scores; NaN if not known.
        """
        model, learner = self.model, self.learner
        assert isinstance(learner, Online)
        features, n_categories, n_new = self.features, len(model.categories), rows.n_rows
        weights = np.ones(n_new) if labels.weights is None else labels.weights
        labels, recalled = labels._replace(weights=None), np.zeros(0, np.int64)
        memory = model.memory if self._has_memory() else None
        if memory is not None:
            recalled = memory.recall(n_recalled, self.generator)
            old = features.apply(memory.rows(recalled, features.n_columns))
            rows = Rows.concatenate([rows, old])
            labels = Labels.concatenate([labels, memory.labels(recalled, n_categories)])
            weights = np.append(weights, np.ones(len(recalled)))
        if new:
            labels = labels.about(new)
        if isinstance(learner, Undoable):
            self.restore.append(learner.checkpoint(rows.indices))
        n_before = self.learner.n_categories
        learner.grow(features.n_columns, n_categories)
        if new and n_before < n_categories and isinstance(learner, LateCategories):
            learner.start_late(Examples.of(rows, labels), n_before)
        order = self.generator.permutation(rows.n_rows) if len(recalled) else None
        how: Any = {"n_jobs": self.n_jobs, "sample_weight": weights}
        if memory is None or not isinstance(learner, Tracking):
            learner.learn_rows(rows, labels, order, **how)
            return np.nan
        with learner.tracking(np.arange(rows.n_rows), n_categories) as contributions:
            learner.learn_rows(rows, labels, order, **how)
        model.memory = memory.with_more_contributions(recalled, contributions[n_new:])
        return contributions[:n_new]

    def _still_wrong(self, rows: Rows, labels: Labels) -> np.ndarray:
        """Return the indices of documents whose decisions differ from their labels."""
        scores = self.model.score_rows(rows, self.n_jobs)
        wrong = self.model.decisions.decide(scores) != labels.to_dense()
        if labels.known is not None:
            wrong &= labels.known
        return np.flatnonzero(wrong.any(1))

    def _note_mistakes(self, rows: Rows, labels: Labels, wrong: np.ndarray, batch: Batch) -> None:
        """Record the documents that are still wrong, with their labels and decisions."""
        if not len(wrong):
            return
        model, names = self.model, self.model.categories.names
        decided = model.decisions.decide(model.score_rows(rows.take(wrong)))
        truth = labels.take(wrong).to_dense()
        weights = np.ones(len(batch)) if batch.weights is None else batch.weights
        present = np.flatnonzero(weights)
        for i, decision, answer in zip(present[wrong].tolist(), decided, truth, strict=True):
            start = str(batch.texts[i])[: 4 * CHARACTERS_SHOWN]
            text = " ".join(start.split())[:CHARACTERS_SHOWN]
            lists = ([names[k] for k in np.flatnonzero(row)] for row in (answer, decision))
            self.learned.wrong.append(Mistake(int(batch.numbers[i]), text, *lists))

    def _choose_threshold(
        self, k: int, rows: Rows, labels: Labels, contributions: np.ndarray
    ) -> None:
        """Choose the threshold of a new category, from held-out scores.

        Scores of learned documents are too high; with a threshold chosen from them, the category
        would take many unseen documents from the other categories.
        """
        model, memory, look = self.model, self.model.memory, self.model.second_look
        has_look = look is not None and k < look.n_known  # the second look rescores it
        if memory is None or not len(memory) or np.isnan(contributions).any() or has_look:
            return
        n_categories, features, decisions = len(model.categories), self.features, model.decisions
        everything = range(len(memory))
        old = features.apply(memory.rows(everything, features.n_columns))
        old_scores = self.learner.score_rows(old, self.n_jobs)
        old_scores = old_scores - memory.contributions(everything, n_categories)
        new_scores = self.learner.score_rows(rows, self.n_jobs) - contributions
        scores = np.concatenate([old_scores, new_scores])
        remembered_labels = memory.labels(everything, n_categories)
        truth = np.concatenate([remembered_labels.to_dense(), labels.to_dense()])
        weights = np.append(memory.weights(), np.ones(rows.n_rows))
        known = ~np.isnan(scores).any(1)
        thresholds = decisions.thresholds.copy()
        thresholds[k] = 0.0
        thresholds[k] = least_harmful_threshold(
            k, scores[known] - thresholds, truth[known], weights[known], decisions.mode
        )
        model.decisions = decisions.replace(thresholds=thresholds)

    def _prune_to_budget(self) -> None:
        """Remove features that no category uses, if they are the majority.

        This limits the number of features of a learner with a feature budget on endless streams.
        """
        model, learner = self.model, self.learner
        if self.features.is_hashed or not isinstance(learner, Budgeted):
            return
        if learner.feature_budget is None or not isinstance(learner, Online):
            return
        keep = learner.live_features() | self.features.are_for_concepts()
        if 2 * np.count_nonzero(keep) < len(keep):
            self.features.prune(keep)
            learner.prune(keep)
            if model.memory is not None:
                numbers = np.where(keep, np.cumsum(keep) - 1, -1)
                model.memory = model.memory.with_columns(numbers)
            if model.sample is not None:
                model.sample = model.sample._replace(rows=model.sample.rows.keep(keep))
            if model.second_look is not None:
                model.second_look = model.second_look.grown(self.features.fields())

    # ---- comparison of decisions -------------------------------------------------------------

    def _generator(self) -> np.random.Generator:
        """Return a random generator that depends only on the state of the model."""
        memory = self.model.memory
        seed = 0 if memory is None else memory.seed  # nothing is drawn without a memory
        return np.random.default_rng((seed, self.model.documents_seen))

    def _sample(self) -> Sample | None:
        """Return a sample of remembered documents with their decisions before the update.

        The sample of the previous update is reused for a while: its decisions after that update
        are those before this update.
        """
        model, sample, memory = self.model, self.model.sample, self.model.memory
        if memory is None or not len(memory) or self.n_checked == 0:
            return None
        n, seen = min(self.n_checked or len(memory), len(memory)), model.documents_seen
        if (
            sample is not None
            and sample.valid_for == (model.decisions, memory)
            and len(sample.decided) == n
            and seen < sample.drawn + DOCUMENTS_CHECKED
        ):
            return sample
        recalled, features = memory.recall(n, self._generator()), self.features
        rows = features.apply(memory.rows(recalled, features.n_columns))
        return Sample(rows, self._decide(rows), seen, (model.decisions, memory))

    def _decide(self, rows: Rows) -> np.ndarray:
        """Return the current decisions about documents."""
        scores = self.model.score_rows(rows, self.n_jobs)
        if not np.isfinite(scores).all():
            raise ParameterError(
                f"{type(self.learner).__name__} would score remembered documents with what is no "
                "number; take parameters by which documents move weights less."
            )
        return self.model.decisions.decide(scores)

    def _learn_second_look_again(self, look: SecondLook) -> None:
        """Learn a new second look from the memory, and replace the old one if the new is better.

        This is done once there are half as many new documents as remembered ones, and at least
        `LEAST_DOCUMENTS_FOR_LOOK`. The comparison uses held-out scores of remembered documents. It
        favours the old second look, which has learned from many of them.
        """
        model, memory, parameters = self.model, self.model.memory, self.model.parameters
        n_since = model.documents_seen - look.n_learned
        if memory is None or n_since < max(LEAST_DOCUMENTS_FOR_LOOK, len(memory) // 2):
            return
        model.second_look = look.noted(model.documents_seen)
        n_categories, features = len(model.categories), self.features
        contributions = memory.contributions(range(len(memory)), n_categories)
        is_complete = [document.known is None for document in memory.documents]
        usable = np.flatnonzero(~np.isnan(contributions).any(1) & is_complete)
        if len(usable) < LEAST_DOCUMENTS_FOR_LOOK:
            return
        contributions, labels = contributions[usable], memory.labels(usable, n_categories)
        rows = features.apply(memory.rows(usable, features.n_columns))
        scores = self.learner.score_rows(rows, self.n_jobs) - contributions
        candidates = candidates_of(
            scores, rows, self.learner, look.fields, look.n_fields, contributions=contributions
        )
        folds = fold_numbers(parameters.resolved(), labels)
        unseen = Unseen(scores, candidates, labels, folds, memory.weights()[usable])
        how: Any = {"seed": parameters.seed_, "n_jobs": self.n_jobs}
        new, after = SecondLook.fit(look.kind, unseen, model.documents_seen, **how)
        before = look.apply(scores, rows, self.learner, self.n_jobs, contributions)
        losses = [unseen.loss(scores, look.n_known) for scores in (after, before)]
        self.learned.looked_anew = losses[0] < losses[1]
        if self.learned.looked_anew:
            decisions = model.decisions.replace()
            decisions.thresholds[look.n_known :] = decisions.default_threshold
            model.second_look, model.decisions = new.grown(look.fields), decisions


def _misspelled(new: Sequence[str], known: Sequence[str]) -> Iterator[str]:
    """Yield a warning for each new name that differs from a known one by a letter, or by case.

    Numbers in names are no letters: "part 1" and "part 2" are different.

    Examples
    --------
    >>> known = ["hardware", "grain", "part 1"]
    >>> list(_misspelled(["hardwrae", "Grain", "part 2"], known))
    ['hardwrae: a new category; did you mean hardware?', 'Grain: a new ...']
    """
    for name in new[:MOST_COMPARED]:
        similar = [other for other in known if _is_misspelled(name, other)]
        if similar:
            yield f"{name}: a new category; did you mean {' or '.join(similar[:3])}?"


def _is_misspelled(name: str, other: str) -> bool:
    a, b = (" ".join(text.casefold().split()) for text in (name, other))
    start = _n_common(a, b)
    end = _n_common(a[start:][::-1], b[start:][::-1])
    rests = a[start : len(a) - end], b[start : len(b) - end]
    is_moved = sorted(rests[0]) == sorted(rests[1]) and len(rests[0]) <= 3  # such as "ear", "are"
    is_close = is_moved or max(map(len, rests)) <= 1
    has_digits = any(map(str.isdigit, "".join(rests)))
    return a == b or (is_close and not has_digits and min(len(a), len(b)) >= LEAST_MISSPELLED)


def _n_common(a: str, b: str) -> int:
    """Return the number of characters with which both texts begin."""
    differing = (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y)
    return next(differing, min(len(a), len(b)))


def least_harmful_threshold(
    k: int, margins: np.ndarray, truth: np.ndarray, weights: np.ndarray, mode: str
) -> float:
    """Return a threshold at which a new category takes few documents from other categories.

    Parameters
    ----------
    k : int
        The category; its threshold in `margins` is zero.
    margins : array of shape (documents, categories)
        Held-out scores less thresholds.
    truth : array of bool of the same shape
        The categories of the documents.
    weights : array of shape (documents,)
        The number of documents that each document represents.
    mode : {"single-label", "multi-label"}
        Whether the best category is chosen, or each category is decided separately.

    Examples
    --------
    >>> margins = np.array([[0.5, -0.9], [0.4, -0.2], [-0.2, 0.1]])
    >>> truth = np.array([[True, False], [True, False], [False, True]])
    >>> round(least_harmful_threshold(1, margins, truth, np.ones(3), "single-label"), 2)
    -0.15
    """
    leads, is_in_category = margins[:, k], truth[:, k]
    if mode == "single-label":
        other_margins = np.where(np.arange(margins.shape[1]) == k, -np.inf, margins)
        leads = leads - other_margins.max(1)
        is_right_without = truth[np.arange(len(truth)), other_margins.argmax(1)]
        can_be_lost = is_right_without & ~is_in_category
    else:
        can_be_lost = ~is_in_category
    per_document = MOST_LOST_PER_DOCUMENT[mode] * weights[is_in_category].sum()
    allowed = min(MOST_LOST_SHARE * weights.sum(), per_document)
    order = np.argsort(-leads[can_be_lost], kind="stable")
    ranked, n_lost = leads[can_be_lost][order], np.cumsum(weights[can_be_lost][order])
    n_within = int(np.searchsorted(n_lost, allowed, side="right"))
    least = float(ranked[n_within]) if n_within < len(ranked) else float(leads.min(initial=0.0))
    lowest_right = float(leads[is_in_category].min(initial=np.inf))
    return least if lowest_right <= least else (least + lowest_right) / 2


@contextmanager
def restored_on_failure(is_possible: bool) -> Iterator[deque[Callable[[], None]]]:
    """Yield a queue for functions that undo changes; on failure, call them in reverse order.

    If restoring is not possible, the queue keeps nothing.
    """
    restore: deque[Callable[[], None]] = deque(maxlen=None if is_possible else 0)
    try:
        yield restore
    except BaseException:
        with _interrupts_delayed():
            for undo in reversed(restore):
                undo()
        raise


@contextmanager
def _interrupts_delayed() -> Iterator[None]:
    """Delay Ctrl-C until the block is left."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[tuple[int, Any]] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: waiting.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if waiting and callable(before):
            before(*waiting[0])


def _restore_attributes(model: Model) -> Callable[[], None]:
    """Return a function that restores the attributes of a model, and its categories."""
    attributes = vars(model).copy()
    attributes["late"] = dict(model.late)
    n_categories = len(model.categories)

    def restore() -> None:
        model.__dict__ = attributes
        model.categories.truncate(n_categories)

    return restore


def _check_batch(model: Model, batch: Batch, about: Sequence[Any] | None) -> None:
    """Raise an error if a batch does not fit the model, before anything is changed."""
    if not isinstance(model.learner, Online):
        raise ModelError(
            f"A model of {model.learner.name} cannot go on learning: train it anew on all "
            "documents, or take a learner that can, such as passive-aggressive."
        )
    if model.documents_seen == 0 or model.is_mode_open or batch.labels is None:
        return
    if model.decisions.mode == "single-label" and about is None:
        labels = next((labels for labels in batch.labels if len(labels) > 1), None)
        if labels is not None:
            number = f"{len(labels)} labels ({labels[0]!r}, ...)"
            raise DocumentError(
                f"A document has {number}, but the model was trained on documents with one label "
                "each: leave it out, or train anew with "
                f"{param('mode', 'multi-label')}."
            )


def _start(model: Model, rows: Rows, labels: Labels) -> None:
    """Prepare an untrained model for the first documents of a stream."""
    mean_active = len(rows.indices) / max(1, rows.n_rows)
    assert isinstance(model.learner, Online)
    model.learner.start(model.features.n_columns, len(model.categories), mean_active)
    model.decisions = Decisions(decision_mode(model.parameters.mode, labels))
    model.is_mode_open = model.parameters.mode == "auto"


def _grown_decisions(model: Model, labels: Labels) -> Decisions:
    """Return decisions for all categories; multi-label if a stream has several labels."""
    decisions = model.decisions.replace()
    has_several = decision_mode("auto", labels) == "multi-label" and labels.n_categories > 1
    if model.is_mode_open and has_several and decisions.mode == "single-label":
        decisions = decisions.replace(mode="multi-label")
    return decisions.grow(len(model.categories))
