"""A corpus in memory: its splits, and the documents of each split."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from thresher.errors import ParameterError

if TYPE_CHECKING:
    from thresher.documents import Batch, Documents
    from thresher.documents.batch import Reading, Source


@dataclass
class Split:
    """Documents as parallel lists.

    Parameters
    ----------
    texts : list of str
        The text of each document.
    labels : list of list of str
        The categories of each document, possibly none.
    ids : list of str
        The number of each document in the collection, or its name in the archive.
    rows : list of dict, optional
        The features of each document by name, for corpora with other data than text.
    """

    texts: list[str] = field(default_factory=list)
    labels: list[list[str]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    rows: list[dict[str, float]] | None = None

    def __len__(self) -> int:
        return len(self.texts)

    def append(
        self, text: str, labels: list[str], id: str, row: dict[str, float] | None = None
    ) -> None:
        """Add a document."""
        self.texts.append(text)
        self.labels.append(labels)
        self.ids.append(id)
        if row is not None:
            self.rows = self.rows or []
            self.rows.append(row)

    def columns(self) -> tuple[list[str], list[list[str]], list[str]]:
        """Return texts, labels and ids."""
        return self.texts, self.labels, self.ids

    @staticmethod
    def union(splits: Sequence[Split]) -> Split:
        """Return the documents of several splits as a split."""
        if len(splits) == 1:
            return splits[0]
        columns = zip(*(split.columns() for split in splits), strict=True)
        texts, labels, ids = (list(chain.from_iterable(lists)) for lists in columns)
        rows = [row for split in splits for row in split.rows or ()]
        return Split(texts, labels, ids, rows or None)


@dataclass
class Corpus:
    """A corpus in memory.

    Parameters
    ----------
    parts : dict of Split
        The splits by name.
    category_sets : dict of list of str
        Sets of categories with a name in the literature. Default: none.
    positive : str, optional
        The category of interest, if there are only two (such as "spam").
    name : str
        The name of the corpus.
    default_split : str, optional
        The split in the name with which the corpus was loaded (`imdb/test`).

    Examples
    --------
    >>> corpus = Corpus({"train": Split(["a cow", "a dove"], [["farm"], []], ["1", "2"])})
    >>> corpus.splits, corpus.counts(), corpus.categories()
    (('train',), {'train': 2}, ['farm'])
    >>> list(corpus.pairs("train"))
    [('a cow', ['farm']), ('a dove', [])]
    >>> [batch.location(1) for batch in corpus.documents("train")]
    ['corpus 2']
    """

    parts: dict[str, Split]
    category_sets: dict[str, list[str]] = field(default_factory=dict)
    positive: str | None = None
    name: str = "corpus"
    default_split: str | None = None

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of the splits."""
        return tuple(self.parts)

    def counts(self) -> dict[str, int]:
        """Return the number of documents of each split."""
        return {name: len(split) for name, split in self.parts.items()}

    def split(self, name: str | None = None) -> Split:
        """Return the documents of a split as parallel lists.

        Parameters
        ----------
        name : str, optional
            A split, several joined by '+', or 'all'. Default: the split named when the corpus was
            loaded, or 'train' if it exists, or all.
        """
        name = name or self.default_split or ("train" if "train" in self.parts else "all")
        if name == "all" and "all" not in self.parts:
            return Split.union(list(self.parts.values()))
        unknown = [word for word in name.split("+") if word not in self.parts]
        if unknown:
            raise ParameterError(
                f"The corpus {self.name} has no split {unknown[0]!r}; "
                f"it has {', '.join(self.splits)}, and all."
            )
        return Split.union([self.parts[word] for word in name.split("+")])

    def documents(
        self,
        split: str | None = None,
        batch_size: int | None = None,
        keep: Sequence[str] | None = None,
    ) -> Documents:
        """Return a split as documents, as `read_documents` returns those of a file.

        Parameters
        ----------
        split : str, optional
            As for `split`.
        batch_size : int, optional
            The largest number of documents in a batch. Default: as many as make a few megabytes.
        keep : sequence of str, optional
            As for `read_documents`; the columns are text and labels.
        """
        from thresher.documents import Documents
        from thresher.documents.columns import Request

        request = Request(batch_size=batch_size, keep=None if keep is None else tuple(keep))
        documents = Documents([_source(self.split(split), self.name)], request)
        documents.none_is_answer = True
        return documents

    def pairs(self, split: str | None = None) -> Iterator[tuple[str, list[str]]]:
        """Yield text and categories of each document of a split."""
        documents = self.split(split)
        return zip(documents.texts, documents.labels, strict=True)

    def rows(self, split: str | None = None) -> list[dict[str, float]]:
        """Return the features of each document of a split by name; zeros are left out."""
        rows = self.split(split).rows
        if rows is None:
            raise ParameterError(f"The corpus {self.name} holds text only; it has no features.")
        return rows

    def categories(self, set: str | None = None, split: str | None = "all") -> list[str]:
        """Return the sorted categories, or a named set of categories.

        Parameters
        ----------
        set : str, optional
            A name such as 'R90'. Default: all categories of the split.
        split : str, optional
            As for `split`. Default 'all'.
        """
        if set is None:
            return sorted({label for labels in self.split(split).labels for label in labels})
        if set not in self.category_sets:
            known = ", ".join(self.category_sets) or "none"
            raise ParameterError(
                f"The corpus {self.name} has no category set {set!r}; it has {known}."
            )
        return self.category_sets[set]


def _source(split: Split, name: str) -> Source:
    from thresher.documents.batch import Record, Source

    def read(reading: Reading) -> Iterator[Batch]:
        done = 0
        reading.position = lambda: done
        columns = reading.set_columns(name, f"text and labels of {name}", has_labels=True)

        def records() -> Iterator[Record]:
            nonlocal done
            for text, labels, id in zip(*split.columns(), strict=True):
                done += len(text)
                extra = reading.extra_values_of(columns, (text,), labels)
                yield Record((text,), labels, f"{name} {id}", extra)

        yield from reading.gather(columns, records())

    return Source(name, read, size=sum(map(len, split.texts)))
