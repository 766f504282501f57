"""The parameters of training, declared once for `Categorizer`, the command line and model files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, Self, get_args

import numpy as np

from thresher.decisions import CALIBRATIONS, Form, Objective
from thresher.errors import ParameterError, param
from thresher.features import FeatureParameters
from thresher.learners import Learner, make_learner
from thresher.learners.capabilities import Tracking
from thresher.learners.online import AROW
from thresher.limits import MOST_FOLDS
from thresher.model.memory import MOST_REMEMBERED
from thresher.model.second_look import Kind as LookKind
from thresher.parameters import AUTO, THREADS, Choice, Flag, Kind, Some, Whole, inherited, parameter
from thresher.text import TextCounter, TextParameters
from thresher.text.linguistics import LanguageParameters, Linguistics

Preset = Literal["best", "fast"]
Mode = Literal["auto", "single-label", "multi-label"]

# The values of "auto" for features: words alone, for a learner given by name and for speed, or the
# best feature space that was found. docs/learning.md says how they were chosen.
WORD_FEATURES: dict[str, Any] = {
    "ngram_range": (1, 1),
    "char_ngram_range": None,
    "min_df": 1,
    "block_weights": {"concepts": 0.5},
}
ALL_FEATURES: dict[str, Any] = {
    "ngram_range": (1, 2),
    "char_ngram_range": (5, 5),
    "min_df": {"runs": 2, "parts": 3},
    "block_weights": {"runs": 0.9, "parts": 0.6, "concepts": 0.5},
}
LEARNING_PANEL, DECIDING_PANEL = "Learning", "Deciding"


def _refused_objective(value: Any) -> str | None:
    try:
        Objective.parse(value)
    except (ParameterError, AttributeError, TypeError):
        return 'an objective such as "f1", "precision=0.95", "recall=0.9" or "cost=1:5"'
    return None


class TrainingParameters(TextParameters, LanguageParameters, FeatureParameters):
    """How texts are counted, learned and decided."""

    learner: Any = parameter(
        default=AUTO,
        kind=Kind(),
        words="""The learner: a name from `LEARNERS`, a learner with its own parameters, or any
        classifier of scikit-learn. "auto" is `arow` if every document has one label, and
        `linear-svm` if documents have several.""",
        kw_only=False,
    )
    preset: Preset = parameter(
        default="best",
        kind=Choice(get_args(Preset)),
        words="""The choice behind "auto": the best model, or a fast one. "best" counts words, pairs
        of words and parts of words (character 5-grams); "fast" counts words alone and learns in one
        pass. Parameters that are given take precedence. With a learner given by name, words alone
        are counted unless other features are given.""",
        flag="--preset",
        panel=LEARNING_PANEL,
    )
    ngram_range: Any = inherited(default=AUTO)
    char_ngram_range: Any = inherited(default=AUTO)
    min_df: Any = inherited(default=AUTO)
    block_weights: Any = inherited(default=AUTO)
    mode: Mode = parameter(
        default="auto",
        kind=Choice(get_args(Mode)),
        words="""Whether a document has one category or any number. "auto" means one if each
        training document with labels has exactly one. Documents without labels are left out, with a
        warning, unless "multi-label" is given: then having none is an answer.""",
        flag="--mode",
        panel=DECIDING_PANEL,
    )
    second_look: LookKind | Literal["auto"] | None = parameter(
        default=AUTO,
        kind=Choice((AUTO, None, *get_args(LookKind))),
        words="""For documents with several labels, score the most likely categories of each
        document again, jointly: from their ranks, from which categories occur together, and from
        what the title and the strongest words contribute. The scores come from boosted "trees" or
        a "linear" model; None keeps those of the learner. The second look is left out if
        cross-validation shows no gain. "auto" is "trees" if learner and preset are not given,
        thresholds are learned by folds, and there are at least 500 documents.""",
        flag="--second-look",
        panel=LEARNING_PANEL,
    )
    objective: str | None = parameter(
        default="auto",
        kind=Some("str", _refused_objective, optional=True),
        words="""The objective for learning thresholds: f1, f0.5, precision=0.95, recall=0.9 or
        cost=1:5. They are learned from the scores of held-out documents; with None, all thresholds
        are zero. "auto" is f1 if documents may have several labels, else None.""",
        flag="--objective",
        panel=DECIDING_PANEL,
    )
    tune_folds: Any = parameter(
        default=AUTO,
        kind=Whole(0, MOST_FOLDS),
        words="""The number of folds for learning thresholds and probabilities. 0, for
        AROW and the linear SVM, uses the scores of the training documents less the contribution of
        each document to its own score: slightly less exact, at no cost. "auto" is 5, and 0 for
        `preset="fast"`.""",
        flag="--tune-folds",
        panel=DECIDING_PANEL,
    )
    calibrate: Form | None = parameter(
        default=None,
        kind=Choice((None, *CALIBRATIONS)),
        words="""Learn probabilities: fit calibration curves of this form to the scores of held-out
        documents.""",
        flag="--calibrate",
        panel=DECIDING_PANEL,
    )
    remember: int = parameter(
        default=2000,
        kind=Whole(0, MOST_REMEMBERED),
        words="""The most documents to keep in the rehearsal memory, as counts with labels, for
        later learning; 0 for none. They are a form of the data: anyone with the model can read
        which words they contained.""",
        flag="--remember",
        panel=LEARNING_PANEL,
    )
    shuffle: bool | None = parameter(
        default=None,
        kind=Flag(optional=True),
        words="""Learn in random order, or in the given order; None: the default of the learner.""",
        flag="--shuffle/--in-order",
        panel=LEARNING_PANEL,
    )
    random_state: int | None = parameter(
        default=None,
        kind=Whole(0, 2**32 - 1, optional=True),
        words="""The seed for all random choices; None: that of the learner, or 0.""",
        flag="--seed",
        panel=LEARNING_PANEL,
    )
    n_jobs: int | None = parameter(
        default=None,
        kind=replace(THREADS, optional=True),
        words="""The number of threads; it does not change the results; None: that of the learner,
        or 1.""",
        flag="--threads",
        panel=LEARNING_PANEL,
    )

    @property
    def seed_(self) -> int:
        """The seed of everything random except the order in which the learner visits documents."""
        if self.random_state is not None:
            return self.random_state
        seed = getattr(self.learner, "random_state", None)
        return int(seed) if isinstance(seed, int | np.integer) else 0

    def resolved(self, mode: str | None = None) -> Self:
        """Return a copy in which every "auto" has been replaced by a value.

        Parameters
        ----------
        mode : {"single-label", "multi-label"}, optional
            Whether documents have one label or several; None before that is known.
        """
        self.check_parameters()
        is_open = is_auto(self.learner)
        is_best = is_open and self.preset == "best"
        features = ALL_FEATURES if is_best else WORD_FEATURES
        values = {name: value for name, value in features.items() if is_auto(getattr(self, name))}
        if is_open and self.preset == "fast":
            values["learner"] = AROW(max_iter=1)
        elif is_open and mode is not None:
            values["learner"] = "linear-svm" if mode == "multi-label" else "arow"
        if is_auto(self.second_look) and mode is not None:
            has_folds = self.objective is not None and self.tune_folds != 0
            is_for_looks = is_best and has_folds and mode == "multi-label"
            values["second_look"] = "trees" if is_for_looks else None
        if is_auto(self.tune_folds):
            is_fast = is_open and self.preset == "fast" and self.second_look in (AUTO, None)
            values["tune_folds"] = 0 if is_fast else 5
        values["n_jobs"] = self.n_jobs or getattr(self.learner, "n_jobs", None) or 1
        resolved = self.replace(**values)
        resolved.check_folds()
        return resolved

    def check_folds(self) -> None:
        """Raise `ParameterError` if thresholds cannot be learned by so many folds."""
        if self.tune_folds == 1:
            raise ParameterError(f"{param('tune_folds')} is 1; it must be 0, or 2 and more.")
        if self.tune_folds != 0:
            return
        if self.second_look not in (AUTO, None):
            raise ParameterError(
                f"{param('tune_folds')} is 0, and a second look is learned from the scores of "
                "documents that were left out while learning; give 2 or more, or leave it to be "
                "chosen."
            )
        if not isinstance(self.new_learner(), Tracking):
            raise ParameterError(
                f"{param('tune_folds')} is 0, and {self.learner!r} does not keep track of what "
                "documents add to their own scores; give 2 or more, or take arow or linear-svm."
            )

    def changed(self) -> str:
        """Return the parameters other than their defaults, without learner and threads."""
        changed = {
            name: getattr(self, name)
            for name, parameter in self.parameters.items()
            if name not in ("learner", "n_jobs") and getattr(self, name) != parameter.value
        }
        return ", ".join(f"{name}={value!r}" for name, value in changed.items()) or "all default"

    def new_counter(self) -> TextCounter:
        """Return an empty counter of texts."""
        options = {name: getattr(self, name) for name in TextParameters.parameters}
        language = {name: getattr(self, name) for name in LanguageParameters.parameters}
        linguistics = Linguistics(**language)
        changes_words = any(value for name, value in language.items() if name != "language")
        return TextCounter(**options, linguistics=linguistics if changes_words else None)

    def new_learner(self) -> Learner:
        """Return a learner that has not learned: of the given name, or like the given learner."""
        learner = make_learner("arow" if is_auto(self.learner) else self.learner)
        for name in ("shuffle", "random_state"):  # threads are an argument of each call
            value = getattr(self, name)
            if value is not None and name in learner.parameters:
                learner.set_params(**{name: value})
            elif value is not None and name == "shuffle":
                raise ParameterError(
                    f"{param('shuffle')} is {value!r}, but {learner.name} learns from all "
                    "documents at once, in no order; leave it out."
                )
        learner.check_parameters()
        return learner


def is_auto(value: Any) -> bool:
    """Return True if a parameter is left to the preset."""
    return isinstance(value, str) and value == AUTO
