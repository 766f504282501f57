"""Learners: from strengths and labels to one score per category; and their registry."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from thresher.errors import ModelError, ParameterError
from thresher.learners.growing import GrowingLearner
from thresher.learners.learner import Learner
from thresher.learners.online import LEARNERS as ONLINE
from thresher.learners.scikit import LinearModel, ScikitLearner, is_classifier

if TYPE_CHECKING:
    from thresher.learners.bayes import NaiveBayes
    from thresher.learners.boosting import StumpBoosting
    from thresher.learners.majority import MajorityClass
    from thresher.learners.maxent import MaximumEntropy
    from thresher.learners.neighbors import NearestNeighbors
    from thresher.learners.network import MultilayerPerceptron
    from thresher.learners.perceptrons import BoostedPerceptrons
    from thresher.learners.rocchio import Rocchio
    from thresher.learners.tree import DecisionTree

__all__ = [
    "LEARNERS", "BoostedPerceptrons", "DecisionTree", "GrowingLearner", "Learner", "LinearModel",
    "MajorityClass", "MaximumEntropy", "MultilayerPerceptron", "NaiveBayes", "NearestNeighbors",
    "Rocchio", "ScikitLearner", "StumpBoosting", "import_learner", "learner_class", "make_learner",
    "register",
]  # fmt: skip

LEARNERS: dict[str, type[Learner]]  # created on first use
"""The learners by their names on the command line and in the model file."""

ENTRY_POINTS = "thresher.learners"  # the group for learners of other packages

# Learners that few models need, with their modules; imported on first use.
MODULES = {
    "NaiveBayes": "bayes",
    "Rocchio": "rocchio",
    "StumpBoosting": "boosting",
    "BoostedPerceptrons": "perceptrons",
    "MultilayerPerceptron": "network",
    "DecisionTree": "tree",
    "MaximumEntropy": "maxent",
    "NearestNeighbors": "neighbors",
    "MajorityClass": "majority",
}

T = TypeVar("T", bound=type[Learner])


def __getattr__(name: str) -> Any:
    if name == "LEARNERS":
        return _learners()
    if name not in MODULES:
        raise AttributeError(f"module 'thresher.learners' has no attribute {name!r}")
    return getattr(import_module(f"thresher.learners.{MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


@cache
def _learners() -> dict[str, type[Learner]]:
    """Return `LEARNERS`, always the same dictionary."""
    return {**ONLINE, **{learner.name: learner for learner in map(__getattr__, MODULES)}}


def register(learner: T) -> T:
    """Register a class of learners by its name; can be used as a decorator.

    Examples
    --------
    >>> @register
    ... class Late(Learner):
    ...     name = "rocchio"
    Traceback (most recent call last):
    thresher.errors.ParameterError: The name 'rocchio' is taken by Rocchio; give Late another.
    """
    if not (isinstance(learner, type) and issubclass(learner, Learner)):
        raise ParameterError(f"{learner!r} is no subclass of thresher.Learner.")
    taken = _learners().get(getattr(learner, "name", ""), learner)
    if not isinstance(getattr(learner, "name", None), str):
        raise ParameterError(f"{learner.__name__} has no name; give the class an attribute `name`.")
    if (taken.__module__, taken.__qualname__) != (learner.__module__, learner.__qualname__):
        raise ParameterError(
            f"The name {learner.name!r} is taken by {taken.__name__}; give {learner.__name__} "
            "another."
        )
    _learners()[learner.name] = learner
    return learner


def make_learner(spec: Any, **params: Any) -> Learner:
    """Return an unfitted learner from a name, a learner, its class, or one of scikit-learn.

    Examples
    --------
    >>> make_learner("perceptron", margin=0.5)
    Perceptron(margin=0.5)
    """
    if isinstance(spec, str):
        learner = _registered(spec)
        if learner is None:
            close = difflib.get_close_matches(spec, _learners(), 1)
            meant = f" Did you mean {close[0]!r}?" if close else ""
            raise ParameterError(
                f"There is no learner {spec!r}.{meant} There are {', '.join(_learners())}."
            )
        return learner().set_params(**params)
    if isinstance(spec, type):
        spec = spec()
    if isinstance(spec, Learner):
        return type(spec)(**spec.get_params(deep=False)).set_params(**params)
    if is_classifier(spec):
        from sklearn.base import clone

        return ScikitLearner(clone(spec).set_params(**params))
    raise ParameterError(
        f"{spec!r} is no learner; give a name, a learner, or a classifier of scikit-learn."
    )


def import_learner(path: str) -> type:
    """Return the class at "module:Class"; this is the only import of a name that users pass.

    Examples
    --------
    >>> import_learner("sklearn.svm:LinearSVC").__name__
    'LinearSVC'
    """
    module, _, name = path.partition(":")
    try:
        learner = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ParameterError(f"There is no learner {path!r}: {error}.") from error
    if not isinstance(learner, type):
        raise ParameterError(f"{path!r} is no class.")
    return learner


def learner_class(name: str, more: Iterable[type[Learner]] = ()) -> type[Learner]:
    """Return the class that a model file names: a registered one, or one of `more`."""
    given: dict[str, type[Learner]] = {LinearModel.name: LinearModel}
    given |= {learner.name: learner for learner in more}
    learner = given.get(name) or _registered(name)
    if learner is None:
        raise ModelError(
            f"The model was learned by {name!r}, which is not known here: install the package "
            "that has it, or give the class when loading."
        )
    return learner


def _registered(name: str) -> type[Learner] | None:
    """Return a learner by name; entry points are only searched for unknown names."""
    if name in ONLINE:  # without importing the others
        return ONLINE[name]
    if name not in _learners():
        from importlib.metadata import entry_points

        for entry in entry_points(group=ENTRY_POINTS):
            if entry.name == name:
                register(entry.load())
    return _learners().get(name)
