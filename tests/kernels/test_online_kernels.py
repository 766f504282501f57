"""The online kernels against their slow twins, to the last bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.svm import LinearSVC

from checks import bytes_of, documents, rows_of
from naive import online as naive
from thresher._kernels import arow as arow_kernels
from thresher._kernels import online as kernels
from thresher._kernels.rows import (
    NOT_FINITE,
    OUT_OF_RANGE,
    TWICE,
    ZEROS,
    has_duplicates,
    inspect_rows,
)
from thresher.errors import ParameterError
from thresher.examples import Examples
from thresher.learners.online import AROW, LEARNERS, ROMMA, LinearSVM, PassiveAggressive
from thresher.rows import Labels, Rows

FEW = settings(max_examples=25, deadline=None)
N_FEATURES, N_CATEGORIES = 7, 3

LINES = st.lists(
    st.tuples(
        st.dictionaries(
            st.integers(0, N_FEATURES - 1), st.sampled_from([0.0, 0.25, 1.0, 1.5, 3.0]), max_size=5
        ),
        st.sets(st.integers(0, N_CATEGORIES - 1)),
        st.sampled_from([1.0, 1.0, 1.0, 0.5, 2.0]),
    ),
    min_size=1,
    max_size=25,
)
AVERAGES = st.sampled_from([None, "successes", "examples"])


def arrays(lines):
    """The lines as the learners take them."""
    words = [list(one[0].items()) for one in lines]
    rows = Rows(
        np.cumsum([0, *map(len, words)]),
        np.array([f for one in words for f, _ in one], np.int32),
        np.array([x for one in words for _, x in one], np.float32),
        N_FEATURES,
    )
    labels = Labels.from_lists([sorted(one[1]) for one in lines], N_CATEGORIES)
    return rows, labels, np.array([one[2] for one in lines])


def stream(learner, rows, labels, weights):
    """The same documents as the twins take them, as strong as the learner sees them."""
    strengths, always_on = learner.strengths(rows, training=True)
    documents = []
    for i in range(rows.n_rows):
        entries = slice(*strengths.indptr[i : i + 2])
        pairs = zip(strengths.indices[entries] + 1, strengths.values[entries], strict=True)
        documents.append([(0, always_on[i]), *pairs])
    label_sets = [set(labels.indices[slice(*labels.indptr[i : i + 2])]) for i in range(rows.n_rows)]
    return naive.Stream(documents, label_sets, weights, learner._positive_weights())


def learn_both(learner, lines, twin):
    """Run the learner and its twin over the same documents, and compare all they hold."""
    rows, labels, weights = arrays(lines)
    learner.start(N_FEATURES, N_CATEGORIES, 3)
    copies = {name: array.copy() for name, array in learner._tables.items()}
    mistakes = learner.learn_rows(rows, labels, sample_weight=weights)
    documents = stream(learner, rows, labels, weights)
    for k in range(N_CATEGORIES):
        history = naive.History(learner.average, np.zeros(1 + N_FEATURES))
        assert twin(documents, k, copies, history) == mistakes[k]
        for name in copies:
            if name not in ("drift", "clock", "seen"):
                np.testing.assert_array_equal(learner._tables[name][:, k], copies[name][:, k])
        if learner.average is not None and history.count:
            mean = history.mean(copies["weights"][:, k])
            np.testing.assert_allclose(learner._scoring_weights()[:, k], mean, rtol=1e-5, atol=1e-6)


@FEW
@given(
    LINES,
    AVERAGES,
    st.sampled_from(["positive", "balanced", "modified-balanced"]),
    st.sampled_from([0.0, 0.3]),
    st.sampled_from([1.0, 2.5]),
    st.booleans(),
    st.sampled_from([1 / 16, 0.0]),
)
def test_winnow(lines, average, kind, margin, positive_weight, normalize, floor):
    learner = LEARNERS[f"{kind}-winnow"](
        average=average,
        margin=margin,
        positive_weight=positive_weight,
        normalize_strength=normalize,
        always_on=True,
        promotion=1.3,
    )
    low, high = np.array([1 - margin, 1 + margin], np.float32)
    if kind == "modified-balanced":
        learner.set_params(floor=floor)
    kind = kind.removesuffix("-balanced")

    def twin(documents, k, copies, history):
        factors = learner._factors()
        return naive.winnow(documents, k, copies, kind, low, high, *factors, history, floor)

    learn_both(learner, lines, twin)


@FEW
@given(
    LINES,
    AVERAGES,
    st.sampled_from(["perceptron", "presence", "relaxed", "PA", "PA-I", "PA-II"]),
    st.sampled_from([1.0, 2.5]),
    st.integers(0, 2**21 - 1),
    st.booleans(),
)
def test_additive(lines, average, kind, positive_weight, discarded, always_on_in_norm):
    rule = {"threshold": 0.25, "epsilon": 0.75, "gamma": 0.1, "aggressiveness": 0.5}
    if kind in ("perceptron", "presence"):
        rule |= {"promotion": 0.5, "demotion": 0.25}
        step = "presence" if kind == "presence" else "strength"
        learner = LEARNERS["perceptron"](
            promotion=0.5, demotion=0.25, threshold=0.25, margin=0.1, average=average, step=step
        )
        low, high = 0.25 - 0.1, 0.25 + 0.1
    else:
        rule["always_on_in_norm"] = always_on_in_norm
        learner = PassiveAggressive(variant=kind, average=average, **rule)
        low, high = 0.25 - 0.75, 0.25 + 0.75
    learner.set_params(positive_weight=positive_weight)
    mask = np.array([discarded >> bit & 1 for bit in range(21)], bool).reshape(7, 3)
    live = np.concatenate([np.ones((1, 3), bool), ~mask])
    start = learner.start

    def start_with_discarded(*shape):  # half of the time nothing is
        start(*shape)
        if discarded % 2:
            learner.discard_features(mask)
        return learner

    learner.start = start_with_discarded

    def twin(documents, k, copies, history):
        alive = live if discarded % 2 else np.ones_like(live)
        return naive.additive(documents, k, copies, kind, low, high, rule, alive, history)

    learn_both(learner, lines, twin)


def test_romma():
    n_compared = []

    @settings(FEW, derandomize=True)  # what is counted shall not depend on chance
    @given(LINES, AVERAGES, st.booleans(), st.sampled_from(["zero", "one"]), st.booleans())
    def equals_its_twin(lines, average, aggressive, initial, in_norm):
        learner = ROMMA(
            average=average, aggressive=aggressive, initial=initial, always_on_in_norm=in_norm
        )
        n_compared.append(assert_romma_equals_its_twin(learner, lines, rtol=1e-2))

    equals_its_twin()
    # In few categories only may rounding decide.
    assert len(n_compared) >= 25 and np.mean(n_compared) > 0.6 * N_CATEGORIES


def assert_romma_equals_its_twin(learner, lines, rtol):
    """Compare the categories in which rounding decides nothing; return how many those are."""
    rows, labels, weights = arrays(lines)
    learner.start(N_FEATURES, N_CATEGORIES)
    mistakes = learner.learn_rows(rows, labels, sample_weight=weights)
    documents = stream(learner, rows, labels, weights)
    compared = 0
    for k in range(N_CATEGORIES):
        history = naive.History(learner.average, np.zeros(1 + N_FEATURES))
        kind = learner.aggressive, learner.initial == "one", history, learner.always_on_in_norm
        wrong, last, clear = naive.romma(documents, k, 1 + N_FEATURES, *kind)
        if clear and wrong == mistakes[k]:
            expected = last if learner.average is None else history.mean(last)
            scale = max(1.0, np.abs(expected).max())
            scoring = learner._scoring_weights()[:, k]
            np.testing.assert_allclose(scoring, expected, rtol=rtol, atol=0.1 * rtol * scale)
            compared += 1
    return compared


@pytest.mark.parametrize("aggressive", [False, True])
@pytest.mark.parametrize("initial", ["zero", "one"])
@pytest.mark.parametrize("in_norm", [True, False])
def test_romma_makes_the_same_mistakes_on_ordinary_documents(aggressive, initial, in_norm):
    random = np.random.default_rng(5)
    X = random.random((300, N_FEATURES)).astype(np.float32)
    Y = X @ random.normal(size=(N_FEATURES, N_CATEGORIES)) > 0
    lines = [(dict(enumerate(x)), set(np.flatnonzero(y)), 1.0) for x, y in zip(X, Y, strict=True)]
    learner = ROMMA(aggressive=aggressive, initial=initial, always_on_in_norm=in_norm)
    assert assert_romma_equals_its_twin(learner, lines, rtol=1e-3) == N_CATEGORIES
    assert learner.mistakes_[0] > N_CATEGORIES


@FEW
@given(LINES, st.sampled_from([0.3, 0.5]), st.sampled_from([1.0, 2.5]))
def test_sleeping_experts(lines, threshold, positive_weight):
    learner = LEARNERS["sleeping-experts"](
        threshold=threshold, positive_weight=positive_weight, penalty=0.7
    )

    def twin(documents, k, copies, history):
        return naive.experts(documents, k, copies, threshold, 0.7)

    learn_both(learner, lines, twin)


@FEW
@given(LINES, AVERAGES, st.sampled_from([1.0, 2.5]))
def test_regret_winnow(lines, average, positive_weight):
    learner = LEARNERS["regret-winnow"](
        average=average, positive_weight=positive_weight, regret=0.8, margin=0.2
    )
    low, high = np.array([0.8, 1.2], np.float32)

    def twin(documents, k, copies, history):
        start = learner._start()
        return naive.regret(
            documents, k, copies, low, high, *learner._factors(), start, 0.8, history
        )

    learn_both(learner, lines, twin)


# ---- AROW and the linear SVM --------------------------------------------------------------------
# Of three categories, one mistaken alone is corrected by itself and two or more in whole runs: what
# hypothesis finds has both.

DISCARDED = st.integers(0, 2**21 - 1)  # half of the time nothing is


def discard(learner, discarded):
    """Let categories do without some features, from the start."""
    mask = np.array([discarded >> bit & 1 for bit in range(21)], bool).reshape(7, 3)
    start = learner.start

    def start_with_discarded(*shape):
        start(*shape)
        return learner.discard_features(mask) if discarded % 2 else learner

    learner.start = start_with_discarded


@FEW
@given(
    LINES,
    AVERAGES,
    st.sampled_from([0.0, 0.25]),
    st.sampled_from([0.5, 1.0, 30.0]),
    st.sampled_from([1.0, 2.5, [1.0, 2.0, 3.0]]),
    DISCARDED,
)
def test_arow(lines, average, threshold, regularization, positive_weight, discarded):
    learner = AROW(
        average=average,
        threshold=threshold,
        regularization=regularization,
        positive_weight=positive_weight,
    )
    discard(learner, discarded)

    def twin(documents, k, copies, history):
        return naive.arow(documents, k, copies, threshold, regularization, history)

    learn_both(learner, lines, twin)


def fit_both(learner, lines, twin):
    """Fit the learner and its twin, and compare what they hold and what documents added."""
    rows, labels, weights = arrays(lines)
    labels = labels._replace(weights=weights)
    examples = Examples.of(rows, labels)
    learner.start(N_FEATURES, N_CATEGORIES, 3)._begin_passes(examples, 1)
    copies = {name: learner._tables[name].copy() for name in ("weights", "variances")}
    entries = stream(learner, rows, labels, weights)
    added = np.zeros((len(lines), N_CATEGORIES), np.float32)
    backwards = np.arange(len(lines))[::-1]  # the last document has the first row
    with learner.tracking(backwards, N_CATEGORIES) as own:
        learner.fit_rows(examples)
    by_category = [twin(entries, k, copies, added) for k in range(N_CATEGORIES)]
    assert learner.mistakes_ == np.sum(by_category, axis=0).tolist()
    for name, array in copies.items():
        np.testing.assert_array_equal(learner._tables[name], array, err_msg=name)
    np.testing.assert_array_equal(own[backwards], added)
    return learner


@FEW
@given(LINES, st.sampled_from(["labels", "flat"]), st.sampled_from([1.0, 2.5]), DISCARDED)
def test_arow_fits(lines, prior, positive_weight, discarded):
    learner = AROW(prior=prior, positive_weight=positive_weight, shuffle=False, max_iter=2)
    if prior == "flat":  # variances from labels know of no discarded features
        discard(learner, discarded)

    def twin(entries, k, copies, added):
        history = naive.History(None, np.zeros(1 + N_FEATURES))
        passes = range(learner.n_passes_)
        return [naive.arow(entries, k, copies, 0, 1, history, added) for _ in passes]

    fit_both(learner, lines, twin)


@FEW
@given(
    LINES,
    st.sampled_from(["labels", "flat"]),
    st.sampled_from([0.1, 1.0, 8.0]),
    st.sampled_from([1.0, 2.5]),
    st.sampled_from([0.5, 3.0]),
)
def test_linear_svm(lines, prior, cost, positive_weight, regularization):
    learner = LinearSVM(prior=prior, C=cost, regularization=regularization, shuffle=False)
    learner.set_params(positive_weight=positive_weight, max_iter=3)

    def twin(entries, k, copies, added):
        alpha, passes = np.zeros(len(lines), np.float32), range(learner.n_passes_)
        short = [naive.dual_descent(entries, k, copies, alpha, cost, added) for _ in passes]
        naive.support(entries, k, copies, alpha, regularization)
        return short

    fit_both(learner, lines, twin)


@FEW
@given(LINES, st.sampled_from([AROW(), LinearSVM()]))
def test_variances_start_from_labels(lines, learner):
    rows, labels, weights = arrays(lines)
    learner = clone(learner).start(N_FEATURES, N_CATEGORIES)
    learner._begin_passes(Examples.of(rows, labels._replace(weights=weights)), 1)
    entries = stream(learner, rows, labels, weights)
    rule = {"exponent": 1, "floor": 0.2} if type(learner) is AROW else {"exponent": 2, "floor": 0.5}
    for k in range(N_CATEGORIES):
        expected = naive.starting_variances(entries, k, 1 + N_FEATURES, **rule)
        np.testing.assert_allclose(learner._tables["variances"][:, k], expected, rtol=1e-5)


def test_common_and_rare_features_start_by_one_rule():
    """What features without a document of the category get is kept by frequency, up to a number."""
    random = np.random.default_rng(0)
    X = random.random((400, N_FEATURES)) < np.linspace(0.02, 0.98, N_FEATURES)
    lines = [(dict.fromkeys(np.flatnonzero(x).tolist(), 1.0), {int(x[3])}, 1.0) for x in X]
    rows, labels, weights = arrays(lines)
    learner = AROW().start(N_FEATURES, N_CATEGORIES)
    learner._begin_passes(Examples.of(rows, labels), 1)
    entries = stream(learner, rows, labels, weights)
    assert X.sum(0).max() > arow_kernels.FREQUENCIES_CACHED > X.sum(0).min()
    for k in range(N_CATEGORIES):
        expected = naive.starting_variances(entries, k, 1 + N_FEATURES, 1, 0.2)
        np.testing.assert_allclose(learner._tables["variances"][:, k], expected, rtol=1e-5)


@pytest.mark.parametrize("cost", [0.1, 1.0])
def test_the_linear_svm_is_scikit_learns(cost):
    X, y = documents()
    y[::7] = (y[::7] + 1) % 3  # so that no line divides them
    theirs = LinearSVC(C=cost, intercept_scaling=1.0, tol=1e-8, max_iter=100_000).fit(X, y)
    ours = LinearSVM(prior="flat", C=cost, always_on=1.0, max_iter=500).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-2)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-2)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-2)


@pytest.mark.parametrize("learner", [AROW(), AROW(prior="flat", always_on=0.0), LinearSVM()])
def test_categories_in_company_are_what_they_are_alone(learner):
    """Alone a category is corrected by itself; in company, where many are mistaken, in runs."""
    random = np.random.default_rng(0)
    X = random.poisson(0.5, (60, 20)).astype(np.float32)
    lists = [random.choice(40, random.integers(0, 12), replace=False).tolist() for _ in X]
    company = Examples.of(rows_of(X), Labels.from_lists(lists, 40))
    fitted = {n: clone(learner).fit_rows(company, n_jobs=n) for n in (1, 2, 3)}
    assert bytes_of(fitted[1]) == bytes_of(fitted[2]) == bytes_of(fitted[3])
    for k in (0, 17, 39):
        own = Labels.from_lists([[0] if k in one else [] for one in lists], 1)
        alone = clone(learner).fit_rows(Examples.of(rows_of(X), own))
        assert alone.n_passes_ == fitted[1].n_passes_  # else the last ones were without a mistake
        for name in ("weights", "variances"):
            np.testing.assert_array_equal(alone._tables[name][:, 0], fitted[1]._tables[name][:, k])


def test_what_is_learned_after_fit_is_learned_as_arow_does():
    X, y = documents()
    svm = LinearSVM(regularization=2.0).fit(X, y)
    arow = AROW(regularization=2.0, always_on=1.0).start(30, 3)
    for name in ("weights", "variances"):
        arow._tables[name][:] = svm._tables[name]
    for learner in (svm, arow):
        learner.learn_rows(rows_of(X), Labels.from_lists([[k] for k in (y + 1) % 3], 3))
    for name in ("weights", "variances"):
        np.testing.assert_array_equal(svm._tables[name], arow._tables[name])


@pytest.mark.parametrize("weight", [1e-300, 1e-45, 1e12])
def test_weights_beyond_single_precision_leave_the_linear_svm_finite(weight):
    X, y = documents()
    X, y, weights = np.vstack([X, 0 * X[:1]]), np.append(y, 0), np.append(np.ones(len(y)), weight)
    learner = LinearSVM(always_on=0.0).fit(X, y, sample_weight=weights)
    assert all(np.isfinite(table).all() for table in learner.state()[1].values())
    assert learner.score(X, y) > 0.9
    with pytest.raises(ParameterError, match=r"from 0 to 1e\+12"):
        learner.fit(X, y, sample_weight=np.append(weights[:-1], 1e30))


# ---- partial answers ----------------------------------------------------------------------------


def learn_what_is_known(learner, lines, known, is_fit=False):
    """Learn with partial answers, and hold each category to the answers that are about it."""
    rows, labels, weights = arrays(lines)

    def learned(chosen, matrix):
        one = clone(learner)
        part, truth = rows.take(chosen), labels.take(chosen)
        truth = truth._replace(known=matrix, weights=weights[chosen])
        if is_fit:
            return one.fit_rows(Examples.of(part, truth))
        one.start(N_FEATURES, N_CATEGORIES, 3)
        one.learn_rows(part, truth, sample_weight=weights[chosen])
        return one

    partial = learned(np.arange(len(lines)), known)
    for k in range(N_CATEGORIES):
        expected = learned(np.flatnonzero(known[:, k]), None)
        for name, array in partial._tables.items():
            if name != "seen":
                column = expected._tables[name][..., k]
                np.testing.assert_array_equal(array[..., k], column, err_msg=name)


AVERAGED = [one for one in LEARNERS.values() if "average" in one.parameters]


@pytest.mark.parametrize(
    "learner",
    [
        *(one() for one in LEARNERS.values()),
        *(one(average=average) for one in AVERAGED for average in ("successes", "examples")),
    ],
    ids=repr,
)
@settings(FEW, max_examples=15)
@given(lines=LINES, known=st.integers(0, 2**75 - 1))
def test_categories_that_an_answer_is_not_about_are_untouched(learner, lines, known):
    bits = [known >> bit & 1 for bit in range(3 * len(lines))]
    learn_what_is_known(learner, lines, np.array(bits, bool).reshape(-1, 3))


@settings(FEW, max_examples=15)
@given(LINES, st.integers(0, 2**75 - 1))
def test_the_linear_svm_fits_what_is_known(lines, known):
    learner = LinearSVM(prior="flat", max_iter=1, shuffle=False)
    matrix = np.array([known >> bit & 1 for bit in range(3 * len(lines))], bool).reshape(-1, 3)
    if matrix.any(0).all():
        learn_what_is_known(learner, lines, matrix, is_fit=True)


def test_one_category_alone_leaves_unknown_answers_out():
    """One category has a loop of its own, in which a label that is not known is none."""
    rows, labels, _ = arrays([({0: 1.0}, {0}, 1.0), ({1: 1.0}, {0}, 1.0)])
    labels = labels._replace(n_categories=1, known=np.array([[True], [False]]))
    for name in LEARNERS:
        partial = LEARNERS[name]().start(N_FEATURES, 1, 3)
        expected = LEARNERS[name]().start(N_FEATURES, 1, 3)
        partial.learn_rows(rows, labels)
        expected.learn_rows(rows.take(np.array([0])), Labels.from_lists([[0]], 1))
        for table, array in partial._tables.items():
            if table != "seen":
                np.testing.assert_array_equal(
                    array, expected._tables[table], err_msg=f"{name} {table}"
                )


# ---- the compiled kernels are what they say -----------------------------------------------------

EPOCHS = {
    kernels: ["winnow_epoch", "additive_epoch", "romma_epoch", "experts_epoch", "regret_epoch"],
    arow_kernels: ["arow_epoch", "dual_epoch", "dual_variances"],
}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("average", [None, "successes"])
def test_compiled_equals_interpreted(name, average, monkeypatch):
    random = np.random.default_rng(3)
    lines = [
        (
            {int(f): float(random.integers(1, 4)) for f in random.integers(0, N_FEATURES, 3)},
            {int(k) for k in random.integers(0, N_CATEGORIES, 1)},
            float(random.choice([1.0, 2.0])),
        )
        for _ in range(60)
    ]
    rows, labels, weights = arrays(lines)

    def learned():
        learner = LEARNERS[name]()
        if "average" in learner.get_params():
            learner.set_params(average=average)
        learner.start(N_FEATURES, N_CATEGORIES, 3)
        if name == "linear-svm":
            learner.fit_rows(Examples.of(rows, labels._replace(weights=weights)))
        learner.learn_rows(rows, labels, sample_weight=weights)
        return learner.state()[1]

    compiled = learned()
    for module, epochs in EPOCHS.items():
        for epoch in epochs:
            function = getattr(module, epoch)
            monkeypatch.setattr(module, epoch, getattr(function, "py_func", function))
    interpreted = learned()
    for key, array in compiled.items():
        np.testing.assert_array_equal(array, interpreted[key], err_msg=key)


@pytest.mark.parametrize(
    "learner",
    [LEARNERS["perceptron"](), LEARNERS["perceptron"](step="presence"), PassiveAggressive()],
    ids=["perceptron", "presence", "passive-aggressive"],
)
def test_whole_runs_equal_single_corrections(learner):
    """Where many categories are mistaken the kernel adds whole runs; a mask forbids that."""
    random = np.random.default_rng(0)
    X = random.poisson(0.5, (50, 20)).astype(np.float32)
    rows = Rows(
        np.concatenate([[0], np.cumsum((X > 0).sum(1))]),
        np.nonzero(X)[1].astype(np.int32),
        X[X > 0],
        20,
    )
    labels = Labels.from_lists([random.choice(40, 12, replace=False) for _ in X], 40)
    runs, masked = clone(learner).start(20, 40, 8), clone(learner).start(20, 40, 8)
    masked.discard_features(np.zeros((20, 40), bool))
    for one in (runs, masked):
        one.learn_rows(rows, labels)
    np.testing.assert_array_equal(runs.effective_weights(), masked.effective_weights())


@pytest.mark.parametrize("kind", ["perceptron", "presence", "relaxed", "PA", "PA-I", "PA-II"])
def test_a_category_alone_equals_the_same_in_company(kind):
    """One category has a loop of its own."""
    random = np.random.default_rng(1)
    X = random.poisson(0.5, (200, N_FEATURES)).astype(np.float32)
    lines = [(dict(enumerate(x)), {int(x[0] > 0), int(x[1] > 1)}, 1.0 + x[2]) for x in X]
    rows, labels, weights = arrays(lines)
    own = Labels.from_lists([[0] if 1 in one[1] else [] for one in lines], 1)
    options = {"positive_weight": 2.0, "always_on": 0.5}
    step = "presence" if kind == "presence" else "strength"
    learner = LEARNERS["perceptron"](margin=0.3, step=step, **options)
    if kind not in ("perceptron", "presence"):
        learner = PassiveAggressive(variant=kind, **options)
    company, alone = clone(learner).start(N_FEATURES, 3, 3), clone(learner).start(N_FEATURES, 1, 3)
    mistakes = company.learn_rows(rows, labels, sample_weight=weights)
    assert 20 < alone.learn_rows(rows, own, sample_weight=weights)[0] == mistakes[1]
    for name in ("weights", "clock"):
        np.testing.assert_array_equal(alone._tables[name][..., 0], company._tables[name][..., 1])


@given(
    st.lists(st.lists(st.integers(0, 9), max_size=6), max_size=8),
    st.sampled_from([1.0, 0.0, np.nan, np.inf, -1.0]),
)
def test_rows_are_looked_over(rows, value):
    indptr = np.cumsum([0, *map(len, rows)])
    indices = np.array([column for row in rows for column in row], np.uint32)
    values = np.ones(len(indices), np.float32)
    values[len(values) // 2 :] = value
    flags = inspect_rows(indptr, indices, values, 9, np.zeros(10, np.int64))
    assert bool(flags & OUT_OF_RANGE) == bool((indices >= 9).any())
    assert bool(flags & NOT_FINITE) == (not np.isfinite(values).all())
    assert bool(flags & ZEROS) == bool((values == 0).any())
    if (indices < 9).all():
        assert bool(flags & TWICE) == naive.has_duplicates(indptr, indices)


@given(st.lists(st.lists(st.integers(0, 8), max_size=6), max_size=8))
def test_duplicates_are_found_without_sorting(rows):
    indptr = np.cumsum([0, *map(len, rows)])
    indices = np.array([column for row in rows for column in row], np.uint32)
    twice = naive.has_duplicates(indptr, indices)
    assert has_duplicates(indptr, indices, np.zeros(9, np.int64)) == twice
