"""Coverage of bootstrap intervals of macro-F1, for several kinds of intervals.

    THRESHER_DATA=... python benchmarks/intervals.py

Decisions on the training documents of Reuters and of 20 Newsgroups, by models of the other half,
stand for all documents there are. Samples of them are measured, each with its intervals; told is
in how many samples an interval holds the mean figure of all samples, in how many the mean F1 that
the sample's categories have in all documents, and where in it the sample's own figure lies.
"""

import numpy as np

from thresher import Categorizer
from thresher.corpora import load
from thresher.evaluation.ranking import Positives
from thresher.evaluation.significance import _measure_all

CASES = {"reuters21578:modapte,categories=R90": (200, 800, 3000), "20newsgroups": (100, 600)}
SAMPLES, DRAWS = 300, 400


def population(corpus):
    """Return labels and decisions of all training documents that have a label."""
    texts, labels = [], []
    for batch in load(corpus).documents("train"):
        chosen = [i for i, item in enumerate(batch.labels) if len(item)]
        texts += [str(batch.texts[i]) for i in chosen]
        labels += [list(map(str, batch.labels[i])) for i in chosen]
    names = sorted({label for item in labels for label in item})
    truth = np.array([[name in label for name in names] for label in labels])
    decided, order = np.zeros_like(truth), np.random.default_rng(0).permutation(len(texts))
    for train, test in ((order[::2], order[1::2]), (order[1::2], order[::2])):
        model = Categorizer().fit([texts[i] for i in train], [labels[i] for i in train])
        scores = model.scores([texts[i] for i in test])
        columns = [names.index(str(name)) for name in model.categories_]
        decided[np.ix_(test, columns)] = model.decisions_.decide(scores)
    return truth, decided


def f1_of(truth, decided):
    """Return the F1 of each category with documents; NaN for the others."""
    by_category, hits = truth.sum(0), (truth & decided).sum(0)
    return np.where(by_category, 2 * hits / np.maximum(1, by_category + decided.sum(0)), np.nan)


def read(drawn, value):
    """Return the interval of each kind."""
    low, high = np.percentile(drawn, [2.5, 97.5])
    bias, spread = drawn.mean() - value, 1.96 * drawn.std()
    return {
        "percentile": (low, high),
        "basic": (2 * value - high, 2 * value - low),
        "normal": (value - spread, value + spread),
        "moved (ours)": (low - bias, high - bias),
    }


def main():
    """Print a table for each corpus and size of the samples."""
    generator = np.random.default_rng(1)
    for corpus, sizes in CASES.items():
        truth, decided = population(corpus)
        of_all = f1_of(truth, decided)
        for n in sizes:
            samples = [generator.integers(len(truth), size=n) for _ in range(1500)]
            mean = np.mean([np.nanmean(f1_of(truth[i], decided[i])) for i in samples])
            results = {}
            for i in samples[:SAMPLES]:
                by_category = f1_of(truth[i], decided[i])
                value, of_these = (
                    np.nanmean(by_category),
                    np.nanmean(of_all[~np.isnan(by_category)]),
                )
                positives = Positives.of(truth[i])
                drawn = _measure_all(decided[i], positives, DRAWS, int(i[0]))["macro_f1"]
                for way, (low, high) in read(drawn, value).items():
                    place = (value - low) / (high - low)
                    holds = low <= mean <= high, low <= of_these <= high
                    results.setdefault(way, []).append((*holds, place, high - low))
            print(f"\n{corpus}, {n} documents: macro-F1 {mean:.1%} on the average", flush=True)
            for way, rows in results.items():
                expected, its, place, width = np.mean(rows, axis=0)
                print(f"{way:14} {expected:.1%} {its:.1%}  at {place:.2f} of {width:.1%}")


if __name__ == "__main__":
    main()
