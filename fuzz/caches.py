"""Damaged files of compiled kernels: a fresh process must predict the same."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from fuzz.campaign import Attack, Case, seeds

__all__ = ["ATTACKS"]

NAME = "caches"
TEXTS = ["the dog and the cow", "plum tart and apple pie", "a dog barks", "apples and pears"]
PREDICT = """
import json, sys
from pathlib import Path
from thresher import Categorizer
from thresher._kernels._cache import activity
activity.only = Path(sys.argv[1], "kernels")
scores = Categorizer.load(Path(sys.argv[1], "model")).scores(json.loads(sys.argv[2])).tolist()
print(json.dumps({"scores": scores, "files": sorted(activity.used)}))
"""


def prepare(folder: Path) -> None:
    """Write a model, its compiled kernels, and the scores that a process gives."""
    from thresher import Categorizer

    model = Categorizer("perceptron").fit(TEXTS, ["animal", "food", "animal", "food"])
    model.save(folder / "model")
    command = [sys.executable, "-c", PREDICT, str(folder), json.dumps(TEXTS)]
    for _ in range(2):  # the second only reads, and names what it reads
        answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    (folder / "answer.json").write_text(answer)


def flip(case: Case, path: Path) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(case.choice((1, 1, 2, 50))):
        content[case.randrange(len(content))] ^= 1 << case.randrange(8)
    path.write_bytes(content)


def cut(case: Case, path: Path) -> None:
    os.truncate(path, case.choice((0, 31, 32, 33, case.randrange(path.stat().st_size))))


def zero(case: Case, path: Path) -> None:
    content = bytearray(path.read_bytes())
    start = case.randrange(len(content))
    length = len(content[start : start + case.choice((16, 512, 4096, len(content)))])
    content[start : start + length] = bytes(length)
    path.write_bytes(content)


def grow(case: Case, path: Path) -> None:
    with path.open("ab") as file:
        file.write(case.randbytes(case.choice((1, 32, 10_000))))


def swap(case: Case, path: Path) -> None:
    shutil.copy(case.choice(sorted(path.parent.glob("*.kernel"))), path.with_name("copy"))
    os.replace(path.with_name("copy"), path)


def splice(case: Case, path: Path) -> None:
    """Join the beginning of this file with the end of another."""
    other = case.choice(sorted(path.parent.glob("*.kernel"))).read_bytes()
    path.write_bytes(path.read_bytes()[: case.randrange(1000)] + other[case.randrange(1000) :])


def take_away(case: Case, path: Path) -> None:
    path.unlink()


def put_in_the_way(case: Case, path: Path) -> None:
    path.unlink()
    case.choice((
        path.mkdir,
        lambda: os.mkfifo(path),
        lambda: path.symlink_to(case.choice(("/dev/zero", "/dev/full", "nowhere", path.name, "."))),
    ))()  # fmt: skip


def forbid(case: Case, path: Path) -> None:
    os.chmod(path, case.choice((0, 0o222, 0o666)))


# One or two files of four, because compiling all of them takes too long for many cases.
DAMAGES: tuple[Callable[[Case, Path], None], ...] = (
    *(flip, flip, cut, zero, grow, swap, splice, take_away, put_in_the_way, forbid),
)


def attempt(case: Case, folder: Path) -> str:
    """Damage a copy of the kernels, then predict in this process, which has not called kernels."""
    from thresher import Categorizer
    from thresher._kernels._cache import activity

    start, place, complaints = seeds(NAME), folder / "kernels", []
    answer = json.loads((start / "answer.json").read_text())
    shutil.copytree(start / "kernels", place)
    (inner,) = place.iterdir()
    victims = case.sample(answer["files"], min(len(answer["files"]), case.choice((1, 1, 2))))
    for name in victims:
        case.choice(DAMAGES)(case, inner / name)
    activity.only, activity.tell = place, complaints.append
    scores = Categorizer.load(start / "model").scores(TEXTS)
    assert scores.tolist() == answer["scores"], "the scores differ"
    assert len(complaints) <= 1, complaints
    assert not list(place.glob("*/.*")), "a temporary file is left"
    if complaints:
        return "compiled in memory"
    return "repaired" if activity.compiled else "read"


ATTACKS = (
    Attack(NAME, "damaged files of compiled kernels", attempt, 60, prepare=prepare, fresh=1.0),
)
