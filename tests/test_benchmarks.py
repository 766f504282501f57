"""The arithmetic of the benchmarks, and that all contenders appear in the results."""

import dataclasses
import io
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.metrics import f1_score

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import learners, unlabelled
from benchmarks.peers import __main__ as runner
from benchmarks.peers import chart, child, data, report
from benchmarks.peers.case import Case, break_even, f1, indicator
from benchmarks.peers.contenders import LIBRARIES, contenders, river
from benchmarks.peers.jobs import FIGURES, JOBS, variants
from benchmarks.quality import cell as quality_cell
from benchmarks.quality import fit_times, running
from benchmarks.quality.contender import Contender
from benchmarks.quality.contenders import CONTENDERS, find, ours, scikit_learn
from benchmarks.quality.corpora import TASKS, Task
from benchmarks.quality.running import Cell, run_cell
from benchmarks.quality.table import Tables, compare, verdict

from thresher import LEARNERS


def result(contender, seconds=None, *, job="train", variant="", threads=1, **more):
    """Return the result of a contender, or that it is missing."""
    place = {"job": job, "variant": variant, "contender": contender, "threads": threads}
    return place | ({"figures": {"seconds": seconds}} if seconds else {}) | more


RESULTS = [
    result("Thresher", 0.5),
    result("Thresher", 0.25, threads=2),
    result("Thresher, passive-aggressive", 0.4),
    result("LIBLINEAR", 3.0),
    result("LIBLINEAR", 2.0, threads=2),
    result("fastText, 5 epochs", missing="not installed (No module named 'fasttext')"),
    result("Thresher", 0.1, job="predict"),
    result("LIBLINEAR", 0.2, job="predict"),
]


@pytest.fixture
def small(tmp_path):
    """Write a corpus small enough for a test."""
    wheat = [("wheat and corn prices", ["grain"]), ("corn harvest of wheat", ["grain"])]
    gold = [("gold ounce price", ["gold"]), ("gold and silver mine", ["gold", "silver"])]
    files = tmp_path / "files"
    files.mkdir()
    data.write(files / "train-x1.jsonl", (wheat + gold + [("nothing of the kind", [])]) * 4)
    data.write(files / "test.jsonl", [*wheat, *gold])
    return Case(files, tmp_path / "own", repeat=2)


def task(case, job, contender, **more):
    """Return the arguments of a benchmark process."""
    where = {"files": str(case.files), "folder": str(case.folder)}
    plan = {"job": job, "contender": contender, "variant": "", "threads": 1, "repeat": 1}
    return plan | where | more


@pytest.mark.parametrize(
    ("number", "expected"), [(0, 1.0), (1, 1.0), (2, 0.8), (3, 6.0), (4, 8.0), (5, None), (7, 2.0)]
)
def test_ratio_is_to_thresher_in_the_same_job_with_the_same_threads(number, expected):
    assert report.ratio(RESULTS[number], RESULTS) == expected


def test_speed_up_is_to_one_thread_of_the_same_contender():
    faster = [report.speed_up(item, RESULTS) for item in RESULTS]
    assert faster == [None, 2.0, None, None, 1.5, None, None, None]
    assert report.speed_up(RESULTS[1], RESULTS[1:]) is None
    _, header, _, _ = list(report.tables(RESULTS))[1]  # without results for two threads
    assert header == ["contender", "threads", "ratio", "seconds"]


def test_ratio_is_to_the_first_of_ours_even_if_it_is_missing():
    results = [result("Thresher", missing="broke"), result("Thresher, b", 1.0), result("Z", 2.0)]
    assert report.ratio(results[2], results) is None


def test_a_job_with_a_rival_has_ratios_to_it_too():
    figures = {"Thresher": 40.0, "Thresher, fast": 12.0, "fastText, 5 epochs": 16.0}
    results = [
        result(name, job="document", figures={"median_us": item}) for name, item in figures.items()
    ]
    _, header, rows, _ = next(report.tables(results))
    assert header == ["contender", "threads", "ratio", "to fastText", "median µs"]
    assert rows[1] == ["Thresher, fast", "1", "0.30 ×", "0.75 ×", "12.0"]


def test_missing_contender_is_in_the_table_with_the_reason():
    title, header, rows, missing = next(report.tables(RESULTS))
    assert title == "Raw JSON lines to saved model"
    assert header == ["contender", "threads", "speed-up", "ratio", "seconds"]
    assert rows[3] == ["LIBLINEAR", "1", "", "6.00 ×", "3.000"]
    assert rows[5] == ["fastText, 5 epochs", "1", "", "missing", ""]
    assert missing == ["fastText, 5 epochs is missing: not installed (No module named 'fasttext')."]


def test_tables_are_printed_and_written_alike():
    printed = io.StringIO()
    with redirect_stdout(printed):
        report.show(RESULTS)
    for text in (printed.getvalue(), report.markdown(RESULTS)):
        assert "6.00 ×" in text
        assert "No module named 'fasttext'" in text
        assert "Raw JSON lines to written predictions" in text


def test_library_that_is_not_installed_is_said_to_be_missing(small, monkeypatch):
    monkeypatch.setattr(river, "NEEDS", ("no_such_library",))
    answer = child.do(task(small, "startup", "river"))
    assert answer == {"missing": "not installed (No module named 'no_such_library')"}


def test_failure_is_said_in_one_line(small):
    (small.files / "train-x1.jsonl").unlink()
    answer = child.do(task(small, "train", "Thresher"))
    assert "train-x1.jsonl" in answer["missing"]
    assert "\n" not in answer["missing"]


def test_process_that_dies_is_said_to_be_missing(small, tmp_path):
    answer = runner.run(task(small, "train", "Nobody"), small.files, tmp_path / "models")
    assert answer["missing"].startswith("ended with status 1: LookupError: Nobody called 'Nobody'")


def test_process_of_its_own_reports_its_figures(small, tmp_path):
    answer = runner.run(task(small, "train", "Thresher"), small.files, tmp_path / "models")
    figures = answer["figures"]
    assert 0 < figures["seconds"] <= figures["first"]
    assert figures["model_mb"] * 1e6 == (tmp_path / "models/thresher/model.thresher").stat().st_size
    assert figures["memory_mb"] > 10
    assert 0 < figures["micro_f1"] <= 100


def test_ours_and_scikit_learn_write_predictions(small):
    for name in ("Thresher", "scikit-learn, LinearSVC"):
        answer = child.do(task(small, "predict", name))
        assert set(answer) == {"figures"}, answer
        assert small.output.read_text().splitlines()[:3] == ["grain", "grain", "gold"]


def test_where_documents_have_one_category_its_whole_name_is_written(small):
    data.write(small.files / "train-x1.jsonl", [("wheat", ["grain"]), ("gold", ["metal"])])
    assert set(child.do(task(small, "predict", "Thresher"))) == {"figures"}
    assert small.output.read_text().splitlines() == ["grain", "grain", "metal", "metal"]


def test_f1_is_that_of_scikit_learn():
    random = np.random.default_rng(0)
    truth, decisions = random.random((2, 50, 7)) < 0.3
    averages = f1(truth, decisions)
    for average in ("micro", "macro"):
        expected = 100 * f1_score(truth, decisions, average=average)
        assert averages[f"{average}_f1"] == pytest.approx(expected)


def test_break_even_gives_each_category_as_many_as_it_has():
    truth = np.array([[1, 0], [1, 1], [0, 0], [0, 1]], bool)
    scores = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.2], [0.1, 0.7]])
    assert break_even(truth, scores) == 75.0  # one of two, and both


def test_quality_counts_a_category_that_was_never_learned(small):
    decided = [["grain"], ["grain"], ["gold"], ["gold"]]
    figures = small.quality(["gold", "grain"], decided, np.zeros((4, 2)))
    assert figures["micro_f1"] == pytest.approx(100 * 8 / 9)
    assert figures["macro_f1"] == pytest.approx(100 * 2 / 3)


def test_indicator_leaves_out_unknown_names():
    assert indicator([["b", "x"], []], {"a": 0, "b": 1}).tolist() == [[0, 1], [0, 0]]


def test_clock_takes_the_best_and_keeps_the_first(small):
    runs = []
    figures = small.best(lambda: runs.append(1))
    assert len(runs) == 2
    assert figures["seconds"] <= figures["first"]


def test_every_job_has_thresher_first_and_a_rival():
    for job in JOBS:
        for variant in variants(job, ["Reuters"], [1, 4]):
            names = [contender.name for contender in contenders(job, variant)]
            assert names[0].startswith("Thresher")
            assert any(not name.startswith("Thresher") for name in names)
            assert len(set(names)) == len(names)


def test_every_figure_has_a_title():
    shown = {name for job in JOBS.values() for name in (job.main, *job.figures)}
    assert shown <= set(FIGURES)
    assert all(contender.job in JOBS for library in LIBRARIES for contender in library.CONTENDERS)


def test_chart_is_drawn_from_a_small_file(tmp_path):
    stored = tmp_path / "peers.json"
    stored.write_text(json.dumps(RESULTS))
    results = json.loads(stored.read_text())
    assert chart.bars(results, "train", "") == [
        ("Thresher", 0.5, None),
        ("LIBLINEAR", 3.0, None),
    ]
    chart.draw(results, tmp_path / "peers.svg")
    drawn = ElementTree.parse(tmp_path / "peers.svg").getroot()
    assert drawn.tag.endswith("svg")
    colours = (tmp_path / "peers.svg").read_text().count(chart.OTHERS)
    assert colours == 2  # one rival in each of two panels
    first = (tmp_path / "peers.svg").read_bytes()
    chart.draw(results, tmp_path / "peers.svg")
    assert (tmp_path / "peers.svg").read_bytes() == first


def test_tables_go_into_the_page_between_the_marks(tmp_path):
    page = tmp_path / "page.md"
    begin, end = runner.MARKS
    page.write_text(f"before\n{begin}\nold\n{end}\nafter\n")
    facts = {"corpus": "Some", "train": 2, "test": 1, "categories": 2}
    machine = {"processors": 2, "processor": "P", "system": "S", "python": "3", "load": 0.0}
    stored = {
        "data": facts,
        "machine": machine,
        "versions": {"river": "missing"},
        "results": RESULTS,
    }
    runner.put_into_docs(stored, page)
    text = page.read_text()
    assert text.startswith(f"before\n{begin}")
    assert text.endswith(f"{end}\nafter\n")
    assert "old" not in text
    assert "river missing" in text
    assert "6.00 ×" in text


# Quality ------------------------------------------------------------------------------------------

GRAIN, GOLD = ("wheat corn harvest", ["grain"]), ("gold ounce mine", ["gold"])
ONE_LABEL = Task("tiny", "Tiny", "made up", lambda: ([GRAIN, GOLD] * 6, [GRAIN, GOLD, GRAIN]))


def kept_cell(folder, contender, decided, truth, **figures):
    """Return a cell whose decisions are in a file, as `cell.test` stores them."""
    path = folder / f"{contender}.npz"
    bits = {"truth": np.packbits(truth), "decided": np.packbits(decided)}
    names = np.array([f"c{k}" for k in range(truth.shape[1])])
    np.savez(path, shape=np.array(truth.shape), names=names, **bits)
    costs = {"processor": 1.0, "memory_mb": 1.0, "model_mb": 1.0}
    return Cell("tiny", contender, figures=figures | costs, decisions=str(path))


@pytest.fixture
def two_cells(tmp_path):
    """Thresher, right on all of 8 documents, and another contender, wrong on all."""
    truth = np.eye(2, dtype=bool)[np.arange(8) % 2]
    return (
        kept_cell(tmp_path, "Thresher", truth, truth, accuracy=100.0, macro_f1=50.0),
        kept_cell(tmp_path, "Other", ~truth, truth, accuracy=0.0, macro_f1=0.0),
    )


@pytest.mark.parametrize("name", [ours.OURS, scikit_learn.SVC])
def test_cell_is_run_in_its_own_process_and_kept(tmp_path, monkeypatch, name):
    cell = run_cell(ONE_LABEL, find(name), tmp_path)
    assert cell.missing == ""
    truth, decided, names = cell.load()
    assert names == ["gold", "grain"]
    assert decided.tolist() == truth.tolist() == [[0, 1], [1, 0], [0, 1]]
    assert cell.figures["accuracy"] == 100.0
    assert min(cell.figures[cost] for cost in ("processor", "memory_mb", "model_mb")) > 0

    def run_nothing(*_):
        raise AssertionError("it was kept, yet it is run again")

    monkeypatch.setattr(running, "run_process", run_nothing)
    assert run_cell(ONE_LABEL, find(name), tmp_path) == cell
    more = Task("tiny", "Tiny", "made up", lambda: ([GRAIN, GOLD] * 7, [GRAIN]))
    for path in (tmp_path / "data").iterdir():
        path.unlink()
    with pytest.raises(AssertionError, match="run again"):  # other documents, another cell
        run_cell(more, find(name), tmp_path)


def test_several_labels_with_thresholds_from_left_out_documents(tmp_path):
    both = ("wheat corn harvest gold ounce mine", ["gold", "grain"])
    data.write(tmp_path / "train.jsonl", [GRAIN, GOLD, both, ("nothing here", [])] * 6)
    data.write(tmp_path / "test.jsonl", [GRAIN, both, ("nothing here", [])])
    plan = {"train": str(tmp_path / "train.jsonl"), "test": str(tmp_path / "test.jsonl")}
    plan |= {"several": True, "decisions": str(tmp_path / "decisions.npz")}
    for contender in CONTENDERS:
        if contender.package == "scikit-learn":
            answer = quality_cell.do(plan | {"contender": contender.name})
            assert "missing" not in answer, answer
            assert answer["figures"]["break_even"] == 100.0, contender.name
            assert next(iter(answer["chosen"].values())) in contender.settings["values"]
    answer = quality_cell.do(plan | {"contender": f"{scikit_learn.PAIRS}, thresholds too"})
    assert answer["figures"]["micro_f1"] == 100.0


def test_who_fails_or_is_not_installed_is_missing_and_tried_again(tmp_path, monkeypatch):
    nobody = Contender("Nobody", None, {}, "no-such-package", ())
    assert run_cell(ONE_LABEL, nobody, tmp_path).missing == "no-such-package is not installed"
    monkeypatch.setattr(running, "run_process", lambda *_: {"missing": "broke"})
    cell = run_cell(ONE_LABEL, find(scikit_learn.SVC), tmp_path)
    assert cell.missing == "broke"
    assert not list((tmp_path / "cells").iterdir())
    text = Tables([ONE_LABEL], [cell]).markdown()
    assert "| LinearSVC, words | missing |" in text
    assert "LinearSVC, words is missing: broke." in text


@pytest.mark.parametrize(
    ("difference", "p_value", "expected"),
    [(0.1, 0.9, "ahead"), (-0.3, 0.0, "level"), (-2, 0.06, "level"), (-0.4, 0.05, "behind")],
)
def test_verdict_is_level_when_near_or_when_it_may_be_chance(difference, p_value, expected):
    assert verdict(difference, p_value) == expected


def test_pairs_are_documents_where_each_has_one_label_and_decisions_where_several(two_cells):
    assert compare(*two_cells, several=False)["main"] == pytest.approx(2 / 2**8)
    assert compare(*two_cells, several=True)["main"] == pytest.approx(2 / 2**16)


def test_cells_of_different_documents_are_not_compared(two_cells, tmp_path):
    truth = np.ones((8, 2), bool)
    other = kept_cell(tmp_path, "Elsewhere", truth, truth)
    with pytest.raises(ValueError, match="different documents of tiny"):
        compare(two_cells[0], other, several=True)


def test_table_has_stars_standing_and_published_figures(two_cells):
    task = Task("tiny", "Tiny", "made up", list, published=(("BERT", 12.3),))
    text = Tables([task], two_cells).markdown()
    assert r"| Other | 0.0\*\* |" in text
    assert "| Tiny | accuracy | 100.00 | Other | 0.00 | +100.00 | 0.008 | ahead |" in text
    assert "| BERT | 12.3 |" in text


def test_contenders_of_the_quality_table_have_names_of_their_own_and_settings_as_json():
    names = [contender.name for contender in CONTENDERS]
    assert names[0] == ours.OURS
    assert len(set(names)) == len(names)
    assert all(
        json.loads(json.dumps(contender.settings)) == contender.settings for contender in CONTENDERS
    )
    assert len({task.name for task in TASKS}) == len(TASKS) == 8


def test_every_learner_by_its_name_is_a_contender():
    first = find(f"{ours.LEARNER}rocchio")
    assert first.settings == {"learner": "rocchio"} and first.package == "thresher"


def test_every_race_is_of_a_learner_there_is():
    assert {race.ours for race in learners.RACES} <= set(LEARNERS)
    names = [race.name for race in learners.RACES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    "name", ["naive-bayes", "nearest-neighbors", "maximum-entropy, method=gis"]
)
def test_a_race_times_both_on_the_largest_categories(name, tmp_path):
    for item in ("train", "test"):
        data.write(tmp_path / f"{item}.jsonl", [GRAIN, GOLD, GRAIN] * 12)
    race = next(race for race in learners.RACES if race.name.startswith(name))
    race = dataclasses.replace(race, categories=1)
    figures = learners.run_race(race, tmp_path / "train.jsonl", tmp_path / "test.jsonl")
    assert figures["categories"] == 1 and figures["ours"] > 0
    assert ("theirs" in figures) == (race.theirs is not None)


def test_tables_of_learners_show_what_is_there_and_why_something_is_not():
    cells = [
        Cell("r90", "Thresher: arow", {"micro_f1": 87.25, "processor": 1.5, "model_mb": 20.0}),
        Cell("20newsgroups", "Thresher: arow", missing="not done after 9 seconds"),
    ]
    text = learners.quality_table(cells)
    assert "| `arow` | 87.2 |  |  | 1.5 |  | 20.0 |" in text
    assert text.endswith("`Thresher: arow`, 20newsgroups: not done after 9 seconds.")
    row = {"name": "arow", "title": "SVC", "ours": 2.0, "theirs": 5.0, "categories": 90}
    assert "| `arow` | 90 | 2.00 | SVC | 5.00 | 2.5 × |" in learners.race_table([row])


def test_a_finished_race_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(learners, "TASKS", [ONE_LABEL])
    monkeypatch.setattr(learners, "in_process", lambda *_: {"ours": 1.0, "categories": 2})
    first = learners.kept_race(learners.RACES[0], ONE_LABEL.name, tmp_path, again=False)
    monkeypatch.setattr(learners, "in_process", lambda *_: {"missing": "ran again"})
    assert learners.kept_race(learners.RACES[0], ONE_LABEL.name, tmp_path, again=False) == first
    assert "missing" in learners.kept_race(learners.RACES[0], ONE_LABEL.name, tmp_path, again=True)


def test_fits_are_compared_by_the_best_of_their_turns(tmp_path, monkeypatch):
    seconds = iter([6.0, 2.0, 3.0, 4.0, 5.0, 2.0])  # Thresher and the peer in turn

    def run_process(*_):
        used = next(seconds)
        return {"figures": {"seconds": 2 * used, "processor": used}}

    monkeypatch.setattr(fit_times, "run_process", run_process)
    races = [fit_times.Race(ours.ONE_FIT, scikit_learn.ONE_FIT, 1.5, ("tiny",))]
    rows = fit_times.run(tmp_path, races, [ONE_LABEL])
    assert [row["processor"] for row in rows] == [3.0, 2.0]
    assert "| 3.00 | LinearSVC, words, one fit | 2.00 | 1.50 × | 1.5 × |" in fit_times.markdown(
        rows, races
    )


def test_what_documents_without_labels_bring_is_a_mean_over_draws(monkeypatch):
    values = {0.01: [30.0, 32.0], 0.05: [50.0], 0.1: [60.0], 1.0: [80.0]}
    *_, line = unlabelled.table({("News", "words"): values}).splitlines()
    assert line == "| News, words | 31.0 ± 1.4 | 50.0 | 60.0 | 80.0 |"
    monkeypatch.setattr(unlabelled, "SIZES", (2,))
    train = [("wheat corn silo", ["grain"]), ("oil crude barrel", ["energy"])] * 20
    test = [("maize", ["grain"]), ("petrol", ["energy"])] * 2
    texts = ["maize wheat corn silo", "petrol oil crude barrel"] * 20
    figures = [unlabelled.quality(model, 1.0, train, test, texts, 1) for model in unlabelled.MODELS]
    assert figures[0] == figures[1] == 50 and figures[2] == 100
