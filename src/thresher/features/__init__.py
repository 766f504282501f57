"""From counts to strengths, and which features tell most about the categories."""

from thresher.features.concepts import Concepts
from thresher.features.features import LEAST_MEMBERSHIP, MOST_DOCUMENTS, Features, Numbering
from thresher.features.parameters import ALL_BLOCKS, FeatureParameters
from thresher.features.selection import (
    SELECTIONS,
    ChiSquare,
    FeatureScores,
    InformationGain,
    chi_square,
    document_frequencies,
    information_gain,
    select,
)
from thresher.features.strength import KINDS, Strength

__all__ = [
    "ALL_BLOCKS",
    "KINDS",
    "LEAST_MEMBERSHIP",
    "MOST_DOCUMENTS",
    "SELECTIONS",
    "ChiSquare",
    "Concepts",
    "FeatureParameters",
    "FeatureScores",
    "Features",
    "InformationGain",
    "Numbering",
    "Strength",
    "chi_square",
    "document_frequencies",
    "information_gain",
    "select",
]
