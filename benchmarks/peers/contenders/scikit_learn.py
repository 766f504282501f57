"""scikit-learn: tf-idf, one linear model per category, the pipeline saved with joblib."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from benchmarks.peers import data
from benchmarks.peers.case import Case
from benchmarks.peers.jobs import Contender

NEEDS = (
    "joblib",
    "sklearn.feature_extraction.text",
    "sklearn.linear_model",
    "sklearn.multiclass",
    "sklearn.pipeline",
    "sklearn.preprocessing",
    "sklearn.svm",
)
SVC, SGD = "scikit-learn, LinearSVC", "scikit-learn, SGD of 5 passes"
STACKED = "scikit-learn, weights stacked"
CHUNK = 1_000  # documents, out of core

# ---------------------------------------------------------------------- text to counts


def counts(case: Case, name: str) -> dict[str, float]:
    """Count with one of the vectorizers."""
    from sklearn.feature_extraction import text

    texts, make = case.texts(), getattr(text, name)
    if "new" in case.variant:
        return case.count(texts, lambda: make().fit_transform(texts))
    return case.count(texts, partial(make().fit(texts).transform, texts))


# ---------------------------------------------------------------------- whole categorizers


def linear_svc() -> Any:
    """Return the classifier that is best on Reuters."""
    from sklearn.svm import LinearSVC

    return LinearSVC()


def sgd() -> Any:
    """Return the one that is quickest to train."""
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(max_iter=5, tol=None)


def learn(case: Case, classifier: Callable[[], Any]) -> tuple[Any, Any]:
    """Read, learn and save; return the pipeline and the names of its columns."""
    import joblib
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MultiLabelBinarizer

    texts, labels = data.read(case.train)
    binarizer = MultiLabelBinarizer()
    pipeline = make_pipeline(
        TfidfVectorizer(sublinear_tf=True),
        OneVsRestClassifier(classifier(), n_jobs=case.threads),
    )
    pipeline.fit(texts, binarizer.fit_transform(labels))
    joblib.dump((pipeline, binarizer), _model(case))
    return pipeline, binarizer


def _model(case: Case) -> Path:
    return case.folder / "model.joblib"


def load(case: Case) -> tuple[Any, Any]:
    """Load what the job `train` saved, or make it."""
    import joblib

    if not _model(case).exists():
        learn(case, linear_svc)
    return joblib.load(_model(case))


def train(case: Case, classifier: Callable[[], Any]) -> dict[str, float]:
    """Time from raw file to saved model."""
    figures = case.best(lambda: learn(case, classifier))
    pipeline, binarizer = load(case)
    texts, _ = data.read(case.test)
    decided = binarizer.inverse_transform(pipeline.predict(texts))
    scores = pipeline.decision_function(texts)
    return figures | case.size(_model(case)) | case.quality(binarizer.classes_, decided, scores)


def predict(case: Case) -> dict[str, float]:
    """Time from raw file to written predictions, by `pipeline.predict`."""
    pipeline, binarizer = load(case)

    def work() -> None:
        texts, _ = data.read(case.test)
        write(case.output, binarizer.inverse_transform(pipeline.predict(texts)))

    return case.best(work) | _time_to_load(case)


def document(case: Case) -> dict[str, float]:
    """Time one document, by `pipeline.predict`."""
    pipeline, binarizer = load(case)
    return case.each(lambda text: binarizer.inverse_transform(pipeline.predict([text])))


def write(path: Path, decided: Iterable[Iterable[str]]) -> None:
    """Write a line of categories for each document."""
    path.write_text("".join("\t".join(item) + "\n" for item in decided), encoding="utf-8")


def _time_to_load(case: Case) -> dict[str, float]:
    began = perf_counter()
    load(case)
    return {"load": perf_counter() - began}


# What a user writes who has noticed that one matrix product does for all categories.


def stack(case: Case) -> tuple[Any, np.ndarray, np.ndarray, Any]:
    """Return vectorizer, weights and intercepts of all categories, and their names."""
    pipeline, binarizer = load(case)
    vectorizer, classifier = (step for _, step in pipeline.steps)
    weights = np.ascontiguousarray(
        np.vstack([estimator.coef_ for estimator in classifier.estimators_]).T
    )
    return (
        vectorizer,
        weights,
        np.hstack([estimator.intercept_ for estimator in classifier.estimators_]),
        (binarizer.classes_),
    )


def predict_stacked(case: Case) -> dict[str, float]:
    """Time from raw file to written predictions, by one matrix product."""
    vectorizer, weights, intercepts, names = stack(case)

    def work() -> None:
        texts, _ = data.read(case.test)
        above = vectorizer.transform(texts) @ weights + intercepts > 0
        write(case.output, (names[row] for row in above))

    return case.best(work)


def document_stacked(case: Case) -> dict[str, float]:
    """Time one document, by one matrix product."""
    vectorizer, weights, intercepts, names = stack(case)
    return case.each(
        lambda text: names[(vectorizer.transform([text]) @ weights + intercepts)[0] > 0]
    )


# ---------------------------------------------------------------------- one pass, growth, start-up


def one_pass(case: Case, **settings: Any) -> dict[str, float]:
    """Time `partial_fit` of one classifier per category over rows in its own number type."""
    from sklearn.linear_model import SGDClassifier

    rows, truth = case.rows()
    rows, columns = rows.astype(np.float64), [column.astype(int) for column in truth.T]

    def work() -> None:
        for column in columns:
            SGDClassifier(**settings).partial_fit(rows, column, classes=[0, 1])

    figures = case.best(work)
    return figures | {"examples_per_second": rows.shape[0] / figures["seconds"]}


def growth(case: Case) -> dict[str, float]:
    """Time the way out of core: hashing, and `partial_fit` piece by piece."""
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import SGDClassifier

    first = data.read(case.files / "train-x1.jsonl")[1]
    names = sorted({name for item in first for name in item})
    number = {name: i for i, name in enumerate(names)}

    def work() -> None:
        vectorizer = HashingVectorizer(n_features=2**18)
        classifiers = [SGDClassifier() for _ in names]
        for texts, labels in pieces(case.train):
            rows = vectorizer.transform(texts)
            truth = np.zeros((len(texts), len(names)), int)
            for i, item in enumerate(labels):
                truth[i, [number[name] for name in item]] = 1
            for classifier, column in zip(classifiers, truth.T, strict=True):
                classifier.partial_fit(rows, column, classes=[0, 1])

    return case.best(work)


def pieces(path: Path) -> Iterable[tuple[list[str], list[list[str]]]]:
    """Yield the documents of a file piece by piece."""
    import json
    from itertools import islice

    with path.open(encoding="utf-8") as file:
        while lines := list(islice(file, CHUNK)):
            documents = [json.loads(line) for line in lines]
            yield [item["text"] for item in documents], [item["labels"] for item in documents]


def startup(case: Case) -> dict[str, float]:
    """Time a new process that loads the model and answers one document."""
    load(case)
    modules = "sklearn.feature_extraction.text, sklearn.multiclass, sklearn.svm"
    answer = f"import joblib; p, b = joblib.load({str(_model(case))!r}); "
    return {
        "to_import": case.run_python(f"import {modules}"),
        "to_answer": case.run_python(
            answer + "b.inverse_transform(p.predict(['Cocoa prices rose.']))"
        ),
    }


CONTENDERS = (
    Contender("counts", "CountVectorizer", partial(counts, name="CountVectorizer")),
    Contender(
        "counts", "TfidfVectorizer", partial(counts, name="TfidfVectorizer"), variants="new words"
    ),
    Contender(
        "counts",
        "HashingVectorizer",
        partial(counts, name="HashingVectorizer"),
        variants="known words",
    ),
    Contender("train", SVC, partial(train, classifier=linear_svc), threaded=True),
    Contender("train", SGD, partial(train, classifier=sgd), threaded=True),
    Contender("predict", SVC, predict),
    Contender("predict", STACKED, predict_stacked),
    Contender("document", SVC, document),
    Contender("document", STACKED, document_stacked),
    Contender("pass", "scikit-learn, SGD", one_pass),
    Contender(
        "pass",
        "scikit-learn, perceptron",
        partial(one_pass, loss="perceptron", learning_rate="constant", eta0=1.0, penalty=None),
    ),
    Contender(
        "pass",
        "scikit-learn, passive-aggressive",
        partial(one_pass, learning_rate="pa1", eta0=1.0, penalty=None),
    ),
    Contender("growth", "scikit-learn, hashing and partial_fit", growth),
    Contender("startup", SVC, startup),
)
