"""Exercises 16.3, 16.5, 16.6, 16.11, 16.17 and 16.20: other tasks, by all four methods."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from thresher.categorizer import Categorizer
from thresher.corpora import load
from thresher.corpora.newsgroups20 import without
from thresher.experiments.protocols import cross_validate
from thresher.linguistics import stop_words
from thresher.papers._result import Cells, Table
from thresher.papers.manning_schuetze_1999.published import NAME

METHODS = {
    "decision tree": "decision-tree",
    "maximum entropy": "maximum-entropy",
    "perceptron": "perceptron",
    "nearest neighbours": "nearest-neighbors",
}
GROUP, AUTHORS, WORDS_OF_A_POST = "alt.atheism", 4, 50
ADDRESS = re.compile(r"^From:.*?([\w.+-]+@[\w.-]+)", re.MULTILINE)
PARTS = ("headers", "footers", "quotes")

Texts = tuple[list[str], list[str]]  # and one label each


def spam() -> Texts:
    """Return the messages of Ling-Spam."""
    corpus = load("ling-spam")
    parts = [corpus.split(name) for name in corpus.splits]
    return (
        [text for part in parts for text in part.texts],
        [label for part in parts for (label,) in part.labels],
    )


@lru_cache(maxsize=1)
def authors() -> Texts:
    """Return posts of the four authors who wrote most to one newsgroup, their own words only.

    Headers, signatures and quotes are left out, and posts with fewer than 50 words.
    """
    corpus = load("20newsgroups")
    posts = []
    for part in (corpus.split(name) for name in corpus.splits):
        for text, labels in zip(part.texts, part.labels, strict=True):
            address, own = ADDRESS.search(text), without(text, PARTS)
            if labels == [GROUP] and address and len(own.split()) >= WORDS_OF_A_POST:
                posts.append((own, address[1].lower()))
    most = [name for name, _ in Counter(name for _, name in posts).most_common(AUTHORS)]
    chosen = [(text, f"author {most.index(name) + 1}") for text, name in posts if name in most]
    return [text for text, _ in chosen], [name for _, name in chosen]


def languages() -> Texts:
    """Return 120 short sentences in four languages."""
    with (files(__package__) / "languages.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [row["text"] for row in rows], [row["label"] for row in rows]


class Task(NamedTuple):
    """Documents, what is counted in them, and both in words."""

    documents: Callable[[], Texts]
    features: dict[str, Any]
    words: str


LITTLE_WORDS = "|".join(sorted(stop_words("english"), key=len, reverse=True))
TASKS = {
    "spam": Task(
        spam, {"n_selected": 500}, "messages of Ling-Spam, the 500 words with the best chi-square"
    ),
    "author, little words": Task(
        authors,
        {"token_pattern": rf"(?i)\b(?:{LITTLE_WORDS})\b"},
        f"posts by four authors to {GROUP} without quotes and signatures, function words alone",
    ),
    "author, all words": Task(authors, {}, "posts, the same, all words"),
    "language": Task(
        languages,
        {"ngram_range": None, "char_ngram_range": (1, 2)},
        "sentences in English, German, French and Spanish, letters and pairs of letters",
    ),
}


def other_tasks(seed: int = 0, quick: bool = False) -> Table:
    """Accuracy of the four methods on spam, authors and languages, in five folds."""
    ours: Cells = {}
    notes = ["Five-fold cross-validation, the same folds and features for all methods."]
    for name, (documents, features, words) in TASKS.items():
        if quick and name == "spam":
            continue
        texts, labels = documents()
        ours[name] = {
            method: 100 * cross_validate(_categorizer(learner, features, seed), texts, labels,
                                         random_state=seed).mean("micro_f1")
            for method, learner in METHODS.items()
        }  # fmt: skip
        most = 100 * max(Counter(labels).values()) / len(labels)
        notes.append(f"{name}: {len(texts):,} {words}; {most:.0f} % are of one category.")
    title = "Exercises 16.3, 16.5, 16.6, 16.11, 16.17 and 16.20: accuracy on three other tasks"
    return Table(NAME, "other-tasks", title, {}, ours, notes)


def _categorizer(learner: str, features: dict[str, Any], seed: int) -> Categorizer:
    parameters = {"ngram_range": (1, 1), "strength": "book", "objective": None} | features
    return Categorizer(learner, random_state=seed, **parameters)
