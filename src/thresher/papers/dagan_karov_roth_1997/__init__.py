"""I. Dagan, Y. Karov and D. Roth, Mistake-driven learning in text categorization, 1997."""

from typing import Any

from thresher.papers._result import Item, Paper
from thresher.papers.dagan_karov_roth_1997 import explanations
from thresher.papers.dagan_karov_roth_1997.tables import NAME, table_1, table_2

__all__ = ["PAPER"]

REUTERS = ("reuters21578",)
ENGLISH = ("english",)
OURS: dict[str, Any] = {"corpora": REUTERS, "extras": ENGLISH, "is_ours": True}
PAPER = Paper(
    name=NAME,
    title="Mistake-driven learning in text categorization",
    citation=(
        "I. Dagan, Y. Karov and D. Roth, Mistake-driven learning in text categorization, EMNLP 1997"
    ),
    items={
        "table-1": Item(
            "what each extension of three algorithms brings",
            table_1,
            corpora=REUTERS,
            extras=ENGLISH,
        ),
        "table-2": Item(
            "BalancedWinnow+ and its rivals on two splits of the collection",
            table_2,
            lacks="no program of Ripper or SWAP takes this many words",
            corpora=REUTERS,
            extras=ENGLISH,
        ),
        "table-1-rates": Item("what each extension brings, by rate", explanations.rates, **OURS),
        "table-1-settings": Item(
            "the open choices of table 1, one by one", explanations.settings, **OURS
        ),
        "negative-weights": Item(
            "what negative weights are good for", explanations.negative_weights, **OURS
        ),
        "table-2-ranges": Item("other thresholds and passes", explanations.ranges, **OURS),
        "table-2-features": Item("other features", explanations.features, **OURS),
        "table-2-rivals": Item("the rivals with one thing otherwise", explanations.rivals, **OURS),
    },
)
