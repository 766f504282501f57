"""Write golden models of the present format, and all that they say; see tests/test_golden.py.

    python tests/golden/make.py

Run it when a format, a learner or a case is new, never to make a test pass: models that are there
are left alone, for they must go on saying what they said.
"""

import json
from pathlib import Path

import numpy as np
from sklearn.svm import LinearSVC

from thresher import (
    AROW,
    LEARNERS,
    BoostedPerceptrons,
    Categorizer,
    DecisionTree,
    MaximumEntropy,
    MultilayerPerceptron,
    NaiveBayes,
    NearestNeighbors,
)
from thresher.cli.warm_up import look_again
from thresher.learners.capabilities import Online
from thresher.model.storage import FORMAT_VERSION, LOOKED_VERSION, NARROW_VERSION
from thresher.text.counter import FORMAT_VERSION as TEXT_VERSION

FOLDER = Path(__file__).parent
OLD = json.loads((FOLDER / "v1.json").read_text(encoding="utf-8"))
SPACE = {"ngram_range": (1, 2), "char_ngram_range": (4, 5), "min_df": {"runs": 2, "parts": 3}}
CASES = {name: {"learner": name} for name in LEARNERS}
CASES |= {
    "bernoulli": {"learner": NaiveBayes(event_model="bernoulli")},
    "linear-model": {"learner": LinearSVC(random_state=0)},
    "one-space": SPACE | {"block_weights": {"runs": 0.9, "parts": 0.6}},
    "hashed-space": {"ngram_range": (1, 2), "char_ngram_range": (3, 3), "hashing_bits": 9},
    "parts": {"ngram_range": None, "char_ngram_range": (3, 4)},
    "hashed-cut": {"hashing_bits": 8, "min_df": 3},
    "book": {"strength": "book"},
    "tuned-isotonic": {"objective": "f1", "calibrate": "isotonic", "n_selected": 30},
    "arow-without-memory": {"learner": "arow", "remember": 0},
    "linear-svm-without-memory": {"learner": "linear-svm", "remember": 0},
    "concepts": {"learner": "arow", "concepts": (2, 3)},
    "boosted-concepts": {"learner": "stump-boosting", "concepts": 3, "objective": None},
    "gaps": {"ngram_range": (1, 3), "gaps": True},
    "hashed-gaps": {"ngram_range": (2, 3), "gaps": True, "hashing_bits": 9},
    "interpolated-tree": {"learner": DecisionTree(pruning="interpolation")},
    "boosted-signs": {"learner": BoostedPerceptrons(vote="signs", max_iter=5)},
    "logistic-network": {"learner": MultilayerPerceptron(output="logistic", hidden=0)},
    "scaled-entropy": {"learner": MaximumEntropy(method="gis", event_space="joint", max_iter=20)},
    "value-difference": {
        "learner": NearestNeighbors(metric="value-difference"),
        "strength": "book",
    },
    "arow-little-memory": {"learner": AROW(prior="flat", average="examples"), "remember": 8},
}

COMPACTED = ("arow", "one-space", "sleeping-experts", "stump-boosting")

# Of texts in many scripts, which each version of the counter cuts in its way.
SCRIPTS = {
    "words": {"learner": "perceptron"},
    "space": {"ngram_range": (1, 2), "char_ngram_range": (3, 3), "min_df": 1},
    "book": {"tokens": "book", "learner": "perceptron", "hashing_bits": 9, "ngram_range": (1, 2)},
}


def answers(model):
    """Return what a model says of the unseen texts, in the manner of format 1's file."""
    unseen = OLD["unseen"]
    scores = model.scores(unseen)
    explanations = [model.explain(unseen[0], "oil"), model.explain(unseen[-1])]
    answer = {
        "scores": np.ascontiguousarray(scores, "<f4").tobytes().hex(),
        "predictions": model.decide(scores),
        "thresholds": model.decisions_.thresholds.tolist(),
        "explanations": [
            {
                "category": one.category,
                "chosen": one.chosen,
                "threshold": one.threshold,
                "rival": one.rival,
                "shares": [[share.feature, share.share] for share in one.shares[:40]],
                "change": one.change and one.change._asdict(),
            }
            for one in explanations
        ],
    }
    if model.decisions_.calibration is not None:
        answer["probabilities"] = model.predict_proba(unseen).tolist()
    return answer


def main():
    write(FORMAT_VERSION, CASES)
    write(NARROW_VERSION, {case: CASES[case] for case in COMPACTED})
    make_looked()


def write(version, cases):
    path = FOLDER / f"v{version}.json"
    models = json.loads(path.read_text(encoding="utf-8"))["models"] if path.exists() else {}
    for case, options in cases.items():
        for form in ("one", "several"):
            name = f"v{version}-{case}-{form}"
            if name in models:
                continue
            model = Categorizer(**options).fit(OLD["texts"][form], OLD["labels"][form])
            if version == NARROW_VERSION:
                model.compact()
            model.save(FOLDER / f"{name}.thresher")
            models[name] = {"before": answers(model)}
            if isinstance(model.learner_, Online) and version == FORMAT_VERSION:
                later = [label[:1] for label in OLD["later_labels"]]
                models[name]["after"] = answers(model.learn(OLD["later"], later))
    shared = {key: OLD[key] for key in ("unseen", "later", "later_labels")}
    text = json.dumps(shared | {"models": models}, ensure_ascii=False, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8")
    make_scripts()


def make_looked():
    """Write a model with a second look, and its scores before and after it learned on."""
    path = FOLDER / "looked.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    name = f"looked-{LOOKED_VERSION}"
    if name not in kept:
        texts, labels = OLD["texts"]["several"] * 9, OLD["labels"]["several"] * 9
        model = Categorizer("arow", fields="lead").fit(texts, labels)
        look_again(model, texts, labels)
        model.save(FOLDER / f"{name}.thresher")
        later = [label[:1] for label in OLD["later_labels"]]
        before = model.scores(OLD["unseen"]).tolist()
        after = model.learn(OLD["later"], later).scores(OLD["unseen"]).tolist()
        kept[name] = {"before": before, "after": after}
    path.write_text(json.dumps(kept, sort_keys=True) + "\n", encoding="utf-8")


def make_scripts():
    """Write models of texts in many scripts, and their scores."""
    path = FOLDER / "scripts.json"
    texts = json.loads(path.read_text(encoding="utf-8"))
    for case, options in SCRIPTS.items():
        name = f"scripts-{TEXT_VERSION}-{case}"
        if name not in texts["models"]:
            model = Categorizer(**options).fit(texts["texts"], texts["labels"])
            model.save(FOLDER / f"{name}.thresher")
            scores = np.ascontiguousarray(model.scores(texts["unseen"]), "<f4")
            texts["models"][name] = scores.tobytes().hex()
    text = json.dumps(texts, ensure_ascii=False, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
