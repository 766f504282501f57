"""OHSUMED, the abstracts of 1991 with exactly one of the 23 disease categories."""

from __future__ import annotations

from collections import Counter

from thresher.corpora._archive import members
from thresher.corpora._corpus import Corpus, Split
from thresher.corpora._registry import CorpusInfo, File, Form, Paths

__all__ = ["CORPORA"]

MEMBERS = r"((?:training|test)/C\d\d/\d+)$"
ARCHIVE = File(
    "ohsumed",
    (
        Form(
            "ohsumed_single_23.tar.xz",
            size=2_340_136,
            sha256="cc903027338518aac03693ef15bbaa60d726762f75512013d2106f9a39837c53",
        ),
        Form(
            "ohsumed-first-20000-docs.tar.gz",
            "http://disi.unitn.it/moschitti/corpora/ohsumed-first-20000-docs.tar.gz",
        ),
    ),
    contents="491f5cbac7da1289b050cc7dcd5adc9b05b4014aacd9f1ca60d34471060452af",
    members=MEMBERS,
    alone=True,
)


def read(paths: Paths, variant: str) -> Corpus:
    """Return the abstracts, sorted by category and number within each split.

    The archive of Moschitti has an abstract in the folder of each of its categories. Those in
    several folders are skipped, which leaves the single-label set of Yao et al.
    """
    abstracts = sorted(members(paths[0], MEMBERS))
    folders = Counter(name.rpartition("/")[2] for name, _ in abstracts)
    splits = {"training": Split(), "test": Split()}
    for name, content in abstracts:
        folder, category, number = name.split("/")[-3:]
        if folders[number] == 1:
            splits[folder].append(content.decode("utf-8", "replace"), [category], name)
    return Corpus({"train": splits["training"], "test": splits["test"]})


CORPORA = (
    CorpusInfo(
        name="ohsumed23",
        title="OHSUMED, 23 disease categories, one per abstract",
        summary=(
            "7,400 titles and abstracts of medical papers of 1991, each in one of 23 categories. "
            "Sorted by category: shuffle before learning in one pass."
        ),
        home="http://disi.unitn.it/moschitti/corpora.htm",
        licence=(
            "Made available by the National Library of Medicine for experiments only, never for "
            "clinical or library use; it is incomplete and out of date."
        ),
        citation=(
            "W. Hersh et al., OHSUMED, SIGIR 1994; the single-label set is of L. Yao et al., Graph "
            "convolutional networks for text classification, AAAI 2019"
        ),
        files=(ARCHIVE,),
        counts={"single": {"train": 3_357, "test": 4_043}},
        read=read,
        verified_by="the sha256 of each single-label abstract; take the archive from its page",
    ),
)
