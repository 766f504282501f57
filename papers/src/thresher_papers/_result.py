"""Papers, their tables and figures, and results: published beside reproduced values."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from thresher_papers._running import Run

__all__ = [
    "Agreement",
    "Cells",
    "Claim",
    "Curve",
    "Difference",
    "Drawing",
    "Figure",
    "Finding",
    "Item",
    "Paper",
    "Result",
    "Table",
]

Cells = dict[str, dict[str, float]]  # row, then column


class Difference(NamedTuple):
    """A cell with a published and a reproduced value.

    Examples
    --------
    >>> cell = Difference("Adult", "PA", 13.4, 23.7, 12.0)
    >>> round(cell.difference, 1), cell.is_within_spread
    (10.3, True)
    """

    row: str
    column: str
    published: float
    reproduced: float
    spread: float  # standard deviation of the reproduced value between runs; NaN if unknown

    @property
    def difference(self) -> float:
        """The reproduced less the published value."""
        return self.reproduced - self.published

    @property
    def is_within_spread(self) -> bool:
        """Whether two standard deviations between runs cover the difference."""
        return abs(self.difference) <= 2 * self.spread


class Agreement(NamedTuple):
    """Number of published values that were reproduced, by how near they are.

    Examples
    --------
    >>> (Agreement(10, 1, 0) + Agreement(4, 2, 3)).share
    0.85
    """

    within: int  # within the tolerance
    covered: int  # beyond the tolerance, within two standard deviations between runs
    beyond: int  # beyond both

    @property
    def n_cells(self) -> int:
        return sum(self)

    @property
    def share(self) -> float:
        """Share of values within tolerance or covered; NaN if there is nothing to compare."""
        return (self.within + self.covered) / self.n_cells if self.n_cells else math.nan

    def __add__(self, other: object) -> Agreement:
        assert isinstance(other, Agreement)
        return Agreement(*(count + added for count, added in zip(self, other, strict=True)))


class Curve(NamedTuple):
    """A line, or a set of points, in a figure."""

    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass
class Result(ABC):
    """Result of an experiment, as `reproduce` returns it.

    Attributes
    ----------
    paper, item : str
        Names of the paper, and of the table or figure.
    title : str
        What the table or figure shows.
    published : dict
        Published values: row and column, or panel and curve. Empty if the paper prints none.
    reproduced : dict
        Reproduced values, in the same shape.
    notes : list of str
        Choices, deviations from the paper, and explanations of differences.
    tolerance : float
        Largest difference from the published value that agrees. Default 3 points of F1 or
        break-even.
    """

    paper: str
    item: str
    title: str
    published: dict[str, dict[str, Any]]
    reproduced: dict[str, dict[str, Any]]
    notes: list[str] = field(default_factory=list)
    tolerance: float = field(default=3.0, kw_only=True)

    @abstractmethod
    def differences(self, beyond: float = 0.0) -> list[Difference]:
        """Return the cells with a published and a reproduced value, largest difference first.

        Parameters
        ----------
        beyond : float, default=0.0
            Leave out cells that differ by this or less; -1 leaves out none.
        """

    def disagreements(self) -> list[Difference]:
        """Return the cells that differ by more than the tolerance."""
        return self.differences(beyond=self.tolerance)

    def agreement(self) -> Agreement:
        """Return how many values agree with the published ones."""
        cells, beyond = self.differences(beyond=-1.0), self.disagreements()
        covered = sum(cell.is_within_spread for cell in beyond)
        return Agreement(len(cells) - len(beyond), covered, len(beyond) - covered)

    def to_markdown(self) -> str:
        """Return the result as Markdown."""
        return "\n".join([*self._lines(), *(line for note in self.notes for line in ("", note))])

    @abstractmethod
    def _lines(self) -> list[str]: ...

    @abstractmethod
    def draw(self) -> Any:
        """Return the result as a figure of matplotlib."""

    def frames(self) -> Iterator[Any]:
        """Yield the frames of the figure; most results have one."""
        yield self.draw()

    @property
    def has_picture(self) -> bool:
        """Whether the result can be drawn."""
        return True

    @property
    def moves(self) -> bool:
        """Whether the picture has several frames."""
        return False

    def plot(self, path: str | Path) -> Path:
        """Draw the result into a file, such as an `.svg` or a `.png`, and return its path.

        A `.gif` is an animation of all frames; other files show the last frame.

        Parameters
        ----------
        path : str or path
            The file.
        """
        from thresher.report.plots import save_figure
        from thresher_papers._drawing import save_animation

        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".gif":
            save_animation(self.frames(), path)
        else:
            save_figure(self.draw(), path)
        return path


@dataclass
class Table(Result):
    """Rows and columns of numbers.

    Attributes
    ----------
    tolerances : dict
        Tolerances of single columns, for example of counts beside percentages.
    spread : dict
        Standard deviation of the reproduced values between runs, if there were several.
    marks : dict
        Text after a reproduced value, such as the stars of a significance test.
    summaries : tuple of str
        Rows that are not compared: computed from other rows (medians, ranks), or with published
        values of other data.
    digits : int
        Decimal places of numbers that are not counts (int). Default 1.
    best : {"row", "column", "least of row", "none"}
        Among which reproduced values the best is bold. Default "row"; for ranks, always the least.

    Examples
    --------
    >>> table = Table("a-paper", "table-1", "F1", {"Ads": {"MBW": 81.3}}, {"Ads": {"MBW": 80.9}})
    >>> print(table.to_markdown())
    **F1** (ours, and in brackets the published value)
    <BLANKLINE>
    | | MBW |
    |---|---|
    | Ads | **80.9** (81.3) |
    >>> table.differences()[0].difference
    -0.4
    """

    spread: Cells = field(default_factory=dict)
    marks: dict[str, dict[str, str]] = field(default_factory=dict)
    summaries: tuple[str, ...] = ()
    digits: int = 1
    best: str = "row"
    tolerances: dict[str, float] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """The columns, in the order of the longest row."""
        rows = sorted([*self.reproduced.values(), *self.published.values()], key=len, reverse=True)
        return list(dict.fromkeys(column for row in rows for column in row))

    @property
    def has_picture(self) -> bool:
        return bool(self._cells())

    def _cells(self) -> list[Difference]:
        return [
            Difference(row, column, self.published[row][column], value, spread)
            for row, cells in self.reproduced.items()
            for column, value in cells.items()
            if row not in self.summaries and column in self.published.get(row, {})
            for spread in [self.spread.get(row, {}).get(column, math.nan)]
        ]

    def differences(self, beyond: float = 0.0) -> list[Difference]:
        return _largest_first(self._cells(), beyond)

    def disagreements(self) -> list[Difference]:
        def allowed(cell: Difference) -> float:
            return self.tolerances.get(cell.column, self.tolerance)

        return [cell for cell in self.differences() if abs(cell.difference) > allowed(cell)]

    def _lines(self) -> list[str]:
        columns = self.columns
        head = "(ours, and in brackets the published value)" if self.published else "(ours)"
        lines = [f"**{self.title}** {head}", "", f"| | {' | '.join(columns)} |"]
        lines.append("|---" * (len(columns) + 1) + "|")
        for row in dict.fromkeys([*self.reproduced, *self.published]):
            lines.append(f"| {row} | {' | '.join(self._text(row, c) for c in columns)} |")
        return lines + self._listed_differences()

    def _text(self, row: str, column: str) -> str:
        published = self.published.get(row, {}).get(column)
        bracket = "" if published is None else f"({self._number(published)})"
        reproduced = self.reproduced.get(row, {})
        if column not in reproduced:
            return bracket
        number = f"{self._number(reproduced[column])}{self.marks.get(row, {}).get(column, '')}"
        shown = f"**{number}**" if reproduced[column] == self._best(row, column) else number
        return f"{shown} {bracket}".rstrip()

    def _number(self, value: float) -> str:
        return f"{value:,}" if isinstance(value, int) else f"{value:.{self.digits}f}"

    def _best(self, row: str, column: str) -> float:
        if self.best == "none":
            return math.nan
        if self.best == "column":
            return float(
                max(cells[column] for cells in self.reproduced.values() if column in cells)
            )
        lowest_is_best = self.best == "least of row" or "rank" in row
        return float((min if lowest_is_best else max)(self.reproduced[row].values()))

    def _listed_differences(self) -> list[str]:
        beyond = self.disagreements()
        if not beyond:
            return []
        column_limits = (f"{limit:g} ({column})" for column, limit in self.tolerances.items())
        limits = [f"{self.tolerance:g} points", *column_limits]
        head = f"{len(beyond)} of {len(self._cells())} cells differ by more than "
        lines = ["", f"{head}{', '.join(limits)}:", ""]
        lines += [
            "| cell | published | ours | difference | ± between runs |",
            "|---|---|---|---|---|",
        ]
        for cell in beyond:
            spread = "" if math.isnan(cell.spread) else f"{cell.spread:.{self.digits}f}"
            spread += " (covers it)" if cell.is_within_spread else ""
            lines.append(
                f"| {cell.row}, {cell.column} | {self._number(cell.published)} "
                f"| {self._number(cell.reproduced)} | {cell.difference:+.{self.digits}f} | "
                f"{spread} |"
            )
        return lines

    def draw(self) -> Any:
        from thresher_papers._drawing import draw_agreement

        return draw_agreement(self)


@dataclass
class Drawing(Table):
    """A table with a picture, which may be an animation.

    Attributes
    ----------
    picture : function
        Yields the frames as figures of matplotlib.
    moves : bool
        Whether there are several frames. Default False.

    Examples
    --------
    >>> drawing = Drawing("a-book", "figure-1", "A tree", {}, {"root": {"articles": 7681}},
    ...                   best="none", picture=lambda: iter(["first", "last"]))
    >>> drawing.draw(), drawing.to_markdown().splitlines()[-1]
    ('last', '| root | 7,681 |')
    """

    picture: Callable[[], Iterator[Any]] = field(kw_only=True)
    moves: bool = field(default=False, kw_only=True)  # type: ignore[assignment]

    @property
    def has_picture(self) -> bool:
        return True

    def frames(self) -> Iterator[Any]:
        return self.picture()

    def draw(self) -> Any:
        *_, figure = self.frames()
        return figure


@dataclass
class Figure(Result):
    """Panels of curves, or of points.

    Attributes
    ----------
    x_label, y_label : str
        What the axes measure.
    log_x : bool
        Whether the horizontal axis is logarithmic. Default False.
    points : bool
        Whether to draw points with the diagonal instead of curves. Default False.
    n_columns : int
        Number of panels in a row. Default 2.
    bars : tuple of str
        Names of the x values 0, 1, ...; the curves are then drawn as bars.

    Examples
    --------
    >>> curves = {"Ads": {"MBW": Curve((10, 100), (30.0, 60.0))}}
    >>> figure = Figure("a-paper", "figure-2", "F1", {}, curves, x_label="examples", y_label="F1")
    >>> print(figure.to_markdown())
    **F1** (F1 against examples)
    <BLANKLINE>
    | Ads | 10 | 100 |
    |---|---|---|
    | MBW | 30.0 | 60.0 |
    """

    x_label: str = "x"
    y_label: str = "y"
    log_x: bool = False
    points: bool = False
    n_columns: int = 2
    bars: tuple[str, ...] = ()

    def differences(self, beyond: float = 0.0) -> list[Difference]:
        pairs = (
            Difference(panel, name, published, reproduced, math.nan)
            for panel, curves in self.published.items()
            for name, curve in curves.items()
            if name in self.reproduced.get(panel, {})
            for published, reproduced in zip(curve.y, self.reproduced[panel][name].y, strict=False)
        )
        return _largest_first(pairs, beyond)

    def _lines(self) -> list[str]:
        lines = [f"**{self.title}** ({self.y_label} against {self.x_label})"]
        for panel, curves in self.reproduced.items():
            x = next(iter(curves.values())).x
            # At most eight values of x, evenly spread, including the first and the last.
            shown = sorted({round(i * (len(x) - 1) / 7) for i in range(8)})
            heads = self.bars or [f"{x[i]:,.{0 if x[i] == int(x[i]) else 1}f}" for i in shown]
            lines += ["", f"| {panel} | {' | '.join(heads)} |"]
            lines.append("|---" * (len(shown) + 1) + "|")
            for name, curve in curves.items():
                cells = (f"{curve.y[i]:.1f}" for i in shown if i < len(curve.y))
                lines.append(f"| {name} | {' | '.join(cells)} |")
        return lines

    def draw(self) -> Any:
        from thresher_papers._drawing import draw_panels

        return draw_panels(self)


def _largest_first(cells: Iterable[Difference], beyond: float) -> list[Difference]:
    listed = [cell for cell in cells if abs(cell.difference) > beyond]
    return sorted(listed, key=lambda cell: -abs(cell.difference))


# ---- papers ----------------------------------------------------------------------------------


class Item(NamedTuple):
    """A table or figure of a paper, or an additional experiment.

    Examples
    --------
    >>> Item("F1 of ten learners", print, lacks="two sets were never public").state
    'in part: two sets were never public'
    """

    summary: str
    run: Callable[[Run], Result]
    lacks: str = ""  # what cannot be reproduced, and why
    corpora: tuple[str, ...] = ()  # specifications as for `thresher.corpora.load`
    is_additional: bool = False  # an experiment that the paper does not have
    quotes: bool = False  # whether its picture quotes a document, which may not be published here

    @property
    def state(self) -> str:
        """Either "here", or "in part" and the reason."""
        return f"in part: {self.lacks}" if self.lacks else "here"


class Finding(NamedTuple):
    """The check of a claim: whether it holds, the figures, and the reason if it does not."""

    holds: bool
    figures: str
    why: str = ""
    is_open: bool = False  # whether `why` only lists what was tried, without an explanation


class Claim(NamedTuple):
    """A statement of a paper about its results.

    `check` is called with the results of `items`, in order.
    """

    text: str
    items: tuple[str, ...]
    check: Callable[..., Finding]


@dataclass(frozen=True)
class Paper:
    """A paper with its tables and figures.

    Attributes
    ----------
    name, title, citation : str
        Its name on the command line, its title, and its citation.
    items : dict of str to Item
        Its tables and figures by name, such as "table-4", then the additional experiments.
    liberties : tuple of str
        Choices where the paper is silent, and deviations from it.
    claims : tuple of Claim
        Its statements about its results.
    """

    name: str
    title: str
    citation: str
    items: dict[str, Item]
    liberties: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()

    @property
    def published(self) -> dict[str, Item]:
        """The tables and figures of the paper, without the additional experiments."""
        return {name: item for name, item in self.items.items() if not item.is_additional}
