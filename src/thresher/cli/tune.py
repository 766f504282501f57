"""thresher tune: change the thresholds, probabilities and limits of a trained model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from thresher.cli import common
from thresher.cli.declare import Option
from thresher.cli.evaluate import percent
from thresher.errors import ParameterError
from thresher.limits import MOST_THINGS

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer
    from thresher.decisions import Decisions, Tuning

Objective = Annotated[
    str | None,
    Option(
        help="Learn thresholds from DATA for this objective: f1, f0.5, precision=0.95, "
        "recall=0.9, or cost=1:5 (false positive to false negative). They replace the current "
        "thresholds only if they are better.",
    ),
]


@common.verb(
    "tune model.thresher more.csv --objective precision=0.95", writes="model", replaces="model"
)
def tune(
    model: common.Model,
    data: common.Data = None,
    objective: Objective = None,
    calibrate: Annotated[
        str | None, Option(help="Fit calibrated probabilities on DATA: sigmoid or isotonic.")
    ] = None,
    at_least: Annotated[
        int | None,
        Option(min=0, max=MOST_THINGS, help="The minimum number of categories of a document."),
    ] = None,
    at_most: Annotated[
        int | None,
        Option(
            min=0,
            max=MOST_THINGS,
            help="The maximum number of categories of a document; 0 for no limit.",
        ),
    ] = None,
    none: Annotated[
        bool | None, Option("--none/--no-none", help="Whether a document may get no category.")
    ] = None,
    abstain_below: Annotated[
        float | None,
        Option(
            metavar="P", help="Assign no category whose probability is below P; 0 turns this off."
        ),
    ] = None,
    output: common.Output = None,
    reading: common.Reading = common.Reading(),
    top: common.Top = 20,
    threads: common.Threads = 1,
    force: common.Force = False,
    json: common.Json = False,
) -> None:
    """Tune the decisions of a model.

    Learns thresholds or probabilities from labelled documents, or sets limits. Use documents that
    the model was not trained on. The scores stay the same; only the decisions change.
    """
    given = {"at_least": at_least, "at_most": at_most, "allow_none": none}
    limits: dict[str, Any] = {k: v for k, v in given.items() if v is not None}
    if at_most == 0:
        limits["at_most"] = None
    if abstain_below is not None:
        limits["abstain_below"] = abstain_below or None
    learns = objective is not None or calibrate is not None
    if not (learns or limits):
        raise ParameterError(
            "There is nothing to do: give --objective or --calibrate and labelled documents, or "
            "one of --at-least, --at-most, --none, --abstain-below."
        )
    with common.changed_model(model, output, threads, force=force) as categorizer:
        _check_limits(categorizer.decisions_, limits, calibrate)
        if learns or data:
            documents = common.open_documents(
                data, reading, split="test", familiar=categorizer.columns_
            )
            with common.progress() as progress:
                options = limits | {"calibrate": calibrate}
                categorizer.tune(documents, None, objective, progress=progress, **options)
            common.report_reading(documents)
        else:
            categorizer.limit(**limits)
    _report(categorizer, output or model, top, json)


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
    common.show(f"Decisions: {settings}.\nSaved to {output}.")


def _show(tuning: Tuning, top: int) -> None:
    """Print the thresholds of the largest categories and the measures, before and after."""
    from thresher.evaluation import measure_title

    before, after = tuning.before, tuning.after
    table = common.table("category", "documents", "threshold", "", "F1", "")
    counts = before.per_category["positives"]
    largest = sorted(range(len(tuning.thresholds_after)), key=lambda c: -counts[c])
    f1 = before.per_category["f1"], after.per_category["f1"]
    for c in largest[: top or None]:
        old, new = tuning.thresholds_before[c], tuning.thresholds_after[c]
        cells = (f"{counts[c]:,}", f"{old:.3f}", f"-> {new:.3f}")
        table.add_row(common.text(before.categories[c]), *cells, *_change(f1[0][c], f1[1][c]))
    if len(largest) > top > 0:
        table.add_row(common.smaller_ones(len(largest) - top))
    table.add_section()
    for average in ("micro", "macro"):
        for name in ("precision", "recall", "f1"):
            change = _change(*(getattr(result, average)[name] for result in (before, after)))
            title = measure_title(f"{average}_{name}")
            table.add_row(title, "", "", "", *change, style="bold")
    common.console().print(table)
    common.show(str(tuning))


def _change(before: float, after: float) -> tuple[str, str]:
    return percent(before), f"-> {percent(after)}"
