"""thresher predict: documents to categories."""

from __future__ import annotations

import sys
from itertools import repeat
from typing import Annotated, Any

from typer import Option

from thresher.cli import _common as common
from thresher.errors import escaped


@common.verb("predict model.thresher mail.csv --text subject,body")
def predict(
    model: common.Model,
    data: common.Data = None,
    text: common.Text = None,
    format: common.Format = None,
    scores: Annotated[
        bool, Option("--scores", help="With --json: the score of every category.")
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
    """Print the categories of each document: a line each, the best first, with tabs between."""
    categorizer = common.load_model(model, threads, codes)
    asked = (data, text, False, None, format, on_error)
    documents = common.open_documents(*asked, split="test", familiar=categorizer.columns_)
    names = categorizer.categories_
    known = {one: escaped(str(one)) for one in categorizer.stations.categories}
    if probabilities:
        categorizer.check_probable()
    with common.progress() as progress:
        for batch, table in categorizer.score_batches(documents, progress=progress):
            decided = categorizer.decide(table)
            if not (json or probabilities):  # all at once: files are long, and lines short
                lines = ("\t".join([known[one] for one in labels]) for labels in decided)
                sys.stdout.write("\n".join([*lines, ""]))
                continue
            shown: Any = repeat(None)
            if probabilities:
                shown = categorizer.probabilities(table).round(4).tolist()
            for i, (labels, chances) in enumerate(zip(decided, shown, strict=False)):
                chance = dict(zip(names, chances, strict=True)) if chances else {}
                if not json:
                    cells = (f"{known[one]} {chance[str(one)]:.3f}" for one in labels)
                    sys.stdout.write("\t".join(cells) + "\n")
                    continue
                line: dict[str, Any] = {"document": batch.place(i), "labels": labels}
                if scores:
                    line["scores"] = dict(zip(names, table[i].tolist(), strict=True))
                if probabilities:
                    line["probabilities"] = chance
                common.show_json(line)
    common.report_reading(documents)
