"""thresher evaluate: decisions against labels."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from thresher.cli import _common as common
from thresher.errors import counted

if TYPE_CHECKING:
    from thresher.evaluation import Evaluation


@common.verb("evaluate model.thresher test.csv --labels team")
def evaluate(
    model: common.Model,
    data: common.Data = None,
    text: common.Text = None,
    labels: common.LabelColumn = None,
    separator: common.Separator = None,
    format: common.Format = None,
    top: common.Top = 20,
    report: Annotated[
        str | None, Option(metavar="FILE", help="Also write an HTML page to look at in a browser.")
    ] = None,
    threads: common.Threads = 1,
    on_error: common.OnError = "stop",
    json: common.Json = False,
) -> None:
    """Measure a model on labelled documents that it has not learned from."""
    categorizer = common.load_model(model, threads)
    asked = (data, text, labels, separator, format, on_error)
    documents = common.open_documents(*asked, split="test", familiar=categorizer.columns_)
    with common.progress() as progress:
        if report is None:
            result = categorizer.evaluate(documents, progress=progress)
        else:
            from thresher.report import write_report

            source = " ".join(data or ["-"]).replace("\n", " ")
            title = "standard input" if source == "-" else source
            about: Any = {"title": title, "provenance": {"Model": model, "Documents": title}}
            about["date"] = date.today().isoformat()
            result = write_report(report, categorizer, documents, progress=progress, **about)
            common.say(f"The report is in {report}.")
    common.report_reading(documents)
    if json:
        common.show_json(result.to_dict())
    else:
        show_table(result, top)


def show_table(result: Evaluation, top: int) -> None:
    """Print the averages, then the largest categories."""
    from thresher.evaluation.names import MEASURES, measures_of

    columns = measures_of(shown=True)
    titles = (MEASURES[name].title for name in columns)
    table = common.table("category", "documents", *titles)
    rows = sorted(result.table(), key=lambda row: -row["positives"])
    shown = rows[: top or None]
    for row in shown:
        numbers = (percent(row.get(name)) for name in columns)
        table.add_row(common.text(row["category"]), f"{row['positives']:,}", *numbers)
    if len(rows) > len(shown):
        table.add_row(common.smaller_ones(len(rows) - len(shown)))
    table.add_section()
    for name, row in (("micro", result.micro), ("macro", result.macro)):
        table.add_row(name, "", *(percent(row.get(one)) for one in columns), style="bold")
    terminal = common.console()
    terminal.print(table)
    documents = counted(result.n_documents, "document")
    terminal.print(f"{documents}; {result.exact_match:.1%} got exactly their labels.")


def percent(value: float | None) -> str:
    """Return a share in percent; nothing where there is none."""
    return "" if value is None or value != value else f"{100 * value:.1f}"
