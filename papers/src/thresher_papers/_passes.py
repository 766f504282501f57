"""Several passes of an online learner over the same documents."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from thresher.learners.online import OnlineLearner
from thresher_papers._running import Task

__all__ = ["scores_after"]


def scores_after(
    learner: OnlineLearner, task: Task, passes: Collection[int], seed: int
) -> dict[int, np.ndarray]:
    """Return the test scores after the given numbers of passes, each pass in another order."""
    rows, labels = task.train
    learner.start(rows.n_columns, labels.n_categories, len(rows.indices) / rows.n_rows)
    random = np.random.default_rng(seed)
    scores = {}
    for done in range(1, max(passes) + 1):
        learner.learn_rows(rows, labels, random.permutation(rows.n_rows))
        if done in passes:
            scores[done] = learner.score_rows(task.test.rows)
    return scores
