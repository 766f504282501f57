"""Dagan, Karov and Roth 1997, and our own table: measures on toys, claims on the corpus."""

import json
from pathlib import Path

import numpy as np
import pytest

from thresher.examples import Examples
from thresher.learners import NaiveBayes
from thresher.learners.online import BalancedWinnow
from thresher.rows import Labels, Rows
from thresher_papers import Run, Table, check_corpora, learner_table
from thresher_papers._running import Documents, Task, numbered, one_category
from thresher_papers.dagan_karov_roth_1997 import PAPER, contenders, explanations
from thresher_papers.dagan_karov_roth_1997.contenders import SPLITS, Contender, measured, rehearsed
from thresher_papers.dagan_karov_roth_1997.documents import TRIGRAMS, WORDS, Setting, draw
from thresher_papers.dagan_karov_roth_1997.extensions import (
    VERSIONS,
    break_even,
    learn_and_score,
    make_learner,
    measure,
    weighed,
)
from thresher_papers.dagan_karov_roth_1997.published import TABLE_1, TABLE_2
from thresher_papers.dagan_karov_roth_1997.tables import (
    BY_STRENGTH,
    PLUS,
    RATES,
    RIVALS,
    choose,
    described,
    experts,
    grid,
    measure_chosen,
    plus,
    row_of_table_1,
    step,
)

FIRST_FEATURES = "lemmas of nouns and verbs, three occurrences"
GOLDEN = json.loads((Path(__file__).parent / "golden" / "papers.json").read_text(encoding="utf-8"))
QUICK = Run(quick=True, store=None)


def random_documents(n=60, seed=0, n_features=30):
    """Make counts of a few features."""
    random = np.random.default_rng(seed)
    dense = random.poisson(0.3, (n, n_features)).astype(np.float32)
    indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(dense, axis=1))])
    rows = Rows(indptr, np.nonzero(dense)[1].astype(np.int32), dense[dense != 0], n_features)
    return rows, dense


def small_documents(n=60, seed=0):
    """Make documents of one category, which hangs on the first few columns."""
    rows, dense = random_documents(n, seed)
    return Documents(rows, one_category(dense[:, :4].sum(1) > dense[:, 4:8].sum(1)))


def several_categories(n, seed=0):
    """Make documents of three categories that may overlap, each hanging on eight columns."""
    rows, dense = random_documents(n, seed)
    belongs = [dense[:, i : i + 4].sum(1) > dense[:, i + 4 : i + 8].sum(1) for i in (0, 8, 16)]
    lists = [np.flatnonzero(own).tolist() for own in np.transpose(belongs)]
    return Documents(rows, Labels.from_lists(lists, 3))


def toy_task(n=300):
    return Task(several_categories(n), several_categories(200, seed=1))


@pytest.fixture
def toy_splits(monkeypatch):
    """Let both splits of the collection be the toy."""
    monkeypatch.setattr(contenders, "counted_split", lambda *key: toy_task())


def assert_golden(name, cells):
    """Compare cells with those written down, to the last bit.

    Cells are ratios of counts, so that they are the same wherever the decisions are.
    """
    assert json.loads(json.dumps(cells)) == GOLDEN[name]


# ---- table 1 on toys --------------------------------------------------------------------------


def test_a_rehearsal_holds_out_the_last_quarter_of_the_training_documents():
    task = Task(small_documents(), small_documents(seed=1)).rehearsal()
    assert (task.train.rows.n_rows, task.test.rows.n_rows) == (45, 15)
    whole = small_documents().rows
    assert task.test.rows.values.tolist() == whole.values[whole.indptr[45] :].tolist()


@pytest.mark.parametrize("algorithm", RATES)
def test_what_is_discarded_leaves_the_documents(algorithm):
    documents = small_documents()
    model = make_learner(algorithm, VERSIONS["Discard"], 1.1, 5.0)
    scores = learn_and_score(model, documents, documents.rows, d=5.0)
    assert scores.shape == (60, 1)
    assert 0 < model.effective_weights().shape[0] < 30
    assert len(model.mistakes_) <= 50
    masked = make_learner(algorithm, VERSIONS["Discard"], 1.1, 5.0)
    masked_scores = learn_and_score(masked, documents, documents.rows, d=5.0, masks=True)
    assert masked.effective_weights().shape[0] == 30 > masked.live_features().sum()
    # Where no strength is normalised, it does not matter what is done with discarded features.
    assert np.allclose(scores, masked_scores) == (algorithm != "PositiveWinnow")


def test_passes_end_when_no_mistakes_remain():
    rows = Rows(np.arange(5), np.array([0, 1, 0, 1], np.int32), np.ones(4, np.float32), 2)
    model = BalancedWinnow(promotion=1.5)
    learn_and_score(model, Documents(rows, one_category(np.array([1, 0, 1, 0], bool))), rows, d=1.0)
    assert model.mistakes_[-1] == 0
    assert len(model.mistakes_) < 50


@pytest.mark.parametrize("column, is_same", [("Discard", True), ("Sqrt. freq.", False)])
def test_normalised_strengths_are_of_what_was_kept(column, is_same):
    """A word that was never learned from is discarded, and then it dilutes no document."""
    documents = small_documents()
    rows, labels = documents.rows._replace(n_columns=31), documents.labels
    new_word = Rows(np.arange(61), np.full(60, 30, np.int32), np.ones(60, np.float32), 31)
    indices = np.insert(rows.indices, rows.indptr[1:], new_word.indices)
    values = np.insert(rows.values, rows.indptr[1:], new_word.values)
    longer = Rows(rows.indptr + np.arange(61), indices, values, 31)
    scores = [
        learn_and_score(
            make_learner("PositiveWinnow", VERSIONS[column], 1.1, 5.0),
            Documents(rows, labels),
            test,
            d=5.0,
        )
        for test in (rows, longer)
    ]
    assert np.allclose(*scores) == is_same


def test_the_perceptron_is_as_printed_and_ours_stands_beside_it():
    printed, reproduced = (
        make_learner(name, VERSIONS["Basic"], 1.0) for name in RATES if "Per" in name
    )
    assert (printed.step, reproduced.step) == ("presence", "strength")
    # Where all strengths are one they are the same.
    documents = small_documents()
    ones = documents.rows._replace(values=np.ones_like(documents.rows.values))
    scores = [
        learn_and_score(one, Documents(ones, documents.labels), ones, d=5.0)
        for one in (printed, reproduced)
    ]
    np.testing.assert_array_equal(*scores)


def test_demotion_is_the_inverse_of_promotion_or_a_power_of_it():
    learner = make_learner("BalancedWinnow", VERSIONS["Basic"], 1.25)
    assert learner.demotion == 1 / 1.25
    learner = make_learner("PositiveWinnow", VERSIONS["Basic"], 1.25, demotion_power=2.0)
    assert learner.demotion == pytest.approx(1 / 1.25**2)


def test_positives_of_categories_without_training_count_as_lost():
    labels = numbered([["a"], ["new"]], ["a", "new"])
    assert break_even(np.array([[1.0], [0.0]]), labels) == 50.0


def test_scores_are_sums_of_strengths_times_weights():
    rows, dense = random_documents()
    weights = np.random.default_rng(1).normal(size=(30, 2)).astype(np.float32)
    np.testing.assert_allclose(weighed(rows, weights), dense @ weights, rtol=1e-5, atol=1e-5)


def cells_of_table_1():
    train, test = small_documents(600), small_documents(900, seed=1)
    rates = {"BalancedWinnow": 1.1, "PositiveWinnow": 1.1, "Perceptron": 0.3, BY_STRENGTH: 0.3}
    return {
        algorithm: {
            name: break_even(
                learn_and_score(make_learner(algorithm, version, rate, 8.0), train, test.rows, 8.0),
                test.labels,
            )
            for name, version in VERSIONS.items()
        }
        for algorithm, rate in rates.items()
    }


# ---- table 2 on toys --------------------------------------------------------------------------


def cells_of_table_2(task, passes):
    return {
        average or "last": [
            break_even(scores, task.test.labels)
            for scores in plus(1.1, passes=passes, average=average).scores(task, seed=0).values()
        ]
        for average in (None, "examples")
    }


@pytest.mark.parametrize(
    "name, cells",
    [
        ("toy, table 1", cells_of_table_1),
        ("toy, table 2", lambda: cells_of_table_2(toy_task(), (1, 3, 8))),
    ],
)
def test_cells_of_toys_are_golden(name, cells):
    assert_golden(name, cells())


def test_a_contender_is_chosen_on_held_out_training_documents(toy_splits):
    # The last quarter is as the test documents are: only a prior that counts nothing fails there.
    flat, usual = (Contender("naive-bayes", (("smoothing", one),)) for one in (1e6, 1.0))
    best = choose(QUICK, {"Bayes": [flat, usual]})
    assert [contender for contender, _ in best["Bayes"].values()] == [usual, usual]
    reproduced, spread = measure_chosen(QUICK, best, 3)
    expected = NaiveBayes().fit_rows(Examples.of(*toy_task().train))
    point = break_even(expected.score_rows(toy_task().test.rows), toy_task().test.labels)
    assert reproduced["Bayes"]["Apte's split"] == reproduced["Bayes"]["Lewis's split"] == point
    assert "Bayes" not in spread  # chance plays no part


def test_passes_are_chosen_too_and_the_fewest_of_equals(toy_splits):
    point, minus_passes = rehearsed(plus(1.1, passes=(1, 8, 9)), "modapte", 0)
    cells = measured((plus(1.1, passes=(1, 8)), None), 0)
    assert minus_passes in (-8, -9) and point > 85
    assert cells["Apte's split, 8 passes"] > cells["Apte's split, 1 passes"]
    assert not any("Lewis" in column for column in cells)
    (chosen, _), _ = choose(QUICK, {"row": grid(passes=(1, 8), promotions=(1.1,))})["row"].values()
    assert chosen.passes == (8,)
    assert described(chosen) == "promotion 1.1, margin 0.1, 8 passes"


def test_features_are_selected_for_each_category_by_itself(toy_splits):
    params = (("event_model", "bernoulli"),)
    every, few = (
        Contender("naive-bayes", params, strength="binary", n_selected=n) for n in (30, 8)
    )
    whole = Contender("naive-bayes", params, strength="binary")
    task = whole.task("modapte")
    np.testing.assert_allclose(
        every.scores(task, 0)[0], whole.scores(task, 0)[0], rtol=1e-4, atol=1e-4
    )
    assert measured((few, None), 0)["Apte's split"] > measured((whole, None), 0)["Apte's split"] - 1


def test_documents_in_the_order_of_time_know_no_seed(toy_splits):
    in_time = Contender("sleeping-experts", explanations.IN_TIME)
    assert measured((in_time, in_time), 0) == measured((in_time, in_time), 1)
    shuffled = Contender("sleeping-experts", passes=(1,))
    assert measured((shuffled, shuffled), 0) != measured((shuffled, shuffled), 1)


def test_the_rivals_of_table_2_are_those_that_the_paper_lists():
    assert {*TABLE_2} - {*RIVALS} == {"BalancedWinnow+", "Ripper", "SWAP"}
    lemmas = {name for name in RIVALS if name.endswith(", lemmas")}
    assert {*RIVALS} - {*TABLE_2} == lemmas | {"Majority class"}
    published = {name.partition(":")[0] for name in explanations.TRIED}
    assert published == {*TABLE_2} & {*RIVALS}
    for rival in published:  # each has three experiments at least
        assert sum(name.startswith(f"{rival}:") for name in explanations.TRIED) >= 3


# ---- claims -----------------------------------------------------------------------------------


def full_results():
    """Return results of the shape of full runs; those of table 1 and of trigrams are published."""
    table_2 = {row: dict.fromkeys(SPLITS, 70.0) for row in [*PLUS, *RIVALS]}
    table_2 |= {row: TABLE_2[row] for row in ("BalancedWinnow+", "Experts, sparse trigrams")}
    rows = {
        "table-1": {**TABLE_1, BY_STRENGTH: TABLE_1["Perceptron"]},
        "table-2": table_2,
    }
    share = {explanations.DISCARDED: 66.0}
    rows["table-1-rates"] = {
        f"{name}, {rate:g}": cells | share
        for name, cells in TABLE_1.items()
        for rate in RATES[name]
    }
    rows["table-1-settings"] = {
        f"{name}, {setting}": cells | share
        for name, cells in TABLE_1.items()
        for setting in explanations.SETTINGS
    }
    kinds = ("as learned", explanations.CUT, explanations.LENGTH, "weights below zero, %")
    rows["negative-weights"] = {"Discard": dict(zip(kinds, (73.0, 60.0, 72.0, 30.0), strict=True))}
    rows["table-2-rivals"] = {name: dict.fromkeys(SPLITS, 70.0) for name in explanations.TRIED}
    rows["table-2-features"] = {
        name: dict.fromkeys(SPLITS, point)
        for name, point in ((FIRST_FEATURES, 75.0), ("all words", 74.0), (TRIGRAMS, 76.0))
    }
    spread = {"BalancedWinnow": {"Sqrt. freq.": 7.0}}
    return {
        name: Table("x", name, "t", {}, reproduced, spread=spread)
        for name, reproduced in rows.items()
    }


def findings_of(results):
    return {
        claim.text: claim.check(*(results[item] for item in claim.items)) for claim in PAPER.claims
    }


def test_claims_hold_of_the_published_figures_but_for_the_range():
    """The text says that the range improves; the printed Perceptron loses by it."""
    findings = findings_of(full_results())
    assert all(any(one.isdigit() for one in finding.figures) for finding in findings.values())
    failed = {text: finding.why for text, finding in findings.items() if not finding.holds}
    assert [*failed] == ["The threshold range improves the results."]
    assert "-2.9 at 0.1" in next(iter(failed.values()))


def test_claims_fail_with_a_reason_where_all_are_equal():
    results = full_results()
    for table in results.values():
        table.reproduced = {
            row: dict.fromkeys(cells, 60.0) for row, cells in table.reproduced.items()
        }
    findings = findings_of(results)
    held = [text.partition(" ")[0] for text, finding in findings.items() if finding.holds]
    # Of these nothing is asked but that not much is lost, or that shares are near two thirds.
    assert held == ["Truly", "About", "Rocchio", "All"]
    for text in ("It is better than", "Experts with", "(Table 1) In Balanced", "The threshold"):
        assert any(finding.why for claim, finding in findings.items() if claim.startswith(text))


def test_a_step_is_what_a_column_brings():
    assert step(TABLE_1["PositiveWinnow"], "Norm") == pytest.approx(8.0)
    assert step(TABLE_1["PositiveWinnow"], "θ-range") == pytest.approx(2.24)
    assert step(TABLE_1["BalancedWinnow"], "Linear freq.") == pytest.approx(2.45)
    assert step(TABLE_1["BalancedWinnow"], "Discard") == pytest.approx(1.64)


def test_every_item_says_what_it_needs():
    assert [*PAPER.items][:2] == ["table-1", "table-2"]
    for item in PAPER.items.values():
        assert item.corpora
    assert "Ripper" in PAPER.items["table-2"].lacks
    learners = learner_table.PAPER.items["learners"]
    assert learners.is_additional and learners.corpora


# ---- on the corpus ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.corpus
@pytest.mark.parametrize("name", [*PAPER.items])
def test_every_item_runs_in_its_quick_form(name, data_dir, tmp_path):
    item = PAPER.items[name]
    check_corpora([item])
    result = item.run(QUICK)
    assert (result.paper, result.item) == (PAPER.name, name)
    assert result.notes and all(result.reproduced.values())
    if name == "table-1":
        rows = result.reproduced
        assert all(cells["Discard"] > cells["Basic"] for cells in rows.values())
        assert all(cells["Sqrt. freq."] > cells["Basic"] for cells in rows.values())
        assert rows["PositiveWinnow"]["Norm"] > rows["PositiveWinnow"]["Basic"] + 5
        assert_golden("table 1, quick", rows)
    if name == "table-2":
        assert result.plot(tmp_path / "table.svg").stat().st_size > 1000
        chosen = result.reproduced["BalancedWinnow+, range chosen"]
        assert all(chosen[one] > result.reproduced["BalancedWinnow+"][one] for one in SPLITS)


@pytest.mark.corpus
@pytest.mark.parametrize(
    "column, margin, promotion, passes, least",
    [
        ("Apte's split", 0.1, 1.1, 16, 83.3),
        # Below the published 74.7 by half a point, well within the tolerance of three.
        ("Lewis's split", 0.1, 1.2, 16, 73.7),
        ("Apte's split", 1.0, 1.05, 12, 87.0),
        ("Lewis's split", 0.7, 1.05, 8, 76.0),
    ],
)
def test_balanced_winnow_plus_has_the_published_break_even(
    data_dir, column, margin, promotion, passes, least
):
    """With parameters that the full grid chooses on held-out training documents."""
    contender = plus(promotion, margin, (passes,))
    points = measured(tuple(contender if one == column else None for one in SPLITS), 0)
    assert points[column] >= least
    if margin == 0.1:
        assert points[column] == pytest.approx(TABLE_2["BalancedWinnow+"][column], abs=1.5)


@pytest.mark.corpus
def test_sparse_trigrams_help_sleeping_experts(data_dir):
    """On training documents, with the usual penalty."""
    points = {
        features: rehearsed(experts(features)[0]._replace(passes=(1,)), "modapte", 0)[0]
        for features in (WORDS, TRIGRAMS)
    }
    assert points[TRIGRAMS] > points[WORDS] + 3


@pytest.mark.corpus
def test_a_wider_range_is_chosen_on_training_documents(data_dir):
    grids = {"row": grid((0.1, 1.0), promotions=(1.05,), passes=(8, 12))}
    contender, _ = choose(QUICK, grids)["row"]["Apte's split"]
    assert dict(contender.params)["margin"] == 1.0


@pytest.mark.corpus
def test_draws_are_of_the_categories_that_are_asked_for(data_dir):
    pairs = draw(Setting(), 0)
    assert [(one.train.rows.n_rows, one.test.rows.n_rows) for one in pairs] == [(2000, 1000)] * 2
    frequent, rarer = (
        sum(len(one.train.labels.indices) for one in draw(Setting(ranks=ranks), 0))
        for ranks in ((0, 10), (10, 20))
    )
    assert frequent > 5 * rarer
    (every, _), (few, _) = draw(Setting(cut=1), 0), draw(Setting(cut=10), 0)
    assert every.train.rows.n_columns > 3 * few.train.rows.n_columns
    (everywhere, _) = draw(Setting(cuts_in_all=True), 0)
    assert everywhere.train.rows.n_columns > pairs[0].train.rows.n_columns


@pytest.mark.corpus
def test_a_row_of_table_1_does_not_depend_on_what_is_beside_it(data_dir):
    algorithm, _, columns, setting = row_of_table_1("BalancedWinnow", (1.2,))
    row = measure(algorithm, (1.2,), columns, setting, 0)
    alone = measure(algorithm, (1.2,), columns[-1:], setting, 0)
    assert {name: row[name] for name in alone} == alone
    assert 50 < row["discarded"] < 80


@pytest.mark.corpus
def test_few_passes_over_the_whole_collection_are_golden(data_dir):
    task = plus(1.1).task("modapte")
    assert_golden("table 2, a part", cells_of_table_2(task, (1, 6)))


@pytest.mark.corpus
def test_one_pass_of_passive_aggressive_is_near_a_batch_learner(data_dir):
    rows = learner_table.learner_table(QUICK).reproduced
    assert rows["passive-aggressive"]["break-even, 1 pass"] > 87.5
    assert_golden("learners, quick", rows)
