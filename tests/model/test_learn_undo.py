"""Going on learning happens wholly or not at all, and costs the same however much was learned."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from thresher import Categorizer, DocumentError, ModelError
from thresher.learners import LEARNERS
from thresher.learners.capabilities import Online
from thresher.model import learn as learning

TEXTS = [f"{words} w{i}" for words in ("wheat corn", "oil crude", "ship port") for i in range(12)]
LABELS = [name for name in ("grain", "energy", "sea") for _ in range(12)]
LATER = ["unheard words of wheat", "new pipes for oil", "a metal called tin"]
LATER_LABELS = ["grain", "energy", "metals"]
SPACES = {
    "neighbours": {"learner": "nearest-neighbors"},
    "words": {},
    "stems": {"stem": True},
    "one space": {"ngram_range": (1, 2), "char_ngram_range": (3, 3), "min_df": {"runs": 2}},
    "hashed": {"hashing_bits": 10},
    "little memory": {"learner": "linear-svm", "mode": "single-label", "remember": 10},
    "calibrated": {"calibrate": "sigmoid", "objective": "f1", "tune_folds": 3},
}
ONLINE = sorted(name for name, learner in LEARNERS.items() if issubclass(learner, Online))


def fitted(**options):
    return Categorizer(**options).fit(TEXTS, LABELS)


def saved(model, tmp_path):
    model.save(tmp_path / "m")
    return (tmp_path / "m").read_bytes()


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize(
    ("documents", "labels"),
    [
        (["words without labels"], None),
        (["two texts", "one label"], ["grain"]),
        (["a text", 5], ["grain", "sea"]),
        (["several labels"], [["grain", "sea"]]),
        (["none"], [[]]),
        (["another type"], [7]),
        (["good", "bad"], ["metals", 3.5]),
        ([], []),
    ],
)
def test_what_is_refused_leaves_the_model_as_it_was(space, documents, labels, tmp_path):
    model = fitted(**SPACES[space])
    before = saved(model, tmp_path)
    with pytest.raises((DocumentError, ModelError)):
        model.learn(documents, labels)
    assert saved(model, tmp_path) == before
    assert model.predict(["wheat befohre"]) == ["grain"]
    model.learn(LATER, LATER_LABELS)
    assert saved(model, tmp_path) == saved(
        fitted(**SPACES[space]).learn(LATER, LATER_LABELS), tmp_path
    )


class Interrupt:
    """Raises KeyboardInterrupt at the n-th line that runs within some modules."""

    def __init__(self, at):
        self.at, self.lines = at, 0

    def __call__(self, frame, event, argument):
        name = frame.f_globals.get("__name__", "")
        if not name.startswith("thresher.") or name == "thresher.model.shared":
            return None  # a trace can interrupt a lock where no signal does
        if frame.f_code.co_name in ("restore", "restored_on_failure", "_interrupts_delayed"):
            return None
        if event == "line":
            self.lines += 1
            if self.lines == self.at:
                raise KeyboardInterrupt
        return self


def lines_of(learn):
    import sys

    counter = Interrupt(at=-1)
    sys.settrace(counter)
    try:
        learn()
    finally:
        sys.settrace(None)
    return counter.lines


@pytest.mark.slow
@pytest.mark.parametrize("space", SPACES)
def test_an_interrupt_at_any_line_leaves_the_model_as_it_was(space, tmp_path):
    import sys

    model = fitted(**SPACES[space])
    before = saved(model, tmp_path)
    after = saved(copy.deepcopy(model).learn(LATER, LATER_LABELS), tmp_path)
    n_lines = lines_of(lambda: copy.deepcopy(model).learn(LATER, LATER_LABELS))
    assert n_lines > 100
    states = set()
    for at in range(1, n_lines + 1, max(1, n_lines // 60)):
        sys.settrace(Interrupt(at))
        try:
            model.learn(LATER, LATER_LABELS)
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)
        now = saved(model, tmp_path)
        assert now in (before, after), f"half learned at line {at} of {n_lines}"
        states.add(now == after)
        if now == after:
            model = fitted(**SPACES[space])
    assert False in states


@pytest.mark.parametrize("learner", ONLINE)
def test_an_unpickled_and_a_copied_model_go_on_learning(learner, tmp_path):
    model = fitted(learner=learner)
    twins = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    model.save(tmp_path / "loaded")
    twins.append(Categorizer.load(tmp_path / "loaded"))
    untouched = saved(model, tmp_path)
    wanted = fitted(learner=learner).learn(LATER, LATER_LABELS).scores(TEXTS + LATER)
    for twin in twins:
        np.testing.assert_array_equal(twin.learn(LATER, LATER_LABELS).scores(TEXTS + LATER), wanted)
    assert saved(model, tmp_path) == untouched


@pytest.mark.parametrize("space", SPACES)
def test_learning_in_place_equals_learning_by_a_copy(space, tmp_path, monkeypatch):
    in_place = fitted(**SPACES[space]).learn(LATER, LATER_LABELS)
    monkeypatch.setattr(learning, "Undoable", type("Nothing", (), {}))
    by_copy = fitted(**SPACES[space]).learn(LATER, LATER_LABELS)
    assert saved(in_place, tmp_path) == saved(by_copy, tmp_path)


def test_a_failed_fit_leaves_the_model_as_it_was(tmp_path):
    model = fitted()
    before = saved(model, tmp_path)
    with pytest.raises(DocumentError, match="nothing to tell it from"):
        model.fit(["a", "b"], ["x", "x"])
    with pytest.raises(DocumentError):
        model.tune(["wheat"], None)
    assert saved(model, tmp_path) == before


def test_a_batch_learner_says_that_it_cannot_go_on(tmp_path):
    model = fitted(learner=LinearSVC())
    before = saved(model, tmp_path)
    with pytest.raises(ModelError, match="train it anew"):
        model.learn(LATER, LATER_LABELS)
    assert saved(model, tmp_path) == before
