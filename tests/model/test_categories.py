"""Labels as people give them: types, forms, and the one place that numbers categories."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from thresher import Categorizer, DocumentError, ModelError, ParameterError, ThresherWarning
from thresher.model.categories import Categories, LabelLists

TEXTS = ["cheap pills", "lunch today", "cheap watches", "see you today"] * 3


@pytest.mark.parametrize(
    ("labels", "lists", "form"),
    [
        (["b", "a"], [["b"], ["a"]], "one"),
        ([3, 1], [[3], [1]], "one"),
        (np.array([3, 1]), [[3], [1]], "one"),
        (np.array([[3], [1]]), [[3], [1]], "one"),
        ([True, False], [[True], [False]], "one"),
        (["a", None, float("nan"), " "], [["a"], [], [], []], "one"),
        ([["a", "b", "a"], []], [["a", "b"], []], "several"),
        ([{"b", "a"}, ("c",)], [["a", "b"], ["c"]], "several"),
        ([[0], [1]], [[0], [1]], "several"),
        ([[1, 0, 1], [0, 0, 0]], [[0, 2], []], "indicator"),
        (np.array([[1, 0], [0, 1]]), [[0], [1]], "indicator"),
        (csr_array([[0, 1], [1, 1]]), [[1], [0, 1]], "indicator"),
        ([[1, 2], [0, 1]], [[1, 2], [0, 1]], "several"),
    ],
)
def test_labels_are_read_in_every_form(labels, lists, form):
    answers = LabelLists.read(labels)
    assert ([list(one) for one in answers.lists], answers.form) == (lists, form)
    assert [list(map(type, one)) for one in answers.lists] == [list(map(type, o)) for o in lists]


@pytest.mark.parametrize("labels", [[1.5, 2.0], "spam", [["a"], [["b"]]], [object()]])
def test_what_is_no_label_is_refused_with_a_sentence(labels):
    with pytest.raises(DocumentError) as refusal:
        Categories().encode(LabelLists.read(labels).lists, grow=True)
    assert str(refusal.value).endswith(".")


@pytest.mark.parametrize(
    ("labels", "lists"),
    [
        (pd.Series([1, None], dtype="Int64"), [[1], []]),
        (pd.Series([True, None], dtype="boolean"), [[True], []]),
        (pd.Series(["a", None], dtype="string"), [["a"], []]),
        (["a", pd.NA], [["a"], []]),
        ([["a", pd.NA], ["b"]], [["a"], ["b"]]),
        ([{"b", "a", pd.NA}, {"c"}], [["a", "b"], ["c"]]),
        ([[pd.NA, 1], [2, 3]], [[1], [2, 3]]),
        (["a", "<NA>", pd.NaT], [["a"], ["<NA>"], []]),
    ],
)
def test_the_missing_value_of_pandas_is_no_label(labels, lists):
    assert list(LabelLists.read(labels).lists) == lists


def test_missing_values_of_pandas_in_learning_and_evaluation():
    labels = pd.Series([1, 2, 1, None] * 3, dtype="Int64")
    with pytest.warns(ThresherWarning, match="3 of 12 have no label"):
        model = Categorizer(preset="fast").fit(TEXTS, labels)
    with pytest.warns(ThresherWarning, match="have no label"):
        assert model.evaluate(TEXTS, labels).n_documents == 9
    with pytest.warns(ThresherWarning, match="have no label"):
        model.learn(TEXTS, labels)
    assert model.classes_.tolist() == [1, 2]


@pytest.mark.parametrize("labels", [pd.Series([{"a": 1}] * 12), pa.array([{"a": 1}] * 12)])
def test_objects_are_no_labels(labels):
    with pytest.raises(DocumentError, match=r"document 0 is \{'a': 1\}, of type dict; give texts"):
        Categorizer().fit(TEXTS, labels)


def test_whole_numbers_among_missing_values_are_whole_numbers(tmp_path):
    frame = pd.DataFrame({"text": TEXTS, "label": [1, 2, 1, None] * 3})  # a column of floats
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert "cheap pills,1.0\n" in (tmp_path / "a.csv").read_text()
    with pytest.warns(ThresherWarning, match="have no label"):
        models = [
            Categorizer(preset="fast").fit(frame.text, labels)
            for labels in (frame.label, frame.label.tolist(), frame.label.to_numpy())
        ]
    for model in models:
        assert model.classes_.tolist() == [1, 2] and model.classes_.dtype.kind == "i"
        with pytest.warns(ThresherWarning, match="have no label"):
            assert model.score(tmp_path / "a.csv") == model.score(frame.text, frame.label) == 1.0
            model.learn(tmp_path / "a.csv")
        assert model.categories_ == ["1", "2"]
    assert LabelLists.read([[1.0, float("nan")], [2.0, 1]]).lists == [[1], [2, 1]]
    assert list(LabelLists.read([1.0, "a"]).lists) == [[1.0], ["a"]]
    assert type(LabelLists.read([1.0, 2.0**60]).lists[0][0]) is float
    assert Categories([1, -2]).number("-2.0") == 1 and "1.5" not in Categories([1])


def test_models_of_floats_learn_whole_numbers():
    categories = Categories([1.0, 2.0])
    given = LabelLists.read([2.0, 3.0]).lists
    assert categories.encode(given, grow=True).indices.tolist() == [1, 2]
    assert [type(label) for label in categories] == [float] * 3


def test_labels_of_two_types_are_refused():
    with pytest.raises(DocumentError, match="labels of one type"):
        Categories().encode([["1"], [1]], grow=True)
    with pytest.raises(DocumentError, match="of type int"):
        Categorizer().fit(TEXTS, ["spam", "ham"] * 6).learn(["pills"], [7])


def test_an_interrupt_while_a_category_is_added_can_be_undone():
    class Interrupting(dict):
        def __setitem__(self, label, number):
            raise KeyboardInterrupt

    categories = Categories(["spam"])
    categories._numbers = Interrupting(categories._numbers)
    with pytest.raises(KeyboardInterrupt):
        categories.encode([["ham"]], grow=True)
    categories.truncate(1)
    assert categories.labels == ["spam"] and "ham" not in categories


def test_numbers_are_sorted_as_numbers_and_stay_numbers(tmp_path):
    labels = [10, 9, 10, 2] * 3
    model = Categorizer().fit(TEXTS, labels)
    assert model.classes_.tolist() == [2, 9, 10] and model.classes_.dtype.kind == "i"
    assert model.predict(TEXTS) == labels
    model.save(tmp_path / "m")
    again = Categorizer.load(tmp_path / "m")
    assert again.predict(TEXTS) == labels and again.classes_.tolist() == [2, 9, 10]
    again.learn(["tin foil"], [1])
    assert again.classes_.tolist() == [2, 9, 10, 1]


def test_an_indicator_matrix_is_answered_by_one(tmp_path):
    matrix = np.array([[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0]] * 3)
    model = Categorizer().fit(TEXTS, matrix.tolist())
    assert model.classes_.tolist() == [0, 1, 2]  # a category without positives is one all the same
    np.testing.assert_array_equal(model.predict(TEXTS), matrix)
    assert model.score(TEXTS, matrix) == 1.0
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(Categorizer.load(tmp_path / "m").predict(TEXTS), matrix)


def test_one_label_or_several_decides_what_predict_gives():
    one = Categorizer().fit(TEXTS, ["spam", "ham", "spam", "ham"] * 3)
    assert one.predict(TEXTS[:2]) == ["spam", "ham"]
    several = Categorizer().fit(TEXTS, [["spam"], ["ham", "food"], ["spam"], []] * 3)
    assert [sorted(labels) for labels in several.predict(TEXTS[:2])] == [["spam"], ["food", "ham"]]
    one.tune(TEXTS, ["spam", "ham"] * 6, None, calibrate="sigmoid", abstain_below=0.99)
    assert one.predict(["nothing known"]) == [None]


LABELS = ["grain", "oil", "ships"] * 8
DOCUMENTS = ["wheat corn field", "crude oil barrel", "ship port sea"] * 8


@pytest.mark.parametrize("learner", ["passive-aggressive", "naive-bayes", "rocchio", "romma"])
def test_a_renamed_category_scores_as_before(learner, tmp_path):
    model = Categorizer(learner).fit(DOCUMENTS, LABELS)
    before = model.scores(DOCUMENTS)
    model.rename_category("oil", "energy")
    np.testing.assert_array_equal(model.scores(DOCUMENTS), before)
    assert model.predict(["crude oil"]) == ["energy"]
    model.save(tmp_path / "m")
    assert Categorizer.load(tmp_path / "m").predict(["crude oil"]) == ["energy"]
    with pytest.raises(ParameterError, match="merge the two"):
        model.rename_category("energy", "grain")
    with pytest.raises(ParameterError, match="no category 'gold'"):
        model.rename_category("gold", "tin")


@pytest.mark.parametrize("learner", ["passive-aggressive", "balanced-winnow", "naive-bayes"])
def test_a_deleted_category_is_gone_and_the_others_stay(learner, tmp_path):
    model = Categorizer(learner, objective="f1", calibrate="sigmoid", tune_folds=2)
    model.fit(DOCUMENTS, LABELS)
    model.delete_category("oil")
    assert model.classes_.tolist() == ["grain", "ships"]
    assert model.scores(DOCUMENTS).shape == (24, 2)
    assert model.predict(["wheat corn", "ship sea"]) == ["grain", "ships"]
    model.learn(["crude oil barrel"], ["oil"])
    model.save(tmp_path / "m")
    assert Categorizer.load(tmp_path / "m").classes_.tolist() == ["grain", "ships", "oil"]


@pytest.mark.parametrize(
    "learner",
    ["passive-aggressive", "perceptron", "balanced-winnow", "naive-bayes", "rocchio"],
)
def test_a_merged_category_takes_the_documents_of_both(learner):
    model = Categorizer(learner).fit(DOCUMENTS, LABELS)
    model.merge_categories("oil", "ships")
    assert model.classes_.tolist() == ["grain", "ships"]
    assert model.predict(["wheat corn field", "crude oil barrel", "ship port sea"]) == [
        "grain",
        "ships",
        "ships",
    ]


def test_numbers_can_be_named_as_a_file_has_them():
    model = Categorizer().fit(DOCUMENTS, [10, 9, 2] * 8)
    model.rename_category("9", 7)
    assert model.classes_.tolist() == [2, 7, 10] and model.predict(["crude oil"]) == [7]
    model.delete_category("10")
    assert model.classes_.tolist() == [2, 7] and model.scores(DOCUMENTS).shape == (24, 2)


@pytest.mark.parametrize(
    ("change", "names"), [("delete_category", ["oil"]), ("merge_categories", ["oil", "ships"])]
)
def test_an_interrupt_while_categories_change_leaves_the_model_as_it_was(
    change, names, tmp_path, monkeypatch
):
    model = Categorizer().fit(DOCUMENTS, LABELS)
    model.save(tmp_path / "before")

    def interrupted(self, numbers):
        raise KeyboardInterrupt

    monkeypatch.setattr(type(model.decisions_), "take", interrupted)
    with pytest.raises(KeyboardInterrupt):
        getattr(model, change)(*names)
    model.save(tmp_path / "after")
    assert (tmp_path / "after").read_bytes() == (tmp_path / "before").read_bytes()


def test_the_last_category_stays():
    model = Categorizer(mode="multi-label").fit(["a b", "c d"], [["x"], []])
    with pytest.raises(ParameterError, match="only category"):
        model.delete_category("x")


@pytest.mark.parametrize(
    "state",
    [
        {"labels": ["a", "a"], "type": "str", "form": "one"},
        {"labels": ["a", 1], "type": "str", "form": "one"},
        {"labels": [1], "type": "complex", "form": "one"},
        {"labels": ["a"], "type": "str", "form": "heap"},
        {"labels": "a", "type": "str", "form": "one"},
        {},
    ],
)
def test_spoilt_categories_are_refused(state):
    with pytest.raises(ModelError):
        Categories.from_state(state)
