"""How long one fit takes, beside LinearSVC, in one run: taking turns, the best of three counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.quality.contenders import find, ours, scikit_learn
from benchmarks.quality.corpora import TASKS, Task, prepare
from benchmarks.quality.running import run_process

ROUNDS = 3


@dataclass(frozen=True)
class Race:
    """A fit of ours beside one of theirs.

    Parameters
    ----------
    ours, theirs : str
        Two contenders.
    limit : float, optional
        How many times theirs ours may take.
    tasks : tuple of str
        Where they race.
    """

    ours: str
    theirs: str
    limit: float | None
    tasks: tuple[str, ...]


RACES = (
    Race(ours.ONE_FIT, scikit_learn.ONE_FIT, 1.5, ("r90", "20newsgroups")),
    Race(ours.TUNED, scikit_learn.SHORT_SEARCH, 1.0, ("r90",)),
    Race(ours.FAST, scikit_learn.ONE_FIT, None, ("r90",)),
)


def run(results: Path, races: Sequence[Race] = RACES, tasks: Sequence[Task] = TASKS) -> list[dict]:
    """Let everybody fit in turn, in a process of its own each time; return the best times.

    Parameters
    ----------
    results : Path
        Where the documents are kept.
    races : sequence of Race
        Who races whom.
    tasks : sequence of Task
        The tasks that are named in the races.

    Returns
    -------
    list of dict
        `task`, `contender`, and the least `seconds` and `processor` seconds or what is `missing`.
    """
    rows: list[dict[str, Any]] = []
    for task in tasks:
        here = [race for race in races if task.name in race.tasks]
        names = dict.fromkeys(name for race in here for name in (race.ours, race.theirs))
        if not names or not task.is_here:
            continue
        files, times = prepare(task, results / "data"), {name: [] for name in names}
        missing: dict[str, str] = {}
        for _ in range(ROUNDS):
            for name in names:
                if name in missing:
                    continue
                answer = run_process(task, find(name), files, None)
                if "missing" in answer:
                    missing[name] = answer["missing"]
                else:
                    times[name].append(answer["figures"])
                print(f"{task.title}: {name}: {answer.get('figures', answer)}", flush=True)
        for name in names:
            row: dict[str, Any] = {"task": task.name, "contender": name}
            if name in missing:
                row["missing"] = missing[name]
            else:
                row |= {
                    key: min(seconds[key] for seconds in times[name])
                    for key in ("seconds", "processor")
                }
            rows.append(row)
    return rows


def markdown(rows: list[dict], races: Sequence[Race] = RACES) -> str:
    """Return the comparison as a table."""
    titles = {task.name: task.title for task in TASKS}
    place = {(row["task"], row["contender"]): row for row in rows}
    lines = [
        "| task | ours | seconds | theirs | seconds | ratio | at most |",
        "| --- | --- | ---: | --- | ---: | ---: | ---: |",
    ]
    for race in races:
        for task in race.tasks:
            mine, their = place.get((task, race.ours)), place.get((task, race.theirs))
            if mine and their:
                seconds = [item.get("processor") for item in (mine, their)]
                shown = ["missing" if second is None else f"{second:.2f}" for second in seconds]
                ratio = "" if None in seconds else f"{seconds[0] / seconds[1]:.2f} ×"
                limit = "" if race.limit is None else f"{race.limit:.1f} ×"
                cells = (titles.get(task, task), race.ours, shown[0], race.theirs, shown[1])
                lines.append(f"| {' | '.join((*cells, ratio, limit))} |")
    return "\n".join(lines)
