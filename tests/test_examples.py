"""A spool returns the stored examples in any order, from memory and from disk."""

import numpy as np
import pytest

from thresher.examples import Spool, shuffled
from thresher.rows import Labels, Rows


def random_part(rng, n_rows, n_columns=50):
    lengths = rng.integers(0, 12, n_rows)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    indices = np.concatenate(
        [rng.permutation(n_columns)[:n] for n in lengths] or [np.empty(0)]
    ).astype(np.int32)
    values = rng.random(indptr[-1]).astype(np.float32)
    labels = Labels.from_lists([rng.permutation(4)[: rng.integers(0, 3)] for _ in range(n_rows)], 4)
    return Rows(indptr, indices, values, n_columns), labels


def as_dicts(rows):
    return [
        dict(zip(rows.indices[a:b].tolist(), rows.values[a:b].tolist(), strict=True))
        for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    ]


@pytest.fixture(params=["memory", "disk"])
def filled(request, monkeypatch):
    """A spool of five parts, and the same documents as plain dicts and label lists."""
    monkeypatch.setattr("thresher.examples.BLOCK_ENTRIES", 64)
    rng = np.random.default_rng(7)
    parts = [random_part(rng, n) for n in (20, 1, 0, 33, 6)]
    spool = Spool(memory_limit=10**9 if request.param == "memory" else 200)
    for rows, labels in parts:
        spool.append(rows, labels)
    assert spool.on_disk == (request.param == "disk")
    documents = [as_dict for rows, _ in parts for as_dict in as_dicts(rows)]
    return spool, documents, Labels.concatenate([labels for _, labels in parts])


def read_all(spool, order=None):
    blocks = [
        (rows, labels) if visits is None else (rows.take(visits), labels.take(visits))
        for rows, labels, visits in spool.blocks(order)
    ]
    documents = [as_dict for rows, _ in blocks for as_dict in as_dicts(rows)]
    return documents, Labels.concatenate([labels for _, labels in blocks])


def test_documents_come_back_in_their_order(filled):
    spool, documents, labels = filled
    for _ in range(2):
        read, read_labels = read_all(spool)
        assert read == documents
        np.testing.assert_array_equal(read_labels.to_dense(), labels.to_dense())
    assert len(spool) == 60


def test_documents_come_back_in_any_order(filled):
    spool, documents, labels = filled
    order = np.random.default_rng(1).permutation(len(spool))
    read, read_labels = read_all(spool, order)
    assert read == [documents[i] for i in order]
    np.testing.assert_array_equal(read_labels.to_dense(), labels.to_dense()[order])


def test_map_replaces_rows_and_keeps_labels(filled):
    spool, documents, labels = filled
    spool.map(lambda rows: rows._replace(values=rows.values * 2))
    read, read_labels = read_all(spool)
    assert read == [{k: v * 2 for k, v in document.items()} for document in documents]
    np.testing.assert_array_equal(read_labels.to_dense(), labels.to_dense())


def test_a_document_longer_than_a_block_is_a_block_of_its_own(monkeypatch):
    monkeypatch.setattr("thresher.examples.BLOCK_ENTRIES", 4)
    spool = Spool(memory_limit=0)
    rows = Rows(np.array([0, 9, 10]), np.arange(10, dtype=np.int32), np.ones(10, np.float32), 10)
    spool.append(rows, Labels.from_lists([[0], []], 1))
    assert [block.n_rows for block, _, _ in spool.blocks()] == [1, 1]


def test_an_empty_spool_has_no_blocks():
    assert list(Spool().blocks()) == []


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 1000])
def test_a_shuffled_order_meets_every_document_once(n, monkeypatch):
    monkeypatch.setattr("thresher.examples.GROUP", 256)
    order = shuffled(n, np.random.default_rng(0))
    assert sorted(order) == list(range(n))
    again = shuffled(n, np.random.default_rng(0))
    np.testing.assert_array_equal(order, again)


def test_a_shuffled_order_mixes_what_came_sorted(monkeypatch):
    """Each group has documents from the whole spool, although they are read in runs."""
    monkeypatch.setattr("thresher.examples.GROUP", 1024)
    order = shuffled(16 * 1024, np.random.default_rng(0))
    for group in order.reshape(16, 1024):
        assert len(np.unique(group // 64)) == 16
        assert group.std() > 2000
        assert abs(np.corrcoef(group, np.arange(1024))[0, 1]) < 0.2
