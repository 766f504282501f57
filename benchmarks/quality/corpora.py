"""The tasks: which documents are learned from, which are tested on, and what counts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from benchmarks.peers.data import Pairs, write

SEED = 1  # of the one split that is drawn here
SHARE = 5  # one document of so many is tested on there


@dataclass(frozen=True)
class Task:
    """Documents to learn from and documents to test on.

    Parameters
    ----------
    name : str
        What it is called on the command line and in file names.
    title : str
        What it is called in the table.
    split : str
        Where the split comes from, as a sentence for the reader.
    read : callable
        Returns the training and the test documents.
    several : bool
        Whether a document has any number of categories; else it has exactly one.
    corpus : str
        The corpus that must be on the machine.
    published : tuple of (str, float)
        Published figures on the same documents, in per cent of the main measure.
    """

    name: str
    title: str
    split: str
    read: Callable[[], tuple[Pairs, Pairs]]
    several: bool = False
    corpus: str = ""
    published: tuple[tuple[str, float], ...] = ()

    @property
    def main(self) -> str:
        """The measure by which contenders are compared."""
        return "micro_f1" if self.several else "accuracy"

    @property
    def is_here(self) -> bool:
        """Whether its documents are on this machine."""
        from thresher import corpora

        return not self.corpus or corpora.is_here(self.corpus)


@dataclass(frozen=True)
class Files:
    """A task's documents as JSON lines.

    Parameters
    ----------
    train, test : Path
        The files.
    """

    train: Path
    test: Path

    def fingerprint(self) -> str:
        """Return a hash of the contents, by which a result knows its documents.

        Each file has a hash of its own, so that a document that moves from one to the other shows.
        """
        files = (self.train, self.test)
        return "-".join(hashlib.sha256(path.read_bytes()).hexdigest()[:12] for path in files)


def prepare(task: Task, folder: Path) -> Files:
    """Write a task's documents as JSON lines, unless they are there already.

    Parameters
    ----------
    task : Task
        The task.
    folder : Path
        Where the files go.
    """
    files = Files(*(folder / f"{task.name}.{item}.jsonl" for item in ("train", "test")))
    if not (files.train.exists() and files.test.exists()):
        folder.mkdir(parents=True, exist_ok=True)
        for path, pairs in zip((files.train, files.test), task.read(), strict=True):
            aside = path.with_suffix(".part")
            write(aside, pairs)
            aside.replace(path)  # a file is whole or not there
    return files


def given(spec: str) -> tuple[Pairs, Pairs]:
    """Return the splits that a corpus comes with."""
    from thresher import corpora

    corpus = corpora.load(spec)
    return list(corpus.pairs("train")), list(corpus.pairs("test"))


def last_parts(spec: str, parts: tuple[str, ...]) -> tuple[Pairs, Pairs]:
    """Return a corpus that comes in parts, some of them to test on."""
    from thresher import corpora

    corpus = corpora.load(spec)
    others = [name for name in corpus.splits if name not in parts]
    return list(corpus.pairs("+".join(others))), list(corpus.pairs("+".join(parts)))


def drawn(spec: str, seed: int = SEED, share: int = SHARE) -> tuple[Pairs, Pairs]:
    """Return a corpus without a split of its own: a share of each category is tested on."""
    from sklearn.model_selection import train_test_split

    from thresher import corpora

    pairs = list(corpora.load(spec).pairs("all"))
    train, test = train_test_split(
        np.arange(len(pairs)),
        test_size=1 / share,
        random_state=seed,
        stratify=[labels[0] for _, labels in pairs],
    )
    return [pairs[i] for i in train], [pairs[i] for i in test]


REUTERS = "reuters21578"
NEURAL = (
    ("regularised LSTM (Adhikari et al., 2019)", 87.0),
    ("distilled LSTM (Adhikari et al., 2019)", 88.9),
    ("BERT-base (Adhikari et al., 2019)", 89.0),
    ("BERT-large (Adhikari et al., 2019)", 90.7),
)
TASKS = (  # the quick ones first
    Task(
        "movie-reviews",
        "Movie reviews 1400",
        "280 reviews drawn by category (scikit-learn's `train_test_split`, stratified, seed 1)",
        partial(drawn, "movie-reviews"),
        corpus="movie-reviews",
    ),
    Task(
        "ling-spam",
        "Ling-Spam",
        "parts 9 and 10 of its ten parts",
        partial(last_parts, "ling-spam", ("part9", "part10")),
        corpus="ling-spam",
    ),
    Task(
        "r90",
        "Reuters R90, all test documents",
        "ModApte, documents without a topic included",
        partial(given, f"{REUTERS}:modapte,categories=R90"),
        several=True,
        corpus=REUTERS,
    ),
    Task(
        "r90-labelled",
        "Reuters R90, documents with a topic",
        "ModApte, only documents with at least one of the 90 topics",
        partial(given, f"{REUTERS}:modapte,categories=R90,labelled=yes"),
        several=True,
        corpus=REUTERS,
        published=NEURAL,
    ),
    Task(
        "20newsgroups",
        "20 Newsgroups, stripped",
        "by date; headers, footers and quotes removed",
        partial(given, "20newsgroups:bydate,remove=headers+footers+quotes"),
        corpus="20newsgroups",
    ),
    Task(
        "ohsumed23",
        "OHSUMED 23",
        "the corpus's own, abstracts with one of 23 categories",
        partial(given, "ohsumed23"),
        corpus="ohsumed23",
    ),
    Task(
        "r115",
        "Reuters R115",
        "ModApte, all topics that have a training document; macro-F1 is over those with a test "
        "document",
        partial(given, f"{REUTERS}:modapte,categories=R115"),
        several=True,
        corpus=REUTERS,
    ),
    Task("imdb", "IMDB", "the corpus's own", partial(given, "imdb"), corpus="imdb"),
)
