"""The second look: expected and actual gains, effects of time and feedback, and cost.

    THRESHER_DATA=... python benchmarks/second_look.py [folds] [time] [feedback] [single] [costs]

All of it on training documents: no test document is read.
"""

import copy
import sys
from statistics import median
from time import perf_counter

import numpy as np

from thresher import Categorizer
from thresher.corpora import load
from thresher.corpora.standard_library import standard_library
from thresher.model.second_look import SecondLook

R90 = "reuters21578:modapte,categories=R90,labelled=yes"
CORPORA = {  # by name: corpus and split
    "Reuters R90, documents with a topic": (R90, "train"),
    "Reuters R90, all": ("reuters21578:modapte,categories=R90", "train"),
    "Reuters R115": ("reuters21578:modapte,categories=R115", "train"),
    "MEDLINE": ("medline:abstract=yes,english=yes,min_frequency=100", "all"),
}
MODELS = {
    "alone": {"second_look": None},
    "second look": {"second_look": "trees"},
    "second look, lead": {"second_look": "trees", "fields": "lead"},
}
JOINT = {"ngram_range": (1, 2), "char_ngram_range": (5, 5), "min_df": {"runs": 2, "parts": 3}}
JOINT |= {"block_weights": {"runs": 0.9, "parts": 0.6}}
ONE_BY_ONE = 1000  # documents that are timed
LAST, SPLITS = 1500, 8  # test documents, and random splits


def read(corpus, split):
    """Return texts and labels."""
    pairs = list(load(corpus).pairs(split))
    return [text for text, _ in pairs], [labels for _, labels in pairs]


def some(pair, numbers):
    """Return some of the texts and of their labels."""
    return [[item[i] for i in numbers] for item in pair]


def f1(evaluation):
    """Return micro- and macro-F1, in per cent."""
    return f"{100 * evaluation.micro['f1']:.2f} / {100 * evaluation.macro['f1']:.2f}"


def folds():
    """Print the expected F1 by cross-validation on each corpus."""
    corpora = {name: read(*item) for name, item in CORPORA.items()}
    entries = standard_library()[0]
    corpora["the demo"] = (
        [entry.text for entry in entries],
        [list(entry.labels) for entry in entries],
    )
    for name, documents in corpora.items():
        for model, options in MODELS.items():
            fitted = Categorizer(mode="multi-label", remember=0, n_jobs=2, **options)
            expected = f1(fitted.fit(*documents).tuning_.after)
            print(
                f"{name}: {model}: {expected} ({sum(fitted.timings_.values()):.0f} s)", flush=True
            )


def time():
    """Print the expected and the actual F1 on the last documents and on random ones."""
    documents = read(R90, "train")
    n = len(documents[0])

    def promised_and_kept(learned, left):
        model = Categorizer(remember=0, n_jobs=2, fields="lead").fit(*some(documents, learned))
        achieved = model.evaluate(*some(documents, left))
        return [100 * item.micro["f1"] for item in (model.tuning_.after, achieved)]

    last = promised_and_kept(range(n - LAST), range(n - LAST, n))
    print(f"the last {LAST}: promised {last[0]:.2f}, kept {last[1]:.2f}", flush=True)
    orders = [np.random.default_rng(seed).permutation(n) for seed in range(SPLITS)]
    both = [promised_and_kept(np.sort(order[LAST:]), order[:LAST]) for order in orders]
    means = np.mean(both, 0)
    print(f"{LAST} at random, {SPLITS} times: promised {means[0]:.2f}, kept {means[1]:.2f}", end="")
    print(f" ({', '.join(f'{achieved:.2f}' for _, achieved in both)})")


def feedback():
    """Print the effects of corrections, new documents and a new category on later documents."""
    documents = read(R90, "train")
    first, later, last = range(6000), range(6000, 6900), range(6900, len(documents[0]))
    texts, labels = documents
    for name, options in MODELS.items():
        model = Categorizer(n_jobs=2, **options).fit(*some(documents, first))
        print(f"{name}: {f1(model.evaluate(*some(documents, last)))}", flush=True)
        decided = model.predict(some(documents, later)[0])
        wrong = [
            i for i, item in zip(later, decided, strict=True) if sorted(item) != sorted(labels[i])
        ]
        n_right, after = 0, []
        for start in range(0, 40, 5):
            corrected = copy.deepcopy(model).learn(*some(documents, wrong[start : start + 5]))
            n_right += corrected.learned_.right
            after.append(f1(corrected.evaluate(*some(documents, last))))
        print(f"  {n_right} of 40 corrections learned, five at a time: {', '.join(after)}")
        days = copy.deepcopy(model)
        after = []
        for start in range(0, 500, 50):
            days.learn(*some(documents, later[start : start + 50]))
            after.append(f1(days.evaluate(*some(documents, last))))
        print(f"  ten days of fifty: {', '.join(after)}", flush=True)
        without = [i for i in first if "coffee" not in labels[i]]
        of_it = [i for i in first if "coffee" in labels[i]][:30]
        model = Categorizer(n_jobs=2, **options).fit(*some(documents, without))
        stripped = [[label for label in labels[i] if label != "coffee"] for i in last]
        before = model.evaluate([texts[i] for i in last], stripped)
        model.learn(*some(documents, of_it))
        after = model.evaluate(*some(documents, last))
        f1_of_new = after.contingency.f_beta(1)[list(after.categories).index("coffee")]
        print(
            f"  coffee, new: {f1(before)} -> {f1(after)}, its own F1 {100 * f1_of_new:.1f}",
            flush=True,
        )


def single():
    """Print the accuracy of the best category, before and after the second look."""
    seen = {}
    fit = SecondLook.fit.__func__

    def watched(cls, kind, unseen, *arguments, **options):
        look, scores = fit(cls, kind, unseen, *arguments, **options)
        seen.update(unseen=unseen, scores=scores)
        return look, scores

    SecondLook.fit = classmethod(watched)
    for corpus in ("ohsumed23", "20newsgroups:bydate,remove=headers+footers+quotes"):
        texts, labels = read(corpus, "train")
        some_of = np.random.default_rng(0).permutation(len(texts))[:4000]
        texts, labels = [texts[i] for i in some_of], [labels[i][:1] for i in some_of]
        options = {"mode": "multi-label", "second_look": "trees", "remember": 0, "n_jobs": 2}
        Categorizer("arow", **options, **JOINT).fit(texts, labels)
        unseen, truth = seen["unseen"], seen["unseen"].labels.to_dense().argmax(1)
        right = [100 * (item.argmax(1) == truth).mean() for item in (unseen.scores, seen["scores"])]
        print(f"{corpus}: {right[0]:.2f} alone, {right[1]:.2f} after a look", flush=True)


def costs():
    """Print the times to fit, and to decide on single documents and on batches, in turns."""
    fast = {"preset": "fast"}
    models = MODELS | {"fast, second look, lead": MODELS["second look, lead"] | fast, "fast": fast}
    documents = read(*CORPORA["Reuters R90, all"])
    texts = documents[0][: 2 * ONE_BY_ONE]
    fitted, seconds = {}, {}
    for name, options in models.items():
        Categorizer(**options).fit(*some(documents, range(600))).predict(texts[:50])  # compiles
        began = perf_counter()
        fitted[name] = Categorizer(n_jobs=2, **options).fit(*documents)
        seconds[name] = perf_counter() - began
        fitted[name].n_jobs = 1
    each, batch = {name: [] for name in models}, {name: [] for name in models}
    for _ in range(3):
        for name, model in fitted.items():
            for text in texts[ONE_BY_ONE:]:  # prepares it for single documents
                model.predict([text])
            for text in texts[:ONE_BY_ONE]:
                began = perf_counter()
                model.predict([text])
                each[name].append(perf_counter() - began)
            began = perf_counter()
            model.predict(documents[0])
            batch[name].append((perf_counter() - began) / len(documents[0]))
    for name, took in seconds.items():
        alone, of_many = 1e6 * median(each[name]), 1e6 * median(batch[name])
        print(f"{name}: fit {took:.1f} s, one document {alone:.0f} µs, in a batch {of_many:.0f} µs")


if __name__ == "__main__":
    PARTS = {"folds": folds, "time": time, "feedback": feedback, "single": single, "costs": costs}
    for element in sys.argv[1:] or PARTS:
        PARTS[element]()
