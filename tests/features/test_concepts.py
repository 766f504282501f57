"""Concepts against a slow twin and against what they promise."""

import json
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from interrupts import interrupted_at
from naive import concepts as naive
from thresher import Concepts
from thresher._kernels import concepts as kernels
from thresher.errors import DocumentError, ModelError, ParameterError, ThresherWarning
from thresher.features import _plsa as plsa
from thresher.features import concepts as module
from thresher.rows import Rows

FEW = settings(max_examples=25, deadline=None)
TABLES = arrays(
    np.int64, st.tuples(st.integers(2, 9), st.integers(2, 8)), elements=st.integers(0, 4)
).filter(lambda table: table.any())


def rows_of(table):
    """Return a dense table as Rows, columns in descending order to be awkward."""
    table = np.asarray(table, np.float32)
    columns = [np.flatnonzero(row)[::-1] for row in table]
    indptr = np.cumsum([0, *map(len, columns)], dtype=np.int64)
    values = [row[own] for row, own in zip(table, columns, strict=True)]
    none = [np.zeros(0, np.float32)]
    indices = np.concatenate([*columns, np.zeros(0, np.int64)]).astype(np.int32)
    return Rows(indptr, indices, np.concatenate(values + none), table.shape[1])


def topics(n=240, seed=0):
    """Return documents of three topics with ten words each, and ten words that all have."""
    random = np.random.default_rng(seed)
    subject = np.arange(n) % 3
    chances = np.full((3, 40), 0.002)
    for k in range(3):
        chances[k, 10 * k : 10 * k + 10] = 0.06
    chances[:, 30:] = 0.035
    chances /= chances.sum(axis=1, keepdims=True)
    return np.array([random.multinomial(30, chances[k]) for k in subject]), subject


def usual(n_concepts=3, **parameters):
    return Concepts(n_concepts, **{"random_state": 1} | parameters)


@pytest.fixture(scope="module")
def fitted():
    return usual((3, 5)).fit_rows(rows_of(topics()[0]))


def tables_of(concepts):
    """Return all that was learned, as bytes."""
    arrays_ = [concepts.columns_, concepts.shares_, concepts.memberships_, concepts.n_iter_]
    arrays_ += [*concepts.word_probabilities_, *concepts.perplexities_]
    return [one.tobytes() for one in arrays_]


# The twin and the kernels -------------------------------------------------------------------------


def start_of(table, size, seed=0):
    random = np.random.default_rng(seed)
    theta = random.random((table.shape[0], size), dtype=np.float32) + 0.1
    phi = random.random((table.shape[1], size), dtype=np.float32) + 0.1
    return theta / theta.sum(axis=1, keepdims=True), phi / phi.sum(axis=0)


def iterate(table, theta, phi, n_iter, block, power=1.0, py=False):
    """Iterate with the kernels, over blocks of documents, words and concepts."""
    names = ("update_documents", "update_words", "normalise_concepts")
    steps = [getattr(kernels, name) for name in names]
    steps = [getattr(step, "py_func", step) if py else step for step in steps]
    rows = rows_of(table)
    places = np.argsort(rows.indices, kind="stable")
    owners = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr)).astype(np.uint32)
    ends = np.concatenate([[0], np.cumsum(np.bincount(rows.indices, minlength=rows.n_columns))])
    ratios = np.empty(len(places), np.float32)
    for _ in range(n_iter):
        old = theta ** np.float32(power), phi ** np.float32(power)
        new = np.empty_like(theta), np.empty_like(phi)
        documents = rows.indptr, rows.indices.view(np.uint32), rows.values
        for start in range(0, len(theta), block):
            end = min(start + block, len(theta))
            steps[0](*documents, *old, new[0], ratios, start, end)
        words = ends, owners[places], places
        for start in range(0, len(phi), block):
            steps[1](*words, ratios, *old, new[1], start, min(start + block, len(phi)))
        for start in range(0, phi.shape[1], block):
            steps[2](new[1], start, min(start + block, phi.shape[1]))
        theta, phi = new
    return theta, phi


@FEW
@given(TABLES, st.sampled_from([1, 2, 5, 17, 35]), st.sampled_from([1.0, 0.8]))
def test_iterations_are_those_of_the_twin(table, size, power):
    table = table[:, table.any(axis=0)]
    start = start_of(table, size)
    ours = iterate(table, *start, 4, block=100, power=power)
    theirs = naive.maximise(table, *start, 4, power)
    filled = table.any(axis=1)  # an empty document keeps what it had
    np.testing.assert_allclose(ours[0][filled], theirs[0][filled], rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-3, atol=1e-6)
    np.testing.assert_array_equal(ours[0][~filled] > 0, True)
    assert naive.perplexity(table, *ours) == pytest.approx(naive.perplexity(table, *theirs), 1e-4)


@FEW
@given(TABLES, st.sampled_from([1, 3, 17, 35]))
def test_blocks_and_the_compiler_change_no_bit(table, size):
    start = start_of(table, size)
    whole = iterate(table, *start, 3, block=1000)
    for other in (iterate(table, *start, 3, block=2), iterate(table, *start, 3, 1000, py=True)):
        for ours, theirs in zip(whole, other, strict=True):
            np.testing.assert_array_equal(ours, theirs)


@FEW
@given(TABLES, st.sampled_from([1, 3, 17]))
def test_folding_in_is_that_of_the_twin(table, size):
    _, phi = start_of(table, size)
    rows = rows_of(table)
    entries = rows.indptr, rows.indices.view(np.uint32), rows.values
    shares = np.full(size, 0.25, np.float32)
    for fold_in in (kernels.fold_in, getattr(kernels.fold_in, "py_func", kernels.fold_in)):
        folded = np.empty((len(table), size), np.float32)
        fold_in(*entries, phi, shares, 7, np.float32(0), folded, 0, len(table))
        theirs = naive.fold_in(table, phi, 7)
        theirs[~table.any(axis=1)] = 0.25
        np.testing.assert_allclose(folded, theirs, rtol=1e-3, atol=1e-5)


def test_dot_products_of_any_length():
    random = np.random.default_rng(0)
    lanes = np.empty(kernels.LANES, np.float32)
    for n in [*range(1, 40), 100, 500]:
        a, b = random.random((2, n), dtype=np.float32)
        assert kernels.dot(a, b, lanes) == pytest.approx(a.astype(float) @ b, rel=1e-6)


def test_a_whole_fit_is_as_likely_as_the_twins():
    """From the same start and the same tokens, after as many iterations."""
    table, _ = topics()
    concepts = usual(4, max_iter=12)
    ours = concepts.fit_rows(rows_of(table))
    parts = concepts._thinned(module._in_order(rows_of(table)))
    training, held = (part.to_scipy().toarray() for part in parts)
    assert (training + held == table).all() and 0.05 < held.sum() / table.sum() < 0.15
    first = plsa.Maximisation(concepts, *parts, None)._first(4, 0)
    theta, phi = naive.maximise(training, first.theta, first.phi, int(ours.n_iter_[0]))
    kept = ours.perplexities_[0][ours.n_iter_[0] - 1]
    assert kept == pytest.approx(naive.perplexity(held, theta, phi), rel=1e-4)
    np.testing.assert_allclose(ours.memberships_, theta, atol=1e-3)


# What is learned ----------------------------------------------------------------------------------


def test_topics_become_concepts(fitted):
    table, subject = topics()
    tops = fitted.memberships_[:, :3].argmax(axis=1)
    assert len({(k, z) for k, z in zip(subject, tops, strict=True)}) <= 6
    assert sum(np.bincount(tops[subject == k]).max() for k in range(3)) > 0.9 * len(table)
    for k in range(3):
        columns, chances = fitted.words(k, top=6)
        assert (
            len(set(columns // 10)) == 1 and columns.max() < 30
        )  # of one topic, none that all have
        assert chances.dtype == np.float32 and (chances > 0).all()


def test_probabilities_are_such(fitted):
    assert fitted.sizes_ == (3, 5) and fitted.n_total_ == 8
    for phi, size in zip(fitted.word_probabilities_, fitted.sizes_, strict=True):
        assert phi.shape == (40, size) and phi.dtype == np.float32
        np.testing.assert_allclose(phi.sum(axis=0), 1, rtol=1e-5)
    folded = fitted.memberships(rows_of(topics()[0]))
    for one in (fitted.memberships_, folded, fitted.shares_[np.newaxis]):
        np.testing.assert_allclose(one[:, :3].sum(axis=1), 1, rtol=1e-5)
        np.testing.assert_allclose(one[:, 3:].sum(axis=1), 1, rtol=1e-5)
    assert folded.dtype == np.float32 and folded.shape == (240, 8)
    assert np.abs(folded - fitted.memberships_).mean() < 0.05


def test_shares_go_by_length():
    table, _ = topics(60)
    table[::3] *= 5
    concepts = usual(3, held_out=0.0, max_iter=40).fit_rows(rows_of(table))
    lengths = table.sum(axis=1) / table.sum()
    np.testing.assert_allclose(concepts.shares_, lengths @ concepts.memberships_, rtol=1e-5)


def test_models_are_the_same_alone_and_together(fitted):
    alone = usual(5).fit_rows(rows_of(topics()[0]))
    np.testing.assert_array_equal(alone.word_probabilities_[0], fitted.word_probabilities_[1])
    np.testing.assert_array_equal(alone.memberships_, fitted.memberships_[:, 3:])


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_change_no_bit(fitted, n_jobs):
    rows = rows_of(topics()[0])
    threaded = usual((3, 5)).fit_rows(rows, n_jobs=n_jobs)
    assert tables_of(threaded) == tables_of(fitted)
    np.testing.assert_array_equal(
        threaded.memberships(rows, n_jobs=n_jobs), fitted.memberships(rows)
    )


def test_the_seed_decides():
    rows = rows_of(topics(60)[0])
    one, again, other = (usual(random_state=seed).fit_rows(rows) for seed in (1, 1, 2))
    assert tables_of(one) == tables_of(again) != tables_of(other)


def test_it_stops_where_the_held_out_part_becomes_less_likely(fitted):
    for curve, n_iter in zip(fitted.perplexities_, fitted.n_iter_, strict=True):
        assert len(curve) == n_iter + 1 and curve[-1] > curve[-2] == curve.min()
    table = rows_of(topics()[0])
    assert usual(max_iter=3).fit_rows(table).n_iter_.tolist() == [3]
    without = usual(held_out=0.0, max_iter=7).fit_rows(table)
    assert without.n_iter_.tolist() == [7] and len(without.perplexities_[0]) == 0


def test_of_several_starts_the_best_is_kept():
    rows = rows_of(topics(90)[0])
    best = usual((3, 6), n_init=4).fit_rows(rows)
    first = usual((3, 6)).fit_rows(rows)
    lowest = [[curve.min() for curve in one.perplexities_] for one in (best, first)]
    assert (np.array(lowest[0]) <= lowest[1]).all() and lowest[0] != lowest[1]
    with pytest.raises(ParameterError, match="n_init is 2 and held_out is 0"):
        usual(n_init=2, held_out=0.0).fit_rows(rows)


def test_tempering_goes_on_where_the_held_out_part_gains_by_it():
    rows = rows_of(topics()[0])
    plain, tempered = (usual(6, tempering=one).fit_rows(rows) for one in (None, 0.9))
    assert tempered.perplexities_[0].min() < plain.perplexities_[0].min()
    assert tempered.n_iter_[0] > plain.n_iter_[0]
    np.testing.assert_array_equal(
        tempered.perplexities_[0][: plain.n_iter_[0]], plain.perplexities_[0][:-1]
    )


def test_no_document_and_no_word_loses_everything():
    table = np.eye(30, dtype=int) + np.eye(30, k=1, dtype=int)
    training, held = usual(held_out=0.9)._thinned(rows_of(table))
    dense = training.to_scipy().toarray()
    assert dense.any(axis=0).all() and dense.any(axis=1).all()
    assert (dense + held.to_scipy().toarray() == table).all()


def test_which_words_take_part():
    table, _ = topics(60)
    table[:, 0], table[0, 1:] = 1, 0
    table[:, 5] = 0
    table[:3, 5] = 1
    rows = rows_of(table)
    assert 0 not in usual(max_df=0.9).fit_rows(rows).columns_
    assert 5 not in usual(min_df=4).fit_rows(rows).columns_
    assert 5 in usual(min_df=3).fit_rows(rows).columns_
    assert usual(max_df=20).fit_rows(rows).columns_.tolist() == [
        j for j in range(40) if 1 <= (table[:, j] > 0).sum() <= 20
    ]
    mask = np.arange(40) % 2 == 0
    assert set(usual().fit_rows(rows, columns=mask).columns_) <= set(np.flatnonzero(mask))


# Using it -----------------------------------------------------------------------------------------


def test_a_document_is_folded_in_by_itself(fitted):
    table, _ = topics(30, seed=5)
    before = pickle.dumps(fitted)
    together = fitted.memberships(rows_of(table))
    for i in range(30):
        np.testing.assert_array_equal(fitted.memberships(rows_of(table[i : i + 1]))[0], together[i])
    wide = np.hstack([table, np.ones((30, 4), int)])
    np.testing.assert_array_equal(fitted.memberships(rows_of(wide)), together)
    assert pickle.dumps(fitted) == before


def test_documents_without_known_words_get_the_shares(fitted):
    table = np.zeros((2, 50))
    table[1, 45] = 3
    folded = fitted.memberships(rows_of(table))
    np.testing.assert_allclose(folded, np.repeat(fitted.shares_[np.newaxis], 2, 0), rtol=1e-6)
    assert fitted.memberships(rows_of(np.zeros((0, 40)))).shape == (0, 8)
    table, _ = topics(30)
    table[4] = 0
    concepts = usual().fit_rows(rows_of(table))
    np.testing.assert_allclose(concepts.memberships_[4], concepts.shares_, rtol=1e-6)


def test_responsibility_is_by_definition(fitted):
    table = np.hstack([topics(6, seed=9)[0], np.ones((6, 2), int)])
    table[3] = 0
    table[3, 41] = 2
    rows = rows_of(table)
    theta = fitted.memberships(rows).astype(float)
    phi = fitted.word_probabilities_[1].astype(float)
    for concept in (3, 7):
        shares = fitted.responsibility(rows, concept)
        k, entry = concept - 3, 0
        for d in range(6):
            own = {w: table[d, w] * phi[w, k] / (theta[d, 3:] @ phi[w]) for w in range(40)}
            total = sum(own.values())
            for w in rows.indices[rows.indptr[d] : rows.indptr[d + 1]]:
                expected = own[w] / total if w < 40 else 0
                assert shares[entry] == pytest.approx(expected, rel=1e-4, abs=1e-7)
                entry += 1


def test_concepts_of_a_word_are_by_bayes(fitted):
    chances = fitted.concepts_of(12)
    np.testing.assert_allclose([chances[:3].sum(), chances[3:].sum()], 1)
    joint = fitted.word_probabilities_[0][12] * fitted.shares_[:3]
    np.testing.assert_allclose(chances[:3], joint / joint.sum())
    with pytest.raises(ParameterError, match="Column 99 is no word of the concepts"):
        fitted.concepts_of(99)
    with pytest.raises(ParameterError, match="no concept 8; they are numbered from 0 to 7"):
        fitted.words(8, 3)


def test_pruned_columns_are_forgotten(fitted):
    table, _ = topics(20, seed=3)
    pruned = pickle.loads(pickle.dumps(fitted))
    keep = np.arange(41) % 4 != 1
    pruned.prune(keep)
    without = table * keep[:40]
    np.testing.assert_array_equal(
        pruned.memberships(rows_of(table[:, keep[:40]])), fitted.memberships(rows_of(without))
    )
    with pytest.raises(ParameterError, match="keep has 3 entries"):
        fitted.prune(keep[:3])
    pruned.prune(np.zeros(len(keep), bool))
    assert pruned.memberships(rows_of(table)).shape == (20, 8)


def test_a_state_survives_json(fitted):
    header, tensors = fitted.state()
    again = Concepts.from_state(json.loads(json.dumps(header)), tensors)
    rows = rows_of(topics()[0])
    np.testing.assert_array_equal(again.memberships(rows), fitted.memberships(rows))
    assert again.words(4, 5)[0].tolist() == fitted.words(4, 5)[0].tolist()
    assert again.memberships_.shape == (0, 8)
    assert [curve.tolist() for curve in again.perplexities_] == header["perplexities"]


@pytest.mark.parametrize(
    ("header", "tensors", "sentence"),
    [
        ({"n_concepts": "many"}, {}, "n_concepts is 'many'"),
        ({"n_concepts": [3]}, {}, "'shares' has the shape 8; it must be 3"),
        ({"n_concepts": [4, 4]}, {}, "'words.0' has the shape 40 x 3; it must be 40 x 4"),
        ({"n_concepts": [3, 5, 0]}, {}, "n_concepts"),
        ({"n_iter": [1]}, {}, "'n_iter' is \\[1\\]"),
        ({"n_iter": None}, {}, "n_iter"),
        ({"perplexities": [[1.0], "x"]}, {}, "perplexities"),
        ({"perplexities": [[1.0], [None]]}, {}, "perplexities"),
        ({"max_iter": -1}, {}, "max_iter is -1"),
        ({}, {"columns": np.arange(40, dtype=np.int32)[::-1].copy()}, "does not ascend"),
        ({}, {"columns": np.arange(-1, 39, dtype=np.int32)}, "holds -1"),
        ({}, {"columns": np.arange(39, dtype=np.int32)}, "40 x 3; it must be 39 x 3"),
        ({}, {"columns": np.zeros(40)}, "float64"),
        ({}, {"shares": np.full(8, np.nan)}, "'shares' holds nan"),
        ({}, {"shares": np.full(8, 2.0)}, "'shares' holds 2"),
        ({}, {"words.1": np.full((40, 5), np.nan, np.float32)}, "'words.1' holds nan"),
        ({}, {"words.1": np.full((40, 5), -1, np.float32)}, "'words.1' holds -1"),
        ({}, {"words.0": np.full((40, 3), np.inf, np.float32)}, "'words.0' holds inf"),
        ({}, {"words.0": np.zeros((40, 3))}, "float64"),
    ],
)  # fmt: skip
def test_a_spoilt_state_is_refused(fitted, header, tensors, sentence):
    sound, arrays_ = fitted.state()
    with pytest.raises(ModelError, match=sentence):
        Concepts.from_state(sound | header, arrays_ | tensors)
    for name in arrays_:
        with pytest.raises(ModelError, match="lacks the tensor"):
            Concepts.from_state(sound, {k: v for k, v in arrays_.items() if k != name})


def test_a_strange_state_does_no_harm(fitted):
    """Probabilities that are within bounds, and make no sense."""
    header, tensors = fitted.state()
    random = np.random.default_rng(0)
    for chance in (0.0, 1.0, 1e-40, 1e-26, None):
        words = {
            f"words.{i}": (
                np.full((40, size), chance, np.float32)
                if chance is not None
                else random.random((40, size), dtype=np.float32) ** 90
            )
            for i, size in enumerate((3, 5))
        }
        strange = Concepts.from_state(header, tensors | words | {"shares": np.zeros(8)})
        rows = rows_of(topics(20)[0])
        assert np.isfinite(strange.memberships(rows)).all()
        assert np.isfinite(strange.responsibility(rows, 1)).all()
        with np.errstate(all="ignore"):
            assert len(strange.words(2, 5)[0]) <= 5
        assert np.isfinite(strange.concepts_of(3)).all()


# Bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [-1, np.nan, np.inf, 1e9])
def test_counts_that_are_none(fitted, value):
    table = topics(30)[0].astype(float)
    table[2, 7] = value
    for use in (usual().fit_rows, fitted.memberships):
        with pytest.raises(DocumentError, match=r"Document 2 .* in column 7"):
            use(rows_of(table))


def test_fractions_are_weights_with_a_warning(fitted):
    table = topics(60)[0] * 0.5
    with pytest.warns(ThresherWarning, match=r"Document 0 .* take fractions for weights") as caught:
        concepts = usual().fit_rows(rows_of(table))
    assert len(caught) == 1
    np.testing.assert_allclose(concepts.memberships_.sum(axis=1), 1, rtol=1e-5)
    halves, whole = fitted.memberships(rows_of(table)), fitted.memberships(rows_of(table * 2))
    np.testing.assert_allclose(halves, whole, atol=1e-3)


@pytest.mark.parametrize(
    ("table", "parameters"),
    [
        (np.zeros((3, 4)), {}),
        (np.zeros((0, 4)), {}),
        (np.zeros((3, 0)), {}),
        (np.ones((9, 4)), {"max_df": 0.5}),
        (np.eye(9), {"min_df": 2}),
    ],
)
def test_nothing_to_learn_from(table, parameters):
    with pytest.raises(DocumentError, match="left for the concepts"):
        usual(2, **parameters).fit_rows(rows_of(table))


def test_more_concepts_than_documents_or_words():
    table, _ = topics(30)
    for part in (table, table[:4], table[:, :3]):
        rows = rows_of(part)
        with pytest.warns(ThresherWarning, match="for 50 concepts.*lower n_concepts"):
            concepts = usual(50).fit_rows(rows)
        np.testing.assert_allclose(concepts.memberships(rows).sum(axis=1), 1, rtol=1e-5)


def test_one_concept_is_the_mean_of_all():
    table, _ = topics(30)
    concepts = usual(1, held_out=0.0).fit_rows(rows_of(table))
    assert concepts.n_iter_.tolist() == [1]
    shares = table.sum(axis=0) / table.sum()
    np.testing.assert_allclose(concepts.word_probabilities_[0][:, 0], shares, rtol=1e-5)
    np.testing.assert_allclose(concepts.memberships_, 1, rtol=1e-6)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"n_concepts": 0}, "n_concepts is 0"),
        ({"n_concepts": []}, "n_concepts is \\[\\]"),
        ({"n_concepts": [5, 2.5]}, "whole number from 1 to 100000, or a list"),
        ({"held_out": 1.0}, "held_out is 1.0"),
        ({"tempering": 1.0}, "tempering is 1.0"),
        ({"random_state": -1}, "random_state is -1"),
    ],
)
def test_parameters_that_make_no_sense(parameters, sentence):
    with pytest.raises(ParameterError, match=sentence):
        Concepts(**parameters).fit_rows(rows_of(np.eye(3)))


def test_a_mask_of_another_length_and_no_threads():
    rows = rows_of(topics(30)[0])
    with pytest.raises(ParameterError, match="one truth value per column"):
        usual().fit_rows(rows, columns=np.ones(3, bool))
    with pytest.raises(ParameterError, match="n_jobs is 0"):
        usual().fit_rows(rows, n_jobs=0)


# Ctrl-C and progress ------------------------------------------------------------------------------


def test_progress_tells_iteration_and_perplexity():
    stages = []
    usual((2, 3), max_iter=4).fit_rows(
        rows_of(topics(60)[0]), progress=lambda *stage: stages.append(stage)
    )
    assert [share for _, _, share in stages] == [0.25, 0.5, 0.75, 1.0]
    text, documents, _ = stages[1]
    assert text.startswith("concepts, iteration 2, perplexity ") and documents == 60
    assert text.count(", ") == 3  # of both models


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interruption_keeps_the_iterations_before(n_jobs):
    rows = rows_of(topics()[0])

    def interrupt(stage, documents, share):
        if "iteration 9" in stage:
            raise KeyboardInterrupt

    with pytest.warns(ThresherWarning, match="interrupted after 9 iterations"):
        partial = usual((3, 5)).fit_rows(rows, n_jobs=n_jobs, progress=interrupt)
    assert tables_of(partial) == tables_of(usual((3, 5), max_iter=9).fit_rows(rows))


def test_an_interruption_before_the_first_iteration_changes_nothing(fitted):
    concepts = pickle.loads(pickle.dumps(fitted))
    step = plsa.Maximisation._step

    def interrupt(*arguments):
        raise KeyboardInterrupt

    plsa.Maximisation._step = interrupt
    try:
        with pytest.raises(KeyboardInterrupt):
            concepts.fit_rows(rows_of(topics(30)[0]))
    finally:
        plsa.Maximisation._step = step
    assert tables_of(concepts) == tables_of(fitted)


def test_an_interruption_at_any_line_leaves_something_whole():
    table, _ = topics(12)
    rows, fresh = rows_of(table), rows_of(topics(12, seed=4)[0])
    before = usual((2, 3), max_iter=2).fit_rows(rows)
    untouched, line, ends = tables_of(before), 1, set()
    while True:
        concepts = pickle.loads(pickle.dumps(before))
        with (
            warnings.catch_warnings(record=True) as caught,
            interrupted_at(line, module, plsa) as came,
        ):
            warnings.simplefilter("always")
            concepts.fit_rows(fresh)
        ends.add((bool(came), bool(caught)))
        assert not came or tables_of(concepts) == untouched
        assert np.isfinite(concepts.memberships(fresh)).all()
        if not came and not caught:
            break
        line += 7
    assert ends == {(True, False), (False, True), (False, False)}


# scikit-learn's protocol --------------------------------------------------------------------------


def expected_failures(estimator):
    """Name the checks that do not fit, with the reason."""
    if estimator.n_concepts == 2:
        return {}
    return {"check_transformer_n_iter": "several models have several numbers of iterations"}


@parametrize_with_checks(
    [usual(2), usual((2, 3), held_out=0.0, max_iter=5)], expected_failed_checks=expected_failures
)
@pytest.mark.filterwarnings("ignore::thresher.errors.ThresherWarning")
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_as_a_transformer(fitted):
    table, _ = topics()
    ours = clone(fitted).set_params(n_jobs=2)
    memberships = ours.fit_transform(csr_array(table))
    np.testing.assert_array_equal(memberships, ours.transform(table))
    np.testing.assert_allclose(memberships, fitted.memberships(rows_of(table)), atol=5e-3)
    assert ours.get_feature_names_out().tolist() == [f"concept{k}" for k in range(8)]
