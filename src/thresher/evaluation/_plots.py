"""Pictures, where matplotlib is installed; it is imported when one is drawn, not before."""

from __future__ import annotations

import os
from typing import Any

from thresher.errors import ParameterError

COLOURS = ("#8c5a2b", "#2b6f8c", "#5a8c2b", "#8c2b5a")


def new_figure(n_axes: int = 1, height: float = 3.6) -> tuple[Any, list[Any]]:
    """Return a figure with axes side by side, that belongs to no window."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ParameterError(
            "Pictures need matplotlib, which is not installed: pip install 'thresher[plots]'"
        ) from None
    figure = Figure(figsize=(4.8 * n_axes, height), layout="constrained")
    axes = figure.subplots(1, n_axes, squeeze=False)[0].tolist()
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)
        one.grid(alpha=0.25)
    return figure, axes


def save_figure(figure: Any, path: str | os.PathLike[str]) -> None:
    """Write a figure in the format that the name of the file asks for."""
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as problem:
        raise ParameterError(
            f"{path}: the picture cannot be written ({problem}); give a file like plot.png or "
            "plot.svg in a folder that exists."
        ) from None
