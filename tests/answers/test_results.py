"""Results as tables: in files of three formats, in memory, with a row for every document."""

import csv
import gzip
import io
import json
import subprocess
import sys
from unittest import mock

import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from command import run, runner
from thresher import Categorizer, read_documents
from thresher.answers.answer import AnswerOptions
from thresher.answers.files import WRITERS
from thresher.answers.table import map_answers
from thresher.cli.main import app
from thresher.documents import streams
from thresher.errors import DocumentError, ParameterError
from thresher.model.source import LabelledSource

TEXTS = ["out of toner", "the monitor flickers", "cannot log in", "account is locked", "charged"]
TEAMS = ["hardware", "hardware", "access", "access", "billing"]
AWKWARD = (
    b"\xef\xbb\xbfid,subject,body,team\r\n"
    b'7,printer,"out of toner,\r\nand it ""jams""",hardware\r\n'
    b"8,ragged\r\n"
    b"\r\n"
    b"9,caf\xe9,cannot log in,access\r\n"
    b"10,,,\r\n"
    b"11,x,y,z,too,many\r\n"
    b'012,"a ""quoted"" one",charged,billing\r\n'
)
BAD_LINES = (
    '{"id": 1, "body": "toner", "tags": ["a", "b"]}\n'
    "no JSON\n"
    '{"id": "two", "body": {"x": 1}}\n'
    "[1]\n"
    "\n"
    '{"id": {"k": [1, null, NaN]}, "body": "charged"}\n'
    '{"body": 3, "tags": null}\n'
)


@pytest.fixture(scope="module")
def model():
    return Categorizer().fit(TEXTS, TEAMS)


@pytest.fixture(scope="module")
def several():
    lists = [["hardware"], ["hardware", "screens; old"], ["access"], ["access"], []]
    return Categorizer(mode="multi-label", objective=None).fit(TEXTS, lists)


@pytest.fixture
def saved(model, tmp_path):
    model.save(tmp_path / "m.thresher")
    return tmp_path / "m.thresher"


def columns_of(line, is_single_label=True):
    """Return a line of JSON as the columns of a table, which have the same values in a row."""
    scores, chances = line.pop("scores", None), line.pop("probabilities", None)
    ranking, note = line.pop("ranking", []), line.pop("note", None)
    if "labels" not in line:
        return line
    labels = line.pop("labels")
    first = labels[0] if labels else None
    line["labels"] = first if is_single_label else labels
    for name, table in (("score", scores), ("probability", chances)):
        if table is not None:
            line[f"thresher_{name}" if name in line else name] = table.get(first)
    for k, ranked in enumerate(ranking, 1):
        line |= {f"{name}_{k}": value for name, value in ranked.items()}
    if scores and len(scores) > len(labels):
        line |= {f"score:{name}": score for name, score in scores.items()}
    return line | {"note": note}


def rows_of(path):
    """Return the rows of a file of results by other means than ours, as dicts."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    if path.suffix in (".zst", ".bz2"):
        codec = {".zst": "zstd", ".bz2": "bz2"}[path.suffix]
        data = pa.input_stream(pa.BufferReader(data), compression=codec).read()
    if ".parquet" in path.name:
        return pa.parquet.read_table(io.BytesIO(data)).to_pylist()
    if ".jsonl" in path.name:
        return [columns_of(json.loads(line)) for line in data.decode().splitlines()]
    return list(csv.DictReader(io.StringIO(data.decode(), newline="")))


def cells(rows):
    """Return rows as CSV has them, to compare formats."""
    return [
        {
            name: "" if one is None else f"{one:.5f}" if isinstance(one, float) else str(one)
            for name, one in row.items()
        }
        for row in rows
    ]


# Reading -----------------------------------------------------------------------------------------


def everything(documents):
    """Return (place, values kept, reason) for every document, in order."""
    seen = []
    for batch in documents:
        columns = [
            x if isinstance(x, list) else x.to_pylist() for x in batch.extra_columns.values()
        ]
        kept = list(zip(*columns, strict=True)) if columns else [()] * len(batch)
        lines = [(batch.location(i), tuple(kept[i]), "") for i in range(len(batch))]
        for one in reversed(batch.skipped):
            lines.insert(one.before, (one.location, tuple(one.extra_values), one.reason))
        seen += lines
    return seen


@pytest.mark.parametrize("block", [16, 64, 1 << 20])
@pytest.mark.parametrize("size", [None, 1, 2])
def test_a_table_gives_columns_and_what_was_left_out_in_order(tmp_path, block, size):
    path = tmp_path / "a.csv"
    path.write_bytes(AWKWARD)
    with mock.patch.object(streams, "BLOCK", block):
        options = {"text": "body", "labels": False, "on_error": "skip", "batch_size": size}
        documents = read_documents(path, keep=["id", "body"], **options)
        seen = everything(documents)
        assert sum(len(batch) for batch in read_documents(path, **options)) == 4
    ragged = "the row has {} cells, the header 4"
    assert seen == [
        (f"{path}:2", ("7", 'out of toner,\r\nand it "jams"'), ""),
        (f"{path}:4", (None, None), ragged.format(2)),
        (f"{path}:6", ("9", "cannot log in"), ""),
        (f"{path}:7", ("10", ""), ""),
        (f"{path}:8", (None, None), ragged.format(6)),
        (f"{path}:9", ("012", "charged"), ""),
    ]
    assert documents.n_documents == 4 and documents.n_skipped == 2
    batches = list(documents)
    sizes = [len(batch) + len(batch.skipped) for batch in batches]
    assert [batch.n_before for batch in batches] == np.cumsum([0, *sizes])[:-1].tolist()
    places = [[batch.location(i) for i in range(len(batch))] for batch in batches]
    assert [batch.location_array().to_pylist() for batch in batches] == places


@pytest.mark.parametrize("block", [16, 64, 1 << 20])
def test_json_lines_give_values_as_they_are(tmp_path, block):
    path = tmp_path / "a.jsonl"
    path.write_text(BAD_LINES.replace("NaN", "2"))
    options = {"text": "body", "on_error": "skip"}
    with mock.patch.object(streams, "BLOCK", block):
        seen = everything(read_documents(path, keep=["id"], **options))
    assert [(place.removeprefix(f"{path}:"), *kept) for place, kept, _ in seen] == [
        ("1", 1), ("2", None), ("3", "two"), ("4", None), ("6", {"k": [1, None, 2]}), ("7", None),
    ]  # fmt: skip
    assert [bool(reason) for *_, reason in seen] == [False, True, True, True, False, False]


def test_what_is_left_out_before_the_first_object_is_told(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("1\n2\n3\n" * 10 + '{"text": "x", "id": 5}\n' + "4\n" * 10)
    with mock.patch.object(streams, "BLOCK", 16):
        batches = list(read_documents(path, on_error="skip", keep=["id"]))
        assert all(len(batch) for batch in read_documents(path, on_error="skip"))
    assert sum(len(batch.skipped) for batch in batches) == 40
    assert [place for place, kept, _ in everything(batches) if kept == (5,)] == [f"{path}:31"]


def test_fast_and_slow_readers_keep_the_same(tmp_path):
    """One line that Python alone reads, and the others of its block are read by it too."""
    lines = [{"text": f"t{i}", "id": i, "f": i / 3, "tags": ["x", str(i)], "b": None}
             for i in range(9)]  # fmt: skip
    names = ["f", "id", "tags", "text", "b"]
    for end in ["", '{"text": 5}\n']:
        path = tmp_path / f"a{len(end)}.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in lines) + end)
        kept = [kept for _, kept, _ in everything(read_documents(path, text="text", keep=names))]
        assert kept[:9] == [tuple(one[name] for name in names) for one in lines]


def test_folders_and_mail_keep_what_they_have(tmp_path):
    (tmp_path / "in" / "spam").mkdir(parents=True)
    message = b"From: a@b.example\nSubject: pills\n\ncheap\n"
    (tmp_path / "in" / "spam" / "1.eml").write_bytes(message)
    (tmp_path / "in" / "spam" / "2.csv").write_bytes(b"text\n")
    (tmp_path / "in" / "README").write_bytes(b"no mail")
    options = {"keep": ["from", "labels", "body"], "on_error": "skip"}
    seen = everything(read_documents(tmp_path / "in", **options))
    assert [(place.rpartition("/")[2], kept) for place, kept, _ in seen] == [
        ("README", (None, None, None)),
        ("1.eml", ("a@b.example", ["spam"], "cheap\n")),
        ("2.csv", (None, None, None)),
    ]
    assert [bool(reason) for *_, reason in seen] == [True, False, True]
    mailbox = tmp_path / "a.mbox"
    mailbox.write_bytes(b"From x Mon Nov 16 10:00:00 2026\n" + message)
    assert everything(read_documents(mailbox, keep=["Subject"]))[0][1] == ("pills",)
    (tmp_path / "a.ft").write_text("__label__x __label__y some words\n")
    assert everything(read_documents(tmp_path / "a.ft", keep=["labels", "text"], labels=False)) == [
        (f"{tmp_path / 'a.ft'}:1", (["x", "y"], "some words"), "")
    ]
    for path, name in [(tmp_path / "in", "date"), (mailbox, "subjekt"), (tmp_path / "a.ft", "id")]:
        with pytest.raises(DocumentError, match=f'has no column "{name}"; its columns are'):
            list(read_documents(path, keep=[name]))


# Files -------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "block"),
    [
        *(("csv", 64), ("jsonl", 64), ("parquet", 64)),
        *(("csv.gz", 1 << 20), ("jsonl.zst", 1 << 20), ("jsonl.bz2", 1 << 20)),
    ],
)
def test_an_awkward_table_joined_with_its_results(model, saved, tmp_path, ending, block):
    data, path = tmp_path / "a.csv", tmp_path / f"r.{ending}"
    data.write_bytes(AWKWARD)
    options = ["--text", "body", "--on-error", "skip", "--keep", "id, subject", "--top", "2"]
    with mock.patch.object(streams, "BLOCK", block):
        assert "6 rows" in run("predict", saved, data, *options, "-o", path)
    rows = cells(rows_of(path))
    assert list(rows[0]) == [
        *("row", "document", "id", "subject", "labels", "score"),
        *("label_1", "score_1", "label_2", "score_2", "note"),
    ]
    # By the line, as the place has it, all rows meet theirs; by the identifier, those read.
    lines = [int(row["document"].rpartition(":")[2]) for row in rows]
    assert lines == [2, 4, 6, 7, 8, 9] and [row["row"] for row in rows] == list("123456")
    texts = {
        "7": 'out of toner,\r\nand it "jams"',
        "9": "cannot log in",
        "10": "",
        "012": "charged",
    }
    read = [row for row in rows if row["id"]]
    assert [row["id"] for row in read] == list(texts)
    assert read[1]["subject"] == "caf\N{REPLACEMENT CHARACTER}"
    for row, label, ranked in zip(
        read, model.predict(list(texts.values())), model.rank(list(texts.values()), 2), strict=True
    ):
        assert row["labels"] == label == row["label_1"] == ranked[0][0]
        assert row["label_2"] == ranked[1][0]
        assert row["score_2"][:6] == f"{ranked[1][1]:.5f}"[:6]
    assert [row["note"] for row in rows] == [
        *("", "skipped: the row has 2 cells, the header 4", "", "no text"),
        *("skipped: the row has 6 cells, the header 4", ""),
    ]


def test_the_three_formats_hold_the_same(saved, tmp_path):
    data = tmp_path / "a.jsonl"
    data.write_text(BAD_LINES)
    rows = {}
    for ending in ["csv", "jsonl", "parquet"]:
        path = tmp_path / f"r.{ending}"
        options = ["--text", "body", "--on-error", "skip", "--keep", "id", "--scores"]
        run("predict", saved, data, *options, "-o", path)
        rows[ending] = rows_of(path)
    assert rows["jsonl"][4]["id"] == {"k": [1, None, None]}  # JSON has no NaN
    assert [row["id"] for row in rows["parquet"]][:3] == ["1", None, "two"]
    for row in rows["jsonl"]:
        row["id"] = json.dumps(row["id"]) if isinstance(row["id"], dict) else row["id"]
    single = [{k: np.float32(v) if type(v) is float else v for k, v in row.items()}
              for row in rows["jsonl"]]  # fmt: skip
    for row, other in zip(single, rows["parquet"], strict=True):
        scores = [name for name in row if name.startswith("score")]
        assert [row[name] for name in scores] == [other[name] for name in scores]
    assert cells(rows["jsonl"])[2]["note"].startswith('skipped: "body": an object stands')
    assert [cells(rows[one])[0]["labels"] for one in rows] == ["hardware"] * 3
    assert [row["note"] for row in cells(rows["csv"])] == [r["note"] for r in cells(rows["jsonl"])]


@pytest.mark.parametrize("mode", ["single-label", "multi-label"])
def test_an_answer_has_the_same_words_and_numbers_everywhere(mode, tmp_path):
    """In Python, as JSON, in files, in a table in memory and on a line of text."""
    labels = TEAMS if mode == "single-label" else [[team, f"{team}?"] for team in TEAMS]
    model = Categorizer(mode=mode, calibrate="sigmoid", tune_folds=2).fit(TEXTS * 4, labels * 4)
    texts = ["out of toner", "", "locked, charged"]
    model.save(tmp_path / "m")
    data = tmp_path / "d.jsonl"
    data.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    source = LabelledSource(read_documents(data), None, None, None, lambda *progress: None)
    options = AnswerOptions(top=2, scores=True, probabilities=True)
    answers = next(map_answers(list, model.shared_, source, options))
    assert [answer.labels for answer in answers] == [
        labels if isinstance(labels, list) else [labels] for labels in model.predict(texts)
    ]
    lines = [answer.to_dict() for answer in answers]
    assert [line.get("note") for line in lines] == [None, "no text", None]
    words = ["predict", tmp_path / "m", data, "--scores", "--probabilities"]
    assert [json.loads(line)["scores"] for line in run(*words, "--json").splitlines()] == [
        line["scores"] for line in lines
    ]
    ranked = run("rank", tmp_path / "m", data, "--top", 2, "--probabilities", "--json")
    assert [json.loads(line)["ranking"] for line in ranked.splitlines()] == [
        line["ranking"] for line in lines
    ]
    run(*words, "--top", 2, "-o", tmp_path / "r.jsonl")
    written = map(json.loads, (tmp_path / "r.jsonl").read_text().splitlines())
    assert [*written] == [{"row": i} | line for i, line in enumerate(lines, 1)]
    for line, answer in zip(run(*words).split("\n"), answers, strict=False):
        assert line == "\t".join(
            f"{name} {answer.scores[name]:+.3f} {answer.probabilities[name]:.3f}"
            for name in answer.labels
        )
    expected = [columns_of(line, mode == "single-label") for line in lines]
    run(*words, "--top", 2, "-o", tmp_path / "r.parquet")
    in_memory = model.predict_table(read_documents(data), top=2, scores=True, probabilities=True)
    for table in (pa.parquet.read_table(tmp_path / "r.parquet"), in_memory):
        for row, columns in zip(table.to_pylist(), expected, strict=True):
            for name in columns.keys() & row.keys() - {"document"}:
                value = columns[name]
                is_single = name.startswith("score") and value is not None
                assert row[name] == (np.float32(value) if is_single else value), name
            assert columns.keys() - row.keys() <= {"document"}
            extra = {f"probability:{name}" for name in model.categories_}
            assert row.keys() - columns.keys() <= {"row", "document", *extra}


def test_parquet_keeps_types_and_rows_without_text(saved, model, tmp_path):
    when = pa.array([1, 2, None], pa.timestamp("s"))
    table = pa.table({"text": ["toner", None, "charged"], "id": [5, None, 7], "when": when,
                      "tags": [["a"], None, ["b", "c"]]})  # fmt: skip
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    options = ["--keep", "id,when,tags,text"]
    run("predict", saved, tmp_path / "a.parquet", *options, "-o", tmp_path / "r.parquet")
    results = pa.parquet.read_table(tmp_path / "r.parquet")
    for name in ["id", "when", "tags"]:
        assert results[name].to_pylist() == table[name].to_pylist()
    assert results["id"].type == pa.int64() and pa.types.is_timestamp(results["when"].type)
    assert results["text"].to_pylist() == ["toner", None, "charged"]
    assert results["labels"].to_pylist() == model.predict(["toner", "", "charged"])
    np.testing.assert_array_equal(
        results["score"], model.scores(["toner", "", "charged"]).max(axis=1)
    )
    assert results["note"].to_pylist() == [None, "no text", None]
    assert results["row"].to_pylist() == [1, 2, 3]
    for ending in ["csv", "jsonl"]:
        run("predict", saved, tmp_path / "a.parquet", *options, "-o", tmp_path / f"r.{ending}")
        first = rows_of(tmp_path / f"r.{ending}")[0]
        assert str(first["id"]) == "5" and first["when"].startswith("1970-01-01 00:00:01")
        assert first["tags"] in (["a"], '["a"]')


def test_odd_columns_of_parquet_are_kept(saved, tmp_path):
    nanoseconds = pa.array([1], pa.int64()).cast(pa.timestamp("ns"))
    broken = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(np.array([0, 2], np.int32)), pa.py_buffer(b"a\xff")]
    )
    table = pa.table({
        "text": ["toner"], "when": nanoseconds, "broken": broken, "bytes": [b"b\xff"],
        "kind": pa.array(["x"]).dictionary_encode(), "nothing": pa.nulls(1), "nan": [float("nan")],
    })  # fmt: skip
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    options = ["--keep", ",".join(table.column_names)]
    for ending in ["csv", "jsonl", "parquet"]:
        path = tmp_path / f"r.{ending}"
        run("predict", saved, tmp_path / "a.parquet", *options, "-o", path)
        (row,) = rows_of(path)
        assert row["broken"] == "a\N{REPLACEMENT CHARACTER}" and row["kind"] == "x"
        assert row["bytes"] in ("b\N{REPLACEMENT CHARACTER}", b"b\xff")
        assert not row["nothing"]
        if ending != "parquet":
            assert row["when"] == "1970-01-01 00:00:00.000000001"
            assert row["nan"] in (None, "nan")


def test_a_column_of_two_types_is_no_parquet(saved, tmp_path):
    data, path = tmp_path / "a.jsonl", tmp_path / "r.parquet"
    lines = [{"text": "toner", "id": i if i < 50 else f"x{i}"} for i in range(99)]
    data.write_text("".join(json.dumps(one) + "\n" for one in lines))
    path.write_text("what was there before")
    with mock.patch.object(streams, "BLOCK", 256):
        problem = run("predict", saved, data, "--keep", "id", "-o", path, status=2)
        assert 'column "id" to keep is of type int64 at first' in problem
        assert path.read_text() == "what was there before"
        for ending in ["csv", "jsonl"]:
            run("predict", saved, data, "--keep", "id", "-o", tmp_path / f"r.{ending}")
            ids = [row["id"] for row in rows_of(tmp_path / f"r.{ending}")]
            assert list(map(str, ids)) == [str(one["id"]) for one in lines]
    assert sorted(one.name for one in tmp_path.iterdir()) == [
        *("a.jsonl", "m.thresher", "r.csv", "r.jsonl", "r.parquet"),
    ]


def test_several_labels_are_read_back(several, tmp_path):
    several.save(tmp_path / "m")
    (tmp_path / "a.txt").write_text("\n".join([*TEXTS, "zebra"]) + "\n")
    expected = several.predict([*TEXTS, "zebra"])
    assert max(map(len, expected)) > 1 and min(map(len, expected)) == 0
    for ending in ["csv", "jsonl", "parquet"]:
        path = tmp_path / f"r.{ending}"
        run("predict", tmp_path / "m", tmp_path / "a.txt", "-o", path)
        documents = read_documents(path, text="document", labels="labels", label_separator="|")
        assert [labels for batch in documents for labels in batch.labels] == expected
    line = (tmp_path / "r.jsonl").read_text().splitlines()[1]
    assert json.loads(line)["labels"] == expected[1]


def test_labels_that_cannot_stand_in_one_cell(tmp_path):
    lists = [["a|b"], ["c;d", "e,f"], ["c;d"], ["a|b"], ["e,f"]]
    Categorizer().fit(TEXTS, lists).save(tmp_path / "m")
    run("predict", tmp_path / "m", "-", "-o", tmp_path / "r.jsonl", input="toner\n")
    problem = run("predict", tmp_path / "m", "-", "-o", tmp_path / "r.csv", input="t\n", status=2)
    assert "write .jsonl or .parquet" in problem and not (tmp_path / "r.csv").exists()


def test_rank_gives_probabilities_too(tmp_path):
    categorizer = Categorizer(calibrate="sigmoid", tune_folds=2).fit(TEXTS[:4] * 5, TEAMS[:4] * 5)
    categorizer.save(tmp_path / "m")
    (tmp_path / "d.jsonl").write_text("".join(json.dumps({"text": one}) + "\n" for one in TEXTS))
    words = "rank", tmp_path / "m", tmp_path / "d.jsonl", "--probabilities"
    chances, (best, *_) = categorizer.predict_proba(TEXTS), categorizer.rank(TEXTS, top=1)
    number = categorizer.categories_.index(best[0][0])
    first = json.loads(run(*words, "--json", "--top", "2").splitlines()[0])["ranking"]
    assert len(first) == 2
    assert np.float32(first[0].pop("score")) == np.float32(best[0][1])
    assert first[0] == {"label": best[0][0], "probability": chances[0, number]}
    assert run(*words).startswith(f"{best[0][0]} {best[0][1]:+.3f} {chances[0, number]:.3f}\t")
    run(*words, "--top", "1", "-o", tmp_path / "r.parquet")
    table = pa.parquet.read_table(tmp_path / "r.parquet")
    assert table["probability_1"].to_pylist() == chances.max(1).tolist()
    of_one = *words, "--category", best[0][0], "--top", "3"
    documents = [json.loads(line) for line in run(*of_one, "--json").splitlines()]
    expected = sorted(chances[:, number], reverse=True)[:3]
    assert [one["probabilities"] for one in documents] == [{best[0][0]: p} for p in expected]
    score = documents[0]["scores"][best[0][0]]
    assert run(*of_one).split("\t")[0] == f"{score:+.3f} {expected[0]:.3f}"
    run(*of_one, "-o", tmp_path / "c.parquet")
    table = pa.parquet.read_table(tmp_path / "c.parquet")
    assert table["probability"].to_pylist() == expected
    Categorizer().fit(TEXTS[:4], TEAMS[:4]).save(tmp_path / "plain")
    assert "probabilities" in run(*("rank", tmp_path / "plain", "-", "--probabilities"), status=2)


def test_probabilities_stand_beside_scores(tmp_path):
    categorizer = Categorizer(calibrate="sigmoid", tune_folds=2).fit(TEXTS[:4], TEAMS[:4])
    categorizer.save(tmp_path / "m")
    options = ["--probabilities", "--scores", "--top", "9", "-o", tmp_path / "r.parquet"]
    run("predict", tmp_path / "m", "-", *options, input="out of toner\nlocked\n")
    table = pa.parquet.read_table(tmp_path / "r.parquet")
    chances = categorizer.predict_proba(["out of toner", "locked"])
    assert [name for name in table.column_names if "probability" in name] == [
        *("probability", "probability_1", "probability_2"),
        *("probability:access", "probability:hardware"),
    ]
    np.testing.assert_array_equal(table["probability:access"], chances[:, 0])
    np.testing.assert_array_equal(table["probability_1"], chances.max(axis=1))
    plain = run("predict", tmp_path / "m", "-", "--scores", "--probabilities", input="locked\n")
    score, chance = categorizer.scores(["locked"])[0, 0], chances[1, 0]
    assert plain == f"access {score:+.3f} {chance:.3f}\n"


def test_a_probability_has_all_its_digits_everywhere(tmp_path):
    path, data, added = tmp_path / "m", tmp_path / "d.jsonl", tmp_path / "a.jsonl"
    categorizer = Categorizer(calibrate="sigmoid", tune_folds=2).fit(TEXTS[:4] * 5, TEAMS[:4] * 5)
    categorizer.save(path)
    data.write_text('{"text": "locked out of toner"}\n')
    chance = categorizer.predict_proba(["locked out of toner"])[0, 0]
    assert chance != round(chance, 4)
    line = run("predict", path, data, "--json", "--probabilities", "--scores")
    assert json.loads(line)["probabilities"]["access"] == chance
    run("filter", path, data, "--category", "access", "--add", "p", "-o", added)
    assert json.loads(added.read_text())["p"] == chance


def test_own_columns_make_room_for_kept_ones(saved, tmp_path):
    data, path = tmp_path / "a.csv", tmp_path / "r.csv"
    data.write_text("text,score,row\ntoner,5,x\n")
    run("predict", saved, data, "--keep", "score,row", "-o", path)
    (row,) = rows_of(path)
    assert list(row) == [
        *("thresher_row", "document", "score", "row", "labels", "thresher_score", "note"),
    ]
    assert (row["score"], row["row"], row["thresher_row"]) == ("5", "x", "1")


@pytest.mark.parametrize("name", ["r.xlsx", "r", "r.gz", "r.parquet.gz", "r.csv.xz"])
def test_an_unknown_ending_names_those_known(saved, tmp_path, name):
    problem = run("predict", saved, "-", "-o", tmp_path / name, input="toner\n", status=2)
    assert "ends with .csv, .jsonl, .parquet" in problem and problem.count("\n") == 1


@pytest.mark.parametrize("verb", ["predict", "rank"])
def test_what_needs_a_file_says_so(saved, verb, tmp_path):
    assert "--keep needs -o FILE" in run(verb, saved, "-", "--keep", "id", input="x\n", status=2)
    problem = run(verb, saved, "-", "-o", tmp_path / "no" / "r.csv", input="x\n", status=2)
    assert "does not exist" in problem
    data = tmp_path / "a.csv"
    data.write_text("text,title\nx,y\n")
    options = ["--keep", "titel", "-o", tmp_path / "r.csv"]
    assert 'did you mean "title"?' in run(verb, saved, data, *options, status=2)
    assert not (tmp_path / "r.csv").exists()


def test_nothing_to_read_is_a_table_without_rows(saved, tmp_path):
    for ending in ["csv", "jsonl", "parquet"]:
        path = tmp_path / f"r.{ending}"
        printed = run("predict", saved, "-", "-o", path, "--keep", "text", "--json", input="")
        assert json.loads(printed) == {"output": str(path), "rows": 0}
        assert rows_of(path) == []
    assert (tmp_path / "r.csv").read_text().startswith('"row","document","text","labels"')


def test_an_error_on_the_way_leaves_no_file(saved, tmp_path):
    data, path = tmp_path / "a.csv", tmp_path / "r.csv"
    data.write_bytes(b"text\n" + b"toner\n" * 99 + b"toner,x\n")
    with mock.patch.object(streams, "BLOCK", 64):
        assert "a.csv:101: the row has 2 cells" in run("predict", saved, data, "-o", path, status=2)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.csv", "m.thresher"]


def test_results_need_no_pandas(saved, tmp_path):
    (tmp_path / "a.txt").write_text("out of toner\n\n")
    words = ["predict", saved, tmp_path / "a.txt", "--keep", "text", "--top", "2"]
    code = (
        "import sys\n"
        "from thresher.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    status = end.code\n"
        "sys.exit(status or 'pandas' in sys.modules)"
    )
    path = tmp_path / "r.csv"
    subprocess.run([sys.executable, "-c", code, *map(str, words), "-o", path], check=True)
    assert [row["note"] for row in rows_of(path)] == ["", "no text"]


def lines_of(table):
    """Return a table as the file of JSON lines that is written of it."""
    writer = WRITERS[".jsonl"](io.BytesIO(), None, ())
    writer.write(writer.prepare_table(table))
    return writer._sink.getvalue().decode().split("\n")[:-1]


def finite(value):
    """Return a number as it stands in JSON, where a single one is as short as it can be."""
    return float(str(value)) if value is not None and np.isfinite(value) else None


SINGLE = st.floats(width=32) | st.sampled_from([1.0, -0.0, 1e-4, 9.999e-5, 1e9, 1e10, 1e16, 1e-7])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(-1e300, 1e300),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
ROWS = st.lists(
    st.tuples(
        st.integers(-(2**63), 2**63 - 1) | st.none(),
        SINGLE | st.none(),
        st.floats() | st.none(),
        st.text() | st.none(),
        st.lists(st.text() | st.sampled_from(["grain", 'say "no"', "\\", "\n\x00\x7f\u2028"])),
        JSON,
    ),
    max_size=5,
)


@pytest.mark.slow
@given(ROWS, st.text())
def test_json_lines_are_those_of_python(rows, name):
    whole, single, double, texts, lists, values = (
        map(list, zip(*rows, strict=True)) if rows else ([] for _ in range(6))
    )
    single = [None if one is None else np.float32(one) for one in single]
    table = {
        f"whole{name}": pa.array(whole, pa.int64()),
        "single": pa.array(single, pa.float32()),
        "double": pa.array(double, pa.float64()),
        "text": pa.array(texts, pa.string()),
        "lists": pa.array(lists, pa.list_(pa.string())),
        "later": pa.array([["before"], *lists], pa.list_(pa.string())).slice(1),
        "repeated": pa.array(texts, pa.string()).dictionary_encode(),
        "values": values,
    }
    single, double = ([*map(finite, column)] for column in (single, double))
    columns = zip(whole, single, double, texts, lists, lists, texts, values, strict=True)
    expected = [dict(zip(table, row, strict=True)) for row in columns]
    dumped = [json.dumps(one, ensure_ascii=False) for one in expected]
    assert lines_of(table) == dumped


def test_odd_values_stand_in_json_lines_as_json_has_them():
    nowhere = float("nan")
    table = {
        "list": pa.array([["a", None], None, []], pa.list_(pa.string())),
        "deep": pa.array([[[1], []], [], [[2, 3]]]),
        "numbers": pa.array([[0.5, nowhere], [1.0], []]),
        "flag": pa.array([True, None, False]),
        "large": pa.array([2**64 - 1, None, 0], pa.uint64()),
        "nothing": pa.nulls(3),
        'half \ud800 "key"': [{"\ud800": ["\udc00", nowhere]}, (1, 2), 10**30],
    }
    assert lines_of(table) == [
        '{"list": ["a", null], "deep": [[1], []], "numbers": [0.5, null], "flag": true, '
        '"large": 18446744073709551615, "nothing": null, '
        '"half \\ud800 \\"key\\"": {"\\ud800": ["\N{REPLACEMENT CHARACTER}", null]}}',
        '{"list": null, "deep": [], "numbers": [1.0], "flag": null, "large": null, '
        '"nothing": null, "half \\ud800 \\"key\\"": [1, 2]}',
        '{"list": [], "deep": [[2, 3]], "numbers": [], "flag": false, "large": 0, '
        f'"nothing": null, "half \\ud800 \\"key\\"": {10**30}}}',
    ]
    damaged = pa.array([b"caf\xe9", b"plain", None]).cast(pa.binary()).view(pa.string())
    assert lines_of({"text": damaged})[0] == '{"text": "caf\N{REPLACEMENT CHARACTER}"}'


@pytest.mark.parametrize(
    "more", [["-o", "r.csv"], ["-o", "r.jsonl"], ["-o", "r.parquet"], ["--json"], []]
)
def test_any_number_of_threads_gives_the_same_bytes(several, tmp_path, monkeypatch, more):
    several.save(tmp_path / "m.thresher")
    (tmp_path / "a.jsonl").write_text(BAD_LINES * 30)
    monkeypatch.chdir(tmp_path)
    words = ["predict", "m.thresher", "a.jsonl", "--text", "body", "--on-error", "skip", *more]
    given = []
    for block, threads in ((1 << 20, 1), (150, 1), (150, 2), (150, 5)):
        with mock.patch.object(streams, "BLOCK", block):
            printed = run(*words, "--threads", threads)
        table = rows_of(tmp_path / more[1]) if len(more) > 1 else None
        given.append((printed, table))
    assert given[1:] == given[:1] * 3


@pytest.mark.parametrize("threads", [1, 3])
def test_what_goes_wrong_with_a_row_is_told_and_leaves_no_file(saved, tmp_path, threads):
    odd = pa.array([b"fine"] * 40 + [b"caf\xe9"]).cast(pa.binary()).view(pa.string())
    nested = pa.StructArray.from_arrays([odd], ["name"])
    table = pa.table({"text": ["toner"] * 41, "odd": nested})
    pa.parquet.write_table(table, tmp_path / "a.parquet", row_group_size=4)
    target = tmp_path / "r.jsonl"
    words = ["predict", saved, tmp_path / "a.parquet", "--keep", "odd", "-o", target]
    refused = runner.invoke(app, [*map(str, words), "--threads", str(threads)])
    assert refused.exit_code == 2 and "not valid UTF-8" in refused.stderr
    assert not target.exists() and len(list(tmp_path.iterdir())) == 2


# Lines -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", [16, 1 << 20])
def test_there_is_a_line_for_every_document(saved, tmp_path, block):
    data = tmp_path / "a.jsonl"
    data.write_text(BAD_LINES)
    options = [saved, data, "--text", "body", "--on-error", "skip"]
    with mock.patch.object(streams, "BLOCK", block):
        plain = run("predict", *options).split("\n")
        ranked = run("rank", *options, "--top", "1").split("\n")
        objects = [json.loads(one) for one in run("predict", *options, "--json").splitlines()]
        rankings = [json.loads(one) for one in run("rank", *options, "--json").splitlines()]
    assert len(plain) == len(ranked) == 7
    assert plain[0] == "hardware" and ranked[0].startswith("hardware +")
    for lines in (plain, ranked):
        assert lines[1] == "\tskipped: invalid JSON (Expecting value: character 1)"
        assert [line.startswith("\tskipped: ") for line in lines[:-1]] == [
            *(False, True, True, True, False, False),
        ]
    places = [f"{data}:{line}" for line in (1, 2, 3, 4, 6, 7)]
    for lines, name in ((objects, "labels"), (rankings, "ranking")):
        assert [one["document"] for one in lines] == places
        assert lines[1][name] == [] and lines[1]["note"] == plain[1].strip()
        assert "note" not in lines[0] and lines[0][name]


def test_top_on_a_line_is_the_business_of_rank(saved):
    assert "thresher rank" in run("predict", saved, "-", "--top", "2", input="x\n", status=2)


# Ranked documents --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_the_best_documents_of_a_category_as_a_table(saved, model, tmp_path, ending):
    data, path = tmp_path / "a.csv", tmp_path / f"r.{ending}"
    texts = ["toner", "monitor", "locked", "charged", "toner"]
    lines = [f"{i},{text}" for i, text in enumerate(texts)]
    data.write_text("\n".join(["id,text", *lines[:2], "9,x,y", *lines[2:]]) + "\n")
    options = ["--category", "hardware", "--top", "3", "--on-error", "skip", "--keep", "id"]
    assert "3 rows" in run("rank", saved, data, *options, "-o", path)
    rows = rows_of(path)
    scores = model.scores(texts)[:, model.categories_.index("hardware")]
    best = np.argsort(-scores, kind="stable")[:3]
    assert [int(row["id"]) for row in rows] == best.tolist()
    assert [int(row["row"]) for row in rows] == [i + 1 + (i >= 2) for i in best]
    assert [row["text"] for row in rows] == [texts[i] for i in best]
    np.testing.assert_array_equal([np.float32(row["score"]) for row in rows], scores[best])


# In memory ---------------------------------------------------------------------------------------


def test_a_data_frame_gives_one_with_its_index(model):
    texts = ["toner", None, float("nan"), "charged", "locked"]
    frame = pandas.DataFrame({"label": 1, "text": texts}, index=[3, 3, "x", 0, -1])
    results = model.predict_table(frame, text="text", top=2, scores=True)
    assert results.index.equals(frame.index)
    assert results["labels"].tolist() == model.predict(["toner", "", "", "charged", "locked"])
    assert results["note"].isna().tolist() == [True, False, False, True, True]
    scores = model.scores(["toner", "", "", "charged", "locked"])
    names = [f"score:{name}" for name in model.categories_]
    np.testing.assert_array_equal(results[names].to_numpy(), scores)
    np.testing.assert_array_equal(results["score_1"], scores.max(axis=1))
    assert len(pandas.concat([frame, results], axis=1)) == 5
    column = model.predict_table(frame["text"])
    assert column.equals(results[["labels", "score", "note"]])
    assert model.predict_table(frame.iloc[:0]).index.equals(frame.index[:0])
    with pytest.raises(DocumentError, match='has no column "texd"'):
        model.predict_table(frame, text="texd")


def test_what_was_left_out_has_its_row_in_memory_too(model, tmp_path):
    (tmp_path / "a.csv").write_text("text\ntoner\na,b\n\ncharged\n")
    documents = read_documents(tmp_path / "a.csv", on_error="skip", keep=())
    results = model.predict_table(documents)
    assert results["labels"].to_pylist() == ["hardware", None, "billing"]
    assert results["note"].to_pylist() == [
        *(None, "skipped: the row has 2 cells, the header 1", None),
    ]


def test_several_labels_in_a_data_frame_are_lists(several):
    frame = pandas.DataFrame({"text": [*TEXTS, "zebra"]})
    assert several.predict_table(frame)["labels"].tolist() == several.predict(list(frame.text))


def test_an_arrow_table_gives_one_of_many_batches(model, several):
    table = pa.table({"text": pa.chunked_array([TEXTS, [None], TEXTS * 20])})
    results = model.predict_table(table)
    assert isinstance(results, pa.Table) and results.num_rows == table.num_rows
    assert results["labels"].to_pylist() == model.predict([*TEXTS, "", *TEXTS * 20])
    assert results["note"].null_count == table.num_rows - 1
    assert model.predict_table(table.to_batches()[0])["labels"].to_pylist() == TEAMS
    assert several.predict_table(table)["labels"].type == pa.list_(pa.string())
    assert model.predict_table(TEXTS).equals(model.predict_table(table.slice(0, 5)))


def test_a_frame_of_polars_gives_one(model, several):
    frame = polars.DataFrame({"id": range(5), "text": [*TEXTS[:4], None]})
    results = model.predict_table(frame, top=1)
    assert isinstance(results, polars.DataFrame)
    assert results["labels"].to_list() == model.predict([*TEXTS[:4], ""])
    assert results["note"].to_list() == [None] * 4 + ["no text"]
    assert polars.concat([frame, results], how="horizontal").shape == (5, 7)
    column = model.predict_table(frame["text"])
    assert column.equals(results[["labels", "score", "note"]])
    assert model.predict_table(frame[:0]).schema == column.schema
    lists = several.predict_table(frame)["labels"].to_list()
    assert lists == several.predict(frame) == several.predict(frame["text"])


CELLS = ["toner", "screens|toner", "screens", "access", "access"]
POLARS = [polars.String, polars.Categorical, polars.Enum(sorted(set(CELLS)))]


@pytest.mark.parametrize("kind", POLARS, ids=str)
def test_a_frame_of_polars_is_learned_from_like_one_of_pandas(kind):
    frame = polars.DataFrame({"text": [*TEXTS[:4], None], "label": CELLS})
    typed = frame.with_columns(polars.col("label").cast(kind))
    wanted = Categorizer(objective=None).fit(pandas.DataFrame(frame.to_dict(as_series=False)))
    assert wanted.categories_ == ["access", "screens", "toner"]
    model = Categorizer(objective=None).fit(typed)
    np.testing.assert_array_equal(model.scores(typed), wanted.scores([*TEXTS[:4], ""]))
    assert model.evaluate(typed).micro == wanted.evaluate(frame).micro
    model.learn(typed)
    wanted.learn(frame)
    np.testing.assert_array_equal(model.scores(TEXTS), wanted.scores(TEXTS))


@pytest.mark.parametrize("kind", POLARS, ids=str)
def test_columns_of_polars_are_texts_and_labels(kind):
    texts = polars.Series(TEXTS)
    one = Categorizer().fit(texts, polars.Series(TEAMS).cast(polars.Categorical))
    assert one.predict(texts) == Categorizer().fit(TEXTS, TEAMS).predict(TEXTS)
    lists = [cell.split("|") for cell in CELLS]
    wanted = Categorizer(objective=None).fit(TEXTS, lists)
    column = polars.Series(lists, dtype=polars.List(kind))
    model = Categorizer(objective=None).fit(texts, column)
    np.testing.assert_array_equal(model.scores(texts), wanted.scores(TEXTS))
    assert model.evaluate(texts, column).micro == wanted.evaluate(TEXTS, lists).micro
    table = polars.DataFrame({"text": texts, "labels": column})
    assert Categorizer(objective=None).fit(table).categories_ == wanted.categories_


def test_a_data_frame_of_zeros_and_ones_is_a_matrix_of_them():
    matrix = np.eye(3, dtype=int)[[0, 0, 1, 1, 2]]
    wanted = Categorizer().fit(TEXTS, matrix).predict(TEXTS)
    for frame in (pandas.DataFrame(matrix, columns=list("abc")), polars.DataFrame(matrix)):
        np.testing.assert_array_equal(Categorizer().fit(TEXTS, frame).predict(TEXTS), wanted)


def test_views_of_texts_are_texts():
    names = [["text", "label"], [TEXTS, CELLS]]
    views = pa.table([pa.array(one, pa.string_view()) for one in names[1]], names=names[0])
    try:
        views["text"].cast(pa.string())
    except pa.ArrowNotImplementedError:
        pytest.skip("this pyarrow makes no texts of views")
    plain = pa.table(names[1], names=names[0])
    assert [batch.labels for batch in read_documents(views)] == [
        batch.labels for batch in read_documents(plain)
    ]


def test_what_is_no_table_is_refused_with_a_remedy():
    for column in (pa.array(TEXTS), polars.Series(TEXTS)):
        kind = type(column).__name__
        with pytest.raises(DocumentError, match=f"from {kind}, which is no table; give a list"):
            read_documents(column)
    with pytest.raises(DocumentError, match=r"from LazyFrame; collect\(\) it, or give a path"):
        read_documents(polars.LazyFrame({"text": TEXTS}))


def test_whole_numbers_stay_whole_numbers():
    results = Categorizer().fit(TEXTS, [1, 1, 2, 2, 3]).predict_table(pa.table({"text": TEXTS}))
    assert results["labels"].type == pa.int64()
    assert results["labels"].to_pylist() == [1, 1, 2, 2, 3]


def test_missing_texts_in_a_column_are_as_in_a_table(model):
    for texts in (["toner", None], [float("nan"), "toner"], [None, None], [pandas.NA, "toner"]):
        column = pandas.Series(texts, dtype=object)
        assert model.predict(column) == model.predict(pandas.DataFrame({"text": column}))
    np.testing.assert_array_equal(
        model.scores(np.array(["toner", None], object)), model.scores(["toner", ""])
    )
    assert model.predict(["toner", None]) == model.predict(["toner", ""])
    with pytest.raises(DocumentError, match="document 2: is int, where a text is expected"):
        model.predict(["toner", 5])


@pytest.mark.parametrize(
    "column", [pa.array, lambda texts: pa.chunked_array([texts[:2], texts[2:]])]
)
def test_arrow_arrays_are_texts_and_labels(column):
    batch = next(iter(read_documents(pa.table({"text": TEXTS, "label": TEAMS}))))
    assert isinstance(batch.texts, pa.Array)
    listed = Categorizer().fit(TEXTS, TEAMS)
    arrow = Categorizer().fit(column(TEXTS), column(TEAMS))
    for texts in (batch.texts, column(TEXTS)):
        assert arrow.predict(texts) == listed.predict(TEXTS)
        np.testing.assert_array_equal(arrow.scores(texts), listed.scores(TEXTS))
        arrow.learn(texts, column(["new", *TEAMS[1:]]))
        listed.learn(TEXTS, ["new", *TEAMS[1:]])
    np.testing.assert_array_equal(arrow.scores(TEXTS), listed.scores(TEXTS))
    assert arrow.predict(column([None, "toner"])) == arrow.predict(["", "toner"])


def test_the_help_names_the_options():
    printed = runner.invoke(app, ["predict", "--help"], env={"COLUMNS": "200"}).stdout
    for option in ("--output", "--keep", "--top", ".parquet"):
        assert option in printed


@pytest.mark.parametrize("top", [-1, 2.5, "all"])
def test_how_many_of_the_best_is_a_number(top):
    categorizer = Categorizer().fit(TEXTS, TEAMS)
    for ask in (categorizer.rank, categorizer.predict_table):
        with pytest.raises(ParameterError, match=r"^top is .*; it must be a whole number"):
            ask(["toner"], top=top)
