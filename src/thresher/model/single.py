"""Read one text in one compiled call: from characters to scores and categories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from thresher._kernels._memory import places
from thresher._kernels.reader import LOOK, MODEL, SCORED, UNSEEN, WEIGHED, look_again, read
from thresher.text.compiled import MOST_CHARACTERS, CompiledCounter, Workspace

if TYPE_CHECKING:
    from thresher.model.model import Model

__all__ = ["SingleTextReader"]

NO_STRENGTH = (*(np.zeros(0, np.float32) for _ in range(3)), np.zeros(0, np.uint8), 0)
NO_WEIGHTS = np.zeros((0, 0), np.float32), np.float32(0)
NO_LOOK = 0, 0, *(np.zeros(0, dtype) for dtype in LOOK)
NO_LIMITS = np.zeros(0), 0, 0

Limits = tuple[np.ndarray, int, int]  # thresholds; least and most categories of a text


class SingleTextReader:
    """Reads texts one by one, with the results of `Model.read`, bit for bit.

    It holds the addresses of the model's arrays, so it is valid until the model changes. Any number
    of threads can read.
    """

    def __init__(self, model: Model) -> None:
        self._features, self._model = model.features, model
        features, learner, look = model.features, model.learner, model.second_look
        # Concepts come before the columns of the counts and are left to Python.
        columns = None if features.n_concepts else features.columns
        numbers = None if columns is None else columns.numbers
        self._counter = CompiledCounter(features.counter, numbers)
        self._categories = model.categories.labels
        strength, weights, tables = features.tables(), learner.plain_weights(), NO_LOOK
        shape = features.n_columns, len(self._categories)
        if strength is None or weights is None or not _are_plain(weights[0], *shape):
            weights = None
        elif look is not None:
            tables = look.tables() or NO_LOOK
            weights = None if tables is NO_LOOK else weights
        *factors, scaling = strength or NO_STRENGTH
        matrix, always_on = weights or NO_WEIGHTS
        n_candidates, n_kinds, *look_arrays = tables
        width = max(1, matrix.shape[1])
        plan = np.array([*self._counter.plan, scaling, width, n_candidates, n_kinds], np.int64)
        arrays = (plan, *self._counter.arrays, *factors, matrix, np.array([always_on]))
        # The kernel gets addresses alone; this keeps the arrays alive.
        self._arrays: Any = (*arrays, *look_arrays)
        self._addresses = places(MODEL, self._arrays)
        self._workspaces: list[Workspace] = []  # for threads that read at the same time

    @staticmethod
    def supports(model: Model) -> bool:
        """Return True if the texts of this model can be counted by kernels alone."""
        return CompiledCounter.supports(model.features.counter)

    def scores(self, texts: list[str]) -> np.ndarray:
        """Return the scores of texts."""
        scores = np.empty((len(texts), len(self._categories)), np.float32)
        for text, row in zip(texts, scores, strict=True):
            self._read(text, NO_LIMITS, row)
        return scores

    def labels(self, text: str, model: Model) -> list[Any]:
        """Return the labels of a text, those farthest above their thresholds first."""
        decisions, labels = model.decisions, self._categories
        scores = np.empty(len(labels), np.float32)
        limits = decisions.thresholds, *decisions.limits
        if decisions.abstain_below is not None or len(decisions.thresholds) != len(labels):
            limits = NO_LIMITS
        chosen = self._read(text, limits, scores)
        if chosen is None or limits is NO_LIMITS:
            return model.labels_of(scores[None])[0]
        return [labels[i] for i in chosen]

    def _read(self, text: str, limits: Limits, scores: np.ndarray) -> list[int] | None:
        """Write the scores; return the numbers of the categories, or None if they are too many."""
        if len(text) > MOST_CHARACTERS:
            rows = self._features.apply(self._features.count([text]))
            scores[:] = self._model.score_rows(rows)[0]
            return None
        try:
            workspace = self._workspaces.pop()
        except IndexError:
            workspace = Workspace(self._counter)
        data, offsets, rules = self._counter.characters(text)
        if data.size > workspace.size:
            workspace.reserve(data.size)
        n = read(data, offsets, rules, self._addresses, workspace.addresses, limits, scores)
        if n == UNSEEN:
            workspace.learn(text)
            n = read(data, offsets, rules, self._addresses, workspace.addresses, limits, scores)
        if n == SCORED:
            n = look_again(self._addresses, workspace.addresses, limits, scores)
        chosen = workspace.chosen(n) if n >= 0 else None
        if n < -1:
            scores[:] = self._scores_of_rest(workspace, is_weighed=n == WEIGHED)
        self._workspaces.append(workspace)
        return chosen

    def _scores_of_rest(self, workspace: Workspace, is_weighed: bool) -> np.ndarray:
        """Return the scores of a text for which the kernel stopped after counting or weighing."""
        features = self._features
        counts, strengths = workspace.rows(features.n_columns - features.n_concepts)
        if not is_weighed:
            strengths = features.apply(features.with_concepts(counts))
        return np.asarray(self._model.score_rows(strengths)[0])


def _are_plain(weights: np.ndarray, n_columns: int, n_categories: int) -> bool:
    """Return True if the kernel can sum these weights as `Learner.score_rows` does."""
    is_plain = weights.dtype == np.float32 and weights.flags.c_contiguous and weights.ndim == 2
    return is_plain and len(weights) == 1 + n_columns and weights.shape[1] >= n_categories
