"""Internet advertisements: images on web pages, told by their size and by words around them."""

from __future__ import annotations

import re

from thresher.corpora._archive import members
from thresher.corpora._corpus import Corpus, Split
from thresher.corpora._registry import CorpusInfo, File, Form, Paths
from thresher.corpora._table import MISSING, UCI_TERMS
from thresher.errors import DocumentError

__all__ = ["CORPORA"]

MEMBERS = r"(ad\.(?:data|names))$"
NUMBERS = ("height", "width", "aratio")


def read(paths: Paths, variant: str) -> Corpus:
    """Read the images; an attribute that is missing is left out of the example."""
    content = {name.rpartition("/")[2]: text for name, text in members(paths[0], MEMBERS)}
    if len(content) != 2:
        raise DocumentError(f"{paths[0]} lacks ad.data or ad.names; delete it and fetch it again.")
    lines = content["ad.names"].decode("latin-1").splitlines()
    names = [line.rpartition(":")[0] for line in lines if re.search(r": *(continuous|0,1)\.", line)]
    split = Split()
    for number, line in enumerate(content["ad.data"].decode("latin-1").splitlines(), 1):
        *cells, label = (cell.strip() for cell in line.split(","))
        row = {
            name: float(cell)
            for name, cell in zip(names, cells, strict=True)
            if cell not in (MISSING, "0")
        }
        text = " ".join(f"{name}={row[name]:g}" if name in NUMBERS else name for name in row)
        split.append(text, [label.rstrip(".")], f"ad.data:{number}", row)
    return Corpus({"all": split}, positive="ad")


CORPORA = (
    CorpusInfo(
        name="ads",
        title="Internet advertisements",
        summary=(
            "3,279 images, 459 of them advertisements: 1,558 features, all binary but the three of "
            "the size; missing ones are left out. Sorted by class: shuffle before learning in one "
            "pass. (Its documentation says 458.)"
        ),
        home="https://archive.ics.uci.edu/dataset/51/internet+advertisements",
        licence=UCI_TERMS,
        citation="N. Kushmerick, Learning to remove Internet advertisements, Agents 1999",
        files=(
            File(
                "internet-ads",
                (
                    Form(
                        "internet+advertisements.zip",
                        url=(
                            "https://archive.ics.uci.edu/static/public/51/"
                            "internet+advertisements.zip"
                        ),
                    ),
                    Form(
                        "ad-dataset.zip",
                        size=138_610,
                        sha256="ec24f1b9285079146dad6af5edb1f9c1bde3811576cc53368e60708d2165e47c",
                    ),
                ),
                contents="c551b180e404d468ce25fdaedb11dddafe55272ed9775f286ff86e459b2da7c6",
                members=MEMBERS,
            ),
        ),
        counts={"standard": {"all": 3_279}},
        read=read,
        verified_by="the sha256 of its two tables",
    ),
)
