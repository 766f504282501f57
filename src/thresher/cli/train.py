"""thresher train: labelled documents to a model."""

from __future__ import annotations

import os
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thresher._files import check_writable
from thresher.cli import _common as common
from thresher.cli._curve import TerminalCurve
from thresher.cli._options import CategorizerCommand, given_parameters, learner_of

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer
    from thresher.documents import Documents


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command(
        cls=CategorizerCommand,
        epilog="Example: thresher train tickets.csv --text subject,body --labels team "
        "-o model.thresher",
    )(train)


@common.verb
def train(
    context: typer.Context,
    data: common.Data = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where the model goes.")
    ] = "model.thresher",
    text: common.Text = None,
    labels: common.LabelColumn = None,
    separator: common.Separator = None,
    format: common.Format = None,
    on_error: common.OnError = "stop",
    learner: common.LearnerName = "passive-aggressive",
    parameter: common.LearnerParameters = None,
    passes: common.Passes = None,
    curve: Annotated[
        bool,
        typer.Option("--curve", help="Draw mistakes and progressive accuracy as it learns."),
    ] = False,
    profile: Annotated[
        bool, typer.Option("--profile", help="Show where the time went, on stderr.")
    ] = False,
    json: common.Json = False,
) -> None:
    """Learn categories from labelled documents and save the model."""
    check_writable(output)
    from thresher.categorizer import Categorizer

    chosen = learner_of(learner, parameter or [], passes)
    chosen.check_savable()
    categorizer = Categorizer(chosen, **given_parameters(context))
    documents = common.open_documents(data, text, labels, separator, format, on_error)
    began = perf_counter()
    _learn(categorizer, documents, curve)
    saving = perf_counter()
    categorizer.save(output)
    categorizer.timings_["save"] = perf_counter() - saving
    common.report_reading(documents)
    _report(categorizer, output, perf_counter() - began, json)
    if profile:
        show_profile(categorizer.timings_)


def _learn(categorizer: Categorizer, documents: Documents, curve: bool) -> None:
    """Learn, with a bar of progress or the curve of learning on stderr."""
    if curve:
        drawing = TerminalCurve()
        with drawing.shown():
            categorizer.fit(documents, progress=common.go_on, watch=drawing.add)
        return
    with common.progress() as progress:
        categorizer.fit(documents, progress=progress)


def _report(categorizer: Categorizer, output: str, seconds: float, as_json: bool) -> None:
    mistakes = [int(one) for one in getattr(categorizer.learner_, "mistakes_", ())]
    figures: dict[str, Any] = {
        "documents": categorizer.documents_seen_,
        "categories": len(categorizer.categories_),
        "features": categorizer.n_features,
        "passes": len(mistakes),
        "mistakes": mistakes,
        "seconds": round(seconds, 3),
        "model": output,
        "bytes": os.path.getsize(output),
    }
    tuning = categorizer.tuning_
    if as_json:
        common.show_json(figures | ({} if tuning is None else {"tuning": tuning.to_dict()}))
        return
    if tuning is not None:
        typer.echo(str(tuning))
    took = f"{seconds:.2f} s"
    if mistakes:
        passes = common.counted(len(mistakes), "pass", "passes")
        took = f"{passes} in {seconds:.2f} s, {mistakes[-1]:,} mistakes in the last"
    typer.echo(
        f"{figures['documents']:,} documents, {figures['categories']:,} categories, "
        f"{figures['features']:,} features: {took}.\n"
        f"Saved to {output} ({figures['bytes'] / 1e6:.1f} MB)."
    )


def show_profile(timings: dict[str, float]) -> None:
    """Print each stage's seconds and share on stderr."""
    whole = sum(timings.values())
    for stage, seconds in timings.items():
        common.say(f"{stage:>10}  {seconds:8.3f} s  {seconds / whole:6.1%}")
    common.say(f"{'in all':>10}  {whole:8.3f} s")
