"""From cells to the table of the documentation: measures, paired tests, and who is ahead."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from benchmarks.quality.contenders.ours import OURS
from benchmarks.quality.corpora import Task
from benchmarks.quality.running import Cell

NEAR = 0.3  # points; so near to the best is as good
SURE = 0.05  # p-value
TITLES = {
    "accuracy": "accuracy",
    "micro_f1": "micro-F1",
    "macro_f1": "macro-F1",
    "break_even": "break-even",
}
COSTS = {"processor": ("seconds", "{:.1f}"), "memory_mb": ("peak MB", "{:,.0f}")}
COSTS |= {"model_mb": ("model MB", "{:,.1f}")}


def compare(ours: Cell, other: Cell, several: bool) -> dict[str, float]:
    """Return p-values of the difference between two contenders on the same test documents.

    Parameters
    ----------
    ours, other : Cell
        Two contenders on a task.
    several : bool
        Whether documents may have any number of categories. If so, `main` is the sign test over
        all decisions (Yang and Liu's s-test) and `macro` the t-test over the categories' F1; if
        not, `main` is the sign test over documents, which is McNemar's test, exactly.

    Returns
    -------
    dict
        p-values by name.
    """
    from thresher.evaluation import evaluate
    from thresher.evaluation.significance import macro_t_test, micro_sign_test

    truth, mine, names = ours.load()
    other_truth, its, other_names = other.load()
    if names != other_names or not np.array_equal(truth, other_truth):
        raise ValueError(
            f"{ours.contender} and {other.contender} were tested on different documents of "
            f"{ours.task}; run them again with --again."
        )
    if several:
        evaluations = (evaluate(None, truth, names, decisions=item) for item in (mine, its))
        return {
            "main": micro_sign_test(mine, its, truth).p_value,
            "macro": macro_t_test(*evaluations).p_value,
        }
    right = ((item == truth).all(axis=1, keepdims=True) for item in (mine, its))
    return {"main": micro_sign_test(*right, np.ones((len(truth), 1), bool)).p_value}


def verdict(difference: float, p_value: float) -> str:
    """Say how ours stands to the best of the others.

    Parameters
    ----------
    difference : float
        Ours minus theirs, in points.
    p_value : float
        How probable such a difference is by chance.
    """
    if difference > 0:
        return "ahead"
    return "level" if difference >= -NEAR or p_value > SURE else "behind"


def marked(figure: float, p_value: float | None) -> str:
    """Return a figure with two stars for p <= 0.01, one for p <= 0.05."""
    stars = "" if p_value is None or p_value > SURE else r"\*\*" if p_value <= 0.01 else r"\*"
    return f"{figure:.1f}{stars}"


class Tables:
    """All tables of some cells.

    Parameters
    ----------
    tasks : sequence of Task
        The tasks, in the order of the columns.
    cells : sequence of Cell
        What the contenders did.
    """

    def __init__(self, tasks: Sequence[Task], cells: Sequence[Cell]) -> None:
        here = {cell.task for cell in cells}
        self.tasks = [task for task in tasks if task.name in here]
        self.cells = {(cell.task, cell.contender): cell for cell in cells}
        self.contenders = list(dict.fromkeys(cell.contender for cell in cells))
        self.p_values: dict[tuple[str, str], dict[str, float]] = {}
        for task in self.tasks:
            ours = self.cells.get((task.name, OURS))
            for name in self.contenders:
                cell = self.cells.get((task.name, name))
                if ours and ours.figures and cell and cell.figures and name != OURS:
                    self.p_values[task.name, name] = compare(ours, cell, task.several)

    def _p(self, task: Task, name: str, which: str = "main") -> float | None:
        return self.p_values.get((task.name, name), {}).get(which)

    def overview(self) -> list[str]:
        """Return the one table: the main measure of every contender on every task."""
        titles = [f"{task.title}, {TITLES[task.main]}" for task in self.tasks]
        rows = []
        for name in self.contenders:
            row = [name]
            for task in self.tasks:
                cell = self.cells.get((task.name, name))
                if cell is None:
                    row.append("")
                elif cell.missing:
                    row.append("missing")
                else:
                    row.append(marked(cell.figures[task.main], self._p(task, name)))
            rows.append(row)
        return grid(["contender", *titles], rows)

    def standing(self) -> list[str]:
        """Return how ours stands to the best of the others on each task."""
        rows = []
        for task in self.tasks:
            ours = self.cells.get((task.name, OURS))
            others = [
                cell
                for (name, contender), cell in self.cells.items()
                if name == task.name and cell.figures and not contender.startswith(OURS)
            ]
            if ours is None or not ours.figures or not others:
                continue
            best = max(others, key=lambda cell: cell.figures[task.main])
            mine, its = (cell.figures[task.main] for cell in (ours, best))
            p_value = self._p(task, best.contender) or 0.0
            row = [task.title, TITLES[task.main], f"{mine:.2f}", best.contender, f"{its:.2f}"]
            rows.append(
                [*row, f"{mine - its:+.2f}", f"{p_value:.3f}", verdict(mine - its, p_value)]
            )
        header = ["task", "measure", OURS, "best of the others", "its", "difference", "p", ""]
        return grid(header, rows)

    def details(self, task: Task) -> list[str]:
        """Return everything about one task."""
        kinds = ("micro_f1", "macro_f1", "break_even") if task.several else ("accuracy", "macro_f1")
        tests = {"main": f"p ({TITLES[task.main]})"} | (
            {"macro": "p (macro-F1)"} if task.several else {}
        )
        header = ["contender", *(TITLES[kind] for kind in kinds), *tests.values()]
        header += [*(title for title, _ in COSTS.values()), "chosen"]
        rows = []
        for name in self.contenders:
            cell = self.cells.get((task.name, name))
            if cell is None:
                continue
            row = [name]
            if cell.missing:
                rows.append([*row, "missing", *[""] * (len(header) - 2)])
                continue
            for kind in kinds:
                row.append(f"{cell.figures[kind]:.2f}" if kind in cell.figures else "")
            for test in tests:
                p_value = self._p(task, name, test)
                row.append("" if p_value is None else f"{p_value:.3f}")
            row += [form.format(cell.figures[cost]) for cost, (_, form) in COSTS.items()]
            row.append(", ".join(f"{key} {value:g}" for key, value in cell.chosen.items()))
            rows.append(row)
        for name, figure in task.published:
            rows.append([name, f"{figure:.1f}", *[""] * (len(header) - 2)])
        return grid(header, rows)

    def markdown(self) -> str:
        """Return all tables as Markdown."""
        lines = [*self.overview(), "", *self.standing(), ""]
        for task in self.tasks:
            lines += [f"#### {task.title}", "", f"Tested on: {task.split}.", ""]
            lines += [*self.details(task), ""]
            for name in self.contenders:
                cell = self.cells.get((task.name, name))
                if cell and cell.missing:
                    lines += [f"{name} is missing: {cell.missing.rstrip('.')}.", ""]
        return "\n".join(lines)


def grid(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table's lines in Markdown, the first column to the left."""
    rule = ["---", *("---:" for _ in header[1:])]
    return [f"| {' | '.join(row)} |" for row in (header, rule, *rows)]
