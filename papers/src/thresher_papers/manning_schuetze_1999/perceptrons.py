"""Section 16.3: the perceptron of figure 16.7, and how it swings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from thresher.errors import counted
from thresher_papers._result import Cells, Drawing, Table
from thresher_papers._running import Run, mean_and_spread
from thresher_papers.manning_schuetze_1999 import measures, published, swings
from thresher_papers.manning_schuetze_1999.earnings import WORDS, with_accuracy
from thresher_papers.manning_schuetze_1999.published import NAME, THRESHOLD
from thresher_papers.manning_schuetze_1999.representation import (
    contingency_table,
    middle,
    middle_states,
    orders,
)
from thresher_papers.manning_schuetze_1999.swings import PLANE, State

FRAMES = 48
EVERY = 200  # documents
WEIGHT = 3.0  # tolerance of a weight


def _picked(run: Run) -> str:
    cells = orders(run)
    middles = [cell["training"][middle(cell)] for cell in cells]
    return (
        f"Mean of {len(cells)} random orders of the training documents, the same in all "
        f"{len(cells[0]['training']):,} passes: the state after the pass whose accuracy on these "
        f"documents is nearest to the middle of the range that the book names, 82.5 % "
        f"({min(middles):.1f} to {max(middles):.1f}), from which its authors picked theirs too. "
        "The spread is that between orders; the book does not say in which its documents came."
    )


def figure_16_7(run: Run) -> Table:
    """The learning algorithm, followed line by line beside the library's learner."""
    n_documents, n_passes = run.of((9603, 5), (300, 2))
    (moments,) = run.cells(swings.trace, [(n_documents, n_passes)])
    last = moments[-1]
    reproduced = {f"after {moment['documents met']:,} documents": moment for moment in moments}
    steps = (
        "both have the same weights and threshold after every one of them"
        if last["equal after"] == last["documents met"]
        else f"they differ after {last['documents met'] - last['equal after']:,}"
    )
    notes = [
        f"The figure's lines in plain Python, and the library's learner, over {n_documents:,} "
        f"training documents in their order, {n_passes} times: {last['documents met']:,} documents "
        f"are met, {last['corrections']:,} corrected, and {steps}. Shown are two of the twenty "
        "weights and the threshold, which starts at 0 and moves against the weights."
    ]
    columns = [name for name in last if name != "documents met"]
    reproduced = {
        row: {name: cells_of_row[name] for name in columns}
        for row, cells_of_row in reproduced.items()
    }
    return Table(
        NAME,
        "figure-16.7",
        "Figure 16.7: the perceptron, step by step",
        {},
        reproduced,
        notes,
        best="none",
    )


def table_16_10(run: Run) -> Table:
    """Weights and threshold of states in the middle of the swing."""
    names = [*WORDS, THRESHOLD]
    means, spread = mean_and_spread(
        [dict(zip(names, state, strict=True)) for state in middle_states(run)]
    )
    same = sum(means[word] * published.PERCEPTRON[word] > 0 for word in WORDS)
    books, reproduced = (weights["&"] + weights[";"] for weights in (published.PERCEPTRON, means))
    (collection,) = run.cells(swings.swing, [(run.of(swings.PASSES, 50), 0, None)])
    net = WORDS.index("net")
    passes = [np.std([state[net] for state in cell["states"]], ddof=1) for cell in orders(run)]
    in_order = dict(zip(names, collection["states"][middle(collection)], strict=True))
    notes = [
        f"{_picked(run)} {same} of 20 weights have the sign of the book's. Tolerance: 3, which is "
        "less than one document moves a frequent word.",
        "`&` and `;` stand in entities, nearly always together, so that only the sum of their "
        f"weights matters: {reproduced:.1f} (the book's {books}). In the order of the collection, "
        f"which is that of time, they are {in_order['&']} and {in_order[';']}, θ "
        f"{in_order[THRESHOLD]}, cts {in_order['cts']}, net {in_order['net']} and dlrs "
        f"{in_order['dlrs']}. What state is picked hardly matters beside that: from pass to pass "
        f"the weight of net moves by ± {np.mean(passes):.1f} within an order, that of `&` between "
        f"orders by ± {spread.get('&', 0):.1f}. Where one word counts more another does less; and "
        "the vectors are not quite the book's (`vectors`).",
    ]
    return Table(
        NAME,
        "table-16.10",
        "Table 16.10: weights of the perceptron",
        {name: {"weight": weight} for name, weight in published.PERCEPTRON.items()},
        {name: {"weight": value} for name, value in means.items()},
        notes,
        spread={name: {"weight": value} for name, value in spread.items()},
        tolerance=WEIGHT,
        best="none",
    )


def table_16_11(run: Run) -> Table:
    """Decisions of such states, and of the book's weights, on the test documents."""
    (cell,) = run.cells(swings.swing, [(run.of(swings.PASSES, 50), 0, None)])
    best = cell["training"].index(max(cell["training"]))
    more_states = {
        "in the order of the collection": cell["states"][middle(cell)],
        "in that order, best of all passes on the training documents": cell["states"][best],
        "the book's weights on our vectors": [*published.PERCEPTRON.values()],
    }
    states = (*middle_states(run), *map(tuple, more_states.values()))
    (decided,) = run.cells(swings.state_decisions, [(states,)])
    means, spread = mean_and_spread(decided[: -len(more_states)])
    reproduced = {"perceptron": means} | dict(
        zip(more_states, decided[-len(more_states) :], strict=True)
    )
    return contingency_table(
        "16.11",
        "the perceptron",
        {"perceptron": with_accuracy(published.LINEAR)},
        reproduced,
        [_picked(run)],
        {"perceptron": spread},
    )


def perceptron_swing(run: Run) -> Drawing:
    """Accuracy after each pass (p. 603)."""
    cells = orders(run)
    n_passes = len(cells[0]["test"])
    collection, within = run.cells(
        swings.swing, [(run.of(swings.PASSES, 50), 0, None), (run.of(30, 3), EVERY, None)]
    )
    measured: dict[str, Any] = {"lowest": np.min, "median": np.median, "highest": np.max}

    def summary(curve: list[float]) -> dict[str, float]:
        return {row: float(measure(curve)) for row, measure in measured.items()}

    statistics = {sample: mean_and_spread([summary(cell[sample]) for cell in cells])
            for sample in ("test", "training")}  # fmt: skip
    columns = {sample: means for sample, (means, _) in statistics.items()}
    columns["test, order of the collection"] = summary(collection["test"])
    columns[f"the same, every {EVERY} documents"] = summary(within["test"])
    reproduced: Cells = {
        row: {name: column[row] for name, column in columns.items()} for row in measured
    }
    spread = {
        row: {sample: spreads[row] for sample, (_, spreads) in statistics.items() if spreads}
        for row in measured
    }
    low, high = published.SWING
    curves = {"order of the collection": collection["test"], "a random order": cells[0]["test"]}

    def picture() -> Iterator[Any]:
        from thresher.report.plots import COLOURS, new_figure

        figure, grid = new_figure(2, n_columns=1, height=2.6)
        for axes, (name, curve), colour in zip(grid, curves.items(), COLOURS, strict=False):
            axes.axhspan(low, high, color="#999999", alpha=0.2, linewidth=0, label="the book's")
            axes.plot(np.arange(1, len(curve) + 1), curve, color=colour, linewidth=0.6)
            axes.set(title=name, ylabel="test accuracy (%)", ylim=(45, 100))
        grid[0].legend(frameon=False, fontsize=8, loc="lower right")
        grid[-1].set_xlabel("pass")
        yield figure

    lowest = [min(cell["test"]) for cell in cells]
    notes = [
        f"After each of {n_passes:,} passes, mean of {len(cells)} random orders. The book says 72 "
        "to 93 %, not on which documents, in which order or how often it looked. How far it "
        f"swings depends on the order: the lowest is {min(lowest):.1f} % in one and "
        f"{max(lowest):.1f} % in another. During a pass it is at times worse than at its end. On "
        "the training documents the highest is the book's, so its range was perhaps seen there.",
    ]
    return Drawing(
        NAME,
        "perceptron-swing",
        "Accuracy of the perceptron after each pass",
        {"lowest": dict.fromkeys(statistics, low), "highest": dict.fromkeys(statistics, high)},
        reproduced,
        notes,
        spread=spread,
        tolerance=1.0,
        best="none",
        picture=picture,
    )


# ---- in two dimensions -----------------------------------------------------------------------


def figure_16_8(run: Run) -> Drawing:
    """One correction: a positive document on the wrong side turns the boundary."""
    start, document = (-1.0, 3.0), (3.0, 0.5)
    (weights,) = run.cells(swings.one_correction, [(start, document)])
    vectors = {"x": np.array(document)} | {
        name: np.array(vector) for name, vector in weights.items()
    }
    scores = {name: float(vectors[name] @ vectors["x"]) for name in weights}
    reproduced = {
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
                boundary = "S" if name == "w" else "S′"
                _draw_boundary(axes, vector, 0.0, color=colour, label=boundary)
        axes.legend(frameon=False, loc="lower left")
        axes.set(xlim=(-4, 4), ylim=(-4, 4), aspect="equal", title="YES is where the arrow points")
        yield figure

    notes = ["x is a positive document; at first it scores below 0. The book prints the drawing."]
    return Drawing(
        NAME,
        "figure-16.8",
        "Figure 16.8: one error-correcting step",
        {},
        reproduced,
        notes,
        best="none",
        picture=picture,
    )


def _draw_boundary(axes: Any, weights: np.ndarray, threshold: float, **look: Any) -> Any:
    """Draw the line where the weighted sum is the threshold; nothing if both weights are zero."""
    square = float(weights @ weights)
    if not square:
        return None
    point = weights * (threshold / square)
    return axes.axline(point, point + np.array([-weights[1], weights[0]]), **look)


class Plane:
    """The training documents as points of two words."""

    def __init__(self, run: Run) -> None:
        (cell,) = run.cells(swings.points, [()])
        self.points, self.sizes, self.shares = (np.array(cell[name]) for name in cell)

    def accuracy(self, state: State) -> float:
        """Return the accuracy of a state in percent."""
        is_yes = state.decide(self.points)
        right = np.where(is_yes, self.shares, 1 - self.shares)
        return 100 * float(np.average(right, weights=self.sizes))

    def draw(self, axes: Any) -> None:
        axes.scatter(*self.points.T, s=4 + 2 * np.sqrt(self.sizes), c=self.shares, cmap="BrBG",
                     vmin=0, vmax=1, edgecolors="#666666", linewidths=0.4, zorder=3)  # fmt: skip
        axes.set(xlabel=PLANE[0], ylabel=PLANE[1], xlim=(-1.5, 8.5), ylim=(-1.5, 8.5))


def _state(numbers: list[int]) -> State:
    *weights, threshold = numbers
    return State(np.array(weights, float), threshold)


def figure_16_9(run: Run) -> Drawing:
    """A perceptron of two words: its weight vector, its boundary, its two regions."""
    plane = Plane(run)
    (states,) = run.cells(swings.plane_states, [(run.of(100, 10),)])
    state, book = _state(states[0]), _state([published.TWO_DIMENSIONS[name] for name in
                                             (*PLANE, THRESHOLD)])  # fmt: skip
    names = (*PLANE, THRESHOLD)
    reproduced = {name: {"weight": number} for name, number in zip(names, states[0], strict=True)}
    right, books = (plane.accuracy(drawn_state) for drawn_state in (state, book))
    same, spreads = sum(numbers == states[0] for numbers in states), np.std(states, axis=0, ddof=1)

    def picture() -> Iterator[Any]:
        from thresher.report.plots import COLOURS, new_figure

        figure, grid = new_figure(2, height=4.6)
        for axes, name, drawn_state in zip(
            grid, ("ours", "the book's"), (state, book), strict=True
        ):
            plane.draw(axes)
            _draw_boundary(
                axes, drawn_state.weights, drawn_state.threshold, color=COLOURS[3], linewidth=1.6
            )
            first, second = drawn_state.weights
            tip = 3 * drawn_state.weights / np.linalg.norm(drawn_state.weights)
            axes.annotate("", tip, (0, 0), arrowprops={"arrowstyle": "-|>", "linewidth": 1.6})
            weights = f"{first:.0f} cts {second:+.0f} mln > {drawn_state.threshold}"
            axes.set_title(f"{name}: YES where {weights}", fontsize=10)
            for text, x in (("NO", -1.8), ("YES", 6.5)):
                axes.text(x, 7.5, text)
            axes.set(xlim=(-2.5, 8.5), ylim=(-4.5, 8.5))
        yield figure

    notes = [
        "After one pass in the order of the collection, which is also the state at the end of "
        f"{same} of {len(states)} passes. It gets {right:.1f} % of the training "
        f"documents right, the book's {books:.1f} %. Tolerance 1. Drawn: every point with "
        "documents, the larger the more, green where all are earnings, brown where none is."
    ]
    return Drawing(
        NAME,
        "figure-16.9",
        "Figure 16.9: a perceptron in two dimensions",
        {name: {"weight": weight} for name, weight in published.TWO_DIMENSIONS.items()},
        reproduced,
        notes,
        spread={
            name: {"weight": float(deviation)}
            for name, deviation in zip(names, spreads, strict=True)
        },
        tolerance=1.0,
        best="none",
        picture=picture,
    )


def exercise_16_12(run: Run) -> Drawing:
    """The boundary as it moves: plotted to a .gif, one frame for each of some corrections."""
    plane = Plane(run)
    first = list(range(13))  # each of the first, then ever fewer
    last, n_later = run.of((2000, FRAMES - len(first)), (100, 8))
    later = np.unique(np.geomspace(14, last, n_later).astype(int))
    numbers = (*first, *later.tolist())
    (cells,) = run.cells(swings.moments, [(numbers,)])
    states = [_state(cell["state"]) for cell in cells]
    accuracies = [plane.accuracy(state) for state in states]
    reproduced = {
        f"after {number} corrections": {
            "documents met": cell["documents met"],
            **dict(zip((*PLANE, THRESHOLD), cell["state"], strict=True)),
            "accuracy %": accuracy,
        }
        for number, cell, accuracy in zip(numbers, cells, accuracies, strict=True)
        if number in (0, 1, 2, 5, 10, numbers[-1])
    }

    def picture() -> Iterator[Any]:
        from thresher.report.plots import COLOURS, new_figure

        figure, (axes,) = new_figure(height=4.8)
        plane.draw(axes)
        x, y = np.meshgrid(*(np.linspace(-1.5, 8.5, 101),) * 2)
        grid = np.stack([x.ravel(), y.ravel()], axis=1)
        drawn: list[Any] = []
        for number, state, accuracy in zip(numbers, states, accuracies, strict=True):
            for old in drawn:
                old.remove()
            side = state.decide(grid).reshape(x.shape)
            region = axes.contourf(x, y, side, levels=(0.5, 1), colors=COLOURS[2], alpha=0.15)
            line = _draw_boundary(axes, state.weights, state.threshold, color=COLOURS[3])
            drawn = [artist for artist in (region, line) if artist is not None]
            right = f"{accuracy:.1f} % of the training documents right"
            axes.set_title(f"{counted(number, 'correction')}: {right}", fontsize=10)
            yield figure

    return Drawing(
        NAME, "exercise-16.12", "Exercise 16.12: the perceptron's boundary moves", {}, reproduced,
        ["`--plot boundary.gif` shows it moving; any other kind of file has the last moment."],
        best="none", picture=picture, moves=True,
    )  # fmt: skip


def exercise_16_15(run: Run) -> Table:
    """Documents with the same vector and different labels, which no classifier can separate."""
    (cell,) = run.cells(measures.both_labels, [()])
    reproduced = {
        "all twenty words": {
            "vectors with both labels": cell["vectors"],
            "training documents": cell["documents"],
            "best possible %": cell["best"],
        }
    }
    notes = [
        "It suffices to show one vector that has both labels. Siding with the majority of each, "
        "the best that any method can do on the training documents is the last column."
    ]
    return Table(NAME, "exercise-16.15", "Exercise 16.15: earnings is not linearly separable", {},
                 reproduced, notes, best="none")  # fmt: skip
