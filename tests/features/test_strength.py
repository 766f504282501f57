"""Strengths against their definitions and scikit-learn; selection against its definitions."""

import io
import json
import re
import subprocess
import sys
import tarfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array, csr_matrix
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from naive import features as naive
from thresher import Categorizer
from thresher.errors import DocumentError, ModelError, ParameterError
from thresher.experiments.protocols import CountedDocuments
from thresher.features import (
    KINDS,
    SELECTIONS,
    ChiSquare,
    InformationGain,
    Strength,
    chi_square,
    information_gain,
    select,
)
from thresher.rows import Labels, Rows

NORMS = (None, "sum", "l1", "l2")
TABLES = arrays(
    np.int64,
    st.tuples(st.integers(0, 7), st.integers(1, 6)),
    elements=st.integers(0, 9) | st.just(0),
)


def rows_of(table, *, explicit_zeros=False):
    """Return a dense table as Rows, columns in descending order to be awkward."""
    table = np.asarray(table)
    rows = [list(range(table.shape[1]))[::-1] for _ in table]
    if not explicit_zeros:
        rows = [[j for j in row if table[i, j]] for i, row in enumerate(rows)]
    indptr = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    indices = np.array([j for row in rows for j in row], np.int32)
    values = np.array([table[i, j] for i, row in enumerate(rows) for j in row], np.float32)
    return Rows(indptr, indices, values, table.shape[1])


def dense(rows):
    table = np.zeros((rows.n_rows, rows.n_columns), np.float32)
    owners = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
    table[owners, rows.indices] = rows.values
    return table


# Strengths ----------------------------------------------------------------------------------------


@given(TABLES, st.sampled_from(KINDS), st.sampled_from(NORMS), st.booleans(), st.booleans())
def test_strengths_are_what_they_are_defined_to_be(table, kind, normalize, smooth, sublinear):
    strength = Strength(kind, normalize=normalize, smooth_idf=smooth, sublinear_tf=sublinear)
    strengths = dense(strength.observe(rows_of(table)).apply(rows_of(table)))
    expected = naive.strengths(table.tolist(), kind, normalize, table, smooth, sublinear)
    np.testing.assert_allclose(strengths, np.reshape(expected, table.shape), rtol=1e-6)


@given(TABLES, st.sampled_from(KINDS), st.sampled_from(NORMS))
def test_explicit_zeros_change_nothing(table, kind, normalize):
    strength = Strength(kind, normalize=normalize, sublinear_tf=True)
    with_zeros = rows_of(table, explicit_zeros=True)
    strengths = dense(strength.observe(with_zeros).apply(with_zeros))
    strength = Strength(kind, normalize=normalize, sublinear_tf=True)
    expected = dense(strength.observe(rows_of(table)).apply(rows_of(table)))
    np.testing.assert_allclose(strengths, expected, rtol=1e-6)


@given(TABLES.filter(len), st.booleans(), st.booleans(), st.sampled_from(["l1", "l2", None]))
def test_tf_idf_equals_scikit_learn(table, smooth, sublinear, norm):
    theirs = TfidfTransformer(norm=norm, smooth_idf=smooth, sublinear_tf=sublinear)
    with np.errstate(divide="ignore"):  # theirs divides by zero for a feature that never occurs
        expected = theirs.fit_transform(csr_matrix(table.astype(float))).toarray()
    ours = Strength("tf-idf", normalize=norm, smooth_idf=smooth, sublinear_tf=sublinear)
    np.testing.assert_allclose(ours.fit_transform(csr_array(table)).toarray(), expected, rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("normalize", NORMS)
def test_applying_shares_the_structure_and_leaves_the_counts_alone(kind, normalize):
    counts = rows_of([[0, 4, 1], [0, 0, 0], [2, 0, 0]])
    before = counts.values.copy()
    strengths = Strength(kind, normalize=normalize).apply(counts)
    assert strengths.indptr is counts.indptr and strengths.indices is counts.indices
    assert strengths.values.dtype == np.float32
    np.testing.assert_array_equal(counts.values, before)


@given(TABLES.filter(lambda table: len(table) > 1), st.sampled_from(KINDS), st.sampled_from(NORMS))
def test_a_document_has_the_same_strengths_in_any_company(table, kind, normalize):
    strength = Strength(kind, normalize=normalize).observe(rows_of(table))
    together = dense(strength.apply(rows_of(table)))
    alone = np.vstack([dense(strength.apply(rows_of(row[None]))) for row in table])
    np.testing.assert_array_equal(together, alone)


def test_normalised_strengths_sum_to_one():
    table = np.random.default_rng(0).poisson(0.5, (200, 3000))
    table[7] = 0
    sums = dense(Strength("frequency", normalize="sum").apply(rows_of(table))).sum(axis=1)
    np.testing.assert_allclose(np.delete(sums, 7), 1, rtol=1e-5)
    assert sums[7] == 0


def test_the_length_of_a_document_counts_all_its_tokens():
    """Without lengths a document is as long as its counts say."""
    counts = rows_of([[1, 2, 5], [3, 0, 0]])
    book = Strength("book")
    np.testing.assert_array_equal(dense(book.apply(counts)), [[3, 5, 8], [10, 0, 0]])
    longer = dense(book.apply(counts._replace(lengths=np.array([100, 3]))))
    np.testing.assert_array_equal(longer, [[2, 3, 5], [10, 0, 0]])
    with pytest.raises(ParameterError, match="1 length for 2 documents"):
        book.apply(counts._replace(lengths=np.array([8])))


BOOK_WORDS = ["vs", "mln", "cts", ";", "&", "000", "loss", "'", '"', "3"]
BOOK_WORDS += ["profit", "dlrs", "1", "pct", "is", "s", "that", "net", "lt", "at"]


@pytest.mark.corpus
def test_the_books_example_document(data_dir):
    """Document 11 of Reuters has the vector that is printed in the book's chapter 16."""
    with tarfile.open(data_dir / "reuters21578" / "reuters21578.tar.gz") as archive:
        name = next(name for name in archive.getnames() if name.endswith("reut2-000.sgm"))
        collection = io.TextIOWrapper(archive.extractfile(name), "latin-1").read()
    document = re.search(r'NEWID="11">.*?</REUTERS>', collection, re.DOTALL)[0]
    parts = [
        re.search(f"<{tag}>(.*?)</{tag}>", document, re.DOTALL)[1] for tag in ("TITLE", "BODY")
    ]
    tokens = re.findall(r"[a-z]+|[0-9]+|[^a-z0-9\s]", " ".join(parts).lower())
    counts = rows_of([[tokens.count(word) for word in BOOK_WORDS]])
    strengths = Strength("book").apply(counts._replace(lengths=np.array([len(tokens)])))
    expected = [5, 5, 3, 3, 3, 4, 0, 0, 0, 4, 0, 3, 2, 0, 0, 0, 0, 3, 2, 0]
    np.testing.assert_array_equal(dense(strengths)[0], expected)


@given(TABLES.filter(lambda table: len(table) > 1))
def test_observing_in_pieces_is_observing_at_once(table):
    table[0, 1:] = 0  # the first piece has one column only
    once = Strength("tf-idf").observe(rows_of(table))
    pieces = Strength("tf-idf").observe(rows_of(table[:1, :1])).observe(rows_of(table[1:]))
    np.testing.assert_array_equal(
        pieces.apply(rows_of(table)).values, once.apply(rows_of(table)).values
    )


@pytest.mark.parametrize(("smooth", "unseen"), [(True, np.log(3) + 1), (False, np.log(2) + 1)])
def test_a_feature_never_observed_is_the_rarest(smooth, unseen):
    strength = Strength("tf-idf", smooth_idf=smooth).observe(rows_of([[1], [1]]))
    strengths = strength.apply(rows_of([[1, 1]]))
    np.testing.assert_allclose(dense(strengths), [[1, unseen]], rtol=1e-6)
    narrow = strength.apply(rows_of([[1]]))
    np.testing.assert_allclose(dense(narrow), [[1]])


@pytest.mark.parametrize("smooth", [True, False])
def test_before_anything_is_observed_tf_idf_is_tf(smooth):
    strengths = Strength("tf-idf", smooth_idf=smooth).apply(rows_of([[1, 3]]))
    np.testing.assert_array_equal(dense(strengths), [[1, 3]])


def test_pruning_keeps_what_was_observed():
    table = np.array([[1, 0, 2], [0, 0, 1], [3, 1, 1]])
    keep = np.array([True, False, True, True])
    strength = Strength("tf-idf").observe(rows_of(table))
    whole = dense(strength.apply(rows_of(table)))
    strength.prune(keep)
    np.testing.assert_array_equal(
        dense(strength.apply(rows_of(table[:, [0, 2]]))), whole[:, [0, 2]]
    )
    assert strength.state()[1]["document_frequencies"].tolist() == [2, 3, 0]
    with pytest.raises(ParameterError, match="keep has 2 entries, and 3 features were observed"):
        strength.prune(keep[:2])


@pytest.mark.parametrize("kind", KINDS)
def test_a_state_survives_json(kind):
    counts = rows_of([[1, 0, 2], [0, 0, 1]])
    strength = Strength(kind, normalize="l2", smooth_idf=False).observe(counts)
    header, tensors = strength.state()
    again = Strength.from_state(json.loads(json.dumps(header)), tensors)
    np.testing.assert_array_equal(again.apply(counts).values, strength.apply(counts).values)
    assert again.get_params() == strength.get_params()


@pytest.mark.parametrize(
    ("header", "tensors", "sentence"),
    [
        ({"kind": "loud"}, {}, "kind is 'loud'"),
        ({"kind": None}, {}, "kind is None"),
        ({"normalize": "l3"}, {}, "normalize is 'l3'"),
        ({"smooth_idf": 1}, {}, "smooth_idf is 1"),
        ({"n_documents": -1}, {"document_frequencies": np.zeros(2, np.int64)}, "n_documents"),
        ({"n_documents": 2.5}, {}, "n_documents"),
        ({}, {"document_frequencies": np.array([3])}, "holds 3"),
        ({}, {"document_frequencies": np.array([-1])}, "holds -1"),
        ({}, {"document_frequencies": np.array([1.0])}, "float64"),
        ({}, {"document_frequencies": np.array([[1]])}, "shape"),
        ({}, {}, "lacks the tensor 'document_frequencies'"),
    ],
)
def test_a_spoilt_state_is_refused(header, tensors, sentence):
    sound, _ = Strength("tf-idf").observe(rows_of([[1], [0]])).state()
    with pytest.raises(ModelError, match=sentence):
        Strength.from_state(sound | header, tensors)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [({"kind": "loud"}, "one of 'binary', 'frequency'"), ({"normalize": "max"}, "'max'.*'sum'")],
)
def test_what_makes_no_sense_is_said(parameters, sentence):
    with pytest.raises(ParameterError, match=sentence):
        Strength(**parameters).apply(rows_of([[1]]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [-2, np.nan, np.inf, -np.inf])
def test_counts_that_are_none(kind, value):
    counts = rows_of(np.array([[1, 1], [0, value]]))
    if value == -2 and kind in ("binary", "frequency", "tf-idf"):
        assert np.isfinite(Strength(kind, normalize="l1").apply(counts).values).all()
    else:
        with pytest.raises(DocumentError, match=rf"Document 1 .* has {float(value)} in column 1"):
            Strength(kind).apply(counts)


@parametrize_with_checks(
    [
        Strength(),
        Strength("frequency", normalize="sum"),
        Strength("sqrt", normalize="l2"),
        Strength("log"),
        Strength("tf-idf", normalize="l2"),
        Strength("tf-idf", sublinear_tf=True),
        Strength("book"),
    ]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_in_a_pipeline_nothing_of_the_input_is_changed():
    counts = csr_matrix(np.array([[0, 4, 1], [2, 0, 0]]))
    before = counts.copy()
    strengths = make_pipeline(Strength("sqrt"), TfidfTransformer()).fit_transform(counts)
    assert strengths.shape == counts.shape
    assert (counts != before).nnz == 0 and counts.dtype == before.dtype
    names = Strength().fit(counts).get_feature_names_out(["a", "b", "c"])
    assert names.tolist() == ["a", "b", "c"]


# Selection ----------------------------------------------------------------------------------------


@st.composite
def labelled_tables(draw):
    table = draw(TABLES)
    lists = st.lists(st.integers(0, 3), unique=True, max_size=3)
    return table, draw(st.lists(lists, min_size=len(table), max_size=len(table)))


def naive_scores(score, table, labels, n_categories=4):
    cells = [
        [naive.contingency(table, labels, f, c) for c in range(n_categories)]
        for f in range(table.shape[1])
    ]
    return np.array([[score(*cell) for cell in row] for row in cells])


@given(labelled_tables(), st.booleans())
def test_scores_are_what_they_are_defined_to_be(labelled, explicit_zeros):
    table, lists = labelled
    rows, labels = rows_of(table, explicit_zeros=explicit_zeros), Labels.from_lists(lists, 4)
    both = naive_scores(lambda a, b, c, d: a, table, lists)
    np.testing.assert_array_equal(ChiSquare().observe(rows, labels).document_frequencies(), both)
    expected = naive_scores(naive.chi_square, table, lists)
    np.testing.assert_allclose(chi_square(rows, labels), expected, rtol=1e-6)
    expected = naive_scores(naive.information_gain, table, lists)
    gain = information_gain(rows, labels, unit="nats")
    np.testing.assert_allclose(gain, expected, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(information_gain(rows, labels), expected / np.log(2), atol=1e-6)


@given(labelled_tables(), st.sampled_from([ChiSquare, InformationGain]))
def test_pooling_is_pooling_the_scores(labelled, kind):
    table, lists = labelled
    rows, labels = rows_of(table), Labels.from_lists(lists, 4)
    seen = kind().observe(rows, labels)
    scores = seen.scores()
    prior = np.bincount(labels.indices, minlength=4)
    np.testing.assert_allclose(seen.pooled(), scores.max(axis=1), rtol=1e-6)
    np.testing.assert_allclose(seen.pooled("sum"), scores.sum(axis=1), rtol=1e-5, atol=1e-12)
    mean = scores @ prior / max(1, prior.sum())
    np.testing.assert_allclose(seen.pooled("mean"), mean, rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("name", SELECTIONS)
@pytest.mark.parametrize("at_once", [1, 7, 10**6])
def test_observing_in_batches_and_scoring_in_blocks_change_nothing(monkeypatch, name, at_once):
    """New features and categories may come with any batch."""
    generator = np.random.default_rng(3)
    table = generator.poisson(0.4, (60, 23))
    table[:20, 15:] = 0
    lists = [generator.choice(2 if i < 20 else 5, 2, replace=False).tolist() for i in range(60)]
    whole = SELECTIONS[name]().observe(rows_of(table), Labels.from_lists(lists, 5))
    expected = whole.scores()
    monkeypatch.setattr("thresher.features.selection._PAIRS_AT_ONCE", at_once)
    monkeypatch.setattr("thresher.features.selection._CELLS_AT_ONCE", at_once)
    pieces = SELECTIONS[name]()
    pieces.observe(rows_of(table[:20, :15]), Labels.from_lists(lists[:20], 2))
    pieces.observe(rows_of(table[20:55]), Labels.from_lists(lists[20:55], 5))
    pieces.scores()  # looking in between is allowed
    pieces.observe(rows_of(table[55:]), Labels.from_lists(lists[55:], 5))
    np.testing.assert_array_equal(pieces.scores(), expected)
    np.testing.assert_array_equal(pieces.document_frequencies(), whole.document_frequencies())


@pytest.mark.parametrize("name", SELECTIONS)
def test_nothing_observed_scores_nothing(name):
    empty = SELECTIONS[name]().observe(rows_of(np.zeros((0, 3))), Labels.from_lists([], 2))
    assert empty.scores().tolist() == [[0, 0]] * 3
    assert empty.pooled().tolist() == [0, 0, 0]
    unlabelled = SELECTIONS[name]().observe(rows_of([[1, 0]]), Labels.from_lists([[]], 0))
    assert unlabelled.scores().shape == (2, 0)
    assert [unlabelled.pooled(pool).tolist() for pool in ("max", "mean", "sum")] == [[0, 0]] * 3


def test_what_does_not_fit_together_is_said():
    with pytest.raises(ParameterError, match="2 documents with features and 1 with labels"):
        chi_square(rows_of([[1], [1]]), Labels.from_lists([[0]], 1))
    with pytest.raises(ParameterError, match="pool is 'median'; it must be one of 'max'"):
        chi_square(rows_of([[1]]), Labels.from_lists([[0]], 1), pool="median")
    with pytest.raises(ParameterError, match="unit is 'bans'; it must be one of 'bits', 'nats'"):
        InformationGain("bans")


@given(st.lists(st.integers(0, 3), max_size=12), st.integers(0, 14))
def test_of_equal_features_the_first_are_selected(scores, k):
    ranked = sorted(range(len(scores)), key=lambda column: (-scores[column], column))
    expected = [column in ranked[:k] for column in range(len(scores))]
    assert select(np.array(scores), k).tolist() == expected


@pytest.mark.parametrize(
    ("k", "n_selected"), [(0.5, 5), (1.0, 10), (0.01, 1), (0.3, 3), (np.int64(2), 2)]
)
def test_a_share_of_the_features(k, n_selected):
    mask = select(np.arange(10), k)
    assert mask.sum() == n_selected and mask[-n_selected:].all()


def test_features_are_selected_for_each_category():
    scores = np.array([[1.0, 5.0], [2.0, 4.0], [3.0, 3.0]])
    assert select(scores, 1).tolist() == [[False, True], [False, False], [True, False]]


@pytest.mark.parametrize("k", [-1, 0.0, 1.5, True, float("nan")])
def test_a_number_of_features_that_makes_no_sense(k):
    with pytest.raises(ParameterError, match="select: k is"):
        select(np.arange(3), k)


def test_scores_that_cannot_be_ordered():
    with pytest.raises(ParameterError, match="NaN"):
        select(np.array([1.0, np.nan]), 1)


def test_neither_scikit_learn_nor_scipy_is_imported():
    code = (
        "import sys, numpy as np; from thresher.rows import Labels, Rows; "
        "from thresher.features import Strength, chi_square; "
        "rows = Rows(np.array([0, 1]), np.array([0], np.int32), np.ones(1, np.float32), 1); "
        "Strength('tf-idf', normalize='l2').observe(rows).apply(rows); "
        "chi_square(rows, Labels.from_lists([[0]], 1)); "
        "assert not {'sklearn', 'scipy.sparse'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_fold_within_a_fold_has_the_blocks_of_its_own_columns():
    """Thresholds are learned in folds of the part that a cross-validation trains on."""
    texts = [f"{one} word {i % 7} of many" for i, one in enumerate(["cheap pills", "lunch"] * 12)]
    labels, part = ["spam", "ham"] * 12, np.arange(23, 2, -2)
    part = np.concatenate([part, part - 1])
    categorizer = Categorizer(
        objective="f1", tune_folds=2, mode="multi-label", ngram_range=(1, 2),
        char_ngram_range=(3, 3), min_df={"parts": 3}, block_weights={"runs": 0.5, "parts": 0.2},
    )  # fmt: skip
    line = CountedDocuments.read(categorizer, texts, labels).fit(categorizer, part).model
    alone = categorizer.fit([texts[i] for i in part], [labels[i] for i in part])
    np.testing.assert_array_equal(line.decisions.thresholds, alone.decisions_.thresholds)
