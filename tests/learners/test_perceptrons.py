"""Boosted perceptrons: exact momentum, rounds against the twin, what ends them, bad input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks import bytes_of, documents, examples_of, labels_of, rows_of
from naive import perceptrons as naive
from thresher import BoostedPerceptrons, Categorizer, MultilayerPerceptron
from thresher._kernels import perceptrons as kernels
from thresher.errors import ModelError, ParameterError
from thresher.examples import Examples
from thresher.learners._descent import Descent, Weights, visits
from thresher.rows import Labels, Rows

XOR = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32)


def unit_documents(n=40, n_features=12, seed=0):
    """Documents of length one with a few of the features each, and 1 or -1 by a noisy rule."""
    random = np.random.default_rng(seed)
    X = random.poisson(0.3, (n, n_features)).astype(np.float32)
    X /= np.maximum(1e-9, np.sqrt((X**2).sum(1, keepdims=True)))
    signs = np.where(X[:, :4].sum(1) + random.normal(0, 0.2, n) > 0.4, 1, -1)
    return X, signs


def one_against_rest(X, signs, weights=None):
    lists = [[0] if sign > 0 else [] for sign in signs]
    return Examples.of(rows_of(X), Labels.from_lists(lists, 1)._replace(weights=weights))


def trained(X, order, targets, counts, momentum=0.5, epochs=3, tolerance=0.0, is_logistic=False):
    options = MultilayerPerceptron(learning_rate=0.2, momentum=momentum, tolerance=tolerance)
    descent = Descent(options, rows_of(X), is_logistic)
    weights = Weights(np.zeros(1 + X.shape[1]))
    error = descent.train(order, targets, counts, weights, epochs)
    return descent.weights_now(weights), error


# ---- the delta rule -----------------------------------------------------------------------------


@given(
    seed=st.integers(0, 10**6),
    momentum=st.sampled_from([0.0, 0.5, 0.9]),
    is_logistic=st.booleans(),
)
def test_a_unit_is_that_of_the_twin_in_which_all_weights_move(seed, momentum, is_logistic):
    X, signs = unit_documents(15, 8, seed)
    random = np.random.default_rng(seed)
    order, counts = random.integers(0, 15, 20), random.uniform(0.1, 1, 15)
    targets = np.where(signs > 0, 1.0, 0.0 if is_logistic else -1.0)
    ours, error = trained(X, order, targets, counts, momentum, is_logistic=is_logistic)
    rest = X.tolist(), order, targets, counts, 0.2, momentum, 0.0, 3, is_logistic
    expected, expected_error = naive.train_unit(*rest)
    np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-12)
    assert error == pytest.approx(expected_error)


@pytest.mark.parametrize("momentum", [0.5, 0.99])
def test_weights_that_no_document_touches_for_long_still_come_to_rest(momentum):
    """Until the power of the momentum is no number above zero any more."""
    X = np.array([[1, 0], [0, 1]], np.float32)
    order, targets = np.array([0, *[1] * 3000, 0]), np.array([1.0, -1.0])
    ours, _ = trained(X, order, targets, np.ones(2), momentum, epochs=1)
    expected, _ = naive.train_unit(X.tolist(), order, targets, [1, 1], 0.2, momentum, 0.0, 1)
    np.testing.assert_allclose(ours, expected, rtol=1e-9)


def test_momentum_by_hand():
    X = np.array([[1, 0], [0, 1]], np.float32)
    ours, error = trained(X, np.array([0, 1]), np.array([1.0, -1.0]), np.ones(2), epochs=1)
    # The first error is 1: w and b become 0.2. The second is -1.2, b having been 0.2: its step of
    # -0.24 comes on top of half the last one, which the first word makes once more by itself.
    np.testing.assert_allclose(ours, [0.2 + 0.1 - 0.24, 0.3, -0.24], rtol=1e-12)
    assert error == pytest.approx((1 + 1.44) / 2)


def test_an_epoch_below_the_tolerance_is_the_last():
    X, signs = unit_documents()
    order, targets = np.arange(40), signs.astype(float)
    means = [trained(X, order, targets, np.ones(40), epochs=n)[1] for n in range(1, 6)]
    assert means == sorted(means, reverse=True)
    early = trained(X, order, targets, np.ones(40), epochs=5, tolerance=means[2] * 1.0001)
    assert early[1] == means[2]


@given(st.lists(st.sampled_from([0.0, 0.25, 1.0, 1.5, 7.2]), min_size=1, max_size=9))
def test_visits_count_as_much_as_the_documents(importance):
    numbers = 3 * np.arange(len(importance))
    order, counts = visits(np.array(importance), numbers)
    assert counts.max() <= 1
    times = [int((order == number).sum()) for number in numbers]
    np.testing.assert_allclose(times * counts, importance)
    if set(importance) == {1.0}:
        assert order.tolist() == numbers.tolist()


# ---- rounds -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_rounds_are_those_of_the_twin(seed):
    X, signs = unit_documents(seed=seed)
    weights = np.random.default_rng(seed).choice([0.5, 1.0, 2.0], 40) if seed % 2 else np.ones(40)
    learner = BoostedPerceptrons(vote="signs", max_iter=8, random_state=seed)
    learner.fit_rows(one_against_rest(X, signs, weights))
    generator = np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])
    units, alphas = naive.boost(X.tolist(), signs, weights, 8, generator)
    assert learner.summary()["rounds"] == [len(units)] and len(units) > 1
    np.testing.assert_allclose(learner._weights.T, units, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(learner._alphas, np.array(alphas) / sum(alphas), rtol=1e-9)


@pytest.mark.parametrize("resample", [True, False])
def test_outputs_are_the_units_added_up_and_signs_are_counted(resample):
    X, signs = unit_documents(seed=5)
    votes, sums = (
        BoostedPerceptrons(vote=vote, resample=resample, max_iter=9, epochs=3).fit_rows(
            one_against_rest(X, signs)
        )
        for vote in ("signs", "outputs")
    )
    assert len(votes._alphas) == sums.n_iter_ > 1 and votes.linear_weights() is None
    together = votes._weights @ votes._alphas
    np.testing.assert_allclose(sums.linear_weights()[:, 0], together[1:], rtol=1e-5, atol=1e-6)
    outputs = X @ votes._weights[1:] + votes._weights[0]
    expected = np.sign(outputs) @ votes._alphas
    np.testing.assert_allclose(votes.score_rows(rows_of(X))[:, 0], expected, rtol=1e-5, atol=1e-6)
    expected = outputs @ votes._alphas
    np.testing.assert_allclose(sums.score_rows(rows_of(X))[:, 0], expected, rtol=1e-5, atol=1e-6)


def test_scores_do_not_depend_on_how_many_are_computed_at_once(monkeypatch):
    X, y = documents()
    learner = BoostedPerceptrons(vote="signs", learning_rate=0.005, max_iter=4)
    learner.fit_rows(examples_of(X, y))
    scores = learner.score_rows(rows_of(X))
    monkeypatch.setattr("thresher.learners.perceptrons.OUTPUTS_AT_ONCE", 40)
    np.testing.assert_array_equal(learner.score_rows(rows_of(X)), scores)


def test_a_unit_without_error_ends_it():
    X = np.eye(2, dtype=np.float32)
    learner = BoostedPerceptrons(resample=False).fit(X, [1, 0])
    assert learner.n_iter_ == 1 and learner.predict(X).tolist() == [1, 0]


def test_what_no_line_divides_is_left_to_the_many():
    """XOR, of which every line has a half wrong, and the unit of least squares says zero."""
    learner = BoostedPerceptrons(resample=False, epochs=500, learning_rate=0.01)
    assert learner.fit(XOR, [0, 1, 1, 0]).n_iter_ <= 1
    assert (learner.predict(XOR) == [0, 1, 1, 0]).sum() < 4
    same = np.full((5, 2), 0.5, np.float32)
    learner = BoostedPerceptrons(resample=False).fit(same, [1, 1, 1, 0, 0])
    assert learner.predict(same).tolist() == [1] * 5


def test_boosting_helps_where_one_unit_is_not_enough():
    X, signs = unit_documents(200, 30)
    once, often = (
        BoostedPerceptrons(epochs=1, learning_rate=0.02, max_iter=n).fit(X, signs).score(X, signs)
        for n in (1, 60)
    )
    assert often > once + 0.02


def test_answers_about_some_categories_only():
    X, signs = unit_documents()
    labels = Labels.from_lists([[0] if sign > 0 else [] for sign in signs], 1)
    known = np.arange(40) % 4 > 0
    partly = BoostedPerceptrons(max_iter=5).fit_rows(
        Examples.of(rows_of(X), labels._replace(known=known[:, None]))
    )
    without = BoostedPerceptrons(max_iter=5).fit_rows(one_against_rest(X[known], signs[known]))
    np.testing.assert_array_equal(partly._weights, without._weights)


# ---- threads, kernels, files --------------------------------------------------------------------


def test_kernels_are_their_python(monkeypatch):
    X, signs = unit_documents()
    learner = BoostedPerceptrons(max_iter=3, epochs=4)
    compiled = bytes_of(learner.fit_rows(one_against_rest(X, signs)))
    for name in dir(kernels):
        function = getattr(kernels, name)
        monkeypatch.setattr(kernels, name, getattr(function, "py_func", function))
    assert bytes_of(learner.fit_rows(one_against_rest(X, signs))) == compiled


@pytest.mark.parametrize("vote", ["outputs", "signs"])
def test_units_that_do_not_fit_the_categories_are_refused(vote):
    learner = BoostedPerceptrons(vote=vote, learning_rate=0.005, max_iter=3)
    header, tensors = learner.fit_rows(examples_of(*documents())).state()
    ends = tensors["ends"]
    for wrong in (ends[[0, 2, 1, 3]], ends[[0, 0, 2, 3]], ends[[1, 1, 2, 3]]):
        with pytest.raises(ModelError):
            BoostedPerceptrons.from_state(header, tensors | {"ends": wrong})
    weights = np.where(np.arange(31) == 7, np.nan, 0)[:, None] + tensors["weights"]
    with pytest.raises(ModelError, match="nan; finite values"):
        BoostedPerceptrons.from_state(header, tensors | {"weights": weights.astype(np.float32)})


def test_an_interruption_ends_all_threads():
    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        BoostedPerceptrons(learning_rate=0.001, max_iter=10**6, epochs=50, tolerance=0).fit_rows(
            examples_of(*documents()), n_jobs=2, progress=interrupt
        )


def test_progress_ends_at_one():
    shares = []
    learner = BoostedPerceptrons(learning_rate=0.005, max_iter=3)
    learner.fit_rows(
        examples_of(*documents()), progress=lambda stage, n, share: shares.append(share)
    )
    assert shares[-1] == 1.0


# ---- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.2, 10.0])
def test_weights_beyond_all_bounds_are_refused_with_a_remedy(rate):
    X, y = documents()
    with pytest.raises(
        ParameterError, match=r"grow beyond all bounds.*up to 25.6 long.*l2.*0\.0008"
    ):
        BoostedPerceptrons(learning_rate=rate).fit(X * 3, y)
    BoostedPerceptrons(learning_rate=0.0008, max_iter=2).fit(X * 3, y)


def test_no_documents_and_no_words():
    nothing = Rows(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32), 5)
    learner = BoostedPerceptrons().fit_rows(Examples.of(nothing, Labels.from_lists([], 2)))
    assert learner.score_rows(rows_of(np.eye(5))).tolist() == [[-1, -1]] * 5
    empty = rows_of(np.zeros((4, 5), np.float32))
    learner.fit_rows(Examples.of(empty, labels_of([0, 0, 0, 1], 2)))
    scores = learner.score_rows(empty)
    assert (scores[:, 0] > 0).all() and (scores[:, 1] < 0).all()


def test_texts_are_learned_and_explained():
    texts = ["wheat and corn", "corn field", "crude oil", "oil barrel and pump"] * 5
    labels = ["grain", "grain", "oil", "oil"] * 5
    for vote in ("outputs", "signs"):
        model = Categorizer(BoostedPerceptrons(vote=vote, max_iter=5)).fit(texts, labels)
        assert list(model.predict(["corn", "oil barrel"])) == ["grain", "oil"]
        assert model.explain("corn on wheat", "grain").shares
        assert np.isfinite(model.scores(["nothing known", ""])).all()
