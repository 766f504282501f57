"""Figures of reproductions, in the style of the library's plots."""

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
MOST_TICKS = 6  # up to this number of values, every value of an axis has a tick
MARKERS = "osD^vP*X<>"
LINES = ("-", "--", "-.", ":")


def _look(number: int, *, points: bool) -> dict[str, Any]:
    """Return colour and marker or line style, which differ without colours too."""
    colour = COLOURS[number % len(COLOURS)]
    if points:
        return {"color": colour, "marker": MARKERS[number % len(MARKERS)], "linestyle": "none"}
    # Shifted by one when the colours repeat, as there are as many styles as colours.
    return {"color": colour, "linestyle": LINES[(number + number // len(COLOURS)) % len(LINES)]}


def draw_agreement(table: Table) -> Any:
    """Draw each cell as a point: published value on x, reproduced on y, tolerance as a band."""
    cells = table.differences(beyond=-1)  # equal cells too
    if not cells:
        raise ParameterError(
            f"{table.paper} {table.item} has no published values to compare with in a plot; "
            "print it instead."
        )
    figure, (axes,) = new_figure(height=4.8)
    values = [value for cell in cells for value in (cell.published, cell.reproduced)]
    margin = 0.05 * (max(values) - min(values)) or 1.0
    low, high = min(values) - margin, max(values) + margin
    axes.plot([low, high], [low, high], color=GREY, linewidth=1)
    below, above = ([low + d, high + d] for d in (-table.tolerance, table.tolerance))
    axes.fill_between([low, high], below, above, color=GREY, alpha=0.2, linewidth=0)
    for i, column in enumerate(table.columns):
        column_cells = [cell for cell in cells if cell.column == column]
        if column_cells:
            _, _, published, reproduced, spread = zip(*column_cells, strict=True)
            look = _look(i, points=True) | {"markersize": 4, "elinewidth": 0.8}
            axes.errorbar(published, reproduced, yerr=np.nan_to_num(spread), **look, label=column)
    axes.set(xlabel="published", ylabel="ours", xlim=(low, high), ylim=(low, high))
    axes.set_title(table.title, fontsize=9)
    axes.legend(frameon=False, fontsize=8)
    return figure


def draw_panels(shown: Figure) -> Any:
    """Draw each panel with its curves; published values have hollow markers."""
    figure, grid = new_figure(max(1, len(shown.reproduced)), n_columns=shown.n_columns)
    names = list(dict.fromkeys(name for curves in shown.reproduced.values() for name in curves))
    for axes, (panel, curves) in zip(grid, shown.reproduced.items(), strict=False):
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
            ticks = next(iter(curves.values())).x
            if len(ticks) <= MOST_TICKS:
                axes.set_xticks(ticks, [f"{x:,g}" for x in ticks])
                axes.minorticks_off()
        axes.set(title=panel, xlabel=shown.x_label, ylabel=shown.y_label)
    if shown.bars:  # the bars leave no room for a legend
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
