"""Why a document got a category, or did not: each word's share of the score, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thresher.rows import Rows

if TYPE_CHECKING:
    from thresher.training import Stations

__all__ = ["Change", "Explanation", "Share", "explain", "strongest"]

MOST_WORDS = 12  # a longer list of words to add or to remove explains nothing


class Share(NamedTuple):
    """What one feature of the document adds to the score of the category."""

    feature: str
    strength: float
    share: float

    @property
    def weight(self) -> float:
        """What the strength counts for."""
        return self.share / self.strength if self.strength else 0.0


class Change(NamedTuple):
    """The smallest change found that turns the decision round; it was tried, not estimated."""

    action: str  # "remove" or "add"
    features: list[str]
    score: float  # what the score would be then
    winner: str | None = None  # the category that would be chosen instead, where only one can be


@dataclass(frozen=True)
class Explanation:
    """Each word's share in a decision: the shares add up to the score.

    Attributes
    ----------
    category : str
        The category that is explained.
    chosen : bool
        Whether the document got it.
    shares : list of Share
        Features of the document by size of their share, the largest first.
    threshold : float
        What the shares must add up to, and more.
    rival : tuple of (str, float) or None
        Where only one category can be chosen: the best of the others and its score.
    change : Change or None
        What would have changed the decision; None if nothing that was tried would.
    text : str
        The document.
    spans : list of (start, end, share)
        Where the features stand in the text.
    """

    category: str
    chosen: bool
    shares: list[Share]
    threshold: float
    rival: tuple[str, float] | None
    change: Change | None
    text: str
    spans: list[tuple[int, int, float]]

    @property
    def total(self) -> float:
        """The sum of the shares."""
        return sum(one.share for one in self.shares)

    @property
    def score(self) -> float:
        """How far the sum of the shares is above the threshold; below zero: not reached."""
        return self.total - self.threshold

    @property
    def largest_share(self) -> float:
        """The size of the largest share in the text, to which colours are relative; never zero."""
        return max((abs(share) for _, _, share in self.spans), default=0.0) or 1.0

    def verdict(self) -> str:
        """Say the decision in one sentence."""
        word = "chosen" if self.chosen else "not chosen"
        if self.rival:
            name, score = self.rival
            return (
                f"{self.category}: {word}, score {self.score:+.3f}; "
                f"the best other category is {name} with {score:+.3f}."
            )
        sign = ">" if self.score > 0 else "≤"
        return f"{self.category}: {word}, {self.total:.3f} {sign} threshold {self.threshold:.3f}."

    def remedy(self) -> str:
        """Say in one sentence what would have changed the decision."""
        if self.change is None:
            return "No small change of words would have changed this."
        words = ", ".join(repr(feature) for feature in self.change.features)
        how = "Without" if self.change.action == "remove" else "With"
        if self.change.winner:
            end = f"it would be {self.change.winner}"
        else:
            end = "it would not be chosen" if self.chosen else "it would be chosen"
        return f"{how} {words} {end} (score {self.change.score:+.3f})."

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the spans as plain data."""
        return {
            "category": self.category,
            "chosen": self.chosen,
            "score": self.score,
            "threshold": self.threshold,
            "rival": self.rival and {"category": self.rival[0], "score": self.rival[1]},
            "shares": [s._asdict() | {"weight": s.weight} for s in self.shares],
            "change": self.change and self.change._asdict(),
        }

    def __str__(self) -> str:
        lines = [self.verdict()]
        lines += [f"  {s.share:+8.3f}  {s.feature}" for s in self.shares[:10]]
        return "\n".join([*lines, self.remedy()])

    def _repr_html_(self) -> str:
        from thresher.report.explanation import explanation_fragment

        return explanation_fragment(self)


# What is behind an explanation -------------------------------------------------------------------


def explain(stations: Stations, text: str, category: Any = None) -> Explanation:
    """Explain one decision of a model.

    Parameters
    ----------
    stations : Stations
        What the model is made of.
    text : str
        The document.
    category : label, optional
        The category. Default: the one farthest above its threshold.
    """
    counts = stations.features.count([text])
    scores = _rescore(stations, counts)
    margins = scores[0] - stations.decisions.thresholds
    number = int(np.argmax(margins))
    if category is not None:
        number = stations.categories.number(category)
    columns, shares = _shares(stations, counts, text, number)
    by_column = dict(zip(columns.tolist(), shares, strict=False))
    chosen = bool(stations.decisions.decide(scores)[0, number])
    spans = [
        (start, end, by_column[column].share)
        for start, end, column in stations.features.counter.spans(text)
        if column in by_column
    ]
    return Explanation(
        category=stations.categories.names[number],
        chosen=chosen,
        shares=sorted(shares, key=lambda one: (-abs(one.share), one.feature)),
        threshold=_bar(stations) + float(stations.decisions.thresholds[number]),
        rival=_rival(stations, margins, number),
        change=_find_change(stations, counts, text, number, chosen, by_column),
        text=text,
        spans=spans,
    )


def strongest(
    stations: Stations, category: Any, top: int
) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
    """Return the features with the strongest weights for a category and against it.

    Both are empty where the learner has no weights, or the features no names.

    Parameters
    ----------
    stations : Stations
        What the model is made of.
    category : label
        The category.
    top : int
        How many features on each side.
    """
    number, weights = stations.categories.number(category), stations.learner.linear_weights()
    if weights is None:
        return [], []
    own = weights[:, number]
    order = np.argsort(-own, kind="stable")
    sides = (
        np.array([i for i in order[:top] if own[i] > 0], np.int32),
        np.array([i for i in order[::-1][:top] if own[i] < 0], np.int32),
    )
    for_it, against_it = (
        list(zip(stations.features.names(side), own[side].tolist(), strict=True)) for side in sides
    )
    return for_it, against_it


def _bar(stations: Stations) -> float:
    """Return what the learner takes off every score."""
    return float(getattr(stations.learner, "bar", 0.0))


def _names(stations: Stations, columns: Any, text: str) -> list[str]:
    """Return the names of features; hashed ones are named after the words of `text`."""
    counter = stations.features.counter
    if counter.hashing_bits is None:
        return counter.names(np.asarray(columns))
    words: dict[int, str] = {}
    for start, end, column in counter.spans(text):
        words.setdefault(column, text[start:end].lower())
    return [words.get(int(column), f"#{column}") for column in columns]


def _rescore(stations: Stations, counts: Rows) -> np.ndarray:
    return stations.learner.score_rows(stations.features.apply(counts))


def _shares(
    stations: Stations, counts: Rows, text: str, number: int
) -> tuple[np.ndarray, list[Share]]:
    """Return the columns of a document and their shares; what no feature has a share in is last."""
    learner, rows = stations.learner, stations.features.apply(counts)
    parts, (rest,) = learner.contributions(rows, number)
    strengths = learner.strengths(rows)[0].values if hasattr(learner, "strengths") else rows.values
    shares = [
        Share(name, float(strength), float(part))
        for name, strength, part in zip(
            _names(stations, rows.indices, text), strengths, parts, strict=True
        )
    ]
    constant = float(rest) + _bar(stations)
    always_on = learner.strengths(rows)[1][0] if hasattr(learner, "strengths") else 1.0
    if always_on and (constant or hasattr(learner, "strengths")):
        shares.append(Share(learner.constant_name, float(always_on), constant))
    return rows.indices, shares


def _rival(stations: Stations, margins: np.ndarray, number: int) -> tuple[str, float] | None:
    if stations.decisions.mode != "single-label" or len(margins) < 2:
        return None
    others = np.where(np.arange(len(margins)) == number, -np.inf, margins)
    best = int(np.argmax(others))
    return stations.categories.names[best], float(margins[best])


def _find_change(
    stations: Stations,
    counts: Rows,
    text: str,
    number: int,
    chosen: bool,
    by_column: dict[int, Share],
) -> Change | None:
    """Try to turn the decision round by leaving words out or by putting words in.

    The words that matter most go first, one more at each try, and every try is scored by the
    model itself, because normalised strengths of the other words move too.
    """
    sign = 1 if chosen else -1
    away = sorted(
        (c for c, one in by_column.items() if sign * one.share > 0),
        key=lambda c: -abs(by_column[c].share),
    )[:MOST_WORDS]
    taken_out = _first_turn(stations, counts, text, number, chosen, "remove", away)
    weights = stations.learner.linear_weights()
    if chosen or weights is None:
        return taken_out
    own = weights[:, number]
    absent = np.setdiff1d(np.argsort(-own, kind="stable")[:200], counts.indices)
    best = absent[np.argsort(-own[absent], kind="stable")][:MOST_WORDS].tolist()
    put_in = _first_turn(stations, counts, text, number, chosen, "add", best)
    if put_in and (taken_out is None or len(put_in.features) < len(taken_out.features)):
        return put_in
    return taken_out


def _first_turn(
    stations: Stations,
    counts: Rows,
    text: str,
    number: int,
    chosen: bool,
    action: str,
    columns: Sequence[int],
) -> Change | None:
    """Return the change that takes the fewest of `columns`, in their order, if any does."""
    if not len(columns):
        return None
    tries = []
    for size in range(1, len(columns) + 1):
        touched = np.array(columns[:size], np.int32)
        if action == "remove":
            kept = ~np.isin(counts.indices, touched)
            tries.append((counts.indices[kept], counts.values[kept]))
        else:
            ones = np.ones(size, np.float32)
            both = np.concatenate([counts.indices, touched]), np.concatenate([counts.values, ones])
            tries.append(both)
    indptr = np.concatenate([[0], np.cumsum([len(indices) for indices, _ in tries])])
    changed = Rows(
        indptr,
        np.concatenate([indices for indices, _ in tries]),
        np.concatenate([values for _, values in tries]),
        counts.n_columns,
        None if counts.lengths is None else np.repeat(counts.lengths, len(tries)),
    )
    scores = _rescore(stations, changed)
    decided = stations.decisions.decide(scores)
    turned = np.flatnonzero(decided[:, number] != chosen)
    if not len(turned):
        return None
    first = int(turned[0])
    names = _names(stations, columns[: first + 1], text)
    winner = None
    if chosen and stations.decisions.mode == "single-label" and decided[first].any():
        winner = stations.categories.names[int(np.argmax(decided[first]))]
    margin = float(scores[first, number] - stations.decisions.thresholds[number])
    return Change(action, names, margin, winner)
