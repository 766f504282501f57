"""All measures of a set of documents: per category, and micro, macro and pooled averages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thresher.errors import ParameterError, counted
from thresher.evaluation.contingency import Contingency, harmonic_mean, ratio
from thresher.evaluation.names import AVERAGES, MEASURES, measures_of
from thresher.evaluation.ranking import CutPoints, Positives, Tie, midpoint, rankings
from thresher.rows import Labels

N_SHOWN = 10  # the number of categories in a printed table


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The measures of a set of documents, as `evaluate` returns them.

    Each measure of `per_category` is an array over categories: `positives`, `assigned`,
    `precision`, `recall`, `f1`, `accuracy`, `error`, `fallout`; from the ranking, `break_even`
    (precision at k = the number of positives), `break_even_interpolated`, `maximal_f1`,
    `average_precision` and `rank_loss`; with training scores, `adjusted_f1`, `adjusted_precision`,
    `adjusted_recall` and `adjusted_error`. `micro` has the measures of the summed contingency
    table and, for `break_even` and `average_precision`, the mean over all positives of all
    categories. `macro` has means over categories; its `f1` is the mean of the F1s, `f1_of_means`
    the harmonic mean of macro precision and macro recall. `pooled` has `break_even` and
    `break_even_interpolated` of all pairs of document and category in one ranking.

    Examples
    --------
    >>> print(evaluate(np.array([[2.0], [-1.0], [1.0]]), np.array([[1], [0], [0]]), ["grain"]))
    3 documents, 1 category; 66.7 % of the documents got exactly their labels.
                  precision  recall     F1  break-even  av. precision
    micro              50.0   100.0   66.7       100.0          100.0
    macro              50.0   100.0   66.7       100.0          100.0
    pooled                                       100.0
    <BLANKLINE>
    1 grain            50.0   100.0   66.7       100.0          100.0
    """

    categories: list[str]
    n_documents: int
    contingency: Contingency  # of arrays over categories
    per_category: dict[str, np.ndarray]
    micro: dict[str, float]
    macro: dict[str, float]
    pooled: dict[str, float]
    exact_match: float  # the share of the documents that got exactly their labels
    scores: np.ndarray | None = field(default=None, repr=False)
    decisions: np.ndarray | None = field(default=None, repr=False)
    positives: Positives | None = field(default=None, repr=False)

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each category: its name and all measures."""
        columns = {name: values.tolist() for name, values in self.per_category.items()}
        return [
            {"category": category, **{name: values[c] for name, values in columns.items()}}
            for c, category in enumerate(self.categories)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data for JSON, with None for NaN."""
        averages = {name: getattr(self, name) for name in ("exact_match", *AVERAGES)}
        everything = {"documents": self.n_documents, **averages, "categories": self.table()}
        return _without_nan(everything)  # type: ignore[no-any-return]

    def labels(self) -> Labels:
        """Return the labels of the documents."""
        if self.positives is None:
            raise ParameterError("This evaluation has not kept the labels it was made from.")
        order = np.argsort(self.positives.rows, kind="stable")
        rows = self.positives.rows[order]
        indptr = np.searchsorted(rows, np.arange(self.n_documents + 1))
        columns = self.positives.columns[order].astype(np.int32)
        return Labels(indptr, columns, len(self.categories))

    def __str__(self) -> str:
        """Return a table of the averages and the largest categories, in percent."""
        columns = {name: f"{MEASURES[name].title:>5}" for name in measures_of(shown=True)}
        rows = [(average, getattr(self, average)) for average in AVERAGES]
        largest = sorted(self.table(), key=lambda row: -row["positives"])[:N_SHOWN]
        digits = len(f"{largest[0]['positives']}") if largest else 0
        rows += [(f"{row['positives']:{digits}} {row['category'][:30]}", row) for row in largest]
        width = max(12, *(len(name) for name, _ in rows))
        lines = [" " * width + "".join(f"  {title}" for title in columns.values())]
        for name, row in rows:
            cells = (
                f"  {100 * row[key]:{len(title)}.1f}" if key in row else " " * (len(title) + 2)
                for key, title in columns.items()
            )
            lines.append(f"{name:{width}}{''.join(cells)}".rstrip())
        lines.insert(4, "")
        n, n_hidden = len(self.categories), len(self.categories) - len(largest)
        smaller = counted(n_hidden, "smaller category", "smaller categories")
        lines += [f"and {smaller}"] if n_hidden else []
        exact = f"{100 * self.exact_match:.1f} % of the documents got exactly their labels."
        sizes = counted(self.n_documents, "document"), counted(n, "category")
        return "\n".join([f"{', '.join(sizes)}; {exact}", *lines])


def evaluate(
    scores: np.ndarray | None,
    labels: Labels | np.ndarray,
    categories: Sequence[str] | None = None,
    *,
    decisions: np.ndarray | None = None,
    training_scores: np.ndarray | None = None,
    training_labels: Labels | np.ndarray | None = None,
    beta: float | None = None,
) -> Evaluation:
    """Measure scores and decisions against the labels.

    Parameters
    ----------
    scores : array of shape (documents, categories) or None
        Higher scores mean that the document is more likely to belong. None if there are only
        decisions; then the measures of rankings are left out.
    labels : Labels or array of shape (documents, categories)
        Which documents belong. There may be more categories than columns of scores.
    categories : sequence of str, optional
        The names of the categories; by default their numbers.
    decisions : bool array of shape (documents, categories), optional
        Which categories were assigned; by default, those with a score above zero.
    training_scores, training_labels : optional
        Scores and labels of the training documents. They add the adjusted measures: those with the
        thresholds that are best on the training documents.
    beta : float, optional
        Adds `f_beta`, in which recall weighs `beta` times as much as precision.

    Examples
    --------
    >>> scores = np.array([[2.0, -1.0], [1.0, 3.0], [-1.0, 0.5]])
    >>> truth = np.array([[1, 0], [0, 1], [1, 0]])
    >>> evaluation = evaluate(scores, truth, ["grain", "ship"])
    >>> evaluation.micro["f1"], evaluation.macro["break_even"]
    (0.57, 0.75)
    """
    positives = Positives.of(labels)
    n_categories = len(positives.counts)
    names = list(map(str, range(n_categories) if categories is None else categories))
    if len(names) != n_categories:
        raise ParameterError(
            f"Names are given for {counted(len(names), 'category')}; the labels have "
            f"{n_categories}."
        )
    if scores is not None:
        scores = positives.check(scores, "scores")
        decisions = scores > 0 if decisions is None else decisions
    if decisions is None:
        raise ParameterError("There is nothing to evaluate: give scores, decisions or both.")
    decisions = positives.check(decisions, "decisions").astype(bool, copy=False)
    table = _count(decisions, positives)
    assigned = table.true_positives + table.false_positives
    per_category = {"positives": positives.counts, "assigned": assigned} | _rates(table, beta)
    micro = _rates(table.total(), beta)
    pooled = {}
    if scores is not None:
        ranked = _ranking_measures(scores, positives)
        per_category |= ranked
        micro |= _means_over_positives(ranked, positives.counts)
        pooled = _pooled_break_even(scores, positives)
        if training_scores is not None and training_labels is not None:
            thresholds = adjusted_thresholds(training_scores, training_labels)
            for name, adjusted in _adjusted(scores, positives, *thresholds).items():
                per_category[name] = getattr(adjusted, name.removeprefix("adjusted_"))
                micro[name] = getattr(adjusted.total(), name.removeprefix("adjusted_"))
    averages = micro, _macro(per_category, positives.counts > 0), pooled
    exact = ratio(np.count_nonzero(exactly_right(decisions, positives)), positives.n_documents)
    measured = scores, decisions, positives
    return Evaluation(names, len(decisions), table, per_category, *averages, exact, *measured)


def adjusted_thresholds(
    scores: np.ndarray, labels: Labels | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return, for each category, the best threshold for F1 and the best one for error.

    A threshold is halfway between two adjacent scores; of equally good ones, the highest is
    returned. It is infinite if it is best to assign nothing, as in a category without positives,
    and minus infinity if it is best to assign everything.

    Parameters
    ----------
    scores, labels
        As for `evaluate`, of the training documents.

    Examples
    --------
    >>> scores = np.array([[5.0], [4.0], [3.0], [2.0]])
    >>> for_f1, for_error = adjusted_thresholds(scores, np.array([[1], [0], [1], [0]]))
    >>> for_f1, for_error
    (array([2.5]), array([4.5]))
    """
    positives = Positives.of(labels)
    scores = positives.check(scores, "scores")
    for_f1 = np.full(scores.shape[1], np.inf)
    for_error = for_f1.copy()
    for category, ranked, hits in rankings(scores, positives):
        cuts = CutPoints.of(ranked, hits)
        for_f1[category] = midpoint(ranked, int(cuts.taken[np.argmax(cuts.f1)]))
        fewest = np.argmin(cuts.errors)
        if cuts.errors[fewest] < cuts.n_positives:  # the errors if nothing is assigned
            for_error[category] = midpoint(ranked, int(cuts.taken[fewest]))
    return for_f1, for_error


def _count(decisions: np.ndarray, positives: Positives) -> Contingency:
    """Return the contingency table of each category; without decisions, nothing is assigned."""
    counts = positives.counts
    rows, columns = positives.within(decisions.shape[1])
    hits = np.bincount(columns[decisions[rows, columns]], minlength=len(counts))
    assigned = np.zeros_like(counts)
    assigned[: decisions.shape[1]] = np.count_nonzero(decisions, axis=0)
    negatives = positives.n_documents - counts
    return Contingency(hits, assigned - hits, counts - hits, negatives - (assigned - hits))


def _rates(table: Contingency, beta: float | None) -> dict[str, Any]:
    rates = {name: getattr(table, name) for name in measures_of("decisions")}
    return rates if beta is None else rates | {"f_beta": table.f_beta(beta)}


def _ranking_measures(scores: np.ndarray, positives: Positives) -> dict[str, np.ndarray]:
    """Return the measures of the ranking of each category; without scores, the worst values."""
    counts = positives.counts
    is_lost = (counts > 0) & (np.arange(len(counts)) >= scores.shape[1])
    measured = {
        name: np.where(is_lost, MEASURES[name].worst, np.nan) for name in measures_of("cuts", "tie")
    }
    for category, ranked, hits in rankings(scores, positives):
        tie = Tie.at(ranked[-len(hits)], ranked, hits, len(hits))
        sources = {"cuts": CutPoints.of(ranked, hits), "tie": tie}
        for name, values in measured.items():
            values[category] = getattr(sources[MEASURES[name].source], name)
    return measured


def _means_over_positives(ranked: dict[str, np.ndarray], counts: np.ndarray) -> dict[str, float]:
    some = counts > 0
    return {
        name: ratio(float(values[some] @ counts[some]), int(counts.sum()))
        for name, values in ranked.items()
        if MEASURES[name].over_positives
    }


def _pooled_break_even(scores: np.ndarray, positives: Positives) -> dict[str, float]:
    """Rank all pairs of document and category together; the k-th score is found without a sort."""
    names, k, flat = measures_of("tie"), len(positives.rows), scores.ravel()
    hits = scores[positives.within(scores.shape[1])]
    if 0 < k <= len(flat):
        rank = len(flat) - k
        tie = Tie.at(np.partition(flat, rank)[rank], flat, hits, k)
        return {name: getattr(tie, name) for name in names}
    # There are fewer than k scores; the other positives are of categories without scores.
    return dict.fromkeys(names, ratio(len(hits), k))


def _adjusted(
    scores: np.ndarray, positives: Positives, for_f1: np.ndarray, for_error: np.ndarray
) -> dict[str, Contingency]:
    """Return the contingency table of each adjusted measure."""
    if len(for_f1) != scores.shape[1]:
        raise ParameterError(
            f"The training scores are of {counted(len(for_f1), 'category')}, the scores "
            f"of {scores.shape[1]}."
        )
    by_f1, by_error = _count(scores > for_f1, positives), _count(scores > for_error, positives)
    names = "adjusted_precision", "adjusted_recall", "adjusted_f1"
    return dict.fromkeys(names, by_f1) | {"adjusted_error": by_error}


def _macro(per_category: dict[str, np.ndarray], has_positives: np.ndarray) -> dict[str, float]:
    macro = {}
    for name, values in per_category.items():
        measure = MEASURES.get(name.removeprefix("adjusted_"))
        if name not in ("positives", "assigned"):
            counts = ~np.isnan(values)
            if measure is None or measure.needs_positives:
                counts &= has_positives
            macro[name] = ratio(float(values[counts].sum()), np.count_nonzero(counts))
    for kind in ("", "adjusted_"):
        if f"{kind}f1" in macro:
            means = macro[f"{kind}precision"], macro[f"{kind}recall"]
            macro[f"{kind}f1_of_means"] = harmonic_mean(*means)
    return macro


def exactly_right(decisions: np.ndarray, positives: Positives) -> np.ndarray:
    """Return which documents got exactly their labels."""
    n = positives.n_documents
    rows, columns = positives.within(decisions.shape[1])
    hits = np.bincount(rows[decisions[rows, columns]], minlength=n)
    labels = np.bincount(positives.rows, minlength=n)
    return np.asarray((hits == labels) & (hits == np.count_nonzero(decisions, axis=1)))


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_nan(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
