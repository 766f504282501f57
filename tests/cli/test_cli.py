"""The command line as a user types it: results, exit statuses, and what bad input gets."""

import gzip
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from command import TICKETS, commands, run, runner, shell
from thresher import Categorizer, cli
from thresher.cli._options import as_option
from thresher.cli.program import VERBS, app
from thresher.errors import ParameterError, ThresherWarning, param


@pytest.fixture
def tickets(tmp_path):
    path = tmp_path / "tickets.csv"
    rows = [f"{subject},{body},{team}" for subject, body, team in TICKETS]
    path.write_text("subject,body,team\n" + "\n".join(rows) + "\n")
    return path


def test_a_model_remembers_its_fields(tickets, tmp_path):
    path, other = tmp_path / "fields.thresher", tmp_path / "other.csv"
    run("train", tickets, "--fields", "subject, body", "--labels", "team", "-o", path)
    teams = [team for _, _, team in TICKETS]
    assert run("predict", path, tickets).split() == teams
    assert "subject:" in run("inspect", path)
    other.write_text("subject,text\nscreen,black\n")
    assert 'has no column "body"; its columns are "subject", "text"' in run(
        "predict", path, other, status=2
    )
    for fields in ("first-line", "lead"):
        run("train", tickets, "--text", "body", "--labels", "team", "--fields", fields, "-o", path)
        assert run("predict", path, tickets).split() == teams
        assert Categorizer.load(path).fields == fields


@pytest.fixture
def model(tickets, tmp_path):
    path = tmp_path / "model.thresher"
    run("train", tickets, "--text", "subject,body", "--labels", "team", "-o", path)
    return path


def test_train_says_what_it_did(tickets, tmp_path):
    path = tmp_path / "model.thresher"
    printed = run("train", tickets, "--text", "subject,body", "--labels", "team", "-o", path)
    assert "6 documents, 3 categories" in printed
    assert f"Saved to {path} ({path.stat().st_size / 1000:.1f} kB)." in printed
    assert Categorizer.load(path).categories_ == ["access", "billing", "hardware"]


def test_train_as_json(tickets, tmp_path):
    path = tmp_path / "model.thresher"
    printed = run(
        "train", tickets, "--text", "subject,body", "--labels", "team", "-o", path, "--json"
    )
    assert json.loads(printed)["documents"] == 6


def test_columns_are_guessed_and_said(tmp_path):
    data = tmp_path / "data.jsonl"
    lines = [{"text": f"{s} {b}", "label": t} for s, b, t in TICKETS]
    data.write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = runner.invoke(app, ["train", str(data), "-o", str(tmp_path / "m")])
    assert result.exit_code == 0
    first, second = result.stderr.splitlines()
    assert first == 'text is "text" (guessed); labels are "label" (guessed).'
    assert second == "One label for each document."


def test_predict_prints_a_line_for_each_document(model, tickets):
    printed = run("predict", model, tickets)  # the model knows its columns
    assert printed == run("predict", model, tickets, "--text", "subject,body")
    assert printed.splitlines() == [team for _, _, team in TICKETS]


def test_predict_reads_standard_input(model):
    assert run("predict", model, "-", input="my password\ntoner\n").splitlines() == [
        "access",
        "hardware",
    ]


def test_predict_as_json_with_scores(model, tickets):
    printed = run("predict", model, tickets, "--text", "subject,body", "--json", "--scores")
    lines = [json.loads(line) for line in printed.splitlines()]
    assert [line["labels"] for line in lines] == [[team] for _, _, team in TICKETS]
    assert max(lines[0]["scores"], key=lines[0]["scores"].get) == "hardware"
    assert "tickets.csv" in lines[0]["document"]


def test_rank_categories_and_documents(model, tickets):
    first = run("rank", model, tickets, "--text", "subject,body", "--top", "2").splitlines()[0]
    assert first.startswith("hardware +") and first.count("\t") == 1
    by_score = run(
        "rank", model, tickets, "--text", "subject,body", "--category", "billing", "--top", "2"
    )
    assert len(by_score.splitlines()) == 2
    assert all("invoice" in line for line in by_score.splitlines())


def test_evaluate_as_table_and_json(model, tickets):
    words = ("evaluate", model, tickets)  # the model knows its columns
    assert "hardware" in run(*words)
    assert json.loads(run(*words, "--json"))["micro"]["f1"] == 1.0


def test_explain_adds_up(model, tmp_path):
    printed = run("explain", model, "my password", "--category", "access")
    assert "access: chosen" in printed and "password" in printed
    explanation = json.loads(run("explain", model, "my password", "--category", "access", "--json"))
    total = sum(one["share"] for one in explanation["shares"])
    assert total - explanation["threshold"] == pytest.approx(explanation["score"])
    run("explain", model, "-", "--html", tmp_path / "why.html", input="my password")
    assert "password" in (tmp_path / "why.html").read_text()


def test_inspect_shows_the_strongest_words(model):
    assert "password" in run("inspect", model, "--category", "access")
    knowledge = json.loads(run("inspect", model, "--json"))
    assert knowledge["documents_seen"] == 6 and set(knowledge["strongest"]) == {
        "access",
        "billing",
        "hardware",
    }


def test_what_is_remembered_is_said(tickets, model, tmp_path):
    words = "train", tickets, "--text", "body", "--labels", "team", "-o", tmp_path / "m"
    assert "It remembers the words of 6 documents" in run(*words)
    assert "remembers" not in run(*words, "--remember", "0")
    assert json.loads(run(*words, "--remember", "4", "--json"))["remembered"] == 4
    lines = [line.split() for line in run("inspect", model).splitlines()]
    assert ["remembered", "6"] in lines and lines[lines.index(["remembered", "6"]) + 1][
        0
    ] == "memory"
    assert json.loads(run("inspect", tmp_path / "m", "--json"))["remembered"] == 4


def test_learn_adds_a_category(model, tmp_path):
    more = tmp_path / "more.jsonl"
    lines = [{"text": "office party on friday", "label": "social"}] * 5
    more.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert "New: 18 features and social." in run("learn", model, more)
    assert Categorizer.load(model).categories_[-1] == "social"
    assert run("predict", model, "-", input="party on friday\n") == "social\n"


def test_learners_are_listed_with_their_parameters():
    assert "promotion" in run("learners")
    assert json.loads(run("learners", "--json"))["balanced-winnow"]["parameters"]["threshold"] == 1


def test_parameters_of_the_learner_are_set(tickets, tmp_path):
    run(
        "train", tickets, "--text", "body", "--labels", "team", "-o", tmp_path / "m",
        "--learner", "balanced-winnow", "-p", "promotion=1.3", "--passes", "2", "--in-order",
    )  # fmt: skip
    learner = Categorizer.load(tmp_path / "m").learner_
    assert (learner.promotion, learner.max_iter) == (1.3, 2)


def test_profile_shows_where_the_time_went(tickets, tmp_path):
    words = ["train", str(tickets), "--labels", "team", "--text", "body", "--profile"]
    result = runner.invoke(app, [*words, "-o", str(tmp_path / "m")])
    stages = [line.split()[0] for line in result.stderr.splitlines()]
    assert {"read", "tokenize", "count", "learn", "save", "in"} <= set(stages)


@pytest.mark.slow
def test_the_curve_of_learning_is_drawn(tickets, tmp_path):
    words = ["train", str(tickets), "--labels", "team", "--text", "body", "--curve"]
    words[1:1] = ["--learner", "passive-aggressive"]
    result = runner.invoke(app, [*words, "-o", str(tmp_path / "m"), "--passes", "3"])
    assert "mistakes per document" in result.stderr and "█" in result.stderr
    assert "1     2     3" in result.stderr
    # Watching changes nothing of what is learned.
    run(*words[:-1], "-o", tmp_path / "unwatched", "--passes", "3")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "unwatched").read_bytes()


def verbs(command, *words):
    """Yield the words of each verb, those of a group after the group's."""
    for name, inner in commands(command).items():
        yield from verbs(inner, *words, name) if hasattr(inner, "commands") else [(*words, name)]


@pytest.mark.parametrize("words", [*verbs(app)], ids=" ".join)
def test_every_verb_has_help_with_an_example(words):
    printed = run(*words, "--help")
    assert f"Example: thresher {' '.join(words)} " in " ".join(printed.split()) + " "


def test_there_are_as_many_verbs_as_files():
    files = {path.stem.replace("_", "-") for path in Path(cli.__file__).parent.glob("[!_]*.py")}
    files -= {"common", "declare", "main", "process", "program"}
    assert files == {words[0] for words in verbs(app)} - {"paper"}  # of another package


@pytest.mark.parametrize(
    "words",
    [
        *(["rank", "--category"], ["explain", "my password", "--category"]),
        *(["inspect", "--category"], ["filter", "--category"], ["learn", "--about"]),
    ],
    ids=lambda words: words[0],
)
def test_a_category_that_the_model_does_not_have(words, model, tickets):
    verb, *more = words
    data = [tickets] if verb in ("rank", "filter", "learn") else []
    sentence = run(verb, model, *data, *more, "biling", status=2)
    assert "The model has no category 'biling'; did you mean 'billing'?" in sentence
    sentence = run(verb, model, *data, *more, "x", status=2)
    assert "The model has no category 'x'; it has access, billing, hardware." in sentence


def test_verbs_that_read_labels_have_the_same_options():
    reading = ["text", "labels", "separator", "format", "on_error"]
    for verb in ("train", "learn", "compact", "compare", "tune", "evaluate"):
        names = [one.name for one in commands(app)[verb].params]
        start = names.index("text")
        assert names[start : start + 5] == reading, verb


def test_several_files_are_read_one_after_the_other(model, tmp_path):
    for name, text in [("a.txt", "my password\n"), ("b.txt", "toner\n")]:
        (tmp_path / name).write_text(text)
    printed = run("predict", model, tmp_path / "a.txt", tmp_path / "b.txt")
    assert printed.splitlines() == ["access", "hardware"]


def test_corpora_are_listed_and_shown():
    corpora = json.loads(run("corpus", "list", "--json"))
    assert {"reuters21578", "20newsgroups"} <= {one["name"] for one in corpora}
    assert "modapte" in run("corpus", "show", "reuters21578")
    assert "no corpus called" in run("corpus", "show", "reuters", status=2)


def test_a_corpus_that_is_not_here_is_told_where_to_find_it(tmp_path, monkeypatch):
    monkeypatch.setenv("THRESHER_DATA", str(tmp_path))
    monkeypatch.setenv("THRESHER_CACHE", str(tmp_path))
    sentence = run("train", "reuters21578:modapte", "-o", tmp_path / "m", status=2)
    assert "thresher corpus fetch reuters21578" in sentence


@pytest.mark.slow
@pytest.mark.corpus
def test_the_readme_reaches_the_papers_break_even(data_dir, tmp_path, monkeypatch):
    """The commands of the README, with the promotion that cross-validation chooses there."""
    monkeypatch.setenv("THRESHER_DATA", str(data_dir))
    run(
        "train", "reuters21578:modapte", "-o", tmp_path / "m", "--min-df", "3", "--passes", "12",
        "--learner", "balanced-winnow", "-p", "promotion=1.2", "-p", "margin=0.1",
        "-p", "discard=filter-range",
    )  # fmt: skip
    evaluation = json.loads(run("evaluate", tmp_path / "m", "reuters21578:modapte/test", "--json"))
    assert evaluation["micro"]["break_even"] == pytest.approx(0.854, abs=0.002)
    assert evaluation["documents"] == 3299


@pytest.mark.slow
@pytest.mark.corpus
def test_one_pass_is_as_good_as_a_linear_svm(data_dir, tmp_path, monkeypatch):
    """Passive-Aggressive, one pass over Reuters R90: the mean of three orders of the documents."""
    monkeypatch.setenv("THRESHER_DATA", str(data_dir))
    break_evens = []
    for seed in range(3):
        words = ("reuters21578:modapte,categories=R90", "--stop-words", "--passes", "1")
        words += ("--learner", "passive-aggressive", "--objective", "none")
        run("train", *words, "--seed", seed, "-o", tmp_path / "m")
        test = run("evaluate", tmp_path / "m", words[0] + "/test", "--json")
        break_evens.append(json.loads(test)["micro"]["break_even"])
    assert sum(break_evens) / len(break_evens) >= 0.88


def test_version():
    assert run("--version").startswith("thresher 0.")


# What it costs -----------------------------------------------------------------------------------

FORBIDDEN = ("sklearn", "scipy.sparse", "matplotlib", "pandas")
# What a line or two have no need of; each of them takes a tenth of the time, or much of the rest.
NEEDLESS = (
    "pyarrow.compute", "pyarrow.csv", "pyarrow.parquet", "pydantic", "rich", "tarfile",
    "thresher.cli.train", "thresher.cli._options", "thresher.experiments",
    "thresher.learners.bayes", "thresher.learners.tree",
    "thresher_papers", "thresher.report", "thresher.answers.files",
)  # fmt: skip


def imported(names, *words):
    """Run a command in a process of its own; return what it prints, and which of these it has."""
    code = (
        "import sys\n"
        "from thresher.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    status = end.code\n"
        f"print([name for name in {names!r} if sys.modules.get(name)])\n"
        "assert not status\n"
    )
    command = [sys.executable, "-c", code, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    *printed, last = done.stdout.splitlines()
    return "\n".join(printed), last


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
@pytest.mark.parametrize("words", [["train"], ["predict"], ["--help"]], ids=str)
def test_heavy_libraries_are_not_imported(words, kind, model, tickets, tmp_path):
    data = tickets
    if kind == "jsonl":
        data = tmp_path / "tickets.jsonl"
        lines = [{"body": body, "team": team} for _, body, team in TICKETS]
        data.write_text("".join(json.dumps(line) + "\n" for line in lines))
    arguments = {
        "train": [data, "--text", "body", "--labels", "team", "-o", tmp_path / "m"],
        "predict": [model, data, "--text", "subject,body" if kind == "csv" else "body"],
    }.get(words[0], [])
    printed, heavy = imported(FORBIDDEN, *words, *arguments)
    assert heavy == "[]"
    assert {"train": "Saved to", "predict": "hardware", "--help": "Usage"}[words[0]] in printed


def test_a_short_command_does_not_import_the_compiler(model, tmp_path):
    """Once everything is compiled: what Numba compiles with takes longer than predicting."""
    line = tmp_path / "line.txt"
    line.write_text("the printer is broken\n")
    run("predict", model, line)
    needless = (*FORBIDDEN, "numba.np.linalg", "scipy.linalg", *NEEDLESS)
    printed, heavy = imported(needless, "predict", model, line)
    assert printed and heavy == "[]"


def test_help_imports_nothing_that_counts():
    code = (
        "import sys; sys.argv = ['thresher', '--help']\n"
        "from thresher.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "assert not {'numpy', 'numba', 'pyarrow'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    listed = [words[0] for words in map(str.split, done.stdout.splitlines()) if len(words) > 2]
    verbs = [name for name in VERBS if name in listed and name != "corpus"]
    assert verbs == [name for name in listed if name in verbs] and len(verbs) > 12


def begun(*words, **env):
    """Run the command line as its own process does; only there is one verb imported alone."""
    code = "import sys; sys.argv[0] = 'thresher'; from thresher.cli.main import main; main()"
    command = [sys.executable, "-c", code, *words]
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | env, check=False
    )
    return done.stdout + done.stderr


def test_near_verbs_and_completion_know_every_verb():
    assert "Did you mean predict?" in begun("pedict")
    assert "Did you mean warm-up?" in begun("warm_up")
    asked = {"_THRESHER_COMPLETE": "bash_complete", "COMP_CWORD": "1"}
    completed = begun(**asked, COMP_WORDS="thresher co").split()
    assert completed == ["plain,compare", "plain,compact", "plain,concepts", "plain,corpus"]
    asked["COMP_CWORD"] = "2"
    completed = begun(**asked, COMP_WORDS="thresher predict --sc").split()
    assert completed == ["plain,--scores"]
    assert "complete -o nosort -F" in run("--completion", "bash")


# What bad input gets: a sentence, exit status 2, nothing half-written -----------------------------


def refuse(tmp_path, content, *options, name="data.csv"):
    """Train on bad content; return the sentence without the folder, which bears the test's name."""
    data, path = tmp_path / name, tmp_path / "bad.thresher"
    if content is not None:
        data.write_bytes(content)
    sentence = run("train", data, "-o", path, *options, status=2)
    assert not path.exists()
    assert [p.name for p in tmp_path.iterdir() if "bad" in p.name] == []
    return sentence.replace(str(tmp_path), "")


def test_missing_file(tmp_path):
    assert "data.csv: there is no such file" in refuse(tmp_path, None)


def test_missing_column(tmp_path):
    sentence = refuse(tmp_path, b"text,label\na,b\n", "--text", "body")
    assert 'has no column "body"; its columns are "text", "label"' in sentence


def test_empty_file(tmp_path):
    assert "the file is empty" in refuse(tmp_path, b"")


def test_header_only(tmp_path):
    assert "no documents" in refuse(tmp_path, b"text,label\n")


def test_ragged_csv(tmp_path):
    assert "data.csv:3: " in refuse(tmp_path, b"text,label\na,b\nc,d,e\nf,g\n")


def test_ragged_csv_with_skip(tmp_path):
    data = tmp_path / "data.csv"
    data.write_bytes(b"text,label\naa,b\nc,d,e\nff,g\n")
    result = runner.invoke(
        app, ["train", str(data), "-o", str(tmp_path / "m"), "--on-error", "skip"]
    )
    assert result.exit_code == 0 and "2 documents" in result.stdout
    assert "Left out: 1 document." in result.stderr


def test_invalid_json_on_a_line(tmp_path):
    content = b'{"text":"aa","label":"x"}\n{"text":"bb","label":"y"}\n{"text":\n'
    assert "data.jsonl:3: " in refuse(tmp_path, content, name="data.jsonl")


def test_binary_file(tmp_path):
    content = bytes(range(256)) * 40
    assert "binary file" in refuse(tmp_path, content, "--format", "csv", name="data.bin")


def test_label_column_all_empty(tmp_path):
    assert "None of the 2 documents has a label" in refuse(tmp_path, b"text,label\na,\nb,\n")


def test_one_category_only(tmp_path):
    assert "one category 'x'" in refuse(tmp_path, b"text,label\na,x\nb,x\n")


def test_a_document_of_50_mb(tmp_path):
    long = " ".join(["harvest wheat barley rye"] * 2_200_000)
    data = tmp_path / "data.jsonl"
    lines = [{"text": long, "label": "farm"}, {"text": "goal match", "label": "sport"}]
    data.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert data.stat().st_size > 50_000_000
    run("train", data, "-o", tmp_path / "m")
    assert run("predict", tmp_path / "m", data).splitlines() == ["farm", "sport"]


@pytest.mark.slow
def test_a_million_empty_documents(tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("text,label\n" + ",x\n" * 1_000_000 + "goal,y\n")
    assert "1,000,001 documents" in run("train", data, "-o", tmp_path / "m", "--fast")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty: it is no model"),
        (b"PK\x03\x04 a zip, perhaps", "is not a model of Thresher"),
        (b"\xff\xd8\xff\xe0 a picture", "is not a model of Thresher"),
    ],
)
def test_a_file_that_is_no_model(tmp_path, content, sentence):
    path = tmp_path / "model.thresher"
    path.write_bytes(content)
    assert f"{path} {sentence}" in run("predict", path, "-", input="text\n", status=2)


def test_unwritable_output_folder(tickets, tmp_path):
    words = ("train", tickets, "--text", "body", "--labels", "team", "-o")
    assert "does not exist" in run(*words, tmp_path / "nowhere" / "m", status=2)
    assert "is a folder" in run(*words, tmp_path, status=2)


def test_full_disk_keeps_the_old_model(model, tickets):
    """A limit on the size of files stands in for a full disk: the write itself fails."""
    import resource

    before = model.read_bytes()
    done = shell(
        "train", tickets, "--text", "subject,body", "--labels", "team", "-o", model,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert str(model) in done.stderr and done.stderr.count("\n") == 1
    assert model.read_bytes() == before
    assert [p.name for p in model.parent.iterdir() if p.suffix not in (".csv", ".thresher")] == []


@pytest.mark.parametrize(("doing", "seconds"), [("compiling", 0), ("learning", 6)])
def test_ctrl_c_while_training(tmp_path, doing, seconds):
    """Interrupted in the midst of its passes, or before: exit status 130, no file."""
    cache = tmp_path / "cache"
    where = {"NUMBA_CACHE_DIR": str(cache)} if doing == "compiling" else {}
    data = tmp_path / "data.jsonl"
    # The same text with two labels: mistakes never end.
    lines = [json.dumps({"text": "wheat and rye", "label": label}) + "\n" for label in "ab"]
    data.write_text("".join(lines * 100_000))
    command = [sys.executable, "-m", "thresher", "train", str(data), "-o", str(tmp_path / "m")]
    command += ["--learner", "passive-aggressive", "--passes", "1000000"]
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | where,
        # Whoever runs the tests in the background has its children ignore the signal.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        deadline = time.monotonic() + 60
        while doing == "compiling" and not any(cache.rglob("*.kernel")):
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.05)
        if doing == "learning":
            time.sleep(seconds)
        assert process.poll() is None, process.stderr.read()
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "stopped" in stderr and "Traceback" not in stderr
    assert {p.name for p in tmp_path.iterdir()} - {"cache"} == {"data.jsonl"}


def test_output_may_be_cut_off_by_head(model, tmp_path):
    data = tmp_path / "data.txt"
    data.write_text("toner\n" * 200_000)
    command = f"{sys.executable} -m thresher predict {model} {data} --format lines | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stdout == "hardware\n" and "Traceback" not in done.stderr


def test_nothing_of_progress_where_stderr_is_no_terminal(model, tickets):
    done = shell("predict", model, tickets, "--text", "subject,body")
    assert done.returncode == 0 and done.stderr == ""


def test_compressed_files_are_read(model, tmp_path):
    path = tmp_path / "data.txt.gz"
    path.write_bytes(gzip.compress(b"my password\n"))
    assert run("predict", model, path) == "access\n"


# The demonstration -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demonstration")
    return folder, shell("demo", "--folder", folder / "demo")


def test_the_demo_shows_a_table_and_two_reasons(demonstration):
    folder, done = demonstration
    assert done.returncode == 0, done.stderr
    _, right, wrong = done.stdout.split("Why: the surest decision that is ")
    assert "micro" in done.stdout
    for reason in (" ".join(one.split()) for one in (right, wrong)):
        assert ": chosen, " in reason and "it would not be chosen" in reason
    assert {p.name for p in Path(folder / "demo").iterdir()} == {
        "train.jsonl",
        "test.jsonl",
        "model.thresher",
    }


@pytest.mark.slow
def test_what_the_demo_proposes_works(demonstration):
    _, done = demonstration
    proposed = [line for line in done.stdout.splitlines() if line.startswith("thresher ")]
    assert len(proposed) >= 4
    for line in proposed:
        command = line.replace("thresher", f"{sys.executable} -m thresher", 1)
        again = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
        assert again.returncode == 0 and again.stdout, (line, again.stderr)


# ---- the words of the command line ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameter", "python", "typed"),
    [
        (param("on_error", "skip"), 'on_error="skip"', "--on-error skip"),
        (param("mode", "multi-label"), 'mode="multi-label"', "--mode multi-label"),
        (param("concepts", 100), "concepts=100", "--concepts 100"),
        (param("min_df", {"runs": 2}), "min_df={'runs': 2}", "--min-df runs=2"),
        (param("max_df", 0.5), "max_df=0.5", "--max-df 0.5"),
        (param("ngram_range", (1, 3)), "ngram_range=(1, 3)", "--ngrams 1-3"),
        (param("tune_folds", owner="Categorizer"), "Categorizer: tune_folds", "--tune-folds"),
        (param("shuffle"), "shuffle", "--shuffle"),
        (param("shuffle", False), "shuffle=False", "--in-order"),
        (param("stem", False), "stem=False", "no --stem"),
        (param("labels", "..."), 'labels="..."', "--labels ..."),
        (param("label_separator", "="), 'label_separator="="', "--separator ="),
        (param("random_state", None), "random_state=None", "--seed none"),
        (param("n_jobs"), "n_jobs", "--threads"),
        ("min_df", "min_df", "min_df"),  # written by others
    ],
)  # fmt: skip
def test_parameters_in_a_message_become_options(parameter, python, typed):
    for problem in (ParameterError(f"Give {parameter}."), ThresherWarning(f"Give {parameter}.")):
        assert str(problem) == f"Give {python}."
        assert problem.message(as_option) == f"Give {typed}."
        assert problem.parameters == [python][: python != typed]
        assert str(pickle.loads(pickle.dumps(problem))) == str(problem)


def test_messages_name_options(tmp_path, tickets):
    assert "(--on-error skip)" in refuse(tmp_path, b'text,label\na,b\n"c,d\n')
    assert "--format is 'cvs'" in refuse(tmp_path, b"text,label\na,b\nc,d\n", "--format", "cvs")
    assert "--tune-folds is 1;" in refuse(tmp_path, b"text,label\na,b\nc,d\n", "--tune-folds", "1")
    assert "--max-df 0.0 leave" in refuse(tmp_path, b"text,label\na,b\nc,d\n", "--max-df", "0.0")
    own = ("--learner", "arow", "-p", "random_state=-1")
    assert "AROW: random_state is -1;" in refuse(tmp_path, b"text,label\na,b\nc,d\n", *own)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["predit"], "Did you mean predict?"),
        (["train", "--lerner", "arow"], "--learner"),
        (["predict", "--on-eror", "skip"], "--on-error"),
        (["train", "--random-state", "1"], "--seed"),
        (["compare", "--n-jobs", "1"], "--threads"),
        (["predict", "--prob"], "Did you mean --probabilities?"),
        (["predict", "--score"], "Did you mean --scores?"),
        (["predict", "--treads", "2"], "Did you mean --threads?"),
        (["train", "--label", "team"], "Did you mean --labels?"),
        (["train", "d.csv", "--learner", "arw"], "'arow'"),
        (["train", "d.csv", "--learner", "arow", "-p", "regularisation=1"], "'regularization'"),
    ],
)
def test_a_slip_is_answered_with_the_near_one(words, meant):
    assert meant in run(*words, status=2)


@pytest.mark.parametrize(
    ("option", "value", "what"),
    [
        ("--concepts", "many", "a whole number from 1 to 100000, or a list of such numbers"),
        ("--ngrams", "3-1", "such as 1-2 or none"),
        ("--min-df", "few", "or NAME=VALUE,... for some of words, runs, parts, fields"),
    ],
)
def test_a_value_is_asked_for_as_it_is_typed(option, value, what):
    sentence = run("train", "d.csv", option, value, status=2)
    assert f"{option} is '{value}'" in sentence
    assert what in " ".join(sentence.replace("│", " ").split())


def test_labels_are_asked_for_by_their_option(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("text,team\nout of toner,hardware\n")
    sentence = run("train", path, "-o", tmp_path / "m", status=2)
    assert "name the column that has them (--labels ...)" in sentence


def test_one_is_not_many(tmp_path, tickets):
    path = tmp_path / "m.thresher"
    run("train", tickets, "--labels", "team", "-o", path)
    few = tmp_path / "one.csv"
    few.write_text("subject,body,team\nscreen,flickers,hardware\n")
    shown = run("evaluate", path, few, "--top", "2")
    assert "1 smaller one " in shown and "1 document; " in shown
    assert "2 smaller ones" in run("evaluate", path, tickets, "--top", "1")
    tuned = run("tune", path, tickets, "--objective", "f1", "--top", "2", "-o", tmp_path / "t")
    assert "1 smaller one " in tuned
    assert "None of the 1 document has a label" in refuse(tmp_path, b"text,label\na,\n")
    assert "all documents have it (1)" in refuse(tmp_path, b"text,label\na,b\n")


@pytest.mark.parametrize(
    "words",
    [
        "train {data} --labels team -o {data}",
        "train {data} --labels team --unlabelled {more} -o {more}",
        "predict {model} {data} -o {data}",
        "rank {model} {more} {data} --category access -o {data}",
        "evaluate {model} {data} --labels team --errors 5 -o {data}",
        "evaluate {model} {data} --labels team --report {model}",
        "evaluate {model} {data} --labels team --names {more} --report {more}",
        "explain {model} {data}:2 --html {data}",
        "compact {model} {data} -o {data}",
        "filter {model} {data} --category access -o {model}",
        "filter {model} {data} --category access -o {more} --rejected {data}",
        "learn {model} {data} --labels team -o {data}",
        "tune {model} {data} --labels team --objective f1 -o {data}",
        "compare {data} --labels team --plot {data}",
    ],
)
def test_what_is_read_is_never_written_over(tickets, model, tmp_path, words):
    more = tmp_path / "more.csv"
    more.write_bytes(tickets.read_bytes())
    link = tmp_path / "link.csv"  # another name is the same file
    link.symlink_to(tickets)
    before = {one: one.read_bytes() for one in (tickets, model, more)}
    *first, last = words.format(data=tickets, model=model, more=more).split()
    for path in {last, str(link) if last == str(tickets) else last}:
        sentence = run(*first, path, status=2)
        assert f"is {path}, which is read; name another file." in sentence
    assert {one: one.read_bytes() for one in before} == before


def test_help_fills_its_lines(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = [line.strip() for line in run("compact", "--help").splitlines()]
    first = next(i for i, line in enumerate(lines) if line.startswith("The copy predicts and"))
    last = next(i for i, line in enumerate(lines) if line.endswith("before and after."))
    assert all(len(line) > 60 for line in lines[first:last])
