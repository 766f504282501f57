"""Cells of exercises 16.3, 16.5, 16.6, 16.11, 16.17 and 16.20: other tasks, four methods."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files
from threading import Lock
from typing import Any, NamedTuple

from thresher.categorizer import Categorizer
from thresher.corpora import load
from thresher.corpora.newsgroups20 import without
from thresher.experiments.protocols import cross_validate
from thresher.text.linguistics import stop_words

METHODS = {
    "decision tree": "decision-tree",
    "maximum entropy": "maximum-entropy",
    "perceptron": "perceptron",
    "nearest neighbours": "nearest-neighbors",
}
GROUP, AUTHORS, WORDS_OF_A_POST = "alt.atheism", 4, 50
ADDRESS = re.compile(r"^From:.*?([\w.+-]+@[\w.-]+)", re.MULTILINE)
PARTS = ("headers", "footers", "quotes")
PSEUDO_WORD, WINDOW, CONTEXTS = ("loans", "wheat"), 10, 300
READING = Lock()

Texts = tuple[list[str], list[str]]  # and one label each


def spam() -> Texts:
    """Return the messages of Ling-Spam."""
    corpus = load("ling-spam")
    splits = [corpus.split(name) for name in corpus.splits]
    return (
        [text for split in splits for text in split.texts],
        [label for split in splits for (label,) in split.labels],
    )


def authors() -> Texts:
    """Return posts of the four most active authors of a newsgroup, without quoted text.

    Headers, signatures and quotes are left out, and posts with fewer than 50 words.
    """
    corpus = load("20newsgroups")
    posts = []
    for split in (corpus.split(name) for name in corpus.splits):
        for text, labels in zip(split.texts, split.labels, strict=True):
            address, body = ADDRESS.search(text), without(text, PARTS)
            if labels == [GROUP] and address and len(body.split()) >= WORDS_OF_A_POST:
                posts.append((body, address[1].lower()))
    most_active = [name for name, _ in Counter(name for _, name in posts).most_common(AUTHORS)]
    chosen = [
        (text, f"author {most_active.index(name) + 1}")
        for text, name in posts
        if name in most_active
    ]
    return [text for text, _ in chosen], [name for _, name in chosen]


def languages() -> Texts:
    """Return 120 short sentences in four languages."""
    with (files(__package__) / "languages.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [row["text"] for row in rows], [row["label"] for row in rows]


def senses() -> Texts:
    """Return contexts of a pseudo-word (section 7.1.2): two words of Reuters made one.

    Ten words on either side, the first 300 contexts of each, one to a story.
    """
    contexts: dict[str, list[str]] = {word: [] for word in PSEUDO_WORD}
    for text in load("reuters21578:modapte").split("train").texts:
        words = re.findall("[a-z]+", text.lower())
        met = [(position, word) for position, word in enumerate(words) if word in contexts]
        if met and len(contexts[met[0][1]]) < CONTEXTS:
            position, word = met[0]
            around = words[max(0, position - WINDOW) : position] + words[position + 1 :][:WINDOW]
            contexts[word].append(
                " ".join(near_word for near_word in around if near_word not in contexts)
            )
    pairs = [(text, word) for word, texts in contexts.items() for text in texts]
    return [text for text, _ in pairs], [word for _, word in pairs]


class Task(NamedTuple):
    """Documents, the parameters that count their features, and a description."""

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
    "sense": Task(
        senses,
        {},
        f"contexts of {' or '.join(PSEUDO_WORD)} in Reuters, ten words on either side",
    ),
}


@lru_cache(maxsize=len(TASKS))
def _documents(name: str) -> Texts:
    return TASKS[name].documents()


def accuracy(name: str, method: str, seed: int) -> dict[str, float]:
    """Return the mean accuracy of five folds, in percent, with the size of the task."""
    with READING:
        texts, labels = _documents(name)
    parameters = {"ngram_range": (1, 1), "strength": "book", "objective": None}
    categorizer = Categorizer(
        METHODS[method], random_state=seed, **parameters | TASKS[name].features
    )
    folds = cross_validate(categorizer, texts, labels, random_state=seed)
    counts = Counter(labels)
    return {
        "accuracy": 100 * folds.mean("micro_f1"),
        "objects": len(texts),
        "categories": len(counts),
        "most frequent": 100 * max(counts.values()) / len(labels),
    }
