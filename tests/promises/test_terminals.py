"""What a terminal gets: no hidden characters of the data, no waiting, and sentences on memory."""

import json
import os
import subprocess
import sys

import pytest

from command import run
from thresher.errors import escaped, escaped_json, printable

pty = pytest.importorskip("pty")

HIDDEN = "\x1b]0;title\x07\x9b31m\u200b\u200d\u202e\u2066\ufeff\u2062\x7f\xad\u3164\ufe0f\U000e0041"
WORDS = ["cheap", "lunch", "python"]
LABELS = [f"{label}{HIDDEN}" for label in ("spam", "ham", "code")]
ROWS = [
    {"text": f"{WORDS[i % 3]} {HIDDEN}{WORDS[i % 3]}{HIDDEN} text {i}", "label": LABELS[i % 3],
     "id": f"{HIDDEN}{i}"}
    for i in range(18)
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with documents whose texts, labels and names have hidden characters."""
    folder = tmp_path_factory.mktemp("hidden")
    wrong = [row | {"label": LABELS[(i + 1) % 3]} for i, row in enumerate(ROWS)]
    new = [{"text": "cheap", "label": f"spam{HIDDEN}s"}, {"text": "lunch", "label": LABELS[0]}]
    for name, rows in {"d": ROWS, "wrong": wrong, "new": new, "n\u202e\u200b": ROWS}.items():
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines)
    for name, options in {
        "m": ["--fast"],
        "tree": ["--learner", "decision-tree"],
        "rules": ["--learner", "stump-boosting"],
        "near": ["--learner", "nearest-neighbors"],
        "concepts": ["--concepts", "2"],
    }.items():
        run("train", folder / "d.jsonl", "-o", folder / name, *options)
    return folder


def on_terminal(folder, *words):
    """Run the command line with a terminal as its standard streams; return what it prints."""
    child, terminal = pty.fork()
    if not child:
        os.chdir(folder)
        os.environ.update(TERM="xterm", COLUMNS="200")
        os.execv(sys.executable, [sys.executable, "-m", "thresher", *words])
    printed = b""
    while True:
        try:
            data = os.read(terminal, 1 << 16)
        except OSError:  # the child has ended
            data = b""
        if not data:
            break
        printed += data
    os.close(terminal)
    os.waitpid(child, 0)
    return printed.decode("utf-8", "replace")


@pytest.mark.parametrize(
    "words",
    [
        ["train", "d.jsonl", "-o", "other", "--hold-out", "0.3", "--fast"],
        ["train", "n\u202e\u200b.jsonl", "-o", "other", "--fast"],
        ["predict", "m", "d.jsonl"],
        ["predict", "m", "n\u202e\u200b.jsonl", "--json", "--scores"],
        ["rank", "m", "d.jsonl"],
        ["rank", "m", "d.jsonl", "--category", LABELS[0]],
        ["rank", "m", "d.jsonl", "--category", LABELS[0], "--json"],
        ["evaluate", "m", "wrong.jsonl", "--errors", "5", "--confusion"],
        ["evaluate", "m", "wrong.jsonl", "--errors", "5", "--json"],
        ["explain", "m", "n\u202e\u200b.jsonl:2"],
        ["explain", "m", "d.jsonl:2", "--json"],
        ["explain", "tree", "d.jsonl:2"],
        ["explain", "near", "d.jsonl:2"],
        ["inspect", "m"],
        ["inspect", "m", "--json"],
        ["inspect", "tree", "--tree", "--category", LABELS[0]],
        ["inspect", "rules", "--rules"],
        ["concepts", "concepts", "--category", LABELS[0]],
        ["concepts", "concepts", "--json"],
        ["learn", "m", "new.jsonl", "--dry-run"],
        ["learn", "m", "new.jsonl", "--dry-run", "--json"],
        ["tune", "m", "d.jsonl", "--objective", "f1", "-o", "other"],
        ["compare", "d.jsonl", "--learners", "perceptron", "--folds", "2"],
        ["filter", "m", "d.jsonl", "--category", LABELS[0]],
        ["split", "d.jsonl", "--time", "id", "-o", "a.jsonl", "b.jsonl"],
        ["train", "d.jsonl", "--labels", HIDDEN],
        ["rank", "m", "d.jsonl", "--category", HIDDEN],
    ],
)
def test_hidden_characters_reach_no_terminal(folder, words):
    printed = on_terminal(folder, *words)
    assert printed and "Traceback" not in printed
    assert "\x1b]0;title" not in printed and "\x07" not in printed
    assert [ascii(mark) for mark in HIDDEN[10:] if mark in printed and mark not in "31m"] == []


def test_hidden_characters_are_escaped_and_others_are_not():
    for text in (
        "wheat",
        "M\u00e4\u00dfe",
        "\u5c0f\u9ea6",
        "\u0645\u0631\u062d",
        "a\u0301",
        "\U0001f600",
    ):
        assert escaped(text) == printable(text) == escaped_json(text) == text
    assert escaped("a\u200bb\ufe0f") == "a\\u200bb\\ufe0f"
    assert printable("a\u200b\nb") == "a\ufffd\nb"
    text = json.dumps([HIDDEN], ensure_ascii=False)
    assert json.loads(escaped_json(text)) == [HIDDEN] and "\u200b" not in escaped_json(text)


@pytest.mark.parametrize(
    "words",
    [
        ["evaluate", "m"],
        ["predict", "m"],
        ["rank", "m"],
        ["filter", "m", "--category", LABELS[0]],
        ["train", "-o", "other"],
        ["learn", "m"],
        ["tune", "m", "--objective", "f1"],
        ["compare", "--learners", "perceptron"],
    ],
)
def test_without_documents_no_verb_waits_at_the_keyboard(folder, words):
    before = (folder / "m").read_bytes()
    assert "There are no documents: name a file" in on_terminal(folder, *words)
    assert (folder / "m").read_bytes() == before


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit address spaces")
@pytest.mark.parametrize("megabytes", [100, 300, 420])
def test_too_little_memory_is_said_in_a_sentence(folder, megabytes):
    import resource

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    command = [sys.executable, "-m", "thresher", "predict", "m", "d.jsonl"]
    done = subprocess.run(
        command, cwd=folder, preexec_fn=limit, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and "there is not enough memory" in done.stderr
    assert "ulimit -v" in done.stderr and "Traceback" not in done.stderr
