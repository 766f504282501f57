"""A second look at documents: at each with the categories that it may have."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from thresher._kernels.second_look import (
    LIFT,
    LIKELIEST,
    MARGIN,
    N_OTHERS,
    OF_FIELDS,
    POSITIVES,
    PROBABILITY,
    RANK,
    replace_scores,
)
from thresher.engine import engine_for
from thresher.errors import ModelError
from thresher.model.second_look.linear import Linear
from thresher.model.second_look.pairs import (
    MOST_CANDIDATES,
    Candidates,
    Pairs,
    are_of,
    candidates_of,
)
from thresher.model.second_look.trees import BoostedTrees
from thresher.rows import Labels, Rows
from thresher.state import component_state, require_field, require_tensor

__all__ = ["Kind", "SecondLook", "Unseen"]

Kind = Literal["trees", "linear"]
Judge = BoostedTrees | Linear
JUDGES: dict[str, type[BoostedTrees] | type[Linear]] = {"trees": BoostedTrees, "linear": Linear}
AT_ONCE = 2000  # documents that are looked at together
MOST_LOOKED = 50_000  # documents that it is learned from; of more, the first ones, in random order


class Unseen(NamedTuple):
    """Documents with scores of learners that had not learned from them."""

    scores: np.ndarray  # float32 (documents, categories)
    candidates: Candidates
    labels: Labels
    folds: np.ndarray  # in which each was left out
    weights: np.ndarray  # how many documents each stands for

    def take(self, documents: np.ndarray) -> Unseen:
        """Return some of the documents."""
        scores, candidates, labels, folds, weights = self
        return Unseen(
            scores[documents], candidates.take(documents), labels.take(documents),
            folds[documents], weights[documents],
        )  # fmt: skip

    def at_most(self, n: int) -> Unseen:
        """Return the first documents, or all."""
        return self if len(self.scores) <= n else self.take(np.arange(n))

    def loss(self, scores: np.ndarray, n_known: int) -> float:
        """Return how far scores of the first categories, as logarithms of odds, are from right."""
        truth = self.labels.to_dense()[:, :n_known]
        odds = np.where(truth, -scores[:, :n_known], scores[:, :n_known]).astype(np.float64)
        return float(np.average(np.logaddexp(0, odds).sum(1), weights=self.weights))


class View(NamedTuple):
    """What the second look saw of a document and a category; the shares add up to the score.

    Where the category is not among the likeliest, it has no place, and no shares.
    """

    score: float
    n_candidates: int
    place: int | None = None  # among the candidates, from 1
    worth: float = 1.0  # what a score of the learner is worth in this measure, on average
    words: float = 0.0  # the share of what the words add
    among: float = 0.0  # that of its place
    rival: int | None = None  # the best other category
    margin: float = 0.0  # how far it is above that, in this measure
    together: float = 0.0  # the share of what comes together
    other: int | None = None  # the category that says most by that
    given: float = 0.0  # in which share of whose documents this was met
    positives: float = 0.0  # how many documents had the category
    frequency: float = 0.0  # the share of that
    base: float = 0.0  # the share of nothing


@dataclass(frozen=True, eq=False)
class SecondLook:
    """Scores of documents from what the learner says of all the categories that they may have.

    The learner's scores say for each category by itself whether a document has it. Here the best of
    them are looked at again, beside each other: what the words add up to and the strongest of them,
    what the words of the title say, what place the category has among the others, and which
    categories come together. What is not among the best is refused; categories that came later
    keep the score that they have.

    Attributes
    ----------
    kind : {"trees", "linear"}
        What judges.
    pairs : Pairs
        What is known of the categories.
    judge : BoostedTrees or Linear
        From what is known of a pair to its score, the logarithm of its odds.
    has_evidence : bool
        Whether words add to scores: the learner has weights.
    n_fields : int
        How many fields the documents have.
    n_learned : int
        How many documents the model had learned from when this was made.
    fields : array of uint8
        Of each column, 0 or one more than the number of the field whose word it is.
    """

    kind: Kind
    pairs: Pairs
    judge: Judge
    has_evidence: bool
    n_fields: int
    n_learned: int
    fields: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint8))

    @classmethod
    def fit(
        cls,
        kind: Kind,
        unseen: Unseen,
        n_learned: int,
        *,
        seed: int = 0,
        n_jobs: int = 1,
    ) -> tuple[Self, np.ndarray]:
        """Return a second look, and scores of the documents by looks that did not learn from them.

        Parameters
        ----------
        kind : {"trees", "linear"}
            What judges.
        unseen : Unseen
            The documents.
        n_learned : int
            How many documents the learner has learned from.
        seed : int, default=0
            Of what is random in the trees.
        n_jobs : int, default=1
            Threads, which never change the result.
        """

        def learn(documents: np.ndarray) -> tuple[Pairs, Judge]:
            return _learned(kind, unseen.take(documents), seed)

        folds = np.unique(unseen.folds)
        parts = [np.flatnonzero(unseen.folds != fold) for fold in folds]
        whole, *crossed = engine_for(n_jobs).map(learn, [np.arange(len(unseen.scores)), *parts])
        scores = np.empty_like(unseen.scores)
        for fold, look in zip(folds, crossed, strict=True):
            here = np.flatnonzero(unseen.folds == fold)
            scores[here] = _judged(*look, unseen.scores[here], unseen.candidates.take(here))
        n_kinds = unseen.candidates.evidence.shape[2]
        n_fields = max(0, n_kinds - OF_FIELDS)
        return cls(kind, *whole, n_kinds > 0, n_fields, n_learned), scores

    @property
    def n_known(self) -> int:
        """How many categories are looked at, the first ones."""
        return self.pairs.n_categories

    def apply(
        self,
        scores: np.ndarray,
        rows: Rows,
        learner: Any,
        n_jobs: int = 1,
        own: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the scores after the second look.

        Parameters
        ----------
        scores, rows, learner, own
            As for `candidates_of`.
        n_jobs : int, default=1
            Threads, which never change the result.
        """
        if not len(scores):
            return scores

        def look(start: int) -> np.ndarray:
            here = slice(start, start + AT_ONCE)
            some = rows if len(scores) <= AT_ONCE else rows.take(np.arange(len(scores))[here])
            theirs = None if own is None else own[here]
            candidates = self.candidates(scores[here], some, learner, theirs)
            return _judged(self.pairs, self.judge, scores[here], candidates)

        return np.concatenate(list(engine_for(n_jobs).map(look, range(0, len(scores), AT_ONCE))))

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Return the probabilities that scores after the second look are the odds of.

        Categories that came later have the learner's score, whose odds are those of all others.
        """
        odds = np.asarray(scores, np.float64).copy()
        pairs, later = self.pairs, slice(self.n_known, None)
        odds[:, later] = pairs.slope / pairs.scale * odds[:, later] + pairs.offsets.mean()
        return np.asarray(1 / (1 + np.exp(-odds)))

    def tables(self) -> tuple[Any, ...] | None:
        """Return what `apply` goes by: see the kernel `read`; None if it cannot look by that."""
        pairs, judge = self.pairs, self.judge
        if not isinstance(judge, BoostedTrees) or not self.has_evidence:
            return None
        numbers = pairs.scale, pairs.slope, pairs.total, judge.base, judge.least - 1
        of_pairs = pairs.offsets, pairs.positives, pairs.indptr, pairs.others, pairs.both
        sizes = min(MOST_CANDIDATES, self.n_known), OF_FIELDS + self.n_fields
        return *sizes, self.fields, np.array(numbers), *of_pairs, *judge.tables

    def candidates(
        self, scores: np.ndarray, rows: Rows, learner: Any, own: np.ndarray | None = None
    ) -> Candidates:
        """Return the categories that documents may have, and what their words say of them."""
        fields = self.fields, self.n_fields
        return candidates_of(scores, rows, learner, *fields, self.n_known, own)

    def explained(self, rows: Rows, learner: Any, number: int) -> View:
        """Return what was seen of one document, given its strengths, and a category."""
        scores = learner.score_rows(rows)
        candidates = self.candidates(scores, rows, learner)
        after = _judged(self.pairs, self.judge, scores, candidates)
        score, numbers = float(after[0, number]), candidates.numbers[0]
        places = np.flatnonzero(numbers == number)
        if not len(places):
            return View(score, len(numbers))
        facts = self.pairs.describe(scores, candidates)[0]
        place, first = int(places[0]), facts.shape[1] - N_OTHERS
        *shares, base = self.judge.shares(facts[place : place + 1])[0].tolist()
        worth = self.pairs.slope / self.pairs.scale
        probabilities = facts[:, first + PROBABILITY]
        given = [self.pairs.given(number, int(j)) if j != number else 0.0 for j in numbers]
        other = int(np.argmax(probabilities * given)) if any(given) else None
        rival = None if len(numbers) == 1 else int(numbers[1 if place == 0 else 0])
        return View(
            score=score,
            n_candidates=len(numbers),
            place=place + 1,
            worth=worth,
            words=sum(shares[: first + 1]),
            among=shares[first + RANK] + shares[first + MARGIN],
            rival=rival,
            margin=self.pairs.slope * float(facts[place, first + MARGIN]),
            together=sum(shares[first + LIKELIEST : first + LIFT + 1]),
            other=None if other is None else int(numbers[other]),
            given=0.0 if other is None else given[other],
            positives=float(self.pairs.positives[number]),
            frequency=shares[first + POSITIVES],
            base=base,
        )

    def grown(self, fields: np.ndarray) -> Self:
        """Return the same for more columns."""
        return replace(self, fields=fields)

    def noted(self, n_learned: int) -> Self:
        """Return the same, as of when so many documents were learned."""
        return replace(self, n_learned=n_learned)

    def renumbered(self, numbers: np.ndarray, keep: np.ndarray) -> Self | None:
        """Return the same for other numbers of categories, of which some were not kept."""
        n_left = int(np.count_nonzero(keep[: self.n_known]))
        known = np.where(numbers < n_left, numbers, -1)[: self.n_known]
        return replace(self, pairs=self.pairs.renumbered(known, n_left)) if n_left else None

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return what a model file keeps: a header and tensors."""
        names = ("kind", "n_fields", "has_evidence", "n_learned")
        header: dict[str, Any] = {name: getattr(self, name) for name in names}
        tensors = {"fields": self.fields}
        for name, part in (("pairs", self.pairs), ("judge", self.judge)):
            header[name], arrays = part.state()
            tensors |= {f"{name}.{key}": array for key, array in arrays.items()}
        return header, tensors

    @classmethod
    def from_state(
        cls,
        header: dict[str, Any],
        tensors: dict[str, np.ndarray],
        shape: tuple[int, int],
        learner: Any,
    ) -> Self:
        """Return the second look that `state` was taken from, of so many columns and categories."""
        kind = require_field(header, "kind", str)
        has_evidence = require_field(header, "has_evidence", bool)
        n_fields = require_field(header, "n_fields", int, low=0, high=255)
        n_learned = require_field(header, "n_learned", int, low=0)
        fields = require_tensor(tensors, "fields", np.uint8, (shape[0],), high=n_fields)
        pairs = Pairs.from_state(*component_state("pairs", header, tensors))
        if kind not in JUDGES or not 0 < pairs.n_categories <= shape[1]:
            raise ModelError("The model's second look makes no sense; it is damaged.")
        if has_evidence and learner.plain_weights() is None:
            raise ModelError("The model's second look goes by weights, and the learner has none.")
        n_facts = pairs.n_facts(n_fields if has_evidence else None)
        judge = JUDGES[kind].from_state(*component_state("judge", header, tensors), n_facts)
        return cls(kind, pairs, judge, has_evidence, n_fields, n_learned, fields)  # type: ignore


def _learned(kind: Kind, unseen: Unseen, seed: int) -> tuple[Pairs, Judge]:
    """Learn what categories have in common, then how to judge."""
    scores, candidates, labels, _, weights = unseen
    pairs = Pairs.fit(scores, candidates.numbers, labels, weights)
    facts = pairs.describe(scores, candidates)
    truth = are_of(candidates.numbers, labels)
    each = None if (weights == 1).all() else np.repeat(weights, truth.shape[1])
    flat = facts.reshape(-1, facts.shape[2])
    return pairs, JUDGES[kind].fit(flat, truth.ravel(), each, seed=seed)


def _judged(pairs: Pairs, judge: Judge, scores: np.ndarray, candidates: Candidates) -> np.ndarray:
    """Return the scores of candidates as they are judged; of other categories, still lower ones."""
    facts = pairs.describe(scores, candidates)
    judged = judge.score(facts.reshape(-1, facts.shape[2])).reshape(candidates.numbers.shape)
    after = scores.copy()
    lowest = judge.least - 1
    replace_scores(after, pairs.n_categories, pairs.scale, lowest, candidates.numbers, judged)
    return after
