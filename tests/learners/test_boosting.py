"""Stump boosting: against its twin round by round, its rules, rounds and what ends them."""

import json
import warnings
from copy import copy, deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from checks import bytes_of, documents, examples_of, labels_of, rows_of
from naive import boosting as naive
from thresher import Categorizer, StumpBoosting, TextCounter, corpora
from thresher._kernels import boosting as kernels
from thresher.errors import ModelError, ParameterError
from thresher.examples import Examples
from thresher.rows import Labels

BOTH = pytest.mark.parametrize("variant", ["MH", "MR"])


def rounds_of(learner, category):
    """The rounds as the twin has them."""
    columns, thresholds, alphas = (one.tolist() for one in learner._rounds[category])
    n = learner._n_thresholds
    return [
        (j, t if j < n else None, a) for j, t, a in zip(columns, thresholds, alphas, strict=True)
    ]


def assert_same_rounds(ours, theirs):
    assert [one[:2] for one in ours] == [one[:2] for one in theirs]
    np.testing.assert_allclose([a for *_, a in ours], [a for *_, a in theirs], rtol=1e-9, atol=1e-9)


def mixed(n_documents=60, n_categories=5, seed=0):
    """Ten measurements before twenty words, and labels that depend on both and on chance."""
    random = np.random.default_rng(seed)
    X = random.poisson(0.4, (n_documents, 30)).astype(np.float32)
    X[:, :10] = random.dirichlet(np.full(10, 0.3), n_documents)
    scores = X @ random.standard_normal((30, n_categories)) * [3] + random.standard_normal(
        (n_documents, n_categories)
    )
    lists = [np.flatnonzero(one > 0.5).tolist() for one in scores]
    return Examples.of(rows_of(X), Labels.from_lists(lists, n_categories)), X, lists


def staged_scores(learner, X, stages):
    """The scores after these numbers of rounds, without the offset of MR."""
    for n in stages:
        first = [rounds.first(n) for rounds in learner._rounds]
        stage = copy(learner)._use_rounds(first, 0 * learner._offsets, learner._n_thresholds)
        yield stage.score_rows(rows_of(X))


# ---- the twin -----------------------------------------------------------------------------------

DOCUMENTS = st.lists(
    st.tuples(
        st.lists(st.sampled_from([-0.5, 0.0, 0.0, 0.25, 0.3, 1.0]), min_size=4, max_size=4),
        st.booleans(),
        st.sampled_from([1.0, 1.0, 0.5, 2.0]),
    ),
    min_size=2,
    max_size=12,
)


@BOTH
@given(lines=DOCUMENTS, n_thresholds=st.integers(0, 4), shift=st.sampled_from([0.0, 0.2]))
def test_rounds_are_those_of_the_twin(variant, lines, n_thresholds, shift):
    X = np.array([line[0] for line in lines], np.float32) + np.float32(shift)
    belongs, weights = [line[1] for line in lines], [line[2] for line in lines]
    labels = Labels.from_lists([[0] * one for one in belongs], 1)
    learner = StumpBoosting(variant=variant, max_iter=9, n_thresholds=n_thresholds)
    learner.fit_rows(Examples.of(rows_of(X), labels._replace(weights=np.array(weights))))
    scores = learner.score_rows(rows_of(X))[:, 0]
    if len(set(belongs)) < 2:
        assert (scores == (1 if belongs[0] else -1)).all()
        return
    y = [1 if one else -1 for one in belongs]
    expected = naive.boost(X.tolist(), y, 9, n_thresholds, variant, weights)
    assert_same_rounds(rounds_of(learner, 0), expected)
    if expected:
        plain = [naive.score(expected, x) for x in X.tolist()]
        np.testing.assert_allclose(scores + learner._offsets[0], plain, atol=1e-6)
        (staged,) = staged_scores(learner, X, [9])
        np.testing.assert_allclose(staged[:, 0], plain, atol=1e-6)


@BOTH
def test_rounds_are_those_of_the_twin_on_reuters(variant, data_dir):
    train = corpora.load("reuters21578:modapte").split("train")
    numbers = np.random.default_rng(0).permutation(len(train.texts))[:60]
    counts = TextCounter().count([train.texts[i] for i in numbers])
    frequent = np.bincount(counts.indices, minlength=counts.n_columns) >= 5
    rows = counts.keep(frequent)
    rows = rows._replace(values=np.minimum(rows.values, 4) / 4)  # ties abound
    belongs = ["earn" in train.labels[i] for i in numbers]
    labels = Labels.from_lists([[0] * one for one in belongs], 1)
    learner = StumpBoosting(variant=variant, max_iter=6, n_thresholds=30)
    learner.fit_rows(Examples.of(rows, labels))
    X = rows.to_scipy().toarray().tolist()
    y = [1 if one else -1 for one in belongs]
    assert_same_rounds(rounds_of(learner, 0), naive.boost(X, y, 6, 30, variant))


@BOTH
def test_many_rounds_are_those_of_the_twin(variant):
    """Across those after which the sums of words are added up anew."""
    examples, X, lists = mixed(24, 2, seed=1)
    learner = StumpBoosting(variant=variant, max_iter=40, n_thresholds=5).fit_rows(examples)
    y = [1 if 0 in one else -1 for one in lists]
    assert_same_rounds(rounds_of(learner, 0), naive.boost(X.tolist(), y, 40, 5, variant))


def test_by_hand():
    X = np.array([[1, 1], [1, 0], [0, 1], [0, 0]], np.float32)
    labels = Labels.from_lists([[0], [0], [0], []], 1)
    learner = StumpBoosting(max_iter=2).fit_rows(Examples.of(rows_of(X), labels))
    # Both words are right on 3 of 4: r = 1/2, α = ln(3)/2. The third document then weighs 1/2, the
    # others 1/6 each, and the second word is wrong on the second alone: r = 2/3, α = ln(5)/2.
    assert_same_rounds(rounds_of(learner, 0), [(0, None, np.log(3) / 2), (1, None, np.log(5) / 2)])
    shares = np.log([3, 5]) / np.log(15)
    assert [rule[:2] for rule in learner.rules(0)] == [(0, None), (1, None)]
    np.testing.assert_allclose([rule.share for rule in learner.rules(0)], shares)
    difference = shares[0] - shares[1]
    expected = [1, difference, -difference, -1]
    np.testing.assert_allclose(learner.score_rows(rows_of(X))[:, 0], expected, rtol=1e-6)


def test_pairs_by_hand():
    X = np.array([[0.2], [0.6], [0.4], [0]], np.float32)
    examples = Examples.of(rows_of(X), Labels.from_lists([[0], [0], [], []], 1))
    learner = StumpBoosting(variant="MR", n_thresholds=1, max_iter=1).fit_rows(examples)
    # Above 0.5 is one positive of two and no negative; so is above 0.1 with both and one: r = 1/2.
    (rule,) = learner.rules(0)
    assert rule == (0, pytest.approx(0.5), 1.0)
    assert learner._rounds[0].alphas[0] == pytest.approx(np.log(3) / 2)
    # Scores are 1 and -1: between them, precision is 1 and recall 1/2.
    assert learner.score_rows(rows_of(X))[:, 0].tolist() == [-1, 1, -1, -1]


# ---- kernels, lanes and threads -----------------------------------------------------------------


@BOTH
def test_kernels_are_their_python(variant, monkeypatch):
    examples, *_ = mixed(25, 6)
    learner = StumpBoosting(variant=variant, max_iter=4, n_thresholds=10)
    compiled = bytes_of(learner.fit_rows(examples))
    for name in dir(kernels):
        function = getattr(kernels, name)
        monkeypatch.setattr(kernels, name, getattr(function, "py_func", function))
    assert bytes_of(learner.fit_rows(examples)) == compiled


@BOTH
def test_a_category_is_the_same_alone_and_among_others(variant):
    examples, X, lists = mixed(80, 21)
    learner = StumpBoosting(variant=variant, max_iter=12, n_thresholds=10)
    together = deepcopy(learner).fit_rows(examples, n_jobs=3)
    assert bytes_of(together) == bytes_of(learner.fit_rows(examples))
    for k in (0, 7, 20):
        labels = Labels.from_lists([[0] * (k in one) for one in lists], 1)
        alone = deepcopy(learner).fit_rows(Examples.of(rows_of(X), labels))
        for ours, theirs in zip(together._rounds[k], alone._rounds[0], strict=True):
            np.testing.assert_array_equal(ours, theirs)


# ---- what ends a category -----------------------------------------------------------------------


@BOTH
def test_a_perfect_stump_ends_it(variant):
    X = np.array([[1, 1], [1, 0], [0, 1], [0, 1]], np.float32)
    examples = Examples.of(rows_of(X), labels_of([0, 0, 1, 1], 2))
    learner = StumpBoosting(variant=variant).fit_rows(examples)
    # r is 1, taken for 1 - 1/4; the other category's is -1.
    assert_same_rounds(rounds_of(learner, 0), [(0, None, np.arctanh(0.75))])
    assert_same_rounds(rounds_of(learner, 1), [(0, None, -np.arctanh(0.75))])
    assert learner.score_rows(rows_of(X)).tolist() == [[1, -1], [1, -1], [-1, 1], [-1, 1]]


@BOTH
@pytest.mark.parametrize(("several", "expected"), [(0, -1), (3, 1)])
def test_no_stump_leaves_it_to_the_many(variant, several, expected):
    X = np.ones((5, 2), np.float32)
    labels = Labels.from_lists([[0]] + [[0]] * several + [[]] * (4 - several), 1)
    learner = StumpBoosting(variant=variant).fit_rows(Examples.of(rows_of(X), labels))
    assert learner.rules(0) == [] and learner.n_iter_ == 0
    assert np.isnan(learner.threshold_share([5])).all()
    assert learner.score_rows(rows_of(X))[:, 0].tolist() == [expected] * 5


def test_stumps_that_know_nothing_end_it():
    X = np.array([[1, 0], [0, 1], [1, 0], [0, 1]], np.float32)
    examples = Examples.of(rows_of(X), labels_of([0, 0, 1, 1], 2))
    assert StumpBoosting().fit_rows(examples).summary()["rounds"] == [0, 0]


def test_no_training_error_ends_nothing():
    X, y = documents()
    learner = StumpBoosting(max_iter=80).fit_rows(examples_of(X, y))
    truth = y[:, None] == np.arange(3)
    staged = list(staged_scores(learner, X, range(1, 81)))
    right = [bool(((one > 0) == truth).all()) for one in staged]
    assert right[-1] and learner.summary()["rounds"] == [80] * 3
    first = right.index(True)
    assert first < 60
    margins = [np.where(truth, one, -one).min() for one in (staged[first], staged[-1])]
    assert margins[1] > margins[0]


# ---- MR's zero ----------------------------------------------------------------------------------


def test_zero_divides_the_training_documents_with_the_highest_f1():
    examples, X, lists = mixed(90, 4)
    learner = StumpBoosting(variant="MR", max_iter=15, n_thresholds=10).fit_rows(examples)
    (plain,) = staged_scores(learner, X, [15])
    scores = learner.score_rows(rows_of(X))
    for k in range(4):
        truth = np.array([k in one for one in lists])

        def f1(chosen, truth=truth):
            return 2 * (chosen & truth).sum() / (chosen.sum() + truth.sum())

        levels = np.unique(plain[:, k])
        best = max(f1(plain[:, k] > level) for level in levels[:-1])
        assert f1(scores[:, k] > 0) == best
        middles = (levels[1:] + levels[:-1]) / 2
        assert np.abs(middles - learner._offsets[k]).min() < 1e-6


# ---- rules, shares, figures ---------------------------------------------------------------------


@BOTH
def test_rules_give_the_scores(variant):
    examples, X, _ = mixed()
    learner = StumpBoosting(variant=variant, max_iter=40, n_thresholds=10).fit_rows(examples)
    scores = learner.score_rows(rows_of(X))
    for k in range(5):
        rules = learner.rules(k)
        assert len({rule[:2] for rule in rules}) == len(rules) < 40  # equal ones are one
        expected = [sum(rule.share * naive.side(rule[:2], x) for rule in rules) for x in X.tolist()]
        np.testing.assert_allclose(scores[:, k] + learner._offsets[k], expected, atol=1e-6)
        assert sum(abs(rule.share) for rule in rules) <= 1 + 1e-12
        parts, rest = learner.contributions(rows_of(X), k)
        absent = sum(
            rule.share for rule in rules if rule.threshold is not None and rule.threshold <= 0
        )
        total = sum(rule.share for rule in rules)
        np.testing.assert_allclose(rest, 2 * absent - total - learner._offsets[k], atol=1e-6)
        sums = np.bincount(np.nonzero(X)[0], parts, len(X))
        np.testing.assert_allclose(sums + rest, scores[:, k], atol=1e-6)
    assert learner.linear_weights() is None


def test_weights_are_twice_the_shares():
    X, y = documents()
    learner = StumpBoosting(max_iter=20).fit_rows(examples_of(X, y))
    weights = learner.linear_weights()
    present = (X > 0).astype(np.float32)
    rest = learner.contributions(rows_of(X), 1)[1]
    np.testing.assert_allclose(
        present @ weights[:, 1] + rest, learner.score_rows(rows_of(X))[:, 1], atol=1e-6
    )


def test_the_share_of_thresholds_as_rounds_grow():
    examples, *_ = mixed()
    learner = StumpBoosting(max_iter=30, n_thresholds=10).fit_rows(examples)
    shares = learner.threshold_share([1, 7, 30, 99])
    for k in range(5):
        rounds = rounds_of(learner, k)
        for t, share in zip((1, 7, 30), shares[k], strict=False):
            on = sum(abs(a) for _, threshold, a in rounds[:t] if threshold is not None)
            assert share == pytest.approx(on / sum(abs(a) for *_, a in rounds[:t]))
    np.testing.assert_array_equal(shares[:, 2], shares[:, 3])
    assert 0 < shares[:, 2].mean() < 1
    on = sum(threshold is not None for k in range(5) for _, threshold, _ in rounds_of(learner, k))
    assert learner.summary()["rounds_on_thresholds"] == on


def test_concepts_of_the_documents_are_measured_by_thresholds():
    examples, *_ = mixed()
    examples.n_concepts = 10
    learner = StumpBoosting(max_iter=5)
    assert (
        bytes_of(learner.fit_rows(examples))[1]
        == (bytes_of(learner.replace(n_thresholds=10).fit_rows(examples))[1])
    )
    assert learner._n_thresholds == 10


# ---- going on, and how far ----------------------------------------------------------------------


@BOTH
def test_going_on_is_as_if_it_had_never_stopped(variant):
    examples, *_ = mixed(60, 7)
    learner = StumpBoosting(variant=variant, max_iter=25, n_thresholds=10)
    whole = bytes_of(learner.fit_rows(examples))[1]
    part = learner.replace(max_iter=8, warm_start=True).fit_rows(examples)
    header, tensors = part.state()
    loaded = StumpBoosting.from_state(json.loads(json.dumps(header)), tensors)
    for one in (part, loaded):
        assert bytes_of(one.set_params(max_iter=25).fit_rows(examples))[1] == whole


def test_going_on_with_other_documents_is_refused():
    examples, X, lists = mixed()
    learner = StumpBoosting(max_iter=8, warm_start=True, n_thresholds=10).fit_rows(examples)
    before = bytes_of(learner)
    others = Examples.of(rows_of(X[::-1].copy()), Labels.from_lists(lists, 5))
    with pytest.raises(ParameterError, match=r"same documents, and in round 1 .* an α of"):
        learner.fit_rows(others)
    narrower = Examples.of(rows_of(X[:, :29]), Labels.from_lists(lists, 5))
    with pytest.raises(ParameterError, match=r"knows 30 features.* given are 29"):
        learner.fit_rows(narrower)
    assert bytes_of(learner) == before
    with pytest.raises(ParameterError, match="max_iter is 3 and the learner has 8 rounds"):
        learner.set_params(max_iter=3).fit_rows(examples)
    with pytest.raises(ParameterError, match="choose one"):
        learner.set_params(early_stopping=True).fit_rows(examples)


@BOTH
def test_held_out_documents_choose_the_rounds(variant):
    examples, *_ = mixed(150, 5)
    learner = StumpBoosting(variant=variant, max_iter=40, n_thresholds=10)
    fixed = deepcopy(learner).fit_rows(examples)
    chosen = learner.set_params(early_stopping=True, validation_fraction=0.3).fit_rows(examples)
    lengths = chosen.summary()["rounds"]
    assert min(lengths) < 40 and len(set(lengths)) > 1
    for k in range(5):
        assert rounds_of(chosen, k) == rounds_of(fixed, k)[: lengths[k]]
    few = learner.replace(validation_fraction=0.05).fit_rows(examples)
    assert few.summary()["rounds"] == [40] * 5
    other = learner.replace(random_state=3).fit_rows(examples)
    assert other.summary()["rounds"] != lengths


# ---- documents and labels -----------------------------------------------------------------------


def test_what_is_not_known_of_a_category_is_not_learned():
    examples, X, lists = mixed(80, 3)
    labels = Labels.from_lists(lists, 3)
    known = np.ones((80, 3), bool)
    known[::3, 1] = False
    learner = StumpBoosting(max_iter=10)
    partial = deepcopy(learner).fit_rows(Examples.of(rows_of(X), labels._replace(known=known)))
    whole = deepcopy(learner).fit_rows(examples)
    there = np.flatnonzero(known[:, 1])
    fewer = deepcopy(learner).fit_rows(Examples.of(rows_of(X[there]), labels.take(there)))
    assert rounds_of(partial, 0) == rounds_of(whole, 0)
    assert_same_rounds(rounds_of(partial, 1), rounds_of(fewer, 1))


def test_an_interrupt_leaves_what_was_learned_before():
    examples, *_ = mixed()
    learner = StumpBoosting(max_iter=5).fit_rows(examples)
    before = bytes_of(learner)

    def interrupt(stage, n_documents, share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learner.set_params(max_iter=20_000).fit_rows(examples, n_jobs=2, progress=interrupt)
    assert bytes_of(learner.set_params(max_iter=5)) == before


def test_progress_ends_with_everything():
    examples, *_ = mixed()
    calls = []
    StumpBoosting(max_iter=5).fit_rows(examples, progress=lambda *call: calls.append(call))
    assert calls[-1] == ("rounds", 60, 1.0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ends", np.array([1, 5, 5, 5, 5, 5])),
        ("ends", np.array([0, 9, 5, 10, 12, 25])),
        ("columns", np.full(25, 30, np.int32)),
        ("columns", np.full(25, -1, np.int32)),
        ("alphas", np.zeros(25)),
        ("thresholds", np.full(25, np.nan)),
        ("offsets", np.full(5, np.inf)),
    ],
)
def test_a_damaged_file_is_refused(name, value):
    header, tensors = StumpBoosting(max_iter=5).fit_rows(mixed()[0]).state()
    with pytest.raises(ModelError):
        StumpBoosting.from_state(header, tensors | {name: value})
    with pytest.raises(ModelError, match="do not fit together"):
        StumpBoosting.from_state(header | {"n_thresholds": 31}, tensors)


def test_from_text_to_a_file_and_back(tmp_path):
    texts = ["wheat and corn", "corn for ships", "oil and gold", "gold for ships"] * 5
    model = Categorizer("stump-boosting").fit(texts, ["grain", "grain", "metal", "metal"] * 5)
    assert model.predict(["corn", "gold and oil"]) == ["grain", "metal"]
    path = tmp_path / "model.thresher"
    model.save(path)
    again = Categorizer.load(path)
    np.testing.assert_array_equal(again.scores(texts), model.scores(texts))
    assert [one.feature for one in again.explain("corn for ships").shares] == ["contains 'corn'"]


with warnings.catch_warnings():  # that we do not inherit from BaseEstimator is intended
    warnings.simplefilter("ignore", UserWarning)
    battery = parametrize_with_checks(
        [StumpBoosting(variant=one, n_thresholds=1000) for one in ("MH", "MR")]
    )


@battery
def test_scikit_learn_with_thresholds(estimator, check):
    check(estimator)
