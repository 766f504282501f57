"""A model that does not change, read by one compiled call: from a text to scores and categories."""

from __future__ import annotations

from typing import Any

import numpy as np

from thresher._kernels.frozen import COUNTED, N_ENTRIES, N_TOKENS, read
from thresher.decisions import Decisions
from thresher.rows import Rows
from thresher.text.frozen import LONGEST, FrozenCounter, TextRoom
from thresher.training import Stations

__all__ = ["FrozenReader"]

MOST_CHOSEN = 32  # categories of a document that the kernel puts in order

NO_STRENGTH = (*(np.zeros(0, np.float32) for _ in range(3)), np.zeros(0, np.uint8), 0)
NO_WEIGHTS = np.zeros((0, 0), np.float32), np.zeros(1, np.float32)
NO_LIMITS = np.zeros(0), 0, 0


class FrozenReader:
    """Reads texts one by one, with the results of the stations, bit for bit.

    It has the arrays of the stations in its hands: it is valid until one of these changes. Any
    number of threads may read.
    """

    def __init__(self, stations: Stations) -> None:
        features, learner = stations.features, stations.learner
        self.features, self.learner = features, learner
        columns = None if features.n_concepts else features.columns  # concepts come before them
        numbers = None if columns is None else columns.numbers
        self._counter = FrozenCounter(features.counter, numbers)
        self._n_categories = len(stations.categories)
        strength, weights = features.tables(), learner.plain_weights()
        shape = features.n_columns, self._n_categories
        if strength is None or (learner.n_features, learner.n_categories) != shape:
            weights = None
        self._arrays = (
            self._counter.plan, self._counter.words, self._counter.runs, self._counter.parts,
            self._counter.columns, strength or NO_STRENGTH, weights or NO_WEIGHTS,
        )  # fmt: skip
        self._rooms: list[_Room] = []  # for those who read at the same time

    @staticmethod
    def supports(stations: Stations) -> bool:
        """Tell whether it can read for a model."""
        return FrozenCounter.supports(stations.features.counter)

    def scores(self, text: str) -> np.ndarray:
        """Return the score of each category."""
        return self._read(text, NO_LIMITS)[0]

    def decide(self, text: str, decisions: Decisions) -> tuple[np.ndarray, list[int] | None]:
        """Return the scores, and the categories in order, None where `Decisions` must be asked."""
        n, thresholds = self._n_categories, decisions.thresholds
        if decisions.abstain_below is not None or len(thresholds) != n:
            return self.scores(text), None
        if decisions.mode == "single-label":
            return self._read(text, (thresholds, 0 if decisions.allow_none else 1, 1))
        most = n if decisions.at_most is None else decisions.at_most
        return self._read(text, (thresholds, decisions.at_least, most))

    def _read(
        self, text: str, limits: tuple[np.ndarray, int, int]
    ) -> tuple[np.ndarray, list[int] | None]:
        if len(text) > LONGEST:
            rows = self.features.apply(self.features.count([text]))
            return self.learner.score_rows(rows)[0], None
        try:
            room = self._rooms.pop()
        except IndexError:
            room = _Room(self._counter)
        data, (word_rule, part_rule) = self._counter.characters(text)
        if data.size > room.size:
            room.reserve(data.size)
        scores, chosen = np.empty(self._n_categories, np.float32), room.chosen
        n = read(
            data, word_rule, part_rule, *self._arrays, (*limits, chosen), room.room, room.scratch,
            room.out, room.notes, scores,
        )  # fmt: skip
        numbers = chosen[:n].tolist() if n >= 0 else None
        if n < -1:
            scores = self.learner.score_rows(self._strengths(n == COUNTED, room))[0]
        self._rooms.append(room)
        return scores, numbers

    def _strengths(self, is_counted: bool, room: _Room) -> Rows:
        """Return the strengths of what was counted, weighed already or not."""
        features, notes = self.features, room.notes
        n = int(notes[N_ENTRIES])
        indices, counts, values = (one[:n].copy() for one in room.out[:3])
        indptr, lengths = np.array([0, n]), notes[N_TOKENS : N_TOKENS + 1].copy()
        if not is_counted:
            return Rows(indptr, indices, values, features.n_columns, lengths)
        n_columns = features.counter.n_features
        rows = Rows(indptr, indices, counts.astype(np.float32), n_columns, lengths)
        return features.apply(features.with_concepts(rows))


class _Room(TextRoom):
    """What one reader writes to."""

    def __init__(self, counter: FrozenCounter) -> None:
        super().__init__(counter)
        self.chosen = np.empty(MOST_CHOSEN, np.int64)
