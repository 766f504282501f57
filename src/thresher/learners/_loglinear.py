"""Loglinear models p ∝ Π αᵢ^fᵢ(x,c): scaling, improved scaling, L-BFGS; joint and conditional.

Features of classes share one matrix of contexts where each is a measurement of the context for one
class alone: a lane of weights then belongs to a class, or to a category that is asked about by
itself. Where features are any functions of both, a row of the matrix is a pair of context and
class, and there is one lane. Weights are feature-major; row 0 belongs to the always-on feature.

With the filler f = C - Σfᵢ in every event, log p is Σ fᵢ (log αᵢ - log α) up to a constant. So all
that is computed with are the differences; the filler matters for the steps of scaling alone.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from thresher.errors import ParameterError
from thresher.learners._weighing import in_blocks
from thresher.rows import Rows

__all__ = ["LogLinear", "fit_loglinear"]

MEMORY = 6  # the last steps that L-BFGS learns the curvature from
SUFFICIENT = 1e-4  # which part of the promised descent a step must bring
LOWEST = -700.0  # log-odds below which e^-x would overflow
HALVINGS = 40  # after so many a step is as good as none


class Documents:
    """Sparse rows, and the same by columns; in column 0 what is always on."""

    def __init__(self, rows: Rows, always_on: bool) -> None:
        from thresher._kernels.maxent import fill_columns

        n, dtype = rows.n_rows, rows.values.dtype
        self.rows, self.has_always_on = rows, always_on
        self.always_on = np.full(n, always_on, dtype)
        sizes = np.bincount(rows.indices, minlength=rows.n_columns)
        ends = np.concatenate([[0], np.cumsum([n * always_on, *sizes], dtype=np.int64)])
        documents, values = np.empty(int(ends[-1]), np.int32), np.empty(int(ends[-1]), dtype)
        first = int(ends[1])
        documents[:first], values[:first] = np.arange(first), 1
        filled = documents.view(np.uint32), values
        fill_columns(
            rows.indptr, rows.indices.view(np.uint32), rows.values, ends[1:-1].copy(), *filled
        )
        self.columns = Rows(ends, documents, values, n)

    def keep(self, kept: np.ndarray) -> Documents:
        """Return the documents with only some of the features."""
        return Documents(self.rows.keep(kept), self.has_always_on)

    def weigh(self, weights: np.ndarray, n_jobs: int) -> np.ndarray:
        """Return each document's weighted sums in all lanes, after one row that is unused."""
        sums = np.zeros((1 + self.rows.n_rows, weights.shape[1]))
        _multiply(self.rows, self.always_on, weights, sums[1:], n_jobs)
        return sums

    def add(self, amounts: np.ndarray, n_jobs: int) -> np.ndarray:
        """Return for each feature Σ strength · amount over the documents; row 0 is unused."""
        sums = np.empty((self.columns.n_rows, amounts.shape[1]))
        _multiply(self.columns, np.zeros(len(sums), self.always_on.dtype), amounts, sums, n_jobs)
        return sums


def _multiply(rows: Rows, first: np.ndarray, matrix: np.ndarray, out: np.ndarray, n: int) -> None:
    from thresher._kernels.online import score_documents

    arrays = rows.indptr, rows.indices.view(np.uint32), rows.values, first, matrix, out
    in_blocks(partial(score_documents, *arrays), rows.n_rows, n)


class Events:
    """What was counted, and the distribution that weights give it.

    Parameters
    ----------
    documents : Documents
        One row per context, or per context and class.
    counts : array (contexts, classes)
        How often each class was seen in each context; of a lane by itself, how often "yes".
    mass : array (contexts, classes or 1)
        How often each context was seen at all.
    joint : bool
        Whether contexts are drawn too, from those that there are; if not, classes only.
    coupled : bool
        Whether the classes compete; if not, each lane is a yes-or-no question.
    """

    def __init__(
        self,
        documents: Documents,
        counts: np.ndarray,
        mass: np.ndarray,
        *,
        joint: bool,
        coupled: bool,
        n_jobs: int = 1,
    ) -> None:
        self.documents, self.mass, self.n_jobs = documents, mass, n_jobs
        self.joint, self.coupled, self.shape = joint, coupled, counts.shape
        self.n_lanes = counts.size // max(1, documents.rows.n_rows) or counts.shape[1]
        self.total = np.broadcast_to(mass.sum(0), 1 if coupled else self.n_lanes)
        padded = np.zeros((1 + documents.rows.n_rows, self.n_lanes))
        padded[1:] = counts.reshape(-1, self.n_lanes)
        self.target = self.expect(padded)

    def keep(self, kept: np.ndarray) -> Events:
        """Return the events with only some of the features, whose row 0 always stays."""
        part = object.__new__(Events)
        part.__dict__ = self.__dict__ | {
            "documents": self.documents.keep(kept[1:]),
            "target": self.target[kept],
        }
        return part

    def pool(self, sums: np.ndarray, how: np.ufunc = np.add) -> np.ndarray:
        """Return figures of lanes, or the one figure of all where they compete."""
        return how.reduce(sums, keepdims=True) if self.coupled else sums

    def expect(self, expected: np.ndarray) -> np.ndarray:
        """Return the sum of each feature over events, given how often each is expected."""
        return self.documents.add(expected, self.n_jobs)

    def sums(self, kept: np.ndarray) -> np.ndarray:
        """Return Σf of each event (with "yes"), over the features that are kept."""
        return self.documents.weigh(kept.astype(np.float64), self.n_jobs)[1:]

    def model(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return how often each event is expected, padded for `expect`, and -log-likelihood."""
        padded = self.documents.weigh(weights, self.n_jobs)
        logits = padded[1:].reshape(self.shape)
        if self.coupled:
            axis = None if self.joint else 1
            highest = logits.max(axis, keepdims=True, initial=-np.inf if logits.size else 0.0)
            odds = np.exp(logits - highest)
            sums = odds.sum(axis, keepdims=True)
            mass = self.total if self.joint else self.mass
            logits[:] = odds * (mass / sums)
            loss = (mass * (np.log(sums) + highest)).sum(keepdims=True).reshape(1)
        elif self.joint:
            there = self.mass > 0
            highest = np.maximum(logits.max(0, initial=0.0), 0.0)
            odds = np.exp(logits - highest) * there
            sums = (odds + there * np.exp(-highest)).sum(0)
            logits[:] = odds * (self.total / sums)
            loss = self.total * (np.log(sums) + highest)
        else:
            np.maximum(logits, LOWEST, out=logits)
            sums = np.exp(-logits)
            sums += 1.0
            loss = (self.mass * (logits + np.log(sums))).sum(0)
            np.divide(self.mass, sums, out=logits)
        return padded, loss - self.pool((self.target * weights).sum(0))

    def gains(self, weights: np.ndarray, candidates: np.ndarray, precision: float) -> np.ndarray:
        """Return by how much each candidate alone would raise the log-likelihood, row 0 apart."""
        from thresher._kernels.maxent import weigh_candidates

        expected, columns = self.model(weights)[0][1:], self.documents.columns
        mass = np.broadcast_to(self.total if self.joint else self.mass, expected.shape)
        gains = np.full(weights.shape, -np.inf)
        arrays = columns.indptr, columns.indices.view(np.uint32), columns.values, expected
        more = np.ascontiguousarray(mass), self.joint, self.target, candidates, precision, gains
        in_blocks(partial(weigh_candidates, *arrays, *more), len(gains), self.n_jobs, first=1)
        return gains


class Fit(NamedTuple):
    """Weights that were fitted, and how: figures of each lane, or of all together."""

    weights: np.ndarray  # (1 + features, lanes)
    fillers: np.ndarray  # log α of the filler feature
    n_iter: np.ndarray
    converged: np.ndarray
    constants: np.ndarray  # C, for scaling
    history: list[tuple[np.ndarray, np.ndarray]]  # largest difference, log-likelihood


class Schedule(NamedTuple):
    """How to fit: by which method, how long, and how far from the constraints to stop."""

    method: str
    max_iter: int
    tolerance: float
    constant: float | None = None
    precision: float = 0.0  # one divided by the variance of the prior

    def fit(self, events: Events, kept: np.ndarray, start: np.ndarray | None = None) -> Fit:
        """Fit the weights of the features that are kept; those never seen stay out, or at 0."""
        weights = np.zeros_like(events.target) if start is None else start.copy()
        if not self.precision:  # which alone keeps them finite
            kept = kept & (events.target > 0)
        if self.method == "lbfgs":
            return _descend(events, kept, weights, self)
        return _scale(events, kept, weights, self)


# ---- iterative scaling ---------------------------------------------------------------------------


def _scale(events: Events, kept: np.ndarray, weights: np.ndarray, schedule: Schedule) -> Fit:
    """Scale every weight by how often its feature was seen and is expected, again and again."""
    improved = schedule.method == "iis"
    sums, n = events.sums(kept), events.total
    constant = _constant(events, sums, schedule.constant)
    filler_target = constant * n - events.pool((events.target * kept).sum(0))
    has_filler = (filler_target > 1e-12 * constant * n) & (not improved)
    fillers, n_iter = np.zeros(len(n)), np.zeros(len(n), np.int64)
    active, history = np.ones(len(n), bool), []
    for _ in range(schedule.max_iter):
        expected, loss = events.model(weights)
        expectations = events.expect(expected)
        filler_expected = constant * n - events.pool((expectations * kept).sum(0))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(kept, np.log(events.target) - np.log(expectations), 0.0)
            filler_ratios = np.where(has_filler, np.log(filler_target) - np.log(filler_expected), 0)
        if not (np.isfinite(ratios).all() and np.isfinite(filler_ratios).all()):
            raise _overflow(ratios, weights)
        gaps = events.pool(np.abs(ratios).max(0, initial=0.0), np.maximum)
        history.append((np.maximum(gaps, np.abs(filler_ratios)), -loss))
        active &= history[-1][0] > schedule.tolerance
        if not active.any():
            break
        if improved:
            steps = _improved_steps(events, expected, sums, kept)
            if not np.isfinite(steps).all():
                raise _overflow(steps, weights)
        else:
            steps = np.where(kept, ratios - filler_ratios, 0.0) / constant
        weights += active * steps
        fillers += active * filler_ratios / constant
        n_iter += active
    return Fit(weights, fillers, n_iter, ~active, constant, history)


def _constant(events: Events, sums: np.ndarray, constant: float | None) -> np.ndarray:
    """Return C: what is given, if no event's features add up to more, else the most they do."""
    most = events.pool(sums.max(0, initial=0.0), np.maximum)
    if constant is None:
        return np.where(most > 0, most, 1.0)
    if most.max(initial=0.0) > constant * (1 + 1e-9):
        raise ParameterError(
            f"The constant C is {constant:g}, and the features of one event add up to "
            f"{most.max():g}; generalized iterative scaling needs a C that is no lower. Leave it "
            "out to have the greatest sum."
        )
    return np.full(len(most), float(constant))


def _improved_steps(
    events: Events, expected: np.ndarray, sums: np.ndarray, kept: np.ndarray
) -> np.ndarray:
    from thresher._kernels.maxent import improve

    columns, steps = events.documents.columns, np.zeros_like(events.target)
    arrays = columns.indptr, columns.indices.view(np.uint32), columns.values, expected[1:], sums
    targets = np.where(kept, events.target, 0.0)
    in_blocks(partial(improve, *arrays, targets, steps), len(steps), events.n_jobs)
    return steps


def _overflow(ratios: np.ndarray, weights: np.ndarray) -> ParameterError:
    """Name the feature that is expected no more, though it was seen."""
    row, lane = (
        np.argwhere(~np.isfinite(ratios))[0]
        if ratios.ndim == 2 and not np.isfinite(ratios).all()
        else (0, 0)
    )
    which = "The filler feature" if row == 0 else f"Feature {row - 1}"
    return ParameterError(
        f"{which} of class {lane} was seen and has become so improbable that its weight "
        f"(log α = {weights[row, lane]:.3g}) overflows. Leave rare features out (min_count), add "
        'events (added_events), iterate less, or fit with method="lbfgs" and a prior.'
    )


# ---- L-BFGS --------------------------------------------------------------------------------------


def _descend(events: Events, kept: np.ndarray, weights: np.ndarray, schedule: Schedule) -> Fit:
    """Minimise the loss and the prior's part by L-BFGS, all lanes in step.

    Directions are sums of the last steps, of the changes of the gradient and of the gradient; which
    share each has follows from their inner products alone (Chen, Wang and Zhou, Large-scale L-BFGS
    using MapReduce, 2014), so that all vectors are read twice in an iteration.
    """
    everything = bool(kept.all())
    precision = np.full((len(weights), 1), schedule.precision)
    precision[0] = 0.0

    def value(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        expected, loss = events.model(at)
        gradient = events.expect(expected)
        gradient -= events.target
        pull = precision * at
        gradient += pull
        if not everything:
            gradient *= kept
        return loss + 0.5 * events.pool((pull * at).sum(0)), gradient

    vectors = np.zeros((2 * MEMORY + 1, *weights.shape))
    loss, vectors[-1] = value(weights)
    products = np.zeros((len(vectors), len(vectors), len(loss)))
    limit = schedule.tolerance * np.maximum(events.total, 1e-300)
    n_iter, history = np.zeros(len(loss), np.int64), []
    active = np.ones(len(loss), bool)
    stuck = np.zeros(len(loss), bool)
    for turn in range(schedule.max_iter + 1):
        gaps = events.pool(np.abs(vectors[-1]).max(0, initial=0.0), np.maximum)
        history.append((gaps / np.maximum(events.total, 1e-300), -loss))
        active &= gaps > limit
        if turn == schedule.max_iter or not active.any():
            break
        slot = (turn - 1) % MEMORY
        _multiply_vectors(events, vectors, products, slot)
        shares = -_two_loops(products, turn)
        slope = (products[-1] * shares).sum(0)
        size = 1.0 if turn else 1.0 / np.maximum(np.sqrt(products[-1, -1]), 1e-300)
        step = active * np.broadcast_to(size, len(loss))
        direction = _combined(events, vectors, shares)
        pending = active
        for _ in range(HALVINGS):
            change = step * direction
            lower, gradient = value(weights + change)
            slack = SUFFICIENT * step * slope + 1e-14 * np.abs(loss)
            pending = active & ~(lower <= loss + slack)
            if not pending.any():
                break
            step = np.where(pending, 0.5 * step, step)
        if pending.any():  # no lower, as far as numbers can tell
            active, stuck = active & ~pending, stuck | pending
            change = np.where(pending, 0.0, change)
            lower, gradient = value(weights + change)
        weights += change
        loss = lower
        slot = turn % MEMORY
        vectors[slot] = change
        vectors[MEMORY + slot] = gradient - vectors[-1]
        vectors[-1] = gradient
        n_iter += active
    nothing = np.zeros(len(loss))
    return Fit(weights, nothing, n_iter, ~active & ~stuck, nothing, history)


def _multiply_vectors(events: Events, vectors: np.ndarray, products: np.ndarray, slot: int) -> None:
    """Put the inner products of the last step, the last change and the gradient with all."""
    from thresher._kernels.maxent import CHUNK, multiply

    new = [slot, MEMORY + slot, len(vectors) - 1]
    n_chunks = -(-vectors.shape[1] // CHUNK)
    parts = np.empty((n_chunks, 3, len(vectors), vectors.shape[2]))
    in_blocks(partial(multiply, vectors, *new, parts), n_chunks, events.n_jobs)
    sums = parts.sum(0)
    if events.coupled:
        sums = sums.sum(-1, keepdims=True)
    products[new] = sums
    products[:, new] = sums.swapaxes(0, 1)


def _two_loops(products: np.ndarray, turn: int) -> np.ndarray:
    """Return the share of each vector in the gradient, multiplied by the inverse curvature."""
    n_lanes = products.shape[-1]
    shares, scale = np.zeros((len(products), n_lanes)), np.ones(n_lanes)
    shares[-1] = 1.0
    slots = [t % MEMORY for t in range(max(0, turn - MEMORY), turn)]
    used = {}
    for slot in slots:
        curved, squared = products[slot, MEMORY + slot], products[MEMORY + slot, MEMORY + slot]
        usable = curved > 1e-12 * np.sqrt(squared * products[slot, slot])
        used[slot] = np.where(usable, 1.0 / np.where(usable, curved, 1.0), 0.0)
        scale = np.where(usable, curved / np.where(usable, squared, 1.0), scale)
    taken = {}
    for slot in reversed(slots):
        taken[slot] = used[slot] * (products[slot] * shares).sum(0)
        shares[MEMORY + slot] -= taken[slot]
    shares *= scale
    for slot in slots:
        shares[slot] += taken[slot] - used[slot] * (products[MEMORY + slot] * shares).sum(0)
    return shares


def _combined(events: Events, vectors: np.ndarray, shares: np.ndarray) -> np.ndarray:
    from thresher._kernels.maxent import combine

    direction = np.empty(vectors.shape[1:])
    of_lanes = np.ascontiguousarray(np.broadcast_to(shares, (len(shares), vectors.shape[2])))
    in_blocks(partial(combine, vectors, of_lanes, direction), len(direction), events.n_jobs)
    return direction


# ---- greedy selection ----------------------------------------------------------------------------


def select(
    events: Events, allowed: np.ndarray, schedule: Schedule, n_selected: int, min_gain: float
) -> Fit:
    """Add the feature that helps most, fit all weights again, and so on (Berger et al., 1996)."""
    kept = np.zeros_like(allowed)
    kept[0] = allowed[0]
    fit = _fit_some(events, kept, schedule, np.zeros_like(events.target))
    if not schedule.precision:
        allowed = allowed & (events.target > 0)
    for _ in range(n_selected):
        gains = events.gains(fit.weights, allowed & ~kept, schedule.precision)
        best = np.unravel_index(np.argmax(gains), gains.shape)
        if not gains[best] > min_gain:
            break
        kept[best] = True
        fit = _fit_some(events, kept, schedule, fit.weights)
    return fit


def _fit_some(events: Events, kept: np.ndarray, schedule: Schedule, start: np.ndarray) -> Fit:
    """Fit the weights of few features, as if there were no others."""
    columns = np.append(True, kept[1:].any(1))
    fit = schedule.fit(events.keep(columns), kept[columns], start[columns])
    weights = np.zeros_like(start)
    weights[columns] = fit.weights
    return fit._replace(weights=weights)


# ---- any features of contexts and classes --------------------------------------------------------


class LogLinear(NamedTuple):
    """A loglinear model that was fitted.

    Attributes
    ----------
    log_alphas : array of float
        The weight log αᵢ of each feature, after scaling with a filler also the filler's, which is
        the last; 0 of features that were never seen and are left out.
    empirical, expected : array of float
        What each feature, in the same order, is on average: as it was seen, and by the model.
    n_iter, converged : int, bool
        How often the weights changed, and whether the tolerance was reached.
    differences : list of float
        Before each change how far the logarithms of any feature's expectations are apart; for
        L-BFGS, the expectations themselves.
    log_likelihoods : list of float
        Before each change that of the events.
    """

    log_alphas: np.ndarray
    empirical: np.ndarray
    expected: np.ndarray
    n_iter: int
    converged: bool
    differences: list[float]
    log_likelihoods: list[float]
    fitted: np.ndarray

    def probabilities(self) -> np.ndarray:
        """Return p(x, c) of all pairs, or p(c|x) where contexts are given: (contexts, classes)."""
        return self.fitted


def fit_loglinear(
    features: Any,
    counts: Any,
    *,
    space: str = "conditional",
    method: str = "gis",
    C: float | None = None,
    max_iter: int = 500,
    tolerance: float = 1e-10,
    prior_variance: float | None = None,
) -> LogLinear:
    """Fit a loglinear model over any features of contexts and classes.

    Parameters
    ----------
    features : array (contexts, classes, features)
        The value of every feature for every pair; zero or more for both kinds of scaling.
    counts : array (contexts, classes)
        How often each pair was seen.
    space : {"conditional", "joint"}, default="conditional"
        Whether the model is of classes in given contexts, p(c|x), or of all pairs, p(x, c).
    method : {"gis", "iis", "lbfgs"}, default="gis"
        Generalized iterative scaling, with a filler feature; improved iterative scaling; L-BFGS.
    C : float, optional
        What the features of every pair add up to with the filler's; by default the greatest sum.
    max_iter : int, default=500
        How often the weights change at most.
    tolerance : float, default=1e-10
        How far expectations may be from what was seen: the largest difference of logarithms, for
        L-BFGS the largest difference itself.
    prior_variance : float, optional
        The variance of a Gaussian prior around zero, for L-BFGS.

    Examples
    --------
    Table 16.7 of Manning and Schütze: the word in the rows, "no" and "yes" in the columns.

    >>> features = np.zeros((2, 2, 1))
    >>> features[1, 1] = 1
    >>> model = fit_loglinear(features, [[13, 8], [9, 20]], space="joint")
    >>> model.probabilities().round(3).tolist(), model.n_iter
    ([[0.2, 0.2], [0.2, 0.4]], 1)
    """
    features, counts = np.asarray(features, np.float64), np.asarray(counts, np.float64)
    if features.ndim != 3 or features.shape[:2] != counts.shape or not counts.size:
        raise ParameterError(
            f"features has the shape {features.shape} and counts {counts.shape}; they must be "
            "(contexts, classes, features) and (contexts, classes)."
        )
    if not np.isfinite(features).all() or (method != "lbfgs" and (features < 0).any()):
        raise ParameterError("features must be finite numbers, and for scaling zero or more.")
    if not (np.isfinite(counts).all() and (counts >= 0).all() and counts.any()):
        raise ParameterError("counts must be finite numbers of zero or more, some of them above.")
    for name, value, allowed in (
        ("space", space, ("conditional", "joint")),
        ("method", method, ("gis", "iis", "lbfgs")),
    ):
        if value not in allowed:
            raise ParameterError(f"{name} is {value!r}; it must be one of {', '.join(allowed)}.")
    if prior_variance is not None and method != "lbfgs":
        raise ParameterError("prior_variance is for method='lbfgs'; scaling has no prior.")
    flat = features.reshape(counts.size, -1)
    places, columns = np.nonzero(flat)
    ends = np.append(0, np.cumsum(np.bincount(places, minlength=len(flat))))
    rows = Rows(ends, columns.astype(np.int32), flat[places, columns], flat.shape[1])
    joint, mass = space == "joint", counts.sum(1, keepdims=True)
    events = Events(Documents(rows, False), counts, mass, joint=joint, coupled=True)
    precision = 0.0 if prior_variance is None else 1.0 / prior_variance
    schedule = Schedule(method, max_iter, tolerance, C, precision)
    fit = schedule.fit(events, np.ones_like(events.target, bool))
    expected = events.model(fit.weights)[0]
    kept = (events.target > 0) | (precision > 0)
    log_alphas = np.where(kept, fit.weights + fit.fillers, 0.0)[1:, 0]
    seen, by_model = (
        (one * kept)[1:, 0] / events.total for one in (events.target, events.expect(expected))
    )
    if method == "gis":
        log_alphas = np.append(log_alphas, fit.fillers)
        seen, by_model = (np.append(one, fit.constants - one.sum()) for one in (seen, by_model))
    logits = events.documents.weigh(fit.weights, 1)[1:].reshape(counts.shape)
    odds = np.exp(logits - logits.max(None if joint else 1, keepdims=True))
    return LogLinear(
        log_alphas,
        seen,
        by_model,
        int(fit.n_iter[0]),
        bool(fit.converged[0]),
        [float(gap[0]) for gap, _ in fit.history],
        [float(likelihood[0]) for _, likelihood in fit.history],
        odds / odds.sum(None if joint else 1, keepdims=True),
    )
