"""Comparison: several learners on the same folds, and which differences are more than chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from thresher.errors import ParameterError
from thresher.evaluation import significance
from thresher.evaluation.significance import PairedTest
from thresher.experiments.protocols import CrossValidation, count_once, make_splits, run_splits
from thresher.model.source import Progress, no_progress
from thresher.text import TextParameters
from thresher.text.linguistics import LanguageParameters

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer

__all__ = ["Comparison", "compare"]

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

    results: dict[str, CrossValidation]  # by name, all on the same folds
    against: str  # the name of the one that the others are tested against

    @property
    def best(self) -> dict[str, str]:
        """The name of the best for each measure."""
        return {m: max(self.results, key=lambda name: self.results[name].mean(m)) for m in MEASURES}

    def t_test(self, name: str, measure: str) -> PairedTest:
        """Test one against `against`, by a paired t-test over the folds."""
        figures = (self.results[one].figures(measure) for one in (name, self.against))
        return significance.paired_t_test(*figures)

    def sign_test(self, name: str) -> PairedTest:
        """Test one against `against`, by the micro sign test over all decisions."""
        one, other = self.results[name], self.results[self.against]
        return significance.micro_sign_test(one.decided, other.decided, one.truth)

    def category_t_test(self, name: str) -> PairedTest:
        """Test one against `against`, by the macro t-test over the categories."""
        wholes = (self.results[one].whole() for one in (name, self.against))
        return significance.macro_t_test(*wholes)

    def seconds(self, name: str) -> float:
        """Return the median processor time of a fold, in which the first, that loads, is lost."""
        return float(np.median(self.results[name].seconds))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can say it."""
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

    The documents are counted once for all. As many folds at a time are worked on as the first
    categorizer has `n_jobs`.

    Parameters
    ----------
    categorizers : dict of str to Categorizer
        What to compare, by name. They may differ in all but what is counted (tokens, n-grams,
        stop words and the like).
    documents, labels, folds, random_state, progress
        As for `cross_validate`.
    against : {"best", "first"} or str, default="best"
        Against which one the others are tested: the best by micro-F1, the first, or a name.
    protocol : {"stratified", "k-fold"}, default="stratified"
        Folds with their share of every category, or plain folds.
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
    counted = count_once(first, documents, labels, progress)
    splits = make_splits(counted.labels, protocol, folds=folds, random_state=random_state)
    results = {
        name: run_splits(one, counted, splits, first.n_jobs_, partial(progress, name))
        for name, one in categorizers.items()
    }
    if against == "best":
        against = max(names, key=lambda name: results[name].mean("micro_f1"))
    return Comparison(results, names[0] if against == "first" else against)


def _check_alike(first: Categorizer, others: Sequence[Categorizer]) -> None:
    """Raise unless all count the same."""
    for other in others:
        for option in (*TextParameters.parameters, *LanguageParameters.parameters):
            if getattr(other, option) != getattr(first, option):
                raise ParameterError(
                    f"The categorizers differ in {option} ({getattr(first, option)!r} and "
                    f"{getattr(other, option)!r}). The documents are counted once for all of "
                    f"them: give all the same {option}."
                )
