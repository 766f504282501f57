"""thresher learn: go on learning from more documents."""

from __future__ import annotations

import typer

from thresher.cli import _common as common


@common.verb("learn model.thresher corrections.jsonl")
def learn(
    model: common.Model,
    data: common.Data = None,
    output: common.Output = None,
    text: common.Text = None,
    labels: common.LabelColumn = None,
    separator: common.Separator = None,
    format: common.Format = None,
    threads: common.Threads = 1,
    on_error: common.OnError = "stop",
    json: common.Json = False,
) -> None:
    """Learn from more documents in one pass; new words and new categories may appear."""
    categorizer = common.load_model(model, threads)
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
