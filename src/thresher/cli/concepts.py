"""thresher concepts: show the concepts of a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from thresher.cli import common
from thresher.cli.declare import Option
from thresher.errors import ParameterError, counted
from thresher.limits import MOST_THINGS

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer
    from thresher.report.concept_view import Concept, ConceptView

FEW_CONCEPTS = 20  # listed of each size without --all


@common.verb("concepts model.thresher --word bank")
def concepts(
    model: common.Model,
    document: Annotated[
        str | None,
        Option(
            metavar="TEXT|FILE|-",
            help="Show the concepts of this document, with the words that indicate them.",
        ),
    ] = None,
    word: Annotated[
        str | None, Option(metavar="WORD", help="Show the concepts of this word.")
    ] = None,
    category: Annotated[
        str | None, Option(metavar="NAME", help="Show how concepts influence this category.")
    ] = None,
    top: Annotated[
        int, Option(min=1, max=MOST_THINGS, help="The number of words to show for each concept.")
    ] = 8,
    everything: Annotated[
        bool, Option("--all", help=f"Show all concepts, not only {FEW_CONCEPTS} of each size.")
    ] = False,
    html: Annotated[
        str | None,
        Option(metavar="FILE", help="Also write an HTML page with a map of the concepts."),
    ] = None,
    documents: Annotated[
        list[str] | None,
        Option(metavar="FILE", help="For --html: documents to show with their concepts."),
    ] = None,
    files: common.Files = common.Files(),
    threads: common.Threads = 1,
    json: common.Json = False,
) -> None:
    """Show the concepts of a model with their words.

    The concepts are those of all training documents, of one document, of a word or of a category.
    """
    asked = {"--document": document, "--word": word, "--category": category}
    named = [name for name, value in asked.items() if value is not None]
    if len(named) > 1:
        raise ParameterError(f"{' and '.join(named)} are given; ask for one at a time.")
    if documents and not html:
        raise ParameterError("--documents is for the page; give --html FILE too.")
    from thresher.report.concept_view import ConceptView

    view = ConceptView(common.load_model(model, threads))
    if html:
        _write_page(html, view, documents, model, files)
    most = None if everything or json else FEW_CONCEPTS
    least = 0.0 if everything or json else 0.01  # share of a concept
    if category is not None:
        _show_category(view, category, most, json)
    elif document is not None:
        rows, is_known = view.of_document(_read(document, view.categorizer, files), top, least)
        if not is_known:
            common.say(
                "The concepts contain no word of the document; it gets the average shares P(z)."
            )
        if is_known or json:
            _show(view, rows, "P(z|d)", "words that brought it", most, json)
    elif word is not None:
        _show(view, view.of_word(word, top, least), "P(z|w)", "beside it", most, json)
    else:
        rows = [view.concept(int(z), top) for model in view.models() for z in model[:most]]
        _show(view, rows, "P(z)", "words", most, json)


def _read(document: str, categorizer: Categorizer, files: common.Files) -> str:
    """Return the text of a file or of standard input, or the argument itself."""
    from thresher.cli._finding import Finder

    if document == "-":
        return Finder(categorizer, files=files).standard_input()
    try:
        is_file = Path(document).is_file()
    except (OSError, ValueError):  # the text is too long for a file name, or is not a valid one
        is_file = False
    located = Finder(categorizer, files=files).find(document) if is_file else None
    return common.typed(document) if located is None else located.text


def _show(
    view: ConceptView, rows: list[Concept], share: str, words: str, most: int | None, json: bool
) -> None:
    """Print a table of the concepts of each size with their words."""
    if json:
        common.show_json({"concepts": [concept._asdict() for concept in rows]})
        return
    terminal, end = common.console(), 0
    for size in view.sizes:
        end += size
        of_size = [concept for concept in rows if end - size <= concept.number < end]
        table = common.table("concept", share)
        table.add_column(f"{words} (of {counted(size, 'concept')})", ratio=1)
        for concept in of_size[:most]:
            shown = [f"{w} {p:.0%}" if share == "P(z|d)" else w for w, p in concept.words]
            cells = f"{concept.number:>7}", f"{concept.share:.3f}", common.text(", ".join(shown))
            table.add_row(*cells)
        terminal.print(table)
        n_all = size if share == "P(z)" else len(of_size)
        if most is not None and n_all > most:
            terminal.print(
                f"{counted(n_all - most, 'more has', 'more have')} less; --all shows every one.",
                style="dim",
            )


def _show_category(view: ConceptView, category: str, most: int | None, json: bool) -> None:
    """Print the weights of concepts for a category, or its rules with concepts."""
    lines, share = view.of_category(category), view.weight_on_concepts(category)
    if json:
        rows = [line._asdict() for line in lines]
        common.show_json({"category": category, "weight_on_concepts": share, "concepts": rows})
        return
    what = "concept" if share is None else "rule"
    if share is not None:
        common.tell(f"{category}: {share:.0%} of the weight is on concepts.")
    if not lines:
        common.tell(f"No {what} matters for {category} that could be shown.")
        return
    table = common.table("weight" if share is None else " share")
    table.add_column(what, ratio=1)
    for line in lines[:most]:
        table.add_row(
            f"{line.weight:+.3f}",
            common.text(line.text),
            style="green" if line.weight > 0 else "red",
        )
    terminal = common.console()
    terminal.print(table)
    if most is not None and len(lines) > most:
        terminal.print(
            f"{counted(len(lines) - most, 'more is', 'more are')} weaker; --all shows every one.",
            style="dim",
        )


def _write_page(
    html: str, view: ConceptView, documents: list[str] | None, model: str, files: common.Files
) -> None:
    from thresher.report import write_concept_page

    reading = common.Reading(files=files)
    with common.progress() as progress:
        opened = documents and common.open_documents(
            documents, reading, labelled=False, familiar=view.categorizer.columns_
        )
        write_concept_page(html, view, opened or None, title=Path(model).name, progress=progress)
    if opened:
        common.report_notes(opened)
    common.say(f"The page is in {html}.")
