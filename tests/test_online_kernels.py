"""The online kernels against their slow twins, to the last bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from naive import online as naive
from thresher._kernels import online as kernels
from thresher._kernels.rows import (
    NOT_FINITE,
    OUT_OF_RANGE,
    TWICE,
    ZEROS,
    has_duplicates,
    look_over,
)
from thresher.learners.online import LEARNERS, ROMMA, PassiveAggressive
from thresher.rows import Labels, Rows

FEW = settings(max_examples=25, deadline=None)
N_FEATURES, N_CATEGORIES = 7, 3

LINES = st.lists(
    st.tuples(
        st.dictionaries(
            st.integers(0, N_FEATURES - 1), st.sampled_from([0.0, 0.25, 1.0, 1.5, 3.0]), max_size=5
        ),
        st.sets(st.integers(0, N_CATEGORIES - 1)),
        st.sampled_from([1.0, 1.0, 1.0, 0.5, 2.0]),
    ),
    min_size=1,
    max_size=25,
)
AVERAGES = st.sampled_from([None, "successes", "examples"])


def arrays(lines):
    """The lines as the learners take them."""
    words = [list(one[0].items()) for one in lines]
    rows = Rows(
        np.cumsum([0, *map(len, words)]),
        np.array([f for one in words for f, _ in one], np.int32),
        np.array([x for one in words for _, x in one], np.float32),
        N_FEATURES,
    )
    labels = Labels.from_lists([sorted(one[1]) for one in lines], N_CATEGORIES)
    return rows, labels, np.array([one[2] for one in lines])


def stream(learner, rows, labels, weights):
    """The same documents as the twins take them, as strong as the learner sees them."""
    strengths, always_on = learner.strengths(rows, training=True)
    documents = []
    for i in range(rows.n_rows):
        entries = slice(*strengths.indptr[i : i + 2])
        pairs = zip(strengths.indices[entries] + 1, strengths.values[entries], strict=True)
        documents.append([(0, always_on[i]), *pairs])
    label_sets = [set(labels.indices[slice(*labels.indptr[i : i + 2])]) for i in range(rows.n_rows)]
    return naive.Stream(documents, label_sets, weights, learner._positive_weights())


def learn_both(learner, lines, twin):
    """Run the learner and its twin over the same documents, and compare all they hold."""
    rows, labels, weights = arrays(lines)
    learner.start(N_FEATURES, N_CATEGORIES, 3)
    copies = {name: array.copy() for name, array in learner._tables.items()}
    mistakes = learner.learn_rows(rows, labels, sample_weight=weights)
    documents = stream(learner, rows, labels, weights)
    for k in range(N_CATEGORIES):
        history = naive.History(learner.average, np.zeros(1 + N_FEATURES))
        assert twin(documents, k, copies, history) == mistakes[k]
        for name in copies:
            if name not in ("drift", "clock", "seen"):
                np.testing.assert_array_equal(learner._tables[name][:, k], copies[name][:, k])
        if learner.average is not None and history.count:
            mean = history.mean(copies["weights"][:, k])
            np.testing.assert_allclose(learner._scoring_weights()[:, k], mean, rtol=1e-5, atol=1e-6)


@FEW
@given(
    LINES,
    AVERAGES,
    st.sampled_from(["positive", "balanced", "modified-balanced"]),
    st.sampled_from([0.0, 0.3]),
    st.sampled_from([1.0, 2.5]),
    st.booleans(),
)
def test_winnow(lines, average, kind, margin, positive_weight, normalize):
    learner = LEARNERS[f"{kind}-winnow"](
        average=average,
        margin=margin,
        positive_weight=positive_weight,
        normalize_strength=normalize,
        always_on=True,
        promotion=1.3,
    )
    low, high = np.array([1 - margin, 1 + margin], np.float32)
    kind = kind.removesuffix("-balanced")

    def twin(documents, k, copies, history):
        return naive.winnow(documents, k, copies, kind, low, high, *learner._factors(), history)

    learn_both(learner, lines, twin)


@FEW
@given(
    LINES,
    AVERAGES,
    st.sampled_from(["perceptron", "relaxed", "PA", "PA-I", "PA-II"]),
    st.sampled_from([1.0, 2.5]),
    st.integers(0, 2**21 - 1),
)
def test_additive(lines, average, kind, positive_weight, discarded):
    rule = {"threshold": 0.25, "epsilon": 0.75, "gamma": 0.1, "aggressiveness": 0.5}
    if kind == "perceptron":
        rule |= {"promotion": 0.5, "demotion": 0.25}
        learner = LEARNERS["perceptron"](
            promotion=0.5, demotion=0.25, threshold=0.25, margin=0.1, average=average
        )
        low, high = 0.25 - 0.1, 0.25 + 0.1
    else:
        learner = PassiveAggressive(variant=kind, average=average, **rule)
        low, high = 0.25 - 0.75, 0.25 + 0.75
    learner.set_params(positive_weight=positive_weight)
    mask = np.array([discarded >> bit & 1 for bit in range(21)], bool).reshape(7, 3)
    live = np.concatenate([np.ones((1, 3), bool), ~mask])
    start = learner.start

    def start_with_discarded(*shape):  # half of the time nothing is
        start(*shape)
        if discarded % 2:
            learner.discard_features(mask)
        return learner

    learner.start = start_with_discarded

    def twin(documents, k, copies, history):
        alive = live if discarded % 2 else np.ones_like(live)
        return naive.additive(documents, k, copies, kind, low, high, rule, alive, history)

    learn_both(learner, lines, twin)


def test_romma():
    n_compared = []

    @settings(FEW, derandomize=True)  # what is counted shall not depend on chance
    @given(LINES, AVERAGES, st.booleans(), st.sampled_from(["zero", "one"]))
    def equals_its_twin(lines, average, aggressive, initial):
        learner = ROMMA(average=average, aggressive=aggressive, initial=initial)
        n_compared.append(assert_romma_equals_its_twin(learner, lines, rtol=1e-2))

    equals_its_twin()
    # In few categories only may rounding decide.
    assert len(n_compared) >= 25 and np.mean(n_compared) > 0.6 * N_CATEGORIES


def assert_romma_equals_its_twin(learner, lines, rtol):
    """Compare the categories in which rounding decides nothing; return how many those are."""
    rows, labels, weights = arrays(lines)
    learner.start(N_FEATURES, N_CATEGORIES)
    mistakes = learner.learn_rows(rows, labels, sample_weight=weights)
    documents = stream(learner, rows, labels, weights)
    compared = 0
    for k in range(N_CATEGORIES):
        history = naive.History(learner.average, np.zeros(1 + N_FEATURES))
        wrong, last, clear = naive.romma(
            documents, k, 1 + N_FEATURES, learner.aggressive, learner.initial == "one", history
        )
        if clear and wrong == mistakes[k]:
            expected = last if learner.average is None else history.mean(last)
            scale = max(1.0, np.abs(expected).max())
            scoring = learner._scoring_weights()[:, k]
            np.testing.assert_allclose(scoring, expected, rtol=rtol, atol=0.1 * rtol * scale)
            compared += 1
    return compared


@pytest.mark.parametrize("aggressive", [False, True])
@pytest.mark.parametrize("initial", ["zero", "one"])
def test_romma_makes_the_same_mistakes_on_ordinary_documents(aggressive, initial):
    random = np.random.default_rng(5)
    X = random.random((300, N_FEATURES)).astype(np.float32)
    Y = X @ random.normal(size=(N_FEATURES, N_CATEGORIES)) > 0
    lines = [(dict(enumerate(x)), set(np.flatnonzero(y)), 1.0) for x, y in zip(X, Y, strict=True)]
    learner = ROMMA(aggressive=aggressive, initial=initial)
    assert assert_romma_equals_its_twin(learner, lines, rtol=1e-3) == N_CATEGORIES
    assert learner.mistakes_[0] > N_CATEGORIES


@FEW
@given(LINES, st.sampled_from([0.3, 0.5]), st.sampled_from([1.0, 2.5]))
def test_sleeping_experts(lines, threshold, positive_weight):
    learner = LEARNERS["sleeping-experts"](
        threshold=threshold, positive_weight=positive_weight, penalty=0.7
    )

    def twin(documents, k, copies, history):
        return naive.experts(documents, k, copies, threshold, 0.7)

    learn_both(learner, lines, twin)


@FEW
@given(LINES, AVERAGES, st.sampled_from([1.0, 2.5]))
def test_regret_winnow(lines, average, positive_weight):
    learner = LEARNERS["regret-winnow"](
        average=average, positive_weight=positive_weight, regret=0.8, margin=0.2
    )
    low, high = np.array([0.8, 1.2], np.float32)

    def twin(documents, k, copies, history):
        start = learner._start()
        return naive.regret(
            documents, k, copies, low, high, *learner._factors(), start, 0.8, history
        )

    learn_both(learner, lines, twin)


# ---- the compiled kernels are what they say -----------------------------------------------------

EPOCHS = ["winnow_epoch", "additive_epoch", "romma_epoch", "experts_epoch", "regret_epoch"]


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("average", [None, "successes"])
def test_compiled_equals_interpreted(name, average, monkeypatch):
    random = np.random.default_rng(3)
    lines = [
        (
            {int(f): float(random.integers(1, 4)) for f in random.integers(0, N_FEATURES, 3)},
            {int(k) for k in random.integers(0, N_CATEGORIES, 1)},
            float(random.choice([1.0, 2.0])),
        )
        for _ in range(60)
    ]
    rows, labels, weights = arrays(lines)

    def learned():
        learner = LEARNERS[name]()
        if "average" in learner.get_params():
            learner.set_params(average=average)
        learner.start(N_FEATURES, N_CATEGORIES, 3)
        learner.learn_rows(rows, labels, sample_weight=weights)
        return learner.state()[1]

    compiled = learned()
    for epoch in EPOCHS:
        function = getattr(kernels, epoch)
        monkeypatch.setattr(kernels, epoch, getattr(function, "py_func", function))
    interpreted = learned()
    for key, array in compiled.items():
        np.testing.assert_array_equal(array, interpreted[key], err_msg=key)


@pytest.mark.parametrize("name", ["perceptron", "passive-aggressive"])
def test_whole_runs_equal_single_corrections(name):
    """Where many categories are mistaken the kernel adds whole runs; a mask forbids that."""
    random = np.random.default_rng(0)
    X = random.poisson(0.5, (50, 20)).astype(np.float32)
    rows = Rows(
        np.concatenate([[0], np.cumsum((X > 0).sum(1))]),
        np.nonzero(X)[1].astype(np.int32),
        X[X > 0],
        20,
    )
    labels = Labels.from_lists([random.choice(40, 12, replace=False) for _ in X], 40)
    runs, masked = LEARNERS[name]().start(20, 40, 8), LEARNERS[name]().start(20, 40, 8)
    masked.discard_features(np.zeros((20, 40), bool))
    for learner in (runs, masked):
        learner.learn_rows(rows, labels)
    np.testing.assert_array_equal(runs.effective_weights(), masked.effective_weights())


@pytest.mark.parametrize("kind", ["perceptron", "relaxed", "PA", "PA-I", "PA-II"])
def test_a_category_alone_equals_the_same_in_company(kind):
    """One category has a loop of its own."""
    random = np.random.default_rng(1)
    X = random.poisson(0.5, (200, N_FEATURES)).astype(np.float32)
    lines = [(dict(enumerate(x)), {int(x[0] > 0), int(x[1] > 1)}, 1.0 + x[2]) for x in X]
    rows, labels, weights = arrays(lines)
    own = Labels.from_lists([[0] if 1 in one[1] else [] for one in lines], 1)
    options = {"positive_weight": 2.0, "always_on": 0.5}
    learner = LEARNERS["perceptron"](margin=0.3, **options)
    if kind != "perceptron":
        learner = PassiveAggressive(variant=kind, **options)
    company, alone = clone(learner).start(N_FEATURES, 3, 3), clone(learner).start(N_FEATURES, 1, 3)
    mistakes = company.learn_rows(rows, labels, sample_weight=weights)
    assert 20 < alone.learn_rows(rows, own, sample_weight=weights)[0] == mistakes[1]
    for name in ("weights", "clock"):
        np.testing.assert_array_equal(alone._tables[name][..., 0], company._tables[name][..., 1])


@given(
    st.lists(st.lists(st.integers(0, 9), max_size=6), max_size=8),
    st.sampled_from([1.0, 0.0, np.nan, np.inf, -1.0]),
)
def test_rows_are_looked_over(rows, value):
    indptr = np.cumsum([0, *map(len, rows)])
    indices = np.array([column for row in rows for column in row], np.uint32)
    values = np.ones(len(indices), np.float32)
    values[len(values) // 2 :] = value
    flags = look_over(indptr, indices, values, 9, np.zeros(10, np.int64))
    assert bool(flags & OUT_OF_RANGE) == bool((indices >= 9).any())
    assert bool(flags & NOT_FINITE) == (not np.isfinite(values).all())
    assert bool(flags & ZEROS) == bool((values == 0).any())
    if (indices < 9).all():
        assert bool(flags & TWICE) == naive.has_duplicates(indptr, indices)


@given(st.lists(st.lists(st.integers(0, 8), max_size=6), max_size=8))
def test_duplicates_are_found_without_sorting(rows):
    indptr = np.cumsum([0, *map(len, rows)])
    indices = np.array([column for row in rows for column in row], np.uint32)
    twice = naive.has_duplicates(indptr, indices)
    assert has_duplicates(indptr, indices, np.zeros(9, np.int64)) == twice
