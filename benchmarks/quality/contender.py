"""What a contender is given, what it is, and what it hands back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Problem:
    """Documents to learn from.

    Parameters
    ----------
    texts : list of str
        The documents.
    labels : list of list of str
        Their categories.
    several : bool
        Whether a document may have any number of them; else it has exactly one.
    folder : Path
        Where the contender may write.
    """

    texts: list[str]
    labels: list[list[str]]
    several: bool
    folder: Path

    @property
    def categories(self) -> list[str]:
        """The categories that can be learned, sorted."""
        return sorted({name for names in self.labels for name in names})

    def sample(self, size: int) -> Problem:
        """Return about so many of the documents, from all over the list."""
        step = max(1, len(self.texts) // size)
        return Problem(self.texts[::step], self.labels[::step], self.several, self.folder)


@dataclass(frozen=True)
class Answer:
    """What a contender makes of test documents.

    Parameters
    ----------
    decided : list of sequence of str
        The categories that each document gets.
    scores : ndarray, optional
        The score of each document for each category, where the contender has any.
    """

    decided: Sequence[Sequence[str]]
    scores: np.ndarray | None = None


@dataclass(frozen=True)
class Learned:
    """A model.

    Parameters
    ----------
    categories : list of str
        The columns of its scores.
    answer : callable
        From texts to an `Answer`.
    save : callable
        Writes the model into the problem's folder and returns its files.
    chosen : dict
        What was chosen by cross-validation.
    """

    categories: list[str]
    answer: Callable[[list[str]], Answer]
    save: Callable[[], Sequence[Path]]
    chosen: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Contender:
    """A way from texts to a model.

    Parameters
    ----------
    name : str
        What it is called; ours begin with Thresher.
    learn : callable
        From a `Problem` and the settings to what was `Learned`.
    settings : dict
        All that decides what it learns, as JSON can say it: a result is kept under these and under
        the version. What is changed in the code of a contender must show here.
    package : str
        The distribution whose version counts.
    needs : tuple of str
        The modules that it imports, so that importing is not timed.
    only_several : bool
        Whether it differs from another one only where documents have several categories.
    warm : bool
        Whether it learns from some documents once before the clock starts, because it would else
        be timed while it loads compiled code.
    """

    name: str
    learn: Callable[[Problem, dict[str, Any]], Learned]
    settings: dict[str, Any]
    package: str
    needs: tuple[str, ...]
    only_several: bool = False
    warm: bool = False

    def version(self) -> str:
        """Return which version of the package would learn; ours is told by its source."""
        if self.package == "thresher":
            from benchmarks.quality.contenders.ours import source_version

            return source_version()
        return version(self.package)
