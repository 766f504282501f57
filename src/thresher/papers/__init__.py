"""The papers that Thresher is built from: tables and figures as data, protocol and values.

`reproduce("carvalho-cohen-2006", "table-4")` runs the paper's experiment and returns ours beside
the published values. The corpora must be on this machine (`thresher corpus fetch`).
"""

from __future__ import annotations

import difflib
from functools import cache
from importlib import import_module
from typing import TypeVar

from thresher.errors import ParameterError
from thresher.papers._result import Curve, Difference, Drawing, Figure, Item, Paper, Result, Table

__all__ = [
    "Curve",
    "Difference",
    "Drawing",
    "Figure",
    "Item",
    "Paper",
    "Result",
    "Table",
    "list_papers",
    "reproduce",
]

T = TypeVar("T")

# One module each, imported when the papers are asked for.
MODULES = (
    "dagan_karov_roth_1997",
    "manning_schuetze_1999",
    "o_zhang_2000",
    "cai_hofmann_2003",
    "carvalho_cohen_2006",
    "learner_table",
)


@cache
def _papers() -> dict[str, Paper]:
    papers = (import_module(f"thresher.papers.{name}").PAPER for name in MODULES)
    return {paper.name: paper for paper in papers}


def list_papers() -> list[Paper]:
    """Return the papers, each with its tables and figures.

    Examples
    --------
    >>> [paper.name for paper in list_papers()]
    ['dagan-karov-roth-1997', 'manning-schuetze-1999', 'o-zhang-2000', 'cai-hofmann-2003', \
'carvalho-cohen-2006', 'thresher']
    """
    return list(_papers().values())


def reproduce(paper: str, item: str, *, seed: int = 0, quick: bool = False) -> Result:
    """Run the experiment behind a table or figure.

    Parameters
    ----------
    paper : str
        Name of the paper, as in `list_papers`.
    item : str
        Name of the table or figure, such as "table-4".
    seed : int, default=0
        Seed of everything random: folds, subsets, the order of examples.
    quick : bool, default=False
        A small part of it, in seconds, to see that it works.

    Returns
    -------
    Result
        With `published`, `ours`, `differences()`, `to_markdown()` and `plot(path)`.

    Examples
    --------
    >>> reproduce("carvalho-cohen-2006", "table-44")
    Traceback (most recent call last):
    thresher.errors.ParameterError: carvalho-cohen-2006 has no 'table-44'. Did you mean table-4? ...
    """
    items = _named(_papers(), paper, "There is no paper").items
    return _named(items, item, f"{paper} has no").run(seed, quick)


def _named(known: dict[str, T], name: str, complaint: str) -> T:
    if name not in known:
        near = difflib.get_close_matches(name, known, 1, 0.5)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise ParameterError(f"{complaint} {name!r}.{hint} It has to be one of {', '.join(known)}.")
    return known[name]
