"""The mistake-driven learners: what all of them promise, and what is particular to each."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone

from checks import documents, rows_of
from thresher._kernels.online import winnow_epoch
from thresher.errors import ModelError, ParameterError
from thresher.examples import Examples
from thresher.learners.online import (
    AROW,
    LEARNERS,
    ROMMA,
    BalancedWinnow,
    LinearSVM,
    ModifiedBalancedWinnow,
    PassiveAggressive,
    Perceptron,
    PositiveWinnow,
    RegretWinnow,
    SleepingExperts,
    extremal_features,
)
from thresher.rows import Labels, Rows

# ---- what the papers say ------------------------------------------------------------------------


def rows(*texts):
    """Rows of documents written as words; each letter is a feature."""
    columns = [[ord(letter) - ord("a") for letter in sorted(set(text))] for text in texts]
    indptr = np.cumsum([0, *map(len, columns)])
    indices = np.array([f for one in columns for f in one], np.int32)
    counts = [text.count(letter) for text in texts for letter in sorted(set(text))]
    return Rows(indptr, indices, np.array(counts, np.float32), 4)


def weights_after(learner, text, positive, mean_active=2):
    learner.start(4, 1, mean_active)
    learner.learn_rows(rows(text), Labels.from_lists([[0] if positive else []], 1))
    return learner.effective_weights()[:, 0].tolist()


def test_positive_winnow_by_hand():
    learner = PositiveWinnow(promotion=2.0, margin=0.0, normalize_strength=False)
    # d = 2, so weights start at 1/2; "a" scores 1/2, "abc" scores 3/2, "ab" scores 1: a tie.
    assert weights_after(learner, "a", True) == [1, 0.5, 0.5, 0.5]
    assert weights_after(learner, "abc", False) == [0.25, 0.25, 0.25, 0.5]
    assert weights_after(learner, "abc", True) == [0.5] * 4
    assert weights_after(learner, "ab", True) == [1, 1, 0.5, 0.5]  # not above the threshold
    assert weights_after(learner, "ab", False) == [0.25, 0.25, 0.5, 0.5]


def test_balanced_winnow_by_hand():
    learner = BalancedWinnow(promotion=2.0, margin=0.0)
    # u starts at 1 and v at 1/2; promoted they are 2 and 1/4, demoted 1/2 and 1.
    assert weights_after(learner, "a", True) == [1.75, 0.5, 0.5, 0.5]
    assert weights_after(learner, "abc", False) == [-0.5, -0.5, -0.5, 0.5]


def test_modified_balanced_winnow_by_hand():
    learner = ModifiedBalancedWinnow()
    # "a" and the always-on feature weigh 1/2 each: u = 2·1.5·1.5 and v = 1·0.5·0.5.
    assert weights_after(learner, "a", True) == [4.25, 1, 1, 1]
    assert weights_after(learner, "a", False) == [2 * 0.25 - 1.5 * 1.5, 1, 1, 1]


def test_the_floor_is_met_where_one_feature_is_almost_alone():
    # "a" weighs 31/32: 1 - x is 1/32, below the floor of 1/16.
    document = rows("a")._replace(values=np.array([31], np.float32))
    for floor, down in ((1 / 16, 1 / 32), (0.0, 1 / 64)):
        learner = ModifiedBalancedWinnow(floor=floor).start(4, 1)
        learner.learn_rows(document, Labels.from_lists([[0]], 1))
        assert learner.state()[1]["down"][1, 0] == down


def test_an_empty_document_does_not_kill_the_always_on_feature():
    learner = ModifiedBalancedWinnow().start(4, 1)
    for _ in range(30):
        learner.learn_rows(rows(""), Labels.from_lists([[]], 1))
    for _ in range(60):
        learner.learn_rows(rows(""), Labels.from_lists([[0]], 1))
    assert learner.score_rows(rows(""))[0, 0] > 0


def test_perceptron_by_hand():
    learner = Perceptron(promotion=2.0, demotion=1.0, always_on=False)
    assert weights_after(learner, "aab", True) == [4, 2, 0, 0]
    assert weights_after(learner, "aab", False) == [-2, -1, 0, 0]
    learner.set_params(step="presence")  # as printed in 1997: the rate, whatever the strength
    assert weights_after(learner, "aab", True) == [2, 2, 0, 0]
    assert weights_after(learner, "aab", False) == [-1, -1, 0, 0]


@pytest.mark.parametrize(
    ("variant", "step"), [("PA", 1 / 5), ("PA-I", 1 / 8), ("PA-II", 1 / 9), ("relaxed", 1 / 5.5)]
)
def test_passive_aggressive_by_hand(variant, step):
    learner = PassiveAggressive(variant=variant, aggressiveness=1 / 8, gamma=0.5, always_on=False)
    expected = [2 * step, step, 0, 0]
    np.testing.assert_allclose(weights_after(learner, "aab", True), expected, rtol=1e-6)


def test_arow_by_hand():
    learner = AROW(prior="flat", always_on=False)
    # Variances of 1, r = 1: "aab" has the variance 4 + 1 and the loss 1; the step is 1/6.
    expected = [2 / 6, 1 / 6, 0, 0]
    np.testing.assert_allclose(weights_after(learner, "aab", True), expected, rtol=1e-6)
    variances = learner.state()[1]["variances"][1:, 0]
    np.testing.assert_allclose(variances, [1 / 5, 1 / 2, 1, 1], rtol=1e-6)
    # "b" scores 1/6, a loss of 7/6 for a negative; its variance is 1/2: -7/6 · 1/2 / (3/2).
    learner.learn_rows(rows("b"), Labels.from_lists([[]], 1))
    expected = [1 / 3, 1 / 6 - 7 / 18, 0, 0]
    np.testing.assert_allclose(learner.effective_weights()[:, 0], expected, rtol=1e-6)
    variances = learner.state()[1]["variances"][1:, 0]
    np.testing.assert_allclose(variances, [1 / 5, 1 / 3, 1, 1], rtol=1e-6)


def test_arow_at_the_margin_and_with_weights_by_hand():
    learner = AROW(prior="flat", always_on=False, regularization=2.0, positive_weight=4.0)
    # r/4 = 1/2: the step of "a" is 1 / (1 + 1/2), and 1/S = 1 + 2.
    assert weights_after(learner, "a", True) == [np.float32(2 / 3), 0, 0, 0]
    np.testing.assert_allclose(learner.state()[1]["variances"][1, 0], 1 / 3, rtol=1e-6)
    learner._tables["weights"][1, 0] = 1.0  # a score of exactly the margin is no mistake
    assert learner.learn_rows(rows("a"), Labels.from_lists([[0]], 1)).tolist() == [0]


def test_variances_from_labels_by_hand():
    learner = AROW(always_on=False, shuffle=False).start(4, 1)
    examples = Examples.of(rows("a", "b", "ab", "b"), Labels.from_lists([[0], [], [0], []], 1))
    learner._begin_passes(examples, 1)
    # "a" stands in 2 documents, both of the category, "b" in 3, one of them: σ = 3/5.
    # R(a) = ln((2 + 3)/0.6) - ln((0 + 2)/0.4) = 0.511, R(b) = |ln(4/0.6) - ln(4/0.4)| = 0.405;
    # their mean squares are 2/4 and 3/4: the sum of x²R is 0.5596.
    a, b = np.log(5 / 0.6 / 5), abs(np.log(4 / 0.6 / 10))
    norm = 0.5 * a + 0.75 * b
    variances = learner.state()[1]["variances"][:, 0]
    expected = [1, 0.2 + 0.8 * a / norm, 0.2 + 0.8 * b / norm]
    np.testing.assert_allclose(variances[:3], expected, rtol=1e-6)
    # In the mean, the variance of a document's score is 0.2 of its squares, and 0.8.
    mean = 0.5 * variances[1] + 0.75 * variances[2]
    np.testing.assert_allclose(mean, 0.2 * 1.25 + 0.8, rtol=1e-6)


def test_linear_svm_by_hand():
    learner = LinearSVM(prior="flat", always_on=0.0, shuffle=False, max_iter=1)
    learner.fit_rows(Examples.of(rows("aab", "b"), Labels.from_lists([[0], []], 1)))
    # "aab": α = 1 / (5 + 1/2) = 2/11, w = (4/11, 2/11).
    # "b" scores 2/11: α = (1 + 2/11) / (1 + 1/2) = 26/33, w(b) = 2/11 - 26/33.
    expected = [4 / 11, 2 / 11 - 26 / 33, 0, 0]
    np.testing.assert_allclose(learner.effective_weights()[:, 0], expected, rtol=1e-6)
    # Both have supported it: 1/S is 1 + 4 and 1 + 1 + 1.
    variances = learner.state()[1]["variances"][1:, 0]
    np.testing.assert_allclose(variances, [1 / 5, 1 / 3, 1, 1], rtol=1e-6)


def test_what_a_document_adds_to_its_own_score_by_hand():
    learner = AROW(prior="flat", always_on=False).start(4, 2)
    with learner.tracking(np.array([-1, 0]), 2) as own:
        learner.learn_rows(rows("aab", "b"), Labels.from_lists([[0], [1]], 2))
    # "b" scores 1/6 and -1/6 with a variance of 1/2: ∓7/6 · 1/2 / (3/2).
    np.testing.assert_allclose(own, [[-7 / 18, 7 / 18]], rtol=1e-6)
    before = learner.score_rows(rows("b")) - own
    np.testing.assert_allclose(before, [[1 / 6, -1 / 6]], rtol=1e-5)
    learner.learn_rows(rows("b"), Labels.from_lists([[0]], 2))  # nobody asks any more
    assert learner._tracked[1].size == 0


def test_later_features_and_categories_start_at_one():
    X, y = documents()
    learner = AROW().fit(X, y).grow(32, 5)
    variances = learner.state()[1]["variances"]
    assert (variances[31:] == 1).all() and (variances[:, 3:] == 1).all()
    assert not (variances[:31, :3] == 1).any()


def test_romma_by_hand():
    learner = ROMMA(always_on=False).start(4, 1)
    learner.learn_rows(rows("aab"), Labels.from_lists([[0]], 1))
    np.testing.assert_allclose(learner.effective_weights()[:, 0], [0.4, 0.2, 0, 0], rtol=1e-6)
    # |w|² = 0.2, |x|² = 1, <w,x> = 0.4: c = (0.2 + 0.4) / 0.04, d = 0.2 (-1.4) / 0.04.
    learner.learn_rows(rows("a"), Labels.from_lists([[]], 1))
    np.testing.assert_allclose(learner.effective_weights()[:, 0], [-1, 3, 0, 0], rtol=1e-5)
    # Both documents are now scored right, and by exactly one.
    np.testing.assert_allclose(learner.score_rows(rows("aab", "a"))[:, 0], [1, -1], rtol=1e-5)


def strengths_of(random, length, n_features=200):
    """One document of so many features, of any strengths."""
    features = np.sort(random.choice(n_features, length, replace=False)).astype(np.int32)
    values = random.random(length, np.float32) + np.float32(0.1)
    return Rows(np.array([0, length]), features, values, n_features)


@pytest.mark.parametrize("always_on", [0.0, 0.5])
def test_romma_learns_a_document_that_it_refused_before(always_on):
    """Such a document is parallel to the weights; rounding once decided, and wiped them to zero."""
    random = np.random.default_rng(0)
    for _ in range(1000):
        document = strengths_of(random, random.integers(1, 200))
        learner = ROMMA(always_on=always_on).start(200, 1)
        for positive in (False, True, False):
            learner.learn_rows(document, Labels.from_lists([[0] if positive else []], 1))
            squares = (document.values.astype(np.float64) ** 2).sum() + always_on**2
            expected = np.zeros(200)
            expected[document.indices] = (1 if positive else -1) * document.values / squares
            weights = learner.effective_weights()[:, 0]
            np.testing.assert_allclose(weights, expected, rtol=1e-3, atol=1e-6)


def test_romma_from_one_passes_over_a_document_parallel_to_its_weights():
    learner = ROMMA(initial="one", always_on=False).start(4, 1)
    learner.learn_rows(rows("ab"), Labels.from_lists([[]], 1))
    assert learner.effective_weights()[:, 0].tolist() == [1, 1, 0, 0]
    assert learner.mistakes_ == [1]


@pytest.mark.parametrize("in_norm, step", [(True, 1 / 6.5), (False, 1 / 5.5)])
def test_the_always_on_feature_counts_in_the_norm_or_not(in_norm, step):
    learner = PassiveAggressive(
        variant="relaxed", gamma=0.5, always_on=True, always_on_in_norm=in_norm
    )
    expected = [2 * step, step, 0, 0]
    np.testing.assert_allclose(weights_after(learner, "aab", True), expected, rtol=1e-6)
    assert learner.always_on_weights()[0] == pytest.approx(step)


def test_romma_without_the_always_on_feature_in_the_norm_by_hand():
    learner = ROMMA(always_on=True, always_on_in_norm=False).start(4, 1)
    learner.learn_rows(rows("aab"), Labels.from_lists([[0]], 1))
    # |x|² = 5: w = x/5, and 1/5 for the always-on feature.
    np.testing.assert_allclose(learner.effective_weights()[:, 0], [0.4, 0.2, 0, 0], rtol=1e-6)
    # |w|² = 0.24, |x|² = 1, <w,x> = 0.6: D = -0.12, c = 0.84 / D = -7, d = 0.24 (-1.6) / D = 3.2.
    learner.learn_rows(rows("a"), Labels.from_lists([[]], 1))
    expected = [-7 * 0.4 + 3.2, -7 * 0.2, 0, 0]
    np.testing.assert_allclose(learner.effective_weights()[:, 0], expected, rtol=1e-5)
    assert learner.always_on_weights()[0] == pytest.approx(-7 * 0.2 + 3.2, rel=1e-5)


# ---- ties ---------------------------------------------------------------------------------------


TIED = {
    "positive": PositiveWinnow(margin=0.0, always_on=True),
    "balanced": BalancedWinnow(margin=0.0, always_on=True, normalize_strength=True),
    "regret": RegretWinnow(),
    "margin": PositiveWinnow(threshold_range=(1.0, 1.5), always_on=True, initial_weight=1.5),
    "perceptron": Perceptron(
        threshold=1.0, initial_weight=None, normalize_strength=True, always_on=True
    ),
}


@pytest.mark.parametrize("learner", TIED.values(), ids=TIED)
@pytest.mark.parametrize("positive", [True, False])
def test_rounding_does_not_decide_ties(learner, positive):
    """A fresh document whose strengths sum to one scores exactly the threshold: a mistake."""
    random, labels = np.random.default_rng(0), Labels.from_lists([[0] if positive else []], 1)
    for length in range(1, 201):
        document = strengths_of(random, length)
        equal = document._replace(values=np.ones(length, np.float32))
        for one in (document, equal):
            fresh = clone(learner).start(200, 1)
            at_threshold = learner.threshold_range is None
            # Of what was never learned from, learners that drop it say nothing.
            if at_threshold and learner.unseen == "keep":
                assert fresh.score_rows(one)[0, 0] == 0
            assert fresh.learn_rows(one, labels).tolist() == [1], length
            company = clone(learner).start(200, 2)
            assert company.learn_rows(one, labels._replace(n_categories=2))[0] == 1


def test_scores_beside_the_threshold_are_no_ties():
    learner = PositiveWinnow(margin=0.0, normalize_strength=False, initial_weight=1.0).start(4, 1)
    for beyond, expected in ((2.0**-20, 0), (2.0**-23, 1)):
        one = rows("a")._replace(values=np.array([1 + beyond], np.float32))
        assert (learner.score_rows(one)[0, 0] == 0) == expected
        assert learner.learn_rows(one, Labels.from_lists([[0]], 1)).tolist() == [expected]


def test_sleeping_experts_by_hand():
    learner = SleepingExperts().start(4, 1)
    learner.learn_rows(rows("ab"), Labels.from_lists([[0]], 1))
    # Four experts of weight 1; two erred and are halved; all are scaled by 4/3.
    np.testing.assert_allclose(learner.state()[1]["yes"][:, 0], [1, 4 / 3, 4 / 3, 1, 1])
    np.testing.assert_allclose(learner.state()[1]["no"][:, 0], [1, 2 / 3, 2 / 3, 1, 1])
    np.testing.assert_allclose(learner.score_rows(rows("a"))[0, 0], 2 / 3 - 1 / 2, rtol=1e-6)


def test_without_regret_regret_winnow_is_positive_winnow():
    X, y = documents()
    common = {"promotion": 1.5, "demotion": 0.5, "margin": 0.0, "max_iter": 3}
    common |= {"always_on": True, "unseen": "drop"}
    one = RegretWinnow(regret=1.0, **common).fit(X, y)
    other = PositiveWinnow(**common).fit(X, y)
    np.testing.assert_array_equal(one.effective_weights(), other.effective_weights())


def test_regret_rewards_features_wiser_than_the_learner():
    learner = RegretWinnow(promotion=2.0, demotion=0.5, always_on=False, regret=0.5).start(4, 1)
    learner.learn_rows(
        rows("ab"), Labels.from_lists([[0]], 1)
    )  # a tie, a mistake: both say nothing
    assert learner.effective_weights()[:, 0].tolist() == [2, 2, 1, 1]
    # 3/2 is right; "a" was right and stays, "c" said nothing.
    learner.learn_rows(rows("ac"), Labels.from_lists([[0]], 1))
    assert learner.effective_weights()[:, 0].tolist() == [2, 2, 1, 1]
    # 3/2 is wrong, so is "b": demoted by 1/2, then by regret^(1 - regret).
    learner.learn_rows(rows("bd"), Labels.from_lists([[]], 1))
    np.testing.assert_allclose(learner.effective_weights()[:, 0], [2, 0.5**0.5, 1, 0.5], rtol=1e-6)


def test_threshold_range_and_margin_mean_the_same():
    X, y = documents()
    wide = BalancedWinnow(margin=0.25).fit(X, y)
    same = BalancedWinnow(threshold_range=(0.75, 1.25)).fit(X, y)
    np.testing.assert_array_equal(wide.effective_weights(), same.effective_weights())
    assert BalancedWinnow(margin=0.0).fit(X, y).mistakes_[0] < wide.mistakes_[0]


def test_a_score_of_zero_does_not_belong():
    learner = Perceptron().start(1, 1)
    nothing = Rows(np.zeros(2, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32), 1)
    assert learner.score_rows(nothing)[0, 0] == 0
    X, y = np.array([[1.0], [0.0]]), [1, 0]
    assert Perceptron(promotion=1e-30, max_iter=1).fit(X, y).predict([[0.0]]) == [0]


def test_unseen_features_are_kept_or_dropped_before_normalising():
    learner = PositiveWinnow(margin=0.0).start(4, 1)
    both = {}
    for unseen in ("keep", "drop"):
        learner.set_params(unseen=unseen).start(4, 1)
        learner.learn_rows(rows("a", "b"), Labels.from_lists([[], []], 1))
        both[unseen] = learner.score_rows(rows("ac"))[0, 0] + 1
    low = 1 / 1.1
    np.testing.assert_allclose([both["keep"], both["drop"]], [(low + 1) / 2, low], rtol=1e-6)


def test_learning_stops_without_mistakes():
    X, y = documents()
    learner = BalancedWinnow(max_iter=50).fit(X, y)
    assert learner.n_iter_ == len(learner.mistakes_) < 50
    assert learner.mistakes_[-1] == 0


def test_a_stream_without_end_keeps_a_bounded_list_of_its_passes():
    learner = Perceptron().start(4, 1)
    for _ in range(1005):
        learner.learn_rows(rows("a"), Labels.from_lists([[0]], 1))
    assert (len(learner.mistakes_), learner.n_passes_, learner.n_seen_) == (1000, 1005, 1005)
    header, tensors = learner.state()
    again = Perceptron.from_state(header, tensors)
    assert (again.mistakes_, again.n_passes_) == (learner.mistakes_, 1005)


def test_passes_can_be_watched():
    X, y = documents()
    calls, stages = [], []
    labels = Labels.from_lists([[k] for k in y], 3)
    learner = Perceptron(max_iter=3, promotion=0.01).fit_rows(
        Examples.of(rows_of(X), labels),
        progress=lambda *stage: stages.append(stage),
        watch=lambda *call: calls.append(call),
    )
    same = Perceptron(max_iter=3, promotion=0.01).fit_rows(Examples.of(rows_of(X), labels))
    np.testing.assert_array_equal(learner.effective_weights(), same.effective_weights())
    assert len(calls) == 20 * len(learner.mistakes_) and {call[1] for call in calls} == {6}
    for number, mistakes in enumerate(learner.mistakes_, start=1):
        of_pass = [call for call in calls if call[0] == number]
        assert sum(call[2] for call in of_pass) == mistakes
        assert sum(call[3] for call in of_pass) == 3 * len(y)
    assert stages[0] == ("pass 1", 6, 0.05) and stages[19] == ("pass 1", 120, 1.0)


@pytest.mark.parametrize("average", [None, "examples"])
@pytest.mark.parametrize("name", ["perceptron", "passive-aggressive", "romma", "arow"])
def test_merged_scores_add_up(name, average):
    X, y = documents()
    learner = LEARNERS[name](average=average).fit(X, y)
    scores = learner.score_rows(rows_of(X))
    merged = learner.merge_categories(2, 0).score_rows(rows_of(X))
    np.testing.assert_allclose(merged[:, 0], scores[:, 0] + scores[:, 2] + 1, rtol=1e-3, atol=1e-4)
    without = Perceptron(always_on=False).fit(X, y)
    with pytest.raises(ModelError, match="without an always-on feature"):
        without.merge_categories(2, 0)
    with pytest.raises(ParameterError, match="two different categories from 0 to 2"):
        without.merge_categories(1, 1)


def test_growing_by_one_copies_seldom():
    learner = Perceptron().start(1000, 10)
    copies, last = 0, learner._tables.buffers["weights"]
    for i in range(1000):
        learner.grow(1001 + i, 10 + i // 10)
        copies += learner._tables.buffers["weights"] is not last
        last = learner._tables.buffers["weights"]
    assert copies < 25


def test_rare_positives_can_weigh_more():
    random = np.random.default_rng(0)
    X = random.poisson(0.3, (400, 30)).astype(np.float32)
    y = (random.random(400) < 0.04 + 0.1 * (X[:, 0] > 0)).astype(int)
    for learner in (PassiveAggressive(max_iter=1), BalancedWinnow(max_iter=1)):
        n_positive = [
            clone(learner).set_params(positive_weight=weight).fit(X, y).predict(X).sum()
            for weight in (1.0, 5.0)
        ]
        assert n_positive[1] > n_positive[0]


# ---- weights stay within bounds -----------------------------------------------------------------


@pytest.mark.parametrize("name", ["positive-winnow", "balanced-winnow", "modified-balanced-winnow"])
@pytest.mark.parametrize("positive", [True, False])
def test_a_million_corrections_in_a_row(name, positive):
    # A range so wide that everything is a mistake for ever.
    learner = LEARNERS[name](threshold_range=(-1e30, 1e30), unseen="keep", average="examples")
    learner.start(2, 1, 1)
    n = 1_000_000 if hasattr(winnow_epoch, "py_func") else 1000  # interpreted, that takes minutes
    indices = np.zeros(n, np.int32)
    ones = Rows(np.arange(n + 1), indices, np.ones(n, np.float32), 2)
    labels = Labels.from_lists([[0]], 1) if positive else Labels.from_lists([[]], 1)
    labels = labels.take(np.zeros(n, np.int64))
    assert learner.learn_rows(ones, labels)[0] == n
    one = Rows(np.array([0, 1]), np.zeros(1, np.int32), np.ones(1, np.float32), 2)
    score = learner.score_rows(one)[0, 0]
    assert np.isfinite(score)
    # It can still learn the opposite.
    opposite = Labels.from_lists([[]] if positive else [[0]], 1).take(np.zeros(n, np.int64))
    learner.set_params(average=None)
    learner.learn_rows(ones, opposite)
    assert np.isfinite(learner.score_rows(one)).all()
    assert (learner.score_rows(one)[0, 0] > 0) == (not positive)


# ---- discarding ---------------------------------------------------------------------------------


def test_the_filtering_range_discards_what_hardly_moved():
    X, y = documents()
    learner = BalancedWinnow(discard="filter-range", discard_after=2, margin=0.1, max_iter=2)
    kept = learner.fit(X, y).effective_weights() != 0
    same = BalancedWinnow(margin=0.1, max_iter=2).fit(X, y)
    u, v = 2 / same.mean_active_, 1 / same.mean_active_
    low, high = u / 1.2 - v * 1.2, u * 1.2 - v / 1.2
    weights = same.effective_weights()
    np.testing.assert_array_equal(kept, (weights < low * 0.9999) | (weights > high * 1.0001))
    assert learner.discarded_share_ == 1 - kept.mean() > 0.3
    # What is discarded stays so, in learning and in scoring alike.
    learner.partial_fit(X, y)
    np.testing.assert_array_equal(learner.effective_weights() != 0, kept)


def test_discarding_may_wait_for_few_mistakes():
    X, y = documents()
    learner = BalancedWinnow(discard="filter-range", discard_after=0.02, shuffle=False)
    learner.start(30, 3, 6)
    labels = Labels.from_lists([[k] for k in y], 3)
    for _ in range(6):
        learner.learn_rows(rows_of(X), labels)
        few = learner.mistakes_[-1] < 0.02 * 3 * len(y)
        if few:
            break
        assert learner.discarded_share_ == 0
    assert learner.discarded_share_ > 0


def test_extremal_features_by_hand():
    learner = Perceptron(always_on=False).start(6, 1)
    learner._tables["weights"][1:, 0] = [3, -5, 0.5, 1, 2, -0.1]
    keep = extremal_features(learner, 3, extremal_share=2 / 3)
    assert keep[:, 0].tolist() == [True, True, False, False, False, True]
    learner.discard_features(~keep)
    assert learner.discarded_share_ == 0.5
    assert learner.live_features().tolist() == keep[:, 0].tolist()


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=12),
    st.integers(1, 12),
    st.sampled_from([0.0, 0.5, 0.9, 1.0]),
)
def test_extremal_features_are_the_first_and_last_in_a_sorted_list(weights, budget, share):
    places = sorted(range(len(weights)), key=lambda f: (weights[f], f))
    n_top = round(budget * share)
    top = places[len(places) - n_top :] if n_top else []
    rest = sorted(set(places) - set(top), key=lambda f: (weights[f], -f))
    expected = set(places) if len(places) <= budget else {*top, *rest[: budget - n_top]}
    learner = Perceptron(always_on=False).start(len(weights), 1)
    learner._tables["weights"][1:, 0] = weights
    keep = extremal_features(learner, budget, share)
    assert set(np.flatnonzero(keep[:, 0])) == expected


@pytest.mark.parametrize("name", LEARNERS)
def test_a_stream_is_learned_within_a_budget(name):
    """New words keep coming; the learner never holds more than its budget after a pruning."""
    random = np.random.default_rng(0)
    learner = LEARNERS[name](feature_budget=10).start(0, 2, 3)
    for batch in range(6):
        n_features = 20 * (batch + 1)
        y = random.integers(0, 2, 500)
        words = n_features - 20 + random.integers(0, 10, (500, 3)) + 10 * y[:, None]
        X = csr_array((np.ones(1500), (np.repeat(np.arange(500), 3), words.ravel())))
        X.resize(500, n_features)
        learner.grow(n_features, 2)
        learner.learn_rows(rows_of(X), Labels.from_lists([[k] for k in y], 2))
        live = learner.live_weights()
        assert live.sum(0).max() <= 10
        assert (learner.effective_weights()[~live & learner._met_features()[:, None]] == 0).all()
        # The newest words get in although the budget was full of older ones.
        assert live[-20:].any() or "winnow" not in name
    assert learner.discarded_share_ > 0.8
    # Features that no category holds can go.
    scores = learner.score_rows(rows_of(X))
    keep = learner.live_features()
    learner.prune(keep)
    if not (learner.normalize_strength and learner.unseen == "keep"):  # which looks at all words
        np.testing.assert_allclose(learner.score_rows(rows_of(X[:, keep])), scores, rtol=1e-5)


def test_strengths_are_normalised_over_what_a_category_kept():
    learner = PositiveWinnow(unseen="drop", margin=0.0).start(4, 2)
    learner.learn_rows(rows("abc"), Labels.from_lists([[0]], 2))
    before = learner.effective_weights()
    discarded = np.array([[0, 0], [0, 1], [0, 1], [0, 0]], bool)
    learner.discard_features(discarded)
    expected = [before[[0, 1, 2], 0].mean() - 1, before[0, 1] - 1]
    np.testing.assert_allclose(learner.score_rows(rows("abc"))[0], expected, rtol=1e-6)


# ---- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (BalancedWinnow(promotion=0.5), "promotion is 0.5; it must be above 1"),
        (BalancedWinnow(demotion=1.5), "demotion is 1.5"),
        (BalancedWinnow(average="sometimes"), "'successes'"),
        (BalancedWinnow(threshold_range=(2, 1)), "threshold_range is (2, 1)"),
        (BalancedWinnow(threshold_range=3), "threshold_range is 3"),
        (BalancedWinnow(initial_weight=1.0), "two numbers above 0"),
        (PositiveWinnow(initial_weight=-1.0), "initial_weight is -1.0; it must be above 0"),
        (PositiveWinnow(positive_weight=[1.0, 2.0]), "one per category"),
        (PositiveWinnow(discard="all"), "'filter-range'"),
        (PassiveAggressive(variant="PA-III"), "'PA-II'"),
        (PassiveAggressive(aggressiveness=0), "aggressiveness is 0"),
        (Perceptron(max_iter=0), "max_iter is 0"),
        (Perceptron(unseen="forget"), "'drop'"),
        (ROMMA(initial="two"), "'zero', 'one'"),
        (SleepingExperts(penalty=1.0), "penalty is 1.0"),
        (RegretWinnow(regret=2.0), "regret is 2.0"),
        (Perceptron(feature_budget=0), "feature_budget is 0"),
        (AROW(regularization=0.0), "regularization is 0.0; it must be above 0"),
        (AROW(prior="uniform"), "'labels', 'flat'"),
        (LinearSVM(C=-1.0), "C is -1.0; it must be above 0"),
    ],
    ids=lambda value: value if isinstance(value, str) else repr(value),
)
def test_parameters_that_make_no_sense(learner, words):
    with pytest.raises(ParameterError) as error:
        learner.fit(*documents())
    assert words in str(error.value) and str(error.value).startswith(type(learner).__name__)


def test_rows_and_labels_out_of_range():
    learner = BalancedWinnow().start(3, 1)
    with pytest.raises(ModelError, match="knows 3; call grow"):
        learner.learn_rows(rows("d"), Labels.from_lists([[0]], 1))
    with pytest.raises(ModelError, match="categories up to 4"):
        learner.learn_rows(rows("a"), Labels.from_lists([[4]], 1))
    with pytest.raises(ModelError, match="1 document cannot have 2 label lists"):
        learner.learn_rows(rows("a"), Labels.from_lists([[0], []], 1))
    negative = rows("a")._replace(values=np.array([-1], np.float32))
    with pytest.raises(ModelError, match="Negative values in data"):
        learner.learn_rows(negative, Labels.from_lists([[0]], 1))
    with pytest.raises(ParameterError, match="from 0 to 7; there are 1"):
        learner.learn_rows(rows("a"), Labels.from_lists([[0]], 1), order=np.array([0, 7]))
    with pytest.raises(ParameterError, match="from 0 to 1e\\+12"):
        learner.learn_rows(rows("a"), Labels.from_lists([[0]], 1), sample_weight=np.array([-1]))
    with pytest.raises(ModelError, match="cannot grow to 2"):
        learner.grow(2, 1)
    with pytest.raises(ModelError, match="3 in all"):
        learner.prune(np.array([True]))
    with pytest.raises(ParameterError, match="n_jobs is 0"):
        learner.score_rows(rows("a"), n_jobs=0)


def test_a_label_given_twice_is_one_label():
    one, other = BalancedWinnow().start(4, 2, 2), BalancedWinnow().start(4, 2, 2)
    one.learn_rows(rows("ab"), Labels.from_lists([[1, 1, 1, 1]], 2))
    other.learn_rows(rows("ab"), Labels.from_lists([[1]], 2))
    assert one.mistakes_ == other.mistakes_
    np.testing.assert_array_equal(one.effective_weights(), other.effective_weights())


def test_damaged_state_is_refused():
    X, y = documents()
    header, tensors = ModifiedBalancedWinnow(feature_budget=5).fit(X, y).state()
    load = ModifiedBalancedWinnow.from_state
    for name in tensors:
        if name != "live":
            with pytest.raises(ModelError, match=f"lacks the tensor '{name}'"):
                load(header, {key: value for key, value in tensors.items() if key != name})
        with pytest.raises(ModelError, match=f"'{name}' has the shape"):
            load(header, tensors | {name: tensors[name][1:]})
        with pytest.raises(ModelError, match=f"'{name}' holds"):
            load(header, tensors | {name: tensors[name].astype(np.int16)})
    with pytest.raises(ModelError, match="finite values from 0 belong"):
        load(header, tensors | {"up": tensors["up"] * np.nan})
    with pytest.raises(ModelError, match="'n_features' is missing"):
        load({key: value for key, value in header.items() if key != "n_features"}, tensors)
    with pytest.raises(ModelError, match="damaged"):
        load(header | {"params": {"colour": "blue"}}, tensors)
    with pytest.raises(ModelError, match="margin is 1e\\+30; it must be at least 0"):
        load(header | {"params": header["params"] | {"margin": 1e30}}, tensors)
    with pytest.raises(ModelError, match="'n_features' is -1; it must be an int from 0"):
        load(header | {"n_features": -1}, tensors)
    with pytest.raises(ModelError, match="'modified-balanced-winnow' learner, not 'perceptron'"):
        Perceptron.from_state(header, tensors)
    with pytest.raises(ParameterError, match="which a model file cannot hold"):
        Perceptron(random_state=np.random.default_rng(0)).start(1, 1).state()


def test_every_parameter_is_described():
    for learner in LEARNERS.values():
        assert len(learner.parameters) > 10
        for name in learner.parameters:
            assert f"\n{name} : " in learner.__doc__, (learner, name)
