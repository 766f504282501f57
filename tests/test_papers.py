"""Reproductions: the machinery on toys, the papers' claims on the corpora."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from thresher.errors import ParameterError
from thresher.evaluation.folds import k_fold
from thresher.papers import Curve, Difference, Figure, Table, list_papers, reproduce
from thresher.papers import o_zhang_2000 as perceptrons_paper
from thresher.papers._running import (
    f1_percent,
    folds,
)

# ---- results ----------------------------------------------------------------------------------


def small_table():
    printed = {"a": {"P": 50.0, "Q": 60.0}, "b": {"P": 70.0}}
    ours = {"a": {"P": 49.0, "Q": 65.0}, "b": {"P": 70.5, "Q": 10.0}, "median": {"P": 60.0}}
    return Table(
        "x",
        "t",
        "Title",
        printed,
        ours,
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
    ours = {"a": {"P": Curve((1, 2), (11.0, 25.0))}}
    assert [c.difference for c in Figure("x", "f", "T", printed, ours).differences()] == [5.0, 1.0]


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


# ---- the paper of 2000 ------------------------------------------------------------------------


def test_published_precision_on_crude_follows_from_f1_and_recall():
    cells, recalls = perceptrons_paper.F1, perceptrons_paper.RECALL_ON_CRUDE
    assert recalls["BLP"] - recalls["MN"] == pytest.approx(37.2)
    for name, precision in (("MN", 93.2), ("BLP", 92.9)):
        f1 = 2 / (1 / precision + 1 / recalls[name])
        assert f1 == pytest.approx(cells[name]["crude"], abs=0.03)


@pytest.mark.corpus
def test_documents_with_a_body_are_as_many_as_in_the_paper_and_words_nearly(data_dir):
    train, test = perceptrons_paper.collection(perceptrons_paper.FULL)
    assert (train.rows.n_rows, test.rows.n_rows) == (8_762, 3_009)
    assert train.rows.n_columns == pytest.approx(8_754, rel=0.07)
    table = perceptrons_paper.table_2()
    assert max(abs(cell.difference) for cell in table.differences()) < 1.6


@pytest.mark.corpus
def test_a_quick_table_3_and_its_figures_are_the_same_twice(data_dir, tmp_path):
    tables = []
    for _ in range(2):
        for part in (perceptrons_paper.collection, perceptrons_paper.measure):
            part.cache_clear()
        tables.append(perceptrons_paper.table_3(quick=True))
    assert tables[0].ours == tables[1].ours and list(tables[0].ours) == [*perceptrons_paper.METHODS]
    assert min(tables[0].ours[name]["earn"] for name in ("MN", "BLP", "Naïve")) > 90
    recall, precision = (perceptrons_paper.figure_2, perceptrons_paper.figure_3)
    bars = [figure(quick=True).ours["Reuters-21578"]["BLP"].y[0] for figure in (recall, precision)]
    assert 2 / (1 / bars[0] + 1 / bars[1]) == pytest.approx(tables[0].ours["BLP"]["crude"])
    figure = recall(quick=True)
    assert "| Reuters-21578 | crude | earn | grain |" in figure.to_markdown()
    assert figure.plot(tmp_path / "bars.svg").stat().st_size > 1000


@pytest.mark.corpus
def test_boosted_perceptrons_have_nearly_the_published_f1_and_recall(data_dir):
    cells = perceptrons_paper.measure(perceptrons_paper.FULL, "BLP", 0)
    for name, within in (("earn", 1), ("grain", 3), ("crude", 4)):
        published_f1 = perceptrons_paper.F1["BLP"][name]
        assert cells["f1"][name] == pytest.approx(published_f1, abs=within)
    assert cells["recall"]["crude"] > 80
