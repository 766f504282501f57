"""Figures of reproductions, in the library's manner."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.animation import PillowWriter

from thresher.errors import ParameterError
from thresher.files import replace_file
from thresher.report.plots import COLOURS, new_figure

if TYPE_CHECKING:
    from thresher_papers._result import Figure, Table

GREY = "#999999"
FEW = 6  # so many places of an axis are all named
MARKERS = "osD^vP*X<>"
LINES = ("-", "--", "-.", ":")


def _look(number: int, *, points: bool) -> dict[str, Any]:
    """Return colour and marker or line, which differ also for those who do not see colours."""
    colour = COLOURS[number % len(COLOURS)]
    if points:
        return {"color": colour, "marker": MARKERS[number % len(MARKERS)], "linestyle": "none"}
    # Shifted by one when the colours begin anew, for the two are of one number.
    return {"color": colour, "linestyle": LINES[(number + number // len(COLOURS)) % len(LINES)]}


def draw_agreement(table: Table) -> Any:
    """Draw each cell as a point: published across, ours upwards, the tolerance as a band."""
    cells = table.differences(beyond=-1)  # also those that are equal
    if not cells:
        raise ParameterError(
            f"{table.paper} {table.item} has no published values to draw ours against; print it."
        )
    figure, (axes,) = new_figure(height=4.8)
    values = [value for cell in cells for value in (cell.published, cell.ours)]
    margin = 0.05 * (max(values) - min(values)) or 1.0
    low, high = min(values) - margin, max(values) + margin
    axes.plot([low, high], [low, high], color=GREY, linewidth=1)
    below, above = ([low + d, high + d] for d in (-table.tolerance, table.tolerance))
    axes.fill_between([low, high], below, above, color=GREY, alpha=0.2, linewidth=0)
    for i, column in enumerate(table.columns):
        own = [cell for cell in cells if cell.column == column]
        if own:
            _, _, published, ours, spread = zip(*own, strict=True)
            look = _look(i, points=True) | {"markersize": 4, "elinewidth": 0.8}
            axes.errorbar(published, ours, yerr=np.nan_to_num(spread), **look, label=column)
    axes.set(xlabel="published", ylabel="ours", xlim=(low, high), ylim=(low, high))
    axes.set_title(table.title, fontsize=9)
    axes.legend(frameon=False, fontsize=8)
    return figure


def draw_panels(shown: Figure) -> Any:
    """Draw each panel with its curves; what the paper printed is hollow."""
    figure, grid = new_figure(max(1, len(shown.ours)), n_columns=shown.n_columns)
    names = list(dict.fromkeys(name for curves in shown.ours.values() for name in curves))
    for axes, (panel, curves) in zip(grid, shown.ours.items(), strict=False):
        width = 0.8 / len(names) if shown.bars else 0.0
        shift = {name: width * (i - (len(names) - 1) / 2) for i, name in enumerate(names)}
        for name, curve in curves.items():
            look = _look(names.index(name), points=shown.points)
            if shown.bars:
                x = np.add(curve.x, shift[name])
                axes.bar(x, curve.y, width, color=look["color"], label=name)
            else:
                axes.plot(curve.x, curve.y, **look, linewidth=1.3, label=name)
        for name, curve in shown.published.get(panel, {}).items():
            look = _look(names.index(name), points=True) | {"fillstyle": "none"}
            if shown.bars:
                look["color"] = "black"
            x = np.add(curve.x, shift[name])
            axes.plot(x, curve.y, **look, label=f"{name} (published)")
        if shown.bars:
            axes.set_xticks(range(len(shown.bars)), shown.bars)
        if shown.points:
            axes.axline((50, 50), slope=1, color=GREY, linewidth=1, zorder=0)
        if shown.log_x:
            axes.set_xscale("log")
            places = next(iter(curves.values())).x
            if len(places) <= FEW:
                axes.set_xticks(places, [f"{x:,g}" for x in places])
                axes.minorticks_off()
        axes.set(title=panel, xlabel=shown.x_label, ylabel=shown.y_label)
    if shown.bars:  # which leave no room beside them
        figure.legend(*grid[0].get_legend_handles_labels(), loc="outside lower center", ncols=2,
                      frameon=False, fontsize=8)  # fmt: skip
    else:
        grid[0].legend(frameon=False, fontsize=8)
    figure.suptitle(shown.title, fontsize=10, wrap=True)
    return figure


def save_animation(frames: Iterator[Any], path: str | os.PathLike[str]) -> None:
    """Write figures as the frames of a GIF that repeats for ever."""
    writer = PillowWriter(fps=4)
    with replace_file(path) as temporary, writer.saving(next(frames), temporary, dpi=100):
        writer.grab_frame()
        for _ in frames:
            writer.grab_frame()
