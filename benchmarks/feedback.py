"""Effects of feedback on a model: corrections, days of new documents, a new category, time.

    python benchmarks/feedback.py [--on folds|test] [--seeds 5] [--corpora ...] [--json FILE]

The models are `Categorizer()` as it comes and `Categorizer(preset="fast")`. One category of the
corpus, another with each seed, is kept from them until it is new. Quality is the accuracy, or the
micro-F1 where documents have several labels, in points. With `--on folds`, by which constants are
chosen, four fifths of the training documents are learned from and the others measured on.
"""

import argparse
import copy
import json
from statistics import mean, median
from time import perf_counter
from typing import NamedTuple

import numpy as np

from thresher import Categorizer, corpora

CORPORA = {
    "20 Newsgroups": "20newsgroups:bydate,remove=headers+footers+quotes",
    "OHSUMED 23": "ohsumed23",
    "Reuters R90": "reuters21578:modapte,categories=R90",
}
PRESETS = ("best", "fast")
DAYS, A_DAY = 10, 50
CORRECTED = 3  # categories for each seed
FRESH = 30  # documents of the new category
COMMON = 60  # documents that a category must have to be the new one


class Case(NamedTuple):
    """Documents for one seed, as pairs of text and labels."""

    base: list  # to train on, without the new category
    stream: list  # for updates, without the new category
    fresh: list  # the first documents of the new category
    measured: list
    new: str
    several: bool  # labels for each document
    generator: np.random.Generator


def case(corpus, on, seed):
    """Divide a corpus at random."""
    generator = np.random.default_rng(seed)
    train = list(corpus.pairs("train"))
    several = any(len(labels) != 1 for _, labels in train)
    names, counts = np.unique(
        [label for _, labels in train for label in labels], return_counts=True
    )
    common = np.random.default_rng(0).permutation(names[counts >= COMMON])
    new = str(common[seed % len(common)])
    train = [train[i] for i in generator.permutation(len(train))]
    measured = list(corpus.pairs("test"))
    if on == "folds":
        fifth = len(train) // 5
        measured, train = train[:fifth], train[fifth:]
    known = [item for item in train if new not in item[1]]
    fresh = [item for item in train if new in item[1]][:FRESH]
    n = DAYS * A_DAY
    return Case(known[n:], known[:n], fresh, measured, new, several, generator)


class Trial:
    """A model, and the effects of different updates from the same start."""

    def __init__(self, case, preset):
        self.case, self.preset = case, preset
        self.known = [d for d in case.measured if case.new not in d[1]]
        self.model = self.trained(case.base)
        self.start = self.quality(self.model, self.known)
        pairs = zip(case.stream, self.right(self.model, case.stream), strict=True)
        # Documents without words cannot be learned.
        self.wrong = [d for d, is_right in pairs if not is_right and d[0].split()]

    def split(self, documents):
        labels = [labels if self.case.several else labels[0] for _, labels in documents]
        return [text for text, _ in documents], labels

    def trained(self, documents):
        return Categorizer(preset=self.preset).fit(*self.split(documents))

    def learned(self, model, documents):
        return model.learn(*self.split(documents))

    def fresh_model(self):
        return copy.deepcopy(self.model)

    def decided(self, model, documents):
        predicted = model.predict(self.split(documents)[0])
        return [set(p) if self.case.several else {p} for p in predicted]

    def quality(self, model, documents):
        """Return the micro-F1 in points, which equals the accuracy for single labels."""
        decided, truth = self.decided(model, documents), [set(y) for _, y in documents]
        hits = sum(len(p & y) for p, y in zip(decided, truth, strict=True))
        return 200 * hits / sum(map(len, decided + truth))

    def right(self, model, documents):
        decided = self.decided(model, documents)
        return [p == set(y) for p, (_, y) in zip(decided, documents, strict=True)]

    def change(self, model):
        return self.quality(model, self.known) - self.start

    def recall(self, model):
        """Return the share of the new category's documents that get it, and its F1."""
        decided, new = self.decided(model, self.case.measured), self.case.new
        truth = [new in labels for _, labels in self.case.measured]
        hits = sum(new in p for p, y in zip(decided, truth, strict=True) if y)
        return 100 * hits / sum(truth), 200 * hits / (sum(truth) + sum(new in p for p in decided))

    # ---- kinds of updates --------------------------------------------------------------------

    def corrections(self):
        """Five corrections of one category, for some categories."""
        names, counts = np.unique([y for _, ys in self.wrong for y in ys], return_counts=True)
        for name in self.case.generator.permutation(names[counts >= 5])[:CORRECTED]:
            five = [item for item in self.wrong if name in item[1]][:5]
            model = self.learned(self.fresh_model(), five)
            right = sum(self.right(model, five))
            yield {"five corrections: right": right, "five corrections": self.change(model)}

    def days(self, stream, name):
        """Ten days of fifty documents, compared with training on all documents."""
        model, changes = self.fresh_model(), []
        for i in range(0, len(stream), A_DAY):
            changes.append(self.change(self.learned(model, stream[i : i + A_DAY])))
        yield {f"{name}: worst day": min(changes), f"{name}: end": changes[-1]}

    def honest_days(self):
        yield from self.days(self.case.stream, "ten days")
        yield {"anew on everything": self.change(self.trained(self.case.base + self.case.stream))}

    def noisy_days(self):
        """The same with one label in ten wrong."""
        stream, generator = list(self.case.stream), self.case.generator
        for i in range(0, len(stream), 10):
            other = stream[generator.integers(len(stream))][1]
            stream[i] = stream[i][0], other
        yield from self.days(stream, "one label in ten wrong")

    def new_category(self):
        """Thirty documents of a new category at once, or five first and the others later."""
        fresh = self.case.fresh
        at_once = self.learned(self.fresh_model(), fresh)
        in_two = self.learned(self.learned(self.fresh_model(), fresh[:5]), fresh[5:])
        anew = self.trained(self.case.base + fresh)
        figures = {}
        for name, model in (("new", at_once), ("new, 5 + 25", in_two), ("new, anew", anew)):
            recall, f1 = self.recall(model)
            figures |= {f"{name}: others": self.change(model), f"{name}: found, %": recall}
            figures |= {f"{name}: F1": f1}
        yield figures

    def odd(self):
        """Corrections one by one, a day of a single category, and labels that change often."""
        model, fifty = self.fresh_model(), self.wrong[:50]
        for item in fifty:
            self.learned(model, [item])
        share = 100 * mean(self.right(model, fifty))
        yield {"fifty one by one": self.change(model), "fifty one by one: right, %": share}
        stream = self.case.stream
        names, counts = np.unique([y for _, ys in stream for y in ys], return_counts=True)
        day = [item for item in stream if names[counts.argmax()] in item[1]][:A_DAY]
        yield {"a day of one category": self.change(self.learned(self.fresh_model(), day))}
        model, (text, labels) = self.fresh_model(), self.wrong[0]
        others = next(ys for _, ys in stream if ys and ys != labels)
        for _ in range(10):
            self.learned(self.learned(model, [(text, others)]), [(text, labels)])
        yield {"back and forth, ten times": self.change(model)}

    def times(self):
        """Milliseconds to learn one document."""
        model = self.fresh_model()
        for i, item in enumerate(self.case.stream[:120]):
            texts, labels = self.split([item])
            began = perf_counter()
            model.learn(texts, labels)
            if i >= 20:
                yield {"milliseconds": 1e3 * (perf_counter() - began)}


JOBS = {
    "corrections": Trial.corrections,
    "days": Trial.honest_days,
    "new": Trial.new_category,
    "odd": Trial.odd,
    "noise": Trial.noisy_days,
    "time": Trial.times,
}


def shown(name, values):
    """Return a cell of the table: the mean and the worst value."""
    if name == "milliseconds":
        return f"{median(values):.1f} ({np.percentile(values, 95):.1f})"
    return f"{mean(values):.1f} ({min(values):.1f})"


def table(figures, names):
    """Return a table in Markdown: a column for each corpus."""
    measures = dict.fromkeys(figure for name in names for figure in figures[name])
    lines = [f"| | {' | '.join(names)} |", "|---|" + "---|" * len(names)]
    lines += [
        f"| {measure} | {' | '.join(shown(measure, figures[name][measure]) for name in names)} |"
        for measure in measures
    ]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--on", choices=("folds", "test"), default="folds")
    parser.add_argument("--seeds", type=int, default=5, help="how many; default 5")
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, default=list(CORPORA))
    parser.add_argument("--presets", nargs="+", choices=PRESETS, default=PRESETS)
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS))
    parser.add_argument("--json", help="write all figures to this file")
    given = parser.parse_args()
    figures = {preset: {name: {} for name in given.corpora} for preset in given.presets}
    for name in given.corpora:
        corpus = corpora.load(CORPORA[name])
        for seed in range(given.seeds):
            for preset in given.presets:
                trial = Trial(case(corpus, given.on, seed), preset)
                mine = figures[preset][name]
                mine.setdefault("quality", []).append(trial.start)
                for job in given.jobs:
                    for figure in JOBS[job](trial):
                        for key, value in figure.items():
                            mine.setdefault(key, []).append(value)
    for preset in given.presets:
        print(f"\npreset={preset!r}, {given.on}: mean (worst), milliseconds: median (95 %)\n")
        print(table(figures[preset], given.corpora))
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump({"on": given.on, "seeds": given.seeds, "figures": figures}, file, indent=1)


if __name__ == "__main__":
    main()
