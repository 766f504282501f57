"""Cells of tables 4 and 5 and of the additional experiments.

F1 in five folds after one pass, of online learners or of those that learn at once.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from threading import Lock
from typing import Any

import numpy as np

from thresher_papers._running import f1_percent, folds
from thresher_papers.carvalho_cohen_2006.learners import PROGRAM, Variant, cross_validate, learner
from thresher_papers.carvalho_cohen_2006.problems import groups_problem, problem

__all__ = ["batch", "groups", "learn_at_once", "online", "quiet_solvers", "share_at_floor"]

Folds = dict[str, list[float]]  # F1 in each fold, by learner

N_FOLDS = 5
_solving = Lock()  # LIBLINEAR has one generator of random numbers for all threads


def online(
    name: str, learners: tuple[str, ...], seed: int, variant: Variant = PROGRAM, change: str = ""
) -> Folds:
    """Cross-validate online learners on a data set, optionally with a change."""
    return cross_validate(problem(name, change), learners, seed, variant, N_FOLDS)


def groups(learners: tuple[str, ...], five: tuple[str, ...], positive: str, seed: int) -> Folds:
    """Cross-validate online learners on one of five newsgroups against the others."""
    return cross_validate(groups_problem(five, positive), learners, seed)


def share_at_floor(name: str, floor: float) -> float:
    """Return the share of examples, in percent, with a feature whose 1 - x is below the floor."""
    rows = problem(name).rows
    strengths, always_on = learner("MBW").start(rows.n_columns, 1).strengths(rows, training=True)
    examples = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
    meets = 1 - always_on < floor
    meets[examples[1 - strengths.values < floor]] = True
    return 100 * float(meets.mean())


# ---- learners that learn at once ---------------------------------------------------------------


class ProgramsNaiveBayes:
    """Naive Bayes as in the paper's program (MinorThird).

    A feature's probability in a class is the share of the class's examples that have it, with one
    example more that has each feature by 1/V; its logarithm counts as often as the feature does.
    """

    def fit(self, X: Any, positive: np.ndarray) -> ProgramsNaiveBayes:
        present = (X != 0).astype(np.float64)
        inside, outside = (
            np.asarray(present[side].sum(0)).ravel() for side in (positive, ~positive)
        )
        met = inside + outside > 0
        prior, n, n_positive = 1 / max(1, met.sum()), len(positive), positive.sum()
        odds = np.log((inside + prior) / (n_positive + 1))
        odds -= np.log((outside + prior) / (n - n_positive + 1))
        self.odds = np.where(met, odds, 0.0)
        self.bias = float(np.log((n_positive + 0.5) / (n - n_positive + 0.5)))
        return self

    def predict(self, X: Any) -> np.ndarray:
        return np.asarray(X @ self.odds + self.bias >= 0)


def _scikit_learn(module: str) -> Any:
    return import_module(f"sklearn.{module}")  # which takes a second


def _linear(loss: str) -> Callable[[int], Any]:
    return lambda seed: _scikit_learn("svm").LinearSVC(loss=loss, random_state=seed)


def _libsvm(steps: int) -> Callable[[int], Any]:
    return lambda seed: _scikit_learn("svm").SVC(kernel="linear", max_iter=steps, cache_size=100)


BATCH: dict[str, Callable[[int], Any]] = {
    "SVM": _linear("hinge"),
    "SVM, squared hinge": _linear("squared_hinge"),
    "LIBSVM, 10,000 steps": _libsvm(10_000),
    "LIBSVM, 100,000 steps": _libsvm(100_000),
    "LIBSVM, 1,000,000 steps": _libsvm(1_000_000),
    "Naive Bayes": lambda seed: ProgramsNaiveBayes(),
    "multinomial": lambda seed: _scikit_learn("naive_bayes").MultinomialNB(),
    "Bernoulli": lambda seed: _scikit_learn("naive_bayes").BernoulliNB(),
}


def learn_at_once(name: str, X: Any, positive: np.ndarray, seed: int = 0) -> Any:
    """Fit a batch learner; other threads do not influence the result."""
    model = BATCH[name](seed)
    with _solving if type(model).__name__ == "LinearSVC" else nullcontext():
        return model.fit(X, positive)


@contextmanager
def quiet_solvers() -> Iterator[None]:
    """Suppress convergence warnings, which features of very different scale cause.

    To be entered before threads are started, for Python's filters are common to all of them.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", _scikit_learn("exceptions").ConvergenceWarning)
        yield


def batch(name: str, learner: str, seed: int, change: str = "") -> list[float]:
    """Return F1 of a batch learner in each of five folds."""
    data = problem(name, change)
    X, f1 = data.rows.to_scipy().astype(np.float64), []
    for number, (train, test) in enumerate(folds(data.positive, N_FOLDS, seed)):
        model = learn_at_once(learner, X[train], data.positive[train], N_FOLDS * seed + number)
        f1.append(f1_percent(model.predict(X[test]), data.positive[test]))
    return f1
