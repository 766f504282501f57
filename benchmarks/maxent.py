"""Maximum entropy: settings by cross-validation, and times compared with scikit-learn.

    python benchmarks/maxent.py folds [--corpus r90|20newsgroups] [--n-jobs 2]
    python benchmarks/maxent.py times [--corpus r90|20newsgroups] [--n-jobs 2]

Folds: learned from two thirds of the training documents and measured on the last third; a category
belongs where its probability is above one half (R90: micro- and macro-F1), or is the most probable
(20 Newsgroups: accuracy). Times: seconds of processor time to fit all training documents, and by
the clock with `--n-jobs` threads; scikit-learn's `LogisticRegression` with the same prior and
tolerance, one against the rest on R90. Words as the default categorizer weighs them.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from thresher import Examples, Labels, MaximumEntropy, Rows, Strength, TextCounter, corpora

CORPORA = {
    "r90": ("reuters21578:modapte", {"categories": "R90"}),
    "20newsgroups": ("20newsgroups", {}),
}
SETTINGS: list[dict[str, Any]] = [
    *({"prior_variance": variance} for variance in (1.0, 10.0, 30.0, 100.0, 300.0, 1000.0)),
    {"prior_variance": 100.0, "tolerance": 1e-5},
    *({"prior_variance": variance, "min_count": 2} for variance in (100.0, 300.0, 1000.0)),
    *({"features": "presence", "prior_variance": variance} for variance in (0.1, 1.0, 10.0)),
    {"prior_variance": None, "max_iter": 100},
    {"prior_variance": None, "min_count": 5, "max_iter": 100},
    {"prior_variance": None, "added_events": 0.1, "max_iter": 100},
]


def training_documents(corpus: str) -> tuple[Rows, Labels]:
    """Return the strengths of all words, and the categories."""
    spec, options = CORPORA[corpus]
    train = corpora.load(spec, **options).split("train")
    counts = TextCounter().count(train.texts)
    strength = Strength("tf-idf", sublinear_tf=True, normalize="l2")
    strength.observe(counts)
    names = sorted({name for labels in train.labels for name in labels})
    number = {name: k for k, name in enumerate(names)}
    lists = [[number[name] for name in labels] for labels in train.labels]
    return strength.apply(counts), Labels.from_lists(lists, len(names))


def quality(scores: np.ndarray, truth: np.ndarray, compete: bool) -> str:
    """Return accuracy, or micro- and macro-F1, as text."""
    if compete:
        return f"accuracy {100 * truth[np.arange(len(truth)), scores.argmax(1)].mean():.1f}"
    belongs = scores > 0
    right, both = (belongs & truth).sum(0), belongs.sum(0) + truth.sum(0)
    each = (2 * right / np.maximum(both, 1))[truth.any(0)]
    return f"micro-F1 {200 * right.sum() / both.sum():.1f}  macro-F1 {100 * each.mean():.1f}"


def by_folds(rows: Rows, labels: Labels, n_jobs: int) -> None:
    split = np.random.default_rng(0).integers(0, 3, rows.n_rows)
    learned, held = np.flatnonzero(split > 0), np.flatnonzero(split == 0)
    examples, truth = Examples.of(rows.take(learned), labels.take(learned)), labels.to_dense()[held]
    for setting in SETTINGS:
        began = time.process_time()
        learner = MaximumEntropy(**setting).fit_rows(examples, n_jobs=n_jobs)
        seconds = time.process_time() - began
        figures = quality(learner.score_rows(rows.take(held), n_jobs), truth, learner._compete)
        print(f"{figures}  {seconds:6.1f} s  {learner!r}", flush=True)


def times(rows: Rows, labels: Labels, n_jobs: int) -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    few = np.arange(100)
    MaximumEntropy().fit_rows(Examples.of(rows.take(few), labels.take(few)))  # compiled once
    for threads in (1, n_jobs):
        began, by_the_clock = time.process_time(), time.perf_counter()
        learner = MaximumEntropy().fit_rows(Examples.of(rows, labels), n_jobs=threads)
        seconds, waited = time.process_time() - began, time.perf_counter() - by_the_clock
        print(f"{seconds:7.1f} s ({waited:.1f} by the clock), {threads} threads, {learner!r}")
    variance = learner._schedule().precision ** -1
    peer: Any = LogisticRegression(C=variance, max_iter=learner.max_iter)
    X, y = rows.to_scipy().astype(np.float64), labels.indices
    if not learner._compete:
        peer, y = OneVsRestClassifier(peer), labels.to_dense().astype(int)
    began, by_the_clock = time.process_time(), time.perf_counter()
    peer.fit(X, y)
    seconds, waited = time.process_time() - began, time.perf_counter() - by_the_clock
    print(f"{seconds:7.1f} s ({waited:.1f} by the clock), {peer!r}")
    began = time.process_time()
    MaximumEntropy(method="gis", features="presence", max_iter=20).fit_rows(
        Examples.of(rows, labels), n_jobs=n_jobs
    )
    print(f"{time.process_time() - began:7.1f} s, twenty iterations of scaling")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["folds", "times"])
    parser.add_argument("--corpus", choices=list(CORPORA), default="r90")
    parser.add_argument("--n-jobs", type=int, default=2)
    arguments = parser.parse_args()
    run = by_folds if arguments.what == "folds" else times
    run(*training_documents(arguments.corpus), arguments.n_jobs)


if __name__ == "__main__":
    main()
