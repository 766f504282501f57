"""Measures of table 2: BalancedWinnow+ and its rivals on two splits of the whole collection."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from thresher.evaluation.measures import evaluate
from thresher.examples import Examples
from thresher.features.selection import information_gain, select
from thresher.features.strength import Strength
from thresher.learners.bayes import NaiveBayes
from thresher.learners.learner import Learner
from thresher.learners.majority import MajorityClass
from thresher.learners.network import MultilayerPerceptron
from thresher.learners.online import BalancedWinnow, OnlineLearner, SleepingExperts
from thresher.learners.rocchio import Rocchio
from thresher.learners.tree import DecisionTree
from thresher_papers._passes import scores_after
from thresher_papers._running import Documents, Task, one_category
from thresher_papers.dagan_karov_roth_1997.documents import LEMMAS, counted_split

__all__ = ["LEARNERS", "SPLITS", "Contender", "measured", "rehearsed"]

SPLITS = {"Apte's split": "modapte", "Lewis's split": "modlewis"}
BY_CATEGORY = ", by category"
LEARNERS: dict[str, type[Learner]] = {
    learner_class.name: learner_class
    for learner_class in (
        BalancedWinnow,
        DecisionTree,
        MajorityClass,
        MultilayerPerceptron,
        NaiveBayes,
        Rocchio,
        SleepingExperts,
    )
}


class Contender(NamedTuple):
    """A learner with its parameters and features."""

    learner: str
    params: tuple[tuple[str, Any], ...] = ()
    passes: tuple[int, ...] = ()  # of an online learner; several: the best one is chosen
    features: str = LEMMAS
    cut: int = 3  # the least number of occurrences in the training documents
    strength: str | None = None  # None: what the learner prefers
    n_selected: int | None = None  # features of each category, those of most information gain
    is_random: bool = False  # whether chance plays a part beside the order of the documents

    def make(self) -> Learner:
        """Return the learner.

        Examples
        --------
        >>> Contender("rocchio", (("gamma", 8.0),)).make().gamma
        8.0
        """
        return LEARNERS[self.learner](**dict(self.params))

    def task(self, variant: str) -> Task:
        """Return a split of the collection as strengths."""
        counts = counted_split(variant, self.features, self.cut)
        preferred = LEARNERS[self.learner].preferred_strength
        params = preferred if self.strength is None else {"kind": self.strength}
        strength = Strength(**params).observe(counts.train.rows)
        return Task(
            *(Documents(strength.apply(documents.rows), documents.labels) for documents in counts)
        )

    def scores(self, task: Task, seed: int) -> dict[int, np.ndarray]:
        """Train on the training documents; return the test scores after each of the passes."""
        learner = self.make()
        if isinstance(learner, OnlineLearner) and learner.shuffle:
            return scores_after(learner, task, self.passes, seed)
        if self.is_random:
            learner.set_params(random_state=seed)
        if self.n_selected is None:
            return {0: learner.fit_rows(Examples.of(*task.train)).score_rows(task.test.rows)}
        selected = select(information_gain(*task.train), self.n_selected)
        scores = []
        for is_selected, positive in zip(selected.T, task.train.labels.to_dense().T, strict=True):
            alone = Examples.of(task.train.rows.keep(is_selected), one_category(positive))
            scores.append(learner.fit_rows(alone).score_rows(task.test.rows.keep(is_selected)))
        return {0: np.hstack(scores)}


def rehearsed(contender: Contender, variant: str, seed: int) -> tuple[float, int]:
    """Return the best break-even point on held-out training documents, and its pass."""
    held_out = contender.task(variant).rehearsal()
    return max(
        (100 * evaluate(scores, held_out.test.labels).pooled["break_even_interpolated"], -done)
        for done, scores in contender.scores(held_out, seed).items()
    )


def measured(contenders: tuple[Contender | None, ...], seed: int) -> dict[str, float]:
    """Return the break-even points of a row of table 2: a contender on each split, or none.

    With several passes, the points after each of them.
    """
    cells = {}
    for (column, variant), contender in zip(SPLITS.items(), contenders, strict=True):
        if contender is None:
            continue
        task = contender.task(variant)
        for done, scores in contender.scores(task, seed).items():
            after = f", {done} passes" if len(contender.passes) > 1 else ""
            evaluation = evaluate(scores, task.test.labels)
            pooled, micro = evaluation.pooled["break_even_interpolated"], evaluation.micro
            cells[f"{column}{after}"] = 100 * pooled
            cells[f"{column}{BY_CATEGORY}{after}"] = 100 * micro["break_even"]
    return cells
