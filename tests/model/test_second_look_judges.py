"""The judges of the second look: against their twins and scikit-learn's; shares, files, threads."""

import json
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from unittest.mock import patch

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from naive import boosted_trees as naive
from thresher.errors import ModelError, ParameterError
from thresher.model.second_look import trees as module
from thresher.model.second_look.linear import FARTHEST, Linear
from thresher.model.second_look.trees import BoostedTrees

needs_jit = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="far too slow without")
JUDGES = [BoostedTrees, Linear]
FLOATS = np.finfo(np.float32)


def pairs(n_pairs=600, n_features=5, seed=0):
    """Features of which two decide by curves, one is a copy, one a count; rare pairs belong."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_pairs, n_features)).astype(np.float32)
    X[:, -1] = random.poisson(2, n_pairs)
    X[:, -2] = X[:, 0]
    odds = 2 * np.sin(2 * X[:, 0]) + X[:, 1] * X[:, -1] - 2
    return X, random.random(n_pairs) < 1 / (1 + np.exp(-odds))


def small(**limits):
    """Trees that are worth growing from a few pairs, as the compiler-less can."""
    return patch.multiple(module, **{"N_ROUNDS": 4, "LEAST_PAIRS": 10, **limits})


def log_loss(scores, y):
    return np.logaddexp(0, np.where(y, -scores, scores)).mean()


def nested(trees, node):
    """A tree as the twin has it."""
    if trees.feature[node] < 0:
        return [trees.value[node]]
    question = int(trees.feature[node]), float(trees.threshold[node])
    children = (nested(trees, trees.child[node] + side) for side in (0, 1))
    return [trees.value[node], *question, *children]


def assert_equal(one, other):
    assert len(one) == len(other) and one[1:3] == other[1:3]
    assert one[0] == pytest.approx(other[0], rel=1e-9, abs=1e-12)
    for child, twin in zip(one[3:], other[3:], strict=True):
        assert_equal(child, twin)


# ---- trees and their twin -----------------------------------------------------------------------


@given(
    lines=st.lists(
        st.tuples(
            st.lists(st.sampled_from([-1.5, 0.0, 0.0, 0.1, 0.2, 3.0]), min_size=4, max_size=4),
            st.booleans(),
            st.sampled_from([1.0, 1.0, 0.5, 2.0, 0.0]),
        ),
        max_size=40,
    ),
    seed=st.integers(0, 3),
    least_pairs=st.sampled_from([1, 1, 4]),
    most_leaves=st.sampled_from([2, 5, 32]),
    l2=st.sampled_from([1e-3, 5.0]),
)
def test_the_trees_are_those_of_the_twin(lines, seed, least_pairs, most_leaves, l2):
    X = np.array([line[0] for line in lines], np.float32).reshape(-1, 4)
    y, weights = (np.array([line[k] for line in lines]) for k in (1, 2))
    y, weights = y.astype(bool), weights.astype(float)
    with small(N_ROUNDS=3, LEAST_PAIRS=least_pairs, MOST_LEAVES=most_leaves, L2=l2):
        trees = BoostedTrees.fit(X, y, weights, seed=seed)
    base, twins = naive.boost(
        X.tolist(), y.tolist(), weights.tolist(), seed, 3, 0.06, l2, most_leaves, least_pairs, 0.4
    )
    assert trees.base == pytest.approx(base)
    assert len(trees.starts) == len(twins)
    for start, twin in zip(trees.starts, twins, strict=True):
        assert_equal(nested(trees, start), twin)
    np.testing.assert_allclose(trees.score(X), [naive.score(x, base, twins) for x in X.tolist()])
    np.testing.assert_allclose(
        trees.shares(X),
        np.reshape([naive.shares(x, base, twins) for x in X.tolist()], (len(X), 5)),
        atol=1e-12,
    )


def test_large_leaves_are_those_of_the_twin():
    """So large that the histograms of larger children are taken from their parents'."""
    X, y = pairs(150)
    X = X.round(1)
    weights = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 3.0], len(X))
    with small():
        trees = BoostedTrees.fit(X, y, weights, seed=5)
    _, twins = naive.boost(X.tolist(), y.tolist(), weights.tolist(), 5, 4, 0.06, 5.0, 24, 10, 0.4)
    assert len(twins) == 4 and len(trees.feature) > 20
    for start, twin in zip(trees.starts, twins, strict=True):
        assert_equal(nested(trees, start), twin)


def random_forest(random, n_trees, n_features):
    """Trees of every shape, with equal thresholds and zeros of both signs."""
    starts, feature, child = [], [], []
    for _ in range(n_trees):
        starts.append(len(feature))
        leaves = [len(feature)]
        feature, child = [*feature, -1], [*child, -1]
        for _ in range(random.integers(0, 32)):
            node = leaves.pop(random.integers(len(leaves)))
            feature[node], child[node] = int(random.integers(n_features)), len(feature)
            leaves += [len(feature), len(feature) + 1]
            feature, child = [*feature, -1, -1], [*child, -1, -1]
    n = len(feature)
    threshold = random.choice([-1.5, -0.0, 0.0, 0.1, 3.0, *random.normal(size=40)], n)
    state = {"starts": starts, "feature": feature, "child": child}
    tensors = {name: np.array(numbers, np.int32) for name, numbers in state.items()}
    tensors |= {"threshold": threshold.astype(np.float32), "value": random.normal(size=n)}
    return {"base": float(random.normal())}, tensors


@pytest.mark.parametrize("seed", range(20))
def test_a_pair_comes_to_the_leaf_that_a_walk_comes_to(seed):
    random = np.random.default_rng(seed)
    trees = BoostedTrees.from_state(*random_forest(random, 1 + seed, 4), 4)
    X = random.normal(size=(50, 4)).astype(np.float32)
    X[random.random(X.shape) < 0.3] = random.choice(trees.threshold)
    X[random.random(X.shape) < 0.1] = random.choice([-0.0, 0.0, np.inf, -np.inf, np.nan])
    for x, score in zip(X, trees.score(X), strict=True):
        expected = trees.base
        for node in trees.starts:
            while trees.feature[node] >= 0:
                node = trees.child[node] + (x[trees.feature[node]] > trees.threshold[node])
            expected += trees.value[node]
        assert score == expected  # to the last bit


def test_limits_of_growth():
    X, y = pairs(400)
    with small(MOST_LEAVES=6, LEAST_PAIRS=30):
        trees = BoostedTrees.fit(X, y)
    ends = [*trees.starts[1:], len(trees.feature)]
    assert len(ends) == 4
    for start, end in zip(trees.starts, ends, strict=True):
        leaves = start + np.flatnonzero(trees.feature[start:end] < 0)
        assert 2 <= len(leaves) <= 6
        number = np.zeros(end - start)  # a tree whose leaves say who they are
        number[leaves - start] = range(len(leaves))
        nodes = trees.feature[start:end], trees.threshold[start:end], trees.child[start:end] - start
        reached = BoostedTrees(5, 0.0, np.zeros(1, np.int32), *nodes, number).score(X)
        assert np.bincount(reached.astype(int), minlength=len(leaves)).min() >= 30


def test_bins_hold_about_as_many_pairs_each():
    random = np.random.default_rng(0)
    column = random.normal(size=20_000).astype(np.float32)
    edges = module._edges(column)
    assert len(edges) == module.MOST_BINS - 1 and (np.diff(edges) > 0).all()
    counts = np.bincount(np.searchsorted(edges, column))
    assert counts.min() > 70 and counts.max() < 90
    assert not np.isin(edges, column).any()
    mostly_one = np.where(random.random(20_000) < 0.9, np.float32(0), column)
    edges = module._edges(mostly_one)
    assert 15 < len(edges) < 60 and (np.diff(edges) > 0).all()
    assert module._edges(np.array([2, 1, 1, 4], np.float32)).tolist() == [1.5, 3.0]
    assert not len(module._edges(np.zeros(5, np.float32))) and not len(module._edges(column[:0]))


def test_a_threshold_parts_values_that_are_neighbours():
    low = np.float32(1) + FLOATS.eps * np.arange(6, dtype=np.float32)
    for a, b in pairwise(low):
        assert a <= module._edges(np.array([a, b]))[0] < b
    assert np.isfinite(module._edges(np.array([FLOATS.min, FLOATS.max]))).all()
    X = np.repeat([low[1:3]], 20, axis=0).reshape(-1, 1)
    y = X[:, 0] == low[2]
    with small():
        scores = BoostedTrees.fit(X, y).score(X)
    assert (scores[y] > 0).all() and (scores[~y] < 0).all()


# ---- both judges --------------------------------------------------------------------------------


@pytest.mark.parametrize("judge", JUDGES)
def test_shares_add_up_and_nothing_is_below_the_least(judge):
    X, y = pairs()
    with small():
        one = judge.fit(X, y)
    far = np.concatenate([X, 1e6 * X, np.full((1, 5), FLOATS.max), np.full((1, 5), FLOATS.min)])
    scores, shares = one.score(far), one.shares(far)
    assert scores.dtype == shares.dtype == np.float64
    assert shares.shape == (len(far), 6) and np.isfinite(shares).all()
    assert (abs(shares.sum(1) - scores) <= 1e-12 * abs(shares).max(1)).all()
    assert (scores >= one.least).all()
    assert log_loss(one.score(X), y) < log_loss(np.full(len(y), one.base), y)


def test_the_least_score_is_reached_and_not_undercut():
    """Where one feature alone decides: all trees then agree on who has the least."""
    X, y = np.arange(60, dtype=np.float32)[:, None], np.arange(60) >= 30
    with small():
        trees = BoostedTrees.fit(X, y)
    assert trees.score(X).min() == trees.least < -0.1
    line = Linear.fit(X, y)
    assert line.least == line.score(-1e9 * np.ones((1, 1), np.float32))[0] == -FARTHEST


@pytest.mark.parametrize("judge", JUDGES)
def test_pairs_one_by_one_score_as_together(judge):
    X, y = pairs(200)
    with small():
        one = judge.fit(X, y)
    together, shares = one.score(X), one.shares(X)
    for size in (1, 3, 12, 70):
        for i in range(0, len(X), size):
            assert (one.score(X[i : i + size]) == together[i : i + size]).all()
            assert (one.shares(X[i : i + size]) == shares[i : i + size]).all()
    assert (one.score(np.asfortranarray(X)) == together).all()
    assert (one.score(np.repeat(X, 2, axis=1)[:, ::2]) == together).all()
    assert one.score(X[:0]).shape == (0,) and one.shares(X[:0]).shape == (0, 6)
    with pytest.raises(ParameterError, match="200 x 4; each must have 5 features"):
        one.score(X[:, :4])
    with pytest.raises(ParameterError):
        one.shares(X[0])


@pytest.mark.parametrize("judge", JUDGES)
def test_features_that_do_not_vary_count_nothing(judge):
    X, y = pairs(200)
    X[:, 1], X[:, 3] = 0.1, FLOATS.max
    with small():
        one = judge.fit(X, y)
    shares = one.shares(X + np.float32(1))
    assert not shares[:, [1, 3]].any() and shares[:, 0].any()
    lone = judge.fit(X[:, [1, 3]], y)
    np.testing.assert_allclose(lone.score(X[:3, [1, 3]]), np.log(y.sum() / (~y).sum()), atol=0.02)


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("label", [False, True])
def test_where_all_labels_are_equal_only_the_base_is_learned(judge, label):
    X, _ = pairs(200)
    with small():
        one = judge.fit(X, np.full(200, label))
    expected = np.log(200.5 / 0.5) * (1 if label else -1)
    assert one.score(X) == pytest.approx(np.full(200, expected))
    assert one.least <= one.score(X).min()
    assert judge.fit(X[:0], np.zeros(0, bool)).score(X[:2]).tolist() == [0.0, 0.0]


def test_few_pairs_are_the_base_alone():
    X, y = pairs(199)
    trees = BoostedTrees.fit(X, y)
    assert not len(trees.starts)
    assert (trees.score(X) == trees.base).all() and trees.least == trees.base
    again = BoostedTrees.from_state(*trees.state(), 5)
    assert again.least == trees.base and (again.shares(X)[:, -1] == trees.base).all()


@pytest.mark.parametrize("judge", JUDGES)
def test_weights_count_pairs_as_often(judge):
    """For the trees, but for the least pairs of a leaf, which are plain numbers."""
    X, y = pairs(120)
    times = np.random.default_rng(3).integers(0, 4, len(X))
    with small(LEAST_PAIRS=1):
        weighted = judge.fit(X, y, times.astype(float))
        repeated = judge.fit(np.repeat(X, times, axis=0), np.repeat(y, times))
        unweighted = judge.fit(X, y)
    np.testing.assert_allclose(weighted.score(X), repeated.score(X), rtol=1e-6, atol=1e-9)
    assert abs(weighted.score(X) - unweighted.score(X)).max() > 1e-3
    with small():
        alike = judge.fit(X, y), judge.fit(X, y, np.ones(len(X)))
    assert (alike[0].score(X) == alike[1].score(X)).all()


def bytes_of(judge):
    header, tensors = judge.state()
    return json.dumps(header), {name: (str(v.dtype), v.tobytes()) for name, v in tensors.items()}


@pytest.mark.parametrize("judge", JUDGES)
def test_the_same_from_any_thread(judge):
    X, y = pairs()
    with small():
        alone = [bytes_of(judge.fit(X, y, seed=seed)) for seed in range(3)]
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(lambda n: bytes_of(judge.fit(X, y, seed=n % 3)), range(12)))
        one = judge.fit(X, y)
        with ThreadPoolExecutor(4) as pool:
            scores = list(pool.map(lambda _: one.score(X).tobytes(), range(12)))
    assert together == alone * 4
    assert set(scores) == {one.score(X).tobytes()}
    assert (alone[0] != alone[1]) == (judge is BoostedTrees)


@pytest.mark.parametrize("judge", JUDGES)
def test_files_give_back_what_was_learned(judge):
    X, y = pairs()
    with small():
        one = judge.fit(X, y)
    header, tensors = one.state()
    again = judge.from_state(json.loads(json.dumps(header)), tensors, 5)
    assert bytes_of(again) == bytes_of(one)
    assert (again.score(X) == one.score(X)).all() and again.least == one.least


# ---- damaged files ------------------------------------------------------------------------------


def forest_state():
    """Two trees: one of a question and one of two."""
    tensors = {
        "starts": np.array([0, 3], np.int32),
        "feature": np.array([1, -1, -1, 0, -1, 1, -1, -1], np.int32),
        "threshold": np.zeros(8, np.float32),
        "child": np.array([1, -1, -1, 4, -1, 6, -1, -1], np.int32),
        "value": np.arange(8) / 8,
    }
    return {"base": 0.5}, tensors


def test_the_forest_before_it_is_damaged():
    trees = BoostedTrees.from_state(*forest_state(), 2)
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32)
    assert trees.score(X).tolist() == [1.125, 1.25, 1.375, 1.625]
    assert trees.least == 0.5 + 1 / 8 + 4 / 8
    assert trees.shares(X)[3].tolist() == [2 / 8, 2 / 8 + 2 / 8, 0.5 + 3 / 8]


def test_a_tree_of_more_leaves_than_there_is_room_for_is_refused():
    def state(n_leaves):  # each question has a leaf on its left
        feature = np.array([0, -1] * (n_leaves - 1) + [-1], np.int32)
        child = np.where(feature < 0, -1, np.arange(len(feature)) + 1).astype(np.int32)
        threshold = np.arange(len(feature), dtype=np.float32)
        values = np.arange(len(feature), dtype=float)
        arrays = np.zeros(1, np.int32), feature, threshold, child, values
        names = ("starts", "feature", "threshold", "child", "value")
        return {"base": 0.0}, dict(zip(names, arrays, strict=True))

    trees = BoostedTrees.from_state(*state(32), 1)
    assert trees.score(np.array([[-1], [1e6]], np.float32)).tolist() == [1.0, 62.0]
    with pytest.raises(ModelError, match="do not fit together"):
        BoostedTrees.from_state(*state(33), 1)


@pytest.mark.parametrize(
    ("name", "place", "number"),
    [
        ("child", 0, 0),  # itself
        ("child", 5, 3),  # back
        ("child", 0, 2),  # another's
        ("child", 0, 4),  # in another tree
        ("child", 0, -1),  # none
        ("child", 5, 7),  # beyond the end
        ("child", 5, 2**31 - 1),
        ("child", 1, 2),  # of a leaf
        ("child", 3, 6),  # that of another node, and nobody goes to the fourth
        ("child", 1, -2),
        ("feature", 1, 0),  # no leaf any more
        ("feature", 0, -1),
        ("feature", 0, 2),
        ("feature", 0, -2),
        ("starts", 0, 1),
        ("starts", 1, 2),
        ("starts", 1, 0),
        ("starts", 1, 8),
        ("starts", 1, -1),
        ("threshold", 0, np.nan),
        ("threshold", 0, np.inf),
        ("value", 7, np.nan),
        ("value", 7, -np.inf),
    ],
)
def test_damaged_trees_are_refused(name, place, number):
    header, tensors = forest_state()
    tensors[name][place] = number
    with pytest.raises(ModelError):
        BoostedTrees.from_state(header, tensors, 2)


@pytest.mark.parametrize("judge", JUDGES)
def test_states_of_other_shapes_are_refused(judge):
    X, y = pairs(200)
    with small():
        header, tensors = judge.fit(X, y).state()
    judge.from_state(header, tensors, 5)
    for base in (None, "1", [], 1e30, True):
        with pytest.raises(ModelError):
            judge.from_state({"base": base}, tensors, 5)
    with pytest.raises(ModelError):
        judge.from_state({}, tensors, 5)
    for name, tensor in tensors.items():
        without = {key: value for key, value in tensors.items() if key != name}
        others = [tensor[:-1], tensor[:0], tensor[:, None], np.append(tensor, tensor[-1:])]
        others.append(tensor.astype(np.float16))
        for broken in (without, *({**tensors, name: other} for other in others)):
            with pytest.raises(ModelError):
                judge.from_state(header, broken, 5)
    for n_features in (0, 1):
        with pytest.raises(ModelError):
            judge.from_state(header, tensors, n_features)


@pytest.mark.parametrize("name", ["mean", "slope"])
@pytest.mark.parametrize("number", [np.nan, np.inf, 1e300])
def test_damaged_lines_are_refused(name, number):
    header, tensors = Linear.fit(*pairs(50)).state()
    tensors[name][2] = number
    with pytest.raises(ModelError):
        Linear.from_state(header, tensors, 5)


# ---- and scikit-learn's -------------------------------------------------------------------------


@needs_jit
def test_trees_are_as_good_as_scikit_learns():
    X, y = pairs(12_000, 12)
    held, other = slice(6_000, None), slice(6_000)
    theirs = HistGradientBoostingClassifier(
        max_iter=module.N_ROUNDS, learning_rate=module.RATE, max_leaf_nodes=module.MOST_LEAVES,
        min_samples_leaf=module.LEAST_PAIRS, l2_regularization=module.L2,
        max_features=module.DRAWN_SHARE, early_stopping=False, random_state=0,
    )  # fmt: skip
    with threadpool_limits(1):  # its threads wait for each other where others are at work
        theirs.fit(X[other], y[other])
    ours = log_loss(BoostedTrees.fit(X[other], y[other]).score(X[held]), y[held])
    assert ours == pytest.approx(log_loss(theirs.decision_function(X[held]), y[held]), rel=0.03)
    assert ours < log_loss(Linear.fit(X[other], y[other]).score(X[held]), y[held])


@pytest.mark.parametrize("is_weighted", [False, True])
def test_lines_are_scikit_learns(is_weighted):
    X, y = pairs(500)
    X[:, 3] = 100 + 0.01 * X[:, 2] ** 2
    weights = np.random.default_rng(2).choice([0.0, 0.5, 2.0], len(X)) if is_weighted else None
    scaler = StandardScaler().fit(X.astype(float), sample_weight=weights)
    Z = scaler.transform(X.astype(float))
    theirs = LogisticRegression(tol=1e-10, max_iter=1000).fit(Z, y, sample_weight=weights)
    ours = Linear.fit(X, y, weights)
    np.testing.assert_allclose(ours.slope * scaler.scale_, theirs.coef_[0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(ours.score(X), theirs.decision_function(Z), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("weights", [(1.0, 1.0), (1e6, 1e-3), (1e-3, 1e6), (1e6, 1e6)])
def test_lines_are_the_best_also_where_they_could_be_as_steep_as_they_like(weights):
    X = np.append(np.linspace(-2, -1, 500), np.linspace(1, 2, 5)).astype(np.float32)[:, None]
    y = X[:, 0] > 0
    weights = np.where(y, *weights)
    scaler = StandardScaler().fit(X.astype(float), sample_weight=weights)
    Z = scaler.transform(X.astype(float))
    theirs = LogisticRegression(tol=1e-10, max_iter=1000, solver="newton-cholesky")
    theirs.fit(Z, y, sample_weight=weights)
    ours = Linear.fit(X, y, weights)

    def loss(weight, base):
        margins = np.where(y, 1, -1) * (Z[:, 0] * weight + base)
        return (weights * np.logaddexp(0, -margins)).sum() + 0.5 * weight**2

    assert loss(ours.slope[0] * scaler.scale_[0], ours.base) <= 1.000001 * loss(
        theirs.coef_[0, 0], theirs.intercept_[0]
    )
