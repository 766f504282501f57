"""Thresher sorts text into categories, fast and exactly, and says why."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from thresher._version import __version__

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer
    from thresher.decisions import Decisions
    from thresher.documents import Documents, read_documents
    from thresher.errors import DocumentError, ModelError, ParameterError, ThresherError
    from thresher.evaluation import Evaluation, evaluate
    from thresher.evaluation.comparison import compare
    from thresher.evaluation.curves import feature_curve, learning_curve
    from thresher.evaluation.progressive import progressive_validation
    from thresher.evaluation.protocols import cross_validate
    from thresher.evaluation.significance import bootstrap_intervals
    from thresher.explanation import Explanation
    from thresher.features import Strength
    from thresher.linguistics import Linguistics
    from thresher.online import (
        LEARNERS,
        ROMMA,
        BalancedWinnow,
        ModifiedBalancedWinnow,
        PassiveAggressive,
        Perceptron,
        PositiveWinnow,
        RegretWinnow,
        SleepingExperts,
        extremal_features,
    )
    from thresher.report import write_report
    from thresher.text import TextCounter, TextVectorizer

# Where each public name lives. It is imported when it is first used, so that `import thresher`
# costs nothing and the command line answers at once.
_HOMES = {
    "Categorizer": "categorizer",
    "Decisions": "decisions",
    "Documents": "documents",
    "read_documents": "documents",
    "DocumentError": "errors",
    "ModelError": "errors",
    "ParameterError": "errors",
    "ThresherError": "errors",
    "Evaluation": "evaluation",
    "evaluate": "evaluation",
    "Explanation": "explanation",
    "compare": "evaluation.comparison",
    "cross_validate": "evaluation.protocols",
    "progressive_validation": "evaluation.progressive",
    "learning_curve": "evaluation.curves",
    "feature_curve": "evaluation.curves",
    "bootstrap_intervals": "evaluation.significance",
    "write_report": "report",
    "extremal_features": "online",
    "Strength": "features",
    "Linguistics": "linguistics",
    "LEARNERS": "online",
    "BalancedWinnow": "online",
    "ModifiedBalancedWinnow": "online",
    "PassiveAggressive": "online",
    "Perceptron": "online",
    "PositiveWinnow": "online",
    "RegretWinnow": "online",
    "ROMMA": "online",
    "SleepingExperts": "online",
    "TextCounter": "text",
    "TextVectorizer": "text",
}

__all__ = [
    "LEARNERS",
    "ROMMA",
    "BalancedWinnow",
    "Categorizer",
    "Decisions",
    "DocumentError",
    "Documents",
    "Evaluation",
    "Explanation",
    "Linguistics",
    "ModelError",
    "ModifiedBalancedWinnow",
    "ParameterError",
    "PassiveAggressive",
    "Perceptron",
    "PositiveWinnow",
    "RegretWinnow",
    "SleepingExperts",
    "Strength",
    "TextCounter",
    "TextVectorizer",
    "ThresherError",
    "__version__",
    "bootstrap_intervals",
    "compare",
    "cross_validate",
    "evaluate",
    "extremal_features",
    "feature_curve",
    "learning_curve",
    "progressive_validation",
    "read_documents",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'thresher' has no attribute {name!r}")
    value = getattr(import_module(f"thresher.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
