"""From counts to strengths: selection of features, term weights and concepts."""

from thresher.features.concepts import Concepts
from thresher.features.features import (
    ALL_BLOCKS,
    MOST_DOCUMENTS,
    FeatureParameters,
    Features,
    Numbering,
)
from thresher.features.selection import (
    SELECTIONS,
    ChiSquare,
    InformationGain,
    chi_square,
    information_gain,
    select,
)
from thresher.features.strength import KINDS, Strength

__all__ = [
    "ALL_BLOCKS", "KINDS", "MOST_DOCUMENTS", "SELECTIONS", "ChiSquare", "Concepts",
    "FeatureParameters", "Features", "InformationGain", "Numbering", "Strength", "chi_square",
    "information_gain", "select",
]  # fmt: skip
