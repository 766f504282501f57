"""What other packages add through entry points: verbs and corpora."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from command import run as run_here
from thresher.cli import program

DOCS = Path(__file__).parents[2] / "docs"
PREDICTING = """
import sys
from thresher.cli.main import main
from thresher.cli.program import installed_verbs
from thresher.corpora._registry import corpus_modules
try:
    main()
except SystemExit as end:
    assert not end.code
print(installed_verbs.cache_info().misses, corpus_modules.cache_info().misses)
"""


def block(page, language):
    """Return the last code block of a page of the documentation in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", (DOCS / page).read_text(), re.M | re.S)[-1]


@pytest.fixture
def installed(tmp_path):
    """Install the package that the documentation describes; run commands beside it."""
    package = tmp_path / "site" / "hello_package"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "cli.py").write_text(block("own-verb.md", "python"))
    (package / "corpora.py").write_text(block("corpora.md", "python"))
    info = tmp_path / "site" / "hello_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hello-package\nVersion: 1.0\n")
    points = block("own-verb.md", "toml") + block("corpora.md", "toml")
    sections = re.sub(r'\[project\.entry-points\."(.*)"\]', r"[\1]", points).replace('"', "")
    (info / "entry_points.txt").write_text(sections)

    def run(*words, code=None):
        path = os.pathsep.join([str(package.parent), os.environ.get("PYTHONPATH", "")])
        begin = ["-c", code] if code else ["-m", "thresher"]
        folders = {"THRESHER_DATA": str(tmp_path), "THRESHER_CACHE": str(tmp_path / "cache")}
        command = [sys.executable, *begin, *map(str, words)]
        env = os.environ | folders | {"PYTHONPATH": path}
        return subprocess.run(
            command, capture_output=True, text=True, check=False, env=env, input=""
        )

    return run


def test_a_verb_of_another_package(installed):
    assert installed("hello", "Ann", "--times", "2").stdout == "Hello, Ann.\nHello, Ann.\n"
    assert "Example: thresher hello Ann --times 2" in installed("hello", "--help").stdout
    assert re.search(r"hello +Greet somebody\.", installed("--help").stdout)
    assert "Did you mean hello?" in installed("helo").stderr


def test_a_verb_that_cannot_be_loaded_does_not_disturb_the_others(installed, tmp_path):
    (tmp_path / "site/hello_package/cli.py").write_text("import no_such_module\n")
    sentence = "The verb hello cannot be loaded: ModuleNotFoundError("
    listed = installed("--help")
    assert listed.returncode == 0 and "train" in listed.stdout
    assert listed.stderr.startswith(f"thresher: {sentence}") and listed.stderr.count("\n") == 1
    typed = installed("hello", "Ann")
    assert typed.returncode == 2 and sentence in typed.stderr
    assert installed("learners").stderr == ""


def test_built_in_verbs_do_not_look_for_others(installed, tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("text,label\ncheap pills,spam\nlunch today,ham\n")
    for words in (
        ("train", data, "-o", tmp_path / "model"),
        ("predict", tmp_path / "model", data),
        ("predict", tmp_path / "model", "-"),
        ("explain", tmp_path / "model", "cheap lunch"),
    ):
        done = installed(*words, code=PREDICTING)
        assert done.stdout.endswith("0 0\n"), done.stderr


def test_a_verb_of_a_package_that_is_not_installed_names_it(monkeypatch):
    monkeypatch.setattr(program, "installed_verbs", dict)
    monkeypatch.delitem(program.app.commands, "paper", raising=False)
    sentence = run_here("paper", "list", status=2)
    assert "The verb paper is in a package of its own: pip install thresher-papers" in sentence


def test_a_corpus_of_another_package(installed, tmp_path):
    (tmp_path / "greetings").mkdir()
    lines = ("greeting\tHello", "greeting\tGood morning", "farewell\tGoodbye")
    (tmp_path / "greetings/greetings.tsv").write_text("\n".join(lines) + "\n")
    assert re.search(r"greetings +yes +3 +standard", installed("corpus", "list").stdout)
    fetched = installed("corpus", "fetch", "greetings")
    assert fetched.stdout.strip() == str(tmp_path / "greetings/greetings.tsv"), fetched.stderr
    trained = installed("train", "greetings", "-o", tmp_path / "model")
    assert "3 documents, 2 categories" in trained.stdout, trained.stderr
    unknown = installed("corpus", "show", "greeting")
    assert unknown.returncode == 2 and "Did you mean greetings?" in unknown.stderr
