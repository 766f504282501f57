"""Kills, full disks and other writers during a save."""

from __future__ import annotations

import errno
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any

from fuzz.campaign import Attack, Case, leave, seeds
from thresher.errors import OutputError
from thresher.files import restore_previous, write_text
from thresher.model.storage import read_model, write_model

MODEL, BEFORE = "mail.thresher", "mail.thresher.before-learn"
LESSON = ["cheap pills"], ["spam"]
N_STATES = 60  # updates that a writer can make before it is killed
ERRORS = (errno.ENOSPC, errno.EIO, errno.EDQUOT)
# Names of the C functions that can fail on a disk.
WRITING = {"open", "write", "fsync", "close", "__exit__", "chmod", "chown", "link", "replace"}
WRITING |= {"unlink", "rename", "sendfile"}
CLOSING = {"close", "__exit__"}  # these may fail only after closing


def prepare(folder: Path) -> None:
    """Write a model, and the model after each update."""
    from thresher import Categorizer

    texts = ["cheap pills", "lunch today?", "cheap watches", "see you today"]
    model = Categorizer().fit(texts, ["spam", "ham", "spam", "ham"])
    model.save(folder / "0")
    for number in range(1, N_STATES):
        with Categorizer.updating(folder / str(number - 1), folder / str(number)) as model:
            model.learn(*LESSON)


@lru_cache(1)
def states() -> list[bytes]:
    """Return the model after each update; compile the kernels that the children need."""
    from thresher import Categorizer

    contents = [(state_file(number)).read_bytes() for number in range(N_STATES)]
    Categorizer.load(state_file(0)).learn(*LESSON)
    return contents


def state_file(number: int) -> Path:
    """Return the path of the model after a number of updates, equal for all attacks here."""
    paths = (seeds(attack.name) / str(number) for attack in ATTACKS)
    return next(path for path in paths if path.exists())


@contextmanager
def child(work: Callable[[Callable[[], object]], None]) -> Iterator[tuple[int, int]]:
    """Start a process; yield its number and a pipe with a byte for each step it has done."""
    pipe, its_pipe = os.pipe()
    process = os.fork()
    if not process:
        leave(lambda: work(lambda: os.write(its_pipe, b".")))
    os.close(its_pipe)
    try:
        yield process, pipe
    finally:
        os.close(pipe)


def steps(pipe: int) -> int:
    """Return the number of steps done when the process ended."""
    number = 0
    while data := os.read(pipe, 1 << 12):
        number += len(data)
    return number


def learn(path: Path, done: Callable[[], object], times: int = N_STATES - 1, **how: Any) -> None:
    """Update the model repeatedly."""
    from thresher import Categorizer

    for _ in range(times):
        with Categorizer.updating(path, tell=lambda sentence: None, **how) as model:
            model.learn(*LESSON)
        done()


def clear(folder: Path) -> None:
    """Save once more and check that only the model is left."""
    from thresher import Categorizer

    Categorizer.load(folder / MODEL).save(folder / MODEL)
    assert os.listdir(folder) == [MODEL], os.listdir(folder)


def kill(rng: Case, folder: Path) -> str:
    """Kill a process that updates and saves in a loop, at a random moment."""
    path, keep = folder / MODEL, rng.random() < 0.7
    path.write_bytes(states()[0])
    with child(lambda done: learn(path, done, keep_previous=keep)) as (process, pipe):
        os.read(pipe, 1)  # it has started
        time.sleep(rng.random() * 0.02)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        learned = 1 + steps(pipe)
    number = states().index(path.read_bytes())
    assert learned <= number <= learned + 1, f"{learned} lessons were given, {number} are there"
    before = folder / BEFORE
    # The second state if the old model was already copied and the new one not yet renamed.
    assert not before.exists() or before.read_bytes() in states()[number - 1 : number + 1]
    left = {name for name in os.listdir(folder) if name not in (MODEL, BEFORE)}
    kinds = {"a lock" if name.endswith(".lock") else "a temporary file" for name in left}
    clear(folder)
    return f"left {' and '.join(sorted(kinds)) or 'nothing'}"


class Failing:
    """Makes the `nth` writing call fail, before or after it."""

    def __init__(self, nth: int, number: int, *, after: bool) -> None:
        self.left, self.number, self.is_after = nth, number, after
        self.event, self.called = "c_return" if after else "c_call", ""

    def __call__(self, frame: FrameType, event: str, function: Any) -> None:
        name = getattr(function, "__name__", "")
        if event == self.event and name in WRITING and (self.is_after or name not in CLOSING):
            self.left -= 1
            if self.left == 0:
                self.called = name
                raise OSError(self.number, os.strerror(self.number))

    def run(self, work: Callable[[], object]) -> None:
        """Do some work during which the call fails."""
        sys.setprofile(self)
        try:
            work()
        finally:
            sys.setprofile(None)


def fail(rng: Case, folder: Path) -> str:
    """Make each writing call of a save fail once, one after the other."""
    path, before = folder / MODEL, folder / BEFORE
    old, older = states()[1], states()[0]
    kind, after, number = rng.number % 5, bool(rng.number // 5 % 2), ERRORS[rng.number // 10 % 3]
    nth = 1 + rng.number // 30 % 45
    if kind:
        path.write_bytes(old)
    if kind > 1:
        before.write_bytes(older)
    header, tensors = read_model(state_file(2))
    works: list[Callable[[], object]] = [
        lambda: write_model(path, header, tensors),
        lambda: write_model(path, header, tensors),
        lambda: write_model(path, header, tensors, keep_previous=True),
        lambda: restore_previous(path),
        lambda: write_text(folder / "page.html", "new"),
    ]
    if kind == 4:
        (folder / "page.html").write_text("old")
    failing = Failing(nth, number, after=after)
    refused = False
    try:
        failing.run(works[kind])
    except OutputError:
        refused = True
    assert refused or not failing.called or (folder / MODEL).exists()
    if kind == 4:
        text = (folder / "page.html").read_text()
        assert text in ("old", "new")[not refused :], text
        write_text(folder / "page.html", "next")
        assert sorted(os.listdir(folder)) == [MODEL, BEFORE, "page.html"], os.listdir(folder)
        (folder / "page.html").unlink()
    else:
        new = [older] if kind == 3 else [states()[2]]
        content = path.read_bytes() if path.exists() else b""
        assert content in ([old] if kind else [b""]) + new, "neither the old model nor the new"
        if not refused:
            assert content in new, "nothing was refused, and the old model is there"
        if kind == 2 and before.exists():
            right = states()[: 2 if content == old else 3]
            assert before.read_bytes() in right[-2:] or content == old, "not the model before"
    if path.exists():
        clear(folder)
    if not failing.called:
        return "came to no such call"
    return f"{'refused' if refused else 'written'} as {failing.called} failed"


def fill(rng: Case, folder: Path) -> str:
    """Save to a disk that is full after a random number of bytes."""
    path, keep = folder / MODEL, rng.random() < 0.5
    path.write_bytes(states()[1])
    header, tensors = read_model(state_file(2))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (rng.randrange(len(states()[2])), hard))
    try:
        write_model(path, header, tensors, keep_previous=keep)
        raise AssertionError("more was written than there is room for")
    except OutputError:
        pass
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert os.listdir(folder) == [MODEL] and path.read_bytes() == states()[1]
    clear(folder)
    return "refused"


def two(rng: Case, folder: Path) -> str:
    """Update a model from two processes, and possibly kill one of them."""
    path, is_killed = folder / MODEL, rng.random() < 0.5
    path.write_bytes(states()[0])
    times = rng.randint(1, 4), rng.randint(1, 4)
    keep = rng.random() < 0.5
    with (
        child(lambda done: learn(path, done, times[0], keep_previous=keep)) as (first, its_pipe),
        child(lambda done: learn(path, done, times[1], keep_previous=keep)) as (other, pipe),
    ):
        if is_killed:
            time.sleep(rng.random() * 0.03)
            os.kill(first, signal.SIGKILL)
        for process in (first, other):
            os.waitpid(process, 0)
        learned, rest = steps(its_pipe), steps(pipe)
    assert rest == times[1] and (is_killed or learned == times[0])
    number = states().index(path.read_bytes())
    assert learned + rest <= number <= learned + rest + is_killed, (learned, rest, number)
    clear(folder)
    return "one was killed" if is_killed else "both came to the end"


def mix(rng: Case, folder: Path) -> str:
    """Save from threads and processes at once, some of which keep the previous model."""
    path = folder / MODEL
    write_model(path, {"keeps": False, "n": 0}, {})

    def save(who: int, keeps: bool, times: int) -> None:
        for n in range(times):
            write_model(path, {"keeps": keeps, "who": who, "n": n}, {}, keep_previous=keeps)

    plans = [(who, who % 2 == 0, rng.randint(1, 6)) for who in range(4)]
    is_killed = rng.random() < 0.5
    with (
        child(lambda done: save(*plans[0])) as (first, _),
        child(lambda done: save(*plans[1])) as (
            other,
            _,
        ),
    ):
        threads = [threading.Thread(target=save, args=plan) for plan in plans[2:]]
        for thread in threads:
            thread.start()
        if is_killed:
            time.sleep(rng.random() * 0.01)
            os.kill(rng.choice([first, other]), signal.SIGKILL)
        for process in (first, other):
            os.waitpid(process, 0)
        for thread in threads:
            thread.join()
    header, _ = read_model(path)
    if (folder / BEFORE).exists():
        before, _ = read_model(folder / BEFORE)  # whole, whichever it is
        assert header["keeps"] or (is_killed and before == header), (header, before)
    else:
        assert is_killed or not header["keeps"], header
    write_model(path, {}, {})
    assert os.listdir(folder) == [MODEL], os.listdir(folder)
    return "one was killed" if is_killed else "all came to the end"


def odd(rng: Case, folder: Path) -> str:
    """Save to unusual paths."""
    places = ["x", "x/", "", ".", "..", "x/..", "folder", "folder/x", "file/x", "missing/x", "loop"]
    places += ["dangling", "out", "pipe", "null", "\0", "\n", "é" * 127, "麦" * 85, "m" * 256]
    (folder / "folder").mkdir()
    (folder / "file").write_text("old")
    for link, to in {
        "loop": "loop",
        "dangling": "new",
        "out": "folder/x",
        "null": "/dev/null",
    }.items():
        os.symlink(to, folder / link)
    os.mkfifo(folder / "pipe")
    name = rng.choice(places)
    if rng.random() < 0.3:
        name += rng.choice(["\udce9", " ", ".", ".lock", "\u202e", "/.", "//"])
    path = os.path.join(folder, name) if name else ""
    for n in range(2):
        write_model(path, {"n": n}, {}, keep_previous=rng.random() < 0.3)
        assert read_model(path)[0] == {"n": n}
    write_model(path, {}, {})
    left = [path for path in folder.rglob(".*") if path.name not in (name, name.rstrip("/."))]
    assert not left, left
    return "written"


ATTACKS = (
    Attack("kills", "kills during saves", kill, cases=1_000, prepare=prepare),
    Attack("failing-calls", "saves in which a call fails", fail, cases=45 * 30, prepare=prepare),
    Attack("full-disks", "saves to disks that are full", fill, cases=500, prepare=prepare),
    Attack("two-writers", "pairs of writers that learn", two, cases=200, prepare=prepare),
    Attack("mixed-writers", "crowds of writers that save", mix, cases=200),
    Attack("odd-targets", "saves to odd places", odd, cases=500),
)
