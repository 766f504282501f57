"""Speed of nearest neighbours on Reuters-21578, against brute force in scikit-learn.

    python benchmarks/neighbors.py [--neighbors 10] [--repeat 5] [--jobs 2]

Training documents are searched for the test documents of the ModApte split (9,603 and 3,299, tf-idf
of words), where a copy is found, and else documents made up in their shape. All take turns and the
best of each counts, once for the neighbours alone and once with the votes on all categories.
scikit-learn has the numbers as its own vectorizer gives them, of 64 bits, in which ours adds up the
nearest too; and once more of 32 bits, in which it is quicker and ties depend on rounding.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from thresher import Examples, Labels, NearestNeighbors, Rows, Strength, TextCounter, corpora

sys.path.insert(0, str(Path(__file__).parents[1]))

CORPUS = "reuters21578:modapte"


def collections() -> tuple[Rows, Labels, Rows]:
    """Return the training documents with their labels, and the test documents."""
    if not corpora.is_here("reuters21578"):
        from benchmarks.epoch import synthetic_documents

        X, truth = synthetic_documents()
        values = X.data.astype(np.float32)
        counts = Rows(X.indptr.astype(np.int64), X.indices, values, X.shape[1])
        middle = 3 * counts.n_rows // 4
        train, test = (counts.take(np.arange(*ends)) for ends in ((middle,), (middle, len(truth))))
        truth = truth[:middle]
    else:
        corpus, counter = corpora.load(CORPUS), TextCounter()
        documents = corpus.split("train")
        train = counter.count(documents.texts)
        test = counter.count(corpus.split("test").texts, grow=False)
        names = sorted({name for labels in documents.labels for name in labels})
        truth = np.array([[name in labels for name in names] for labels in documents.labels])
    strength = Strength("tf-idf", sublinear_tf=True, normalize="l2").observe(train)
    lists = [np.flatnonzero(item) for item in truth]
    return strength.apply(train), Labels.from_lists(lists, truth.shape[1]), strength.apply(test)


def race(title: str, repeat: int, runs: dict[str, Callable[[], object]]) -> None:
    """Run all in turn; print the best time of each, and its ratio to Thresher."""
    best = dict.fromkeys(runs, (np.inf, np.inf))
    for _ in range(repeat):
        for name, run in runs.items():
            start, busy = time.perf_counter(), time.process_time()
            run()
            times = time.perf_counter() - start, time.process_time() - busy
            best[name] = tuple(map(min, best[name], times))
    print(title)
    peer_times = best["scikit-learn"]
    for name, (seconds, busy) in best.items():
        ratios = f"{peer_times[0] / seconds:6.1f} x{peer_times[1] / busy:8.1f} x"
        print(f"  {name:24}{seconds:8.3f} s{busy:8.3f} s processor{ratios}", flush=True)


def main() -> None:
    from sklearn.neighbors import KNeighborsClassifier

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--neighbors", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    train, labels, test = collections()
    print(f"{train.n_rows:,} documents, {train.n_columns:,} words; {test.n_rows:,} ask")
    k = arguments.neighbors
    learner = NearestNeighbors(n_neighbors=k, weights="uniform")
    first = Labels(np.arange(train.n_rows + 1), np.zeros(train.n_rows, np.int32), 1)
    X, Z = train.to_scipy(), test.to_scipy()
    for title, answers, truth in (
        ("The neighbours alone", first, np.zeros(train.n_rows)),
        ("With the votes on all categories", labels, labels.to_dense().astype(int)),
    ):
        fitted = learner.replace().fit_rows(Examples.of(train, answers))
        fitted.score_rows(test.take(np.arange(9)))  # compiles
        runs: dict[str, Callable[[], object]] = {}
        for name, dtype in (("scikit-learn", np.float64), ("scikit-learn, 32 bits", np.float32)):
            peer = KNeighborsClassifier(k, metric="cosine", algorithm="brute")
            peer.fit(X.astype(dtype), truth)
            search = peer.predict_proba if answers is labels else peer.kneighbors
            asking = Z.astype(dtype)
            runs[name] = lambda s=search, a=asking: s(a)
        for n_jobs in sorted({1, arguments.jobs}):
            name = f"ours, {n_jobs} thread(s)"
            runs[name] = lambda o=fitted, n=n_jobs: o.score_rows(test, n)
        race(title, arguments.repeat, runs)


if __name__ == "__main__":
    main()
