"""Figures 2 to 4: precision by topic and by number of rounds, and the weight of concepts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from thresher.errors import counted
from thresher_papers._result import Cells, Curve, Figure, Table
from thresher_papers._running import Run
from thresher_papers.cai_hofmann_2003.published import SHARES
from thresher_papers.cai_hofmann_2003.tables import (
    MEDLINE,
    N_SEEDS,
    NAME,
    REUTERS,
    SMALL,
    SMALL_MEDLINE,
    Plan,
    boosted,
)

MORE_MEMBERSHIPS = 0.001
ROUNDS = (200, 500, 1000, 2000, 5000)
# What figure 3 may show: all measures of table 1 that say how MR orders documents.
PANELS = {
    f"{average}, {column}": (average, column)
    for average, columns in {
        "macro": ("MaxF1", "BEP", "AvgP", "AdF1"),
        "micro": ("BEP", "AvgP", "AdF1"),
    }.items()
    for column in columns
}


def both(run: Run) -> dict[str, tuple[Plan, tuple[int, ...]]]:
    """Return both collections with the numbers of concepts in tables 1 and 2: all K, and 1000."""
    reuters, medline = run.of(REUTERS, SMALL), run.of(MEDLINE, SMALL_MEDLINE)
    return {"Reuters-21578": (reuters, reuters.sizes), "MEDLINE": (medline, medline.sizes[-1:])}


def _of_topics(topics: Mapping[str, list[float]], words: Mapping[str, list[float]]) -> Curve:
    """Return average precision with words alone, ascending, and with concepts."""
    names = sorted(topics, key=lambda name: words[name][1])
    return Curve(tuple(words[name][1] for name in names), tuple(topics[name][1] for name in names))


def figure_2(run: Run) -> Figure:
    """Average precision of AdaBoost.MH for each category, with and without concepts."""
    reproduced, notes = {}, []
    for name, (plan, sizes) in both(run).items():
        measured = boosted(run, plan, {"term": (), "concepts": sizes})
        words, mixed = (measured["MH", row][0]["topics"] for row in ("term", "concepts"))
        reproduced[name] = {"categories": _of_topics(mixed, words)}
        gains = {topic: mixed[topic][1] - words[topic][1] for topic in words}
        ranked = sorted(gains, key=gains.__getitem__)
        largest, smallest = (
            ", ".join(
                f"{topic} ({gains[topic]:+.1f}, {words[topic][0]} documents)" for topic in group
            )
            for group in (ranked[:-4:-1], ranked[:3])
        )
        notes.append(
            f"{name}: concepts help in {sum(gain > 0 for gain in gains.values())} of {len(gains)} "
            f"categories, and harm in {sum(gain < 0 for gain in gains.values())}. Most is gained "
            f"in {largest}; least in {smallest}."
        )
    notes.append(
        "The caption of the figure says accuracies, its text average precision, which is drawn; "
        "MEDLINE stands for OHSUMED 1987."
    )
    title = "Figure 2: average precision of AdaBoost.MH, category by category"
    axes: dict[str, Any] = {
        "x_label": "average precision with words",
        "y_label": "with words and concepts",
    }
    return Figure(NAME, "figure-2", title, {}, reproduced, notes, points=True, **axes)


def by_size(run: Run) -> Table:
    """The categories of figure 2 by their number of training documents."""
    reproduced: Cells = {}
    for name, (plan, sizes) in both(run).items():
        measured = boosted(run, plan, {"term": (), "concepts": sizes})
        words, mixed = (measured["MH", row][0]["topics"] for row in ("term", "concepts"))
        ranked = sorted(words, key=lambda topic: words[topic][0])
        for quarter in np.array_split(ranked, 4):
            before, after = (
                [precisions[topic][1] for topic in quarter] for precisions in (words, mixed)
            )
            gains = np.subtract(after, before)
            row = f"{name}, {words[quarter[0]][0]} to {words[quarter[-1]][0]} training documents"
            reproduced[row] = {
                "categories": len(quarter),
                "AvgP with words": float(np.mean(before)),
                "with concepts": float(np.mean(after)),
                "mean gain": float(gains.mean()),
                "median gain": float(np.median(gains)),
                "largest loss": float(-gains.min()),
            }
    note = "Average precision of AdaBoost.MH, a quarter of the categories in each row."
    title = "What concepts give to rare and to frequent categories"
    return Table(NAME, "by-size", title, {}, reproduced, [note], best="none")


def figure_3(run: Run) -> Figure:
    """AdaBoost.MR with words and with the concepts of one K, by number of rounds."""
    title = "Figure 3: AdaBoost.MR on Reuters-21578 as rounds grow"
    return _as_rounds_grow(run, "figure-3", title, N_SEEDS)


def more_memberships(run: Run) -> Figure:
    """Figure 3 with a lower limit of P(z|d)."""
    title = f"Figure 3 with memberships from {MORE_MEMBERSHIPS} on"
    return _as_rounds_grow(run, "more-memberships", title, 1, (MORE_MEMBERSHIPS,))


def _as_rounds_grow(
    run: Run, item: str, title: str, n_seeds: int, how: tuple[float, ...] = ()
) -> Figure:
    stages, sizes = run.of(ROUNDS, (20, 40, 80)), run.of((500,), (40,))
    plan, last = run.of(REUTERS, SMALL)._replace(stages=stages), f"terms and K = {sizes[0]}"
    measured = boosted(run, plan, {"terms": ()}, 1, ("MR",))
    measured |= boosted(run, plan, {last: sizes}, n_seeds, ("MR",), how)

    def starts(name: str, average: str, column: str) -> np.ndarray:
        runs = (cell["stages"] for cell in measured["MR", name])
        return np.array([[stage[average][column] for stage in run_stages] for run_stages in runs])

    reproduced = {
        panel: {name: Curve(stages, tuple(starts(name, *of).mean(0))) for _, name in measured}
        for panel, of in PANELS.items()
    }
    errors = (
        f"{name} {', '.join(f'{x:.1f}' for x in starts(name, 'macro', 'Err').mean(0))}"
        for _, name in measured
    )
    apart = (
        f"{panel} {np.ptp(starts(last, *of), axis=0).max():.1f}" for panel, of in PANELS.items()
    )
    notes = [
        "Which measures the paper draws cannot be read from its text: here are all that do not "
        f"hang on MR's zero. The error at zero, after {', '.join(map(str, stages))} rounds: "
        f"{'; '.join(errors)}.",
    ]
    if n_seeds > 1:
        notes.append(
            f"With concepts, means over {counted(len(measured['MR', last]), 'start')}; after as "
            f"many rounds, two of them are up to so many points apart: {', '.join(apart)}."
        )
    axes: dict[str, Any] = {"x_label": "rounds", "y_label": "percent", "log_x": True}
    return Figure(NAME, item, title, {}, reproduced, notes, n_columns=4, **axes)


def figure_4(run: Run) -> Figure:
    """The share of the weight on concepts by number of rounds, mean over the categories."""
    reproduced, notes = {}, []
    for name, (plan, sizes) in both(run).items():
        measured = boosted(run, plan, {"concepts": sizes})
        rounds = tuple(range(1, plan.stages[-1] + 1))
        reproduced[name] = {
            f"AdaBoost.{variant}": Curve(rounds, tuple(measured[variant, "concepts"][0]["shares"]))
            for variant in ("MH", "MR")
        }
        ends = (
            f"{variant} from {curve.y[0]:.0f} to {curve.y[-1]:.0f} %"
            for variant, curve in reproduced[name].items()
        )
        first, last = SHARES[name]
        paper = "The paper" if name == "Reuters-21578" else "The paper, of OHSUMED 1987"
        notes.append(f"{name}: {', '.join(ends)}. {paper}: from {first} to {last} %.")
    notes.append("The paper does not say of which variant its figure is.")
    title = "Figure 4: weight on concepts as rounds grow"
    axes: dict[str, Any] = {"x_label": "rounds", "y_label": "percent of Σ|α|"}
    return Figure(NAME, "figure-4", title, {}, reproduced, notes, **axes)
