"""Measures: how good the decisions are, and how good the ranking behind them is.

Ties. Documents of equal score stand or fall together, for no threshold can part them: a cut point
lies between two different scores. A measure that must look inside a tie (break-even at k, rank
loss) counts the tie against the learner, as if the documents that do not belong had come first.

Categories without positives. What cannot be computed for them is NaN: recall and all measures of
a ranking, and precision and F1 when nothing was assigned. Macro averages leave these categories
out, but for accuracy, error and fallout, which are averaged over all. In the micro averages their
false positives count like any other.

Categories without scores. Labels may name more categories than there are columns of scores, namely
those that the learner never met. Nothing is assigned to them and their positives count as lost, in
the micro and in the macro averages.
"""

from thresher.evaluation.contingency import Contingency
from thresher.evaluation.measures import Evaluation, adjusted_thresholds, evaluate
from thresher.evaluation.names import measure_title, read_measure
from thresher.evaluation.ranking import CutPoints

__all__ = [
    "Contingency", "CutPoints", "Evaluation", "adjusted_thresholds", "evaluate", "measure_title",
    "read_measure",
]  # fmt: skip
