"""Arrays with room to grow, or with a place in memory that suits them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

LINE = 64  # bytes that a processor fetches at a time


def reserved(array: np.ndarray, size: int) -> np.ndarray:
    """Return the array, or where it has fewer than `size` places, a longer copy that ends in zeros.

    Half as much again is reserved, so that growing one by one costs the same at any size.
    """
    if len(array) >= size:
        return array
    longer = np.zeros((max(size, len(array) + len(array) // 2), *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


def lined_up(shape: Sequence[int], dtype: Any, fill: float = 0) -> np.ndarray:
    """Return an array that begins, as does each long row, where what is fetched at a time begins.

    Rows are longer for it by a few places. So threads that divide the columns among them never
    write to the same line, which would then go back and forth between the processors.
    """
    *rows, n = shape
    size = np.dtype(dtype).itemsize
    if n * size >= 2 * LINE:  # shorter ones would take much more memory, and are not divided
        n += -n % (LINE // size)
    n_bytes = math.prod(rows) * n * size
    room = np.empty(n_bytes + LINE, np.uint8)
    start = -room.ctypes.data % LINE
    array: np.ndarray = room[start : start + n_bytes].view(dtype).reshape(*rows, n)
    array[:] = fill
    return array
