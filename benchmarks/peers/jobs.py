"""The jobs, the figures that each reports, and what a contender is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.peers.case import Case


@dataclass(frozen=True)
class Job:
    """Something that every contender does in its own way.

    Parameters
    ----------
    title : str
        What is done.
    main : str
        The figure that is compared.
    figures : tuple of str
        The other figures that are shown.
    rival : str
        The contender to whom all have a ratio too, if there is one.
    """

    title: str
    main: str
    figures: tuple[str, ...] = ()
    rival: str = ""


@dataclass(frozen=True)
class Contender:
    """How one library does one job.

    Parameters
    ----------
    job : str
        The job.
    name : str
        What the contender is called; those of Thresher begin with its name.
    work : callable
        Does the job and returns its figures.
    threaded : bool
        Whether it can use several threads or processes.
    variants : str
        Only variants that contain this.
    """

    job: str
    name: str
    work: Callable[[Case], dict[str, float]]
    threaded: bool = False
    variants: str = ""


FIGURES = {
    "seconds": ("seconds", "{:.3f}"),
    "first": ("first run", "{:.2f}"),
    "mb_per_second": ("MB/s", "{:.0f}"),
    "load": ("to load", "{:.3f}"),
    "median_us": ("median µs", "{:,.1f}"),
    "p99_us": ("99 % µs", "{:,.0f}"),
    "examples_per_second": ("documents/s", "{:,.0f}"),
    "micro_f1": ("micro F1", "{:.1f}"),
    "macro_f1": ("macro F1", "{:.1f}"),
    "break_even": ("break-even", "{:.1f}"),
    "memory_mb": ("peak MB", "{:,.0f}"),
    "model_mb": ("model MB", "{:.1f}"),
    "to_answer": ("to a first answer", "{:.2f}"),
    "to_import": ("to import", "{:.2f}"),
    "command": ("`--help`", "{:.2f}"),
    "to_compile": ("ever first", "{:.2f}"),
}

JOBS = {
    "counts": Job("Text to counts, texts in memory", "seconds", ("mb_per_second", "memory_mb")),
    "train": Job(
        "Raw JSON lines to saved model",
        "seconds",
        ("first", "micro_f1", "macro_f1", "break_even", "memory_mb", "model_mb"),
    ),
    "predict": Job("Raw JSON lines to written predictions", "seconds", ("load", "memory_mb")),
    "results": Job(
        "A large file of JSON lines to a file of results", "seconds", ("mb_per_second", "memory_mb")
    ),
    "filter": Job(
        "JSON lines to the lines of one category", "seconds", ("mb_per_second", "memory_mb")
    ),
    "document": Job("One document in a running process", "median_us", ("p99_us",), "fastText"),
    "pass": Job("One pass over prepared rows", "seconds", ("examples_per_second",)),
    "growth": Job("Growth: the training file repeated", "seconds", ("memory_mb",)),
    "startup": Job(
        "Start-up: a new process until it has answered one document",
        "to_answer",
        ("to_import", "command", "to_compile"),
    ),
}


def variants(job: str, texts: list[str], growth: list[int]) -> list[str]:
    """Return the forms of a job.

    Parameters
    ----------
    job : str
        The job.
    texts : list of str
        The corpora whose texts are counted.
    growth : list of int
        How often the training file is repeated.
    """
    if job == "counts":
        return [f"{name}, {how}" for name in texts for how in ("new words", "known words")]
    if job == "pass":
        return ["one category", "all categories"]
    if job == "growth":
        return [f"x{times}" for times in growth]
    return [""]
