"""A model by itself: one count for all answers, learning, and files."""

import numpy as np
import pytest

from thresher import Categorizer
from thresher.answers.answer import Answer
from thresher.errors import ThresherError
from thresher.model.learn import Learned
from thresher.model.model import Model
from thresher.model.source import LabelledSource, no_progress

TEXTS = ["cheap pills now", "lunch today?", "cheap watches here", "see you today"] * 3
LABELS = ["spam", "ham", "spam", "ham"] * 3


def source_of(model, texts, labels):
    return LabelledSource(texts, labels, model.columns, None, no_progress)


@pytest.fixture
def categorizer():
    return Categorizer().fit(TEXTS, LABELS)


def test_texts_are_counted_once_for_all_answers(categorizer, monkeypatch):
    model = categorizer.model_
    counted = []
    count = model.features.count
    monkeypatch.setattr(
        model.features, "count", lambda texts, **options: counted.append(texts) or count(texts)
    )
    reading = model.read(TEXTS[:2])
    assert reading.labels() == [["spam"], ["ham"]]
    assert reading.scores.tolist() == Categorizer.scores(categorizer, TEXTS[:2]).tolist()
    counted.clear()
    explanations = [reading.explanation(0), reading.explanation(1, "spam")]
    assert [e.category for e in explanations] == ["spam", "spam"]
    assert TEXTS[0] not in [text for texts in counted for text in texts]


def test_a_model_learns_and_returns_what_it_learned(categorizer):
    model = categorizer.model_
    learned = model.learn(source_of(model, ["breaking news"], ["news"]))
    assert isinstance(learned, Learned)
    assert model.labels(["breaking news"]) == [["news"]]
    assert model.categories.labels == ["ham", "spam", "news"]


def test_a_model_that_cannot_learn_stays_as_it_was():
    model = Categorizer("decision-tree").fit(TEXTS, LABELS).model_
    before = model.scores(TEXTS)
    with pytest.raises(ThresherError, match="learn"):
        model.learn(source_of(model, ["breaking news"], ["news"]))
    np.testing.assert_array_equal(model.scores(TEXTS), before)


def test_a_model_is_saved_and_loaded_without_a_categorizer(categorizer, tmp_path):
    categorizer.model_.save(tmp_path / "m.thresher")
    loaded = Model.load(tmp_path / "m.thresher", mmap=True)
    np.testing.assert_array_equal(loaded.scores(TEXTS), categorizer.scores(TEXTS))


def test_answers_come_one_by_one(categorizer):
    answers = list(categorizer.answers(["cheap pills", ""], 2))
    assert all(isinstance(answer, Answer) for answer in answers)
    first, second = (answer.to_dict() for answer in answers)
    scores = categorizer.rank(["cheap pills"])[0]
    assert first["labels"] == ["spam"]
    assert [r["label"] for r in first["ranking"]] == [label for label, _ in scores]
    assert [r["score"] for r in first["ranking"]] == pytest.approx([s for _, s in scores], rel=1e-6)
    assert second["note"] == "no text"
    assert "probabilities" not in first


def test_answers_for_many_documents_are_those_for_few(categorizer):
    few = [answer.to_dict() for answer in categorizer.answers(TEXTS, scores=True)]
    many = [answer.to_dict() for answer in categorizer.answers(TEXTS * 200, scores=True)]
    assert len(many) == 200 * len(few)
    drop = lambda answer: {k: v for k, v in answer.items() if k != "document"}  # noqa: E731
    assert [drop(answer) for answer in many[: len(few)]] == [drop(answer) for answer in few]
