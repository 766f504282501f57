"""Large hostile documents: the time to read them must be proportional to their size.

A case repeats a short piece after the opening of a format until the file has 10^4 rows or 10^6
bytes. The processor time may not exceed a generous number of seconds per megabyte.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.campaign import Attack, Case
from fuzz.documents import TOKENS
from thresher.documents import read_documents
from thresher.errors import ThresherError
from thresher.text import TextCounter

__all__ = ["ATTACKS", "SECONDS_PER_MEGABYTE", "attempt"]

N_ROWS, N_BYTES = 10**4, 10**6
SECONDS_PER_MEGABYTE, START = 10.0, 0.5  # usual ones take 0.01 to 0.5; hostile JSON lines 7
HTML_PIECES = (
    *(b"<a ", b"<a/", b"<a\n", b"<a b=c ", b'<a b="', b"<a b='", b"<!--", b"<!-", b"-->", b"<!["),
    *(
        b"<?",
        b"</a",
        b"<script>",
        b"</script",
        b"<style ",
        b"&#1",
        b"&amp",
        b"&",
        b"<",
        b">",
        b"<<",
    ),
)
MAIL_PIECES = (
    *(b"From a@b Mon Jan  1 00:00:00 2024\n", b"\nFrom ", b">From x\n", b"--b\n", b"--b--\n"),
    *(b"Subject: x\n", b"a: b\n", b" =?utf-8?q?x?=", b"=?", b"=?x?b?", b"=\n", b"=E9"),
)
TABLE_PIECES = (
    *(
        b'a","b\n',
        b'"',
        b'""',
        b'"\n',
        b'a"b',
        b'"a"b,',
        b",",
        b"\t",
        b'"\t',
        b'\t"\n',
        b"\r",
        b"\r\n",
    ),
    *(b'x\t"y\n', b'"x\ty\n', b'x,"y\n', b'"x,y\n', b'a"\t"b\n', b"a,b,c\n", b"\n"),
)
JSON_PIECES = (
    *(b'{"text": "x"}\n', b'{"text": [1]}\n', b'{"a":', b"[", b"{", b"}\n", b'"\\u0041', b"null\n"),
)
LINE_PIECES = (
    *(b"\n", b" ", b"x", b"x ", b"\\", b"\xc3\xbc", b"\xfc", b"\r", b"__label__x ", b"__label__"),
)
PIECES = (*HTML_PIECES, *MAIL_PIECES, *TABLE_PIECES, *JSON_PIECES, *LINE_PIECES)
USUAL_PIECES = {
    ".csv": TABLE_PIECES,
    ".tsv": TABLE_PIECES,
    ".jsonl": JSON_PIECES,
    ".eml": (*HTML_PIECES, *MAIL_PIECES),
    ".mbox": (*HTML_PIECES, *MAIL_PIECES),
    ".txt": LINE_PIECES,
    ".ft": LINE_PIECES,
}
MULTIPART = b"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n"
HTML = b"MIME-Version: 1.0\nContent-Type: text/html; charset=utf-8\n"
QUOTED = b"Content-Type: text/plain\nContent-Transfer-Encoding: quoted-printable\n"
OPENINGS: dict[str, tuple[bytes, ...]] = {
    ".csv": (b"text,label\n", b"text;label\nx;y\n", b'text,label\n"', b"text,label\nx,"),
    ".tsv": (b"text\tlabel\n", b'text\tlabel\n"', b"id\ttext\tlabel\n"),
    ".jsonl": (b'{"text": "x", "label": "a"}\n', b'{"text": "'),
    ".eml": (
        *(HTML + b"\n", HTML + b"\n<html><body>", QUOTED + b"\n", MULTIPART + b"\n--b\n"),
        *(b"From: a@b\nSubject: ", b"From: a@b\n", b"Content-Type: text/html; charset="),
        b"Subject: x\n\n",
    ),
    ".mbox": (b"From a@b Mon Jan  1 00:00:00 2024\n" + HTML + b"\n",),
    ".txt": (b"", b"first line\n"),
    ".ft": (b"__label__a first\n",),
}  # fmt: skip


def attempt(case: Case, folder: Path) -> str:
    """Read a large file of a random format, and count its words; check the time."""
    kind = case.choice((*OPENINGS, "rows", "rows"))
    path = (_rows if kind == "rows" else _repeated)(case, folder, kind)
    options: dict[str, Any] = {"on_error": case.choice(("stop", "skip", "skip", "skip"))}
    counts = case.random() < 0.2
    if counts:
        TextCounter().count(pa.array(["compiles the kernels"]))
    (folder / "options").write_text(repr(options))
    size, began = path.stat().st_size, time.process_time()
    try:
        documents = read_documents(path, **options)
        for batch in documents:
            if counts:
                TextCounter().count(batch.texts)
        word = f"{path.suffix} read"
    except ThresherError:
        word = f"{path.suffix} refused"
    seconds = time.process_time() - began
    most = START + SECONDS_PER_MEGABYTE * size / 1e6
    assert seconds < most, f"{word}: {size:,} bytes took {seconds:.1f} s, more than {most:.1f} s"
    return word


def _repeated(case: Case, folder: Path, suffix: str) -> Path:
    """Write a file that repeats one or two pieces after the opening of its format."""
    piece = case.choice(USUAL_PIECES[suffix] if case.random() < 0.7 else PIECES)
    if case.random() < 0.4:
        piece += case.choice((*PIECES, *(token for token in TOKENS if len(token) < 50)))
    if case.random() < 0.2:
        piece = piece * case.choice((10, 1000)) + b"\n"
    data = OPENINGS[suffix][0] if case.random() < 0.5 else case.choice(OPENINGS[suffix])
    data += piece * ((case.choice((N_BYTES // 10, N_BYTES)) - len(data)) // len(piece))
    data += case.choice((b"", b"\n", b'"', case.choice(PIECES)))
    path = folder / f"case{suffix}"
    path.write_bytes(data)
    return path


def _rows(case: Case, folder: Path, kind: str) -> Path:
    """Write a file of 10^4 documents, some of which are long or not valid."""
    texts = [b"wheat " * case.randint(1, 9), case.choice(PIECES) * case.randint(1, 9)]
    shown = [text.decode("latin-1").replace("\n", " ") for text in texts]
    kind = case.choice(tuple(WRITERS))
    rows = [shown[case.random() < 0.3] for _ in range(N_ROWS)]
    path = folder / f"case{kind}"
    path.write_bytes(WRITERS[kind](rows))
    return path


def _mails(rows: list[str]) -> bytes:
    message = EmailMessage()
    message["Subject"] = "wheat"
    message.set_content("body")
    start = b"From a@b Mon Jan  1 00:00:00 2024\n" + message.as_bytes() + b"\n"
    return b"".join(start + row.encode() + b"\n\n" for row in rows[: N_ROWS // 10])


def _parquet(rows: list[str]) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table({"text": rows, "label": ["a", "b"] * (len(rows) // 2)}), sink)
    return sink.getvalue()


WRITERS: dict[str, Callable[[list[str]], bytes]] = {
    ".csv": lambda rows: ("text,label\n" + "".join(f"{row},a\n" for row in rows)).encode(),
    ".tsv": lambda rows: ("text\tlabel\n" + "".join(f"{row}\ta\n" for row in rows)).encode(),
    ".jsonl": lambda rows: "".join(f'{{"text": "{row}"}}\n' for row in rows).encode(),
    ".txt": lambda rows: "\n".join(rows).encode("latin-1", "replace"),
    ".ft": lambda rows: "".join(f"__label__a {row}\n" for row in rows).encode(),
    ".mbox": _mails,
    ".parquet": _parquet,
}

ATTACKS = (Attack("sizes", "large documents with a limit of time", attempt, cases=300),)
