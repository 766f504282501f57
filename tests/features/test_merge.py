"""Merging what shards have counted equals counting all documents in one place."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher import TextCounter
from thresher.errors import ParameterError
from thresher.evaluation import Contingency, evaluate
from thresher.features import SELECTIONS, Strength
from thresher.rows import Labels, Rows

documents = st.lists(
    st.tuples(
        st.dictionaries(st.sampled_from("abcdefghij"), st.integers(0, 9), max_size=6),
        st.sets(st.sampled_from("xyz"), max_size=3),
    ),
    max_size=12,
)


class Counter:
    """Numbers features and categories in the order in which they occur."""

    def __init__(self, documents):
        self.features, self.categories = [], []
        indptr, indices, values, labels = [0], [], [], []
        for counts, categories in documents:
            indices += [number(self.features, name) for name in counts]
            values += counts.values()
            indptr.append(len(indices))
            labels.append([number(self.categories, name) for name in sorted(categories)])
        counts = np.array(indices, np.int32), np.array(values, np.float32)
        self.rows = Rows(np.array(indptr), *counts, len(self.features))
        self.labels = Labels.from_lists(labels, len(self.categories))


def number(names, name):
    if name not in names:
        names.append(name)
    return names.index(name)


@given(st.lists(documents, min_size=1, max_size=5), st.sampled_from(sorted(SELECTIONS)))
def test_merged_shards_equal_one_count(shards, kind):
    whole = Counter([document for shard in shards for document in shard])
    strength, scores = Strength("tf-idf"), SELECTIONS[kind]()
    for shard in shards:
        counter = Counter(shard)
        features = np.array([whole.features.index(name) for name in counter.features], int)
        categories = np.array([whole.categories.index(name) for name in counter.categories], int)
        strength.merge(Strength("tf-idf").observe(counter.rows), features)
        shard_scores = SELECTIONS[kind]().observe(counter.rows, counter.labels)
        scores.merge(shard_scores, features, categories)
    in_one_go = Strength("tf-idf").observe(whole.rows)
    assert strength.n_documents == in_one_go.n_documents
    np.testing.assert_array_equal(*(each.state()[1].popitem()[1] for each in (strength, in_one_go)))
    both = strength.apply(whole.rows), in_one_go.apply(whole.rows)
    assert both[0].values.tobytes() == both[1].values.tobytes()
    expected = SELECTIONS[kind]().observe(whole.rows, whole.labels)
    assert scores.scores().tobytes() == expected.scores().tobytes()
    assert scores.pooled("mean").tobytes() == expected.pooled("mean").tobytes()
    np.testing.assert_array_equal(scores.document_frequencies(), expected.document_frequencies())


@given(st.lists(st.lists(st.text("ab c", max_size=12), max_size=4), min_size=1, max_size=4))
def test_texts_counted_in_shards_have_the_same_strengths(shards):
    options = {"ngram_range": (1, 2), "char_ngram_range": (2, 3)}
    texts = [text for shard in shards for text in shard]
    counter, strength = TextCounter(**options), Strength("tf-idf", normalize="l2")
    for shard in shards:
        other = TextCounter(**options)
        rows = other.count(shard, grow=True)
        strength.merge(Strength("tf-idf", normalize="l2").observe(rows), counter.merge(other))
    whole, expected = TextCounter(**options), Strength("tf-idf", normalize="l2")
    expected.observe(whole.count(texts, grow=True))
    assert counter.feature_names() == whole.feature_names()
    merged, in_one_go = strength.apply(counter.count(texts)), expected.apply(whole.count(texts))
    assert merged.indices.tolist() == in_one_go.indices.tolist()
    assert merged.values.tobytes() == in_one_go.values.tobytes()


def test_strengths_of_other_parameters_are_not_merged():
    with pytest.raises(ParameterError, match="cannot be merged"):
        Strength("tf-idf").merge(Strength("tf-idf", smooth_idf=False))


def test_the_columns_of_a_merge_are_all_given():
    rows = Rows(np.array([0, 2]), np.array([0, 1], np.int32), np.ones(2, np.float32), 2)
    with pytest.raises(ParameterError, match="1 of 2 columns"):
        Strength("tf-idf").merge(Strength("tf-idf").observe(rows), np.array([0]))


def test_contingency_tables_of_shards_add_up():
    rng = np.random.default_rng(0)
    decisions, truth = rng.random((2, 40, 3)) < 0.4
    tables = [
        evaluate(None, truth[rows], decisions=decisions[rows]).contingency
        for rows in (slice(0, 13), slice(13, 40))
    ]
    whole = evaluate(None, truth, decisions=decisions).contingency
    merged = tables[0].merge(tables[1])
    assert isinstance(merged, Contingency)
    np.testing.assert_array_equal(merged, whole)
