"""Charts as inline SVG: drawn by hand, coloured by the page's style sheet."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from thresher.decisions import ReliabilityCurve
from thresher.report.curves import ThresholdCurve
from thresher.report.markup import attributes, count, escape, percent, short

__all__ = [
    "learning_chart",
    "mistakes_chart",
    "precision_recall_chart",
    "precision_recall_frame",
    "reliability_chart",
    "size_chart",
]

# All charts have this many units of width, about as many as a phone has pixels: their text is
# never scaled down, and scaled up a little at most.
WIDTH, HEIGHT = 340, 240
LEFT, RIGHT, TOP, BOTTOM = 44, 14, 12, 34


class Scale(NamedTuple):
    """From a value to a place on an axis."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / ((self.high - self.low) or 1.0)
        return self.start + share * (self.end - self.start)


class Frame(NamedTuple):
    """The two axes of a chart."""

    x: Scale
    y: Scale

    @classmethod
    def of(cls, x: tuple[float, float], y: tuple[float, float]) -> Frame:
        """Spread ranges of values over the whole chart."""
        return cls(Scale(*x, LEFT, WIDTH - RIGHT), Scale(*y, HEIGHT - BOTTOM, TOP))

    def path(self, xs: Iterable[float], ys: Iterable[float]) -> str:
        """Return a line through points, as SVG says it."""
        points = (f"{self.x(x):.4g} {self.y(y):.4g}" for x, y in zip(xs, ys, strict=True))
        return "M" + "L".join(points)

    def line(self, xs: Sequence[float], ys: Sequence[float], titles: Sequence[str]) -> str:
        """Return a line through points, each with a dot if it has a title."""
        dots = "".join(
            f'<circle class="dot" cx="{self.x(x):.4g}" cy="{self.y(y):.4g}" r="3">'
            f"<title>{escape(title)}</title></circle>"
            for x, y, title in zip(xs, ys, titles, strict=False)
        )
        return f'<path class="line" d="{self.path(xs, ys)}"/>{dots}'

    def grid(self, xs: dict[float, str], ys: dict[float, str], title_x: str, title_y: str) -> str:
        """Return the lines behind a chart, with the values and the names of its axes."""
        left, right, top, bottom = LEFT, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM
        lines = [f"M{left} {self.y(y):.4g}H{right}" for y in ys]
        lines += [f"M{self.x(x):.4g} {top}V{bottom}" for x in xs]
        texts = [
            f'<text class="tick" x="{left - 6}" y="{self.y(y) + 4:.4g}" text-anchor="end">'
            f"{escape(text)}</text>"
            for y, text in ys.items()
        ]
        texts += [
            f'<text class="tick" x="{self.x(x):.4g}" y="{bottom + 14}" text-anchor="middle">'
            f"{escape(text)}</text>"
            for x, text in xs.items()
        ]
        names = (
            f'<text class="axis" x="{right}" y="{HEIGHT - 4}" text-anchor="end">'
            f"{escape(title_x)}</text>"
            f'<text class="axis" transform="translate(10 {top}) rotate(-90)" text-anchor="end">'
            f"{escape(title_y)}</text>"
        )
        return f'<path class="grid" d="{"".join(lines)}"/>{"".join(texts)}{names}'


PERCENTS = {0.0: "0", 0.5: "50", 1.0: "100"}
UNIT = Frame.of((0, 1), (0, 1))


def _svg(inside: str, label: str, **others: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        f"{attributes(aria_label=label, **others)}>{inside}</svg>"
    )


def precision_recall_frame() -> str:
    """Return what all precision-recall charts share, to be put on the page once.

    Besides the axes, these are lines of equal F1.
    """
    lines = []
    for f1 in (0.2, 0.4, 0.6, 0.8):
        recall = np.linspace(f1 / (2 - f1), 1, 30)
        precision = f1 * recall / (2 * recall - f1)
        lines.append(f'<path class="equal" d="{UNIT.path(recall, precision)}"/>')
        at = f'x="{UNIT.x(1) - 3:.4g}" y="{UNIT.y(f1 / (2 - f1)) - 3:.4g}"'
        lines.append(f'<text class="equal" {at} text-anchor="end">F1 {percent(f1)[:2]}</text>')
    grid = UNIT.grid(PERCENTS, PERCENTS, "recall, %", "precision, %")
    return (
        '<svg class="defs" aria-hidden="true" width="0" height="0"><defs>'
        f'<g id="pr-frame">{grid}{"".join(lines)}</g></defs></svg>'
    )


def precision_recall_chart(curve: ThresholdCurve, category: str) -> str:
    """Return the curve of one category, with the chosen threshold and a mark that can be moved."""
    precision, recall = curve.precision, curve.recall
    at = curve.chosen
    x, y = UNIT.x(float(recall[at])), UNIT.y(float(precision[at]))
    label = (
        f"Precision against recall in {short(category)}; as decided, precision is "
        f"{percent(precision[at])} and recall {percent(recall[at])} percent."
    )
    return _svg(
        '<use href="#pr-frame"/>'
        f'<path class="line" d="{UNIT.path(recall, precision)}"/>'
        f'<circle class="chosen" cx="{x:.4g}" cy="{y:.4g}" r="5"/>'
        f'<circle class="moved" cx="{x:.4g}" cy="{y:.4g}" r="8"/>',
        label,
    )


def size_chart(points: Sequence[tuple[str, int, float, str | None]]) -> str:
    """Return F1 against the number of documents: one point per category, linked to its card."""
    sizes = [size for _, size, _, _ in points if size > 0] or [1]
    low, high = math.log10(min(sizes)) - 0.1, math.log10(max(sizes)) + 0.1
    frame = Frame.of((low, high), (0, 1))
    steps = (1,) if high - low > 1.7 else (1, 2, 3, 5)
    round_sizes = [step * 10**power for power in range(int(high) + 1) for step in steps]
    ticks = {math.log10(n): count(n) for n in round_sizes if low <= math.log10(n) <= high}
    marks = []
    for category, size, f1, target in points:
        if size < 1 or math.isnan(f1):
            continue
        circle = (
            f'<circle class="point" cx="{frame.x(math.log10(size)):.4g}" '
            f'cy="{frame.y(f1):.4g}" r="4"><title>{escape(short(category))}: '
            f"F1 {percent(f1)}, {count(size)} documents</title></circle>"
        )
        marks.append(f'<a href="#{target}" tabindex="-1">{circle}</a>' if target else circle)
    grid = frame.grid(ticks, PERCENTS, "documents of the category", "F1, %")
    return _svg(grid + "".join(marks), "F1 of each category against its number of documents.")


def mistakes_chart(mistakes: Sequence[int]) -> str:
    """Return the mistakes in each pass over the training documents."""
    passes = range(1, len(mistakes) + 1)
    top = _round_up(max(mistakes))
    frame = Frame.of((min(1, len(mistakes) - 1), max(len(mistakes), 2)), (0, top))
    step = max(1, -(-len(mistakes) // 10))
    xs = {float(n): str(n) for n in passes if (n - 1) % step == 0}
    ys = {share * top: _short_count(share * top) for share in (0.0, 0.5, 1.0)}
    titles = [f"pass {n}: {m:,} mistakes" for n, m in zip(passes, mistakes, strict=True)]
    line = frame.line(passes, mistakes, titles if len(mistakes) <= 60 else ())
    label = f"Mistakes fall from {mistakes[0]:,} in the first pass to {mistakes[-1]:,} in the last."
    return _svg(frame.grid(xs, ys, "pass", "mistakes") + line, label)


def learning_chart(points: Sequence[tuple[int, float]]) -> str:
    """Return F1 against the number of documents learned from."""
    top = _round_up(max(n for n, _ in points))
    frame = Frame.of((0, top), (0, 1))
    xs = {share * top: _short_count(share * top) for share in (0.0, 0.5, 1.0)}
    numbers, f1s = zip(*sorted(points), strict=True)
    titles = [f"{n:,} documents: F1 {percent(f1)} %" for n, f1 in sorted(points)]
    line = frame.line(numbers, f1s, titles)
    label = (
        f"F1 is {percent(f1s[0])} percent after {numbers[0]:,} documents and {percent(f1s[-1])} "
        f"after {numbers[-1]:,}."
    )
    return _svg(frame.grid(xs, PERCENTS, "documents learned from", "F1, %") + line, label)


def reliability_chart(curve: ReliabilityCurve) -> str:
    """Return how often documents belonged against how probable it was predicted to be."""
    grid = UNIT.grid(PERCENTS, PERCENTS, "probability, %", "belonged, %")
    ideal = f'<path class="ideal" d="{UNIT.path((0, 1), (0, 1))}"/>'
    titles = [
        f"predicted {percent(predicted)} %, was so {percent(observed)} %, in {n:,} pairs"
        for predicted, observed, n in zip(*curve, strict=True)
    ]
    line = UNIT.line(curve.predicted.tolist(), curve.observed.tolist(), titles)
    label = (
        "How often documents belonged against the predicted probability; the mean distance is "
        f"{percent(curve.expected_error)} percent."
    )
    return _svg(grid + ideal + line, label)


def _round_up(value: float) -> float:
    """Return the next number that begins with 1, 2, 4, 6, 8 or 10, so that its half is round."""
    if value <= 2:
        return 2
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 4, 6, 8, 10) if step * power >= value)


def _short_count(value: float) -> str:
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"
