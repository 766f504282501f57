"""Corpora with a file for each document, whose folders name the split and the category."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from thresher.corpora._archive import members
from thresher.corpora._corpus import Corpus, Split
from thresher.corpora._registry import Paths, declared

IMDB = r"(aclImdb/(?:train|test)/(?:pos|neg|unsup)/\d+_\d+\.txt)$"
LING_SPAM = r"(bare/part\d+/[^/]+\.txt)$"
MOVIE_REVIEWS = r"(tokens/(?:pos|neg)/[^/]+\.txt)$"
OHSUMED = r"((?:training|test)/C\d\d/\d+)$"


def _documents(paths: Paths, pattern: str, encoding: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield name, outer folder, inner folder and text of each document, sorted by name."""
    for name, content in sorted(members(paths[0], pattern)):
        outer, inner = name.split("/")[-3:-1]
        yield name, outer, inner, content.decode(encoding, "replace")


def _read_imdb(paths: Paths, variant: str) -> Corpus:
    """Return the reviews, sorted by class and number within each split."""
    splits = {"train": Split(), "test": Split(), "unsup": Split()}
    for name, split, label, text in sorted(_documents(paths, IMDB, "utf-8"), key=_by_number):
        split, labels = ("unsup", []) if label == "unsup" else (split, [label])
        splits[split].append(text, labels, name)
    return Corpus(splits, positive="pos")


def _by_number(document: tuple[str, ...]) -> tuple[str, int]:
    folder, _, file = document[0].rpartition("/")
    return folder, int(file.partition("_")[0])


def read_ling_spam(paths: Paths, variant: str) -> Corpus:
    """Return the messages, sorted by name within each of the ten parts for cross-validation."""
    splits = {f"part{i}": Split() for i in range(1, 11)}
    for name, _, split, text in _documents(paths, LING_SPAM, "latin-1"):
        splits[split].append(text, ["spam" if f"/{split}/spmsg" in name else "ham"], name)
    return Corpus(splits, positive="spam")


def _read_movie_reviews(paths: Paths, variant: str) -> Corpus:
    """Return the negative, then the positive reviews, each sorted by name."""
    reviews = Split()
    for name, _, label, text in _documents(paths, MOVIE_REVIEWS, "latin-1"):
        reviews.append(text, [label], name)
    return Corpus({"all": reviews}, positive="pos")


def _read_ohsumed(paths: Paths, variant: str) -> Corpus:
    """Return the abstracts, sorted by category and number within each split.

    The archive of Moschitti has an abstract in the folder of each of its categories. Those in
    several folders are skipped, which leaves the single-label set of Yao et al.
    """
    abstracts = list(_documents(paths, OHSUMED, "utf-8"))
    folders = Counter(name.rpartition("/")[2] for name, *_ in abstracts)
    splits = {"training": Split(), "test": Split()}
    for name, split, category, text in abstracts:
        if folders[name.rpartition("/")[2]] == 1:
            splits[split].append(text, [category], name)
    return Corpus({"train": splits["training"], "test": splits["test"]})


CORPORA = (
    declared("imdb", _read_imdb, members=IMDB),
    declared("ling-spam", read_ling_spam, members=LING_SPAM),
    declared("movie-reviews", _read_movie_reviews, members=MOVIE_REVIEWS),
    declared("ohsumed23", _read_ohsumed, members=OHSUMED),
)
