"""Categories that change, and processes that start, while threads read a model.

Each answer must be that of a complete state of the model, and never an earlier one than before.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import threading
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from fuzz.campaign import Attack, Case
from fuzz.threads import OPTIONS, _started
from thresher.errors import ModelError, ThresherError

__all__ = ["ATTACKS"]

TOPICS = ("wheat grains priced", "oil crude barrels", "ships ports sailing", "gold silver", "rates")
PROBE = ["wheats oils w3x", "gold w5x ships", "crude barrels rates"]
HANG = 20.0  # seconds, after which a process hangs
Change = Callable[[Any], object]


def fitted(options: dict[str, Any]) -> Any:
    """Return a model with a category for each topic."""
    from thresher import Categorizer, NearestNeighbors, Perceptron

    special = {
        "averaged": lambda: Perceptron(average="examples"),
        "everyone": lambda: NearestNeighbors(n_neighbors=10_000, weights="uniform"),
    }
    learner = options.get("learner", "auto")
    options = options | {"learner": special[learner]() if learner in special else learner}
    texts = [f"{words} w{i}x" for words in TOPICS for i in range(12)]
    return Categorizer(**options).fit(texts, [c for c in "abcde" for _ in range(12)])


def answer(model: Any) -> str:
    """Return the labels and scores of a model in one text."""
    return repr(model.rank(PROBE))


def changes(case: Case, twin: Any) -> tuple[list[Change], list[str]]:
    """Return changes that are possible one after the other, and the answers after each."""
    done: list[Change] = []
    states = [answer(twin)]
    for number in range(12):
        labels = list(twin.classes_)
        first, other = case.sample(labels, 2) if len(labels) > 2 else ("a", "a")
        texts, new = [f"v{number}y {case.choice(TOPICS)}"] * 2, f"new{number}"
        change: Change = case.choice((
            lambda model, texts=texts, new=new: model.learn(texts, [new] * 2),
            lambda model, texts=texts, first=labels[0]: model.learn(texts, [first] * 2),
            lambda model, first=first, new=new: model.rename_category(first, new),
            lambda model, first=first, other=other: model.merge_categories(first, other),
            lambda model, first=first: model.delete_category(first),
        ))  # fmt: skip
        try:
            change(twin)
        except ThresherError:  # impossible for this learner, or with so few categories
            continue
        done.append(change)
        states.append(answer(twin))
    return done, states


def change_categories(case: Case, folder: Path) -> str:
    """Rename, merge, delete and learn categories while threads read."""
    options = case.choice(list(OPTIONS.values()))
    shared, problems = fitted(options), list[str]()
    todo, states = changes(case, fitted(options))
    is_over = threading.Event()

    def watch(number: int) -> None:
        from thresher import Categorizer

        last, is_last = 0, False
        while not is_last and not problems:
            is_last = is_over.is_set()
            shared.predict(PROBE), shared.explain(PROBE[0]), shared.scores(PROBE), shared.classes_
            seen = answer(shared)
            if number == 0:
                shared.save(folder / "model")
                seen = answer(Categorizer.load(folder / "model"))
            if seen not in states[last:]:
                known = "an earlier state" if seen in states else "no state"
                problems.append(f"{known} of the model: {seen[:300]}")
                return
            last = states.index(seen, last)

    watching = _started(watch, case.choice((1, 3, 8)), problems)
    for change in todo:
        change(shared)
    is_over.set()
    for thread in watching:
        thread.join()
    assert not problems, problems[:3]
    assert answer(shared) == states[-1], "not as when alone"
    return "held"


def start_processes(case: Case, folder: Path) -> str:
    """Start processes that use the model, while threads read and change it."""
    options = case.choice([OPTIONS[name] for name in ("words", "hashed", "pairs", "naive Bayes")])
    method = case.choice(("fork", "fork", "fork", "spawn"))
    shared, problems = fitted(options), list[str]()
    todo, states = changes(case, fitted(options))
    (folder / "lines.txt").write_text("wheat and oil\n" * 1000)
    is_over = threading.Event()

    def read(number: int) -> None:
        from thresher.documents import read_documents

        while not is_over.is_set():
            shared.predict(PROBE)
            if number == 0:
                list(read_documents(folder / "lines.txt"))

    reading = _started(read, 3, problems)
    context = multiprocessing.get_context(method)
    processes: list[BaseProcess] = []
    changing = _started(lambda number: [change(shared) for change in todo], 1, problems)
    for number in range(1 if method == "spawn" else 3):
        target = folder / str(number)
        processes.append(context.Process(target=use, args=(shared, target, folder / "lines.txt")))  # type: ignore[attr-defined]
        processes[-1].start()
    for process in processes:
        process.join(HANG)
        if process.exitcode is None:
            process.kill()
            problems.append("a process hangs")
    is_over.set()
    for thread in (*reading, *changing):
        thread.join()
    problems += [f"status {process.exitcode}" for process in processes if process.exitcode]
    targets = [folder / str(number) for number in range(len(processes))]
    answers = [path.read_text() if path.exists() else "no answer" for path in targets]
    problems += [text for text in answers if text not in states and text != "refused"]
    assert not problems, problems[:3]
    return f"{method}: {'some' if 'refused' in answers else 'none'} refused"


def use(model: Any, target: Path, documents: Path) -> None:
    """Answer, read documents and learn in a new process."""
    from thresher.documents import read_documents

    stacks = target.with_name(f"{target.name}-stacks").open("w")
    faulthandler.dump_traceback_later(HANG / 2, file=stacks)
    try:
        assert sum(map(len, read_documents(documents))) == 1000
        target.write_text(answer(model))
        model.learn(["wheat"], [model.classes_[0]]).predict(PROBE)
    except ModelError:  # forked amid a change
        target.write_text("refused")
    except BaseException as error:
        target.write_text(repr(error))
        raise


ATTACKS = (
    Attack(
        "categories", "models whose categories change under readers", change_categories, 60,
        fresh=1.0, memory=8 << 30, patience=90.0,
    ),
    Attack(
        "processes", "starts of processes beside readers and one that learns", start_processes, 40,
        fresh=1.0, memory=8 << 30, patience=90.0,
    ),
)  # fmt: skip
