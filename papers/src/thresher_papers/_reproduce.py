"""The papers by name, and the experiments behind their tables and figures."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module
from typing import TypeVar

from thresher.corpora import is_here, parse_spec
from thresher.errors import DocumentError, ParameterError, counted
from thresher_papers._result import Item, Paper, Result
from thresher_papers._running import CORES, Run

__all__ = ["check_corpora", "list_papers", "reproduce", "select"]

T = TypeVar("T")

# The module of each paper, imported when first used.
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
    papers = (import_module(f"thresher_papers.{name}").PAPER for name in MODULES)
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


def select(paper: str, items: Sequence[str] = ()) -> list[tuple[Paper, str]]:
    """Return the selected tables and figures, each with its paper.

    Parameters
    ----------
    paper : str
        Name of the paper, as in `list_papers`, or "all".
    items : list of str
        Names of its tables and figures, such as "table-4". Default: all of them.

    Examples
    --------
    >>> [item for paper, item in select("dagan-karov-roth-1997", ["table-2"])]
    ['table-2']
    >>> select("carvalho-cohen-2006", ["table-44"])
    Traceback (most recent call last):
    thresher.errors.ParameterError: carvalho-cohen-2006 has no 'table-44'. Did you mean table-4? ...
    """
    if paper == "all":
        if items:
            raise ParameterError(
                f"The paper is all; {items[0]!r} can only be selected from one paper."
            )
        return [
            (chosen_paper, item) for chosen_paper in list_papers() for item in chosen_paper.items
        ]
    chosen = _named(_papers(), paper, "There is no paper")
    for item in items:
        _named(chosen.items, item, f"{paper} has no")
    return [(chosen, item) for item in items or chosen.items]


def check_corpora(items: Iterable[Item]) -> None:
    """Raise an error that says how to fetch the corpora that are missing.

    Parameters
    ----------
    items : iterable of Item
        The tables and figures that will be run.
    """
    names = dict.fromkeys(parse_spec(spec).name for item in items for spec in item.corpora)
    missing = [name for name in names if not is_here(name)]
    if missing:
        commands = "; ".join(f"thresher corpus fetch {name}" for name in missing)
        raise DocumentError(
            f"The experiments need {counted(len(missing), 'corpus', 'corpora')} that "
            f"{'is' if len(missing) == 1 else 'are'} not on this machine. Fetch first: {commands}"
        )


def reproduce(
    paper: str, item: str, *, seed: int = 0, quick: bool = False, jobs: int = CORES
) -> Result:
    """Run the experiment behind a table or figure.

    Cells that an earlier run finished are read from the cache (`$THRESHER_CACHE`).

    Parameters
    ----------
    paper : str
        Name of the paper, as in `list_papers`.
    item : str
        Name of the table or figure, such as "table-4".
    seed : int, default=0
        Seed of all random choices: folds, subsets, the order of examples.
    quick : bool, default=False
        Run a small version that takes seconds, as a check that it works.
    jobs : int, default=number of cores
        Number of cells computed in parallel; results are the same for any number.

    Returns
    -------
    Result
        With `published`, `reproduced`, `differences()`, `agreement()`, `to_markdown()` and
        `plot(path)`.

    Examples
    --------
    >>> reproduce("carvalho-cohen-2006", "table-3").reproduced["MBW"]["M"]
    1.0
    """
    ((chosen, name),) = select(paper, [item])
    check_corpora([chosen.items[name]])
    return chosen.items[name].run(Run(seed=seed, quick=quick, jobs=jobs))


def _named(known: dict[str, T], name: str, complaint: str) -> T:
    if name not in known:
        begun = [known_name for known_name in known if known_name.startswith(name)] if name else []
        near = begun or difflib.get_close_matches(name, known, 1, 0.5)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise ParameterError(f"{complaint} {name!r}.{hint} It has to be one of {', '.join(known)}.")
    return known[name]
