"""Nursery: which applications for nursery schools have priority."""

from __future__ import annotations

from thresher.corpora._corpus import Corpus
from thresher.corpora._registry import CorpusInfo, Form, Paths
from thresher.corpora._table import UCI_TERMS, UCI_VERIFIED, examples, uci_file

__all__ = ["CORPORA"]

ATTRIBUTES = ["parents", "has_nurs", "form", "children", "housing", "finance", "social", "health"]
CLASSES = ("not_recom", "recommend", "very_recom", "priority", "spec_prior")


def read(paths: Paths, variant: str) -> Corpus:
    """Read the applications: priority against the rest, or all five classes."""
    keep = CLASSES if variant == "classes" else ("priority",)
    labels = {name: name if name in keep else "other" for name in CLASSES}
    return Corpus({"all": examples(paths[0], ATTRIBUTES, (), labels)}, positive="priority")


CORPORA = (
    CorpusInfo(
        name="nursery",
        title="Nursery",
        summary=(
            "12,960 applications, all combinations of 8 nominal attributes, 27 features; priority "
            "against the rest, or five classes. (The 2006 paper says 89 features, the number it "
            "also gives for the Wisconsin set: the attributes have 27 values in all.) In factorial "
            "order: shuffle before learning in one pass."
        ),
        home="https://archive.ics.uci.edu/dataset/76/nursery",
        licence=UCI_TERMS,
        citation="V. Rajkovic et al., Nursery, UCI Machine Learning Repository, 1997",
        files=(
            uci_file(
                "nursery",
                "nursery/nursery.data",
                "ed63762eabd18af61fdb96fb86439a911d04abceed9be122093033aefdd0581e",
                Form(
                    "nursery.data.gz",
                    size=40_193,
                    sha256="e882b7ac73f8679c270f7ad0e3b966125c7e746dc86b71ce8d86d49c6ec5411a",
                ),
            ),
        ),
        counts={"priority": {"all": 12_960}, "classes": {"all": 12_960}},
        read=read,
        verified_by=UCI_VERIFIED,
    ),
)
