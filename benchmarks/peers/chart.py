"""The chart that the README shows: four jobs, a bar for each contender."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.peers.jobs import JOBS
from benchmarks.peers.report import OURS, Result

# A grey that can be read on white and on black, and a colour that stands out on both.
INK, OTHERS, ACCENT = "#737b85", "#9aa4af", "#e0782f"
PANELS = (
    ("counts", "Reuters, new words", "Text to counts"),
    ("train", "", "Raw file to saved model"),
    ("predict", "", "Raw file to written predictions"),
    ("document", "", "One document at a time (log scale)"),
)

Bar = tuple[str, float, float | None]
"""Name, figure, and micro-averaged F1 where it was measured."""


def bars(results: list[Result], job: str, variant: str) -> list[Bar]:
    """Return the bars of one panel, one thread each, the quickest first.

    Parameters
    ----------
    results : list of dict
        What all contenders did.
    job, variant : str
        What the panel shows; if nobody did that variant, the job's first.
    """
    here = [result for result in results if result["job"] == job and result["threads"] == 1]
    known = list(dict.fromkeys(item["variant"] for item in here))
    variant = variant if variant in known else (known or [""])[0]
    contenders = [
        (item["contender"], item["figures"][JOBS[job].main], item["figures"].get("micro_f1"))
        for item in here
        if item["variant"] == variant and JOBS[job].main in item.get("figures", {})
    ]
    of_thresher = [contender for contender in contenders if contender[0].startswith(OURS)]
    # The first is the one to compare; and with it what comes by default.
    of_thresher = [item for item in of_thresher if item in (of_thresher[0], (OURS, *item[1:]))]
    others = [contender for contender in contenders if not contender[0].startswith(OURS)]
    return sorted(of_thresher + others, key=lambda item: item[1])


def draw(results: list[Result], path: Path) -> None:
    """Draw the chart.

    Parameters
    ----------
    results : list of dict
        What all contenders did.
    path : Path
        The picture, .svg or .png.
    """
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "thresher", "font.size": 9})
    from matplotlib import pyplot

    panels = [(title, bars(results, job, variant), job) for job, variant, title in PANELS]
    panels = [panel for panel in panels if panel[1]]
    pairs = [panels[i : i + 2] for i in range(0, len(panels), 2)]
    rows = [max(len(its_bars) for _, its_bars, _ in pair) for pair in pairs]
    figure, axes = pyplot.subplots(
        len(pairs),
        2,
        figsize=(10.5, 0.26 * sum(rows) + 0.45 * len(rows)),
        height_ratios=[n + 1.5 for n in rows],
        layout="constrained",
        squeeze=False,
    )
    figure.get_layout_engine().set(wspace=0.04, hspace=0.06)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    for i, (title, its_bars, job) in enumerate(panels):
        axis = axes.flat[i]
        axis.set_title(title, loc="left", color=INK, fontweight="bold")
        _panel(axis, its_bars, in_microseconds=JOBS[job].main.endswith("us"))
        axis.set_ylim(rows[i // 2] - 0.5, -0.5)  # bars of one height, from the top
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = {"Date": None} if path.suffix == ".svg" else {}
    figure.savefig(path, transparent=True, dpi=150, metadata=metadata)
    pyplot.close(figure)


def _panel(axis: Any, its_bars: list[Bar], *, in_microseconds: bool) -> None:
    names, values = [name for name, *_ in its_bars], [value for _, value, _ in its_bars]
    of_thresher = [name.startswith(OURS) for name in names]
    drawn = axis.barh(
        names, values, color=[ACCENT if item else OTHERS for item in of_thresher], height=0.7
    )
    mine = next((value for value, item in zip(values, of_thresher, strict=True) if item), None)
    captions = [
        _words(bar, None if item else mine, in_microseconds)
        for bar, item in zip(its_bars, of_thresher, strict=True)
    ]
    axis.bar_label(drawn, captions, color=INK, padding=4)
    for label, entry in zip(axis.get_yticklabels(), of_thresher, strict=True):
        label.set(color=ACCENT if entry else INK, fontweight="bold" if entry else "normal")
    if in_microseconds:
        axis.set_xscale("log")
        axis.set_xlim(1, max(values) ** 1.7)
    else:
        axis.set_xlim(0, max(values) * 1.9)
    axis.set_xticks([])
    axis.minorticks_off()
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)


def _words(bar: Bar, mine: float | None, in_microseconds: bool) -> str:
    """Return the figure, how many times Thresher's it is, and what quality it bought."""
    _, value, quality = bar
    caption = f"{value:,.0f} µs" if in_microseconds else f"{value:.2f} s"
    if mine:
        times = value / mine
        caption += f"  ({times:.1f} ×)" if times < 10 else f"  ({times:.0f} ×)"
    return caption if quality is None else f"{caption}  F1 {quality:.1f}"
