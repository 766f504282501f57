"""C. Manning and H. Schütze, Foundations of Statistical Natural Language Processing, chapter 16.

All four methods decide whether a story of Reuters is about earnings, on the same twenty words.
"""

from thresher.papers._result import Item, Paper
from thresher.papers.manning_schuetze_1999 import (
    earnings,
    entropy,
    exercises,
    neighbors,
    perceptrons,
    trees,
)

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
        "table-16.4": Item("what the first question of a tree gains", trees.table_16_4),
        "table-16.5": Item("decisions of the tree", trees.table_16_5),
        "table-16.6": Item("a maximum entropy distribution", entropy.table_16_6),
        "table-16.7": Item("means of its features", entropy.table_16_7),
        "table-16.8": Item("weights of maximum entropy", entropy.table_16_8),
        "table-16.9": Item("decisions of maximum entropy", entropy.table_16_9),
        "table-16.10": Item("weights of the perceptron", perceptrons.table_16_10),
        "table-16.11": Item("decisions of the perceptron", perceptrons.table_16_11),
        "table-16.12": Item("decisions of the nearest neighbour", neighbors.table_16_12),
        "figure-16.1": Item("the book's tree and ours", trees.figure_16_1),
        "figure-16.2": Item("the tree as regions", trees.figure_16_2),
        "figure-16.4": Item("accuracy as a tree is pruned", trees.figure_16_4),
        "figure-16.5": Item("learning curve of the tree", trees.figure_16_5),
        "figure-16.6": Item("the past tense, learned twice", trees.figure_16_6),
        "figure-16.8": Item("one correction of the perceptron", perceptrons.figure_16_8),
        "figure-16.9": Item("a perceptron in two dimensions", perceptrons.figure_16_9),
        "perceptron-swing": Item("accuracy from pass to pass", perceptrons.perceptron_swing),
        "exercise-16.12": Item("the perceptron's boundary moves", perceptrons.exercise_16_12),
        "other-tasks": Item("spam, authors, languages by all four", exercises.other_tasks),
    },
)
