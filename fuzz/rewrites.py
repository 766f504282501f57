"""Model files that are rewritten in place and cut off while other processes load them.

`save` replaces a model by renaming. Other programs, such as `cp new model`, change the file in
place. Whoever loads it then gets a whole model or a sentence, and is never ended by a signal.
"""

from __future__ import annotations

import os
import signal
import subprocess
from functools import lru_cache
from pathlib import Path

from fuzz.campaign import Attack, Case, leave, seeds
from thresher.errors import ModelError

__all__ = ["ATTACKS"]

NAME = "rewrites"
PROBE = ["wheat word3", "oil word77", "unknown"]
MODELS = ("small", "other", "large")
N_LOADS = 60


def prepare(folder: Path) -> None:
    """Write models of different sizes."""
    from thresher import Categorizer

    for name, n_words in zip(MODELS, (20, 50, 20_000), strict=True):
        texts = [f"wheat word{i} grain{i}" if i % 2 else f"oil word{i}" for i in range(n_words)]
        model = Categorizer("perceptron").fit(texts, ["ab"[i % 2] for i in range(n_words)])
        model.save(folder / name)


@lru_cache(1)
def answers() -> dict[bytes, str]:
    """Return the name of each model by its scores."""
    from thresher import Categorizer

    models = {name: Categorizer.load(seeds(NAME) / name) for name in MODELS}
    return {model.scores(PROBE).tobytes(): name for name, model in models.items()}


def attempt(case: Case, folder: Path) -> str:
    """Load a file repeatedly in one process, and rewrite it in another."""
    path, known = folder / "model", answers()
    path.write_bytes((seeds(NAME) / case.choice(MODELS)).read_bytes())
    way = case.choice((copy, copy, rewrite, rewrite, truncate, program))
    loader = os.fork()
    if not loader:
        leave(lambda: load(path, known, folder, case.random() < 0.5))
    writer = os.fork()
    if not writer:
        leave(lambda: way(case, path))
    _, status = os.waitpid(loader, 0)
    os.kill(writer, signal.SIGKILL)
    os.waitpid(writer, 0)
    problem = folder / "problem"
    why = problem.read_text() if problem.exists() else "ended by a signal"
    assert not status, f"{way.__name__}: status {status}: {why}"
    n_refused = int((folder / "refused").read_text())
    return f"{way.__name__}: {'some' if n_refused else 'none'} refused"


def load(path: Path, known: dict[bytes, str], folder: Path, is_explicit: bool) -> None:
    """Load the model repeatedly; each is one of the known models, or refused."""
    from thresher import Categorizer

    n_refused = 0
    try:
        for _ in range(N_LOADS):
            try:
                model = (
                    Categorizer.load(path, mmap=False) if is_explicit else Categorizer.load(path)
                )
                scores = model.scores(PROBE).tobytes()
            except ModelError as error:
                assert str(error).isprintable()
                n_refused += 1
            else:
                assert scores in known, "a model that nobody has written"
    except BaseException as error:
        (folder / "problem").write_text(repr(error))
        raise
    (folder / "refused").write_text(str(n_refused))


def copy(case: Case, path: Path) -> None:
    """Copy models over the file, as `cp` does."""
    while True:
        data = (seeds(NAME) / case.choice(MODELS)).read_bytes()
        with path.open("wb", buffering=0) as file:
            size = case.choice((100, 4096, 1 << 16, len(data)))
            for start in range(0, len(data), size):
                file.write(data[start : start + size])


def rewrite(case: Case, path: Path) -> None:
    """Write models over the beginning of the file, without truncating it first."""
    while True:
        data = (seeds(NAME) / case.choice(MODELS)).read_bytes()
        with path.open("r+b", buffering=0) as file:
            file.write(data)
            file.truncate()


def truncate(case: Case, path: Path) -> None:
    """Cut the file off at random lengths, and write it again."""
    while True:
        data = (seeds(NAME) / case.choice(MODELS)).read_bytes()
        path.write_bytes(data)
        os.truncate(path, case.choice((0, 7, 8, 100, case.randrange(len(data)), len(data) - 1)))


def program(case: Case, path: Path) -> None:
    """Let `cp` and `truncate` change the file."""
    while True:
        subprocess.run(["cp", seeds(NAME) / case.choice(MODELS), path], stderr=subprocess.DEVNULL)
        if case.random() < 0.3:
            size = case.choice((0, 100, 5000))
            subprocess.run(["truncate", f"--size={size}", path], stderr=subprocess.DEVNULL)


ATTACKS = (Attack(NAME, "models rewritten in place while they are loaded", attempt, 100, prepare),)
