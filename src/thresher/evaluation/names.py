"""The one table of the measures: what each is read from, how it is averaged, named and shown.

A new measure is a property of `Contingency`, `CutPoints` or `Tie`, and a line here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from thresher.errors import ParameterError

if TYPE_CHECKING:
    from thresher.evaluation.measures import Evaluation

__all__ = ["AVERAGES", "MEASURES", "Measure", "measure_title", "measures_of", "read_measure"]

AVERAGES = ("micro", "macro", "pooled")


class Measure(NamedTuple):
    """What there is to know of a measure, besides how it is computed."""

    title: str  # the heading of its column
    source: str  # of which it is a property: "decisions" (Contingency), "cuts" or "tie"
    shown: str = "never"  # in tables: "always", "wide" (where there is room) or "never"
    needs_positives: bool = True  # so that its macro average leaves out categories without any
    over_positives: bool = False  # of a ranking: whether its mean over all positives is taken too
    worst: float = 0.0  # of a ranking: its value where there are positives, but no scores


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
    """Return the names of the measures of some sources, or of those that tables show."""
    return [
        name
        for name, measure in MEASURES.items()
        if (not sources or measure.source in sources) and not (shown and measure.shown == "never")
    ]


def measure_title(name: str) -> str:
    """Return what to call an average of a measure, given by its name.

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
    """Return a measure by its name.

    It is "exact_match", or micro, macro or pooled, an underscore, and the name of the measure, such
    as "micro_f1" or "macro_break_even".

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
