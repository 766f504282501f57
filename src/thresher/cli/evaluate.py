"""thresher evaluate: measure a model on labelled documents."""

from __future__ import annotations

import csv
import io
from datetime import date
from json import dumps as as_json
from typing import TYPE_CHECKING, Annotated, Any

from thresher.cli import common
from thresher.cli._names import show_names
from thresher.cli.declare import Option
from thresher.errors import DocumentError, ParameterError, counted
from thresher.fields import MARK
from thresher.files import check_writable, write_text
from thresher.limits import MOST_THINGS

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer
    from thresher.documents import Documents
    from thresher.evaluation import Evaluation
    from thresher.report.worst import WrongDecision

MOST_COLUMNS = 10  # categories in the table of confusions, to fit the width of a terminal
MOST_PAIRS = 10  # confusions in the list
BEGINNING = 200  # characters of a document in the list of errors

Confusion = Annotated[
    bool, Option("--confusion", help="Show which categories are confused with which.")
]
ErrorFile = Annotated[
    str | None,
    Option("--output", "-o", metavar="FILE", help="Write the errors to a .csv or .jsonl file."),
]


@common.verb("evaluate model.thresher test.csv --labels team", writes="results")
def evaluate(
    model: common.Model,
    data: common.Data = None,
    reading: common.Reading = common.Reading(),
    top: common.Top = 20,
    confusion: Confusion = False,
    errors: Annotated[
        int, Option(min=0, max=MOST_THINGS, help="The number of errors to list, the worst first.")
    ] = 0,
    output: ErrorFile = None,
    no_escape: common.NoEscape = False,
    codes: common.Names = None,
    report: Annotated[
        str | None, Option(metavar="FILE", help="Also write the result as an HTML page.")
    ] = None,
    title: Annotated[
        str | None, Option(help="The title of the report. Default: the name of the data.")
    ] = None,
    threads: common.Threads = 1,
    json: common.Json = False,
) -> None:
    """Measure a model on labelled documents.

    Use documents that the model was not trained on (see thresher split).
    """
    if output:
        check_table(output, errors)
    if title is not None and report is None:
        raise ParameterError("--title is the title of a report; give --report FILE too.")
    categorizer = common.load_model(model, threads)
    documents = common.open_documents(data, reading, split="test", familiar=categorizer.columns_)
    if codes is not None:
        documents.relabel = show_names(categorizer, codes)
    if errors and report and documents.only_once:
        raise DocumentError(
            f"{documents.only_once}: can be read only once, and --errors and --report read the "
            "documents one after the other; save it to a file."
        )
    worst: list[WrongDecision] = []
    with common.progress() as progress:
        if errors:
            result, worst = _with_errors(categorizer, documents, errors, progress)
        elif report is None:
            result = categorizer.evaluate(documents, progress=progress)
        if report is not None:
            source = "standard input" if data in (None, ["-"]) else " ".join(data)
            about = {"Model": model, "Documents": source.replace("\n", " ")}
            result = _write_report(report, categorizer, documents, title, about, progress)
    common.report_reading(documents)
    if output:
        write_errors(output, worst, not no_escape)
        common.say(f"{counted(len(worst), 'error')} written to {output}.")
    if json:
        more: dict[str, Any] = {"confusions": confusion_table(result)} if confusion else {}
        if errors:
            more["errors"] = [error_row(error) for error in worst]
        common.show_json(result.to_dict() | more)
        return
    show_table(result, top)
    if confusion:
        show_confusions(result)
    if errors:
        show_errors(worst)


def _write_report(
    path: str,
    categorizer: Categorizer,
    documents: Documents,
    title: str | None,
    about: dict[str, str],
    progress: Any,
) -> Evaluation:
    """Evaluate the model and write the result as an HTML page."""
    from thresher.report import write_report

    more: Any = {"title": title or about["Documents"], "date": date.today().isoformat()}
    result = write_report(path, categorizer, documents, progress=progress, provenance=about, **more)
    common.say(f"The report is in {path}.")
    return result


def _with_errors(
    categorizer: Categorizer, documents: Documents, most: int, progress: Any
) -> tuple[Evaluation, list[WrongDecision]]:
    """Evaluate a model; return the result and the worst errors."""
    from thresher.report.worst import WorstErrors

    worst = WorstErrors(categorizer.model_.categories, categorizer.decisions_, most)
    worst.most_of_category = most  # whatever their category
    tested = categorizer.tested(documents, None, progress, lambda scored: worst.see(*scored))
    return tested.evaluate(), sorted(worst, key=lambda error: -error.margin)[:most]


def show_table(result: Evaluation, top: int) -> None:
    """Print a table of the largest categories and the averages."""
    from thresher.evaluation.names import MEASURES, measures_of

    columns = measures_of(shown=True)
    titles = (MEASURES[name].title for name in columns)
    table = common.table("category", "documents", *titles, fold=True)
    rows = sorted(result.table(), key=lambda row: -row["positives"])
    shown = rows[: top or None]
    for row in shown:
        numbers = (percent(row.get(name)) for name in columns)
        table.add_row(common.text(row["category"]), f"{row['positives']:,}", *numbers)
    if len(rows) > len(shown):
        table.add_row(common.smaller_ones(len(rows) - len(shown)))
    table.add_section()
    for name, row in (("micro", result.micro), ("macro", result.macro)):
        table.add_row(name, "", *(percent(row.get(column)) for column in columns), style="bold")
    terminal = common.console()
    terminal.print(table)
    documents = counted(result.n_documents, "document")
    terminal.print(f"{documents}; {result.exact_match:.1%} got exactly their labels.")


def percent(value: float | None) -> str:
    """Return a share in percent; an empty text for a missing one."""
    return "" if value is None or value != value else f"{100 * value:.1f}"


def confusion_table(result: Evaluation) -> list[dict[str, Any]]:
    """Return the pairs of missed and given categories, the most frequent first.

    None in a pair means that a category was only missed, or only given.
    """
    from thresher.report.confusions import confusions

    pairs, names = confusions(result), [*result.categories, None]
    columns = (pairs.missed.tolist(), pairs.given.tolist(), pairs.documents.tolist())
    return [
        {"missed": names[missed], "given": names[given], "documents": documents}
        for missed, given, documents in zip(*columns, strict=True)
    ]


def show_confusions(result: Evaluation) -> None:
    """Print the most frequent confusions, and a table of the categories most involved."""
    from thresher.report.confusions import confusions

    pairs, names, terminal = confusions(result), result.categories, common.console()
    commonest = pairs.pairs(MOST_PAIRS)
    terminal.print()
    if not commonest:
        terminal.print("No document missed one category and got another in its place.")
        return
    table = common.table("category", fold=True)
    table.add_column("given in its place", overflow="fold")
    table.add_column("documents", justify="right", no_wrap=True)
    for missed, given, documents in commonest:
        table.add_row(common.text(names[missed]), common.text(names[given]), f"{documents:,}")
    terminal.print(table)
    chosen = pairs.most_confused(MOST_COLUMNS)
    numbers = [str(k) for k in range(1, len(chosen) + 1)]
    table = common.table("category", "", *numbers, "other", fold=True)
    table.columns[0].overflow = "ellipsis"  # rather than a number
    correct = result.contingency.true_positives
    for k, category in enumerate(chosen):
        instead = dict(pairs.given_for(category))
        counts = [instead.pop(other, 0) for other in chosen]
        counts[k], n_other = int(correct[category]), sum(instead.values())
        cells = [f"{n:,}" if n else "·" for n in (*counts, n_other)]
        styled = [common.text(cell, "bold" if i == k else "") for i, cell in enumerate(cells)]
        table.add_row(common.text(names[category]), numbers[k], *styled)
    terminal.print()
    terminal.print(table)
    terminal.print(
        "Rows: true categories. Columns: predicted categories; bold: correct predictions; "
        "other: a category that is not listed, or none."
    )


def error_row(error: WrongDecision) -> dict[str, Any]:
    """Return an error as a row of a table, with the beginning of the text."""
    return {
        "document": error.location,
        "labels": error.labels,
        "given": error.given,
        "kind": error.kind,
        "category": error.category,
        "margin": error.margin,
        "text": error.text[:BEGINNING].replace(MARK, "\n").strip(),
    }


def show_errors(worst: list[WrongDecision]) -> None:
    """Print two lines for each error: margin, labels and location; the beginning of the text."""
    terminal = common.console()
    heading = "The worst errors, by how far the score was on the wrong side:"
    terminal.print(f"\n{heading if worst else 'There are no errors.'}")
    for error in worst:
        right, given = (", ".join(names) or "nothing" for names in (error.labels, error.given))
        more = (
            ""
            if len(error.labels) < 2 and len(error.given) < 2
            else f" ({error.category} {error.kind})"
        )
        terminal.print(
            common.text(f"{error.margin:7.3f}  {right} → {given}{more}  {error.location}"),
            soft_wrap=True,
        )
        beginning = " ".join(error_row(error)["text"].split())
        terminal.print(common.text(f"{'':9}{beginning[:71]}", "dim"))


def check_table(path: str, errors: int) -> None:
    """Raise an error if there are no errors to write, or the file cannot be written."""
    if not errors:
        raise ParameterError("-o writes the errors: say how many, --errors 20.")
    if not path.endswith((".csv", ".jsonl")):
        raise ParameterError(f"-o is {path!r}; it must end in .csv or .jsonl.")
    check_writable(path)


def write_errors(path: str, worst: list[WrongDecision], escape: bool = True) -> None:
    """Write errors as a table; CSV has several labels in a cell, joined by '|'."""
    from thresher.documents.batch import to_arrow
    from thresher.documents.escapes import escape_cells

    rows = [error_row(error) for error in worst]
    if path.endswith(".jsonl"):
        write_text(path, "".join(f"{as_json(row, ensure_ascii=False)}\n" for row in rows))
        return
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["document", "labels", "given", "kind", "category", "margin", "text"])
    for row in rows:
        cells = ["|".join(v) if isinstance(v, list) else str(v) for v in row.values()]
        writer.writerow(escape_cells(to_arrow(cells)).to_pylist() if escape else cells)
    write_text(path, file.getvalue())
