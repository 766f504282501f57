"""The UCI tables, their attributes as features as in Carvalho and Cohen (2006, section 4.1).

A nominal attribute becomes one binary feature per value, `attribute=value`; a number stays one
feature with its value. Examples with a missing value ('?') are left out. The same examples are
also text, one `attribute=value` token per attribute, for learners that only know words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from thresher.corpora import Corpus, CorpusInfo, File, Form, Split
from thresher.corpora._archive import TABLE_COMMENT, members, read_bytes
from thresher.corpora._registry import Paths
from thresher.errors import DocumentError

__all__ = ["CORPORA"]

MISSING = "?"
HOME = "https://archive.ics.uci.edu/dataset"
_table = partial(
    CorpusInfo,
    licence="Free for research with citation; the archive lists its donated sets under CC BY 4.0.",
    verified_by="the sha256 of its lines, without blank ones and remarks",
)

# The attributes in the order of the columns.
ADULT = """
age workclass fnlwgt education education-num marital-status occupation relationship race sex
capital-gain capital-loss hours-per-week native-country
"""
ADULT_NUMBERS = "age fnlwgt education-num capital-gain capital-loss hours-per-week"
CREDIT = "A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11 A12 A13 A14 A15"  # their meaning was taken away
CREDIT_NUMBERS = "A2 A3 A8 A11 A14 A15"
NURSERY = "parents has_nurs form children housing finance social health"
NURSERY_CLASSES = ("not_recom", "recommend", "very_recom", "priority", "spec_prior")
VOTES = """
handicapped-infants water-project-cost-sharing adoption-of-the-budget-resolution
physician-fee-freeze el-salvador-aid religious-groups-in-schools anti-satellite-test-ban
aid-to-nicaraguan-contras mx-missile immigration synfuels-corporation-cutback education-spending
superfund-right-to-sue crime duty-free-exports export-administration-act-south-africa
"""
WISCONSIN = """
clump-thickness cell-size cell-shape marginal-adhesion epithelial-cell-size bare-nuclei
bland-chromatin normal-nucleoli mitoses
"""
AD_MEMBERS = r"(ad\.(?:data|names))$"
AD_NUMBERS = ("height", "width", "aratio")


def _files(folder: str, path: str, contents: str, size: int = 0, sha256: str = "") -> tuple[File]:
    """Describe a table by its path in the archive, and by size and checksum of a packed copy."""
    name = path.rpartition("/")[2]
    plain = Form(name, f"https://archive.ics.uci.edu/ml/machine-learning-databases/{path}")
    packed = [Form(f"{name}.gz", size=size, sha256=sha256)] if size else []
    return (File(folder, (plain, *packed), contents),)


def _table_rows(path: Path, width: int) -> Iterator[tuple[str, list[str]]]:
    """Yield location and cells of each line that is neither blank nor a comment."""
    for number, line in enumerate(read_bytes(path).splitlines(), 1):
        if line.strip() and not line.startswith(TABLE_COMMENT):
            cells = [cell.strip() for cell in line.decode("latin-1").split(",")]
            if len(cells) != width:
                raise DocumentError(
                    f"{path.name}:{number} has {len(cells)} fields instead of {width}; "
                    "it is not the published table. Delete it and fetch it again."
                )
            yield f"{path.name}:{number}", cells


def _tokens(names: Sequence[str], cells: Sequence[str]) -> str:
    return " ".join(f"{name}={cell}" for name, cell in zip(names, cells, strict=True))


def _reader(
    attributes: str, labels: dict[str, str], positive: str, numbers: str = "", leading: int = 0
) -> Callable[[Paths, str], Corpus]:
    """Return a reader of tables whose last column is the class; of two, the second is for testing.

    `labels` has the category of each class as the table writes it; `leading` counts the columns
    that come before the attributes.
    """
    names, numeric = attributes.split(), set(numbers.split())

    def examples(path: Path) -> Split:
        split = Split()
        for location, line in _table_rows(path, leading + len(names) + 1):
            cells, label = line[leading:-1], line[-1]
            if MISSING in cells:
                continue
            row = {}
            for name, cell in zip(names, cells, strict=True):
                if name not in numeric:
                    row[f"{name}={cell}"] = 1.0
                elif value := float(cell):
                    row[name] = value
            split.append(_tokens(names, cells), [labels[label]], location, row)
        return split

    def read(paths: Paths, variant: str) -> Corpus:
        splits = ("train", "test") if len(paths) == 2 else ("all",)
        return Corpus(dict(zip(splits, map(examples, paths), strict=True)), positive=positive)

    return read


def _read_votes(paths: Paths, variant: str) -> Corpus:
    """Read the members of the house: 16 binary features, one for each yea.

    A '?' is neither yea nor nay and counts as no yea; in the text it is a token of its own.
    """
    names, split = VOTES.split(), Split()
    for location, (party, *votes) in _table_rows(paths[0], len(names) + 1):
        row = {name: 1.0 for name, vote in zip(names, votes, strict=True) if vote == "y"}
        split.append(_tokens(names, votes), [party], location, row)
    return Corpus({"all": split}, positive="democrat")


def _read_nursery(paths: Paths, variant: str) -> Corpus:
    """Read the applications: priority against the rest, or all five classes."""
    keep = NURSERY_CLASSES if variant == "classes" else ("priority",)
    labels = {name: name if name in keep else "other" for name in NURSERY_CLASSES}
    return _reader(NURSERY, labels, "priority")(paths, variant)


def _read_ads(paths: Paths, variant: str) -> Corpus:
    """Read the images; an attribute that is missing is left out of the example."""
    content = {name.rpartition("/")[2]: text for name, text in members(paths[0], AD_MEMBERS)}
    if len(content) != 2:
        raise DocumentError(f"{paths[0]} lacks ad.data or ad.names; delete it and fetch it again.")
    lines = content["ad.names"].decode("latin-1").splitlines()
    names = [line.rpartition(":")[0] for line in lines if re.search(r": *(continuous|0,1)\.", line)]
    split = Split()
    for number, line in enumerate(content["ad.data"].decode("latin-1").splitlines(), 1):
        *cells, label = (cell.strip() for cell in line.split(","))
        pairs = zip(names, cells, strict=True)
        row = {name: float(cell) for name, cell in pairs if cell not in (MISSING, "0")}
        text = " ".join(f"{name}={row[name]:g}" if name in AD_NUMBERS else name for name in row)
        split.append(text, [label.rstrip(".")], f"ad.data:{number}", row)
    return Corpus({"all": split}, positive="ad")


CORPORA = (
    _table(
        name="adult",
        title="Adult (census income)",
        summary=(
            "45,222 persons with all attributes known, 30,162 of them for training: 6 numbers and "
            "8 nominal attributes, 104 features in training."
        ),
        home=f"{HOME}/2/adult",
        citation="R. Kohavi and B. Becker, Adult, UCI Machine Learning Repository, 1996",
        files=(
            *_files(
                "adult",
                "adult/adult.data",
                "ea895aae047aa83ca757e3024a029be8b11806c656ad2c5b1efd8cec28af19ad",
                408_969,
                "c7a2b4716a97f930123e0baf879188d701e798172631a654fc703d4b082907f3",
            ),
            *_files(
                "adult",
                "adult/adult.test",
                "10ab70aad17401e173c0096b6775f78362409517422ceb26c80f5f04dbc2e02e",
                205_233,
                "41743e91fe4d25fd353ea754bfdb850444d050bd14aaee06a5be952b6dbfa3ec",
            ),
        ),
        counts={"complete": {"train": 30_162, "test": 15_060}},
        # The lines of the test partition end in a point; the paper uses the other one only.
        read=_reader(
            ADULT,
            {label + end: label for label in (">50K", "<=50K") for end in ("", ".")},
            ">50K",
            ADULT_NUMBERS,
        ),
    ),
    _table(
        name="ads",
        title="Internet advertisements",
        summary=(
            "3,279 images, 459 of them advertisements: 1,558 features, all binary but the three of "
            "the size; missing ones are left out. Sorted by class: shuffle before learning in one "
            "pass. (Its documentation says 458.)"
        ),
        home=f"{HOME}/51/internet+advertisements",
        citation="N. Kushmerick, Learning to remove Internet advertisements, Agents 1999",
        files=(
            File(
                "internet-ads",
                (
                    Form(
                        "internet+advertisements.zip",
                        "https://archive.ics.uci.edu/static/public/51/internet+advertisements.zip",
                    ),
                    Form(
                        "ad-dataset.zip",
                        size=138_610,
                        sha256="ec24f1b9285079146dad6af5edb1f9c1bde3811576cc53368e60708d2165e47c",
                    ),
                ),
                contents="c551b180e404d468ce25fdaedb11dddafe55272ed9775f286ff86e459b2da7c6",
                members=AD_MEMBERS,
            ),
        ),
        counts={"standard": {"all": 3_279}},
        read=_read_ads,
        verified_by="the sha256 of its two tables; take the archive from its page yourself",
    ),
    _table(
        name="congressional",
        title="Congressional voting records, 1984",
        summary="435 members of the house, 267 democrats and 168 republicans: 16 binary features.",
        home=f"{HOME}/105/congressional+voting+records",
        citation="J. Schlimmer, Congressional Voting Records, UCI repository, 1987",
        files=_files(
            "house-votes-84",
            "voting-records/house-votes-84.data",
            "aaa5e785ce9efecf8d86ce7f87b1aad1f0954af8e071ce405b7342545ee8f707",
        ),
        counts={"votes": {"all": 435}},
        read=_read_votes,
    ),
    _table(
        name="credit",
        title="Credit approval (Japanese credit screening)",
        summary=(
            "653 applications with all attributes known, of 690: 6 numbers and 9 nominal "
            "attributes, 46 features."
        ),
        home=f"{HOME}/27/credit+approval",
        citation="J. R. Quinlan, Credit Approval, UCI Machine Learning Repository, 1987",
        files=_files(
            "crx",
            "credit-screening/crx.data",
            "6f31a44ceea8bb98af5059310d4bb517c5206212754ffcbcbe74570f86bbfa77",
        ),
        counts={"complete": {"all": 653}},
        read=_reader(CREDIT, {"+": "+", "-": "-"}, "+", CREDIT_NUMBERS),
    ),
    _table(
        name="nursery",
        title="Nursery",
        summary=(
            "12,960 applications, all combinations of 8 nominal attributes, 27 features; priority "
            "against the rest, or five classes. (The 2006 paper says 89 features, the number it "
            "also gives for the Wisconsin set: the attributes have 27 values in all.) In factorial "
            "order: shuffle before learning in one pass."
        ),
        home=f"{HOME}/76/nursery",
        citation="V. Rajkovic et al., Nursery, UCI Machine Learning Repository, 1997",
        files=_files(
            "nursery",
            "nursery/nursery.data",
            "ed63762eabd18af61fdb96fb86439a911d04abceed9be122093033aefdd0581e",
            40_193,
            "e882b7ac73f8679c270f7ad0e3b966125c7e746dc86b71ce8d86d49c6ec5411a",
        ),
        counts={"priority": {"all": 12_960}, "classes": {"all": 12_960}},
        read=_read_nursery,
    ),
    _table(
        name="wisconsin",
        title="Breast cancer, Wisconsin (original)",
        summary=(
            "683 samples with all attributes known, of 699: nine attributes from 1 to 10, one "
            "feature for each value that occurs, 89 in all."
        ),
        home=f"{HOME}/15/breast+cancer+wisconsin+original",
        citation=(
            "W. H. Wolberg, Breast Cancer Wisconsin (Original), UCI Machine Learning Repository, "
            "1992"
        ),
        files=_files(
            "breast-cancer-wisconsin",
            "breast-cancer-wisconsin/breast-cancer-wisconsin.data",
            "81add727690ddfdfffe60d06dfc915848ce8639c3cafc37b5b44604d334c444c",
        ),
        counts={"complete": {"all": 683}},
        # One column leads: the sample's number.
        read=_reader(WISCONSIN, {"2": "benign", "4": "malignant"}, "malignant", leading=1),
    ),
)
