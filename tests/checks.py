"""What every learner must do, whichever it is: one function per promise, over scikit-learn's API.

`CHECKS` is the battery; a test module runs each of its learners through all of it. A check takes
an unfitted learner and clones it, so that parameters given in the test are kept.
"""

import pickle

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import clone

from thresher.rows import Labels, Rows


def documents(n_documents=120, n_features=30, seed=0):
    """Counts of words, and one of three classes per document, which its words decide."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, n_documents)
    rates = np.full((3, n_features), 0.2)
    for k in range(3):
        rates[k, 6 * k : 6 * k + 6] = 1.5
    return random.poisson(rates[y]).astype(np.float32), y


def one_pass(learner):
    return clone(learner).set_params(max_iter=1, shuffle=False)


def rows_of(X):
    X = csr_array(X)
    indptr, indices = X.indptr.astype(np.int64), X.indices.astype(np.int32)
    return Rows(indptr, indices, X.data.astype(np.float32), X.shape[1])


def assert_same(one, other):
    """Assert that two fitted learners hold the same bits."""
    np.testing.assert_array_equal(one.effective_weights(), other.effective_weights())
    np.testing.assert_array_equal(one.thresholds(), other.thresholds())


def check_it_learns(learner):
    X, y = documents()
    assert clone(learner).fit(X, y).score(X, y) > 0.9


def check_pieces_equal_one_pass(learner):
    X, y = documents()
    # Six words each: where the first weights depend on the mean length, all pieces agree on it.
    X = np.where(np.argsort(np.argsort(-X)) < 6, X + 1, 0)
    whole, pieces = one_pass(learner).fit(X, y), one_pass(learner)
    for start, end in ((0, 50), (50, 51), (51, 120)):
        pieces.partial_fit(X[start:end], y[start:end], classes=[0, 1, 2])
    assert_same(whole, pieces)


def check_same_seed_same_bits(learner):
    X, y = documents()
    for seed in (0, 1):
        first = clone(learner).set_params(random_state=seed).fit(X, y)
        assert_same(first, clone(learner).set_params(random_state=seed).fit(X, y))


def check_threads_change_nothing(learner):
    X, _ = documents()
    y = np.random.default_rng(1).random((len(X), 40)) < 0.1
    assert_same(
        clone(learner).set_params(n_jobs=1).fit(X, y.astype(int)),
        clone(learner).set_params(n_jobs=3).fit(X, y.astype(int)),
    )


def check_sparse_equals_dense(learner):
    X, y = documents()
    assert_same(clone(learner).fit(X, y), clone(learner).fit(csr_array(X), y))


def check_index_types_change_nothing(learner):
    X, y = documents()
    wide = csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert_same(clone(learner).fit(csr_array(X), y), clone(learner).fit(wide, y))


def check_double_precision_changes_nothing(learner):
    X, y = documents()
    assert_same(clone(learner).fit(X, y), clone(learner).fit(X.astype(np.float64), y))


def check_explicit_zeros_change_nothing(learner):
    X, y = documents()
    full = csr_array(np.ones_like(X))
    full.data = X.ravel().copy()
    assert_same(clone(learner).fit(X, y), clone(learner).fit(full, y))


def check_duplicate_entries_are_summed(learner):
    X, y = documents()
    twice = csr_array(X)
    halves = np.repeat(twice.data / 2, 2)
    twice = csr_array((halves, np.repeat(twice.indices, 2), 2 * twice.indptr), shape=X.shape)
    assert_same(clone(learner).fit(X, y), clone(learner).fit(twice, y))


def check_order_of_columns_in_a_row_hardly_matters(learner):
    X, y = documents()
    there, back = csr_array(X), csr_array(X[:, ::-1])
    back.indices = (X.shape[1] - 1 - back.indices).astype(np.int32)
    assert not back.has_sorted_indices
    scores = one_pass(learner).fit(there, y).decision_function(there)
    np.testing.assert_allclose(one_pass(learner).fit(back, y).decision_function(there), scores,
                               rtol=1e-3, atol=1e-3)  # fmt: skip


def check_weight_zero_is_absence(learner):
    X, y = documents()
    weight = np.arange(len(y)) % 3 != 0
    without = one_pass(learner).partial_fit(X[weight], y[weight])
    learner = one_pass(learner).start(X.shape[1], 3, without.mean_active_)
    labels = Labels.from_lists([[k] for k in y], 3)
    learner.learn_rows(rows_of(X), labels, sample_weight=weight.astype(float))
    assert_same(without, learner)
    assert without.mistakes_ == learner.mistakes_


def check_predict_is_pure(learner):
    X, y = documents()
    fitted = clone(learner).fit(X, y)
    before = pickle.dumps(fitted.state())
    scores = fitted.decision_function(X)
    fitted.predict(X[:3])
    np.testing.assert_array_equal(scores, fitted.decision_function(X))
    assert before == pickle.dumps(fitted.state())


def check_round_trips(learner):
    X, y = documents()
    fitted = clone(learner).fit(X, y)
    again = type(fitted).from_state(*fitted.state())
    np.testing.assert_array_equal(again.score_rows(rows_of(X)), fitted.score_rows(rows_of(X)))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))


def check_new_classes_may_appear(learner):
    X, y = documents()
    order = np.argsort(y, kind="stable")  # class 0, then class 1, then class 2
    grown = one_pass(learner)
    for _ in range(5):
        for part in np.array_split(order, 6):
            grown.partial_fit(X[part], y[part])
    assert list(grown.classes_) == [0, 1, 2]
    assert grown.decision_function(X).shape == (len(X), 3)
    assert set(grown.predict(X)) <= {0, 1, 2}


def check_two_classes_may_become_three(learner):
    X, y = documents()
    grown = one_pass(learner).partial_fit(X[y < 2], y[y < 2])
    second = grown.effective_weights()[:, 0].copy()
    assert grown.decision_function(X).shape == (len(X),)
    grown.partial_fit(X[:3], [0, 1, 2], sample_weight=np.zeros(3))
    assert grown.decision_function(X).shape == (len(X), 3)
    np.testing.assert_array_equal(grown.effective_weights()[:, 1], second)


def check_growing_equals_room_from_the_start(learner):
    X, y = documents()
    first, second = csr_array(X[:60, :20]), csr_array(X[60:])
    labels = [Labels.from_lists([[k] for k in part], 3) for part in (y[:60], y[60:])]
    roomy = one_pass(learner).start(30, 3, 6)
    tight = one_pass(learner).start(20, 3, 6)
    for one in (roomy, tight):
        one.learn_rows(rows_of(first), labels[0])
    tight.grow(25, 3).grow(30, 3)
    for one in (roomy, tight):
        one.learn_rows(rows_of(second), labels[1])
    assert_same(roomy, tight)


def check_pruning_keeps_the_rest(learner):
    X, y = documents()
    fitted = clone(learner).fit(X, y)
    weights, keep = fitted.effective_weights().copy(), np.arange(30) % 3 > 0
    fitted.prune(keep)
    np.testing.assert_array_equal(fitted.effective_weights(), weights[keep])
    assert fitted.score_rows(rows_of(X[:, keep])).shape == (len(X), 3)


def check_contributions_add_up(learner):
    X, y = documents()
    fitted = clone(learner).fit(X, y)
    rows = rows_of(X)
    scores = fitted.score_rows(rows)
    for k in range(3):
        parts, rest = fitted.contributions(rows, k)
        sums = np.bincount(np.repeat(np.arange(len(X)), np.diff(rows.indptr)), parts, len(X))
        np.testing.assert_allclose(sums + rest, scores[:, k], rtol=1e-4, atol=1e-5)


def check_empty_documents(learner):
    X, y = documents()
    X[::5] = 0
    fitted = clone(learner).fit(X, y)
    assert np.isfinite(fitted.decision_function(np.zeros((2, 30), np.float32))).all()


def check_no_documents_at_all(learner):
    nothing = Rows(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32), 5)
    started = one_pass(learner).start(5, 2, 1)
    assert started.learn_rows(nothing, Labels.from_lists([], 2)).tolist() == [0, 0]
    assert started.score_rows(nothing).shape == (0, 2)


def check_several_labels(learner):
    X, y = documents()
    indicator = np.zeros((len(y), 3), int)
    indicator[np.arange(len(y)), y] = 1
    indicator[:, 2] |= X[:, 0] > 0
    names = np.array(["grain", "ship", "wheat"])
    lists = [names[one > 0].tolist() for one in indicator]
    by_matrix, by_names = clone(learner).fit(X, indicator), clone(learner).fit(X, lists)
    assert_same(by_matrix, by_names)
    assert by_names.classes_.tolist() == names.tolist()
    np.testing.assert_array_equal(by_names.predict(X), by_matrix.predict(X))
    assert by_names.score(X, lists) == by_matrix.score(X, indicator)
    assert by_matrix.predict(X).shape == indicator.shape


CHECKS = [function for name, function in list(globals().items()) if name.startswith("check_")]
