"""All learners on Reuters R90 and 20 Newsgroups, and their closest relatives in scikit-learn.

    python -m benchmarks.learners [--only NAME ...] [--corpora r90] [--parts race]

Quality: a `Categorizer` with the learner's name and nothing else set, from texts in memory; where
documents have several labels its thresholds come from left-out documents, which is most of the
time, and are zero for those that are marked as too slow for it. Race: the learner alone, on rows of
words that were prepared once, the same for both, with the strength that ours prefers; one thread,
processor seconds, the best of three where that is quick. Slow pairs learn only the largest
categories, which the table says. What is finished is kept, as long as the source and the documents
stay as they are.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from benchmarks.peers.__main__ import machine
from benchmarks.peers.data import read
from benchmarks.peers.process import ROOT, in_process
from benchmarks.peers.report import put_between
from benchmarks.quality.contenders import ours
from benchmarks.quality.corpora import TASKS, prepare
from benchmarks.quality.running import Cell, run_cell

RESULTS = ROOT / "benchmarks" / "results" / "learners"
PAGE = ROOT / "docs" / "which-learner.md"
MARKS = {
    "quality": ("<!-- learners: begin -->", "<!-- learners: end -->"),
    "race": ("<!-- race: begin -->", "<!-- race: end -->"),
}
CORPORA = ("r90", "20newsgroups")
PATIENCE = 7200  # seconds for one race
QUICK = 5.0  # processor seconds; for less, the best of three runs counts
Make = Callable[[], Any]


@dataclass(frozen=True)
class Race:
    """A comparison of a learner with one of scikit-learn.

    Parameters
    ----------
    ours : str
        The name of the learner.
    theirs : callable, optional
        Returns the relative, for one category, or for all if it is `at_once`; None: there is none.
    title : str
        What the relative is called in the table.
    params : dict
        What is set of ours, so that both do the same work.
    categories : int, optional
        How many of the largest are learned; None for all.
    at_once : bool
        Whether the relative takes several labels by itself.
    scores : bool
        Whether the test documents are scored too, within the time.
    """

    ours: str
    theirs: Make | None = None
    title: str = ""
    params: tuple[tuple[str, Any], ...] = ()
    categories: int | None = None
    at_once: bool = False
    scores: bool = False

    @property
    def name(self) -> str:
        """The learner and its parameters."""
        return ", ".join([self.ours, *(f"{name}={value}" for name, value in self.params)])


def _adaboost_of_units() -> Any:
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.linear_model import SGDClassifier

    step = {"learning_rate": "constant", "eta0": 0.01}
    unit = SGDClassifier("squared_error", alpha=0.0, max_iter=10, tol=None, **step)
    return AdaBoostClassifier(unit, n_estimators=20)


def _adaboost_of_stumps() -> Any:
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.tree import DecisionTreeClassifier

    return AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=50)


def _of(module: str, name: str, **params: Any) -> Make:
    """Return a function that makes a classifier of scikit-learn, which it imports."""

    def make() -> Any:
        from importlib import import_module

        return getattr(import_module(f"sklearn.{module}"), name)(**params)

    return make


RACES = (
    Race("majority-class", _of("dummy", "DummyClassifier"), "DummyClassifier"),
    Race("naive-bayes", _of("naive_bayes", "MultinomialNB"), "MultinomialNB"),
    Race("rocchio", _of("neighbors", "NearestCentroid"), "NearestCentroid", (), 1),
    Race("perceptron", _of("linear_model", "Perceptron", max_iter=10, tol=None),
         "Perceptron, 10 passes", (("max_iter", 10),)),
    Race("passive-aggressive",
         _of("linear_model", "SGDClassifier", loss="hinge", penalty=None, learning_rate="pa1",
             max_iter=10, tol=None),
         "SGDClassifier (PA-I), 10 passes", (("max_iter", 10),)),
    Race("linear-svm", _of("svm", "LinearSVC"), "LinearSVC"),
    Race("maximum-entropy", _of("linear_model", "LogisticRegression", max_iter=1000),
         "LogisticRegression"),
    Race("maximum-entropy", None, "", (("method", "gis"),), 10),
    Race("decision-tree", _of("tree", "DecisionTreeClassifier", criterion="entropy"),
         "DecisionTreeClassifier, entropy", (("pruning", None),)),
    Race("nearest-neighbors",
         _of("neighbors", "KNeighborsClassifier", n_neighbors=10, metric="cosine",
             algorithm="brute"),
         "KNeighborsClassifier, cosine, brute", (("n_neighbors", 10),), None, True, True),
    Race("stump-boosting", _adaboost_of_stumps, "AdaBoostClassifier of stumps, 50 rounds",
         (("max_iter", 50),), 3),
    Race("boosted-perceptrons", _adaboost_of_units,
         "AdaBoostClassifier of SGDClassifier, 20 rounds of 10 passes",
         (("max_iter", 20), ("epochs", 10), ("tolerance", 0.0)), 3),
    Race("multilayer-perceptron",
         _of("neural_network", "MLPClassifier", hidden_layer_sizes=(5,), activation="tanh",
             solver="sgd", batch_size=1, learning_rate_init=0.2, momentum=0.5, max_iter=5, tol=0.0,
             n_iter_no_change=100),
         "MLPClassifier, 5 hidden, 5 epochs, document by document",
         (("max_iter", 5), ("tolerance", 0.0)), 1),
)  # fmt: skip


# ---- a race, in a separate process ---------------------------------------------------------------


def best_time(work: Callable[[], Any]) -> float:
    """Return the processor seconds of some work, the best of three if it is quick."""
    times: list[float] = []
    while len(times) < 3 and (not times or times[0] < QUICK):
        began = process_time()
        work()
        times.append(process_time() - began)
    return min(times)


def run_race(race: Race, train: Path, test: Path) -> dict[str, float]:
    """Train both on the same rows in turn; return their processor seconds.

    Parameters
    ----------
    race : Race
        Who races.
    train, test : Path
        The documents, as JSON lines.
    """
    from thresher import Examples, Strength, TextCounter
    from thresher.learners import make_learner
    from thresher_papers._running import numbered

    texts, labels = read(train)
    sizes: dict[str, int] = {}
    for name in (name for label in labels for name in label):
        sizes[name] = sizes.get(name, 0) + 1
    largest = sorted(sizes, key=lambda name: (-sizes[name], name))[: race.categories]
    learner = make_learner(race.ours, **dict(race.params))
    counter = TextCounter()
    counts = counter.count(texts)
    strength = Strength(**learner.preferred_strength).observe(counts)
    rows, truth = strength.apply(counts), numbered(labels, largest)
    test_rows = strength.apply(counter.count(read(test)[0], grow=False))
    examples = Examples.of(rows, truth)

    def learn() -> None:
        learner.fit_rows(examples)
        if race.scores:
            learner.score_rows(test_rows)

    some = np.arange(0, rows.n_rows, max(1, rows.n_rows // 300))
    make_learner(race.ours, **dict(race.params)).fit_rows(
        Examples.of(rows.take(some), truth.take(some))
    )  # compiles
    figures = {"ours": best_time(learn), "categories": len(largest)}
    if race.theirs is not None:
        X, y, test_X = rows.to_scipy(), truth.to_dense().astype(int), test_rows.to_scipy()

        def learn_theirs() -> None:
            columns = [y] if race.at_once else y.T
            for column in columns:
                relative = race.theirs().fit(X, column)
                if race.scores:
                    relative.predict_proba(test_X)

        figures["theirs"] = best_time(learn_theirs)
    return figures


# ---- all races -----------------------------------------------------------------------------------


def kept_race(race: Race, corpus: str, results: Path, again: bool) -> dict[str, Any]:
    """Return the stored result of a race, or run it and store the result."""
    task = next(task for task in TASKS if task.name == corpus)
    files = prepare(task, results / "data")
    from importlib.metadata import version

    key = [files.fingerprint(), ours.source_version(), version("scikit-learn"), str(race.params)]
    key += [race.title, str(race.categories)]
    digest = hashlib.sha256(json.dumps(key).encode()).hexdigest()[:12]
    path = results / "races" / f"{corpus}.{race.ours}.{digest}.json"
    if not again and path.exists():
        return json.loads(path.read_text())
    plan = {"race": RACES.index(race), "train": str(files.train.resolve())}
    plan["test"] = str(files.test.resolve())
    answer = in_process("benchmarks.learners", json.dumps(plan), 1, PATIENCE)
    if "missing" not in answer:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(answer) + "\n")
    return answer


def quality_table(cells: list[Cell]) -> str:
    """Return quality, time and size of every learner as a Markdown table."""
    names = list(dict.fromkeys(cell.contender for cell in cells))
    place = {(cell.task, cell.contender): cell for cell in cells}
    there = [corpus for corpus in CORPORA if any(cell.task == corpus for cell in cells)]
    heads, columns = [], []
    titles = {"r90": "R90", "20newsgroups": "20 Newsgroups"}
    measures = {
        "r90": {"micro_f1": "micro-F1", "macro_f1": "macro-F1", "break_even": "break-even"},
        "20newsgroups": {"accuracy": "accuracy", "macro_f1": "macro-F1"},
    }
    costs = {"processor": "train, s", "test_seconds": "test, s", "model_mb": "MB"}
    for corpus in there:
        for name, title in (measures[corpus] | costs).items():
            columns.append((corpus, name))
            heads.append(f"{titles[corpus]}: {title}")
    lines = [f"| | {' | '.join(heads)} |", f"|---|{'---:|' * len(heads)}"]
    for name in names:
        shown = []
        for corpus, figure in columns:
            value = place[corpus, name].figures.get(figure) if (corpus, name) in place else None
            shown.append("" if value is None else f"{value:.1f}")
        learner = name.removeprefix(ours.LEARNER)
        mark = " *" if learner in ours.SLOW else ""
        lines.append(f"| `{learner}`{mark} | {' | '.join(shown)} |")
    why = [f"`{cell.contender}`, {cell.task}: {cell.missing}." for cell in cells if cell.missing]
    return "\n".join(lines + (["", *why] if why else []))


def race_table(races: list[dict[str, Any]]) -> str:
    """Return the races as a Markdown table; with a ratio above one, Thresher is faster."""
    lines = [
        "| ours | categories | seconds | theirs | seconds | theirs / ours |",
        "|---|---:|---:|---|---:|---:|",
    ]
    for row in races:
        if "missing" in row:
            lines.append(f"| `{row['name']}` | | {row['missing']} | {row['title']} | | |")
            continue
        mine, their = row["ours"], row.get("theirs")
        cells = [f"`{row['name']}`", f"{row['categories']}", f"{mine:.2f}", row["title"]]
        cells += ["", ""] if their is None else [f"{their:.2f}", f"{their / mine:.1f} ×"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def options(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learners", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these learners")
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, default=list(CORPORA))
    parser.add_argument("--parts", nargs="+", choices=list(MARKS), default=list(MARKS))
    parser.add_argument("--again", action="store_true", help="run also what is kept")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all figures there")
    parser.add_argument(
        "--results", type=Path, default=RESULTS, metavar="DIR", help="where results are kept"
    )
    parser.add_argument("--docs", action="store_true", help=f"also put tables into {PAGE.name}")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line."""
    from thresher import LEARNERS

    chosen = options(arguments)
    names = [name for name in LEARNERS if not chosen.only or name in chosen.only]
    tables, cells, races = {}, [], []
    if "quality" in chosen.parts:
        for task in (task for task in TASKS if task.name in chosen.corpora and task.is_here):
            for name in names:
                cell = run_cell(task, ours.of_learner(name), chosen.results, again=chosen.again)
                cells.append(cell)
                print(f"{task.title}: {name}: {cell.missing or cell.figures}", flush=True)
        tables["quality"] = quality_table(cells)
    if "race" in chosen.parts and "r90" in chosen.corpora:
        for race in (race for race in RACES if race.ours in names):
            row = kept_race(race, "r90", chosen.results, chosen.again)
            races.append({"name": race.name, "title": race.title, **row})
            print(races[-1], flush=True)
        tables["race"] = race_table(races)
    for item, text in tables.items():
        print(f"\n{text}")
        if chosen.docs:
            put_between(PAGE, MARKS[item], text)
    if chosen.json:
        stored = {"machine": machine(), "cells": [asdict(cell) for cell in cells], "races": races}
        chosen.json.write_text(json.dumps(stored, indent=1) + "\n")


def child(line: str) -> None:
    """Run a race; print its figures as a line of JSON."""
    plan = json.loads(line)
    # Libraries may print; only the result goes to the real standard output.
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    figures = run_race(RACES[plan["race"]], Path(plan["train"]), Path(plan["test"]))
    output.write(json.dumps(figures) + "\n")
    output.close()


if __name__ == "__main__":
    if len(sys.argv) == 2 and sys.argv[1].startswith("{"):
        child(sys.argv[1])
    else:
        main()
