"""Figures that cannot be right get a warning: learned documents, unknown labels, duplicates."""

import json
import warnings
from time import perf_counter

import numpy as np
import pyarrow as pa
import pytest

from command import run, runner, shell
from thresher import Categorizer
from thresher.cli.main import app
from thresher.errors import ModelError, ThresherWarning
from thresher.model.memory import MOST_TEXTS, Digested, Digests, text_digests
from thresher.model.storage import read_model, write_model

GENERATOR = np.random.default_rng(1)
WORDS = [f"word{i}" for i in range(500)]


def texts_of(n, label):
    return [" ".join([label, *GENERATOR.choice(WORDS, 20)]) for _ in range(n)]


NAMES = ["hardware", "billing"]
TRAIN = [text for label in NAMES for text in texts_of(60, label)]
TRUTH = [label for label in NAMES for _ in range(60)]
TEST = [text for label in NAMES for text in texts_of(20, label)]
TEST_TRUTH = [label for label in NAMES for _ in range(20)]


@pytest.fixture(scope="module")
def trained():
    return Categorizer(preset="fast").fit(TRAIN, TRUTH)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, rows in {
        "train": zip(TRAIN, TRUTH, strict=True),
        "test": zip(TEST, TEST_TRUTH, strict=True),
        "foreign": ((text, "news") for text in TEST),
        "typo": [("hardware broken screen", "hardwear"), ("invoice twice", "billing")],
    }.items():
        lines = (json.dumps({"text": text, "label": label}) + "\n" for text, label in rows)
        (tmp_path / f"{name}.jsonl").write_text("".join(lines))
    run("train", "train.jsonl", "-o", "m.thresher", "--fast")
    return tmp_path


def quiet(action, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ThresherWarning)
        return action(*arguments)


def test_measuring_on_learned_documents(trained, tmp_path):
    quiet(trained.evaluate, TEST, TEST_TRUTH)
    with pytest.warns(ThresherWarning, match="learned from 120 of 120 documents that it is meas"):
        trained.evaluate(TRAIN, TRUTH)
    with pytest.warns(ThresherWarning, match="learned from 10 of 50 documents"):
        trained.evaluate([*TEST, *TRAIN[:10]], [*TEST_TRUTH, *TRUTH[:10]])
    trained.save(tmp_path / "m")
    loaded = Categorizer.load(tmp_path / "m")
    with pytest.warns(ThresherWarning, match="learned from 120 of 120 documents"):
        loaded.tune(TRAIN, TRUTH)
    quiet(loaded.score, TRAIN, TRUTH)  # scikit-learn scores training documents too
    loaded.learn(TEST, TEST_TRUTH)
    with pytest.warns(ThresherWarning, match="learned from 40 of 40 documents"):
        loaded.evaluate(TEST, TEST_TRUTH)
    loaded.forget(TEST)
    quiet(loaded.evaluate, TEST, TEST_TRUTH)


def test_models_without_digests_know_the_remembered_documents(trained):
    old = trained.__copy__()
    old.model_.digests = None
    with pytest.warns(ThresherWarning, match="learned from 120 of 120"):
        old.evaluate(TRAIN, TRUTH)
    quiet(old.evaluate, TEST, TEST_TRUTH)
    old.model_.memory = None
    quiet(old.evaluate, TRAIN, TRUTH)


def test_nothing_of_documents_is_stored_if_nothing_shall_be_remembered(trained, tmp_path):
    model = Categorizer(preset="fast", remember=0).fit(TRAIN, TRUTH)
    assert model.model_.digests is None
    trained.save(tmp_path / "m", remember=False)
    assert not any("digests" in name for name in read_model(tmp_path / "m")[1])


def test_labels_of_which_the_model_knows_none(trained):
    with pytest.warns(ThresherWarning, match="None of the labels.*have news, and the model has b"):
        trained.evaluate(TEST, ["news"] * len(TEST))
    quiet(trained.evaluate, TEST, ["news", *TEST_TRUTH[1:]])


def test_the_command_line_prints_them(files):
    for words in ("evaluate m.thresher train.jsonl", "evaluate m.thresher train.jsonl --report r",
                  "tune m.thresher train.jsonl --objective f1 -o t"):  # fmt: skip
        assert "thresher: The model has learned from 120 of 120" in shell(*words.split()).stderr
    assert "None of the labels" in shell("evaluate", "m.thresher", "foreign.jsonl").stderr
    assert "thresher:" not in shell("evaluate", "m.thresher", "test.jsonl").stderr


def test_a_new_category_that_may_be_misspelled(files):
    words = ("learn", "m.thresher", "typo.jsonl", "--dry-run")
    assert "hardwear: a new category; did you mean hardware?" in run(*words)
    learned = json.loads(run(*words, "--json"))
    assert any("did you mean hardware" in sentence for sentence in learned["warnings"])


@pytest.mark.parametrize(
    ("new", "known", "is_misspelled"),
    [
        ("hardwear", "hardware", True),
        ("Hardware", "hardware", True),
        ("hardware ", "hardware", True),
        ("harware", "hardware", True),
        ("hhardware", "hardware", True),
        ("hardwarf", "hardware", True),
        ("spm", "spam", True),
        ("Q3", "Q4", False),
        ("part 10", "part 11", False),
        ("a", "b", False),
        ("software", "hardware", False),
    ],
)
def test_which_names_are_one_letter_apart(new, known, is_misspelled):
    from thresher.model.learn import _misspelled

    assert bool([*_misspelled([new], [known])]) == is_misspelled


def test_the_same_file_learned_twice(files):
    assert "were learned before" in run("learn", "m.thresher", "train.jsonl", "--dry-run")
    assert "were learned before" not in run("learn", "m.thresher", "test.jsonl")
    assert "were learned before" in run("learn", "m.thresher", "test.jsonl")
    run("learn", "m.thresher", "--undo")
    corrected = (files / "test.jsonl").read_text().replace('"billing"', '"hardware"')
    (files / "test.jsonl").write_text(corrected)  # the same texts with other labels are news
    assert "were learned before" not in run("learn", "m.thresher", "test.jsonl")


# Duplicates on both sides of a split -------------------------------------------------------------


def test_split_counts_duplicates_on_both_sides(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    near = [text.replace(" ", ",  ", 3).upper() + " extra" for text in TRAIN[:40]]
    rows = [*zip(TRAIN, TRUTH, strict=True), *zip(near, TRUTH, strict=False)]
    lines = (
        json.dumps({"text": t, "label": y, "day": str(i)}) + "\n" for i, (t, y) in enumerate(rows)
    )
    (tmp_path / "d.jsonl").write_text("".join(lines))
    words = ["split", "d.jsonl", "-o", "a.jsonl", "b.jsonl"]
    for options in ([], ["--time", "day"]):
        notices = runner.invoke(app, [*words, *options]).stderr
        assert "duplicates of training documents" in notices and "--group-duplicates" in notices
    notices = runner.invoke(app, [*words, "--group-duplicates"])
    assert "duplicates of training" not in notices.stderr
    assert "with duplicates together: 40 documents are like an earlier one" in notices.stdout
    files = [(tmp_path / name).read_text().splitlines() for name in ("a.jsonl", "b.jsonl")]
    texts = [[json.loads(row)["text"] for row in rows] for rows in files]
    assert sum(map(len, texts)) == 160 and len(texts[1]) == pytest.approx(32, abs=3)
    for text, other in zip(TRAIN, near, strict=False):
        assert (text in texts[0]) == (other in texts[0])
    words = [*words, "--group-duplicates", "--group", "day"]
    assert "do not go together" in run(*words, status=2)


# Digests ----------------------------------------------------------------------------------------


def test_digests_of_slices_and_large_strings():
    values = ["wheat", "", "\u00e9\u00e9", "oil", "wheat"]
    digests = text_digests(pa.array(values))
    assert digests[0] == digests[4] and digests[1] == 0 and len(set(digests.tolist())) == 4
    assert text_digests(pa.array(values, pa.large_string())).tolist() == digests.tolist()
    assert text_digests(pa.array(values)[2:]).tolist() == digests[2:].tolist()
    assert text_digests(pa.array([], pa.string())).tolist() == []


def collected(digests):
    digested = Digested()
    digested._texts.append(np.array(digests, np.uint32))
    return digested


def test_of_many_texts_the_smallest_digests_are_stored():
    numbers = GENERATOR.permutation(np.arange(1, 3 * MOST_TEXTS, dtype=np.uint32) * 7)
    whole = Digests.none().extended(collected(numbers))
    shards = Digests.none()
    for shard in np.array_split(numbers, 9):
        shards = shards.extended(collected(shard))
    assert whole.texts.tolist() == shards.texts.tolist() == sorted(numbers.tolist())[:MOST_TEXTS]
    n_known, n = whole.n_known(numbers)
    assert n_known == n == MOST_TEXTS
    n_known, n = whole.n_known(numbers + np.uint32(1))
    assert n_known == 0 and n > 0.9 * MOST_TEXTS


@pytest.mark.parametrize("texts", [[3, 2], [2, 2], [0, 1]])
def test_digests_of_a_damaged_file_are_refused(trained, tmp_path, texts):
    trained.save(tmp_path / "m")
    header, tensors = read_model(tmp_path / "m")
    write_model(tmp_path / "m", header, tensors | {"digests.texts": np.array(texts, np.uint32)})
    with pytest.raises(ModelError):
        Categorizer.load(tmp_path / "m")


def test_digests_cost_little():
    texts = pa.array(TRAIN * 100)
    began = perf_counter()
    text_digests(texts)
    assert perf_counter() - began < 0.5  # 0.01 s for 12,000 texts
