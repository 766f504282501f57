"""V. Carvalho and W. Cohen, Notes on single-pass online learning algorithms, 2006."""

from functools import partial

from thresher.papers._result import Item, Paper
from thresher.papers.carvalho_cohen_2006 import curves, selection, tables

__all__ = ["PAPER"]

PAPER = Paper(
    name=tables.NAME,
    title="Notes on single-pass online learning algorithms",
    citation=(
        "V. R. Carvalho and W. W. Cohen, Notes on single-pass online learning algorithms, "
        "technical report CMU-LTI-06-002, Carnegie Mellon University, 2006"
    ),
    items={
        "table-4": Item("F1 of ten online learners after one pass, 13 of 15 sets", tables.table_4),
        "table-5": Item("F1 of MBW beside SVM and Naive Bayes, 13 of 15 sets", tables.table_5),
        "figure-1": Item("what averaging does to each learner", tables.figure_1),
        "figure-2": Item("F1 as examples come in", partial(curves.figure, "figure-2")),
        "figure-3": Item("test error as examples come in", partial(curves.figure, "figure-3")),
        "figure-4": Item("mistakes made while learning", partial(curves.figure, "figure-4")),
        "figure-6": Item("error against features kept, several P", selection.figure_6),
        "figure-7": Item("extremal selection against IG and chi-square", selection.figure_7),
        "figure-8": Item("the same on further sets", selection.figure_8),
        "variants": Item("how far table 4 goes when a detail is changed", tables.variants),
    },
)
