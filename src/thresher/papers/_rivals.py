"""The rivals that the 1997 paper names, run as it runs its own algorithm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from thresher.corpora import load
from thresher.evaluation import evaluate
from thresher.examples import Examples
from thresher.experiments.protocols import in_parallel
from thresher.features import Strength
from thresher.learners import (
    DecisionTree,
    Learner,
    MajorityClass,
    MultilayerPerceptron,
    NaiveBayes,
    Rocchio,
)
from thresher.learners.online import SleepingExperts
from thresher.linguistics import Linguistics
from thresher.papers._running import CORES, Documents, Task, mean_and_spread, numbered
from thresher.rows import Labels, Rows
from thresher.text import TextCounter

__all__ = ["RIVALS", "Rival", "break_even", "counted_split", "frequent_only", "nouns_and_verbs"]

LEAST_FREQUENCY = 3


def nouns_and_verbs() -> TextCounter:
    """Return a counter of lemmas of words that can be nouns or verbs."""
    return TextCounter(linguistics=Linguistics(lemmatize=True, word_classes=("noun", "verb")))


def frequent_only(train: Rows, test: Rows) -> tuple[Rows, Rows]:
    """Leave out the features that occur less than three times in the training documents."""
    kept = np.bincount(train.indices, train.values, train.n_columns) >= LEAST_FREQUENCY
    return train.keep(kept), test.keep(kept)


def break_even(scores: np.ndarray, labels: Labels) -> float:
    """Return the break-even point of all pairs of document and category, in percent.

    Examples
    --------
    >>> break_even(np.array([[2.0], [1.0], [0.0]]), numbered([["a"], [], ["a"]], ["a"]))
    50.0
    """
    return 100 * evaluate(scores, labels).pooled["break_even_interpolated"]


SINGLE_WORDS, SPARSE_TRIGRAMS = "words", "words, pairs, and trigrams with gaps"
COUNTERS: dict[str, Callable[[], TextCounter]] = {
    "lemmas": nouns_and_verbs,
    SINGLE_WORDS: TextCounter,
    SPARSE_TRIGRAMS: partial(TextCounter, ngram_range=(1, 3), gaps=True),
}


@lru_cache(maxsize=2)
def counted_split(variant: str, features: str = "lemmas") -> Task:
    """Return a split of the whole collection, as counts.

    Categories without training documents come last among the labels of the test documents; they
    get no scores, so that their positives count as lost.
    """
    corpus = load(f"reuters21578:{variant}")
    train, test = corpus.split("train"), corpus.split("test")
    categories = sorted({name for own in train.labels for name in own})
    unseen = sorted({name for own in test.labels for name in own} - set(categories))
    counter = COUNTERS[features]()
    rows = counter.count(train.texts)
    counted = frequent_only(rows, counter.count(test.texts, grow=False))
    lists = numbered(train.labels, categories), numbered(test.labels, [*categories, *unseen])
    return Task(*map(Documents, counted, lists))


class Rival(NamedTuple):
    """A row of table 2: what is learned from, and what is chosen from."""

    learner: type[Learner]
    params: dict[str, tuple[Any, ...]]  # the values of each that are tried, the usual first
    features: str = "lemmas"
    seeds: bool = False  # whether chance plays a part
    is_quick: bool = True  # enough for a quick run

    def versions(self) -> list[dict[str, Any]]:
        """Return all combinations of the values."""
        return [
            dict(zip(self.params, values, strict=True)) for values in product(*self.params.values())
        ]

    def choose(self, counts: Task, quick: bool) -> dict[str, Any]:
        """Return the values that are best on the last quarter of the training documents."""
        versions = self.versions()
        if quick or len(versions) == 1:
            return versions[0]
        held_out = self._task(counts).rehearsal()
        points = in_parallel(
            lambda one: break_even(self.scores(held_out, one), held_out.test.labels),
            versions,
            CORES,
        )
        return versions[int(np.argmax(list(points)))]

    def scores(self, task: Task, params: dict[str, Any], seed: int = 0) -> np.ndarray:
        """Learn the training documents, whose strengths are given; return the test scores."""
        learner = self.learner(**params)
        if self.seeds:
            learner.set_params(random_state=seed)
        return learner.fit_rows(Examples.of(*task.train)).score_rows(task.test.rows)

    def _task(self, counts: Task) -> Task:
        strength = Strength(**self.learner.preferred_strength).observe(counts.train.rows)
        return Task(*(Documents(strength.apply(part.rows), part.labels) for part in counts))

    def measure(
        self, variant: str, column: str, seeds: Sequence[int], quick: bool
    ) -> tuple[dict[str, float], dict[str, float], dict[str, Any]]:
        """Return the two break-even points of a split, their spread, and what was chosen."""
        counts = counted_split(variant, self.features)
        params, task = self.choose(counts, quick), self._task(counts)

        def test(seed: int) -> dict[str, float]:
            evaluation = evaluate(self.scores(task, params, seed), task.test.labels)
            return {
                column: 100 * evaluation.pooled["break_even_interpolated"],
                f"{column}, by category": 100 * evaluation.micro["break_even"],
            }

        runs = list(in_parallel(test, seeds if self.seeds else seeds[:1], CORES))
        return *mean_and_spread(runs), params


EXPERTS = {"max_iter": (1, 2, 5), "penalty": (0.5, 0.3, 0.1)}
RIVALS: dict[str, Rival] = {
    "Experts unigram": Rival(SleepingExperts, EXPERTS, SINGLE_WORDS, seeds=True),
    "Experts, sparse trigrams": Rival(
        SleepingExperts, EXPERTS, SPARSE_TRIGRAMS, seeds=True, is_quick=False
    ),
    "Neural network": Rival(
        MultilayerPerceptron,
        {"output": ("logistic",), "hidden": (6,), "max_iter": (10, 5, 20)},
        seeds=True,
        is_quick=False,
    ),
    "Rocchio": Rival(Rocchio, {"gamma": (4.0, 8.0, 16.0, 32.0), "cut": (True, False)}),
    "Decision trees": Rival(DecisionTree, {"pruning": ("confidence", None)}, is_quick=False),
    "Bayes": Rival(
        NaiveBayes, {"event_model": ("multinomial", "bernoulli"), "smoothing": (1.0, 0.1, 0.01)}
    ),
    "Majority class": Rival(MajorityClass, {}),
}
