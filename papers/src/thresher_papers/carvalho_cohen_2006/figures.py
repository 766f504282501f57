"""Figures 2 to 8: learning curves, and errors with few features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from thresher.errors import counted
from thresher_papers._result import Curve, Drawing, Figure
from thresher_papers._running import Run
from thresher_papers.carvalho_cohen_2006 import published
from thresher_papers.carvalho_cohen_2006.cells import quiet_solvers
from thresher_papers.carvalho_cohen_2006.curves import curve
from thresher_papers.carvalho_cohen_2006.selection import errors, importances
from thresher_papers.carvalho_cohen_2006.tables import NAME

__all__ = ["figure_2", "figure_3", "figure_4", "figure_5", "figure_6", "figure_7", "figure_8"]

DRAWN = {"MBW": "MBW", "v-MBW": "v-MBW", "v-P": "v-Perceptron", "SVM": "SVM"}
QUICK_SETS = ("MovieReviews",)
FOUR_SETS = ("Spam", "Reuters", "20newsgroup", "MovieReviews")
UNPRINTED = "The paper draws the curves and does not print their values."


def _curves(
    item: str, title: str, sets: Sequence[str], kind: str, y_label: str, run: Run
) -> Figure:
    sets = run.of(sets, QUICK_SETS)
    keys = [(name, learner, run.seed) for name in sets for learner in DRAWN]
    with quiet_solvers():
        cells = iter(run.cells(curve, keys))
    panels = {}
    for name in sets:
        measured = {label: next(cells) for label in DRAWN.values()}
        panels[name] = {
            label: Curve(tuple(cell["examples"]), tuple(cell[kind]))
            for label, cell in measured.items()
        }
    ends = "; ".join(
        f"{name}: "
        + ", ".join(f"{label} {drawn_curve.y[-1]:.1f}" for label, drawn_curve in curves.items())
        for name, curves in panels.items()
    )
    notes = [
        f"{UNPRINTED} A random fifth is held out; the SVM is trained anew whenever the examples "
        "have grown by a tenth. Mistakes are counted before an example is learned.",
        f"At the end of the pass: {ends}.",
    ]
    axes: dict[str, Any] = {
        "x_label": "examples",
        "y_label": y_label,
        "n_columns": 3 if len(sets) > 4 else 2,
    }
    return Figure(NAME, item, title, {}, panels, notes, **axes)


figure_2 = partial(_curves, "figure-2", "Figure 2: learning curves", published.TEXT, "f1", "F1")
figure_3 = partial(_curves, "figure-3", "Figure 3: test error", FOUR_SETS, "error", "errors, %")
figure_4 = partial(
    _curves, "figure-4", "Figure 4: mistakes while learning", FOUR_SETS, "mistakes",
    "mistakes so far",
)  # fmt: skip

# ---- figures 5 to 8: Extremal Feature Selection -------------------------------------------------

SPLITS = 5
KEPT, SHARE, SHOWN = 100, 0.9, 12
STOP_WORDS = ("as", "you", "what", "they", "are", "do", "was", "be", "no", "have", "to", "not")


def figure_5(run: Run) -> Drawing:
    """Features that Extremal Feature Selection takes from a model of newsgroup posts."""
    name = run.of("20newsgroup", "MovieReviews")
    (ranked,) = run.cells(importances, [(name, run.seed)])
    n_top = round(KEPT * SHARE)
    heights = [height for _, height, _ in ranked]
    lowest = ranked[n_top - KEPT :]
    reproduced = {word: {"I": height, "in % of posts": 100 * share}
            for word, height, share in [*ranked[:SHOWN], *lowest]}  # fmt: skip
    rank = {word: i for i, (word, _, _) in enumerate(ranked, 1)}
    ranks = [rank[word] for word in STOP_WORDS if word in rank]
    low, high = (
        100 * np.mean([share for *_, share in features]) for features in (lowest, ranked[:n_top])
    )
    notes = [
        f"Of {len(ranked):,} words met in one pass of MBW over four fifths of {name}, Extremal "
        f"Feature Selection keeps, for K = {KEPT} and P = {SHARE:g}, the first {n_top} by |u - v| "
        f"and the last {KEPT - n_top}. Listed are the first {SHOWN} and the last, with "
        "I = |u - v|.",
        f"The paper calls the light ones typical stop words and names {len(STOP_WORDS)} "
        f"({', '.join(STOP_WORDS)}). Of these, the median rank here is {np.median(ranks):,.0f}, "
        f"the lightest is {max(ranks):,}th. The {KEPT - n_top} lightest are in {low:.0f} % of the "
        f"posts in the mean, the {n_top} heaviest in {high:.0f} %.",
    ]

    def picture() -> Iterator[Any]:
        from thresher.report.plots import COLOURS, new_figure

        figure, (axes,) = new_figure(height=4.2)
        x = np.arange(1, len(heights) + 1)
        axes.plot(x, heights, color="#999999", linewidth=1)
        ends = {"T, the heaviest": slice(0, n_top), "B, the lightest": slice(n_top - KEPT, None)}
        for colour, (label, features) in zip(COLOURS, ends.items(), strict=False):
            style = {"color": colour, "marker": "o", "markersize": 3, "linestyle": "none"}
            axes.plot(x[features], heights[features], **style, label=f"{label}: {len(x[features])}")
        marked = [*range(0, SHOWN, 4), *range(len(heights) + n_top - KEPT, len(heights), 3)]
        for number, i in enumerate(marked):
            shift = (0, -24 - 16 * (number % 2)) if i < n_top else (-70, 14 * (number % 4) + 4)
            axes.annotate(ranked[i][0], (x[i], heights[i]), shift, textcoords="offset points",
                          fontsize=8, arrowprops={"arrowstyle": "-", "linewidth": 0.4})  # fmt: skip
        axes.set(
            xscale="log",
            yscale="symlog",
            xlabel="features, by rank",
            ylabel="|u - v|",
            ylim=(-0.2, None),
        )
        axes.legend(frameon=False, fontsize=8)
        figure.suptitle(f"Figure 5: the features that EFS selects ({name})", fontsize=10)
        yield figure

    title = f"Figure 5: which features Extremal Feature Selection takes, {name}"
    return Drawing(NAME, "figure-5", title, {}, reproduced, notes, best="none", picture=picture)


def _selection(
    item: str, title: str, sets: Sequence[str], quick: str, names: Sequence[str], run: Run
) -> Figure:
    sets, seeds = run.of(sets, (quick,)), run.seeds(SPLITS)
    cells = iter(run.cells(errors, [(name, seed) for name in sets for seed in seeds]))
    panels: dict[str, dict[str, Any]] = {}
    for name in sets:
        splits = [next(cells) for _ in seeds]
        x = tuple(map(float, splits[0]["kept"]))
        panels[name] = {
            f"EFS, {kind}" if kind.startswith("P") else kind: Curve(
                x, tuple(np.mean([split[kind] for split in splits], axis=0).tolist())
            )
            for kind in names
        }
    note = f"{UNPRINTED} Mean of {counted(len(seeds), 'random split')}, a fifth held out in each."
    notes = [note, _where_light_features_help(panels)]
    axes: dict[str, Any] = {"x_label": "features kept", "y_label": "errors, %", "log_x": True}
    return Figure(NAME, item, title, {}, panels, notes, **axes)


def light_gain(curves: dict[str, Any], fewest_features: float = 1000) -> float:
    """Return the error (%) with P = 1 less that with P = 0.9, if many features are kept."""
    all_top, few_low = curves["EFS, P = 1"], curves["EFS, P = 0.9"]
    pairs = zip(all_top.x[:-1], all_top.y, few_low.y, strict=False)
    saved = [without - with_low for x, without, with_low in pairs if x >= fewest_features]
    return float(np.mean(saved)) if saved else 0.0


def _where_light_features_help(panels: dict[str, dict[str, Any]]) -> str:
    gains = ", ".join(f"{name} {light_gain(curves):+.1f}" for name, curves in panels.items())
    return (
        "What the tenth of light features saves (P = 0.9 against P = 1), in points of error, where "
        f"1,000 features or more are kept but not all: {gains}."
    )


EFS = "Extremal Feature Selection"
COMPARED = ("P = 0.9", "P = 1", "IG", "CHI", "IG first")
figure_6 = partial(
    _selection, "figure-6", f"Figure 6: {EFS}", ("20newsgroup",), "MovieReviews",
    ("P = 0.7", "P = 0.8", "P = 0.9", "P = 1"),
)  # fmt: skip
figure_7 = partial(
    _selection, "figure-7", f"Figure 7: {EFS}, information gain and chi-square",
    ("MovieReviews", "Reuters", "Spam", "Scam"), "MovieReviews", COMPARED,
)  # fmt: skip
figure_8 = partial(
    _selection, "figure-8", f"Figure 8: {EFS}, information gain and chi-square",
    ("20newsgroup", "Ads"), "Ads", COMPARED,
)  # fmt: skip
