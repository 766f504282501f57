"""The second look with several seeds: mean and spread, beside the published figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from benchmarks.quality.contenders.ours import LOOKS, OURS, with_seed
from benchmarks.quality.corpora import TASKS
from benchmarks.quality.running import ROOT, Cell, run_cell
from benchmarks.quality.table import grid

PAGE = ROOT / "docs" / "second-look.md"
MARKS = "<!-- seeds: begin -->", "<!-- seeds: end -->"
WHERE = ("r90-labelled", "r90")


def run(results: Path, n: int) -> str:
    """Run what is not kept, and return a table for each of the tasks in Markdown.

    Parameters
    ----------
    results : Path
        Where cells are kept.
    n : int
        How many seeds, from 0 on.
    """
    lines: list[str] = []
    for task in TASKS:
        if task.name not in WHERE or not task.is_here:
            continue
        rows = []
        for name in (OURS, *LOOKS):
            cells = [run_cell(task, with_seed(name, seed), results) for seed in range(n)]
            print(f"{task.title}: {name}: {figures(cells, 'micro_f1')}", flush=True)
            rows.append(row(name, cells))
        rows += [[name, f"{figure:.1f}", "", "", ""] for name, figure in task.published]
        header = ["", "micro-F1", "interval of the first", "macro-F1", "seconds"]
        table = grid(header, rows)
        lines += [f"#### {task.title}", "", f"Tested on: {task.split}.", "", *table, ""]
    return "\n".join(lines)


def row(name: str, cells: list[Cell]) -> list[str]:
    """Return means and spreads of a contender's seeds."""
    if missing := [cell.missing for cell in cells if cell.missing]:
        return [name, f"missing: {missing[0]}", "", "", ""]
    seconds = np.mean([cell.figures["processor"] for cell in cells])
    interval = " to ".join(f"{end:.1f}" for end in micro_interval(cells[0]))
    measures = figures(cells, "micro_f1"), interval, figures(cells, "macro_f1")
    return [name, *measures, f"{seconds:.0f}"]


def figures(cells: list[Cell], measure: str) -> str:
    """Return the mean of a measure, its least and its largest."""
    values = [cell.figures[measure] for cell in cells if not cell.missing]
    if not values:
        return "missing"
    return f"{np.mean(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def micro_interval(cell: Cell) -> tuple[float, float]:
    """Return in which range micro-F1 lies for 95 of 100 samples of such documents (bootstrap)."""
    truth, decided, _ = cell.load()
    hits, both = (truth & decided).sum(1), truth.sum(1) + decided.sum(1)
    generator = np.random.default_rng(0)
    drawn = generator.integers(len(truth), size=(2000, len(truth)))
    values = 200 * hits[drawn].sum(1) / both[drawn].sum(1)
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


__all__ = ["MARKS", "PAGE", "run"]
