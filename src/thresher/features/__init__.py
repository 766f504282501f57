"""From counts to strengths, and which features tell most about the categories."""

from thresher.features.concepts import Concepts
from thresher.features.features import FeatureParameters, Features, Numbering
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
    "KINDS",
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
