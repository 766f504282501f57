"""Who takes part: one file per library, each of which imports nothing until it works."""

from __future__ import annotations

from benchmarks.quality.contender import Contender
from benchmarks.quality.contenders import fasttext, ours, scikit_learn, vowpal_wabbit

CONTENDERS = (
    *ours.CONTENDERS,
    *scikit_learn.CONTENDERS,
    fasttext.CONTENDER,
    vowpal_wabbit.CONTENDER,
)
FIT_ONLY = (*ours.FIT_ONLY, *scikit_learn.FIT_ONLY)  # for the comparison of fits


def find(name: str) -> Contender:
    """Return a contender by name."""
    for item in (*CONTENDERS, *FIT_ONLY):
        if item.name == name:
            return item
    base, _, seed = name.partition(", seed ")
    if seed.isdigit() and base in (ours.OURS, *ours.LOOKS):
        return ours.with_seed(base, int(seed))
    if name.startswith(ours.LEARNER):
        return ours.of_learner(name.removeprefix(ours.LEARNER))
    known = ", ".join(contender.name for contender in CONTENDERS)
    raise LookupError(f"There is no contender called {name!r}; there are {known}.")
