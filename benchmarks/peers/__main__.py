"""python -m benchmarks.peers: run the jobs, print tables of ratios, write JSON, draw the chart."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.peers import data, report
from benchmarks.peers.contenders import contenders
from benchmarks.peers.jobs import JOBS, variants
from benchmarks.peers.process import ROOT, in_process

RESULTS = ROOT / "benchmarks" / "results"
CHART = ROOT / "docs" / "images" / "peers.svg"
PAGE = ROOT / "docs" / "benchmarks.md"
MARKS = "<!-- figures: begin -->", "<!-- figures: end -->"
PATIENCE = 300  # seconds for one contender
QUICK_JOBS = ("counts", "train", "predict", "document")
PACKAGES = (
    *("thresher", "scikit-learn", "fasttext-numpy2", "vowpalwabbit", "liblinear-official"),
    *("river", "numpy", "scipy", "numba", "pyarrow"),
)


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--jobs", nargs="+", choices=JOBS, help="only these jobs")
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", help="only contenders whose name has one of these"
    )
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2], help="default: 1 2")
    parser.add_argument("--repeat", type=int, help="the best of how many; default 5, or 1 if quick")
    parser.add_argument(
        "--quick", action="store_true", help=f"one run, one thread: {', '.join(QUICK_JOBS)}"
    )
    parser.add_argument(
        "--output", type=Path, default=RESULTS / "peers.json", help="where the figures go"
    )
    parser.add_argument("--chart", type=Path, default=CHART, help="where the chart goes")
    parser.add_argument("--show", type=Path, metavar="JSON", help="run nothing; show these figures")
    parser.add_argument("--docs", action="store_true", help=f"also put the tables into {PAGE.name}")
    chosen = parser.parse_args()
    if chosen.quick:
        chosen.threads = [1]
    chosen.jobs = chosen.jobs or (QUICK_JOBS if chosen.quick else list(JOBS))
    chosen.repeat = chosen.repeat or (1 if chosen.quick else 5)
    return chosen


def tasks(chosen: argparse.Namespace, facts: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what is to be done, job by job, so that rivals run one after the other."""
    patterns = [name.lower() for name in chosen.only or [""]]
    growth = [1, 4] if chosen.quick else list(data.GROWTH)
    for job in chosen.jobs:
        for variant in variants(job, list(facts["texts"]), growth):
            for contender in contenders(job, variant):
                if not any(name in contender.name.lower() for name in patterns):
                    continue
                # A file that is repeated is long enough to be measured once.
                repeat = 1 if job == "growth" and variant != "x1" else chosen.repeat
                for threads in chosen.threads if contender.threaded else [1]:
                    yield {
                        "job": job,
                        "variant": variant,
                        "contender": contender.name,
                        "threads": threads,
                        "repeat": repeat,
                    }


def run(task: dict[str, Any], files: Path, models: Path) -> dict[str, Any]:
    """Do a task in a process of its own; return its figures or why there are none."""
    folder = models / "".join(c if c.isalnum() else "-" for c in task["contender"].lower())
    if task["job"] == "growth":
        folder = folder / "growth"
    line = json.dumps(task | {"files": str(files), "folder": str(folder)})
    return in_process("benchmarks.peers.child", line, task["threads"], PATIENCE)


def run_all(chosen: argparse.Namespace) -> dict[str, Any]:
    """Run everything that was chosen; return the figures and where they come from."""
    files, models = RESULTS / "data", RESULTS / "models"
    shutil.rmtree(models, ignore_errors=True)
    began, here = perf_counter(), machine()
    facts = data.prepare(files)
    for sentence in facts["notes"]:
        print(sentence)
    results = []
    for task in tasks(chosen, facts):
        answer = run(task, files, models)
        results.append({key: task[key] for key in task} | answer)
        print(progress(results[-1], perf_counter() - began), flush=True)
    return {
        "data": facts,
        "machine": here,
        "versions": versions(),
        "seconds": round(perf_counter() - began),
        "results": results,
    }


def progress(result: dict[str, Any], seconds: float) -> str:
    """Return a line about what has just been done."""
    main = JOBS[result["job"]].main
    figure = result.get("figures", {}).get(main)
    done = f"{main} {figure:.4g}" if figure else result.get("missing", f"no {main}")
    place = " ".join(filter(None, (result["job"], result["variant"])))
    return f"{seconds:6.0f} s  {place}: {result['contender']}, threads {result['threads']}: {done}"


def machine() -> dict[str, Any]:
    """Return what the figures are measured on, and how busy it is."""
    return {
        "processors": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "load": os.getloadavg()[0],
    }


def versions() -> dict[str, str]:
    """Return the version of every library, or that it is missing."""
    installed = {}
    for package in PACKAGES:
        try:
            installed[package] = version(package)
        except PackageNotFoundError:
            installed[package] = "missing"
    return installed


def heading(stored: dict[str, Any]) -> str:
    """Return a paragraph on data, machine and versions."""
    facts, here = stored["data"], stored["machine"]
    named = ", ".join(f"{name} {number}" for name, number in stored["versions"].items())
    return (
        f"{facts['corpus']}: {facts['train']:,} training and {facts['test']:,} test documents, "
        f"{facts['categories']} categories. {here['processors']} processors, "
        f"{here['system']}, load average {here['load']:.1f} before the run. "
        f"Python {here['python']}; {named}."
    )


def put_into_docs(stored: dict[str, Any], page: Path = PAGE) -> None:
    """Replace the tables between the marks of the page."""
    report.put_between(page, MARKS, f"{heading(stored)}\n\n{report.markdown(stored['results'])}")


def main() -> None:
    """Do what the command line asks."""
    chosen = options()
    if chosen.show:
        stored = json.loads(chosen.show.read_text(encoding="utf-8"))
    else:
        stored = run_all(chosen)
        chosen.output.parent.mkdir(parents=True, exist_ok=True)
        chosen.output.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    print(f"\n{heading(stored)}\n")
    report.show(stored["results"])
    if not chosen.quick and not chosen.only:
        from benchmarks.peers import chart

        chart.draw(stored["results"], chosen.chart)
        print(f"The chart is in {chosen.chart}.")
    if chosen.docs:
        put_into_docs(stored)


if __name__ == "__main__":
    main()
