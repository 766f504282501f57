"""How large numbers may be: on the command line, in constructors and in model files alike.

Nobody who means what he says meets these limits. What is beyond is a slip, or a file by somebody
who wants to see a machine hang.
"""

from typing import Final

MOST_THREADS: Final = 1024
MOST_ROUNDS: Final = 1_000_000  # passes, iterations, epochs
MOST_FOLDS: Final = 1000
MOST_THINGS: Final = 2**31 - 1  # documents, features, categories: numbers of 32 bits
MOST_COUNTED: Final = 2**53  # over all times: beyond, one more is the same in double precision
LARGEST: Final = 1e6  # what a parameter may be that has no bounds of its own
# Strengths of a document add up to 1e17 at most (as many words as a document can have, and the
# largest weight of a block): a score of such weights is then within single precision.
LARGEST_WEIGHT: Final = 1e20
LARGEST_SUM: Final = 1e60  # of weights, or of their squares, in double precision
LARGEST_SAMPLE_WEIGHT: Final = 1e12
