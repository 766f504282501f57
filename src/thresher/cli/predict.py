"""thresher predict: documents to categories."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from thresher.cli import _common as common


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command(epilog="Example: thresher predict model.thresher mail.csv --text subject,body")(
        predict
    )


@common.verb
def predict(
    model: common.Model,
    data: common.Data = None,
    text: common.Text = None,
    format: common.Format = None,
    scores: Annotated[
        bool, typer.Option("--scores", help="With --json: the score of every category.")
    ] = False,
    threads: common.Threads = 1,
    on_error: common.OnError = "stop",
    json: common.Json = False,
) -> None:
    """Print the categories of each document: a line each, the best first, with tabs between."""
    categorizer = common.load_model(model)
    categorizer.threads = threads
    documents = common.open_documents(data, text, False, None, format, on_error, split="test")
    names = categorizer.categories_
    with common.progress() as progress:
        for batch, found in categorizer.score_batches(documents, progress=progress):
            decided = categorizer.decide(found)
            if not json:
                sys.stdout.write("".join("\t".join(one) + "\n" for one in decided))
                continue
            for i, one in enumerate(decided):
                line: dict[str, Any] = {"document": batch.place(i), "labels": one}
                if scores:
                    line["scores"] = dict(zip(names, found[i].tolist(), strict=True))
                common.show_json(line)
    common.report_reading(documents)
