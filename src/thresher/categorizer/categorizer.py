"""Deciding, ranking, explaining and measuring with what was learned, and keeping it."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np

from thresher.categorizer.deciding import Deciding
from thresher.categorizer.options import from_plain
from thresher.decisions import Decisions
from thresher.documents import Columns
from thresher.errors import ModelError, ParameterError
from thresher.explanation import Explanation, explain
from thresher.features import Strength
from thresher.learners.online import LEARNERS
from thresher.storage import read_model, require_field, write_model
from thresher.text import TextCounter
from thresher.text._format1 import upgrade

__all__ = ["Categorizer"]


class Categorizer(Deciding):
    """Learn categories from labelled text, then decide, rank and explain.

    Wherever documents are asked for, give a list of texts, a path (or "-" for standard input),
    what `read_documents` returns, or a table (pyarrow, pandas).

    Parameters
    ----------
    learner : str or learner
        A name (`LEARNERS` has them) or a learner object. Default "passive-aggressive".
    **options
        All that `Options` describes: what a token is, stop words and stems, strengths, which
        features are kept, how decisions are made, order of learning, threads.

    Attributes
    ----------
    categories_ : list of str
        The categories, in the order of the columns of scores.
    decisions_ : Decisions
        How scores become categories: thresholds, limits, probabilities.
    tuning_ : Tuning or None
        How the decisions were learned, by `fit` with `tune_for` or `calibrate`, or by `tune`, and
        what is to be expected of them.
    timings_ : dict
        Seconds spent in each stage of the last `fit` or `learn`.

    Examples
    --------
    >>> texts = ["cheap pills", "lunch today?", "cheap watches", "see you today"]
    >>> categorizer = Categorizer().fit(texts, ["spam", "ham", "spam", "ham"])
    >>> categorizer.predict(["cheap lunch pills"])
    [['spam']]
    >>> categorizer.scores(["cheap lunch pills"]).shape
    (1, 2)
    """

    def explain(self, text: str, category: str | None = None) -> Explanation:
        """Say why a document gets a category, or does not.

        Parameters
        ----------
        text : str
            The document.
        category : str, optional
            The category. Default: the one farthest above its threshold.
        """
        self._check_fitted()
        return explain(self, text, category)

    # ------------------------------------------------------------------ keeping

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file; an old one is replaced in one step or not at all.

        Parameters
        ----------
        path : path
            The file to write.
        """
        self._check_fitted()
        header: dict[str, Any] = {
            "options": self.to_plain(),
            "categories": self.categories_,
            "documents_seen": self.documents_seen_,
            "columns": self.columns_
            and {
                "text": list(self.columns_.text),
                "labels": self.columns_.labels,
                "separator": self.columns_.separator,
            },
        }
        tensors: dict[str, np.ndarray] = {}
        for name, station in self._stations().items():
            header[name], arrays = station.state()
            tensors |= {f"{name}.{key}": array for key, array in arrays.items()}
        write_model(path, header, tensors)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that `save` wrote.

        Parameters
        ----------
        path : path
            The file to read.
        """
        header, tensors = read_model(path)
        try:
            model = cls(**from_plain(require_field(header, "options", dict)))
            name = header["learner"]["learner"]
            model.learner_ = LEARNERS[name].from_state(*_part("learner", header, tensors))
        except (KeyError, TypeError) as problem:
            raise ModelError(f"{path}: the header lacks or misuses {problem}.") from None
        model.learner = model.learner_
        model.counter_ = TextCounter.from_state(*upgrade(*_part("text", header, tensors)))
        model.strength_ = Strength.from_state(*_part("strength", header, tensors))
        model.decisions_ = Decisions.from_state(*_part("decisions", header, tensors))
        model.categories_ = [str(name) for name in require_field(header, "categories", list)]
        model._category_numbers = {name: i for i, name in enumerate(model.categories_)}
        model.documents_seen_ = require_field(header, "documents_seen", int)
        model.timings_ = {}
        model.columns_ = _columns_of(header)
        model._check_consistent(path)
        return model

    def _stations(self) -> dict[str, Any]:
        return {
            "text": self.counter_,
            "strength": self.strength_,
            "learner": self.learner_,
            "decisions": self.decisions_,
        }

    def _check_consistent(self, path: str | os.PathLike[str]) -> None:
        shape = self.learner_.effective_weights().shape
        expected = (self.counter_.n_features, len(self._category_numbers))
        if shape != expected or len(self.categories_) != expected[1]:
            raise ModelError(
                f"{path}: the learner has {shape[0]:,} features and {shape[1]:,} categories, but "
                f"the vocabulary has {expected[0]:,} and there are {len(self.categories_):,} names."
            )

    # ------------------------------------------------------------------ looking inside

    @property
    def n_features(self) -> int:
        """How many features are known."""
        return self.counter_.n_features

    def threshold_of(self, number: int) -> float:
        """Return what the shares of a document must add up to, and more, for a category."""
        own = float(self.learner_.bar)
        return own + float(self.decisions_.thresholds[number])

    def names_of(self, columns: np.ndarray, text: str | None = None) -> list[str]:
        """Return the names of features; hashed ones are named after the words of `text`."""
        if self.hashing_bits is None:
            names = self._feature_names()
            return [names[column] for column in columns]
        found: dict[int, str] = {}
        for start, end, column in self.counter_.spans(text or ""):
            found.setdefault(column, (text or "")[start:end].lower())
        return [found.get(int(column), f"#{column}") for column in columns]

    def _feature_names(self) -> list[str]:
        """Return the names of all features; they are kept, for many explanations in a row."""
        counter, names = getattr(self, "_names", (None, []))
        if counter is not self.counter_ or len(names) != self.n_features:
            names = self.counter_.feature_names()
            self._names = (self.counter_, names)
        return names

    def strongest(
        self, category: str, top: int = 10
    ) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
        """Return the words with the strongest weights for a category and against it.

        Parameters
        ----------
        category : str
            The category.
        top : int
            How many words on each side. Default 10.
        """
        if category not in self._category_numbers:
            raise ParameterError(f"The model has no category {category!r}.")
        weights = self.learner_.effective_weights()[:, self._category_numbers[category]]
        order = np.argsort(-weights, kind="stable")
        sides = (
            [i for i in order[:top] if weights[i] > 0],
            [i for i in order[::-1][:top] if weights[i] < 0],
        )
        for_it, against_it = (
            list(zip(self.names_of(np.array(side)), weights[side].tolist(), strict=True))
            for side in sides
        )
        return for_it, against_it

    def summary(self) -> dict[str, Any]:
        """Return how the model was made and what it has seen, as plain data."""
        return {
            "learner": repr(self.learner_),
            "strength": repr(self.strength_),
            "options": ", ".join(f"{k}={v!r}" for k, v in self.changed().items()) or "all default",
            "decision": self.decisions_.mode,
            "thresholds": self._thresholds_said(),
            "documents_seen": self.documents_seen_,
            "categories": len(self.categories_),
            "features": self.n_features,
            "live_features": int(np.count_nonzero(self.learner_.live_features())),
            "discarded_share": round(self.learner_.discarded_share_, 4),
            "mistakes": [int(one) for one in self.learner_.mistakes_],
        }

    def _thresholds_said(self) -> str:
        low, high = (float(f(self.decisions_.thresholds)) for f in (np.min, np.max))
        return f"{low:.3g}" if low == high else f"from {low:.3g} to {high:.3g}"


def _columns_of(header: dict[str, Any]) -> Columns | None:
    """Return the columns that the documents were read from, if they had any."""
    if header.get("columns") is None:
        return None
    columns = require_field(header, "columns", dict)
    labels, separator = columns.get("labels"), columns.get("separator")
    return Columns(tuple(map(str, require_field(columns, "text", list))), labels, separator)


def _part(
    name: str, header: dict[str, Any], tensors: dict[str, np.ndarray]
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return a station's part of a model file."""
    prefix = f"{name}."
    own = {key.removeprefix(prefix): v for key, v in tensors.items() if key.startswith(prefix)}
    return require_field(header, name, dict), own
