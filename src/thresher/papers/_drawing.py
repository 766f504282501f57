"""Figures of reproductions; matplotlib is imported when one is drawn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from thresher.errors import ParameterError

if TYPE_CHECKING:
    from thresher.papers._result import Figure, Table

__all__ = ["draw_agreement", "draw_panels"]

# Colours that people who do not see all colours can tell apart (Okabe and Ito).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
MARKERS = "osD^vP*X<>"
LINES = ("-", "--", "-.", ":")


def _pyplot() -> Any:
    try:
        import matplotlib
    except ImportError as error:
        raise ParameterError(
            'Drawing needs matplotlib, which is not installed: pip install "thresher[plots]".'
        ) from error
    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams.update(
        {
            "svg.hashsalt": "thresher",  # the same figure gives the same bytes
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.alpha": 0.3,
            "font.size": 9,
        }
    )
    return pyplot


def _save(figure: Any, path: Path) -> Path:
    if path.suffix not in (".svg", ".png"):
        raise ParameterError(f"The figure's file is {path.name!r}; it must end in .svg or .png.")
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = {"Date": None} if path.suffix == ".svg" else {}
    figure.savefig(path, metadata=metadata, dpi=120, bbox_inches="tight")
    _pyplot().close(figure)
    return path


def draw_agreement(table: Table, path: Path) -> Path:
    """Draw each cell as a point: published across, ours upwards, the tolerance as a band."""
    cells = table.differences()
    if not cells:
        raise ParameterError(
            f"{table.paper} {table.item} has no published values to draw ours against; print it."
        )
    pyplot = _pyplot()
    figure, axes = pyplot.subplots(figsize=(6, 6))
    values = [value for cell in cells for value in (cell.published, cell.ours)]
    low, high = min(values) - 3, max(values) + 3
    axes.plot([low, high], [low, high], color="#999999", linewidth=1)
    band = [value - table.tolerance for value in (low, high)]
    top = [value + table.tolerance for value in (low, high)]
    axes.fill_between([low, high], band, top, color="#999999", alpha=0.2, linewidth=0)
    for i, column in enumerate(table.columns):
        own = [cell for cell in cells if cell.column == column]
        if own:
            axes.errorbar(
                [cell.published for cell in own],
                [cell.ours for cell in own],
                yerr=[0.0 if cell.spread != cell.spread else cell.spread for cell in own],
                fmt=MARKERS[i % len(MARKERS)],
                color=COLOURS[i % len(COLOURS)],
                markersize=4,
                elinewidth=0.8,
                label=column,
            )
    axes.set(xlabel="published", ylabel="ours", xlim=(low, high), ylim=(low, high))
    axes.set_title(table.title)
    axes.legend(frameon=False, fontsize=8)
    return _save(figure, path)


def draw_panels(shown: Figure, path: Path) -> Path:
    """Draw each panel with its curves; what the paper printed is hollow."""
    pyplot = _pyplot()
    n_columns = min(shown.n_columns, max(1, len(shown.ours)))
    n_rows = -(-max(1, len(shown.ours)) // n_columns)
    size = (4.2 * n_columns, 3.2 * n_rows)
    figure, grid = pyplot.subplots(n_rows, n_columns, figsize=size, squeeze=False)
    for axes in grid.flat[len(shown.ours) :]:
        axes.set_visible(False)
    names = list(dict.fromkeys(name for curves in shown.ours.values() for name in curves))
    for axes, (panel, curves) in zip(grid.flat, shown.ours.items(), strict=False):
        for name, curve in curves.items():
            _draw_curve(axes, shown, name, curve, names.index(name))
        for name, curve in shown.published.get(panel, {}).items():
            i = names.index(name)
            axes.plot(
                curve.x,
                curve.y,
                MARKERS[i % len(MARKERS)],
                color=COLOURS[i % len(COLOURS)],
                fillstyle="none",
                markersize=6,
                label=f"{name} (published)",
            )
        if shown.points:
            axes.axline((50, 50), slope=1, color="#999999", linewidth=1, zorder=0)
        if shown.log_x:
            axes.set_xscale("log")
        axes.set(title=panel, xlabel=shown.x_label, ylabel=shown.y_label)
    grid.flat[0].legend(frameon=False, fontsize=8)
    figure.suptitle(shown.title)
    figure.tight_layout()
    return _save(figure, path)


def _draw_curve(axes: Any, shown: Figure, name: str, curve: Any, i: int) -> None:
    colour = COLOURS[i % len(COLOURS)]
    if shown.points:
        axes.plot(curve.x, curve.y, MARKERS[i % len(MARKERS)], color=colour, label=name)
    else:
        style = LINES[i % len(LINES)]
        axes.plot(curve.x, curve.y, style, color=colour, linewidth=1.3, label=name)
