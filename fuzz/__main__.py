"""`python -m fuzz`: run generated cases against Thresher and report failures."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

from fuzz.campaign import Attack, Outcome, run

HERE = Path(__file__).parent
ENDLESS = 10**9  # cases, if the time is limited


def attacks() -> dict[str, Attack]:
    """Return the attacks of all files in this folder by name."""
    names = sorted(path.stem for path in HERE.glob("[a-z]*.py"))
    modules = (import_module(f"fuzz.{name}") for name in names)
    return {item.name: item for module in modules for item in getattr(module, "ATTACKS", ())}


def main(words: list[str] | None = None) -> int:
    """Run the named attacks, or all; return the exit status."""
    known = attacks()
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="ATTACK", help=", ".join(known))
    parser.add_argument(
        "--seed", type=int, help="seed of all cases; random by default, and printed"
    )
    parser.add_argument(
        "--times", type=float, default=1.0, help="multiple of the default number of cases"
    )
    parser.add_argument("--cases", type=int, help="number of cases of each attack")
    parser.add_argument(
        "--minutes", type=float, help="run cases for so long in all, each attack equally long"
    )
    parser.add_argument("--only", type=int, help="run only the case with this number")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="number of processes")
    parser.add_argument("--log", type=Path, help="append a JSON line for each attack to this file")
    given = parser.parse_args(words)
    if strangers := set(given.names) - set(known):
        parser.error(f"{sorted(strangers)[0]!r} is not an attack; choose from {', '.join(known)}")
    seed = given.seed if given.seed is not None else int.from_bytes(os.urandom(4))
    print(f"seed {seed}; failed cases are kept in {HERE / 'work' / 'failures'}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # like Ctrl-C
    n_failures = n_cases = 0
    end = None if given.minutes is None else time.monotonic() + 60 * given.minutes
    chosen = [known[name] for name in given.names or known]
    for i, attack in enumerate(chosen):
        n = given.cases or max(1, round(attack.cases * given.times))
        seconds = None
        if end is not None:
            n = given.cases or ENDLESS
            seconds = max(0.0, end - time.monotonic()) / (len(chosen) - i)
        numbers = range(n) if given.only is None else range(given.only, given.only + 1)
        how = {"jobs": given.jobs, "home": HERE / "work", "seconds": seconds}
        outcome = run(attack, seed, numbers, **how, show=_progress)
        _report(outcome)
        if given.log:
            append(given.log, outcome)
        n_cases, n_failures = n_cases + outcome.cases, n_failures + len(outcome.failures)
    print(f"{n_cases:,} cases, {n_failures:,} failures")
    return 1 if n_failures else 0


def _progress(outcome: Outcome) -> None:
    if sys.stderr.isatty():
        state = f"{outcome.attack}: {outcome.cases:,} cases, {len(outcome.failures):,} failures"
        sys.stderr.write(f"\r{state} in {outcome.seconds:,.0f} s\x1b[K")


def _report(outcome: Outcome) -> None:
    """Print the outcomes in a line, and then each failure."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
    counts = ", ".join(f"{n:,} {word}" for word, n in outcome.outcomes.most_common())
    fresh = f", {outcome.fresh:,} in fresh processes" if outcome.fresh else ""
    print(
        f"{outcome.attack}: {outcome.cases:,} {outcome.what}{fresh}: {counts}; "
        f"{outcome.seconds:,.0f} s"
    )
    for failure in outcome.failures[:20]:
        last = failure.text.strip().splitlines()[-1]
        print(f"  case {failure.number}: {failure.kind}: {last}\n    {failure.folder}")


def append(log: Path, outcome: Outcome) -> None:
    """Append the outcome to a log, with the version of the code."""
    words = ["git", "describe", "--always", "--dirty"]
    state = subprocess.run(words, cwd=HERE, capture_output=True, text=True).stdout.strip()
    with log.open("a") as file:
        file.write(json.dumps(outcome.to_dict() | {"state": state}) + "\n")


if __name__ == "__main__":
    sys.exit(main())
