"""A second look at documents: it scores their best categories again, jointly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from thresher._kernels import second_look as kernels
from thresher.engine import engine_for
from thresher.errors import ModelError, counted
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

Kind = Literal["trees", "linear"]
Judge = BoostedTrees | Linear
JUDGES: dict[str, type[BoostedTrees] | type[Linear]] = {"trees": BoostedTrees, "linear": Linear}
DOCUMENTS_AT_ONCE = 2000  # scored together
LEAST_SHARE = 1e-6  # smaller contributions are rounding errors and get no line
MOST_LOOKED = 50_000  # documents to learn from; of more, the first ones of a random order


class Unseen(NamedTuple):
    """Documents with scores of learners that were not trained on them."""

    scores: np.ndarray  # float32 (documents, categories)
    candidates: Candidates
    labels: Labels
    folds: np.ndarray  # the fold in which each was held out
    weights: np.ndarray  # the number of documents that each represents

    def take(self, documents: np.ndarray) -> Unseen:
        """Return some of the documents."""
        scores, candidates, labels, folds, weights = self
        return Unseen(
            scores[documents], candidates.take(documents), labels.take(documents),
            folds[documents], weights[documents],
        )  # fmt: skip

    def at_most(self, n: int) -> Unseen:
        """Return the first `n` documents, or all if there are fewer."""
        return self if len(self.scores) <= n else self.take(np.arange(n))

    def loss(self, scores: np.ndarray, n_known: int) -> float:
        """Return the logistic loss of scores, which are log-odds, for the first categories."""
        truth = self.labels.to_dense()[:, :n_known]
        odds = np.where(truth, -scores[:, :n_known], scores[:, :n_known]).astype(np.float64)
        return float(np.average(np.logaddexp(0, odds).sum(1), weights=self.weights))


class View(NamedTuple):
    """The explanation of a second score of a document for a category.

    `words` and the shares of the lines add up to the score.
    """

    words: float  # the contribution of the words
    scale: (
        float | None
    )  # average units of the second score per unit of the learner's; None: no words
    lines: list[tuple[str, float, float]]  # what else contributes: names, strengths and shares


@dataclass(frozen=True, eq=False)
class SecondLook:
    """Scores the best categories of a document again, jointly.

    The learner scores each category independently. The second look scores its best categories, the
    candidates, from features of the pair of document and category: the learner's score, the
    evidence of the words (also of each field), the rank of the category and the categories that
    tend to occur with the other candidates. Other categories get lower scores than any candidate;
    categories that were added after training keep the learner's score.

    Attributes
    ----------
    kind : {"trees", "linear"}
        The kind of classifier of pairs.
    pairs : Pairs
        Describes pairs of document and category by features.
    judge : BoostedTrees or Linear
        The classifier of pairs, whose score is the log-odds that the document belongs.
    has_evidence : bool
        Whether the features include the evidence of words; the learner must have weights.
    n_fields : int
        The number of fields of the documents.
    n_learned : int
        The number of documents that the model had learned when the second look was trained.
    fields : array of uint8
        1 + the number of the field whose words each column counts, or 0 for no field.
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
    ) -> tuple[SecondLook, np.ndarray]:
        """Return a second look, and cross-validated scores of the documents.

        Parameters
        ----------
        kind : {"trees", "linear"}
            The kind of classifier of pairs.
        unseen : Unseen
            The documents.
        n_learned : int
            The number of documents that the learner has learned.
        seed : int, default=0
            The seed of the trees.
        n_jobs : int, default=1
            The number of threads, which does not change the result.
        """

        n_kinds = unseen.candidates.evidence.shape[2]
        n_fields = max(0, n_kinds - kernels.OF_FIELDS)

        def learn(documents: np.ndarray) -> SecondLook:
            scores, candidates, labels, _, weights = unseen.take(documents)
            pairs = Pairs.fit(scores, candidates.numbers, labels, weights)
            facts = pairs.describe(scores, candidates)
            truth = are_of(candidates.numbers, labels)
            each = None if (weights == 1).all() else np.repeat(weights, truth.shape[1])
            flat = facts.reshape(-1, facts.shape[2])
            judge = JUDGES[kind].fit(flat, truth.ravel(), each, seed=seed)
            return cls(kind, pairs, judge, n_kinds > 0, n_fields, n_learned)

        folds = np.unique(unseen.folds)
        training = [np.flatnonzero(unseen.folds != fold) for fold in folds]
        whole, *of_folds = engine_for(n_jobs).map(learn, [np.arange(len(unseen.scores)), *training])
        scores = np.empty_like(unseen.scores)
        for fold, look in zip(folds, of_folds, strict=True):
            test = np.flatnonzero(unseen.folds == fold)
            scores[test] = look._judged(unseen.scores[test], unseen.candidates.take(test))
        return whole, scores

    @property
    def n_known(self) -> int:
        """The number of categories that it can score, which are the first ones."""
        return self.pairs.n_categories

    def apply(
        self,
        scores: np.ndarray,
        rows: Rows,
        learner: Any,
        n_jobs: int = 1,
        contributions: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the scores after the second look.

        Parameters
        ----------
        scores, rows, learner, contributions
            As for `candidates_of`.
        n_jobs : int, default=1
            The number of threads, which does not change the result.
        """
        if not len(scores):
            return scores

        def look(start: int) -> np.ndarray:
            some = np.arange(start, min(start + DOCUMENTS_AT_ONCE, len(scores)))
            some_rows = rows if len(some) == len(scores) else rows.take(some)
            added = None if contributions is None else contributions[some]
            candidates = self.candidates(scores[some], some_rows, learner, added)
            return self._judged(scores[some], candidates)

        starts = range(0, len(scores), DOCUMENTS_AT_ONCE)
        return np.concatenate(list(engine_for(n_jobs).map(look, starts)))

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Return the probabilities of scores after the second look, which are log-odds.

        The learner's scores of categories that were added later are converted to log-odds.
        """
        odds = np.asarray(scores, np.float64).copy()
        pairs, later = self.pairs, slice(self.n_known, None)
        odds[:, later] = pairs.slope / pairs.scale * odds[:, later] + pairs.offsets.mean()
        return np.asarray(1 / (1 + np.exp(-odds)))

    def tables(self) -> tuple[Any, ...] | None:
        """Return the arrays that the reader of single texts needs, or None if it cannot be used."""
        pairs, judge = self.pairs, self.judge
        if not isinstance(judge, BoostedTrees) or not self.has_evidence:
            return None
        numbers = pairs.scale, pairs.slope, pairs.total, judge.base, judge.least - 1
        of_pairs = pairs.offsets, pairs.positives, pairs.indptr, pairs.others, pairs.both
        sizes = min(MOST_CANDIDATES, self.n_known), kernels.OF_FIELDS + self.n_fields
        return *sizes, self.fields, np.array(numbers), *of_pairs, *judge.tables

    def _judged(self, scores: np.ndarray, candidates: Candidates) -> np.ndarray:
        """Return the scores of the classifier for candidates, and lower ones for others."""
        pairs, judge = self.pairs, self.judge
        facts = pairs.describe(scores, candidates)
        judged = judge.score(facts.reshape(-1, facts.shape[2])).reshape(candidates.numbers.shape)
        after, lowest, n = scores.copy(), judge.least - 1, pairs.n_categories
        kernels.replace_scores(after, n, pairs.scale, lowest, candidates.numbers, judged)
        return after

    def candidates(
        self, scores: np.ndarray, rows: Rows, learner: Any, contributions: np.ndarray | None = None
    ) -> Candidates:
        """Return the candidates of documents, with the evidence of the words."""
        fields = self.fields, self.n_fields
        return candidates_of(scores, rows, learner, *fields, self.n_known, contributions)

    def explained(self, rows: Rows, learner: Any, number: int, names: Sequence[str]) -> View:
        """Return the explanation of a document's score for a category, given its strengths."""
        scores = learner.score_rows(rows)
        candidates = self.candidates(scores, rows, learner)
        numbers, pairs = candidates.numbers[0], self.pairs
        if number not in numbers:
            after = self._judged(scores, candidates)
            feature = f"(not among its {len(numbers)} likeliest categories)"
            return View(0.0, None, [(feature, 1.0, float(after[0, number]))])
        facts, index = pairs.describe(scores, candidates)[0], int(np.argmax(numbers == number))
        first = facts.shape[1] - kernels.N_OTHERS
        *shares, base = self.judge.shares(facts[index : index + 1])[0].tolist()
        rank = f"({_ordinal(index + 1)} of its likeliest categories"
        if len(numbers) > 1:
            margin = pairs.slope * float(facts[index, first + kernels.MARGIN])
            rival = names[numbers[1 if index == 0 else 0]]
            rank += f", {abs(margin):.2f} {'above' if margin > 0 else 'below'} {rival}"
        among = shares[first + kernels.RANK] + shares[first + kernels.MARGIN]
        lines: list[tuple[str, float, float]] = [(f"{rank})", index + 1, among)]
        together = sum(shares[first + kernels.LIKELIEST : first + kernels.LIFT + 1])
        given = [pairs.given(number, int(j)) if j != number else 0.0 for j in numbers]
        if any(given):
            other = int(np.argmax(facts[:, first + kernels.PROBABILITY] * given))
            share = f"{100 * given[other]:.0f} % of whose documents have {names[number]}"
            lines.append((f"(beside {names[numbers[other]]}, {share})", given[other], together))
        elif abs(together) > LEAST_SHARE:
            lines.append(("(beside categories that it never came with)", 0.0, together))
        positives = float(pairs.positives[number])
        prior = f"(prior: {counted(round(positives), 'training document')})"
        lines.append((prior, positives, shares[first + kernels.POSITIVES]))
        lines.append((learner.constant_name, 1.0, base))
        return View(sum(shares[: first + 1]), pairs.slope / pairs.scale, lines)

    def grown(self, fields: np.ndarray) -> Self:
        """Return a second look for other columns, given the field of each column."""
        return replace(self, fields=fields)

    def noted(self, n_learned: int) -> Self:
        """Return a second look with another `n_learned`."""
        return replace(self, n_learned=n_learned)

    def renumbered(self, numbers: np.ndarray, keep: np.ndarray) -> Self | None:
        """Return a second look for renumbered categories, or None if none is left."""
        n_left = int(np.count_nonzero(keep[: self.n_known]))
        known = np.where(numbers < n_left, numbers, -1)[: self.n_known]
        return replace(self, pairs=self.pairs.renumbered(known, n_left)) if n_left else None

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the header and the tensors of the model file."""
        names = ("kind", "n_fields", "has_evidence", "n_learned")
        header: dict[str, Any] = {name: getattr(self, name) for name in names}
        tensors = {"fields": self.fields}
        for name, component in (("pairs", self.pairs), ("judge", self.judge)):
            header[name], arrays = component.state()
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
        """Return the second look that `state` described; `shape` is (columns, categories)."""
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


def _ordinal(rank: int) -> str:
    return f"{rank}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(rank, 'th') }"
