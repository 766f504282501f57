"""Checks for all learners: one function per promise.

`CHECKS` is the battery; a test module runs each of its learners through it. A check takes an
unfitted learner and clones it, so that parameters given in the test are kept. `check_online_...` is
for those that can go on learning, `check_batch_...` for those that do not go by order,
`check_mergeable_...` for those whose training is a sum.
"""

import json
import pickle
from copy import deepcopy

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from thresher.errors import ModelError, ParameterError
from thresher.examples import Examples
from thresher.learners import MajorityClass, Rocchio, learner_class
from thresher.learners.capabilities import (
    Mergeable,
    Neighbours,
    Online,
    Probabilistic,
    Rules,
    Trees,
)
from thresher.learners.online import LinearSVM, Perceptron
from thresher.rows import Labels, Rows


def documents(n_documents=120, n_features=30, seed=0):
    """Return word counts, and one of three classes per document, which depends on its words."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, n_documents)
    rates = np.full((3, n_features), 0.2)
    for k in range(3):
        rates[k, 6 * k : 6 * k + 6] = 1.5
    return random.poisson(rates[y]).astype(np.float32), y


def several():
    """Return the same documents with up to two labels each."""
    X, y = documents()
    indicator = np.zeros((len(y), 3), int)
    indicator[np.arange(len(y)), y] = 1
    indicator[:, 2] |= X[:, 0] > 0
    return X, indicator


def one_pass(learner):
    learner = clone(learner)
    return learner.set_params(max_iter=1, shuffle=False) if hasattr(learner, "shuffle") else learner


def goes_by_order(learner):
    params = learner.get_params()
    holds_out = params.get("early_stopping") or params.get("pruning") not in (None, "confidence")
    return "shuffle" in params or holds_out or "momentum" in params  # by number


def reads_words(learner):
    return not isinstance(learner, MajorityClass)  # predicts the same for all documents


def depends_on_all(learner):
    """Return True if the score of a category depends on the other categories."""
    of_values = learner.get_params().get("metric") == "value-difference"
    return of_values or type(learner).__name__ in ("MaximumEntropy", "NaiveBayes")


def rows_of(X):
    X = csr_array(X)
    indptr, indices = X.indptr.astype(np.int64), X.indices.astype(np.int32)
    return Rows(indptr, indices, X.data.astype(np.float32), X.shape[1])


def labels_of(y, n_categories=3):
    return Labels.from_lists([[int(k)] for k in y], n_categories)


def examples_of(X, y, weights=None):
    return Examples.of(rows_of(X), labels_of(y)._replace(weights=weights))


def bytes_of(learner):
    """Return the whole state of a learner, as in a model file."""
    header, tensors = learner.state()
    arrays = {name: (item.shape, item.dtype.str, item.tobytes()) for name, item in tensors.items()}
    return json.dumps(header, sort_keys=True), arrays


def assert_same(first, other):
    """Assert that two fitted learners hold the same bits."""
    left, right = first.state()[1], other.state()[1]
    assert left.keys() == right.keys()
    for name, array in left.items():
        np.testing.assert_array_equal(array, right[name], err_msg=name)
    assert getattr(first, "mistakes_", None) == getattr(other, "mistakes_", None)


def read_everything(learner, rows):
    """Return the results of all reading methods of a learner as bytes."""
    scores = learner.score_rows(rows)
    results = [scores, learner.score_rows(rows, n_jobs=2), learner.linear_weights()]
    for k in range(learner.n_categories):
        results += learner.contributions(rows, k)
    if isinstance(learner, Probabilistic) and learner.has_probabilities:
        results.append(learner.probabilities(scores))
    if isinstance(learner, Neighbours):
        results.append(learner.neighbors(rows, 3))
    if isinstance(learner, Trees):
        results += [learner.path(rows.take(np.array([0])), 1), learner.importance(1)]
    if isinstance(learner, Rules):
        results += learner.rules(1)
    return pickle.dumps(results)


def make_read_only(thing):
    """Make all arrays of a learner read-only, like those of a memory-mapped file."""
    if isinstance(thing, np.ndarray):
        thing.flags.writeable = False
    elif isinstance(thing, dict | list | tuple):
        for item in thing.values() if isinstance(thing, dict) else thing:
            make_read_only(item)
    elif type(thing).__module__.startswith("thresher"):
        make_read_only(vars(thing))


# ---- matrices, as in scikit-learn ---------------------------------------------------------------


def check_it_learns(learner):
    X, y = documents()
    least = 0.9 if reads_words(learner) else np.bincount(y).max() / len(y) - 1e-9
    assert clone(learner).fit(X, y).score(X, y) > least


def check_several_labels(learner):
    X, indicator = several()
    names = np.array(["grain", "ship", "wheat"])
    lists = [names[item > 0].tolist() for item in indicator]
    by_matrix, by_names = clone(learner).fit(X, indicator), clone(learner).fit(X, lists)
    assert_same(by_matrix, by_names)
    assert by_names.classes_.tolist() == names.tolist()
    np.testing.assert_array_equal(by_names.predict(X), by_matrix.predict(X))
    assert by_names.score(X, lists) == by_matrix.score(X, indicator)
    assert by_matrix.predict(X).shape == indicator.shape
    if reads_words(learner):
        assert (by_matrix.predict(X)[:, 0] == indicator[:, 0]).mean() > 0.8


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
    fitted = clone(learner).fit(X, y)
    assert_same(fitted, clone(learner).fit(full, y))
    scores, same = fitted.score_rows(rows_of(X)), fitted.score_rows(rows_of(full))
    np.testing.assert_allclose(same, scores, rtol=1e-5, atol=1e-6)


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


# ---- rows, as in the library --------------------------------------------------------------------


def check_same_data_same_bits(learner):
    X, y = documents()
    for seed in (0, 1) if goes_by_order(learner) else (None,):
        fresh = clone(learner) if seed is None else clone(learner).set_params(random_state=seed)
        first = clone(fresh).fit_rows(examples_of(X, y))
        assert bytes_of(first) == bytes_of(clone(fresh).fit_rows(examples_of(X, y)))


def check_threads_change_nothing(learner):
    X, _ = documents()
    labels = Labels.from_lists([[i % 40, i % 7] for i in range(len(X))], 40)
    first, three = (
        clone(learner).fit_rows(Examples.of(rows_of(X), labels), n_jobs=n) for n in (1, 3)
    )
    assert bytes_of(first) == bytes_of(three)
    scores = [first.score_rows(rows_of(X), n_jobs=n) for n in (1, 3)]
    assert scores[0].shape == (120, 40) and scores[0].dtype == np.float32
    np.testing.assert_array_equal(*scores)


def check_weight_zero_is_absence(learner):
    X, y = documents()
    X = np.where(np.argsort(np.argsort(-X)) < 6, X + 1, 0)  # six words each, with any weights
    there = np.arange(len(y)) % 3 != 0
    without = one_pass(learner).fit_rows(examples_of(X[there], y[there]))
    weighed = one_pass(learner).fit_rows(examples_of(X, y, there.astype(float)))
    assert_same(without, weighed)


def check_predict_is_pure(learner):
    X, y = documents()
    fitted = clone(learner).fit(X, y)
    before = pickle.dumps(fitted)
    scores = fitted.decision_function(X)
    fitted.predict(X[:3])
    fitted.contributions(rows_of(X[:3]), 1)
    fitted.linear_weights()
    np.testing.assert_array_equal(scores, fitted.decision_function(X))
    assert before == pickle.dumps(fitted)


def check_state_round_trips(learner):
    X, y = documents()
    fitted = clone(learner).fit(X, y)
    fitted.check_savable()
    header, tensors = fitted.state()
    kind = learner_class(header["learner"], [type(fitted)])
    again = kind.from_state(json.loads(json.dumps(header)), tensors)
    np.testing.assert_array_equal(again.score_rows(rows_of(X)), fitted.score_rows(rows_of(X)))
    assert bytes_of(again) == bytes_of(fitted)
    assert (again.n_features, again.n_categories) == (30, 3)


def check_read_only_arrays_serve_all_reading(learner):
    X, y = documents()
    fitted, rows = clone(learner).fit(X, y), rows_of(X)
    expected, before = read_everything(fitted, rows), bytes_of(fitted)
    header, tensors = fitted.state()
    for array in (tensors := {name: array.copy() for name, array in tensors.items()}).values():
        array.flags.writeable = False
    kind = learner_class(header["learner"], [type(fitted)])
    loaded = kind.from_state(json.loads(json.dumps(header)), tensors)
    for item in (loaded, deepcopy(fitted)):
        make_read_only(item)
        assert read_everything(item, rows) == expected
        assert bytes_of(item) == before
    if isinstance(learner, Online):  # makes private copies of what it changes
        wider, labels = rows_of(np.hstack([X, X[:, :2]])), labels_of(y, 4)
        for entry in (loaded, fitted):
            entry.grow(32, 4).learn_rows(wider, labels)
        assert bytes_of(loaded) == bytes_of(fitted) != before
        assert bytes_of(kind.from_state(header, tensors)) == before


def check_damaged_state_is_refused(learner):
    X, y = documents()
    header, tensors = clone(learner).fit(X, y).state()
    load = learner_class(header["learner"], [type(learner)]).from_state
    for name in tensors.keys() - {"live"}:
        with pytest.raises(ModelError):
            load(header, {key: item for key, item in tensors.items() if key != name})
        with pytest.raises(ModelError):
            load(header, tensors | {name: tensors[name][..., np.newaxis]})
        with pytest.raises(ModelError):
            load(header, tensors | {name: tensors[name].astype(np.complex64)})
    for name in header:
        if name != "n_passes":
            with pytest.raises(ModelError):
                load({key: item for key, item in header.items() if key != name}, tensors)
        with pytest.raises(ModelError):
            load(header | {name: {"damaged": "yes"}}, tensors)


def check_pickles_and_copies_are_the_same(learner):
    X, y = documents()
    fitted = clone(learner).fit(X, y)
    for copy in (pickle.loads(pickle.dumps(fitted)), deepcopy(fitted)):
        assert bytes_of(copy) == bytes_of(fitted)
        np.testing.assert_array_equal(copy.predict(X), fitted.predict(X))


def check_contributions_add_up(learner):
    X, y = documents()
    X[5] = 0
    for fitted in (clone(learner).fit(X, y), clone(learner).fit(*several())):
        rows = rows_of(X[:30])
        scores = fitted.score_rows(rows)
        for k in range(3):
            parts, rest = fitted.contributions(rows, k)
            assert parts.shape == rows.indices.shape and rest.shape == (30,)
            sums = np.bincount(np.repeat(np.arange(30), np.diff(rows.indptr)), parts, 30)
            np.testing.assert_allclose(sums + rest, scores[:, k], rtol=1e-4, atol=1e-5)


def check_weights_have_a_row_per_feature(learner):
    X, y = documents()
    weights = clone(learner).fit(X, y).linear_weights()
    assert weights is None or weights.shape == (30, 3)
    assert weights is None or (weights[:6, 0].mean() > 0) == reads_words(learner)


def check_empty_documents(learner):
    X, y = documents()
    X[::5] = 0
    fitted = clone(learner).fit(X, y)
    assert np.isfinite(fitted.decision_function(np.zeros((2, 30), np.float32))).all()
    nothing = Rows(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32), 30)
    assert fitted.score_rows(nothing).shape == (0, 3)


def check_categories_without_positives_or_negatives(learner):
    X, y = documents()
    for lists in ([[int(k), 3] for k in y], [[int(k)] for k in y], [[3]] * len(y)):
        examples = Examples.of(rows_of(X), Labels.from_lists(lists, 5))
        scores = clone(learner).fit_rows(examples).score_rows(rows_of(X))
        assert scores.shape == (len(X), 5) and np.isfinite(scores).all()
        assert (scores[:, 4] <= 0).mean() > 0.5  # ROMMA may start from above


def check_unknown_features_are_refused(learner):
    X, y = documents()
    fitted = clone(learner).fit(X, y)
    beyond = Rows(np.array([0, 1]), np.array([30], np.int32), np.ones(1, np.float32), 31)
    with pytest.raises((ModelError, IndexError)):
        fitted.score_rows(beyond)


def check_categories_may_go(learner):
    X, y = documents()
    fitted = clone(learner).fit_rows(examples_of(X, y))
    scores = fitted.score_rows(rows_of(X))
    try:
        fitted.drop_categories(np.array([True, False, True]))
    except ModelError as error:
        assert "cannot let a category go" in str(error)
        return
    assert fitted.n_categories == 2
    if not depends_on_all(fitted):
        np.testing.assert_array_equal(fitted.score_rows(rows_of(X)), scores[:, [0, 2]])


def check_categories_may_become_one(learner):
    X, y = documents()
    fitted = clone(learner).fit_rows(examples_of(X, y))
    scores = fitted.score_rows(rows_of(X))
    try:
        fitted.merge_categories(0, 2)
    except ModelError as error:
        assert "cannot merge categories" in str(error)
        return
    merged = fitted.score_rows(rows_of(X))
    assert merged.shape == (len(X), 2)
    if not depends_on_all(fitted) and type(fitted).__name__ != "Rocchio":
        np.testing.assert_array_equal(merged[:, 0], scores[:, 1])
    assert ((merged[:, 1] > merged[:, 0]) == (y != 1)).mean() > (0.8 if reads_words(learner) else 0)


# ---- learners that ignore the order --------------------------------------------------------------


def check_batch_order_of_documents_does_not_matter(learner):
    X, y = documents()
    order = np.random.default_rng(0).permutation(len(y))
    scores = clone(learner).fit(X, y).decision_function(X)
    again = clone(learner).fit(X[order], y[order]).decision_function(X)
    np.testing.assert_allclose(again, scores, rtol=1e-3, atol=1e-4)


# ---- learners whose training is a sum -----------------------------------------------------------


def check_mergeable_shards_equal_all_documents(learner):
    """Exactly for counts; Rocchio adds documents of length one, with rounding."""
    X, y = documents()
    for seed in range(5):
        random = np.random.default_rng(seed)
        whole, merged = clone(learner).fit_rows(examples_of(X, y)), None
        for documents_of_shard in np.split(np.arange(120), np.sort(random.integers(0, 121, 3))):
            shard, labels = X[documents_of_shard], y[documents_of_shard]
            # A shard may have features and categories in another order, or lack some.
            features = random.permutation(np.flatnonzero(shard.any(0)))
            categories = random.permutation(np.unique(labels))
            number = np.full(3, -1)
            number[categories] = np.arange(len(categories))
            lists = Labels.from_lists([[int(k)] for k in number[labels]], len(categories))
            other = clone(learner).fit_rows(Examples.of(rows_of(shard[:, features]), lists))
            before = bytes_of(other)
            if merged is None:
                merged = clone(learner).start(0, 0)
            assert merged.merge(other, features, categories) is merged
            assert bytes_of(other) == before
        merged.grow(30, 3)
        expected, tensors = whole.state()[1], merged.state()[1]
        for name, array in tensors.items():
            rtol = 1e-12 if isinstance(learner, Rocchio) else 0
            np.testing.assert_allclose(array, expected[name], rtol=rtol, atol=rtol, err_msg=name)
        if not isinstance(learner, Rocchio):
            assert bytes_of(merged) == bytes_of(whole)
        scores = whole.score_rows(rows_of(X))
        np.testing.assert_allclose(merged.score_rows(rows_of(X)), scores, rtol=1e-5, atol=1e-6)


def check_mergeable_refuses_what_does_not_fit(learner):
    X, y = documents()
    fitted = clone(learner).fit_rows(examples_of(X, y))
    for other, numbers in (
        (Perceptron().fit(X, y), {}),
        (fitted, {"features": np.zeros(30, int)}),
        (fitted, {"categories": np.arange(2)}),
        (fitted, {"categories": np.array([0, 1, -1])}),
    ):
        before = bytes_of(fitted)
        with pytest.raises(ParameterError, match=r"cannot be merged|different numbers"):
            fitted.merge(other, **numbers)
        assert bytes_of(fitted) == before


# ---- online learners ----------------------------------------------------------------------------


def check_online_pieces_equal_one_pass(learner):
    X, y = documents()
    # Six words each, because initial weights may depend on the mean length.
    X = np.where(np.argsort(np.argsort(-X)) < 6, X + 1, 0)
    learner = one_pass(learner)
    if "prior" in learner.get_params():  # `fit` sees all labels before the first pass
        learner.set_params(prior="flat")
    whole, pieces = clone(learner), clone(learner)
    # The linear SVM learns online only after `fit`.
    (whole.partial_fit if isinstance(learner, LinearSVM) else whole.fit)(X, y)
    for start, end in ((0, 50), (50, 51), (51, 120)):
        pieces.partial_fit(X[start:end], y[start:end], classes=[0, 1, 2])
    left, right = whole.state()[1], pieces.state()[1]
    for name in left:
        np.testing.assert_array_equal(left[name], right[name], err_msg=name)


def check_online_new_classes_may_appear(learner):
    X, y = documents()
    order = np.argsort(y, kind="stable")  # class 0, then class 1, then class 2
    grown = one_pass(learner)
    for _ in range(5):
        for item in np.array_split(order, 6):
            grown.partial_fit(X[item], y[item])
    assert list(grown.classes_) == [0, 1, 2]
    assert grown.decision_function(X).shape == (len(X), 3)
    assert set(grown.predict(X)) <= {0, 1, 2}


def check_online_two_classes_may_become_three(learner):
    X, y = documents()
    grown = one_pass(learner).partial_fit(X[y < 2], y[y < 2])
    is_linear, scores = grown.linear_weights() is not None, grown.decision_function(X)
    second = grown.linear_weights()[:, 0].copy() if is_linear else scores
    assert scores.shape == (len(X),)
    grown.partial_fit(X[:3], [0, 1, 2], sample_weight=np.zeros(3))
    scores = grown.decision_function(X)
    assert scores.shape == (len(X), 3)
    again = grown.linear_weights()[:, 1] if is_linear else scores[:, 1]
    np.testing.assert_allclose(again, second, rtol=1e-12)


def check_online_growing_one_by_one_equals_room_from_the_start(learner):
    X, y = documents()
    roomy, tight = one_pass(learner).start(30, 3, 6), one_pass(learner).start(1, 3, 6)
    for i in range(len(X)):
        width = min(30, 1 + i)
        document, labels = rows_of(X[i : i + 1, :width]), labels_of(y[i : i + 1])
        tight.grow(width, 3).learn_rows(document, labels, ends_pass=False)
        roomy.learn_rows(document._replace(n_columns=30), labels, ends_pass=False)
    assert_same(roomy, tight)
    np.testing.assert_array_equal(roomy.score_rows(rows_of(X)), tight.score_rows(rows_of(X)))


def check_online_spare_room_does_not_show(learner):
    """Categories added one by one, with spare columns, equal those added without."""
    X, y = documents()
    spare, exact = one_pass(learner).start(30, 1, 6), one_pass(learner).start(30, 1, 6)
    for k in range(3):
        known = np.flatnonzero(y <= k)
        document, labels = rows_of(X[known]), labels_of(y[known], k + 1)
        spare.grow(30, k + 1).learn_rows(document, labels)
        exact = deepcopy(exact).grow(30, k + 1)
        exact.learn_rows(document, labels)
    assert bytes_of(spare) == bytes_of(exact)
    np.testing.assert_array_equal(spare.score_rows(rows_of(X)), exact.score_rows(rows_of(X)))


def check_online_pruning_keeps_the_rest(learner):
    X, y = documents()
    fitted = clone(learner).fit(X, y)
    before, keep = fitted.state()[1], np.arange(30) % 3 > 0
    fitted.prune(keep)
    rows = np.concatenate([[True], keep])
    for name, array in fitted.state()[1].items():
        if len(array) == 21:
            np.testing.assert_array_equal(array, before[name][rows], err_msg=name)
    assert fitted.score_rows(rows_of(X[:, keep])).shape == (len(X), 3)


def check_online_no_documents_at_all(learner):
    nothing = Rows(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32), 5)
    started = one_pass(learner).start(5, 2, 1)
    assert started.learn_rows(nothing, Labels.from_lists([], 2)).tolist() == [0, 0]
    assert started.score_rows(nothing).shape == (0, 2)


def check_online_copies_go_on_learning(learner):
    X, y = documents()
    fitted = clone(learner).fit(X, y)
    header, tensors = fitted.state()
    copies = [
        pickle.loads(pickle.dumps(fitted)),
        deepcopy(fitted),
        type(fitted).from_state(json.loads(json.dumps(header)), tensors),
    ]
    for item in (fitted, *copies):
        item.grow(31, 4).learn_rows(rows_of(X), labels_of(y, 4))
        item.grow(32, 5)
    for copy in copies:
        assert bytes_of(copy) == bytes_of(fitted)


def interrupt():
    raise KeyboardInterrupt


def check_online_learning_is_undone(learner):
    X, y = documents()
    wider = np.hstack([X, X[:, :2]])
    fitted = clone(learner).fit_rows(examples_of(X, y))
    fitted.grow(31, 4).learn_rows(rows_of(wider[:9, :31]), labels_of(y[:9], 4))
    before, scores = bytes_of(fitted), fitted.score_rows(rows_of(X))
    untouched = deepcopy(fitted)
    new, labels = rows_of(wider[3:7]), labels_of([5, 1, 4, 0], 6)
    for step in ("all", "grown", "interrupted"):
        undo = fitted.checkpoint(new.indices)
        fitted.grow(32, 6)
        if step == "all":
            fitted.learn_rows(new, labels)
        if step == "interrupted":  # after the weights, before the figures
            last = "_end_pass" if hasattr(fitted, "_end_pass") else "_recompute"
            setattr(fitted, last, interrupt)
            with pytest.raises(KeyboardInterrupt):
                fitted.learn_rows(new, labels)
            delattr(fitted, last)
        assert bytes_of(fitted) != before
        undo()
        assert bytes_of(fitted) == before
        np.testing.assert_array_equal(fitted.score_rows(rows_of(X)), scores)
    for item in (fitted, untouched):
        item.grow(33, 7).learn_rows(rows_of(wider), labels_of(y, 7))
    assert bytes_of(fitted) == bytes_of(untouched)


CHECKS = [function for name, function in list(globals().items()) if name.startswith("check_")]


def applies(check, learner):
    """Return True if a check applies to this kind of learner."""
    if check.__name__.startswith("check_online_"):
        return isinstance(learner, Online)
    if check.__name__.startswith("check_mergeable_"):
        return isinstance(learner, Mergeable)
    return not (check.__name__.startswith("check_batch_") and goes_by_order(learner))
