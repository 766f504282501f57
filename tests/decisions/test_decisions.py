"""From scores to categories."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import decisions as naive
from thresher.decisions import (
    Calibration,
    Decisions,
    Objective,
    learn_offsets,
    learn_thresholds,
    reliability_curve,
)
from thresher.decisions.calibration import fit_sigmoid
from thresher.decisions.tuning import tune_decisions
from thresher.errors import ModelError, ParameterError
from thresher.evaluation import CutPoints, evaluate
from thresher.model.storage import read_model, write_model
from thresher.rows import Labels

SCORES = np.array([[0.5, -1.0, 2.0], [-3.0, -1.0, -2.0], [1.0, 1.0, 1.0]], np.float32)


def decided(scores=SCORES, **how):
    """Return the decisions as lists of category numbers."""
    return [np.flatnonzero(row).tolist() for row in Decisions(**how).grow(3).decide(scores)]


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({}, [[0, 2], [], [0, 1, 2]]),
        ({"thresholds": [0.5, -2, 2]}, [[1], [1], [0, 1]]),
        ({"default_threshold": 0.75}, [[2], [], [0, 1, 2]]),
        ({"at_least": 1}, [[0, 2], [1], [0, 1, 2]]),
        ({"at_least": 2}, [[0, 2], [1, 2], [0, 1, 2]]),
        ({"at_least": 9}, [[0, 1, 2]] * 3),
        ({"at_most": 1}, [[2], [], [0]]),
        ({"at_most": 2}, [[0, 2], [], [0, 1]]),
        ({"at_least": 1, "at_most": 1}, [[2], [1], [0]]),
        ({"mode": "single-label"}, [[2], [1], [0]]),
        ({"mode": "single-label", "allow_none": True}, [[2], [], [0]]),
        ({"mode": "single-label", "thresholds": [0, 0, 2]}, [[0], [1], [0]]),
    ],
)
def test_decisions(how, expected):
    assert decided(**how) == expected


LIMITS = [
    (least, most) for least in range(4) for most in (1, 2, 3, 4, None) if least <= (most or 4)
]


@given(
    st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=1, max_size=5),
    st.sampled_from(LIMITS),
)
def test_limits_hold_for_every_document(scores, limits):
    scores = np.array(scores, float)
    at_least, at_most = limits
    chosen = Decisions(at_least=at_least, at_most=at_most).grow(3).decide(scores)
    wanted = np.clip((scores > 0).sum(axis=1), at_least, at_most)
    np.testing.assert_array_equal(chosen.sum(axis=1), wanted)
    worst_chosen = np.where(chosen, scores, np.inf).min(axis=1)
    assert (np.where(chosen, -np.inf, scores).max(axis=1) <= worst_chosen).all()


@given(
    st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), max_size=5),
    st.sampled_from(["multi-label", "single-label"]),
)
def test_numbers_of_categories_stand_in_the_order_of_their_margins(scores, mode):
    scores = np.array(scores, float).reshape(-1, 3)
    decisions = Decisions(mode, [0.5, -0.5, 0])
    numbers, ends = decisions.decide_numbers(scores)
    assert ends[0] == 0 and len(ends) == len(scores) + 1
    for i, chosen in enumerate(decisions.decide(scores)):
        margins = scores[i] - decisions.thresholds
        expected = sorted(np.flatnonzero(chosen).tolist(), key=lambda c: -margins[c])
        assert numbers[ends[i] : ends[i + 1]].tolist() == expected


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("mode", ["multi-label", "single-label", "or none"])
def test_decisions_are_those_of_the_twin(mode, dtype):
    generator = np.random.default_rng(4)
    for n in (*range(1, 9), 40, 300):
        for _ in range(10):
            scores = generator.integers(-2, 3, (7, n)).astype(dtype)  # with ties
            at_least = int(generator.integers(0, n + 2))
            at_most = int(generator.integers(max(at_least, 1), n + 3))
            thresholds, limits = generator.integers(-1, 2, n), (at_least, at_most)
            decisions = Decisions(thresholds=thresholds, at_least=at_least, at_most=at_most)
            if mode != "multi-label":
                allow_none = mode == "or none"
                decisions = Decisions("single-label", thresholds, allow_none=allow_none)
                limits = 0 if allow_none else 1, 1
            numbers, ends = decisions.decide_numbers(scores)
            mask = decisions.decide(scores)
            for i, row in enumerate(scores.tolist()):
                expected = naive.decide(row, thresholds.tolist(), *limits)
                assert numbers[ends[i] : ends[i + 1]].tolist() == expected
                assert np.flatnonzero(mask[i]).tolist() == sorted(expected)


def test_no_document_and_no_category():
    for mode in ("multi-label", "single-label"):
        assert Decisions(mode).decide(np.zeros((2, 0))).shape == (2, 0)
        assert Decisions(mode, at_least=1).grow(3).decide(np.zeros((0, 3))).shape == (0, 3)


def test_new_categories_get_the_default_threshold():
    decisions = Decisions(thresholds=[1.0], default_threshold=0.5).grow(3).grow(2)
    assert decisions.thresholds.tolist() == [1.0, 0.5, 0.5]


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"mode": "ranked"}, "'ranked'"),
        ({"at_least": -1}, "at least -1"),
        ({"at_most": 0}, "at most 0"),
        ({"at_least": 3, "at_most": 2}, "at least 3 and at most 2"),
        ({"thresholds": [np.nan]}, "one number per category"),
        ({"thresholds": [[1.0]]}, "one number per category"),
        ({"abstain_below": 1.5}, "from 0 to 1"),
    ],
)
def test_nonsense_is_told(how, sentence):
    with pytest.raises(ParameterError, match=sentence):
        Decisions(**how)


def test_scores_of_other_categories_are_told():
    with pytest.raises(ParameterError, match="thresholds for 2 categories"):
        Decisions().grow(2).decide(SCORES)


def test_the_state_is_everything():
    decisions = Decisions(
        "single-label", [1.0, 1e30], default_threshold=-0.5, at_least=1, at_most=3,
        allow_none=True, abstain_below=0.5,
    )  # fmt: skip
    again = Decisions.from_state(*decisions.state())
    np.testing.assert_equal(again.state(), decisions.state())
    assert again.grow(3).thresholds.tolist() == [1.0, 1e30, -0.5]


@pytest.mark.parametrize(
    "change",
    [
        {"mode": "x"},
        {"mode": None},
        {"at_least": 2.5},
        {"at_most": 0},
        {"at_most": ""},
        {"allow_none": 1},
        {"abstain_below": 7},
        {"calibration": []},
        {"calibration": {"kind": "sigmoid"}},
    ],
)
def test_a_state_of_nonsense_is_told(change):
    header, tensors = Decisions().grow(2).state()
    with pytest.raises(ModelError):
        Decisions.from_state({**header, **change}, tensors)
    with pytest.raises(ModelError):
        Decisions.from_state(header, {"thresholds": np.zeros((2, 2))})


# Thresholds ---------------------------------------------------------------------------------------

OBJECTIVES = [
    Objective(kind, value)
    for kind, values in {
        "f_beta": (0.5, 1, 2),
        "precision": (0.5, 0.7, 0.95, 1),
        "recall": (0.3, 0.7, 0.9, 1),
        "cost": (0.25, 1, 5),
    }.items()
    for value in values
]
rankings = st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=11).filter(
    lambda ranking: any(belongs for _, belongs in ranking)
)


@pytest.mark.parametrize("objective", OBJECTIVES, ids=str)
@given(ranking=rankings)
def test_the_best_cut_is_the_best_of_all(objective, ranking):
    scores, belongs = zip(*ranking, strict=True)
    own = [score for score, belonging in ranking if belonging]
    cuts = CutPoints.of(np.sort(scores), np.array(own))
    assert objective.best_cut(cuts) == naive.best_taken(scores, belongs, *objective)


def noisy(n=2000, rates=(0.3, 0.1, 0.003), seed=0):
    """Scores whose right threshold is -1, and labels; the last category has a handful."""
    rng = np.random.default_rng(seed)
    labels = rng.random((n, len(rates))) < rates
    labels[:3] = True
    return (rng.normal(size=labels.shape) * 0.7 + 2.0 * labels - 2.0).astype(np.float32), labels


@pytest.mark.parametrize("objective", OBJECTIVES, ids=str)
def test_thresholds_are_finite_and_take_what_is_best(objective):
    scores, labels = noisy(300)
    thresholds, pooled = learn_thresholds(scores, labels, objective, shrinkage=0)
    assert np.isfinite([*thresholds, pooled]).all()
    for c, threshold in enumerate(thresholds):
        expected = naive.best_taken(scores[:, c].tolist(), labels[:, c].tolist(), *objective)
        assert np.count_nonzero(scores[:, c] > threshold) == expected
    expected = naive.best_taken(scores.ravel().tolist(), labels.ravel().tolist(), *objective)
    assert np.count_nonzero(scores > pooled) == expected


def test_few_positives_lean_on_the_other_categories():
    scores, labels = noisy()
    own, pooled = learn_thresholds(scores, labels, shrinkage=0)
    leaning, _ = learn_thresholds(scores, labels, shrinkage=3)
    n = labels.sum(axis=0)
    np.testing.assert_allclose(leaning, (n * own + 3 * pooled) / (n + 3))


def test_leaning_thresholds_are_better_on_new_documents():
    """Forty categories of a few positives each: their own best thresholds are mostly chance."""
    rates = [0.0005] * 40
    learned, measured = noisy(rates=rates, seed=1), noisy(rates=rates, seed=2)
    f1 = {}
    for shrinkage in (0, 3):
        thresholds, _ = learn_thresholds(*learned, shrinkage=shrinkage)
        evaluation = evaluate(measured[0], measured[1], decisions=measured[0] > thresholds)
        f1[shrinkage] = evaluation.micro["f1"]
    assert f1[3] > f1[0] + 0.02


def test_a_threshold_that_hardly_finds_anything_is_not_believed():
    """The one positive of a category ranks 1,400th: its own best F1 is that of 1,400 wrong ones."""
    scores, labels = noisy(2000, (0.3, 0.0))
    labels[:, 1] = False
    labels[np.argsort(-scores[:, 1])[1399], 1] = True
    thresholds, pooled = learn_thresholds(scores, labels)
    assert thresholds[1] == pooled
    assert np.count_nonzero(scores[:, 1] > thresholds[1]) < 500


def test_offsets_right_a_category_that_is_always_too_strong():
    rng = np.random.default_rng(0)
    right = rng.integers(0, 4, 2000)
    labels = np.eye(4, dtype=bool)[right]
    scores = rng.normal(size=(2000, 4)) + 3 * labels + [1.5, 0, 0, 0]
    half = np.arange(2000) < 1000
    offsets = learn_offsets(scores[half], labels[half])
    assert offsets.mean() == pytest.approx(0) and offsets.argmax() == 0
    before, after = (
        np.mean(margins[~half].argmax(axis=1) == right[~half])
        for margins in (scores, scores - offsets)
    )
    assert after > before + 0.02
    np.testing.assert_array_equal(learn_offsets(10 * labels, labels), np.zeros(4))


# What is adopted ----------------------------------------------------------------------------------


def tuned(scores, labels, objective="f1", mode="multi-label", **limits):
    """Tune decisions at zero on these scores."""
    rows = Labels.from_lists([np.flatnonzero(one).tolist() for one in labels], labels.shape[1])
    names = list(map(str, range(labels.shape[1])))
    decisions = Decisions(mode).grow(scores.shape[1])
    return tune_decisions(decisions, scores, rows, names, objective, **limits)


def two_scales(seed=0):
    """Return scores of large categories at -1, and of rare ones that mean nothing."""
    scores, labels = noisy(1500, (0.3, 0.1, 0.05), seed)
    rng = np.random.default_rng(seed)
    rare = np.zeros((1500, 12), bool)
    rare[rng.integers(0, 1500, 12), np.arange(12)] = True
    mean_nothing = 30 * rng.normal(size=rare.shape) - 100
    return np.hstack([scores, mean_nothing]).astype(np.float32), np.hstack([labels, rare])


@pytest.mark.parametrize(
    "objective", ["f1", "f0.5", "f2", "cost=1:5", "cost=1:1", "precision=0.9", "recall=0.9"]
)
@pytest.mark.parametrize("limits", [{}, {"at_least": 1}, {"at_most": 1}], ids=str)
def test_what_is_adopted_is_no_worse_than_what_was(objective, limits):
    for scores, labels in (two_scales(), noisy(600), noisy(60, (0.1, 0.05, 0.02))):
        decisions, tuning = tuned(scores, labels, objective, **limits)
        aim = Objective.parse(objective)
        at_zero = Decisions(**limits).grow(scores.shape[1]).decide(scores)
        before = evaluate(None, labels, decisions=at_zero).contingency
        assert not aim.is_worse(tuning.after.contingency, before)
        if tuning.adopted == "none":
            assert not decisions.thresholds.any()
        if tuning.adopted == "one for all":
            assert len(set(decisions.thresholds)) == 1


def test_worthless_thresholds_of_rare_categories_are_not_adopted():
    scores, labels = two_scales()
    decisions, tuning = tuned(scores, labels)
    assert tuning.adopted == "per category"
    assert tuning.after.micro["f1"] > tuning.before.micro["f1"] + 0.1
    assert (decisions.thresholds[:3] < -0.3).all()
    assert np.count_nonzero(decisions.decide(scores)[:, 3:]) < 30


def test_thresholds_of_chance_are_refused_and_that_is_said():
    """Scores at their right threshold of zero: what is learned from few documents is worse."""
    scores, labels = noisy(40, (0.5, 0.5, 0.5), seed=3)
    scores = scores + 1
    decisions, tuning = tuned(scores, labels)
    assert tuning.adopted == "none" and not decisions.thresholds.any()
    assert "none were adopted" in str(tuning) and tuning.to_dict()["adopted"] == "none"


def test_one_threshold_for_all_where_own_ones_are_worse():
    """All categories at one threshold, with few positives each."""
    scores, labels = noisy(200, (0.02,) * 6, seed=5)
    decisions, tuning = tuned(scores, labels)
    assert tuning.adopted == "one for all"
    assert len(set(decisions.thresholds)) == 1 and decisions.thresholds[0] < -0.2
    assert "one threshold for all" in str(tuning)


def test_of_one_label_only_offsets_that_help_are_adopted():
    rng = np.random.default_rng(0)
    labels = np.eye(4, dtype=bool)[rng.integers(0, 4, 1000)]
    scores = rng.normal(size=(1000, 4)) + 3 * labels
    decisions, tuning = tuned(scores, labels, mode="single-label")
    assert tuning.adopted == "one for all" and "changes no decision" in str(tuning)
    decisions, tuning = tuned(scores + np.array([1.5, 0, 0, 0]), labels, mode="single-label")
    assert tuning.adopted == "per category" and decisions.thresholds.argmax() == 0
    assert tuning.after.micro["f1"] > tuning.before.micro["f1"] + 0.02
    decisions, tuning = tuned(scores, labels, "recall=0.9", mode="single-label")
    assert "changes no decision" in str(tuning)


def test_the_error_of_probabilities_is_measured_on_others():
    scores, labels = noisy(60, (0.3, 0.1, 0.1))
    _, tuning = tuned(scores, labels, None, calibration="isotonic")
    on_the_same = Calibration.fit(scores, labels, "isotonic").probabilities(scores)
    flattering = reliability_curve(on_the_same, labels, above=0.05).expected_error
    assert tuning.calibration_error > flattering
    assert f"off by {tuning.calibration_error:.3f}" in str(tuning)


def test_a_category_without_positives_has_the_pooled_threshold():
    scores, labels = noisy(200, (0.3, 0.2))
    labels[:, 1] = False
    thresholds, pooled = learn_thresholds(scores, labels)
    assert thresholds[1] == pooled != thresholds[0]
    assert learn_thresholds(scores, np.zeros_like(labels)) == (pytest.approx([0, 0]), 0)


def test_what_was_wanted_is_reached_on_new_documents():
    learned, measured = noisy(20_000, (0.3, 0.1), seed=1), noisy(20_000, (0.3, 0.1), seed=2)
    for measure, wanted in [("precision", 0.9), ("recall", 0.9)]:
        decisions = Decisions().tune(*learned, f"{measure}={wanted}")
        evaluation = evaluate(None, measured[1], decisions=decisions.decide(measured[0]))
        assert evaluation.per_category[measure] == pytest.approx(wanted, abs=0.03)


def test_one_threshold_decides_on_none_of_these():
    scores = np.array([[2.0, 1.0], [0.1, 1.5], [-1.0, 0.5], [0.4, 0.2], [0.0, 0.3]])
    labels = np.array([[1, 0], [0, 1], [0, 1], [0, 0], [0, 0]])
    decisions = Decisions("single-label", allow_none=True).tune(scores, labels)
    assert decisions.thresholds == pytest.approx([0.45, 0.45])
    np.testing.assert_array_equal(decisions.decide(scores), labels)
    assert decisions.grow(3).thresholds[2] == pytest.approx(0.45)


@pytest.mark.parametrize(
    "text", ["", "f", "fx", "f0", "f-1", "f1=2", "g1", "precision", "precision=0", "precision=1.1",
             "precision=x", "recall=nan", "cost=1", "cost=0:1", "cost=1:0", "cost=1:2:3", "finf"]
)  # fmt: skip
def test_an_unknown_objective_is_told(text):
    with pytest.raises(ParameterError, match="must be f1, "):
        Objective.parse(text)


# Probabilities ----------------------------------------------------------------------------------


def test_the_sigmoid_is_the_one_of_least_log_loss():
    from scipy import optimize

    scores, labels = noisy(500, (0.3,))
    n = labels.sum()
    target = np.where(labels, (n + 1) / (n + 2), 1 / (500 - n + 2)).ravel()

    def loss(curve):
        x = curve[0] * scores.ravel().astype(float) + curve[1]
        return np.mean(np.logaddexp(0, x) - target * x)

    best = optimize.minimize(loss, [0.0, 0.0], tol=1e-12)
    curve = fit_sigmoid(scores.ravel(), labels.ravel())
    assert [curve.slope, curve.offset] == pytest.approx(best.x, rel=1e-3)
    assert loss([curve.slope, curve.offset]) <= best.fun + 1e-12


def test_a_category_moves_the_curve_of_all_as_far_as_its_documents_tell():
    """The move is the one of least log loss and squared distance from no move at all."""
    from scipy import optimize

    scores, labels = noisy(400, (0.3, 0.1))
    scores[:, 1] -= 1  # its own right threshold is another
    calibration = Calibration.fit(scores, labels)
    form, belongs = calibration.pooled, labels[:, 1]

    def log_odds(probabilities):
        return np.log(probabilities / (1 - probabilities))

    def loss(line):
        x = line[0] * log_odds(form(scores[:, 1])) + line[1]
        return np.sum(np.logaddexp(0, x) - belongs * x) + np.sum((line - [1, 0]) ** 2) / 2

    slope, offset = optimize.minimize(loss, [1.0, 0.0], tol=1e-10).x
    expected = 1 / (1 + np.exp(-slope * log_odds(form.probabilities) - offset))
    assert offset > 0.5
    np.testing.assert_allclose(calibration.curves[1].probabilities, expected, atol=1e-4)


def test_many_clear_pairs_do_not_spoil_the_probabilities_of_the_others():
    """Far below all thresholds the scores fall off by another law than a sigmoid's."""
    rng = np.random.default_rng(0)
    labels = rng.random((8000, 20)) < 0.06
    scores = np.where(
        labels, rng.normal(0, 1, labels.shape), -1.5 - rng.exponential(1, labels.shape)
    )
    half = np.arange(8000) < 4000
    own = fit_sigmoid(scores[half].ravel(), labels[half].ravel())
    learned = Calibration.fit(scores[half], labels[half])
    errors = [
        reliability_curve(chances, labels[~half], above=0.05).expected_error
        for chances in (own(scores[~half]), learned.probabilities(scores[~half]))
    ]
    assert errors[1] < 0.02 < 0.04 < errors[0]


@given(st.lists(st.booleans(), min_size=1, max_size=12))
def test_the_isotonic_curve_is_the_nearest_rising_one(belongs):
    scores = np.arange(len(belongs), dtype=float)[:, None]
    curve = Calibration.fit(scores, np.array(belongs)[:, None], "isotonic").pooled
    assert curve(scores.ravel()) == pytest.approx(naive.isotonic(belongs))


@given(st.lists(st.tuples(st.integers(-20, 20), st.booleans()), min_size=1, max_size=200))
def test_the_isotonic_curve_is_that_of_scikit_learn(documents):
    from sklearn import isotonic

    scores, belongs = (np.array(column) for column in zip(*documents, strict=True))
    curve = Calibration.fit(scores[:, None] / 8, belongs[:, None], "isotonic").pooled
    theirs = isotonic.IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    theirs.fit(scores / 8, belongs)
    line = np.linspace(-3, 3, 401)
    np.testing.assert_allclose(curve(line), theirs.predict(line), rtol=0, atol=1e-12)
    assert len(curve.scores) <= len(theirs.X_thresholds_)  # no knot that changes nothing


@pytest.mark.parametrize("kind", ["sigmoid", "isotonic"])
def test_probabilities_come_true_on_new_documents(kind):
    learned, measured = noisy(20_000, (0.3, 0.1, 0.01), 1), noisy(20_000, (0.3, 0.1, 0.01), 2)
    calibration = Calibration.fit(*learned, kind)
    curve = reliability_curve(calibration.probabilities(measured[0]), measured[1])
    assert curve.expected_error < 0.005
    assert np.abs(curve.predicted - curve.observed).max() < 0.08


@pytest.mark.parametrize("kind", ["sigmoid", "isotonic"])
@given(data=st.data())
def test_probabilities_rise_with_the_score_whatever_was_learned(kind, data):
    n = data.draw(st.integers(0, 12))
    numbers = st.lists(st.floats(-1e6, 1e6, width=32), min_size=2 * n, max_size=2 * n)
    flags = st.lists(st.booleans(), min_size=2 * n, max_size=2 * n)
    scores = np.array(data.draw(numbers), np.float32).reshape(n, 2)
    calibration = Calibration.fit(scores, np.array(data.draw(flags), bool).reshape(n, 2), kind)
    line = np.linspace(-2e6, 2e6, 101)
    probabilities = calibration.probabilities(np.stack([line, line], axis=1))
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    assert (np.diff(probabilities, axis=0) >= 0).all()


def test_the_reliability_curve_is_that_of_scikit_learn():
    from sklearn import calibration

    rng = np.random.default_rng(0)
    probabilities = rng.random((300, 2)) ** 2
    labels = rng.random((300, 2)) < probabilities
    curve = reliability_curve(probabilities, labels, n_bins=7)
    flat = labels.ravel(), probabilities.ravel()
    observed, predicted = calibration.calibration_curve(*flat, n_bins=7)
    assert curve.observed == pytest.approx(observed) and curve.predicted == pytest.approx(predicted)
    assert curve.n_pairs.sum() == 600
    in_doubt = reliability_curve(probabilities, labels, n_bins=7, above=0.2)
    assert in_doubt.n_pairs.sum() == np.count_nonzero(probabilities >= 0.2)
    assert np.isnan(reliability_curve(np.zeros((0, 2)), np.zeros((0, 2))).expected_error)


def test_the_sure_are_more_often_right():
    learned, measured = noisy(5000, seed=1), noisy(5000, seed=2)
    decisions = Decisions().tune(*learned).calibrate(*learned)
    confidence = decisions.confidence(measured[0])
    right = (decisions.decide(measured[0]) == measured[1]).all(axis=1)
    assert right[confidence > 0.9].mean() > 0.9 > right[confidence < 0.9].mean()
    decisions.abstain_below = 0.9
    decided = decisions.decide(measured[0])
    assert not decided[confidence < 0.9].any()
    assert decided[confidence >= 0.9].any()


def test_one_of_several_is_certain():
    scores, labels = noisy(500)
    decisions = Decisions("single-label").grow(3).calibrate(scores, labels)
    probabilities = decisions.probabilities(scores)
    assert probabilities.sum(axis=1) == pytest.approx(1)
    assert decisions.confidence(scores) == pytest.approx(
        probabilities[np.arange(500), scores.argmax(axis=1)]
    )
    decisions.allow_none = True
    far = np.full((1, 3), -9.0)
    assert not decisions.decide(far).any()
    assert decisions.confidence(far)[0] == pytest.approx(1 - decisions.probabilities(far).max())


def test_without_calibration_there_are_no_probabilities():
    with pytest.raises(ParameterError, match="call calibrate first"):
        Decisions(abstain_below=0.5).grow(3).decide(SCORES)
    with pytest.raises(ParameterError, match="'step'"):
        Calibration.fit(SCORES, SCORES > 0, "step")


@pytest.mark.parametrize("kind", ["sigmoid", "isotonic"])
def test_a_calibrated_state_goes_through_a_model_file(tmp_path, kind):
    scores, labels = noisy(200)
    decisions = Decisions().tune(scores, labels).calibrate(scores, labels, kind).grow(4)
    write_model(tmp_path / "m", *decisions.state())
    again = Decisions.from_state(*read_model(tmp_path / "m"))
    wider = np.column_stack([scores, scores[:, 0]])
    np.testing.assert_array_equal(again.probabilities(wider), decisions.probabilities(wider))
    np.testing.assert_array_equal(again.decide(wider), decisions.decide(wider))
    pooled = again.calibration.pooled
    np.testing.assert_array_equal(again.probabilities(wider)[:, 3], pooled(scores[:, 0]))


@pytest.mark.parametrize(
    ("name", "tensor"),
    [
        ("trust", np.array([0.5, 0.5, 2.0])),
        ("trust", np.array([0.5, 0.5])),
        ("slopes", np.zeros(3)),
        ("offsets", np.full(4, np.nan)),
        ("knot_counts", np.array([1, 0, 0, 0])),
        ("knot_counts", np.array([-1, 1, 0, 0])),
        ("knot_scores", np.zeros(1)),
    ],
)
def test_a_calibration_of_nonsense_is_told(name, tensor):
    header, tensors = Decisions().grow(3).calibrate(*noisy(50)).state()
    with pytest.raises(ModelError):
        Decisions.from_state(header, {**tensors, f"calibration.{name}": tensor})
