"""Limits of parameter values, of numbers in model files, and of memory.

The limits are far above sensible values: they catch mistakes and malicious files.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from thresher.errors import ParameterError, counted, param

MOST_THREADS: Final = 1024
MOST_ROUNDS: Final = 1_000_000  # passes, iterations, epochs
MOST_FOLDS: Final = 1000
MOST_THINGS: Final = 2**31 - 1  # documents, features, categories: numbers of 32 bits
MOST_DOCUMENT_MB: Final = 1024
MOST_COUNTED: Final = 2**53  # counts over a lifetime; double precision cannot count further
LARGEST: Final = 1e6  # of a parameter without other bounds
# The strengths of a document add up to at most 1e17 (the number of its words times the largest
# block weight), so that scores with such weights are within single precision.
LARGEST_WEIGHT: Final = 1e20
LARGEST_SUM: Final = 1e60  # of weights, or of their squares, in double precision
LARGEST_SAMPLE_WEIGHT: Final = 1e12

# Memory -----------------------------------------------------------------------------------------

BYTES_TO_ANNOUNCE = 1 << 30  # a warning is issued if training needs more memory
CONTROL_GROUP = Path("/sys/fs/cgroup/memory.max")  # the limit of a container


def room() -> int | None:
    """Return the largest memory of this process in bytes, or None if the system does not say.

    Examples
    --------
    >>> (room() or 2**40) > 2**24
    True
    """
    limits = []
    with suppress(AttributeError, OSError, ValueError):  # not on Windows
        limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with suppress(OSError, ValueError):  # "max" means no limit
        limits.append(int(CONTROL_GROUP.read_text()))
    with suppress(ImportError, OSError, ValueError):
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        limits += [limit] if limit != resource.RLIM_INFINITY else []
    return min(limits, default=None)


def check_room(n_bytes: int, what: str, remedy: str) -> None:
    """Raise `ParameterError` if something needs more memory than this machine has.

    Examples
    --------
    >>> check_room(2**60, "The weights of all atoms", "take fewer of them")
    Traceback (most recent call last):
    thresher.errors.ParameterError: The weights of all atoms need 1,073,741,824.0 GB of memory, ...
    """
    if (most := room()) is not None and n_bytes > most:
        raise ParameterError(
            f"{what} need {n_bytes / 2**30:,.1f} GB of memory, and there are {most / 2**30:,.1f}: "
            f"{remedy}."
        )


MOST_WEIGHT_BYTES: Final = 2 * 2**30  # to stay below, the rarest n-grams are left out
FEWER_FEATURES: Final = (
    f"leave rare words out ({param('min_df', 3)}), keep fewer ({param('max_features')}, "
    f"{param('n_selected')}), hash them ({param('hashing_bits', 18)}), or take another learner"
)


def most_columns(weight_bytes: int, n_categories: int) -> int | None:
    """Return the largest number of features whose weights fit, or None if there are no weights.

    Parameters
    ----------
    weight_bytes : int
        The bytes that a learner needs for a feature in a category.
    n_categories : int
        The number of categories.

    Examples
    --------
    >>> most_columns(8, 90), most_columns(0, 90)
    (2982616, None)
    """
    size = weight_bytes * max(1, n_categories)
    return max(1, MOST_WEIGHT_BYTES // size) if size else None


def check_weights(weight_bytes: int, n_columns: int, n_categories: int) -> None:
    """Raise `ParameterError` if weights would exceed the limit or the memory of the machine."""
    n_bytes = n_columns * n_categories * weight_bytes
    most = min(MOST_WEIGHT_BYTES, room() or MOST_WEIGHT_BYTES)
    if n_bytes > most:
        what = f"{counted(n_columns, 'feature')} and {counted(n_categories, 'category')}"
        raise ParameterError(
            f"{what} need {n_bytes / 2**30:.1f} GB of memory for weights; the limit is "
            f"{most / 2**30:.3g} GB: {FEWER_FEATURES}."
        )


def give_back() -> None:
    """Return freed memory to the system, which Arrow and C libraries would keep for reuse."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    with suppress(AttributeError, OSError, TypeError):  # glibc only
        import ctypes

        ctypes.CDLL(None).malloc_trim(0)
