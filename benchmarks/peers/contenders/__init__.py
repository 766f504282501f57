"""One file per library; each says what it imports, and imports nothing until it works."""

from __future__ import annotations

from types import ModuleType

from benchmarks.peers.contenders import (
    fasttext,
    liblinear,
    plain_python,
    river,
    scikit_learn,
    thresher,
    vowpal_wabbit,
)
from benchmarks.peers.jobs import Contender

LIBRARIES = (thresher, scikit_learn, liblinear, fasttext, vowpal_wabbit, river, plain_python)


def contenders(job: str, variant: str = "") -> list[Contender]:
    """Return who does a job, Thresher first.

    Parameters
    ----------
    job : str
        The job.
    variant : str
        The form of the job.
    """
    every = [contender for library in LIBRARIES for contender in library.CONTENDERS]
    return [item for item in every if item.job == job and item.variants in variant]


def find(job: str, name: str) -> tuple[ModuleType, Contender]:
    """Return a contender by name, and the library's file that it comes from."""
    for library in LIBRARIES:
        for contender in library.CONTENDERS:
            if (contender.job, contender.name) == (job, name):
                return library, contender
    raise LookupError(f"Nobody called {name!r} does the job {job!r}.")
