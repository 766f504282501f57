"""thresher corpus: the public collections, by name."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from thresher.cli import _common as common

if TYPE_CHECKING:
    from thresher.corpora import CorpusInfo

Name = Annotated[str, typer.Argument(metavar="NAME", help="As `thresher corpus list` shows it.")]


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    verbs = typer.Typer(no_args_is_help=True)
    verbs.command("list", epilog="Example: thresher corpus list")(list_corpora)
    verbs.command("fetch", epilog="Example: thresher corpus fetch reuters21578")(fetch)
    verbs.command("show", epilog="Example: thresher corpus show reuters21578:modapte")(show)
    app.add_typer(
        verbs,
        name="corpus",
        help="List, fetch and show public corpora; their names work wherever a file does.",
    )


@common.verb
def list_corpora(json: common.Json = False) -> None:
    """List the corpora that Thresher knows, and which of them are on this machine."""
    from thresher import corpora

    corpora_here = [(info, corpora.is_here(info)) for info in corpora.list_corpora()]
    if json:
        common.show_json([_described(info, here) for info, here in corpora_here])
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for heading in ("name", "here", "documents", "variants", "what it is"):
        table.add_column(heading, justify="right" if heading == "documents" else "left")
    for info, here in corpora_here:
        largest = max(sum(splits.values()) for splits in info.counts.values())
        variants = ", ".join(info.variants)
        table.add_row(info.name, "yes" if here else "", f"{largest:,}", variants, Text(info.title))
    common.console().print(table)


@common.verb
def fetch(name: Name) -> None:
    """Find a corpus on this machine or download it, and verify its checksums."""
    from thresher import corpora

    with _bytes_bar() as progress:
        paths = corpora.fetch(name, progress=progress)
    for path in paths:
        typer.echo(path)


@common.verb
def show(name: Name, json: common.Json = False) -> None:
    """Describe a corpus: terms, citation, variants, options, and how many documents it has."""
    from thresher import corpora

    info = corpora.describe(name)
    if json:
        common.show_json(_described(info, corpora.is_here(info)))
    else:
        typer.echo(str(info))


def _described(info: CorpusInfo, here: bool) -> dict[str, object]:
    return {
        "name": info.name,
        "title": info.title,
        "summary": info.summary,
        "here": here,
        "home": info.home,
        "licence": info.licence,
        "citation": info.citation,
        "addresses": info.addresses,
        "documents": info.counts,
        "options": {key: option.help for key, option in info.options.items()},
    }


@contextmanager
def _bytes_bar() -> Iterator[Callable[[int, int | None], None] | None]:
    """Show the bytes of a download on stderr, if that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    columns = (DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("download", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
