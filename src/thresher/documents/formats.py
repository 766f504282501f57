"""The formats of documents, without the readers, so that importing it is quick.

To add a format, write a reader in `thresher.documents` and add a line here.
"""

from __future__ import annotations

from typing import NamedTuple


class Format(NamedTuple):
    """The title of a format, how its files are recognized, and the function that reads them."""

    title: str
    module: str  # of `thresher.documents`, imported when first used
    function: str  # takes a `Stream` and a `Reading`, and yields batches
    suffixes: tuple[str, ...] = ()
    opening: bytes = b""  # a regular expression that matches the beginning of its files
    holds_many: bool = True  # whether a file has several documents
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
MAIL = ("mbox", "eml")  # their texts declare their encodings
