"""Thresher sorts text into categories, fast and exactly, and says why."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from thresher._version import __version__

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer
    from thresher.decisions import Decisions
    from thresher.documents import Documents, read_documents
    from thresher.errors import (
        DocumentError,
        MissingExtra,
        ModelError,
        OutputError,
        ParameterError,
        ThresherError,
    )
    from thresher.evaluation import Evaluation, evaluate
    from thresher.evaluation.significance import bootstrap_intervals
    from thresher.examples import Examples
    from thresher.experiments.comparison import compare
    from thresher.experiments.curves import feature_curve, learning_curve
    from thresher.experiments.progressive import progressive_validation
    from thresher.experiments.protocols import cross_validate
    from thresher.explanation import Explanation
    from thresher.features import Features, Strength
    from thresher.learners import LEARNERS, Learner, NaiveBayes, Rocchio, register
    from thresher.learners.online import (
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
    from thresher.linguistics import Linguistics
    from thresher.report import plot, write_report
    from thresher.rows import Labels, Rows
    from thresher.text import TextCounter, TextVectorizer

# Where each public name lives. It is imported when it is first used, so that `import thresher`
# costs nothing and the command line answers at once.
_HOMES = {
    "Categorizer": "categorizer",
    "Decisions": "decisions",
    "Documents": "documents",
    "read_documents": "documents",
    "DocumentError": "errors",
    "MissingExtra": "errors",
    "ModelError": "errors",
    "OutputError": "errors",
    "ParameterError": "errors",
    "ThresherError": "errors",
    "Evaluation": "evaluation",
    "evaluate": "evaluation",
    "Explanation": "explanation",
    "Examples": "examples",
    "compare": "experiments.comparison",
    "cross_validate": "experiments.protocols",
    "progressive_validation": "experiments.progressive",
    "learning_curve": "experiments.curves",
    "feature_curve": "experiments.curves",
    "bootstrap_intervals": "evaluation.significance",
    "plot": "report",
    "write_report": "report",
    "Labels": "rows",
    "Rows": "rows",
    "Features": "features",
    "Strength": "features",
    "Linguistics": "linguistics",
    "LEARNERS": "learners",
    "Learner": "learners",
    "NaiveBayes": "learners",
    "Rocchio": "learners",
    "register": "learners",
    "extremal_features": "learners.online",
    "BalancedWinnow": "learners.online",
    "ModifiedBalancedWinnow": "learners.online",
    "PassiveAggressive": "learners.online",
    "Perceptron": "learners.online",
    "PositiveWinnow": "learners.online",
    "RegretWinnow": "learners.online",
    "ROMMA": "learners.online",
    "SleepingExperts": "learners.online",
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
    "Examples",
    "Explanation",
    "Features",
    "Labels",
    "Learner",
    "Linguistics",
    "MissingExtra",
    "ModelError",
    "ModifiedBalancedWinnow",
    "NaiveBayes",
    "OutputError",
    "ParameterError",
    "PassiveAggressive",
    "Perceptron",
    "PositiveWinnow",
    "RegretWinnow",
    "Rocchio",
    "Rows",
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
    "plot",
    "progressive_validation",
    "read_documents",
    "register",
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
