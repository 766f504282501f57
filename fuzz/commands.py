"""Commands with bad inputs, unusual streams, limits and signals, each in a process.

In all cases the exit status is a documented one, standard error has printable sentences, and no
temporary file is left.
"""

from __future__ import annotations

import os
import random
import resource
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from fuzz.campaign import Attack, seeds

STATUSES = {0, 2, 130, 141, 143}
BEGUN = """
import os
from thresher import __main__
from thresher.cli import process
begin = process.begin
process.begin = lambda: (begin(), os.write({}, b"."))
__main__.main()
"""
TRAIN = "train {} -o new --fast"
VERBS = (
    *(TRAIN, TRAIN + " --learner naive-bayes", TRAIN + " --threads 2 --curve"),
    *("predict model {}", "predict model {} --json", "rank model {}", "rank model {} --category a"),
    *("filter model {} --category a", "filter model {} --category a --add p -o new --rejected bad"),
    *("evaluate model {}", "evaluate model {} --report page.html", "explain model {}"),
    *("explain model - < {}", "explain model é --html page.html", "inspect model", "learners"),
    *("learn model {} -o new", "learn model {}", "learn model {} --dry-run", "inspect {}"),
    *("tune model {} --objective f1", "compare {} --folds 2 --learners perceptron", "paper list"),
    *("corpus list", "corpus show {}", "concepts model", "predict {} model", "--help", "{} --what"),
)
ODD_NAMES = ("x" * 300, "a\nb", "\udcff.csv", "nothing", ".", "/dev/null", "model", "-", "")
STREAMS = (
    *("", "", "", "", "<&-", ">&-", "2>&-", ">/dev/full", "2>/dev/full", "<&- >&- 2>&-"),
    *("</dev/null", "| head -c 1", ">/dev/full 2>&1"),
)
LOCALES: tuple[dict[str, str], ...] = (
    {},
    {"LC_ALL": "C", "PYTHONUTF8": "0"},
    {"PYTHONIOENCODING": "ascii"},
    {"PYTHONIOENCODING": "latin-1:strict"},
    {"TERM": "dumb", "COLUMNS": "1"},
)
LIMITS = (
    (resource.RLIMIT_FSIZE, (0, 1000, 100_000)),
    (resource.RLIMIT_NOFILE, (16, 64)),
    (resource.RLIMIT_AS, (3 << 30,)),
)


def prepare(folder: Path) -> None:
    """Write a model and documents."""
    from thresher import Categorizer

    texts = [f"word{i % 7} café {i % 5}" for i in range(60)]
    labels = ["ab"[i % 2] for i in range(60)]
    Categorizer(preset="fast").fit(texts, labels).save(folder / "model")
    rows = zip(texts, labels, strict=True)
    (folder / "data.csv").write_text(
        "text,label\n" + "".join(f"{text},{label}\n" for text, label in rows)
    )


def attack(rng: random.Random, folder: Path) -> str:
    """Run a command under adverse conditions."""
    from fuzz.documents import mutated, seed

    for name in ("model", "data.csv"):
        (folder / name).write_bytes((seeds("commands") / name).read_bytes())
    kind = rng.choice(("csv", "jsonl", "fasttext", "lines", "parquet", "eml"))
    (folder / "bad").write_bytes(mutated(rng, seed(rng, kind)))
    data = rng.choice(("data.csv", "data.csv", "bad", "bad", rng.choice(ODD_NAMES)))
    words = rng.choice(VERBS).replace("{}", shlex.quote(data))
    streams = rng.choice(STREAMS)
    number = rng.choice((None, None, signal.SIGINT, signal.SIGTERM))
    limit, values = rng.choice(LIMITS)
    value = rng.choice((None, None, *values)) if number is None else None
    odd = rng.choice(LOCALES) | {"HOME": str(folder), "MPLCONFIGDIR": str(folder)}
    reader, writer = os.pipe()
    command = (
        f"{shlex.quote(sys.executable)} -c {shlex.quote(BEGUN.format(writer))} {words} {streams}"
    )
    gone = rng.random() < 0.05  # the folder that it stands in
    (folder / "command").write_text(ascii((command, number, limit, value, odd, gone)))
    before = {path.name for path in folder.iterdir()}

    def limited() -> None:
        for item in (signal.SIGINT, signal.SIGTERM):
            signal.signal(item, signal.SIG_DFL)
        if value is not None:
            resource.setrlimit(limit, (value, resource.getrlimit(limit)[1]))

    place = folder / "gone" if gone else folder
    place.mkdir(exist_ok=True)
    start = f"rmdir {shlex.quote(str(place))}; " if gone else ""
    how: dict[str, Any] = {
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "env": os.environ | odd,
    }
    how |= {"stdin": subprocess.DEVNULL, "pass_fds": [writer], "preexec_fn": limited}
    shell = f"{start}exec {command}" if "|" not in command else f"{start}set -o pipefail; {command}"
    with subprocess.Popen(["bash", "-c", shell], cwd=place, **how) as process:
        os.close(writer)
        if number is not None and os.read(reader, 1):  # nothing where it could not even begin
            signals = rng.choice((1, 2))
            with_delay = rng.choice((0.0, 0.01, 0.05, 0.2, 0.5, 1.0))
            try:
                process.wait(with_delay)
            except subprocess.TimeoutExpired:
                for _ in range(signals if "|" not in command else 0):
                    process.send_signal(number)
        output, complaint = process.communicate(timeout=60)
    os.close(reader)
    problem = f"{words} {streams} {number}: status {process.returncode}, {complaint!r}"
    (folder / "outcome").write_text(ascii((output[-2000:], complaint)))
    if complaint.startswith(b"bash: "):  # it could not open what we named
        return "not begun"
    assert process.returncode in STATUSES, problem
    assert b"Traceback" not in complaint and b"Exception ignored" not in complaint, problem
    text = complaint.decode(odd.get("PYTHONIOENCODING", "utf-8").partition(":")[0], "replace")
    assert all(line.isprintable() or "\t" in line for line in text.splitlines()), problem
    left = {path.name for path in folder.iterdir()} - before - {"outcome", "gone"}
    assert not {name for name in left if name.endswith((".tmp", ".lock"))}, f"{problem}, {left}"
    return f"status {process.returncode}"


ATTACKS = (
    Attack("commands", "commands with something against them", attack, cases=60, prepare=prepare),
)
