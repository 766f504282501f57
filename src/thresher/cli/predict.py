"""thresher predict: documents to categories."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from thresher.cli import _common as common
from thresher.errors import ParameterError, escaped
from thresher.limits import MOST_THINGS

if TYPE_CHECKING:
    import numpy as np

    from thresher.categorizer import Categorizer
    from thresher.documents import Batch
    from thresher.documents.batch import Skipped


@common.verb("predict model.thresher mail.csv --text subject,body -o results.csv --keep id")
def predict(
    model: common.Model,
    data: common.Data = None,
    text: common.Text = None,
    format: common.Format = None,
    output: common.Results = None,
    keep: common.Keep = None,
    top: Annotated[
        int | None,
        Option(min=1, max=MOST_THINGS, help="With -o: the best categories, decided or not."),
    ] = None,
    scores: Annotated[
        bool,
        Option("--scores", help="Add the scores; with --json or -o, of every category."),
    ] = False,
    probabilities: Annotated[
        bool,
        Option(
            "--probabilities",
            help="Say how probable each category is; with --json, for all of them. The model must "
            "have learned it: see train --calibrate and tune --calibrate.",
        ),
    ] = False,
    threads: common.Threads = 1,
    on_error: common.OnError = "stop",
    codes: common.Names = None,
    json: common.Json = False,
) -> None:
    """Print the categories of each document: a line each, the best first, with tabs between.

    With -o, write them to a file, as a table that can be joined with the data.
    """
    kept = common.check_results(output, keep)
    if top is not None and output is None:
        raise ParameterError("--top needs -o FILE; thresher rank prints the best categories.")
    categorizer = common.load_model(model, threads, codes)
    reading = common.Reading(text, format=format, on_error=on_error)
    documents = common.open_documents(
        data, reading, labelled=False, split="test", familiar=categorizer.columns_, keep=kept
    )
    if probabilities:
        categorizer.check_probable()
    if output is not None:
        asked_for = {"top": top or 0, "scores": scores, "probabilities": probabilities}
        common.write_results(output, categorizer, documents, kept, json, **asked_for)
        common.report_reading(documents)
        return

    def shown(batch: Batch, table: np.ndarray) -> str:
        if json:
            objects = _objects(categorizer, batch, table, scores, probabilities)
            lines = common.with_skipped(batch, map(common.json_line, objects), _skipped_json)
        else:
            plain = _lines(categorizer, table, scores, probabilities)
            lines = common.with_skipped(batch, plain, common.skipped_line)
        return "\n".join([*lines, ""])

    with common.progress() as progress:
        for lines in categorizer.map_batches(shown, documents, progress=progress):
            sys.stdout.write(lines)  # all at once: files are long, and lines short
    common.report_reading(documents)


def _lines(
    categorizer: Categorizer, table: np.ndarray, scores: bool, probabilities: bool
) -> Iterator[str]:
    """Yield the categories of each document, each with what was asked of it."""
    labels = categorizer.stations.categories.labels
    known = {one: escaped(str(one)) for one in labels}
    decided = categorizer.decide(table)
    if not (scores or probabilities):
        return ("\t".join([known[one] for one in each]) for each in decided)
    number = {one: i for i, one in enumerate(labels)}
    shown = [(table, " {:+.3f}")] if scores else []
    if probabilities:
        shown.append((categorizer.probabilities(table), " {:.3f}"))

    def cell(document: int, one: Any) -> str:
        values = (form.format(array[document, number[one]]) for array, form in shown)
        return "".join((known[one], *values))

    return ("\t".join(cell(i, one) for one in each) for i, each in enumerate(decided))


def _objects(
    categorizer: Categorizer, batch: Batch, table: np.ndarray, scores: bool, probabilities: bool
) -> Iterator[dict[str, Any]]:
    """Yield what JSON has of each document; scores and probabilities of all categories."""
    names = categorizer.categories_
    chances = categorizer.probabilities(table) if probabilities else table
    decided = zip(batch.places(), categorizer.decide(table), strict=True)
    for i, (place, labels) in enumerate(decided):
        line: dict[str, Any] = {"document": place, "labels": labels}
        if scores:
            line["scores"] = dict(zip(names, table[i].tolist(), strict=True))
        if probabilities:
            line["probabilities"] = dict(zip(names, chances[i].tolist(), strict=True))
        yield line


def _skipped_json(one: Skipped) -> str:
    return common.json_line({"document": escaped(one.place), "labels": [], "skipped": one.reason})
