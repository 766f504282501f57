"""The multilayer perceptron: against its twin and scikit-learn, XOR, probabilities, bad input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neural_network import MLPRegressor

from checks import bytes_of, documents, examples_of, labels_of, rows_of
from naive import perceptrons as naive
from thresher import Categorizer, MultilayerPerceptron, Perceptron
from thresher._kernels import perceptrons as kernels
from thresher.errors import ParameterError
from thresher.examples import Examples
from thresher.learners._descent import Descent, Weights
from thresher.rows import Labels, Rows

XOR = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32)


def trained(X, order, targets, momentum, first, outer, is_logistic=False):
    """One epoch from given weights, in a given order."""
    options = MultilayerPerceptron(learning_rate=0.1, momentum=momentum, tolerance=0.0)
    descent = Descent(options, rows_of(X), is_logistic)
    weights = Weights(first, outer.copy())
    descent.train(order, targets, np.ones(len(X)), weights, 1)
    return descent.weights_now(weights), weights.outer[0]


def sparse(seed, n=15, n_features=8):
    random = np.random.default_rng(seed)
    X = (random.random((n, n_features)) * (random.random((n, n_features)) < 0.2)).astype(np.float32)
    first, outer = random.uniform(-0.5, 0.5, (1 + n_features, 3)), random.uniform(-0.5, 0.5, 4)
    return X, random.integers(0, 2, n) * 2.0 - 1, first, outer


@given(
    seed=st.integers(0, 10**6),
    momentum=st.sampled_from([0.0, 0.5, 0.9]),
    is_logistic=st.booleans(),
)
def test_an_epoch_is_that_of_the_twin_in_which_all_weights_move(seed, momentum, is_logistic):
    X, signs, first, outer = sparse(seed)
    targets = np.maximum(signs, 0) if is_logistic else signs
    order = np.random.default_rng(seed).integers(0, 15, 60)
    ours = trained(X, order, targets, momentum, first, outer, is_logistic)
    rest = X.tolist(), order, targets, 0.1, momentum, first, outer, is_logistic
    for one, expected in zip(ours, naive.train_network(*rest), strict=True):
        np.testing.assert_allclose(one, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("momentum", [0.0, 0.5])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_epoch_is_scikit_learns(momentum):
    """It can be set so for one epoch; it ends where no progress is made, not at a given error."""
    X, targets, first, outer = sparse(3, 40)
    theirs = MLPRegressor(
        hidden_layer_sizes=(3,), activation="tanh", solver="sgd", alpha=0.0, batch_size=1,
        learning_rate_init=1e-30, momentum=momentum, nesterovs_momentum=False, max_iter=1,
        shuffle=False, warm_start=True,
    )  # fmt: skip
    wide = X.astype(np.float64)
    theirs.fit(wide, targets)
    theirs.coefs_ = [first[1:].copy(), outer[:-1, None].copy()]
    theirs.intercepts_ = [first[0].copy(), outer[-1:].copy()]
    theirs.set_params(learning_rate_init=0.1).fit(wide, targets)
    inner, last = trained(X, np.arange(40), targets, momentum, first, outer)
    np.testing.assert_allclose(inner[1:], theirs.coefs_[0], rtol=1e-9)
    np.testing.assert_allclose(inner[0], theirs.intercepts_[0], rtol=1e-9)
    np.testing.assert_allclose(last[:-1], theirs.coefs_[1][:, 0], rtol=1e-9)
    np.testing.assert_allclose(last[-1], theirs.intercepts_[1][0], rtol=1e-9)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("output", ["linear", "logistic"])
def test_xor_is_learned_by_the_network_alone(seed, output):
    answers = [0, 1, 1, 0]
    network = MultilayerPerceptron(initial_range=2.0, output=output, random_state=seed)
    assert network.fit(XOR, answers).predict(XOR).tolist() == answers
    assert network.n_iter_ < 500
    for single in (MultilayerPerceptron(hidden=0, output=output), Perceptron()):
        assert (single.fit(XOR, answers).predict(XOR) == answers).sum() < 4


def test_training_ends_at_the_tolerance():
    X, y = documents()
    learner = MultilayerPerceptron(learning_rate=0.005, tolerance=0.05)
    loose = learner.fit_rows(examples_of(X, y)).summary()["epochs"]
    learner.tolerance = 0.005
    strict = learner.fit_rows(examples_of(X, y)).summary()["epochs"]
    assert all(1 < one < other <= 500 for one, other in zip(loose, strict, strict=True))
    assert learner.n_iter_ == max(strict)


def test_only_a_logistic_output_has_probabilities():
    X, y = documents()
    linear = MultilayerPerceptron(learning_rate=0.005, max_iter=5).fit(X, y == 1)
    assert not linear.has_probabilities and not hasattr(linear, "predict_proba")
    learner = MultilayerPerceptron(output="logistic", learning_rate=0.005, max_iter=30)
    probable = learner.fit(X, y == 1).predict_proba(X)
    np.testing.assert_allclose(probable.sum(1), 1)
    expected = 1 / (1 + np.exp(-learner.decision_function(X)))
    np.testing.assert_allclose(probable[:, 1], expected, rtol=1e-5)
    assert ((probable[:, 1] > 0.5) == (y == 1)).mean() > 0.95
    model = Categorizer(MultilayerPerceptron(output="logistic")).fit(
        ["oil", "corn"] * 9, ["o", "g"] * 9
    )
    assert model.predict_proba(["oil"])[0].argmax() == model.classes_.tolist().index("o")


def test_kernels_are_their_python(monkeypatch):
    X, y = documents(30, 20)
    for output in ("linear", "logistic"):
        learner = MultilayerPerceptron(output=output, hidden=2, learning_rate=0.005, max_iter=3)
        compiled = bytes_of(learner.fit_rows(examples_of(X, y)))
        with monkeypatch.context() as context:
            for name in dir(kernels):
                function = getattr(kernels, name)
                context.setattr(kernels, name, getattr(function, "py_func", function))
            assert bytes_of(learner.fit_rows(examples_of(X, y))) == compiled


def test_weights_beyond_all_bounds_are_refused_with_a_remedy():
    X, y = documents()
    for hidden in (0, 3):
        with pytest.raises(ParameterError, match="MultilayerPerceptron: with learning_rate=9 the "):
            MultilayerPerceptron(hidden=hidden, learning_rate=9).fit(X, y)


@pytest.mark.parametrize("hidden", [0, 2])
def test_no_documents_and_one_class_alone(hidden):
    nothing = Rows(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32), 5)
    learner = MultilayerPerceptron(hidden=hidden, max_iter=20)
    learner.fit_rows(Examples.of(nothing, Labels.from_lists([], 2)))
    assert learner.score_rows(rows_of(np.eye(5))).tolist() == [[-1, -1]] * 5
    learner.fit_rows(Examples.of(rows_of(np.eye(5)), labels_of([1] * 5, 2)))
    assert learner.score_rows(rows_of(np.eye(5))).tolist() == [[-1, 1]] * 5
    assert learner.summary() == {"epochs": [0, 0]}
    empty = rows_of(np.zeros((4, 5), np.float32))
    learner.fit_rows(Examples.of(empty, labels_of([0, 0, 0, 1], 2)))
    assert learner.score_rows(empty)[0, 0] > 0 > learner.score_rows(empty)[0, 1]


def test_steps_of_an_nth_are_as_good_as_one_step_an_epoch():
    """Which is how the paper's figures are explained; all documents, their mean slope, dense."""
    X, targets, first, outer = sparse(1, 50)
    w, a, moved_w, moved_a = first.copy(), outer.copy(), 0.0, 0.0
    wide = np.hstack([np.ones((50, 1)), X])
    for _ in range(300):
        hidden = np.hstack([np.tanh(wide @ w), np.ones((50, 1))])
        error = targets - hidden @ a
        back = error[:, None] * a[:-1] * (1 - hidden[:, :-1] ** 2)
        moved_a = 0.5 * moved_a + 0.2 * hidden.T @ error / 50
        moved_w = 0.5 * moved_w + 0.2 * wide.T @ back / 50
        w, a = w + moved_w, a + moved_a
    options = MultilayerPerceptron(learning_rate=0.2 / 50, momentum=0.5, tolerance=0.0)
    descent = Descent(options, rows_of(X), False)
    weights = Weights(first, outer.copy())
    descent.train(np.arange(50), targets, np.ones(50), weights, 300)
    outputs = [
        np.hstack([np.tanh(wide @ inner), np.ones((50, 1))]) @ last
        for inner, last in ((descent.weights_now(weights), weights.outer[0]), (w, a))
    ]
    np.testing.assert_allclose(*outputs, atol=0.1)
    assert np.ptp(outputs[1]) > 2
