"""The published values of tables 1 and 2."""

from __future__ import annotations

from collections.abc import Mapping

from thresher_papers._result import Cells
from thresher_papers.cai_hofmann_2003.measuring import MEASURES

VARIANTS = ("MH", "MR")
AVERAGES = ("macro", "micro")
BLOCKS = tuple((variant, average) for variant in VARIANTS for average in AVERAGES)
ERRORS = ("Err", "AdErr")
OF_DECISIONS = ("p", "r", "F1")  # which MR has not, as its zero divides nothing
N_WORDS = 37_926  # of Reuters
SHARES = {"Reuters-21578": (45, 73), "MEDLINE": (20, 50)}  # on concepts, figure 4; 1987's OHSUMED

# Words alone, with concepts, and the improvement.
TABLE_1 = {
    ("MH", "macro"): (
        (80.25, 61.61, 69.71, 0.68, 79.26, 74.85, 77.23, 71.58, 0.66),
        (84.19, 66.47, 74.29, 0.59, 81.41, 76.90, 81.20, 74.90, 0.58),
        (4.91, 7.87, 6.57, 14.03, 2.71, 2.73, 5.15, 4.64, 12.29),
    ),
    ("MH", "micro"): (
        (89.83, 77.67, 83.31, 85.79, 88.49, 84.84),
        (90.18, 82.20, 86.00, 86.98, 90.49, 86.40),
        (0.38, 5.84, 3.23, 1.39, 2.25, 1.84),
    ),
    ("MR", "macro"): (
        (4.54, 78.72, 73.30, 77.23, 72.00, 0.70),
        (1.62, 81.40, 76.48, 81.03, 74.00, 0.61),
        (64.20, 3.40, 4.33, 4.91, 2.78, 12.81),
    ),
    ("MR", "micro"): (
        (84.33, 88.14, 83.32),
        (86.07, 90.23, 85.82),
        (2.06, 2.38, 3.00),
    ),
}
TABLE_2 = {
    ("MH", "macro"): (
        (52.48, 32.39, 40.06, 0.55, 50.76, 45.77, 42.95, 47.42, 0.53),
        (57.46, 34.25, 42.92, 0.52, 52.68, 48.10, 45.04, 48.68, 0.52),
        (9.49, 5.74, 7.14, 5.68, 3.77, 5.10, 4.88, 2.66, 2.75),
    ),
    ("MH", "micro"): (
        (57.47, 33.66, 42.45, 47.41, 44.82, 45.72),
        (62.12, 35.71, 45.35, 49.70, 47.03, 48.27),
        (8.10, 6.09, 6.82, 4.83, 4.93, 5.59),
    ),
    ("MR", "macro"): (
        (2.37, 50.53, 45.70, 42.15, 47.04, 0.528),
        (1.04, 52.67, 48.01, 44.10, 49.98, 0.520),
        (56.21, 4.23, 5.06, 4.63, 6.25, 1.59),
    ),
    ("MR", "micro"): (
        (47.41, 43.98, 45.55),
        (49.52, 45.97, 49.55),
        (4.45, 4.52, 8.80),
    ),
}
Printed = Mapping[tuple[str, str], tuple[tuple[float, ...], ...]]


def columns_of(variant: str, average: str) -> list[str]:
    """Return the columns of a variant and an average.

    Examples
    --------
    >>> columns_of("MR", "micro")
    ['BEP', 'AvgP', 'AdF1']
    """
    return [
        column
        for column, (_, micro) in MEASURES.items()
        if (average == "macro" or micro) and (variant == "MH" or column not in OF_DECISIONS)
    ]


def row_name(variant: str, average: str, features: str, is_gain: bool = False) -> str:
    """Return the name of a row.

    Examples
    --------
    >>> row_name("MH", "macro", "mixA", True)
    'MH macro, mixA, improvement'
    """
    return f"{variant} {average}, {features}{', improvement' if is_gain else ''}"


def published(printed: Printed, features: str) -> Cells:
    """Return the published values of a table; `features` names words with concepts."""
    return {
        row_name(*block, row, is_gain): dict(zip(columns_of(*block), cells, strict=True))
        for block, rows in printed.items()
        for (row, is_gain), cells in zip(
            (("term", False), (features, False), (features, True)), rows, strict=True
        )
    }


def improvement(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """Return by how many percent the second row is better than the first.

    Examples
    --------
    >>> improvement({"BEP": 80.0, "Err": 2.0}, {"BEP": 84.0, "Err": 1.5})
    {'BEP': 5.0, 'Err': 25.0}
    """
    return {
        name: 100
        * (before[name] - value if name in ERRORS else value - before[name])
        / before[name]
        for name, value in after.items()
    }
