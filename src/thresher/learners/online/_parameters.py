"""The words for parameters that mean the same in every learner."""

from __future__ import annotations

import inspect
from typing import TypeVar

_WORDS = {
    "threshold": """
    threshold : float, default={default}
        θ, which the score of a document must exceed for the document to belong.""",
    "margin": """
    margin : float, default={default}
        While learning, every score from θ - margin to θ + margin is a mistake too.""",
    "threshold_range": """
    threshold_range : (float, float), default={default}
        (θ-, θ+) in place of θ ∓ margin, where they do not lie evenly about θ.""",
    "always_on": """
    always_on : bool or float, default={default}
        Add a feature of this strength (1 if True) to every document.""",
    "normalize_strength": """
    normalize_strength : bool, default={default}
        Divide the strengths of a document, the always-on one among them, by their sum.""",
    "unseen": """
    unseen : {{"keep", "drop"}}, default={default}
        Whether features never met while learning, or discarded, count when a document is scored;
        "drop" takes them out before the strengths are normalised.""",
    "average": """
    average : {{None, "successes", "examples"}}, default={default}
        Score with the mean of all hypotheses instead of the last: each weighted by the documents
        it got right, or by all the documents after which it stood.""",
    "positive_weight": """
    positive_weight : float or one per category, default={default}
        How much more a mistake on a positive document counts than one on a negative; it
        multiplies the weight of the document.""",
    "discard": """
    discard : {{None, "filter-range"}}, default={default}
        "filter-range" discards, once, the features whose weight lies within one promotion and one
        demotion of the initial weight.""",
    "discard_after": """
    discard_after : int or float, default={default}
        When: after so many passes, or after the first pass whose mistakes are less than this
        share of all decisions.""",
    "feature_budget": """
    feature_budget : int, default={default}
        Keep at most so many features per category by Extremal Feature Selection, after every
        1,000 documents and after each pass.""",
    "extremal_share": """
    extremal_share : float, default={default}
        Which part of the budget goes to the weightiest features; the rest goes to the lightest.""",
    "max_iter": """
    max_iter : int, default={default}
        Passes over the documents at most; `fit` stops after one without mistakes.""",
    "shuffle": """
    shuffle : bool, default={default}
        Meet the documents in another order in each pass.""",
    "random_state": """
    random_state : int or None, default={default}
        The seed of that order.""",
    "n_jobs": """
    n_jobs : int, default={default}
        Threads, which share the categories among them; the result does not depend on it.""",
}


T = TypeVar("T", bound=type)


def described(learner: T) -> T:
    """Put the shared parameters, with this learner's defaults, where the docstring says so."""
    defaults = inspect.signature(learner.__init__).parameters  # type: ignore[misc]
    words = "".join(
        text.format(default=repr(defaults[name].default).replace("'", '"'))
        for name, text in _WORDS.items()
        if name in defaults
    )
    if learner.__doc__ is not None:  # python -OO strips docstrings
        learner.__doc__ = learner.__doc__.replace("\n    [shared parameters]", words)
    return learner
