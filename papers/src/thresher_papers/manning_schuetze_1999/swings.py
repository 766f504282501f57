"""Cells of section 16.3: the perceptron of figure 16.7, and its accuracy pass by pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from thresher.learners.online import Perceptron
from thresher.rows import Rows
from thresher_papers._running import Documents, one_category
from thresher_papers.manning_schuetze_1999.earnings import (
    WORDS,
    contingency,
    dense,
    earnings,
    is_earnings,
)

PASSES = 1000
PLANE = ("cts", "mln")  # across and upwards, as in figure 16.9


def book_perceptron() -> Perceptron:
    """Return the learner of figure 16.7.

    The book's threshold starts at 0, falls by one with a missed positive and rises by one with a
    false one: it is the weight of a feature that every document has, negative. A document that
    scores θ exactly is decided "no", and is no mistake if it is negative. As all numbers are whole,
    that is a fixed threshold halfway to the next one.

    Examples
    --------
    >>> learner = book_perceptron().fit(np.array([[2, 0], [0, 1], [1, 1]]), [1, 0, 0])
    >>> learner.effective_weights()[:, 0], book_threshold(learner)
    (array([ 1., -2.], dtype=float32), 1)
    """
    return Perceptron(threshold=0.5, always_on=True, shuffle=False, max_iter=PASSES)


def book_threshold(learner: Perceptron) -> int:
    """Return θ of figure 16.7."""
    return -int(learner.always_on_weights()[0])


class State(NamedTuple):
    """The perceptron at one moment."""

    weights: np.ndarray
    threshold: int

    @classmethod
    def of(cls, learner: Perceptron) -> State:
        return cls(learner.effective_weights()[:, 0].copy(), book_threshold(learner))

    def decide(self, vectors: np.ndarray) -> np.ndarray:
        return np.asarray(vectors @ self.weights > self.threshold)

    def numbers(self) -> list[int]:
        """Return weights and threshold, which are whole."""
        return [int(number) for number in (*self.weights, self.threshold)]


def passes_over(
    documents: Documents, n_passes: int, interval: int | None = None
) -> Iterator[State]:
    """Yield the state after each pass over the documents, or after every `interval` documents."""
    learner = book_perceptron().start(documents.rows.n_columns, 1)
    n = documents.rows.n_rows
    for _ in range(n_passes):
        for batch in np.split(np.arange(n), range(interval or n, n, interval or n)):
            learner.learn_rows(*documents, batch)
            yield State.of(learner)


def accuracies(states: Iterable[State], documents: Documents) -> np.ndarray:
    """Return the accuracy of each state in percent."""
    vectors, truth = dense(documents.rows), is_earnings(documents)
    return np.array([100 * np.mean(state.decide(vectors) == truth) for state in states])


def swing(n_passes: int, interval: int, order: int | None) -> dict[str, Any]:
    """Return accuracies after each pass, or after so many documents, and all states.

    Documents come in the order of the collection, or in the random one of a seed; `every` 0 looks
    at the end of passes.
    """
    train, test = earnings()
    if order is not None:
        train = train.take(np.random.default_rng(order).permutation(train.rows.n_rows))
    states = list(passes_over(train, n_passes, interval or None))
    return {
        "training": accuracies(states, train).tolist(),
        "test": accuracies(states, test).tolist(),
        "states": [] if interval else [state.numbers() for state in states],
    }


def state_decisions(states: Sequence[tuple[int, ...]]) -> list[dict[str, float]]:
    """Return the decisions of states (weights and threshold) on the test documents."""
    test = earnings().test
    vectors, truth = dense(test.rows), is_earnings(test)
    return [
        contingency(State(np.array(weights), threshold).decide(vectors), truth)
        for *weights, threshold in states
    ]


# ---- figure 16.7 -----------------------------------------------------------------------------


def figure_16_7(
    vectors: Sequence[Sequence[int]], classes: Sequence[bool], n_passes: int
) -> Iterator[tuple[list[int], int]]:
    """Follow the figure line by line; yield weights and threshold after each document.

    Examples
    --------
    >>> *_, last = figure_16_7([[2, 0], [0, 1], [1, 1]], [True, False, False], 5)
    >>> last
    ([1, -2], 1)
    """
    w, theta = [0] * len(vectors[0]), 0
    for _ in range(n_passes):
        for x, is_yes in zip(vectors, classes, strict=True):
            decision = sum(weight * value for weight, value in zip(w, x, strict=True)) > theta
            if is_yes and not decision:
                theta -= 1
                w = [weight + value for weight, value in zip(w, x, strict=True)]
            elif decision and not is_yes:
                theta += 1
                w = [weight - value for weight, value in zip(w, x, strict=True)]
            yield w, theta


def trace(n_documents: int, n_passes: int) -> list[dict[str, int]]:
    """Run figure 16.7 beside the library's learner over the first documents, one by one.

    Returns, after the first correction and then at ever larger numbers of documents, what both
    have, and after how many documents they were equal; the last entry is the end.
    """
    documents = earnings().train.take(np.arange(n_documents))
    vectors = dense(documents.rows).tolist()
    printed = figure_16_7(vectors, is_earnings(documents).tolist(), n_passes)
    learner = book_perceptron().start(documents.rows.n_columns, 1)
    n, equal, corrected, moments = n_documents * n_passes, 0, 0, []
    shown = {1, 2, 5, *(int(m * 10**k) for k in range(1, 6) for m in (1, 2, 5)), n}
    for met, (w, theta) in enumerate(printed, 1):
        row = np.array([(met - 1) % n_documents])
        corrected += int(learner.learn_rows(*documents, row).sum())
        equal += State.of(learner).numbers() == [*w, theta]
        if met in shown:
            numbers = State.of(learner).numbers()
            lines = {f"{word}, as printed": w[WORDS.index(word)] for word in ("cts", "profit")}
            lines |= {f"{word}, library": numbers[WORDS.index(word)] for word in ("cts", "profit")}
            moments.append({"documents met": met, "corrections": corrected, **lines,
                            "θ, as printed": theta, "θ, library": numbers[-1],
                            "equal after": equal})  # fmt: skip
    return moments


# ---- in two dimensions -----------------------------------------------------------------------


def one_correction(start: tuple[float, float], document: tuple[float, float]) -> dict[str, Any]:
    """Return weights before and after a positive document that they miss (figure 16.8)."""
    rows = Rows(np.array([0, 2, 4]), np.array([0, 1, 0, 1], np.int32),
                np.array([*start, *document], np.float32), 2)  # fmt: skip
    learner = Perceptron(shuffle=False).start(2, 1)
    weights = []
    # The first document, missed at a score of 0, becomes the weights that the second one corrects.
    for row in range(2):
        learner.learn_rows(rows, one_category(np.ones(2, bool)), np.array([row]))
        weights.append(learner.effective_weights()[:, 0].tolist())
    return dict(zip(("w", "w + x"), weights, strict=True))


def plane(documents: Documents) -> tuple[Documents, np.ndarray]:
    """Return documents as two words each, and their points with the axes of figure 16.9."""
    rows = documents.rows.keep(np.isin(WORDS, PLANE))
    # The columns are in the book's order, mln before cts.
    return Documents(rows, documents.labels), dense(rows)[:, ::-1]


def in_plane(state: State) -> list[int]:
    """Return a state of two columns with its weights in the order of the plane's axes."""
    mln, cts, threshold = state.numbers()
    return [cts, mln, threshold]


def points() -> dict[str, list[Any]]:
    """Return the distinct points of the plane, how many documents each is, and their share."""
    documents, positions = plane(earnings().train)
    distinct, point, sizes = np.unique(positions, axis=0, return_inverse=True, return_counts=True)
    positive = np.bincount(point.ravel(), is_earnings(documents), len(distinct))
    return {"points": distinct.tolist(), "sizes": sizes.tolist(),
            "shares": (positive / sizes).tolist()}  # fmt: skip


def plane_states(n_passes: int) -> list[list[int]]:
    """Return the state after each pass in two dimensions: cts, mln and threshold."""
    documents, _ = plane(earnings().train)
    return [in_plane(state) for state in passes_over(documents, n_passes)]


def corrections(documents: Documents, numbers: Sequence[int]) -> Iterator[tuple[int, State]]:
    """Yield how many documents were met, and the state, after so many corrections each."""
    learner = book_perceptron().start(documents.rows.n_columns, 1)
    n_documents, met, corrected = documents.rows.n_rows, 0, 0
    for number in numbers:
        while corrected < number:
            document = np.array([met % n_documents])
            corrected += int(learner.learn_rows(*documents, document).sum())
            met += 1
        yield met, State.of(learner)


def moments(numbers: tuple[int, ...]) -> list[dict[str, Any]]:
    """Return documents met and the state in two dimensions after so many corrections each."""
    documents, _ = plane(earnings().train)
    return [
        {"documents met": met, "state": in_plane(state)}
        for met, state in corrections(documents, numbers)
    ]
