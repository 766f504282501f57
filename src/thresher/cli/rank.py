"""thresher rank: rank the categories of each document, or the documents of a category."""

from __future__ import annotations

import heapq
import sys
from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from thresher.cli import common
from thresher.cli.declare import Option
from thresher.errors import escaped
from thresher.fields import MARK
from thresher.limits import MOST_THINGS

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer
    from thresher.documents import Documents


@common.verb("rank model.thresher news.jsonl --category earn --top 20")
def rank(
    model: common.Model,
    data: common.Data = None,
    category: Annotated[
        str | None, Option(help="Show the best documents of this category instead.")
    ] = None,
    top: Annotated[
        int, Option(min=1, max=MOST_THINGS, help="The number of categories, or documents, to show.")
    ] = 5,
    text: common.Text = None,
    format: common.Format = None,
    output: common.Results = None,
    keep: common.Keep = None,
    probabilities: common.Probabilities = False,
    threads: common.Threads = 1,
    on_error: common.OnError = "stop",
    files: common.Files = common.Files(),
    codes: common.Names = None,
    json: common.Json = False,
) -> None:
    """Rank the categories of each document by their scores.

    The best categories are shown, whether the model chooses them or not. With -o, they are written
    to a file, which can be joined with the data.
    """
    extra = common.check_results(output, keep)
    categorizer = common.load_model(model, threads, codes)
    number = None if category is None else categorizer.model_.categories.number(category)
    reading = common.Reading(text, format=format, on_error=on_error, files=files)
    documents = common.open_documents(
        data, reading, labelled=False, split="test", familiar=categorizer.columns_, keep=extra
    )
    if probabilities:
        categorizer.model_.check_probable()
    if number is not None:
        best = _best_documents(categorizer, documents, number, top, probabilities)
        if output is not None:
            _write_documents(output, categorizer, best, extra, probabilities)
            common.wrote_results(output, len(best), json)
        else:
            _print_documents(best, categorizer.categories_[number], json)
    else:
        from thresher.answers.answer import AnswerOptions

        options = AnswerOptions(top, probabilities=probabilities)
        if output is not None:
            common.write_answers(output, categorizer, documents, extra, options, json)
        else:
            common.print_answers(categorizer, documents, options, json)
    common.report_reading(documents)


def _print_documents(best: list[Ranked], category: str, as_json: bool) -> None:
    """Print a line for each of the best documents of a category."""
    for ranked in best:
        if as_json:
            line: dict[str, Any] = {"document": ranked.location, "scores": {category: ranked.score}}
            if ranked.probability is not None:
                line["probabilities"] = {category: ranked.probability}
            common.show_json(line | {"text": ranked.text})
        else:
            chance = "" if ranked.probability is None else f" {ranked.probability:.3f}"
            short = " ".join(ranked.text.split())[:80]
            cells = f"{ranked.score:+.3f}{chance}", ranked.location, short
            sys.stdout.write("\t".join(map(escaped, cells)) + "\n")


class Ranked(NamedTuple):
    """A document with its score; of equal scores, the first in the data is the best."""

    score: float
    minus_row: int
    probability: float | None
    location: str
    text: str  # the beginning
    extra_values: list[Any]


def _best_documents(
    categorizer: Categorizer, documents: Documents, number: int, top: int, probabilities: bool
) -> list[Ranked]:
    """Return the documents with the highest scores for a category, the best first."""
    best: list[Ranked] = []  # a heap with the worst on top
    with common.progress() as progress:
        for batch, scores in categorizer.score_batches(documents, progress=progress):
            before = [skipped.before for skipped in batch.skipped]
            chances = categorizer.probabilities(scores)[:, number] if probabilities else None
            for i, score in enumerate(scores[:, number].tolist()):
                row = batch.n_before + i + bisect_right(before, i) + 1
                if len(best) == top and (score, -row) < best[0][:2]:
                    continue
                beginning = str(batch.texts[i])[:200].replace(MARK, "\n")
                extra = [column[i] for column in batch.extra_columns.values()]
                values = [cell.as_py() if hasattr(cell, "as_py") else cell for cell in extra]
                chance = None if chances is None else float(chances[i])
                entry = Ranked(score, -row, chance, batch.location(i), beginning, values)
                (heapq.heappush if len(best) < top else heapq.heappushpop)(best, entry)
    return sorted(best, reverse=True)


def _write_documents(
    output: str,
    categorizer: Categorizer,
    best: list[Ranked],
    extra_columns: Sequence[str],
    probabilities: bool,
) -> None:
    """Write the best documents of a category as a table."""
    import numpy as np

    from thresher.answers.answer import with_extra_columns
    from thresher.answers.files import open_results
    from thresher.documents.batch import numbers_to_arrow, to_arrow

    scores = {"score": numbers_to_arrow(np.array([ranked.score for ranked in best], np.float32))}
    if probabilities:
        chances = np.array([ranked.probability for ranked in best], np.float64)
        scores["probability"] = numbers_to_arrow(chances)
    table = with_extra_columns(
        {
            "row": numbers_to_arrow(np.array([-ranked.minus_row for ranked in best], np.int64)),
            "document": to_arrow([ranked.location for ranked in best]),
        },
        {name: [ranked.extra_values[k] for ranked in best] for k, name in enumerate(extra_columns)},
        scores | {"text": to_arrow([ranked.text for ranked in best])},
    )
    with open_results(output, categorizer.model_, extra_columns) as writer:
        writer.write(writer.prepare_table(table))
