"""thresher compare: compare learners, or their parameters, by cross-validation."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

from thresher.cli import common
from thresher.cli._options import (
    ModelVerb,
    grid,
    learner_of,
    split_learner,
    typed_options,
    with_fast,
)
from thresher.cli.declare import Option
from thresher.errors import ParameterError, counted
from thresher.limits import MOST_FOLDS

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer
    from thresher.experiments.comparison import Comparison

MOST_COMPARED = 200  # choices of a learner and its parameters

LearnerList = Annotated[
    str | None,
    Option(
        metavar="A,B,C",
        help="The learners, with parameters after colons: "
        "perceptron:average=examples:max_iter=5. Default: auto, which is what `train` takes by "
        "default, and all of `thresher learners`.",
    ),
]


@common.verb("compare tickets.csv --learners passive-aggressive,perceptron", kind=ModelVerb)
def compare(
    model_options: dict[str, Any],
    data: common.Data = None,
    learners: LearnerList = None,
    folds: Annotated[int, Option(min=2, max=MOST_FOLDS, help="The number of folds.")] = 5,
    against: Annotated[
        str,
        Option(help="The learner that the others are compared with: best, first, or one of A,B,C."),
    ] = "best",
    fast: common.Fast = False,
    passes: common.Passes = None,
    parameter: Annotated[
        list[str] | None,
        Option(
            *("--parameter", "-p"),
            panel="Learning",
            metavar="NAME=A,B,C",
            help="Values of a parameter to compare, e.g. -p promotion=1.1,1.2,1.5. Repeated, all "
            "combinations are compared.",
        ),
    ] = None,
    reading: common.Reading = common.Reading(),
    plot: Annotated[
        str | None, Option(metavar="FILE", help="Draw the comparison, e.g. to plot.png.")
    ] = None,
    json: common.Json = False,
) -> None:
    """Compare learners, or values of their parameters.

    Each has the features that `train` gives it. They are cross-validated on the same folds. Stars
    mark significant differences by a paired t-test over the folds: * for p <= 0.05, ** for
    p <= 0.01.
    """
    from thresher.experiments.comparison import compare as compare_categorizers

    if plot:
        from thresher.report.plots import check_plot

        check_plot(plot)
    model_options = with_fast(model_options, fast)
    choices = _contenders(learners, parameter or [], passes)
    categorizers = _categorizers(choices, passes, folds, model_options)
    documents = common.open_documents(data, reading)
    how: Any = {"against": against, "folds": folds}
    how["random_state"] = model_options.get("random_state", 0)
    with common.progress() as progress:
        comparison = compare_categorizers(categorizers, documents, progress=progress, **how)
    common.report_reading(documents)
    if plot:
        from thresher.report import plot as draw

        draw(comparison, plot)
    if json:
        common.show_json(comparison.to_dict())
        return
    _show(comparison)
    name, settings = choices[comparison.best["micro_f1"]]
    options = [f"--learner {name}", *(f"-p {shlex.quote(setting)}" for setting in settings)]
    options += [f"--passes {passes}"] if passes is not None else []
    common.tell(f"Best by micro-F1: {' '.join([*options, *typed_options(model_options)])}")
    if plot:
        common.tell(f"Drawn to {plot}.")


def _contenders(learners: str | None, settings: list[str], passes: int | None) -> dict[str, Any]:
    """Return each choice of a learner with values of its parameters, by its name."""
    names = [name.strip() for name in learners.split(",")] if learners else _able(settings)
    if learners is None and not settings and passes is None:
        names = ["auto", *names]
    return dict(islice(_choices(names, settings), MOST_COMPARED + 1))


def _categorizers(
    choices: dict[str, tuple[str, list[str]]],
    passes: int | None,
    folds: int,
    model_options: dict[str, Any],
) -> dict[str, Categorizer]:
    """Return a categorizer for each choice of a learner and its settings."""
    from thresher.categorizer import Categorizer

    if len(choices) > MOST_COMPARED:
        raise ParameterError(
            f"That makes more than {MOST_COMPARED} to compare, of which each learns {folds} times; "
            "give fewer values, or fewer learners."
        )
    return {
        shown: Categorizer(learner_of(name, settings, passes), **model_options)
        for shown, (name, settings) in choices.items()
    }


def _able(settings: list[str]) -> list[str]:
    """Return the learners that have all parameters that are set."""
    from thresher.learners import LEARNERS, make_learner

    names = {setting.partition("=")[0] for setting in settings}
    able = [name for name in LEARNERS if names <= set(make_learner(name).parameters)]
    if not able:
        raise ParameterError(
            f"No learner has all of the parameters {', '.join(sorted(names))}; `thresher learners` "
            "lists what they have."
        )
    return able


def _choices(words: list[str], settings: list[str]) -> Iterator[tuple[str, tuple[str, list[str]]]]:
    """Yield each choice: the text that shows it, and the name and settings of the learner."""
    for word in words:
        name, fixed = split_learner(word)
        fixed_names = {setting.partition("=")[0] for setting in fixed}
        free = [s for s in settings if s.partition("=")[0] not in fixed_names]
        for chosen, varied in grid(free):
            shown = varied if varied and len(words) == 1 else [word, *varied]
            yield ":".join(shown), (name, [*chosen, *fixed])


def _show(comparison: Comparison) -> None:
    """Print a line for each learner, with the best figures in bold."""
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
