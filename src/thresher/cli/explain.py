"""thresher explain: why a document gets a category, or does not."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from thresher._files import write_text
from thresher.cli import _common as common


@common.verb('explain model.thresher "Net profit rose to 3 mln dlrs" --category earn')
def explain(
    model: common.Model,
    text: Annotated[
        str, Argument(metavar="TEXT", help="The document itself; '-' reads it from stdin.")
    ],
    category: Annotated[str | None, Option(help="Default: the one with the highest score.")] = None,
    html: Annotated[
        str | None, Option(metavar="FILE", help="Also write it as an HTML page.")
    ] = None,
    json: common.Json = False,
) -> None:
    """Show each word's share of the score, and what would have changed the decision."""
    from thresher.report import explanation_page, explanation_text

    categorizer = common.load_model(model)
    document = common.read_stdin() if text == "-" else common.typed(text)
    explanation = categorizer.explain(document, category)
    if html:
        write_text(html, explanation_page(explanation))
    if json:
        common.show_json(explanation.to_dict())
        return
    common.console().print(explanation_text(explanation))
