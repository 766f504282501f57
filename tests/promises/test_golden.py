"""Models that were written in the past say what they said then, bit for bit, and go on learning.

The files of format 1 were written at commit e0eb270, before format 2 existed: one per learner, and
one per option that changes what is counted, decided or kept; those of format 2 by `golden/make.py`,
and those of format 3, which are compacted. `v1.json` to `v3.json` hold the texts, and what each
model said of them before and after it learned on. Those called "scripts" are of texts in many
scripts, by the version of the counter, which cuts them: version 2 knew no combining marks, normal
forms and scripts without spaces.
"""

import json
from pathlib import Path

import numba
import numpy as np
import pytest

from thresher import Categorizer

FOLDER = Path(__file__).parents[1] / "golden"
FORMATS = [json.loads((FOLDER / f"v{n}.json").read_text(encoding="utf-8")) for n in (1, 2, 3)]
GOLDEN = FORMATS[0]  # the texts are the same for all
MODELS = FORMATS[0]["models"] | FORMATS[1]["models"] | FORMATS[2]["models"]

LOOKED = json.loads((FOLDER / "looked.json").read_text(encoding="utf-8"))
SCRIPTS = json.loads((FOLDER / "scripts.json").read_text(encoding="utf-8"))


def assert_same_scores(model, expected):
    texts = GOLDEN["unseen"]
    scores = model.scores(texts)
    assert np.ascontiguousarray(scores, "<f4").tobytes().hex() == expected["scores"]
    if numba.config.DISABLE_JIT:
        return
    for _ in range(4):  # after some of them, the model builds its reader of single texts
        one_by_one = np.concatenate([model.scores([text]) for text in texts])
        assert one_by_one.tobytes() == np.ascontiguousarray(scores).tobytes()


def feature_shares(model, text, category):
    """What each feature adds, which is what explanations said before they spoke of words."""
    features, learner = model.features_, model.learner_
    rows = features.apply(features.count([text]))
    added, _ = learner.contributions(rows, model.categories_.index(category))
    return [list(pair) for pair in zip(features.names(rows.indices), added.tolist(), strict=True)]


def assert_same_explanations(model, expected):
    texts = GOLDEN["unseen"][0], GOLDEN["unseen"][-1]
    features = model.features_
    for text, wanted in zip(texts, expected["explanations"], strict=True):
        explanation = model.explain(text, wanted["category"])
        assert (explanation.chosen, explanation.threshold) == (
            wanted["chosen"],
            wanted["threshold"],
        )
        assert explanation.rival == (wanted["rival"] and tuple(wanted["rival"]))
        lines = [[one.feature, one.share] for one in explanation.shares]
        shares = feature_shares(model, text, wanted["category"]) + lines
        if features.is_hashed:  # whose features have no names
            assert {share for _, share in wanted["shares"]} <= {share for _, share in shares}
        else:
            assert all(pair in shares for pair in wanted["shares"])
        # Words are now taken out of the text, which is then shorter, and pairs meet anew.
        of_words_alone = not features.is_hashed and not features.blocks.any()
        if of_words_alone and features.strength.kind != "book":
            assert lines[: len(wanted["shares"])] == wanted["shares"]
            assert (explanation.change and explanation.change._asdict()) == wanted["change"]


def assert_says(model, expected):
    assert_same_scores(model, expected)
    assert model.decide(model.scores(GOLDEN["unseen"])) == expected["predictions"]
    assert model.decisions_.thresholds.tolist() == expected["thresholds"]
    if "probabilities" in expected:
        np.testing.assert_allclose(
            model.predict_proba(GOLDEN["unseen"]), expected["probabilities"], rtol=1e-12
        )
    assert_same_explanations(model, expected)


def test_every_golden_model_is_expected():
    assert {path.stem for path in FOLDER.glob("v?-*.thresher")} == set(MODELS)
    assert {path.stem for path in FOLDER.glob("scripts-*.thresher")} == set(SCRIPTS["models"])
    assert {path.stem for path in FOLDER.glob("looked-*.thresher")} == set(LOOKED)


@pytest.mark.parametrize("name", sorted(SCRIPTS["models"]))
def test_golden_model_cuts_every_script_as_it_did(name, tmp_path):
    model = Categorizer.load(FOLDER / f"{name}.thresher")
    model.save(tmp_path / "again.thresher")
    for one in (model, Categorizer.load(tmp_path / "again.thresher")):
        scores = np.ascontiguousarray(one.scores(SCRIPTS["unseen"]), "<f4")
        assert scores.tobytes().hex() == SCRIPTS["models"][name]
        assert one.features_.counter.state()[0]["version"] == int(name.split("-")[1])


@pytest.mark.parametrize("name", sorted(LOOKED))
def test_golden_model_looks_again_as_it_did(name, tmp_path):
    """But for rounding: probabilities are of exponentials, which differ from machine to machine."""
    model = Categorizer.load(FOLDER / f"{name}.thresher")
    model.save(tmp_path / "again.thresher")
    again = Categorizer.load(tmp_path / "again.thresher")
    assert again.model_.second_look.kind == "trees"
    np.testing.assert_allclose(again.scores(GOLDEN["unseen"]), LOOKED[name]["before"], rtol=1e-4)
    again.learn(GOLDEN["later"], GOLDEN["later_labels"])
    np.testing.assert_allclose(again.scores(GOLDEN["unseen"]), LOOKED[name]["after"], rtol=1e-4)
    for text in GOLDEN["unseen"]:
        score = again.scores([text])[0, again.categories_.index("oil")]
        assert again.explain(text, "oil").total == pytest.approx(float(score), abs=1e-4)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_golden_model_says_the_same(name):
    model = Categorizer.load(FOLDER / f"{name}.thresher")
    assert_says(model, MODELS[name]["before"])


@pytest.mark.parametrize("name", sorted(name for name in MODELS if "after" in MODELS[name]))
def test_golden_model_learns_on_as_it_did(name):
    model = Categorizer.load(FOLDER / f"{name}.thresher")
    model.learn(GOLDEN["later"], GOLDEN["later_labels"])
    assert_says(model, MODELS[name]["after"])


REMEMBERING = (
    "arow", "arow-little-memory", "concepts", "gaps", "hashed-gaps", "linear-svm", "majority-class",
    "nearest-neighbors", "value-difference",
)  # fmt: skip


def test_models_from_before_there_was_a_memory_have_none():
    remembering = {
        name
        for name in MODELS
        if Categorizer.load(FOLDER / f"{name}.thresher").model_.memory is not None
    }
    assert remembering == {
        f"v2-{case}-{form}" for case in REMEMBERING for form in ("one", "several")
    }
