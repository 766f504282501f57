"""`python -m fuzz.page`: put what the campaign's log says into docs/reliability.md."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
LOG = HERE / "campaign.jsonl"
PAGE = HERE.parent / "docs" / "reliability.md"
BEGIN, END = "<!-- from the log -->\n", "<!-- end of the log -->\n"


class Promise(NamedTuple):
    """What a user may rely on, the tests of every run that see to it, and the attacks on it."""

    text: str
    tests: tuple[str, ...]
    attacks: tuple[str, ...]


PROMISES = (
    Promise(
        "A model file from anybody is at worst wrong: it is refused with a sentence, or it loads "
        "in bounded time and memory, and all it says is finite.",
        ("promises/test_strangers.py", "model/test_storage.py", "promises/test_golden.py"),
        ("models",),
    ),
    Promise(
        "A pattern of tokens takes time in proportion to the text, whoever wrote it.",
        ("text/test_patterns.py",),
        ("patterns",),
    ),
    Promise(
        "Documents of any bytes in any format are read, or refused in one line that says where.",
        ("promises/test_bad_inputs.py", "documents/test_documents.py"),
        ("documents",),
    ),
    Promise(
        "A command ends with the status it should, whatever its input, output, terminal and "
        "limits are, and whenever it is interrupted; there is no traceback.",
        ("promises/test_signals.py", "promises/test_bad_inputs.py", "cli/test_cli.py"),
        ("commands",),
    ),
    Promise(
        "Machine code that was kept is used only if it is whole; where none can be kept, it is "
        "compiled in memory.",
        ("kernels/test_kernel_cache.py",),
        ("caches",),
    ),
    Promise(
        "A save that is killed leaves the old model or the new one, and the next save clears up.",
        ("model/test_storage.py", "promises/test_writers.py"),
        ("kills",),
    ),
    Promise(
        "A save that fails, at any of its writes, leaves the old model, and says why.",
        ("model/test_storage.py", "promises/test_writers.py"),
        ("failing-calls", "full-disks"),
    ),
    Promise(
        "Of two that change a model at once, none loses or repeats what the other did.",
        ("promises/test_writers.py",),
        ("two-writers", "mixed-writers"),
    ),
    Promise(
        "Where no model can be saved, a sentence says why: devices, pipes, links, folders, names.",
        ("model/test_storage.py", "promises/test_writers.py"),
        ("odd-targets",),
    ),
    Promise(
        "Any number of threads may read a model while one lets it learn: each answer is that of a "
        "complete state.",
        ("promises/test_threads.py", "model/test_learn_undo.py"),
        ("threads",),
    ),
    Promise(
        "A corpus is read only if it is the one that was published, within bounds.",
        ("corpora/test_corpora_fetch.py", "corpora/test_corpora.py"),
        ("archives",),
    ),
    Promise(
        "A model that learns for days, and is disturbed all the time, is the one that was never "
        "disturbed.",
        ("model/test_learn_undo.py",),
        ("soak",),
    ),
)


def read_log(log: Path = LOG) -> dict[str, dict[str, Any]]:
    """Return what is known of each attack; runs with several seeds are added up."""
    known: dict[str, dict[str, Any]] = {}
    for line in log.read_text().splitlines():
        new = json.loads(line)
        record = known.setdefault(new["attack"], {**new, "cases": 0, "fresh": 0, "seconds": 0.0})
        if record["cases"]:
            assert new["seed"] not in record["seeds"], (
                f"{new['attack']}: one seed, twice in the log"
            )
        else:
            record |= {"outcomes": Counter(), "failures": 0, "seeds": []}
        record["seeds"].append(new["seed"])
        record["outcomes"].update(new["outcomes"])
        record["failures"] += len(new["failures"])
        for number in ("cases", "fresh", "seconds"):
            record[number] += new[number]
    return known


def table(known: dict[str, dict[str, Any]]) -> str:
    """Return the promises as a table, with what was tried and what came."""
    lines = ["| promised | in every run of the tests | in the campaign | what came | failures |"]
    lines.append("|---|---|---|---|---:|")
    for promise in PROMISES:
        for attack in promise.attacks:
            record = known[attack]
            fresh = f", {record['fresh']:,} in processes of their own" if record["fresh"] else ""
            outcomes = ", ".join(f"{n:,} {word}" for word, n in record["outcomes"].most_common())
            tests = ", ".join(f"`{name}`" for name in promise.tests)
            tried = f"{record['cases']:,} {record['what']}{fresh}"
            lines.append(
                f"| {promise.text} | {tests} | {tried} | {outcomes} | {record['failures']:,} |"
            )
    cases, hours = (sum(item[key] for item in known.values()) for key in ("cases", "seconds"))
    failures = sum(item["failures"] for item in known.values())
    lines += ["", f"Together {cases:,} cases in {hours / 3600:.1f} hours, {failures:,} failures."]
    return "\n".join(lines) + "\n"


def filled(page: str, known: dict[str, dict[str, Any]]) -> str:
    """Return the page with the table of this log in its place."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{table(known)}{END}{after}"


def main() -> int:
    """Write the page anew."""
    PAGE.write_text(filled(PAGE.read_text(), read_log()))
    print(f"Written: {PAGE.name}, from {LOG.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
