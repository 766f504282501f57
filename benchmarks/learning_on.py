"""Cost of learning a document, depending on the number learned before.

    python benchmarks/learning_on.py [--most 1000000] [--plot curve.png]

A model grows by batches of made-up documents; at each size the median time of learning one short
document with three new words is taken, then that of the first document of a new category.
"""

import argparse
from statistics import median
from time import perf_counter

import numpy as np

from thresher import Categorizer

WORDS = 40  # in a document


def documents(first, n, generator):
    """Return documents with half of their words new, numbered from `first`."""
    half = WORDS // 2
    texts = []
    for i in range(n):
        new = " ".join(f"w{first + i * half + j}" for j in range(half))
        old = " ".join(f"w{j}" for j in generator.integers(0, max(half, first), half))
        texts.append(f"{new} {old}")
    return texts, first + n * half


def seconds(model, texts, labels):
    times = []
    for text, label in zip(texts, labels, strict=True):
        began = perf_counter()
        model.learn([text], [label])
        times.append(perf_counter() - began)
    return median(times)


def measure(most, n_categories=20):
    """Yield the number of features, and milliseconds for a document and for a new category."""
    generator = np.random.default_rng(0)
    model, first, size = Categorizer(), 0, 10_000
    while size <= most:
        while first < size:
            texts, first = documents(
                first, min(5_000, 1 + (size - first) // (WORDS // 2)), generator
            )
            model.learn(texts, [f"c{i % n_categories}" for i in range(len(texts))])
        one_by_one = [
            f"x{size}y{i} x{size}z{i} x{size}a{i} w{i} w{i + 1} w{i + 2}" for i in range(60)
        ]
        old = seconds(model, one_by_one[:40], ["c1"] * 40)
        new = seconds(model, one_by_one[40:], [f"n{size}-{i}" for i in range(20)])
        yield model.n_features, 1e3 * old, 1e3 * new
        size *= 4


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--most", type=int, default=700_000, help="features to grow to")
    parser.add_argument("--plot", help="draw the curve to this file")
    given = parser.parse_args()
    print(f"{'features':>10}  {'a document':>12}  {'a new category':>14}   (median, milliseconds)")
    points = []
    for point in measure(given.most):
        points.append(point)
        print(f"{point[0]:>10,}  {point[1]:>12.3f}  {point[2]:>14.3f}", flush=True)
    if given.plot:
        from thresher.report.plots import COLOURS, new_figure, save_figure

        figure, (axis,) = new_figure()
        features, old, new = zip(*points, strict=True)
        axis.plot(features, old, "o-", color=COLOURS[0], label="a document")
        axis.plot(features, new, "o-", color=COLOURS[1], label="the first of a new category")
        axis.set(xscale="log", ylim=(0, None), xlabel="features", ylabel="milliseconds to learn")
        axis.legend(frameon=False)
        save_figure(figure, given.plot)


if __name__ == "__main__":
    main()
