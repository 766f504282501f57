"""LIBLINEAR: scikit-learn's tf-idf, one model per category.

The bias must be asked for with -B: what `problem` is given for it is overwritten.
"""

from __future__ import annotations

import numpy as np
from benchmarks.peers import data
from benchmarks.peers.case import Case, indicator
from benchmarks.peers.contenders.scikit_learn import write
from benchmarks.peers.jobs import Contender

NEEDS = ("joblib", "liblinear.liblinearutil", "sklearn.feature_extraction.text")
NAME = "LIBLINEAR"
SETTINGS = "-s 1 -c 1 -B 1 -q"


def learn(case: Case) -> tuple:
    """Read, learn and save; return vectorizer, weights with the bias last, and category names."""
    import joblib
    from liblinear.liblinearutil import parameter, problem
    from liblinear.liblinearutil import train as train_one
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts, labels = data.read(case.train)
    names = sorted({name for label in labels for name in label})
    truth = indicator(labels, {name: i for i, name in enumerate(names)})
    vectorizer = TfidfVectorizer(sublinear_tf=True)
    rows = vectorizer.fit_transform(texts)
    weights = np.zeros((rows.shape[1] + 1, len(names)))
    for k, column in enumerate(truth.T):
        model = train_one(problem(np.where(column, 1.0, -1.0), rows), parameter(SETTINGS))
        sign = 1.0 if model.get_labels()[0] == 1 else -1.0
        own_weights, bias = model.get_decfun()
        weights[:, k] = sign * np.append(own_weights, bias)
    joblib.dump((vectorizer, weights, names), case.folder / "model.joblib")
    return vectorizer, weights, names


def train(case: Case) -> dict[str, float]:
    """Time from raw file to saved model."""
    figures = case.best(lambda: learn(case))
    vectorizer, weights, names = load(case)
    texts, _ = data.read(case.test)
    scores = vectorizer.transform(texts) @ weights[:-1] + weights[-1]
    decided = [np.array(names)[row] for row in scores > 0]
    size = case.size(case.folder / "model.joblib")
    return figures | size | case.quality(names, decided, scores)


def load(case: Case) -> tuple:
    """Load what the job `train` saved, or make it."""
    import joblib

    path = case.folder / "model.joblib"
    return joblib.load(path) if path.exists() else learn(case)


def predict(case: Case) -> dict[str, float]:
    """Time from raw file to written predictions, by LIBLINEAR's weights and one matrix product."""
    vectorizer, weights, names = load(case)
    columns = np.array(names)

    def work() -> None:
        texts, _ = data.read(case.test)
        above = vectorizer.transform(texts) @ weights[:-1] + weights[-1] > 0
        write(case.output, (columns[row] for row in above))

    return case.best(work)


CONTENDERS = (Contender("train", NAME, train), Contender("predict", NAME, predict))
