"""I. Dagan, Y. Karov and D. Roth, Mistake-driven learning in text categorization, 1997.

What the paper leaves open. Promotion, demotion and the Perceptron's rate are not given: they are
chosen on the last quarter of each training set, demotion being 1/promotion. The ten categories of
table 1 are not named: ten are drawn from the twenty most frequent topics, which gives break-even
points of the published height. Features are discarded after five passes; from then on
the others alone make up a document, also where strengths are normalised. The collection is
Reuters-21578, the paper's (22173) having been withdrawn; its splits are ModApte and ModLewis.
"""

from thresher.papers._paper import Item, Paper
from thresher.papers.dagan_karov_roth_1997.extensions import table_1
from thresher.papers.dagan_karov_roth_1997.splits import table_2
from thresher.papers.dagan_karov_roth_1997.tasks import NAME

__all__ = ["PAPER"]

PAPER = Paper(
    name=NAME,
    title="Mistake-driven learning in text categorization",
    citation=(
        "I. Dagan, Y. Karov and D. Roth, Mistake-driven learning in text categorization, EMNLP 1997"
    ),
    items={
        "table-1": Item("what each extension of three algorithms brings", table_1),
        "table-2": Item("BalancedWinnow+ on two splits of the whole collection", table_2),
    },
)
