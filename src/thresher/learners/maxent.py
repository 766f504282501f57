"""Maximum entropy: loglinear models, also known as logistic regression."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Literal, Self, get_args

import numpy as np

from thresher.engine import engine_for
from thresher.errors import ParameterError
from thresher.learners._columns import ordered
from thresher.learners._events import Documents, Events, Fit
from thresher.learners._loglinear import Schedule, select
from thresher.learners._memory import MemoryLearner, Training
from thresher.learners._sums import LEAST_COUNT
from thresher.learners.growing import checked_mask
from thresher.learners.learner import Progress, State
from thresher.learners.scoring import CompetingMixin, check_rows, linear_scores
from thresher.parameters import AUTO, ROUNDS, Choice, Flag, Number, Whole, parameter
from thresher.rows import Labels, Rows
from thresher.state import require_field, require_tensor

Method = Literal["lbfgs", "gis", "iis"]
EventSpace = Literal["conditional", "joint"]
Presence = Literal["strength", "presence"]

CATEGORIES_FITTED_TOGETHER = 16
PRIOR_VARIANCE = 300.0  # by cross-validation, see docs/maximum-entropy.md


class MaximumEntropy(CompetingMixin, MemoryLearner):
    r"""Maximum entropy modeling, also known as logistic regression: the loglinear model

    .. math:: p(x, c) = \frac{1}{Z} \prod_i α_i^{f_i(x, c)}

    in which every feature has the mean that it has in the training documents. A feature is a word
    of a document (its presence or its strength) together with one category.

    In the "conditional" event space, the documents are given and p(c|x) is fitted, which is the
    usual choice. In the "joint" event space, p(x, c) is a distribution over all pairs of a document
    and a category; the documents are the distinct training documents (by their strengths, even if
    only presence is used).

    The score is the log-odds of the category, so that its logistic function is the probability. If
    every document has exactly one category, categories compete: there is one distribution over all
    of them. Otherwise every category is a binary question, whose answer "no" has no features.

    Notes
    -----
    Generalized iterative scaling ("gis") begins with α = 1, has a filler feature C - Σf, and
    multiplies each α by (observed / expected)^(1/C) until the logarithms of both differ by no more
    than `tolerance` for any feature. Improved iterative scaling ("iis") needs no filler: it solves
    an equation for each feature. L-BFGS ("lbfgs") minimises the negative log-likelihood plus
    |log α|² / (2 `prior_variance`), until no derivative exceeds `tolerance` per document. Without a
    prior it reaches the same result as the others, in fewer iterations.

    Without a prior, features never seen with their category have no finite weight: they are left
    out, which means α = 1. A feature that always predicts its category has no finite weight either:
    it grows until `max_iter`; `summary` has the largest weight and the number of categories that
    have not converged. A category without documents is assumed to have half a document; likewise,
    a category of all documents is assumed to lack half a document.

    References
    ----------
    C. Manning and H. Schütze, Foundations of statistical natural language processing, 1999, section
    16.2; A. Berger, S. Della Pietra and V. Della Pietra, A maximum entropy approach to natural
    language processing, 1996.

    Examples
    --------
    >>> X = np.array([[1, 1], [1, 0], [1, 1], [0, 1], [0, 0], [1, 0]])
    >>> learner = MaximumEntropy(prior_variance=1.0).fit(X, [1, 1, 0, 0, 0, 1])
    >>> learner.predict_proba([[1, 0], [0, 1]])[:, 1].round(2).tolist()
    [0.61, 0.33]
    """

    name = "maximum-entropy"
    by_feature = ("weights",)

    method: Method = parameter(
        default="lbfgs",
        kind=Choice(get_args(Method)),
        words="L-BFGS, generalized or improved iterative scaling.",
    )
    event_space: EventSpace = parameter(
        default="conditional",
        kind=Choice(get_args(EventSpace)),
        words="Whether p(c|x) is fitted, or p(x, c) over the distinct documents.",
    )
    features: Presence = parameter(
        default="strength",
        kind=Choice(get_args(Presence)),
        words="Whether the value of a feature is the strength of a word, or 1 if it is above zero.",
    )
    always_on: bool | str = parameter(
        default=AUTO,
        kind=Flag(),
        words="""Whether each category has a feature that every document has. "auto": for L-BFGS;
        scaling has only the filler, as in the book.""",
    )
    prior_variance: float | str | None = parameter(
        default=AUTO,
        kind=Number(0.0, open_low=True, optional=True),
        words="""The variance of a Gaussian prior around zero for all weights but those of always-on
        features; None for no prior. "auto": 300 for L-BFGS, none for scaling.""",
    )
    constant: float | None = parameter(
        default=None,
        kind=Number(0.0, open_low=True, optional=True),
        words="C of generalized iterative scaling. None: the largest sum of a document's features.",
    )
    min_count: int = parameter(
        default=0,
        kind=Whole(0),
        words="Leave out features seen with their category in fewer documents.",
    )
    added_events: float = parameter(
        default=0.0,
        kind=Number(0.0),
        words="""Smoothing by added events: for every word and every category (or "yes" and "no"),
        this number of documents with the word alone, with strength 1.""",
    )
    n_selected: int | None = parameter(
        default=None,
        kind=Whole(1, optional=True),
        words="""The number of features to select for each question: repeatedly the one that raises
        the likelihood most with the other weights fixed, then all are fitted. None: all.""",
    )
    min_gain: float = parameter(
        default=0.01,
        kind=Number(0.0),
        words="The least increase of the log-likelihood (of all documents) by a selected feature.",
    )
    max_iter: int = parameter(default=500, kind=ROUNDS, words="The largest number of iterations.")
    tolerance: float = parameter(
        default=1e-4,
        kind=Number(0.0),
        words="The allowed difference of expected and observed values.",
    )

    # ---- learning ----------------------------------------------------------------------------

    def check_parameters(self) -> None:
        """Raise `ParameterError` for a value that is not allowed, or excludes another."""
        super().check_parameters()
        if self.method != "lbfgs" and self.prior_variance not in (AUTO, None):
            raise ParameterError(
                f"MaximumEntropy: prior_variance is {self.prior_variance!r}, and scaling "
                f'({self.method!r}) has no prior; smooth by added_events, or use method="lbfgs".'
            )
        if self.method != "gis" and self.constant is not None:
            raise ParameterError(
                f"MaximumEntropy: constant is {self.constant!r}, which only generalized iterative "
                f'scaling needs; leave it out for {self.method!r}, or use method="gis".'
            )

    def _needs_non_negative(self) -> bool:
        return self.method != "lbfgs" and self.features == "strength"

    def _fit(self, training: Training, n_jobs: int, progress: Progress) -> None:
        """Fit all categories, together if they exclude each other."""
        rows, labels, weights, _ = training
        self.n_features, self.n_categories = rows.n_columns, labels.n_categories
        self._compete = _exclude_each_other(labels)
        shape = 1 + self.n_features, self.n_categories
        self._weights, self._fillers = np.zeros(shape, np.float32), np.zeros(self.n_categories)
        self._iterations = np.zeros(self.n_categories, np.int64)
        self._converged = np.ones(self.n_categories, bool)
        problem = _Problem(self, rows, labels, weights)
        if self._compete:
            self._fit_together(problem, n_jobs)
        else:
            self._fit_each(problem, n_jobs, progress)
        if progress is not None:
            progress("fitting", rows.n_rows, 1.0)

    def _schedule(self) -> Schedule:
        variance = self.prior_variance
        if variance == AUTO:
            variance = PRIOR_VARIANCE if self.method == "lbfgs" else None
        precision = 1.0 / float(variance) if variance else 0.0
        return Schedule(self.method, self.max_iter, self.tolerance, self.constant, precision)

    def _has_always_on(self) -> bool:
        return self.method == "lbfgs" if self.always_on == AUTO else bool(self.always_on)

    def _fit_some(self, problem: _Problem, categories: np.ndarray, events: Events) -> Fit:
        """Fit the weights of some categories."""
        free = np.ones_like(events.target, bool)
        if self.min_count:
            free = problem.features_seen(categories) >= self.min_count
        free[0] = events.documents.has_always_on
        if self.n_selected is None:
            return self._schedule().fit(events, free)
        return select(events, free, self._schedule(), self.n_selected, self.min_gain)

    def _fit_together(self, problem: _Problem, n_jobs: int) -> None:
        """Fit one distribution over the categories that have documents."""
        totals = problem.seen(np.arange(self.n_categories))[1].sum(0)
        present, missing = np.flatnonzero(totals > 0), np.flatnonzero(totals == 0)
        low = np.log(LEAST_COUNT / max(float(totals.sum()), LEAST_COUNT))
        if len(present) > 1:
            events = problem.events(present, True, n_jobs)
            fit = self._fit_some(problem, present, events)
            self._store(present, fit)
            logits = events.documents.weigh(fit.weights, n_jobs)[1 : 1 + problem.n_contexts]
            highest = logits.max(1)
            low += (highest + np.log(np.exp(logits - highest[:, None]).sum(1))).mean()
        self._weights[0, missing] = low

    def _fit_each(self, problem: _Problem, n_jobs: int, progress: Progress) -> None:
        """Fit each category that has positive and negative documents, in blocks."""
        known, yes = [a.sum(0) for a in problem.seen(np.arange(self.n_categories))]
        no = known - yes
        both = (yes > 0) & (no > 0)
        log_yes, log_no = (np.log(np.maximum(n, LEAST_COUNT)) for n in (yes, no))
        self._weights[0] = log_yes - log_no
        self._weights[0, both] = 0.0
        # Categories of similar size need similar numbers of iterations.
        order = np.flatnonzero(both)[np.argsort(yes[both], kind="stable")]
        width = CATEGORIES_FITTED_TOGETHER if self.n_selected is None else 1
        blocks = [order[start : start + width] for start in range(0, len(order), width)]

        def fit(block: np.ndarray) -> Fit:
            return self._fit_some(problem, block, problem.events(block, False, 1))

        fits = engine_for(n_jobs).map(fit, blocks)
        for n_done, (block, block_fit) in enumerate(zip(blocks, fits, strict=True)):
            self._store(block, block_fit)
            if progress is not None:
                progress("fitting", problem.n_documents, n_done / len(blocks))

    def _store(self, categories: np.ndarray, fit: Fit) -> None:
        self._weights[:, categories] = fit.weights
        self._fillers[categories] = fit.fillers
        self._iterations[categories] = fit.n_iter
        self._converged[categories] = fit.converged

    # ---- scores and weights ------------------------------------------------------------------

    @property
    def _linear(self) -> np.ndarray:
        return self._weights

    def _competes(self) -> bool:
        return self._compete and self.n_categories > 1

    def _weighted_sum(self, rows: Rows) -> tuple[Rows, np.ndarray]:
        """Return the documents with their features as they were learned, and the weights."""
        check_rows(rows, "MaximumEntropy", self.n_features, False)
        return _measured(rows, self.features), self._weights

    def log_alphas(self, category: int) -> tuple[np.ndarray, float]:
        """Return log α of each word with a category, and that of the filler (0 without a filler).

        Features left out have log α = 0.
        """
        weights, filler = self._weights[1:, category].astype(np.float64), self._fillers[category]
        return np.where(weights != 0, weights + filler, 0.0), float(filler)

    @property
    def weight_bytes(self) -> int:
        """The memory that each pair of feature and category takes."""
        return 4

    @property
    def reads_strengths(self) -> bool:
        """Whether scores depend on the strength of a feature, not only on its presence."""
        return self.features != "presence"

    @property
    def n_iter_(self) -> int:
        """The largest number of iterations of a category."""
        return max(1, int(self._iterations.max(initial=0)))

    def summary(self) -> dict[str, Any]:
        """Return the iterations, the number of categories not converged, and the largest weight."""
        return {
            "iterations": self._iterations.tolist(),
            "not_converged": int((~self._converged).sum()),
            "largest_weight": round(float(np.abs(self._weights[1:]).max(initial=0.0)), 3),
        }

    # ---- categories and files ----------------------------------------------------------------

    def drop_categories(self, keep: np.ndarray) -> Self:
        """Remove the categories where `keep` is false; the others compete among themselves."""
        retained = np.flatnonzero(checked_mask(keep, self.n_categories, "category"))
        self.n_categories, self._weights = len(retained), self._weights[:, retained].copy()
        for name in ("_fillers", "_iterations", "_converged"):
            setattr(self, name, getattr(self, name)[retained])
        return self

    def state(self) -> State:
        """Return the weights and figures of the fit, as a JSON-able header and arrays."""
        tensors = {"weights": self._weights, "fillers": self._fillers}
        tensors |= {"iterations": self._iterations, "converged": self._converged.astype(np.uint8)}
        return self.header(compete=self._compete), tensors

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Return a learner from what `state` returned, checking everything."""
        learner, n_features, n = cls.from_header(header)
        learner._compete = require_field(header, "compete", bool)
        shape = 1 + n_features, n
        learner._weights = require_tensor(tensors, "weights", np.float32, shape, finite=True)
        learner._fillers = require_tensor(tensors, "fillers", np.float64, (n,), finite=True)
        learner._iterations = require_tensor(tensors, "iterations", np.int64, (n,), low=0)
        converged = require_tensor(tensors, "converged", np.uint8, (n,), high=1)
        learner._converged = converged.astype(bool)
        return learner


class _Problem:
    """The documents as events: in the joint space the distinct ones, then the added events."""

    def __init__(
        self, learner: MaximumEntropy, rows: Rows, labels: Labels, weights: np.ndarray
    ) -> None:
        self.n_documents, self.joint = rows.n_rows, learner.event_space == "joint"
        self.added = learner.added_events
        self.truth, self.known, self.weights = labels.to_dense(), labels.known, weights
        self.contexts: np.ndarray | None = None
        if self.joint:
            firsts, self.contexts = _distinct(rows)
            rows = rows.take(firsts)
        rows = _measured(rows, learner.features)
        self.n_contexts, self.n_added = rows.n_rows, rows.n_columns if self.added else 0
        if self.n_added:
            ends, ones = np.arange(self.n_added + 1), np.ones(self.n_added, np.float32)
            single_words = Rows(ends, ends[:-1].astype(np.int32), ones, self.n_added)
            rows = Rows.concatenate([rows, single_words])
        self.documents = Documents(rows, learner._has_always_on())

    def seen(self, categories: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the weights of documents with known labels, and of those that belong."""
        if self.known is None:
            known = np.broadcast_to(self.weights[:, None], (len(self.weights), len(categories)))
        else:
            known = self.weights[:, None] * self.known[:, categories]
        return known, known * self.truth[:, categories]

    def gather(self, amounts: np.ndarray, added: float) -> np.ndarray:
        """Return amounts per document as amounts per context, with `added` for each added event."""
        if self.contexts is not None:
            sums = np.zeros((self.n_contexts, amounts.shape[1]))
            np.add.at(sums, self.contexts, amounts)
            amounts = sums
        of_added = np.full((self.n_added, amounts.shape[1]), added)
        return np.ascontiguousarray(np.concatenate([amounts, of_added]))

    def events(self, categories: np.ndarray, compete: bool, n_jobs: int) -> Events:
        """Return the observed events of some categories."""
        known, belongs = self.seen(categories)
        mass = known[:, :1] if compete or self.known is None else known
        mass = self.gather(mass, self.added * (len(categories) if compete else 2))
        counts = self.gather(belongs, self.added)
        return Events(
            self.documents, counts, mass, joint=self.joint, coupled=compete, n_jobs=n_jobs
        )

    def features_seen(self, categories: np.ndarray) -> np.ndarray:
        """Return the weighted number of documents of each category with each feature."""
        counts = self.gather(self.seen(categories)[1], 0.0)
        ones = np.ones_like(self.documents.columns.values)
        return linear_scores(
            self.documents.columns._replace(values=ones), np.vstack([0 * counts[:1], counts])
        )


def _exclude_each_other(labels: Labels) -> bool:
    """Return True if every document has exactly one of several categories."""
    are_all_known = labels.known is None or bool(labels.known.all())
    has_one_each = bool((labels.to_dense().sum(1) == 1).all())
    return labels.n_categories > 1 and are_all_known and has_one_each


def _measured(rows: Rows, features: str) -> Rows:
    """Return documents with the values of their features."""
    if features == "presence":
        return rows._replace(values=(rows.values > 0).astype(np.float32))
    return rows


def _distinct(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return the first of each set of equal documents, and the set of each document."""
    rows = ordered(rows)
    entries = [slice(start, end) for start, end in pairwise(rows.indptr)]
    keys = [rows.indices[some].tobytes() + rows.values[some].tobytes() for some in entries]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    sets = np.array([numbers[key] for key in keys], np.int64)
    return np.unique(sets, return_index=True)[1], sets
