"""The worst errors: a bounded number of them, collected batch by batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from thresher.decisions import Decisions
from thresher.documents import Batch
from thresher.model.categories import Categories
from thresher.model.explanation import Explanation
from thresher.report.markup import short

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer

T = TypeVar("T")

LONGEST_EXCERPT = 1500  # characters of a document that are shown
FAINT = 0.04  # words with less than this share of the strongest word's are not coloured


@dataclass(frozen=True)
class WrongDecision:
    """A wrong decision on a document: a missed category or a false positive."""

    kind: str  # "missed" or "wrong"
    category: str
    margin: float  # how far the score was on the wrong side
    location: str
    text: str
    labels: list[str]
    given: list[str]
    explanations: list[Explanation] = field(default_factory=list)

    @property
    def explained(self) -> list[str]:
        """The categories to explain: this one, and the true one if it is the only label."""
        lost = [name for name in self.labels if name not in self.given]
        alone = len(self.labels) == len(self.given) == 1
        return [self.category, *(lost if self.kind == "wrong" and alone else [])]


class WorstErrors:
    """Collect the `most` worst errors of each kind, at most a few of the same category.

    An error is the worse, the further its score is on the wrong side of the threshold. In
    single-label mode, its size is the distance between the scores of the assigned and the true
    category, and only documents without an assigned category count as missed.

    A category that the model does not know has no score: it counts as one at its threshold, or as
    the best one of the document if all are below theirs.
    """

    def __init__(self, categories: Iterable[Any], decisions: Decisions, most: int = 12) -> None:
        self._known = Categories(categories)
        self.categories = self._known.names
        self.decisions = decisions
        self.most = most
        self.most_of_category = max(2, most // max(1, len(self.categories)))
        self._worst_errors: dict[str, list[WrongDecision]] = {"missed": [], "wrong": []}

    def __iter__(self) -> Iterator[WrongDecision]:
        for errors in self._worst_errors.values():
            yield from errors

    def see(self, batch: Batch, scores: np.ndarray, decided: np.ndarray) -> None:
        """Collect the worst errors of a batch, given its scores and decisions."""
        n = len(self.categories)
        lists, from_table = batch.labels or [[]] * len(batch), not batch.labels_are_given
        belongs = np.zeros((len(decided), n + 1), bool)  # the last column: an unknown category
        unknown: dict[int, str] = {}  # the first one of each document
        for i, labels in enumerate(lists):
            for label in (self._known.typed_label(label, from_table) for label in labels):
                number = self._known.number(label) if label in self._known else n
                belongs[i, number] = True
                if number == n:
                    unknown.setdefault(i, str(label))
        margins = scores - self.decisions.thresholds
        margins = np.hstack([margins, np.minimum(margins.max(axis=1, keepdims=True), 0.0)])
        decided = np.pad(decided, ((0, 0), (0, 1)))
        missed, wrong, ahead = belongs & ~decided, decided & ~belongs, margins
        if self.decisions.mode == "single-label":
            missed &= ~decided.any(axis=1, keepdims=True)
            right = np.where(belongs, margins, -np.inf).max(axis=1, initial=-np.inf)
            wrong &= np.isfinite(right)[:, None]  # a document without labels is no error
            ahead = margins - right[:, None]
        for kind, errors, badness in (("missed", missed, -margins), ("wrong", wrong, ahead)):
            rows, columns = np.nonzero(errors)
            order = np.argsort(-badness[rows, columns], kind="stable")
            worst_first = (
                (row, column, self.categories[column] if column < n else unknown[row])
                for row, column in zip(rows[order].tolist(), columns[order].tolist(), strict=True)
            )
            collected = self._worst_errors[kind]
            for row, column, category in self._few_of_each(worst_first, lambda error: error[2]):
                margin = float(badness[row, column])
                document = batch.location(row), str(batch.texts[row])
                labels = [str(self._known.typed_label(x, from_table)) for x in lists[row]]
                given = [self.categories[c] for c in np.flatnonzero(decided[row])]
                collected.append(WrongDecision(kind, category, margin, *document, labels, given))
            collected.sort(key=lambda error: -error.margin)
            self._worst_errors[kind] = self._few_of_each(collected, lambda error: error.category)

    def _few_of_each(self, errors: Iterable[T], category: Callable[[T], Any]) -> list[T]:
        """Return the first of the errors, at most a few of each category."""
        seen: Counter[Any] = Counter()
        chosen: list[T] = []
        for error in errors:
            if len(chosen) == self.most:
                break
            seen[category(error)] += 1
            if seen[category(error)] <= self.most_of_category:
                chosen.append(error)
        return chosen

    def explain(self, categorizer: Categorizer) -> list[WrongDecision]:
        """Return the errors with explanations, shortened to excerpts."""
        known, explained = set(categorizer.categories_), []
        for error in self:
            names = [name for name in error.explained if name in known]
            reasons = [excerpt(categorizer.explain(error.text, name)) for name in names]
            explained.append(replace(error, explanations=reasons))
        return explained


def excerpt(explanation: Explanation, longest: int = LONGEST_EXCERPT) -> Explanation:
    """Return an explanation with the passage of the text that contributes most to the score.

    The passage has at most `longest` characters. Long names of features and categories are cut.
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
        change = change._replace(features=[short(name) for name in change.features], winner=winner)
    return replace(
        explanation,
        category=short(explanation.category),
        rival=rival and (short(rival[0]), rival[1]),
        text=opening + text[start:end] + closing,
        spans=[(a + shift, b + shift, s) for a, b, s in spans if start <= a and b <= end],
        shares=[item._replace(feature=short(item.feature)) for item in explanation.shares],
        change=change,
    )


def _window(text: str, spans: list[tuple[int, int, float]], longest: int) -> tuple[int, int]:
    """Return the span of `longest` characters whose words have the largest shares."""
    first, last = len(text) - len(text.lstrip()), len(text.rstrip())
    if last - first <= longest:
        return min(first, last), last
    weights = [abs(share) for _, _, share in spans]
    starts = np.array([0, *(a for a, _, _ in spans)])
    sums = np.concatenate([[0.0], np.cumsum(weights)])
    core = longest * 4 // 5  # a tenth on either side is context
    inside = sums[np.searchsorted(starts[1:], starts + core)]
    inside -= sums[np.searchsorted(starts[1:], starts)]
    begin = int(starts[np.argmax(inside)]) - longest // 10
    begin = max(first, min(begin, last - longest))
    if begin > first:  # begin after a blank, unless the word is very long
        begin += len(text[begin : begin + 40].partition(" ")[0]) % 40
    return begin, min(begin + longest, last)
