"""The mistake-driven learners: all categories in one pass; only mistaken ones are corrected."""

from thresher.learners.online._learner import OnlineLearner
from thresher.learners.online._selection import extremal_features
from thresher.learners.online.additive import ROMMA, PassiveAggressive, Perceptron
from thresher.learners.online.arow import AROW, LinearSVM
from thresher.learners.online.multiplicative import (
    BalancedWinnow,
    ModifiedBalancedWinnow,
    PositiveWinnow,
    RegretWinnow,
    SleepingExperts,
)

__all__ = [
    "AROW",
    "LEARNERS",
    "ROMMA",
    "BalancedWinnow",
    "LinearSVM",
    "ModifiedBalancedWinnow",
    "OnlineLearner",
    "PassiveAggressive",
    "Perceptron",
    "PositiveWinnow",
    "RegretWinnow",
    "SleepingExperts",
    "extremal_features",
]

# By their names on the command line and in the model file.
LEARNERS: dict[str, type[OnlineLearner]] = {
    learner.name: learner
    for learner in (
        BalancedWinnow,
        PositiveWinnow,
        ModifiedBalancedWinnow,
        Perceptron,
        PassiveAggressive,
        ROMMA,
        AROW,
        LinearSVM,
        SleepingExperts,
        RegretWinnow,
    )
}
