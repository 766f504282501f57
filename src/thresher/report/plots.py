"""Plots of results with matplotlib, which is imported when the first is drawn."""

from __future__ import annotations

import os
from functools import singledispatch
from typing import Any

from thresher.errors import ParameterError, missing_extra
from thresher.evaluation.names import measure_title
from thresher.experiments.comparison import MEASURES, Comparison
from thresher.experiments.curves import LearningCurve
from thresher.experiments.progressive import ProgressiveValidation
from thresher.files import check_writable, replace_file

COLOURS = ("#8c5a2b", "#2b6f8c", "#5a8c2b", "#8c2b5a")


@singledispatch
def plot(result: Any, path: str | os.PathLike[str]) -> None:
    """Write a plot of a result to a file; needs matplotlib.

    Parameters
    ----------
    result : Comparison, LearningCurve or ProgressiveValidation
        As `compare`, `learning_curve`, `feature_curve` and `progressive_validation` return them.
    path : path
        The picture to write; the file name ends in its format, such as .png.
    """
    kinds = ", ".join(sorted(kind.__name__ for kind in plot.registry if kind is not object))
    raise ParameterError(f"A {type(result).__name__} cannot be drawn; these can: {kinds}.")


@plot.register(Comparison)
def _plot_comparison(comparison: Comparison, path: str | os.PathLike[str]) -> None:
    """Draw the mean of each result with its standard error."""
    names = list(comparison.results)[::-1]
    figure, axes = new_figure(len(MEASURES), height=1.2 + 0.35 * len(names))
    for axis, measure in zip(axes, MEASURES, strict=True):
        best = comparison.best[measure]
        for height, name in enumerate(names):
            result = comparison.results[name]
            axis.errorbar(
                100 * result.mean(measure), height, xerr=100 * result.standard_error(measure),
                fmt="o", color=COLOURS[0 if name == best else 1], capsize=3,
            )  # fmt: skip
        axis.set_yticks(range(len(names)), names if axis is axes[0] else [""] * len(names))
        axis.set(xlabel=f"{measure_title(measure)} (%)", ylim=(-0.6, len(names) - 0.4))
    save_figure(figure, path)


@plot.register(LearningCurve)
def _plot_curve(curve: LearningCurve, path: str | os.PathLike[str]) -> None:
    """Draw F1, error and mistakes."""
    figure, axes = new_figure(3 if curve.mistakes else 2)
    panels = ("micro_f1", "macro_f1"), ("micro_error", "training_error")
    for axis, names in zip(axes, panels, strict=False):
        for colour, measure in zip(COLOURS, names, strict=False):
            if measure in curve.measures:
                mean, error = 100 * curve.mean(measure), 100 * curve.standard_error(measure)
                style = {"color": colour, "marker": "o", "label": measure_title(measure)}
                axis.errorbar(curve.numbers, mean, error, **style)
        axis.set(xlabel=curve.name, xscale="log" if curve.name == "features" else "linear")
        axis.legend(frameon=False)
    axes[0].set_ylabel("F1 (%)")
    axes[1].set_ylabel("wrong decisions (%)")
    for passes in curve.mistakes:
        axes[2].plot(range(1, len(passes) + 1), passes, color=COLOURS[0], alpha=0.6)
        axes[2].set(xlabel="pass", ylabel="mistakes while learning", ylim=(0, None))
    save_figure(figure, path)


@plot.register(ProgressiveValidation)
def _plot_stream(stream: ProgressiveValidation, path: str | os.PathLike[str]) -> None:
    """Draw micro-F1 and mistakes against the number of documents."""
    figure, (left, right) = new_figure(2)
    n = stream.n_documents
    left.plot(n, 100 * stream.batch_f1, alpha=0.35, color=COLOURS[0], label="batch")
    left.plot(n, 100 * stream.f1, color=COLOURS[0], label="so far")
    left.set(xlabel="documents", ylabel="micro-F1 (%)")
    left.legend(frameon=False)
    right.plot(n, stream.mistakes, color=COLOURS[1])
    right.set(xlabel="documents", ylabel="documents decided wrongly")
    save_figure(figure, path)


def check_plot(path: str | os.PathLike[str]) -> None:
    """Raise an error unless a picture can be written to `path`."""
    figure, _ = new_figure()
    check_writable(path)
    end = os.path.splitext(path)[1].removeprefix(".").lower()
    known = figure.canvas.get_supported_filetypes()
    if end not in known:
        raise ParameterError(
            f"{path}: is not the name of a picture; it must end in .png, .svg or another of "
            f"{', '.join(sorted(known))}."
        )


def new_figure(
    n_axes: int = 1, height: float = 3.6, n_columns: int | None = None
) -> tuple[Any, list[Any]]:
    """Return a figure without a window, and its axes in one or several rows."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise missing_extra("matplotlib", "plots", "Pictures") from None
    n_columns = min(n_columns or n_axes, n_axes)
    n_rows = -(-n_axes // n_columns)
    figure = Figure(figsize=(4.8 * n_columns, height * n_rows), layout="constrained")
    axes = [figure.add_subplot(n_rows, n_columns, number) for number in range(1, n_axes + 1)]
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(alpha=0.25)
    return figure, axes


def save_figure(figure: Any, path: str | os.PathLike[str]) -> None:
    """Write a figure in the format of the file name; equal figures give equal bytes."""
    from matplotlib import rc_context

    metadata = {"Date": None} if os.fspath(path).endswith(".svg") else None
    try:
        # Without a salt, identifiers in an SVG file are random.
        with replace_file(path) as temporary, rc_context({"svg.hashsalt": "thresher"}):
            figure.savefig(temporary, dpi=150, metadata=metadata)
    except ValueError as problem:
        raise ParameterError(
            f"{path}: the picture cannot be written ({problem}); name it like plot.png or plot.svg."
        ) from None
