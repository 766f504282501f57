"""Documents are read rightly from every format, and bad ones are answered with a sentence."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import mailbox
import os
import subprocess
import sys
from email.message import EmailMessage
from pathlib import Path
from unittest import mock

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from thresher.documents import (
    Columns,
    Documents,
    delimited,
    from_texts,
    json_lines,
    lines,
    read_documents,
    streams,
)
from thresher.documents.labels import guess_separator, labels_of, value_text
from thresher.documents.mail import strip_html
from thresher.errors import DocumentError, ParameterError

few = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def read_all(documents: Documents) -> tuple[list[str], list[list[str]] | None]:
    """Return all texts and labels."""
    texts: list[str] = []
    labels: list[list[str]] | None = None
    for batch in documents:
        assert len(batch) == len(batch.texts) > 0
        texts += batch.texts.to_pylist()
        if batch.labels is not None:
            assert len(batch.labels) == len(batch)
            labels = (labels or []) + batch.labels
    return texts, labels


def places(documents: Documents) -> list[str]:
    return [Path(batch.location(i)).name for batch in documents for i in range(len(batch))]


def write_csv(path: Path, rows: list[list[str]], delimiter: str = ",") -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)


def write_jsonl(path: Path, rows: list[dict]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def tiny_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "BLOCK", 16)


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch):
    def feed(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return feed


# ------------------------------------------------------------------ what is written is what is read

# No surrogates, which UTF-8 cannot hold, no zero bytes, which mark a binary file, and no byte
# order mark, which is not part of the text where it begins a file.
texts_strategy = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff"))
label = st.text("abcé x", min_size=1).filter(lambda name: name == name.strip())
pairs_strategy = st.lists(
    st.tuples(texts_strategy, st.lists(label, unique=True, max_size=3)), min_size=1, max_size=12
)
block_strategy = st.sampled_from([1, 7, 64, 1 << 20])


def same(path: Path, pairs: list, block: int, **options) -> None:
    with mock.patch.object(streams, "BLOCK", block):
        texts, labels = read_all(read_documents(path, **options))
    assert texts == [text for text, _ in pairs]
    assert labels == [labels for _, labels in pairs]


@few
@given(pairs=pairs_strategy, block=block_strategy, delimiter=st.sampled_from([",", "\t"]))
def test_csv_round_trip(tmp_path, pairs, block, delimiter):
    path = tmp_path / ("a.csv" if delimiter == "," else "a.tsv")
    rows = [["7", t, "|".join(n)] for t, n in pairs]
    write_csv(path, [["id", "text", "labels"], *rows], delimiter)
    same(path, pairs, block, label_separator="|")


@few
@given(pairs=pairs_strategy, block=block_strategy, ascii_only=st.booleans())
def test_jsonl_round_trip(tmp_path, pairs, block, ascii_only):
    rows = [{"id": 7, "text": t, "labels": n, "more": {"deep": [1, "x"]}} for t, n in pairs]
    lines = (json.dumps(row, ensure_ascii=ascii_only) + "\n" for row in rows)
    path = tmp_path / "a.jsonl"
    path.write_bytes("".join(lines).encode())
    same(path, pairs, block)


@few
@given(pairs=pairs_strategy, block=block_strategy)
def test_parquet_round_trip(tmp_path, pairs, block):
    table = {
        "text": [t for t, _ in pairs],
        "labels": pa.array([n for _, n in pairs], pa.list_(pa.string())),
    }
    pq.write_table(pa.table(table), tmp_path / "a.parquet", row_group_size=5)
    same(tmp_path / "a.parquet", pairs, block)


@few
@given(pairs=pairs_strategy, block=block_strategy)
def test_fasttext_round_trip(tmp_path, pairs, block):
    assume(not any("__label__" in text for text, _ in pairs))
    pairs = [
        (t.replace("\n", " ").replace("\r", " "), [name.replace(" ", "_") for name in n])
        for t, n in pairs
    ]
    pairs = [(t, list(dict.fromkeys(n))) for t, n in pairs]
    lines = ("".join(f"__label__{name} " for name in n) + t + "\n" for t, n in pairs)
    path = tmp_path / "a.fasttext"
    path.write_bytes("".join(lines).encode())
    same(path, pairs, block)


@few
@given(texts=st.lists(texts_strategy, min_size=1, max_size=12), block=block_strategy)
def test_lines_round_trip(tmp_path, texts, block):
    texts = [text.replace("\n", " ").replace("\r", " ") for text in texts]
    path = tmp_path / "a.txt"
    path.write_bytes("".join(text + "\n" for text in texts).encode())
    with mock.patch.object(streams, "BLOCK", block):
        assert read_all(read_documents(path, format="lines")) == (texts, None)


@few
@given(body=st.text('ab", \n\r', max_size=60), block=st.sampled_from([1, 5, 1 << 20]))
def test_both_csv_lanes_agree_with_the_standard_library(tmp_path, body, block):
    """Any quoting, also the broken kind: pyarrow's lane, Python's lane and the csv module."""
    body = body.replace("\r\n", "\n").replace("\r", "\r\n")
    rows = list(csv.reader(io.StringIO(body + "\nend", newline="")))
    assume(rows[-1] == ["end"])  # no quote is left open
    expected = [row[0] for row in rows if len(row) == 2]
    assume(expected)
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,other\r\n" + body.encode())

    def read() -> tuple[list[str], list[str]]:
        documents = read_documents(path, on_error="skip")
        return read_all(documents)[0], places(documents)

    with mock.patch.object(streams, "BLOCK", block):
        fast = read()
        with mock.patch.object(delimited, "_parse", return_value=None):
            slow = read()
    assert fast == slow
    assert fast[0] == expected


@few
@given(
    rows=st.lists(
        st.fixed_dictionaries(
            {"text": st.one_of(st.none(), st.text("aé\n")), "other": st.floats()},
            optional={"labels": st.one_of(st.none(), st.integers(), st.text("ab"), st.booleans())},
        ),
        min_size=1,
    ),
    block=st.sampled_from([1, 40, 1 << 20]),
)
def test_both_json_lanes_agree(tmp_path, rows, block):
    path = tmp_path / "a.jsonl"
    write_jsonl(path, [{"text": "a", "labels": 1}, *rows])
    with mock.patch.object(streams, "BLOCK", block):
        documents = read_documents(path, label_separator="")
        fast = read_all(documents), places(documents)
        with mock.patch.object(json_lines, "_parse", return_value=None):
            slow = read_all(documents), places(documents)
    assert fast == slow
    assert fast[0][0] == ["a", *(row["text"] or "" for row in rows)]


# --------------------------------------------------------------------------------- files in general


def compress(data: bytes, how: str) -> bytes:
    if how == "zst":
        return pa.compress(data, codec="zstd", asbytes=True)
    return {"gz": gzip.compress, "bz2": bz2.compress}[how](data)


@pytest.mark.parametrize("how", ["gz", "zst", "bz2"])
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", b"text,labels\nwheat up,grain\noil down,crude\n"),
        ("a.tsv", b"text\tlabels\nwheat up\tgrain\noil down\tcrude\n"),
        (
            "a.jsonl",
            b'{"text":"wheat up","topic":["grain"]}\n{"text":"oil down","topic":"crude"}\n',
        ),
        ("a.fasttext", b"__label__grain wheat up\n__label__crude oil down\n"),
        ("a", b"__label__grain wheat up\n__label__crude oil down\n"),
    ],
)
def test_compressed(tmp_path, tiny_blocks, name, data, how):
    for path in (tmp_path / name, tmp_path / f"{name}.{how}"):
        path.write_bytes(data if path.name == name else compress(data, how))
        documents = read_documents(path)
        assert read_all(documents) == (["wheat up", "oil down"], [["grain"], ["crude"]])
        assert documents.bytes_read == documents.bytes_total == path.stat().st_size


def test_gzip_of_several_members_and_a_wrong_name(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(gzip.compress(b"one\n") + gzip.compress(b"two\n"))
    assert read_all(read_documents(path))[0] == ["one", "two"]


def test_compressed_parquet_and_parquet_from_stdin(tmp_path, stdin):
    pq.write_table(pa.table({"text": ["a", "b"]}), tmp_path / "a.parquet")
    data = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "b.parquet.gz").write_bytes(gzip.compress(data))
    assert read_all(read_documents(tmp_path / "b.parquet.gz"))[0] == ["a", "b"]
    stdin(data)
    assert read_all(read_documents("-"))[0] == ["a", "b"]


@pytest.mark.parametrize("how", ["gz", "zst"])
def test_a_compressed_file_cut_short(tmp_path, how):
    path = tmp_path / f"a.txt.{how}"
    path.write_bytes(compress(b"".join(b"line %d\n" % i for i in range(9999)), how)[:-9])
    with pytest.raises(DocumentError, match=r"a\.txt\..*cannot be read \(.+\)\.$"):
        read_all(read_documents(path))


def test_files_can_be_read_again_and_say_how_far_they_are(tmp_path, tiny_blocks, monkeypatch):
    monkeypatch.setattr(streams, "HEAD", 16)
    path = tmp_path / "a.jsonl"
    write_jsonl(path, [{"text": f"text {i}", "labels": [str(i % 2)]} for i in range(50)])
    documents = read_documents(path)
    progress = [documents.bytes_read for _ in documents]
    assert progress == sorted(progress)
    assert len(set(progress)) > 10
    assert progress[-1] == documents.bytes_total == path.stat().st_size
    assert read_all(documents) == read_all(documents)
    assert (documents.n_documents, documents.n_labelled) == (50, 50)


def test_several_files_keep_the_columns_of_the_first(tmp_path):
    write_csv(tmp_path / "a.csv", [["body", "title", "topics"], ["x", "X", "1"]])
    write_jsonl(tmp_path / "b.jsonl", [{"text": "no", "body": "y", "topics": [2]}])
    write_csv(tmp_path / "c.csv", [["text", "topics"], ["z", "3"]])
    paths = [tmp_path / "a.csv", str(tmp_path / "b.jsonl")]
    documents = read_documents(paths)
    assert read_all(documents) == (["x", "y"], [["1"], ["2"]])
    assert places(documents) == ["a.csv:2", "b.jsonl:1"]
    with pytest.raises(DocumentError, match=r'c\.csv: has no column "body"; its columns are'):
        read_all(read_documents([*paths, tmp_path / "c.csv"]))


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_batch_size(tmp_path, size):
    write_csv(tmp_path / "a.csv", [["text"], *([str(i)] for i in range(10))])
    documents = read_documents(tmp_path / "a.csv", batch_size=size)
    assert max(map(len, documents)) == min(size, 10)
    assert read_all(documents)[0] == [str(i) for i in range(10)]
    assert places(documents)[-1] == "a.csv:11"


MEMORY = """
import sys, tracemalloc
from thresher.documents import read_documents, streams

streams.BLOCK = 1 << 16
documents = read_documents(sys.argv[1])
tracemalloc.start()
held = max(batch.texts.nbytes for batch in documents)
peak = tracemalloc.get_traced_memory()[1]
print(documents.n_documents, held, peak)
"""


@pytest.mark.parametrize(("name", "line"), [("a.jsonl", b'{"text":"%s"}\n'), ("a.csv", b'"%s"\n')])
def test_memory_does_not_grow_with_the_file(tmp_path, name, line):
    """In a process of its own, which never stops tracing: pyarrow's threads may die of that."""
    path = tmp_path / name
    path.write_bytes(b"text\n" * (name == "a.csv") + (line % (b"word " * 100)) * 20_000)
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, str(path)], capture_output=True, text=True, check=True
    )
    n_documents, held, peak = map(int, done.stdout.split())
    assert n_documents == 20_000
    assert path.stat().st_size > 10_000_000
    assert held < 1 << 17
    assert peak < 1_500_000


# ------------------------------------------------------------------------------ columns and labels


def test_columns_are_joined_and_kept(tmp_path):
    write_csv(
        tmp_path / "a.csv", [["subject", "body", "x"], ["Hello", "world", "1"], ["", "b", "2"]]
    )
    documents = read_documents(tmp_path / "a.csv", text=["subject", "body"], labels="x")
    (batch,) = documents
    assert batch.texts.to_pylist() == ["Hello\nworld", "\nb"]
    assert batch.fields == {"subject": ["Hello", ""], "body": ["world", "b"]}
    assert documents.columns_note == 'text is "subject" and "body"; labels are "x"'


@pytest.mark.parametrize(
    ("header", "options", "note"),
    [
        (["id", "Text", "Topic"], {}, 'text is "Text" (guessed); labels are "Topic" (guessed)'),
        (["title", "body", "z"], {}, 'text is "body" (guessed); no labels'),
        (["foo", "class"], {}, 'text is "foo" (guessed); labels are "class" (guessed)'),
        (["foo", "bar"], {"labels": "foo"}, 'text is "bar" (guessed); labels are "foo"'),
        (["text", "label"], {"labels": False}, 'text is "text" (guessed); no labels'),
        # What `predict` wrote holds predicted labels.
        (["row", "document", "text", "labels", "note"], {}, 'text is "text" (guessed); no labels'),
        (["label", "topic"], {"text": "label"}, 'text is "label"; labels are "topic" (guessed)'),
    ],
)
def test_guessed_columns_are_said(tmp_path, header, options, note):
    write_csv(tmp_path / "a.csv", [header, ["x"] * len(header)])
    documents = read_documents(tmp_path / "a.csv", **options)
    list(documents)
    assert documents.columns_note == note


@pytest.mark.parametrize(
    ("cells", "separator"),
    [
        (["grain,wheat", "grain", "wheat", "earn"], ","),
        (["a|b", "a", "b"], "|"),
        (["a; b", "a", "b;a"], ";"),
        (["Health, beauty", "Home, garden", "Sports"], None),
        (["New York", "New", "York"], None),
        (["a,b", "c,d"], None),
        (["plain", "words"], None),
        ([], None),
    ],
)
def test_guess_separator(cells, separator):
    assert guess_separator(cells) == separator


@pytest.mark.parametrize("separator", [None, ",", "", " "])
def test_label_separator(tmp_path, separator):
    cells = ["a,b", "a", "b c", "", " , b,b"]
    write_csv(tmp_path / "a.csv", [["text", "label"], *(["x", cell] for cell in cells)])
    documents = read_documents(tmp_path / "a.csv", label_separator=separator)
    expected = {
        ",": [["a", "b"], ["a"], ["b c"], [], ["b"]],
        "": [["a,b"], ["a"], ["b c"], [], [", b,b"]],
        " ": [["a,b"], ["a"], ["b", "c"], [], [",", "b,b"]],
    }[separator if separator is not None else ","]
    assert read_all(documents)[1] == expected
    assert ('split at "," (guessed)' in documents.columns_note) == (separator is None)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, []),
        ("", []),
        ([], []),
        ("  ", []),
        (3, ["3"]),
        (3.0, ["3"]),
        (0.5, ["0.5"]),
        (float("nan"), []),
        (True, ["true"]),
        (["b", None, "a", "", "b"], ["b", "a"]),
        ({"b", "a"}, ["a", "b"]),
        ((1, 2.5), ["1", "2.5"]),
        ("a b", ["a b"]),
        (pd.NA, []),
    ],
)
def test_labels_of(value, expected):
    assert labels_of(value, None) == expected


@pytest.mark.parametrize("value", [{"a": 1}, [["a"]]])
def test_labels_that_are_no_labels(value):
    with pytest.raises(DocumentError, match=r"^an? (object|list) stands where a text"):
        labels_of(value, None)


ARRAYS = [
    pa.array(["a,b", None, "", "a"]),
    pa.array(["a,b", None, "", "a"], pa.large_string()),
    pa.array(["a,b", None, "", "a"]).dictionary_encode(),
    pa.array([["a", "b"], None, [], ["a"]]),
    pa.array([["a", "b"], None, [None], ["a", "a"]], pa.large_list(pa.string())),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: str(array.type))
def test_label_types_of_tables(array):
    table = pa.table({"text": ["x"] * 4, "labels": array})
    documents = read_documents(table, label_separator=",")
    assert read_all(documents)[1] == [["a", "b"], [], [], ["a"]]
    assert read_all(read_documents(table.slice(3), label_separator=","))[1] == [["a"]]
    assert (documents.n_documents, documents.n_labelled) == (4, 2)


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array([1, None, 30]), [[1], [], [30]]),
        (pa.array([1, 2]).dictionary_encode(), [[1], [2]]),
        (pa.array([1.0, float("nan"), 0.0]), [[1], [], [0]]),
        (pa.array([1.0, float("nan"), 0.5]), [["1"], [], ["0.5"]]),
        (pa.array([True, None, False]), [[True], [], [False]]),
        (pa.array([[1, 2], None, [3]]), [[1, 2], [], [3]]),
        (pa.array([2**62], pa.timestamp("us")), [[str(2**62)]]),
        (pa.array([2**30], pa.date32()), [[str(2**30)]]),
        (pa.array([10**9], pa.duration("s")), [["11574 days, 1:46:40"]]),
        (pa.array([2**62], pa.duration("s")), [[str(2**62)]]),
        (pa.nulls(3), [[], [], []]),
        (pa.array([b"a", b"\xff", None]), [["a"], [r"\xff"], []]),
    ],
)
def test_label_values_of_tables(array, expected):
    table = pa.table({"text": ["x"] * len(array), "labels": array})
    labels = read_all(read_documents(table))[1]
    assert labels == expected
    types = [[type(label) for label in of_document] for of_document in expected]
    assert [[type(label) for label in of_document] for of_document in labels] == types


@pytest.mark.parametrize("value", [{"a": 1}, [["a"]]])
def test_labels_of_another_type_are_refused(value):
    with pytest.raises(DocumentError, match=r'the table: column "labels" is of type (struct|list)'):
        read_all(read_documents(pa.table({"text": ["x"], "labels": [value]})))
    frame = pd.DataFrame({"text": ["x", "y", ["z"]], "labels": ["a", value, "b"]})
    with pytest.raises(DocumentError, match=r'row 2: "labels": an? (object|list) stands where'):
        read_all(read_documents(frame))
    documents = read_documents(frame, on_error="skip")
    assert read_all(documents) == (["x"], [["a"]])
    assert '"text": a list stands where' in documents.skipped[1]


def test_value_text_of_odd_values():
    assert value_text(1e300) == "1e+300"
    assert value_text("a\udcff") == "a\ufffd"


# --------------------------------------------------------------------------------------------- csv


def test_csv_with_everything(tmp_path, tiny_blocks):
    data = (
        b"\xef\xbb\xbfid,text,id,labels\r\n"
        b'1,"a ""quoted"" word, and\r\ntwo lines",x,p\r\n'
        b"\r\n"
        b'2,"",y,q\r\n'
        b'3,5" disk,"z",\r\n'
        b"4,no end,z,r"
    )
    (tmp_path / "a.csv").write_bytes(data)
    documents = read_documents(tmp_path / "a.csv")
    texts = ['a "quoted" word, and\r\ntwo lines', "", '5" disk', "no end"]
    assert read_all(documents) == (texts, [["p"], ["q"], [], ["r"]])
    assert places(documents) == ["a.csv:2", "a.csv:5", "a.csv:6", "a.csv:7"]
    with pytest.raises(DocumentError, match=r'has 2 columns named "id"; rename'):
        read_all(read_documents(tmp_path / "a.csv", text="id"))


def test_csv_with_lone_carriage_returns(tmp_path):
    (tmp_path / "a.csv").write_bytes(b'text,label\rone,a\r"two\rlines",b\r')
    assert read_all(read_documents(tmp_path / "a.csv")) == (["one", "two\rlines"], [["a"], ["b"]])


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_csv_with_another_delimiter(tmp_path, delimiter):
    write_csv(tmp_path / "a.csv", [["text", "label"], ["a, b", "c"]], delimiter)
    assert read_all(read_documents(tmp_path / "a.csv")) == (["a, b"], [["c"]])


@pytest.mark.parametrize("block", [16, 1 << 20])
def test_ragged_rows(tmp_path, monkeypatch, block):
    monkeypatch.setattr(streams, "BLOCK", block)
    path = tmp_path / "a.csv"
    path.write_bytes(b'text,label\n"1\n1",a\n2\n3,b\n4,c,d\n5,e\n')
    with pytest.raises(DocumentError) as error:
        read_all(read_documents(path))
    assert str(error.value) == (
        f"{path}:4: the row has 1 cell, the header 2; "
        'repair it, or leave such documents out (on_error="skip").'
    )
    documents = read_documents(path, on_error="skip")
    assert read_all(documents) == (["1\n1", "3", "5"], [["a"], ["b"], ["e"]])
    assert documents.n_skipped == 2
    assert documents.skipped[1] == f"{path}:6: the row has 3 cells, the header 2."
    assert places(documents) == ["a.csv:2", "a.csv:5", "a.csv:7"]


@pytest.mark.parametrize("block", [16, 1 << 20])
def test_a_quote_that_is_never_closed(tmp_path, monkeypatch, block):
    monkeypatch.setattr(streams, "BLOCK", block)
    path = tmp_path / "a.csv"
    path.write_bytes(b'text,label\none,a\n"two,b\nthree,c\nfour,d\n')
    with pytest.raises(DocumentError, match=r"a\.csv:3: a quote opened in this row is never"):
        read_all(read_documents(path))
    documents = read_documents(path, on_error="skip")
    assert read_all(documents)[0] == ["one", "three", "four"]
    assert places(documents) == ["a.csv:2", "a.csv:4", "a.csv:5"]
    assert documents.n_skipped == 1


def test_only_the_first_hundred_left_out_are_listed(tmp_path):
    write_csv(tmp_path / "a.csv", [["text", "label"], ["x", "y"], *[["short"]] * 250])
    documents = read_documents(tmp_path / "a.csv", on_error="skip")
    assert read_all(documents)[0] == ["x"]
    assert (documents.n_skipped, len(documents.skipped)) == (250, 100)


def test_the_limit_of_the_csv_module_is_given_back(tmp_path):
    before = csv.field_size_limit()
    write_csv(tmp_path / "a.csv", [["text", "label"], ["x" * 200_000, "y"], ["short"]])
    assert read_all(read_documents(tmp_path / "a.csv", on_error="skip"))[0] == ["x" * 200_000]
    assert csv.field_size_limit() == before


def test_a_row_that_is_too_long(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "BLOCK", 16)
    monkeypatch.setattr(streams, "LONGEST", 1000)
    (tmp_path / "a.csv").write_bytes(b'text\nfine\n"' + b"never closed " * 100)
    with pytest.raises(DocumentError, match=r"a\.csv:3: the row has more than 1000 bytes; a quote"):
        read_all(read_documents(tmp_path / "a.csv"))
    (tmp_path / "a.txt").write_bytes(b"x" * 2000)
    with pytest.raises(DocumentError, match=r"a\.txt: has a line of more than 1000 bytes"):
        read_all(read_documents(tmp_path / "a.txt"))


# ------------------------------------------------------------------------------------------- jsonl


@pytest.mark.parametrize("block", [16, 1 << 20])
@pytest.mark.parametrize(
    "bad",
    ["{", '{"text": "x",}', '{"text": "x"} y', '["text"]', "5", '{"text": ["x"]}', "[" * 9999],
)
def test_invalid_json(tmp_path, monkeypatch, block, bad):
    monkeypatch.setattr(streams, "BLOCK", block)
    path = tmp_path / "a.jsonl"
    path.write_text(
        f'{{"text": "one", "labels": "a"}}\n\n{{"text": "two"}}\n{bad}\n{{"text": "three"}}\n'
    )
    with pytest.raises(DocumentError, match=r"a\.jsonl:4: .*; repair it, or leave"):
        read_all(read_documents(path))
    documents = read_documents(path, on_error="skip")
    assert read_all(documents) == (["one", "two", "three"], [["a"], [], []])
    assert documents.n_skipped == 1
    assert documents.skipped[0].startswith(f"{path}:4: ")
    assert places(documents) == ["a.jsonl:1", "a.jsonl:3", "a.jsonl:5"]


def test_a_json_array_says_what_to_do(tmp_path):
    (tmp_path / "a.json").write_text('[\n{"text": "x"}\n]\n')
    with pytest.raises(DocumentError, match=r"a\.json:1: invalid JSON .* one object per line"):
        read_all(read_documents(tmp_path / "a.json"))


@pytest.mark.parametrize("block", [16, 1 << 20])
def test_fields_that_come_late_and_types_that_change(tmp_path, monkeypatch, block):
    monkeypatch.setattr(streams, "BLOCK", block)
    values = [None, "a", ["b", "c"], 3, 2.5, True, [], [4], "", ["e", None], "2020-01-01"]
    rows = [
        {"text": "t", "other": 1},
        *({"text": "t", "labels": v} for v in values),
        {"labels": "f"},
    ]
    write_jsonl(
        tmp_path / "a.jsonl",
        [{"text": None, "labels": None}, *rows, {"text": 5, "other": "now text"}],
    )
    texts, labels = read_all(read_documents(tmp_path / "a.jsonl", text="text", labels="labels"))
    assert texts == ["", *["t"] * 12, "", "5"]
    assert labels == [
        *([], [], [], ["a"], ["b", "c"], ["3"], ["2.5"], ["true"], [], ["4"], [], ["e"]),
        *(["2020-01-01"], ["f"], []),
    ]


def test_a_rare_field_is_found_when_named(tmp_path):
    rows = [{"text": "x"}] * 500 + [{"text": "y", "topics": ["a"]}]
    write_jsonl(tmp_path / "a.jsonl", rows)
    assert read_all(read_documents(tmp_path / "a.jsonl", labels="topics"))[1][-1] == ["a"]
    with pytest.raises(DocumentError, match=r'no column "topic"; .*; did you mean "topics"\?'):
        read_all(read_documents(tmp_path / "a.jsonl", labels="topic"))


def test_numbers_as_labels_and_several_text_fields(tmp_path):
    write_jsonl(tmp_path / "a.jsonl", [{"title": "T", "body": "B", "label": i} for i in range(3)])
    documents = read_documents(tmp_path / "a.jsonl", text=["title", "body"])
    assert read_all(documents) == (["T\nB"] * 3, [["0"], ["1"], ["2"]])


# ------------------------------------------------------------------------ text that is not UTF-8


@pytest.mark.parametrize("block", [16, 1 << 20])
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", b'text,label\nfine,a\n"caf\xe9\n\xff",b\nagain \xc3\xa9,c\n'),
        ("a.tsv", b"text\tlabel\nfine\ta\ncaf\xe9 \xff\tb\nagain \xc3\xa9\tc\n"),
        ("a.jsonl", b'{"text":"fine"}\n{"text":"caf\xe9 \xff"}\n{"text":"again \xc3\xa9"}\n'),
        ("a.txt", b"fine\ncaf\xe9 \xff\nagain \xc3\xa9\n"),
        ("a.ft", b"fine\n__label__x caf\xe9 \xff\nagain \xc3\xa9\n"),
    ],
)
def test_decoding_errors_are_replaced_and_counted(tmp_path, monkeypatch, name, data, block):
    monkeypatch.setattr(streams, "BLOCK", block)
    (tmp_path / name).write_bytes(data)
    documents = read_documents(tmp_path / name)
    for _ in range(2):
        texts, _ = read_all(documents)
        assert [" ".join(text.split()) for text in texts] == ["fine", "caf\ufffd \ufffd", "again é"]
        assert documents.decoding_errors == 1


@pytest.mark.parametrize(
    "data",
    [b"one\n", b"\n\none\r\ntw\xc3\xb6\n\n", b"\n", b"no end", b"caf\xe9\n\xff\nfine\n"],
)
def test_lines_are_the_same_however_many_there_are(tmp_path, monkeypatch, data):
    (tmp_path / "a.txt").write_bytes(data)
    documents = read_documents(tmp_path / "a.txt")
    few = read_all(documents), documents.decoding_errors
    monkeypatch.setattr(lines, "SMALL_BLOCK", -1)
    assert (read_all(documents), documents.decoding_errors) == few


def test_decoding_errors_elsewhere(tmp_path):
    write_jsonl(tmp_path / "a.jsonl", [{"text": "half \ud83d"}, {"text": "whole \U0001f600"}])
    documents = read_documents(tmp_path / "a.jsonl")
    assert read_all(documents)[0] == ["half \ufffd", "whole \U0001f600"]
    assert documents.decoding_errors == 1
    documents = from_texts(["half \ud83d", "whole"])
    assert read_all(documents)[0] == ["half \ufffd", "whole"]
    assert documents.decoding_errors == 1
    bad = pa.array([b"caf\xe9", None, b"fine"])
    for array in (bad, pa.Array.from_buffers(pa.string(), 3, bad.buffers())):
        documents = read_documents(pa.table({"text": array}))
        assert read_all(documents)[0] == ["caf\ufffd", "", "fine"]
        assert documents.decoding_errors == 1
    (tmp_path / "c" / "x").mkdir(parents=True)
    (tmp_path / "c" / "x" / "1.txt").write_bytes(b"caf\xe9")
    documents = read_documents(tmp_path / "c")
    assert read_all(documents) == (["café"], [["x"]])
    assert list(documents.encodings.values()) == ["cp1252"]


# ---------------------------------------------------------------------------------- standard input


@pytest.mark.parametrize(
    ("data", "texts", "labels"),
    [
        (b"one\n\nthree, four\r\n", ["one", "", "three, four"], None),
        (b'{"text": "one", "topics": ["a"]}\n', ["one"], [["a"]]),
        (b"__label__a one\ntwo\n", ["one", "two"], [["a"], []]),
        (b"\r\none __label__a\r\n\t__label__b two\r\n", ["", "one ", "\ttwo"], [[], ["a"], ["b"]]),
        (b"text,label\n__label__ one,__label__a\n", ["__label__ one"], [["__label__a"]]),
        (
            b"not__label__a\n'__label__b' __label__\n",
            ["not__label__a", "'__label__b' __label__"],
            None,
        ),
        (b"text,label\none,a\n", ["one"], [["a"]]),
        (b"id\tbody\n1\tone\n", ["one"], None),
        (b"Dear text, body and all\n", ["Dear text, body and all"], None),
        (gzip.compress(b"text,label\none,a\n", mtime=0), ["one"], [["a"]]),
        (b"", [], None),
    ],
)
def test_stdin_format_is_told_by_its_first_bytes(stdin, data, texts, labels):
    stdin(data)
    documents = read_documents("-")
    assert documents.bytes_total is None
    assert read_all(documents) == (texts, labels)
    assert documents.bytes_read == len(data)
    with pytest.raises(DocumentError, match=r"^standard input: can be read only once"):
        iter(documents)


def test_stdin_with_a_format_or_columns(stdin):
    stdin(b"text,label\none,a\n")
    documents = read_documents("-", format="lines")
    assert read_all(documents)[0] == ["text,label", "one,a"]
    stdin(b"w,v\none,a\n")
    documents = read_documents("-", text="w", labels="v")
    assert read_all(documents) == (["one"], [["a"]])
    assert places(documents := read_documents([("a", "b")])) == ["document 1"]
    stdin(b"one\ntwo\n")
    documents = read_documents("-")
    assert [batch.location(1) for batch in documents] == ["standard input:2"]
    stdin(b"one\ntwo\n")
    with pytest.raises(DocumentError, match=r'standard input: has no column "subject"'):
        read_all(read_documents("-", text="subject"))


def test_a_named_pipe_is_read_once(tmp_path):
    reader, writer = os.pipe()
    os.write(writer, b"one\ntwo\n")
    os.close(writer)
    documents = read_documents(f"/dev/fd/{reader}")
    assert read_all(documents)[0] == ["one", "two"]
    os.close(reader)
    with pytest.raises(DocumentError, match="only once"):
        iter(documents)


# -------------------------------------------------------------------------------- folders and mail


def make_files(root: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    return root


def test_a_folder_per_category(tmp_path):
    make_files(
        tmp_path,
        {
            "spam/2.txt": b"buy\nnow",
            "spam/1": b"win",
            "ham/deep/er/3.txt.gz": gzip.compress(b"hello"),
            "ham/.hidden": b"no",
            ".git/config": b"no",
            "README": b"about",
        },
    )
    documents = read_documents(tmp_path)
    assert read_all(documents) == (["hello", "win", "buy\nnow"], [["ham"], ["spam"], ["spam"]])
    assert documents.skipped == [f"{tmp_path / 'README'}: the file stands in no category's folder."]
    assert documents.columns_note == "each file is a document; its folder is the label"
    assert places(documents) == ["3.txt.gz", "1", "2.txt"]
    assert documents.bytes_read == documents.bytes_total > 0


def test_a_folder_of_documents_or_of_tables(tmp_path):
    make_files(tmp_path / "plain", {"b.txt": b"two", "a.txt": b"one"})
    assert read_all(read_documents(tmp_path / "plain")) == (["one", "two"], None)
    make_files(tmp_path / "shards", {"2.csv": b"text\nc\n", "1.csv": b"text\na\nb\n", "3.csv": b""})
    assert read_all(read_documents(tmp_path / "shards"))[0] == ["a", "b", "c"]
    make_files(tmp_path / "odd", {"x/1.data": b"text\na\n"})
    assert read_all(read_documents(tmp_path / "odd", format="csv"))[0] == ["a"]


def test_what_does_not_belong_into_a_category(tmp_path):
    make_files(tmp_path, {"a/1.txt": b"x", "a/2.csv": b"text\nx\n", "b/3.png": b"\x89PNG\0\0"})
    (tmp_path / "b" / "4.txt").symlink_to(tmp_path / "nowhere")
    (tmp_path / "b" / "5.txt").symlink_to(tmp_path / "b" / "5.txt")
    os.mkfifo(tmp_path / "b" / "6.txt")
    with pytest.raises(DocumentError, match=r"2\.csv: is a table of documents \(csv\)"):
        read_all(read_documents(tmp_path))
    documents = read_documents(tmp_path, on_error="skip")
    assert read_all(documents) == (["x"], [["a"]])
    for sentence, expected in zip(
        documents.skipped,
        ["is a table", "binary file", "No such file", "symbolic links", "neither a file"],
        strict=True,
    ):
        assert expected in sentence


def message(
    subject: str, text: str | None, html: str | None = None, **headers: str
) -> EmailMessage:
    mail = EmailMessage()
    mail["Subject"] = subject
    for name, value in headers.items():
        mail[name.replace("_", "-")] = value
    if text is not None:
        mail.set_content(text)
    if html:
        add = mail.set_content if text is None else mail.add_alternative
        add(html, subtype="html")
    return mail


def test_mbox(tmp_path, tiny_blocks):
    box = mailbox.mbox(tmp_path / "a.mbox")
    box.add(message("Grüße", "Schöne Worte\nFrom here on\n", X_Gmail_Labels="a,b"))
    box.add(message("page", None, "<style>x{}</style><p>caf&eacute; <b>b</b>ar</p><br>end"))
    both = message("both", "plain", "<p>html</p>", X_Gmail_Labels="a")
    both.add_attachment("attached text", filename="x.txt")
    box.add(both)
    box.close()
    documents = read_documents(tmp_path / "a.mbox")
    (first, *_) = documents
    texts, labels = read_all(documents)
    assert [text.strip() for text in texts] == [
        "Grüße\nSchöne Worte\nFrom here on",
        "page\ncafé bar\nend",
        "both\nplain",
    ]
    assert labels is None
    assert first.fields["subject"] == ["Grüße"]
    assert documents.columns_note == 'text is "subject" and "body"; no labels'
    assert places(documents)[0] == "a.mbox:1"
    documents = read_documents(
        tmp_path / "a.mbox", text="Subject", labels="x-gmail-labels", label_separator=","
    )
    assert read_all(documents) == (["Grüße", "page", "both"], [["a", "b"], [], ["a"]])
    with pytest.raises(DocumentError, match=r'has no column "subjekt".*did you mean "subject"\?'):
        read_all(read_documents(tmp_path / "a.mbox", text="subjekt"))


def test_mbox_places_and_what_is_no_mbox(tmp_path):
    envelope = b"From a@b Thu Jan 01 00:00:00 1970\n"
    data = envelope + b"Subject: one\n\nbody\n\nFrom now on\n\n" + envelope + b"Subject: two\n\nx\n"
    path = make_files(tmp_path, {"a.mbox": data}) / "a.mbox"
    documents = read_documents(path)
    assert read_all(documents)[0] == ["one\nbody\n\nFrom now on\n\n", "two\nx\n"]
    assert places(documents) == ["a.mbox:1", "a.mbox:8"]
    path.write_bytes(b"Subject: one\n\nbody\n")
    with pytest.raises(DocumentError, match=r"a\.mbox:1: a mailbox begins with"):
        read_all(read_documents(path))


def test_eml_alone_and_in_folders(tmp_path):
    broken = b"Subject: =?nonsense?b?/w==?= \xff\nContent-Type: text/plain; charset=none\n\ncaf\xe9"
    make_files(
        tmp_path,
        {
            "spam/1.eml": bytes(message("win", "now")),
            "spam/2.eml.gz": gzip.compress(bytes(message("more", "and more"))),
            "ham/3.txt": b"plain file",
            "ham/4.eml": broken,
            "ham/5.mbox": b"From a@b Thu Jan 01 00:00:00 1970\nSubject: s\n\nt",
        },
    )
    assert read_all(read_documents(tmp_path / "spam" / "1.eml")) == (["win\nnow\n"], None)
    documents = read_documents(tmp_path)
    texts, labels = read_all(documents)
    assert texts[0] == "\nplain file"
    assert texts[1].endswith("ÿ\ncafé")  # recognized as cp1252
    assert texts[2:] == ["s\nt", "win\nnow\n", "more\nand more\n"]
    assert labels == [["ham"]] * 3 + [["spam"]] * 2
    assert documents.decoding_errors == 0
    assert documents.encodings == {str(tmp_path / "ham" / "4.eml"): "cp1252"}
    assert [b.fields["subject"][-1] for b in documents] == ["more"]
    assert read_all(read_documents(tmp_path, text="subject"))[0][-1] == "more"
    with pytest.raises(DocumentError, match='no column "sujet"'):
        read_all(read_documents(tmp_path, text="sujet"))
    assert read_all(read_documents(tmp_path / "spam", format="eml"))[0][0] == "win\nnow\n"


@few
@given(data=st.binary(max_size=200), kind=st.sampled_from([b"", b"multipart/mixed; boundary=x"]))
def test_no_mail_is_too_odd(tmp_path, data, kind):
    data = data.replace(b"\0", b"x")
    start = (
        b"Content-Type: " + kind + b"\nSubject: =?utf-8?b?" + data[:20].split(b"\n")[0] + b"?=\n\n"
    )
    path = make_files(tmp_path, {"a.eml": start + b"--x\n" + data + b"\n--x--\n"}) / "a.eml"
    documents = read_documents(path)
    assert len(read_all(documents)[0]) == 1


@pytest.mark.parametrize(
    "html", ["a<![CDA-0 x>b", "a<![weird[ x ]]>b", "a<![if !mso]>b", "a<![CDATA[x]]>b", "a<!x>b"]
)
def test_sections_that_nobody_knows_are_passed_over(html):
    assert strip_html(html) == "ab"


def test_strip_html():
    html = (
        "<html><head><title>no</title><script>no()</script></head>one<p>two &amp; <i>th</i>ree<td>4"
    )
    assert strip_html(html) == "one\ntwo & three\n4"


# --------------------------------------------------------------------------------------- in memory


def test_texts_in_memory():
    documents = from_texts(["a", "b"], [["x"], "y z"], batch_size=1)
    assert read_all(documents) == read_all(documents) == (["a", "b"], [["x"], ["y z"]])
    assert [len(batch) for batch in documents] == [1, 1]
    assert read_all(from_texts(["a"])) == (["a"], None)
    assert read_all(from_texts([])) == ([], None)
    with pytest.raises(DocumentError, match="2 texts cannot have labels for 1"):
        from_texts(["a", "b"], [["x"]])
    with pytest.raises(DocumentError, match="one string"):
        from_texts("abc")
    with pytest.raises(DocumentError, match=r"document 2: is int, where a text is expected"):
        read_all(from_texts(["a", 5]))


def test_pairs_in_memory():
    pairs = [("a", ["x"]), ("b", None), ("c", "y,z")]
    documents = read_documents(pairs)
    expected = (["a", "b", "c"], [["x"], [], ["y,z"]])
    assert read_all(documents) == read_all(documents) == expected
    once = read_documents(pair for pair in pairs)
    assert read_all(once) == expected
    with pytest.raises(DocumentError, match="only once"):
        iter(once)
    assert read_all(read_documents(pairs, label_separator=","))[1][-1] == ["y", "z"]
    assert read_all(read_documents(pairs, labels=False)) == (["a", "b", "c"], None)
    with pytest.raises(DocumentError, match=r"document 1: is int, where a pair"):
        read_all(read_documents([5]))
    with pytest.raises(DocumentError, match="cannot be read from int"):
        read_documents(5)


def test_tables_in_memory():
    table = pa.table({"body": ["a", None], "n": [1, 2], "topics": [["x"], None]})
    documents = read_documents(table)
    assert read_all(documents) == read_all(documents) == (["a", ""], [["x"], []])
    assert places(documents) == ["the table, row 1", "the table, row 2"]
    once = read_documents(pa.RecordBatchReader.from_batches(table.schema, table.to_batches()))
    assert read_all(once) == (["a", ""], [["x"], []])
    with pytest.raises(DocumentError, match="the table: can be read only once"):
        iter(once)
    assert read_all(read_documents(table.to_batches()[0]))[0] == ["a", ""]
    assert read_all(read_documents(table, text="n"))[0] == ["1", "2"]
    with pytest.raises(DocumentError, match=r'column "topics" is of type list<.*> *, where text'):
        read_all(read_documents(table, text="topics"))


def test_data_frames():
    frame = pd.DataFrame({"text": ["a", None, "c"], "label": [1.0, None, 2.0], 5: [0, 0, 0]})
    documents = read_documents(frame[frame.index != 1])
    assert read_all(documents) == read_all(documents) == (["a", "c"], [[1], [2]])
    assert read_all(read_documents(frame)) == (["a", "", "c"], [[1], [], [2]])
    lists = pd.DataFrame({"text": ["a", "b"], "labels": [["x", "y"], []]})
    assert read_all(read_documents(lists)) == (["a", "b"], [["x", "y"], []])


# ------------------------------------------------------------------------------------ no documents


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("a.csv", b"", "the file is empty"),
        ("a.jsonl", b"", "the file is empty"),
        ("a.mbox", b"", "the file is empty"),
        ("a.eml", b"", "the file is empty"),
        ("a.txt", b"", "the file is empty"),
        ("a.csv", b"text,labels\n", "nothing stands after the header"),
        ("a.csv", b"text,labels", "nothing stands after the header"),
        ("a.jsonl", b"\n\n", "all lines are blank"),
        ("a.jsonl", b"{\n{\n", "all 2 were left out, the first being"),
    ],
)
def test_files_without_documents(tmp_path, name, data, why):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(DocumentError, match=f"{name}: there are no documents; .*{why}"):
        read_all(read_documents(tmp_path / name, on_error="skip"))


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.txt", "a.unknown", "a.mbox", "a.eml"])
def test_binary_files(tmp_path, name):
    (tmp_path / name).write_bytes(b"\x7fELF\x02\x01\x01\0\0\0")
    with pytest.raises(DocumentError, match=r"is a binary file \(byte 8 is zero\)"):
        read_all(read_documents(tmp_path / name))


def test_what_is_not_parquet(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"text,label\n")
    with pytest.raises(DocumentError, match=r"a\.parquet: is not a Parquet file"):
        read_all(read_documents(tmp_path / "a.parquet"))


def test_missing_and_unreadable(tmp_path):
    with pytest.raises(DocumentError, match=r"a\.csv: there is no such file or folder"):
        read_documents(tmp_path / "a.csv")
    with pytest.raises(DocumentError, match="the folder has no files"):
        read_documents(tmp_path)
    (tmp_path / ".hidden").write_text("x")
    with pytest.raises(DocumentError, match="the folder has no files"):
        read_documents(tmp_path)
    (tmp_path / "a.csv").write_text("text\nx\n")
    with pytest.raises(DocumentError, match="is not a folder"):
        read_documents(tmp_path / "a.csv", format="folder")
    documents = read_documents(tmp_path / "a.csv")
    (tmp_path / "a.csv").unlink()
    with pytest.raises(DocumentError, match=r"a\.csv: cannot be read \(No such file"):
        read_all(documents)


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may read everything")
def test_without_permission(tmp_path):
    (tmp_path / "a.csv").write_text("text\nx\n")
    (tmp_path / "a.csv").chmod(0)
    with pytest.raises(DocumentError, match=r"a\.csv: cannot be read \(Permission denied\)"):
        read_all(read_documents(tmp_path / "a.csv"))


def test_missing_columns(tmp_path):
    write_csv(tmp_path / "a.csv", [["Text", "topics"], ["x", "y"]])
    with pytest.raises(DocumentError) as error:
        read_all(read_documents(tmp_path / "a.csv", text="txt"))
    assert str(error.value) == (
        f'{tmp_path / "a.csv"}: has no column "txt"; its columns are "Text", "topics"; '
        'did you mean "Text"?'
    )
    write_csv(tmp_path / "a.csv", [[f"c{i}" for i in range(30)], ["x"] * 30])
    with pytest.raises(DocumentError, match=r'obviously the text; .* "c19" and 10 more; name the'):
        read_all(read_documents(tmp_path / "a.csv"))


def test_label_column_all_empty(tmp_path):
    write_csv(tmp_path / "a.csv", [["text", "labels"], ["x", ""], ["y", " "]])
    documents = read_documents(tmp_path / "a.csv")
    assert read_all(documents) == (["x", "y"], [[], []])
    assert (documents.n_documents, documents.n_labelled) == (2, 0)
    write_jsonl(tmp_path / "a.jsonl", [{"text": "x", "labels": None}, {"text": "y", "labels": []}])
    assert read_all(read_documents(tmp_path / "a.jsonl")) == (["x", "y"], [[], []])


@pytest.mark.parametrize(
    "options",
    [{"on_error": "ignore"}, {"format": "xml"}, {"batch_size": 0}, {"labels": ["a"]}],
)
def test_bad_parameters(options):
    with pytest.raises(ParameterError, match=f"^{next(iter(options))} is "):
        read_documents("-", **options)


# ------------------------------------------------------------------------------------------- sizes


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet", "a.txt", "c"])
def test_a_document_of_50_megabytes(tmp_path, name):
    text = "word " * 10_000_000
    path = tmp_path / name
    if name == "a.csv":
        path.write_text(f'text,label\nfirst,a\n"{text}\n",b\nlast,c\n')
    elif name == "a.jsonl":
        write_jsonl(path, [{"text": "first"}, {"text": text + "\n"}, {"text": "last"}])
    elif name == "a.parquet":
        pq.write_table(pa.table({"text": ["first", text + "\n", "last"]}), path)
    elif name == "a.txt":
        path.write_text(f"first\n{text}\nlast\n")
    else:
        make_files(path, {"x/1": b"first", "x/2": text.encode(), "x/3": b"last"})
    texts, _ = read_all(read_documents(path))
    assert [len(text) for text in texts] == [
        5,
        len(text) + (name in ("a.csv", "a.jsonl", "a.parquet")),
        4,
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet", "a.txt", "a.ft"])
def test_a_million_empty_documents(tmp_path, name):
    n = 1_000_000
    path = tmp_path / name
    if name == "a.parquet":
        pq.write_table(pa.table({"text": [""] * n}), path)
    else:
        line = {"a.csv": b'"",\n', "a.jsonl": b'{"text":""}\n', "a.txt": b"\n", "a.ft": b"\n"}[name]
        path.write_bytes(b"text,labels\n" * (name == "a.csv") + line * n)
    documents = read_documents(path)
    assert sum(len(batch) for batch in documents) == n
    assert documents.n_documents == n


def test_familiar_columns_are_taken_instead_of_guessing(tmp_path):
    path = tmp_path / "mail.csv"
    path.write_text("text,subject,body,label,team\nx,wheat,up,no,a|b\n")
    familiar = Columns(("subject", "body"), "team", "|")
    documents = read_documents(path, familiar=familiar)
    (batch,) = documents
    assert (batch.texts.to_pylist(), batch.labels) == (["wheat\nup"], [["a", "b"]])
    assert "guessed" not in documents.columns_note


def test_familiar_columns_that_are_not_there_are_guessed_as_ever(tmp_path):
    path = tmp_path / "mail.csv"
    path.write_text("text,label\nwheat,grain\n")
    (batch,) = read_documents(path, familiar=Columns(("subject", "body"), "team"))
    assert (batch.texts.to_pylist(), batch.labels) == (["wheat"], [["grain"]])


def test_asking_for_columns_wins_over_familiar_ones(tmp_path):
    path = tmp_path / "mail.csv"
    path.write_text("text,subject,label,team\nx,wheat,no,a\n")
    familiar = Columns(("text",), "label")
    (batch,) = read_documents(path, text="subject", labels="team", familiar=familiar)
    assert (batch.texts.to_pylist(), batch.labels) == (["wheat"], [["a"]])


@pytest.mark.parametrize("texts", [[b"toner"], [None, "toner"], (item for item in ["toner"])])
def test_what_is_no_list_of_texts_is_answered_with_what_is(texts):
    with pytest.raises(DocumentError, match="texts alone are given as a list of str"):
        list(read_documents(texts))


@pytest.mark.parametrize(
    "header",
    ['id;"first, last";text;label', "id;date, time;text;label", "id|a,b|text|label"],
)
@pytest.mark.parametrize("name", ["d.csv", "d"])  # told by its name, and by its first bytes
def test_a_header_is_cut_where_most_columns_come_of_it(tmp_path, header, name):
    path = tmp_path / name
    cells = "1;x;out of toner, again;hardware".replace(";", "|" if "|" in header else ";")
    path.write_text(f"{header}\n{cells}\n")
    (batch,) = read_documents(path, text=["text"], labels="label")
    assert list(batch.texts.to_pylist()) == ["out of toner, again"]
    assert batch.labels == [["hardware"]]
