"""The assembled line: what a user of the library sees."""

import io
import json

import numpy as np
import pytest

from thresher import (
    LEARNERS,
    Categorizer,
    DocumentError,
    ModelError,
    ModifiedBalancedWinnow,
    ParameterError,
    PassiveAggressive,
    examples,
    read_documents,
)
from thresher.corpora.standard_library import standard_library
from thresher.examples import Spool
from thresher.model import train


@pytest.fixture(scope="session")
def library():
    """Texts and labels of a part of the standard library's documentation."""
    train, test = standard_library()
    expected = {"asyncio", "email", "logging", "http", "tkinter", "xml"}
    return [
        (
            [e.text for e in item if e.labels[0] in expected],
            [e.labels for e in item if e.labels[0] in expected],
        )
        for item in (train, test)
    ]


@pytest.fixture(scope="session")
def trained(library):
    (texts, labels), _ = library
    return Categorizer().fit(texts, labels)


def first_labels(labels):
    return [label[0] for label in labels]


@pytest.mark.slow
def test_it_learns_what_can_be_learned(trained, library):
    _, (texts, labels) = library
    result = trained.evaluate(texts, labels)
    assert result.micro["f1"] > 0.8
    assert trained.categories_ == sorted({name for label in labels for name in label})


def test_single_label_data_gives_one_category_each(library):
    (texts, labels), (test_texts, test_labels) = library
    categorizer = Categorizer().fit(texts, first_labels(labels))
    predicted = categorizer.predict(test_texts)
    assert set(predicted) <= set(categorizer.classes_.tolist())
    right = np.mean([p == t for p, t in zip(predicted, first_labels(test_labels), strict=True)])
    assert right > 0.8
    assert categorizer.score(test_texts, first_labels(test_labels)) == right


def test_rank_agrees_with_scores(trained, library):
    texts = library[1][0][:20]
    scores = trained.scores(texts)
    for row, ranked in zip(scores, trained.rank(texts, top=3), strict=True):
        assert len(ranked) == 3
        assert ranked[0] == (trained.categories_[int(row.argmax())], float(row.max()))


def test_a_model_is_the_same_after_saving(trained, library, tmp_path):
    trained.save(tmp_path / "model")
    loaded = Categorizer.load(tmp_path / "model")
    texts = library[1][0]
    np.testing.assert_array_equal(loaded.scores(texts), trained.scores(texts))
    assert loaded.predict(texts) == trained.predict(texts)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


@pytest.mark.parametrize("threads", [2, 3])
def test_any_number_of_threads_gives_the_same_bytes(trained, library, tmp_path, threads):
    (texts, labels), _ = library
    other = Categorizer(n_jobs=threads).fit(texts, labels)
    trained.save(tmp_path / "one")
    other.save(tmp_path / "many")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "many").read_bytes()


def test_documents_on_disk_give_the_same_model_as_in_memory(
    trained, library, tmp_path, monkeypatch
):
    monkeypatch.setattr(examples, "BLOCK_ENTRIES", 5_000)
    monkeypatch.setattr(Spool.__init__, "__defaults__", (10_000,))
    (texts, labels), _ = library
    other = Categorizer().fit(texts, labels)
    np.testing.assert_array_equal(
        other.learner_.effective_weights(), trained.learner_.effective_weights()
    )


def test_another_seed_gives_another_model(trained, library):
    (texts, labels), _ = library
    other = Categorizer(random_state=1).fit(texts, labels)
    assert not np.array_equal(
        other.learner_.effective_weights(), trained.learner_.effective_weights()
    )


# Explanations ------------------------------------------------------------------------------------

SPACE = {"ngram_range": (1, 2), "char_ngram_range": (5, 5), "block_weights": {"parts": 0.6}}
OPTIONS = [
    {},
    {"ngram_range": (1, 2)},
    {"strength": "tf-idf", "normalize": "l2"},
    {"char_ngram_range": (3, 4)},
    {"hashing_bits": 12},
    {"stem": True, "stop_words": True},
    *({"learner": name} for name in LEARNERS),
    {"learner": PassiveAggressive(feature_budget=50, max_iter=1)},
    {"learner": ModifiedBalancedWinnow(feature_budget=50)},
]


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_shares_add_up_to_the_score(library, options):
    (texts, labels), (test_texts, _) = library
    categorizer = Categorizer(**options).fit(texts, labels)
    for text in test_texts[:10]:
        margins = categorizer.scores([text])[0] - categorizer.decisions_.thresholds
        margin_of = dict(zip(categorizer.categories_, margins, strict=True))
        for category in ("email", "class"):
            explanation = categorizer.explain(text, category)
            assert explanation.score == pytest.approx(margin_of[category], rel=1e-4, abs=1e-4)
            assert explanation.chosen == (margin_of[category] > 0)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, OPTIONS[2], SPACE], ids=str)
def test_the_change_that_is_named_does_change_the_decision(library, options):
    """Words are taken out of, or put into, the text itself, and the text is decided anew."""
    (texts, labels), (test_texts, _) = library
    categorizer = Categorizer(**options).fit(texts, labels)
    tried = 0
    for text in test_texts[:40]:
        explanation = categorizer.explain(text, "email")
        if explanation.change is None:
            continue
        words = explanation.change.features
        if explanation.change.action == "add":
            changed = text + "\n" + " ".join(words)
        else:
            changed = text
            for start, end, _ in reversed(explanation.spans):
                if text[start:end].lower() in words:
                    changed = changed[:start] + " " + changed[end:]
        again = categorizer.explain(changed, "email")
        assert again.chosen != explanation.chosen
        assert again.score == pytest.approx(explanation.change.score, rel=1e-4, abs=1e-4)
        tried += 1
    assert tried > 20


def test_an_explanation_in_single_label_mode_names_the_rival(library):
    (texts, labels), (test_texts, _) = library
    categorizer = Categorizer().fit(texts, first_labels(labels))
    explanation = categorizer.explain(test_texts[0])
    assert explanation.chosen
    ranked = categorizer.rank([test_texts[0]])[0]
    assert (explanation.category, explanation.rival) == (ranked[0][0], ranked[1])
    assert explanation.change.winner not in (None, explanation.category)


def test_an_explanation_prints_in_all_its_forms(trained, library):
    from rich.console import Console

    from thresher.report import explanation_page, explanation_text

    text = library[1][0][3]
    explanation = trained.explain(text + " <b>&</b>", "logging")
    assert "logging" in str(explanation)
    console = Console(record=True, width=100, force_terminal=True, file=io.StringIO())
    console.print(explanation_text(explanation))
    assert explanation.verdict() in console.export_text()
    page = explanation_page(explanation)
    assert "&lt;b&gt;&amp;&lt;/b&gt;" in page and "<b>&</b>" not in page
    json.dumps(explanation.to_dict())


def test_explaining_a_document_with_no_known_word(trained):
    explanation = trained.explain("zzz qqq", "email")
    lines = [share.feature for share in explanation.shares]
    assert "(always on)" in lines and all(line.startswith("(") for line in lines)  # no words
    assert not explanation.chosen
    assert explanation.change is not None and explanation.change.action == "add"


def test_an_unknown_category_is_named(trained):
    with pytest.raises(ParameterError, match="no category 'sport'"):
        trained.explain("text", "sport")


# Going on ----------------------------------------------------------------------------------------


def test_learning_goes_on_with_new_words_and_categories(library):
    (texts, labels), _ = library
    categorizer = Categorizer().fit(texts[:200], labels[:200])
    features, categories = categorizer.n_features, len(categorizer.categories_)
    new = [f"the quokka hops over fence {i}" for i in range(20)]
    for _ in range(3):
        categorizer.learn(new + texts[:20], [["marsupial"]] * 20 + labels[:20])
    assert categorizer.n_features > features
    assert len(categorizer.categories_) == categories + 1
    assert categorizer.predict(["a quokka on the fence"]) == [["marsupial"]]


def test_learning_may_start_from_nothing():
    categorizer = Categorizer()
    for _ in range(10):
        categorizer.learn(["cheap pills", "lunch today"], ["spam", "ham"])
    categorizer.learn(["parcel tracking number"], ["post"])
    assert categorizer.categories_ == ["spam", "ham", "post"]
    assert categorizer.predict(["cheap pills"]) == ["spam"]


def test_a_category_that_comes_late_does_not_take_everything(library):
    (texts, labels), (test_texts, _) = library
    categorizer = Categorizer().fit(texts, labels)
    categorizer.learn(["the quokka hops over the fence"], [["marsupial"]])
    taken = sum("marsupial" in item for item in categorizer.predict(test_texts))
    assert taken <= 0.003 * len(test_texts)
    assert "marsupial" in categorizer.predict(["the quokka hops over the fence"])[0]


def test_many_documents_with_many_labels_are_learned_without_dual_variables(monkeypatch):
    texts = ["wheat up", "oil down", "wheat and oil", "ships"] * 5
    labels = [["grain"], ["crude"], ["grain", "crude"], []] * 5
    mode = {"mode": "multi-label"}
    assert Categorizer(**mode).fit(texts, labels).learner_.name == "linear-svm"
    monkeypatch.setattr(train, "MOST_DUAL_VARIABLES", 39)  # of 40
    categorizer = Categorizer(**mode).fit(texts, labels)
    assert categorizer.learner_.name == "arow" and categorizer.tuning_ is not None
    assert "would need too much memory" in categorizer.assumptions_[-1]
    assert Categorizer("linear-svm", **mode).fit(texts, labels).learner_.name == "linear-svm"


def test_learning_after_loading_equals_learning_without_saving(library, tmp_path):
    (texts, labels), _ = library
    first = Categorizer().fit(texts[:300], labels[:300])
    first.save(tmp_path / "model")
    other = Categorizer.load(tmp_path / "model")
    for categorizer in (first, other):
        categorizer.learn(texts[300:400], labels[300:400])
    first.save(tmp_path / "one")
    other.save(tmp_path / "other")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_a_stream_is_learned_within_a_budget_of_features():
    """Every document brings a new word, for ever; the model does not grow for ever."""
    categorizer = Categorizer(PassiveAggressive(feature_budget=20))
    for start in range(0, 4000, 100):
        numbers = range(start, start + 100)
        texts = [f"{'wheat' if n % 2 else 'goal'} word{n} other{n % 7}" for n in numbers]
        categorizer.learn(texts, ["farm" if n % 2 else "sport" for n in numbers])
    assert categorizer.n_features < 400
    assert categorizer.predict(["wheat word1", "goal word2"]) == ["farm", "sport"]
    assert categorizer.explain("wheat", "farm").shares[0].feature == "wheat"


def test_fit_fixes_the_mode_and_a_stream_leaves_it_open():
    fitted = Categorizer().fit(["wheat rye", "goal match"] * 3, ["farm", "sport"] * 3)
    with pytest.raises(DocumentError, match='train anew with mode="multi-label"'):
        fitted.learn(["wheat goal", "nothing at all"], [["farm", "sport"], []])
    assert fitted.decisions_.mode == "single-label"
    begun = Categorizer().learn(["wheat rye", "goal match"] * 3, ["farm", "sport"] * 3)
    assert begun.decisions_.mode == "single-label"
    begun.learn(["wheat goal", "nothing at all"], [["farm", "sport"], []])
    assert begun.decisions_.mode == "multi-label"


def test_a_model_knows_the_columns_it_was_trained_on(tmp_path):
    path = tmp_path / "mail.csv"
    path.write_text("text,subject,team\n" + "x,wheat,farm\ny,goal,sport\n" * 5)
    documents = read_documents(path, text="subject", labels="team")
    Categorizer().fit(documents).save(tmp_path / "model")
    loaded = Categorizer.load(tmp_path / "model")
    assert loaded.predict(path)[:2] == ["farm", "sport"]
    assert loaded.evaluate(path).micro["f1"] == 1


# Choosing features -------------------------------------------------------------------------------


def test_features_are_left_out_by_document_frequency():
    texts = ["common rare1 middling", "common rare2 middling", "common rare3"]
    labels = ["a", "b", "a"]
    categorizer = Categorizer(preset="fast", min_df=2, max_df=0.9).fit(texts, labels)
    assert categorizer.features_.counter.feature_names() == ["middling"]
    with pytest.raises(DocumentError, match="No feature is left"):
        Categorizer(min_df=10).fit(texts, labels)


@pytest.mark.parametrize("select_by", ["chi-square", "information-gain"])
def test_features_are_selected_by_what_they_tell(library, select_by):
    (texts, labels), (test_texts, test_labels) = library
    categorizer = Categorizer(n_selected=500, select_by=select_by).fit(texts, labels)
    assert categorizer.n_features == 500
    assert categorizer.evaluate(test_texts, test_labels).micro["f1"] > 0.75


def test_hashed_features_are_masked_not_renumbered(library):
    (texts, labels), (test_texts, test_labels) = library
    categorizer = Categorizer(hashing_bits=14, min_df=2).fit(texts, labels)
    assert categorizer.n_features == 2**14
    assert categorizer.evaluate(test_texts, test_labels).micro["f1"] > 0.75


def test_max_features_keeps_the_most_frequent():
    categorizer = Categorizer(preset="fast", max_features=2)
    categorizer.fit(["aa bb cc", "aa bb", "aa dd"], ["x", "y", "x"])
    assert categorizer.features_.counter.feature_names() == ["aa", "bb"]


# What bad input gets -----------------------------------------------------------------------------


def test_no_documents():
    with pytest.raises(DocumentError, match="no documents"):
        Categorizer().fit([], [])


def test_no_labels():
    with pytest.raises(DocumentError, match="None of the 2 documents has a label"):
        Categorizer().fit(["a text", "another"], [[], []])


def test_one_category_only():
    with pytest.raises(DocumentError, match="one category 'x'"):
        Categorizer().fit(["a text", "another"], ["x", "x"])


def test_one_category_against_none_is_a_filter():
    texts = ["cheap pills", "lunch today", "cheap watches", "see you today"]
    categorizer = Categorizer().fit(texts, [["spam"], [], ["spam"], []])
    assert categorizer.predict(["cheap cheap", "today"]) == [["spam"], []]


def test_an_empty_document_is_a_document(trained):
    assert trained.predict(["", "   "]) == trained.predict(["", ""])


def test_predicting_before_learning():
    with pytest.raises(ModelError, match="has not learned"):
        Categorizer().predict(["text"])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"learner": "magic"}, "no learner 'magic'"),
        ({"select_by": "guess"}, "select_by is 'guess'"),
        ({"mode": "maybe"}, "mode is 'maybe'"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"strength": "huge"}, "huge"),
        ({"tokens": "runes"}, "runes"),
    ],
)
def test_a_bad_parameter_is_a_sentence(options, sentence):
    with pytest.raises(ParameterError, match=sentence):
        Categorizer(**options).fit(["aa", "bb"], ["x", "y"])


@pytest.mark.parametrize(
    "damage", ["parameters", "categories", "features", "learner", "decisions", "documents_seen"]
)
def test_a_header_that_lacks_something_is_a_sentence(trained, tmp_path, damage):
    from thresher.model.storage import read_model, write_model

    trained.save(tmp_path / "model")
    header, tensors = read_model(tmp_path / "model")
    header = {k: v for k, v in header.items() if k != damage}
    write_model(tmp_path / "model", header, tensors)
    with pytest.raises(ModelError):
        Categorizer.load(tmp_path / "model")


def test_categories_that_do_not_fit_the_weights_are_refused(trained, tmp_path):
    from thresher.model.storage import read_model, write_model

    trained.save(tmp_path / "model")
    header, tensors = read_model(tmp_path / "model")
    header["categories"]["labels"].pop()
    write_model(tmp_path / "model", header, tensors)
    with pytest.raises(ModelError, match="categories"):
        Categorizer.load(tmp_path / "model")


def test_who_listens_hears_what_was_done(tmp_path, caplog):
    texts, labels = ["cheap pills", "lunch today?", "cheap watches"], ["spam", "ham", "spam"]
    with caplog.at_level("INFO", "thresher"):
        model = Categorizer(preset="fast").fit(texts, labels)
        model.learn(["see you at lunch"], ["ham"])
        model.save(tmp_path / "model")
        Categorizer.load(tmp_path / "model")
    lines = [record.message for record in caplog.records if record.name == "thresher"]
    assert lines[0] == "One label for each document."
    assert lines[1].startswith("fitted to 3 documents: 2 categories, 5 features (")
    assert lines[2].startswith("learned on, now from 4 documents: 2 categories, 8 features (")
    assert lines[3:] == [f"saved to {tmp_path / 'model'}", f"loaded {tmp_path / 'model'}"]
