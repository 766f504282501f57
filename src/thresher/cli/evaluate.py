"""thresher evaluate: decisions against labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from thresher.cli import _common as common

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer
    from thresher.documents import Documents
    from thresher.evaluation import Evaluation


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command(epilog="Example: thresher evaluate model.thresher test.csv --labels team")(evaluate)


@common.verb
def evaluate(
    model: common.Model,
    data: common.Data = None,
    text: common.Text = None,
    labels: common.LabelColumn = None,
    separator: common.Separator = None,
    format: common.Format = None,
    top: Annotated[
        int, typer.Option("--top", min=0, help="Categories to show, the largest first; 0: all.")
    ] = 20,
    report: Annotated[
        str | None,
        typer.Option(
            "--report", metavar="FILE", help="Also write an HTML page to look at in a browser."
        ),
    ] = None,
    threads: common.Threads = 1,
    on_error: common.OnError = "stop",
    json: common.Json = False,
) -> None:
    """Measure a model on labelled documents that it has not learned from."""
    categorizer = common.load_model(model)
    categorizer.n_jobs = threads
    documents = common.open_documents(
        data, text, labels, separator, format, on_error, split="test", familiar=categorizer.columns_
    )
    with common.progress() as progress:
        if report is None:
            result = categorizer.evaluate(documents, progress=progress)
        else:
            result = write_report(report, categorizer, documents, model, data, progress)
    common.report_reading(documents)
    if json:
        common.show_json(result.to_dict())
    else:
        show_table(result, top)


def write_report(
    path: str,
    categorizer: Categorizer,
    documents: Documents,
    model: str,
    data: list[str] | None,
    progress: Callable[[str, int, float | None], None],
) -> Evaluation:
    """Measure and write the page, with today's date and the names as they were given."""
    from datetime import date

    from thresher import report

    source = " ".join(data or ["-"]).replace("\n", " ")
    title = "standard input" if source == "-" else source
    result = report.write_report(
        path,
        categorizer,
        documents,
        title=title,
        date=date.today().isoformat(),
        provenance={"Model": model, "Documents": title},
        progress=progress,
    )
    common.say(f"The report is in {path}.")
    return result


def show_table(result: Evaluation, top: int) -> None:
    """Print the averages, then the largest categories."""
    from rich.table import Table
    from rich.text import Text

    from thresher.evaluation.names import MEASURES, measures_of

    columns = measures_of(shown=True)
    table = Table(box=None, pad_edge=False, padding=(0, 1))
    table.add_column("category", no_wrap=True)
    for heading in ("documents", *(MEASURES[name].title for name in columns)):
        table.add_column(heading, justify="right", no_wrap=True)
    rows = sorted(result.table(), key=lambda row: -row["positives"])
    shown = rows[: top or None]
    for row in shown:
        numbers = (percent(row.get(name)) for name in columns)
        table.add_row(Text(row["category"]), f"{row['positives']:,}", *numbers)
    if len(rows) > len(shown):
        table.add_row(Text(f"{len(rows) - len(shown)} smaller ones", style="dim"))
    table.add_section()
    for name, row in (("micro", result.micro), ("macro", result.macro)):
        table.add_row(name, "", *(percent(row.get(one)) for one in columns), style="bold")
    terminal = common.console()
    terminal.print(table)
    terminal.print(
        f"{result.n_documents:,} documents; {result.exact_match:.1%} got exactly their labels."
    )


def percent(value: float | None) -> str:
    """Return a share in percent; nothing where there is none."""
    return "" if value is None or value != value else f"{100 * value:.1f}"
