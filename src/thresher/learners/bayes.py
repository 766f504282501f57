"""Naive Bayes: the probability of a category, from counts of words and categories."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, get_args

import numpy as np

from thresher.learners._sums import LEAST_COUNT, SummingLearner
from thresher.learners.scoring import CompetingMixin, check_rows, narrowed
from thresher.parameters import Choice, Number, parameter
from thresher.rows import Rows

EventModel = Literal["multinomial", "bernoulli"]


class NaiveBayes(CompetingMixin, SummingLearner):
    r"""Naive Bayes, multinomial or Bernoulli, for one category per document or several.

    With the sum :math:`N_{jc}` of feature j over the documents of category c (for Bernoulli: the
    number of these documents that have it), V features and the smoothing α,

    .. math:: P(j|c) = \frac{N_{jc} + α}{\sum_i N_{ic} + αV} \quad\text{or}\quad
              P(j|c) = \frac{N_{jc} + α}{n_c + 2α}.

    The score is the log-odds of the category, :math:`\log P(c|x) - \log P(\bar c|x)`, so that its
    logistic function is the probability. If every training document had exactly one category, c
    competes with the other categories; otherwise with the documents that do not have c.

    Notes
    -----
    If categories compete, the share of a word in an explanation is what it adds to the category
    less the mean of what it adds to the others, weighted by their probabilities. The rest is the
    priors and the uncertainty about the competitor. A category without documents is assumed to
    have half a document. For Bernoulli, any strength above zero means that the word is present.

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
        words="The random events: words as they occur, or whether each known word occurs.",
    )
    smoothing: float = parameter(
        default=1.0, kind=Number(1e-10), words="α, added to the count of every word."
    )

    def _computed(self) -> tuple[str, ...]:
        return ("absence", "absence_elsewhere") if self.event_model == "bernoulli" else ()

    def _recompute(self) -> None:
        """Sum the log-likelihoods of the absence of all features."""
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
        """Return some rows of the sums, and the documents, inside or outside the categories."""
        sums, documents = self._tables["sums"][used], self._tables["sums"][0]
        if not inside:
            totals = self._tables["totals"]
            # Rounding may make differences of fractions negative.
            sums = np.maximum(totals[used, None] - sums, 0.0)
            documents = np.maximum(totals[0] - documents, 0.0)
        return sums, documents

    def _log_likelihoods(self, used: np.ndarray | slice, inside: bool) -> np.ndarray:
        """Return what each feature adds to log P(c, x); row 0 is added for every document."""
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
        n_documents = max(float(self._tables["totals"][0]), LEAST_COUNT)
        weights[0] += np.log(np.maximum(documents, LEAST_COUNT) / n_documents)
        return np.asarray(weights)

    def _competes(self) -> bool:
        """Return True if the categories exclude each other."""
        return self._one_each and self.n_categories > 1

    def _weighted_sum(self, rows: Rows) -> tuple[Rows, np.ndarray]:
        """Return the documents, and the weights of their words."""
        check_rows(rows, "NaiveBayes", self.n_features, True)
        rows, used = narrowed(self._as_summed(rows), self.n_features)
        weights = self._log_likelihoods(used, True)
        return rows, weights if self._competes() else weights - self._log_likelihoods(used, False)

    def linear_weights(self) -> np.ndarray | None:
        """Return what each feature adds to the log-odds against all other documents."""
        used = slice(0, 1 + self.n_features)
        both = self._log_likelihoods(used, True), self._log_likelihoods(used, False)
        return np.asarray(both[0] - both[1])[1:]
