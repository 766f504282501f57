"""Measures of table 1: three algorithms, as the paper's extensions are added one by one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from thresher.evaluation.measures import evaluate
from thresher.features.strength import Strength, Weighting
from thresher.learners.online import BalancedWinnow, OnlineLearner, Perceptron, PositiveWinnow
from thresher.rows import Labels, Rows
from thresher_papers._running import Documents, Task, one_category
from thresher_papers.dagan_karov_roth_1997.documents import Setting, draw

__all__ = ["VERSIONS", "Version", "break_even", "learn_and_score", "make_learner", "measure"]

DISCARD_AFTER = 5  # passes
MOST_PASSES = 50
CUT, LENGTH = "negative weights cut", "cut, strengths normalised"


class Version(NamedTuple):
    """A column of table 1: what is switched on."""

    strength: Weighting
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


def make_learner(
    algorithm: str,
    version: Version,
    rate: float,
    d: float = 1.0,
    demotion_power: float = 1.0,
) -> OnlineLearner:
    """Return the learner of a row and a column of table 1, `d` features being active on average.

    `rate` is the promotion, or the Perceptron's rate as a multiple of θ/d.

    Examples
    --------
    >>> make_learner("Perceptron", VERSIONS["Basic"], 0.5, 50.0).promotion
    0.01
    """
    common: dict[str, Any] = {"margin": version.margin, "discard_after": DISCARD_AFTER}
    common["discard"] = "filter-range" if version.discards else None
    if algorithm.startswith("Perceptron"):
        step = "strength" if "strength" in algorithm else "presence"
        common |= {"threshold": 1.0, "initial_weight": None, "always_on": False, "step": step}
        return Perceptron(promotion=rate / d, **common)
    common |= {"promotion": rate, "demotion": rate**-demotion_power}
    if algorithm == "BalancedWinnow":
        return BalancedWinnow(**common)
    return PositiveWinnow(normalize_strength=version.normalized, **common)


def learn_and_score(
    learner: OnlineLearner,
    train: Documents,
    test: Rows,
    d: float,
    seed: int = 0,
    masks: bool = False,
) -> np.ndarray:
    """Pass over the documents until no mistakes remain, fifty times at most; return test scores.

    What the learner discards is taken out of the documents, so that the strengths of the others
    are normalised without it, unless it `masks`; the learner must then be of one category.

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
        is_live = learner.live_features()
        if not masks and is_live.any() and not is_live.all():
            learner.prune(is_live)
            rows, test = rows.keep(is_live), test.keep(is_live)
        elif not mistakes.any():
            break
    return learner.score_rows(test)


def break_even(scores: np.ndarray, labels: Labels) -> float:
    """Return the break-even point of all pairs of document and category, in percent.

    Examples
    --------
    >>> belongs = one_category(np.array([True, False, True]))
    >>> break_even(np.array([[2.0], [1.0], [0.0]]), belongs)
    50.0
    """
    return 100 * evaluate(scores, labels).pooled["break_even_interpolated"]


def _strengths(task: Task, version: Version) -> tuple[Rows, Rows, float]:
    """Return the strengths of training and test documents, and the mean number of features."""
    train, test = (Strength(version.strength).apply(documents.rows) for documents in task)
    return train, test, len(train.indices) / train.n_rows


def _mean_break_even(
    algorithm: str, version: Version, rate: float, setting: Setting, tasks: list[Task]
) -> dict[str, float]:
    """Return the mean over the tasks, and how much of the features the categories discard.

    Where features are discarded, each category learns alone.
    """
    points, shares = [], []
    for task in tasks:
        train, test, d = _strengths(task, version)
        alone = [one_category(positive) for positive in task.train.labels.to_dense().T]
        scores = []
        for labels in alone if version.discards else [task.train.labels]:
            learner = make_learner(algorithm, version, rate, d, setting.demotion_power)
            documents = Documents(train, labels)
            scores.append(learn_and_score(learner, documents, test, d, masks=setting.masks))
            shares.append(1 - learner.live_features().sum() / train.n_columns)
        points.append(break_even(np.hstack(scores), task.test.labels))
    return {"point": float(np.mean(points)), "discarded": 100 * float(np.mean(shares))}


def measure(
    algorithm: str,
    rates: tuple[float, ...],
    columns: tuple[str, ...],
    setting: Setting,
    seed: int,
) -> dict[str, float]:
    """Return a row of table 1, its rate, and the share of the features that is discarded.

    The rate, that of the last column, is chosen on held-out training documents.
    """
    tasks = draw(setting, seed)
    rehearsals = [task.rehearsal() for task in tasks]
    last, rate = VERSIONS[columns[-1]], rates[0]
    if len(rates) > 1:
        points = {
            candidate: _mean_break_even(algorithm, last, candidate, setting, rehearsals)["point"]
            for candidate in rates
        }
        rate = max(rates, key=lambda candidate: points[candidate])
    row, share = {}, 0.0
    for column in columns:
        cell = _mean_break_even(algorithm, VERSIONS[column], rate, setting, tasks)
        row[column], share = cell["point"], cell["discarded"]
    return row | {"rate": rate, "discarded": share}


def measure_without_negative(column: str, promotion: float, seed: int) -> dict[str, float]:
    """Return the break-even points of Balanced Winnow with and without its negative weights.

    Scores are those of all weights, of the positive weights alone, and of these where the strengths
    of each test document sum to one. The share is that of weights below zero among those that
    learning has moved and not discarded.
    """
    version, rows = VERSIONS[column], []
    for task in draw(Setting(), seed):
        train, test, d = _strengths(task, version)
        learner = make_learner("BalancedWinnow", version, promotion, d)
        documents = Documents(train, task.train.labels)
        scores = learn_and_score(learner, documents, test, d, masks=True)
        weights = learner.effective_weights()
        moved = (weights != 0) & ~np.isclose(weights, 1 / d)
        positive = np.maximum(weights, 0)
        rows.append(
            {
                "as learned": break_even(scores, task.test.labels),
                CUT: break_even(weighed(test, positive), task.test.labels),
                LENGTH: break_even(
                    weighed(Strength("frequency", normalize="sum").apply(test), positive),
                    task.test.labels,
                ),
                "weights below zero, %": 100 * float((weights < 0).sum() / moved.sum()),
            }
        )
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}


def weighed(rows: Rows, weights: np.ndarray) -> np.ndarray:
    """Return the scores of documents, the sums of strengths times weights."""
    products = rows.values[:, None] * weights[rows.indices]
    sums = np.concatenate([np.zeros((1, weights.shape[1])), np.cumsum(products, 0, np.float64)])
    return np.asarray(np.diff(sums[rows.indptr], axis=0), np.float32)
