"""The command line: the library's verbs, one file each."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module

import typer

from thresher import _process
from thresher.cli._common import answer, app, say
from thresher.cli._options import in_options

__all__ = ["app", "main"]

VERBS = (
    "train predict filter rank evaluate explain split tune compare compact inspect concepts learn "
    "learners corpus paper demo warm_up"
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


for name in VERBS.split():  # in the order of the help
    import_module(f"thresher.cli.{name}")


def main() -> None:
    """Run the command line."""
    warnings.showwarning = lambda message, *where: say(f"thresher: {in_options(str(message))}")
    try:
        app()
    except (KeyboardInterrupt, Exception) as problem:  # before a verb began, as in its help
        sys.exit(answer(problem))
    except SystemExit:
        if _process.is_deserted():
            sys.exit(141)
        raise
