"""Reuters-21578, Distribution 1.0, from its SGML files.

The splits are those of the collection's README: ModApte and ModLewis by LEWISSPLIT and TOPICS,
ModHayes by CGISPLIT. TOPICS="YES" means that the raw data had a topic, not that labels exist.
Documents without labels are included as negative examples of every category.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from thresher.corpora._archive import members
from thresher.corpora._corpus import Corpus, Split
from thresher.corpora._registry import Paths, declared
from thresher.errors import ParameterError

STORY = re.compile(
    r'<REUTERS TOPICS="(?P<has_topics>\w+)" LEWISSPLIT="(?P<lewis>[\w-]+)"'
    r' CGISPLIT="(?P<cgi>[\w-]+)"[^>]*? OLDID="(?P<oldid>\d+)" NEWID="(?P<newid>\d+)">'
    r".*?<TOPICS>(?P<topics>.*?)</TOPICS>\s*<PLACES>(?P<places>.*?)</PLACES>"
    r"\s*<PEOPLE>(?P<people>.*?)</PEOPLE>\s*<ORGS>(?P<orgs>.*?)</ORGS>"
    r"\s*<EXCHANGES>(?P<exchanges>.*?)</EXCHANGES>"
    r'.*?<TEXT(?: TYPE="(?P<type>\w+)")?>(?P<text>.*?)</TEXT>',
    re.DOTALL,
)
TAG = re.compile(r"</?[A-Z]+>")
CONTROL = re.compile(r"&#\d+;")
FIELDS = ("topics", "places", "people", "orgs", "exchanges")
PARTS = ("title", "dateline", "body")
MEMBERS = r"(reut2-\d{3}\.sgm)$"


class Story(NamedTuple):
    """A news story with its entities not decoded.

    `title`, `dateline` and `body` are "" if missing; `text` is the whole TEXT element with tags.
    """

    newid: int
    oldid: int
    has_topics: str
    lewis: str
    cgi: str
    type: str
    topics: list[str]
    places: list[str]
    people: list[str]
    orgs: list[str]
    exchanges: list[str]
    title: str
    dateline: str
    body: str
    text: str


def stories(path: Path) -> Iterator[Story]:
    """Yield the stories of the archive in the order of NEWID, which is chronological."""
    for _, content in sorted(members(path, MEMBERS)):
        for match in STORY.finditer(content.decode("latin-1")):
            yield _story(match.groupdict())


def _story(element: dict[str, Any]) -> Story:
    element |= {name: int(element[name]) for name in ("newid", "oldid")}
    element |= {field: _names(element[field]) for field in FIELDS}
    element |= {name: _element(element["text"], name.upper()) for name in PARTS}
    return Story(**element | {"type": element["type"] or "NORM"})


def _element(text: str, tag: str) -> str:
    """Return the text between a tag and its end tag, or ""."""
    start = text.find(f"<{tag}>")
    return "" if start < 0 else text[start + len(tag) + 2 : text.find(f"</{tag}>", start)]


def _names(field: str) -> list[str]:
    """Return the distinct categories of a field (two stories repeat a topic)."""
    return list(dict.fromkeys(field[3:-4].split("</D><D>"))) if field else []


def split_of(story: Story, variant: str) -> str:
    """Return the split of a story: train, test or unused."""
    if variant == "all":
        return "all"
    if variant == "modhayes":
        return "train" if story.cgi == "TRAINING-SET" else "test"
    allowed = ("YES",) if variant == "modapte" else ("YES", "NO")
    if story.has_topics not in allowed or story.lewis == "NOT-USED":
        return "unused"
    return story.lewis.lower()


def text_of(story: Story, parts: Iterable[str], *, decode: bool) -> str:
    """Return the chosen parts of a story, joined by newlines.

    If the body is requested and a story has none (a headline, or one without markup), its whole
    TEXT is returned. Decoding turns `&lt;` into `<` and removes control characters such as `&#3;`.
    """
    chosen = [name for name in PARTS if name in parts]
    if "body" in chosen and not story.body:
        text = TAG.sub(" ", story.text)
    else:
        text = "\n".join(filter(None, (getattr(story, name) for name in chosen)))
    if decode and "&" in text:
        text = CONTROL.sub("", text).replace("&lt;", "<").replace("&amp;", "&")
    return text


def category_sets(collection: Iterable[Story]) -> dict[str, list[str]]:
    """Return the named sets of topics, by their ModApte counts.

    R115 has all topics with a training document, R90 those that also have a test document, R10 the
    ten with most training documents. Each set is sorted by name.
    """
    counts: dict[str, Counter[str]] = {name: Counter() for name in ("train", "test", "unused")}
    for story in collection:
        counts[split_of(story, "modapte")].update(story.topics)
    train, test = counts["train"], counts["test"]
    top = sorted(_most_frequent(train, 10))
    return {"R10": top, "R90": sorted(train.keys() & test.keys()), "R115": sorted(train)}


def _most_frequent(counts: Counter[str], n: int) -> list[str]:
    """Return the n most frequent names, in alphabetical order if equally frequent."""
    return sorted(counts, key=lambda name: (-counts[name], name))[:n]


def _chosen(
    collection: list[Story], variant: str, field: str, requested: str, sets: dict[str, list[str]]
) -> set[str] | None:
    """Return the requested categories; None for all."""
    if requested == "all":
        return None
    if requested in sets:
        return set(sets[requested])
    if top := re.fullmatch(r"top(\d+)", requested):
        here = (story for story in collection if split_of(story, variant) in ("train", "all"))
        counts = Counter(name for story in here for name in getattr(story, field))
        return set(_most_frequent(counts, int(top[1])))
    known = {name for story in collection for name in getattr(story, field)}
    unknown = [name for name in requested.split("+") if name not in known]
    if unknown:
        raise ParameterError(
            f"reuters21578: categories is {requested!r}, but {unknown[0]!r} is neither one of the "
            f"{field} nor all, R10, R90, R115 or topN (top50)."
        )
    return set(requested.split("+"))


def read(
    paths: Paths,
    variant: str,
    *,
    categories: str,
    parts: tuple[str, ...],
    entities: str,
    labels: str,
    labelled: bool,
    types: tuple[str, ...],
) -> Corpus:
    """Return the collection; see corpora.toml for the options."""
    collection = list(stories(paths[0]))
    sets = category_sets(collection)
    chosen = _chosen(collection, variant, labels, categories, sets)
    order = ("all",) if variant == "all" else ("train", "test", "unused")
    splits = {name: Split() for name in order if (variant, name) != ("modhayes", "unused")}
    for story in collection:
        names = [name for name in getattr(story, labels) if chosen is None or name in chosen]
        if story.type in types and (names or not labelled):
            text = text_of(story, parts, decode=entities == "decoded")
            splits[split_of(story, variant)].append(text, names, str(story.newid))
    return Corpus(splits, sets)


CORPORA = (declared("reuters21578", read, members=MEMBERS),)
