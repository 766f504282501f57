"""The public corpora: how they are named, what is said of them, and how each is read."""

import gzip
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from conftest import find_data
from hypothesis import given
from hypothesis import strategies as st

from archives import write_tar, write_zip
from thresher import corpora
from thresher.corpora import (
    Corpus,
    Split,
    _fetch,
    describe,
    is_corpus_spec,
    list_corpora,
    load,
    newsgroups20,
    reuters21578,
)
from thresher.corpora._registry import Option, parse_options, parse_spec
from thresher.documents import read_documents
from thresher.errors import DocumentError, ParameterError


def read(name, *paths, variant=None, **options):
    """Read a corpus from files of the test's own."""
    info = describe(name)
    return info.read(list(paths), variant or info.variants[0], **parse_options(info, options))


@pytest.mark.parametrize(
    "text, spec",
    [
        ("imdb", ("imdb", None, {}, None)),
        ("imdb/test", ("imdb", None, {}, "test")),
        ("ling-spam/part1+part2", ("ling-spam", None, {}, "part1+part2")),
        ("reuters21578:modapte", ("reuters21578", "modapte", {}, None)),
        ("reuters21578:categories=R10", ("reuters21578", None, {"categories": "R10"}, None)),
        (
            "20newsgroups:bydate,remove=headers+quotes/train",
            ("20newsgroups", "bydate", {"remove": "headers+quotes"}, "train"),
        ),
    ],
)
def test_spec_is_taken_apart(text, spec):
    assert parse_spec(text) == spec


@pytest.mark.parametrize(
    "spec, sentence",
    [
        ("reuters", "There is no corpus called 'reuters'. Did you mean reuters21578?"),
        ("a b", "'a b' does not name a corpus; write name"),
        ("reuters21578:modapte,modlewis", "names two variants, modapte and modlewis"),
        ("reuters21578:apte", "has no variant 'apte'; it has modapte, modlewis"),
        ("imdb:remove=quotes", "has no option 'remove'; it takes no options"),
        ("20newsgroups:remove=nose", "'nose'; it must be one of headers, footers, quotes"),
        ("medline:major=perhaps", "major is 'perhaps'; it must be yes or no"),
        ("medline:min_frequency=-1", "min_frequency is '-1'; it must be a whole number"),
    ],
)
def test_bad_spec_is_told_in_a_sentence(spec, sentence):
    with pytest.raises(ParameterError, match=re.escape(sentence)):
        load(spec)


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series])
def test_texts_are_opened_with_their_labels(kind):
    (batch,) = corpora.open_documents(kind(["wheat up", "oil down"]), kind(["grain", "crude"]))
    assert batch.texts.to_pylist() == ["wheat up", "oil down"]
    assert batch.labels == [["grain"], ["crude"]]
    (unlabelled,) = corpora.open_documents(kind(["wheat up"]))
    assert unlabelled.labels is None


def test_files_are_opened_with_the_column_of_their_labels(tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("text,team,label\nwheat,x,y\n")
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for source, n_files in [(paths, 2), (str(paths[0]), 1), (paths[0], 1)]:
        batches = list(corpora.open_documents(source, "team"))
        assert [batch.labels for batch in batches] == [[["x"]]] * n_files
    documents = read_documents(paths[0])
    assert corpora.open_documents(documents) is documents
    with pytest.raises(ParameterError, match="must name one column"):
        corpora.open_documents(paths[0], np.array(["x"]))


@pytest.mark.parametrize(
    ("spec", "split", "texts"),
    [
        ("toy", None, ["a", "b"]),
        ("toy", "test", ["c"]),
        ("toy/train", "test", ["a", "b"]),
        ("toy", "dev", ["a", "b"]),
    ],
)
def test_a_corpus_is_opened_at_the_split_that_is_named(toy, monkeypatch, spec, split, texts):
    named = replace(toy, default_split=parse_spec(spec).split)
    monkeypatch.setattr(corpora, "is_corpus_spec", lambda text: text == spec)
    monkeypatch.setattr(corpora, "load", lambda text: named)
    (batch,) = corpora.open_documents(spec, split=split)
    assert batch.texts.to_pylist() == texts


@pytest.mark.parametrize("text", ["wheat prices rose", "wheat " * 900, "a b\0"])
def test_a_text_that_is_taken_for_a_path_is_told(text):
    with pytest.raises(DocumentError, match=r"no such file or folder; .* a text goes into a list"):
        corpora.open_documents(text)


def test_existing_file_wins_over_corpus(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert is_corpus_spec("imdb") and is_corpus_spec("reuters21578:modapte,categories=R10/test")
    assert not is_corpus_spec("imdb.csv")
    assert not is_corpus_spec("data/imdb.csv")
    assert not is_corpus_spec(tmp_path)
    (tmp_path / "imdb").mkdir()
    assert not is_corpus_spec("imdb")


@pytest.mark.parametrize(
    "option, value, parsed",
    [
        (Option("", False), "yes", True),
        (Option("", True), False, False),
        (Option("", 1), "12", 12),
        (Option("", (), ("a", "b")), "a+b", ("a", "b")),
        (Option("", ("a",), ("a", "b")), "", ()),
        (Option("", (), ("a", "b")), ["b"], ("b",)),
        (Option("", "x"), "anything", "anything"),
    ],
)
def test_option_takes_the_type_of_its_default(option, value, parsed):
    assert option.parse("option", value) == parsed


@pytest.mark.parametrize("name", [info.name for info in list_corpora()])
def test_every_corpus_knows_address_terms_and_checksums(name):
    info = describe(name)
    assert info.home.startswith("http") and info.licence and info.citation and info.summary
    assert all(re.match(r"https?://[\w.-]+/", address) for address in info.addresses)
    for file in info.files:
        assert re.fullmatch("[0-9a-f]{64}", file.contents)
        assert all(re.fullmatch("[0-9a-f]{64}", form.sha256) for form in file.forms if form.sha256)
        # a form has an address, or is known by its checksum
        assert all(form.url or form.sha256 for form in file.forms)
    page = str(info)
    assert info.title in page and info.licence in page and info.verified_by in page
    assert all(address in page for address in info.addresses)


@pytest.fixture
def toy():
    return Corpus(
        {
            "train": Split(["a", "b"], [["x", "y"], []], ["1", "2"], [{"u": 1.0}, {"v": 2.0}]),
            "test": Split(["c"], [["x"]], ["3"], [{"u": 3.0, "w": 1.0}]),
        },
        {"few": ["x"]},
        name="toy",
    )


def test_splits_are_joined(toy):
    assert toy.splits == ("train", "test")
    assert toy.split().texts == ["a", "b"]
    assert toy.split("test+train").ids == ["3", "1", "2"]
    assert toy.split("all").rows == [{"u": 1.0}, {"v": 2.0}, {"u": 3.0, "w": 1.0}]
    assert toy.categories() == ["x", "y"] and toy.categories(split="test") == ["x"]
    assert toy.categories("few") == ["x"]


def test_documents_can_be_read_again_and_again(toy):
    documents = toy.documents("all", batch_size=2)
    for _ in range(2):
        batches = list(documents)
        assert [len(batch) for batch in batches] == [2, 1]
        assert [text for batch in batches for text in batch.texts.to_pylist()] == ["a", "b", "c"]
        assert [batch.labels for batch in batches] == [[["x", "y"], []], [["x"]]]
        assert batches[1].location(0) == "toy 3"
    assert documents.n_documents == 3 and documents.n_labelled == 2
    assert documents.bytes_read == documents.bytes_total == 3
    assert documents.columns_note == "text and labels of toy"
    assert documents.skipped == [] and documents.decoding_errors == 0


@pytest.mark.parametrize(
    "ask, sentence",
    [
        (lambda toy: toy.split("dev"), "has no split 'dev'; it has train, test, and all"),
        (lambda toy: toy.categories("R90"), "has no category set 'R90'; it has few"),
        (lambda toy: Corpus({"all": Split(["a"], [[]], ["1"])}).rows(), "holds text only"),
    ],
)
def test_what_is_not_there_is_told(toy, ask, sentence):
    with pytest.raises(ParameterError, match=sentence):
        ask(toy)


def sgml(newid, *, topics=(), has="YES", lewis="TRAIN", cgi="TRAINING-SET", text, places=()):
    """Write a story as the collection does."""
    fields = {"TOPICS": topics, "PLACES": places, "PEOPLE": (), "ORGS": (), "EXCHANGES": ()}
    marked = "\n".join(
        f"<{field}>{''.join(f'<D>{name}</D>' for name in names)}</{field}>"
        for field, names in fields.items()
    )
    return (
        f'<REUTERS TOPICS="{has}" LEWISSPLIT="{lewis}" CGISPLIT="{cgi}" CSECS="1" OLDID="9" '
        f'NEWID="{newid}">\n<DATE>1-MAR-1987</DATE>\n{marked}\n<COMPANIES></COMPANIES>\n'
        f"<UNKNOWN>&#5;</UNKNOWN>\n{text}\n</REUTERS>\n"
    )


NORM = (
    "<TEXT>&#2;\n<TITLE>WHEAT &lt;CO> &amp; CORN</TITLE>\n<AUTHOR> by X</AUTHOR>\n"
    "<DATELINE>    ROME, March 1 - </DATELINE><BODY>Wheat fell.\n Reuter\n&#3;</BODY></TEXT>"
)
BRIEF = '<TEXT TYPE="BRIEF">&#2;\n******<TITLE>SHIP SAILS</TITLE>Blah blah blah.\n&#3;\n</TEXT>'
UNPROC = '<TEXT TYPE="UNPROC">&#2;\nNO MARKUP caf\xe9\n&#3;\n</TEXT>'


@pytest.fixture
def small_reuters(tmp_path):
    second = [
        sgml(4, topics=["wheat", "corn"], lewis="TEST", text=NORM),
        sgml(5, topics=["zinc"], lewis="TEST", has="NO", text=NORM),
        sgml(6, has="BYPASS", text=NORM),
        sgml(7, lewis="NOT-USED", cgi="PUBLISHED-TESTSET", text=NORM),
    ]
    first = [
        sgml(1, topics=["wheat", "corn", "wheat"], places=["italy"], text=NORM),
        sgml(2, topics=["ship"], text=BRIEF),
        sgml(3, text=UNPROC),
    ]
    files = {
        "reuters21578/README.txt": b"<REUTERS>",
        "reuters21578/reut2-001.sgm": "".join(second).encode("latin-1"),
        "reuters21578/reut2-000.sgm": "".join(first).encode("latin-1"),
    }
    return write_tar(tmp_path / "reuters21578.tar.gz", files)


@pytest.mark.parametrize(
    "variant, ids",
    [
        ("modapte", {"train": ["1", "2", "3"], "test": ["4"], "unused": ["5", "6", "7"]}),
        ("modlewis", {"train": ["1", "2", "3"], "test": ["4", "5"], "unused": ["6", "7"]}),
        ("modhayes", {"train": ["1", "2", "3", "4", "5", "6"], "test": ["7"]}),
        ("all", {"all": ["1", "2", "3", "4", "5", "6", "7"]}),
    ],
)
def test_reuters_splits(small_reuters, variant, ids):
    corpus = read("reuters21578", small_reuters, variant=variant)
    assert {name: item.ids for name, item in corpus.parts.items()} == ids


def test_reuters_text_and_topics(small_reuters):
    train = read("reuters21578", small_reuters).split("train")
    assert train.labels == [["wheat", "corn"], ["ship"], []]
    assert train.texts[0] == "WHEAT <CO> & CORN\nWheat fell.\n Reuter\n"
    assert train.texts[1].split() == ["******", "SHIP", "SAILS", "Blah", "blah", "blah."]
    assert train.texts[2] == "\nNO MARKUP caf\xe9\n\n"


@pytest.mark.parametrize(
    "options, texts",
    [
        ({"parts": "title"}, ["WHEAT <CO> & CORN", "SHIP SAILS", ""]),
        ({"parts": "dateline", "types": "NORM"}, ["    ROME, March 1 - "]),
        (
            {"entities": "raw", "types": "NORM"},
            ["WHEAT &lt;CO> &amp; CORN\nWheat fell.\n Reuter\n&#3;"],
        ),
    ],
)
def test_reuters_parts_and_entities(small_reuters, options, texts):
    assert read("reuters21578", small_reuters, **options).split("train").texts == texts


@pytest.mark.parametrize(
    "options, labels",
    [
        ({"categories": "R10"}, [["wheat", "corn"], ["ship"], []]),
        ({"categories": "R90"}, [["wheat", "corn"], [], []]),
        ({"categories": "R90", "labelled": "yes"}, [["wheat", "corn"]]),
        ({"categories": "top1"}, [["corn"], [], []]),
        ({"categories": "ship+corn"}, [["corn"], ["ship"], []]),
        ({"labels": "places"}, [["italy"], [], []]),
    ],
)
def test_reuters_categories(small_reuters, options, labels):
    assert read("reuters21578", small_reuters, **options).split("train").labels == labels


def test_reuters_sets_and_unknown_category(small_reuters):
    corpus = read("reuters21578", small_reuters)
    assert corpus.categories("R115") == ["corn", "ship", "wheat"]
    assert corpus.categories("R90") == ["corn", "wheat"]
    assert corpus.categories() == ["corn", "ship", "wheat", "zinc"]
    with pytest.raises(ParameterError, match="'tin' is neither one of the topics nor all, R10"):
        read("reuters21578", small_reuters, categories="tin+corn")


def known_as_it_is(monkeypatch, path):
    """Let a small archive be what was published."""
    (info,) = reuters21578.CORPORA
    (archive,) = info.files
    known = replace(archive, contents=_fetch.contents_digest(path, archive))
    monkeypatch.setattr(reuters21578, "CORPORA", (replace(info, files=(known,)),))


def test_corpus_is_loaded_by_its_spec(small_reuters, tmp_path, monkeypatch):
    monkeypatch.setenv("THRESHER_DATA", str(tmp_path / "data"))
    data = tmp_path / "data" / "reuters21578"
    data.mkdir(parents=True)
    small_reuters.rename(data / small_reuters.name)
    known_as_it_is(monkeypatch, data / small_reuters.name)
    corpus = load("reuters21578:modlewis,categories=R10/test", entities="raw")
    assert corpus.split().ids == ["4", "5"] and corpus.split().labels == [["wheat", "corn"], []]
    assert next(iter(corpus.documents())).location(1).endswith("categories=R10 5")
    with pytest.raises(ParameterError, match="has no split 'dev'"):
        load("reuters21578/dev")
    write_tar(data / small_reuters.name, {"reut2-000.sgm": b""})
    with pytest.raises(DocumentError, match="its contents differ, too"):
        load("reuters21578")
    known_as_it_is(monkeypatch, data / small_reuters.name)
    with pytest.raises(DocumentError, match="No document of reuters21578 was found"):
        load("reuters21578")


POST = "From: me@x\nSubject: y\n\nIn article <1> he writes:\n> Why?\n| Hm\nBecause.\n\n--\nMe\n"


@pytest.mark.parametrize(
    "remove, text",
    [
        ("", POST),
        ("headers", POST[POST.index("In") :]),
        ("headers+footers", "In article <1> he writes:\n> Why?\n| Hm\nBecause.\n"),
        ("headers+footers+quotes", "Because.\n"),
    ],
)
def test_newsgroups(tmp_path, remove, text):
    files = {
        "20news-bydate-train/rec.autos/20": b"b \xe9",
        "20news-bydate-train/rec.autos/10": POST.encode(),
        "20news-bydate-test/comp.os.ms-windows.misc/5": b"c",
    }
    corpus = read("20newsgroups", write_tar(tmp_path / "a.tar.gz", files), remove=remove)
    assert corpus.counts() == {"train": 2, "test": 1}
    assert corpus.split("train").texts[0] == text
    assert corpus.split("train").labels == [["rec.autos"]] * 2
    assert corpus.split("test").labels == [["comp.os.ms-windows.misc"]]


QUOTED = ["> a", "| b", "In article x", "Quoted from y", "he wrote:", "she says: no", "writes in b"]
LINES = st.sampled_from([*QUOTED, "--", " -- ", "", " ", "text", "said", "\f", "- -", "From: me"])


@given(st.lists(LINES | st.text(max_size=5), max_size=12).map("\n".join))
def test_removal_is_that_of_scikit_learn(text):
    from sklearn.datasets import _twenty_newsgroups as reference

    assert newsgroups20.without(text, ("headers",)) == reference.strip_newsgroup_header(text)
    assert newsgroups20.without(text, ("footers",)) == reference.strip_newsgroup_footer(text)
    assert newsgroups20.without(text, ("quotes",)) == reference.strip_newsgroup_quoting(text)


def test_ling_spam(tmp_path):
    files = {
        "lingspam_public/bare/part1/3-1msg1.txt": b"Subject: re : syntax\n\nhello",
        "lingspam_public/bare/part10/spmsga1.txt": b"Subject: money\n\nfree",
        "lingspam_public/lemm/part1/3-1msg1.txt": b"not this one",
        "lingspam_public/readme.txt": b"nor this",
    }
    mail = write_tar(tmp_path / "mail.tar.gz", files)
    corpus = read("ling-spam", mail)
    assert list(corpus.counts().values()) == [1, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    assert list(corpus.pairs("part10")) == [("Subject: money\n\nfree", ["spam"])]


def test_reviews(tmp_path):
    files = {
        "aclImdb/train/pos/10_9.txt": b"fine",
        "aclImdb/train/pos/9_7.txt": "caf\xe9".encode(),
        "aclImdb/test/neg/0_2.txt": b"bad",
        "aclImdb/train/unsup/0_0.txt": b"so so",
        "aclImdb/train/urls_pos.txt": b"http",
    }
    corpus = read("imdb", write_tar(tmp_path / "a.tar.xz", files))
    assert corpus.counts() == {"train": 2, "test": 1, "unsup": 1}
    assert list(corpus.pairs("all")) == [
        *[("caf\xe9", ["pos"]), ("fine", ["pos"])],
        *[("bad", ["neg"]), ("so so", [])],
    ]
    files = {"x/tokens/pos/cv1.txt": b"good", "x/tokens/neg/cv2.txt": b"bad", "x/README": b"!"}
    corpus = read("movie-reviews", write_zip(tmp_path / "a.zip", files))
    assert list(corpus.pairs()) == [("bad", ["neg"]), ("good", ["pos"])]
    assert corpus.positive == "pos"


def test_ohsumed_keeps_abstracts_of_one_category(tmp_path):
    files = {
        "o/training/C01/0000001": b"one",
        "o/training/C02/0000002": b"two",
        "o/training/C03/0000002": b"two",
        "o/test/C23/0000003": b"three",
    }
    corpus = read("ohsumed23", write_tar(tmp_path / "a.tar.gz", files))
    assert list(corpus.pairs("train")) == [("one", ["C01"])]
    assert list(corpus.pairs("test")) == [("three", ["C23"])]


ARTICLE = """<PubmedArticle><MedlineCitation><PMID Version="1">{pmid}</PMID><Article>
<ArticleTitle>On <i>E. coli</i> {pmid}</ArticleTitle>{abstract}<Language>{language}</Language>
</Article><MeshHeadingList>{headings}</MeshHeadingList></MedlineCitation></PubmedArticle>"""
HEADING = """<MeshHeading>
<DescriptorName UI="D1" MajorTopicYN="{descriptor}">{name}</DescriptorName>
<QualifierName UI="Q1" MajorTopicYN="{qualifier}">analysis</QualifierName></MeshHeading>"""


@pytest.fixture
def small_medline(tmp_path):
    def heading(name, descriptor="N", qualifier="N"):
        return HEADING.format(name=name, descriptor=descriptor, qualifier=qualifier)

    parts = "".join(f"<AbstractText>{item}</AbstractText>" for item in ("First.", "Second."))
    abstract = f"<Abstract>{parts}</Abstract>"
    articles = [
        (
            "1",
            "eng",
            abstract,
            heading("Cattle") + heading("Meat", "Y") + heading("Diet", "N", "Y"),
        ),
        ("2", "ger", "", heading("Cattle") + heading("Cattle", "Y")),
        ("3", "eng", "", ""),
    ]
    body = "".join(
        ARTICLE.format(pmid=pmid, language=language, abstract=text, headings=headings)
        for pmid, language, text, headings in articles
    )
    path = tmp_path / "a.xml.gz"
    path.write_bytes(gzip.compress(f"<PubmedArticleSet>{body}</PubmedArticleSet>".encode()))
    return path


@pytest.mark.parametrize(
    "options, labels",
    [
        ({}, [["Cattle", "Meat", "Diet"], ["Cattle"], []]),
        ({"major": "yes"}, [["Meat", "Diet"], ["Cattle"], []]),
        ({"min_frequency": "2"}, [["Cattle"], ["Cattle"], []]),
        ({"abstract": "yes"}, [["Cattle", "Meat", "Diet"]]),
        ({"english": "yes"}, [["Cattle", "Meat", "Diet"], []]),
        ({"english": "yes", "min_frequency": 2}, [[], []]),
    ],
)
def test_medline(small_medline, options, labels):
    corpus = read("medline", small_medline, **options)
    assert corpus.split().labels == labels
    assert corpus.split().texts[0] == "On E. coli 1\nFirst.\nSecond."


def test_damaged_medline_is_told(small_medline):
    small_medline.write_bytes(gzip.compress(b"<PubmedArticleSet><PubmedArticle>"))
    with pytest.raises(DocumentError, match=r"a\.xml\.gz is damaged .*\(no element found"):
        read("medline", small_medline)


def test_corpora_that_are_named_must_be_there(monkeypatch, tmp_path):
    monkeypatch.setenv("THRESHER_DATA", str(tmp_path / "none"))
    with pytest.raises(pytest.fail.Exception, match="none, which is no folder"):
        find_data()
