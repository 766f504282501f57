"""How kernels are compiled: the only mention of Numba's options in the project."""

from collections.abc import Callable
from threading import RLock
from typing import Any

from numba import __version__, config, njit
from numba.core.compiler_lock import global_compiler_lock

from thresher._kernels._cache import KernelCache, activity


def kernel(function: Callable) -> Any:
    """Compile a function when it is first called; store the machine code on disk if possible."""
    compiled = njit(nogil=True, error_model="numpy")(function)
    if hasattr(compiled, "_cache"):
        compiled._cache = KernelCache(function)
    elif not config.DISABLE_JIT:
        activity.unkept(f"Numba {__version__} does not ask for it where it is known to")
    return compiled


class CompilerLock:
    """The lock that Numba holds while it compiles or loads a kernel."""

    def acquire(self, seconds: float) -> bool:
        """Wait for the lock for some seconds; return whether this thread has it now."""
        return bool(global_compiler_lock._lock.acquire(timeout=seconds))

    def release(self) -> None:
        global_compiler_lock._lock.release()

    def renew(self) -> None:
        """Replace the lock, which a thread may hold that does not exist after a fork."""
        global_compiler_lock._lock = RLock()


compiler_lock = CompilerLock()
