"""thresher compare: several learners on the same documents, the way to choose one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from thresher._limits import MOST_FOLDS
from thresher.cli import _common as common
from thresher.cli._options import CategorizerCommand, given_parameters, learner_of, split_learner

if TYPE_CHECKING:
    from thresher.experiments.comparison import Comparison


@common.verb("compare tickets.csv --learners passive-aggressive,perceptron", cls=CategorizerCommand)
def compare(
    context: typer.Context,
    data: common.Data = None,
    learners: Annotated[
        str | None,
        Option(
            metavar="A,B,C",
            help="Names, with parameters after colons: perceptron:average=examples:max_iter=5. "
            "Default: all that `thresher learners` lists.",
        ),
    ] = None,
    folds: Annotated[int, Option(min=2, max=MOST_FOLDS, help="Folds of cross-validation.")] = 5,
    against: Annotated[
        str, Option(help="Test the others against: best, first, or one of A,B,C.")
    ] = "best",
    passes: common.Passes = None,
    parameter: common.LearnerParameters = None,
    text: common.Text = None,
    labels: common.LabelColumn = None,
    separator: common.Separator = None,
    format: common.Format = None,
    on_error: common.OnError = "stop",
    plot: Annotated[str | None, Option(metavar="FILE", help="Draw it, e.g. to plot.png.")] = None,
    json: common.Json = False,
) -> None:
    """Cross-validate several learners and mark the differences that are more than chance.

    The stars are those of a paired t-test over the folds: * for p <= 0.05, ** for p <= 0.01.
    """
    from thresher.categorizer import Categorizer
    from thresher.experiments.comparison import compare as compare_categorizers
    from thresher.learners import LEARNERS

    options = given_parameters(context)
    categorizers = {}
    for word in learners.split(",") if learners else LEARNERS:
        name, settings = split_learner(word.strip())
        learner = learner_of(name, [*(parameter or []), *settings], passes)
        categorizers[word.strip()] = Categorizer(learner, **options)
    documents = common.open_documents(data, text, labels, separator, format, on_error)
    with common.progress() as progress:
        how: Any = {
            "against": against,
            "folds": folds,
            "random_state": options.get("random_state", 0),
        }
        comparison = compare_categorizers(categorizers, documents, progress=progress, **how)
    common.report_reading(documents)
    if plot:
        from thresher.report import plot as draw

        draw(comparison, plot)
    if json:
        common.show_json(comparison.to_dict())
    else:
        _show(comparison, plot)


def _show(comparison: Comparison, plot: str | None) -> None:
    """Print a line for each learner, the best figures bold."""
    from thresher.evaluation import measure_title
    from thresher.experiments.comparison import MEASURES

    headings = [measure_title(measure).replace(" ", "\n") for measure in MEASURES]
    table = common.table("learner", *headings, "seconds", fold=True)
    best = comparison.best
    for name, result in comparison.results.items():
        cells = [common.text(name)]
        for measure in MEASURES:
            stars = "" if name == comparison.against else comparison.t_test(name, measure).stars
            mean, error = 100 * result.mean(measure), 100 * result.standard_error(measure)
            style = "bold" if best[measure] == name else ""
            cells.append(common.text(f"{mean:.1f} ± {error:.1f} {stars:<2}", style=style))
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
