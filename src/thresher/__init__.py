"""Thresher sorts text into categories, fast and exactly, and says why."""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0"

TYPE_CHECKING = False  # importing `typing` takes longer than this module
if TYPE_CHECKING:
    from typing import Any

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
    from thresher.features import Concepts, Features, Strength
    from thresher.learners import (
        LEARNERS,
        BoostedPerceptrons,
        DecisionTree,
        Learner,
        MajorityClass,
        MaximumEntropy,
        MultilayerPerceptron,
        NaiveBayes,
        NearestNeighbors,
        Rocchio,
        StumpBoosting,
        register,
    )
    from thresher.learners.online import (
        AROW,
        ROMMA,
        BalancedWinnow,
        LinearSVM,
        ModifiedBalancedWinnow,
        PassiveAggressive,
        Perceptron,
        PositiveWinnow,
        RegretWinnow,
        SleepingExperts,
    )
    from thresher.model.explanation import Explanation
    from thresher.report import plot, write_report
    from thresher.rows import Labels, Rows
    from thresher.text import TextCounter, TextVectorizer
    from thresher.text.linguistics import Linguistics

# The public names by module. Each is imported on first use, so that `import thresher` and the
# command line start quickly.
_MODULES = {
    "categorizer": "Categorizer",
    "decisions": "Decisions",
    "documents": "Documents read_documents",
    "errors": "DocumentError MissingExtra ModelError OutputError ParameterError ThresherError "
    "ThresherWarning",
    "evaluation": "Evaluation evaluate",
    "evaluation.significance": "bootstrap_intervals",
    "model.explanation": "Explanation",
    "examples": "Examples",
    "experiments.comparison": "compare",
    "experiments.curves": "feature_curve learning_curve",
    "experiments.progressive": "progressive_validation",
    "experiments.protocols": "cross_validate",
    "features": "Concepts Features Strength",
    "learners": "LEARNERS BoostedPerceptrons DecisionTree Learner MajorityClass MaximumEntropy "
    "MultilayerPerceptron NaiveBayes NearestNeighbors Rocchio StumpBoosting "
    "register",
    "learners.online": "AROW BalancedWinnow LinearSVM ModifiedBalancedWinnow PassiveAggressive "
    "Perceptron PositiveWinnow ROMMA RegretWinnow SleepingExperts",
    "text.linguistics": "Linguistics",
    "report": "plot write_report",
    "rows": "Labels Rows",
    "text": "TextCounter TextVectorizer",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = [
    "AROW", "LEARNERS", "ROMMA", "BalancedWinnow", "BoostedPerceptrons", "Categorizer", "Concepts",
    "DecisionTree", "Decisions", "DocumentError", "Documents", "Evaluation", "Examples",
    "Explanation", "Features", "Labels", "Learner", "LinearSVM", "Linguistics", "MajorityClass",
    "MaximumEntropy", "MissingExtra", "ModelError", "ModifiedBalancedWinnow",
    "MultilayerPerceptron", "NaiveBayes", "NearestNeighbors", "OutputError", "ParameterError",
    "PassiveAggressive", "Perceptron", "PositiveWinnow", "RegretWinnow", "Rocchio", "Rows",
    "SleepingExperts", "Strength", "StumpBoosting", "TextCounter", "TextVectorizer",
    "ThresherError", "ThresherWarning", "__version__", "bootstrap_intervals", "compare",
    "cross_validate", "evaluate", "feature_curve", "learning_curve", "plot",
    "progressive_validation", "read_documents", "register", "write_report",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'thresher' has no attribute {name!r}")
    value = getattr(import_module(f"thresher.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
