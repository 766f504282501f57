"""The base installation works without scikit-learn, scipy, simplemma and matplotlib.

`make base` runs this in an environment that has nothing else; there `THRESHER_BASE=1` makes sure
that it does not have them by accident.
"""

import importlib.util
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from thresher import LEARNERS, Categorizer, MissingExtra, TextVectorizer, compare, write_report
from thresher.learners.capabilities import Online
from thresher.report import write_concept_page
from thresher.report.concept_view import ConceptView

EXTRAS = ("sklearn", "scipy", "simplemma", "matplotlib", "lemminflect")
TOPICS = {"grain": "wheat corn field", "oil": "crude oil barrel", "sea": "ship port dock"}
LABELS = [name for _ in range(12) for name in TOPICS]
TEXTS = [f"{TOPICS[name]} note{i % 7} of the day" for i, name in enumerate(LABELS)]
IS_BASE = os.environ.get("THRESHER_BASE") == "1"


def test_the_base_has_no_extra():
    present = [name for name in EXTRAS if importlib.util.find_spec(name)]
    assert not (IS_BASE and present), f"{present} are installed; make the environment anew"


@pytest.mark.parametrize("learner", sorted(LEARNERS))
def test_every_learner_trains_saves_and_explains(learner, tmp_path):
    model = Categorizer(learner).fit(TEXTS, LABELS)
    assert model.score(TEXTS, LABELS) > (0.9 if learner != "majority-class" else 0.3)
    model.save(tmp_path / "m")
    again = Categorizer.load(tmp_path / "m")
    np.testing.assert_array_equal(again.scores(TEXTS), model.scores(TEXTS))
    explanation = again.explain(TEXTS[0], "grain")
    assert explanation.shares and "grain" in str(explanation)
    if isinstance(again.learner_, Online):
        again.learn(["tin mine"], ["metals"])
        assert again.classes_.tolist() == ["grain", "oil", "sea", "metals"]


def test_concepts_are_learned_and_drawn(tmp_path):
    model = Categorizer(concepts=3).fit(TEXTS, LABELS, unlabelled=TEXTS)
    assert model.score(TEXTS, LABELS) > 0.9
    write_concept_page(tmp_path / "concepts.html", ConceptView(model))
    assert (tmp_path / "concepts.html").stat().st_size > 10_000


@pytest.mark.parametrize("calibrate", ["sigmoid", "isotonic"])
def test_it_tunes_calibrates_compares_and_reports(calibrate, tmp_path):
    several = [[name] if i % 5 else [] for i, name in enumerate(LABELS)]
    model = Categorizer(objective="f1", calibrate=calibrate, stem=True).fit(TEXTS, several)
    assert model.predict_proba(TEXTS).shape == (36, 3)
    model.tune(TEXTS, several, "recall=0.9")
    evaluation = write_report(tmp_path / "report.html", model, TEXTS, several)
    assert evaluation.micro["f1"] > 0.5 and (tmp_path / "report.html").stat().st_size > 10_000
    comparison = compare({n: Categorizer(n) for n in ("perceptron", "naive-bayes")}, TEXTS, LABELS)
    assert comparison.t_test(comparison.against, "micro_f1").p_value >= 0


@pytest.mark.slow
def test_the_command_line_works(tmp_path):
    data = tmp_path / "train.jsonl"
    lines = (json.dumps({"text": t, "label": y}) for t, y in zip(TEXTS, LABELS, strict=True))
    data.write_text("\n".join(lines) + "\n", encoding="utf-8")
    model = str(tmp_path / "m")

    def run(*words):
        command = [sys.executable, "-m", "thresher", *words]
        done = subprocess.run(command, capture_output=True, text=True, input="crude oil\n")
        assert done.returncode == 0, done.stderr
        return done.stdout

    run(
        "train",
        str(data),
        "-o",
        model,
        "--objective",
        "f1",
        "--ngrams",
        "1-2",
        "--char-ngrams",
        "3",
    )
    assert run("predict", model) == "oil\n"
    assert "oil" in run("rank", model) and "oil" in run("explain", model, "crude oil")
    run("learn", model, str(data))
    run("evaluate", model, str(data), "--report", str(tmp_path / "r.html"))
    run("tune", model, str(data), "--objective", "f1", "-o", str(tmp_path / "n"))
    run("compare", str(data), "--learners", "rocchio,perceptron", "--folds", "2")
    run("inspect", model), run("learners")


@pytest.mark.skipif(not IS_BASE, reason="the extras are installed here; `make base` runs it")
@pytest.mark.parametrize(
    ("use", "extra"),
    [
        (lambda: Categorizer(lemmatize=True).fit(TEXTS, LABELS), "lemmas"),
        (lambda: LEARNERS["perceptron"]().fit(np.eye(2), [0, 1]), "scikit-learn"),
        (lambda: TextVectorizer().fit_transform(TEXTS), "scikit-learn"),
    ],
)
def test_what_needs_an_extra_names_it(use, extra):
    with pytest.raises(MissingExtra, match=f"thresher\\[{extra}\\]"):
        use()
