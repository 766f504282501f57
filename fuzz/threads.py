"""Many threads read a model while another updates it: answers must be of complete states."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.campaign import Attack, Case

__all__ = ["ATTACKS", "OPTIONS", "READERS", "read_beside_a_learner"]

OPTIONS: dict[str, dict[str, Any]] = {
    "words": {},
    "stems": {"stem": True},
    "stop words": {"stop_words": True},
    "lemmas": {"lemmatize": True},
    "pairs": {"ngram_range": (1, 2)},
    "characters": {"ngram_range": None, "char_ngram_range": (3, 4)},
    "stemmed characters": {
        "ngram_range": None,
        "char_ngram_range": (3, 4),
        "char_ngram_tokens": "words",
        "stem": True,
    },
    "one space": {"ngram_range": (1, 2), "char_ngram_range": (4, 4), "min_df": {"parts": 2}},
    "hashed": {"hashing_bits": 12},
    "hashed space": {"hashing_bits": 14, "ngram_range": (1, 2), "char_ngram_range": (3, 3)},
    "pattern": {"token_pattern": r"[a-z]+\d*"},
    "two jobs": {"n_jobs": 2, "stem": True},
    "concepts": {"concepts": (3, 5)},
    "averaged": {"learner": "averaged"},
    "naive Bayes": {"learner": "naive-bayes"},
    "nearest neighbours": {"learner": "everyone"},
}
READERS = (1, 3, 8, 16)  # threads that read during updates


def attempt(case: Case, folder: Path) -> str:
    """Run the combination of options and readers that belongs to the case's number."""
    options = list(OPTIONS.values())[case.number % len(OPTIONS)]
    readers = READERS[case.number // len(OPTIONS) % len(READERS)]
    problems = read_beside_a_learner(options, readers, folder, case)
    assert not problems, problems[:3]
    return "held"


def read_beside_a_learner(
    options: dict[str, Any], readers: int, folder: Path, chance: Case
) -> list[str]:
    """Predict with and save a model in threads, first alone and then during updates.

    Returns
    -------
    list of str
        The errors: an answer or a saved model of no complete state, an earlier state after a
        later one, an update lost or repeated, an exception.
    """
    batches = [
        [f"wheats oils shipping new{i * 20 + j} other{i * 7 + j} w{j}x" for j in range(20)]
        for i in range(2 * readers)
    ]
    lessons = [
        (
            [f"v{i}y n{chance.randrange(9)}z{i} ships" for _ in range(3)],
            [f"c{chance.randrange(5)}"] * 3,
        )
        for i in range(12)
    ]
    probe, problems = batches[0][:3], []
    alone, shared, apprentice = _fitted(options), _fitted(options), _fitted(options)
    expected = [alone.scores(batch) for batch in batches]
    # The scores after each of the updates that a thread will make.
    states = [apprentice.scores(probe).tobytes()]
    for texts, labels in lessons:
        states.append(apprentice.learn(texts, labels).scores(probe).tobytes())

    def ask(thread_number: int) -> None:
        for i in range(thread_number, len(batches), readers):
            if not np.array_equal(shared.scores(batches[i]), expected[i]):
                problems.append("a wrong answer")
            shared.explain(batches[i][0])

    def watch(thread_number: int) -> None:
        from thresher import Categorizer

        last, path = 0, folder / f"{thread_number}.thresher"
        while last < len(states) - 1 and not problems:
            place = states.index(shared.scores(probe).tobytes())
            shared.predict(probe), shared.rank(probe), shared.explain(probe[0])
            if thread_number == 0:
                shared.save(path)
                place = states.index(Categorizer.load(path).scores(probe).tobytes())
            if place < last:
                problems.append("an earlier state came back")
            last = place

    for thread in _started(ask, readers, problems):
        thread.join()
    watching = _started(watch, readers, problems)
    for texts, labels in lessons:
        shared.learn(texts, labels)
    for thread in watching:
        thread.join()
    if shared.documents_seen_ != apprentice.documents_seen_:
        problems.append(f"{shared.documents_seen_} documents seen, not as when alone")
    return problems


def _fitted(options: dict[str, Any]) -> Any:
    from thresher import Categorizer, NearestNeighbors, Perceptron

    special = {
        "averaged": lambda: Perceptron(average="examples"),
        # Votes, so that every update changes the scores.
        "everyone": lambda: NearestNeighbors(n_neighbors=10_000, weights="uniform"),
    }
    learner = options.get("learner", "auto")
    options = options | {"learner": special[learner]() if learner in special else learner}
    topics = ("wheat grains priced", "oil crude barrels", "ships ports sailing")
    texts = [f"{words} w{i}x" for words in topics for i in range(30)]
    return Categorizer(**options).fit(texts, [c for c in "abc" for _ in range(30)])


def _started(
    work: Callable[[int], None], number: int, problems: list[str]
) -> list[threading.Thread]:
    """Start threads whose exceptions are added to the problems."""

    def safely(thread_number: int) -> None:
        try:
            work(thread_number)
        except BaseException as problem:
            problems.append(repr(problem))

    threads = [threading.Thread(target=safely, args=(item,)) for item in range(number)]
    for thread in threads:
        thread.start()
    return threads


ATTACKS = (
    Attack(
        "threads",
        f"combinations of {len(READERS)} numbers of readers x {len(OPTIONS)} options beside one "
        "that learns",
        attempt,
        cases=len(OPTIONS) * len(READERS),
        fresh=1.0,
        memory=8 << 30,  # each thread reserves 72 MB but uses little
    ),
)
