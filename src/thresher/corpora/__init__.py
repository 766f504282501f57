"""Public corpora by name: where each lives, on which terms, how it is split, what it holds.

A corpus is named in one word, `name[:variant[,option=value...]][/split]`, which works wherever a
file does: `thresher train reuters21578:modapte`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thresher.corpora._corpus import Corpus, Split
from thresher.corpora._registry import (
    CorpusInfo,
    File,
    Form,
    Option,
    Spec,
    check_variant,
    corpus_modules,
    describe,
    is_corpus_spec,
    parse_options,
    parse_spec,
)
from thresher.errors import DocumentError
from thresher.files import cache_folder

if TYPE_CHECKING:
    from thresher.corpora._download import Progress
    from thresher.documents import Documents

__all__ = [
    "Corpus",
    "CorpusInfo",
    "File",
    "Form",
    "Option",
    "Spec",
    "Split",
    "cache_folder",
    "describe",
    "fetch",
    "is_corpus_spec",
    "is_here",
    "list_corpora",
    "load",
    "open_documents",
    "parse_spec",
]


def list_corpora() -> list[CorpusInfo]:
    """Return what is known of every corpus, sorted by name.

    Examples
    --------
    >>> [info.name for info in list_corpora()]
    ['20newsgroups', ...]
    """
    return [describe(name) for name in sorted(corpus_modules())]


def is_here(corpus: str | CorpusInfo) -> bool:
    """Tell whether all files of a corpus are on this machine.

    Parameters
    ----------
    corpus : str or CorpusInfo
        The corpus, by name or as described.
    """
    from thresher.corpora._fetch import locate  # which takes long to import: all of archives

    info = describe(corpus) if isinstance(corpus, str) else corpus
    return all(locate(file) for file in info.files)


def fetch(
    corpus: str | CorpusInfo, *, download: bool = True, progress: Progress | None = None
) -> list[Path]:
    """Find a corpus, or download it, and verify it; return the paths of its files.

    `$THRESHER_DATA` is looked into first, then the cache (`$THRESHER_CACHE`, else the user's).

    Parameters
    ----------
    corpus : str or CorpusInfo
        As for `is_here`.
    download : bool
        Whether it may be downloaded. Default True.
    progress : callable, optional
        Called with the bytes had so far and the bytes in all (None when unknown).
    """
    from thresher.corpora._fetch import obtain

    info = describe(corpus) if isinstance(corpus, str) else corpus
    return [obtain(info, file, download=download, progress=progress) for file in info.files]


def load(spec: str, **options: Any) -> Corpus:
    """Read a corpus that is on this machine.

    Parameters
    ----------
    spec : str
        `name[:variant[,option=value...]][/split]`; `describe(name)` tells variants and options.
    **options
        Further options by name; they win over those in `spec`.

    Examples
    --------
    >>> load("reuters:modapte", categories="R10")
    Traceback (most recent call last):
    thresher.errors.ParameterError: There is no corpus called 'reuters'. Did you mean ...
    """
    from thresher.corpora._fetch import obtain

    asked, info = parse_spec(spec), describe(spec)
    variant = check_variant(info, asked.variant)
    chosen = parse_options(info, {**asked.options, **options})
    paths = [obtain(info, file, download=False) for file in info.files]
    corpus = info.read_files(paths, variant, **chosen)
    if not any(corpus.counts().values()):
        raise DocumentError(f"No document of {spec} was found in {paths[0]}; fetch it again.")
    corpus = replace(corpus, name=spec.split("/")[0], default_split=asked.split)
    corpus.split(asked.split)  # a split that is not there is said now, not when it is used
    return corpus


def open_documents(
    source: Any, labels: Any = None, *, split: str | None = None, **options: Any
) -> Documents:
    """Return whatever was given as documents: texts, a corpus's name, a path, a table, pairs.

    Parameters
    ----------
    source : list of str, str, path, list of paths, table, data frame, iterable of pairs, Documents
        Strings in a list, a column or an array are texts; a string alone names a file, or else a
        corpus. Several files are a list of `pathlib.Path`. `Documents` are returned as they are.
    labels : list, str or False, optional
        The labels of each text; else, as for `read_documents`, the column that holds them.
    split : str, optional
        The split of a corpus to take where its name names none, if it has that split. Default: see
        `Corpus.split`.
    **options
        As for `read_documents`; a corpus and texts have no use for them.

    Examples
    --------
    >>> documents = open_documents(["wheat up", "oil down"], ["grain", "crude"])
    >>> [batch.labels for batch in documents], documents.n_documents
    ([[['grain'], ['crude']]], 2)
    """
    from thresher.documents import Documents, column_to_list, from_texts, read_documents

    if isinstance(source, Documents):
        return source
    if isinstance(source, str) and is_corpus_spec(source):
        corpus = load(source)
        name = corpus.default_split or (split if split in corpus.splits else None)
        return corpus.documents(name, keep=options.get("keep"))
    source = column_to_list(source)
    is_one = isinstance(source, str | os.PathLike)
    is_texts = isinstance(source, Sequence) and (not source or isinstance(source[0], str))
    if not (labels is None or isinstance(labels, str | bool)):
        is_texts = True
    if is_texts and not is_one:
        return from_texts(source, None if labels is False else labels)
    return read_documents(source, labels=labels, **options)
