"""Run what is not yet known: each cell of the table in a process of its own, kept when finished."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.peers.process import ROOT, in_process
from benchmarks.quality.contender import Contender
from benchmarks.quality.corpora import Files, Task, prepare

RESULTS = ROOT / "benchmarks" / "results" / "quality"
PATIENCE = 3600  # seconds for one cell


@dataclass
class Cell:
    """What one contender did on one task.

    Parameters
    ----------
    task, contender : str
        Their names.
    figures : dict
        The measures in per cent, and what they cost; empty where it is missing.
    chosen : dict
        What was chosen by cross-validation.
    missing : str
        Why there are no figures.
    decisions : str
        The file that has the decisions.
    version : str
        Which version learned.
    """

    task: str
    contender: str
    figures: dict[str, float] = field(default_factory=dict)
    chosen: dict[str, Any] = field(default_factory=dict)
    missing: str = ""
    decisions: str = ""
    version: str = ""

    def load(self) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """Return truth and decisions, documents by categories, and the names of the columns."""
        with np.load(self.decisions) as stored:
            shape = tuple(stored["shape"])
            size = int(np.prod(shape))
            truth, decided = (
                np.unpackbits(stored[name], count=size).reshape(shape).astype(bool)
                for name in ("truth", "decided")
            )
            return truth, decided, stored["names"].tolist()


def run_cell(task: Task, contender: Contender, results: Path, *, again: bool = False) -> Cell:
    """Return a cell of the table: as it was kept, or else run now and kept.

    Cells without figures are not kept, so that they are tried again.

    Parameters
    ----------
    task, contender : Task, Contender
        Row and column.
    results : Path
        Where cells are kept.
    again : bool
        Whether it is run even if it is there.
    """
    files = prepare(task, results / "data")
    try:
        version = contender.version()
    except PackageNotFoundError:
        return Cell(task.name, contender.name, missing=f"{contender.package} is not installed")
    key = {"data": files.fingerprint(), "settings": contender.settings, "version": version}
    digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:12]
    words = "".join(c if c.isalnum() else "-" for c in contender.name.lower())
    path = results / "cells" / f"{task.name}.{words}.{digest}.json"
    decisions = path.with_suffix(".npz")
    if not again and path.exists() and decisions.exists():
        stored = json.loads(path.read_text(encoding="utf-8"))
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        answer = run_process(task, contender, files, decisions)
        stored = asdict(Cell(task.name, contender.name, version=version, **answer))
        if not stored["missing"]:
            aside = path.with_suffix(".part")
            aside.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
            aside.replace(path)
    return Cell(**stored | {"decisions": "" if stored["missing"] else str(decisions)})


def run_process(
    task: Task, contender: Contender, files: Files, decisions: Path | None
) -> dict[str, Any]:
    """Let a contender learn in a process of its own, on one thread.

    Parameters
    ----------
    task, contender, files
        Who does what.
    decisions : Path or None
        Where the decisions on the test documents go; None to learn only.
    """
    plan = {
        "contender": contender.name,
        "several": task.several,
        "train": str(files.train.resolve()),
        "test": str(files.test.resolve()),
        "decisions": str(decisions.resolve()) if decisions else None,
    }
    return in_process("benchmarks.quality.cell", json.dumps(plan), 1, PATIENCE)


def run_all(
    tasks: Sequence[Task], contenders: Sequence[Contender], results: Path, *, again: bool = False
) -> list[Cell]:
    """Run all cells that are not kept, task by task, and say each when it is there."""
    cells = []
    for task in tasks:
        if not task.is_here:
            print(
                f"{task.title} is not on this machine and is left out; "
                f"`thresher corpus fetch {task.corpus}` brings it."
            )
            continue
        for contender in contenders:
            if contender.only_several and not task.several:
                continue
            cell = run_cell(task, contender, results, again=again)
            cells.append(cell)
            print(progress(cell, task), flush=True)
    return cells


def progress(cell: Cell, task: Task) -> str:
    """Return a line about a cell."""
    if cell.missing:
        return f"{task.title}: {cell.contender}: missing: {cell.missing}"
    figure, seconds = cell.figures[task.main], cell.figures["processor"]
    return f"{task.title}: {cell.contender}: {figure:.2f}, {seconds:.1f} s"
