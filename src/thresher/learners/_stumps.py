"""The search for decision stumps: documents by columns, and the rounds of several categories."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from thresher.errors import ParameterError
from thresher.learners._columns import by_columns, without_zeros
from thresher.learners._memory import each_in_rounds
from thresher.learners.learner import Progress
from thresher.rows import Rows

LEAST_R = 1e-9  # the |r| that a stump must exceed
PERFECT_R = 1 - 1e-10  # above this |r|, there is nothing left to learn
ROUNDS_PER_REFRESH = 16  # after which sums are computed again, because rounding errors add up


class Rounds(NamedTuple):
    """The stumps of one category, in order; α is negative if a stump is evidence against it."""

    columns: np.ndarray  # int32
    thresholds: np.ndarray  # float64; zero if there is none
    alphas: np.ndarray  # float64

    def first(self, n: int) -> Rounds:
        return Rounds(*[array[:n] for array in self])

    def items(self) -> Iterator[tuple[int, float, float]]:
        """Iterate over (column, threshold, α)."""
        return zip(*[array.tolist() for array in self], strict=True)

    def merged(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return columns, thresholds and normalised shares, summed over equal stumps."""
        shares: dict[tuple[int, float], float] = {}
        total = np.abs(self.alphas).sum()
        for column, threshold, alpha in self.items():
            shares[column, threshold] = shares.get((column, threshold), 0.0) + alpha
        columns, thresholds = zip(*shares, strict=True) if shares else ((), ())
        return (
            np.array(columns, np.int32),
            np.array(thresholds, np.float64),
            np.array(list(shares.values()), np.float64) / (total or 1.0),
        )


NO_ROUNDS = Rounds(np.zeros(0, np.int32), np.zeros(0), np.zeros(0))


class Columns:
    """The documents by columns, as the kernels search them; only thresholds need the values."""

    def __init__(self, rows: Rows, n_thresholds: int) -> None:
        self.n_documents = rows.n_rows
        if self.n_documents >= 2**31:
            raise ParameterError(f"StumpBoosting takes up to 2³¹ documents, not {rows.n_rows:,}.")
        columns = by_columns(without_zeros(rows))
        self.ends, self.entries = columns.indptr, 2 * columns.indices.view(np.uint32)
        n_valued = int(self.ends[n_thresholds])
        self.values = columns.values[:n_valued].copy()
        self.middles = np.empty(n_thresholds, np.int64)
        for j in range(n_thresholds):
            self._sort(j)
        starts = self.ends[n_thresholds:] - n_valued
        words = Rows(starts, columns.indices[n_valued:], columns.values[n_valued:], rows.n_rows)
        self.starts, numbers, *_ = by_columns(words)
        self.words = numbers.view(np.uint32)

    def _sort(self, j: int) -> None:
        """Sort a column by value, and mark the entries that a threshold may follow."""
        entries = slice(int(self.ends[j]), int(self.ends[j + 1]))
        size = entries.stop - entries.start
        # Sort by sign, by size from the largest, and by document: the bits of floats are ordered.
        bits = self.values[entries].view(np.uint32).astype(np.uint64)
        keys = ((bits ^ np.uint64(0x7FFFFFFF)) << np.uint64(32)) | (self.entries[entries] >> 1)
        keys.sort()
        sorted_bits = (keys >> np.uint64(32)).astype(np.uint32) ^ np.uint32(0x7FFFFFFF)
        values = sorted_bits.view(np.float32)
        positive = int(np.count_nonzero(values > 0))
        follows = np.empty(size, bool)
        follows[:-1] = values[1:] != values[:-1]
        follows[-1:] = size < self.n_documents
        if positive:
            follows[positive - 1] = positive < self.n_documents
        self.values[entries] = values
        self.entries[entries] = 2 * keys.astype(np.uint32) + follows
        self.middles[j] = entries.start + positive

    def threshold(self, j: int, position: int) -> float:
        """Return the midpoint between the value of an entry and the next one towards zero."""
        middle, end = int(self.middles[j]), int(self.ends[j + 1])
        value, following = float(self.values[position]), 0.0
        if position + 1 not in (middle, end):
            following = float(self.values[position + 1])
        elif position < middle and end - self.ends[j] == self.n_documents:  # no document has a zero
            following = float(self.values[end - 1])
        return (value + following) / 2

    def span(self, j: int, threshold: float) -> tuple[int, int, int]:
        """Return the entries of a stump as start and end, and its value for them, 1 or -1."""
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
        for column, threshold, alpha in rounds.items():
            first, end, side = self.span(column, threshold)
            sums -= side * alpha
            sums[self.entries[first:end] >> 1] += 2 * side * alpha
            yield sums


# ---- rounds -----------------------------------------------------------------------------------


class Work(NamedTuple):
    """The training documents and the options."""

    columns: Columns
    signs: np.ndarray  # int8, documents by categories: 1 belongs, -1 does not, 0 unknown
    weights: np.ndarray  # by document
    apart: bool  # whether positives and negatives have half the weight each (MR)
    n_jobs: int
    progress: Progress

    def boost(self, limits: np.ndarray, earlier: list[Rounds]) -> list[Rounds]:
        """Return the rounds of all categories, up to a limit each, learned in threads."""
        from thresher._kernels.boosting import CATEGORIES_PER_SEARCH, MOST_SEARCHED_SINGLY

        counted = self.signs[self.weights > 0]
        both = np.logical_and((counted > 0).any(0), (counted < 0).any(0))
        rounds = [NO_ROUNDS] * len(limits)
        # Categories with equal numbers of rounds share lanes, so that few lanes are idle.
        order = [int(k) for k in np.argsort(-limits, kind="stable") if both[k]]
        blocks = [
            order[start : start + CATEGORIES_PER_SEARCH]
            for start in range(0, len(order), CATEGORIES_PER_SEARCH)
        ]
        if blocks and len(blocks[-1]) <= MOST_SEARCHED_SINGLY:
            blocks[-1:] = [[k] for k in blocks[-1]]
        sizes = [int(limits[block[0]]) for block in blocks]

        def work(number: int, tick: Callable[[], None]) -> None:
            block = blocks[number]
            before = [earlier[k] for k in block]
            of_block = self._block(block, limits[block], before, tick)
            for k, of_category in zip(block, of_block, strict=True):
                rounds[k] = of_category

        each_in_rounds(work, sizes, self.n_jobs, self.progress, len(self.signs))
        return rounds

    def _block(
        self,
        block: list[int],
        limits: np.ndarray,
        earlier: list[Rounds],
        tick: Callable[[], None],
    ) -> list[Rounds]:
        """Return the rounds of some categories, whose stumps are searched together."""
        from thresher._kernels.boosting import CATEGORIES_PER_SEARCH, search

        columns, n_lanes = self.columns, 1 if len(block) == 1 else CATEGORIES_PER_SEARCH
        signed = np.zeros((columns.n_documents + 1, n_lanes))
        signed[:-1, : len(block)] = self.signs[:, block] * self.weights[:, None]
        halves = np.zeros(n_lanes)
        lanes = [
            Lane(self, signed, halves, number, int(limit)) for number, limit in enumerate(limits)
        ]
        for lane, rounds in zip(lanes, earlier, strict=True):
            lane.replay(rounds)
        best, chosen = np.empty(n_lanes), np.empty(n_lanes, np.int64)
        where = (0,) * n_lanes, columns.ends, columns.middles, columns.entries
        weights = signed, halves, np.empty(n_lanes), np.empty(n_lanes)
        while any(lane.is_open for lane in lanes):
            best[:], chosen[:] = LEAST_R / 2, -1
            search(*where, *weights, best, chosen)
            for lane, j, half in zip(lanes, chosen.tolist(), best.tolist(), strict=False):
                if lane.is_open:
                    lane.add(j, half)
            tick()
        return [lane.rounds() for lane in lanes]


class Lane:
    """One category of those whose stumps are searched together."""

    def __init__(
        self, work: Work, signed: np.ndarray, halves: np.ndarray, number: int, limit: int
    ) -> None:
        self.columns, self.signed, self.halves, self.number = work.columns, signed, halves, number
        self.apart, self.limit = work.apart, limit
        self.chosen: list[tuple[int, float, float]] = []
        self.sides = np.empty(work.columns.n_documents)
        self.sums = np.zeros((2, len(work.columns.ends) - 1 - len(work.columns.middles)))
        self.is_open = True
        self._reweigh(0, 0, 1, 1.0)

    def rounds(self) -> Rounds:
        columns, thresholds, alphas = np.array(self.chosen, float).reshape(-1, 3).T
        return Rounds(columns.astype(np.int32), thresholds.copy(), alphas.copy())

    def add(self, j: int, half: float) -> None:
        """Add the stump of column `j` with this |r|/2, or a better one, or end the category."""
        from thresher._kernels.boosting import best_word, position_of

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
            position = position_of(columns.entries, first, middle, *weights)
            if position < 0:
                position = position_of(columns.entries, middle, end, *weights)
            threshold = columns.threshold(j, int(position))
        self._weigh(j, threshold)

    def replay(self, rounds: Rounds) -> None:
        """Add the stumps of earlier training, checking that the documents are the same."""
        for j, threshold, alpha in rounds.items():
            self._weigh(j, threshold)
            if not abs(self.chosen[-1][2] - alpha) <= 1e-6:  # also for NaN
                raise ParameterError(
                    "StumpBoosting: warm_start goes on with the same documents, and in round "
                    f"{len(self.chosen)} of a category these give the rule on feature {j} an α of "
                    f"{self.chosen[-1][2]:.6f}, where it was {alpha:.6f}. Fit without warm_start."
                )

    def _weigh(self, j: int, threshold: float) -> None:
        """Add a stump with its α, and update the weights of documents."""
        from thresher._kernels.boosting import half_r

        lane, entries = self.number, self.columns.entries
        first, end, side = self.columns.span(j, threshold)
        half = half_r(entries, first, end, self.signed, lane, self.halves[lane])
        most = 1 - 1 / self.columns.n_documents
        r = min(max(2 * side * half, -most), most)
        self.chosen.append((j, threshold, float(np.arctanh(r))))
        if abs(2 * half) > PERFECT_R or len(self.chosen) == self.limit:
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
        if len(self.chosen) % ROUNDS_PER_REFRESH == 0:
            add_words(*words, *lane, self.sums)

    def _end(self) -> None:
        self.signed[:, self.number] = 0.0
        self.halves[self.number] = 0.0
        self.is_open = False
