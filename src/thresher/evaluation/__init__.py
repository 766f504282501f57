"""Measures of decisions and of the rankings behind them.

Ties. No threshold can separate documents of equal score: a cut point lies between two different
scores. Measures that must order documents within a tie (break-even at k, rank loss) take the worst
order, in which the negatives come first.

Categories without positives. Recall and all measures of a ranking are NaN for them, and so are
precision and F1 if nothing was assigned. Macro averages leave these categories out, except those of
accuracy, error and fallout. In micro averages, their false positives count like any other.

Categories without scores. Labels may have more categories than there are columns of scores: those
that the learner does not know. Nothing is assigned to them, and their positives count as missed, in
micro and in macro averages.
"""

from thresher.evaluation.contingency import Contingency
from thresher.evaluation.measures import Evaluation, adjusted_thresholds, evaluate
from thresher.evaluation.names import measure_title, read_measure
from thresher.evaluation.ranking import CutPoints

__all__ = [
    "Contingency", "CutPoints", "Evaluation", "adjusted_thresholds", "evaluate", "measure_title",
    "read_measure",
]  # fmt: skip
