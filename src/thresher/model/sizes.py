"""How much memory the weights of a learner take, and what to do if that is too much."""

from __future__ import annotations

import warnings

from thresher.documents import Columns
from thresher.errors import ParameterError, SizeWarning, counted, param
from thresher.features import Features
from thresher.learners import Learner
from thresher.limits import MUCH, check_room
from thresher.rows import Labels

__all__ = ["MOST_WEIGHT_BYTES", "check_memory", "most_columns", "warn_of_size"]

MOST_WEIGHT_BYTES = 2 * 2**30  # the rarest word and character n-grams are left out beyond
SUSPICIOUS_CATEGORIES = 1000  # from so many on, the label column may be the wrong one
FEWER_FEATURES = (
    f"leave rare words out ({param('min_df', 3)}), keep fewer ({param('max_features')}, "
    f"{param('n_selected')}), hash them ({param('hashing_bits', 18)}), or take another learner"
)


def most_columns(learner: Learner, n_categories: int) -> int | None:
    """Return the largest number of features whose weights fit, or None if it has no weights."""
    size = learner.weight_bytes * max(1, n_categories)
    return max(1, MOST_WEIGHT_BYTES // size) if size else None


def check_memory(learner: Learner, features: Features, n_categories: int) -> None:
    """Raise `ParameterError` if the weights would exceed the limit or the memory of the machine."""
    most, n = most_columns(learner, n_categories), features.n_columns
    size = n * n_categories * learner.weight_bytes
    what = f"{counted(n, 'feature')} and {counted(n_categories, 'category')}"
    if most is not None and n > most:
        raise ParameterError(
            f"{what} need {size / 2**30:.1f} GB for weights, and {MOST_WEIGHT_BYTES / 2**30:g} is "
            f"the most: {FEWER_FEATURES}."
        )
    check_room(size, what, FEWER_FEATURES)


def warn_of_size(learner: Learner, n_columns: int, labels: Labels, columns: Columns | None) -> None:
    """Warn of suspiciously many categories, or of much memory, before the first pass."""
    n, n_categories = labels.n_rows, labels.n_categories
    size = min(MOST_WEIGHT_BYTES, n_columns * n_categories * learner.weight_bytes)
    if n_categories >= SUSPICIOUS_CATEGORIES and 2 * n_categories > n:
        name = f' "{columns.labels}"' if columns is not None and columns.labels else ""
        sentence = (
            f"There are {n_categories:,} categories for {n:,} documents: is{name} really the "
            "column of the labels?"
        )
    elif size >= MUCH:
        sentence = f"{counted(n_columns, 'feature')} and {counted(n_categories, 'category')}:"
    else:
        return
    if size >= MUCH:
        sentence += (
            f" The weights will take about {size / 2**30:.1f} GB, and up to five times that while "
            f"they are learned; to take less, {FEWER_FEATURES}."
        )
    warnings.warn(sentence, SizeWarning, stacklevel=4)
