"""Gains of concepts for the default model, and of documents without labels.

    python benchmarks/unlabelled.py [--on folds|test] [--seeds 3] [--corpora ...] [--plot FILE]

Of the training documents 1, 5, 10 and 100 % keep their labels, drawn anew with each seed. The
models are `Categorizer()` as it comes, and with concepts: from the labelled documents alone, and
from all documents of the corpus, those that are measured on among them, without a look at labels.
Quality is the accuracy, or the micro-F1 where documents have several labels, in points. With
`--on folds`, by which the weight of concepts was chosen, a fifth of the training documents is
measured on.
"""

import argparse
import json
from statistics import mean, stdev

import numpy as np

from thresher import Categorizer, corpora
from thresher.evaluation import read_measure
from thresher.report.plots import new_figure, save_figure

CORPORA = {
    "20 Newsgroups": "20newsgroups:bydate,remove=headers+footers+quotes",
    "Reuters R90": "reuters21578:modapte,categories=R90",
}
SHARES = (0.01, 0.05, 0.1, 1.0)
SIZES = (100, 200, 300)
MODELS = ("words", "concepts of the labelled", "concepts of all")


def documents(corpus, on, seed):
    """Return labelled documents in random order, test documents, and all texts."""
    train, test = (list(corpus.pairs(split)) for split in ("train", "test"))
    texts = [text for text, _ in train + test]
    if "unused" in corpus.splits:
        texts += [text for text, _ in corpus.pairs("unused")]
    train = [train[i] for i in np.random.default_rng(seed).permutation(len(train))]
    if on == "folds":
        fifth = len(train) // 5
        train, test = train[fifth:], train[:fifth]
    return train, test, texts


def quality(model, share, train, test, texts, n_jobs):
    """Return the micro-F1, in points, which equals the accuracy for single labels."""
    labelled = train[: max(1, round(share * len(train)))]
    several = any(len(labels) != 1 for _, labels in train)
    split = [([text for text, _ in item], [y if several else y[0] for _, y in item])
             for item in (labelled, test)]  # fmt: skip
    options = {} if model == "words" else {"concepts": SIZES}
    others = texts if model == "concepts of all" else None
    mode = "multi-label" if several else "single-label"
    categorizer = Categorizer(mode=mode, n_jobs=n_jobs, remember=0, **options)
    categorizer.fit(*split[0], unlabelled=others)
    return 100 * read_measure(categorizer.evaluate(*split[1]), "micro_f1")


def table(figures):
    """Return the figures in Markdown: means and, for several seeds, standard deviations."""
    titles = [f"{share:.0%}" for share in SHARES]
    lines = [f"| | {' | '.join(titles)} |", "|---" * (len(titles) + 1) + "|"]
    for (corpus, model), by_share in figures.items():
        cells = [f"{mean(v):.1f}" + (f" ± {stdev(v):.1f}" if len(v) > 1 else "")
                 for v in by_share.values()]  # fmt: skip
        lines.append(f"| {corpus}, {model} | {' | '.join(cells)} |")
    return "\n".join(lines)


def draw(figures, path):
    """Draw a panel for each corpus with a line for each model."""
    names = list(dict.fromkeys(corpus for corpus, _ in figures))
    figure, axes = new_figure(len(names))
    for axis, name in zip(axes, names, strict=True):
        for (corpus, model), by_share in figures.items():
            if corpus == name:
                shares = [100 * share for share in by_share]
                axis.plot(shares, [mean(v) for v in by_share.values()], "o-", label=model)
        axis.set(title=name, xscale="log", xlabel="% of the training labels", ylabel="micro-F1")
        axis.set_xticks([100 * s for s in SHARES], [f"{s:.0%}" for s in SHARES])
        axis.legend(frameon=False)
    save_figure(figure, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--on", choices=("folds", "test"), default="test")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--corpora", nargs="*", default=list(CORPORA))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--plot", help="a file for the picture")
    parser.add_argument("--json", help="a file for the figures")
    options = parser.parse_args()
    figures = {}
    for name in options.corpora:
        corpus = corpora.load(CORPORA[name])
        for model in MODELS:
            for share in SHARES:
                seeds = range(options.seeds if share < 1 else 1)
                values = [quality(model, share, *documents(corpus, options.on, seed),
                                  options.threads) for seed in seeds]  # fmt: skip
                figures.setdefault((name, model), {})[share] = values
                print(f"{name}, {model}, {share:.0%}: {mean(values):.2f}", flush=True)
    print(table(figures))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump([[*key, by_share] for key, by_share in figures.items()], file)
    if options.plot:
        draw(figures, options.plot)


if __name__ == "__main__":
    main()
