"""Exercises 16.3, 16.5, 16.6, 16.11, 16.17 and 16.20: other tasks, by all four methods."""

from __future__ import annotations

from thresher_papers._result import Cells, Table
from thresher_papers._running import Run
from thresher_papers.manning_schuetze_1999 import tasks
from thresher_papers.manning_schuetze_1999.published import NAME


def other_tasks(run: Run) -> Table:
    """Accuracy of the four methods on spam, authors and languages, in five folds."""
    names = [name for name in tasks.TASKS if name != "sense" and not (run.quick and name == "spam")]
    keys = [(name, method, run.seed) for name in names for method in tasks.METHODS]
    cells = iter(run.cells(tasks.accuracy, keys))
    reproduced: Cells = {}
    notes = ["Five-fold cross-validation, the same folds and features for all methods."]
    for name in names:
        by_method = {method: next(cells) for method in tasks.METHODS}
        reproduced[name] = {method: cell["accuracy"] for method, cell in by_method.items()}
        cell = by_method["decision tree"]
        notes.append(
            f"{name}: {cell['objects']:,} {tasks.TASKS[name].words}; "
            f"{cell['most frequent']:.0f} % are of one category."
        )
    title = "Exercises 16.3, 16.5, 16.6, 16.11, 16.17 and 16.20: accuracy on three other tasks"
    return Table(NAME, "other-tasks", title, {}, reproduced, notes)
