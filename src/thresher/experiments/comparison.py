"""Comparison of several categorizers on the same folds, with significance tests."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from thresher.errors import ParameterError, ThresherWarning, param
from thresher.evaluation import significance
from thresher.evaluation.folds import Split
from thresher.evaluation.significance import PairedTest
from thresher.experiments import protocols
from thresher.experiments.protocols import CountedDocuments, CrossValidation
from thresher.model.source import Progress, no_progress, readable_again
from thresher.rows import Labels
from thresher.text import TextParameters
from thresher.text.linguistics import LanguageParameters

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer

COUNTING = (*TextParameters.parameters, *LanguageParameters.parameters)
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
    ('balanced-winnow', 1.0)
    """

    results: dict[str, protocols.CrossValidation]  # by name
    against: str  # the name of the categorizer that the others are tested against

    @property
    def best(self) -> dict[str, str]:
        """The name of the best categorizer for each measure."""
        return {measure: _best(self.results, measure) for measure in MEASURES}

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

    Each has its own features; documents are counted once for all categorizers that count them in
    the same way. The number of folds processed at a time is `n_jobs` of the first categorizer.

    Parameters
    ----------
    categorizers : dict of str to Categorizer
        The categorizers by name. Their order does not change the results.
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
    first, groups = categorizers[names[0]], _groups(categorizers)
    if len(groups) > 1 and isinstance(documents, CountedDocuments):
        raise ParameterError(
            "The documents are counted already, and the categorizers count them in different ways: "
            "give the documents themselves."
        )
    if len(groups) > 1:
        documents, labels = readable_again(documents, labels, first.fields)
    results: dict[str, CrossValidation] = {}
    splits: list[Split] = []
    for i, group in enumerate(groups):
        with warnings.catch_warnings():
            if i:  # the documents are the same
                warnings.simplefilter("ignore", ThresherWarning)
            head = categorizers[group[0]]
            counted = protocols.CountedDocuments.read(head, documents, labels, progress)
        if not i:
            known = counted.labels
            splits = protocols.make_splits(known, protocol, folds, random_state)
        _check_same(counted.labels, known)
        for name in group:
            results[name] = protocols.run_splits(
                categorizers[name], counted, splits, first.n_jobs_, partial(progress, name)
            )
    results = {name: results[name] for name in names}
    if against == "best":
        against = _best(results, "micro_f1")
    return Comparison(results, names[0] if against == "first" else against)


def _best(results: dict[str, CrossValidation], measure: str) -> str:
    """Return the name of the best; of equal ones, the first in alphabetical order."""
    return max(sorted(results), key=lambda name: results[name].mean(measure))


def _groups(categorizers: Mapping[str, Categorizer]) -> list[list[str]]:
    """Return the names of the categorizers that count documents in the same way, together."""
    groups: list[tuple[dict[str, Any], list[str]]] = []
    for name, categorizer in categorizers.items():
        resolved = categorizer.resolved()
        counting = {option: getattr(resolved, option) for option in COUNTING}
        names = next((names for other, names in groups if other == counting), None)
        if names is None:
            groups.append((counting, [name]))
        else:
            names.append(name)
    return [names for _, names in groups]


def _check_same(labels: Labels, first: Labels) -> None:
    """Raise `ParameterError` if some categorizers leave other documents out than the first."""
    if not all(map(np.array_equal, labels[:2], first[:2])):
        raise ParameterError(
            f"The categorizers do not learn the same documents: they differ in {param('mode')}, "
            "and documents without labels are left out unless that is multi-label. Give all the "
            "same."
        )
