"""The chapter's task: "earnings" among the stories of Reuters, each as twenty whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from thresher.corpora import load
from thresher.features import Strength
from thresher.papers._result import Cells, Table
from thresher.papers._running import Documents, Task, one_category
from thresher.papers.manning_schuetze_1999.published import CONTINGENCY, NAME, WORDS
from thresher.papers.manning_schuetze_1999.published import DOCUMENT_11 as PUBLISHED
from thresher.rows import Rows
from thresher.text import TextCounter

CORPUS = "reuters21578:modapte,entities=raw,categories=earn"
DOCUMENT_11 = 6  # its place among the training documents


def represent(texts: Sequence[str]) -> Rows:
    """Return the weights of the book's twenty words, in its order; a length counts all tokens.

    Examples
    --------
    >>> dense(represent(["Net 3 mln vs. loss"]))
    array([[4, 4, 0, 0, 0, 0, 4, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0]])
    """
    counter = TextCounter(tokens="book")
    counter.count([" ".join(WORDS)])  # columns are numbered as they are met
    return Strength("book").apply(counter.count(texts, grow=False))


@lru_cache(maxsize=1)
def earnings() -> Task:
    """Return the 9,603 training and 3,299 test documents; title and body, entities not decoded."""
    corpus = load(CORPUS)
    parts = corpus.split("train"), corpus.split("test")
    return Task(
        *(
            Documents(represent(part.texts), one_category(np.array([*map(bool, part.labels)])))
            for part in parts
        )
    )


def dense(rows: Rows) -> np.ndarray:
    """Return the rows as a table of whole numbers."""
    table = np.zeros((rows.n_rows, rows.n_columns), np.int64)
    table[np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr)), rows.indices] = rows.values
    return table


def is_earnings(documents: Documents) -> np.ndarray:
    """Return which documents are of the category."""
    return documents.labels.to_dense()[:, 0]


def contingency(decided: np.ndarray, positive: np.ndarray) -> dict[str, float]:
    """Return the four counts of table 16.2 and the accuracy in percent.

    Examples
    --------
    >>> contingency(np.array([True, True, False]), np.array([True, False, False]))
    {'YES right': 1, 'YES wrong': 1, 'NO wrong': 0, 'NO right': 1, 'accuracy %': 66.7}
    """
    cells = (decided & positive, decided & ~positive, ~decided & positive, ~decided & ~positive)
    return with_accuracy([int(np.count_nonzero(cell)) for cell in cells])


def with_accuracy(counts: Sequence[int]) -> dict[str, float]:
    """Return four counts by their names, and the accuracy that follows from them."""
    accuracy = 100 * (counts[0] + counts[3]) / sum(counts)
    return dict(zip(CONTINGENCY, counts, strict=True)) | {"accuracy %": accuracy}


def contingency_table(
    number: str, title: str, row: str, published: Sequence[int], ours: Cells, notes: list[str]
) -> Table:
    """Return a contingency table on the test documents beside the book's, which is of `row`."""
    return Table(
        NAME, f"table-{number}", f"Table {number}: {title}", {row: with_accuracy(published)}, ours,
        notes, tolerance=100, digits=2, best="none",
    )  # fmt: skip


def table_16_3(seed: int = 0, quick: bool = False) -> Table:
    """The representation of document 11, word by word."""
    vector = dense(earnings().train.rows.take(np.array([DOCUMENT_11])))[0].tolist()
    notes = [
        "Lower case; a token is a run of letters, a run of digits, or one other character; title "
        "and body without the dateline, the whole text where there is no body; entities are not "
        "decoded, so that `&lt;` is the three tokens `&`, `lt`, `;`, and `&#3;`, which ends every "
        "body, has a `3`. The length counts all tokens. The words are the book's: they are not "
        "the twenty with the highest chi-square, of which presence shares 7 and occurrences 9."
    ]
    title = "Table 16.3: the representation of document 11"
    ours = {word: {"weight": weight} for word, weight in zip(WORDS, vector, strict=True)}
    published = {word: {"weight": weight} for word, weight in PUBLISHED.items()}
    return Table(NAME, "table-16.3", title, published, ours, notes, tolerance=0, best="none")
