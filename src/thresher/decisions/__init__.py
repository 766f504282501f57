"""From scores to categories: thresholds, limits per document, and how sure a decision is."""

from thresher.decisions.calibration import (
    CALIBRATIONS,
    Calibration,
    Form,
    ReliabilityCurve,
    reliability_curve,
)  # fmt: skip
from thresher.decisions.decisions import Decisions
from thresher.decisions.thresholds import Objective, learn_offsets, learn_thresholds
from thresher.decisions.tuning import Tuning, tune_decisions

__all__ = [
    "CALIBRATIONS", "Calibration", "Decisions", "Form", "Objective", "ReliabilityCurve", "Tuning",
    "learn_offsets", "learn_thresholds", "reliability_curve", "tune_decisions",
]  # fmt: skip
