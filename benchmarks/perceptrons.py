"""Speed of boosted perceptrons and networks, against the closest relatives in scikit-learn.

    python benchmarks/perceptrons.py [--rounds 10] [--epochs 5] [--repeat 3] [--all]

The documents are the training documents of Reuters-21578, R90. scikit-learn's relative is AdaBoost
over SGDClassifier with squared errors, the same rate, rounds and epochs; it reweighs instead of
drawing and has no momentum. Its MLPRegressor does the network's steps, but on all weights: it is
timed on 300 documents, for ours all. Least processor time of several runs; --all fits all of R90.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.neural_network import MLPRegressor

from thresher import BoostedPerceptrons, Examples, MultilayerPerceptron, Strength
from thresher_papers._running import one_category
from thresher_papers.learner_table import collection

FEW = 300


def least(repeat: int, fit: Callable[[], object]) -> float:
    """Return the shortest processor time of several calls."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        fit()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    rounds, epochs, repeat = options.rounds, options.epochs, options.repeat
    warnings.simplefilter("ignore")
    (counts, labels), _ = collection()
    strength = Strength(**BoostedPerceptrons.preferred_strength).observe(counts)
    rows = strength.apply(counts)
    X, truth = rows.to_scipy().astype(np.float64), labels.to_dense()
    for k in np.argsort(-truth.sum(0), kind="stable")[[0, 1, 4, 9, 19, 39]]:
        y = truth[:, k]
        examples = Examples.of(rows, one_category(y))
        learner = BoostedPerceptrons(max_iter=rounds, epochs=epochs, tolerance=0.0)
        unit = SGDClassifier(
            loss="squared_error", alpha=0, learning_rate="constant", eta0=0.2, max_iter=epochs,
            tol=None,
        )  # fmt: skip
        peer = AdaBoostClassifier(unit, n_estimators=rounds)
        seconds = least(repeat, lambda: learner.fit_rows(examples)) / learner.n_iter_  # noqa: B023
        other = least(repeat, lambda: peer.fit(X, y)) / len(peer.estimators_)  # noqa: B023
        print(f"{y.sum():5} positives: {1000 * seconds:6.1f} ms a round, scikit-learn "
              f"{1000 * other:6.1f}, {other / seconds:.2f} times", flush=True)  # fmt: skip
    examples = Examples.of(rows, one_category(truth[:, 21]))
    network = MultilayerPerceptron(max_iter=1)
    sgd = MLPRegressor(
        hidden_layer_sizes=(5,), activation="tanh", solver="sgd", alpha=0, batch_size=1,
        learning_rate_init=0.2, momentum=0.5, nesterovs_momentum=False, max_iter=1,
    )  # fmt: skip
    seconds = least(repeat, lambda: network.fit_rows(examples)) / len(truth)
    other = least(repeat, lambda: sgd.fit(X[:FEW], 2.0 * truth[:FEW, 21] - 1)) / FEW
    print(f"network: {1e6 * seconds:.1f} µs a document, scikit-learn {1e6 * other:.1f}")
    if options.all:
        for learner in (BoostedPerceptrons(), MultilayerPerceptron()):
            start = time.perf_counter()
            learner.fit_rows(Examples.of(rows, labels), n_jobs=2)
            print(f"{learner.name}, all of R90: {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
