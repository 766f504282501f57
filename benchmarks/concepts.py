"""Cost of an iteration of pLSA and of scikit-learn's NMF with Kullback-Leibler loss.

    python benchmarks/concepts.py [--sizes 100 500] [--repeat 3] [--json FILE]

All 21,578 documents of Reuters-21578, words in at least two of them and at most a fifth, the same
counts in single precision for both. The multiplicative updates of NMF and expectation maximisation
have the same fixed points. Each figure comes from a process of its own, which fits with 2 and with
7 iterations and takes a fifth of the difference; the contenders take turns, and the best counts.
Seconds are those of the processor, except with two threads and beside them ("wall").
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, thread_time

import numpy as np

from thresher import Concepts, Rows, TextCounter, corpora

FEW, MANY = 2, 7
WORDS = {"min_df": 2, "max_df": 0.2}
SUBSET, SUBSET_SIZE = 500, 20


def count(path: Path) -> None:
    """Write the counts of all documents, with the test documents last."""
    corpus = corpora.load("reuters21578:modapte")
    texts = [text for name in ("train", "unused", "test") for text in corpus.split(name).texts]
    counts = TextCounter().count(texts)
    frequencies = np.bincount(counts.indices)
    most = WORDS["max_df"] * counts.n_rows
    counts = counts.keep((frequencies >= WORDS["min_df"]) & (frequencies <= most))
    np.savez(path, *counts[:4], len(corpus.split("test").texts))


def load(path: Path) -> tuple[Rows, int]:
    arrays = np.load(path)
    indptr, indices, values, width, n_test = (arrays[f"arr_{i}"] for i in range(5))
    return Rows(indptr, indices, values, int(width)), int(n_test)


def ours(rows: Rows, size: int, max_iter: int, n_jobs: int = 1, held_out: float = 0.0) -> None:
    concepts = Concepts(size, max_iter=max_iter, held_out=held_out)
    concepts.fit_rows(rows, n_jobs=n_jobs)


def nmf(rows: Rows, size: int, max_iter: int) -> None:
    from sklearn.decomposition import NMF

    loss = {"beta_loss": "kullback-leibler", "solver": "mu", "init": "random"}
    NMF(size, **loss, max_iter=max_iter, tol=0, random_state=0).fit_transform(rows.to_scipy())


CONTENDERS: dict[str, Callable[..., None]] = {
    "Thresher": ours,
    "Thresher, wall": ours,
    "Thresher, 2 threads, wall": lambda *plan: ours(*plan, n_jobs=2),
    "Thresher, a tenth held out": lambda *plan: ours(*plan, held_out=0.1),
    "scikit-learn NMF": nmf,
}


def iteration(path: Path, name: str, size: int) -> tuple[float, float]:
    """Return the seconds of an iteration and the peak of memory in megabytes."""
    warnings.simplefilter("ignore")  # that there are few documents, that nothing has converged
    rows, _ = load(path)
    clock = perf_counter if name.endswith("wall") else thread_time
    CONTENDERS[name](rows.take(np.arange(100)), size, 1)  # compiles, imports
    times = []
    for max_iter in (FEW, MANY):
        start = clock()
        CONTENDERS[name](rows, size, max_iter)
        times.append(clock() - start)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return (times[1] - times[0]) / (MANY - FEW), memory


def fold_in(path: Path, size: int) -> tuple[float, int]:
    """Return the seconds of folding in the test documents, best of five, and their number."""
    rows, n_test = load(path)
    border = rows.n_rows - n_test
    concepts = Concepts(size).fit_rows(rows.take(np.arange(border)), n_jobs=2)
    test, times = rows.take(np.arange(border, rows.n_rows)), []
    for _ in range(6):
        start = thread_time()
        concepts.memberships(test)
        times.append(thread_time() - start)
    return min(times[1:]), n_test


def twin(path: Path) -> tuple[float, float]:
    """Return the held-out perplexity of some documents, and that of the naive twin."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from naive.concepts import maximise, perplexity
    from thresher.features._plsa import Maximisation
    from thresher.features.concepts import _in_order

    rows, _ = load(path)
    rows = rows.take(np.arange(SUBSET))
    concepts = Concepts(SUBSET_SIZE, **WORDS).fit_rows(rows)
    known = np.zeros(rows.n_columns, bool)
    known[concepts.columns_] = True
    training, held = concepts._thinned(_in_order(rows.keep(known)))
    first = Maximisation(concepts, training, held, None)._first(SUBSET_SIZE, 0)
    n_iter = int(concepts.n_iter_[0])
    tables = maximise(training.to_scipy().toarray(), first.theta, first.phi, n_iter)
    stored = float(concepts.perplexities_[0][n_iter - 1])
    return stored, perplexity(held.to_scipy().toarray(), *tables)


def alone(function: Callable, *arguments: object) -> tuple:
    """Call a function in a separate process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def table(figures: dict[str, dict[int, tuple[float, float]]], sizes: list[int]) -> str:
    """Return a table in Markdown: seconds, ratio to Thresher, and memory."""
    head = " | ".join(f"K = {size}, s | x Thresher | peak MB" for size in sizes)
    lines = [f"| an iteration | {head} |", "|---|" + "---|" * 3 * len(sizes)]
    for name, by_size in figures.items():
        cells = [
            f"{seconds:.3f} | {seconds / figures['Thresher'][size][0]:.2f} | {memory:,.0f}"
            for size, (seconds, memory) in by_size.items()
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 500])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", help="write all figures to this file")
    given = parser.parse_args()
    for library in ("OMP", "OPENBLAS", "MKL"):  # for child processes
        os.environ[f"{library}_NUM_THREADS"] = "1"
    figures: dict[str, dict[int, tuple[float, float]]] = {name: {} for name in CONTENDERS}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "counts.npz"
        count(path)
        rows, _ = load(path)
        print(f"{rows.n_rows:,} documents, {rows.n_columns:,} words, {len(rows.values):,} counts\n")
        for _ in range(given.repeat):
            for size in given.sizes:
                for name in CONTENDERS:
                    seconds, memory = alone(iteration, path, name, size)
                    best = figures[name].get(size, (np.inf, 0.0))[0]
                    figures[name][size] = min(best, seconds), memory
                    print(f"{name}, K = {size}: {seconds:.3f} s", file=sys.stderr)
        folding, n_test = alone(fold_in, path, 100)
        perplexities = alone(twin, path)
    print(table(figures, given.sizes))
    print(f"\nFolding in {n_test:,} documents, K = 100, one thread: {folding:.3f} s")
    print(
        f"Perplexity of what is held out of {SUBSET} documents, K = {SUBSET_SIZE}: "
        f"{perplexities[0]:.3f}; the naive twin's {perplexities[1]:.3f}"
    )
    if given.json:
        stored = {"iteration": figures, "fold_in": folding, "perplexities": perplexities}
        Path(given.json).write_text(json.dumps(stored, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
