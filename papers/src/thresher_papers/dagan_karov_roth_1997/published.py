"""The published values of the two tables."""

from __future__ import annotations

from thresher_papers._result import Cells

__all__ = ["TABLE_1", "TABLE_2"]

_EXTENSIONS = ("Basic", "θ-range", "Linear freq.", "Sqrt. freq.", "Discard")
_WITH_NORM = ("Basic", "Norm", *_EXTENSIONS[1:])
TABLE_1: Cells = {
    "BalancedWinnow": dict(zip(_EXTENSIONS, (64.87, 69.66, 72.11, 71.56, 73.2), strict=True)),
    "PositiveWinnow": dict(zip(_WITH_NORM, (55.56, 63.56, 65.80, 67.20, 69.67, 70.0), strict=True)),
    "Perceptron": dict(zip(_EXTENSIONS, (65.91, 63.05, 66.72, 68.29, 70.8), strict=True)),
}

_APTE, _LEWIS = "Apte's split", "Lewis's split"
TABLE_2: Cells = {
    "BalancedWinnow+": {_APTE: 83.3, _LEWIS: 74.7},
    "Experts unigram": {_APTE: 64.7, _LEWIS: 65.6},
    "Experts, sparse trigrams": {_APTE: 75.9, _LEWIS: 75.3},  # from the text
    "Neural network": {_APTE: 77.5},
    "Rocchio": {_APTE: 74.5, _LEWIS: 66.0},
    "Ripper": {_APTE: 79.6, _LEWIS: 71.9},
    "Decision trees": {_LEWIS: 67.0},
    "Bayes": {_LEWIS: 65.0},
    "SWAP": {_APTE: 78.9},
}
