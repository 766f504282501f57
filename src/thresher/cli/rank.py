"""thresher rank: the best categories of each document, or the best documents of a category."""

from __future__ import annotations

import heapq
import sys
from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from typer import Option

from thresher.cli import _common as common
from thresher.errors import escaped
from thresher.fields import MARK
from thresher.limits import MOST_THINGS

if TYPE_CHECKING:
    import numpy as np

    from thresher.categorizer import Categorizer
    from thresher.documents import Batch, Documents
    from thresher.documents.batch import Skipped


@common.verb("rank model.thresher news.jsonl --category earn --top 20")
def rank(
    model: common.Model,
    data: common.Data = None,
    category: Annotated[
        str | None, Option(help="Rank the documents by their score for this category.")
    ] = None,
    top: Annotated[int, Option(min=1, max=MOST_THINGS, help="How many to show.")] = 5,
    text: common.Text = None,
    format: common.Format = None,
    output: common.Results = None,
    keep: common.Keep = None,
    probabilities: Annotated[
        bool,
        Option(
            "--probabilities",
            help="Say how probable each category is, too. The model must have learned it: see "
            "train --calibrate and tune --calibrate.",
        ),
    ] = False,
    threads: common.Threads = 1,
    on_error: common.OnError = "stop",
    codes: common.Names = None,
    json: common.Json = False,
) -> None:
    """Print the best categories of each document with their scores, decided or not.

    With -o, write them to a file, as a table that can be joined with the data.
    """
    kept = common.check_results(output, keep)
    categorizer = common.load_model(model, threads, codes)
    number = None if category is None else categorizer.stations.categories.number(category)
    reading = common.Reading(text, format=format, on_error=on_error)
    documents = common.open_documents(
        data, reading, labelled=False, split="test", familiar=categorizer.columns_, keep=kept
    )
    if probabilities:
        categorizer.check_probable()
    if number is not None:
        best = _best_documents(categorizer, documents, number, top, probabilities)
        if output is not None:
            _write_documents(output, categorizer, best, kept, probabilities)
            common.wrote_results(output, len(best), json)
        for one in best if output is None else ():
            if json:
                chance = {} if one.probability is None else {"probability": one.probability}
                score = {"document": one.place, "score": one.score}
                common.show_json(score | chance | {"text": one.text})
            else:
                number_text = _number_text(one.score, one.probability)
                line = number_text, one.place, " ".join(one.text.split())[:80]
                sys.stdout.write("\t".join(map(escaped, line)) + "\n")
    elif output is not None:
        asked = {"top": top, "probabilities": probabilities}
        common.write_results(output, categorizer, documents, kept, json, **asked)
    else:
        _print_categories(categorizer, documents, top, probabilities, json)
    common.report_reading(documents)


def _number_text(score: float, probability: float | None) -> str:
    return f"{score:+.3f}" if probability is None else f"{score:+.3f} {probability:.3f}"


def _print_categories(
    categorizer: Categorizer, documents: Documents, top: int, probabilities: bool, json: bool
) -> None:
    names = categorizer.categories_

    def line(batch: Batch, i: int, row: np.ndarray, chances: np.ndarray | None) -> str:
        best = (-row).argsort(kind="stable")[:top]
        numbers = [(float(row[c]), None if chances is None else float(chances[c])) for c in best]
        if json:
            ranked = [
                [names[c], *(one for one in both if one is not None)]
                for c, both in zip(best, numbers, strict=True)
            ]
            return common.json_line({"document": batch.place(i), "ranking": ranked})
        pairs = zip(best, numbers, strict=True)
        return "\t".join(escaped(f"{names[c]} {_number_text(*both)}") for c, both in pairs)

    def skipped(one: Skipped) -> str:
        if json:
            place = escaped(one.place)
            return common.json_line({"document": place, "ranking": [], "skipped": one.reason})
        return common.skipped_line(one)

    with common.progress() as progress:
        for batch, scores in categorizer.score_batches(documents, progress=progress):
            chances = categorizer.probabilities(scores) if probabilities else [None] * len(scores)
            rows = enumerate(zip(scores, chances, strict=True))
            lines = (line(batch, i, *both) for i, both in rows)
            for one in common.with_skipped(batch, lines, skipped):
                sys.stdout.write(one + "\n")


class Ranked(NamedTuple):
    """A document with its score; of two with the same, the first one in the data is better."""

    score: float
    minus_row: int
    probability: float | None
    place: str
    text: str  # its beginning
    kept: list[Any]


def _best_documents(
    categorizer: Categorizer, documents: Documents, number: int, top: int, probabilities: bool
) -> list[Ranked]:
    """Return the documents with the highest scores for a category, the best first."""
    best: list[Ranked] = []  # a heap with the worst on top
    with common.progress() as progress:
        for batch, scores in categorizer.score_batches(documents, progress=progress):
            before = [one.before for one in batch.skipped]
            chances = categorizer.probabilities(scores)[:, number] if probabilities else None
            for i, score in enumerate(scores[:, number].tolist()):
                row = batch.n_before + i + bisect_right(before, i) + 1
                if len(best) == top and (score, -row) < best[0][:2]:
                    continue
                beginning = str(batch.texts[i])[:200].replace(MARK, "\n")
                kept = [column[i] for column in batch.kept.values()]
                values = [one.as_py() if hasattr(one, "as_py") else one for one in kept]
                chance = None if chances is None else float(chances[i])
                entry = Ranked(score, -row, chance, batch.place(i), beginning, values)
                (heapq.heappush if len(best) < top else heapq.heappushpop)(best, entry)
    return sorted(best, reverse=True)


def _write_documents(
    output: str,
    categorizer: Categorizer,
    best: list[Ranked],
    keep: Sequence[str],
    probabilities: bool,
) -> None:
    """Write the best documents of a category as a table."""
    import numpy as np

    from thresher.answers.files import open_results, with_kept
    from thresher.documents.batch import numbers_to_arrow, to_arrow

    scores = {"score": numbers_to_arrow(np.array([one.score for one in best], np.float32))}
    if probabilities:
        chances = np.array([one.probability for one in best], np.float64)
        scores["probability"] = numbers_to_arrow(chances)
    table = with_kept(
        {
            "row": numbers_to_arrow(np.array([-one.minus_row for one in best], np.int64)),
            "document": to_arrow([one.place for one in best]),
        },
        {name: [one.kept[k] for one in best] for k, name in enumerate(keep)},
        scores | {"text": to_arrow([one.text for one in best])},
    )
    with open_results(output, categorizer, keep) as writer:
        writer.write(writer.prepare(table))
