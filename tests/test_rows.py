"""Sparse rows, processed in blocks: results must equal those of processing all rows at once."""

import gc
import weakref

import numpy as np
import pytest

from thresher import TextCounter
from thresher.examples import Examples, Spool
from thresher.features import Numbering, Strength
from thresher.features.strength import BlockWeights
from thresher.limits import give_back
from thresher.rows import Labels, Rows

N_COLUMNS = 40


@pytest.fixture(params=[1, 7, 64, 1 << 17])
def at_once(request, monkeypatch):
    monkeypatch.setattr("thresher.rows.ENTRIES_AT_ONCE", request.param)


@pytest.fixture
def rows():
    """Documents with no, few and many entries; the first and the last are empty."""
    rng = np.random.default_rng(3)
    sizes = [0, *rng.integers(0, 20, 30), 0, 0, 35, 1, 0]
    columns = [rng.permutation(N_COLUMNS)[:size] for size in sizes]
    indices = np.concatenate(columns).astype(np.int32)
    values = rng.integers(1, 9, len(indices)).astype(np.float32)
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    return Rows(indptr, indices, values, N_COLUMNS, rng.integers(35, 99, len(sizes)))


def as_lists(rows):
    """Return the entries of each document in their order, and its length."""
    assert rows.indptr.dtype == np.int64 and rows.indices.dtype == np.int32
    assert rows.indptr[-1] == len(rows.indices) == len(rows.values)
    entries = list(zip(rows.indices.tolist(), rows.values.tolist(), strict=True))
    ends = zip(rows.indptr[:-1], rows.indptr[1:], rows.lengths, strict=True)
    return [(entries[start:end], length) for start, end, length in ends]


@pytest.mark.usefixtures("at_once")
def test_pieces_are_all_rows_in_their_order(rows):
    parts = [(entries, as_lists(item)) for entries, item in rows.pieces()]
    assert [item for _, entry in parts for item in entry] == as_lists(rows)
    assert [entries.start for entries, _ in parts[1:]] == [
        entries.stop for entries, _ in parts[:-1]
    ]


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("order", [[], [0], [35, 0, 35, 7], range(36), range(35, -1, -1)])
def test_rows_and_labels_are_taken_in_any_order(rows, order):
    order = np.array(order, np.int64)
    lists = as_lists(rows)
    assert as_lists(rows.take(order)) == [lists[i] for i in order]
    labels = [[i % 3] * (i % 4) for i in range(rows.n_rows)]
    taken = Labels.from_lists(labels, 3).take(order)
    expected = Labels.from_lists([labels[i] for i in order], 3)
    np.testing.assert_array_equal(taken.indptr, expected.indptr)
    np.testing.assert_array_equal(taken.indices, expected.indices)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_columns_are_left_out_and_numbered_anew(rows, share):
    is_kept = np.random.default_rng(0).random(N_COLUMNS) < share
    new = dict(zip(np.flatnonzero(is_kept).tolist(), range(N_COLUMNS), strict=False))
    left = [([(c, v) for c, v in item if is_kept[c]], length) for item, length in as_lists(rows)]
    same = rows.keep(is_kept, renumber=False)
    assert (as_lists(same), same.n_columns) == (left, N_COLUMNS)
    narrow = rows.keep(is_kept)
    assert as_lists(narrow) == [([(new[c], v) for c, v in item], n) for item, n in left]
    assert narrow.n_columns == len(new)


@pytest.mark.usefixtures("at_once")
def test_columns_are_numbered_as_they_are_met(rows):
    met = list(dict.fromkeys(rows.indices[rows.indices != 5].tolist()))
    examples = Examples.of(
        rows.keep(np.arange(N_COLUMNS) != 5, False), Labels.from_lists([[]] * 36, 1)
    )
    numbering = Numbering.as_met(examples, np.arange(N_COLUMNS), -np.arange(N_COLUMNS))
    assert numbering.blocks.tolist() == met and numbering.numbers[5] == -1
    assert (-numbering.fields).tolist() == met
    assert numbering.numbers[met].tolist() == list(range(len(met))) == list(range(39))


@pytest.mark.parametrize("kind", ["binary", "frequency", "sqrt", "log", "tf-idf", "book"])
@pytest.mark.parametrize("normalize", [None, "sum", "l2"])
def test_strengths_do_not_depend_on_the_pieces(rows, kind, normalize, monkeypatch):
    def strengths():
        strength = Strength(kind, normalize=normalize).observe(rows)
        blocks = (np.arange(N_COLUMNS) % 3).astype(np.uint8)
        weights = BlockWeights(np.array([0.5, 1.5, 2.5], np.float32), blocks, 0)
        return strength.apply(rows, weights).values

    whole = strengths()
    for size in (1, 7, 64):
        monkeypatch.setattr("thresher.rows.ENTRIES_AT_ONCE", size)
        monkeypatch.setattr("thresher.features.strength.ENTRIES_PER_IDF", size)
        assert strengths().tobytes() == whole.tobytes()


@pytest.mark.parametrize("memory_limit", [0, 10**9])
def test_what_is_set_apart_can_be_given_up(rows, memory_limit):
    spool = Spool(memory_limit)
    spool.append(rows._replace(lengths=None), Labels.from_lists([[i % 3] for i in range(36)], 3))
    counts, chosen = Examples(spool), np.array([30, 2, 35, 7])
    piece = counts.take(chosen).apart()
    assert piece.is_shared == (memory_limit == 0)  # data on disk is not copied
    if not piece.is_shared:
        piece = piece.rewrite(lambda item: item._replace(values=-item.values), N_COLUMNS)
        piece.close()
    ((left, labels),) = list(counts)
    np.testing.assert_array_equal(left.values, rows.values)
    assert labels.n_rows == 36


def test_a_pruned_counter_lets_the_space_before_go():
    counter = TextCounter()
    counter.count(["a rose is a rose"])
    before = weakref.ref(counter._space)
    counter.prune(np.array([True, False]))
    gc.collect()
    assert before() is None and counter.feature_names() == ["rose"]


def test_memory_is_given_back_where_the_system_knows_how(monkeypatch):
    give_back()
    monkeypatch.setattr("ctypes.CDLL", lambda name: object())  # a C library without it
    give_back()
