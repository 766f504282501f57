"""The mistake-driven learners."""

import numpy as np
import pytest

from thresher._rows import Labels, Rows
from thresher.online import LEARNERS


def documents(n_rows=200, n_features=40, n_categories=20, seed=0):
    """Random rows whose labels depend on their features."""
    random = np.random.default_rng(seed)
    dense = (random.random((n_rows, n_features)) < 0.2) * random.integers(
        1, 4, (n_rows, n_features)
    )
    truth = random.normal(size=(n_features, n_categories))
    scores = dense @ truth
    rows = Rows(
        np.concatenate([[0], np.cumsum((dense > 0).sum(1))]),
        np.nonzero(dense)[1].astype(np.int32),
        dense[dense > 0].astype(np.float32),
        n_features,
    )
    lists = [np.flatnonzero(one > 2).tolist() for one in scores]
    return rows, Labels.from_lists(lists, n_categories)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("threads", [2, 3, 7])
def test_any_number_of_threads_gives_the_same_bits(name, threads):
    rows, labels = documents()
    learners = []
    for n in (1, threads):
        learner = LEARNERS[name]().start(rows.n_columns, labels.n_categories, 8)
        learner.learn_rows(rows, labels, threads=n)
        learners.append((learner.effective_weights(), learner.score_rows(rows, n)))
    for one, other in zip(*learners, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", LEARNERS)
def test_state_goes_on_where_it_stopped(name):
    rows, labels = documents()
    whole = LEARNERS[name]().start(rows.n_columns, labels.n_categories, 8)
    whole.learn_rows(rows, labels)
    copy = LEARNERS[name].from_state(*whole.state())
    whole.learn_rows(rows, labels)
    copy.learn_rows(rows, labels)
    np.testing.assert_array_equal(whole.effective_weights(), copy.effective_weights())
    assert whole.mistakes_ == copy.mistakes_
