"""Expectation maximisation for `Concepts`: the iterations and the stopping rule."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thresher.engine import engine_for, run_blocks
from thresher.errors import ThresherWarning, counted
from thresher.rows import Rows

if TYPE_CHECKING:
    from thresher.features.concepts import Concepts

# All concepts start nearly alike: the probabilities of a word differ between them by at most 10 %.
# With a spread of 100 %, iterations end 7 earlier, but with a perplexity 10 % higher (100 and 500
# concepts of the training documents of Reuters-21578, and samples of 30 to 1,000 of them).
START_SPREAD = 0.1
# While the perplexity has changed by a smaller share since the first iteration, the concepts are
# still nearly alike, and a small rise does not matter.
PLATEAU = 0.01
LEAST_PROBABILITY = 1e-30  # of a held-out token, whose logarithm is taken

Progress = Callable[[str, int, float], None] | None


class Entries(NamedTuple):
    """Documents in the form that the kernels need."""

    indptr: np.ndarray
    words: np.ndarray  # uint32
    counts: np.ndarray  # float32

    def documents(self) -> np.ndarray:
        """Return the number of the document of each entry."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))


class Mixture:
    """A model that is being fitted: P(z|d) and P(w|z) after its best iteration, in one table."""

    def __init__(self, n_documents: int, phi: np.ndarray) -> None:
        size = phi.shape[1]
        self.n_documents = n_documents
        self.table = np.full((n_documents + len(phi), size), 1 / size, np.float32)
        self.table[n_documents:] = phi
        self.perplexities: list[float] = []
        self.perplexity, self.n_iter = np.inf, 0
        self.power, self.improved, self.running = 1.0, True, True

    @property
    def theta(self) -> np.ndarray:
        return self.table[: self.n_documents]

    @property
    def phi(self) -> np.ndarray:
        return self.table[self.n_documents :]

    def _is_on_plateau(self) -> bool:
        """Return True if the concepts are still nearly alike."""
        return bool(np.ptp(self.perplexities) < PLATEAU * self.perplexities[0])

    def judge(self, table: np.ndarray, perplexity: float | None, factor: float | None) -> None:
        """Adopt the table of an iteration if the perplexity of the held-out tokens is lower."""
        if perplexity is not None:
            self.perplexities.append(perplexity)
        if perplexity is None or perplexity < self.perplexity or self._is_on_plateau():
            self.table[:] = table  # one call, which cannot be interrupted
            self.perplexity = np.inf if perplexity is None else perplexity
            self.n_iter += 1
            self.improved = True
            self.running = self.table.shape[1] > 1  # a single concept needs no more iterations
        elif factor is None or not self.improved:
            self.running = False
        else:
            self.power *= factor
            self.improved = False


class Maximisation:
    """Expectation maximisation of several models on the same documents."""

    def __init__(self, concepts: Concepts, training: Rows, held: Rows, progress: Progress) -> None:
        self.concepts, self.progress = concepts, progress
        self.training = Entries(training.indptr, training.indices.view(np.uint32), training.values)
        self.held = Entries(held.indptr, held.indices.view(np.uint32), held.values)
        self.n_words = training.n_columns
        by_word = np.argsort(training.indices, kind="stable")
        documents = self.training.documents().astype(np.uint32)[by_word]
        ends = np.cumsum(np.bincount(training.indices, minlength=self.n_words))
        self.words = (np.concatenate([[0], ends]), documents, by_word)
        self.ratios = np.empty(len(by_word), np.float32)

    def run(self, sizes: tuple[int, ...], n_jobs: int, keep_partial: bool = True) -> list[Mixture]:
        """Return the best model of each size; if interrupted, raise unless `keep_partial`."""
        engine_for(n_jobs)  # raises an error if it is no number of threads
        best: list[Mixture] = []
        mixtures: list[Mixture] = []
        try:
            for start in range(self.concepts.n_init):
                mixtures = [self._first(size, start) for size in sizes]
                self._iterate(mixtures, n_jobs, start)
                best = self._better(best, mixtures)
        except KeyboardInterrupt:
            if mixtures and all(mixture.n_iter for mixture in mixtures):
                best = self._better(best, mixtures)
            if not best or not keep_partial:
                raise
            n_iter = counted(max(mixture.n_iter for mixture in best), "iteration")
            warn(
                f"The concepts were interrupted after {n_iter}, and are as these left them; fit "
                "again for better ones."
            )
        return best

    @staticmethod
    def _better(best: list[Mixture], mixtures: list[Mixture]) -> list[Mixture]:
        if not best:
            return mixtures
        pairs = zip(best, mixtures, strict=True)
        return [new if new.perplexity < old.perplexity else old for old, new in pairs]

    def _first(self, size: int, start: int) -> Mixture:
        """Return a model of random P(w|z), which do not depend on the other models."""
        random = np.random.default_rng([self.concepts.random_state, start, size])
        phi = np.float32(START_SPREAD) * random.random((self.n_words, size), dtype=np.float32)
        phi += np.float32(1)
        return Mixture(len(self.training.indptr) - 1, phi / phi.sum(axis=0))

    def _iterate(self, mixtures: list[Mixture], n_jobs: int, start: int) -> None:
        max_iter, factor = self.concepts.max_iter, self.concepts.tempering
        spare = np.empty(max(mixture.table.size for mixture in mixtures), np.float32)
        n_documents = mixtures[0].n_documents
        for iteration in range(1, max_iter + 1):
            for mixture in mixtures:
                if mixture.running:
                    table = spare[: mixture.table.size].reshape(mixture.table.shape)
                    self._step(mixture, table, n_jobs)
                    theta, phi = table[:n_documents], table[n_documents:]
                    mixture.judge(table, self._perplexity(theta, phi, n_jobs), factor)
            if self.progress is not None:
                share = (start + iteration / max_iter) / self.concepts.n_init
                self.progress(_stage(mixtures, iteration), n_documents, share)
            if not any(mixture.running for mixture in mixtures):
                break

    def _step(self, mixture: Mixture, table: np.ndarray, n_jobs: int) -> None:
        """Write the next P(z|d) and P(w|z) into a table."""
        from thresher._kernels import concepts as kernels

        theta, phi, n_documents = mixture.theta, mixture.phi, mixture.n_documents
        if mixture.power < 1:
            power = np.float32(mixture.power)
            theta, phi = theta**power, phi**power
        old = theta, phi
        documents = (*self.training, *old, table[:n_documents], self.ratios)
        words = (*self.words, self.ratios, *old, table[n_documents:])
        by_document, by_word = blocks(self.training.indptr, n_jobs), blocks(self.words[0], n_jobs)
        run_blocks(partial(kernels.update_documents, *documents), by_document, n_jobs)
        run_blocks(partial(kernels.update_words, *words), by_word, n_jobs)
        by_concept = np.linspace(0, phi.shape[1], n_jobs + 1).astype(np.int64)
        run_blocks(partial(kernels.normalise_concepts, table[n_documents:]), by_concept, n_jobs)

    def _perplexity(self, theta: np.ndarray, phi: np.ndarray, n_jobs: int) -> float | None:
        """Return the perplexity of the held-out tokens, or None if there are none."""
        from thresher._kernels.concepts import mixtures

        indptr, words, counts = self.held
        if not len(words):
            return None
        explained = np.empty(len(words), np.float32)
        explain = partial(mixtures, indptr, words, theta, phi, explained)
        run_blocks(explain, blocks(indptr, n_jobs), n_jobs)
        logarithms = np.log(np.maximum(explained.astype(np.float64), LEAST_PROBABILITY))
        return float(np.exp(-(counts * logarithms).sum() / counts.sum(dtype=np.float64)))

    def memberships(self, mixtures: list[Mixture]) -> tuple[np.ndarray, np.ndarray]:
        """Return P(z) and P(z|d) of all concepts; a document without words gets P(z)."""
        lengths = np.bincount(
            self.training.documents(), self.training.counts, len(self.training.indptr) - 1
        )
        shares = np.concatenate([lengths / lengths.sum() @ mixture.theta for mixture in mixtures])
        memberships = np.concatenate([mixture.theta for mixture in mixtures], axis=1)
        memberships[lengths == 0] = shares
        return shares, memberships


def _stage(mixtures: list[Mixture], iteration: int) -> str:
    last = [f"{mixture.perplexities[-1]:,.0f}" for mixture in mixtures if mixture.perplexities]
    perplexity = f", perplexity {', '.join(last)}" if last else ""
    return f"concepts, iteration {iteration}{perplexity}"


def blocks(indptr: np.ndarray, n_jobs: int) -> np.ndarray:
    """Return the ends of blocks of rows with about equal numbers of entries, four per thread."""
    targets = np.linspace(0, indptr[-1], 4 * n_jobs + 1)
    ends = np.searchsorted(indptr, targets)
    ends[0], ends[-1] = 0, len(indptr) - 1
    return ends


def warn(sentence: str) -> None:
    warnings.warn(sentence, ThresherWarning, stacklevel=4)
