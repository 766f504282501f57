"""Adult (census income): who earns more than 50,000 dollars a year."""

from __future__ import annotations

from thresher.corpora._corpus import Corpus
from thresher.corpora._registry import CorpusInfo, Form, Paths
from thresher.corpora._table import UCI_TERMS, UCI_VERIFIED, examples, uci_file

__all__ = ["CORPORA"]

ATTRIBUTES = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
]
NUMBERS = ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
LABELS = {">50K": ">50K", "<=50K": "<=50K", ">50K.": ">50K", "<=50K.": "<=50K"}


def read(paths: Paths, variant: str) -> Corpus:
    """Read both partitions; the paper uses the training partition only."""
    splits = {
        name: examples(path, ATTRIBUTES, NUMBERS, LABELS)
        for name, path in zip(("train", "test"), paths, strict=True)
    }
    return Corpus(splits, positive=">50K")


CORPORA = (
    CorpusInfo(
        name="adult",
        title="Adult (census income)",
        summary=(
            "45,222 persons with all attributes known, 30,162 of them for training: 6 numbers and "
            "8 nominal attributes, 104 features in training."
        ),
        home="https://archive.ics.uci.edu/dataset/2/adult",
        licence=UCI_TERMS,
        citation="R. Kohavi and B. Becker, Adult, UCI Machine Learning Repository, 1996",
        files=(
            uci_file(
                "adult",
                "adult/adult.data",
                "ea895aae047aa83ca757e3024a029be8b11806c656ad2c5b1efd8cec28af19ad",
                Form(
                    "adult.data.gz",
                    size=408_969,
                    sha256="c7a2b4716a97f930123e0baf879188d701e798172631a654fc703d4b082907f3",
                ),
            ),
            uci_file(
                "adult",
                "adult/adult.test",
                "10ab70aad17401e173c0096b6775f78362409517422ceb26c80f5f04dbc2e02e",
                Form(
                    "adult.test.gz",
                    size=205_233,
                    sha256="41743e91fe4d25fd353ea754bfdb850444d050bd14aaee06a5be952b6dbfa3ec",
                ),
            ),
        ),
        counts={"complete": {"train": 30_162, "test": 15_060}},
        read=read,
        verified_by=UCI_VERIFIED,
    ),
)
