"""Tables 4 and 5, figure 1, and what happens when something is done otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from thresher.features import Strength
from thresher.papers._result import Cells, Curve, Figure, Table
from thresher.papers._running import Problem, f1_percent, folds, in_parallel
from thresher.papers.carvalho_cohen_2006 import published
from thresher.papers.carvalho_cohen_2006.learners import PROGRAM, Variant, cross_validate
from thresher.papers.carvalho_cohen_2006.problems import problem

__all__ = ["figure_1", "measure", "summarize", "table_4", "table_5", "variants"]

NAME = "carvalho-cohen-2006"
QUICK_SETS = ("MovieReviews", "Ads", "Congress", "Wisc")
RUNS = 10

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
) -> dict[str, list[dict[str, list[float]]]]:
    """Cross-validate each data set several times, with another shuffle each time.

    Parameters
    ----------
    sets, names : sequence of str
        Data sets and learners.
    seed : int
        Seed of the first run; the others have the seeds after it.
    runs : int
        How many runs.

    Returns
    -------
    dict of list of dict of list of float
        Data set, run, learner, fold.
    """
    jobs = [(name, seed + run) for name in sets for run in range(runs)]
    found = in_parallel(lambda job: cross_validate(problem(job[0]), names, job[1]), jobs)
    return {name: found[i * runs : (i + 1) * runs] for i, name in enumerate(sets)}


def _cell_means(found: dict[str, list[dict[str, list[float]]]]) -> tuple[Cells, Cells]:
    """Return mean F1 over runs, and how one run of five folds differs from the next."""
    means: Cells = {}
    spread: Cells = {}
    for name, runs in found.items():
        by_run = {one: [float(np.mean(run[one])) for run in runs] for one in runs[0]}
        means[name] = {one: float(np.mean(values)) for one, values in by_run.items()}
        if len(runs) > 1:
            spread[name] = {one: float(np.std(values, ddof=1)) for one, values in by_run.items()}
    return means, spread


def summarize(cells: Cells, sets: Sequence[str], kind: str) -> Cells:
    """Return median F1 and average rank of each column over some of the rows.

    Parameters
    ----------
    cells : dict
        Row, column, value.
    sets : sequence of str
        The rows; those that are not there are left out.
    kind : str
        What these rows are, for the names of the new ones.

    Examples
    --------
    >>> cells = {"a": {"MBW": 90.0, "PW": 80.0}, "b": {"MBW": 70.0, "PW": 70.0}}
    >>> summarize(cells, ("a", "b"), "text")["average rank, text"]
    {'MBW': 1.25, 'PW': 1.75}
    """
    from scipy.stats import rankdata

    rows = [cells[name] for name in sets if name in cells]
    if not rows:
        return {}
    columns = list(rows[0])
    values = np.array([[row[column] for column in columns] for row in rows])
    ranks = np.mean([rankdata(-row) for row in values], axis=0)
    medians = np.median(values, axis=0)
    return {
        f"median, {kind}": dict(zip(columns, medians.tolist(), strict=True)),
        f"average rank, {kind}": dict(zip(columns, ranks.tolist(), strict=True)),
    }


def _with_summaries(cells: Cells, sets: Sequence[str]) -> Cells:
    """Return the rows of the text sets, their summary, then the others and theirs."""
    ordered: Cells = {}
    for kind, group in (("text", published.TEXT), ("not text", published.NOT_TEXT)):
        ordered |= {name: cells[name] for name in group if name in sets}
        ordered |= summarize({name: cells[name] for name in sets}, group, kind)
    return ordered


def _stars(runs: list[dict[str, list[float]]]) -> dict[str, str]:
    """Mark learners that differ from MBW in the folds of the first run (paired t-test)."""
    from scipy.stats import ttest_rel

    folds_of = runs[0]
    marks = {}
    for name, values in folds_of.items():
        differs = np.ptp(np.subtract(values, folds_of["MBW"])) > 0
        p = ttest_rel(values, folds_of["MBW"]).pvalue if differs else 1.0
        marks[name] = "\\*\\*" if p <= 0.01 else "\\*" if p <= 0.05 else ""
    return marks


def table_4(seed: int = 0, quick: bool = False) -> Table:
    """F1 of the five learners and of their averages, on each data set."""
    sets, runs = (QUICK_SETS, 1) if quick else (published.SETS, RUNS)
    found = measure(sets, published.LEARNERS, seed, runs)
    means, spread = _cell_means(found)
    told = {name: published.TABLE_4[name] for name in sets}
    ours = _with_summaries(means, sets)
    return Table(
        NAME,
        "table-4",
        "Table 4: F1 after one pass, five-fold cross-validation",
        _with_summaries(told, sets),
        ours,
        [
            f"Mean of {runs} runs of five folds, each with another shuffle. \\* and \\*\\*: "
            "differs from MBW with p ≤ 0.05 and p ≤ 0.01 (paired t-test over the folds of the "
            "first run). Medians and ranks, the published ones too, are over these data sets."
        ],
        spread=spread,
        marks={name: _stars(found[name]) for name in sets},
        summaries=tuple(row for row in ours if row not in sets),
    )


# ---- table 5 ----------------------------------------------------------------------------------


def batch_learner(name: str) -> Any:
    """Return scikit-learn's learner of this name in the table.

    `LinearSVC` with the hinge loss and C = 1 is LIBSVM's default but for the penalty on the
    intercept; multinomial Naive Bayes takes the counts as they are.
    """
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.svm import LinearSVC

    return LinearSVC(loss="hinge", random_state=0) if name == "SVM" else MultinomialNB()


@contextmanager
def quiet_solvers() -> Iterator[None]:
    """Do without the warning that features of 10^5 beside features of 1 do not converge.

    To be entered before threads are started, for Python's filters are common to all of them.
    """
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def _batch_folds(data: Problem, names: Sequence[str], seed: int) -> dict[str, list[float]]:
    X = data.rows.to_scipy()
    found: dict[str, list[float]] = {name: [] for name in names}
    for train, test in folds(data.positive, 5, seed):
        for name in names:
            made = batch_learner(name).fit(X[train], data.positive[train])
            found[name].append(f1_percent(made.predict(X[test]), data.positive[test]))
    return found


def table_5(seed: int = 0, quick: bool = False) -> Table:
    """F1 of MBW and of batch learners, on each data set."""
    sets = QUICK_SETS if quick else published.SETS
    online = {"v-P": "v-Perceptron", "MBW": "MBW", "v-MBW": "v-MBW"}
    batch = ("SVM", "Naive Bayes")

    def both(name: str) -> dict[str, list[float]]:
        found = cross_validate(problem(name), list(online), seed)
        found = {online[one]: values for one, values in found.items()}
        found |= _batch_folds(problem(name), batch, seed)
        return {column: found[column] for column in published.BATCH}

    with quiet_solvers():
        found = dict(zip(sets, in_parallel(both, sets), strict=True))
    means = {
        name: {one: float(np.mean(values)) for one, values in runs.items()}
        for name, runs in found.items()
    }
    errors = {
        name: {one: float(np.std(values, ddof=1) / 5**0.5) for one, values in runs.items()}
        for name, runs in found.items()
    }
    ours = _with_summaries(means, sets)
    return Table(
        NAME,
        "table-5",
        "Table 5: F1 of MBW beside batch learners, five-fold cross-validation",
        _with_summaries({name: published.TABLE_5[name] for name in sets}, sets),
        ours,
        [
            "One run of five folds; ± is the standard error over the folds. SVM is scikit-learn's "
            "LinearSVC with the hinge loss and C = 1, Naive Bayes its MultinomialNB."
        ],
        spread=errors,
        summaries=tuple(row for row in ours if row not in sets),
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

    def panels(cells: Cells) -> dict[str, dict[str, Any]]:
        return {
            title: {
                kind: Curve(
                    tuple(cells[name][one] for name in group if name in cells),
                    tuple(cells[name][f"v-{one}"] for name in group if name in cells),
                )
                for kind, group in kinds.items()
            }
            for one, title in titles.items()
        }

    return Figure(
        NAME,
        "figure-1",
        "Figure 1: what averaging does",
        panels(table.published),
        panels(table.ours),
        ["One point per data set; above the diagonal, averaging helps. Hollow: published."],
        x_label="F1 of the last hypothesis",
        y_label="F1 of the average",
        points=True,
        n_columns=3,
    )


# ---- what matters -------------------------------------------------------------------------------


def _changed(data: Problem, change: str) -> Problem:
    if change == "binary features":
        return Problem(data.name, Strength("binary").apply(data.rows), data.positive, data.data)
    if change == "the other class positive":
        return Problem(data.name, data.rows, ~data.positive, data.data)
    return data


def variants(seed: int = 0, quick: bool = False) -> Table:
    """How far each data set's row is from the published one when something is done otherwise."""
    sets, runs = (QUICK_SETS, 1) if quick else (published.SETS, 3)
    jobs = [
        (name, change, seed + run) for name in sets for change in VARIANTS for run in range(runs)
    ]

    def row_of(job: tuple[str, str, int]) -> dict[str, float]:
        name, change, run = job
        data = _changed(problem(name), change)
        found = cross_validate(data, published.LEARNERS, run, VARIANTS[change])
        return {one: float(np.mean(values)) for one, values in found.items()}

    rows = in_parallel(row_of, jobs)
    ours: Cells = {name: {} for name in sets}
    for i in range(0, len(jobs), runs):
        name, change, _ = jobs[i]
        told = published.TABLE_4[name]
        gaps = [
            abs(float(np.mean([row[one] for row in rows[i : i + runs]])) - told[one])
            for one in told
        ]
        ours[name][change] = float(np.mean(gaps))
    return Table(
        NAME,
        "variants",
        "Mean distance of the ten cells of a row from the published ones, in points of F1",
        {},
        ours,
        [
            f"Mean of {runs} runs. Each column changes one thing; the least distance, set bold, is "
            "the best fit."
        ],
        best="least of row",
    )
