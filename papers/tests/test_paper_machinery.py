"""What all reproductions share: the run and its kept cells, what is asked for, the page."""

import json
import math
import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from thresher.errors import DocumentError, ParameterError, ThresherWarning
from thresher_papers import (
    Agreement,
    Claim,
    Curve,
    Drawing,
    Figure,
    Finding,
    Item,
    Paper,
    Run,
    Store,
    Table,
    check_corpora,
    list_papers,
    select,
)
from thresher_papers import _keeping as keeping
from thresher_papers._page import write_page

COUNTS = {
    "dagan-karov-roth-1997": 2,
    "carvalho-cohen-2006": 13,
    "cai-hofmann-2003": 6,
    "o-zhang-2000": 6,
    "manning-schuetze-1999": 21,
}
computed = []


def measure(name, seed):
    computed.append((name, seed))
    return {"F1": len(name) + seed, "pair": (1, 2.5)}


def nothing():
    computed.append(())
    return math.nan


def slow(name):
    time.sleep(0.02)
    return 1


def failing(place):
    if place == 3:
        raise ParameterError("This cell fails.")
    computed.append(place)
    return place


@pytest.fixture
def run(tmp_path):
    computed.clear()
    return Run(jobs=2, store=Store(tmp_path))


# ---- the run and its cells --------------------------------------------------------------------


def test_finished_cells_are_read_and_not_computed_again(run):
    keys = [("a", 0), ("bb", 1)]
    first = run.cells(measure, keys)
    assert sorted(computed) == keys
    again = replace(run, store=Store(run.store.folder)).cells(measure, [*keys, ("c", 2)])
    assert again[:2] == first
    assert sorted(computed) == [*keys, ("c", 2)]


def test_a_cell_is_the_same_whether_computed_or_read(run):
    (first,), (second,) = run.cells(measure, [("a", 0)]), run.cells(measure, [("a", 0)])
    assert first == second == {"F1": 1, "pair": [1, 2.5]}  # as JSON says it
    assert math.isnan(run.cells(nothing, [()])[0])
    assert math.isnan(run.cells(nothing, [()])[0])  # NaN is kept too
    assert computed == [("a", 0), ()]


def test_cells_come_in_the_order_of_their_keys_whatever_the_number_of_jobs(tmp_path):
    def later_first(place):
        time.sleep(0.002 * (5 - place))
        return place

    for jobs in (1, 2, 8):
        cells = Run(jobs=jobs, store=None).cells(later_first, [(i,) for i in range(5)])
        assert cells == list(range(5))


def test_what_was_finished_before_an_error_is_kept(run):
    with pytest.raises(ParameterError, match="This cell fails"):
        replace(run, jobs=1).cells(failing, [(i,) for i in range(5)])
    assert computed[:3] == [0, 1, 2]
    computed.clear()
    run.cells(failing, [(i,) for i in (0, 1, 2)])
    assert computed == []


def test_a_changed_source_or_another_function_is_another_cell(run, monkeypatch):
    run.cells(measure, [("a", 0)])
    before = run.store.path(measure, ("a", 0))
    assert run.store.path(failing, ("a", 0)) != before
    assert run.store.path(measure, ("a", 1)) != before
    monkeypatch.setattr(keeping, "code_version", lambda module: "another")
    assert run.store.path(measure, ("a", 0)) != before


def test_a_store_that_is_anew_computes_each_cell_once(run):
    run.cells(measure, [("a", 0)])
    fresh = replace(run, store=Store(run.store.folder, anew=True))
    fresh.cells(measure, [("a", 0)])
    fresh.cells(measure, [("a", 0)])
    assert computed == [("a", 0), ("a", 0)]


@pytest.mark.parametrize("damage", [b"", b'{"cell": ', b"[]", b'{"cell": 1}', b"\xff\xfe\x00"])
def test_a_damaged_cell_is_computed_again(run, damage):
    run.cells(measure, [("a", 0)])
    path = run.store.path(measure, ("a", 0))
    path.write_bytes(damage)
    assert run.cells(measure, [("a", 0)])[0]["F1"] == 1
    assert len(computed) == 2
    assert json.loads(path.read_text())["cell"]["F1"] == 1


def test_a_place_that_cannot_be_written_costs_the_keeping_alone(tmp_path):
    (tmp_path / "file").write_text("in the way")
    blocked = Run(store=Store(tmp_path / "file" / "cells"), jobs=1)
    with pytest.warns(ThresherWarning, match=r"cannot be stored in .*file/cells") as caught:
        cells = blocked.cells(measure, [("a", 0), ("b", 0)])
    assert [one["F1"] for one in cells] == [1, 1]
    assert len(caught) == 1


def test_what_cannot_be_told_apart_on_disk_is_refused(run):
    with pytest.raises(TypeError, match="plain values"):
        run.cells(measure, [(np.arange(2), 0)])
    with pytest.raises(TypeError, match=r"module-level functions .*lambda"):
        run.cells(lambda: 1, [()])


def test_seconds_are_added_up_once_for_each_cell(run):
    run.cells(slow, [("a",), ("b",)])
    once = run.store.seconds
    assert once >= 0.04
    run.cells(slow, [("a",), ("b",)])
    assert run.store.seconds == once


def test_progress_counts_what_was_there_and_what_is_new(run):
    shown = []
    watched = replace(run, watch=lambda *progress: shown.append(progress), title="table-1")
    watched.cells(measure, [("a", 0), ("b", 0)])
    assert shown == [("table-1", 0, 2), ("table-1", 1, 2), ("table-1", 2, 2)]
    shown.clear()
    watched.cells(measure, [("a", 0), ("b", 0), ("c", 0)])
    assert shown == [("table-1", 2, 3), ("table-1", 3, 3)]


def test_inside_gives_all_jobs_to_one_cell_at_a_time():
    threads = []

    def fit(place, n_jobs):
        threads.append((threading.get_ident(), n_jobs))
        return place

    assert Run(jobs=3, store=None).cells(fit, [(0,), (1,)], inside=True) == [0, 1]
    assert len({one for one, _ in threads}) == 1
    assert {jobs for _, jobs in threads} == {3}


def test_rows_are_means_over_seeds_and_a_quick_run_has_one():
    rows = {"a": ("a",), "b": ("bb",)}
    plain = lambda name, seed: {"F1": float(len(name) + seed)}  # noqa: E731
    means, spread = Run(seed=2, store=None).rows(plain, rows, 3)
    assert means == {"a": {"F1": 4.0}, "b": {"F1": 5.0}}
    assert spread == {"a": {"F1": 1.0}, "b": {"F1": 1.0}}
    means, spread = Run(seed=2, quick=True, store=None).rows(plain, rows, 3)
    assert means == {"a": {"F1": 3.0}, "b": {"F1": 4.0}}
    assert spread == {"a": {}, "b": {}}


# ---- the version of the code ------------------------------------------------------------------


def test_the_version_follows_what_a_module_reaches():
    reached = keeping._reached("thresher_papers._running")
    assert "thresher.evaluation.folds" in reached
    assert "thresher_papers._result" not in reached  # which only shows
    rivals = keeping._reached("thresher.learners.boosting")
    assert "thresher._kernels.stumps" in rivals or any("stumps" in one for one in rivals)
    assert not any(one.startswith("thresher.learners.online") for one in rivals)


def test_what_a_package_hands_on_is_reached(tmp_path, monkeypatch):
    assert "thresher.corpora.reuters21578" in keeping._reached("thresher.corpora")


def test_comments_and_docstrings_do_not_change_the_version(monkeypatch):
    import ast

    sources = [
        'def f(x):\n    """Double."""\n    return 2 * x  # twice\n',
        "def f(x):\n    return (2 * x)\n",
        "def f(x):\n    return 3 * x\n",
    ]
    meanings = []
    for source in sources:
        monkeypatch.setattr(keeping, "_tree", lambda module, source=source: ast.parse(source))
        meanings.append(keeping._meaning.__wrapped__("m"))
    assert meanings[0] == meanings[1] != meanings[2]


# ---- what is asked for ------------------------------------------------------------------------


def test_every_table_and_figure_of_the_five_works_is_listed():
    papers = {paper.name: paper for paper in list_papers()}
    assert {name: len(papers[name].published) for name in COUNTS} == COUNTS
    assert sum(COUNTS.values()) == 48
    for paper in papers.values():
        assert all(item.summary for item in paper.items.values())
        for name, item in paper.published.items():
            assert name.startswith(("table-", "figure-")), name
            assert item.state == "here" or item.state.startswith("in part: ")
        for claim in paper.claims:
            assert set(claim.items) <= set(paper.items), claim.text


def test_all_names_every_item_and_a_paper_all_of_its_own():
    assert len(select("all")) == sum(len(paper.items) for paper in list_papers())
    assert [name for _, name in select("o-zhang-2000")] == list(
        next(one for one in list_papers() if one.name == "o-zhang-2000").items
    )
    with pytest.raises(ParameterError, match="'table-4' can only be selected from one paper"):
        select("all", ["table-4"])
    with pytest.raises(ParameterError, match=r"Did you mean figure-2\?"):
        select("carvalho-cohen-2006", ["figure2"])
    with pytest.raises(ParameterError, match=r"no paper 'carvalho'. Did you mean carvalho-cohen"):
        select("carvalho")


def item(**more):
    return Item("something", lambda run: None, **more)


def test_what_is_missing_is_named_with_the_command_that_brings_it(tmp_path, monkeypatch):
    monkeypatch.setenv("THRESHER_DATA", str(tmp_path))
    monkeypatch.setenv("THRESHER_CACHE", str(tmp_path))
    needed = [item(corpora=("reuters21578:modapte", "adult/train")), item(corpora=("adult",))]
    expected = "2 corpora .* thresher corpus fetch reuters21578; thresher corpus fetch adult$"
    with pytest.raises(DocumentError, match=expected):
        check_corpora(needed)


# ---- agreement and the page -------------------------------------------------------------------


def table(item="table-1", **more):
    printed = {"a": {"P": 50.0, "Q": 60.0}, "b": {"P": 70.0}}
    reproduced = {"a": {"P": 49.0, "Q": 65.0}, "b": {"P": 75.0, "Q": 10.0}}
    return Table(
        "x", item, "Table 1: F1", printed, reproduced, ["A note."], spread={"a": {"Q": 3.0}}, **more
    )


def test_agreement_counts_what_is_within_covered_and_beyond():
    assert table().agreement() == Agreement(within=1, covered=1, beyond=1)
    assert table(tolerance=5.0).agreement() == Agreement(3, 0, 0)
    assert math.isnan(Agreement(0, 0, 0).share)
    assert Table("x", "t", "T", {}, {"a": {"P": 1.0}}).agreement().n_cells == 0


def toy_papers():
    def figure(run):
        curves = {"a": {"P": Curve((1, 2), (3.0, 4.0))}}
        run.cells(slow, [("a",)])
        return Figure("x", "figure-1", "Figure 1: a curve", {}, curves)

    def moving(run):
        from thresher.report.plots import new_figure

        frames = lambda: (new_figure()[0] for _ in range(2))  # noqa: E731
        return Drawing("x", "swing", "It swings", {}, {}, picture=frames, moves=True)

    claims = (
        Claim("P|a", ("table-1",), lambda one: Finding(True, f"{one.reproduced['a']['P']:.1f}")),
        Claim("Q is best", ("table-1", "figure-1"), lambda *both: Finding(False, "10.0", "noise")),
        Claim("R is best", (), lambda: Finding(False, "none", "nothing helps", is_open=True)),
    )
    items = {
        "table-1": Item("F1", lambda run: table(), lacks="a set is not public"),
        "figure-1": Item("a curve", figure),
        "swing": Item("a moving picture", moving, is_additional=True),
    }
    return [Paper("x-1999", "A paper", "X, A paper, 1999", items, ("Zero is yes.",), claims)]


def test_the_page_counts_and_has_every_table_figure_claim_and_liberty(tmp_path):
    run = Run(store=Store(tmp_path / "cells"))
    page = write_page(toy_papers(), run, tmp_path / "papers.md")
    assert page.agreement == Agreement(1, 1, 1)
    assert (page.n_claims, page.n_held, page.n_explained) == (3, 1, 1)
    text = (tmp_path / "papers.md").read_text(encoding="utf-8")
    assert "**2 of 3 published values that the data allow agree (66.7%)**" in text
    assert "**1 of 3 claims of the texts hold**; of the other 2, 1 have a measured expl" in text
    assert "| R is best | **no** | none | *open:* nothing helps |" in text
    assert "- Zero is yes." in text
    assert "| P\\|a | yes | 49.0 |  |" in text
    assert "| Q is best | **no** | 10.0 | noise |" in text
    assert "### Table 1: F1" in text
    assert "`thresher paper run x-1999 table-1` · In part: a set is not public." in text
    assert "| a | 49.0 (50.0) | **65.0** (60.0) |" in text
    assert "x-1999-table-1.svg" not in text  # three cells are seen at a glance
    for picture in ("x-1999-figure-1.svg", "x-1999-swing.gif"):
        assert f"(images/{picture})" in text
        assert (tmp_path / "images" / picture).stat().st_size > 500
    write_page(toy_papers(), run, tmp_path / "again.md")
    assert (tmp_path / "again.md").read_text(encoding="utf-8") == text


def test_the_page_of_the_documentation_is_of_these_items_and_claims():
    """It is written by hand of no one: `make papers` writes it anew."""
    text = (Path(__file__).parents[2] / "docs" / "papers.md").read_text(encoding="utf-8")
    for paper in list_papers():
        if paper.published:
            for name in paper.items:
                assert f"`thresher paper run {paper.name} {name}` · " in text
            for claim in paper.claims:
                assert f"| {claim.text} | " in text
            assert all(f"- {one}" in text for one in paper.liberties)
    for picture in re.findall(r"\(images/(\S+)\)", text):
        assert (Path(__file__).parents[2] / "docs" / "images" / picture).is_file()


def test_a_quick_page_says_nothing_of_claims(tmp_path):
    page = write_page(toy_papers(), Run(quick=True, store=None), tmp_path / "papers.md")
    assert page.n_claims == 0


# ---- the command line -------------------------------------------------------------------------


def thresher(*words, cache, **more):
    command = [sys.executable, "-m", "thresher", *words]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "THRESHER_CACHE": str(cache)},
        timeout=300, check=False, **more,
    )  # fmt: skip


def test_the_command_line_lists_states_and_counts(tmp_path):
    listed = thresher("paper", "list", cache=tmp_path)
    assert listed.returncode == 0, listed.stderr
    assert "48 tables and figures" in listed.stdout
    assert "table-4              in part  F1 of ten" in listed.stdout
    assert "(not all: RequestAct and Webmaster were never made public)" in listed.stdout
    papers = json.loads(thresher("paper", "list", "--json", cache=tmp_path).stdout)
    assert papers["carvalho-cohen-2006"]["table-4"]["state"].startswith("in part: ")
    unknown = thresher("paper", "run", "knuth-1968", "table-1", cache=tmp_path)
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert unknown.stderr.startswith("thresher: There is no paper 'knuth-1968'.")


@pytest.mark.corpus
def test_several_items_are_run_printed_drawn_and_kept(data_dir, tmp_path):
    words = ("paper", "run", "manning-schuetze-1999", "table-16.3", "figure-16.6", "--quick")
    first = thresher(*words, "--json", "--plot", str(tmp_path / "drawn"), cache=tmp_path)
    assert first.returncode == 0, first.stderr
    lines = [json.loads(line) for line in first.stdout.splitlines()]
    assert [one["item"] for one in lines] == ["table-16.3", "figure-16.6"]
    assert lines[0]["agreement"]["beyond"] == 0
    assert sorted(path.name for path in (tmp_path / "drawn").iterdir()) == [
        "manning-schuetze-1999-figure-16.6.svg",
        "manning-schuetze-1999-table-16.3.svg",
    ]
    refused = thresher(*words, "--plot", str(tmp_path / "one.svg"), cache=tmp_path)
    assert refused.returncode == 2
    assert "it has to be a folder" in refused.stderr


def test_a_cache_that_cannot_be_written_is_a_sentence(tmp_path):
    (tmp_path / "papers").write_text("in the way")
    words = ("paper", "run", "manning-schuetze-1999", "table-16.6")
    result = thresher(*words, cache=tmp_path)
    assert result.returncode == 0
    assert "| profit 1, earnings 1 | 0.400 (0.400) |" in result.stdout
    assert result.stderr.startswith("thresher: Finished cells cannot be stored in ")
    assert result.stderr.count("\n") == 1


@pytest.mark.corpus
def test_a_run_that_is_stopped_goes_on_where_it_was(data_dir, tmp_path):
    words = [sys.executable, "-m", "thresher", "paper", "run", "carvalho-cohen-2006", "table-4"]
    words += ["--quick", "--jobs", "1"]
    env = {**os.environ, "THRESHER_CACHE": str(tmp_path)}
    how = {"env": env, "stderr": subprocess.PIPE, "stdout": subprocess.PIPE}
    # Where a shell let us begin in the background, Ctrl-C would be ignored.
    how["preexec_fn"] = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(words, **how) as begun:
        while not list(tmp_path.rglob("[!.]*.json")):  # no temporary one
            assert begun.poll() is None, begun.communicate()
            time.sleep(0.02)
        begun.send_signal(signal.SIGINT)
        _, complaint = begun.communicate(timeout=120)
    assert begun.returncode == 130, complaint
    assert complaint.decode() == (
        "thresher: stopped; finished cells are stored, the same command continues.\n"
    )
    kept = {path: path.stat().st_mtime_ns for path in Path(tmp_path).rglob("[!.]*.json")}
    finished = thresher(*words[3:], cache=tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert all(path.stat().st_mtime_ns == before for path, before in kept.items())
    assert len(list(tmp_path.rglob("*.json"))) > len(kept)
    assert not list(tmp_path.rglob(".*"))  # nothing half-written is left
