"""The curve of learning in the terminal: mistakes and progressive accuracy, as they come."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

BARS = "▁▂▃▄▅▆▇█"
WIDTH = 60  # characters of a curve


class Point(NamedTuple):
    """What a piece of a pass was like, each document being decided before it was learned."""

    number: int  # of the pass, from one
    documents: int
    mistakes: int
    decisions: int


class TerminalCurve:
    """Points as they come, and their picture."""

    def __init__(self) -> None:
        self.points: list[Point] = []

    def add(self, number: int, documents: int, mistakes: int, decisions: int) -> None:
        """Take the next point."""
        self.points.append(Point(number, documents, mistakes, decisions))

    def __str__(self) -> str:
        if not self.points:
            return "nothing learned yet"
        mistakes = [point.mistakes / point.documents for point in self.points]
        accuracy = [1 - point.mistakes / point.decisions for point in self.points]
        return (
            f"mistakes per document  {_bars(mistakes)}  {mistakes[0]:.3g} → {mistakes[-1]:.3g}\n"
            f"progressive accuracy   {_bars(accuracy)}  {accuracy[0]:.2%} → {accuracy[-1]:.2%}\n"
            f"pass                   {self._passes()}"
        )

    def _passes(self) -> str:
        """Write the number of each pass below its first bar."""
        line = [" "] * min(WIDTH, len(self.points))
        seen = 0
        for place, i in enumerate(_sampled(len(self.points))):
            if self.points[i].number != seen:
                seen = self.points[i].number
                line[place] = str(seen)[-1]
        return "".join(line)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Draw the curve on stderr: while it grows if that is a terminal, and at the end."""
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            with Live(console=Console(stderr=True), get_renderable=self.__str__):
                yield
            return
        yield
        sys.stderr.write(f"{self}\n")


def _sampled(n: int) -> list[int]:
    """Return which of n points are drawn."""
    width = min(WIDTH, n)
    return [round(i * (n - 1) / max(1, width - 1)) for i in range(width)]


def _bars(values: list[float]) -> str:
    low, high = min(values), max(values)
    step = (high - low) / (len(BARS) - 1) or 1.0
    return "".join(BARS[round((values[i] - low) / step)] for i in _sampled(len(values)))
