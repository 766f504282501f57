"""Threads that read a model do not wait for slow sources, for learners or for each other."""

import threading
import time

import numpy as np
import pytest

from thresher import Categorizer, ModelError, read_documents

TEXTS = ["wheat corn field", "crude oil barrel", "ship port sea"] * 20
LABELS = ["grain", "oil", "sea"] * 20
SECONDS = 120  # after which a thread that should have ended has failed


def fitted(**options):
    return Categorizer(**options).fit(TEXTS, LABELS)


class Work(threading.Thread):
    """A thread whose result or exception is known once it has ended."""

    def __init__(self, function, *arguments):
        super().__init__(daemon=True)
        self._function, self._arguments = function, arguments
        self._outcome, self._problem = None, None
        self.start()

    def run(self):
        try:
            self._outcome = self._function(*self._arguments)
        except BaseException as problem:
            self._problem = problem

    def result(self):
        """Return the result; fail if the thread does not end."""
        self.join(SECONDS)
        assert not self.is_alive(), "it waits for ever"
        if self._problem is not None:
            raise self._problem
        return self._outcome


class SlowSource:
    """Documents in batches of two, of which the second is late: it comes once `go_on` is set."""

    def __init__(self, n_batches=4):
        self.n_documents = 2 * n_batches
        self.has_begun, self.go_on = threading.Event(), threading.Event()
        self.documents = read_documents(self._pairs(), batch_size=2)

    def _pairs(self):
        for i in range(self.n_documents):
            if i == 2:
                self.has_begun.set()
                assert self.go_on.wait(SECONDS)
            yield TEXTS[i], LABELS[i]


READINGS = {
    "predict": lambda model, documents: model.predict(documents),
    "scores": lambda model, documents: model.scores(documents),
    "rank": lambda model, documents: model.rank(documents, top=2),
    "evaluate": lambda model, documents: model.evaluate(documents),
    "score": lambda model, documents: model.score(documents),
    "score_batches": lambda model, documents: list(model.score_batches(documents)),
    "predict_table": lambda model, documents: model.predict_table(documents),
    "tune": lambda model, documents: model.tune(documents, objective=None, calibrate="sigmoid"),
}


# ---- nobody waits -------------------------------------------------------------------------------


@pytest.mark.parametrize("reading", READINGS)
def test_a_slow_source_holds_up_neither_readers_nor_learners(reading):
    model, source = fitted(), SlowSource()
    slow = Work(READINGS[reading], model, source.documents)
    assert source.has_begun.wait(SECONDS)
    learning = Work(model.learn, ["wheat and maize"], ["grain"])
    assert Work(model.predict, ["crude oil"]).result() == ["oil"]
    learning.result()
    assert Work(model.predict, ["maize"]).result() == ["grain"]
    assert slow.is_alive()  # all this happened while the source was open
    source.go_on.set()
    slow.result()


def test_readers_go_on_while_a_learner_reads_a_slow_source():
    model, source = fitted(), SlowSource()
    learning = Work(model.learn, source.documents)
    assert source.has_begun.wait(SECONDS)
    assert Work(model.predict, ["crude oil"]).result() == ["oil"]
    assert learning.is_alive()
    source.go_on.set()
    assert learning.result().documents_seen_ == len(TEXTS) + source.n_documents


def test_readers_go_on_while_many_documents_are_learned(monkeypatch):
    """A learner that takes long changes a copy as soon as somebody else reads the model."""
    model, is_learning, go_on = fitted(), threading.Event(), threading.Event()
    learn_rows = type(model.learner_).learn_rows

    def slow(*arguments, **options):
        is_learning.set()
        assert go_on.wait(SECONDS)
        return learn_rows(*arguments, **options)

    monkeypatch.setattr(type(model.learner_), "learn_rows", slow)
    before = Work(model.scores, ["crude oil"]).result()
    learning = Work(model.learn, TEXTS[:30], LABELS[:30])
    assert is_learning.wait(SECONDS)
    np.testing.assert_array_equal(Work(model.scores, ["crude oil"]).result(), before)
    go_on.set()
    assert learning.result().documents_seen_ == len(TEXTS) + 30


def test_a_waiting_learner_holds_up_no_reader():
    """A reader within a long batch keeps the learner out, but no other reader."""
    model = fitted()
    with model.shared_.reading():
        learning = Work(model.learn, ["wheat and maize"], ["grain"])
        for _ in range(20):
            assert Work(model.predict, ["crude oil"]).result() == ["oil"]
        learning.result()  # by a copy, as the model is still being read
        assert Work(model.predict, ["maize"]).result() == ["grain"]


def test_readers_that_a_change_has_held_up_come_before_the_next_change():
    """Otherwise changes in quick succession would keep them out."""
    model = fitted()
    state = model.shared_.reading()
    for _ in range(20):
        with state.writing(SECONDS):
            reading = Work(model.predict, ["crude oil"])
            while not state._n_waiting:
                time.sleep(0.001)
        with state.writing(SECONDS):
            assert not state._n_waiting
        assert reading.result() == ["oil"]


def test_a_model_that_others_have_read_is_changed_by_a_copy_for_good():
    """Not only until the next change: their readers may come back while documents are learned."""
    model = fitted()
    Work(model.predict, ["crude oil"]).result()
    for _ in range(2):
        before = model.model_
        model.learn(TEXTS[:30], LABELS[:30])
        assert model.model_ is not before
    mine = fitted()
    before = mine.model_
    mine.predict(["crude oil"])
    mine.learn(TEXTS[:30], LABELS[:30])
    assert mine.model_ is before


# ---- categories that are learned meanwhile ------------------------------------------------------


def learned_between_batches(model, n_batches=4):
    """Documents between whose first two batches the model learns a category that it did not know.

    It does so in another thread, as a service would.
    """
    for i in range(2 * n_batches):
        if i == 2:
            Work(model.learn, ["a metal called tin"] * 2, ["metal"] * 2).result()
        yield TEXTS[i], LABELS[i]


def documents_of(model):
    return read_documents(learned_between_batches(model), batch_size=2)


def test_an_evaluation_is_of_the_categories_known_at_its_beginning():
    model = fitted()
    measured = model.evaluate(documents_of(model))
    assert model.categories_ == ["grain", "oil", "sea", "metal"]
    assert set(measured.categories) == {"grain", "oil", "sea"} and measured.micro["f1"] == 1.0


@pytest.mark.parametrize("reading", ["score", "scores", "predict", "score_batches"])
def test_a_reading_is_of_the_categories_known_at_its_beginning(reading):
    model = fitted()
    result = READINGS[reading](model, documents_of(model))
    assert model.categories_ == ["grain", "oil", "sea", "metal"]
    if reading == "score":
        assert result == 1.0
    elif reading == "predict":
        assert result == LABELS[:8]
    else:
        tables = [result] if reading == "scores" else [scores for _, scores in result]
        assert {table.shape[1] for table in tables} == {3}


@pytest.mark.parametrize("calibrate", [None, "sigmoid"])
def test_tuning_is_of_the_categories_known_at_its_beginning(calibrate):
    model = fitted(mode="multi-label")
    model.tune(documents_of(model), objective="f1", calibrate=calibrate)
    assert model.categories_ == ["grain", "oil", "sea", "metal"]
    assert model.tuning_ is not None and len(model.decisions_.thresholds) == 4
    assert model.predict(TEXTS[:3]) == [["grain"], ["oil"], ["sea"]]
    assert model.predict(["a metal called tin"]) == [["metal"]]
    if calibrate:
        assert model.predict_proba(TEXTS).shape == (len(TEXTS), 4)


@pytest.mark.parametrize("reading", ["evaluate", "score", "scores", "tune"])
def test_a_category_that_is_removed_meanwhile_is_a_sentence(reading):
    model = fitted()

    def documents():
        for i in range(8):
            if i == 2:
                Work(model.delete_category, "sea").result()
            yield TEXTS[i], LABELS[i]

    with pytest.raises(ModelError, match="'sea' was removed or renamed while documents were read"):
        READINGS[reading](model, read_documents(documents(), batch_size=2))
