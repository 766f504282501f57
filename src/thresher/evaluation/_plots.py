"""Pictures, where matplotlib is installed; it is imported when one is drawn, not before."""

from __future__ import annotations

import os
from typing import Any

from thresher.errors import ParameterError

COLOURS = ("#8c5a2b", "#2b6f8c", "#5a8c2b", "#8c2b5a")


def new_figure(
    n_axes: int = 1, height: float = 3.6, n_columns: int | None = None
) -> tuple[Any, list[Any]]:
    """Return a figure that belongs to no window, with axes side by side or in several rows."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ParameterError(
            "Pictures need matplotlib, which is not installed: pip install 'thresher[plots]'"
        ) from None
    n_columns = min(n_columns or n_axes, n_axes)
    n_rows = -(-n_axes // n_columns)
    figure = Figure(figsize=(4.8 * n_columns, height * n_rows), layout="constrained")
    axes = [figure.add_subplot(n_rows, n_columns, place) for place in range(1, n_axes + 1)]
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)
        one.grid(alpha=0.25)
    return figure, axes


def save_figure(figure: Any, path: str | os.PathLike[str]) -> None:
    """Write a figure in the format that the file's name asks for, always with the same bytes."""
    from matplotlib import rc_context

    metadata = {"Date": None} if os.fspath(path).endswith(".svg") else None
    try:
        with rc_context({"svg.hashsalt": "thresher"}):  # else names in it are random
            figure.savefig(path, dpi=150, metadata=metadata)
    except (OSError, ValueError) as problem:
        raise ParameterError(
            f"{path}: the picture cannot be written ({problem}); give a file like plot.png or "
            "plot.svg in a folder that exists."
        ) from None
