"""Commands whose output is one of their inputs, under another name or inside a folder or pattern.

No command changes a file that it reads, except the model that `learn` and `tune` change and the one
file that `filter` may replace; nor does it replace a file of another kind.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import traceback
from pathlib import Path

from fuzz.campaign import Attack, Case, leave, seeds

__all__ = ["ATTACKS"]

NAME = "inputs"
TABLES = ("tables", "tables/a.csv", "tables/b.csv", "tables/*.csv", "tables/a.csv tables/b.csv")
DATA = (*TABLES, *TABLES, "cats", "mails", "link", "hard.csv", "soft.csv", "data.jsonl")
# `{data}` is what is read, `{out}` what would be written; the model is read too.
COMMANDS = (
    "train {data} -o {out} --fast",
    "predict model.thresher {data} -o {out}",
    "rank model.thresher {data} -o {out}",
    "filter model.thresher {data} --category a -o {out}",
    "filter model.thresher {data} --category a -o new.csv --rejected {out}",
    "evaluate model.thresher {data} --errors 3 -o {out}",
    "evaluate model.thresher {data} --report {out}",
    "explain model.thresher {file} --html {out}",
    "learn model.thresher {data} -o {out}",
    "tune model.thresher {data} --objective f1 -o {out}",
    "split {file} -o {out} new.csv",
    "split {file} -o new.csv {out}",
    "compact model.thresher {data} -o {out}",
    "compact model.thresher",
    "predict model.thresher {file} --names names.csv -o {out}",
    "compare {data} --folds 2 --learners perceptron --fast --plot {out}",
)
SPELLINGS = (
    *("{}", "{}", "./{}", "tables/../{}", "{root}/{}", "tables/./../{}", "link/../{}"),
    *("soft.csv", "hard.csv", "link/a.csv", "link/b.csv", "tables/hard.csv"),
)


def prepare(folder: Path) -> None:
    """Write a model, and documents in files and folders, with links between them."""
    from thresher import Categorizer

    texts = [f"word{i % 7} wheat{i % 5} other{i}" for i in range(30)]
    labels = ["ab"[i % 2] for i in range(30)]
    Categorizer("perceptron").fit(texts, labels).save(folder / "model.thresher")
    shutil.copy(folder / "model.thresher", folder / "other.thresher")
    rows = [f"{text},{label}\n" for text, label in zip(texts, labels, strict=True)]
    for name in ("tables", "cats/a", "cats/b", "mails"):
        (folder / name).mkdir(parents=True)
    (folder / "tables/a.csv").write_text("text,label\n" + "".join(rows))
    (folder / "tables/b.csv").write_text("text,label\n" + "".join(rows[:20]))
    for i, (text, label) in enumerate(zip(texts, labels, strict=True)):
        (folder / f"cats/{label}/{i}.txt").write_text(text)
        (folder / f"mails/{i}.eml").write_text(f"From: a@b.org\nSubject: {label}\n\n{text}\n")
    lines = (f'{{"text": "{text}", "label": "a"}}\n' for text in texts)
    (folder / "data.jsonl").write_text("".join(lines))
    (folder / "names.csv").write_text("code,name\na,Alpha\nb,Beta\n")
    (folder / "other.csv").write_text("text,label\nwheat,a\n")
    (folder / "notes.txt").write_text("a letter to a friend\n")
    (folder / "model-compact.thresher").write_text("a table that has nothing to do with it\n")


def attempt(case: Case, folder: Path) -> str:
    """Run a command that names one of its inputs as its output; compare all files."""
    shutil.copytree(seeds(NAME), folder / "work")
    os.chdir(folder / "work")
    os.symlink("tables", "link")
    os.symlink("tables/a.csv", "soft.csv")
    os.link("tables/a.csv", "hard.csv")
    os.link("tables/b.csv", "tables/hard.csv")
    files = sorted(str(path) for path in Path().rglob("*") if path.is_file())
    command, data = case.choice(COMMANDS), case.choice(DATA)
    file = case.choice(("tables/a.csv", "soft.csv", "hard.csv", "data.jsonl"))
    read = {"model.thresher"} if "model.thresher" in command else set[str]()
    for name in [*(data.split() if "{data}" in command else []), *([file] * ("{file}" in command))]:
        read |= {str(path) for path in Path().glob(name)}
        read |= {str(path) for path in Path().glob(f"{name}/**/*") if path.is_file()}
    read |= {"names.csv"} if "--names" in command else set()
    if command.startswith(("learn", "tune")):  # they may change the model
        read.discard("model.thresher")
    if command.endswith("{data} --category a -o {out}") and Path(data).is_file():
        read.discard(data)  # `filter` may replace its only file
    # The output is an input or, now and then, a file of another kind.
    others = ["other.csv", "notes.txt", "model-compact.thresher", "other.thresher"]
    if command.startswith(("train", "learn", "tune", "compact")):
        others.remove("other.thresher")
    elif command.startswith(("split", "filter")):
        others = ["other.thresher"]
    inputs = [file for file in files if _is_of(file, read)]
    name = case.choice(inputs if inputs and case.random() < 0.8 else others)
    out = case.choice(SPELLINGS).replace("{root}", os.getcwd()).replace("{}", name)
    words = command.format(data=data, file=file, out=shlex.quote(out))
    (folder / "command").write_text(f"{words}\n")
    # The files that must not change, with all their names.
    before = {file: Path(file).read_bytes() for file in files if _is_of(file, {*read, *others})}
    status = _run(words.split(), folder)
    changed = [name for name, content in before.items() if _content(name) != content]
    complaint = (folder / "stderr").read_text(errors="replace")
    problem = f"{words}: status {status}, {complaint[-500:]!r}"
    assert not changed, f"{changed} changed by {problem}"
    assert status in (0, 2) and "Traceback" not in complaint, problem
    return "refused" if status else "written elsewhere"


def _is_of(file: str, others: set[str]) -> bool:
    """Return True if a file is one of these, or a symbolic link to one."""
    return any(os.path.realpath(file) == os.path.realpath(other) for other in others)


def _content(name: str) -> bytes:
    return Path(name).read_bytes() if Path(name).is_file() else b"(gone)"


def _run(words: list[str], folder: Path) -> int:
    """Run a command in a fork, as a shell would, with names for patterns; return its status."""
    expanded = []
    for word in words:
        expanded += sorted(str(path) for path in Path().glob(word)) if "*" in word else [word]
    child = os.fork()
    if not child:
        leave(lambda: _command(expanded, folder))
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _command(words: list[str], folder: Path) -> None:
    from thresher.__main__ import main

    for descriptor, name in enumerate((os.devnull, "stdout", "stderr")):
        opened = os.open(folder / name, os.O_CREAT | os.O_RDWR, 0o666)
        os.dup2(opened, descriptor)
    sys.argv = ["thresher", *words]
    status: object = 0
    try:
        main()
    except SystemExit as end:
        status = end.code or 0
    except BaseException:
        traceback.print_exc()
        status = 1
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status if isinstance(status, int) else 1)


ATTACKS = (
    Attack(NAME, "commands whose output is an input", attempt, 150, prepare, 1.0, memory=8 << 30),
)
