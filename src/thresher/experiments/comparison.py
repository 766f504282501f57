"""Comparison of several categorizers on the same folds, with significance tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from thresher.errors import ParameterError
from thresher.evaluation import significance
from thresher.evaluation.significance import PairedTest
from thresher.experiments import protocols
from thresher.model.source import Progress, no_progress
from thresher.text import TextParameters
from thresher.text.linguistics import LanguageParameters

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer

MEASURES = ("micro_f1", "macro_f1", "micro_break_even")


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several categorizers on the same folds, as `compare` returns them.

    Examples
    --------
    >>> from thresher import Categorizer
    >>> texts = ["cheap pills", "lunch today?", "cheap watches", "see you today"] * 5
    >>> labels = ["spam", "ham", "spam", "ham"] * 5
    >>> learners = ("perceptron", "balanced-winnow")
    >>> comparison = compare({name: Categorizer(name) for name in learners}, texts, labels)
    >>> comparison.against, comparison.results["perceptron"].mean("micro_f1")
    ('perceptron', 1.0)
    """

    results: dict[str, protocols.CrossValidation]  # by name
    against: str  # the name of the categorizer that the others are tested against

    @property
    def best(self) -> dict[str, str]:
        """The name of the best categorizer for each measure."""
        return {m: max(self.results, key=lambda name: self.results[name].mean(m)) for m in MEASURES}

    def t_test(self, name: str, measure: str) -> PairedTest:
        """Return a paired t-test over the folds, against `against`."""
        values = (self.results[key].figures(measure) for key in (name, self.against))
        return significance.paired_t_test(*values)

    def sign_test(self, name: str) -> PairedTest:
        """Return the micro sign test over all decisions, against `against`."""
        first, second = self.results[name], self.results[self.against]
        return significance.micro_sign_test(first.decided, second.decided, first.truth)

    def category_t_test(self, name: str) -> PairedTest:
        """Return the macro t-test over the categories, against `against`."""
        wholes = (self.results[key].whole() for key in (name, self.against))
        return significance.macro_t_test(*wholes)

    def seconds(self, name: str) -> float:
        """Return the median processor time of a fold; the median ignores a slow first fold."""
        return float(np.median(self.results[name].seconds))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, for JSON."""
        learners = {}
        for name, result in self.results.items():
            learners[name] = result.to_dict() | {"seconds_per_fold": self.seconds(name)}
            if name != self.against:
                tests = {f"t_test_{m}": self.t_test(name, m) for m in MEASURES}
                tests["micro_sign_test"] = self.sign_test(name)
                if len(result.categories) > 1:
                    tests["macro_t_test"] = self.category_t_test(name)
                learners[name]["tests"] = {
                    key: {"difference": test.difference, "p": test.p_value, "stars": test.stars}
                    for key, test in tests.items()
                }
        return {"against": self.against, "best": self.best, "learners": learners}


def compare(
    categorizers: Mapping[str, Categorizer],
    documents: Any,
    labels: Any = None,
    *,
    against: str = "best",
    protocol: str = "stratified",
    folds: int = 5,
    random_state: int = 0,
    progress: Progress = no_progress,
) -> Comparison:
    """Cross-validate several categorizers on the same folds.

    The documents are counted once for all. The number of folds processed at a time is `n_jobs` of
    the first categorizer.

    Parameters
    ----------
    categorizers : dict of str to Categorizer
        The categorizers by name. They must agree in how documents are counted (tokens, n-grams,
        stop words and so on).
    documents, labels, folds, random_state, progress
        As for `cross_validate`.
    against : {"best", "first"} or str, default="best"
        The categorizer that the others are tested against: the best by micro-F1, the first, or a
        name.
    protocol : {"stratified", "k-fold"}, default="stratified"
        Whether each fold has its share of every category.
    """
    names = list(categorizers)
    if not names:
        raise ParameterError("There is nothing to compare: give at least one categorizer.")
    if against not in ("best", "first", *names):
        raise ParameterError(
            f"against is {against!r}; it must be best, first or one of the compared: "
            f"{', '.join(names)}."
        )
    if protocol == "hold-out":
        raise ParameterError("Differences are tested over folds: give stratified or k-fold.")
    first = categorizers[names[0]]
    _check_alike(first, [categorizers[name] for name in names[1:]])
    counted = protocols.CountedDocuments.read(first, documents, labels, progress)
    splits = protocols.make_splits(counted.labels, protocol, folds, random_state)
    results = {
        name: protocols.run_splits(other, counted, splits, first.n_jobs_, partial(progress, name))
        for name, other in categorizers.items()
    }
    if against == "best":
        against = max(names, key=lambda name: results[name].mean("micro_f1"))
    return Comparison(results, names[0] if against == "first" else against)


def _check_alike(first: Categorizer, others: Sequence[Categorizer]) -> None:
    """Raise `ParameterError` unless all count documents in the same way."""
    for other in others:
        for option in (*TextParameters.parameters, *LanguageParameters.parameters):
            if getattr(other, option) != getattr(first, option):
                raise ParameterError(
                    f"The categorizers differ in {option} ({getattr(first, option)!r} and "
                    f"{getattr(other, option)!r}). The documents are counted once for all of "
                    f"them: give all the same {option}."
                )
