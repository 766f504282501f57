"""Naive Bayes: how probable a category is, given how often it was seen with each word."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, get_args

import numpy as np

from thresher.learners._sums import LEAST_COUNT, SummingLearner
from thresher.learners.scoring import (
    ProbabilisticMixin,
    check_rows,
    competing_shares,
    linear_scores,
    linear_shares,
    log_odds,
    narrowed,
)
from thresher.parameters import Choice, Number, parameter
from thresher.rows import Rows

__all__ = ["NaiveBayes"]

EventModel = Literal["multinomial", "bernoulli"]


class NaiveBayes(ProbabilisticMixin, SummingLearner):
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
    constant_name = "(prior)"
    preferred_strength: ClassVar[dict[str, Any]] = {"kind": "frequency"}
    non_negative = True

    event_model: EventModel = parameter(
        default="multinomial",
        kind=Choice(get_args(EventModel)),
        words="What is drawn: words, as they occur, or for each known word whether it occurs.",
    )
    smoothing: float = parameter(
        default=1.0, kind=Number(1e-10), words="α, how often every word is counted once more."
    )

    def _computed(self) -> tuple[str, ...]:
        return ("absence", "absence_elsewhere") if self.event_model == "bernoulli" else ()

    def _recompute(self) -> None:
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
        everyone = max(float(self._tables["totals"][0]), LEAST_COUNT)
        weights[0] += np.log(np.maximum(documents, LEAST_COUNT) / everyone)
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
            scores = log_odds(scores)
        return scores.astype(np.float32)

    def contributions(self, rows: Rows, category: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what each entry of `rows` adds to the log-odds, and the rest of them."""
        used, weights = self._weights(rows)
        if not self._compete():
            return linear_shares(used, weights[:, category])
        return competing_shares(used, weights, category)

    def linear_weights(self) -> np.ndarray | None:
        """Return what each feature adds to the log-odds against all that is not the category."""
        used = slice(0, 1 + self.n_features)
        both = self._log_likelihoods(used, True), self._log_likelihoods(used, False)
        return np.asarray(both[0] - both[1])[1:]
