"""Cells that a spreadsheet would run are escaped in CSV files, and restored when read back."""

import csv
import json
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from command import run
from thresher import Categorizer
from thresher.documents import read_documents
from thresher.documents.escapes import escape_cells, restore_cells, restored
from thresher.model.categories import Categories

DANGEROUS = ["=cmd|'/C calc'!A0", "+1+cmd", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "--- note"]
HARMLESS = ["wheat", "a=b", "-3.5", "+7", "1e5", "-1,000.50", "12 %", "'quoted'", "", " =1"]


@pytest.mark.parametrize("large", [False, True])
def test_what_is_escaped(large):
    kind = pa.large_string() if large else pa.string()
    array = pa.array([*DANGEROUS, *HARMLESS, None], kind)
    expected = [*(f"'{text}" for text in DANGEROUS), *HARMLESS, None]
    assert escape_cells(array).to_pylist() == expected
    assert restore_cells(escape_cells(array)).to_pylist() == array.to_pylist()
    assert escape_cells(pa.array([-1, 2])).to_pylist() == [-1, 2]


@given(st.lists(st.text("'=+-@\t\ra1. ", max_size=6), min_size=1))
def test_removing_an_apostrophe_restores_every_cell(texts):
    escaped = escape_cells(pa.array(texts))
    assert restore_cells(escaped).to_pylist() == restored(escaped.to_pylist()) == texts


LABELS = ["=evil", "@home", "plain"]
ROWS = [("-----Original words of one", "=evil"), ("=two words", "@home"), ("third plain", "plain")]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"text": text, "label": label, "=id": f"-{i}", "n": -i}
            for i, (text, label) in enumerate(ROWS * 4)]  # fmt: skip
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("train", "d.jsonl", "-o", "m.thresher", "--fast")
    return tmp_path


def cells(path):
    with open(path, newline="") as file:
        return [cell for row in csv.reader(file) for cell in row]


@pytest.mark.parametrize(
    "words",
    [
        "predict m.thresher d.jsonl -o out.csv --keep text,=id,n --top 2 --scores",
        "rank m.thresher d.jsonl -o out.csv --keep text,=id,n",
        "rank m.thresher d.jsonl --category =evil -o out.csv --keep =id",
        "evaluate m.thresher wrong.jsonl --errors 9 -o out.csv",
    ],
)
def test_csv_files_of_every_verb(files, words):
    wrong = (files / "d.jsonl").read_text().replace('"=evil"', '"@home"')
    (files / "wrong.jsonl").write_text(wrong)
    run(*words.split())
    risky = [cell for cell in cells("out.csv") if cell[:1] in ("=", "+", "-", "@", "\t", "\r")]
    assert all(float(cell) <= 0 for cell in risky)  # numbers
    assert any(cell.startswith(("'=", "'@")) for cell in cells("out.csv"))
    run(*words.split(), "--no-escape")
    assert any(cell.startswith("=") for cell in cells("out.csv"))
    assert not any(cell.startswith(("'=", "'@")) for cell in cells("out.csv"))


def test_other_formats_are_not_escaped(files):
    for name in ("out.jsonl", "out.parquet"):
        run("predict", "m.thresher", "d.jsonl", "-o", name, "--keep", "text")
        texts = [t for batch in read_documents(name, text="text") for t in batch.texts.to_pylist()]
        assert texts == [text for text, _ in ROWS * 4]


def test_copies_of_copies_have_one_apostrophe(files):
    for source, target in (("d.jsonl", "a.csv"), ("a.csv", "b.csv"), ("b.csv", "c.csv")):
        run("predict", "m.thresher", source, "--text", "text", "-o", target, "--keep", "text")
    texts = [[cell for cell in cells(name) if "words" in cell] for name in ("a.csv", "c.csv")]
    assert texts[0] == texts[1] and texts[0][0] == "'-----Original words of one"


def test_corrections_are_read_as_they_were(files):
    run("predict", "m.thresher", "d.jsonl", "-o", "r.csv", "--keep", "text")
    batches = [*read_documents("r.csv", text="text", labels="labels")]
    texts = [text for batch in batches for text in batch.texts.to_pylist()]
    assert texts == [text for text, _ in ROWS * 4]
    assert {label for batch in batches for labels in batch.labels for label in labels} == set(
        LABELS
    )
    options = ("--text", "text", "--labels", "labels")
    assert (
        json.loads(run("evaluate", "m.thresher", "r.csv", *options, "--json"))["exact_match"] == 1
    )
    learned = json.loads(run("learn", "m.thresher", "r.csv", *options, "--json"))
    assert learned["categories"] == []
    with open("r.csv", newline="") as file, open("edited.csv", "w", newline="") as edited:
        writer = csv.writer(edited)  # without row and document
        writer.writerows((row["text"], row["labels"]) for row in csv.DictReader(file))
    with open("edited.csv") as file:
        header = "text,labels\n" + file.read()
    (files / "edited.csv").write_text(header)
    again = json.loads(run("learn", "m.thresher", "edited.csv", *options, "--json"))
    assert again["categories"] == []
    assert Categorizer.load("m.thresher").categories_ == sorted(LABELS)


def test_known_labels_are_recognized_without_their_apostrophe():
    categories = Categories(["=a", "b", "'=c"])
    labels = categories.encode([["'=a"], ["=a", "'=a"], ["'=c"], ["'b"], ["'new"]], grow=True)
    assert categories.labels == ["=a", "b", "'=c", "'new"]
    assert [labels.indices[a:b].tolist() for a, b in pairwise(labels.indptr)] == [
        [0], [0], [2], [1], [3],
    ]  # fmt: skip


def test_apostrophes_of_other_tables_stay(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("text,label\n'=quoted',x\n'-b,y\n")
    texts = [text for batch in read_documents(path) for text in batch.texts.to_pylist()]
    assert texts == ["'=quoted'", "'-b"]
