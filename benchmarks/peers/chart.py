"""The chart that the README shows: four jobs, a bar for each contender."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.peers.jobs import JOBS
from benchmarks.peers.report import OURS, Result

# A grey that can be read on white and on black, and a colour that stands out on both.
INK, OTHERS, ACCENT = "#7d8590", "#9aa4af", "#e0782f"
PANELS = (
    ("counts", "Reuters, new words", "Text to counts"),
    ("train", "", "Raw file to saved model"),
    ("predict", "", "Raw file to written predictions"),
    ("document", "", "One document in a running process"),
)
MOST = 6  # bars in a panel


def bars(results: list[Result], job: str, variant: str) -> list[tuple[str, float]]:
    """Return names and figures of one panel, one thread each, the quickest first.

    Parameters
    ----------
    results : list of dict
        What all contenders did.
    job, variant : str
        What the panel shows; if nobody did that variant, the job's first.
    """
    here = [one for one in results if one["job"] == job and one["threads"] == 1]
    known = list(dict.fromkeys(one["variant"] for one in here))
    variant = variant if variant in known else (known or [""])[0]
    found = [
        (one["contender"], one["figures"][JOBS[job].main])
        for one in here
        if one["variant"] == variant and JOBS[job].main in one.get("figures", {})
    ]
    ours = [one for one in found if one[0].startswith(OURS)]  # the first is the one to compare
    others = [one for one in found if not one[0].startswith(OURS)]
    return sorted(ours[:1] + others, key=lambda one: one[1])


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
    panels = [one for one in panels if one[1]]
    figure, axes = pyplot.subplots(
        (len(panels) + 1) // 2, 2, figsize=(10, 1.1 + 1.9 * ((len(panels) + 1) // 2)), squeeze=False
    )
    for axis, (title, found, job) in zip(axes.flat, panels, strict=False):
        _panel(axis, title, found[:MOST], "µs" if JOBS[job].main.endswith("us") else "s")
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    figure.tight_layout(w_pad=3, h_pad=2)
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = {"Date": None} if path.suffix == ".svg" else {}
    figure.savefig(path, transparent=True, dpi=150, metadata=metadata)
    pyplot.close(figure)


def _panel(axis: Any, title: str, found: list[tuple[str, float]], unit: str) -> None:
    names, values = [name for name, _ in found], [value for _, value in found]
    mine = dict(found).get(OURS)
    colours = [ACCENT if name == OURS else OTHERS for name in names]
    drawn = axis.barh(range(len(found)), values, color=colours, height=0.68)
    said = []
    for name, value in found:
        times = f"  ({value / mine:.1f} ×)" if mine and name != OURS else ""
        said.append(f" {_number(value, unit)}{times}")
    axis.bar_label(drawn, said, color=INK, padding=2)
    axis.set_yticks(range(len(found)), names, color=INK)
    for label, name in zip(axis.get_yticklabels(), names, strict=True):
        if name == OURS:
            label.set(color=ACCENT, fontweight="bold")
    axis.invert_yaxis()
    axis.set_title(title, loc="left", color=INK, fontweight="bold")
    axis.set_xlim(0, max(values) * 1.35)
    axis.set_xticks([])
    axis.tick_params(length=0)
    for side in axis.spines.values():
        side.set_visible(False)


def _number(value: float, unit: str) -> str:
    return f"{value:,.0f} µs" if unit == "µs" else f"{value:.2f} s"
