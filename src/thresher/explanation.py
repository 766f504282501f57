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
    """Each word's share in a decision: the shares add up to the score."""

    category: str
    chosen: bool  # whether the document got it
    shares: list[Share]  # of the document's features, the largest first
    threshold: float  # what the shares must add up to, and more
    rival: tuple[str, float] | None  # where only one can be chosen: the best other and its score
    change: Change | None  # what would have changed the decision, if anything that was tried
    text: str
    spans: list[tuple[int, int, float]]  # start, end and share of the features in the text

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
    """Explain one decision of a model, given what it is made of; as `Categorizer.explain`."""
    counts = stations.features.count([text])
    scores = stations.learner.score_rows(stations.features.apply(counts))
    margins = scores[0] - stations.decisions.thresholds
    number = int(np.argmax(margins)) if category is None else stations.categories.number(category)
    chosen = bool(stations.decisions.decide(scores)[0, number])
    decision = _Decision(stations, counts, text, number, chosen)
    columns, shares = decision.shares()
    by_column = dict(zip(columns.tolist(), shares, strict=False))
    spans = [
        (start, end, by_column[column].share)
        for start, end, column in stations.features.counter.spans(text)
        if column in by_column
    ]
    return Explanation(
        category=stations.categories.names[number],
        chosen=chosen,
        shares=sorted(shares, key=lambda one: (-abs(one.share), one.feature)),
        threshold=decision.bar + float(stations.decisions.thresholds[number]),
        rival=decision.rival(margins),
        change=decision.change(by_column),
        text=text,
        spans=spans,
    )


def strongest(
    stations: Stations, category: Any, top: int
) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
    """Return the `top` features with the strongest weights for a category and against it.

    Both are empty where the learner has no weights, or the features no names.
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


class _Decision(NamedTuple):
    """One decision of a model, to be explained."""

    stations: Stations
    counts: Rows  # of the document
    text: str
    number: int  # of the category
    chosen: bool

    @property
    def bar(self) -> float:
        """What the learner takes off every score."""
        return float(getattr(self.stations.learner, "bar", 0.0))

    def names(self, columns: Any) -> list[str]:
        """Return the names of features; hashed ones are named after the words of the text."""
        counter = self.stations.features.counter
        if counter.hashing_bits is None:
            return counter.names(np.asarray(columns))
        words: dict[int, str] = {}
        for start, end, column in counter.spans(self.text):
            words.setdefault(column, self.text[start:end].lower())
        return [words.get(int(column), f"#{column}") for column in columns]

    def shares(self) -> tuple[np.ndarray, list[Share]]:
        """Return the columns and their shares; what no feature has a share in is last."""
        learner, rows = self.stations.learner, self.stations.features.apply(self.counts)
        parts, (rest,) = learner.contributions(rows, self.number)
        constant = float(rest) + self.bar
        strengths, always_on = rows.values, float(constant != 0)
        if hasattr(learner, "strengths"):
            with_constant = learner.strengths(rows)
            strengths, always_on = with_constant[0].values, float(with_constant[1][0])
        named = zip(self.names(rows.indices), strengths, parts, strict=True)
        shares = [Share(name, float(strength), float(part)) for name, strength, part in named]
        if always_on:
            shares.append(Share(learner.constant_name, always_on, constant))
        return rows.indices, shares

    def rival(self, margins: np.ndarray) -> tuple[str, float] | None:
        """Return the best other category and its margin, where only one can be chosen."""
        if self.stations.decisions.mode != "single-label" or len(margins) < 2:
            return None
        best = int(np.argmax(np.where(np.arange(len(margins)) == self.number, -np.inf, margins)))
        return self.stations.categories.names[best], float(margins[best])

    def change(self, by_column: dict[int, Share]) -> Change | None:
        """Try to turn the decision round by leaving words out or by putting words in.

        The words that matter most go first, one more at each try, and every try is scored by the
        model itself, because normalised strengths of the other words move too.
        """
        sign = 1 if self.chosen else -1
        away = [column for column, one in by_column.items() if sign * one.share > 0]
        away.sort(key=lambda column: -abs(by_column[column].share))
        taken_out = self._first_turn("remove", away[:MOST_WORDS])
        weights = self.stations.learner.linear_weights()
        if self.chosen or weights is None:
            return taken_out
        own = weights[:, self.number]
        absent = np.setdiff1d(np.argsort(-own, kind="stable")[:200], self.counts.indices)
        best = absent[np.argsort(-own[absent], kind="stable")][:MOST_WORDS].tolist()
        put_in = self._first_turn("add", best)
        if put_in and (taken_out is None or len(put_in.features) < len(taken_out.features)):
            return put_in
        return taken_out

    def _first_turn(self, action: str, columns: Sequence[int]) -> Change | None:
        """Return the change that takes the fewest of `columns`, in their order, if any does."""
        if not columns:
            return None
        counts, decisions, tries = self.counts, self.stations.decisions, []
        for size in range(1, len(columns) + 1):
            touched, ones = np.array(columns[:size], np.int32), np.ones(size, np.float32)
            if action == "remove":
                kept = ~np.isin(counts.indices, touched)
                tries.append((counts.indices[kept], counts.values[kept]))
            else:
                tries.append((np.append(counts.indices, touched), np.append(counts.values, ones)))
        indices, values = (np.concatenate(parts) for parts in zip(*tries, strict=True))
        indptr = np.concatenate([[0], np.cumsum([len(indices) for indices, _ in tries])])
        lengths = None if counts.lengths is None else np.repeat(counts.lengths, len(tries))
        changed = Rows(indptr, indices, values, counts.n_columns, lengths)
        scores = self.stations.learner.score_rows(self.stations.features.apply(changed))
        decided = decisions.decide(scores)
        turned = np.flatnonzero(decided[:, self.number] != self.chosen)
        if not len(turned):
            return None
        first, winner = int(turned[0]), None
        if self.chosen and decisions.mode == "single-label" and decided[first].any():
            winner = self.stations.categories.names[int(np.argmax(decided[first]))]
        margin = float(scores[first, self.number] - decisions.thresholds[self.number])
        return Change(action, self.names(columns[: first + 1]), margin, winner)
