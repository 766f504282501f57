"""C. Manning and H. Schütze, Foundations of Statistical Natural Language Processing, chapter 16.

All four methods decide whether a story of Reuters is about earnings, on the same twenty words.
"""

from thresher.papers._result import Item, Paper
from thresher.papers.manning_schuetze_1999 import earnings, perceptrons

__all__ = ["PAPER"]

PAPER = Paper(
    name="manning-schuetze-1999",
    title="Foundations of Statistical Natural Language Processing, chapter 16",
    citation=(
        "C. D. Manning and H. Schütze, Foundations of Statistical Natural Language Processing, "
        "MIT Press, 1999, chapter 16: Text Categorization"
    ),
    items={
        "table-16.3": Item("document 11 as twenty weights", earnings.table_16_3),
        "table-16.10": Item("weights of the perceptron", perceptrons.table_16_10),
        "table-16.11": Item("decisions of the perceptron", perceptrons.table_16_11),
        "perceptron-swing": Item("accuracy from pass to pass", perceptrons.perceptron_swing),
        "figure-16.8": Item("one correction of the perceptron", perceptrons.figure_16_8),
        "figure-16.9": Item("a perceptron in two dimensions", perceptrons.figure_16_9),
        "exercise-16.12": Item("the perceptron's boundary moves", perceptrons.exercise_16_12),
    },
)
