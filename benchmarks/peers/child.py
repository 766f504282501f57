"""One job of one contender, in a process of its own: prints its figures as one line of JSON."""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.peers.case import Case
from benchmarks.peers.contenders import find


def do(task: dict[str, Any]) -> dict[str, Any]:
    """Do a job; return the figures, or why there are none.

    Parameters
    ----------
    task : dict
        `job`, `contender`, `variant`, `threads`, `repeat`, `files` and `folder`.
    """
    library, contender = find(task["job"], task["contender"])
    try:
        for module in library.NEEDS:
            import_module(module)
    except ImportError as problem:
        return {"missing": f"not installed ({problem})"}
    case = Case(
        Path(task["files"]),
        Path(task["folder"]),
        task["variant"],
        task["threads"],
        task["repeat"],
    )
    case.folder.mkdir(parents=True, exist_ok=True)
    try:
        return {"figures": contender.work(case)}
    except Exception as problem:  # whatever goes wrong in a library is said in the table
        return {"missing": f"{type(problem).__name__}: {problem}".splitlines()[0]}


if __name__ == "__main__":
    # Libraries write where they like; only the answer may go to the real standard output.
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    answer.write(json.dumps(do(json.loads(sys.argv[1]))) + "\n")
    answer.close()  # before any library that crashes when it is torn down
