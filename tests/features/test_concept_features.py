"""Concepts as a block of the line from texts to decisions: beside the words, and explained."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from thresher import Categorizer
from thresher.cli.main import app
from thresher.errors import ModelError, ParameterError, ThresherWarning
from thresher.evaluation import read_measure
from thresher.experiments.protocols import CountedDocuments
from thresher.features import features as line
from thresher.model import learn as learning
from thresher.model import train

GRAIN = [
    "wheat corn harvest bushel",
    "corn bushel acreage",
    "wheat harvest silo",
    "silo corn wheat",
]
ENERGY = ["oil crude barrel refinery", "crude opec barrel", "oil refinery opec", "barrel oil crude"]
TEXTS = [f"{text} today w{i}" for i in range(4) for text in (*GRAIN, *ENERGY)]
LABELS = ["grain", "grain", "grain", "grain", "energy", "energy", "energy", "energy"] * 4
# Words that no labelled document has, in company that says what they are about.
UNLABELLED = [f"{word} {text}" for word, texts in (("maize", GRAIN), ("petrol", ENERGY))
              for text in texts for _ in range(3)]  # fmt: skip
SEVERAL = [[label] if i % 8 else [label, "first"] for i, label in enumerate(LABELS)]


def fitted(labels=LABELS, unlabelled=None, **options):
    options = {"concepts": (2, 3), "random_state": 0} | options
    return Categorizer(**options).fit(TEXTS, labels, unlabelled=unlabelled)


def saved(model, tmp_path):
    model.save(tmp_path / "m")
    return (tmp_path / "m").read_bytes()


LEARNERS = ["auto", "arow", "linear-svm", "balanced-winnow", "naive-bayes", "stump-boosting"]


@pytest.mark.parametrize("learner", LEARNERS)
def test_concepts_come_first_and_the_model_is_the_same_after_saving(learner, tmp_path):
    model = fitted(learner=learner)
    features = model.features_
    assert features.n_concepts == 5
    assert np.unique(features.blocks[:5]).tolist() == [line.CONCEPTS]
    assert features.blocks[5:].max() < line.CONCEPTS
    assert features.names([0, 5])[0].startswith("concept 0 (")
    assert model.predict(["crude wheat wheat silo", "opec oil"]) == ["grain", "energy"]
    model.save(tmp_path / "m")
    again = Categorizer.load(tmp_path / "m")
    np.testing.assert_array_equal(again.scores(TEXTS), model.scores(TEXTS))
    assert again.summary() == model.summary()
    assert again.summary()["concepts"].startswith("2 + 3, which stay")


def test_any_number_of_threads_gives_the_same_bytes(tmp_path):
    assert saved(fitted(n_jobs=1), tmp_path) == saved(fitted(n_jobs=3), tmp_path)


def test_memberships_stand_before_the_words_and_outside_their_length():
    model, plain = fitted(), fitted(concepts=None)
    rows, words = (one.strengths([*TEXTS[:1], "", "never seen"]) for one in (model, plain))
    is_concept = rows.indices < 5
    ends = np.append(0, np.cumsum(is_concept))[rows.indptr]
    squares = np.add.reduceat(rows.values[is_concept] ** 2, ends[:-1])
    np.testing.assert_allclose(squares, 0.5**2, atol=1e-3)  # their weight; empty documents too
    np.testing.assert_array_equal(rows.indices[~is_concept] - 5, words.indices)
    np.testing.assert_array_equal(rows.values[~is_concept], words.values)


@pytest.mark.parametrize("options", [{}, {"normalize": "none"}, {"normalize": "sum"},
                                     {"block_weights": 0.7}])  # fmt: skip
def test_strengths_of_concepts_are_their_memberships_scaled_as_the_text(options):
    features = fitted(learner="arow", **options).features_
    counts = features.count(TEXTS[:3])
    strengths = features.apply(counts)
    of_concepts = counts.indices < 5
    back = [features.membership(one) for one in strengths.values[of_concepts].tolist()]
    np.testing.assert_allclose(back, counts.values[of_concepts], rtol=1e-5)


def test_documents_without_labels_teach_concepts_words_that_no_label_has():
    without, with_them = fitted(), fitted(unlabelled=UNLABELLED)
    scores = without.scores(["maize", "petrol"])
    np.testing.assert_array_equal(scores[0], scores[1])
    assert with_them.predict(["maize", "petrol"]) == ["grain", "energy"]


def test_words_that_only_concepts_know_leave_the_strengths_of_others_alone():
    model, plain = fitted(unlabelled=UNLABELLED), fitted(concepts=None)
    text = ["wheat maize petrol oil"]
    rows, words = model.strengths(text), plain.strengths(text)
    of_words = rows.indices >= 5
    np.testing.assert_array_equal(rows.values[of_words], words.values)
    names = [one.features_.names(part) for one, part in
             ((model, rows.indices[of_words]), (plain, words.indices))]  # fmt: skip
    assert names[0] == names[1]


def test_a_word_of_concepts_becomes_a_feature_when_it_is_learned(tmp_path):
    model = fitted(unlabelled=UNLABELLED, learner="arow")
    before = model.features_.count(["maize wheat opec"])
    assert "maize" not in model.features_.names(model.strengths(["maize"]).indices)
    model.learn(["maize maize"], ["grain"])
    after = model.features_.count(["maize wheat opec"])
    np.testing.assert_array_equal(after.values, before.values)
    strengths = model.strengths(["maize"])
    assert "maize" in model.features_.names(strengths.indices)
    model.save(tmp_path / "m")
    again = Categorizer.load(tmp_path / "m")
    np.testing.assert_array_equal(again.scores(UNLABELLED), model.scores(UNLABELLED))


def test_words_grow_and_concepts_stay():
    model = fitted(learner="arow")
    probabilities = [one.copy() for one in model.features_.concepts.word_probabilities_]
    n_features = model.n_features
    model.learn(["sorghum silo", "sorghum wheat"], ["grain", "grain"])
    assert model.n_features > n_features
    for before, after in zip(probabilities, model.features_.concepts.word_probabilities_,
                             strict=True):  # fmt: skip
        np.testing.assert_array_equal(before, after)


def test_what_fails_leaves_the_model_with_concepts_as_it_was(tmp_path, monkeypatch):
    model = fitted(unlabelled=UNLABELLED, learner="arow")
    before = saved(model, tmp_path)

    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(learning.Update, "_note_mistakes", fail)
    with pytest.raises(KeyboardInterrupt):
        model.learn(["maize petrol sorghum"], ["grain"])
    assert saved(model, tmp_path) == before


def test_thresholds_are_learned_with_concepts_by_folds():
    model = fitted(SEVERAL, learner="linear-svm")
    assert model.tuning_ is not None and model.decisions_.mode == "multi-label"
    assert read_measure(model.evaluate(TEXTS, SEVERAL), "micro_f1") > 0.8


@pytest.mark.parametrize("options", [{"hashing_bits": 10}, {"ngram_range": (2, 2)},
                                     {"min_df": 3}, {"n_selected": 6}])  # fmt: skip
def test_other_ways_to_count_have_concepts_too(options, tmp_path):
    model = fitted(learner="arow", **options)
    assert model.score(TEXTS, LABELS) > 0.9
    model.learn(["sorghum silo wheat corn"], ["grain"])
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(
        Categorizer.load(tmp_path / "m").scores(TEXTS), model.scores(TEXTS)
    )


@pytest.mark.parametrize("learner", ["arow", "linear-svm", "naive-bayes", "rocchio"])
def test_shares_of_concepts_are_the_words_that_brought_them(learner):
    model = fitted(learner=learner, unlabelled=UNLABELLED)
    text = "Maize, and crude: WHEAT today"
    for category in ("grain", "energy"):
        explanation = model.explain(text, category)
        score = model.scores([text])[0, model.categories_.index(category)]
        assert explanation.total == pytest.approx(score, abs=1e-5)
        shares = {one.feature: one for one in explanation.shares}
        assert shares["maize"].own == 0 and shares["maize"].concepts != 0
        assert "concepts" in shares["maize"].portions()
        assert not [one for one in shares if one.startswith("concept")]


def test_a_document_of_no_known_word_is_explained_by_concepts_themselves():
    explanation = fitted(learner="arow").explain("nothing known", "grain")
    score = fitted(learner="arow").scores(["nothing known"])[0, 1]
    assert explanation.total == pytest.approx(score, abs=1e-6)
    assert any(one.feature.startswith("concept ") for one in explanation.shares)


def test_rules_are_said_in_words_and_their_shares_add_up():
    model = fitted(learner="stump-boosting")
    rules = model.rules("grain")
    assert all(text.startswith(("contains '", "concept ")) for text, _ in rules)
    for text in (TEXTS[0], TEXTS[5], "nothing known"):
        explanation = model.explain(text, "grain")
        score = model.scores([text])[0, model.categories_.index("grain")]
        assert explanation.total == pytest.approx(score, abs=1e-5)
        assert len(explanation.shares) == len(rules)
    for_it, against_it = model.strongest("grain")
    assert {*for_it, *against_it} == set(rules)
    with pytest.raises(ModelError, match="has weights, not rules"):
        fitted(learner="arow").rules("grain")


@pytest.mark.parametrize("learner", ["arow", "stump-boosting"])
def test_experiments_learn_concepts_from_what_they_learn_from(learner):
    model = Categorizer(learner, concepts=[2, 3], random_state=0, remember=0)
    counted = CountedDocuments.read(model, TEXTS, LABELS)
    train, test = np.arange(24), np.arange(24, 32)
    scores = counted.fit(model, train).score(counted, test)
    twin = model.fit([TEXTS[i] for i in train], [LABELS[i] for i in train])
    np.testing.assert_array_equal(scores, twin.scores([TEXTS[i] for i in test]))


def test_forgetting_finds_documents_with_their_concepts():
    model = fitted(learner="arow")
    assert model.forget(TEXTS[:3]) == 3


def test_of_many_documents_a_sample_is_taken_and_said(monkeypatch):
    monkeypatch.setattr(line, "MOST_DOCUMENTS", 20)
    monkeypatch.setattr(train, "MOST_DOCUMENTS", 20)
    model = fitted(unlabelled=UNLABELLED)
    assert "a sample of 40 of 56 documents" in model.assumptions_[-1]


def test_more_concepts_than_words_are_doubted_where_fit_was_called():
    with pytest.warns(ThresherWarning, match="many of which will be alike or empty") as caught:
        model = fitted(concepts=40)
    assert caught[0].filename.endswith("test_concept_features.py")
    assert "alike or empty" in model.assumptions_[-1]


def test_an_interruption_while_concepts_are_learned_leaves_the_model_as_it_was(tmp_path):
    model = fitted()
    before = saved(model, tmp_path)

    def interrupt(stage, *_):
        if "concepts" in stage and "iteration 3" in stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(TEXTS, LABELS, progress=interrupt)
    assert saved(model, tmp_path) == before


def test_what_cannot_be_is_refused():
    with pytest.raises(ParameterError, match="for concepts, and the model has none"):
        fitted(concepts=None, unlabelled=UNLABELLED)
    with pytest.raises(ModelError, match="begin with fit"):
        Categorizer(concepts=2).learn(TEXTS, LABELS)
    for wrong in (0, [], [3, -1], 1.5, "many"):
        with pytest.raises(ParameterError, match="concepts is"):
            fitted(concepts=wrong)


def test_the_command_line_takes_documents_without_labels(tmp_path):
    data, more = tmp_path / "data.jsonl", tmp_path / "more.txt"
    pairs = zip(TEXTS, LABELS, strict=True)
    data.write_text("".join(json.dumps({"text": t, "label": y}) + "\n" for t, y in pairs))
    more.write_text("\n".join(UNLABELLED) + "\n")
    model = str(tmp_path / "m.thresher")
    command = ["train", str(data), "-o", model]
    result = CliRunner().invoke(app, [*command, "--concepts", "2,3", "--unlabelled", str(more)])
    assert result.exit_code == 0, result.stderr
    assert Categorizer.load(model).predict(["maize", "petrol"]) == ["grain", "energy"]
    result = CliRunner().invoke(app, [*command, "--unlabelled", str(more)])
    assert result.exit_code == 2 and "--concepts 100" in result.stderr
    result = CliRunner().invoke(app, [*command, "--concepts", "0"])
    assert result.exit_code == 2 and "--concepts is '0'" in result.stderr


def test_the_sample_of_all_documents_stays_within_its_memory(monkeypatch):
    monkeypatch.setattr(line, "MOST_MEMBERSHIPS", 100)  # for 5 concepts: 10 documents of each kind
    model = fitted(unlabelled=UNLABELLED)
    assert "a sample of 20 of 56 documents" in model.assumptions_[-1]
    monkeypatch.setattr(line, "MOST_MEMBERSHIPS", 50)
    assert "a sample of 10 of 32 documents" in fitted().assumptions_[-1]
