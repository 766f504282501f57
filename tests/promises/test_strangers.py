"""A model file from a stranger, checksums right, is at worst wrong: it is refused, or it works."""

import copy
import json
import math
import random
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from fuzz import models as attack
from thresher import Categorizer
from thresher.cli.main import app
from thresher.decisions import Decisions
from thresher.errors import ModelError, ParameterError, ThresherError, brief, escaped, printable
from thresher.features import Concepts
from thresher.features.strength import Strength
from thresher.learners import LEARNERS, make_learner
from thresher.model.storage import read_model, write_model
from thresher.parameters import Number, Whole
from thresher.state import require_field
from thresher.text import TextCounter
from thresher.text.linguistics import Linguistics

GOLDEN = Path(__file__).parents[1] / "golden"
TEXTS = ["cheap pills", "lunch today", "cheap watches", "see you today"]
UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
HUGE = (10**400, 10**5000, -(10**5000), 2**70, np.int64(2**62), np.float64("inf"), np.nan)
VALUES = (*attack.HOSTILE, *HUGE)


def parts(name="v2-arow-several"):
    """Return the header and the tensors of a kept model, to be changed at will."""
    header, tensors = read_model(GOLDEN / f"{name}.thresher")
    return copy.deepcopy(header), dict(tensors)


def set_at(header, path, value):
    """Put a value at a place of a header."""
    attack.at(header, path[:-1])[path[-1]] = value


def outcome(path):
    """Return how far a model goes; that it is refused must be a sentence."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return attack.use(path)
        except ModelError as error:
            assert (
                str(error).endswith(".") and not UNFIT.search(str(error)) and len(str(error)) < 4000
            )
            return "refused"


# ---- every field of the header -------------------------------------------------------------------


def fields_by_model():
    """Return for each kept model the fields that no model before it had; each learner's are own."""
    seen, by_model = set(), {}
    for path in sorted(GOLDEN.glob("v[23]-*-several.thresher")):
        header, _ = read_model(path)
        learner = header["learner"]["learner"]
        fields = []
        for field in attack.places(header):
            key = (learner, field) if field[0] == "learner" else field
            if key not in seen:
                seen.add(key)
                fields.append(field)
        by_model[path.stem] = fields
    return by_model


FIELDS = fields_by_model()


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, fields in FIELDS.items() if fields])
def test_whatever_a_field_holds_a_model_is_refused_or_works(name, tmp_path):
    rng, outcomes = random.Random(name), set()
    for field in FIELDS[name]:
        for value in rng.sample(attack.HOSTILE, 6):
            header, tensors = parts(name)
            set_at(header, field, value)
            attack.write(tmp_path / "m.thresher", header, tensors)
            outcomes.add(outcome(tmp_path / "m.thresher"))
    assert "refused" in outcomes


@pytest.mark.parametrize("literal", ["Infinity", "-Infinity", "NaN", "1e400", "9" * 30, "9" * 5000])
def test_numbers_that_are_none_are_no_header(literal, tmp_path):
    header, tensors = parts()
    header["documents_seen"] = "HERE"
    attack.write(tmp_path / "m", header, tensors, lambda text: text.replace('"HERE"', literal))
    with pytest.raises(ModelError, match="its header is not that of a model"):
        Categorizer.load(tmp_path / "m")


def test_a_header_as_deep_as_the_sea_is_none(tmp_path):
    header, tensors = parts()
    header["late"] = "HERE"
    deep = "[" * 100_000 + "]" * 100_000
    attack.write(tmp_path / "m", header, tensors, lambda text: text.replace('"HERE"', deep))
    with pytest.raises(ModelError, match="its header is not that of a model"):
        Categorizer.load(tmp_path / "m")


@pytest.mark.parametrize("value", VALUES, ids=lambda value: brief(value)[:30])
def test_fields_are_read_or_refused_with_a_sentence(value):
    for kind in (int, float, str, bool, list, dict):
        try:
            number = require_field({"x": value}, "x", kind, low=0 if kind in (int, float) else None)
        except ModelError as error:
            assert len(str(error)) < 500
        else:
            assert type(number) is kind and (kind is not float or math.isfinite(number))


# ---- in fresh processes: nothing hangs, nothing takes gigabytes ----------------------------------

LOAD = """
import resource, sys, warnings
warnings.simplefilter("ignore")
from thresher import Categorizer, ThresherError
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, resource.RLIM_INFINITY))
try:
    model = Categorizer.load(sys.argv[1])
    model.predict(["cheap crude oil"])
    model.explain("cheap crude oil")
    model.summary()
    print("worked")
except ThresherError as error:
    print(error)
"""


def fresh(path):
    """Return what a process of its own says to a model."""
    words = [sys.executable, "-c", LOAD, str(path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("features.text.char_ngram_range", [2**62, 2**62], "from 1 to 64"),
        ("features.text.char_ngram_range", [2**63, 2**63], "header is not that of a model"),
        ("features.text.ngram_range", [1, 10**7], "from 1 to 16"),
        ("features.text.char_ngram_range", [1, 10**7], "from 1 to 64"),
        ("learner.params.n_jobs", 100_000, "a whole number from 1 to 1024"),
        ("learner.params.max_iter", 2**40, "a whole number from 1 to 1000000"),
        ("learner.params.n_jobs", 1024, "worked"),
        ("features.text.hashing_bits", 30, "a whole number from 1 to 24"),
    ],
)
def test_sizes_that_hang_or_overflow_are_refused(field, value, sentence, tmp_path):
    header, tensors = parts()
    set_at(header, tuple(field.split(".")), value)
    attack.write(tmp_path / "m", header, tensors)
    assert sentence in fresh(tmp_path / "m")


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner", ["majority-class", "nearest-neighbors", "decision-tree", "stump-boosting"]
)
def test_a_small_file_of_many_hashed_columns_takes_little(learner, tmp_path):
    Categorizer(learner, hashing_bits=3).fit(TEXTS, list("abab")).save(tmp_path / "m")
    header, tensors = read_model(tmp_path / "m")
    header["features"]["text"]["hashing_bits"] = 24
    header["learner"]["n_features"] = 2**24
    attack.write(tmp_path / "m", header, tensors)
    assert (tmp_path / "m").stat().st_size < 20_000
    assert fresh(tmp_path / "m") == "worked"


def test_the_command_line_has_the_same_bounds():
    for words in (["predict", "m", "--threads", "100000"], ["rank", "m", "--top", str(2**40)]):
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 2 and "Invalid value for" in result.output


# ---- parameters ----------------------------------------------------------------------------------

# The examples of the documentation, which are tests too, register learners of their own.
OURS = {name: one for name, one in LEARNERS.items() if one.__module__.startswith("thresher.")}
OWNERS = [*OURS.values(), Categorizer, Concepts, Strength, TextCounter, Linguistics]


@pytest.mark.parametrize("owner", OWNERS, ids=lambda owner: owner.__name__)
def test_any_value_of_a_parameter_is_right_or_refused_with_a_sentence(owner):
    n_refused = 0
    for name in owner.parameters:
        for value in (*VALUES, np.array([1, 2]), b"x", object()):
            try:
                owner(**{name: value}).check_parameters()
            except ParameterError as error:
                n_refused += 1
                assert len(str(error)) <= 2000
    assert n_refused > 0 or not owner.parameters


def ends():
    """Yield every number that a learner's parameter can be at most, or at least."""
    for name, learner in OURS.items():
        for key, one in learner.parameters.items():
            if type(one.kind) in (Number, Whole) and key not in ("max_iter", "epochs", "hidden"):
                low = np.nextafter(one.kind.low, 1e300) if getattr(one.kind, "open_low", 0) else 0
                for value in (low or one.kind.low, one.kind.high):
                    yield pytest.param(name, {key: value}, id=f"{name}-{key}-{value:g}")
    yield pytest.param("perceptron", {"average": "examples", "promotion": 1e6}, id="averaged")
    yield pytest.param("romma", {"aggressive": True, "max_iter": 1000}, id="romma")


@pytest.mark.parametrize(("learner", "params"), list(ends()))
def test_what_is_learned_with_the_most_extreme_parameters_is_finite_and_can_be_read(
    learner, params, tmp_path
):
    documents, labels = attack.texts(random.Random(3), 12)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = Categorizer(make_learner(learner, **params), tune_folds=2, objective=None)
            model.fit(documents, labels)
            if hasattr(model.learner_, "learn_rows"):
                model.learn(documents[:2], [["new"], ["energy"]], sample_weight=[1e12, 1e-12])
        except ParameterError as error:
            assert str(error).endswith(".")  # nothing was learned
            return
        scores = model.scores(documents)
        assert np.isfinite(scores).all()
        model.save(tmp_path / "m")
        assert np.array_equal(Categorizer.load(tmp_path / "m").scores(documents), scores)


# ---- tensors -------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [np.inf, np.nan, 1e30, -1e38])
def test_weights_of_which_scores_would_not_be_finite_are_refused(weight, tmp_path):
    header, tensors = parts()
    tensors["learner.weights"] = np.full_like(tensors["learner.weights"], weight)
    attack.write(tmp_path / "m", header, tensors)
    with pytest.raises(ModelError, match="finite values"):
        Categorizer.load(tmp_path / "m")


@pytest.mark.parametrize("weight", [np.inf, -np.inf, np.nan])
def test_halves_are_checked_as_singles_are(weight, tmp_path):
    header, tensors = parts("v3-arow-several")
    tensors["learner.weights"][3, 1] = weight
    write_model(tmp_path / "m", header, tensors, narrow=True)
    assert np.isnan(weight) or b"float16" in (tmp_path / "m").read_bytes()
    with pytest.raises(ModelError, match="finite values"):
        Categorizer.load(tmp_path / "m")


def test_a_learner_without_what_learning_needs_is_that_of_a_compacted_model(tmp_path):
    header, tensors = parts("v3-arow-several")
    del header["compacted"]
    attack.write(tmp_path / "m", header, tensors)
    model = Categorizer.load(tmp_path / "m")
    with pytest.raises(ModelError, match="was compacted"):
        model.learn(TEXTS, [["new"]] * 4)


@pytest.mark.parametrize(
    ("name", "tensor", "value"),
    [
        ("v2-arow-several", "learner.variances", -1.0),
        ("v2-sleeping-experts-several", "learner.yes", -1.0),
        ("v2-naive-bayes-several", "learner.sums", -1.0),
        ("v2-rocchio-several", "learner.length", 1e-300),
        ("v2-nearest-neighbors-several", "learner.values", 0.0),
        ("v2-nearest-neighbors-several", "learner.weights", 1e300),
        ("v2-tuned-isotonic-several", "decisions.calibration.knot_scores", np.nan),
        ("v2-tuned-isotonic-several", "decisions.thresholds", np.inf),
        ("v2-arow-several", "memory.own", np.inf),
    ],
)
def test_figures_that_nothing_can_have_led_to_are_refused(name, tensor, value, tmp_path):
    header, tensors = parts(name)
    changed = tensors[tensor] = tensors[tensor].copy()
    changed.reshape(-1)[0] = value
    attack.write(tmp_path / "m", header, tensors)
    assert outcome(tmp_path / "m") == "refused"


def test_shapes_without_elements_cost_nothing(tmp_path):
    header, tensors = parts()
    tensors["learner.weights"] = np.zeros((2**40, 0), np.float32)
    attack.write(tmp_path / "m", header, tensors)
    with pytest.raises(ModelError, match="has the shape 1099511627776 x 0"):
        Categorizer.load(tmp_path / "m")


@pytest.mark.parametrize("kind", ["float16", "int64", "bool", "nonsense", None, []])
def test_a_compacted_model_is_attacked_in_its_own_format(kind, tmp_path):
    path, (header, tensors) = tmp_path / "m", parts("v3-arow-several")
    kinds = {name: one.dtype.name for name, one in tensors.items()}
    attack.write(path, header, tensors, kinds=kinds)
    golden = GOLDEN / "v3-arow-several.thresher"
    assert path.stat().st_size < 1.1 * golden.stat().st_size  # and not twice that
    assert b'"format_version\\": 3' in path.read_bytes() and outcome(path) == "ran"
    model, same = Categorizer.load(golden), Categorizer.load(path)
    assert np.array_equal(model.scores(attack.PROBES), same.scores(attack.PROBES))
    attack.write(path, header, tensors, kinds=kinds | {"learner.weights": kind})
    assert outcome(path) == "refused"


def test_many_changes_in_one_process(tmp_path, monkeypatch):
    monkeypatch.setattr(attack, "seeds", lambda name: GOLDEN)
    counts = {"refused": 0, "ran": 0, "learned": 0}
    for number in range(150):
        folder = tmp_path / str(number)
        folder.mkdir()
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                counts[attack.attack(random.Random(number), folder)] += 1
            except ThresherError:
                counts["refused"] += 1
    assert min(counts["refused"], counts["ran"] + counts["learned"]) > 20


# ---- few or no categories ------------------------------------------------------------------------


@pytest.mark.parametrize("learner", ["arow", "perceptron", "naive-bayes", "nearest-neighbors"])
def test_a_model_without_categories_does_what_can_be_done(learner, tmp_path):
    path = tmp_path / "m"
    Categorizer(learner, mode="multi-label").learn(["no label at all"], [[]]).save(path)
    model = Categorizer.load(path)
    assert model.predict(TEXTS) == [[]] * 4 and model.rank(TEXTS) == [[]] * 4
    assert model.scores(TEXTS).shape == (4, 0) and model.summary()["categories"] == 0
    with pytest.raises(ModelError, match="no category yet"):
        model.explain("cheap")
    for words in (["inspect", str(path)], ["inspect", str(path), "--json"]):
        assert CliRunner().invoke(app, words).exit_code == 0
    result = model.evaluate(TEXTS, list("abab"))
    assert result.micro["recall"] == 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.tune(TEXTS, [["a"], [], ["a"], []], "f1")
    assert model.learn(TEXTS, list("abab")).predict(["cheap pills"])


# ---- names ---------------------------------------------------------------------------------------

NAMES = ["\x1b[2Jspam\x07", "a\nb\tc", "\u202egnp.exe", "[red]x[/red]", "[/]", ":smile:"]


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    """A model whose categories, and some of whose words, are called so."""
    folder = tmp_path_factory.mktemp("names")
    words = ["cheap", "lunch", "oil", "wheat", "ship", "bank"]
    texts = [f"{word} \x1b[31m{word} {i}" for i in range(4) for word in words]
    labels = NAMES * 4
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, learner in (
            ("m", "arow"),
            ("tree", "decision-tree"),
            ("rules", "stump-boosting"),
        ):
            options = {"token_pattern": r"\S+"} if name == "m" else {}
            Categorizer(learner, **options).fit(texts, labels).save(folder / name)
    lines = (json.dumps({"text": t, "label": n}) for t, n in zip(texts, labels, strict=True))
    (folder / "d.jsonl").write_text("\n".join(lines))
    return folder


@pytest.mark.parametrize(
    "words",
    [
        "predict m d.jsonl",
        "rank m d.jsonl",
        "evaluate m d.jsonl",
        "inspect m",
        "inspect tree --tree",
        "inspect rules --rules",
        "inspect rules",
        "explain m cheap\x1b[31m",
        "tune m d.jsonl --objective f1 -o tuned",
        "learn m d.jsonl --dry-run",
    ],
)
def test_names_are_shown_escaped(words, named, monkeypatch):
    monkeypatch.chdir(named)
    result = CliRunner().invoke(app, words.split(" "), env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    assert not UNFIT.search(result.output), UNFIT.search(result.output)
    if words.startswith(("predict", "rank", "evaluate", "inspect", "tune")):
        for name in ("[red]x[/red]", "[/]", r"\x1b[2Jspam\x07", r"a\nb\tc", r"\u202egnp.exe"):
            assert name in result.output


def test_names_are_as_they_are_where_machines_read(named, monkeypatch):
    monkeypatch.chdir(named)
    result = CliRunner().invoke(app, ["predict", "m", "d.jsonl", "--json"])
    labels = [json.loads(line)["labels"][0] for line in result.output.splitlines()]
    assert set(labels) == set(NAMES) == set(Categorizer.load("m").classes_.tolist())


def test_half_a_surrogate_pair_is_shown_and_given_as_json(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Categorizer("arow").fit(TEXTS, ["a\ud800", "b"] * 2).save("m")
    Path("d.txt").write_text("cheap pills\n")
    assert CliRunner().invoke(app, ["predict", "m", "d.txt"]).output == "a\\ud800\n"
    result = CliRunner().invoke(app, ["predict", "m", "d.txt", "--json"])
    assert json.loads(result.output)["labels"] == ["a\ud800"]


def test_sentences_are_one_line_of_bounded_length():
    error = ModelError("a\nb\x1b[2J" + "x" * 10_000_000)
    assert str(error).startswith(r"a\nb\x1b[2Jxxx") and len(str(error)) < 2100
    assert escaped("weiß 漢字 e\u0301") == "weiß 漢字 e\u0301"
    assert printable("a\nb\x1b\u202e") == "a\nb\ufffd\ufffd"
    assert printable("mail\r\nends\rso") == "mail \nends\ufffdso"
    assert len(brief(["x" * 100] * 1000)) <= 200 and "4999 digits" in brief(-(10**4999))
    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert "too large" in brief(deep)


@pytest.mark.parametrize("threshold", [np.inf, -np.inf, np.nan])
def test_thresholds_are_finite(threshold):
    with pytest.raises(ParameterError, match="finite"):
        Decisions(thresholds=[0.0, threshold])


def test_labels_are_numbers_that_others_can_hold():
    with pytest.raises(ThresherError, match="give such large ones as texts"):
        Categorizer("arow").fit(TEXTS, [10**30, 1, 10**30, 1])
