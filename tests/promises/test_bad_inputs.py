"""Inputs that break parsers, made by rule: each is read rightly or refused, in one line."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from thresher import Categorizer
from thresher.documents import read_documents, streams
from thresher.documents.labels import escape_surrogates
from thresher.errors import DocumentError, ThresherError, escaped, reason

REPLACED = "\N{REPLACEMENT CHARACTER}"


def read(path, **options):
    """Return the texts and labels of a file, or the sentence that refuses it, which is one line."""
    try:
        batches = list(read_documents(path, **options))
    except ThresherError as error:
        assert len(str(error).splitlines()) == 1 and str(error).endswith((".", "?"))
        return str(error)
    texts = [text for batch in batches for text in batch.texts.to_pylist()]
    labels = [one for batch in batches for one in batch.labels or [None] * len(batch)]
    return list(zip(texts, labels, strict=True))


# JSON: the kinds of cases that suites of JSON parsers have ----------------------------------------

# Values of the text field that are JSON, and the text that comes of them.
SOUND = {
    b'""': "",
    b'"a"': "a",
    b'"\\u0061\\u30AF\\u30EA\\u30B9"': "a\u30af\u30ea\u30b9",
    b'"\\uD801\\udc37"': "\U00010437",
    b'"\\ud83d\\ude39\\ud83d\\udc8d"': "\U0001f639\U0001f48d",
    b'"\\"\\\\\\/\\b\\f\\n\\r\\t"': '"\\/\b\f\n\r\t',
    b'"\\\\n"': "\\n",
    b'"\\u0012"': "\x12",
    b'"\\uFFFF"': "\uffff",
    b'"\\uDBFF\\uDFFE"': "\U0010fffe",
    b'"\\u2028\\u2029"': "\u2028\u2029",
    b'"\\u0022\\u005C"': '"\\',
    b'"\\uFEFF"': "\ufeff",
    b'"\\u0000"': "\0",
    b'"\\u00A0"': "\xa0",
    b'"a/*b*/c//d"': "a/*b*/c//d",
    b'"\x7f"': "\x7f",
    '"€𝄞"'.encode(): "€𝄞",
    '"\u2028\u2029\u0085"'.encode(): "\u2028\u2029\x85",
    b'" "': " ",
    b"null": "",
    b"true": "true",
    b"false": "false",
    b"1": "1",
    b"-1": "-1",
    b"-0": "0",
    b"0": "0",
    b"1.0": "1",
    b"0e1": "0",
    b"0e+1": "0",
    b"1E22": "1e+22",
    b"1E-2": "0.01",
    b"1e-999": "0",
    b"123.456789": "123.456789",
    b"1" * 30: "1" * 30,
    b" 1 ": "1",
    b"\t1\r": "1",
}
# Values where a parser may do either; ours reads them as Python does.
EITHER = {
    b'"\\uDADA"': REPLACED,
    b'"\\uD888\\u1234"': REPLACED + "\u1234",
    b'"\\uDFAA"': REPLACED,
    b'"\\uDd1ea"': REPLACED + "a",
    b'"\\uD800\\uD800\\n"': REPLACED * 2 + "\n",
    b"NaN": "",
    b"Infinity": "inf",
    b"-Infinity": "-inf",
    b"1e9999": "inf",
    b"-1e9999": "-inf",
    b"1" + b"0" * 400: "1" + "0" * 400,
}
# Bytes within a string that are not UTF-8: replaced in texts, escaped in labels.
NOT_UTF8 = {
    "lone continuation": b"\x80",
    "all continuations": bytes(range(0x80, 0xC0)),
    "lonely start of two": b"\xc3",
    "lonely start of three": b"\xe2",
    "lonely start of four": b"\xf0",
    "starts with spaces": b" ".join(bytes([one]) for one in range(0xC0, 0xF8)),
    "last byte of two missing": b"\xc3 x",
    "last byte of three missing": b"\xe2\x82 x",
    "last byte of four missing": b"\xf0\x9f\x99 x",
    "impossible fe": b"\xfe",
    "impossible ff": b"\xff",
    "overlong slash in two": b"\xc0\xaf",
    "overlong slash in three": b"\xe0\x80\xaf",
    "overlong slash in four": b"\xf0\x80\x80\xaf",
    "overlong slash in five": b"\xf8\x80\x80\x80\xaf",
    "overlong slash in six": b"\xfc\x80\x80\x80\x80\xaf",
    "overlong largest of one": b"\xc1\xbf",
    "overlong largest of two": b"\xe0\x9f\xbf",
    "overlong zero": b"\xc0\x80",
    "high surrogate": b"\xed\xa0\x80",
    "low surrogate": b"\xed\xbf\xbf",
    "pair of surrogates": b"\xed\xa0\xbd\xed\xb9\x81",
    "beyond the last": b"\xf4\x90\x80\x80",
    "five bytes": b"\xf8\x88\x80\x80\x80",
    "six bytes": b"\xfc\x84\x80\x80\x80\x80",
    "Latin-1": "été".encode("latin-1"),
}
# Values that are not JSON at all.
BROKEN = [
    *(b"'a'", b"a", b"tru", b"nul", b"fals", b"True", b"undefined", b"nan", b"inf", b"0x1", b"1a"),
    *(b"01", b"-01", b"-", b"+1", b".5", b"1.", b"-.5", b"1.e1", b"1e", b"1e+", b"1eE2", b"0.1.2"),
    *(b"1 000", b"1_000", b"--1", b"-foo", b"- 1", b"0e", b"2.e-3", b"0.e1", "１".encode(), b"Inf"),
    *(b'"\\x00"', b'"\\u"', b'"\\u12"', b'"\\u00A"', b'"\\uD834\\u"', b'"\\a"', b'"\\"', b'"\\'),
    *(b'"a', b'a"', b'"', b'"a" "b"', b'"a",,', b'"\\\xf0\x9f\x8c\x80"', b'"\\\\\\"'),
    *(b'"a\tb"', b'"new\x0bline"', b'"\x1f"', b'"\\ "', b"'\"", b"\\n", b"/**/", b'"a"//b', b"#"),
    *(b"[1,]", b"[,1]", b"[1,,2]", b"[1", b"1]", b"[", b"]", b'["x"', b'["": 1]', b"[1 true]"),
    *(b"{", b"}", b"{1:1}", b"{a:1}", b'{"a"}', b'{"a":}', b'{"a" 1}', b'{"a":1,}', b"{'a':1}"),
    *(b'{"a":1,,"b":2}', b'{:"b"}', b'{"a":"b"}#', b"{null:null}", b"[" * 100_000, b'{"a":' * 9999),
    *(b"<null>", b"<.>", b"\xe2\x81\xa0", b"*", b"&", b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xe9"),
]
# Values that are JSON, but no text.
NO_TEXT = [b"[]", b"{}", b'["a"]', b'{"a": 1}', b"[[]]", b"[1,2]", b'{"text": "x"}']


def line(text=b'"t"', label=b'"l"', key=b'"text"'):
    return b"{%s: %s, %s: %s}" % (key, text, b'"label"', label)


def written(path: Path, *lines: bytes) -> Path:
    path.write_bytes(b"\n".join((line(), *lines, line(b'"end"'), b"")))
    return path


def test_there_are_as_many_cases_as_a_suite_has():
    cases = (SOUND, EITHER, NOT_UTF8, BROKEN, NO_TEXT)
    assert sum(map(len, cases)) >= 150 and len(set(BROKEN)) == len(BROKEN)


@pytest.mark.parametrize(("value", "text"), (SOUND | EITHER).items())
def test_json_that_is_read(tmp_path, value, text):
    """As a text, as a label, and as the only document, whose type decides how all are parsed."""
    path = written(tmp_path / "a.jsonl", line(text=value))
    assert read(path) == [("t", ["l"]), (text, ["l"]), ("end", ["l"])]
    label = [text.strip()] if text.strip() else []
    if REPLACED in text:  # labels stay distinct
        label = [escape_surrogates(json.loads(value)).strip()]
    path = written(tmp_path / "b.jsonl", line(label=value))
    assert read(path, label_separator="") == [("t", ["l"]), ("t", label), ("end", ["l"])]
    (tmp_path / "c.jsonl").write_bytes(line(text=value))
    assert read(tmp_path / "c.jsonl") == [(text, ["l"])]


@pytest.mark.parametrize("key", [b'"\\ud800"', b'"a\\uDFAA"', b'"\\uD800\\uD800"'])
def test_json_keys_that_are_half_a_surrogate_pair(tmp_path, key):
    """As another key, as that of the text, of the labels, and where all keys are shown."""
    shown = re.sub(r"\\u....", REPLACED, key.decode())[1:-1]
    other = b'{%s: 1, "text": "x", "label": "l"}' % key
    path = written(tmp_path / "a.jsonl", other)
    assert read(path) == [("t", ["l"]), ("x", ["l"]), ("end", ["l"])]
    path.write_bytes(other + b"\n" + line() + b"\n")
    assert read(path) == [("x", ["l"]), ("t", ["l"])]
    path.write_bytes(b'{%s: "x y", "label": "l"}\n' % key)
    assert read(path, text=shown) == [("x y", ["l"])]
    path.write_bytes(b'{"text": "x y", %s: "l"}\n' % key)
    assert read(path, labels=shown) == [("x y", ["l"])]
    assert f'its columns are "text", "{shown}".' in read(path, text="title")
    path.write_bytes(b'{"text": {%s: "x"}, "label": "l"}\n' % key)
    assert "a.jsonl:1: " in read(path)


@pytest.mark.parametrize("value", [b"null", b"true", b"1", b'"text"', b"[]", b" null"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_line_that_is_no_object(tmp_path, monkeypatch, value, place):
    """Be it the first of a block, where pyarrow dies of null."""
    lines = [line(), line(b'"end"')]
    lines.insert(place, value)
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n".join([*lines, b""]))
    for size in (streams.BLOCK, len(lines[0]) + 1):
        monkeypatch.setattr(streams, "BLOCK", size)
        documents = read_documents(path, on_error="skip")
        assert [text for batch in documents for text in batch.texts.to_pylist()] == ["t", "end"]
        (sentence,) = documents.skipped
        assert sentence.startswith(f"{path}:{place + 1}: the line holds no JSON object")


@pytest.mark.parametrize("value", NOT_UTF8.values(), ids=NOT_UTF8)
def test_bytes_that_are_not_utf8(tmp_path, value):
    """As a text, a label, a key, and in the other formats of files that are named as UTF-8."""
    utf8 = {"encoding": "utf-8"}
    path = written(tmp_path / "a.jsonl", line(text=b'"a%sz"' % value))
    first, (text, _), last = read(path, **utf8)
    assert first[0] == "t" and last[0] == "end"
    assert text[0] == "a" and text[-1] in "xz" and REPLACED in text
    path = written(tmp_path / "b.jsonl", line(label=b'"a%sz"' % value))
    ((label,),) = [labels for _, labels in read(path, **utf8) if labels != ["l"]]
    assert label == (b"a%sz" % value).decode("utf-8", "backslashreplace")
    lines = [line(key=b'"%s"' % value)] * 3
    (tmp_path / "c.jsonl").write_bytes(b"\n".join(lines))
    documents = read_documents(tmp_path / "c.jsonl", **utf8)
    assert [labels for batch in documents for labels in batch.labels] == [["l"]] * 3
    assert documents.columns.text[0].encode()
    for name, data in (
        ("a.csv", b"text,label\na%sz,l\n"),
        ("a.tsv", b"text\tlabel\na%sz\tl\n"),
        ("a.ft", b"__label__l a%sz\n"),
    ):
        (tmp_path / name).write_bytes(data % value)
        assert read(tmp_path / name, **utf8) == [(text, ["l"])]
    (tmp_path / "a.txt").write_bytes(b"a%sz\n" % value)
    assert read(tmp_path / "a.txt", format="lines", **utf8) == [(text, None)]


@pytest.mark.parametrize("value", BROKEN, ids=lambda value: ascii(value[:20]))
def test_json_that_is_refused(tmp_path, value):
    path = written(tmp_path / "a.jsonl", line(text=value))
    assert read(path).startswith(f"{path}:2: invalid JSON")
    assert read(path, on_error="skip") == [("t", ["l"]), ("end", ["l"])]
    path = written(tmp_path / "b.jsonl", line(label=value))
    assert read(path).startswith(f"{path}:2: invalid JSON")
    path = written(tmp_path / "c.jsonl", value)
    if value and value != b"{}":  # as the whole line; an empty one is none
        assert read(path).startswith(f"{path}:2: ")


@pytest.mark.parametrize("value", NO_TEXT)
def test_json_that_is_no_text(tmp_path, value):
    path = written(tmp_path / "a.jsonl", line(text=value))
    assert read(path).startswith(f'{path}:2: "text": ')
    assert read(path, on_error="skip") == [("t", ["l"]), ("end", ["l"])]


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        (b'\xef\xbb\xbf{"text": "a"}\n', ["a"]),
        (b'{"text": "a", "text": "b"}\n', ["b"]),
        (b'{"text": "a", "\\u0000": 1, "": 2}\n', ["a"]),
        (b' {"text": "a"} \r\n\r\n\t\n{"text": "b"}', ["a", "b"]),
        (b'{"text": "a"}\n\n\n', ["a"]),
        (b'{"a\\u0000b": "x"}\n', ["x"]),
    ],
)
def test_whole_files_of_json(tmp_path, content, texts):
    (tmp_path / "a.jsonl").write_bytes(content)
    assert [text for text, _ in read(tmp_path / "a.jsonl")] == texts


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.txt", "a.ft"])
def test_utf_16_is_read_if_it_has_a_mark(tmp_path, encoding, name):
    line = {"a.jsonl": '{"text": "ä"}', "a.csv": "text\nä"}.get(name, "ä")
    (tmp_path / name).write_bytes(f"{line}\n".encode(encoding))
    if encoding in ("utf-16", "utf-32"):
        assert [text for text, _ in read(tmp_path / name)] == ["ä"]
    else:
        assert "is a binary file" in read(tmp_path / name)
    assert [text for text, _ in read(tmp_path / name, encoding=encoding)] == ["ä"]


# CSV ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", [1, 7, 1 << 20])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize(
    ("rows", "texts"),
    [
        ([b"text,label", b"a,x", b"b,x"], ["a", "b"]),
        ([b"\xef\xbb\xbftext,label", b"a,x"], ["a"]),
        ([b'"text","label"', b'"a ""b"" c",x'], ['a "b" c']),
        ([b"text,label", b'a "b" c,x', b'd"e,x'], ['a "b" c', 'd"e']),
        ([b"text,label", b'"a"b,x'], ["ab"]),
        ([b"text,label", b'"a,b",x', b'"",x'], ["a,b", ""]),
        ([b"text,label", b" a , x"], [" a "]),
        ([b"text;label", b"1,5;x"], ["1,5"]),
        ([b"text\tlabel", b"1,5\tx"], ["1,5"]),
        ([b"text,label,", b"a,x,"], ["a"]),
        ([b"text,label,,", b"a,x,,"], ["a"]),
        ([b"text", b"a", b"b"], ["a", "b"]),
        ([b"", b"", b"text,label", b"", b"a,x", b""], ["a"]),
        ([b"text,label", b"a\0b,x"], ["a\0b"]),
        ([b"text,label", b"=1+1,x"], ["=1+1"]),
        ([b"text,label", b"\xe9,x"], ["é"]),
        ([b"text,label", b"NULL,x", b"nan,x"], ["NULL", "nan"]),
        ([b"text,label", b"x" * 200_000 + b",x"], ["x" * 200_000]),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_csv_that_is_read(tmp_path, monkeypatch, rows, texts, end, block):
    monkeypatch.setattr(streams, "BLOCK", block if len(rows[-1]) < 1000 else 1 << 20)
    data = end.join([*rows, b""])
    if b"\0" in data:
        data = data.replace(b"a\0b", b" " * (1 << 16) + b"a\0b")  # after what tells that it is text
        texts = [" " * (1 << 16) + text for text in texts]
    (tmp_path / "a.csv").write_bytes(data)
    assert [text for text, _ in read(tmp_path / "a.csv")] == texts
    documents = read_documents(tmp_path / "a.csv")
    places = [batch.location(i) for batch in documents for i in range(len(batch))]
    first = next(i for i, row in enumerate(rows) if row and b"text" not in row) + 1
    assert places[0] == f"{tmp_path / 'a.csv'}:{first}"


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([b"text,label", b"a,x", b"b", b"c,x"], "a.csv:3: the row has 1 cell, the header 2"),
        ([b"text,label", b"a,x", b"b,x,y"], "a.csv:3: the row has 3 cells, the header 2"),
        ([b"text,label", b"a,x", b'"b,x'], "a.csv:3: a quote opened in this row is never closed"),
        ([b"text,text", b"a,b"], 'a.csv: has 2 columns named "text"'),
        ([b"text,label"], "there are no documents"),
        ([b"", b""], "there are no documents"),
        ([b"a,b,c", b"1,2,3"], "none of its columns is obviously the text"),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_csv_that_is_refused(tmp_path, rows, sentence, end):
    (tmp_path / "a.csv").write_bytes(end.join([*rows, b""]))
    assert sentence in read(tmp_path / "a.csv")


def test_a_lone_return_in_the_first_line_of_what_has_no_name(tmp_path):
    for data in (b"a,b\rc\n", b"text,label\ra,x\r", b'"a\r', b"\r", b"\r,\r\n,", b"a\tb\r\rtext\n"):
        (tmp_path / "a").write_bytes(data)
        assert read(tmp_path / "a")


# Mail ---------------------------------------------------------------------------------------------

PART = b"Content-Type: multipart/mixed; boundary=%s\n\n--%s\n"


@pytest.mark.parametrize(
    ("mail", "word"),
    [
        (b"Subject: a\n\nword", "word"),
        (b"\n\nword", "word"),
        (b"Subject a no colon\n\nword", "word"),
        (b"Subject: =?utf-8?q?caf=C3=A9?=\n\nword", "café"),
        (b"Subject: =?utf-8?b?!!!?= =?nowhere?q?a?= =?utf-8?q?=E9\n\nword", "word"),
        (b"Subject: a\nContent-Type: text/plain; charset=nowhere\n\nw\xc3\xb6rd", "wörd"),
        (b"Subject: a\nContent-Type: text/plain; charset=ascii\n\nw\xf6rd", "wörd"),
        (b"Content-Transfer-Encoding: base64\n\n%%%not base64%%%", ""),
        (b"Content-Transfer-Encoding: quoted-printable\n\n=ZZ=3Dword=", "=word"),
        (b"Content-Type: multipart/mixed\n\n--b\n\nword", ""),
        (b"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nword", "word"),
        (b"Content-Type: multipart/mixed; boundary=b\n\nno part at all", ""),
        (b"Content-Type: multipart/mixed; boundary=\n\n--\n\nword", ""),
        (b"Content-Type: ;;;===\n\nword", "word"),
        (b"Subject: " + b"x" * (1 << 20) + b"\n\nword", "word"),
        (b"Content-Type: text/html\n\n<p>word<script>no</script><b", "word"),
        (b"Content-Type: text/html\n\n<![CDATA[x]]><!--", ""),
        (b"Subject: a\r\rword", ""),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_odd_mail(tmp_path, mail, word):
    (tmp_path / "a.eml").write_bytes(mail)
    ((text, _),) = read(tmp_path / "a.eml")
    assert word in text and "no</script>" not in text
    (tmp_path / "a.mbox").write_bytes(b"From a Mon Jan  1 00:00:00 2024\n" + mail + b"\n")
    assert [word in text for text, _ in read(tmp_path / "a.mbox")] == [True]


def test_mail_within_mail_a_thousand_times(tmp_path):
    names = [b"b%d" % i for i in range(1000)]
    (tmp_path / "a.eml").write_bytes(b"".join(PART % (name, name) for name in names) + b"\nword\n")
    answer = read(tmp_path / "a.eml")
    assert isinstance(answer, list) or "cannot be parsed" in answer


# Parquet, folders, and names ----------------------------------------------------------------------


def test_a_column_of_parquet_whose_name_is_not_utf8(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["a"], "caf\u00e9": ["b"]}), path, compression="none")
    data = path.read_bytes()
    assert "caf\u00e9".encode() in data
    path.write_bytes(data.replace("caf\u00e9".encode(), b"caf\xe9x"))
    answer = read(path)
    assert "the name of a column is not UTF-8 (b'caf\\xe9x')" in answer


def test_damaged_parquet(tmp_path):
    pq.write_table(pa.table({"text": ["a", "b"] * 50}), tmp_path / "a.parquet")
    data = (tmp_path / "a.parquet").read_bytes()
    for cut in (4, 8, 11, 12, len(data) // 2, len(data) - 1):
        (tmp_path / "b.parquet").write_bytes(data[:cut])
        assert "b.parquet: " in read(tmp_path / "b.parquet")


@pytest.mark.parametrize("name", [b"new\nline.txt", b"caf\xe9.txt", b"\x1b[2J.txt", b"x" * 255])
def test_names_of_files_are_shown_in_one_line(tmp_path, name):
    path = Path(str(tmp_path), name.decode("utf-8", "surrogateescape"))
    path.write_bytes(b"a\nb\0")
    (tmp_path / "f").mkdir()
    assert "is a binary file" in read(path)
    path.write_bytes(b"a\n")
    (batch,) = read_documents(path)
    assert batch.location(0) == escaped(f"{path}:1")
    assert batch.location(0).isprintable()


def test_names_that_no_file_can_have(tmp_path):
    for name in ("x" * 300, "a\0b", "a\nb", "\udcff", "x/" * 3000):
        for path in (tmp_path / name, name, [tmp_path / name]):
            assert "there is no such file or folder" in read(path)


def test_a_library_has_its_say_in_one_short_line():
    assert reason(ValueError("one\n\n  two.")) == "one two"
    assert len(reason(ValueError("x" * 9999))) < 250
    assert reason(KeyError()) == "KeyError"
    assert str(DocumentError("a\nb\x1b[0m\udcff\u202e")) == r"a\nb\x1b[0m\udcff\u202e"


# Training -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
@pytest.mark.parametrize("learner", ["auto", "perceptron", "naive-bayes", "decision-tree"])
def test_documents_without_a_word(text, learner):
    with pytest.raises(DocumentError, match="None of the 4 documents has a word: "):
        Categorizer(learner).fit([text] * 4, ["a", "b"] * 2)


def test_as_many_categories_as_documents_are_asked_about(tmp_path):
    rows = [{"text": f"a b{i % 7}", "label": f"id {i}"} for i in range(1200)]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.warns(UserWarning, match='1,200 categories for 1,200 documents: is "label" really'):
        Categorizer("perceptron", remember=0).fit(path)


# Standard streams ---------------------------------------------------------------------------------

STREAMS = {
    "stdin closed": ("predict model <&-", 2, "thresher: standard input: is closed; "),
    "stdout closed": ("predict model data.csv >&-", 2, "thresher: standard output is closed; "),
    "stdout full": ("predict model data.csv >/dev/full", 2, "thresher: standard output cannot be "),
    "help to full": ("--help >/dev/full", 2, "thresher: standard output cannot be "),
    "table to full": ("inspect model >/dev/full", 2, "thresher: standard output cannot be "),
    "stderr closed": ("predict nothing data.csv 2>&-", 2, ""),
    "stderr full": ("predict nothing data.csv 2>/dev/full", 2, ""),
    "all closed": ("predict model data.csv <&- >&- 2>&-", 2, ""),
    "folder as file": ("explain model a --html .", 2, "thresher: "),
    "not UTF-8": (r"explain model - < latin1", 0, ""),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("streams")
    Categorizer(preset="fast").fit(["été x", "oil y"] * 3, ["été", "oil"] * 3).save(path / "model")
    (path / "data.csv").write_text("text,label\nété,été\n", encoding="utf-8")
    (path / "latin1").write_bytes("été x\n".encode("latin-1"))
    return path


def command(folder, words, **env):
    import thresher

    env["PYTHONPATH"] = str(Path(thresher.__file__).parents[1])
    line = f"{sys.executable} -m thresher {words}"
    return subprocess.run(line, shell=True, cwd=folder, capture_output=True, env=env, timeout=120)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device is full")
@pytest.mark.parametrize(("words", "status", "sentence"), STREAMS.values(), ids=STREAMS)
def test_standard_streams(folder, words, status, sentence):
    done = command(folder, words)
    complaint = done.stderr.decode()
    assert done.returncode == status and complaint.startswith(sentence)
    assert complaint.count("\n") <= 1


@pytest.mark.slow
@pytest.mark.parametrize("words", ["predict model data.csv", "inspect model"])
def test_an_ascii_terminal(folder, words):
    done = command(folder, words, LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert done.returncode == 0 and b"Traceback" not in done.stderr
    assert rb"\xe9t\xe9" in done.stdout
    printed = command(folder, f"{words} --json", PYTHONIOENCODING="ascii").stdout.decode("ascii")
    assert [json.loads(line) for line in printed.splitlines()]


# Memory -------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("n_megabytes", [8, 64])
def test_a_stream_of_any_length_takes_the_same_memory(folder, n_megabytes):
    """Compressed a thousandfold, it is a stream like any other."""
    path = folder / f"{n_megabytes}.jsonl.gz"
    rows = (line(b'"%s"' % (b"word " * 200)) + b"\n") * 1000
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(n_megabytes):
            file.write(rows)
    code = (
        "import resource, sys\n"
        "from thresher.documents import read_documents\n"
        "documents = read_documents(sys.argv[1])\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "n = sum(len(batch.texts) for batch in documents)\n"
        "print(n, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    n, taken = map(int, done.stdout.split())
    assert n == 1000 * n_megabytes and taken < 100, done.stderr


def test_what_does_not_fit_is_refused_before_it_is_taken(monkeypatch):
    monkeypatch.setattr("thresher.limits.room", lambda: 10)
    with pytest.raises(ThresherError, match=r"features and 2 categories need 0\.0 GB of memory "):
        Categorizer("perceptron").fit(["wheat up", "oil down"] * 2, ["x", "y"] * 2)
