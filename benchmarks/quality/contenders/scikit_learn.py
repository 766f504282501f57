"""scikit-learn as an expert uses it: tf-idf, one parameter by cross-validation.

Words are counted and weighed once for all folds, which is quicker than a grid search over whole
pipelines. Where documents have several categories, each is learned against the rest.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.peers.case import f1, indicator
from benchmarks.quality.contender import Answer, Contender, Learned, Problem

NEEDS = (
    "joblib",
    "sklearn.feature_extraction.text",
    "sklearn.linear_model",
    "sklearn.model_selection",
    "sklearn.multiclass",
    "sklearn.naive_bayes",
    "sklearn.svm",
)
SVC, PAIRS = "LinearSVC, words", "LinearSVC, words + pairs"
ONE_FIT, SHORT_SEARCH = "LinearSVC, words, one fit", "LinearSVC, words + pairs, C of five"
FOLDS = 3
# Wide enough that an end is seldom chosen; Reuters takes the largest C, because at a threshold of
# zero it assigns more. A race against the clock has the short list: with the long one a search
# takes longer than need be, and to be quicker than it would mean less.
SHORT_C_VALUES = [0.25, 0.5, 1.0, 2.0, 4.0]
C_VALUES = [*SHORT_C_VALUES, 8.0, 16.0]
ALPHAS = [0.001, 0.01, 0.1, 1.0, 10.0]


class OneParameter:
    """A classifier that is made anew for each value of one parameter.

    Parameters
    ----------
    settings : dict
        `classifier`, its `fixed` parameters, the `parameter` and its `values`.
    several : bool
        Whether documents may have any number of categories.
    """

    def __init__(self, settings: dict[str, Any], several: bool) -> None:
        self.settings, self.several = settings, several

    def fit(self, value: float, rows: Any, target: np.ndarray) -> Any:
        """Return the classifier, fitted."""
        from sklearn import linear_model, naive_bayes, svm
        from sklearn.multiclass import OneVsRestClassifier

        name, parameter = self.settings["classifier"], self.settings["parameter"]
        kind = next(getattr(m, name) for m in (svm, linear_model, naive_bayes) if hasattr(m, name))
        classifier = kind(**{parameter: value}, **self.settings["fixed"])
        if self.several or name == "LogisticRegression":
            classifier = OneVsRestClassifier(classifier)
        with warnings.catch_warnings():  # categories without positives in a fold, slow convergence
            warnings.simplefilter("ignore")
            return classifier.fit(rows, target)

    def scores(self, classifier: Any, rows: Any) -> np.ndarray:
        """Return one score for each document and category, above zero where it would assign."""
        if self.several:
            return np.column_stack(
                [_binary(estimator, rows) for estimator in classifier.estimators_]
            )
        if hasattr(classifier, "decision_function"):
            scores = classifier.decision_function(rows)
            return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
        return classifier.predict_joint_log_proba(rows)

    def quality(self, scores: np.ndarray, target: np.ndarray, classes: np.ndarray) -> float:
        """Return micro-F1 or accuracy."""
        if self.several:
            return f1(target.astype(bool), scores > 0)["micro_f1"]
        return float(np.mean(classes[scores.argmax(axis=1)] == target))


def _binary(classifier: Any, rows: Any) -> np.ndarray:
    if hasattr(classifier, "decision_function"):
        return np.ravel(classifier.decision_function(rows)).astype(float)
    logarithms = classifier.predict_joint_log_proba(rows)  # probabilities would end in ties
    return logarithms[:, 1] - logarithms[:, 0]


def folds(target: np.ndarray, several: bool) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the documents to learn from and those left out."""
    from sklearn.model_selection import KFold, StratifiedKFold

    kind = KFold if several else StratifiedKFold
    return kind(FOLDS, shuffle=True, random_state=0).split(target, target)


def learn(problem: Problem, settings: dict[str, Any]) -> Learned:
    """Weigh words, choose the parameter on left-out documents, and fit on all."""
    import joblib
    from sklearn.feature_extraction.text import TfidfVectorizer

    categories = problem.categories
    text = settings["text"] | {"ngram_range": tuple(settings["text"]["ngram_range"])}
    vectorizer = TfidfVectorizer(**text)
    rows = vectorizer.fit_transform(problem.texts)
    if problem.several:
        number = {name: i for i, name in enumerate(categories)}
        target = indicator(problem.labels, number).astype(int)
    else:
        target = np.array([names[0] for names in problem.labels])
    family = OneParameter(settings, problem.several)
    values, left_out = settings["values"], []
    if len(values) > 1:
        left_out = _left_out_scores(family, rows, target, categories, values)
    qualities = [family.quality(scores, target, np.array(categories)) for scores in left_out]
    best = int(np.argmax(qualities)) if qualities else 0
    thresholds = np.zeros(len(categories))
    if settings.get("thresholds"):
        from thresher.evaluation import adjusted_thresholds

        thresholds = adjusted_thresholds(left_out[best], target)[0]
    classifier = family.fit(values[best], rows, target)

    def answer(texts: list[str]) -> Answer:
        scores = family.scores(classifier, vectorizer.transform(texts))
        if problem.several:
            return Answer(
                [np.array(categories)[row].tolist() for row in scores > thresholds], scores
            )
        return Answer([[categories[best_one]] for best_one in scores.argmax(axis=1)], scores)

    def save() -> list[Path]:
        path = problem.folder / "model.joblib"
        joblib.dump((vectorizer, classifier, categories, thresholds), path)
        return [path]

    return Learned(categories, answer, save, {settings["parameter"]: values[best]})


def _left_out_scores(
    family: OneParameter, rows: Any, target: np.ndarray, categories: list[str], values: list[float]
) -> list[np.ndarray]:
    """Return for each value the scores of documents by models that have not seen them."""
    every = [np.zeros((rows.shape[0], len(categories))) for _ in values]
    for train, test in folds(target, family.several):
        for value, scores in zip(values, every, strict=True):
            classifier = family.fit(value, rows[train], target[train])
            scores[test] = family.scores(classifier, rows[test])
    return every


WORDS = {"sublinear_tf": True, "ngram_range": [1, 1]}
WORDS_AND_PAIRS = {"sublinear_tf": True, "ngram_range": [1, 2], "min_df": 2}


def _contender(
    name: str,
    classifier: str,
    parameter: str,
    values: list[float],
    text: dict[str, Any] = WORDS,
    *,
    thresholds: bool = False,
    **fixed: Any,
) -> Contender:
    settings = {
        "text": text,
        "classifier": classifier,
        "fixed": fixed,
        "parameter": parameter,
        "values": values,
        "folds": FOLDS,
        "thresholds": thresholds,
    }
    return Contender(name, learn, settings, "scikit-learn", NEEDS, only_several=thresholds)


SEEDED = {"random_state": 0}
CONTENDERS = (
    _contender(SVC, "LinearSVC", "C", C_VALUES, **SEEDED),
    _contender(PAIRS, "LinearSVC", "C", C_VALUES, WORDS_AND_PAIRS, **SEEDED),
    _contender(
        f"{PAIRS}, thresholds too",
        "LinearSVC", "C", C_VALUES, WORDS_AND_PAIRS, thresholds=True, **SEEDED,
    ),
    _contender(
        "logistic regression", "LogisticRegression", "C", [1.0, 4.0, 16.0, 64.0, 256.0],
        solver="liblinear", **SEEDED,
    ),
    _contender("SGD, hinge loss", "SGDClassifier", "alpha", [1e-5, 1e-4, 1e-3, 1e-2], **SEEDED),
    _contender("multinomial naive Bayes", "MultinomialNB", "alpha", ALPHAS),
    _contender("complement naive Bayes", "ComplementNB", "alpha", ALPHAS),
)  # fmt: skip
FIT_ONLY = (
    _contender(ONE_FIT, "LinearSVC", "C", [1.0], **SEEDED),
    _contender(SHORT_SEARCH, "LinearSVC", "C", SHORT_C_VALUES, WORDS_AND_PAIRS, **SEEDED),
)
