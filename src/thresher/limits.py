"""How large numbers may be: on the command line, in constructors and in model files alike.

Nobody who means what he says meets these limits. What is beyond is a slip, or a file by somebody
who wants to see a machine hang.
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
MOST_COUNTED: Final = 2**53  # over all times: beyond, one more is the same in double precision
LARGEST: Final = 1e6  # what a parameter may be that has no bounds of its own
# Strengths of a document add up to 1e17 at most (as many words as a document can have, and the
# largest weight of a block): a score of such weights is then within single precision.
LARGEST_WEIGHT: Final = 1e20
LARGEST_SUM: Final = 1e60  # of weights, or of their squares, in double precision
LARGEST_SAMPLE_WEIGHT: Final = 1e12

# Memory -----------------------------------------------------------------------------------------

MUCH = 1 << 30  # bytes from which on it is said what will be needed
CONTROL_GROUP = Path("/sys/fs/cgroup/memory.max")  # of a container, from within


def room() -> int | None:
    """Return the bytes that this process may ever have; `None` where the system does not tell.

    Examples
    --------
    >>> (room() or 2**40) > 2**24
    True
    """
    limits = []
    with suppress(AttributeError, OSError, ValueError):  # Windows has no such question
        limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with suppress(OSError, ValueError):  # "max" is no number
        limits.append(int(CONTROL_GROUP.read_text()))
    with suppress(ImportError, OSError, ValueError):
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        limits += [limit] if limit != resource.RLIM_INFINITY else []
    return min(limits, default=None)


def check_room(n_bytes: int, what: str, remedy: str) -> None:
    """Raise a sentence where something would take more than this machine has.

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


MOST_WEIGHT_BYTES: Final = 2 * 2**30  # the rarest word and character n-grams are left out beyond
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
    most, size = most_columns(weight_bytes, n_categories), n_columns * n_categories * weight_bytes
    what = f"{counted(n_columns, 'feature')} and {counted(n_categories, 'category')}"
    if most is not None and n_columns > most:
        raise ParameterError(
            f"{what} need {size / 2**30:.1f} GB for weights, and {MOST_WEIGHT_BYTES / 2**30:g} is "
            f"the most: {FEWER_FEATURES}."
        )
    check_room(size, what, FEWER_FEATURES)


def give_back() -> None:
    """Give the system what was freed: C libraries and Arrow keep it, for what may come next."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    with suppress(AttributeError, OSError, TypeError):  # only the C library of Linux has to be told
        import ctypes

        ctypes.CDLL(None).malloc_trim(0)
