"""What a paper is, and what its reproduction gives back: published values beside ours."""

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
    """One cell that the paper and we both have.

    Examples
    --------
    >>> cell = Difference("Adult", "PA", 13.4, 23.7, 12.0)
    >>> round(cell.difference, 1), cell.is_within_spread
    (10.3, True)
    """

    row: str
    column: str
    published: float
    ours: float
    spread: float  # standard deviation of ours between runs, NaN where it was not measured

    @property
    def difference(self) -> float:
        """Ours less the published value."""
        return self.ours - self.published

    @property
    def is_within_spread(self) -> bool:
        """Whether two standard deviations between runs cover the difference."""
        return abs(self.difference) <= 2 * self.spread


class Agreement(NamedTuple):
    """How many values that the paper prints we have as well, and how near ours are.

    Examples
    --------
    >>> (Agreement(10, 1, 0) + Agreement(4, 2, 3)).share
    0.85
    """

    within: int  # the tolerance
    covered: int  # beyond it, but within two standard deviations between runs
    beyond: int  # both

    @property
    def n_cells(self) -> int:
        return sum(self)

    @property
    def share(self) -> float:
        """The part that is within tolerance or covered; NaN where there is nothing to compare."""
        return (self.within + self.covered) / self.n_cells if self.n_cells else math.nan

    def __add__(self, other: object) -> Agreement:
        assert isinstance(other, Agreement)
        return Agreement(*(one + more for one, more in zip(self, other, strict=True)))


class Curve(NamedTuple):
    """One line, or cloud of points, of a figure."""

    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass
class Result(ABC):
    """What `reproduce` returns.

    Attributes
    ----------
    paper, item : str
        What was asked for.
    title : str
        What the table or figure shows.
    published : dict
        The paper's values: row and column, or panel and curve. Empty where the paper prints none.
    ours : dict
        Ours, in the same shape.
    notes : list of str
        What was chosen, what could not be done as in the paper, and what explains differences.
    tolerance : float
        How far a value may be from the published one. Default 3, points of F1 or break-even.
    """

    paper: str
    item: str
    title: str
    published: dict[str, dict[str, Any]]
    ours: dict[str, dict[str, Any]]
    notes: list[str] = field(default_factory=list)
    tolerance: float = field(default=3.0, kw_only=True)

    @abstractmethod
    def differences(self, beyond: float = 0.0) -> list[Difference]:
        """Return the cells that both have, the largest difference first.

        Parameters
        ----------
        beyond : float, default=0.0
            Leave out those that differ by this or less; -1 leaves out none.
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
        return "\n".join([*self._lines(), *(part for note in self.notes for part in ("", note))])

    @abstractmethod
    def _lines(self) -> list[str]: ...

    @abstractmethod
    def draw(self) -> Any:
        """Return the result as a figure of matplotlib."""

    def frames(self) -> Iterator[Any]:
        """Yield the figure as often as it has changed; most results do not move."""
        yield self.draw()

    @property
    def has_picture(self) -> bool:
        """Whether there is something to draw."""
        return True

    @property
    def moves(self) -> bool:
        """Whether the picture has several frames."""
        return False

    def plot(self, path: str | Path) -> Path:
        """Draw the result into a file, such as an `.svg` or a `.png`, and return its path.

        A `.gif` shows all frames of a result that moves, any other file the last one.

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
        The tolerance of columns that have another one, as counts have beside percentages.
    spread : dict
        The standard deviation of ours from run to run, where several runs were made.
    marks : dict
        What is written after a cell of ours, such as the stars of a test.
    summaries : tuple of str
        Rows that are no cells to compare: computed from the others (medians, ranks), or where the
        published values are of other data.
    digits : int
        Digits after the point of numbers that are no counts (int). Default 1.
    best : {"row", "column", "least of row", "none"}
        Among which cells of ours the best one is set bold. Default "row"; ranks are always least.

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
        rows = sorted([*self.ours.values(), *self.published.values()], key=len, reverse=True)
        return list(dict.fromkeys(column for row in rows for column in row))

    @property
    def has_picture(self) -> bool:
        return bool(self._cells())

    def _cells(self) -> list[Difference]:
        return [
            Difference(row, column, self.published[row][column], value, spread)
            for row, cells in self.ours.items()
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
        for row in dict.fromkeys([*self.ours, *self.published]):
            lines.append(f"| {row} | {' | '.join(self._text(row, c) for c in columns)} |")
        return lines + self._listed_differences()

    def _text(self, row: str, column: str) -> str:
        published = self.published.get(row, {}).get(column)
        bracket = "" if published is None else f"({self._number(published)})"
        ours = self.ours.get(row, {})
        if column not in ours:
            return bracket
        number = f"{self._number(ours[column])}{self.marks.get(row, {}).get(column, '')}"
        shown = f"**{number}**" if ours[column] == self._best(row, column) else number
        return f"{shown} {bracket}".rstrip()

    def _number(self, value: float) -> str:
        return f"{value:,}" if isinstance(value, int) else f"{value:.{self.digits}f}"

    def _best(self, row: str, column: str) -> float:
        if self.best == "none":
            return math.nan
        if self.best == "column":
            return float(max(cells[column] for cells in self.ours.values() if column in cells))
        least = self.best == "least of row" or "rank" in row
        return float((min if least else max)(self.ours[row].values()))

    def _listed_differences(self) -> list[str]:
        beyond = self.disagreements()
        if not beyond:
            return []
        others = (f"{limit:g} ({column})" for column, limit in self.tolerances.items())
        limits = [f"{self.tolerance:g} points", *others]
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
                f"| {self._number(cell.ours)} | {cell.difference:+.{self.digits}f} | {spread} |"
            )
        return lines

    def draw(self) -> Any:
        from thresher_papers._drawing import draw_agreement

        return draw_agreement(self)


@dataclass
class Drawing(Table):
    """Numbers with a picture of their own, which may move.

    Attributes
    ----------
    picture : function
        Yields the figure of matplotlib: once, or again after each change.
    moves : bool
        Whether it yields several. Default False.

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
        Whether the curves are clouds of points, with the diagonal. Default False.
    n_columns : int
        How many panels stand beside each other. Default 2.
    bars : tuple of str
        What the places 0, 1, ... of the horizontal axis are; the curves are then bars.

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
            Difference(panel, name, published, ours, math.nan)
            for panel, curves in self.published.items()
            for name, curve in curves.items()
            if name in self.ours.get(panel, {})
            for published, ours in zip(curve.y, self.ours[panel][name].y, strict=False)
        )
        return _largest_first(pairs, beyond)

    def _lines(self) -> list[str]:
        lines = [f"**{self.title}** ({self.y_label} against {self.x_label})"]
        for panel, curves in self.ours.items():
            x = next(iter(curves.values())).x
            # At most eight places, evenly spread, the first and the last among them.
            places = sorted({round(i * (len(x) - 1) / 7) for i in range(8)})
            heads = self.bars or [f"{x[i]:,.{0 if x[i] == int(x[i]) else 1}f}" for i in places]
            lines += ["", f"| {panel} | {' | '.join(heads)} |"]
            lines.append("|---" * (len(places) + 1) + "|")
            for name, curve in curves.items():
                cells = (f"{curve.y[i]:.1f}" for i in places if i < len(curve.y))
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
    """A table or figure, or an experiment of ours beside them.

    Examples
    --------
    >>> Item("F1 of ten learners", print, lacks="two sets were never public").state
    'in part: two sets were never public'
    """

    summary: str
    run: Callable[[Run], Result]
    lacks: str = ""  # what of the paper's cannot be had here, and why
    corpora: tuple[str, ...] = ()  # as `load` takes them
    is_ours: bool = False  # an experiment that the paper does not have
    quotes: bool = False  # whether its picture shows a document, which is not ours to pass on

    @property
    def state(self) -> str:
        """What there is of it: "here", or "in part" and why."""
        return f"in part: {self.lacks}" if self.lacks else "here"


class Finding(NamedTuple):
    """What became of a claim: whether it holds, the figures, and why it does not if it does not."""

    holds: bool
    figures: str
    why: str = ""
    is_open: bool = False  # whether `why` is only what was tried, and explains nothing


class Claim(NamedTuple):
    """Something that a paper says in its text about its figures.

    `check` gets the results of `items`, in their order.
    """

    text: str
    items: tuple[str, ...]
    check: Callable[..., Finding]


@dataclass(frozen=True)
class Paper:
    """A paper of which tables and figures are reproduced.

    Attributes
    ----------
    name, title, citation : str
        The word by which it is asked for, its title, and what to cite.
    items : dict of str to Item
        Its tables and figures by name, such as "table-4", and after them experiments of ours.
    liberties : tuple of str
        What the paper leaves open or has otherwise, and what was taken.
    claims : tuple of Claim
        What it says about its figures.
    """

    name: str
    title: str
    citation: str
    items: dict[str, Item]
    liberties: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()

    @property
    def published(self) -> dict[str, Item]:
        """The tables and figures that the paper itself has."""
        return {name: item for name, item in self.items.items() if not item.is_ours}
