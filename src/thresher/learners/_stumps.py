"""The search for stumps: documents by columns, and the rounds of categories, some at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from thresher.errors import ParameterError
from thresher.learners._memory import each_in_rounds
from thresher.learners.learner import Progress
from thresher.rows import Rows

LEAST = 1e-9  # a stump whose |r| is no higher knows nothing
PERFECT = 1 - 1e-10  # one whose |r| is higher leaves nothing to learn
REFRESHED = 16  # rounds after which what words add up to is added up again: roundings pile up


class Rounds(NamedTuple):
    """The stumps of one category, in order; α is below zero where a stump speaks against it."""

    columns: np.ndarray  # int32
    thresholds: np.ndarray  # float64; zero where there is none
    alphas: np.ndarray  # float64

    @staticmethod
    def none() -> Rounds:
        return Rounds(np.zeros(0, np.int32), np.zeros(0), np.zeros(0))

    def first(self, n: int) -> Rounds:
        return Rounds(*(one[:n] for one in self))

    def merged(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return columns, thresholds and normalised shares, equal stumps added up."""
        shares: dict[tuple[int, float], float] = {}
        total = np.abs(self.alphas).sum()
        for column, threshold, alpha in zip(*(one.tolist() for one in self), strict=True):
            shares[column, threshold] = shares.get((column, threshold), 0.0) + alpha
        columns, thresholds = zip(*shares, strict=True) if shares else ((), ())
        return (
            np.array(columns, np.int32),
            np.array(thresholds, np.float64),
            np.array(list(shares.values()), np.float64) / (total or 1.0),
        )


class Columns:
    """The documents by columns, as the kernels search them; values are kept for thresholds only."""

    def __init__(self, rows: Rows, n_columns: int, n_thresholds: int) -> None:
        from thresher._kernels.boosting import count_columns, fill_columns, turn_words

        self.n_documents = rows.n_rows
        if self.n_documents >= 2**31:
            raise ParameterError(f"StumpBoosting takes up to 2³¹ documents, not {rows.n_rows:,}.")
        indices = rows.indices.view(np.uint32)
        counts = np.zeros(n_columns, np.int64)
        count_columns(indices, rows.values, counts)
        self.ends = np.concatenate([[0], np.cumsum(counts)])
        self.entries = np.empty(int(self.ends[-1]), np.uint32)
        self.values = np.empty(int(self.ends[n_thresholds]), np.float32)
        self.middles = np.empty(n_thresholds, np.int64)
        places = self.ends[:-1].copy()
        columns = places, self.entries, self.values, n_thresholds
        fill_columns(rows.indptr, indices, rows.values, *columns)
        for j in range(n_thresholds):
            self._sort(j)
        self.starts = np.zeros(self.n_documents + 2, np.int64)
        self.words = np.empty(len(self.entries) - len(self.values), np.uint32)
        turn_words(self.ends, n_thresholds, self.entries, self.starts, self.words)

    def _sort(self, j: int) -> None:
        """Sort a column by value, and mark after which entries a threshold may follow."""
        here = slice(int(self.ends[j]), int(self.ends[j + 1]))
        size = here.stop - here.start
        # The bits of a float ascend with its size: sign, size from the highest down, document.
        bits = self.values[here].view(np.uint32).astype(np.uint64)
        keys = ((bits ^ np.uint64(0x7FFFFFFF)) << np.uint64(32)) | (self.entries[here] >> 1)
        keys.sort()
        sorted_bits = (keys >> np.uint64(32)).astype(np.uint32) ^ np.uint32(0x7FFFFFFF)
        values = sorted_bits.view(np.float32)
        positive = int(np.count_nonzero(values > 0))
        follows = np.empty(size, bool)
        follows[:-1] = values[1:] != values[:-1]
        follows[-1:] = size < self.n_documents
        if positive:
            follows[positive - 1] = positive < self.n_documents
        self.values[here] = values
        self.entries[here] = 2 * keys.astype(np.uint32) + follows
        self.middles[j] = here.start + positive

    def threshold(self, j: int, place: int) -> float:
        """Return what lies midway between an entry's value and the next one towards zero."""
        middle, end = int(self.middles[j]), int(self.ends[j + 1])
        value, following = float(self.values[place]), 0.0
        if place + 1 not in (middle, end):
            following = float(self.values[place + 1])
        elif place < middle and end - self.ends[j] == self.n_documents:  # nothing is zero
            following = float(self.values[end - 1])
        return (value + following) / 2

    def span(self, j: int, threshold: float) -> tuple[int, int, int]:
        """Return a stump as first and last entry of a run, and what it says of them: 1 or -1."""
        first, end = int(self.ends[j]), int(self.ends[j + 1])
        if j >= len(self.middles):
            return first, end, 1
        middle = int(self.middles[j])
        below = int(np.searchsorted(self.values[middle:end], threshold))
        nothing_between = end - first == self.n_documents and below == end - middle
        if threshold > 0 or nothing_between:
            return first, first + int(np.sum(self.values[first:middle] >= threshold)), 1
        return middle, middle + below, -1

    def margins(self, rounds: Rounds) -> Iterator[np.ndarray]:
        """Yield f, the sum of α h, for all documents after each round, in the same array."""
        sums = np.zeros(self.n_documents)
        for column, threshold, alpha in zip(*(one.tolist() for one in rounds), strict=True):
            first, end, side = self.span(column, threshold)
            sums -= side * alpha
            sums[self.entries[first:end] >> 1] += 2 * side * alpha
            yield sums


# ---- rounds -----------------------------------------------------------------------------------


class Work(NamedTuple):
    """What is learned from, and how."""

    columns: Columns
    signs: np.ndarray  # int8, documents by categories: 1 belongs, -1 does not, 0 is not known
    weights: np.ndarray  # by document
    apart: bool  # whether positives and negatives weigh a half each (MR)
    n_jobs: int
    progress: Progress

    def boost(self, limits: np.ndarray, earlier: list[Rounds]) -> list[Rounds]:
        """Return the rounds of all categories, up to a limit each; threads take some each."""
        from thresher._kernels.boosting import FEW, LANES

        counted = self.signs[self.weights > 0]
        both = np.logical_and((counted > 0).any(0), (counted < 0).any(0))
        rounds = [Rounds.none()] * len(limits)
        # Categories of as many rounds share their lanes, so that few of these stand idle.
        order = [int(k) for k in np.argsort(-limits, kind="stable") if both[k]]
        blocks = [order[start : start + LANES] for start in range(0, len(order), LANES)]
        if blocks and len(blocks[-1]) <= FEW:
            blocks[-1:] = [[k] for k in blocks[-1]]
        sizes = [int(limits[block[0]]) for block in blocks]

        def work(number: int, tick: Callable[[], None]) -> None:
            block = blocks[number]
            before = [earlier[k] for k in block]
            of_block = self._block(block, limits[block], before, tick)
            for k, one in zip(block, of_block, strict=True):
                rounds[k] = one

        each_in_rounds(work, sizes, self.n_jobs, self.progress, len(self.signs))
        return rounds

    def _block(
        self,
        block: list[int],
        limits: np.ndarray,
        earlier: list[Rounds],
        tick: Callable[[], None],
    ) -> list[Rounds]:
        """Return the rounds of some categories, which are searched together."""
        from thresher._kernels.boosting import LANES, search

        columns, n_lanes = self.columns, 1 if len(block) == 1 else LANES
        signed = np.zeros((columns.n_documents + 1, n_lanes))
        signed[:-1, : len(block)] = self.signs[:, block] * self.weights[:, None]
        halves = np.zeros(n_lanes)
        lanes = [
            Lane(columns, signed, halves, number, self.apart, int(limits[number]))
            for number in range(len(block))
        ]
        for lane, rounds in zip(lanes, earlier, strict=True):
            lane.replay(rounds)
        best, chosen = np.empty(n_lanes), np.empty(n_lanes, np.int64)
        where = (0,) * n_lanes, columns.ends, columns.middles, columns.entries
        weights = signed, halves, np.empty(n_lanes), np.empty(n_lanes)
        while any(lane.is_open for lane in lanes):
            best[:], chosen[:] = LEAST / 2, -1
            search(*where, *weights, best, chosen)
            for lane, j, half in zip(lanes, chosen.tolist(), best.tolist(), strict=False):
                if lane.is_open:
                    lane.add(j, half)
            tick()
        return [lane.rounds() for lane in lanes]


class Lane:
    """One category of those that are searched together."""

    def __init__(
        self,
        columns: Columns,
        signed: np.ndarray,
        halves: np.ndarray,
        number: int,
        apart: bool,
        limit: int,
    ) -> None:
        self.columns, self.signed, self.halves, self.number = columns, signed, halves, number
        self.apart, self.limit = apart, limit
        self.chosen: list[tuple[int, float, float]] = []
        self.sides = np.empty(columns.n_documents)
        self.sums = np.zeros((2, len(columns.ends) - 1 - len(columns.middles)))
        self.is_open = True
        self._reweigh(0, 0, 1, 1.0)

    def rounds(self) -> Rounds:
        columns, thresholds, alphas = zip(*self.chosen, strict=True) if self.chosen else ((),) * 3
        return Rounds(
            np.array(columns, np.int32), np.array(thresholds, float), np.array(alphas, float)
        )

    def add(self, j: int, half: float) -> None:
        """Take the stump of column `j` with this |r|/2, or a better one, or end without any."""
        from thresher._kernels.boosting import best_word, place_of

        columns = self.columns
        where = columns.ends, len(columns.middles), columns.n_documents
        j, half = best_word(*where, self.sums, self.halves[self.number], half, j)
        if j < 0:
            self._end()
            return
        threshold = 0.0
        if j < len(columns.middles):
            first, middle, end = columns.ends[j], columns.middles[j], columns.ends[j + 1]
            weights = self.signed, self.number, self.halves[self.number], half
            place = place_of(columns.entries, first, middle, *weights)
            if place < 0:
                place = place_of(columns.entries, middle, end, *weights)
            threshold = columns.threshold(j, int(place))
        self._weigh(j, threshold)

    def replay(self, rounds: Rounds) -> None:
        """Take the stumps of an earlier run, which the same documents must have led to."""
        for j, threshold, alpha in zip(*(one.tolist() for one in rounds), strict=True):
            self._weigh(j, threshold)
            if not abs(self.chosen[-1][2] - alpha) <= 1e-6:  # nor where it is NaN
                raise ParameterError(
                    "StumpBoosting: warm_start goes on with the same documents, and in round "
                    f"{len(self.chosen)} of a category these give the rule on feature {j} an α of "
                    f"{self.chosen[-1][2]:.6f}, where it was {alpha:.6f}. Fit without warm_start."
                )

    def _weigh(self, j: int, threshold: float) -> None:
        """Note a stump with its α, and weigh the documents anew."""
        from thresher._kernels.boosting import half_r

        lane, entries = self.number, self.columns.entries
        first, end, side = self.columns.span(j, threshold)
        half = half_r(entries, first, end, self.signed, lane, self.halves[lane])
        most = 1 - 1 / self.columns.n_documents
        r = min(max(2 * side * half, -most), most)
        self.chosen.append((j, threshold, float(np.arctanh(r))))
        if abs(2 * half) > PERFECT or len(self.chosen) == self.limit:
            self._end()
            return
        right = np.sqrt((1 - r) / (1 + r))
        self._reweigh(first, end, side, np.sqrt(right) if self.apart else right)

    def _reweigh(self, first: int, end: int, side: int, right: float) -> None:
        from thresher._kernels.boosting import add_words, reweigh

        columns, lane = self.columns, (self.signed, self.number)
        stump = columns.entries, first, end, float(side), self.sides, right, 1 / right
        words = columns.starts, columns.words
        half = reweigh(*stump, self.apart, *lane, *words, self.sums)
        self.halves[self.number] = half
        if len(self.chosen) % REFRESHED == 0:
            add_words(*words, *lane, self.sums)

    def _end(self) -> None:
        self.signed[:, self.number] = 0.0
        self.halves[self.number] = 0.0
        self.is_open = False
