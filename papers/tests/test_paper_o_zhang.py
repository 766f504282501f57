"""O and Zhang (2000): their documents, their algorithm line by line, and every item quickly."""

import numpy as np
import pytest

from naive.perceptrons import boost
from thresher_papers import Curve, Figure, Run, Store, Table
from thresher_papers.o_zhang_2000 import PAPER, claims, experiments, tables
from thresher_papers.o_zhang_2000.experiments import CATEGORIES, FULL, METHODS, QUICK


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return Run(quick=True, store=Store(tmp_path_factory.mktemp("cells")))


# ---- what is printed -----------------------------------------------------------------------------


def test_published_precision_on_crude_follows_from_f1_and_recall():
    recalls = tables.RECALL_ON_CRUDE
    assert recalls["BLP"] - recalls["MN"] == pytest.approx(37.2)
    assert pytest.approx({"MN": 93.2, "BLP": 92.9}, abs=0.05) == tables.PRECISION_ON_CRUDE


def test_all_six_tables_and_figures_are_there():
    assert list(PAPER.published) == [
        f"{kind}-{n}" for kind in ("table", "figure") for n in (1, 2, 3)
    ]
    assert {item for claim in PAPER.claims for item in claim.items} <= set(PAPER.items)
    assert len(PAPER.liberties) > 5


# ---- the algorithm -------------------------------------------------------------------------------


def test_the_roulette_wheel_stops_as_often_as_its_shares_say():
    chances = np.linspace(0, 1, 1000, endpoint=False)
    stops = [experiments.spin([0.5, 0.125, 0.375], chance) for chance in chances]
    assert np.bincount(stops).tolist() == [500, 125, 375]


def test_figure_1_is_the_naive_twin():
    random = np.random.default_rng(0)
    x = random.random((40, 3)).tolist()
    y = [1 if a + b > c + random.normal(0, 0.5) else -1 for a, b, c in x]
    rounds = experiments.figure_1(x, y, 4, np.random.default_rng(1))
    units, alphas = boost(x, y, np.ones(40), 4, np.random.default_rng(1))
    assert len(units) == len(rounds) == 4
    for unit, alpha, own in zip(units, alphas, rounds, strict=True):
        np.testing.assert_allclose(own["unit"], unit, rtol=1e-9)
        assert own["α"] == pytest.approx(alpha)
        assert own["Z"] == pytest.approx(2 * np.sqrt(own["ε"] * (1 - own["ε"])))


# ---- documents and decisions ---------------------------------------------------------------------


@pytest.mark.corpus
def test_documents_with_a_body_are_as_many_as_in_the_paper_and_words_nearly(data_dir, run):
    size = experiments.size(FULL)
    assert (size["training"], size["test"]) == (8_762, 3_009)
    assert size["stems"] == pytest.approx(8_754, rel=0.07)
    assert tables.table_2(run).agreement() == (5, 0, 1)


@pytest.mark.corpus
@pytest.mark.parametrize("item", PAPER.items)
def test_every_item_runs_quickly_and_reads_the_same_from_kept_cells(data_dir, run, item, tmp_path):
    result = PAPER.items[item].run(run)
    assert result.to_markdown() == PAPER.items[item].run(run).to_markdown()
    assert result.item == item and result.notes
    if result.has_picture:
        assert result.plot(tmp_path / "picture.svg").stat().st_size > 1000


@pytest.mark.corpus
def test_cells_depend_on_their_seed_alone(data_dir):
    first, second = (experiments.decided("BLP", QUICK, 3) for _ in range(2))
    assert first == second != experiments.decided("BLP", QUICK, 4)


@pytest.mark.corpus
def test_recall_precision_and_f1_follow_from_the_counts(data_dir, run):
    cells, _ = tables.outcomes(run, *METHODS)
    assert list(cells) == list(METHODS)
    for own in cells.values():
        for name in CATEGORIES:
            a, b, c, d = (own[f"{letter} {name}"] for letter in "abcd")
            assert a + b + c + d == QUICK.n_test
            assert own[f"recall {name}"] == pytest.approx(100 * a / (a + c))
            assert own[f"precision {name}"] == pytest.approx(100 * a / max(1, a + b))
            assert own[f"f1 {name}"] == pytest.approx(200 * a / max(1, 2 * a + b + c))
    assert min(cells[name]["f1 earn"] for name in ("BLP", "Naïve", "MN, a step a document")) > 90


@pytest.mark.corpus
def test_the_librarys_units_are_those_of_figure_1(data_dir, run):
    for row in tables.figure_1(run).reproduced.values():
        for name in ("ε", "α", "Z", "α / Σα"):
            assert row[f"{name}, library"] == pytest.approx(row[name], abs=1e-5)


@pytest.mark.corpus
def test_boosting_with_a_step_a_document_has_nearly_the_published_f1_and_recall(data_dir):
    cells = experiments.decided("BLP, a step a document, votes are outputs", FULL, 0)
    for name, within in (("earn", 1), ("grain", 3), ("crude", 4)):
        assert cells[f"f1 {name}"] == pytest.approx(tables.F1["BLP"][name], abs=within)
    assert cells["recall crude"] > 80


# ---- claims --------------------------------------------------------------------------------------


def bars(**curves):
    """Return a figure of bars for crude, earn and grain."""
    shown = {name: Curve((0, 1, 2), values) for name, values in curves.items()}
    names = ("crude", "earn", "grain")
    return Figure("a", "figure-2", "recall", {}, {"Reuters-21578": shown}, bars=names)


def test_the_papers_own_figures_bear_out_what_it_says():
    published = Table("a", "table-3", "F1", {}, tables.F1)
    other = {"recall crude": 80.0, "precision crude": 90.0, "F1 crude": 80.0, "F1 grain": 80.0}
    readings = Table("a", "readings", "F1", {}, {
        **{f"{name}, a step a document": other for name in ("MN", "BLP")},
        "Naïve, tf-idf of length one": other,
    })  # fmt: skip
    recall = bars(MN=(43.6, 97.0, 75.0), BLP=(80.8, 98.0, 80.0))
    assert claims.recall_on_crude(recall, readings).holds
    assert claims.superior_in_recall(recall).holds
    assert claims.balance_decides(recall).holds
    assert claims.precision_comparable(bars(MN=(93.2, 98, 90), BLP=(92.9, 97, 91)), readings).holds
    assert claims.like_naive_bayes(published, readings).holds
    assert claims.superior_to_both(published, recall, readings).holds
    assert claims.earn_alike(published).holds


def test_claims_fail_with_their_reason():
    other = {"recall crude": 80.0, "precision crude": 90.0}
    readings = Table("a", "readings", "F1", {}, {
        f"{name}, a step a document": other for name in ("MN", "BLP")
    })  # fmt: skip
    far = claims.precision_comparable(bars(MN=(97, 98, 90), BLP=(85, 97, 91)), readings)
    assert not far.holds and "crude" in far.why and "90.0" in far.why
    lower = claims.superior_in_recall(bars(MN=(43.6, 99.0, 75.0), BLP=(80.8, 98.0, 80.0)))
    assert not lower.holds and "earn" in lower.why
