"""Why a document got a category, or did not: each word's share of the score, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thresher.errors import ParameterError
from thresher.rows import Rows

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer

__all__ = ["Change", "Explanation", "Share", "explain"]

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


def explain(categorizer: Categorizer, text: str, category: str | None = None) -> Explanation:
    """Explain one decision of a categorizer.

    Parameters
    ----------
    categorizer : Categorizer
        Which has learned.
    text : str
        The document.
    category : str, optional
        The category. Default: the one farthest above its threshold.
    """
    counts = categorizer.counter_.count([text], grow=False)
    scores = _rescore(categorizer, counts)
    margins = scores[0] - categorizer.decisions_.thresholds
    number = _category_number(categorizer, category, margins)
    columns, shares = _shares(categorizer, counts, text, number)
    by_column = dict(zip(columns.tolist(), shares, strict=False))
    chosen = bool(categorizer.decisions_.decide(scores)[0, number])
    spans = [
        (start, end, by_column[column].share)
        for start, end, column in categorizer.counter_.spans(text)
        if column in by_column
    ]
    return Explanation(
        category=categorizer.categories_[number],
        chosen=chosen,
        shares=sorted(shares, key=lambda one: (-abs(one.share), one.feature)),
        threshold=categorizer.threshold_of(number),
        rival=_rival(categorizer, margins, number),
        change=_find_change(categorizer, counts, text, number, chosen, by_column),
        text=text,
        spans=spans,
    )


def _category_number(categorizer: Categorizer, category: str | None, margins: np.ndarray) -> int:
    names = categorizer.categories_
    if category is None:
        return int(np.argmax(margins))
    if category not in names:
        shown = ", ".join(names[:20]) + (" and more" if len(names) > 20 else "")
        raise ParameterError(f"The model has no category {category!r}; it has {shown}.")
    return names.index(category)


def _rescore(categorizer: Categorizer, counts: Rows) -> np.ndarray:
    strengths = categorizer.strength_.apply(counts)
    return categorizer.learner_.score_rows(strengths)


def _shares(
    categorizer: Categorizer, counts: Rows, text: str, number: int
) -> tuple[np.ndarray, list[Share]]:
    """Return the columns of a document and their shares; an always-on feature comes last."""
    learner, strengths = categorizer.learner_, categorizer.strength_.apply(counts)
    parts, (rest,) = learner.contributions(strengths, number)
    used, always_on = learner.strengths(strengths)
    names = categorizer.names_of(strengths.indices, text)
    shares = [
        Share(name, float(strength), float(part))
        for name, strength, part in zip(names, used.values, parts, strict=True)
    ]
    if always_on[0]:
        own = float(rest) + float(learner.bar)
        shares.append(Share("(always on)", float(always_on[0]), own))
    return strengths.indices, shares


def _rival(categorizer: Categorizer, margins: np.ndarray, number: int) -> tuple[str, float] | None:
    if categorizer.decisions_.mode != "single-label" or len(margins) < 2:
        return None
    others = np.where(np.arange(len(margins)) == number, -np.inf, margins)
    best = int(np.argmax(others))
    return categorizer.categories_[best], float(margins[best])


def _find_change(
    categorizer: Categorizer,
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
    found = _first_turn(categorizer, counts, text, number, chosen, "remove", away)
    if not chosen:
        weights = categorizer.learner_.effective_weights()[:, number]
        absent = np.setdiff1d(np.argsort(-weights, kind="stable")[:200], counts.indices)
        best = absent[np.argsort(-weights[absent], kind="stable")][:MOST_WORDS].tolist()
        put_in = _first_turn(categorizer, counts, text, number, chosen, "add", best)
        if put_in and (found is None or len(put_in.features) < len(found.features)):
            return put_in
    return found


def _first_turn(
    categorizer: Categorizer,
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
    )
    scores = _rescore(categorizer, changed)
    decided = categorizer.decisions_.decide(scores)
    turned = np.flatnonzero(decided[:, number] != chosen)
    if not len(turned):
        return None
    first = int(turned[0])
    names = categorizer.names_of(np.array(columns[: first + 1]), text)
    winner = None
    if chosen and categorizer.decisions_.mode == "single-label" and decided[first].any():
        winner = categorizer.categories_[int(np.argmax(decided[first]))]
    margin = float(scores[first, number] - categorizer.decisions_.thresholds[number])
    return Change(action, names, margin, winner)
