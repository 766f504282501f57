"""Section 16.4: the nearest neighbour."""

from __future__ import annotations

from thresher_papers._result import Table
from thresher_papers._running import Run
from thresher_papers.manning_schuetze_1999 import measures, published
from thresher_papers.manning_schuetze_1999.earnings import with_accuracy
from thresher_papers.manning_schuetze_1999.representation import HERE, contingency_table

ONE = "1 neighbour"


def table_16_12(run: Run) -> Table:
    """Decisions by the nearest neighbour, all that are equally near voting."""
    versions = run.of(list(measures.NEIGHBORS), [ONE])
    cells = run.cells(measures.nearest, [(version, HERE) for version in versions])
    reproduced = {version: cell["decisions"] for version, cell in zip(versions, cells, strict=True)}
    books, cell = published.NEIGHBORHOODS, cells[0]
    notes = [
        f"{cell['several']:,} test documents have several nearest neighbours (the book's "
        f"{books['several neighbours']}), one as many as {cell['most']} "
        f"({books['most neighbours']}); {cell['identical']:,} have one with the same vector "
        f"({books['identical vectors']}). All that are nearest vote, and a tie is no. `vectors` "
        "has these counts for other readings of a story.",
    ]
    return contingency_table(
        "16.12",
        "the nearest neighbour",
        {ONE: with_accuracy(published.NEIGHBORS)},
        reproduced,
        notes,
    )
