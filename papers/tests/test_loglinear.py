"""Loglinear models over any features: exercises, twins, and three ways to one model."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks import examples_of, rows_of
from naive import maxent as naive
from thresher import MaximumEntropy
from thresher.errors import ParameterError
from thresher_papers.manning_schuetze_1999.loglinear import fit_loglinear

SPACES = pytest.mark.parametrize("space", ["joint", "conditional"])
METHODS = pytest.mark.parametrize("method", ["gis", "iis", "lbfgs"])

# ---- exercises 16.7 to 16.10 --------------------------------------------------------------------

# Contexts are `profit` there or not, classes "no" and "yes"; the feature is both being true.
PROFIT = np.zeros((2, 2, 1))
PROFIT[1, 1] = 1
TABLE_16_6 = np.array([[0.2, 0.2], [0.2, 0.4]])
TABLE_16_7 = np.array([[13.0, 8.0], [9.0, 20.0]])


def test_exercise_16_7():
    model = fit_loglinear(PROFIT, TABLE_16_6, space="joint")
    given_words = model.probabilities()[:, 1] / model.probabilities().sum(1)
    np.testing.assert_allclose(given_words, [1 / 2, 2 / 3])


def test_exercise_16_8():
    """The distribution is a fixed point, whatever was seen that has its expectations."""
    weights = np.log([4.0, 2.0])  # of table 16.6
    filled = [[[pair[0], 1 - pair[0]] for pair in context] for context in PROFIT.tolist()]
    np.testing.assert_allclose(naive.distribution(filled, weights, True), TABLE_16_6)
    model = fit_loglinear(PROFIT, TABLE_16_6, space="joint", C=1)
    again = fit_loglinear(PROFIT, model.probabilities(), space="joint", C=1)
    np.testing.assert_allclose(again.probabilities(), TABLE_16_6, atol=1e-12)
    np.testing.assert_allclose(again.log_alphas, model.log_alphas, atol=1e-12)


def test_exercise_16_9():
    for counts in (TABLE_16_6, TABLE_16_7):
        model = fit_loglinear(PROFIT, counts, space="joint")
        np.testing.assert_allclose(model.empirical, [0.4, 0.6])
        np.testing.assert_allclose(model.expected, [0.4, 0.6])


def test_exercise_16_10():
    joint = fit_loglinear(PROFIT, TABLE_16_7, space="joint", C=1)
    assert joint.n_iter == 1 and joint.converged
    np.testing.assert_allclose(joint.probabilities(), TABLE_16_6)
    np.testing.assert_allclose(np.exp(joint.log_alphas), [1.6, 0.8])
    conditional = fit_loglinear(PROFIT, TABLE_16_7, C=1)
    alphas = np.exp(conditional.log_alphas)
    assert alphas[0] / alphas[1] == pytest.approx(20 / 9)


# ---- any features -------------------------------------------------------------------------------

PROBLEMS = st.builds(
    lambda seed, shape: problem(seed, *shape),
    st.integers(0, 10_000),
    st.tuples(st.integers(1, 4), st.integers(2, 3), st.integers(1, 4)),
)


def problem(seed, n_contexts, n_classes, n_features):
    random = np.random.default_rng(seed)
    features = random.choice([0.0, 0.0, 1.0, 0.5, 2.0], (n_contexts, n_classes, n_features))
    counts = random.choice([0.5, 1.0, 2.0, 3.0], (n_contexts, n_classes))
    return features, counts


@SPACES
@settings(max_examples=30, deadline=None)
@given(given_problem=PROBLEMS, slack=st.sampled_from([None, 12.0]))
def test_scaling_is_its_twins(space, given_problem, slack):
    features, counts = given_problem
    if not features.any():
        return
    model = fit_loglinear(features, counts, space=space, C=slack, max_iter=7, tolerance=0)
    expected = naive.gis(features.tolist(), counts.tolist(), space == "joint", 7, slack)
    np.testing.assert_allclose(model.log_alphas, expected, atol=1e-9)
    improved = fit_loglinear(features, counts, space=space, method="iis", max_iter=4, tolerance=0)
    expected = naive.iis(features.tolist(), counts.tolist(), space == "joint", 4)
    np.testing.assert_allclose(improved.log_alphas, expected, atol=1e-8)


@SPACES
@settings(max_examples=30, deadline=None)
@given(given_problem=PROBLEMS)
def test_three_ways_lead_to_one_distribution(space, given_problem):
    features, counts = given_problem
    models = [
        fit_loglinear(features, counts, space=space, method=method, max_iter=3000, tolerance=1e-9)
        for method in ("gis", "iis", "lbfgs")
    ]
    best = models[2]
    for model in models:
        assert (np.diff(model.log_likelihoods) >= -1e-9).all()
        model_sums = model.probabilities().sum(None if space == "joint" else 1)
        np.testing.assert_allclose(model_sums, 1.0)
        assert model.log_likelihoods[-1] == pytest.approx(best.log_likelihoods[-1], abs=1e-2)
        if model.converged:  # scaling needs more than 3,000 rounds where the optimum is flat
            probabilities = model.probabilities()
            np.testing.assert_allclose(probabilities, best.probabilities(), atol=1e-4)
            np.testing.assert_allclose(model.expected, model.empirical, atol=1e-3)


def test_a_feature_never_seen_is_left_out():
    features = np.concatenate([PROFIT, 1 - PROFIT], axis=2)
    counts = [[0, 0], [0, 5]]
    model = fit_loglinear(features, counts, space="joint", max_iter=20)
    assert model.log_alphas[1] == 0
    np.testing.assert_allclose(model.empirical[:2], [1, 0])


def test_a_feature_always_right_grows_until_it_may_not():
    model = fit_loglinear(PROFIT, [[5, 5], [0, 9]], max_iter=50, tolerance=1e-9)
    longer = fit_loglinear(PROFIT, [[5, 5], [0, 9]], max_iter=500, tolerance=1e-9)
    assert not model.converged and model.n_iter == 50
    assert 0 < model.log_alphas[0] < longer.log_alphas[0] < 50


@pytest.mark.parametrize("method", ["gis", "iis"])
def test_overflow_names_the_feature(method):
    features = np.zeros((3, 2, 3))
    features[0, 1, 0] = features[1, 0, 1] = features[1, 1, 2] = 1
    # What was seen next to never becomes too improbable to be told from never.
    counts = [[0, 0], [1e300, 1e-30], [0, 1e300]]
    with pytest.raises(ParameterError, match=r"Feature 2 .* overflows\. Leave rare features out"):
        fit_loglinear(features, counts, space="joint", method=method, max_iter=5000, tolerance=0)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"features": np.zeros((2, 2))}, "must be .contexts, classes, features."),
        ({"features": -PROFIT}, "zero or more"),
        ({"features": PROFIT * np.nan}, "finite"),
        ({"counts": np.zeros((2, 2))}, "some of them above"),
        ({"counts": -TABLE_16_7}, "zero or more"),
        ({"space": "both"}, "space is 'both'; it must be one of conditional, joint"),
        ({"method": "newton"}, "method is 'newton'"),
        ({"C": 0.5}, "The constant C is 0.5, and the features of one event add up to 1;"),
        ({"prior_variance": 1.0}, "scaling has no prior"),
    ],
)
def test_bad_problems_are_refused(arguments, sentence):
    arguments = {"features": PROFIT, "counts": TABLE_16_7} | arguments
    with pytest.raises(ParameterError, match=sentence):
        fit_loglinear(**arguments)


# ---- documents ----------------------------------------------------------------------------------


def noisy(n_documents=80, n_features=6, seed=0):
    """Counts of words and classes that no line divides."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, n_documents)
    X = random.poisson(0.5 + 0.8 * (np.arange(n_features) % 3 == y[:, None])).astype(np.float32)
    return X, np.where(random.random(n_documents) < 0.7, y, random.integers(0, 3, n_documents))


@SPACES
@METHODS
def test_competing_categories_are_the_twins(space, method):
    X, y = noisy(40, 3)
    learner = MaximumEntropy(
        method=method, event_space=space, always_on=False, prior_variance=None, max_iter=4000,
        tolerance=1e-7,
    ).fit_rows(examples_of(X, y))  # fmt: skip
    kinds = [tuple(x) for x in X]
    contexts = list(dict.fromkeys(kinds))
    counts = [[0, 0, 0] for _ in contexts]
    for kind, k in zip(kinds, y, strict=True):
        counts[contexts.index(kind)][k] += 1
    model = fit_loglinear(
        naive.for_categories(contexts, 3), counts, space=space, method="lbfgs", max_iter=4000
    )
    p = model.probabilities() / model.probabilities().sum(1, keepdims=True)
    probable = learner.probabilities(learner.score_rows(rows_of(np.array(contexts))))
    np.testing.assert_allclose(probable, p, atol=1e-4)
