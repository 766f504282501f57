"""Learning on among remembered documents: what is met again, what is put back, what is checked."""

import numpy as np
import pytest
from benchmarks import feedback as benchmark

from thresher import Categorizer
from thresher.model import learn as learning
from thresher.model.memory import Memory
from thresher.rows import Labels, Rows

KINDS = {"grain": "wheat corn", "energy": "oil crude", "sea": "ship port", "metals": "tin zinc"}
TEXTS = [f"{words} w{i}" for words in list(KINDS.values())[:3] for i in range(12)]
LABELS = [name for name in list(KINDS)[:3] for _ in range(12)]


def fitted(**options):
    return Categorizer(**options).fit(TEXTS, LABELS)


def saved(model, tmp_path):
    model.save(tmp_path / "m")
    return (tmp_path / "m").read_bytes()


@pytest.mark.parametrize("learner", ["arow", "linear-svm", "passive-aggressive"])
def test_a_new_category_that_failed_leaves_no_trace_in_the_next(learner, tmp_path, monkeypatch):
    model = fitted(learner=learner)

    def fail(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(learning.Update, "_choose_threshold", fail)
        model.learn(["gold and silver w1", "gold w2"], ["precious", "precious"])
    assert saved(model, tmp_path) == saved(fitted(learner=learner), tmp_path)
    update = ["tin zinc w3"], ["metals"]
    twin = fitted(learner=learner).learn(*update)
    assert saved(model.learn(*update), tmp_path) == saved(twin, tmp_path)


@pytest.mark.parametrize("learner", ["naive-bayes", "rocchio"])
def test_what_counts_documents_counts_them_once(learner):
    models = [fitted(learner=learner, remember=n) for n in (0, 36)]
    scores = [one.learn(["oil on wheat"], ["grain"]).scores(TEXTS) for one in models]
    np.testing.assert_array_equal(*scores)


def test_documents_are_recalled_as_often_as_what_they_stand_for():
    rows = Rows(np.arange(101), np.zeros(100, np.int32), np.ones(100, np.float32), 1)
    labels = Labels.from_lists([[0]] * 90 + [[1]] * 10, 2)
    memory = Memory(capacity=20, seed=0).with_more(rows, labels, np.arange(100))
    assert np.bincount(memory.slot_categories).tolist() == [10, 10]
    generator = np.random.default_rng(0)
    rare = [np.mean(memory.slot_categories[memory.recall(2, generator)] == 1) for _ in range(1000)]
    assert 0.08 < np.mean(rare) < 0.14


def test_a_late_category_is_all_that_the_whole_memory_teaches(monkeypatch):
    monkeypatch.setattr(learning, "RECALLED_PER_DOCUMENT", 0)
    model = fitted(learner="arow")
    before = model.learner_.effective_weights().copy()
    model.learn(["tin zinc"], ["metals"])
    after = model.learner_.effective_weights()
    known = before.shape
    assert (after[: known[0], 3] != 0).any()  # what the old words say against it
    np.testing.assert_array_equal(after[: known[0], :3], before)


def test_what_was_decided_before_is_looked_up_anew_after_a_change():
    options = {"learner": "arow", "mode": "multi-label"}
    model = (
        Categorizer(**options).fit(TEXTS, [[name] for name in LABELS]).learn(["wheat"], [["grain"]])
    )
    assert model.model_.sample is not None and model.learned_.checked == 36
    model.limit(at_least=3)  # everything is decided otherwise now, but not by what follows
    assert model.learn(["wheat"], [["grain", "energy", "sea"]], check=64).learned_.changed == 0
    assert model.learn(["wheat"], [["grain"]], check=None).model_.sample is None


@pytest.mark.parametrize(("mode", "n_taken"), [("multi-label", 5), ("single-label", 13)])
def test_a_new_category_takes_few_of_the_others_and_few_for_each_of_its_own(mode, n_taken):
    margins = np.column_stack([np.zeros(2010), np.linspace(-1.0, 1.0, 2010)])
    truth = np.zeros((2010, 2), bool)
    truth[:10, 1] = truth[10:, 0] = True  # it scores low for its own ten
    threshold = learning.least_harmful_threshold(1, margins, truth, np.ones(2010), mode)
    ahead = margins[:, 1] > threshold
    assert np.count_nonzero(ahead & truth[:, 0]) == n_taken


def test_documents_of_a_deleted_category_do_not_deny_it_when_it_comes_back():
    model = fitted().delete_category("sea")
    assert len(model.model_.memory) == 24
    model.learn(TEXTS[-6:], LABELS[-6:])
    assert model.predict(TEXTS[24:]) == ["sea"] * 12


# ---- the benchmark ------------------------------------------------------------------------------


class Corpus:
    """Four kinds of documents, with one label each or several."""

    def __init__(self, several):
        self.several = several

    def pairs(self, split):
        for i in range(240 if split == "train" else 80):
            (name, words), other = list(KINDS.items())[i % 4], list(KINDS)[(i + 1) % 4]
            labels = [name, other] if self.several and i % 5 == 0 else [name]
            blunder = i % 7 == 0  # so that there is something to correct
            yield f"{'oil ship' if blunder else words} {split}{i} v{i % 11}", labels


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("on", ["folds", "test"])
def test_a_seed_divides_a_corpus(several, on):
    one = benchmark.case(Corpus(several), on, seed=1)
    parts = one.base + one.stream + one.fresh
    assert one.several == several and len(one.fresh) <= benchmark.FRESH
    assert all(one.new in labels for _, labels in one.fresh)
    assert not any(one.new in labels for _, labels in one.base + one.stream)
    texts = [text for text, _ in parts + one.measured]
    assert len(set(texts)) == len(texts)
    assert all(("test" in text) == (on == "test") for text, _ in one.measured)


@pytest.mark.parametrize("several", [False, True])
def test_every_job_gives_figures(several, monkeypatch):
    monkeypatch.setattr(benchmark, "DAYS", 3)
    monkeypatch.setattr(benchmark, "A_DAY", 20)
    trial = benchmark.Trial(benchmark.case(Corpus(several), "test", seed=0), "fast")
    figures = {}
    for name, job in benchmark.JOBS.items():
        rows = list(job(trial))
        assert rows or name == "corrections", name
        for row in rows:
            for key, value in row.items():
                figures.setdefault(key, []).append(value)
    assert 0 < trial.start <= 100 and all(np.isfinite(figures[key]).all() for key in figures)
    assert figures["new: found, %"][0] > 50
    assert benchmark.table({"x": figures}, ["x"]).count("\n") == len(figures) + 1
