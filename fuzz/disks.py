"""Commands on a disk where a call of the operating system fails.

`disks.c`, compiled when the attack begins and loaded by LD_PRELOAD, makes the nth call of a kind
fail on the files of a case: a failing disk (EIO), or one that is full (ENOSPC). Then the old file
is intact or the new one is complete, a sentence says why, and no temporary file is left.

The commands run in forks of one process per worker that has imported everything.
"""

from __future__ import annotations

import ctypes
import errno
import gzip
import io
import json
import os
import shutil
import subprocess
import sys
from functools import cache
from mmap import mmap
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from fuzz.campaign import Attack, Case, leave, seeds

__all__ = ["ATTACKS"]

NAME = "disks"
LIBRARY = "disks.so"
CALLS = ("write", "write", "write", "fsync", "rename", "open", "close", "link", "chmod", "read")
ERRORS = (errno.EIO, errno.ENOSPC, errno.EDQUOT)
COMMANDS = (
    "train data.csv -o out.thresher --learner perceptron",
    "learn model.thresher data.csv",
    "learn model.thresher data.csv -o out.thresher",
    "tune model.thresher data.csv --objective f1",
    "compact model.thresher -o out.thresher",
    "predict model.thresher data.csv -o out.csv",
    "predict model.thresher data.csv -o out.jsonl --scores",
    "predict model.thresher data.csv -o out.parquet",
    "rank model.thresher data.csv -o out.csv",
    "filter model.thresher ragged.csv --category a -o out.csv --rejected bad.csv",
    "filter model.thresher data.csv --category a -o out.csv.gz",
    "split data.csv --test 0.3 -o out.csv out-2.csv",
    "evaluate model.thresher data.csv -o out.csv --errors 3",
    "explain model.thresher wheat --html out.html",
)


def prepare(folder: Path) -> None:
    """Write a model and documents, and compile the library if there is a compiler."""
    from thresher import Categorizer

    texts = [f"word{i % 7} café {i % 5} other{i}" for i in range(60)]
    labels = ["ab"[i % 2] for i in range(60)]
    (folder / "files").mkdir()
    Categorizer("perceptron").fit(texts, labels).save(folder / "files" / "model.thresher")
    rows = (f"{text},{label}\n" for text, label in zip(texts, labels, strict=True))
    table = f"text,label\n{''.join(rows)}"
    (folder / "files" / "data.csv").write_text(table)
    (folder / "files" / "ragged.csv").write_text(f"{table}wheat,a,b\n")
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not sys.platform.startswith("linux"):
        print("disks: skipped, because there is no C compiler (cc, gcc) or no LD_PRELOAD")
        return
    source, library = Path(__file__).with_name("disks.c"), folder / LIBRARY
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", source, "-o", library, "-ldl"], check=True)


def attempt(case: Case, folder: Path) -> str:
    """Run a command in which a call fails; compare its files with those of one that succeeds."""
    if not (seeds(NAME) / LIBRARY).exists():
        return "skipped"
    command, call = case.choice(COMMANDS), case.choice(CALLS)
    failure = {"call": call, "nth": case.choice((1, 1, 1, 1, 1, 2, 2, 3, 4, 6, 10))}
    failure |= {"error": case.choice(ERRORS), "lasts": case.random() < 0.4}
    (folder / "command").write_text(f"{command} {failure}\n")
    right = expected(command)
    work = folder / "work"
    shutil.copytree(seeds(NAME) / "files", work)
    if case.random() < 0.5:
        for name in right:
            if name.startswith("out"):
                (work / name).write_bytes(older(work / name, right[name]))
    before = contents(work)
    status, n_failed, complaint = run(command, work, failure)
    after = contents(work)
    problem = f"{command}, {failure}: status {status}, {complaint[-1500:]!r}"
    assert status in (0, 2), problem
    assert "Traceback" not in complaint and "Exception ignored" not in complaint, problem
    assert status == 0 or complaint.strip(), f"no sentence: {problem}"
    if not set(after) <= set(before) | set(right):
        raise AssertionError(
            f"left over: {sorted(set(after) - set(before) - set(right))}; {problem}"
        )
    for name in set(before) | set(right):
        known = [files.get(name) for files in (before, right)]
        assert after.get(name) in known, (
            f"{name} is neither the old file nor the new one; {problem}"
        )
        assert status or after.get(name) == right.get(name), f"{name} is not new; {problem}"
    if not n_failed:
        assert status == 0, problem
        return "no such call"
    return f"{'refused' if status else 'written'} as {call} failed"


def older(path: Path, content: bytes) -> bytes:
    """Return the content of another file of the same kind."""
    if path.suffix == ".thresher":
        return path.with_name("model.thresher").read_bytes()
    if path.suffix == ".parquet":
        sink = io.BytesIO()
        pq.write_table(pq.read_table(io.BytesIO(content)).slice(1), sink)
        return sink.getvalue()
    return content + (gzip.compress(b"wheat,a\n") if path.suffix == ".gz" else b"\n")


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files in a folder by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@cache
def expected(command: str) -> dict[str, bytes]:
    """Return the files after a command in which nothing fails."""
    folder = seeds(NAME) / "right" / f"{os.getpid()}-{COMMANDS.index(command)}"
    shutil.copytree(seeds(NAME) / "files", folder)
    status, _, complaint = run(command, folder, {"call": "", "nth": 0, "error": 0})
    assert status == 0, complaint
    return contents(folder)


# The process that runs commands -------------------------------------------------------------------


@cache
def server() -> subprocess.Popen[str]:
    """Start a process with the library that runs commands in forks."""
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    environment = os.environ | {"LD_PRELOAD": str(seeds(NAME) / LIBRARY)}
    return subprocess.Popen([sys.executable, "-m", "fuzz.disks"], env=environment, **pipes)


def run(command: str, folder: Path, failure: dict[str, Any]) -> tuple[int, int, str]:
    """Run a command in a folder; return its status, the number of failed calls, and its stderr."""
    process = server()
    assert process.stdin and process.stdout
    request = {"command": command, "folder": str(folder), "lasts": False} | failure
    process.stdin.write(json.dumps(request) + "\n")
    process.stdin.flush()
    status, n_failed = json.loads(process.stdout.readline())
    complaint = folder.with_name(f"{folder.name}-stderr").read_text(errors="backslashreplace")
    return status, n_failed, complaint


def serve() -> None:
    """Run the commands on standard input, each in a fork; write their statuses."""
    from thresher import Categorizer
    from thresher.cli.program import VERBS
    from thresher.cli.program import app as program

    for verb in VERBS:
        program.get_command(None, verb)  # type: ignore[arg-type]
    # Load the kernels, so that forks need not.
    model = Categorizer("perceptron").fit(["wheat", "oil"] * 4, ["a", "b"] * 4)
    model.learn(["oil"], ["b"]).predict(["wheat"])
    counter = mmap(-1, 4096)
    library = ctypes.CDLL(None)
    failed = ctypes.c_int.from_buffer(counter)
    for line in sys.stdin:
        request = json.loads(line)
        failed.value = 0
        child = os.fork()
        if not child:
            leave(lambda request=request: _command(library, failed, request))
        _, status = os.waitpid(child, 0)
        print(json.dumps([os.waitstatus_to_exitcode(status), failed.value]), flush=True)


def _command(library: Any, failed: ctypes.c_int, request: dict[str, Any]) -> None:
    """Run a command in this process, and end it."""
    folder = Path(request["folder"])
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        path = folder.with_name(f"{folder.name}-{name}")
        opened = os.open(path if descriptor else os.devnull, os.O_CREAT | os.O_RDWR, 0o666)
        os.dup2(opened, descriptor)
    os.chdir(folder)
    sys.argv = ["thresher", *request["command"].split()]
    from thresher.__main__ import main

    name, inside = request["call"].encode(), f"{folder}/".encode()
    how = request["nth"], request["error"], int(request["lasts"])
    library.arm(name, *how, inside, ctypes.byref(failed))
    status: Any = 0
    try:
        main()
    except SystemExit as end:
        status = end.code or 0
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status if isinstance(status, int) else 1)


ATTACKS = (
    Attack(NAME, "commands on failing disks", attempt, 300, prepare=prepare, memory=8 << 30),
)

if __name__ == "__main__":
    serve()
