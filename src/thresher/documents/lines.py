"""One document per line: plain text, or fastText lines with `__label__` words."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from thresher.documents.batch import MOST_GATHERED, Batch, Locations, Reading, to_arrow
from thresher.documents.labels import LONE_SURROGATES, labels_of
from thresher.documents.records import Opening, Records
from thresher.documents.streams import Stream, line_blocks

SMALL_BLOCK = 1 << 16  # bytes; Python splits less faster than importing pyarrow.compute takes
PREFIX = "__label__"
LABEL = re.compile(rf"(?<![^ \t\v\f]){PREFIX}([^ \t\v\f]*)[ \t]?")


def read_lines(stream: Stream, reading: Reading) -> Iterator[Batch]:
    """Yield each line as a document; an empty line is an empty document."""
    reading.set_columns(stream.name, "each line is a document; no labels", has_labels=False)
    for line, block, records in _numbered(stream, reading, "lines"):
        texts = _texts(block) if len(block) > SMALL_BLOCK else None
        if texts is None:
            texts = to_arrow(_decoded_lines(block, reading))
        extra = [texts] * len(reading.keep)
        locations = _locations(stream, line, len(texts))
        yield from reading.emit({"text": texts}, None, locations, extra, records=records)


def read_fasttext(stream: Stream, reading: Reading) -> Iterator[Batch]:
    """Yield each line as a document; words that begin with `__label__` are its labels."""
    note = "each line is a document; its __label__ words are the labels"
    columns = reading.set_columns(stream.name, note, has_labels=True)
    for line, block, records in _numbered(stream, reading, "fasttext"):
        all_lines = _decoded_lines(block, reading)
        for start in range(0, len(all_lines), MOST_GATHERED):  # lists of labels take much memory
            lines = all_lines[start : start + MOST_GATHERED]
            labels = [
                labels_of(LABEL.findall(text), None) if PREFIX in text else [] for text in lines
            ]
            texts = to_arrow([LABEL.sub("", text) if PREFIX in text else text for text in lines])
            used = None if columns.labels is None else labels
            extra = [labels if name == "labels" else texts for name in reading.keep]
            locations = _locations(stream, line + start, len(texts))
            chosen = None if records is None else records.slice(start, len(texts))
            yield from reading.emit({"text": texts}, used, locations, extra, records=chosen)


def _numbered(
    stream: Stream, reading: Reading, format: str
) -> Iterator[tuple[int, bytes, Records | None]]:
    """Yield the number of the first line, a block of lines, and their records if they are kept."""
    if reading.keeps_records:
        reading.open(stream.name, Opening(format, stream.mark))
    line = 1
    for block in line_blocks(stream):
        plain = block.replace(b"\r\n", b"\n") if b"\r" in block else block
        records = Records.of_lines(block) if reading.keeps_records else None
        yield line, plain.removesuffix(b"\n"), records
        line += block.count(b"\n")


def _texts(block: bytes) -> pa.Array | None:
    """Return the lines of a block, or None if it is not UTF-8."""
    import pyarrow.compute as pc

    try:
        return pc.split_pattern(_single_value(block).cast(pa.string()), "\n").flatten()
    except pa.ArrowInvalid:
        return None


def _single_value(block: bytes) -> pa.Array:
    """Return an array with one value; `pyarrow.array` would import pandas."""
    offsets = np.array([0, len(block)], np.int32)
    return pa.Array.from_buffers(pa.binary(), 1, [None, *map(pa.py_buffer, (offsets, block))])


def _decoded_lines(block: bytes, reading: Reading) -> list[str]:
    try:
        return block.decode().split("\n")
    except UnicodeDecodeError:
        lines = block.decode("utf-8", "surrogateescape").split("\n")
        reading.decoding_errors += sum(1 for text in lines if LONE_SURROGATES.search(text))
        return lines


def _locations(stream: Stream, line: int, n: int) -> Locations:
    return Locations(f"{stream.name}:", np.arange(line, line + n))
