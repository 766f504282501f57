"""A Categorizer is a scikit-learn classifier, and scikit-learn's classifiers are learners."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.ensemble import RandomForestClassifier, StackingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC

from thresher import (
    AROW,
    Categorizer,
    ModelError,
    ParameterError,
    PassiveAggressive,
    Perceptron,
    Strength,
    TextVectorizer,
)

TOPICS = {
    "grain": "wheat corn field bushel",
    "oil": "crude oil barrel pump",
    "sea": "ship port sea dock",
}
RNG = np.random.default_rng(3)


def corpus(n=120, topics=TOPICS):
    labels = [list(topics)[i % len(topics)] for i in range(n)]
    noise = ["the", "of", "and", "a", "to", "in", "is", "was", "for", "on"]
    texts = [
        " ".join([*RNG.choice(topics[label].split(), 3), *RNG.choice(noise, 6)]) for label in labels
    ]
    return texts, labels


TEXTS, LABELS = corpus()


def test_parameters_are_got_set_and_cloned():
    model = Categorizer(Perceptron(promotion=2.0), ngram_range=(1, 2), random_state=4)
    assert model.get_params()["learner__promotion"] == 2.0
    twin = clone(model).set_params(learner__promotion=3.0, n_jobs=2)
    assert twin.learner.promotion == 3.0 and model.learner.promotion == 2.0
    assert twin.ngram_range == (1, 2) and not twin.is_fitted
    assert is_classifier(model)
    fitted = model.fit(TEXTS, LABELS)
    assert not clone(fitted).is_fitted
    with pytest.raises(ParameterError, match=r"learner__max_iter cannot be set: learner is 'arow'"):
        Categorizer("arow").set_params(learner__max_iter=2)


def test_it_is_searched_and_cross_validated():
    search = GridSearchCV(Categorizer(), {"ngram_range": [(1, 1), (1, 2)]}, cv=3).fit(TEXTS, LABELS)
    assert search.best_score_ > 0.95 and search.predict(["crude oil"])[0] == "oil"
    search = GridSearchCV(
        Categorizer(PassiveAggressive()), {"learner__aggressiveness": [0.1, 1.0]}, cv=3
    ).fit(np.array(TEXTS), np.array(LABELS))
    assert search.best_score_ > 0.95
    assert cross_val_score(Categorizer(), TEXTS, LABELS, cv=4, scoring="f1_macro").min() > 0.9
    stripped = make_pipeline(
        FunctionTransformer(lambda texts: [t.upper() for t in texts]), Categorizer()
    )
    assert stripped.fit(TEXTS, LABELS).score(TEXTS, LABELS) > 0.95


def test_shapes_follow_scikit_learn():
    three = Categorizer(calibrate="sigmoid").fit(TEXTS, LABELS)
    assert three.decision_function(TEXTS).shape == (120, 3)
    np.testing.assert_allclose(three.predict_proba(TEXTS).sum(axis=1), 1)
    two = Categorizer().fit(TEXTS, [label == "oil" for label in LABELS])
    assert two.classes_.tolist() == [False, True]
    assert two.decision_function(TEXTS).shape == (120,) and two.scores(TEXTS).shape == (120, 2)
    assert ((two.decision_function(TEXTS) > 0) == two.predict(TEXTS)).all()
    with pytest.raises(ModelError, match="no probabilities"):
        two.predict_proba(TEXTS)
    with pytest.raises(AttributeError):
        Categorizer().classes_  # noqa: B018


def test_the_documented_pipeline_is_the_categorizer():
    """The same options give the same model, to the rounding of sums in another order."""
    whole = Categorizer(preset="fast").fit(TEXTS, LABELS)
    parts = make_pipeline(
        TextVectorizer(),
        Strength("tf-idf", sublinear_tf=True, normalize="l2"),
        AROW(max_iter=1),
    ).fit(TEXTS, LABELS)
    unseen, _ = corpus(200)
    assert whole.predict(unseen) == parts.predict(unseen).tolist()
    np.testing.assert_allclose(
        whole.decision_function(unseen), parts.decision_function(unseen), atol=1e-5
    )


@pytest.mark.parametrize(
    "estimator",
    [
        LinearSVC(C=0.5),
        LogisticRegression(),
        MultinomialNB(),
        RandomForestClassifier(20, random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.parametrize("several", [False, True], ids=["one label", "several"])
def test_any_classifier_of_scikit_learn_is_a_learner(estimator, several, tmp_path):
    labels = [[item] if i % 7 else [] for i, item in enumerate(LABELS)] if several else LABELS
    model = Categorizer(estimator).fit(TEXTS, labels)
    assert model.score(TEXTS, labels) > (0.7 if several else 0.95)
    explanation = model.explain(TEXTS[0], "grain")
    total = sum(share.share for share in explanation.shares) - explanation.threshold
    margin = model.scores(TEXTS[:1])[0, 0] - model.decisions_.thresholds[0]
    assert total == pytest.approx(float(margin), abs=1e-4)
    if hasattr(type(estimator), "coef_") or isinstance(estimator, LinearSVC | LogisticRegression):
        model.save(tmp_path / "m")
        again = Categorizer.load(tmp_path / "m")
        np.testing.assert_allclose(again.scores(TEXTS), model.scores(TEXTS), atol=1e-5)
        with pytest.raises(ModelError, match="cannot go on learning"):
            again.learn(["tin"], [["metals"]] if several else ["metals"])
    else:
        with pytest.raises(ModelError, match=type(estimator).__name__):
            model.save(tmp_path / "m")
        assert not (tmp_path / "m").exists()


def test_a_wrapped_svm_equals_the_pipeline_it_stands_for():
    actual = Categorizer(LinearSVC(random_state=0)).fit(TEXTS, LABELS)
    expected = make_pipeline(TfidfVectorizer(sublinear_tf=True), LinearSVC(random_state=0))
    expected.fit(TEXTS, LABELS)
    np.testing.assert_allclose(
        actual.decision_function(TEXTS), expected.decision_function(TEXTS), atol=1e-3
    )


def test_order_seed_and_threads_have_one_owner():
    """What is given to the learner takes effect; what is given to the Categorizer wins."""
    base = Categorizer(Perceptron(max_iter=1)).fit(TEXTS, LABELS).scores(TEXTS)
    inner = Categorizer(Perceptron(max_iter=1, shuffle=False)).fit(TEXTS, LABELS).scores(TEXTS)
    outer = Categorizer(Perceptron(max_iter=1), shuffle=False).fit(TEXTS, LABELS).scores(TEXTS)
    np.testing.assert_array_equal(inner, outer)
    assert not np.array_equal(base, inner)
    inner = Categorizer(Perceptron(max_iter=1, random_state=9)).fit(TEXTS, LABELS).scores(TEXTS)
    outer = Categorizer(Perceptron(max_iter=1), random_state=9).fit(TEXTS, LABELS).scores(TEXTS)
    np.testing.assert_array_equal(inner, outer)
    assert not np.array_equal(base, inner)
    assert Categorizer(Perceptron(n_jobs=3)).n_jobs_ == 3


def test_sample_weight_counts():
    """A document of no weight is as good as absent; one of weight two as good as given twice."""
    weight = np.ones(len(TEXTS))
    weight[LABELS.index("oil")] = 0
    selected = weight > 0
    weighed = Categorizer("naive-bayes").fit(TEXTS, LABELS, sample_weight=weight)
    without = Categorizer("naive-bayes").fit(
        [t for t, k in zip(TEXTS, selected, strict=True) if k],
        [y for y, k in zip(LABELS, selected, strict=True) if k],
    )
    np.testing.assert_allclose(weighed.scores(TEXTS), without.scores(TEXTS), rtol=1e-4, atol=1e-4)
    model = Categorizer().fit(TEXTS, LABELS)
    before = model.scores(TEXTS)
    model.learn(["crude wheat"], ["sea"], sample_weight=[0.0])
    np.testing.assert_allclose(model.scores(TEXTS), before, atol=0.05)
    with pytest.raises(ValueError, match="sample_weight for 1"):
        model.learn(["a", "b"], ["sea", "oil"], sample_weight=[1.0])


def test_a_learner_with_probabilities_of_its_own_needs_no_calibration():
    categorizer = Categorizer(learner="naive-bayes").fit(TEXTS, LABELS)
    chances = categorizer.predict_proba(TEXTS)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    np.testing.assert_array_equal(
        categorizer.classes_[chances.argmax(1)], categorizer.predict(TEXTS)
    )


def test_probabilities_exist_only_where_they_work():
    categorizer = Categorizer(calibrate="sigmoid", tune_folds=2)
    assert hasattr(categorizer, "predict_proba")  # it will have them
    assert categorizer.fit(TEXTS, LABELS).predict_proba(TEXTS).shape == (len(TEXTS), 3)
    assert not hasattr(Categorizer(), "predict_proba")
    plain = Categorizer().fit(TEXTS, LABELS)
    assert not hasattr(plain, "predict_proba")
    with pytest.raises(AttributeError, match="has no probabilities"):
        plain.predict_proba(TEXTS)
    assert hasattr(plain.tune(TEXTS, LABELS, None, calibrate="sigmoid"), "predict_proba")


def test_a_stack_of_models_falls_back_to_scores_without_probabilities():
    estimators = [("fast", Categorizer(preset="fast")), ("bayes", Categorizer("naive-bayes"))]
    stack = StackingClassifier(estimators, LogisticRegression(), cv=2).fit(TEXTS, LABELS)
    assert stack.stack_method_ == ["decision_function", "predict_proba"]
    assert np.mean(stack.predict(TEXTS) == np.array(LABELS)) > 0.9


@pytest.mark.parametrize("learner", ["auto", "naive-bayes"])
def test_the_area_under_the_curve_is_a_number(learner):
    is_grain = ["grain" if label == "grain" else "other" for label in LABELS]
    areas = cross_val_score(Categorizer(learner), TEXTS, is_grain, scoring="roc_auc", cv=2)
    assert (areas > 0.9).all()  # not NaN
