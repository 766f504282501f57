"""Work in a process of its own, so that no contender finds another's memory or threads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = ("OMP", "OPENBLAS", "MKL", "NUMBA")


def in_process(module: str, line: str, threads: int, patience: int) -> dict[str, Any]:
    """Run a module with one argument; return the JSON that it prints, or why there is none.

    Parameters
    ----------
    module, line : str
        What is run, and what it is given.
    threads : int
        How many the numeric libraries may use.
    patience : int
        Seconds after which it is given up.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-m", module, line],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=os.environ | {f"{library}_NUM_THREADS": str(threads) for library in LIBRARIES},
            timeout=patience,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"missing": f"not done after {patience} seconds"}
    try:
        return json.loads(done.stdout)
    except ValueError:
        last = (done.stderr.strip().splitlines() or ["no word of it"])[-1]
        return {"missing": f"ended with status {done.returncode}: {last}"}
