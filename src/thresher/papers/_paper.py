"""What a paper is here: a name, and tables and figures that can be run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from thresher.papers._result import Result

__all__ = ["Item", "Paper"]


class Item(NamedTuple):
    """A table or figure.

    `run(seed, quick)` returns its `Result`.
    """

    summary: str
    run: Callable[[int, bool], Result]


@dataclass(frozen=True)
class Paper:
    """A paper of which tables and figures are reproduced.

    Attributes
    ----------
    name : str
        The word by which it is asked for.
    title : str
        Its title.
    citation : str
        What to cite.
    items : dict of str to Item
        Its tables and figures by name, such as "table-4".
    """

    name: str
    title: str
    citation: str
    items: dict[str, Item]
