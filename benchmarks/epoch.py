"""Speed of an epoch, against one-vs-rest with the same kind of learner of scikit-learn.

    python benchmarks/epoch.py                       documents made up in the shape of Reuters-21578
    python benchmarks/epoch.py --svmlight FILE       a file of documents with several labels each

Everything runs on one thread and in one process, taking turns; each figure is the best of
`--repeat` runs, and the first run, which compiles, is not counted. scikit-learn gets its rows in
double precision and ready for use, as Thresher gets single precision.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array
from sklearn.linear_model import Perceptron as SklearnPerceptron
from sklearn.linear_model import SGDClassifier
from sklearn.multiclass import OneVsRestClassifier

from thresher.learners.online import LEARNERS, OnlineLearner, PassiveAggressive, Perceptron
from thresher.rows import Labels, Rows


def synthetic_documents(
    n_documents: int = 9603, n_categories: int = 90, n_features: int = 27_000, seed: int = 0
) -> tuple[csr_array, np.ndarray]:
    """Return documents of Zipf-distributed words, as tf-idf, with few categories each."""
    random = np.random.default_rng(seed)
    popularity = 1 / np.arange(1, n_categories + 1)
    labels = random.random((n_documents, n_categories)) < 1.1 * popularity / popularity.sum()
    words = 1 / np.arange(1, n_features + 1) ** 0.9
    lengths = np.maximum(random.lognormal(4.2, 0.8, n_documents).astype(int), 5)
    # A third of the words of a document are special words of its categories.
    special_words = random.integers(20, n_features, (n_categories, 60))
    columns = []
    for i, length in enumerate(lengths):
        common = random.choice(n_features, length, p=words / words.sum())
        special = special_words[np.flatnonzero(labels[i])].ravel()
        if len(special):
            common[: length // 3] = random.choice(special, length // 3)
        columns.append(common)
    rows = np.repeat(np.arange(n_documents), lengths)
    counts = csr_array(
        (np.ones(len(rows)), (rows, np.concatenate(columns))), shape=(n_documents, n_features)
    )
    counts.sum_duplicates()
    idf = np.log(n_documents / (1 + np.bincount(counts.indices, minlength=n_features))) + 1
    counts.data = (1 + np.log(counts.data)) * idf[counts.indices]
    norms = np.sqrt(counts.multiply(counts).sum(axis=1))
    counts.data /= np.repeat(norms, np.diff(counts.indptr))
    return counts, labels


def read_svmlight(path: str) -> tuple[csr_array, np.ndarray]:
    """Return documents with several labels each."""
    from sklearn.datasets import load_svmlight_file
    from sklearn.preprocessing import MultiLabelBinarizer

    X, y = load_svmlight_file(path, multilabel=True)
    return csr_array(X), MultiLabelBinarizer().fit_transform(y).astype(bool)


def best(functions: dict[str, Callable[[], object]], repeat: int) -> dict[str, float]:
    """Return the shortest time of each in seconds of this thread, measured in turns."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for turn in range(repeat + 1):
        for name, function in functions.items():
            start = time.thread_time()
            function()
            if turn:
                times[name].append(time.thread_time() - start)
    return {name: min(taken) for name, taken in times.items()}


def epochs(X: csr_array, Y: np.ndarray, repeat: int) -> dict[str, float]:
    """Time one epoch of every learner over the columns of Y."""
    rows = Rows(
        X.indptr.astype(np.int64),
        X.indices.astype(np.int32),
        X.data.astype(np.float32),
        X.shape[1],
    )
    labels = Labels.from_lists([np.flatnonzero(item).tolist() for item in Y], Y.shape[1])
    order = np.random.default_rng(0).permutation(rows.n_rows)

    def thresher(name: str) -> Callable[[], object]:
        def epoch() -> None:
            learner: OnlineLearner = LEARNERS[name]()
            learner.start(rows.n_columns, labels.n_categories, X.nnz / rows.n_rows)
            learner.learn_rows(rows, labels, order)

        return epoch

    def sklearn(model: SGDClassifier | SklearnPerceptron) -> Callable[[], object]:
        if Y.shape[1] == 1:
            y = Y[:, 0].astype(int)
            return lambda: model.fit(X, y)
        y = Y.astype(int)
        return lambda: OneVsRestClassifier(model).fit(X, y)

    X.indices = X.indices.astype(np.int32)
    X.indptr = X.indptr.astype(np.int32)
    functions = {
        "sklearn SGDClassifier": sklearn(SGDClassifier(loss="hinge", max_iter=1, tol=None)),
        "sklearn Perceptron": sklearn(SklearnPerceptron(max_iter=1, tol=None)),
    }
    functions |= {name: thresher(name) for name in LEARNERS}
    return best(functions, repeat)


def partial_fits(X: csr_array, y: np.ndarray, repeat: int) -> dict[str, float]:
    """Time a pass over two classes with `partial_fit`, including input checks."""
    peers = {
        "sklearn SGDClassifier": lambda: SGDClassifier(loss="hinge"),
        "sklearn Perceptron": SklearnPerceptron,
        "perceptron": Perceptron,
        "passive-aggressive": PassiveAggressive,
    }

    def once(make: Callable[[], object]) -> Callable[[], object]:
        return lambda: make().partial_fit(X, y, classes=[0, 1])  # type: ignore[attr-defined]

    return best({name: once(make) for name, make in peers.items()}, repeat)


def show(title: str, times: dict[str, float], nnz: int) -> None:
    """Print the times, and the ratio to scikit-learn."""
    references = [name for name in times if name.startswith("sklearn")]
    print(f"\n{title}")
    header = "".join(f"{'x ' + name.removeprefix('sklearn '):>18}" for name in references)
    print(f"{'':26}{'ms':>8}{'M strengths/s':>16}{header}")
    for name, seconds in times.items():
        ratios = "".join(f"{times[reference] / seconds:>18.1f}" for reference in references)
        print(f"{name:26}{1e3 * seconds:8.1f}{nnz / seconds / 1e6:16.0f}{ratios}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--svmlight", help="a file of labelled documents, several labels each")
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    X, Y = read_svmlight(arguments.svmlight) if arguments.svmlight else synthetic_documents()
    print(f"{X.shape[0]} documents, {X.shape[1]} features, {X.nnz} strengths")
    show(f"All {Y.shape[1]} categories", epochs(X, Y, arguments.repeat), X.nnz)
    largest = Y[:, [Y.sum(0).argmax()]]
    show("The largest category alone", epochs(X, largest, arguments.repeat), X.nnz)
    for precision in (np.float64, np.float32):
        times = partial_fits(X.astype(precision), largest[:, 0].astype(int), arguments.repeat)
        show(f"The same through partial_fit, {precision.__name__}", times, X.nnz)


if __name__ == "__main__":
    main()
