"""Arrays with room to grow."""

from __future__ import annotations

import numpy as np


def reserved(array: np.ndarray, size: int) -> np.ndarray:
    """Return the array, or where it has fewer than `size` places, a longer copy that ends in zeros.

    Half as much again is reserved, so that growing one by one costs the same at any size.
    """
    if len(array) >= size:
        return array
    longer = np.zeros((max(size, len(array) + len(array) // 2), *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer
