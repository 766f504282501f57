"""Comparisons: each contender has its own features, whatever its position in the list."""

import json
import shlex

import numpy as np
import pytest

from command import run, shell
from thresher import Categorizer
from thresher.documents import read_documents
from thresher.errors import ParameterError
from thresher.experiments.comparison import compare
from thresher.experiments.protocols import cross_validate

GENERATOR = np.random.default_rng(3)
STEMS = {"metal": ["steel", "iron", "copper"], "grain": ["wheat", "corn", "barley"]}
ENDS = ["", "s", "y", "work", "like", "less"]


def text(label):
    """Return a text whose words are mostly known by their first letters only."""
    words = [str(GENERATOR.choice(STEMS[label])) + str(GENERATOR.choice(ENDS)) for _ in range(2)]
    return " ".join([*words, *GENERATOR.choice(["up", "down", "of", "the", "in"], 3)])


LABELS = ["metal", "grain"] * 30
TEXTS = [text(label) for label in LABELS]


def contenders(*names):
    """Return categorizers that count documents in different ways."""
    built = {
        "words": Categorizer("perceptron"),
        "parts": Categorizer("perceptron", char_ngram_range=(3, 4)),
        "default": Categorizer(preset="best", tune_folds=0),
        "other": Categorizer("balanced-winnow"),
    }
    return {name: built[name] for name in names}


def test_each_contender_has_its_own_features():
    names = ("words", "parts", "default", "other")
    comparison = compare(contenders(*names), TEXTS, LABELS)
    for name, categorizer in contenders(*names).items():
        alone = cross_validate(categorizer, TEXTS, LABELS)
        together = comparison.results[name]
        assert alone.figures("micro_f1").tolist() == together.figures("micro_f1").tolist()
        assert alone.decided.indices.tolist() == together.decided.indices.tolist()
    assert comparison.results["parts"].mean("micro_f1") > comparison.results["words"].mean(
        "micro_f1"
    )


@pytest.mark.parametrize("order", [("parts", "other", "words"), ("words", "parts", "other")])
def test_the_order_of_the_list_does_not_matter(order):
    first = compare(contenders("other", "words", "parts"), TEXTS, LABELS)
    second = compare(contenders(*order), TEXTS, LABELS)
    assert (first.best, first.against) == (second.best, second.against)
    for name in order:
        pair = first.results[name], second.results[name]
        assert pair[0].decided.indices.tolist() == pair[1].decided.indices.tolist()
        assert first.t_test(name, "micro_f1") == second.t_test(name, "micro_f1")


def test_of_equal_contenders_the_order_chooses_none():
    twins = {name: Categorizer("perceptron") for name in ("b", "a")}
    assert compare(twins, TEXTS, LABELS).best["micro_f1"] == "a"


def test_contenders_that_learn_other_documents_cannot_be_compared():
    pair = {"a": Categorizer("perceptron", char_ngram_range=(3, 4)),
            "b": Categorizer("perceptron", mode="multi-label")}  # fmt: skip
    with (
        pytest.warns(UserWarning, match="left out"),
        pytest.raises(ParameterError, match="do not learn the same documents"),
    ):
        compare(pair, [*TEXTS, "nothing"], [*LABELS, None])


@pytest.fixture
def table(tmp_path):
    """Return a file of JSON lines."""
    path = tmp_path / "data.jsonl"
    rows = ({"text": t, "label": y} for t, y in zip(TEXTS, LABELS, strict=True))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_stream_is_read_once_for_all(table):
    words = ["compare", "-", "--learners", "auto,perceptron", "--folds", "2", "--json"]
    from_stream = json.loads(run(*words, input=table.read_text()))
    from_file = json.loads(run("compare", table, *words[2:]))
    for name in ("auto", "perceptron"):
        pair = (
            figures["learners"][name]["measures"]["micro_f1"]
            for figures in (from_stream, from_file)
        )
        assert next(pair) == next(pair)


@pytest.mark.parametrize(
    "options",
    [
        ["--fast"],
        ["--preset", "fast", "--seed", "3"],
        ["--ngrams", "1-2", "--char-ngrams", "3-4", "--min-df", "2"],
        ["--tokens", "whitespace", "--keep-case", "--hashing-bits", "14"],
        ["--token-pattern", "[a-z]+", "--mode", "multi-label", "--objective", "precision=0.9"],
        ["--concepts", "2,3", "--threads", "2", "--in-order"],
    ],
)
def test_the_recommended_options_are_those_that_were_measured(table, tmp_path, options):
    words = ["--learners", "auto,perceptron", "--folds", "2", *options]
    printed = run("compare", table, *words)
    best = next(line for line in printed.splitlines() if line.startswith("Best by micro-F1: "))
    typed = shlex.split(best.partition(": ")[2])
    measured = json.loads(run("compare", table, *words, "--json"))
    name = typed[1]
    run("train", table, *typed, "-o", tmp_path / "m")
    trained = Categorizer.load(tmp_path / "m")
    again = cross_validate(trained.replace(), table, folds=2, random_state=trained.seed_)
    figures = measured["learners"][name]["measures"]["micro_f1"]["figures"]
    assert again.figures("micro_f1").tolist() == pytest.approx(figures, abs=0)


def test_by_default_the_default_is_a_contender(table):
    help = shell("compare", "--help").stdout
    assert "--fast" in help and "Default: auto" in " ".join(help.split())
    assert read_documents(table).only_once is None
