"""Small compressed files with enormous contents: memory and temporary files stay bounded.

A bomb is a compressed opening, and a compressed piece that is repeated. The limit of a document is
set to few megabytes, so that many bombs can be tried in little time.
"""

from __future__ import annotations

import bz2
import gzip
import io
import os
import resource
import tempfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.campaign import Attack, Case, leave
from fuzz.documents import _zstd
from thresher.documents import read_documents, streams
from thresher.errors import ThresherError

__all__ = ["ATTACKS"]

LONGEST = 4 << 20  # the limit of a document, which is otherwise 128 MB
CONTENTS = 256 << 20  # bytes of a bomb, if it were decompressed
MEMORY_USED = 256 << 20  # bytes: some copies of a document, and some of a block
DISK_USED = 16 * LONGEST  # bytes of one temporary file
PIECE = 1 << 20
CODECS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda data: gzip.compress(data, mtime=0),
    ".bz2": bz2.compress,
    ".zst": _zstd,
}
OPENINGS = {
    ".csv": (b"text,label\n", b'text,label\n"', b"text,label\nx,"),
    ".tsv": (b"text\tlabel\n", b'text\tlabel\n"'),
    ".jsonl": (b'{"text": "', b'{"text": "x"}\n', b"[["),
    ".eml": (b"Subject: x\n\n", b"Subject: ", b"Content-Type: text/html\n\n<a "),
    ".mbox": (b"From a@b Mon Jan  1 00:00:00 2024\nSubject: x\n\n",),
    ".txt": (b"",),
    ".ft": (b"__label__a ",),
    ".parquet": (b"PAR1",),
    "": (b"", b"From: a@b.org\nSubject: x\n\n", b"text,label\n"),
}
FILLINGS = (
    b"\0",
    b" ",
    b"x",
    b"x ",
    b"\n",
    b"a b c d\n",
    b'"',
    b"<a ",
    b"\xff",
    b"__label__a ",
    b",",
)


def attempt(case: Case, folder: Path) -> str:
    """Read a bomb to its end, or until it is refused; check memory and temporary files."""
    kind = case.choice(("file", "file", "file", "folder", "parquet"))
    if kind == "parquet":
        path = folder / "bomb.parquet"
        child = os.fork()  # so that writing does not count
        if not child:
            leave(lambda: _parquet(case, path))
        os.waitpid(child, 0)
    else:
        target = folder / "mails" / "a" if kind == "folder" else folder
        target.mkdir(parents=True, exist_ok=True)
        bomb = _file(
            case, target, case.choice((".txt", ".eml", "") if kind == "folder" else [*OPENINGS])
        )
        path = folder / "mails" if kind == "folder" else bomb
    streams.LONGEST, tempfile.tempdir = LONGEST, str(folder)
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (DISK_USED, hard))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    options: dict[str, Any] = {"on_error": case.choice(("stop", "skip"))}
    try:
        n_bytes = 0
        for batch in islice(read_documents(path, **options), 10_000):
            n_bytes += batch.texts.nbytes
        word = "read"
    except ThresherError as error:
        assert os.strerror(27) not in str(error), f"more than {DISK_USED:,} bytes were written"
        word = "refused"
    used = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
    assert used < MEMORY_USED, f"{path.name} {word}: {used:,} bytes of memory were used"
    return f"{kind} {word}"


def _file(case: Case, folder: Path, suffix: str) -> Path:
    """Write a bomb that consists of equal compressed pieces."""
    codec = case.choice((".gz", ".gz", ".zst", ".zst", ".bz2"))
    pack, filling = CODECS[codec], case.choice(FILLINGS)
    # Many lines, and bz2, take much time, in which memory would not change.
    n_pieces = CONTENTS // PIECE // (32 if b"\n" in filling else 4 if codec == ".bz2" else 1)
    piece = pack(filling * (PIECE // len(filling)))
    path = folder / f"bomb{suffix}{codec}"
    path.write_bytes(pack(case.choice(OPENINGS[suffix])) + piece * n_pieces)
    return path


def _parquet(case: Case, path: Path) -> None:
    """Write a Parquet file with few bytes for each of many long values, maybe compressed again."""
    length = case.choice((1000, 100_000, 1_000_000))
    text, n = "x" * length, CONTENTS // length
    column = pa.DictionaryArray.from_arrays(np.zeros(n, np.int32), pa.array([text]))
    if case.random() < 0.5:
        column = column.cast(pa.large_string())
    table, sink = pa.table({"text": column, "label": pa.nulls(n, pa.string())}), io.BytesIO()
    how: dict[str, Any] = {"row_group_size": n, "compression": case.choice(("zstd", "gzip"))}
    how["use_dictionary"] = case.random() < 0.7
    pq.write_table(table, sink, **how)
    path.write_bytes(case.choice((bytes, bytes, *CODECS.values()))(sink.getvalue()))


ATTACKS = (
    Attack("bombs", "small files with enormous contents", attempt, 60, fresh=1.0, patience=60.0),
)
