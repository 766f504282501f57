"""Division of the records of a file between two files, without changing bytes or order."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pyarrow as pa

from thresher.documents.columns import longest_document
from thresher.documents.encodings import keeps_ascii, marked
from thresher.documents.streams import Stream, compression_of_name, line_blocks, open_stream, packed
from thresher.errors import DocumentError
from thresher.files import replace_file

DIVISIBLE = ("csv", "tsv", "jsonl", "parquet", "fasttext", "lines")


def divide_file(
    path: str,
    format: str,
    numbers: Sequence[int],
    sides: np.ndarray,
    targets: Sequence[str],
    *,
    encoding: str | None = None,
    max_document_mb: int | None = None,
) -> None:
    """Divide the records of a file between two others, each of which is written atomically.

    A record extends from the first line of its document to that of the next one, including blank
    lines. Both files begin with the header. They are in the encoding of the file, but in UTF-8 if
    that is UTF-16 or UTF-32.

    Parameters
    ----------
    path, format : str
        The file, and its format, one of `DIVISIBLE`.
    numbers : sequence of int
        The first line of each document, or its row in Parquet, counted from 1.
    sides : integer array
        The file that each document goes to, 0 or 1; -1 for neither.
    targets : sequence of two str
        The files to write, compressed if their names end in .gz, .zst or .bz2.
    encoding, max_document_mb : optional
        As for `read_documents`.
    """
    status = Path(path).stat()
    with ExitStack() as stack:
        temporaries = [stack.enter_context(replace_file(target)) for target in targets]
        with open_stream(path, longest_document(max_document_mb)) as stream:
            if format == "parquet":
                _divide_rows(stream, sides, temporaries)
            else:
                encoding = encoding or marked(stream.head)
                if encoding is not None and not keeps_ascii(encoding):
                    stream.convert(encoding)
                is_table = format in ("csv", "tsv")
                _divide_lines(stream, is_table, numbers, sides, temporaries)
        now = Path(path).stat()
        if (now.st_size, now.st_mtime_ns) != (status.st_size, status.st_mtime_ns):
            raise _changed(path)


def _divide_lines(
    stream: Stream,
    is_table: bool,
    numbers: Sequence[int],
    sides: np.ndarray,
    targets: Sequence[Path],
) -> None:
    with ExitStack() as stack:
        opened = [stack.enter_context(open(target, "wb")) for target in targets]
        files = [
            stack.enter_context(packed(file, compression_of_name(file.name))) for file in opened
        ]
        goes_to = [files[side] if side >= 0 else None for side in sides.tolist()]
        opened_files = files if is_table else [file for file in goes_to if file is not None][:1]
        head = [stream.mark]
        k, n, next_number = -1, len(numbers), numbers[0]
        for line, data in enumerate(_lines(stream, is_table), 1):
            if line == next_number:
                k += 1
                next_number = numbers[k + 1] if k + 1 < n else 0
                if k == 0:
                    for file in opened_files:
                        file.write(b"".join(head))
            if k < 0:
                head.append(data)
            elif (target := goes_to[k]) is not None:
                target.write(data)
        if k + 1 < n:
            raise _changed(stream.name)


def _lines(stream: Stream, is_table: bool) -> Iterator[bytes]:
    """Yield lines with their ends; those of tables may be lone carriage returns."""
    for block in line_blocks(stream):
        lines: Iterable[bytes] = block.splitlines(True) if is_table else io.BytesIO(block)
        yield from lines


def _divide_rows(stream: Stream, sides: np.ndarray, targets: Sequence[Path]) -> None:
    from pyarrow.parquet import ParquetFile, ParquetWriter

    with stream.seekable() as file, ExitStack() as stack:
        parquet = ParquetFile(file)
        metadata, schema = parquet.metadata, parquet.schema_arrow
        if metadata.num_rows != len(sides):
            raise _changed(stream.name)
        codec = metadata.row_group(0).column(0).compression
        writers = [
            stack.enter_context(ParquetWriter(target, schema, compression=codec))
            for target in targets
        ]
        done = 0
        for group in range(metadata.num_row_groups):
            table = parquet.read_row_group(group)
            side = sides[done : done + len(table)]
            for writer, chosen in zip(writers, (side == 0, side == 1), strict=True):
                if chosen.any():
                    writer.write_table(table.filter(pa.array(chosen)))
            done += len(table)


def _changed(name: str) -> DocumentError:
    return DocumentError(f"{name}: has changed while it was read; nothing was written. Try again.")
