"""Table 1: what each extension of three algorithms brings."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from thresher.corpora import load
from thresher.features import Strength
from thresher.learners.online import BalancedWinnow, OnlineLearner, Perceptron, PositiveWinnow
from thresher.papers._result import Cells, Table
from thresher.papers._running import mean_and_spread, one_category, run_with_seeds
from thresher.papers.dagan_karov_roth_1997.tasks import (
    DISCARD_AFTER,
    NAME,
    Documents,
    Task,
    break_even,
    frequent_only,
    nouns_and_verbs,
    numbered,
)
from thresher.rows import Rows

__all__ = ["TABLE_1", "VERSIONS", "Version", "learn_and_score", "make_learner", "table_1"]

MOST_PASSES = 50


class Version(NamedTuple):
    """A column of table 1: what is switched on."""

    strength: str
    normalized: bool = True  # Positive Winnow alone
    margin: float = 0.1  # the thresholds 0.9 and 1.1
    discards: bool = False


VERSIONS = {
    "Basic": Version("binary", normalized=False, margin=0.0),
    "Norm": Version("binary", margin=0.0),
    "θ-range": Version("binary"),
    "Linear freq.": Version("frequency"),
    "Sqrt. freq.": Version("sqrt"),
    "Discard": Version("sqrt", discards=True),
}
WITHOUT_NORM = [name for name in VERSIONS if name != "Norm"]
TABLE_1: Cells = {
    "BalancedWinnow": dict(zip(WITHOUT_NORM, (64.87, 69.66, 72.11, 71.56, 73.2), strict=True)),
    "PositiveWinnow": dict(zip(VERSIONS, (55.56, 63.56, 65.80, 67.20, 69.67, 70.0), strict=True)),
    "Perceptron": dict(zip(WITHOUT_NORM, (65.91, 63.05, 66.72, 68.29, 70.8), strict=True)),
}
# Promotions, demotion being 1/promotion; for the Perceptron, rates as multiples of θ/d.
RATES = {
    "BalancedWinnow": (1.05, 1.1, 1.2, 1.35, 1.5, 2.0),
    "PositiveWinnow": (1.05, 1.1, 1.2, 1.35, 1.5, 2.0),
    "Perceptron": (0.1, 0.3, 1.0, 3.0),
}
N_TRAIN, N_TEST, N_CATEGORIES, POOL = 2000, 1000, 10, 20
DRAWS = 10


@lru_cache(maxsize=1)
def _collection() -> tuple[Rows, list[list[str]]]:
    part = load("reuters21578:all").split("all")
    return nouns_and_verbs().count(part.texts), part.labels


def _draw(seed: int) -> list[Task]:
    """Return two disjoint pairs of training and test documents, with the same ten categories."""
    rows, labels = _collection()
    random = np.random.default_rng(seed)
    counts = Counter(name for own in labels for name in own)
    frequent = sorted(counts, key=lambda name: (-counts[name], name))[:POOL]
    categories = [str(name) for name in random.choice(frequent, N_CATEGORIES, replace=False)]
    order = random.permutation(rows.n_rows)
    tasks = []
    for start in (0, N_TRAIN + N_TEST):
        parts = order[start:][:N_TRAIN], order[start + N_TRAIN :][:N_TEST]
        lists = (numbered([labels[i] for i in part], categories) for part in parts)
        counted = frequent_only(*(rows.take(part) for part in parts))
        tasks.append(Task(*map(Documents, counted, lists)))
    return tasks


def make_learner(algorithm: str, version: Version, rate: float, d: float) -> OnlineLearner:
    """Return a learner of table 1.

    Parameters
    ----------
    algorithm : str
        A row of the table.
    version : Version
        A column of the table.
    rate : float
        Promotion, or the Perceptron's rate as a multiple of θ/d.
    d : float
        The mean number of active features in a document.

    Examples
    --------
    >>> make_learner("Perceptron", VERSIONS["Basic"], 0.5, 50.0).promotion
    0.01
    """
    discard = "filter-range" if version.discards else None
    if algorithm == "BalancedWinnow":
        return BalancedWinnow(
            promotion=rate, margin=version.margin, discard=discard, discard_after=DISCARD_AFTER
        )
    if algorithm == "PositiveWinnow":
        return PositiveWinnow(
            promotion=rate,
            margin=version.margin,
            normalize_strength=version.normalized,
            discard=discard,
            discard_after=DISCARD_AFTER,
        )
    return Perceptron(
        threshold=1.0,
        initial_weight=None,
        always_on=False,
        promotion=rate / d,
        margin=version.margin,
        discard=discard,
        discard_after=DISCARD_AFTER,
    )


def learn_and_score(
    learner: OnlineLearner, train: Documents, test: Rows, d: float, seed: int = 0
) -> np.ndarray:
    """Pass over the documents until no mistakes remain, fifty times at most; return test scores.

    What the learner discards is taken out of the documents, so that the strengths of the others
    are normalised without it; the learner must then be of one category.

    Examples
    --------
    >>> rows = Rows(np.arange(5), np.array([0, 1, 0, 1], np.int32), np.ones(4, np.float32), 2)
    >>> labels = one_category(np.array([True, False, True, False]))
    >>> learn_and_score(BalancedWinnow(), Documents(rows, labels), rows, d=1.0)[:, 0] > 0
    array([ True, False,  True, False])
    """
    rows, random = train.rows, np.random.default_rng(seed)
    learner.start(rows.n_columns, train.labels.n_categories, d)
    for _ in range(MOST_PASSES):
        mistakes = learner.learn_rows(rows, train.labels, random.permutation(rows.n_rows))
        kept = learner.live_features()
        if kept.any() and not kept.all():
            learner.prune(kept)
            rows, test = rows.keep(kept), test.keep(kept)
        elif not mistakes.any():
            break
    return learner.score_rows(test)


def _scores(algorithm: str, version: Version, rate: float, task: Task) -> np.ndarray:
    strength = Strength(version.strength)
    rows, test = strength.apply(task.train.rows), strength.apply(task.test.rows)
    d = len(rows.indices) / rows.n_rows
    if not version.discards:
        learner = make_learner(algorithm, version, rate, d)
        return learn_and_score(learner, Documents(rows, task.train.labels), test, d)
    columns = []
    for own in task.train.labels.to_dense().T:
        learner = make_learner(algorithm, version, rate, d)
        columns.append(learn_and_score(learner, Documents(rows, one_category(own)), test, d))
    return np.hstack(columns)


def _mean_break_even(algorithm: str, column: str, rate: float, tasks: list[Task]) -> float:
    version = VERSIONS[column]
    scores = [_scores(algorithm, version, rate, task) for task in tasks]
    points = [break_even(one, task.test.labels) for one, task in zip(scores, tasks, strict=True)]
    return float(np.mean(points))


def _row(algorithm: str, tasks: list[Task]) -> tuple[float, dict[str, float]]:
    """Choose the rate of the last column on held-out training documents; return it and the row."""
    rehearsals = [task.rehearsal() for task in tasks]
    best = max(
        RATES[algorithm],
        key=lambda rate: _mean_break_even(algorithm, "Discard", rate, rehearsals),
    )
    columns = [name for name in VERSIONS if name in TABLE_1[algorithm]]
    return best, {one: _mean_break_even(algorithm, one, best, tasks) for one in columns}


def table_1(seed: int = 0, quick: bool = False) -> Table:
    """Break-even points of three algorithms as the paper's extensions are added."""
    draws = 1 if quick else DRAWS
    seeds = range(seed, seed + draws)
    tasks = {one: _draw(one) for one in seeds}
    runs = run_with_seeds(lambda algorithm, one: _row(algorithm, tasks[one]), TABLE_1, seeds)
    ours: Cells = {}
    spread: Cells = {}
    chosen = []
    for algorithm, pairs in runs.items():
        rates, rows = zip(*pairs, strict=True)
        ours[algorithm], spread[algorithm] = mean_and_spread(rows)
        chosen.append(f"{algorithm} {', '.join(f'{rate:g}' for rate in rates)}")
    notes = [
        f"Mean of {draws} draws of two disjoint pairs, each with its own ten categories; ± is the "
        "standard deviation between draws. The rate is the same in all columns, that of the last "
        "one, chosen on held-out training documents, draw by draw: "
        f"{'; '.join(chosen)} (the Perceptron's in units of θ/d)."
    ]
    title = "Table 1: break-even points, 2,000 training and 1,000 test documents, ten categories"
    return Table(NAME, "table-1", title, TABLE_1, ours, notes, spread=spread)
