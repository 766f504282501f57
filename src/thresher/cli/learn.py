"""thresher learn: go on learning from more documents."""

from __future__ import annotations

from typing import Annotated

import typer

from thresher.cli import _common as common


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command(epilog="Example: thresher learn model.thresher corrections.jsonl")(learn)


@common.verb
def learn(
    model: common.Model,
    data: common.Data = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Default: the model itself."),
    ] = None,
    text: common.Text = None,
    labels: common.LabelColumn = None,
    separator: common.Separator = None,
    format: common.Format = None,
    threads: common.Threads = 1,
    on_error: common.OnError = "stop",
    json: common.Json = False,
) -> None:
    """Learn from more documents in one pass; new words and new categories may appear."""
    categorizer = common.load_model(model)
    categorizer.n_jobs = threads
    before = (len(categorizer.categories_), categorizer.n_features, categorizer.documents_seen_)
    documents = common.open_documents(
        data, text, labels, separator, format, on_error, familiar=categorizer.columns_
    )
    with common.progress() as progress:
        categorizer.learn(documents, progress=progress)
    categorizer.save(output or model)
    common.report_reading(documents)
    after = (len(categorizer.categories_), categorizer.n_features, categorizer.documents_seen_)
    categories, features, seen = (b - a for a, b in zip(before, after, strict=True))
    if json:
        common.show_json({"documents": seen, "categories": categories, "features": features})
    else:
        typer.echo(
            f"Learned from {common.counted(seen, 'document')}: "
            f"{common.counted(categories, 'new category', 'new categories')}, "
            f"{common.counted(features, 'new feature')}. Saved to {output or model}."
        )
