"""One rule for documents without labels: left out and counted, unless mode="multi-label"."""

import json
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import run, shell
from thresher import Categorizer
from thresher.errors import DocumentError, ThresherWarning
from thresher.evaluation.folds import hold_out
from thresher.experiments.comparison import compare
from thresher.experiments.progressive import progressive_validation
from thresher.experiments.protocols import CountedDocuments, cross_validate

WORDS = {"spam": ["cheap", "pills", "watches"], "ham": ["lunch", "today", "meeting"]}
TEXTS = [
    f"{WORDS[label][i % 3]} {WORDS[label][(i + 1) % 3]} number {i}"
    for i in range(12)
    for label in WORDS
]
LABELS = [label for _ in range(12) for label in WORDS]
LEFT_OUT = "10 of 34 have no label and were left out. If having none is an answer, train with "


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Make files with all labels, with ten blank ones among them, and with blank ones only."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{text},{label}\n" for text, label in zip(TEXTS, LABELS, strict=True)]
    blanks = [f"pills meeting blank {i}, \n" for i in range(10)]
    mixed = [row for pair in zip(rows, blanks, strict=False) for row in pair] + rows[10:]
    for name, lines in {"all": rows, "mixed": mixed, "none": blanks}.items():
        (tmp_path / f"{name}.csv").write_text("text,label\n" + "".join(lines))
    return tmp_path


def figures(*words):
    """Return the figures that a verb prints as JSON, and what it says on stderr."""
    done = shell(*words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


@pytest.mark.parametrize("mode", ["auto", "single-label"])
def test_every_verb_leaves_the_same_documents_out(files, mode):
    remedy = f"{LEFT_OUT}--mode multi-label."
    trained, notices = figures("train", "mixed.csv", "-o", "m.thresher", "--mode", mode, "--fast")
    assert trained["documents"] == 24 and trained["categories"] == 2 and remedy in notices
    assert Categorizer.load("m.thresher").decisions_.mode == "single-label"
    without, _ = figures("evaluate", "m.thresher", "all.csv")
    measured, notices = figures("evaluate", "m.thresher", "mixed.csv")
    assert measured["micro"] == without["micro"] and measured["documents"] == 24
    assert remedy in notices
    learned, notices = figures("learn", "m.thresher", "mixed.csv", "-o", "other.thresher")
    assert learned["documents"] == 24 and learned["left_out"] == 10 and remedy in notices
    _, notices = figures("tune", "m.thresher", "mixed.csv", "--calibrate", "sigmoid", "-o", "t")
    assert remedy in notices
    held_out, _ = figures(
        "train", "mixed.csv", "-o", "h", "--mode", mode, "--fast", "--hold-out", "0.5"
    )
    assert held_out["hold_out"]["documents"] == 12
    _, notices = figures("compare", "mixed.csv", "--learners", "perceptron", "--mode", mode)
    assert remedy in notices
    _, notices = figures("compact", "m.thresher", "mixed.csv", "-o", "small")
    compared = [
        figures("compact", "m.thresher", f"{name}.csv", "-o", "small")[0]
        for name in ("mixed", "all")
    ]
    assert compared[0]["before"]["micro"] == compared[1]["before"]["micro"]
    assert compared[0]["documents"] == 34


def test_none_is_an_answer_in_mode_multi_label(files):
    trained, notices = figures("train", "mixed.csv", "-o", "m.thresher", "--mode", "multi-label")
    assert trained["documents"] == 34 and "left out" not in notices
    measured, notices = figures("evaluate", "m.thresher", "mixed.csv")
    assert measured["documents"] == 34 and "left out" not in notices
    learned, notices = figures("learn", "m.thresher", "mixed.csv")
    assert learned["documents"] == 34 and "left out" not in notices


def test_few_labels_among_many_blank_ones(tmp_path):
    path = tmp_path / "few.csv"
    rows = [f"{text},{label}" for text, label in zip(TEXTS, LABELS, strict=True)]
    path.write_text("\n".join(["text,label", *rows, *["some other words,"] * 2000]))
    trained, notices = figures("train", path, "-o", tmp_path / "m", "--fast")
    assert "One label for each document;" in notices and "2,000 of 2,024 have no label" in notices
    assert trained["documents"] == 24


def test_nothing_but_blank_labels_is_an_error(files):
    run("train", "all.csv", "-o", "m.thresher", "--fast")
    for words in (
        "train none.csv -o n.thresher",
        "evaluate m.thresher none.csv",
        "learn m.thresher none.csv",
        "tune m.thresher none.csv --objective f1",
        "compare none.csv --learners perceptron",
    ):
        assert "None of the 10 documents has a label." in run(*words.split(), status=2)


@pytest.mark.parametrize("missing", [None, "", " ", math.nan, np.nan, []])
def test_the_same_rule_in_python(missing):
    texts, labels = [*TEXTS, *["pills meeting"] * 3], [*LABELS, *[missing] * 3]
    with pytest.warns(ThresherWarning, match="3 of 27 have no label and were left out"):
        model = Categorizer(preset="fast").fit(texts, labels)
    assert model.documents_seen_ == 24 and model.decisions_.mode == "single-label"
    assert model.categories_ == ["ham", "spam"]
    with pytest.warns(ThresherWarning, match="left out"):
        assert model.evaluate(texts, labels).n_documents == 24
    weights = [1.0] * 24 + [9.0] * 3
    with pytest.warns(ThresherWarning, match="left out"):
        assert model.score(texts, labels, weights) == model.score(TEXTS, LABELS)
    with pytest.warns(ThresherWarning, match="left out"):
        learned = model.learn(texts, labels).learned_
    assert (learned.documents, learned.left_out) == (24, 3)
    with pytest.warns(ThresherWarning, match="left out"):
        validated = cross_validate(Categorizer(preset="fast"), texts, labels)
    assert len(validated.tested) == 24
    contenders = {"a": Categorizer("perceptron", preset="fast")}
    with pytest.warns(ThresherWarning, match="left out"):
        assert len(compare(contenders, texts, labels).results["a"].tested) == 24
    with pytest.warns(ThresherWarning, match="left out"):
        stream = progressive_validation(Categorizer("perceptron"), texts, labels, batch_size=5)
    assert stream.n_documents[-1] == 24


def test_mistakes_have_the_numbers_of_the_documents_that_were_given():
    model = Categorizer("perceptron", preset="fast", remember=0).fit(TEXTS, LABELS)
    texts = ["unknown", "cheap pills", "lunch today", "cheap pills"]
    with pytest.warns(ThresherWarning, match="left out"):
        learned = model.learn(texts, [None, "spam", "ham", "ham"]).learned_
    assert {mistake.number for mistake in learned.wrong} <= {2, 4} and learned.wrong


def test_one_category_needs_documents_without_it():
    texts, labels = ["cheap pills", "lunch"] * 4, [["spam"], []] * 4
    model = Categorizer(preset="fast").fit(texts, labels)
    assert model.documents_seen_ == 8 and model.evaluate(texts, labels).n_documents == 8
    with pytest.raises(DocumentError, match=r"only one category 'spam'"):
        Categorizer(preset="fast", mode="single-label").fit(texts, labels)


def test_a_matrix_and_topics_say_that_there_is_none():
    matrix = [[0, 1], [1, 0], [0, 0]] * 4
    model = Categorizer(preset="fast").fit(TEXTS[:12], matrix)
    assert model.documents_seen_ == 12 and model.evaluate(TEXTS[:12], matrix).n_documents == 12
    model = Categorizer(preset="fast").fit(TEXTS, LABELS)
    assert model.learn(["not this"], [[]], about=["spam"]).learned_.documents == 1


def test_folds_have_no_documents_without_labels():
    with pytest.warns(ThresherWarning, match="left out"):
        counted = CountedDocuments.read(Categorizer(preset="fast"), [*TEXTS, "x"], [*LABELS, None])
    (split,) = hold_out(counted.labels, 0.25)
    assert len(counted) == 24 and len(split.train) + len(split.test) == 24


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "list"])
def test_an_empty_list_beside_lists_of_several_labels_says_that_there_is_none(tmp_path, suffix):
    """Where labels are lists, [] is an answer; where they are strings, "" is a missing label."""
    texts = [*TEXTS, *(f"neither cheap lunch {i}" for i in range(8))]
    labels = [[label] for label in LABELS] + [[]] * 8
    several = [["spam", "ham"], *labels[1:]]
    for lists, n_learned, mode in ((several, 32, "multi-label"), (labels, 24, "single-label")):
        source = (texts, lists)
        if suffix != "list":
            source = (tmp_path / f"t.{suffix}",)
            table = pa.table({"text": texts, "labels": lists})
            if suffix == "parquet":
                pq.write_table(table, source[0])
            else:
                rows = map(json.dumps, table.to_pylist())
                source[0].write_text("".join(f"{row}\n" for row in rows))
        model = Categorizer(preset="fast").fit(*source)
        assert (model.documents_seen_, model.decisions_.mode) == (n_learned, mode)
        assert model.evaluate(*source).n_documents == n_learned
        assert model.learn(*source).learned_.documents == n_learned
    cells = [" | ".join(labels) for labels in several]
    pq.write_table(pa.table({"text": texts, "labels": cells}), tmp_path / "c.parquet")
    model = Categorizer(preset="fast").fit(tmp_path / "c.parquet")
    assert (model.documents_seen_, model.decisions_.mode) == (24, "multi-label")
