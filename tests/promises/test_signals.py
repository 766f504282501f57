"""Ctrl-C and SIGTERM at any moment: a status, one line, and nothing half-written."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import thresher
from thresher import Categorizer

STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143}
DELAYS = [0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.5, 2.5]  # seconds: imports, loading, work, the end
# The interpreter's own start is not in our hands: the command says when its first line was run.
COMMAND = """
from thresher import __main__
from thresher.cli import process
begin = process.begin
process.begin = lambda: (begin(), print(flush=True))
__main__.main()
"""

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="POSIX signals")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with documents and a model."""
    path = tmp_path_factory.mktemp("signals")
    draw = random.Random(1)
    words = [f"word{i}" for i in range(500)]
    rows = [
        {"text": " ".join(draw.choices(words, k=20)), "label": "abc"[i % 3]} for i in range(3000)
    ]
    (path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    texts, labels = [row["text"] for row in rows[:300]], [row["label"] for row in rows[:300]]
    Categorizer(preset="fast").fit(texts, labels).save(path / "model")
    return path


VERBS = {
    "train": ["train", "data.jsonl", "-o", "new", "--threads", "2"],
    "learn": ["learn", "model", "data.jsonl"],
    "predict": ["predict", "model", "data.jsonl", "--json"],
    "compare": ["compare", "data.jsonl", "--folds", "2", "--learners", "perceptron,linear-svm"],
    "demo": ["demo"],
    "help": ["--help"],
    "filter": ["filter", "model", "data.jsonl", "--category", "a", "-o", "kept", "--threads", "2"],
}


def begin(folder, words, ignored=None):
    """Start a command in a folder, with signals as in a terminal, or one of them ignored."""

    def prepare():
        for number in STATUS:
            signal.signal(number, signal.SIG_IGN if number == ignored else signal.SIG_DFL)

    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=prepare,
        env=os.environ | {"PYTHONPATH": str(Path(thresher.__file__).parents[1])},
    )
    process.stdout.readline()
    return process


def cases():
    draw = random.Random(13)
    for verb in VERBS:
        for delay in draw.sample(DELAYS, 2 if verb in ("help", "predict", "filter") else 3):
            number = draw.choice(list(STATUS))
            yield pytest.param(verb, delay, number, id=f"{verb}-{delay}-{number.name}")


@pytest.mark.parametrize(("verb", "delay", "number"), list(cases()))
def test_whenever_it_comes_the_end_is_clean(folder, tmp_path, verb, delay, number):
    for name in ("data.jsonl", "model"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    with begin(tmp_path, VERBS[verb]) as process:
        time.sleep(delay)
        process.send_signal(number)
        process.send_signal(number)  # twice in quick succession
        _, complaint = process.communicate(timeout=120)
    left = {path.name for path in tmp_path.iterdir()}
    assert b"Traceback" not in complaint and b"Exception ignored" not in complaint
    if process.returncode == 0:  # it was over before
        assert b"stopped" not in complaint
        return
    assert process.returncode == STATUS[number], complaint
    last = complaint.splitlines()[-1]
    assert last == b"thresher: stopped; no file is half-written." and complaint.count(last) == 1
    assert left <= {"data.jsonl", "model", "model.before-learn", "new", "demo", "kept"}
    Categorizer.load(tmp_path / "model")
    if "new" in left:
        Categorizer.load(tmp_path / "new")


def test_what_is_ignored_stays_ignored(folder):
    with begin(folder, VERBS["predict"], ignored=signal.SIGINT) as process:
        for _ in range(4):
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
        output, complaint = process.communicate(timeout=120)
    assert process.returncode == 0, complaint
    assert output.count(b"\n") == 3000


@pytest.mark.parametrize("number", [1, 2])
def test_what_may_have_been_written_is_not_written_again(number):
    """A signal just after the system wrote a line, before Python hears that it did."""
    run = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(number)], capture_output=True, text=True
    )
    streams = ["", "thresher: stopped; no file is half-written.\n"]
    streams[number - 1] = "a line\n" + streams[number - 1]
    assert (run.returncode, run.stdout, run.stderr) == (130, *streams)


INTERRUPTED = """
import sys
from thresher.cli import process

process.begin()
stream = (sys.stdout, sys.stderr)[int(sys.argv[1]) - 1]

def interrupt(frame, event, function):
    if event == "c_return" and frame.f_code.co_name == function.__name__ == "write":
        sys.setprofile(None)
        raise KeyboardInterrupt

try:
    sys.setprofile(interrupt)
    stream.write("a line\\n")
    stream.flush()
except KeyboardInterrupt:
    process.leave(130)
"""
