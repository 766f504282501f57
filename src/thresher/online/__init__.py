"""The mistake-driven learners: all categories in one pass, only mistaken ones corrected."""

from thresher.online.winnow import BalancedWinnow

__all__ = ["LEARNERS", "BalancedWinnow"]

LEARNERS = {learner.name: learner for learner in (BalancedWinnow,)}
