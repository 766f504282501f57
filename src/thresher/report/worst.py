"""The worst errors: found while the documents stream by, a fixed number of them kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from thresher.decisions import Decisions
from thresher.documents import Batch
from thresher.model.explanation import Explanation
from thresher.report.markup import short

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer

__all__ = ["WorstErrors", "WrongDecision", "excerpt"]

T = TypeVar("T")

LONGEST_EXCERPT = 1500  # characters of a document that are shown
FAINT = 0.04  # words with less than this share of the strongest word's are not coloured


@dataclass(frozen=True)
class WrongDecision:
    """A document that did not get one of its categories, or got one that it does not belong to."""

    kind: str  # "missed" or "wrong"
    category: str
    margin: float  # how far the score was on the wrong side
    place: str
    text: str
    labels: list[str]
    given: list[str]
    explanations: list[Explanation] = field(default_factory=list)

    @property
    def explained(self) -> list[str]:
        """The categories to explain: this one and, where it stands for another, that one."""
        lost = [name for name in self.labels if name not in self.given]
        alone = len(self.labels) == len(self.given) == 1
        return [self.category, *(lost if self.kind == "wrong" and alone else [])]


class WorstErrors:
    """Keep the `most` worst errors of each kind, no more than a few of the same category.

    The further the score is on the wrong side of the threshold, the worse is the error. In
    single-label mode, what counts is how far the category that was given is ahead of the right
    one, and only the documents that got nothing are called missed.
    """

    def __init__(self, categories: Sequence[str], decisions: Decisions, most: int = 12) -> None:
        self.categories = list(categories)
        self.decisions = decisions
        self.most = most
        self.most_alike = max(2, most // max(1, len(self.categories)))
        self._numbers = {name: c for c, name in enumerate(self.categories)}
        self._kept: dict[str, list[WrongDecision]] = {"missed": [], "wrong": []}

    def __iter__(self) -> Iterator[WrongDecision]:
        for kept in self._kept.values():
            yield from kept

    def see(self, batch: Batch, scores: np.ndarray, decided: np.ndarray) -> None:
        """Look for errors worse than those kept, in documents with labels, scores and decisions."""
        belongs = np.zeros(decided.shape, bool)
        for i, labels in enumerate(batch.labels or ()):
            known = [self._numbers[name] for name in map(str, labels) if name in self._numbers]
            belongs[i, known] = True
        margins = scores - self.decisions.thresholds
        missed, wrong, ahead = belongs & ~decided, decided & ~belongs, margins
        if self.decisions.mode == "single-label":
            missed &= ~decided.any(axis=1, keepdims=True)
            right = np.where(belongs, margins, -np.inf).max(axis=1, initial=-np.inf)
            wrong &= np.isfinite(right)[:, None]  # a category never learned cannot be compared
            ahead = margins - right[:, None]
        for kind, errors, badness in (("missed", missed, -margins), ("wrong", wrong, ahead)):
            errors_here = [
                WrongDecision(
                    kind,
                    self.categories[column],
                    float(badness[row, column]),
                    batch.location(row),
                    str(batch.texts[row]),
                    [str(label) for label in (batch.labels or [])[row]],
                    [self.categories[c] for c in np.flatnonzero(decided[row])],
                )
                for row, column in self._worst(errors, badness)
            ]
            worst_first = sorted(self._kept[kind] + errors_here, key=lambda one: -one.margin)
            self._kept[kind] = self._few_of_each(worst_first, lambda one: one.category)

    def _worst(self, errors: np.ndarray, badness: np.ndarray) -> list[tuple[int, int]]:
        """Return rows and columns of the worst errors in a batch."""
        rows, columns = np.nonzero(errors)
        order = np.argsort(-badness[rows, columns], kind="stable")
        worst_first = zip(rows[order].tolist(), columns[order].tolist(), strict=True)
        return self._few_of_each(worst_first, lambda pair: pair[1])

    def _few_of_each(self, errors: Iterable[T], category: Callable[[T], Any]) -> list[T]:
        """Return the first errors, which come worst first, no more than a few of a category."""
        seen: Counter[Any] = Counter()
        chosen: list[T] = []
        for one in errors:
            if len(chosen) == self.most:
                break
            seen[category(one)] += 1
            if seen[category(one)] <= self.most_alike:
                chosen.append(one)
        return chosen

    def explain(self, categorizer: Categorizer) -> list[WrongDecision]:
        """Return the errors with the reasons for them, cut to what can be read."""
        known, explained = set(categorizer.categories_), []
        for one in self:
            names = [name for name in one.explained if name in known]
            reasons = [excerpt(categorizer.explain(one.text, name)) for name in names]
            explained.append(replace(one, explanations=reasons))
        return explained


def excerpt(explanation: Explanation, longest: int = LONGEST_EXCERPT) -> Explanation:
    """Return an explanation with the part of the text from which most of the score comes.

    At most `longest` characters of it are left. Names of features and of categories are cut, too,
    if they are too long to be read.
    """
    text, faint = explanation.text, FAINT * explanation.largest_share
    spans = [span for span in explanation.spans if abs(span[2]) >= faint]
    start, end = _window(text, spans, longest)
    opening = "… " if text[:start].strip() else ""
    closing = " …" if text[end:].strip() else ""
    shift = len(opening) - start
    change, rival = explanation.change, explanation.rival
    if change is not None:
        winner = change.winner and short(change.winner)
        change = change._replace(features=[short(one) for one in change.features], winner=winner)
    return replace(
        explanation,
        category=short(explanation.category),
        rival=rival and (short(rival[0]), rival[1]),
        text=opening + text[start:end] + closing,
        spans=[(a + shift, b + shift, s) for a, b, s in spans if start <= a and b <= end],
        shares=[one._replace(feature=short(one.feature)) for one in explanation.shares],
        change=change,
    )


def _window(text: str, spans: list[tuple[int, int, float]], longest: int) -> tuple[int, int]:
    """Return where the stretch of `longest` characters with the heaviest words begins and ends."""
    first, last = len(text) - len(text.lstrip()), len(text.rstrip())
    if last - first <= longest:
        return min(first, last), last
    weights = [abs(share) for _, _, share in spans]
    starts = np.array([0, *(a for a, _, _ in spans)])
    sums = np.concatenate([[0.0], np.cumsum(weights)])
    core = longest * 4 // 5  # with a tenth on either side, so that no heavy word is at the edge
    inside = sums[np.searchsorted(starts[1:], starts + core)]
    inside -= sums[np.searchsorted(starts[1:], starts)]
    begin = int(starts[np.argmax(inside)]) - longest // 10
    begin = max(first, min(begin, last - longest))
    if begin > first:  # not in the middle of a word, unless it is a very long one
        begin += len(text[begin : begin + 40].partition(" ")[0]) % 40
    return begin, min(begin + longest, last)
