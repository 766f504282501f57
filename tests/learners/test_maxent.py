"""Maximum entropy: the book's exercises, its twin, three ways to one model, and what overflows."""

import warnings
from copy import deepcopy

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from checks import CHECKS, applies, bytes_of, documents, examples_of, labels_of, rows_of, several
from naive import maxent as naive
from thresher import Examples, Labels, MaximumEntropy
from thresher._kernels import maxent as kernels
from thresher.errors import ModelError, ParameterError
from thresher.rows import Rows

SPACES = pytest.mark.parametrize("space", ["joint", "conditional"])
METHODS = pytest.mark.parametrize("method", ["gis", "iis", "lbfgs"])

VARIANTS = [
    MaximumEntropy(method="gis", max_iter=100),
    MaximumEntropy(method="gis", event_space="joint", features="presence"),
    MaximumEntropy(method="iis", max_iter=50),
    MaximumEntropy(event_space="joint"),
    MaximumEntropy(n_selected=9, features="presence"),
    MaximumEntropy(method="gis", added_events=0.5, min_count=2, max_iter=50),
    MaximumEntropy(prior_variance=None, always_on=False, min_count=1, max_iter=50),
]


@pytest.mark.parametrize(
    ("learner", "check"),
    [
        pytest.param(one, check, id=f"{one!r}-{check.__name__.removeprefix('check_')}")
        for one in VARIANTS
        for check in CHECKS
        if applies(check, one)
    ],
)
def test_variants(learner, check):
    check(learner)


# ---- documents ----------------------------------------------------------------------------------


def noisy(n_documents=80, n_features=6, seed=0):
    """Counts of words and classes that no line divides."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, n_documents)
    X = random.poisson(0.5 + 0.8 * (np.arange(n_features) % 3 == y[:, None])).astype(np.float32)
    return X, np.where(random.random(n_documents) < 0.7, y, random.integers(0, 3, n_documents))


def belongs(X, seed=0):
    """Two labels of each document, which its words decide up to chance."""
    random = np.random.default_rng(seed)
    truth = X[:, :2] + random.normal(0, 1.5, (len(X), 2)) > 0.8
    return truth, Labels.from_lists([np.flatnonzero(one) for one in truth], 2)


def yes_or_no(y):
    return Labels.from_lists([[0] * int(one) for one in y], 1)


def own_features(X, features):
    return (X > 0).astype(float) if features == "presence" else X.astype(float)


@SPACES
@pytest.mark.parametrize("features", ["presence", "strength"])
def test_questions_are_the_twins(space, features):
    X, _ = noisy(25, 4)
    X[3] = X[7] = 0
    truth, labels = belongs(X)
    learner = MaximumEntropy(
        method="gis", event_space=space, features=features, max_iter=9, tolerance=0
    ).fit_rows(Examples.of(rows_of(X), labels))
    kinds = [tuple(x) for x in X] if space == "joint" else list(range(len(X)))
    contexts = list(dict.fromkeys(kinds))
    events = naive.for_yes(own_features(X, features)[[kinds.index(x) for x in contexts]])
    for k in range(2):
        counts = [[0, 0] for _ in contexts]
        for kind, yes in zip(kinds, truth[:, k], strict=True):
            counts[contexts.index(kind)][int(yes)] += 1
        *expected, filler = naive.gis(events, counts, space == "joint", 9)
        words, own_filler = learner.log_alphas(k)
        np.testing.assert_allclose(words, expected, atol=1e-5)
        assert own_filler == pytest.approx(filler, abs=1e-6)
        weights = np.array(expected) - filler
        scores = own_features(X, features) @ weights
        np.testing.assert_allclose(learner.score_rows(rows_of(X))[:, k], scores, atol=1e-4)


@pytest.mark.parametrize("compete", [True, False])
def test_three_ways_lead_to_one_learner(compete):
    X, y = noisy(120, 5)
    examples = examples_of(X, y) if compete else Examples.of(rows_of(X), belongs(X)[1])
    probable = []
    for method in ("gis", "iis", "lbfgs"):
        learner = MaximumEntropy(
            method=method, always_on=True, prior_variance=None, max_iter=5000, tolerance=1e-7
        ).fit_rows(examples)
        assert learner.summary()["not_converged"] == 0
        probable.append(learner.probabilities(learner.score_rows(rows_of(X))))
    np.testing.assert_allclose(probable[0], probable[2], atol=1e-4)
    np.testing.assert_allclose(probable[1], probable[2], atol=1e-4)


@pytest.mark.parametrize("compete", [True, False])
def test_it_is_logistic_regression(compete):
    X, y = documents()
    if not compete:
        y = (y == 1).astype(int)
    ours = MaximumEntropy(prior_variance=2.0, tolerance=1e-9).fit(X, y)
    theirs = LogisticRegression(C=2.0, tol=1e-9, max_iter=1000).fit(X.astype(float), y)
    np.testing.assert_allclose(
        ours.predict_proba(X), theirs.predict_proba(X.astype(float)), atol=1e-5
    )


@SPACES
def test_gains_are_the_twins(space):
    """The feature chosen first is the one that helps most, and the second given the first."""
    X, y = noisy(40, 4)
    X = (X > 0).astype(np.float32)
    y = y == 1
    learner = MaximumEntropy(
        method="gis", event_space=space, prior_variance=None, n_selected=2, max_iter=3000,
        tolerance=1e-9,
    ).fit_rows(Examples.of(rows_of(X), yes_or_no(y)))  # fmt: skip
    kinds = [tuple(x) for x in X.tolist()]
    contexts = list(dict.fromkeys(kinds))
    counts = [[0, 0] for _ in contexts]
    for kind, yes in zip(kinds, y, strict=True):
        counts[contexts.index(kind)][int(yes)] += 1
    events, joint = naive.for_yes(contexts), space == "joint"
    chosen, weights = [], [0.0] * 4
    for _ in range(2):
        gains = [
            -1 if i in chosen else naive.gain(events, counts, weights, joint, i) for i in range(4)
        ]
        chosen.append(int(np.argmax(gains)))
        some = [[[f * (i in chosen) for i, f in enumerate(pair)] for pair in one] for one in events]
        *log_alphas, filler = naive.gis(some, counts, joint, 3000)
        weights = [w - filler if i in chosen else 0.0 for i, w in enumerate(log_alphas)]
    np.testing.assert_allclose(learner.linear_weights()[:, 0], weights, atol=1e-4)


def test_selection_stops_where_nothing_is_gained():
    X, y = documents()
    learner = MaximumEntropy(n_selected=5, min_gain=1e6).fit_rows(examples_of(X, y))
    assert not learner.linear_weights().any()
    several_labels = Labels.from_lists([np.flatnonzero(one) for one in several()[1]], 3)
    learner = MaximumEntropy(n_selected=4).fit_rows(Examples.of(rows_of(X), several_labels))
    assert np.count_nonzero(learner.linear_weights(), axis=0).tolist() == [4, 4, 4]


def test_rare_features_are_left_out():
    X = np.array([[1, 1, 0], [1, 0, 1], [1, 1, 0], [0, 0, 1]], np.float32)
    labels = Labels.from_lists([[0], [0], [1], [1, 0]], 2)
    for method in ("gis", "lbfgs"):
        learner = MaximumEntropy(method=method, min_count=2).fit_rows(
            Examples.of(rows_of(X), labels)
        )
        # Both words of the first category that are in two of its documents, none of the second's.
        assert (learner.linear_weights() != 0).tolist() == [
            [True, False], [False, False], [True, False],
        ]  # fmt: skip


def test_added_events_are_documents():
    X, _ = noisy(30, 4)
    truth, labels = belongs(X)
    learner = MaximumEntropy(method="gis", added_events=0.5, max_iter=30, tolerance=0)
    smoothed = deepcopy(learner).fit_rows(Examples.of(rows_of(X), labels))
    alone = np.vstack([X, np.eye(4), np.eye(4)]).astype(np.float32)
    lists = [np.flatnonzero(one).tolist() for one in truth] + [[0, 1]] * 4 + [[]] * 4
    weights = np.append(np.ones(30), np.full(8, 0.5))
    written = learner.set_params(added_events=0.0).fit_rows(
        Examples.of(rows_of(alone), Labels.from_lists(lists, 2)._replace(weights=weights))
    )
    np.testing.assert_allclose(smoothed.linear_weights(), written.linear_weights(), atol=1e-5)


def test_added_events_keep_weights_finite():
    X = np.array([[1, 0], [1, 0], [0, 1], [0, 1]], np.float32)
    learner = MaximumEntropy(method="gis", added_events=1.0, max_iter=5000, tolerance=1e-9)
    learner.fit_rows(Examples.of(rows_of(X), labels_of([0, 0, 1, 1], 2)))
    assert learner.summary()["not_converged"] == 0
    # Each word was then three times with its own category and once with the other.
    scores = learner.score_rows(rows_of(X))[:, 0]
    np.testing.assert_allclose(scores, np.log([3, 3, 1 / 3, 1 / 3]), rtol=1e-4)


# ---- what may be given --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"method": "gis", "prior_variance": 1.0}, "scaling .'gis'. has no prior"),
        ({"constant": 20.0}, "only generalized iterative scaling needs"),
        ({"method": "gis", "constant": 1.0}, "The constant C is 1, and the features of one event"),
        ({"prior_variance": 0.0}, "must be above 0"),
        ({"always_on": "yes"}, "must be True or False"),
    ],
)
def test_parameters_that_make_no_sense(parameters, sentence):
    with pytest.raises(ParameterError, match=sentence):
        MaximumEntropy(**parameters).fit_rows(examples_of(*documents()))


def test_negative_strengths():
    X, y = documents()
    with pytest.raises(ModelError, match="Negative values"):
        MaximumEntropy(method="gis").fit_rows(examples_of(-X, y))
    assert MaximumEntropy().fit(-X, y).score(-X, y) > 0.9
    assert MaximumEntropy(method="gis", features="presence").fit(X - 1, y).score(X - 1, y) > 0.5


@METHODS
def test_words_always_there_and_documents_all_alike(method):
    X = np.ones((6, 2), np.float32)
    examples = Examples.of(rows_of(X), Labels.from_lists([[0]] * 4 + [[]] * 2, 1))
    learner = MaximumEntropy(method=method, prior_variance=None, tolerance=1e-7).fit_rows(examples)
    np.testing.assert_allclose(learner.score_rows(rows_of(X)), np.log(2), rtol=1e-4)


@METHODS
def test_a_word_that_always_predicts(method):
    X = np.array([[1, 1], [1, 0], [0, 1], [0, 1]], np.float32)
    examples = Examples.of(rows_of(X), Labels.from_lists([[0], [0], [], []], 1))
    learner = MaximumEntropy(method=method, prior_variance=None, max_iter=40, tolerance=1e-12)
    summary = learner.fit_rows(examples).summary()
    assert np.isfinite(summary["largest_weight"]) and summary["largest_weight"] > 1
    assert (learner.score_rows(rows_of(X))[:, 0] > 0).tolist() == [True, True, False, False]


@METHODS
@SPACES
def test_no_documents_one_class_empty_documents(method, space):
    learner = MaximumEntropy(method=method, event_space=space)
    nothing = Rows(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32), 3)
    started = deepcopy(learner).fit_rows(Examples.of(nothing, Labels.from_lists([], 2)))
    one = Rows(np.array([0, 1]), np.zeros(1, np.int32), np.ones(1, np.float32), 3)
    assert started.score_rows(one).tolist() == [[0, 0]]
    empty = nothing._replace(indptr=np.zeros(4, np.int64))
    labels = Labels.from_lists([[0, 1], [0], [0]], 3)
    scores = deepcopy(learner).fit_rows(Examples.of(empty, labels)).score_rows(empty)
    assert np.isfinite(scores).all()
    assert scores[0, 0] == pytest.approx(np.log(3 / 0.5))  # all documents have it
    assert scores[0, 2] == pytest.approx(np.log(0.5 / 3))  # none has
    single = deepcopy(learner).fit_rows(Examples.of(empty, Labels.from_lists([[1]] * 3, 2)))
    np.testing.assert_allclose(single.score_rows(empty)[0], [np.log(1 / 6), np.log(6)], rtol=1e-6)


def test_answers_about_some_categories():
    """A category is learned from the documents that are known to have it or not."""
    X, _ = noisy(60, 4)
    truth, labels = belongs(X)
    known = np.random.default_rng(1).random(truth.shape) < 0.6
    for space in ("conditional", "joint"):
        learner = MaximumEntropy(event_space=space, tolerance=1e-8)
        partly = deepcopy(learner).fit_rows(Examples.of(rows_of(X), labels._replace(known=known)))
        some = np.flatnonzero(known[:, 0])
        alone = learner.fit_rows(Examples.of(rows_of(X[some]), yes_or_no(truth[some, 0])))
        np.testing.assert_allclose(
            partly.linear_weights()[:, 0], alone.linear_weights()[:, 0], atol=1e-4
        )


def test_what_is_left_competes_without_what_has_gone():
    X, y = documents()
    learner = MaximumEntropy().fit_rows(examples_of(X, y))
    probable = learner.probabilities(learner.score_rows(rows_of(X)))
    learner.drop_categories(np.array([True, False, True]))
    left = learner.probabilities(learner.score_rows(rows_of(X)))
    there = probable[:, [0, 2]] / probable[:, [0, 2]].sum(1, keepdims=True)
    np.testing.assert_allclose(left, there, atol=1e-5)
    learner.drop_categories(np.array([False, True]))
    assert np.isfinite(learner.score_rows(rows_of(X))).all()
    parts, rest = learner.contributions(rows_of(X[:1]), 0)
    assert parts.sum() + rest[0] == pytest.approx(
        learner.score_rows(rows_of(X[:1]))[0, 0], rel=1e-5
    )


def test_questions_of_their_own_do_not_miss_each_other():
    X, indicator = several()
    labels = Labels.from_lists([np.flatnonzero(one) for one in indicator], 3)
    learner = MaximumEntropy().fit_rows(Examples.of(rows_of(X), labels))
    scores = learner.score_rows(rows_of(X))
    learner.drop_categories(np.array([True, False, True]))
    np.testing.assert_array_equal(learner.score_rows(rows_of(X)), scores[:, [0, 2]])


@pytest.mark.parametrize("learner", [MaximumEntropy(), *VARIANTS[:5]], ids=repr)
def test_kernels_are_their_python(learner, monkeypatch):
    X, y = documents(25, 20)
    examples = examples_of(X, y)
    learner = deepcopy(learner).set_params(max_iter=3)
    compiled = bytes_of(learner.fit_rows(examples))
    for name in dir(kernels):
        function = getattr(kernels, name)
        monkeypatch.setattr(kernels, name, getattr(function, "py_func", function))
    assert bytes_of(learner.fit_rows(examples)) == compiled


def test_progress_and_blocks():
    X, indicator = several()
    labels = Labels.from_lists([np.flatnonzero(one) for one in indicator], 3)
    shares = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MaximumEntropy().fit_rows(
            Examples.of(rows_of(X), labels), progress=lambda *one: shares.append(one)
        )
    assert shares[-1] == ("fitting", len(X), 1.0)
