"""Mutated documents of every format: they must be read with valid texts and labels, or refused.

A case is a generated file, or folder of files, of a format of `thresher.documents.formats`, with
random changes of bytes and larger pieces, read with random options.
"""

from __future__ import annotations

import base64
import bz2
import csv
import gzip
import io
import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.campaign import Attack
from thresher.documents import read_documents, streams
from thresher.documents.formats import FORMATS, READERS
from thresher.documents.labels import LONE_SURROGATES

WORDS = (
    *("wheat", "oil", "up", "down", "Grüße", "naïve", "日本", "🙂", "a,b", 'a "b" c', "x;y", "p|q"),
    *(
        "",
        " ",
        "  ",
        "\t",
        "From me",
        "__label__x",
        "1e400",
        "-0",
        "NaN",
        "null",
        "\ufeff",
        "\u2028",
    ),
)
NAMES = ("text", "body", "label", "labels", "topic", "id", "Title", "", "téxt", "text", "x")
TOKENS = (
    *(b"\r", b"\n", b"\r\n", b"\0", b'"', b'""', b"'", b",", b";", b"\t", b"|", b"\\"),
    *(b"\\u", b"\\ud83d"),
    *(b"{", b"}", b"[", b"]", b":", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"),
    *(b"\xc0\x80", b"\xed\xa0\x80"),
    *(b"\xe9", b"\xff", b"\x80", b"\xf0\x9f\x99", b"1e9999", b"-0", b"NaN", b"true"),
    *(b"null", b"9" * 400),
    *(b"[" * 2000, b'{"a":' * 1000, b"__label__", b"From a Mon Jan  1 00:00:00 2024\n"),
    *(b"--b\n", b"--b--\n"),
    *(b"Content-Type: multipart/mixed; boundary=b\n", b"Content-Type: text/html; charset=utf-7\n"),
    *(b"Content-Transfer-Encoding: base64\n", b"Subject: =?utf-8?q?=E9?= =?x?b?!!?=\n", b"PAR1"),
    *(b"text,label\n", b'{"text": "x", "label": ["a"]}\n', b"\x1f\x8b\x08"),
    *(b"BZh9", b"\x28\xb5\x2f\xfd"),
    *(b"\x1b[2J", b"x" * 3000, b"&#xd800;", b"<script>", b"<![CDATA[", b"]]>", b"\x1a", b"\x85"),
)  # fmt: skip
SUFFIX = {name: kind.suffixes[0] if kind.suffixes else ".txt" for name, kind in READERS.items()}


def attack(rng: random.Random, folder: Path) -> str:
    """Read a mutated file or folder to its end."""
    kind = rng.choice(FORMATS)
    path = folder / "case"
    if kind == "folder":
        path.mkdir()
        for _ in range(rng.randint(1, 4)):
            subfolder = path / rng.choice(("", "a", "b", "c\n", "ü"))
            subfolder.mkdir(exist_ok=True)
            inner = rng.choice(("lines", "eml", "mbox", rng.choice(tuple(READERS))))
            data = mutated(rng, seed(rng, inner))
            (subfolder / f"{rng.randint(0, 9)}{_suffix(rng, inner)}").write_bytes(data)
    else:
        path = folder / f"case{_suffix(rng, kind)}"
        path.write_bytes(mutated(rng, seed(rng, kind)))
    options = _options(rng, kind)
    (folder / "options").write_text(repr(options), encoding="utf-8")
    block = streams.BLOCK
    streams.BLOCK = rng.choice((block, block, 64, 4096))
    try:
        return _read(path, options, counts=rng.random() < 0.05)
    finally:
        streams.BLOCK = block


def _read(path: Path, options: dict[str, Any], counts: bool) -> str:
    documents = read_documents(path, **options)
    n_read = 0
    for batch in documents:
        texts = batch.texts.to_pylist()
        assert len(texts) == len(batch) > 0
        assert all(isinstance(text, str) and not LONE_SURROGATES.search(text) for text in texts)
        if batch.labels is not None:
            assert len(batch.labels) == len(texts)
            for labels in batch.labels:
                assert isinstance(labels, list) and len(set(labels)) == len(labels)
                assert all(label and label == label.strip() for label in labels)
                assert not any(map(LONE_SURROGATES.search, labels))
        places = [batch.location(i) for i in range(len(batch))]
        assert all("\n" not in place for place in places)
        if counts:
            from thresher.text import TextCounter

            assert TextCounter().count(batch.texts).n_rows == len(texts)
        n_read += len(texts)
    assert n_read == documents.n_documents
    assert len(documents.skipped) == min(documents.n_skipped, 100)
    assert all(item.isprintable() or "\n" not in item for item in documents.skipped)
    assert str(documents.columns_note) is not None
    documents.columns_note.encode()
    return "read"


def _options(rng: random.Random, kind: str) -> dict[str, Any]:
    options: dict[str, Any] = {"on_error": rng.choice(("stop", "skip", "skip"))}
    if rng.random() < 0.3:
        options["format"] = kind if rng.random() < 0.8 else rng.choice(FORMATS)
    if rng.random() < 0.3:
        options["text"] = rng.choice(("text", "body", ["text", "id"], "Subject"))
    if rng.random() < 0.3:
        options["labels"] = rng.choice(("label", "labels", False, "topic"))
    if rng.random() < 0.2:
        options["label_separator"] = rng.choice((",", "|", "", " ", "\n"))
    if rng.random() < 0.1:
        options["batch_size"] = rng.choice((1, 2, 1000))
    return options


def _suffix(rng: random.Random, kind: str) -> str:
    return SUFFIX[kind] if rng.random() < 0.7 else rng.choice(("", ".txt", ".gz", ".json", ".dat"))


# Seeds --------------------------------------------------------------------------------------------


def _text(rng: random.Random) -> str:
    return rng.choice((" ", " ", "\n", ", ")).join(rng.choices(WORDS, k=rng.randint(0, 6)))


def _labels(rng: random.Random) -> Any:
    names = rng.choices(("grain", "crude", "a,b", "é", "3", " x ", ""), k=rng.randint(0, 3))
    return rng.choice((names, names, "|".join(names), 3, 2.5, True, None, {"a": 1}, [[1], None]))


def seed(rng: random.Random, kind: str) -> bytes:
    """Return a mostly valid file of a format."""
    n = rng.choice((0, 1, 2, 3, 5, 20))
    if kind in ("csv", "tsv"):
        return _table(rng, n, "\t" if kind == "tsv" else rng.choice(",,;\t|"))
    if kind == "jsonl":
        keys = rng.choice((["text", "label"], ["text", "labels", "id"], rng.choices(NAMES, k=3)))
        rows = [{key: _labels(rng) if "l" in key else _text(rng) for key in keys} for _ in range(n)]
        how = {"ensure_ascii": rng.random() < 0.5, "indent": rng.choice((None,) * 9 + (1,))}
        return "".join(json.dumps(row, **how) + "\n" for row in rows).encode()
    if kind == "parquet":
        return _parquet(rng, n)
    if kind in ("eml", "mbox"):
        mails = [_mail(rng) for _ in range(n if kind == "mbox" else 1)]
        start = b"From a@b Mon Jan  1 00:00:00 2024\n" if kind == "mbox" else b""
        return b"\n".join(start + mail for mail in mails)
    lines = [_text(rng).replace("\n", " ") for _ in range(n)]
    if kind == "fasttext":
        lines = [f"__label__{rng.choice('abc')} {line}" for line in lines]
    return "".join(f"{line}\n" for line in lines).encode()


def _table(rng: random.Random, n: int, delimiter: str) -> bytes:
    header = rng.choice((["text", "label"], ["id", "body", "topic"], rng.choices(NAMES, k=3)))
    rows = [[_text(rng) for _ in header] for _ in range(n)]
    written = io.StringIO(newline="")
    how: dict[str, Any] = {"lineterminator": rng.choice(("\n", "\r\n", "\r"))}
    how["quoting"] = rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
    csv.writer(written, delimiter=delimiter, **how).writerows([header, *rows])
    encoding = rng.choice(("utf-8",) * 6 + ("utf-8-sig", "latin-1", "utf-16", "utf-16-le"))
    return written.getvalue().encode(encoding, "replace")


def _parquet(rng: random.Random, n: int) -> bytes:
    kinds = (
        lambda: pa.array([_text(rng) for _ in range(n)]),
        lambda: pa.array([_text(rng).encode("utf-16") for _ in range(n)]),
        lambda: pa.array([[str(rng.randint(0, 3))] for _ in range(n)], pa.list_(pa.string())),
        lambda: pa.array([rng.choice((None, 1, 2**40)) for _ in range(n)], pa.int64()),
        lambda: pa.array([rng.choice("abc") for _ in range(n)]).dictionary_encode(),
        lambda: pa.array([{"a": 1}] * n, pa.struct([("a", pa.int8())])),
        lambda: pa.array([rng.random() for _ in range(n)], pa.float32()),
        lambda: pa.nulls(n),
    )
    names = rng.choice((["text", "label"], ["text", "labels", "id"], ["body", "body", "topic"]))
    arrays = [kinds[0]() if i == 0 else rng.choice(kinds)() for i in range(len(names))]
    sink = io.BytesIO()
    how: dict[str, Any] = {"compression": rng.choice(("none", "snappy", "zstd", "gzip"))}
    how |= {"row_group_size": rng.choice((1, 3, 1000)), "use_dictionary": rng.random() < 0.5}
    pq.write_table(pa.Table.from_arrays(arrays, names=names), sink, **how)
    return sink.getvalue()


def _mail(rng: random.Random) -> bytes:
    subject, text = (" ".join(_text(rng).split()), _text(rng)) if rng.random() < 0.9 else ("", "")
    parts = [f"Content-Type: text/plain; charset=utf-8\n\n{text}\n"]
    if rng.random() < 0.4:
        page = base64.encodebytes(f"<p>{_text(rng)}</p><style>x</style>".encode()).decode()
        parts.append(f"Content-Type: text/html\nContent-Transfer-Encoding: base64\n\n{page}")
    if rng.random() < 0.3:
        parts.append("Content-Type: image/png\nContent-Disposition: attachment\n\n\ufffd\n")
    head = f"Subject: {subject}\nX-Label: {rng.choice('ab')}\nMIME-Version: 1.0\n"
    if len(parts) == 1:
        return f"{head}{parts[0]}".encode()
    inside = "".join(f"--b\n{item}\n" for item in parts)
    return f"{head}Content-Type: multipart/mixed; boundary=b\n\n{inside}--b--\n".encode()


# Mutations ----------------------------------------------------------------------------------------


def mutated(rng: random.Random, data: bytes) -> bytes:
    for _ in range(rng.choice((0, 1, 1, 1, 1, 2, 6))):
        data = _mutate(rng, data)
    compress = rng.choice((None,) * 7 + (gzip.compress, bz2.compress, _zstd))
    if compress is not None:
        data = compress(data)
        if rng.random() < 0.5:
            data = _mutate(rng, data)
    return data


def _zstd(data: bytes) -> bytes:
    return pa.compress(data, codec="zstd", asbytes=True)


def _mutate(rng: random.Random, data: bytes) -> bytes:
    how = rng.randrange(8)
    start = rng.randrange(len(data) + 1)
    end = min(len(data), start + rng.choice((1, 1, 2, 8, 64, 1000)))
    if how == 0 and data:  # flip some bits
        changed = bytearray(data)
        for _ in range(rng.choice((1, 1, 4, 32))):
            changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        return bytes(changed)
    if how == 1:
        return data[:start] + data[end:]
    if how in (2, 3, 4):
        return data[:start] + rng.choice(TOKENS) + data[start if how < 4 else end :]
    if how == 5:  # repeat a piece
        return data[:end] + data[start:end] * rng.choice((1, 1, 5)) + data[end:]
    if how == 6:  # continue with another format
        return data[:start] + seed(rng, rng.choice(tuple(READERS)))
    return data[:start]


ATTACKS = (Attack("documents", "mutated documents of every format", attack, cases=20_000),)
