"""Reproductions of the papers that Thresher is built from.

`reproduce("carvalho-cohen-2006", "table-4")` runs the experiment of a table or figure and returns
the reproduced values beside the published ones. The corpora must be on this machine
(`thresher corpus fetch`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thresher_papers._keeping import Store
    from thresher_papers._reproduce import check_corpora, list_papers, reproduce, select
    from thresher_papers._result import (
        Agreement,
        Claim,
        Curve,
        Difference,
        Drawing,
        Figure,
        Finding,
        Item,
        Paper,
        Result,
        Table,
    )
    from thresher_papers._running import Run

# The public names by module, imported when first used: the general help of the command line lists
# the verb of this package, and should not wait for the experiments.
_HOMES = {
    "_keeping": "Store",
    "_reproduce": "check_corpora list_papers reproduce select",
    "_result": "Agreement Claim Curve Difference Drawing Figure Finding Item Paper Result Table",
    "_running": "Run",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Agreement", "Claim", "Curve", "Difference", "Drawing", "Figure", "Finding", "Item", "Paper",
    "Result", "Run", "Store", "Table", "check_corpora", "list_papers", "reproduce", "select",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'thresher_papers' has no attribute {name!r}")
    value = getattr(import_module(f"thresher_papers.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
