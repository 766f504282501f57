"""Learning: from labelled documents to weights, in memory or on disk, at once or for ever."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any, Self

import numpy as np

from thresher._spool import Spool, shuffled
from thresher.categorizer.options import Options
from thresher.categorizer.tuning import Tuning, held_out_scores, tune_decisions
from thresher.corpora import is_corpus_spec, load
from thresher.decisions import Decisions
from thresher.documents import Batch, Columns, Documents, from_texts, read_documents
from thresher.errors import DocumentError
from thresher.features import SELECTIONS, select
from thresher.learners.online._learner import OnlineLearner
from thresher.rows import Labels, Rows

__all__ = ["Learning", "Progress", "documents_of", "no_progress"]

Progress = Callable[[str, int, float | None], None]
"""Told the stage, how many documents it has seen, and the share of it that is done if known."""


Watch = Callable[[int, int, int, int], None]
"""Told the number of the pass, and the documents, mistakes and decisions since it was told last."""

Block = tuple[Rows, Labels, np.ndarray | None]
PIECES = 20  # of a pass that is watched


def no_progress(stage: str, documents: int, share: float | None) -> None:
    """Show nothing."""


class Learning(Options):
    """The half of a Categorizer that learns."""

    tuning_: Tuning | None = None
    columns_: Columns | None = None
    _columns_read: Columns | None = None

    def fit(
        self,
        documents: Any,
        labels: Any = None,
        *,
        progress: Progress = no_progress,
        watch: Watch | None = None,
    ) -> Self:
        """Learn from all documents, in as many passes as the learner takes.

        Documents that are too many for memory are kept as counts in a temporary file.

        Parameters
        ----------
        documents : list of str, path, Documents or table
            What to learn from.
        labels : list of str or list of lists of str, optional
            The categories of each text, when `documents` is a list of texts.
        progress : callable, optional
            Told the stage, the number of documents and the share that is done.
        watch : callable, optional
            Told, some twenty times in each pass, its number and how many documents were met,
            mistakes made and decisions taken since; a document is decided before it is learned.
        """
        self._begin()
        with Spool() as spool:
            for batch in self._batches(documents, labels, progress, "reading"):
                rows = self._counted(batch)
                spool.append(rows, self._labels_of(batch))
            self.columns_ = self._columns_read
            self._fit_counts(spool, progress, watch)
        return self

    def _fit_counts(self, spool: Spool, progress: Progress, watch: Watch | None = None) -> None:
        """Learn from documents that have been counted."""
        self._check_learnable(spool.labels())
        self._sort_categories(spool)
        with self._clock("select"):
            self._choose_features(spool)
        with self._clock("strength"):
            for rows, _, _ in spool.blocks():
                self.strength_.observe(rows)
            spool.map(self.strength_.apply)
        self.decisions_ = Decisions(mode=self._decision_mode(spool.labels()))
        self.decisions_.grow(len(self.categories_))
        if self.tune_for is not None or self.calibrate is not None:
            with self._clock("tune"):
                self._tune_within(spool, progress)
        with self._clock("learn"):
            self._pass_over(self.learner_, spool, progress, watch=watch)
        self.documents_seen_ = len(spool)

    def learn(
        self, documents: Any, labels: Any = None, *, progress: Progress = no_progress
    ) -> Self:
        """Go on learning, in one pass: new words and new categories may appear.

        Parameters
        ----------
        documents : list of str, path, Documents or table
            What to learn from.
        labels : list of str or list of lists of str, optional
            The categories of each text, when `documents` is a list of texts.
        progress : callable, optional
            Told the stage, the number of documents and the share that is done.
        """
        fresh = not hasattr(self, "learner_")
        if fresh:
            self._begin()
        self.timings_.clear()
        for batch in self._batches(documents, labels, progress, "learning"):
            rows = self._counted(batch)
            known = self._labels_of(batch)
            with self._clock("strength"):
                self.strength_.observe(rows)
                rows = self.strength_.apply(rows)
            with self._clock("learn"):
                if fresh:
                    self._start_learner(rows, len(self.categories_))
                    self.decisions_ = Decisions(mode=self._decision_mode(known))
                    fresh = False
                self.learner_.grow(self.counter_.n_features, len(self.categories_))
                self.decisions_.grow(len(self.categories_))
                self._admit_several(known)
                self.learner_.learn_rows(rows, known, threads=self.threads)
                self._forget_features()
            self.documents_seen_ += len(batch)
            self.columns_ = self.columns_ or self._columns_read
        if fresh:
            raise DocumentError("There is nothing to learn from: the source has no documents.")
        return self

    def _admit_several(self, labels: Labels) -> None:
        """Decide for any number of categories from the first document on that has not just one."""
        several = self._decision_mode(labels) == "multi-label" and labels.n_categories > 1
        if self.decision == "auto" and several and self.decisions_.mode == "single-label":
            self.decisions_ = self.decisions_.changed(mode="multi-label")

    def _forget_features(self) -> None:
        """Let go of features that no category holds any more, once they are the larger part.

        This is what keeps a learner with a budget of features within it on an endless stream.
        """
        if self.learner_.feature_budget is None or self.hashing_bits is not None:
            return
        keep = self.learner_.live_features()
        if 2 * np.count_nonzero(keep) < len(keep):
            for station in (self.counter_, self.strength_, self.learner_):
                station.prune(keep)
            self.__dict__.pop("_names", None)

    def _begin(self) -> None:
        """Check the parameters and make the empty stations."""
        self.check()
        self.counter_ = self.make_counter()
        self.learner_ = self.make_learner()
        self.strength_ = self.make_strength(self.learner_)
        self.categories_: list[str] = []
        self._category_numbers: dict[str, int] = {}
        self.documents_seen_ = 0
        self.timings_: dict[str, float] = {}
        self.tuning_ = self.columns_ = None

    @contextmanager
    def _clock(self, stage: str) -> Iterator[None]:
        began = perf_counter()
        try:
            yield
        finally:
            self.timings_[stage] = self.timings_.get(stage, 0.0) + perf_counter() - began

    def _batches(
        self, documents: Any, labels: Any, progress: Progress, stage: str
    ) -> Iterator[Batch]:
        """Yield the batches of a source, timing the reading and telling the progress."""
        source = documents_of(documents, labels, self.columns_)
        batches, done = iter(source), 0
        while True:
            with self._clock("read"):
                batch = next(batches, None)
            if batch is None:
                return
            self._columns_read = source.columns
            yield batch
            done += len(batch)
            total = source.bytes_total
            progress(stage, done, source.bytes_read / total if total else None)

    def _counted(self, batch: Batch) -> Rows:
        """Count a batch, with what is new in it."""
        return self.counter_.count(batch.texts, clock=self.timings_)

    def _labels_of(self, batch: Batch) -> Labels:
        """Return the batch's labels as category numbers; new categories get the next numbers."""
        if batch.labels is None:
            raise DocumentError(
                "The documents have no labels to learn from: name the column that has them."
            )
        numbers = self._category_numbers
        lists = [
            [numbers.setdefault(name, len(numbers)) for name in dict.fromkeys(one)]
            for one in batch.labels
        ]
        self.categories_ = list(numbers)
        return Labels.from_lists(lists, len(numbers))

    def _check_learnable(self, labels: Labels) -> None:
        n_documents = labels.n_rows
        if not n_documents:
            raise DocumentError("There is nothing to learn from: the source has no documents.")
        if not len(labels.indices):
            raise DocumentError(
                f"None of the {n_documents:,} documents has a label: there is nothing to learn. "
                "Look whether the label column is the right one."
            )
        if len(self.categories_) == 1 and len(labels.indices) == n_documents:
            raise DocumentError(
                f"All {n_documents:,} documents have the one category {self.categories_[0]!r}: "
                "there is nothing to tell it from. Add documents of another category or of none."
            )

    def _sort_categories(self, spool: Spool) -> None:
        """Number the categories by name, so that the order of documents does not show."""
        names = sorted(self.categories_)
        rank = {name: i for i, name in enumerate(names)}
        new = np.array([rank[name] for name in self.categories_], np.int32)
        labels = spool.labels()
        spool.relabel(Labels(labels.indptr, new[labels.indices], len(names)))
        self.categories_, self._category_numbers = names, rank

    def _choose_features(self, spool: Spool) -> None:
        """Leave out features by document frequency, by number, and by what they tell."""
        if (self.min_df, self.max_df, self.max_features, self.select) == (1, 1.0, None, None):
            return
        n_features = self.counter_.n_features
        frequency = np.zeros(n_features, np.int64)
        for rows, _, _ in spool.blocks():
            frequency += np.bincount(rows.indices, minlength=n_features)
        keep = (frequency >= _documents_count(self.min_df, len(spool))) & (
            frequency <= _documents_count(self.max_df, len(spool))
        )
        if self.max_features is not None:
            keep &= select(np.where(keep, frequency, 0), self.max_features)
        if self.select is not None:
            scores = SELECTIONS[self.selection]()
            for rows, labels, _ in spool.blocks():
                scores.observe(rows, labels)
            keep &= select(np.where(keep, scores.pooled(), -1.0), self.select)
        if keep.all():
            return
        if not keep.any():
            raise DocumentError(
                f"No feature is left of {n_features:,}: min_df={self.min_df!r} and "
                f"max_df={self.max_df!r} leave out all; choose a lower or a higher one."
            )
        if self.hashing_bits is None:
            self.counter_.prune(keep)
        spool.map(lambda rows: rows.keep(keep, renumber=self.hashing_bits is None))

    def _start_learner(self, rows: Rows, n_categories: int) -> None:
        mean_active = len(rows.indices) / max(1, rows.n_rows)
        self.learner_.start(self.counter_.n_features, n_categories, mean_active)

    def _decision_mode(self, labels: Labels) -> str:
        if self.decision != "auto":
            return self.decision
        one_each = bool((np.diff(labels.indptr) == 1).all())
        return "single-label" if one_each and labels.n_categories > 1 else "multi-label"

    def _tune_within(self, spool: Spool, progress: Progress) -> None:
        """Learn the decisions, from documents that are left out while learning."""

        def train(fold: np.ndarray, left_out: int) -> OnlineLearner:
            def tell(stage: str, documents: int, share: float | None) -> None:
                progress(f"tuning, fold {left_out + 1}, {stage}", documents, share)

            return self._pass_over(self.make_learner(), spool, tell, fold != left_out)

        n_folds = min(self.tune_folds, len(spool))
        scores, labels = held_out_scores(train, spool, n_folds, self.seed, self.threads)
        self.decisions_, self.tuning_ = tune_decisions(
            self.decisions_, scores, labels, self.categories_,
            self.tune_for, self.calibrate, n_available=len(spool),
        )  # fmt: skip

    def _pass_over(
        self,
        learner: OnlineLearner,
        spool: Spool,
        progress: Progress,
        wanted: np.ndarray | None = None,
        watch: Watch | None = None,
    ) -> OnlineLearner:
        """Let a learner pass over all documents, or those `wanted`, until it makes no mistakes."""
        mean_active = spool.n_entries / len(spool)
        learner.start(self.counter_.n_features, len(self.categories_), mean_active)
        wanted = np.ones(len(spool), bool) if wanted is None else wanted
        n_wanted = int(np.count_nonzero(wanted))
        generator = np.random.default_rng(self.seed)
        for number in range(learner.max_iter):
            order = shuffled(len(spool), generator) if self.shuffle else np.arange(len(spool))
            done = 0
            blocks = spool.blocks(order[wanted[order]])
            for rows, known, visits in blocks if watch is None else _in_pieces(blocks, n_wanted):
                met = rows.n_rows if visits is None else len(visits)
                done += met
                mistakes = learner.learn_rows(
                    rows, known, visits, self.threads, ends_pass=done == n_wanted
                )
                progress(f"pass {number + 1}", done, done / n_wanted)
                if watch is not None:
                    watch(number + 1, met, int(mistakes.sum()), met * len(mistakes))
            if not learner.mistakes_[-1]:
                break
        return learner


def _in_pieces(blocks: Iterator[Block], n_documents: int) -> Iterator[Block]:
    """Yield blocks in pieces of a twentieth of all documents."""
    size = max(1, -(-n_documents // PIECES))
    for rows, labels, visits in blocks:
        order = np.arange(rows.n_rows) if visits is None else visits
        for start in range(0, len(order), size):
            piece = order[start : start + size]
            yield rows.take(piece), labels.take(piece), None


def documents_of(documents: Any, labels: Any, familiar: Columns | None = None) -> Documents:
    """Return a source of batches for whatever was given as documents."""
    if isinstance(documents, Documents):
        return documents
    if isinstance(documents, str | os.PathLike):
        if isinstance(documents, str) and not _may_be_path(documents):
            if is_corpus_spec(documents):
                return load(documents).documents()
            raise DocumentError(
                f"There is no file {documents[:60]!r}; if this is a text, give a list: [text]."
            )
        return read_documents(documents, familiar=familiar)
    if hasattr(documents, "iloc") and not hasattr(documents, "columns"):  # a column of a frame
        documents = list(documents)
    is_texts = isinstance(documents, Sequence) and (not documents or isinstance(documents[0], str))
    if labels is not None or is_texts or isinstance(documents, np.ndarray):
        return from_texts(list(documents), None if labels is None else list(labels))
    return read_documents(documents, familiar=familiar)


def _may_be_path(text: str) -> bool:
    try:
        return text == "-" or os.path.exists(text)
    except ValueError:  # a NUL byte
        return False


def _documents_count(value: int | float, n_documents: int) -> float:
    """Turn a share of the documents into a number of documents."""
    return value * n_documents if isinstance(value, float) else value
