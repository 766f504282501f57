"""Charts as inline SVG; the style sheet of the page sets their colours."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from thresher.decisions import ReliabilityCurve
from thresher.errors import counted
from thresher.report.curves import ThresholdCurve
from thresher.report.markup import escape, percent, short, tag

# The width of a chart in units is about that of a phone in pixels, so that text is not scaled down.
WIDTH, HEIGHT = 340, 240
LEFT, RIGHT, TOP, BOTTOM = 44, 14, 12, 34


class Frame(NamedTuple):
    """The two axes of a chart, with the ranges of their values."""

    xs: tuple[float, float]
    ys: tuple[float, float]

    def x(self, value: float) -> float:
        """Return the position of a value on the horizontal axis."""
        return _position(value, *self.xs, LEFT, WIDTH - RIGHT)

    def y(self, value: float) -> float:
        """Return the position of a value on the vertical axis."""
        return _position(value, *self.ys, HEIGHT - BOTTOM, TOP)

    def path(self, xs: Iterable[float], ys: Iterable[float]) -> str:
        """Return a line through points as an SVG path."""
        points = (f"{self.x(x):.4g} {self.y(y):.4g}" for x, y in zip(xs, ys, strict=True))
        return "M" + "L".join(points)

    def line(self, xs: Sequence[float], ys: Sequence[float], titles: Sequence[str]) -> str:
        """Return a line through points, each with a dot if it has a title."""
        titled = zip(xs, ys, titles, strict=False)
        dots = "".join(self.circle("dot", x, y, 3, title) for x, y, title in titled)
        return tag("path", class_="line", d=self.path(xs, ys)) + dots

    def circle(self, kind: str, x: float, y: float, radius: int, title: str = "") -> str:
        """Return a point, with a tooltip if it has a title."""
        tooltip = f"<title>{escape(title)}</title>" if title else ""
        return tag("circle", tooltip, class_=kind, cx=self.x(x), cy=self.y(y), r=radius)

    def grid(self, xs: dict[float, str], ys: dict[float, str], title_x: str, title_y: str) -> str:
        """Return grid lines with the tick labels and titles of both axes."""
        left, right, top, bottom = LEFT, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM
        lines = [f"M{left} {self.y(y):.4g}H{right}" for y in ys]
        lines += [f"M{self.x(x):.4g} {top}V{bottom}" for x in xs]
        texts = [_text("tick", text, x=left - 6, y=self.y(y) + 4) for y, text in ys.items()]
        texts += [
            _text("tick", text, "middle", x=self.x(x), y=bottom + 14) for x, text in xs.items()
        ]
        texts.append(_text("axis", title_x, x=right, y=HEIGHT - 4))
        texts.append(_text("axis", title_y, transform=f"translate(10 {top}) rotate(-90)"))
        return tag("path", class_="grid", d="".join(lines)) + "".join(texts)


def _position(value: float, low: float, high: float, start: float, end: float) -> float:
    return start + (value - low) / ((high - low) or 1.0) * (end - start)


def _text(kind: str, text: str, anchor: str = "end", **position: Any) -> str:
    return tag("text", escape(text), class_=kind, text_anchor=anchor, **position)


PERCENTS = {0.0: "0", 0.5: "50", 1.0: "100"}
UNIT = Frame((0, 1), (0, 1))


def _svg(inside: str, label: str) -> str:
    return tag("svg", inside, viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", aria_label=label)


def precision_recall_frame() -> str:
    """Return the axes and lines of equal F1 that all precision-recall charts share."""
    lines = UNIT.grid(PERCENTS, PERCENTS, "recall, %", "precision, %")
    for f1 in (0.2, 0.4, 0.6, 0.8):
        recall = np.linspace(f1 / (2 - f1), 1, 30)
        precision = f1 * recall / (2 * recall - f1)
        lines += tag("path", class_="equal", d=UNIT.path(recall, precision))
        lines += _text(
            "equal", f"F1 {percent(f1)[:2]}", x=UNIT.x(1) - 3, y=UNIT.y(precision[-1]) - 3
        )
    frame = f'<defs><g id="pr-frame">{lines}</g></defs>'
    return f'<svg class="defs" aria-hidden="true" width="0" height="0">{frame}</svg>'


def precision_recall_chart(curve: ThresholdCurve, category: str) -> str:
    """Return the curve of a category, with the current threshold and a mark that can be moved."""
    recall, precision = float(curve.recall[curve.chosen]), float(curve.precision[curve.chosen])
    label = (
        f"Precision against recall in {short(category)}; at the current threshold, precision is "
        f"{percent(precision)} and recall {percent(recall)} percent."
    )
    marks = UNIT.circle("chosen", recall, precision, 5) + UNIT.circle("moved", recall, precision, 8)
    line = tag("path", class_="line", d=UNIT.path(curve.recall, curve.precision))
    return _svg(f'<use href="#pr-frame"></use>{line}{marks}', label)


def size_chart(points: Sequence[tuple[str, int, float, str | None]]) -> str:
    """Return F1 against the number of documents: one point per category, linked to its card."""
    sizes = [size for _, size, _, _ in points if size > 0] or [1]
    low, high = math.log10(min(sizes)) - 0.1, math.log10(max(sizes)) + 0.1
    frame = Frame((low, high), (0, 1))
    steps = (1,) if high - low > 1.7 else (1, 2, 5)
    round_sizes = [step * 10**power for power in range(int(high) + 1) for step in steps]
    ticks = {math.log10(n): _brief(n) for n in round_sizes if low <= math.log10(n) <= high}
    marks = []
    for category, size, f1, target in points:
        if size < 1 or math.isnan(f1):
            continue
        title = f"{short(category)}: F1 {percent(f1)}, {counted(size, 'document')}"
        circle = frame.circle("point", math.log10(size), f1, 4, title)
        marks.append(f'<a href="#{target}" tabindex="-1">{circle}</a>' if target else circle)
    grid = frame.grid(ticks, PERCENTS, "documents of the category", "F1, %")
    return _svg(grid + "".join(marks), "F1 of each category against its number of documents.")


def corrections_chart(corrections: Sequence[int]) -> str:
    """Return the number of corrections in each pass over the training documents."""
    passes, n = range(1, len(corrections) + 1), len(corrections)
    top = _round_up(max(corrections))
    frame = Frame((min(1, n - 1), max(n, 2)), (0, top))
    step = max(1, -(-n // 10))
    xs = {float(number): str(number) for number in passes if (number - 1) % step == 0}
    ys = _ticks(top)
    titles = [f"pass {i}: {counted(m, 'correction')}" for i, m in enumerate(corrections, 1)]
    line = frame.line(passes, corrections, titles if n <= 60 else ())
    label = f"Corrections: {corrections[0]:,} in the first pass, {corrections[-1]:,} in the last."
    return _svg(frame.grid(xs, ys, "pass", "corrections") + line, label)


def learning_chart(points: Sequence[tuple[int, float]]) -> str:
    """Return F1 against the number of training documents."""
    top = _round_up(max(n for n, _ in points))
    frame = Frame((0, top), (0, 1))
    numbers, f1s = zip(*sorted(points), strict=True)
    titles = [f"{counted(n, 'document')}: F1 {percent(f1)} %" for n, f1 in sorted(points)]
    line = frame.line(numbers, f1s, titles)
    label = (
        f"F1 is {percent(f1s[0])} percent after {counted(numbers[0], 'document')} and "
        f"{percent(f1s[-1])} after {numbers[-1]:,}."
    )
    return _svg(frame.grid(_ticks(top), PERCENTS, "training documents", "F1, %") + line, label)


def reliability_chart(curve: ReliabilityCurve) -> str:
    """Return the observed frequency against the predicted probability."""
    grid = UNIT.grid(PERCENTS, PERCENTS, "predicted probability, %", "observed frequency, %")
    ideal = tag("path", class_="ideal", d=UNIT.path((0, 1), (0, 1)))
    titles = [
        f"predicted {percent(predicted)} %, observed {percent(observed)} %, {counted(n, 'pair')}"
        for predicted, observed, n in zip(*curve, strict=True)
    ]
    line = UNIT.line(curve.predicted.tolist(), curve.observed.tolist(), titles)
    label = (
        "Observed frequency against predicted probability; the mean difference is "
        f"{percent(curve.expected_error)} percent."
    )
    return _svg(grid + ideal + line, label)


def _round_up(value: float) -> float:
    """Return the next number with the first digits 1, 2, 4, 6, 8 or 10; its half is round, too."""
    if value <= 2:
        return 2
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 4, 6, 8, 10) if step * power >= value)


def _ticks(top: float) -> dict[float, str]:
    """Return the ticks of an axis that starts at zero, with their labels."""
    return {value: _brief(value) for value in (0.0, 0.5 * top, top)}


def _brief(value: float) -> str:
    """Return a round number in few characters, such as 20k."""
    size, unit = (1e6, "M") if value >= 1e6 else (1e3, "k") if value >= 1e3 else (1, "")
    return f"{value / size:.3g}{unit}"
