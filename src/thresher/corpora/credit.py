"""Japanese credit screening (credit approval): applications granted or not."""

from __future__ import annotations

from thresher.corpora._corpus import Corpus
from thresher.corpora._registry import CorpusInfo, Paths
from thresher.corpora._table import UCI_TERMS, UCI_VERIFIED, examples, uci_file

__all__ = ["CORPORA"]

ATTRIBUTES = [f"A{i}" for i in range(1, 16)]  # their meaning was taken away
NUMBERS = ["A2", "A3", "A8", "A11", "A14", "A15"]


def read(paths: Paths, variant: str) -> Corpus:
    """Read the applications of which everything is known."""
    split = examples(paths[0], ATTRIBUTES, NUMBERS, {"+": "+", "-": "-"})
    return Corpus({"all": split}, positive="+")


CORPORA = (
    CorpusInfo(
        name="credit",
        title="Credit approval (Japanese credit screening)",
        summary=(
            "653 applications with all attributes known, of 690: 6 numbers and 9 nominal "
            "attributes, 46 features."
        ),
        home="https://archive.ics.uci.edu/dataset/27/credit+approval",
        licence=UCI_TERMS,
        citation="J. R. Quinlan, Credit Approval, UCI Machine Learning Repository, 1987",
        files=(
            uci_file(
                "crx",
                "credit-screening/crx.data",
                "6f31a44ceea8bb98af5059310d4bb517c5206212754ffcbcbe74570f86bbfa77",
            ),
        ),
        counts={"complete": {"all": 653}},
        read=read,
        verified_by=UCI_VERIFIED,
    ),
)
