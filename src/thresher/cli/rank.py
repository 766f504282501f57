"""thresher rank: the best categories of each document, or the best documents of a category."""

from __future__ import annotations

import heapq
import sys
from typing import Annotated

from typer import Option

from thresher._fields import MARK
from thresher._limits import MOST_THINGS
from thresher.cli import _common as common
from thresher.errors import ParameterError, escaped


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
    threads: common.Threads = 1,
    on_error: common.OnError = "stop",
    codes: common.Names = None,
    json: common.Json = False,
) -> None:
    """Print the best categories of each document with their scores (above 0: it belongs)."""
    from thresher.parameters import names_of

    categorizer = common.load_model(model, threads, codes)
    names = categorizer.categories_
    if category is not None and category not in names:
        raise ParameterError(f"The model has no category {category!r}; it has {names_of(names)}.")
    asked = (data, text, False, None, format, on_error)
    documents = common.open_documents(*asked, split="test", familiar=categorizer.columns_)
    best: list[tuple[float, int, str, str]] = []  # of the category, a heap with the worst on top
    seen = 0
    with common.progress() as progress:
        for batch, scores in categorizer.score_batches(documents, progress=progress):
            for i, row in enumerate(scores):
                seen += 1
                if category is not None:
                    score = float(row[names.index(category)])
                    beginning = str(batch.texts[i])[:200].replace(MARK, "\n")
                    entry = (score, -seen, batch.place(i), beginning)
                    (heapq.heappush if len(best) < top else heapq.heappushpop)(best, entry)
                    continue
                ranked = [(names[c], float(row[c])) for c in (-row).argsort(kind="stable")[:top]]
                if json:
                    common.show_json({"document": batch.place(i), "ranking": ranked})
                else:
                    cells = (escaped(f"{name} {score:+.3f}") for name, score in ranked)
                    sys.stdout.write("\t".join(cells) + "\n")
    for score, _, place, beginning in sorted(best, reverse=True):
        if json:
            common.show_json({"document": place, "score": score, "text": beginning})
        else:
            line = f"{score:+.3f}", place, " ".join(beginning.split())[:80]
            sys.stdout.write("\t".join(map(escaped, line)) + "\n")
    common.report_reading(documents)
