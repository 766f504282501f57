"""Nigerian letters ('419' scams), with the legitimate messages of Ling-Spam, or text messages."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path

from thresher.corpora import Corpus, CorpusInfo, File, Form, Split, describe
from thresher.corpora._archive import read_bytes
from thresher.corpora._registry import Paths
from thresher.corpora.folders import read_ling_spam

__all__ = ["CORPORA"]

COPY = "https://raw.githubusercontent.com/IasonasPs/Nigerian-Prince-Detection-Model"
COMMIT = "b29adccb11583aa954213d87620667e3e2c1ecb1"


def read(paths: Paths, variant: str) -> Corpus:
    """Read the letters, then the legitimate messages of the variant."""
    letters, messages = paths
    split = Split()
    rows = list(enumerate(_rows(letters), 1))
    for code, category in {"1": "scam", "0": "ham"}.items():
        for i, (label, body) in rows:
            if label == code and (category == "scam" or variant == "sms"):
                split.append(body, [category], f"{letters.name}:{i}")
    if variant == "ling-spam":
        legitimate = read_ling_spam([messages], "bare").split("all")
        for text, labels, location in zip(*legitimate.columns(), strict=True):
            if labels == ["ham"]:
                split.append(text.removeprefix("Subject:").lstrip(), ["ham"], location)
    return Corpus({"all": split}, positive="scam")


def _rows(path: Path) -> list[tuple[str, str]]:
    """Return label and body of each row."""
    csv.field_size_limit(min(sys.maxsize, 1 << 30))  # letters are longer than the default limit
    text = io.StringIO(read_bytes(path).decode("utf-8", "replace"), newline="")
    return [(row["label"], row["body"]) for row in csv.DictReader(text)]


CORPORA = (
    CorpusInfo(
        name="nigerian",
        title="Nigerian letters (a fifth of them) against the Linguist list",
        summary=(
            "665 advance-fee letters against the 2,412 legitimate messages of Ling-Spam, against "
            "1,114 text messages (sms), or alone. Beware: the two come from different sources, and "
            "the latter are lower-cased and spaced out, which alone tells them apart; figures near "
            "100% say little. The larger collection of 3,977 letters needs an account."
        ),
        home="https://www.kaggle.com/datasets/rtatman/fraudulent-email-corpus",
        licence=(
            "The copy names no licence; the letters are thought to be of the CLAIR collection (CC "
            "BY-NC-SA 4.0). They hold names and telephone numbers written by their senders."
        ),
        citation="D. Radev, CLAIR collection of fraud email, ACL ADCR2008T001, 2008",
        files=(
            File(
                "nigerian-subset",
                (
                    Form(
                        "test.csv",
                        f"{COPY}/{COMMIT}/Datasets/test.csv",
                        size=1_813_936,
                        sha256="6d40d1fe74b9ddbd0c6679a8ea81f06b3ccdc88c9347bd43d5d1d7a75e86d7fc",
                    ),
                    Form(
                        "test.csv.gz",
                        size=672_881,
                        sha256="cb4307701a1d3799961c28713299fd9db2434eb10335c01d9adff000fb50bc82",
                    ),
                ),
                contents="20cb44a8d66d6e424f76f68d95950670d720a42b781025c76abbcd57bc388aa4",
            ),
            *describe("ling-spam").files,
        ),
        counts={"ling-spam": {"all": 3_077}, "sms": {"all": 1_779}, "alone": {"all": 665}},
        read=read,
    ),
)
