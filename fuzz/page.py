"""`python -m fuzz.page`: write the results in the campaign's logs to docs/reliability.md."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
LOG, CONTENTS_LOG = HERE / "campaign.jsonl", HERE / "contents.jsonl"
PAGE = HERE.parent / "docs" / "reliability.md"
END = "<!-- end of the log -->\n"
# The logs, by the marks that begin their tables.
LOGS = {"<!-- from the log -->\n": LOG, "<!-- from the log of contents -->\n": CONTENTS_LOG}


class Promise(NamedTuple):
    """A promise to users, the tests of it, and the attacks on it."""

    text: str
    tests: tuple[str, ...]
    attacks: tuple[str, ...]


PROMISES = (
    Promise(
        "A model file from a stranger can be wrong, but does no harm: it is refused with a "
        "sentence, or it loads in bounded time and memory, and all its numbers are finite.",
        ("promises/test_strangers.py", "model/test_storage.py", "promises/test_golden.py"),
        ("models",),
    ),
    Promise(
        "Any token pattern takes time proportional to the length of the text.",
        ("text/test_patterns.py",),
        ("patterns",),
    ),
    Promise(
        "Documents with any bytes in any format are read, or refused in a line with the location.",
        ("promises/test_bad_inputs.py", "documents/test_documents.py"),
        ("documents",),
    ),
    Promise(
        "A command ends with the documented status and without a traceback, for any input, output, "
        "terminal and limits, and whenever it is interrupted.",
        ("promises/test_signals.py", "promises/test_bad_inputs.py", "cli/test_cli.py"),
        ("commands",),
    ),
    Promise(
        "Cached machine code is used only if it is complete; if it cannot be cached, it is "
        "compiled in memory.",
        ("kernels/test_kernel_cache.py",),
        ("caches",),
    ),
    Promise(
        "A save that is killed leaves the old model or the new one, and the next save cleans up.",
        ("model/test_storage.py", "promises/test_writers.py"),
        ("kills",),
    ),
    Promise(
        "A save that fails at any write leaves the old model and says why.",
        ("model/test_storage.py", "promises/test_writers.py"),
        ("failing-calls", "full-disks"),
    ),
    Promise(
        "Two processes can change a model at once without losing or repeating an update.",
        ("promises/test_writers.py",),
        ("two-writers", "mixed-writers"),
    ),
    Promise(
        "If a model cannot be saved to a path, a sentence says why: devices, pipes, links, "
        "folders.",
        ("model/test_storage.py", "promises/test_writers.py"),
        ("odd-targets",),
    ),
    Promise(
        "Any number of threads can use a model while another updates it; each answer is that of a "
        "complete model before or after an update.",
        ("promises/test_threads.py", "model/test_learn_undo.py"),
        ("threads", "categories", "processes"),
    ),
    Promise(
        "A corpus is read only if it is the published one and of bounded size.",
        ("corpora/test_corpora_fetch.py", "corpora/test_corpora.py"),
        ("archives",),
    ),
    Promise(
        "A model that is updated for days with constant interruptions equals one that was never "
        "interrupted.",
        ("model/test_learn_undo.py",),
        ("soak",),
    ),
    Promise(
        "Documents are read as `csv`, `json`, `pyarrow` and `email` read them, for any size of the "
        "blocks in which a file is read; what cannot be read is counted.",
        ("documents/test_documents.py", "promises/test_bad_inputs.py"),
        ("contents",),
    ),
    Promise(
        "The time to read documents is proportional to their size.",
        ("documents/test_documents.py",),
        ("sizes",),
    ),
    Promise(
        "Small compressed files take bounded memory and disk space.",
        ("documents/test_awkward.py",),
        ("bombs",),
    ),
    Promise(
        "No command writes a file that it reads, or replaces a file of another kind.",
        ("cli/test_outputs.py",),
        ("inputs",),
    ),
    Promise(
        "A model that another program rewrites in place is loaded completely or refused.",
        ("model/test_storage.py",),
        ("rewrites",),
    ),
    Promise(
        "A command on a failing or full disk leaves the old file or the new one, and says why.",
        ("promises/test_writers.py",),
        ("disks",),
    ),
)


def read_log(log: Path = LOG) -> dict[str, dict[str, Any]]:
    """Return the results of each attack, summed over runs with several seeds."""
    known: dict[str, dict[str, Any]] = {}
    for line in log.read_text().splitlines() if log.exists() else ():
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
    """Return the promises as a table, with the cases tried and their outcomes."""
    if not known:
        return "It has not run yet.\n"
    lines = ["| promise | tests | in the campaign | outcomes | failures |"]
    lines.append("|---|---|---|---|---:|")
    for promise in PROMISES:
        for attack in filter(known.__contains__, promise.attacks):
            record = known[attack]
            fresh = f", {record['fresh']:,} in fresh processes" if record["fresh"] else ""
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


def filled(page: str) -> str:
    """Return the page with the tables of the logs."""
    for begin, log in LOGS.items():
        before, _, rest = page.partition(begin)
        _, _, after = rest.partition(END)
        page = f"{before}{begin}{table(read_log(log))}{END}{after}"
    return page


def main() -> int:
    """Update the page."""
    PAGE.write_text(filled(PAGE.read_text()))
    print(f"Written: {PAGE.name}, from {' and '.join(log.name for log in LOGS.values())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
