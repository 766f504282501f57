"""The table of measures: how each is computed, averaged, named and shown.

To add a measure, add a property to `Contingency`, `CutPoints` or `Tie`, and a line here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from thresher.errors import ParameterError

if TYPE_CHECKING:
    from thresher.evaluation.measures import Evaluation

AVERAGES = ("micro", "macro", "pooled")


class Measure(NamedTuple):
    """The description of a measure."""

    title: str  # the column heading
    source: str  # what it is a property of: "decisions" (Contingency), "cuts" or "tie"
    shown: str = "never"  # in tables: "always", "wide" (in wide tables) or "never"
    needs_positives: bool = True  # whether macro averages leave out categories without positives
    over_positives: bool = False  # for rankings: whether there is a mean over all positives
    worst: float = 0.0  # for rankings: the value if there are positives but no scores


MEASURES = {
    "precision": Measure("precision", "decisions", "always"),
    "recall": Measure("recall", "decisions", "always"),
    "f1": Measure("F1", "decisions", "always"),
    "accuracy": Measure("accuracy", "decisions", needs_positives=False),
    "error": Measure("error", "decisions", needs_positives=False),
    "fallout": Measure("fallout", "decisions", needs_positives=False),
    "break_even": Measure("break-even", "tie", "wide", over_positives=True),
    "break_even_interpolated": Measure("interpolated break-even", "tie", over_positives=True),
    "maximal_f1": Measure("maximal F1", "cuts"),
    "average_precision": Measure("av. precision", "cuts", "wide", over_positives=True),
    "rank_loss": Measure("rank loss", "cuts", worst=1.0),
}


def measures_of(*sources: str, shown: bool = False) -> list[str]:
    """Return the names of the measures, optionally of some sources or shown in tables only."""
    return [
        name
        for name, measure in MEASURES.items()
        if (not sources or measure.source in sources) and not (shown and measure.shown == "never")
    ]


def measure_title(name: str) -> str:
    """Return the title of an averaged measure, given its name.

    Examples
    --------
    >>> measure_title("micro_f1"), measure_title("macro_break_even"), measure_title("exact_match")
    ('micro-F1', 'macro break-even', 'exact match')
    """
    average, _, measure = name.partition("_")
    if average not in AVERAGES or measure not in MEASURES:
        return name.replace("_", " ")
    title = MEASURES[measure].title
    return f"{average}{'-' if title[0].isupper() else ' '}{title}"


def read_measure(evaluation: Evaluation, name: str) -> float:
    """Return a measure of an evaluation by its name.

    The name is "exact_match", or an average and a measure such as "micro_f1" or "macro_break_even".

    Examples
    --------
    >>> from thresher.evaluation import evaluate
    >>> read_measure(evaluate([[2.0], [1.0]], [[1], [0]]), "micro_f1")
    0.67
    """
    if name == "exact_match":
        return evaluation.exact_match
    average, _, measure = name.partition("_")
    values = getattr(evaluation, average) if average in AVERAGES else {}
    if measure not in values:
        raise ParameterError(
            f"There is no measure {name!r}; name one like micro_f1, macro_f1, micro_break_even, "
            "pooled_break_even or exact_match."
        )
    return float(values[measure])
