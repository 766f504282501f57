"""Public corpora by name: download, licence, splits and contents.

The name of a corpus, `name[:variant[,option=value...]][/split]`, can be given instead of a file:
`thresher train reuters21578:modapte`.
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
    """Return a description of each corpus, sorted by name.

    Examples
    --------
    >>> [info.name for info in list_corpora()]
    ['20newsgroups', ...]
    """
    return [describe(name) for name in sorted(corpus_modules())]


def is_here(corpus: str | CorpusInfo) -> bool:
    """Return True if all files of a corpus are on this machine.

    Parameters
    ----------
    corpus : str or CorpusInfo
        The corpus, or its name.
    """
    from thresher.corpora._fetch import locate  # slow to import

    info = describe(corpus) if isinstance(corpus, str) else corpus
    return all(locate(file) for file in info.files)


def fetch(
    corpus: str | CorpusInfo, *, download: bool = True, progress: Progress | None = None
) -> list[Path]:
    """Return the verified paths of the files of a corpus, after downloading them if necessary.

    Files are looked for in `$THRESHER_DATA`, then in the cache (`$THRESHER_CACHE`, or the user's).

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
    """Return a corpus that is on this machine.

    Parameters
    ----------
    spec : str
        `name[:variant[,option=value...]][/split]`; `describe(name)` lists variants and options.
    **options
        Further options by name, which override those in `spec`.

    Examples
    --------
    >>> load("reuters:modapte", categories="R10")
    Traceback (most recent call last):
    thresher.errors.ParameterError: There is no corpus called 'reuters'. Did you mean ...
    """
    from thresher.corpora._fetch import obtain

    parsed, info = parse_spec(spec), describe(spec)
    variant = check_variant(info, parsed.variant)
    chosen = parse_options(info, {**parsed.options, **options})
    paths = [obtain(info, file, download=False) for file in info.files]
    corpus = info.read_files(paths, variant, **chosen)
    if not any(corpus.counts().values()):
        raise DocumentError(f"No document of {spec} was found in {paths[0]}; fetch it again.")
    corpus = replace(corpus, name=spec.split("/")[0], default_split=parsed.split)
    corpus.split(parsed.split)  # raises an error if there is no such split
    return corpus


def open_documents(
    source: Any, labels: Any = None, *, split: str | None = None, **options: Any
) -> Documents:
    """Return texts, a corpus, files, a table or pairs as `Documents`.

    Parameters
    ----------
    source : list of str, str, path, list of paths, table, data frame, iterable of pairs, Documents
        Strings in a list, a column or an array are texts; a single string is the name of a file or
        of a corpus. Several files are a list of `pathlib.Path`. `Documents` are returned unchanged.
    labels : list, str or False, optional
        The labels of each text, or the label column as for `read_documents`.
    split : str, optional
        The split of a corpus to use if its name has none and the corpus has this split. Default:
        see `Corpus.split`.
    **options
        As for `read_documents`; ignored for a corpus and for texts.

    Examples
    --------
    >>> documents = open_documents(["wheat up", "oil down"], ["grain", "crude"])
    >>> [batch.labels for batch in documents], documents.n_documents
    ([[['grain'], ['crude']]], 2)
    """
    from thresher.documents import Documents, column_to_list, from_texts, read_documents
    from thresher.documents.labels import is_missing

    if isinstance(source, Documents):
        return source
    if isinstance(source, str) and is_corpus_spec(source):
        corpus = load(source)
        name = corpus.default_split or (split if split in corpus.splits else None)
        return corpus.documents(name, keep=options.get("keep"))
    source = column_to_list(source)
    is_path = isinstance(source, str | os.PathLike)
    is_texts = isinstance(source, Sequence) and isinstance(
        next((text for text in source if not is_missing(text)), ""), str
    )
    if not (labels is None or isinstance(labels, str | bool)):
        is_texts = True
    if is_texts and not is_path:
        return from_texts(source, None if labels is False else labels)
    return read_documents(source, labels=labels, **options)
