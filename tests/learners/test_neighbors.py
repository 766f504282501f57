"""Nearest neighbours: their twin, ties, weights, metrics, who voted and why, and learning on."""

import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier

from checks import bytes_of, documents, examples_of, labels_of, rows_of, several
from naive import neighbors as naive
from thresher import Categorizer, NearestNeighbors, corpora
from thresher.errors import ModelError, ParameterError
from thresher.examples import Examples
from thresher.learners import _collection
from thresher.rows import Labels, Rows

METRICS = ["cosine", "euclidean", "value-difference"]
LINES = st.lists(
    st.tuples(
        st.lists(st.sampled_from([-1, 0, 0, 0, 1, 2, 3]), min_size=4, max_size=4),
        st.sets(st.integers(0, 2), max_size=2),
        st.sampled_from([1.0, 1.0, 0.5, 2.0]),
    ),
    min_size=1,
    max_size=14,
)


def learned(lines, **parameters):
    X = np.array([line[0] for line in lines], np.float32)
    lists, weights = [sorted(line[1]) for line in lines], np.array([line[2] for line in lines])
    labels = Labels.from_lists(lists, 3)._replace(weights=weights)
    learner = NearestNeighbors(**parameters).fit_rows(Examples.of(rows_of(X), labels))
    return learner, X, lists, weights


def collection(n_documents=700, n_features=400, seed=0):
    """Documents whose words are as unequal as those of texts: some in most, most in few."""
    random = np.random.default_rng(seed)
    rates = 3.0 / np.arange(1, n_features + 1) ** 0.8
    X = random.poisson(rates, (n_documents, n_features)).astype(np.float32)
    return X, random.integers(0, 3, n_documents)


# ---- the twin -----------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(LINES, LINES, st.sampled_from(METRICS), st.booleans(), st.integers(1, 6))
def test_equals_its_twin(lines, asking, metric, by_similarity, k):
    weights_text = "similarity" if by_similarity else "uniform"
    learner, X, lists, weights = learned(lines, n_neighbors=k, metric=metric, weights=weights_text)
    queries = np.array([line[0] for line in asking], np.float32)
    expected = [naive.scores(metric, by_similarity, k, X, lists, weights, x, 3) for x in queries]
    scores = learner.score_rows(rows_of(queries))
    np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-6)
    for x, neighbors in zip(queries, learner.neighbors(rows_of(queries)), strict=True):
        votes = naive.voters(metric, by_similarity, k, X, lists, weights, x, 3)
        assert {one.number for one in neighbors} == votes.keys()
        for one in neighbors:
            assert one.vote == pytest.approx(votes[one.number])
            assert list(one.labels) == lists[one.number]


@pytest.mark.parametrize("k", [1, 5, 40])
def test_a_short_look_misses_nobody(k):
    X, y = collection()
    learner = NearestNeighbors(n_neighbors=k).fit_rows(examples_of(X[:600], y[:600]))
    ranks = learner._collection.short[1]
    assert (ranks >= 0).sum() > 10 and (ranks < 0).sum() > 100  # frequent words and others
    lengths = np.linalg.norm(X.astype(np.float64), axis=1)
    cosines = (X[600:].astype(np.float64) @ X[:600].T) / np.outer(lengths[600:], lengths[:600])
    for near, neighbors in zip(cosines, learner.neighbors(rows_of(X[600:])), strict=True):
        voters = np.flatnonzero(near >= np.sort(near)[-k] - 1e-9)
        assert {one.number for one in neighbors} == set(voters.tolist())
        np.testing.assert_allclose([one.similarity for one in neighbors],
                                   np.sort(near[voters])[::-1], rtol=1e-12)  # fmt: skip


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("weights", ["uniform", "similarity"])
def test_has_scikit_learns_probabilities(metric, weights):
    X, y = collection()
    X *= np.random.default_rng(1).uniform(0.5, 2, X.shape).astype(np.float32)  # no ties
    peer = KNeighborsClassifier(
        7,
        metric=metric,
        algorithm="brute",
        weights="distance" if weights == "similarity" else "uniform",
    )
    ours = NearestNeighbors(n_neighbors=7, metric=metric, weights=weights).fit(X[:600], y[:600])
    peer.fit(X[:600].astype(np.float64), y[:600])
    if metric == "cosine" and weights == "similarity":  # theirs is one over 1 - cosine
        numbers = peer.kneighbors(X[600:].astype(np.float64), return_distance=False)
        for own, neighbors in zip(numbers, ours.neighbors(rows_of(X[600:])), strict=True):
            assert {one.number for one in neighbors} == set(own.tolist())
        return
    theirs = peer.predict_proba(X[600:].astype(np.float64))
    np.testing.assert_allclose(ours.predict_proba(X[600:]), theirs, atol=1e-5)


# ---- ties, and who there is ---------------------------------------------------------------------


def test_all_that_are_as_near_as_the_nearest_vote():
    """The book's rule: the same direction is the same, and a tie means no."""
    X = np.array([[1, 2, 3], [2, 4, 6], [7, 14, 21], [9, 1, 0]], np.float32)
    learner = NearestNeighbors(n_neighbors=1, weights="uniform")
    learner.fit_rows(Examples.of(rows_of(X), Labels.from_lists([[0], [0], [], [0]], 1)))
    query = rows_of(np.array([[10, 20, 30]]))
    assert [one.number for one in learner.neighbors(query)[0]] == [0, 1, 2]
    np.testing.assert_allclose(learner.score_rows(query), [[2 / 3 - 0.5]], rtol=1e-6)
    tied = NearestNeighbors(n_neighbors=1).fit_rows(
        Examples.of(rows_of(X[:2]), Labels.from_lists([[0], []], 1))
    )
    assert tied.score_rows(query).tolist() == [[0.0]]


def test_order_of_words_does_not_break_ties():
    random = np.random.default_rng(3)
    x = random.uniform(0.1, 1, 50).astype(np.float32)
    order = random.permutation(50)
    there = Rows(np.array([0, 50]), np.arange(50, dtype=np.int32), x, 50)
    back = Rows(np.array([0, 50]), order.astype(np.int32), x[order], 50)
    both = Rows.concatenate([there, back])
    learner = NearestNeighbors(n_neighbors=1).fit_rows(Examples.of(both, labels_of([0, 1], 2)))
    for query in (there, back):
        assert [one.number for one in learner.neighbors(query)[0]] == [0, 1]
        assert learner.score_rows(query).tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("metric", METRICS)
def test_more_neighbours_than_documents_are_all(metric):
    X, y = documents(20)
    learner = NearestNeighbors(n_neighbors=50, metric=metric, weights="uniform")
    scores = learner.fit_rows(examples_of(X, y)).score_rows(rows_of(X[:3]))
    np.testing.assert_allclose(scores, [np.bincount(y, minlength=3) / 20 - 0.5] * 3, atol=1e-6)


@pytest.mark.parametrize("weights", ["uniform", "similarity"])
def test_who_shares_nothing_gets_the_shares_of_all(weights):
    X = np.array([[1, 0, 0], [2, 1, 0], [1, 1, 0]], np.float32)
    learner = NearestNeighbors(n_neighbors=1, weights=weights)
    learner.fit_rows(Examples.of(rows_of(X), labels_of([0, 1, 1], 2)))
    for query in ([[0, 0, 0]], [[0, 0, 4]]):
        np.testing.assert_allclose(
            learner.score_rows(rows_of(np.array(query))), [[1 / 3 - 0.5, 2 / 3 - 0.5]], rtol=1e-6
        )
        parts, rest = learner.contributions(rows_of(np.array(query)), 1)
        assert not parts.any() and rest == pytest.approx(2 / 3 - 0.5)


def test_no_documents_and_one_class():
    learner = NearestNeighbors().start(3, 2)
    query = rows_of(np.eye(3))
    assert learner.score_rows(query).tolist() == [[-0.5, -0.5]] * 3
    assert learner.neighbors(query) == [[], [], []]
    learner.learn_rows(query, labels_of([1, 1, 1], 2))
    assert learner.score_rows(query).tolist() == [[-0.5, 0.5]] * 3


@pytest.mark.parametrize("metric", METRICS)
def test_a_weight_is_a_number_of_documents(metric):
    X, y = documents(60)
    counts = np.random.default_rng(0).integers(0, 4, 60)
    repeated = np.repeat(np.arange(60), counts)
    for weights in ("uniform", "similarity"):
        learner = NearestNeighbors(n_neighbors=7, metric=metric, weights=weights)
        weighed = learner.replace().fit_rows(examples_of(X, y, counts.astype(float)))
        again = learner.replace().fit_rows(examples_of(X[repeated], y[repeated]))
        np.testing.assert_allclose(
            weighed.score_rows(rows_of(X)), again.score_rows(rows_of(X)), rtol=1e-5, atol=1e-6
        )


def test_a_label_given_twice_is_one_label():
    rows = rows_of(np.eye(2))
    once, twice = (
        NearestNeighbors().fit_rows(Examples.of(rows, Labels.from_lists(lists, 2)))
        for lists in ([[0, 1], [1]], [[1, 0, 1], [1, 1]])
    )
    assert bytes_of(once) == bytes_of(twice)


# ---- values -------------------------------------------------------------------------------------


def test_the_value_difference_by_hand():
    X = np.array([[1, 0], [1, 2], [0, 2], [0, 0]], np.float32)
    learner = NearestNeighbors(n_neighbors=4, metric="value-difference", weights="uniform")
    learner.fit_rows(Examples.of(rows_of(X), labels_of([0, 0, 1, 1], 2)))
    # The first feature says all, 2 apart; of the second, both values have both categories.
    near = learner.neighbors(rows_of(np.array([[1, 2]])))[0]
    assert [one.number for one in near] == [0, 1, 2, 3]
    np.testing.assert_allclose([one.similarity for one in near], [0, 0, -2, -2], atol=1e-12)
    assert near[1].shared == ((0, 4.0), (1, 0.0))
    # A value never seen has the categories of all: 1 from either.
    near = learner.neighbors(rows_of(np.array([[7, 0]])))[0]
    np.testing.assert_allclose([one.similarity for one in near], -1, atol=1e-12)


def test_too_many_values_are_refused_and_nothing_is_changed():
    values = np.arange(1, 65, dtype=np.float32)[:, None]
    learner = NearestNeighbors(metric="value-difference").start(1, 1)
    learner.learn_rows(rows_of(values[:-1]), Labels.from_lists([[0]] * 63, 1))
    before = bytes_of(learner)
    with pytest.raises(ModelError, match=r'feature 0 has 65; use whole strengths.*"book"'):
        learner.learn_rows(rows_of(values[-1:]), Labels.from_lists([[0]], 1))
    assert bytes_of(learner) == before
    assert learner.score_rows(rows_of(values)).shape == (64, 1)


def test_parameters_are_checked():
    for wrong in ({"n_neighbors": 0}, {"weights": "distance"}, {"metric": "l1"}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            NearestNeighbors(**wrong).fit(*documents())


# ---- why ----------------------------------------------------------------------------------------


def test_the_words_that_are_shared():
    X = np.array([[3, 4, 0], [0, 0, 1]], np.float32)
    learner = NearestNeighbors(n_neighbors=2).fit_rows(examples_of(X, [2, 1]))
    ((first, second),) = learner.neighbors(rows_of(np.array([[4, 3, 0]])))
    assert (first.number, first.labels, first.vote) == (0, (2,), 1.0)
    assert first.similarity == pytest.approx(0.96)
    assert [word for word, _ in first.shared] == [0, 1]
    np.testing.assert_allclose([part for _, part in first.shared], [0.48, 0.48])
    assert second == (1, 0.0, (1,), 0.0, ())
    assert len(learner.neighbors(rows_of(X), n=1)[0]) == 1


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("weights", ["uniform", "similarity"])
def test_votes_are_divided_among_shared_words(metric, weights):
    X, indicator = several()
    learner = NearestNeighbors(n_neighbors=5, metric=metric, weights=weights).fit(X, indicator)
    rows = rows_of(X[:20])
    owners = np.repeat(np.arange(20), np.diff(rows.indptr))
    for k, neighbors in ((k, learner.neighbors(rows)) for k in range(3)):
        parts, rest = learner.contributions(rows, k)
        scores = learner.score_rows(rows)[:, k]
        np.testing.assert_allclose(np.bincount(owners, parts, 20) + rest, scores, atol=1e-6)
        for i, voters in enumerate(neighbors):
            expected = np.zeros(30)
            for one in voters:
                total = sum(part for _, part in one.shared)
                if k in one.labels and total > 0:
                    for column, part in one.shared:
                        expected[column] += one.vote * part / total
            here = slice(*rows.indptr[i : i + 2])
            np.testing.assert_allclose(parts[here], expected[rows.indices[here]], atol=1e-6)


# ---- learning on --------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_where_the_index_ends_does_not_show(metric, monkeypatch):
    X, y = collection()
    whole = NearestNeighbors(metric=metric, n_neighbors=5).fit_rows(examples_of(X, y))
    for few in (0, 60, 5000):
        monkeypatch.setattr(_collection, "MAX_UNINDEXED", few)
        grown, sizes = NearestNeighbors(metric=metric, n_neighbors=5).start(400, 3), set()
        for start in range(0, 700, 50):
            grown.learn_rows(rows_of(X[start : start + 50]), labels_of(y[start : start + 50]))
            sizes.add(grown._collection.n_indexed)
        assert (len(sizes) == 1) == (few == 5000)
        assert bytes_of(grown) == bytes_of(whole)
        np.testing.assert_array_equal(grown.score_rows(rows_of(X)), whole.score_rows(rows_of(X)))
        parts = [one.contributions(rows_of(X[:9]), 1)[0] for one in (grown, whole)]
        np.testing.assert_array_equal(*parts)


def test_pruned_features_were_never_there():
    X, y = documents()
    keep = np.arange(30) % 3 > 0
    pruned = NearestNeighbors().fit_rows(examples_of(X, y)).prune(keep)
    assert bytes_of(pruned) == bytes_of(NearestNeighbors().fit_rows(examples_of(X[:, keep], y)))


@pytest.mark.parametrize("metric", METRICS)
def test_merged_categories_were_always_one(metric):
    X, y = documents()
    merged = NearestNeighbors(metric=metric).fit_rows(examples_of(X, y)).merge_categories(2, 1)
    one = Examples.of(rows_of(X), labels_of(np.minimum(y, 1), 2))
    renamed = NearestNeighbors(metric=metric).fit_rows(one)
    assert bytes_of(merged) == bytes_of(renamed)
    np.testing.assert_array_equal(merged.score_rows(rows_of(X)), renamed.score_rows(rows_of(X)))


def test_a_model_goes_on_learning(tmp_path):
    texts = ["wheat and corn", "corn harvest", "gold ounce", "silver and gold mine"] * 5
    names = ["grain", "grain", "metal", "metal"] * 5
    model = Categorizer(learner=NearestNeighbors(n_neighbors=3))
    model.fit(texts, names)
    assert model.predict(["harvest of corn", "a gold mine"]) == ["grain", "metal"]
    model.learn(["crude oil barrel", "oil tanker"], ["oil", "oil"])
    assert model.predict(["barrel of oil"]) == ["oil"]
    model.learn(["gold of the wheat field"] * 5, ["grain"] * 5)
    assert model.predict(["gold of the wheat field"]) == ["grain"]
    model.save(tmp_path / "model.thresher")
    loaded = Categorizer.load(tmp_path / "model.thresher")
    np.testing.assert_array_equal(loaded.scores(texts), model.scores(texts))
    with pytest.raises(Exception, match="label"):
        model.learn(["gold and oil"], [["metal", "oil"]])
    np.testing.assert_array_equal(loaded.scores(texts), model.scores(texts))


# ---- the model file -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("indptr", lambda one: one[::-1].copy()),
        ("indptr", lambda one: one + 1),
        ("indptr", lambda one: np.insert(one[1:-1], 0, [0, 10**12])[: len(one)]),
        ("label_indptr", lambda one: one[:-1].copy()),
        ("label_indptr", lambda one: one * 2),
        ("columns", lambda one: one + 1),
        ("columns", lambda one: one - 1),
        ("columns", lambda one: one[::-1].copy()),
        ("labels", lambda one: one + 1),
        ("labels", lambda one: one - 1),
        ("values", lambda one: one[:-1].copy()),
        ("values", lambda one: np.full_like(one, np.nan)),
        ("weights", lambda one: one * 0),
        ("weights", lambda one: one * np.inf),
        ("weights", lambda one: one[:-1].copy()),
    ],
)
def test_a_damaged_collection_is_refused(name, change):
    X, y = documents()
    header, tensors = NearestNeighbors().fit_rows(examples_of(X, y)).state()
    with pytest.raises(ModelError):
        NearestNeighbors.from_state(header, tensors | {name: change(tensors[name])})


def test_what_is_reserved_is_not_saved():
    X, y = documents()
    grown = NearestNeighbors().start(30, 3)
    for i in range(len(X)):
        grown.learn_rows(rows_of(X[i : i + 1]), labels_of(y[i : i + 1]))
    whole = NearestNeighbors().fit_rows(examples_of(X, y))
    header, tensors = grown.state()
    again = NearestNeighbors.from_state(json.loads(json.dumps(header)), tensors)
    assert bytes_of(again) == bytes_of(whole)
    again = pickle.loads(pickle.dumps(grown))
    assert len(again._collection._arrays["columns"]._buffer) == len(tensors["columns"])
    assert grown.summary() == {"documents": 120, "entries": len(tensors["columns"])}


# ---- the book -----------------------------------------------------------------------------------


def test_earn_by_one_neighbour(data_dir):
    """Words of titles say "earn" well enough; each document is its own nearest neighbour."""
    train = corpora.load("reuters21578:modapte").split("train")
    texts = [text[:200] for text in train.texts[:1500]]
    names = [["earn"] if "earn" in labels else [] for labels in train.labels[:1500]]
    learner = NearestNeighbors(n_neighbors=1)
    model = Categorizer(learner=learner, objective=None, mode="multi-label")
    model.fit(texts[:1000], names[:1000])
    own = [labels == ["earn"] for labels in model.predict(texts[:1000])]
    truth = [labels == ["earn"] for labels in names]
    assert np.mean(np.equal(own, truth[:1000])) > 0.98
    unseen = [labels == ["earn"] for labels in model.predict(texts[1000:])]
    assert np.mean(np.equal(unseen, truth[1000:])) > 0.9
