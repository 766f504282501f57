"""thresher paper: the tables and figures of the papers, made anew."""

from __future__ import annotations

from typing import Annotated

import typer
from typer import Argument, Option

from thresher.cli import _common as common

verbs = typer.Typer(no_args_is_help=True)
about = "Reproduce the tables and figures of the papers behind Thresher."
common.app.add_typer(verbs, name="paper", help=about)


@common.verb("paper list", "list", group=verbs)
def list_papers(json: common.Json = False) -> None:
    """List the papers with their tables and figures."""
    from thresher import papers

    known = papers.list_papers()
    if json:
        items = {paper.name: {k: v.summary for k, v in paper.items.items()} for paper in known}
        common.show_json(items)
        return
    for paper in known:
        typer.echo(f"{paper.name}: {paper.title}")
        for name, item in paper.items.items():
            typer.echo(f"    {name:<16} {item.summary}")


@common.verb("paper run dagan-karov-roth-1997 table-2", group=verbs)
def run(
    paper: Annotated[str, Argument(metavar="PAPER", help="As `thresher paper list` shows.")],
    item: Annotated[str, Argument(metavar="ITEM", help="A table or figure of it.")],
    seed: Annotated[int, Option(help="Seed of the order of learning.")] = 0,
    quick: Annotated[
        bool, Option("--quick", help="A small part of it, to see that it works.")
    ] = False,
    plot: Annotated[str | None, Option(metavar="FILE", help="Draw it, e.g. to figure.svg.")] = None,
    json: common.Json = False,
) -> None:
    """Run a paper's experiment and print ours beside the published values, as Markdown."""
    from thresher import papers

    with common.bar("SpinnerColumn", "{task.description}", "TimeElapsedColumn") as bar:
        if bar:
            bar.add_task(f"{paper}, {item}", total=None)
        result = papers.reproduce(paper, item, seed=seed, quick=quick)
    if plot:
        result.plot(plot)
    if json:
        common.show_json({"published": result.published, "ours": result.ours})
    else:
        typer.echo(result.to_markdown())
