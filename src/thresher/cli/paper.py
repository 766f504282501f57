"""thresher paper: the tables and figures of the papers, made anew."""

from __future__ import annotations

from typing import Annotated

import typer

from thresher.cli import _common as common


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    verbs = typer.Typer(no_args_is_help=True)
    verbs.command("list", epilog="Example: thresher paper list")(list_papers)
    verbs.command("run", epilog="Example: thresher paper run dagan-karov-roth-1997 table-2")(run)
    app.add_typer(
        verbs, name="paper", help="Reproduce the tables and figures of the papers behind Thresher."
    )


@common.verb
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
            typer.echo(f"    {name:<12} {item.summary}")


@common.verb
def run(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="As `thresher paper list` shows.")],
    item: Annotated[str, typer.Argument(metavar="ITEM", help="A table or figure of it.")],
    seed: common.Seed = 0,
    quick: Annotated[
        bool, typer.Option("--quick", help="A small part of it, to see that it works.")
    ] = False,
    plot: Annotated[
        str | None, typer.Option("--plot", metavar="FILE", help="Draw it, e.g. to figure.svg.")
    ] = None,
    json: common.Json = False,
) -> None:
    """Run a paper's experiment and print ours beside the published values, as Markdown."""
    from thresher import papers

    with common.waiting(f"{paper}, {item}"):
        result = papers.reproduce(paper, item, seed=seed, quick=quick)
    if plot:
        result.plot(plot)
    if json:
        common.show_json({"published": result.published, "ours": result.ours})
    else:
        typer.echo(result.to_markdown())
