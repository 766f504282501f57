"""Generated and mutated documents, read with several block sizes and by independent readers.

All readings must give the same texts, labels and locations, or skip the same number of documents.
The independent readers are `csv`, `json`, `pyarrow`, `email` and a few lines here. A case is a file
in a folder, its options are beside it.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import json
import mailbox
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.campaign import Attack, Case
from fuzz.documents import _mutate, _zstd
from thresher.documents import read_documents, streams
from thresher.documents.records import RecordWriter
from thresher.errors import ThresherError

__all__ = ["ATTACKS", "Content", "Expected", "compare", "content_of"]

BLOCKS = (1, 7, 16, 64, 100, 333, 1000, 4096, 50_000, 100_000, 300_000)
MOST_BLOCKS = 2000  # of a file
PIECES = (
    *("wheat", "oil", "up", "down", "Grüße", "naïve", "日本語", "🙂", "e\u0301", "Maße", "Möbel"),
    *(" ", " ", " ", "  ", "\t", ",", ";", "|", '"', '"', '""', "'", "\\", "\n", "\r\n", "\r"),
    *("\n\n", "\ufeff", "\u2028", "\x85", "\x0b", "\x0c", "\x1c", "\x1a", "\x00", "\u200b"),
    *("\ufffd", "From me", ">From you", "__label__x", "null", "NaN", "=1+1", "-0", "1e400", "{"),
    *("]", "#"),
)  # fmt: skip
LABELS = ("a", "b", "Maße", "Möbel", "Mäbel", "e\u0301", "é", "", " ", "a,b", " b ", "b,,b", "日本")
ENCODINGS = ("utf-8",) * 6 + ("utf-8-sig", "utf-16", "cp1252", "latin-1", "cp1251", "shift_jis")
NUMBERS = (0, -1, 3, 3.0, -0.0, 0.1, 2**53 + 1, 2**63, 10**25, 1e22, 1e-7, True, False)
NOT_UTF8 = re.compile("[\ud800-\udfff\ufffd]+")
ESCAPES = re.compile(r"\\x[89a-f][0-9a-f]|\\ud[89a-f][0-9a-f]{2}")  # in labels
Labels = tuple[str, ...]
Pair = tuple[str, Labels]


class Content(NamedTuple):
    """What was read of a file; a text for each difference that a user may see."""

    pairs: list[Pair]
    locations: list[str]
    n_skipped: int
    skipped: list[str]
    notes: list[str]
    encodings: dict[str, str]
    types: set[type]  # of the labels


class Expected(NamedTuple):
    """What an independent reader reads; `lines` are those on which documents begin."""

    pairs: list[Pair]
    n_skipped: int = 0
    lines: list[int] | None = None

    in_words: bool = False  # whether blanks and line ends may differ
    types: set[type] | None = None  # of the labels


class Written(NamedTuple):
    """A file of a case: how to read it, and the independent reader, if it can tell."""

    source: Any  # a path, or a function that returns a table
    options: dict[str, Any]
    expected: Callable[[str], Expected | None] = lambda encoding: None  # of text in this encoding
    is_copied: bool = False  # whether its records alone are read in the same way


# Reading ------------------------------------------------------------------------------------------


def attempt(case: Case, folder: Path) -> str:
    """Write a file of a random format, and read it with several block sizes."""
    kind = case.choice(tuple(KINDS))
    written = KINDS[kind](case, folder)
    options = {"on_error": "skip" if case.random() < 0.9 else "stop"} | written.options
    (folder / "options").write_text(f"{kind} {options!r}\n", encoding="utf-8", errors="replace")
    source = written.source
    usual = content_of(source, options, streams.BLOCK)
    size = source.stat().st_size if isinstance(source, Path) else 0
    for block in case.sample([block for block in BLOCKS if size <= MOST_BLOCKS * block], 3):
        compare(f"with blocks of {block} bytes", content_of(source, options, block), usual)
    if isinstance(usual, str):
        encoding = options.get("encoding") or "utf-8"
    else:
        encoding = options.get("encoding") or next(iter(usual.encodings.values()), "utf-8")
    expected = written.expected(encoding)
    if isinstance(usual, str):
        is_right = expected is None or not expected.pairs or expected.n_skipped
        assert is_right or options["on_error"] == "stop", f"refused: {usual}"
        return "refused"
    if expected is None:
        return "equal for all block sizes"
    compare_with_expected(usual, expected)
    if isinstance(source, Path) and written.is_copied and case.random() < 0.3:
        copy = folder / f"copy{source.suffix}"
        copy.write_bytes(records_of(source, options, case.choice(BLOCKS[3:])))
        encoding = "utf-8" if encoding.startswith(("utf-16", "utf-32")) else encoding
        again = content_of(copy, options | {"encoding": encoding}, streams.BLOCK)
        is_same = isinstance(again, Content) and (again.pairs, again.n_skipped) == (usual.pairs, 0)
        assert is_same or not usual.pairs, (
            f"the records differ when they are copied: {again!r:.900}"
        )
        return "equal to another reader and copied"
    return "equal to another reader"


def records_of(path: Path, options: dict[str, Any], block: int) -> bytes:
    """Return a copy of the records of a file that can be read, as `filter` makes it."""
    usual, streams.BLOCK = streams.BLOCK, block
    try:
        documents = read_documents(path, **options)
        documents.keep_records(lambda record: None)
        file, writer = io.BytesIO(), None
        for batch in documents:
            writer = writer or RecordWriter(file, documents.opening)
            writer.write(batch, np.ones(len(batch), bool))
        return file.getvalue()
    finally:
        streams.BLOCK = usual


def content_of(source: Any, options: dict[str, Any], block: int) -> Content | str:
    """Return the content of a file read in blocks of this size, or the sentence of its refusal."""
    usual, streams.BLOCK = streams.BLOCK, block
    try:
        documents = read_documents(source() if callable(source) else source, **options)
        pairs, locations, types = [], [], set[type]()
        for batch in documents:
            labels = batch.labels or [()] * len(batch)
            pairs += zip(
                map(_unified, batch.texts.to_pylist()),
                (tuple(_unified(value_text(label)) for label in row) for row in labels),
                strict=True,
            )
            types |= {type(label) for row in labels for label in row}
            locations += [batch.location(i) for i in range(len(batch))]
        assert documents.n_documents == len(pairs)
        notes, encodings = getattr(documents, "notes", []), getattr(documents, "encodings", {})
        # Only a hundred are listed, not always in their order.
        n_skipped, listed = documents.n_skipped, sorted(documents.skipped)
        skipped = n_skipped, listed if n_skipped <= len(listed) else []
        return Content(pairs, locations, *skipped, list(notes), dict(encodings), types)
    except ThresherError as error:
        return str(error)
    finally:
        streams.BLOCK = usual


def compare(how: str, content: Content | str, usual: Content | str) -> None:
    """Raise an error if two readings differ."""
    if isinstance(content, str) or isinstance(usual, str):
        # Which of several faults is reported first may differ.
        assert isinstance(content, str) == isinstance(usual, str), f"{how}: {content}, else {usual}"
        return
    for name, new, old in zip(Content._fields, content, usual, strict=True):
        assert new == old, f"{how}: {name} differ: {difference(new, old)}"


def compare_with_expected(content: Content, expected: Expected) -> None:
    """Raise an error if a reading differs from that of an independent reader."""
    texts = [f"{len(item.pairs)} + {item.n_skipped} skipped" for item in (content, expected)]
    pairs = [(_spaced(text), row) for text, row in content.pairs]
    pairs = pairs if expected.in_words else content.pairs
    pairs = [(text, tuple(map(_unified_label, row))) for text, row in pairs]
    right = [(_unified(text), tuple(map(_unified_label, row))) for text, row in expected.pairs]
    assert pairs == right, f"{texts[0]}, expected {texts[1]}: {difference(pairs, right)}"
    assert content.n_skipped == expected.n_skipped, f"{texts[0]}, expected {texts[1]}"
    assert expected.types in (None, content.types), f"labels of {content.types}"
    if expected.lines is not None:
        lines = [int(location.rsplit(":", 1)[1]) for location in content.locations]
        assert lines == expected.lines, f"lines: {difference(lines, expected.lines)}"


def difference(new: Any, old: Any) -> str:
    """Return the first difference between two lists, or two other values."""
    if isinstance(new, list) and isinstance(old, list):
        for i, (mine, other) in enumerate(zip(new, old, strict=False)):
            if mine != other:
                return ascii(f"[{i}] {_short(mine)}, not {_short(other)}")
        rest = max(new, old, key=len)[min(len(new), len(old)) :]
        return ascii(f"{len(new)}, not {len(old)}; the rest begins {_short(rest[:1])}")
    return ascii(f"{_short(new)}, not {_short(old)}")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 600 else f"{text[:300]} ... {text[-300:]}"


def _unified(text: str) -> str:
    """Return a text in NFC, with one mark for any number of bytes that are not UTF-8."""
    return unicodedata.normalize("NFC", NOT_UTF8.sub("\ufffd", text))


def _unified_label(label: str) -> str:
    """Return a label like a text, with the same mark for escapes of bytes that are not UTF-8."""
    return _unified(ESCAPES.sub("\ufffd", label))


# Generators ---------------------------------------------------------------------------------------


def text_of(case: Case, most: int = 8) -> str:
    """Return a text made of unusual pieces."""
    if case.random() < 0.01:
        return case.choice(("x", "é", "x y\n", '"', "日本 ")) * case.randint(1000, 70_000)
    text = "".join(case.choice(PIECES) for _ in range(case.randint(0, most)))
    return text if case.random() < 0.02 else text.replace("\0", "")


def label_of(case: Case) -> str:
    """Return a cell of labels."""
    return case.choice(LABELS)


def split_labels(cell: str, separator: str) -> Labels:
    """Return the distinct labels in a cell; blank ones are no labels."""
    pieces = cell.split(separator) if separator else [cell]
    return tuple(dict.fromkeys(piece.strip() for piece in pieces if piece.strip()))


def value_text(value: Any) -> str:
    """Return a value of a table as a text: integers and floats alike have no ".0"."""
    if value is None or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value)


def decode(data: bytes, encoding: str) -> str:
    """Return the text of a file without a byte order mark; invalid bytes are surrogates."""
    if data.startswith(codecs.BOM_UTF8):
        return data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")
    if codecs.lookup(encoding).name == "utf-8":
        return data.decode("utf-8", "surrogateescape")
    return data.decode(encoding, "replace")


def mutated_after(case: Case, data: bytes, start: int) -> bytes:
    """Return the data with changes after its first `start` bytes."""
    head, rest = data[:start], data[start:]
    for _ in range(case.choice((0, 0, 0, 0, 1, 1, 2, 5))):
        rest = _mutate(case, rest)
    return head + rest


def put(case: Case, path: Path, data: bytes) -> Path:
    """Write a file, sometimes compressed; return its path."""
    if case.random() < 0.1:
        suffix, pack = case.choice(
            ((".gz", gzip.compress), (".bz2", bz2.compress), (".zst", _zstd))
        )
        path, data = path.with_name(path.name + suffix), pack(data)
    path.write_bytes(data)
    return path


def encoded(case: Case, head: str, rest: str, options: dict[str, Any]) -> bytes:
    """Return the text in a random encoding, which may be given in the options, and mutated."""
    encoding = case.choice(ENCODINGS)
    if encoding not in ("utf-8", "utf-8-sig", "utf-16") and case.random() < 0.7:
        options["encoding"] = encoding
    start = len(head.encode(encoding))
    return mutated_after(case, (head + rest).encode(encoding, "replace"), start)


def has_zero(text: str) -> bool:
    """Return True if the text looks like a binary file."""
    return "\0" in text


# Formats ------------------------------------------------------------------------------------------


def table(case: Case, folder: Path, suffix: str = "") -> Written:
    """CSV and TSV, against `csv`."""
    suffix = suffix or case.choice((".csv", ".csv", ".tsv"))
    delimiter = "\t" if suffix == ".tsv" else case.choice(",,;|\t")
    names = ["text", "label", "id", "more"][: case.randint(2, 4)]
    case.shuffle(names)
    separator = case.choice(("", ","))
    options: dict[str, Any] = {"text": "text", "labels": "label", "label_separator": separator}
    quoting = "none" if case.random() < 0.1 else None
    if quoting:
        options["quoting"] = quoting
    ends = case.choice(("\n", "\n", "\r\n", "\r", "mixed"))
    rows = io.StringIO(newline="")
    for _ in range(case.choice((1, 3, 10, 40))):
        cells = [label_of(case) if name == "label" else text_of(case) for name in names]
        if case.random() < 0.05:
            cells = case.choice((cells[:-1], [*cells, "x"], []))
        rows.write(_row(case, cells, delimiter, ends))
    head = delimiter.join(names) + ("\n" if ends == "mixed" else ends)
    path = folder / f"case{suffix}"
    data = encoded(case, head, rows.getvalue(), options)

    def expected(encoding: str) -> Expected | None:
        text = decode(data, encoding)
        if has_zero(text):
            return None
        if quoting:
            return _expected_rows(((i, line.split(delimiter)) for i, line in _lines(text)), options)
        n = len(names) - 1 if suffix == ".tsv" or delimiter == "\t" else 0
        return _expected_rows(table_rows(text, delimiter, n), options)

    return Written(put(case, path, data), options, expected, delimiter != "\t")


def _row(case: Case, cells: list[str], delimiter: str, ends: str) -> str:
    """Return a row in one of the ways in which programs write it."""
    end = case.choice(("\n", "\r\n", "\r")) if ends == "mixed" else ends
    way = case.random()
    if way < 0.25:  # by a program that does not know of quotes
        cells = [re.sub(f"[\r\n{re.escape(delimiter)}]", " ", cell) for cell in cells]
        return delimiter.join(cells) + end
    written = io.StringIO(newline="")
    how = {"quoting": csv.QUOTE_ALL if way < 0.4 else csv.QUOTE_MINIMAL, "lineterminator": end}
    csv.writer(written, delimiter=delimiter, **how).writerow(cells)  # type: ignore[arg-type]
    return written.getvalue()


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for i, line in enumerate(io.StringIO(text, newline=""), 1):
        if stripped := line.rstrip("\r\n"):
            yield i, stripped


def table_rows(
    text: str, delimiter: str, n_delimiters: int = 0
) -> Iterator[tuple[int, list[str] | None]]:
    """Yield the line and the cells of each row; None for a row whose quote is never closed.

    Such a row is one line. With `n_delimiters`, a quote that opens a cell of several lines is an
    ordinary character if the first, the last and most of them are complete rows; only two lines
    count if the quote is never closed.
    """
    lines, start, end = list(io.StringIO(text, newline="")), 0, "\0 the end"
    while start < len(lines):
        reader = csv.reader([*lines[start:], end], delimiter=delimiter)
        first, before = start, 0
        for cells in reader:
            first, n = start + before, reader.line_num - before
            before, is_open = reader.line_num, first + n > len(lines)
            if first == len(lines):
                return
            span = lines[first : first + (2 if is_open else n)]
            complete = [line.count(delimiter) == n_delimiters for line in span]
            is_literal = n > 1 and complete[0] and complete[-1] and 2 * sum(complete) > len(span)
            if n_delimiters and is_literal:
                yield first + 1, span[0].rstrip("\r\n").split(delimiter)
                break
            if is_open:
                yield first + 1, None
                break
            if cells:
                yield first + 1, cells
        start = first + 1


def _expected_rows(
    rows: Iterable[tuple[int, list[str] | None]], options: dict[str, Any]
) -> Expected:
    (_, header), *rows = rows
    assert header is not None
    n_skipped = 0
    text, label = header.index(options["text"]), header.index(options["labels"])
    pairs, lines = [], []
    for line, cells in rows:
        if cells is None or len(cells) != len(header):
            n_skipped += 1
        else:
            pairs.append((cells[text], split_labels(cells[label], options["label_separator"])))
            lines.append(line)
    return Expected(pairs, n_skipped, lines)


def stray_quotes(case: Case, folder: Path) -> Written:
    """TSV as written by programs that know no quotes: each line is a row."""
    pieces = [piece for piece in PIECES if not set(piece) & set("\t\r\n\0")]
    rows = []
    for _ in range(case.choice((2, 10, 60, 400))):
        text = "".join(case.choices(pieces, k=case.randint(1, 6)))
        rows.append((text, case.choice("ab")))
    options = {"text": "text", "labels": "label", "label_separator": ""}
    data = "".join(f"{text}\t{label}\n" for text, label in [("text", "label"), *rows]).encode()
    if data.count(b'"') % 2:  # the last quote is never closed
        data += b'"\ta\n'
        rows.append(('"', "a"))
    pairs = [(text, (label,)) for text, label in rows]
    # A cell whose quotes are closed on the same line is quoted.
    is_plain = not any(re.match('"', text) and text.count('"') > 1 for text, _ in rows)
    path = put(case, folder / "case.tsv", data)
    return Written(path, options, lambda encoding: Expected(pairs) if is_plain else None)


def json_lines(case: Case, folder: Path) -> Written:
    """JSON lines, against `json`."""
    separator = case.choice(("", ","))
    options: dict[str, Any] = {"text": "text", "labels": "label", "label_separator": separator}
    kinds = case.sample(("text", "list", "number", "null", "any"), case.randint(1, 3))
    first = json.dumps({"text": "first", "label": "a"}) + "\n"
    rows = []
    for _ in range(case.choice((1, 3, 10, 40))):
        row = {"text": _value(case, "text"), "label": _value(case, case.choice(kinds))}
        row |= case.choice(({}, {}, {"id": 1}, {"id": {"a": [None]}}, {"text": None}))
        keys = case.sample(sorted(row), case.choice((len(row), len(row), len(row), 1)))
        dumped = json.dumps(
            {key: row[key] for key in keys},
            ensure_ascii=case.random() < 0.4,
            indent=case.choice((None,) * 30 + (1,)),
        )
        if case.random() < 0.03:
            dumped = case.choice(
                (dumped * 2, dumped + ",", f"[{dumped}]", "null", '{"text": "\\ud83d", "label": 1}')
            )
        rows.append(dumped + case.choice(("\n", "\n", "\n", "\r\n", " \n", "\n\n")))
    data = encoded(case, first, "".join(rows), options)

    def expected(encoding: str) -> Expected | None:
        text = decode(data, encoding)
        return None if has_zero(text) else _expected_objects(text, separator)

    return Written(put(case, folder / "case.jsonl", data), options, expected, True)


def _value(case: Case, kind: str) -> Any:
    if kind == "any":
        return case.choice((*NUMBERS, {}, [[]], ["a", 1], [None], "a", None))
    return {
        "text": lambda: text_of(case),
        "list": lambda: [label_of(case) for _ in range(case.randint(0, 3))],
        "number": lambda: case.choice(NUMBERS),
        "null": lambda: None,
    }[kind]()


def _expected_objects(text: str, separator: str) -> Expected:
    pairs, lines, n_skipped = [], [], 0
    for i, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
            label, body = value.get("label"), value.get("text")
            if isinstance(body, list | dict) or isinstance(label, dict):
                raise ValueError
            if isinstance(label, list):
                if any(isinstance(item, list | dict) for item in label):
                    raise ValueError
                labels = [item for value in label if (item := value_text(value).strip())]
                row = tuple(dict.fromkeys(labels))
            elif isinstance(label, str):
                row = split_labels(label, separator)
            else:
                row = split_labels(value_text(label), "")
            pairs.append((value_text(body), row))
            lines.append(i)
        except (ValueError, AttributeError, RecursionError):
            n_skipped += 1
    return Expected(pairs, n_skipped, lines)


def parquet(case: Case, folder: Path) -> Written:
    """Parquet, against `pyarrow`."""
    content, options = _arrow_table(case)
    sink = io.BytesIO()
    how: dict[str, Any] = {"compression": case.choice(("none", "snappy", "zstd", "gzip"))}
    how |= {"row_group_size": case.choice((1, 3, 1000)), "use_dictionary": case.random() < 0.5}
    pq.write_table(content, sink, **how)
    path = put(case, folder / "case.parquet", sink.getvalue())
    return Written(path, options, lambda encoding: _expected_table(pq.read_table(sink), options))


def arrow(case: Case, folder: Path) -> Written:
    """Arrow tables and streams in memory, against `pyarrow`."""
    content, options = _arrow_table(case)
    pq.write_table(content, folder / "table.parquet")
    size = case.choice((1, 3, 1000))
    chunked = pa.Table.from_batches(content.to_batches(max_chunksize=size), content.schema)
    streamed = case.random() < 0.5
    return Written(
        (lambda: chunked.to_reader(size)) if streamed else (lambda: chunked),
        options,
        lambda encoding: _expected_table(content, options, in_memory=True),
    )


def _arrow_table(case: Case) -> tuple[pa.Table, dict[str, Any]]:
    n = case.choice((1, 3, 10, 40))
    texts = [None if case.random() < 0.05 else text_of(case) for _ in range(n)]
    labels = [None if case.random() < 0.1 else label_of(case) for _ in range(n)]
    numbers = [case.choice((None, 1, -2, 2**40)) for _ in range(n)]
    lists = [[label_of(case) for _ in range(case.randint(0, 3))] for _ in range(n)]
    text_types = (pa.string(), pa.string(), pa.large_string(), pa.binary(), pa.string_view())
    kind = case.choice(text_types[:4])
    values = [text.encode() if text is not None else None for text in texts]
    column = pa.array(values if kind == pa.binary() else texts, kind)
    label_columns: tuple[Callable[[], Any], ...] = (
        lambda: pa.array(labels, pa.string()),
        lambda: pa.array(labels, pa.string()).dictionary_encode(),
        lambda: pa.array(labels, pa.large_string()),
        lambda: pa.array(lists, pa.list_(pa.string())),
        lambda: pa.array(numbers, pa.int64()),
        lambda: pa.array([number and number / 2 for number in numbers], pa.float64()),
        lambda: pa.array([number and number > 0 for number in numbers], pa.bool_()),
        lambda: pa.array([[number] for number in numbers], pa.list_(pa.int64())),
        lambda: pa.nulls(n),
    )
    content = pa.table(
        {"id": list(range(n)), "text": column, "label": case.choice(label_columns)()}
    )
    separator = case.choice(("", ","))
    return content, {"text": "text", "labels": "label", "label_separator": separator}


def _expected_table(
    content: pa.Table, options: dict[str, Any], in_memory: bool = False
) -> Expected:
    pairs, types = [], set[type]()
    texts, labels = (content.column(name).to_pylist() for name in ("text", "label"))
    for text, label in zip(texts, labels, strict=True):
        if isinstance(label, list):
            names = (value_text(item).strip() for item in label)
            row = tuple(dict.fromkeys(name for name in names if name))
        elif isinstance(label, str):
            row = split_labels(label, options["label_separator"])
        else:
            row = split_labels(value_text(label), "")
        pairs.append((value_text(text), row))
        # Whole numbers and truth values keep their types in memory; files have texts.
        values = label if isinstance(label, list) else [label]
        numbers = {type(value) for value in values if isinstance(value, int) and in_memory}
        types |= numbers or ({str} if row else set())
    is_real = pa.types.is_floating(content.schema.field("label").type)  # may hold whole numbers
    return Expected(pairs, types=None if is_real else types)


def lines(case: Case, folder: Path) -> Written:
    """Plain lines and fastText lines, against `str.split`."""
    is_fasttext = case.random() < 0.5
    options: dict[str, Any] = {"format": "fasttext" if is_fasttext else "lines"}
    rows = []
    for _ in range(case.choice((1, 3, 10, 40))):
        row = text_of(case)
        if is_fasttext:
            words = [f"__label__{label_of(case)}" for _ in range(case.randint(0, 2))]
            row = " ".join(case.sample([*words, row], len(words) + 1))
        rows.append(row + case.choice(("\n", "\n", "\r\n")))
    data = encoded(case, "first\n", "".join(rows), options)

    def expected(encoding: str) -> Expected | None:
        text = decode(data, encoding).replace("\r\n", "\n")
        if has_zero(text):
            return None
        split = text.removesuffix("\n").split("\n")
        pairs = [_tagged(line) if is_fasttext else (line, ()) for line in split]
        return Expected(pairs, 0, list(range(1, len(pairs) + 1)))

    return Written(put(case, folder / "case.txt", data), options, expected, True)


def _tagged(line: str) -> Pair:
    """Return the text and the labels of a fastText line."""
    words = re.split("([ \t\v\f])", line)  # every second one is a blank
    text, labels = "", []
    for word, blank in zip(words[::2], [*words[1::2], ""], strict=True):
        if word.startswith("__label__"):
            labels.append(word.removeprefix("__label__").strip())
            text += blank if blank in ("\v", "\f") else ""
        else:
            text += word + blank
    return text, tuple(dict.fromkeys(label for label in labels if label))


def eml(case: Case, folder: Path) -> Written:
    """A mail, against `email`."""
    data, pair = mail(case)
    path = folder / case.choice(("case.eml", "case.eml", "case"))
    return Written(put(case, path, data), {}, lambda encoding: Expected([pair], in_words=True))


def mail(case: Case) -> tuple[bytes, Pair]:
    """Return a mail and its subject and text, as `email` reads them."""
    subject = " ".join(_words(case, 4)) or "none"
    paragraphs = [" ".join(_words(case, 6)) for _ in range(case.randint(1, 4))]
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = subject, "a@example.org", "b@example.org"
    message["Date"] = "Mon, 01 Jan 2024 00:00:00 +0000"
    body = "\n".join(paragraphs) + "\n"
    charset = case.choice(("utf-8", "utf-8", "cp1252", "iso-8859-15"))
    try:
        body.encode(charset)
    except UnicodeEncodeError:
        charset = "utf-8"
    transfer = case.choice(("base64", "quoted-printable", "8bit"))
    kind = case.choice(("plain", "plain", "html", "both"))
    if kind != "html":
        message.set_content(body, charset=charset, cte=transfer)
    if kind != "plain":
        page = "".join(f"<p class='x'>{_escape(text)}</p>" for text in paragraphs)
        page = f"<html><style>p {{ a: b }}</style><!-- no --><body>{page}</body></html>"
        add = message.add_alternative if kind == "both" else message.set_content
        add(page, subtype="html", charset="utf-8", cte="base64")
    if case.random() < 0.3:
        message.add_attachment(b"attached \xff", maintype="image", subtype="png", filename="a.png")
    data = message.as_bytes(policy=policy.default.clone(linesep=case.choice(("\n", "\r\n"))))
    read = message_from_bytes(data, policy=policy.default)
    text = body
    if kind != "html":
        section = read.get_body(("plain",))
        assert section is not None
        text = section.get_content()
    return data, (_spaced(f"{read['subject']} {text}"), ())


def _words(case: Case, most: int) -> list[str]:
    words = ("wheat", "oil", "Grüße", "naïve", "From", "up", "a<b", "x&y", "=20", "=?x", ".", "€")
    return [case.choice(words) for _ in range(case.randint(1, most))]


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _spaced(text: str) -> str:
    return " ".join(text.split())


def mbox(case: Case, folder: Path) -> Written:
    """A mailbox written by `mailbox`."""
    mails = [mail(case) for _ in range(case.randint(1, 6))]
    box = mailbox.mbox(folder / "case.mbox")
    for data, _ in mails:
        box.add(data.replace(b"\r\n", b"\n"))
    box.close()
    data = (folder / "case.mbox").read_bytes()
    (folder / "case.mbox").unlink()
    pairs = [pair for _, pair in mails]
    return Written(
        put(case, folder / "case.mbox", data), {}, lambda encoding: Expected(pairs, in_words=True)
    )


def tree(case: Case, folder: Path) -> Written:
    """A folder with a file for each document, in folders of categories or not."""
    root, are_mails, has_labels = folder / "case", case.random() < 0.4, case.random() < 0.7
    pairs = {}
    for i in range(case.randint(1, 12)):
        label = case.choice(("a", "b", "Maße", "ü ü")) if has_labels else ""
        inner = root / label
        inner.mkdir(parents=True, exist_ok=True)
        name = f"{i:02}" + case.choice((".eml", "", ".") if are_mails else (".txt", "", ".x"))
        text = text_of(case).replace("\0", "").lstrip("\ufeff")
        data, pair = mail(case) if are_mails else (text.encode(), (text, ()))
        # Files named as mail beside others make a folder of mail; tested by their content alone.
        (inner / name.removesuffix(".eml")).write_bytes(data)
        path = str(inner / name.removesuffix(".eml"))
        pairs[path] = pair[0], (label,) if label else ()
    ordered = [pairs[path] for path in sorted(pairs, key=lambda path: path.split("/"))]
    return Written(root, {}, lambda encoding: Expected(ordered, in_words=are_mails))


KINDS: dict[str, Callable[[Case, Path], Written]] = {
    "table": table,
    "stray quotes": stray_quotes,
    "json lines": json_lines,
    "parquet": parquet,
    "arrow": arrow,
    "lines": lines,
    "eml": eml,
    "mbox": mbox,
    "folder": tree,
}

csv.field_size_limit(1 << 30)
ATTACKS = (
    Attack("contents", "documents of every format, compared with other readers", attempt, 5_000),
)
