"""Reproductions: the machinery on toys, the papers' claims on the corpora."""

import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from thresher.errors import MissingExtra, ParameterError
from thresher.evaluation.folds import k_fold
from thresher.experiments.protocols import in_parallel
from thresher.papers import Curve, Difference, Figure, Table, list_papers, reproduce
from thresher.papers import o_zhang_2000 as perceptrons_paper
from thresher.papers._running import (
    Problem,
    f1_percent,
    folds,
    one_category,
)
from thresher.papers.carvalho_cohen_2006 import published
from thresher.papers.carvalho_cohen_2006.curves import checkpoints, learning_curves
from thresher.papers.carvalho_cohen_2006.learners import (
    PROGRAM,
    Variant,
    cross_validate,
    first_met,
    learn_in_order,
    learner,
    scores_of,
)
from thresher.papers.carvalho_cohen_2006.problems import problem
from thresher.papers.carvalho_cohen_2006.selection import (
    errors_by_features,
    feature_numbers,
    figure_7,
)
from thresher.papers.carvalho_cohen_2006.tables import (
    VARIANTS,
    learn_at_once,
    measure,
    summarize,
    table_4,
)
from thresher.rows import Rows

GOLDEN = json.loads((Path(__file__).parent / "golden" / "papers.json").read_text(encoding="utf-8"))


def random_problem(n=120, n_features=30, seed=0):
    """Make examples of a few counted features, whose class hangs on the first few columns."""
    random = np.random.default_rng(seed)
    dense = random.poisson(0.3, (n, n_features)).astype(np.float32)
    lengths = np.count_nonzero(dense, axis=1)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    rows = Rows(indptr, np.nonzero(dense)[1].astype(np.int32), dense[dense != 0], n_features)
    return Problem("toy", rows, dense[:, :4].sum(1) > dense[:, 4:8].sum(1))


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


# ---- the paper of 2006 ------------------------------------------------------------------------


def test_the_published_table_was_copied_right():
    """The medians printed under the table follow from its cells."""
    text = summarize(published.TABLE_4, ("RequestAct", "Webmaster", *published.TEXT), "text")
    printed = (91.1, 82.0, 86.1, 81.8, 73.0, 89.3, 82.3, 87.0, 80.3, 58.8)
    assert list(text["median, text"].values()) == pytest.approx(printed, abs=0.11)
    others = summarize(published.TABLE_4, published.NOT_TEXT, "others")
    printed = (80.2, 79.1, 74.3, 72.0, 68.3, 80.3, 80.3, 83.1, 86.3, 85.8)
    assert list(others["median, others"].values()) == pytest.approx(printed, abs=0.05)


@pytest.mark.parametrize("name", ["MBW", "BW", "PW"])
def test_winnows_have_the_parameters_of_table_3(name):
    winnow = learner(name)
    assert (winnow.promotion, winnow.demotion, winnow.threshold) == (1.5, 0.5, 1.0)
    assert winnow.margin == (1.0 if name == "MBW" else 0.0)
    winnow.start(1, 1)
    winnow.learn_rows(Rows(np.array([0, 0]), np.zeros(0, np.int32), np.zeros(0, np.float32), 1),
                    one_category(np.array([True])))  # fmt: skip
    assert winnow.effective_weights()[0, 0] == 1.0  # 2 - 1 in the balanced ones


class ProgramsWinnow:
    """The averaged Winnows of the program behind the paper, in dictionaries and as they stand.

    A feature is created when it is met, before scoring. The average sums hypotheses, each as often
    as examples were met with it, over the features that it had.
    """

    def __init__(self, kind):
        self.kind, self.up, self.down = kind, {}, {}
        self.summed, self.n_met = {}, 0

    @staticmethod
    def normalized(example):
        total = 1.0 + sum(example.values())
        return {name: value / total for name, value in [*example.items(), ("DUMMY", 1.0)]}

    def net(self):
        return {name: up - self.down.get(name, 0.0) for name, up in self.up.items()}

    def learn(self, example, is_positive):
        example = self.normalized(example)
        for name in example:
            if name not in self.up:
                self.up[name] = 1.0 if self.kind == "PW" else 2.0
                self.down[name] = 0.0 if self.kind == "PW" else 1.0
        weights, sign = self.net(), 1 if is_positive else -1
        score = sum(value * weights[name] for name, value in example.items()) - 1.0
        if sign * score <= (1.0 if self.kind == "MBW" else 0.0):
            for name, value in example.items():
                grow, shrink = 1.5, 0.5
                if self.kind == "MBW":
                    grow, shrink = grow * (1 + value), shrink * (1 - value)
                self.up[name] *= grow if is_positive else shrink
                self.down[name] *= shrink if is_positive else grow
        for name, weight in self.net().items():
            self.summed[name] = self.summed.get(name, 0.0) + weight
        self.n_met += 1

    def score(self, example):
        example = self.normalized({k: v for k, v in example.items() if k in self.up})
        return sum(v * self.summed.get(k, 0.0) / self.n_met for k, v in example.items()) - 1.0


@pytest.mark.parametrize("kind", ["MBW", "BW", "PW"])
@pytest.mark.parametrize("seed", range(4))
def test_averages_are_the_programs(kind, seed):
    data = random_problem(2000, seed=seed)
    # Strengths that are powers of two, so that a score at the very threshold is there for both.
    totals = 1 + np.add.reduceat(data.rows.values, data.rows.indptr[:-1])
    order = np.flatnonzero(np.isin(totals, [4, 8, 16]))[:120]
    rows, test = data.rows.take(order[:80]), data.rows.take(order[80:])
    positive = data.positive[order]
    model = learn_in_order(f"v-{kind}", rows, positive[:80], PROGRAM)
    twin = ProgramsWinnow(kind)

    def example(part, i):
        own = slice(part.indptr[i], part.indptr[i + 1])
        return dict(zip(part.indices[own].tolist(), part.values[own].tolist(), strict=True))

    for i in range(80):
        twin.learn(example(rows, i), positive[i])
    expected = [twin.score(example(test, i)) for i in range(test.n_rows)]
    assert scores_of(model, test, first_met(rows)) == pytest.approx(expected, rel=1e-3, abs=1e-3)


def test_cross_validation_learns_and_depends_only_on_the_seed():
    data = random_problem(400)
    f1 = cross_validate(data, published.LEARNERS, seed=1)
    assert f1 == cross_validate(data, published.LEARNERS, seed=1)
    assert np.mean(f1["v-BW"]) > 70
    assert all(len(values) == 5 for values in f1.values())


def test_a_variant_changes_what_it_names_and_nothing_else():
    data = random_problem(200)
    base = cross_validate(data, published.LEARNERS, seed=0)
    other = cross_validate(data, published.LEARNERS, seed=0, variant=Variant(romma_initial="zero"))
    changed = {name for name in base if base[name] != other[name]}
    assert changed == {"ROMMA", "v-ROMMA"}


@pytest.mark.parametrize("item", ["table-5", "figure-2"])
def test_what_needs_scikit_learn_says_which_extra_before_it_begins(monkeypatch, item):
    monkeypatch.setitem(sys.modules, "sklearn.exceptions", None)
    with pytest.raises(MissingExtra, match=r"need scikit-learn, .* 'thresher\[scikit-learn\]'"):
        reproduce("carvalho-cohen-2006", item)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_solver_that_does_not_converge_gives_the_same_on_any_number_of_threads():
    data = random_problem(400)
    X = data.rows.to_scipy() * 1e4  # far from converged after a thousand rounds
    alone = learn_at_once("SVM", X, data.positive).coef_.tolist()
    together = in_parallel(lambda _: learn_at_once("SVM", X, data.positive), range(8), 4)
    assert all(model.coef_.tolist() == alone for model in together)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_curves_end_where_one_pass_ends():
    data = random_problem(150)
    train, test = next(folds(data.positive, 5, 3))
    rows, positive = data.rows.take(train), data.positive[train]
    measured = [learning_curves(data, 3, mistakes=one_by_one) for one_by_one in (False, True)]
    for name, label in (("MBW", "MBW"), ("v-MBW", "v-MBW"), ("v-P", "v-Perceptron")):
        model = learn_in_order(name, rows, positive, PROGRAM)
        absent = first_met(rows) if name == "v-MBW" else None
        decided = scores_of(model, data.rows.take(test), absent) >= 0
        expected = f1_percent(decided, data.positive[test])
        assert [one.f1[label][-1] for one in measured] == pytest.approx([expected, expected])
    assert measured[1].examples == checkpoints(len(train))
    for counts in measured[1].mistakes.values():
        assert counts == sorted(counts)
        assert 0 < counts[-1] <= len(train)


def test_keeping_all_features_changes_nothing():
    data = random_problem(100)
    curves = errors_by_features(data, 0, (0.7, 1.0), ("IG", "CHI"))
    assert {curve.x[-1] for curve in curves.values()} == {30.0}
    assert len({curve.y[-1] for curve in curves.values()}) == 1


def test_feature_numbers_rise_to_all():
    assert feature_numbers(7) == [7]
    assert feature_numbers(30_000)[:3] == [10, 18, 32]
    assert feature_numbers(30_000)[-1] == 30_000


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


# ---- golden cells -----------------------------------------------------------------------------


def cells_of_curves():
    measured = learning_curves(random_problem(150), 3, mistakes=True)._asdict()
    examples = measured.pop("examples")
    online = ("MBW", "v-MBW", "v-Perceptron")  # the SVM is scikit-learn's
    return {kind: {name: curves[name] for name in online} for kind, curves in measured.items()} | {
        "examples": examples
    }


TOYS = {
    "table 4": lambda: cross_validate(
        random_problem(2000, 60), [*published.LEARNERS, "P", "v-P"], seed=1
    ),
    "variants": lambda: {
        name: cross_validate(random_problem(200), published.LEARNERS, 2, variant)
        for name, variant in VARIANTS.items()
    },
    "curves": cells_of_curves,
    "selection": lambda: errors_by_features(
        random_problem(200, 60), 0, (0.7, 0.9, 1.0), ("IG", "CHI", "IG first", "CHI first")
    ),
}


def assert_golden(name, cells):
    """Compare cells with those written down at commit f2e50d1, to the last bit.

    Cells are ratios of counts, so that they are the same wherever the decisions are.
    """
    assert json.loads(json.dumps(cells)) == GOLDEN[name]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", TOYS)
def test_cells_of_toys_are_golden(name):
    assert_golden(f"toy, {name}", TOYS[name]())


# ---- the claims, on the corpora ---------------------------------------------------------------


@pytest.mark.corpus
def test_data_sets_have_the_sizes_of_the_paper(data_dir):
    sizes = {
        "Reuters": (11_367, 30_156),
        "MovieReviews": (1_400, 34_944),
        "Ads": (3_279, 1_558),
        "Adult": (30_162, 104),
        "Congress": (435, 16),
        "Credit": (653, 46),
        "Wisc": (683, 89),
    }
    for name, (n_examples, n_features) in sizes.items():
        data = problem(name)
        assert (len(data), data.rows.n_columns) == (n_examples, n_features), name


@pytest.mark.corpus
def test_averaged_learners_have_the_published_f1_where_the_data_are_the_same(data_dir):
    """Averages hardly depend on the order of the examples, so that they can be held to it."""
    sets = ("Adult", "Congress", "Wisc", "Nursery")
    measured = measure(sets, published.LEARNERS[5:], seed=0, runs=3)
    for name in sets:
        for one in published.LEARNERS[5:]:
            ours = np.mean([run[one] for run in measured[name]])
            assert ours == pytest.approx(published.TABLE_4[name][one], abs=3), (name, one)


@pytest.mark.corpus
def test_mbw_has_the_best_median_on_text(data_dir):
    measured = measure(("Spam", "MovieReviews", "Ads"), published.LEARNERS, seed=0, runs=2)
    means = {
        name: {one: np.mean([run[one] for run in runs]) for one in runs[0]}
        for name, runs in measured.items()
    }
    medians = summarize(means, tuple(means), "text")["median, text"]
    assert max(medians, key=medians.get) == "MBW"
    assert means["Ads"]["MBW"] == pytest.approx(81.3, abs=3)
    assert means["MovieReviews"]["MBW"] == pytest.approx(75.1, abs=3)


@pytest.mark.corpus
def test_a_quick_table_4_is_a_part_of_it(data_dir):
    table = table_4(quick=True)
    assert set(table.ours) >= {"MovieReviews", "Ads", "Congress", "Wisc", "median, text"}
    assert table.marks["Ads"]["ROMMA"] == "\\*\\*"
    assert_golden("table 4, quick", {"ours": table.ours, "marks": table.marks})


@pytest.mark.corpus
def test_a_few_of_the_lightest_features_help(data_dir):
    curves = figure_7(quick=True).ours["MovieReviews"]
    assert_golden("figure 7, quick", curves)
    many = [i for i, n in enumerate(curves["EFS, P = 1"].x) if 1_000 <= n <= 20_000]
    errors = {name: np.mean([curve.y[i] for i in many]) for name, curve in curves.items()}
    assert errors["EFS, P = 0.9"] < errors["EFS, P = 1"] - 1
