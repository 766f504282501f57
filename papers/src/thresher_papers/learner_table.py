"""An additional table: every learner on Reuters-21578, ModApte split, 90 categories."""

from __future__ import annotations

from functools import lru_cache
from threading import Lock

import numpy as np

from thresher.corpora import load
from thresher.evaluation import evaluate, read_measure
from thresher.examples import Examples
from thresher.features import Strength
from thresher.learners.online import AROW, LEARNERS, OnlineLearner
from thresher.text import TextCounter
from thresher_papers._passes import scores_after
from thresher_papers._result import Item, Paper, Table
from thresher_papers._running import Documents, Run, Task, numbered

__all__ = ["PAPER", "learner_table"]

NAME = "thresher"
MEASURES = {
    "micro-F1": "micro_f1",
    "macro-F1": "macro_f1",
    "break-even": "micro_break_even",
    "pooled break-even": "pooled_break_even",
}
PASSES = (1, 10)
ORDERS = 3

_reading = Lock()


@lru_cache(maxsize=1)
def collection() -> Task:
    """Return the split as counts of words of two or more characters, with unlabelled documents."""
    corpus = load("reuters21578:modapte,categories=R90")
    train, test = corpus.split("train"), corpus.split("test")
    counter = TextCounter()
    rows = counter.count(train.texts), counter.count(test.texts, grow=False)
    labels = (numbered(split.labels, corpus.categories("R90")) for split in (train, test))
    return Task(*map(Documents, rows, labels))


def measure(name: str, average: str | None, passes: tuple[int, ...], seed: int) -> dict[str, float]:
    """Return the measures of a learner after each number of passes, in percent.

    The learner has default parameters and its preferred strength; `average` is None or "examples".
    """
    with _reading:
        (rows, labels), (test, truth) = collection()
    learner = LEARNERS[name]()
    if average is not None:
        learner.set_params(average=average)
    strength = Strength(**learner.preferred_strength).observe(rows)
    task = Task(Documents(strength.apply(rows), labels), Documents(strength.apply(test), truth))
    cells = {}
    after = fitted_scores if isinstance(learner, AROW) else scores_after
    for done, scores in after(learner, task, passes, seed).items():
        evaluation = evaluate(scores, truth)
        for title, measured in MEASURES.items():
            column = f"{title}, {done} {'pass' if done == 1 else 'passes'}"
            cells[column] = 100 * read_measure(evaluation, measured)
    return cells


def fitted_scores(
    learner: OnlineLearner, task: Task, passes: tuple[int, ...], seed: int
) -> dict[int, np.ndarray]:
    """Return the test scores of separate fits with each number of passes."""
    examples, scores = Examples.of(*task.train), {}
    for done in passes:
        learner.set_params(max_iter=done, random_state=seed).fit_rows(examples)
        scores[done] = learner.score_rows(task.test.rows)
    return scores


def learner_table(run: Run) -> Table:
    """Measure every learner after one and ten passes, with and without averaging."""
    passes = run.of(PASSES, PASSES[:1])
    rows = {
        name + (", averaged" if average else ""): (name, average, passes)
        for name, learner in LEARNERS.items()
        for average in (None, "examples")
        if average is None or "average" in learner().get_params()
    }
    reproduced, spread = run.rows(measure, rows, ORDERS)
    notes = [
        "9,603 training and 3,299 test documents, 90 categories; "
        f"mean of {len(run.seeds(ORDERS))} orders of the documents. Each learner has its default "
        "parameters and the strength it prefers; no threshold is adjusted. The variances of arow "
        "and linear-svm start from the labels. Break-even: precision at as many "
        "documents as belong, per category, weighted by its positives; pooled: of all pairs of "
        "document and category in one ranking."
    ]
    title = "Every learner on Reuters R90 (ModApte)"
    return Table(NAME, "learners", title, {}, reproduced, notes, spread=spread, best="column")


PAPER = Paper(
    name=NAME,
    title="Thresher's own tables",
    citation="this documentation",
    items={
        "learners": Item(
            "every learner on Reuters R90, one pass and ten",
            learner_table,
            corpora=("reuters21578",),
            is_additional=True,
        )
    },
)
