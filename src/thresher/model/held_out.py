"""Held-out scores by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thresher.evaluation.folds import stratified_k_fold
from thresher.examples import Examples
from thresher.features import Features, Numbering
from thresher.fields import field_names
from thresher.learners import Learner
from thresher.limits import check_weights, give_back, most_columns
from thresher.model.parameters import TrainingParameters
from thresher.model.second_look import Candidates, Unseen, candidates_of
from thresher.model.source import Progress
from thresher.rows import Labels

if TYPE_CHECKING:
    from thresher.model.model import Model

__all__ = ["HeldOut", "fold_features", "fold_numbers", "held_out_scores", "random_documents"]

MOST_HELD_OUT_SCORES = 25_000_000  # 100 MB; beyond, only a sample of the documents is scored


class HeldOut(NamedTuple):
    """Held-out scores, with the training data of the second look."""

    unseen: Unseen
    documents: np.ndarray  # the number of each scored document

    def by_document(self) -> dict[int, np.ndarray]:
        """Return a dictionary from document numbers to scores."""
        return dict(zip(self.documents.tolist(), self.unseen.scores, strict=True))


def random_documents(examples: Examples, seed: int) -> np.ndarray:
    """Return document numbers in random order, at most as many as may be scored."""
    most = max(1, MOST_HELD_OUT_SCORES // max(1, examples.n_categories))
    return np.random.default_rng(seed).permutation(len(examples))[:most]


def held_out_scores(
    model: Model, counts: Examples, progress: Progress, has_evidence: bool = False
) -> HeldOut:
    """Return held-out scores of documents in random order.

    The documents are divided into stratified folds. For each fold, features (with their selection
    and document frequencies) and learner are trained on the other folds, and the fold is scored. At
    most `MOST_HELD_OUT_SCORES` scores are computed, but training always uses all documents.

    Parameters
    ----------
    model : Model
        The model, with parameters and the features that counted the documents; not changed.
    counts : Examples
        The counts of the documents.
    progress : callable
        Called with the stage, the number of documents processed, and the share done or None.
    has_evidence : bool, default=False
        Whether to return the contributions of words to the scores, for a second look.
    """
    labels = counts.labels()
    folds = fold_numbers(model.parameters, labels)
    documents = random_documents(counts, model.parameters.seed_)
    scores = np.empty((len(documents), labels.n_categories), np.float32)
    candidates: list[Candidates] = []
    order: list[np.ndarray] = []
    for fold in range(folds.max() + 1):

        def report(stage: str, n: int, share: float | None, number: int = fold + 1) -> None:
            progress(f"tuning, fold {number}, {stage}", n, share)

        training, rows = np.flatnonzero(folds != fold), np.flatnonzero(folds[documents] == fold)
        rows = rows[np.argsort(documents[rows])]  # to read a temporary file sequentially
        if len(rows):
            tested = documents[rows]
            scores[rows], fold_candidates = _scores_of_fold(
                model, counts, training, tested, has_evidence, report
            )
            candidates.append(fold_candidates)
            order.append(rows)
    known = labels.take(documents)
    weights = np.ones(len(documents)) if known.weights is None else known.weights
    evidence = Candidates.concatenate(candidates)
    if has_evidence:
        evidence = evidence.take(np.argsort(np.concatenate(order)))
    return HeldOut(Unseen(scores, evidence, known, folds[documents], weights), documents)


def _scores_of_fold(
    model: Model,
    counts: Examples,
    training: np.ndarray,
    tested: np.ndarray,
    has_evidence: bool,
    progress: Progress,
) -> tuple[np.ndarray, Candidates]:
    """Return the scores of the documents `tested`, after training on the documents `training`."""
    parameters = model.parameters
    examples, learner = counts.take(training).apart(), parameters.new_learner()
    features = fold_features(parameters, model.features, learner, examples)
    n_categories = counts.n_categories
    strengths = features.fit(examples, most_columns(learner.weight_bytes, n_categories))
    check_weights(learner.weight_bytes, features.n_columns, n_categories)
    give_back()
    n_jobs = parameters.n_jobs or 1
    learner.fit_rows(strengths, n_jobs=n_jobs, progress=progress)
    fields = features.fields(), len(field_names(parameters.fields))
    scores, candidates = [], []
    for counted_rows, _ in counts.take(tested):
        rows = features.apply(counted_rows)
        scores.append(learner.score_rows(rows, n_jobs=n_jobs))
        if has_evidence:
            candidates.append(candidates_of(scores[-1], rows, learner, *fields))
    return np.concatenate(scores), Candidates.concatenate(candidates)


def fold_numbers(parameters: TrainingParameters, labels: Labels) -> np.ndarray:
    """Return the fold in which each document is held out."""
    folds = np.empty(labels.n_rows, np.int64)
    n_folds, seed = min(parameters.tune_folds, labels.n_rows), parameters.seed_
    for number, split in enumerate(stratified_k_fold(labels, n_folds, random_state=seed)):
        folds[split.test] = number
    return folds


def fold_features(
    parameters: TrainingParameters, whole: Features, learner: Learner, counts: Examples
) -> Features:
    """Return untrained features for a fold; `whole` are those that counted all documents."""
    columns_of_counts: Sequence[np.ndarray] = whole.blocks, whole.fields()
    if whole.columns is not None:
        columns_of_counts = list(whole.columns.of_counts())
    if whole.is_hashed:
        columns = Numbering.hashed(np.ones(counts.n_columns, bool), *columns_of_counts)
    else:
        columns = Numbering.as_met(counts, *columns_of_counts)
    features = Features(parameters, learner.preferred_strength, None, columns)
    features.n_concepts = counts.n_concepts  # computed already, or learned from the fold
    return features
