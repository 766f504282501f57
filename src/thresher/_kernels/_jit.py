"""How kernels are compiled: the only mention of Numba's options in the project."""

from collections.abc import Callable
from typing import Any

from numba import njit


def kernel(function: Callable) -> Any:
    """Compile on first call, and keep the machine code on disk when a place can be found for it."""
    options = {"nogil": True, "error_model": "numpy"}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # no writable place for the cache
        return njit(**options)(function)
