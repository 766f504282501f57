"""thresher predict: documents to categories."""

from __future__ import annotations

from typing import Annotated

from thresher.cli import common
from thresher.cli.declare import Option
from thresher.errors import ParameterError
from thresher.limits import MOST_THINGS


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
        categorizer.model_.check_probable()
    from thresher.answers.answer import AnswerOptions

    options = AnswerOptions(top or 0, scores, probabilities)
    if output is not None:
        common.write_answers(output, categorizer, documents, kept, options, json)
    else:
        common.print_answers(categorizer, documents, options, json)
    common.report_reading(documents)
