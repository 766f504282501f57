"""python -m benchmarks.quality: run what is not kept yet, print the tables, put them into docs."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.peers.__main__ import machine, versions
from benchmarks.peers.report import put_between
from benchmarks.quality import fit_times, seeds
from benchmarks.quality.contenders import CONTENDERS
from benchmarks.quality.corpora import TASKS
from benchmarks.quality.running import RESULTS, ROOT, run_all
from benchmarks.quality.table import Tables

PAGE = ROOT / "docs" / "benchmarks.md"
MARKS = "<!-- quality: begin -->", "<!-- quality: end -->"


def options(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument(
        "--only", nargs="+", metavar="CONTENDER", help="only those whose name has one of these"
    )
    parser.add_argument("--corpora", nargs="+", choices=[task.name for task in TASKS])
    parser.add_argument("--again", action="store_true", help="run also what is kept")
    parser.add_argument(
        "--fit-times", action="store_true", help="also compare one fit with LinearSVC's, in turns"
    )
    parser.add_argument(
        "--seeds", type=int, default=0, metavar="N", help="also the second look with N seeds"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all figures there")
    parser.add_argument(
        "--results", type=Path, default=RESULTS, metavar="DIR", help="where results are kept"
    )
    parser.add_argument("--docs", action="store_true", help=f"also put tables into {PAGE.name}")
    return parser.parse_args(arguments)


def heading(here: dict[str, Any], libraries: dict[str, str]) -> str:
    """Return a sentence on machine and versions."""
    names = ("scikit-learn", "fasttext-numpy2", "vowpalwabbit", "numpy", "numba")
    named = ", ".join(f"{name} {libraries[name]}" for name in names)
    return (
        f"{here['processors']} processors, {here['system']}, Python {here['python']}; {named}. "
        "One thread each; seconds are those of the processor, from texts in memory to a model."
    )


def main(arguments: list[str] | None = None) -> None:
    """Do what the command line asks."""
    chosen = options(arguments)
    patterns = [name.lower() for name in chosen.only or [""]]
    contenders = [
        contender
        for contender in CONTENDERS
        if any(name in contender.name.lower() for name in patterns)
    ]
    tasks = [task for task in TASKS if not chosen.corpora or task.name in chosen.corpora]
    cells = run_all(tasks, contenders, chosen.results, again=chosen.again)
    times_path = chosen.results / "fit-times.json"
    if chosen.fit_times:
        times_path.parent.mkdir(parents=True, exist_ok=True)
        times_path.write_text(json.dumps(fit_times.run(chosen.results), indent=1) + "\n")
    times = json.loads(times_path.read_text()) if times_path.exists() else []
    spread = seeds.run(chosen.results, chosen.seeds) if chosen.seeds else ""
    here, libraries = machine(), versions()
    text = f"{heading(here, libraries)}\n\n{Tables(tasks, cells).markdown()}"
    if times:
        text += f"#### One fit, in turns, the best of three\n\n{fit_times.markdown(times)}\n"
    print(f"\n{text}\n{spread}")
    if chosen.json:
        stored = {"machine": here, "versions": libraries, "cells": [asdict(cell) for cell in cells]}
        chosen.json.write_text(json.dumps(stored | {"fit_times": times}, indent=1) + "\n")
    if chosen.docs:
        put_between(PAGE, MARKS, text)
        if spread:
            put_between(seeds.PAGE, seeds.MARKS, f"{heading(here, libraries)}\n\n{spread}")


if __name__ == "__main__":
    main()
