"""The files that every contender gets: public corpora where they are found, else Python's own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

GROWTH = (1, 4, 16)
REUTERS, NEWSGROUPS = "reuters21578:modapte,categories=R90", "20newsgroups"

Pairs = list[tuple[str, list[str]]]


def prepare(folder: Path, growth: Sequence[int] = GROWTH) -> dict[str, Any]:
    """Write the files into a folder; return what they hold, and a sentence for what is missing.

    Parameters
    ----------
    folder : Path
        Where the files go.
    growth : sequence of int
        How often the training documents are repeated in the files of the job `growth`.
    """
    from thresher import corpora

    folder.mkdir(parents=True, exist_ok=True)
    notes = []
    if corpora.is_here("reuters21578"):
        corpus = corpora.load(REUTERS)
        name, train, test = (
            "Reuters-21578, ModApte, R90",
            *(list(corpus.pairs(split)) for split in ("train", "test")),
        )
        texts = {"Reuters": [text for text, _ in corpus.pairs("all")]}
    else:
        name, train, test = _standard_library()
        texts = {name: [text for text, _ in train + test]}
        notes.append(_missing("reuters21578", name))
    if corpora.is_here(NEWSGROUPS):
        texts["20 Newsgroups"] = corpora.load(NEWSGROUPS).split("all").texts
    else:
        notes.append(_missing(NEWSGROUPS, "nothing"))
    for times in growth:
        write(folder / f"train-x{times}.jsonl", train * times)
    write(folder / "test.jsonl", test)
    for corpus_name, its_texts in texts.items():
        write(folder / f"{corpus_name}.jsonl", ((text, []) for text in its_texts))
    _write_rows(folder / "rows.npz", train)
    return {
        "corpus": name,
        "train": len(train),
        "test": len(test),
        "categories": len({label for _, labels in train for label in labels}),
        "texts": {key: sum(len(text.encode()) for text in value) for key, value in texts.items()},
        "notes": notes,
    }


def _missing(corpus: str, instead: str) -> str:
    return (
        f"{corpus} is not on this machine; {instead} is used instead. "
        f"`thresher corpus fetch {corpus}` brings it."
    )


def _standard_library() -> tuple[str, Pairs, Pairs]:
    from thresher.corpora.standard_library import standard_library

    parts = [[(entry.text, entry.labels) for entry in item] for item in standard_library()]
    return "Python's own documentation", *parts


def write(path: Path, documents: Iterable[tuple[str, list[str]]]) -> None:
    """Write documents as JSON lines."""
    with path.open("w", encoding="utf-8") as file:
        for text, labels in documents:
            line = {"text": text, "labels": labels}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def read(path: Path) -> tuple[list[str], list[list[str]]]:
    """Read JSON lines the way that is fastest without Thresher's help."""
    with path.open(encoding="utf-8") as file:
        documents = [json.loads(line) for line in file]
    return [document["text"] for document in documents], [
        document["labels"] for document in documents
    ]


def stream(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Read JSON lines one by one, for those who convert them to a file of their own."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            document = json.loads(line)
            yield document["text"], document["labels"]


def _write_rows(path: Path, train: Pairs) -> None:
    """Write the training documents as normalised tf-idf rows, the most frequent category first."""
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(sublinear_tf=True, dtype=np.float32)
    rows = vectorizer.fit_transform([text for text, _ in train])
    names = sorted({label for _, labels in train for label in labels})
    number = {name: i for i, name in enumerate(names)}
    truth = np.zeros((len(train), len(names)), bool)
    for i, (_, labels) in enumerate(train):
        truth[i, [number[label] for label in labels]] = True
    truth = truth[:, np.argsort(-truth.sum(axis=0), kind="stable")]
    np.savez(
        path,
        indptr=rows.indptr,
        indices=rows.indices,
        values=rows.data,
        shape=rows.shape,
        truth=truth,
    )
