"""thresher compare: several learners on the same documents, the way to choose one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thresher.cli import _common as common
from thresher.cli.train import make_learner
from thresher.errors import ParameterError

if TYPE_CHECKING:
    from thresher.experiments.comparison import Comparison


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command(
        epilog="Example: thresher compare tickets.csv --learners passive-aggressive,perceptron"
    )(compare)


@common.verb
def compare(
    data: common.Data = None,
    learners: Annotated[
        str | None,
        typer.Option(
            "--learners",
            metavar="A,B,C",
            help="Names, with parameters after colons: perceptron:average=examples:max_iter=5. "
            "Default: all that `thresher learners` lists.",
        ),
    ] = None,
    folds: Annotated[int, typer.Option("--folds", min=2, help="Folds of cross-validation.")] = 5,
    against: Annotated[
        str,
        typer.Option("--against", help="Test the others against: best, first, or one of A,B,C."),
    ] = "best",
    objective: Annotated[
        str | None,
        typer.Option(
            "--objective",
            help="Learn thresholds, within the training folds, for f1, precision=0.95 or another "
            "objective; see `tune`.",
        ),
    ] = None,
    passes: Annotated[
        int | None, typer.Option("--passes", min=1, help="Passes over the documents.")
    ] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            "--parameter",
            "-p",
            metavar="NAME=VALUE",
            help="A parameter of every learner, e.g. -p average=examples; may be repeated.",
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            "-x",
            metavar="NAME=VALUE",
            help="Any other parameter of Categorizer, e.g. -x stem=True -x 'ngrams=(1, 2)'; may "
            "be repeated.",
        ),
    ] = None,
    text: common.Text = None,
    labels: common.LabelColumn = None,
    separator: common.Separator = None,
    format: common.Format = None,
    seed: common.Seed = 0,
    threads: common.Threads = 1,
    on_error: common.OnError = "stop",
    plot: Annotated[
        str | None, typer.Option("--plot", metavar="FILE", help="Draw it, e.g. to plot.png.")
    ] = None,
    json: common.Json = False,
) -> None:
    """Cross-validate several learners and mark the differences that are more than chance.

    The stars are those of a paired t-test over the folds: * for p <= 0.05, ** for p <= 0.01.
    """
    from thresher.categorizer import Categorizer
    from thresher.experiments.comparison import compare as compare_categorizers
    from thresher.learners.online import LEARNERS

    options = _options(option or []) | {"seed": seed, "threads": threads, "tune_for": objective}
    categorizers = {}
    for word in learners.split(",") if learners else LEARNERS:
        name, *settings = word.strip().split(":")
        learner = make_learner(name, [*(parameter or []), *settings], passes)
        categorizers[word.strip()] = Categorizer(learner, **options)
    documents = common.open_documents(data, text, labels, separator, format, on_error)
    with common.progress() as progress:
        comparison = compare_categorizers(
            categorizers, documents, against=against, folds=folds, seed=seed, progress=progress
        )
    common.report_reading(documents)
    if plot:
        from thresher.report import plot as draw

        draw(comparison, plot)
    if json:
        common.show_json(comparison.to_dict())
    else:
        _show(comparison, plot)


def _options(given: list[str]) -> dict[str, Any]:
    """Read parameters of Categorizer as they are written in Python, or as plain words."""
    from dataclasses import fields

    from thresher.categorizer import Options

    known = {one.name for one in fields(Options)} - {"learner", "seed", "threads", "tune_for"}
    options: dict[str, Any] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or name not in known:
            raise ParameterError(
                f"--option is {one!r}; it must be NAME=VALUE, the name one of "
                f"{', '.join(sorted(known))}."
            )
        try:
            options[name] = ast.literal_eval(value)
        except (SyntaxError, ValueError):
            options[name] = value
    return options


def _show(comparison: Comparison, plot: str | None) -> None:
    """Print a line for each learner, the best figures bold."""
    from rich.table import Table
    from rich.text import Text

    from thresher.evaluation import measure_title
    from thresher.experiments.comparison import MEASURES

    table = Table(box=None, pad_edge=False, padding=(0, 1))
    table.add_column("learner", overflow="fold")  # so that long ones wrap, not the figures
    headings = [measure_title(measure).replace(" ", "\n") for measure in MEASURES]
    for heading in (*headings, "seconds"):
        table.add_column(heading, justify="right", no_wrap=True)
    best = comparison.best
    for name, result in comparison.results.items():
        cells = [Text(name)]
        for measure in MEASURES:
            stars = "" if name == comparison.against else comparison.t_test(name, measure).stars
            mean, error = 100 * result.mean(measure), 100 * result.standard_error(measure)
            style = "bold" if best[measure] == name else ""
            cells.append(Text(f"{mean:.1f} ± {error:.1f} {stars:<2}", style=style))
        table.add_row(*cells, f"{comparison.seconds(name):.2f}")
    terminal = common.console()
    terminal.print(table)
    first = next(iter(comparison.results.values()))
    terminal.print(
        f"{len(first.tested):,} documents, {len(first.categories):,} categories, "
        f"{len(first.evaluations)} folds; mean ± standard error in percent; processor seconds to "
        f"learn and decide one fold.\n* p <= 0.05, ** p <= 0.01: other than {comparison.against} "
        "(paired t-test over the folds)." + (f"\nDrawn to {plot}." if plot else "")
    )
