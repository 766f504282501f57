"""Breast cancer, Wisconsin (original): benign and malignant tumours."""

from __future__ import annotations

from thresher.corpora._corpus import Corpus
from thresher.corpora._registry import CorpusInfo, Paths
from thresher.corpora._table import UCI_TERMS, UCI_VERIFIED, examples, uci_file

__all__ = ["CORPORA"]

ATTRIBUTES = [
    "clump-thickness",
    "cell-size",
    "cell-shape",
    "marginal-adhesion",
    "epithelial-cell-size",
    "bare-nuclei",
    "bland-chromatin",
    "normal-nucleoli",
    "mitoses",
]
LABELS = {"2": "benign", "4": "malignant"}


def read(paths: Paths, variant: str) -> Corpus:
    """Read the samples of which everything is known; each value of an attribute is a feature."""
    split = examples(paths[0], ATTRIBUTES, (), LABELS, leading=1)  # the sample's number
    return Corpus({"all": split}, positive="malignant")


CORPORA = (
    CorpusInfo(
        name="wisconsin",
        title="Breast cancer, Wisconsin (original)",
        summary=(
            "683 samples with all attributes known, of 699: nine attributes from 1 to 10, one "
            "feature for each value that occurs, 89 in all."
        ),
        home="https://archive.ics.uci.edu/dataset/15/breast+cancer+wisconsin+original",
        licence=UCI_TERMS,
        citation=(
            "W. H. Wolberg, Breast Cancer Wisconsin (Original), UCI Machine Learning Repository, "
            "1992"
        ),
        files=(
            uci_file(
                "breast-cancer-wisconsin",
                "breast-cancer-wisconsin/breast-cancer-wisconsin.data",
                "81add727690ddfdfffe60d06dfc915848ce8639c3cafc37b5b44604d334c444c",
            ),
        ),
        counts={"complete": {"all": 683}},
        read=read,
        verified_by=UCI_VERIFIED,
    ),
)
