"""Decision trees: against their twin, scikit-learn's and the book; growing, pruning, drawing."""

import json
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from checks import CHECKS, applies, documents, examples_of, labels_of, rows_of
from naive import tree as naive
from thresher import Categorizer, DecisionTree, Strength, TextCounter, corpora
from thresher.cli.main import app
from thresher.errors import ModelError, ParameterError
from thresher.examples import Examples
from thresher.learners import _pruning as pruning
from thresher.learners._trees import Tree, exact_weights, grow_tree, information_gain, leaves_of
from thresher.report import tree_svg, tree_text
from thresher.report.markup import short
from thresher.rows import Labels

XOR = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32)
EXCLUSIVE = np.array([False, True, True, False])
WAYS = [None, "confidence", "validation", "cross-validation", "interpolation"]


def nested(tree, node=0):
    """A tree as the twin has it."""
    counts = float(tree.n_documents[node]), float(tree.n_positive[node])
    if tree.column[node] < 0:
        return counts
    children = (nested(tree, one[node]) for one in (tree.left, tree.right))
    return *counts, int(tree.column[node]), float(tree.threshold[node]), *children


def tree_of(*nodes):
    """A tree of (column, left, right, documents, positive) and thresholds of one."""
    column, left, right, n_documents, n_positive = map(np.array, zip(*nodes, strict=True))
    return Tree(
        column.astype(np.int32), np.ones(len(nodes), np.float32), left.astype(np.int32),
        right.astype(np.int32), n_documents.astype(float), n_positive.astype(float),
        (n_positive + 1) / (n_documents + 2),
    )  # fmt: skip


def noisy(n_documents=400, seed=0):
    """Counts of twenty words, of which two decide, but for a sixth of the documents."""
    random = np.random.default_rng(seed)
    X = random.poisson(0.7, (n_documents, 20)).astype(np.float32)
    y = ((X[:, 3] >= 2) | (X[:, 7] >= 1)) ^ (random.random(n_documents) < 1 / 6)
    return X, y


# ---- growing ------------------------------------------------------------------------------------

DOCUMENTS = st.lists(
    st.tuples(
        st.lists(st.sampled_from([-0.5, 0.0, 0.0, 0.25, 1.0, 3.0]), min_size=4, max_size=4),
        st.booleans(),
        st.sampled_from([1.0, 1.0, 0.5, 2.0, 0.0]),
    ),
    min_size=1,
    max_size=25,
)


@given(
    lines=DOCUMENTS,
    shift=st.sampled_from([0.0, 1.0]),
    max_depth=st.sampled_from([None, None, 0, 2]),
    min_samples_leaf=st.sampled_from([1, 1, 3]),
    min_samples_split=st.sampled_from([2, 6]),
    min_gain=st.sampled_from([0.0, 0.0, 0.1]),
)
def test_the_tree_is_that_of_the_twin(lines, shift, **limits):
    X = np.array([line[0] for line in lines], np.float32) + np.float32(shift)
    positive, weights = (np.array([line[k] for line in lines]) for k in (1, 2))
    if not weights.any():
        assert grow_tree(rows_of(X), positive, weights).probability.tolist() == [0.5]
        return
    rows = [(x.tolist(), p, w) for x, p, w in zip(X, positive, weights, strict=True) if w]
    assert nested(grow_tree(rows_of(X), positive, weights, **limits)) == naive.grow(rows, **limits)


def test_large_trees_are_those_of_the_twin():
    """So large that documents change frames, and these are packed anew."""
    random = np.random.default_rng(1)
    for density in (0.03, 0.3, 1.0):
        X = random.poisson(1, (300, 40)) * (random.random((300, 40)) < density)
        positive = (X[:, 0] + X[:, 1] > 0) ^ (random.random(300) < 0.2)
        rows = [(x.tolist(), p, 1.0) for x, p in zip(X, positive, strict=True)]
        assert nested(grow_tree(rows_of(X.astype(np.float32)), positive)) == naive.grow(rows)


def test_one_or_the_other_but_not_both_is_learned():
    """No question gains anything at the root, and the next ones all."""
    tree = grow_tree(rows_of(XOR), EXCLUSIVE)
    assert information_gain(tree).round(12).tolist() == [0, *[np.log(2).round(12), 0, 0] * 2]
    assert ((tree.probability[leaves_of([tree], rows_of(XOR))[:, 0]] > 0.5) == EXCLUSIVE).all()
    assert grow_tree(rows_of(XOR), EXCLUSIVE, min_gain=1e-9).n_nodes == 1
    learner = DecisionTree(pruning=None).fit(XOR, EXCLUSIVE.astype(int))
    assert learner.predict(XOR).tolist() == [0, 1, 1, 0]


def test_what_the_book_says_of_its_tree():
    """Table 16.4 from the counts of figure 16.1, and the leaf of page 583."""
    rates, sizes = np.array([0.300, 0.116, 0.943]), np.array([7681, 5977, 1704])
    tree = tree_of(*zip((0, -1, -1), (1, -1, -1), (2, -1, -1), sizes, rates * sizes, strict=True))
    assert information_gain(tree)[0] == pytest.approx(0.283, abs=5e-4)
    leaf = grow_tree(rows_of(np.ones((8, 1), np.float32)), np.arange(8) < 6)
    assert leaf.probability.tolist() == [0.7]
    assert (
        grow_tree(rows_of(np.ones((8, 1))), np.arange(8) < 6, smoothing=0.5).probability == 6.5 / 9
    )


def test_ties_go_to_the_first_column_and_the_lowest_threshold():
    X = np.array([[0, 0, 0], [1, 1, 1], [2, 2, 2], [3, 3, 3]], np.float32)
    tree = grow_tree(rows_of(X), np.array([True, False, False, True]), max_depth=1)
    assert (tree.column[0], tree.threshold[0]) == (0, 1.0)  # 3 would gain as much
    tree = grow_tree(rows_of(X[:, ::-1] * [0, 1, 1]), np.array([False, True, True, True]))
    assert (tree.column[0], tree.threshold[0]) == (1, 1.0)


def test_values_below_zero_and_what_is_not_there():
    X = np.array([[-2], [-1], [0], [5]], np.float32)
    for first in range(1, 4):  # the threshold is the lowest value of those that belong
        tree = grow_tree(rows_of(X), np.arange(4) >= first)
        assert (tree.n_nodes, tree.threshold[0]) == (3, X[first, 0])
        assert leaves_of([tree], rows_of(X))[:, 0].tolist() == [1] * first + [2] * (4 - first)
    learner = DecisionTree(pruning=None).fit(X, [0, 0, 1, 1])
    assert learner.predict(np.array([[-0.5], [0.0]])).tolist() == [0, 1]


def test_limits_of_growth():
    X, y = noisy()
    rows = rows_of(X)
    full = grow_tree(rows, y)
    leaves = full.column < 0
    assert full.depths().max() > 6 and (full.n_documents[leaves] == 1).any()
    assert grow_tree(rows, y, max_depth=2).depths().max() == 2
    ten = grow_tree(rows, y, min_samples_leaf=10)
    assert ten.n_documents.min() >= 10
    split = grow_tree(rows, y, min_samples_split=30)
    assert split.n_documents[split.column >= 0].min() >= 30
    gaining = grow_tree(rows, y, min_gain=0.02)
    assert information_gain(gaining)[gaining.column >= 0].min() >= 0.02
    # Weights count where documents are counted, but not where they must be so many.
    double = grow_tree(rows, y, np.full(len(y), 2.0), min_samples_leaf=10)
    assert nested(double) == nested(ten._replace(n_documents=2 * ten.n_documents,
                                                 n_positive=2 * ten.n_positive))  # fmt: skip


def test_nodes_are_numbered_as_they_are_read():
    X, y = noisy()
    tree = grow_tree(rows_of(X), y)
    inside = np.flatnonzero(tree.column >= 0)
    assert (tree.left[inside] == inside + 1).all()
    assert (tree.right[inside] > tree.left[inside]).all()
    assert (tree.parents()[tree.right[inside]] == inside).all()


def test_weights_that_are_no_fractions_of_two_do_not_depend_on_order():
    X, y = noisy(120)
    random = np.random.default_rng(0)
    weights = random.random(120) * 1e-3
    order = random.permutation(120)
    one = grow_tree(rows_of(X), y, weights)
    other = grow_tree(rows_of(X[order]), y[order], weights[order])
    assert nested(one) == nested(other)
    assert one.n_documents[0] == pytest.approx(weights.sum(), rel=1e-12)
    rounded = exact_weights(np.append(weights, 1e-30))
    assert rounded.min() > 0  # what counts little still counts
    assert (np.add.accumulate(rounded)[-1]) == np.add.accumulate(rounded[::-1])[-1]


@pytest.mark.parametrize("kind", ["book", "tf-idf"])
def test_scikit_learn_grows_trees_as_good(kind):
    """The same root, and all training documents where they belong; ties may go elsewhere."""
    random = np.random.default_rng(0)
    X = random.poisson(random.gamma(0.2, 1.5, 300), (200, 300)).astype(np.float32)
    X[0, 0] = 1
    rows = Strength(kind).observe(rows_of(X)).apply(rows_of(X)._replace(lengths=X.sum(1)))
    y = (X[:, 5] + X[:, 9] + random.poisson(0.3, 200)) > 1
    tree = grow_tree(rows, y)
    theirs = DecisionTreeClassifier(criterion="entropy", random_state=0).fit(rows.to_scipy(), y)
    matrix = rows.to_scipy()
    ours = tree.probability[leaves_of([tree], rows)[:, 0]] > 0.5
    np.testing.assert_array_equal(ours, theirs.predict(matrix))
    their = theirs.tree_
    impurity, n = their.impurity, their.n_node_samples
    left, right = their.children_left[0], their.children_right[0]
    gain = impurity[0] - (n[left] * impurity[left] + n[right] * impurity[right]) / n[0]
    assert information_gain(tree)[0] == pytest.approx(gain * np.log(2), rel=1e-9)
    assert tree.n_nodes == pytest.approx(their.node_count, rel=0.15)


# ---- pruning ------------------------------------------------------------------------------------

LEAVES = (-1, -1, -1)


def pruning_sequence(tree, gains):
    """The full tree, the tree with one inner node less, and so on, down to the root alone."""
    order = pruning.pruning_order(tree, gains)
    return [pruning.cut(tree, order[:n]) for n in range(len(order) + 1)]


def three():
    """A root with two inner nodes, of which the right one gains nothing."""
    return tree_of(
        (0, 1, 4, 100, 50), (1, 2, 3, 50, 10), (*LEAVES, 40, 2), (*LEAVES, 10, 8),
        (2, 5, 6, 50, 40), (*LEAVES, 25, 20), (*LEAVES, 25, 20),
    )  # fmt: skip


def test_the_least_helpful_goes_first_and_the_root_last():
    tree = three()
    assert pruning.pruning_order(tree, information_gain(tree)).tolist() == [4, 1, 0]
    assert pruning.pruning_order(tree, np.array([0, 1, 0, 0, 2, 0, 0.0])).tolist() == [1, 4, 0]
    sequence = pruning_sequence(tree, information_gain(tree))
    assert [one.column.tolist() for one in sequence] == [
        [0, 1, -1, -1, 2, -1, -1], [0, 1, -1, -1, -1], [0, -1, -1], [-1],
    ]  # fmt: skip
    assert sequence[1].right.tolist() == [4, 3, -1, -1, -1]
    assert sequence[2].n_documents.tolist() == [100, 50, 50]


def test_of_the_best_trees_the_smallest_is_taken():
    """Node 1 helps the held-out documents; node 4 does nothing for them."""
    held = tree_of(
        (0, 1, 4, 20, 9), (1, 2, 3, 10, 4), (*LEAVES, 6, 1), (*LEAVES, 4, 3),
        (2, 5, 6, 10, 5), (*LEAVES, 6, 3), (*LEAVES, 4, 2),
    )  # fmt: skip
    order, n_pruned = pruning.best_size(three(), held)
    assert (order.tolist(), n_pruned) == ([4, 1, 0], 1)


def test_validation_keeps_the_tree_that_the_book_would():
    """Step by step with the trees themselves: the smallest of those best on what is held out."""
    X, y = noisy(600)
    learner = DecisionTree(pruning="validation", random_state=3).fit(X, y.astype(int))
    held = np.random.default_rng(3).permutation(600)[:120]
    kept = np.setdiff1d(np.arange(600), held)
    full = grow_tree(rows_of(X[kept]), y[kept])
    counted = full.counts(rows_of(X[held]), y[held])
    sequence = pruning_sequence(full, information_gain(counted))
    leaves = [one.probability[leaves_of([one], rows_of(X[held]))[:, 0]] for one in sequence]
    right = [((one > 0.5) == y[held]).sum() for one in leaves]
    best = max(n for n, one in enumerate(right) if one == max(right))
    assert nested(learner.tree(0)) == nested(sequence[best])
    assert 0 < sequence[best].n_internal < full.n_internal / 4
    for bigger, smaller in pairwise(sequence):
        assert bigger.n_internal == smaller.n_internal + 1


def test_cross_validation_gives_a_size_and_the_training_gain_the_rest():
    X, y = noisy(600)
    learner = DecisionTree(pruning="cross-validation", n_folds=3).fit(X, y.astype(int))
    sizes = []
    for held in np.array_split(np.random.default_rng(0).permutation(600), 3):
        kept = np.ones(600, bool)
        kept[held] = False
        full = grow_tree(rows_of(X[kept]), y[kept])
        order, n = pruning.best_size(full, full.counts(rows_of(X[held]), y[held]))
        sizes.append(len(order) - n)
    tree = grow_tree(rows_of(X), y)
    by_training = pruning_sequence(tree, information_gain(tree))
    assert learner.tree(0).n_internal == round(np.mean(sizes)) < tree.n_internal / 4
    assert nested(learner.tree(0)) == nested(by_training[-1 - round(np.mean(sizes))])


def test_mistakes_to_be_expected_are_those_of_quinlan():
    """C4.5, page 41: one among 16 is .157 by the binomial, which the normal curve comes near."""
    expected = pruning.expected_mistakes(np.array([1.0]), np.array([16.0]), 0.25) / 16
    assert expected[0] == pytest.approx(0.157, abs=0.003)
    e, n = np.array([0.0, 0.5, 1.0, 2.0, 16.0]), np.full(5, 16.0)
    levels = pruning.expected_mistakes(e, n, 0.25)
    assert (np.diff(levels) > 0).all() and levels[-1] <= 16 + 1e-9


def test_confidence_prunes_by_how_little_supports_a_leaf():
    X, y = noisy()
    sizes = [
        DecisionTree(confidence=c).fit(X, y).tree(0).n_internal for c in (0.5, 0.25, 0.05, 0.001)
    ]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > sizes[-1] > 0
    # Below a node of one mistake in 16, three leaves without any: C4.5's own example is replaced.
    tree = tree_of(
        (0, 1, 4, 16, 1), (1, 2, 3, 7, 1), (*LEAVES, 6, 0), (*LEAVES, 1, 1), (*LEAVES, 9, 0)
    )
    assert pruning.pruned_by_confidence(tree, 0.25).n_nodes == 1  # 2.48 against 3.27


def test_interpolation_raises_the_probability_of_held_out_documents():
    X, y = noisy(600)
    kept = np.arange(600) < 400
    tree = grow_tree(rows_of(X[kept]), y[kept])
    counted = tree.counts(rows_of(X[~kept]), y[~kept])
    shares = pruning.learned_shares(tree, counted)

    def likelihood(shares):
        mixed = pruning.interpolated(tree, shares)
        p = mixed.probability[leaves_of([tree], rows_of(X[~kept]))[:, 0]]
        return np.log(np.where(y[~kept], p, 1 - p)).mean()

    assert likelihood(shares) > likelihood(np.ones(64)) + 0.05
    for bucket in np.unique(pruning._buckets(tree)):  # it is a maximum, as far as steps go
        for nudged in (0.9, 1.1):
            other = shares.copy()
            other[bucket] = min(1.0, other[bucket] * nudged)
            assert likelihood(other) <= likelihood(shares) + 1e-3
    assert (shares[:2] < 0.5).all()  # a leaf of one document says little


def test_interpolated_by_hand():
    tree = tree_of((0, 1, 2, 10, 4), (*LEAVES, 8, 2), (*LEAVES, 2, 2))
    shares = np.full(64, 0.5)
    shares[3], shares[1] = 0.75, 0.25
    mixed = pruning.interpolated(tree, shares).probability
    np.testing.assert_allclose(
        mixed, [5 / 12, 0.75 * 0.3 + 0.25 * 5 / 12, 0.25 * 0.75 + 0.75 * 5 / 12]
    )


@pytest.mark.parametrize("way", WAYS[1:])
def test_pruning_helps_on_other_documents(way):
    X, y = noisy(1000)
    (train, test), truth = (rows_of(X[:500]), rows_of(X[500:])), y[500:]
    labels = Labels.from_lists([[0] * int(one) for one in y[:500]], 1)
    examples = Examples.of(train, labels)
    full, pruned = (DecisionTree(pruning=one).fit_rows(examples) for one in (None, way))
    losses = []
    for learner in (full, pruned):
        p = learner.probabilities(learner.score_rows(test)[:, 0])
        losses.append(-np.log(np.where(truth, p, 1 - p)).mean())
    assert losses[1] < losses[0]


# ---- the learner --------------------------------------------------------------------------------

VARIANTS = [
    DecisionTree(pruning=None),
    *(DecisionTree(pruning=way, validation_fraction=0.3, n_folds=3) for way in WAYS[2:]),
    DecisionTree(pruning=None, smoothing=0.1, max_depth=5, min_samples_leaf=2, min_gain=0.001),
]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("learner", VARIANTS, ids=repr)
def test_every_way_of_pruning_keeps_what_learners_promise(learner, check):
    if applies(check, learner):
        check(learner)


def test_the_path_adds_up_to_the_score():
    X, y = documents()
    learner = DecisionTree(pruning=None).fit_rows(examples_of(X, y))
    rows = rows_of(X)
    scores = learner.score_rows(rows)
    for k in range(3):
        tree = learner.tree(k)
        for i in range(20):
            steps = learner.path(rows.take(np.array([i])), k)
            total = tree.log_odds()[0] + sum(step.share for step in steps)
            assert total == pytest.approx(scores[i, k], rel=1e-5)
            assert all(step.value == X[i, step.column] for step in steps)
            assert all(step.is_above == (step.value >= step.threshold) for step in steps)
            assert steps[-1].probability == pytest.approx(1 / (1 + np.exp(-scores[i, k])))
            _, rest = learner.contributions(rows.take(np.array([i])), k)
            absent = sum(step.share for step in steps if step.value == 0)
            assert rest[0] == pytest.approx(tree.log_odds()[0] + absent, rel=1e-4)


def test_probabilities_are_those_of_the_leaves():
    X, y = documents()
    learner = DecisionTree().fit_rows(examples_of(X, y))
    probable = learner.probabilities(learner.score_rows(rows_of(X)))
    for k in range(3):
        tree = learner.tree(k)
        own = tree.probability[leaves_of([tree], rows_of(X))[:, 0]]
        np.testing.assert_allclose(probable[:, k], own, rtol=1e-5)


def test_documents_of_which_nothing_is_known_are_absent():
    X, y = documents()
    labels = labels_of(y)
    known = np.ones((len(y), 3), bool)
    known[::4, 1] = False
    partly = DecisionTree().fit_rows(Examples.of(rows_of(X), labels._replace(known=known)))
    whole = DecisionTree().fit_rows(examples_of(X, y))
    there = np.arange(len(y)) % 4 != 0
    without = DecisionTree().fit_rows(examples_of(X[there], y[there]))
    assert nested(partly.tree(1)) == nested(without.tree(1))
    assert nested(partly.tree(2)) == nested(whole.tree(2))


@pytest.mark.parametrize("way", WAYS)
def test_little_to_learn_from(way):
    """No documents, one, none that differ, none that have words."""
    nothing = rows_of(np.zeros((0, 3), np.float32))
    learner = DecisionTree(pruning=way).fit_rows(Examples.of(nothing, Labels.from_lists([], 2)))
    assert learner.score_rows(rows_of(np.ones((1, 3), np.float32))).tolist() == [[0, 0]]
    one = Examples.of(rows_of(np.ones((1, 3), np.float32)), Labels.from_lists([[0]], 2))
    scores = DecisionTree(pruning=way).fit_rows(one).score_rows(nothing)
    assert scores.shape == (0, 2)
    for value in (0.0, 1.0):
        same = np.full((20, 3), value, np.float32)
        learner = DecisionTree(pruning=way).fit(same, [0] * 15 + [1] * 5)
        assert learner.summary() == {"nodes": [1], "depths": [0]}
        assert (learner.predict(same) == 0).all()


def test_progress_is_told_and_may_stop_it():
    X, y = documents()
    calls = []
    DecisionTree().fit_rows(examples_of(X, y), progress=lambda *one: calls.append(one))
    assert calls == [("trees", 120, pytest.approx(k / 3)) for k in (1, 2, 3)]

    def stop(*_):
        raise KeyboardInterrupt

    learner = DecisionTree().fit_rows(examples_of(X, y))
    before = nested(learner.tree(0))
    with pytest.raises(KeyboardInterrupt):
        learner.fit_rows(examples_of(X[:50], y[:50]), n_jobs=2, progress=stop)
    assert nested(learner.tree(0)) == before


def test_a_tree_that_leads_nowhere_is_refused():
    X, y = documents()
    header, tensors = DecisionTree().fit_rows(examples_of(X, y)).state()
    inside = int(np.flatnonzero(tensors["column"] >= 0)[1])

    def with_one(name, value, place=inside):
        array = tensors[name].copy()
        array[place] = value
        return tensors | {name: array}

    leaf = int(np.flatnonzero(tensors["column"] < 0)[0])
    damaged = [
        with_one("column", 30), with_one("column", -1), with_one("left", 0),
        with_one("left", inside), with_one("right", 10**6), with_one("right", -1),
        with_one("left", 3, leaf), with_one("probability", 0.0), with_one("probability", 1.0),
        with_one("probability", np.nan), with_one("threshold", np.nan),
        with_one("n_documents", -1.0), with_one("ends", 0, 1), with_one("ends", 1, 0),
    ]  # fmt: skip
    for one in damaged:
        with pytest.raises(ModelError):
            DecisionTree.from_state(header, one)
    with pytest.raises(ModelError, match="do not fit together"):
        DecisionTree.from_state(header | {"n_features": 0}, with_one("column", 0, slice(None)))


def test_no_categories_at_all():
    nothing = Examples.of(rows_of(np.zeros((0, 0), np.float32)), Labels.from_lists([], 0))
    learner = DecisionTree().fit_rows(nothing)
    again = DecisionTree.from_state(*learner.state())
    assert again.score_rows(rows_of(np.zeros((2, 0), np.float32))).shape == (2, 0)


def test_bad_parameters_are_named():
    for params in ({"pruning": "often"}, {"confidence": 0.0}, {"smoothing": 0.0}, {"n_folds": 1}):
        with pytest.raises(ParameterError, match=f"DecisionTree: {next(iter(params))} is"):
            DecisionTree(**params).fit(XOR, [0, 1, 1, 0])


# ---- drawing ------------------------------------------------------------------------------------

TEXTS = [
    "wheat corn silo",
    "corn silo harvest",
    "wheat harvest",
    "oil crude",
    "crude gas",
    "oil gas",
]
KINDS = [["grain"]] * 3 + [["energy"]] * 3


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A saved model of a few words."""
    path = tmp_path_factory.mktemp("model") / "model.thresher"
    Categorizer(DecisionTree(pruning=None)).fit(TEXTS * 3, KINDS * 3).save(path)
    return path


def test_text_shows_every_node(model):
    tree, names = Categorizer.load(model).tree("energy")
    text = tree_text(tree, names, title="energy")
    lines = text.splitlines()
    assert len(lines) == tree.n_nodes and lines[0] == "energy: 18 documents, P = 0.500"
    assert f"{names[int(tree.column[0])]} < " in lines[1]
    cut_text = tree_text(tree, names, max_depth=0)
    assert cut_text.splitlines()[1] == f"└─ … {tree.n_nodes - 1} nodes more"


def test_a_deep_tree_is_drawn_without_recursion():
    n = 1300
    X = np.arange(n, dtype=np.float32)[:, None]
    tree = grow_tree(rows_of(X), np.arange(n) % 2 == 0)
    assert tree.n_nodes == 2 * n - 1
    assert len(tree_text(tree, ["x"]).splitlines()) == tree.n_nodes
    assert tree_svg(tree, ["x"]).count('class="box') < 40
    depth = 1200  # a chain of questions to the left, with a leaf on the right of each
    column = np.repeat(np.array([0, -1], np.int32), [depth, depth + 1])
    threshold = np.append(np.arange(depth, 0, -1), np.zeros(depth + 1)).astype(np.float32)
    left = np.where(column == 0, np.arange(1, 2 * depth + 2), -1).astype(np.int32)
    right = np.where(column == 0, 2 * depth - np.arange(2 * depth + 1), -1).astype(np.int32)
    halves = np.full(len(column), 0.5)
    deep = Tree(column, threshold, left, right, halves, halves, halves)
    deep = deep.counts(rows_of(X), np.arange(n) % 2 == 0)
    assert deep.depths().max() == 1200
    ElementTree.fromstring(tree_svg(deep, ["x"], max_depth=None))


def boxes_of(svg):
    """The places of boxes, and the texts of a picture."""
    root = ElementTree.fromstring(svg)
    rects = [one for one in root.iter() if one.get("class", "").startswith("box ")]
    places = [[float(one.get(k)) for k in ("x", "y", "width", "height")] for one in rects]
    return places, ["".join(one.itertext()) for one in root.iter() if one.tag.endswith("}text")]


def test_boxes_do_not_touch_and_hold_what_figure_16_1_holds():
    X, y = noisy()
    tree = grow_tree(rows_of(X), y)
    names = [f"word{j}" * (1 + j % 4) for j in range(20)]
    for depth in (1, 3, 5):
        places, texts = boxes_of(tree_svg(tree, names, max_depth=depth))
        assert len(places) == (tree.depths() <= depth).sum()
        for i, (x, top, width, height) in enumerate(places):
            for a, b, wide, high in places[i + 1 :]:
                assert x + width < a or a + wide < x or top + height < b or b + high < top
        name = short(names[int(tree.column[0])], 18)
        threshold = f"{tree.threshold[0]:g}"
        for text in (f"split: {name}", f"value: {threshold}", f"{name} ≥ {threshold}",
                     "400 documents", f"P(c|n) = {tree.probability[0]:.3f}"):  # fmt: skip
            assert text in texts
    hostile = tree_svg(tree, ["<script>&"] * 20)
    assert "<script>" not in hostile and boxes_of(hostile)


def test_the_picture_can_be_seen_in_light_and_in_dark(browser, tmp_path):
    tree = three()
    path = tmp_path / "tree.svg"
    path.write_text(tree_svg(tree, ["vs", "cts", "net"]), encoding="utf-8")
    colours = []
    for dark in (False, True):
        browser.open(path, dark=dark)
        style = "getComputedStyle(document.querySelector('{}')).fill"
        colours.append([browser.evaluate(style.format(one)) for one in (".paper", "text")])
        overflows = browser.evaluate(
            "[...document.querySelectorAll('text')].filter(t => t.getBBox().x < 0).length"
        )
        assert overflows == 0 and not browser.errors
    assert colours[0] != colours[1] and all(paper != ink for paper, ink in colours)


# ---- the command line ---------------------------------------------------------------------------


def run(*arguments):
    return CliRunner().invoke(app, ["inspect", *map(str, arguments)])


def test_inspect_shows_trees(model, tmp_path):
    shown = run(model, "--category", "energy", "--tree")
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.startswith("energy: 18 documents, P = 0.500\n├─ ")
    cut_short = run(model, "--tree", "--depth", "0").stdout
    assert cut_short.count("more") == 2
    nodes = json.loads(run(model, "--tree", "--json").stdout)["trees"]
    assert set(nodes) == {"energy", "grain"} and nodes["energy"][0]["n_documents"] == 18
    assert nodes["energy"][0]["feature"] and nodes["energy"][-1]["feature"] is None
    picture = tmp_path / "tree.svg"
    written = run(model, "--category", "grain", "--svg", picture)
    assert written.exit_code == 0 and "the tree of grain" in written.stdout
    assert boxes_of(picture.read_text(encoding="utf-8"))[0]
    assert "--tree shows it" in run(model).stdout


def test_inspect_refuses_what_it_cannot_draw(model, tmp_path):
    both = run(model, "--svg", tmp_path / "tree.svg")
    assert both.exit_code == 2 and not list(Path(tmp_path).iterdir())
    other = tmp_path / "other.thresher"
    Categorizer("perceptron").fit(TEXTS, KINDS).save(other)
    none = run(other, "--tree")
    assert none.exit_code == 2 and "has no tree" in none.output


# ---- a corpus -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["book", "tf-idf"])
def test_thousands_of_words(kind, data_dir):
    """Full trees know their training documents, but for those that are equal."""
    train = corpora.load("reuters21578:modapte,categories=R10").split("train")
    counts = TextCounter().count(train.texts[:2000])
    rows = Strength(kind).observe(counts).apply(counts)
    names = ["earn", "grain", "crude"]
    lists = [[names.index(one) for one in own if one in names] for own in train.labels[:2000]]
    labels = Labels.from_lists(lists, 3)
    learner = DecisionTree(pruning=None).fit_rows(Examples.of(rows, labels), n_jobs=2)
    wrong = (learner.score_rows(rows) > 0) != labels.to_dense()
    assert wrong.sum() <= 10
    sizes = learner.summary()["nodes"]
    pruned = DecisionTree().fit_rows(Examples.of(rows, labels), n_jobs=2).summary()["nodes"]
    assert all(small <= large for small, large in zip(pruned, sizes, strict=True))
