"""Files as people have them: other encodings, stray quotes, mail without a suffix, bombs."""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import json
import logging
import lzma
import os
import random
import subprocess
import sys
import tracemalloc
import zlib
from itertools import chain
from pathlib import Path
from unicodedata import normalize

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import run, runner
from thresher import Categorizer
from thresher.cli.main import app
from thresher.documents import Columns, delimited, from_texts, mail, read_documents, streams, tables
from thresher.documents.encodings import check_encoding, encoding_of
from thresher.documents.mail import strip_html
from thresher.errors import DocumentError, ParameterError, ThresherWarning
from thresher.experiments.progressive import progressive_validation
from thresher.model.categories import Categories
from thresher.report.worst import WorstErrors

WORDS = {
    "Maße": ["Länge", "Höhe", "Zentimeter", "Größe"],
    "Möbel": ["Tisch", "Stühle", "Schränke", "Sofa"],
    "Mäbel": ["Bärchen", "Puppe", "Kätzchen", "Bälle"],
}
TEXTS = {
    "cp1251": "Пшеница подорожала на бирже и трактор сломался; пахать больше нечем.",
    "koi8_r": "Трактор сломался и пахать нечем; пшеница опять подорожала на бирже.",
    "shift_jis": "小麦の価格が上昇した。石油は下がった。",
    "euc_jp": "コンピュータとプリンタを買いました。",
    "gb18030": "小麦价格上涨，石油价格下跌。",
    "euc_kr": "밀 가격이 올랐습니다. 석유는 내렸습니다.",
    "cp1253": "Το σιτάρι ακρίβυνε στο χρηματιστήριο.",
}
BLOCKS = [16, 100, 1 << 20]


def german_rows(n: int = 60) -> list[tuple[str, str]]:
    chance = random.Random(1)
    labels = [list(WORDS)[i % 3] for i in range(n)]
    return [(" ".join(chance.choices(WORDS[label], k=4)), label) for label in labels]


def read(source, **options):
    """Return the texts, the labels and the documents."""
    documents = read_documents(source, **options)
    texts, labels = [], []
    for batch in documents:
        texts += batch.texts.to_pylist()
        labels += [] if batch.labels is None else batch.labels
    return texts, labels, documents


@pytest.fixture
def excel(tmp_path) -> Path:
    """A table as German Excel saves it."""
    rows = "".join(f"{text};{label}\r\n" for text, label in german_rows())
    (tmp_path / "kunden.csv").write_bytes(f"Text;Label\r\n{rows}".encode("cp1252"))
    return tmp_path / "kunden.csv"


# --------------------------------------------------------------------------------------- encodings


@pytest.mark.parametrize("block", BLOCKS)
def test_a_table_of_german_excel(excel, monkeypatch, block):
    monkeypatch.setattr(streams, "BLOCK", block)
    texts, labels, documents = read(excel)
    assert list(zip(texts, (label for (label,) in labels), strict=True)) == german_rows()
    assert documents.encodings == {str(excel): "cp1252"}
    (note,) = documents.notes
    assert note == f'{excel}: not UTF-8; read as cp1252 (encoding="..." for another).'
    assert documents.decoding_errors == 0


def test_every_verb_reads_it_so(excel, tmp_path):
    model, note = tmp_path / "m.thresher", "kunden.csv: not UTF-8; read as cp1252 (--encoding"

    def output_of(*words):
        result = runner.invoke(app, [str(word) for word in words])
        assert result.exit_code == 0, result.stderr
        assert result.stderr.count(note) == 1, words
        return result.stdout

    assert "3 categories" in output_of("train", excel, "-o", model, "--fast")
    assert set(output_of("predict", model, excel).split()) == set(WORDS)
    assert '"exact_match": 1.0' in output_of("evaluate", model, excel, "--json")
    assert "Möbel" in output_of("explain", model, f"{excel}:3")
    assert "Zentimeter" in output_of("rank", model, excel, "--category", "Maße", "--top", "1")
    assert "Zentimeter" in output_of("filter", model, excel, "--category", "Maße")
    output_of("tune", model, excel, "--objective", "f1", "-o", tmp_path / "tuned")
    output_of("learn", model, excel, "-o", tmp_path / "more")
    output_of("compare", excel, "--learners", "arow,perceptron", "--folds", "2")
    output_of("split", excel)
    halves = [(tmp_path / f"kunden-{half}.csv").read_bytes() for half in ("train", "test")]
    assert sum(map(len, halves)) == len(excel.read_bytes()) + len(b"Text;Label\r\n")
    assert "Maße" in halves[1].decode("cp1252")  # the bytes of records are unchanged


@pytest.mark.parametrize("order", ["le", "be"])
@pytest.mark.parametrize("with_header", [True, False])
@pytest.mark.parametrize("block", BLOCKS)
def test_utf16_with_a_mark(tmp_path, monkeypatch, order, with_header, block):
    monkeypatch.setattr(streams, "BLOCK", block)
    head = "text\tlabel\n" if with_header else ""
    rows = "".join(f"{text}\t{label}\r\n" for text, label in german_rows(9))
    name = "a.tsv" if with_header else "a.txt"
    (tmp_path / name).write_bytes(f"\ufeff{head}{rows}".encode(f"utf-16-{order}"))
    texts, labels, documents = read(tmp_path / name)
    expected = german_rows(9)
    if with_header:
        assert [*zip(texts, [x for (x,) in labels], strict=True)] == expected
    else:
        assert texts == ["\t".join(row) for row in expected]
    assert documents.encodings == {str(tmp_path / name): "utf-16"}


def test_utf16_without_a_mark_is_read_if_it_is_named(tmp_path):
    (tmp_path / "a.txt").write_bytes("Möbel\n".encode("utf-16-le"))
    with pytest.raises(DocumentError, match=r"is a binary file .*or its encoding"):
        read(tmp_path / "a.txt")
    for encoding in ("utf-16", "utf-16-le"):
        assert read(tmp_path / "a.txt", encoding=encoding)[0] == ["Möbel"]


def test_utf16_without_a_name_is_recognized_and_can_be_divided(tmp_path):
    rows = "".join(f"{text}\t{label}\n" for text, label in german_rows(30))
    (tmp_path / "data").write_bytes(f"text\tlabel\n{rows}".encode("utf-16"))
    assert read(tmp_path / "data")[1] == [[label] for _, label in german_rows(30)]
    run("split", tmp_path / "data")
    halves = [read(tmp_path / f"data-{half}")[0] for half in ("train", "test")]
    assert sorted([*halves[0], *halves[1]]) == sorted(text for text, _ in german_rows(30))


@pytest.mark.parametrize("encoding", TEXTS)
@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.jsonl", "c/x/1"])
def test_texts_outside_western_europe(tmp_path, encoding, name):
    text, path = TEXTS[encoding], tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    data = {
        "a.csv": f"text,label\n{text},agriculture\n",
        "a.jsonl": f'{{"text": "{text}", "label": "agriculture"}}\n',
    }.get(name, text)
    path.write_bytes(data.encode(encoding))
    texts, _, documents = read(tmp_path / "c" if name[0] == "c" else path)
    assert texts == [text]
    assert list(documents.encodings.values()) == [encoding]


def test_latin1_in_a_tsv(tmp_path):
    (tmp_path / "a.tsv").write_bytes("text\tlabel\nété\tété\nlà\toù\n".encode("latin-1"))
    texts, labels, _ = read(tmp_path / "a.tsv")
    assert (texts, labels) == (["été", "là"], [["été"], ["où"]])


@pytest.mark.parametrize("block", BLOCKS)
def test_a_few_damaged_bytes_leave_a_file_in_utf8(tmp_path, monkeypatch, block):
    monkeypatch.setattr(streams, "BLOCK", block)
    lines = [f"Stühle und Tische {i}".encode() for i in range(50)]
    lines[7] += b" caf\xe9"
    lines[30] += b" \xff\xfe"
    (tmp_path / "a.txt").write_bytes(b"\n".join(lines))
    texts, _, documents = read(tmp_path / "a.txt")
    assert texts[7] == "Stühle und Tische 7 caf\ufffd" and texts[8] == "Stühle und Tische 8"
    assert documents.decoding_errors == 2 and not documents.notes


def test_a_file_that_is_ascii_for_a_megabyte(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"plain words\n" * 100_000 + "Möbel\n".encode("cp1252"))
    texts, _, documents = read(tmp_path / "a.txt")
    assert texts[-1] == "Möbel" and len(texts) == 100_001
    assert list(documents.encodings.values()) == ["cp1252"]


@pytest.mark.parametrize("block", BLOCKS)
def test_the_encoding_does_not_depend_on_the_blocks(tmp_path, monkeypatch, block):
    monkeypatch.setattr(streams, "BLOCK", block)
    monkeypatch.setattr(streams, "HEAD", block)
    (tmp_path / "a.txt").write_bytes(b"x\n" * 700 + "größer, aber Ü\n".encode("cp1252") * 3)
    assert read(tmp_path / "a.txt")[0][-1] == "größer, aber Ü"
    (tmp_path / "a.txt").write_bytes((b"x\n" * 700) + ("小麦" * 50_000).encode())
    assert read(tmp_path / "a.txt")[0][-1] == "小麦" * 50_000  # no blank where it is cut


@pytest.mark.parametrize("block", BLOCKS)
def test_filter_copies_the_bytes_of_other_encodings(tmp_path, monkeypatch, block):
    monkeypatch.setattr(streams, "BLOCK", block)
    model, path = tmp_path / "m", tmp_path / "a.csv"
    Categorizer(preset="fast").fit(["Tisch", "Puppe"] * 3, ["Möbel", "Spiel"] * 3).save(model)
    rows = ["Größe;Text\r\n", "ß;Tisch \x81\r\n", "ä;Puppe\r\n", "ö;Tisch für;zwei\r\n"]
    data = [row.encode("latin-1") for row in rows]  # 0x81 is no character in cp1252
    path.write_bytes(b"".join(data))
    rejected = tmp_path / "rejected"
    options = ("--category", "Möbel", "--rejected", rejected, "-o", tmp_path / "b.csv")
    run("filter", model, path, *options)
    assert (tmp_path / "b.csv").read_bytes() == data[0] + data[1]
    assert rejected.read_bytes() == data[3]
    run("filter", model, path, *options, "--add", "score")
    added = (tmp_path / "b.csv").read_bytes().splitlines()
    assert [line.rpartition(b";")[0] + b"\r\n" for line in added] == data[:3]


DAMAGED = {
    "a.csv": "text;label\r\n" + "größe 0;Größe\r\n" * 60 + "a b;M\udcf6bel\r\nc d;M\udce4bel\r\n",
    "a.jsonl": '{"text": "Käse ä", "label": "x"}\n{"text": "a b", "label": "M\udcf6bel"}\n'
    '{"text": "c d", "label": ["M\udce4bel"]}\n',
    "a.ft": "__label__x Käse ä\n__label__M\udcf6bel a b\n__label__M\udce4bel c d\n",
}
FOLDERS = [("M\udcf6bel", "a b"), ("M\udce4bel", "c d")]


@pytest.mark.parametrize("name", [*DAMAGED, ""])
@pytest.mark.parametrize("block", BLOCKS)
def test_bytes_that_are_no_text_do_not_merge_labels(tmp_path, monkeypatch, name, block):
    monkeypatch.setattr(streams, "BLOCK", block)
    for folder, text in FOLDERS:
        (tmp_path / "f" / folder).mkdir(parents=True)
        (tmp_path / "f" / folder / "1.txt").write_text(text)
    for file, content in DAMAGED.items():
        (tmp_path / file).write_bytes(content.encode("utf-8", "surrogateescape"))
    texts, labels, documents = read(tmp_path / (name or "f"))
    pairs = {text: label for text, (label,) in zip(texts, labels, strict=True)}
    assert (pairs["a b"], pairs["c d"]) == (r"M\xf6bel", r"M\xe4bel")
    (note,) = documents.notes
    assert "bel has bytes that are no text in the encoding" in note


def test_labels_of_binary_columns_and_halves_of_characters_do_not_merge(tmp_path):
    array = pa.array([b"M\xf6bel", b"M\xe4bel", b"x"])
    lists = pa.ListArray.from_arrays([0, 2, 3], array)
    strings = pa.Array.from_buffers(pa.string(), 3, array.buffers())
    expected = [r"M\xf6bel", r"M\xe4bel", "x"]
    for values in (array, strings, lists):
        table = pa.table({"text": ["a"] * len(values), "labels": values})
        assert [*chain(*read(table)[1])] == expected
    (tmp_path / "a.jsonl").write_text(
        '{"text": "a", "label": "\\ud800"}\n{"text": "b", "label": "\\ud801"}\n'
    )
    assert read(tmp_path / "a.jsonl")[1] == [[r"\ud800"], [r"\ud801"]]
    documents = from_texts(["a", "b"], ["\ud800", "\ud801"])
    assert [label for batch in documents for (label,) in batch.labels] == [r"\ud800", r"\ud801"]


def test_the_note_of_escaped_labels(tmp_path):
    (tmp_path / "a.ft").write_bytes(DAMAGED["a.ft"].encode("utf-8", "surrogateescape"))
    result = runner.invoke(app, ["train", str(tmp_path / "a.ft"), "-o", str(tmp_path / "m")])
    assert "3 categories" in result.stdout
    note = r"a.ft:2: the label M\xf6bel has bytes that are no text"
    assert result.stderr.count(note) == result.stderr.count("no text") == 1


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1250", "tiskárna nefunguje příliš žluťoučký kůň; Zařízení, účet zablokován"),
        ("cp850", "Drücker schläft völlig; Maße öffnen für Tür; Möbel, Größe, Stühle"),
        ("mac_roman", "l'imprimante a été déplacée à côté de la fenêtre, où ça gêne"),
        ("cp866", "printer HP LaserJet is broken принтер сломан, order ПЛОХО again"),
    ],
)
def test_bytes_that_cp1252_does_not_define_show_another_encoding(tmp_path, encoding, text):
    (tmp_path / "a.txt").write_bytes(f"{text}\n".encode(encoding) * 5)
    texts, _, documents = read(tmp_path / "a.txt")
    assert texts == [text] * 5 and list(documents.encodings.values()) == [encoding]


def test_a_stray_byte_leaves_a_large_file_in_cp1252():
    french = "l'imprimante a été déplacée à côté de la fenêtre, où ça gêne\n".encode("cp1252")
    assert encoding_of(french * 200 + b"caf\x9d\n") == "cp1252"


@pytest.mark.parametrize("options", [("--encoding", "cp1250"), ("--encoding", "mac_roman"), ()])
def test_the_encoding_of_training_is_assumed(tmp_path, options):
    encoding = options[1] if options else "cp1250"
    table = {
        "cp1250": "text,label\n" + "hasło,źródło\ndrukarka,sprzęt\nświęta,łódź\n" * 9,
        "mac_roman": "text,label\n" + "déjà,été\nfenêtre,là\ngêne,où\n" * 9,
    }[encoding]
    if not options:  # recognized, by a byte that cp1252 does not define
        table += "žluťoučký,ťuk\nlabuť,síť\n" * 9
    data, model = tmp_path / "a.csv", tmp_path / "m"
    data.write_bytes(table.encode(encoding))
    run("train", data, "-o", model, "--fast", *options)
    assert Categorizer.load(model).columns_.encoding == encoding
    result = runner.invoke(app, ["evaluate", str(model), str(data), "--json"])
    assert '"exact_match": 1.0' in result.stdout
    assert f"not UTF-8; read as {encoding}, as the model was trained (" in result.stderr
    data.write_text(table)
    result = runner.invoke(app, ["evaluate", str(model), str(data), "--json"])
    assert '"exact_match": 1.0' in result.stdout and "not UTF-8" not in result.stderr
    if encoding == "cp1250":  # which does not define 0x81
        data.write_bytes(f"text,label\n{TEXTS['shift_jis']},x\n".encode("shift_jis"))
        familiar = Categorizer.load(model).columns_
        assert list(read(data, familiar=familiar)[2].encodings.values()) == ["shift_jis"]


@pytest.mark.parametrize("encoding", [None, "utf-8", "utf-16"])
def test_encodings_that_a_model_need_not_remember(tmp_path, excel, encoding):
    if encoding:
        excel.write_text(excel.read_text("cp1252"), encoding)
    assert read(excel, encoding=encoding)[2].columns.encoding is None


def test_a_named_encoding_is_taken(tmp_path):
    (tmp_path / "a.csv").write_bytes("text,label\nŁódź,x\n".encode("cp1250"))
    texts, _, documents = read(tmp_path / "a.csv", encoding="cp1250")
    assert texts == ["Łódź"] and not documents.notes
    assert read(tmp_path / "a.csv", encoding="utf-8")[2].decoding_errors == 1
    (tmp_path / "a.txt").write_bytes(b"+2AA- and more")  # half of a surrogate pair
    assert read(tmp_path / "a.txt", encoding="utf-7")[0] == ["\ufffd and more"]


@pytest.mark.parametrize("name", ["nope", "rot13", "idna", "punycode", "base64", "undefined", "\0"])
def test_encodings_that_are_none(name, tmp_path):
    with pytest.raises(ParameterError, match="which is no encoding of text known to Python"):
        check_encoding(name)
    with pytest.raises(ParameterError, match="encoding is"):
        read_documents(tmp_path, encoding=name)


@pytest.mark.parametrize("text", ["Ü", "ÄÖÜ;ÄÄÄ", "Maß", "été créée", "“quoted” – text…"])
def test_short_western_texts(text):
    assert encoding_of(text.encode("cp1252")) == "cp1252"
    assert encoding_of(text.encode()) == "utf-8"


def test_what_was_assumed_is_logged(excel, caplog):
    caplog.set_level(logging.INFO, "thresher")
    model = Categorizer(preset="fast").fit(str(excel))
    assert sum("read as cp1252" in message for message in caplog.messages) == 1
    caplog.clear()
    model.predict(excel)
    assert sum("read as cp1252" in message for message in caplog.messages) == 1


# ------------------------------------------------------------------------------------------ labels


def test_both_forms_of_unicode_are_one_category(tmp_path):
    def decomposed(label):
        return normalize("NFD", label)

    texts = [text for text, _ in german_rows()]
    labels = [label for _, label in german_rows()]
    mixed = [decomposed(label) if i % 2 else label for i, label in enumerate(labels)]
    model = Categorizer(preset="fast").fit(texts, mixed)
    assert model.categories_ == sorted(WORDS)
    old = Categorizer(preset="fast").fit(texts, list(map(decomposed, labels)))
    for each in (model, old):
        assert each.predict(texts) == labels
        assert each.score(texts, mixed) == 1.0
        assert each.strongest(decomposed("Möbel")) == each.strongest("Möbel")
    old.learn(["Regal"], [decomposed("Möbel")])
    old.rename_category("Mäbel", decomposed("Mädchen"))
    assert old.categories_ == ["Maße", "Mädchen", "Möbel"]
    old.save(tmp_path / "m")
    run("rank", tmp_path / "m", "-", "--category", decomposed("Mädchen"), input="Puppe\n")
    lists = [[label, decomposed(label)] for label in labels]
    assert Categorizer(preset="fast").fit(texts, lists).categories_ == sorted(WORDS)


def test_errors_and_progress_are_counted_in_one_form():
    texts, labels = zip(*german_rows(), strict=True)
    mixed = [normalize("NFD", label) if i % 2 else label for i, label in enumerate(labels)]
    model = Categorizer(preset="fast").fit(texts, labels)
    worst = WorstErrors(model.categories_, model.decisions_)
    model.tested(list(texts), mixed, watch=lambda scored: worst.see(*scored))
    assert not list(worst)
    progress = [
        progressive_validation(Categorizer(preset="fast"), list(texts), names, batch_size=6)
        for names in (labels, mixed)
    ]
    assert progress[0].mistakes.tolist() == progress[1].mistakes.tolist()


def test_an_older_model_with_both_forms_keeps_both():
    both = Categories([normalize("NFD", "ö"), "ö"])
    assert both.number(normalize("NFD", "ö")) == 0 and both.number("ö") == 1
    assert Categories.from_state(both.state()).labels == both.labels


def write_maildir(folder, n: int = 3) -> None:
    for name in ("cur", "new", "tmp"):
        (folder / name).mkdir(parents=True)
        for i in range(n):
            text = f"Subject: {folder.name} {name} {i}\nTo: a@example.org\n\nHello.\n"
            (folder / name / f"160000000{i}.M{i}.host:2,S").write_text(text)
    (folder / "dovecot-uidlist").write_text("3 V1 N1\n")


def test_only_the_mails_of_a_maildir_are_read_and_its_name_is_their_category(tmp_path):
    for name in ("ham", "spam"):
        write_maildir(tmp_path / "boxes" / name)
    texts, labels, _ = read(tmp_path / "boxes")
    assert labels == [["ham"]] * 6 + [["spam"]] * 6
    assert not any("tmp" in text or "V1" in text for text in texts)


def test_hidden_folders_of_a_maildir_are_mailboxes(tmp_path):
    for folder in ("inbox", "inbox/.Spam", "inbox/.Work.Old"):
        write_maildir(tmp_path / folder)
    (tmp_path / "inbox" / ".cache").mkdir()
    (tmp_path / "inbox" / ".cache" / "1").write_text("Subject: none\n\nNone.\n")
    labels = read(tmp_path / "inbox")[1]
    assert sorted(labels) == [["Spam"]] * 6 + [["Work.Old"]] * 6 + [["inbox"]] * 6
    assert not any(read(tmp_path / "inbox" / "cur")[1])  # a folder of mails alone has no labels


TABLES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "stream": lambda columns: pa.table(columns).to_reader(),
}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("labels", [[3, 0, 7], [True, False], [[3], [0, 7]]], ids=str)
def test_labels_of_tables_keep_their_type(kind, labels):
    texts = ["cheap pills", "lunch today", "see you"][: len(labels)] * 4
    columns = {"text": texts, "label": labels * 4}
    model = Categorizer(preset="fast").fit(TABLES[kind](columns))
    predicted = model.predict(TABLES[kind](columns))
    assert predicted == columns["label"]
    assert type(np.ravel(predicted[0])[0].item()) is type(np.ravel(labels[0])[0].item())
    assert model.score(TABLES[kind](columns)) == 1.0


def test_numbers_in_tables_and_files_are_the_same_labels(tmp_path):
    frame = pd.DataFrame({"text": ["cheap pills", "lunch"] * 4, "label": [1, 0] * 4})
    frame.to_csv(tmp_path / "a.csv", index=False)
    of_frame, of_file = (Categorizer(preset="fast").fit(x) for x in (frame, tmp_path / "a.csv"))
    assert (of_frame.predict(frame[:2]), of_file.predict(frame[:2])) == ([1, 0], ["1", "0"])
    for model in (of_frame, of_file):
        assert model.score(frame) == model.score(tmp_path / "a.csv") == 1.0
        model.learn(pd.DataFrame({"text": ["dinner"], "label": [7]}))
        assert model.categories_ == ["0", "1", "7"]
    with_missing = frame.assign(label=[1, None] * 4)  # whole numbers, but as floats
    assert set(Categorizer(preset="fast", mode="multi-label").fit(with_missing).classes_) == {1}
    mixed = frame.assign(label=[1, "a"] * 4)
    assert Categorizer(preset="fast").fit(mixed).categories_ == ["1", "a"]
    scale = frame.assign(label=[0.5, 1.0] * 4)
    assert Categorizer(preset="fast").fit(scale).categories_ == ["0.5", "1"]


def test_truth_values_in_tables_and_files_are_the_same_labels(tmp_path):
    frame = pd.DataFrame({"text": ["cheap pills", "lunch"] * 4, "label": [True, False] * 4})
    files = [tmp_path / f"a.{suffix}" for suffix in ("csv", "jsonl", "parquet", "upper.csv")]
    frame.to_csv(files[0], index=False)
    frame.to_json(files[1], orient="records", lines=True)
    frame.to_parquet(files[2])
    files[3].write_text(files[0].read_text().replace("True", "TRUE").replace("False", "FALSE"))
    sources = [frame, *files]
    models = [Categorizer(preset="fast").fit(source) for source in sources]
    assert [model.categories_[1] for model in models] == ["True", "True", "true", "true", "TRUE"]
    for model in models:
        before = model.categories_
        for source in sources:
            assert model.score(source) == 1.0
            model.learn(source)
        assert model.categories_ == before


@pytest.mark.parametrize("size", [1, 3])
def test_categories_do_not_depend_on_where_batches_end(size):
    lists, categories = [["True"], ["true"], ["FALSE"], ["false"], ["TRUE"]], Categories()
    for start in range(0, len(lists), size):
        categories.encode(lists[start : start + size], grow=True, from_table=True)
    assert categories.labels == ["True", "FALSE"]
    both = Categories(["True", "true"])
    assert both.encode([["true"], ["True"]], from_table=True).indices.tolist() == [1, 0]
    given = Categories(["True"])
    assert given.encode([["true"]], grow=True).indices.tolist() == [1]


def test_numbers_of_tables_match_a_file_that_has_them_as_floats(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\ncheap pills,1.0\nlunch,2.0\nsee you,\n")
    with pytest.warns(ThresherWarning, match="have no label"):
        model = Categorizer(preset="fast").fit(tmp_path / "a.csv")
    assert model.categories_ == ["1.0", "2.0"]
    assert model.score(pd.DataFrame({"text": ["cheap pills", "lunch"], "label": [1, 2]})) == 1.0


@pytest.mark.parametrize(
    ("labels", "cells"), [([1, 2], "1.0 2.0"), (["True", "False"], "true false")]
)
def test_the_worst_errors_know_the_labels_of_files(tmp_path, labels, cells):
    texts, path = ["cheap pills", "lunch"], tmp_path / "a.csv"
    model = Categorizer(preset="fast").fit(texts, labels)
    rows = [f"{text},{cell}\n" for text, cell in zip(texts, cells.split(), strict=True)]
    path.write_text("text,label\n" + "".join(rows))
    worst = WorstErrors(model.model_.categories, model.decisions_)
    model.tested(path, watch=lambda scored: worst.see(*scored))
    assert not list(worst)
    path.write_text(f"text,label\ncheap lunch,{cells.split()[0]}\nlunch,{cells.split()[0]}\n")
    worst = WorstErrors(model.model_.categories, model.decisions_)
    model.tested(path, watch=lambda scored: worst.see(*scored))
    assert {name for error in worst for name in error.labels} == {str(labels[0])}


@pytest.mark.parametrize(
    ("labels", "cells"), [([1, 2], "1.0 2.0"), (["True", "False"], "true false")]
)
def test_progressive_validation_knows_the_labels_of_files(tmp_path, labels, cells):
    texts, path = ["cheap pills", "lunch"], tmp_path / "a.csv"
    model = Categorizer(preset="fast").fit(texts, labels)
    rows = [f"{text},{cell}\n" for text, cell in zip(texts, cells.split(), strict=True)]
    path.write_text("text,label\n" + "".join(rows))
    assert progressive_validation(model, path, batch_size=1).mistakes.tolist() == [0, 0]
    assert sorted(model.categories_) == sorted(map(str, labels))


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, np.nan, ""], ids=repr)
def test_missing_texts_are_empty_texts_everywhere(tmp_path, missing):
    texts, labels = ["cheap pills", missing, "lunch today", "cheap"], ["a", "b", "b", "a"]
    plain = ["cheap pills", "", "lunch today", "cheap"]
    expected = Categorizer(preset="fast").fit(plain, labels).scores(plain)
    none = [text if isinstance(text, str) else None for text in texts]
    pq.write_table(pa.table({"text": none, "label": labels}), tmp_path / "a.parquet")
    pd.DataFrame({"text": texts, "label": labels}).to_json(
        tmp_path / "a.jsonl", orient="records", lines=True
    )
    sources = [
        (texts, labels),
        (pd.Series(texts), labels),
        (pd.DataFrame({"text": texts, "label": labels}), None),
        (pa.table({"text": none, "label": labels}), None),
        ([*zip(texts, labels, strict=True)], None),
        (tmp_path / "a.parquet", None),
        (tmp_path / "a.jsonl", None),
    ]
    for source, given in sources:
        model = Categorizer(preset="fast").fit(source, given)
        np.testing.assert_array_equal(model.scores(texts), expected)
        assert model.predict(source) == model.predict(plain)
    assert read([(missing, "a"), ("b", "a")])[0] == ["", "b"]
    with pytest.raises(DocumentError, match="document 2: is int, where a text"):
        list(from_texts([missing, 5]))


@pytest.mark.parametrize(
    "labels",
    [
        pa.array([2**62, 5], pa.timestamp("us")),
        pa.array([-(2**62), 5], pa.timestamp("ms")),
        pa.array([2**30, 5], pa.date32()),
        pa.array([2**62, 5], pa.duration("ns")),
    ],
    ids=lambda array: str(array.type),
)
def test_dates_that_python_does_not_have(tmp_path, labels):
    table = pa.table({"text": ["a", "b"], "label": labels})
    pq.write_table(table, tmp_path / "a.parquet")
    for source in (tmp_path / "a.parquet", table):
        values = read(source)[1]
        assert len({label for of_document in values for label in of_document}) == 2


@pytest.mark.parametrize("weights", [["x"] * 4, [0.0] * 4, [[1], [1, 2]], [1, float("nan"), 1, 1]])
def test_weights_that_are_none(weights):
    texts, labels = ["cheap pills", "lunch"] * 2, ["x", "y"] * 2
    model = Categorizer(preset="fast").fit(texts, labels)
    for call in (Categorizer(preset="fast").fit, model.score):
        with pytest.raises(ParameterError, match=r"sample_weight (is zero for|must be finite)"):
            call(texts, labels, sample_weight=weights)
    with pytest.raises(DocumentError, match="documents and sample_weight for 1"):
        model.score(texts, labels, sample_weight=[1.0])


# ------------------------------------------------------------------------------------------ quotes


def tickets(n: int = 3532) -> tuple[str, list[str]]:
    """Return a TSV file in which every 50th text begins with a quote that nothing closes."""
    texts = [f'"Hello number {i}' if i % 50 == 0 else f'a 5" disk {i}' for i in range(n)]
    return "label\ttext\n" + "".join(f"{i % 2}\t{t}\n" for i, t in enumerate(texts)), texts


@pytest.mark.parametrize("block", [64, 5000, 1 << 20])
@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_stray_quotes_in_a_tsv_swallow_nothing(tmp_path, monkeypatch, block, on_error):
    monkeypatch.setattr(streams, "BLOCK", block)
    data, expected = tickets(3532 if block > 64 else 300)
    (tmp_path / "a.tsv").write_text(data)
    texts, _, documents = read(tmp_path / "a.tsv", on_error=on_error)
    assert texts == expected
    (note,) = documents.notes
    n_stray = sum(text.startswith('"') for text in expected)
    assert note.startswith(f"{tmp_path}/a.tsv:2: from here on, quotes in {n_stray} lines are")
    texts, _, documents = read(tmp_path / "a.tsv", quoting="none")
    assert texts == expected and not documents.notes


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_cells_of_several_lines_stay_whole(tmp_path, monkeypatch, block, delimiter):
    monkeypatch.setattr(streams, "BLOCK", block)
    text = f"one{delimiter}\ntwo\n\nthree{delimiter} four"
    quoted = f'"{text}"'
    name = "a.tsv" if delimiter == "\t" else "a.csv"
    rows = [f"x{delimiter}{quoted}{delimiter}y", f"{quoted}{delimiter}last{delimiter}y"] * 3
    (tmp_path / name).write_text("\n".join([delimiter.join(("id", "text", "label")), *rows]))
    texts, labels, documents = read(tmp_path / name)
    assert texts == [text, "last"] * 3 and labels == [["y"]] * 6 and not documents.notes


@pytest.mark.parametrize("block", BLOCKS)
def test_a_quoted_cell_beside_stray_quotes(tmp_path, monkeypatch, block):
    monkeypatch.setattr(streams, "BLOCK", block)
    rows = ['a\t"stray', 'b\t"a ""quoted"" cell\nof two lines"', "c\tplain", 'd\t"stray again']
    (tmp_path / "a.tsv").write_text("label\ttext\n" + "\n".join(rows))
    texts, _, documents = read(tmp_path / "a.tsv")
    assert texts == ['"stray', 'a "quoted" cell\nof two lines', "plain", '"stray again']
    assert "quotes in 2 lines are ordinary characters" in documents.notes[0]


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\r\n"], ids=repr)
def test_a_stray_quote_on_the_last_line(tmp_path, monkeypatch, block, end):
    monkeypatch.setattr(streams, "BLOCK", block)
    (tmp_path / "a.tsv").write_text(f'text\tlabel\nwheat\ta\nup\ta\n"oil\tb{end}', newline="")
    texts, labels, documents = read(tmp_path / "a.tsv", on_error="skip")
    assert (texts, labels[-1], documents.n_skipped) == (["wheat", "up", '"oil'], ["b"], 0)


def test_very_long_quoted_cells_and_very_late_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "LONGEST_STRAY", 1000)
    monkeypatch.setattr(streams, "BLOCK", 300)
    long = "\n".join(f"line {i}" for i in range(500))
    (tmp_path / "a.tsv").write_text(f'label\ttext\na\t"{long}"\nb\tlast\n')
    assert read(tmp_path / "a.tsv")[0] == [long, "last"]
    rows = "".join(f"b\tline {i}\n" for i in range(500))
    (tmp_path / "a.tsv").write_text(f'label\ttext\na\t"stray\n{rows}')
    assert len(read(tmp_path / "a.tsv")[0]) == 501


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("opening", ["sep=;\r\n", '"sep=;"\r\n', '"sep=;";\n', "sep=;\r"])
@pytest.mark.parametrize("name", ["a.csv", "a.txt"])
def test_the_first_line_of_a_spreadsheet_names_the_delimiter(tmp_path, encoding, opening, name):
    rows = "text;label\n" + "".join(f"text, {i};{'xy'[i % 2]}\n" for i in range(10))
    path = tmp_path / name
    path.write_bytes((opening + rows).encode(encoding))
    texts, labels, documents = read(path)
    assert texts == [f"text, {i}" for i in range(10)] and labels == [["x"], ["y"]] * 5
    assert next(iter(documents)).location(0) == f"{path}:3"


def test_records_after_the_line_that_names_the_delimiter_are_copied(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"wheat {i};grain\r\n" if i % 2 else f"oil {i};crude\r\n" for i in range(20)]
    opening = "sep=;\r\ntext;label\r\n"
    Path("a.csv").write_bytes((opening + "".join(rows)).encode())
    run("split", "a.csv")
    parts = [Path(name).read_bytes().decode() for name in ("a-train.csv", "a-test.csv")]
    assert all(part.startswith(opening) for part in parts)
    copied = [line for part in parts for line in part.removeprefix(opening).splitlines(True)]
    assert sorted(copied) == sorted(rows)
    run("train", "a-train.csv", "-o", "m", "--fast")
    run("filter", "m", "a-test.csv", "--category", "grain", "-o", "b.csv")
    assert Path("b.csv").read_bytes().decode().startswith("sep=;\r\ntext;label\r\nwheat")
    assert set(map(tuple, read("b.csv")[1])) == {("grain",)}
    Path("names.csv").write_text("sep=;\ngrain;Wheat, corn\ncrude;Oil\n")
    assert "Wheat, corn" in run("evaluate", "m", "a-test.csv", "--names", "names.csv")


@pytest.mark.parametrize("broken", [0, 5, 19])
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_broken_records_can_be_left_out_of_both_parts(tmp_path, monkeypatch, name, broken):
    monkeypatch.chdir(tmp_path)
    row = '{{"text": "text {}", "label": "x"}}\n' if name == "a.jsonl" else "text {},x\n"
    rows = [row.format(i) for i in range(20)]
    header = "" if name == "a.jsonl" else "text,label\n"
    rows[broken] = '{"broken\n' if name == "a.jsonl" else "too,many,cells\n"
    Path(name).write_text(header + "".join(rows))
    assert "--on-error skip" in run("split", name, status=2)
    run("split", name, "--on-error", "skip")
    stem, suffix = name.split(".")
    train, test = (Path(f"{stem}-{part}.{suffix}").read_text() for part in ("train", "test"))
    assert train.startswith(header) and test.startswith(header)
    copied = [line for part in (train, test) for line in part.removeprefix(header).splitlines(True)]
    assert sorted(copied) == sorted(row for row in rows if row != rows[broken])


def test_rows_inside_quoted_cells_of_a_csv_are_noted(tmp_path):
    rows = "".join(f"{i},text {i},y\n" for i in range(20))
    path = tmp_path / "a.csv"
    path.write_text(f'id,text,label\n0,"stray,y\n{rows}21,closed",y\n22,text,y\n')
    texts, _, documents = read(path)
    assert len(texts) == 2
    (note,) = documents.notes
    assert note.startswith(f"{path}:2: 20 lines that look like complete rows are inside quoted")
    assert note.endswith('set quoting="none".')
    text = "Roses are red,\nViolets are blue,\nSugar is sweet,\nand so are you,\n" * 3
    path.write_text(f'text,label\n"{text}",y\n')
    texts, _, documents = read(path)
    assert texts == [text] and not documents.notes


@pytest.mark.parametrize(
    ("header", "row", "n"), [("text,label", "{},y", 3), ("id,text,label", "1,{},y", 2)]
)
def test_few_rows_inside_quoted_cells_of_a_csv_are_noted(tmp_path, header, row, n):
    cells = ['"15 inch monitor', *(f"text {i}" for i in range(n)), 'cable 3"', "last"]
    path = tmp_path / "a.csv"
    path.write_text("\n".join([header, *map(row.format, cells), ""]))
    texts, _, documents = read(path)
    assert len(texts) == 2
    (note,) = documents.notes
    assert f"{path}:2: {n} lines that look like complete rows" in note


@pytest.mark.parametrize("header", ["text,label", "id,text,label", "label,text"])
def test_quoted_cells_of_prose_are_not_noted(tmp_path, header):
    chance = random.Random(3)
    words = [
        "Dear",
        "Jo,",
        "we",
        "wait,",
        "as",
        "ever,",
        "here",
        "\n",
        "\n",
        "3,5",
        ";",
        "Prague\n",
    ]
    rows = [header]
    for _ in range(3000):
        text = " ".join(chance.choices(words, k=25)).replace(" \n ", "\n")
        rows.append(",".join(f'"{text}"' if name == "text" else "y" for name in header.split(",")))
    (tmp_path / "a.csv").write_text("\n".join(rows))
    texts, _, documents = read(tmp_path / "a.csv")
    assert len(texts) == 3000 and not documents.notes


@pytest.mark.parametrize("block", [16, 17, 18, 19, 20, 21, 64, 1 << 20])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.txt", "a.jsonl"])
def test_a_mark_at_the_beginning_of_a_row(tmp_path, monkeypatch, block, name):
    monkeypatch.setattr(streams, "BLOCK", block)
    expected = [f"\ufeffrow {i}" for i in range(30)]
    write = {
        "a.csv": lambda text: f"{text},y\n",
        "a.tsv": lambda text: f"{text}\ty\n",
        "a.txt": lambda text: f"{text}\n",
        "a.jsonl": lambda text: f'{{"text":"{text}"}}\n',
    }[name]
    head = {"a.csv": "text,label\n", "a.tsv": "text\tlabel\n"}.get(name, "")
    (tmp_path / name).write_text(head + "".join(map(write, expected)), encoding="utf-8")
    if not head and name == "a.txt":
        expected[0] = "row 0"  # it is the mark of the file
    assert read(tmp_path / name)[0] == expected


def characters_read(monkeypatch) -> list[int]:
    """Count the characters that are given to the parser of rows."""
    counts = [0]
    usual = delimited._read_rows

    def counting(lines, *options, **more):
        def each():
            for line in lines:
                counts[0] += len(line)
                yield line

        return usual(each(), *options, **more)

    monkeypatch.setattr(delimited, "_read_rows", counting)
    return counts


@pytest.mark.parametrize("row", ['a","b\n', '"a,b\n', 'a,"b\n', '"\n', '""",\n', '"a\r'])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_skipping_rows_reads_each_a_few_times(tmp_path, monkeypatch, row, name):
    counts, n = characters_read(monkeypatch), {}
    for size in (10_000, 40_000):
        data = "text,label\nx,y\n" + row * (size // len(row))
        if name == "a.tsv":
            data = data.replace(",", "\t")
        (tmp_path / name).write_text(data, newline="")
        counts[0] = 0
        documents = read_documents(tmp_path / name, on_error="skip")
        for _ in documents:
            pass
        n[size] = counts[0] + 1
    assert n[40_000] < 5 * n[10_000]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_blank_lines_cost_no_parsing(tmp_path, monkeypatch, newline, name):
    counts = characters_read(monkeypatch)
    rows = ["", "", "text,label", "", "up,x", "", "", '"two\n\nlines",y', "", "down,x", "", ""]
    data = newline.join(rows + [""] * 1000)
    (tmp_path / name).write_text(data.replace(",", "\t" if name == "a.tsv" else ","), newline="")
    documents = read_documents(tmp_path / name, batch_size=2)
    batches = list(documents)
    texts = [text for batch in batches for text in batch.texts.to_pylist()]
    lines = [batch.location(i).rpartition(":")[2] for batch in batches for i in range(len(batch))]
    assert (texts, lines) == (["up", "two\n\nlines", "down"], ["5", "8", "12"])
    assert counts[0] < 100


# -------------------------------------------------------------------------------------- JSON lines


@pytest.mark.parametrize("block", [*BLOCKS, 3000])
@pytest.mark.parametrize("label", ['"y"', "0.5"])
def test_skipped_lines_are_listed_in_their_order(tmp_path, monkeypatch, block, label):
    monkeypatch.setattr(streams, "BLOCK", block)
    broken = ['{"text": }', "x", '{"text": "a", "label": {}}', "[", '{"text": "a", "label": }']
    chance = random.Random(3)
    lines = [f'{{"text": "a", "label": {label}}}', *chance.choices([*broken, ""], k=150)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    documents = read(tmp_path / "a.jsonl", on_error="skip")[2]
    expected = [number for number, line in enumerate(lines, 1) if line in broken]
    assert documents.n_skipped == len(expected) > 100
    numbers = [int(sentence.split(":")[1]) for sentence in documents.skipped]
    assert numbers == expected[:100]


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("value", ["{}", "[{}]"])
def test_integers_among_floats_are_exact(tmp_path, monkeypatch, block, value):
    monkeypatch.setattr(streams, "BLOCK", block)
    numbers = ["0.5"] * 200 + [str(2**53 + 1), str(10**25), "3", "-0", "1e300"]
    rows = [f'{{"text": "a", "label": {value.format(number)}}}\n' for number in numbers]
    (tmp_path / "a.jsonl").write_text("".join(rows))
    labels = [label for (label,) in read(tmp_path / "a.jsonl")[1]]
    assert labels == [*numbers[:-2], "0", "1e+300"]


# -------------------------------------------------------------------------------------------- mail


def write_mails(folder: Path, n: int = 20) -> Path:
    words = {"food": "coffee cup and cake", "farm": "grain and tractor prices"}
    for i in range(n):
        label = list(words)[i % 2]
        (folder / label).mkdir(parents=True, exist_ok=True)
        (folder / label / f"{i:04}").write_text(
            f"From: a@b.c\nReceived: from {['farm', 'food'][i % 2]}\nSubject: =?utf-8?q?caf=C3=A9"
            f"_{i}?=\nContent-Transfer-Encoding: base64\n\n"
            + __import__("base64").encodebytes(words[label].encode()).decode()
        )
    return folder


def test_a_mail_folder_without_suffixes(tmp_path):
    folder = write_mails(tmp_path / "mail")
    texts, labels, documents = read(folder)
    assert texts[0] == "café 1\ngrain and tractor prices" and labels[0] == ["farm"]
    assert documents.columns.text == ("subject", "body") and documents.columns.layout == "eml"
    assert documents.notes == [
        f'{folder}: the files are read as mail (format="folder": as plain text).'
    ]
    raw, _, documents = read(folder, format="folder")
    assert raw[0].startswith("From: a@b.c") and not documents.notes
    assert read(folder, format="eml")[0] == texts
    assert read(folder / "farm" / "0001")[0] == texts[:1]


@pytest.mark.parametrize("format", [None, "eml", "folder"])
def test_mail_is_read_as_in_training(tmp_path, format):
    folder = write_mails(tmp_path / "mail")
    (folder / "food" / "plain").write_text("Note: coffee without headers\n")
    (folder / "food" / "other").write_text("Note: not a mail\n\nbut coffee\n")
    model, options = tmp_path / "m", ("--format", format) if format else ()
    run("train", folder, "-o", model, "--fast", *options)
    loaded = Categorizer.load(model)
    assert loaded.columns_.layout == (format or "eml")
    trained_on = read(folder, format=format)[0]
    assert read(folder, familiar=loaded.columns_)[0] == trained_on
    assert run("evaluate", model, folder, "--json") == run(
        "evaluate", model, folder, "--json", "--format", format or "eml"
    )
    mails = folder / "food" / "0000"
    assert run("predict", model, folder).splitlines().count("food") == 12
    explained = run("explain", model, mails, "--json")
    assert ('"feature": "coffee"' in explained) == (format != "folder")
    if format != "folder":
        assert run("predict", model, mails).split() == ["food"]
        piped = run("explain", model, "-", "--json", input=mails.read_text())
        assert piped.partition("category")[2] == explained.partition("category")[2]
        assert run("predict", model, "-", input=mails.read_text()).split() == ["food"]


def test_lines_are_lines_for_a_model_of_mail(tmp_path):
    folder = write_mails(tmp_path / "mail")
    model = Categorizer(preset="fast").fit(str(folder))
    (tmp_path / "lines.txt").write_text("coffee\ngrain\n")
    assert model.predict(tmp_path / "lines.txt") == ["food", "farm"]
    (tmp_path / "odd").write_text("X-Loop: 1\nComments: none\n\ncoffee\ncake\n")
    assert model.predict(tmp_path / "odd") == ["food"]
    assert len(read(tmp_path / "odd")[0]) == 5  # without the model, these are lines


@pytest.mark.parametrize(
    "text",
    ["To: be, or not\nto be\n\n", "Subject: alone\n\nx", "http://x.y\n\nz", "no headers\n\n", ""],
)
def test_texts_that_are_no_mail(text):
    assert not streams.is_mail(text.encode())


def test_a_few_mails_among_texts_do_not_make_all_of_them_mail(tmp_path):
    folder = write_mails(tmp_path / "mixed", 4)
    for i in range(10):
        (folder / "food" / f"text{i}").write_text("Note: plain\n\ntext")
    assert "Note: plain\n\ntext" in read(folder)[0]


def test_pipes_in_a_folder_are_not_opened(tmp_path):
    folder = write_mails(tmp_path / "mail", 4)
    os.mkfifo(folder / "food" / "0009")
    texts, _, documents = read(folder, on_error="skip")
    assert len(texts) == 4 and documents.n_skipped == 1


def test_older_models_have_no_format(tmp_path):
    from thresher.model.storage import _columns_of

    old = {"text": ["body"], "labels": "label", "separator": None}
    assert _columns_of({"columns": old}) == Columns(("body",), "label")
    with pytest.raises(ValueError, match="format that is unknown"):
        _columns_of({"columns": old | {"layout": "x"}})
    for encoding in ("rot13", "nope", 3, []):
        with pytest.raises(ValueError, match="encoding that is unknown"):
            _columns_of({"columns": old | {"encoding": encoding}})


def test_mail_without_a_declared_encoding_is_read_as_in_training(tmp_path):
    (tmp_path / "a.eml").write_bytes("Subject: żółć\nTo: x\n\nłódź\n".encode("cp1250"))
    familiar = Columns(("subject", "body"), encoding="cp1250")
    assert read(tmp_path / "a.eml", familiar=familiar)[0] == ["żółć\nłódź\n"]


def test_mail_without_a_declared_encoding(tmp_path):
    (tmp_path / "a.eml").write_bytes("Subject: Möbel\nTo: x\n\nStühle\n".encode("cp1252"))
    texts, _, documents = read(tmp_path / "a.eml")
    assert texts == ["Möbel\nStühle\n"] and list(documents.encodings.values()) == ["cp1252"]
    data = b"Subject: x\nContent-Type: text/plain; charset=punycode\n\nM\xf6bel " + b"a-" * 9
    (tmp_path / "b.eml").write_bytes(data)
    assert read(tmp_path / "b.eml")[0] == ["x\nMöbel " + "a-" * 9]


# -------------------------------------------------------------------------------- hostile mail


class Counting:
    """A regular expression that counts the characters it passes over."""

    def __init__(self, pattern, counts):
        self.pattern, self.counts = pattern, counts

    def search(self, text, start):
        match = self.pattern.search(text, start)
        self.counts[0] += (match.end() if match else len(text)) - start
        return match


SHAPES = {
    "<a ": "", "<a/": "", "<a\n": "", "<a b=c ": "", '<a b="': "", "<!--": "", "<![CDATA[": "",
    "&#": "&#", "&#1": "\x01", "<": "<", "</": "", "</a ": "", "<p>": "", "<title>": "",
    "<template>": "", "<script>": "", "<style><!--": "", "<b><i>": "", "= \"'": "= \"'", "<a='": "",
    "<!-- -- ->": "", "<?": "", "&amp": "&", "<div><p>x</p>": "x",
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_html_is_read_once(monkeypatch, shape):
    counts = [0]
    monkeypatch.setattr(mail, "MARKUP", Counting(mail.MARKUP, counts))
    closing = {tag: Counting(pattern, counts) for tag, pattern in mail.CLOSING.items()}
    monkeypatch.setattr(mail, "CLOSING", closing)
    html = shape * 20_000
    text = strip_html(html)
    assert counts[0] <= 6 * len(html)
    assert set(text) <= set(SHAPES[shape] + "\n \ufffd")


def test_the_pattern_of_markup_never_goes_back():
    # A quantifier that is not possessive could make the time grow with the square of the size.
    body = mail.MARKUP.pattern.replace("(?:-?>", "")
    assert not any(f"{end}{q}{after}" in body for end in "])" for q in "*+" for after in "[(<\\s")


def test_html_as_browsers_show_it():
    html = (
        '<!DOCTYPE html><html><head><title>no</title><style>p {}</style></head><body class="x>y">'
        "<p>Wheat&nbsp;<b>up</b> 3 &lt; 4<br/>oil <!-- > no --> down<script>if (a < b) {}</script>"
        "<p>&#8364; &euro; &#99999999999; a < b"
    )
    assert strip_html(html) == "Wheat up 3 < 4\noil down\n€ € \ufffd a < b"
    assert strip_html("x <title>open") == "x\nopen" and strip_html("x <script>open") == "x"


@pytest.mark.parametrize(
    "header",
    [
        "Content-Type: text/plain" + ";" * 300_000,
        "Content-Type: text/plain; a=" + '"' * 300_000,
        "Subject: " + "=?a?q?" * 50_000,
        "Subject: " + "x" * 300_000,
        "Subject:" + "\n " * 100_000,
    ],
    ids=lambda header: header[:26],
)
def test_long_headers_are_cut(tmp_path, header):
    data = f"{header}\nTo: x\n\nbody".encode()
    message = mail.parse_message(data)
    assert all(len(value) <= mail.LONGEST_HEADER for value in message.values())
    (tmp_path / "a.eml").write_bytes(data)
    (text,), _, _ = read(tmp_path / "a.eml")
    assert text.endswith("\nbody")


# ------------------------------------------------------------------------------- compression bombs


def bomb(codec: str, head: bytes = b"", n_megabytes: int = 12) -> bytes:
    """Return a few kB that decompress to many megabytes."""
    data = head + b"x" * (n_megabytes << 20)
    if codec == "zst":
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, "zstd") as stream:
            stream.write(data)
        return sink.getvalue().to_pybytes()
    return {"gz": gzip.compress, "bz2": bz2.compress}[codec](data)


@pytest.mark.parametrize("codec", ["zst", "gz", "bz2"])
@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("a.eml", b"Subject: x\nTo: y\n\n"),
        ("a.csv", b"text,label\n"),
        ("a.tsv", b'text\tlabel\n"'),
        ("a.jsonl", b'{"text": "'),
        ("a.txt", b""),
        ("a.ft", b"__label__x "),
        ("a.mbox", b"From a Thu Jan 01 00:00:00 1970\n\n"),
        ("c/x/1.txt", b""),
    ],
)
def test_bombs_take_little_memory(tmp_path, codec, name, head):
    path = tmp_path / f"{name}.{codec}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bomb(codec, head))
    source = tmp_path / "c" if name[0] == "c" else path
    tracemalloc.start()
    try:
        for on_error in ("stop", "skip"):
            with pytest.raises(DocumentError, match=r"more than 1048576 bytes.*raise the limit"):
                read(source, max_document_mb=1, on_error=on_error)
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()
    if name not in ("a.jsonl", "a.csv", "a.tsv"):  # which are not valid
        assert len(read(source, max_document_mb=16)[0][0]) >= 12 << 20


def test_many_short_lines_of_fasttext_come_in_small_batches(tmp_path):
    lines = ["__label__x a", *[""] * 30_000, "__label__y b"]
    (tmp_path / "a.ft").write_text("\n".join(lines) + "\n")
    documents = read_documents(tmp_path / "a.ft")
    copied = []
    documents.keep_records(copied.append)
    batches = list(documents)
    assert max(map(len, batches)) == 10_000
    assert [text for batch in batches for text in batch.texts.to_pylist()] == [
        line.rpartition(" ")[2] for line in lines
    ]
    assert batches[-1].labels[-1] == ["y"] and batches[-1].location(-1).endswith(":30002")
    assert batches[-1].records.each()[-1] == b"__label__y b\n"


def test_a_bomb_of_parquet_takes_little_disk(tmp_path, monkeypatch):
    written = []

    class File(io.BytesIO):
        def write(self, data):
            written.append(len(data))
            return super().write(data)

    monkeypatch.setattr(streams.tempfile, "TemporaryFile", File)
    (tmp_path / "a.parquet.zst").write_bytes(bomb("zst", b"PAR1"))
    with pytest.raises(DocumentError, match="more than 8388608 bytes when it is decompressed"):
        read(tmp_path / "a.parquet.zst", max_document_mb=1)
    assert sum(written) <= 8 << 20
    with pytest.raises(DocumentError, match="is not a Parquet file"):
        read(tmp_path / "a.parquet.zst", max_document_mb=8)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary()], ids=str)
@pytest.mark.parametrize("is_dictionary", [True, False])
@pytest.mark.parametrize("column", ["text", "label", "labels in lists"])
def test_long_values_of_parquet_dictionaries_are_decoded_in_small_batches(
    tmp_path, monkeypatch, kind, is_dictionary, column
):
    monkeypatch.setattr(tables, "MOST_DECODED", 1 << 20)
    long = pa.DictionaryArray.from_arrays([None, 0, *[1] * 100, 0], ["b", "x" * 100_000])
    values = long if is_dictionary else long.cast(kind)
    texts, labels = pa.array(["b"] * len(long)), values
    if column == "text":
        texts, labels = values, texts
    elif column == "labels in lists":
        labels = pa.ListArray.from_arrays(list(range(len(long) + 1)), values)
    pq.write_table(pa.table({"text": texts, "label": labels}), tmp_path / "a.parquet")
    assert os.path.getsize(tmp_path / "a.parquet") < 100_000
    batches = list(read_documents(tmp_path / "a.parquet", labels="label"))
    assert max(map(len, batches)) == (1 << 20) // 100_001
    expected = [value or "" for value in long.to_pylist()]
    if column == "text":
        assert [text for batch in batches for text in batch.texts.to_pylist()] == expected
    else:
        read_labels = [label for batch in batches for label in batch.labels]
        assert read_labels == [[value] if value else [] for value in expected]


@pytest.mark.parametrize("encoding", ["PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"])
def test_every_encoding_of_parquet_is_read(tmp_path, encoding):
    texts = [f"wheat {i}" for i in range(300)]
    table = pa.table({"text": texts, "label": ["x", "y", None] * 100})
    how = {"use_dictionary": ["label"], "column_encoding": {"text": encoding}}
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=70, **how)
    assert encoding in pq.read_metadata(tmp_path / "a.parquet").row_group(0).column(0).encodings
    assert read(tmp_path / "a.parquet")[:2] == (texts, [["x"], ["y"], []] * 100)


@pytest.mark.parametrize("codec", ["gzip", "zstd"])
def test_pages_of_parquet_are_not_decompressed_without_limit(tmp_path, codec):
    table, path = pa.table({"text": ["x" * 1_000_000] * 12}), tmp_path / "a.parquet"
    pq.write_table(table, path, use_dictionary=False, compression=codec)
    with pytest.raises(DocumentError, match=r"row group has 120000\d\d bytes, .*raise the limit"):
        read(path, max_document_mb=1)
    assert len(read(path, max_document_mb=2)[0]) == 12


def test_a_small_table_in_a_bomb_of_a_name(tmp_path):
    table = pa.BufferOutputStream()
    pq.write_table(pa.table({"text": ["a", "b"], "label": ["x", "y"]}), table)
    (tmp_path / "a.parquet.gz").write_bytes(gzip.compress(table.getvalue().to_pybytes()))
    assert read(tmp_path / "a.parquet.gz", max_document_mb=1)[0] == ["a", "b"]
    (tmp_path / "a.txt.xz").write_bytes(lzma.compress(b"x" * 1_000_000))
    with pytest.raises(DocumentError, match="is a binary file"):
        read(tmp_path / "a.txt.xz")


def test_the_limit_is_an_option(tmp_path):
    model = tmp_path / "m"
    Categorizer(preset="fast").fit(["cheap pills", "lunch"], ["x", "y"]).save(model)
    (tmp_path / "a.txt.gz").write_bytes(bomb("gz", n_megabytes=2))
    message = run("predict", model, tmp_path / "a.txt.gz", "--max-document-mb", 1, status=2)
    assert "raise the limit (--max-document-mb 2)" in message
    assert run("predict", model, tmp_path / "a.txt.gz", "--max-document-mb", 3)
    for bad in (0, 1025):
        with pytest.raises(ParameterError, match="max_document_mb is"):
            read_documents(tmp_path, max_document_mb=bad)


def test_many_files_in_another_encoding_are_counted(tmp_path):
    for i in range(130):
        (tmp_path / f"{i:03}.txt").write_bytes(b"caf\xe9")
    documents = read(tmp_path)[2]
    assert len(documents.encodings) == 100
    assert documents.notes[0].startswith(
        f"{tmp_path}/000.txt and 129 more: not UTF-8; read as cp1252"
    )


def test_dates_that_python_does_not_have_are_kept_or_refused(tmp_path):
    Categorizer(preset="fast").fit(["cheap pills", "lunch"], ["x", "y"]).save(tmp_path / "m")
    dates = pa.array([2**30, 5], pa.date32())
    pq.write_table(pa.table({"text": ["pills", "lunch"], "date": dates}), tmp_path / "a.parquet")
    words = ("predict", tmp_path / "m", tmp_path / "a.parquet", "--keep", "date", "-o")
    run(*words, tmp_path / "b.parquet")
    assert pq.read_table(tmp_path / "b.parquet")["date"].combine_chunks().equals(dates)
    refusal = run(*words, tmp_path / "b.jsonl", status=2)
    assert "A column to keep, of type date32[day], has values that" in refusal


def test_lists_of_lists_are_refused_line_by_line(tmp_path):
    lines = [
        {"text": "a", "label": [[1], None]},
        {"text": "b", "label": [[2]]},
        {"text": "c", "label": ["x"]},
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    texts, _, documents = read(tmp_path / "a.jsonl", on_error="skip")
    assert texts == ["c"] and documents.n_skipped == 2 and "a.jsonl:1" in documents.skipped[0]


# A mutated Parquet file, by whose column metadata pyarrow ends the process.
DAMAGED_COLUMN = (
    "c-pO%&ui0A9Kc^5F^<y12EOnDWxPv6g>1Sqi%2f7vs<T5+rl;k5z-R6N&3UIT|J5i@wk)VX;<;0N6~?Yg6xm*Af5"
    "+$+-dlI$!wFZ%`))u^1k2q{rMq$o0fQGi6BA=H3$YpAxbKTGPu{K@XXC2gs^xdarW8}ktE4c=s!1t`!ZP$)tK$?*"
    "j6{eSYp*}HCV%@=PZHxvv7{PFV*eW%lB-}9UKl0Y}V{K4n1cX>o)F=>Q*A9P`CNku46FEs2X0X!Tub)du1>v=~?L"
    "o{s755oYBEiTp5xHaV36#{l=Qs;NzZ61A3re0?v_RdTm)VZy~C5YCCqrA~M9KF_pXai*6b{5OD;9;fiBbZO1u;yP"
    "D9RXoikbB&nqpr1`-FsaV}oxAYk^G*()Q2!4!ARn`<u_u7hN>?iw$z3i--)t{~p<F7-s2uA7~NyYjM2sEYd2MM;m"
    "FPX8YF@VKlV12=pxPAz(eF<bV*fBO^4{iwTBCNOaRIFnhfpsdu){kWKzf5=l*^KcnzbliVKVg7Al0i;`el5Y)PZT"
    "q9`~xu8V!)hUodok)yulL%B-EoxUa36VzT^Kw=uhc}SUE0MnfvQL=Y5{9^Ht94e5LN$@_EiTgtEf<x@Q<k?yJ7$o"
    "e!Tu(c7RD@&(W66)EuH+7!ml<L!G+Ra`f`_%hFzMg29-Yy9q6v0+kq)8i|KP|x}mD~??(^HIvkk0@(f?(?4AU8uF"
    "&3zqA)`fSg3JG-qW%jOnuE-q;Xd>O>Yfy)S$;IHK`6dF+Q"
)


def test_damaged_metadata_of_parquet_do_not_end_the_process(tmp_path):
    (tmp_path / "a.parquet").write_bytes(zlib.decompress(base64.b85decode(DAMAGED_COLUMN)))
    program = "import sys; from thresher import read_documents; list(read_documents(sys.argv[1]))"
    words = [sys.executable, "-c", program, str(tmp_path / "a.parquet")]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 1 and "DocumentError: " in done.stderr
