"""Arrays passed by address, and arrays that start at a cache line."""

import numpy as np
import pytest

from thresher._kernels._jit import kernel
from thresher._kernels.reader import array_addresses, arrays_at
from thresher._kernels.text import prefetch
from thresher.learners import growing
from thresher.learners.growing import BOTH, CATEGORIES, FEATURES, Table, Tables
from thresher.learners.scoring import CACHE_LINE_BYTES, cache_aligned

DTYPES = np.int64, np.float32, np.bool_, np.uint8


@kernel
def scaled(table, factor):
    """Return the sum of each array, once the second is multiplied."""
    numbers, values, truths, letters = arrays_at(table, DTYPES)
    for i in range(values.size):
        prefetch(values, (i + 1000,))  # far outside, which does no harm
        values[i] *= factor
    return numbers.sum(), values.sum(), truths.sum(), letters.size


def test_arrays_are_read_and_written_by_their_addresses():
    values, truths = np.arange(4, dtype=np.float32), np.array([True, False, True])
    arrays = np.array([5, -7]), values, truths, np.zeros(0, np.uint8)
    assert scaled(array_addresses(DTYPES, arrays), 3) == (-2, 18.0, 2, 0)
    assert values.tolist() == [0, 3, 6, 9]


@pytest.mark.parametrize(
    "values", [np.zeros(4), np.zeros(8, np.float32)[::2]], ids=["another type", "in pieces"]
)
def test_an_array_that_is_not_as_expected_is_refused(values):
    arrays = np.zeros(1, np.int64), values, np.zeros(1, bool), np.zeros(1, np.uint8)
    with pytest.raises(TypeError, match="in one piece"):
        array_addresses(DTYPES, arrays)


@pytest.mark.parametrize(
    ("shape", "dtype", "width"),
    [
        ((5, 90), np.float32, 96),
        ((5, 96), np.float32, 96),
        ((5, 3), np.float32, 3),  # five times the memory for nothing
        ((0, 90), np.float32, 96),
        ((90,), np.int64, 96),
        ((7,), np.float64, 7),
        ((3, 130), np.bool_, 192),
    ],
)
def test_long_rows_begin_where_a_line_begins(shape, dtype, width):
    array = cache_aligned(shape, dtype, 1)
    assert array.shape == (*shape[:-1], width)
    assert array.dtype == dtype and array.flags.c_contiguous and array.flags.writeable
    assert (array == 1).all()
    if array.itemsize * width >= 2 * CACHE_LINE_BYTES:
        assert all(row.ctypes.data % CACHE_LINE_BYTES == 0 for row in array.reshape(-1, width))


@pytest.mark.parametrize("at_once", [1, 7, 4096])
def test_spare_cells_are_given_up_in_place(at_once, monkeypatch):
    monkeypatch.setattr(growing, "ROWS_MOVED_AT_ONCE", at_once)
    layout = {
        "weights": Table(BOTH, np.float32, 0.5), "live": Table(BOTH, bool, True),
        "seen": Table(FEATURES, bool, False), "clock": Table(CATEGORIES, np.float64, 0.0),
    }  # fmt: skip
    tables = Tables(layout, 29, 33)
    chance = np.random.default_rng(0)
    tables["weights"][:] = chance.normal(size=(30, 33))
    tables["live"][:] = chance.random((30, 33)) < 0.5
    before = {name: array.copy() for name, array in tables.items()}
    assert tables.buffers["weights"].shape == (30, 48)
    tables.tighten()
    assert tables.buffers["weights"].shape == (30, 33)
    assert tables["weights"].flags.c_contiguous
    for name, array in tables.items():
        np.testing.assert_array_equal(array, before[name])
    tables.grow(31, 60)
    np.testing.assert_array_equal(tables["weights"][:30, :33], before["weights"])
    assert (tables["weights"][30:] == 0.5).all() and (tables["weights"][:, 33:] == 0.5).all()
