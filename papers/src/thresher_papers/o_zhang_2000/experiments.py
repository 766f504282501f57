"""Documents, methods and cells of the experiments of O and Zhang."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from thresher.corpora import load
from thresher.evaluation.measures import evaluate
from thresher.examples import Examples
from thresher.learners.bayes import NaiveBayes
from thresher.learners.learner import Learner
from thresher.learners.network import MultilayerPerceptron
from thresher.learners.perceptrons import BoostedPerceptrons
from thresher.rows import Labels, Rows
from thresher.text import TextCounter
from thresher.text.linguistics import Linguistics
from thresher_papers._running import Documents, Task, numbered, one_category

CORPUS = "reuters21578:modapte,types=NORM"  # the stories with a body
EVERY_STORY = "reuters21578:modapte"
CATEGORIES = ("earn", "crude", "grain")
RATE = 0.2  # of units and of the network
LEAST_OCCURRENCES = 4
READING = Lock()


class Extent(NamedTuple):
    """The size of an experiment."""

    n_train: int
    n_test: int
    rounds: int
    epochs: int  # of the network


FULL = Extent(8_762, 3_009, 100, 500)
QUICK = Extent(2_500, 1_000, 5, 20)


# ---- documents -------------------------------------------------------------------------------


class Collection(NamedTuple):
    """Counts of stems with three topics, and the first topic of every training document."""

    task: Task
    first_topics: Labels


_loaded = lru_cache(maxsize=2)(load)


@lru_cache(maxsize=4)
def _collection(n_train: int, n_test: int, least_occurrences: int) -> Collection:
    corpus = _loaded(CORPUS)
    splits = (corpus.split("train"), n_train), (corpus.split("test"), n_test)
    linguistics = Linguistics(stop_words=True, stem="porter")
    counter = TextCounter(token_pattern="[a-z]+", linguistics=linguistics)
    texts, tests = (split.texts[:n] for split, n in splits)
    train, test = counter.count(texts), counter.count(tests, grow=False)
    occurrences = np.bincount(train.indices, train.values, minlength=train.n_columns)
    is_frequent = occurrences >= least_occurrences
    labels = (numbered(split.labels[:n], CATEGORIES) for split, n in splits)
    task = Task(*map(Documents, (train.keep(is_frequent), test.keep(is_frequent)), labels))
    first = [document_labels[:1] or ["none"] for document_labels in splits[0][0].labels[:n_train]]
    names = dict.fromkeys([*CATEGORIES, *sorted(name for (name,) in first)])
    return Collection(task, numbered(first, list(names)))


def collection(extent: Extent, least_occurrences: int = LEAST_OCCURRENCES) -> Collection:
    """Return the documents with a body; they are read once, also with several threads."""
    with READING:
        return _collection(extent.n_train, extent.n_test, least_occurrences)


def weighed(rows: Rows, train: Rows, *, normalize: bool = True) -> Rows:
    """Return tf ln(N/df) with N and df of the training documents, normalised to length one or not.

    Examples
    --------
    >>> columns = np.array([0, 1, 0], np.int32)
    >>> rows = Rows(np.array([0, 2, 3]), columns, np.array([1, 3, 2], np.float32), 2)
    >>> weighed(rows, rows, normalize=False).values.round(2)
    array([0.  , 2.08, 0.  ], dtype=float32)
    """
    df = np.bincount(train.indices, minlength=train.n_columns)
    idf = np.log(train.n_rows / np.maximum(df, 1))
    values = rows.values * idf[rows.indices]
    documents = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
    lengths = np.sqrt(np.bincount(documents, values**2, rows.n_rows))
    if normalize:
        values /= np.where(lengths > 0, lengths, 1.0)[documents]
    return rows._replace(values=values.astype(np.float32))


# ---- methods ---------------------------------------------------------------------------------


class Method(NamedTuple):
    """A function that makes a learner from an extent and a seed, and its features."""

    learner: Callable[[Extent, int], Learner]
    strengths: str = "of length one"  # or "as they are", or "counts"
    least: int = LEAST_OCCURRENCES
    competing: bool = False  # whether it learns the first topic of every document, of all topics


def _boosting(**options: Any) -> Callable[[Extent, int], Learner]:
    return lambda extent, seed: BoostedPerceptrons(
        **{"max_iter": extent.rounds, "random_state": seed} | options
    )


def _network(**options: Any) -> Callable[[Extent, int], Learner]:
    return lambda extent, seed: MultilayerPerceptron(
        **{"max_iter": extent.epochs, "random_state": seed} | options
    )


def _bayes(**options: Any) -> Callable[[Extent, int], Learner]:
    return lambda extent, seed: NaiveBayes(**options)


def _in_batch(
    make: Callable[..., Callable[[Extent, int], Learner]], **options: Any
) -> Callable[[Extent, int], Learner]:
    """Return a learner with one step per epoch, along the mean gradient of all documents.

    It is had by steps of an N-th each: that the first documents of an epoch have moved the weights
    before the last are met then makes no difference to speak of.
    """
    return lambda extent, seed: make(learning_rate=RATE / extent.n_train, **options)(extent, seed)


METHODS = {
    "MN": Method(_in_batch(_network)),
    "BLP": Method(_in_batch(_boosting, vote="signs")),
    "Naïve": Method(_bayes(), "counts", competing=True),
    "MN, a step a document": Method(_network()),
    "MN, initial weights within ±0.05": Method(_in_batch(_network, initial_range=0.05)),
    "MN, initial weights within ±0.2": Method(_in_batch(_network, initial_range=0.2)),
    "MN, initial weights within ±0.5": Method(_in_batch(_network, initial_range=0.5)),
    "MN, a step a document, strengths as they are": Method(_network(), "as they are"),
    "BLP, votes are outputs": Method(_in_batch(_boosting)),
    "BLP, 20 rounds": Method(_in_batch(_boosting, vote="signs", max_iter=20)),
    "BLP, a step a document": Method(_boosting(vote="signs")),
    "BLP, a step a document, votes are outputs": Method(_boosting()),
    "BLP, a step a document, reweighted": Method(_boosting(vote="signs", resample=False)),
    "BLP, a step a document, stems that occur 3 times": Method(_boosting(vote="signs"), least=3),
    "one unit, a step a document": Method(_boosting(max_iter=1)),
    "Naïve, each topic against the rest": Method(_bayes(), "counts"),
    "Naïve, tf-idf": Method(_bayes(), "as they are"),
    "Naïve, tf-idf of length one": Method(_bayes()),
    "Naïve, tf-idf of length one, smoothing 0.1": Method(_bayes(smoothing=0.1)),
    "Naïve, Bernoulli": Method(_bayes(event_model="bernoulli"), "counts"),
}
COUNTS = ("a", "b", "c", "d")  # of table 1


def decided(method: str, extent: Extent, seed: int) -> dict[str, float]:
    """Return counts, recall, precision and F1 of a method by category, and its rounds.

    Names are such as "recall crude"; recall, precision and F1 are in percent.
    """
    learner, strengths, least_occurrences, competing = METHODS[method]
    ((counts, labels), (test_counts, truth)), first_topics = collection(extent, least_occurrences)
    train, test = counts, test_counts
    if strengths != "counts":
        normalize = strengths == "of length one"
        train, test = (weighed(rows, counts, normalize=normalize) for rows in (train, test))
    fitted = learner(extent, seed).fit_rows(
        Examples.of(train, first_topics if competing else labels)
    )
    scores = fitted.score_rows(test)[:, : len(CATEGORIES)]
    columns = evaluate(scores, truth).per_category
    cells = {
        f"{measured} {name}": 100 * float(np.nan_to_num(value))
        for measured in ("recall", "precision", "f1")
        for name, value in zip(CATEGORIES, columns[measured], strict=True)
    }
    is_yes, positive = scores > 0, truth.to_dense()
    quarters = is_yes & positive, is_yes & ~positive, ~is_yes & positive, ~is_yes & ~positive
    for letter, quarter in zip(COUNTS, quarters, strict=True):
        for name, number in zip(CATEGORIES, quarter.sum(0), strict=True):
            cells[f"{letter} {name}"] = int(number)
    rounds = fitted.summary().get("rounds", [])
    return cells | {f"rounds {name}": n for name, n in zip(CATEGORIES, rounds, strict=False)}


def size(extent: Extent) -> dict[str, int]:
    """Return the numbers of documents and stems."""
    (train, test), _ = collection(extent)
    documents = {"training": train.rows.n_rows, "test": test.rows.n_rows}
    return documents | {"stems": train.rows.n_columns}


# ---- table 2 ---------------------------------------------------------------------------------

WIDER = {
    "grain": {"grain", "wheat", "corn", "barley", "oat", "sorghum", "rice", "rye"},
    "crude": {"crude", "nat-gas", "fuel", "heat", "gas", "pet-chem"},
}
AS_LABELLED = "stories with a body, all their topics"


def share(reading: str) -> dict[str, float]:
    """Return the percentage of positives in training and test, and the numbers of documents."""
    with READING:
        all_stories, bodies = _loaded(EVERY_STORY), _loaded(CORPUS)
    cells: dict[str, float] = {}
    for name in ("train", "test"):
        split = all_stories.split(name) if reading == "stories of all types" else bodies.split(name)
        topics = list(map(set, split.labels))
        match reading:
            case "their first topic alone":
                topics = [set(labels[:1]) for labels in split.labels]
            case "with the topics of stories without a body before them":
                topics = _carried(all_stories.split(name), set(split.ids))
            case "with narrower topics":
                topics = [
                    story_topics | {wide for wide, kinds in WIDER.items() if story_topics & kinds}
                    for story_topics in topics
                ]
            case "those with a topic":
                topics = [story_topics for story_topics in topics if story_topics]
            case "each text once":
                first = {text: i for i, text in reversed([*enumerate(split.texts)])}
                topics = [topics[i] for i in sorted(first.values())]
        for category in CATEGORIES:
            belongs = sum(category in story_topics for story_topics in topics)
            cells[f"{category} {name}"] = 100 * belongs / len(topics)
        cells[f"{name} documents"] = len(topics)
    return cells


def _carried(split: Any, bodies: set[str]) -> list[set[str]]:
    """Return topics as read by a program that carries topics of stories without body over."""
    topics, pending = [], set()
    for labels, number in zip(split.labels, split.ids, strict=True):
        pending |= set(labels)
        if number in bodies:
            topics.append(pending)
            pending = set()
    return topics


SHARE_READINGS = (
    AS_LABELLED,
    "stories of all types",
    "their first topic alone",
    "with the topics of stories without a body before them",
    "with narrower topics",
    "those with a topic",
    "each text once",
)

# ---- figure 1 --------------------------------------------------------------------------------

TRACED = "earn"


def boosting_trace(
    n_documents: int, n_words: int, n_rounds: int, seed: int
) -> list[dict[str, Any]]:
    """Follow figure 1 line by line beside the library's learner, on the first documents.

    Of every round: ε, α, Z and the share of α as printed, and the same of the library's units.
    """
    counts, labels = collection(QUICK).task.train.take(np.arange(n_documents))
    frequent = np.argsort(-np.bincount(counts.indices, minlength=counts.n_columns), kind="stable")
    rows = counts.keep(np.isin(np.arange(counts.n_columns), frequent[:n_words]))
    rows = weighed(rows, rows)
    positive = labels.to_dense()[:, CATEGORIES.index(TRACED)]
    x, y = _vectors(rows), [1 if is_positive else -1 for is_positive in positive]
    generator = np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])
    printed = figure_1(x, y, n_rounds, generator)
    learner = BoostedPerceptrons(vote="signs", max_iter=n_rounds, random_state=seed)
    _, arrays = learner.fit_rows(Examples.of(rows, one_category(positive))).state()
    total = sum(step["α"] for step in printed)
    D = [1 / len(y)] * len(y)
    for t, (step, alpha) in enumerate(zip(printed, arrays["alphas"].tolist(), strict=True)):
        unit = arrays["weights"][:, t].tolist()
        error, weight, Z, D = distribution(x, y, unit, D)
        step |= {"α / Σα": step["α"] / total, "ε, library": error, "α, library": weight}
        step |= {"Z, library": Z, "α / Σα, library": alpha}
        pairs = zip(step.pop("unit"), unit, strict=True)
        step["weights apart"] = max(
            abs(printed_weight - weight_of_library) for printed_weight, weight_of_library in pairs
        )
    return printed


def figure_1(
    x: Sequence[Sequence[float]], y: Sequence[int], n_rounds: int, generator: np.random.Generator
) -> list[dict[str, Any]]:
    """Return ε, α, Z and the unit of each round, as the paper prints them."""
    N, rounds = len(y), []
    D = [1 / N] * N
    for _ in range(n_rounds):
        drawn = [spin(D, chance) for chance in generator.random(N).tolist()]
        unit = perceptron([x[i] for i in drawn], [y[i] for i in drawn])
        error, alpha, Z, D = distribution(x, y, unit, D)
        rounds.append({"ε": error, "α": alpha, "Z": Z, "unit": unit})
    return rounds


def spin(D: Sequence[float], chance: float) -> int:
    """Return the index at which the roulette wheel stops.

    Examples
    --------
    >>> [spin([0.5, 0.25, 0.25], chance) for chance in (0.1, 0.6, 0.9)]
    [0, 1, 2]
    """
    below, index = D[0], 0
    while below <= chance * math.fsum(D) and index < len(D) - 1:
        index += 1
        below += D[index]
    return index


def perceptron(x: Sequence[Sequence[float]], y: Sequence[int]) -> list[float]:
    """Return the weights of a linear unit, the bias first, all of which move at every step."""
    w = [0.0] * (1 + len(x[0]))
    moved = list(w)
    for _ in range(25):
        squares = 0.0
        for document, target in zip(x, y, strict=True):
            error = target - output(w, document)
            squares += error**2
            moved = [
                0.5 * m + RATE * error * v for m, v in zip(moved, (1.0, *document), strict=True)
            ]
            w = [weight + m for weight, m in zip(w, moved, strict=True)]
        if squares / len(y) < 0.01:
            break
    return w


def output(w: Sequence[float], x: Sequence[float]) -> float:
    """Return wx + b."""
    return sum((weight * value for weight, value in zip(w[1:], x, strict=True)), w[0])


def distribution(
    x: Sequence[Sequence[float]], y: Sequence[int], unit: Sequence[float], D: Sequence[float]
) -> tuple[float, float, float, list[float]]:
    """Return ε, α and Z of a unit, and the next distribution."""
    right = [
        (1 if output(unit, document) > 0 else -1) == truth
        for document, truth in zip(x, y, strict=True)
    ]
    error = sum(share for share, is_right in zip(D, right, strict=True) if not is_right)
    alpha = 0.5 * math.log((1 - error) / error)
    factors = [math.exp(-alpha if is_right else alpha) for is_right in right]
    raised = [share * factor for share, factor in zip(D, factors, strict=True)]
    Z = sum(raised)
    return error, alpha, Z, [raised_weight / Z for raised_weight in raised]


def _vectors(rows: Rows) -> list[list[float]]:
    table = np.zeros((rows.n_rows, rows.n_columns))
    table[np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr)), rows.indices] = rows.values
    return [[float(value) for value in row] for row in table]
