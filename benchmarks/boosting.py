"""Speed of boosting stumps: a category against scikit-learn, and fifty with concepts.

    python benchmarks/boosting.py [--rounds 200] [--columns 5500] [--jobs 2]

The documents are the training documents of Reuters-21578, ModApte split, where a copy is found, and
else made up in their shape: which words stand in each, words in one or two documents left out. The
categories are the fifty with most documents. Columns of concepts are made up: 9,603 x 5,500 dense
shares, in groups of 100 to 1,000 that add up to one each, as pLSA gives them. scikit-learn's stumps
are other stumps, chosen by impurity, but it does the same work: it looks at all of them each round.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from thresher import Examples, Labels, Rows, StumpBoosting, TextCounter, corpora

sys.path.insert(0, str(Path(__file__).parents[1]))

CORPUS = "reuters21578:modapte"
N_CATEGORIES = 50
MIN_DF = 3


def training_documents() -> tuple[Rows, Labels]:
    """Return the words of the documents, and the most common categories."""
    if not corpora.is_here("reuters21578"):
        from benchmarks.epoch import synthetic_documents

        X, truth = synthetic_documents()
        counts = Rows(X.indptr.astype(np.int64), X.indices, X.data.astype(np.float32), X.shape[1])
    else:
        train = corpora.load(CORPUS).split("train")
        counts = TextCounter().count(train.texts)
        names = sorted({name for labels in train.labels for name in labels})
        truth = np.array([[name in labels for name in names] for labels in train.labels])
    df = np.bincount(counts.indices, minlength=counts.n_columns)
    rows = counts.keep(df >= MIN_DF)
    rows = rows._replace(values=np.ones(len(rows.indices), np.float32))
    common = np.argsort(-truth.sum(0), kind="stable")[:N_CATEGORIES]
    return rows, Labels.from_lists([np.flatnonzero(item) for item in truth[:, common]], len(common))


def with_concepts(rows: Rows, n_concepts: int, seed: int = 0) -> Rows:
    """Return the documents with columns of concepts, which are never zero, before the words."""
    generator, parts, left = np.random.default_rng(seed), [], n_concepts
    while left:
        size = min(left, 100 * (1 + len(parts) % 10))
        shares = generator.standard_gamma(0.05, (rows.n_rows, size)).astype(np.float32) + 1e-9
        parts.append(shares / shares.sum(1, keepdims=True))
        left -= size
    lengths = np.diff(rows.indptr) + n_concepts
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    indices, values = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32)
    for i in range(rows.n_rows):
        words = slice(rows.indptr[i], rows.indptr[i + 1])
        start, middle, end = indptr[i], indptr[i] + n_concepts, indptr[i + 1]
        indices[start:middle], indices[middle:end] = range(n_concepts), rows.indices[words]
        indices[middle:end] += n_concepts
        np.concatenate([item[i] for item in parts], out=values[start:middle])
        values[middle:end] = rows.values[words]
    return Rows(indptr, indices, values, rows.n_columns + n_concepts)


def timed(title: str, fit: Callable[..., object], *what: Any, **options: Any) -> float:
    """Call a function, print and return its processor time."""
    start, busy = time.perf_counter(), time.process_time()
    fit(*what, **options)
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    print(f"{title:62}{seconds:8.2f} s{busy:8.2f} s processor", flush=True)
    return busy


def race(rows: Rows, labels: Labels, learner: StumpBoosting) -> None:
    """Train a category with Thresher (best of three) and with scikit-learn (once)."""
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.tree import DecisionTreeClassifier

    n = learner.max_iter
    title = f"StumpBoosting, one category, {n} rounds"
    thresher_seconds = min(
        timed(title, learner.fit_rows, Examples.of(rows, labels)) for _ in range(3)
    )
    peer = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=n)
    X, y = rows.to_scipy().tocsc(), labels.to_dense()[:, 0]
    peer_seconds = timed("scikit-learn's AdaBoostClassifier of stumps, the same", peer.fit, X, y)
    print(f"{peer_seconds / thresher_seconds:71.0f} times as long")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--columns", type=int, default=5500, help="columns of concepts")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    rows, labels = training_documents()
    n = labels.n_categories
    print(f"{rows.n_rows:,} documents, {rows.n_columns:,} words, {len(rows.indices):,} entries")
    learners = [StumpBoosting(variant=item, max_iter=arguments.rounds) for item in ("MH", "MR")]
    some = np.arange(50)
    for count in (1, n):  # compiles
        learners[0].fit_rows(Examples.of(rows.take(some), first_of(labels, count).take(some)))
    race(rows, first_of(labels, 1), learners[0])
    examples = Examples.of(rows, labels)
    for learner in learners:
        for n_jobs in sorted({1, arguments.jobs}):
            title = f"{learner.variant}, {n} categories, words, {n_jobs} thread(s)"
            timed(title, learner.fit_rows, examples, n_jobs=n_jobs)
    if arguments.columns:
        both = Examples.of(with_concepts(rows, arguments.columns), labels)
        learner = learners[0].replace(n_thresholds=arguments.columns)
        title = f"MH, the same with {arguments.columns:,} concepts, {arguments.jobs} thread(s)"
        timed(title, learner.fit_rows, both, n_jobs=arguments.jobs)


def first_of(labels: Labels, n: int) -> Labels:
    """Return the labels restricted to the first categories."""
    is_frequent = labels.indices < n
    return Labels(
        np.append(0, np.cumsum(is_frequent))[labels.indptr], labels.indices[is_frequent], n
    )


if __name__ == "__main__":
    main()
