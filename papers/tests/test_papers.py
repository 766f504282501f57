"""Reproductions: the machinery on toys, the papers' claims on the corpora."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from thresher.errors import ParameterError
from thresher.evaluation.folds import k_fold
from thresher_papers import Curve, Difference, Figure, Table, list_papers, reproduce
from thresher_papers._running import (
    f1_percent,
    folds,
)

# ---- results ----------------------------------------------------------------------------------


def small_table():
    printed = {"a": {"P": 50.0, "Q": 60.0}, "b": {"P": 70.0}}
    reproduced = {"a": {"P": 49.0, "Q": 65.0}, "b": {"P": 70.5, "Q": 10.0}, "median": {"P": 60.0}}
    return Table(
        "x",
        "t",
        "Title",
        printed,
        reproduced,
        ["A note."],
        spread={"a": {"Q": 3.0}},
        summaries=("median",),
    )


def test_differences_are_of_the_cells_both_have_and_the_largest_comes_first():
    cells = small_table().differences()
    assert [(cell.row, cell.column) for cell in cells] == [("a", "Q"), ("a", "P"), ("b", "P")]
    assert cells[0].difference == 5.0
    assert len(small_table().differences(beyond=0.7)) == 2


def test_spread_covers_a_difference_of_two_standard_deviations():
    assert small_table().differences()[0].is_within_spread
    assert not Difference("a", "P", 50.0, 57.0, 3.0).is_within_spread
    assert not Difference("a", "P", 50.0, 50.1, math.nan).is_within_spread


def test_markdown_sets_ours_before_the_published_value_and_lists_what_differs():
    text = small_table().to_markdown()
    assert "| a | 49.0 (50.0) | **65.0** (60.0) |" in text
    assert "1 of 3 cells differ by more than 3 points" in text
    assert "| a, Q | 60.0 | 65.0 | +5.0 | 3.0 (covers it) |" in text
    assert text.endswith("A note.")


def test_ranks_and_columns_have_their_own_best():
    ranks = Table("x", "t", "T", {}, {"average rank": {"P": 1.0, "Q": 2.0}})
    assert "**1.0** | 2.0" in ranks.to_markdown()
    columns = Table("x", "t", "T", {}, {"a": {"P": 1.0}, "b": {"P": 2.0}}, best="column")
    assert "| a | 1.0 |\n| b | **2.0** |" in columns.to_markdown()


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_plots_are_written_and_the_same_svg_twice(tmp_path, suffix):
    curves = {"a": {"P": Curve((1, 2), (3.0, 4.0))}}
    for one in (small_table(), Figure("x", "f", "T", {}, curves, points=True)):
        paths = [one.plot(tmp_path / name / f"figure{suffix}") for name in ("first", "second")]
        assert paths[0].stat().st_size > 1000
        assert suffix == ".png" or paths[0].read_bytes() == paths[1].read_bytes()
    with pytest.raises(ParameterError, match=r"figure.text: the picture cannot be written"):
        small_table().plot(tmp_path / "figure.text")
    with pytest.raises(ParameterError, match="no published values"):
        Table("x", "t", "T", {}, {"a": {"P": 1.0}}).plot(tmp_path / "figure.svg")


def test_figures_compare_point_by_point():
    printed = {"a": {"P": Curve((1, 2), (10.0, 20.0))}}
    reproduced = {"a": {"P": Curve((1, 2), (11.0, 25.0))}}
    assert [c.difference for c in Figure("x", "f", "T", printed, reproduced).differences()] == [
        5.0,
        1.0,
    ]


def test_what_is_asked_for_must_exist():
    with pytest.raises(ParameterError, match="no paper 'carvalho'"):
        reproduce("carvalho", "table-4")
    with pytest.raises(ParameterError, match=r"Did you mean figure-2\?"):
        reproduce("carvalho-cohen-2006", "figure2")
    assert all(item.summary for paper in list_papers() for item in paper.items.values())


# ---- folds and measures -----------------------------------------------------------------------


@given(st.lists(st.booleans(), min_size=5, max_size=60), st.booleans(), st.integers(0, 99))
def test_folds_divide_the_examples_as_the_library_does_and_order_them_by_one_shuffle(
    positive, stratified, seed
):
    positive = np.array(positive)
    parts = list(folds(positive, 5, seed, stratified=stratified))
    order = np.random.default_rng(seed).permutation(len(positive))
    assert sorted(np.concatenate([test for _, test in parts])) == list(range(len(positive)))
    for train, test in parts:
        assert sorted([*train, *test]) == list(range(len(positive)))
        assert train.tolist() == [i for i in order if i not in test]
    if not stratified:
        for own, library in zip(parts, k_fold(len(positive), 5, random_state=seed), strict=True):
            assert own.test.tolist() == library.test.tolist()
    if stratified:
        shares = [positive[test].sum() for _, test in parts]
        assert max(shares) - min(shares) <= 1


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_f1_is_scikit_learns(pairs):
    decided, truth = np.array(pairs).T
    assert f1_percent(decided, truth) == pytest.approx(
        100 * f1_score(truth, decided, zero_division=0)
    )
