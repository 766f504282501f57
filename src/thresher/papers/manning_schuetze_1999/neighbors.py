"""Section 16.4: the nearest neighbour."""

from __future__ import annotations

from typing import Any

import numpy as np

from thresher.examples import Examples
from thresher.learners.neighbors import NearestNeighbors
from thresher.papers._result import Table
from thresher.papers.manning_schuetze_1999 import published
from thresher.papers.manning_schuetze_1999.earnings import (
    contingency,
    contingency_table,
    dense,
    earnings,
    is_earnings,
)

VERSIONS: dict[str, dict[str, Any]] = {
    "1 neighbour": {"n_neighbors": 1, "weights": "uniform"},
    "5 neighbours": {"n_neighbors": 5, "weights": "uniform"},
    "5 neighbours, by similarity": {"n_neighbors": 5, "weights": "similarity"},
    "1 neighbour, Euclidean": {"n_neighbors": 1, "weights": "uniform", "metric": "euclidean"},
}


def table_16_12(seed: int = 0, quick: bool = False) -> Table:
    """Decisions by the nearest neighbour, all that are equally near voting."""
    train, test = earnings()
    ours = {}
    for name, parameters in VERSIONS.items():
        learner = NearestNeighbors(**parameters).fit_rows(Examples.of(*train))
        ours[name] = contingency(learner.score_rows(test.rows)[:, 0] > 0, is_earnings(test))
        if name == "1 neighbour":
            n_nearest, n_identical = neighborhoods(learner, quick)
        if quick:
            break
    counts = {
        "several neighbours": int(np.count_nonzero(n_nearest > 1)),
        "most neighbours": int(n_nearest.max()),
        "identical vectors": n_identical,
    }
    books = published.NEIGHBORHOODS
    notes = [
        f"{'Of the first 500 test documents, ' if quick else ''}"
        f"{counts['several neighbours']:,} test documents have several nearest neighbours (the "
        f"book's {books['several neighbours']}), one as many as {counts['most neighbours']} "
        f"({books['most neighbours']}); {counts['identical vectors']:,} have one with the "
        f"same vector ({books['identical vectors']}).",
        "All that are nearest vote, and a tie is no. Something of the book's vectors is still "
        "unknown: no text and length that we tried gives all three of its counts.",
    ]
    return contingency_table(
        "16.12", "the nearest neighbour", "1 neighbour", published.NEIGHBORS, ours, notes
    )


def neighborhoods(learner: NearestNeighbors, quick: bool = False) -> tuple[np.ndarray, int]:
    """Return how many vote on each test document, and how many have a neighbour that is equal."""
    train, test = (part.rows for part in earnings())
    asked = test.take(np.arange(500 if quick else test.n_rows))
    n_nearest = np.array([len(voters) for voters in learner.neighbors(asked)])
    known = {tuple(vector) for vector in dense(train).tolist()}
    return n_nearest, sum(tuple(vector) in known for vector in dense(asked).tolist())
