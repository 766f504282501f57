"""The fuzzing campaign detects all kinds of failures, and cases can be reproduced."""

import os
import signal
import time
from pathlib import Path

import pyarrow as pa
import pytest

from fuzz import campaign, contents, page
from fuzz.__main__ import append, attacks
from fuzz.campaign import Attack, run
from thresher.documents import read_documents, streams
from thresher.errors import DocumentError


def attempt(case, folder):
    """End in each of the possible ways, depending on the number of the case."""
    (folder / "input").write_text(str(case.random()))
    match case.number % 10:
        case 3:
            raise DocumentError("It is not a document; give another.")
        case 4:
            raise DocumentError("")  # an empty message
        case 5:
            raise KeyError("raw")
        case 6:
            os.kill(os.getpid(), signal.SIGKILL)
        case 7:
            time.sleep(60)
        case 8:
            bytearray(1 << 33)
    return "read"


EXPECTED = {4: "AssertionError", 5: "KeyError", 6: "crash", 7: "hang", 8: "MemoryError"}


@pytest.mark.slow
@pytest.mark.parametrize("fresh", [0.0, 1.0])
@pytest.mark.parametrize("jobs", [1, 3])
def test_every_kind_of_failure_is_counted_and_kept(tmp_path, fresh, jobs):
    attack = Attack("all", "cases", attempt, 20, fresh=fresh)
    outcome = run(attack, 1, range(20), jobs=jobs, home=tmp_path, patience=1.5)
    kinds = {failure.number: failure.kind for failure in outcome.failures}
    assert kinds == {ten + n: kind for n, kind in EXPECTED.items() for ten in (0, 10)}
    assert outcome.cases == 20 and outcome.fresh == 20 * fresh
    assert outcome.outcomes == {"read": 8, "refused": 2, "FAILED": 10}
    inputs = {}
    for failure in outcome.failures:
        stored = tmp_path / "failures" / f"all-1-{failure.number}"
        assert f"--seed 1 --only {failure.number}\n" in (stored / "FAILURE.txt").read_text()
        inputs[failure.number] = (stored / "input").read_text()
    again = run(attack, 1, range(15, 16), home=tmp_path)
    stored = tmp_path / "failures" / "all-1-15" / "input"
    assert len(again.failures) == 1 and stored.read_text() == inputs[15]
    assert not any((tmp_path / "scratch").iterdir())


def test_seeds_are_written_in_a_process_of_their_own(tmp_path):
    state = []

    def prepare(folder):
        state.append(1)
        (folder / "seed").write_text("wheat")

    def read(case, folder):
        return (campaign.seeds("seeded") / "seed").read_text()

    outcome = run(Attack("seeded", "cases", read, 3, prepare), 0, range(3), home=tmp_path)
    assert outcome.outcomes == {"wheat": 3} and not state


def test_seeds_that_cannot_be_written_are_told(tmp_path, capfd):
    def prepare(folder):
        raise OSError("no space")

    with pytest.raises(SystemExit, match="seeds of bad could not be written"):
        run(Attack("bad", "cases", attempt, 1, prepare), 0, range(1), home=tmp_path)
    assert "no space" in capfd.readouterr().err


def test_what_was_tried_before_ctrl_c_counts(tmp_path):
    def attempt(case, folder):
        return "read" if case.number < 5 else time.sleep(60)

    def interrupt(outcome):
        if outcome.cases == 5:
            raise KeyboardInterrupt

    attack = Attack("stopped", "cases", attempt, 9)
    outcome = run(attack, 0, range(9), home=tmp_path, show=interrupt)
    assert outcome.outcomes == {"read": 5} and not outcome.failures


def test_every_attack_is_on_a_promise_and_every_promise_has_tests():
    promised = [name for promise in page.PROMISES for name in promise.attacks]
    assert sorted(promised) == sorted([*attacks(), "soak"])
    folder = Path(__file__).parent
    assert all((folder / name).is_file() for promise in page.PROMISES for name in promise.tests)


def test_the_page_says_what_the_log_says():
    text = page.PAGE.read_text()
    assert page.filled(text) == text
    for log in page.LOGS.values():
        assert not any(item["failures"] for item in page.read_log(log).values())


def test_runs_with_several_seeds_are_added_up(tmp_path):
    log = tmp_path / "log.jsonl"
    attack = Attack("all", "cases", lambda case, folder: "read", 3, fresh=1.0)
    for seed in (1, 2):
        append(log, run(attack, seed, range(3), home=tmp_path))
    ((name, first),) = page.read_log(log).items()
    assert (name, first["cases"], first["fresh"], first["seeds"]) == ("all", 6, 6, [1, 2])
    append(log, run(attack, 2, range(3), home=tmp_path))
    with pytest.raises(AssertionError, match="one seed, twice"):
        page.read_log(log)


def test_a_campaign_ends_when_its_time_is_over(tmp_path):
    endless = Attack("endless", "cases", lambda case, folder: "read", 1)
    outcome = run(endless, 0, range(10**9), jobs=2, home=tmp_path, seconds=0.3)
    assert outcome.outcomes == {"read": outcome.cases} and not outcome.failures
    assert not any((tmp_path / "scratch").iterdir())


def test_the_independent_reader_of_tables_reads_rows_and_open_quotes():
    rows = contents.table_rows('a,b\n"x\ny",1\n\n"z,2\nw,3', ",")
    assert list(rows) == [(1, ["a", "b"]), (2, ["x\ny", "1"]), (5, None), (6, ["w", "3"])]
    stray = contents.table_rows('a\tb\n"x\t1\ny"\t2\n"z\tw\n', "\t", 1)
    cells = [["a", "b"], ['"x', "1"], ['y"', "2"], ['"z', "w"]]
    assert list(stray) == list(enumerate(cells, 1))


def test_the_independent_reader_of_objects_counts_what_is_no_object():
    text = '{"text": "a", "label": ["x", " ", 3.0]}\n\n[1]\n{"text": 1}\n{"text": {}}\n{"te'
    expected = contents._expected_objects(text, "")
    assert expected.pairs == [("a", ("x", "3")), ("1", ())]
    assert (expected.lines, expected.n_skipped) == ([1, 4], 3)


# Faults of a reader, as texts of a document, which depend on the size of blocks or do not.
FAULTS = {
    "a text is changed": lambda texts: [text.replace("wheat", "whe at") for text in texts],
    "blocks of few bytes lose a character": lambda texts: (
        [text.lstrip("\ufeff\t") for text in texts] if streams.BLOCK < 1000 else texts
    ),
    "the first document is lost": lambda texts: [""] * bool(texts) + texts[1:],
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_a_reader_is_found(tmp_path, monkeypatch, fault):
    change = FAULTS[fault]

    def faulty(source, **options):
        documents = read_documents(source, **options)
        read = type(documents).batches

        def batches(self, *arguments):
            for batch in read(self, *arguments):
                texts = change(batch.texts.to_pylist())
                batch.texts = pa.array(texts, pa.large_string())
                yield batch

        documents.__class__ = type("Faulty", (type(documents),), {"batches": batches})
        return documents

    monkeypatch.setattr(contents, "read_documents", faulty)
    outcome = run(attacks()["contents"], 1, range(40), home=tmp_path)
    assert len(outcome.failures) > 3
    assert all("AssertionError" in failure.kind for failure in outcome.failures)


@pytest.mark.slow
def test_a_few_cases_of_every_attack_on_contents(tmp_path):
    for name in ("contents", "inputs", "rewrites", "disks"):
        outcome = run(attacks()[name], 8, range(8), home=tmp_path)
        assert outcome.cases == 8 and not outcome.failures, outcome.failures


@pytest.mark.slow
def test_a_few_cases_of_every_quick_attack(tmp_path):
    for name in ("archives", "documents", "patterns", "mixed-writers", "odd-targets"):
        outcome = run(attacks()[name], 1, range(20), home=tmp_path)
        assert outcome.cases == 20 and not outcome.failures, outcome.failures
