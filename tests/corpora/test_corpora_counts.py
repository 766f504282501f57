"""The corpora themselves: documents, categories and features, counted as in the literature."""

import math
import re
from collections import Counter
from functools import cache

import pytest

from thresher.corpora import (
    _archive,
    _fetch,
    describe,
    fetch,
    folders,
    load,
    medline,
    newsgroups20,
)
from thresher.corpora import reuters21578 as reuters
from thresher.corpora._registry import MODULES

NAMES = sorted(MODULES)  # without those of other packages


@cache
def loaded(spec):
    return load(spec)


@pytest.fixture
def local(data_dir, monkeypatch, tmp_path):
    """Look for corpora in the data folder only."""
    monkeypatch.setenv("THRESHER_DATA", str(data_dir))
    monkeypatch.setenv("THRESHER_CACHE", str(tmp_path))
    return data_dir


SLOW = ("imdb", "medline")
SPECS = [(name, v) for name in NAMES if name not in SLOW for v in describe(name).variants]


@pytest.mark.corpus
@pytest.mark.parametrize("name, variant", SPECS)
def test_counts_of_documents(local, name, variant):
    corpus = loaded(f"{name}:{variant}")
    assert corpus.counts() == describe(name).counts[variant]


@pytest.mark.corpus
@pytest.mark.parametrize("name", NAMES)
def test_local_copy_is_the_published_one(local, name):
    paths = fetch(name, download=False)
    assert all(path.is_relative_to(local) for path in paths)
    for path, file in zip(paths, describe(name).files, strict=True):
        assert name in SLOW or _fetch.contents_digest(path, file) == file.contents


# topic: stories in all, in ModApte's training set, in its test set
TOP_50 = """
earn 3987 2877 1087, acq 2448 1650 719, money-fx 801 538 179, crude 634 389 189, grain 628 433 149,
trade 551 369 117, interest 513 347 131, wheat 306 212 71, ship 305 197 89, corn 253 181 56,
dlr 217 131 44, oilseed 192 124 47, money-supply 190 140 34, sugar 184 126 36, gnp 163 101 35,
coffee 145 111 28, veg-oil 137 87 37, gold 135 94 30, nat-gas 130 75 30, soybean 120 78 33,
bop 116 75 30, livestock 114 75 24, cpi 112 69 28, reserves 84 55 18, copper 78 47 18,
cocoa 76 55 18, jobs 76 46 21, carcass 75 50 18, yen 69 45 14, rice 67 35 24, iron-steel 67 40 14,
ipi 65 41 12, gas 65 37 17, cotton 63 39 20, alum 63 35 23, barley 54 37 14, meal-feed 51 30 19,
rubber 51 37 12, zinc 44 21 13, palm-oil 43 30 10, pet-chem 41 20 12, silver 37 21 8,
sorghum 35 24 10, rapeseed 35 18 9, lead 35 15 14, tin 33 18 12, strategic-metal 32 16 11,
wpi 32 19 10, orange 29 16 11, fuel 28 13 10
"""


@pytest.mark.corpus
def test_reuters_topics_are_those_of_the_literature(local):
    corpus = loaded("reuters21578:modapte")
    topics = {
        split: Counter(name for labels in corpus.split(split).labels for name in labels)
        for split in ("all", "train", "test")
    }
    table = [row.split() for row in TOP_50.split(",")]
    assert len(table) == 50
    for topic, *counts in table:
        assert [topics[split][topic] for split in topics] == list(map(int, counts)), topic
    assert [len(topics[split]) for split in topics] == [120, 115, 93]
    assert topics["test"].total() == 3_747
    assert sum(n for topic, n in topics["test"].items() if topic not in topics["train"]) == 3


@pytest.mark.corpus
def test_reuters_category_sets(local):
    corpus = loaded("reuters21578:modapte")
    sizes = {name: len(corpus.categories(name)) for name in ("R10", "R90", "R115")}
    assert sizes == {"R10": 10, "R90": 90, "R115": 115}
    ten = "acq corn crude earn grain interest money-fx ship trade wheat"
    assert corpus.categories("R10") == ten.split()


@pytest.mark.corpus
def test_reuters_stories_without_topic_are_kept(local):
    corpus = loaded("reuters21578:modapte")
    without = [sum(not labels for labels in corpus.split(s).labels) for s in ("train", "test")]
    assert without == [1_828, 280]


@pytest.mark.slow
@pytest.mark.corpus
@pytest.mark.parametrize(
    "spec, counts",
    [
        ("reuters21578:modapte,labelled=yes", {"train": 7_775, "test": 3_019}),
        ("reuters21578:modapte,labelled=yes,categories=R90", {"train": 7_770, "test": 3_019}),
        # O and Zhang (2000): the stories with a body
        ("reuters21578:modapte,types=NORM", {"train": 8_762, "test": 3_009}),
        # Carvalho and Cohen (2006): all stories with a topic
        ("reuters21578:all,labelled=yes", {"all": 11_367}),
    ],
)
def test_reuters_subsets_of_the_papers(local, spec, counts):
    sizes = loaded(spec).counts()
    assert {split: sizes[split] for split in counts} == counts


@pytest.mark.corpus
def test_reuters_stories(local):
    collection = list(reuters.stories(local / "reuters21578" / "reuters21578.tar.gz"))
    assert [story.newid for story in collection] == list(range(1, 21_579))
    assert Counter(story.type for story in collection) == {
        "NORM": 19_043,
        "BRIEF": 1_798,
        "UNPROC": 737,
    }
    assert sum(bool(story.body) for story in collection) == 19_043
    # one story is empty; nothing of the markup is left in the others
    texts = [reuters.text_of(story, ("title", "body"), decode=True) for story in collection]
    assert [i for i, text in enumerate(texts, 1) if not text.strip()] == [12_793]
    assert not any(re.search("&lt;|&#|<(TITLE|BODY|TEXT)", text) for text in texts)
    assert texts[0].startswith("BAHIA COCOA REVIEW\nShowers continued throughout the week in\n")


# the words and the vector of document 11 in Manning and Schuetze (1999), section 16.1
WORDS = [
    "vs",
    "mln",
    "cts",
    ";",
    "&",
    "000",
    "loss",
    "'",
    '"',
    "3",
    "profit",
    "dlrs",
    "1",
    "pct",
    "is",
    "s",
    "that",
    "net",
    "lt",
    "at",
]
VECTOR = [5, 5, 3, 3, 3, 4, 0, 0, 0, 4, 0, 3, 2, 0, 0, 0, 0, 3, 2, 0]


@pytest.mark.corpus
def test_reuters_raw_text_gives_the_vector_of_the_book(local):
    train = loaded("reuters21578:modapte,entities=raw").split("train")
    text = train.texts[train.ids.index("11")].lower()
    tokens = Counter(re.findall(r"[a-z]+|[0-9]+|[^\w\s]", text))
    length = 1 + math.log(tokens.total())
    vector = [round(10 * (1 + math.log(n)) / length) if (n := tokens[w]) else 0 for w in WORDS]
    assert vector == VECTOR


@pytest.mark.corpus
def test_newsgroups_by_group_and_without_parts(local):
    corpus = loaded("20newsgroups:bydate")
    groups = [Counter(names[0] for names in corpus.split(s).labels) for s in ("train", "test")]
    assert len(groups[0]) == len(groups[1]) == 20
    for group, counts in {
        "alt.atheism": [480, 319],
        "talk.religion.misc": [377, 251],
        "rec.sport.hockey": [600, 399],
    }.items():
        assert [item[group] for item in groups] == counts
    from sklearn.datasets import _twenty_newsgroups as reference

    for text in corpus.split("all").texts[::10]:
        expected = reference.strip_newsgroup_header(text)
        expected = reference.strip_newsgroup_quoting(reference.strip_newsgroup_footer(expected))
        assert newsgroups20.without(text, ("headers", "footers", "quotes")) == expected


@pytest.mark.corpus
def test_mail_and_reviews_by_category(local):
    spam = loaded("ling-spam:bare")
    assert Counter(map(tuple, spam.split("all").labels)) == {("ham",): 2_412, ("spam",): 481}
    for item in spam.parts.values():
        assert sum(names == ["spam"] for names in item.labels) in (48, 49)
    reviews = loaded("movie-reviews:v1.0").split()
    assert Counter(map(tuple, reviews.labels)) == {("neg",): 700, ("pos",): 700}
    assert len(loaded("ohsumed23:single").categories()) == 23


@pytest.mark.corpus
@pytest.mark.slow
def test_medline_counts(local):
    records = list(medline.records(local / "medline" / "pubmed20n0014.xml.gz"))
    assert len(records) == 30_000
    assert sum(bool(record.headings) for record in records) == 29_998
    assert sum(record.language == "eng" for record in records) == 22_290
    abstracts = [record for record in records if record.abstract]
    assert len(abstracts) == 14_832 and all(record.headings for record in abstracts)
    assert len({name for record in abstracts for name, _ in record.headings}) == 9_315


@pytest.mark.corpus
@pytest.mark.slow
def test_imdb_counts(local, monkeypatch):
    info = describe("imdb")
    path = _fetch.locate(info.files[0])
    reviews = list(_archive.members(path, folders.IMDB))
    assert _archive.digest_of_members(reviews, folders.IMDB) == info.files[0].contents
    monkeypatch.setattr(folders, "members", lambda *_: reviews)  # unpacking takes seconds
    corpus = load("imdb")
    assert corpus.counts() == info.counts["v1.0"]
    for split in ("train", "test"):
        labels = Counter(map(tuple, corpus.split(split).labels))
        assert labels == {("pos",): 12_500, ("neg",): 12_500}
    assert not any(corpus.split("unsup").labels)
