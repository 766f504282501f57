"""Speed of growing full decision trees on Reuters, against scikit-learn.

    python benchmarks/trees.py [--categories 90] [--strength book]

The documents are the training documents of Reuters-21578, ModApte split, with the categories R90,
one tree for each of every nth category by size; both sides get the same sparse matrix, grow until
leaves are pure and use one thread. Times are the processor's. scikit-learn's thresholds lie between
values and ours on them, and of equal gains another may be taken; the work is the same.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from thresher import DecisionTree, Examples, Labels, Strength, TextCounter, corpora

CORPUS = "reuters21578:modapte,categories=R90"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--categories", type=int, default=90)
    parser.add_argument("--strength", default="book")
    options = parser.parse_args()
    from sklearn.tree import DecisionTreeClassifier

    train = corpora.load(CORPUS).split("train")
    counts = TextCounter().count(train.texts)
    rows = Strength(options.strength).observe(counts).apply(counts)
    names = sorted({name for labels in train.labels for name in labels})
    truth = np.array([[name in labels for name in names] for labels in train.labels])
    largest = np.argsort(-truth.sum(0), kind="stable")
    truth = truth[:, largest[:: max(1, len(names) // options.categories)]]
    print(f"{rows.n_rows:,} documents, {rows.n_columns:,} words, {truth.shape[1]} categories")
    labels = Labels.from_lists([np.flatnonzero(item) for item in truth], truth.shape[1])
    seconds = []
    for _ in range(3):  # the first compiles
        start = time.process_time()
        learner = DecisionTree(pruning=None).fit_rows(Examples.of(rows, labels))
        seconds.append(time.process_time() - start)
    thresher_seconds = min(seconds)
    print(
        f"thresher      {thresher_seconds:8.2f} s, {sum(learner.summary()['nodes']):,} nodes",
        flush=True,
    )
    matrix, start, n_nodes = rows.to_scipy(), time.process_time(), 0
    for k in range(truth.shape[1]):
        tree = DecisionTreeClassifier(criterion="entropy", random_state=0).fit(matrix, truth[:, k])
        n_nodes += tree.tree_.node_count
    peer_seconds = time.process_time() - start
    ratio = peer_seconds / thresher_seconds
    print(f"scikit-learn  {peer_seconds:8.2f} s, {n_nodes:,} nodes: {ratio:.0f} times as long")


if __name__ == "__main__":
    main()
