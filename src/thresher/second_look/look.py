"""A second look at documents: at each with the categories that it may have."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from thresher.errors import ModelError
from thresher.rows import Labels, Rows
from thresher.second_look.linear import Linear
from thresher.second_look.pairs import Candidates, Pairs, are_of, candidates_of
from thresher.second_look.trees import BoostedTrees
from thresher.storage import part_of, require_field, require_tensor

__all__ = ["Kind", "SecondLook", "Unseen"]

Kind = Literal["trees", "linear"]
Judge = BoostedTrees | Linear
JUDGES: dict[str, type[BoostedTrees] | type[Linear]] = {"trees": BoostedTrees, "linear": Linear}
AT_ONCE = 2000  # documents that are looked at together


class Unseen(NamedTuple):
    """Documents with scores of learners that had not learned from them."""

    scores: np.ndarray  # float32 (documents, categories)
    candidates: Candidates
    labels: Labels
    folds: np.ndarray  # in which each was left out
    weights: np.ndarray  # how many documents each stands for

    def take(self, documents: np.ndarray) -> Unseen:
        """Return some of the documents."""
        return Unseen(*(one.take(documents) if hasattr(one, "take") and not isinstance(one, np.ndarray) else one[documents] for one in self))


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
    fields : array of uint8
        Of each column, 0 or one more than the number of the field whose word it is.
    n_fields : int
        How many fields there are.
    has_evidence : bool
        Whether words add to scores: the learner has weights.
    n_learned : int
        How many documents the model had learned from when this was made.
    """

    kind: Kind
    pairs: Pairs
    judge: Judge
    fields: np.ndarray
    n_fields: int
    has_evidence: bool
    n_learned: int

    @classmethod
    def fit(
        cls,
        kind: Kind,
        unseen: Unseen,
        fields: np.ndarray,
        n_fields: int,
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
        fields, n_fields, n_learned
            As they are kept.
        seed : int, default=0
            Of what is random in the trees.
        n_jobs : int, default=1
            Threads, which never change the result.
        """

        def learn(documents: np.ndarray) -> tuple[Pairs, Judge]:
            return _learned(kind, unseen.take(documents), seed)

        folds = np.unique(unseen.folds)
        parts = [np.flatnonzero(unseen.folds != fold) for fold in folds]
        with ThreadPoolExecutor(n_jobs) as pool:
            whole = pool.submit(learn, np.arange(len(unseen.scores)))
            crossed = list(pool.map(learn, parts))
        scores = np.empty_like(unseen.scores)
        for fold, look in zip(folds, crossed, strict=True):
            here = np.flatnonzero(unseen.folds == fold)
            scores[here] = _judged(*look, unseen.scores[here], unseen.candidates.take(here))
        has_evidence = unseen.candidates.evidence.shape[2] > 0
        look = cls(kind, *whole.result(), fields, n_fields, has_evidence, n_learned)
        return look, scores

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
        scores : array of float32 (documents, categories)
            What the learner gives.
        rows : Rows
            The documents' strengths.
        learner : Learner
            The learner, for its weights.
        n_jobs : int, default=1
            Threads, which never change the result.
        own : array (documents, categories), optional
            What the documents have added to their own scores, which were taken off these already.
        """
        if not len(scores):
            return scores

        def look(start: int) -> np.ndarray:
            here = slice(start, start + AT_ONCE)
            some = rows if len(scores) <= AT_ONCE else rows.take(np.arange(len(scores))[here])
            theirs = None if own is None else own[here]
            candidates = self.candidates(scores[here], some, learner, theirs)
            return _judged(self.pairs, self.judge, scores[here], candidates)

        return np.concatenate(_each(look, range(0, len(scores), AT_ONCE), n_jobs))

    def candidates(
        self, scores: np.ndarray, rows: Rows, learner: Any, own: np.ndarray | None = None
    ) -> Candidates:
        """Return the categories that documents may have, and what their words say of them."""
        weights = learner.plain_weights()[0] if self.has_evidence else None
        return candidates_of(
            scores, rows, weights, self.fields, self.n_fields, self.n_known, own
        )

    def grown(self, fields: np.ndarray) -> Self:
        """Return the same for more columns."""
        return replace(self, fields=fields)

    def renumbered(self, numbers: np.ndarray, keep: np.ndarray) -> Self | None:
        """Return the same for other numbers of categories, of which some were not kept."""
        n_left = int(np.count_nonzero(keep[: self.n_known]))
        known = numbers[: self.n_known]
        if not n_left:
            return None
        return replace(self, pairs=self.pairs.renumbered(np.where(known < n_left, known, -1), n_left))

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
        cls, header: dict[str, Any], tensors: dict[str, np.ndarray], shape: tuple[int, int],
        learner: Any,
    ) -> Self:
        """Return the second look that `state` was taken from, of so many columns and categories."""
        kind = require_field(header, "kind", str)
        has_evidence = require_field(header, "has_evidence", bool)
        n_fields = require_field(header, "n_fields", int, low=0, high=255)
        n_learned = require_field(header, "n_learned", int, low=0)
        fields = require_tensor(tensors, "fields", np.uint8, (shape[0],), high=n_fields)
        pairs = Pairs.from_state(*part_of("pairs", header, tensors))
        if kind not in JUDGES or not 0 < pairs.n_categories <= shape[1]:
            raise ModelError("The model's second look makes no sense; it is damaged.")
        if has_evidence and learner.plain_weights() is None:
            raise ModelError("The model's second look goes by weights, and the learner has none.")
        n_facts = pairs.n_facts(n_fields if has_evidence else None)
        judge = JUDGES[kind].from_state(*part_of("judge", header, tensors), n_facts)
        return cls(kind, pairs, judge, fields, n_fields, has_evidence, n_learned)  # type: ignore


def _learned(kind: Kind, unseen: Unseen, seed: int) -> tuple[Pairs, Judge]:
    """Learn what categories have in common, then how to judge."""
    scores, candidates, labels, _, weights = unseen
    pairs = Pairs.fit(scores, candidates.numbers, labels, weights)
    facts = pairs.describe(scores, candidates)
    truth = are_of(candidates.numbers, labels)
    each = None if (weights == 1).all() else np.repeat(weights, truth.shape[1])
    flat = facts.reshape(-1, facts.shape[2])
    return pairs, JUDGES[kind].fit(flat, truth.ravel(), each, seed=seed)


def _judged(
    pairs: Pairs, judge: Judge, scores: np.ndarray, candidates: Candidates
) -> np.ndarray:
    """Return the scores of candidates as they are judged; of other categories, still lower ones."""
    facts = pairs.describe(scores, candidates)
    judged = judge.score(facts.reshape(-1, facts.shape[2])).reshape(candidates.numbers.shape)
    known = scores[:, : pairs.n_categories].astype(np.float64) / pairs.scale
    after = scores.copy()
    after[:, : pairs.n_categories] = judge.least - 1 + known / (1 + np.abs(known))
    np.put_along_axis(after, candidates.numbers, judged.astype(np.float32), 1)
    return after


def _each(work: Callable[[int], np.ndarray], items: Any, n_jobs: int) -> list[np.ndarray]:
    if n_jobs == 1 or len(items) == 1:
        return [work(one) for one in items]
    with ThreadPoolExecutor(n_jobs) as pool:
        return list(pool.map(work, items))
