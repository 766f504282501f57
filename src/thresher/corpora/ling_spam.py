"""Ling-Spam, the 'bare' version, with its ten parts for cross-validation."""

from __future__ import annotations

from thresher.corpora._archive import members
from thresher.corpora._corpus import Corpus, Split
from thresher.corpora._registry import CorpusInfo, File, Form, Paths

__all__ = ["ARCHIVE", "CORPORA"]

SOURCE = "http://nlp.cs.aueb.gr/software_and_datasets"
MEMBERS = r"(bare/part\d+/[^/]+\.txt)$"
PART_SIZES = (289, 289, 289, 289, 290, 289, 289, 289, 289, 291)
ARCHIVE = File(
    "ling-spam",
    (
        Form("lingspam_public.tar.gz", f"{SOURCE}/lingspam_public.tar.gz"),
        Form(
            "lingspam_bare.tar.gz",
            size=3_233_786,
            sha256="fdec12a48d94abc02ac6b59d5206ef9bfa7ab14cd2df7c17c1b1db54bc362533",
        ),
    ),
    contents="53d0cacaf97fc70dfea4bc4e3d2fe011e3dda124055e1bb97d5501cb59509ce1",
    members=MEMBERS,
)


def read(paths: Paths, variant: str) -> Corpus:
    """Return the messages, sorted by name within each part."""
    splits = {f"part{i}": Split() for i in range(1, 11)}
    for name, content in sorted(members(paths[0], MEMBERS)):
        split, file = name.split("/")[-2:]
        label = "spam" if file.startswith("spmsg") else "ham"
        splits[split].append(content.decode("latin-1"), [label], name)
    return Corpus(splits, positive="spam")


CORPORA = (
    CorpusInfo(
        name="ling-spam",
        title="Ling-Spam, bare",
        summary=(
            "2,893 messages, 2,412 of the Linguist list (ham) and 481 spam, lower-cased and split "
            "into tokens by its authors, in ten fixed parts for cross-validation."
        ),
        home="http://www.aueb.gr/users/ion/publications.html",
        licence=(
            "Free; by obtaining it you agree to acknowledge its use and origin in published work "
            "and to notify Ion Androutsopoulos."
        ),
        citation=(
            "I. Androutsopoulos et al., An evaluation of naive Bayesian anti-spam filtering, 2000"
        ),
        files=(ARCHIVE,),
        counts={"bare": {f"part{i}": n for i, n in enumerate(PART_SIZES, 1)}},
        read=read,
        verified_by="the sha256 of each message; take the authors' archive from its page yourself",
    ),
)
