"""Runs many generated cases in processes, which may crash or hang without losing results.

A case is determined by its seed and number, so that a line of the log is enough to reproduce it.
Each case has a folder, which is kept if it fails.
"""

from __future__ import annotations

import json
import os
import random
import re
import resource
import selectors
import shutil
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NoReturn

from thresher.errors import ThresherError

__all__ = ["Attack", "Case", "Failure", "Outcome", "leave", "run", "seeds"]

PATIENCE = 20.0  # seconds after which a case counts as hanging
MEMORY = 2 << 30  # bytes
BATCH = 5_000  # cases per process, so that a slow memory leak does not end a long campaign
REFUSED, FAILED = "refused", "FAILED"
# Characters that a message must not contain: line breaks and terminal control.
UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

_home = Path("fuzz", "work")


class Case(random.Random):
    """The random generator of a case, with the number of the case."""

    def __init__(self, seed: int, attack: str, number: int) -> None:
        super().__init__(f"{seed}/{attack}/{number}")
        self.number = number


@dataclass(frozen=True)
class Attack:
    """Cases of one kind.

    Parameters
    ----------
    name, what : str
        The name for the command line, and a description of its cases, in plural.
    attempt : callable
        `attempt(case, folder)` runs a case in an empty folder and returns a word for the outcome. A
        `ThresherError` counts as "refused", any other exception as a failure.
    cases : int
        The number of cases of `make fuzz`.
    prepare : callable, optional
        `prepare(folder)` writes the files that all cases start from; `seeds(name)` is the folder.
    fresh : float
        Share of the cases that run in a separate process that has not called any kernel.
    memory : int
        Additional bytes of address space that a process may use.
    patience : float
        Seconds after which a case counts as hanging.
    """

    name: str
    what: str
    attempt: Callable[[Case, Path], str]
    cases: int
    prepare: Callable[[Path], None] | None = None
    fresh: float = 0.0
    memory: int = MEMORY
    patience: float = PATIENCE


@dataclass
class Failure:
    """A case that failed."""

    number: int
    kind: str  # "crash", "hang", or the name of the exception
    text: str
    folder: str = ""  # with the files of the case


@dataclass
class Outcome:
    """The outcomes of the cases of an attack."""

    attack: str
    what: str
    seed: int
    cases: int = 0
    fresh: int = 0
    seconds: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)

    def to_dict(self) -> dict[str, object]:
        """Return the outcome as in the log."""
        return asdict(self) | {"outcomes": dict(self.outcomes.most_common())}


def seeds(name: str) -> Path:
    """Return the folder that the `prepare` of an attack has filled."""
    return _home / "seeds" / name


def run(
    attack: Attack,
    seed: int,
    numbers: range,
    *,
    jobs: int = 1,
    home: Path = _home,
    patience: float | None = None,
    seconds: float | None = None,
    show: Callable[[Outcome], None] = lambda outcome: None,
) -> Outcome:
    """Run cases of an attack in several processes; return the outcome.

    Parameters
    ----------
    attack, seed, numbers
        The attack, and the seed and numbers of its cases.
    jobs : int
        The number of processes.
    home : Path
        The folder for cases, and for those that failed.
    patience : float, optional
        Seconds after which a case counts as hanging; by default those of the attack.
    seconds : float, optional
        The time after which no more cases are run.
    show : callable
        Called from time to time with the outcome so far.
    """
    global _home
    _home = home.absolute()
    began, outcome = time.monotonic(), Outcome(attack.name, attack.what, seed)
    if attack.prepare:
        _prepare(attack)
    if attack.fresh:
        _load_libraries()
    batches, waiting = _batches(numbers, attack.fresh), list[tuple[list[int], bool]]()
    patience = attack.patience if patience is None else patience
    with selectors.DefaultSelector() as ears, _until_interrupted(ears):
        while (waiting := waiting or list(islice(batches, 1))) or ears.get_map():
            while waiting and len(ears.get_map()) < jobs:
                worker = _Worker(attack, seed, *waiting.pop())
                ears.register(worker.pipe, selectors.EVENT_READ, worker)
                waiting = waiting or list(islice(batches, 1))
            for key, _ in ears.select(timeout=0.2):
                key.data.listen()
            for key in list(ears.get_map().values()):
                worker = key.data
                is_late = time.monotonic() - worker.heard > patience
                worker.take(outcome)
                if is_late or worker.is_over:
                    ears.unregister(worker.pipe)
                    worker.end(outcome, is_late)
                    if worker.left:  # cases not yet run by the process that ended
                        waiting.append((worker.left, worker.fresh))
            outcome.seconds = round(time.monotonic() - began, 1)
            show(outcome)
            if seconds is not None and outcome.seconds > seconds:
                _stop_all(ears)
                break
    return outcome


@contextmanager
def _until_interrupted(ears: selectors.BaseSelector) -> Iterator[None]:
    """Let Ctrl-C end a campaign with the results so far."""
    try:
        yield
    except KeyboardInterrupt:
        _stop_all(ears)


def _stop_all(ears: selectors.BaseSelector) -> None:
    """End all processes; the cases that they are running do not count."""
    for key in list(ears.get_map().values()):
        key.data.stop()
        shutil.rmtree(key.data.folder, ignore_errors=True)


def _batches(numbers: range, fresh: float) -> Iterator[tuple[list[int], bool]]:
    """Yield the numbers for each process, and whether each case needs a fresh process."""
    for start in range(0, len(numbers), BATCH):
        some = numbers[start : start + BATCH]
        for is_fresh in (True, False):
            chosen = [n for n in some if (n % 100 < round(100 * fresh)) == is_fresh]
            if chosen:
                yield chosen, is_fresh


def _load_libraries() -> None:
    """Import all libraries, so that a fresh process differs only in not having called kernels."""
    import numba
    import pandas  # noqa: F401 (which Arrow looks for)

    import thresher

    for name in thresher.__all__:
        getattr(thresher, name)
    numba.njit(lambda number: number)(1)  # initializes Numba, which takes a third of a second


def _prepare(attack: Attack) -> None:
    """Write the seeds in a separate process, because this one must not call kernels."""
    folder = seeds(attack.name)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    child = os.fork()
    if not child:
        leave(lambda: attack.prepare(folder))  # type: ignore[misc]
    _, status = os.waitpid(child, 0)
    if status:
        raise SystemExit(f"fuzz: the seeds of {attack.name} could not be written; see above.")


class _Worker:
    """A process that runs a batch of cases and reports each outcome."""

    def __init__(self, attack: Attack, seed: int, numbers: list[int], fresh: bool) -> None:
        self.attack, self.left, self.fresh = attack, numbers, fresh
        self.folder = _home / "scratch" / f"{attack.name}-{numbers[0]}"
        self.pipe, pipe = os.pipe()
        self.heard, self.is_over = time.monotonic(), False
        self._rest = b""
        self._lines: list[bytes] = []
        self.child = os.fork()
        if not self.child:
            os.close(self.pipe)
            leave(lambda: _work(attack, seed, numbers, fresh, self.folder, pipe))
        os.close(pipe)

    def listen(self) -> None:
        """Read what the process has written."""
        data = os.read(self.pipe, 1 << 16)
        self.is_over = not data
        self.heard = time.monotonic()
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._lines += lines

    def take(self, outcome: Outcome) -> None:
        """Count the cases finished since the last call, and record failures."""
        for line in self._lines:
            self._count(outcome, *json.loads(line))
        self._lines = []

    def _count(self, outcome: Outcome, number: int, word: str, *failure: str) -> None:
        self.left = self.left[1:]
        outcome.cases += 1
        outcome.fresh += self.fresh
        outcome.outcomes[word] += 1
        if failure:
            _note(outcome, Failure(number, *failure), self.attack, self.folder)

    def stop(self) -> int:
        """End the process and all processes it has started; return its status."""
        with suppress(ProcessLookupError):
            os.killpg(self.child, signal.SIGKILL)
        _, status = os.waitpid(self.child, 0)
        os.close(self.pipe)
        return status

    def end(self, outcome: Outcome, is_late: bool) -> None:
        """Remove the process; record the case that ended it as a failure."""
        status = self.stop()
        if self.left:
            kind = "hang" if is_late else "crash"
            self._count(outcome, self.left[0], FAILED, kind, f"the process ended with {status}")
        shutil.rmtree(self.folder, ignore_errors=True)


def _note(outcome: Outcome, failure: Failure, attack: Attack, folder: Path) -> None:
    """Keep the files of a failed case, with the command that reproduces it."""
    place = _home / "failures" / f"{attack.name}-{outcome.seed}-{failure.number}"
    shutil.rmtree(place, ignore_errors=True)
    case_folder = folder / str(failure.number)
    place.mkdir(parents=True)
    with suppress(OSError):
        shutil.copytree(case_folder, place, dirs_exist_ok=True, symlinks=True)
    shutil.rmtree(case_folder, ignore_errors=True)
    again = f"python -m fuzz {attack.name} --seed {outcome.seed} --only {failure.number}"
    text = f"{again}\n{failure.kind}: {failure.text}\n"
    (place / "FAILURE.txt").write_text(text, errors="backslashreplace")
    failure.folder = str(place)
    outcome.failures.append(failure)


def _work(
    attack: Attack, seed: int, numbers: list[int], fresh: bool, folder: Path, pipe: int
) -> None:
    """Run cases one after the other; write a line for each to the pipe."""
    os.setpgid(0, 0)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + attack.memory, most))
    shutil.rmtree(folder, ignore_errors=True)  # of a campaign that was killed
    for number in numbers:
        case_folder = folder / str(number)
        case_folder.mkdir(parents=True)
        case = Case(seed, attack.name, number)
        if fresh:
            child = os.fork()
            if not child:
                leave(partial(_answer, attack, case, case_folder, pipe))
            _, status = os.waitpid(child, 0)
            if status:
                _write(pipe, [number, FAILED, "crash", f"the process ended with {status}"])
        else:
            _answer(attack, case, case_folder, pipe)


def _answer(attack: Attack, case: Case, folder: Path, pipe: int) -> None:
    """Run a case and write its outcome."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            try:
                word = attack.attempt(case, folder)
            except ThresherError as error:
                unfit = UNFIT.search(str(error))
                assert str(error) and not unfit, f"not a sentence on one line: {str(error)!r}"
                word = REFUSED
        except BaseException as error:
            text = "".join(traceback.format_exception(error))
            _write(pipe, [case.number, FAILED, type(error).__name__, text])
            return
    shutil.rmtree(folder, ignore_errors=True)
    _write(pipe, [case.number, word])


def _write(pipe: int, line: list[object]) -> None:
    data = json.dumps(line).encode() + b"\n"
    while data:
        data = data[os.write(pipe, data) :]


def leave(work: Callable[[], object]) -> NoReturn:
    """Do some work in a forked process and exit without running code of the parent."""
    status = 1
    try:
        work()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
