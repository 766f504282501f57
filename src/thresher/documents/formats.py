"""The formats that documents are read from; here, so that the command line knows them for nothing.

To add one, write its reader in `thresher.documents` and a line here.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["FORMATS", "READERS", "Format"]


class Format(NamedTuple):
    """What a kind of file is called, how it is known, and who reads it."""

    title: str
    module: str  # of `thresher.documents`, imported when a file of the format is met
    function: str  # takes a `Stream` and a `Reading`, and yields batches
    suffixes: tuple[str, ...] = ()
    opening: bytes = b""  # a regular expression that all its files begin with, if they do
    holds_many: bool = True  # documents in a file
    is_text: bool = True


READERS = {
    "csv": Format("CSV", "delimited", "read_csv", (".csv",)),
    "tsv": Format("TSV", "delimited", "read_tsv", (".tsv", ".tab")),
    "jsonl": Format(
        "JSON lines", "json_lines", "read_json_lines", (".jsonl", ".ndjson", ".json"), rb"\s*\{"
    ),
    "parquet": Format(
        "Parquet", "tables", "read_parquet", (".parquet", ".pq"), b"PAR1", is_text=False
    ),
    "fasttext": Format(
        "fastText lines", "lines", "read_fasttext", (".fasttext", ".ft"), b"__label__"
    ),
    "lines": Format("plain lines", "lines", "read_lines"),
    "mbox": Format("mbox", "mail", "read_mbox", (".mbox",), rb"From \S+ .*\d\d:\d\d"),
    "eml": Format(".eml", "mail", "read_eml", (".eml",), holds_many=False),
}
FORMATS = (*READERS, "folder")
