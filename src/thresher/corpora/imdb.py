"""The Large Movie Review Dataset (IMDB): 50,000 labelled reviews and 50,000 without a label."""

from __future__ import annotations

from thresher.corpora._archive import members
from thresher.corpora._corpus import Corpus, Split
from thresher.corpora._registry import CorpusInfo, File, Form, Paths

__all__ = ["CORPORA"]

HOME = "https://ai.stanford.edu/~amaas/data/sentiment/"
MEMBERS = r"(aclImdb/(?:train|test)/(?:pos|neg|unsup)/\d+_\d+\.txt)$"
ARCHIVE = File(
    "imdb",
    (
        Form(  # not tested; size and checksum as published by several projects
            "aclImdb_v1.tar.gz",
            f"{HOME}aclImdb_v1.tar.gz",
            size=84_125_825,
            sha256="c40f74a18d3b61f90feba1e17730e0d38e8b97c05fde7008942e91923d1658fe",
        ),
        Form(
            "aclImdb_v1_texts.tar.xz",
            size=40_082_824,
            sha256="bc3706438c941fe85f4c90ea62c4b8c38256ac10e26a2467871aec8d98147c3a",
        ),
    ),
    contents="bb611f39b7b8d08650ae7e593abe2909e5d7a3c9826539f4084c09ea7e68d95c",
    members=MEMBERS,
)


def read(paths: Paths, variant: str) -> Corpus:
    """Return the reviews, sorted by class and number within each split."""
    splits = {"train": Split(), "test": Split(), "unsup": Split()}
    for name, content in sorted(members(paths[0], MEMBERS), key=_by_number):
        split, label = name.split("/")[-3:-1]
        split, labels = ("unsup", []) if label == "unsup" else (split, [label])
        splits[split].append(content.decode("utf-8", "replace"), labels, name)
    return Corpus(splits, positive="pos")


def _by_number(member: tuple[str, bytes]) -> tuple[str, int]:
    folder, _, file = member[0].rpartition("/")
    return folder, int(file.partition("_")[0])


CORPORA = (
    CorpusInfo(
        name="imdb",
        title="Large Movie Review Dataset 1.0 (IMDB)",
        summary=(
            "25,000 reviews for training and 25,000 for testing, half of them positive, and 50,000 "
            "without a label (unsup). Sorted by class: shuffle before learning in one pass."
        ),
        home=HOME,
        licence="No explicit licence; research use, to be cited.",
        citation="A. L. Maas et al., Learning word vectors for sentiment analysis, ACL 2011",
        files=(ARCHIVE,),
        counts={"v1.0": {"train": 25_000, "test": 25_000, "unsup": 50_000}},
        read=read,
    ),
)
