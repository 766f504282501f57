"""The command line: the library's verbs, one file each."""

from __future__ import annotations

import typer

from thresher.cli import (
    compare,
    corpus,
    demo,
    evaluate,
    explain,
    inspect,
    learn,
    learners,
    paper,
    predict,
    rank,
    train,
    tune,
)

__all__ = ["main"]

app = typer.Typer(
    name="thresher",
    help="Sort text into categories, fast and exactly, and say why.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: thresher demo",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from thresher._version import __version__

        typer.echo(f"thresher {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version and stop."
    ),
) -> None:
    """Sort text into categories, fast and exactly, and say why."""


for module in (
    train,
    predict,
    rank,
    evaluate,
    explain,
    tune,
    compare,
    inspect,
    learn,
    learners,
    corpus,
    paper,
    demo,
):
    module.register(app)


def main() -> None:
    """Run the command line."""
    app()
