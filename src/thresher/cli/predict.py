"""thresher predict: predict the categories of documents."""

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
        Option(
            min=1, max=MOST_THINGS, help="With -o: also write the best categories, chosen or not."
        ),
    ] = None,
    scores: Annotated[
        bool,
        Option("--scores", help="Add the scores; with --json or -o, those of every category."),
    ] = False,
    probabilities: common.Probabilities = False,
    threads: common.Threads = 1,
    on_error: common.OnError = "stop",
    files: common.Files = common.Files(),
    codes: common.Names = None,
    json: common.Json = False,
) -> None:
    """Predict the categories of documents.

    A line for each document has its categories, the best first, separated by tabs. With -o, they
    are written to a file, which can be joined with the data.
    """
    extra = common.check_results(output, keep)
    if top is not None and output is None:
        raise ParameterError("--top needs -o FILE; thresher rank prints the best categories.")
    categorizer = common.load_model(model, threads, codes)
    reading = common.Reading(text, format=format, on_error=on_error, files=files)
    documents = common.open_documents(
        data, reading, labelled=False, split="test", familiar=categorizer.columns_, keep=extra
    )
    if probabilities:
        categorizer.model_.check_probable()
    from thresher.answers.answer import AnswerOptions

    options = AnswerOptions(top or 0, scores, probabilities)
    if output is not None:
        common.write_answers(output, categorizer, documents, extra, options, json)
    else:
        common.print_answers(categorizer, documents, options, json)
    common.report_reading(documents)
