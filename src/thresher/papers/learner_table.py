"""Every learner on Reuters-21578, ModApte split, the 90 categories: our own table."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from thresher.corpora import load
from thresher.evaluation import evaluate, read_measure
from thresher.features import Strength
from thresher.learners.online import LEARNERS
from thresher.papers._paper import Item, Paper
from thresher.papers._result import Cells, Table
from thresher.papers._running import mean_and_spread, run_with_seeds
from thresher.rows import Labels, Rows
from thresher.text import TextCounter

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


class Collection(NamedTuple):
    """Counts and labels of both parts of the split."""

    train: Rows
    train_labels: Labels
    test: Rows
    test_labels: Labels


@lru_cache(maxsize=1)
def collection() -> Collection:
    """Return the split, words of two characters or more; unlabelled documents are kept."""
    corpus = load("reuters21578:modapte,categories=R90")
    number = {name: i for i, name in enumerate(corpus.categories("R90"))}
    counter = TextCounter()
    parts: list[Rows | Labels] = []
    for name in ("train", "test"):
        part = corpus.split(name)
        parts.append(counter.count(part.texts, grow=name == "train"))
        lists = [[number[label] for label in own] for own in part.labels]
        parts.append(Labels.from_lists(lists, len(number)))
    return Collection(*parts)  # type: ignore[arg-type]


def measure(name: str, average: str | None, passes: tuple[int, ...], seed: int) -> dict[str, float]:
    """Return the measures of one learner after each number of passes, in percent.

    Parameters
    ----------
    name : str
        The learner, as in `thresher.LEARNERS`; its default parameters and preferred strength.
    average : {None, "examples"}
        Whether it scores with the average of its hypotheses.
    passes : tuple of int
        After how many passes.
    seed : int
        Seed of the order, which is another one in each pass.
    """
    data, learner = collection(), LEARNERS[name]()
    if average is not None:
        learner.set_params(average=average)
    strength = Strength(**learner.preferred_strength).observe(data.train)
    rows, test = strength.apply(data.train), strength.apply(data.test)
    learner.start(rows.n_columns, data.train_labels.n_categories, len(rows.indices) / rows.n_rows)
    random = np.random.default_rng(seed)
    cells = {}
    for done in range(1, max(passes) + 1):
        learner.learn_rows(rows, data.train_labels, random.permutation(rows.n_rows))
        if done in passes:
            evaluation = evaluate(learner.score_rows(test), data.test_labels)
            for title, measured in MEASURES.items():
                cells[f"{title}, {_passes(done)}"] = 100 * read_measure(evaluation, measured)
    return cells


def _passes(n: int) -> str:
    return f"{n} pass" if n == 1 else f"{n} passes"


def learner_table(seed: int = 0, quick: bool = False) -> Table:
    """Measure every learner after one pass and after ten, averaged and not."""
    passes = PASSES[:1] if quick else PASSES
    rows = [
        (name, average)
        for name, learner in LEARNERS.items()
        for average in (None, "examples")
        if average is None or "average" in learner().get_params()
    ]
    orders = 1 if quick else ORDERS

    def run(row: tuple[str, str | None], order: int) -> dict[str, float]:
        return measure(*row, passes, order)

    ours: Cells = {
        name + (", averaged" if average else ""): mean_and_spread(runs)[0]
        for (name, average), runs in run_with_seeds(run, rows, range(seed, seed + orders)).items()
    }
    notes = [
        "9,603 training and 3,299 test documents, 90 categories; "
        f"mean of {orders} orders of the documents. Each learner has its default parameters and "
        "the strength it prefers; no threshold is adjusted. Break-even: precision at as many "
        "documents as belong, per category, weighted by its positives; pooled: of all pairs of "
        "document and category in one ranking."
    ]
    title = "Every learner on Reuters R90 (ModApte)"
    return Table(NAME, "learners", title, {}, ours, notes, best="column")


PAPER = Paper(
    name=NAME,
    title="Thresher's own tables",
    citation="this documentation",
    items={"learners": Item("every learner on Reuters R90, one pass and ten", learner_table)},
)
