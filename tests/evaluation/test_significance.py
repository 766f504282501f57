"""Tests of significance against their definitions, scipy and published tables."""

import sys
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import special, stats

from naive import significance as naive
from thresher.errors import MissingExtra, ParameterError
from thresher.evaluation import evaluate, read_measure
from thresher.evaluation.ranking import Positives
from thresher.evaluation.significance import (
    PairedTest,
    _measure_all,
    _measure_each,
    bootstrap_intervals,
    coin_p_value,
    friedman_test,
    incomplete_beta,
    macro_t_test,
    micro_sign_test,
    paired_t_test,
    share_interval,
    student_p_value,
)
from thresher.rows import Labels


@pytest.mark.parametrize(
    ("p_value", "stars"),
    [(0.2, ""), (0.051, ""), (0.05, "*"), (0.011, "*"), (0.01, "**"), (0, "**")],
)
def test_the_stars_of_the_papers(p_value, stars):
    assert PairedTest(0.0, 0.0, p_value, 5).stars == stars


# Distributions -----------------------------------------------------------------------------------


@given(st.integers(1, 3000), st.floats(-60, 60))
def test_students_p_value_is_scipys(degrees, t):
    expected = float(2 * stats.t.sf(abs(t), degrees))
    # Near zero scipy's is right to a few parts in 10**9 only.
    assert student_p_value(t, degrees) == pytest.approx(
        expected, rel=2e-11 if abs(t) > 0.1 else 1e-7
    )


@given(st.integers(0, 400), st.data())
def test_a_coins_p_value_is_counted_exactly(n, data):
    heads = data.draw(st.integers(0, n))
    far = abs(2 * heads - n)
    ways = sum(comb(n, k) for k in range(n + 1) if abs(2 * k - n) >= far)
    assert coin_p_value(heads, n) == pytest.approx(float(Fraction(ways, 2**n)), rel=1e-12)


@given(st.floats(0.5, 500), st.floats(0.5, 500), st.floats(0, 1))
def test_the_incomplete_beta_is_scipys(a, b, x):
    expected = special.betainc(a, b, x)
    assert incomplete_beta(a, b, x, 1 - x) == pytest.approx(expected, rel=1e-10, abs=1e-290)


def test_extreme_statistics_have_p_values_too():
    assert student_p_value(np.inf, 3) == 0 and student_p_value(0.0, 3) == 1
    assert coin_p_value(0, 10**6) == 0
    assert coin_p_value(499_000, 10**6) == pytest.approx(stats.binomtest(499_000, 10**6).pvalue)


# Two systems -------------------------------------------------------------------------------------

FIGURES = st.floats(-1, 1).map(lambda x: round(x, 3))


@given(st.lists(st.tuples(FIGURES, FIGURES), min_size=2, max_size=12))
def test_paired_t_test_is_scipys(pairs):
    first, second = np.array(pairs).T
    assume(np.ptp(first - second) > 1e-12)  # else scipy divides zero by zero
    test, expected = paired_t_test(first, second), stats.ttest_rel(first, second)
    assert test.difference == pytest.approx((first - second).mean())
    assert test.statistic == pytest.approx(expected.statistic, rel=1e-6)
    assert test.p_value == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-12)


def test_paired_t_test_of_differences_that_do_not_vary():
    assert paired_t_test([1, 2, 3], [1, 2, 3]) == (0.0, 0.0, 1.0, 3)
    assert paired_t_test([2, 3, 4], [1, 2, 3]) == (1.0, np.inf, 0.0, 3)
    assert paired_t_test([1, 2, 3], [2, 3, 4]) == (-1.0, -np.inf, 0.0, 3)


def test_paired_t_test_leaves_out_what_is_not_known():
    assert paired_t_test([1, np.nan, 3, 5], [0, 1, 1, 9]) == paired_t_test([1, 3, 5], [0, 1, 9])
    with pytest.raises(ParameterError, match="two pairs of figures to compare; there is 1"):
        paired_t_test([1, np.nan], [2, 3])


MASKS = st.integers(1, 5).flatmap(
    lambda width: st.lists(
        st.tuples(*[st.lists(st.booleans(), min_size=width, max_size=width)] * 3),
        min_size=1,
        max_size=8,
    )
)


@given(MASKS)
def test_micro_sign_test_is_its_definition(rows):
    first, second, truth = (np.array(one) for one in zip(*rows, strict=True))
    expected = naive.sign_test(first.tolist(), second.tolist(), truth.tolist())
    test = micro_sign_test(first, second, truth)
    assert (test.statistic, test.n) == expected[:2]
    assert test.p_value == pytest.approx(expected[2], rel=1e-12)
    right = (first == truth).sum(), (second == truth).sum()
    assert test.difference == right[0] - right[1]
    sparse = [
        Labels.from_lists([np.flatnonzero(one).tolist() for one in mask], mask.shape[1])
        for mask in (first, second, truth)
    ]
    assert micro_sign_test(*sparse) == test


def test_micro_sign_test_refuses_other_documents():
    with pytest.raises(ParameterError, match="2 and 3 documents"):
        micro_sign_test(np.ones((2, 1)), np.ones((3, 1)), np.ones((2, 1)))


def test_macro_t_test_pairs_the_categories_by_name():
    generator = np.random.default_rng(0)
    truth = generator.random((50, 6)) < 0.3
    truth[:, 5] = False  # nothing can be said of it
    one, other = (generator.random((50, 6)) < 0.3 for _ in range(2))
    names, order = list("abcdef"), [3, 1, 0, 5, 4, 2]
    first = evaluate(None, truth, names, decisions=one)
    second = evaluate(None, truth[:, order], [names[i] for i in order], decisions=other[:, order])
    f1s = [evaluate(None, truth, decisions=d).per_category["f1"][:5] for d in (one, other)]
    expected = stats.ttest_rel(*f1s)
    test = macro_t_test(first, second)
    assert (test.statistic, test.p_value) == pytest.approx((expected.statistic, expected.pvalue))
    assert test.n == 5


# Many systems ------------------------------------------------------------------------------------

TABLES = st.integers(3, 5).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(0, 4), min_size=width, max_size=width), min_size=2, max_size=8
    )
)


@given(TABLES)
def test_ranks_are_their_definition_and_scipys_test(table):
    ranks = friedman_test(table)
    assert ranks.average_ranks == pytest.approx(naive.average_ranks(table))
    if any(len(set(row)) > 1 for row in table):
        expected = stats.friedmanchisquare(*np.transpose(table))
        assert (ranks.statistic, ranks.p_value) == pytest.approx(expected)
    else:
        assert ranks.p_value == 1
    differ = np.abs(ranks.average_ranks[:, None] - ranks.average_ranks)
    sure = np.abs(differ - ranks.critical_difference) > 1e-6
    assert ((ranks.pairwise <= 0.05) == (differ >= ranks.critical_difference))[sure].all()


@pytest.mark.parametrize(
    ("confidence", "published"),
    [
        (0.95, [2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]),
        (0.90, [2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]),
    ],
)
def test_critical_differences_are_demsars(confidence, published):
    """The critical values for 3 to 10 systems, of which the difference is a multiple."""
    for k, value in enumerate(published, 3):
        ranks = friedman_test(np.arange(10 * k).reshape(10, k), confidence)
        scale = np.sqrt(k * (k + 1) / (6 * 10))
        assert ranks.critical_difference / scale == pytest.approx(value, abs=0.002)


@pytest.mark.parametrize("table", [[[1, 2], [3, 4]], [[1, 2, 3]], [[1, 2, np.nan], [1, 2, 3]], [1]])
def test_ranks_of_too_little_are_refused(table):
    with pytest.raises(ParameterError, match="at least three systems"):
        friedman_test(table)


def test_without_scipy_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(MissingExtra, match=r"thresher\[scikit-learn\]"):
        friedman_test([[1, 2, 3], [3, 2, 1]])


# Intervals ---------------------------------------------------------------------------------------


def some_results(n_documents=40, n_categories=5, n_scored=4):
    """Scores, labels with one category that was never met, and decisions."""
    generator = np.random.default_rng(1)
    labels = generator.random((n_documents, n_categories)) < [0.5, 0.2, 0.1, 0.02, 0.1]
    scores = generator.normal(size=(n_documents, n_scored)) + 2 * labels[:, :n_scored] - 1
    return scores, labels, scores > 0.2


@pytest.mark.parametrize("block", [1, 700, 10**6])
def test_draws_measured_together_equal_draws_measured_one_by_one(monkeypatch, block):
    monkeypatch.setattr("thresher.evaluation.significance.NUMBERS_AT_ONCE", block)
    _, labels, decisions = some_results()
    together = _measure_all(decisions, Positives.of(labels), 30, 7)
    names = list(together)
    one_by_one = _measure_each(None, labels, decisions, names, 30, 7)
    assert len(names) == 13
    for name in names:
        np.testing.assert_allclose(together[name], one_by_one[name], rtol=1e-12, err_msg=name)


def test_intervals_hold_the_measure_and_shrink_with_documents():
    widths = []
    for n in (50, 200, 800):
        scores, labels, decisions = some_results(n)
        intervals = bootstrap_intervals(scores, labels, decisions, measures=["micro_f1"])
        value, low, high = intervals["micro_f1"]
        assert value == evaluate(scores, labels, decisions=decisions).micro["f1"]
        assert low < value < high
        widths.append(high - low)
    assert widths[0] > 1.5 * widths[1] > 2.25 * widths[2]


def test_an_interval_of_a_share_is_the_binomials():
    """Error over one category is a share of the documents, whose spread is known."""
    decisions = np.zeros((400, 1), bool)
    labels = (np.arange(400) < 80)[:, None]
    options = {"measures": ["micro_error"], "n_resamples": 4000}
    interval = bootstrap_intervals(None, labels, decisions, **options)["micro_error"]
    low, high = stats.binom.interval(0.95, 400, 0.2)
    assert interval.value == 0.2
    assert interval[1:] == pytest.approx((low / 400, high / 400), abs=0.005)


def test_the_interval_of_a_mean_over_rare_categories_does_not_lean():
    """Draws lack the categories of one document, all of which were missed."""
    labels = np.zeros((300, 41), bool)
    labels[np.arange(260), 0] = True
    labels[np.arange(260, 300), np.arange(1, 41)] = True
    decisions = labels.copy()
    decisions[260:280] = False
    options = {"measures": ["macro_f1", "macro_recall", "micro_f1"], "n_resamples": 400}
    intervals = bootstrap_intervals(None, labels, decisions, **options)
    drawn = _measure_all(decisions, Positives.of(labels), 400, 0)
    for name, (value, low, high) in intervals.items():
        raw = np.percentile(drawn[name], [2.5, 97.5])
        if name == "micro_f1":
            assert (low, high) == tuple(raw)
        else:
            assert high - low == pytest.approx(raw[1] - raw[0])
            assert 0.4 < (value - low) / (high - low) < 0.6
    perfect = bootstrap_intervals(None, labels, labels, **options)["macro_f1"]
    assert perfect == (1, 1, 1)


@given(st.integers(0, 60), st.integers(1, 60))
def test_the_interval_of_a_share_is_wilsons(hits, n):
    value, low, high = share_interval(min(hits, n), n)
    expected = stats.binomtest(min(hits, n), n).proportion_ci(method="wilson")
    assert (low, high) == pytest.approx((expected.low, expected.high))
    assert 0 <= low <= value <= high <= 1


def test_intervals_of_rankings_and_with_sparse_labels():
    scores, labels, decisions = some_results()
    sparse = Labels.from_lists([np.flatnonzero(one).tolist() for one in labels], 5)
    names = ["micro_break_even", "macro_average_precision", "pooled_break_even", "exact_match"]
    options = {"measures": names, "n_resamples": 40}
    intervals = bootstrap_intervals(scores, labels, decisions, **options)
    assert intervals == bootstrap_intervals(scores, sparse, decisions, **options)
    assert intervals != bootstrap_intervals(scores, labels, decisions, **options, random_state=1)
    for name, interval in intervals.items():
        assert interval.low <= interval.value <= interval.high, name
    fast = bootstrap_intervals(scores, labels, decisions, measures=["exact_match"], n_resamples=40)
    assert fast["exact_match"] == pytest.approx(intervals["exact_match"])


def test_by_default_a_score_above_zero_is_a_decision():
    scores, labels, _ = some_results()
    assert bootstrap_intervals(scores, labels) == bootstrap_intervals(scores, labels, scores > 0)


@pytest.mark.parametrize("name", ["f1", "micro_beauty", "mega_f1", "", "micro"])
def test_an_unknown_measure_is_a_sentence(name):
    with pytest.raises(ParameterError, match="no measure"):
        read_measure(evaluate(None, np.ones((1, 1)), decisions=np.ones((1, 1))), name)
