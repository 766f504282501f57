"""Congressional voting records of 1984: democrats and republicans by 16 votes."""

from __future__ import annotations

from thresher.corpora._corpus import Corpus, Split
from thresher.corpora._registry import CorpusInfo, Paths
from thresher.corpora._table import UCI_TERMS, UCI_VERIFIED, table_rows, tokens, uci_file

__all__ = ["CORPORA"]

VOTES = [
    "handicapped-infants",
    "water-project-cost-sharing",
    "adoption-of-the-budget-resolution",
    "physician-fee-freeze",
    "el-salvador-aid",
    "religious-groups-in-schools",
    "anti-satellite-test-ban",
    "aid-to-nicaraguan-contras",
    "mx-missile",
    "immigration",
    "synfuels-corporation-cutback",
    "education-spending",
    "superfund-right-to-sue",
    "crime",
    "duty-free-exports",
    "export-administration-act-south-africa",
]


def read(paths: Paths, variant: str) -> Corpus:
    """Read the members of the house: 16 binary features, one for each yea.

    A '?' is neither yea nor nay and counts as no yea; in the text it is a token of its own.
    """
    split = Split()
    for number, (party, *votes) in table_rows(paths[0], len(VOTES) + 1):
        row = {name: 1.0 for name, vote in zip(VOTES, votes, strict=True) if vote == "y"}
        split.append(tokens(VOTES, votes), [party], f"{paths[0].name}:{number}", row)
    return Corpus({"all": split}, positive="democrat")


CORPORA = (
    CorpusInfo(
        name="congressional",
        title="Congressional voting records, 1984",
        summary="435 members of the house, 267 democrats and 168 republicans: 16 binary features.",
        home="https://archive.ics.uci.edu/dataset/105/congressional+voting+records",
        licence=UCI_TERMS,
        citation="J. Schlimmer, Congressional Voting Records, UCI repository, 1987",
        files=(
            uci_file(
                "house-votes-84",
                "voting-records/house-votes-84.data",
                "aaa5e785ce9efecf8d86ce7f87b1aad1f0954af8e071ce405b7342545ee8f707",
            ),
        ),
        counts={"votes": {"all": 435}},
        read=read,
        verified_by=UCI_VERIFIED,
    ),
)
