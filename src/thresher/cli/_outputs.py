"""Checks of output files: no verb writes a file that it reads, or replaces another kind of file."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from thresher.errors import DocumentError, OutputError
from thresher.files import is_model, not_replaced

STDIN = "-"
# Parameters of verbs that name input files, and those that name output files, with their kind.
READ = ("data", "model", "unlabelled", "codes", "document", "documents")
WRITTEN = {
    "output": "", "report": "page", "html": "page", "rejected": "records", "plot": "picture",
    "svg": "picture",
}  # fmt: skip


class Kind(NamedTuple):
    """A kind of output files: its name in messages, and how an existing file is recognized."""

    name: str
    matches: Callable[[str, bytes], bool]  # given the path and the first bytes, decompressed


def _starts(pattern: str) -> Callable[[str, bytes], bool]:
    expression = re.compile(pattern.encode(), re.IGNORECASE)
    return lambda path, head: expression.match(head) is not None


def _is_parquet(head: bytes) -> bool:
    return head.startswith(b"PAR1")


def _is_result(path: str, head: bytes) -> bool:
    if not _is_parquet(head):
        return _RESULTS(path, head)
    from pyarrow.parquet import read_schema

    names = [name.removeprefix("thresher_") for name in read_schema(path).names]
    return names[:2] == ["row", "document"]


def _is_data(path: str, head: bytes) -> bool:
    """Return True for records that can be copied, such as rows of a table and lines of text."""
    from thresher.documents.streams import format_of_name

    if _is_parquet(head) or format_of_name(path) == "parquet":
        return _is_parquet(head)
    return not (b"\0" in head or _PAGE(path, head) or _PICTURE(path, head))


# The header of a table of answers or of errors, or its first row in JSON.
_RESULTS = _starts(
    r"\W*(thresher_)?row\W+(thresher_)?document\W|\W*document\W+labels\W+given\W|"
    r'\{"(thresher_)?(row|document)":'
)
_PAGE = _starts(r"\s*<(!doctype html|html)")
_PICTURE = _starts(r"\s*<(\?xml|svg)|\x89PNG|%PDF|%!PS|\xff\xd8\xff|RIFF|GIF8|II\*|MM\0\*|%% ")

KINDS = {
    "model": Kind("a model", lambda path, head: is_model(path)),
    "results": Kind("a file of results", _is_result),
    "records": Kind("a file of documents", _is_data),
    "demo": Kind("a file of the demo", _starts(r'\{"name": "')),
    "page": Kind("an HTML page", _PAGE),
    "picture": Kind("a picture", _PICTURE),
}


def check_outputs(values: dict[str, Any], writes: str | None, replaces: str | None) -> None:
    """Raise an error if an output file is also an input or another output, or of another kind.

    Parameters
    ----------
    values : dict of str to object
        The values of the parameters of a verb; with `force`, files may be of another kind.
    writes : str or None
        The kind of the file `output`.
    replaces : str or None
        The parameter with the file that `output` may replace although it is read, if it is the
        only one.
    """
    written: set[str] = set()
    for name, kind in WRITTEN.items():
        for path in _words(values.get(name)):
            if os.path.realpath(path) in written:
                raise OutputError(f"{path} is named twice as an output file; name two files.")
            written.add(os.path.realpath(path))
            for reader in READ:
                words = _words(values.get(reader))
                if reader == "data" in values:
                    words = words or [STDIN]
                may_replace = name == "output" and reader == replaces and len(words) == 1
                if any(_is_read(path, word, may_replace) for word in words):
                    raise OutputError(f"--{name} is {path}, which is read; name another file.")
            if not values.get("force"):
                check_kind(path, kind or writes or "records")


def check_kind(path: str | os.PathLike[str], kind: str) -> None:
    """Raise an error if a file exists that is not empty and not of this kind, a key of `KINDS`."""
    if not os.path.isfile(path) or not os.path.getsize(path):
        return
    from thresher.documents.streams import open_stream

    is_such = False
    with suppress(OSError, ValueError), open_stream(os.fspath(path)) as stream:
        is_such = KINDS[kind].matches(os.fspath(path), stream.head)
    if not is_such:
        raise not_replaced(path, KINDS[kind].name)


def _words(value: Any) -> Sequence[Any]:
    """Return the paths in the value of a parameter."""
    return value if isinstance(value, list | tuple) else [value] if value else []


def _is_read(path: str, word: Any, may_replace: bool) -> bool:
    """Return True if an argument names a file, or a folder with files, that `path` would replace.

    In a folder, that is also a file that does not exist yet: it would be read the next time.
    """
    if os.path.isdir(word):
        return _is_read_in(path, word)
    files = [word] if os.path.exists(word) else [*_files_of(str(word))]
    may_replace = may_replace and len(files) == 1
    return not may_replace and any(_is_same(path, file) for file in files)


def _is_read_in(path: str, folder: str) -> bool:
    from thresher.documents.folders import list_folder

    with suppress(DocumentError):
        entries = list_folder(folder)
        has_categories = any(entry.category is not None for entry in entries)
        link = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        for target in (link, os.path.realpath(path)):
            names = os.path.relpath(target, os.path.realpath(folder)).split(os.sep)
            # Hidden files, and files beside the folders of categories, are not read.
            if len(names) > has_categories and not any(name.startswith(".") for name in names):
                return True
        files = [entry.path for entry in entries if entry.category or not has_categories]
        return os.path.exists(path) and any(_is_same(path, file) for file in files)
    return False


def _files_of(word: str) -> Iterator[Any]:
    """Yield the files that a word stands for if it is not a path."""
    from thresher.corpora import describe, is_corpus_spec

    if word == STDIN:
        yield 0
    elif is_corpus_spec(word):
        from thresher.corpora._fetch import locate

        yield from filter(None, map(locate, describe(word).files))
    else:
        yield word.rpartition(":")[0]  # of FILE:LINE


def _is_same(path: str, other: Any) -> bool:
    """Return True if both are the same existing file; `other` may be a file descriptor."""
    with suppress(OSError, ValueError):
        statuses = os.stat(path), os.stat(other)
        return stat.S_ISREG(statuses[0].st_mode) and os.path.samestat(*statuses)
    return False
