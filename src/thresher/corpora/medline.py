"""MEDLINE records of 1977-1979 with their MeSH headings: many labels, most of them rare."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from thresher.corpora._archive import Unpacked, reading
from thresher.corpora._corpus import Corpus, Split
from thresher.corpora._registry import Paths, declared


class Record(NamedTuple):
    """A MEDLINE record: its number, title, abstract (or ''), language and MeSH headings.

    A heading is a descriptor, with True if the descriptor or a qualifier is a major topic.
    """

    pmid: str
    title: str
    abstract: str
    language: str
    headings: list[tuple[str, bool]]


def records(path: Path) -> Iterator[Record]:
    """Yield the records of a file of the PubMed baseline (XML in gzip)."""
    with reading(path), Unpacked(path) as stream:
        for element in _elements(stream):
            if element.tag == "PubmedArticle":
                yield _record(element)
                element.clear()


def _elements(stream: Unpacked) -> Iterator[ElementTree.Element]:
    try:
        for _, element in ElementTree.iterparse(stream):
            yield element
    except ElementTree.ParseError as error:
        raise ValueError(str(error)) from None


def _record(element: ElementTree.Element) -> Record:
    abstract = element.iterfind("MedlineCitation/Article/Abstract/AbstractText")
    headings = []
    for heading in element.iterfind("MedlineCitation/MeshHeadingList/MeshHeading"):
        is_major = any(name.get("MajorTopicYN") == "Y" for name in heading)
        headings.append((heading.findtext("DescriptorName", ""), is_major))
    return Record(
        element.findtext("MedlineCitation/PMID", ""),
        _text(element.find("MedlineCitation/Article/ArticleTitle")),
        "\n".join(filter(None, map(_text, abstract))),
        element.findtext("MedlineCitation/Article/Language", ""),
        headings,
    )


def _text(element: ElementTree.Element | None) -> str:
    return "" if element is None else "".join(element.itertext()).strip()


def read(
    paths: Paths, variant: str, *, major: bool, abstract: bool, english: bool, min_frequency: int
) -> Corpus:
    """Return the records in the order of the file."""
    chosen = [
        record
        for record in records(paths[0])
        if (record.abstract or not abstract) and (record.language == "eng" or not english)
    ]
    labels = [
        list(dict.fromkeys(name for name, is_major in record.headings if is_major or not major))
        for record in chosen
    ]
    frequency = Counter(name for names in labels for name in names)
    split = Split()
    for record, names in zip(chosen, labels, strict=True):
        frequent = [name for name in names if frequency[name] >= min_frequency]
        split.append(f"{record.title}\n{record.abstract}".strip(), frequent, record.pmid)
    return Corpus({"all": split})


CORPORA = (declared("medline", read),)
