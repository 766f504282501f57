"""thresher compare: several learners on the same documents, the way to choose one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

from thresher.cli import common
from thresher.cli._options import (
    ModelVerb,
    grid,
    learner_of,
    split_learner,
)
from thresher.cli.declare import Option
from thresher.errors import ParameterError, counted
from thresher.limits import MOST_FOLDS

if TYPE_CHECKING:
    from thresher.experiments.comparison import Comparison

MOST_COMPARED = 200  # more is hardly meant


@common.verb("compare tickets.csv --learners passive-aggressive,perceptron", kind=ModelVerb)
def compare(
    model_options: dict[str, Any],
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
    parameter: Annotated[
        list[str] | None,
        Option(
            *("--parameter", "-p"),
            panel="Learning",
            metavar="NAME=A,B,C",
            help="Values of a parameter to try, e.g. -p promotion=1.1,1.2,1.5; several make a "
            "grid. Default learners: those that have them.",
        ),
    ] = None,
    reading: common.Reading = common.Reading(),
    plot: Annotated[str | None, Option(metavar="FILE", help="Draw it, e.g. to plot.png.")] = None,
    json: common.Json = False,
) -> None:
    """Cross-validate learners, or values of their parameters; mark what is more than chance.

    The stars are those of a paired t-test over the folds: * for p <= 0.05, ** for p <= 0.01.
    """
    from thresher.categorizer import Categorizer
    from thresher.experiments.comparison import compare as compare_categorizers

    if plot:
        from thresher.report.plots import check_plot

        check_plot(plot)
    options = model_options
    words = [one.strip() for one in learners.split(",")] if learners else _able(parameter or [])
    choices = dict(islice(_choices(words, parameter or []), MOST_COMPARED + 1))
    if len(choices) > MOST_COMPARED:
        raise ParameterError(
            f"That makes more than {MOST_COMPARED} to compare, of which each learns {folds} times; "
            "give fewer values, or fewer learners."
        )
    categorizers = {
        shown: Categorizer(learner_of(name, settings, passes), **options)
        for shown, (name, settings) in choices.items()
    }
    documents = common.open_documents(data, reading)
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
        _show(comparison)
        name, settings = choices[comparison.best["micro_f1"]]
        common.tell(" ".join(["Best by micro-F1: --learner", name, *(f"-p {s}" for s in settings)]))
        if plot:
            common.tell(f"Drawn to {plot}.")


def _able(settings: list[str]) -> list[str]:
    """Return the learners that have all the parameters that are set."""
    from thresher.learners import LEARNERS, make_learner

    names = {one.partition("=")[0] for one in settings}
    able = [one for one in LEARNERS if names <= set(make_learner(one).parameters)]
    if not able:
        raise ParameterError(
            f"No learner has all of the parameters {', '.join(sorted(names))}; `thresher learners` "
            "lists what they have."
        )
    return able


def _choices(words: list[str], settings: list[str]) -> Iterator[tuple[str, tuple[str, list[str]]]]:
    """Yield what is compared: as it is shown, and the learner's name with its settings."""
    for word in words:
        name, own = split_learner(word)
        stay = {one.partition("=")[0] for one in own}
        for all_of_them, varied in grid([s for s in settings if s.partition("=")[0] not in stay]):
            shown = varied if varied and len(words) == 1 else [word, *varied]
            yield ":".join(shown), (name, [*all_of_them, *own])


def _show(comparison: Comparison) -> None:
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
        f"{counted(len(first.tested), 'document')}, {counted(len(first.categories), 'category')}, "
        f"{len(first.evaluations)} folds; mean ± standard error in percent; processor seconds to "
        f"learn and decide one fold.\n* p <= 0.05, ** p <= 0.01: other than {comparison.against} "
        "(paired t-test over the folds)."
    )
