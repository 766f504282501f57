"""From scores to categories: thresholds, limits per document, and how sure a decision is."""

from thresher.decisions.calibration import Calibration, ReliabilityCurve, reliability_curve
from thresher.decisions.decisions import Decisions
from thresher.decisions.thresholds import Objective, learn_thresholds

__all__ = [
    "Calibration",
    "Decisions",
    "Objective",
    "ReliabilityCurve",
    "learn_thresholds",
    "reliability_curve",
]
