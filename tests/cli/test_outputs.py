"""No verb writes a file that it reads, or replaces a file of another kind without --force."""

import gzip
import os
import subprocess
import sys

import pytest

from command import TICKETS, run, shell
from thresher import Categorizer
from thresher.errors import OutputError

READ = "which is read; name another file"
TABLE = "subject,body,team\n" + "".join(f"{','.join(row)}\n" for row in TICKETS)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Return the bytes of a model."""
    folder = tmp_path_factory.mktemp("trained")
    (folder / "tickets.csv").write_text(TABLE)
    words = ("--text", "subject,body", "--labels", "team", "--preset", "fast")
    run("train", folder / "tickets.csv", *words, "-o", folder / "m")
    return (folder / "m").read_bytes()


@pytest.fixture
def files(trained, tmp_path, monkeypatch):
    """Make a folder with a model, a table, tables, and texts in folders; return its path."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.thresher").write_bytes(trained)
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "notes.txt").write_text("Do not lose these notes.\n")
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "a.csv").write_text(TABLE)
    (tmp_path / "tables" / "b.csv").write_text(TABLE)
    for name in ("a", "b"):
        (tmp_path / "cats" / name).mkdir(parents=True)
        for i in range(3):
            (tmp_path / "cats" / name / f"{i}.txt").write_text(f"{name * 4} word{i} common\n")
    return tmp_path


def contents(folder):
    """Return the bytes of all files below a folder."""
    return {p: p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.mark.parametrize(
    "words",
    [
        "predict m.thresher tables -o tables/a.csv",
        "predict m.thresher tables -o tables/results.csv",
        "predict m.thresher tables/a.csv tables/b.csv -o ./tables/../tables/b.csv",
        "predict m.thresher t.csv -o hard.csv",
        "predict m.thresher t.csv -o soft.csv",
        "predict m.thresher soft.csv -o t.csv",
        "predict m.thresher tables -o hard-a.csv",
        "predict m.thresher linked -o tables/b.csv",
        "predict m.thresher tables -o dangling.csv",
        "rank m.thresher tables -o tables/a.csv",
        "rank m.thresher t.csv --category access -o t.csv",
        "train cats -o cats/a/1.txt",
        "train cats -o cats/a/model.thresher",
        "train t.csv tables --text subject,body --labels team -o tables/b.csv",
        "train cats --concepts 2 --unlabelled t.csv -o t.csv",
        "evaluate m.thresher tables --labels team --errors 2 -o tables/a.csv",
        "evaluate m.thresher t.csv --labels team --report t.csv",
        "explain m.thresher t.csv:2 --html t.csv",
        "concepts m.thresher --html t.csv --documents t.csv",
        "split t.csv -o t.csv x.csv",
        "split t.csv -o x.csv hard.csv",
        "compact m.thresher t.csv -o hard.thresher",
        "compare cats --learners perceptron --plot cats/b/2.txt",
        "filter m.thresher tables --category access -o tables/b.csv",
        "filter m.thresher tables/a.csv tables/b.csv --category access -o tables/b.csv",
        "filter m.thresher t.csv --category access -o new.csv --rejected hard.csv",
        "learn m.thresher tables --labels team -o tables/a.csv",
        "tune m.thresher tables --labels team --objective f1 -o tables/a.csv",
    ],
)
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_what_is_read_is_never_written_over(files, words, force):
    os.link("t.csv", "hard.csv")
    os.link("tables/a.csv", "hard-a.csv")
    os.link("m.thresher", "hard.thresher")
    os.symlink("t.csv", "soft.csv")
    os.symlink("tables", "linked")
    os.symlink("tables/new.csv", "dangling.csv")
    before = contents(files)
    assert READ in run(*words.split(), *force, status=2)
    assert contents(files) == before


def test_a_file_behind_standard_input_is_read(files):
    command = [sys.executable, "-m", "thresher", "predict", "m.thresher", "-o", "t.csv"]
    with open("t.csv") as stdin:
        done = subprocess.run(command, stdin=stdin, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and READ in done.stderr
    assert (files / "t.csv").read_text() == TABLE


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("train t.csv --text body --labels team -o notes.txt", "a model"),
        ("train t.csv --text body --labels team -o tables/a.csv", "a model"),
        ("learn m.thresher t.csv --labels team -o notes.txt", "a model"),
        ("tune m.thresher --at-most 1 -o notes.txt", "a model"),
        ("compact m.thresher -o notes.txt", "a model"),
        ("predict m.thresher t.csv -o model.csv", "a file of results"),
        ("predict m.thresher t.csv -o tables/a.csv", "a file of results"),
        ("predict m.thresher t.csv -o packed.csv.gz", "a file of results"),
        ("predict m.thresher t.csv -o data.parquet", "a file of results"),
        ("rank m.thresher t.csv -o tables/a.csv", "a file of results"),
        ("evaluate m.thresher t.csv --labels team --errors 2 -o tables/a.csv", "a file of results"),
        ("evaluate m.thresher t.csv --labels team --report notes.txt", "an HTML page"),
        ("explain m.thresher words --html notes.txt", "an HTML page"),
        ("concepts m.thresher --html notes.txt", "an HTML page"),
        ("inspect m.thresher --category access --svg notes.txt", "a picture"),
        ("compare cats --learners perceptron --plot notes.txt", "a picture"),
        ("filter m.thresher t.csv --category access -o model.csv", "a file of documents"),
        ("filter m.thresher t.csv --category access -o page.csv", "a file of documents"),
        ("filter m.thresher t.csv --category access -o x --rejected m.png", "a file of documents"),
        ("split t.csv -o model.csv x.csv", "a file of documents"),
    ],
)
def test_a_file_of_another_kind_stays(files, words, kind):
    import pyarrow as pa
    from pyarrow.parquet import write_table

    (files / "model.csv").write_bytes((files / "m.thresher").read_bytes())
    (files / "packed.csv.gz").write_bytes(gzip.compress(TABLE.encode()))
    (files / "page.csv").write_text("<!DOCTYPE html><html></html>")
    (files / "m.png").write_bytes(b"\x89PNG\r\n\x1a\n0000")
    write_table(pa.table({"text": ["a"], "label": ["b"]}), files / "data.parquet")
    before = contents(files)
    sentence = run(*words.split(), status=2)
    assert f"exists and is not {kind}; name another file, or add --force." in sentence
    assert contents(files) == before


def test_force_and_the_same_kind_replace(files):
    data = ("t.csv", "--text", "subject,body", "--labels", "team")
    run("train", *data, "-o", "notes.txt", "--force")
    run("train", *data, "-o", "notes.txt")  # it is a model now
    assert Categorizer.load("notes.txt").documents_seen_ == 6
    run("predict", "m.thresher", "t.csv", "-o", "tables/a.csv", "--force")
    for name in ("tables/a.csv", "r.jsonl", "r.parquet", "r.csv.gz"):
        for keep in ([], ["--keep", "body"], []):
            run("predict", "m.thresher", "t.csv", "-o", name, *keep)
    for _ in range(2):
        run("rank", "m.thresher", "t.csv", "--category", "access", "-o", "r.jsonl")
        run("evaluate", "m.thresher", *data, "--errors", "2", "-o", "e.jsonl")
        run("evaluate", "m.thresher", *data, "--errors", "2", "-o", "e.csv", "--report", "e.html")
        run("explain", "m.thresher", "monitor", "--html", "e.html")
        run("filter", "m.thresher", "t.csv", "--category", "access", "-o", "kept.csv")
        run("split", "t.csv", "--labels", "team", "-o", "x.csv", "y.csv")
        run("learn", "m.thresher", *data, "-o", "other.thresher")
    (files / "empty.thresher").touch()  # such as of mktemp
    run("train", *data, "-o", "empty.thresher")
    run("filter", "m.thresher", "t.csv", "--category", "access", "-o", "t.csv")  # in place
    assert len((files / "t.csv").read_text().splitlines()) == 3


def test_the_default_name_of_compact_replaces_nothing(files):
    (files / "m-compact.thresher").write_bytes((files / "m.thresher").read_bytes())
    before = contents(files)
    assert "m-compact.thresher already exists" in run("compact", "m.thresher", status=2)
    assert contents(files) == before
    for force in (["--force"], []):  # then it is an earlier copy
        run("compact", "m.thresher", *force)
    assert Categorizer.load("m-compact.thresher").model_.is_compacted


def test_two_outputs_are_two_files(files):
    words = ("m.thresher", "t.csv", "--labels", "team", "--errors", "1")
    assert "two files" in run("evaluate", *words, "-o", "e.csv", "--report", "./e.csv", status=2)
    assert "two files" in run("split", "t.csv", "-o", "x.csv", "./x.csv", status=2)


def test_a_model_may_stand_beside_the_folders_of_categories(files, monkeypatch):
    monkeypatch.chdir(files / "cats")
    for _ in range(2):  # it is no document: it is in no category's folder
        run("train", ".", "-o", "model.thresher")


def test_the_demo_replaces_only_its_own_files(files):
    (files / "demo").mkdir()
    (files / "demo" / "train.jsonl").write_text('{"text": "mine", "labels": ["x"]}\n')
    before = contents(files)
    assert "train.jsonl exists and is not" in run("demo", status=2)
    assert contents(files) == before


def test_save_replaces_models_only(files):
    model = Categorizer.load("m.thresher")
    with pytest.raises(OutputError, match=r"notes.txt exists and is not a model.*force=True"):
        model.save("notes.txt")
    with (
        pytest.raises(OutputError, match="is not a model"),
        Categorizer.updating("m.thresher", "notes.txt"),
    ):
        pass
    assert (files / "notes.txt").read_text() == "Do not lose these notes.\n"
    model.save("notes.txt", force=True)
    model.save("notes.txt")
    assert Categorizer.load("notes.txt").categories_ == model.categories_


def test_force_is_an_option_of_verbs_that_write():
    help = {verb: shell(verb, "--help").stdout for verb in ("predict", "explain", "learners")}
    assert "--force" in help["predict"] and "--force" in help["explain"]
    assert "--force" not in help["learners"]
