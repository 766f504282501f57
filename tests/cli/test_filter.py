"""Records come out as they went in, those that the model chooses, in every format."""

from __future__ import annotations

import bz2
import csv
import gc
import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from thresher import Categorizer
from thresher.cli.main import app
from thresher.documents import json_lines, read_documents, streams
from thresher.documents.records import Records
from thresher.errors import DocumentError

few = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])

GOOD = ["a clear and careful page", "careful words, clear thought", "a thoughtful clear text"]
BAD = ["buy cheap pills now", "cheap cheap offer, buy", "win now, cheap offer"]


def run(*words, status=0, input=None):
    """Run the command line in this process; return what it writes as bytes, and what it says."""
    result = CliRunner().invoke(app, [str(word) for word in words], input=input)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == status, result.stderr
    return result.stdout_bytes, result.stderr


def train(path, **options):
    labels = ["quality"] * len(GOOD) + ["junk"] * len(BAD)
    Categorizer("arow", random_state=1, **options).fit(GOOD + BAD, labels).save(path)
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return train(tmp_path_factory.mktemp("models") / "plain.thresher")


@pytest.fixture(scope="module")
def probable(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    return train(folder / "probable.thresher", calibrate="sigmoid", tune_folds=3)


def records_of(data: bytes, kind: str) -> tuple[bytes, list[bytes]]:
    """Return what stands before the records, and them: the obvious twin."""
    start = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    if kind not in ("csv", "tsv"):
        lines = io.BytesIO(data[start:]).readlines()
        return data[:start], [line for line in lines if line.strip() or kind != "jsonl"]
    lines = io.StringIO(data[start:].decode("latin-1"), newline="").readlines()
    reader = csv.reader(lines, delimiter="\t" if kind == "tsv" else ",")
    rows, done = [], 0
    for cells in reader:
        raw = "".join(lines[done : reader.line_num]).encode("latin-1")
        done = reader.line_num
        rows.append((cells, raw))
    first = next(i for i, (cells, _) in enumerate(rows) if cells)
    return data[:start] + rows[first][1], [raw for cells, raw in rows[first + 1 :] if cells]


AWKWARD = {
    "plain.jsonl": b'{"text": "clear page"}\n{"text": "buy pills"}\n{"text": "careful"}\n',
    "order.jsonl": b'{"id":1,"text":"cheap" ,"x":{"text":"a"}}\n{ "text" : "clear" , "id":2 }\n',
    "mark.jsonl": b'\xef\xbb\xbf{"text": "clear page"}\n{"text": "buy pills"}\n',
    "returns.jsonl": b'{"text": "clear page"}\r\n{"text": "buy pills"}\r\n',
    "blank.jsonl": b'\n{"text": "clear"}\n\n  \n{"text": "buy now"}\n\n',
    "end.jsonl": b'{"text": "clear page"}\n{"text": "clear cheap"}',
    "twice.jsonl": b'{"text": "clear", "text": "cheap"}\n{"text": "cheap", "text": "clear"}\n',
    "numbers.jsonl": b'{"text": 7}\n{"text": "clear 7"}\n{"text": true}\n{"text": null}\n{}\n',
    "escapes.jsonl": rb'{"te\u0078t": "cle\u0061r"}' + b"\n" + rb'{"text": "\ud83d clear"}' + b"\n",
    "latin.jsonl": b'{"text": "clear caf\xe9"}\n{"text": "cheap"}\n',
    "plain.csv": b"id,text\n1,clear page\n2,buy pills\n3,careful\n",
    "quotes.csv": b'id,text\n1,"clear\npage, ""so"" to say"\n2,"buy\r\n\r\npills"\n3,careful\n',
    "mark.csv": b"\xef\xbb\xbfid,text\r\n1,clear page\r\n2,buy pills\r\n",
    "blank.csv": b"\n\nid,text\n\n1,clear page\n\n\n2,buy pills\n\n",
    "end.csv": b"id,text\n1,clear page\n2,clear cheap",
    "return.csv": b"id,text\r1,clear page\r2,buy pills\r3,clear\r",
    "latin.csv": b"id,text\n1,clear caf\xe9\n2,cheap \xff\xfe\n",
    "inside.csv": b'id,text\n1,clear "page" x\n2,buy "pills\n3,careful" x\n',
    "tabs.tsv": b'id\ttext\n1\tclear, page\n2\t"buy\tpills"\n',
    "semicolon.csv": b"id;text\n1;clear page\n2;buy pills\n",
    "plain.txt": b"clear page\n\nbuy pills\r\ncareful\rclear\n \nclear",
    "mark.txt": b"\xef\xbb\xbfclear page\nbuy \xff pills\n",
    "labels.ft": b"__label__x clear page\n__label__y __label__x buy pills\nno label, careful\n",
}


@pytest.fixture(params=AWKWARD)
def awkward(request, tmp_path):
    path = tmp_path / request.param
    path.write_bytes(AWKWARD[request.param])
    return path


def kind_of(path):
    return {"ft": "fasttext", "txt": "lines"}.get(path.suffix[1:], path.suffix[1:])


@pytest.mark.parametrize(("block", "threads"), [(1, 1), (30, 3), (1 << 20, 1)])
def test_the_records_chosen_are_those_that_predict_scores(awkward, model, block, threads):
    top, records = records_of(awkward.read_bytes(), kind_of(awkward))
    with mock.patch.object(streams, "BLOCK", block):
        lines, _ = run("predict", model, awkward, "--json", "--scores")
        scores = [json.loads(one)["scores"]["quality"] for one in lines.splitlines()]
        above = float(np.median(scores))
        words = ("filter", model, awkward, "--category", "quality", "--above", above)
        kept, sentence = run(*words, "--threads", threads)
        others, _ = run(*words, "--not", "--threads", threads)
    pairs = list(zip(records, scores, strict=True))
    assert kept == top + b"".join(one for one, score in pairs if score > above)
    assert others == top + b"".join(one for one, score in pairs if score <= above)
    assert f"of {len(records)} record" in sentence


@pytest.mark.parametrize("name", [one for one in AWKWARD if "blank" not in one])
def test_a_file_of_which_all_is_kept_is_the_same_file(model, tmp_path, name):
    path = tmp_path / name
    path.write_bytes(AWKWARD[name])
    assert run("filter", model, path, "--above", -10)[0] == AWKWARD[name]


def test_a_score_is_added_to_every_record_and_nothing_else_changes(awkward, model):
    words = ("filter", model, awkward, "--category", "quality", "--add", "q é")
    kind = kind_of(awkward)
    if kind in ("lines", "fasttext"):
        _, sentence = run(*words, status=2)
        assert '"q é" cannot be added' in sentence
        return
    lines, _ = run("predict", model, awkward, "--json", "--scores")
    scores = [json.loads(one)["scores"]["quality"] for one in lines.splitlines()]
    added, sentence = run(*words)
    assert f'Wrote the score of "quality" into {len(scores)} records, as "q é".' in sentence
    _, before = records_of(awkward.read_bytes(), kind)
    top, after = records_of(added, kind)
    assert len(before) == len(after) == len(scores)
    delimiter = b";" if b";" in top else b"\t" if kind == "tsv" else b","
    for old, new, score in zip(before, after, scores, strict=True):
        body, number = old.rstrip(), None
        if kind == "jsonl":
            assert new.startswith(body[:-1]) and new.rstrip().endswith(b"}")
            number = json.loads(new.decode("utf-8", "replace"))["q é"]
        else:
            assert new.startswith(body + delimiter)
            number = new[len(body) + 1 :]
        assert np.float32(float(number)) == np.float32(score)
        assert new.endswith(old[len(body) :])


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_a_field_that_is_there_already(model, tmp_path, name):
    path = tmp_path / name
    lines = {
        "a.jsonl": '{"text": "the word \\"q\\" or \'q\'"}\n{"text": "b", "q": 1}\n',
        "a.csv": "text,q\na,1\n",
    }
    path.write_text(lines[name])
    _, sentence = run("filter", model, path, "--category", "quality", "--add", "q", status=2)
    assert 'has "q" already' in sentence
    assert (": the table" if name == "a.csv" else f"{path}:2") in sentence


BROKEN = {
    "a.jsonl": (
        b'{"text": "clear"}\n{"text": ["b"]}\n{"text": "cheap"\n\n[1]\nnull\n{"text": "clear 2"}',
        [b'{"text": ["b"]}\n', b'{"text": "cheap"\n', b"[1]\n", b"null\n"],
        b'{"text": "clear"}\n{"text": "clear 2"}',
    ),
    "a.csv": (
        b'id,text\n1,clear\n2\n3,"cheap\npills",4\n4,clear 2\n5,"open\n6,clear 3',
        [b"2\n", b'3,"cheap\npills",4\n', b'5,"open\n'],
        b"id,text\n1,clear\n4,clear 2\n6,clear 3",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("block", [1, 25, 1 << 20])
def test_records_that_cannot_be_read_are_counted_and_passed_to_a_file(model, tmp_path, name, block):
    data, bad, good = BROKEN[name]
    path, rejected = tmp_path / name, tmp_path / "rejected.gz"
    path.write_bytes(data)
    words = ("filter", model, path, "--category", "quality", "--above", -10)
    with mock.patch.object(streams, "BLOCK", block):
        _, sentence = run(*words, status=2)
        assert f"{path}:" in sentence
        skipped, sentence = run(*words, "--on-error", "skip")
        kept, again = run(*words, "--rejected", rejected)
    assert skipped == kept == good
    assert sentence == again
    assert f"Left out: {len(bad)} documents" in sentence
    assert gzip.decompress(rejected.read_bytes()) == b"".join(bad)


def test_several_files_are_one(model, tmp_path):
    first, second, other = (tmp_path / name for name in ("a.csv", "b.csv", "c.csv"))
    first.write_text("id,text\n1,clear\n2,cheap")
    second.write_bytes(b'\xef\xbb\xbf"id",text\r\n3,careful\r\n4,buy\r\n')
    other.write_text("text,id\nclear,5\n")
    kept, _ = run("filter", model, first, second, "--category", "quality", "--above", -10)
    assert kept == b"id,text\n1,clear\n2,cheap\n3,careful\r\n4,buy\r\n"
    _, sentence = run("filter", model, first, other, "--category", "quality", status=2)
    assert f"{other}: has other columns than the first file" in sentence
    lines = tmp_path / "d.jsonl"
    lines.write_text('{"text": "clear"}\n')
    _, sentence = run("filter", model, lines, first, "--category", "quality", status=2)
    assert f"{first}: is CSV, and the first file is JSON lines" in sentence


@pytest.mark.parametrize(
    ("name", "unpack"),
    [
        ("k.jsonl", bytes),
        ("k.jsonl.gz", gzip.decompress),
        ("k.jsonl.bz2", bz2.decompress),
        ("k.jsonl.zst", lambda data: pa.input_stream(io.BytesIO(data), compression="zstd").read()),
    ],
)
def test_files_are_packed_as_their_names_say(model, tmp_path, name, unpack):
    data = AWKWARD["plain.jsonl"] * 50
    path = tmp_path / "in.jsonl.gz"
    path.write_bytes(gzip.compress(data))
    words = ("filter", model, path, "--category", "quality", "--above", -10, "-o", tmp_path / name)
    shown, sentence = run(*words)
    assert (shown, unpack((tmp_path / name).read_bytes())) == (b"", data)
    assert "Kept 150 of 150 records" in sentence


def test_a_file_is_written_whole_or_not_at_all(model, tmp_path):
    path, output, rejected = (tmp_path / name for name in ("a.jsonl", "out.jsonl", "bad"))
    path.write_bytes(b'{"text": "clear"}\n{broken\n')
    output.write_text("before")
    run("filter", model, path, "--category", "quality", "-o", output, status=2)
    assert output.read_text() == "before"
    run("filter", model, path, "--category", "quality", "-o", path, "--rejected", rejected)
    assert path.read_bytes() == b'{"text": "clear"}\n'  # in its own place
    assert rejected.read_bytes() == b"{broken\n"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.jsonl", "bad", "out.jsonl"]
    words = ("filter", model, path, "--category", "quality", "-o", output, "--rejected", output)
    assert "are the same file" in run(*words, status=2)[1]
    assert "JSON lines" in run(*words[:5], "-o", tmp_path / "out.csv", status=2)[1]
    assert "JSON lines" in run(*words[:5], "-o", tmp_path / "out.parquet", status=2)[1]


def test_parquet_keeps_rows_types_metadata_and_packing(model, tmp_path):
    texts = ["clear page", "buy pills", None, "careful"] * 25
    table = pa.table(
        {
            "id": pa.array(range(100), pa.int16()),
            "text": pa.array(texts).dictionary_encode(),
            "tags": [["a"], [], None, ["b", "c"]] * 25,
        }
    ).replace_schema_metadata({"who": "me"})
    path, output = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pq.write_table(table, path, row_group_size=7, compression="zstd")
    table = pq.read_table(path)  # Parquet has names of its own for what is in lists
    lines, _ = run("predict", model, path, "--json", "--scores")
    scores = np.array([json.loads(one)["scores"]["quality"] for one in lines.splitlines()])
    run("filter", model, path, "--category", "quality", "--above", 0, "-o", output)
    kept = pq.read_table(output)
    assert kept.equals(table.filter(pa.array(scores > 0)), check_metadata=True)
    assert 0 < len(kept) < 100
    about = pq.ParquetFile(output).metadata
    assert (about.num_row_groups, about.row_group(0).column(0).compression) == (1, "ZSTD")
    shown, _ = run("filter", model, path, path, "--category", "quality", "--add", "q")
    added = pq.read_table(io.BytesIO(shown))
    assert added.drop(["q"]).equals(pa.concat_tables([table, table]))
    assert np.array_equal(added["q"].to_numpy(), np.float32([*scores, *scores]))
    run("filter", model, path, "--category", "quality", "--above", 99, "-o", output)
    assert pq.read_table(output).equals(table.slice(0, 0))
    assert 'has "id" already' in run(*("filter", model, path, "--add", "id"),
                                     "--category", "quality", status=2)[1]  # fmt: skip
    assert "JSON lines" not in run("filter", model, path, "--category", "quality",
                                   "-o", tmp_path / "b.csv", status=2)[0].decode()  # fmt: skip


# ----------------------------------------------------------------------------- what makes one pass


def test_probabilities_are_taken_where_the_model_has_them(model, probable, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("\n".join(GOOD + BAD))
    words = ("--category", "quality", "--above")
    categorizer = Categorizer.load(probable)
    column = categorizer.categories_.index("quality")
    chances = categorizer.predict_proba(GOOD + BAD)[:, column]
    scores = categorizer.scores(GOOD + BAD)[:, column]
    above = float(np.median(chances))
    kept, sentence = run("filter", probable, path, *words, above)
    texts = np.array(GOOD + BAD)
    assert kept.decode().splitlines() == texts[chances > above].tolist()
    assert f'those whose probability of "quality" is above {above:g}' in sentence
    kept, sentence = run("filter", probable, path, *words, 0.01, "--scores")
    assert kept.decode().splitlines() == texts[scores > 0.01].tolist()
    assert 'those whose score of "quality" is above 0.01' in sentence
    assert "whose score of" in run("filter", model, path, *words, 0.01)[1]
    _, sentence = run("filter", probable, path, *words, 3, status=2)
    assert "a probability is from 0 to 1" in sentence


def test_without_a_number_the_model_decides(model, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("\n".join(GOOD + BAD))
    predicted = run("predict", model, path)[0].decode().split()
    for category in ("quality", "junk"):
        kept, sentence = run("filter", model, path, "--category", category)
        pairs = zip(GOOD + BAD, predicted, strict=True)
        assert kept.decode().splitlines() == [text for text, one in pairs if one == category]
        assert f'those in "{category}"' in sentence
    both, _ = run("filter", model, path, "--category", "junk", "--category", "quality")
    assert both == path.read_bytes()
    _, sentence = run("filter", model, path, status=2)
    assert "Every document gets a category of this model" in sentence
    assert "junk, quality" in sentence
    _, sentence = run("filter", model, path, "--add", "q", status=2)
    assert "--add needs one --category, of junk, quality" in sentence
    _, sentence = run("filter", model, path, "--category", "junk", "--add", " ", status=2)
    assert "--add is ' '; name the field" in sentence
    _, sentence = run("filter", model, path, "--add", "q", "--not", status=2)
    assert "--add keeps every record" in sentence
    _, sentence = run("filter", model, path, "--category", "junk", "--scores", status=2)
    assert "--scores goes with --above or --add" in sentence
    _, sentence = run("filter", model, path, "--category", "junk", "--above", "nan", status=2)
    assert "--above is nan" in sentence
    _, sentence = run("filter", model, path, "--category", "qualty", status=2)
    assert "no category 'qualty'; did you mean 'quality'?" in sentence


def test_a_model_of_several_labels_or_of_one_needs_no_category(tmp_path):
    path, several, one = (tmp_path / name for name in ("a.txt", "s.thresher", "o.thresher"))
    path.write_text("\n".join(GOOD + BAD))
    lists = [["good", "x"], ["good"], ["good", "x"], [], [], []]
    Categorizer("arow").fit(GOOD + BAD, lists).save(several)
    predicted = Categorizer.load(several).predict(GOOD + BAD)
    assert [] in predicted
    kept, sentence = run("filter", several, path)
    expected = [text for text, names in zip(GOOD + BAD, predicted, strict=True) if names]
    assert kept.decode().splitlines() == expected
    assert "those in any category" in sentence
    Categorizer("arow").fit(GOOD + BAD, [["good"]] * 3 + [[]] * 3).save(one)
    kept, sentence = run("filter", one, path, "--above", 0)
    assert kept.decode().splitlines() == GOOD
    assert 'score of "good"' in sentence
    assert b'"q": ' in run("filter", one, "--add", "q", input=b'{"text": "clear"}\n')[0]


def test_a_summary_for_machines(model, tmp_path):
    path, output = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    path.write_bytes(AWKWARD["plain.jsonl"] + b"{\n")
    words = ("filter", model, path, "--category", "quality", "--json", "--on-error", "skip")
    summary = {
        "records": 3, "kept": 2, "left_out": 1, "measure": "decision",
        "categories": ["quality"], "above": None, "not": False, "added": None,
    }  # fmt: skip
    assert json.loads(run(*words, "-o", output)[0]) == summary
    kept, sentences = run(*words)
    assert kept == output.read_bytes()
    assert json.loads(sentences.splitlines()[-1]) == summary


# ---------------------------------------------------------------------- what cannot be passed on


def test_what_has_no_records_or_no_text_is_refused(model, tmp_path):
    mail, folder, wide, empty = (tmp_path / one for one in ("a.eml", "f", "w.jsonl", "e.csv"))
    mail.write_text("Subject: clear\n\npage\n")
    (folder / "quality").mkdir(parents=True)
    (folder / "quality" / "1.txt").write_text("clear")
    wide.write_bytes('{"text": "clear"}\n'.encode("utf-16"))
    lines = tmp_path / "a.jsonl"
    lines.write_text('{"subject": "clear", "body": "page"}\n')
    for source, sentence in (
        ((mail,), "only lines and the rows of tables can be passed on"),
        ((lines, mail, "--text", "subject,body"), "only lines and the rows of tables can be"),
        ((folder,), "only lines and the rows of tables can be passed on"),
    ):
        assert sentence in run("filter", model, *source, "--category", "quality", status=2)[1]
    written = run("filter", model, wide, "--category", "quality")[0]
    assert written == b'{"text": "clear"}\n'  # in UTF-8
    empty.write_text("id,text\n")
    assert "no documents" in run("filter", model, empty, "--category", "quality", status=2)[1]


def test_a_parquet_file_that_is_given_up_leaves_nothing_to_be_said(model, tmp_path, capfd):
    first, second = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pq.write_table(pa.table({"text": ["clear"]}), first)
    pq.write_table(pa.table({"text": ["clear"], "id": [1]}), second)
    words = ("filter", model, first, second, "--category", "quality")
    assert "has other columns" in run(*words, "-o", tmp_path / "c.parquet", status=2)[1]
    gc.collect()
    assert "Exception ignored" not in capfd.readouterr().err
    assert not (tmp_path / "c.parquet").exists()


def test_a_pipe_may_be_empty_and_keeps_its_header(model):
    words = ("filter", model, "--category", "quality", "--format", "csv")
    assert run(*words, input=b"id,text\r\n")[0] == b"id,text\r\n"
    assert run(*words, "--add", "q", input=b"id,text")[0] == b"id,text,q"
    assert run(*words, input=b"")[0] == b""


def test_a_reader_that_goes_away_and_a_pipe(model, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(AWKWARD["plain.jsonl"] * 20_000)
    command = [sys.executable, "-m", "thresher", "filter", str(model), "-", "--above", "-10"]
    with (
        path.open("rb") as file,
        subprocess.Popen(
            [*command, "--category", "quality"],
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ,
        ) as process,
    ):
        assert process.stdout.readline() == b'{"text": "clear page"}\n'
        process.stdout.close()
        assert (process.wait(), process.stderr.read()) == (141, b"")


# --------------------------------------------------------------------------------- any file at all


def kept_and_rejected(path: Path, **options):
    """Return the opening, the records with the texts read from them, and those left out."""
    rejected: list[bytes] = []
    documents = read_documents(path, labels=False, on_error="skip", **options)
    documents.keep_records(rejected.append)
    records, texts = [], []
    try:
        for batch in documents:
            records += map(batch.original, batch.records.each())
            texts += batch.texts.to_pylist()
            assert len(records) == len(texts)
    except DocumentError as error:
        assert "there are no documents" in str(error) or "column" in str(error)
    opening = documents.opening.data if documents.opening else b""
    return opening, records, texts, rejected


def covers(data: bytes, records: list[bytes], rejected: list[bytes]) -> bool:
    """Tell whether the data are these, each in its order, and blank lines."""
    left = [list(records), list(rejected)]
    while data:
        one = next((some for some in left if some and data.startswith(some[0])), None)
        line = data.splitlines(keepends=True)[0]
        if one is None and line.strip():
            return False
        data = data[len(line if one is None else one.pop(0)) :]
    return left == [[], []]


@few
@given(body=st.text('ab", \n\ré', max_size=60), block=st.sampled_from([1, 5, 1 << 20]))
def test_rows_of_any_csv_are_all_there_and_say_what_was_read(tmp_path, body, block):
    path, data = tmp_path / "a.csv", b"text,other\r\n" + body.encode()
    path.write_bytes(data)
    with mock.patch.object(streams, "BLOCK", block):
        opening, records, texts, rejected = kept_and_rejected(path)
    assert opening == data[: len(opening)]
    assert covers(data[len(opening) :], records, rejected)
    for record, text in zip(records, texts, strict=True):
        alone = csv.reader(io.StringIO(record.decode(), newline=""))
        assert [row[0] for row in alone] == [text]


@few
@given(
    lines=st.lists(
        st.sampled_from(
            [
                *(b'{"text": "a"}', b'{"text": 1, "b": [{}]}', b'{"text": [1]}', b"{", b"", b" \r"),
                *(b'{"text": "\xff"}', b'{"text": "b"}\r', b"[]", b'{"text": "x"} {}', b"null"),
            ]
        ),
        max_size=8,
    ),
    end=st.sampled_from([b"", b"\n"]),
    block=st.sampled_from([1, 40, 1 << 20]),
)
def test_lines_of_any_json_are_all_there_and_say_what_was_read(tmp_path, lines, end, block):
    path, data = tmp_path / "a.jsonl", b"\n".join(lines) + end
    path.write_bytes(data)
    with mock.patch.object(streams, "BLOCK", block):
        _, *fast = kept_and_rejected(path)
        with mock.patch.object(json_lines, "_parse", return_value=None):
            _, *slow = kept_and_rejected(path)
    records, texts, rejected = fast
    assert fast == slow
    if records:  # else no column was ever chosen
        assert covers(data, records, rejected)
    for record, text in zip(records, texts, strict=True):
        assert str(json.loads(record.decode("cp1252"))["text"]) == text


@given(
    sizes=st.lists(st.integers(0, 5), min_size=1),
    gaps=st.data(),
)
def test_records_taken_are_those_chosen(sizes, gaps):
    chosen = np.array([gaps.draw(st.booleans()) for _ in sizes])
    ends = np.cumsum([size + gaps.draw(st.integers(0, 1)) for size in sizes])
    data = bytes(range(65, 65 + int(ends[-1]) % 60)) * 9
    records = Records(data, ends - sizes, ends)
    each = records.each()
    assert records.take(chosen) == b"".join(r for r, c in zip(each, chosen, strict=True) if c)
    assert records.slice(1, 2).each() == each[1:3]
    assert b"".join(records.pick(chosen).each()) == records.take(chosen)
