"""The documentation: what it shows runs, and what is public is in it."""

import csv
import doctest
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import click
import pytest
from mkdocs_hooks import on_page_content

import thresher
from command import commands
from thresher.cli.program import OTHER_PACKAGES, app
from thresher.corpora.standard_library import standard_library
from thresher.learners import LEARNERS

ROOT = Path(__file__).parents[1]
ELSEWHERE = ("own-learner", "papers")  # whose Python tests of their own run
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def blocks(page, *languages):
    """Return the code of a page that is in one of these languages."""
    fenced = re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(), re.M | re.S)
    return [code for language, code in fenced if language in languages]


@pytest.fixture(scope="module")
def reader_folder(tmp_path_factory):
    """A folder with the files that a reader of the documentation has."""
    folder = tmp_path_factory.mktemp("reader")
    (folder / "demo").mkdir()
    for name, entries in zip(("train", "test"), standard_library(), strict=True):
        lines = (json.dumps(entry._asdict()) + "\n" for entry in entries)
        (folder / f"demo/{name}.jsonl").write_text("".join(lines))
        with open(folder / f"{name}.csv", "w", newline="") as file:
            rows = [(entry.text, entry.labels[-1]) for entry in entries[:400]]
            csv.writer(file).writerows([("text", "label"), *rows])
    (folder / "more.csv").write_bytes((folder / "test.csv").read_bytes())
    (folder / "tickets.csv").write_text("subject,body,team\nscreen,black,it\nleave,friday,people\n")
    model = thresher.Categorizer().fit(folder / "demo/train.jsonl")
    model.save(folder / "demo/model.thresher")
    thresher.Categorizer().fit(folder / "train.csv").save(folder / "model.thresher")
    return folder


@pytest.fixture
def reader_names(reader_folder):
    """What a reader has in Python before the first line of a page."""
    texts = ["cheap pills", "lunch today?", "cheap watches", "see you today"] * 5
    labels = ["spam", "ham", "spam", "ham"] * 5
    categorizer = thresher.Categorizer().fit(texts, labels)
    scores, _, truth, names = categorizer.tested(texts, labels)
    return {
        "texts": texts, "labels": labels, "names": names, "categorizer": categorizer,
        "scores": scores, "truth": truth, "decisions": categorizer.decisions_.decide(scores),
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.stem not in ELSEWHERE and blocks(page, "python")],
    ids=lambda page: page.stem,
)
def test_the_python_of_a_page_runs(page, reader_folder, reader_names, tmp_path, monkeypatch):
    shutil.copytree(reader_folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    # The README sorts the documentation of the running Python: others than 3.11 have other figures.
    is_same_corpus = page.name != "README.md" or sys.version_info[:2] == (3, 11)
    runner, complaints = doctest.DocTestRunner(optionflags=FLAGS), []
    with patch.dict(LEARNERS):  # a page may register one
        for code in blocks(page, "python"):
            if ">>>" in code and is_same_corpus:
                test = doctest.DocTestParser().get_doctest(code, reader_names, page.name, None, 0)
                runner.run(test, out=complaints.append, clear_globs=False)
                reader_names.update(test.globs)
            else:
                lines = re.findall(r"^(?:>>>|\.\.\.) ?(.*)$", code, re.M)
                exec("\n".join(lines) if ">>>" in code else code, reader_names)
    assert not complaints, "".join(complaints)


def test_the_commands_of_all_pages_have_the_options_that_there_are():
    known, checked = commands(app), 0
    for page in PAGES:
        shown = "".join(blocks(page, "console", "sh")).replace("\\\n", " ")
        for verb, rest in re.findall(r"\bthresher ([a-z-]+)\b([^|\n]*)", shown):
            if verb in OTHER_PACKAGES and verb not in known:
                continue
            command = known[verb]
            for name in re.findall(r"(?<=\s)--?[a-z][a-z-]*", rest.partition(" #")[0]):
                assert name in known_options(command, rest), f"{page.name}: thresher {verb} {name}"
                checked += 1
    assert checked > 20


def known_options(command, rest):
    """Return the options of a verb, or of the verb within it that comes first."""
    if hasattr(command, "commands"):
        command = commands(command)[rest.split()[0]]
    parameters = command.get_params(click.Context(command))
    return {
        name for parameter in parameters for name in (*parameter.opts, *parameter.secondary_opts)
    }


def test_every_public_name_is_in_the_reference():
    shown = re.findall(r"^::: (\S+)$", (ROOT / "docs/reference.md").read_text(), re.M)
    names = {place.rpartition(".")[2] for place in shown} | set(dir(thresher.errors))
    assert set(thresher.__all__) - {"__version__"} <= names


def test_every_page_is_in_the_table_of_contents():
    contents = (ROOT / "mkdocs.yml").read_text()
    for page in PAGES[1:]:
        assert page.name in contents, page.name


def test_options_are_not_broken_after_a_hyphen_and_choices_are_quoted():
    assert on_page_content("<code>train --fast</code>") == (
        '<code>train <span class="whole">--fast</span></code>'
    )
    assert on_page_content("<code>(auto, None, single - label)</code>") == (
        '<code>"auto", None, <span class="whole">"single-label"</span></code>'
    )
    for same in ("<pre><code>a --b</code></pre>", f"<code>{'a-' * 20}</code>", "<code>f(x)</code>"):
        assert on_page_content(same) == same


@pytest.mark.slow
def test_no_page_of_the_site_is_broader_than_a_phone(browser, tmp_path):
    pytest.importorskip("mkdocs")
    command = ["-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(tmp_path)]
    subprocess.run([sys.executable, *command], cwd=ROOT, check=True, capture_output=True)
    pages = sorted(tmp_path.rglob("index.html"))
    assert len(pages) == len(PAGES) - 1  # all but the README
    for page in pages:
        browser.open(page, width=390)
        assert browser.evaluate("document.documentElement.scrollWidth") == 390, page
