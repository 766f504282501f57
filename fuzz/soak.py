"""`python -m fuzz.soak`: update, predict and save with random interruptions, for hours.

A model on disk is updated by processes that are killed or interrupted at any moment, or find the
disk full. A twin in memory gets the same updates without interruptions. After each round, the file
must give the same scores as the twin to the last bit, with no update lost or repeated.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from itertools import chain
from pathlib import Path

from fuzz.__main__ import append
from fuzz.campaign import Outcome, leave
from thresher import Categorizer
from thresher.errors import OutputError

WORDS = [f"word{i}" for i in range(2_000)]  # a fixed vocabulary, so that memory must level off
CATEGORIES = tuple("abcdefgh")
LEAK = 100 << 20  # bytes by which memory may grow after the first hundred rounds
MODEL, BEFORE = "mail.thresher", "mail.thresher.before-learn"


def lesson(seed: int, number: int) -> tuple[list[str], list[str]]:
    """Return some documents and their labels, determined by seed and number."""
    rng = random.Random(f"{seed}/{number}")
    labels = [rng.choice(CATEGORIES) for _ in range(rng.randint(1, 4))]
    start = {c: 200 * i for i, c in enumerate(CATEGORIES)}
    texts = [" ".join(rng.sample(WORDS[start[c] : start[c] + 600], 12)) for c in labels]
    return texts, labels


class Soak:
    """The model on disk, its twin in memory, and counts of the rounds."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.seed, self.rng = seed, random.Random(seed)
        self.path = folder / MODEL
        self.probe = lesson(seed, -2)[0]
        self.n_lessons = 0
        self.counts: Counter[str] = Counter()
        texts, labels = map(list, map(chain.from_iterable, zip(*self._first(), strict=True)))
        self.twin = Categorizer().fit(texts, labels)
        self.twin.save(self.path)

    def _first(self) -> list[tuple[list[str], list[str]]]:
        return [lesson(self.seed, -3 - number) for number in range(60)]

    def round(self) -> None:
        """Update the model in a process, interrupt it, and compare the file with the twin."""
        way = self.rng.choice(("nothing", "kill", "kill", "kill", "term", "interrupt", "full disk"))
        n_updates = self.rng.randint(1, 6)
        receiver, sender = os.pipe()
        child = os.fork()
        if not child:
            os.close(receiver)
            leave(lambda: self._learn(n_updates, sender, way == "full disk"))
        os.close(sender)
        if way in ("kill", "term", "interrupt"):
            time.sleep(self.rng.expovariate(1 / 0.15))
            number = {"kill": signal.SIGKILL, "term": signal.SIGTERM}.get(way, signal.SIGINT)
            os.kill(child, number)
        os.waitpid(child, 0)
        with os.fdopen(receiver, "rb") as pipe:
            n_acknowledged = len(pipe.read())
        self.counts[way] += 1
        self._compare(n_acknowledged, way)

    def _learn(self, n_updates: int, pipe: int, is_full: bool) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # hides the message of an interrupt
        if is_full:
            size = self.path.stat().st_size
            most = random.Random(self.n_lessons).randrange(size)
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        for number in range(self.n_lessons, self.n_lessons + n_updates):
            try:
                with Categorizer.updating(self.path, keep_previous=True) as model:
                    model.learn(*lesson(self.seed, number))
                    model.predict(self.probe)
            except OutputError:
                assert is_full
                return
            os.write(pipe, b".")

    def _compare(self, n_acknowledged: int, way: str) -> None:
        """Compare the file with the twin; one update may have been saved but not reported."""
        model = Categorizer.load(self.path)
        for _ in range(n_acknowledged):
            self._teach_the_twin()
        if model.documents_seen_ > self.twin.documents_seen_:
            self.counts["saved, not told"] += 1
            self._teach_the_twin()
        assert model.documents_seen_ == self.twin.documents_seen_, (
            f"after {way}: {model.documents_seen_} documents in the file, "
            f"{self.twin.documents_seen_} learned"
        )
        answers = [item.scores(self.probe).tobytes() for item in (model, self.twin)]
        assert answers[0] == answers[1], f"after {way}, the file is not what was learned"

    def _teach_the_twin(self) -> None:
        self.twin.learn(*lesson(self.seed, self.n_lessons))
        self.n_lessons += 1

    def tidy(self) -> None:
        """Save once more without interruption; only the model and the previous one may be left."""
        with Categorizer.updating(self.path, keep_previous=True) as model:
            model.learn(*lesson(self.seed, self.n_lessons))
        self._teach_the_twin()
        names = {path.name for path in self.path.parent.iterdir()}
        assert names == {MODEL, BEFORE}, f"left over after the next save: {sorted(names)}"
        self.counts["tidy"] += 1


def memory() -> int:
    """Return the resident memory of this process in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def main(words: list[str] | None = None) -> int:
    """Run for the given hours; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.soak", description=__doc__)
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4)))
    parser.add_argument("--log", type=Path, help="append a JSON line to this file")
    given = parser.parse_args(words)
    print(f"seed {given.seed}; {given.hours:g} hours", flush=True)
    warnings.simplefilter("ignore")
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    began, soak = time.monotonic(), Soak(given.seed, folder)
    try:
        n_rounds = _soak(soak, began + 3600 * given.hours)
    except AssertionError as problem:
        print(f"{problem}; the files are kept in {folder}")
        return 1
    shutil.rmtree(folder)
    what = "rounds of learning, disturbing and coming back"
    seconds = round(time.monotonic() - began, 1)
    print(f"{n_rounds:,} {what}, {soak.n_lessons:,} lessons: {dict(soak.counts)}; none was lost")
    if given.log:
        append(given.log, Outcome("soak", what, given.seed, n_rounds, 0, seconds, soak.counts))
    return 0


def _soak(soak: Soak, end: float) -> int:
    """Run until `end`; return the number of rounds."""
    n_rounds = level = 0
    while time.monotonic() < end:
        soak.round()
        n_rounds += 1
        if n_rounds % 10 == 0:
            soak.tidy()
        if n_rounds == 100:
            level = memory()
        if n_rounds % 100 == 0:
            grown = memory() - level
            assert grown < LEAK, f"{grown:,} bytes more in memory after {n_rounds} rounds"
            print(f"{n_rounds:,} rounds, {soak.n_lessons:,} lessons, {grown:,} bytes", flush=True)
    soak.tidy()
    return n_rounds


if __name__ == "__main__":
    sys.exit(main())
