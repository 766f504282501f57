"""thresher explain: explain the score of a document for a category."""

from __future__ import annotations

from typing import Annotated

from thresher.cli import common
from thresher.cli.declare import Argument, Option
from thresher.errors import ParameterError
from thresher.files import check_writable, write_text

Id = Annotated[
    str | None,
    Option(
        metavar="[COLUMN=]ID",
        help="The document of FILE, or of a corpus, with this id. The default column is id.",
    ),
]


@common.verb("explain model.thresher tickets.csv:17 --category hardware")
def explain(
    model: common.Model,
    document: Annotated[
        str,
        Argument(
            metavar="TEXT|FILE|FILE:LINE",
            help="The text itself; a file with one document, such as a mail; or a line or row of a "
            "file, as `predict --json` names it (tickets.csv:17). '-' is standard input.",
        ),
    ],
    category: Annotated[
        str | None, Option(help="The category. Default: the one with the highest score.")
    ] = None,
    id: Id = None,
    as_text: Annotated[
        bool,
        Option("--as-text", help="Take TEXT as the text itself, even if a file has this name."),
    ] = False,
    text: common.Text = None,
    format: common.Format = None,
    files: common.Files = common.Files(),
    codes: common.Names = None,
    html: Annotated[
        str | None, Option(metavar="FILE", help="Also write the explanation as an HTML page.")
    ] = None,
    json: common.Json = False,
) -> None:
    """Explain why a document gets a category, or does not.

    Shows what each word contributes to the score, and which change would reverse the decision. A
    document in a file is read exactly as `predict` reads it.
    """
    from thresher.cli._finding import Finder
    from thresher.report import explanation_page, explanation_text

    if as_text and (id is not None or text or format):
        raise ParameterError(
            "--as-text takes the words as they are: --id, --text and --format are for files."
        )
    if html:
        check_writable(html)
    categorizer = common.load_model(model, codes=codes)
    finder = Finder(categorizer, text, format, files)
    place = None
    if id is not None:
        place, words = finder.find_id(document, id)
    elif document == "-" and format is None:
        words = finder.standard_input()
    elif not as_text and (located := finder.find(document)):
        place, words = located
    else:
        words = common.typed(document)
    if place is not None:
        hint = "" if id is not None else " (--as-text: the words themselves)"
        common.say(f"Explaining {place}{hint}.")
    explanation = categorizer.explain(words, category)
    if html:
        write_text(html, explanation_page(explanation))
    if json:
        common.show_json({"document": place} | explanation.to_dict())
        return
    common.console().print(explanation_text(explanation))
