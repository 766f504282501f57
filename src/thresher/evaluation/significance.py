"""Significance tests of two or more systems, and confidence intervals of a measure.

The tests named after Yang and Liu are those of "A re-examination of text categorization methods",
1999. All p-values are two-tailed. Only `friedman_test` needs scipy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, islice
from math import exp, inf, lgamma, log, log1p, sqrt
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from thresher.errors import ParameterError, missing_extra
from thresher.evaluation.contingency import Contingency, ratio
from thresher.evaluation.measures import Evaluation, evaluate, exactly_right
from thresher.evaluation.names import MEASURES, measures_of, read_measure
from thresher.evaluation.ranking import Positives
from thresher.rows import Labels


class PairedTest(NamedTuple):
    """The difference between two systems on the same documents, and its significance."""

    difference: float  # how much better the first is
    statistic: float
    p_value: float  # of the hypothesis that both are equally good
    n: int  # the number of pairs compared

    @property
    def stars(self) -> str:
        """Two asterisks for p <= 0.01, one for p <= 0.05, else none."""
        return "**" if self.p_value <= 0.01 else "*" if self.p_value <= 0.05 else ""


def paired_t_test(first: Sequence[float] | np.ndarray, second: Any) -> PairedTest:
    """Return Student's t-test of paired results, such as those of two systems on the same folds.

    As folds share most of their training documents, the p-values of cross-validation are somewhat
    too small.

    Parameters
    ----------
    first, second : sequences of float
        The results of the two systems; pairs with NaN are left out. If all differences are equal,
        p is 1 if they are zero, else 0.

    Examples
    --------
    >>> test = paired_t_test([0.88, 0.87, 0.89, 0.88, 0.90], [0.85, 0.86, 0.86, 0.85, 0.86])
    >>> round(test.difference, 3), round(test.p_value, 4), test.stars
    (0.028, 0.0046, '**')
    """
    differences = np.subtract(first, second, dtype=np.float64)
    differences = differences[~np.isnan(differences)]
    n = len(differences)
    if n < 2:
        raise ParameterError(
            f"A t-test takes two pairs of figures to compare; there {'is' if n else 'are'} {n}."
        )
    mean, error = float(differences.mean()), float(differences.std(ddof=1)) / np.sqrt(n)
    if error == 0:
        return PairedTest(mean, float(np.sign(mean) * np.inf) if mean else 0.0, float(not mean), n)
    t = float(mean / error)
    return PairedTest(mean, t, student_p_value(t, n - 1), n)


def macro_t_test(first: Evaluation, second: Evaluation) -> PairedTest:
    """Return Yang and Liu's macro t-test, paired over the F1s of the categories.

    Parameters
    ----------
    first, second : Evaluation
        The evaluations of two systems on the same documents. Categories without positives are left
        out.

    Examples
    --------
    >>> truth = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 0]])
    >>> first, second = (evaluate(None, truth, decisions=d) for d in (truth, truth[::-1]))
    >>> test = macro_t_test(first, second)
    >>> round(test.difference, 3), round(test.p_value, 3), test.n
    (0.333, 0.184, 3)
    """
    numbers = {name: i for i, name in enumerate(second.categories)}
    pairs = [
        (first.per_category["f1"][i], second.per_category["f1"][numbers[name]])
        for i, name in enumerate(first.categories)
        if name in numbers and first.per_category["positives"][i]
    ]
    return paired_t_test(*np.array(pairs).reshape(-1, 2).T)


def micro_sign_test(
    first: Labels | np.ndarray, second: Labels | np.ndarray, labels: Labels | np.ndarray
) -> PairedTest:
    """Return Yang and Liu's micro sign test, over the decisions in which the two systems differ.

    `n` is the number of these decisions, `statistic` how many of them the first got right, and
    `difference` how many more that is than the second. The p-value is exact.

    Parameters
    ----------
    first, second : Labels or bool arrays of shape (documents, categories)
        The decisions of the two systems.
    labels : Labels or array of shape (documents, categories)
        The correct labels.

    Examples
    --------
    >>> truth = np.eye(8, dtype=bool)
    >>> test = micro_sign_test(truth, np.zeros((8, 8)), truth)
    >>> test.statistic, test.n, round(test.p_value, 4)
    (8.0, 8, 0.0078)
    """
    assigned = [Positives.of(pairs) for pairs in (first, second, labels)]
    n_first, n_second, n_labels = (positives.n_documents for positives in assigned)
    if not n_first == n_second == n_labels:
        raise ParameterError(
            f"The decisions are of {n_first} and {n_second} documents, the labels of {n_labels}; "
            "they must be of the same."
        )
    a, b, right = (pairs.columns * n_labels + pairs.rows for pairs in assigned)
    only_a, only_b = np.setdiff1d(a, b), np.setdiff1d(b, a)
    # If only one of them assigns a category, either that one is right or the other.
    n_right = int(np.isin(only_a, right).sum() + (~np.isin(only_b, right)).sum())
    n = len(only_a) + len(only_b)
    return PairedTest(float(2 * n_right - n), float(n_right), coin_p_value(n_right, n), n)


# Distributions ----------------------------------------------------------------------------------


def student_p_value(t: float, degrees: int) -> float:
    """Return the two-tailed p-value of Student's t."""
    if abs(t) == inf:
        return 0.0
    square, whole = t * t, degrees + t * t
    return incomplete_beta(degrees / 2, 0.5, degrees / whole, square / whole)


def coin_p_value(heads: int, n: int) -> float:
    """Return the two-tailed p-value of a number of heads of a fair coin."""
    fewer = min(heads, n - heads)
    if 2 * fewer >= n - 1:  # half, or as near to half as possible
        return 1.0
    return 2 * incomplete_beta(n - fewer, fewer + 1, 0.5, 0.5)


def incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """Return the regularized incomplete beta function of `x`; `rest` is 1 - x, more exactly.

    Lentz's algorithm evaluates its continued fraction on the side of the mean on which it converges
    quickly.
    """
    tiny = 1e-300  # replaces a denominator of zero
    if x <= 0 or rest <= 0:
        return float(rest <= 0)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, rest, x)
    log_x, log_rest = (log(x), log1p(-x)) if x < rest else (log1p(-rest), log(rest))
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log_x + b * log_rest) / a
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1) or tiny)
    fraction = d
    for m in count(1):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        before = fraction
        for term in (even, odd):
            d = 1 / (1 + term * d or tiny)
            c = 1 + term / c or tiny
            fraction *= c * d
        if abs(fraction - before) <= 1e-16 * abs(fraction):
            break
    return front * fraction


# Many systems ------------------------------------------------------------------------------------


class Ranks(NamedTuple):
    """The average ranks of systems, and which of their differences are significant."""

    average_ranks: np.ndarray  # 1 is the best
    statistic: float  # Friedman's chi-square
    p_value: float  # of the hypothesis that all are equally good
    critical_difference: float  # ranks that differ by less do not differ significantly (Nemenyi)
    pairwise: np.ndarray  # Nemenyi's p-value of each pair


def friedman_test(results: Any, confidence: float = 0.95) -> Ranks:
    """Rank systems on several data sets and test their differences; needs scipy.

    Parameters
    ----------
    results : array of shape (sets, systems)
        The result of each system on each data set, the higher the better; at least three systems.
        Equal results share their ranks.
    confidence : float, default=0.95
        The confidence level of the critical difference.

    References
    ----------
    J. Demšar, Statistical comparisons of classifiers over multiple data sets, 2006.

    Examples
    --------
    >>> ranks = friedman_test([[90, 80, 70], [85, 80, 75], [70, 72, 60], [95, 90, 85]])
    >>> ranks.average_ranks, round(ranks.p_value, 3), round(ranks.critical_difference, 2)
    (array([1.25, 1.75, 3.  ]), 0.039, 1.66)
    """
    try:
        from scipy.stats import friedmanchisquare, rankdata, studentized_range
    except ImportError:
        raise missing_extra("scipy", "scikit-learn", "Friedman's and Nemenyi's tests") from None
    results = np.asarray(results, np.float64)
    if results.ndim != 2 or results.shape[0] < 2 or results.shape[1] < 3 or np.isnan(results).any():
        raise ParameterError(
            f"The results have the shape {results.shape}; give figures of at least three systems "
            "on at least two sets of data, none of them NaN. For two systems there is "
            "paired_t_test."
        )
    n, k = results.shape
    ranks = rankdata(-results, axis=1).mean(axis=0)
    chi_square, p_value = friedmanchisquare(*results.T) if np.ptp(results, axis=1).any() else (0, 1)
    error = np.sqrt(k * (k + 1) / (12 * n))
    critical = studentized_range.ppf(confidence, k, np.inf) * error
    pairwise = studentized_range.sf(np.abs(ranks[:, None] - ranks) / error, k, np.inf)
    return Ranks(ranks, float(chi_square), float(p_value), float(critical), np.asarray(pairwise))


# Intervals ---------------------------------------------------------------------------------------


class Interval(NamedTuple):
    """The value of a measure and its confidence interval."""

    value: float
    low: float
    high: float


def bootstrap_intervals(
    scores: np.ndarray | None,
    labels: Labels | np.ndarray,
    decisions: np.ndarray | None = None,
    *,
    measures: Sequence[str] = ("micro_f1", "macro_f1"),
    n_resamples: int = 1000,
    confidence: float = 0.95,
    random_state: int = 0,
) -> dict[str, Interval]:
    """Return bootstrap confidence intervals of measures.

    The documents are resampled with replacement, and the interval has equal tails of the results.
    A resample lacks many of the rare categories, which have low values, so that means over
    categories come out too high on average; their intervals are shifted back by that bias.

    Parameters
    ----------
    scores, labels, decisions
        As for `evaluate`.
    measures : sequence of str, default=("micro_f1", "macro_f1")
        The names of measures, as for `read_measure`. Measures of decisions are quick; one of a
        ranking takes `n_resamples` evaluations.
    n_resamples : int, default=1000
        The number of resamples.
    confidence : float, default=0.95
        The confidence level.
    random_state : int, default=0
        The seed.

    Examples
    --------
    >>> scores = np.linspace(-1, 1, 40)[:, None]
    >>> labels = (np.arange(40) % 3 > 0)[:, None]
    >>> interval = bootstrap_intervals(scores, labels)["micro_f1"]
    >>> round(interval.value, 2), round(interval.low, 2), round(interval.high, 2)
    (0.57, 0.37, 0.72)
    """
    positives = Positives.of(labels)
    if decisions is None and scores is not None:
        decisions = positives.check(scores, "scores") > 0
    whole = evaluate(scores, labels, decisions=decisions)
    values = {name: read_measure(whole, name) for name in measures}
    assert decisions is not None  # or `evaluate` would have raised
    rates = measures_of("decisions")
    if all(name == "exact_match" or name.partition("_")[2] in rates for name in measures):
        drawn = _measure_all(np.asarray(decisions, bool), positives, n_resamples, random_state)
    else:
        drawn = _measure_each(scores, labels, decisions, measures, n_resamples, random_state)
    tails = 50 * (1 - confidence), 50 * (1 + confidence)
    return {name: _interval(name, value, drawn[name], tails) for name, value in values.items()}


def _interval(name: str, value: float, drawn: np.ndarray, tails: tuple[float, float]) -> Interval:
    low, high = map(float, np.nanpercentile(drawn, tails))
    if name.startswith("macro_"):
        bias = float(np.nanmean(drawn)) - value
        low, high = min(value, max(0.0, low - bias)), max(value, min(1.0, high - bias))
    return Interval(value, low, high)


def share_interval(hits: float, n: float, confidence: float = 0.95) -> Interval:
    """Return Wilson's confidence interval of a share, given `hits` of `n`.

    Unlike that of the bootstrap, it has a width even if all are hits.

    Examples
    --------
    >>> interval = share_interval(6, 6)
    >>> round(interval.low, 2), interval.high
    (0.61, 1.0)
    """
    if not n:
        return Interval(float("nan"), 0.0, 1.0)
    share, z2 = hits / n, NormalDist().inv_cdf((1 + confidence) / 2) ** 2
    middle, spread = share + z2 / (2 * n), sqrt(z2 * (share * (1 - share) + z2 / (4 * n)) / n)
    low, high = ((middle + side) / (1 + z2 / n) for side in (-spread, spread))
    return Interval(share, min(share, max(0.0, low)), max(share, min(1.0, high)))


NUMBERS_AT_ONCE = 4_000_000  # of resamples that are measured together


def _draws(n_documents: int, n_resamples: int, random_state: int) -> Iterator[np.ndarray]:
    generator = np.random.default_rng(random_state)
    return (generator.integers(n_documents, size=n_documents) for _ in range(n_resamples))


def _measure_each(
    scores: Any,
    labels: Any,
    decisions: np.ndarray,
    measures: Any,
    n_resamples: int,
    random_state: int,
) -> dict[str, np.ndarray]:
    """Evaluate the documents of each resample."""
    take = labels.take if isinstance(labels, Labels) else np.asarray(labels).__getitem__
    values = []
    for drawn in _draws(len(decisions), n_resamples, random_state):
        of_drawn = None if scores is None else scores[drawn]
        evaluation = evaluate(of_drawn, take(drawn), decisions=decisions[drawn])
        values.append([read_measure(evaluation, name) for name in measures])
    return dict(zip(measures, np.array(values).T, strict=True))


def _measure_all(
    decisions: np.ndarray, positives: Positives, n_resamples: int, random_state: int
) -> dict[str, np.ndarray]:
    """Measure many resamples together: a document drawn twice counts twice in the tables."""
    n, n_categories = positives.n_documents, len(positives.counts)
    taken_rows, taken_columns = np.nonzero(decisions)
    rows, columns = positives.within(decisions.shape[1])
    hit = decisions[rows, columns]
    exact, averages = exactly_right(decisions, positives), []
    draws = _draws(n, n_resamples, random_state)
    per_block = max(1, NUMBERS_AT_ONCE // max(1, n, len(positives.rows) + len(taken_rows)))
    while block := [np.bincount(drawn, minlength=n) for drawn in islice(draws, per_block)]:
        times = np.array(block)
        hits = _sums(times, rows[hit], columns[hit], n_categories)
        taken = _sums(times, taken_rows, taken_columns, n_categories)
        positive = _sums(times, positives.rows, positives.columns, n_categories)
        table = Contingency(hits, taken - hits, positive - hits, n - positive - (taken - hits))
        averages.append(_averages(table) | {"exact_match": (times @ exact) / n})
    return {name: np.concatenate([block[name] for block in averages]) for name in averages[0]}


def _sums(times: np.ndarray, rows: np.ndarray, columns: np.ndarray, n_columns: int) -> np.ndarray:
    """Return the number of pairs in each resample (row) and category (column)."""
    sums = np.zeros((len(times), n_columns), np.int64)
    if len(rows):
        order = np.argsort(columns, kind="stable")
        filled, starts = np.unique(columns[order], return_index=True)
        sums[:, filled] = np.add.reduceat(times[:, rows[order]], starts, axis=1)
    return sums


def _averages(table: Contingency) -> dict[str, np.ndarray]:
    """Return the micro and macro averages of tables of shape (resamples, categories)."""
    total = Contingency(*(cell.sum(axis=1) for cell in table))
    has_positives = table.true_positives + table.false_negatives > 0
    averages = {}
    for name in measures_of("decisions"):
        averages[f"micro_{name}"] = getattr(total, name)
        values = getattr(table, name)
        counts = ~np.isnan(values)
        if MEASURES[name].needs_positives:
            counts &= has_positives
        sums = np.where(counts, values, 0.0).sum(axis=1)
        averages[f"macro_{name}"] = ratio(sums, counts.sum(axis=1))
    return averages
