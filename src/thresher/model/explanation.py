"""Explanations of decisions: the contribution of each word to the score of a category."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from thresher.errors import counted, escaped

LINES_SHOWN = 10
WORDS_PER_NEIGHBOR = 5


class Share(NamedTuple):
    """The contribution of one word of the document to the score of the category.

    The contribution of a run of words (word n-gram) is divided equally between its words. Parts of
    words (character n-grams) count for the words that contain them, and concepts for the words that
    express them. Tokens that are not words, such as "$$$", get a line if they have parts. For
    learners with rules, each rule has a line; for trees, each test on the path to the leaf does.
    """

    feature: str  # the word as it is counted, the rule, or the test
    strength: float  # strength of the word
    own: float  # contribution of the word itself
    parts: float = 0.0  # contribution of its parts
    runs: float = 0.0  # contribution of the runs that contain it
    run: str = ""  # the strongest of these runs, if they contribute much
    concepts: float = 0.0  # contribution of the concepts that it expresses
    concept: str = ""  # the strongest of these concepts, if they contribute much

    @property
    def share(self) -> float:
        """Sum of the contributions."""
        return self.own + self.parts + self.runs + self.concepts

    @property
    def weight(self) -> float:
        """The weight of the word itself: its contribution per unit of strength."""
        return self.own / self.strength if self.strength else 0.0

    def scaled(self, factor: float) -> Self:
        """Return the share with all contributions multiplied by a factor."""
        portions = ("own", "parts", "runs", "concepts")
        return self._replace(**{name: factor * getattr(self, name) for name in portions})

    def portions(self) -> str:
        """Return the contributions as text; empty if only the word itself contributes."""
        if not self.parts and not self.runs and not self.concepts:
            return ""
        run = self.run and f" as in {self.run!r}"
        concept = self.concept and f" as {self.concept}"
        named = (
            ("itself", self.own, ""), ("parts", self.parts, ""), ("runs", self.runs, run),
            ("concepts", self.concepts, concept),
        )  # fmt: skip
        return (
            f"({', '.join(f'{name} {value:+.3f}{more}' for name, value, more in named if value)})"
        )


class Near(NamedTuple):
    """A training document that votes on the category because it is similar.

    Examples
    --------
    >>> print(Near(17, 0.834, 0.2, ["earn"], [("cts", 0.5), ("net", 0.334)]))
    document 17 (earn): similarity 0.834, vote 0.200, by cts, net
    """

    document: int  # position in training order, from 1
    similarity: float
    vote: float  # its share of all votes
    categories: list[Any]
    words: list[tuple[str, float]]  # shared words, with their shares of the similarity

    def by(self, most: int = WORDS_PER_NEIGHBOR) -> str:
        """Return the shared words, the most important ones first."""
        more = f" and {len(self.words) - most} more" if len(self.words) > most else ""
        return ", ".join(word for word, _ in self.words[:most]) + more

    def __str__(self) -> str:
        names = ", ".join(map(str, self.categories)) or "no category"
        line = f"document {self.document} ({names}): similarity {self.similarity:.3f}"
        return escaped(
            f"{line}, vote {self.vote:.3f}" + (f", by {self.by()}" if self.words else "")
        )


class Change(NamedTuple):
    """The smallest tested change of words that reverses the decision."""

    action: str  # "remove" or "add"
    features: list[str]
    score: float  # the score after the change
    winner: str | None = None  # the category chosen instead, for single-label models


@dataclass(frozen=True)
class Explanation:
    """The contributions of the words to a decision; the shares add up to the score."""

    category: str
    chosen: bool  # whether the category was assigned to the document
    shares: list[Share]  # of words, the largest first; of tests, in the order of the path
    threshold: float  # the sum of the shares must exceed it
    rival: tuple[str, float] | None  # the best other category and its score, if single-label
    change: Change | None  # the smallest change that reverses the decision, if any
    text: str
    spans: list[tuple[int, int, float]]  # start, end and share of each word in the text
    unit: str = "word"  # of the shares: "word", "rule" or "test"
    neighbors: list[Near] = field(default_factory=list)  # nearest first, for nearest neighbours

    @property
    def total(self) -> float:
        """The sum of the shares."""
        return sum(share.share for share in self.shares)

    @property
    def score(self) -> float:
        """The sum of the shares less the threshold."""
        return self.total - self.threshold

    @property
    def largest_share(self) -> float:
        """The size of the largest share in the text, for the scale of colours; never zero."""
        return max((abs(share) for _, _, share in self.spans), default=0.0) or 1.0

    def largest(self, n: int) -> list[Share]:
        """Return the n largest shares, in the order of `shares`."""
        ranked = sorted(range(len(self.shares)), key=lambda i: -abs(self.shares[i].share))
        return [self.shares[i] for i in sorted(ranked[:n])]

    def smaller(self, n: int) -> tuple[int, float]:
        """Return how many shares are smaller than the n largest, and their sum."""
        n_smaller = max(0, len(self.shares) - n)
        return n_smaller, self.total - sum(share.share for share in self.largest(n))

    def verdict(self) -> str:
        """Return the decision as a sentence."""
        word = "chosen" if self.chosen else "not chosen"
        if self.rival:
            name, score = self.rival
            return escaped(
                f"{self.category}: {word}, score {self.score:+.3f}; "
                f"the best other category is {name} with {score:+.3f}."
            )
        sign, threshold = ">" if self.score > 0 else "≤", f"threshold {self.threshold:.3f}"
        return escaped(f"{self.category}: {word}, {self.total:.3f} {sign} {threshold}.")

    def remedy(self) -> str:
        """Return a sentence about the smallest change that reverses the decision."""
        if self.change is None:
            return "No small change of words would have changed this."
        words = ", ".join(repr(feature) for feature in self.change.features)
        how = "Without" if self.change.action == "remove" else "With"
        end = f"it would {'not ' * self.chosen}be chosen"
        if self.change.winner:
            end = f"it would be {self.change.winner}"
        return escaped(f"{how} {words} {end} (score {self.change.score:+.3f}).")

    def to_dict(self) -> dict[str, Any]:
        """Return everything except text, spans and unit as plain data for JSON."""
        return {
            "category": self.category,
            "chosen": self.chosen,
            "score": self.score,
            "threshold": self.threshold,
            "rival": self.rival and {"category": self.rival[0], "score": self.rival[1]},
            "shares": [
                {"feature": s.feature, "share": s.share, "weight": s.weight} | s._asdict()
                for s in self.shares
            ],
            "change": self.change and self.change._asdict(),
            "neighbors": [neighbor._asdict() for neighbor in self.neighbors],
        }

    def __str__(self) -> str:
        lines = [self.verdict()]
        shares, (n_smaller, rest) = self.largest(LINES_SHOWN), self.smaller(LINES_SHOWN)
        lines += [
            escaped(f"  {s.share:+8.3f}  {s.feature}  {s.portions()}".rstrip()) for s in shares
        ]
        if n_smaller:
            lines.append(f"  {rest:+8.3f}  from {counted(n_smaller, f'smaller {self.unit}')}")
        if self.rival and self.threshold:  # already subtracted from the scores in the verdict
            lines.append(f"  {-self.threshold:+8.3f}  less the threshold")
        lines += [f"  {neighbor}" for neighbor in self.neighbors[:LINES_SHOWN]]
        return "\n".join([*lines, self.remedy()])

    def _repr_html_(self) -> str:
        from thresher.report.explanation import explanation_fragment

        return explanation_fragment(self)
