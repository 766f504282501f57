"""Tables 4 and 5, figure 1, and what happens when something is done otherwise."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from threading import Lock
from typing import Any

import numpy as np

from thresher.errors import missing_extra
from thresher.evaluation.significance import paired_t_test
from thresher.experiments.protocols import standard_error
from thresher.features import Strength
from thresher.papers._result import Cells, Curve, Figure, Table
from thresher.papers._running import Problem, f1_percent, folds, mean_and_spread, run_with_seeds
from thresher.papers.carvalho_cohen_2006 import published
from thresher.papers.carvalho_cohen_2006.learners import PROGRAM, Variant, cross_validate
from thresher.papers.carvalho_cohen_2006.problems import problem

__all__ = ["figure_1", "measure", "summarize", "table_4", "table_5", "variants"]

NAME = "carvalho-cohen-2006"
QUICK_SETS = ("MovieReviews", "Ads", "Congress", "Wisc")
RUNS = 10

_solving = Lock()  # LIBLINEAR's random numbers are common to all threads, whatever the seed

Folds = dict[str, list[float]]  # F1 in each fold, by learner

# Each is run in place of what the program did; the last two change the data.
VARIANTS: dict[str, Variant] = {
    "as the program": PROGRAM,
    "no always-on feature": Variant(always_on=False),
    "ROMMA from zero": Variant(romma_initial="zero"),
    "average from initial weights": Variant(absent_is_zero=False),
    "average of successes": Variant(average="successes", absent_is_zero=False),
    "stratified folds": Variant(stratified=True),
    "binary features": PROGRAM,
    "the other class positive": PROGRAM,
}


def measure(
    sets: Sequence[str], names: Sequence[str], seed: int, runs: int
) -> dict[str, list[Folds]]:
    """Cross-validate learners on each data set several times, with another shuffle each time."""
    seeds = range(seed, seed + runs)
    return run_with_seeds(lambda name, one: cross_validate(problem(name), names, one), sets, seeds)


def _means(folds_of: Folds) -> dict[str, float]:
    return {name: float(np.mean(values)) for name, values in folds_of.items()}


def summarize(cells: Cells, sets: Sequence[str], kind: str) -> Cells:
    """Return median F1 and average rank of each column over those of `sets` that are there.

    `kind` tells what these rows are, in the names of the new ones.

    Examples
    --------
    >>> cells = {"a": {"MBW": 90.0, "PW": 80.0}, "b": {"MBW": 70.0, "PW": 70.0}}
    >>> summarize(cells, ("a", "b"), "text")["average rank, text"]
    {'MBW': 1.25, 'PW': 1.75}
    """
    rows = [cells[name] for name in sets if name in cells]
    if not rows:
        return {}
    columns = list(rows[0])
    values = np.array([[row[column] for column in columns] for row in rows])
    others, own = values[:, None, :], values[:, :, None]
    better, equal = (others > own).sum(axis=2), (others == own).sum(axis=2)
    ranks = np.mean(better + (equal + 1) / 2, axis=0)  # equal ones share their ranks
    rows_of = {f"median, {kind}": np.median(values, axis=0), f"average rank, {kind}": ranks}
    return {name: dict(zip(columns, row.tolist(), strict=True)) for name, row in rows_of.items()}


def _with_summaries(cells: Cells) -> Cells:
    """Return the rows of the text sets, their summary, then the others and theirs."""
    ordered: Cells = {}
    for kind, group in (("text", published.TEXT), ("not text", published.NOT_TEXT)):
        ordered |= {name: cells[name] for name in group if name in cells}
        ordered |= summarize(cells, group, kind)
    return ordered


def _table(item: str, title: str, printed: Cells, means: Cells, note: str, **more: Any) -> Table:
    """Return our means beside the published ones, both with their summaries."""
    ours, theirs = (
        _with_summaries({name: one[name] for name in means}) for one in (means, printed)
    )
    summaries = tuple(row for row in ours if row not in means)
    return Table(NAME, item, title, theirs, ours, [note], summaries=summaries, **more)


def _stars(folds_of: Folds) -> dict[str, str]:
    """Mark learners that differ from MBW (paired t-test), so that Markdown shows the stars."""
    tests = {name: paired_t_test(values, folds_of["MBW"]) for name, values in folds_of.items()}
    return {name: test.stars.replace("*", "\\*") for name, test in tests.items()}


def table_4(seed: int = 0, quick: bool = False) -> Table:
    """F1 of the five learners and of their averages, on each data set."""
    sets, runs = (QUICK_SETS, 1) if quick else (published.SETS, RUNS)
    measured = measure(sets, published.LEARNERS, seed, runs)
    cells = {name: mean_and_spread(list(map(_means, own))) for name, own in measured.items()}
    return _table(
        "table-4",
        "Table 4: F1 after one pass, five-fold cross-validation",
        published.TABLE_4,
        {name: means for name, (means, _) in cells.items()},
        f"Mean of {runs} runs of five folds, each with another shuffle. \\* and \\*\\*: "
        "differs from MBW with p ≤ 0.05 and p ≤ 0.01 (paired t-test over the folds of the "
        "first run). Medians and ranks, the published ones too, are over these data sets.",
        spread={name: spread for name, (_, spread) in cells.items()},
        marks={name: _stars(first) for name, (first, *_) in measured.items()},
    )


# ---- table 5 ----------------------------------------------------------------------------------


def _scikit_learn(module: str) -> Any:
    try:
        return import_module(f"sklearn.{module}")
    except ImportError:
        purpose = "The batch learners beside the online ones (SVM, Naive Bayes)"
        raise missing_extra("scikit-learn", "scikit-learn", purpose) from None


def learn_at_once(name: str, X: Any, positive: np.ndarray) -> Any:
    """Return scikit-learn's learner of this name in the table after learning, one at a time.

    `LinearSVC` with the hinge loss and C = 1 is LIBSVM's default but for the penalty on the
    intercept; multinomial Naive Bayes takes the counts as they are.
    """
    if name != "SVM":
        return _scikit_learn("naive_bayes").MultinomialNB().fit(X, positive)
    with _solving:
        return _scikit_learn("svm").LinearSVC(loss="hinge", random_state=0).fit(X, positive)


@contextmanager
def quiet_solvers() -> Iterator[None]:
    """Do without the warning that features of 10^5 beside features of 1 do not converge.

    To be entered before threads are started, for Python's filters are common to all of them.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", _scikit_learn("exceptions").ConvergenceWarning)
        yield


def _batch_folds(data: Problem, names: Sequence[str], seed: int) -> Folds:
    X = data.rows.to_scipy()
    f1: Folds = {name: [] for name in names}
    for train, test in folds(data.positive, 5, seed):
        for name in names:
            model = learn_at_once(name, X[train], data.positive[train])
            f1[name].append(f1_percent(model.predict(X[test]), data.positive[test]))
    return f1


def table_5(seed: int = 0, quick: bool = False) -> Table:
    """F1 of MBW and of batch learners, on each data set."""
    sets = QUICK_SETS if quick else published.SETS
    online = {"v-P": "v-Perceptron", "MBW": "MBW", "v-MBW": "v-MBW"}

    def run(name: str, shuffle: int) -> Folds:
        f1 = cross_validate(problem(name), list(online), shuffle)
        f1 = dict(zip(online.values(), f1.values(), strict=True))
        f1 |= _batch_folds(problem(name), ("SVM", "Naive Bayes"), shuffle)
        return {column: f1[column] for column in published.BATCH}

    with quiet_solvers():
        measured = {name: f1 for name, (f1,) in run_with_seeds(run, sets, [seed]).items()}
    errors = {
        name: {one: standard_error(np.array(values)) for one, values in f1.items()}
        for name, f1 in measured.items()
    }
    return _table(
        "table-5",
        "Table 5: F1 of MBW beside batch learners, five-fold cross-validation",
        published.TABLE_5,
        {name: _means(f1) for name, f1 in measured.items()},
        "One run of five folds; ± is the standard error over the folds. SVM is scikit-learn's "
        "LinearSVC with the hinge loss and C = 1, Naive Bayes its MultinomialNB.",
        spread=errors,
    )


def figure_1(seed: int = 0, quick: bool = False) -> Figure:
    """F1 of each averaged learner against the learner itself."""
    table = table_4(seed, quick)
    kinds = {"text": published.TEXT, "not text": published.NOT_TEXT}
    titles = {
        "MBW": "Modified Balanced Winnow",
        "BW": "Balanced Winnow",
        "PW": "Positive Winnow",
        "PA": "Passive-Aggressive",
        "ROMMA": "ROMMA",
    }

    def points(cells: Cells, group: Sequence[str], learner: str) -> tuple[float, ...]:
        return tuple(cells[name][learner] for name in group if name in cells)

    def panels(cells: Cells) -> dict[str, dict[str, Any]]:
        return {
            title: {
                kind: Curve(points(cells, group, one), points(cells, group, f"v-{one}"))
                for kind, group in kinds.items()
            }
            for one, title in titles.items()
        }

    title = "Figure 1: what averaging does"
    note = "One point per data set; above the diagonal, averaging helps. Hollow: published."
    axes: dict[str, Any] = {"x_label": "F1 of the last hypothesis", "y_label": "F1 of the average"}
    axes |= {"points": True, "n_columns": 3}
    both = panels(table.published), panels(table.ours)
    return Figure(NAME, "figure-1", title, *both, [note], **axes)


# ---- what matters -------------------------------------------------------------------------------


def _changed(data: Problem, change: str) -> Problem:
    if change == "binary features":
        return replace(data, rows=Strength("binary").apply(data.rows))
    if change == "the other class positive":
        return replace(data, positive=~data.positive)
    return data


def variants(seed: int = 0, quick: bool = False) -> Table:
    """How far each data set's row is from the published one when something is done otherwise."""
    sets, runs = (QUICK_SETS, 1) if quick else (published.SETS, 3)
    cells = [(name, change) for name in sets for change in VARIANTS]

    def run(cell: tuple[str, str], shuffle: int) -> dict[str, float]:
        name, change = cell
        data = _changed(problem(name), change)
        return _means(cross_validate(data, published.LEARNERS, shuffle, VARIANTS[change]))

    ours: Cells = {name: {} for name in sets}
    for (name, change), rows in run_with_seeds(run, cells, range(seed, seed + runs)).items():
        means, printed = mean_and_spread(rows)[0], published.TABLE_4[name]
        ours[name][change] = float(np.mean([abs(means[one] - printed[one]) for one in printed]))
    title = "Mean distance of the ten cells of a row from the published ones, in points of F1"
    note = (
        f"Mean of {runs} runs. Each column changes one thing; the least distance, set bold, is "
        "the best fit."
    )
    return Table(NAME, "variants", title, {}, ours, [note], best="least of row")
