"""How kernels are compiled: the only mention of Numba's options in the project."""

from collections.abc import Callable
from typing import Any

from numba import __version__, config, njit

from thresher._kernels._cache import KernelCache, activity


def kernel(function: Callable) -> Any:
    """Compile on first call, and keep the machine code on disk when a place can be found for it."""
    compiled = njit(nogil=True, error_model="numpy")(function)
    if hasattr(compiled, "_cache"):
        compiled._cache = KernelCache(function)
    elif not config.DISABLE_JIT:
        activity.unkept(f"Numba {__version__} does not ask for it where it is known to")
    return compiled
