"""thresher tune: other thresholds and limits for a model, without training it again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from thresher.cli import _common as common
from thresher.cli.evaluate import percent
from thresher.errors import ParameterError

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer
    from thresher.decisions import Decisions, Tuning


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command(epilog="Example: thresher tune model.thresher more.csv --objective precision=0.95")(
        tune
    )


@common.verb
def tune(
    model: common.Model,
    data: common.Data = None,
    objective: Annotated[
        str | None,
        typer.Option(
            "--objective",
            help="What the thresholds shall achieve on DATA: f1, f0.5, precision=0.95, recall=0.9, "
            "cost=1:5 (a false positive to a false negative).",
        ),
    ] = None,
    calibrate: Annotated[
        str | None,
        typer.Option("--calibrate", help="Learn probabilities from DATA: sigmoid or isotonic."),
    ] = None,
    at_least: Annotated[
        int | None, typer.Option("--at-least", min=0, help="Fewest categories of a document.")
    ] = None,
    at_most: Annotated[
        int | None,
        typer.Option("--at-most", min=0, help="Most categories of a document; 0: no limit."),
    ] = None,
    none: Annotated[
        bool | None,
        typer.Option("--none/--no-none", help="Whether 'none of these' is an answer."),
    ] = None,
    abstain_below: Annotated[
        float | None,
        typer.Option(
            "--abstain-below", metavar="P", help="No category if less sure than this; 0: always."
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Default: the model itself."),
    ] = None,
    text: common.Text = None,
    labels: common.LabelColumn = None,
    separator: common.Separator = None,
    format: common.Format = None,
    top: Annotated[
        int, typer.Option("--top", min=0, help="Categories to show, the largest first; 0: all.")
    ] = 20,
    threads: common.Threads = 1,
    on_error: common.OnError = "stop",
    json: common.Json = False,
) -> None:
    """Learn thresholds and probabilities from labelled documents, or set limits.

    The documents must not be those that the model was trained on. What the model has learned is
    left alone; only what it makes of its scores changes.
    """
    categorizer = common.load_model(model)
    categorizer.n_jobs = threads
    limits = _limits(at_least, at_most, none, abstain_below)
    learns = objective is not None or calibrate is not None
    if not (learns or limits):
        raise ParameterError(
            "There is nothing to do: give --objective or --calibrate and labelled documents, or "
            "one of --at-least, --at-most, --none, --abstain-below."
        )
    _check_limits(categorizer.decisions_, limits, calibrate)
    if learns or data:
        documents = common.open_documents(
            data,
            text,
            labels,
            separator,
            format,
            on_error,
            split="test",
            familiar=categorizer.columns_,
        )
        with common.progress() as progress:
            categorizer.tune(
                documents, None, objective, calibrate=calibrate, progress=progress, **limits
            )
        common.report_reading(documents)
    else:
        categorizer.limit(**limits)
    categorizer.save(output or model)
    _report(categorizer, output or model, top, json)


def _limits(
    at_least: int | None, at_most: int | None, none: bool | None, abstain_below: float | None
) -> dict[str, Any]:
    """Return the settings that were given, by the names `Decisions` has for them."""
    given: dict[str, Any] = {"at_least": at_least, "at_most": at_most, "allow_none": none}
    given["abstain_below"] = abstain_below
    no_limit = {"at_most": 0, "abstain_below": 0.0}
    return {
        name: None if value == no_limit.get(name) else value
        for name, value in given.items()
        if value is not None
    }


def _check_limits(decisions: Decisions, limits: dict[str, Any], calibrate: str | None) -> None:
    decisions = decisions.replace(**limits)
    if decisions.abstain_below is not None and not (decisions.calibration or calibrate):
        raise ParameterError(
            "--abstain-below needs probabilities, and the model has none: add --calibrate sigmoid "
            "and labelled documents."
        )
    idle = ("at_least", "at_most") if decisions.mode == "single-label" else ("allow_none",)
    for name in idle:
        if name in limits:
            option = "--none" if name == "allow_none" else f"--{name.replace('_', '-')}"
            common.say(f"{option} changes nothing, as this model's decisions are {decisions.mode}.")


def _report(categorizer: Categorizer, output: str, top: int, as_json: bool) -> None:
    tuning = categorizer.tuning_
    decisions = categorizer.decisions_
    limits = {
        name: getattr(decisions, name)
        for name in ("mode", "at_least", "at_most", "allow_none", "abstain_below")
    }
    if as_json:
        common.show_json((tuning.to_dict() if tuning else {}) | limits | {"model": output})
        return
    if tuning:
        _show(tuning, top)
    settings = ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in limits.items() if v is not None)
    typer.echo(f"Decisions: {settings}.\nSaved to {output}.")


def _show(tuning: Tuning, top: int) -> None:
    """Print the thresholds of the largest categories and the measures, before and after."""
    from rich.table import Table
    from rich.text import Text

    from thresher.evaluation import measure_title

    before, after = tuning.before, tuning.after
    table = Table(box=None, pad_edge=False, padding=(0, 1))
    table.add_column("category", no_wrap=True)
    for heading in ("documents", "threshold", "", "F1", ""):
        table.add_column(heading, justify="right", no_wrap=True)
    counts = before.per_category["positives"]
    largest = sorted(range(len(tuning.thresholds_after)), key=lambda c: -counts[c])
    f1 = before.per_category["f1"], after.per_category["f1"]
    for c in largest[: top or None]:
        thresholds = (tuning.thresholds_before[c], tuning.thresholds_after[c])
        table.add_row(
            Text(before.categories[c]),
            f"{counts[c]:,}",
            f"{thresholds[0]:.3f}",
            f"-> {thresholds[1]:.3f}",
            percent(f1[0][c]),
            f"-> {percent(f1[1][c])}",
        )
    if len(largest) > top > 0:
        table.add_row(Text(f"{len(largest) - top} smaller ones", style="dim"))
    table.add_section()
    for average in ("micro", "macro"):
        for name in ("precision", "recall", "f1"):
            values = (getattr(one, average)[name] for one in (before, after))
            old, new = map(percent, values)
            title = measure_title(f"{average}_{name}")
            table.add_row(title, "", "", "", old, f"-> {new}", style="bold")
    common.console().print(table)
    typer.echo(str(tuning))
