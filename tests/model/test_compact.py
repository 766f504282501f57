"""A smaller model: the same decisions, from less, and no more learning."""

import json
from copy import deepcopy

import numpy as np
import pytest
from click.testing import CliRunner

from golden.make import CASES, OLD
from thresher import Categorizer
from thresher.cli.main import app
from thresher.errors import ModelError, ParameterError
from thresher.learners.capabilities import Online
from thresher.model.compact import Compaction, ProbeDocuments, _Trial
from thresher.model.storage import read_model

UNSEEN = OLD["unseen"]
ONLY_MEMORY = ("naive-bayes", "rocchio", "nearest-neighbors", "majority-class", "value-difference")


def fitted(form, **options):
    return Categorizer(**options).fit(OLD["texts"][form], OLD["labels"][form])


def sizes(model, folder):
    model.save(folder / "model")
    return (folder / "model").stat().st_size


@pytest.mark.parametrize(
    ("case", "form"), [(case, ("one", "several")[i % 2]) for i, case in enumerate(CASES)]
)
def test_every_learner_is_smaller_and_decides_the_same(case, form, tmp_path):
    model = fitted(form, **CASES[case])
    scores = model.scores(UNSEEN)
    decided = model.decisions_.decide(scores)
    small = deepcopy(model).compact(UNSEEN, allow=0)
    assert small.compacted_.changed == 0 and small.compacted_.documents == len(UNSEEN)
    np.testing.assert_array_equal(small.decisions_.decide(small.scores(UNSEEN)), decided)
    assert sizes(small, tmp_path) < sizes(model, tmp_path)
    small.save(tmp_path / "small")
    loaded = Categorizer.load(tmp_path / "small")
    np.testing.assert_array_equal(loaded.scores(UNSEEN), small.scores(UNSEEN))
    assert loaded.categories_ == model.categories_ and loaded.rank(UNSEEN) == small.rank(UNSEEN)
    again = tmp_path / "again"
    loaded.save(again)
    assert again.read_bytes() == (tmp_path / "small").read_bytes()
    for text in (UNSEEN[0], UNSEEN[-1]):
        explanation, own = loaded.explain(text), loaded.scores([text])[0]
        margin = (own - loaded.decisions_.thresholds).max()
        assert explanation.score == pytest.approx(margin, rel=1e-4, abs=1e-4)
    assert loaded.summary()["remembered"] == 0 and "compacted" in loaded.summary()
    assert "compacted" not in model.summary()
    assert any(map(any, map(loaded.strongest, loaded.categories_))) == any(
        map(any, map(model.strongest, model.categories_))
    )
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(
            loaded.predict_proba(UNSEEN), model.probabilities(loaded.scores(UNSEEN))
        )
    assert small.compacted_.halves == bool(small.learner_.by_feature)
    if case in ONLY_MEMORY:
        np.testing.assert_array_equal(small.scores(UNSEEN), scores)


@pytest.mark.parametrize("case", CASES)
def test_without_documents_every_score_is_the_same_to_the_last_bit(case, tmp_path):
    model = fitted("several", **CASES[case] | {"remember": 0})
    small = deepcopy(model).compact()
    assert small.compacted_ == Compaction(model.n_features, model.n_features, False, 0, 0)
    np.testing.assert_array_equal(small.scores(UNSEEN), model.scores(UNSEEN))
    small.save(tmp_path / "small")
    np.testing.assert_array_equal(
        Categorizer.load(tmp_path / "small").scores(UNSEEN), model.scores(UNSEEN)
    )


@pytest.mark.parametrize("name", ["arow", "averaged", "romma", "sleeping-experts"])
def test_a_compacted_model_refuses_to_learn(name, tmp_path):
    options = {"learner": name} if name != "averaged" else CASES["arow-little-memory"]
    model = fitted("one", **options).compact()
    model.save(tmp_path / "small")
    for one in (model, Categorizer.load(tmp_path / "small")):
        before, learner = one.scores(UNSEEN), one.learner_
        for attempt, *given in (
            (one.learn, ["oil"], ["oil"]),
            (one.tune, ["oil"], ["oil"]),
            (one.merge_categories, *one.classes_[:2]),
            (learner.grow, one.n_features + 1, len(one.classes_)),
            (learner.merge_categories, 0, 1),
            (learner.discard_features, np.ones((one.n_features, len(one.classes_)), bool)),
        ):
            with pytest.raises(ModelError, match=r"compacted.* Learn with the model that"):
                attempt(*given)
        np.testing.assert_array_equal(one.scores(UNSEEN), before)
        one.delete_category(one.classes_[0])
        np.testing.assert_array_equal(one.scores(UNSEEN), before[:, 1:])
    assert isinstance(model.learner_, Online)
    assert model.fit(OLD["texts"]["one"], OLD["labels"]["one"]).learn(["oil"], ["oil"])


def test_it_keeps_only_what_scoring_needs(tmp_path):
    fitted("one", learner="arow").compact().save(tmp_path / "small")
    header, tensors = read_model(tmp_path / "small")
    assert header["compacted"] and "memory" not in header
    names = {name for name in tensors if name.startswith("learner.")}
    assert names == {"learner.weights", "learner.clock"}
    weights = tensors["learner.weights"]
    assert weights.dtype == np.float32
    np.testing.assert_array_equal(weights.astype(np.float16).astype(np.float32), weights)


@pytest.mark.parametrize("kind", ["arow", "linear-svm", "stump-boosting", "multilayer-perceptron"])
def test_what_was_tried_is_what_texts_get(kind):
    """The trial drops columns of counts; the smaller model counts the texts anew."""
    options = {"ngram_range": (1, 2), "char_ngram_range": (3, 4), "block_weights": {"parts": 0.6}}
    model = fitted("several", learner=kind, **options)
    features, learner = model.features_, model.learner_
    probes = ProbeDocuments(features.count(UNSEEN))
    trial = _Trial(model.model_, probes)
    result, keep, learner = trial.smallest(learner.compacted(), 0.3)
    assert result.features == keep.sum() < model.n_features
    tried = learner.score_rows(features.narrowed(keep).apply(probes.counts))
    names = features.names(np.flatnonzero(keep))
    small = model.compact(UNSEEN, allow=0.3)
    np.testing.assert_array_equal(small.scores(UNSEEN), tried)
    assert small.n_features == small.learner_.n_features == result.features
    assert small.features_.names(np.arange(small.n_features)) == names


def test_more_is_left_out_where_more_may_change():
    features = [
        fitted("several").compact(UNSEEN, allow=allow).compacted_.features for allow in (0, 0.2, 1)
    ]
    assert features[0] > features[1] > features[2]
    all_may = fitted("several").compact(UNSEEN, allow=1).compacted_
    assert all_may.features <= 1 + all_may.features_before // 200
    assert all_may.changed <= len(UNSEEN)


@pytest.mark.parametrize("allow", [-0.1, 1.5, np.nan, "all", None])
def test_a_share_that_is_none_is_refused(allow):
    model = fitted("one")
    with pytest.raises(ParameterError, match=r"allow is .*; it must be"):
        model.compact(UNSEEN, allow=allow)
    assert model.learn(["oil"], ["oil"])


def test_weights_that_halves_cannot_hold_stay_as_they_are():
    model = fitted("one", learner="perceptron")
    model.learner_._tables["weights"][:] *= 1e6
    scores = model.scores(UNSEEN)
    small = model.compact(UNSEEN, allow=0)
    assert not small.compacted_.halves
    assert small.predict(UNSEEN) == [model.categories_[k] for k in scores.argmax(1)]


def test_what_it_costs_is_measured_where_there_are_labels():
    truth = fitted("several").predict(UNSEEN)
    result = fitted("several").compact(UNSEEN, truth, allow=0).compacted_
    assert result.before.micro["f1"] == result.after.micro["f1"] == 1
    result = fitted("several").compact(UNSEEN, truth, allow=1).compacted_
    assert result.before.micro["f1"] == 1 > result.after.micro["f1"]
    assert "decided differently" in str(result)


def test_without_data_it_goes_by_what_is_remembered():
    model = fitted("one")
    remembered = model.summary()["remembered"]
    result = model.compact().compacted_
    assert result.documents == remembered > 0 and result.before is None
    assert result.changed <= 0.005 * remembered
    assert model.compact().compacted_.documents == 0  # nothing is remembered any more


def test_the_command_line(tmp_path):
    model = fitted("one")
    model.save(tmp_path / "m.thresher")
    (tmp_path / "d.jsonl").write_text(
        "".join(json.dumps({"text": t, "label": str(y)}) + "\n" for t, y in zip(
            UNSEEN, model.predict(UNSEEN), strict=True
        ))
    )  # fmt: skip
    run = CliRunner().invoke
    path, data = str(tmp_path / "m.thresher"), str(tmp_path / "d.jsonl")
    plain = run(app, ["compact", path])
    assert plain.exit_code == 0, plain.output
    small = tmp_path / "m-compact.thresher"
    assert "remembers" in plain.stdout and f"To learn on, keep {path}." in plain.stdout
    again = run(app, ["compact", str(small), data])
    assert again.exit_code == 0 and "To learn on" not in again.stdout, again.output
    measured = run(app, ["compact", path, data, "--allow", "0", "-o", str(tmp_path / "o")])
    assert "Of 13 documents, none is decided differently" in measured.stdout
    assert "micro-F1: 100.0 -> 100.0" in measured.stdout
    result = json.loads(run(app, ["compact", path, data, "--json"]).stdout)
    assert result["bytes"] == small.stat().st_size < result["bytes_before"]
    assert result["after"]["documents"] == len(UNSEEN) == result["documents"]
    refused = run(app, ["compact", path, "-o", path])
    assert refused.exit_code == 2 and "which is read" in refused.stderr
    for verb in (["learn", str(small), data], ["tune", str(small), data, "--objective", "f1"]):
        refused = run(app, verb)
        assert refused.exit_code == 2 and "was compacted" in refused.stderr
    for verb in (["predict"], ["rank"], ["evaluate"]):
        assert run(app, [*verb, str(small), data]).exit_code == 0
    assert run(app, ["inspect", str(small)]).exit_code == 0
    again = run(app, ["compact", str(small), "-o", str(tmp_path / "o")])
    assert "remembers no documents" in again.stdout
