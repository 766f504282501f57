"""The published values of the chapter.

Two misprints are read as meant: node 7 of figure 16.1 is "vs ≥ 2", and the lower region of figure
16.2 is node 3.
"""

from thresher_papers._result import Cells
from thresher_papers.manning_schuetze_1999.earnings import WORDS

NAME = "manning-schuetze-1999"
FILLER = "filler"
THRESHOLD = "θ"

DOCUMENT_11 = dict(
    zip(WORDS, (5, 5, 3, 3, 3, 4, 0, 0, 0, 4, 0, 3, 2, 0, 0, 0, 0, 3, 2, 0), strict=True)
)
# Figure 16.1: the nodes from left to right, each before those below it.
NODES: Cells = {
    node: {"articles": articles, "P(c)": share}
    for node, articles, share in (
        ("1", 7681, 0.300),
        ("2", 5977, 0.116),
        ("3", 5436, 0.050),
        ("4", 541, 0.649),
        ("5", 1704, 0.943),
        ("6", 301, 0.694),
        ("7", 1403, 0.996),
    )
}
GAIN: Cells = {
    "entropy at node 1": {"nats": 0.611},
    "entropy at node 2": {"nats": 0.359},
    "entropy at node 5": {"nats": 0.219},
    "weighted sum of 2 and 5": {"nats": 0.328},
    "information gain": {"nats": 0.283},
}
PRUNING: Cells = {
    "best on the test set": {"pruned": 951, "test": 96.21},
    "best on the validation set": {"pruned": 977, "validation": 93.91, "test": 96.00},
}
CHOSEN_NODES = 50
PAST_TENSE: Cells = {  # questions of the figure's tree
    name: {"of voice": 1, "of place and manner": 3} for name in ("/t/", "/d/")
}
# Log α, which are natural logarithms here and base 2 in table 16.6.
MAXIMUM_ENTROPY = dict(
    zip(
        [*WORDS, FILLER],
        (
            *(0.613, -0.110, 1.298, -0.432, -0.429, -0.413, -0.332, -0.085, 0.202, -0.463),
            *(0.360, -0.202, -0.211, -0.260, -0.546, -0.490, -0.285, -0.300, 1.016, -0.465),
            0.009,
        ),
        strict=True,
    )
)
PERCEPTRON = dict(
    zip(
        [*WORDS, THRESHOLD],
        (11, 6, 24, 2, 12, -4, 19, -2, 7, -7, 31, 1, 3, -4, -8, -12, -1, 8, 11, -6, 37),
        strict=True,
    )
)
SWING = 72.0, 93.0  # percent
TWO_DIMENSIONS = {"cts": 5, "mln": -1, THRESHOLD: 1}
TREE = (1024, 69, 63, 2143)  # table 16.5
ENTROPY = (735, 24, 352, 2188)  # table 16.9
LINEAR = (1059, 521, 28, 1691)  # table 16.11
NEIGHBORS = (1022, 91, 65, 2121)  # table 16.12
NEIGHBORHOODS = {"several neighbours": 989, "most neighbours": 247, "identical vectors": 697}
