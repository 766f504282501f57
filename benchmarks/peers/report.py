"""From results to tables: each figure beside its ratio to Thresher's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.peers.jobs import FIGURES, JOBS

OURS = "Thresher"

Result = dict[str, Any]


def ratio(result: Result, results: list[Result], to: str = OURS) -> float | None:
    """Return how many times Thresher's figure this is, at the same number of threads.

    Where several contenders are Thresher, the first of them is meant.

    Parameters
    ----------
    result : dict
        What one contender did.
    results : list of dict
        What all did in all jobs.
    to : str
        How the name of the contender begins whose figure is meant, if not Thresher's.
    """
    main = JOBS[result["job"]].main
    same = ("job", "variant", "threads")
    for other in results:
        if other["contender"].startswith(to) and all(other[key] == result[key] for key in same):
            mine = other.get("figures", {}).get(main)
            its = result.get("figures", {}).get(main)
            return its / mine if mine and its else None
    return None


def speed_up(result: Result, results: list[Result]) -> float | None:
    """Return how many times as fast a contender is with several threads as with one.

    Parameters
    ----------
    result : dict
        What it did with several.
    results : list of dict
        What all did in all jobs.
    """
    if result["threads"] == 1:
        return None
    main, same = JOBS[result["job"]].main, ("job", "variant", "contender")
    for other in results:
        if other["threads"] == 1 and all(other[key] == result[key] for key in same):
            alone = other.get("figures", {}).get(main)
            its = result.get("figures", {}).get(main)
            return alone / its if alone and its else None
    return None


def tables(results: list[Result]) -> Iterator[tuple[str, list[str], list[list[str]], list[str]]]:
    """Yield title, header and rows of the table of each job and variant, and who is missing.

    Parameters
    ----------
    results : list of dict
        What all contenders did.
    """
    for job, variant in dict.fromkeys((result["job"], result["variant"]) for result in results):
        here = [
            result for result in results if (result["job"], result["variant"]) == (job, variant)
        ]
        measured = {name for item in here for name in item.get("figures", {})}
        shown = [name for name in (JOBS[job].main, *JOBS[job].figures) if name in measured]
        title = JOBS[job].title + (f": {variant}" if variant else "")
        rival = JOBS[job].rival
        threads = ["speed-up"] if any(item["threads"] > 1 for item in here) else []
        ratios = [*threads, "ratio", *([f"to {rival}"] if rival else [])]
        header = ["contender", "threads", *ratios, *(FIGURES[name][0] for name in shown)]
        missing = [
            f"{item['contender']} is missing: {item['missing'].rstrip('.')}."
            for item in here
            if "missing" in item
        ]
        rows = [_row(item, results, shown, bool(threads)) for item in here]
        yield title, header, rows, list(dict.fromkeys(missing))


def _row(result: Result, results: list[Result], shown: list[str], with_speed_up: bool) -> list[str]:
    start, rival = [result["contender"], str(result["threads"])], JOBS[result["job"]].rival
    whose = [OURS, rival] if rival else [OURS]
    if with_speed_up:
        faster = speed_up(result, results)
        start.append(f"{faster:.2f} ×" if faster else "")
    if "missing" in result:
        return [*start, "missing", *("" for _ in whose[1:]), *("" for _ in shown)]
    times = [ratio(result, results, to) for to in whose]
    cells = [
        FIGURES[name][1].format(result["figures"][name]) if name in result["figures"] else ""
        for name in shown
    ]
    return [*start, *(f"{seconds:.2f} ×" if seconds else "" for seconds in times), *cells]


def markdown(results: list[Result]) -> str:
    """Return the tables as Markdown."""
    lines = []
    for title, header, rows, missing in tables(results):
        rule = ["---", *("---:" for _ in header[1:])]
        lines += [f"### {title}", "", _line(header), _line(rule), *map(_line, rows), ""]
        lines += [line for sentence in missing for line in (sentence, "")]
    return "\n".join(lines)


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def put_between(page: Path, marks: tuple[str, str], text: str) -> None:
    """Replace what stands between two marks of a page."""
    before, mark, rest = page.read_text(encoding="utf-8").partition(marks[0])
    _, end, after = rest.partition(marks[1])
    if not (mark and end):
        raise ValueError(f"{page} has no place for the figures: {marks[0]} and {marks[1]}.")
    page.write_text(f"{before}{mark}\n{text}\n{end}{after}", encoding="utf-8")


def show(results: list[Result]) -> None:
    """Print the tables."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if not console.is_terminal:
        console = Console(width=120)
    for title, header, rows, missing in tables(results):
        table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
        for number, name in enumerate(header):
            table.add_column(name, justify="right" if number else "left", no_wrap=not number)
        for row in rows:
            table.add_row(*row, style="bold" if row[0].startswith(OURS) else None)
        console.print(table)
        for sentence in missing:
            console.print(sentence, markup=False)
