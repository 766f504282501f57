"""Learners that need no more than sums: Naive Bayes and Rocchio."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from thresher.examples import Examples
from thresher.learners._tables import BOTH, CATEGORIES, FEATURES, Table
from thresher.learners._weighing import check_rows, linear_scores, linear_shares, narrowed
from thresher.learners.growing import GrowingLearner
from thresher.learners.learner import Progress, State, Watch
from thresher.parameters import Choice, Flag, Number, parameter
from thresher.rows import Labels, Rows
from thresher.storage import require_field

__all__ = ["NaiveBayes", "Rocchio"]

FEWEST = 0.5  # documents that a category, or its complement, is taken to have at least


class SummingLearner(GrowingLearner):
    """Adds documents up, feature by feature; whatever it decides follows from the sums.

    So the order of the documents does not matter, learning on is exact, and merging two categories
    adds them, documents of both being counted for both.
    """

    _figures = ("_mass", "_one_each")

    def start(self, n_features: int, n_categories: int, mean_active: float = 1.0) -> Self:
        """Forget everything and begin with `n_features` and `n_categories`."""
        self.check_parameters()
        # In row 0 of the sums and totals stands the number of documents, weighted; the mass is that
        # of all features together.
        axes = {"sums": BOTH, "totals": FEATURES, "mass": CATEGORIES}
        axes |= dict.fromkeys(self._computed(), CATEGORIES)
        layout = {name: Table(of, np.float64, 0.0) for name, of in axes.items()}
        self._begin(layout, n_features, n_categories)
        self._mass = 0.0  # of all features of all documents
        self._one_each = True  # whether every document had exactly one category
        return self

    def _computed(self) -> tuple[str, ...]:
        """Name the figures per category that are computed once, after learning."""
        raise NotImplementedError

    def _as_summed(self, rows: Rows) -> Rows:
        """Return the documents as they are added up and scored."""
        raise NotImplementedError

    def fit_rows(
        self, examples: Examples, *, n_jobs: int = 1, progress: Progress = None, watch: Watch = None
    ) -> Self:
        """Add all documents up, in one pass; nothing is watched, as there are no mistakes."""
        self.start(examples.n_columns, examples.n_categories)
        done = 0
        for rows, labels in examples:
            self._add(rows, labels, self._checked(rows, labels, labels.weights))
            done += rows.n_rows
            if progress is not None:
                progress("adding up", done, done / len(examples))
        self._settle()
        return self

    def _learn(
        self, rows: Rows, labels: Labels, order: np.ndarray | None, weights: np.ndarray, n_jobs: int
    ) -> np.ndarray:
        """Add documents to the sums; mistakes are not counted."""
        if order is not None:
            rows, labels, weights = rows.take(order), labels.take(order), weights[order]
        self._add(rows, labels, weights)
        self._settle()
        return np.zeros(self.n_categories, np.int64)

    def _add(self, rows: Rows, labels: Labels, weights: np.ndarray) -> None:
        from thresher._kernels.rows import add_up

        rows, whole = self._as_summed(rows), self._tables.whole
        counted = np.diff(labels.indptr)[weights > 0]
        self._one_each = self._one_each and bool((counted == 1).all())
        self._mass += float(np.repeat(weights, np.diff(rows.indptr)) @ rows.values)
        documents = rows.indptr, rows.indices.view(np.uint32), rows.values, weights
        categories = labels.indptr, labels.indices.view(np.uint32)
        add_up(*documents, *categories, whole["sums"], whole["totals"], whole["mass"])

    def prune(self, keep: np.ndarray) -> Self:
        """Remove the features where `keep` is false, as if they had never been there."""
        self._tables.prune(keep)
        self._tables["mass"][:] = self._tables["sums"][1:].sum(0)
        self._mass = float(self._tables["totals"][1:].sum())
        self._resized()
        return self

    def drop_categories(self, keep: np.ndarray) -> Self:
        """Remove the categories where `keep` is false; their documents are then of no category."""
        gone = self._tables["sums"][0, ~np.asarray(keep)]
        self._one_each = self._one_each and not gone.any()
        return super().drop_categories(keep)

    def _merge_columns(self, source: int, target: int) -> None:
        """Add the sums, documents of both being counted twice."""
        for name in ("sums", "mass"):
            array = self._tables[name]
            array[..., target] += array[..., source]
            array[..., source] = 0.0

    def _open_second_column(self) -> None:
        super()._open_second_column()
        self._tables["sums"][:, 0] = self._tables["totals"] - self._tables["sums"][:, 1]
        self._tables["mass"][0] = self._mass - self._tables["mass"][1]
        self._one_each = True

    def state(self) -> State:
        """Return all that is needed to go on, as a JSON-able header and arrays."""
        header = self.header(mass=self._mass, one_each=self._one_each)
        return header, self._tables.tensors()

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Rebuild a learner from what `state` returned, checking every shape and type."""
        learner, n_features, n_categories = cls.from_header(header)
        learner.start(0, 0)
        learner._mass = require_field(header, "mass", float)
        learner._one_each = require_field(header, "one_each", bool)
        return learner._read_tables(tensors, n_features, n_categories)


class NaiveBayes(SummingLearner):
    r"""Naive Bayes, multinomial or Bernoulli, for one category per document or several.

    With the sum :math:`N_{jc}` of feature j over the documents of category c (for Bernoulli: in how
    many of them it is), V features and the smoothing α,

    .. math:: P(j|c) = \frac{N_{jc} + α}{\sum_i N_{ic} + αV} \quad\text{or}\quad
              P(j|c) = \frac{N_{jc} + α}{n_c + 2α}.

    The score is the log-odds of the category, :math:`\log P(c|x) - \log P(\bar c|x)`, so that the
    logistic function of it is the probability. Where every document learned from had exactly one
    category, those that c competes with are the other categories; else they are one, all documents
    that do not have c.

    Notes
    -----
    Where categories compete, a word's share is what it adds for the category less what it adds for
    the others, each as much as it is probable among them; what is left is the rest: the priors, and
    the uncertainty about who the competitor is. A category without documents is taken to have half
    of one. Bernoulli takes any strength above zero for "is there".

    References
    ----------
    A. McCallum and K. Nigam, A comparison of event models for naive Bayes text classification,
    1998.

    Examples
    --------
    >>> X = np.array([[2, 1, 0], [1, 0, 1], [0, 1, 1], [0, 2, 0]])
    >>> learner = NaiveBayes().fit(X, [1, 1, 0, 0])
    >>> [round(float(score), 2) for score in learner.decision_function(X)]
    [1.68, 1.12, -0.96, -1.65]
    """

    name = "naive-bayes"
    preferred_strength: ClassVar[dict[str, Any]] = {"kind": "frequency"}
    non_negative = True

    event_model: str = parameter(
        default="multinomial",
        kind=Choice(("multinomial", "bernoulli")),
        words="What is drawn: words, as they occur, or for each known word whether it occurs.",
    )
    smoothing: float = parameter(
        default=1.0, kind=Number(1e-10), words="α, how often every word is counted once more."
    )

    def _computed(self) -> tuple[str, ...]:
        return ("absence", "absence_elsewhere") if self.event_model == "bernoulli" else ()

    def _settle(self) -> None:
        """Add up what the absence of every feature says, which no single document can."""
        if self.event_model == "bernoulli":
            for name, inside in (("absence", True), ("absence_elsewhere", False)):
                counts, documents = self._counts(slice(1, None), inside)
                absent = np.log(np.maximum(documents - counts, 0.0) + self.smoothing).sum(0)
                total = np.log(documents + 2 * self.smoothing) * self.n_features
                self._tables[name][:] = absent - total

    def _as_summed(self, rows: Rows) -> Rows:
        if self.event_model == "bernoulli":
            return rows._replace(values=(rows.values > 0).astype(np.float32))
        return rows

    def _counts(self, used: Any, inside: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return some rows of the sums, and the documents, of the categories or of all others."""
        sums, documents = self._tables["sums"][used], self._tables["sums"][0]
        if not inside:
            totals = self._tables["totals"]
            # Sums of fractions may differ in the last digit.
            sums = np.maximum(totals[used, None] - sums, 0.0)
            documents = np.maximum(totals[0] - documents, 0.0)
        return sums, documents

    def _log_likelihoods(self, used: np.ndarray | slice, inside: bool) -> np.ndarray:
        """Return what each feature adds to log P(c, x), in row 0 what every document has."""
        alpha = self.smoothing
        sums, documents = self._counts(used, inside)
        if self.event_model == "bernoulli":
            weights = np.log(sums + alpha) - np.log(np.maximum(documents - sums, 0.0) + alpha)
            weights[0] = self._tables["absence" if inside else "absence_elsewhere"]
        else:
            mass = self._tables["mass"] if inside else self._mass - self._tables["mass"]
            mass = np.maximum(mass, 0.0) + alpha * self.n_features
            weights = np.log(sums + alpha) - np.log(np.maximum(mass, alpha))
            weights[0] = 0.0
        everyone = max(float(self._tables["totals"][0]), FEWEST)
        weights[0] += np.log(np.maximum(documents, FEWEST) / everyone)
        return np.asarray(weights)

    def _compete(self) -> bool:
        """Tell whether the categories exclude each other."""
        return self._one_each and self.n_categories > 1

    def _weights(self, rows: Rows) -> tuple[Rows, np.ndarray]:
        """Return the documents and the matrix that their words need."""
        check_rows(rows, "NaiveBayes", self.n_features, True)
        rows, used = narrowed(self._as_summed(rows), self.n_features)
        weights = self._log_likelihoods(used, True)
        return rows, weights if self._compete() else weights - self._log_likelihoods(used, False)

    def score_rows(self, rows: Rows, n_jobs: int = 1) -> np.ndarray:
        """Return the log-odds of each category; above zero means that it is the more probable."""
        scores = linear_scores(*self._weights(rows), n_jobs)
        if self._compete():
            scores -= _log_sums(scores)
        return scores.astype(np.float32)

    def contributions(self, rows: Rows, category: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what each entry of `rows` adds to the log-odds, and the rest of them."""
        used, weights = self._weights(rows)
        if not self._compete():
            return linear_shares(used, weights[:, category])
        scores = linear_scores(used, weights)
        log_sum = _log_sums(scores)[:, category]
        share = np.exp(scores - log_sum[:, None])  # how probable each of the others is among them
        share[:, category] = 0.0
        documents = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
        own = weights[1 + used.indices]
        against = np.einsum("ek,ek->e", own, share[documents])
        parts = used.values * (own[:, category] - against)
        summed = np.bincount(documents, parts, rows.n_rows)
        return parts.astype(np.float32), (scores[:, category] - log_sum - summed).astype(np.float32)

    def linear_weights(self) -> np.ndarray | None:
        """Return what each feature adds to the log-odds against all that is not the category."""
        used = slice(0, 1 + self.n_features)
        both = self._log_likelihoods(used, True), self._log_likelihoods(used, False)
        return np.asarray(both[0] - both[1])[1:]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class."""
        odds = self.score_rows(self._read_rows(X)).astype(np.float64)
        probable = 1 / (1 + np.exp(-odds))
        if self._targets.kind == "single" and odds.shape[1] == 1:
            return np.hstack([1 - probable, probable]) if len(self.classes_) == 2 else probable
        return probable


def _log_sums(scores: np.ndarray) -> np.ndarray:
    """Return for each column the logarithm of the summed exponentials of all others."""
    rows, best = np.arange(len(scores)), scores.argmax(1)
    highest = scores[rows, best]
    parts = np.exp(scores - highest[:, None])
    rest = parts.sum(1)[:, None] - parts
    rest[rows, best] = 1.0
    sums = highest[:, None] + np.log(rest)
    # Beside the best, the others may be too small to be seen: they are added up by themselves.
    others = scores.copy()
    others[rows, best] = -np.inf
    second = others.max(1)
    sums[rows, best] = second + np.log(np.exp(others - second[:, None]).sum(1))
    return np.asarray(sums)


class Rocchio(SummingLearner):
    r"""Rocchio's prototypes: the mean of the positive documents less that of the negative ones.

    With all documents x brought to length one, the prototype of a category is

    .. math:: p = β \frac{1}{n_+} \sum_{x ∈ +} x - γ \frac{1}{n_-} \sum_{x ∈ -} x,

    negative weights being cut to zero, and a document scores its cosine with the prototype, less
    the mean of what the positive and the negative documents score on average: it belongs if it is
    nearer to the former. Both averages follow from the sums. Thresholds for an aim, such as F1, are
    for the decisions to find.

    References
    ----------
    J. Rocchio, Relevance feedback in information retrieval, 1971; β and γ: C. Buckley, G. Salton
    and J. Allan, The effect of adding relevance information in a relevance feedback environment,
    1994; for categories: T. Joachims, A probabilistic analysis of the Rocchio algorithm with TFIDF
    for text categorization, 1997.

    Examples
    --------
    >>> X = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 1, 0]])
    >>> learner = Rocchio().fit(X, [1, 1, 0, 0])
    >>> [round(float(score), 2) for score in learner.decision_function(X)]
    [0.22, 0.34, -0.18, -0.38]
    """

    name = "rocchio"

    beta: float = parameter(
        default=16.0, kind=Number(0, open_low=True), words="β, the weight of the positives."
    )
    gamma: float = parameter(default=4.0, kind=Number(0), words="γ, the weight of the negatives.")
    cut: bool = parameter(
        default=True, kind=Flag(), words="Whether negative weights of a prototype become zero."
    )

    def _computed(self) -> tuple[str, ...]:
        return ("length", "middle")

    def _settle(self) -> None:
        """Compute the lengths of the prototypes, and what divides positives from negatives."""
        prototypes, positive, negative = self._prototypes(slice(1, None))
        length = np.sqrt((prototypes**2).sum(0))
        self._tables["length"][:] = np.where(length > 0, length, 1.0)
        means = (prototypes * (positive + negative)).sum(0) / 2
        # A category without documents refuses every other.
        empty = self._tables["sums"][0] == 0
        self._tables["middle"][:] = np.where(empty, 1.0, means / self._tables["length"])

    def _prototypes(self, used: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return some rows of the prototypes and of the mean positive and negative document."""
        sums, totals = self._tables["sums"], self._tables["totals"]
        inside, outside = sums[0], totals[0] - sums[0]
        positive = sums[used] / np.where(inside > 0, inside, 1.0)
        negative = (totals[used, None] - sums[used]) / np.where(outside > 0, outside, 1.0)
        prototypes = np.where(inside > 0, self.beta * positive - self.gamma * negative, 0.0)
        return np.maximum(prototypes, 0.0) if self.cut else prototypes, positive, negative

    def _as_summed(self, rows: Rows) -> Rows:
        documents = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
        squares = np.bincount(documents, rows.values.astype(np.float64) ** 2, rows.n_rows)
        length = np.sqrt(np.where(squares > 0, squares, 1.0))[documents]
        return rows._replace(values=(rows.values / length).astype(np.float32))

    def _weights(self, rows: Rows) -> tuple[Rows, np.ndarray]:
        """Return the documents, of length one, and the matrix that their words need."""
        check_rows(rows, "Rocchio", self.n_features, False)
        rows, used = narrowed(self._as_summed(rows), self.n_features)
        weights = self._prototypes(used)[0] / self._tables["length"]
        weights[0] = -self._tables["middle"]
        return rows, weights

    def score_rows(self, rows: Rows, n_jobs: int = 1) -> np.ndarray:
        """Return the cosine with each prototype, above (or below) what divides the documents."""
        return linear_scores(*self._weights(rows), n_jobs).astype(np.float32)

    def contributions(self, rows: Rows, category: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what each entry of `rows` adds to the cosine, and the threshold, negative."""
        used, weights = self._weights(rows)
        return linear_shares(used, weights[:, category])

    def linear_weights(self) -> np.ndarray | None:
        """Return the prototypes, of length one, as columns."""
        prototypes = self._prototypes(slice(1, 1 + self.n_features))[0]
        return np.asarray(prototypes / self._tables["length"])
