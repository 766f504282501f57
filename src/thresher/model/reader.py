"""A model that does not change, read by one compiled call: from a text to scores and categories."""

from __future__ import annotations

from typing import Any

import numpy as np

from thresher._kernels._memory import places
from thresher._kernels.reader import LOOK, MODEL, SCORED, UNSEEN, WEIGHED, look_again, read
from thresher.decisions import Decisions
from thresher.model.train import Stations, scores_of
from thresher.text.compiled import LONGEST, FrozenCounter, TextRoom

__all__ = ["FrozenReader"]

NO_STRENGTH = (*(np.zeros(0, np.float32) for _ in range(3)), np.zeros(0, np.uint8), 0)
NO_WEIGHTS = np.zeros((0, 0), np.float32), np.float32(0)
NO_LOOK = 0, 0, *(np.zeros(0, dtype) for dtype in LOOK)
NO_LIMITS = np.zeros(0), 0, 0

Limits = tuple[np.ndarray, int, int]  # thresholds, and how many categories at least and at most


class FrozenReader:
    """Reads texts one by one, with the results of the stations, bit for bit.

    It has the arrays of the stations in its hands: it is valid until one of these changes. Any
    number of threads may read.
    """

    def __init__(self, stations: Stations) -> None:
        features, learner = stations.features, stations.learner
        self.features, self.learner, self.second_look = features, learner, stations.second_look
        columns = None if features.n_concepts else features.columns  # concepts come before them
        numbers = None if columns is None else columns.numbers
        self._counter = FrozenCounter(features.counter, numbers)
        self._labels = stations.categories.labels
        strength, weights, look = features.tables(), learner.plain_weights(), NO_LOOK
        shape = features.n_columns, len(self._labels)
        if strength is None or weights is None or not _fit(weights[0], *shape):
            weights = None
        elif stations.second_look is not None:
            look = stations.second_look.tables() or NO_LOOK
            weights = None if look is NO_LOOK else weights
        *tables, scaling = strength or NO_STRENGTH
        matrix, always_on = weights or NO_WEIGHTS
        n_candidates, n_kinds, *of_look = look
        width = max(1, matrix.shape[1])
        plan = np.array([*self._counter.plan, scaling, width, n_candidates, n_kinds], np.int64)
        of_weights = matrix, np.array([always_on])
        # Held here, as what the kernel gets is only where they stand.
        self._arrays: Any = (plan, *self._counter.arrays, *tables, *of_weights, *of_look)
        self._model = places(MODEL, self._arrays)
        self._rooms: list[TextRoom] = []  # for those who read at the same time

    @staticmethod
    def supports(stations: Stations) -> bool:
        """Tell whether it can read for a model."""
        return FrozenCounter.supports(stations.features.counter)

    def is_of(self, stations: Stations) -> bool:
        """Tell whether it was made of these."""
        ours = self.features, self.learner, self.second_look
        theirs = stations.features, stations.learner, stations.second_look
        return all(mine is other for mine, other in zip(ours, theirs, strict=True))

    def scores(self, texts: list[str]) -> np.ndarray:
        """Return the scores of each text, as `Stations.scores` does."""
        scores = np.empty((len(texts), len(self._labels)), np.float32)
        for text, row in zip(texts, scores, strict=True):
            self._read(text, NO_LIMITS, row)
        return scores

    def decide(self, text: str, decisions: Decisions) -> tuple[np.ndarray, list[Any] | None]:
        """Return the scores, and the labels in order, None where `Decisions` must be asked."""
        labels, thresholds = self._labels, decisions.thresholds
        scores = np.empty(len(labels), np.float32)
        if decisions.mode == "single-label":
            limits = thresholds, 0 if decisions.allow_none else 1, 1
        else:
            most = len(labels) if decisions.at_most is None else decisions.at_most
            limits = thresholds, decisions.at_least, most
        if decisions.abstain_below is not None or len(thresholds) != len(labels):
            limits = NO_LIMITS
        numbers = self._read(text, limits, scores)
        if numbers is None or limits is NO_LIMITS:
            return scores, None
        return scores, [labels[i] for i in numbers]

    def _read(self, text: str, limits: Limits, scores: np.ndarray) -> list[int] | None:
        """Write the scores; return the categories in order, None if they are to be found yet."""
        if len(text) > LONGEST:
            rows = self.features.apply(self.features.count([text]))
            scores[:] = scores_of(self.learner, self.second_look, rows, 1)[0]
            return None
        try:
            room = self._rooms.pop()
        except IndexError:
            room = TextRoom(self._counter)
        data, offsets, rules = self._counter.characters(text)
        if data.size > room.size:
            room.reserve(data.size)
        n = read(data, offsets, rules, self._model, room.places, limits, scores)
        if n == UNSEEN:
            room.learn(text)
            n = read(data, offsets, rules, self._model, room.places, limits, scores)
        if n == SCORED:
            n = look_again(self._model, room.places, limits, scores)
        numbers = room.chosen(n) if n >= 0 else None
        if n < -1:
            scores[:] = self._score(room, is_weighed=n == WEIGHED)
        self._rooms.append(room)
        return numbers

    def _score(self, room: TextRoom, is_weighed: bool) -> np.ndarray:
        """Go on with what the kernel has left."""
        features = self.features
        counts, strengths = room.rows(features.n_columns - features.n_concepts)
        if not is_weighed:
            strengths = features.apply(features.with_concepts(counts))
        return np.asarray(scores_of(self.learner, self.second_look, strengths, 1)[0])


def _fit(weights: np.ndarray, n_columns: int, n_categories: int) -> bool:
    """Tell whether the kernel adds weights up as `score_rows` would, and never beside them."""
    is_plain = weights.dtype == np.float32 and weights.flags.c_contiguous and weights.ndim == 2
    return is_plain and len(weights) == 1 + n_columns and weights.shape[1] >= n_categories
