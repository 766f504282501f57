"""Section 16.3: the perceptron of figure 16.7, and how it swings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from thresher.errors import counted
from thresher.learners.online import Perceptron
from thresher.papers._result import Drawing, Table
from thresher.papers._running import Documents, one_category
from thresher.papers.manning_schuetze_1999 import published
from thresher.papers.manning_schuetze_1999.earnings import (
    contingency,
    contingency_table,
    dense,
    earnings,
    is_earnings,
)
from thresher.papers.manning_schuetze_1999.published import NAME, THRESHOLD, WORDS
from thresher.rows import Rows

PASSES = 1000
QUICK_PASSES = 100
PLANE = ("cts", "mln")  # across and upwards, as in figure 16.9
FRAMES = 48
EVERY = 200  # documents


def figure_16_7() -> Perceptron:
    """Return the learner of figure 16.7.

    The book's threshold starts at 0, falls by one with a missed positive and rises by one with a
    false one: it is the weight of a feature that every document has, negative. A document that
    scores θ exactly is decided "no", and is no mistake if it is negative. As all numbers are whole,
    that is a fixed threshold halfway to the next one.

    Examples
    --------
    >>> learner = figure_16_7().fit(np.array([[2, 0], [0, 1], [1, 1]]), [1, 0, 0])
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


def passes_over(documents: Documents, n_passes: int, every: int | None = None) -> Iterator[State]:
    """Yield the state after each pass over the documents in their order, or after so many each."""
    learner = figure_16_7().start(documents.rows.n_columns, 1)
    n = documents.rows.n_rows
    for _ in range(n_passes):
        for part in np.split(np.arange(n), range(every or n, n, every or n)):
            learner.learn_rows(*documents, part)
            yield State.of(learner)


def accuracies(states: Iterable[State], documents: Documents) -> np.ndarray:
    """Return what part of the documents each state decides right, in percent."""
    vectors, truth = dense(documents.rows), is_earnings(documents)
    return np.array([100 * np.mean(one.decide(vectors) == truth) for one in states])


class Swing(NamedTuple):
    """Accuracies in percent after each pass, and the states themselves."""

    training: np.ndarray
    test: np.ndarray
    states: list[State]

    @property
    def middle(self) -> int:
        """The first pass whose training accuracy is nearest to the middle of the book's range."""
        return int(np.abs(self.training - np.mean(published.SWING)).argmin())


@lru_cache(maxsize=2)
def swing(n_passes: int) -> Swing:
    """Run the perceptron over the training documents, looking after each pass."""
    task = earnings()
    states = list(passes_over(task.train, n_passes))
    return Swing(accuracies(states, task.train), accuracies(states, task.test), states)


def _swing(quick: bool) -> Swing:
    return swing(QUICK_PASSES if quick else PASSES)


def _picked(shown: Swing) -> str:
    return (
        f"The state after pass {shown.middle + 1} of {len(shown.states)}, the first whose accuracy "
        f"on the training documents ({shown.training[shown.middle]:.1f} %) is nearest to the "
        "middle of the range that the book names; its authors picked theirs from that middle too. "
        "Documents come in the order of the collection."
    )


def table_16_10(seed: int = 0, quick: bool = False) -> Table:
    """Weights and threshold of a state in the middle of the swing."""
    shown = _swing(quick)
    weights, threshold = shown.states[shown.middle]
    numbers = [int(one) for one in (*weights, threshold)]
    ours = {
        name: {"weight": number} for name, number in zip([*WORDS, THRESHOLD], numbers, strict=True)
    }
    same = sum(ours[word]["weight"] * published.PERCEPTRON[word] > 0 for word in WORDS)
    return Table(
        NAME,
        "table-16.10",
        "Table 16.10: weights of the perceptron",
        {name: {"weight": weight} for name, weight in published.PERCEPTRON.items()},
        ours,
        [f"{_picked(shown)} {same} of 20 weights have the sign of the book's."],
        tolerance=100,
        best="none",
    )


def table_16_11(seed: int = 0, quick: bool = False) -> Table:
    """What that state decides on the test documents, and what the book's weights do."""
    shown, documents = _swing(quick), earnings().test
    vectors, truth = dense(documents.rows), is_earnings(documents)
    *weights, threshold = published.PERCEPTRON.values()
    states = {
        "perceptron": shown.states[shown.middle],
        "the book's weights on our vectors": State(np.array(weights), int(threshold)),
        "the last pass": shown.states[-1],
        "best of all passes on the training documents": shown.states[int(shown.training.argmax())],
    }
    ours = {name: contingency(state.decide(vectors), truth) for name, state in states.items()}
    return contingency_table(
        "16.11", "the perceptron", "perceptron", published.LINEAR, ours, [_picked(shown)]
    )


def perceptron_swing(seed: int = 0, quick: bool = False) -> Drawing:
    """How accuracy goes up and down from pass to pass (p. 603)."""
    shown = _swing(quick)
    curves = {"test": shown.test, "training": shown.training}
    train, test = earnings()
    within = accuracies(passes_over(train, 3 if quick else 30, EVERY), test)
    ours = {
        row: {
            name: float(measure(curve))
            for name, curve in (curves | {f"test, every {EVERY} documents": within}).items()
        }
        for row, measure in (("lowest", np.min), ("median", np.median), ("highest", np.max))
    }
    low, high = published.SWING

    def picture() -> Iterator[Any]:
        from thresher.report.plots import COLOURS, new_figure

        figure, grid = new_figure(2, n_columns=1, height=2.6)
        for axes, (name, curve), colour in zip(grid, curves.items(), COLOURS, strict=False):
            axes.axhspan(low, high, color="#999999", alpha=0.2, linewidth=0, label="the book's")
            axes.plot(np.arange(1, len(curve) + 1), curve, color=colour, linewidth=0.6)
            axes.set(title=f"{name} documents", ylabel="accuracy (%)", ylim=(65, 100))
        grid[0].legend(frameon=False, fontsize=8, loc="lower right")
        grid[-1].set_xlabel("pass")
        yield figure

    return Drawing(
        NAME,
        "perceptron-swing",
        f"Accuracy after each of {len(shown.states)} passes",
        {"lowest": {"test": low}, "highest": {"test": high}},
        ours,
        [
            "The book does not say on which documents, nor how often it looked. After some "
            "hundreds of documents of a pass the perceptron is at times far worse than at its end."
        ],
        tolerance=10,
        best="none",
        picture=picture,
    )


# ---- in two dimensions ---------------------------------------------------------------------------


def figure_16_8(seed: int = 0, quick: bool = False) -> Drawing:
    """One correction: a positive document on the wrong side turns the boundary."""
    start, document = (-1.0, 3.0), (3.0, 0.5)
    rows = Rows(np.array([0, 2, 4]), np.array([0, 1, 0, 1], np.int32),
                np.array([*start, *document], np.float32), 2)  # fmt: skip
    learner = Perceptron(shuffle=False).start(2, 1)
    vectors = {"x": np.array(document)}
    scores = {}
    # The first document, missed at a score of 0, becomes the weights that the second one corrects.
    for row, name in enumerate(("w", "w + x")):
        learner.learn_rows(rows, one_category(np.ones(2, bool)), np.array([row]))
        vectors[name] = learner.effective_weights()[:, 0].copy()
        scores[name] = float(vectors[name] @ vectors["x"])
    ours = {
        name: {"first": float(vector[0]), "second": float(vector[1])}
        | ({"score of x": scores[name]} if name in scores else {})
        for name, vector in vectors.items()
    }

    def picture() -> Iterator[Any]:
        from thresher.report.plots import COLOURS, new_figure

        figure, (axes,) = new_figure(height=4.8)
        for colour, (name, vector) in zip(COLOURS, vectors.items(), strict=False):
            arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.6}
            axes.annotate("", vector, (0, 0), arrowprops=arrow)
            axes.annotate(name, vector, (4, 4), textcoords="offset points", color=colour)
            if name in scores:
                boundary, normal = ("S", vector) if name == "w" else ("S′", vector)
                _draw_boundary(axes, normal, 0.0, color=colour, label=boundary)
        axes.legend(frameon=False, loc="lower left")
        axes.set(xlim=(-4, 4), ylim=(-4, 4), aspect="equal", title="YES is where the arrow points")
        yield figure

    return Drawing(NAME, "figure-16.8", "Figure 16.8: one error-correcting step", {}, ours,
                   ["x is a positive document; at first it scores below 0."],
                   best="none", picture=picture)  # fmt: skip


def _draw_boundary(axes: Any, weights: np.ndarray, threshold: float, **look: Any) -> Any:
    """Draw where the weighted sum of two coordinates is the threshold; nothing if it never is."""
    square = float(weights @ weights)
    if not square:
        return None
    point = weights * (threshold / square)
    return axes.axline(point, point + np.array([-weights[1], weights[0]]), **look)


class Plane(NamedTuple):
    """Documents as points of two words."""

    documents: Documents
    points: np.ndarray  # distinct
    sizes: np.ndarray  # how many documents each is
    shares: np.ndarray  # which part of them is positive

    @classmethod
    def of(cls, documents: Documents) -> Plane:
        kept = np.isin(WORDS, PLANE)
        rows = documents.rows.keep(kept)
        vectors = dense(rows)[:, ::-1]  # the columns are in the book's order, mln before cts
        points, place, sizes = np.unique(vectors, axis=0, return_inverse=True, return_counts=True)
        positive = np.bincount(place.ravel(), is_earnings(documents), len(points))
        return cls(Documents(rows, documents.labels), points, sizes, positive / sizes)

    def accuracy(self, state: State) -> float:
        """Return how many percent of the documents a state decides right."""
        is_yes = state.decide(self.points)
        return 100 * float(
            np.average(np.where(is_yes, self.shares, 1 - self.shares), weights=self.sizes)
        )

    def draw(self, axes: Any) -> None:
        axes.scatter(*self.points.T, s=4 + 2 * np.sqrt(self.sizes), c=self.shares, cmap="BrBG",
                     vmin=0, vmax=1, edgecolors="#666666", linewidths=0.4, zorder=3)  # fmt: skip
        axes.set(xlabel=PLANE[0], ylabel=PLANE[1], xlim=(-1.5, 8.5), ylim=(-1.5, 8.5))


def in_plane(state: State) -> State:
    """Return a state of two columns with its weights in the order of the plane's axes."""
    return State(state.weights[::-1].astype(float), state.threshold)


def figure_16_9(seed: int = 0, quick: bool = False) -> Drawing:
    """A perceptron of two words: its weight vector, its boundary, its two regions."""
    plane = Plane.of(earnings().train)
    state = in_plane(next(passes_over(plane.documents, 1)))
    ours = {
        name: {"weight": int(value)}
        for name, value in zip((*PLANE, THRESHOLD), (*state.weights, state.threshold), strict=True)
    }
    book = State(np.array([published.TWO_DIMENSIONS[word] for word in PLANE], float), 1)
    right, books = (plane.accuracy(one) for one in (state, book))

    def picture() -> Iterator[Any]:
        from thresher.report.plots import COLOURS, new_figure

        figure, grid = new_figure(2, height=4.6)
        for axes, name, one in zip(grid, ("ours", "the book's"), (state, book), strict=True):
            plane.draw(axes)
            _draw_boundary(axes, one.weights, one.threshold, color=COLOURS[3], linewidth=1.6)
            tip = 3 * one.weights / np.linalg.norm(one.weights)
            axes.annotate("", tip, (0, 0), arrowprops={"arrowstyle": "-|>", "linewidth": 1.6})
            weights = f"{one.weights[0]:.0f} cts {one.weights[1]:+.0f} mln > {one.threshold}"
            axes.set_title(f"{name}: YES where {weights}", fontsize=10)
            for text, x in (("NO", -1.8), ("YES", 6.5)):
                axes.text(x, 7.5, text)
            axes.set(xlim=(-2.5, 8.5), ylim=(-4.5, 8.5))
        yield figure

    return Drawing(
        NAME,
        "figure-16.9",
        "Figure 16.9: a perceptron in two dimensions",
        {name: {"weight": weight} for name, weight in published.TWO_DIMENSIONS.items()},
        ours,
        [
            "After one pass in the order of the collection; later passes end in the same state. It "
            f"gets {right:.1f} % of the training documents right, the book's {books:.1f} %. Drawn: "
            "every point with documents, the larger the more, green where all are earnings, brown "
            "where none is."
        ],
        tolerance=10,
        best="none",
        picture=picture,
    )


def corrections(documents: Documents, numbers: list[int]) -> Iterator[tuple[int, State]]:
    """Yield how many documents were met, and the state, after so many corrections each."""
    learner = figure_16_7().start(documents.rows.n_columns, 1)
    n_documents, met, corrected = documents.rows.n_rows, 0, 0
    for number in numbers:
        while corrected < number:
            one = np.array([met % n_documents])
            corrected += int(learner.learn_rows(*documents, one).sum())
            met += 1
        yield met, State.of(learner)


def exercise_16_12(seed: int = 0, quick: bool = False) -> Drawing:
    """The boundary as it moves: plotted to a .gif, one frame for each of some corrections."""
    plane = Plane.of(earnings().train)
    first = list(range(13))  # each of the first, then ever fewer
    last, n_later = (100, 8) if quick else (2000, FRAMES - len(first))
    later = np.unique(np.geomspace(14, last, n_later).astype(int))
    numbers = [*first, *later.tolist()]
    moments = [(met, in_plane(state)) for met, state in corrections(plane.documents, numbers)]
    accuracies = [plane.accuracy(state) for _, state in moments]
    ours = {
        f"after {number} corrections": {
            "documents met": met,
            **dict(zip(PLANE, map(int, state.weights), strict=True)),
            THRESHOLD: state.threshold,
            "accuracy %": accuracy,
        }
        for number, (met, state), accuracy in zip(numbers, moments, accuracies, strict=True)
        if number in (0, 1, 2, 5, 10, numbers[-1])
    }

    def picture() -> Iterator[Any]:
        from thresher.report.plots import COLOURS, new_figure

        figure, (axes,) = new_figure(height=4.8)
        plane.draw(axes)
        x, y = np.meshgrid(*(np.linspace(-1.5, 8.5, 101),) * 2)
        grid = np.stack([x.ravel(), y.ravel()], axis=1)
        drawn: list[Any] = []
        for number, (_, state), accuracy in zip(numbers, moments, accuracies, strict=True):
            for old in drawn:
                old.remove()
            side = state.decide(grid).reshape(x.shape)
            region = axes.contourf(x, y, side, levels=(0.5, 1), colors=COLOURS[2], alpha=0.15)
            line = _draw_boundary(axes, state.weights, state.threshold, color=COLOURS[3])
            drawn = [one for one in (region, line) if one is not None]
            right = f"{accuracy:.1f} % of the training documents right"
            axes.set_title(f"{counted(number, 'correction')}: {right}", fontsize=10)
            yield figure

    return Drawing(
        NAME, "exercise-16.12", "Exercise 16.12: the perceptron's boundary moves", {}, ours,
        ["`--plot boundary.gif` shows it moving; any other kind of file has the last moment."],
        best="none", picture=picture,
    )  # fmt: skip
