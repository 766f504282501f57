"""Every learner through the battery; the batch learners, scikit-learn's, and the registry."""

import re
import subprocess
import sys
import types
import warnings
from importlib.metadata import EntryPoint
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import thresher.learners as learners
from checks import CHECKS, applies, documents, examples_of, labels_of, rows_of, several
from naive import batch as naive
from thresher.errors import ModelError, ParameterError
from thresher.examples import Examples
from thresher.learners import (
    LEARNERS,
    BoostedPerceptrons,
    Learner,
    LinearModel,
    MajorityClass,
    MultilayerPerceptron,
    NaiveBayes,
    NearestNeighbors,
    Rocchio,
    ScikitLearner,
    StumpBoosting,
    import_learner,
    learner_class,
    make_learner,
    register,
)
from thresher.learners.capabilities import Online
from thresher.learners.online import (
    AROW,
    ROMMA,
    BalancedWinnow,
    LinearSVM,
    ModifiedBalancedWinnow,
    OnlineLearner,
    PassiveAggressive,
    Perceptron,
    RegretWinnow,
    SleepingExperts,
)
from thresher.rows import Labels

# The two blocks of code that the documentation shows, as a reader would run them.
PAGE = (Path(__file__).parents[2] / "docs" / "own-learner.md").read_text(encoding="utf-8")
OWN = sys.modules["own_learner"] = types.ModuleType("own_learner")  # so that pickle knows it
with patch.dict(LEARNERS):  # other test modules are collected with the learners of Thresher alone
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.S):
        exec(block, OWN.__dict__)
Nearest, Saved = OWN.Nearest, OWN.Saved

# Documents here are not of length one, for which these learners' rate is meant.
RATES = {
    BoostedPerceptrons: {"learning_rate": 0.005, "max_iter": 6},
    MultilayerPerceptron: {"learning_rate": 0.005, "max_iter": 40},
}
ALL = [one(**RATES.get(one, {})) for one in LEARNERS.values()]
VARIANTS = [
    *ALL,
    BoostedPerceptrons(vote="signs", learning_rate=0.005, max_iter=4),
    BoostedPerceptrons(resample=False, learning_rate=0.005, max_iter=4, momentum=0.0),
    MultilayerPerceptron(output="logistic", hidden=2, learning_rate=0.005, max_iter=50),
    MultilayerPerceptron(hidden=0, learning_rate=0.002, max_iter=50),
    BalancedWinnow(average="successes", discard="filter-range", discard_after=1),
    BalancedWinnow(always_on=True, normalize_strength=True, unseen="drop", positive_weight=2.0),
    ModifiedBalancedWinnow(average="examples", feature_budget=20),
    Perceptron(threshold=1.0, margin=0.1, initial_weight=None, always_on=False),
    Perceptron(average="examples", feature_budget=20),
    PassiveAggressive(variant="PA"),
    PassiveAggressive(variant="PA-II", average="successes"),
    PassiveAggressive(variant="relaxed", feature_budget=20, positive_weight=3.0),
    ROMMA(aggressive=True, average="successes"),
    ROMMA(initial="one", average="examples"),
    AROW(average="examples", prior="flat", threshold=0.5, regularization=5.0),
    AROW(average="successes", feature_budget=20, positive_weight=3.0),
    AROW(always_on=False, normalize_strength=True, unseen="drop"),
    LinearSVM(C=0.1, prior="flat", max_iter=10),
    LinearSVM(C=5.0, positive_weight=2.0, regularization=0.5, feature_budget=20),
    RegretWinnow(average="examples"),
    SleepingExperts(always_on=True, positive_weight=2.0),
    NaiveBayes(event_model="bernoulli", smoothing=0.5),
    Rocchio(cut=False),
    NearestNeighbors(n_neighbors=5, weights="uniform", metric="euclidean"),
    NearestNeighbors(n_neighbors=9, metric="value-difference"),
    StumpBoosting(variant="MR", n_thresholds=10),
    StumpBoosting(early_stopping=True, validation_fraction=0.5, max_iter=20, n_thresholds=30),
    ScikitLearner(LinearSVC(random_state=0)),
    Saved(),
]

# Features are discarded at the end of a pass, and every piece is one.
BOUND_TO_PASSES = ["check_online_pieces_equal_one_pass"]


def pairs():
    for learner in VARIANTS:
        discards = getattr(learner, "feature_budget", None) or getattr(learner, "discard", None)
        for check in CHECKS:
            if applies(check, learner) and not (discards and check.__name__ in BOUND_TO_PASSES):
                name = f"{learner!r}-{check.__name__.removeprefix('check_')}"
                yield pytest.param(learner, check, id=name)


@pytest.mark.parametrize(("learner", "check"), list(pairs()))
def test_every_learner(learner, check):
    check(learner)


# ---- scikit-learn's own battery, once per class -------------------------------------------------

WEIGHTS = "a document of weight 2 is corrected once and twice as much, not met twice"
OVERLAP = "the last hypothesis swings where classes overlap; averaging is what helps"
SWINGS = "liblinear stops within a tolerance, which weights and copies reach elsewhere"


SATURATED = "scores still differ where their probabilities are both rounded to one"
DIRECTION = "documents are compared by their direction, and the classes differ by length"
WORDLESS = "every document gets the most frequent class, whatever it says"
PRESENCE = "measurements are always there; tests/test_boosting.py has them measured by thresholds"

VOTES = "no votes, or all, are probabilities of exactly 0 and 1, which this check does not allow"

EQUIVALENCE = [
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
]
LENGTH = "documents a hundred long at this rate are refused, with the remedy"
DRAWN = "which documents are drawn, or met first, depends on their numbers"
AFAR = ["check_fit_idempotent", "check_fit_check_is_fitted", "check_n_features_in"]
REASONS = {
    BoostedPerceptrons: dict.fromkeys(EQUIVALENCE, DRAWN) | dict.fromkeys(AFAR, LENGTH),
    MultilayerPerceptron: dict.fromkeys(EQUIVALENCE, DRAWN),
    OnlineLearner: dict.fromkeys(EQUIVALENCE, WEIGHTS),
    ScikitLearner: dict.fromkeys(EQUIVALENCE, SWINGS),
    ROMMA: {"check_classifiers_train": OVERLAP},
    NaiveBayes: {"check_decision_proba_consistency": SATURATED},
    NearestNeighbors: {"check_classifiers_multilabel_output_format_predict_proba": VOTES},
    Rocchio: {"check_classifiers_train": DIRECTION},
    MajorityClass: {"check_classifiers_train": WORDLESS},
    StumpBoosting: {
        "check_classifiers_train": PRESENCE,
        "check_non_transformer_estimators_n_iter": PRESENCE,
    },
}


def expected_to_fail(estimator):
    kinds = [kind for kind in REASONS if isinstance(estimator, kind)]
    return {check: reason for kind in kinds for check, reason in REASONS[kind].items()}


with warnings.catch_warnings():  # that we do not inherit from BaseEstimator is intended
    warnings.simplefilter("ignore", UserWarning)
    battery = parametrize_with_checks(
        [
            *ALL,
            ScikitLearner(LinearSVC(random_state=0)),
        ],
        expected_failed_checks=expected_to_fail,
    )


@battery
def test_scikit_learn(estimator, check):
    check(estimator)


def test_works_with_scikit_learns_tools():
    X, y = documents()
    pipeline = make_pipeline(MaxAbsScaler(), PassiveAggressive())
    assert cross_val_score(pipeline, csr_array(X), y, cv=3).mean() > 0.9
    search = GridSearchCV(NaiveBayes(), {"smoothing": [0.1, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    inner = GridSearchCV(
        ScikitLearner(LinearSVC(random_state=0)), {"estimator__C": [0.1, 1.0]}, cv=3
    ).fit(X, y)
    assert inner.best_estimator_.estimator.C in (0.1, 1.0)


# ---- naive Bayes --------------------------------------------------------------------------------

COUNTS = st.lists(
    st.tuples(
        st.lists(st.integers(0, 3), min_size=4, max_size=4),
        st.sets(st.integers(0, 2), max_size=2),
        st.sampled_from([1.0, 1.0, 0.5, 2.0]),
    ),
    min_size=2,
    max_size=12,
)


def taken_apart(lines):
    X = np.array([line[0] for line in lines], np.float32)
    lists = [sorted(line[1]) for line in lines]
    weights = np.array([line[2] for line in lines])
    return X, lists, weights, Labels.from_lists(lists, 3)._replace(weights=weights)


@settings(max_examples=40, deadline=None)
@given(COUNTS, st.sampled_from(["multinomial", "bernoulli"]), st.sampled_from([0.3, 1.0]))
def test_naive_bayes_equals_its_twin(lines, model, alpha):
    X, lists, weights, labels = taken_apart(lines)
    learner = NaiveBayes(event_model=model, smoothing=alpha)
    learner.fit_rows(Examples.of(rows_of(X), labels))
    compete = all(len(one) == 1 for one in lists)
    expected = [naive.log_odds(model, X, lists, weights, alpha, compete, x, 3) for x in X]
    np.testing.assert_allclose(learner.score_rows(rows_of(X)), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (NaiveBayes(smoothing=0.5), MultinomialNB(alpha=0.5)),
        (NaiveBayes(event_model="bernoulli"), BernoulliNB()),
    ],
    ids=["multinomial", "bernoulli"],
)
def test_naive_bayes_has_scikit_learns_probabilities(ours, theirs):
    X, y = documents()
    for classes in (y, y == 1):
        ours.fit(X, classes)
        theirs.fit(X, classes)
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    ours.fit(*several())
    for k in range(3):  # one two-class model each
        expected = theirs.fit(X, several()[1][:, k]).predict_proba(X)[:, 1]
        np.testing.assert_allclose(ours.predict_proba(X)[:, k], expected, atol=1e-6)


def test_naive_bayes_by_hand():
    X = np.array([[2, 0], [0, 1]], np.float32)
    learner = NaiveBayes().fit_rows(Examples.of(rows_of(X), labels_of([0, 1], 2)))
    # P(a|0) = 3/4, P(b|0) = 1/4; P(a|1) = 1/3, P(b|1) = 2/3; the priors are equal.
    expected = [2 * np.log(9 / 4), np.log(3 / 8)]
    np.testing.assert_allclose(learner.score_rows(rows_of(X))[:, 0], expected, rtol=1e-6)
    parts, rest = learner.contributions(rows_of(X), 0)
    np.testing.assert_allclose(parts, expected, rtol=1e-6)
    np.testing.assert_allclose(rest, [0, 0], atol=1e-6)


def test_naive_bayes_merges_exactly():
    X, y = documents()
    merged = NaiveBayes().fit_rows(examples_of(X, y)).merge_categories(2, 1)
    renamed = NaiveBayes().fit_rows(Examples.of(rows_of(X), labels_of(np.minimum(y, 1), 2)))
    np.testing.assert_array_equal(merged.score_rows(rows_of(X)), renamed.score_rows(rows_of(X)))


# ---- Rocchio ------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(COUNTS, st.sampled_from([0.0, 4.0]), st.booleans())
def test_rocchio_equals_its_twin(lines, gamma, cut):
    X, lists, weights, labels = taken_apart(lines)
    scores = (
        Rocchio(gamma=gamma, cut=cut)
        .fit_rows(Examples.of(rows_of(X), labels))
        .score_rows(rows_of(X))
    )
    for k in range(3):
        if any(k in one for one in lists):
            expected = [naive.rocchio(X, lists, weights, 16, gamma, cut, x, k) for x in X]
            np.testing.assert_allclose(scores[:, k], expected, rtol=1e-4, atol=1e-5)
        else:
            assert (scores[:, k] == -1).all()


def test_rocchio_by_hand():
    X = np.array([[3, 4], [0, 2]], np.float32)
    learner = Rocchio(beta=2, gamma=1).fit_rows(Examples.of(rows_of(X), labels_of([0, 1], 2)))
    # The documents are (0.6, 0.8) and (0, 1), the prototypes (1.2, 0.6) and, cut, (0, 1.2).
    np.testing.assert_allclose(learner.linear_weights().T, [[2, 1] / np.sqrt(5), [0, 1]], rtol=1e-6)
    cosines = np.array([[2 / np.sqrt(5), 0.8], [1 / np.sqrt(5), 1]])
    np.testing.assert_allclose(learner.score_rows(rows_of(X)), cosines - cosines.mean(0), rtol=1e-5)


def test_rocchio_merges_exactly():
    X, y = documents()
    merged = Rocchio().fit_rows(examples_of(X, y)).merge_categories(2, 1)
    renamed = Rocchio().fit_rows(Examples.of(rows_of(X), labels_of(np.minimum(y, 1), 2)))
    np.testing.assert_allclose(
        merged.score_rows(rows_of(X)), renamed.score_rows(rows_of(X)), rtol=1e-5, atol=1e-6
    )


# ---- the majority class -------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(COUNTS)
def test_majority_class_equals_its_twin(lines):
    X, lists, weights, labels = taken_apart(lines)
    learner = MajorityClass().fit_rows(Examples.of(rows_of(X), labels))
    expected = [naive.prior_log_odds(lists, weights, k) for k in range(3)]
    scores = learner.score_rows(rows_of(X))
    np.testing.assert_allclose(scores, [expected] * len(X), rtol=1e-5, atol=1e-6)
    probable = learner.probabilities(scores)
    np.testing.assert_allclose(probable, 1 / (1 + np.exp(-scores.astype(float))), rtol=1e-6)


def test_majority_class_by_hand():
    X = np.array([[1, 0], [0, 1], [0, 1], [1, 1]], np.float32)
    learner = MajorityClass().fit(X, ["grain", "oil", "oil", "oil"])
    np.testing.assert_allclose(learner.decision_function(X), [np.log(3)] * 4, rtol=1e-6)
    assert learner.predict(np.array([[5, 0]])).tolist() == ["oil"]
    learner.partial_fit(X, ["grain"] * 4)  # five of eight
    assert learner.predict(X[1:2]).tolist() == ["grain"]
    several = MajorityClass().fit(X, [["a", "b"], ["a"], ["a"], ["c"]])
    assert several.predict(X[:1]).tolist() == [[1, 0, 0]]  # only "a" is in more than half
    merged = MajorityClass().fit_rows(Examples.of(rows_of(X), labels_of([0, 1, 2, 2])))
    np.testing.assert_allclose(
        merged.merge_categories(0, 2).score_rows(rows_of(X[:1])), [[-np.log(3), np.log(3)]]
    )


def test_majority_class_of_one_class_or_of_nothing():
    X = np.ones((3, 2), np.float32)
    assert MajorityClass().fit(X, ["oil"] * 3).predict(X).tolist() == ["oil"] * 3
    assert MajorityClass().start(2, 2).score_rows(rows_of(X)).tolist() == [[0, 0]] * 3


# ---- classifiers of scikit-learn ----------------------------------------------------------------

LINEAR = [LinearSVC(random_state=0), LogisticRegression(), SGDClassifier(random_state=0),
          RidgeClassifier()]  # fmt: skip
OTHERS = [KNeighborsClassifier(3), DecisionTreeClassifier(random_state=0), SVC(), NearestCentroid(),
          MultinomialNB(), SVC(kernel="linear")]  # fmt: skip


@pytest.mark.parametrize("classifier", [*LINEAR, *OTHERS], ids=repr)
def test_classifiers_of_scikit_learn(classifier):
    X, y = documents()
    for classes in (y, y == 1):
        learner = make_learner(classifier).fit(X, classes)
        agree = learner.predict(X) == classifier.fit(csr_array(X), classes).predict(csr_array(X))
        assert agree.mean() > 0.98
        parts, rest = learner.contributions(rows_of(X[:5]), 0)
        documents_of_parts = np.repeat(np.arange(5), np.diff(rows_of(X[:5]).indptr))
        total = np.bincount(documents_of_parts, parts, 5) + rest
        scores = learner.score_rows(rows_of(X[:5]))[:, 0]
        np.testing.assert_allclose(total, scores, rtol=1e-4, atol=1e-4)
    X, indicator = several()
    several_labels = make_learner(classifier).fit(X, indicator).predict(X)
    for k in range(3):
        alone = classifier.fit(csr_array(X), indicator[:, k]).predict(csr_array(X))
        assert (several_labels[:, k] == alone).mean() > 0.98


@pytest.mark.parametrize("classifier", LINEAR, ids=repr)
@pytest.mark.parametrize("answers", [documents()[1], several()[1]], ids=["one", "several"])
def test_linear_classifiers_are_saved_as_weights(classifier, answers):
    X, _ = documents()
    learner = make_learner(classifier)
    learner.check_savable()
    header, tensors = learner.fit(X, answers).state()
    assert header["learner"] == "linear-model" and learner_class("linear-model") is LinearModel
    model = LinearModel.from_state(header, tensors)
    np.testing.assert_array_equal(model.score_rows(rows_of(X)), learner.score_rows(rows_of(X)))
    np.testing.assert_array_equal(model.linear_weights(), learner.linear_weights())
    with pytest.raises(ModelError, match="learns nothing"):
        model.fit(X, answers)


@pytest.mark.parametrize("classifier", OTHERS[:5], ids=repr)
def test_what_cannot_be_saved_is_refused_before_the_work(classifier):
    learner = make_learner(classifier)
    words = f"{type(classifier).__name__} cannot be saved: only the weights of linear"
    with pytest.raises(ModelError, match=words):
        learner.check_savable()
    with pytest.raises(ModelError, match=words):
        learner.fit(*documents()).state()
    with pytest.raises(ModelError, match="Nearest cannot be saved: it does not say its state"):
        Nearest().check_savable()
    # A toy that is too small cannot tell.
    make_learner(CalibratedClassifierCV(MultinomialNB(), cv=15)).check_savable()


def test_weights_for_a_classifier_that_takes_none():
    X, y = documents()
    with pytest.raises(ParameterError, match="KNeighborsClassifier takes no sample_weight"):
        make_learner(KNeighborsClassifier()).fit(X, y, sample_weight=np.full(len(y), 2.0))
    with pytest.raises(ParameterError, match="must be a classifier of scikit-learn"):
        ScikitLearner("svm").fit(X, y)


# ---- the registry -------------------------------------------------------------------------------


def test_learners_are_had_by_name_by_example_and_by_class():
    assert make_learner("naive-bayes", smoothing=0.5).smoothing == 0.5
    given = Perceptron(margin=0.5)
    like = make_learner(given, promotion=2.0)
    assert like is not given and like.margin == 0.5 and (like.promotion, given.promotion) == (2, 1)
    assert isinstance(make_learner(Rocchio), Rocchio)
    assert make_learner(LinearSVC, C=3.0).estimator.C == 3.0
    assert make_learner(SGDClassifier()).name == "scikit-learn"
    with patch.dict(LEARNERS, nearest=Nearest):
        assert make_learner("nearest", least=0.25).least == 0.25
    with pytest.raises(ParameterError, match="Did you mean 'naive-bayes'"):
        make_learner("naive_bayes")
    with pytest.raises(ParameterError, match="is no learner; give a name"):
        make_learner(3)


def test_names_are_taken_once():
    class Late(Learner):
        name = "perceptron"

    class Nameless(Learner):
        pass

    with pytest.raises(ParameterError, match="is taken by Perceptron; give Late another"):
        register(Late)
    with pytest.raises(ParameterError, match="Nameless has no name"):
        register(Nameless)
    with pytest.raises(ParameterError, match="is no subclass"):
        register(LinearSVC)
    assert register(Nearest) is Nearest  # the same again
    assert LEARNERS["perceptron"] is Perceptron


def test_learners_come_from_other_packages(monkeypatch):
    asked = []

    def entries(group):
        asked.append(group)
        return [EntryPoint("remote", "remote_package:Remote", group)]

    class Remote(Learner):
        name = "remote"

    monkeypatch.setattr("importlib.metadata.entry_points", entries)
    monkeypatch.setattr(EntryPoint, "load", lambda self: Remote)
    known = dict(LEARNERS)  # a copy, lest the others meet it too
    monkeypatch.setattr(learners, "_learners", lambda: known)
    make_learner("perceptron")
    assert not asked  # nobody looks around for what is here
    assert isinstance(make_learner("remote"), Remote)
    assert asked == ["thresher.learners"] and "remote" not in LEARNERS


def test_classes_for_models():
    assert learner_class("romma") is ROMMA
    assert learner_class("saved-nearest", [Saved]) is Saved
    with pytest.raises(ModelError, match="'saved-nearest', which is not known here"):
        learner_class("saved-nearest")
    assert import_learner("sklearn.svm:LinearSVC") is LinearSVC
    for place in ("sklearn.svm:Nothing", "no_such_module:Class", "sklearn.svm", ":x"):
        with pytest.raises(ParameterError, match="There is no learner"):
            import_learner(place)
    with pytest.raises(ParameterError, match="is no class"):
        import_learner("sklearn.svm:__doc__")


WITHOUT = """
import sys
sys.modules |= dict.fromkeys(["sklearn", "scipy", "scipy.sparse"])  # as if they were not installed
import numpy as np
from thresher.errors import MissingExtra
from thresher.examples import Examples
from thresher.learners import LEARNERS, make_learner
from thresher.rows import Labels, Rows
rows = Rows(np.array([0, 1, 2]), np.array([0, 1], np.int32), np.ones(2, np.float32), 2)
examples = Examples.of(rows, Labels.from_lists([[0], [1]], 2))
for name, learner in LEARNERS.items():
    fitted = make_learner(name).fit_rows(examples)
    again = learner.from_state(*fitted.state())
    assert (again.score_rows(rows) == fitted.score_rows(rows)).all()
    fitted.contributions(rows, 0)
try:
    make_learner("rocchio").fit([[1.0]], [1])
except MissingExtra as error:
    sys.exit("thresher[scikit-learn]" not in str(error))
"""


def test_all_learners_do_without_scikit_learn():
    assert subprocess.run([sys.executable, "-c", WITHOUT]).returncode == 0


def test_who_can_go_on_learning():
    assert isinstance(NaiveBayes(), Online) and isinstance(ROMMA(), Online)
    assert not isinstance(Nearest(), Online) and not isinstance(ScikitLearner(LinearSVC()), Online)
    assert not hasattr(ScikitLearner, "partial_fit")


def test_a_learner_that_provides_nothing_says_so():
    with pytest.raises(NotImplementedError, match="Learner does not say how it learns"):
        Learner().fit(*documents())
    with pytest.raises(NotImplementedError, match="how it scores"):
        Learner().score_rows(rows_of(np.eye(2)))
    with pytest.raises(ModelError, match="no method from_state"):
        Nearest.from_state({}, {})
