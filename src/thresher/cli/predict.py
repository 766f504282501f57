"""thresher predict: documents to categories."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from thresher.cli import _common as common

if TYPE_CHECKING:
    import numpy as np

    from thresher.categorizer import Categorizer


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
    json: common.Json = False,
) -> None:
    """Print the categories of each document: a line each, the best first, with tabs between."""
    categorizer = common.load_model(model, threads)
    documents = common.open_documents(
        data, text, False, None, format, on_error, split="test", familiar=categorizer.columns_
    )
    names = categorizer.categories_
    if probabilities:
        categorizer.check_probable()
    with common.progress() as progress:
        for batch, table in categorizer.score_batches(documents, progress=progress):
            decided = categorizer.decide(table)
            chances = _probabilities(categorizer, table) if probabilities else [{} for _ in decided]
            if not json:
                sys.stdout.write("".join(map(_line, decided, chances)))
                continue
            for i, (one, its) in enumerate(zip(decided, chances, strict=True)):
                line: dict[str, Any] = {"document": batch.place(i), "labels": one}
                if scores:
                    line["scores"] = dict(zip(names, table[i].tolist(), strict=True))
                if probabilities:
                    line["probabilities"] = its
                common.show_json(line)
    common.report_reading(documents)


def _probabilities(categorizer: Categorizer, scores: np.ndarray) -> list[dict[str, float]]:
    """Return, for each document, the probability of every category by its name."""
    chances = categorizer.decisions_.probabilities(scores).round(4).tolist()
    return [dict(zip(categorizer.categories_, one, strict=True)) for one in chances]


def _line(categories: list[Any], chances: dict[str, float]) -> str:
    if not chances:
        return "\t".join(map(str, categories)) + "\n"
    return "\t".join(f"{name} {chances[str(name)]:.3f}" for name in categories) + "\n"
